"""LU factors of a square matrix whose pattern stays while its values change: dense, banded, SuperLU.

Contract: `Class(n, row, col, symmetric)` fixes the pattern; `factor(values)` takes A[row, col] = values, scaled so
that the entries are of order one, and returns the size of the smallest pivot (0.0 when the elimination broke down);
`solve(b, trans)` gives A^-1 b, or A^-T b for trans=1, for b of shape (n,) or (n, k). `alarm` is the pivot of a
Jacobian below which its rows may be dependent (those leave 1e-16 times the growth) and a closer look is due.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgbtrf, dgbtrs, dgetrf, dgetrs
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from planar.linear.order import Index, inverse, rcm, rcm_square


class DenseLU:
    """LAPACK dgetrf. Called without scipy.linalg's checks, which cost ten times a small factorisation."""

    alarm = 1e-9

    def __init__(self, n: int, row: Index, col: Index, symmetric: bool):
        self._A = np.zeros((n, n), order="F")
        self._flat = self._A.T.reshape(-1)  # view in storage order
        self._diagonal = self._flat[:: n + 1]
        self._where = col * n + row

    def factor(self, values: NDArray) -> float:
        self._flat.fill(0.0)
        self._flat[self._where] = values
        _, self._piv, info = dgetrf(self._A, overwrite_a=1)
        return 0.0 if info else float(np.minimum.reduce(np.abs(self._diagonal)))

    def solve(self, b: NDArray, trans: int = 0) -> NDArray:
        return dgetrs(self._A, self._piv, b, trans=trans)[0]


class BandLU:
    """LAPACK dgbtrf after reverse Cuthill-McKee; A[i, j] is kept at ab[kl + ku + i - j, j]."""

    alarm = 1e-9

    def __init__(self, n: int, row: Index, col: Index, symmetric: bool):
        order = rcm(n, row, col) if symmetric else None
        self._rows, self._cols = (order, order) if symmetric else rcm_square(n, row, col)
        i, j = inverse(self._rows)[row], inverse(self._cols)[col]
        self.kl, self.ku = int(max(np.max(i - j), 0)), int(max(np.max(j - i), 0))
        height = 2 * self.kl + self.ku + 1  # kl rows more for the fill of pivoting
        self._ab = np.zeros((height, n), order="F")
        self._flat = self._ab.T.reshape(-1)
        self._where = j * height + self.kl + self.ku + i - j

    def factor(self, values: NDArray) -> float:
        self._flat.fill(0.0)
        self._flat[self._where] = values
        _, self._piv, info = dgbtrf(self._ab, self.kl, self.ku, overwrite_ab=1)
        return 0.0 if info else float(np.abs(self._ab[self.kl + self.ku]).min())

    def solve(self, b: NDArray, trans: int = 0) -> NDArray:
        into, out = (self._cols, self._rows) if trans else (self._rows, self._cols)
        y = dgbtrs(self._ab, self.kl, self.ku, b[into], self._piv, trans=trans, overwrite_b=1)[0]
        x = np.empty_like(y)
        x[out] = y
        return x


class SuperLU:
    """scipy's splu. It cannot reuse an analysis, but it can be handed its own column order: a fifth less time."""

    alarm = 1e-9

    def __init__(self, n: int, row: Index, col: Index, symmetric: bool):
        self._cols = np.arange(n)
        self._assemble(n, row, col, np.random.default_rng(0).uniform(1.0, 2.0, row.size))
        self._probe = np.where(np.arange(n) % 3, 1.0, -0.5)
        self._order = "COLAMD"
        try:
            self._cols = np.argsort(splu(self._A, permc_spec="COLAMD").perm_c)
        except RuntimeError:  # structurally singular: every factorisation will say so
            return
        self._assemble(n, row, col, np.zeros(row.size))
        self._order = "NATURAL"

    def _assemble(self, n: int, row: Index, col: Index, values: NDArray) -> None:
        """CSC of A with its columns permuted; `_source` takes the values to their places."""
        place = inverse(self._cols)[col]
        self._source = np.lexsort((row, place))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(place, minlength=n)))).astype(np.int32)
        indices = row[self._source].astype(np.int32)
        self._A = csc_array((values[self._source], indices, indptr), shape=(n, n))

    def factor(self, values: NDArray) -> float:
        np.take(values, self._source, out=self._A.data, mode="clip")
        try:
            self._lu = splu(self._A, permc_spec=self._order)
        except RuntimeError:  # "Factor is exactly singular"
            return 0.0
        # no cheap access to the pivots: 1 / |A^-1| as one probe sees it stands for the smallest
        return float(np.linalg.norm(self._probe) / np.linalg.norm(self._lu.solve(self._probe)))

    def solve(self, b: NDArray, trans: int = 0) -> NDArray:
        if trans:
            return self._lu.solve(b[self._cols], "T")
        y = self._lu.solve(b)
        x = np.empty_like(y)
        x[self._cols] = y
        return x
