"""Drivers: constraints that follow a motion f(t) (`planar.motions`).

By default the motion *is* the driven quantity (the angle, the length, the coordinate); with ``from_drawn=True`` it is
counted from the drawn pose.  The multiplier gives the effort of the drive: positive along its motion, effort = -lambda.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

from planar.bodies import Axis, Body, Point
from planar.elements import Block, Driver
from planar.errors import ModelError
from planar.motions import Motion, Table, as_motion, motion_problems


def _motion_problems(driver: Driver, **motions: Any) -> Iterator[str]:
    for what, motion in motions.items():
        if motion is None:
            yield f"{driver.label}: {what} is missing; give a Ramp, Harmonic, ..., a string in t, or a callable of t"
            continue
        yield from motion_problems(motion, f"{what} of {driver.label}")


@dataclass(eq=False)
class AngleDriver(Driver):
    """Phi = phi_j - phi_i - f(t) = 0, rad.  Between two bodies the angle is relative, from ground it is absolute.

    Couple on j = -lambda, on i = +lambda.
    """

    body_i: Body
    body_j: Body
    motion: Motion | Any = None
    _: KW_ONLY
    from_drawn: bool = False

    def blocks(self) -> Iterator[Block]:
        C = None if self.from_drawn else 0.0
        yield Block("angles", (self.body_i, self.body_j), (-1.0, 1.0, 0.0, C), ("angle",), as_motion(self.motion))

    @property
    def drawn_need(self) -> str | None:
        return "angle" if self.from_drawn else None

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        yield from _motion_problems(self, motion=self.motion)


@dataclass(eq=False)
class LengthDriver(Driver):
    """A linear actuator between two points: Phi = (d . d - f(t)^2) / (2 L0) = 0, f the length in m (must stay > 0).

    L0 is the length at the start, a constant that makes the row a length.  Force along d on j = -lambda f / L0.
    """

    point_i: Point
    point_j: Point
    motion: Motion | Any = None
    _: KW_ONLY
    from_drawn: bool = False

    def blocks(self) -> Iterator[Block]:
        i, j = self.point_i, self.point_j
        motion = as_motion(self.motion)
        L = None if self.from_drawn else 0.0
        L0 = None if self.from_drawn else abs(_first_value(motion) or 1.0)
        yield Block("distance", (i.body, j.body), (*i.s, *j.s, L, L0), ("length",), motion)

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_i if on is self.point_i.body else self.point_j)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        found = list(_motion_problems(self, motion=self.motion))
        yield from found
        length = None if found or self.from_drawn else _first_value(as_motion(self.motion))
        if length is not None and length <= 0:
            yield f"{self.label}: the length starts at {length:g} m; it must stay positive"

    def drawn_problems(self, pose: Any) -> Iterator[str]:
        if self.from_drawn and math.dist(pose(self.point_i), pose(self.point_j)) == 0:
            yield f"{self.label}: the drawn length is 0 m; draw the points apart, or drop from_drawn"


@dataclass(eq=False)
class SlideDriver(Driver):
    """Position of a point along an axis: Phi = u_i . d - f(t) = 0, m from the start of the axis.

    Force on j along u_i = -lambda.
    """

    axis_i: Axis
    point_j: Point
    motion: Motion | Any = None
    _: KW_ONLY
    from_drawn: bool = False

    def blocks(self) -> Iterator[Block]:
        i, j = self.axis_i, self.point_j
        parameters = (*i.start, *i.direction, *j.s, 0.0, None if self.from_drawn else 0.0)
        yield Block("along_line", (i.body, j.body), parameters, ("slide",), as_motion(self.motion))

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_j)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        yield from _motion_problems(self, motion=self.motion)


@dataclass(eq=False)
class PointDriver(Driver):
    """A point follows a path: Phi = (x^P - f_x(t), y^P - f_y(t)) = 0, m.  One of x, y may be left out."""

    point: Point
    x: Motion | Any = None
    y: Motion | Any = None
    _: KW_ONLY
    from_drawn: bool = False

    def blocks(self) -> Iterator[Block]:
        for row, direction, motion in (("x", (1.0, 0.0), self.x), ("y", (0.0, 1.0), self.y)):
            if motion is not None:
                yield _global_coordinate(self.point.body, self.point.s, row, direction, motion, self.from_drawn)

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        given = {k: m for k, m in (("x", self.x), ("y", self.y)) if m is not None}
        if not given:
            yield f"{self.label}: neither x nor y is given; give at least one motion"
        if self.point.body.is_ground:
            yield f"{self.label}: ground does not move; drive a point of a body"
        yield from _motion_problems(self, **given)


@dataclass(eq=False)
class CoordinateDriver(Driver):
    """One coordinate of a body: Phi = q_k - f(t) = 0 with q_k the "x", "y" (m) of the centre of mass or "phi" (rad)."""

    body: Body
    coordinate: str
    motion: Motion | Any = None
    _: KW_ONLY
    from_drawn: bool = False

    def blocks(self) -> Iterator[Block]:
        if self.coordinate == "phi":
            C = None if self.from_drawn else 0.0
            yield Block("angles", (self.body,), (1.0, 0.0, 0.0, C), ("phi",), as_motion(self.motion))
        else:
            direction = (1.0, 0.0) if self.coordinate == "x" else (0.0, 1.0)
            yield _global_coordinate(self.body, (0.0, 0.0), self.coordinate, direction, self.motion, self.from_drawn)

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.body.point(0.0, 0.0))

    @property
    def drawn_need(self) -> str | None:
        return ("angle" if self.coordinate == "phi" else "its start") if self.from_drawn else None

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.coordinate not in ("x", "y", "phi"):
            yield f"{self.label}: coordinate is {self.coordinate!r}; give 'x', 'y' or 'phi'"
        if self.body.is_ground:
            yield f"{self.label}: ground has no coordinates; drive a body"
        yield from _motion_problems(self, motion=self.motion)


def _first_value(motion: Motion) -> float | None:
    """f at t = 0, or where a table begins; None if the motion is not known there."""
    try:
        return float(motion.y[0] if isinstance(motion, Table) else motion(0.0))
    except ModelError:
        return None


def _global_coordinate(body, s, row, direction, motion, from_drawn) -> Block:
    """x or y of a point is its position along a ground axis; the missing body of the block means ground."""
    parameters = (0.0, 0.0, *direction, *s, 0.0, None if from_drawn else 0.0)
    return Block("along_line", (None, body), parameters, (row,), as_motion(motion))
