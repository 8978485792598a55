"""From what stands in a file to what stands in a model: bodies, points, axes, motions, curves, magnitudes.

What a field takes is told by its annotation, so a new joint is read without being listed anywhere.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from planar.bodies import Axis, Body, Point
from planar.elements import KINDS
from planar.modelfile.curves import CurveValues
from planar.modelfile.formulas import BAD, Bad
from planar.modelfile.problems import Problems, near
from planar.modelfile.source import Key
from planar.modelfile.units import motion_unit
from planar.motions import MOTIONS, Motion, StringMotion

DRAWN = "drawn"  # stands for None: length = "drawn"


def annotation(field: dataclasses.Field) -> str:
    """The annotation of a field as written, without modules: "Point", "float | None", "Any"."""
    text = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    return re.sub(r"\b\w+\.", "", text)


def groups() -> dict[str, str]:
    """{"joints": "joint", ...}: the tables that elements stand in, by the word of their classes."""
    words = dict.fromkeys(("joint", "driver", "force", *(cls.word for cls in KINDS.values())))
    return {f"{word}s": word for word in words}


def required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


class Values(CurveValues):
    """Reads values of every kind; `bodies` are those of the file by name, BAD for one that could not be read."""

    def __init__(self, problems: Problems):
        super().__init__(problems)
        self.bodies: dict[str, Body | Bad] = {}

    # --- by annotation -----------------------------------------------------------------------------------------------

    def read(self, wanted: str, value: Any, key: Key, unit: str = "") -> Any:
        """The value for a field annotated `wanted`."""
        if wanted == "float | None" and value == DRAWN:
            return None
        reader = self._readers().get(wanted.removesuffix(" | None"), self.anything)
        return reader(value, key, unit)

    def _readers(self) -> dict[str, Callable[[Any, Key, str], Any]]:
        return {
            "float": self.number,
            "tuple[float, ...]": self.numbers,
            "Point": self.point,
            "Axis": self.axis,
            "Body": self.body,
            "Motion | Any": self.magnitude,
            "Motion": self.magnitude,
            "Curve": self.curve,
            "str": self.word,
            "bool": self.truth,
            "int": self.integer,
            "tuple[tuple[float, Motion], ...]": self.terms,
        }

    def fields(self, cls: type, table: Mapping[str, Any], key: Key, unit: Callable[[str], str]) -> dict[str, Any] | Bad:
        """The fields of a dataclass from a table; every key that is unknown, missing or wrong is a problem."""
        wanted = {f.name: f for f in dataclasses.fields(cls) if f.init and f.name != "name"}
        sound = self.known_keys(table, wanted, key, cls.__name__, [name for name, f in wanted.items() if required(f)])
        known = {name: value for name, value in table.items() if name in wanted}
        found = {n: self.read(annotation(wanted[n]), value, (*key, n), unit(n)) for n, value in known.items()}
        return found if sound and not any(isinstance(v, Bad) for v in found.values()) else BAD

    # --- bodies, points, axes ------------------------------------------------------------------------------------------

    def body(self, value: Any, key: Key, unit: str = "") -> Body | Bad:
        """The name of a body, or { body = "name" }."""
        if isinstance(value, dict) and set(value) == {"body"}:
            return self.body(value["body"], (*key, "body"))
        if not isinstance(value, str):
            return self.wrong(key, value, 'the name of a body, such as "crank" or "ground"')
        if value not in self.bodies:
            self.problems.add(key, f"unknown body {value[:60]!r}, {near(value, self.bodies)}", value)
            return BAD
        return self.bodies[value]

    def point(self, value: Any, key: Key, unit: str = "") -> Point | Bad:
        """ "body.point", { body = "crank", point = "A" } or { body = "ground", at = [0, 0] }."""
        if isinstance(value, str):
            return self._named_point(value, key)
        if not isinstance(value, dict) or not set(value) <= {"body", "point", "at", "name"} or "body" not in value:
            return self.wrong(key, value, 'a point: "crank.A" or { body = "ground", at = [0, 0] }')
        body = self.body(value["body"], (*key, "body"))
        if ("at" in value) == ("point" in value):
            return self.wrong(key, value, "either at = [x, y] or point = a name")
        if "point" in value:
            return BAD if isinstance(body, Bad) else self._point_of(body, value["point"], (*key, "point"))
        s, name = self.vector(value["at"], (*key, "at"), "m"), self.word(value.get("name", ""), (*key, "name"))
        return BAD if any(isinstance(v, Bad) for v in (body, s, name)) else Point(body, s, name)  # type: ignore[arg-type]

    def _named_point(self, text: str, key: Key) -> Point | Bad:
        places = splits(text, self.bodies)
        if not places:
            name, dot, _ = text.partition(".")
            if dot or name not in self.bodies:
                message = f"unknown body {name[:60]!r}, {near(name, self.bodies)}"
            else:
                message = f'expected a body and its point, such as "{name}.A"'
            self.problems.add(key, message, text)
            return BAD
        bodies = {name: self.bodies[name] for name, _ in places}
        if any(isinstance(body, Bad) for body in bodies.values()):
            return BAD
        sound = [(b, p) for b, p in places if p in bodies[b].points]  # type: ignore[union-attr]
        if len(sound) > 1:
            return self.wrong(key, text, 'one point; write { body = "...", point = "..." }, the dots mean several here')
        body, name = (sound or places)[0]
        return self._point_of(bodies[body], name, key, text)  # type: ignore[arg-type]

    def _point_of(self, body: Body, name: Any, key: Key, shown: Any = None) -> Point | Bad:
        if not isinstance(name, str):
            return self.wrong(key, name, "the name of a point")
        if name not in body.points:
            message = f"body {body.name!r} has no point {name[:60]!r}, {near(name, body.points)}"
            self.problems.add(key, message, shown or name)
            return BAD
        return body[name]

    def axis(self, value: Any, key: Key, unit: str = "") -> Axis | Bad:
        """{ body = "arm", start = "O", end = [0.6, 0] }: each end a point of the body or local coordinates."""
        if not isinstance(value, dict) or set(value) != {"body", "start", "end"}:
            return self.wrong(key, value, 'an axis: { body = "ground", start = [0, 0], end = [1, 0] }')
        body = self.body(value["body"], (*key, "body"))
        if isinstance(body, Bad):
            return BAD
        ends = [self._end(body, value[end], (*key, end)) for end in ("start", "end")]
        return BAD if any(isinstance(e, Bad) for e in ends) else Axis(body, ends[0], ends[1])

    def _end(self, body: Body, value: Any, key: Key) -> Any:
        if not isinstance(value, str):
            return self.vector(value, key, "m")
        point = self._point_of(body, value, key)
        return BAD if isinstance(point, Bad) else point.s

    # --- motions and magnitudes ----------------------------------------------------------------------------------------

    def magnitude(self, value: Any, key: Key, unit: str = "") -> Any:
        """A number, a formula in t, a motion, or a list of them (a tuple in the model)."""
        if isinstance(value, str):
            formula = self.formula(value, key, unit, ("t",))
            if isinstance(formula, Bad):
                return BAD
            return StringMotion(formula.text, tuple(formula.constants.items())) if formula.constants else formula.text
        if isinstance(value, list):
            found = tuple(self.magnitude(v, key, unit) for v in value)
            return BAD if any(isinstance(v, Bad) for v in found) else found
        if isinstance(value, dict):
            return self.motion(value, key, unit)
        return self.plain(value, key, unit)

    def motion(self, table: Any, key: Key, unit: str = "") -> Motion | Bad:
        """{ type = "Ramp", rate = "120 rpm" }."""
        if not isinstance(table, dict):
            return self.wrong(key, table, 'a motion, such as { type = "Ramp", rate = "120 rpm" }')
        kind = self.kind(table, MOTIONS, key, "motion")
        if isinstance(kind, Bad):
            return BAD
        fields = {name: value for name, value in table.items() if name != "type"}
        cls = MOTIONS[kind]
        if cls is StringMotion:
            return self._string_motion(fields, key, unit)
        found = self.fields(cls, fields, key, lambda name: motion_unit(kind, name, unit))
        return BAD if isinstance(found, Bad) else self.make(cls, found, key)

    def _string_motion(self, fields: dict[str, Any], key: Key, unit: str) -> Motion | Bad:
        constants = self.constants(fields.get("constants", {}), (*key, "constants"))
        text = self.word(fields.get("text"), (*key, "text"))
        for name in fields.keys() - {"text", "constants"}:
            self.problems.add((*key, name), f"StringMotion has no {name[:40]!r}; known: 'text', 'constants'")
        if isinstance(constants, Bad) or isinstance(text, Bad):
            return BAD
        formula = self.formula(text, (*key, "text"), unit, ("t",), constants)
        if isinstance(formula, Bad):
            return BAD
        every = {**formula.constants, **constants}
        return self.make(StringMotion, {"text": formula.text, "constants": tuple(every.items())}, key)

    def terms(self, value: Any, key: Key, unit: str = "") -> Any:
        """[[factor, motion], ...] of a sum."""
        if not isinstance(value, list) or not all(isinstance(v, list) and len(v) == 2 for v in value):
            return self.wrong(key, value, "a list of pairs [factor, motion]")
        found = [(self.number(k, key), self.magnitude(m, key, unit)) for k, m in value]
        return BAD if any(isinstance(v, Bad) for pair in found for v in pair) else tuple(found)

    # --- anything ------------------------------------------------------------------------------------------------------

    def anything(self, value: Any, key: Key, unit: str = "") -> Any:
        """A value whose field does not say what it takes: told by its shape."""
        if isinstance(value, dict):
            kind = value.get("type")
            if kind is None and "body" in value:
                place = self.axis if "start" in value else self.point if len(value) > 1 else self.body
                return place(value, key)
            is_curve = isinstance(kind, str) and kind in self.curve_kinds()
            return self.curve(value, key) if is_curve else self.motion(value, key, unit)
        if isinstance(value, list):
            found = tuple(self.anything(v, key, unit) for v in value)
            return BAD if any(isinstance(v, Bad) for v in found) else found
        return value if isinstance(value, bool) else self.magnitude(value, key, unit)


def splits(text: str, bodies: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every way to read "body.point" with a known body; names may hold dots themselves."""
    dots = [k for k, c in enumerate(text[:500]) if c == "."]
    return [(text[:k], text[k + 1 :]) for k in dots if text[:k] in bodies and text[k + 1 :]]
