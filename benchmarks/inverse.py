"""Inverse dynamics of a crank-driven four-bar: microseconds per sample for q, v, a, lam and all reactions.

Beside a hand-written kernel (closed-form Newton-Euler on the hand-written kinematics), and beside Exudyn's own inverse
dynamics where it is installed (extra `bench`).  Run: python benchmarks/inverse.py
"""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec

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
    peer = exudyn_seconds(inv)
    if peer is None:
        print("Exudyn is not installed (pip install exudyn): left out")
    else:
        table.add("Exudyn, one driven step, not saved", peer[0] / SAMPLES * 1e6, peer[0] / SAMPLES * 1e6 / other)
    table.save()


def exudyn_seconds(inv: pl.Result) -> tuple[float, float] | None:
    """(time in s, residual of the motor constraint) of a driven run of as many steps, nothing written; None if absent."""
    if find_spec("exudyn") is None:
        return None
    import exudyn as exu
    import exudyn.itemInterface as item

    exu.config.printToConsole = False
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    model, markers = inv.model, {}
    ground = mbs.AddObject(item.ObjectGround())
    for body in model.bodies:
        q, v = inv.q[0].reshape(-1, 3), inv.v[0].reshape(-1, 3)
        k = inv.system.body_index(body)
        node = mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=list(q[k]), initialVelocities=list(v[k])))
        number = mbs.AddObject(item.ObjectRigidBody2D(mass=body.mass, inertia=body.inertia, nodeNumber=node))
        mass = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=number))
        mbs.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=[*model.gravity, 0]))
        markers[body.name] = (number, node)
    for joint in model.joints:
        ends = [
            mbs.AddMarker(
                item.MarkerBodyRigid(
                    bodyNumber=ground if p.body.is_ground else markers[p.body.name][0], localPosition=[*p.s, 0]
                )
            )
            for p in (joint.point_i, joint.point_j)
        ]
        mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=ends))
    fixed = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
    crank = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=markers["crank"][1], coordinate=2))
    motor = mbs.AddObject(
        item.CoordinateConstraint(markerNumbers=[fixed, crank], velocityLevel=True, offset=float(inv.v[0, 2]))
    )
    mbs.Assemble()
    options = exu.SimulationSettings()
    options.timeIntegration.numberOfSteps, options.timeIntegration.endTime = SAMPLES, 1.0
    options.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    options.timeIntegration.newton.useModifiedNewton = True
    options.solution.file.write = False
    options.parallel.numberOfThreads = 1
    times = []
    for _ in range(5):
        start = time.perf_counter()
        mbs.SolveDynamic(options, showHints=False)
        times.append(time.perf_counter() - start)
    torque = mbs.GetObjectOutput(motor, exu.OutputVariableType.ConstraintEquation)
    return min(times), float(np.linalg.norm(torque))


if __name__ == "__main__":
    main()
