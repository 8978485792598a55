"""Going downhill on the constraint manifold to a place where the loads balance.

At a closed pose q with metric W (metres, and turns times a typical length) the load splits into a part that the
constraints carry and a part that is out of balance,

    W x + Phi_q^T lam = Q,   Phi_q x = 0      R = W x  (N, N, N m per body)

and a step is the Newton step on the free motions, made shorter by a shift mu where the model is not to be trusted,

    (K + mu W) dq + Phi_q^T dlam = R,   Phi_q dq = 0      K = d(Phi_q^T lam - Q)/dq

after which the constraints are closed again.  If the loads have a potential, a step must lower it by a fair part of what
the quadratic model promised; the drop is the work of the loads along the straight line between the two poses, which needs
no formula for the potential and is exact for user functions too.  Otherwise a step must not be turned back by the load it
finds: then the path is that of an overdamped mechanism, which settles where the load holds it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import qr
from scipy.sparse import csr_array, diags_array

from planar.assembly import close
from planar.eigen import Restricted
from planar.errors import ConvergenceError, SingularError
from planar.linear import kkt_solver
from planar.mobility import metric
from planar.projection import Projector
from planar.system import System
from planar.tangents import force_tangents, geometric_stiffness

DENSE = 600  # coordinates up to which the free motions are formed
REACH = 0.5  # longest step of a body: rad, or parts of the mechanism's size
FAR = 1e5  # typical sizes: who gets there has no equilibrium
STRAY = 0.5  # part of a step that closing the constraints may add to it
FAIR = 0.01  # part of the promised drop of the potential that a step must deliver
TRIES = 90  # steps tried from one place: each shift with three lengths
SHORTER = (1.0, 0.3, 0.1)
STIFF_TURNS = 10.0  # weight of turns when closing: links rather shift than turn, which keeps long chains in shape
NODES, WEIGHTS = leggauss(8)


@dataclass(frozen=True)
class Place:
    """A closed pose and its forces: R (nq,) is out of balance, `worst` the largest of it in N (couples over a length)."""

    q: np.ndarray
    Phi_q: np.ndarray
    Q: np.ndarray
    lam: np.ndarray
    R: np.ndarray
    worst: float
    scale: float  # largest force or reaction, N
    dependent: np.ndarray


class Landscape:
    """The loads of a system on its constraint manifold at time t, drivers held."""

    def __init__(self, system: System, t: float, tol: float):
        self.system, self.t, self.tol = system, t, tol
        self.unit = 1.0 / np.sqrt(metric(system))
        self.W = metric(system) * np.tile([1.0, 1.0, STIFF_TURNS], system.nb)
        self.dense = system.nq <= DENSE
        self.conservative = True
        self.notes: list[str] = []
        self._still = np.zeros(system.nq)
        self._solver = kkt_solver(system.pattern, self.W)
        self._projector = Projector(system, self.W)  # the same measure: then K foresees what closing adds to a step
        constant = [np.abs(b.constant).max(initial=0.0) for b in system.forcing.batches]
        self._given = max([0.0, *map(float, constant)])  # loads may cancel; their rounding stays

    def reach(self, q: np.ndarray) -> np.ndarray:
        """(nq,) longest step u of every coordinate in m: part of the size of the mechanism, part of a radian."""
        extent = self.system.length + float(np.ptp(q.reshape(-1, 3)[:, :2], axis=0).max(initial=0.0))
        return REACH * np.tile([extent, extent, self.system.length], self.system.nb)

    def size(self, q: np.ndarray) -> float:
        """Largest coordinate, m: what rounding of the pose is a part of."""
        return self.system.length + float(np.abs(q.reshape(-1, 3)[:, :2]).max(initial=0.0))

    def place(self, q: np.ndarray) -> Place:
        e = self.system.constraints(self.t, q)
        Q = self.system.forces(self.t, q, self._still)
        x, lam = self._solver.factor(e.Phi_q).solve(Q, np.zeros(self.system.nc))
        R = self.W * x
        scale = max(*(float(np.abs(self.unit * F).max(initial=0.0)) for F in (Q, Q - R)), self._given)
        worst = float(np.abs(self.unit * R).max(initial=0.0))
        if not np.isfinite(worst):
            worst = np.inf
        return Place(q, e.Phi_q, Q, lam, R, worst, scale, self._solver.dependent.copy())

    def balanced(self, place: Place, K: float) -> bool:
        """Out of balance by less than tol of the loads, or than what rounding of stiff springs leaves; K in N/m."""
        return place.worst <= max(self.tol * place.scale, 1e-14 * K * self.size(place.q))

    def move(self, place: Place, dq: np.ndarray) -> Place | None:
        """The closed pose after a step, or None if closing leads astray."""
        q, closed = close(self.system, self._projector, self.t, place.q + dq)
        step = np.abs(dq / self.unit).max(initial=0.0)
        if not closed or np.abs((q - place.q - dq) / self.unit).max(initial=0.0) > STRAY * step:
            return None
        try:
            new = self.place(q)
        except SingularError:
            return None
        return new if np.isfinite(new.worst) else None

    def work(self, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
        """(J, rounding): work of the loads from pose a to b, Gauss quadrature on the straight line.

        Poses are known to rounding of their largest coordinate, and the work no better than that times the loads.
        """
        d = b - a
        Q = self.system.forces(self.t, a + 0.5 * (1.0 + NODES[:, None]) * d, np.zeros((NODES.size, d.size)))
        return float(0.5 * WEIGHTS @ (Q @ d)), 4e-16 * self.size(a) * float(np.abs(self.unit * Q[0]).sum())

    def tangent(self, place: Place) -> DenseTangent | SparseTangent:
        dQ, _, notes = force_tangents(self.system, self.t, place.q, self._still)
        self.notes += [note for note in notes if note not in self.notes]
        skew = abs(dQ - dQ.T)
        if skew.nnz and skew.max() > 1e-8 * abs(dQ).max():
            self.conservative = False
        D = diags_array(self.unit)
        K = csr_array(D @ (geometric_stiffness(self.system, self.t, place.q, place.lam) - dQ) @ D)
        rows, entries = self.system.pattern.select(np.setdiff1d(np.arange(self.system.nc), place.dependent))
        J = rows.to_csr(place.Phi_q[entries] * self.unit[rows.indices])
        r = self.unit * place.R
        return DenseTangent(K, J, r) if self.dense else SparseTangent(K, J, r)


def within(u: np.ndarray, reach: np.ndarray) -> float:
    """Factor that keeps every coordinate of a step within reach."""
    return float(1.0 / np.max(np.abs(u) / reach, initial=1.0))


class DenseTangent:
    """Steps u (scaled, m) from the eigenvalues of the reduced stiffness H: exact knowledge of where it is negative."""

    def __init__(self, K: csr_array, J: csr_array, r: np.ndarray):
        Jd = J.toarray()
        self.Z = qr(Jd.T, check_finite=False)[0][:, Jd.shape[0] :] if Jd.shape[0] else np.eye(K.shape[0])
        self.H = self.Z.T @ (K @ self.Z)
        self.f = self.Z.T @ r  # load along the free motions
        self.size = float(np.abs(self.H).max(initial=0.0))
        self.symmetric = bool(np.abs(self.H - self.H.T).max(initial=0.0) <= 1e-8 * self.size)
        if self.symmetric:
            self.e, self._Y = np.linalg.eigh(0.5 * (self.H + self.H.T))
            self.lowest = float(self.e.min(initial=np.inf))
        else:
            self.lowest = float(np.linalg.eigvals(self.H).real.min())

    @property
    def free(self) -> int:
        return self.f.size

    def step(self, mu: float, reach: np.ndarray, guarded: bool = False) -> np.ndarray:
        """u within reach.  Negative stiffnesses are turned into positive ones, so that it always goes downhill."""
        floor = np.linalg.norm(self.f) / (1e3 * reach.max())  # a motion without stiffness goes far, not to infinity
        if self.symmetric:
            y = self._Y @ ((self._Y.T @ self.f) / np.maximum(np.abs(self.e) + mu, max(floor, 1e-300)))
        else:
            mu = max(mu, -1.1 * self.lowest)
            y = np.linalg.lstsq(self.H + mu * np.eye(self.free), self.f, rcond=1e-13)[0]
        u = self.Z @ y
        return u * within(u, reach)

    def promise(self, u: np.ndarray) -> float:
        """Drop of the potential over a step as the quadratic model has it, J."""
        y = self.Z.T @ u
        return float(y @ self.f - 0.5 * y @ (self.H @ y))

    def newton(self) -> np.ndarray:
        """The bare Newton step; motions without stiffness stay."""
        if not self.free:
            return np.zeros(self.Z.shape[0])
        return self.Z @ np.linalg.lstsq(self.H, self.f, rcond=1e-10)[0]


class SparseTangent:
    """Steps by a sparse LU of the shifted KKT matrix; whether it is positive on the free motions shows by the step."""

    def __init__(self, K: csr_array, J: csr_array, r: np.ndarray):
        self._K, self._J, self._r = K, J, r
        self.size = float(abs(K).max()) if K.nnz else 0.0
        self.free = K.shape[0] - J.shape[0]
        self.lowest = 0.0

    def step(self, mu: float, reach: np.ndarray, guarded: bool = False) -> np.ndarray:
        """guarded: with a diagonal that makes every row dominant (Gershgorin) and so the whole matrix positive.

        A step beyond reach comes from a stiffness that is weak or negative; then the guarded one may promise more.
        """
        mu = max(mu, 1e-13 * self.size, float(np.linalg.norm(self._r)) / (1e6 * reach.max()))
        diagonal = np.full(self._r.size, mu)
        if guarded:
            own = self._K.diagonal()
            others = abs(self._K).sum(axis=1) - np.abs(own)
            diagonal += np.maximum(others - own, 0.0) + np.maximum(-own, 0.0)
        try:
            u = Restricted(csr_array(self._K + diags_array(diagonal)), self._J)(self._r)
        except SingularError:
            return np.zeros_like(self._r)
        part = within(u, reach)
        if part < 1.0 and not guarded:
            return max((u * part, self.step(mu, reach, guarded=True)), key=self.promise)
        return u * part

    def promise(self, u: np.ndarray) -> float:
        """The same; a step uphill, from a stiffness that is not positive, promises nothing."""
        gain = float(u @ self._r)
        return gain - 0.5 * float(u @ (self._K @ u)) if gain > 0 else -np.inf

    def newton(self) -> np.ndarray:
        return self.step(0.0, np.full(self._r.size, np.inf)) if self.free else np.zeros_like(self._r)


# --- iterations ----------------------------------------------------------------------------------------------------


def descend(land: Landscape, place: Place, iterations: int) -> tuple[Place, int]:
    """Downhill until the loads balance: (place, iterations)."""
    mu, guarded, reach, start = 0.0, False, land.reach(place.q), place.q
    for k in range(iterations):
        tangent = land.tangent(place)
        if not tangent.free or land.balanced(place, tangent.size):
            return _polish(land, place), k
        first = 1e-4 * (tangent.size or np.linalg.norm(land.unit * place.R) / reach.max())
        for attempt in range(TRIES):
            u = tangent.step(mu, reach, guarded) * SHORTER[attempt % len(SHORTER)]
            found, ratio = _try(land, place, u, tangent.promise(u))
            if found is not None:
                break
            if attempt % len(SHORTER) == len(SHORTER) - 1:
                mu, guarded = (mu, True) if not guarded else (max(4.0 * mu, first), True)
        if found is None:
            raise _unbalanced(land, place, f"no step downhill was found after {k} iterations")
        full = (np.abs(u) > 0.99 * reach).any()
        # a potential that is a straight line as far as one sees is followed in ever longer steps: free fall ends soon
        reach = 4.0 * reach if full and abs(ratio - 1.0) < 1e-4 else land.reach(found.q)
        mu = 0.0 if mu < 1e-6 * tangent.size else mu / 5.0 if ratio > 0.5 else 2.0 * mu if ratio < 0.1 else mu
        guarded = guarded and ratio < 0.5
        place = found
        _check_near(land, start, place)
    raise _unbalanced(land, place, f"{iterations} iterations were not enough")


def _try(land: Landscape, place: Place, u: np.ndarray, promise: float) -> tuple[Place | None, float]:
    """The place after a step if it may be taken, and how well the model foresaw it (1 = exactly)."""
    if not np.isfinite(promise):
        return None, 0.0
    trial = land.move(place, land.unit * u)
    if trial is None:
        return None, 0.0
    if not land.conservative:
        before, after = float(u @ (land.unit * place.R)), float(u @ (land.unit * trial.R))
        good = after >= -0.9 * abs(before) or trial.worst < 0.5 * place.worst
        return (trial if good else None), (1.0 if trial.worst < 0.5 * place.worst else 0.3)
    drop, rounding = land.work(place.q, trial.q)
    if promise <= 10 * rounding:
        return (trial if trial.worst < place.worst else None), 1.0
    ratio = drop / promise
    return (trial if ratio >= FAIR else None), ratio


def newton(land: Landscape, place: Place, iterations: int) -> tuple[Place, int]:
    """Newton's method with backtracking on the unbalanced load: to the nearest equilibrium of any kind."""
    start = place.q
    for k in range(iterations):
        tangent = land.tangent(place)
        if not tangent.free or land.balanced(place, tangent.size):
            return _polish(land, place), k
        u = tangent.newton()
        u = u * within(u, land.reach(place.q))
        size = float(np.linalg.norm(land.unit * place.R))
        for halving in range(20):
            trial = land.move(place, land.unit * u * 0.5**halving)
            if trial and np.linalg.norm(land.unit * trial.R) < size * (1.0 - 1e-4 * 0.5**halving):
                break
        else:
            raise _unbalanced(land, place, f"Newton's method stalled after {k} iterations")
        place = trial
        _check_near(land, start, place)
    raise _unbalanced(land, place, f"{iterations} iterations were not enough")


def _polish(land: Landscape, place: Place) -> Place:
    """Newton steps while they gain, down to rounding."""
    for _ in range(30):
        if place.worst <= 1e-15 * place.scale:
            break
        u = land.tangent(place).newton()
        trial = land.move(place, land.unit * u) if np.isfinite(u).all() and np.any(u) else None
        if trial is None or trial.worst > 0.5 * place.worst:
            break
        place = trial
    return place


def leave(land: Landscape, place: Place, dq: np.ndarray) -> Place | None:
    """A place a little way along a direction of negative stiffness, on the side that falls more; None if none is lower."""
    u = dq / land.unit * 1e9 * land.system.length
    u = u * within(u, land.reach(place.q)) * np.sign(u[np.argmax(np.abs(u))])
    for size in 0.2 * 0.5 ** np.arange(12):
        sides = [land.move(place, land.unit * u * s) for s in (size, -size)]
        drops = [land.work(place.q, p.q)[0] if p else -np.inf for p in sides]
        best = int(drops[1] > drops[0] * (1 + 1e-6) and drops[1] > 0)
        if sides[best] is not None and (drops[best] > 0 or not land.conservative):
            return sides[best]
    return None


# --- what went wrong -----------------------------------------------------------------------------------------------


def _check_near(land: Landscape, start: np.ndarray, place: Place) -> None:
    system = land.system
    path = ((place.q - start) / land.unit).reshape(-1, 3)
    if np.abs(path).max(initial=0.0) < FAR * land.size(start):
        return
    k, c = np.unravel_index(np.argmax(np.abs(path)), path.shape)
    name, F = system.body_names[k], place.R.reshape(-1, 3)[k]
    if c == 2:
        what = (
            f"turns without end, by {path[k, 2] / system.length / (2 * np.pi):.3g} turns so far: {F[2]:.3g} N m on it"
        )
        remedy = "a torsion spring, a driver or a load that changes with the angle"
    else:
        what = f"runs away, {np.hypot(*path[k, :2]):.3g} m so far: ({F[0]:.3g}, {F[1]:.3g}) N on it"
        remedy = "a joint, a driver or a spring"
    raise ConvergenceError(
        f"model {system.model.name!r} has no equilibrium downhill from here: body {name!r} {what} are balanced by nothing; "
        f"hold it with {remedy}"
    )


def _unbalanced(land: Landscape, place: Place, why: str) -> ConvergenceError:
    k = int(np.argmax(np.abs(land.unit * place.R).reshape(-1, 3).max(axis=1)))
    Fx, Fy, T = place.R.reshape(-1, 3)[k]
    name = land.system.body_names[k]
    text = (
        f"no equilibrium of model {land.system.model.name!r} found: {why}; body {name!r} is out of balance by "
        f"({Fx:.3g}, {Fy:.3g}) N and {T:.3g} N m; give start={{{name!r}: phi}} nearer to where it should rest"
    )
    if not land.conservative:
        text += "; the loads have no potential, so there may be no place where it comes to rest"
    return ConvergenceError(text)
