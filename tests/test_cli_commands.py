"""The subcommands: what they print, write and return."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import planar as pl
from planar import cli
from planar.commands import show
from planar.commands.run import safe
from planar.modelfile.schema import schema
from planar.modelfile.starters import STARTERS, starter

GOLDEN = Path(__file__).parent / "data"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with my.toml, the four-bar."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "my.toml").write_text(starter("four-bar"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def planar(here, capsys):
    """planar(*words) -> (exit code, standard output, standard error)."""

    def run(*words):
        try:
            code = cli.main(list(map(str, words)))
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def table(path):
    """{column: values} of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, float).T, strict=True))


# --- a newcomer's path ---------------------------------------------------------------------------------------------------


def test_a_newcomers_path(here):
    """As in the README, by the shell: new, edit one length, check, run, report."""
    script = """
    set -e
    planar() { "$PYTHON" -m planar "$@"; }
    planar new four-bar > first.toml
    sed 's/^coupler = 0.30/coupler = 0.32/' first.toml > mine.toml
    planar check mine.toml
    planar run mine.toml
    planar report mine.toml
    """
    run = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, env={**_environment(), "PYTHON": sys.executable}
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert "mine.toml: the model is sound" in run.stdout and "all laws hold" in run.stdout
    m = pl.load_model("mine.toml")
    assert m["coupler"].points["C"][0] == 0.16
    inv = pl.inverse_dynamics(m, np.linspace(0, 1, 361))
    np.testing.assert_allclose(table("mine-cycle.csv")["motor effort [N m]"], inv.effort("motor"), rtol=1e-9, atol=1e-9)
    page = (here / "mine.html").read_text(encoding="utf-8")
    assert "<html" in page and "four-bar" in page


def _environment():
    import os

    return {**os.environ, "COLUMNS": "100"}


# --- new -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STARTERS)
def test_new_writes_a_file_that_checks(planar, here, name):
    code, out, err = planar("new", name)
    assert (code, err) == (0, "") and out == starter(name)
    assert sum(line.lstrip().startswith("#") or " # " in line for line in out.splitlines()) >= 2  # it explains itself
    (here / "x.toml").write_text(out, encoding="utf-8")
    code, out, err = planar("check", "x.toml")
    assert (code, err) == (0, "") and "x.toml: the model is sound" in out


@pytest.mark.parametrize("name", STARTERS)
def test_starters_run(planar, here, name):
    (here / "x.toml").write_text(starter(name), encoding="utf-8")
    code, out, err = planar("run", "x.toml")
    assert (code, err) == (0, "") and out.count("all laws hold") == out.count("wrote ") == starter(name).count(
        "[analyses."
    )


def test_new_lists_what_there_is(planar):
    code, out, _ = planar("new")
    assert code == 0
    for name, text in STARTERS.items():
        assert name in out and text[:40] in out


def test_new_with_a_wrong_name_and_over_an_existing_file(planar, here):
    assert planar("new", "fourbar") == (2, "", "planar new: there is no starter 'fourbar'; did you mean 'four-bar'?\n")
    code, out, _ = planar("new", "pendulum", "-o", "sub/p.toml")
    assert code == 0 and "sub/p.toml" in out.replace("\\", "/")
    before = (here / "sub" / "p.toml").read_text()
    code, _, err = planar("new", "four-bar", "-o", "sub/p.toml")
    assert code == 2 and "exists" in err and (here / "sub" / "p.toml").read_text() == before


# --- check -----------------------------------------------------------------------------------------------------------------


def test_check_says_what_the_mechanism_is(planar):
    code, out, err = planar("check", "my.toml")
    assert (code, err) == (0, "")
    for part in (
        "degrees of freedom, drivers released: 1 by rank",
        "assembled at t = 0 s",
        "every reaction is unique",
        "analysis 'cycle': inverse, t = 0 .. 1 s",
    ):
        assert part in out


def test_check_says_everything_that_is_wrong(planar, here):
    edit(here / "my.toml", 'point_i = "crank.B"', 'point_i = "cranck.B"')
    edit(here / "my.toml", "mass = 1.5", "mass = -1.5")
    code, out, err = planar("check", "my.toml")
    assert (code, out) == (1, "")
    assert "unknown body 'cranck', did you mean 'crank'?" in err and "mass is -1.5 kg" in err
    assert err.startswith("planar: ModelError: model file 'my.toml': ")


def test_check_of_what_cannot_be_assembled(planar):
    code, _, err = planar("check", "my.toml", "--set", "base=0.9")
    assert code == 1 and "AssemblyError" in err


def test_check_finds_drivers_that_drive_the_same_motion(planar, here):
    text = starter("four-bar")
    motor = text[text.index("[drivers.motor]") : text.index("[analyses")]
    (here / "my.toml").write_text(text + motor.replace("motor", "second"), encoding="utf-8")
    code, out, err = planar("check", "my.toml")
    assert (code, err) == (1, "") and out.splitlines()[-1] == "problems: 'motor' and 'second' drive the same motion"
    assert planar("check", "my.toml", "--json")[0] == 1


def test_check_for_machines(planar, here):
    code, out, _ = planar("check", "my.toml", "--json")
    data = json.loads(out)
    assert code == 0 and data["ok"] and data["diagnosis"]["dof"] == 1 and data["joints"]["A"] == "Revolute"
    assert data["assembly"]["pose"]["crank"][2] == pytest.approx(math.pi / 6)
    edit(here / "my.toml", "mass = 2.0", "mas = 2.0")
    code, out, err = planar("check", "my.toml", "--json")
    data = json.loads(out)
    assert code == 1 and data["ok"] is False and data["error"] == "ModelError" and "'mas'" in data["problems"][0]
    assert "'mas'" in err


def test_check_reads_standard_input():
    run = subprocess.run(
        [sys.executable, "-m", "planar", "check", "-"], input=starter("pendulum"), capture_output=True, text=True
    )
    assert run.returncode == 0 and "-: the model is sound" in run.stdout


# --- run -------------------------------------------------------------------------------------------------------------------


def test_run_prints_this(planar):
    """Golden text: four digits, far from round-off; the last lines (residuals) are left out."""
    code, out, err = planar("run", "my.toml", "--t", "0:1:9")
    assert (code, err) == (0, "")
    text, _, rest = out.partition("all laws hold")
    assert text == (GOLDEN / "cli_run.txt").read_text(encoding="utf-8")
    assert "wrote my-cycle.csv: 9 samples" in rest


def test_run_writes_this(planar):
    """Golden CSV: names and order of the columns exactly, numbers to round-off of the solution (1e-9)."""
    planar("run", "my.toml", "--t", "0:1:9")
    ours, golden = table("my-cycle.csv"), table(GOLDEN / "cli_run.csv")
    assert list(ours) == list(golden)
    for name in golden:
        np.testing.assert_allclose(ours[name], golden[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_run_is_the_analysis_of_python(planar):
    planar("run", "my.toml")
    inv = pl.inverse_dynamics(pl.load_model("my.toml"), np.linspace(0, 1, 361))
    inv.to_csv("python.csv")
    assert Path("my-cycle.csv").read_text() == Path("python.csv").read_text()


def test_run_long_form_elsewhere(planar, here):
    code, _, _ = planar("run", "my.toml", "--t", "0:1:3", "--form", "long", "--out", "a/b")
    assert code == 0 and (here / "a" / "b" / "my-cycle.csv").read_text().startswith(
        "time,joint,body,component,value,unit"
    )


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--analysis", "kinematics", "--t", "0:1:11"], "kinematics, t = 0 .. 1 s, 11 samples"),
        (["--analysis", "statics"], "statics, t = 0 s"),
        (["--analysis", "statics", "--t", "0:1:5"], "statics, t = 0 .. 1 s, 5 samples"),
        (["--analysis", "inverse", "--t", "0:2*pi/speed:5", "--actuate", "D"], "D "),
        (["--analysis", "cycle", "--t", "0.25"], "inverse dynamics, t = 0.25 s"),
        (["--analysis", "equilibrium", "--without", "motor"], "stable equilibrium"),
        (["--t", "0:100 ms:3"], "t = 0 .. 0.1 s, 3 samples"),
    ],
)
def test_run_what_the_command_line_asks_for(planar, words, part):
    code, out, err = planar("run", "my.toml", "--no-csv", *words)
    assert (code, err) == (0, "") and part in out
    assert not list(Path().glob("*.csv"))


def test_run_simulates(planar):
    code, out, err = planar(
        "run", "my.toml", "--analysis", "simulate", "--t", "0:0.5:26", "--without", "motor", "--rtol", "1e-7"
    )
    assert (code, err) == (0, "") and "simulate, t = 0 .. 0.5 s, 26 samples" in out and "energy: balance kept" in out
    assert len(table("my-simulate.csv")["t [s]"]) == 26


def test_run_several_analyses_of_a_file(planar, here):
    (here / "p.toml").write_text(starter("pendulum"), encoding="utf-8")
    code, out, _ = planar("run", "p.toml", "--json")
    data = json.loads(out)
    assert code == 0 and [a["name"] for a in data["analyses"]] == ["swing", "rest"]
    assert data["analyses"][1]["stability"] == "stable"
    assert {p.name for p in here.glob("*.csv")} == {"p-swing.csv", "p-rest.csv"}


@pytest.mark.parametrize(
    ("change", "column", "factor"),
    [("coupler.mass=4", None, None), ("gravity=[0, 0]", None, None), ("speed=120 rpm", "crank.vphi [rad/s]", 2.0)],
)
def test_set_changes_the_result(planar, change, column, factor):
    planar("run", "my.toml", "--t", "0:0.5:5", "--out", "a")
    code, _, _ = planar("run", "my.toml", "--t", "0:0.5:5", "--out", "b", "--set", change)
    a, b = (table(f"{folder}/my-cycle.csv") for folder in "ab")
    assert code == 0 and not np.allclose(a["motor effort [N m]"], b["motor effort [N m]"])
    if column:
        np.testing.assert_allclose(b[column], factor * a[column])


def test_run_that_stops_early_keeps_what_it_has(planar):
    """The crank is no longer the shortest link: it cannot turn all the way."""
    code, out, err = planar("run", "my.toml", "--set", "crank=0.28")
    assert code == 1 and "STOPPED: the mechanism cannot follow its drivers past" in out
    assert err == "" and 2 < len(table("my-cycle.csv")["t [s]"]) < 361
    code, out, _ = planar("run", "my.toml", "--set", "crank=0.28", "--json")
    data = json.loads(out)
    assert code == 1 and not data["ok"] and data["analyses"][0]["events"][-1]["kind"] == "limit"


def test_run_for_machines(planar):
    code, out, err = planar("run", "my.toml", "--json")
    data = json.loads(out, parse_constant=lambda x: pytest.fail(f"{x} is no JSON"))
    (cycle,) = data["analyses"]
    inv = pl.inverse_dynamics(pl.load_model("my.toml"), np.linspace(0, 1, 361))
    T = inv.effort("motor")
    assert (code, err) == (0, "") and data["ok"] and cycle["samples"] == 361
    assert cycle["efforts"][0] == {
        "name": "motor",
        "unit": "N m",
        "peak": pytest.approx(T[np.abs(T).argmax()]),
        "t": inv.t[np.abs(T).argmax()],
        "mean": pytest.approx(T.mean()),
        "rms": pytest.approx(np.sqrt((T**2).mean())),
    }
    peaks = {(r["joint"], r["on"]): r["peak"] for r in cycle["reactions"]}
    assert peaks["B", "coupler"] == pytest.approx(np.hypot(*inv.reaction("B", on="coupler").force.T).max())
    assert cycle["certificate"]["ok"]


def test_indeterminate_reactions_are_labelled(planar, here):
    (here / "x.toml").write_text(starter("parallelogram"), encoding="utf-8")
    code, out, _ = planar("run", "x.toml")
    assert code == 0 and out.count("indet.\n") == 9 and "indet.: indeterminate, redundant joints share this load" in out
    assert "indeterminate" in Path("x-lift.csv").read_text().splitlines()[0]


def test_names_are_neither_markup_nor_paths(planar, here):
    edit(here / "my.toml", "[analyses.cycle]", '[analyses."../x/[red]"]')
    edit(here / "my.toml", "[joints.A]", '[joints."[bold]A"]')
    code, out, _ = planar("run", "my.toml", "--t", "0:1:3")
    assert code == 0 and "[bold]A" in out and "../x/[red]" in out
    assert [p.name for p in here.glob("*.csv")] == ["my-___x__red_.csv"]
    assert safe("...") == "___" and safe("") == "_" and safe("Hub 1") == "Hub 1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--analysis", "invers"], "nothing is named 'invers'; did you mean 'inverse'?"),
        (["--analysis", "inverse"], "inverse needs times: --t 0:1:361"),
        (["--t", "0:x:3"], "unknown name 'x'"),
        (["--t", "0:1:0"], "a whole number of samples"),
        (["--without", "moter"], "nothing is named 'moter', did you mean 'motor'?"),
        (["--method", "projection"], "inverse has no 'method'"),
        (["--set", "crank.mass"], "write NAME=VALUE"),
        (["--form", "tall"], "invalid choice: 'tall'"),
    ],
)
def test_wrong_command_lines_are_exit_code_2(planar, words, message):
    code, out, err = planar("run", "my.toml", *words)
    assert code == 2 and message in err and out == ""
    assert not list(Path().glob("*.csv"))


def test_a_file_without_analyses(planar, here):
    text = starter("four-bar").partition("[analyses")[0]
    (here / "x.toml").write_text(text, encoding="utf-8")
    code, _, err = planar("run", "x.toml")
    assert code == 2 and "--analysis inverse --t 0:1:361" in err


@pytest.mark.parametrize("words", [["check", "absent.toml"], ["check", "."], ["run", "my.toml", "--out", "my.toml"]])
def test_files_that_cannot_be_read_or_written_are_exit_code_1(planar, words):
    code, _, err = planar(*words)
    assert code == 1 and err.startswith("planar: ") and err.count("\n") == 1


# --- pictures --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([], "my-mechanism.png"),
        (["--what", "trace", "--of", "coupler.P", "--of", "rocker"], "my-trace.png"),
        (["--what", "motion", "--of", "coupler.P"], "my-motion.png"),
        (["--what", "motion"], "my-motion.png"),
        (["--what", "reactions"], "my-reactions.png"),
        (["--what", "effort", "--of", "motor"], "my-effort.png"),
        (["--what", "energy"], "my-energy.png"),
        (["-o", "sub/x.svg"], "sub/x.svg"),
    ],
)
def test_plot(planar, words, name):
    times = ["--t", "0:1:21"] if words and words[0] == "--what" else []
    code, out, err = planar("plot", "my.toml", *words, *times)
    assert (code, err) == (0, "") and out.replace("\\", "/") == f"wrote {name}\n"
    start = Path(name).read_bytes()[:8]
    assert start.startswith(b"<?xml" if name.endswith("svg") else b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--what", "reactions", "--of", "E"], "nothing to show is named 'E'"),
        (["--what", "reactions", "--of", "A", "--of", "B"], "one thing at a time"),
        (["--what", "trace", "--of", "coupler.Q"], "body 'coupler' has no point 'Q'"),
        (["--what", "trace", "--of", "couper.P"], "unknown body 'couper', did you mean 'coupler'?"),
        (["-o", "x.xyz"], "Format 'xyz' is not supported"),
    ],
)
def test_plot_of_nothing_is_exit_code_2(planar, words, message):
    code, _, err = planar("plot", "my.toml", *words)
    assert code == 2 and message in err


def test_animate(planar):
    code, out, err = planar("animate", "my.toml", "--t", "0:1:9", "--trace", "coupler.P", "--reactions", "-o", "x.html")
    assert (code, out, err) == (0, "wrote x.html\n", "")
    assert "<html" in Path("x.html").read_text(encoding="utf-8")
    code, out, _ = planar("animate", "my.toml", "--t", "0:1:9", "--fps", "5")
    assert code == 0 and Path("my.gif").read_bytes().startswith(b"GIF89a")


def test_report(planar, here):
    code, out, err = planar("report", "my.toml", "--t", "0:1:21", "--title", "Bearing <loads>")
    assert (code, out, err) == (0, "wrote my.html\n", "")
    page = Path("my.html").read_text(encoding="utf-8")
    assert "Bearing &lt;loads&gt;" in page and "Bearing <loads>" not in page


def test_reports_of_several_analyses(planar, here):
    edit(here / "my.toml", "[analyses.cycle]", '[analyses.hold]\ntype = "statics"\n\n[analyses.cycle]')
    assert planar("report", "my.toml", "-o", "x.html")[0] == 2
    code, _, _ = planar("report", "my.toml")
    assert code == 0 and {p.name for p in here.glob("*.html")} == {"my-hold.html", "my-cycle.html"}
    code, _, _ = planar("report", "my.toml", "--analysis", "hold", "-o", "sub/x.html")
    assert code == 0 and (here / "sub" / "x.html").exists()


# --- verify, demo, schema --------------------------------------------------------------------------------------------------


def test_verify(planar):
    code, out, err = planar("verify", "my.toml", "--samples", "3")
    assert (code, err) == (0, "") and out.count("agrees") == 3
    code, out, _ = planar("verify", "my.toml", "--samples", "3", "--json")
    data = json.loads(out)
    assert code == 0 and data["ok"] and data["analyses"][0]["worst"] < 1e-9
    assert planar("verify", "my.toml", "--samples", "0")[0] == 2


def test_verify_that_cannot_compare_is_exit_code_1(planar, here):
    (here / "x.toml").write_text(starter("cam-follower"), encoding="utf-8")
    code, out, _ = planar("verify", "x.toml", "--samples", "2")
    agrees = "agrees" in out
    assert code == (0 if agrees else 1) and (agrees or "cannot express it" in out)


def test_demo(planar, here):
    code, out, err = planar("demo", "--out", "show")
    assert (code, err) == (0, "")
    assert {p.name for p in (here / "show").iterdir()} == {
        "four-bar.toml",
        "four-bar-cycle.csv",
        "four-bar.png",
        "four-bar.html",
    }
    commands = [line.removeprefix("$ planar ").split()[0] for line in out.splitlines() if line.startswith("$ planar ")]
    assert commands == ["new", "check", "run", "plot", "report"]
    assert planar("demo", "fourbar")[0] == 2


def test_schema(planar, here):
    code, out, _ = planar("schema")
    assert code == 0 and json.loads(out) == json.loads(json.dumps(schema()))
    assert planar("schema", "-o", "s.json")[0] == 0 and json.loads((here / "s.json").read_text()) == json.loads(out)


# --- output ----------------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_terminals_only(monkeypatch, capsys):
    with show.working("computing"):
        pass
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    with show.working("computing"):
        pass
    assert "computing" in terminal.getvalue()
    quiet = Terminal()
    monkeypatch.setattr(sys, "stderr", quiet)
    with show.working("computing", quiet=True):
        pass
    assert quiet.getvalue() == ""


def test_tables_without_rich(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    show.table("title", ("name", "value"), [("a", 1.0), ("long name", math.nan)])
    assert capsys.readouterr().out == "title\nname       value\na              1\nlong name\n\n"


def test_json_is_strict(capsys):
    show.print_json({"a": math.nan, "b": [math.inf, np.float64(2.0)], "c": np.array([1.0, -math.inf])})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 2.0], "c": [1.0, None]}


def test_starters_name_every_table_once():
    for name in STARTERS:
        assert tomllib.loads(starter(name))["schema"] == 1


def test_terminals_without_these_letters(here):
    edit(here / "my.toml", "[joints.A]", '[joints."Gelenk Ä φ"]')
    run = subprocess.run(
        [sys.executable, "-m", "planar", "run", "my.toml", "--t", "0:1:3", "--no-csv"],
        capture_output=True,
        env={**_environment(), "PYTHONIOENCODING": "ascii"},
    )
    assert run.returncode == 0 and b"Gelenk ? ?" in run.stdout


# --- documentation ---------------------------------------------------------------------------------------------------------

DOCS = Path(__file__).parent.parent / "docs"


def test_docs_name_every_command_kind_motion_and_unit():
    from planar.elements import KINDS
    from planar.modelfile.reader import needs_code
    from planar.modelfile.units import UNITS
    from planar.motions import MOTIONS

    commands, format = ((DOCS / name).read_text(encoding="utf-8") for name in ("cli.md", "modelfile.md"))
    assert [c.name for c in cli.COMMANDS if f"planar {c.name}" not in commands] == []
    kinds = [k for k, cls in KINDS.items() if cls.__module__.startswith("planar.") and not needs_code(cls)]
    assert [k for k in (*kinds, *MOTIONS) if k not in format] == []
    listed = format[format.index("Units: ") : format.index("; products")].replace(",", "").split()
    assert listed[1:] == list(UNITS)


def test_files_in_the_docs_are_right():
    text = (DOCS / "modelfile.md").read_text(encoding="utf-8")
    file = text.partition("```toml\n")[2].partition("```")[0]
    from planar import modelfile

    found = modelfile.loads(file)
    assert found.model.diagnose().dof == 1 and list(found.analyses) == ["swing"]


def test_commands_in_the_docs_are_right():
    """Every line that begins with `planar` is a command line that the parser takes."""
    import re
    import shlex

    parser = cli.build_parser()
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("cli.md", "modelfile.md"))
    lines = re.findall(r"^    planar (.*?)(?: +#.*| [>|].*)?$", pages, re.MULTILINE)
    lines = [line for line in lines if not line[0].isupper() and not line.startswith(":")]
    assert len(lines) > 20
    for line in lines:
        parser.parse_args(shlex.split(line))
