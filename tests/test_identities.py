"""Identities that hold for every mechanism: the world may be moved, ground is a body like others, nothing is changed."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import TEXTBOOK, four_bar, random_mechanism

import planar as pl
from planar.elements import Driver
from planar.motions import as_motion

seeds = st.integers(0, 10_000)
angles = st.floats(-math.pi, math.pi)
shifts = st.tuples(st.floats(-5, 5), st.floats(-5, 5))
few = settings(max_examples=25, deadline=None)


# --- moving the world --------------------------------------------------------------------------------------------------


class Move:
    """Turn the world by `angle` about the origin, then shift it."""

    def __init__(self, shift, angle):
        self.shift, self.angle = shift, angle
        self.A = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])

    def point(self, r):
        return tuple(self.A @ np.array(r) + self.shift)

    def vector(self, v):
        """(..., 2) turned."""
        return np.asarray(v) @ self.A.T

    def q(self, q):
        x = q.reshape(*q.shape[:-1], -1, 3)
        place = self.vector(x[..., :2]) + self.shift
        return np.concatenate([place, x[..., 2:] + self.angle], -1).reshape(q.shape)

    def v(self, v):
        """Velocities, and generalised forces alike."""
        x = v.reshape(*v.shape[:-1], -1, 3)
        return np.concatenate([self.vector(x[..., :2]), x[..., 2:]], -1).reshape(v.shape)

    def model(self, m):
        """The same mechanism in the moved world: poses, gravity, loads in global axes, and all that belongs to ground."""
        m = m.copy()
        m.gravity = self.vector(m.gravity)
        for body in m.bodies:
            body.r, body.phi, body.v = self.point(body.r), body.phi + self.angle, self.vector(body.v)
        for element in (*m.constraints, *m.forces):
            for name, value in vars(element).items():
                if isinstance(value, pl.Point) and value.body.is_ground:
                    setattr(element, name, m.ground.point(*self.point(value.s)))
                elif isinstance(value, pl.Axis) and value.body.is_ground:
                    setattr(element, name, m.ground.axis(self.point(value.start), self.point(value.end)))
            self._angle_from_ground(element)
            if isinstance(element, pl.PointForce) and element.frame == "global":
                fx, fy = map(as_motion, element.force)
                (a, b), (c, d) = self.A
                element.force = (a * fx + b * fy, c * fx + d * fy)
        return m

    def _angle_from_ground(self, element):
        """Ground has no angle that could turn: what is measured from it does."""
        if len(element.bodies) != 2:
            return
        sign = element.bodies[0].is_ground - element.bodies[1].is_ground
        if isinstance(element, (pl.Weld, pl.TorsionSpring)):
            element.angle += sign * self.angle
        if isinstance(element, pl.AngleDriver):
            element.motion = as_motion(element.motion) + sign * self.angle


moves = st.builds(Move, shifts, angles)


def turned_rows(move, system, rows):
    """Values (nc,) of rows in the moved world: the x and y of pins turn, everything else is the same."""
    rows = rows.copy()
    for batch in system.batches:
        if batch.primitive.name == "coincide":
            rows[batch.rows.T] = move.vector(rows[batch.rows.T])
    return rows


def near(got, want, tol):
    np.testing.assert_allclose(got, want, rtol=0, atol=tol * (1 + np.abs(want).max(initial=0.0)))


@few
@given(seeds, moves)
def test_constraints_and_forces_move_with_the_world(seed, move):
    m = random_mechanism(seed % 50, bodies=2 + seed % 5)
    here, there = pl.compile(m), pl.compile(move.model(m))
    rng = np.random.default_rng(seed)
    q, v = here.q_drawn + 0.2 * rng.normal(size=here.nq), rng.normal(size=here.nq)
    e1, e2 = here.constraints(0.4, q, v), there.constraints(0.4, move.q(q), move.v(v))
    for a, b in ((e1.Phi, e2.Phi), (e1.nu, e2.nu), (e1.gamma, e2.gamma)):
        near(b, turned_rows(move, here, a), 1e-12)
    lam = rng.normal(size=here.nc)
    pull = here.pattern.multiply_T(e1.Phi_q, lam)
    near(there.pattern.multiply_T(e2.Phi_q, turned_rows(move, here, lam)), move.v(pull), 1e-12)
    near(there.forces(0.4, move.q(q), move.v(v)), move.v(here.forces(0.4, q, v)), 1e-12)


@few
@given(seeds, moves)
def test_assembled_states_move_with_the_world(seed, move):
    m = random_mechanism(seed % 30, bodies=2 + seed % 4, shake=0.02)
    here, there = m.assemble(), move.model(m).assemble()
    near(there.q, move.q(here.q), 1e-7)  # the closest point is found to sqrt(round-off) along the constraints
    near(there.v, move.v(here.v), 1e-6)
    assert there.residual < 1e-12


@pytest.mark.parametrize("name", sorted(set(TEXTBOOK) - {"cam"}))
@few
@given(moves)
def test_driven_textbook_mechanisms_move_with_the_world(name, move):
    m = TEXTBOOK[name]()
    here, there = m.assemble(), move.model(m).assemble()
    near(there.q, move.q(here.q), 1e-12)
    near(there.v, move.v(here.v), 1e-10)


@few
@given(seeds, st.floats(0.1, 10.0))
def test_the_unit_of_length_does_not_matter(seed, unit):
    """Lengths times `unit`: rows in m scale, rows in rad stay."""
    m = random_mechanism(seed % 30, bodies=3, forces=False)
    other = m.copy()
    for body in other.bodies:
        body.r = tuple(unit * np.array(body.r))
    for joint in other.joints:
        for key, value in vars(joint).items():
            if isinstance(value, pl.Point):
                setattr(joint, key, value.body.point(*(unit * np.array(value.s))))
            if isinstance(value, pl.Axis):
                setattr(joint, key, value.body.axis(unit * np.array(value.start), unit * np.array(value.end)))
        if isinstance(joint, pl.Distance):
            joint.length *= unit
    s1, s2 = pl.compile(m), pl.compile(other)
    rng = np.random.default_rng(seed)
    q, v = s1.q_drawn + 0.2 * rng.normal(size=9), rng.normal(size=9)
    scale = np.tile([unit, unit, 1.0], 3)
    e1, e2 = s1.constraints(0.0, q, v), s2.constraints(0.0, scale * q, scale * v)
    rows = np.where(pl.projection.in_radians(s1), 1.0, unit)
    near(e2.Phi, rows * e1.Phi, 1e-13)
    near(e2.gamma, rows * e1.gamma, 1e-12)
    assert s2.length == pytest.approx(unit * s1.length, rel=1e-12)


# --- ground is a body like any other -------------------------------------------------------------------------------------


def on_a_welded_body(m):
    """The same mechanism with everything that was on ground moved to a body that is welded to ground."""
    m = m.copy()
    frame = m.add(pl.Body("frame", 1.0, 1.0, r=(0.3, -0.2), phi=0.7))
    c, s = math.cos(0.7), math.sin(0.7)

    def local(p):
        dx, dy = p[0] - 0.3, p[1] + 0.2
        return c * dx + s * dy, c * dy - s * dx

    for element in m.constraints:
        shift = 0.7 * (element.bodies[0].is_ground - element.bodies[-1].is_ground)
        for name, value in vars(element).items():
            if isinstance(value, pl.Point) and value.body.is_ground:
                setattr(element, name, frame.point(*local(value.s)))
            elif isinstance(value, pl.Axis) and value.body.is_ground:
                setattr(element, name, frame.axis(local(value.start), local(value.end)))
            elif value is m.ground:
                setattr(element, name, frame)
        if isinstance(element, pl.Weld):
            element.angle -= shift
        if isinstance(element, pl.AngleDriver):
            element.motion = as_motion(element.motion) - shift
    m.add(pl.Weld("base", m.ground.point(0, 0), frame.point(*local((0, 0))), 0.7))
    return m


@few
@given(seeds)
def test_a_body_welded_to_ground_serves_as_ground(seed):
    m = random_mechanism(seed % 50, bodies=2 + seed % 5, forces=False)
    here, there = pl.compile(m), pl.compile(on_a_welded_body(m))
    rng = np.random.default_rng(seed)
    q, v = here.q_drawn + 0.2 * rng.normal(size=here.nq), rng.normal(size=here.nq)
    e1 = here.constraints(0.0, q, v)
    e2 = there.constraints(0.0, np.append(q, [0.3, -0.2, 0.7]), np.append(v, [0, 0, 0]))
    nc, nq = here.nc, here.nq
    for a, b in ((e1.Phi, e2.Phi), (e1.nu, e2.nu), (e1.gamma, e2.gamma)):
        near(b[:nc], a, 1e-13)
    near(np.abs(e2.Phi[nc:]), 0.0, 1e-15)
    J = there.pattern.to_dense(e2.Phi_q)
    near(J[:nc, :nq], here.pattern.to_dense(e1.Phi_q), 1e-13)


@pytest.mark.parametrize("name", sorted(TEXTBOOK))
def test_textbook_mechanisms_on_a_welded_body(name):
    m = TEXTBOOK[name]()
    want = m.assemble()
    got = on_a_welded_body(m).assemble()
    near(got.q[:-3], want.q, 1e-13)
    near(got.v[:-3], want.v, 1e-11)


@few
@given(seeds)
def test_the_order_of_the_bodies_of_a_joint_changes_signs_only(seed):
    m = random_mechanism(seed % 50, bodies=2 + seed % 5, forces=False)
    other = m.copy()
    for joint in other.joints:
        if isinstance(joint, (pl.Revolute, pl.Weld, pl.Distance)):
            joint.point_i, joint.point_j = joint.point_j, joint.point_i
        if isinstance(joint, pl.Weld):
            joint.angle = -joint.angle
        if isinstance(joint, pl.Parallel):
            joint.axis_i, joint.axis_j = joint.axis_j, joint.axis_i
    s1, s2 = pl.compile(m), pl.compile(other)
    rng = np.random.default_rng(seed)
    q, v = s1.q_drawn + 0.2 * rng.normal(size=s1.nq), rng.normal(size=s1.nq)
    e1, e2 = s1.constraints(0.0, q, v), s2.constraints(0.0, q, v)
    for joint in m.joints:
        rows = s1.rows_of[joint.name]
        sign = -1.0 if isinstance(joint, (pl.Revolute, pl.Weld, pl.Parallel)) else 1.0
        near(e2.Phi[rows], sign * e1.Phi[rows], 1e-14)
        near(e2.gamma[rows], sign * e1.gamma[rows], 1e-13)


def test_the_order_of_adding_changes_the_order_of_rows_only():
    m = four_bar()
    other = pl.Model("other order", gravity=m.gravity)
    twin = m.copy()
    other.ground = twin.ground
    for item in reversed(list(twin)):
        other.add(item)
    a, b = m.assemble(0.1), other.assemble(0.1)
    for body in m.bodies:
        near(b.pose(body), a.pose(body), 1e-14)


# --- drivers ------------------------------------------------------------------------------------------------------------------


@few
@given(seeds, st.floats(0, 5), st.floats(0, 5))
def test_only_driver_rows_depend_on_time(seed, t1, t2):
    m = random_mechanism(seed % 40, bodies=2 + seed % 4, driven=True, forces=False)
    system = pl.compile(m)
    driven = np.zeros(system.nc, bool)
    for driver in m.drivers:
        driven[system.rows_of[driver.name]] = True
    np.testing.assert_array_equal(system.driven, driven)
    q = system.q_drawn + 0.1 * np.random.default_rng(seed).normal(size=system.nq)
    one, two = system.constraints(t1, q), system.constraints(t2, q)
    np.testing.assert_array_equal(one.Phi[~driven], two.Phi[~driven])
    assert not one.nu[~driven].any()
    np.testing.assert_array_equal(one.Phi_q, two.Phi_q)
    for driver in m.drivers:
        if not isinstance(driver, pl.LengthDriver):  # its row is quadratic in the length
            f = as_motion(getattr(driver, "motion", None) or driver.x)
            row = system.rows_of[driver.name]
            near(one.Phi[row] - two.Phi[row], f(t2) - f(t1), 1e-13)
            near(one.nu[row], f.evaluate(t1)[1], 1e-14)


@few
@given(seeds)
def test_without_its_drivers_a_mechanism_has_the_same_joints(seed):
    m = random_mechanism(seed % 40, bodies=2 + seed % 4, driven=True, forces=False)
    free = m.without(*m.drivers)
    s1, s2 = pl.compile(m), pl.compile(free)
    q = s1.q_drawn + 0.1 * np.random.default_rng(seed).normal(size=s1.nq)
    np.testing.assert_array_equal(s1.constraints(0.3, q).Phi[~s1.driven], s2.constraints(0.3, q).Phi)
    assert s2.row_names == s1.row_names[: s2.nc]
    assert not any(isinstance(x, Driver) for x in free)


# --- nothing is changed ---------------------------------------------------------------------------------------------------------


def arrays(x, seen=None):
    """Every array inside a compiled system, in a fixed order."""
    seen = set() if seen is None else seen
    if id(x) in seen:
        return
    seen.add(id(x))
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from arrays(item, seen)
    elif hasattr(x, "__dataclass_fields__") and type(x).__module__ in (
        "planar.system",
        "planar.batches",
        "planar.forcing",
        "planar.linear.pattern",
    ):
        for name in x.__dataclass_fields__:
            yield from arrays(getattr(x, name), seen)


@few
@given(seeds)
def test_evaluations_change_neither_input_nor_system(seed):
    m = random_mechanism(seed % 40, bodies=2 + seed % 4, driven=bool(seed % 2))
    system = pl.compile(m)
    before = copy.deepcopy(list(arrays(system)))
    assert len(before) > 10
    rng = np.random.default_rng(seed)
    t, q, v = rng.uniform(0, 1, 3), rng.normal(size=(3, system.nq)), rng.normal(size=(3, system.nq))
    kept = copy.deepcopy((t, q, v))
    first = (system.constraints(t, q, v), system.forces(t, q, v), system.force_tangents(t, q, v))
    again = (system.constraints(t, q, v), system.forces(t, q, v), system.force_tangents(t, q, v))
    for x, y in zip(first, again, strict=True):
        for a, b in zip(x, y, strict=True):
            np.testing.assert_array_equal(a, b)  # no memory of earlier calls
    for a, b in zip((t, q, v), kept, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(arrays(system), before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_later_changes_of_a_model_do_not_reach_a_compiled_system():
    m = four_bar()
    system = pl.compile(m)
    want = system.constraints(0.2, system.q_drawn)
    m["crank"].points["A"] = (9.0, 9.0)
    m["crank"].mass = 99.0
    m["A"].point_i = m.ground.point(5, 5)
    m.gravity = (1, 1)
    for a, b in zip(system.constraints(0.2, system.q_drawn), want, strict=True):
        np.testing.assert_array_equal(a, b)
    assert system.mass[0] == 1.0
    assert system.forces(0.0, system.q_drawn, system.v_drawn)[1] == pytest.approx(-9.81)
