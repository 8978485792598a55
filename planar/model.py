"""The model: what the user builds by name.  Nothing here computes; `planar.system.compile` turns it into arrays."""

from __future__ import annotations

import copy as _copy
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from planar.bodies import Axis, Body, Ground, Point, as_vector, is_finite, nearest
from planar.elements import Constraint, Driver, Element, Joint
from planar.errors import ModelError
from planar.forces import Force

if TYPE_CHECKING:
    from planar.assembly import Assembly
    from planar.diagnosis import Diagnosis

T = TypeVar("T", Body, Element)


class Model:
    """A planar mechanism: bodies, joints, drivers and forces, looked up by name.

    gravity: acceleration in m/s^2, global axes, (0, 0) unless given.

    >>> m = Model("pendulum", gravity=(0, -9.81))
    >>> rod = m.add(Body.rod("rod", mass=1.0, length=1.0, r=(0.5, 0), phi=0.0))
    >>> pin = m.add(Revolute("pin", m.ground.point(0, 0), rod["A"]))  # doctest: +SKIP
    """

    def __init__(self, name: str = "model", gravity: Any = (0.0, 0.0)):
        self.name = str(name)
        self.gravity = gravity
        self.ground = Ground()
        self._items: list[Body | Element] = []
        self._ids = {id(self.ground)}  # of what is in the model: a chain of 10 000 links is added in one go

    @property
    def gravity(self) -> tuple[float, float]:
        """Acceleration of gravity in m/s^2, global axes."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = as_vector(value, "gravity")

    # --- build and look up -----------------------------------------------------------------------------------------

    def add(self, item: T) -> T:
        """Add a body, joint, driver or force and return it."""
        if not isinstance(item, (Body, Element)):
            raise ModelError(f"cannot add {item!r}; add a Body, joint, driver or force", self._title)
        if id(item) in self._ids:
            raise ModelError(f"{item.name!r} is already in the model; add it once", self._title)
        self._items.append(item)
        self._ids.add(id(item))
        return item

    def __getitem__(self, name: str) -> Any:
        for item in (self.ground, *self._items):
            if item.name == name:
                return item
        raise ModelError(f"nothing is named {name!r}; {nearest(name, [i.name for i in self._items])}", self._title)

    def __contains__(self, item: Any) -> bool:
        return any(item is known or item == known.name for known in (self.ground, *self._items))

    def __iter__(self) -> Iterator[Body | Element]:
        return iter(self._items)

    def _of(self, kind: type) -> list:
        return [item for item in self._items if isinstance(item, kind)]

    @property
    def bodies(self) -> list[Body]:
        return self._of(Body)

    @property
    def joints(self) -> list[Joint]:
        return self._of(Joint)

    @property
    def drivers(self) -> list[Driver]:
        return self._of(Driver)

    @property
    def forces(self) -> list[Force]:
        return self._of(Force)

    @property
    def constraints(self) -> list[Constraint]:
        """Joints first, then drivers: the order of the rows of Phi."""
        return [*self.joints, *self.drivers]

    @property
    def _title(self) -> str:
        return f"model {self.name!r}"

    # --- variants --------------------------------------------------------------------------------------------------

    def copy(self) -> Model:
        """An independent model with the same names; look things up there by name: ``m.copy()["crank"]``."""
        other = Model(self.name, self.gravity)
        twin: dict[int, Body] = {id(self.ground): other.ground}
        other.ground.points.update(self.ground.points)
        for item in self._items:
            if isinstance(item, Body):
                body = _copy.copy(item)
                body.points = dict(item.points)
                twin[id(item)] = body
        for item in self._items:
            other.add(twin[id(item)] if isinstance(item, Body) else _rewire(item, twin))
        return other

    def without(self, *items: Any) -> Model:
        """A copy without these (objects or names); with a body goes everything that is attached to it."""
        names = [item if isinstance(item, str) else getattr(item, "name", item) for item in items]
        for name in names:
            if self[name] is self.ground:
                raise ModelError("ground cannot be left out; every model has one", self._title)
        other = self.copy()
        keep = [i for i in other._items if i.name not in names]
        gone = {id(i) for i in other._items if isinstance(i, Body) and i.name in names}
        other._items = [i for i in keep if isinstance(i, Body) or not any(id(b) in gone for b in i.bodies)]
        other._ids = {id(i) for i in (other.ground, *other._items)}
        return other

    def save(self, path: Any) -> None:
        """Write a TOML file that ``pl.load_model(path)`` reads back exactly; Python code in the model is a `ModelError`."""
        from planar.modelfile import save_model

        save_model(self, path)

    # --- check -----------------------------------------------------------------------------------------------------

    def problems(self) -> list[str]:
        """Every problem of the model that shows without computing, as messages."""
        found: list[str] = []
        if not is_finite(self.gravity):
            found.append(f"gravity is {self.gravity}; give finite numbers in m/s^2")
        if not self.bodies:
            found.append("there is no body; add one with m.add(pl.Body(...))")
        seen: dict[str, Body | Element] = {"ground": self.ground}
        own = {id(b): not b.kind_problems() for b in (self.ground, *self.bodies)}  # bodies of this model, sound or not
        for item in self._items:
            if not isinstance(item.name, str) or not item.name.strip() or not item.name.isprintable():
                found.append(
                    f"a {type(item).__name__} has the name {item.name!r:.60}; give a non-empty, printable string"
                )
            elif item.name in seen:
                found.append(
                    f"the name {item.name!r} is used for a {type(seen[item.name]).__name__} and a {type(item).__name__}; "
                    "names must be different"
                )
            else:
                seen[item.name] = item
            own_problems = item.kind_problems() or list(item.problems())
            if not own_problems and isinstance(item, Element):
                own_problems = list(self._outside_problems(item, own))
            found += own_problems
        held = {id(b) for c in self.constraints for b in c.bodies}
        loose = [body for body in self.bodies if own[id(body)] and id(body) not in held]
        found += [p for body in loose for p in _loose_problems(body)]
        return found

    def _outside_problems(self, item: Element, own: dict[int, bool]) -> Iterator[str]:
        """Problems of a sound element with the bodies around it: other models, poses that it needs."""
        foreign = {id(b): b for b in item.bodies if id(b) not in own}
        yield from (self._foreign(item, body) for body in foreign.values())
        if not all(own.get(id(b)) for b in item.bodies):
            return
        need = item.drawn_need
        missing = [b for b in item.bodies if b.phi is None or (b.r is None and need != "angle")]
        if need and missing:
            body = missing[0]
            pose = "phi=" if need == "angle" else "r= and phi="
            other = "drop from_drawn" if isinstance(item, Driver) else f"give {need} a number"
            yield (
                f"{item.label}: {need} is to be taken from the drawn pose, but {body.name!r} has none; "
                f"give {pose} of {body.name!r}, or {other}"
            )
        if isinstance(item, Constraint) and not missing:
            yield from item.drawn_problems(lambda p: p.position(np.array(p.body.r), np.array(p.body.phi)))

    def _foreign(self, item: Element, body: Body) -> str:
        if any(b.name == body.name for b in (self.ground, *self.bodies)):
            name = "m.ground" if body.is_ground else f"m[{body.name!r}]"
            return f"{item.label}: its body {body.name!r} belongs to another model; use {name} of this one"
        return f"{item.label}: its body {body.name!r} is not in this model; add it with m.add(...)"

    def validate(self) -> None:
        """Raise one `ModelError` with every problem of the model; every analysis starts with this."""
        found = self.problems()
        if found:
            raise ModelError(found, self._title)

    # --- look ------------------------------------------------------------------------------------------------------

    def diagnose(self, t: float = 0.0) -> Diagnosis:
        """Degrees of freedom, redundant rows by joint name, free motions: see `planar.diagnosis`."""
        from planar.diagnosis import diagnose

        return diagnose(self, t)

    def assemble(self, t: float = 0.0) -> Assembly:
        """Consistent pose and velocities nearest to the drawn ones at time t s, and what moved."""
        from planar.assembly import assemble

        return assemble(self, t)

    def __str__(self) -> str:
        from planar.summary import describe

        return describe(self)

    def __repr__(self) -> str:
        return (
            f"<Model {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, "
            f"{len(self.drivers)} drivers, {len(self.forces)} forces>"
        )

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows of a small mechanism."""
        from planar.plot.mechanism import picture

        return picture(self, "svg")

    def _repr_png_(self) -> bytes | None:
        """The same for a large one."""
        from planar.plot.mechanism import picture

        return picture(self, "png")


def _loose_problems(body: Body) -> Iterator[str]:
    """A body that no constraint touches needs mass and inertia for its equations of motion."""
    if body.mass == 0 and body.inertia == 0:
        yield f"body {body.name!r}: is massless and no joint holds it; give a mass or a joint"
    elif body.mass == 0:
        yield f"body {body.name!r}: mass is 0 kg and no joint holds it; give a mass or a joint"
    elif body.inertia == 0:
        yield f"body {body.name!r}: inertia is 0 kg m^2 and no joint holds its angle; give an inertia or a joint"


def _rewire(element: Element, twin: dict[int, Body]) -> Element:
    """A copy of the element attached to the twins of its bodies."""

    def swap(value: Any) -> Any:
        if isinstance(value, Body):
            return twin.get(id(value), value)
        if isinstance(value, (Point, Axis)):
            return dataclasses.replace(value, body=twin.get(id(value.body), value.body))
        if isinstance(value, (tuple, list)) and any(isinstance(v, (Body, Point, Axis)) for v in value):
            return type(value)(swap(v) for v in value)
        return value

    other = _copy.copy(element)
    for f in dataclasses.fields(element):
        setattr(other, f.name, swap(getattr(element, f.name)))
    return other
