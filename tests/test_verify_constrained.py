"""Constrained systems in generalized coordinates: identities of the chapter, closed forms, canonical form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import planar as pl
from planar.verify.constrained import GeneralizedSystem, elimination, explicit_solution, kinematic_projector
from planar.verify.generalized import Tree
from planar.verify.snapshot import snapshot
from tests.mechanisms import four_bar, slider_crank

G = 9.81


def random_terms(seed=0, n=6, m=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    M = A @ A.T + np.eye(n)
    return M, *rng.normal(size=(3, n)), rng.normal(size=(m, n)), rng.normal(size=m)


def test_explicit_solution_and_its_matrices():
    M, b, g, tau, Phi, rhs = random_terms()
    found = explicit_solution(M, tau - b - g, Phi, rhs)
    np.testing.assert_allclose(M @ found.qdd + b + g, tau + Phi.T @ found.lam, atol=1e-12)  # (5.88)
    np.testing.assert_allclose(Phi @ found.qdd, rhs, atol=1e-12)  # (5.89)
    Minv = np.linalg.inv(M)
    np.testing.assert_allclose(found.H, np.linalg.inv(Phi @ Minv @ Phi.T), atol=1e-12)  # (5.90)
    np.testing.assert_allclose(found.Phi_bar, Minv @ Phi.T @ found.H, atol=1e-12)  # (5.91)
    np.testing.assert_allclose(Phi @ found.Phi_bar, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(Phi @ found.Theta, 0, atol=1e-12)
    np.testing.assert_allclose(found.Theta @ found.Theta, found.Theta, atol=1e-12)
    # generalized constrained equation of motion (5.154) with alpha (5.152) and rho (5.153)
    alpha, rho = found.Phi_bar.T @ b + found.H @ rhs, found.Phi_bar.T @ g
    np.testing.assert_allclose(found.Theta.T @ tau, M @ found.qdd + b + g - Phi.T @ (alpha + rho), atol=1e-12)
    P = kinematic_projector(Phi)
    np.testing.assert_allclose(P, np.eye(6) - Phi.T @ np.linalg.inv(Phi @ Phi.T) @ Phi, atol=1e-12)  # (5.94)


def test_elimination_of_multipliers_gives_the_same():
    M, b, g, tau, Phi, rhs = random_terms(1)
    found, explicit = elimination(M, b, g, tau, Phi, rhs), explicit_solution(M, tau - b - g, Phi, rhs)
    np.testing.assert_allclose(found.qdd, explicit.qdd, atol=1e-12)
    np.testing.assert_allclose(found.lam, explicit.lam, atol=1e-12)
    np.testing.assert_allclose(Phi @ found.W, 0, atol=1e-13)
    assert found.M_p.shape == (3, 3)


def test_elimination_takes_a_singular_mass_matrix():
    """A massless slider (second coordinate) pushed by a rod: q2 = 2 q1, unit mass on q1, unit force on q2."""
    found = elimination(np.diag([1.0, 0.0]), np.zeros(2), np.zeros(2), [0.0, 1.0], [[2.0, -1.0]], [0.0])
    np.testing.assert_allclose(found.qdd, [2.0, 4.0])
    np.testing.assert_allclose(found.lam, [1.0])


def test_dependent_constraints_share_the_smallest_multipliers():
    M, b, g, tau, Phi, rhs = random_terms(2)
    twice = explicit_solution(M, tau - b - g, np.vstack([Phi, Phi]), np.tile(rhs, 2))
    once = explicit_solution(M, tau - b - g, Phi, rhs)
    np.testing.assert_allclose(twice.qdd, once.qdd, atol=1e-11)
    np.testing.assert_allclose(twice.lam, np.tile(once.lam / 2, 2), atol=1e-11)


# --- systems by hand -------------------------------------------------------------------------------------------------


def gyroscope() -> GeneralizedSystem:
    """Gimballed gyroscope (5.219)-(5.255): M_i = 1, l_G1 = l_G2 = 1, l_3 = 3, r = h = 1."""
    l2, l3, r, h = 1.0, 3.0, 1.0, 1.0
    I2 = np.array([0.125, 3.0625, 3.083])
    I3 = np.array([r**2 / 2, h**2 / 12 + r**2 / 4, h**2 / 12 + r**2 / 4])

    def M(q):
        s2, c2, s3, c3 = np.sin(q[1]), np.cos(q[1]), np.sin(q[2]), np.cos(q[2])
        zero, one = 0 * s2, 1 + 0 * s2
        turning = np.array([[c2, zero, zero], [zero, one, zero], [zero, zero, zero]])  # of r_G, per unit length
        P2 = np.array([[-s2, zero, zero], [zero, one, zero], [c2, zero, zero]])  # (5.241)
        P3 = np.array([[-s2, zero, one], [c2 * s3, c3, zero], [c2 * c3, -s3, zero]])  # (5.242)
        first = np.diag([0.5, 0, 0])
        return first + (l2**2 + l3**2) * turning.T @ turning + (P2.T * I2) @ P2 + (P3.T * I3) @ P3

    return GeneralizedSystem(M, V=lambda q: G * (l2 - l3) * np.sin(q[1]))


def test_gyroscope_terms_are_those_printed():
    system = gyroscope()
    q, qd = np.array([0.3, -0.5, 0.9]), np.array([0.7, -0.4, 2.0])
    s2, c2 = math.sin(q[1]), math.cos(q[1])
    M11 = 0.5 + 1.604 + 0.5 + 1 / 24 + 4.5 + 0.375 + (1.479 + 0.5 + 1 / 24 + 4.5 - 0.125) * math.cos(2 * q[1])
    expected = [[M11, 0, -s2 / 2], [0, 3.0625 + 1 + 1 / 12 + 9 + 0.25, 0], [-s2 / 2, 0, 0.5]]  # (5.249)
    np.testing.assert_allclose(system.M(q), expected, atol=1e-12)
    shape = (2.958 + 1) + (1 / 12 + 9 - 0.25)
    b = [
        -2 * c2 * qd[1] * (shape * s2 * qd[0] + 0.25 * qd[2]),
        c2 * qd[0] * (shape * s2 * qd[0] + 0.5 * qd[2]),
        -0.5 * c2 * qd[0] * qd[1],
    ]  # (5.250)
    np.testing.assert_allclose(system.coriolis(q, qd), b, atol=1e-12)
    np.testing.assert_allclose(system.gravity(q), [0, G * (1 - 3) * c2, 0], atol=1e-14)  # (5.251)


def test_gyroscope_keeps_its_energy():
    system = gyroscope()
    start = np.array([0, -math.pi / 6, 0, 0, 0, 2 * math.pi / 8])  # (5.252), (5.253)

    def rate(t, y):
        return np.concatenate([y[3:], system.acceleration(y[:3], y[3:])[0]])

    run = solve_ivp(rate, (0, 2), start, rtol=1e-9, atol=1e-11)
    energy = [system.energy(y[:3], y[3:]) for y in run.y.T]
    assert np.ptp(energy) < 1e-7 * G * 2  # integration tolerance over the height of the fall
    assert np.abs(run.y[0]).max() > 0.05  # it precesses


def elbow(l1, l2, m1, m2):
    """M, b, g of an elbow chain without rotational inertia (5.134)-(5.136)."""

    def M(q):
        c = np.cos(q[1])
        off = l2 * m2 * (l2 + 2 * l1 * c) / 4
        return np.array([[(l2**2 * m2 + l1**2 * (m1 + 4 * m2) + 4 * l1 * l2 * m2 * c) / 4, off], [off, l2**2 * m2 / 4]])

    def b(q, qd):
        return l1 * l2 * m2 * math.sin(q[1]) / 2 * np.array([-qd[1] * (2 * qd[0] + qd[1]), qd[0] ** 2])

    def g(q):
        second = l2 * m2 * math.cos(q[0] + q[1])
        return G / 2 * np.array([l1 * (m1 + 2 * m2) * math.cos(q[0]) + second, second])

    return M, b, g


def test_tree_of_a_model_has_the_closed_forms():
    l1, l2, m1, m2 = 0.7, 0.5, 1.2, 0.8
    model = pl.Model("elbow", gravity=(0.0, -G))
    upper = model.add(pl.Body.rod("upper", m1, l1, inertia=0.0))
    lower = model.add(pl.Body.rod("lower", m2, l2, inertia=0.0))
    model.add(pl.Revolute("shoulder", model.ground.point(0, 0), upper["A"]))
    model.add(pl.Revolute("elbow", upper["B"], lower["A"]))
    M, b, g = elbow(l1, l2, m1, m2)
    q, qd = np.array([0.4, -1.1]), np.array([1.3, 0.6])
    tree = Tree(model, snapshot(model, 0.0, np.zeros((2, 3)), np.zeros((2, 3))))
    system = tree.system()
    np.testing.assert_allclose(system.M(q), M(q), atol=1e-14)
    np.testing.assert_allclose(system.coriolis(q, qd), b(q, qd), atol=1e-14)
    np.testing.assert_allclose(system.gravity(q), g(q), atol=1e-13)
    # b also follows from M alone (5.217)
    np.testing.assert_allclose(GeneralizedSystem(M).coriolis(q, qd), b(q, qd), atol=1e-14)
    poses, velocities = tree.state(q, qd)
    back, rate = tree.coordinates(snapshot(model, 0.0, poses, velocities))
    np.testing.assert_allclose([back, rate], [q, qd], atol=1e-14)


def test_slider_crank_of_two_links_by_hand():
    """Two equal links, the end of the second held at height 0: phi = l (sin q1 + sin(q1 + q2)) and its Jacobian."""
    M, b, g = elbow(1.0, 1.0, 1.0, 1.0)

    def phi(q):
        return np.array([np.sin(q[0]) + np.sin(q[0] + q[1])])

    def Phi(q):
        c = np.cos(q[0] + q[1])
        return np.array([[np.cos(q[0]) + c, c]])

    given, found = GeneralizedSystem(M, g, b=b, phi=phi, Phi=Phi), GeneralizedSystem(M, g, phi=phi)
    q = np.array([0.6, -1.2])
    qd = np.array([1.0, -2.0])
    np.testing.assert_allclose(found.jacobian(q), Phi(q), atol=1e-14)
    np.testing.assert_allclose(found.jacobian_rate(q, qd), given.jacobian_rate(q, qd), atol=1e-11)  # a difference
    np.testing.assert_allclose(found.acceleration(q, qd)[0], given.acceleration(q, qd)[0], atol=1e-10)
    # symmetric: q2 = -2 q1, so L = q1' ^2 (M reduced) / 2 - V with everything along q1
    qdd, _ = given.acceleration(q, qd)
    assert qdd[1] == pytest.approx(-2 * qdd[0], rel=1e-12)
    reduced = given.eliminated(q, qd)
    assert reduced.M_p.shape == (1, 1)
    np.testing.assert_allclose(reduced.qdd, qdd, rtol=1e-12)


# --- stabilisation and canonical form ----------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [four_bar, slider_crank])
def test_canonical_form_moves_like_the_accelerations(build):
    """p' = d/dt (M qd) = M qdd + M' qd, with the same multipliers (5.282), (5.283)."""
    model = build(speed=None)
    model["crank"].omega = 3.0
    start = model.assemble()
    now = snapshot(model, 0.0, start.q, start.v)
    tree = Tree(model, now)
    system, (q, qd) = tree.system(), tree.coordinates(now)
    qdd, lam = system.acceleration(q, qd)
    p = system.momentum(q, qd)
    velocity, pd, multipliers = system.canonical(q, p)
    np.testing.assert_allclose(velocity, qd, atol=1e-12)
    np.testing.assert_allclose(multipliers, lam, rtol=1e-11, atol=1e-11 * np.abs(lam).max())
    step = 1e-30
    M_rate = system.M(q + 1j * step * qd).imag / step
    np.testing.assert_allclose(pd, system.M(q) @ qdd + M_rate @ qd, atol=1e-11 * np.abs(pd).max())
    assert system.hamiltonian(q, p) == pytest.approx(system.energy(q, qd), rel=1e-13)
    np.testing.assert_allclose(system.jacobian(q) @ qd, 0, atol=1e-12)
    np.testing.assert_allclose(system.constraint(q), 0, atol=1e-12)


def test_canonical_equations_carry_the_pendulum():
    """A particle on a circle: energy stays, and with alpha > 0 a start off the circle comes back to it (5.285)."""
    system = GeneralizedSystem(
        lambda q: np.eye(2), V=lambda q: G * q[1], phi=lambda q: q @ q - 1.0, Phi=lambda q: 2 * q[None, :]
    )

    def rate(t, y):
        qd, pd, _ = system.canonical(y[:2], y[2:], alpha=2.0)
        return np.concatenate([qd, pd])

    run = solve_ivp(rate, (0, 2), [1.0, 0.0, 0.0, 0.0], rtol=1e-10, atol=1e-12)
    H = [system.hamiltonian(y[:2], y[2:]) for y in run.y.T]
    assert np.ptp(H) < 1e-7 * G
    q = np.array([1.01, 0.0])
    start = np.array([*q, -2.0 * system.constraint(q)[0] / (2 * q[0]), 0.0])  # Phi qd = -alpha phi
    off = solve_ivp(rate, (0, 3), start, rtol=1e-9, atol=1e-12).y[:2, -1]
    assert abs(system.constraint(off)[0]) == pytest.approx(system.constraint(q)[0] * math.exp(-6), rel=1e-3)


def test_baumgarte_pulls_back_and_costs_a_force():
    """(5.99), (5.100): off the constraint the multiplier carries -H (alpha phi + beta Phi qd)."""
    system = GeneralizedSystem(lambda q: 2.0 * np.eye(2), phi=lambda q: q[:1] - 1.0, Phi=lambda q: np.eye(2)[:1])
    qdd, lam = system.acceleration([1.1, 0.0], [0.5, 0.0], alpha=4.0, beta=3.0)
    np.testing.assert_allclose(qdd, [-(4 * 0.1 + 3 * 0.5), 0.0])
    np.testing.assert_allclose(lam, [-2 * (4 * 0.1 + 3 * 0.5)])


def test_messages():
    with pytest.raises(pl.ModelError, match="Phi is given without phi"):
        GeneralizedSystem(lambda q: np.eye(1), Phi=lambda q: np.eye(1))
    with pytest.raises(pl.ModelError, match=r"give V\(q\)"):
        GeneralizedSystem(lambda q: np.eye(1)).energy([0.0], [0.0])
