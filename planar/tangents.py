"""Tangents of the equations of motion at one state, sparse and exact.

    M a + Phi_q^T lam = Q(t, q, v)      K = d(Phi_q^T lam - Q)/dq      C = -dQ/dv

The geometric part G = d(Phi_q^T lam)/dq = sum_r lam_r d2Phi_r/dq2 comes from the complex step on the kernels of the
constraints.  Coordinates that never meet in one row of Phi_q share a colour and are perturbed together (Curtis, Powell
and Reid), so a chain of any length needs as many evaluations as one of its joints, all of them in one batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_array, csr_array

from planar.errors import ModelError
from planar.linear import Pattern
from planar.motions import Constant
from planar.system import System

STEP = 1e-30  # complex step: no cancellation, so far below any digit
TRUST = 1e-4  # a slope of a function that differs more than this part from central differences is not believed
DIFFERENCE = 6e-6  # step of central differences in parts of the size: the cube root of the round-off


def held(system: System, t: float) -> System:
    """The same system with its drivers stopped where they are at time t: f(t), f' = f'' = 0."""
    if not system.motions:
        return system
    return replace(system, motions=tuple(Constant(float(motion(t))) for motion in system.motions))


@dataclass(frozen=True)
class Colours:
    """of: (nq,) colour of each coordinate; meets: (colours, nc) the coordinate of that colour in each row, -1 if none."""

    of: np.ndarray
    meets: np.ndarray

    @property
    def steps(self) -> np.ndarray:
        """(colours, nq) imaginary steps, one coordinate of each row at a time."""
        return 1j * STEP * (self.of == np.arange(len(self.meets))[:, None])


@lru_cache(maxsize=64)
def colours(pattern: Pattern) -> Colours:
    """Greedy colouring: no two coordinates of one row have the same colour."""
    of = np.full(pattern.nq, -1, np.intp)
    used: list[set[int]] = [set() for _ in range(pattern.nc)]
    start, rows = pattern.indptr_T.tolist(), pattern.rows[pattern.by_column].tolist()
    for k in range(pattern.nq):
        mine = rows[start[k] : start[k + 1]]
        taken = set().union(*(used[r] for r in mine)) if mine else set()
        colour = next(c for c in range(len(taken) + 1) if c not in taken)
        of[k] = colour
        for r in mine:
            used[r].add(colour)
    meets = np.full((int(of.max(initial=-1)) + 1, pattern.nc), -1, np.intp)
    meets[of[pattern.indices], pattern.rows] = pattern.indices
    return Colours(of, meets)


def geometric_stiffness(system: System, t: float, q: np.ndarray, lam: np.ndarray) -> csr_array:
    """G = d(Phi_q^T lam)/dq (nq x nq), symmetric."""
    pattern, c = system.pattern, colours(system.pattern)
    J = system.evaluate(t, q + c.steps, np.zeros_like(q), system.motion_values(t)).Phi_q.imag / STEP
    column = c.meets[:, pattern.rows]
    keep = (column >= 0) & (J != 0.0)
    row = np.broadcast_to(pattern.indices, column.shape)[keep]
    G = coo_array(((J * lam[pattern.rows])[keep], (row, column[keep])), shape=(pattern.nq, pattern.nq)).tocsr()
    return (G + G.T) * 0.5  # equal but for rounding


@dataclass(frozen=True)
class RowTangents:
    """Along a motion the constraint on a small displacement is Phi_q dq = 0 at all times, so

    Phi_q dv + D1 dq = 0,   Phi_q da + 2 D1 dv + D2 dq = 0,   D1 = d(Phi_q)/dt,  D2 = d2(Phi_q)/dt2   (nc x nq).
    """

    D1: csr_array
    D2: csr_array


def row_tangents(system: System, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> RowTangents:
    """D1 = (Phi_q v - nu)_q and D2 = (Phi_q a - gamma)_q by the complex step."""
    pattern, c = system.pattern, colours(system.pattern)
    e = system.evaluate(t, q + c.steps, v, system.motion_values(t))
    keep = c.meets >= 0
    row = np.broadcast_to(np.arange(pattern.nc), keep.shape)[keep]

    def matrix(values: np.ndarray) -> csr_array:
        data = values.imag[keep] / STEP
        return coo_array((data, (row, c.meets[keep])), shape=(pattern.nc, pattern.nq)).tocsr()

    return RowTangents(
        matrix(pattern.multiply(e.Phi_q, v) - e.nu),
        matrix(pattern.multiply(e.Phi_q, a) - e.gamma),
    )


def force_tangents(system: System, t: float, q: np.ndarray, v: np.ndarray) -> tuple[csr_array, csr_array, list[str]]:
    """dQ/dq, dQ/dv (nq x nq) and notes.

    Of functions that cannot be differentiated exactly (``math.sin``, tables), or whose exact slope differs from a central
    difference in one direction (a kink), all columns are central differences, and a note says so.
    """
    pattern, notes = system.forcing.pattern, []
    if not system.forcing.has_callables:
        K, C = system.force_tangents(t, q, v)
    else:
        try:
            K, C = system.force_tangents(t, q, v)
            wrong = _disagreement(system, t, q, v, K, C)
        except ModelError as error:
            wrong = error.problems[0]
        if wrong:
            K, C = _differences(system, t, q, v)
            notes.append(f"{wrong}; its slopes are central differences here, good to about 1e-9")
    return pattern.to_csr(K), pattern.to_csr(C), notes


def _displacement(system: System) -> np.ndarray:
    """(nq,) sizes of a difference step: metres, radians."""
    return DIFFERENCE * np.tile([system.length, system.length, 1.0], system.nb)


def _disagreement(system: System, t: float, q: np.ndarray, v: np.ndarray, K: np.ndarray, C: np.ndarray) -> str:
    d = _displacement(system) * np.random.default_rng(0).uniform(0.5, 1.0, system.nq)
    pairs = (K, np.stack([q + d, q - d]), np.stack([v, v])), (C, np.stack([q, q]), np.stack([v + d, v - d]))
    for data, qs, vs in pairs:
        Q = system.forces(t, qs, vs)
        measured = (Q[0] - Q[1]) / 2
        exact = system.forcing.pattern.multiply(data, d)
        noise = 1e-15 * np.abs(Q).max(initial=0.0)
        if np.abs(measured - exact).max(initial=0.0) > TRUST * np.abs(measured).max(initial=0.0) + 10 * noise:
            return "a force function has a kink here"
    return ""


def _differences(system: System, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pattern, h = system.forcing.pattern, _displacement(system)
    step, out = np.diag(h), []
    for dq, dv in ((step, 0 * step), (0 * step, step)):
        Q = (system.forces(t, q + dq, v + dv) - system.forces(t, q - dq, v - dv)) / (2 * h[:, None])
        out.append(Q.T[pattern.rows, pattern.indices])
    return out[0], out[1]
