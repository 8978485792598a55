"""What joints, drivers and forces have in common: they are dataclasses that name the bodies they act on.

A new kind is one dataclass with its derivation in the docstring.  It registers itself in `KINDS` by being defined, so
contract tests, model files and docs find it without a list.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from planar.bodies import Axis, Body, Point
from planar.errors import ModelError

KINDS: dict[str, type[Element]] = {}


@dataclass(eq=False)
class Element:
    """Anything that is added to a model besides bodies."""

    name: str
    word: ClassVar[str] = "element"

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if not abstract:
            KINDS[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Refuse the wrong kind of argument at once: what is no point cannot be read as one later."""
        for f in dataclasses.fields(self):
            value, wanted = getattr(self, f.name), _WANTED.get(str(f.type))
            if wanted and not isinstance(value, wanted[0]):
                raise ModelError(f"{self.label}: {f.name} must be {wanted[1]}, got {value!r}")

    @property
    def label(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    @property
    def attachments(self) -> list[Point | Axis | Body]:
        """The points, axes and bodies among the fields, in the order of the definition."""
        found: list[Point | Axis | Body] = []
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            for v in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(v, (Point, Axis, Body)):
                    found.append(v)
        return found

    @property
    def bodies(self) -> list[Body]:
        return [a if isinstance(a, Body) else a.body for a in self.attachments]

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with this element by itself; subclasses add to it."""
        names = [b.name for b in self.bodies]
        for name in sorted({n for n in names if names.count(n) > 1}):
            yield f"{self.label}: acts from body {name!r} to itself; use two different bodies"
        for a in self.attachments:
            if isinstance(a, Axis):
                if not all(map(math.isfinite, a.start + a.end)):
                    yield f"{self.label}: {a!r} has a coordinate that is not finite; give finite points"
                elif a.length == 0:
                    yield f"{self.label}: axis on body {a.body.name!r} has length 0 at {a.start}; give two different points"
            elif isinstance(a, Point) and not all(map(math.isfinite, a.s)):
                yield f"{self.label}: {a!r} has a coordinate that is not finite; give a finite point"
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, float) and not math.isfinite(value):
                yield f"{self.label}: {f.name} is {value}; give a finite number"


# annotation -> (accepted classes, words for the message); annotations are strings because of `from __future__`
_WANTED: dict[str, tuple[type, str]] = {
    "Point": (Point, "a point of a body such as crank['A'] or ground.point(0, 0)"),
    "Axis": (Axis, "an axis of a body such as slider.axis((0, 0), (1, 0))"),
    "Body": (Body, "a body (or the model's ground)"),
}


@dataclass(frozen=True)
class Block:
    """One instance of a primitive: what a constraint hands to the compiler.

    parameters: the kernel's p; None at the primitive's constant means 'as drawn'.
    rows: the words that name the rows, e.g. ("x", "y").
    """

    primitive: str
    bodies: tuple[Body, ...]
    parameters: tuple[float | None, ...]
    rows: tuple[str, ...]
    motion: Any = None
    extra: Any = field(default=None, compare=False)  # the curve of a `curve` block


@dataclass(eq=False)
class Constraint(Element, abstract=True):
    """A joint or a driver: gives the blocks of Phi."""

    word = "constraint"

    def blocks(self) -> Iterable[Block]:
        raise NotImplementedError

    def drawn_problems(self, pose: Any) -> Iterator[str]:
        """Problems that show only in the drawn pose; `pose(point)` is the global position of a point."""
        return iter(())


@dataclass(eq=False)
class Joint(Constraint, abstract=True):
    word = "joint"


@dataclass(eq=False)
class Driver(Constraint, abstract=True):
    word = "driver"
