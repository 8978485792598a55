"""Redundant rows that always are, and those of one pose only.

Rows that depend on each other at a pose are looked at again in a neighbouring pose, which the joints (drivers released)
reach by a small finite motion: what still depends there is *permanent*, what does not is *momentary* (toggle, flat
four-bar, limit position of a driver).  A mechanism that cannot move has no such pose and its redundancy is permanent;
where it can move to first order only (a flat triangle), the pose is displaced without closing it, as a mechanism of
slightly different lengths would have it.

Limits.  One neighbouring pose decides, 0.05 typical lengths away: where motions branch, the one with the fewest dependent
rows among the directions tried (a random one, all bodies up, right, turning, and eight more in systems of up to 50
bodies).  A redundancy that ends farther away is called permanent.  Rows count as dependent below 1e-6 of their length.
Geometry is taken at its word: a third crank 1e-7 longer than the others makes a parallelogram a structure, and so it is
called; give lengths that agree to round-off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from planar.assembly import row_scale
from planar.mobility import Index, Rows, joint_rows, metric, null_space, relations
from planar.projection import Projector, weights
from planar.system import System

STEP = 0.05  # finite displacement, in typical lengths, by which a neighbouring pose is taken
TRIES = 12  # directions in which a motion out of a singular pose is sought
SPHERE = 150  # coordinates up to which it is: each try costs some dense least-squares problems


@dataclass
class Redundancy:
    """Relations (redundant row, minimal set) at a pose, told apart by those at a neighbouring one."""

    permanent: list[tuple[int, np.ndarray]]
    momentary: list[tuple[int, np.ndarray]]
    joints_here: int  # redundant rows among the joints alone, at the pose
    joints_nearby: int  # and at the neighbouring one
    pose: np.ndarray
    Phi_q: np.ndarray
    shaky: list[str] = field(default_factory=list)  # bodies that move to first order only

    @property
    def count(self) -> int:
        return len(self.permanent) + len(self.momentary)


def redundancy(system: System, t: float, q: np.ndarray, Phi_q: np.ndarray) -> Redundancy:
    """The relations between the rows at pose q, where Phi_q is the Jacobian."""
    here = relations(system, Phi_q)

    def of_joints(found: list[tuple[int, np.ndarray]]) -> int:
        return sum(not system.driven[row] for row, _ in found)

    if not here:
        return Redundancy([], [], 0, 0, q, Phi_q)
    near = neighbour(system, t, q, here)
    if near is None:
        return Redundancy(here, [], of_joints(here), of_joints(here), q, Phi_q)
    if len(near.relations) == len(here):
        return Redundancy(here, [], of_joints(here), of_joints(near.relations), near.q, near.Phi_q, near.shaky)
    permanent = near.relations
    # what depends there depends here too (a limit keeps relations); what else depends belongs to this pose
    momentary = relations(system, Phi_q, _without(system, permanent))
    if len(permanent) + len(momentary) != len(here):
        permanent = _spare_in_both(system, Phi_q, near.Phi_q)
        momentary = relations(system, Phi_q, _without(system, permanent))
    if len(permanent) + len(momentary) != len(here):  # on the border of the tolerance: the poses do not fit together
        permanent, momentary = [], here
    return Redundancy(permanent, momentary, of_joints(here), of_joints(near.relations), near.q, near.Phi_q, near.shaky)


def _without(system: System, found: list[tuple[int, np.ndarray]]) -> np.ndarray:
    return np.setdiff1d(np.arange(system.nc), [row for row, _ in found])


def _spare_in_both(system: System, Phi_q: np.ndarray, Phi_q_there: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The relations of the neighbouring pose, each with a redundant row that can be spared at this pose as well.

    A row of a relation may have no share in it in the limit, and is needed here: the flat parallelogram needs its y rows.
    """
    found: list[tuple[int, np.ndarray]] = []
    while left := relations(system, Phi_q_there, _without(system, found)):
        here = [rows for _, rows in relations(system, Phi_q, _without(system, found))]
        spare = np.intersect1d(left[0][1], np.concatenate([np.zeros(0, np.intp), *here]))
        found.append((int(spare[-1]) if spare.size else left[0][0], left[0][1]))
    return found


# --- the poses around ----------------------------------------------------------------------------------------------


@dataclass
class Neighbour:
    """A pose that tells what belongs to another one alone.

    relations  those of the rows there;  shaky: bodies that move to first order only, and are merely displaced there
    """

    q: np.ndarray
    Phi_q: np.ndarray
    relations: list[tuple[int, Index]]
    shaky: list[str] = field(default_factory=list)


def neighbour(system: System, t: float, q: np.ndarray, found: list[tuple[int, Index]]) -> Neighbour | None:
    """A pose near q with as few dependent rows as can be found; None if the joints leave no motion.

    With the drivers released the joints let q move by STEP typical lengths in a free direction; the result is closed to
    round-off.  In a singular pose motions branch and most directions lead nowhere, the bodies fall back to q: then
    several directions, and poses on a sphere around q, are tried.  A body that always falls back (a flat triangle has
    a first-order motion, but no finite one) is left displaced, as in a mechanism with slightly different lengths.
    found: the relations at q.
    """
    rows = Rows(system, joint_rows(system))
    rank = rows.nc - sum(not system.driven[row] for row, _ in found)
    if rank == system.nq:
        return None
    closer, Phi_q = _Closer(rows, t), system.constraints(t, q).Phi_q
    best, displaced = None, None
    for d in _directions(closer, Phi_q, null_space(rows, Phi_q, rank)):
        trial, closed = closer.close(q + d)
        back = closer.fallen_back(q, d, trial if closed else q)
        if back.any() and system.nq <= SPHERE:
            radius = np.sqrt(((d * closer.root)[back] ** 2).sum())
            on_sphere, closed = closer.close(q + d, (q, back, radius))
            trial, back = (on_sphere, back & False) if closed else (trial, back)
        if back.any():
            displaced = (np.where(back, q + d, trial), back) if displaced is None else displaced
            continue
        data = system.constraints(t, trial).Phi_q
        there = Neighbour(trial, data, relations(system, data))
        if best is None or len(there.relations) < len(best.relations):
            best = there
        regular = rank == rows.nc - sum(not system.driven[row] for row, _ in there.relations)
        if regular or not there.relations:
            break  # the rank does not change nearby: motions do not branch here, one direction tells all
    if best is None:
        pose, back = displaced
        data = system.constraints(t, pose).Phi_q
        shaky = [system.body_names[k] for k in np.flatnonzero(back[::3])]
        best = Neighbour(pose, data, relations(system, data), shaky)
    return best


def _directions(closer: _Closer, Phi_q: np.ndarray, Z: np.ndarray) -> Iterator[np.ndarray]:
    """Free motions nearest to a random push, to all bodies going up, right, or turning alike, and to more random ones."""
    system, rows = closer.system, closer.rows
    generator = np.random.default_rng(0)
    alike = [np.tile(e, system.nb) for e in ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0])]
    pushes = [generator.normal(size=system.nq), *alike, *generator.normal(size=(TRIES - 4, system.nq))]
    for push in pushes[: TRIES if system.nq <= SPHERE else 4]:
        if Z.shape[1]:  # projection in the metric: Z has full rank, so least squares does it
            d = Z @ np.linalg.lstsq(Z * closer.root[:, None], push, rcond=None)[0]
        else:  # too many motions to work them out
            d = closer.projector.step(Phi_q[rows.entries], np.zeros(rows.nc), toward=push / closer.root)
        size = np.abs(d * closer.root).max()
        if size > 1e-6 * np.abs(push).max():
            yield d * STEP * system.length / size


class _Closer:
    """Gauss-Newton on some rows alone, from nearby."""

    def __init__(self, rows: Rows, t: float):
        self.rows, self.t, self.system = rows, t, rows.system
        self.root = np.sqrt(metric(rows.system))
        self.scale = row_scale(rows.system)[rows.index]
        self.projector = Projector(rows, weights(rows.system, drawn=False))

    def fallen_back(self, q: np.ndarray, d: np.ndarray, trial: np.ndarray) -> np.ndarray:
        """(nq,) bool: coordinates of bodies that were to move by d and are back at q."""
        intended, moved = (np.abs(x * self.root).reshape(-1, 3).max(axis=1) for x in (d, trial - q))
        return np.repeat((intended > 1e-3 * intended.max()) & (moved < 0.01 * intended), 3)

    def close(self, q: np.ndarray, sphere: tuple | None = None) -> tuple[np.ndarray, bool]:
        """(q, closed); sphere = (centre, coordinates, radius) keeps the distance of these from the centre."""
        size = self.system.length + np.abs(q.reshape(-1, 3)[:, :2]).max()
        best, start, small = np.inf, q, 1e-12 * size
        for _ in range(25 if sphere else 60):  # without a sphere by halves only, where it falls back to a singular pose
            e = self.system.constraints(self.t, q)
            Phi, Phi_q = e.Phi[self.rows.index], e.Phi_q[self.rows.entries]
            gap, away = np.abs(Phi * self.scale).max(initial=0.0), 0.0
            if sphere:
                s = np.where(sphere[1], (q - sphere[0]) * self.root, 0.0)
                away = (s @ s - sphere[2] ** 2) / (2 * sphere[2])
                gap = max(gap, abs(away))
            if not np.isfinite(gap) or gap == 0.0 or (gap >= 0.9 * best and gap < small):
                break
            best = min(best, gap)
            if sphere:
                J = np.vstack([self.rows.pattern.to_dense(Phi_q) * self.scale[:, None] / self.root, s / sphere[2]])
                q = q - np.linalg.lstsq(J, np.append(Phi * self.scale, away), rcond=1e-9)[0] / self.root
            else:
                q = q + self.projector.step(Phi_q, -Phi)
        far = np.abs((q - start) * self.root).max() > self.system.length
        return q, bool(gap < small and not far)
