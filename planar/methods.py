"""Methods of forward dynamics: how accelerations follow from a state, and how a state is kept on the constraints.

Index-1 accelerations (all methods but "gen_alpha"):

    [ M      Phi_q^T ] [ a   ]   [ Q     ]
    [ Phi_q  0       ] [ lam ] = [ gamma ]

    "projection"   plain; after each step q and v go back to Phi = 0, Phi_q v = nu by the smallest mass-weighted change
    "baumgarte"    gamma - 2 alpha (Phi_q v - nu) - beta^2 Phi in the place of gamma; nothing is projected
    "partition"    Wehage and Haug: independent coordinates are integrated, at every stage the others follow from them
    "nullspace"    a = a_0 + W z with W spanning ker Phi_q: as many equations as degrees of freedom, no multipliers

All of them work on the whole state y = (q, v, W), so that steps, dense output, events and restarts are the same for all.
This is the NumPy version; `planar.compiled_forward` has the first two in compiled code.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.linalg import qr, solve_triangular

from planar.errors import ModelError, SingularError
from planar.forcing import Forcing
from planar.linear import Pattern, jacobian_solver, kkt_solver
from planar.projection import weights
from planar.system import Constraints, System

NEWTON = 20  # iterations of the projection at most
CLOSED = 1e-12  # a correction below this part of the typical length ends the projection
SETTLED = 1e-8  # ... and below this part where it does not get smaller any more
POOR = 3.0  # times the influence of the independent coordinates at their choice: time to choose others
LIGHT = 1e-5  # mass that a massless coordinate has in projections, as part of a typical one
EPS = float(np.finfo(float).eps)


#: where the local points of a primitive stand among its parameters: (first of the two, slot of the body)
_POINTS = {
    "coincide": ((0, 0), (2, 1)),
    "distance": ((0, 0), (2, 1)),
    "on_line": ((0, 0), (4, 1)),
    "along_line": ((0, 0), (4, 1)),
    "mesh": ((0, 0), (2, 1)),
    "curve": ((0, 1),),
}


@lru_cache(maxsize=64)
def body_length(system: System) -> float:
    """Mean distance of the joints' points from the centres of mass, m: unlike `System.length` without those of ground,

    so that errors are measured alike wherever the mechanism stands.
    """
    sizes = [np.zeros(0)]
    for batch in system.batches:
        for first, slot in _POINTS.get(batch.primitive.name, ()):
            size = np.hypot(*batch.parameters[first : first + 2])
            sizes.append(size[(batch.bodies[slot] < system.nb) & (size > 0.0)])
    found = np.concatenate(sizes)
    return float(found.mean()) if found.size else system.length


def light_masses(system: System) -> np.ndarray:
    """(nq,) what makes every mass positive: little, so that the metric of a projection stays that of the mechanism."""
    return np.where(system.mass <= 1e-12 * system.mass.max(), LIGHT * weights(system, drawn=False), 0.0)


class Projection:
    """Index-1 accelerations and the mass-weighted projection.

    spare: how many rows are permanently redundant; more than that is a singular position.
    """

    projects = True

    def __init__(self, system: System, spare: int = 0):
        self.system, self.pattern, self.mass, self.n = system, system.pattern, system.mass, system.nq
        self.spare = spare
        self.solver = kkt_solver(system.pattern, system.mass)
        w = system.mass + light_masses(system)
        self.projector = self.solver if np.array_equal(w, system.mass) else kkt_solver(system.pattern, w)
        self.length = body_length(system)
        self.metre = np.tile([1.0, 1.0, self.length], system.nb)
        self.conservative = conservative(system.forcing)
        self.lam = np.zeros(system.nc)

    def right_side(self, e: Constraints, v: np.ndarray, step: float) -> np.ndarray:
        """What Phi_q a must be."""
        return e.gamma

    def accelerations(self, e: Constraints, Q: np.ndarray, v: np.ndarray, step: float) -> tuple[np.ndarray, float]:
        """(a, pivot), and lam as an attribute."""
        a, self.lam = self.solver.factor(e.Phi_q).solve(Q, self.right_side(e, v, step))
        return a, self.solver.pivot if self.solver.dependent.size <= self.spare else 0.0

    def rate(self, t: float, step: float, y: np.ndarray, out: np.ndarray) -> float:
        n, q, v = self.n, y[: self.n], y[self.n : -1]
        try:
            e, Q = self.system.constraints(t, q, v), self.system.forces(t, q, v)
            out[n:-1], pivot = self.accelerations(e, Q, v, step)
        except SingularError:
            return 0.0
        loads = Q - self.system.forcing.gravity
        if self.conservative is not None:
            loads -= self.conservative.forces(self.system, t, q, v)
        out[:n] = v
        out[-1] = loads @ v - self.lam @ e.nu  # power of everything without a potential
        return pivot if np.isfinite(out).all() else 0.0

    def restore(self, t: float, y: np.ndarray) -> bool:
        """Newton on Phi(q, t) = 0 with one factorisation while it converges quickly, then v by Phi_q v = nu."""
        q, v, length = y[: self.n], y[self.n : -1], self.length
        if not self.pattern.nc or not self.projects:
            return bool(np.isfinite(y).all())
        zero, before, pivot = np.zeros(self.n), np.inf, 1.0
        F = self.system.motion_values(t)
        try:
            for _ in range(NEWTON):
                e = self.system.evaluate(t, q, zero, F)
                if not before <= 1e-3 * np.sqrt(pivot) * length:
                    pivot = max(self.projector.factor(e.Phi_q).pivot, EPS)
                dq = self.projector.solve(zero, -e.Phi)[0]
                q += dq
                change = float(np.abs(dq * self.metre).max())
                floor = 4 * EPS * float(np.abs(q * self.metre).max()) / np.sqrt(pivot)
                if change <= CLOSED * pivot * length + floor:
                    break
                if change <= SETTLED * length + 30 * floor and change > 0.3 * before:  # down to rounding
                    break
                if not change <= max(0.5 * before, length):
                    return False
                before = change
            else:
                return False
            for _ in range(2):
                v += self.projector.solve(zero, e.nu - self.pattern.multiply(e.Phi_q, v))[0]
        except SingularError:
            return False
        return bool(np.isfinite(y).all())


class Baumgarte(Projection):
    """Constraint errors decay like those of a damped oscillator; gains (alpha, beta) in 1/s.

    Backward in time alpha changes its sign, so that they decay there too.
    """

    projects = False

    def __init__(self, system: System, spare: int = 0, gains: tuple[float, float] = (10.0, 10.0)):
        super().__init__(system, spare)
        self.gains = gains

    def right_side(self, e: Constraints, v: np.ndarray, step: float) -> np.ndarray:
        alpha, beta = self.gains
        alpha = alpha if step >= 0.0 else -alpha
        return e.gamma - 2 * alpha * (self.pattern.multiply(e.Phi_q, v) - e.nu) - beta**2 * e.Phi


class Partition(Projection):
    """Independent coordinates are those whose columns a Gaussian elimination of Phi_q with full pivoting leaves over."""

    def __init__(self, system: System, spare: int = 0):
        super().__init__(system, spare)
        self.chosen: np.ndarray | None = None  # independent coordinates
        self.partitions = 0

    def _choose(self, Phi_q: np.ndarray) -> None:
        """Columns of Phi_q, lengths and radians on one scale, in the order of a pivoted QR: the first are dependent."""
        J = self.pattern.to_dense(Phi_q) / self.metre
        _, R, order = qr(J, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        rank = int((size > 1e-9 * size.max(initial=0.0)).sum())
        self.chosen = np.sort(order[rank:])
        _, _, rows = qr(J[:, order[:rank]].T, mode="economic", pivoting=True)
        self.rows = np.sort(rows[:rank])
        # [Phi_q; rows of the identity] x = [b; x_independent]: square, with the pattern of Phi_q
        part, self.entries = self.pattern.select(self.rows)
        n = self.chosen.size
        indptr = np.concatenate((part.indptr, part.indptr[-1] + np.arange(1, n + 1)))
        square = Pattern(self.n, self.n, indptr, np.concatenate((part.indices, self.chosen)))
        self.square = jacobian_solver(square)
        self.square.factor(self._data(Phi_q))
        self.best = self._influence()
        self.partitions += 1

    def _influence(self) -> float:
        """How much dependent coordinates move with the independent ones, at most: grows as the pivots get poor."""
        unit = np.zeros((self.n, self.chosen.size))
        unit[self.rows.size :] = np.diag(1.0 / self.metre[self.chosen])
        moved = self.square.solve(unit) * self.metre[:, None]
        return float(np.abs(moved).max(initial=1.0))

    def _data(self, Phi_q: np.ndarray) -> np.ndarray:
        return np.concatenate((Phi_q[self.entries], np.ones(self.chosen.size)))

    def complete(self, t: float, y: np.ndarray) -> bool:
        """Dependent coordinates and velocities from the independent ones, in place."""
        q, v, length = y[: self.n], y[self.n : -1], self.length
        zero, F, before = np.zeros(self.n), self.system.motion_values(t), np.inf
        right = np.zeros(self.n)
        r = self.rows.size
        try:
            for _ in range(NEWTON):
                e = self.system.evaluate(t, q, zero, F)
                if self.chosen is None:
                    self._choose(e.Phi_q)
                    r, right = self.rows.size, np.zeros(self.n)
                if not before <= 1e-4 * length:
                    self.square.factor(self._data(e.Phi_q))
                right[:r] = -e.Phi[self.rows]
                dq = self.square.solve(right)
                q += dq
                change = float(np.abs(dq * self.metre).max())
                if change <= CLOSED * length or (change <= SETTLED * length and change > 0.3 * before):
                    break
                if not change <= max(0.5 * before, length):
                    return False
                before = change
            else:
                return False
            right[:r], right[r:] = e.nu[self.rows], v[self.chosen]
            v[:] = self.square.solve(right)
        except SingularError:
            return False
        return bool(np.isfinite(y).all())

    def rate(self, t: float, step: float, y: np.ndarray, out: np.ndarray) -> float:
        if self.pattern.nc and self.chosen is None:
            self._choose(self.system.constraints(t, y[: self.n]).Phi_q)
        if self.pattern.nc and not self.complete(t, y):
            return 0.0
        return super().rate(t, step, y, out)

    def restore(self, t: float, y: np.ndarray) -> bool:
        """Complete the state; where the pivots have become poor, choose other coordinates from the next step on."""
        if not self.pattern.nc:
            return bool(np.isfinite(y).all())
        if self.chosen is None:
            self._choose(self.system.constraints(t, y[: self.n]).Phi_q)
        if not self.complete(t, y):
            return super().restore(t, y) and self._again(t, y)
        if self._influence() > POOR * self.best:
            self._again(t, y)
        return True

    def _again(self, t: float, y: np.ndarray) -> bool:
        self._choose(self.system.constraints(t, y[: self.n]).Phi_q)
        return True


class Nullspace(Projection):
    """With P = Phi_q w^-1/2 and P^T = [Y Z] [R; 0]:  W = w^-1/2 Z,  a_0 = w^-1/2 Y R^-T gamma  and

    (W^T M W) z = W^T (Q - M a_0),   a = a_0 + W z.    Velocities are taken into ker Phi_q (plus nu) at every stage.
    """

    LIMIT = 900  # coordinates; the decomposition is dense

    def __init__(self, system: System, spare: int = 0):
        super().__init__(system, spare)
        if system.nq > self.LIMIT:
            raise ModelError(
                f"method 'nullspace' decomposes Phi_q as a dense matrix; {system.nq} coordinates are too many (at most "
                f"{self.LIMIT}); use method='projection'"
            )
        self.root = 1.0 / np.sqrt(weights(system, drawn=False))

    def rate(self, t: float, step: float, y: np.ndarray, out: np.ndarray) -> float:
        if not self.pattern.nc:
            return super().rate(t, step, y, out)
        q, v = y[: self.n], y[self.n : -1]
        e = self.system.constraints(t, q)
        if not np.isfinite(e.Phi_q).all():
            return 0.0
        P = self.pattern.to_dense(e.Phi_q) * self.root
        size = np.linalg.norm(P, axis=1)
        Y, R, order = qr((P / size[:, None]).T, pivoting=True)
        rank = self.pattern.nc - self.spare
        if rank > self.n:
            return 0.0
        self.basis = (Y[:, :rank], Y[:, rank:], R[:rank, :rank], order[:rank], size[order[:rank]])
        # v = v_0 + W z with z = W^T w v
        Z = self.basis[1]
        v[:] = self.root * (self._particular(e.nu) + Z @ (Z.T @ (v / self.root)))
        return super().rate(t, step, y, out)

    def _particular(self, g: np.ndarray) -> np.ndarray:
        """Y R^-T g: the smallest solution of P x = g."""
        Y, _, R, order, size = self.basis
        return Y @ solve_triangular(R, g[order] / size, trans="T")

    def accelerations(self, e: Constraints, Q: np.ndarray, v: np.ndarray, step: float) -> tuple[np.ndarray, float]:
        if not self.pattern.nc:
            return super().accelerations(e, Q, v, step)
        Y, Z, R, order, size = self.basis
        M = self.mass * self.root**2
        a0 = self._particular(e.gamma)
        z = np.linalg.solve((Z.T * M) @ Z, Z.T @ (Q * self.root - M * a0)) if Z.shape[1] else np.zeros(0)
        x = a0 + Z @ z
        # R lam = Y^T w^-1/2 (Q - M a)
        self.lam = np.zeros(self.pattern.nc)
        self.lam[order] = solve_triangular(R, Y.T @ (Q * self.root - M * x)) / size
        diagonal = np.abs(np.diag(R))
        return self.root * x, float((diagonal.min() / diagonal.max()) ** 2)


def chosen_gains(system: System, t: float, q: np.ndarray, v: np.ndarray, step: float | None) -> tuple[float, float]:
    """alpha = beta = 3 / T, T the time scale of the motion: the shortest in which speeds and accelerations at the start

    cover a typical length.  At most half of 1/step.  Gains that grew with a shorter step would make it less accurate:
    beta^2 Phi of the stages, which are off the constraints by h^2, would not get smaller.
    """
    slope = np.zeros(2 * system.nq + 1)
    length = body_length(system)
    metre = np.tile([1.0, 1.0, length], system.nb) / length
    Projection(system, spare=system.nc).rate(t, 0.0, np.concatenate((q, v, [0.0])), slope)
    fastest = np.abs(v * metre).max(initial=0.0)
    pushed = np.sqrt(np.abs(np.nan_to_num(slope[system.nq : -1]) * metre).max(initial=0.0))
    alpha = 3.0 * max(fastest, pushed, 1e-3)
    alpha = alpha if step is None else min(alpha, 0.5 / step)
    return float(alpha), float(alpha)


def conservative(forcing: Forcing) -> Forcing | None:
    """The part of the forces that has a potential and is not gravity: springs without their dampers and actuators."""
    found = []
    for batch in forcing.batches:
        damper = {"spring": 5, "torsion": 1}.get(batch.law.name)
        if damper is not None:
            p = batch.parameters.copy()
            p[damper] = 0.0
            found.append(replace(batch, parameters=p, constant=0.0 * batch.constant, timed=(), called=()))
    return Forcing(0.0 * forcing.gravity, tuple(found), (), forcing.pattern) if found else None


METHODS: dict[str, type[Projection]] = {
    "projection": Projection,
    "baumgarte": Baumgarte,
    "partition": Partition,
    "nullspace": Nullspace,
}
