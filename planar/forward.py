"""Forward dynamics: how a mechanism moves under its forces, `pl.simulate(model, (t0, t1))`."""

from __future__ import annotations

from typing import Any

import numpy as np

from planar import integrators
from planar.assembly import assemble
from planar.integrators import Control, advance, pair
from planar.methods import METHODS
from planar.model import Model
from planar.result import Result
from planar.system import System, compile

CHUNK = 64


class Run(Result):
    """A simulated motion."""


def simulate(
    model: Model | System,
    t_span: Any,
    *,
    method: str = "projection",
    integrator: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    t_eval: Any = None,
) -> Run:
    """Motion from the assembled start over t_span = (t0, t1) s."""
    system = model if isinstance(model, System) else compile(model)
    t0, t1 = (float(x) for x in t_span)
    start = assemble(system, t0)
    problem = METHODS[method](system)
    y = np.concatenate((start.q, start.v, [0.0]))
    name = integrator or ("RK4" if step else "DOP853")
    tableau = pair(name)
    K = np.zeros((16, y.size))
    problem.rate(t0, 0.0, y, K[0])
    control = Control(t1, rtol, atol, max_step, step is None, system.length)
    h = step or first_step or _first_step(problem, control, tableau, t0, y, K[0])
    ts, ys, t, status = [np.array([t0])], [y[None].copy()], t0, 0
    while status == 0:
        times, states = np.empty(CHUNK), np.empty((CHUNK, y.size))
        n, status, t, h, _, _ = advance(
            integrators.rate, integrators.restore, integrators.combine, integrators.measure,
            problem, tableau, control, t, h, y, K, times, states,
        )  # fmt: skip
        ts.append(times[:n])
        ys.append(states[:n])
    t, y = np.concatenate(ts), np.concatenate(ys)
    n = system.nq
    q, v = y[:, :n], y[:, n : 2 * n]
    a, lam = np.empty_like(q), np.empty((len(t), system.nc))
    for k in range(len(t)):
        a[k], lam[k], _ = problem.accelerations(t[k], 0.0, q[k], v[k])
    return Run(
        system, t, q, v, a, lam, analysis="simulate", success=status == 1, work=y[:, -1],
        message="" if status == 1 else f"stopped at t = {t[-1]:g} s",
    )  # fmt: skip


def _first_step(problem, control, tableau, t, y, f) -> float:
    """Hairer's starting step: so that an Euler step and the change of the slope stay small."""
    direction = 1.0 if control.t_end >= t else -1.0

    def size(e, z):
        return integrators.measure(problem, e, y, z, control.rtol, control.atol, control.length)

    zero = np.zeros_like(y)
    d0, d1 = size(y, y + 1e-6 * f), size(f, y + 1e-6 * f)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    z, g = y + h0 * direction * f, zero.copy()
    problem.rate(t + h0 * direction, 0.0, z, g)
    d2 = size(g - f, z) / h0
    top = max(d1, d2)
    h1 = max(1e-6, h0 * 1e-3) if top <= 1e-15 else (0.01 / top) ** (1.0 / tableau.order)
    return direction * min(100 * h0, h1, control.max_step, abs(control.t_end - t))
