"""Kinematics of a driven mechanism: positions, velocities and accelerations at many times.

    Phi(q, t) = 0      Phi_q v = nu      Phi_q a = gamma

Small systems run as one compiled sweep over the samples or, where numba is absent or not worth its import, as a few steps
of continuation and one NumPy batch for all samples between them; large ones step with the sparse solvers.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from planar import backend
from planar.assembly import assemble, row_scale
from planar.continuation import DENSE, STRAY, Node, Path
from planar.errors import AssemblyError, ModelError, PlanarWarning, SingularError
from planar.joints import PointOnCurve
from planar.linear import dependence
from planar.mobility import smallest_singular_value
from planar.model import Model
from planar.packed import Packed, dense_slots, pack
from planar.result import Event, Result
from planar.state import State
from planar.system import System, compile

NEAR = 1e-3  # smallest singular value of the scaled Jacobian below which a position is called near-singular
HISTORY = 20  # samples that a jump across a change point may start from
OPEN = 1e-6  # typical lengths by which redundant rows may gape: more than Newton and change points leave
WORTH = 2000  # samples from which importing numba (0.4 s) pays


def kinematics(model: Model | System, t: Any = 0.0) -> Result:
    """Motion of a mechanism whose drivers leave nothing free, at the times t s (one, or an ascending or descending list).

    Follows the branch on which the model assembles at t[0].  Where the drivers ask for more than the linkage can reach,
    the result ends before (`success` False, `message`, an event "limit" with time, angle, joint and smallest singular
    value) and a `PlanarWarning` is given.  Change points that are passed are events "singular"; positions close to one
    are events "near-singular".
    """
    result = solve(model if isinstance(model, System) else compile(model), as_times(t))
    warn_if_stopped(result)
    return result


def solve(system: System, t: np.ndarray) -> Result:
    """Kinematics of a compiled system, without the warning."""
    start = assemble(system, float(t[0]))
    path = Path(system, independent_rows(system, float(t[0]), start.q))
    first = path.node(float(t[0]), start.q)
    if first is None:
        event = _event(system, "singular", float(t[0]), start.q)
        raise SingularError(f"the motion starts in a {event}; start at another time")
    _check_redundant(system, first)
    motion = _Motion(path, t, first)
    motion.run()
    motion.stop_at_ends_of_curves()
    motion.stop_where_joints_open()
    n = motion.done
    return Result(
        system,
        t[:n],
        motion.q[:n],
        motion.v[:n],
        motion.a[:n],
        analysis="kinematics",
        success=n == t.size,
        message=motion.message,
        events=sorted(motion.events, key=lambda e: e.t),
        notes=start.notes,
    )


def warn_if_stopped(result: Result) -> None:
    """Tell the user who does not look at `success`; points at the line that called the analysis."""
    if not result.success:
        warnings.warn(f"{result.message}; {len(result)} samples were computed", PlanarWarning, stacklevel=3)


def as_times(t: Any) -> np.ndarray:
    """A one-dimensional array of times in s that go one way."""
    try:
        times = np.array(t, float).reshape(-1)
    except (TypeError, ValueError):
        raise ModelError(f"t must be a time in s or a list of times, got {t!r:.60}") from None
    if not times.size:
        raise ModelError("t is empty; give at least one time in s")
    if not np.isfinite(times).all():
        raise ModelError(f"t[{int(np.argmin(np.isfinite(times)))}] is not finite; give finite times in s")
    steps = np.diff(times)
    if (steps < 0).any() and (steps > 0).any():
        k = int(np.argmax(np.sign(steps) != np.sign(steps[steps != 0][0])))
        raise ModelError(
            f"t must ascend or descend, but t[{k}] = {times[k]:g} s and t[{k + 1}] = {times[k + 1]:g} s; sort it"
        )
    return times


def independent_rows(system: System, t: float, q: np.ndarray) -> np.ndarray:
    """nq rows of Phi that determine the motion, or an error that names what is free."""
    Phi_q = system.constraints(t, q).Phi_q
    found = dependence(system.pattern, Phi_q)
    if found.rank < system.nq:
        from planar.diagnosis import explain_underdriven

        text = explain_underdriven(system, t, q)
        if system.nc >= system.nq:  # enough by count
            text += "; if it is free in this position only (links in one line), start at another time"
        raise ModelError(text, f"model {system.model.name!r}")
    return found.independent


def _check_redundant(system: System, first: Node) -> None:
    """Rows that are redundant in the first pose must stay so: their accelerations tell."""
    if system.nc <= system.nq:
        return
    e = system.constraints(first.t, first.q, first.v)
    gap = np.abs((system.pattern.multiply(e.Phi_q, first.a) - e.gamma) * row_scale(system))
    size = np.abs(first.a * np.tile([1.0, 1.0, system.length], system.nb)).max() + np.abs(e.gamma).max()
    if not gap.max() > OPEN * size:
        return
    row, drivers = int(np.argmax(gap)), [repr(d.name) for d in system.model.drivers]
    reason = "the joints close here but not on the way; check the lengths around it, or leave out what is redundant"
    if system.driven[row] and len(drivers) > 1:
        reason = f"drivers {', '.join(drivers)} contradict each other; drop one"
    raise AssemblyError(
        f"no acceleration satisfies {system.row_names[row]!r} at t = {first.t:g} s (it is off by {gap[row]:.1e} m/s^2): "
        f"{reason} (m.diagnose() names what depends on what)"
    )


class _Motion:
    """The samples while they are computed."""

    def __init__(self, path: Path, t: np.ndarray, first: Node):
        self.path, self.system, self.t, self.first = path, path.system, t, first
        nq = self.system.nq
        # three zeros at the end: ground, as the compiled loops read it
        self._q, self._v, self._a = (np.zeros((t.size, nq + 3)) for _ in range(3))
        self.q, self.v, self.a = self._q[:, :nq], self._v[:, :nq], self._a[:, :nq]
        self.sound = np.zeros(t.size)
        self.q[0], self.v[0], self.a[0], self.sound[0] = first.q, first.v, first.a, first.sound
        self.done = 1
        self.seam = 0  # samples before it are no basis for extrapolation
        self.events: list[Event] = []
        self.message = ""

    def run(self) -> None:
        packed = pack(self.system)
        small = self.system.nq <= DENSE
        worth = backend.is_loaded() or self.t.size >= WORTH
        if small and packed is not None and backend.has_numba() and worth:
            self._compiled(packed)
        elif small:
            self._walk(self.t.size)
        else:
            self._one_by_one()
        self.events += [_event(self.system, "singular", node.t, node.q) for node in self.path.crossings]
        self._note_near_singular()

    # --- three ways ----------------------------------------------------------------------------------------------------

    def _compiled(self, packed: Packed) -> None:
        """One compiled sweep; gaps that it cannot take in one safe step are bridged by continuation."""
        path, t = self.path, self.t
        slots = dense_slots(self.system, packed, path.chosen)
        F = np.ascontiguousarray(np.moveaxis(self.system.motion_values(t), 0, 1))
        while self.done < t.size:
            self.done = backend.compiled().sweep(
                *packed[:5], slots, path.chosen, self.system.nc, t, F, self.system.length, self._q, self._v, self._a,
                self.sound, self.seam, self.done, path.round_off(self.q[0]), path.leap, STRAY,
            )  # fmt: skip
            if self.done < t.size:
                k = self.done
                if not self._walk(k + 1):
                    return
                self.seam = k

    def _walk(self, stop: int) -> bool:
        """Continuation from the last sample to sample stop - 1, then all samples on the way as one batch."""
        t, k = self.t, self.done - 1
        before = [self._sample(i) for i in range(max(self.seam, k - HISTORY), k)]
        nodes = [*before, self.path.node(t[k], self.q[k].copy()) or self._sample(k)]
        reached = self.path.walk(nodes, t[stop - 1])
        direction = 1.0 if t[-1] >= t[0] else -1.0
        inside = np.flatnonzero(direction * t[self.done :] <= direction * nodes[-1].t)
        if inside.size:
            part = slice(self.done, self.done + inside[-1] + 1)
            self.q[part], self.v[part], self.a[part], self.sound[part] = self.path.fill(nodes, t[part])
            self.done = part.stop
        if not reached:
            self._stop(nodes[-1])
        return reached

    def _one_by_one(self) -> None:
        """Large systems: every sample is a node."""
        nodes = [self.first]
        for k in range(1, self.t.size):
            if not self.path.walk(nodes, self.t[k]):
                self._stop(nodes[-1])
                return
            self.q[k], self.v[k], self.a[k], self.sound[k] = nodes[-1][1:]
            self.done = k + 1
            del nodes[:-2]

    def _sample(self, k: int) -> Node:
        return Node(self.t[k], self.q[k].copy(), self.v[k].copy(), self.a[k].copy(), self.sound[k])

    # --- events ----------------------------------------------------------------------------------------------------------

    def _stop(self, last: Node) -> None:
        event = _event(self.system, "limit", last.t, last.q)
        self.message = str(event)
        self.events.append(event)

    def stop_at_ends_of_curves(self) -> None:
        """A follower that runs past the end of an open curve has nothing to follow any more."""
        state = State(self.system, self.t[: self.done], self.q[: self.done], self.v[: self.done])
        for joint in self.system.model.joints:
            if not isinstance(joint, PointOnCurve) or joint.curve.closed:
                continue
            origin, x, y = (state.point(joint.body_i.point(*s)).r for s in ((0, 0), (1, 0), (0, 1)))
            d = state.point(joint.point_j).r - origin
            u = joint.curve.project(((x - origin) * d).sum(-1), ((y - origin) * d).sum(-1))
            inside = np.broadcast_to(joint.curve.inside(u), (self.done,))
            if inside.all():
                continue
            k = max(int(np.argmin(inside)), 1)
            self.done = k
            self.message = (
                f"the contact of {joint.name!r} leaves the end of its curve between t = {self.t[k - 1]:.6g} and "
                f"{self.t[min(k, self.t.size - 1)]:.6g} s; make the curve longer, or the motion shorter"
            )
            angle = driven_angle(self.system, self.q[k - 1])[1]
            self.events.append(Event("limit", float(self.t[k - 1]), angle, joint.name, text=self.message))
            state = State(self.system, self.t[:k], self.q[:k], self.v[:k])

    def stop_where_joints_open(self) -> None:
        """Rows that were redundant at the start may contradict the others later: a linkage that closes in one pose only."""
        system = self.system
        if system.nc <= system.nq:
            return
        gap = np.abs(system.constraints(self.t[: self.done], self.q[: self.done]).Phi * row_scale(system))
        open_ = gap.max(axis=1) > OPEN * system.length
        if not open_.any():
            return
        k = max(int(np.argmax(open_)), 1)
        name = system.row_names[int(np.argmax(gap[k]))]
        self.done = k
        self.events = [e for e in self.events if abs(e.t - self.t[0]) <= abs(self.t[k - 1] - self.t[0])]
        self.message = (
            f"{name!r} opens by {gap[k].max():.1e} m at t = {self.t[k]:.6g} s: it is redundant where the motion starts and "
            "contradicts the others from there on; check the lengths around it, or leave it out (m.diagnose() names the set)"
        )
        angle = driven_angle(system, self.q[k - 1])[1]
        self.events.append(Event("limit", float(self.t[k - 1]), angle, name, text=self.message))

    def _note_near_singular(self) -> None:
        """Local minima of the soundness that are small, apart from the change points already noted."""
        size = np.abs(np.nan_to_num(self.sound[: self.done]))
        known = np.array([e.t for e in self.events])
        spacing = np.abs(np.diff(self.t)).max(initial=0.0)
        around = np.concatenate([[np.inf], size, [np.inf]])
        for k in np.flatnonzero((size <= around[:-2]) & (size <= around[2:]) & (size < 0.05 * size.max(initial=0.0))):
            if not (np.abs(known - self.t[k]) <= spacing).any():
                event = _event(self.system, "near-singular" if size[k] else "singular", self.t[k], self.q[k])
                if event.smallest < NEAR:
                    self.events.append(event)


def driven_angle(system: System, q: np.ndarray) -> tuple[str, float]:
    """(name, angle in rad) of the body that the first angle driver turns, or of the first body."""
    for driver in system.model.drivers:
        turned = getattr(driver, "body_j", None)
        if turned is not None and not turned.is_ground:
            return turned.name, float(q[3 * system.body_index(turned) + 2])
    return system.body_names[0], float(q[2])


def _event(system: System, kind: str, t: float, q: np.ndarray) -> Event:
    smallest, row = smallest_singular_value(system, system.constraints(t, q).Phi_q)
    body, angle = driven_angle(system, q)
    words = {
        "limit": "the mechanism cannot follow its drivers past",
        "singular": "singular position (change point) at",
        "near-singular": "nearly singular position at",
    }
    text = (
        f"{words[kind]} t = {t:.9g} s: {body!r} at {np.degrees(angle):.6g} deg, "
        f"{row!r} is most involved, smallest singular value {smallest:.1e}"
    )
    return Event(kind, float(t), angle, row, smallest, text)
