"""Struct-of-arrays batches: all instances of one primitive, as the kernels take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.custom import UserConstraint
from planar.primitives import Primitive


@dataclass(frozen=True)
class Batch:
    """All instances of one primitive, as arrays over the instances.

    slots[e] are the positions of entry e in the data of Phi_q; entries of ground go to a dummy at the end.
    """

    primitive: Primitive
    bodies: np.ndarray  # (slots, n), ground = nb
    parameters: np.ndarray  # (parameters, n)
    motion: np.ndarray  # (n,), nm where nothing is driven
    rows: np.ndarray  # (rows, n)
    slots: np.ndarray  # (entries, n)
    curves: tuple[Any, ...] = ()


@dataclass(frozen=True)
class UserBatch:
    """A constraint given by Python callables."""

    constraint: UserConstraint
    bodies: np.ndarray  # (bodies,), ground = nb
    rows: np.ndarray
    slots: np.ndarray  # (rows, 3 bodies)


def foot(batch: Batch, bodies: list[tuple]) -> tuple:
    """Parameters of the `curve` kernel: foot of the perpendicular from the follower point on each curve."""
    xi, yi, _, ci, si, *_ = bodies[0]
    xj, yj, _, cj, sj, *_ = bodies[1]
    sx, sy = batch.parameters[:2]
    Dx, Dy = xj + cj * sx - sj * sy - xi, yj + sj * sx + cj * sy - yi
    px, py = ci * Dx + si * Dy, ci * Dy - si * Dx
    out = np.empty((4, *px.shape), px.dtype)
    for n, curve in enumerate(batch.curves):
        out[:, ..., n] = curve.signed_distance(px[..., n], py[..., n])[:4]
    return (sx, sy, *out)
