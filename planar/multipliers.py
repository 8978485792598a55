"""Solving Phi_q^T lam = b for many samples, the smallest lam where the rows are redundant.

Multipliers are forces in N and couples in N m; "smallest" compares them through the typical length L of the mechanism
(a couple counts as the force couple / L), so that the answer does not depend on the units of length.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from planar import backend
from planar.assembly import row_scale
from planar.continuation import DENSE
from planar.errors import SingularError
from planar.linear import dependence, jacobian_solver, kkt_solver
from planar.packed import dense_slots, pack
from planar.system import System

CHUNK = 4_000_000  # numbers in one stack of dense matrices

Solve = Callable[[np.ndarray], np.ndarray]


def transposed_solver(system: System, Phi_q: np.ndarray, q: np.ndarray, free: bool = False) -> Solve:
    """solve(b): (nt, nq) -> (nt, nc), for the Jacobians Phi_q (nt, nnz) at the poses q (nt, nq).

    free: motions may be left free, so that only a b without a part along them can be balanced (the rest is left over).
    """
    if system.nq > DENSE or system.nc > 2 * DENSE:
        return lambda b: _one_by_one(system, Phi_q, b)
    if free or system.nc < system.nq:
        return lambda b: _in_chunks(system, _least_squares, Phi_q, b)
    if system.nc == system.nq:
        packed = pack(system)
        if packed is not None and backend.has_numba() and backend.is_loaded():
            slots = dense_slots(system, packed, np.arange(system.nc))
            padded = np.zeros((len(q), system.nq + 3))
            padded[:, :-3] = q
            return lambda b: backend.compiled().transposed(*packed[:5], slots, padded, np.ascontiguousarray(b))
        return lambda b: _in_chunks(system, _square, Phi_q, b)
    return lambda b: _in_chunks(system, _smallest, Phi_q, b)


def _in_chunks(system: System, solve: Callable, Phi_q: np.ndarray, b: np.ndarray) -> np.ndarray:
    n = max(1, len(b) * system.nc * system.nq // CHUNK)
    parts = zip(np.array_split(Phi_q, n), np.array_split(b, n), strict=True)
    return np.concatenate([solve(system, data, right) for data, right in parts])


def _square(system: System, Phi_q: np.ndarray, b: np.ndarray) -> np.ndarray:
    JT = np.swapaxes(system.pattern.to_dense(Phi_q), -1, -2)
    try:
        return np.linalg.solve(JT, b[..., None])[..., 0]
    except np.linalg.LinAlgError:  # a sample in a singular position: the smallest multipliers there
        return _least_squares(system, Phi_q, b)


def _smallest(system: System, Phi_q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """lam = D P^T x with (P P^T) x = b', P = (D Phi_q)^T scaled; two refinements give back what the square P P^T lost."""
    D = row_scale(system)
    J = system.pattern.to_dense(Phi_q) * D[:, None]
    column = _sizes(J, -2)  # brings angles and lengths to one size
    J = J / column[..., None, :]
    right = b / column
    G = np.swapaxes(J, -1, -2) @ J
    lam = np.zeros((*b.shape[:-1], system.nc))
    try:
        for _ in range(3):
            gap = right - (lam[..., None, :] @ J)[..., 0, :]
            lam = lam + (J @ np.linalg.solve(G, gap[..., None]))[..., 0]
    except np.linalg.LinAlgError:
        return _least_squares(system, Phi_q, b)
    gap = np.abs(right - (lam[..., None, :] @ J)[..., 0, :]).max(axis=-1)
    bad = ~(gap <= 1e-9 * (np.abs(right).max(axis=-1) + np.abs(lam).max(axis=-1)))
    if bad.any():
        return _least_squares(system, Phi_q, b)
    return lam * D


def _sizes(J: np.ndarray, axis: int) -> np.ndarray:
    """Lengths of the columns of Phi_q, 1 for one that is zero: a coordinate that no constraint feels, to rounding."""
    size = np.linalg.norm(J, axis=axis)
    return np.where(size > 1e-12 * size.max(axis=-1, keepdims=True), size, 1.0)


def _least_squares(system: System, Phi_q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Smallest least-squares solution by the singular value decomposition; any rank."""
    D = row_scale(system)
    JT = np.swapaxes(system.pattern.to_dense(Phi_q) * D[:, None], -1, -2)
    column = _sizes(JT, -1)
    return (np.linalg.pinv(JT / column[..., None], rcond=1e-9) @ (b / column)[..., None])[..., 0] * D


def _one_by_one(system: System, Phi_q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Large systems, sparse."""
    lam = np.zeros((len(b), system.nc))
    D = row_scale(system)
    if system.nc == system.nq:
        solver = jacobian_solver(system.pattern)
        try:
            for k in range(len(b)):
                lam[k] = solver.factor(Phi_q[k]).solve_T(b[k])
            return lam
        except SingularError:
            pass
    # x + Phi_q^T lam = b with Phi_q x = 0: x = 0 and lam the smallest wherever b can be balanced
    kkt = kkt_solver(system.pattern, np.ones(system.nq))
    for k in range(len(b)):
        lam[k] = D * kkt.factor(Phi_q[k] * D[system.pattern.rows]).solve(b[k], np.zeros(system.nc))[1]
    return lam


def augmented(
    system: System, Phi_q: np.ndarray, Q: np.ndarray, gamma: np.ndarray, route: str = "auto"
) -> tuple[np.ndarray, np.ndarray]:
    """(a, lam) from the simultaneous system [M Phi_q^T; Phi_q 0] [a; lam] = [Q; gamma] at every sample."""
    nq, nc, D = system.nq, system.nc, row_scale(system)
    redundant = nc and dependence(system.pattern, Phi_q[0]).dependent.size
    if route == "auto" and nq <= DENSE and not redundant:
        a, lam = np.empty((len(Q), nq)), np.empty((len(Q), nc))
        n = max(1, len(Q) * (nq + nc) ** 2 // CHUNK)
        for part in np.array_split(np.arange(len(Q)), n):
            K = np.zeros((part.size, nq + nc, nq + nc))
            K[:, np.arange(nq), np.arange(nq)] = system.mass
            J = system.pattern.to_dense(Phi_q[part])
            K[:, nq:, :nq], K[:, :nq, nq:] = J, np.swapaxes(J, -1, -2)
            x = np.linalg.solve(K, np.concatenate([Q[part], gamma[part]], -1)[..., None])[..., 0]
            a[part], lam[part] = x[:, :nq], x[:, nq:]
        return a, lam
    solver = kkt_solver(system.pattern, system.mass, route)
    a, lam = np.empty((len(Q), nq)), np.empty((len(Q), nc))
    for k in range(len(Q)):
        a[k], scaled = solver.factor(Phi_q[k] * D[system.pattern.rows]).solve(Q[k], D * gamma[k])
        lam[k] = D * scaled
    return a, lam
