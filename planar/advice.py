"""Loads that the joints share in an undetermined way, and which change of joint type would determine them.

Every suggestion has been tried: the rows that the changed joint would have are put in the place of the old ones, and the
rank of the group must stay as it was while one row goes, at the pose itself and at a neighbouring one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from planar.assembly import row_scale
from planar.elements import Constraint
from planar.joints import Revolute, Translational, Weld
from planar.mobility import DENSE, TOL, direction_text, metric, self_stress
from planar.system import System

FEW = 200  # rows of a group up to which changes are tried: each costs some singular value decompositions of them
ALTERNATIVES = 3  # joints named as choices for one superfluous row


@dataclass
class Group:
    """Joints that share a load which the equations cannot divide among them.

    joints      names of the joints (and drivers) involved
    rows        names of their rows that carry a share
    redundancy  number of equations too many among these rows
    directions  {pin: (x, y)}: only the force of the pin along this global direction is indeterminate, not across it
    advice      changes that make the group determinate; all of them together are needed, choices are within a sentence
    """

    joints: tuple[str, ...]
    rows: tuple[str, ...]
    redundancy: int
    directions: dict[str, tuple[float, float]] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        count = "1 equation too many" if self.redundancy == 1 else f"{self.redundancy} equations too many"
        return f"{_names(self.joints)} share a load that the model cannot divide: {count}"


def indeterminate_groups(
    system: System, sets: list[np.ndarray], poses: list[tuple[np.ndarray, np.ndarray]], advise: int | None = None
) -> list[Group]:
    """Joints connected by minimal dependent sets of their rows, each group with advice.

    sets    dependent sets of rows (`planar.mobility.relations`); advise: only the first so many can be designed away,
            the others belong to the pose (default: all)
    poses   [(q, Phi_q data), ...]: a change must work at every one of them
    """
    advise = len(sets) if advise is None else advise
    groups = []
    for members in _connected([set(_owners(system, rows)) for rows in sets]):
        rows = np.unique(np.concatenate([sets[k] for k in members]))
        group = Group(_owners(system, rows), tuple(system.row_names[r] for r in rows), len(members))
        if rows.size <= DENSE:
            group.directions = _directions(_Trial(system, rows, poses[:1]))
        lasting = [k for k in members if k < advise]
        if lasting:
            rows = np.unique(np.concatenate([sets[k] for k in lasting]))
            group.advice = _advise(system, rows, poses, len(lasting))
        groups.append(group)
    return groups


def _connected(owners: list[set[str]]) -> list[list[int]]:
    """Indices of the sets, grouped by common members."""
    groups: list[tuple[set[str], list[int]]] = []
    for k, own in enumerate(owners):
        members = [k]
        for other in [g for g in groups if g[0] & own]:
            groups.remove(other)
            own, members = own | other[0], other[1] + members
        groups.append((own, members))
    return [sorted(members) for _, members in groups]


def _owners(system: System, rows: np.ndarray) -> tuple[str, ...]:
    return tuple(dict.fromkeys(system.row_names[r].rsplit(".", 1)[0] for r in rows))


def _names(names: tuple[str, ...]) -> str:
    words = [repr(n) for n in names]
    if len(words) > 8:
        words = words[:7] + [f"{len(words) - 7} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# --- changes -------------------------------------------------------------------------------------------------------


@dataclass
class Change:
    """A joint replaced: what is left of its rows at each pose, (rows left, rows of the joint) matrices."""

    text: str
    left: list[np.ndarray]

    @property
    def drops(self) -> int:
        """Rows that go."""
        return self.left[0].shape[1] - self.left[0].shape[0]


class _Trial:
    """The rows of one group at each pose, one scale for each joint, with the changes made so far."""

    def __init__(self, system: System, rows: np.ndarray, poses: list[tuple[np.ndarray, np.ndarray]]):
        self.system, self.poses = system, [q for q, _ in poses]
        # all rows of the joints, not only those that carry a share: a change may turn them into each other
        names = _owners(system, rows)
        self.blocks: dict[str, list[np.ndarray]] = {n: [] for n in names}
        for _, Phi_q in poses:
            for name in names:
                s = system.rows_of[name]
                part, entries = system.pattern.select(np.arange(s.start, s.stop))
                J = part.to_dense(Phi_q[entries]) / np.sqrt(metric(system)) * row_scale(system)[s, None]
                self.blocks[name].append(J / (np.linalg.norm(J, axis=1).max() or 1.0))

        self._renew()

    def _renew(self) -> None:
        """Loads that the rows can exchange, and ranks, at each pose."""
        self.N = [self_stress(self._stack(k)) for k in range(len(self.poses))]
        self.ranks = [len(N) - int(N.any(axis=0).sum()) for N in self.N]

    def _stack(self, pose: int, name: str = "", block: np.ndarray | None = None) -> np.ndarray:
        """The rows at a pose, those of one joint replaced, without the columns that none of them touches."""
        J = np.vstack([block if n == name else b[pose] for n, b in self.blocks.items()])
        return J[:, J.any(axis=0)]

    def shares(self, name: str, pose: int) -> np.ndarray:
        """(rows of the joint, k): what its rows take of each load that the group can exchange."""
        start = 0
        for n, b in self.blocks.items():
            if n == name:
                return self.N[pose][start : start + len(b[pose])]
            start += len(b[pose])
        raise KeyError(name)

    def works(self, name: str, change: Change) -> bool:
        blocks = [left @ b for left, b in zip(change.left, self.blocks[name], strict=True)]
        stacks = [self._stack(k, name, block) for k, block in enumerate(blocks)]
        return all(int((_singular(J) > TOL).sum()) == rank for J, rank in zip(stacks, self.ranks, strict=True))

    def make(self, name: str, change: Change) -> None:
        self.blocks[name] = [left @ b for left, b in zip(change.left, self.blocks[name], strict=True)]
        self._renew()


def _singular(J: np.ndarray) -> np.ndarray:
    return np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)


def _directions(trial: _Trial) -> dict[str, tuple[float, float]]:
    """Pins whose indeterminate force has one direction."""
    found = {}
    for name in trial.blocks:
        if isinstance(trial.system.model[name], (Revolute, Weld)):
            U, s, _ = np.linalg.svd(trial.shares(name, 0)[:2])
            if s[0] > TOL >= s[1]:
                found[name] = (float(U[0, 0]), float(U[1, 0]))
    return found


def _advise(system: System, rows: np.ndarray, poses: list, count: int) -> list[str]:
    """Changes, one after the other, that take `count` rows away; the last joints that were added are tried first."""
    if rows.size > FEW:
        return [f"{rows.size} rows depend on each other: too many to try changes one by one"]
    trial, advice, changed = _Trial(system, rows, poses), [], set()
    while count:
        found: list[tuple[str, Change]] = []
        for name in reversed(trial.blocks):
            if found and system.model[found[0][0]].word == "driver" and system.model[name].word != "driver":
                break  # what drivers contradict, drivers should settle
            if name not in changed:
                change = next((c for c in _changes(trial, name) if c.drops <= count and trial.works(name, c)), None)
                found += [(name, change)] if change else []
            if len(found) == (ALTERNATIVES if count == 1 and not advice else 1):
                break
        if not found:
            break
        advice.append(", or ".join(change.text for _, change in found))
        trial.make(*found[0])
        changed.add(found[0][0])
        count -= found[0][1].drops
    return advice


def _changes(trial: _Trial, name: str) -> Iterator[Change]:
    """Weaker joints that could stand in the place of this one; nothing in its place comes first."""
    element: Constraint = trial.system.model[name]
    share = trial.shares(name, 0)
    carries = np.sqrt((share * share).sum(axis=1)) > TOL
    poses = len(trial.poses)
    kind = "driver" if element.word == "driver" else re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(element).__name__).lower()

    def keep(*rows: int) -> list[np.ndarray]:
        return [np.eye(len(carries))[list(rows)]] * poses

    if carries.all():
        yield Change(f"remove {kind} {name!r}", keep())
    if isinstance(element, Weld):
        if carries[2]:
            yield Change(f"replace weld {name!r} by a revolute", keep(0, 1))
        for body, e, normals in _slots(trial, element):
            left = [np.array([[*n, 0.0], [0.0, 0.0, 1.0]]) for n in normals]
            yield Change(f"replace weld {name!r} by a translational joint along {e} of {body!r}", left)
    elif isinstance(element, Revolute):
        for body, e, normals in _slots(trial, element):
            text = f"replace revolute {name!r} by a pin-in-slot, its slot on {body!r} along {e}"
            yield Change(text, [n[None, :] for n in normals])
    elif isinstance(element, Translational):
        if carries[1]:
            yield Change(f"replace translational {name!r} by a pin-in-slot", keep(0))
        if carries[0]:
            yield Change(f"replace translational {name!r} by a parallel joint", keep(1))
    elif len(carries) > 1:
        first = trial.system.rows_of[name].start
        for k in np.flatnonzero(carries):
            text = f"leave out the row {trial.system.row_names[first + k]!r}"
            yield Change(text, keep(*(i for i in range(len(carries)) if i != k)))


def _slots(trial: _Trial, joint: Any) -> Iterator[tuple[str, str, list[np.ndarray]]]:
    """(body, direction in its axes, normal at each pose): slots along the force that is to be set free.

    Phi = n_i . d of a slot has the Jacobian n_i . d_q where d = 0, the same combination of the rows of the pin.  The slot
    turns with its body; the body on which it stays along the force comes first, ground where that does not matter.
    """
    force = [trial.shares(joint.name, k)[:2] for k in range(len(trial.poses))]
    e = np.linalg.svd(force[0])[0][:, 0]
    found = []
    for body in (joint.point_i.body, joint.point_j.body):
        k = trial.system.body_index(body)
        phi = [0.0 if body.is_ground else q[3 * k + 2] for q in trial.poses]
        along = [_turn(p - phi[0]) @ e for p in phi]
        freed = min(np.linalg.norm(d @ f) / (np.linalg.norm(f) or 1.0) for d, f in zip(along, force, strict=True))
        normals = [np.array([-d[1], d[0]]) for d in along]
        found.append((-round(freed, 6), not body.is_ground, body.name, direction_text(_turn(-phi[0]) @ e), normals))
    for freed, _, name, direction, normals in sorted(found, key=lambda item: item[:3]):
        if -freed > TOL:
            yield name, direction, normals


def _turn(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])
