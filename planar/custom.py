"""Constraints of the user's own, as Python callables.

    def phi(t, a, b):                       # one argument per body; a.x, a.y, a.phi in m and rad
        return a.y - 0.1 * np.sin(10 * a.x)

    m.add(pl.UserConstraint("track", [cart], phi))

With `phi` alone the derivatives are found exactly (no finite differences) by second-order Taylor arithmetic
(`planar.jet`); use NumPy functions in it.  Or give all of jacobian, nu, gamma.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from planar.bodies import Body
from planar.elements import Block, Joint
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
        self.on = (self.on,) if isinstance(self.on, Body) else tuple(self.on)
        if isinstance(self.rows, int):
            self.rows = ("phi",) if self.rows == 1 else tuple(f"phi{k}" for k in range(1, self.rows + 1))
        else:
            self.rows = (self.rows,) if isinstance(self.rows, str) else tuple(self.rows)
        if not callable(self.phi):
            raise ModelError(f"{self.label}: phi must be a callable of (t, body, ...), got {self.phi!r}")

    def blocks(self) -> Iterator[Block]:
        yield Block("user", self.on, (), self.rows, extra=self)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if not self.on or not all(isinstance(b, Body) for b in self.on):
            yield f"{self.label}: on is {self.on!r}; give a body or a list of bodies"
        if not self.rows:
            yield f"{self.label}: has no row; give rows >= 1"
        given = [f is not None for f in (self.jacobian, self.nu, self.gamma)]
        if any(given) and not all(given):
            yield f"{self.label}: give all of jacobian, nu and gamma, or none of them to have them found exactly"

    def evaluate(self, t: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """(Phi, Phi_q, nu, gamma) of shapes (..., rows), (..., rows, 3 bodies), (..., rows), (..., rows).

        q, v: (..., bodies, 3); t: (...) or a scalar.
        """
        shape, n = q.shape[:-2], q.shape[-2]
        dtype = np.result_type(q, v, float)
        t = np.broadcast_to(t, shape)
        state = [Coordinates(*(q[..., b, k] for k in range(3)), *(v[..., b, k] for k in range(3))) for b in range(n)]
        Phi = self._rows(self.phi(t, *state), shape, dtype)
        if self.jacobian is not None:
            Phi_q = np.empty((*shape, len(self.rows), 3 * n), dtype)
            for row, entries in enumerate(self.jacobian(t, *state)):
                for col, value in enumerate(np.atleast_1d(np.asarray(entries, dtype=object))):
                    Phi_q[..., row, col] = value
            nu, gamma = (self._rows(f(t, *state), shape, dtype) for f in (self.nu, self.gamma))
            return Phi, Phi_q, nu, gamma

        # directions: one per coordinate (Phi_q), time (nu = -Phi_t), and (v, 1) (gamma = -d2 Phi along the motion)
        m = 3 * n + 2
        seed = np.zeros((m, *shape, n, 3), dtype)
        for k in range(3 * n):
            seed[k, ..., k // 3, k % 3] = 1.0
        seed[-1] = v
        t_seed = np.zeros((m, *shape))
        t_seed[-2:] = 1.0
        zero = np.zeros((m, *shape))
        tj = Jet(np.broadcast_to(t, zero.shape), t_seed, zero)
        bodies = [
            Coordinates(
                *(Jet(np.broadcast_to(q[..., b, k], zero.shape), seed[..., b, k], zero.astype(dtype)) for k in range(3))
            )
            for b in range(n)
        ]
        first = np.zeros((m, *shape, len(self.rows)), dtype)
        second = np.zeros_like(first)
        for row, value in enumerate(self._sequence(self.phi(tj, *bodies))):
            if isinstance(value, Jet):
                first[..., row], second[..., row] = value.f1, value.f2
        Phi_q = np.moveaxis(first[: 3 * n], 0, -1)
        return Phi, Phi_q, -first[-2], -second[-1]

    def _sequence(self, value: Any) -> list:
        values = list(value) if isinstance(value, (tuple, list)) else [value]
        if len(values) != len(self.rows):
            raise ModelError(
                f"{self.label}: phi returned {len(values)} values for {len(self.rows)} rows; "
                "return one value per row as a tuple, and give rows= their number or names"
            )
        return values

    def _rows(self, value: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        out = np.empty((*shape, len(self.rows)), dtype)
        for row, x in enumerate(self._sequence(value)):
            out[..., row] = x
        return out
