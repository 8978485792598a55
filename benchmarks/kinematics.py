"""Kinematics: microseconds per position of a four-bar beside a hand-written kernel; evaluations and solves of chains.

Run: python benchmarks/kinematics.py [links ...]
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from common import Table, best, chain, four_bar

import planar as pl
from planar.linear import available_routes, choose_route, kkt_solver

LENGTHS = (0.1, 0.3, 0.25, 0.3)
SAMPLES = 10_000
DENSE_LIMIT = 300  # links; beyond, the dense route takes seconds


def positions() -> None:
    """Position + velocity + acceleration of all bodies, 10 000 positions of one turn, first position to result."""
    from kernels import empty, four_bar_cartesian
    from kernels import four_bar as by_hand

    system = pl.compile(four_bar(LENGTHS))
    t = np.linspace(0, 1, SAMPLES)
    result = pl.kinematics(system, t)
    q, v, a = (empty(SAMPLES) for _ in range(3))
    theta, omega, alpha = 2 * np.pi * t, np.full(SAMPLES, 2 * np.pi), np.zeros(SAMPLES)
    start = (result["coupler"].phi[0], result["rocker"].phi[0])
    hand = partial(by_hand, theta, omega, alpha, LENGTHS, *start, q, v, a)
    hand()
    worst = max(
        np.abs(x - y).max() / np.abs(y).max() for x, y in zip((result.q, result.v, result.a), (q, v, a), strict=True)
    )
    print(f"four-bar, {SAMPLES} positions; largest relative difference between the two: {worst:.1e}")
    full = [empty(SAMPLES) for _ in range(3)]
    full[0][0] = result.q[0]
    cartesian = partial(four_bar_cartesian, theta, omega, alpha, LENGTHS, *full)
    table = Table("bench_kinematics", what="46s", us_per_position="16.3f", ratio="8.2f")
    other, nine = best(cartesian), best(hand)
    assert np.abs(full[2] - a).max() <= 1e-10 * np.abs(a).max()
    sweep, mine = best(partial(pl.kinematics, drawn(system, result), t)), best(partial(pl.kinematics, system, t))
    for what, seconds in (
        ("hand-written Newton, nine coordinates", other),
        ("hand-written Newton, two angles", nine),
        ("planar.kinematics, poses drawn", sweep),
        ("planar.kinematics, poses found at assembly", mine),
    ):
        table.add(what, seconds / SAMPLES * 1e6, seconds / other)
    table.save()


def drawn(system: pl.System, result: pl.Result) -> pl.System:
    """The same model with every pose drawn: assembly has nothing to search."""
    model = system.model.copy()
    for body in model.bodies:
        body.r, body.phi = tuple(result[body].r[0]), float(result[body].phi[0])
    return pl.compile(model)


def chains(sizes: list[int]) -> None:
    """One evaluation of Phi, Phi_q, nu, gamma, and one factor + solve of the KKT matrix, per route."""
    print("\nchains: one evaluation and one KKT factor + solve, microseconds")
    table = Table("bench_chains", links="6d", route="10s", evaluate_us="12.1f", kkt_us="10.1f", auto="6s")
    for links in sizes:
        system = pl.compile(chain(links))
        q = system.q_drawn + 0.01 * np.sin(np.arange(system.nq))
        v = np.cos(np.arange(system.nq))
        F = system.motion_values(0.0)
        evaluate = best(partial(system.evaluate, 0.0, q, v, F), 0.3) * 1e6
        e = system.evaluate(0.0, q, v, F)
        Q = system.forces(0.0, q, v)
        auto = choose_route(system.pattern, system.mass)
        for route, missing in available_routes().items():
            if missing or (route == "dense" and links > DENSE_LIMIT):
                continue
            solver = kkt_solver(system.pattern, system.mass, route)
            time = best(lambda solver=solver, e=e, Q=Q: solver.factor(e.Phi_q).solve(Q, e.gamma), 0.3) * 1e6
            table.add(links, route, evaluate, time, "*" if route == auto else "")
    table.save()
    by_size = {(row[0], row[1]): row for row in table.rows}
    for route in ("banded", "cholmod", "superlu"):
        small, large = by_size.get((1000, route)), by_size.get((10_000, route))
        if small and large:
            print(
                f"growth from 1000 to 10 000 links, {route}: evaluate {large[2] / small[2]:.1f}, KKT {large[3] / small[3]:.1f}"
            )


if __name__ == "__main__":
    positions()
    chains([int(x) for x in sys.argv[1:]] or [3, 30, 1000, 10_000])
