"""What carries a motion forward: explicit pairs in compiled or plain code; the driver in `planar.forward` owns the rest.

A stepper knows a system, a method and its tolerances, and offers

    start(t, y, h)                   where to begin; h: the first step, None to choose one
    advance(n, wanted)               -> Chunk of up to n steps, with the states at the times `wanted` met on the way
    visit(track, index, when)        -> states, slopes, multipliers at times within known steps
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planar import backend, integrators
from planar.forward_arrays import forward_arrays
from planar.integrators import END, NOISE, PAIRS, ROWS, Control, pair
from planar.methods import METHODS, body_length
from planar.options import Options
from planar.stepping import measure
from planar.system import System


@dataclass
class Track:
    """Accepted steps: times (n,), states (n, ny), smallest pivots (n,), nears (n,) whether a singular position was near.

    The first entry is the start.
    """

    times: np.ndarray
    states: np.ndarray
    pivots: np.ndarray
    nears: np.ndarray

    @classmethod
    def joined(cls, parts: list[Track]) -> Track:
        names = ("times", "states", "pivots", "nears")
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    def until(self, n: int) -> Track:
        return Track(self.times[:n], self.states[:n], self.pivots[:n], self.nears[:n])

    def steps_of(self, when: np.ndarray) -> np.ndarray:
        """Index of the step that holds each time."""
        sign = 1.0 if self.times[-1] >= self.times[0] else -1.0
        index = np.searchsorted(sign * self.times, sign * when, side="right") - 1
        return np.clip(index, 0, max(self.times.size - 2, 0)).astype(np.int64)


@dataclass
class Chunk:
    """Some steps, the samples that lie in them, and why it ended (`planar.integrators`)."""

    track: Track
    samples: np.ndarray
    status: int


class Explicit:
    """Runge-Kutta pairs, compiled where the system has arrays for it, else over the NumPy methods."""

    def __init__(self, system: System, options: Options, span: tuple[float, float], independent: np.ndarray):
        self.prepare(system, options, span)
        self.pair = pair(options.integrator)
        self.problem: Any = None
        if options.compiled and backend.has_numba() and options.method in ("projection", "baumgarte"):
            self.problem = forward_arrays(system, span, independent, options.method == "projection", options.gains)
        self.is_compiled = self.problem is not None
        if self.is_compiled:
            module = backend.compiled("compiled_forward")
            self._advance, self._visit = module.advance, module.visit
        else:
            more = {"gains": options.gains} if options.method == "baumgarte" else {}
            self.problem = METHODS[options.method](system, system.nc - len(independent), **more)
            self._advance, self._visit = integrators.advance, integrators.visit

    def prepare(self, system: System, options: Options, span: tuple[float, float]) -> None:
        """What all steppers have in common."""
        self.system, self.options = system, options
        length, place = body_length(system), system.q_drawn.reshape(-1, 3)[:, :2]
        self.control = Control(
            float(span[1]), options.rtol, options.atol, options.max_step, options.step is None, length,
            NOISE * max(1.0, float(np.abs(place).max()) / length),
        )  # fmt: skip
        self.K = np.zeros((ROWS, self.y_size))
        self.evaluations = self.rejected = 0
        self.clock = np.zeros(4)

    def start(self, t: float, y: np.ndarray, h: float | None = None) -> None:
        self.y = np.array(y, float)
        h = self.options.step or self.options.first_step or h or self._first_step(t)
        self.clock[:] = t, h, 0.0, 0.0

    @property
    def t(self) -> float:
        return float(self.clock[0])

    @property
    def h(self) -> float:
        """The step that the control would take next, s."""
        return float(self.clock[1])

    def advance(self, n: int, wanted: np.ndarray) -> Chunk:
        times, pivots, nears = np.empty(n), np.empty(n), np.empty(n, bool)
        states, samples = np.empty((n, self.y.size)), np.empty((wanted.size, self.y.size))
        k, status, sampled, evaluations, rejected = self._advance(
            self.problem,
            self.pair,
            self.control,
            self.clock,
            self.y,
            self.K,
            times,
            states,
            pivots,
            nears,
            wanted,
            samples,
        )
        self.evaluations += evaluations
        self.rejected += rejected
        return Chunk(Track(times[:k], states[:k], pivots[:k], nears[:k]), samples[:sampled], status)

    def visit(self, track: Track, index: np.ndarray, when: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(states, slopes, multipliers) at the times `when`, in the steps `index` of the track (both sorted alike)."""
        y, f = np.empty((when.size, self.y_size)), np.empty((when.size, self.y_size))
        lam = np.zeros((when.size, self.system.nc))
        self._visit(
            self.problem,
            self.pair,
            self.control,
            track.times,
            track.states,
            track.nears,
            index,
            when,
            self.K,
            y,
            f,
            lam,
        )
        return y, f, lam

    @property
    def y_size(self) -> int:
        return 2 * self.system.nq + 1

    def slopes(self, t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dy/dt (n, ny) and lam (n, nc) at given states y (n, ny)."""
        here = Track(t, y, np.ones(t.size), np.zeros(t.size, bool))
        return self.visit(here, np.arange(t.size), t)[1:]

    def _first_step(self, t: float) -> float:
        """Hairer's starting step: an Euler step and the change of the slope over it stay small."""
        c, y = self.control, self.y
        direction = 1.0 if c.t_end >= t else -1.0

        def size(e: np.ndarray, z: np.ndarray) -> float:
            return measure(self.system, e, y, z, c.rtol, c.atol, c.length)

        f = self.slopes(np.array([t]), y[None])[0][0]
        h = 1e-3 * min(abs(c.t_end - t), 1.0)
        whole = np.zeros_like(y)  # in the place of y itself, which would count from the origin
        whole[: self.system.nq] = np.tile([c.length, c.length, 1.0], self.system.nb)
        d0, d1 = size(whole, y + h * f), size(f, y + h * f)
        h = 1e-6 if min(d0, d1) < 1e-5 else min(h, 0.01 * d0 / d1)
        z = y + h * direction * f
        g = self.slopes(np.array([t + h * direction]), z[None])[0][0]
        top = max(d1, size(g - f, z) / h)
        h1 = max(1e-6, h * 1e-3) if not top > 1e-15 else (0.01 / top) ** (1.0 / self.pair.order)
        return float(min(100 * h, h1, c.max_step, abs(c.t_end - t)))


def make_stepper(system: System, options: Options, span: tuple[float, float], independent: np.ndarray) -> Any:
    """The stepper for these options."""
    if options.method == "gen_alpha":
        from planar.implicit import Implicit

        return Implicit(system, options, span, independent)
    if options.integrator not in PAIRS:
        from planar.implicit import ScipySolver

        return ScipySolver(system, options, span, independent)
    return Explicit(system, options, span, independent)


__all__ = ["END", "Chunk", "Explicit", "Track", "make_stepper"]
