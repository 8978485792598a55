"""Assembly: the consistent state nearest to what was drawn, or an error that names the joint that stays open."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mechanisms import (
    TEXTBOOK,
    chain,
    four_bar,
    jacobian,
    ladder,
    parallelogram,
    planetary,
    rack_pinion,
    random_mechanism,
    slider_crank,
)
from scipy.optimize import minimize

import planar as pl
from planar import AssemblyError
from planar.projection import weights


def disturb(m, size, seed=0):
    rng = np.random.default_rng(seed)
    for body in m.bodies:
        body.r = tuple(np.array(body.r) + rng.normal(size=2) * size)
        body.phi = float(body.phi + rng.normal() * size)
    return m


def forget(m):
    for body in m.bodies:
        body.r = body.phi = None
    return m


def closed(a, tol=1e-12):
    """Positions and velocities satisfy the constraints."""
    e = a.system.constraints(a.t, a.q, a.v)
    assert np.abs(e.Phi).max() <= tol
    assert np.abs(a.system.pattern.multiply(e.Phi_q, a.v) - e.nu).max() <= tol * (1 + np.abs(e.nu).max())


# --- already consistent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTBOOK)
def test_a_consistent_drawing_stays(name):
    a = TEXTBOOK[name]().assemble()
    np.testing.assert_allclose(a.q, a.system.q_drawn, rtol=0, atol=1e-15)
    assert a.moved == {} and a.notes == []
    assert "the drawn pose is consistent" in str(a)
    closed(a)


def test_a_model_without_constraints_stays_as_it_is():
    m = pl.Model()
    m.add(pl.Body("free", 1.0, 0.1, r=(3, 4), phi=0.5, v=(1, 2), omega=3))
    a = m.assemble()
    np.testing.assert_array_equal(a.q, [3, 4, 0.5])
    np.testing.assert_array_equal(a.v, [1, 2, 3])


def test_neither_the_model_nor_the_system_is_changed():
    m = disturb(four_bar(), 0.02)
    before = [(b.r, b.phi, b.v, b.omega) for b in m.bodies]
    system = pl.compile(m)
    q = system.q_drawn.copy()
    m.assemble()
    assert [(b.r, b.phi, b.v, b.omega) for b in m.bodies] == before
    np.testing.assert_array_equal(system.q_drawn, q)


def test_poses_and_times():
    m = four_bar(speed=2.0, angle=0.6)
    a = m.assemble(0.25)
    assert a.t == 0.25
    assert a.pose("crank")[2] == pytest.approx(0.6 + 0.5, abs=1e-14)
    np.testing.assert_array_equal(a.pose(m["coupler"]), a.q[3:6])
    for wrong, message in (
        (math.nan, "is nan s; give a finite"),
        ("soon", "must be a number"),
        (None, "must be a number"),
    ):
        with pytest.raises(pl.ModelError, match=message):
            m.assemble(wrong)


# --- drawn inexactly ----------------------------------------------------------------------------------------------------


def test_the_report_says_what_moved():
    m = four_bar(speed=None)
    m["rocker"].r = (m["rocker"].r[0] + 0.02, m["rocker"].r[1])
    a = m.assemble()
    closed(a)
    k = a.system.body_index("rocker")
    moved = a.q - a.system.q_drawn
    assert a.moved["rocker"] == pytest.approx((np.hypot(*moved[3 * k : 3 * k + 2]), moved[3 * k + 2]))
    assert f"rocker: moved by {a.moved['rocker'][0]:.3g} m, turned by" in str(a)
    assert 0.002 < a.moved["rocker"][0] < 0.02


@pytest.mark.parametrize("seed", range(12))
def test_random_mechanisms_are_closed_to_round_off(seed):
    a = random_mechanism(seed, shake=0.03).assemble()
    closed(a, 1e-13)
    assert a.moved


@pytest.mark.parametrize("seed", range(6))
def test_driven_random_mechanisms_are_closed_at_their_time(seed):
    a = random_mechanism(seed, driven=True, shake=0.02).assemble(0.1)
    closed(a, 1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_far_away(seed):
    """Bodies thrown anywhere within ten times the size of the mechanism, turned anyhow."""
    m = four_bar()
    rng = np.random.default_rng(seed)
    for body in m.bodies:
        body.r, body.phi = tuple(rng.uniform(-3, 3, 2)), float(rng.uniform(-math.pi, math.pi))
    a = m.assemble()
    closed(a, 1e-14)
    assert a.moved.keys() == {"crank", "coupler", "rocker"}


# --- the smallest change --------------------------------------------------------------------------------------------------


def change(a):
    return float((weights(a.system) * (a.q - a.system.q_drawn) ** 2).sum())


@pytest.mark.parametrize("bodies, seed", [*((3, seed) for seed in range(8)), (4, 10), (4, 15), (4, 37)])
def test_the_change_is_the_smallest_by_an_independent_optimiser(bodies, seed):
    """(4, 10) has another assembly to which plain Gauss-Newton overshoots; (4, 15) bends much along the constraints."""
    m = random_mechanism(seed, bodies=bodies, shake=0.1)
    a = m.assemble()
    system, w, q0 = a.system, weights(a.system), a.system.q_drawn

    def rows(q):
        return system.constraints(0.0, q).Phi

    def slopes(q):
        return system.pattern.to_dense(system.constraints(0.0, q).Phi_q)

    best = minimize(
        lambda q: (w * (q - q0) ** 2).sum(),
        q0,
        jac=lambda q: 2 * w * (q - q0),
        constraints={"type": "eq", "fun": rows, "jac": slopes},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert best.success
    assert change(a) == pytest.approx(best.fun, rel=1e-6)  # of the order of SLSQP's own accuracy
    assert change(a) <= best.fun * (1 + 1e-9)


STATIONARY = {
    "parallelogram": lambda: disturb(parallelogram(3), 0.03),
    "four_bar": lambda: disturb(four_bar(speed=None), 0.04),
    "chain": lambda: disturb(chain(6), 0.3),
    **{f"random {seed}": lambda seed=seed: random_mechanism(seed, shake=0.15, bodies=5) for seed in range(12)},
}


@pytest.mark.parametrize("name", STATIONARY)
def test_the_change_is_stationary(name):
    """W (q - q0) = -Phi_q^T lambda: no free motion leads nearer to the drawing."""
    a = STATIONARY[name]().assemble()
    J = a.system.pattern.to_dense(a.system.constraints(0.0, a.q).Phi_q)
    pull = weights(a.system) * (a.q - a.system.q_drawn)
    lam = np.linalg.lstsq(-J.T, pull, rcond=None)[0]
    assert np.abs(pull + J.T @ lam).max() < 1e-8 * np.abs(pull).max()


def test_heavy_bodies_stay_and_light_ones_follow():
    for light, heavy in (("left", "right"), ("right", "left")):
        m = pl.Model()
        for name, x in (("left", -0.6), ("right", 0.6)):
            m.add(pl.Body(name, 1e6 if name == heavy else 1.0, 1e6 if name == heavy else 1.0, r=(x, 0), phi=0.0))
        m.add(pl.Revolute("pin", m["left"].point(0.5, 0), m["right"].point(-0.5, 0)))
        a = m.assemble()
        assert a.moved[light][0] == pytest.approx(0.2, rel=1e-5)
        assert a.moved.get(heavy, (0.0, 0.0))[0] < 1e-6


def test_massless_bodies_are_moved_as_if_they_had_a_typical_mass():
    m = four_bar(speed=None)
    for body in m.bodies:
        body.mass = body.inertia = 0.0
    a = disturb(m, 0.02).assemble()
    closed(a)
    m["coupler"].mass = 5.0
    closed(m.assemble())


# --- impossible, and just possible ------------------------------------------------------------------------------------------


def stretched(gap, draw=True):
    """Links of 0.1, 0.3 and 0.25 m in one line between pins 0.65 m + gap apart."""
    m = pl.Model("stretched")
    before, x = m.ground.point(0, 0), 0.0
    for k, (name, length) in enumerate((("a", 0.1), ("b", 0.3), ("c", 0.25))):
        pose = {"r": (x + length / 2, 0.01 * (k + 1)), "phi": 0.03 * (k - 1)} if draw else {}
        body = m.add(pl.Body.rod(name, 1.0, length, **pose))
        m.add(pl.Revolute(f"P{k}", before, body["A"]))
        before, x = body["B"], x + length
    m.add(pl.Revolute("end", before, m.ground.point(0.65 + gap, 0)))
    return m


@pytest.mark.parametrize("draw", [True, False])
def test_just_reachable(draw):
    """The Jacobian is singular in the solution: the openings close quadratically in the error of the angles."""
    for gap in (0.0, -1e-12, -1e-6):
        a = stretched(gap, draw).assemble()
        assert a.residual <= 1e-10
        angle = math.sqrt(2 * (abs(gap) + 1e-10) / 0.1)  # what the gap and the tolerance leave open
        np.testing.assert_allclose(np.sin(a.q[2::3]), 0.0, atol=2 * angle)
        assert gap < -1e-9 or not any("branch" in note for note in a.notes)  # where the branches meet there is no other


@pytest.mark.parametrize("draw", [True, False])
@pytest.mark.parametrize("gap", [1e-8, 1e-4, 1.0])
def test_just_out_of_reach_names_a_joint_and_its_opening(gap, draw):
    with pytest.raises(AssemblyError) as caught:
        stretched(gap, draw).assemble()
    text = str(caught.value)
    name = next(n for n in ("P0", "P1", "P2", "end") if f"joint '{n}' (Revolute) is open by" in text)
    opening = float(text.split("is open by ")[1].split(" m ")[0])
    # the gap is shared by the joints; one of them has at least its part, none more than all
    assert gap / 4 * 0.99 <= opening <= gap * 1.01
    assert f"check the points and lengths around '{name}'" in text and "move '" in text


def test_an_impossible_angle_is_given_in_degrees():
    m = pl.Model()
    a, b = (m.add(pl.Body(name, 1.0, 0.1, r=(k, 0), phi=0.0)) for k, name in enumerate("ab"))
    m.add(pl.Weld("w1", a.point(1, 0), b.point(0, 0), angle=0.0))
    m.add(pl.Gear("g", a, b, 1.0))
    m.add(pl.AngleDriver("twist", a, b, math.radians(10)))
    with pytest.raises(AssemblyError, match=r"is open by [\d.]+ deg .*; .* drive"):
        m.assemble()


def test_an_impossible_driver_is_named():
    m = four_bar(speed=None)
    m.add(pl.CoordinateDriver("lift", m["crank"], "y", 1.0))
    with pytest.raises(
        AssemblyError, match=r"at t = 0 s; move .* the driver may ask for a position that the linkage cannot"
    ):
        m.assemble()


def test_row_names_with_dots_do_not_confuse_the_message():
    m = pl.Model()
    a = m.add(pl.Body("a.b", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.UserConstraint("c.d", a, lambda t, a: a.x**2 + 1, rows="e.f"))
    with pytest.raises(AssemblyError, match=r"joint 'c\.d' \(UserConstraint\) is open by 1\.00e\+00 m"):
        m.assemble()


def test_a_constraint_without_a_finite_value_is_named():
    m = pl.Model()
    a = m.add(pl.Body("a", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.UserConstraint("u", a, lambda t, a: a.x + np.nan, rows="track"))
    with pytest.raises(AssemblyError, match=r"joint 'u' \(UserConstraint\) has no finite value \(row 'u\.track'\)"):
        m.assemble()
    m = m.without("u")
    m.add(pl.UserConstraint("u", m["a"], lambda t, a: np.log(a.x)))  # -inf as drawn, closed at x = 1
    assert m.assemble().pose("a")[0] == pytest.approx(1.0, abs=1e-14)


# --- poses that were left out -------------------------------------------------------------------------------------------------


def test_left_out_poses_of_the_contract_example():
    m = four_bar()
    for name in ("coupler", "rocker"):
        m[name].r = m[name].phi = None
    a = m.assemble()
    closed(a)
    assert a.moved == {}  # what was not drawn did not move
    want = four_bar().assemble()
    np.testing.assert_allclose(a.q, want.q, atol=1e-14)  # the higher of the two assemblies
    assert any("2 assemblies found" in note and "coupler, rocker" in note for note in a.notes)


@pytest.mark.parametrize("side", [1, -1])
def test_a_rough_pose_chooses_the_assembly(side):
    want = four_bar(side=side).assemble().q
    m = four_bar()
    m["coupler"].r = m["coupler"].phi = None
    m["rocker"].r, m["rocker"].phi = tuple(np.round(want[6:8], 1)), round(want[8], 1)
    np.testing.assert_allclose(m.assemble().q, want, atol=1e-14)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "quick_return", "planetary", "parallelogram"])
def test_all_poses_left_out(name):
    a = forget(TEXTBOOK[name]()).assemble()
    closed(a)
    assert a.moved == {}


@pytest.mark.parametrize("angle", [0.5, 2.5, -2.9])
def test_a_slider_without_a_pose_points_along_its_guide(angle):
    """Not against it: the sine of the angle between the axes vanishes there too."""
    m = pl.Model()
    slider = m.add(pl.Body("slider", 1.0, 0.1))
    u = np.array([math.cos(angle), math.sin(angle)])
    m.add(pl.Translational("guide", m.ground.axis((1, 1), (1, 1) + u), slider.axis((0.1, 0), (0.3, 0))))
    x, y, phi = m.assemble().pose("slider")
    assert phi == pytest.approx(angle, abs=1e-14)
    assert np.cross([*u, 0], [x - 1, y - 1, 0])[2] == pytest.approx(0.0, abs=1e-14)


def test_only_the_angle_or_only_the_place_left_out():
    m = slider_crank()
    m["rod"].phi = None
    m["slider"].r = None
    np.testing.assert_allclose(m.assemble().q, slider_crank().assemble().q, atol=1e-14)


def test_the_other_branch_is_reported_where_the_determinant_changes_its_sign():
    """Drawings between the two assemblies of a four-bar, the free direction Z closing the square."""
    ends = [four_bar(side=side).assemble().q for side in (1, -1)]
    seen = set()
    for share in np.linspace(0.05, 0.95, 19):
        m = four_bar(speed=None)
        for body, pose in zip(m.bodies, (share * ends[0] + (1 - share) * ends[1]).reshape(3, 3), strict=True):
            body.r, body.phi = tuple(pose[:2]), float(pose[2])
        m["coupler"].inertia, m["rocker"].mass = 1.0, 20.0
        a = m.assemble()
        closed(a)
        J = [a.system.pattern.to_dense(a.system.constraints(0.0, q).Phi_q) for q in (a.system.q_drawn, a.q)]
        Z = np.linalg.svd(J[1])[2][8:] * weights(a.system)
        crossed = np.prod([np.sign(np.linalg.det(np.vstack([x, Z]))) for x in J]) < 0
        assert any("lies on the other branch than the drawn pose" in note for note in a.notes) == crossed
        seen.add(bool(crossed))
    assert seen == {True, False}


def test_a_crossed_drawing_of_a_driven_slider_crank_is_reported():
    """The slider is drawn on the wrong side of the crank and too far up to stay there."""
    m = slider_crank(speed=None)
    m.add(pl.SlideDriver("push", m.ground.axis((0, 0.02), (1, 0.02)), m["slider"].point(0, 0), 0.3))
    right = m.assemble()
    assert not right.notes
    crank = m["crank"]
    crank.phi = right.pose("crank")[2] - 2.3  # beyond the dead point, where crank and rod are in line
    crank.r = (0.05 * math.cos(crank.phi), 0.05 * math.sin(crank.phi))
    m["rod"].r, m["rod"].phi = tuple(right.pose("rod")[:2]), float(right.pose("rod")[2])
    m["rod"].mass = m["rod"].inertia = 1e4  # stays up, and takes the crank along
    a = m.assemble()
    np.testing.assert_allclose(a.q, right.q, atol=1e-9)
    assert any("lies on the other branch than the drawn pose" in note for note in a.notes)
    assert "other branch" in str(a)


# --- velocities -------------------------------------------------------------------------------------------------------------


def test_velocities_follow_the_driver():
    m = four_bar(speed=3.0)
    a = m.assemble()
    closed(a)
    assert a.v[2] == pytest.approx(3.0, abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_velocities_change_least_in_the_measure_of_the_masses(seed):
    """v = v0 + M^-1 Phi_q^T mu: the change does no work on any free motion."""
    m = random_mechanism(seed)
    a = m.assemble()
    closed(a)
    J = jacobian(m)
    Z = np.linalg.svd(J)[2][J.shape[0] :]
    momentum = a.system.mass * (a.v - a.system.v_drawn)
    assert np.abs(Z @ momentum).max() < 1e-12 * np.abs(momentum).max()
    assert any("velocities changed by up to" in note for note in a.notes)


def test_consistent_velocities_stay():
    m = four_bar(speed=None)
    v = four_bar(speed=3.0).assemble().v
    for k, body in enumerate(m.bodies):
        body.v, body.omega = tuple(v[3 * k : 3 * k + 2]), float(v[3 * k + 2])
    a = m.assemble()
    np.testing.assert_allclose(a.v, v, atol=1e-14)
    assert not a.notes


def test_a_drive_through_a_dead_point_has_no_velocity():
    """The slider is pushed at the dead point of the crank: a position, but no finite velocity."""
    m = slider_crank(offset=0.0, angle=0.0, speed=None)
    m.add(pl.SlideDriver("push", m.ground.axis((0, 0), (1, 0)), m["slider"].point(0, 0), pl.Ramp(0.1, 0.45)))
    with pytest.raises(AssemblyError, match=r"no velocity satisfies .* the mechanism is in a limit position"):
        m.assemble()


def test_drivers_that_contradict_each_other_in_velocity():
    m = four_bar(speed=2.0)
    m.add(pl.AngleDriver("second", m.ground, m["crank"], pl.Ramp(2.5, 0.6)))
    with pytest.raises(AssemblyError, match=r"no velocity satisfies .* two drivers contradict each other"):
        m.assemble()


# --- redundancy ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [None, 2.0])
def test_a_redundant_parallelogram_closes(speed):
    a = disturb(parallelogram(3, speed=speed), 0.02).assemble()
    closed(a, 1e-14)
    assert a.pose("platform")[2] == pytest.approx(0.0, abs=1e-14)
    cranks = [a.pose(f"crank{k}")[2] for k in (1, 2, 3)]
    assert np.ptp(cranks) < 1e-14


def test_many_redundant_cranks_on_the_sparse_route():
    m = disturb(parallelogram(40), 0.005)
    a = m.assemble()
    assert a.system.nc > 150
    closed(a, 1e-12)


def test_a_redundant_drawing_that_does_not_fit_names_a_joint():
    m = parallelogram(3).without("A3")
    m.add(pl.Revolute("A3", m.ground.point(2.0, 0), m["crank3"]["A"]))  # 1.4 m beside its place
    with pytest.raises(AssemblyError, match=r"joint '[AB][123]' \(Revolute\) is open by"):
        m.assemble()


# --- gears, racks, cams: closed, but do they fit? ----------------------------------------------------------------------------


def test_wheels_that_do_not_touch_are_reported():
    m = planetary(mesh=True)
    assert not m.assemble().notes
    m["sun-planet"].radius_i = 0.07
    (note,) = m.assemble().notes
    assert note.startswith("GearMesh 'sun-planet': the centres are 0.1 m apart, but the pitch radii give 0.11 m")


def test_a_pinion_off_its_rack_is_reported():
    m = rack_pinion(0.05)
    m["teeth"].radius = 0.04
    (note,) = m.assemble().notes
    assert "the centre of the pinion is 0.05 m from the pitch line on its left, but its radius is 0.04 m" in note
    m["teeth"].radius, m["teeth"].side = 0.05, "right"
    (note,) = m.assemble().notes
    assert "is -0.05 m from the pitch line on its right" in note


def test_a_follower_past_the_end_of_its_curve_is_reported():
    m = pl.Model()
    track = pl.SplineCurve([(0, 0), (0.3, 0.1), (0.6, 0.1), (1, 0)], closed=False)
    for x, outside in ((0.5, False), (1.02, True)):
        m = pl.Model()
        cart = m.add(pl.Body("cart", 1.0, 0.1, r=(x, 0.0), phi=0.0))
        m.add(pl.PointOnCurve("wheel", m.ground, track, cart.point(0, 0)))
        m.add(pl.CoordinateDriver("x", cart, "x", x))
        a = m.assemble()
        closed(a)
        assert [n.startswith("PointOnCurve 'wheel': the contact lies past an end of the curve") for n in a.notes] == [
            True
        ] * outside


# --- size --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
def test_the_size_of_the_mechanism_does_not_matter(scale):
    def build(unit):
        m = four_bar(tuple(unit * x for x in (0.1, 0.3, 0.25, 0.3)), speed=4.0)
        m["rocker"].r = (m["rocker"].r[0] + 0.01 * unit, m["rocker"].r[1])
        m["coupler"].phi += 0.05
        return m.assemble()

    a, want = build(scale), build(1.0)
    unit = np.tile([scale, scale, 1.0], 3)
    np.testing.assert_allclose(a.q / unit, want.q, atol=1e-13)
    np.testing.assert_allclose(a.v / unit, want.v, atol=1e-12)


def test_a_mechanism_far_from_the_origin():
    m = four_bar(speed=None)
    for body in m.bodies:
        body.r = (body.r[0] + 1e5, body.r[1])
    for name in "AD":
        m[name].point_i = m.ground.point(m[name].point_i.s[0] + 1e5, 0.0)
    m["crank"].phi += 0.1
    a = m.assemble()
    assert a.residual < 1e-10  # the last digit of 1e5 m


@pytest.mark.parametrize("prepare", [lambda m: disturb(m, 0.05), lambda m: disturb(m, 0.4), forget])
def test_a_chain_of_1000_links(prepare):
    a = prepare(chain(1000)).assemble()
    closed(a, 1e-11)  # positions up to 1000 m: round-off 1e-13 each


def test_a_ladder_of_200_cells():
    a = disturb(ladder(200), 0.01).assemble()
    closed(a, 1e-12)
    assert a.system.nc > 800
