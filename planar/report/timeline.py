"""What a report shows of a long result: the samples that charts run through, and the frames that the player stops at.

Samples are a selection of the result's own, with every peak among them.  Frames follow each other at equal steps of time, so
that the motion is shown at its own speed; in between samples positions are Hermite-interpolated, everything else linearly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from planar.certificate import HELD
from planar.errors import ModelError
from planar.plot.frames import Frame, Frames

if TYPE_CHECKING:
    from planar.result import Result

MOST = 401  # samples in a chart, and frames of the player
FEWEST = 60  # frames of a motion: fewer look jerky


class Timeline:
    """x (nt,) ascending: time in s, or the number of the pose; `label` says which; `chosen`: sample of the free bodies.

    index    samples that charts are drawn through           moves   whether there is more than one sample
    times    x of the frames, equally spaced                 low, weight   the frames among the samples
    """

    def __init__(
        self,
        result: Result,
        frames: Frames,
        reactions: Iterable[np.ndarray],
        others: Iterable[np.ndarray] = (),
        *,
        at: float | None = None,
        most: int = MOST,
    ):
        """reactions, others: histories (nt,) whose peaks are shown; the largest of the reactions is the chosen sample."""
        self.result, self.frames = result, frames
        self.x, self.sweep = frames.t, not frames.is_time
        self.label = "number of the pose" if self.sweep else "t in s"
        self.moves = len(self.x) > 1
        sizes, more = ([np.abs(frames.ordered(values)) for values in group] for group in (reactions, others))
        self.chosen = self._choose(sizes or more, at)
        self.index = self._samples([int(np.argmax(s)) for s in sizes + more])
        self.times = self._times(most)
        self.low, self.weight = self.between(self.x)

    def between(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(low, weight): each frame lies the part `weight` of the way from x[low] to x[low + 1]."""
        low = np.clip(np.searchsorted(x, self.times, side="right") - 1, 0, max(len(x) - 2, 0))
        gap = x[np.minimum(low + 1, len(x) - 1)] - x[low]
        return low, np.clip((self.times - x[low]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)

    def _choose(self, sizes: list[np.ndarray], at: float | None) -> int:
        if at is None:
            largest = max(sizes, key=lambda s: s.max(initial=0.0), default=np.zeros(1))
            return int(np.argmax(largest))
        slack = 1e-9 * (self.x[-1] - self.x[0])
        if not self.x[0] - slack <= at <= self.x[-1] + slack:
            what, unit = ("pose", "") if self.sweep else ("time", " s")
            raise ModelError(f"at is {at:g}{unit}, but the result holds {what} {self.x[0]:g} .. {self.x[-1]:g}{unit}")
        return int(np.argmin(np.abs(self.x - at)))

    def _samples(self, peaks: list[int]) -> np.ndarray:
        n = len(self.x)
        if n <= MOST:
            return np.arange(n)
        spread = np.abs(self.x[None, :] - np.linspace(self.x[0], self.x[-1], MOST)[:, None]).argmin(1)
        return np.unique(np.concatenate([spread, peaks, [self.chosen]]).astype(int))

    def _times(self, most: int) -> np.ndarray:
        """The samples themselves where they are equally spaced and neither too many nor too few."""
        n, x = len(self.x), self.x
        if n == 1 or (self.sweep and n <= most):
            return x.copy()
        steps = np.diff(x)
        even = np.allclose(steps, steps.mean(), rtol=1e-6, atol=0.0)
        if even and n <= most:
            still = self.result.analysis in HELD  # nothing is known between poses at rest
            parts = 1 if still else math.ceil((min(FEWEST, most) - 1) / (n - 1))
            parts = parts if (n - 1) * parts + 1 <= most else 1
            return x.copy() if parts == 1 else np.linspace(x[0], x[-1], (n - 1) * parts + 1)
        times = np.linspace(x[0], x[-1], int(np.clip(n, min(2 * FEWEST, most), most)))
        return np.round(times) if self.sweep else times

    # --- values ----------------------------------------------------------------------------------------------------

    def at_samples(self, values: np.ndarray) -> np.ndarray:
        """A history (nt, ...) of the result at the samples of the charts."""
        return self.frames.ordered(values)[self.index]

    def at_frames(self, values: np.ndarray) -> np.ndarray:
        """The same at the frames."""
        values = self.frames.ordered(values)
        if not self.moves:
            return values
        w = self.weight.reshape(-1, *(1,) * (values.ndim - 1))
        return (1 - w) * values[self.low] + w * values[self.low + 1]

    def at_chosen(self, values: np.ndarray) -> np.ndarray:
        return self.frames.ordered(values)[self.chosen]

    @property
    def first_frame(self) -> int:
        """The frame nearest to the chosen sample."""
        return int(np.argmin(np.abs(self.times - self.x[self.chosen])))

    def shots(self) -> list[tuple[Frame, str]]:
        """(frame, text of the clock) for the player."""
        return [(self.frames.at(float(x)), self.clock(x)) for x in self.times]

    def clock(self, x: float) -> str:
        """t = 0.125 s with as many decimals as the steps need."""
        if self.sweep:
            return f"pose {round(x)}"
        if not self.moves:
            return f"t = {x:g} s"
        step = (self.x[-1] - self.x[0]) / max(len(self.times) - 1, 1)
        return f"t = {x:.{min(9, max(0, 1 - math.floor(math.log10(step))))}f} s"
