"""Forward dynamics against published and verified reference solutions (tests/data), and against itself.

Tolerances: what is asked for by the source where it states one, otherwise a few times what was measured, with the reason.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import planar as pl
from planar.forward_arrays import _envelope
from tests.mechanisms import four_bar, random_mechanism
from tests.reference_models import (
    ANDREWS_ANGLES,
    andrews,
    andrews_pin,
    car_axis,
    chain,
    n_four_bar,
    pendulum,
    reference,
    slider_crank,
)

EXPLICIT = ("projection", "partition", "nullspace", "baumgarte")
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def run(model: pl.Model, t: Any, **options: Any) -> Any:
    """Simulate and sample at the times t, which must be reached."""
    t = np.atleast_1d(np.asarray(t, float))
    result = pl.simulate(model, (0.0, float(t[-1])), t_eval=t, **options)
    assert result.success, result.message
    np.testing.assert_array_equal(result.t, t)
    return result


# --- Andrews' squeezer -----------------------------------------------------------------------------------------------


def andrews_errors(**options: Any) -> tuple[float, float, float]:
    """Largest error at t = 0.03 s: angles in rad, angular velocities and reactions relative."""
    data, result = reference("andrews"), run(andrews(), 0.03, **options)
    exact = np.array(data["verified_bodies_t003"], float)
    verified = {name: float(value) for name, value in data["verified_t003"].items()}
    omega = np.array([sum(verified[f"{a}_d"] for a in names) for names in ANDREWS_ANGLES.values()])
    angle = np.abs(result.q[-1, 2::3] - exact[:, 2]).max()
    rate = (np.abs(result.v[-1, 2::3] - omega) / np.maximum(1.0, np.abs(omega))).max()
    first = {andrews_pin(*pin): pin[1] for pin in data["cartesian"]["revolutes"]}
    force = 0.0
    for pin, value in data["reactions_t003"].items():
        ours = result.reaction(pin, on=first[pin]).force[-1]
        force = max(force, float(np.linalg.norm(ours - value) / np.linalg.norm(value)))
    return float(angle), float(rate), force


@pytest.mark.parametrize("method", ["projection", "partition", "nullspace"])
def test_andrews_to_the_last_digits(method: str) -> None:
    """The verified solution is good to 1e-11 in the angles; asked for: 1e-9, 1e-8, 1e-7."""
    angle, rate, force = andrews_errors(method=method, **TIGHT)
    assert angle < 1e-9
    assert rate < 1e-8
    assert force < 1e-7


def test_andrews_along_the_way() -> None:
    """Poses, velocities and every reaction at t = 5, 10, ... 30 ms."""
    rows = reference("andrews")["table"][1:]
    result = run(andrews(), [row["t"] for row in rows], **TIGHT)
    np.testing.assert_allclose(result.q, [row["q"] for row in rows], rtol=0, atol=1e-9)
    speed = np.abs([row["v"] for row in rows]).max()
    np.testing.assert_allclose(result.v, [row["v"] for row in rows], rtol=0, atol=1e-9 * speed)
    for k, row in enumerate(rows):
        for pin, force in row["reactions"].items():
            ours = result.lam[k, result.system.rows_of[pin]]
            assert np.linalg.norm(ours - force) < 1e-7 * np.linalg.norm(force) + 1e-9, (pin, row["t"])


@pytest.mark.parametrize(("method", "bounds"), [("baumgarte", (2e-3, 1e-4, 1e-6)), ("gen_alpha", (0.2, 1e-3, 2e-4))])
def test_andrews_error_follows_the_tolerance(method: str, bounds: tuple[float, ...]) -> None:
    """Angles at t = 0.03 s for rtol = 1e-4, 1e-6, 1e-8; the bounds are some three times what was measured."""
    errors = [andrews_errors(method=method, rtol=rtol, atol=0.1 * rtol)[0] for rtol in (1e-4, 1e-6, 1e-8)]
    assert all(error < bound for error, bound in zip(errors, bounds, strict=True)), errors
    assert errors[0] > 3 * errors[1] > 9 * errors[2], errors


# --- pendulum --------------------------------------------------------------------------------------------------------


def pendulum_position(t: np.ndarray) -> np.ndarray:
    """(x, y) of IFToMM A01: sin(theta/2) = k sn(K + w t), theta from the lowest position, released at 90 degrees."""
    m = 0.5  # k^2 = sin^2(pi/4)
    K = ellipk(m)
    sn = ellipj(np.remainder(K + math.sqrt(9.81) * t, 4 * K), m)[0]
    theta = 2 * np.arcsin(math.sqrt(m) * sn)
    return np.stack([-np.sin(theta), -np.cos(theta)], axis=-1)


def test_closed_form_of_the_pendulum_is_the_published_one() -> None:
    rows = np.array(reference("pendulum")["rows"])
    np.testing.assert_allclose(pendulum_position(rows[:, 0]), rows[:, 1:3], rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", [*EXPLICIT, "gen_alpha"])
def test_pendulum_ten_seconds(method: str) -> None:
    """IFToMM asks for 5e-5 J over 10 s; position, velocity and tension at the published times."""
    rows = np.array(reference("pendulum")["rows"][1:7])
    options = {"rtol": 1e-7, "atol": 1e-8} if method == "gen_alpha" else {"rtol": 1e-10, "atol": 1e-11}
    bound = 1e-3 if method == "gen_alpha" else 1e-7
    result = run(pendulum(), rows[:, 0], method=method, **options)
    np.testing.assert_allclose(result["bob"].r, rows[:, 1:3], rtol=0, atol=bound)
    np.testing.assert_allclose(result["bob"].v, rows[:, 3:5], rtol=0, atol=5 * bound)
    tension = np.linalg.norm(result.reaction("O", on="bob").force, axis=1)
    np.testing.assert_allclose(tension, rows[:, 5], rtol=0, atol=30 * bound)
    assert np.abs(result.energy.drift).max() < (5e-3 if method == "gen_alpha" else 1e-7)


@pytest.mark.slow
def test_pendulum_two_thousand_seconds() -> None:
    """UDC A01: 4000 outputs over 2000 s, high accuracy is 1e-3 m at all of them; 845 swings."""
    t = np.linspace(0.5, 2000.0, 4000)
    result = run(pendulum(), t, rtol=1e-11, atol=1e-12)
    error = np.linalg.norm(result["bob"].r - pendulum_position(t), axis=1)
    assert error.max() < 1e-5
    assert np.abs(result.energy.drift).max() < 1e-7
    arm = np.linalg.norm(result["bob"].r, axis=1)
    np.testing.assert_allclose(arm, 1.0, rtol=0, atol=1e-12)


# --- N-four-bar: through the flat position ---------------------------------------------------------------------------


@pytest.mark.parametrize("N", [1, 2, 10, pytest.param(40, marks=pytest.mark.slow)])
def test_n_four_bar(N: int) -> None:
    """UDC A02: B0 within 1e-3 m over 20 s is high accuracy; IFToMM: energy over 10 s.  Ten turns, flat twice in each."""
    rows = np.array(reference("nfourbar")["cases"][str(N)]["rows"][1:])
    model = n_four_bar(N)
    result = run(model, rows[:, 0], rtol=1e-10, atol=1e-11)
    top = result.point(model["up0"]["B"])
    np.testing.assert_allclose(top.r, rows[:, 1:3], rtol=0, atol=1e-6)
    np.testing.assert_allclose(top.v, rows[:, 3:5], rtol=0, atol=1e-5)
    np.testing.assert_allclose(math.pi / 2 - result["up0"].phi, rows[:, 5], rtol=0, atol=1e-6)  # no jump to a branch
    for k in range(N + 1):  # all upright bars stay parallel: none took the other branch
        np.testing.assert_allclose(result[f"up{k}"].phi, result["up0"].phi, rtol=0, atol=1e-6)
    assert np.abs(result.energy.drift).max() < 1e-6 * N


def test_flat_positions_are_recorded() -> None:
    """Each turn passes theta = 0 and pi; the events carry those times."""
    period = reference("nfourbar")["cases"]["1"]["period_full_turn"]
    result = pl.simulate(n_four_bar(1), (0.0, 2 * period), rtol=1e-9, atol=1e-10)
    flat = sorted(e.t for e in result.events if e.kind == "singular")
    crossed = np.flatnonzero(np.diff(np.floor(result["up0"].phi / math.pi)))
    assert len(flat) == len(crossed) == 4
    for when, k in zip(flat, crossed, strict=True):
        assert result.t[k] - 1e-2 <= when <= result.t[k + 1] + 1e-2


# --- slider-crank, car axis ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EXPLICIT)
def test_slider_crank_of_sundials(method: str) -> None:
    """Positions, velocities and reactions every second, and the published five digits at 10 s."""
    verified = reference("slidercrank")["verified"]
    rows = np.array(verified["rows"])[1:]
    column = {name: rows[:, k] for k, name in enumerate(verified["columns"])}
    result = run(slider_crank(), column["t"], method=method, rtol=1e-11, atol=1e-12)
    ours = {"q": result["crank"].phi, "x": result["rod"].r[:, 0], "p": result["rod"].phi}
    ours |= {"qd": result["crank"].omega, "xd": result["rod"].v[:, 0], "pd": result["rod"].omega}
    ours |= {"qdd": result["crank"].alpha, "xdd": result["rod"].a[:, 0], "pdd": result["rod"].alpha}
    forces = {"FA": ("A", "rod"), "FO": ("O", "crank"), "N": ("slider", "rod")}
    force = {name: result.reaction(joint, on=body).force for name, (joint, body) in forces.items()}
    ours |= {"FAx_on_rod": force["FA"][:, 0], "FAy_on_rod": force["FA"][:, 1], "N_slider_on_rod": force["N"][:, 1]}
    ours |= {"FOx_on_crank": force["FO"][:, 0], "FOy_on_crank": force["FO"][:, 1]}
    for name, values in ours.items():
        np.testing.assert_allclose(values, column[name], rtol=0, atol=1e-8, err_msg=name)
    published = reference("slidercrank")["published"]["t10"]
    np.testing.assert_allclose([ours[k][-1] for k in ("q", "x", "p")], published, rtol=5e-5)


def test_slider_crank_gen_alpha() -> None:
    verified = reference("slidercrank")["verified"]
    row = dict(zip(verified["columns"], verified["rows"][-1], strict=True))
    result = run(slider_crank(), 10.0, method="gen_alpha", rtol=1e-8, atol=1e-9)
    ours = [result["crank"].phi[-1], result["rod"].r[-1, 0], result["rod"].phi[-1]]
    np.testing.assert_allclose(ours, [row[k] for k in ("q", "x", "p")], rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", EXPLICIT)
def test_car_axis(method: str) -> None:
    """Moving base: driven, massless road.  The file's own agreement is 3e-13, 4e-12, 1.6e-10 with the published digits."""
    data = reference("caraxis")
    result = run(car_axis(), 3.0, method=method, rtol=1e-11, atol=1e-13)
    left, right = result["left"], result["right"]
    ours = np.concatenate([left.r[-1], right.r[-1], left.v[-1], right.v[-1]])
    np.testing.assert_allclose(ours[:4], data["verified"][:4], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours[4:], data["verified"][4:8], rtol=0, atol=1e-8)
    rows = result.system.rows_of
    lam1, lam2 = result.lam[-1, rows["slot"].start], -0.5 * result.lam[-1, rows["axis"].start]  # L = 1 m
    np.testing.assert_allclose([lam1, lam2], data["verified"][8:], rtol=0, atol=1e-9)


# --- orders, energy, reversal ----------------------------------------------------------------------------------------


def slopes(model: pl.Model, t_end: float, steps: list[int], **options: Any) -> tuple[float, float, float]:
    """Orders of q, v, lam at t_end by log-log regression over the numbers of steps; the reference is a tight run."""
    exact = run(model, t_end, **TIGHT)
    errors = []
    for n in steps:
        ours = run(model, t_end, step=t_end / n, **options)
        errors.append([np.abs(getattr(ours, x)[-1] - getattr(exact, x)[-1]).max() for x in ("q", "v", "lam")])
    fit = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    return tuple(float(-x) for x in fit)


@pytest.mark.parametrize(
    ("method", "order", "coarsest"),
    [
        ("projection", 4, 400),
        ("partition", 4, 800),
        ("nullspace", 4, 400),
        ("baumgarte", 4, 400),
        ("gen_alpha", 2, 400),
    ],
)
def test_order_of_convergence(method: str, order: int, coarsest: int) -> None:
    """Fixed steps: RK4 in all explicit methods, generalised-alpha of order 2; the same for q, v and lam.

    Measured for q: 4.15, 4.38, 3.98, 4.07 and 1.85.  The errors of "partition" fall by 9 between 400 and 566 steps (slope
    4.9 from 400 on) and evenly from there, so it begins finer; probably repartitions move with the step.
    """
    found = slopes(four_bar(speed=None), 0.6, [round(coarsest * 2 ** (k / 2)) for k in range(5)], method=method)
    assert min(found) > order - 0.2, found
    assert max(found) < order + 0.8, found


@pytest.mark.parametrize(("method", "bound"), [("projection", 1e-8), ("baumgarte", 1e-6)])
def test_energy_is_kept_over_a_hundred_thousand_steps(method: str, bound: float) -> None:
    """50 s of a four-bar in steps of 0.5 ms: neither the ends nor any time between drift away."""
    result = run(four_bar(speed=None), np.linspace(0.5, 50.0, 100), method=method, step=5e-4)
    assert len(result.track.times) == 100_001
    assert np.abs(result.energy.drift).max() < bound * result.energy.kinetic.max()


@pytest.mark.parametrize(
    ("method", "steps", "bound"), [("partition", 2000, 1e-8), ("nullspace", 2000, 1e-8), ("gen_alpha", 2000, 1e-3)]
)
def test_energy_is_kept_by_the_other_methods(method: str, steps: int, bound: float) -> None:
    """1 s in steps of 0.5 ms; generalised-alpha damps, by its spectral radius, and is of order 2."""
    result = run(four_bar(speed=None), np.linspace(0.1, 1.0, 10), method=method, step=1.0 / steps)
    assert np.abs(result.energy.drift).max() < bound * result.energy.kinetic.max()


@pytest.mark.parametrize("method", [*EXPLICIT, "gen_alpha"])
def test_time_runs_backwards(method: str) -> None:
    """From the end back to t = 0, and forward again from the end with all velocities turned round."""
    options = {"rtol": 1e-7, "atol": 1e-8} if method == "gen_alpha" else {"rtol": 1e-11, "atol": 1e-12}
    bound = 1e-3 if method == "gen_alpha" else 1e-7
    model = four_bar(speed=None)
    there = run(model, 1.0, method=method, **options)
    for body in model.bodies:
        end = there[body]
        body.r, body.phi = tuple(end.r[-1]), float(end.phi[-1])
        body.v, body.omega = tuple(-end.v[-1]), -float(end.omega[-1])
    back = run(model, 1.0, method=method, **options)
    start = pl.compile(four_bar(speed=None)).q_drawn
    np.testing.assert_allclose(back.q[-1], start, rtol=0, atol=bound)
    if method in EXPLICIT:
        for body in model.bodies:
            body.v, body.omega = tuple(-np.array(body.v)), -body.omega
        past = pl.simulate(model, (1.0, 0.0), method=method, **options)
        assert past.success, past.message
        np.testing.assert_allclose(past.q[-1], start, rtol=0, atol=bound)


@pytest.mark.parametrize("seed", range(8))
def test_methods_agree_on_random_mechanisms(seed: int) -> None:
    """Springs, dampers, loads, mixed joints; every second one with bodies without inertia."""
    model = random_mechanism(seed, 2 + seed, massless=seed % 2 == 1)
    results = {m: run(model, 0.2, method=m, rtol=1e-10, atol=1e-12) for m in EXPLICIT}
    results["gen_alpha"] = run(model, 0.2, method="gen_alpha", rtol=1e-8, atol=1e-10)
    q = results["projection"].q[-1]
    size = 1.0 + np.abs(results["projection"].v[-1]).max()
    for method, result in results.items():
        bound = {"gen_alpha": 1e-4, "baumgarte": 1e-6}.get(method, 1e-7)
        np.testing.assert_allclose(result.q[-1], q, rtol=0, atol=bound * size, err_msg=method)


# --- cost ------------------------------------------------------------------------------------------------------------


def operations(system: pl.System) -> int:
    """Products in one evaluation: S = Phi_q M^-1 Phi_q^T, its elimination within the envelope, two triangular solves."""
    _, envelope, pairs = _envelope(system.pattern, np.arange(system.nc))
    width = np.arange(len(envelope)) - envelope[:, 1]
    return len(pairs) + int((width * (width + 1) // 2).sum()) + 2 * int(width.sum())


@pytest.mark.parametrize(
    ("build", "t_end", "sizes", "growth"),
    [(chain, 0.5, [10, 40, 160, 640], 2.0), (n_four_bar, 5.0, [10, 40, 160], 1.25)],
    ids=["chain", "N-four-bar"],
)
def test_cost_grows_linearly(build: Any, t_end: float, sizes: list[int], growth: float) -> None:
    """Products per evaluation against size, log-log: order 1.  A dense elimination would show 3, a full band 2.

    The evaluations are counted apart.  N four-bars move alike for every N, and their number stays (566 to 650); chains of
    different length do not move alike: 109 evaluations with 10 links, 193 with 640.
    """
    work, evaluations = [], []
    for n in sizes:
        result = pl.simulate(build(n), (0.0, t_end), rtol=1e-6, atol=1e-8)
        assert result.success, result.message
        work.append(operations(result.system))
        evaluations.append(result.evaluations)
    assert abs(np.polyfit(np.log(sizes), np.log(work), 1)[0] - 1.0) < 0.05, work
    assert max(evaluations) < growth * min(evaluations), evaluations
