"""Curves: derivatives, foot of the perpendicular, signed distance and its second derivative, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planar.curves import CURVES, Curve, FunctionCurve, SplineCurve, circle, curve_from_dict, polar
from planar.errors import ModelError
from planar.motions import Constant, Rise

STEP = 1e-30  # complex step


def ellipse(u):
    return 2 * np.cos(u), np.sin(u)


def ellipse_points(n, uneven=0.0):
    k = np.arange(n)
    return np.column_stack(ellipse(2 * np.pi * (k + uneven * np.sin(7 * k)) / n))


def wave(u):
    return u, 0.3 * np.sin(2 * u)


CLOSED = {
    "circle": circle(0.8, (0.2, -0.1)),
    "ellipse": FunctionCurve(ellipse, 0.0, 2 * np.pi, True),
    "spline": SplineCurve(ellipse_points(24, 0.1)),
    "polar": polar("1 + 0.2*cos(2*u)"),
    "cam": polar(Constant(1.0) + Rise(0.3, 0.5, 2.0) + Rise(-0.3, 3.5, 5.5)),
    "clockwise": FunctionCurve(lambda u: np.stack([np.cos(u), -1.5 * np.sin(u)]), 0.0, 2 * np.pi, True),
}
OPEN = {
    "wave": FunctionCurve(wave, -2.0, 2.0),
    "open spline": SplineCurve(np.column_stack(wave(np.linspace(-2, 2, 25))), closed=False),
    "short spline": SplineCurve([(0, 0), (1, 0.2), (2, 0), (3, 0.4)], closed=False),
}
ALL = {**CLOSED, **OPEN}


def near(curve: Curve, n: int = 200, width: float = 0.1, seed: int = 0):
    """Points beside the curve, well inside its radius of curvature, with their parameter and signed distance."""
    rng = np.random.default_rng(seed)
    span = curve.u1 - curve.u0
    u = rng.uniform(curve.u0 + 0.05 * span, curve.u1 - 0.05 * span, n)
    c, c1, _ = curve.evaluate(u)
    normal = np.column_stack([-c1[:, 1], c1[:, 0]]) / np.hypot(*c1.T)[:, None]
    Phi = rng.uniform(-width, width, n)
    return u, Phi, *(c + Phi[:, None] * normal).T


@pytest.mark.parametrize("name", ALL)
class TestEveryCurve:
    def test_derivatives_agree_with_the_complex_step(self, name):
        curve = ALL[name]
        span = curve.u1 - curve.u0
        u = np.linspace(curve.u0 - 0.2 * span, curve.u1 + 0.2 * span, 57)  # also past the ends
        _, c1, c2 = curve.evaluate(u)
        z, z1, _ = curve.evaluate(u + 1j * STEP)
        np.testing.assert_allclose(z.imag / STEP, c1, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(z1.imag / STEP, c2, rtol=1e-12, atol=1e-11)

    def test_the_foot_is_found_to_round_off(self, name):
        curve = ALL[name]
        u, Phi, x, y = near(curve)
        got, nx, ny, _, foot = curve.signed_distance(x, y)
        np.testing.assert_allclose(foot, u, atol=1e-13 * max(1, curve.u1))
        np.testing.assert_allclose(got, Phi, atol=2e-15)
        np.testing.assert_allclose(np.hypot(nx, ny), 1, rtol=1e-15)
        np.testing.assert_array_equal(curve.inside(foot), True)

    def test_no_point_of_the_outline_is_nearer(self, name):
        curve = ALL[name]
        rng = np.random.default_rng(1)
        middle = curve.outline().mean(axis=0)
        x, y = (middle + rng.uniform(-3, 3, (300, 2))).T
        u = curve.project(x, y)
        c = curve.evaluate(u)[0]
        distance = np.hypot(x - c[:, 0], y - c[:, 1])
        outline = curve.outline(2001)
        nearest = np.hypot(x[:, None] - outline[:, 0], y[:, None] - outline[:, 1]).min(axis=1)
        on = np.broadcast_to(curve.inside(u), u.shape)  # past the ends of an open curve there is no perpendicular
        assert on.sum() > 50
        # grid and outline disagree at most by the sagitta of the coarse grid, at points halfway between two branches
        assert np.all(distance[on] <= nearest[on] + 1e-3)
        assert np.mean(distance[on] <= nearest[on] + 1e-12) > 0.97

    def test_gradient_is_the_normal_by_complex_step(self, name):
        curve = ALL[name]
        _, _, x, y = near(curve, 40)
        _, nx, ny, _, _ = curve.signed_distance(x, y)
        np.testing.assert_allclose(curve.signed_distance(x + 1j * STEP, y)[0].imag / STEP, nx, atol=1e-13)
        np.testing.assert_allclose(curve.signed_distance(x, y + 1j * STEP)[0].imag / STEP, ny, atol=1e-13)

    def test_second_derivative_of_the_distance(self, name):
        # p moves with velocity w and no acceleration: Phi'' = d/dt (n . w) = -kappa (t . w)^2 / (1 - kappa Phi)
        curve = ALL[name]
        _, _, x, y = near(curve, 40)
        wx, wy = 0.7, -1.3
        Phi, nx, ny, kappa, _ = curve.signed_distance(x, y)
        along = ny * wx - nx * wy  # t = -R n
        expected = -kappa * along**2 / (1 - kappa * Phi)
        _, mx, my, _, _ = curve.signed_distance(x + 1j * STEP * wx, y + 1j * STEP * wy)
        np.testing.assert_allclose((mx * wx + my * wy).imag / STEP, expected, rtol=1e-11, atol=1e-12)
        h = 1e-4  # and by central differences of Phi itself: truncation h^2 Phi''''/12, round-off 4e-16/h^2
        after, before = (curve.signed_distance(x + s * h * wx, y + s * h * wy)[0] for s in (1, -1))
        np.testing.assert_allclose((after - 2 * Phi + before) / h**2, expected, atol=2e-4)

    def test_batches_scalars_and_shapes(self, name):
        curve = ALL[name]
        _, _, x, y = near(curve, 12)
        batch = curve.signed_distance(x.reshape(3, 4), y.reshape(3, 4))
        for k in range(12):
            single = curve.signed_distance(x[k], y[k])
            np.testing.assert_allclose([np.ravel(b)[k] for b in batch], single, rtol=1e-12, atol=1e-12)
            assert all(np.ndim(s) == 0 for s in single)
        assert curve.project(x[:, None], y).shape == (12, 12)

    def test_hint_agrees_with_the_global_search_nearby(self, name):
        curve = ALL[name]
        u, _, x, y = near(curve)
        span = curve.u1 - curve.u0
        np.testing.assert_allclose(curve.project(x, y, hint=u + 0.02 * span), u, atol=1e-12 * max(1, span))

    def test_as_spline_follows_the_curve(self, name):
        curve = ALL[name]
        spline = curve.as_spline(240)
        x, y = spline.outline(997).T
        # order 6 where the curve is smooth; 5 on a spline, whose fifth derivative jumps; 3 on the cam, whose jerk jumps
        tolerance = {"spline": 1e-7, "cam": 1e-6}.get(name, 1e-8)
        assert np.abs(curve.signed_distance(x, y)[0]).max() < tolerance
        assert spline.length == pytest.approx(curve.length, rel=1e-6)


class TestClosed:
    def test_circle_in_closed_form(self):
        curve = circle(2.0, (1.0, 1.0))
        x, y = np.random.default_rng(2).uniform(-5, 5, (2, 500))
        Phi, nx, ny, kappa, u = curve.signed_distance(x, y)
        r = np.hypot(x - 1, y - 1)
        np.testing.assert_allclose(Phi, 2 - r, atol=1e-14)  # counter-clockwise: the inside is on the left
        np.testing.assert_allclose(kappa, 0.5, rtol=1e-13)
        np.testing.assert_allclose([nx, ny], [(1 - x) / r, (1 - y) / r], atol=1e-13)
        assert np.all((u >= 0) & (u < 2 * np.pi))
        assert curve.length == pytest.approx(4 * np.pi, rel=1e-14)

    def test_direction_turns_the_sign(self):
        clockwise = CLOSED["clockwise"]
        Phi, _, _, kappa, _ = clockwise.signed_distance(0.1, 0.1)
        assert Phi < 0 and kappa < 0

    @pytest.mark.parametrize("name", CLOSED)
    def test_periodic_and_smooth_over_the_seam(self, name):
        curve = CLOSED[name]
        period = curve.u1 - curve.u0
        u = curve.u0 + np.array([-1e-9, 0.3, 0.5]) * period
        for k in (1, -3):
            for a, b in zip(curve.evaluate(u), curve.evaluate(u + k * period), strict=True):
                np.testing.assert_allclose(a, b, atol=1e-11)
        for a, b in zip(curve.evaluate(curve.u0 - 1e-9), curve.evaluate(curve.u0 + 1e-9), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-7)

    def test_hint_counts_the_turns(self):
        curve, u = CLOSED["ellipse"], 0.0
        for angle in np.linspace(0, 6 * np.pi, 200):
            last, u = u, curve.project(2.1 * np.cos(angle), 1.1 * np.sin(angle), hint=u)
            assert abs(u - last) < 0.2
        assert u == pytest.approx(6 * np.pi, abs=1e-12)

    def test_hint_stays_on_its_branch(self):
        curve = CLOSED["ellipse"]
        # just above the long axis the upper side is nearer; coming from below, the lower foot is followed
        assert np.sin(curve.project(0.3, 0.05)) > 0
        assert np.sin(curve.project(0.3, 0.05, hint=-np.pi / 2)) < 0

    def test_the_centre_of_a_circle_gives_no_nan(self):
        assert circle(1.0).signed_distance(0.0, 0.0)[0] == pytest.approx(1.0)


class TestOpen:
    def test_past_the_ends(self):
        curve = OPEN["wave"]
        u = curve.project(*curve.evaluate(np.array([-2.05, 0.0, 2.05]))[0].T)
        np.testing.assert_allclose(u, [-2.05, 0, 2.05], atol=1e-12)
        assert curve.inside(u).tolist() == [False, True, False]
        assert np.all(np.isfinite(curve.signed_distance([-9.0, 9.0], [5.0, -5.0])))

    def test_evaluation_past_the_ends_is_smooth(self):
        for curve in OPEN.values():
            for end in (curve.u0, curve.u1):
                for a, b in zip(curve.evaluate(end - 1e-9), curve.evaluate(end + 1e-9), strict=True):
                    np.testing.assert_allclose(a, b, atol=1e-7)


class TestSpline:
    def test_passes_through_its_points(self):
        points = ellipse_points(24, 0.1)
        Phi = SplineCurve(points).signed_distance(*points.T)[0]
        np.testing.assert_allclose(Phi, 0, atol=1e-15)

    def test_order_of_convergence_on_uneven_points(self):
        exact, errors = CLOSED["ellipse"], []
        for n in (40, 80, 160):
            spline = SplineCurve(ellipse_points(n, 0.1))
            x, y = spline.outline(3001).T
            Phi, _, _, kappa, _ = exact.signed_distance(x, y)
            errors.append((np.abs(Phi).max(), np.abs(kappa - spline.signed_distance(x, y)[3]).max()))
        place, bend = np.log2(np.array(errors[:-1]) / np.array(errors[1:])).mean(axis=0)
        assert place > 5.5 and bend > 3.7  # quintic: 6 and 4

    def test_parameter_is_the_arc_length(self):
        spline = SplineCurve(ellipse_points(80, 0.1))
        np.testing.assert_allclose(np.hypot(*spline.evaluate(np.linspace(0, spline.u1, 500))[1].T), 1, atol=1e-4)
        assert spline.length == pytest.approx(spline.u1, rel=1e-6)
        assert spline.length == pytest.approx(CLOSED["ellipse"].length, rel=1e-6)

    def test_arrays_for_compiled_loops(self):
        spline = SplineCurve(ellipse_points(24))
        assert spline.breaks.shape == (25,) and spline.coeffs.shape == (24, 6, 2)
        u = 0.5 * (spline.breaks[7] + spline.breaks[8])
        by_hand = sum(spline.coeffs[7, j] * (u - spline.breaks[7]) ** j for j in range(6))
        np.testing.assert_allclose(spline.evaluate(u)[0], by_hand, rtol=1e-14)

    def test_four_derivatives_are_continuous(self):
        spline = SplineCurve(ellipse_points(24, 0.1))
        c, h = spline.coeffs, np.diff(spline.breaks)[:, None]
        third = 6 * c[:, 3] + 24 * c[:, 4] * h + 60 * c[:, 5] * h**2  # at the end of each piece
        fourth = 24 * c[:, 4] + 120 * c[:, 5] * h
        np.testing.assert_allclose(third, 6 * np.roll(c[:, 3], -1, axis=0), atol=1e-9)
        np.testing.assert_allclose(fourth, 24 * np.roll(c[:, 4], -1, axis=0), atol=1e-8)

    def test_the_last_point_may_repeat_the_first(self):
        points = ellipse_points(24)
        np.testing.assert_array_equal(SplineCurve([*points, points[0]]).coeffs, SplineCurve(points).coeffs)

    def test_points_are_not_changed_nor_kept_by_reference(self):
        points = ellipse_points(24)
        spline, before = SplineCurve(points), points.copy()
        np.testing.assert_array_equal(points, before)
        points[0] = 9.0
        np.testing.assert_array_equal(spline.points, before)

    @settings(max_examples=25, deadline=None)
    @given(st.floats(-np.pi, np.pi), st.tuples(st.floats(-3, 3), st.floats(-3, 3)), st.floats(0.01, 100))
    def test_results_turn_shift_and_scale_with_the_world(self, angle, shift, scale):
        A = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        points = ellipse_points(24, 0.1)
        _, _, x, y = near(CLOSED["spline"], 20)
        Phi, nx, ny, kappa, _ = CLOSED["spline"].signed_distance(x, y)
        moved = SplineCurve(scale * points @ A.T + shift)
        p = scale * np.column_stack([x, y]) @ A.T + shift
        Phi2, nx2, ny2, kappa2, _ = moved.signed_distance(*p.T)
        size = 1 + max(map(abs, shift)) / scale  # a shift costs digits
        np.testing.assert_allclose(Phi2 / scale, Phi, atol=1e-13 * size)
        np.testing.assert_allclose(np.column_stack([nx2, ny2]), np.column_stack([nx, ny]) @ A.T, atol=1e-10 * size)
        np.testing.assert_allclose(kappa2 * scale, kappa, atol=1e-8 * size)


@pytest.mark.parametrize("curve", [SplineCurve(ellipse_points(8)), OPEN["short spline"], circle(0.5, (1, 2))], ids=repr)
def test_plain_data_and_back(curve):
    again = curve_from_dict(json.loads(json.dumps(curve.to_dict())))
    np.testing.assert_array_equal(again.outline(), curve.outline())
    assert type(again) is type(curve) and set(CURVES) >= {"SplineCurve", "FunctionCurve"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SplineCurve([(0, 0), (1, 0), (0, 1)]), "at least 4 different points, got 3"),
        (lambda: SplineCurve([(0, 0), (1, 0), (0, 1), (0, 0)]), "got 3"),
        (lambda: SplineCurve([(0, 0), (1, 1), (1, 1), (0, 1)]), r"points 1 and 2 .* coincide at \(1, 1\)"),
        (lambda: SplineCurve([(0, 0), (1, 1), (1, np.nan), (0, 1)]), r"point 2 .* is \(1, nan\)"),
        (lambda: SplineCurve([1, 2, 3, 4]), r"shape \(n, 2\), got \(4,\)"),
        (lambda: SplineCurve("circle"), "points must be a list"),
        (lambda: SplineCurve([(0, 0), (1, 1), (1, 0), (0, 1)]), "crosses itself near"),
        (lambda: FunctionCurve(lambda u: (np.sin(u), np.sin(2 * u)), 0, 2 * np.pi, True), r"crosses itself near"),
        (lambda: FunctionCurve(wave, -2, 2, closed=True), "do not meet; give closed=False"),
        (lambda: polar("1 + 0.1*abs(u - pi)"), "kink where it closes"),
        (lambda: FunctionCurve(lambda u: (u**3, u**3), -1, 1), "stands still at u = 0"),
        (lambda: FunctionCurve(lambda u: (u, np.sqrt(u)), 0, 1), "no finite value and derivatives at u = 0"),
        (lambda: FunctionCurve(lambda u: u, 0, 1), r"must return \(x, y\)"),
        (lambda: FunctionCurve(lambda u: None, 0, 1), r"must return \(x, y\), got None"),
        (lambda: FunctionCurve(wave, 1, 0), "u0 < u1, got 1 and 0"),
        (lambda: FunctionCurve(wave, 0, np.inf), "finite"),
        (lambda: FunctionCurve("u", 0, 1), "two strings"),
        (lambda: FunctionCurve(("u", "sn(u)"), 0, 1), "did you mean 'sin'?"),
        (lambda: circle(0.0), "radius of a circle must be positive, got 0.0"),
        (lambda: circle(1.0).project(np.nan, 0.0), "not finite"),
        (lambda: CLOSED["ellipse"].to_dict(), "cannot be stored"),
        (lambda: curve_from_dict({"type": "Circle"}), "unknown type of curve 'Circle'"),
        (lambda: curve_from_dict({"type": "SplineCurve", "pts": []}), "pts"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ModelError, match=message):
        make()
