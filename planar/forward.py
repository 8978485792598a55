"""Forward dynamics: how a mechanism moves under its forces, `pl.simulate(model, (t0, t1))`.

The driver here owns the start, the outputs, events, progress and interruption; `planar.steppers` only step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from planar.assembly import Assembly, assemble
from planar.errors import ModelError, SingularError
from planar.events import Watch
from planar.integrators import BROKEN, END, FULL, TINY
from planar.kinematics import warn_if_stopped
from planar.methods import Projection, chosen_gains
from planar.model import Model
from planar.options import Options, check_options, check_span, check_times
from planar.progress import Progress
from planar.result import Event
from planar.run import Run, finish
from planar.state import State
from planar.steppers import Track, make_stepper
from planar.system import System, compile

CHUNK = 32  # steps after which the loop looks up for the first time; then so many that it takes BREATH s
BREATH = 0.1
MOST = 4096


def simulate(
    model: Model | System,
    t_span: Any,
    *,
    method: str = "projection",
    integrator: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    t_eval: Any = None,
    events: Any = (),
    start: Any = None,
    gains: Any = None,
    rho: float = 0.8,
    index: int = 2,
    progress: bool | None = None,
    compiled: bool = True,
) -> Run:
    """The motion of a mechanism from its assembled start over t_span = (t0, t1) s; t1 < t0 runs backward.

    method      "projection" (default), "baumgarte", "partition", "nullspace", "gen_alpha": see `planar.methods`
    integrator  "DOP853" (default) or "RK45": explicit, adaptive; "RK4" with `step`; or one of scipy's: "RK23", "Radau",
                "BDF", "LSODA"
    rtol, atol  allowed error of a step: atol + rtol times the typical length (positions), 1 (angles), the greatest speed
                of any body (velocities)
    step        s; fixed steps without error control, RK4 unless `integrator` says otherwise
    first_step, max_step   s, of the adaptive control
    t_eval      times of the samples; left out: the steps themselves.  run(t) gives any time between afterwards
    events      functions g(t, state) whose zeros are found, with the attributes `terminal` and `direction` as in scipy;
                ready-made ones in `pl.events`
    start       where to begin: a run (its end), a result or state (its last sample), a pair (q, v); left out: the
                assembled drawing at t0
    gains       (alpha, beta) in 1/s of "baumgarte"; left out: from the time scale of the motion and the step
    rho, index  of "gen_alpha": spectral radius at infinity (1: no damping), 2 stabilised or 3
    progress    True or False; left out: a bar for long runs in a terminal
    compiled    False: the time loop in Python even where numba could compile it
    """
    options = check_options(
        method=method, integrator=integrator, rtol=rtol, atol=atol, step=step, first_step=first_step, max_step=max_step,
        gains=gains, rho=rho, index=index, compiled=compiled,
    )  # fmt: skip
    system = model if isinstance(model, System) else compile(model)
    span = check_span(t_span, float(start.track.times[-1]) if isinstance(start, Run) else None)
    times = check_times(t_eval, span)
    watch = Watch(system, events, span)
    begin = _begin(system, span[0], start)
    independent = _independent(system, span[0], begin.q.tobytes())
    if options.gains is None:
        options = replace(options, gains=chosen_gains(system, span[0], begin.q, begin.v, options.step))
    stepper = make_stepper(system, options, span, independent)
    stepper.start(span[0], np.concatenate((begin.q, begin.v, [0.0])), begin.h)
    trip = _Trip(system, stepper, span, times, watch)
    trip.go(Progress(span, progress))
    run = finish(system, options, span, independent, stepper, trip, begin.notes)
    if trip.failed:
        warn_if_stopped(run)
    return run


# --- start -----------------------------------------------------------------------------------------------------------


@dataclass
class _Begin:
    q: np.ndarray
    v: np.ndarray
    notes: list[str]
    h: float | None = None


@lru_cache(maxsize=32)
def _assembled(system: System, t: float) -> Assembly:
    """A system never changes: repeated runs of it need not assemble again."""
    return assemble(system, t)


def _begin(system: System, t: float, start: Any) -> _Begin:
    """A consistent state, and what had to be changed for it."""
    if start is None:
        found = _assembled(system, t)
        moved = [
            f"the drawn start was open: {name} moved by {distance:.3g} m and turned by {np.degrees(turn):.3g} deg"
            for name, (distance, turn) in found.moved.items()
        ]
        return _Begin(found.q.copy(), found.v.copy(), [*moved[:4], *found.notes])
    h = None
    if isinstance(start, Run):
        if abs(start.track.times[-1] - t) > 1e-9 * max(1.0, abs(t)):
            raise ModelError(
                f"start is a run that ends at t = {start.track.times[-1]:g} s, but t_span begins at {t:g} s; begin where it "
                "ends, or give start=(run(t).q, run(t).v)",
                "simulate",
            )
        y, h = start.track.states[-1], start.next_step
        q, v = y[: system.nq], y[system.nq : -1]
    elif isinstance(start, State):
        q, v = np.atleast_2d(start.q)[-1], np.atleast_2d(start.v)[-1]
    elif hasattr(start, "q") and hasattr(start, "v"):
        q, v = start.q, start.v
    else:
        try:
            q, v = (np.asarray(x, float) for x in start)
        except (TypeError, ValueError):
            raise ModelError(
                f"start is {start!r:.60}; give a run, a result, an assembly, or a pair (q, v)", "simulate"
            ) from None
    q, v = np.array(q, float), np.array(v, float)
    for name, x in (("q", q), ("v", v)):
        if x.shape != (system.nq,) or not np.isfinite(x).all():
            raise ModelError(
                f"start: {name} has the shape {x.shape}, or is not finite; {system.nq} finite numbers are needed",
                "simulate",
            )
    return _Begin(q, v, [], h) if isinstance(start, Run) else _consistent(system, t, q, v)


def _consistent(system: System, t: float, q: np.ndarray, v: np.ndarray) -> _Begin:
    y = np.concatenate((q, v, [0.0]))
    if not Projection(system, spare=system.nc).restore(t, y):
        raise ModelError(
            "start: the given state is far from the constraints; assemble the model there first", "simulate"
        )
    n, notes = system.nq, []
    for word, old, new in (("coordinates", q, y[:n]), ("velocities", v, y[n:-1])):
        change = float(np.abs(new - old).max())
        if change > 1e-8 * (1 + float(np.abs(old).max())):
            notes.append(f"the {word} of the start changed by up to {change:.3g} to fit the constraints")
    return _Begin(y[:n], y[n:-1], notes)


@lru_cache(maxsize=32)
def _independent(system: System, t: float, pose: bytes) -> np.ndarray:
    """Rows of Phi without those that depend on others permanently; a start in a singular position is refused."""
    from planar.linear import dependence
    from planar.redundancy import redundancy

    q = np.frombuffer(pose)
    Phi_q = system.constraints(t, q).Phi_q
    every = np.arange(system.nc)
    if not system.nc or not dependence(system.pattern, Phi_q, tol=1e-8).dependent.size:
        return every
    found = redundancy(system, t, q, Phi_q)
    if found.momentary:
        names = sorted({system.row_names[r].rsplit(".", 1)[0] for _, rows in found.momentary for r in rows})
        raise SingularError(
            f"the start at t = {t:g} s is a singular position: {', '.join(map(repr, names[:6]))} depend on each other in "
            "this pose only, so the motion out of it is not determined; draw the mechanism a little beside it"
        )
    return np.setdiff1d(every, [row for row, _ in found.permanent])


# --- on the way ------------------------------------------------------------------------------------------------------


@dataclass
class _Trip:
    """The steps and samples while they are made, and why it ended."""

    system: System
    stepper: Any
    span: tuple[float, float]
    wanted: np.ndarray | None
    watch: Watch
    parts: list[Track] = field(default_factory=list)
    samples: list[np.ndarray] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    success: bool = True
    failed: bool = False
    message: str = "reached the end of t_span"
    stopped: float | None = None  # time of a terminal event

    def go(self, progress: Progress) -> None:
        t0, sign = self.span[0], 1.0 if self.span[1] > self.span[0] else -1.0
        y = self.stepper.y
        self.parts.append(Track(np.array([t0]), y[None].copy(), np.ones(1), np.zeros(1, bool)))
        wanted = np.zeros(0) if self.wanted is None else self.wanted
        taken = int(np.searchsorted(sign * wanted, sign * t0, side="right"))
        self.samples.append(np.repeat(y[None], taken, axis=0))
        n, status = CHUNK, FULL
        try:
            with progress:
                while status == FULL and self.stopped is None:
                    chunk = self.stepper.advance(n, wanted[taken:])
                    status = chunk.status
                    taken += len(chunk.samples)
                    self.samples.append(chunk.samples)
                    if chunk.track.times.size:
                        before = self.parts[-1].until(self.parts[-1].times.size)
                        self.parts.append(chunk.track)
                        self._look_for_events(before, chunk.track)
                    n = progress.more_steps(n, self.stepper.t, MOST, BREATH)
        except KeyboardInterrupt:
            self.success, self.message = False, f"interrupted at t = {self.parts[-1].times[-1]:g} s (Ctrl-C)"
            return
        if status in (TINY, BROKEN) and self.stopped is None:
            self.success, self.failed, self.message = False, True, self._why(status)

    def _look_for_events(self, before: Track, track: Track) -> None:
        if not self.watch:
            return
        last = Track(before.times[-1:], before.states[-1:], before.pivots[-1:], before.nears[-1:])
        found, end = self.watch.look(self.stepper, Track.joined([last, track]))
        self.events += found
        if end is not None:
            self.stopped = end
            self.message = f"event {found[-1].kind!r} ended the run at t = {end:g} s"

    def _why(self, status: int) -> str:
        """What stopped the steps, with the joint most involved."""
        from planar.mobility import smallest_singular_value

        t, y = float(self.parts[-1].times[-1]), self.parts[-1].states[-1]
        q = y[: self.system.nq]
        text = f"stopped at t = {t:.9g} s: "
        if status == BROKEN and self.stepper.options.step is not None:
            text += f"a step of {self.stepper.options.step:g} s did not come back to the constraints"
            remedy = "give a smaller step, or leave step out for error control"
        else:
            text += f"the step fell below {abs(self.stepper.h):.1e} s"
            remedy = "the forces may be stiff or jump there: try method='gen_alpha', or a looser rtol"
        if self.system.nc:
            first = self.parts[0].states[0, : self.system.nq]
            poses = np.array([self.span[0], t]), np.stack([first, q])
            (healthy, _), (smallest, row) = (
                smallest_singular_value(self.system, data) for data in self.system.constraints(*poses).Phi_q
            )
            if smallest < 1e-2 and smallest < 0.1 * healthy:
                remedy = (
                    f"the position is (nearly) singular at {row!r} (smallest singular value {smallest:.1e}), and the motion "
                    "beyond it is not determined by continuity"
                )
        return f"{text}; {remedy}"


__all__ = ["END", "Options", "Run", "simulate"]
