"""Jets: derivatives against closed forms and the complex step, and errors that help."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planar.jet import _BINARY, _UNARY, Jet, arctan2, derivatives, hypot, variable

T = np.array([0.11, 0.37, 0.52, 0.83])
STEP = 1e-30  # complex step: no cancellation, so the truncation error STEP^2 is nothing

REAL_ONLY = {"cbrt", "fabs", "absolute", "arctan2", "hypot", "maximum", "minimum", "fmax", "fmin", "remainder"}
REAL_ONLY |= {"deg2rad", "rad2deg", "degrees", "radians"}


def inner(t):
    """A curved argument, so that the chain rule is tested in full; its range is inside (0, 1)."""
    return 0.3 + 0.4 * t * t


@pytest.mark.parametrize("ufunc", [u for u in _UNARY if u.__name__ not in REAL_ONLY], ids=lambda u: u.__name__)
def test_unary_functions_agree_with_the_complex_step(ufunc):
    shift = 1.0 if ufunc is np.arccosh else 0.0  # arccosh wants arguments above 1

    def f(t):
        return ufunc(inner(t) + shift)

    value, slope, bend = derivatives(f, T)
    np.testing.assert_allclose(value, f(T), rtol=1e-15)
    np.testing.assert_allclose(slope, f(T + 1j * STEP).imag / STEP, rtol=1e-13)
    # the second derivative is the complex step of the first: Jets of complex numbers
    np.testing.assert_allclose(bend, f(variable(T + 1j * STEP)).f1.imag / STEP, rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "df", "ddf"),
    [
        (np.cbrt, lambda t: t ** (-2 / 3) / 3, lambda t: -2 / 9 * t ** (-5 / 3)),
        (np.abs, np.sign, np.zeros_like),
        (lambda t: np.abs(-t), np.sign, np.zeros_like),
        (np.rad2deg, lambda t: np.full_like(t, 180 / np.pi), np.zeros_like),
        (np.deg2rad, lambda t: np.full_like(t, np.pi / 180), np.zeros_like),
        (lambda t: np.arctan2(np.sin(3 * t), np.cos(3 * t)), lambda t: np.full_like(t, 3.0), np.zeros_like),
        (lambda t: np.hypot(t, 1), lambda t: t / np.hypot(t, 1), lambda t: np.hypot(t, 1) ** -3.0),
        (lambda t: t % 0.2, np.ones_like, np.zeros_like),
        (lambda t: np.maximum(t * t, 0.1), lambda t: np.where(t * t > 0.1, 2 * t, 0), lambda t: 2.0 * (t * t > 0.1)),
        (lambda t: np.fmin(t, np.nan), np.ones_like, np.zeros_like),
        (lambda t: np.clip(t, 0.2, 0.6), lambda t: 1.0 * ((t > 0.2) & (t < 0.6)), np.zeros_like),
        (lambda t: t**t, lambda t: t**t * (1 + np.log(t)), lambda t: t**t * ((1 + np.log(t)) ** 2 + 1 / t)),
        (lambda t: 2**t, lambda t: 2**t * np.log(2), lambda t: 2**t * np.log(2) ** 2),
        (lambda t: 1 / t, lambda t: -1 / t**2, lambda t: 2 / t**3),
        (lambda t: (1 - t) / (1 + t), lambda t: -2 / (1 + t) ** 2, lambda t: 4 / (1 + t) ** 3),
        (lambda t: np.polyval([1, 2, 3], t), lambda t: 2 * t + 2, lambda t: np.full_like(t, 2.0)),
        (lambda t: np.where(t < 0.5, t, t**2), lambda t: np.where(t < 0.5, 1, 2 * t), lambda t: 2.0 * (t >= 0.5)),
        (lambda t: np.select([t < 0.5], [t], 3.0), lambda t: 1.0 * (t < 0.5), np.zeros_like),
        (
            lambda t: np.piecewise(t, [t < 0.5], [np.square, 0.0]),
            lambda t: 2 * t * (t < 0.5),
            lambda t: 2.0 * (t < 0.5),
        ),
        (lambda t: np.floor(9 * t) + np.sign(t), np.zeros_like, np.zeros_like),
        (lambda t: np.stack([t, 2 * t])[1], lambda t: np.full_like(t, 2.0), np.zeros_like),
    ],
)
def test_closed_forms(f, df, ddf):
    for got, expected in zip(derivatives(f, T), (f, df, ddf), strict=True):
        # atol: the second derivative of arctan2(sin 3t, cos 3t) is a difference of terms of size 9
        np.testing.assert_allclose(got, expected(T), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 2.0, 7])
@pytest.mark.parametrize("x", [0.0, -1.5, 2.0])
def test_integer_powers_are_exact_also_at_zero_and_below(n, x):
    f, f1, f2 = derivatives(lambda t: t**n, x)
    assert f == x**n
    assert f1 == (n * x ** (n - 1) if n else 0)
    assert f2 == (n * (n - 1) * x ** (n - 2) if n > 1 else 0)


def test_powers_of_zero_with_a_moving_exponent():
    assert [float(x) for x in derivatives(lambda t: 0.0**t, 2.0)] == [0, 0, 0]
    assert not np.isfinite(derivatives(lambda t: 0.0**t, 0.0)[1])  # a jump: loud, not invented


def test_every_binary_function_carries_complex_values():
    a, b = variable(T + 1j * STEP) * 1.3 + 0.2, np.sin(variable(T + 1j * STEP)) + 0.4
    for ufunc, rule in _BINARY.items():
        y = rule(a, b)
        real = rule(Jet(*(p.real for p in a.parts())), Jet(*(p.real for p in b.parts())))
        np.testing.assert_allclose(np.imag(y.f0) / STEP, real.f1, rtol=1e-12, err_msg=ufunc.__name__)
        np.testing.assert_allclose(np.imag(y.f1) / STEP, real.f2, rtol=1e-11, atol=1e-12, err_msg=ufunc.__name__)


def test_real_helpers_on_complex_numbers():
    z = 0.3 + 0.7j * STEP
    assert hypot(z, 0.4).imag / STEP == pytest.approx(0.7 * 0.3 / 0.5, rel=1e-14)
    assert arctan2(z, -0.4).real == np.arctan2(0.3, -0.4)
    assert arctan2(z, -0.4).imag / STEP == pytest.approx(-0.4 * 0.7 / 0.25, rel=1e-14)


def test_shapes_scalars_and_constants():
    for t in (0.5, np.float64(0.5), np.zeros(()), np.zeros((2, 3)), np.zeros(0), [1, 2, 3]):
        for f in (lambda t: 2 * t, lambda t: 5, lambda t: np.float64(5), lambda t: np.ones_like(t)):
            assert all(x.shape == np.shape(t) and x.dtype == float for x in derivatives(f, t))
    assert derivatives(lambda t: 5, [1, 2])[0].tolist() == [5.0, 5.0]


def test_masked_assignment_and_indexing():
    def f(t):
        y = np.zeros_like(t)
        y[t > 0.5] = np.sin(t[t > 0.5])
        return y

    on = T > 0.5
    for got, expected in zip(derivatives(f, T), (np.sin(T), np.cos(T), -np.sin(T)), strict=True):
        np.testing.assert_array_equal(got, np.where(on, expected, 0))


def test_arrays_of_jets_and_structural_functions():
    u = variable(T)
    xy = np.array([np.cos(u), np.sin(u)]) * u  # an object array of two Jets
    np.testing.assert_allclose(xy[1].f1, np.sin(T) + T * np.cos(T), rtol=1e-15)
    np.testing.assert_array_equal(np.sin(np.array([u]))[0].f1, np.cos(T))
    assert np.stack([variable(1.0), 2]).f1.tolist() == [1.0, 0.0]
    assert np.sum(variable(T) ** 2).f1 == pytest.approx(2 * T.sum())
    assert np.shape(u) == u.shape == (4,) and np.ndim(u) == 1 and np.size(u) == 4


@pytest.mark.parametrize("f", [lambda t: 1.0 if t < 0.5 else t**2, lambda t: max(t, 0.5) ** 2 if t >= 0.5 else 1.0])
def test_functions_that_branch_are_evaluated_one_by_one(f):
    value, slope, bend = derivatives(f, T.reshape(2, 2))
    late = T.reshape(2, 2) >= 0.5
    np.testing.assert_array_equal(value, np.where(late, T.reshape(2, 2) ** 2, 1))
    np.testing.assert_array_equal(slope, np.where(late, 2 * T.reshape(2, 2), 0))
    np.testing.assert_array_equal(bend, np.where(late, 2.0, 0))


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (math.sin, "math"),
        (lambda t: float(t), "math"),
        (lambda t: int(t), "math"),
        (lambda t: np.spacing(t), "np.spacing"),
        (lambda t: np.fft.fft(t), "np.fft"),
        (lambda t: np.add.reduce(t), "np.add.reduce"),
        (lambda t: np.sin(t, out=np.zeros(4)), "out="),
        (lambda t: np.convolve(t, t), "np.convolve"),
    ],
)
def test_what_cannot_be_differentiated_names_itself_and_the_remedy(f, name):
    for t in (0.5, T):
        with pytest.raises(TypeError, match=r"pl\.Function\(f, df, ddf\)") as error:
            derivatives(f, t)
        assert name in str(error.value)


def test_interp_points_to_table():
    with pytest.raises(TypeError, match=r"pl\.Table"):
        derivatives(lambda t: np.interp(t, [0, 1], [0, 1]), T)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda t: None, "returned None"),
        (lambda t: np.zeros(3), r"shape \(3,\)"),
        (lambda t: 1j * t, "complex"),
        (lambda t: "text", "expected numbers"),
    ],
)
def test_wrong_results_are_refused(f, text):
    with pytest.raises(TypeError, match=text):
        derivatives(f, T)


def test_singular_derivatives_are_not_finite_and_silent():
    value, slope, _ = derivatives(np.sqrt, np.array([0.0, 4.0]))
    assert value.tolist() == [0, 2] and np.isinf(slope[0]) and slope[1] == 0.25


def test_augmented_assignment():
    def f(t):
        y = np.sin(t)
        y += t * t
        y *= 2.0
        y -= 1
        y /= 4.0
        y **= 2
        return y

    t = np.linspace(0.1, 2, 7)
    g, g1, g2 = (np.sin(t) + t * t) / 2 - 0.25, (np.cos(t) + 2 * t) / 2, (2 - np.sin(t)) / 2
    for got, want in zip(derivatives(f, t), (g * g, 2 * g * g1, 2 * g1 * g1 + 2 * g * g2), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


def test_products_and_norms_of_vectors():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])

    def vector(t):
        return np.stack([t, t * t])

    t = 1.3
    want = (3 * t + 4 * t * t, 3 + 8 * t, 8.0)
    for f in (lambda t: (A @ vector(t))[1], lambda t: np.dot(A, vector(t))[1], lambda t: np.inner(vector(t), A[1])):
        np.testing.assert_allclose(derivatives(f, t), want, rtol=1e-14)
    square = (t**2 + t**4, 2 * t + 4 * t**3, 2 + 12 * t**2)
    for f in (lambda t: vector(t) @ vector(t), lambda t: np.linalg.norm(vector(t)) ** 2):
        np.testing.assert_allclose(derivatives(f, t), square, rtol=1e-14)
    np.testing.assert_allclose(derivatives(lambda t: np.outer(vector(t), vector(t))[0, 1], t), (t**3, 3 * t**2, 6 * t))
    with pytest.raises(TypeError, match="norm"):
        derivatives(lambda t: np.linalg.norm(vector(t), 1), t)
