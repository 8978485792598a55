"""The three formulations of planar.verify: closed forms, and agreement with each other."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import planar as pl
from planar.verify import generalized, points, virtual_work
from planar.verify.closure import DRIVERS, JOINTS
from planar.verify.loads import KNOWN
from tests.mechanisms import four_bar, planetary, quick_return, random_mechanism, rod_between, slider_crank

FORMULATIONS = [points, virtual_work, generalized]
G = 9.81


@pytest.fixture(params=FORMULATIONS, ids=lambda f: f.NAME)
def formulation(request):
    return request.param


# --- closed forms ----------------------------------------------------------------------------------------------------


def pendulum_state(lengths, angles, rates):
    """Poses and velocities of rods in a chain from the origin, angles from the x axis."""
    poses, velocities, r, v = [], [], np.zeros(2), np.zeros(2)
    for l, phi, w in zip(lengths, angles, rates, strict=True):
        e, n = np.array([math.cos(phi), math.sin(phi)]), np.array([-math.sin(phi), math.cos(phi)])
        poses.append((*(r + l / 2 * e), phi))
        velocities.append((*(v + l / 2 * w * n), w))
        r, v = r + l * e, v + l * w * n
    return poses, velocities


def pendulum(lengths, masses):
    """Rods on pins O1, O2, ... with x pointing down, as in Stroe and Staicu, Fig. 2."""
    m = pl.Model("pendulum", gravity=(G, 0.0))
    before = m.ground.point(0, 0)
    for k, (l, mass) in enumerate(zip(lengths, masses, strict=True), 1):
        rod = m.add(pl.Body.rod(f"rod{k}", mass, l))
        m.add(pl.Revolute(f"O{k}", before, rod["A"]))
        before = rod["B"]
    return m


def test_single_pendulum(formulation):
    m, l, mass, phi, w = pendulum([0.8], [1.3]), 0.8, 1.3, 0.7, 2.1
    answer = formulation.solve(m, 0.0, *pendulum_state([l], [phi], [w]))
    alpha = -1.5 * G / l * math.sin(phi)
    assert answer.acceleration[0, 2] == pytest.approx(alpha, rel=1e-13)
    e, n = np.array([math.cos(phi), math.sin(phi)]), np.array([-math.sin(phi), math.cos(phi)])
    pin = mass * (l / 2 * (alpha * n - w**2 * e) - [G, 0.0])
    np.testing.assert_allclose(answer.force["O1"], pin, rtol=1e-13)


def test_double_pendulum(formulation):
    (l1, l2), (m1, m2), (a, b), (wa, wb) = (0.5, 0.75), (0.25, 1.0), (0.4, -0.9), (1.7, -2.3)
    answer = formulation.solve(pendulum([l1, l2], [m1, m2]), 0.0, *pendulum_state([l1, l2], [a, b], [wa, wb]))
    coupling, d = m2 * l1 * l2 / 2, a - b
    M = [[(m1 / 3 + m2) * l1**2, coupling * math.cos(d)], [coupling * math.cos(d), m2 * l2**2 / 3]]
    rhs = [
        -coupling * math.sin(d) * wb**2 - (m1 / 2 + m2) * G * l1 * math.sin(a),
        coupling * math.sin(d) * wa**2 - m2 / 2 * G * l2 * math.sin(b),
    ]
    np.testing.assert_allclose(answer.acceleration[:, 2], np.linalg.solve(M, rhs), rtol=1e-12)


def test_composed_pendulum_closed_forms(formulation):
    """Torques (5.7) and vertical joint force (5.8) of Stroe and Staicu with their numbers and motions (5.11)."""
    l1, l2, m1, m2 = 0.5, 0.75, 0.25, 1.0
    m = pendulum([l1, l2], [m1, m2])
    m.add(pl.AngleDriver("M1", m.ground, m["rod1"], "pi/12*(1 - cos(pi/6*t))"))
    m.add(pl.AngleDriver("M2", m["rod1"], m["rod2"], "pi/6*(1 - cos(pi/6*t))"))
    for t in np.linspace(0, 6, 13):
        w = math.pi / 6
        motion = np.array([1 - math.cos(w * t), w * math.sin(w * t), w * w * math.cos(w * t)])
        (f, f1, f2), (g, g1, g2) = math.pi / 12 * motion, math.pi / 6 * motion
        M1 = (
            (m1 / 3 + m2) * l1**2 * f2
            + m2 * l2**2 / 3 * (f2 + g2)
            + m2 * l1 * l2 / 2 * ((2 * f2 + g2) * math.cos(g) - g1 * (2 * f1 + g1) * math.sin(g))
            + (m1 + 2 * m2) * G * l1 / 2 * math.sin(f)
            + m2 * G * l2 / 2 * math.sin(f + g)
        )
        M2 = (
            m2 * l2**2 / 3 * (f2 + g2)
            + m2 * l1 * l2 / 2 * (f2 * math.cos(g) + f1**2 * math.sin(g))
            + m2 * G * l2 / 2 * math.sin(f + g)
        )
        f10x = (
            -(m1 + m2) * G
            - (m1 + 2 * m2) * l1 / 2 * (f2 * math.sin(f) + f1**2 * math.cos(f))
            - m2 * l2 / 2 * ((f2 + g2) * math.sin(f + g) + (f1 + g1) ** 2 * math.cos(f + g))
        )
        answer = formulation.solve(m, t, *pendulum_state([l1, l2], [f, f + g], [f1, f1 + g1]))
        scale = m2 * G * l2  # torques of this size make M1 and M2, which pass through zero
        assert answer.effort["M1"] == pytest.approx(M1, rel=1e-12, abs=1e-12 * scale)
        assert answer.effort["M2"] == pytest.approx(M2, rel=1e-12, abs=1e-12 * scale)
        assert answer.force["O1"][0] == pytest.approx(f10x, rel=1e-12)


def test_slider_on_an_incline_with_spring_and_damper(formulation):
    """A block of 2 kg on a line of 30 degrees: m s'' = -m g sin(30) - k (s - s0) - c s', normal force m g cos(30)."""
    m, slope = pl.Model("incline", gravity=(0, -G)), math.radians(30)
    u = np.array([math.cos(slope), math.sin(slope)])
    block = m.add(pl.Body("block", 2.0, 0.1))
    m.add(pl.Translational("slide", m.ground.axis((0, 0), u), block.axis((0, 0), (1, 0))))
    m.add(pl.Spring("spring", m.ground.point(0, 0), block.point(0, 0), stiffness=50.0, length=0.3, damping=4.0))
    answer = formulation.solve(m, 0.0, [(*(0.5 * u), slope)], [(*(0.7 * u), 0.0)])
    s2 = (-2 * G * math.sin(slope) - 50 * 0.2 - 4 * 0.7) / 2
    np.testing.assert_allclose(answer.acceleration, [(*(s2 * u), 0.0)], atol=1e-13)
    np.testing.assert_allclose(answer.force["slide"], 2 * G * math.cos(slope) * np.array([-u[1], u[0]]), rtol=1e-13)
    assert answer.couple["slide"] == pytest.approx(0.0, abs=1e-12)


# --- agreement with each other ---------------------------------------------------------------------------------------


def three_rrr(actuated: bool = False) -> pl.Model:
    """Planar 3-RRR platform: bases and platform are equilateral triangles, every leg has two rods."""
    m = pl.Model("3-RRR", gravity=(0.0, -G))
    plate = m.add(pl.Body("platform", 2.0, 0.05, r=(0.5, 0.3), phi=0.1))
    for k, angle in enumerate(np.radians([-150.0, -30.0, 90.0]), 1):
        base = np.array([0.5, 0.3]) + 0.7 * np.array([math.cos(angle), math.sin(angle)])
        s = 0.15 * np.array([math.cos(angle), math.sin(angle)])
        c, n = math.cos(0.1), math.sin(0.1)
        tip = np.array([0.5 + c * s[0] - n * s[1], 0.3 + n * s[0] + c * s[1]])
        d = tip - base
        elbow = base + d / 2 + 0.25 * np.array([-d[1], d[0]])
        m.add(rod_between(f"crank{k}", base, elbow, mass=0.8))
        m.add(rod_between(f"rod{k}", elbow, tip, mass=0.6))
        m.add(pl.Revolute(f"A{k}", m.ground.point(*base), m[f"crank{k}"]["A"]))
        m.add(pl.Revolute(f"B{k}", m[f"crank{k}"]["B"], m[f"rod{k}"]["A"]))
        m.add(pl.Revolute(f"C{k}", m[f"rod{k}"]["B"], plate.point(*s)))
        if actuated:
            drive = pl.Harmonic(0.05, 3.0, phase=0.3 * k)
            m.add(pl.AngleDriver(f"motor{k}", m.ground, m[f"crank{k}"], drive, from_drawn=True))
    m.add(pl.PointForce("push", plate.point(0, 0), (10.0, 0.0)))
    return m


def every_driver() -> pl.Model:
    """One body for each driver that is not an angle of a crank, and a force of every kind."""
    m = pl.Model("drivers", gravity=(1.0, -G))
    one = m.add(pl.Body("one", 1.0, 0.2, r=(0.0, 0.0), phi=0.3))
    two = m.add(pl.Body("two", 2.0, 0.3, r=(1.0, 0.5), phi=-0.4))
    m.add(pl.PointDriver("path", one.point(0.2, 0.1), x="0.2 + 0.1*sin(2*t)", y="0.1*cos(t)"))
    m.add(pl.CoordinateDriver("tilt", one, "phi", "0.3 + 0.5*t**2"))
    m.add(pl.SlideDriver("along", one.axis((0, 0), (1, 1)), two.point(0.1, 0.0), "0.9 + 0.3*t"))
    m.add(pl.LengthDriver("ram", m.ground.point(2, 0), two.point(0, 0.2), "1.15 + 0.1*sin(3*t)"))
    m.add(pl.AngleDriver("turn", one, two, "-0.7 + 0.2*sin(2*t)"))
    m.add(pl.PointForce("jet", two.point(0.1, 0.1), ("2*t", 1.0), frame="body"))
    m.add(pl.Torque("motor", one, lambda t, state: 3.0 - state[one].omega))
    m.add(pl.TorsionSpring("hinge", one, two, stiffness=2.0, damping=0.3, torque="sin(t)"))
    m.add(pl.Spring("spring", one.point(0.1, 0), two.point(0, 0.1), stiffness=30.0, damping=1.0))
    m.add(pl.UserForce("wind", [one, two], lambda t, state: [-0.5 * np.append(state[b].v, 0.0) for b in (one, two)]))
    return m


MODELS = {
    "four-bar": four_bar,
    "free four-bar": lambda: four_bar(speed=None),
    "slider-crank": slider_crank,
    "free slider-crank": lambda: slider_crank(speed=None),
    "quick-return": quick_return,
    "planetary": lambda: planetary(gravity=(0.0, -G)),
    "3-RRR": three_rrr,
    "driven 3-RRR": lambda: three_rrr(actuated=True),
    "drivers": every_driver,
    **{f"random {k}": lambda k=k: random_mechanism(k, 5) for k in range(4)},
    **{f"driven {k}": lambda k=k: random_mechanism(k, 6, driven=True) for k in range(4)},
    **{f"massless {k}": lambda k=k: random_mechanism(k, 6, massless=True) for k in range(4)},
}


def moving(m: pl.Model, t: float):
    """A consistent state with velocities: what was drawn, plus a push along the free motions."""
    for k, body in enumerate(m.bodies):
        body.v, body.omega = (0.3, -0.2 * k), 1.0 + 0.5 * k
    start = m.assemble(t)
    return start.q, start.v


def spread(answers, pick) -> float:
    """Largest difference between answers over their largest size; one length, 1 m, turns moments into forces."""
    values = [np.concatenate([np.ravel(x) for x in pick(a)]) for a in answers]
    return float(np.ptp(values, axis=0).max() / max(1.0, np.abs(values).max()))


@pytest.mark.parametrize("name", MODELS)
def test_formulations_agree(name):
    m = MODELS[name]()
    q, v = moving(m, 0.1)
    answers = [f.solve(m, 0.1, q, v) for f in FORMULATIONS]
    assert spread(answers, lambda a: [a.acceleration]) < 1e-11
    assert spread(answers, lambda a: [a.force[j.name] for j in m.joints] or [0.0]) < 1e-11
    assert spread(answers, lambda a: [_about_origin(a, j.name) for j in m.joints] or [0.0]) < 1e-11
    assert spread(answers, lambda a: [a.effort[d.name] for d in m.drivers] or [0.0]) < 1e-11


def _about_origin(answer, name: str) -> float:
    (x, y), (fx, fy) = answer.point[name], answer.force[name]
    return answer.couple[name] + x * fy - y * fx


def test_models_cover_what_is_written_down():
    used = {type(item) for build in MODELS.values() for item in build()}
    assert used >= {*JOINTS, *DRIVERS, *KNOWN}


def test_sizes_of_the_platform():
    """Attia, section 4: 16 accelerations and 4 reactions, 20 unknowns against 21 + 18 of centroidal coordinates."""
    m = three_rrr()
    q, v = moving(m, 0.0)
    assert points.solve(m, 0.0, q, v).unknowns == 20
    assert generalized.solve(m, 0.0, q, v).unknowns == 7 + 4
    system = pl.compile(m)
    assert system.nq + system.nc == 39


def test_state_may_be_given_by_name(formulation):
    m = pendulum([0.8], [1.3])
    poses, velocities = pendulum_state([0.8], [0.7], [2.1])
    by_name = formulation.solve(m, 0.0, {"rod1": poses[0]}, {"rod1": velocities[0]})
    np.testing.assert_array_equal(by_name.acceleration, formulation.solve(m, 0.0, poses, velocities).acceleration)
    with pytest.raises(pl.ModelError, match="'rod1' is missing"):
        formulation.solve(m, 0.0, {"rod2": poses[0]}, velocities)
    with pytest.raises(pl.ModelError, match="velocities: got 2 numbers; give 3"):
        formulation.solve(m, 0.0, poses, [1.0, 2.0])


def test_redundant_constraints_leave_accelerations_unique():
    from tests.mechanisms import parallelogram

    three, two = parallelogram(3), parallelogram(2)
    for model in (three, two):
        model.gravity = (0.0, -G)
    q, v = moving(three, 0.0)
    answers = [f.solve(three, 0.0, q, v) for f in FORMULATIONS]
    assert spread(answers, lambda a: [a.acceleration]) < 1e-11


def test_expresses_names_what_it_cannot(formulation):
    m = planetary(mesh=True)
    assert "GearMesh 'sun-planet'" in formulation.expresses(m)
    assert formulation.expresses(four_bar()) is None

    class Magnet(pl.Torque):
        pass

    m = four_bar()
    m.add(Magnet("magnet", m["crank"], 1.0))
    assert "Magnet 'magnet'" in formulation.expresses(m)


SHARED = {"bodies", "drivers", "elements", "errors", "forces", "joints", "model", "motions"}


def test_formulations_use_nothing_of_the_main_path_but_the_model():
    harness = {"__init__", "comparison", "motion"}
    for file in Path(pl.__file__).with_name("verify").glob("*.py"):
        if file.stem in harness:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            for name in (n.split(".") for n in names if n.split(".")[0] == "planar"):
                assert name[1] in SHARED or (name[1] == "verify" and name[2] not in harness), f"{file.name}: {name}"
