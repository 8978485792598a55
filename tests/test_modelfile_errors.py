"""Model files that are wrong or hostile: errors that point at the file, limits, fuzzing."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import time
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modelfiles import edited, problems_of, round_trip

import planar as pl
from planar import modelfile
from planar.elements import KINDS
from planar.modelfile.problems import Problems
from planar.modelfile.reader import Reader
from planar.modelfile.source import MAX_BYTES, line_numbers
from planar.modelfile.starters import STARTERS, starter
from planar.motions import MOTIONS

# --- errors point at the file ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('"crank.B"', '"cranck.B"', 'joints.B.point_i = "cranck.B"', "unknown body 'cranck', did you mean 'crank'?"),
        ('"crank.B"', '"crank.b"', "joints.B.point_i", "body 'crank' has no point 'b'"),
        ('"crank.B"', '"crank"', "joints.B.point_i", 'such as "crank.A"'),
        ('"crank.B"', "333", "joints.B.point_i = 333", 'expected a point: "crank.A"'),
        ('"crank.B"', "{ body = 'crank' }", "joints.B.point_i", "either at = [x, y] or point ="),
        ("mass = 2.0", "mass = -2\ninertia = 1", "bodies.coupler", ": mass is -2 kg; give a value >= 0"),
        ("mass = 2.0", "mass = '2 mm'", "bodies.coupler.mass = \"2 mm\"", 'expected a mass in kg, such as 0.5 or "500 g"'),
        ("mass = 2.0", "mas = 2.0", "bodies.coupler.mas = 2.0", "did you mean 'mass'?"),
        ("mass = 2.0", "mass = true", "bodies.coupler.mass = true", "expected a mass"),
        ("mass = 2.0", "mass = nan", "bodies.coupler.mass = nan", "expected a mass"),
        ("mass = 2.0", "mass = [1]", "bodies.coupler.mass = [1]", "expected a mass"),
        ("mass = 2.0", "mass = 1979-05-27", "bodies.coupler.mass", "expected a mass"),
        ('"coupler"\nmass', '"coupla"\nmass', 'bodies.coupler.length = "coupla"', "did you mean 'coupler'?"),
        ('"coupler"\nmass', '"coupler*t"\nmass', "bodies.coupler.length", "the time t has no meaning here"),
        ('"coupler"\nmass', '"coupler/0"\nmass', "bodies.coupler.length", "inf"),
        ('"coupler"\nmass', '"-coupler"\nmass', "bodies.coupler", "give a positive length"),
        ('type = "Revolute"', 'type = "Revolut"', "joints.A.type", "did you mean 'Revolute'?"),
        ('type = "Revolute"', "", "joints.A", 'expected type = "..."'),
        ('type = "Revolute"', 'type = "AngleDriver"', "joints.A.type", "write it under [drivers.A]"),
        ('type = "Revolute"', 'type = "UserConstraint"', "joints.A", "Python code"),
        ('point_j = "crank.A"', "", "joints.A", "Revolute needs point_j"),
        ('point_j = "crank.A"', 'point_j = "ground.D"', "joints.A", "acts from body 'ground' to itself"),
        ('"Ramp"', '"Rampe"', "drivers.motor.motion.type", "did you mean 'Ramp'?"),
        ('rate = "speed", ', "", "drivers.motor.motion", "Ramp needs rate"),
        ('rate = "speed"', 'rate = "3 m"', "drivers.motor.motion.rate", "expected an angular speed in rad/s"),
        ('rate = "speed"', 'rat = "speed"', "drivers.motor.motion.rat", "did you mean 'rate'?"),
        ('{ type = "Ramp", rate = "speed", start = "start" }', '"3 m"', "drivers.motor.motion", "expected an angle"),
        ('{ type = "Ramp", rate = "speed", start = "start" }', '"speeed*t"', "drivers.motor.motion", "did you mean 'speed'?"),
        ('{ type = "Ramp", rate = "speed", start = "start" }', '"log(-1 - t)"', "drivers.motor", "is nan at t = 0"),
        ("schema = 1", "", "schema", "begin the file with schema = 1"),
        ("schema = 1", "schema = 2", "schema = 2", "this version reads schema = 1"),
        ("[joints.A]", "[joint.A]", "joint", "unknown table, did you mean 'joints'?"),
        ("[joints.A]", "[joints.crank]", "joints.crank", "stands under [bodies] too"),
        ("[bodies.rocker]", "[bodies.ground]\nmass = 1\ninertia = 1\n[bodies.rocker]", "bodies.ground", "is always there"),
        ("[parameters]", "[parameters]\nsin = 1", "parameters.sin", "is a function"),
        ("[parameters]", "[parameters]\nt = 1", "parameters.t", "is the time"),
        ("[parameters]", "[parameters]\n'a b' = 1", 'parameters."a b"', "letters, digits and _ only"),
        ("coupler = 0.30", 'coupler = "rocker"\nx = "y"\ny = "x"', "parameters", "is defined by itself: "),
        ("base = 0.30", "base = '30 rods'", "parameters.base", "unknown unit 'rods'"),
        ("gravity = [0, -9.81]", "gravity = -9.81", "model.gravity = -9.81", "expected a pair [x, y]"),
        ("t = \"0:2*pi/speed:361\"", "", "analyses.cycle", "inverse needs t"),
        ("t = \"0:2*pi/speed:361\"", "t = '0:1:0'", "analyses.cycle.t", "a whole number of samples"),
        ("t = \"0:2*pi/speed:361\"", "t = '0:1:2:3'", "analyses.cycle.t", '"start:stop:samples"'),
        ('type = "inverse"', 'type = "invers"', "analyses.cycle.type", "did you mean 'inverse'?"),
        ('type = "inverse"', 'type = "inverse"\nactuate = ["E"]', "analyses.cycle.actuate", "nothing is named 'E'"),
        ('type = "inverse"', 'type = "inverse"\nrtol = 1', "analyses.cycle.rtol", "inverse has no 'rtol'"),
    ],
)  # fmt: skip
def test_errors_name_the_line_the_key_the_value_and_the_remedy(old, new, place, message):
    text = edited(old, new)
    problems = problems_of(text)
    assert len(problems) == 1, problems
    assert place in problems[0] and message in problems[0]
    line = int(problems[0].removeprefix("line ").partition(",")[0]) if problems[0].startswith("line ") else None
    if old != "schema = 1":
        changed = starter("four-bar").index(old)
        first, last = (text.count("\n", 0, k) + 1 for k in (changed, changed + len(new)))
        assert line is not None and line <= last
        assert line >= first or place.count(".") < 2 or "parameters" in place  # of the key; else of the table above


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('start = "A"', "names an end of a rod"),
        ("length = 1\ncom = [0, 0]", "does not go with length"),
        ("length = 1\npoints = { A = [0, 0] }", "is an end of the rod already"),
        ("origin = [0, 0]", "give com"),
        ("com = [0, 0]\nr = [0, 0]", "beside com give origin"),
        ("com = 'Q'", "'Q' is not one of its points"),
        ("com = [0, 0]\norigin = [0, 0]", "origin is given without phi"),
        ("points = [[0, 0]]", "expected points { A = [0, 0]"),
        ("mass = 0\ninertia = 0", "is massless and no joint holds it"),
    ],
)
def test_bodies_that_contradict_themselves(keys, message):
    text = f"schema = 1\n[bodies.b]\n{keys}\n"
    assert any(message in p and p.startswith("line ") for p in problems_of(text)), problems_of(text)


def test_all_problems_at_once():
    text = starter("four-bar")
    for old, new in (
        ("mass = 2.0", "mass = -2"),
        ('point_i = "crank.B"', 'point_i = "cranck.B"'),
        ('point_j = "rocker.C"', 'point_j = "rocker.X"'),
        ('rate = "speed"', 'rate = "speeed"'),
        ('"60 rpm"', '"60 rps"'),
        ('type = "inverse"', 'type = "invers"'),
        ("[model]", "[modell]"),
    ):
        assert old in text
        text = text.replace(old, new)
    problems = problems_of(text)
    for part in ("mass is -2 kg", "'cranck'", "'X'", "'rps'", "invers", "'model'"):
        assert sum(part in p for p in problems) >= 1, (part, problems)
    assert not any(
        "speed'" in p and "unknown name" in p and "speeed" not in p for p in problems
    )  # said once, where it stands


def test_one_wrong_body_is_said_once_and_not_by_every_joint():
    problems = problems_of(edited("mass = 2.0", "mass = 'heavy'"))
    assert len(problems) == 1 and "'heavy'" in problems[0]


def test_many_problems_end_early():
    text = "schema = 1\n" + "".join(
        f"[joints.j{k}]\ntype = 'Revolute'\npoint_i = 'a.A'\npoint_j = 'b.B'\n" for k in range(5000)
    )
    start = time.process_time()
    problems = problems_of(text)
    assert len(problems) == 51 and "reading stopped" in problems[-1]
    assert time.process_time() - start < 20  # no hang


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "no valid TOML: Invalid value .at end of document"),
        ("schema = 1\nphi = 30 deg\n", "line 2: .*stand in quotes, phi = \"30 deg\""),
        ("schema = 1\nschema = 1\n", "line 2: Cannot overwrite"),
        ("[a", "line 1|no valid TOML"),
        ("", "begin the file with schema = 1"),
    ],
)  # fmt: skip
def test_what_is_no_toml_is_said_with_its_line(text, message):
    with pytest.raises(pl.ModelError, match=message):
        modelfile.loads(text)


def test_line_numbers():
    text = 'schema = 1\n[a."b.c"]\nx.y = 1\n\n[ d . e ]\n"f g" = [\n  1,\n]\n'
    assert line_numbers(text) == {
        ("schema",): 1,
        ("a", "b.c"): 2,
        ("a", "b.c", "x", "y"): 3,
        ("d", "e"): 5,
        ("d", "e", "f g"): 6,
    }
    assert line_numbers(text + 'x = """\n[no.table]\n"""') == {}


# --- limits --------------------------------------------------------------------------------------------------------------

HOSTILE = {
    "too large": ("#" * (MAX_BYTES + 1), "larger than"),
    "long dotted key": (".".join("a" * 100_000) + " = 1", "more than 16 parts"),
    "long dotted quotes": (" . ".join(['"\\""'] * 50_000) + " = 1", "more than 16 parts"),
    "long dotted header": (f"[{'.'.join('a' * 100_000)}]", "more than 16 parts"),
    "deep arrays": ("a = " + "[" * 100_000, "nested deeper|Invalid"),
    "deep closed arrays": ("schema = 1\na = " + "[" * 60 + "]" * 60, "nested deeper"),
    "deep inline tables": ("a = " + "{a = " * 100_000, "nested deeper|Invalid"),
    "deep tables": (f"[{'.'.join('abcdefghijklmn')}]", "nested deeper"),
    "long integer": ("a = " + "1" * 1_000_000, "cannot be read"),
    "huge integer": ("schema = 1\n[bodies.b]\nmass = 1" + "0" * 400, "expected a mass"),
    "many numbers": ("a = [" + "1," * 510_000 + "]", "entries"),
    "long name": (f"schema = 1\n[bodies.{'a' * 100_000}]\nmass = 1\ninertia = 1", "1 to 200 printable"),
    "long formula": (f"schema = 1\n[parameters]\na = '{'1+' * 100_000}1'", "at most 2000"),
    "deep formula": (f"schema = 1\n[parameters]\na = '{'(' * 900}1{')' * 900}'", "nested deeper than 50"),
    "tower": ("schema = 1\n[parameters]\na = '9**9**9**9**9'", "evaluates to"),
    "many formulas": (
        "schema = 1\n[parameters]\n" + "".join(f"a{k} = '{'1+' * 900}1'\n" for k in range(600)),
        "more than 500 operations|longer than",
    ),
    "many parameters": ("schema = 1\n[parameters]\n" + "".join(f"a{k} = 1\n" for k in range(2000)), "at most 1000"),
    "a chain of parameters": (
        "schema = 1\n[parameters]\n" + "".join(f"a{k} = 'a{k + 1}'\n" for k in range(999)),
        "unknown name 'a999'",
    ),
    "exponential parameters": (
        "schema = 1\n[parameters]\na0 = 10\n" + "".join(f"a{k} = 'a{k - 1}*a{k - 1}'\n" for k in range(1, 900)),
        "inf",
    ),
    "many bodies": ("schema = 1\n" + "".join(f"[bodies.b{k}]\n" for k in range(50_001)), "at most 50000"),
    "many curves": (
        "schema = 1\n[bodies.b]\nmass = 1\ninertia = 1\npoints.A = [0, 0]\n"
        + "".join(
            f"[joints.j{k}]\ntype = 'PointOnCurve'\nbody_i = 'ground'\npoint_j = 'b.A'\n"
            "curve = { type = 'circle', radius = 1 }\n"
            for k in range(210)
        ),
        "more than 200 curves",
    ),
    "unknown names among many": (
        "schema = 1\n"
        + "".join(f"[bodies.body{k}]\nmass = 1\ninertia = 1\n" for k in range(8000))
        + "".join(f"[joints.j{k}]\ntype = 'Revolute'\npoint_i = 'bady{k}.A'\npoint_j = 'x.B'\n" for k in range(100)),
        "unknown body 'bady0'",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_soon_in_a_model_error(name):
    text, message = HOSTILE[name]
    start = time.process_time()
    with pytest.raises(pl.ModelError, match=message):
        modelfile.loads(text)
    assert time.process_time() - start < 40  # no hang: at most 4 s on a busy machine, most are instant


def test_reading_runs_no_code_and_opens_no_file():
    """An audit hook sees every file, import, process and compilation of the interpreter while a file is read."""
    code = """
import sys
from planar import modelfile
from planar.modelfile.starters import STARTERS, starter
texts = [starter(name) for name in STARTERS]
texts.append(texts[0].replace('"speed"', '"__import__(1)"', 1))
def read():
    for text in texts:
        try:
            modelfile.loads(text)
        except modelfile.ModelError:
            pass
read()  # what is imported on first use is imported now
seen = []
def hook(event, args):
    if watching and event.split(".")[0] in ("open", "import", "exec", "compile", "os", "subprocess", "socket", "shutil"):
        seen.append((event, str(args)[:80]))
sys.addaudithook(hook)
watching = True
read()
watching = False
print(seen)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- fuzz ------------------------------------------------------------------------------------------------------------------

PIECES = sorted(
    {*"[]{}\"'=.,\n# \t0_-+e", *("nan", "inf", "true", "1e400", "1e-400", "9" * 400, "\ud7ff", "\x00", "\\u0000")}
)
PIECES += [line + "\n" for name in STARTERS for line in starter(name).splitlines()]


def read(text):
    """Any text is a model or a ModelError; everything else is a bug."""
    try:
        return modelfile.loads(text)
    except pl.ModelError:
        return None


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_fuzz_text(text):
    read(text)
    read(f"schema = 1\n{text}")
    read(f"schema = 1\n[parameters]\na = {json.dumps(text)}")


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_fuzz_edits_of_the_starters(data):
    text = starter(data.draw(st.sampled_from(sorted(STARTERS))))
    for _ in range(data.draw(st.integers(1, 4))):
        a = data.draw(st.integers(0, len(text)))
        b = min(len(text), a + data.draw(st.integers(0, 30)))
        text = text[:a] + data.draw(st.sampled_from(PIECES)) + text[b:]
    file = read(text)
    if file is not None:
        round_trip(file.model)


KEYS = [
    "type", "mass", "inertia", "length", "r", "phi", "v", "omega", "points", "com", "origin", "start", "end", "point_i",
    "point_j", "axis_i", "axis_j", "body_i", "body_j", "body", "point", "at", "name", "motion", "force", "torque", "curve",
    "radius", "f", "u0", "u1", "closed", "constants", "terms", "t", "y", "c", "text", "ratio", "carrier", "stiffness", "frame",
    "coordinate", "x", "without", "actuate", "find", "method", "rtol", "gravity", "A", "B",
]  # fmt: skip
WORDS = [
    *KINDS, *MOTIONS, "circle", "polar", "SplineCurve", "FunctionCurve", "inverse", "simulate", "equilibrium", "crank",
    "ground", "crank.A", "ground.A", "drawn", "30 deg", "t", "L", "L*t", "0:1:9", "sin(u)", "x", "", "1/0", "-1 mm", "body",
]  # fmt: skip
leaf = st.one_of(
    st.sampled_from(WORDS), st.integers(-3, 3), st.floats(), st.booleans(), st.text(max_size=5), st.just(10**400)
)
value = st.recursive(
    leaf, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.sampled_from(KEYS), v, max_size=4), max_leaves=12
)
item = st.dictionaries(st.sampled_from(KEYS), value, max_size=6)


@given(st.fixed_dictionaries({}, optional={
    **{g: st.dictionaries(st.sampled_from(["crank", "rod", "A", "ground", "", "a.b"]), item | value, max_size=3)
       for g in ("bodies", "joints", "drivers", "forces", "analyses")},
    "parameters": st.dictionaries(st.sampled_from(["L", "M", "t", "sin", "a b"]), value, max_size=3),
    "model": item, "ground": item, "other": value,
}), st.dictionaries(st.sampled_from(["L", "crank.mass", "A.type", "gravity", "ground.points.A"]), value, max_size=2))  # fmt: skip
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_fuzz_tables(data, changes):
    try:
        file = Reader(Problems("file")).file({"schema": 1, **data}, changes)
    except pl.ModelError:
        return
    round_trip(file.model)


PARSED = {name: tomllib.loads(starter(name)) for name in STARTERS}


@given(st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_fuzz_values_of_the_starters(data):
    """One to three entries of a sound file become anything."""
    tables = copy.deepcopy(PARSED[data.draw(st.sampled_from(sorted(PARSED)))])
    for _ in range(data.draw(st.integers(1, 3))):
        table = tables
        while True:
            key = data.draw(st.sampled_from(sorted(table) if isinstance(table, dict) else range(len(table))))
            if not isinstance(table[key], (dict, list)) or not table[key] or data.draw(st.integers(0, 4)) == 0:
                break
            table = table[key]
        if key != "schema":
            table[key] = data.draw(value)
    try:
        file = Reader(Problems("file")).file(tables, {})
    except pl.ModelError:
        return
    round_trip(file.model)
