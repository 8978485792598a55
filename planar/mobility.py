"""What a mechanism can do at one pose: dependent rows, free motions, unique reactions, distance from a singular pose.

Metres and radians are compared through the typical length L of the system: a turn counts as the path L dphi, and rows of
Phi_q are scaled to length one wherever rank is decided, so units do not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from planar.assembly import row_scale
from planar.bodies import Body
from planar.joints import Revolute, Translational, Weld
from planar.linear import dependence, kkt_solver
from planar.projection import Projector, weights
from planar.system import System

# Near a singular pose the residual is quadratic in the error of the pose, so a pose closed to round-off (1e-16 of the
# size) is known to 1e-8 there and its rows to some ten times that.  A part below TOL of a row cannot be told from zero.
TOL = 1e-6
DENSE = 600  # coordinates up to which null spaces come from one singular value decomposition (0.3 s there)
MANY = 12  # free motions that are worked out one by one for larger systems

Index = np.ndarray


class Rows:
    """Some rows of a system with a pattern of their own; stands in for the system where only those rows count."""

    def __init__(self, system: System, index: Iterable[int] | np.ndarray):
        self.system, self.index = system, np.asarray(index, np.intp)
        self.pattern, self.entries = system.pattern.select(self.index)
        self.nc = self.index.size


def metric(system: System) -> np.ndarray:
    """(nq,) weights of the squared displacement: 1, 1, L^2 per body."""
    return np.tile([1.0, 1.0, system.length**2], system.nb)


def joint_rows(system: System) -> Index:
    return np.flatnonzero(~system.driven)


# --- rows ----------------------------------------------------------------------------------------------------------


def relations(system: System, Phi_q: np.ndarray, rows: Index | None = None) -> list[tuple[int, Index]]:
    """(row, set): every redundant row with the minimal set of rows, itself included, that depend on each other.

    No proper subset of a set is dependent.  Joints are examined first, so that a set without drivers says something about
    the joints alone; the redundant row is the latest of its set that can be spared.
    """
    rows = np.arange(system.nc) if rows is None else rows
    found = _relations(system, Phi_q, rows)
    drivers = rows[system.driven[rows]]
    if not found or not drivers.size:
        return found
    joints = rows[~system.driven[rows]]
    found = _relations(system, Phi_q, joints)
    spared = [row for row, _ in found]
    return found + _relations(system, Phi_q, np.setdiff1d(rows, spared))


def _relations(system: System, Phi_q: np.ndarray, rows: Index) -> list[tuple[int, Index]]:
    if not rows.size:
        return []
    part = Rows(system, rows)
    found = dependence(part.pattern, Phi_q[part.entries], mass=metric(system), tol=TOL)
    return [(int(rows[d]), rows[found.relation(k)]) for k, d in enumerate(found.dependent)]


def scaled_jacobian(system: System, Phi_q: np.ndarray) -> np.ndarray:
    """Phi_q as (..., nc, nq) in metres per metre: rows in rad and turns are both multiplied by the typical length."""
    return system.pattern.to_dense(Phi_q * _scale(system))


def _scale(system: System) -> np.ndarray:
    return row_scale(system)[system.pattern.rows] / np.sqrt(metric(system))[system.pattern.indices]


def unique_rows(system: System, Phi_q: np.ndarray) -> np.ndarray:
    """(..., nc) bool: whether the multiplier of each row, a force or couple component, is determined.

    Multipliers are known up to the null space of Phi_q^T (loads that the joints can exchange without moving anything);
    a row is unique where all of these are zero, to TOL.  The label belongs to the *component* that the row stands for:
    the x and y rows of a revolute are the global components of its force.  Where the indeterminate part has an oblique
    direction both are indeterminate although the component across it is not (`Diagnosis.directions` has it).
    Phi_q: (..., nnz), the data of `System.constraints`; small systems take all poses in one batch.
    """
    if not system.nc:
        return np.ones((*Phi_q.shape[:-1], 0), bool)
    if system.nq > DENSE or system.nc > DENSE:
        unique = np.ones((*Phi_q.shape[:-1], system.nc), bool)
        for pose in np.ndindex(Phi_q.shape[:-1]):
            for _, rows in _relations(system, Phi_q[pose], np.arange(system.nc)):
                unique[(*pose, rows)] = False
        return unique
    J = scaled_jacobian(system, Phi_q)
    length = np.linalg.norm(J, axis=-1, keepdims=True)
    N = self_stress(J / np.where(length > 0, length, 1.0))
    return np.sqrt((N * N).sum(-1)) <= TOL


def self_stress(J: np.ndarray) -> np.ndarray:
    """(..., nc, nc): orthonormal columns that span the null space of J^T, and zeros; rows of J of length about one."""
    U, s, _ = np.linalg.svd(J, full_matrices=True)
    zero = np.ones(U.shape[:-1], bool)
    zero[..., : s.shape[-1]] = s <= TOL
    return U * zero[..., None, :]


def smallest_singular_value(system: System, Phi_q: np.ndarray, rows: Index | None = None) -> tuple[float, str]:
    """(value, row name): smallest singular value of Phi_q in metres per metre, and the row most involved in it.

    The value is zero in a singular pose and falls in proportion to the distance from one.  Large systems: a few steps of
    inverse iteration, which give an upper bound good to some per cent.  A driver is named only if its share is ten times
    that of any joint: the joint is what one can look at.  rows: only these (default all).
    """
    part = Rows(system, np.arange(system.nc) if rows is None else rows)
    if not part.nc:
        return np.inf, ""
    data = (Phi_q * _scale(system))[part.entries]
    if max(part.nc, system.nq) <= DENSE:
        U, s, _ = np.linalg.svd(part.pattern.to_dense(data), full_matrices=False)
        value, u = float(s[-1]), U[:, -1]
    else:
        value, u = _inverse_iteration(part, data)
    share = np.abs(u) * np.where(system.driven[part.index], 0.1, 1.0)  # rather a joint than the driver that strains it
    return value, system.row_names[part.index[int(np.argmax(share))]]


def _inverse_iteration(part: Rows, data: np.ndarray) -> tuple[float, np.ndarray]:
    """S u = sigma^2 u for the smallest sigma, S = P P^T, P the wide one of Phi_q and Phi_q^T: x + P^T y = 0, P x = -u."""
    tall = part.nc > part.system.nq
    pattern, entries = part.pattern.transpose() if tall else (part.pattern, np.arange(data.size))
    values = data[entries]
    solver = kkt_solver(pattern, np.ones(pattern.nq)).factor(values)
    if solver.dependent.size:
        u, value = np.zeros(pattern.nc), 0.0
        u[solver.dependent] = 1.0
    else:
        u = np.random.default_rng(0).normal(size=pattern.nc)
        for _ in range(12):
            y = solver.solve(np.zeros(pattern.nq), -u)[1]
            u = y / np.linalg.norm(y)
        value = float(np.linalg.norm(pattern.multiply_T(values, u)))
    return value, part.pattern.multiply(data, u) if tall else u


# --- free motions --------------------------------------------------------------------------------------------------


@dataclass
class FreeMotion:
    """A motion that no constraint resists at one pose.

    v       (nq,) velocities of all bodies, Phi_q v = 0, with sum(M v^2) = 1 (massless bodies count as light ones)
    bodies  {name: words} of the bodies that move, e.g. {"crank": "turns about 'A'"}
    """

    v: np.ndarray = field(repr=False)
    bodies: dict[str, str]

    def __str__(self) -> str:
        words = [f"{name!r} {word}" for name, word in self.bodies.items()]
        more = [f"and {len(words) - 6} more bodies"] if len(words) > 7 else []
        return ", ".join((words[:6] if more else words) + more)


def free_motions(system: System, t: float, q: np.ndarray, drivers: bool = True) -> list[FreeMotion]:
    """The motions left free at pose q, as many as there are; drivers=False: with the drivers released.

    Each has a coordinate of its own that moves in no other one (the angle of a body that is jointed to ground where there
    is a choice), so that independent parts move one at a time.  Of a system with more than 600 coordinates and more than
    12 free motions none is worked out; `movable` still tells which bodies can move.
    """
    rows = np.arange(system.nc) if drivers else joint_rows(system)
    Phi_q = system.constraints(t, q).Phi_q
    rank = rows.size - len(_relations(system, Phi_q, rows))
    return motions_in_words(system, q, null_space(Rows(system, rows), Phi_q, rank))


def motions_in_words(system: System, q: np.ndarray, Z: np.ndarray) -> list[FreeMotion]:
    V = _one_at_a_time(system, Z)
    return [FreeMotion(v, _words(system, q, v)) for v in V.T]


def null_space(rows: Rows, Phi_q: np.ndarray, rank: int) -> np.ndarray:
    """(nq, nq - rank): motions with Phi_q v = 0 for these rows, orthonormal in the masses (massless bodies: light).

    (nq, 0) for large systems with more than 12 of them.
    """
    system, k = rows.system, rows.system.nq - rank
    w = weights(system, drawn=False)
    if k == 0 or (system.nq > DENSE and k > MANY):
        return np.zeros((system.nq, 0))
    if not rows.nc:
        return np.diag(1.0 / np.sqrt(w))
    data = Phi_q[rows.entries]
    if system.nq <= DENSE:
        scale = 1.0 / np.sqrt(metric(system))
        J = rows.pattern.to_dense(data) * scale
        length = np.linalg.norm(J, axis=1, keepdims=True)
        Z = scale[:, None] * np.linalg.svd(J / np.where(length > 0, length, 1.0))[2][rank:].T
    else:
        Z = _project(rows, data, w, np.random.default_rng(0).normal(size=(k, system.nq)) / np.sqrt(w)).T
    for _ in range(2):  # the second time removes what rounding left of the first
        Q, _ = np.linalg.qr(np.sqrt(w)[:, None] * Z)
        Z = Q / np.sqrt(w)[:, None]
    return Z


def movable(rows: Rows, Phi_q: np.ndarray) -> np.ndarray:
    """(nb,) bool: bodies that take part in some free motion: those that a random push moves."""
    system = rows.system
    w = weights(system, drawn=False)
    push = np.random.default_rng(1).normal(size=(1, system.nq)) / np.sqrt(metric(system))
    v = np.abs(_project(rows, Phi_q[rows.entries], w, push)[0] * np.sqrt(metric(system))).reshape(-1, 3).max(axis=1)
    return v > 1e-7 * np.abs(push * np.sqrt(metric(system))).max()


def _project(rows: Rows, data: np.ndarray, w: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Rows of V, made to satisfy Phi_q v = 0 with the smallest change in the measure w."""
    projector = Projector(rows, w)
    zero = np.zeros(rows.nc)
    return np.array([projector.step(data, zero, toward=v) for v in V])


def _one_at_a_time(system: System, Z: np.ndarray) -> np.ndarray:
    """Combine motions (columns) so that each has a coordinate of its own: Gauss-Jordan with preferred pivots."""
    scale = np.sqrt(metric(system))[:, None]
    N, left, pivots = scale * Z, np.ones(Z.shape[1], bool), np.zeros(Z.shape[1], np.intp)
    order = _preferred(system)
    for _ in range(Z.shape[1]):
        share = np.abs(N[:, left]).max(axis=1)
        # a tenth of the largest is sound for the elimination and leaves room for preference
        k = next(c for group in order for c in group if share[c] >= 0.1 * share.max())
        j = np.flatnonzero(left)[np.argmax(np.abs(N[k, left]))]
        N[:, j] /= N[k, j]
        others = np.arange(N.shape[1]) != j
        N[:, others] -= np.outer(N[:, j], N[k, others])
        left[j], pivots[j] = False, k
    N = N[:, np.argsort(pivots)]
    N[np.abs(N) < 1e-9 * np.abs(N).max(axis=0, initial=0.0)] = 0.0
    V = N / scale
    return V / np.sqrt((weights(system, drawn=False)[:, None] * V * V).sum(axis=0))


def _preferred(system: System) -> list[list[int]]:
    """Coordinates by preference: angles of bodies jointed to ground, other angles, the rest."""
    at_ground = {b.name for j in system.model.joints if any(b.is_ground for b in j.bodies) for b in j.bodies}
    angles = [3 * k + 2 for k in range(system.nb)]
    first = [c for c in angles if system.body_names[c // 3] in at_ground]
    return [first, sorted(set(angles) - set(first)), list(range(system.nq))]


def _words(system: System, q: np.ndarray, v: np.ndarray) -> dict[str, str]:
    motion, found = v.reshape(-1, 3), {}
    size = np.maximum(np.hypot(motion[:, 0], motion[:, 1]), system.length * np.abs(motion[:, 2]))
    joints, bodies = _joints_of(system), system.model.bodies
    for k in np.flatnonzero(size > 1e-7 * size.max(initial=0.0)):
        name = system.body_names[k]
        vx, vy, omega = motion[k]
        if system.length * abs(omega) <= 1e-6 * np.hypot(vx, vy):
            slides = any(isinstance(j, Translational) for j in joints.get(name, ()))
            found[name] = f"{'slides' if slides else 'moves'} along {direction_text((vx, vy))}"
        else:  # v + omega R d = 0 at the instantaneous centre
            near = 1e-6 * system.length
            centre = q[3 * k : 3 * k + 2] + np.array([-vy, vx]) / omega
            found[name] = f"turns about {_place(bodies[k], q[3 * k : 3 * k + 3], centre, joints.get(name, ()), near)}"
    return found


def _joints_of(system: System) -> dict[str, list]:
    found: dict[str, list] = {}
    for joint in system.model.joints:
        for body in joint.bodies:
            found.setdefault(body.name, []).append(joint)
    return found


def _place(body: Body, pose: np.ndarray, centre: np.ndarray, joints: Iterable, near: float) -> str:
    """A point by the best name it has: joint, centre of mass, point of the body, coordinates."""
    r, phi = pose[:2], pose[2]
    for joint in joints:
        if isinstance(joint, (Revolute, Weld)):
            own = joint.point_i if joint.point_i.body is body else joint.point_j
            if np.hypot(*(own.position(r, phi) - centre)) <= near:
                return repr(joint.name)
    if np.hypot(*(r - centre)) <= near:
        return "its centre of mass"
    for name in body.points:
        if np.hypot(*(body[name].position(r, phi) - centre)) <= near:
            return f"its point {name!r}"
    x, y = (0.0 if abs(c) < near else c for c in centre)
    return f"({x:.3g}, {y:.3g})"


def direction_text(e: Iterable[float]) -> str:
    """A direction as (0.6, 0.8): unit length, the first component that counts positive."""
    x, y = np.asarray(e, float) / np.hypot(*e)
    x, y = (0.0 if abs(c) < 5e-7 else c for c in (x, y))
    sign = -1.0 if (x or y) < 0 else 1.0
    return f"({sign * x + 0.0:.3g}, {sign * y + 0.0:.3g})"
