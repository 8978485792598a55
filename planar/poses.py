"""Where to linearize or to start from: a drawn pose, a wished one, or a state that an analysis left."""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.assembly import Assembly, assemble, close, opening
from planar.errors import AssemblyError, ModelError
from planar.mobility import metric
from planar.model import Model
from planar.projection import Projector
from planar.state import State
from planar.system import System, compile
from planar.tangents import held

RESTING = ("equilibrium", "statics")  # analyses whose drivers hold
SETTLE = 10  # steps at the end of the way to a wished pose


def resolve(
    model: Model | System, at: Any, t: float, v: Any
) -> tuple[System, float, np.ndarray, np.ndarray, list[str]]:
    """(system, t, q, v, notes) for what linearize was given; the system has its drivers held where nothing moves."""
    system = model if isinstance(model, System) else compile(model)
    notes: list[str] = []
    if isinstance(at, (Assembly, State)):
        _check_bodies(system, at)
        t = float(np.ravel(at.t)[-1])
        if v is None and getattr(at, "analysis", "") not in RESTING:
            v = at.v.reshape(-1, at.v.shape[-1])[-1]
    if v is None:
        system = held(system, t)
        v = np.zeros(system.nq)
    else:
        v = np.asarray(v, float).reshape(system.nq)
    q = pose(system, at, t, notes)
    e = system.constraints(t, q)
    slip = np.abs(system.pattern.multiply(e.Phi_q, v) - e.nu)
    if slip.max(initial=0.0) > 1e-6 * (1e-6 + np.abs(v).max(initial=0.0) + np.abs(e.nu).max(initial=0.0)):
        row = int(np.argmax(slip))
        raise ModelError(
            f"v: {system.row_names[row]!r} slips at {slip[row]:.2e} m/s or rad/s; give velocities that fit the constraints "
            "(m.assemble() has some), or leave v out to hold the drivers"
        )
    return system, t, q, v, notes


def pose(system: System, at: Any, t: float, notes: list[str]) -> np.ndarray:
    """A closed q from None (drawn), {body: (x, y, phi) or phi}, an array (nq,) or (nb, 3), a result or an assembly."""
    if isinstance(at, dict) or at is None:
        assembly = assemble(system, t)
        notes += assembly.notes
        return assembly.q if not at else _led(system, t, assembly.q, at, notes)
    if isinstance(at, (Assembly, State)):
        _check_bodies(system, at)
        at = at.q.reshape(-1, at.q.shape[-1])[-1]
    try:
        q = np.array(at, float).reshape(-1)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.size != system.nq or not np.isfinite(q).all():
        raise ModelError(
            f"a pose is {{body: (x, y, phi) or phi}} or {system.nq} finite numbers (x, y, phi of each body), got {at!r}"
        )
    q, closed = close(system, Projector(system, metric(system)), t, q)
    if not closed:
        row, gap = opening(system, t, q)
        raise AssemblyError(f"pose: {system.row_names[row]!r} is open by {gap:.1e} m; give one near an assembled pose")
    return q


def _check_bodies(system: System, at: Assembly | State) -> None:
    if at.system.body_names != system.body_names:
        raise ModelError(f"a pose of the bodies {at.system.body_names} is no pose of {system.body_names}")


def _led(system: System, t: float, q: np.ndarray, at: dict, notes: list[str]) -> np.ndarray:
    """From the assembled pose, lead the named bodies to where they are wished; the others follow on their branch.

    Small steps; the wished coordinates weigh a million times the others, the constraints are closed after each.
    """
    goal = q.copy()
    wished = np.zeros(system.nq, bool)
    for body, value in at.items():
        k = system.body_index(body)
        given = np.atleast_1d(np.asarray(value, float))
        if k == system.nb or given.shape not in ((1,), (3,)) or not np.isfinite(given).all():
            raise ModelError(
                f"start of {getattr(body, 'name', body)!r}: give phi or (x, y, phi) of a body, got {value!r}"
            )
        part = slice(3 * k + 2, 3 * k + 3) if given.size == 1 else slice(3 * k, 3 * k + 3)
        goal[part], wished[part] = given, True
    unit = np.sqrt(metric(system))
    projector = Projector(system, metric(system) * np.where(wished, 1e6, 1.0))
    steps = int(np.ceil(np.abs((goal - q) * unit).max() / (0.1 * system.length))) + 1
    for k in range(steps + SETTLE):  # the last ones go the whole way: quadratic where the wish can be met
        e = system.constraints(t, q)
        toward = np.where(wished, (goal - q) / max(steps - k, 1), 0.0)
        if k >= steps and np.abs(toward * unit).max() <= 1e-12 * system.length:
            break
        q, closed = close(system, projector, t, q + projector.step(e.Phi_q, -e.Phi, toward=toward))
        if not closed:
            row, gap = opening(system, t, q)
            wish = ", ".join(f"{getattr(body, 'name', body)}={value}" for body, value in at.items())
            raise AssemblyError(
                f"start: {system.row_names[row]!r} stays open by {gap:.1e} m on the way to {wish}; ask for a pose that the "
                "linkage can reach from the drawn one"
            )
    away = np.abs((goal - q) * unit * wished)
    if away.max(initial=0.0) > 1e-3 * system.length:
        k = int(np.argmax(away))
        notes.append(
            f"start: {system.body_names[k // 3]!r} cannot reach the wished pose; its {'x y phi'.split()[k % 3]} is {q[k]:.6g} "
            f"instead of {goal[k]:.6g}"
        )
    return q
