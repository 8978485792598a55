"""The state every formulation starts from, and what it answers: plain numbers by body, joint and driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.errors import ModelError
from planar.model import Model

R = np.array([[0.0, -1.0], [1.0, 0.0]])  # a quarter turn counter-clockwise


def rotation(phi: float) -> np.ndarray:
    """A(phi): components along body axes -> components along global axes."""
    c, s = np.cos(phi), np.sin(phi)
    return np.array([[c, -s], [s, c]])


def cross(x: np.ndarray, y: np.ndarray) -> Any:
    """The component out of the plane of x × y; trailing axes of y are kept."""
    return x[0] * y[1] - x[1] * y[0]


@dataclass(frozen=True)
class Snapshot:
    """Poses (x, y, phi) and velocities of all bodies of a model at time t, both (nb, 3) in the order of model.bodies."""

    model: Model
    t: float
    poses: np.ndarray
    velocities: np.ndarray

    def index(self, body: Body) -> int:
        """Place of a body among model.bodies; -1 for ground."""
        return -1 if body.is_ground else [b.name for b in self.model.bodies].index(body.name)

    def pose(self, body: Body) -> np.ndarray:
        return np.zeros(3) if body.is_ground else self.poses[self.index(body)]

    def velocity(self, body: Body) -> np.ndarray:
        return np.zeros(3) if body.is_ground else self.velocities[self.index(body)]

    def arm(self, body: Body, s: Any) -> np.ndarray:
        """A vector fixed in the body, local components s, in global axes."""
        return rotation(self.pose(body)[2]) @ np.asarray(s, float)

    def place(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of a body-fixed point, global axes."""
        (x, y, _), (vx, vy, w) = self.pose(point.body), self.velocity(point.body)
        a = self.arm(point.body, point.s)
        return np.array([x, y]) + a, np.array([vx, vy]) + w * (R @ a)

    def direction(self, axis: Axis) -> np.ndarray:
        return self.arm(axis.body, axis.direction)


@dataclass(frozen=True)
class Answer:
    """What a formulation says about one state.

    acceleration  (nb, 3): x'', y'', phi'' of every centre of mass, in the order of model.bodies
    force         {joint: (2,)} N, what the joint does to its second body j, global axes
    couple        {joint: N m} on j about `point`
    point         {joint: (2,)} m, where force and couple are taken
    effort        {driver: (k,)} N or N m, one per motion of the driver, positive along the motion
    unknowns      size of the linear system that was solved
    condition     its condition number after scaling: round-off may be that many times larger than 1e-16
    """

    formulation: str
    acceleration: np.ndarray
    force: dict[str, np.ndarray]
    couple: dict[str, float]
    point: dict[str, np.ndarray]
    effort: dict[str, np.ndarray]
    unknowns: int
    condition: float


def snapshot(model: Model, t: float, poses: Any, velocities: Any) -> Snapshot:
    """Poses and velocities as {body name: (x, y, phi)}, as (nb, 3), or flat (3 nb,) in the order of model.bodies."""
    return Snapshot(model, float(t), _table(model, poses, "poses"), _table(model, velocities, "velocities"))


def _table(model: Model, values: Any, what: str) -> np.ndarray:
    names = [b.name for b in model.bodies]
    if isinstance(values, Mapping):
        missing = [n for n in names if n not in values]
        if missing:
            raise ModelError(f"{what}: body {missing[0]!r} is missing; give one triple for each body")
        values = [values[n] for n in names]
    table = np.array(values, float)
    if table.size != 3 * len(names) or not np.all(np.isfinite(table)):
        raise ModelError(f"{what}: got {table.size} numbers; give {3 * len(names)} finite ones, a triple for each body")
    return table.reshape(-1, 3)


def solve_square(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """(x, condition) of A x = b, equations and unknowns scaled; the smallest x where redundant constraints leave it open."""
    if not A.size:
        return np.zeros(0), 1.0
    tiny = np.finfo(float).tiny
    rows = 1.0 / np.maximum(np.abs(A).max(axis=1, initial=0.0), tiny)
    columns = 1.0 / np.maximum(np.abs(A * rows[:, None]).max(axis=0, initial=0.0), tiny)
    scaled = A * rows[:, None] * columns
    x, _, rank, s = np.linalg.lstsq(scaled, b * rows, rcond=1e-13)
    x = x + np.linalg.lstsq(scaled, rows * b - scaled @ x, rcond=1e-13)[0]  # one step of refinement
    return x * columns, float(s[0] / s[rank - 1]) if rank else 1.0
