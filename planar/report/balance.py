"""Free bodies: every force on a body, what its mass asks for, and the sum that must close.

sum of forces - m a = 0        sum of moments about the centre of mass - J alpha = 0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.bodies import Body, Point
from planar.certificate import HELD

if TYPE_CHECKING:
    from planar.result import Result


@dataclass(frozen=True)
class Term:
    """One force on a body over the samples: force (nt, 2) N at point (nt, 2) m, couple (nt,) N m there, global axes.

    kind     "joint", "driver", "actuator", "load", "weight" or "inertia" (-m a, -J alpha)
    moment   (nt,) N m about the centre of mass
    unique   False where the force is one of many that keep the balance
    """

    name: str
    kind: str
    point: np.ndarray
    force: np.ndarray
    couple: np.ndarray
    moment: np.ndarray
    unique: bool = True

    @property
    def acts(self) -> bool:
        return bool(np.any(self.force) or np.any(self.couple))


@dataclass(frozen=True)
class FreeBody:
    """A body with all its terms; residual (nt, 3): sums of F_x, F_y in N and of the moments in N m."""

    body: Body
    index: int
    terms: list[Term]
    samples: int

    @property
    def residual(self) -> np.ndarray:
        total = np.zeros((self.samples, 3))
        return sum((np.column_stack([term.force, term.moment]) for term in self.terms), start=total)


def free_bodies(result: Result, most: int | None = None) -> list[FreeBody]:
    """One per body, in the order of the model, at most so many; terms that never act are left out."""
    applied: dict[int, list[tuple[str, np.ndarray]]] = {}
    for label, index, W in result.system.forcing.each(result.system, result.t, result.q, result.v):
        applied.setdefault(index, []).append((label, W))
    return [
        FreeBody(body, k, [term for term in _terms(result, body, k, applied.get(k, [])) if term.acts], len(result))
        for k, body in enumerate(result.model.bodies[:most])
    ]


def _terms(result: Result, body: Body, k: int, applied: list[tuple[str, np.ndarray]]) -> Iterator[Term]:
    r = result[body].r
    for constraint in result.model.constraints:
        if body in constraint.bodies:
            R = result.reaction(constraint, on=body)
            moment = R.couple + _cross(R.point - r, R.force)
            yield Term(constraint.name, constraint.word, R.point, R.force, R.couple, moment, R.unique)
    own = {constraint.name for constraint in result.model.constraints}
    columns = slice(3 * k, 3 * k + 3)
    for name, load in result.loads.items():
        if name not in own:  # the radial part of a tooth force is in the reaction of its joint
            yield _wrench(name, "actuator", r, load[:, columns], r)
    elements = {force.label: force for force in result.model.forces}
    for label, W in applied:
        yield _wrench(elements[label].name, "load", r, W, _place(result, elements[label], body))
    weight = np.tile(result.system.forcing.gravity[columns], (len(result), 1))
    yield _wrench("weight", "weight", r, weight, r)
    if result.analysis not in HELD and result.a is not None:
        inertia = -result.system.mass[columns] * result.a[:, columns]
        yield _wrench("inertia", "inertia", r, inertia, r)


def _wrench(name: str, kind: str, r: np.ndarray, W: np.ndarray, point: np.ndarray) -> Term:
    """A generalised force (nt, 3) as the force at a point and the couple there."""
    force, moment = W[:, :2], W[:, 2]
    arm = _cross(point - r, force)
    couple = moment - arm
    couple = np.where(np.abs(couple) <= 1e-12 * (np.abs(moment) + np.abs(arm)), 0.0, couple)  # rounding of what cancels
    return Term(name, kind, point, force, couple, moment)


def _place(result: Result, force: Any, body: Body) -> np.ndarray:
    """Where a force element acts on a body: its point there, else the centre of mass."""
    point = next((a for a in force.attachments if isinstance(a, Point) and a.body is body), None)
    return result[body].r if point is None else result.point(point).r


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
