"""The radial part of tooth forces: |lam| tan(pressure angle), which pushes the wheels apart and does no work.

No multiplier can know a force that does no work, but the bearings carry it.  So it is applied as a pair of loads at the
pitch point, found from the tangential force lam of the mesh; since the wheels' centres are held apart by other joints, it
changes the multipliers of those and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from planar.bodies import Body
from planar.joints import GearMesh, RackPinion
from planar.state import State
from planar.system import System


def meshes(system: System) -> list[GearMesh | RackPinion]:
    """The toothed pairs with a pressure angle."""
    return [j for j in system.model.joints if isinstance(j, (GearMesh, RackPinion)) and j.pressure_angle > 0]


def radial_loads(system: System, q: np.ndarray, lam: np.ndarray) -> dict[str, np.ndarray]:
    """Generalised forces (..., nq) of each toothed pair for the multipliers lam (..., nc)."""
    state = State(system, 0.0, q, np.zeros_like(q))

    def place(point):
        return state.point(point).r

    loads = {}
    for pair in meshes(system):
        bodies: tuple[Body, Body] = tuple(a.body for a in pair.attachments)
        size = np.abs(lam[..., system.rows_of[pair.name].start]) * math.tan(pair.pressure_angle)
        push = size[..., None] * pair.separation(place)
        point = pair.acts_at(bodies[1], place)
        load = np.zeros((*q.shape[:-1], system.nq + 3))
        for body, F in ((bodies[0], -push), (bodies[1], push)):
            k = system.body_index(body)
            arm = point - state[body].r
            load[..., 3 * k : 3 * k + 2] += F
            load[..., 3 * k + 2] += arm[..., 0] * F[..., 1] - arm[..., 1] * F[..., 0]
        loads[pair.name] = load[..., :-3]
    return loads


def with_radial_loads(
    system: System, q: np.ndarray, lam: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(lam, loads): multipliers that also balance the radial tooth forces; solve(load) gives the multipliers of a load.

    The tangential forces normally stay as they are; where they do not (a centre held by a tooth force itself) a few
    rounds settle it.
    """
    if not meshes(system):
        return lam, {}
    plain = lam
    for _ in range(25):
        loads = radial_loads(system, q, lam)
        new = plain + solve(sum(loads.values()))
        change, lam = np.abs(new - lam).max(initial=0.0), new
        if change <= 1e-13 * np.abs(lam).max(initial=0.0):
            break
    return lam, radial_loads(system, q, lam)
