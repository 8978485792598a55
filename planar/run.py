"""The result of `pl.simulate`: a `Result` that also knows every time between its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from planar.errors import ModelError
from planar.mobility import DENSE, scaled_jacobian, smallest_singular_value, unique_rows
from planar.multipliers import transposed_solver
from planar.options import Options
from planar.result import Event, Result
from planar.steppers import Track, make_stepper
from planar.system import System
from planar.tooth import meshes, with_radial_loads

if TYPE_CHECKING:
    from planar.forward import _Trip

PASSAGE = 0.3  # part of the usual smallest singular value below which a minimum is looked at
SINGULAR, NEAR = 1e-5, 1e-3  # smallest singular values below which a position is called singular, near-singular
SAMPLES = 8  # in each step, to find the minima
BROKEN_BALANCE = 0.1  # part of the energy in motion that the balance may miss before a run counts as diverged


class Run(Result):
    """A simulated motion.

    run(t)        the state at any time of the run: positions, velocities, accelerations, multipliers (a `Run` again)
    track         the steps of the integration;  evaluations, rejected: what they cost
    next_step     s; the step that the control would have taken next
    events        what happened on the way: found events, singular positions passed
    """

    def __init__(self, system: System, t: Any, q: Any, v: Any, a: Any, lam: Any, **more: Any):
        self.options: Options = more.pop("options")
        self.span: tuple[float, float] = more.pop("span")
        self.track: Track = more.pop("track")
        self.independent: np.ndarray = more.pop("independent")
        self._stepper: Any = more.pop("stepper", None)
        self.next_step: float = more.pop("next_step", 0.0)
        self.evaluations, self.rejected = more.pop("cost", (0, 0))
        self._passages: list[Event] | None = None
        super().__init__(system, t, q, v, a, lam, analysis="simulate", **more)

    @property
    def stepper(self) -> Any:
        if self._stepper is None:
            self._stepper = make_stepper(self.system, self.options, self.span, self.independent)
        return self._stepper

    @property
    def events(self) -> list[Event]:
        """Events found and singular positions passed, in the order of time."""
        if self._passages is None:
            self._passages = _passages(self)
        sign = 1.0 if self.span[1] >= self.span[0] else -1.0
        return sorted(self._found + self._passages, key=lambda e: sign * e.t)

    @property
    def found_events(self) -> list[Event]:
        """Those that were asked for, without the singular positions."""
        return self._found

    @events.setter
    def events(self, found: list[Event]) -> None:
        self._found = list(found)

    def __call__(self, t: Any) -> Run:
        """The motion at times t s within the run, by the dense output of the integrator put back on the constraints."""
        when = np.atleast_1d(np.asarray(t, float))
        t0, t1 = self.track.times[0], self.track.times[-1]
        slack = 1e-12 * max(abs(t0), abs(t1))
        outside = ~((when >= min(t0, t1) - slack) & (when <= max(t0, t1) + slack))
        if when.ndim != 1 or outside.any():
            bad = when[outside][0] if outside.any() else when
            raise ModelError(f"run({bad}): the run goes from t = {t0:g} to {t1:g} s; ask for times within it")
        when = np.clip(when, min(t0, t1), max(t0, t1))
        order = np.argsort(when if t1 >= t0 else -when, kind="stable")
        y, f, lam = at_times(self.stepper, self.track, when[order])
        back = np.argsort(order)
        return _made(self, when, y[back], f[back], lam[back])

    def save(self, path: Any) -> None:
        """Write everything but the model to an .npz file; `pl.load(path, model)` reads it."""
        from planar.saving import save

        save(self, path)


def at_times(stepper: Any, track: Track, when: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(states, slopes, multipliers) at sorted times within a track."""
    return stepper.visit(track, track.steps_of(when), when)


def finish(
    system: System,
    options: Options,
    span: tuple[float, float],
    independent: np.ndarray,
    stepper: Any,
    trip: _Trip,
    notes: list[str],
) -> Run:
    """The run of a finished trip: samples or steps, cut at a terminal event, with accelerations and multipliers."""
    track = Track.joined(trip.parts)
    sign = 1.0 if span[1] > span[0] else -1.0
    if trip.stopped is not None:
        track = _cut(stepper, track, trip.stopped, sign)
    if trip.wanted is None:
        t, y = track.times, track.states
    else:
        y = np.concatenate(trip.samples)
        t = trip.wanted[: len(y)]
        if trip.stopped is not None:
            inside = sign * t < sign * trip.stopped
            t, y = np.append(t[inside], trip.stopped), np.vstack([y[inside], track.states[-1:]])
    f, lam = stepper.slopes(t, y)
    run = Run(
        system, t, *_parts(system, y), f[:, system.nq : -1], lam, options=options, span=span, track=track,
        independent=independent, stepper=stepper, next_step=abs(stepper.h), cost=(stepper.evaluations, stepper.rejected),
        success=trip.success, message=trip.message, notes=notes, events=trip.events,
        work=y[:, -1] - y[:1, -1],
    )  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore"):  # of a motion that diverged
        complete(run)
        _check_balance(run)
    return run


def _parts(system: System, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return y[:, : system.nq], y[:, system.nq : -1]


def _made(run: Run, t: np.ndarray, y: np.ndarray, f: np.ndarray, lam: np.ndarray) -> Run:
    """A run with other samples on the same track."""
    other = Run(
        run.system, t, *_parts(run.system, y), f[:, run.system.nq : -1], lam, options=run.options, span=run.span,
        track=run.track, independent=run.independent, stepper=run.stepper, next_step=run.next_step,
        cost=(run.evaluations, run.rejected), success=run.success, message=run.message, notes=run.notes, events=run._found,
        work=y[:, -1] - y[:1, -1],
    )  # fmt: skip
    complete(other)
    return other


def _cut(stepper: Any, track: Track, t: float, sign: float) -> Track:
    """The track up to time t, which becomes its last entry."""
    n = int(np.searchsorted(sign * track.times, sign * t, side="left"))
    y = at_times(stepper, track, np.array([t]))[0]
    head, k = track.until(n), min(n, track.times.size - 1)
    return Track.joined([head, Track(np.array([t]), y, track.pivots[k : k + 1], track.nears[k : k + 1])])


def complete(run: Run) -> None:
    """Smallest multipliers and labels where rows are redundant; radial tooth forces; limits in singular positions."""
    system = run.system
    _take_limits(run)
    redundant = len(run.independent) < system.nc
    if not len(run) or not (redundant or meshes(system)):
        return
    solve = transposed_solver(system, run.Phi_q, run.q, free=True)
    if redundant:
        run.lam = solve(system.forces(run.t, run.q, run.v) - system.mass * run.a)
        run.label_unique(unique_rows(system, run.Phi_q))
    run.lam, loads = with_radial_loads(system, run.q, run.lam, solve)
    run.loads.update(loads)


def _take_limits(run: Run) -> None:
    """Accelerations and multipliers of a sample in a singular position: the mean of those just beside it."""
    bad = np.flatnonzero(~np.isfinite(run.a).all(axis=1))
    if not bad.size:
        return
    t0, t1 = np.sort(run.track.times[[0, -1]])
    beside = 1e-5 * (t1 - t0) / max(1, run.track.times.size - 1)
    for k in bad:
        when = np.sort(np.clip(run.t[k] + np.array([-beside, beside]), t0, t1))
        when = when if run.span[1] >= run.span[0] else when[::-1]
        _, f, lam = at_times(run.stepper, run.track, when)
        run.a[k], run.lam[k] = f[:, run.system.nq : -1].mean(axis=0), lam.mean(axis=0)
    run.notes.append(
        f"the sample at t = {run.t[bad[0]]:g} s lies in a singular position; accelerations and reactions there are the mean "
        "of those just beside it"
    )


def _check_balance(run: Run) -> None:
    """A motion that makes energy from nothing is none: say so instead of returning it as success."""
    if not run.success or not len(run):
        return
    finite = np.isfinite(run.q).all() and np.isfinite(run.v).all()
    if finite:
        energy = run.energy
        size = energy.kinetic.max() + np.ptp(energy.potential) + np.abs(energy.work).max()
        size += 1e-9 * np.abs(energy.potential).max() + run.options.atol  # a mechanism at rest
        missing = (
            energy.drift if run.options.method == "gen_alpha" else np.abs(energy.drift)
        )  # which dissipates by design
        if not missing.max() > BROKEN_BALANCE * size:
            return
    run.success = False
    k = int(np.argmax(missing > BROKEN_BALANCE * size)) if finite else 0
    how = "step" if run.options.step is not None else "rtol"
    run.message = (
        f"the motion diverged: at t = {run.t[k]:g} s the energy balance misses "
        f"{missing[k] if finite else np.nan:.3g} J of {size if finite else np.nan:.3g} J; give a smaller {how}"
    )


# --- singular positions ----------------------------------------------------------------------------------------------


def _passages(run: Run) -> list[Event]:
    """Singular positions that were passed: minima of the smallest singular value along the track.

    Small systems are looked at SAMPLES times per step; of large ones only the steps with small pivots.
    """
    track, system = run.track, run.system
    if not system.nc or track.times.size < 2:
        return []
    steps = np.arange(track.times.size - 1)
    if max(system.nc, system.nq) > DENSE:
        size = np.sqrt(np.maximum(track.pivots[1:], 0.0))
        steps = steps[track.nears[1:] | (size < PASSAGE * size.max())]
    found: list[Event] = []
    for part in np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1):
        if part.size:
            found += _minima(run, int(part[0]), int(part[-1]) + 1)
    return found


def _smallest(run: Run, when: np.ndarray) -> np.ndarray:
    """Smallest singular values at times in the order of the track."""
    system = run.system
    q = at_times(run.stepper, run.track, when)[0][:, : system.nq]
    data = system.constraints(when, q).Phi_q
    if max(system.nc, system.nq) <= DENSE:
        J = scaled_jacobian(system, data)[:, run.independent]
        return np.linalg.svd(J, compute_uv=False)[:, -1]
    rows = run.independent if len(run.independent) < system.nc else None
    return np.array([smallest_singular_value(system, x, rows)[0] for x in data])


def _minima(run: Run, first: int, last: int) -> list[Event]:
    times = run.track.times[first : last + 1]
    part = np.linspace(0, 1, SAMPLES + 1)[:-1]
    when = np.append((times[:-1, None] + part * np.diff(times)[:, None]).reshape(-1), times[-1])
    size = _smallest(run, when)
    around = np.concatenate([[np.inf], size, [np.inf]])
    low = np.flatnonzero((size < around[:-2]) & (size <= around[2:]) & (size < PASSAGE * np.median(size) + NEAR))
    found = []
    for k in low:
        if 0 < k < when.size - 1:
            event = _locate(run, when[k - 1], when[k + 1])
            found += [event] if event is not None else []
    return found


def _locate(run: Run, a: float, b: float) -> Event | None:
    """The minimum of the smallest singular value between two times, narrowed by samples."""
    from planar.kinematics import driven_angle

    for _ in range(9):
        t = np.linspace(a, b, 9)
        values = _smallest(run, t)
        k = int(np.argmin(values))
        a, b = t[max(k - 1, 0)], t[min(k + 1, 8)]
    when, value = float(t[k]), float(values[k])
    if value > NEAR:
        return None
    system = run.system
    q = at_times(run.stepper, run.track, np.array([when]))[0][0, : system.nq]
    row = smallest_singular_value(system, system.constraints(when, q).Phi_q)[1]
    kind = "singular" if value < SINGULAR else "near-singular"
    body, angle = driven_angle(system, q)
    text = (
        f"passed a {'singular' if kind == 'singular' else 'nearly singular'} position at t = {when:.9g} s: {body!r} at "
        f"{np.degrees(angle):.6g} deg, {row!r} is most involved, smallest singular value {value:.1e}"
    )
    return Event(kind, when, angle, row, value, text)
