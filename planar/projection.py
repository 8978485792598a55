"""Projection on the constraints: the weighted smallest change that closes Phi (positions) and Phi_q v - nu (velocities).

    min 1/2 (dq - dq0)^T W (dq - dq0)   subject to   Phi_q dq = b

Small systems use the singular value decomposition, which stays well behaved in singular positions; large ones the sparse
KKT solver with W in the place of M.
"""

from __future__ import annotations

import numpy as np

from planar.errors import SingularError
from planar.linear import dependence, kkt_solver
from planar.system import System

DENSE = 150  # rows; up to here an SVD costs less than a few milliseconds
RCOND = 1e-11  # singular values below this part of the largest count as zero


def weights(system: System, drawn: bool = True) -> np.ndarray:
    """Positive weights (nq,): masses, a typical mass for massless bodies; drawn: little for poses that were left out."""
    m = system.mass.reshape(-1, 3)
    typical = m[:, 0][m[:, 0] > 0].mean() if (m[:, 0] > 0).any() else 1.0
    w = np.where(m > 0, m, np.array([1.0, 1.0, system.length**2]) * np.where(m[:, :1] > 0, m[:, :1], typical))
    return w.reshape(-1) * np.where(system.known | (not drawn), 1.0, 1e-4)


def not_held(system: System, Phi_q: np.ndarray) -> list[str]:
    """Massless motions that no constraint resists (Phi_q x = 0 with M x = 0), as messages.

    Kinematics and statics do not mind them; the equations of motion have no answer for them.
    """
    massless = np.flatnonzero(system.mass == 0.0)
    if not massless.size:
        return []
    columns, entries = system.pattern.transpose()
    part, chosen = columns.select(massless)
    found = dependence(part, Phi_q[entries][chosen], tol=1e-8)
    messages = []
    for k in range(found.dependent.size):
        moving = massless[found.relation(k)]
        names = list(dict.fromkeys(system.body_names[c // 3] for c in moving))
        if len(names) == 1 and (moving % 3 == 2).all():
            messages.append(
                f"body {names[0]!r}: nothing holds its angle and its inertia is 0 kg m^2; give an inertia or a joint"
            )
        else:
            who = ", ".join(map(repr, names))
            messages.append(f"{who} can move without moving any mass; give a mass and an inertia, or one more joint")
    return messages


def in_radians(system: System) -> np.ndarray:
    """(nc,) bool: rows of Phi that are angles; the others are lengths in m."""
    found = np.zeros(system.nc, bool)
    for batch in system.batches:
        if batch.primitive.name in ("angles", "parallel"):
            found[batch.rows] = True
    return found


def row_scale(system: System) -> np.ndarray:
    """Factors (nc,) that turn every row into metres: rows in radians are multiplied by the typical length."""
    return np.where(in_radians(system), system.length, 1.0)


class Projector:
    """Solves the problem above for one system (or some rows of it) and one set of weights; the pattern is analysed once."""

    def __init__(self, system: System, w: np.ndarray):
        self.pattern, self.w = system.pattern, w
        whole = getattr(system, "system", system)  # `planar.mobility.Rows`
        self.rows = row_scale(whole)[getattr(system, "index", slice(None))]
        self.dense = system.nc <= DENSE
        self.solver = None if self.dense or not system.nc else kkt_solver(self.pattern, w)

    def step(self, Phi_q: np.ndarray, b: np.ndarray, toward: np.ndarray | None = None) -> np.ndarray:
        """dq nearest to `toward` (zero if left out) with Phi_q dq = b; least squares where b cannot be met."""
        if not self.pattern.nc:
            return np.zeros_like(self.w) if toward is None else toward
        if self.dense:
            return self._dense(Phi_q, b, toward)
        r = np.zeros_like(self.w) if toward is None else self.w * toward
        try:
            return self.solver.factor(Phi_q).solve(r, b)[0]
        except SingularError:
            return self._dense(Phi_q, b, toward)

    def _dense(self, Phi_q: np.ndarray, b: np.ndarray, toward: np.ndarray | None) -> np.ndarray:
        """All rows in metres and all columns in the measure: what is small is small in any size of mechanism."""
        scale = 1.0 / np.sqrt(self.w)
        J = self.pattern.to_dense(Phi_q)
        if toward is not None:
            b = b - J @ toward
        dq = scale * np.linalg.lstsq(self.rows[:, None] * J * scale, self.rows * b, rcond=RCOND)[0]
        return dq if toward is None else dq + toward
