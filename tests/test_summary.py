"""print(model): exact text where it matters, and never an exception."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planar as pl
from planar.elements import Element
from planar.summary import describe
from tests.mechanisms import TEXTBOOK, chain, random_mechanism
from tests.test_contract import kinds, systems


def four_bar():
    m = pl.Model("four-bar", gravity=(0.0, -9.81))
    crank = m.add(pl.Body("crank", 1.0, 0.01, r=(0.05, 0), phi=0.0, points={"A": (-0.05, 0), "B": (0.05, 0)}))
    coupler = m.add(pl.Body.rod("coupler", mass=2.0, length=0.30, start="B", end="C"))
    rocker = m.add(pl.Body.rod("rocker", mass=1.5, length=0.25, start="D", end="C", inertia=0.008))
    m.add(pl.Revolute("A", m.ground.point(0, 0), crank["A"]))
    m.add(pl.Revolute("B", crank["B"], coupler["B"]))
    m.add(pl.Revolute("C", coupler["C"], rocker["C"]))
    m.add(pl.Revolute("D", m.ground.point(0.3, 0), rocker["D"]))
    m.add(pl.AngleDriver("motor", m.ground, crank, motion=pl.Ramp(rate=2 * np.pi)))
    m.add(pl.Spring("spring", m.ground.point(0.1, 0.2), coupler["C"], stiffness=100.0, length=0.1))
    return m


FOUR_BAR = """\
four-bar, gravity (0, -9.81) m/s^2

bodies (3)  mass kg  inertia kg m^2  drawn pose, m      points, m
  crank     1        0.01            (0.05, 0), 0 deg   A (-0.05, 0), B (0.05, 0)
  coupler   2        0.015           found at assembly  B (-0.15, 0), C (0.15, 0)
  rocker    1.5      0.008           found at assembly  D (-0.125, 0), C (0.125, 0)

joints (4)  kind      equations  connects
  A         Revolute  x, y       ground (0, 0) - crank A
  B         Revolute  x, y       crank B - coupler B
  C         Revolute  x, y       coupler C - rocker C
  D         Revolute  x, y       ground (0.3, 0) - rocker D

drivers (1)  kind         equations  drives          motion
  motor      AngleDriver  angle      ground - crank  Ramp(rate=6.28319)

forces (1)  kind    acts on
  spring    Spring  ground (0.1, 0.2) - coupler C, stiffness = 100, length = 0.1

9 coordinates, 9 equations (8 of joints, 1 of drivers)
degrees of freedom with the drivers released: 1 by count (Gruebler), 1 by rank at the assembled pose
degrees of freedom with the drivers acting: 0 by count, 0 by rank"""


def test_four_bar():
    assert str(four_bar()) == FOUR_BAR


@pytest.mark.parametrize("name", TEXTBOOK)
def test_every_name_appears_within_100_columns(name):
    m = TEXTBOOK[name]()
    text = str(m)
    assert max(map(len, text.splitlines())) <= 100
    first = [line[2:].split("  ")[0] for line in text.splitlines() if line[:2] == "  " and line[2] != " "]
    assert [item.name for item in (*m.bodies, *m.joints, *m.drivers, *m.forces)] == first


@pytest.mark.parametrize("kind", kinds(Element))
def test_every_kind_of_element_is_described(kind):
    for system, _ in systems(kind):
        text = describe(system.model)
        assert kind in text and "?" not in text
        assert max(map(len, text.splitlines())) <= 100


def test_redundant_equations_are_announced():
    text = str(TEXTBOOK["parallelogram"]())
    assert "0 by count (Gruebler), 1 by rank" in text
    assert "redundant equations: 1 permanent; m.diagnose() names them" in text


def test_long_models_are_abbreviated():
    text = str(chain(500))
    assert len(text.splitlines()) < 40
    assert "bodies (500)" in text and "  ... 490 more" in text
    assert "1500 coordinates, 1000 equations" in text
    assert "degrees of freedom: 500 by count (Gruebler)" in text and "m.diagnose() does" in text


def test_motions_and_magnitudes():
    def brake(t, state):
        return -state["b"].omega

    m = pl.Model("motions")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0, 0)))
    m.add(pl.PointDriver("path", b.point(0, 0), x="3*t", y=2 * pl.Harmonic(1.0, 2.0) + pl.Ramp(1.0)))
    m.add(pl.CoordinateDriver("turn", b, "phi", pl.Table(np.arange(9.0), np.zeros(9))))
    m.add(pl.PointForce("push", b.point(0, 0), np.array([1.0, 2.0]), frame="body"))
    m.add(pl.Torque("brake", b, brake))
    text = " ".join(str(m).split())
    assert 'x = "3*t", y = 2 Harmonic(amplitude=1, omega=2)' in text and "+ Ramp(rate=1)" in text
    assert "Table(9 rows, t = 0 .. 8 s)" in text and "coordinate = phi" in text
    assert "force = (1, 2), frame = body" in text and "torque = function brake" in text
    assert "(0, 0), angle found" in text


# --- what is wrong is part of the text ---------------------------------------------------------------------------------


def test_problems_are_listed():
    m = pl.Model("bad")
    b = m.add(pl.Body("b", mass=-1.0, inertia=math.nan))
    m.add(pl.Body("b", 1.0, 1.0))
    m.add(pl.AngleDriver("motor", m.ground, b))
    text = str(m)
    assert "4 problems: no analysis will start" in text
    assert "  1. body 'b': mass is -1 kg; give a value >= 0" in text
    for word in ("inertia is nan", "used for a Body and a Body", "motion is missing"):
        assert word in text
    assert "there is no body" in str(pl.Model("empty"))


def test_a_model_that_does_not_assemble_says_why():
    m = four_bar()
    m.add(pl.Distance("rope", m.ground.point(0, 0), m["rocker"]["C"], length=9.0))
    text = str(m)
    assert "by rank: not known, " in text and "'rope'" in text
    assert "0 by count (Gruebler)\n" in text


def test_a_users_function_that_fails_does_not_matter():
    m = pl.Model("user")
    m.add(pl.UserConstraint("track", m.add(pl.Body("b", 1.0, 1.0, r=(0, 0), phi=0.0)), lambda t, b: 1 / 0))
    assert "division by zero" in str(m)


GARBAGE = st.one_of(
    st.none(),
    st.floats(),
    st.integers(-3, 3),
    st.text(max_size=5),
    st.sampled_from([math.inf, (), (1,), (1.0, 2.0, 3.0), "x\ny", object(), np.zeros(3), pl.Ramp(1.0), {"a": 1}, len]),
)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 5), data=st.data())
def test_garbage_in_any_attribute_never_raises(seed, data):
    m = random_mechanism(seed, bodies=3, driven=True)
    for _ in range(data.draw(st.integers(1, 3))):
        item = data.draw(st.sampled_from(list(m)))
        names = [f.name for f in dataclasses.fields(item)] if dataclasses.is_dataclass(item) else list(vars(item))
        setattr(item, data.draw(st.sampled_from(names)), data.draw(GARBAGE))
    text = describe(m)
    assert text.startswith(m.name) and max(map(len, text.splitlines())) <= 100
