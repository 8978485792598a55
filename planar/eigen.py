"""Eigenvalues of M y'' + C y' + K y = 0: dense with massless motions, or the lowest ones of a large sparse system.

Massless motions have no equation of second order.  Where M is zero but C is not they are of first order; where both are
zero they follow statically from the others, K00 y0 = -K0m ym, and are condensed.  Nothing is ever divided by a tiny mass,
so no eigenvalue is infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, solve
from scipy.sparse import bmat, csc_array, csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, eigs, eigsh, splu

from planar.errors import SingularError

MASSLESS = 1e-12  # part of the largest eigenvalue of M (or C) below which a motion has none
LANCZOS = 60  # steps of the search for negative curvature in a large system


# --- dense ---------------------------------------------------------------------------------------------------------


def split(*matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases (with, without) of the motions that some of the matrices see, and of those that none sees."""
    n = matrices[0].shape[0]
    parts = [X / np.abs(X).max() for A in matrices for X in ((A, A.T)) if np.abs(A).max(initial=0.0) > 0.0]
    if not parts or not n:
        return np.zeros((n, 0)), np.eye(n)
    _, s, Vt = np.linalg.svd(np.vstack(parts))
    rank = int((s > MASSLESS * s[0]).sum())
    return Vt[:rank].T, Vt[rank:].T


def condensed(K: np.ndarray, kept: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """(n, kept): motions of the kept basis together with the dropped ones that follow them without inertia.

    K00 y0 = -K0m ym; a dropped motion that nothing resists at all (a massless body that spins about its own pin) stays 0.
    """
    if not dropped.shape[1]:
        return kept
    K00, K0m = dropped.T @ K @ dropped, dropped.T @ K @ kept
    U, s, Vt = np.linalg.svd(K00)
    good = s > 1e-10 * max(s.max(initial=0.0), 1e-300)
    if not good.all() and np.abs(U[:, ~good].T @ K0m).max(initial=0.0) > 1e-8 * np.abs(K).max():
        raise SingularError(
            "a massless motion has no stiffness of its own and no mass; its acceleration is not defined"
        )
    return kept - dropped @ (Vt[good].T @ ((U[:, good] / s[good]).T @ K0m))


def natural(M: np.ndarray, K: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """(w2, Y): squares of the undamped frequencies, ascending, and shapes (n, m) with y^T M y = 1.

    Complex for an unsymmetric K that makes it flutter.
    """
    kept, dropped = split(M)
    Y = condensed(K, kept, dropped)
    if not Y.shape[1]:
        return np.zeros(0), Y
    M_c = kept.T @ M @ kept
    if symmetric:
        w2, X = eigh(_symmetric(Y.T @ K @ Y), _symmetric(M_c))
        return w2, Y @ X
    w2, X = np.linalg.eig(solve(M_c, kept.T @ K @ Y, assume_a="pos"))
    X = X / np.sqrt(np.einsum("ik,ij,jk->k", X.conj(), M_c, X).real)
    order = np.lexsort((w2.imag, w2.real))
    return w2[order], Y @ X[:, order]


def damped(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(s, Y): all finite eigenvalues of s^2 M + s C + K and their shapes (n, m), Y of length one.

    State (ym, ym', y1), y1 massless but damped:   [I 0 0; 0 Mm Cm1; 0 0 C11] x' = [0 I 0; -Kmm -Cmm -Km1; -K1m -C1m -K11] x
    """
    moving, still = split(M, C)
    T = condensed(K, moving, still)
    M, C, K = moving.T @ M @ T, moving.T @ C @ T, moving.T @ K @ T
    with_mass, without = split(M)
    P = np.hstack([with_mass, without])
    m, n = with_mass.shape[1], P.shape[1]
    M, C, K = (P.T @ X @ P for X in (M, C, K))
    if n > m and np.linalg.cond(C[m:, m:]) > 1e12:
        raise SingularError("a massless motion is damped only through others; its velocity is not defined")
    E, A = np.eye(m + n), np.zeros((m + n, m + n))
    E[m : 2 * m, m : 2 * m], E[m : 2 * m, 2 * m :], E[2 * m :, 2 * m :] = M[:m, :m], C[:m, m:], C[m:, m:]
    A[:m, m : 2 * m] = np.eye(m)
    for rows, part in ((slice(m, 2 * m), slice(0, m)), (slice(2 * m, None), slice(m, n))):
        A[rows, :m], A[rows, m : 2 * m], A[rows, 2 * m :] = -K[part, :m], -C[part, :m], -K[part, m:]
    s, X = np.linalg.eig(np.linalg.solve(E, A)) if m + n else (np.zeros(0), np.zeros((0, 0)))
    order = _order(s)
    Y = T @ P @ np.vstack([X[:m], X[2 * m :]])[:, order]
    size = np.linalg.norm(Y, axis=0)
    return s[order].astype(complex), Y / np.where(size > 0, size, 1.0)


def _order(s: np.ndarray) -> np.ndarray:
    """By frequency, then by growth, conjugate pairs together (to rounding)."""
    unit = 1e-11 * np.abs(s).max(initial=1e-300)
    return np.lexsort((s.imag, np.round(s.real / unit), np.round(np.abs(s.imag) / unit)))


def _symmetric(A: np.ndarray) -> np.ndarray:
    return 0.5 * (A + A.T)


# --- sparse --------------------------------------------------------------------------------------------------------


class Restricted:
    """x with A x + Phi_q^T lam = b, Phi_q x = 0: the inverse of A on the free motions, by one sparse LU."""

    def __init__(self, A: csr_array, J: csr_array):
        self.n = A.shape[0]
        K = csc_array(bmat([[A, J.T], [J, None]], format="csc")) if J.shape[0] else csc_array(A)
        try:
            self._lu = splu(K)
        except RuntimeError:  # "Factor is exactly singular"
            raise SingularError("the tangent stiffness is singular on the free motions") from None
        self._zero = np.zeros(J.shape[0])

    def __call__(self, b: np.ndarray) -> np.ndarray:
        b = np.asarray(b).reshape(self.n)
        if np.iscomplexobj(b):
            return self(b.real.copy()) + 1j * self(b.imag.copy())
        return self._lu.solve(np.concatenate([b, self._zero]))[: self.n]


def lowest(mass: np.ndarray, K: csr_array, J: csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(w2, X): the k eigenvalues of K x + J^T lam = w2 M x, J x = 0 nearest to zero, x^T M x = 1; Lanczos (ARPACK)."""
    shift = -(1e-9 * _largest(K) / mass.max() or 1.0)
    inverse = Restricted(csr_array(K - shift * diags_array(mass)), J)
    start = inverse(mass * np.random.default_rng(0).normal(size=mass.size))
    operator = LinearOperator(K.shape, matvec=inverse, dtype=float)
    w2, X = eigsh(K, k, M=diags_array(mass, format="csr"), sigma=shift, OPinv=operator, v0=start)
    order = np.argsort(w2)
    return w2[order], X[:, order]


def lowest_damped(
    mass: np.ndarray, C: csr_array, K: csr_array, J: csr_array, k: int, shift: float
) -> tuple[np.ndarray, np.ndarray]:
    """(s, X): the k eigenvalues of s^2 M + s C + K, J x = 0, nearest to the real number `shift`.

    z = (x, s x); one step of inverse iteration:  (K + h C + h^2 M) x1 = -M z2 - (C + h M) z1,  x2 = z1 + h x1,  h = shift
    """
    n, h = mass.size, shift
    B = csr_array(C + h * diags_array(mass))
    inverse = Restricted(csr_array(K + h * B), J)

    def step(z: np.ndarray) -> np.ndarray:
        z = np.asarray(z).reshape(2 * n)
        x = inverse(-(mass * z[n:]) - B @ z[:n])
        return np.concatenate([x, z[:n] + h * x])

    start = np.concatenate([inverse(mass * np.random.default_rng(0).normal(size=n)), np.zeros(n)])
    nu, Z = eigs(LinearOperator((2 * n, 2 * n), matvec=step, dtype=float), k, v0=step(start))
    s = h + 1.0 / nu
    X = Z[:n] / np.linalg.norm(Z[:n], axis=0)
    order = _order(s)
    return s[order], X[:, order]


def curvature(K: csr_array, J: csr_array, tol: float) -> tuple[float, np.ndarray]:
    """(e, x): the smallest eigenvalue of K on the motions J x = 0 that Lanczos sees, x of length one.

    Two searches, for K itself (strongly negative ones) and for its inverse near -tol (weakly negative ones and zeros); what
    they find is never below the true smallest value, so a negative answer is a proof.  A positive one is as sure as a
    random start vector makes it.
    """
    eye = diags_array(np.ones(K.shape[0]))
    project = Restricted(csr_array(eye), J)
    start = project(np.random.default_rng(0).normal(size=K.shape[0]))
    if not _largest(K):
        return 0.0, start / np.linalg.norm(start)
    inverse = Restricted(csr_array(K + tol * eye), J)
    candidates = [_ritz(lambda x: project(K @ x), start)[1][:, 0]]
    theta, X = _ritz(inverse, start)  # 1 / (e + tol)
    negative = theta < -1e-10 * np.abs(theta).max()
    for x in X[:, negative].T if negative.any() else X[:, -1:].T:
        x = inverse(x)
        candidates.append(x / np.linalg.norm(x))
    values = [float(x @ (K @ x)) for x in candidates]
    best = int(np.argmin(values))
    return values[best], candidates[best]


def _largest(A: csr_array) -> float:
    return float(abs(A).max()) if A.nnz else 0.0


def _ritz(apply: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ritz values and vectors of a symmetric operator: Lanczos with full orthogonalisation."""
    V = [start / np.linalg.norm(start)]
    alpha, beta = [], []
    for _ in range(LANCZOS):
        w = apply(V[-1])
        alpha.append(float(V[-1] @ w))
        for _ in range(2):
            for u in V:
                w = w - (u @ w) * u
        size = float(np.linalg.norm(w))
        if size <= 1e-12 * (abs(alpha[-1]) + sum(beta[-1:])):
            break
        beta.append(size)
        V.append(w / size)
    m = len(alpha)
    T = np.diag(alpha) + np.diag(beta[: m - 1], 1) + np.diag(beta[: m - 1], -1)
    theta, Y = np.linalg.eigh(T)
    return theta, np.column_stack(V[:m]) @ Y
