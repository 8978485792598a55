"""Assembly: the consistent pose and velocities nearest to what was drawn.

Positions: smallest mass-weighted change of the drawn pose with Phi(q, t) = 0, by damped Gauss-Newton steps, then by
sequential quadratic steps along the constraints.  Velocities: v - v0 smallest in the same measure with Phi_q v = nu.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planar.bodies import as_number
from planar.errors import AssemblyError, ModelError
from planar.model import Model
from planar.placement import drawn
from planar.projection import Projector, in_radians, row_scale, weights
from planar.state import State
from planar.system import Constraints, System, compile

ITERATIONS = 200  # of Gauss-Newton; it gives up earlier where no step gains
STARTS = 24  # angles tried for bodies that were drawn without a pose
SEARCH = 40  # steps of the search from these
DENSE = 150  # coordinates up to which the starts are searched as one batch
SETTLE = 60  # steps along the constraints to the closest point
CLOSED = 1e-10  # open joints below this part of the mechanism's size count as closed; iteration goes on to round-off


@dataclass
class Assembly:
    """A consistent state: q, v (nq,) at time t s, and what it took.

    moved: {body: (distance in m, turn in rad)} for the bodies with a drawn pose that had to move.
    notes: what the user should know: other assemblies, the other branch, changed velocities.
    """

    system: System
    t: float
    q: np.ndarray
    v: np.ndarray
    residual: float
    moved: dict[str, tuple[float, float]]
    notes: list[str] = field(default_factory=list)

    def pose(self, body: object) -> np.ndarray:
        """(x, y, phi) of a body, m and rad."""
        k = self.system.body_index(body)
        return self.q[3 * k : 3 * k + 3].copy()

    def __str__(self) -> str:
        lines = [f"assembled at t = {self.t:g} s, largest opening {self.residual:.1e} m"]
        if not self.moved:
            lines.append("  the drawn pose is consistent")
        for name, (distance, turn) in self.moved.items():
            lines.append(f"  {name}: moved by {distance:.3g} m, turned by {np.degrees(turn):.3g} deg")
        return "\n".join(lines + [f"  {note}" for note in self.notes])


def assemble(model: Model | System, t: float = 0.0) -> Assembly:
    """Assemble at time t; raises `AssemblyError` with the joint that stays open."""
    system = model if isinstance(model, System) else compile(model)
    t = as_number(t, "time t of the assembly")
    if not np.isfinite(t):
        raise ModelError(f"time t of the assembly is {t} s; give a finite number")
    w = weights(system)
    projector = Projector(system, w)
    notes: list[str] = []
    with np.errstate(all="ignore"):  # a step that leaves the finite numbers is refused, whatever the reason
        q = _close_positions(system, projector, t, notes)
        q = _settle(system, projector, t, q)
    e = system.constraints(t, q)
    v = Projector(system, weights(system, drawn=False)).step(e.Phi_q, e.nu, toward=system.v_drawn)
    _check_velocities(system, t, v, e)
    change = np.abs(v - system.v_drawn).max(initial=0.0)
    if np.any(system.v_drawn) and change > 1e-9 * (1 + np.abs(v).max()):
        notes.append(f"velocities changed by up to {change:.3g} to fit the constraints")
    _note_other_side(system, w, t, q, notes)
    state = State(system, t, q, v)
    notes += [note for c in system.model.constraints for note in c.misfits(lambda point: state.point(point).r)]
    return Assembly(system, t, q, v, opening(system, t, q)[1], _moved(system, q), notes)


def _check_velocities(system: System, t: float, v: np.ndarray, e: Constraints) -> None:
    scale = row_scale(system)
    slip = np.abs(system.pattern.multiply(e.Phi_q, v) - e.nu) * scale
    # the drawn velocities count too: what is left of them in a rigid structure is their round-off
    fast = np.abs(np.stack([v, system.v_drawn]).reshape(-1, 3) * (1.0, 1.0, system.length)).max(initial=0.0)
    if slip.max(initial=0.0) > 1e-8 * max(fast, np.abs(e.nu * scale).max(initial=0.0)):
        row = int(np.argmax(slip))
        raise AssemblyError(
            f"no velocity satisfies {system.row_names[row]!r} at t = {t:g} s (it slips by {slip[row]:.1e} m/s): the mechanism "
            "is in a limit position for its drivers, or two drivers contradict each other; start at another time or drop a "
            "driver"
        )


# --- positions -----------------------------------------------------------------------------------------------------


def opening(system: System, t: float, q: np.ndarray) -> tuple[int, float]:
    """(row, size in m) of the constraint that is open most."""
    if not system.nc:
        return -1, 0.0
    Phi = np.abs(system.constraints(t, q).Phi) * row_scale(system)
    row = int(np.argmax(np.where(np.isfinite(Phi), Phi, np.inf)))
    return row, float(Phi[row])


def close(system: System, projector: Projector, t: float, q: np.ndarray) -> tuple[np.ndarray, bool]:
    """Damped Gauss-Newton from q on Phi(q, t) = 0: (q, closed).  Goes on to round-off while it gains."""
    scale = row_scale(system)
    F = system.motion_values(t)
    still = np.zeros_like(q)

    def evaluate(q: np.ndarray):
        e = system.evaluate(t, q, still, F)
        size = system.length + np.abs(q.reshape(-1, 3)[:, :2]).max(initial=0.0)
        return e, float(np.abs(e.Phi * scale).max(initial=0.0)), size

    e, worst, size = evaluate(q)
    for _ in range(ITERATIONS):
        if worst <= 4e-16 * size or not (np.isfinite(worst) and np.isfinite(e.Phi_q).all()):
            break
        dq = projector.step(e.Phi_q, -e.Phi)
        # no coordinate leaps: half a radian, or a few lengths
        leap = max(np.abs(dq[2::3]).max() / 0.5, np.abs(np.delete(dq.reshape(-1, 3), 2, 1)).max() / (3 * size))
        dq = dq / max(1.0, leap)
        for halving in range(12):
            trial = q + dq * 0.5**halving
            e_trial, worst_trial, size_trial = evaluate(trial)
            if np.isfinite(worst_trial) and (worst_trial < worst * (1 - 0.1 * 0.5**halving) or worst_trial == 0.0):
                break
        else:
            break
        q, e, worst, size = trial, e_trial, worst_trial, size_trial
    return q, worst <= CLOSED * size


def _close_positions(system: System, projector: Projector, t: float, notes: list[str]) -> np.ndarray:
    q, closed = close(system, projector, t, system.q_drawn)
    open_angles = [k for k, b in enumerate(system.model.bodies) if b.phi is None]
    if closed and not open_angles:
        return _nearer(system, projector, t, q)
    if closed and not _is_rigid(system, t, q):
        return _unwind(system, t, q, open_angles)
    found = [q] if closed else []
    best = (opening(system, t, q)[1], q)
    starts = _promising(system, projector, t, _starts(system, open_angles))
    for start in starts:
        if any(_same(system, start, other, 1e-3) for other in found):
            continue
        trial, ok = close(system, projector, t, start)
        if not ok:
            best = min(best, (opening(system, t, trial)[1], trial), key=lambda item: item[0])
        elif not any(_same(system, trial, other) for other in found):
            found.append(trial)
            if not open_angles:
                break
    if not found:
        raise _open_error(system, t, best[1])
    if not open_angles:
        notes.append("the drawn pose is far from closed; the assembly was found from a shaken start, check the picture")
        return _nearest(system, projector, t, [found[0], *starts])
    return _unwind(system, t, _choose(system, projector, found, open_angles, notes), open_angles)


def _choose(
    system: System, projector: Projector, found: list[np.ndarray], open_angles: list[int], notes: list[str]
) -> np.ndarray:
    """Of several assemblies that in which the drawn bodies move least; if that leaves a choice, the highest."""

    def away(q: np.ndarray) -> float:
        d = (q - system.q_drawn).reshape(-1, 3)
        d[:, 2] = np.remainder(d[:, 2] + np.pi, 2 * np.pi) - np.pi
        return float((projector.w * system.known * d.reshape(-1) ** 2).sum())

    def height(q: np.ndarray) -> tuple[float, float]:
        return round(q[1::3][open_angles].mean(), 9), round(q[::3][open_angles].mean(), 9)

    least = min(map(away, found)) + 1e-9 * projector.w.max() * system.length**2
    near = [q for q in found if away(q) <= least]
    if len(found) > 1:
        names = ", ".join(system.body_names[k] for k in open_angles[:4])
        rule = "with the highest centres of mass" if len(near) > 1 else "nearest to the poses that were drawn"
        notes.append(
            f"{len(found)} assemblies found for the poses that were left out ({names}); took the one {rule}; "
            "give r= and phi= near another one to choose it"
        )
    return max(near, key=height)


def _nearer(system: System, projector: Projector, t: float, q: np.ndarray) -> np.ndarray:
    """q, or a nearer assembly; looked for if q is further away than the openings suggest.

    Gauss-Newton can overshoot to another assembly; starts shaken by as much as the openings ask for find those around.
    """
    w, q0 = projector.w, system.q_drawn
    e = system.constraints(t, q0)
    straight = projector.step(e.Phi_q, -e.Phi)
    if system.nq > DENSE or (w * (q - q0) ** 2).sum() <= 2.0 * (w * straight**2).sum():
        return q
    size = np.abs(straight.reshape(-1, 3)).max(axis=0)
    shake = np.random.default_rng(0).uniform(-1.0, 1.0, (8, system.nb, 3)) * size
    starts = np.vstack([q0, q0 + shake.reshape(8, -1)])
    return _nearest(system, projector, t, [q, *_promising(system, projector, t, starts)])


def _nearest(system: System, projector: Projector, t: float, starts: list[np.ndarray]) -> np.ndarray:
    """The assembly nearest to the drawn pose of those reached from starts[1:]; starts[0] is one."""

    def away(q: np.ndarray) -> float:
        return float((projector.w * (q - system.q_drawn) ** 2).sum())

    closed = [q for q, ok in (close(system, projector, t, start) for start in starts[1:]) if ok]
    return min([starts[0], *closed], key=away)


def _starts(system: System, open_angles: list[int]) -> np.ndarray:
    """(n, nq) poses to start from: other angles where they were left out, else the drawn pose shaken."""
    generator = np.random.default_rng(0)
    n = STARTS if system.nb <= 50 else 3
    if open_angles:
        names = [system.body_names[k] for k in open_angles]
        angles = generator.uniform(-np.pi, np.pi, (n, len(names)))
        return np.array([drawn(system.model, dict(zip(names, row, strict=True)))[0] for row in angles])
    shake = generator.normal(size=(n, system.nb, 3)) * 0.3 * np.array([system.length, system.length, 1.0])
    return system.q_drawn + shake.reshape(n, -1)


def _promising(system: System, projector: Projector, t: float, q: np.ndarray) -> np.ndarray:
    """Small systems: the starts that come close to closing, all moved there at once by Levenberg-Marquardt steps.

    dq = W^-1 J^T (J W^-1 J^T + mu)^-1 (-Phi), mu per start, lowered on success and raised on failure.
    """
    if system.nq > DENSE:
        return q
    scale, w, F = row_scale(system), projector.w, system.motion_values(t)
    size = system.length + np.abs(system.q_drawn.reshape(-1, 3)[:, :2]).max(initial=0.0)

    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        e = system.evaluate(t, q, np.zeros_like(q), F[:, None, :])
        Phi = e.Phi * scale
        return Phi, system.pattern.to_dense(e.Phi_q) * scale[:, None], np.abs(Phi).max(axis=1)

    Phi, J, worst = evaluate(q)
    mu, arrived = np.full(len(q), 1e-6), []
    for _ in range(SEARCH):
        JW = J / w
        A = JW @ np.swapaxes(J, -1, -2)
        damping = mu * np.trace(A, axis1=-2, axis2=-1) / system.nc + 1e-300
        A += damping[:, None, None] * np.eye(system.nc)
        dq = -(np.swapaxes(JW, -1, -2) @ np.linalg.solve(A, Phi[..., None]))[..., 0]
        leap = np.abs(dq[:, 2::3]).max(axis=1) / 0.5
        trial = q + dq / np.maximum(1.0, leap)[:, None]
        Phi_t, J_t, worst_t = evaluate(trial)
        better = worst_t < worst
        mu = np.clip(np.where(better, 0.1 * mu, 10.0 * mu), 1e-14, 1e3)
        q, worst = np.where(better[:, None], trial, q), np.where(better, worst_t, worst)
        Phi, J = np.where(better[:, None], Phi_t, Phi), np.where(better[:, None, None], J_t, J)
        arrived.append(int((worst <= 1e-6 * size).sum()))
        if arrived[-1] == len(q) or (arrived[-1] and arrived[-4:] == [arrived[-1]] * 4):  # the others have stalled
            break
    order = np.argsort(worst, kind="stable")
    near = order[worst[order] <= 1e-6 * size]
    return q[near if near.size else order[:3]]


def _unwind(system: System, t: float, q: np.ndarray, open_angles: list[int]) -> np.ndarray:
    """Angles that were left out: within half a turn of zero, where whole turns make no difference."""
    q = q.copy()
    before = opening(system, t, q)[1]
    for k in open_angles:
        phi = q[3 * k + 2]
        q[3 * k + 2] = np.remainder(phi + np.pi, 2 * np.pi) - np.pi
        if opening(system, t, q)[1] > before + 1e-9 * system.length:
            q[3 * k + 2] = phi
    return q


def _is_rigid(system: System, t: float, q: np.ndarray) -> bool:
    """No free motion left at q: then the poses that were left out are determined up to the branch."""
    if system.nc < system.nq or system.nq > 450:
        return False
    J = system.pattern.to_dense(system.constraints(t, q).Phi_q)
    return bool(np.linalg.matrix_rank(J, tol=1e-8 * np.abs(J).max()) == system.nq)


def _same(system: System, q1: np.ndarray, q2: np.ndarray, tolerance: float = 1e-6) -> bool:
    """Equal poses up to whole turns."""
    d = (q1 - q2).reshape(-1, 3)
    d[:, 2] = system.length * np.remainder(d[:, 2] + np.pi, 2 * np.pi) - system.length * np.pi
    return bool(np.abs(d).max() < tolerance * system.length)


def _settle(system: System, projector: Projector, t: float, q: np.ndarray) -> np.ndarray:
    """Slide along the constraints to the closest point: dq = argmin |q + dq - q0|_W with Phi_q dq = -Phi."""
    w, q0 = projector.w, system.q_drawn

    def away(q: np.ndarray) -> float:
        return float((w * (q - q0) ** 2).sum())

    distance, before, factor = away(q), None, 1.0
    for _ in range(SETTLE):
        if distance <= 1e-24 * w.max() * system.length**2:
            break
        e = system.constraints(t, q)
        dq = projector.step(e.Phi_q, -e.Phi, toward=q0 - q)
        left = np.sqrt((w * dq**2).sum() / distance)
        if left <= 1e-10:
            break
        if before is not None:  # Barzilai and Borwein: the curvature of the constraints, from the last two steps
            dx, change = q - before[0], before[1] - dq
            bend = (w * dx * change).sum()
            factor = float(np.clip((w * dx * dx).sum() / bend, 0.01, 100.0)) if bend > 0 else 1.0
        for halving in range(12):
            trial, closed = close(system, projector, t, q + factor * 0.5**halving * dq)
            # close to the goal the gain is below round-off: then do not lose
            if closed and away(trial) < distance * (1 - 1e-13 if left > 1e-6 else 1 + 1e-13):
                break
        else:
            break
        before, q, distance = (q, dq), trial, away(trial)
    return q


# --- report --------------------------------------------------------------------------------------------------------


def _moved(system: System, q: np.ndarray) -> dict[str, tuple[float, float]]:
    d = (q - system.q_drawn).reshape(-1, 3)
    known = system.known.reshape(-1, 3)
    moved = {}
    for k, name in enumerate(system.body_names):
        distance = float(np.hypot(*(d[k, :2] * known[k, :2])))
        turn = float(d[k, 2] * known[k, 2])
        if distance > 1e-9 * system.length or abs(turn) > 1e-9:
            moved[name] = (distance, turn)
    return moved


def _note_other_side(system: System, w: np.ndarray, t: float, q: np.ndarray, notes: list[str]) -> None:
    """Report a landing on the other branch: det [Phi_q; Z^T W] changes its sign across a singular position."""
    if not system.known.all() or system.nc > 150 or np.allclose(q, system.q_drawn, rtol=0, atol=1e-9 * system.length):
        return
    here = system.pattern.to_dense(system.constraints(t, q).Phi_q)
    there = system.pattern.to_dense(system.constraints(t, system.q_drawn).Phi_q)
    if not np.isfinite(there).all():
        return
    U, s, Vt = np.linalg.svd(here / np.sqrt(w))
    rank = int((s > 1e-9 * s.max(initial=0.0)).sum())
    if rank and s[rank - 1] < 1e-6 * s[0]:
        return  # in a singular position the branches meet
    Z = Vt[rank:] * np.sqrt(w)  # directions of free motion
    rows = U[:, :rank].T  # independent combinations of the rows
    signs = [np.linalg.slogdet(np.vstack([rows @ J, Z]))[0] for J in (here, there)]
    if signs[0] * signs[1] < 0:
        notes.append(
            "the assembly lies on the other branch than the drawn pose (a singular position is between them); "
            "draw the bodies nearer to where they belong if this is not the one you want"
        )


def _open_error(system: System, t: float, q: np.ndarray) -> AssemblyError:
    row, gap = opening(system, t, q)
    element = next(
        c for c in system.model.constraints if system.rows_of[c.name].start <= row < system.rows_of[c.name].stop
    )
    name, angular = element.name, in_radians(system)
    if not np.isfinite(gap):
        state = f"has no finite value (row {system.row_names[row]!r}) in the drawn pose"
    elif angular[row]:
        state = f"is open by {np.degrees(gap / system.length):.3g} deg where no step closes it further"
    else:
        rows = np.arange(system.nc)[system.rows_of[name]]
        gap = float(np.linalg.norm(system.constraints(t, q).Phi[rows[~angular[rows]]]))
        state = f"is open by {gap:.2e} m where no step closes it further"
    others = [b.name for b in element.bodies if not b.is_ground]
    text = (
        f"{element.word} {name!r} ({type(element).__name__}) {state} at t = {t:g} s; move "
        f"{' or '.join(map(repr, others))} nearer to its place, or check the points and lengths around {name!r}"
    )
    if element.word == "driver":
        text += "; the driver may ask for a position that the linkage cannot reach"
    driven, free = int(system.driven.sum()), system.nq - int((~system.driven).sum())
    if driven > free:
        names = ", ".join(repr(d.name) for d in system.model.drivers)
        text += f"; {names} drive {driven} motions of a mechanism with {max(free, 0)} by count: they may contradict each other"
    return AssemblyError(text)
