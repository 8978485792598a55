"""A system as plain arrays for compiled loops: one row per instance of a primitive, whatever its kind.

Constraints given by Python callables and points on curves have no compiled kernel; `pack` returns None for systems that
hold one, and the NumPy route takes over.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from planar.system import System


class Packed(NamedTuple):
    """Instances n, in the order of the batches; unused places hold zeros (slots: the dummy at the end)."""

    kinds: np.ndarray  # (n,) code of the primitive
    bodies: np.ndarray  # (n, 3), ground = nb
    parameters: np.ndarray  # (n, 8)
    motion: np.ndarray  # (n,), nm where nothing is driven
    rows: np.ndarray  # (n, 2)
    slots: np.ndarray  # (n, 8) positions in the data of Phi_q, the dummy is nnz


@lru_cache(maxsize=64)
def pack(system: System) -> Packed | None:
    """The arrays of a system, or None where a constraint needs Python."""
    if system.user or any(batch.curves for batch in system.batches):
        return None
    n = sum(batch.motion.size for batch in system.batches)
    out = Packed(
        np.zeros(n, np.int64),
        np.full((n, 3), system.nb, np.int64),
        np.zeros((n, 8)),
        np.zeros(n, np.int64),
        np.zeros((n, 2), np.int64),
        np.full((n, 8), system.pattern.nnz, np.int64),
    )
    start = 0
    for batch in system.batches:
        part = slice(start, start + batch.motion.size)
        out.kinds[part] = batch.primitive.code
        out.bodies[part, : len(batch.bodies)] = batch.bodies.T
        out.parameters[part, : len(batch.parameters)] = batch.parameters.T
        out.motion[part] = batch.motion
        out.rows[part, : len(batch.rows)] = batch.rows.T
        out.slots[part, : len(batch.slots)] = batch.slots.T
        start = part.stop
    return out


def dense_slots(system: System, packed: Packed, chosen: np.ndarray) -> np.ndarray:
    """(n, 8) positions in the row-major dense Jacobian of the `chosen` rows; all others go to the dummy behind it."""
    pattern, n = system.pattern, len(chosen)
    place = np.full(system.nc, -1)
    place[chosen] = np.arange(n)
    row = place[pattern.rows]
    table = np.append(np.where(row >= 0, row * system.nq + pattern.indices, n * system.nq), n * system.nq)
    return table[packed.slots]
