"""What joints, drivers and forces have in common: they are dataclasses that name the bodies they act on.

A new kind is one dataclass with its derivation in the docstring.  It registers itself in `KINDS` by being defined, so
contract tests, model files and docs find it without a list.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from planar.bodies import Axis, Body, Point, as_number, is_finite
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
        problems = self.kind_problems()
        if problems:
            raise ModelError(problems)
        for f in dataclasses.fields(self):
            if _annotation(f) in _NUMBERS and getattr(self, f.name) is not None:
                setattr(self, f.name, float(getattr(self, f.name)))

    def kind_problems(self) -> list[str]:
        """Arguments of the wrong kind, such as text for a number; then `problems` cannot be asked."""
        found = []
        for f in dataclasses.fields(self):
            value, wanted = getattr(self, f.name), _annotation(f)
            if f.name == "name" or (value is None and wanted.endswith("| None")):
                continue  # names are checked by the model, which knows the others
            if wanted in _NUMBERS:
                try:
                    as_number(value, f"{self.label}: {f.name}")
                except ModelError as error:
                    found += error.problems
            elif wanted in _WANTED and not isinstance(value, _WANTED[wanted][0]):
                found.append(f"{self.label}: {f.name} must be {_WANTED[wanted][1]}, got {value!r:.60}")
        return found

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

    @property
    def drawn_need(self) -> str | None:
        """What is taken from the drawn pose: "angle" (then phi= must be given), anything else (r= too), None: nothing."""
        return None

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with this element by itself; subclasses add to it."""
        bodies = self.bodies
        for name in {id(b): b.name for b in bodies if sum(b is other for other in bodies) > 1}.values():
            yield f"{self.label}: acts from body {name!r} to itself; use two different bodies"
        for a in self.attachments:
            if isinstance(a, Axis):
                if not is_finite(a.start + a.end):
                    yield f"{self.label}: {a!r} has a coordinate that is not finite; give finite points"
                elif a.length == 0:
                    yield f"{self.label}: axis on body {a.body.name!r} has length 0 at {a.start}; give two different points"
            elif isinstance(a, Point) and not is_finite(a.s):
                yield f"{self.label}: {a!r} has a coordinate that is not finite; give a finite point"
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if _annotation(f) in _NUMBERS and value is not None and not is_finite(value):
                yield f"{self.label}: {f.name} is {value}; give a finite number"


_NUMBERS = ("float", "float | None")

# annotation -> (accepted classes, words for the message)
_WANTED: dict[str, tuple[Any, str]] = {
    "Point": (Point, "a point of a body such as crank['A'] or ground.point(0, 0)"),
    "Axis": (Axis, "an axis of a body such as slider.axis((0, 0), (1, 0))"),
    "Body": (Body, "a body (or the model's ground)"),
    "Body | None": (Body, "a body, or None"),
    "bool": ((bool, np.bool_), "True or False"),
    "str": (str, "a string"),
}


def _annotation(f: dataclasses.Field) -> str:
    """The annotation as written; it is a string where the module imports `annotations` from `__future__`."""
    return f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type))


def as_bodies(value: Any, label: str) -> tuple[Body, ...]:
    """A tuple of bodies from one body or several."""
    bodies = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not bodies or not all(isinstance(b, Body) for b in bodies):
        raise ModelError(f"{label}: on is {value!r:.60}; give a body or a list of bodies")
    return bodies


def call_problems(function: Any, count: int, what: str, arguments: str) -> Iterator[str]:
    """A user's function that does not take `count` arguments; built-in functions do not tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        yield f"{what}: the function must take {arguments}, {error}"
    except ValueError:
        pass


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

    def misfits(self, place: Any) -> Iterator[str]:
        """What does not fit in an assembled pose although Phi = 0; `place(point)` is the global position of a point."""
        return iter(())

    def acts_at(self, on: Body, place: Any) -> Any:
        """Where its reaction on a body acts, (nt, 2) m; `place(point)` is the global position (nt, 2) of a point.

        The centre of mass unless the joint has a better place (constraints of angles act by couples alone).
        """
        return place(on.point(0.0, 0.0))


@dataclass(eq=False)
class Joint(Constraint, abstract=True):
    word = "joint"


@dataclass(eq=False)
class Driver(Constraint, abstract=True):
    """A constraint that follows a motion; with the field `from_drawn` the motion counts from the drawn pose."""

    word = "driver"

    @property
    def drawn_need(self) -> str | None:
        return "its start" if getattr(self, "from_drawn", False) else None
