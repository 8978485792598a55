"""The models of tests/reference_models.py against their published initial states: before anything moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import planar as pl
from planar.linear import kkt_solver
from tests.reference_models import (
    ANDREWS_ANGLES,
    andrews,
    car_axis,
    chain,
    n_four_bar,
    pendulum,
    reference,
    slider_crank,
)

MODELS: dict[str, Callable[[], pl.Model]] = {
    "pendulum": pendulum,
    "1 four-bar": lambda: n_four_bar(1),
    "40 four-bars": lambda: n_four_bar(40),
    "andrews": andrews,
    "slider-crank": slider_crank,
    "car axis": car_axis,
    "chain": lambda: chain(30),
}


def accelerations(system: pl.System) -> tuple[np.ndarray, np.ndarray]:
    """a, lam at t = 0 in the drawn state, straight from the KKT system."""
    q, v = system.q_drawn, system.v_drawn
    e = system.constraints(0.0, q, v)
    return kkt_solver(system.pattern, system.mass).factor(e.Phi_q).solve(system.forces(0.0, q, v), e.gamma)


@pytest.mark.parametrize("name", MODELS)
def test_published_start_is_consistent(name: str) -> None:
    """Positions and velocities as published close every joint to round-off."""
    system = pl.compile(MODELS[name]())
    e = system.constraints(0.0, system.q_drawn, system.v_drawn)
    slip = system.pattern.multiply(e.Phi_q, system.v_drawn) - e.nu
    size = 1.0 + np.abs(system.q_drawn).max()
    assert np.abs(e.Phi).max() < 1e-15 * size
    assert np.abs(slip).max() < 1e-15 * size


@pytest.mark.parametrize("name", MODELS)
def test_degrees_of_freedom(name: str) -> None:
    """Rows are independent; the point masses of the car axis turn freely beside its two freedoms."""
    system = pl.compile(MODELS[name]())
    J = system.pattern.to_dense(system.constraints(0.0, system.q_drawn).Phi_q)
    assert np.linalg.matrix_rank(J) == system.nc
    assert system.nq - system.nc == {"chain": 30, "car axis": 4}.get(name, 1)


def test_andrews_start() -> None:
    """Accelerations and multipliers of the test set at t = 0, and every reaction of the Cartesian solution."""
    data, system = reference("andrews"), pl.compile(andrews())
    a, lam = accelerations(system)
    published = dict(zip(data["initial"]["angles"], map(float, data["initial"]["accelerations"]), strict=True))
    expected = [sum(published[name] for name in names) for names in ANDREWS_ANGLES.values()]
    np.testing.assert_allclose(a[2::3], expected, rtol=1e-12, atol=1e-8)  # rad/s^2, of 14222
    row = data["table"][0]
    np.testing.assert_allclose(system.q_drawn, row["q"], rtol=0, atol=1e-16)
    for pin, force in row["reactions"].items():
        np.testing.assert_allclose(lam[system.rows_of[pin]], force, rtol=1e-12, atol=1e-11, err_msg=pin)
    published = [float(x) for x in data["initial"]["lambdas"]]
    ours = np.concatenate([lam[system.rows_of[pin]] for pin in ("E23", "E24", "E26")])
    np.testing.assert_allclose(ours, published, rtol=1e-12, atol=1e-11)


def test_slider_crank_start() -> None:
    verified = reference("slidercrank")["verified"]
    row = dict(zip(verified["columns"], verified["rows"][0], strict=True))
    system = pl.compile(slider_crank())
    a, lam = accelerations(system)
    np.testing.assert_allclose(a[[2, 3, 5]], [row["qdd"], row["xdd"], row["pdd"]], rtol=0, atol=1e-14)
    # force on the second body is -lambda; n = (0, 1) for the slider
    ours = -lam[system.rows_of["A"].start :]
    np.testing.assert_allclose(ours, [row["FAx_on_rod"], row["FAy_on_rod"], row["N_slider_on_rod"]], rtol=1e-14)
    np.testing.assert_allclose(-lam[:2], [row["FOx_on_crank"], row["FOy_on_crank"]], rtol=1e-14)


def test_car_axis_start() -> None:
    """At rest length both springs are slack: the masses fall freely, no multiplier acts."""
    system = pl.compile(car_axis())
    a, lam = accelerations(system)
    g = reference("caraxis")["parameters"]["g"]
    np.testing.assert_allclose(a, [0, 0, 0, 0, -g, 0, 0, -g, 0], atol=1e-15)
    np.testing.assert_allclose(lam, reference("caraxis")["y0"][8] * np.ones(system.nc), atol=1e-16)


@pytest.mark.parametrize("N", [1, 2, 40])
def test_n_four_bar_start(N: int) -> None:
    """theta'' of the one-degree-of-freedom equation, just off the upright position."""
    system = pl.compile(n_four_bar(N))
    theta, bars = 1.3, 2 * N + 1
    q = system.q_drawn.copy().reshape(-1, 3)
    upright, level = slice(0, bars, 2), slice(1, bars, 2)
    k = np.arange(N + 1)
    q[upright] = np.stack([k + 0.5 * np.cos(theta), 0.5 * np.sin(theta) + 0 * k, theta + 0 * k], axis=1)
    q[level, :2] = np.stack([k[:-1] + 0.5 + np.cos(theta), np.sin(theta) + 0 * k[:-1]], axis=1)
    e = system.constraints(0.0, q.ravel())
    assert np.abs(e.Phi).max() < 1e-14 * (N + 1)
    rest = np.zeros(system.nq)
    a, _ = kkt_solver(system.pattern, system.mass).factor(e.Phi_q).solve(system.forces(0.0, q.ravel(), rest), e.gamma)
    expected = -9.81 * np.cos(theta) * ((N + 1) / 2 + N) / ((N + 1) / 3 + N)
    np.testing.assert_allclose(a[2::6], expected, rtol=1e-12)
