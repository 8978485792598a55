"""Kinematics against closed forms and published numbers; branches, limit and change points; compiled == NumPy."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planar as pl
from planar import backend
from tests.mechanisms import TEXTBOOK, apex, cam, chain, four_bar, planetary, quick_return, rack_pinion, slider_crank

BOOK = json.loads((Path(__file__).parent / "data" / "nikravesh_examples.json").read_text())
# residuals are rounding: a few 1e-16 times sizes of order 1 and a Jacobian of condition below 1e3
ROUND_OFF = 1e-12


@pytest.fixture(params=["compiled", "NumPy"])
def way(request, monkeypatch):
    """Both ways through the samples."""
    compiled = request.param == "compiled"
    if compiled and not backend.has_numba():
        pytest.skip("numba is not installed")
    if compiled:
        backend.compiled()
    monkeypatch.setattr(backend, "is_loaded", lambda: compiled)
    monkeypatch.setattr(backend, "has_numba", lambda: compiled)
    return request.param


def residuals(result):
    e = result.system.constraints(result.t, result.q, result.v)
    product = result.system.pattern.multiply
    return [np.abs(x).max() for x in (e.Phi, product(e.Phi_q, result.v) - e.nu, product(e.Phi_q, result.a) - e.gamma)]


def close(a, b, tol=ROUND_OFF):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= tol * (1 + np.abs(b).max())


# --- closed forms ----------------------------------------------------------------------------------------------------


def test_four_bar_in_closed_form(way):
    L1, L2, L3, L0 = 0.1, 0.3, 0.25, 0.3
    t = np.linspace(0, 2, 500)
    k = pl.kinematics(four_bar((L1, L2, L3, L0), angle=0.6, speed=2 * math.pi), t)
    theta = 0.6 + 2 * math.pi * t
    # Freudenstein: the triangle B C D, B the end of the crank
    B = L1 * np.stack([np.cos(theta), np.sin(theta)], -1)
    e = np.array([L0, 0.0]) - B
    s = np.hypot(*e.T)
    coupler = np.arctan2(e[:, 1], e[:, 0]) + np.arccos((L2**2 + s**2 - L3**2) / (2 * L2 * s))
    C = B + L2 * np.stack([np.cos(coupler), np.sin(coupler)], -1)
    close(k.point(k.model["coupler"]["C"]).r, C)
    rocker = np.arctan2(C[:, 1], C[:, 0] - L0)
    # w L1 R u(theta) + w2 L2 R u(coupler) = w3 L3 R u(rocker): dotted with u(coupler)
    w3 = 2 * math.pi * L1 * np.sin(coupler - theta) / (L3 * np.sin(coupler - rocker))
    close(k["rocker"].omega, w3)
    # Fourier derivative of the periodic omega over one turn: exact to round-off
    turn = pl.kinematics(k.model, np.arange(512) / 512)
    spectrum = np.fft.rfft(turn["rocker"].omega) * 2j * np.pi * np.arange(257)
    close(turn["rocker"].alpha, np.fft.irfft(spectrum), 1e-9)


def test_slider_crank_in_closed_form(way):
    r, l, e, w = 0.1, 0.35, 0.02, 10.0
    t = np.linspace(0, 1, 300)
    k = pl.kinematics(slider_crank(r, l, e, speed=w), t)
    th = 0.8 + w * t
    h = r * np.sin(th) - e
    root = np.sqrt(l**2 - h**2)
    close(k["slider"].r[:, 0], r * np.cos(th) + root)
    hd = r * w * np.cos(th)
    close(k["slider"].v[:, 0], -r * w * np.sin(th) - h * hd / root)
    hdd = -r * w * w * np.sin(th)
    xdd = -r * w * w * np.cos(th) - (hd * hd + h * hdd) / root - (h * hd) ** 2 / root**3
    close(k["slider"].a[:, 0], xdd)


def test_quick_return_in_closed_form(way):
    r, H, w = 0.1, 0.25, 5.0
    t = np.linspace(0, 1.5, 300)
    k = pl.kinematics(quick_return(r, H, speed=w, ram=False), t)
    th = 0.4 + w * t
    x, y = r * np.cos(th), H + r * np.sin(th)
    close(k["arm"].phi, np.arctan2(y, x))
    ratio = (r * r + r * H * np.sin(th)) / (x * x + y * y)
    close(k["arm"].omega, w * ratio)
    D = x * x + y * y
    slope = r * H * np.cos(th) / D - (r * r + r * H * np.sin(th)) * 2 * r * H * np.cos(th) / D**2
    close(k["arm"].alpha, w * w * slope)


@pytest.mark.parametrize("mesh", [False, True])
def test_planetary_gear_follows_willis(way, mesh):
    zs, zp = 0.06, 0.04
    t = np.linspace(0, 5, 200)
    k = pl.kinematics(planetary(zs, zp, mesh=mesh, speed=4.0), t)
    zr = zs + 2 * zp
    arm = 4.0 * zs / (zs + zr)  # Willis with the ring held
    close(k["arm"].omega, np.full(200, arm))
    close(k["planet"].omega, np.full(200, arm - (4.0 - arm) * zs / zp))
    assert abs(k["arm"].phi[-1] - 0.3 - arm * 5) < 1e-11, "angles count the turns"


def test_rack_and_pinion(way):
    k = pl.kinematics(rack_pinion(0.05, speed=3.0), np.linspace(0, 4, 100))
    # the pinion above the rack turns left: its lowest point, and the rack, move to the right
    close(k["rack"].r[:, 0], 0.05 * 3.0 * k.t)
    close(k["rack"].v[:, 0], np.full(100, 0.15))


def test_cam_with_eccentric_circle(way):
    R, e, w = 0.05, 0.02, 6.0
    t = np.linspace(0, 2, 200)
    k = pl.kinematics(cam(R, e, speed=w), t)
    th = w * t
    root = np.sqrt(R**2 - (e * np.cos(th)) ** 2)
    close(k["follower"].r[:, 1], e * np.sin(th) + root)
    v = e * w * np.cos(th) + e * e * w * np.sin(th) * np.cos(th) / root
    close(k["follower"].v[:, 1], v)
    num, den = e * e * w * np.sin(th) * np.cos(th), root
    num_d, den_d = e * e * w * w * np.cos(2 * th), e * e * w * np.sin(th) * np.cos(th) / root
    close(k["follower"].a[:, 1], -e * w * w * np.sin(th) + num_d / den - num * den_d / den**2, 1e-11)


# --- published numbers -----------------------------------------------------------------------------------------------


def book_slider_crank():
    data = BOOK["Ex5_1"]["parameters"]
    theta = math.radians(data["theta1_deg"])
    m = pl.Model("Ex. 5.1")
    crank = m.add(pl.Body.rod("crank", 1.0, data["L1"], phi=theta))
    rod = m.add(pl.Body.rod("rod", 1.0, data["L2"], start="B", end="C", phi=-0.4))
    slider = m.add(pl.Body("slider", 1.0, 1.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), crank["A"]))
    m.add(pl.Revolute("B", crank["B"], rod["B"]))
    m.add(pl.Revolute("C", rod["C"], slider.point(0, 0)))
    m.add(pl.Translational("slide", m.ground.axis((0, 0), (1, 0)), slider.axis((0, 0), (1, 0))))
    m.add(pl.AngleDriver("motor", m.ground, crank, pl.Ramp(data["omega1"], theta)))
    return m


def test_book_example_5_1(way):
    want = BOOK["Ex5_1"]["verified"]
    k = pl.kinematics(book_slider_crank(), [0.0, 0.01])
    got = k["rod"].phi[0], k["slider"].r[0, 0], k["rod"].omega[0], k["slider"].v[0, 0]
    close(got, [want[name] for name in ("theta2", "x", "theta2_d", "xd")], 1e-14)


def test_book_example_5_2(way):
    from tests.book import fourbar_5_2

    m, want = fourbar_5_2()
    k = pl.kinematics(m, [0.0])
    for body, name in (("coupler", "theta2"), ("rocker", "theta3")):
        close([k[body].phi[0], k[body].omega[0], k[body].alpha[0]], [want[name], want[name + "_d"], want[name + "_dd"]])
    P = k.point(m["coupler"]["P"])
    close([P.r[0], P.v[0], P.a[0]], [want["rP"], want["vP"], want["aP"]])
    close([k[b].a[0] for b in ("crank", "coupler", "rocker")], want["com_acc"])


# --- every mechanism -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTBOOK)
@pytest.mark.parametrize("samples", [3, 40, 1500])
def test_constraints_hold_to_round_off(way, name, samples):
    """Few samples are bridged by continuation; many run straight through."""
    k = pl.kinematics(
        TEXTBOOK[name](), np.linspace(0, 1.05, samples)
    )  # the parallelogram ends short of its change point
    assert k.success
    Phi, slip, jerk = residuals(k)
    assert Phi < ROUND_OFF and slip < 10 * ROUND_OFF and jerk < 100 * ROUND_OFF


@pytest.mark.parametrize("name", TEXTBOOK)
def test_both_ways_give_the_same(name, monkeypatch):
    if not backend.has_numba():
        pytest.skip("numba is not installed")
    backend.compiled()
    t = np.linspace(0, 1, 200)
    one = pl.kinematics(TEXTBOOK[name](), t)
    monkeypatch.setattr(backend, "has_numba", lambda: False)
    two = pl.kinematics(TEXTBOOK[name](), t)
    for x, y in zip((one.q, one.v, one.a), (two.q, two.v, two.a), strict=True):
        close(x, y, 1e-11)


def test_time_may_run_backward(way):
    m = four_bar()
    t = np.linspace(0, 1.7, 50)
    there = pl.kinematics(m, t)
    m2 = four_bar(angle=0.6 + 2 * math.pi * 1.7)
    m2["motor"].motion = pl.Ramp(2 * math.pi, 0.6)
    back = pl.kinematics(m2, t[::-1])
    turns = np.round((back.q - there.q[::-1]) / (2 * np.pi))
    close(back.q - 2 * np.pi * turns, there.q[::-1])
    close(back.a, there.a[::-1], 1e-11)


def test_one_time_and_equal_times(way):
    one = pl.kinematics(four_bar(), 0.3)
    assert one.q.shape == (1, 9)
    twice = pl.kinematics(four_bar(), [0.0, 0.3, 0.3])
    close(twice.q[1], twice.q[2], 1e-15)
    close(twice.q[2], one.q[0])


@settings(max_examples=15, deadline=None)
@given(angle=st.floats(-3, 3), x=st.floats(-5, 5), y=st.floats(-5, 5))
def test_motion_turns_and_shifts_with_the_world(angle, x, y):
    t = np.linspace(0, 0.4, 7)
    plain = pl.kinematics(slider_crank(), t)
    m = slider_crank()
    c, s = math.cos(angle), math.sin(angle)

    def moved(p):
        return (x + c * p[0] - s * p[1], y + s * p[0] + c * p[1])

    for body in m.bodies:
        body.r, body.phi = moved(body.r), body.phi + angle
    m["A"].point_i = m.ground.point(*moved((0, 0)))
    m["slide"].axis_i = m.ground.axis(moved((0, 0.02)), moved((1, 0.02)))
    m["motor"].motion = m["motor"].motion + angle
    turned = pl.kinematics(m, t)
    A = np.array([[c, -s], [s, c]])
    for body in ("crank", "rod", "slider"):
        close(turned[body].r, plain[body].r @ A.T + [x, y])
        close(turned[body].a, plain[body].a @ A.T, 1e-10)  # 5 m from the origin costs a digit of 1e-16 / 0.1
        close(turned[body].phi, plain[body].phi + angle)


# --- branches, limits, change points ---------------------------------------------------------------------------------


def test_limit_position_stops_with_what_was_computed(way):
    """A crank of 0.3 m, coupler and rocker 0.2 + 0.25 m, base 0.4 m: it reaches as far as the two lie in one line."""
    m = four_bar((0.3, 0.2, 0.25, 0.4), angle=0.2, speed=1.0)
    limit = math.acos((0.4**2 + 0.3**2 - 0.45**2) / (2 * 0.4 * 0.3))
    with pytest.warns(pl.PlanarWarning, match="cannot follow its drivers past t ="):
        k = pl.kinematics(m, np.linspace(0, 2, 50))
    assert not k.success and "'crank' at 78.58" in k.message
    event = k.events[-1]
    assert event.kind == "limit" and event.joint.split(".")[0] in {"A", "B", "C", "D"} and event.smallest < 1e-4
    assert abs(event.angle - limit) < 1e-9
    assert len(k) == 29 and k.t[-1] <= limit - 0.2
    assert residuals(k)[0] < ROUND_OFF


@pytest.mark.parametrize("samples", [5, 40, 1001])
def test_change_points_of_a_parallelogram_are_passed_on_the_same_branch(way, samples):
    m = four_bar((0.2, 0.4, 0.2, 0.4), angle=1.0, speed=1.0)
    t = np.linspace(0, 4 * np.pi, samples)
    t[np.argmin(np.abs(t - (np.pi - 1)))] = np.pi - 1  # one sample in the change point itself
    k = pl.kinematics(m, t)
    assert k.success
    close(k["coupler"].phi, np.zeros(samples), 1e-9)
    close(k["rocker"].phi, k["crank"].phi, 1e-9)
    close(k["rocker"].omega, np.ones(samples), 1e-6)
    singular = sorted(e.angle for e in k.events if e.kind == "singular")
    assert np.allclose(singular, np.pi * np.arange(1, 5), atol=1e-5)


def test_near_singular_positions_are_events(way):
    m = four_bar((0.2, 0.4, 0.2 + 1e-8, 0.4), angle=1.0, speed=1.0)
    k = pl.kinematics(m, np.linspace(0, 3, 3001))
    near = [e for e in k.events if e.kind == "near-singular"]
    assert near and abs(near[0].t - (np.pi - 1)) < 0.02 and near[0].smallest < 1e-3
    # not a change point: C stays on the same side of the line from B to D, so the parallelogram crosses over
    assert not [e for e in k.events if e.kind == "singular"]
    B = (0.2 * math.cos(4.0), 0.2 * math.sin(4.0))
    close(k.point(k.model["coupler"]["C"]).r[-1], apex(B, (0.4, 0.0), 0.4, 0.2 + 1e-8), 1e-9)


def test_a_follower_that_leaves_its_curve_stops_the_sweep():
    """A pin on a parabola from x = 0 to 1, driven along x with 1 m/s from 0.2."""
    m = pl.Model("track")
    cart = m.add(pl.Body("cart", 1.0, 0.1, r=(0.2, 0.04), phi=0.0))
    parabola = pl.FunctionCurve(("u", "u**2"), 0.0, 1.0)
    m.add(pl.PointOnCurve("track", m.ground, parabola, cart.point(0, 0)))
    m.add(pl.CoordinateDriver("x", cart, "x", pl.Ramp(1.0, 0.2)))
    m.add(pl.CoordinateDriver("phi", cart, "phi", 0.0))
    with pytest.warns(
        pl.PlanarWarning, match="contact of 'track' leaves the end of its curve between t = 0.75 and 1 s"
    ):
        k = pl.kinematics(m, np.linspace(0, 1, 5))
    assert len(k) == 4 and not k.success and k.events[-1].joint == "track"
    close(k["cart"].r[:, 1], (0.2 + k.t) ** 2)


def test_a_start_in_a_singular_position_is_refused():
    m = four_bar((0.2, 0.4, 0.2, 0.4), angle=3.0, speed=1.0)
    m["motor"].motion = pl.Ramp(1.0, math.pi)
    with pytest.raises((pl.SingularError, pl.ModelError), match=r"free|singular"):
        pl.kinematics(m, [0.0, 0.1])
    for name, x in (("crank", -0.1), ("coupler", 0.0), ("rocker", 0.3)):  # drawn in one line to the last digit
        m[name].r, m[name].phi = (x, 0.0), 0.0 if name == "coupler" else math.pi
    with pytest.raises(pl.ModelError, match=r"left free.*links in one line.*start at another time"):
        pl.kinematics(m, [0.0, 0.1])


def test_under_driven_names_the_free_motion_and_simulate():
    with pytest.raises(pl.ModelError, match=r"(?s)free.*'crank' turns.*simulate"):
        pl.kinematics(four_bar(speed=None), [0.0])


@pytest.mark.parametrize(
    "t, words",
    [([], "empty"), ([0, np.nan], r"t\[1\] is not finite"), ([0, 2, 1], "ascend or descend"), ("now", "list of times")],
)
def test_bad_times(t, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.kinematics(four_bar(), t)


def test_kinematics_knows_no_forces():
    k = pl.kinematics(four_bar(), [0.0])
    with pytest.raises(pl.ModelError, match="inverse_dynamics"):
        k.reaction("B")


def test_large_systems_step_with_sparse_solvers():
    """100 links, every pin driven: each link turns by the sum of the angles before it."""
    m = chain(100)
    before = m.ground
    for k, link in enumerate(m.bodies):
        m.add(pl.AngleDriver(f"drive{k}", before, link, pl.Harmonic(0.02, 2.0)))
        before = link
    k = pl.kinematics(m, np.linspace(0, 0.5, 4))
    close(k["link100"].phi, 100 * 0.02 * np.sin(2 * k.t), 1e-11)
    assert max(residuals(k)) < 1e-9


def test_user_constraint_and_redundant_rows(way):
    m = TEXTBOOK["parallelogram"]()
    m.add(pl.UserConstraint("again", [m["crank1"], m["crank2"]], lambda t, a, b: np.sin(a.phi - b.phi)))
    k = pl.kinematics(m, np.linspace(0, 1, 30))
    close(k["crank3"].phi, 0.9 + 2.0 * k.t)
    close(k["platform"].omega, np.zeros(30))


@pytest.mark.parametrize("t", [0.0, np.linspace(0, 1, 20)])
def test_joints_that_close_in_one_pose_only_are_refused(t):
    """A third crank of another length: redundant in the drawn pose by chance, and locked from there on."""
    m = three_cranks(0.3)
    with pytest.raises(pl.AssemblyError, match=r"no acceleration satisfies 'Ec\.y' at t = 0 s.*check the lengths"):
        pl.inverse_dynamics(m, t)
    assert pl.kinematics(three_cranks(0.2), t).success


def test_drivers_that_part_later_stop_the_sweep():
    m = three_cranks(0.2)
    m.add(pl.AngleDriver("second", m.ground, m["crank c"], motion=lambda t: np.pi / 2 + t + 0.1 * t**4))
    with pytest.warns(pl.PlanarWarning, match="'second.angle' opens by"):
        kin = pl.kinematics(m, np.linspace(0, 1, 50))
    assert not kin.success and len(kin) == 3 and kin.events[-1].kind == "limit"  # 0.1 t^4 L > 1e-6 L from t = 0.056 s
    kin.check(position=1e-6, velocity=1e-3, acceleration=1e-1)


def three_cranks(third):
    m = pl.Model("three cranks")
    bar = m.add(pl.Body("bar", 3.0, 0.2, r=(0.5, 0.2), phi=0, points={"a": (-0.5, 0), "b": (0, 0), "c": (0.5, 0)}))
    for k, x, L in zip("abc", (0.0, 0.5, 1.0), (0.2, third, 0.2), strict=True):
        crank = m.add(pl.Body.rod(f"crank {k}", 1.0, L, start="O", end="E", r=(x, 0.2 - L / 2), phi=np.pi / 2))
        m.add(pl.Revolute(f"O{k}", m.ground.point(x, 0.2 - L), crank["O"]))
        m.add(pl.Revolute(f"E{k}", crank["E"], bar[k]))
    m.add(pl.AngleDriver("motor", m.ground, m["crank a"], motion=pl.Ramp(1.0, np.pi / 2)))
    return m


def test_a_motion_that_runs_off_to_infinity_ends():
    m = four_bar(speed=None)
    m.add(pl.AngleDriver("wild", m.ground, m["crank"], motion="1/(t - 0.5)"))
    with pytest.warns(pl.PlanarWarning, match=r"cannot follow its drivers past t = 0\.4"):
        kin = pl.kinematics(m, [0.0, 0.25, 1000.0])
    assert len(kin) == 2
