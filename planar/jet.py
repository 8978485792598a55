"""Exact first and second derivatives of ordinary NumPy code: second-order Taylor arithmetic.

A `Jet` carries (f, f', f'') with respect to one variable.  Every operation applies the chain rule

    g(f)' = g'(f) f'          g(f)'' = g''(f) f'^2 + g'(f) f''

so a user's `lambda t: np.sin(3*t**2)` yields its derivatives to round-off, without finite differences and
without symbolic algebra.  Values may be scalars or arrays, real or complex (for the complex step).

On complex input the functions that are not analytic (abs, sign, maximum, comparisons, arctan2 ...) follow the
real part; that is what makes `f(x + i h).imag / h` the derivative of the real function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

REMEDY = "use NumPy functions such as np.sin, or give the derivatives with pl.Function(f, df, ddf)"


class Jet(NDArrayOperatorsMixin):
    """Value `f0`, first derivative `f1` and second derivative `f2`; any three broadcastable arrays or scalars.

    All operators come from the mixin, which sends them through `__array_ufunc__` below.  There is no `__array__` and no
    `__len__` on purpose: `np.array([jet, jet])` becomes an array of two Jets, which the caller can unpack.
    """

    __slots__ = ("f0", "f1", "f2")

    def __init__(self, f0: Any, f1: Any = 0.0, f2: Any = 0.0):
        self.f0, self.f1, self.f2 = _numeric(f0), _numeric(f1), _numeric(f2)

    def __repr__(self) -> str:
        return f"Jet({self.f0!r}, {self.f1!r}, {self.f2!r})"

    @property
    def shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(np.shape(self.f0), np.shape(self.f1), np.shape(self.f2))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(f0, f1, f2), each of the full shape (read-only views)."""
        return tuple(np.broadcast_to(f, self.shape) for f in (self.f0, self.f1, self.f2))

    def __getitem__(self, index: Any) -> Jet:
        return Jet(*(f[index] for f in self.parts()))

    def __setitem__(self, index: Any, value: Any) -> None:
        value = lift(value)
        kind = np.result_type(self.f0, value.f0, float)
        new = [f.astype(kind) for f in self.parts()]
        for f, g in zip(new, (value.f0, value.f1, value.f2), strict=True):
            f[index] = g
        self.f0, self.f1, self.f2 = new

    def __bool__(self) -> bool:
        return bool(self.f0)  # an array raises NumPy's ValueError, which sends `derivatives` to its scalar loop

    def _refuse(self, *_: Any) -> Any:
        # math.sin(jet), float(jet), int(jet), round(jet): the derivatives would be lost without a word.
        raise TypeError(f"a function of Python's math module, float() or int() cannot carry derivatives; {REMEDY}")

    def _anew(self, _: Any) -> Any:
        return NotImplemented  # y += x: Python then computes y = y + x

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = __imatmul__ = __imod__ = _anew

    __float__ = __int__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _refuse

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            extra = f".{method}" if method != "__call__" else f"(..., {', '.join(kwargs)}=)"
            raise TypeError(f"np.{ufunc.__name__}{extra} cannot carry derivatives; {REMEDY}")
        if any(isinstance(x, np.ndarray) and x.dtype == object for x in inputs):
            return ufunc(*map(_boxed, inputs))  # an array of Jets, e.g. np.array([np.cos(u), np.sin(u)]) * u
        if ufunc in _UNARY:
            (f,) = inputs
            value, slope, bend = _UNARY[ufunc]
            y = value(f.f0)
            g1, g2 = slope(f.f0, y), bend(f.f0, y)
            return Jet(y, g1 * f.f1, g2 * (f.f1 * f.f1) + g1 * f.f2)
        if ufunc in _BINARY:
            return _BINARY[ufunc](*map(lift, inputs))
        if ufunc in _STEPS:  # piecewise constant: plain values, derivatives are zero
            return ufunc(*(np.real(x.f0 if isinstance(x, Jet) else x) for x in inputs))
        raise TypeError(f"np.{ufunc.__name__} cannot carry derivatives; {REMEDY}")

    def __array_function__(self, func: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        name = func.__name__
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](*args, **kwargs)
        if name in _LINEAR:  # linear in its argument: acts on value and derivatives alike
            return Jet(*(func(*(_component(x, k) for x in args), **kwargs) for k in range(3)))
        remedy = "use pl.Table(t, y), a smooth spline with exact derivatives" if name == "interp" else REMEDY
        raise TypeError(f"np.{name} cannot carry derivatives; {remedy}")


def lift(x: Any) -> Jet:
    """`x` itself if it is a Jet, else the constant Jet of that value."""
    return x if isinstance(x, Jet) else Jet(x)


def variable(t: Any) -> Jet:
    """The independent variable: value t, first derivative 1, second derivative 0."""
    return Jet(t, 1.0, 0.0)


def derivatives(f: Callable, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative of the callable `f` at `t`, exact to round-off.

    Parameters: `f` takes one argument and is written with NumPy functions; it may return a plain number.
    Returns three arrays of the shape of `t` (float; complex where `t` is complex).

    `f` is called once on the whole array.  If it cannot take arrays, because it branches on values (`if t < 1:`,
    `min(t, 1.0)`), it is called once per element instead: right, but some 100 times slower on long arrays; `np.where`
    and `np.minimum` avoid that.
    """
    t = np.asarray(t)
    t = t if np.iscomplexobj(t) else t.astype(float)
    with np.errstate(all="ignore"):  # the caller judges non-finite results
        try:
            return _unpack(f, f(variable(t[()])), t)
        except ValueError:  # "the truth value of an array is ambiguous", or a callable that wants scalars
            if t.ndim == 0:
                raise
        rows = [_unpack(f, f(variable(s)), s) for s in t.flat]
    return tuple(np.array([row[k] for row in rows], dtype=t.dtype).reshape(t.shape) for k in range(3))


def _unpack(f: Callable, y: Any, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    name = getattr(f, "__name__", None) or repr(f)
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 0:
        y = y.item()
    if y is None:
        raise TypeError(f"{name} returned None; it must return a number or an array")
    y = lift(y)
    if y.shape != np.shape(t) and y.size != 1:
        raise TypeError(f"{name} returned shape {y.shape} for an argument of shape {np.shape(t)}")
    if np.iscomplexobj(y.f0) and not np.iscomplexobj(t):
        raise TypeError(f"{name} returned complex values for a real argument")
    flat = (np.reshape(p, ()) if p.size == 1 else p for p in y.parts())
    return tuple(np.broadcast_to(p, np.shape(t)).astype(t.dtype) for p in flat)


# --- real functions continued to complex arguments along the real part ----------------------------------------------


def sign(x: Any) -> Any:
    """Sign of the real part."""
    return np.sign(np.real(x))


def absolute(x: Any) -> Any:
    """|x| for real x; for complex x the analytic continuation x sign(Re x)."""
    return np.where(np.real(x) < 0, np.negative(x), x)[()] if np.iscomplexobj(x) else np.abs(x)


def arctan2(y: Any, x: Any) -> Any:
    """arctan2 whose imaginary part is exact to first order: d theta = (x dy - y dx) / (x^2 + y^2)."""
    if not (np.iscomplexobj(x) or np.iscomplexobj(y)):
        return np.arctan2(y, x)
    a, b = np.real(x), np.real(y)
    return np.arctan2(b, a) + 1j * (a * np.imag(y) - b * np.imag(x)) / (a * a + b * b)


def hypot(x: Any, y: Any) -> Any:
    """sqrt(x^2 + y^2), without overflow for real input, analytic for complex input."""
    return np.sqrt(x * x + y * y) if np.iscomplexobj(x) or np.iscomplexobj(y) else np.hypot(x, y)


def _numeric(x: Any) -> Any:
    if type(x) is float or type(x) is np.float64:
        return x
    x = np.asarray(x)
    if x.dtype.kind not in "biufc":
        raise TypeError(f"expected numbers, got {x.dtype.name}; {REMEDY}")
    return (x.astype(float) if x.dtype.kind in "biu" else x)[()]  # integers would truncate and overflow


def _boxed(x: Any) -> Any:
    if not isinstance(x, Jet):
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box


def _component(x: Any, k: int) -> Any:
    """The k-th derivative of a Jet or of a sequence of Jets and numbers; options such as `axis` are left alone."""
    if isinstance(x, list | tuple) and any(isinstance(item, Jet) for item in x):
        return [lift(item).parts()[k] for item in x]
    return x.parts()[k] if isinstance(x, Jet) else x


# --- one argument: value, g'(x), g''(x), the latter two from x and y = g(x) ------------------------------------------

_LN2, _LN10, _DEG = np.log(2.0), np.log(10.0), np.pi / 180.0


def _linear(factor: float) -> tuple[Callable, Callable, Callable]:
    return (lambda x: factor * x, lambda x, y: factor, lambda x, y: 0.0)


_UNARY: dict[np.ufunc, tuple[Callable, Callable, Callable]] = {
    np.sin: (np.sin, lambda x, y: np.cos(x), lambda x, y: -y),
    np.cos: (np.cos, lambda x, y: -np.sin(x), lambda x, y: -y),
    np.tan: (np.tan, lambda x, y: 1 + y * y, lambda x, y: 2 * y * (1 + y * y)),
    np.arcsin: (np.arcsin, lambda x, y: ((1 - x) * (1 + x)) ** -0.5, lambda x, y: x * ((1 - x) * (1 + x)) ** -1.5),
    np.arccos: (np.arccos, lambda x, y: -(((1 - x) * (1 + x)) ** -0.5), lambda x, y: -x * ((1 - x) * (1 + x)) ** -1.5),
    np.arctan: (np.arctan, lambda x, y: 1 / (1 + x * x), lambda x, y: -2 * x / (1 + x * x) ** 2),
    np.sinh: (np.sinh, lambda x, y: np.cosh(x), lambda x, y: y),
    np.cosh: (np.cosh, lambda x, y: np.sinh(x), lambda x, y: y),
    np.tanh: (np.tanh, lambda x, y: np.cosh(x) ** -2.0, lambda x, y: -2 * y * np.cosh(x) ** -2.0),
    np.arcsinh: (np.arcsinh, lambda x, y: (1 + x * x) ** -0.5, lambda x, y: -x * (1 + x * x) ** -1.5),
    np.arccosh: (np.arccosh, lambda x, y: ((x - 1) * (x + 1)) ** -0.5, lambda x, y: -x * ((x - 1) * (x + 1)) ** -1.5),
    np.arctanh: (np.arctanh, lambda x, y: 1 / ((1 - x) * (1 + x)), lambda x, y: 2 * x / ((1 - x) * (1 + x)) ** 2),
    np.exp: (np.exp, lambda x, y: y, lambda x, y: y),
    np.exp2: (np.exp2, lambda x, y: _LN2 * y, lambda x, y: _LN2**2 * y),
    np.expm1: (np.expm1, lambda x, y: np.exp(x), lambda x, y: np.exp(x)),
    np.log: (np.log, lambda x, y: 1 / x, lambda x, y: -1 / (x * x)),
    np.log2: (np.log2, lambda x, y: 1 / (_LN2 * x), lambda x, y: -1 / (_LN2 * x * x)),
    np.log10: (np.log10, lambda x, y: 1 / (_LN10 * x), lambda x, y: -1 / (_LN10 * x * x)),
    np.log1p: (np.log1p, lambda x, y: 1 / (1 + x), lambda x, y: -1 / (1 + x) ** 2),
    np.sqrt: (np.sqrt, lambda x, y: 0.5 / y, lambda x, y: -0.25 / (x * y)),
    np.cbrt: (np.cbrt, lambda x, y: 1 / (3 * y * y), lambda x, y: -2 / (9 * x * y * y)),
    np.square: (np.square, lambda x, y: 2 * x, lambda x, y: 2.0),
    np.reciprocal: (np.reciprocal, lambda x, y: -y * y, lambda x, y: 2 * y**3),
    np.absolute: (absolute, lambda x, y: sign(x), lambda x, y: 0.0),  # slope 0 at the kink, the mean of both sides
    np.fabs: (absolute, lambda x, y: sign(x), lambda x, y: 0.0),
    np.negative: _linear(-1.0),
    np.positive: _linear(1.0),
    np.deg2rad: _linear(_DEG),
    np.radians: _linear(_DEG),
    np.rad2deg: _linear(1 / _DEG),
    np.degrees: _linear(1 / _DEG),
}


def _method(ufunc: np.ufunc) -> Callable[[Jet], Jet]:
    return lambda self: ufunc(self)


for _ufunc in _UNARY:  # NumPy evaluates np.sin(array of Jets) by calling the method `sin` of each element
    setattr(Jet, _ufunc.__name__, _method(_ufunc))


# --- two arguments ---------------------------------------------------------------------------------------------------


def _multiply(a: Jet, b: Jet) -> Jet:
    return Jet(a.f0 * b.f0, a.f1 * b.f0 + a.f0 * b.f1, a.f2 * b.f0 + 2 * a.f1 * b.f1 + a.f0 * b.f2)


def _divide(a: Jet, b: Jet) -> Jet:
    # q b = a, differentiated twice
    q0 = np.true_divide(a.f0, b.f0)
    q1 = np.true_divide(a.f1 - q0 * b.f1, b.f0)
    return Jet(q0, q1, np.true_divide(a.f2 - 2 * q1 * b.f1 - q0 * b.f2, b.f0))


def _power(a: Jet, b: Jet) -> Jet:
    """g = x^y.  Where y is constant this is the power rule, exact also at x = 0 and for x < 0 with integer y."""
    x, y = a.f0, b.f0

    def term(coefficient: Any, exponent: Any) -> Any:  # coefficient * x^exponent, zero where the coefficient is
        return np.where(coefficient == 0, 0.0, coefficient * np.power(x, exponent))[()]

    g, gx, gxx = np.power(x, y), term(y, y - 1), term(y * (y - 1), y - 2)
    f1, f2 = gx * a.f1, gxx * (a.f1 * a.f1) + gx * a.f2
    moving = (b.f1 != 0) | (b.f2 != 0)
    if np.any(moving):
        # g_y = g ln x, g_yy = g ln^2 x, g_xy = x^(y-1) (1 + y ln x); their limits at x = 0 vanish for large enough y
        ln = np.log(x)
        gy, gyy = (np.where((x == 0) & (np.real(y) > 0), 0.0, g * p) for p in (ln, ln * ln))
        gxy = np.where((x == 0) & (np.real(y) > 1), 0.0, np.power(x, y - 1) * (1 + y * ln))
        f1 = f1 + np.where(moving, gy * b.f1, 0.0)
        f2 = f2 + np.where(moving, 2 * gxy * a.f1 * b.f1 + gyy * b.f1**2 + gy * b.f2, 0.0)
    return Jet(g, f1, f2)


def _arctan2(y: Jet, x: Jet) -> Jet:
    # theta' = (x y' - y x') / r^2
    r2 = x.f0 * x.f0 + y.f0 * y.f0
    w = np.true_divide(x.f0 * y.f1 - y.f0 * x.f1, r2)
    bend = x.f0 * y.f2 - y.f0 * x.f2 - 2 * (x.f0 * x.f1 + y.f0 * y.f1) * w
    return Jet(arctan2(y.f0, x.f0), w, np.true_divide(bend, r2))


def _hypot(x: Jet, y: Jet) -> Jet:
    # h^2 = x^2 + y^2, differentiated twice
    h = hypot(x.f0, y.f0)
    h1 = np.true_divide(x.f0 * x.f1 + y.f0 * y.f1, h)
    return Jet(h, h1, np.true_divide(x.f1 * x.f1 + y.f1 * y.f1 + x.f0 * x.f2 + y.f0 * y.f2 - h1 * h1, h))


def _remainder(a: Jet, b: Jet) -> Jet:
    return a - b * np.floor(np.real(a.f0) / np.real(b.f0))


def _where(condition: Any, a: Any, b: Any) -> Jet:
    if isinstance(condition, Jet):
        condition = condition.f0 != 0
    a, b = lift(a), lift(b)
    return Jet(*(np.where(condition, p, q) for p, q in ((a.f0, b.f0), (a.f1, b.f1), (a.f2, b.f2))))


def _extreme(keep: Callable, nan_wins: bool) -> Callable[[Jet, Jet], Jet]:
    def choose(a: Jet, b: Jet) -> Jet:
        x, y = np.real(a.f0), np.real(b.f0)
        return _where(keep(x, y) | np.isnan(x if nan_wins else y), a, b)

    return choose


_BINARY: dict[np.ufunc, Callable[[Jet, Jet], Jet]] = {
    np.add: lambda a, b: Jet(a.f0 + b.f0, a.f1 + b.f1, a.f2 + b.f2),
    np.subtract: lambda a, b: Jet(a.f0 - b.f0, a.f1 - b.f1, a.f2 - b.f2),
    np.multiply: _multiply,
    np.true_divide: _divide,
    np.power: _power,
    np.float_power: _power,
    np.arctan2: _arctan2,
    np.hypot: _hypot,
    np.matmul: lambda a, b: _product(np.matmul)(a, b),
    np.remainder: _remainder,
    np.maximum: _extreme(np.greater_equal, True),
    np.minimum: _extreme(np.less_equal, True),
    np.fmax: _extreme(np.greater_equal, False),
    np.fmin: _extreme(np.less_equal, False),
}

_STEPS = {
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.sign, np.signbit, np.heaviside),
    *(np.floor, np.ceil, np.trunc, np.rint, np.floor_divide, np.isfinite, np.isnan, np.isinf),
    *(np.logical_and, np.logical_or, np.logical_not),
}


# --- functions that are not ufuncs ----------------------------------------------------------------------------------


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _select(conditions: list, choices: list, default: Any = 0.0) -> Jet:
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        default = _where(condition, choice, default)
    return lift(default)


def _piecewise(x: Jet, conditions: list, functions: list, *args: Any, **kwargs: Any) -> Jet:
    values = [f(x, *args, **kwargs) if callable(f) else f for f in functions]
    # np.piecewise: later conditions win, one extra function is the default
    return _select(conditions[::-1], values[: len(conditions)][::-1], *values[len(conditions) :])


def _polyval(c: Any, x: Any) -> Any:
    y: Any = 0.0
    for a in c:  # Horner, highest power first
        y = y * x + a
    return y


def _product(product: Callable) -> Callable[[Any, Any], Jet]:
    """A product that is linear in both arguments: Leibniz' rule."""

    def multiply(a: Any, b: Any) -> Jet:
        (a0, a1, a2), (b0, b1, b2) = lift(a).parts(), lift(b).parts()
        f1 = product(a1, b0) + product(a0, b1)
        return Jet(product(a0, b0), f1, product(a2, b0) + 2 * product(a1, b1) + product(a0, b2))

    return multiply


def _norm(x: Jet, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Jet:
    if ord not in (None, 2) or (ord == 2 and axis is None and x.ndim != 1):
        raise TypeError(f"np.linalg.norm(..., ord={ord!r}) cannot carry derivatives; {REMEDY}")
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _full_like(a: Jet, value: Any, **_: Any) -> Jet:
    # full arrays, so that `y = np.zeros_like(t); y[t > 1] = ...` works
    return lift(value) + Jet(np.zeros(a.shape), np.zeros(a.shape), np.zeros(a.shape))


_FUNCTIONS: dict[str, Callable] = {
    "where": _where,
    "clip": _clip,
    "select": _select,
    "piecewise": _piecewise,
    "polyval": _polyval,
    "dot": _product(np.dot),
    "inner": _product(np.inner),
    "outer": _product(np.outer),
    "norm": _norm,
    "full_like": _full_like,
    "zeros_like": lambda a, **_: _full_like(a, 0.0),
    "empty_like": lambda a, **_: _full_like(a, 0.0),
    "ones_like": lambda a, **_: _full_like(a, 1.0),
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": lambda a: a.size,
    "iscomplexobj": lambda a: np.iscomplexobj(a.f0),
}
_LINEAR = {"stack", "concatenate", "sum", "mean", "cumsum", "reshape", "ravel", "squeeze", "transpose", "broadcast_to"}
