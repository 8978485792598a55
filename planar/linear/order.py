"""Orders and scales of sparse matrices, found once and reused by every factorisation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from planar.linear.pattern import Pattern

Index = NDArray[np.intp]


def rcm(n: int, row: Index, col: Index) -> Index:
    """Reverse Cuthill-McKee order of a symmetric pattern: order[k] is the index that comes k-th."""
    graph = csr_array((np.ones(row.size, dtype=np.int8), (row, col)), shape=(n, n))
    return reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.intp)


def rcm_square(n: int, row: Index, col: Index) -> tuple[Index, Index]:
    """Row and column orders of a square, unsymmetric pattern A: those of the graph of [0 A; A^T 0]."""
    order = rcm(2 * n, np.concatenate((row, n + col)), np.concatenate((n + col, row)))
    return order[order < n], order[order >= n] - n


def inverse(order: Index) -> Index:
    """Place of every index in the order."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place


def gram_entries(pattern: Pattern) -> tuple[Index, Index]:
    """All pairs (a, b) of entries of Phi_q in a common column: S[row a, row b] = sum of Phi_q[a] Phi_q[b]."""
    entries, start = pattern.by_column, pattern.indptr_T
    count = np.diff(start)[pattern.indices[entries]]  # partners of each entry, itself among them
    a = np.repeat(entries, count)
    within = np.arange(a.size) - np.repeat(np.cumsum(count) - count, count)
    b = entries[start[pattern.indices[a]] + within]
    return a, b


def kkt_graph(pattern: Pattern) -> tuple[int, Index, Index]:
    """Size, rows and columns of [M Phi_q^T; Phi_q 0], entries in the order mass, Phi_q, Phi_q^T."""
    diagonal, rows, cols = np.arange(pattern.nq), pattern.nq + pattern.rows, pattern.indices
    return pattern.nq + pattern.nc, np.concatenate((diagonal, rows, cols)), np.concatenate((diagonal, cols, rows))


def equilibrate(n: int, row: Index, col: Index, values: NDArray, sweeps: int = 5) -> tuple[NDArray, NDArray]:
    """Row and column scales that bring the largest entry of every row and column near 1 (Ruiz).

    Metres and radians, light and heavy bodies thus weigh the same in a pivot. A symmetric matrix gets equal scales.
    """
    d_row, d_col = np.ones(n), np.ones(n)
    size = np.abs(values)
    for _ in range(sweeps):
        scaled = d_row[row] * size * d_col[col]
        for d, index in ((d_row, row), (d_col, col)):
            largest = np.zeros(n)
            np.maximum.at(largest, index, scaled)
            d /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return d_row, d_col
