"""Hostile input: wrong kinds, odd names, functions that fail, absurd numbers; all end in an error of planar that names it."""

from __future__ import annotations

import inspect
import math
import re

import numpy as np
import pytest
from mechanisms import four_bar

import planar as pl
from planar import ModelError
from planar.elements import KINDS

nan, inf = math.nan, math.inf


# --- wrong kinds of arguments are refused at once, all of one call together -------------------------------------------

BODY = pl.Body("a", 1, 1, r=(0, 0), phi=0)
OTHER = pl.Body("b", 1, 1, r=(1, 0), phi=0)
P, Q, AXIS = BODY.point(0, 0), OTHER.point(0, 0), BODY.axis((0, 0), (1, 0))


@pytest.mark.parametrize(
    "build, messages",
    [
        (lambda: pl.Body("a", mass="1"), ["mass of body 'a' must be a number, got '1'"]),
        (lambda: pl.Body("a", mass=True, inertia=None), ["mass of body 'a' must be a number, got True", "inertia of"]),
        (lambda: pl.Body("a", mass=10**400), ["mass of body 'a' must be a number"]),
        (lambda: pl.Body("a", mass=1j), ["mass of body 'a' must be a number"]),
        (lambda: pl.Body("a", mass=np.array([1.0])), ["mass of body 'a' must be a number"]),
        (lambda: pl.Body("a", r="12", phi="0", v=3), ["r of body 'a' must be a pair", "phi of body 'a'", "v of body 'a'"]),
        (lambda: pl.Body("a", r=(1, 2, 3)), [r"r of body 'a' must be a pair of numbers \(x, y\), got \(1, 2, 3\)"]),
        (lambda: pl.Body("a", r={1.0, 2.0}), ["r of body 'a' must be a pair"]),
        (lambda: pl.Body("a", r={"x": 1, "y": 2}), ["r of body 'a' must be a pair"]),
        (lambda: pl.Body("a", r=(True, 0)), ["r of body 'a' must be a pair"]),
        (lambda: pl.Body("a", points=[(0, 0)]), [r"points of body 'a' must be a dict \{name: \(x, y\)\}"]),
        (lambda: pl.Body("a", points={"P": (0,), "Q": 1}), ["point 'P' of body 'a'", "point 'Q' of body 'a'"]),
        (lambda: pl.Body.rod("a", "heavy", 1.0), ["mass of rod 'a' must be a number"]),
        (lambda: pl.Body.rod("a", 1.0, 0.0), ["rod 'a': length is 0.0 m; give a positive length"]),
        (lambda: pl.Body.rod("a", 1.0, nan), ["rod 'a': length is nan m"]),
        (lambda: pl.Body.rod("a", 1.0, 1.0, start="P", end="P"), ["both ends are named 'P'"]),
        (lambda: pl.Body.rod("a", 1.0, 1.0, start=["P"], end=1), [r"the ends are named \['P'\] and 1; give strings"]),
        (lambda: pl.RackPinion("A", AXIS, Q, 1.0, side=1), ["side must be a string, got 1"]),
        (lambda: pl.CoordinateDriver("A", BODY, ["x"], "t"), [r"coordinate must be a string, got \['x'\]"]),
        (lambda: pl.Constant(10**400), ["value of Constant must be a finite number"]),
        (lambda: pl.Body.from_origin("a", com="G", points={"A": (0, 0)}), ["centre of mass 'G' is not one of its points"]),
        (lambda: pl.Body.from_origin("a", com=(0, 0), points=3), ["points of body 'a' must be a dict"]),
        (lambda: pl.Body.from_origin("a", com=(0, 0), points={}, origin=(0, 0)), ["origin is given without phi"]),
        (lambda: BODY.point("x", 0), ["point of body 'a' must be a pair"]),
        (lambda: BODY.axis((0, 0), 1), ["axis point of body 'a' must be a pair"]),
        (lambda: BODY.axis("X", (1, 0)), ["body 'a' has no point 'X'"]),
        (lambda: pl.Model(gravity=-9.81), ["gravity must be a pair of numbers"]),
        (lambda: pl.Model(gravity="down"), ["gravity must be a pair of numbers"]),
        (lambda: pl.Revolute("A", BODY, (0, 0)), [r"Revolute 'A': point_i must be a point of a body", "point_j must be"]),
        (lambda: pl.Revolute("A", P, AXIS), ["point_j must be a point of a body such as crank"]),
        (lambda: pl.Translational("A", P, None), ["axis_i must be an axis of a body such as", "axis_j must be"]),
        (lambda: pl.Distance("A", P, Q, "3"), ["Distance 'A': length must be a number, got '3'"]),
        (lambda: pl.Distance("A", P, Q, True), ["Distance 'A': length must be a number, got True"]),
        (lambda: pl.Weld("A", P, Q, angle="90"), ["Weld 'A': angle must be a number"]),
        (lambda: pl.Gear("A", P, OTHER, "2", carrier="arm"), ["body_i must be", "ratio must be", "carrier must be a body"]),
        (lambda: pl.Gear("A", BODY, OTHER, None), ["Gear 'A': ratio must be a number, got None"]),
        (lambda: pl.Gear.external("A", BODY, OTHER, 0.0, 1.0), ["Gear 'A': radii are 0.0 and 1.0 m; give positive radii"]),
        (lambda: pl.Gear.internal("A", BODY, OTHER, inf, 1.0), ["give positive radii"]),
        (lambda: pl.Gear.chain("A", BODY, OTHER, "1", 1.0), ["radius of Gear 'A' must be a number"]),
        (lambda: pl.GearMesh("A", P, Q, None, "x", internal="no"), ["radius_i", "radius_j", "internal must be True or False"]),
        (lambda: pl.RackPinion("A", P, Q, 1.0), ["axis_i must be an axis"]),
        (lambda: pl.PointOnCurve("A", BODY, [(0, 0)], Q), ["curve must be a SplineCurve"]),
        (lambda: pl.AngleDriver("A", P, OTHER, "t", from_drawn=1), ["body_i must be a body", "from_drawn must be True or False"]),
        (lambda: pl.Spring("A", P, Q, stiffness="stiff", damping=[1]), ["stiffness must be a number", "damping must be"]),
        (lambda: pl.TorsionSpring("A", BODY, Q, stiffness=None), ["body_j must be a body", "stiffness must be a number"]),
        (lambda: pl.UserForce("A", "a", lambda t, s: 0), ["on is 'a'; give a body or a list of bodies"]),
        (lambda: pl.UserForce("A", [], lambda t, s: 0), [r"on is \[\]; give a body"]),
        (lambda: pl.UserForce("A", 5, lambda t, s: 0), ["on is 5; give a body"]),
        (lambda: pl.UserForce("A", BODY, 5.0), ["function must be a callable of"]),
        (lambda: pl.UserConstraint("A", None, lambda t: 0), ["on is None; give a body"]),
        (lambda: pl.UserConstraint("A", BODY, "x"), ["phi must be a callable of"]),
        (lambda: pl.UserConstraint("A", BODY, lambda t, a: 0, rows=1.5), ["rows is 1.5; give the number of rows"]),
        (lambda: pl.UserConstraint("A", BODY, lambda t, a: 0, gamma=0.0), ["gamma must be a callable"]),
        (lambda: pl.Ramp("fast"), ["rate of Ramp must be a finite number"]),
        (lambda: pl.Ramp(nan), ["rate of Ramp must be a finite number, got nan"]),
    ],
)  # fmt: skip
def test_wrong_kinds_are_refused_where_they_are_written(build, messages):
    with pytest.raises(ModelError) as caught:
        build()
    assert len(caught.value.problems) == len(messages)
    for problem, message in zip(caught.value.problems, messages, strict=True):
        assert re.search(message, problem), problem


def test_wrong_kinds_that_were_put_in_later_are_found():
    m = four_bar()
    m["crank"].mass = "heavy"
    m["crank"].points["X"] = (1, 2, 3)
    m["coupler"].r = 5
    m["A"].point_i = None
    m.add(pl.Distance("rod", m["crank"]["A"], m["rocker"]["C"], 0.3)).length = "long"
    m["motor"].motion = object()
    problems = m.problems()
    for message in (
        "mass of body 'crank' must be a number, got 'heavy'",
        "point 'X' of body 'crank' must be a pair",
        "r of body 'coupler' must be a pair",
        "Revolute 'A': point_i must be a point of a body",
        "Distance 'rod': length must be a number, got 'long'",
        "motion of AngleDriver 'motor': expected a number",
    ):
        assert sum(message in p for p in problems) == 1, problems
    assert len(problems) == 6
    with pytest.raises(ModelError, match="gravity must be a pair"):
        m.gravity = "down"


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.b", "A.x", "Gelenk Ä", "关节", "α'β\"", "x" * 300, "0", "[red]", "%s {0}"])
def test_any_printable_name_works(name):
    m = pl.Model(name)
    body = m.add(pl.Body(name, 1.0, 0.1, r=(0.1, 0), phi=0.0))
    m.add(pl.Revolute(name + " pin", m.ground.point(0, 0), body.point(-0.1, 0)))
    assert m[name] is body
    assert pl.compile(m).row_names == (f"{name} pin.x", f"{name} pin.y")
    assert not m.assemble().moved
    far = m.copy()
    far.add(pl.Distance(name + ".rod", far.ground.point(9, 9), far[name].point(0, 0), 0.5))
    with pytest.raises(pl.AssemblyError, match="is open by"):
        far.assemble()
    assert repr(m) and repr(body)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\t", None, 3, ("a",), ["a"]])
def test_names_that_cannot_be_printed_are_refused(name):
    m = pl.Model()
    m.add(pl.Body(name, 1.0, 0.1, r=(0, 0), phi=0.0))
    with pytest.raises(ModelError, match="give a non-empty, printable string"):
        m.validate()


# --- motions and callables that fail when they are used -----------------------------------------------------------------


def driven(motion):
    m = pl.Model()
    body = m.add(pl.Body("arm", 1.0, 0.1, r=(0, 0), phi=0.0))
    m.add(pl.AngleDriver("motor", m.ground, body, motion))
    return pl.compile(m)


def test_a_motion_that_fails_later_names_its_driver_and_time():
    system = driven(lambda t: np.sqrt(1 - t))
    assert system.motion_values(0.5)[0, 0] == pytest.approx(math.sqrt(0.5))
    with pytest.raises(ModelError, match=r"AngleDriver 'motor': the value of .* is nan at t = 2 s; it must be finite"):
        system.motion_values(np.array([0.0, 2.0, 3.0]))
    with pytest.raises(ModelError, match="AngleDriver 'motor': t = 5 s lies outside Table"):
        driven(pl.Table([0, 1, 2, 3], [0, 1, 2, 3])).motion_values(5.0)


def test_a_motion_may_be_undefined_at_the_start():
    assert driven("log(t)").motion_values(1.0)[1, 0] == 1.0
    late = pl.Table([5, 6, 7, 8], [0.5, 0.6, 0.5, 0.4])
    assert driven(late).motion_values(5.0)[0, 0] == pytest.approx(0.5)
    m = pl.Model()
    body = m.add(pl.Body("arm", 1.0, 0.1, r=(1, 0), phi=0.0))
    m.add(pl.LengthDriver("jack", m.ground.point(0, 0), body.point(0, 0), late))
    assert pl.compile(m).motion_values(5.0)[0, 0] == pytest.approx(0.5)


def test_a_length_that_shrinks_to_nothing_is_an_error_not_a_reflection():
    m = pl.Model()
    body = m.add(pl.Body("arm", 1.0, 0.1, r=(1, 0), phi=0.0))
    m.add(pl.LengthDriver("jack", m.ground.point(0, 0), body.point(0, 0), "1 - t"))
    system = pl.compile(m)
    assert system.motion_values(0.9)[0, 0] == pytest.approx(0.1)
    with pytest.raises(ModelError, match="LengthDriver 'jack': the length is -1 m at t = 2 s; it must stay positive"):
        system.motion_values(np.array([0.0, 2.0]))
    drawn = m.without("jack")
    drawn.add(pl.LengthDriver("jack", drawn.ground.point(0, 0), drawn["arm"].point(0, 0), "-t", from_drawn=True))
    with pytest.raises(ModelError, match="the length is 0 m at t = 1 s"):
        pl.compile(drawn).motion_values(1.0)


def loaded(element_of):
    m = pl.Model()
    a, b = (m.add(pl.Body(name, 1.0, 0.1, r=(0, 0), phi=0.0)) for name in "ab")
    m.add(element_of(a, b))
    return pl.compile(m)


def torque(function):
    return lambda a, b: pl.Torque("T", a, function)


def force(function):
    return lambda a, b: pl.PointForce("F", a.point(0, 0), function)


def wrench(function):
    return lambda a, b: pl.UserForce("F", a, function)


def wrenches(function):
    return lambda a, b: pl.UserForce("F", [a, b], function)


@pytest.mark.parametrize(
    "element_of, message",
    [
        (torque(lambda t, s: None), "Torque 'T': its function returned None"),
        (torque(lambda t, s: "1"), "Torque 'T': its function returned '1'"),
        (torque(lambda t, s: (1, 2)), r"Torque 'T': its function returned \(1, 2\)"),
        (torque(lambda t, s: nan), "Torque 'T': its function returned nan at t = 0.5 s; it must be"),
        (force(lambda t, s: 3.0), "PointForce 'F': its function returned 3.0; .* 2 values"),
        (force(lambda t, s: (1, 2, 3)), r"returned \(1, 2, 3\); return a tuple of 2 values"),
        (force(lambda t, s: (1, inf)), "PointForce 'F': its function returned inf"),
        (wrench(lambda t, s: (1, 2)), "UserForce 'F': its function returned .* 3 values"),
        (wrench(lambda t, s: 1.0), "UserForce 'F': its function returned 1.0"),
        (wrenches(lambda t, s: (1, 2, 3)), "UserForce 'F': .* return a tuple of 2 triples"),
        (wrenches(lambda t, s: ((1, 2, 3), (1, 2))), "UserForce 'F': .* return a tuple of 3 values"),
        (wrenches(lambda t, s: ((1, 2, 3), (1, 2, nan))), "returned nan"),
        (torque(lambda t, s: s["c"].phi), "nothing is named 'c'"),
        (torque(lambda t, s: s["a"].alpha), "accelerations are not known here"),
        (torque(lambda t, s: s.point("P").r[0]), "takes a point of a body"),
        (torque("1/(t - 0.5)"), "Torque 'T': the value of .* is inf at t = 0.5 s"),
    ],
)
def test_a_load_that_returns_nonsense_is_named(element_of, message):
    system = loaded(element_of)
    for lead in ((), (4,)):
        q = np.zeros((*lead, 6))
        with np.errstate(all="ignore"), pytest.raises(ModelError, match=message):
            system.forces(np.full(lead, 0.5), q, q)


def test_a_load_cannot_move_the_mechanism():
    def push(t, state):
        state["a"].r[0] = 5.0
        return 0.0

    q = np.zeros(6)
    with pytest.raises(ValueError, match="read-only"):
        loaded(lambda a, b: pl.Torque("T", a, push)).forces(0.0, q, q)
    assert not q.any()


@pytest.mark.parametrize(
    "phi, extra, message",
    [
        (lambda t, a: (a.x, a.y), {}, "phi returned 2 values where 1 belong; return them as a tuple, and give rows="),
        (lambda t, a: a.x, {"rows": 2}, "phi returned 1 values where 2 belong"),
        (lambda t, a: None, {}, "phi returned None for a row"),
        (lambda t, a: "x", {}, "phi returned 'x' for a row"),
        (lambda t, a: a.z, {}, None),
        (lambda t, a: math.sin(a.x), {}, "cannot be evaluated: a function of Python's math module"),
        (lambda t, a: a.x, {"jacobian": lambda t, a: ((1, 0),)}, "jacobian returned 2 values where 3 belong"),
        (
            lambda t, a: a.x,
            {"jacobian": lambda t, a: ((1, 0, 0), (0, 1, 0))},
            "jacobian returned 2 values where 1 belong",
        ),
        (lambda t, a: a.x, {"jacobian": lambda t, a: 1.0}, "jacobian returned 1 values where 3 belong"),
        (lambda t, a: a.x, {"nu": lambda t, a: (1, 2)}, "nu returned 2 values where 1 belong"),
        (lambda t, a: a.x, {"gamma": lambda t, a: None}, "gamma returned None for a row"),
    ],
)
def test_a_user_constraint_that_returns_nonsense_is_named(phi, extra, message):
    given = {"jacobian": lambda t, a: (1, 0, 0), "nu": lambda t, a: 0, "gamma": lambda t, a: 0}
    extra = {**given, **extra} if extra.keys() & given.keys() else extra
    system = loaded(lambda a, b: pl.UserConstraint("U", a, phi, **extra))
    for lead in ((), (4,)):
        if message is None:  # a mistake in the user's code keeps its own error
            with pytest.raises(AttributeError, match="'z'"):
                system.constraints(np.zeros(lead), np.zeros((*lead, 6)))
        else:
            with pytest.raises(ModelError, match=f"UserConstraint 'U'.*{message}"):
                system.constraints(np.zeros(lead), np.zeros((*lead, 6)))


@pytest.mark.parametrize(
    "jacobian",
    [lambda t, a: (1, 0, 0), lambda t, a: ((1, 0, 0),), lambda t, a: [[1, 0, 0]], lambda t, a: np.array([[1, 0, 0]])],
)
def test_the_jacobian_of_one_row_may_be_flat_or_nested(jacobian):
    system = loaded(
        lambda a, b: pl.UserConstraint(
            "U", a, lambda t, a: a.x, jacobian=jacobian, nu=lambda t, a: 0, gamma=lambda t, a: 0
        )
    )
    np.testing.assert_array_equal(system.constraints(0.0, np.zeros(6)).Phi_q, [1, 0, 0])


# --- huge and tiny numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_mechanisms_of_any_size_assemble(scale):
    m = four_bar(tuple(scale * x for x in (0.1, 0.3, 0.25, 0.3)))
    a = m.assemble()
    assert a.residual <= 1e-14 * scale and not a.moved


@pytest.mark.parametrize("scale", [1e160, 1e300])
def test_absurd_sizes_end_in_an_error_of_planar(scale):
    m = pl.Model()
    body = m.add(pl.Body("a", 1.0, 1.0, r=(scale, 0), phi=0.0))
    m.add(pl.Distance("rod", m.ground.point(0, 0), body.point(0, 0), scale * 1.1))
    with np.errstate(all="ignore"), pytest.raises(pl.PlanarError, match="'rod'"):
        m.assemble()


# --- anything for any argument ------------------------------------------------------------------------------------------


JUNK = [
    *(0, 1.0, -1.0, nan, inf, 1e99, 1e-300, True, None, 1j, 10**400, np.float32(2), np.int8(3), np.array(None)),
    *("", "x", "sin(t)", "left", "phi", "body", "\n", b"x", [], (), (1, 2), (1, 2, 3), [1, "a"], {}, {"a": 1}, {1, 2}),
    *(
        np.array([1.0, 2.0]),
        np.zeros((2, 2)),
        np.array("x"),
        object(),
        float,
        slice(1),
        range(2),
        pl.Model(),
        P,
        AXIS,
        BODY,
    ),
    *(lambda: 0, lambda t: t, lambda t: None, lambda t, s: 0.0, lambda t, a: a.x, lambda *x: nan),
    *(pl.Ramp(1), pl.Harmonic(1, 2), pl.circle(1), pl.Table([0, 1, 2, 3], [1, 2, 3, 4]), {"type": "Ramp", "rate": 2}),
]


SENSIBLE = {
    **{
        "motion": "1 + t",
        "coordinate": "y",
        "torque": 1.0,
        "curve": pl.circle(0.5),
        "points": {"P": (0, 0)},
        "com": "P",
    },
    **{"mass": 1.0, "inertia": 1.0, "function": lambda t, s: (0, 0, t), "phi": lambda t, a: a.x - t},
}


@pytest.mark.parametrize("kind", [*KINDS.values(), pl.Body, pl.Body.rod, pl.Body.from_origin, pl.Gear.external])
def test_no_argument_whatever_ends_in_an_error_of_python(kind):
    """Each argument sensible or anything: the model is built and evaluated, or refused by an error of planar."""
    rng = np.random.default_rng(0)
    refused, used = 0, 0
    for _ in range(60):
        m = pl.Model()
        a, b = (m.add(pl.Body(name, 1, 1, r=(k, 0.2), phi=0.5 * k)) for k, name in enumerate("ab"))
        i, j = rng.permutation([a, b, m.ground])[:2]
        sensible = {
            "name": "x",
            "point_j": j.point(0.3, 0.1),
            "body_j": j,
            "axis_j": j.axis((0, 0), (1, 0.3)),
            **SENSIBLE,
        }
        sensible |= {"on": a, "body": a, "point": a.point(0.1, 0)}
        kinds = {"Point": i.point(0.3, 0.1), "Axis": i.axis((0, 0), (1, 0)), "Body": i, "float": 0.7, "Any": (1, 2)}
        given = {}
        for p in inspect.signature(kind).parameters.values():
            wanted = p.default is p.empty or p.name in ("mass", "inertia") or rng.random() < 0.3
            if wanted and p.kind is not p.VAR_KEYWORD:
                thing = JUNK[rng.integers(len(JUNK))]
                given[p.name] = sensible.get(p.name, kinds.get(p.annotation, thing)) if rng.random() < 0.9 else thing
        try:
            m.add(kind(**given))
            assert repr(m)
            system = pl.compile(m)
            e = system.constraints(0.3, system.q_drawn, system.v_drawn)
            Q = system.forces(0.3, system.q_drawn, system.v_drawn)
            assert all(np.isfinite(x).all() for x in (*e, Q))
            m.assemble()
            used += 1
        except pl.PlanarError:
            refused += 1
    assert refused and used
