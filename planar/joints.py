"""The joints a user writes, each composed of primitives (`planar.primitives`).

First is i, second is j, and d = r_j^P - r_i^P.  Every joint lists its rows by name; diagnosis speaks of `slider.angle`.
Reactions follow from virtual work: generalised force on the bodies = -Phi_q^T lambda.  The primitives are scaled so that
a multiplier is a force in N (rows in m) or a couple in N m (rows in rad).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point, as_number
from planar.curves import Curve
from planar.elements import Block, Joint
from planar.errors import ModelError


@dataclass(eq=False)
class Revolute(Joint):
    """Pin: Phi = r_j^P - r_i^P = 0.  Force on i = +lambda, on j = -lambda, at P; no couple."""

    point_i: Point
    point_j: Point

    def blocks(self) -> Iterator[Block]:
        i, j = self.point_i, self.point_j
        yield Block("coincide", (i.body, j.body), (*i.s, *j.s), ("x", "y"))

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_i)


@dataclass(eq=False)
class Weld(Joint):
    """Rigid connection: Phi = (r_j^P - r_i^P, phi_j - phi_i - angle) = 0.

    angle in rad; None: as drawn.  Couple on i = +lambda_angle, on j = -lambda_angle.
    """

    point_i: Point
    point_j: Point
    angle: float | None = 0.0

    def blocks(self) -> Iterator[Block]:
        i, j = self.point_i, self.point_j
        yield Block("coincide", (i.body, j.body), (*i.s, *j.s), ("x", "y"))
        yield Block("angles", (i.body, j.body), (-1.0, 1.0, 0.0, self.angle), ("angle",))

    @property
    def drawn_need(self) -> str | None:
        return "angle" if self.angle is None else None

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_i)


@dataclass(eq=False)
class Translational(Joint):
    """Slide: the axes stay on one line.  Phi = (n_i . d, n_i . u_j) = 0 with d from the start of axis i to that of j."""

    axis_i: Axis
    axis_j: Axis

    def blocks(self) -> Iterator[Block]:
        i, j = self.axis_i, self.axis_j
        yield Block("on_line", (i.body, j.body), (*i.start, *i.direction, *j.start), ("normal",))
        yield Block("parallel", (i.body, j.body), (*i.direction, *j.direction), ("angle",))

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.axis_j.body.point(*self.axis_j.start))


@dataclass(eq=False)
class Distance(Joint):
    """Double revolute, a massless rod between two points: Phi = (d . d - L^2) / (2 L) = 0.

    length in m; None: as drawn.  lambda is the axial force in N, tension positive: on i it is lambda d / L, on j the
    opposite.
    """

    point_i: Point
    point_j: Point
    length: float | None = None

    def blocks(self) -> Iterator[Block]:
        i, j = self.point_i, self.point_j
        yield Block("distance", (i.body, j.body), (*i.s, *j.s, self.length, self.length), ("length",))

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_i if on is self.point_i.body else self.point_j)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.length is not None and self.length <= 0:
            yield (
                f"{self.label}: length is {self.length:g} m; give a positive length, or use a Revolute for distance 0 "
                "(the Jacobian of a zero distance vanishes)"
            )

    @property
    def drawn_need(self) -> str | None:
        return "length" if self.length is None else None

    def drawn_problems(self, pose: Any) -> Iterator[str]:
        if self.length is None and math.dist(pose(self.point_i), pose(self.point_j)) == 0:
            yield f"{self.label}: the drawn distance is 0 m; give length=, draw the points apart, or use a Revolute"


@dataclass(eq=False)
class PinInSlot(Joint):
    """A pin of j slides in a straight slot of i: Phi = n_i . d = 0.

    Force on the slot body i = +lambda n_i, on j = -lambda n_i, acting at the pin r_j^P with zero couple; moved to the
    reference point r_i^P of the slot the couple is (u_i . d) lambda.
    """

    axis_i: Axis
    point_j: Point

    def blocks(self) -> Iterator[Block]:
        i, j = self.axis_i, self.point_j
        yield Block("on_line", (i.body, j.body), (*i.start, *i.direction, *j.s), ("normal",))

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_j)


@dataclass(eq=False)
class Parallel(Joint):
    """Two directions stay parallel: Phi = n_i . u_j = 0.  A pure couple: +lambda cos on i, -lambda cos on j."""

    axis_i: Axis
    axis_j: Axis

    def blocks(self) -> Iterator[Block]:
        i, j = self.axis_i, self.axis_j
        yield Block("parallel", (i.body, j.body), (*i.direction, *j.direction), ("angle",))


@dataclass(eq=False)
class Gear(Joint):
    """Angles only: Phi = (phi_j - phi_k) - K (phi_i - phi_k) - C = 0, k the carrier (none: phi_k = 0).

    ratio = K: external gears -radius_i/radius_j, internal gears, chains and belts +radius_i/radius_j.  C is as drawn.
    Transmits couples only: on i K lambda, on j -lambda, on the carrier (1 - K) lambda.  The bearings do not feel a tooth
    force; for a bearing report use `GearMesh`.
    """

    body_i: Body
    body_j: Body
    ratio: float
    carrier: Body | None = None

    @classmethod
    def external(cls, name: str, body_i: Body, body_j: Body, radius_i: float, radius_j: float, **kw: Any) -> Gear:
        """Two wheels that touch from outside: they turn in opposite senses."""
        return cls(name, body_i, body_j, -_ratio(name, radius_i, radius_j), **kw)

    @classmethod
    def internal(cls, name: str, body_i: Body, body_j: Body, radius_i: float, radius_j: float, **kw: Any) -> Gear:
        """A wheel inside a ring: they turn in the same sense."""
        return cls(name, body_i, body_j, _ratio(name, radius_i, radius_j), **kw)

    @classmethod
    def chain(cls, name: str, body_i: Body, body_j: Body, radius_i: float, radius_j: float, **kw: Any) -> Gear:
        """Two sprockets or pulleys with an uncrossed chain or belt: they turn in the same sense."""
        return cls(name, body_i, body_j, _ratio(name, radius_i, radius_j), **kw)

    def blocks(self) -> Iterator[Block]:
        K = self.ratio
        bodies = (self.body_i, self.body_j) + ((self.carrier,) if self.carrier else ())
        yield Block("angles", bodies, (-K, 1.0, K - 1.0 if self.carrier else 0.0, None), ("angle",))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.ratio == 0:
            yield f"{self.label}: ratio is 0; give phi_j'/phi_i', negative for external gears"


@dataclass(eq=False)
class GearMesh(Joint):
    """Pitch circles that roll on each other: Phi = rho_i phi_i + rho_j phi_j - (rho_i + rho_j) theta(d) - C = 0.

    point_i, point_j are the wheel centres, which other joints hold at the distance radius_i + radius_j (internal: the
    difference) and which may move.  lambda is the tangential tooth force in N; the pressure angle adds the radial force
    |lambda| tan(alpha) that pushes the centres apart (internal: together) and does no work.  internal=True: the wheel
    with the larger radius is the ring.
    """

    point_i: Point
    point_j: Point
    radius_i: float
    radius_j: float
    pressure_angle: float = math.radians(20)
    internal: bool = False

    @property
    def signed_radii(self) -> tuple[float, float]:
        """(rho_i, rho_j), the ring of an internal pair negative."""
        ri, rj = self.radius_i, self.radius_j
        if not self.internal:
            return ri, rj
        return (-ri, rj) if ri > rj else (ri, -rj)

    def blocks(self) -> Iterator[Block]:
        i, j = self.point_i, self.point_j
        yield Block("mesh", (i.body, j.body), (*i.s, *j.s, *self.signed_radii, None), ("tooth",))

    def acts_at(self, on: Body, place: Any) -> Any:
        """The pitch point, on the line of centres: r_i + p u, p = rho_i for external and -rho_i for internal wheels."""
        u, p = self.line_of_centres(place), self.signed_radii[0] * math.copysign(1.0, sum(self.signed_radii))
        return place(self.point_i) + p * u

    def line_of_centres(self, place: Any) -> Any:
        """Unit vector (nt, 2) from the centre of i to that of j."""
        d = place(self.point_j) - place(self.point_i)
        return d / np.hypot(d[..., 0], d[..., 1])[..., None]

    def separation(self, place: Any) -> Any:
        """Direction (nt, 2) in which the radial tooth force pushes j (and -that, i)."""
        return math.copysign(1.0, sum(self.signed_radii)) * self.line_of_centres(place)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for what in ("radius_i", "radius_j"):
            if getattr(self, what) <= 0:
                yield f"{self.label}: {what} is {getattr(self, what):g} m; give a positive pitch radius"
        if self.internal and self.radius_i == self.radius_j:
            yield f"{self.label}: internal pair with equal radii {self.radius_i:g} m; the ring must be larger"
        if self.pressure_angle < 0 or self.pressure_angle >= math.pi / 2:
            yield f"{self.label}: pressure_angle is {self.pressure_angle:g} rad; give 0 <= angle < pi/2 (20 deg = 0.349)"

    def drawn_problems(self, pose: Any) -> Iterator[str]:
        if math.dist(pose(self.point_i), pose(self.point_j)) == 0:
            yield f"{self.label}: the gear centres coincide in the drawn pose; draw them {abs(sum(self.signed_radii)):g} m apart"

    def misfits(self, place: Any) -> Iterator[str]:
        apart, wanted = float(np.hypot(*(place(self.point_j) - place(self.point_i)))), abs(sum(self.signed_radii))
        if abs(apart - wanted) > 1e-6 * wanted:
            yield (
                f"{self.label}: the centres are {apart:.6g} m apart, but the pitch radii give {wanted:.6g} m; "
                "correct the radii or the joints that hold the centres"
            )


@dataclass(eq=False)
class RackPinion(Joint):
    """A pinion of j rolls on the pitch line (axis) of i: Phi = u_i . d + rho (phi_j - phi_i) - C = 0.

    point_j is the pinion centre, which other joints hold at the distance `radius` from the axis.  side: "left" (of the
    directed axis, rho = +radius) or "right" (rho = -radius).  lambda is the tangential tooth force in N.
    """

    axis_i: Axis
    point_j: Point
    radius: float
    pressure_angle: float = math.radians(20)
    side: str = "left"

    @property
    def signed_radius(self) -> float:
        return self.radius if self.side == "left" else -self.radius

    def blocks(self) -> Iterator[Block]:
        i, j = self.axis_i, self.point_j
        parameters = (*i.start, *i.direction, *j.s, self.signed_radius, None)
        yield Block("along_line", (i.body, j.body), parameters, ("tooth",))

    def acts_at(self, on: Body, place: Any) -> Any:
        """The contact on the pitch line: centre of the pinion - radius times the direction of separation."""
        return place(self.point_j) - self.radius * self.separation(place)

    def separation(self, place: Any) -> Any:
        """Direction (nt, 2) in which the radial tooth force pushes the pinion j: away from the rack."""
        i, (ux, uy) = self.axis_i, self.axis_i.direction
        side = math.copysign(1.0, self.signed_radius)
        return place(i.body.point(-side * uy, side * ux)) - place(i.body.point(0.0, 0.0))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.radius <= 0:
            yield f"{self.label}: radius is {self.radius:g} m; give a positive pitch radius"
        if self.side not in ("left", "right"):
            yield f"{self.label}: side is {self.side!r}; give 'left' or 'right' of the directed axis"
        if self.pressure_angle < 0 or self.pressure_angle >= math.pi / 2:
            yield f"{self.label}: pressure_angle is {self.pressure_angle:g} rad; give 0 <= angle < pi/2"

    def misfits(self, place: Any) -> Iterator[str]:
        axis, off = self.axis_i, self.separation(place)
        height = float(np.dot(place(self.point_j) - place(axis.body.point(*axis.start)), off))
        if abs(height - self.radius) > 1e-6 * self.radius:
            yield (
                f"{self.label}: the centre of the pinion is {height:.6g} m from the pitch line on its {self.side}, but its "
                f"radius is {self.radius:.6g} m; correct the radius, the side or the joints that hold the centre"
            )


@dataclass(eq=False)
class PointOnCurve(Joint):
    """Cam and follower: a point of j stays on a curve fixed in i.  Phi = signed distance from the curve = 0.

    curve: a `SplineCurve`, `FunctionCurve` or `circle` in local coordinates of body_i.  The force acts at the point
    along the curve's normal n: +lambda n on i, -lambda n on j.
    """

    body_i: Body
    curve: Curve
    point_j: Point

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.curve, Curve):
            raise ModelError(f"{self.label}: curve must be a SplineCurve, FunctionCurve or circle, got {self.curve!r}")

    def blocks(self) -> Iterator[Block]:
        j = self.point_j
        yield Block("curve", (self.body_i, j.body), (*j.s, 0.0, 0.0, 0.0, 0.0), ("normal",), extra=self.curve)

    def acts_at(self, on: Body, place: Any) -> Any:
        return place(self.point_j)

    def misfits(self, place: Any) -> Iterator[str]:
        r, x, y = (place(self.body_i.point(*s)) for s in ((0, 0), (1, 0), (0, 1)))
        d = place(self.point_j) - r
        u = self.curve.project(float(np.dot(x - r, d)), float(np.dot(y - r, d)))
        if not self.curve.inside(u):
            yield (
                f"{self.label}: the contact lies past an end of the curve (u = {u:.6g}, the curve goes from {self.curve.u0:g} "
                f"to {self.curve.u1:g}); make the curve longer"
            )


def _ratio(name: str, radius_i: float, radius_j: float) -> float:
    radius_i, radius_j = (as_number(r, f"radius of Gear {name!r}") for r in (radius_i, radius_j))
    if not (0 < radius_i < math.inf and 0 < radius_j < math.inf):
        raise ModelError(f"Gear {name!r}: radii are {radius_i!r} and {radius_j!r} m; give positive radii")
    return radius_i / radius_j
