"""Time functions for drivers and loads, with exact f, f' and f''.

A driver equation Phi = g(q) - f(t) needs f' for the velocities (nu = f') and f'' for the accelerations (gamma = ... +
f'').  Finite differences would put their noise straight into the reported torques, so every motion gives closed forms,
and strings and callables are differentiated exactly by `planar.jet`.

Every built-in motion is a frozen dataclass of plain numbers: `to_dict` and `from_dict` are all a model file needs.
Angles are in radians, lengths in metres, time in seconds; a motion does not know which of them it describes.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from planar.curves import evaluate_pieces, horner, spline_pieces
from planar.errors import ModelError
from planar.expression import Expression
from planar.jet import REMEDY, Jet, derivatives

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]

PROBES = (0.0, 0.5, 1.0)  # s

#: every motion that a model file can name; a new subclass of Motion adds itself
MOTIONS: dict[str, type[Motion]] = {}


class Motion:
    """A function of time with two exact derivatives.

    A subclass is a frozen dataclass that implements `_evaluate(t) -> (f, f', f'')`, elementwise, for float and complex
    arrays t; results may be scalars where they do not depend on t.  Fields annotated `float` are checked here.
    """

    MOTIONS: ClassVar[dict[str, type[Motion]]] = MOTIONS
    __array_ufunc__ = None  # np.float64(2) * motion is left to __rmul__

    def __init_subclass__(cls, *, register: bool = True, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if register:
            MOTIONS[cls.__name__] = cls

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.type == "float":
                self._set(field.name, _number(getattr(self, field.name), f"{field.name} of {type(self).__name__}"))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the dataclasses are frozen

    def evaluate(self, t: Any) -> Triple:
        """f, f' and f'' at the times `t` [s], each of the shape of `t`; a value that is not finite is a ModelError."""
        t = np.asarray(t)
        t = t if np.iscomplexobj(t) else t.astype(float)
        with np.errstate(all="ignore"):
            parts = tuple(np.array(np.broadcast_to(f, t.shape), dtype=t.dtype) for f in self._evaluate(t))
        for f, name in zip(parts, ("value", "first derivative", "second derivative"), strict=True):
            bad = ~np.isfinite(f)
            if bad.any():
                _fail(f"the {name} of {self!r} is {f[bad][0]} at t = {np.real(t[bad][0]):g} s; it must be finite")
        return tuple(f[()] for f in parts)

    def __call__(self, t: Any) -> Any:
        """f(t); on a Jet the chain rule, so that motions can be used inside other functions."""
        if isinstance(t, Jet):
            f, f1, f2 = self.evaluate(t.f0)
            return Jet(f, f1 * t.f1, f2 * t.f1**2 + f1 * t.f2)
        return self.evaluate(t)[0]

    def _evaluate(self, t: np.ndarray) -> tuple[Any, Any, Any]:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Plain data: {"type": "Ramp", "rate": 6.28, "start": 0.0}."""
        return {"type": type(self).__name__, **{f.name: _plain(getattr(self, f.name)) for f in fields(self)}}

    def __add__(self, other: Any) -> Sum:
        return Sum(_terms(self) + _terms(as_motion(other)))

    def __mul__(self, factor: Any) -> Sum:
        return NotImplemented if isinstance(factor, Motion) else Sum(tuple((k * factor, m) for k, m in _terms(self)))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Sum:
        return self * -1.0

    def __sub__(self, other: Any) -> Sum:
        return self + -as_motion(other)

    def __rsub__(self, other: Any) -> Sum:
        return -self + other


@dataclass(frozen=True)
class Constant(Motion):
    """f = value."""

    value: float = 0.0

    def _evaluate(self, t):
        return self.value, 0.0, 0.0


@dataclass(frozen=True)
class Ramp(Motion):
    """f = start + rate t: constant speed `rate` [rad/s or m/s] from `start` [rad or m]."""

    rate: float
    start: float = 0.0

    def _evaluate(self, t):
        return self.start + self.rate * t, self.rate, 0.0


@dataclass(frozen=True)
class Harmonic(Motion):
    """f = offset + amplitude sin(omega t + phase); omega in rad/s, phase in rad."""

    amplitude: float
    omega: float
    phase: float = 0.0
    offset: float = 0.0

    def _evaluate(self, t):
        a, w = self.amplitude, self.omega
        s, c = np.sin(w * t + self.phase), np.cos(w * t + self.phase)
        return self.offset + a * s, a * w * c, -a * w * w * s


@dataclass(frozen=True)
class Polynomial(Motion):
    """f = c[0] + c[1] t + c[2] t^2 + ..."""

    c: tuple[float, ...]

    def __post_init__(self) -> None:
        self._set("c", _numbers(self.c, "coefficients of Polynomial"))
        if not self.c:
            _fail("Polynomial has no coefficients; give at least c = [0]")

    def _evaluate(self, t):
        return horner(np.array(self.c), t)


@dataclass(frozen=True)
class Rise(Motion):
    """Rise by h from `start` between t0 and t1 [s], dwelling before and after; h < 0 is a return.

    With u = (t - t0)/(t1 - t0): f = start + h s(u).  Laws and their peak speed h/T and peak acceleration h/T^2:

    | law | v | a | |
    |--|--|--|--|
    | cycloidal | 2.00 | 6.28 | smooth acceleration (default) |
    | 345 | 1.88 | 5.77 | polynomial, smooth acceleration |
    | 4567 | 2.19 | 7.51 | polynomial, smooth jerk |
    | modified_sine | 1.76 | 5.53 | smooth acceleration, low speed and torque |
    | modified_trapezoid | 2.00 | 4.89 | smooth acceleration, lowest peak of it |
    | harmonic | 1.57 | 4.93 | acceleration **jumps** at t0 and t1 (reported there: the value inside) |
    """

    h: float
    t0: float
    t1: float
    law: str = "cycloidal"
    start: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t1 <= self.t0:
            _fail(f"Rise must end after it starts, but t0 = {self.t0:g} s and t1 = {self.t1:g} s; exchange them")
        _choose(self.law, LAWS, "law of Rise")

    def _evaluate(self, t):
        T = self.t1 - self.t0
        u = (t - self.t0) / T
        moving = (np.real(u) >= 0) & (np.real(u) <= 1)
        s, s1, s2 = LAWS[self.law](np.where(moving, u, np.real(u) > 1))  # dwell: u = 0 or 1, a constant
        k, k1, k2 = self.h, np.where(moving, self.h / T, 0.0), np.where(moving, self.h / T**2, 0.0)
        return self.start + k * s, k1 * s1, k2 * s2


@dataclass(frozen=True, repr=False)
class Table(Motion):
    """Smooth interpolation of measured or tabulated values y [rad or m] at the times t [s].

    An interpolating spline through all points: quintic (four continuous derivatives, so that f'' is itself smooth)
    from six rows on, else cubic (f'' continuous); `degree` 3 or 5 chooses.  Outside the table there is no motion: a
    ModelError, unless `periodic`, where the last row repeats the first.  A turning crank is a Ramp plus a periodic
    Table.
    """

    t: tuple[float, ...]
    y: tuple[float, ...]
    periodic: bool = False
    degree: int | None = None

    def __post_init__(self) -> None:
        self._set("t", _numbers(self.t, "times of Table"))
        self._set("y", _numbers(self.y, "values of Table"))
        t, y, n = self.t, self.y, len(self.t)
        self._set("degree", (5 if n >= 6 else 3) if self.degree is None else self.degree)
        problems = []
        if n != len(y):
            problems.append(f"Table has {n} times but {len(y)} values")
        if self.degree not in (3, 5):
            problems.append(f"degree of Table must be 3 or 5, got {self.degree!r}")
        elif n <= self.degree:
            problems.append(f"Table of degree {self.degree} needs at least {self.degree + 1} rows, got {n}")
        k = next((k for k in range(1, n) if t[k] <= t[k - 1]), 0)
        if k:
            problems.append(f"times of Table must increase, but t[{k - 1}] = {t[k - 1]:g} s and t[{k}] = {t[k]:g} s")
        # the seam may carry the round-off of a table written with about nine digits
        if self.periodic and y and abs(y[-1] - y[0]) > 1e-9 * (max(y) - min(y)):
            problems.append(f"a periodic Table must end as it begins, but y[0] = {y[0]:g} and y[-1] = {y[-1]:g}")
        if problems:
            _fail(problems)

    def __repr__(self) -> str:
        extra = ", periodic" if self.periodic else ""
        return f"Table({len(self.t)} rows, t = {self.t[0]:g} .. {self.t[-1]:g} s{extra})"

    @cached_property
    def pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """(breaks (m+1,), coeffs (m, degree+1)): f = sum_j coeffs[i, j] (t - breaks[i])^j on piece i."""
        return spline_pieces(self.t, self.y, self.degree, self.periodic)

    def _evaluate(self, t):
        x, first, last = np.real(t), self.t[0], self.t[-1]
        slack = 1e-9 * (last - first)  # the round-off of accumulated time steps
        outside = (x < first - slack) | (x > last + slack)
        if self.periodic:
            t = t - (last - first) * np.floor((x - first) / (last - first))
        elif outside.any():
            place = f"t = {x[outside][0]:g} s lies outside {self!r}"
            _fail(f"{place}; give more rows, or periodic=True")
        return evaluate_pieces(*self.pieces, t)


@dataclass(frozen=True)
class StringMotion(Motion):
    """A formula in t such as "pi/12*(1 - cos(pi/6*t))"; `constants` gives names to numbers, as a dict or as pairs."""

    text: str
    constants: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        expression = Expression(self.text, ("t",), dict(self.constants))  # fails here, not at the first time step
        self._set("constants", tuple(sorted(expression.constants.items())))
        self._set("expression", expression)

    def _evaluate(self, t):
        return derivatives(self.expression, t)


@dataclass(frozen=True)
class Function(Motion, register=False):
    """Any callable of t.  What is not given of its derivatives `df` and `ddf` is found exactly by `planar.jet`,

    for which f (or df) must be written with NumPy functions.  With both derivatives given, anything goes.
    """

    f: Callable
    df: Callable | None = None
    ddf: Callable | None = None

    def __post_init__(self) -> None:
        for name in ("f", "df", "ddf"):
            g = getattr(self, name)
            if not (callable(g) or (g is None and name != "f")):
                _fail(f"{name} of Function must be callable, got {g!r:.60}")
        if self.ddf is not None and self.df is None:
            _fail("Function has ddf but no df; give both or neither")

    def _evaluate(self, t):
        try:
            if self.df is None:
                return derivatives(self.f, t)
            if self.ddf is None:
                return _sample(self.f, t), *derivatives(self.df, t)[:2]
            return tuple(_sample(g, t) for g in (self.f, self.df, self.ddf))
        except (TypeError, ValueError, ArithmeticError) as error:
            if isinstance(error, ModelError):
                raise
            text = str(error) if REMEDY in str(error) else f"{error}; {REMEDY}"
            _fail(f"{self!r} cannot be evaluated: {text}", error)

    def to_dict(self) -> dict[str, Any]:
        _fail(f"{self!r} is Python code and cannot be stored; write it as a string in t")


@dataclass(frozen=True)
class Sum(Motion):
    """f = sum of factor * motion over `terms`; what a + b, 2*a and -a make."""

    terms: tuple[tuple[float, Motion], ...]

    def __post_init__(self) -> None:
        self._set("terms", tuple((_number(k, "factor of a motion"), as_motion(m)) for k, m in self.terms))

    def _evaluate(self, t):
        parts = [(k, m.evaluate(t)) for k, m in self.terms]
        return tuple(sum((k * f[j] for k, f in parts), start=0.0) for j in range(3))


def as_motion(x: Any, what: str = "motion", constants: Mapping[str, float] | None = None) -> Motion:
    """A Motion from a Motion, a number, a string in t (with named `constants`), a callable of t or `to_dict` data.

    `what` names the thing in error messages, e.g. "motion of driver 'motor'".
    """
    try:
        if isinstance(x, Motion):
            return x
        if isinstance(x, type):
            raise ModelError(f"{x.__name__} is a class; give an instance, {x.__name__}(...)")
        if isinstance(x, str):
            return StringMotion(x, tuple(dict(constants or {}).items()))
        if isinstance(x, Mapping):
            return from_dict(x)
        if callable(x):
            return Function(x)
        if isinstance(x, numbers.Real) and not isinstance(x, bool):
            return Constant(x)
        raise ModelError(f"expected a number, a string in t, a callable or a motion, got {x!r:.60}")
    except ModelError as error:
        raise ModelError(error.problems, what) from error


def motion_problems(x: Any, what: str) -> list[str]:
    """What is wrong with a motion, each message headed by `what`.

    Code and formulas are tried: they may fail at some times (a logarithm at t = 0), but not at all of PROBES.
    """
    try:
        motion = as_motion(x, what)
    except ModelError as error:
        return [f"{what}: {problem}" for problem in error.problems]
    if not isinstance(motion, (Function, StringMotion)):
        return []
    found = []
    for t in PROBES:
        try:
            motion.evaluate(t)
            return []
        except ModelError as error:
            found += error.problems
        except Exception as error:  # whatever a user's function may raise
            found.append(f"{motion!r} fails at t = {t:g} s with {type(error).__name__}: {error}")
    return [f"{what}: {found[0]}"]


def from_dict(data: Mapping[str, Any]) -> Motion:
    """The inverse of `Motion.to_dict`."""
    data = dict(data)
    cls = _choose(data.pop("type", None), MOTIONS, "type of motion")
    names = [f.name for f in fields(cls)]
    for name in data:
        _choose(name, dict.fromkeys(names), f"field of {cls.__name__}")
    try:
        return cls(**data)
    except TypeError as error:  # a field without default is missing
        _fail(f"{cls.__name__} needs {', '.join(names)}: {error}", error)


# --- laws of rise: u in [0, 1] -> s, s', s'' with s(0) = 0, s(1) = 1, s'(0) = s'(1) = 0 -------------------------------


def _cycloidal(u):
    w = 2 * np.pi
    return u - np.sin(w * u) / w, 1 - np.cos(w * u), w * np.sin(w * u)


def _harmonic(u):
    w = np.pi
    return (1 - np.cos(w * u)) / 2, w / 2 * np.sin(w * u), w * w / 2 * np.cos(w * u)


def _sine_constant_cosine(b: float, d: float) -> Callable[[np.ndarray], Triple]:
    """Acceleration: a quarter sine over b/2, constant, a quarter cosine over d/2; then the mirror image.

    b + d <= 1.  The first half is integrated in closed form piece by piece and scaled to s(1/2) = 1/2; the second
    follows from s(u) = 1 - s(1 - u).  Known in cam design as the SCCA family.
    """
    c, pi = 1 - b - d, np.pi
    v1, p1 = b / pi, b * b * (1 / (2 * pi) - 1 / pi**2)  # speed and place at the end of the sine piece ...
    v2, p2 = v1 + c / 2, p1 + v1 * c / 2 + c * c / 8  # ... and of the constant piece
    scale = 0.5 / (p2 + v2 * d / 2 + (d / pi) ** 2)

    def law(u):
        late = np.real(u) > 0.5
        v = np.where(late, 1 - u, u)
        w1, w2 = v - b / 2, v - (1 - d) / 2
        pieces = [np.real(w1) < 0, np.real(w2) < 0]
        sine, cosine = (b / pi) ** 2 * np.sin(pi * v / b), (d / pi) ** 2 * np.cos(pi * w2 / d)
        last = p2 + v2 * w2 + (d / pi) ** 2 - cosine
        s = np.select(pieces, [v1 * v - sine, p1 + v1 * w1 + w1 * w1 / 2], last)
        s1 = np.select(pieces, [v1 * (1 - np.cos(pi * v / b)), v1 + w1], v2 + d / pi * np.sin(pi * w2 / d))
        s2 = np.select(pieces, [np.sin(pi * v / b), np.ones_like(v)], np.cos(pi * w2 / d))
        return np.where(late, 1 - scale * s, scale * s), scale * s1, np.where(late, -scale * s2, scale * s2)

    return law


LAWS: dict[str, Callable[[np.ndarray], Triple]] = {
    "cycloidal": _cycloidal,
    "345": lambda u: horner(np.array([0.0, 0, 0, 10, -15, 6]), u),
    "4567": lambda u: horner(np.array([0.0, 0, 0, 0, 35, -84, 70, -20]), u),
    "harmonic": _harmonic,
    "modified_sine": _sine_constant_cosine(0.25, 0.75),
    "modified_trapezoid": _sine_constant_cosine(0.25, 0.25),
}


# --- checks -----------------------------------------------------------------------------------------------------------


def _fail(problems: str | list[str], cause: Exception | None = None) -> NoReturn:
    raise ModelError(problems, "motion") from cause


def _number(x: Any, what: str) -> float:
    if not isinstance(x, bool) and isinstance(x, numbers.Real):
        try:
            if math.isfinite(x):
                return float(x)
        except OverflowError:  # an integer of 400 digits
            pass
    _fail(f"{what} must be a finite number, got {x!r:.60}")


def _numbers(x: Any, what: str) -> tuple[float, ...]:
    if isinstance(x, str) or not hasattr(x, "__len__") or np.ndim(x) != 1:
        _fail(f"{what} must be a list of numbers, got {x!r:.60}")
    return tuple(_number(v, f"{what} [{k}]") for k, v in enumerate(x))


def _choose(name: Any, table: Mapping[str, Any], what: str) -> Any:
    if name in table:
        return table[name]
    near = difflib.get_close_matches(str(name), list(table), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(table)}"
    _fail(f"unknown {what} {name!r:.60}, {hint}")


def _terms(motion: Motion) -> tuple[tuple[float, Motion], ...]:
    return motion.terms if isinstance(motion, Sum) else ((1.0, motion),)


def _plain(x: Any) -> Any:
    if isinstance(x, Motion):
        return x.to_dict()
    return [_plain(v) for v in x] if isinstance(x, tuple) else x


def _sample(f: Callable, t: np.ndarray) -> np.ndarray:
    """f on the array t, or element by element where f takes only scalars (math.sin, `if t < 1`)."""
    try:
        y = np.asarray(f(t[()]), dtype=t.dtype)
        if y.shape in ((), t.shape):
            return y
    except (TypeError, ValueError):
        if t.ndim == 0:
            raise
    return np.array([f(s) for s in t.flat], dtype=t.dtype).reshape(t.shape)
