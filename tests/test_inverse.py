"""Inverse dynamics: closed forms, published numbers, both routes, actuators, errors, identities."""

from __future__ import annotations

import math

import numpy as np
import pytest

import planar as pl
from planar import backend
from planar.linear import kkt_solver
from tests.book import fourbar_5_2
from tests.mechanisms import TEXTBOOK, four_bar, parallelogram, random_mechanism, slider_crank

# rounding of a few operations on the largest force in the mechanism
EXACT = 1e-12


def close(a, b, tol=EXACT, size=None):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= tol * (np.abs(b).max() if size is None else size)


# --- closed forms and published numbers --------------------------------------------------------------------------------


def composed_pendulum():
    """Two driven rods; gravity along x, angles from the vertical; motions f* (1 - cos(pi t / 6))."""
    l1, l2, m1, m2 = 0.5, 0.75, 0.25, 1.0
    m = pl.Model("composed pendulum", gravity=(9.81, 0.0))
    one = m.add(pl.Body.rod("rod1", m1, l1, start="O1", end="O2", r=(l1 / 2, 0), phi=0.0))
    two = m.add(pl.Body.rod("rod2", m2, l2, start="O2", end="E", r=(l1 + l2 / 2, 0), phi=0.0))
    m.add(pl.Revolute("O1", m.ground.point(0, 0), one["O1"]))
    m.add(pl.Revolute("O2", one["O2"], two["O2"]))
    m.add(pl.AngleDriver("drive1", m.ground, one, "pi/12*(1 - cos(pi/6*t))"))
    m.add(pl.AngleDriver("drive2", one, two, "pi/6*(1 - cos(pi/6*t))"))
    return m


@pytest.mark.parametrize("route", ["two-step", "augmented"])
def test_composed_pendulum_in_closed_form(route):
    """Staicu, eqs (5.7) and (5.8) with the data and the motions (5.11) of the paper."""
    l1, l2, m1, m2, g = 0.5, 0.75, 0.25, 1.0, 9.81
    t = np.linspace(0, 6, 241)
    inv = pl.inverse_dynamics(composed_pendulum(), t, route=route)
    w = np.pi / 6
    f, fd, fdd = 1 - np.cos(w * t), w * np.sin(w * t), w * w * np.cos(w * t)
    p1, p1d, p1dd = (np.pi / 12 * x for x in (f, fd, fdd))
    p2, p2d, p2dd = (np.pi / 6 * x for x in (f, fd, fdd))
    M1 = (
        (m1 / 3 + m2) * l1**2 * p1dd
        + m2 * l2**2 * (p1dd + p2dd) / 3
        + m2 * l1 * l2 * (2 * p1dd + p2dd) * np.cos(p2) / 2
        - m2 * l1 * l2 * p2d * (2 * p1d + p2d) * np.sin(p2) / 2
        + (m1 + 2 * m2) * g * l1 * np.sin(p1) / 2
        + m2 * g * l2 * np.sin(p1 + p2) / 2
    )
    M2 = (
        m2 * l2**2 * (p1dd + p2dd) / 3
        + m2 * l1 * l2 * (p1dd * np.cos(p2) + p1d**2 * np.sin(p2)) / 2
        + m2 * g * l2 * np.sin(p1 + p2) / 2
    )
    fx = (
        -(m1 + m2) * g
        - (m1 + 2 * m2) * l1 * (p1dd * np.sin(p1) + p1d**2 * np.cos(p1)) / 2
        - m2 * l2 * ((p1dd + p2dd) * np.sin(p1 + p2) + (p1d + p2d) ** 2 * np.cos(p1 + p2)) / 2
    )
    close(inv.effort("drive1"), M1)
    close(inv.effort("drive2"), M2)
    close(inv.reaction("O1", on="rod1").force[:, 0], fx)
    inv.check()


@pytest.mark.parametrize("route", ["two-step", "augmented"])
def test_book_example_6_5(route):
    m, want = fourbar_5_2()
    inv = pl.inverse_dynamics(m, 0.0, route=route)
    close(inv.effort("motor"), [want["drive_torque"]])
    for pin, body, name in (("O", "crank", "FO_on1"), ("A", "coupler", "FA_on2"), ("B", "rocker", "FB_on3")):
        close(inv.reaction(pin, on=body).force[0], want[name])
    close(inv.reaction("Q", on="rocker").force[0], want["FQ_on3"])


# --- both routes, both backends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTBOOK)
def test_both_routes_and_all_laws(name):
    t = np.linspace(0, 0.9, 40)
    one = pl.inverse_dynamics(TEXTBOOK[name](), t)
    two = pl.inverse_dynamics(TEXTBOOK[name](), t, route="augmented")
    size = np.abs(one.lam).max() or 1.0
    close(two.lam, one.lam, 1e-10, size)
    one.check()
    two.check()


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "planetary_mesh"])
def test_compiled_and_numpy_give_the_same(name, monkeypatch):
    if not backend.has_numba():
        pytest.skip("numba is not installed")
    backend.compiled()
    t = np.linspace(0, 1, 50)
    one = pl.inverse_dynamics(TEXTBOOK[name](), t)
    monkeypatch.setattr(backend, "has_numba", lambda: False)
    two = pl.inverse_dynamics(TEXTBOOK[name](), t)
    close(two.lam, one.lam, 1e-11, np.abs(one.lam).max())


@pytest.mark.parametrize("seed", range(12))
def test_forward_of_inverse_is_the_motion(seed):
    """Take the drivers away and apply their efforts as loads: the accelerations come out again."""
    m = random_mechanism(seed, driven=True)
    inv = pl.inverse_dynamics(m, [0.0, 0.05])
    inv.check()
    free = m.copy()
    for driver in m.drivers:
        free = free.without(driver.name)
    system, driven = pl.compile(free), np.flatnonzero(inv.system.driven)
    lam = np.zeros_like(inv.lam)
    lam[:, driven] = inv.lam[:, driven]
    Q = inv.system.forces(inv.t, inv.q, inv.v) - inv.system.pattern.multiply_T(inv.Phi_q, lam)
    for k in range(2):
        e = system.constraints(inv.t[k], inv.q[k], inv.v[k])
        a, _ = kkt_solver(system.pattern, system.mass).factor(e.Phi_q).solve(Q[k], e.gamma)
        close(a, inv.a[k], 1e-9)  # random mechanisms have condition numbers up to 1e4


@pytest.mark.parametrize("seed", range(6))
def test_massless_bodies(seed):
    m = random_mechanism(seed, bodies=6, driven=True, massless=True)
    one = pl.inverse_dynamics(m, [0.0, 0.1])
    two = pl.inverse_dynamics(m, [0.0, 0.1], route="augmented")
    close(two.lam, one.lam, 1e-9, np.abs(one.lam).max())
    one.check()


def test_large_chain_with_every_pin_driven():
    n, g = 80, 9.81
    m = pl.Model("long arm", gravity=(0, -g))
    before = m.ground.point(0, 0)
    for k in range(n):
        rod = m.add(pl.Body.rod(f"r{k}", 2.0, 0.5, r=(0.25 + 0.5 * k, 0), phi=0.0))
        m.add(pl.Revolute(f"p{k}", before, rod["A"]))
        m.add(pl.AngleDriver(f"d{k}", before.body, rod, pl.Constant(0.0)))
        before = rod["B"]
    inv = pl.inverse_dynamics(m, [0.0])
    # a cantilever: the pin k carries what is beyond it
    for k in (0, 40, 79):
        beyond = n - k
        close(inv.reaction(f"p{k}", on=f"r{k}").force[0], [0.0, 2 * g * beyond], 1e-10)
        close(inv.effort(f"d{k}"), [2 * g * beyond * 0.5 * beyond / 2], 1e-10)


# --- actuators -----------------------------------------------------------------------------------------------------------


def test_effort_at_another_joint_does_the_same_work():
    m = four_bar()
    t = np.linspace(0, 1, 50)
    at_motor = pl.inverse_dynamics(m, t)
    at_D = pl.inverse_dynamics(m, t, actuate=[m["D"]])
    close(at_D.power("D"), at_motor.power("motor"), 1e-11)
    close(at_D.rates["D"], at_D["rocker"].omega)
    assert not at_D.effort("motor").any()
    at_D.check()


def test_a_dead_point_of_the_actuator_is_refused():
    """Driven at the crank but pushed at the slider: no force moves the crank out of its dead point."""
    m = slider_crank(0.1, 0.3, 0.0, angle=0.0, speed=1.0)
    with pytest.raises(pl.SingularError, match=r"'slide'.*motor.*t = 0 s.*dead point"):
        pl.inverse_dynamics(m, [0.0, 0.1], actuate=["slide"])
    inv = pl.inverse_dynamics(m, [0.1, 0.2], actuate=["slide"])
    close(inv.power("slide"), pl.inverse_dynamics(m, [0.1, 0.2]).power("motor"))


def test_force_between_two_points():
    m = four_bar()
    ends = (m.ground.point(0.3, 0.4), m["crank"]["B"])
    inv = pl.inverse_dynamics(m, np.linspace(0, 0.2, 5), actuate={"ram": ends})
    d = inv.point(ends[1]).r - np.array(ends[0].s)
    rate = (d * inv.point(ends[1]).v).sum(1) / np.hypot(*d.T)
    close(inv.rates["ram"], rate)
    close(inv.effort("ram") * rate, pl.inverse_dynamics(m, inv.t).power("motor"))
    inv.check()


def test_more_actuators_than_motions_share_by_least_effort():
    m = four_bar()
    t = np.linspace(0, 0.3, 7)
    inv = pl.inverse_dynamics(m, t, actuate=["A", "D"])
    assert any("least sum of squares" in note for note in inv.notes)
    rates = np.stack([inv.rates["A"], inv.rates["D"]], -1)
    P = pl.inverse_dynamics(m, t).power("motor")
    want = rates * (P / (rates**2).sum(1))[:, None]  # least |u| with u . rates = P
    close(np.stack([inv.effort("A"), inv.effort("D")], -1), want, 1e-11)
    inv.check()


def test_what_cannot_be_actuated_says_why():
    m = composed_pendulum()
    with pytest.raises(pl.ModelError, match=r"1 actuator \('O1'\) for 2 driven motions"):
        pl.inverse_dynamics(m, 0.0, actuate=["O1"])
    with pytest.raises(pl.ModelError, match="twice"):
        pl.inverse_dynamics(m, 0.0, actuate=["O1", "O1"])
    with pytest.raises(pl.ModelError, match="cannot be actuated"):
        pl.inverse_dynamics(m, 0.0, actuate=["O1", "rod1"])
    with pytest.raises(pl.ModelError, match="did you mean 'O1'"):
        pl.inverse_dynamics(m, 0.0, actuate=["O11", "O2"])
    with pytest.raises(pl.ModelError, match="empty"):
        pl.inverse_dynamics(m, 0.0, actuate=[])


# --- driven too little, too much ---------------------------------------------------------------------------------------


def test_under_driven_names_the_free_motion():
    with pytest.raises(pl.ModelError, match=r"(?s)free.*'crank' turns.*simulate"):
        pl.inverse_dynamics(four_bar(speed=None), 0.0)


def test_over_driven_names_the_drivers():
    m = four_bar()
    k = pl.kinematics(m, 0.0)
    m.add(
        pl.AngleDriver("second", m.ground, m["rocker"], pl.Ramp(float(k["rocker"].omega[0]), float(k["rocker"].phi[0])))
    )
    with pytest.raises(pl.PlanarError, match=r"(?s)motor.*second|second.*motor"):
        pl.inverse_dynamics(m, 0.0)


def test_contradicting_drivers_are_named():
    m = four_bar()
    m.add(pl.AngleDriver("second", m.ground, m["rocker"], pl.Ramp(1.0, 0.1)))
    with pytest.raises(pl.PlanarError, match=r"motor|second"):
        pl.inverse_dynamics(m, np.linspace(0, 1, 5))


def test_unknown_route():
    with pytest.raises(pl.ModelError, match="two-step"):
        pl.inverse_dynamics(four_bar(), 0.0, route="magic")


def test_a_limit_position_keeps_what_was_computed():
    m = four_bar((0.3, 0.2, 0.25, 0.4), angle=0.2, speed=1.0)
    with pytest.warns(pl.PlanarWarning):
        inv = pl.inverse_dynamics(m, np.linspace(0, 2, 50))
    assert not inv.success and len(inv) == 29 and inv.lam.shape == (29, 9)


def test_reactions_near_a_change_point_come_with_a_warning():
    m = four_bar((0.2, 0.4, 0.2, 0.4), angle=1.0, speed=1.0)
    with pytest.warns(pl.PlanarWarning, match="not to be trusted"):
        inv = pl.inverse_dynamics(m, np.linspace(0, 3, 100))
    assert inv.events[0].kind == "singular" and inv.events[0].joint


# --- energy --------------------------------------------------------------------------------------------------------------


def test_work_and_energy_balance():
    """One turn of the motor: total energy returns, the work of the motor is what the damper takes."""
    m = four_bar(speed=2 * math.pi)
    m.add(pl.Spring("s", m.ground.point(0.1, 0.4), m["coupler"]["C"], stiffness=200.0, length=0.2, damping=5.0))
    t = np.linspace(0, 1, 401)
    inv = pl.inverse_dynamics(m, t)
    e = inv.energy
    assert abs(e.total[-1] - e.total[0]) < 1e-10 * e.total.max()
    # periodic trapezoid: exact to round-off for smooth motions
    motor = np.mean(inv.power("motor")[:-1])
    C = inv.point(m["coupler"]["C"])
    d = C.r - [0.1, 0.4]
    rate = (d * C.v).sum(1) / np.hypot(*d.T)
    assert abs(motor - np.mean(5.0 * rate[:-1] ** 2)) < 1e-10 * motor
    # the spline of 400 intervals has order 4
    assert np.abs(e.drift).max() < 1e-5 * np.abs(e.work).max() + 1e-6
    inv.check()


# --- symmetry and scaling ------------------------------------------------------------------------------------------------


def test_reactions_turn_with_the_world():
    angle = 0.7
    c, s = math.cos(angle), math.sin(angle)
    A = np.array([[c, -s], [s, c]])
    t = np.linspace(0, 0.5, 5)
    plain = pl.inverse_dynamics(four_bar(), t)
    m = four_bar(gravity=tuple(A @ [0.0, -9.81]))
    for body in m.bodies:
        body.r, body.phi = tuple(A @ body.r), body.phi + angle
    m["D"].point_i = m.ground.point(*(A @ m["D"].point_i.s))
    m["motor"].motion = m["motor"].motion + angle
    turned = pl.inverse_dynamics(m, t)
    close(turned.effort("motor"), plain.effort("motor"), 1e-11)
    for pin, body in (("A", "crank"), ("B", "coupler"), ("C", "coupler"), ("D", "rocker")):
        R, R0 = turned.reaction(pin, on=body), plain.reaction(pin, on=body)
        close(R.force, R0.force @ A.T, 1e-11)
        close(R.point, R0.point @ A.T, 1e-11, 1.0)


@pytest.mark.parametrize("mass, length, time", [(3.0, 1.0, 1.0), (1.0, 0.01, 1.0), (1.0, 1.0, 1e-3), (2e3, 1e-3, 0.05)])
def test_dimensional_analysis(mass, length, time):
    """Forces scale as mass length / time^2, torques as mass length^2 / time^2; redundant shares as well."""

    def build(k, L, T):
        m = pl.Model("p", gravity=(0, -9.81 * L / T**2))
        m.add(pl.Body("platform", 3.0 * k, 0.1 * k * L**2, r=(0.5 * L, 0.2 * L), phi=0.0))
        for n in range(3):
            rod = m.add(pl.Body.rod(f"c{n}", 0.5 * k, 0.2 * L, r=(0.4 * n * L, 0.1 * L), phi=math.pi / 2))
            m.add(pl.Revolute(f"A{n}", m.ground.point(0.4 * n * L, 0), rod["A"]))
            m.add(pl.Revolute(f"B{n}", rod["B"], m["platform"].point((0.4 * n - 0.5) * L, 0)))
        m.add(pl.AngleDriver("motor", m.ground, m["c0"], pl.Ramp(2.0 / T, math.pi / 2)))
        return pl.inverse_dynamics(m, np.linspace(0, 0.4, 5) * T)

    plain, scaled = build(1.0, 1.0, 1.0), build(mass, length, time)
    unit = mass * length / time**2
    for n in range(3):
        close(scaled.reaction(f"B{n}", on="platform").force, plain.reaction(f"B{n}", on="platform").force * unit, 1e-10)
    close(scaled.effort("motor"), plain.effort("motor") * unit * length, 1e-10)


def test_inputs_are_not_changed():
    m = parallelogram(3, speed=2.0)
    before = [(b.r, b.phi, b.mass) for b in m.bodies]
    t = np.linspace(0, 0.3, 4)
    keep = t.copy()
    pl.inverse_dynamics(m, t)
    assert before == [(b.r, b.phi, b.mass) for b in m.bodies] and (t == keep).all()


def test_results_do_not_change_with_the_model():
    m = four_bar()
    inv = pl.inverse_dynamics(m, [0.0, 0.1])
    before = inv.reaction("B", on="coupler"), inv.energy.total.copy()
    m["B"].point_i = m["crank"].point(0.5, 0.0)
    m["coupler"].mass = 100.0
    m.add(pl.Torque("late", m["crank"], 5.0))
    after = inv.reaction(m["B"], on=m["coupler"])
    assert (after.point == before[0].point).all() and (after.couple == before[0].couple).all()
    assert (inv.energy.total == before[1]).all()
    inv.check()
