"""The contract of every registered joint, driver and force, at random states.

    Phi_q v = nu = -Phi_t      Phi_q a = gamma = -(Phi_q v)_q v - 2 Phi_qt v - Phi_tt      dQ/dq, dQ/dv

Derivatives are compared with the complex step, f'(x) = Im f(x + ih)/h, which has no cancellation: what is left is
round-off, so the tolerance is 1e-12 of the largest entry.  A new kind is picked up by itself from `KINDS`; it needs one
entry in FACTORIES.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import planar as pl
from planar.backend import compiled, has_numba
from planar.bodies import Point
from planar.elements import KINDS, Constraint
from planar.forces import Force
from planar.laws import LAWS
from planar.packed import pack
from planar.primitives import PRIMITIVES

H = 1e-30
CAM = pl.polar("0.4 + 0.1*cos(u) + 0.03*sin(2*u)")
ROAD = pl.SplineCurve([(-12, 1), (-5, 0.3), (0, 0), (5, 1), (12, 0)], closed=False)  # longer than states are wide
CURVES = (CAM, pl.circle(0.6, (0.1, 0.2)), CAM.as_spline(), ROAD)
MOTION = pl.Harmonic(0.3, 2.0, phase=0.4, offset=1.2)


# --- one factory per kind: (bodies a, b, c and ground, a random point, a random axis) -> variants ----------------------


def _point(rng, body):
    return body.point(*rng.normal(size=2))


def _axis(rng, body):
    return body.axis(rng.normal(size=2), rng.normal(size=2))


def _pairs(a, b, g):
    """Two bodies, ground as the first, ground as the second."""
    return (a, b), (g, b), (a, g)


def _point_pairs(kind, **kw):
    return lambda rng, a, b, c, g: [kind("x", _point(rng, i), _point(rng, j), **kw) for i, j in _pairs(a, b, g)]


def _axis_pairs(kind, **kw):
    return lambda rng, a, b, c, g: [kind("x", _axis(rng, i), _axis(rng, j), **kw) for i, j in _pairs(a, b, g)]


def _axis_points(kind, *args, **kw):
    return lambda rng, a, b, c, g: [kind("x", _axis(rng, i), _point(rng, j), *args, **kw) for i, j in _pairs(a, b, g)]


def _sine_track(t, p, o):
    return p.y - 0.3 * np.sin(2 * p.x + t) * o.phi, p.x * o.x + np.exp(0.2 * o.y) - t * t


def _track_jacobian(t, p, o):
    c, s = np.cos(2 * p.x + t), np.sin(2 * p.x + t)
    return (-0.6 * c * o.phi, 1, 0, 0, 0, -0.3 * s), (o.x, 0, 0, p.x, 0.2 * np.exp(0.2 * o.y), 0)


def _track_nu(t, p, o):
    return 0.3 * np.cos(2 * p.x + t) * o.phi, 2 * t


def _track_gamma(t, p, o):
    c, s, rate = np.cos(2 * p.x + t), np.sin(2 * p.x + t), 2 * p.vx + 1
    first = 0.3 * (-s * rate**2 * o.phi + 2 * c * rate * o.omega)
    return first, -2 * p.vx * o.vx - 0.04 * np.exp(0.2 * o.y) * o.vy**2 + 2


BY_HAND = {"jacobian": _track_jacobian, "nu": _track_nu, "gamma": _track_gamma}


def _swing(t, state):
    """A load that reads time, poses and velocities of several bodies."""
    return np.sin(t) * state["a"].phi + state["b"].omega * state["c"].r[..., 0] + state["b"].v[..., 1] ** 2


def _follow(t, state):
    return _swing(t, state), 2.0 * state["a"].omega * np.cos(t)


def _wrench(t, state):
    tip = state.point(state.system.model["a"].point(0.3, -0.2))
    return (*(-3.0 * tip.v[..., k] - tip.r[..., k] ** 2 for k in range(2)), np.sin(state["b"].phi))


def _wrenches(t, state):
    return _wrench(t, state), (state["a"].phi, 0.0, t * state["c"].omega)


FACTORIES = {
    "Revolute": _point_pairs(pl.Revolute),
    "Weld": lambda rng, a, b, c, g: [
        pl.Weld("x", _point(rng, i), _point(rng, j), angle) for i, j in _pairs(a, b, g) for angle in (0.7, None)
    ],
    "Translational": _axis_pairs(pl.Translational),
    "Distance": lambda rng, a, b, c, g: [
        pl.Distance("x", _point(rng, i), _point(rng, j), L) for i, j in _pairs(a, b, g) for L in (0.8, None)
    ],
    "PinInSlot": _axis_points(pl.PinInSlot),
    "Parallel": _axis_pairs(pl.Parallel),
    "Gear": lambda rng, a, b, c, g: [
        pl.Gear("x", a, b, -0.7),
        pl.Gear("x", g, b, 1.9, carrier=c),
        pl.Gear("x", a, g, 1.9, carrier=c),
        pl.Gear("x", a, b, 1.3, carrier=c),
        pl.Gear.external("x", a, b, 0.2, 0.3, carrier=g),
        pl.Gear.internal("x", a, b, 0.2, 0.3),
        pl.Gear.chain("x", a, b, 0.2, 0.3),
    ],
    "GearMesh": lambda rng, a, b, c, g: [
        pl.GearMesh("x", _point(rng, i), _point(rng, j), *radii, internal=inside)
        for i, j in _pairs(a, b, g)
        for radii in ((0.2, 0.5), (0.5, 0.2))
        for inside in (False, True)
    ],
    "RackPinion": lambda rng, a, b, c, g: [
        pl.RackPinion("x", _axis(rng, i), _point(rng, j), 0.3, side=side)
        for i, j in _pairs(a, b, g)
        for side in ("left", "right")
    ],
    "PointOnCurve": lambda rng, a, b, c, g: [
        pl.PointOnCurve("x", i, curve, _point(rng, j))
        for (i, j), curve in zip((*_pairs(a, b, g), (b, a)), CURVES, strict=True)
    ],
    "UserConstraint": lambda rng, a, b, c, g: [
        pl.UserConstraint("x", on, _sine_track, rows=("y", "xx"), **extra)
        for on in ([a, b], [g, b], [b, g])
        for extra in ({}, BY_HAND)
    ],
    "AngleDriver": lambda rng, a, b, c, g: [
        pl.AngleDriver("x", i, j, MOTION, from_drawn=drawn) for i, j in _pairs(a, b, g) for drawn in (False, True)
    ],
    "LengthDriver": lambda rng, a, b, c, g: [
        pl.LengthDriver("x", _point(rng, i), _point(rng, j), MOTION, from_drawn=drawn)
        for i, j in _pairs(a, b, g)
        for drawn in (False, True)
    ],
    "SlideDriver": lambda rng, a, b, c, g: [
        pl.SlideDriver("x", _axis(rng, i), _point(rng, j), MOTION, from_drawn=drawn)
        for i, j in _pairs(a, b, g)
        for drawn in (False, True)
    ],
    "PointDriver": lambda rng, a, b, c, g: [
        pl.PointDriver("x", _point(rng, a), "sin(t)", lambda t: np.exp(-t)),
        pl.PointDriver("x", _point(rng, b), y=MOTION, from_drawn=True),
    ],
    "CoordinateDriver": lambda rng, a, b, c, g: [
        pl.CoordinateDriver("x", b, k, "t**3", from_drawn=drawn) for k in ("x", "y", "phi") for drawn in (False, True)
    ],
    "PointForce": lambda rng, a, b, c, g: [
        pl.PointForce("x", _point(rng, b), force, frame=frame)
        for force in ((2.0, -3.0), ("sin(t)", 4.0), (1.5, _swing), (_swing, _swing), _follow)
        for frame in ("global", "body")
    ],
    "Torque": lambda rng, a, b, c, g: [pl.Torque("x", b, T) for T in (2.5, "3*cos(2*t)", MOTION, _swing)],
    "Spring": lambda rng, a, b, c, g: [
        pl.Spring("x", _point(rng, i), _point(rng, j), stiffness=30.0, length=L, damping=2.0, force=f)
        for i, j in _pairs(a, b, g)
        for L, f in ((0.3, 0.0), (None, 4.0), (0.0, "sin(t)"), (0.5, _swing))
    ],
    "TorsionSpring": lambda rng, a, b, c, g: [
        pl.TorsionSpring("x", i, j, stiffness=3.0, angle=angle, damping=0.4, torque=T)
        for i, j in _pairs(a, b, g)
        for angle, T in ((0.2, 0.0), (None, "t**2"), (0.0, _swing))
    ],
    "UserForce": lambda rng, a, b, c, g: [pl.UserForce("x", b, _wrench), pl.UserForce("x", [a, c], _wrenches)],
}


def kinds(family):
    return sorted(name for name, kind in KINDS.items() if issubclass(kind, family) and kind.__module__ != __name__)


each_constraint = pytest.mark.parametrize("kind", kinds(Constraint))
each_force = pytest.mark.parametrize("kind", kinds(Force))


def systems(kind, seed=0):
    """One compiled system per variant of the kind: three bodies in random poses and the element 'x'."""
    if kind not in FACTORIES:
        pytest.fail(
            f"the kind {kind!r} is registered but has no factory here: add FACTORIES[{kind!r}] with its variants"
        )
    n = len(FACTORIES[kind](np.random.default_rng(0), *_bodies(np.random.default_rng(0))[1]))
    for k in range(n):
        rng = np.random.default_rng([seed, k])
        m, bodies = _bodies(rng)
        m.add(FACTORIES[kind](rng, *bodies)[k])
        yield pl.compile(m), rng


def _bodies(rng):
    m = pl.Model("contract")
    for name in "abc":
        m.add(pl.Body(name, 1.0, 0.1, r=rng.normal(size=2), phi=rng.uniform(-3, 3)))
    return m, (*m.bodies, m.ground)


def random_state(system, rng, shape=()):
    q, v = rng.normal(size=(*shape, system.nq)), rng.normal(size=(*shape, system.nq))
    t = rng.uniform(0.1, 2.0, shape)
    for array in (q, v, t):
        array.flags.writeable = False  # a kernel that writes into its input fails here
    return t, q, v


def assert_same(got, want, tol=1e-12):
    scale = max(1.0, float(np.abs(want).max(initial=0.0)))
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=0, atol=tol * scale)


def along(system, t, q, v, dt, dq):
    """Constraints at (t + i h dt, q + i h dq): the motions follow as f + i h f' dt, f' + i h f'' dt."""
    F = system.motion_values(t)
    dF = np.stack([F[1], F[2], np.zeros_like(F[2])])
    return system.evaluate(t + 1j * H * dt, q + 1j * H * dq, v, F + 1j * H * dt * dF)


# --- constraints -----------------------------------------------------------------------------------------------------


def test_every_registered_kind_has_a_factory_and_every_primitive_is_used():
    known = {name for name, kind in KINDS.items() if kind.__module__ != __name__}
    assert known == set(FACTORIES), "add a factory for each new kind, remove those of kinds that are gone"
    used = {b.primitive.name for kind in kinds(Constraint) for s, _ in systems(kind) for b in s.batches}
    assert used == set(PRIMITIVES)
    used = {b.law.name for kind in kinds(Force) for s, _ in systems(kind) for b in s.forcing.batches}
    assert used == set(LAWS)


@each_constraint
@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_the_derivative_of_phi(kind, seed):
    for system, rng in systems(kind, seed):
        t, q, v = random_state(system, rng)
        J = system.pattern.to_dense(system.constraints(t, q, v).Phi_q)
        step = along(system, t, q, v, 0.0, np.eye(system.nq)).Phi.imag.T / H
        assert_same(J, step)
        assert np.abs(J).max() > 0


@each_constraint
@pytest.mark.parametrize("seed", range(3))
def test_nu_is_minus_the_time_derivative_of_phi(kind, seed):
    for system, rng in systems(kind, seed):
        t, q, v = random_state(system, rng)
        nu = system.constraints(t, q, v).nu
        assert_same(nu, -along(system, t, q, v, 1.0, 0 * q).Phi.imag / H)
        assert nu.any() == (issubclass(KINDS[kind], pl.elements.Driver) or kind == "UserConstraint")


@each_constraint
@pytest.mark.parametrize("seed", range(3))
def test_gamma_is_what_is_left_of_the_second_derivative(kind, seed):
    """d/dt (Phi_q v - nu) along q' = v with v' = 0 is (Phi_q v)_q v + 2 Phi_qt v + Phi_tt = -gamma."""
    for system, rng in systems(kind, seed):
        t, q, v = random_state(system, rng)
        e = along(system, t, q, v, 1.0, v)
        rate = (system.pattern.multiply(e.Phi_q, v) - e.nu).imag / H
        assert_same(system.constraints(t, q, v).gamma, -rate)


@each_constraint
def test_batch_equals_single(kind):
    for system, rng in systems(kind):
        t, q, v = random_state(system, rng, (4, 3))
        batch = system.constraints(t, q, v)
        for k in np.ndindex(4, 3):
            single = system.constraints(t[k], q[k], v[k])
            for got, want in zip(batch, single, strict=True):
                assert_same(got[k], want, 1e-14)  # the same operations; cos and sin may differ in the last bit


@each_constraint
def test_what_is_taken_from_the_drawing_closes_the_drawing(kind):
    """Lengths, angles, starts and phases that were left open: Phi = 0 in the drawn pose while the motion is zero."""
    for system, _ in systems(kind):
        element = system.model["x"]
        if element.drawn_need or kind in ("Gear", "GearMesh", "RackPinion"):
            q, still = system.q_drawn, np.zeros(system.nq)
            Phi = system.evaluate(0.0, q, still, np.zeros((3, len(system.motions) + 1))).Phi
            rows = [k for k, name in enumerate(system.row_names) if kind != "Weld" or name == "x.angle"]
            assert np.abs(Phi[rows]).max() < 1e-14


def test_a_new_kind_is_one_class_and_wants_a_factory(monkeypatch):
    """A dataclass of primitives registers itself, and the tests above ask for its factory by name."""
    monkeypatch.setattr("planar.elements.KINDS", dict(KINDS))

    @dataclass(eq=False)
    class Hinge(pl.elements.Joint):
        point_i: Point
        point_j: Point
        play: float = 0.0

        def blocks(self):
            i, j = self.point_i, self.point_j
            yield pl.elements.Block("coincide", (i.body, j.body), (*i.s, *j.s), ("x", "y"))

    assert pl.elements.KINDS["Hinge"] is Hinge
    m, (a, b, _, _) = _bodies(np.random.default_rng(0))
    m.add(Hinge("hinge", a.point(0.1, 0), b.point(0, 0.1), play=1))
    m.add(pl.Revolute("pin", a.point(0.1, 0), b.point(0, 0.1)))
    system = pl.compile(m.copy())
    Phi = system.constraints(0.0, system.q_drawn).Phi
    np.testing.assert_array_equal(Phi[:2], Phi[2:])
    with pytest.raises(pl.ModelError, match="Hinge 'h': point_j must be a point"):
        Hinge("h", a.point(0, 0), b)
    with pytest.raises(
        pytest.fail.Exception, match=r"'Hinge' is registered but has no factory here: add FACTORIES\['Hinge'\]"
    ):
        next(systems("Hinge"))


@pytest.mark.skipif(not has_numba(), reason="numba is not installed")
def test_numpy_equals_numba():
    """All compiled primitives; the Jacobian is written to the positions of the pattern."""
    done = set()
    for kind in kinds(Constraint):
        for system, rng in systems(kind):
            packed = pack(system)
            if packed is None:
                continue
            t, q, v = random_state(system, rng)
            want = system.constraints(t, q, v)
            Phi, nu, gamma = (np.full(system.nc, np.nan) for _ in range(3))
            J = np.full(system.pattern.nnz + 1, np.nan)
            ground = np.zeros(3)
            F = system.motion_values(t)
            compiled().evaluate(*packed, np.append(q, ground), np.append(v, ground), F, Phi, J, nu, gamma)
            for got, value in zip((Phi, J[:-1], nu, gamma), want, strict=True):
                assert_same(got, value, 1e-14)
            done |= {b.primitive.name for b in system.batches}
    assert done >= set(PRIMITIVES) - {"curve"}


def test_mesh_counts_the_turns_of_the_line_of_centres():
    """The planet's centre goes round the sun three times: Phi changes smoothly, never by a turn."""
    m = pl.Model()
    sun = m.add(pl.Body("sun", 1, 1, r=(0, 0), phi=0.0))
    planet = m.add(pl.Body("planet", 1, 1, r=(0.3, 0), phi=0.0))
    m.add(pl.GearMesh("mesh", sun.point(0, 0), planet.point(0, 0), 0.2, 0.1))
    system = pl.compile(m)
    theta = np.linspace(0, 6 * np.pi, 500)
    q = np.zeros((500, 6))
    q[:, 3], q[:, 4], q[:, 5] = 0.3 * np.cos(theta), 0.3 * np.sin(theta), 3 * theta  # rolls: (r_s + r_p)/r_p turns
    assert np.abs(system.constraints(np.zeros(500), q).Phi).max() < 1e-14 * 60


# --- the user's own constraints ----------------------------------------------------------------------------------------


def test_user_constraint_finds_the_derivatives_that_were_given_by_hand():
    rng = np.random.default_rng(4)
    m, (a, b, _, _) = _bodies(rng)
    m.add(pl.UserConstraint("found", [a, b], _sine_track, rows=2))
    m.add(pl.UserConstraint("given", [a, b], _sine_track, rows=2, **BY_HAND))
    system = pl.compile(m)
    e = system.constraints(*random_state(system, rng, (5,)))
    J = system.pattern.to_dense(e.Phi_q)
    assert_same(J[:, :2], J[:, 2:], 1e-15)
    for value in (e.Phi, e.nu, e.gamma):
        assert_same(value[:, :2], value[:, 2:], 1e-14)


def test_user_constraint_equals_the_built_in_one():
    rng = np.random.default_rng(5)
    m, (a, b, _, _) = _bodies(rng)
    p, s = _point(rng, a), _point(rng, b)
    m.add(pl.Distance("rod", p, s, 0.8))

    def length(t, i, j):
        dx = (
            j.x
            + np.cos(j.phi) * s.s[0]
            - np.sin(j.phi) * s.s[1]
            - i.x
            - np.cos(i.phi) * p.s[0]
            + np.sin(i.phi) * p.s[1]
        )
        dy = (
            j.y
            + np.sin(j.phi) * s.s[0]
            + np.cos(j.phi) * s.s[1]
            - i.y
            - np.sin(i.phi) * p.s[0]
            - np.cos(i.phi) * p.s[1]
        )
        return (dx**2 + dy**2 - 0.64) / 1.6

    m.add(pl.UserConstraint("same", [a, b], length))
    system = pl.compile(m)
    e = system.constraints(*random_state(system, rng, (5,)))
    J = system.pattern.to_dense(e.Phi_q)
    assert_same(J[:, 0], J[:, 1], 1e-14)
    for value in (e.Phi, e.nu, e.gamma):
        assert_same(value[:, 0], value[:, 1], 1e-13)


# --- forces ------------------------------------------------------------------------------------------------------------


def dense(system, data):
    return system.forcing.pattern.to_dense(data)


@each_force
@pytest.mark.parametrize("seed", range(3))
def test_force_tangents_are_the_derivatives_of_q(kind, seed):
    for system, rng in systems(kind, seed):
        t, q, v = random_state(system, rng)
        K, C = (dense(system, data) for data in system.force_tangents(t, q, v))
        step = 1j * H * np.eye(system.nq)
        assert_same(K, system.forces(t, q + step, v + 0 * step).imag.T / H)
        assert_same(C, system.forces(t, q + 0 * step, v + step).imag.T / H)


@each_force
def test_forces_batch_equals_single(kind):
    for system, rng in systems(kind):
        t, q, v = random_state(system, rng, (4, 3))
        Q, (K, C) = system.forces(t, q, v), system.force_tangents(t, q, v)
        for k in np.ndindex(4, 3):
            assert_same(Q[k], system.forces(t[k], q[k], v[k]), 1e-14)
            for got, want in zip((K, C), system.force_tangents(t[k], q[k], v[k]), strict=True):
                assert_same(got[k], want, 1e-14)


def test_gravity_is_weight_and_nothing_else():
    m = pl.Model(gravity=(1.0, -9.81))
    m.add(pl.Body("a", 2.0, 0.3, r=(0, 0), phi=0.0))
    system = pl.compile(m)
    t, q, v = random_state(system, np.random.default_rng(0), (4,))
    np.testing.assert_array_equal(system.forces(t, q, v), np.tile([2.0, -19.62, 0.0], (4, 1)))
    assert not any(data.size for data in system.force_tangents(t, q, v))


FUNCTIONS = {
    # what a user may write -> its derivatives with respect to phi and omega of body b, and to its place x
    "drag": (lambda t, s: -2.0 * s["b"].omega * np.abs(s["b"].omega), lambda p, w, x: (0, -4 * abs(w), 0)),
    "friction": (lambda t, s: -np.sign(s["b"].omega) * (1 + s["b"].phi), lambda p, w, x: (-np.sign(w), 0, 0)),
    "contact": (lambda t, s: 50.0 * np.maximum(0.0, 9.0 - s["b"].r[..., 0]), lambda p, w, x: (0, 0, -50)),
    "stop": (lambda t, s: (-3 if s["b"].phi > 0 else -5) * s["b"].phi, lambda p, w, x: (-3 if p > 0 else -5, 0, 0)),
    "place by number": (lambda t, s: s["b"].r[0] ** 3, lambda p, w, x: (0, 0, 3 * x**2)),
    "where": (lambda t, s: np.where(s["b"].omega > 0, s["b"].omega ** 2, 0.0), lambda p, w, x: (0, 2 * w * (w > 0), 0)),
    "whole state": (lambda t, s: np.sin(s.q[..., 5]) * s.v[..., 5], lambda p, w, x: (w * np.cos(p), np.sin(p), 0)),
    "time alone": (lambda t, s: np.exp(-t), lambda p, w, x: (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_tangents_of_ordinary_functions_are_exact(name, seed):
    """Kinks, branches and indices included: no complex number ever reaches the user's function."""
    function, slopes = FUNCTIONS[name]
    system, s = one(lambda a, b, c, g: pl.Torque("T", a, function), seed)
    K, C = (dense(system, data) for data in system.force_tangents(s.t, s.q, s.v))
    phi, omega, x = slopes(s["b"].phi, s["b"].omega, s["b"].r[0])
    want_K, want_C = np.zeros((2, 9, 9))
    want_K[2, 5], want_K[2, 3], want_C[2, 5] = phi, x, omega
    assert_same(K, want_K, 1e-14)
    assert_same(C, want_C, 1e-14)


@pytest.mark.parametrize(
    "function",
    [
        lambda t, s: -3.0 * s["b"].r,
        lambda t, s: (-3.0 * s["b"].r[..., 0], -3.0 * s["b"].r[..., 1]),
        lambda t, s: np.stack([-3.0 * s["b"].r[..., 0], -3.0 * s["b"].r[..., 1]]),
        lambda t, s: np.array([-3.0 * s["b"].r[0], -3.0 * s["b"].r[1]]),
        lambda t, s: [-3.0 * x for x in s["b"].r],
        lambda t, s: -3.0 * np.linalg.norm(s["b"].r) * s["b"].r / np.sqrt(s["b"].r @ s["b"].r),
    ],
)
@pytest.mark.parametrize("lead", [(), (1,), (2,), (3,), (2, 2)])
def test_a_pair_may_be_returned_in_any_natural_way(function, lead):
    """Also where the number of states equals that of the components."""
    system, _ = one(lambda a, b, c, g: pl.PointForce("F", b.point(0, 0), function))
    t, q, v = random_state(system, np.random.default_rng(2), lead)
    want = np.zeros((*lead, 9))
    want[..., 3:5] = -3.0 * q[..., 3:5]
    assert_same(system.forces(t, q, v), want, 1e-14)
    K, C = (dense(system, data) for data in system.force_tangents(t, q, v))
    want = np.zeros((*lead, 9, 9))
    want[..., 3, 3] = want[..., 4, 4] = -3.0
    assert_same(K, want, 1e-14)
    assert not C.any()


def test_a_function_that_cannot_be_differentiated_says_so():
    system, s = one(lambda a, b, c, g: pl.Torque("T", a, lambda t, s: math.sin(s["b"].phi)))
    assert np.isfinite(system.forces(s.t, s.q, s.v)).all()
    with pytest.raises(
        pl.ModelError, match=r"Torque 'T': the derivatives of its function cannot be found: .* use NumPy"
    ):
        system.force_tangents(s.t, s.q, s.v)


def test_user_constraints_may_branch_on_values():
    def bump(t, p):
        return p.y if p.x < 0 else p.y - p.x**3

    system, _ = one(lambda a, b, c, g: pl.UserConstraint("track", a, bump))
    t, q, v = random_state(system, np.random.default_rng(1), (20,))
    x, y, vx = q[:, 0], q[:, 1], v[:, 0]
    e = system.constraints(t, q, v)
    right = x >= 0
    assert 3 < right.sum() < 17
    assert_same(e.Phi[:, 0], y - right * x**3, 1e-15)
    assert_same(system.pattern.to_dense(e.Phi_q)[:, 0, 0], -3 * right * x**2, 1e-15)
    assert_same(e.gamma[:, 0], 6 * right * x * vx**2, 1e-14)


def test_user_constraints_that_write_into_their_arguments_do_no_harm():
    def shifted(t, p):
        x = p.x
        x -= 1.0
        return x * p.y

    system, _ = one(lambda a, b, c, g: pl.UserConstraint("track", a, shifted))
    t, q, v = random_state(system, np.random.default_rng(1), (5,))
    e = system.constraints(t, q, v)
    assert_same(e.Phi[:, 0], (q[:, 0] - 1) * q[:, 1], 1e-15)
    assert_same(system.pattern.to_dense(e.Phi_q)[:, 0, 1], q[:, 0] - 1, 1e-15)


def one(element_of, seed=9):
    m, bodies = _bodies(np.random.default_rng(8))
    m.add(element_of(*bodies))
    system = pl.compile(m)
    return system, pl.state.State(system, *random_state(system, np.random.default_rng(seed)))


@pytest.mark.parametrize("frame", ["global", "body"])
def test_point_force_does_the_work_of_a_force_at_its_point(frame):
    system, s = one(lambda a, b, c, g: pl.PointForce("F", b.point(0.3, -0.4), (2.0, 5.0), frame=frame))
    F = np.array([2.0, 5.0])
    if frame == "body":
        c, n = np.cos(s["b"].phi), np.sin(s["b"].phi)
        F = np.array([[c, -n], [n, c]]) @ F
    power = F @ s.point(system.model["b"].point(0.3, -0.4)).v
    assert system.forces(s.t, s.q, s.v) @ s.v == pytest.approx(power, rel=1e-13)


def test_spring_pulls_with_its_tension_and_derives_from_its_energy():
    system, s = one(
        lambda a, b, c, g: pl.Spring(
            "S", a.point(0.1, 0.2), b.point(0.3, -0.4), stiffness=40.0, length=0.2, damping=3.0, force=5.0
        )
    )
    spring = system.model["S"]

    def length(q):
        i, j = (pl.state.State(system, 0, q, s.v).point(p).r for p in (spring.point_i, spring.point_j))
        return np.sqrt(((j - i) ** 2).sum(-1))

    l, rate = length(s.q), length(s.q + 1j * H * s.v).imag / H
    tension = 40.0 * (l - 0.2) + 3.0 * rate + 5.0
    assert system.forces(s.t, s.q, s.v) @ s.v == pytest.approx(-tension * rate, rel=1e-12)
    energy = 20.0 * (length(s.q + 1j * H * np.eye(9)) - 0.2) ** 2 + 5.0 * length(s.q + 1j * H * np.eye(9))
    assert_same(system.forces(s.t, s.q, 0 * s.v), -energy.imag / H)


def test_torsion_spring_acts_and_reacts():
    system, s = one(lambda a, b, c, g: pl.TorsionSpring("T", a, b, stiffness=3.0, angle=0.2, damping=0.5, torque=1.5))
    T = 3.0 * (s["b"].phi - s["a"].phi - 0.2) + 0.5 * (s["b"].omega - s["a"].omega) + 1.5
    assert_same(system.forces(s.t, s.q, s.v), np.array([0, 0, T, 0, 0, -T, 0, 0, 0]), 1e-15)


def test_a_spring_of_length_zero_is_finite_and_stiff_in_every_direction():
    system, _ = one(lambda a, b, c, g: pl.Spring("S", a.point(0, 0), g.point(0, 0), stiffness=7.0, length=0.0))
    rest = np.zeros(9)
    assert not system.forces(0.0, rest, rest).any()
    K = dense(system, system.force_tangents(0.0, rest, rest)[0])
    np.testing.assert_allclose(K[:2, :2], -7.0 * np.eye(2), rtol=1e-15)
