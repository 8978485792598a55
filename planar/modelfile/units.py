"""Units at the boundary: "30 deg", "120 rpm", "45 mm" in model files become SI numbers, and nothing inside knows of them.

A number that is followed by a unit is one literal, by itself or inside a formula: "45 mm", "L2 + 5 mm", "sin(30 deg)".
Units are joined by one space or "*" and divided by "/" without blanks, powers are written ^: "N m", "kg m^2", "m/s^2".
Radians have no dimension, so N m and N m/rad are one.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

Dimension = tuple[int, int, int]  # powers of kg, m, s


class Unit(NamedTuple):
    """x of this unit is x * over / under * pi^pi in SI.

    Whole numbers, multiplied before they divide: 45 mm is the float 0.045 and 60 rpm is 2 pi, not a neighbour of it.
    """

    over: float
    under: float
    dimension: Dimension
    pi: int = 0

    def si(self, x: float) -> float:
        return x * self.over / self.under * math.pi**self.pi


UNITS: dict[str, Unit] = {
    "m": Unit(1, 1, (0, 1, 0)),
    "km": Unit(1000, 1, (0, 1, 0)),
    "cm": Unit(1, 100, (0, 1, 0)),
    "mm": Unit(1, 1000, (0, 1, 0)),
    "um": Unit(1, 1_000_000, (0, 1, 0)),
    "inch": Unit(254, 10_000, (0, 1, 0)),
    "ft": Unit(3048, 10_000, (0, 1, 0)),
    "rad": Unit(1, 1, (0, 0, 0)),
    "mrad": Unit(1, 1000, (0, 0, 0)),
    "deg": Unit(1, 180, (0, 0, 0), pi=1),
    "rev": Unit(2, 1, (0, 0, 0), pi=1),
    "kg": Unit(1, 1, (1, 0, 0)),
    "g": Unit(1, 1000, (1, 0, 0)),
    "lb": Unit(45_359_237, 100_000_000, (1, 0, 0)),
    "s": Unit(1, 1, (0, 0, 1)),
    "ms": Unit(1, 1000, (0, 0, 1)),
    "min": Unit(60, 1, (0, 0, 1)),
    "h": Unit(3600, 1, (0, 0, 1)),
    "rpm": Unit(2, 60, (0, 0, -1), pi=1),
    "N": Unit(1, 1, (1, 1, -2)),
    "kN": Unit(1000, 1, (1, 1, -2)),
    "mN": Unit(1, 1000, (1, 1, -2)),
    "lbf": Unit(44_482_216_152_605, 10_000_000_000_000, (1, 1, -2)),
    "J": Unit(1, 1, (1, 2, -2)),
    "W": Unit(1, 1, (1, 2, -3)),
}
"""Hz is left out on purpose: as an angular speed it might mean 1/s or 2 pi/s."""

_NUMBER = re.compile(r"(?<![\w.])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FIRST = re.compile(r"[ \t]*([A-Za-z_]\w*)(\^-?[0-9](?![\w.]))?")
_NEXT = re.compile(r"([ */])([A-Za-z_]\w*)(\^-?[0-9](?![\w.]))?")


class UnitError(ValueError):
    """A unit that is not known, or not clear."""


class Literals(NamedTuple):
    """A formula with its units worked in; `dimension` where the whole text is one number with a unit."""

    text: str
    dimension: Dimension | None
    found: bool


def to_si(text: str, names: Collection[str] = ()) -> Literals:
    """Replace every number with a unit by its SI value; `names` are the parameters, which a unit may be mistaken for.

    >>> to_si("L2 + 5 mm").text
    'L2 + 0.005'
    """
    out, end, units = [], 0, []
    for match in _NUMBER.finditer(text):
        unit, stop = _read_unit(text, match.end(), names)
        if unit is None:
            continue
        before = text[end : match.start()].rstrip()
        if before.endswith(("/", "**")):
            shown = text[match.start() : stop]
            raise UnitError(f"what is divided or raised, a number or '{shown}'? write brackets, ({shown})")
        value = unit.si(float(match.group()))
        if not math.isfinite(value):
            raise UnitError(f"the number '{match.group()[:40]}' is too large")
        out += [text[end : match.start()], repr(value)]
        end = stop
        units.append(unit)
    out.append(text[end:])
    alone = len(units) == 1 and out[0].strip() in ("", "+", "-") and not out[2].strip()
    return Literals("".join(out), units[0].dimension if alone else None, bool(units))


def _read_unit(text: str, place: int, names: Collection[str]) -> tuple[Unit | None, int]:
    """(unit, end) of the unit that starts at `place`, after blanks; (None, place) if there is none."""
    match = _FIRST.match(text, place)
    if match is None:
        return None, place
    name = match.group(1)
    if name not in UNITS:
        raise UnitError(f"unknown unit {name[:40]!r} after a number{_hint(name)}")
    atoms = [("*", name, match.group(2))]
    end = match.end()
    while match := _NEXT.match(text, end):
        separator, name, _ = match.groups()
        if name not in UNITS or text[match.end() : match.end() + 1] == "(":
            break
        if name in names and separator != " ":
            raise UnitError(
                f"{name!r} is a unit and a parameter; write '{separator.strip()}' between blanks for the parameter"
            )
        atoms.append(match.groups())
        end = match.end()
    if text[end : end + 1] == "(":
        raise UnitError(f"{text[place:end].strip()!r} stands between a number and a bracket; write * to multiply")
    if text[end:].lstrip().startswith(("**", "^")):
        raise UnitError(
            f"a power of a unit is written ^ and one digit, as in 'm^2'; got {text[place : end + 6].strip()!r}"
        )
    return _combine(atoms), end


def _combine(atoms: list[tuple[str, str, str | None]]) -> Unit:
    over, under, dimension, pi = 1.0, 1.0, [0, 0, 0], 0
    for separator, name, power in atoms:
        unit, exponent = UNITS[name], int((power or "^1")[1:]) * (-1 if separator == "/" else 1)
        a, b = (unit.over, unit.under) if exponent > 0 else (unit.under, unit.over)
        over, under = over * a ** abs(exponent), under * b ** abs(exponent)
        dimension = [d + exponent * u for d, u in zip(dimension, unit.dimension, strict=True)]
        pi += exponent * unit.pi
    return Unit(over, under, (dimension[0], dimension[1], dimension[2]), pi)


def _hint(name: str) -> str:
    if name.lower() == "hz":
        return "; write the angular speed, 2*pi*50 for 50 turns per second, or '3000 rpm'"
    near = difflib.get_close_matches(name[:20], UNITS, n=1, cutoff=0.5)
    return f", did you mean {near[0]!r}? (write * to multiply)" if near else f"; known: {', '.join(UNITS)}"


def dimension_of(unit: str) -> Dimension:
    """Of a unit as written in code, e.g. "N s/m"."""
    return to_si(f"1 {unit}").dimension or (0, 0, 0)


# --- what is expected where ------------------------------------------------------------------------------------------

#: unit -> (what it measures, an example of it for messages)
MEANING: dict[str, tuple[str, str]] = {
    "m": ("a length", '0.045 or "45 mm"'),
    "rad": ("an angle", '0.5236 or "30 deg"'),
    "kg": ("a mass", '0.5 or "500 g"'),
    "kg m^2": ("an inertia", '0.002 or "2000 kg mm^2"'),
    "s": ("a time", '0.25 or "250 ms"'),
    "1": ("a number without unit", "2.5"),
    "m/s": ("a speed", '0.2 or "200 mm/s"'),
    "rad/s": ("an angular speed", '12.566 or "120 rpm"'),
    "m/s^2": ("an acceleration", "-9.81"),
    "N": ("a force", '20 or "1.5 kN"'),
    "N m": ("a torque", '0.5 or "500 N mm"'),
    "N/m": ("a stiffness", '500 or "0.5 N/mm"'),
    "N s/m": ("a damping", '20 or "20 N s/m"'),
    "N m/rad": ("a torsional stiffness", '2 or "2 N m/rad"'),
    "N m s/rad": ("a torsional damping", '0.1 or "0.1 N m s/rad"'),
}

BODY = {
    "mass": "kg",
    "inertia": "kg m^2",
    "length": "m",
    "r": "m",
    "phi": "rad",
    "v": "m/s",
    "omega": "rad/s",
    "com": "m",
    "origin": "m",
    "points": "m",
}

#: field of an element -> unit.  A class says more, or otherwise, in a dict `units` of its own; unknown: any unit is taken
FIELDS = {
    "length": "m",
    "radius": "m",
    "radius_i": "m",
    "radius_j": "m",
    "angle": "rad",
    "pressure_angle": "rad",
    "ratio": "1",
}
ELEMENTS: dict[str, dict[str, str]] = {
    "AngleDriver": {"motion": "rad"},
    "LengthDriver": {"motion": "m"},
    "SlideDriver": {"motion": "m"},
    "PointDriver": {"x": "m", "y": "m"},
    "PointForce": {"force": "N"},
    "Torque": {"torque": "N m"},
    "Spring": {"stiffness": "N/m", "damping": "N s/m", "force": "N"},
    "TorsionSpring": {"stiffness": "N m/rad", "damping": "N m s/rad", "torque": "N m"},
}

#: field of a motion -> its unit, where f is the unit of the motion itself
MOTIONS: dict[str, dict[str, str]] = {
    "Constant": {"value": "f"},
    "Ramp": {"rate": "f/s", "start": "f"},
    "Harmonic": {"amplitude": "f", "offset": "f", "omega": "rad/s", "phase": "rad"},
    "Rise": {"h": "f", "start": "f", "t0": "s", "t1": "s"},
    "Table": {"t": "s", "y": "f"},
}
_RATES = {"rad": "rad/s", "m": "m/s"}


def element_unit(cls: type, field: str, table: Mapping[str, Any] | None = None) -> str:
    """The unit of a field, "" for any; that of a CoordinateDriver depends on its coordinate, which `table` tells."""
    if cls.__name__ == "CoordinateDriver" and field == "motion" and table:
        return {"x": "m", "y": "m", "phi": "rad"}.get(str(table.get("coordinate")), "")
    own = {**ELEMENTS.get(cls.__name__, {}), **getattr(cls, "units", {})}
    return own.get(field, FIELDS.get(field, ""))


def motion_unit(kind: str, field: str, unit: str) -> str:
    """The unit of a field of a motion that is itself measured in `unit` ("" for any)."""
    word = MOTIONS.get(kind, {}).get(field, "")
    return {"f": unit, "f/s": _RATES.get(unit, "")}.get(word, word)
