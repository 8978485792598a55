"""Model files: exact round trips, units, parameters, changes, the schema, the starters."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from pathlib import Path
from typing import ClassVar

import mechanisms
import numpy as np
import pytest
import reference_models
import test_contract
from hypothesis import given, settings
from hypothesis import strategies as st
from modelfiles import content, edited, problems_of, round_trip

import planar as pl
from planar import modelfile
from planar.curves import CURVES, Curve
from planar.elements import KINDS, Block, Joint
from planar.modelfile import Analysis, Times
from planar.modelfile.analyses import OPTIONS
from planar.modelfile.overrides import parse_change
from planar.modelfile.reader import needs_code
from planar.modelfile.schema import schema
from planar.modelfile.starters import STARTERS, starter
from planar.modelfile.units import UNITS, UnitError, to_si
from planar.motions import MOTIONS, Motion, StringMotion


@pytest.mark.parametrize("name", mechanisms.TEXTBOOK)
def test_textbook_mechanisms_round_trip(name):
    round_trip(mechanisms.TEXTBOOK[name]())


@pytest.mark.parametrize("seed", range(5))
def test_random_mechanisms_round_trip_and_compute_the_same(seed):
    m = mechanisms.random_mechanism(seed, 6, driven=True)
    t = np.linspace(0, 0.2, 5)
    a, b = (pl.inverse_dynamics(x, t) for x in (m, round_trip(m)))
    assert a.lam.tobytes() == b.lam.tobytes()


def test_andrews_squeezer_round_trips_through_a_file(tmp_path):
    m = reference_models.andrews()
    m.save(tmp_path / "andrews.toml")
    assert content(pl.load_model(tmp_path / "andrews.toml")) == content(m)
    assert content(pl.load_model(str(tmp_path / "andrews.toml"))) == content(m)


@pytest.mark.parametrize("kind", [k for k in KINDS if k in test_contract.FACTORIES and not needs_code(KINDS[k])])
def test_every_registered_kind_round_trips(kind):
    m = pl.Model("all of a kind")
    rng = np.random.default_rng(1)
    a, b, c = (m.add(pl.Body(n, 1.0, 0.1, rng.normal(size=2), float(rng.normal()))) for n in "abc")
    stored = 0
    for k, element in enumerate(test_contract.FACTORIES[kind](rng, a, b, c, m.ground)):
        element.name = f"x{k}"
        if not any(map(callable, _magnitudes(element))):
            m.add(element)
            stored += 1
    assert stored
    round_trip(m)


def _magnitudes(element):
    values = [getattr(element, f.name) for f in dataclasses.fields(element)]
    flat = [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
    return [v for v in flat if not isinstance(v, Motion)]


finite = st.floats(min_value=-1e99, max_value=1e99)  # models take nothing larger
positive = st.floats(min_value=0, max_value=1e99, exclude_min=True)


@given(st.tuples(finite, finite), st.tuples(*[finite] * 8), positive, finite)
@settings(max_examples=100, deadline=None)
def test_every_float_survives_bit_for_bit(gravity, x, mass, length):
    m = pl.Model("floats", gravity)
    b = m.add(pl.Body("b", mass, abs(x[0]) or 1.0, x[:2], x[2], v=x[3:5], omega=x[5], points={"P": x[6:8]}))
    m.ground.points["O"] = (x[0], -0.0)
    m.add(pl.Spring("s", m.ground["O"], b["P"], stiffness=x[1], length=abs(length), damping=-0.0, force=x[3]))
    m.add(pl.PointForce("f", b.point(x[4], x[5]), (x[6], x[7])))
    round_trip(m)


names = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=12)


@given(
    st.lists(
        names.filter(lambda n: n.strip() and n.isprintable() and n != "ground"), min_size=6, max_size=6, unique=True
    )
)
@settings(max_examples=100, deadline=None)
def test_any_printable_name_survives(words):
    body, other, joint, point, another, model = words
    m = pl.Model(model)
    a = m.add(pl.Body(body, 1.0, 1.0, (0, 0), 0.0, points={point: (1, 2), another: (3, 4)}))
    b = m.add(pl.Body(other, 1.0, 1.0, (0, 0), 0.0, points={point: (1, 2)}))
    m.add(pl.Revolute(joint, a[point], b[point]))
    m.add(pl.Distance(f"{joint}2", a[another], m.ground.point(9, 9), length=7.0))
    round_trip(m)


def test_dots_that_could_mean_two_points_are_written_out():
    m = pl.Model("dots")
    a = m.add(pl.Body("a", 1.0, 1.0, points={"b.c": (1, 0), "x": (0, 0)}))
    ab = m.add(pl.Body("a.b", 1.0, 1.0, points={"c": (0, 1)}))
    m.add(pl.Revolute("j", a["b.c"], ab["c"]))
    m.add(pl.Revolute("k", a["x"], m.ground.point(0, 0)))
    assert 'point_i = { body = "a", point = "b.c" }' in modelfile.dumps(m)
    round_trip(m)
    text = modelfile.dumps(m).replace('{ body = "a", point = "b.c" }', '"a.b.c"')
    with pytest.raises(pl.ModelError, match="the dots mean several"):
        modelfile.loads(text)


@pytest.mark.parametrize(
    "motion",
    [
        1,
        0.5,
        "2*pi*t",
        pl.Constant(1e-300),
        pl.Ramp(math.pi, -0.0),
        pl.Harmonic(0.1, 3.0, 0.2, 1.0),
        pl.Polynomial([1, 0.1, -3e-7]),
        pl.Rise(0.1, 0.2, 0.7, "modified_sine", 1.0),
        pl.Table(np.linspace(0, 1, 40), np.sin(np.linspace(0, 1, 40))),
        pl.Table([0, 1, 2, 3], [0, 1, 1, 0], periodic=True),
        StringMotion("a*sin(w*t)", {"a": 0.1, "w": 2.0}.items()),
        2 * pl.Ramp(0.1) - pl.Harmonic(0.1, 1.0) + "t**2",
    ],
    ids=lambda motion: str(motion)[:30],
)
def test_motions_round_trip(motion):
    m = mechanisms.four_bar(speed=None)
    m.add(pl.AngleDriver("motor", m.ground, m["crank"], motion, from_drawn=True))
    round_trip(m)


def test_motions_above_are_all_there_are():
    assert set(MOTIONS) == {"Constant", "Ramp", "Harmonic", "Polynomial", "Rise", "Table", "StringMotion", "Sum"}


@pytest.mark.parametrize(
    "curve",
    [
        pl.circle(0.05),
        pl.circle(1, (0, 2)),
        pl.polar("0.4 + 0.1*cos(u)"),
        pl.SplineCurve([(0, 0), (1, 0), (1, 1), (0, 1.5)]),
        pl.SplineCurve([(k, math.sin(k)) for k in range(30)], closed=False),
        pl.FunctionCurve(("u", "a*u**2"), -1, 1, constants={"a": 0.3}),
    ],
    ids=repr,
)
def test_curves_round_trip(curve):
    m = mechanisms.cam()
    m["contact"].curve = curve
    round_trip(m)


def test_none_means_as_drawn():
    m = mechanisms.four_bar()
    m.add(pl.Weld("w", m["crank"]["A"], m["rocker"]["C"], None))
    m.add(pl.Spring("s", m["crank"]["A"], m["rocker"]["C"], stiffness=1.0))
    assert 'angle = "drawn"' in modelfile.dumps(m)
    assert round_trip(m)["w"].angle is None


def test_a_point_that_was_moved_or_named_elsewhere_keeps_its_place():
    m = mechanisms.four_bar()
    m["crank"].points["B"] = (0.07, 0.0)  # the joint keeps the point that it was made with
    m["A"].point_i = pl.Point(m.ground, (0.0, 0.0), "pivot")
    back = round_trip(m)
    assert back["B"].point_i.s == (0.05, 0.0) and back["crank"].points["B"] == (0.07, 0.0)
    assert back["A"].point_i.name == "pivot"


def test_python_code_cannot_be_saved_and_every_place_is_named(tmp_path):
    m = mechanisms.four_bar(speed=None)
    m.add(pl.AngleDriver("motor", m.ground, m["crank"], lambda t: t))
    m.add(pl.Torque("brake", m["rocker"], lambda t, state: 0.0 * t))
    m.add(pl.UserForce("wind", m["coupler"], lambda t, state: (0.0, 0.0, 0.0)))
    m.add(pl.PointForce("push", m["coupler"]["B"], (pl.Function(np.sin), 1.0)))
    with pytest.raises(pl.ModelError) as error:
        m.save(tmp_path / "x.toml")
    assert len(error.value.problems) == 4
    for name, problem in zip(("motor", "brake", "wind", "push"), sorted(error.value.problems, key=_order), strict=True):
        assert name in problem and "code" in problem
    assert not (tmp_path / "x.toml").exists()


def _order(problem):
    return next(k for k, name in enumerate(("motor", "brake", "wind", "push")) if name in problem)


def test_a_curve_of_ones_own_without_to_dict_is_refused_by_name():
    class Line(Curve):
        u0, u1, closed = -1.0, 1.0, False

        def _evaluate(self, u):
            one = np.ones_like(u)
            return np.stack([u, 0 * u], -1), np.stack([one, 0 * u], -1), np.stack([0 * u, 0 * u], -1)

    try:
        m = mechanisms.cam()
        m["contact"].curve = Line()
        with pytest.raises(pl.ModelError, match=r"PointOnCurve 'contact': curve: .*as_spline"):
            modelfile.dumps(m)
    finally:
        del CURVES["Line"]


def test_numbers_of_numpy_are_numbers():
    m = mechanisms.four_bar()
    m["crank"].mass, m["crank"].inertia, m["crank"].r = np.float64(2.0), np.int64(25), np.array([1.0, 2.0])
    m["coupler"].mass = 3
    back = modelfile.loads(modelfile.dumps(m)).model
    assert (back["crank"].mass, back["crank"].inertia, back["crank"].r) == (2.0, 25.0, (1.0, 2.0))
    assert back["coupler"].mass == 3.0


def test_a_model_with_problems_is_not_saved(tmp_path):
    m = mechanisms.four_bar()
    m["crank"].mass = -1.0
    with pytest.raises(pl.ModelError, match="mass is -1 kg"):
        m.save(tmp_path / "x.toml")


# --- a new joint is one class ------------------------------------------------------------------------------------------


@pytest.fixture
def new_joint():
    @dataclasses.dataclass(eq=False)
    class Tether(Joint):
        """A rod of adjustable length: Phi = (d . d - L^2) / (2 L) = 0."""

        point_i: pl.Point
        point_j: pl.Point
        reach: float
        guide: pl.Axis | None = None
        pull: object = 0.0
        units: ClassVar = {"reach": "m", "pull": "N"}

        def blocks(self):
            i, j = self.point_i, self.point_j
            yield Block("distance", (i.body, j.body), (*i.s, *j.s, self.reach, self.reach), ("length",))

    yield Tether
    del KINDS["Tether"]


def test_a_new_joint_is_read_and_written_without_being_listed(new_joint):
    m = mechanisms.four_bar()
    crank, rocker = m["crank"], m["rocker"]
    m.add(new_joint("t", crank["B"], rocker["D"], 0.4, m.ground.axis((0, 0), (1, 0)), (pl.Ramp(1.0), m["coupler"])))
    round_trip(m)
    text = (
        starter("four-bar")
        + '[joints.t]\ntype = "Tether"\npoint_i = "crank.B"\npoint_j = "rocker.D"\nreach = "40 cm"\n'
    )
    assert modelfile.loads(text).model["t"].reach == 0.4
    with pytest.raises(pl.ModelError, match="is not a length"):
        modelfile.loads(text.replace("40 cm", "40 kg"))
    kinds = [s["title"] for s in schema()["definitions"]["joint"]["oneOf"]]
    assert "Tether" in kinds and "UserConstraint" not in kinds


# --- units and formulas ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("45 mm", 0.045),
        ("45mm", 0.045),
        ("-1.5e2 cm", -1.5),
        ("30 deg", math.radians(30)),
        ("1 rev", 2 * math.pi),
        ("120 rpm", 4 * math.pi),
        ("60 rpm", 2 * math.pi),
        ("15 deg/s", math.radians(15)),
        ("500 g", 0.5),
        ("2000 kg mm^2", 0.002),
        ("0.5 N/mm", 500.0),
        ("250 N mm", 0.25),
        ("36 km/h", 10.0),
        ("9.81 m/s^2", 9.81),
        ("3 N*m", 3.0),
        ("2 N m s/rad", 2.0),
        ("1 inch", 0.0254),
        ("250 ms", 0.25),
    ],
)
def test_units(text, value):
    literals = to_si(text)
    assert float(literals.text) == value and literals.dimension is not None


@pytest.mark.parametrize(
    ("text", "si"),
    [
        ("L2 + 5 mm", "L2 + 0.005"),
        ("sin(90 deg)", "sin(1.5707963267948966)"),
        ("2*30 mm/L", "2*0.03/L"),
        ("5 mm / s", "0.005 / s"),
        ("min(2, 3)", "min(2, 3)"),
        ("L2", "L2"),
        ("1e3", "1e3"),
        ("1/(2 mm)", "1/(0.002)"),
    ],
)
def test_units_in_formulas(text, si):
    assert to_si(text).text == si


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 mmm", "unknown unit 'mmm' after a number, did you mean 'mm'"),
        ("50 Hz", "2*pi*50"),
        ("1/2 mm", "write brackets"),
        ("2 m**2", "a power of a unit is written ^"),
        ("2 m^2.5", "a power of a unit is written ^"),
        ("1e400 mm", "too large"),
        ("2 min(1, 2)", "write * to multiply"),
        ("2 L2", "unknown unit 'L2'"),
    ],
)
def test_unclear_units_are_refused(text, message):
    with pytest.raises(UnitError) as error:
        to_si(text)
    assert message in str(error.value)


def test_a_unit_that_is_a_parameter_too_is_refused_where_it_could_mean_both():
    assert to_si("2 m * s", {"s": 1.0}).text == "2.0 * s"
    with pytest.raises(UnitError, match="is a unit and a parameter"):
        to_si("2 m*s", {"s": 1.0})


@given(st.floats(min_value=1e-100, max_value=1e100), st.sampled_from(sorted(UNITS)))
def test_every_unit_is_its_factor(x, unit):
    assert float(to_si(f"{x!r} {unit}").text) == UNITS[unit].si(x)
    assert float(to_si(f"{x!r} {unit}^2").text) == pytest.approx(UNITS[unit].si(UNITS[unit].si(x)), rel=1e-15)


PENDULUM = """\
schema = 1
[model]
gravity = [0, -9.81]
[parameters]
a = "2*b"
b = "250 mm"
c = 3
[bodies.rod]
length = "a"
mass = "c - 1"
start = "O"
phi = "-30 deg"
points = { M = ["a/4", 0] }
[joints.pin]
type = "Revolute"
point_i = { body = "ground", at = [0, "b - 250 mm"] }
point_j = "rod.O"
"""


def test_parameters_and_formulas():
    file = modelfile.loads(PENDULUM)
    rod = file.model["rod"]
    assert file.parameters == {"a": 0.5, "b": 0.25, "c": 3.0}
    assert rod.mass == 2.0 and rod.inertia == 2.0 * 0.5**2 / 12 and rod.phi == -math.pi / 6
    assert rod.points == {"O": (-0.25, 0.0), "B": (0.25, 0.0), "M": (0.125, 0.0)}


def test_parameters_in_formulas_of_time_become_constants():
    text = PENDULUM + '[forces.f]\ntype = "Torque"\nbody = "rod"\ntorque = "a*sin(c*t) + 1 N m"\n'
    model = modelfile.loads(text).model
    assert model["f"].torque == StringMotion("a*sin(c*t) + 1.0", (("a", 0.5), ("c", 3.0)))
    round_trip(model)


def test_a_body_from_a_drawing():
    text = """
    schema = 1
    [bodies.plate]
    mass = 1
    inertia = 0.1
    com = "G"
    origin = [5, 0]
    phi = "90 deg"
    points = { A = [0, 0], G = [1, 0] }
    [joints.A]
    type = "Weld"
    point_i = { body = "ground", at = [5, 0] }
    point_j = "plate.A"
    angle = "drawn"
    """
    plate = modelfile.loads(text).model["plate"]
    expected = pl.Body.from_origin(
        "plate", 1, 0.1, com="G", origin=(5, 0), phi=math.pi / 2, points={"A": (0, 0), "G": (1, 0)}
    )
    assert (plate.r, plate.phi, plate.points) == (expected.r, expected.phi, expected.points)


CURVE = 'curve = { type = "polar", radius = "base + lift*(1 - cos(u - pi/2))/2" }'


@pytest.mark.parametrize(
    "curve",
    [
        '{ type = "polar", radius = "base + lift*(1 - cos(u - pi/2))/2" }',
        '{ type = "FunctionCurve", u0 = 0, u1 = "2*pi", closed = true, '
        'f = ["(base + lift*(1 - cos(u - pi/2))/2)*cos(u)", "(base + lift*(1 - cos(u - pi/2))/2)*sin(u)"] }',
    ],
)
def test_curves_of_files(curve):
    model = modelfile.loads(starter("cam-follower").replace(CURVE, f"curve = {curve}")).model
    u = np.linspace(0, 6, 7)
    r = 0.05 + 0.012 * (1 - np.cos(u - math.pi / 2)) / 2
    np.testing.assert_allclose(
        model["contact"].curve.evaluate(u)[0], np.stack([r * np.cos(u), r * np.sin(u)], -1), atol=1e-15
    )


def test_circle_and_spline_of_files():
    for curve in (
        '{ type = "circle", radius = "50 mm" }',
        '{ type = "SplineCurve", points = [[0.05, 0], [0, "50 mm"], [-0.05, 0], [0, -0.05]] }',
    ):
        model = modelfile.loads(starter("cam-follower").replace(CURVE, f"curve = {curve}")).model
        assert np.hypot(*model["contact"].curve.evaluate(0.0)[0]) == pytest.approx(0.05)


# --- encodings and files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encodings_that_shells_and_editors_write(tmp_path, encoding, newline):
    path = tmp_path / "x.toml"
    path.write_bytes(starter("four-bar").replace("\n", newline).encode(encoding))
    assert content(pl.load_model(path)) == content(modelfile.loads(starter("four-bar")).model)


def test_files_that_are_none(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"\x80\x81")
    with pytest.raises(pl.ModelError, match=r"x\.toml.*is no text file"):
        pl.load_model(path)
    with pytest.raises(FileNotFoundError):
        pl.load_model(tmp_path / "y.toml")


# --- changes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "look"),
    [
        ("crank", 0.12, lambda m: m["crank"].points["B"][0] * 2),
        ("coupler.mass", 3, lambda m: m["coupler"].mass),
        ("bodies.coupler.mass", "3000 g", lambda m: m["coupler"].mass),
        ("motor.motion.rate", "0.12 rad/s", lambda m: m["motor"].motion.rate),
        ("gravity", [0, 0.12], lambda m: m.gravity[1]),
        ("gravity", np.array([0, 0.12]), lambda m: m.gravity[1]),
        ("model.gravity", (0, 0.12), lambda m: m.gravity[1]),
        ("coupler.inertia", np.float64(0.12), lambda m: m["coupler"].inertia),
        ("ground.points.D", ["0.12", 0], lambda m: m["D"].point_i.s[0]),
    ],
)
def test_changes_by_path(path, value, look):
    assert look(modelfile.loads(starter("four-bar"), {path: value}).model) in (0.12, 3.0)


def test_changes_that_mean_nothing():
    problems = problems_of(starter("four-bar"), **{"crnk.mass": 2, "coupler.maas": 2, "L9": 1})
    assert any("nothing is named 'crnk', did you mean 'crank'?" in p for p in problems)
    assert any("did you mean 'mass'?" in p for p in problems)
    assert any("nothing is named 'L9'" in p for p in problems)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("crank.mass=2", ("crank.mass", 2)),
        ("L2 = 0.3", ("L2", 0.3)),
        ("crank.phi=30 deg", ("crank.phi", "30 deg")),
        ('crank.phi="30 deg"', ("crank.phi", "30 deg")),
        ("gravity=[0, -9.81]", ("gravity", [0, -9.81])),
        ("m.motion={ type = 'Ramp', rate = 1 }", ("m.motion", {"type": "Ramp", "rate": 1})),
        ("a=1\nb=2", ("a", "1\nb=2")),
    ],
)
def test_changes_as_text(text, change):
    assert parse_change(text) == change


@pytest.mark.parametrize("text", ["crank.mass", "=2", "a="])
def test_what_is_no_change(text):
    with pytest.raises(ValueError, match="NAME=VALUE"):
        parse_change(text)


# --- schema ------------------------------------------------------------------------------------------------------------------


def violations(data, rule, root, path=""):
    """A small validator of the keywords that the schema uses."""
    if "$ref" in rule:
        rule = root["definitions"][rule["$ref"].removeprefix("#/definitions/")]
    for part in rule.get("allOf", ()):
        yield from violations(data, part, root, path)
    for word, enough in (("anyOf", lambda n: n >= 1), ("oneOf", lambda n: n == 1)):
        if word in rule and not enough(sum(not list(violations(data, r, root)) for r in rule[word])):
            yield f"{path}: {word}"
    if "const" in rule and data != rule["const"]:
        yield f"{path}: const {rule['const']}"
    if "type" in rule:
        types = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}
        wanted = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
        right = any(isinstance(data, types[w]) and (w == "boolean" or not isinstance(data, bool)) for w in wanted)
        if not right:
            yield f"{path}: is no {wanted}"
    if isinstance(data, dict):
        known = rule.get("properties", {})
        yield from (f"{path}: needs {n}" for n in rule.get("required", ()) if n not in data)
        for name, inner in data.items():
            other = rule.get("additionalProperties", True)
            if name in known:
                yield from violations(inner, known[name], root, f"{path}.{name}")
            elif other is False:
                yield f"{path}: unknown {name}"
            elif isinstance(other, dict):
                yield from violations(inner, other, root, f"{path}.{name}")
    if isinstance(data, list):
        if not rule.get("minItems", 0) <= len(data) <= rule.get("maxItems", math.inf):
            yield f"{path}: {len(data)} items"
        for k, inner in enumerate(data):
            yield from violations(inner, rule.get("items", {}), root, f"{path}[{k}]")


def check_schema(text):
    import tomllib

    root = json.loads(json.dumps(schema()))
    return list(violations(tomllib.loads(text), root, root))


def test_schema_accepts_the_starters_and_what_is_saved():
    for name in STARTERS:
        assert check_schema(starter(name)) == []
    for build in mechanisms.TEXTBOOK.values():
        assert check_schema(modelfile.dumps(build())) == []
    for seed in range(3):
        assert check_schema(modelfile.dumps(mechanisms.random_mechanism(seed, 8, driven=True))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mass = 2.0", "mas = 2.0"),
        ("mass = 2.0", "mass = [2]"),
        ('type = "Revolute"', 'type = "Revolut"'),
        ('point_j = "crank.A"', ""),
        ('point_j = "crank.A"', "point_j = { body = 'crank' }"),
        ('type = "Ramp"', 'type = "Rampe"'),
        ("schema = 1", "schema = 2"),
        ("[joints.A]", "[joint.A]"),
        ('type = "inverse"', 'type = "inverse"\nrtol = 1'),
    ],
)
def test_schema_refuses_what_the_reader_refuses(old, new):
    text = edited(old, new)
    assert check_schema(text)
    problems_of(text)


def test_schema_describes_every_kind():
    definitions = schema()["definitions"]
    for word in ("joint", "driver", "force"):
        titles = {s["title"] for s in definitions[word]["oneOf"]}
        assert titles == {k for k, cls in KINDS.items() if cls.word == word and not needs_code(cls)}
        assert all(s["description"] for s in definitions[word]["oneOf"])


# --- starters ----------------------------------------------------------------------------------------------------------------


def test_there_are_starters():
    assert {"four-bar", "slider-crank", "quick-return", "planetary", "3-rrr", "pendulum"} <= set(STARTERS)
    for name, text in STARTERS.items():
        assert text and not text.startswith("#"), name


@pytest.mark.parametrize("name", STARTERS)
def test_starters_assemble_without_changing_branch_and_run(name):
    file = modelfile.loads(starter(name))
    assembly = file.model.assemble()
    assert assembly.notes == []
    assert all(distance < 0.05 and abs(turn) < 0.3 for distance, turn in assembly.moved.values())
    assert file.analyses
    round_trip(file.model)


@pytest.mark.parametrize("name", ["slider-crank", "four-bar"])
def test_a_starter_is_the_mechanism_of_the_tests(name):
    """The same linkage, built in Python by other hands: the same torque."""
    if name == "four-bar":
        m = mechanisms.four_bar((0.1, 0.3, 0.25, 0.3), math.pi / 6)
        changes = {}
    else:
        m = mechanisms.slider_crank(0.1, 0.35, 0.02, math.pi / 4, speed=10 * math.pi)
        changes = {"force": 0}
    file = modelfile.loads(starter(name), changes)
    (analysis,) = file.analyses.values()
    ours, theirs = analysis.run(file.model), pl.inverse_dynamics(m, analysis.t.array())
    np.testing.assert_allclose(ours.effort("motor"), theirs.effort("motor"), rtol=1e-9, atol=1e-9)


def test_documented_starter_files_are_packaged():
    folder = Path(modelfile.__file__).parent / "starters"
    assert {p.stem for p in folder.glob("*.toml")} == set(STARTERS)


# --- analyses ----------------------------------------------------------------------------------------------------------------


def test_options_of_analyses_are_those_of_the_functions():
    functions = {
        "kinematics": pl.kinematics,
        "inverse": pl.inverse_dynamics,
        "statics": pl.statics,
        "equilibrium": pl.equilibrium,
        "simulate": pl.simulate,
    }
    assert set(functions) == set(OPTIONS)
    for kind, options in OPTIONS.items():
        assert set(options) <= set(inspect.signature(functions[kind]).parameters)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('type = "simulate"\nt = "0:b"\nrho = 0.9\nwithout = "s"', Analysis("simulate", Times(0, 0.25), ("s",), {"rho": 0.9})),
        ('type = "simulate"\nt = [0, "100 ms", 1]\nindex = 3', Analysis("simulate", Times(values=(0, 0.1, 1)), (), {"index": 3})),
        ('type = "statics"', Analysis("statics")),
        ('type = "kinematics"\nt = 0.5', Analysis("kinematics", Times(0.5, 0.5))),
        ('type = "equilibrium"\nstart = { rod = "90 deg" }', Analysis("equilibrium", options={"start": {"rod": math.pi / 2}})),
        ('type = "equilibrium"\nstart = { rod = [0, 1, 2] }', Analysis("equilibrium", options={"start": {"rod": (0, 1, 2)}})),
    ],
)  # fmt: skip
def test_analyses_of_files(table, expected):
    spring = '[forces.s]\ntype = "TorsionSpring"\nbody_i = "ground"\nbody_j = "rod"\nstiffness = 1\n'
    assert modelfile.loads(f"{PENDULUM}{spring}[analyses.a]\n{table}\n").analyses == {"a": expected}


def test_analyses_run_as_the_functions_do():
    m = modelfile.loads(PENDULUM).model
    up = Analysis("equilibrium", options={"start": {"rod": 1.5}, "find": "nearest"}).run(m)
    assert up.stability == "unstable" and up["rod"].phi[0] == pytest.approx(math.pi / 2)
    run = Analysis("simulate", Times(0.0, 0.3, 4)).run(m)
    direct = pl.simulate(m, (0, 0.3), t_eval=np.linspace(0, 0.3, 4))
    assert run.q.tobytes() == direct.q.tobytes()
    assert len(Analysis("simulate", Times(0.0, 0.3)).run(m)) == len(pl.simulate(m, (0, 0.3)))
    driven = modelfile.loads(starter("four-bar")).model
    sweep = Analysis("statics", Times(0.0, 0.5, 3)).run(driven)
    assert len(sweep) == 3 and sweep.analysis == "statics"
    assert Analysis("kinematics", Times(0.0, 1.0)).run(driven).t.size == 361
