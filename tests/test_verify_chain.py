"""Spatial chains by recursive virtual work, against Lagrange's equations from geometric Jacobians."""

from __future__ import annotations

import math

import numpy as np
import pytest

import planar as pl
from planar.verify.chain import Chain, Link, inertia_about_joint, skew, turn
from planar.verify.constrained import GeneralizedSystem


def lagrangian(chain: Chain) -> GeneralizedSystem:
    """M(q) and V(q) from the joint axes and origins in T_0: columns z x (r - O) and z, or z and 0 for a slide."""

    def places(q):
        """(centre, rotation, Gamma, Pi) of every link, all in the axes of T_0; complex q is welcome."""
        out, origins, turns, axes = [], [], [], []
        for k, link in enumerate(chain.links):
            base = (np.zeros(3), np.eye(3)) if link.parent < 0 else (origins[link.parent], turns[link.parent])
            n = chain.coordinate.get(k)
            x, c, s = 0.0 if n is None else q[n], 1.0, 0.0
            if link.kind == "revolute":
                c, s = np.cos(x), np.sin(x)
            seat = np.asarray(link.seat, float)
            a = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ seat
            slide = x * seat[2] if link.kind == "prismatic" else 0.0
            origins.append(base[0] + base[1].T @ (np.asarray(link.r, float) + slide))
            turns.append(a @ base[1])
            axes.append(turns[k][2])
            centre = origins[k] + turns[k].T @ np.asarray(link.centre, float)
            Gamma, Pi = np.zeros((2, 3, chain.n), np.result_type(q, float))
            up = k
            while up >= 0:
                n, joint = chain.coordinate.get(up), chain.links[up]
                if joint.kind == "revolute":
                    Gamma[:, n], Pi[:, n] = np.cross(axes[up], centre - origins[up]), axes[up]
                elif joint.kind == "prismatic":
                    Gamma[:, n] = axes[up]
                up = joint.parent
            out.append((centre, turns[k], Gamma, Pi))
        return out

    def M(q):
        total = 0.0
        for link, (_, a0, Gamma, Pi) in zip(chain.links, places(q), strict=True):
            r = skew(np.asarray(link.centre, float))
            J = a0.T @ (np.asarray(link.inertia) + link.mass * r @ r) @ a0  # about the centre of mass
            total = total + link.mass * Gamma.T @ Gamma + Pi.T @ J @ Pi
        return total

    def V(q):
        return -sum(link.mass * chain.gravity @ r for link, (r, *_) in zip(chain.links, places(q), strict=True))

    return GeneralizedSystem(M, V=V)


def random_chain(seed: int, n: int, kinds) -> Chain:
    rng = np.random.default_rng(seed)
    links = []
    for k in range(n):
        seat, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        seat *= np.sign(np.linalg.det(seat))
        centre, mass = rng.normal(size=3) * 0.3, rng.uniform(0.5, 2)
        A = rng.normal(size=(3, 3)) * 0.2
        parent = int(rng.integers(max(-1, k - 2), k))  # branches too
        inertia = inertia_about_joint(A @ A.T, mass, centre)
        links.append(Link(parent, rng.normal(size=3) * 0.5, seat, kinds[k % len(kinds)], mass, centre, inertia))
    return Chain(links, gravity=rng.normal(size=3) * 5)


@pytest.mark.parametrize("kinds", [("revolute",), ("revolute", "prismatic"), ("prismatic", "fixed", "revolute")])
@pytest.mark.parametrize("seed", range(3))
def test_efforts_are_those_of_lagrange(seed, kinds):
    chain = random_chain(seed, 6, kinds)
    rng = np.random.default_rng(seed + 100)
    q, qd, qdd = rng.normal(size=(3, chain.n))
    system = lagrangian(chain)
    expected = system.M(q) @ qdd + system.coriolis(q, qd) + system.gravity(q)
    effort = chain.inverse(q, qd, qdd).effort
    np.testing.assert_allclose(effort, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def rod_inertia(mass, along):
    """A thin rod about its middle: m (r.r 1 - r r^T) / 12."""
    r = np.asarray(along)
    return mass / 12 * (r @ r * np.eye(3) - np.outer(r, r))


def compass_arm() -> Chain:
    """Compass robot arm of Staicu, Stroe and Craifaleanu, eqs. (11)-(13), (16); links as uniform rods, load a cylinder."""
    theta1 = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    theta2 = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    u1, u2, u3 = np.eye(3)
    l = [1.398, 0.34, 4.242, 4.242, 0.34, 1.398]
    masses = [77.79, 10.0, 236.0, 236.0, 10.0]
    arms = [l[0] * u3, -l[1] * u1, l[2] * u2, l[3] * u2, l[4] * u2]
    seats = [np.eye(3), theta1 @ theta2, theta1 @ theta2, turn(math.pi / 4), turn(math.pi / 4), theta1]
    links = []
    for k, (mass, arm) in enumerate(zip(masses, arms, strict=True)):
        J = inertia_about_joint(rod_inertia(mass, arm), mass, arm / 2)
        links.append(Link(k - 1, np.zeros(3) if k == 0 else arms[k - 1], seats[k], "revolute", mass, arm / 2, J))
    rod, load, h, radius = 77.79, 1000.0, 1.0, 0.5
    to_rod, to_load = 0.5 * l[5] * u2, (l[5] + 0.5 * h) * u2
    centre = (rod * to_rod + load * to_load) / (rod + load)
    across = load * (3 * radius**2 + h**2) / 12
    J = inertia_about_joint(rod_inertia(rod, l[5] * u2), rod, to_rod)
    J = J + inertia_about_joint(np.diag([across, load * radius**2 / 2, across]), load, to_load)
    links.append(Link(4, arms[4], seats[5], "revolute", rod + load, centre, J))
    return Chain(links, gravity=(0.0, 0.0, -9.81))


def test_compass_arm_against_lagrange():
    chain, system = compass_arm(), lagrangian(compass_arm())
    peak = np.pi * np.array([1 / 6, 1 / 12, 1 / 9, 1 / 36, 1 / 18, 5 / 36])
    w = math.pi / 15
    for t in np.linspace(0, 15, 7):
        q, qd, qdd = peak * (1 - math.cos(w * t)), peak * w * math.sin(w * t), peak * w * w * math.cos(w * t)
        expected = system.M(q) @ qdd + system.coriolis(q, qd) + system.gravity(q)
        loads = chain.inverse(q, qd, qdd)
        np.testing.assert_allclose(loads.effort, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
        np.testing.assert_array_equal(loads.effort, loads.M[:, 2])  # m_k = u_3 . M_k (14)


def test_joint_forces_of_the_compass_arm_at_rest():
    """The first joint carries the whole weight, the last one that of the load."""
    chain = compass_arm()
    loads, motion = chain.inverse(*np.zeros((3, 6))), chain.motion(*np.zeros((3, 6)))
    for k in (0, 5):
        weight = 9.81 * sum(link.mass for link in chain.links[k:])
        np.testing.assert_allclose(motion[k].a0.T @ loads.F[k], [0, 0, weight], atol=1e-9)


def test_external_wrench_is_balanced():
    chain = Chain([Link(-1, kind="revolute", mass=2.0, centre=(1, 0, 0))], gravity=np.zeros(3))
    loads = chain.inverse([0.0], [0.0], [0.0], external=[[0.0, 3.0, 0.0, 0.0, 0.0, 5.0]])
    np.testing.assert_allclose(loads.F[0], [0, -3, 0])
    assert loads.effort[0] == -5.0


def test_links_must_come_after_their_parents():
    with pytest.raises(pl.ModelError, match="link 0: parent is 1"):
        Chain([Link(1), Link(-1)])
    with pytest.raises(pl.ModelError, match="kind is 'ball'"):
        Chain([Link(-1, kind="ball")])
