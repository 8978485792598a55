"""The benchmark problems in other engines: Exudyn, MuJoCo, Pinocchio.  `pip install -e .[bench]` gets them.

Each engine has one way of building any `Problem` and offers the settings that are worth trying; the benchmark takes the
quickest that reaches the error.  Building is not timed, for nobody.  Exudyn works with redundant coordinates and
implicit steps, MuJoCo and Pinocchio with a tree of joints and constraints that close the loops.
"""

from __future__ import annotations

import importlib.util
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import SAMPLES, Problem

Samples = tuple[np.ndarray, np.ndarray]
Run = Callable[[], Any]


class Engine:
    """settings(problem) -> names to try;  prepare(problem, setting, steps) -> (run, read).

    `run()` is timed; `read()` afterwards gives q, v (SAMPLES + 1, nb, 3), nan where the engine gave up.
    """

    name = ""
    module = ""

    @classmethod
    def missing(cls) -> str:
        """Why the engine cannot run here, or ""."""
        if importlib.util.find_spec(cls.module) is None:
            return f"{cls.name}: not installed (pip install -e .[bench]); left out"
        return ""

    def refuses(self, problem: Problem) -> str:
        """Why this engine does not run this problem, or ""."""
        return ""

    def settings(self, problem: Problem) -> list[Any]:
        return [None]

    def label(self, setting: Any) -> str:
        """A setting as the table shows it."""
        return str(setting or "RK4")

    def prepare(self, problem: Problem, setting: Any, steps: int) -> tuple[Run, Callable[[], Samples]]:
        raise NotImplementedError


# --- Exudyn ----------------------------------------------------------------------------------------------------------


class Exudyn(Engine):
    """Implicit generalised-alpha on rigid bodies in the plane and revolute joints; dense or sparse by size.

    Settings: spectral radius and index.  Index 2 (trapezoidal rule) is the more accurate one but stops at the flat
    position of the N-four-bar.
    """

    name, module = "Exudyn", "exudyn"

    def settings(self, problem: Problem) -> list[Any]:
        if "N" in problem.data:
            return [(0.9, 3), (0.7, 3)]
        return [(1.0, 2), (0.9, 3)]

    def label(self, setting: Any) -> str:
        return f"rho {setting[0]}, index {setting[1]}"

    def prepare(self, problem: Problem, setting: Any, steps: int) -> tuple[Run, Callable[[], Samples]]:
        import exudyn as exu

        container, system = _exudyn_system(problem)
        options = exu.SimulationSettings()
        integration = options.timeIntegration
        integration.numberOfSteps, integration.endTime = steps, problem.t_end
        integration.minimumStepSize = problem.t_end / steps / 4
        integration.verboseMode = 0
        rho, index = setting
        integration.generalizedAlpha.spectralRadius = rho
        integration.generalizedAlpha.useIndex2Constraints = index == 2
        integration.generalizedAlpha.useNewmark = index == 2
        integration.newton.useModifiedNewton = True
        options.solution.file.write = False
        options.parallel.numberOfThreads = 1
        if len(problem.q0) > 10:
            options.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        ok = [True]

        def run() -> None:
            ok[0] = bool(container) and _quietly(lambda: system.SolveDynamic(options, showHints=False))

        def read() -> Samples:
            nan = np.full((SAMPLES + 1, *problem.q0.shape), np.nan)
            if not ok[0]:
                return nan, nan
            if not problem.sampled:
                state = system.systemData
                end = state.GetODE2Coordinates(), state.GetODE2Coordinates_t()
                nan[-1] = problem.q0 + end[0].reshape(-1, 3)
                return nan, np.broadcast_to(end[1].reshape(-1, 3), nan.shape)
            return self._samples(problem, setting, options)

        return run, read

    def _samples(self, problem: Problem, setting: Any, options: Any) -> Samples:
        """The same run again, now writing its states to a file."""
        container, system = _exudyn_system(problem)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "solution.txt"
            options.solution.precision = 16
            file = options.solution.file
            file.write, file.name, file.writePeriod = True, str(path), problem.t_end / SAMPLES
            file.export.accelerations = file.export.algebraicCoordinates = False
            _quietly(lambda: container and system.SolveDynamic(options, showHints=False))
            table = np.loadtxt(path, delimiter=",", comments="#", ndmin=2)
        options.solution.file.write = False
        n = problem.q0.size
        shape = (-1, *problem.q0.shape)
        return problem.q0 + table[:, 1 : 1 + n].reshape(shape), table[:, 1 + n : 1 + 2 * n].reshape(shape)


def _quietly(call: Callable[[], Any]) -> bool:
    """True if the call went through; Exudyn raises where Newton fails."""
    try:
        return call() is not False
    except Exception:
        return False


def _exudyn_system(problem: Problem) -> tuple[Any, Any]:
    import exudyn as exu
    import exudyn.itemInterface as item

    exu.config.printToConsole = False
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(item.ObjectGround())
    bodies = []
    for (m, _, J), q, v in zip(problem.mass, problem.q0, problem.v0, strict=True):
        node = mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=list(q), initialVelocities=list(v)))
        body = mbs.AddObject(item.ObjectRigidBody2D(mass=m, inertia=J, nodeNumber=node))
        bodies.append(body)
        if any(problem.model.gravity):
            marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
            mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=[*problem.model.gravity, 0]))

    def marker(body: int, point: Any) -> Any:
        number = ground if body < 0 else bodies[body]
        return mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=number, localPosition=[*point, 0]))

    for i, si, j, sj in problem.pins:
        mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=[marker(i, si), marker(j, sj)]))
    if "spring" in problem.data:
        k, point, anchor = problem.data["spring"]
        ends = [marker(-1, anchor), marker(k, point)]
        laws = {"stiffness": problem.data["stiffness"], "referenceLength": problem.data["length"], "damping": 0}
        mbs.AddObject(item.ObjectConnectorSpringDamper(markerNumbers=ends, **laws))
        k, torque = problem.data["torque"]
        mbs.AddLoad(item.LoadTorqueVector(markerNumber=marker(k, (0, 0)), loadVector=[0, 0, torque]))
    mbs.Assemble()
    return container, mbs  # the first keeps the second alive


# --- MuJoCo ----------------------------------------------------------------------------------------------------------


class MuJoCo(Engine):
    """RK4 on the tree of joints; loops by `connect` equalities, which are soft: as stiff as the step allows."""

    name, module = "MuJoCo", "mujoco"

    def refuses(self, problem: Problem) -> str:
        # the inertia matrix of a chain in joint angles is full, and it is factored at every stage
        deep = problem.is_open and len(problem.q0) > 2000
        return "left out: time grows with the cube of the length of a chain" if deep else ""

    def settings(self, problem: Problem) -> list[Any]:
        return [None] if problem.is_open else [2.0, 3.0, 4.0]  # time constant of the equality, in steps

    def label(self, setting: Any) -> str:
        return f"time constant {setting:g} h" if setting else "RK4"

    def prepare(self, problem: Problem, setting: Any, steps: int) -> tuple[Run, Callable[[], Samples]]:
        import mujoco

        model = self._model(problem, setting, problem.t_end / steps)
        state = mujoco.MjData(model)
        tree = problem.tree
        state.qvel[:] = tree.rate0
        if "torque" in problem.data:
            k, torque = problem.data["torque"]
            state.qfrc_applied[tree.order.index(k)] = torque
        sampled = problem.sampled
        every = steps // SAMPLES if sampled else steps
        angle, rate = np.full((SAMPLES + 1, model.nv), np.nan), np.zeros((SAMPLES + 1, model.nv))
        angle[0], rate[0] = 0.0, state.qvel

        def run() -> None:
            for n in range(1, SAMPLES + 1) if sampled else (SAMPLES,):
                mujoco.mj_step(model, state, every)
                angle[n], rate[n] = state.qpos, state.qvel
            if abs(state.time - problem.t_end) > 1e-6 * problem.t_end:  # it resets itself when it diverges
                angle[-1] = np.nan

        return run, lambda: tree.cartesian(angle, rate)

    def _model(self, problem: Problem, setting: Any, h: float) -> Any:
        import mujoco

        spec = mujoco.MjSpec()
        spec.option.timestep = h
        spec.option.gravity = [*problem.model.gravity, 0.0]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        spec.option.tolerance = 1e-12
        tree, bodies = problem.tree, {}
        for k in tree.order:  # a frame at the pin that carries the body
            p = int(tree.parent[k])
            parent = spec.worldbody if p < 0 else bodies[p]
            at = tree.at[k] - (0 if p < 0 else tree.own[p])
            turn = problem.q0[k, 2] - (0.0 if p < 0 else problem.q0[p, 2])
            m, _, J = problem.mass[k]
            bodies[k] = parent.add_body(
                name=f"b{k}", pos=[*at, 0], quat=[math.cos(turn / 2), 0, 0, math.sin(turn / 2)],
                mass=m, ipos=[*-tree.own[k], 0], inertia=[J, J, J], explicitinertial=True,
            )  # fmt: skip
            bodies[k].add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        for i, si, j, _ in tree.loops:
            equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, name1=f"b{i}", name2=f"b{j}")
            equality.objtype = mujoco.mjtObj.mjOBJ_BODY
            equality.data[:3] = [*(np.asarray(si) - tree.own[i]), 0]
            equality.solref[:2] = [setting * h, 1.0]
            equality.solimp[:3] = [0.9999, 0.9999, 0.001]
        if "spring" in problem.data:
            k, point, anchor = problem.data["spring"]
            spec.worldbody.add_site(name="anchor", pos=[*anchor, 0])
            bodies[k].add_site(name="end", pos=[*(np.asarray(point) - tree.own[k]), 0])
            length = problem.data["length"]
            tendon = spec.add_tendon(name="spring", stiffness=problem.data["stiffness"], springlength=[length, length])
            tendon.wrap_site("anchor")
            tendon.wrap_site("end")
        return spec.compile()


# --- Pinocchio -------------------------------------------------------------------------------------------------------


class Pinocchio(Engine):
    """Classical RK4 in Python; `aba` for open chains, `constraintDynamics` with Baumgarte correction for loops.

    Settings of loops: alpha = beta of the correction, times the step.  (`lcaba` knows no correction and drifts off.)
    """

    name, module = "Pinocchio", "pinocchio"

    def refuses(self, problem: Problem) -> str:
        size = 32e-9 * len(problem.q0) ** 3  # measured: 4 n^3 numbers, whatever is computed
        return f"left out: its workspace would take {size:.0f} GB" if size > 4.0 else ""

    def settings(self, problem: Problem) -> list[Any]:
        if problem.is_open:
            return [None]
        return [0.03, 0.1, 0.3, 1.0]

    def label(self, setting: Any) -> str:
        return f"alpha {setting:g} / h" if setting else "RK4"

    def prepare(self, problem: Problem, setting: Any, steps: int) -> tuple[Run, Callable[[], Samples]]:
        import pinocchio as pin

        tree, h = problem.tree, problem.t_end / steps
        model, joints = self._model(problem)
        data = model.createData()
        tau = np.zeros(model.nv)
        twist = self._forces(problem, tau)
        if problem.is_open:
            dynamics, rest = pin.aba, ()
        else:
            loops, slack = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
            for loop in self._loops(problem, model, joints, setting / h):
                loops.append(loop)
                slack.append(loop.createData())
            pin.initConstraintDynamics(model, data, loops, slack)
            dynamics, rest = pin.constraintDynamics, (loops, slack, pin.ProximalSettings(1e-12, 1e-9, 20))

        def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
            twist(q, tau)
            return dynamics(model, data, q, v, tau, *rest).copy()

        sampled = problem.sampled
        every = steps // SAMPLES if sampled else steps
        angle, speed = np.full((SAMPLES + 1, model.nv), np.nan), np.zeros((SAMPLES + 1, model.nv))
        angle[0], speed[0] = 0.0, tree.rate0

        def run() -> None:
            q, v = np.zeros(model.nv), tree.rate0.copy()
            for n in range(1, steps + 1):
                a1 = rate(q, v)
                v2 = v + 0.5 * h * a1
                a2 = rate(q + 0.5 * h * v, v2)
                v3 = v + 0.5 * h * a2
                a3 = rate(q + 0.5 * h * v2, v3)
                v4 = v + h * a3
                a4 = rate(q + h * v3, v4)
                q = q + h / 6 * (v + 2 * (v2 + v3) + v4)
                v = v + h / 6 * (a1 + 2 * (a2 + a3) + a4)
                if n % every == 0:
                    angle[n // every if sampled else -1], speed[n // every if sampled else -1] = q, v

        return run, lambda: tree.cartesian(angle, speed)

    def _model(self, problem: Problem) -> tuple[Any, dict[int, int]]:
        import pinocchio as pin

        model = pin.Model()
        model.gravity.linear = np.array([*problem.model.gravity, 0.0])
        tree, joints = problem.tree, {-1: 0}
        for k in tree.order:
            p = int(tree.parent[k])
            at = tree.at[k] - (0 if p < 0 else tree.own[p])
            turn = problem.q0[k, 2] - (0.0 if p < 0 else problem.q0[p, 2])
            place = pin.SE3(pin.utils.rotate("z", turn), np.array([*at, 0.0]))
            joints[k] = model.addJoint(joints[p], pin.JointModelRZ(), place, f"j{k}")
            m, _, J = problem.mass[k]
            model.appendBodyToJoint(
                joints[k], pin.Inertia(m, np.array([*-tree.own[k], 0.0]), np.eye(3) * J), pin.SE3.Identity()
            )
        return model, joints

    def _loops(self, problem: Problem, model: Any, joints: dict[int, int], alpha: float) -> Iterator[Any]:
        import pinocchio as pin

        tree = problem.tree
        for i, si, j, sj in tree.loops:
            sides = [pin.SE3(np.eye(3), np.array([*(np.asarray(s) - tree.own[k]), 0.0])) for k, s in ((i, si), (j, sj))]
            loop = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model, joints[i], sides[0], joints[j], sides[1], pin.LOCAL
            )
            loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(alpha**2, 2 * alpha))
            yield loop

    def _forces(self, problem: Problem, tau: np.ndarray) -> Callable[[np.ndarray, np.ndarray], None]:
        """Adds the torque; returns what writes the spring of a body that hangs on ground into the joint torques."""
        if "spring" not in problem.data:
            return lambda q, tau: None
        tree = problem.tree
        k, torque = problem.data["torque"]
        tau[tree.order.index(k)] = torque
        k, point, anchor = problem.data["spring"]
        n, (x, y), phi = tree.order.index(k), np.asarray(point) - tree.own[k], problem.q0[k, 2]
        cx, cy = np.asarray(anchor) - tree.at[k]
        stiffness, length = problem.data["stiffness"], problem.data["length"]

        def twist(q: np.ndarray, tau: np.ndarray) -> None:
            c, s = math.cos(phi + q[n]), math.sin(phi + q[n])
            px, py = c * x - s * y, s * x + c * y
            now = math.hypot(px - cx, py - cy)
            tau[n] = stiffness * (now - length) / now * (px * cy - py * cx)

        return twist


ENGINES = (Exudyn, MuJoCo, Pinocchio)
