"""The generalised-alpha method for constrained mechanisms, implicit, of order two.

Unknowns of a step: q, lam at t + h with the algorithmic acceleration w (Arnold and Bruels),

    q1 = q + h v + h^2 ((1/2 - beta) w + beta w1)      v1 = v + h ((1 - gamma) w + gamma w1)
    (1 - alpha_m) w1 + alpha_m w = (1 - alpha_f) a1 + alpha_f a
    M a1 + Phi_q^T lam1 = Q(t1, q1, v1)                Phi(q1, t1) = 0                           (index 3)

alpha_m = (2 rho - 1)/(rho + 1), alpha_f = rho/(rho + 1), gamma = 1/2 + alpha_f - alpha_m, beta = (gamma + 1/2)^2 / 4: rho, the
spectral radius at infinity, is 1 without and 0 with the strongest damping of what the step cannot resolve.  After each
step the velocities are projected on Phi_q v = nu, and a, lam are taken at the projected state, which keeps them free of
the weak instability of index 3.  Newton uses the exact tangent

    [ beta' M + gamma' C + K   Phi_q^T ]        K = d(Phi_q^T lam - Q)/dq,  C = -dQ/dv
    [ Phi_q                    0       ]        beta' = (1 - alpha_m)/(h^2 beta (1 - alpha_f)),  gamma' = gamma/(h beta)

with the second block of unknowns and rows scaled by h^2, so that its condition does not depend on the step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import block_array, diags_array
from scipy.sparse.linalg import splu

from planar.errors import SingularError
from planar.methods import Projection
from planar.system import System
from planar.tangents import force_tangents, geometric_stiffness

SMALL = 120  # unknowns up to which dense algebra is quicker
NEWTON = 12


class GenAlpha(Projection):
    """One step at a time; the state y = (q, v, work) as in the explicit methods."""

    def __init__(self, system: System, spare: int = 0, rho: float = 0.8):
        super().__init__(system, spare)
        self.alpha_m, self.alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = 0.25 * (self.gamma + 0.5) ** 2
        self.w = np.zeros(self.n)  # algorithmic acceleration at the last state
        self.h = 0.0  # the step that it belongs to

    def begin(self, t: float, y: np.ndarray) -> None:
        """Accelerations, multipliers and power at the start."""
        slope = np.zeros_like(y)
        if not self.rate(t, 0.0, y, slope) > 0.0:
            raise SingularError(f"the mechanism is in a singular position at the start, t = {t:g} s; start elsewhere")
        self.a, self.force, self.power = slope[self.n : -1], self.lam.copy(), float(slope[-1])
        self.w = self.a.copy()

    def step(self, t: float, h: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """(new state, estimate of its local error in q (nq,)) or None where Newton fails; changes nothing until `accept`."""
        n, am, af = self.n, self.alpha_m, self.alpha_f
        q, v, t1 = y[:n], y[n : 2 * n], t + h
        F = self.system.motion_values(t1)
        # w is the acceleration at a place in the step, (alpha_m - alpha_f) h from its end: another step, another place
        w = self.a + (self.w - self.a) * (h / self.h if self.h else 1.0)
        # predictor: a1 = a
        w1 = ((1 - af) * self.a + af * self.a - am * w) / (1 - am)
        q1 = q + h * v + h * h * ((0.5 - self.beta) * w + self.beta * w1)
        v1 = v + h * ((1 - self.gamma) * w + self.gamma * w1)
        a1, lam = self.a.copy(), self.force.copy()
        b1, g1 = (1 - am) / (h * h * self.beta * (1 - af)), self.gamma / (h * self.beta)
        before, slow = np.inf, np.inf
        for _ in range(NEWTON):
            e = self.system.evaluate(t1, q1, v1, F)
            Q = self.system.forces(t1, q1, v1)
            if not np.isfinite(e.Phi).all() or not np.isfinite(Q).all():
                return None
            residual = self.mass * a1 + self.pattern.multiply_T(e.Phi_q, lam) - Q
            if not slow <= 0.1:  # modified Newton: the tangent is kept while it serves
                try:
                    solve = self._tangent(t1, q1, v1, lam, e.Phi_q, b1, g1, h)
                except SingularError:
                    return None
            x = solve(-np.concatenate([h * h * residual, e.Phi]))
            dq = x[:n]
            q1, lam = q1 + dq, lam + x[n:] / (h * h)
            v1, a1 = v1 + g1 * dq, a1 + b1 * dq
            change = float(np.abs(dq * self.metre).max(initial=0.0))
            if change <= 1e-14 * self.length + 4e-16 * np.abs(q1).max(initial=0.0):
                break
            if change > 0.3 * before and before <= 1e-11 * self.length:  # down to rounding
                break
            if not change <= max(2.0 * before, self.length):
                return None
            slow, before = change / before if before < np.inf else 0.0, change
        else:
            return None
        w1 = ((1 - af) * a1 + af * self.a - am * w) / (1 - am)
        new = np.concatenate([q1, v1, y[-1:]])
        if not self.restore(t1, new):
            return None
        slope = np.zeros_like(new)
        if not self.rate(t1, h, new, slope) > 0.0:
            return None
        new[-1] += 0.5 * h * (self.power + slope[-1])
        self._next = (a1, self.lam.copy(), w1, float(slope[-1]), h)
        # Taylor of q to third order against the step: h^2 (beta - 1/6) (w1 - w)
        return new, h * h * (self.beta - 1.0 / 6.0) * (w1 - w)

    def accept(self) -> None:
        """The last step becomes the state to start from."""
        self.a, self.force, self.w, self.power, self.h = self._next

    def _tangent(self, t, q, v, lam, Phi_q, b1, g1, h) -> Callable[[np.ndarray], np.ndarray]:
        """The factored tangent: right side -> (dq, h^2 dlam)."""
        K, C, _ = force_tangents(self.system, t, q, v)
        top = h * h * (diags_array(b1 * self.mass) + geometric_stiffness(self.system, t, q, lam) - K - g1 * C)
        J = self.pattern.to_csr(Phi_q)
        n, nc = self.n, self.pattern.nc
        if n + nc > SMALL and not self.spare:
            try:
                return splu(block_array([[top, J.T], [J, None]], format="csc")).solve
            except RuntimeError:  # "Factor is exactly singular"
                raise SingularError("the tangent of the implicit step is singular") from None
        A = np.zeros((n + nc, n + nc))
        A[:n, :n], A[n:, :n] = top.toarray(), J.toarray()
        A[:n, n:] = A[n:, :n].T
        if self.spare:  # redundant rows: the smallest change of the multipliers
            inverse = np.linalg.pinv(A, rcond=1e-13)
            return lambda b: inverse @ b
        factors = lu_factor(A, check_finite=False)
        return lambda b: lu_solve(factors, b, check_finite=False)
