"""The KKT solver: picks the route, notices dependent rows, and gives the unique x and the smallest lam."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dgeqrf, dorgqr

from planar.errors import SingularError
from planar.linear.core import FullKKT, SchurKKT
from planar.linear.order import Index
from planar.linear.pattern import Pattern
from planar.linear.rank import Dependence, dependence
from planar.linear.routes import GRAM, LU, check_route, choose_route, has_schur

SAME = 1e-8  # part of a row's length below which the KKT matrix, which sees its square, cannot tell it from zero
APART = 1e-7  # part above which a row that was dependent is free again; larger than SAME, so that it does not flicker
FLOOR = 1e-15  # a pivot below is always examined


def kkt_solver(pattern: Pattern, mass: ArrayLike, route: str = "auto") -> KKTSolver:
    """A solver of [M Phi_q^T; Phi_q 0] [x; lam] = [r; g] for a fixed pattern and mass; see `available_routes`."""
    mass = np.array(mass, dtype=float)
    if mass.shape != (pattern.nq,) or not np.all(mass >= 0.0):
        raise ValueError(f"mass must be {pattern.nq} numbers, none negative")
    check_route(route)
    return KKTSolver(pattern, mass, choose_route(pattern, mass) if route == "auto" else route)


class KKTSolver:
    """factor(data), then solve(r, g) -> (x, lam) as often as wanted.

    route          what is used now; "cholmod" with a zero mass is "superlu"
    dependent      rows found dependent on others at the last factor, normally none
    inconsistency  largest |Phi_q x - g| of the last solve that dependent rows did not allow to close
    pivot          smallest pivot of the scaled matrix (of the independent rows) at the last factor
    """

    def __init__(self, pattern: Pattern, mass: NDArray, route: str):
        self.pattern, self.mass = pattern, mass
        self.dependent: Index = np.zeros(0, dtype=np.intp)
        self.inconsistency = 0.0
        self.pivot = 1.0
        self._use(route)

    def _use(self, route: str, schur: bool = True) -> None:
        self.route, self._core = _core(self.pattern, self.mass, route, schur)
        self._schur = schur
        self._alarm = self._core.alarm
        self._reduced: _Reduced | None = None
        self._known: dict[bytes, _Reduced] = {}

    def factor(self, data: NDArray) -> KKTSolver:
        """Take the values of Phi_q; raises SingularError (`coordinate`) where a massless body is not held."""
        if self._reduced is not None and self._reduced.factor(data):
            self.pivot = self._reduced.pivot
            return self
        self._reduced = None
        self.pivot = pivot = self._core.factor(data)
        if pivot >= self._alarm:
            if pivot >= self._core.alarm:
                self._alarm = self._core.alarm
            self.dependent = self.dependent[:0]
        else:
            self._examine(data)
        return self

    def solve(self, r: NDArray, g: NDArray) -> tuple[NDArray, NDArray]:
        """x (nq,) and lam (nc,), or one column for each column of r and g."""
        if self._reduced is not None:
            x, lam, self.inconsistency = self._reduced.solve(r, g)
            return x, lam
        self.inconsistency = 0.0
        return self._core.solve(r, g)

    def _examine(self, data: NDArray) -> None:
        """A small pivot: stale scales, a body that is not held, dependent rows, or merely wide masses."""
        self._core.rescale(data)
        self.pivot = pivot = self._core.factor(data)
        self.dependent = self.dependent[:0]
        if pivot >= self._core.alarm:
            return
        _check_held(self.pattern, data, self.mass)
        found = dependence(self.pattern, data, tol=SAME)
        if not found.dependent.size and pivot == 0.0:
            if isinstance(self._core, SchurKKT):  # S, the square, broke down: let the KKT matrix itself try
                self._use(self.route, schur=False)
                self.factor(data)
                return
            found = dependence(self.pattern, data, tol=1e3 * SAME)
            if not found.dependent.size:
                raise SingularError("the equations of motion are numerically singular; check masses and lengths")
        self._alarm = max(pivot / 10, FLOOR)  # examined: silent until it becomes clearly worse
        if found.dependent.size:
            self._reduce(found, data)

    def _reduce(self, found: Dependence, data: NDArray) -> None:
        key = found.dependent.tobytes()
        if key not in self._known:
            self._known[key] = _Reduced(self.pattern, self.mass, found, self.route, self._schur)
        self._reduced = self._known[key]
        self._reduced.factor(data, examined=True)
        self.dependent, self.pivot = found.dependent, self._reduced.pivot


class _Reduced:
    """The KKT system on independent rows I, the others D following from them: Phi_D = C Phi_I.

    The columns of N = [-C^T; I] span the null space of Phi_q^T, Z is an orthonormal basis of it. It is orthogonal to
    the range of Phi_q, so the same projector 1 - Z Z^T makes g consistent (least squares) and lam the smallest.
    """

    def __init__(self, pattern: Pattern, mass: NDArray, found: Dependence, route: str, schur: bool):
        self._I, self._D, self._nc, self._mass = found.independent, found.dependent, pattern.nc, mass
        rows_I, self._entries_I = pattern.select(self._I)
        self._rows_D, self._entries_D = pattern.select(self._D)
        _, self._core = _core(rows_I, mass, route, schur)
        self._alarm = self._core.alarm
        self._zero = np.zeros((self._I.size, self._D.size))

    def factor(self, data: NDArray, examined: bool = False) -> bool:
        """Whether the rows D still depend on I, and I alone is still independent."""
        self.pivot = pivot = self._core.factor(data[self._entries_I])
        if examined:
            self._alarm = max(min(self._core.alarm, pivot / 10), FLOOR)
        elif not pivot >= self._alarm:
            return False
        # M x + Phi_I^T c = Phi_D^T,  Phi_I x = 0:   x = 0 and c = C^T as long as D depends on I
        rows = self._rows_D.to_dense(data[self._entries_D]).T
        x, c = self._core.solve(rows, self._zero)
        apart = np.linalg.norm((x.T * self._mass), axis=1) > APART * np.linalg.norm(rows, axis=0)
        if apart.any() and not examined:
            return False
        N = np.zeros((self._nc, self._D.size), order="F")
        N[self._I] = -c
        N[self._D, np.arange(self._D.size)] = 1.0
        QR, tau = dgeqrf(N, overwrite_a=1)[:2]
        self._Z = dorgqr(QR, tau, overwrite_a=1)[0]
        return True

    def solve(self, r: NDArray, g: NDArray) -> tuple[NDArray, NDArray, float]:
        outside = self._Z @ (self._Z.T @ g)
        x, lam_I = self._core.solve(r, (g - outside)[self._I])
        lam = np.zeros_like(g, dtype=float)
        lam[self._I] = lam_I
        return x, lam - self._Z @ (self._Z.T @ lam), float(np.abs(outside).max())


def _core(pattern: Pattern, mass: NDArray, route: str, schur: bool) -> tuple[str, FullKKT | SchurKKT]:
    """The route that really serves these masses, and its solver."""
    if schur and route in GRAM and has_schur(pattern, mass):
        return route, SchurKKT(pattern, mass, GRAM[route])
    route = "superlu" if route == "cholmod" else route
    return route, FullKKT(pattern, mass, LU[route])


def _check_held(pattern: Pattern, data: NDArray, mass: NDArray) -> None:
    """A motion of massless coordinates alone that no constraint resists (Phi_q x = 0, M x = 0) has no equation."""
    massless = np.flatnonzero(mass == 0.0)
    if not massless.size:
        return
    columns, entries = pattern.transpose()
    part, chosen = columns.select(massless)
    found = dependence(part, data[entries][chosen], tol=SAME)
    if found.dependent.size:
        error = SingularError(f"coordinate {massless[found.dependent[0]]} has no mass and is not held by constraints")
        error.coordinate = int(massless[found.dependent[0]])
        error.coordinates = massless[found.relation(0)]
        raise error
