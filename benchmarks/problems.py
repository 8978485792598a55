"""The benchmark problems of forward dynamics as plain numbers, for every engine alike, with their reference solutions.

A `Problem` is read off a planar model: bodies, pins, perhaps a spring and a torque.  Engines in relative coordinates take
the spanning tree (`Tree`); what they return is brought back to (x, y, phi) per body before any error is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script

import planar as pl
from tests.mechanisms import four_bar
from tests.reference_models import andrews, chain, n_four_bar, reference

SAMPLES = 100


@dataclass
class Problem:
    """One row of the table: a mechanism, a time span, and the error that has to be reached.

    error(q, v) takes samples (SAMPLES + 1, nb, 3) of bodies at equal times from 0 to t_end, or only the last of them is
    looked at (sampled=False).
    """

    name: str
    family: str
    model: pl.Model
    t_end: float
    target: float
    unit: str
    error: Callable[[np.ndarray, np.ndarray], float]
    kernel: Callable[[int, int], tuple[np.ndarray, np.ndarray]]  # (steps, every) -> samples
    steps: int  # a number of steps to start the search from
    sampled: bool = False
    data: dict = field(default_factory=dict)

    @cached_property
    def system(self) -> pl.System:
        return pl.compile(self.model)

    @cached_property
    def q0(self) -> np.ndarray:
        return self.system.q_drawn.reshape(-1, 3)

    @cached_property
    def v0(self) -> np.ndarray:
        return self.system.v_drawn.reshape(-1, 3)

    @cached_property
    def mass(self) -> np.ndarray:
        return self.system.mass.reshape(-1, 3)

    @cached_property
    def pins(self) -> list[tuple[int, Any, int, Any]]:
        """(body i, point on i, body j, point on j), ground = -1 with global points."""
        index = {id(b): k for k, b in enumerate(self.model.bodies)} | {id(self.model.ground): -1}
        sides = [(p.point_i, p.point_j) for p in self.model.joints]
        return [(index[id(i.body)], i.s, index[id(j.body)], j.s) for i, j in sides]

    @cached_property
    def tree(self) -> Tree:
        return Tree(self)

    @property
    def is_open(self) -> bool:
        return not self.tree.loops


class Tree:
    """Spanning tree from ground: order of the bodies, parent, pin on parent and on body, loops that are left."""

    def __init__(self, problem: Problem):
        nb = len(problem.q0)
        touching: list[list[int]] = [[] for _ in range(nb + 1)]  # ground last
        for n, (i, _, j, _) in enumerate(problem.pins):
            touching[i].append(n)
            touching[j].append(n)
        self.parent, self.at, self.own = np.full(nb, -2), np.zeros((nb, 2)), np.zeros((nb, 2))
        self.order: list[int] = []
        used: set[int] = set()
        front = [-1]
        for body in front:  # breadth first for short branches; grows while it is walked
            for n in touching[body]:
                i, si, j, sj = problem.pins[n]
                if i != body:
                    i, si, j, sj = j, sj, i, si
                if j >= 0 and self.parent[j] == -2:
                    self.parent[j], self.at[j], self.own[j] = i, si, sj
                    used.add(n)
                    front.append(j)
        children: dict[int, list[int]] = {}
        for k in front[1:]:
            children.setdefault(int(self.parent[k]), []).append(k)
        stack = [-1]
        while stack:  # listed depth first: both engines number joints so
            k = stack.pop()
            if k >= 0:
                self.order.append(k)
            stack += reversed(children.get(k, []))
        self.loops = [pin for n, pin in enumerate(problem.pins) if n not in used]
        self.phi0 = problem.q0[:, 2]
        parents = [int(self.parent[k]) for k in self.order]
        rate = problem.v0[:, 2]
        # relative angles are counted from the drawn pose
        self.rate0 = np.array(
            [rate[k] - (rate[p] if p >= 0 else 0.0) for k, p in zip(self.order, parents, strict=True)]
        )

    def cartesian(self, angle: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q, v (..., nb, 3) from relative angles and rates (..., nb) in the order of the tree."""
        q, v = np.zeros((*angle.shape, 3)), np.zeros((*angle.shape, 3))
        for n, k in enumerate(self.order):
            p = self.parent[k]
            if p >= 0:
                turn, w = q[..., p, 2] - self.phi0[p], v[..., p, 2]
                x, y = _turned(q[..., p, 2], self.at[k])
                base = q[..., p, 0] + x, q[..., p, 1] + y
                speed = v[..., p, 0] - w * y, v[..., p, 1] + w * x
            else:
                turn, w, base, speed = 0.0, 0.0, tuple(self.at[k]), (0.0, 0.0)
            q[..., k, 2] = self.phi0[k] + turn + angle[..., n]
            v[..., k, 2] = w + rate[..., n]
            x, y = _turned(q[..., k, 2], self.own[k])
            q[..., k, 0], q[..., k, 1] = base[0] - x, base[1] - y
            v[..., k, 0], v[..., k, 1] = speed[0] + v[..., k, 2] * y, speed[1] - v[..., k, 2] * x
        return q, v


def _turned(phi: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    c, n = np.cos(phi), np.sin(phi)
    return c * s[0] - n * s[1], n * s[0] + c * s[1]


# --- the four mechanisms ---------------------------------------------------------------------------------------------


def four_bar_problem() -> Problem:
    """One crank-rocker, 10 s of free motion from rest in gravity, crank angle to 1e-5 rad."""
    from benchmarks.kernels_forward import run_serial

    m = four_bar(speed=None)
    lengths, masses = (0.1, 0.3, 0.25, 0.3), (1.0, 2.0, 1.5)
    exact = _four_bar_angle(lengths, masses, 0.6, np.linspace(0.0, 10.0, SAMPLES + 1))

    def kernel(steps: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        q = problem.q0 + np.array([[0, 0, 0], [0, 0, 0], [0, 0, np.pi]])  # the kernel's last rod points to ground
        q, v = run_serial(q, problem.v0, lengths[:3], masses, (lengths[3], 0.0), 10.0, steps, every)
        return q - np.array([[0, 0, 0], [0, 0, 0], [0, 0, np.pi]]), v

    def error(q: np.ndarray, v: np.ndarray) -> float:
        return float(np.abs(q[:, 0, 2] - exact).max())

    problem = Problem("four-bar, 10 s", "four-bar", m, 10.0, 1e-5, "rad", error, kernel, 2000, sampled=True)
    return problem


def _four_bar_angle(lengths: tuple, masses: tuple, start: float, t: np.ndarray) -> np.ndarray:
    """Crank angle at times t by the one-degree-of-freedom equation I(th) th'' + I'(th) th'^2 / 2 + V'(th) = 0.

    I and V in closed form from the angles of coupler and rocker; I' and V' by the complex step, exact to round-off.
    """
    a, b, c, d = lengths

    def energies(th: complex) -> tuple[complex, complex]:
        """I(th) (kinetic energy = I th'^2 / 2) and V(th)."""
        Bx, By = a * np.cos(th), a * np.sin(th)
        ux, uy = d - Bx, -By
        L2 = ux * ux + uy * uy
        p = (b * b - c * c + L2) / (2 * L2)
        h = np.sqrt(b * b / L2 - p * p)
        Cx, Cy = Bx + p * ux - h * uy, By + p * uy + h * ux
        # velocities for th' = 1: coupler rate w2, rocker rate w3 from B' + w2 R(C - B) = w3 R(C - D)
        ex, ey, fx, fy = Cx - Bx, Cy - By, Cx - d, Cy
        det = ey * fx - ex * fy  # of [[-ey, fy], [ex, -fx]]
        w2, w3 = (fy * Bx - fx * By) / det, (ey * Bx - ex * By) / det
        gx, gy = -By - w2 * ey / 2, Bx + w2 * ex / 2
        m1, m2, m3 = masses
        inertia = m1 * a * a / 3 + m2 * (gx * gx + gy * gy + b * b * w2 * w2 / 12) + m3 * c * c / 3 * w3 * w3
        return inertia, 9.81 * (m1 * By / 2 + m2 * (By + Cy) / 2 + m3 * Cy / 2)

    def rate(t: float, y: np.ndarray) -> list[float]:
        inertia, V = energies(complex(y[0], 1e-30))
        dI, dV = inertia.imag / 1e-30, V.imag / 1e-30
        return [y[1], -(0.5 * dI * y[1] ** 2 + dV) / inertia.real]

    return solve_ivp(rate, (t[0], t[-1]), [start, 0.0], method="DOP853", t_eval=t, rtol=1e-13, atol=1e-13).y[0]


def n_four_bar_problem(N: int) -> Problem:
    """IFToMM A02 with N loops, 10 s through the flat position, energy error at the samples at most 0.1 J."""
    from benchmarks.kernels_bars import run_bars

    def kernel(steps: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        return run_bars(problem.q0, problem.v0, 10.0, steps, every)

    def error(q: np.ndarray, v: np.ndarray) -> float:
        T = 0.5 * (problem.mass * v**2).sum(axis=(-1, -2))
        E = T + 9.81 * (problem.mass[:, 1] * q[..., 1]).sum(axis=-1)
        return float(np.abs(E - E[0]).max())

    problem = Problem(f"N-four-bar, N = {N}", "N-four-bar", n_four_bar(N), 10.0, 0.1, "J", error, kernel, 100)
    problem.sampled, problem.data = True, {"N": N}
    return problem


def andrews_problem() -> Problem:
    """Andrews' squeezer, 0.03 s, all angles to 1e-6 rad."""
    from benchmarks.kernels_andrews import run_andrews

    data = reference("andrews")
    exact = np.array(data["verified_bodies_t003"], float)[:, 2]

    def kernel(steps: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        return run_andrews(data, problem.q0, problem.v0, 0.03, steps, every)

    def error(q: np.ndarray, v: np.ndarray) -> float:
        return float(np.abs(q[-1, :, 2] - exact).max())

    problem = Problem("Andrews, 0.03 s", "Andrews", andrews(), 0.03, 1e-6, "rad", error, kernel, 200)
    spring = data["cartesian"]["spring"]
    problem.data = {
        "spring": (2, data["cartesian"]["local_points"]["K3"]["D"], data["cartesian"]["ground_points"]["C"]),
        "stiffness": spring["k"],
        "length": spring["l0"],
        "torque": (0, 0.033),
    }
    return problem


def chain_problem(links: int) -> Problem:
    """A chain released level, 1 s, every centre of mass to 1 mm; the reference is the kernel with 16 times the steps."""
    from benchmarks.kernels_forward import run_serial

    def kernel(steps: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        return run_serial(problem.q0, problem.v0, np.ones(links), np.ones(links), None, 1.0, steps, every)

    problem = Problem(f"chain of {links}, 1 s", "chain", chain(links), 1.0, 1e-3, "m", lambda q, v: np.inf, kernel, 16)
    exact = kernel(1600, 1600)[0][-1, :, :2]
    problem.error = lambda q, v: float(np.abs(q[-1, :, :2] - exact).max())
    return problem
