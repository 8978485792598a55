"""The options of `pl.simulate`, checked: every problem names the value and what to give instead."""

from __future__ import annotations

import math
import numbers
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from planar.bodies import nearest
from planar.errors import ModelError

METHODS = ("projection", "baumgarte", "partition", "nullspace", "gen_alpha")
OWN = ("DOP853", "RK45", "RK4")
SCIPY = ("RK23", "Radau", "BDF", "LSODA")


@dataclass(frozen=True)
class Options:
    """See `pl.simulate`; gains = (alpha, beta, factor of 1/first step)."""

    method: str = "projection"
    integrator: str = "DOP853"
    rtol: float = 1e-8
    atol: float = 1e-10
    step: float | None = None
    first_step: float | None = None
    max_step: float = math.inf
    gains: tuple[float, float] | None = (0.0, 0.0)
    rho: float = 0.8
    index: int = 2
    compiled: bool = True

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Options:
        known = {f.name for f in fields(cls)}
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in known})


def check_options(
    *,
    method: Any,
    integrator: Any,
    rtol: Any,
    atol: Any,
    step: Any,
    first_step: Any,
    max_step: Any,
    gains: Any,
    rho: Any,
    index: Any,
    compiled: bool,
) -> Options:
    """One `ModelError` with everything that is wrong."""
    problems: list[str] = []
    if method not in METHODS:
        problems.append(f"method is {method!r}; {nearest(str(method), list(METHODS))}")
    if integrator is not None and integrator not in OWN + SCIPY:
        problems.append(f"integrator is {integrator!r}; {nearest(str(integrator), [*OWN, *SCIPY])}")
    if method == "gen_alpha" and integrator is not None:
        problems.append(f"method 'gen_alpha' is an integrator itself; leave integrator={integrator!r} out")
    if integrator in SCIPY and step is not None:
        problems.append(f"integrator {integrator!r} chooses its steps; leave step={step!r} out, or give max_step")
    if integrator == "RK4" and step is None:
        problems.append("integrator 'RK4' has no error estimate; give step= in s, or use 'RK45' or 'DOP853'")
    for name, value, remedy in (
        ("rtol", rtol, "give a number between 1e-13 and 0.1, for example 1e-8"),
        ("atol", atol, "give a positive number, for example 1e-10"),
    ):
        if not _positive(value) or value == math.inf:
            problems.append(f"{name} is {value!r}; {remedy}")
    if _positive(rtol) and not 1e-14 <= rtol < 1.0:
        problems.append(f"rtol is {rtol:g}; double precision allows 1e-14 at best, and 0.1 is no accuracy at all")
    for name, value in (("step", step), ("first_step", first_step)):
        if value is not None and (not _positive(value) or value == math.inf):
            problems.append(f"{name} is {value!r}; give a positive number of seconds, or None")
    if not _positive(max_step):
        problems.append(f"max_step is {max_step!r}; give a positive number of seconds")
    if not (isinstance(rho, numbers.Real) and 0.0 <= rho <= 1.0):
        problems.append(f"rho is {rho!r}; give the spectral radius at infinity, 0 (strong damping) to 1 (none)")
    if index not in (2, 3):
        problems.append(f"index is {index!r}; give 2 (stabilised) or 3")
    found = _gains(gains, method, problems)
    if problems:
        raise ModelError(problems, "simulate")
    name = integrator or ("RK4" if step is not None and method != "gen_alpha" else "DOP853")
    return Options(
        method, name, float(rtol), float(atol), None if step is None else float(step),
        None if first_step is None else float(first_step), float(max_step), found, float(rho), int(index), compiled,
    )  # fmt: skip


def _gains(gains: Any, method: Any, problems: list[str]) -> tuple[float, float] | None:
    if method != "baumgarte":
        if gains is not None:
            problems.append(f"gains={gains!r} belong to method 'baumgarte'; leave them out for {method!r}")
        return 0.0, 0.0
    if gains is None:
        return None
    pair = (gains, gains) if isinstance(gains, numbers.Real) else tuple(gains)
    if len(pair) != 2 or not all(isinstance(g, numbers.Real) and math.isfinite(g) and g >= 0 for g in pair):
        problems.append(f"gains is {gains!r}; give (alpha, beta) in 1/s, one number for both, or None")
        return None
    return float(pair[0]), float(pair[1])


def check_span(t_span: Any, start: float | None = None) -> tuple[float, float]:
    """(t0, t1) from a pair, or from the end alone."""
    try:
        ends = [float(x) for x in np.atleast_1d(np.asarray(t_span, float))]
    except (TypeError, ValueError):
        raise ModelError(f"t_span is {t_span!r}; give (t0, t1) in s", "simulate") from None
    if len(ends) == 1:
        ends = [0.0 if start is None else start, ends[0]]
    if len(ends) != 2 or not all(map(math.isfinite, ends)):
        raise ModelError(f"t_span is {t_span!r}; give two finite times (t0, t1) in s", "simulate")
    if ends[0] == ends[1]:
        raise ModelError(f"t_span is {t_span!r}: begin and end are the same; give t1 different from t0", "simulate")
    return ends[0], ends[1]


def check_times(t_eval: Any, span: tuple[float, float]) -> np.ndarray | None:
    """Times within the span, in its direction."""
    if t_eval is None:
        return None
    try:
        t = np.atleast_1d(np.asarray(t_eval, float))
    except (TypeError, ValueError):
        raise ModelError(f"t_eval is {t_eval!r:.60}; give an array of times in s", "simulate") from None
    t0, t1 = span
    if t.ndim != 1 or not t.size or not np.isfinite(t).all():
        raise ModelError("t_eval must be a list of at least one finite time in s", "simulate")
    outside = (t < min(span)) | (t > max(span))
    if outside.any():
        raise ModelError(
            f"t_eval has {t[outside][0]:g} s, outside of t_span = ({t0:g}, {t1:g}) s; leave it out or widen t_span",
            "simulate",
        )
    if np.any(np.diff(t) * (t1 - t0) < 0):
        raise ModelError(f"t_eval must run from {t0:g} to {t1:g} s in order; sort it", "simulate")
    return t


def _positive(x: Any) -> bool:
    return isinstance(x, numbers.Real) and not isinstance(x, bool) and not math.isnan(x) and x > 0
