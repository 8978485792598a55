"""Methods of forward dynamics: how accelerations follow from a state, and how a state is kept on the constraints.

Index-1 accelerations (all methods but "gen_alpha"):

    [ M      Phi_q^T ] [ a   ]   [ Q     ]
    [ Phi_q  0       ] [ lam ] = [ gamma ]

    "projection"   plain; after each step q and v go back to Phi = 0, Phi_q v = nu by the smallest mass-weighted change
    "baumgarte"    gamma - 2 alpha (Phi_q v - nu) - beta^2 Phi in the place of gamma; nothing is projected
"""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.errors import SingularError
from planar.forcing import Forcing
from planar.linear import kkt_solver
from planar.projection import weights
from planar.system import Constraints, System

NEWTON = 12  # iterations of the projection at most
CLOSED = 1e-12  # a correction below this part of the typical length ends the projection


class Projection:
    """Index-1 accelerations and the mass-weighted projection, evaluated with NumPy."""

    projects = True

    def __init__(self, system: System):
        self.system, self.pattern, self.mass = system, system.pattern, system.mass
        self.n = system.nq
        self.solver = kkt_solver(system.pattern, system.mass)
        w = weights(system, drawn=False)
        self.projector = self.solver if np.array_equal(w, system.mass) else kkt_solver(system.pattern, w)
        self.metre = np.tile([1.0, 1.0, system.length], system.nb)
        self.conservative = conservative(system.forcing)
        self.smallest = 1.0

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray) -> Constraints:
        return self.system.constraints(t, q, v)

    def right_side(self, e: Constraints, v: np.ndarray, step: float) -> np.ndarray:
        """What Phi_q a must be."""
        return e.gamma

    def accelerations(
        self, t: float, step: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """(a, lam, power of everything without a potential)."""
        e = self.evaluate(t, q, v)
        Q = self.system.forces(t, q, v)
        a, lam = self.solver.factor(e.Phi_q).solve(Q, self.right_side(e, v, step))
        loads = Q - self.system.forcing.gravity
        if self.conservative is not None:
            loads -= self.conservative.forces(self.system, t, q, v)
        return a, lam, float(loads @ v - lam @ e.nu)

    def rate(self, t: float, step: float, y: np.ndarray, out: np.ndarray) -> bool:
        n = self.n
        try:
            out[n : 2 * n], _, out[-1] = self.accelerations(t, step, y[:n], y[n : 2 * n])
        except SingularError:
            return False
        out[:n] = y[n : 2 * n]
        return bool(np.isfinite(out).all())

    def restore(self, t: float, y: np.ndarray) -> bool:
        """Newton on Phi(q, t) = 0 with one factorisation while it converges quickly, then v once."""
        n, q, v = self.n, y[: self.n], y[self.n : -1]
        if not self.pattern.nc:
            return bool(np.isfinite(y).all())
        still, zero, before = np.zeros(n), np.zeros(n), np.inf
        F = self.system.motion_values(t)
        try:
            for _ in range(NEWTON):
                e = self.system.evaluate(t, q, still, F)
                if not before <= 1e-3 * self.system.length:
                    self.projector.factor(e.Phi_q)
                dq = self.projector.solve(zero, -e.Phi)[0]
                q += dq
                change = float(np.abs(dq * self.metre).max())
                if change <= CLOSED * self.system.length + 4e-16 * float(np.abs(q * self.metre).max()):
                    break
                if not change <= max(0.5 * before, self.system.length):
                    return False
                before = change
            else:
                return False
            for _ in range(2):
                v += self.projector.solve(zero, e.nu - self.pattern.multiply(e.Phi_q, v))[0]
        except SingularError:
            return False
        return bool(np.isfinite(y).all())


def conservative(forcing: Forcing) -> Forcing | None:
    """The part of the forces with a potential that is no gravity: springs without their dampers and actuators."""
    from dataclasses import replace

    found = []
    for batch in forcing.batches:
        damper = {"spring": 5, "torsion": 1}.get(batch.law.name)
        if damper is not None:
            p = batch.parameters.copy()
            p[damper] = 0.0
            found.append(replace(batch, parameters=p, constant=0.0 * batch.constant, timed=(), called=()))
    return Forcing(0.0 * forcing.gravity, tuple(found), (), forcing.pattern) if found else None


METHODS: dict[str, Any] = {"projection": Projection}
