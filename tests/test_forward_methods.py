"""Methods of forward dynamics: what each of them promises, on its own ground; agreement and orders in the fixed-step form."""

from __future__ import annotations

import numpy as np
import pytest

import planar as pl
from planar.methods import METHODS, Partition, Projection, body_length, light_masses
from tests.mechanisms import four_bar, random_mechanism, rod_between, slider_crank

EXPLICIT = tuple(METHODS)


def opening(run: pl.Run) -> tuple[float, float]:
    """Largest |Phi| and |Phi_q v - nu| at the samples."""
    e = run.equations
    return float(np.abs(e.Phi).max()), float(np.abs(run.system.pattern.multiply(e.Phi_q, run.v) - e.nu).max())


@pytest.mark.parametrize("method", EXPLICIT)
def test_order_four_of_q_v_and_lam_with_fixed_steps(method):
    """Regression over five step sizes: below 8 ms the truncation terms of higher order are below a tenth."""
    m = four_bar(speed=None)
    t = [0.1, 0.2, 0.3, 0.4]  # several, since an error may pass through zero at one of them
    exact = pl.simulate(m, (0, 0.4), rtol=1e-13, atol=1e-14, t_eval=t)
    steps, errors = np.array([100, 140, 200, 280, 400]), []
    for n in steps:
        run = pl.simulate(m, (0, 0.4), method=method, step=0.4 / n, t_eval=t)
        errors.append([np.abs(getattr(run, x) - getattr(exact, x)).max() for x in ("q", "v", "lam")])
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    np.testing.assert_allclose(order, 4, atol=0.5)


@pytest.mark.parametrize("index", [2, 3])
def test_order_two_of_generalised_alpha(index):
    m = four_bar(speed=None)
    exact = pl.simulate(m, (0, 0.2), rtol=1e-13, atol=1e-14)
    steps = np.array([100, 200, 400])
    errors = []
    for n in steps:
        run = pl.simulate(m, (0, 0.2), method="gen_alpha", step=0.2 / n, index=index)
        errors.append([np.abs(getattr(run, x)[-1] - getattr(exact, x)[-1]).max() for x in ("q", "v")])
    np.testing.assert_allclose(-np.polyfit(np.log(steps), np.log(errors), 1)[0], 2, atol=0.25)


@pytest.mark.parametrize("method", ["projection", "partition", "nullspace"])
def test_constraints_are_kept_to_round_off(method):
    run = pl.simulate(four_bar(speed=None), (0, 1), method=method, rtol=1e-5, atol=1e-7)
    position, velocity = opening(run)
    assert position < 1e-13 and velocity < 1e-11  # lengths below 1 m, speeds below 10 m/s


def test_baumgarte_keeps_errors_small_without_projection():
    """With gains the constraint error stays near the tolerance; without them it grows quadratically, a hundredfold here."""
    with_gains = pl.simulate(four_bar(speed=None), (0, 5), method="baumgarte", step=2e-3)
    without = pl.simulate(four_bar(speed=None), (0, 5), method="baumgarte", step=2e-3, gains=0.0)
    assert opening(with_gains)[0] < 1e-6
    assert opening(without)[0] > 100 * opening(with_gains)[0]
    alpha, beta = with_gains.options.gains
    assert alpha == beta and 1.0 < alpha <= 0.5 / 2e-3
    assert pl.simulate(four_bar(speed=None), (0, 0.1), method="baumgarte", gains=(5, 7)).options.gains == (5.0, 7.0)


def test_baumgarte_is_stable_backward_in_time():
    m = four_bar(speed=None)
    there = pl.simulate(m, (0, 1), rtol=1e-10, atol=1e-12)
    back = pl.simulate(m, (1, 0), method="baumgarte", start=(there.q[-1], there.v[-1]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(back.q[-1], there.q[0], rtol=0, atol=1e-6)
    assert opening(back)[0] < 1e-8


def test_partition_chooses_again_when_pivots_get_poor():
    """A bob on a rod that whirls round: x is a good coordinate above and below the pin, y beside it."""
    m = pl.Model("whirl", gravity=(0, -9.81))
    m.add(pl.Body("bob", 1.0, 0.1, r=(0, -1), phi=0.0, v=(8.0, 0.0)))
    m.add(pl.Distance("rod", m.ground.point(0, 0), m["bob"].point(0, 0)))
    run = pl.simulate(m, (0, 3), method="partition")
    assert run.success and run.stepper.problem.partitions > 4
    np.testing.assert_allclose(run.q[-1], pl.simulate(m, (0, 3)).q[-1], rtol=0, atol=1e-6)


def test_partition_leaves_the_degrees_of_freedom():
    for seed in (2, 3, 5):
        system = pl.compile(random_mechanism(seed, 5))
        q = system.model.assemble().q
        problem, y = Partition(system), np.concatenate((q, np.zeros(system.nq), [0.0]))
        problem.rate(0.0, 0.0, y, np.zeros_like(y))
        J = system.pattern.to_dense(system.constraints(0.0, q).Phi_q)
        assert problem.chosen.size == system.nq - np.linalg.matrix_rank(J)


def test_nullspace_refuses_what_is_too_large():
    m = pl.Model("many")
    for k in range(301):
        m.add(pl.Body(f"b{k}", 1.0, 1.0, r=(k, 0), phi=0.0))
    with pytest.raises(pl.ModelError, match=r"903 coordinates are too many.*projection"):
        pl.simulate(m, (0, 1), method="nullspace")


@pytest.mark.parametrize("method", [*EXPLICIT, "gen_alpha"])
def test_mixed_driven_and_free_motion(method):
    """Crank driven, a bob on the rod free; against the plain method at a tight tolerance."""
    m = slider_crank()
    m.add(rod_between("bob", m["slider"].r, (m["slider"].r[0], m["slider"].r[1] - 0.2), mass=0.3))
    m.add(pl.Revolute("hang", m["slider"].point(0, 0), m["bob"]["A"]))
    exact = pl.simulate(m, (0, 0.3), rtol=1e-12, atol=1e-13)
    run = pl.simulate(m, (0, 0.3), method=method, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], rtol=0, atol=2e-3 if method == "gen_alpha" else 1e-5)
    np.testing.assert_allclose(run["crank"].phi, 0.8 + 10 * run.t, rtol=0, atol=1e-6)


def stiff() -> pl.Model:
    """A light mass on a spring of 1e8 N/m that hangs on a heavy pendulum: 5 kHz beside 1 Hz."""
    m = pl.Model("stiff", gravity=(0, -9.81))
    m.add(rod_between("rod", (0, 0), (1, 0), mass=5.0))
    m.add(pl.Body("bead", 0.1, 1e-4, r=(1.1, 0), phi=0.0))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["rod"]["A"]))
    m.add(pl.Translational("slide", m["rod"].axis((0.5, 0), (1.5, 0)), m["bead"].axis((0, 0), (1, 0))))
    m.add(pl.Spring("spring", m["rod"]["B"], m["bead"].point(0, 0), stiffness=1e8, damping=50.0))
    return m


def test_generalised_alpha_steps_over_stiff_springs():
    """Steps of 5 ms, a hundred times what an explicit method could take, follow the slow motion."""
    run = pl.simulate(stiff(), (0, 1), method="gen_alpha", step=5e-3, rho=0.3)
    exact = pl.simulate(stiff(), (0, 1), integrator="Radau", rtol=1e-7, atol=1e-9, t_eval=[1.0])
    assert run.success
    np.testing.assert_allclose(run["rod"].phi[-1], exact["rod"].phi[-1], rtol=0, atol=5e-3)
    with pytest.warns(pl.PlanarWarning):  # the explicit one diverges, and says so
        assert not pl.simulate(stiff(), (0, 1), step=5e-3).success


@pytest.mark.parametrize("integrator", ["RK23", "RK45", "Radau", "BDF", "LSODA"])
def test_integrators_by_name(integrator):
    m = four_bar(speed=None)
    exact = pl.simulate(m, (0, 0.3), rtol=1e-12, atol=1e-13, t_eval=[0.1, 0.3])
    run = pl.simulate(m, (0, 0.3), integrator=integrator, rtol=1e-7, atol=1e-9, t_eval=[0.1, 0.3])
    assert run.success
    np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=3e-5)
    run.check()


def test_user_functions_work_with_every_method():
    """A force that depends on the state in Python, and a user constraint by a curve."""
    results = {}
    for method in (*EXPLICIT, "gen_alpha"):
        m = four_bar(speed=None)
        m.add(pl.UserForce("drag", m["rocker"], lambda t, s: (0.0, 0.0, -0.2 * s["rocker"].omega)))
        results[method] = pl.simulate(m, (0, 0.2), method=method, rtol=1e-7, atol=1e-9).q[-1]
    for method, q in results.items():
        bound = 2e-3 if method == "gen_alpha" else 1e-6
        np.testing.assert_allclose(q, results["projection"], rtol=0, atol=bound, err_msg=method)


def test_lengths_and_light_masses():
    system = pl.compile(four_bar(speed=None))
    assert body_length(system) == pytest.approx(np.mean([0.05, 0.15, 0.125]), rel=1e-12)
    assert not light_masses(system).any()
    m = pl.Model("massless")
    m.add(rod_between("rod", (0, 0), (1, 0), mass=0.0, inertia=0.0))
    m.add(pl.Body("bob", 2.0, 0.1, r=(1, 0), phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), m["rod"]["A"]))
    m.add(pl.Revolute("B", m["rod"]["B"], m["bob"].point(0, 0)))
    light = light_masses(pl.compile(m))
    assert (light[:3] > 0).all() and (light[:3] < 1e-4).all() and not light[3:].any()


def test_projection_is_the_smallest_mass_weighted_change():
    """Against the KKT conditions: M dv is a combination of the rows of Phi_q."""
    system = pl.compile(four_bar(speed=None))
    q = system.model.assemble().q
    generator = np.random.default_rng(3)
    v = generator.normal(size=system.nq)
    y = np.concatenate((q, v, [0.0]))
    assert Projection(system).restore(0.0, y)
    J = system.pattern.to_dense(system.constraints(0.0, q).Phi_q)
    dv = y[system.nq : -1] - v
    np.testing.assert_allclose(J @ y[system.nq : -1], 0, atol=1e-12)
    combination = np.linalg.lstsq(J.T, system.mass * dv, rcond=None)[0]
    np.testing.assert_allclose(J.T @ combination, system.mass * dv, rtol=0, atol=1e-12)
