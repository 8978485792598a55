"""Smooth planar curves fixed in a body, for cams and guides: "a point of j stays on a curve of i".

Curve c(u), u in [u0, u1], in metres, in the local axes of its body.  Orientation:

    t = c'/|c'|        unit tangent, in the direction of growing u
    n = R t            unit normal, to the LEFT of the tangent; R = [[0, -1], [1, 0]]
    t' = kappa |c'| n  signed curvature [1/m], positive where the curve turns left

    Phi(p) = n . (p - c(u*))    signed distance, positive on the left; u* is the foot of the perpendicular from p

A counter-clockwise cam has its inside on the left: Phi > 0 inside, kappa > 0 where it is convex.  Derivatives of Phi
when p moves in the body's axes, used by the constraint:

    Phi' = n . p'        Phi'' = n . p'' - kappa (t . p')^2 / (1 - kappa Phi)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from planar.errors import ModelError
from planar.expression import Expression
from planar.jet import derivatives

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]

#: every curve that a model file can name; a new subclass of Curve adds itself
CURVES: dict[str, type[Curve]] = {}


class Curve:
    """Base of all curves.  A subclass sets u0, u1, closed and implements `_evaluate(u) -> (c, c', c'')` on [u0, u1],

    each of shape (..., 2), for float and complex arrays u; then it calls `_validate`.  Treat curves as immutable.
    """

    u0: float
    u1: float
    closed: bool
    samples = 360  # intervals of the search grid

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        CURVES[cls.__name__] = cls

    def _evaluate(self, u: np.ndarray) -> Triple:
        raise NotImplementedError

    def evaluate(self, u: Any) -> Triple:
        """c (..., 2) [m] and its first two derivatives with respect to u.

        A closed curve is periodic in u.  An open one goes on past its ends as a parabola with the value, slope and
        second derivative of the end: smooth enough for an iteration that oversteps, and finite.
        """
        u = _inexact(u)
        if self.closed:
            return self._evaluate(self._wrap(u))
        x = np.real(u)
        base = np.where(x < self.u0, self.u0, np.where(x > self.u1, self.u1, u))
        c, c1, c2 = self._evaluate(base)
        d = (u - base)[..., None]
        return c + d * (c1 + d * c2 / 2), c1 + d * c2, c2

    def inside(self, u: Any) -> Any:
        """Whether u lies on the curve proper, not past an end of it (always, if it is closed)."""
        slack = 1e-9 * (self.u1 - self.u0)
        return self.closed | ((np.real(u) >= self.u0 - slack) & (np.real(u) <= self.u1 + slack))

    def project(self, x: Any, y: Any, hint: Any = None) -> Any:
        """Parameter u of the foot of the perpendicular from the points (x, y), vectorised, to round-off.

        Without `hint` the nearest point of the curve.  With `hint`, a parameter close to the wanted one, the nearest
        point downhill from there: the foot does not jump to another branch, and on a closed curve u counts the turns.
        Open curves: u may lie up to 10 % past an end; see `inside`.  Complex x, y: complex u, exact to first order.
        """
        p = np.stack(np.broadcast_arrays(_inexact(x), _inexact(y)), axis=-1)
        flat = np.real(p).reshape(-1, 2)
        k = self._nearest(flat) if hint is None else self._downhill(flat, np.broadcast_to(hint, p.shape[:-1]).ravel())
        u = self._newton(flat, k).reshape(p.shape[:-1])
        if np.iscomplexobj(
            p
        ):  # from the exact real foot, one Newton step makes the imaginary part exact; two for safety
            for _ in range(2):
                g, slope = self._residual(u, p)[:2]
                u = u - g / slope
        if self.closed:
            turns = 0 if hint is None else np.round((hint - np.real(self._wrap(u))) / (self.u1 - self.u0))
            u = self._wrap(u) + turns * (self.u1 - self.u0)
        return u[()]

    def signed_distance(self, x: Any, y: Any, hint: Any = None) -> tuple[Any, Any, Any, Any, Any]:
        """(Phi, nx, ny, kappa, u): signed distance [m], unit normal, curvature [1/m] and parameter at the foot."""
        u = self.project(x, y, hint)
        c, c1, c2 = self.evaluate(u)
        speed = np.sqrt(c1[..., 0] ** 2 + c1[..., 1] ** 2)
        nx, ny = -c1[..., 1] / speed, c1[..., 0] / speed
        kappa = (c1[..., 0] * c2[..., 1] - c1[..., 1] * c2[..., 0]) / speed**3
        return nx * (x - c[..., 0]) + ny * (y - c[..., 1]), nx, ny, kappa, u

    def outline(self, n: int = 361) -> np.ndarray:
        """(n, 2) points along the curve, equally spaced in u, both ends included."""
        return self.evaluate(np.linspace(self.u0, self.u1, n))[0]

    @cached_property
    def length(self) -> float:
        """Length of the curve [m]."""
        return float(np.sum(_arc_lengths(self.evaluate, self._panels())))

    def as_spline(self, n: int = 180) -> SplineCurve:
        """The spline through n points of this curve: plain arrays, for compiled loops and model files."""
        return SplineCurve(self.evaluate(np.linspace(self.u0, self.u1, n, endpoint=not self.closed))[0], self.closed)

    def _panels(self) -> np.ndarray:
        return np.linspace(self.u0, self.u1, 65)

    def _wrap(self, u: Any) -> Any:
        period = self.u1 - self.u0
        return u - period * np.floor((np.real(u) - self.u0) / period)

    # --- foot of the perpendicular --------------------------------------------------------------------------------

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        u = np.linspace(self.u0, self.u1, self.samples + 1)[: None if not self.closed else -1]
        return u, self.evaluate(u)[0]

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree  # 0.2 s: only when a point is projected

        return cKDTree(self._grid[1])

    def _nearest(self, p: np.ndarray) -> np.ndarray:
        if not np.all(np.isfinite(p)):
            _fail(f"cannot project the point {_pair(p[~np.isfinite(p).all(axis=1)][0])}; it is not finite")
        return self._tree.query(p)[1]

    def _downhill(self, p: np.ndarray, hint: np.ndarray) -> np.ndarray:
        """Walk on the grid from the hints to the local minimum of the distance."""
        u, c = self._grid
        n = len(u)
        start = self._wrap(hint) if self.closed else np.clip(hint, self.u0, self.u1)
        k = np.round((start - self.u0) / (u[1] - u[0])).astype(int)
        k = k % n if self.closed else k
        for _ in range(n):
            around = k + np.array([[0], [-1], [1]])  # stay if nothing is nearer
            around = around % n if self.closed else np.clip(around, 0, n - 1)
            best = np.argmin(np.sum((c[around] - p) ** 2, axis=-1), axis=0)
            if not best.any():
                break
            k = around[best, np.arange(len(k))]
        return k

    def _residual(self, u: Any, p: np.ndarray) -> tuple[Any, Any, Any]:
        """g = (c - p) . c' = 0 at the foot; its slope dg/du; and the round-off of u that g allows."""
        c, c1, c2 = self.evaluate(u)
        e, speed2 = c - p, np.sum(c1 * c1, axis=-1)
        reach = np.abs(c).sum(axis=-1) + np.abs(p).sum(axis=-1)
        noise = 4 * np.finfo(float).eps * (np.abs(u) + reach / np.sqrt(np.abs(speed2)))
        return np.sum(e * c1, axis=-1), speed2 + np.sum(e * c2, axis=-1), noise

    def _newton(self, p: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Newton on g(u), kept between the neighbours of grid point k by bisection.

        Point k is nearer to p than its neighbours, so a minimum of the distance lies between them.
        """
        grid = self._grid[0]
        h = grid[1] - grid[0]
        u = grid[k]
        low, high = u - h, u + h
        if not self.closed:
            margin = 0.1 * (self.u1 - self.u0)
            low, high = np.where(k == 0, u - margin, low), np.where(k == len(grid) - 1, u + margin, high)
        done = np.zeros(u.shape, dtype=bool)
        for _ in range(60):  # enough for bisection alone
            g, slope, noise = self._residual(u, p)
            low, high = np.where(g > 0, low, u), np.where(g > 0, u, high)
            with np.errstate(all="ignore"):
                new = u - g / slope
            new = np.where((slope > 0) & (new >= low) & (new <= high), new, (low + high) / 2)
            u, done = np.where(done, u, new), done | (np.abs(new - u) <= noise)
            if done.all():
                break
        return u

    # --- checks -----------------------------------------------------------------------------------------------------

    def _validate(self) -> None:
        """Finite, moving and free of crossings, on samples."""
        u = np.linspace(self.u0, self.u1, 601)
        c, c1, c2 = self.evaluate(u)
        bad = ~np.isfinite(c + c1 + c2).all(axis=-1)
        if bad.any():
            _fail(f"{self!r} has no finite value and derivatives at u = {u[bad][0]:g}")
        speed = np.hypot(*c1.T) * (self.u1 - self.u0)
        if not speed.min() > 1e-6 * _size(c):
            _fail(f"{self!r} stands still at u = {u[speed.argmin()]:g}: no tangent there; choose another parameter")
        crossing = _crossing(c, self.closed)
        if crossing is not None:
            _fail(f"{self!r} crosses itself near {_pair(crossing)} m; move its points apart or cut it there")


class SplineCurve(Curve):
    """Interpolating spline through `points` (n, 2) [m]; the last point of a closed curve need not repeat the first.

    Quintic (cubic for an open curve of 4 or 5 points): the acceleration of a follower contains c'', so a quintic spline
    keeps even its jerk continuous, where a cubic one would make it jump at every point.  The parameter starts as chord
    length and is replaced twice by the arc length of the spline so found, which restores the sixth order that uneven
    chords would cost (measured on an ellipse: 4 to 5 without).  So u is the arc length in metres, very nearly.

    Plain arrays for compiled loops: on piece i, c(u) = sum_j coeffs[i, j] (u - breaks[i])^j, breaks (m+1,),
    coeffs (m, degree+1, 2).
    """

    def __init__(self, points: Any, closed: bool = True):
        points = _points(points)
        if closed and len(points) > 1 and np.allclose(points[0], points[-1], rtol=0, atol=1e-12 * _size(points)):
            points = points[:-1]
        if len(points) < 4:
            _fail(f"a SplineCurve needs at least 4 different points, got {len(points)}")
        self.points, self.closed = points, bool(closed)
        path = np.vstack([points, points[:1]]) if closed else points
        chords = np.hypot(*np.diff(path, axis=0).T)
        k = int(chords.argmin())
        if chords[k] <= 1e-9 * chords.max():
            other = (k + 1) % len(points)
            _fail(f"points {k} and {other} (from 0) of the SplineCurve coincide at {_pair(points[k])} m; drop one")
        self.degree = 5 if closed or len(points) >= 6 else 3
        u = np.concatenate([[0.0], np.cumsum(chords)])
        for _ in range(2):
            pieces = spline_pieces(u, path, self.degree, self.closed)
            u = np.concatenate([[0.0], np.cumsum(_arc_lengths(lambda x, p=pieces: evaluate_pieces(*p, x), u))])
        self.breaks, self.coeffs = spline_pieces(u, path, self.degree, self.closed)
        self.u0, self.u1 = 0.0, float(u[-1])
        self.samples = min(max(360, 4 * len(points)), 20_000)
        self._validate()

    def __repr__(self) -> str:
        return f"SplineCurve({len(self.points)} points, {'closed' if self.closed else 'open'})"

    def _evaluate(self, u: np.ndarray) -> Triple:
        return evaluate_pieces(self.breaks, self.coeffs, u)

    def _panels(self) -> np.ndarray:
        return self.breaks

    def to_dict(self) -> dict[str, Any]:
        return {"type": "SplineCurve", "points": self.points.tolist(), "closed": self.closed}


class FunctionCurve(Curve):
    """c(u) = f(u), u in [u0, u1]: a callable that returns (x, y) [m], or two strings in u with named `constants`.

    Derivatives are exact, by `planar.jet`; a callable must be written with NumPy functions.  A closed curve must meet
    itself with the same slope c'.
    """

    def __init__(
        self,
        f: Callable | tuple[str, str],
        u0: float,
        u1: float,
        closed: bool = False,
        constants: Mapping | None = None,
    ):
        if not (math.isfinite(u0) and math.isfinite(u1) and u0 < u1):
            _fail(f"a FunctionCurve needs finite u0 < u1, got {u0!r} and {u1!r}")
        self.f, self.u0, self.u1, self.closed = f, float(u0), float(u1), bool(closed)
        self.constants = dict(constants or {})
        if callable(f):
            self._xy = tuple(_coordinate(f, k) for k in range(2))
        elif isinstance(f, list | tuple) and len(f) == 2:
            self._xy = tuple(Expression(text, ("u",), self.constants) for text in f)
        else:
            _fail(f"expected a callable of u or two strings (x, y), got {f!r:.60}")
        if self.closed:
            c, c1, _ = self._evaluate(np.array([self.u0, self.u1]))
            gap, kink = np.hypot(*(c[1] - c[0])), np.hypot(*(c1[1] - c1[0]))
            if not gap <= 1e-9 * _size(self._evaluate(np.linspace(u0, u1, 50))[0]):
                _fail(f"{self!r}: the ends {_pair(c[0])} and {_pair(c[1])} m do not meet; give closed=False")
            if not kink <= 1e-6 * np.hypot(*c1[0]):
                _fail(f"{self!r} has a kink where it closes, c' = {_pair(c1[0])} and {_pair(c1[1])}; make it smooth")
        self._validate()

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", None) or repr(self.f)
        return f"FunctionCurve({name}, u = {self.u0:g} .. {self.u1:g}, {'closed' if self.closed else 'open'})"

    def _evaluate(self, u: np.ndarray) -> Triple:
        try:
            x, y = (derivatives(f, u) for f in self._xy)
        except (TypeError, IndexError) as error:
            raise ModelError(f"{self!r} cannot be evaluated: {error}", "curve") from error
        return tuple(np.stack(pair, axis=-1) for pair in zip(x, y, strict=True))

    def to_dict(self) -> dict[str, Any]:
        if callable(self.f):
            _fail(f"{self!r} is Python code and cannot be stored; write x and y as strings in u, or use as_spline()")
        rest = {"u0": self.u0, "u1": self.u1, "closed": self.closed, "constants": self.constants}
        return {"type": "FunctionCurve", "f": list(self.f), **rest}


def circle(radius: float, center: tuple[float, float] = (0.0, 0.0)) -> FunctionCurve:
    """Counter-clockwise circle [m], u the angle in radians; Phi = radius - distance from the centre, > 0 inside."""
    if not (math.isfinite(radius) and radius > 0):
        _fail(f"the radius of a circle must be positive, got {radius!r}")
    constants = {"r": radius, "x0": center[0], "y0": center[1]}
    return FunctionCurve(("x0 + r*cos(u)", "y0 + r*sin(u)"), 0.0, 2 * np.pi, True, constants)


def polar(radius: Callable | str, u0: float = 0.0, u1: float = 2 * np.pi, closed: bool = True) -> FunctionCurve:
    """Counter-clockwise cam r(u) (cos u, sin u): `radius` [m] is a callable, a motion or a string in the angle u."""
    if isinstance(radius, str):
        return FunctionCurve((f"({radius})*cos(u)", f"({radius})*sin(u)"), u0, u1, closed)

    def cam(u):
        r = radius(u)
        return r * np.cos(u), r * np.sin(u)

    return FunctionCurve(cam, u0, u1, closed)


def curve_from_dict(data: Mapping[str, Any]) -> Curve:
    """The inverse of `to_dict`."""
    data = dict(data)
    kind = data.pop("type", None)
    if kind not in CURVES:
        _fail(f"unknown type of curve {kind!r:.60}; known: {', '.join(CURVES)}")
    try:
        return CURVES[kind](**data)
    except TypeError as error:
        raise ModelError(f"{kind}: {error}", "curve") from error


# --- polynomials and splines, also used by planar.motions -----------------------------------------------------------


def horner(c: np.ndarray, x: Any) -> tuple[Any, Any, Any]:
    """p, p', p'' of p = sum_j c[..., j] x^j, where c[..., j] broadcasts with x; complex x is welcome."""
    p, p1, p2 = 0.0 * x + c[..., -1], 0.0 * x, 0.0 * x
    for j in range(c.shape[-1] - 2, -1, -1):
        p, p1, p2 = p * x + c[..., j], p1 * x + p, p2 * x + 2 * p1
    return p, p1, p2


def spline_pieces(x: Any, y: Any, degree: int, periodic: bool) -> tuple[np.ndarray, np.ndarray]:
    """Interpolating spline as plain arrays: breaks (m+1,), coeffs (m, degree+1, ...) in powers of (x - breaks[i]).

    Without `periodic` the end conditions are not-a-knot, so the pieces may span several points.
    """
    from scipy.interpolate import make_interp_spline  # 0.3 s: only when a table or curve is made

    x, y = np.asarray(x, dtype=float), np.array(y, dtype=float)
    if periodic:
        y[-1] = y[0]
    spline = make_interp_spline(x, y, k=degree, bc_type="periodic" if periodic else None)
    breaks = np.unique(spline.t[degree : len(spline.t) - degree])
    taylor = [spline(breaks[:-1], nu=j) / math.factorial(j) for j in range(degree + 1)]
    return breaks, np.stack(taylor, axis=1)


def evaluate_pieces(breaks: np.ndarray, coeffs: np.ndarray, x: np.ndarray) -> tuple[Any, Any, Any]:
    """Value and two derivatives of `spline_pieces` at x (float or complex); the end pieces go on past the ends."""
    i = np.clip(np.searchsorted(breaks, np.real(x), side="right") - 1, 0, len(breaks) - 2)
    local = (x - breaks[i])[(...,) + (None,) * (coeffs.ndim - 2)]
    return horner(np.moveaxis(coeffs[i], np.ndim(x), -1), local)


# --- helpers ---------------------------------------------------------------------------------------------------------

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _arc_lengths(evaluate: Callable, u: np.ndarray) -> np.ndarray:
    """Length of the curve between consecutive u, by Gauss quadrature of |c'|."""
    half, middle = np.diff(u) / 2, (u[1:] + u[:-1]) / 2
    c1 = evaluate(middle[:, None] + half[:, None] * _NODES)[1]
    return half * (np.hypot(c1[..., 0], c1[..., 1]) @ _WEIGHTS)


def _crossing(c: np.ndarray, closed: bool) -> np.ndarray | None:
    """A point where the polyline c (n, 2) crosses itself, or None.

    side[i, j] tells on which side of segment i the point j lies.  Segments i and j cross if each has the ends of the
    other on different sides.
    """
    d = np.diff(c, axis=0)
    side = d[:, None, 0] * (c[None, :, 1] - c[:-1, None, 1]) - d[:, None, 1] * (c[None, :, 0] - c[:-1, None, 0])
    splits = side[:, :-1] * side[:, 1:] < 0
    pairs = np.triu(splits & splits.T, k=2)  # neighbours share a point
    if closed:
        pairs[0, -1] = False
    found = np.argwhere(pairs)
    return c[found[0, 0]] if len(found) else None


def _points(points: Any) -> np.ndarray:
    try:
        points = np.array(points, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"points must be a list of (x, y) [m]: {error}", "curve") from error
    if points.ndim != 2 or points.shape[1] != 2:
        _fail(f"points must have the shape (n, 2), got {points.shape}")
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        _fail(f"point {int(bad.argmax())} (from 0) is {_pair(points[bad.argmax()])}; it must be finite")
    return points


def _coordinate(f: Callable, k: int) -> Callable:
    def coordinate(u):
        xy = f(u)
        try:
            x, y = xy
        except (TypeError, ValueError) as error:
            raise TypeError(f"it must return (x, y), got {xy!r:.60}") from error
        return (x, y)[k]

    return coordinate


def _size(c: np.ndarray) -> float:
    return float(np.ptp(c, axis=0).max())


def _pair(c: np.ndarray) -> str:
    return f"({c[0]:g}, {c[1]:g})"


def _inexact(x: Any) -> np.ndarray:
    return np.asarray(x) if np.iscomplexobj(x) else np.asarray(x, dtype=float)


def _fail(message: str) -> NoReturn:
    raise ModelError(message, "curve")
