"""Statics: what the joints and drivers carry at rest, Phi_q^T lam = Q, drivers holding where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planar.assembly import Assembly, assemble, row_scale
from planar.errors import AssemblyError, ModelError
from planar.mobility import free_motions, unique_rows
from planar.model import Model
from planar.multipliers import transposed_solver
from planar.result import Result
from planar.state import State
from planar.system import System, compile
from planar.tooth import with_radial_loads

BALANCED = 1e-9  # part of the applied forces that may stay unbalanced


def statics(model: Model | System, poses: Any = None, *, t: float = 0.0) -> Result:
    """Reactions and holding efforts at rest, at the assembled pose or over a sweep of poses.

    poses   None: the drawn, assembled pose at time t s (drivers at their positions then)
            a `Result` (of kinematics, say) or `Assembly`: its poses and times
            an array (n, nq) of coordinates (x, y, phi per body), or a list of {body: (x, y, phi)}
    Joints must be closed in the poses; drivers hold wherever they are.  A mechanism that would move under its loads is
    refused with the motion it would make: `pl.equilibrium` finds where it rests, `pl.simulate` how it moves.
    """
    system = model if isinstance(model, System) else compile(model)
    times, q, notes = _poses(system, poses, t)
    v = np.zeros_like(q)
    result = Result(system, times, q, v, np.zeros_like(q), analysis="statics", notes=notes)
    _check_closed(result)
    Q = system.forces(times, q, v)
    solver = transposed_solver(system, result.Phi_q, q, free=True)
    lam = solver(Q)
    _check_balance(result, Q, lam)
    unique = unique_rows(system, result.Phi_q) if system.nq <= 600 else unique_rows(system, result.Phi_q[0])
    result.label_unique(unique)
    result.lam, loads = with_radial_loads(system, q, lam, solver)
    result.loads.update(loads)
    return result


def _poses(system: System, poses: Any, t: float) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(t (n,), q (n, nq), notes)."""
    if poses is None:
        poses = assemble(system, t)
    if isinstance(poses, (Assembly, State)):
        if poses.system.body_names != system.body_names:
            raise ModelError("the poses belong to another model; give poses of this one", repr(system.model))
        notes = list(getattr(poses, "notes", []))
        return np.atleast_1d(np.asarray(poses.t, float)), np.atleast_2d(poses.q).copy(), notes
    if isinstance(poses, Mapping):
        poses = [poses]
    if isinstance(poses, Sequence) and poses and all(isinstance(p, Mapping) for p in poses):
        poses = [_coordinates(system, p) for p in poses]
    try:
        q = np.atleast_2d(np.array(poses, float))
    except (TypeError, ValueError):
        raise ModelError(
            f"poses must be a result, an array (n, {system.nq}) or a list of dicts, got {poses!r:.60}"
        ) from None
    if q.ndim != 2 or q.shape[1] != system.nq or not np.isfinite(q).all():
        raise ModelError(f"poses must be finite and of shape (n, {system.nq}), x, y, phi of each body; got {q.shape}")
    return np.full(len(q), float(t)), q, []


def _coordinates(system: System, pose: Mapping[Any, Any]) -> np.ndarray:
    given = {getattr(body, "name", body): value for body, value in pose.items()}
    for name in given:
        system.model[name]
    missing = [name for name in system.body_names if name not in given]
    if missing:
        raise ModelError(f"the pose of {missing[0]!r} is missing; give (x, y, phi) of every body")
    return np.concatenate([np.asarray(given[name], float) for name in system.body_names])


def _check_closed(result: Result) -> None:
    system = result.system
    gap = np.abs(result.equations.Phi * row_scale(system))[:, ~system.driven]
    if not gap.size or gap.max() <= 1e-8 * system.length:
        return
    k, row = np.unravel_index(int(np.argmax(gap)), gap.shape)
    name = system.row_names[np.flatnonzero(~system.driven)[row]]
    raise AssemblyError(
        f"pose {k}: {name!r} is open by {gap[k, row]:.2e} m; give poses in which the joints are closed, "
        "such as those of pl.kinematics or m.assemble()"
    )


def _check_balance(result: Result, Q: np.ndarray, lam: np.ndarray) -> None:
    """What is left of the loads would set the mechanism in motion."""
    system = result.system
    unit = np.tile([1.0, 1.0, 1.0 / system.length], system.nb)
    left = (Q - system.pattern.multiply_T(result.Phi_q, lam)) * unit
    size = np.abs(Q * unit).max(initial=0.0)
    if not np.abs(left).max(initial=0.0) > BALANCED * size:
        return
    k, column = np.unravel_index(int(np.argmax(np.abs(left))), left.shape)
    motions = free_motions(system, float(result.t[k]), result.q[k])
    words = "; ".join(str(m) for m in motions[:3]) or "a singular position"
    raise ModelError(
        f"it does not hold: {abs(left[k, column]):.3g} N on {system.body_names[column // 3]!r} stays unbalanced and would "
        f"set it in motion ({words}); hold it with a driver, or use pl.equilibrium to find where it rests",
        f"model {system.model.name!r}",
    )
