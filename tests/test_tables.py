"""Results as tables: wide and long, CSV and data frame, LaTeX; golden files of a slider-crank at two instants."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import mechanisms as mech
import numpy as np
import pytest

import planar as pl
from planar.report.latex import escape
from planar.tables import LONG, quantities

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def result():
    return pl.inverse_dynamics(mech.slider_crank(), [0.0, 0.1])


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def same(got, want):
    """Equal text, or equal numbers: reactions are sums of terms of order 10 N, so rounding leaves at most about 1e-13."""
    if got == want:
        return True
    try:
        return math.isclose(float(got), float(want), rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False


# --- golden files: written once by this very code, read by eye, kept against changes ---------------------------------------


@pytest.mark.parametrize("form", ["wide", "long"])
def test_csv_is_the_golden_file(result, form, tmp_path):
    result.to_csv(tmp_path / "out.csv", form=form)
    got, want = read(tmp_path / "out.csv"), read(DATA / f"slider_crank_{form}.csv")
    assert got[0] == want[0] and len(got) == len(want)
    for got_row, want_row in zip(got[1:], want[1:], strict=True):
        assert all(map(same, got_row, want_row)), (got_row, want_row)


def test_latex_is_the_golden_file(result):
    assert result.to_latex() == (DATA / "slider_crank.tex").read_text(encoding="utf-8")


# --- long form -----------------------------------------------------------------------------------------------------------


def test_long_form_holds_what_the_wide_form_holds(result):
    wide, long = result.to_dataframe(), result.to_dataframe(form="long")
    assert tuple(long.columns) == LONG
    assert len(long) == (wide.shape[1] - 1) * len(wide)
    assert np.array_equal(long["value"], wide.to_numpy()[:, 1:].T.reshape(-1))
    assert np.array_equal(long["time"], np.tile(wide["t [s]"], wide.shape[1] - 1))


def test_long_form_is_found_by_joint_body_and_component(result):
    frame = result.to_dataframe(form="long")
    rows = frame.query("joint == 'B' and body == 'rod' and component == 'Fy'")
    assert np.array_equal(rows["value"], result.reaction("B", on="rod").force[:, 1])
    assert set(rows["unit"]) == {"N"} and set(rows["label"]) == {"unique"}
    assert np.array_equal(frame.query("joint == 'motor'")["value"], result.effort("motor"))
    assert np.array_equal(frame.query("joint == '' and body == 'crank' and component == 'vphi'")["value"], [10.0, 10.0])


def test_indeterminate_values_are_labelled_in_both_forms():
    result = pl.inverse_dynamics(mech.parallelogram(3, speed=2.0), [0.0, 0.2])
    frame = result.to_dataframe(form="long")
    labels = {key: set(part["label"]) for key, part in frame.groupby(["joint", "component"])}
    assert labels["A1", "Fx"] == {"indeterminate"} and labels["motor", "effort"] == {""}
    assert "A1 on crank1 Fx [N, indeterminate]" in result.to_dataframe().columns


def test_efforts_of_actuators_have_their_unit_whatever_their_name():
    m = mech.four_bar()
    ends = (m["crank"]["B"], m.ground.point(0.3, 0.3))
    for actuate, unit in (({"servo": m["D"]}, "N m"), ({"cable": ends}, "N"), ([m["motor"]], "N m")):
        result = pl.inverse_dynamics(m, [0.0, 0.1], actuate=actuate)
        (found,) = [q for q in quantities(result) if q.component == "actuator effort"]
        assert found.unit == unit and np.array_equal(found.values, result.effort(found.joint))
        names = [q.joint for q in quantities(result) if q.component == "effort"]
        assert ("motor" in names) == (found.joint != "motor")  # not the same effort twice


def test_an_unknown_form_is_refused(result, tmp_path):
    for call in (lambda: result.to_dataframe(form="tall"), lambda: result.to_csv(tmp_path / "x.csv", form="tall")):
        with pytest.raises(pl.ModelError, match=r"'wide'.*'long'"):
            call()
    assert not (tmp_path / "x.csv").exists()


# --- LaTeX ---------------------------------------------------------------------------------------------------------------


def test_latex_escapes_names():
    m = pl.Model(r"50% & \cost_{$}", gravity=(0, -9.81))
    rod = m.add(pl.Body.rod("a_b^c#~", mass=2.0, length=1.0, r=(0.5, 0), phi=0.0))
    m.add(pl.Revolute(r"\input{x}", m.ground.point(0, 0), rod["A"]))
    m.add(pl.AngleDriver("m|<>", m.ground, rod, motion=0.0))
    text = pl.statics(m).to_latex()
    assert r"50\% \& \textbackslash{}cost\_\{\$\}" in text
    assert r"a\_b\textasciicircum{}c\#\textasciitilde{}" in text
    assert r"\textbackslash{}input\{x\}" in text and r"\input" not in text
    assert r"m\textbar{}\textless{}\textgreater{}" in text
    assert "$19.62$" in text and "$9.810$" in text  # weight on the pin, moment of the weight on the motor
    special = re.sub(r"\\[{}$&%#_]|\$[^$]*\$", "", text)
    assert not re.search(r"[%#~]", special)


def test_latex_rows_fit_their_columns(result):
    for text in (
        result.to_latex(),
        pl.kinematics(mech.four_bar(), [0.0, 0.1]).to_latex(),
        pl.statics(mech.cam()).to_latex(),
    ):
        for columns, body in re.findall(r"\\begin{tabular}{([lr]+)}(.*?)\\end{tabular}", text, re.DOTALL):
            rows = [line for line in body.splitlines() if line.endswith(r"\\")]
            assert rows and all(len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1 for row in rows)


def test_escape_leaves_plain_text_alone():
    assert escape("crank 1, pin-A (left)") == "crank 1, pin-A (left)"
