"""Constraints of the user's own, as Python callables.

    def phi(t, a, b):                       # one argument per body; a.x, a.y, a.phi in m and rad
        return a.y - 0.1 * np.sin(10 * a.x)

    m.add(pl.UserConstraint("track", [cart], phi))

With `phi` alone the derivatives are found exactly (no finite differences) by second-order Taylor arithmetic
(`planar.jet`); use NumPy functions in it.  Or give all of jacobian, nu, gamma.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from planar.elements import Block, Joint, as_bodies, call_problems
from planar.errors import ModelError
from planar.jet import Jet


class Coordinates(NamedTuple):
    """Coordinates of one body as a user's constraint sees them: m, rad, m/s, rad/s."""

    x: Any
    y: Any
    phi: Any
    vx: Any = 0.0
    vy: Any = 0.0
    omega: Any = 0.0


@dataclass(eq=False)
class UserConstraint(Joint):
    """Phi(t, q) = 0 by a callable `phi(t, body, ...)` that returns one value, or a sequence of them (one per row).

    on      a body or a list of bodies, the arguments of the callables after t
    rows    number of rows, or their names
    jacobian(t, ...)  rows x (3 per body), nu(t, ...) and gamma(t, ...) one value per row: optional, all or none;
            signs as in docs/notation.md: Phi_q v = nu, Phi_q a = gamma
    """

    on: Any
    phi: Callable
    _: KW_ONLY
    rows: Any = 1
    jacobian: Callable | None = None
    nu: Callable | None = None
    gamma: Callable | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.on = as_bodies(self.on, self.label)
        if isinstance(self.rows, numbers.Integral) and not isinstance(self.rows, bool):
            self.rows = ("phi",) if self.rows == 1 else tuple(f"phi{k}" for k in range(1, self.rows + 1))
        elif isinstance(self.rows, (str, list, tuple)):
            self.rows = (self.rows,) if isinstance(self.rows, str) else tuple(self.rows)
        else:
            raise ModelError(f"{self.label}: rows is {self.rows!r:.60}; give the number of rows or their names")
        for what in ("phi", "jacobian", "nu", "gamma"):
            f = getattr(self, what)
            if not callable(f) and (what == "phi" or f is not None):
                raise ModelError(f"{self.label}: {what} must be a callable of (t, body, ...), got {f!r:.60}")

    def blocks(self) -> Iterator[Block]:
        yield Block("user", self.on, (), self.rows, extra=self)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if not self.rows:
            yield f"{self.label}: has no row; give rows >= 1"
        if not all(isinstance(row, str) and row for row in self.rows) or len(set(self.rows)) < len(self.rows):
            yield f"{self.label}: the rows are named {self.rows!r:.60}; give different, non-empty strings"
        given = [f for f in (self.jacobian, self.nu, self.gamma) if f is not None]
        if len(given) not in (0, 3):
            yield f"{self.label}: give all of jacobian, nu and gamma, or none of them to have them found exactly"
        for f in (self.phi, *given):
            yield from call_problems(f, 1 + len(self.on), self.label, f"(t, {', '.join(b.name for b in self.on)})")

    def evaluate(self, t: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """(Phi, Phi_q, nu, gamma) of shapes (..., rows), (..., rows, 3 bodies), (..., rows), (..., rows).

        q, v: (..., bodies, 3); t: (...) or a scalar.  A callable that cannot take arrays is called state by state.
        """
        lead = q.shape[:-2]
        t = np.broadcast_to(t, lead)
        try:
            with np.errstate(all="ignore"):  # the caller judges what is not finite
                return self._evaluate(t, q, v)
        except (TypeError, ValueError) as error:
            if not lead or not q.size:
                if isinstance(error, ModelError):
                    raise
                raise ModelError(f"{self.label} cannot be evaluated: {error}") from error
        each = [self.evaluate(t[k], q[k], v[k]) for k in np.ndindex(lead)]
        return tuple(np.stack(part).reshape(*lead, *part[0].shape) for part in zip(*each, strict=True))

    def _evaluate(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        lead, n = q.shape[:-2], q.shape[-2]
        dtype = np.result_type(t, q, v, float)
        state = [Coordinates(*(_item(x, b, k) for x in (q, v) for k in range(3))) for b in range(n)]
        rows = (len(self.rows),)
        Phi = self._array("phi", self.phi(t[()], *state), rows, lead, dtype)
        if self.jacobian is not None:
            J = self.jacobian(t[()], *state)
            if rows == (1,) and isinstance(J, (tuple, list)) and len(J) == 3 * n:  # the row itself
                J = (J,)
            Phi_q = self._array("jacobian", J, (*rows, 3 * n), lead, dtype)
            nu, gamma = (self._array(w, getattr(self, w)(t[()], *state), rows, lead, dtype) for w in ("nu", "gamma"))
            return Phi, Phi_q, nu, gamma

        # directions: one per coordinate (Phi_q), time (nu = -Phi_t), and (v, 1) (gamma = -d2 Phi along the motion)
        m = 3 * n + 2
        seed = np.zeros((m, *lead, n, 3), dtype)
        for k in range(3 * n):
            seed[k, ..., k // 3, k % 3] = 1.0
        seed[-1] = v
        t_seed = np.zeros((m, *lead))
        t_seed[-2:] = 1.0
        bodies = [Coordinates(*(Jet(_item(q, b, k), seed[..., b, k]) for k in range(3))) for b in range(n)]
        first = np.zeros((m, *lead, *rows), dtype)
        second = np.zeros_like(first)
        for row, value in enumerate(self._sequence("phi", self.phi(Jet(t[()], t_seed), *bodies), rows, lead)):
            if isinstance(value, Jet):
                first[..., row], second[..., row] = value.f1, value.f2
        return Phi, np.moveaxis(first[: 3 * n], 0, -1), -first[-2], -second[-1]

    def _array(self, what: str, value: Any, counts: tuple[int, ...], lead: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Nested sequences of numbers or arrays (...) as one array (..., *counts)."""
        out = np.empty((*lead, *counts), dtype)
        items = self._sequence(what, value, counts, lead)
        for k, item in enumerate(items):
            if len(counts) > 1:
                out[..., k, :] = self._array(what, item, counts[1:], lead, dtype)
                continue
            x = np.asarray(item)
            if x.dtype.kind not in "biufc" or x.shape not in ((), lead):
                raise ModelError(
                    f"{self.label}: {what} returned {item!r:.60} for a row; return one number for each state"
                )
            out[..., k] = x
        return out

    def _sequence(self, what: str, value: Any, counts: tuple[int, ...], lead: tuple[int, ...]) -> list:
        """The counts[0] parts of a result: a tuple, a list, or an array with one more axis than each part has."""
        whole = isinstance(value, np.ndarray) and (value.dtype == object or value.ndim == len(counts) + len(lead))
        values = list(value) if whole or isinstance(value, (tuple, list)) else [value]
        if len(values) != counts[0]:
            raise ModelError(
                f"{self.label}: {what} returned {len(values)} values where {counts[0]} belong; return them as a tuple"
                + (", and give rows= their number or names" if what == "phi" else "")
            )
        return values


def _item(x: np.ndarray, body: int, k: int) -> Any:
    """Coordinate k of a body: an array (...), read-only, or a plain number for a single state."""
    item = x[..., body, k]
    item.flags.writeable = False
    return item[()]
