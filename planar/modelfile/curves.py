"""Curves of a model file: { type = "circle", radius = "40 mm" }, "polar", "SplineCurve", "FunctionCurve"."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from planar.curves import CURVES, Curve, FunctionCurve, circle
from planar.modelfile.formulas import BAD, Bad, Formulas
from planar.modelfile.problems import Problems
from planar.modelfile.source import Key

MAX_CURVES = 200  # each is sampled for crossings, some 10 ms


class CurveValues(Formulas):
    """Reads curves.  Those of the user's own (subclasses of `Curve`) are read by the signature of their constructor."""

    def __init__(self, problems: Problems):
        super().__init__(problems)
        self._curves = 0

    def curve_kinds(self) -> dict[str, Callable]:
        return {"circle": self._circle, "polar": self._polar, **CURVES, "FunctionCurve": self._function}

    def curve(self, value: Any, key: Key, unit: str = "") -> Curve | Bad:
        """A curve from its table."""
        if not isinstance(value, dict):
            return self.wrong(key, value, 'a curve, such as { type = "circle", radius = "40 mm" }')
        self._curves += 1
        if self._curves > MAX_CURVES:
            self.problems.add(
                key, f"there are more than {MAX_CURVES} curves in this file; build such a model in Python"
            )
            self.problems.enforce()
        kinds = self.curve_kinds()
        kind = self.kind(value, kinds, key, "curve")
        if isinstance(kind, Bad):
            return BAD
        found = self._arguments(kind, kinds[kind], value, key)
        if isinstance(found, Bad):
            return BAD
        return kinds[kind](key, **found) if kind in _OWN else self.make(kinds[kind], found, key)

    def _arguments(self, kind: str, maker: Callable, table: dict[str, Any], key: Key) -> dict[str, Any] | Bad:
        """The arguments of the constructor; every key that is unknown, missing or wrong is a problem."""
        wanted = {n: p for n, p in inspect.signature(maker).parameters.items() if n != "key"}
        fields = {name: value for name, value in table.items() if name != "type"}
        needs = [name for name, p in wanted.items() if p.default is inspect.Parameter.empty]
        sound = self.known_keys(fields, wanted, key, kind, needs)
        found = {name: self._field(name, value, (*key, name)) for name, value in fields.items() if name in wanted}
        return found if sound and not any(isinstance(v, Bad) for v in found.values()) else BAD

    def _field(self, name: str, value: Any, key: Key) -> Any:
        match name:
            case "points":
                return self._points(value, key)
            case "center":
                return self.vector(value, key, "m")
            case "closed":
                return self.truth(value, key)
            case "u0" | "u1":
                return self.number(value, key)
            case "constants":
                return self.constants(value, key)
            case _:  # formulas of curves of our own, plain data of others
                return value

    def _points(self, value: Any, key: Key) -> Any:
        if not isinstance(value, list):
            return self.wrong(key, value, "a list of points [[x, y], ...] in m")
        found = [self.vector(v, key, "m") for v in value]
        return BAD if any(isinstance(v, Bad) for v in found) else found

    def _circle(self, key: Key, radius: Any, center: tuple[float, float] = (0.0, 0.0)) -> Curve | Bad:
        r = self.number(radius, (*key, "radius"), "m")
        return BAD if isinstance(r, Bad) else self.make(circle, {"radius": r, "center": center}, key)

    def _polar(
        self, key: Key, radius: Any, u0: float = 0.0, u1: float = 2 * math.pi, closed: bool = True
    ) -> Curve | Bad:
        """r(u) (cos u, sin u); the radius is a formula in the angle u."""
        text = self.word(radius, (*key, "radius"))
        if isinstance(text, Bad):
            return BAD
        return self._function(key, [f"({text})*cos(u)", f"({text})*sin(u)"], u0, u1, closed)

    def _function(
        self, key: Key, f: Any, u0: float, u1: float, closed: bool = False, constants: dict[str, float] | None = None
    ) -> Curve | Bad:
        """x and y as formulas in u, with the parameters they use."""
        if not isinstance(f, list) or len(f) != 2 or not all(isinstance(text, str) for text in f):
            return self.wrong((*key, "f"), f, 'two formulas in u, such as ["0.1*cos(u)", "0.05*sin(u)"]')
        formulas = [self.formula(text, (*key, "f"), "", ("u",), constants) for text in f]
        x, y = formulas
        if isinstance(x, Bad) or isinstance(y, Bad):
            return BAD
        known = {**(constants or {}), **x.constants, **y.constants}
        arguments = {"f": (x.text, y.text), "u0": u0, "u1": u1, "closed": closed, "constants": known}
        return self.make(FunctionCurve, arguments, key)


_OWN = ("circle", "polar", "FunctionCurve")
