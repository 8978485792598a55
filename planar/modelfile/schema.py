"""The JSON Schema of model files, for editors: completion, descriptions, red lines while typing.

Generated from the classes themselves, so a new joint, driver, force or motion is in it without being listed anywhere.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from typing import Any

from planar.curves import CURVES
from planar.elements import KINDS, Element
from planar.modelfile.analyses import OPTIONS, TIMED
from planar.modelfile.reader import SCHEMA, needs_code
from planar.modelfile.units import BODY, MEANING, element_unit, motion_unit
from planar.modelfile.values import DRAWN, annotation, groups, required
from planar.motions import MOTIONS

Schema = dict[str, Any]


def schema() -> Schema:
    """The schema as plain data; `json.dumps` makes the file."""
    tables = {group: {"additionalProperties": {"$ref": f"#/definitions/{word}"}} for group, word in groups().items()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "planar model file",
        "description": "A planar mechanism: bodies, joints, drivers, forces, analyses. SI units and radians.",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema"],
        "properties": {
            "schema": {"const": SCHEMA, "description": "version of the file format"},
            "model": _table(
                {"name": {"type": "string"}, "gravity": _ref("vector", "m/s^2, global axes; [0, 0] unless given")}
            ),
            "parameters": {
                "type": "object",
                "description": "names for numbers, to be used in every formula",
                "additionalProperties": _ref("number"),
            },
            "ground": _table({"points": _ref("points", "fixed points in global coordinates, m")}),
            "bodies": {"type": "object", "additionalProperties": _ref("body")},
            **{group: {"type": "object", **table} for group, table in tables.items()},
            "analyses": {"type": "object", "additionalProperties": _ref("analysis")},
        },
        "definitions": {
            **_values(),
            "body": _body(),
            **{word: {"oneOf": [_element(cls) for cls in _of(word)]} for word in groups().values()},
            "motion": {"oneOf": [_motion(kind) for kind in MOTIONS]},
            "curve": {"oneOf": _curves()},
            "analysis": {"oneOf": [_analysis(kind) for kind in OPTIONS]},
        },
    }


def _of(word: str) -> list[type[Element]]:
    return [cls for cls in KINDS.values() if cls.word == word and not needs_code(cls)]


def _ref(name: str, description: str = "") -> Schema:
    ref = {"$ref": f"#/definitions/{name}"}
    return {"allOf": [ref], "description": description} if description else ref


def _table(properties: Schema, needs: tuple[str, ...] = (), description: str = "") -> Schema:
    out: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    if needs:
        out["required"] = list(needs)
    return {**out, "description": description} if description else out


def _values() -> Schema:
    number = {"type": ["number", "string"], "description": 'a number in SI, "45 mm", or a formula in the parameters'}
    pair = {"type": "array", "items": _ref("number"), "minItems": 2, "maxItems": 2}
    end = {"anyOf": [{"type": "string", "description": "a point of the body"}, _ref("vector")]}
    place = {"body": {"type": "string"}, "at": _ref("vector"), "name": {"type": "string"}}
    return {
        "number": number,
        "vector": {**pair, "description": "[x, y]"},
        "points": {"type": "object", "additionalProperties": _ref("vector")},
        "point": {
            "anyOf": [
                {"type": "string", "pattern": ".\\..", "description": "body.point"},
                _table(place, ("body", "at")),
                _table({"body": {"type": "string"}, "point": {"type": "string"}}, ("body", "point")),
            ]
        },
        "axis": _table({"body": {"type": "string"}, "start": end, "end": end}, ("body", "start", "end")),
        "magnitude": {
            "description": "a number, a formula in the time t, or a motion",
            "anyOf": [_ref("number"), _ref("motion"), {"type": "array", "items": _ref("magnitude")}],
        },
        "times": {
            "description": '"start:stop:samples" in s, a list of times, or one time',
            "anyOf": [_ref("number"), {"type": "array", "items": _ref("number"), "minItems": 1}],
        },
        "names": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    }


def _body() -> Schema:
    words = {
        "mass": "mass",
        "inertia": "about the centre of mass; of a rod mass length^2/12 unless given",
        "length": "makes it a uniform rod along its x axis",
        "r": "drawn place of the centre of mass; left out: found at assembly",
        "phi": "drawn angle; left out: found at assembly",
        "v": "start velocity",
        "omega": "start angular velocity",
        "origin": "drawn place of the drawing's origin, where com is given",
    }
    vectors = ("r", "v", "origin")
    found = {w: _ref("vector" if w in vectors else "number", f"{BODY[w]}: {text}") for w, text in words.items()}
    com = {"anyOf": [{"type": "string"}, _ref("vector")], "description": "centre of mass from the drawing's origin"}
    ends = {end: {"type": "string", "description": "name of an end of the rod"} for end in ("start", "end")}
    points = _ref("points", "m, from the centre of mass (where com is given: from the drawing's origin)")
    return _table({**found, **ends, "com": com, "points": points}, description="a rigid body")


# --- classes -----------------------------------------------------------------------------------------------------------

_BY_ANNOTATION: dict[str, Schema] = {
    "float": _ref("number"),
    "tuple[float, ...]": {"type": "array", "items": _ref("number")},
    "Point": _ref("point"),
    "Axis": _ref("axis"),
    "Body": {"type": "string", "description": "name of a body, or ground"},
    "Motion | Any": _ref("magnitude"),
    "Motion": _ref("magnitude"),
    "Curve": _ref("curve"),
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
}


def _fields(cls: type, unit: Any) -> tuple[Schema, tuple[str, ...]]:
    """(properties, required) of a dataclass."""
    properties: Schema = {}
    fields = [f for f in dataclasses.fields(cls) if f.init and f.name != "name"]
    for f in fields:
        wanted = annotation(f)
        plain = dict(_BY_ANNOTATION.get(wanted.removesuffix(" | None"), {}))
        notes = [MEANING[unit(f.name)][0] + f" in {unit(f.name)}"] if unit(f.name) else []
        if wanted == "float | None":
            notes.append(f'"{DRAWN}": as drawn')
        if isinstance(f.default, (bool, str)) or (isinstance(f.default, float) and math.isfinite(f.default)):
            plain["default"] = f.default
        if notes:
            inner = {k: v for k, v in plain.items() if k != "default"}
            plain = {"allOf": [inner], **({"default": plain["default"]} if "default" in plain else {})}
            plain["description"] = "; ".join(notes)
        properties[f.name] = plain
    return properties, tuple(f.name for f in fields if required(f))


def _kind(name: str, properties: Schema, needs: tuple[str, ...], text: str | None) -> Schema:
    title = {"title": name}
    return {**title, **_table({"type": {"const": name}, **properties}, ("type", *needs), _first(text))}


def _first(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.cleandoc(text or "").split("\n\n")[0]).split())


def _element(cls: type[Element]) -> Schema:
    properties, needs = _fields(cls, lambda name: element_unit(cls, name))
    return _kind(cls.__name__, properties, needs, cls.__doc__)


def _motion(kind: str) -> Schema:
    cls = MOTIONS[kind]
    properties, needs = _fields(cls, lambda name: motion_unit(kind, name, ""))
    return _kind(kind, properties, needs, cls.__doc__)


def _curves() -> list[Schema]:
    number, closed = _ref("number"), {"type": "boolean"}
    formulas = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    span = {"u0": number, "u1": number, "closed": closed}
    own = {
        "circle": ({"radius": number, "center": _ref("vector")}, ("radius",), "a circle, radius in m"),
        "polar": ({"radius": {"type": "string"}, **span}, ("radius",), "r(u) (cos u, sin u), a formula in the angle u"),
        "SplineCurve": (
            {"points": {"type": "array", "items": _ref("vector"), "minItems": 4}, "closed": closed},
            ("points",),
            "a smooth curve through points in m",
        ),
        "FunctionCurve": (
            {"f": formulas, **span, "constants": {"type": "object", "additionalProperties": number}},
            ("f", "u0", "u1"),
            "x and y in m as formulas in u",
        ),
    }
    found = [_kind(name, *own[name]) for name in own]
    others = [name for name in CURVES if name not in own]
    return found + [{"title": n, "properties": {"type": {"const": n}}, "required": ["type"]} for n in others]


def _analysis(kind: str) -> Schema:
    readers = {
        "names": _ref("names"),
        "word": {"type": "string"},
        "number": _ref("number"),
        "numbers": {"type": "array", "items": _ref("number")},
        "integer": {"type": "integer"},
        "poses": {"type": "object"},
    }
    options = {name: readers[how] for name, how in OPTIONS[kind].items()}
    without = _ref("names", "what is left out of the model, such as a motor")
    properties = {"t": _ref("times"), "without": without, **options}
    return _kind(kind, properties, ("t",) if kind in TIMED else (), None)
