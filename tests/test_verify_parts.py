"""What the formulations are made of: demands of joints, particles, trees, loads."""

from __future__ import annotations

import numpy as np
import pytest

import planar as pl
from planar.verify.closure import DRIVERS, JOINTS, Moving, as_drawn, openings, rows, unknown_constraint
from planar.verify.loads import applied
from planar.verify.particles import equivalent
from planar.verify.snapshot import R, rotation, snapshot, solve_square
from planar.verify.topology import spanning_tree, subtrees
from tests.mechanisms import chain, four_bar, random_mechanism

STEP = 1e-30


class Flying:
    """Bodies on polynomial paths x(t) = c0 + c1 t + c2 t^2 / 2; accelerations x'' = c2 known, or as unknowns."""

    def __init__(self, model, t, unknown=False):
        rng = np.random.default_rng(7)
        self.names = ["ground", *(b.name for b in model.bodies)]
        c = rng.normal(size=(3, len(self.names), 3))
        c[:, 0] = 0.0
        self.x, self.v = c[0] + c[1] * t + c[2] * t * t / 2, c[1] + c[2] * t
        m = 3 * len(model.bodies)
        self.a = np.zeros((*c[2].shape, 1 + m), np.result_type(t, float))
        if unknown:
            self.a[1:, :, 1:] = np.eye(m).reshape(-1, 3, m)
        else:
            self.a[..., 0] = c[2]

    def of(self, body):
        k = self.names.index(body.name)
        return self.x[k], self.v[k], self.a[k]

    def vector(self, body, s):
        x, v, a = self.of(body)
        e = rotation(x[2]) @ np.asarray(s)
        turned = np.outer(R @ e, a[2])
        turned[:, 0] -= v[2] ** 2 * e
        return Moving(e, v[2] * (R @ e), turned)

    def point(self, point):
        x, v, a = self.of(point.body)
        return Moving(x[:2], v[:2], a[:2]) + self.vector(point.body, point.s)

    def direction(self, axis):
        return self.vector(axis.body, axis.direction)

    def angle(self, body):
        x, v, a = self.of(body)
        return Moving(x[2], v[2], a[2])


def every_kind() -> pl.Model:
    m = pl.Model("every kind")
    i, j, k = (m.add(pl.Body(name, 1.0, 0.1, r=(0, 0), phi=0.0)) for name in "ijk")
    P, Q, u, w = i.point(0.3, -0.2), j.point(0.1, 0.4), i.axis((0.1, 0.2), (0.5, 0.9)), j.axis((0.2, 0.0), (-0.3, 0.3))
    for joint in (
        pl.Revolute("pin", P, Q),
        pl.Weld("weld", P, Q, None),
        pl.Translational("slide", u, w),
        pl.Distance("rod", P, Q, 0.7),
        pl.PinInSlot("slot", u, Q),
        pl.Parallel("parallel", u, w),
        pl.Gear("gear", i, j, -1.7, carrier=k),
        pl.AngleDriver("angle", i, j, "sin(t)"),
        pl.LengthDriver("length", P, Q, "2 + cos(3*t)"),
        pl.SlideDriver("along", u, Q, "t**2"),
        pl.PointDriver("path", Q, x="t**3", y="exp(t)"),
        pl.CoordinateDriver("x", j, "x", "sin(2*t)"),
        pl.CoordinateDriver("phi", k, "phi", "sin(2*t)", from_drawn=True),
    ):
        m.add(joint)
    return m


MODEL = every_kind()


def test_every_kind_is_here():
    assert {type(c) for c in MODEL.constraints} == {*JOINTS, *DRIVERS}
    assert unknown_constraint(MODEL) is None


@pytest.mark.parametrize("name", [c.name for c in MODEL.constraints])
def test_rates_and_accelerations_are_derivatives(name):
    """d/dt of the value is the rate, d/dt of the rate the acceleration, by the complex step along a motion."""
    t, element = 0.4, MODEL[name]
    start = as_drawn(MODEL)
    real = rows(element, Flying(MODEL, t), t, start)
    ahead = rows(element, Flying(MODEL, t + 1j * STEP), t + 1j * STEP, start)
    angular = {"slide": 1, "parallel": 0}.get(name)  # shown as sin cos: not the angle itself
    for k, (row, beside) in enumerate(zip(real, ahead, strict=True)):
        if k != angular:
            assert row.demand.v == pytest.approx(np.imag(beside.demand.x) / STEP, rel=1e-12, abs=1e-13)
        assert row.demand.a[0] == pytest.approx(np.imag(beside.demand.v) / STEP, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("name", [c.name for c in MODEL.constraints])
def test_pushes_do_the_work_that_the_demand_says(name):
    """Coefficients of the accelerations = generalised force of a unit multiplier; and action = reaction."""
    kin = Flying(MODEL, 0.4, unknown=True)
    for row in rows(MODEL[name], kin, 0.4):
        Q = np.zeros((4, 3))
        for body, force, couple, where in row.pushes:
            r, k = kin.of(body)[0], kin.names.index(body.name)
            arm = where - r[:2]
            Q[k] += [*force, couple + arm[0] * force[1] - arm[1] * force[0]]
        np.testing.assert_allclose(row.demand.a[1:], Q[1:].reshape(-1), atol=1e-13)


def test_openings_name_the_joint():
    m = four_bar()
    start = m.assemble()
    closed = openings(snapshot(m, 0.0, start.q, start.v))
    assert set(closed) == {"A", "B", "C", "D", "motor"}
    assert np.max(list(closed.values())) < 1e-12
    q, v = start.q.copy(), start.v.copy()
    q[3] += 1e-3  # the coupler
    v[8] += 0.1  # the rocker
    found = openings(snapshot(m, 0.0, q, v))
    assert [found[name][0] > 9e-4 for name in "ABCD"] == [False, True, True, False]
    assert [found[name][1] > 9e-3 for name in "ABCD"] == [False, False, True, True]


# --- particles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pins", "others", "primary"),
    [
        ([(-0.4, 0.0), (0.6, 0.0)], [], 2),
        ([(-0.4, 0.0)], [], 2),
        ([(0.0, 0.0)], [], 2),
        ([(-0.4, 0.0), (0.6, 0.0), (0.2, 0.0)], [(1.0, 0.0)], 2),
        ([(-0.4, 0.0), (0.6, 0.0), (0.1, 0.5)], [], 3),
        ([(-0.4, 0.1), (0.6, 0.1)], [], 3),
        ([(-0.4, 0.0), (0.6, 0.0), (0.1, 1e-4)], [], 3),
        ([(0.0, 0.0)], [(0.0, 0.0), (0.6, 0.8)], 3),
    ],
)
def test_particles_have_mass_centre_and_inertia_of_the_body(pins, others, primary):
    body = pl.Body("body", mass=3.0, inertia=0.7)
    found = equivalent(body, pins[0], pins, others)
    assert len(found.primary) == primary
    np.testing.assert_allclose(found.primary[0], pins[0])
    p = found.primary
    places = np.array([*p, *((p[i] + p[j]) / 2 for i, j in found.pairs())])
    m = found.masses
    assert m.sum() == pytest.approx(3.0)  # eq. (1a)
    np.testing.assert_allclose(m @ places, 0, atol=1e-12)  # (1b)
    assert (m * (places**2).sum(axis=1)).sum() == pytest.approx(0.7)  # (1c) + (1d)
    assert np.abs(m).max() < 1e3 * 3.0  # the triangle is not a needle
    # eqs. (10a)-(10c)
    beside = np.array([sum(_beside(found, m, i)) for i in range(primary)])
    np.testing.assert_allclose(np.diag(found.mu), m[:primary] + beside / 4, atol=1e-12)
    np.testing.assert_allclose(found.mu.sum(axis=0), m[:primary] + beside / 2, atol=1e-12)
    for s in (*pins, *others, (0.0, 0.0)):
        share = found.share(s)
        assert share.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(share @ found.primary, s, atol=1e-12)


def _beside(found, masses, i):
    n = len(found.primary)
    return [m for pair, m in zip(found.pairs(), masses[n:], strict=True) if i in pair]


def test_uniform_rod_is_one_sixth_two_thirds_one_sixth():
    rod = pl.Body.rod("rod", 6.0, 2.0)
    found = equivalent(rod, (-1.0, 0.0), [(-1.0, 0.0), (1.0, 0.0)], [])
    np.testing.assert_allclose(found.masses, [1.0, 1.0, 4.0])


# --- trees and loads -------------------------------------------------------------------------------------------------


def test_depth_first_makes_long_chains_and_breadth_first_short_ones():
    m = four_bar()
    deep, cut_deep = spanning_tree(m, (pl.Revolute,), deep=True)
    wide, cut_wide = spanning_tree(m, (pl.Revolute,), deep=False)
    assert [b.child.name for b in deep] == ["rocker", "coupler", "crank"]
    assert [j.name for j in cut_deep] == ["A"]
    assert [b.child.name for b in wide] == ["crank", "rocker", "coupler"]
    assert [j.name for j in cut_wide] == ["C"]
    assert [b.flipped for b in deep] == [False, True, True]
    assert [b.name for b in subtrees(deep)["rocker"]] == ["rocker", "coupler", "crank"]


def test_bodies_that_nothing_carries_float():
    m = pl.Model("two")
    a, b = m.add(pl.Body("a", 1.0, 0.1)), m.add(pl.Body("b", 1.0, 0.1))
    m.add(pl.Distance("rod", a.point(0, 0), b.point(0, 0), 1.0))
    branches, cut = spanning_tree(m, (pl.Revolute,), deep=False)
    assert [x.joint for x in branches] == [None, None]
    assert [j.name for j in cut] == ["rod"]


def test_loads_by_hand():
    m = pl.Model("loads")
    a = m.add(pl.Body("a", 1.0, 0.1, r=(0, 0), phi=0.0))
    b = m.add(pl.Body("b", 1.0, 0.1, r=(1, 0), phi=0.0))
    m.add(pl.Spring("spring", a.point(0, 0), b.point(0, 0.5), stiffness=10.0, damping=2.0, force="t"))  # free as drawn
    m.add(pl.TorsionSpring("coil", a, b, stiffness=3.0, damping=0.5))
    m.add(pl.PointForce("push", a.point(0, 1), (2.0, 0.0), frame="body"))
    now = snapshot(m, 0.3, [(0, 0, np.pi / 2), (3, 0, 0)], [(0, 0, 0), (1, 0, 2)])
    # spring: from (0, 0) to (3, 0.5), velocity of the end (1 - 2*0.5, 0) = 0
    l, free = np.hypot(3, 0.5), np.hypot(1, 0.5)
    u, f = np.array([3, 0.5]) / l, 10 * (l - free) + 0.3
    T = 3 * (-np.pi / 2) + 0.5 * 2
    expected = [
        (*(f * u + [0, 2.0]), T - 2.0),  # the push turned to +y acts at (-1, 0)
        (*(-f * u), -T + 0.5 * f * u[0]),  # the end at (0, 0.5) is pulled towards -u
    ]
    np.testing.assert_allclose(applied(now), expected, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_loads_are_those_of_the_main_path(seed):
    m = random_mechanism(seed, 6)
    system, start = pl.compile(m), m.assemble()
    weight = np.array([(b.mass * m.gravity[0], b.mass * m.gravity[1], 0.0) for b in m.bodies])
    Q = system.forces(0.2, start.q, start.v).reshape(-1, 3) - weight
    np.testing.assert_allclose(applied(snapshot(m, 0.2, start.q, start.v)), Q, atol=1e-11 * np.abs(Q).max())


def test_solve_square_scales_and_takes_the_smallest():
    A = np.diag([1e12, 1e-12, 1.0])
    x, condition = solve_square(A, np.array([1e12, 2e-12, 3.0]))
    np.testing.assert_allclose(x, [1, 2, 3])
    assert condition == pytest.approx(1.0)
    x, _ = solve_square(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([2.0, 2.0]))
    np.testing.assert_allclose(x, [1, 1])


def test_long_chain_needs_one_unknown_pair_per_link():
    from planar.verify import points

    m = chain(12)
    start = m.assemble()
    assert points.solve(m, 0.0, start.q, start.v).unknowns == 24
