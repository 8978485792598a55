"""Minimal coordinates for a planar model: an open tree of joints, loop closures phi(q) = 0, M, b, g from Jacobians.

Equation numbers with 5 are those of the chapter behind `planar.verify.constrained`.  Each body hangs on its parent by
three coordinates: the joint point of the child, seen from the parent, moves along x and y (for a slide: along the axis
and its normal), and the child turns by theta.  A pin leaves theta free, a slide the first, a weld none; a floating body
has all three.  The free ones are the generalized coordinates.  The others are the fictitious mobilities of Stroe and
Staicu, eq. (4.2): their generalized forces at zero mobility are the reactions of the joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.joints import Revolute, Translational, Weld
from planar.model import Model
from planar.verify.closure import Moving, Shares, as_drawn, rows, unknown_constraint
from planar.verify.constrained import GeneralizedSystem, elimination, explicit_solution, scaled_condition
from planar.verify.loads import applied, unknown_force
from planar.verify.snapshot import Answer, R, Snapshot, rotation, snapshot
from planar.verify.topology import Branch, spanning_tree

NAME = "generalized"
_FREE = {Revolute: (False, False, True), Translational: (True, False, False), Weld: (False, False, False)}


def expresses(model: Model) -> str | None:
    """None if the formulation can express the model, otherwise the reason."""
    return unknown_constraint(model) or unknown_force(model)


def solve(model: Model, t: float, poses: Any, velocities: Any) -> Answer:
    """Accelerations, joint forces and driver efforts at one state; see `planar.verify.snapshot`."""
    now = snapshot(model, t, poses, velocities)
    tree = Tree(model, now)
    kin = tree.kinematics(*tree.coordinates(now))
    M, b, g = kin.terms(model.gravity)
    Q = kin.generalized_force(applied(now))
    demands = [row for c in (*tree.cuts, *model.drivers) for row in rows(c, kin, now.t)]
    Phi = np.array([row.demand.a[1:] for row in demands]).reshape(-1, len(tree.free))
    rhs = -np.array([row.demand.a[0] for row in demands])  # -Phi' qd + f''

    f = tree.free
    Mf = M[np.ix_(f, f)]
    if scaled_condition(Mf) < 1e12:
        found = explicit_solution(Mf, (Q - b - g)[f], Phi[:, f], rhs)
    else:  # massless links: M is singular, W^T M W is not
        found = elimination(Mf, b[f], g[f], Q[f], Phi[:, f], rhs)
    qdd = np.zeros(len(f))
    qdd[f] = found.qdd
    reaction = M @ qdd + b + g - Q - Phi.T @ found.lam  # (4.2); zero along the free coordinates
    shares = Shares()
    for k, branch in enumerate(tree.branches):
        if branch.joint:
            sign = -1.0 if branch.flipped else 1.0
            force = kin.axes[k] @ reaction[3 * k : 3 * k + 2]
            shares.joint(branch.joint.name, sign * force, sign * reaction[3 * k + 2], kin.pins[k])
    shares.multipliers(model, demands, found.lam)
    return shares.answer(NAME, kin.accelerations(qdd), int(f.sum()) + len(demands), found.condition)


class Tree:
    """A model as an open tree with loop closures; `now` fixes the angles that slides and welds keep.

    branches, cuts   which joint carries which body, and the joints that close loops
    free             (3 nb,) which of the coordinates (along, across, theta of each branch) are generalized coordinates
    """

    def __init__(self, model: Model, now: Snapshot):
        self.model = model
        self.branches, self.cuts = spanning_tree(model, (Revolute, Translational, Weld), deep=False)
        free = [(True, True, True) if b.joint is None else _FREE[type(b.joint)] for b in self.branches]
        self.free = np.array(free, bool).reshape(-1)
        keeps = (Translational, Weld)
        self.kept = [_turn(b, now) if isinstance(b.joint, keeps) else 0.0 for b in self.branches]

    def coordinates(self, now: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Generalized coordinates and rates of a state."""
        q, qd = [], []
        for branch, kept in zip(self.branches, self.kept, strict=True):
            (ro, vo), (rs, vs) = now.place(_own(branch)), now.place(_seat(branch))
            w = now.velocity(branch.parent)[2]
            E = rotation(now.pose(branch.parent)[2]) @ _axes(branch)
            along = E.T @ (ro - rs)
            q += [*along, _turn(branch, now) - kept]
            qd += [*(E.T @ (vo - vs) - w * (R @ along)), now.velocity(branch.child)[2] - w]
        return np.array(q)[self.free], np.array(qd)[self.free]

    def kinematics(self, q: Any, qd: Any = None) -> TreeKinematics:
        """Motion of all bodies with its Jacobians with respect to all 3 nb coordinates; complex q is welcome."""
        n = len(self.free)
        x, xd = np.zeros(n, np.result_type(q, float)), np.zeros(n)
        x[self.free] = q
        xd[self.free] = 0.0 if qd is None else qd
        still = BodyMotion(np.zeros(2), 0.0, 0.0, np.zeros((2, n)), np.zeros(n), np.zeros(2))
        kin = TreeKinematics(self.model, {self.model.ground.name: still}, xd, [], [])
        for k, branch in enumerate(self.branches):
            _hang(branch, self.kept[k], k, x, xd, kin)
        return kin

    def state(self, q: Any, qd: Any) -> tuple[np.ndarray, np.ndarray]:
        """Poses and velocities (nb, 3) of the bodies for generalized coordinates and rates."""
        kin = self.kinematics(q, qd)
        moving = [kin.bodies[b.name] for b in self.model.bodies]
        return np.array([(*m.r, m.phi) for m in moving]), np.array([(*(m.Gamma @ kin.xd), m.w) for m in moving])

    def applied(self, t: float, q: Any, qd: Any) -> np.ndarray:
        """tau of the model's force elements."""
        now = snapshot(self.model, t, *self.state(q, qd))
        return self.kinematics(q, qd).generalized_force(applied(now))[self.free]

    def system(self) -> GeneralizedSystem:
        """M, b, g of the tree and phi, Phi of its cut joints as functions; drivers and other forces are left out."""
        f, gravity, start = self.free, self.model.gravity, as_drawn(self.model)

        def closed(q: np.ndarray) -> list[Moving]:
            kin = self.kinematics(q)
            return [row.demand for c in self.cuts for row in rows(c, kin, 0.0, start)]

        return GeneralizedSystem(
            M=lambda q: self.kinematics(q).terms(gravity)[0][np.ix_(f, f)],
            b=lambda q, qd: self.kinematics(q, qd).terms(gravity)[1][f],
            g=lambda q: self.kinematics(q).terms(gravity)[2][f],
            V=lambda q: self.kinematics(q).potential(gravity),
            phi=lambda q: np.array([demand.x for demand in closed(q)]),
            Phi=lambda q: np.array([demand.a[1:][f] for demand in closed(q)]),
        )


@dataclass(frozen=True)
class BodyMotion:
    """A body in all coordinates x: v = Gamma x', w = Pi x' (5.49) and a = Gamma x'' + h, alpha = Pi x'' (5.54)."""

    r: np.ndarray
    phi: Any
    w: float
    Gamma: np.ndarray
    Pi: np.ndarray
    h: np.ndarray


def _hang(branch: Branch, kept: float, k: int, x: np.ndarray, xd: np.ndarray, kin: TreeKinematics) -> None:
    """One more body on the tree: its joint point is s from the parent's centre, in axes that turn with the parent."""
    up, part = kin.bodies[branch.parent.name], slice(3 * k, 3 * k + 3)
    e = np.eye(len(x))[part]
    E = rotation(up.phi) @ _axes(branch)
    s = rotation(up.phi) @ np.asarray(_seat(branch).s) + E @ x[part][:2]
    Gamma = up.Gamma + np.outer(R @ s, up.Pi) + E @ e[:2]
    h = up.h - up.w**2 * s + 2 * up.w * (R @ E @ xd[part][:2])
    phi, w, Pi = up.phi + kept + x[part][2], up.w + xd[part][2], up.Pi + e[2]
    own = rotation(phi) @ np.asarray(_own(branch).s)
    kin.axes.append(E)
    kin.pins.append(up.r + s)
    kin.bodies[branch.child.name] = BodyMotion(
        up.r + s - own, phi, w, Gamma - np.outer(R @ own, Pi), Pi, h + w**2 * own
    )


@dataclass(frozen=True)
class TreeKinematics:
    """How the bodies of a tree move; axes and pins belong to the branches (their directions and joint points)."""

    model: Model
    bodies: dict[str, BodyMotion]
    xd: np.ndarray
    axes: list[np.ndarray]
    pins: list[np.ndarray]

    def point(self, point: Point) -> Moving:
        b = self.bodies[point.body.name]
        s = rotation(b.phi) @ np.asarray(point.s)
        J = b.Gamma + np.outer(R @ s, b.Pi)
        return Moving(b.r + s, J @ self.xd, np.column_stack([b.h - b.w**2 * s, J]))

    def direction(self, axis: Axis) -> Moving:
        b = self.bodies[axis.body.name]
        u = rotation(b.phi) @ np.asarray(axis.direction)
        return Moving(u, b.w * (R @ u), np.column_stack([-(b.w**2) * u, np.outer(R @ u, b.Pi)]))

    def angle(self, body: Body) -> Moving:
        b = self.bodies[body.name]
        return Moving(b.phi, b.w, np.concatenate([[0.0], b.Pi]))

    def terms(self, gravity: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M (5.72), b (5.73), g (5.74) in all coordinates; gravity is an acceleration here."""
        moving = [(body, self.bodies[body.name]) for body in self.model.bodies]
        M = sum(body.mass * b.Gamma.T @ b.Gamma + body.inertia * np.outer(b.Pi, b.Pi) for body, b in moving)
        coriolis = sum(body.mass * b.Gamma.T @ b.h for body, b in moving)
        g = -sum(body.mass * b.Gamma.T @ np.asarray(gravity) for body, b in moving)
        return M, coriolis, g

    def generalized_force(self, wrenches: np.ndarray) -> np.ndarray:
        """tau = sum Gamma^T F + Pi^T T in all coordinates."""
        moving = [self.bodies[body.name] for body in self.model.bodies]
        return sum(b.Gamma.T @ w[:2] + b.Pi * w[2] for b, w in zip(moving, wrenches, strict=True))

    def accelerations(self, xdd: np.ndarray) -> np.ndarray:
        moving = [self.bodies[body.name] for body in self.model.bodies]
        return np.array([(*(b.Gamma @ xdd + b.h), b.Pi @ xdd) for b in moving])

    def potential(self, gravity: Any) -> Any:
        return -sum(body.mass * (np.asarray(gravity) @ self.bodies[body.name].r) for body in self.model.bodies)


def _turn(branch: Branch, now: Snapshot) -> float:
    return now.pose(branch.child)[2] - now.pose(branch.parent)[2]


def _axes(branch: Branch) -> np.ndarray:
    """Directions of the first two coordinates, as columns in the axes of the parent."""
    if not isinstance(branch.seat, Axis):
        return np.eye(2)
    u = np.asarray(branch.seat.direction)
    return np.column_stack([u, R @ u])


def _seat(branch: Branch) -> Point:
    if branch.joint is None:
        return branch.parent.point(0.0, 0.0)
    return Point(branch.parent, branch.seat.start) if isinstance(branch.seat, Axis) else branch.seat


def _own(branch: Branch) -> Point:
    if branch.joint is None:
        return branch.child.point(0.0, 0.0)
    return Point(branch.child, branch.own.start) if isinstance(branch.own, Axis) else branch.own
