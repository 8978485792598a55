"""The force elements a user writes.  Gravity belongs to the model: ``Model(gravity=(0, -9.81))``.

A magnitude may be a number, a string in t ("10*sin(3*t)"), a motion, or a callable of (t, state); `state` gives
``state[body].r, .phi, .v, .omega`` and ``state.point(p).r, .v`` (arrays with the leading axes of t).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from planar.bodies import Body, Point
from planar.elements import Element, as_bodies, call_problems
from planar.errors import ModelError
from planar.motions import Motion, motion_problems

Magnitude = float | str | Motion | Callable


def is_callback(magnitude: Any) -> bool:
    """A function of (t, state); motions and their classes are none."""
    return callable(magnitude) and not isinstance(magnitude, (Motion, type))


@dataclass(frozen=True)
class ForceBlock:
    """One instance of a force law, as handed to the compiler; parameters None: as drawn (spring length, angle)."""

    law: str
    bodies: tuple[Body | None, ...]
    parameters: tuple[float | None, ...]
    magnitudes: tuple[Any, ...]


@dataclass(eq=False)
class Force(Element, abstract=True):
    word = "force"

    def blocks(self) -> Iterator[ForceBlock]:
        raise NotImplementedError

    def _magnitude_problems(self, what: str, value: Any) -> Iterator[str]:
        if is_callback(value):
            yield from call_problems(value, 2, f"{what} of {self.label}", "(t, state)")
        else:
            yield from motion_problems(value, f"{what} of {self.label}")


@dataclass(eq=False)
class PointForce(Force):
    """A force (fx, fy) in N at a point, in global axes, or in axes that turn with the body (frame="body").

    force may be a pair of magnitudes, or one callable of (t, state) that returns the pair.
    """

    point: Point
    force: Any
    _: KW_ONLY
    frame: str = "global"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.force, list) or (isinstance(self.force, np.ndarray) and self.force.ndim == 1):
            self.force = tuple(self.force)  # a copy of our own

    def blocks(self) -> Iterator[ForceBlock]:
        magnitudes = (self.force,) if is_callback(self.force) else tuple(self.force)
        turns = 1.0 if self.frame == "body" else 0.0
        yield ForceBlock("point_force", (self.point.body,), (*self.point.s, turns), magnitudes)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.frame not in ("global", "body"):
            yield f"{self.label}: frame is {self.frame!r}; give 'global' or 'body'"
        if self.point.body.is_ground:
            yield f"{self.label}: acts on ground, which does not move; use a point of a body"
        if is_callback(self.force):
            yield from self._magnitude_problems("force", self.force)
        elif not isinstance(self.force, tuple):
            yield f"{self.label}: force is {self.force!r:.60}; give a pair (fx, fy), or a callable of (t, state)"
        elif len(self.force) != 2:
            yield f"{self.label}: force has {len(self.force)} components; give a pair (fx, fy)"
        else:
            for what, value in zip(("fx", "fy"), self.force, strict=True):
                yield from self._magnitude_problems(what, value)


@dataclass(eq=False)
class Torque(Force):
    """A torque in N m on a body, counter-clockwise positive."""

    body: Body
    torque: Any

    def blocks(self) -> Iterator[ForceBlock]:
        yield ForceBlock("torque", (self.body,), (), (self.torque,))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.body.is_ground:
            yield f"{self.label}: acts on ground, which does not move; use a body"
        yield from self._magnitude_problems("torque", self.torque)


@dataclass(eq=False)
class Spring(Force):
    """Linear spring, damper and actuator between two points: tension f = stiffness (l - length) + damping l' + force.

    stiffness N/m, length (free length) m or None for the drawn one, damping N s/m, force N (tension positive: it pulls
    the points together).
    """

    point_i: Point
    point_j: Point
    _: KW_ONLY
    stiffness: float = 0.0
    length: float | None = None
    damping: float = 0.0
    force: Any = 0.0

    def blocks(self) -> Iterator[ForceBlock]:
        i, j = self.point_i, self.point_j
        parameters = (*i.s, *j.s, self.stiffness, self.damping, self.length)
        yield ForceBlock("spring", (i.body, j.body), parameters, (self.force,))

    @property
    def drawn_need(self) -> str | None:
        return "length" if self.length is None and self.stiffness else None

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.length is not None and self.length < 0:
            yield f"{self.label}: free length is {self.length:g} m; give a value >= 0, or None for the drawn length"
        yield from self._magnitude_problems("force", self.force)


@dataclass(eq=False)
class TorsionSpring(Force):
    """Torsional spring, damper and actuator: T = stiffness (phi_j - phi_i - angle) + damping (w_j - w_i) + torque.

    +T acts on i and -T on j.  stiffness N m/rad, angle (free angle) rad or None for the drawn one, damping N m s/rad.
    """

    body_i: Body
    body_j: Body
    _: KW_ONLY
    stiffness: float = 0.0
    angle: float | None = None
    damping: float = 0.0
    torque: Any = 0.0

    def blocks(self) -> Iterator[ForceBlock]:
        yield ForceBlock(
            "torsion", (self.body_i, self.body_j), (self.stiffness, self.damping, self.angle), (self.torque,)
        )

    @property
    def drawn_need(self) -> str | None:
        return "angle" if self.angle is None and self.stiffness else None

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        yield from self._magnitude_problems("torque", self.torque)


@dataclass(eq=False)
class UserForce(Force):
    """Any force law: function(t, state) returns (F_x, F_y, T) on the body, N and N m about its centre of mass.

    For several bodies give a list of them; the function then returns one triple for each.  Written with NumPy functions
    it gets exact tangents (`planar.jet`); branches on values are allowed.
    """

    on: Any
    function: Callable

    def __post_init__(self) -> None:
        super().__post_init__()
        self.on = as_bodies(self.on, self.label)
        if not callable(self.function):
            raise ModelError(f"{self.label}: function must be a callable of (t, state), got {self.function!r:.60}")

    def blocks(self) -> Iterator[ForceBlock]:
        return iter(())

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if any(b.is_ground for b in self.on):
            yield f"{self.label}: acts on ground, which does not move; leave ground out"
        yield from call_problems(self.function, 2, self.label, "(t, state)")
