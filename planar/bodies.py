"""Bodies, and the points and axes fixed in them.

Coordinates of a body are q = (x, y, phi) of its centre of mass, in metres and radians, counter-clockwise positive.
Local points s' are measured from the centre of mass in axes fixed in the body.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.errors import ModelError

Vector = tuple[float, float]

HUGE = 1e100  # nothing in SI units is larger


def as_number(value: Any, what: str) -> float:
    """A float; NaN passes here and is found by `Model.validate` together with all other problems."""
    plain = isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if plain and not isinstance(value, (bool, np.bool_)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):  # an array of text, an integer of 400 digits
            pass
    raise ModelError(f"{what} must be a number, got {value!r:.60}")


def as_vector(value: Any, what: str) -> Vector:
    """Two floats from any pair."""
    try:
        if isinstance(value, (str, bytes, set, frozenset)):
            raise TypeError("no order, or no numbers")
        x, y = value
        return as_number(x, what), as_number(y, what)
    except (TypeError, ValueError):
        raise ModelError(f"{what} must be a pair of numbers (x, y), got {value!r:.60}") from None


def is_finite(value: Any) -> bool:
    """True for a number, or a pair of them, of a size that can be squared without overflow."""
    return all(abs(x) < HUGE for x in (value if isinstance(value, Iterable) else (value,)))


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of an 'unknown name' message: the nearest valid name, or all of them."""
    names = [str(n) for n in names]
    close = difflib.get_close_matches(str(name), names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + (", ".join(repr(n) for n in names[:20]) or "none")


@dataclass(frozen=True, eq=False)
class Point:
    """A point fixed in a body: `s` is its local position from the centre of mass (ground: global), in m."""

    body: Body
    s: Vector
    name: str = ""

    def __repr__(self) -> str:
        label = f"{self.body.name}[{self.name!r}]" if self.name else f"{self.body.name}.point"
        return f"{label}({self.s[0]:g}, {self.s[1]:g})"

    def position(self, r: Any, phi: Any) -> np.ndarray:
        """Global position (..., 2) for a pose r (..., 2), phi (...) of the body."""
        c, s = np.cos(phi), np.sin(phi)
        return np.stack([r[..., 0] + c * self.s[0] - s * self.s[1], r[..., 1] + s * self.s[0] + c * self.s[1]], -1)


@dataclass(frozen=True, eq=False)
class Axis:
    """A directed line fixed in a body, from the local point `start` towards `end`."""

    body: Body
    start: Vector
    end: Vector

    @property
    def length(self) -> float:
        return math.hypot(self.end[0] - self.start[0], self.end[1] - self.start[1])

    @property
    def direction(self) -> Vector:
        """Unit vector along the axis in local axes (NaN for an axis of length 0, which validation refuses)."""
        n = self.length or math.nan
        return (self.end[0] - self.start[0]) / n, (self.end[1] - self.start[1]) / n

    def __repr__(self) -> str:
        return f"{self.body.name}.axis({self.start}, {self.end})"


class Body:
    """A rigid body.

    name      the name it is looked up by
    mass      kg, >= 0 (0: massless, allowed where constraints hold the body)
    inertia   kg m^2 about the centre of mass, >= 0
    r, phi    drawn pose of the centre of mass in m and rad; what is left out is found at assembly
    v, omega  start velocities in m/s and rad/s (made consistent with the constraints at assembly)
    points    named local points {name: (x, y)} from the centre of mass, in m

    >>> b = Body("crank", mass=1.0, inertia=0.01, points={"A": (-0.05, 0), "B": (0.05, 0)})
    >>> b["B"]
    crank['B'](0.05, 0)
    """

    is_ground = False

    def __init__(
        self,
        name: str,
        mass: float = 0.0,
        inertia: float = 0.0,
        r: Any = None,
        phi: float | None = None,
        *,
        v: Any = (0.0, 0.0),
        omega: float = 0.0,
        points: Mapping[str, Any] | None = None,
    ):
        if points is not None and not isinstance(points, Mapping):
            raise ModelError(f"points of body {name!r} must be a dict {{name: (x, y)}}, got {points!r:.60}")
        self.name = name
        self.mass, self.inertia = mass, inertia
        self.r, self.phi = r, phi
        self.v, self.omega = v, omega
        self.points: dict[str, Vector] = dict(points or {})
        problems = self.kind_problems()
        if problems:
            raise ModelError(problems)
        for what, convert in _NUMBERS.items():
            if getattr(self, what) is not None:
                setattr(self, what, convert(getattr(self, what), what))
        self.points = {key: as_vector(s, key) for key, s in self.points.items()}

    @classmethod
    def rod(
        cls,
        name: str,
        mass: float = 0.0,
        length: float = 0.0,
        *,
        start: str = "A",
        end: str = "B",
        inertia: float | None = None,
        **pose: Any,
    ) -> Body:
        """A uniform rod of `length` m along its local x axis, with the end points named `start` and `end`.

        The inertia is mass length^2 / 12 unless given; `pose` takes r, phi, v, omega.

        >>> Body.rod("coupler", mass=2.0, length=0.3, start="B", end="C").inertia
        0.015
        """
        length, mass = as_number(length, f"length of rod {name!r}"), as_number(mass, f"mass of rod {name!r}")
        if not length > 0 or not math.isfinite(length):
            raise ModelError(f"rod {name!r}: length is {length!r} m; give a positive length")
        if not (isinstance(start, str) and isinstance(end, str)):
            raise ModelError(f"rod {name!r}: the ends are named {start!r:.60} and {end!r:.60}; give strings")
        if start == end:
            raise ModelError(f"rod {name!r}: both ends are named {start!r}; give them different names")
        half = length / 2
        inertia = mass * length**2 / 12 if inertia is None else inertia
        return cls(name, mass, inertia, points={start: (-half, 0.0), end: (half, 0.0)}, **pose)

    @classmethod
    def from_origin(
        cls,
        name: str,
        mass: float = 0.0,
        inertia: float = 0.0,
        *,
        com: Any,
        points: Mapping[str, Any],
        origin: Any = None,
        phi: float | None = None,
        v: Any = (0.0, 0.0),
        omega: float = 0.0,
    ) -> Body:
        """A body whose points are given from any origin, as on a drawing.

        com      centre of mass from that origin: (x, y), or the name of one of the points
        points   named points from that origin
        origin   global position of the origin in the drawn pose (optional), turned by `phi`
        inertia, v, omega   belong to the centre of mass, as everywhere

        >>> Body.from_origin("plate", 1.0, 0.1, com=(1, 0), points={"A": (0, 0)}, origin=(5, 0), phi=0.0).r
        (6.0, 0.0)
        """
        if not isinstance(points, Mapping):
            raise ModelError(f"points of body {name!r} must be a dict {{name: (x, y)}}, got {points!r:.60}")
        if isinstance(com, str):
            if com not in points:
                raise ModelError(
                    f"body {name!r}: centre of mass {com!r} is not one of its points; {nearest(com, points)}"
                )
            com = points[com]
        gx, gy = as_vector(com, f"centre of mass of body {name!r}")
        local = {}
        for key, s in points.items():
            x, y = as_vector(s, f"point {key!r} of body {name!r}")
            local[key] = (x - gx, y - gy)
        r = None
        if origin is not None:
            if phi is None:
                raise ModelError(f"body {name!r}: origin is given without phi; give both, or neither")
            ox, oy = as_vector(origin, f"origin of body {name!r}")
            phi = as_number(phi, f"phi of body {name!r}")
            c, s = math.cos(phi), math.sin(phi)
            r = (ox + c * gx - s * gy, oy + s * gx + c * gy)
        return cls(name, mass, inertia, r, phi, v=v, omega=omega, points=local)

    def __getitem__(self, name: str) -> Point:
        try:
            return Point(self, self.points[name], name)
        except KeyError:
            raise ModelError(f"body {self.name!r} has no point {name!r}; {nearest(name, self.points)}") from None

    def point(self, x: float, y: float) -> Point:
        """A point at local (x, y) m from the centre of mass (ground: global)."""
        return Point(self, as_vector((x, y), f"point of body {self.name!r}"))

    def axis(self, start: Any, end: Any) -> Axis:
        """A directed line through two local points, each (x, y), a point name or a `Point` of this body."""
        return Axis(self, self._local(start), self._local(end))

    def _local(self, where: Any) -> Vector:
        if isinstance(where, str):
            return self[where].s
        if isinstance(where, Point):
            if where.body is not self:
                raise ModelError(f"axis of body {self.name!r}: {where!r} is a point of another body")
            return where.s
        return as_vector(where, f"axis point of body {self.name!r}")

    def kind_problems(self) -> list[str]:
        """What is no number where one belongs; then `problems` cannot be asked."""
        found = []
        values = {what: (getattr(self, what), convert) for what, convert in _NUMBERS.items()}
        values |= {f"point {key!r}": (s, as_vector) for key, s in self.points.items()}
        for what, (value, convert) in values.items():
            if value is None and what in ("r", "phi"):
                continue
            try:
                convert(value, f"{what} of body {self.name!r}")
            except ModelError as error:
                found += error.problems
        return found

    def problems(self) -> Iterable[str]:
        """Everything that is wrong with the numbers of this body."""
        for what, value, unit in (("mass", self.mass, "kg"), ("inertia", self.inertia, "kg m^2")):
            if not is_finite(value):
                yield f"body {self.name!r}: {what} is {value} {unit}; give a finite number"
            elif value < 0:
                yield f"body {self.name!r}: {what} is {value:g} {unit}; give a value >= 0"
        pose = {"r": self.r, "phi": self.phi, "v": self.v, "omega": self.omega}
        for what, value in pose.items():
            if value is not None and not is_finite(value):
                yield f"body {self.name!r}: {what} is {value}; give finite numbers, or leave it out to have it found"
        for key, s in self.points.items():
            if not isinstance(key, str) or not key:
                yield f"body {self.name!r}: a point has the name {key!r}; give a non-empty string"
            if not is_finite(s):
                yield f"body {self.name!r}: point {key!r} is {s}; give finite coordinates"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.mass:g} kg, {self.inertia:g} kg m^2, points {list(self.points)}>"


class Ground(Body):
    """The fixed world: a body without coordinates; its points are given in global coordinates."""

    is_ground = True

    def __init__(self) -> None:
        super().__init__("ground", r=(0.0, 0.0), phi=0.0)

    def __repr__(self) -> str:
        return "<ground>"


_NUMBERS: dict[str, Callable] = {
    "mass": as_number,
    "inertia": as_number,
    "r": as_vector,
    "phi": as_number,
    "v": as_vector,
    "omega": as_number,
}
