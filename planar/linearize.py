"""linearize(model, at=...): modes, eigenvalues and stability of small motions about a state (`planar.reduced`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from planar import eigen
from planar.model import Model
from planar.modes import Mode, describe
from planar.poses import RESTING, resolve
from planar.reduced import Reduced
from planar.system import System

SOME = 10  # modes worked out for a large system unless asked otherwise


class Linearization(Reduced):
    """Small motions dq = Z y about a state of a mechanism.

    M, C, K      (n, n) reduced mass, damping and stiffness; Z (nq, n) the free motions they belong to
    modes        natural modes without damping, slowest first; omega (rad/s), hertz and shapes (nq, n) of all of them
    eigenvalues  complex, 1/s, of the damped system; damping: their ratios -Re s / |s|; eigenvectors (nq, ...)
    stability    "stable", "unstable" or "neutral" (some motion meets no resistance, none grows)
    t, q, v, lam the state; system, notes
    """

    def __init__(
        self, system: System, t: float, q: np.ndarray, v: np.ndarray, *, modes: int | None = None, **options: Any
    ):
        super().__init__(system, t, q, v, **options)
        self._wanted = min(self.n, modes if modes is not None else self.n if not self.large else SOME)

    # --- eigenvalues -----------------------------------------------------------------------------------------------

    @cached_property
    def _sparse(self) -> tuple[np.ndarray, csr_array, csr_array, csr_array]:
        """Mass, C, K in the scaled coordinates u, and the independent rows of Phi_q, scaled to length one."""
        rows, entries = self.system.pattern.select(self._independent)
        data = self._Phi_q[entries] * self._unit[rows.indices]
        data = data / np.sqrt(np.bincount(rows.rows, data * data, minlength=rows.nc))[rows.rows]
        K = self._scaled(self._K_force + self._K_geometric)
        return self.system.mass * self._unit**2, self._scaled(self._C), K, rows.to_csr(data)

    @cached_property
    def _natural(self) -> tuple[np.ndarray, np.ndarray]:
        """(w2, shapes (nq, .)) of the undamped system."""
        if self.large and self.symmetric:
            mass, _, K, J = self._sparse
            w2, U = eigen.lowest(mass, K, J, self._wanted)
            return w2, self._unit[:, None] * U
        M, _, K = self._own
        w2, Y = eigen.natural(M, K, self.symmetric)
        stiffness = w2 / np.maximum((np.abs(Y) ** 2).sum(axis=0), 1e-300)  # y^T K y / y^T y
        w2 = np.where(np.abs(stiffness) <= self.flat, 0.0, w2)
        return w2[: self._wanted], (self._basis @ Y)[:, : self._wanted]

    @property
    def massless(self) -> int:
        """Number of free motions without mass; they follow the others statically. (Not counted in a large system.)"""
        return 0 if self.large else eigen.split(self._own[0])[1].shape[1]

    @cached_property
    def modes(self) -> list[Mode]:
        if self.moving:
            return []
        w2, shapes = self._natural
        out = []
        for square, shape in zip(w2, shapes.T, strict=True):
            # s^2 = -w2: the root in the upper right quarter
            s = 1j * np.sqrt(square) if square >= 0 else np.sqrt(-square)
            if np.iscomplexobj(w2):
                s = np.sqrt(-complex(square))
                s = complex(abs(s.real), abs(s.imag))
            if not np.iscomplexobj(shape):
                shape = shape * np.sign(shape[np.argmax(np.abs(shape / self._unit))])
            out.append(Mode(complex(s), shape, self.system))
        return out

    @property
    def omega(self) -> np.ndarray:
        """Natural frequencies in rad/s (see `Mode.omega`)."""
        return np.array([mode.omega for mode in self.modes])

    @property
    def hertz(self) -> np.ndarray:
        return self.omega / (2 * np.pi)

    @property
    def shapes(self) -> np.ndarray:
        """(nq, modes), of unit modal mass."""
        return np.column_stack([mode.shape for mode in self.modes]) if self.modes else np.zeros((self.system.nq, 0))

    @cached_property
    def _damped(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.large:
            s, Y = eigen.damped(*self._own)
            return s, self._basis @ Y
        if not self.damped:
            s = np.array([x for mode in self.modes for x in (mode.eigenvalue, -mode.eigenvalue)])
            return s, np.repeat(self.shapes, 2, axis=1)
        mass, C, K, J = self._sparse
        w2 = np.abs(self._natural[0][0]) if self.symmetric else abs(K).max() / mass.max() * 1e-9
        s, U = eigen.lowest_damped(mass, C, K, J, 2 * self._wanted, shift=1e-3 * float(np.sqrt(w2)) + 1e-9)
        return s, self._unit[:, None] * U

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of s^2 M + s C + K, 1/s, conjugates side by side, slowest oscillation first."""
        return self._damped[0]

    @property
    def eigenvectors(self) -> np.ndarray:
        """(nq, ...) complex displacements that belong to `eigenvalues`."""
        return self._damped[1]

    @property
    def damping(self) -> np.ndarray:
        """Ratio -Re s / |s| of every eigenvalue: 1 for one that creeps, 0 undamped, negative for one that grows."""
        s = self.eigenvalues
        return np.where(np.abs(s) > 0, -s.real / np.where(np.abs(s) > 0, np.abs(s), 1.0), 0.0)

    # --- stability -------------------------------------------------------------------------------------------------

    @cached_property
    def softest(self) -> tuple[float, np.ndarray]:
        """(N/m, dq (nq,)): the smallest stiffness of the (symmetric part of the) system and the free motion it belongs to."""
        if not self.n:
            return np.inf, np.zeros(self.system.nq)
        if self.large:
            _, _, K, J = self._sparse
            value, u = eigen.curvature(csr_array(0.5 * (K + K.T)), J, self.flat)
            return value, self._unit * u
        K = self._own[2]
        e, Y = np.linalg.eigh(0.5 * (K + K.T))
        return float(e[0]), self._basis @ Y[:, 0]

    def downhill(self) -> np.ndarray | None:
        """(nq,) a free motion along which the loads push away from the state; None if there is none."""
        if not self.n:
            return None
        if self.symmetric or self.large:
            value, dq = self.softest
            return dq if value < -self.flat else None
        e, Y = np.linalg.eig(self._own[2])
        k = int(np.argmin(e.real))
        return self._basis @ Y[:, k].real if e[k].real < -self.flat else None

    @cached_property
    def stability(self) -> str:
        """By the stiffness where the loads have a potential and dampers only take energy, else by the eigenvalues.

        A stable undamped system swings for ever about the state; a damped one comes back to it.
        """
        if not self.n:
            return "stable"
        if self.symmetric and self._dissipative:
            e = self.softest[0]
            return "stable" if e > self.flat else "unstable" if e < -self.flat else "neutral"
        s = self.eigenvalues
        # a double root is split by rounding, so its real part is known to the square root of it only
        slack = 1e-7 * np.abs(s).max(initial=0.0)
        if (s.real > slack).any():
            return "unstable"
        return "neutral" if (np.abs(s) <= slack).any() else "stable"

    @property
    def stable(self) -> bool:
        return self.stability == "stable"

    @property
    def _dissipative(self) -> bool:
        """No damper feeds energy in."""
        if self.large:
            return not self._C.nnz or bool((self._C.diagonal() >= 0).all())
        C = self._own[1]
        return bool(np.linalg.eigvalsh(0.5 * (C + C.T)).min(initial=0.0) >= -1e-12 * np.abs(C).max(initial=0.0))

    def __repr__(self) -> str:
        return f"<linearization of {self.system.model.name!r} at t = {self.t:g} s: {self.n} free, {self.stability}>"

    def __str__(self) -> str:
        return describe(self)


def linearize(
    model: Model | System,
    at: Any = None,
    *,
    t: float = 0.0,
    v: Any = None,
    modes: int | None = None,
    coordinates: Sequence[tuple[Any, str]] | None = None,
) -> Linearization:
    """Small motions of the mechanism about a state.

    at           None: the drawn, assembled pose; an equilibrium or other result (its last sample), an `Assembly`, a pose
                 {body: (x, y, phi) or phi} or an array (nq,)
    t            time in s for a pose; results and assemblies bring their own
    v            (nq,) velocities; left out: those of the result or assembly, and rest with held drivers for a pose
    modes        how many of the slowest modes to work out; default all, or 10 of a large system (more than 600 coordinates
                 and 200 free motions), whose eigenvalues come from Lanczos and Arnoldi iteration on sparse matrices
    coordinates  [(body, "x" | "y" | "phi"), ...], one per free motion: then y, M, C, K are in these coordinates

    >>> lin = linearize(m, coordinates=[(rod, "phi")])  # doctest: +SKIP
    >>> lin.K, lin.hertz, lin.eigenvalues, lin.stability  # doctest: +SKIP
    """
    system, t, q, v, notes = resolve(model, at, t, v)
    resting = getattr(at, "analysis", "") in RESTING and not np.any(v)
    return Linearization(system, t, q, v, modes=modes, coordinates=coordinates, notes=notes, resting=resting)
