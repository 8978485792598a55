"""Degrees of freedom, redundant rows by joint name, uniqueness of reactions, free motions in words.
How permanent and momentary redundancy are told apart, and the limits of that, stands in `planar.redundancy`.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

import numpy as np

from planar.advice import Group, indeterminate_groups
from planar.assembly import assemble, close
from planar.errors import AssemblyError, ModelError
from planar.mobility import (
    TOL,
    FreeMotion,
    Rows,
    direction_text,
    free_motions,
    joint_rows,
    motions_in_words,
    movable,
    null_space,
    relations,
    smallest_singular_value,
    unique_rows,
)
from planar.model import Model
from planar.projection import Projector, weights
from planar.redundancy import redundancy
from planar.system import System, compile

__all__ = [
    "TOL",
    "Diagnosis",
    "FreeMotion",
    "Group",
    "diagnose",
    "diagnose_at",
    "explain_overdriven",
    "explain_underdriven",
    "free_motions",
    "indeterminate_groups",
    "smallest_singular_value",
    "unique_rows",
]

Names = tuple[str, ...]


@dataclass(repr=False)
class Diagnosis:
    """What the equations of a model say about it at one pose.  Row names read joint.component, e.g. 'slider.angle'.

    coordinates, rows, driver_rows   nq, nc, and how many of the rows belong to drivers
    rank, joint_rank    of all rows, of the rows of the joints alone
    dof, gruebler       degrees of freedom with the drivers released: by rank, and by counting coordinates - rows
    dof_driven, gruebler_driven      the same with the drivers acting
    dof_nearby          dof by rank in neighbouring poses; differs from dof in a singular pose
    permanent, momentary             minimal sets of rows that depend on each other: always, or in this pose only
    unique              {row: bool}: whether the reaction component is determined at this pose
    groups              which joints share an indeterminate load, along which direction, and what would change that
    free_motions        motions left free with the drivers acting; linkage_motions: with the drivers released
    basis               (k, nq) mass-orthonormal vectors that span the linkage motions
    moving              bodies that can move with the drivers released;  shaky: those that do to first order only
    conflicts           drivers that drive the same motion, in sets; a single one drives what the joints hold
    stuck               drivers in a limit position, in sets
    smallest            (value, row): smallest singular value without the permanently redundant rows, row most involved
    """

    name: str
    t: float
    q: np.ndarray
    coordinates: int
    rows: int
    driver_rows: int
    rank: int
    joint_rank: int
    dof_nearby: int
    permanent: list[Names]
    momentary: list[Names]
    unique: dict[str, bool]
    groups: list[Group]
    free_motions: list[FreeMotion]
    linkage_motions: list[FreeMotion]
    basis: np.ndarray
    moving: list[str]
    shaky: list[str]
    conflicts: list[Names]
    stuck: list[Names]
    smallest: tuple[float, str]
    notes: list[str] = field(default_factory=list)

    @property
    def dof(self) -> int:
        return self.coordinates - self.joint_rank

    @property
    def dof_driven(self) -> int:
        return self.coordinates - self.rank

    @property
    def gruebler(self) -> int:
        return self.coordinates - (self.rows - self.driver_rows)

    @property
    def gruebler_driven(self) -> int:
        return self.coordinates - self.rows

    @property
    def redundant(self) -> list[Names]:
        """All minimal dependent sets, the permanent ones first."""
        return self.permanent + self.momentary

    @property
    def indeterminate(self) -> list[str]:
        """Joints and drivers with a reaction component that is not unique."""
        return list(dict.fromkeys(_owner(row) for row, unique in self.unique.items() if not unique))

    @property
    def directions(self) -> dict[str, tuple[float, float]]:
        """{pin: (x, y)}: pins whose force is indeterminate along one global direction only."""
        return {name: e for group in self.groups for name, e in group.directions.items()}

    @property
    def advice(self) -> list[str]:
        return [sentence for group in self.groups for sentence in group.advice]

    def lines(self) -> list[str]:
        """What print(diagnosis) shows, a sentence each; details are indented by two spaces more than what they explain."""
        lines = [
            line
            for part in (_counts, _motions, _redundancy_text, _drivers_text, _reactions_text)
            for line in part(self)
        ]
        if self.rows and not self.momentary:
            value, row = self.smallest
            lines.append(f"smallest singular value {value:.2g} (zero in a singular position), most involved {row!r}")
        return lines + [f"note: {note}" for note in self.notes]

    def __str__(self) -> str:
        lines = [f"{self.name!r} at t = {self.t:g} s", *(f"  {line}" for line in self.lines())]
        return "\n".join(_wrap(line) for line in lines)

    __repr__ = __str__  # what a prompt shows


# --- diagnose ------------------------------------------------------------------------------------------------------


def diagnose(model: Model | System, t: float = 0.0) -> Diagnosis:
    """Assemble at time t s and diagnose there; drivers that contradict each other are reported, not raised."""
    system, q, notes = _pose(model, t)
    found = diagnose_at(system, t, q)
    found.notes += notes
    return found


def diagnose_at(system: System, t: float, q: np.ndarray) -> Diagnosis:
    """Diagnose at a given consistent pose q (nq,).  Cost: a few factorisations; linear in the size of chains."""
    Phi_q = system.constraints(t, q).Phi_q
    found = redundancy(system, t, q, Phi_q)
    joints = Rows(system, joint_rows(system))
    everything = Rows(system, np.arange(system.nc))
    rank, joint_rank = system.nc - found.count, joints.nc - found.joints_here
    Z = null_space(joints, Phi_q, joint_rank)
    linkage = motions_in_words(system, q, Z)
    free = linkage if everything.nc == joints.nc else motions_in_words(system, q, null_space(everything, Phi_q, rank))
    moving = movable(joints, Phi_q) if joint_rank < system.nq else np.zeros(system.nb, bool)
    sets = [rows for _, rows in found.permanent + found.momentary]
    poses = [(q, Phi_q)] + ([(found.pose, found.Phi_q)] if found.pose is not q else [])
    independent = np.setdiff1d(everything.index, [row for row, _ in found.permanent])
    return Diagnosis(
        name=system.model.name,
        t=float(t),
        q=q,
        coordinates=system.nq,
        rows=system.nc,
        driver_rows=system.nc - joints.nc,
        rank=rank,
        joint_rank=joint_rank,
        dof_nearby=system.nq - joints.nc + found.joints_nearby,
        permanent=[_row_names(system, rows) for _, rows in found.permanent],
        momentary=[_row_names(system, rows) for _, rows in found.momentary],
        unique=dict(zip(system.row_names, unique_rows(system, Phi_q).tolist(), strict=True)),
        groups=indeterminate_groups(system, sets, poses, advise=len(found.permanent)),
        free_motions=free,
        linkage_motions=linkage,
        basis=Z.T,
        moving=[name for name, moves in zip(system.body_names, moving, strict=True) if moves],
        shaky=found.shaky,
        conflicts=_driver_sets(system, found.permanent),
        stuck=_driver_sets(system, found.momentary),
        smallest=smallest_singular_value(system, Phi_q, independent),
    )


def _pose(model: Model | System, t: float) -> tuple[System, np.ndarray, list[str]]:
    """The assembled pose; positions alone, then the joints alone, where the drivers do not let it assemble."""
    system = model if isinstance(model, System) else compile(model)
    try:
        found = assemble(system, t)
        return found.system, found.q, list(found.notes)
    except AssemblyError as error:
        q, closed = close(system, Projector(system, weights(system)), t, system.q_drawn)
        if closed:  # then it was the velocities
            return (
                system,
                q,
                [f"no velocity satisfies all {'drivers' if system.driven.any() else 'joints'} at t = {t:g} s"],
            )
        if not system.driven.any():
            raise
        try:
            released = assemble(system.model.without(*system.model.drivers), t)
        except (AssemblyError, ModelError):  # a massless body may be held by its driver alone
            raise error from None
        return system, released.q, [f"{error}; this is the pose with the drivers released"]


# --- for the errors of other analyses ------------------------------------------------------------------------------


def explain_underdriven(system: System, t: float, q: np.ndarray) -> str:
    """'' if nothing is left free at q, else the free motions and the remedy as one sentence."""
    motions = free_motions(system, t, q)
    count = len(motions)
    if not count:
        count = system.nq - system.nc + len(relations(system, system.constraints(t, q).Phi_q))
    if not count:
        return ""
    listed = "; ".join(map(str, motions[:4])) + ("; ..." if len(motions) > 4 else "")
    words = "1 motion is left free" if count == 1 else f"{count} motions are left free"
    remedy = "add a driver" if count == 1 else f"add {count} drivers"
    return f"{words}{': ' if listed else ''}{listed}; {remedy}, or let it move with pl.simulate"


def explain_overdriven(system: System, t: float, q: np.ndarray) -> str:
    """'' if the drivers do not get into each other's way at q, else which do and the remedy."""
    found = redundancy(system, t, q, system.constraints(t, q).Phi_q)
    conflicts, stuck = _driver_sets(system, found.permanent), _driver_sets(system, found.momentary)
    return "; ".join([_conflict_text(names) for names in conflicts] + [_stuck_text(names) for names in stuck])


def _driver_sets(system: System, found: list[tuple[int, np.ndarray]]) -> list[Names]:
    sets = [_row_names(system, rows[system.driven[rows]]) for _, rows in found if system.driven[rows].any()]
    return list(dict.fromkeys(tuple(dict.fromkeys(_owner(row) for row in rows)) for rows in sets))


def _conflict_text(names: Names) -> str:
    if len(names) == 1:
        return f"driver {names[0]!r} drives what the joints already hold; remove it, or a joint"
    return f"drivers {_join(names)} drive the same motion; remove one of them"


def _stuck_text(names: Names) -> str:
    if len(names) == 1:
        return f"driver {names[0]!r} is in a limit position: it cannot move the linkage from here"
    return f"drivers {_join(names)} are in a limit position: together they cannot move the linkage from here"


# --- text ----------------------------------------------------------------------------------------------------------


def _owner(row: str) -> str:
    return row.rsplit(".", 1)[0]


def _row_names(system: System, rows: np.ndarray) -> Names:
    return tuple(system.row_names[r] for r in rows)


def _join(names: Names | list[str], limit: int = 12) -> str:
    words = [repr(n) for n in names]
    if len(words) > limit:
        words = words[: limit - 1] + [f"{len(words) - limit + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _wrap(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(line, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _counts(d: Diagnosis) -> list[str]:
    joints = d.rows - d.driver_rows
    split = f" ({joints} of joints, {d.driver_rows} of drivers)" if d.driver_rows else ""
    lines = [f"{d.coordinates} coordinates, {d.rows} equations{split}, rank {d.rank}"]
    released = ", drivers released" if d.driver_rows else ""
    lines.append(f"degrees of freedom{released}: {d.dof} by rank, {d.gruebler} by count (Gruebler)")
    if d.driver_rows:
        lines.append(f"degrees of freedom, drivers acting: {d.dof_driven} by rank, {d.gruebler_driven} by count")
    if d.dof != d.dof_nearby:
        lines.append(f"singular position: {d.dof} degrees of freedom by rank here, {d.dof_nearby} nearby")
    return lines


def _motions(d: Diagnosis) -> list[str]:
    if d.dof_driven:
        motions, count = d.free_motions, d.dof_driven
        title = "motion{} left free by the drivers" if d.driver_rows else "free motion{}"
    else:
        motions, count, title = d.linkage_motions, d.dof, "motion{} with the drivers released"
    if not count:
        return ["nothing can move"]
    lines = [f"{count} {title.format('s' if count > 1 else '')}"]
    lines += [f"  {motion}" for motion in motions[:8]]
    if len(motions) > 8:
        lines.append(f"  and {len(motions) - 8} more (free_motions, linkage_motions)")
    if not motions:
        everything = "all bodies" if len(d.moving) * 3 == d.coordinates else f"{len(d.moving)} bodies"
        lines.append(f"  too many to list one by one; {everything} can move")
    if d.shaky:
        lines.append(f"{_join(d.shaky)} can move to first order only: no finite motion leads away from here")
    return lines


def _redundancy_text(d: Diagnosis) -> list[str]:
    lines = []
    for sets, word in ((d.permanent, "permanent"), (d.momentary, "momentary, in this position only")):
        if sets:
            lines.append(f"{len(sets)} redundant equation{'s' if len(sets) > 1 else ''}, {word}")
            for rows in sets[:8]:
                depend = "depend on each other" if len(rows) > 1 else "has no effect"
                lines.append(f"  {_join(rows)} {depend}")
            if len(sets) > 8:
                lines.append(f"  and {len(sets) - 8} more sets")
    return lines or ["no redundant equations"]


def _drivers_text(d: Diagnosis) -> list[str]:
    return [_conflict_text(names) for names in d.conflicts] + [_stuck_text(names) for names in d.stuck]


def _reactions_text(d: Diagnosis) -> list[str]:
    if not d.rows:
        return []
    if not d.indeterminate:
        return ["every reaction is unique"]
    unique = [row for row, u in d.unique.items() if u]
    lines = [f"reactions: unique in {_join(unique)}" if unique else "no reaction is unique"]
    for group in d.groups[:8]:
        lines.append(f"  {group}")
        along: dict[str, list[str]] = {}
        for name, e in group.directions.items():
            along.setdefault(direction_text(e), []).append(name)
        lines += [f"    at {_join(names)} only the force along {e}" for e, names in list(along.items())[:6]]
        if len(group.advice) == 1:
            lines.append(f"    to make it determinate: {group.advice[0]}")
        elif group.advice:
            more = [f"and {len(group.advice) - 6} more changes"] if len(group.advice) > 7 else []
            steps = group.advice[:6] + more if more else group.advice
            lines.append(f"    to make it determinate, all of: {'; '.join(steps)}")
        else:
            lines.append("    in this position only: another position makes it determinate")
    if len(d.groups) > 8:
        lines.append(f"  and {len(d.groups) - 8} more groups")
    return lines
