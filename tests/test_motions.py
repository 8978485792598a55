"""Motions: exact derivatives, continuity, plain data, and errors with value and remedy."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from planar.errors import ModelError
from planar.jet import variable
from planar.motions import (
    LAWS,
    MOTIONS,
    Constant,
    Function,
    Harmonic,
    Motion,
    Polynomial,
    Ramp,
    Rise,
    StringMotion,
    Sum,
    Table,
    as_motion,
    from_dict,
)

T = np.linspace(0.13, 1.91, 23)
STEP = 1e-30  # complex step
GRID = np.linspace(0.0, 2.0, 41)

EXAMPLES = [
    Constant(3.0),
    Ramp(2.0, start=1.0),
    Harmonic(0.3, 5.0, phase=0.4, offset=1.0),
    Polynomial((1.0, -2.0, 0.5, 3.0, -1.0)),
    *(Rise(0.2, 0.5, 1.5, law=law, start=0.1) for law in LAWS),
    Table(GRID, np.sin(3 * GRID)),
    Table(GRID, np.sin(3 * GRID), degree=3),
    Table(GRID, np.cos(np.pi * GRID), periodic=True),
    StringMotion("pi/12*(1 - cos(pi/6*t)) + k*t**3", {"k": 0.5}),
    2 * Ramp(1.0) - Harmonic(0.1, 3.0) + 1.0,
]


def test_every_registered_motion_is_tested_here():
    assert {type(m) for m in EXAMPLES} == set(MOTIONS.values())


@pytest.mark.parametrize("motion", EXAMPLES, ids=repr)
class TestEveryMotion:
    def test_derivatives_agree_with_the_complex_step(self, motion):
        _, f1, f2 = motion.evaluate(T)
        z, z1, _ = motion.evaluate(T + 1j * STEP)
        np.testing.assert_allclose(z.imag / STEP, f1, rtol=1e-12, atol=1e-12 * np.abs(f1).max())
        np.testing.assert_allclose(z1.imag / STEP, f2, rtol=1e-12, atol=1e-12 * np.abs(f2).max())

    def test_shape_and_type(self, motion):
        for t in (0.7, np.zeros(()) + 0.7, T, T[:20].reshape(4, 5), np.zeros(0), [1, 2]):
            assert all(f.shape == np.shape(t) and f.dtype == float for f in motion.evaluate(t))
        assert motion(0.7) == motion.evaluate(0.7)[0] == motion.evaluate([0.1, 0.7])[0][1]

    def test_plain_data_and_back(self, motion):
        text = json.dumps(motion.to_dict())
        assert from_dict(json.loads(text)) == motion == as_motion(json.loads(text))
        assert hash(from_dict(json.loads(text))) == hash(motion)

    def test_chain_rule_on_a_jet(self, motion):
        y = motion(np.sin(variable(T)) ** 2)
        z = motion(np.sin(variable(T + 1j * STEP)) ** 2)
        np.testing.assert_allclose(z.f0.imag / STEP, y.f1, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(z.f1.imag / STEP, y.f2, rtol=1e-11, atol=1e-10)


def test_closed_forms():
    assert [float(x) for x in Ramp(2.0, 1.0).evaluate(3.0)] == [7, 2, 0]
    assert [float(x) for x in Polynomial([1, 2, 3]).evaluate(2.0)] == [17, 14, 6]
    a, w, p, o = 0.3, 5.0, 0.4, 1.0
    f, f1, f2 = Harmonic(a, w, p, o).evaluate(T)
    np.testing.assert_allclose(f, o + a * np.sin(w * T + p), rtol=1e-15)
    np.testing.assert_allclose(f1, a * w * np.cos(w * T + p), rtol=1e-15)
    np.testing.assert_allclose(f2, -w * w * (f - o), rtol=1e-12, atol=1e-14)


# peak speed and acceleration of a unit rise in unit time, in closed form
PEAKS = {
    "cycloidal": (2, 2 * np.pi),
    "345": (15 / 8, 10 / np.sqrt(3)),
    "4567": (35 / 16, 84 / (5 * np.sqrt(5))),
    "harmonic": (np.pi / 2, np.pi**2 / 2),
    "modified_sine": (4 * np.pi / (np.pi + 4), 4 * np.pi**2 / (np.pi + 4)),
    "modified_trapezoid": (2, 8 * np.pi / (np.pi + 2)),
}


@pytest.mark.parametrize("law", LAWS)
class TestRise:
    def test_peaks(self, law):
        _, v, a = Rise(1.0, 0.0, 1.0, law).evaluate(np.linspace(0, 1, 20001))
        # a grid misses a peak by at most a/2 (5e-5 / 2)^2 of its curvature
        np.testing.assert_allclose((v.max(), np.abs(a).max()), PEAKS[law], rtol=1e-7)

    def test_dwell_and_boundary_values(self, law):
        motion = Rise(0.2, 0.5, 1.5, law, start=0.1)
        for t in ([-1.0, 0.4999], [1.5001, 9.0]):
            f, f1, f2 = motion.evaluate(t)
            assert f.tolist() == pytest.approx([0.1 if t[0] < 0 else 0.3] * 2, rel=1e-15)
            assert not f1.any() and not f2.any()
        f, f1, _ = motion.evaluate([0.5, 1.0, 1.5])
        np.testing.assert_allclose(f, [0.1, 0.2, 0.3], rtol=1e-14)
        np.testing.assert_allclose(f1[[0, 2]], 0, atol=1e-14)

    def test_acceleration_is_continuous_where_the_law_says_so(self, law):
        if law == "harmonic":
            pytest.skip("jumps by design")
        # at the ends and at every junction of the piecewise laws (multiples of 1/8)
        joints = np.linspace(0, 1, 9)
        before, after = (Rise(1.0, 0.0, 1.0, law).evaluate(joints + d) for d in (-1e-9, 1e-9))
        for f, g in zip(before, after, strict=True):
            np.testing.assert_allclose(f, g, atol=2e-7)  # jerk 4 pi^2 .. 70 times 2e-9

    def test_symmetric_and_monotone(self, law):
        u = np.linspace(0, 1, 1001)
        s, s1, s2 = LAWS[law](u)
        np.testing.assert_allclose(s + s[::-1], 1, atol=1e-14)
        np.testing.assert_allclose(s2, -s2[::-1], atol=1e-12)
        assert s1.min() > -1e-13

    def test_speed_is_the_integral_of_acceleration(self, law):
        # Simpson on a fine grid whose nodes fall on the junctions: error h^4/180 s''''' < 1e-9
        u = np.linspace(0, 1, 1601)
        s, s1, s2 = LAWS[law](u)
        h = u[2] - u[0]
        for f, df in ((s, s1), (s1, s2)):
            np.testing.assert_allclose(np.diff(f[::2]), h / 6 * (df[:-2:2] + 4 * df[1::2] + df[2::2]), atol=1e-11)


class TestTable:
    def test_passes_through_the_points_and_converges(self):
        errors = []
        for n in (21, 41):
            t = np.linspace(0, 2, n)
            table = Table(t, np.sin(3 * t))
            np.testing.assert_allclose(table(t), np.sin(3 * t), atol=1e-14)
            x = np.linspace(0.4, 1.6, 500)
            errors.append(np.abs(table.evaluate(x)[2] + 9 * np.sin(3 * x)).max())
        assert np.log2(errors[0] / errors[1]) > 3.7  # a quintic spline: f'' of order 4

    def test_second_derivative_is_continuous(self):
        for degree in (3, 5):
            table = Table(GRID, np.sin(3 * GRID), degree=degree)
            breaks = table.pieces[0][1:-1]
            before, after = table.evaluate(breaks - 1e-9)[2], table.evaluate(breaks + 1e-9)[2]
            np.testing.assert_allclose(before, after, atol=1e-6)

    def test_periodic(self):
        table = Table(GRID, np.cos(np.pi * GRID), periodic=True)
        for f, g in zip(table.evaluate(T), table.evaluate(T - 8.0), strict=True):
            np.testing.assert_allclose(f, g, atol=1e-11)
        f, g = table.evaluate(-1e-10), table.evaluate(1e-10)
        np.testing.assert_allclose(f, g, atol=1e-7)

    def test_degree_follows_the_number_of_rows(self):
        assert Table(range(5), range(5)).degree == 3
        assert Table(range(6), range(6)).degree == 5
        np.testing.assert_allclose(Table(range(4), [0, 1, 8, 27])(1.5), 1.5**3, rtol=1e-13)

    def test_round_off_at_the_ends_is_forgiven_but_extrapolation_is_not(self):
        table = Table(GRID, GRID)
        assert table(2.0 + 1e-12) == pytest.approx(2.0)
        with pytest.raises(ModelError, match=r"t = 2.1 s lies outside Table\(41 rows, t = 0 .. 2 s\)"):
            table([1.0, 2.1])


class TestFunction:
    def test_derivatives_by_jet(self):
        f, f1, f2 = as_motion(lambda t: np.exp(-t) * np.sin(5 * t)).evaluate(T)
        e, s, c = np.exp(-T), np.sin(5 * T), np.cos(5 * T)
        np.testing.assert_allclose(f, e * s, rtol=1e-15)
        np.testing.assert_allclose(f1, e * (5 * c - s), rtol=1e-12)
        np.testing.assert_allclose(f2, e * (-24 * s - 10 * c), rtol=1e-12)

    def test_given_derivatives_allow_scalar_functions(self):
        for motion in (
            Function(math.sin, math.cos, lambda t: -math.sin(t)),
            Function(math.sin, np.cos),
            Function(np.sin, np.cos, lambda t: -np.sin(t)),
        ):
            for got, expected in zip(motion.evaluate(T), (np.sin(T), np.cos(T), -np.sin(T)), strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-15)

    def test_constant_and_branching_callables(self):
        assert [x.tolist() for x in as_motion(lambda t: 2).evaluate([1, 2])] == [[2, 2], [0, 0], [0, 0]]
        assert as_motion(lambda t: t**2 if t > 1 else t).evaluate([0.5, 2.0])[1].tolist() == [1, 4]

    def test_math_functions_give_the_remedy(self):
        with pytest.raises(ModelError, match=r"pl\.Function\(f, df, ddf\)"):
            as_motion(math.sin).evaluate(T)

    def test_it_cannot_be_stored(self):
        with pytest.raises(ModelError, match="write it as a string"):
            as_motion(np.sin).to_dict()


def test_arithmetic():
    a, b = Ramp(2.0), Harmonic(1.0, 3.0)
    for motion, expected in [
        (a + b, 2 * T + np.sin(3 * T)),
        (a - b, 2 * T - np.sin(3 * T)),
        (-a, -2 * T),
        (3 * a, 6 * T),
        (np.float64(3) * a, 6 * T),
        (1 - a, 1 - 2 * T),
        (a + "t**2", 2 * T + T**2),
        (2 * (a + b) + a, 6 * T + 2 * np.sin(3 * T)),
    ]:
        assert isinstance(motion, Sum)
        np.testing.assert_allclose(motion(T), expected, rtol=1e-14, atol=1e-14)
    assert (2 * (a + b)).terms == ((2.0, a), (2.0, b))
    with pytest.raises(TypeError):
        a * b


def test_as_motion_accepts_what_people_write():
    assert as_motion(Ramp(1.0)) == Ramp(1.0)
    assert as_motion(2) == as_motion(np.float32(2)) == Constant(2.0)
    assert as_motion("2*t") == StringMotion("2*t")
    assert as_motion("k*t", constants={"k": 2.0}).evaluate(1.0)[1] == 2.0
    assert isinstance(as_motion(np.sin), Function)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ramp(float("nan")), "rate of Ramp must be a finite number, got nan"),
        (lambda: Ramp("fast"), "rate of Ramp must be a finite number, got 'fast'"),
        (lambda: Ramp(True), "got True"),
        (lambda: Harmonic(1.0, float("inf")), "omega of Harmonic"),
        (lambda: Polynomial([]), "no coefficients"),
        (lambda: Polynomial([1, float("nan")]), r"coefficients of Polynomial \[1\]"),
        (lambda: Polynomial(3.0), "must be a list"),
        (lambda: Rise(1, 2, 1), "t0 = 2 s and t1 = 1 s; exchange them"),
        (lambda: Rise(1, 0, 1, law="cycloid"), "did you mean 'cycloidal'?"),
        (lambda: Rise(1, 0, 1, law=345), "did you mean '345'?"),
        (lambda: Table([0, 1, 3, 2, 4], range(5)), r"must increase, but t\[2\] = 3 s and t\[3\] = 2 s"),
        (lambda: Table(range(3), range(3)), "at least 4 rows, got 3"),
        (lambda: Table([], []), "got 0"),
        (lambda: Table(range(5), range(4)), "5 times but 4 values"),
        (lambda: Table(range(9), range(9), degree=4), "3 or 5, got 4"),
        (lambda: Table(range(9), range(9), periodic=True), "must end as it begins"),
        (lambda: Table(range(4), [0, 1, float("nan"), 2]), r"values of Table \[2\]"),
        (lambda: StringMotion("sin(w*t)"), "unknown name 'w'"),
        (lambda: Function(3.0), "must be callable"),
        (lambda: Function(np.sin, ddf=np.cos), "no df"),
        (lambda: Ramp(1.0) * float("nan"), "factor of a motion"),
        (lambda: as_motion(None), "expected a number"),
        (lambda: as_motion(True), "expected a number"),
        (lambda: as_motion(Ramp), "give an instance"),
        (lambda: from_dict({"type": "Ramb", "rate": 1}), "did you mean 'Ramp'?"),
        (lambda: from_dict({"type": "Ramp", "rat": 1}), "did you mean 'rate'?"),
        (lambda: from_dict({"type": "Ramp"}), "Ramp needs rate, start"),
        (lambda: from_dict({}), "unknown type of motion None"),
        (lambda: as_motion("1/t").evaluate([1.0, 0.0]), "value of .* is inf at t = 0 s"),
        (lambda: as_motion("sqrt(t)").evaluate(0.0), "first derivative of .* at t = 0 s"),
        (lambda: Ramp(1.0).evaluate(float("nan")), "at t = nan s"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_errors_of_as_motion_name_the_owner():
    with pytest.raises(ModelError, match=r"motion of driver 'motor': .*did you mean"):
        as_motion("sn(t)", "motion of driver 'motor'")


def test_all_problems_of_a_table_come_at_once():
    with pytest.raises(ModelError) as error:
        Table([0, 0], [1, 2, 3])
    assert len(error.value.problems) == 3


def test_a_new_motion_registers_itself():
    class Halt(Motion):
        pass

    try:
        assert MOTIONS["Halt"] is Halt is Motion.MOTIONS["Halt"]
    finally:
        del MOTIONS["Halt"]
