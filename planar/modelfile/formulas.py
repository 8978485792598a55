"""Numbers and formulas of a model file: "L2/2", "30 deg", "a*sin(omega*t)", with the names of [parameters]."""

from __future__ import annotations

import difflib
import graphlib
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from planar.errors import ModelError
from planar.expression import CONSTANTS, FUNCTIONS, MAX_LENGTH, Expression
from planar.modelfile.problems import MOST, Problems, near
from planar.modelfile.source import Key
from planar.modelfile.units import MEANING, UnitError, dimension_of, to_si

MAX_PARAMETERS = 1000
MAX_FORMULAS = 1_000_000  # characters of formulas in one file: about ten seconds of parsing

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_RESERVED = ("t", "u")  # time, and the parameter of a curve


class Bad:
    """In place of a value that is wrong; the problem is noted already."""

    def __bool__(self) -> bool:
        return False


BAD = Bad()


class Formula(NamedTuple):
    """A formula in SI, the parameters it uses, and itself ready to be called."""

    text: str
    constants: dict[str, float]
    expression: Expression


class Formulas:
    """Reads numbers and formulas; `parameters` are the values of [parameters]."""

    def __init__(self, problems: Problems):
        self.problems = problems
        self.parameters: dict[str, float] = {}
        self._failed: set[str] = set()  # parameters without a value: said once, not where they are used
        self._cost = 0

    # --- simple values -----------------------------------------------------------------------------------------------

    def word(self, value: Any, key: Key, unit: str = "") -> str | Bad:
        return value if isinstance(value, str) else self.wrong(key, value, "a text in quotes")

    def truth(self, value: Any, key: Key, unit: str = "") -> bool | Bad:
        return value if isinstance(value, bool) else self.wrong(key, value, "true or false")

    def integer(self, value: Any, key: Key, unit: str = "") -> int | Bad:
        plain = isinstance(value, int) and not isinstance(value, bool)
        return value if plain else self.wrong(key, value, "a whole number")

    def table(self, value: Any, key: Key, what: str = "a table") -> dict[str, Any]:
        """The table, or an empty one and a problem."""
        if not isinstance(value, dict):
            self.wrong(key, value, what)
            return {}
        return value

    def wrong(self, key: Key, value: Any, expected: str) -> Any:
        self.problems.add(key, f"expected {expected}", value)
        return BAD

    def kind(self, table: Mapping[str, Any], kinds: Mapping[str, Any], key: Key, what: str) -> str | Bad:
        """The entry `type` of a table."""
        name = table.get("type")
        if not isinstance(name, str):
            self.problems.add(key, f'expected type = "...", the kind of {what}; known: {", ".join(kinds)}')
            return BAD
        if name not in kinds:
            self.problems.add((*key, "type"), f"unknown kind of {what}, {near(name, kinds)}", name)
            return BAD
        return name

    def known_keys(
        self, table: Mapping[str, Any], known: Collection[str], key: Key, what: str, needs: Collection[str] = ()
    ) -> bool:
        """Whether a table has no unknown and all necessary keys."""
        unknown = [name for name in table if name not in known][:MOST]
        hints = [near(name, known) for name in unknown]
        for name, hint in zip(unknown, hints, strict=True):
            self.problems.add((*key, name), f"{what} has no {name[:40]!r}; {hint}", table[name])
        missing = [name for name in needs if name not in table]
        unsaid = [name for name in missing if f"did you mean {name!r}?" not in hints]
        if unsaid:
            self.problems.add(key, f"{what} needs {', '.join(unsaid)}")
        return not unknown and not missing

    def make(self, cls: Callable, arguments: dict[str, Any], key: Key) -> Any:
        try:
            return cls(**arguments)
        except ModelError as error:
            for problem in error.problems:
                self.problems.add(key, problem)
        except (TypeError, ValueError, OverflowError) as error:
            self.problems.add(key, f"{getattr(cls, '__name__', cls)}: {error}")
        return BAD

    # --- numbers -----------------------------------------------------------------------------------------------------

    def number(self, value: Any, key: Key, unit: str = "") -> float | Bad:
        """A finite float from a number, a number with a unit or a formula in the parameters."""
        if isinstance(value, str):
            formula = self.formula(value, key, unit)
            return BAD if isinstance(formula, Bad) else self._value(formula, key, value)
        if self.plain(value, key, unit) is BAD:
            return BAD
        return float(value)

    def plain(self, value: Any, key: Key, unit: str = "") -> float | int | Bad:
        """A finite number as it stands, an integer too."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                if math.isfinite(value):
                    return value
            except OverflowError:  # an integer of 400 digits
                pass
        self.problems.add(key, f"expected {_expected(unit)}", value)
        return BAD

    def _value(self, formula: Formula, key: Key, value: Any) -> float | Bad:
        try:
            return float(formula.expression())
        except ModelError as error:
            self.problems.add(key, "; ".join(error.problems), value)
            return BAD

    def numbers(self, value: Any, key: Key, unit: str = "") -> list[float] | Bad:
        if not isinstance(value, list):
            self.problems.add(key, f"expected a list, each {_expected(unit)}", value)
            return BAD
        found = [self.number(v, key, unit) for v in value]
        return BAD if any(isinstance(v, Bad) for v in found) else found  # type: ignore[return-value]

    def vector(self, value: Any, key: Key, unit: str = "") -> tuple[float, float] | Bad:
        if not isinstance(value, list) or len(value) != 2:
            self.problems.add(key, f"expected a pair [x, y], each {_expected(unit)}", value)
            return BAD
        found = self.numbers(value, key, unit)
        return BAD if isinstance(found, Bad) else (found[0], found[1])

    # --- formulas ----------------------------------------------------------------------------------------------------

    def formula(
        self,
        text: str,
        key: Key,
        unit: str = "",
        variables: tuple[str, ...] = (),
        more: Mapping[str, float] | None = None,
    ) -> Formula | Bad:
        """A formula in `variables`, the parameters and the constants `more`."""
        self._cost += len(text)
        if self._cost > MAX_FORMULAS:
            self.problems.add(key, f"the formulas of this file are longer than {MAX_FORMULAS} characters together")
            self.problems.enforce()
        try:
            if len(text) > MAX_LENGTH:
                raise ModelError(f"has {len(text)} characters, at most {MAX_LENGTH} are read")
            known = {**self.parameters, **(more or {})}
            literals = to_si(text, known)
            _check_dimension(literals.dimension, unit)
            names = set(_NAME.findall(literals.text)) - set(variables)
            if names & self._failed:
                return BAD
            _check_names(names - known.keys(), [*known, *variables], variables)
            constants = {name: known[name] for name in sorted(names & known.keys())}
            return Formula(literals.text, constants, Expression(literals.text, variables, constants))
        except UnitError as error:
            self.problems.add(key, str(error), text)
        except ModelError as error:
            self.problems.add(key, "; ".join(error.problems), text)
        return BAD

    def constants(self, value: Any, key: Key) -> dict[str, float] | Bad:
        """{ a = 2.0 }, or pairs [["a", 2.0]] as `to_dict` writes them."""
        if isinstance(value, list) and all(isinstance(v, list) and len(v) == 2 for v in value):
            value = {str(name): number for name, number in value}
        if not isinstance(value, dict):
            return self.wrong(key, value, "a table of names and numbers")
        read = {True: self.number, False: self.plain}  # an integer stays one
        found = {name: read[isinstance(v, str)](v, (*key, name)) for name, v in value.items()}
        return BAD if any(isinstance(v, Bad) for v in found.values()) else found  # type: ignore[return-value]

    # --- parameters --------------------------------------------------------------------------------------------------

    def read_parameters(self, table: Mapping[str, Any]) -> None:
        """Values of [parameters], which may use each other in any order."""
        if len(table) > MAX_PARAMETERS:
            self.problems.add(("parameters",), f"has {len(table)} entries, at most {MAX_PARAMETERS} are read")
            self.problems.enforce()
        sound = {name: value for name, value in table.items() if self._good_name(name)}
        self._failed = set(table)
        uses = {n: set(_NAME.findall(v)) & sound.keys() if isinstance(v, str) else set() for n, v in sound.items()}
        try:
            order = list(graphlib.TopologicalSorter(uses).static_order())
        except graphlib.CycleError as error:
            circle = " -> ".join(error.args[1][:10])
            self.problems.add(("parameters", error.args[1][0]), f"is defined by itself: {circle}")
            return
        for name in order:
            value = self.number(sound[name], ("parameters", name))
            if not isinstance(value, Bad):
                self.parameters[name] = value
                self._failed.discard(name)

    def _good_name(self, name: str) -> bool:
        if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name) and name not in FUNCTIONS and name not in _RESERVED:
            return True
        reason = "is the time" if name == "t" else "is the parameter of curves" if name == "u" else "is a function"
        if name not in FUNCTIONS and name not in _RESERVED:
            reason = "is no name for formulas: letters, digits and _ only, no digit first"
        self.problems.add(("parameters", name), f"{name[:40]!r} {reason}; choose another name")
        return False


def _check_dimension(found: tuple[int, int, int] | None, unit: str) -> None:
    if found is None or not unit:
        return
    if found != (dimension_of(unit) if unit != "1" else (0, 0, 0)):
        raise UnitError(f"is not {MEANING[unit][0]}; expected {_expected(unit)}")


def _check_names(unknown: set[str], known: list[str], variables: tuple[str, ...]) -> None:
    for name in sorted(unknown):
        if name in CONSTANTS or name in FUNCTIONS:
            continue
        if name == "t" and not variables:
            raise ModelError("the time t has no meaning here: this is a constant of the model")
        close = difflib.get_close_matches(name[:40], [*FUNCTIONS, *CONSTANTS], n=1)
        hint = near(name, known)
        if close and not hint.startswith("did"):
            hint = f"did you mean {close[0]!r}?"
        raise ModelError(f"unknown name {name[:40]!r}, {hint.replace('known:', 'known parameters:')}")


def _expected(unit: str) -> str:
    what, example = MEANING.get(unit, ("a number", '0.3, "30 deg" or "L2/2"'))
    return f"{what}{f' in {unit}' if unit not in ('', '1') else ''}, such as {example}"
