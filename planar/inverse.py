"""Inverse dynamics: the motion is prescribed, the efforts and reactions are asked for.

    "two-step"    kinematics gives a, then  Phi_q^T lam = Q - M a
    "augmented"   kinematics gives q and v, then  [M Phi_q^T; Phi_q 0] [a; lam] = [Q; gamma]

Both give the same numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planar.actuation import Actuator, actuators
from planar.errors import ModelError, PlanarWarning, SingularError
from planar.kinematics import as_times, solve, warn_if_stopped
from planar.mobility import unique_rows
from planar.model import Model
from planar.multipliers import augmented, transposed_solver
from planar.result import Result
from planar.system import System, compile
from planar.tooth import with_radial_loads


def inverse_dynamics(
    model: Model | System,
    t: Any = 0.0,
    *,
    actuate: Sequence[Any] | Mapping[str, Any] | None = None,
    route: str = "two-step",
) -> Result:
    """Efforts of the drivers and all reactions for the motion that the drivers prescribe, at the times t s.

    actuate  where the effort is supplied instead of at the drivers: revolute joints (torque), translational or
             pin-in-slot joints (force along them), drivers, pairs of points (force between them); a dict gives them names.
             As many as there are driven motions: exact; more: the least effort (sum of squares), noted in `notes`.
    route    "two-step" or "augmented", see above
    """
    if route not in ("two-step", "augmented"):
        raise ModelError(f"route is {route!r}; give 'two-step' or 'augmented'")
    system = model if isinstance(model, System) else compile(model)
    result = solve(system, as_times(t))
    warn_if_stopped(result)
    result.analysis = "inverse dynamics"
    _check_drivers(system, result)
    Q = system.forces(result.t, result.q, result.v)
    solver = transposed_solver(system, result.Phi_q, result.q)
    if route == "two-step":
        lam = solver(Q - system.mass * result.a)
    else:
        result.a, lam = augmented(system, result.Phi_q, Q, result.equations.gamma)
    if not np.isfinite(lam).all():
        k = int(np.argmin(np.isfinite(lam).all(axis=1)))
        raise SingularError(
            f"reactions at t = {result.t[k]:g} s are not finite: the mechanism is in a singular position there; "
            "leave this sample out"
        )
    if actuate is not None:
        lam = _actuate(result, actuate, lam, solver)
    if system.nc > system.nq:
        result.label_unique(unique_rows(system, result.Phi_q))
    lam, loads = with_radial_loads(system, result.q, lam, solver)
    result.lam = lam
    result.loads.update(loads)
    _warn_near_singular(result)
    return result


def _check_drivers(system: System, result: Result) -> None:
    """Drivers that depend on each other share an effort that nobody can know."""
    if system.nc <= system.nq:
        return
    unique = unique_rows(system, result.Phi_q[0])
    if (~unique & system.driven).any():
        from planar.diagnosis import explain_overdriven

        raise ModelError(explain_overdriven(system, float(result.t[0]), result.q[0]), f"model {system.model.name!r}")


def _actuate(result: Result, actuate: Any, lam: np.ndarray, solver: Any) -> np.ndarray:
    """Move the effort from the drivers to the actuators.

    With lam_B = Phi_q^-T B the multipliers that balance unit efforts, lam + lam_B u must vanish on the driver rows d:
    lam_B[d] u = -lam[d].  Since lam[d] are the drivers' efforts and lam_B[d] the actuators' rates per unit rate of the
    drivers, this says that both sets of efforts do the same work.
    """
    system = result.system
    chosen = actuators(system, result, actuate, result.Phi_q)
    driven = np.flatnonzero(system.driven)
    lam_B = np.stack([solver(a.direction) for a in chosen], -1)  # (nt, nc, nu)
    transfer = lam_B[:, driven, :]
    _check_transfer(result, chosen, transfer)
    u = -(np.linalg.pinv(transfer, rcond=1e-10) @ lam[:, driven, None])[..., 0]
    if len(chosen) > driven.size:
        result.notes.append(
            f"{len(chosen)} actuators for {driven.size} driven motions: efforts are those with the least sum of squares"
        )
    for k, a in enumerate(chosen):
        rate = (a.direction * result.v).sum(axis=1)
        result.efforts[a.name], result.rates[a.name], result.units[a.name] = u[:, k], rate, a.unit
        result.loads[f"actuator {a.name}"] = a.direction * u[:, k, None]
    lam = lam + (lam_B @ u[..., None])[..., 0]
    lam[:, driven] = 0.0
    return lam


def _check_transfer(result: Result, chosen: list[Actuator], transfer: np.ndarray) -> None:
    """Every driven motion must be moved by some actuator, at every sample."""
    system = result.system
    driven = [system.row_names[r] for r in np.flatnonzero(system.driven)]
    names = ", ".join(repr(a.name) for a in chosen)
    if len(chosen) < len(driven):
        raise ModelError(
            f"actuate names {len(chosen)} actuator{'s' * (len(chosen) > 1)} ({names}) for {len(driven)} driven motions "
            f"({', '.join(driven)}); name at least as many"
        )
    size = np.abs(transfer).max(axis=(1, 2), keepdims=True)
    s = np.linalg.svd(transfer / np.where(size > 0, size, 1.0), compute_uv=False)[:, len(driven) - 1]
    k = int(np.argmin(s))
    if s[k] < 1e-9 or not size.min() > 1e-12 * size.max():
        k = int(np.argmin(size[:, 0, 0])) if s[k] >= 1e-9 else k
        raise SingularError(
            f"actuators {names} cannot give the motion of {', '.join(driven)} at t = {result.t[k]:g} s: they do not move "
            "while it does (a dead point, or the wrong place); choose others or leave this sample out"
        )


def _warn_near_singular(result: Result) -> None:
    near = [e for e in result.events if e.kind in ("singular", "near-singular")]
    if near:
        warnings.warn(
            f"{len(near)} singular or nearly singular position{'s' * (len(near) > 1)}, the first: {near[0]}; reactions "
            "near them grow without bound and are not to be trusted there (see .events)",
            PlanarWarning,
            stacklevel=3,
        )
