"""The equations of small motions about a state, M y'' + C y' + K y = 0, on the tangent space of the constraints.

Z spans the motions that joints and (held) drivers leave free, Phi_q Z = 0.  At rest

    M_r = Z^T M Z      C_r = -Z^T dQ/dv Z      K_r = Z^T (d(Phi_q^T lam)/dq - dQ/dq) Z

About a motion the free directions turn with the mechanism, dq = Z(t) y, and with D1, D2 the time derivatives of Phi_q
(`planar.tangents`)

    C_r = Z^T (C Z + 2 M Z')      K_r = Z^T (K Z + C Z' + M Z'')
    Phi_q Z' = -D1 Z,  Z^T W Z' = 0      Phi_q Z'' = -2 D1 Z' - D2 Z,  Z^T W Z'' = -Z'^T W Z'

where W = M (a typical mass in place of zeros): Z is carried along without turning in itself; or, with `coordinates` given,
those of Z' and Z'' are zero, as in a derivation by hand in these coordinates.  The coefficients belong to that instant.
Eigenvalues mean what they say where they stay constant: for a steady motion such as a governor at speed, in coordinates
that are steady then (angles of bodies that turn with it).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array, diags_array

from planar.descent import Landscape
from planar.errors import ModelError, SingularError
from planar.linear import dependence, kkt_solver
from planar.mobility import TOL, metric
from planar.projection import Projector, weights
from planar.system import System
from planar.tangents import force_tangents, geometric_stiffness, row_tangents

DENSE = 600  # coordinates up to which the reduced matrices are formed as a matter of course
FEW = 200  # free motions up to which they are formed for larger systems too
FLAT = 1e-10  # part of the reduced stiffness (of its force and geometric parts) below which a direction has none
NOISE = 1e-14  # the same for rounding in the unreduced entries


class Reduced:
    """State, free motions Z and reduced matrices M, C, K; `large` systems form them only when asked.

    a, lam       accelerations and multipliers of the state; n: number of free motions
    symmetric    the loads have a potential; damped: some depend on velocities; flat: stiffness that counts as none
    """

    def __init__(
        self,
        system: System,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        *,
        coordinates: Sequence[tuple[Any, str]] | None = None,
        notes: Sequence[str] = (),
        resting: bool = False,
    ):
        self.system, self.t, self.q, self.v, self.notes = system, t, q, v, list(notes)
        self.moving = bool(np.any(v))
        e = system.constraints(t, q, v)
        self._Phi_q = e.Phi_q
        self._unit = 1.0 / np.sqrt(metric(system))  # q = unit u, u in metres
        found = dependence(system.pattern, e.Phi_q, mass=metric(system), tol=TOL)
        self._independent = found.independent
        self.n = system.nq - found.rank
        dQ, dQ_dv, said = force_tangents(system, t, q, v)
        self.notes += said
        self._K_force, self._C = -dQ, -dQ_dv
        self.a, self.lam = self._accelerations(e, resting)
        self._K_geometric = geometric_stiffness(system, t, q, self.lam)
        self._check_regular(found)
        self.large = system.nq > DENSE and self.n > FEW
        self.steady = not self.moving and not np.any(self.a)
        if self.large and not self.steady:
            raise ModelError(
                f"{self.n} free motions are too many to linearize about a motion (at most {FEW} beyond {DENSE} coordinates); "
                "linearize at pl.equilibrium(m)"
            )
        self._coordinates = coordinates
        if coordinates is not None:
            self.Z  # noqa: B018 - wrong coordinates are an error here, not later

    # --- state -----------------------------------------------------------------------------------------------------

    def _accelerations(self, e: Any, resting: bool) -> tuple[np.ndarray, np.ndarray]:
        """a and lam: static where the state is a balanced rest (known to be one: resting), else those of the motion."""
        system = self.system
        if not self.moving and not np.any(e.gamma):
            land = Landscape(system, self.t, tol=1e-9)
            place = land.place(self.q)
            stiffness = float(abs(self._scaled(self._K_force)).max()) if self._K_force.nnz else 0.0
            if resting or land.balanced(place, stiffness):
                return np.zeros_like(self.q), place.lam
        Q = system.forces(self.t, self.q, self.v)
        try:
            a, lam = kkt_solver(system.pattern, system.mass).factor(e.Phi_q).solve(Q, e.gamma)
        except SingularError as error:
            k = getattr(error, "coordinate", None)
            if k is None:
                raise
            raise SingularError(
                f"body {system.body_names[k // 3]!r} has no mass where it can move, so its acceleration is not defined at a pose "
                "that is not in equilibrium; give it a mass, or linearize at pl.equilibrium(m)"
            ) from None
        if not self.moving:
            self.notes.append(
                "the state is at rest but not in equilibrium: the linearization belongs to the start of a motion"
            )
        return a, lam

    def _check_regular(self, found: Any) -> None:
        """At a singular pose the motions Z are not all motions of the mechanism, and lam moves K.

        Rows that depend on each other everywhere leave Z^T (sum n_r d2Phi_r/dq2) Z = 0 for each null vector n of Phi_q^T.
        """
        for k, row in enumerate(found.dependent):
            n = np.zeros(self.system.nc)
            n[found.independent], n[row] = found.coefficients[k], -1.0
            G = geometric_stiffness(self.system, self.t, self.q, n)
            size = abs(G).max() if G.nnz else 0.0
            if size and np.abs(self._sees(G)).max(initial=0.0) > 1e-5 * size:
                names = ", ".join(dict.fromkeys(self.system.row_names[r].rsplit(".", 1)[0] for r in found.relation(k)))
                raise SingularError(
                    f"the pose is singular: the constraints {names} depend on each other here but not nearby, so the free "
                    "motions branch and small motions have no linear law; move the mechanism a little, or change a length"
                )

    def _sees(self, A: csr_array) -> np.ndarray:
        """A on the free motions: reduced, or for large systems along one random free motion."""
        if not self.n:
            return np.zeros((0, 0))
        if self.n <= FEW:
            return self._basis.T @ (A @ self._basis)
        z = np.random.default_rng(0).normal(size=self.system.nq) * self._unit
        z = Projector(self.system, metric(self.system)).step(self._Phi_q, np.zeros(self.system.nc), toward=z)
        z /= np.linalg.norm(z / self._unit)
        return np.array([[z @ (A @ z)]])

    # --- reduced matrices ------------------------------------------------------------------------------------------

    @cached_property
    def _basis(self) -> np.ndarray:
        """(nq, n): free motions, orthonormal in u, a turn counted as path over the typical length."""
        rows, entries = self.system.pattern.select(self._independent)
        if not rows.nc:
            return np.diag(self._unit)
        J = rows.to_dense(self._Phi_q[entries]) * self._unit
        return self._unit[:, None] * qr(J.T, check_finite=False)[0][:, rows.nc :]

    @cached_property
    def _own(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K in the basis `_basis`."""
        Z, mass = self._basis, self.system.mass[:, None]
        K = self._K_force + self._K_geometric
        M = Z.T @ (mass * Z)
        C, K_r = Z.T @ (self._C @ Z), Z.T @ (K @ Z)
        if not self.steady:
            Z1, Z2 = self._turning(Z)
            C = C + 2 * Z.T @ (mass * Z1)
            K_r = K_r + Z.T @ (self._C @ Z1) + Z.T @ (mass * Z2)
        return 0.5 * (M + M.T), C, K_r

    def _turning(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Z', Z'' of the head of this file."""
        system = self.system
        w = weights(system, drawn=False)
        D = row_tangents(system, self.t, self.q, self.v, self.a)
        zero = np.zeros_like(Z)
        if not system.nc:
            return zero, zero
        solver = kkt_solver(system.pattern, w).factor(self._Phi_q)
        Z1 = solver.solve(zero, -(D.D1 @ Z))[0]
        if self._coordinates is not None:  # y is these coordinates at all times: their rows of Z are constant
            Z1 = Z1 - Z @ self._change @ Z1[self._index]
        Z2 = solver.solve(zero, -2 * (D.D1 @ Z1) - D.D2 @ Z)[0]
        if self._coordinates is not None:
            return Z1, Z2 - Z @ self._change @ Z2[self._index]
        W = w[:, None]
        return Z1, Z2 - Z @ np.linalg.solve(Z.T @ (W * Z), Z1.T @ (W * Z1))

    @cached_property
    def _index(self) -> list[int]:
        return [_coordinate(self.system, c) for c in self._coordinates or ()]

    @cached_property
    def _change(self) -> np.ndarray:
        """(n, n): Z = _basis change; the wished coordinates of Z form the unit matrix."""
        if self._coordinates is None:
            return np.eye(self.n)
        index = self._index
        if len(index) != self.n:
            raise ModelError(
                f"coordinates: {len(index)} given for {self.n} free motions; give as many (body, 'phi') pairs"
            )
        part = self._basis[index]
        if self.n and np.linalg.cond(part / self._unit[index][:, None]) > 1e8:
            raise ModelError("coordinates: the chosen ones do not describe the free motions here; choose others")
        return np.linalg.inv(part)

    @cached_property
    def Z(self) -> np.ndarray:
        return self._basis @ self._change

    @cached_property
    def M(self) -> np.ndarray:
        return self._change.T @ self._own[0] @ self._change

    @cached_property
    def C(self) -> np.ndarray:
        return self._change.T @ self._own[1] @ self._change

    @cached_property
    def K(self) -> np.ndarray:
        K = self._change.T @ self._own[2] @ self._change
        return 0.5 * (K + K.T) if self.symmetric else K

    @cached_property
    def symmetric(self) -> bool:
        """Whether nothing moves and the loads have a potential, as far as the free motions see: K is symmetric."""
        if self.moving:
            return False
        if not self.large:
            K = self._basis.T @ (self._K_force @ self._basis) if self.steady else self._own[2]
            return bool(np.abs(K - K.T).max(initial=0.0) <= 1e-8 * np.abs(K).max(initial=0.0) + self._noise)
        skew = abs(self._K_force - self._K_force.T)
        return bool((skew.max() if skew.nnz else 0.0) <= 1e-9 * abs(self._K_force).max())

    @property
    def damped(self) -> bool:
        """Whether any load depends on the velocities."""
        return bool(self._C.nnz and abs(self._C).max() > 0.0)

    @cached_property
    def _noise(self) -> float:
        scaled = [self._scaled(A) for A in (self._K_force, self._K_geometric)]
        return NOISE * sum(float(abs(A).max()) if A.nnz else 0.0 for A in scaled)

    def _scaled(self, A: csr_array) -> csr_array:
        D = diags_array(self._unit)
        return csr_array(D @ A @ D)

    @cached_property
    def flat(self) -> float:
        """Stiffness in N/m below which a motion counts as neutral."""
        if self.large:
            return FLAT / 10 * float(abs(self._scaled(self._K_force + self._K_geometric)).max())
        parts = [np.abs(self._basis.T @ (A @ self._basis)).max(initial=0.0) for A in (self._K_force, self._K_geometric)]
        return FLAT * float(sum(parts)) + 100 * self._noise


def _coordinate(system: System, wish: Any) -> int:
    try:
        body, word = wish
        k = system.body_index(body)
        if k == system.nb:
            raise ValueError
        return 3 * k + ("x", "y", "phi").index(word)
    except (TypeError, ValueError):
        raise ModelError(f"coordinates: {wish!r} is no pair of a body and 'x', 'y' or 'phi'") from None
