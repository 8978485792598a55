"""The states that a picture shows: one pose of a model, or a motion that can be asked for at any time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from planar.errors import ModelError
from planar.model import Model
from planar.state import State
from planar.system import System, compile


@dataclass(frozen=True, eq=False)
class Frame:
    """One instant: time in s, coordinates and velocities (nq,), poses (nb + 1, 3) with ground last."""

    system: System
    t: float
    q: np.ndarray
    v: np.ndarray
    weight: float = 0.0  # the instant lies this part of the way between samples `low` and `low + 1`
    low: int = 0

    @cached_property
    def pose(self) -> np.ndarray:
        return np.vstack([self.q.reshape(-1, 3), np.zeros((1, 3))])

    @property
    def state(self) -> State:
        return State(self.system, self.t, self.q, self.v)

    def blend(self, values: np.ndarray) -> np.ndarray:
        """A history (nt, ...) at this instant, linear between samples."""
        if len(values) == 1:
            return values[0]
        return (1 - self.weight) * values[self.low] + self.weight * values[self.low + 1]


class Frames:
    """States at the times t (nt,), ascending, with q, v (nt, nq); `source` is the result they came from, if any.

    is_time   False for a static sweep, whose poses all belong to one time: then t counts them
    """

    def __init__(self, system: System, t: Any, q: np.ndarray, v: np.ndarray, source: Any = None):
        self.system, self.source = system, source
        t = np.atleast_1d(np.asarray(t, float))
        q, v = (np.asarray(x, float).reshape(len(t), -1) for x in (q, v))
        if not len(t):
            raise ModelError("the result holds no sample; there is nothing to draw")
        self.flipped = len(t) > 1 and t[-1] < t[0]
        order = slice(None, None, -1) if self.flipped else slice(None)
        self.t, self.q, self.v = t[order], q[order], v[order]
        self.is_time = len(t) == 1 or t[-1] != t[0]
        self._one_time = None if self.is_time else float(t[0])
        if not self.is_time:
            self.t = np.arange(len(t), dtype=float)

    @classmethod
    def of(cls, x: Any, t: float | None = None, drawn: bool = False) -> Frames:
        """From a Model (assembled at t, or as drawn), a System, an Assembly, a Result, or anything with system, q, v."""
        if isinstance(x, (Model, System)):
            system = x if isinstance(x, System) else compile(x)
            if drawn:
                return cls(system, t or 0.0, system.q_drawn, system.v_drawn)
            from planar.assembly import assemble

            x = assemble(system, 0.0 if t is None else float(t))
        if not (hasattr(x, "system") and hasattr(x, "q")):
            raise ModelError(f"cannot draw {x!r:.60}; give a Model, an Assembly or the Result of an analysis")
        v = getattr(x, "v", None)
        return cls(x.system, getattr(x, "t", 0.0), x.q, np.zeros_like(x.q) if v is None else v, x)

    def __len__(self) -> int:
        return len(self.t)

    def ordered(self, values: np.ndarray) -> np.ndarray:
        """A history of the source in the order of these frames."""
        return values[::-1] if self.flipped else values

    def sample(self, k: int) -> Frame:
        """Sample k of the source (negative: from the end)."""
        n = len(self)
        if not -n <= k < n:
            raise ModelError(f"index {k} is outside the {n} samples 0 .. {n - 1}")
        k %= n
        k = n - 1 - k if self.flipped else k
        low, weight = (k, 0.0) if k < n - 1 or n == 1 else (k - 1, 1.0)
        return Frame(self.system, self._time(self.t[k]), self.q[k], self.v[k], weight, low)

    def at(self, t: float) -> Frame:
        """The state at time t s: cubic Hermite interpolation of q with the known velocities."""
        first, last = self.t[0], self.t[-1]
        slack = 1e-9 * (last - first)
        if not first - slack <= t <= last + slack:
            unit = " s" if self.is_time else " (number of the pose)"
            raise ModelError(f"t = {t:g}{unit} is outside the result, which holds t = {first:g} .. {last:g}{unit}")
        if len(self) == 1:
            return self.sample(0)
        low = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self) - 2))
        h = self.t[low + 1] - self.t[low]
        x = float(np.clip((t - self.t[low]) / h, 0.0, 1.0)) if h > 0 else 0.0
        q0, q1, d0, d1 = self.q[low], self.q[low + 1], h * self.v[low], h * self.v[low + 1]
        if not self.is_time:  # nothing moves: straight from pose to pose
            d0 = d1 = q1 - q0
        q = (1 + 2 * x) * (1 - x) ** 2 * q0 + x * (1 - x) ** 2 * d0 + x * x * (3 - 2 * x) * q1 - x * x * (1 - x) * d1
        return Frame(self.system, self._time(t), q, (1 - x) * self.v[low] + x * self.v[low + 1], x, low)

    def _time(self, t: float) -> float:
        return float(t) if self.is_time else self._one_time

    def poses(self, most: int = 200) -> np.ndarray:
        """(n, nb + 1, 3): poses of at most so many samples, for ranges."""
        index = np.unique(np.linspace(0, len(self) - 1, min(most, len(self))).round().astype(int))
        q = self.q[index].reshape(len(index), -1, 3)
        return np.concatenate([q, np.zeros((len(index), 1, 3))], axis=1)
