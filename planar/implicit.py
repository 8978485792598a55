"""Steppers in Python for what is not an explicit pair: generalised-alpha, and the solvers of scipy by name.

Both give the steps; the dense output between them is the Hermite polynomial of degree 5 through positions, velocities and
accelerations, put back on the constraints, with `planar.integrators.visit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.gen_alpha import GenAlpha
from planar.integrators import BROKEN, END, EPS, FULL, GROW, SAFETY, SHRINK, TINY, pair, visit
from planar.methods import METHODS, Baumgarte
from planar.options import Options
from planar.steppers import Chunk, Explicit, Track
from planar.stepping import measure
from planar.system import System


class _Stepwise(Explicit):
    """Steps one by one with `_one_step`; start, visit and slopes as for explicit pairs."""

    is_compiled = False

    def __init__(self, system: System, options: Options, span: tuple[float, float], problem: Any):
        self.prepare(system, options, span)
        self.pair, self.problem, self._visit = pair("RK4"), problem, visit

    def advance(self, n: int, wanted: np.ndarray) -> Chunk:
        parts: list[tuple[float, np.ndarray]] = []
        status = FULL
        before = Track(np.array([self.t]), self.y[None].copy(), np.ones(1), np.zeros(1, bool))
        while len(parts) < n and status == FULL:
            status, made = self._one_step()
            if made:
                parts.append((self.t, self.y.copy()))
        k = len(parts)
        times, states = np.array([t for t, _ in parts]), np.array([y for _, y in parts]).reshape(k, self.y.size)
        track = Track(times, states, np.ones(k), np.zeros(k, bool))
        return Chunk(track, self._samples(Track.joined([before, track]), wanted), status)

    def _samples(self, track: Track, wanted: np.ndarray) -> np.ndarray:
        sign = 1.0 if self.control.t_end >= track.times[0] else -1.0
        inside = wanted[sign * wanted <= sign * track.times[-1]] if track.times.size > 1 else wanted[:0]
        return self.visit(track, track.steps_of(inside), inside)[0]

    def _one_step(self) -> tuple[int, bool]:
        """(status, whether y and t moved on)."""
        raise NotImplementedError


class Implicit(_Stepwise):
    """Generalised-alpha with the step controlled by its estimate of the local error in the coordinates."""

    def __init__(self, system: System, options: Options, span: tuple[float, float], independent: np.ndarray):
        method = GenAlpha(system, system.nc - len(independent), options.rho)
        method.projects = options.index == 2
        super().__init__(system, options, span, method)
        self.pair = self.pair._replace(order=3.0)  # of the local error

    def start(self, t: float, y: np.ndarray, h: float | None = None) -> None:
        super().start(t, y, h)
        self.problem.begin(t, self.y)

    def _one_step(self) -> tuple[int, bool]:
        c, t = self.control, self.t
        sign = 1.0 if c.t_end >= t else -1.0
        while True:
            left = abs(c.t_end - t)
            size = min(abs(self.clock[1]), c.max_step)
            last = size * 1.0000001 >= left
            size = left if last else size
            if size < 10 * EPS * max(abs(t), abs(c.t_end)) and not last:
                return TINY, False
            made = self.problem.step(t, sign * size, self.y)
            self.evaluations += 1
            error = 0.0 if not c.adaptive else np.inf
            if made is not None and c.adaptive:
                e = np.concatenate((made[1], np.zeros(self.y.size - made[1].size)))
                # twice the root mean square over the coordinates: velocities are not estimated
                rms = measure(self.problem, e, self.y, made[0], c.rtol, c.atol, c.length)
                error = 2.0 * rms * np.sqrt(e.size / made[1].size)
            if made is None and not c.adaptive:
                return BROKEN, False
            factor = min(GROW, max(SHRINK, SAFETY * max(error, 1e-10) ** (-1 / 3))) if np.isfinite(error) else SHRINK
            if error <= 1.0:
                break
            self.rejected += 1
            self.clock[1] = size * factor
        self.problem.accept()
        self.y[:] = made[0]
        if c.adaptive and not (last and factor >= 1.0):
            self.clock[1] = size * min(factor, 2.0)
        self.clock[0] = c.t_end if last else t + sign * size
        return (END if last else FULL), True


class ScipySolver(_Stepwise):
    """A solver of scipy.integrate on dy/dt = f(P(y)), P the projection on the constraints.

    f of the projected state does not feel how far y has drifted off, so that no solver, whatever its memory, has to be
    told about the projection; what is kept of a step is P(y).
    """

    def __init__(self, system: System, options: Options, span: tuple[float, float], independent: np.ndarray):
        more = {"gains": options.gains} if options.method == "baumgarte" else {}
        super().__init__(system, options, span, METHODS[options.method](system, system.nc - len(independent), **more))
        self.solver: Any = None

    def start(self, t: float, y: np.ndarray, h: float | None = None) -> None:
        from scipy import integrate

        self.y = np.array(y, float)
        c, o = self.control, self.options
        kinds = np.tile([c.length, c.length, 1.0], self.system.nb)
        speed = max(np.abs(y[self.system.nq : -1]).max(), np.sqrt(9.81 * c.length))
        # rtol of the typical length and speed, as for the other integrators; scipy's own is relative to each value
        atol = c.atol + c.rtol * np.concatenate((kinds, speed * kinds / c.length, [1.0]))
        self.solver = getattr(integrate, o.integrator)(
            self._slope, t, self.y, c.t_end, rtol=max(1e-3 * c.rtol, 100 * EPS), atol=atol, max_step=c.max_step,
            first_step=min(o.first_step, abs(c.t_end - t)) if o.first_step else None,
        )  # fmt: skip
        self.clock[:] = t, 0.0, 0.0, 0.0

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        z, out = np.array(y, float), np.zeros_like(y)
        self.evaluations += 1
        if not isinstance(self.problem, Baumgarte) and not self.problem.restore(t, z):
            z[:] = y
        if not self.problem.rate(t, 0.0, z, out) > 0.0:
            out[:] = np.nan
        return out

    def _one_step(self) -> tuple[int, bool]:
        try:
            with np.errstate(all="ignore"):  # trial states of its Newton iteration may be anywhere
                self.solver.step()
        except (ValueError, np.linalg.LinAlgError):  # slopes that are not finite
            return TINY, False
        if self.solver.status == "failed":
            return TINY, False
        self.y[:] = self.solver.y
        self.clock[0], self.clock[1] = self.solver.t, self.solver.step_size
        fine = self.problem.restore(self.t, self.y)
        status = END if self.solver.status == "finished" else FULL
        return (status, True) if fine else (BROKEN, False)
