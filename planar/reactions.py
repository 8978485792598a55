"""Multipliers -> forces and couples on bodies.  The only place with reaction signs.

Virtual work gives the generalised force of a joint on a body: -Phi_q^T lam restricted to its rows and the body's columns,
(F_x, F_y, T) with T about the centre of mass.  It is reported as the force F at the point P where the joint acts and the
couple T - (P - r) x F there.  Ground has no columns: it gets what balances the others (action = reaction).  The radial
part of a tooth force does no work, so no multiplier knows it; `planar.tooth` adds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.bodies import Body, Point, nearest
from planar.certificate import HELD
from planar.custom import UserConstraint
from planar.drivers import LengthDriver
from planar.elements import Constraint
from planar.errors import ModelError
from planar.joints import Distance, Gear

if TYPE_CHECKING:
    from planar.result import Result


@dataclass(frozen=True)
class Reaction:
    """What a joint does to a body, over the samples.

    force   (nt, 2) N, components in `frame`        couple  (nt,) N m, about `point`
    point   (nt, 2) m, point of action, global      unique  True if every component is determined
    labels  {"x" | "y" | "couple": "unique" | "indeterminate"}: an indeterminate component is one of many that keep the
            balance; its smallest-norm value is given
    rows    multipliers of the joint by row name, e.g. {"length": tension} of a Distance: N, or N m
    """

    joint: str
    on: str
    frame: str
    t: np.ndarray
    force: np.ndarray
    couple: np.ndarray
    point: np.ndarray
    unique: bool
    labels: dict[str, str]
    rows: dict[str, np.ndarray] = field(repr=False)

    @property
    def magnitude(self) -> np.ndarray:
        """|force| (nt,) N."""
        return np.hypot(self.force[:, 0], self.force[:, 1])

    @property
    def axial(self) -> np.ndarray:
        """Axial force (nt,) N of a Distance rod or a LengthDriver, tension positive."""
        if "length" not in self.rows:
            raise ModelError(f"{self.joint!r} has no axial force; a Distance or LengthDriver has, others have .force")
        return self.rows["length"]

    def __repr__(self) -> str:
        k = int(np.argmax(self.magnitude)) if self.t.size else 0
        peak = f"peak {self.magnitude[k]:.6g} N at t = {self.t[k]:.6g} s" if self.t.size else "no sample"
        couple = f", couple up to {np.abs(self.couple).max(initial=0.0):.6g} N m"
        shared = [c for c, label in self.labels.items() if label != "unique"]
        label = f", INDETERMINATE in {', '.join(shared)} (smallest values given)" if shared else ""
        return f"<reaction of {self.joint!r} on {self.on!r} in the {self.frame} frame: {peak}{couple}{label}>"


# --- lookup --------------------------------------------------------------------------------------------------------


def constraint_of(result: Result, joint: Any) -> Constraint:
    """The joint or driver by object or name."""
    found = result.model[getattr(joint, "name", joint)]
    if not isinstance(found, Constraint):
        names = [c.name for c in result.model.constraints]
        raise ModelError(f"{found.name!r} is no joint or driver; {nearest(found.name, names)}")
    return found


def _bodies(constraint: Constraint, ground: Body) -> list[Body]:
    """Bodies that a constraint acts on, ground too where it is its silent partner.

    A user's function may hold global coordinates of several bodies, so ground takes part there too.
    """
    bodies = list(dict.fromkeys(constraint.bodies))
    alone = len(bodies) == 1 or (isinstance(constraint, Gear) and constraint.carrier is None)
    alone = alone or isinstance(constraint, UserConstraint)
    return [*bodies, ground] if alone and ground not in bodies else bodies


def body_of(result: Result, constraint: Constraint, on: Any) -> Body:
    """The body `on` among those of the constraint (left out: the last that is not ground)."""
    bodies = _bodies(constraint, result.model.ground)
    if on is None:
        return next(b for b in reversed(bodies) if not b.is_ground)
    name = getattr(on, "name", on)
    for body in bodies:
        if body.name == name:
            return body
    raise ModelError(
        f"{constraint.label} does not act on {name!r}; it acts on {', '.join(repr(b.name) for b in bodies)}"
    )


# --- wrenches ------------------------------------------------------------------------------------------------------


def wrench(result: Result, constraint: Constraint, body: Body) -> np.ndarray:
    """(nt, 3): F_x, F_y and T about the centre of mass of the body; for ground about the origin."""
    part = result.system.rows_of[constraint.name]
    lam = {row: result.multipliers[:, row] for row in range(part.start, part.stop)}
    return _wrench(result, constraint, body, lam, result.loads.get(constraint.name))


def _wrench(result: Result, constraint: Constraint, body: Body, lam: dict[int, Any], load: Any) -> np.ndarray:
    """The same for any multipliers of rows of the constraint and any load (nt, nq) beside them (or None)."""
    if body.is_ground:
        total = np.zeros((len(result), 3))
        for other in (b for b in _bodies(constraint, body) if not b.is_ground):
            total -= _about_origin(result, other, _wrench(result, constraint, other, lam, load))
        return total
    pattern, k = result.system.pattern, result.system.body_index(body)
    W = np.zeros((len(result), 3))
    for row, values in lam.items():
        for entry in range(pattern.indptr[row], pattern.indptr[row + 1]):
            column = int(pattern.indices[entry]) - 3 * k
            if 0 <= column < 3:
                W[:, column] -= result.Phi_q[:, entry] * values
    return W if load is None else W + load[:, 3 * k : 3 * k + 3]


def _about_origin(result: Result, body: Body | str, W: np.ndarray) -> np.ndarray:
    r = result[body].r
    return np.stack([W[:, 0], W[:, 1], W[:, 2] + r[:, 0] * W[:, 1] - r[:, 1] * W[:, 0]], -1)


def reaction(result: Result, joint: Any, on: Any = None, *, frame: Any = None, at: Any = None) -> Reaction:
    """See `Result.reaction`."""
    constraint = constraint_of(result, joint)
    body = body_of(result, constraint, on)
    W = wrench(result, constraint, body)
    point = constraint.acts_at(body, partial(_place, result)) if at is None else _place(result, _as_point(at))
    couple = _couple(result, body, W, point)
    force, name = in_frame(result, W[:, :2], frame)
    rows = system_rows(result, constraint)
    labels = _labels(result, constraint, body, point, frame)
    unique = all(label == "unique" for label in labels.values())
    return Reaction(constraint.name, body.name, name, result.t, force, couple, point, unique, labels, rows)


def _couple(result: Result, body: Body, W: np.ndarray, point: np.ndarray) -> np.ndarray:
    """(nt,) of a wrench about the centre of mass, moved to the point."""
    r = result[body].r
    arm = point - r
    terms = W[:, 2], -arm[:, 0] * W[:, 1], arm[:, 1] * W[:, 0]
    couple = sum(terms)
    # a pin carries none: rounding of what cancels, in the terms and in the arm
    size = sum(map(np.abs, terms)) + 1e-2 * (np.abs(point) + np.abs(r)).sum(-1) * np.abs(W[:, :2]).sum(-1)
    couple[np.abs(couple) <= 1e-13 * size] = 0.0
    return couple


def system_rows(result: Result, constraint: Constraint) -> dict[str, np.ndarray]:
    """Multipliers (nt,) of a constraint by the words of its rows."""
    part = result.system.rows_of[constraint.name]
    words = [name.rsplit(".", 1)[1] for name in result.system.row_names[part]]
    values = {word: result.multipliers[:, part.start + k] for k, word in enumerate(words)}
    if isinstance(constraint, (Distance, LengthDriver)):
        # lam d / L0 is the force on i: the tension is lam |d| / L0
        d = _place(result, constraint.point_j) - _place(result, constraint.point_i)
        values["length"] = values["length"] * np.hypot(d[:, 0], d[:, 1]) / _reference_length(result, constraint)
    return values


def _reference_length(result: Result, constraint: Constraint) -> float:
    row = result.system.rows_of[constraint.name].start
    batch = next(b for b in result.system.batches if b.primitive.name == "distance")
    return float(batch.parameters[5, int(np.flatnonzero(batch.rows[0] == row)[0])])


def _labels(result: Result, constraint: Constraint, body: Body, point: np.ndarray, frame: Any) -> dict[str, str]:
    """A component is indeterminate if an indeterminate row of the joint reaches it, in this frame, about this point.

    What a row reaches is the wrench of a unit multiplier; of teeth also their radial part, which follows the tooth force.
    """
    part = result.system.rows_of[constraint.name]
    unique = result.unique[:, part]
    labels = dict.fromkeys(("x", "y", "couple"), "unique")
    for k in np.flatnonzero(~unique.all(axis=0)):
        at = ~unique[:, k]
        reached = [_wrench(result, constraint, body, {part.start + k: 1.0}, None)]
        if constraint.name in result.loads:
            reached.append(_wrench(result, constraint, body, {}, result.loads[constraint.name]))
        for W in reached:
            force = in_frame(result, W[:, :2], frame)[0]
            # a couple counts with the typical length; a turned frame leaves rounding
            small = 1e-9 * max(np.abs(force).max(initial=0.0), np.abs(W[:, 2]).max(initial=0.0) / result.system.length)
            couple = _couple(result, body, W, point) / result.system.length
            for word, values in zip(labels, (*force.T, couple), strict=True):
                if np.abs(values[at]).max(initial=0.0) > small:
                    labels[word] = "indeterminate"
    return labels


def in_frame(result: Result, vector: np.ndarray, frame: Any) -> tuple[np.ndarray, str]:
    """(vector (nt, 2) in the axes of a body, name of the frame); None or "global": unchanged."""
    if frame is None or frame == "global" or getattr(frame, "is_ground", False):
        return vector, "global"
    view = result[frame]
    c, s = np.cos(view.phi), np.sin(view.phi)
    turned = np.stack([c * vector[:, 0] + s * vector[:, 1], c * vector[:, 1] - s * vector[:, 0]], -1)
    return turned, getattr(frame, "name", frame)


def _place(result: Result, point: Point) -> np.ndarray:
    return np.broadcast_to(result.point(point).r, (len(result), 2))


def _ground_point(about: Any) -> tuple[float, float]:
    if isinstance(about, Point):
        if not about.body.is_ground:
            raise ModelError(f"about is {about!r}, which moves; give a ground point or its coordinates (x, y)")
        return about.s
    try:
        x, y = map(float, about)
    except (TypeError, ValueError):
        raise ModelError(f"about must be a ground point or (x, y) in m, got {about!r:.60}") from None
    return x, y


def _as_point(at: Any) -> Point:
    if not isinstance(at, Point):
        raise ModelError(f"at must be a point of a body such as coupler.point(0, 0), got {at!r}")
    return at


# --- drivers -------------------------------------------------------------------------------------------------------


def effort(result: Result, driver: Any) -> np.ndarray:
    """See `Result.effort`.  power = effort * rate of the motion, so effort = -lam d(nu)/d(f')."""
    name = getattr(driver, "name", driver)
    if name in result.efforts:
        return result.efforts[name]
    constraint = constraint_of(result, driver)
    if constraint.word != "driver":
        raise ModelError(
            f"{constraint.label} gives no effort; drivers {[d.name for d in result.model.drivers]} do, "
            "and joints named in inverse_dynamics(..., actuate=[...])"
        )
    rows = system_rows(result, constraint)  # the tension of a LengthDriver already carries |d| / L0
    values = np.stack([0.0 - value for value in rows.values()], -1)  # no -0.0 of drivers that actuators relieve
    return values[:, 0] if len(rows) == 1 else values


def power(result: Result, driver: Any) -> np.ndarray:
    """See `Result.power`.  Of a constraint: -lam . nu (joints that do not move by themselves: zero)."""
    name = getattr(driver, "name", driver)
    if name in result.efforts:
        return result.efforts[name] * result.rates[name]
    part = result.system.rows_of[constraint_of(result, driver).name]
    if result.analysis in HELD:  # the drivers stand still, whatever their motions are about to do
        return np.zeros(len(result))
    return -(result.multipliers[:, part] * result.nu[:, part]).sum(axis=1)


# --- the whole mechanism -------------------------------------------------------------------------------------------


def shaking(result: Result, about: Any = (0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """See `Result.shaking`: sum of everything that joints, drivers, actuators and springs do to ground.

    Loads from outside (gravity, PointForce, Torque, UserForce) do not push ground themselves.
    """
    x, y = _ground_point(about)
    ground = result.model.ground
    system = result.system
    total = system.forcing.wrenches(system, result.t, result.q, result.v)[:, -1]
    for constraint in (c for c in result.model.constraints if c.name in system.rows_of):
        if ground in _bodies(constraint, ground):
            total = total + wrench(result, constraint, ground)
    for name in result.efforts:  # an actuator acts between two bodies, or a body and ground
        load = result.loads[f"actuator {name}"]
        for k, body in enumerate(system.body_names):
            total = total - _about_origin(result, body, load[:, 3 * k : 3 * k + 3])
    return total[:, :2], total[:, 2] - (x * total[:, 1] - y * total[:, 0])
