"""The square Jacobian alone: positions, velocities and multipliers of a kinematically determined mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planar.errors import SingularError
from planar.linear.cholmod import CholmodGram
from planar.linear.core import CLOSED, STEPS
from planar.linear.order import equilibrate
from planar.linear.pattern import Pattern
from planar.linear.rank import dependence
from planar.linear.routes import LU, check_route, choose_route

SINGULAR = 1e-9  # a row is dependent when the others leave it less than this part of its length
FLOOR = 1e-15  # a pivot below is always examined


def jacobian_solver(pattern: Pattern, route: str = "auto") -> JacobianSolver:
    """A solver of Phi_q x = b and Phi_q^T lam = b for a fixed square pattern; see `available_routes`."""
    if pattern.nc != pattern.nq:
        raise ValueError(f"the Jacobian must be square, not {pattern.nc} x {pattern.nq}")
    check_route(route)
    return JacobianSolver(pattern, choose_route(pattern, None) if route == "auto" else route)


class JacobianSolver:
    """factor(data), then solve(b) and solve_T(b) for b of shape (n,) or (n, k).

    `pivot` is the smallest pivot of the scaled matrix at the last factor: it goes to zero at a singular position.
    """

    def __init__(self, pattern: Pattern, route: str):
        self.pattern = pattern
        self.pivot = 0.0
        self._use(route)

    def _use(self, route: str) -> None:
        self.route = route
        n, row, col = self.pattern.nc, self.pattern.rows, self.pattern.indices
        if route == "cholmod":
            self._lu = NormalEquations(self.pattern)
        else:
            self._lu = LU[route](n, row, col, symmetric=False)
        self._alarm = self._lu.alarm
        self._scale: NDArray | None = None

    def factor(self, data: NDArray) -> JacobianSolver:
        """Take the values of Phi_q; raises SingularError (`row`, `rows`, `smallest`) where rows are dependent."""
        if self._scale is None:
            self._rescale(data)
        self.pivot = self._lu.factor(data * self._scale)
        if not self.pivot >= self._alarm:
            self._examine(data)
        elif self.pivot >= self._lu.alarm:
            self._alarm = self._lu.alarm
        return self

    def solve(self, b: NDArray) -> NDArray:
        """Phi_q x = b:   D_r Phi_q D_c y = D_r b,  x = D_c y."""
        return (self._lu.solve((b.T * self._d_row).T).T * self._d_col).T

    def solve_T(self, b: NDArray) -> NDArray:
        """Phi_q^T lam = b."""
        return (self._lu.solve((b.T * self._d_col).T, trans=1).T * self._d_row).T

    def _rescale(self, data: NDArray) -> None:
        self.pattern.check_finite(data)
        row, col = self.pattern.rows, self.pattern.indices
        self._d_row, self._d_col = equilibrate(self.pattern.nc, row, col, data)
        self._scale = self._d_row[row] * self._d_col[col]

    def _examine(self, data: NDArray) -> None:
        """A small pivot: stale scales, a singular position, or merely a long chain of weak constraints."""
        self._rescale(data)
        self.pivot = self._lu.factor(data * self._scale)
        if self.pivot >= self._lu.alarm:
            return
        found = dependence(self.pattern, data, tol=SINGULAR)
        if found.dependent.size or (self.pivot == 0.0 and self.route != "cholmod"):
            error = SingularError(f"the Jacobian is singular: smallest pivot {self.pivot:.1e}")
            error.row = int(found.dependent[0]) if found.dependent.size else None
            error.rows = found.relation(0) if found.dependent.size else np.arange(0)
            error.smallest = self.pivot
            raise error
        if self.route == "cholmod":  # the normal equations see the square of what is left: no digits for that
            self._use("superlu")
            self.factor(data)
            return
        self._alarm = max(self.pivot / 10, FLOOR)  # examined: silent until it becomes clearly worse


class NormalEquations:
    """A A^T = L L^T by CHOLMOD, refined to the residual of A itself; the contract of lu.py.

    A x = b:    x = A^T (A A^T)^-1 b          A^T y = b:    y = (A A^T)^-1 A b
    """

    alarm = 1e-10  # squared distances, of which refinement can make up for

    def __init__(self, pattern: Pattern):
        self._pattern = pattern
        self._gram = CholmodGram(pattern)

    def factor(self, values: NDArray) -> float:
        self._values = values
        return self._gram.factor(values)

    def solve(self, b: NDArray, trans: int = 0) -> NDArray:
        times, once = (self._times_T, self._once_T) if trans else (self._times, self._once)
        x = once(b)
        for _ in range(STEPS):
            residual = b - times(x)
            if np.abs(residual).max() <= CLOSED * (np.abs(x).max() + np.abs(b).max()):
                break
            x = x + once(residual)
        return x

    def _once(self, b: NDArray) -> NDArray:
        return self._times_T(self._gram.solve(b))

    def _once_T(self, b: NDArray) -> NDArray:
        return self._gram.solve(self._times(b))

    def _times(self, x: NDArray) -> NDArray:
        return self._pattern.multiply(self._values, x.T).T

    def _times_T(self, y: NDArray) -> NDArray:
        return self._pattern.multiply_T(self._values, y.T).T
