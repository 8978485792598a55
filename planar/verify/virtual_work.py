"""Recursive virtual work for a planar model: open chains, torques and joint forces link by link from the tips.

The mechanism is cut into serial chains (depth first).  Cut joints and drivers act as unknown external forces; each asks
for one acceleration.  The virtual work of every single joint motion vanishes, eq. (3.7) with no torque at the passive
joints.  All of it is one linear system in joint accelerations and multipliers, whose columns come out of one pass of
the recursion (`planar.verify.chain`); a second pass with the solution gives the forces in the joints, eq. (4.3).

A planar body is a spatial link: a pin turns about z out of the plane; a slide has its z axis in the plane; a body
without a carrying joint hangs on two massless slides and a pin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.joints import Revolute, Translational, Weld
from planar.model import Model
from planar.verify.chain import Chain, Link, LinkMotion, inertia_about_joint, turn
from planar.verify.closure import Moving, Row, Shares, rows, unknown_constraint
from planar.verify.loads import applied, unknown_force
from planar.verify.snapshot import Answer, Snapshot, snapshot, solve_square
from planar.verify.topology import Branch, spanning_tree

NAME = "virtual work"


def expresses(model: Model) -> str | None:
    """None if the formulation can express the model, otherwise the reason."""
    return unknown_constraint(model) or unknown_force(model)


def solve(model: Model, t: float, poses: Any, velocities: Any) -> Answer:
    """Accelerations, joint forces and driver efforts at one state; see `planar.verify.snapshot`."""
    now = snapshot(model, t, poses, velocities)
    tree = _Tree(now)
    chain, nl = tree.chain, len(tree.chain.links)
    demanding = [*tree.cuts, *model.drivers]

    n = chain.n
    qdd = np.hstack([np.zeros((n, 1)), np.eye(n)])
    kin = _Kinematics(tree, chain.motion(tree.q, tree.qd, qdd))
    demands = [row for c in demanding for row in rows(c, kin, now.t)]

    # columns: known | joint accelerations | multipliers
    m = 1 + n + len(demands)
    external = np.zeros((nl, 6, m))
    known = applied(now)
    for body, (fx, fy, couple) in zip(model.bodies, known, strict=True):
        external[tree.link[body.name], :, 0] += kin.wrench(body, np.array([fx, fy]), couple, now.pose(body)[:2])
    for column, row in enumerate(demands, 1 + n):
        for body, force, couple, where in row.pushes:
            if not body.is_ground:
                external[tree.link[body.name], :, column] += kin.wrench(body, force, couple, where)

    motion = chain.motion(tree.q, tree.qd, np.hstack([qdd, np.zeros((n, len(demands)))]))
    effort = chain.loads(motion, external).effort  # no torque at any joint
    closed = np.zeros((len(demands), m))
    for k, row in enumerate(demands):
        closed[k, : 1 + n] = row.demand.a
    A = np.vstack([effort, closed])
    z, condition = solve_square(A[:, 1:], -A[:, 0])
    return _answer(tree, z, demands, external, condition)


def _answer(tree: _Tree, z: np.ndarray, demands: list[Row], external: np.ndarray, condition: float) -> Answer:
    chain, model = tree.chain, tree.now.model
    n = chain.n
    kin = _Kinematics(tree, chain.motion(tree.q, tree.qd, z[:n]))
    loads = chain.loads(kin.motion, (external @ np.concatenate([[1.0], np.zeros(n), z[n:]]))[:, :, None])
    acceleration = np.array(
        [(*kin.point(b.point(0, 0)).a[:, 0], kin.angle(b).a[0]) for b in model.bodies], float
    ).reshape(-1, 3)

    shares = Shares()
    for branch in (b for b in tree.branches if b.joint):
        k, sign = tree.link[branch.child.name], -1.0 if branch.flipped else 1.0
        to_global = kin.motion[k].a0.T
        F, M = to_global @ loads.F[k, :, 0], to_global @ loads.M[k, :, 0]
        shares.joint(branch.joint.name, sign * F[:2], sign * M[2], kin.motion[k].r0[:2])
    shares.multipliers(model, demands, z[n:])
    return shares.answer(NAME, acceleration, len(z), condition)


class _Tree:
    """The model as a `Chain`, with its joint coordinates at the state `now`."""

    def __init__(self, now: Snapshot):
        self.now = now
        self.branches, self.cuts = spanning_tree(now.model, (Revolute, Translational, Weld), deep=True)
        self.link: dict[str, int] = {}
        self.frame: dict[str, _Frame] = {now.model.ground.name: _Frame(np.eye(3), np.zeros(2))}
        links: list[Link] = []
        self.q: list[float] = []
        self.qd: list[float] = []
        for branch in self.branches:
            parent = self.link.get(branch.parent.name, -1)
            if branch.joint is None:
                self._float(branch.child, links)
            elif isinstance(branch.joint, Translational):
                self._slide(branch, parent, links)
            else:
                self._pin(branch, parent, links, held=isinstance(branch.joint, Weld))
            self.link[branch.child.name] = len(links) - 1
        self.chain = Chain(links, (*now.model.gravity, 0.0))

    def _pin(self, branch: Branch, parent: int, links: list[Link], held: bool) -> None:
        now, up = self.now, self.frame[branch.parent.name]
        frame = self.frame[branch.child.name] = _Frame(np.eye(3), np.asarray(branch.own.s))
        angle = now.pose(branch.child)[2] - now.pose(branch.parent)[2]
        seat = (turn(angle) if held else np.eye(3)) @ up.B.T
        kind = "fixed" if held else "revolute"
        links.append(_link(parent, up.vector(branch.seat.s), seat, kind, branch.child, frame))
        if not held:
            self.q.append(angle)
            self.qd.append(now.velocity(branch.child)[2] - now.velocity(branch.parent)[2])

    def _slide(self, branch: Branch, parent: int, links: list[Link]) -> None:
        now, up, own = self.now, self.frame[branch.parent.name], branch.own
        frame = self.frame[branch.child.name] = _Frame(_slide_axes(own.direction), np.asarray(own.start))
        angle = now.pose(branch.child)[2] - now.pose(branch.parent)[2]  # stays as it is
        seat = frame.B @ turn(angle) @ up.B.T
        links.append(_link(parent, up.vector(branch.seat.start), seat, "prismatic", branch.child, frame))
        (ri, vi), (rj, vj) = now.place(Point(branch.parent, branch.seat.start)), now.place(Point(own.body, own.start))
        u = now.direction(own)
        self.q.append(u @ (rj - ri))
        self.qd.append(u @ (vj - vi) + now.velocity(own.body)[2] * (u[0] * (rj - ri)[1] - u[1] * (rj - ri)[0]))

    def _float(self, body: Body, links: list[Link]) -> None:
        """x and y by massless slides along the global axes, phi by a pin at the centre of mass."""
        frame = self.frame[body.name] = _Frame(np.eye(3), np.zeros(2))
        along_x, along_y = _slide_axes((1.0, 0.0)), _slide_axes((0.0, 1.0))
        links.append(Link(-1, seat=along_x, kind="prismatic"))
        links.append(Link(len(links) - 1, seat=along_y @ along_x.T, kind="prismatic"))
        links.append(_link(len(links) - 1, np.zeros(3), along_y.T, "revolute", body, frame))
        self.q += list(self.now.pose(body))
        self.qd += list(self.now.velocity(body))


class _Frame:
    """Link axes in a planar body: B takes (x', y', out of plane) components to link axes; O_k is the local point o."""

    def __init__(self, B: np.ndarray, o: np.ndarray):
        self.B, self.o = B, o

    def vector(self, s: Any) -> np.ndarray:
        """From O_k to the local point s, link axes."""
        return self.B @ np.append(np.asarray(s) - self.o, 0.0)


def _slide_axes(u: Any) -> np.ndarray:
    """z along u, x along the normal of u in the plane, y out of the plane: n x e_z = u."""
    return np.array([(-u[1], u[0], 0.0), (0.0, 0.0, 1.0), (u[0], u[1], 0.0)])


def _link(parent: int, r: np.ndarray, seat: np.ndarray, kind: str, body: Body, frame: _Frame) -> Link:
    centre = frame.vector((0.0, 0.0))
    I = body.inertia
    flat = frame.B @ np.diag([I / 2, I / 2, I]) @ frame.B.T  # as of a lamina; only the last one counts in the plane
    return Link(parent, r, seat, kind, body.mass, centre, inertia_about_joint(flat, body.mass, centre))


class _Kinematics:
    """Points, directions and angles of the bodies out of the motion of the links."""

    def __init__(self, tree: _Tree, motion: list[LinkMotion]):
        self.tree, self.motion = tree, motion
        self.columns = motion[0].gamma.shape[1]

    def _of(self, body: Body) -> tuple[LinkMotion, _Frame]:
        return self.motion[self.tree.link[body.name]], self.tree.frame[body.name]

    def point(self, point: Point) -> Moving:
        if point.body.is_ground:
            return Moving(np.array(point.s), np.zeros(2), np.zeros((2, self.columns)))
        link, frame = self._of(point.body)
        s = frame.vector(point.s)
        r, v = link.r0 + link.a0.T @ s, link.a0.T @ (link.v + np.cross(link.omega, s))
        return Moving(r[:2], v[:2], (link.a0.T @ link.acceleration(s))[:2])

    def direction(self, axis: Axis) -> Moving:
        start = Point(axis.body, axis.start)
        tip = Point(axis.body, tuple(np.add(axis.start, axis.direction)))
        return self.point(tip) - self.point(start)

    def angle(self, body: Body) -> Moving:
        if body.is_ground:
            return Moving(0.0, 0.0, np.zeros(self.columns))
        link, _ = self._of(body)
        return Moving(self.tree.now.pose(body)[2], (link.a0.T @ link.omega)[2], (link.a0.T @ link.epsilon)[2])

    def wrench(self, body: Body, force: np.ndarray, couple: float, where: np.ndarray) -> np.ndarray:
        """(6,) force and moment about O_k in link axes of a planar force at a global place."""
        link, _ = self._of(body)
        F = np.append(force, 0.0)
        M = np.cross(np.append(where, 0.0) - link.r0, F) + [0.0, 0.0, couple]
        return np.concatenate([link.a0 @ F, link.a0 @ M])
