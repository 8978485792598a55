"""Actuators: where the effort comes from when it is not the driver that prescribes the motion.

An actuator acts along one relative motion of two bodies.  Its generalised direction b(q) gives the force Q = b u for the
effort u (N m or N) and the rate b . v (rad/s or m/s): effort and rate are conjugate, u b . v is the power.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.bodies import Body, Point
from planar.elements import Constraint
from planar.errors import ModelError
from planar.joints import Distance, PinInSlot, Revolute, Translational
from planar.state import State
from planar.system import System


@dataclass(frozen=True)
class Actuator:
    """direction (nt, nq); unit of the effort."""

    name: str
    direction: np.ndarray
    unit: str


def actuators(
    system: System, state: State, actuate: Sequence[Any] | Mapping[str, Any], Phi_q: np.ndarray
) -> list[Actuator]:
    """What is written in ``actuate=[...]``: joints by object or name, drivers, or pairs of points (forces between them)."""
    if isinstance(actuate, (str, Constraint)):
        actuate = [actuate]
    items = list(actuate.items()) if isinstance(actuate, Mapping) else [(None, item) for item in actuate]
    found = [_actuator(system, state, name, item, Phi_q) for name, item in items]
    if not found:
        raise ModelError("actuate is empty; name at least one joint, driver or pair of points")
    names = [a.name for a in found]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"actuate names {name!r} twice; name each actuator once")
    return found


def _actuator(system: System, state: State, name: str | None, item: Any, Phi_q: np.ndarray) -> Actuator:
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(p, Point) for p in item):
        i, j = item
        d = state.point(j).r - state.point(i).r
        length = np.hypot(d[..., 0], d[..., 1])
        if not length.min(initial=np.inf) > 0:
            raise ModelError(f"actuator between {i!r} and {j!r}: the points meet, so the force has no direction there")
        u = d / length[..., None]
        return Actuator(name or f"{i!r}-{j!r}", _pair(system, state, (i, -u), (j, u)), "N")
    element = system.model[getattr(item, "name", item)]
    name = name or element.name
    if isinstance(element, Revolute):
        return Actuator(name, _turn(system, state, element.point_i.body, element.point_j.body), "N m")
    if isinstance(element, (Translational, PinInSlot)):
        axis = element.axis_i
        pin = element.point_j if isinstance(element, PinInSlot) else element.axis_j.body.point(*element.axis_j.start)
        u = state.point(axis.body.point(*axis.direction)).r - state.point(axis.body.point(0.0, 0.0)).r
        direction = _pair(system, state, (pin, u))
        # on the body of the axis the opposite force acts at the same place
        return Actuator(name, direction + _force_at(system, state, axis.body, state.point(pin).r, -u), "N")
    if isinstance(element, Constraint) and element.word == "driver":
        rows = system.rows_of[element.name]
        if rows.stop - rows.start != 1:
            raise ModelError(
                f"actuate: {element.label} drives {rows.stop - rows.start} motions; name one-motion drivers"
            )
        J = np.zeros((*Phi_q.shape[:-1], system.nq))
        entries = slice(system.pattern.indptr[rows.start], system.pattern.indptr[rows.stop])
        J[..., system.pattern.indices[entries]] = Phi_q[..., entries]
        return Actuator(name, J, "N m" if system.row_names[rows.start].rsplit(".", 1)[1] in ("angle", "phi") else "N")
    hint = " (its length is fixed: no motion to act along)" if isinstance(element, Distance) else ""
    raise ModelError(
        f"actuate: {getattr(element, 'label', repr(element))} cannot be actuated{hint}; name a Revolute (torque), a "
        "Translational or PinInSlot (force along it), a driver, or a pair of points (force between them)"
    )


def _turn(system: System, state: State, i: Body, j: Body) -> np.ndarray:
    out = np.zeros((*state.q.shape[:-1], system.nq + 3))
    out[..., 3 * system.body_index(i) + 2] -= 1.0
    out[..., 3 * system.body_index(j) + 2] += 1.0
    return out[..., :-3]


def _pair(system: System, state: State, *forces: tuple[Point, np.ndarray]) -> np.ndarray:
    return sum(_force_at(system, state, p.body, state.point(p).r, F) for p, F in forces)


def _force_at(system: System, state: State, body: Body, place: np.ndarray, F: np.ndarray) -> np.ndarray:
    out = np.zeros((*state.q.shape[:-1], system.nq + 3))
    k = system.body_index(body)
    arm = place - state[body].r
    out[..., 3 * k : 3 * k + 2] = F
    out[..., 3 * k + 2] = arm[..., 0] * F[..., 1] - arm[..., 1] * F[..., 0]
    return out[..., :-3]
