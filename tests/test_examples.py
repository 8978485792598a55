"""Every example runs, saves its picture, and the numbers that it prints are right."""

from __future__ import annotations

import importlib
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import planar as pl
from planar.verify import GeneralizedSystem, Tree, generalized
from planar.verify.snapshot import snapshot
from tests.test_verify_chain import lagrangian

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


@cache
def example(name: str) -> Any:
    return importlib.import_module(f"examples.{name}")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """run(name): what main() of an example returns, once; `.printed` and `.out` are what it left behind."""
    folder, done = tmp_path_factory.mktemp("examples"), {}

    def main(name: str) -> SimpleNamespace:
        if name not in done:
            text = StringIO()
            with pytest.MonkeyPatch.context() as patch, redirect_stdout(text):
                patch.chdir(folder)
                done[name] = SimpleNamespace(result=example(name).main(), out=folder / "out")
            done[name].printed = text.getvalue()
        return done[name]

    return main


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_a_test_a_picture_and_a_place_in_the_gallery(run, name):
    assert any(f == f"test_{name}" or f.startswith(f"test_{name}_") for f in globals())
    one = run(name)
    assert one.printed.strip().splitlines()[-1].startswith("written: ")
    picture = one.out / f"{name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    copy = ROOT / "docs" / "img" / f"{name}.png"
    assert copy.stat().st_size < 120_000
    gallery = (ROOT / "docs" / "gallery.md").read_text()
    assert f"(img/{name}.png)" in gallery and f"(../examples/{name}.py)" in gallery


# --- textbook and paper systems --------------------------------------------------------------------------------------


def test_fourbar(run):
    """The torque does the work that lifts and speeds up the links; other formulations say the same."""
    inv = run("fourbar").result
    torque, E = inv.effort("motor"), inv.energy
    work = np.cumsum(np.append(0, (torque[1:] + torque[:-1]) / 2)) * np.diff(inv.t)[0] * 2 * np.pi
    np.testing.assert_allclose(E.total - E.total[0], work, atol=1e-3 * np.ptp(E.total))  # trapezoidal rule, 1 deg
    assert pl.verify(inv).worst < 1e-12
    assert "motor torque: from -2.504 to 2.710 N m" in run("fourbar").printed


def test_composed_pendulum(run):
    one = run("composed_pendulum").result
    assert set(one.routes) == {"closed forms", "virtual work", "Lagrange"} == set(one.largest)
    assert max(one.largest.values()) < 1e-12
    # at the end both rods are at rest, 30 deg and 90 deg from the vertical, and accelerate backwards by phi* w^2
    l1, l2, m1, m2, w = 0.5, 0.75, 0.25, 1.0, np.pi / 6
    a, b = -np.pi / 12 * w**2, -np.pi / 4 * w**2
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    ends = {
        "m21": m2 * l2**2 / 3 * b + m2 * l1 * l2 / 2 * a * 0.5 + m2 * 9.81 * l2 / 2,
        "f10y": (m1 / 2 + m2) * l1 * a * c,
        "f21x": -m2 * 9.81 - m2 * (l1 * a * s + l2 / 2 * b),
    }
    for name, value in ends.items():
        assert one.found[name][-1] == pytest.approx(value, rel=1e-12)
    assert one.found["f21x"][0] == pytest.approx(-9.81, rel=1e-12)  # hangs straight and starts at rest


def test_compass_arm(run):
    one = run("compass_arm").result
    arm, system = example("compass_arm"), lagrangian(one.chain)
    torques = [name for name, kind, _, axis, *_ in arm.QUANTITIES if (kind, axis) == ("M", 2)]
    assert torques == ["m10", "m21", "m32", "m43", "m54", "m65"] and len(arm.QUANTITIES) == 12
    for k in range(0, 151, 25):
        q, qd, qdd = arm.motion(one.t[k])
        expected = system.M(q) @ qdd + system.coriolis(q, qd) + system.gravity(q)
        found = [one.found[name][k] for name in torques]
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    assert one.work == pytest.approx(one.gained, rel=1e-8)  # Simpson's rule over 150 steps


def test_compass_arm_joint_forces_by_newton(run):
    """f10x, f21y, f32z, f65z: what accelerates and carries all that follows the joint, from motions of the centres."""
    one, arm = run("compass_arm").result, example("compass_arm")
    h = 1e-3
    for k in (30, 75, 120):
        t, now = one.t[k], one.chain.motion(*arm.motion(one.t[k]))

        def centres(s):
            motions = one.chain.motion(*arm.motion(s))
            return np.array([m.r0 + m.a0.T @ link.centre for m, link in zip(motions, one.chain.links, strict=True)])

        a = (centres(t + h) - 2 * centres(t) + centres(t - h)) / h**2
        masses = np.array([link.mass for link in one.chain.links])
        for name, kind, link, axis, *_ in arm.QUANTITIES:
            if kind == "F":
                force = (masses[link:, None] * (a[link:] + [0, 0, 9.81])).sum(axis=0)
                assert (now[link].a0 @ force)[axis] == pytest.approx(
                    one.found[name][k], abs=1e-3
                )  # difference quotient


def test_platform_3rrr(run):
    one = run("platform_3rrr").result
    assert one.sizes == (21, 18, 20)
    assert one.apart.max() < 1e-8
    assert np.ptp(one.run["platform"].r, axis=0).min() > 0.05  # it moves in both directions
    assert one.verdict.ok and one.verdict.worst < 1e-9, str(one.verdict)
    kinetic = np.ptp(one.run.energy.kinetic)
    assert one.drift < 1e-8 * kinetic  # tolerance 1e-10 per step, some hundred steps
    # start from rest: by virtual work of 10 N and the weights along the free motions, in minimal coordinates
    start = generalized.solve(one.run.model, 0.0, one.run.q[0], one.run.v[0]).acceleration.ravel()
    np.testing.assert_allclose(one.run.a[0], start, atol=1e-11 * np.abs(start).max())


def test_serial_robot(run):
    one, robot = run("serial_robot").result, example("serial_robot")
    assert one.apart.max() < 1e-8  # tolerances of 1e-11, errors grow about tenfold in a second
    assert one.drift < 1e-8 * np.ptp(one.run.energy.kinetic)
    assert one.verdict.ok
    np.testing.assert_allclose(one.angles[0], np.full(4, -np.pi / 24), atol=1e-14)
    e = list(one.errors.values())
    assert e[0] / e[1] == pytest.approx(2.0, rel=0.05) and e[1] / e[2] == pytest.approx(2.0, rel=0.05)  # first order
    # M, b, g by hand against the tree of the model
    m, hand = one.run.model, robot.by_hand()
    tree = Tree(m, snapshot(m, 0.0, one.run.q[40], one.run.v[40]))
    q, qd = tree.coordinates(snapshot(m, 0.0, one.run.q[40], one.run.v[40]))
    system = tree.system()
    np.testing.assert_allclose(q, one.angles[40], atol=1e-12)
    np.testing.assert_allclose(hand.M(q), system.M(q), atol=1e-13)
    np.testing.assert_allclose(hand.coriolis(q, qd), system.coriolis(q, qd), atol=1e-12)
    np.testing.assert_allclose(hand.gravity(q), system.gravity(q), atol=1e-12)


def test_elbow_platform(run):
    one, elbow = run("elbow_platform").result, example("elbow_platform")
    np.testing.assert_allclose(np.hypot(*elbow.ATTACHED.T), 1.084, atol=5e-4)  # three digits, as the text has them
    assert elbow.START[7] == pytest.approx(2.165, abs=5e-4)
    assert all(b.inertia == 0 and b.mass == 1 for b in one.run.model.bodies if b.name != "platform")
    assert one.run.options.method == "projection" and one.stabilised.options.method == "baumgarte"
    assert max(one.apart.values()) < 1e-6  # tolerances of 1e-9; the motion passes near singular positions
    assert one.opened["projection"] < 1e-13 and one.opened["baumgarte"] < 1e-8
    assert one.drift < 1e-8 * np.ptp(one.run.energy.kinetic)
    assert one.verdict.ok, str(one.verdict)
    # the six multipliers carry the platform: M_p a = weight - sum of the forces on the chains
    total = one.forces.reshape(-1, 3, 2).sum(axis=1)
    np.testing.assert_allclose(one.run["platform"].a, [0, -9.81] - total, atol=1e-9 * np.abs(total).max())


def test_elbow_platform_start_is_the_printed_one(run):
    """Multipliers at the start by the text's formulas, solved here once more as one linear system (5.98)."""
    one, elbow = run("elbow_platform").result, example("elbow_platform")
    system, q = elbow.by_hand(), elbow.START
    assert np.abs(system.constraint(q)).max() < 1e-14
    Phi = system.jacobian(q)
    KKT = np.block([[system.M(q), -Phi.T], [-Phi, np.zeros((6, 6))]])
    found = np.linalg.solve(KKT, np.concatenate([-system.gravity(q), np.zeros(6)]))
    np.testing.assert_allclose(one.forces[0], found[9:], atol=1e-11)
    np.testing.assert_allclose(
        np.append(one.run["platform"].a[0], one.run["platform"].alpha[0]), found[6:9], atol=1e-11
    )


def test_constraint_tour(run):
    one = run("constraint_tour").result
    assert set(one.runs) == {"four-bar", "rod", "slot", "gears", "planet"}
    used = {type(c).__name__ for inv in one.runs.values() for c in inv.model.constraints}
    assert used == {"Revolute", "Distance", "PinInSlot", "Gear", "AngleDriver"}
    force = max(one.runs["slot"].reaction("A").magnitude)  # the largest of all
    assert max(one.differences.values()) < 1e-12 * force
    assert max(one.checks.values()) < 1e-12 * force and len(one.checks) == 4
    assert one.held < 1e-12 * force and np.ptp(one.holding) > 4.0
    for name, verdict in one.verdicts.items():
        assert verdict.ok, f"{name}\n{verdict}"
    assert all(inv.check() for inv in (*one.runs.values(), one.rest))


def test_constraint_tour_slot_has_no_couple_at_the_pin(run):
    slot = run("constraint_tour").result.runs["slot"]
    assert np.abs(slot.reaction("slot", on="arm").couple).max() < 1e-12
    d = np.hypot(*slot.point(slot.model["crank"]["B"]).r.T)
    pivot = slot.reaction("slot", on="arm", at=slot.model["arm"]["O"])
    np.testing.assert_allclose(np.abs(pivot.couple), d * pivot.magnitude, rtol=1e-9, atol=1e-9)


def test_exercises(run):
    found = run("exercises").result
    assert [dof for _, dof, _ in found] == [2, 1, 1, 1]
    assert [len(e.by_hand.constraint(e.q)) for e, *_ in found] == [0, 1, 2, 2]
    for e, _, differences in found:
        assert set(differences) == {"M", "b", "g", "phi", "Phi", "qdd", "H"}
        for name, difference in differences.items():
            assert difference < (1e-12 if name == "qdd" else 1e-13), f"{e.title}: {name}"
        assert all(b.inertia == 0 for b in e.closed.bodies) == (not e.title.startswith("1"))
        assert np.abs(e.by_hand.jacobian(e.q) @ e.qd).max(initial=0.0) < 1e-14  # the state moves along the closures
        # b follows from M alone (5.217)
        np.testing.assert_allclose(
            GeneralizedSystem(e.by_hand.M).coriolis(e.q, e.qd), e.by_hand.coriolis(e.q, e.qd), atol=1e-13
        )


def test_gyroscope(run):
    one = run("gyroscope").result
    for motion in (one.printed, one.fast):
        assert np.ptp(motion.energy) < 1e-8  # J; the integrator keeps 1e-11 per step
        assert np.ptp(motion.momentum[:, [0, 2]], axis=0).max() < 1e-8
        assert motion.precession_off < 1e-9
    assert one.printed.energy[0] == pytest.approx(9.81 * (1.5 + 5 + 1) + 0.25 * (np.pi / 4) ** 2, rel=1e-14)  # (5.255)
    # heights decide: the frame turns back where it is as high as at the start, at q2 = -pi/6 and pi + pi/6
    assert one.printed.q[:, 1].max() == pytest.approx(np.pi + np.pi / 6, abs=1e-4)  # nearest sample
    assert one.printed.q[:, 1].min() == pytest.approx(-np.pi / 6, abs=1e-9)


def test_gyroscope_swings_as_its_first_integrals_say(run):
    """Time and precession of one swing by quadrature: q2' from the energy, q1' from the momenta."""
    one, gyro = run("gyroscope").result, example("gyroscope")
    start = np.array([*gyro.START[:2], 0.0])
    p1, _, p3 = one.system.momentum(start, [0, 0, gyro.SPIN])
    E = one.printed.energy[0]
    M22 = one.system.M(start)[1, 1]

    def rates(q2):
        """(q2'^2, q1') from E = M22 q2'^2 / 2 + (p1, p3) M^-1 (p1, p3) / 2 + V."""
        q = np.array([0.0, q2, 0.0])
        M = one.system.M(q)[np.ix_([0, 2], [0, 2])]
        turning = np.linalg.solve(M, [p1, p3])
        rest = E - one.system.energy(q, np.zeros(3)) - turning @ [p1, p3] / 2
        return 2 * rest / M22, turning[0]

    low, high = -np.pi / 6, np.pi + np.pi / 6

    def along(u, what):  # q2 = middle - half cos u takes the singularity away at both ends
        q2 = (low + high) / 2 - (high - low) / 2 * np.cos(u)
        squared, precession = rates(q2)
        return (high - low) / 2 * np.sin(u) / np.sqrt(squared) * (1.0 if what == "time" else precession)

    time, turned = (quad(along, 1e-7, np.pi - 1e-7, args=(w,), limit=200)[0] for w in ("time", "turned"))
    assert one.swing[0] == pytest.approx(time, abs=0.02)  # one sample
    assert one.swing[1] == pytest.approx(turned, abs=1e-4)


def test_strut_platform(run):
    one = run("strut_platform").result
    assert one.closed < 1e-14 and len(one.states[0][0]) == 24 and len(one.closures[0]) == 18
    largest = max(np.abs(qdd).max() for *_, qdd in one.states)
    assert one.returned < 1e-12 * largest and one.eliminated < 1e-12 * largest
    assert one.balance < 1e-9 * np.abs(one.power).max()
    assert abs(one.net) < 1e-12 * one.swing


def test_strut_platform_forces_at_rest(run):
    """In the middle pose all struts push alike, and raising the platform lifts what they carry: F ds = dV / 6."""
    one, platform = run("strut_platform").result, example("strut_platform")

    def rest(height):
        q = np.zeros(24)
        q[20] = height
        for k in range(6):
            d = np.array([0, 0, height]) + platform.TOP[k] - platform.BASE[k]
            s = np.linalg.norm(d)
            q[3 * k : 3 * k + 3] = np.arctan2(-d[1], d[2]), np.arcsin(d[0] / s), s
        return q

    q, h = rest(1.3), 1e-4
    forces, _ = platform.inverse_dynamics(one.system, q, np.zeros(24), np.zeros(24))
    lifted = one.system.energy(rest(1.3 + h), np.zeros(24)) - one.system.energy(rest(1.3 - h), np.zeros(24))
    longer = rest(1.3 + h)[2] - rest(1.3 - h)[2]
    np.testing.assert_allclose(forces, lifted / longer / 6, rtol=1e-7)  # central difference
