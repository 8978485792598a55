"""Formulas written as text, such as "pi/12*(1 - cos(pi/6*t))", from scripts and from model files.

A model file may come from anywhere, so the text is never given to Python's `eval`.  A small operator-precedence
parser turns it into a postfix program: a flat tuple of constants, variables and calls of the functions listed in
`FUNCTIONS`.  Nothing else can be expressed.  Length, nesting and number of operations are limited, numbers are floats
and constant parts are evaluated (and must be finite) at once, so that hostile input ends in a `ModelError`, quickly.

    expression := term (("+" | "-") term)*         lowest precedence first; comparisons only inside where(...)
    term       := factor (("*" | "/") factor)*
    factor     := ("+" | "-") factor | power
    power      := atom ("**" factor)?              right-associative, binds tighter than the sign on its left
    atom       := number | name | name "(" expression ("," expression)* ")" | "(" expression ")"
"""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from planar.errors import ModelError
from planar.jet import Jet, absolute, arctan2, hypot, sign

MAX_LENGTH, MAX_DEPTH, MAX_OPERATIONS = 2000, 50, 500
CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}


def _analytic(ufunc: np.ufunc, continued: Callable) -> Callable:
    """NumPy's ufunc for Jets, the continuation along the real part for numbers (which may be complex)."""
    return lambda *x: ufunc(*x) if any(isinstance(a, Jet) for a in x) else continued(*x)


def _real(x: Any) -> Any:
    return np.real(x.f0 if isinstance(x, Jet) else x)


def _where(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)[()]


def _step(t: Any, t0: Any) -> Any:
    return np.where(_real(t) >= _real(t0), 1.0, 0.0)[()]


def _mod(a: Any, b: Any) -> Any:
    return a - b * np.floor(_real(a) / _real(b))


def _extreme(better: Callable) -> Callable:
    # by the real part; NaN wins, so that it is noticed
    return lambda a, b: _where(better(_real(a), _real(b)) | np.isnan(_real(a)), a, b)


_PLAIN = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt")

#: name -> (function, fewest arguments, most arguments).  Angles in radians; `deg` turns radians into degrees, `rad` the
#: reverse; `step(t, t0)` is 0 before t0 and 1 from t0 on; `where(t < t0, a, b)` chooses a or b.
FUNCTIONS: dict[str, tuple[Callable, int, int]] = {
    **{name: (getattr(np, name), 1, 1) for name in _PLAIN},
    **{f"a{name}": (getattr(np, f"arc{name}"), 1, 1) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "ln": (np.log, 1, 1),
    "atan2": (_analytic(np.arctan2, arctan2), 2, 2),
    "hypot": (_analytic(np.hypot, hypot), 2, 2),
    "abs": (_analytic(np.absolute, absolute), 1, 1),
    "sign": (_analytic(np.sign, sign), 1, 1),
    "min": (_extreme(np.less_equal), 2, 20),
    "max": (_extreme(np.greater_equal), 2, 20),
    "mod": (_mod, 2, 2),
    "step": (_step, 2, 2),
    "where": (_where, 3, 3),
    **dict.fromkeys(("deg", "degrees"), (lambda x: x * (180.0 / np.pi), 1, 1)),
    **dict.fromkeys(("rad", "radians"), (lambda x: x * (np.pi / 180.0), 1, 1)),
}

_OPERATORS: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": np.true_divide,
    "**": np.power,
    "neg": lambda a: -a,
    "<": lambda a, b: _real(a) < _real(b),
    "<=": lambda a, b: _real(a) <= _real(b),
    ">": lambda a, b: _real(a) > _real(b),
    ">=": lambda a, b: _real(a) >= _real(b),
}
_CALLS: dict[str, Callable] = {**{name: f for name, (f, _, _) in FUNCTIONS.items()}, **_OPERATORS}
_COMPARISONS = ("<", "<=", ">", ">=")
_PRECEDENCE = {**dict.fromkeys(_COMPARISONS, 1), "+": 2, "-": 2, "*": 3, "/": 3, "**": 5}
_SIGN = 4  # -x**2 is -(x**2), -x*y is (-x)*y

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<operator>\*\*|<=|>=|[-+*/(),<>])"
)
_HINTS = {
    "^": "use ** for powers",
    "//": "use / to divide",
    "%": "use mod(a, b)",
    "=": "give only the right-hand side; compare with < <= > >=",
    "[": "use round brackets",
    "{": "use round brackets",
    ".": "names have no parts; write sin, not math.sin or np.sin",
    "'": "strings have no meaning here",
    '"': "strings have no meaning here",
}


class Instruction(NamedTuple):
    """One step of a postfix program: push a constant, push variable `value`, or call `value` on the last `count`."""

    kind: str  # "constant" | "variable" | "call"
    value: Any
    count: int = 0


class Expression:
    """A formula in named variables, callable on floats, arrays, complex arrays and Jets.

    `variables` are the names of the arguments, in calling order; `constants` gives names to numbers.  Both hide pi, e
    and tau.

    >>> f = Expression("a*sin(omega*t)", constants={"a": 2.0, "omega": 3.0})
    >>> float(f(0.0))
    0.0
    """

    def __init__(self, text: str, variables: Sequence[str] = ("t",), constants: Mapping[str, float] | None = None):
        if not isinstance(text, str):
            raise ModelError(f"expected text, got {type(text).__name__}: {text!r:.60}", title="expression")
        self.text = text
        self.variables = (variables,) if isinstance(variables, str) else tuple(variables)
        self.constants = {name: _constant(name, value) for name, value in dict(constants or {}).items()}
        for name in (*self.variables, *self.constants):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", str(name)) or name in FUNCTIONS:
                raise ModelError(f"{name!r:.60} cannot name a variable or constant; choose another", title="expression")
        self.program = _Parser(self).program()

    def _key(self) -> tuple:
        return self.text, self.variables, tuple(sorted(self.constants.items()))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Expression) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        extra = f", variables={self.variables!r}" if self.variables != ("t",) else ""
        extra += f", constants={self.constants!r}" if self.constants else ""
        return f"Expression({self.text!r}{extra})"

    def __call__(self, *args: Any) -> Any:
        """The value at the given variables, of their common shape.  A value that is not finite is a ModelError."""
        if len(args) != len(self.variables):
            names = ", ".join(self.variables)
            raise TypeError(f"{self!r} takes ({names}), got {len(args)} argument(s)")
        args = tuple(x if isinstance(x, Jet) else _inexact(x) for x in args)
        with np.errstate(all="ignore"):
            y = run(self.program, args)
        if any(isinstance(x, Jet) for x in args):
            return y
        y = np.array(np.broadcast_to(y, np.broadcast_shapes(*(np.shape(x) for x in args))))
        if not np.all(np.isfinite(y)):
            k = np.flatnonzero(~np.isfinite(y))[0]
            point = zip(self.variables, (np.broadcast_to(x, y.shape).flat[k] for x in args), strict=True)
            place = ", ".join(f"{name} = {x:g}" for name, x in point)
            raise ModelError(f"{self.text!r:.200} is {y.flat[k]} at {place}", title="expression")
        return y[()]


def run(program: Sequence[Instruction], args: Sequence[Any]) -> Any:
    """Evaluate a postfix program on a stack."""
    stack: list[Any] = []
    for kind, value, count in program:
        if kind == "constant":
            stack.append(value)
        elif kind == "variable":
            stack.append(args[value])
        else:
            operands = stack[-count:]
            del stack[-count:]
            stack.append(_CALLS[value](*operands))
    return stack[0]


def _inexact(x: Any) -> Any:
    # integers would overflow silently (t**40) and refuse negative powers
    return (np.asarray(x) if np.iscomplexobj(x) else np.asarray(x, dtype=float))[()]


def _constant(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ModelError(f"constant {name!r} must be a finite number, got {value!r:.60}", title="expression")
    return float(value)


class _Token(NamedTuple):
    kind: str  # "number" | "name" | "operator" | "end"
    text: str
    position: int


class _Parser:
    """Operator-precedence parser; every method returns the postfix program of what it has read, as a list."""

    def __init__(self, expression: Expression):
        self.expression = expression
        self.text = expression.text
        self.depth = self.operations = self.index = 0
        if len(self.text) > MAX_LENGTH:
            text = f"{self.text[:60]!r}... has {len(self.text)} characters, more than {MAX_LENGTH}"
            raise ModelError(text, title="expression")
        self.tokens = self._tokens()

    def fail(self, message: str, token: _Token) -> NoReturn:
        place = "at the end" if token.kind == "end" else f"at position {token.position + 1}, {token.text[:40]!r}"
        shown = self.text if len(self.text) <= 120 else self.text[max(0, token.position - 60) : token.position + 60]
        raise ModelError(f"{shown!r} {place}: {message}", title="expression")

    def _tokens(self) -> list[_Token]:
        tokens, position = [], 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                bad = _Token("operator", self.text[position], position)
                self.fail(_HINTS.get(bad.text, "this character has no meaning here"), bad)
            if match.lastgroup != "space":
                tokens.append(_Token(match.lastgroup, match.group(), position))
            position = match.end()
        return [*tokens, _Token("end", "", len(self.text))]

    @property
    def next(self) -> _Token:
        return self.tokens[self.index]

    def take(self, text: str = "") -> _Token:
        token = self.next
        if text and token.text != text:
            self.fail(f"expected {text!r}", token)
        self.index += 1
        return token

    def program(self) -> tuple[Instruction, ...]:
        program = self.number_valued(0)
        token = self.next
        if token.kind == "end":
            return tuple(program)
        missing = token.kind != "operator" or token.text == "("
        self.fail("missing operator? write * to multiply" if missing else "unexpected", token)

    def number_valued(self, precedence: int) -> list[Instruction]:
        token, program = self.next, self.operation(precedence)
        if program[-1].value in _COMPARISONS:
            self.fail("a comparison is not a number; use where(condition, a, b)", token)
        return program

    def operation(self, precedence: int) -> list[Instruction]:
        """Read operators that bind tighter than `precedence`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested deeper than {MAX_DEPTH}", self.next)
        left = self.operand()
        while self.next.kind == "operator" and _PRECEDENCE.get(self.next.text, 0) > precedence:
            token = self.take()
            if self.next.text == "/" and token.text == "/":
                self.fail(_HINTS["//"], self.next)
            # the exponent may carry a sign and is right-associative: 2**-3**2 is 2**(-(3**2))
            right = self.number_valued(_SIGN if token.text == "**" else _PRECEDENCE[token.text])
            if left[-1].value in _COMPARISONS:
                self.fail("comparisons cannot be chained or calculated with; use where(condition, a, b)", token)
            left = self.call(token.text, [left, right], token)
        self.depth -= 1
        return left

    def operand(self) -> list[Instruction]:
        token = self.take()
        if token.kind == "number":
            value = float(token.text)
            if not math.isfinite(value):
                self.fail("this number is too large", token)
            return [Instruction("constant", value)]
        if token.kind == "name":
            return self.function(token) if token.text in FUNCTIONS else [self.named(token)]
        if token.text in ("+", "-"):
            inner = self.number_valued(_SIGN)
            return inner if token.text == "+" else self.call("neg", [inner], token)
        if token.text == "(":
            inner = self.operation(0)
            self.take(")")
            return inner
        self.fail("a number, a name or '(' is missing here", token)

    def named(self, token: _Token) -> Instruction:
        owner, name = self.expression, token.text
        if name in owner.variables:
            return Instruction("variable", owner.variables.index(name))
        if name in owner.constants or name in CONSTANTS:
            return Instruction("constant", owner.constants.get(name, CONSTANTS.get(name)))
        known = [*owner.variables, *owner.constants, *CONSTANTS, *FUNCTIONS]
        near = difflib.get_close_matches(name[:40], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known variables: {', '.join(owner.variables) or 'none'}"
        self.fail(f"unknown name {name[:40]!r}, {hint}", token)

    def function(self, token: _Token) -> list[Instruction]:
        name, (_, fewest, most) = token.text, FUNCTIONS[token.text]
        if self.next.text != "(":
            self.fail(f"{name} is a function; write {name}(...)", token)
        self.take("(")
        arguments = [self.operation(0)]
        while self.next.text == ",":
            self.take()
            arguments.append(self.operation(0))
        self.take(")")
        if not fewest <= len(arguments) <= most:
            wanted = fewest if fewest == most else f"{fewest} to {most}"
            self.fail(f"{name} takes {wanted} argument(s), got {len(arguments)}", token)
        for k, argument in enumerate(arguments):
            if (argument[-1].value in _COMPARISONS) != (name == "where" and k == 0):
                self.fail("where(condition, a, b) compares in its first argument, and nothing else does", token)
        if name in ("min", "max"):  # of many: fold into pairs
            while len(arguments) > 2:
                arguments[:2] = [self.call(name, arguments[:2], token)]
        return self.call(name, arguments, token)

    def call(self, name: str, arguments: list[list[Instruction]], token: _Token) -> list[Instruction]:
        self.operations += 1
        if self.operations > MAX_OPERATIONS:
            self.fail(f"more than {MAX_OPERATIONS} operations", token)
        program = [step for argument in arguments for step in argument] + [Instruction("call", name, len(arguments))]
        if name in _COMPARISONS or any(len(a) > 1 or a[0].kind != "constant" for a in arguments):
            return program
        with np.errstate(all="ignore"):  # fold constants: 9**9**9 must fail here and not later
            value = float(_CALLS[name](*(np.float64(argument[0].value) for argument in arguments)))
        if not math.isfinite(value):
            self.fail(f"this part is a constant and evaluates to {value}", token)
        return [Instruction("constant", value)]
