"""Everything a compiled run needs, as plain arrays: constraints, forces, motions, and where S = Phi_q M^-1 Phi_q^T lies.

S is kept as the envelope of its lower triangle after reverse Cuthill-McKee: row i from its first entry to the diagonal,
one row after the other.  Dense, banded and mixed patterns are all the same to it.  All tables are parts of three arrays:
every array that travels through compiled functions costs some tenths of a second when they are compiled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from planar.laws import LAWS
from planar.linear.order import gram_entries, inverse, rcm
from planar.linear.pattern import Pattern
from planar.methods import body_length, light_masses
from planar.motions import Motion
from planar.packed import pack
from planar.system import System
from planar.timetable import timetable

COMPILED_LAWS = ("point_force", "torque", "spring", "torsion")
WORK_LIMIT = 3e6  # products per factorisation beyond which CHOLMOD in a Python loop is quicker


#: the tables, in the order of the constants of `planar.compiled_forward`
INTS = (
    "kinds",  # of the constraints, see `planar.packed`
    "bodies",
    "motion",
    "rows",
    "slots",
    "entries",  # of Phi_q, three numbers each: row, column, place of the row in the envelope (-1: depends on others)
    "envelope",  # row of Phi, first column, start: entry (i, j) of S is at start[i] + j
    "pairs",  # a, b, column, where: S[where] += Phi_q[a] Phi_q[b] / mass[column]
    "laws",  # kind, body i, body j, places in F of the two magnitudes, 1 if it has no potential
    "terms",  # target, kind, start: see `planar.timetable`
)
REALS = (
    "parameters",  # of the constraints, eight each
    "law_numbers",  # eight parameters, two magnitudes, the parameters with the stiffness zero
    "numbers",  # of the terms
    "gravity",  # (nq,) force
    "inverse",  # (nq,) 1/mass in S
    "light",  # (nq,) what massless coordinates have in it, and refinement takes away again
    "mass",  # (nq,)
    "constants",  # length, 1 if it projects, alpha, beta
)
WORK = (
    "q",
    "v",
    "Q",
    "change",
    "cos",
    "sin",
    "Phi",
    "nu",
    "gamma",
    "lam",
    "right side",
    "F",
    "J",
    "L",
    "x",
    "healthy pivot",
)


class Arrays(NamedTuple):
    """One system for the compiled loop: all tables one after the other, and where they begin at the head of `ints`."""

    ints: np.ndarray
    reals: np.ndarray
    work: np.ndarray


def forward_arrays(
    system: System,
    span: tuple[float, float],
    independent: np.ndarray,
    projects: bool,
    gains: tuple[float, float],
) -> Arrays | None:
    """The arrays of a system on [t0, t1], or None where something in it needs Python or is too large."""
    packed = pack(system)
    if packed is None or system.forcing.has_callables:
        return None
    if any(b.law.name not in COMPILED_LAWS for b in system.forcing.batches):
        return None
    motions: list[Motion | None] = [*system.motions, None]
    laws, law_numbers = _laws(system, motions)
    table = timetable(motions, *span)
    if table is None:
        return None
    entries, envelope, pairs = _known_envelope(system.pattern, independent.tobytes())
    width = np.arange(len(envelope)) - envelope[:, 1]
    if float((width.astype(float) ** 2).sum()) > WORK_LIMIT:
        return None
    light = light_masses(system)
    kinds, bodies, parameters, motion, rows, slots = packed
    ints = (kinds, bodies, motion, rows, slots, entries, envelope, pairs, laws, table.terms)
    reals = (
        parameters, law_numbers, table.numbers, system.forcing.gravity, 1 / (system.mass + light), light, system.mass,
        np.array([body_length(system), float(projects), *gains]),
    )  # fmt: skip
    nq, nc, n = system.nq + 3, system.nc, len(envelope)  # coordinates with those of ground
    size = int(envelope[-1, 2]) + n if n else 0
    work = (nq, nq, nq, nq, nq // 3, nq // 3, nc, nc, nc, nc, nc, 3 * len(motions), system.pattern.nnz + 1, size, n, 1)
    head = len(ints) + len(reals) + len(work) + 3
    starts = np.concatenate(
        [np.cumsum([first, *sizes]) for first, sizes in (
            (head, [x.size for x in ints]), (0, [x.size for x in reals]), (0, work),
        )]
    )  # fmt: skip
    flat = [np.asarray(x, np.int64).reshape(-1) for x in ints]
    return Arrays(
        np.concatenate([starts, *flat]).astype(np.int64),
        np.concatenate([x.reshape(-1) for x in reals]),
        np.zeros(sum(work)),
    )


def _laws(system: System, motions: list[Motion | None]) -> tuple[np.ndarray, np.ndarray]:
    """Force laws; the motions of timed magnitudes are appended to `motions` (the column len(system.motions) is zero)."""
    batches, none = system.forcing.batches, len(system.motions)
    n = sum(b.bodies.shape[1] for b in batches)
    ints, reals = np.full((n, 6), none, np.int64), np.zeros((n, 18))
    start = 0
    for batch in batches:
        part = slice(start, start + batch.bodies.shape[1])
        ints[part, 0], ints[part, 1:3], ints[part, 5] = batch.law.code, batch.bodies.T, 1
        reals[part, : batch.law.parameters] = batch.parameters.T
        reals[part, 8 : 8 + batch.law.magnitudes] = batch.constant.T
        for k, instance, motion in batch.timed:
            ints[start + instance, 3 + k] = len(motions)
            motions.append(motion)
        start = part.stop
    reals[:, 10:] = reals[:, :8]
    for name, stiffness, damping in (("spring", 4, 5), ("torsion", 0, 1)):
        mine = ints[:, 0] == LAWS[name].code
        reals[mine, 10 + stiffness] = 0.0
        idle = (reals[:, 8:10] == 0.0).all(axis=1) & (ints[:, 3:5] == none).all(axis=1)
        ints[mine & idle & (reals[:, damping] == 0.0), 5] = 0
    return ints, reals


@lru_cache(maxsize=32)
def _known_envelope(pattern: Pattern, rows: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _envelope(pattern, np.frombuffer(rows, np.intp))


def _envelope(pattern: Pattern, independent: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries, envelope and pairs of the independent rows."""
    n = len(independent)
    part, chosen = pattern.select(independent)
    a, b = gram_entries(part)
    order = rcm(n, part.rows[a], part.rows[b]) if n else np.zeros(0, np.intp)
    position = inverse(order)
    i, j = position[part.rows[a]], position[part.rows[b]]
    lower = i >= j
    a, b, i, j = a[lower], b[lower], i[lower], j[lower]
    first = np.arange(n)
    np.minimum.at(first, i, j)
    start = np.concatenate(([0], np.cumsum(np.arange(n) - first + 1)))[:n] - first
    where = start[i] + j
    pairs = np.stack([chosen[a], chosen[b], part.indices[a], where], axis=1)[np.argsort(where, kind="stable")]
    place = np.full(pattern.nc, -1)
    place[independent] = position
    entries = np.stack([pattern.rows, pattern.indices, place[pattern.rows]], axis=1)
    envelope = np.stack([independent[order], first, start], axis=1)
    return tuple(np.ascontiguousarray(x, np.int64) for x in (entries, envelope, pairs))
