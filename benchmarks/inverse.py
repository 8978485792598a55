"""Inverse dynamics of a crank-driven four-bar: microseconds per sample for q, v, a, lam and all reactions.

Beside a hand-written kernel (closed-form Newton-Euler on the hand-written kinematics), and beside Exudyn's own inverse
dynamics where it is installed (extra `bench`).  Run: python benchmarks/inverse.py
"""

from __future__ import annotations

from functools import partial

import numpy as np
from common import Table, best, four_bar
from kernels import empty, four_bar_reactions
from kernels import four_bar as by_hand

import planar as pl

LENGTHS = (0.1, 0.3, 0.25, 0.3)
SAMPLES = 10_000


def everything(system: pl.System, t: np.ndarray) -> tuple[pl.Result, list]:
    inv = pl.inverse_dynamics(system, t)
    return inv, [inv.reaction(j, on=b) for j in system.model.joints for b in j.bodies]


def main() -> None:
    system = pl.compile(four_bar(LENGTHS))
    t = np.linspace(0, 1, SAMPLES)
    inv, _ = everything(system, t)
    q, v, a, F = (empty(SAMPLES) for _ in range(4))
    theta, omega, alpha = 2 * np.pi * t, np.full(SAMPLES, 2 * np.pi), np.zeros(SAMPLES)
    mass = np.array([1.0, 2.0, 1.5])
    inertia = mass * np.array(LENGTHS[:3]) ** 2 / 12

    def hand() -> None:
        by_hand(theta, omega, alpha, LENGTHS, inv["coupler"].phi[0], inv["rocker"].phi[0], q, v, a)
        four_bar_reactions(q, a, mass, inertia, 9.81, LENGTHS, F)

    hand()
    pins = (("A", "crank"), ("B", "coupler"), ("C", "coupler"), ("D", "rocker"))
    ours = np.column_stack([*(inv.reaction(p, on=b).force for p, b in pins), inv.effort("motor")])
    print(f"four-bar, {SAMPLES} samples; largest relative difference: {np.abs(ours - F).max() / np.abs(F).max():.1e}")
    table = Table("bench_inverse", what="34s", us_per_sample="14.3f", ratio="8.2f")
    other = best(hand) / SAMPLES * 1e6
    table.add("hand-written kernel", other, 1.0)
    mine = best(partial(everything, system, t)) / SAMPLES * 1e6
    table.add("planar: everything", mine, mine / other)
    alone = best(partial(pl.inverse_dynamics, system, t)) / SAMPLES * 1e6
    table.add("planar: q, v, a, lam", alone, alone / other)
    table.save()
    print("Exudyn: see benchmarks/peers.py" if not _has_exudyn() else "")


def _has_exudyn() -> bool:
    from importlib.util import find_spec

    return find_spec("exudyn") is not None


if __name__ == "__main__":
    main()
