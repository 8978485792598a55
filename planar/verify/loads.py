"""Applied forces, written down once more from the definitions of `planar.forces`: vectors, not kernels.

Gravity is left out: each formulation has its own place for the weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.bodies import Body, Point
from planar.forces import PointForce, Spring, Torque, TorsionSpring, UserForce
from planar.model import Model
from planar.motions import Motion, as_motion
from planar.verify.snapshot import Snapshot, cross, rotation

KNOWN = (PointForce, Torque, Spring, TorsionSpring, UserForce)


def applied(now: Snapshot) -> np.ndarray:
    """(nb, 3): resultant force and couple about the centre of mass on every body, without its weight."""
    Q = np.zeros((len(now.model.bodies) + 1, 3))  # the last row takes what acts on ground
    for force in now.model.forces:
        for body, triple in _parts(force, now):
            Q[now.index(body)] += triple
    return Q[:-1]


def unknown_force(model: Model) -> str | None:
    """The first force element that is not written here, in words."""
    for force in model.forces:
        if type(force) not in KNOWN:
            return f"{force.label} is a force that is not written down in planar.verify.loads"
    return None


def _parts(force: Any, now: Snapshot):
    """(body, (F_x, F_y, T)) for each body the force acts on."""
    t, view = now.t, View(now)
    if isinstance(force, PointForce):
        pair = force.force(t, view) if callable(force.force) else [magnitude(f, t, view) for f in force.force]
        F = np.asarray(pair, float)
        if force.frame == "body":
            F = rotation(now.pose(force.point.body)[2]) @ F
        yield _at(force.point, F, now)
    elif isinstance(force, Torque):
        yield force.body, (0.0, 0.0, magnitude(force.torque, t, view))
    elif isinstance(force, Spring):
        (ri, vi), (rj, vj) = now.place(force.point_i), now.place(force.point_j)
        l = np.linalg.norm(rj - ri)
        u = (rj - ri) / l if l > 0 else np.zeros(2)  # without length there is no direction to pull in
        free = _drawn_length(force) if force.length is None else force.length
        tension = force.stiffness * (l - free) + force.damping * (u @ (vj - vi)) + magnitude(force.force, t, view)
        yield _at(force.point_i, tension * u, now)
        yield _at(force.point_j, -tension * u, now)
    elif isinstance(force, TorsionSpring):
        i, j = force.body_i, force.body_j
        free = j.phi - i.phi if force.angle is None else force.angle  # as drawn
        turn, rate = now.pose(j)[2] - now.pose(i)[2], now.velocity(j)[2] - now.velocity(i)[2]
        T = force.stiffness * (turn - free) + force.damping * rate + magnitude(force.torque, t, view)
        yield i, (0.0, 0.0, T)
        yield j, (0.0, 0.0, -T)
    elif isinstance(force, UserForce):
        out = force.function(t, view)
        triples = (out,) if len(force.on) == 1 and len(out) == 3 else out
        yield from zip(force.on, triples, strict=True)


def _at(point: Point, F: np.ndarray, now: Snapshot):
    return point.body, (*F, cross(now.arm(point.body, point.s), F))


def _drawn_length(spring: Spring) -> float:
    ends = [np.asarray(p.body.r) + rotation(p.body.phi) @ np.asarray(p.s) for p in (spring.point_i, spring.point_j)]
    return float(np.linalg.norm(ends[1] - ends[0]))


def magnitude(value: Any, t: float, view: View) -> float:
    """A number, a string in t, a motion, or a callable of (t, state)."""
    if callable(value) and not isinstance(value, Motion):
        return float(value(t, view))
    return float(as_motion(value)(t)) if isinstance(value, (str, Motion)) else float(value)


class View:
    """What a user's callable sees as `state`: state[body].r, .phi, .v, .omega; state.point(p).r, .v."""

    def __init__(self, now: Snapshot):
        self._now, self.t = now, now.t
        self.q, self.v = now.poses.reshape(-1), now.velocities.reshape(-1)

    def __getitem__(self, body: Body | str) -> _Motion:
        body = self._now.model[getattr(body, "name", body)]
        return _Motion(self._now.pose(body), self._now.velocity(body))

    def point(self, point: Point) -> _Motion:
        r, v = self._now.place(point)
        return _Motion(r, v)


class _Motion:
    def __init__(self, pose: np.ndarray, velocity: np.ndarray):
        self.r, self.v = pose[:2], velocity[:2]
        if len(pose) == 3:
            self.phi, self.omega = pose[2], velocity[2]
