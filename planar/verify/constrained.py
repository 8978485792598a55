"""Holonomically constrained systems in generalized coordinates, M qdd + b + g = tau + Phi^T lam with phi(q) = 0.

Equation numbers are those of chapter 5 ("zeroth-order variational principles", De Sapio), whose multipliers have the
opposite sign of those in the rest of `planar`: here +Phi^T lam acts on the system.

`explicit_solution` and `elimination` take matrices at one state.  `GeneralizedSystem` takes M(q), b(q, qd), g(q), phi(q)
as functions, written by hand for any system (planar or not); what is left out is found exactly by the complex step, so
the functions should be plain arithmetic and NumPy functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.errors import ModelError

STEP = 1e-30  # complex step: no cancellation, so far below any digit
SMALL = 1e-11  # part of the largest singular value below which a constraint counts as dependent on others


@dataclass(frozen=True)
class Explicit:
    """The explicit solution of (5.88), (5.89) and the matrices it is made of.

    H        constraint-space mass matrix (Phi M^-1 Phi^T)^-1 (5.90)
    Phi_bar  mass-weighted right inverse of Phi (5.91)
    Theta    1 - Phi_bar Phi, the mass-weighted projector onto the null space of Phi (5.95)
    condition  the larger one of M and of Phi in the metric of M
    """

    qdd: np.ndarray
    lam: np.ndarray
    H: np.ndarray
    Phi_bar: np.ndarray
    Theta: np.ndarray
    condition: float = 1.0


def explicit_solution(M: Any, rest: Any, Phi: Any, rhs: Any) -> Explicit:
    """qdd and lam of  M qdd = rest + Phi^T lam,  Phi qdd = rhs  by (5.92), (5.93).

    rest = tau - b - g;  rhs = -Phi' qd, with stabilisation -Phi' qd - beta Phi qd - alpha phi (5.99), (5.100), with a
    prescribed motion + f''.  M must be positive definite.  With M = L L^T and Phi L^-T = U S V^T the matrices are
    H = U S^-2 U^T and Phi_bar = L^-T V S^-1 U^T: no square of a condition number, and where constraints depend on each
    other the smallest lam.
    """
    M, rest, rhs = (np.asarray(x, float) for x in (M, rest, rhs))
    Phi = np.asarray(Phi, float).reshape(len(rhs), len(M))
    L = np.linalg.cholesky(M)
    Linv = np.linalg.inv(L)
    U, S, Vt = np.linalg.svd(Phi @ Linv.T, full_matrices=False)
    keep = S > SMALL * S.max(initial=0.0)
    U, S, V = U[:, keep], S[keep], Vt[keep].T
    H = (U / S**2) @ U.T
    Phi_bar = Linv.T @ (V / S) @ U.T
    Theta = np.eye(len(M)) - Phi_bar @ Phi
    qdd = Phi_bar @ rhs + Theta @ (Linv.T @ (Linv @ rest))
    lam = -Phi_bar.T @ rest + H @ rhs
    condition = max(scaled_condition(M), S[0] / S[-1] if len(S) else 1.0)
    return Explicit(qdd, lam, H, Phi_bar, Theta, float(condition))


def kinematic_projector(Phi: Any) -> np.ndarray:
    """P = W W^T = 1 - Phi^+ Phi (5.94): onto the null space of Phi, without masses."""
    W = null_space(Phi)[0]
    return W @ W.T


def null_space(Phi: Any) -> tuple[np.ndarray, np.ndarray]:
    """(W, Phi^+): an orthonormal basis of the null space of Phi (5.299) and the pseudoinverse."""
    Phi = np.asarray(Phi, float)
    U, S, Vt = np.linalg.svd(Phi)
    rank = int((S > SMALL * S.max(initial=0.0)).sum())
    return Vt[rank:].T, (Vt[:rank].T / S[:rank]) @ U[:, :rank].T


@dataclass(frozen=True)
class Eliminated:
    """The equations without multipliers, tau_p = M_p qdd_p + b_p + g_p (5.302), and their solution."""

    qdd: np.ndarray
    lam: np.ndarray
    W: np.ndarray
    M_p: np.ndarray
    b_p: np.ndarray
    g_p: np.ndarray
    tau_p: np.ndarray
    condition: float = 1.0


def elimination(M: Any, b: Any, g: Any, tau: Any, Phi: Any, rhs: Any) -> Eliminated:
    """Elimination of multipliers (5.301)-(5.306) for  M qdd + b + g = tau + Phi^T lam,  Phi qdd = rhs.

    M may be singular as long as W^T M W is not (massless links).  W is carried along the motion with W^T W' = 0, so
    that W' qd_p = Phi^+ rhs; the multipliers follow from Phi^T lam = M qdd + b + g - tau.
    """
    M, b, g, tau, rhs = (np.asarray(x, float) for x in (M, b, g, tau, rhs))
    Phi = np.asarray(Phi, float).reshape(len(rhs), len(M))
    W, Phi_plus = null_space(Phi)
    bent = Phi_plus @ rhs  # W' qd_p
    M_p = W.T @ M @ W  # (5.303)
    b_p = W.T @ b + W.T @ M @ bent  # (5.304)
    g_p = W.T @ g  # (5.305)
    tau_p = W.T @ tau  # (5.306)
    qdd = W @ np.linalg.solve(M_p, tau_p - b_p - g_p) + bent
    lam = Phi_plus.T @ (M @ qdd + b + g - tau)
    condition = np.linalg.norm(Phi, 2) * np.linalg.norm(Phi_plus, 2) if Phi.size else 1.0
    condition = float(max(condition, scaled_condition(M_p)))
    return Eliminated(qdd, lam, W, M_p, b_p, g_p, tau_p, condition)


class GeneralizedSystem:
    """tau = M(q) qdd + b(q, qd) + g(q) - Phi^T lam  subject to phi(q) = 0 (5.78), (5.79).

    M(q)        (n, n) mass matrix
    g(q)        (n,) gravity and other forces with a potential; or V(q), the potential, and g = dV/dq
    b(q, qd)    (n,) centrifugal and Coriolis forces; left out: from M by (5.217)
    phi(q)      (m,) constraints; left out: none
    Phi(q)      (m, n) its Jacobian; left out: by the complex step.  Phi' qd is then a difference of sixth order of exact
                Jacobians, good to about 1e-12; with Phi given it is exact

    >>> pendulum = GeneralizedSystem(lambda q: np.eye(2), V=lambda q: 9.81 * q[1], phi=lambda q: q @ q - 1.0)
    >>> qdd, lam = pendulum.acceleration([1.0, 0.0], [0.0, 2.0])
    >>> qdd  # centripetal and free fall
    array([-4.  , -9.81])
    """

    def __init__(
        self,
        M: Callable,
        g: Callable | None = None,
        *,
        V: Callable | None = None,
        b: Callable | None = None,
        phi: Callable | None = None,
        Phi: Callable | None = None,
    ):
        if Phi is not None and phi is None:
            raise ModelError("Phi is given without phi; give both, or phi alone")
        self.M, self._V, self._g, self._b, self._phi, self._Phi = M, V, g, b, phi, Phi

    # --- terms -----------------------------------------------------------------------------------------------------

    def gravity(self, q: Any) -> np.ndarray:
        q = np.asarray(q, float)
        if self._g is not None:
            return np.asarray(self._g(q), float)
        return np.zeros(len(q)) if self._V is None else gradient(self._V, q)

    def coriolis(self, q: Any, qd: Any) -> np.ndarray:
        """b = M' qd - 1/2 (qd^T dM/dq_k qd)_k (5.217)."""
        q, qd = np.asarray(q, float), np.asarray(qd, float)
        if self._b is not None:
            return np.asarray(self._b(q, qd), float)
        dM = gradient(self.M, q)  # (n, n, n), the direction last
        return (dM @ qd) @ qd - 0.5 * np.einsum("i,ijk,j->k", qd, dM, qd)

    def constraint(self, q: Any) -> np.ndarray:
        q = np.asarray(q)
        return np.zeros(0, q.dtype) if self._phi is None else np.atleast_1d(self._phi(q))

    def jacobian(self, q: Any) -> np.ndarray:
        """Phi = d phi / dq (5.81)."""
        q = np.asarray(q)
        if self._Phi is not None:
            return np.asarray(self._Phi(q)).reshape(-1, len(q))
        return gradient(self.constraint, q.real)

    def jacobian_rate(self, q: Any, qd: Any) -> np.ndarray:
        """Phi' qd."""
        q, qd = np.asarray(q, float), np.asarray(qd, float)
        if self._Phi is not None:
            return (self.jacobian(q + 1j * STEP * qd) @ qd).imag / STEP
        h = 1e-2 / max(1.0, float(np.abs(qd).max(initial=0.0)))
        ahead = [self.jacobian(q + k * h * qd) - self.jacobian(q - k * h * qd) for k in (1, 2, 3)]
        return (ahead[0] * 45 - ahead[1] * 9 + ahead[2]) @ qd / (60 * h)

    # --- motion ----------------------------------------------------------------------------------------------------

    def acceleration(self, q: Any, qd: Any, tau: Any = 0.0, *, alpha: float = 0.0, beta: float = 0.0) -> tuple:
        """(qdd, lam) by (5.99), (5.100); alpha = beta = 0: without stabilisation (5.92), (5.93)."""
        q, qd = np.asarray(q, float), np.asarray(qd, float)
        rest = tau - self.coriolis(q, qd) - self.gravity(q)
        found = explicit_solution(self.M(q), rest, *self._closing(q, qd, alpha, beta))
        return found.qdd, found.lam

    def eliminated(self, q: Any, qd: Any, tau: Any = 0.0) -> Eliminated:
        """The same by elimination of multipliers (5.301)-(5.306)."""
        q, qd = np.asarray(q, float), np.asarray(qd, float)
        tau = np.zeros(len(q)) + tau
        return elimination(self.M(q), self.coriolis(q, qd), self.gravity(q), tau, *self._closing(q, qd))

    def _closing(self, q: np.ndarray, qd: np.ndarray, alpha: float = 0.0, beta: float = 0.0) -> tuple:
        Phi = self.jacobian(q)
        return Phi, -self.jacobian_rate(q, qd) - beta * Phi @ qd - alpha * self.constraint(q)

    def energy(self, q: Any, qd: Any) -> float:
        """T + V; needs V."""
        q, qd = np.asarray(q, float), np.asarray(qd, float)
        if self._V is None:
            raise ModelError("the energy needs the potential; give V(q)")
        return float(0.5 * qd @ self.M(q) @ qd + self._V(q))

    # --- canonical form --------------------------------------------------------------------------------------------

    def momentum(self, q: Any, qd: Any) -> np.ndarray:
        """p = dL/dqd = M qd (5.270)."""
        return self.M(np.asarray(q, float)) @ np.asarray(qd, float)

    def hamiltonian(self, q: Any, p: Any) -> float:
        """H(q, p) = p . qd - L = 1/2 p^T M^-1 p + V (5.275)."""
        return self.energy(q, np.linalg.solve(self.M(np.asarray(q, float)), np.asarray(p, float)))

    def canonical(self, q: Any, p: Any, tau: Any = 0.0, *, alpha: float = 0.0) -> tuple:
        """(qd, pd, lam) of the constrained canonical equations (5.282), (5.283) with stabilisation (5.285).

        The matrix printed in (5.286) does not determine lam: its first row gives qd, and Phi qd = -alpha phi does not
        contain lam.  So that equation is differentiated once, with qd = M^-1 p and p' = tau + Phi^T lam - dH/dq:
        H^-1 lam = -Phi M^-1 (tau - dH/dq - M' qd) - Phi' qd - alpha Phi qd.
        """
        q, p = np.asarray(q, float), np.asarray(p, float)
        M, dM = self.M(q), gradient(self.M, q)
        qd = np.linalg.solve(M, p)  # dH/dp (5.282)
        dH_dq = self.gravity(q) - 0.5 * np.einsum("i,ijk,j->k", qd, dM, qd)
        pd = tau - dH_dq
        Phi = self.jacobian(q)
        rhs = -self.jacobian_rate(q, qd) - alpha * Phi @ qd
        lam = explicit_solution(M, pd - (dM @ qd) @ qd, Phi, rhs).lam
        return qd, pd + Phi.T @ lam, lam  # (5.283)


def scaled_condition(M: np.ndarray) -> float:
    """Condition number of a mass matrix with ones on its diagonal, so that units do not count; inf if it is singular."""
    d = np.sqrt(np.diag(M))
    if not d.size:
        return 1.0
    return float(np.linalg.cond(M / np.outer(d, d))) if np.all(d > 0) else np.inf


def gradient(f: Callable, q: np.ndarray) -> np.ndarray:
    """df/dq by the complex step, the direction as the last axis; f must accept complex q."""
    q = np.asarray(q, float)
    return np.stack([np.asarray(f(q + 1j * STEP * e)).imag / STEP for e in np.eye(len(q))], axis=-1)
