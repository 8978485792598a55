"""Equilibrium: published and closed-form rest poses, stability, far starts, and what is said where there is none."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from mechanisms import (
    GRAVITY,
    TEXTBOOK,
    chain,
    four_bar,
    parallelogram,
    random_mechanism,
    rod_between,
    slider_crank,
)
from scipy.optimize import brentq, minimize

import planar as pl
from planar.assembly import row_scale
from planar.descent import Landscape
from planar.mobility import metric
from planar.projection import Projector
from planar.tangents import held

G = 9.81
DATA = Path(__file__).parent / "data"
BALANCED = 1e-9  # promised part of the loads that may be out of balance; rounding leaves 1e-15


def diagonal_spring_four_bar(angle: float, damping: float = 1.0) -> pl.Model:
    """IFToMM benchmark: four unit links, a spring from the crank's pivot to the coupler's end (tests/data)."""
    m = pl.Model("four-bar with diagonal spring", gravity=(0, -G))
    B = (math.cos(angle), math.sin(angle))
    C = (1 + B[0], B[1])
    for name, P, Q in (("crank", (0, 0), B), ("coupler", B, C), ("rocker", (1, 0), C)):
        m.add(rod_between(name, P, Q))
    m.add(pl.Revolute("A", m.ground.point(0, 0), m["crank"]["A"]))
    m.add(pl.Revolute("B", m["crank"]["B"], m["coupler"]["A"]))
    m.add(pl.Revolute("C", m["coupler"]["B"], m["rocker"]["B"]))
    m.add(pl.Revolute("D", m.ground.point(1, 0), m["rocker"]["A"]))
    end = m["coupler"]["B"]
    m.add(pl.Spring("s", m.ground.point(0, 0), end, stiffness=25.0, damping=damping, length=math.sqrt(2)))
    return m


# --- published -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published() -> dict:
    return json.loads((DATA / "iftomm_fourbar_diag_spring.json").read_text())["verified"]


@pytest.mark.parametrize("start", [1.6, 2.0, 2.5, 3.0])
def test_iftomm_four_bar_stable(published, start):
    eq = pl.equilibrium(diagonal_spring_four_bar(start))
    assert eq["crank"].phi[0] == pytest.approx(published["phi_eq"], abs=1e-9)
    assert (eq.stability, eq.stable, eq.success) == ("stable", True, True)
    assert eq.modes[0].omega == pytest.approx(published["undamped_ev_imag"], abs=1e-9)
    real, imag = published["damped_ev"]
    expected = [complex(real, -imag), complex(real, imag)]
    assert eq.linearization.eigenvalues == pytest.approx(expected, abs=1e-9)
    lin = pl.linearize(eq.model, at=eq, coordinates=[("crank", "phi")])
    assert lin.M[0, 0] == pytest.approx(published["M_eff"], abs=1e-9)
    assert lin.K[0, 0] == pytest.approx(published["K"], abs=1e-8)  # published with ten digits
    eq.check()


def test_iftomm_four_bar_unstable(published):
    unstable = published["unstable_eq"]
    eq = pl.equilibrium(diagonal_spring_four_bar(1.5), find="nearest")
    assert eq["crank"].phi[0] == pytest.approx(unstable["phi"], abs=1e-9)
    assert (eq.stability, eq.stable) == ("unstable", False)
    assert eq.modes[0].growth == pytest.approx(unstable["ev"], abs=1e-9)
    lin = pl.linearize(eq.model, at=eq, coordinates=[("crank", "phi")])
    assert lin.K[0, 0] == pytest.approx(unstable["K"], abs=1e-9)


def test_iftomm_four_bar_default_does_not_stay_on_the_unstable_one():
    eq = pl.equilibrium(diagonal_spring_four_bar(math.pi / 2))
    assert eq.stable
    assert any("left along its unstable mode" in note for note in eq.notes)


def test_iftomm_four_bar_all(published):
    m = diagonal_spring_four_bar(1.6)
    starts = [{"crank": a} for a in np.linspace(0.4, 2.8, 9)]
    found = pl.equilibria(m, starts)
    angles = sorted((round(float(np.degrees(eq["crank"].phi[0])), 6), eq.stability) for eq in found)
    assert (round(math.degrees(published["phi_eq"]), 6), "stable") in angles
    assert (90.0, "unstable") in angles
    assert (-90.0, "stable") in angles  # hanging
    assert len(angles) == len(set(angles))


# --- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 1.5, -3.0, math.pi / 2, 10 * math.pi + 0.3])
def test_pendulum_from_anywhere(angle):
    m = chain(1, angle=angle)
    m["link1"].phi = angle  # with its turns
    eq = pl.equilibrium(m)
    turns = (eq["link1"].phi[0] + math.pi / 2) / (2 * math.pi)
    assert turns == pytest.approx(round(turns), abs=1e-12)
    assert abs(eq["link1"].phi[0] - angle) < math.pi + 1e-9  # the nearer side: angles are not wrapped
    assert eq.stable
    assert eq.modes[0].omega == pytest.approx(math.sqrt(1.5 * G), rel=1e-11)
    R = eq.reaction("pin1", on="link1")
    assert R.force[0] == pytest.approx([0, G], abs=1e-9)
    assert "stable equilibrium" in str(eq) and "stable equilibrium" in repr(eq)


def test_pendulum_upright_by_newton():
    eq = pl.equilibrium(chain(1, angle=1.3), find="nearest")
    assert eq["link1"].phi[0] == pytest.approx(math.pi / 2, abs=1e-12)
    assert eq.stability == "unstable"


def test_all_equilibria_of_a_double_pendulum():
    found = pl.equilibria(chain(2, angle=0.3), starts=16)
    poses = {(round(math.sin(a)), round(math.sin(b))): eq.stability for eq in found for a, b in [eq.q[0][2::3]]}
    assert poses == {(-1, -1): "stable", (-1, 1): "unstable", (1, -1): "unstable", (1, 1): "unstable"}
    assert len(found) == 4


def test_mass_on_a_spring_far_away():
    """k x = m g with x a thousand typical lengths away: steps grow along a slope that stays the same."""
    m = pl.Model("soft", gravity=(0, -G))
    m.add(pl.Body("block", 100.0, 1.0, r=(0, -1), phi=0.0, points={"top": (0, 0.5)}))
    m.add(pl.Translational("guide", m.ground.axis((0, 0), (0, 1)), m["block"].axis((0, 0), (0, 1))))
    m.add(pl.Spring("s", m.ground.point(0, 0), m["block"].point(0, 0), stiffness=1.0, length=1.0))
    eq = pl.equilibrium(m)
    assert eq["block"].r[0, 1] == pytest.approx(-1.0 - 100 * G, rel=1e-12)
    assert eq.iterations < 20
    assert eq.modes[0].omega == pytest.approx(0.1, rel=1e-10)


def test_ladder_against_the_wall_with_a_spring():
    """Ladder of length L, ends on a smooth wall and floor, spring from the corner to the foot (free length d):

    V = m g L/2 sin a + k/2 (L cos a - d)^2.
    """
    L, mass, k, d = 2.0, 5.0, 60.0, 0.4
    a0 = 1.0
    m = pl.Model("ladder", gravity=(0, -G))
    ladder = m.add(
        rod_between("ladder", (L * math.cos(a0), 0), (0, L * math.sin(a0)), mass=mass, start="foot", end="top")
    )
    m.add(pl.PinInSlot("floor", m.ground.axis((0, 0), (1, 0)), ladder["foot"]))
    m.add(pl.PinInSlot("wall", m.ground.axis((0, 0), (0, 1)), ladder["top"]))
    m.add(pl.Spring("s", m.ground.point(0, 0), ladder["foot"], stiffness=k, length=d))
    eq = pl.equilibrium(m)

    def slope(a):
        return mass * G * L / 2 * math.cos(a) - k * (L * math.cos(a) - d) * L * math.sin(a)

    a = math.pi - eq["ladder"].phi[0]
    assert abs(slope(a)) < 1e-9
    h = 1e-5
    curvature = (slope(a + h) - slope(a - h)) / (2 * h)
    assert eq.linearization.stable == (curvature > 0)
    lin = pl.linearize(m, at=eq, coordinates=[(ladder, "phi")])
    assert lin.K[0, 0] == pytest.approx(curvature, rel=1e-8)  # second difference: h^2
    # M = m (L/2)^2 + m L^2/12 about the instantaneous centre, at distance L/2 from the middle
    assert lin.M[0, 0] == pytest.approx(mass * L**2 / 3, rel=1e-10)
    wall = eq.reaction("wall", on=ladder).force[0]
    assert wall == pytest.approx([k * (L * math.cos(a) - d), 0], abs=1e-9)  # the only other horizontal force


def test_neutral_cart_with_a_pendulum():
    m = pl.Model("cart", gravity=(0, -G))
    m.add(pl.Body("cart", 2.0, 0.1, r=(0, 0), phi=0.0))
    m.add(rod_between("rod", (0, 0), (0.6, -0.3)))
    m.add(pl.Translational("rail", m.ground.axis((0, 0), (1, 0)), m["cart"].axis((0, 0), (1, 0))))
    m.add(pl.Revolute("pin", m["cart"].point(0, 0), m["rod"]["A"]))
    eq = pl.equilibrium(m)
    assert (eq.stability, eq.stable) == ("neutral", False)
    l = math.hypot(0.6, 0.3)
    # [3 l/2; l/2 l^2/3] and diag(0, g l/2), M of cart and rod: omega^2 = K (M + m) / det
    w2 = (G * l / 2) * 3.0 / (3.0 * l**2 / 3 - (l / 2) ** 2)
    assert [mode.omega for mode in eq.modes] == pytest.approx([0.0, math.sqrt(w2)], rel=1e-10)
    assert "neutral" in str(eq)


def test_no_load_at_all_is_neutral_where_it_is():
    m = slider_crank(speed=None, gravity=(0, 0))
    eq = pl.equilibrium(m)
    assert (eq.stability, eq.iterations) == ("neutral", 0)
    assert np.array_equal(eq.q[0], m.assemble().q)


def test_slider_crank_with_a_torsion_spring():
    """Force P on the slider against a torsion spring at the crank: k (phi - phi0) = P dx/dphi."""
    P, k = -20.0, 1.5
    m = slider_crank(offset=0.0, angle=0.8, speed=None, gravity=(0, 0))
    m.add(pl.PointForce("P", m["slider"].point(0, 0), (P, 0)))
    m.add(pl.TorsionSpring("k", m.ground, m["crank"], stiffness=k, angle=0.8))

    def slope(phi):  # dx/dphi of x = r cos phi + sqrt(l^2 - r^2 sin^2 phi)
        r, l = 0.1, 0.35
        return -r * math.sin(phi) - r**2 * math.sin(phi) * math.cos(phi) / math.sqrt(l**2 - (r * math.sin(phi)) ** 2)

    phi = brentq(lambda a: k * (a - 0.8) - P * slope(a), 0.8, 3.0, xtol=1e-14)
    eq = pl.equilibrium(m)
    assert eq["crank"].phi[0] == pytest.approx(phi, abs=1e-11)
    assert eq.stable


def toggle(angle: float, load: float = 4.0) -> pl.Model:
    """Two bars of 0.5 m, a slider on a spring that is slack at 0.6 rad, a load on the knee: it snaps through."""
    l, rest = 0.5, 0.6
    m = pl.Model("toggle")
    knee, end = (l * math.cos(angle), l * math.sin(angle)), (2 * l * math.cos(angle), 0.0)
    a, b = m.add(rod_between("a", (0, 0), knee)), m.add(rod_between("b", knee, end))
    m.add(pl.Body("slider", 1.0, 0.01, r=end, phi=0.0))
    m.add(pl.Revolute("O", m.ground.point(0, 0), a["A"]))
    m.add(pl.Revolute("K", a["B"], b["A"]))
    m.add(pl.Revolute("E", b["B"], m["slider"].point(0, 0)))
    m.add(pl.Translational("rail", m.ground.axis((0, 0), (1, 0)), m["slider"].axis((0, 0), (1, 0))))
    wall = m.ground.point(3.0, 0)
    m.add(pl.Spring("s", m["slider"].point(0, 0), wall, stiffness=200.0, length=3.0 - 2 * l * math.cos(rest)))
    m.add(pl.PointForce("load", b["A"], (0, -load)))
    return m


def test_toggle_snaps_through():
    """V = 2 k l^2 (cos a - cos a0)^2 + F l sin a: two stable poses and an unstable one between them."""
    k, l, F, rest = 200.0, 0.5, 4.0, 0.6

    def slope(a):
        return -4 * k * l**2 * (math.cos(a) - math.cos(rest)) * math.sin(a) + F * l * math.cos(a)

    up, top, down = (brentq(slope, *ends, xtol=1e-15) for ends in ((0.4, 0.7), (0.0, 0.3), (-1.0, -0.4)))

    def curvature(a, h=1e-5):
        return (slope(a + h) - slope(a - h)) / (2 * h)

    for start, find, a, stability in (
        (0.7, "stable", up, "stable"),
        (0.2, "stable", up, "stable"),
        (-0.3, "stable", down, "stable"),
        (0.05, "nearest", top, "unstable"),
    ):
        eq = pl.equilibrium(toggle(start), find=find)
        assert eq["a"].phi[0] == pytest.approx(a, abs=1e-10)
        assert eq.stability == stability
        K = pl.linearize(eq.model, at=eq, coordinates=[("a", "phi")]).K[0, 0]
        assert K == pytest.approx(curvature(a), rel=1e-7)  # second difference
    eq.check()


def test_massless_link():
    """A bob on a massless strut: omega^2 = m g l / (m l^2 + J)."""
    m = pl.Model("massless", gravity=(0, -G))
    strut = m.add(pl.Body.rod("strut", 0.0, 1.0, r=(0.5, 0), phi=0.0))
    bob = m.add(pl.Body("bob", 2.0, 0.05, r=(1.2, 0), phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), strut["A"]))
    m.add(pl.Weld("B", strut["B"], bob.point(-0.2, 0)))
    eq = pl.equilibrium(m)
    assert eq["bob"].r[0] == pytest.approx([0, -1.2], abs=1e-12)
    assert eq.modes[0].omega ** 2 == pytest.approx(2 * G * 1.2 / (2 * 1.2**2 + 0.05), rel=1e-10)
    # a strut that the springs alone hold: mass and inertia nowhere in its motion
    m = pl.Model("plate on springs", gravity=(0, -G))
    plate = m.add(pl.Body("plate", 0.0, 0.0, r=(0, 0.5), phi=0.0))
    m.add(pl.Translational("guide", m.ground.axis((0, 0), (0, 1)), plate.axis((0, 0), (0, 1))))
    m.add(pl.Spring("s", m.ground.point(0, 0), plate.point(0, 0), stiffness=100.0, length=0.5))
    m.add(pl.PointForce("P", plate.point(0, 0), (0, -7.0)))
    eq = pl.equilibrium(m)
    assert eq["plate"].r[0, 1] == pytest.approx(0.43, abs=1e-12)
    assert eq.stable and eq.modes == []


def test_redundant_constraints():
    eq = pl.equilibrium(parallelogram(3, angle=0.9))
    assert eq["crank1"].phi[0] % (2 * math.pi) == pytest.approx(1.5 * math.pi, abs=1e-9)
    assert eq.stable
    assert eq.indeterminate
    total = sum(eq.reaction(f"A{k}", on=f"crank{k}").force[0] for k in (1, 2, 3))
    assert total == pytest.approx([0, (3.0 + 3 * 0.5) * G], abs=1e-9)
    eq.check()


@pytest.mark.parametrize("make", [lambda: four_bar(speed=None), parallelogram, lambda: random_mechanism(15, bodies=6)])
def test_statics_agrees_and_multipliers_are_the_smallest(make):
    """The last one rests where a slot is level to rounding: one coordinate is felt by no constraint but 5e-16."""
    m = make()
    eq = pl.equilibrium(m)
    st = pl.statics(m, eq)
    assert st.lam == pytest.approx(eq.lam, abs=1e-9)
    J = eq.system.pattern.to_dense(eq.Phi_q[0])
    D = row_scale(eq.system)  # couples count as forces over the typical length
    smallest = D * np.linalg.lstsq((D[:, None] * J).T, eq.system.forces(0.0, eq.q[0], eq.v[0]), rcond=1e-9)[0]
    assert eq.lam[0] == pytest.approx(smallest, abs=1e-9)
    st.check()
    eq.check()


def test_two_masses_between_tight_springs():
    """Large loads that cancel: balance is judged by what the springs carry, not by their difference."""
    m = pl.Model("tight")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0.2, 0), phi=0.0))
    m.add(pl.Translational("rail", m.ground.axis((0, 0), (1, 0)), b.axis((0, 0), (1, 0))))
    for name, x in (("left", -1.0), ("right", 1.0)):
        m.add(pl.Spring(name, m.ground.point(x, 0), b.point(0, 0), stiffness=1e7, length=0.1))
    eq = pl.equilibrium(m)
    assert eq["b"].r[0] == pytest.approx([0, 0], abs=1e-14)
    assert eq.modes[0].omega == pytest.approx(math.sqrt(2e7), rel=1e-10)
    assert eq.stable


# --- the potential is really smallest ----------------------------------------------------------------------------------


def spring_linkage() -> pl.Model:
    """Two degrees of freedom: an open four-bar with a loose rod on the coupler, springs and weights."""
    m = four_bar((0.3, 0.7, 0.5, 0.8), angle=1.9, speed=None)
    C = m["coupler"].point(0, 0.1)
    P = C.position(np.array(m["coupler"].r), np.array(m["coupler"].phi))
    m.add(rod_between("flag", P, P + [0.3, 0.3], mass=0.7))
    m.add(pl.Revolute("F", C, m["flag"]["A"]))
    m.add(pl.Spring("s", m.ground.point(0.2, 0.9), m["flag"]["B"], stiffness=35.0, length=0.35))
    m.add(pl.TorsionSpring("t", m.ground, m["rocker"], stiffness=4.0, angle=2.0))
    return m


def test_potential_is_a_minimum_as_scipy_finds_it():
    m = spring_linkage()
    eq = pl.equilibrium(m)
    system = held(pl.compile(m), 0.0)
    spring, flag = m["s"], 9

    def V(q):
        x, y, phi = q[flag : flag + 3]
        s = m["flag"].points["B"]
        tip = np.array([x + math.cos(phi) * s[0], y + math.sin(phi) * s[0]])
        length = math.dist(tip, spring.point_i.s)
        weights = sum(b.mass * G * q[3 * k + 1] for k, b in enumerate(m.bodies))
        return weights + 0.5 * 35.0 * (length - 0.35) ** 2 + 0.5 * 4.0 * (q[8] - 2.0) ** 2

    constraint = {
        "type": "eq",
        "fun": lambda q: system.constraints(0.0, q).Phi,
        "jac": lambda q: system.pattern.to_dense(system.constraints(0.0, q).Phi_q),
    }
    found = minimize(V, eq.q[0] + 0.05, constraints=constraint, method="SLSQP", options={"ftol": 1e-15, "maxiter": 500})
    assert found.success
    assert found.fun == pytest.approx(V(eq.q[0]), abs=1e-9)
    assert found.x == pytest.approx(eq.q[0], abs=1e-5)  # SLSQP differences V: pose to the square root of its digits
    assert eq.stable and len(eq.modes) == 2


@pytest.mark.parametrize("seed", [s for s in range(18) if s not in (1, 7, 14, 15)])  # those cannot move
def test_random_mechanisms_rest_in_a_valley(seed):
    """With weights and springs: balanced, and every small displacement on the constraints costs work."""
    m = random_mechanism(seed, bodies=2 + seed % 7, forces=False)
    rng = np.random.default_rng(seed)
    for k, body in enumerate(m.bodies):  # so that nothing runs away
        anchor = m.ground.point(*rng.normal(size=2))
        m.add(
            pl.Spring(f"s{k}", anchor, body.point(*rng.normal(size=2) * 0.2), stiffness=30.0, length=0.2, damping=0.5)
        )
        m.add(pl.TorsionSpring(f"t{k}", m.ground, body, stiffness=0.5, angle=float(rng.normal())))
    eq = pl.equilibrium(m)
    assert eq.stability == "stable" and eq.linearization.n > 0
    eq.check()
    system = eq.system
    land = Landscape(system, 0.0, BALANCED)
    place = land.place(eq.q[0])
    assert place.worst <= BALANCED * place.scale
    projector = Projector(system, metric(system))
    for _ in range(5):
        z = projector.step(place.Phi_q, np.zeros(system.nc), toward=rng.normal(size=system.nq) * 1e-3)
        moved = land.move(place, z)
        assert moved is not None
        work, rounding = land.work(place.q, moved.q)
        assert work < rounding


@pytest.mark.parametrize("seed", range(12))
def test_random_loads_balance_or_say_why_not(seed):
    """Follower forces and torques too: either the laws hold, or the error says that there is no rest."""
    m = random_mechanism(seed, bodies=5)
    try:
        eq = pl.equilibrium(m)
    except pl.ConvergenceError as error:
        assert any(words in str(error) for words in ("runs away", "turns without end", "no potential"))
    else:
        eq.check()


@pytest.mark.parametrize("name", sorted(TEXTBOOK))
def test_textbook_mechanisms(name):
    eq = pl.equilibrium(TEXTBOOK[name](speed=None, gravity=GRAVITY))
    assert eq.stability in ("stable", "neutral")
    eq.check()


# --- drivers, starts ---------------------------------------------------------------------------------------------------


def test_drivers_hold():
    m = slider_crank()
    eq, st = pl.equilibrium(m, t=0.3), pl.statics(m, t=0.3)
    assert eq.q == pytest.approx(st.q, abs=1e-12)
    assert eq.effort("motor") == pytest.approx(st.effort("motor"), rel=1e-9)
    assert np.array_equal(eq.v, np.zeros((1, 9))) and eq.t == pytest.approx([0.3])
    assert eq.power("motor") == pytest.approx([0.0])
    assert eq.stable and any("no free motion" in note for note in eq.notes)


def test_a_driven_arm_with_a_free_pendulum():
    m = chain(2, angle=0.0)
    m.add(pl.AngleDriver("motor", m.ground, m["link1"], pl.Ramp(1.0, 0.2)))
    eq = pl.equilibrium(m, t=0.5)
    assert eq["link1"].phi[0] == pytest.approx(0.7, abs=1e-12)
    assert eq["link2"].phi[0] == pytest.approx(-math.pi / 2, abs=1e-12)
    # holds link1 (1 kg at l/2) and the weight of link2 at its end
    assert eq.effort("motor")[0] == pytest.approx(1.5 * G * math.cos(0.7), rel=1e-10)
    assert eq.modes[0].omega == pytest.approx(math.sqrt(1.5 * G), rel=1e-10)


def test_loads_are_taken_at_their_time():
    m = pl.Model("timed")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.Revolute("O", m.ground.point(0, 0), b.point(0, 0)))
    m.add(pl.TorsionSpring("k", m.ground, b, stiffness=2.0, angle=0.0))
    m.add(pl.Torque("T", b, "3*t"))
    assert pl.equilibrium(m, t=0.5)["b"].phi[0] == pytest.approx(0.75, abs=1e-12)


def test_starts_in_every_form():
    m = diagonal_spring_four_bar(1.6)
    goal = 2.234331019
    eq = pl.equilibrium(m)
    assembly = diagonal_spring_four_bar(2.8).assemble()
    for start in ({"crank": 2.9}, {m["crank"]: 2.9}, {"rocker": 2.9}, eq, eq.q[0], eq.q, assembly):
        assert pl.equilibrium(m, start)["crank"].phi[0] == pytest.approx(goal, abs=1e-8)
    assert pl.equilibrium(m, {"crank": 1.2})["crank"].phi[0] == pytest.approx(-math.pi / 2, abs=1e-9)
    B = (math.cos(2.8), math.sin(2.8))
    start = {"coupler": (0.5 + B[0], B[1], 0.0)}
    assert pl.equilibrium(m, start)["crank"].phi[0] == pytest.approx(goal, abs=1e-8)


def test_a_start_that_cannot_be_reached_is_said():
    m = four_bar(speed=None)
    with pytest.raises(pl.AssemblyError, match=r"start: .* stays open .* rocker=0.5.*can reach"):
        pl.equilibrium(m, {m["rocker"]: 0.5})  # it swings between 96 and 155 degrees
    eq = pl.equilibrium(m, {"crank": (0.06, 0.0, 0.1)})  # its centre stays 0.05 m from the pin
    assert any("'crank' cannot reach the wished pose" in note for note in eq.notes)
    with pytest.raises(pl.ModelError, match="give phi or"):
        pl.equilibrium(m, {"rocker": (1.0, 2.0)})
    with pytest.raises(pl.ModelError, match="find is 'best'"):
        pl.equilibrium(m, find="best")


def test_random_starts_are_the_same_every_time():
    a, b = (pl.equilibria(four_bar(speed=None), starts=6) for _ in range(2))
    assert [x.q.tolist() for x in a] == [x.q.tolist() for x in b]
    assert {eq.stability for eq in a} == {"stable", "unstable"}


# --- forces by functions -----------------------------------------------------------------------------------------------


def test_force_function_with_two_valleys():
    """F = 4 x - x^3: rests at x = +-2 with stiffness 8, stands at 0."""
    m = pl.Model("two valleys")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0.3, 0), phi=0.0))
    m.add(pl.Translational("rail", m.ground.axis((0, 0), (1, 0)), b.axis((0, 0), (1, 0))))
    m.add(pl.UserForce("f", b, lambda t, s: (4 * s[b].r[..., 0] - s[b].r[..., 0] ** 3, 0.0, 0.0)))
    for x, rest in ((0.3, 2.0), (-1.0, -2.0), (5.0, 2.0)):
        eq = pl.equilibrium(m, {b: (x, 0, 0)})
        assert eq["b"].r[0, 0] == pytest.approx(rest, abs=1e-12)
        assert eq.modes[0].omega == pytest.approx(math.sqrt(8.0), rel=1e-10)
    found = pl.equilibria(m, [{b: (x, 0, 0)} for x in (-3, -0.1, 0.1, 3)])
    assert sorted(round(float(e["b"].r[0, 0]), 9) + 0.0 for e in found) == [-2.0, 0.0, 2.0]


def test_force_function_of_python_floats():
    m = pl.Model("floats")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0.3, 0), phi=0.0))
    m.add(pl.Translational("rail", m.ground.axis((0, 0), (1, 0)), b.axis((0, 0), (1, 0))))
    m.add(pl.UserForce("f", b, lambda t, s: (4 * math.sin(float(s[b].r[0])) - 1.0, 0.0, 0.0)))
    eq = pl.equilibrium(m)
    assert eq["b"].r[0, 0] == pytest.approx(math.pi - math.asin(0.25), abs=1e-11)
    assert any("central differences" in note for note in eq.notes)


def test_follower_force():
    """A follower force P across the tip of a rod on a torsion spring: k phi = P l, whatever phi is."""
    m = pl.Model("follower")
    rod = m.add(rod_between("rod", (0, 0), (1, 0)))
    m.add(pl.Revolute("O", m.ground.point(0, 0), rod["A"]))
    m.add(pl.TorsionSpring("k", m.ground, rod, stiffness=2.0, angle=0.0))
    m.add(pl.PointForce("P", rod["B"], (0, 8.0), frame="body"))
    eq = pl.equilibrium(m)
    assert eq["rod"].phi[0] == pytest.approx(4.0, abs=1e-11)
    assert eq.stable
    eq.check()


# --- no equilibrium ----------------------------------------------------------------------------------------------------


def falling() -> pl.Model:
    m = pl.Model("ball", gravity=(0, -G))
    m.add(pl.Body("ball", 1.0, 0.1, r=(0, 0), phi=0.0))
    return m


def spinning() -> pl.Model:
    m = pl.Model("wheel")
    m.add(pl.Body("wheel", 1.0, 0.1, r=(0, 0), phi=0.0))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["wheel"].point(0, 0)))
    m.add(pl.Torque("T", m["wheel"], 2.0))
    return m


def sliding() -> pl.Model:
    m = pl.Model("slope", gravity=(0, -G))
    m.add(pl.Body("sled", 1.0, 0.1, r=(0, 0), phi=0.5))
    axis = (math.cos(0.5), math.sin(0.5))
    m.add(pl.Translational("slope", m.ground.axis((0, 0), axis), m["sled"].axis((0, 0), (1, 0))))
    return m


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (falling, r"no equilibrium.*body 'ball' runs away.*\(0, -9.81\) N.*joint, a driver or a spring"),
        (spinning, r"no equilibrium.*body 'wheel' turns without end.*2 N m.*torsion spring"),
        (sliding, r"no equilibrium.*body 'sled' runs away.*hold it"),
    ],
)
def test_nothing_holds_it(model, words):
    with pytest.raises(pl.ConvergenceError, match=words):
        pl.equilibrium(model())
    with pytest.raises(pl.ConvergenceError):
        pl.equilibrium(model(), find="nearest")


def test_too_few_iterations_are_an_error_with_the_body_and_the_force():
    with pytest.raises(
        pl.ConvergenceError, match=r"2 iterations were not enough; body 'link\d' is out of balance by .* N and .* N m"
    ):
        pl.equilibrium(chain(3, angle=0.5), iterations=2)
    with pytest.raises(pl.ConvergenceError):
        pl.equilibria(falling(), starts=2)
    with pytest.raises(pl.ModelError, match="starts: there is none"):
        pl.equilibria(falling(), starts=[])


def test_follower_load_that_flutters_and_one_that_never_rests():
    """Ziegler's column: straight and unstable by flutter at P = 3; at P = 5 even an overdamped one goes round for ever."""
    m = pl.Model("column")
    a, b = (m.add(rod_between(n, (k, 0), (k + 1, 0))) for k, n in enumerate("ab"))
    m.add(pl.Revolute("A", m.ground.point(0, 0), a["A"]))
    m.add(pl.Revolute("B", a["B"], b["A"]))
    m.add(pl.TorsionSpring("k1", m.ground, a, stiffness=1.0))
    m.add(pl.TorsionSpring("k2", a, b, stiffness=1.0))
    load = m.add(pl.PointForce("P", b["B"], (-3.0, 0), frame="body"))
    eq = pl.equilibrium(m, {"a": 0.1, "b": 0.1})
    assert np.abs(eq.q[0][2::3]).max() < 1e-9
    assert (eq.stability, eq.stable) == ("unstable", False)
    load.force = (-5.0, 0.0)
    with pytest.raises(pl.ConvergenceError, match="the loads have no potential"):
        pl.equilibrium(m, {"a": 0.3, "b": 0.4}, iterations=60)


# --- large -------------------------------------------------------------------------------------------------------------


def hanging_chain(n: int, span: float = 0.6) -> pl.Model:
    """n rods, 1 m in all, between two pins at the same height, drawn as a V."""
    m = pl.Model("catenary", gravity=(0, -G))
    P, before = np.zeros(2), m.ground.point(0, 0)
    depth = math.sqrt(1 - span**2)
    for k in range(n):
        Q = P + np.array([span, -depth if k < n // 2 else depth]) / n
        link = m.add(rod_between(f"link{k + 1}", P, Q, mass=1.0 / n))
        m.add(pl.Revolute(f"pin{k + 1}", before, link["A"]))
        P, before = Q, link["B"]
    m.add(pl.Revolute("end", m.ground.point(span, 0), before))
    return m


def test_catenary():
    """Sag and horizontal pull of a rope: 2 a sinh(d / 2a) = L, H = w a, sag a (cosh(d / 2a) - 1)."""
    n, span = 100, 0.6
    eq = pl.equilibrium(hanging_chain(n, span))
    a = brentq(lambda a: 2 * a * math.sinh(span / (2 * a)) - 1.0, 0.05, 1.0)
    R = eq.reaction("end", on=f"link{n}").force[0]
    assert R == pytest.approx([G * a, G / 2], rel=1e-3)  # links instead of a rope: O(1/n^2)
    middle = eq.point(eq.model[f"link{n // 2}"]["B"]).r[0]
    assert middle == pytest.approx([span / 2, -a * (math.cosh(span / (2 * a)) - 1)], abs=1e-3)
    assert eq.stable
    eq.check()


def test_large_chain_falls_from_the_horizontal():
    eq = pl.equilibrium(chain(300, length=0.1, angle=0.0))  # 900 coordinates: sparse steps
    assert np.abs(eq["link300"].r[0] - [0, -29.95]).max() < 1e-9
    assert eq.stable and len(eq.modes) == 10
    assert "and 280 more bodies" in str(eq)


def test_large_chain_is_left_from_upright():
    eq = pl.equilibrium(chain(210, length=0.1, angle=math.pi / 2))
    assert eq["link210"].r[0, 1] == pytest.approx(-20.95, abs=1e-9)
    assert eq.stable
