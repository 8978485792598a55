"""Changes to the entries of a file before it is read: {"L2": 0.35, "crank.mass": "500 g", "motor.motion.rate": 12}."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from planar.modelfile.problems import Problems, near
from planar.modelfile.source import Key

_NOT_NAMES = ("model", "parameters", "ground")  # tables whose keys are no names of items


def override(data: dict[str, Any], changes: Mapping[str, Any], problems: Problems) -> None:
    """Change `data` in place.  A path begins with a parameter, the name of an item, or a table of the file."""
    for path, value in changes.items():
        places = [key for key in _readings(data, path) if _table(data, key) is not None]
        if not places:
            name = path.split(".")[0]
            problems.add((), f"set {path[:80]}: nothing is named {name[:60]!r}, {near(name, _known(data))}")
            continue
        *_, last = key = places[0]
        _table(data, key)[last] = _plain(value)  # type: ignore[index]


def parse_change(text: str) -> tuple[str, Any]:
    """("crank.mass", 2) from "crank.mass=2"; the value as in a file, texts with or without quotes.

    >>> parse_change("crank.phi=30 deg")
    ('crank.phi', '30 deg')
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip() or not value.strip():
        raise ValueError(f"{text!r} is no change; write NAME=VALUE, such as L2=0.3 or crank.mass=2")
    try:
        data = tomllib.loads(f"x = {value}")
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        data = {}
    return path.strip(), data["x"] if set(data) == {"x"} else value.strip()


def _readings(data: dict[str, Any], path: str) -> Iterator[Key]:
    """The keys that a path may mean, the likeliest first."""
    parts = tuple(path.split("."))
    parameters = data.get("parameters")
    if isinstance(parameters, dict) and path in parameters:
        yield "parameters", path
    if path in ("gravity", "name"):
        data.setdefault("model", {})
        yield "model", path
    for name, group in _names(data).items():
        if path.startswith(f"{name}.") and len(path) > len(name) + 1:
            yield group, name, *path[len(name) + 1 :].split(".")
    if parts[0] == "ground":
        data.setdefault("ground", {}).setdefault("points", {})
    if len(parts) > 1 and isinstance(data.get(parts[0]), dict):
        yield parts


def _names(data: dict[str, Any]) -> dict[str, str]:
    tables = {g: t for g, t in data.items() if g not in _NOT_NAMES and isinstance(t, dict)}
    return {name: group for group, table in tables.items() for name in table}


def _known(data: dict[str, Any]) -> list[str]:
    parameters = data.get("parameters")
    return [*(parameters if isinstance(parameters, dict) else ()), *_names(data), "gravity"]


def _table(data: dict[str, Any], key: Key) -> dict[str, Any] | None:
    """The table that holds the last part of the key; None if there is no such table."""
    table: Any = data
    for part in key[:-1]:
        table = table.get(part) if isinstance(table, dict) else None
    return table if isinstance(table, dict) and (len(key) > 1) else None


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value
