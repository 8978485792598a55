"""From a model to a file.  Floats are written with as many digits as it takes to read the same float back."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.curves import Curve
from planar.elements import Element
from planar.errors import ModelError
from planar.model import Model
from planar.modelfile.source import MAX_BYTES, MAX_NAME
from planar.modelfile.values import DRAWN, annotation, groups, splits
from planar.motions import Motion

SCHEMA = 1
WIDTH = 100  # columns, from which on lists and points are broken into lines


def save_model(model: Model, path: Any) -> None:
    """Write the model to a TOML file that `load_model` reads back exactly.

    Python code (callables) cannot be stored; every place that holds some is named in one `ModelError`.
    """
    Path(path).write_text(dumps(model), encoding="utf-8", newline="\n")


def dumps(model: Model) -> str:
    """The text of the file."""
    model.validate()
    writer = _Writer(model)
    text = "\n".join(writer.lines())
    if writer.problems:
        raise ModelError(writer.problems, f"model {model.name!r}: cannot be saved")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise ModelError(
            f"the file would be larger than {MAX_BYTES / 1e6:g} MB", f"model {model.name!r}: cannot be saved"
        )
    return text


class _Writer:
    def __init__(self, model: Model):
        self.model = model
        self.bodies = {b.name: b for b in (model.ground, *model.bodies)}
        self.problems: list[str] = []

    def lines(self) -> Iterator[str]:
        model = self.model
        yield f"schema = {SCHEMA}"
        yield from self._table(("model",), {"name": model.name, "gravity": list(model.gravity)}, "the model")
        if model.ground.points:
            yield from self._table(("ground", "points"), _points(model.ground), "ground")
        for body in model.bodies:
            yield from self._body(body)
        elements = [item for item in model if isinstance(item, Element)]
        for group, word in groups().items():
            for item in (item for item in elements if item.word == word):
                yield from self._table((group, item.name), self._element(item), item.label)
        yield ""

    def _table(self, key: tuple[str, ...], table: Mapping[str, Any], label: str) -> Iterator[str]:
        for name in (*key, *table):
            if len(name) > MAX_NAME:
                self.problems.append(
                    f"{label}: the name {name[:40]!r}... has {len(name)} characters, more than {MAX_NAME}"
                )
        yield ""
        yield f"[{'.'.join(map(toml_key, key))}]"
        for name, value in table.items():
            try:
                yield f"{toml_key(name)} = {toml(value)}"
            except (TypeError, ValueError) as error:
                self.problems.append(f"{label}: {name} {error}")

    def _body(self, body: Body) -> Iterator[str]:
        table: dict[str, Any] = {"mass": _numbers(body.mass), "inertia": _numbers(body.inertia)}
        for word, value, default in (
            ("r", body.r, None),
            ("phi", body.phi, None),
            ("v", body.v, (0.0, 0.0)),
            ("omega", body.omega, 0.0),
        ):
            if repr(value) != repr(default):
                table[word] = _numbers(value)
        points, apart = _points(body), False
        if points:
            apart = len(toml(points)) > WIDTH
            table |= {} if apart else {"points": points}
        yield from self._table(("bodies", body.name), table, f"body {body.name!r}")
        if apart:
            yield from self._table(("bodies", body.name, "points"), points, f"body {body.name!r}")

    def _element(self, element: Element) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        table: dict[str, Any] = {"type": type(element).__name__}
        for f in dataclasses.fields(element):
            value = getattr(element, f.name)
            if f.name == "name" or not f.init or (f.default is not dataclasses.MISSING and _same(value, f.default)):
                continue
            try:
                table[f.name] = self._value(value, annotation(f))
            except (ModelError, TypeError) as error:
                problems = error.problems if isinstance(error, ModelError) else [str(error)]
                self.problems += [f"{element.label}: {f.name}: {problem}" for problem in problems]
        return table

    def _value(self, value: Any, wanted: str) -> Any:
        """Plain data for the value of a field."""
        if value is None and wanted == "float | None":
            return DRAWN
        if isinstance(value, Body):
            return value.name if wanted.startswith("Body") else {"body": value.name}
        if isinstance(value, Point):
            return self._point(value, wanted)
        if isinstance(value, Axis):
            return {"body": value.body.name, "start": list(value.start), "end": list(value.end)}
        if isinstance(value, (Motion, Curve)):
            if not hasattr(value, "to_dict"):
                raise TypeError(f"{value!r:.60} has no to_dict and cannot be stored; for a curve use as_spline()")
            return value.to_dict()
        if isinstance(value, (tuple, list)):
            return [self._value(v, "Any") for v in value]
        if callable(value):
            raise TypeError(f"{value!r:.60} is Python code and cannot be stored; use a formula in t, or a motion")
        return _numbers(value)

    def _point(self, point: Point, wanted: str) -> Any:
        body, name = point.body, point.name
        if name in body.points and repr(body.points[name]) == repr(point.s):
            text = f"{body.name}.{name}"
            readings = [(b, p) for b, p in splits(text, self.bodies) if p in self.bodies[b].points]
            if wanted.startswith("Point") and readings == [(body.name, name)]:
                return text
            return {"body": body.name, "point": name}
        return {"body": body.name, "at": list(point.s), **({"name": name} if name else {})}


def _points(body: Body) -> dict[str, list[float]]:
    return {name: [float(x), float(y)] for name, (x, y) in body.points.items()}


def _same(value: Any, default: Any) -> bool:
    """The same number bit for bit (-0.0 is not 0.0), or the same text."""
    return (
        type(value) is type(default)
        and repr(value) == repr(default)
        and isinstance(value, (float, str, bool, type(None)))
    )


def _numbers(value: Any) -> Any:
    """Without NumPy."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return [_numbers(v) for v in value] if isinstance(value, (tuple, list)) else value


# --- TOML --------------------------------------------------------------------------------------------------------------


def toml_key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_string(name)


def toml_string(text: str) -> str:
    text.encode("utf-8")  # a lone surrogate has no place in a file: a UnicodeEncodeError, which is a ValueError
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml(value: Any, indent: str = "") -> str:
    """A value as TOML; long lists over several lines."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return _number(value)
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(k)} = {toml(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        parts = [toml(v) for v in value]
        inner = f"[{', '.join(parts)}]"
        return inner if len(inner) <= WIDTH else "[\n" + _wrapped(parts) + "]"
    raise TypeError(f"is {value!r:.60}, which a file cannot hold")


def _number(value: Any) -> str:
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if not math.isfinite(value):
        raise ValueError(f"is {value}; a file holds finite numbers")
    return repr(float(value))


def _wrapped(parts: list[str]) -> str:
    lines, line = [], "   "
    for part in parts:
        if len(line) + len(part) + 2 > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {part},"
    return "\n".join([*lines, line]) + "\n"
