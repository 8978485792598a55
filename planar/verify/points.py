"""Point coordinates for a planar model (Attia): no angles, only particles and the laws of momentum.

Bodies become particles (`planar.verify.particles`).  Bodies joined by pins share the particle at the pin, so that the
pin and its force drop out; all other joints are cut, as are those that close loops.  For each body there are

* the distances between its primary particles, eq. (7), (16);
* the angular momentum about its first particle of the body and of everything it carries, eqs. (9), (14);
* for a body that no pin carries, the linear momentum of its tree, eq. (17);

and for each cut joint and driver its unknown forces and as many demands on accelerations.  The linear momentum of a
subtree then gives the force in the pin that carries it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.joints import Revolute
from planar.model import Model
from planar.verify.closure import Moving, Row, Shares, rows, unknown_constraint
from planar.verify.loads import applied, unknown_force
from planar.verify.particles import Particles, equivalent
from planar.verify.snapshot import Answer, Snapshot, cross, snapshot, solve_square
from planar.verify.topology import spanning_tree, subtrees

NAME = "points"


def expresses(model: Model) -> str | None:
    """None if the formulation can express the model, otherwise the reason."""
    return unknown_constraint(model) or unknown_force(model)


def solve(model: Model, t: float, poses: Any, velocities: Any) -> Answer:
    """Accelerations, joint forces and driver efforts at one state; see `planar.verify.snapshot`."""
    now = snapshot(model, t, poses, velocities)
    cloud = Cloud(now)
    demands = [row for c in (*cloud.cuts, *model.drivers) for row in rows(c, cloud, now.t)]
    load = _Loads(cloud, demands)

    # unknowns: particle accelerations (x, y of each) | multipliers
    equations = [*cloud.distances()]
    for branch in cloud.branches:
        carried, about = cloud.carried[branch.child.name], cloud.places[branch.child.name][0]
        equations.append(load.wide(cloud.angular_momentum(carried, about)) - load.moment(carried, about))
        if branch.joint is None:
            equations += [*(load.wide(cloud.linear_momentum(carried)) - load.force(carried))]
    equations += [row.demand.a for row in demands]
    A = np.array([load.wide(e) for e in equations])
    z, condition = solve_square(A[:, 1:], -A[:, 0])
    return _answer(cloud, load, demands, z, condition)


def _answer(cloud: Cloud, load: _Loads, demands: list[Row], z: np.ndarray, condition: float) -> Answer:
    model, solution = cloud.now.model, np.append(1.0, z)
    shares = Shares()
    for branch in (b for b in cloud.branches if b.joint):  # the linear momentum of what the pin carries, eqs. (8), (17)
        carried, sign = cloud.carried[branch.child.name], -1.0 if branch.flipped else 1.0
        force = (load.wide(cloud.linear_momentum(carried)) - load.force(carried)) @ solution
        shares.joint(branch.joint.name, sign * force, 0.0, cloud.places[branch.child.name][0])
    shares.multipliers(model, demands, z[2 * cloud.n :])
    a = solution[: 1 + 2 * cloud.n]
    acceleration = np.array([(*(cloud.point(b.point(0, 0)).a @ a), cloud.angle(b).a @ a) for b in model.bodies])
    return shares.answer(NAME, acceleration, len(z), condition)


class Cloud:
    """All particles of a model at a state; affine accelerations have 1 + 2 n columns for n moving particles.

    particles      {body: Particles}
    places, rates  {body: (primary, 2)} of the primary particles
    weights        {body: (primary, n)} factors that give the primary particles from the moving ones: a shared particle is
                   counted once, one that is fixed to ground not at all
    """

    def __init__(self, now: Snapshot):
        self.now = now
        self.branches, self.cuts = spanning_tree(now.model, (Revolute,), deep=False)
        self.carried = subtrees(self.branches)
        self.particles: dict[str, Particles] = {}
        for branch in self.branches:
            pins, others = _attachments(branch.child, now.model)
            first = branch.own.s if branch.joint else (*pins, (0.0, 0.0))[0]
            self.particles[branch.child.name] = equivalent(branch.child, first, pins, others)
        self.n = sum(len(self.particles[b.child.name].primary) - (b.joint is not None) for b in self.branches)
        self.weights: dict[str, np.ndarray] = {}
        self.places: dict[str, np.ndarray] = {}
        self.rates: dict[str, np.ndarray] = {}
        own = iter(np.eye(self.n))
        for branch in self.branches:
            body, primary = branch.child, self.particles[branch.child.name].primary
            shared = [self._row(branch.seat)] if branch.joint else []
            self.weights[body.name] = np.array([*shared, *(next(own) for _ in primary[len(shared) :])])
            placed = [now.place(Point(body, tuple(s))) for s in primary]
            self.places[body.name] = np.array([r for r, _ in placed])
            self.rates[body.name] = np.array([v for _, v in placed])

    def _row(self, point: Point) -> np.ndarray:
        """(n,) factors that give a body-fixed point from the moving particles."""
        if point.body.is_ground:
            return np.zeros(self.n)
        return self.particles[point.body.name].share(point.s) @ self.weights[point.body.name]

    def _affine(self, factors: np.ndarray) -> np.ndarray:
        """Acceleration (2, 1 + 2 n) of a combination of the moving particles."""
        a = np.zeros((2, 1 + 2 * self.n))
        a[0, 1::2] = a[1, 2::2] = factors
        return a

    # --- kinematics: everything fixed in a body is a fixed combination of its particles -----------------------------------

    def point(self, point: Point) -> Moving:
        if point.body.is_ground:
            return Moving(np.array(point.s), np.zeros(2), self._affine(np.zeros(self.n)))
        name, share = point.body.name, self.particles[point.body.name].share(point.s)
        return Moving(share @ self.places[name], share @ self.rates[name], self._affine(self._row(point)))

    def direction(self, axis: Axis) -> Moving:
        tip = Point(axis.body, tuple(np.add(axis.start, axis.direction)))
        return self.point(tip) - self.point(Point(axis.body, axis.start))

    def angle(self, body: Body) -> Moving:
        """w = e x e' / e.e and, as lengths stay, alpha = e x e'' / e.e with e between the first two particles."""
        if body.is_ground:
            return Moving(0.0, 0.0, np.zeros(1 + 2 * self.n))
        e, rate = np.diff(self.places[body.name], axis=0)[0], np.diff(self.rates[body.name], axis=0)[0]
        a = self._affine(np.diff(self.weights[body.name], axis=0)[0])
        return Moving(self.now.pose(body)[2], cross(e, rate) / (e @ e), cross(e, a) / (e @ e))

    # --- equations -------------------------------------------------------------------------------------------------

    def distances(self) -> list[np.ndarray]:
        """r_ij . (a_i - a_j) + v_ij . v_ij = 0, eqs. (7) and (16), divided by the length squared."""
        found = []
        for name, particles in self.particles.items():
            for i, j in particles.pairs():
                e, rate = (x[name][j] - x[name][i] for x in (self.places, self.rates))
                row = e @ self._affine(self.weights[name][j] - self.weights[name][i])
                row[0] = rate @ rate
                found.append(row / (e @ e))
        return found

    def angular_momentum(self, bodies: list[Body], about: np.ndarray) -> np.ndarray:
        """sum mu_ij (r_i - P) x a_j over the primary particles of these bodies, eqs. (9), (14)."""
        total = np.zeros(1 + 2 * self.n)
        for name in (b.name for b in bodies):
            arms = self.particles[name].mu @ (self.places[name] - about)
            for arm, factors in zip(arms, self.weights[name], strict=True):
                total += cross(arm, self._affine(factors))
        return total

    def linear_momentum(self, bodies: list[Body]) -> np.ndarray:
        """sum mu_ij a_j, eqs. (8), (17)."""
        return self._affine(sum(self.particles[b.name].mu.sum(axis=0) @ self.weights[b.name] for b in bodies))


class _Loads:
    """External forces on bodies, affine in the multipliers of cut joints and drivers."""

    def __init__(self, cloud: Cloud, demands: list[Row]):
        now, first = cloud.now, 1 + 2 * cloud.n
        self.columns = first + len(demands)
        self._parts: dict[str, list[tuple[int, np.ndarray, float, np.ndarray]]] = {}
        g = np.asarray(now.model.gravity)
        for body, Q in zip(now.model.bodies, applied(now), strict=True):
            parts = self._parts[body.name] = [(0, Q[:2], Q[2], now.pose(body)[:2])]
            masses = cloud.particles[body.name].mu.sum(axis=0)
            parts += [(0, m * g, 0.0, r) for m, r in zip(masses, cloud.places[body.name], strict=True)]
        for column, row in enumerate(demands, first):
            for body, force, couple, where in row.pushes:
                if not body.is_ground:
                    self._parts[body.name].append((column, force, couple, where))

    def wide(self, equation: np.ndarray) -> np.ndarray:
        """An equation in accelerations with columns for the multipliers added."""
        return np.pad(equation, [(0, 0)] * (equation.ndim - 1) + [(0, self.columns - equation.shape[-1])])

    def force(self, bodies: list[Body]) -> np.ndarray:
        total = np.zeros((2, self.columns))
        for column, force, _, _ in (part for b in bodies for part in self._parts[b.name]):
            total[:, column] += force
        return total

    def moment(self, bodies: list[Body], about: np.ndarray) -> np.ndarray:
        total = np.zeros(self.columns)
        for column, force, couple, where in (part for b in bodies for part in self._parts[b.name]):
            total[column] += cross(where - about, force) + couple
        return total


def _attachments(body: Body, model: Model) -> tuple[list, list]:
    """Local points of a body where joints want particles, and points that must follow from them."""
    pins, others = [], []
    for c in model.constraints:
        for a in c.attachments:
            if isinstance(a, Body) or a.body.name != body.name:
                continue
            if isinstance(a, Axis):
                others += [a.start, tuple(np.add(a.start, a.direction))]
            else:
                (pins if c.word == "joint" else others).append(a.s)
    return pins, others
