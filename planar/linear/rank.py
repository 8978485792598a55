"""Which rows of Phi_q depend on which others.

Rows are scaled to length one. A null vector n of Phi_q^T (n^T Phi_q = 0) is a relation between rows; solving the
relations for as many rows as there are relations, the latest ones where that is sound, gives

    Phi_q[dependent] = coefficients @ Phi_q[independent]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from planar.linear.core import FullKKT
from planar.linear.gram import BandGram
from planar.linear.lu import BandLU
from planar.linear.order import Index
from planar.linear.pattern import Pattern

DENSE = 600  # rows up to which pivoted QR (0.2 s there) is preferred to the sparse search
CANDIDATE = 1e-8  # squared distance from the earlier rows below which a row is examined
SOUND = 1e-4  # a relation is solved for the latest row whose share is at least this part of the largest


@dataclass(frozen=True)
class Dependence:
    """Phi_q[dependent] = coefficients @ Phi_q[independent]; both index arrays ascend, `rank` = len(independent)."""

    rank: int
    independent: Index
    dependent: Index
    coefficients: NDArray[np.float64]

    def relation(self, k: int) -> Index:
        """The rows of the k-th relation: the dependent row k and those it depends on."""
        return np.sort(np.append(self.independent[self.coefficients[k] != 0.0], self.dependent[k]))


def dependence(pattern: Pattern, data: NDArray, mass: NDArray | None = None, tol: float = 1e-9) -> Dependence:
    """Rank-revealing analysis of the rows of Phi_q.

    A row is dependent when less than `tol` of its length is independent of the others. With `mass` lengths are
    measured by Phi_q M^-1 Phi_q^T (massless coordinates count as the lightest), otherwise by Phi_q Phi_q^T.
    """
    w = np.asarray(data, dtype=float)
    if mass is not None and np.any(mass > 0.0):
        w = w / np.sqrt(np.where(mass > 0.0, mass, np.min(mass[mass > 0.0])))[pattern.indices]
    length = np.sqrt(np.bincount(pattern.rows, w * w, minlength=pattern.nc))
    length = np.where(length > 0.0, length, 1.0)
    w = w / length[pattern.rows]
    N = _null_dense(pattern, w, tol) if pattern.nc <= DENSE else _null_sparse(pattern, w, tol)
    dependent, N = _solve_for_latest(N)
    independent = np.setdiff1d(np.arange(pattern.nc), dependent)
    C = -N[independent].T
    C[np.abs(C) < max(tol, 1e-12) * np.abs(C).max(axis=1, initial=1.0, keepdims=True)] = 0.0
    C *= length[dependent][:, None] / length[independent]
    return Dependence(independent.size, independent, dependent, C)


def _null_dense(pattern: Pattern, w: NDArray, tol: float) -> NDArray:
    """Null space of Phi_q^T from Phi_q^T E = Q [R1 R2; 0 0]: N = E [-R1^-1 R2; I]."""
    R, order = qr(pattern.to_dense(w).T, mode="r", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > tol))
    N = np.zeros((pattern.nc, pattern.nc - rank))
    if N.shape[1]:
        N[order[:rank]] = -solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False)
        N[order[rank:]] = np.eye(N.shape[1])
    return N


def _null_sparse(pattern: Pattern, w: NDArray, tol: float) -> NDArray:
    """Candidates from a Cholesky factor of Phi_q Phi_q^T that skips small pivots, confirmed by least squares.

    [ I    P_I^T ] [ x   ]   [ p ]      p a candidate row, P_I the independent ones:
    [ P_I  0     ] [ c   ] = [ 0 ]      x = p - P_I^T c is the part of p that they do not reach
    """
    gram = BandGram(pattern)
    candidate = np.sort(gram.order[_skipped(gram.assemble(w))])
    while candidate.size:
        rest = np.setdiff1d(np.arange(pattern.nc), candidate)
        P_I, entries = pattern.select(rest)
        p, entries_p = pattern.select(candidate)
        rows = p.to_dense(w[entries_p]).T
        kkt = FullKKT(P_I, np.ones(pattern.nq), BandLU)
        kkt.factor(w[entries])
        x, c = kkt.solve(rows, np.zeros((rest.size, candidate.size)))
        dx, dc = kkt.solve(rows - x - P_I.multiply_T(w[entries], c.T).T, -P_I.multiply(w[entries], x.T).T)
        confirmed = np.linalg.norm(x + dx, axis=0) <= tol
        if confirmed.all():
            N = np.zeros((pattern.nc, candidate.size))
            N[rest] = -(c + dc)
            N[candidate] = np.eye(candidate.size)
            return N
        candidate = candidate[confirmed]
    return np.zeros((pattern.nc, 0))


def _skipped(band: NDArray) -> Index:
    """Columns that a Cholesky factorisation of the lower band passes over because nothing is left of them."""
    L = np.pad(band, ((0, 0), (0, band.shape[0])))
    kd = band.shape[0] - 1
    i, j = np.tril_indices(kd)
    row, col = i - j, j + 1  # of the trailing block, relative to the pivot's column
    skipped = []
    for k in range(band.shape[1]):
        if L[0, k] < CANDIDATE:
            skipped.append(k)
            continue
        l = L[1:, k] / L[0, k]
        L[row, k + col] -= l[i] * L[1 + j, k]
    return np.array(skipped, dtype=np.intp)


def _solve_for_latest(N: NDArray) -> tuple[Index, NDArray]:
    """Combine the relations (columns of N) so that each has a row of its own, with share 1: rows, ascending, and N."""
    N = N.copy()
    pivots = np.zeros(N.shape[1], dtype=np.intp)
    left = np.ones(N.shape[1], dtype=bool)
    for _ in range(N.shape[1]):
        share = np.abs(N[:, left])
        k = np.flatnonzero(share.max(axis=1) >= SOUND * share.max())[-1]
        j = np.flatnonzero(left)[np.argmax(share[k])]
        N[:, j] /= N[k, j]
        others = np.arange(N.shape[1]) != j
        N[:, others] -= np.outer(N[:, j], N[k, others])
        pivots[j], left[j] = k, False
    order = np.argsort(pivots)
    return pivots[order], N[:, order]
