"""What joints and drivers demand of a motion, in vectors that know their first two time derivatives.

Accelerations are not known yet when the demands are written down: they are affine in the unknowns z of a formulation,
``a = a[..., 0] + a[..., 1:] @ z``.  A formulation tells how its bodies move (`Kinematics`), each in its own coordinates,
and reads from a `Row` the equation  acceleration = 0  and, by virtual work, the wrench that a unit multiplier exerts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.drivers import AngleDriver, CoordinateDriver, LengthDriver, PointDriver, SlideDriver
from planar.elements import Constraint
from planar.joints import Distance, Gear, Parallel, PinInSlot, Revolute, Translational, Weld
from planar.model import Model
from planar.motions import as_motion
from planar.verify.snapshot import Answer, R, Snapshot

JOINTS = (Revolute, Weld, Translational, Distance, PinInSlot, Parallel, Gear)
DRIVERS = (AngleDriver, LengthDriver, SlideDriver, PointDriver, CoordinateDriver)
X, Y = np.eye(2)
NONE = np.zeros(2)


@dataclass(frozen=True)
class Moving:
    """A vector or a number along a motion: value x, rate v, acceleration a (affine: one more axis at the end)."""

    x: Any
    v: Any
    a: np.ndarray

    def __add__(self, other: Moving) -> Moving:
        return Moving(self.x + other.x, self.v + other.v, self.a + other.a)

    def __sub__(self, other: Moving) -> Moving:
        return Moving(self.x - other.x, self.v - other.v, self.a - other.a)

    def __rmul__(self, factor: float) -> Moving:
        return Moving(factor * self.x, factor * self.v, factor * self.a)

    def along(self, e: np.ndarray) -> Moving:
        """Component along a fixed direction."""
        return Moving(e @ self.x, e @ self.v, e @ self.a)

    def turned(self) -> Moving:
        return Moving(R @ self.x, R @ self.v, R @ self.a)

    def dot(self, other: Moving) -> Moving:
        """(x.y)'' = x''.y + 2 x'.y' + x.y''."""
        a = self.x @ other.a + other.x @ self.a
        return Moving(self.x @ other.x, self.x @ other.v + self.v @ other.x, plus_known(a, 2 * self.v @ other.v))

    def length(self) -> Moving:
        """l = sqrt(s), l' = s'/2l, l'' = s''/2l - l'^2/l with s = x.x."""
        s = self.dot(self)
        l = np.sqrt(s.x)
        v = s.v / (2 * l)
        return Moving(l, v, plus_known(s.a / (2 * l), -v * v / l))


def plus_known(a: np.ndarray, term: Any) -> np.ndarray:
    """The affine a with a known term added."""
    a = a.copy()
    a[..., 0] += term
    return a


class Kinematics(Protocol):
    """How the bodies move in the coordinates of one formulation."""

    def point(self, point: Point) -> Moving: ...
    def direction(self, axis: Axis) -> Moving: ...
    def angle(self, body: Body) -> Moving: ...


Push = tuple[Body, np.ndarray, float, np.ndarray]


@dataclass(frozen=True)
class Row:
    """One scalar demand: demand.x = 0 (nan where it needs a pose that was not drawn), demand.v = 0, demand.a = 0.

    pushes: (body, force (2,) N, couple N m, where (2,) m) of a unit multiplier on each body, the second body j first; a
    positive multiplier pushes the demanded quantity up.
    """

    owner: str
    demand: Moving
    pushes: tuple[Push, ...]


class _Part(NamedTuple):
    quantity: Callable[[Kinematics], Moving]
    pushes: Callable[[Kinematics], tuple[Push, ...]]
    constant: float | None = 0.0  # None: the quantity as drawn
    motion: Any = None


def rows(element: Constraint, kin: Kinematics, t: float, start: Kinematics | None = None) -> list[Row]:
    """The demands of a joint or driver at time t; start: the drawn pose, for constants that are 'as drawn'."""
    found = []
    for part in _parts(element):
        f, f1, f2 = (0.0, 0.0, 0.0) if part.motion is None else as_motion(part.motion).evaluate(t)
        constant = part.constant
        if constant is None:
            constant = np.nan if start is None else part.quantity(start).x
        q = part.quantity(kin)
        demand = Moving(q.x - constant - f, q.v - f1, plus_known(q.a, -f2))
        found.append(Row(element.name, demand, part.pushes(kin)))
    return found


@dataclass
class Shares:
    """Forces, couples and points by joint, efforts by driver, as in `Answer`; filled joint by joint."""

    force: dict[str, np.ndarray] = field(default_factory=dict)
    couple: dict[str, float] = field(default_factory=dict)
    point: dict[str, np.ndarray] = field(default_factory=dict)
    effort: dict[str, np.ndarray] = field(default_factory=dict)

    def joint(self, name: str, force: np.ndarray, couple: float, point: np.ndarray) -> None:
        """Add to what joint `name` does to its second body."""
        self.force[name] = self.force.get(name, np.zeros(2)) + force
        self.couple[name] = self.couple.get(name, 0.0) + float(couple)
        if np.any(force) or name not in self.point:
            self.point[name] = point

    def multipliers(self, model: Model, demands: list[Row], values: np.ndarray) -> Shares:
        """Add the multipliers of cut joints and drivers."""
        drivers = {d.name for d in model.drivers}
        for row, value in zip(demands, values, strict=True):
            if row.owner in drivers:
                self.effort[row.owner] = np.append(self.effort.get(row.owner, ()), value)
            else:
                _, force, couple, where = _on_second(row.pushes)
                self.joint(row.owner, value * force, value * couple, where)
        return self

    def answer(self, formulation: str, acceleration: np.ndarray, unknowns: int, condition: float) -> Answer:
        return Answer(formulation, acceleration, self.force, self.couple, self.point, self.effort, unknowns, condition)


def _on_second(pushes: tuple[Push, ...]) -> Push:
    """What the second body gets; ground as such gets what balances the others, also from a gear, which does not."""
    body, force, _, where = pushes[0]
    return (body, force, -sum(c for _, _, c, _ in pushes[1:]), where) if body.is_ground else pushes[0]


def unknown_constraint(model: Model) -> str | None:
    """The first joint or driver that is not written here, in words."""
    for c in model.constraints:
        if type(c) not in JOINTS + DRIVERS:
            return f"{c.label} is a {c.word} that is not written down in planar.verify.closure"
    return None


def _parts(e: Constraint) -> Iterator[_Part]:
    if isinstance(e, (Revolute, Weld)):
        yield from (_coordinate(e.point_i, e.point_j, axis) for axis in (X, Y))
        if isinstance(e, Weld):
            yield _turn({e.point_j.body: 1.0, e.point_i.body: -1.0}, e.angle)
    elif isinstance(e, Translational):
        yield _on_line(e.axis_i, Point(e.axis_j.body, e.axis_j.start))
        yield _parallel(e.axis_i, e.axis_j)
    elif isinstance(e, PinInSlot):
        yield _on_line(e.axis_i, e.point_j)
    elif isinstance(e, Parallel):
        yield _parallel(e.axis_i, e.axis_j)
    elif isinstance(e, Distance):
        yield _length(e.point_i, e.point_j, e.length)
    elif isinstance(e, Gear):
        K, arm = e.ratio, {e.carrier: e.ratio - 1.0} if e.carrier else {}
        yield _turn({e.body_j: 1.0, e.body_i: -K, **arm}, None)
    else:
        yield from _driven(e, None if e.from_drawn else 0.0)


def _driven(e: Constraint, constant: float | None) -> Iterator[_Part]:
    if isinstance(e, AngleDriver):
        yield _turn({e.body_j: 1.0, e.body_i: -1.0}, constant, e.motion)
    elif isinstance(e, LengthDriver):
        yield _length(e.point_i, e.point_j, constant, e.motion)
    elif isinstance(e, SlideDriver):
        yield _slide(e.axis_i, e.point_j, constant, e.motion)
    elif isinstance(e, PointDriver):
        for axis, motion in ((X, e.x), (Y, e.y)):
            if motion is not None:
                yield _coordinate(None, e.point, axis, constant, motion)
    elif isinstance(e, CoordinateDriver):
        if e.coordinate == "phi":
            yield _turn({e.body: 1.0}, constant, e.motion)
        else:
            yield _coordinate(None, e.body.point(0, 0), X if e.coordinate == "x" else Y, constant, e.motion)


# --- quantities; each pushes its second body up and the first one down -----------------------------------------------


def _coordinate(i: Point | None, j: Point, axis: np.ndarray, constant: float | None = 0.0, motion: Any = None) -> _Part:
    """e . (r_j - r_i); without i: a global coordinate of the point."""

    def quantity(kin: Kinematics) -> Moving:
        return (kin.point(j) - kin.point(i) if i else kin.point(j)).along(axis)

    def pushes(kin: Kinematics) -> tuple[Push, ...]:
        own = (j.body, axis, 0.0, kin.point(j).x)
        return (own, (i.body, -axis, 0.0, kin.point(i).x)) if i else (own,)

    return _Part(quantity, pushes, constant, motion)


def _on_line(i: Axis, j: Point) -> _Part:
    """n_i . d: the distance of the point from the line."""
    start = Point(i.body, i.start)

    def quantity(kin: Kinematics) -> Moving:
        return kin.direction(i).turned().dot(kin.point(j) - kin.point(start))

    return _Part(quantity, lambda kin: _pair(i.body, j.body, R @ kin.direction(i).x, 0.0, kin.point(j).x))


def _slide(i: Axis, j: Point, constant: float | None, motion: Any) -> _Part:
    """u_i . d: the place of the point along the line."""
    start = Point(i.body, i.start)

    def quantity(kin: Kinematics) -> Moving:
        return kin.direction(i).dot(kin.point(j) - kin.point(start))

    return _Part(quantity, lambda kin: _pair(i.body, j.body, kin.direction(i).x, 0.0, kin.point(j).x), constant, motion)


def _length(i: Point, j: Point, constant: float | None, motion: Any = None) -> _Part:
    """|d|; the multiplier is a thrust (negative: tension)."""

    def quantity(kin: Kinematics) -> Moving:
        return (kin.point(j) - kin.point(i)).length()

    def pushes(kin: Kinematics) -> tuple[Push, ...]:
        d = kin.point(j).x - kin.point(i).x
        return _pair(i.body, j.body, d / np.sqrt(d @ d), 0.0, kin.point(j).x)

    return _Part(quantity, pushes, constant, motion)


def _parallel(i: Axis, j: Axis) -> _Part:
    """The angle from u_i to u_j, up to half turns: its value is shown as sin cos, which has the same slope at zero."""

    def quantity(kin: Kinematics) -> Moving:
        turn, u, w = kin.angle(j.body) - kin.angle(i.body), kin.direction(i).x, kin.direction(j).x
        return Moving((R @ u @ w) * (u @ w), turn.v, turn.a)

    return _Part(quantity, lambda kin: _pair(i.body, j.body, NONE, 1.0, kin.point(Point(j.body, j.start)).x))


def _turn(factors: dict[Body, float], constant: float | None, motion: Any = None) -> _Part:
    """A sum of angles."""

    def quantity(kin: Kinematics) -> Moving:
        first, *others = [c * kin.angle(body) for body, c in factors.items()]
        return sum(others, first)

    return _Part(quantity, lambda kin: tuple((b, NONE, c, NONE) for b, c in factors.items()), constant, motion)


def _pair(i: Body, j: Body, force: np.ndarray, couple: float, where: np.ndarray) -> tuple[Push, ...]:
    return (j, force, couple, where), (i, -force, -couple, where)


# --- rigid bodies as they are: for the drawn pose, and to see how far a state is from closed ------------------------------


class Still:
    """Kinematics of given poses and velocities, without accelerations."""

    def __init__(self, now: Snapshot):
        self._now = now

    def point(self, point: Point) -> Moving:
        return Moving(*self._now.place(point), np.zeros((2, 1)))

    def direction(self, axis: Axis) -> Moving:
        u = self._now.direction(axis)
        return Moving(u, self._now.velocity(axis.body)[2] * (R @ u), np.zeros((2, 1)))

    def angle(self, body: Body) -> Moving:
        return Moving(self._now.pose(body)[2], self._now.velocity(body)[2], np.zeros(1))


def as_drawn(model: Model) -> Still:
    """The drawn pose at rest; nan where the user left it open."""
    poses = [(*((np.nan, np.nan) if b.r is None else b.r), np.nan if b.phi is None else b.phi) for b in model.bodies]
    return Still(Snapshot(model, 0.0, np.array(poses, float).reshape(-1, 3), np.zeros((len(poses), 3))))


def openings(now: Snapshot) -> dict[str, tuple[float, float]]:
    """{joint or driver: (m or rad, m/s or rad/s)} by which the state misses it; unknown constants are passed over."""
    still, start = Still(now), as_drawn(now.model)
    found = {}
    for c in (c for c in now.model.constraints if type(c) in JOINTS + DRIVERS):
        demands = [row.demand for row in rows(c, still, now.t, start)]
        gaps = [abs(float(d.x)) for d in demands if np.isfinite(d.x)]
        found[c.name] = max(gaps, default=0.0), max(abs(float(d.v)) for d in demands)
    return found
