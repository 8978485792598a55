"""Cholesky factors of S = P P^T, P of a fixed pattern: the banded one. (cholmod.py has the general sparse one.)

Contract: `Class(pattern)` fixes the pattern; `factor(w)` takes the values of P, rows scaled to length one, and returns
the smallest pivot, which is the squared distance of a row of P from those eliminated before it (0.0 when the
elimination broke down); `solve(b)` gives S^-1 b for b of shape (nc,) or (nc, k).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpbtrf, dpbtrs
from scipy.sparse import csr_array

from planar.linear.order import gram_entries, inverse, rcm
from planar.linear.pattern import Pattern


class BandGram:
    """LAPACK dpbtrf after reverse Cuthill-McKee; S[i, j], i >= j, is kept at band[i - j, j].

    band = T(w) w: every place of the band sums the products w[a] w[b] of the pairs that meet there, so the sum is a
    sparse product with a fixed pattern whose values are w[a]. That halves the time of np.bincount.
    """

    def __init__(self, pattern: Pattern):
        n = pattern.nc
        a, b = gram_entries(pattern)
        self.order = rcm(n, pattern.rows[a], pattern.rows[b])
        place = inverse(self.order)[pattern.rows]
        lower = place[a] >= place[b]
        a, b = a[lower], b[lower]
        i, j = place[a], place[b]
        self.kd = int(np.max(i - j, initial=0))
        where = j * (self.kd + 1) + i - j
        sort = np.argsort(where, kind="stable")
        self._a = a[sort]
        size = n * (self.kd + 1)
        indptr = np.searchsorted(where[sort], np.arange(size + 1)).astype(np.int32)
        self._T = csr_array((np.zeros(a.size), b[sort].astype(np.int32), indptr), shape=(size, pattern.nnz))

    def assemble(self, w: NDArray) -> NDArray:
        """The lower band of P P^T, (kd + 1, nc), in the order `self.order`."""
        np.take(w, self._a, out=self._T.data, mode="clip")  # "raise" would buffer the output
        return (self._T @ w).reshape(-1, self.kd + 1).T

    def factor(self, w: NDArray) -> float:
        self._L, info = dpbtrf(self.assemble(w), lower=1, overwrite_ab=1)
        return 0.0 if info else float(self._L[0].min() ** 2)

    def solve(self, b: NDArray) -> NDArray:
        y = dpbtrs(self._L, b[self.order], lower=1, overwrite_b=1)[0]
        x = np.empty_like(y)
        x[self.order] = y
        return x
