"""Building, looking up, varying and checking models: every mistake ends in a ModelError that names it."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from mechanisms import four_bar, planetary, random_mechanism

import planar as pl
from planar import ModelError
from planar.projection import not_held

nan, inf = math.nan, math.inf


# --- building -------------------------------------------------------------------------------------------------------


def test_the_spelling_of_the_contract():
    m = pl.Model("four-bar", gravity=(0.0, -9.81))
    crank = m.add(
        pl.Body("crank", mass=1.0, inertia=0.010, r=(0.05, 0.0), phi=0.0, points={"A": (-0.05, 0), "B": (0.05, 0)})
    )
    coupler = m.add(pl.Body.rod("coupler", mass=2.0, length=0.30, start="B", end="C"))
    rocker = m.add(pl.Body.rod("rocker", mass=1.5, length=0.25, start="D", end="C", inertia=0.008))
    ground = m.ground
    A = m.add(pl.Revolute("A", ground.point(0, 0), crank["A"]))
    B = m.add(pl.Revolute("B", crank["B"], coupler["B"]))
    C = m.add(pl.Revolute("C", coupler["C"], rocker["C"]))
    D = m.add(pl.Revolute("D", ground.point(0.3, 0), rocker["D"]))
    motor = m.add(pl.AngleDriver("motor", ground, crank, motion=pl.Ramp(rate=2 * np.pi)))
    m.validate()
    assert m.problems() == []
    assert m.bodies == [crank, coupler, rocker]
    assert m.joints == [A, B, C, D]
    assert m.drivers == [motor]
    assert m.constraints == [A, B, C, D, motor]
    assert m.forces == []
    assert list(m) == [crank, coupler, rocker, A, B, C, D, motor]
    assert coupler.inertia == pytest.approx(2.0 * 0.3**2 / 12, rel=1e-15)
    assert rocker.inertia == 0.008
    assert coupler.r is None and coupler.phi is None
    assert repr(m) == "<Model 'four-bar': 3 bodies, 4 joints, 1 drivers, 0 forces>"


def test_every_other_joint_driver_and_force_of_the_contract():
    m = pl.Model()
    a, b, c = (m.add(pl.Body(name, 1.0, 0.1, r=(k, 0.5), phi=0.1 * k)) for k, name in enumerate("abc"))
    g = m.ground
    m.add(pl.Weld("weld", a.point(0, 0), b.point(0, 0), angle=0.0))
    m.add(pl.Translational("slide", g.axis((0, 0), (1, 0)), a.axis((0, 0), (1, 0))))
    m.add(pl.Distance("rod", a.point(0, 0), b.point(0.1, 0), length=None))
    m.add(pl.PinInSlot("slot", g.axis((0, 0), (0, 1)), b.point(0, 0)))
    m.add(pl.Parallel("parallel", a.axis((0, 0), (1, 0)), b.axis((0, 0), (1, 0))))
    m.add(pl.Gear("gear", a, b, ratio=-2.0, carrier=None))
    m.add(pl.Gear("planet", a, b, ratio=-2.0, carrier=c))
    m.add(pl.GearMesh("mesh", a.point(0, 0), b.point(0, 0), radius_i=0.4, radius_j=0.6, pressure_angle=np.deg2rad(20)))
    m.add(pl.GearMesh("ring", a.point(0, 0), b.point(0, 0), radius_i=0.4, radius_j=1.4, internal=True))
    m.add(pl.RackPinion("rack", a.axis((0, 0), (1, 0)), c.point(0, 0), radius=0.1, pressure_angle=0.3))
    m.add(pl.PointOnCurve("cam", a, pl.circle(0.2), b.point(0, 0)))
    m.add(pl.LengthDriver("length", a.point(0, 0), c.point(0, 0), "1 + 0.1*sin(t)"))
    m.add(pl.SlideDriver("push", g.axis((0, 0), (1, 0)), a.point(0, 0), lambda t: 0.1 * np.cos(t)))
    m.add(pl.PointDriver("path", c.point(0, 0), pl.Harmonic(1, 2), pl.Polynomial([0, 1])))
    m.add(pl.CoordinateDriver("turn", c, "phi", pl.Rise(1.0, 0.0, 1.0, law="cycloidal")))
    m.add(pl.AngleDriver("table", a, c, pl.Table([0, 1, 2, 3], [0, 1, 0, 1])))
    m.add(pl.PointForce("F", a.point(0, 0), force=(1.0, "sin(t)"), frame="body"))
    m.add(pl.Torque("T", b, lambda t, state: -0.1 * state[b].omega))
    m.add(pl.Spring("S", g.point(0, 0), a.point(0, 0), stiffness=10.0, length=None, damping=0, force=0))
    m.add(pl.TorsionSpring("TS", g, a, stiffness=1.0, angle=None, damping=0, torque="t"))
    m.add(pl.UserForce("drag", [a, b], lambda t, s: [(0.0, 0.0, -s[x].omega) for x in (a, b)]))
    m.add(pl.UserConstraint("own", [a, b], lambda t, a, b: a.x - b.y))
    assert m.problems() == []
    system = pl.compile(m)
    assert np.isfinite(system.forces(0.0, system.q_drawn, system.v_drawn)).all()
    assert system.row_names[:3] == ("weld.x", "weld.y", "weld.angle")
    assert system.row_names[-1] == "table.angle"
    assert system.nc == len(system.driven)


def test_points_of_a_body_given_from_any_origin():
    by_point = pl.Body.from_origin(
        "plate", 1.0, 0.1, com="G", points={"A": (0, 0), "G": (0.3, 0.1)}, origin=(1, 2), phi=math.pi / 2
    )
    assert by_point.points["G"] == (0, 0)
    assert by_point.points["A"] == (-0.3, -0.1)
    assert by_point.r == pytest.approx((0.9, 2.3))
    by_place = pl.Body.from_origin("plate", 1.0, 0.1, com=(0.3, 0.1), points={"A": (0, 0)})
    assert by_place.points["A"] == (-0.3, -0.1) and by_place.r is None


def test_numbers_of_any_kind_are_taken():
    body = pl.Body("a", np.float32(1), np.int64(2), r=np.array([1, 2]), phi=np.array(0.5), v=[1, 2], omega=1)
    assert (body.mass, body.inertia, body.r, body.phi, body.v, body.omega) == (
        1.0,
        2.0,
        (1.0, 2.0),
        0.5,
        (1.0, 2.0),
        1.0,
    )
    assert all(type(x) is float for x in (body.mass, body.inertia, *body.r, body.phi, body.omega))
    assert type(pl.Distance("d", body.point(0, 0), pl.Body("b").point(0, 0), np.int64(2)).length) is float


def test_axes_by_points_names_and_numbers():
    body = pl.Body("a", points={"P": (1, 2), "Q": (4, 6)})
    for axis in (body.axis("P", "Q"), body.axis(body["P"], (4, 6))):
        assert axis.start == (1, 2) and axis.length == 5 and axis.direction == (0.6, 0.8)
    with pytest.raises(ModelError, match="a point of another body"):
        body.axis(pl.Body("b").point(0, 0), (1, 1))


# --- look up, copy, leave out ------------------------------------------------------------------------------------------


def test_lookup_by_name_and_the_nearest_name():
    m = four_bar()
    assert m["crank"] is m.bodies[0] and m["ground"] is m.ground and m["B"] is m.joints[1]
    assert "crank" in m and m["crank"] in m and "ground" in m and "crnk" not in m
    with pytest.raises(ModelError, match=r"model 'four-bar': nothing is named 'crnk'; did you mean 'crank'\?"):
        m["crnk"]
    with pytest.raises(ModelError, match="body 'crank' has no point 'C'; known: 'A', 'B'"):
        m["crank"]["C"]
    with pytest.raises(ModelError, match="nothing is named 3"):
        m[3]


def test_a_copy_is_independent_and_complete():
    m = random_mechanism(3)
    m.ground.points["origin"] = (0.0, 0.0)
    other = m.copy()
    assert [i.name for i in other] == [i.name for i in m]
    assert not {id(i) for i in other} & {id(i) for i in m}
    assert other.ground is not m.ground and other.ground["origin"].s == (0, 0)
    assert all(b in (other.ground, *other.bodies) for c in (*other.constraints, *other.forces) for b in c.bodies)
    assert other.problems() == []
    before = pl.compile(m).q_drawn.copy()
    for body in other.bodies:
        body.r, body.mass = (9.0, 9.0), 9.0
        body.points["new"] = (1, 1)
    np.testing.assert_array_equal(pl.compile(m).q_drawn, before)
    assert "new" not in m.bodies[0].points


def test_a_copy_gives_the_same_numbers():
    m = random_mechanism(5)
    s1, s2 = pl.compile(m), pl.compile(m.copy())
    q, v = np.random.default_rng(0).normal(size=(2, s1.nq))
    for x, y in zip(s1.constraints(0.3, q, v), s2.constraints(0.3, q, v), strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(s1.forces(0.3, q, v), s2.forces(0.3, q, v))


def test_a_copy_rewires_lists_of_bodies():
    m = pl.Model()
    a, b = (m.add(pl.Body(name, 1.0, 0.1, r=(0, 0), phi=0.0)) for name in "ab")
    m.add(pl.UserForce("push", [a, b], lambda t, s: ((0, 0, 1), (0, 0, 2))))
    m.add(pl.UserConstraint("own", [b, a], lambda t, b, a: b.x - 2 * a.x))
    m.add(pl.Gear("gear", a, b, 2.0, carrier=m.ground))
    other = m.copy()
    for name, bodies in (("push", "ab"), ("own", "ba")):
        assert [x is other[y] for x, y in zip(other[name].on, bodies, strict=True)] == [True, True]
    assert other["gear"].carrier is other.ground
    assert other.problems() == []
    np.testing.assert_array_equal(pl.compile(other).forces(0.0, np.zeros(6), np.zeros(6)), [0, 0, 1, 0, 0, 2])


def test_callables_of_a_copied_model_read_the_copy():
    """A closure holds bodies of the original; they are found by name."""
    m = pl.Model()
    a = m.add(pl.Body("a", 1.0, 0.1, r=(0, 0), phi=0.0))
    m.add(pl.Torque("T", a, lambda t, state: -2.0 * state[a].omega))
    s = pl.compile(m.copy())
    assert s.forces(0.0, np.zeros(3), np.array([0.0, 0.0, 3.0]))[2] == -6.0


def test_without_takes_objects_and_names_and_what_hangs_on_a_body():
    m = four_bar()
    free = m.without(m["motor"])
    assert [d.name for d in m.drivers] == ["motor"] and free.drivers == []
    assert m.without("motor", "C")["A"].name == "A"
    assert [i.name for i in m.without(m["rocker"])] == ["crank", "coupler", "A", "B", "motor"]
    assert [i.name for i in m.without()] == [i.name for i in m]
    for wrong, message in (
        ("moter", "did you mean 'motor'"),
        (3, "nothing is named 3"),
        ([m["motor"]], "nothing is named"),
        (m.ground, "ground cannot be left out"),
    ):
        with pytest.raises(ModelError, match=message):
            m.without(wrong)


def test_what_was_left_out_can_be_added_again():
    m = four_bar()
    free = m.without("motor")
    for _ in range(50):  # an identity of a collected object may be used again by a new one
        free.add(pl.Torque(f"T{_}", free["crank"], 1.0))
        free = free.without(f"T{_}")
    free.add(pl.AngleDriver("motor", free.ground, free["crank"], "t"))
    free.validate()


def test_adding_twice_or_something_else():
    m = four_bar()
    with pytest.raises(ModelError, match="'crank' is already in the model; add it once"):
        m.add(m["crank"])
    with pytest.raises(ModelError, match="'ground' is already in the model"):
        m.add(m.ground)
    for wrong in ("crank", None, [pl.Body("b")], pl.Ramp(1.0)):
        with pytest.raises(ModelError, match="cannot add"):
            m.add(wrong)


# --- all problems at once ---------------------------------------------------------------------------------------------


def test_every_problem_in_one_error():
    other = pl.Model("other")
    foreign = other.add(pl.Body("foreign", 1, 1, r=(0, 0), phi=0))
    m = pl.Model("broken", gravity=(0, nan))
    a = m.add(pl.Body("a", mass=-1.0, inertia=0.1, r=(0, 0), phi=0.0))
    b = m.add(pl.Body("b", mass=1.0, inertia=-0.5, r=(nan, 0), phi=inf, v=(inf, 0), omega=nan, points={"P": (0, nan)}))
    m.add(pl.Body("b", mass=nan, inertia=0.1, r=(1, 0), phi=0.0))
    m.add(pl.Body("ground", mass=1, inertia=1, r=(0, 0), phi=0))
    m.add(pl.Body("dust", r=(0, 0), phi=0.0))
    m.add(pl.Body("point mass", mass=1.0, r=(0, 0), phi=0.0))
    m.add(pl.Body("wheel", inertia=1.0, r=(0, 0), phi=0.0))
    c = m.add(pl.Body("c", 1.0, 1.0))
    m.add(pl.Revolute("", a.point(0, 0), b.point(0, 0)))
    m.add(pl.Revolute(7, a.point(0, 0), b.point(0, 0)))
    m.add(pl.Revolute("self", a.point(0, 0), a.point(1, 0)))
    m.add(pl.Revolute("far", a.point(0, 0), foreign.point(0, 0)))
    m.add(pl.Revolute("other ground", other.ground.point(0, 0), a.point(0, 0)))
    m.add(pl.Revolute("lost", a.point(0, 0), pl.Body("nowhere").point(0, 0)))
    m.add(pl.Revolute("nan", a.point(nan, 0), m.ground.point(0, inf)))
    m.add(pl.Translational("short", a.axis((1, 1), (1, 1)), m.ground.axis((0, 0), (nan, 1))))
    m.add(pl.Distance("zero", a.point(0, 0), m.ground.point(0, 0), length=0.0))
    m.add(pl.Distance("negative", a.point(0, 0), m.ground.point(0, 0), length=-0.2))
    m.add(pl.Distance("drawn zero", a.point(0, 0), m.ground.point(0, 0)))
    m.add(pl.Distance("not drawn", a.point(0, 0), c.point(0, 0)))
    m.add(pl.Weld("weld nan", a.point(0, 0), c.point(0, 0), angle=nan))
    m.add(pl.Weld("weld as drawn", a.point(0, 0), c.point(0, 0), angle=None))
    m.add(pl.Gear("no ratio", a, m.ground, ratio=0.0))
    m.add(pl.Gear("nan ratio", a, m.ground, ratio=nan))
    m.add(pl.Gear("huge ratio", a, m.ground, ratio=1e200))
    m.add(pl.GearMesh("mesh", a.point(0, 0), m.ground.point(1, 0), radius_i=-0.1, radius_j=0.0, pressure_angle=2.0))
    m.add(pl.GearMesh("ring", a.point(0, 0), m.ground.point(1, 0), radius_i=0.1, radius_j=0.1, internal=True))
    m.add(pl.GearMesh("same centre", a.point(0, 0), m.ground.point(0, 0), radius_i=0.1, radius_j=0.2))
    m.add(pl.RackPinion("rack", a.axis((0, 0), (1, 0)), m.ground.point(0, 0), radius=nan, side="up"))
    m.add(pl.AngleDriver("no motion", m.ground, a))
    m.add(pl.AngleDriver("nan motion", m.ground, a, lambda t: t * nan))
    m.add(pl.AngleDriver("bad text", m.ground, a, "sin(t"))
    m.add(pl.AngleDriver("raises", m.ground, a, lambda t: {}["x"]))
    m.add(pl.AngleDriver("list", m.ground, a, [1, 2]))
    m.add(pl.LengthDriver("starts at 0", m.ground.point(1, 0), a.point(0, 0), pl.Ramp(0.1)))
    m.add(pl.PointDriver("nothing driven", a.point(0, 0)))
    m.add(pl.PointDriver("moves ground", m.ground.point(0, 0), x="t"))
    m.add(pl.CoordinateDriver("z", a, "z", "t"))
    m.add(pl.CoordinateDriver("g", m.ground, "x", "t"))
    m.add(pl.CoordinateDriver("undrawn", c, "x", "t", from_drawn=True))
    m.add(pl.PointForce("on ground", m.ground.point(0, 0), (1, 0)))
    m.add(pl.PointForce("one number", a.point(0, 0), 3.0))
    m.add(pl.PointForce("three", a.point(0, 0), (1, 2, 3), frame="local"))
    m.add(pl.PointForce("text", a.point(0, 0), ("heavy", nan)))
    m.add(pl.Torque("torque on ground", m.ground, 1.0))
    m.add(pl.Torque("nan torque", a, nan))
    m.add(pl.Torque("class", a, pl.Ramp))
    m.add(pl.Torque("one argument", a, lambda t: t))
    m.add(pl.Spring("spring", a.point(0, 0), m.ground.point(0, 0), stiffness=inf, length=-1.0))
    m.add(pl.Spring("undrawn spring", a.point(0, 0), c.point(0, 0), stiffness=1.0))
    m.add(pl.UserForce("ground force", m.ground, lambda t, s: (0, 0, 0)))
    m.add(pl.UserForce("no arguments", a, lambda: (0, 0, 0)))
    m.add(pl.UserConstraint("half", a, lambda t, a: a.x, jacobian=lambda t, a: (1, 0, 0)))
    m.add(pl.UserConstraint("too few", a, lambda t: 0.0))
    m.add(pl.UserConstraint("no rows", a, lambda t, a: (), rows=0))
    m.add(pl.UserConstraint("same rows", a, lambda t, a: (a.x, a.y), rows=("p", "p")))

    wanted = [
        r"gravity is \(0\.0, nan\); give finite numbers in m/s\^2",
        r"body 'a': mass is -1 kg; give a value >= 0",
        r"body 'b': inertia is -0.5 kg m\^2; give a value >= 0",
        r"body 'b': r is \(nan, 0\.0\)",
        r"body 'b': phi is inf",
        r"body 'b': v is \(inf, 0\.0\)",
        r"body 'b': omega is nan",
        r"body 'b': point 'P' is \(0\.0, nan\); give finite coordinates",
        r"the name 'b' is used for a Body and a Body; names must be different",
        r"body 'b': mass is nan kg; give a finite number",
        r"the name 'ground' is used for a Ground and a Body",
        r"body 'dust': is massless and no joint holds it; give a mass or a joint",
        r"body 'point mass': inertia is 0 kg m\^2 and no joint holds its angle",
        r"body 'wheel': mass is 0 kg and no joint holds it",
        r"a Revolute has the name ''; give a non-empty",
        r"a Revolute has the name 7; give a non-empty",
        r"Revolute 'self': acts from body 'a' to itself; use two different bodies",
        r"Revolute 'far': its body 'foreign' is not in this model; add it with m\.add",
        r"Revolute 'other ground': its body 'ground' belongs to another model; use m\.ground of this one",
        r"Revolute 'lost': its body 'nowhere' is not in this model",
        r"Revolute 'nan': a\.point\(nan, 0\) has a coordinate that is not finite",
        r"Revolute 'nan': ground\.point\(0, inf\) has a coordinate that is not finite",
        r"Translational 'short': axis on body 'a' has length 0 at \(1\.0, 1\.0\); give two different points",
        r"Translational 'short': ground\.axis\(.*\) has a coordinate that is not finite",
        r"Distance 'zero': length is 0 m; give a positive length, or use a Revolute",
        r"Distance 'negative': length is -0.2 m",
        r"Distance 'drawn zero': the drawn distance is 0 m",
        r"Distance 'not drawn': length is to be taken from the drawn pose, but 'c' has none; give r= and phi= of 'c', or give",
        r"Weld 'weld nan': angle is nan; give a finite number",
        r"Weld 'weld as drawn': angle is to be taken from the drawn pose, but 'c' has none; give phi= of 'c'",
        r"Gear 'no ratio': ratio is 0",
        r"Gear 'nan ratio': ratio is nan; give a finite number",
        r"Gear 'huge ratio': ratio is 1e\+200; give a finite number",
        r"GearMesh 'mesh': radius_i is -0.1 m; give a positive pitch radius",
        r"GearMesh 'mesh': radius_j is 0 m",
        r"GearMesh 'mesh': pressure_angle is 2 rad; give 0 <= angle < pi/2",
        r"GearMesh 'ring': internal pair with equal radii 0\.1 m; the ring must be larger",
        r"GearMesh 'same centre': the gear centres coincide in the drawn pose; draw them 0\.3 m apart",
        r"RackPinion 'rack': radius is nan; give a finite number",
        r"RackPinion 'rack': side is 'up'; give 'left' or 'right'",
        r"AngleDriver 'no motion': motion is missing; give a Ramp",
        r"motion of AngleDriver 'nan motion': the value of Function.* is nan at t = 0 s; it must be finite",
        r"motion of AngleDriver 'bad text': ",
        r"motion of AngleDriver 'raises': Function.* fails at t = 0 s with KeyError: 'x'",
        r"motion of AngleDriver 'list': expected a number, a string in t, a callable or a motion, got \[1, 2\]",
        r"LengthDriver 'starts at 0': the length starts at 0 m; it must stay positive",
        r"PointDriver 'nothing driven': neither x nor y is given",
        r"PointDriver 'moves ground': ground does not move",
        r"CoordinateDriver 'z': coordinate is 'z'; give 'x', 'y' or 'phi'",
        r"CoordinateDriver 'g': ground has no coordinates",
        r"CoordinateDriver 'undrawn': its start is to be taken from the drawn pose, but 'c' has none; .* or drop from_drawn",
        r"PointForce 'on ground': acts on ground, which does not move",
        r"PointForce 'one number': force is 3\.0; give a pair \(fx, fy\), or a callable of \(t, state\)",
        r"PointForce 'three': frame is 'local'; give 'global' or 'body'",
        r"PointForce 'three': force has 3 components",
        r"fx of PointForce 'text': .*heavy",
        r"fy of PointForce 'text': .*nan",
        r"Torque 'torque on ground': acts on ground",
        r"torque of Torque 'nan torque': .*nan",
        r"torque of Torque 'class': Ramp is a class; give an instance, Ramp\(\.\.\.\)",
        r"torque of Torque 'one argument': the function must take \(t, state\), too many positional arguments",
        r"Spring 'spring': stiffness is inf; give a finite number",
        r"Spring 'spring': free length is -1 m",
        r"Spring 'undrawn spring': length is to be taken from the drawn pose, but 'c' has none",
        r"UserForce 'ground force': acts on ground",
        r"UserForce 'no arguments': the function must take \(t, state\)",
        r"UserConstraint 'half': give all of jacobian, nu and gamma, or none",
        r"UserConstraint 'too few': the function must take \(t, a\)",
        r"UserConstraint 'no rows': has no row; give rows >= 1",
        r"UserConstraint 'same rows': the rows are named \('p', 'p'\); give different",
    ]
    with pytest.raises(ModelError) as caught:
        m.validate()
    problems = caught.value.problems
    left = list(problems)
    for pattern in wanted:
        found = [p for p in left if re.search(pattern, p)]
        assert len(found) == 1, f"{pattern}: {len(found)} of {problems}"
        left.remove(found[0])
    assert left == []
    assert str(caught.value).startswith(f"model 'broken': {len(wanted)} problems\n  1. gravity is")
    with pytest.raises(ModelError) as again:
        pl.compile(m)
    assert again.value.problems == problems


def test_a_sound_model_has_no_problem():
    for m in (four_bar(), planetary(mesh=True), *(random_mechanism(seed, driven=True) for seed in range(4))):
        assert m.problems() == []


def test_an_empty_model():
    with pytest.raises(ModelError, match=r"model 'model': there is no body; add one with m\.add"):
        pl.compile(pl.Model())


# --- massless bodies --------------------------------------------------------------------------------------------------------


def unheld(m):
    a = m.assemble()
    return not_held(a.system, a.system.constraints(0.0, a.q).Phi_q)


def test_massless_motions_that_nothing_resists_are_named():
    """They are fine for kinematics, so the model has no problem; the equations of motion have one."""
    bob = pl.Model()
    body = bob.add(pl.Body("bob", mass=1.0, r=(1, 0), phi=0.0))
    bob.add(pl.Distance("string", bob.ground.point(0, 0), body.point(0, 0)))
    assert bob.problems() == []
    assert unheld(bob) == [
        "body 'bob': nothing holds its angle and its inertia is 0 kg m^2; give an inertia or a joint"
    ]
    body.inertia = 0.1
    assert unheld(bob) == []

    linkage = four_bar(speed=None)
    for name in ("crank", "coupler", "rocker"):
        linkage[name].mass = linkage[name].inertia = 0.0
    (message,) = unheld(linkage)
    assert message.startswith("'crank', 'coupler', 'rocker' can move without moving any mass")
    linkage["coupler"].mass = 1.0
    assert unheld(linkage) == []  # one mass gives every motion of a linkage of mobility 1 its inertia
    assert unheld(linkage.without("D")) != []
    held = four_bar()
    for body in held.bodies:
        body.mass = body.inertia = 0.0
    assert unheld(held) == []  # the motor holds it


@pytest.mark.parametrize("seed", range(5))
def test_random_mechanisms_with_massless_bodies_are_held(seed):
    m = random_mechanism(seed, massless=True)
    assert any(body.inertia == 0 for body in m.bodies)
    assert unheld(m) == []
