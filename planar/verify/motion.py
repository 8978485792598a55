"""States for a comparison out of the main path: this is the side that is checked, not the side that checks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from planar.assembly import assemble, close
from planar.errors import ModelError
from planar.linear import KKTSolver, kkt_solver
from planar.model import Model
from planar.projection import Projector, weights
from planar.result import Result
from planar.system import System, compile

TURN = 0.05  # rad, or part of the mechanism's length, that a step may cover
STEPS = 2000  # at most, from one time to the next


def main_path(model: Model, t: Any) -> Result:
    """Inverse dynamics of a driven model; otherwise the free motion, with accelerations and multipliers."""
    from planar.inverse import inverse_dynamics

    t = np.atleast_1d(np.asarray(t, float))
    if t.ndim != 1 or not t.size or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        raise ModelError("t must be increasing finite times in s")
    system = compile(model)
    if system.driven.any() and _is_determined(system, t[0]):
        return inverse_dynamics(system, t)
    return _free_motion(system, t)


def _is_determined(system: System, t: float) -> bool:
    Phi_q = system.pattern.to_dense(system.constraints(t, assemble(system, t).q).Phi_q)
    return bool(np.linalg.matrix_rank(Phi_q, tol=1e-9 * np.abs(Phi_q).max(initial=0.0)) == system.nq)


def _free_motion(system: System, t: np.ndarray) -> Result:
    """Runge-Kutta steps of the KKT system, closed again after each: near enough to the motion to be states of it."""
    solver = kkt_solver(system.pattern, system.mass)
    start = assemble(system, t[0])
    q, v = start.q, start.v
    states = [(q, v)]
    closer, slower = Projector(system, weights(system)), Projector(system, weights(system, drawn=False))
    for now, then in pairwise(t):
        while now < then:
            h = min(then - now, max(_step(system, v), (then - t[0]) / STEPS))
            q, v = _runge_kutta(system, solver, now, q, v, h)
            now = then if then - now <= h else now + h
            q, _ = close(system, closer, now, q)
            e = system.constraints(now, q)
            v = slower.step(e.Phi_q, e.nu, toward=v)
        states.append((q, v))
    q, v = (np.array(x) for x in zip(*states, strict=True))
    solved = [_accelerations(system, solver, *state) for state in zip(t, q, v, strict=True)]
    a, lam = (np.array(x) for x in zip(*solved, strict=True))
    result = Result(system, t, q, v, a, lam, analysis="free motion")
    if system.nc:
        from planar.mobility import unique_rows

        result.label_unique(unique_rows(system, result.Phi_q))
    return result


def _accelerations(system: System, solver: KKTSolver, t: float, q: np.ndarray, v: np.ndarray) -> tuple:
    e = system.constraints(t, q, v)
    return solver.factor(e.Phi_q).solve(system.forces(t, q, v), e.gamma)


def _runge_kutta(system: System, solver: KKTSolver, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple:
    dq, dv, slope_q, slope_v = 0.0, 0.0, 0.0, 0.0
    for part, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        at_q, at_v = q + part * h * dq, v + part * h * dv
        dq, dv = at_v, _accelerations(system, solver, t + part * h, at_q, at_v)[0]
        slope_q, slope_v = slope_q + weight * dq / 6, slope_v + weight * dv / 6
    return q + h * slope_q, v + h * slope_v


def _step(system: System, v: np.ndarray) -> float:
    speed = np.abs(v.reshape(-1, 3) / [system.length, system.length, 1.0]).max(initial=0.0)
    return 0.01 if speed == 0 else min(0.01, TURN / speed)
