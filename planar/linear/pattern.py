"""The fixed sparsity pattern of the constraint Jacobian Phi_q, and products with it.

Only the values of Phi_q change along a motion. They travel as one array `data` in CSR order, possibly with leading
batch axes (time samples, designs); everything that depends on the pattern alone is computed once and kept here.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array

from planar.errors import SingularError

FEW = 1000  # entries up to which NumPy's segmented sum is quicker than scipy's dispatch to its compiled product


@dataclass(frozen=True, eq=False)
class Pattern:
    """CSR pattern of Phi_q (nc x nq): indices sorted within each row, without duplicates."""

    nq: int
    nc: int
    indptr: NDArray[np.intp]
    indices: NDArray[np.intp]

    def __post_init__(self) -> None:
        for name in ("indptr", "indices"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.intp))
        if self.indptr.shape != (self.nc + 1,) or self.indptr[-1] != self.indices.size:
            raise ValueError(f"indptr must have {self.nc + 1} entries and end at {self.indices.size}")
        if self.nnz and not 0 <= self.indices.min() <= self.indices.max() < self.nq:
            raise ValueError(f"indices must lie in 0..{self.nq - 1}")
        if np.any(np.diff(self.rows * self.nq + self.indices) <= 0):
            raise ValueError("indices must be sorted within each row, without duplicates")

    @classmethod
    def from_sparse(cls, matrix: ArrayLike | csr_array) -> Pattern:
        """Pattern of the stored entries of a scipy matrix (of the non-zeros of a dense one)."""
        A = csr_array(matrix)
        A.sum_duplicates()
        return cls(A.shape[1], A.shape[0], A.indptr, A.indices)

    @property
    def nnz(self) -> int:
        return self.indices.size

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Row of every entry."""
        return np.repeat(np.arange(self.nc), np.diff(self.indptr))

    @cached_property
    def by_column(self) -> NDArray[np.intp]:
        """Entries in column order: data[by_column] is the CSC data, and the CSR data of Phi_q^T."""
        return np.lexsort((self.rows, self.indices))

    @cached_property
    def indptr_T(self) -> NDArray[np.intp]:
        """Start of every column in `by_column`."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.indices, minlength=self.nq))))

    @cached_property
    def _row_sums(self) -> _SegmentSums:
        return _SegmentSums(self.indptr)

    @cached_property
    def _column_sums(self) -> _SegmentSums:
        return _SegmentSums(self.indptr_T)

    @cached_property
    def _csr(self) -> csr_array:
        return self.to_csr(np.zeros(self.nnz))

    @cached_property
    def _csr_T(self) -> csc_array:
        # CSR of Phi_q is, array for array, CSC of Phi_q^T
        A = self._csr
        return csc_array((A.data, A.indices, A.indptr), shape=(self.nq, self.nc))

    def to_csr(self, data: NDArray) -> csr_array:
        """Phi_q as a scipy matrix that uses `data` itself, not a copy."""
        index = np.int32 if max(self.nnz, self.nq, self.nc) < 2**31 else np.int64
        return csr_array((data, self.indices.astype(index), self.indptr.astype(index)), shape=(self.nc, self.nq))

    def to_dense(self, data: ArrayLike) -> NDArray:
        """Phi_q as (..., nc, nq)."""
        data = np.asarray(data)
        out = np.zeros((*data.shape[:-1], self.nc, self.nq), dtype=data.dtype)
        out[..., self.rows, self.indices] = data
        return out

    def multiply(self, data: NDArray, x: NDArray) -> NDArray:
        """Phi_q x for (..., nq) -> (..., nc); the batch axes of `data` and `x` broadcast."""
        if data.ndim == 1 and x.ndim <= 2 and self.nnz > FEW:
            return (_with_data(self._csr, data) @ x.T).T
        return self._row_sums(data * x[..., self.indices])

    def multiply_T(self, data: NDArray, lam: NDArray) -> NDArray:
        """Phi_q^T lam for (..., nc) -> (..., nq); the batch axes of `data` and `lam` broadcast."""
        if data.ndim == 1 and lam.ndim <= 2 and self.nnz > FEW:
            return (_with_data(self._csr_T, data) @ lam.T).T
        return self._column_sums((data * lam[..., self.rows])[..., self.by_column])

    def select(self, rows: NDArray[np.intp]) -> tuple[Pattern, NDArray[np.intp]]:
        """Pattern of some rows in the given order, and which entries of `data` they take."""
        count = np.diff(self.indptr)[rows]
        indptr = np.concatenate(([0], np.cumsum(count)))
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], count)
        return Pattern(self.nq, len(rows), indptr, self.indices[entries]), entries

    def transpose(self) -> tuple[Pattern, NDArray[np.intp]]:
        """Pattern of Phi_q^T, and which entries of `data` it takes."""
        return Pattern(self.nc, self.nq, self.indptr_T, self.rows[self.by_column]), self.by_column

    def check_finite(self, data: NDArray) -> None:
        """NaN and infinity end here, by row, not in a silent result."""
        if not np.isfinite(data).all():
            row = int(self.rows[np.flatnonzero(~np.isfinite(data))[0]])
            error = SingularError(f"the Jacobian is not finite in row {row}")
            error.row = row
            raise error


def _with_data(matrix: csr_array | csc_array, data: NDArray) -> csr_array | csc_array:
    """The same structure around other values: a shallow copy, so that threads do not disturb each other."""
    other = copy(matrix)
    other.data = data
    return other


class _SegmentSums:
    """Sum of values[..., indptr[k]:indptr[k+1]] for every k; an empty segment gives zero."""

    def __init__(self, indptr: NDArray[np.intp]):
        self.n = indptr.size - 1
        self.filled = np.flatnonzero(indptr[:-1] < indptr[1:])
        self.starts = indptr[self.filled]  # without the empty ones: reduceat would give them the value that follows

    def __call__(self, values: NDArray) -> NDArray:
        if self.filled.size == self.n > 0:
            return np.add.reduceat(values, self.starts, axis=-1)
        out = np.zeros((*values.shape[:-1], self.n), dtype=values.dtype)
        if self.filled.size:
            out[..., self.filled] = np.add.reduceat(values, self.starts, axis=-1)
        return out
