"""The KKT system of full rank, solved in two ways.

    [ M      Phi_q^T ] [ x   ]   [ r ]
    [ Phi_q  0       ] [ lam ] = [ g ]        M = diag(mass)

Contract: `factor(data)` returns the smallest pivot of the scaled matrix; `rescale(data)` renews the scales, which are
kept from the first factorisation on since they only have to be right in magnitude; `solve(r, g)` gives (x, lam).
Right-hand sides are (nq,) and (nc,), or (nq, k) and (nc, k): a.T works on the last axis in both cases.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from planar.linear.gram import BandGram
from planar.linear.lu import BandLU, DenseLU, SuperLU
from planar.linear.order import equilibrate, kkt_graph
from planar.linear.pattern import Pattern

CLOSED = 1e-14  # residual of Phi_q x = g, relative to x, that needs no refinement
STEPS = 3  # of refinement at most; each gains the digits that the condition of S left


class FullKKT:
    """LU of the whole matrix: any masses, zero ones too."""

    alarm = 1e-12  # a pivot below may mean dependent rows (those leave 1e-16) and asks for a closer look

    def __init__(self, pattern: Pattern, mass: NDArray, LU: type[DenseLU | BandLU | SuperLU]):
        nq, nnz = pattern.nq, pattern.nnz
        self._pattern, self._nq = pattern, nq
        self._n, self._row, self._col = kkt_graph(pattern)
        self._values = np.concatenate((mass, np.zeros(2 * nnz)))
        self._lower, self._upper = self._values[nq : nq + nnz], self._values[nq + nnz :]  # views: Phi_q, Phi_q^T
        self._lu = LU(self._n, self._row, self._col, symmetric=True)
        self._scale: NDArray | None = None

    def rescale(self, data: NDArray) -> None:
        self._pattern.check_finite(data)
        self._lower[:] = self._upper[:] = data
        self._d = equilibrate(self._n, self._row, self._col, self._values)[0]
        self._scale = self._d[self._row] * self._d[self._col]

    def factor(self, data: NDArray) -> float:
        if self._scale is None:
            self.rescale(data)
        self._lower[:] = self._upper[:] = data
        return self._lu.factor(self._values * self._scale)

    def solve(self, r: NDArray, g: NDArray) -> tuple[NDArray, NDArray]:
        # D K D y = D b,  (x, lam) = D y
        b = np.concatenate((r, g))
        y = (self._lu.solve((b.T * self._d).T).T * self._d).T
        return y[: self._nq], y[self._nq :]


class SchurKKT:
    """Cholesky of S = Phi_q M^-1 Phi_q^T: all masses positive.

    S lam = Phi_q M^-1 r - g        x = M^-1 (r - Phi_q^T lam)

    The factor is that of P P^T with P = D Phi_q M^-1/2 and D such that the rows of P have length one. Refinement on
    the KKT residual gives x what S, the square of P, lost.
    """

    def __init__(self, pattern: Pattern, mass: NDArray, Gram: type[BandGram]):
        self._pattern, self._mass = pattern, mass
        self._sqrt = 1.0 / np.sqrt(mass)
        self._gram = Gram(pattern)
        self._data = np.zeros(pattern.nnz)
        self._scale: NDArray | None = None
        # rounding leaves a dependent row a pivot of up to eps |c|_1^2, c its coefficients: more in longer loops
        self.alarm = 1e-11 * max(1.0, pattern.nc / 10)

    def rescale(self, data: NDArray) -> None:
        self._pattern.check_finite(data)
        w = data * self._sqrt[self._pattern.indices]
        length = np.sqrt(np.bincount(self._pattern.rows, w * w, minlength=self._pattern.nc))
        self._d = 1.0 / np.where(length > 0.0, length, 1.0)
        self._scale = self._d[self._pattern.rows] * self._sqrt[self._pattern.indices]
        largest = np.zeros(self._pattern.nc)
        np.maximum.at(largest, self._pattern.rows, np.abs(data))
        self._weight = 1.0 / np.where(largest > 0.0, largest, 1.0)

    def factor(self, data: NDArray) -> float:
        if self._scale is None:
            self.rescale(data)
        self._data[:] = data
        return self._gram.factor(self._data * self._scale)

    def solve(self, r: NDArray, g: NDArray) -> tuple[NDArray, NDArray]:
        x, lam = self._solve_once(r, g)
        for _ in range(STEPS):
            gap = g - self._times(x)
            size = _norm(x) + _norm((g.T * self._weight).T)
            if np.all(_norm((gap.T * self._weight).T) <= CLOSED * size):
                break
            dx, dlam = self._solve_once(r - (x.T * self._mass).T - self._times_T(lam), gap)
            x, lam = x + dx, lam + dlam
        return x, lam

    def _solve_once(self, r: NDArray, g: NDArray) -> tuple[NDArray, NDArray]:
        h = self._times((r.T / self._mass).T) - g
        lam = (self._gram.solve((h.T * self._d).T).T * self._d).T
        return ((r - self._times_T(lam)).T / self._mass).T, lam

    def _times(self, x: NDArray) -> NDArray:
        return self._pattern.multiply(self._data, x.T).T

    def _times_T(self, lam: NDArray) -> NDArray:
        return self._pattern.multiply_T(self._data, lam.T).T


def _norm(v: NDArray) -> NDArray | float:
    """Length of a vector, or of every column."""
    return sqrt(v @ v) if v.ndim == 1 else np.linalg.norm(v, axis=0)
