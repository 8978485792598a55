"""planar.diagnosis against answers derived by hand, in the comments of each test."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import planar as pl
from planar.diagnosis import explain_overdriven, explain_underdriven, smallest_singular_value, unique_rows
from tests.mechanisms import random_mechanism


def rod(m, name, P, Q, **kw):
    (px, py), (qx, qy) = P, Q
    r, phi = ((px + qx) / 2, (py + qy) / 2), math.atan2(qy - py, qx - px)
    return m.add(pl.Body.rod(name, 1.0, math.hypot(qx - px, qy - py), start="P", end="Q", r=r, phi=phi, **kw))


def four_bar(crank=1.0, angle=1.0, B=None, C=None, D=(4.0, 0.0)):
    """A (ground, crank), B (crank, coupler), C (coupler, rocker), D (ground, rocker)."""
    m = pl.Model("four-bar")
    B = (crank * math.cos(angle), crank * math.sin(angle)) if B is None else B
    C = (3.5, 2.0) if C is None else C
    a, b, c = rod(m, "crank", (0, 0), B), rod(m, "coupler", B, C), rod(m, "rocker", D, C)
    m.add(pl.Revolute("A", m.ground.point(0, 0), a["P"]))
    m.add(pl.Revolute("B", a["Q"], b["P"]))
    m.add(pl.Revolute("C", b["Q"], c["Q"]))
    m.add(pl.Revolute("D", m.ground.point(*D), c["P"]))
    return m


def flat_four_bar():
    return four_bar(B=(1, 0), C=(3, 0), D=(4, 0))


def folded_four_bar(angle=0.0):
    """Lengths 1, 2, 1, base 2: a parallelogram, flat at angle 0."""
    e = (math.cos(angle), math.sin(angle))
    return four_bar(B=e, C=(2 + e[0], e[1]), D=(2, 0))


def driven(m, body="crank", name="motor", **kw):
    m.add(pl.AngleDriver(name, m.ground, m[body], pl.Ramp(1.0), from_drawn=True, **kw))
    return m


def slider_crank():
    m = pl.Model("slider-crank")
    B = (0.6, 0.8)
    C = (B[0] + math.sqrt(9 - 0.64), 0.0)
    a, b = rod(m, "crank", (0, 0), B), rod(m, "rod", B, C)
    s = m.add(pl.Body("slider", 1.0, 0.1, r=C, phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), a["P"]))
    m.add(pl.Revolute("B", a["Q"], b["P"]))
    m.add(pl.Revolute("C", b["Q"], s.point(0, 0)))
    m.add(pl.Translational("slide", m.ground.axis((0, 0), (1, 0)), s.axis((0, 0), (1, 0))))
    return m


def parallelogram(angle=1.0, cranks=3):
    """Cranks of length 1 at (0, 0), (2, 0), (3, 0), one coupler: pins A1..A3 on ground, B1..B3 on the coupler."""
    m = pl.Model("parallelogram")
    e = (math.cos(angle), math.sin(angle))
    coupler = rod(m, "coupler", e, (3 + e[0], e[1]))
    for k, x in enumerate((0.0, 2.0, 3.0)[:cranks], 1):
        crank = rod(m, f"crank{k}", (x, 0), (x + e[0], e[1]))
        m.add(pl.Revolute(f"A{k}", m.ground.point(x, 0), crank["P"]))
        m.add(pl.Revolute(f"B{k}", crank["Q"], coupler.point(x - 1.5, 0)))
    return m


def door(places=((0, 0), (0, 1), (0, 2))):
    m = pl.Model("door")
    d = m.add(pl.Body("door", 20.0, 3.0, r=(0.4, 1.0), phi=0.0))
    for name, (x, y) in zip("ABCD", places, strict=False):
        m.add(pl.Revolute(name, m.ground.point(x, y), d.point(x - 0.4, y - 1.0)))
    return m


def rail():
    m = pl.Model("two sliders on one rail")
    c = m.add(pl.Body("carriage", 5.0, 1.0, r=(0, 0), phi=0.0))
    for name, x in (("front", 0.5), ("back", -0.5)):
        m.add(pl.Translational(name, m.ground.axis((0, 0), (1, 0)), c.axis((x, 0), (x + 1, 0))))
    return m


def planetary(planets=1):
    """Sun (radius 2), arm, planets (radius 1); with two planets also a ring (radius 4)."""
    m = pl.Model("planetary")
    sun = m.add(pl.Body("sun", 1, 0.1, r=(0, 0), phi=0.0))
    arm = m.add(pl.Body("arm", 1, 0.1, r=(0, 0), phi=0.0))
    m.add(pl.Revolute("S", m.ground.point(0, 0), sun.point(0, 0)))
    m.add(pl.Revolute("H", m.ground.point(0, 0), arm.point(0, 0)))
    if planets > 1:
        ring = m.add(pl.Body("ring", 1, 0.1, r=(0, 0), phi=0.0))
        m.add(pl.Revolute("R", m.ground.point(0, 0), ring.point(0, 0)))
    for k in range(1, planets + 1):
        x = 3 if k == 1 else -3
        planet = m.add(pl.Body(f"planet{k}", 1, 0.1, r=(x, 0), phi=0.0))
        m.add(pl.Revolute(f"P{k}", arm.point(x, 0), planet.point(0, 0)))
        m.add(pl.Gear.external(f"sun{k}", sun, planet, 2.0, 1.0, carrier=arm))
        if planets > 1:
            m.add(pl.Gear.internal(f"ring{k}", planet, ring, 1.0, 4.0, carrier=arm))
    return m


def open_chain(n):
    m = pl.Model("chain")
    last = m.ground.point(0, 0)
    for k in range(n):
        b = rod(m, f"link{k + 1}", (k, 0), (k + 1, 0))
        m.add(pl.Revolute(f"J{k + 1}", last, b["P"]))
        last = b["Q"]
    return m


def toggle():
    """Crank and rod in one line with the slide, the slider driven: a limit position."""
    m = pl.Model("toggle")
    a, b = rod(m, "crank", (0, 0), (1, 0)), rod(m, "rod", (1, 0), (3, 0))
    s = m.add(pl.Body("slider", 1.0, 0.1, r=(3, 0), phi=0.0))
    rail = m.ground.axis((0, 0), (1, 0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), a["P"]))
    m.add(pl.Revolute("B", a["Q"], b["P"]))
    m.add(pl.Revolute("C", b["Q"], s.point(0, 0)))
    m.add(pl.Translational("slide", rail, s.axis((0, 0), (1, 0))))
    m.add(pl.SlideDriver("push", rail, s.point(0, 0), pl.Ramp(-1.0, 3.0)))
    return m


def propped_beam():
    """A beam pinned at A and held by two vertical rods."""
    m = pl.Model("propped beam")
    b = rod(m, "beam", (0, 0), (2, 0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), b["P"]))
    m.add(pl.Distance("left", m.ground.point(1, 1), b.point(0, 0)))
    m.add(pl.Distance("right", m.ground.point(2, 1), b["Q"]))
    return m


ZOO = {
    "four-bar": four_bar,
    "driven four-bar": lambda: driven(four_bar()),
    "slider-crank": slider_crank,
    "parallelogram": parallelogram,
    "upright parallelogram": lambda: parallelogram(math.pi / 2),
    "flat parallelogram": lambda: parallelogram(0.0),
    "door": door,
    "oblique door": lambda: door(((0, 0), (0.6, 0.8))),
    "rail": rail,
    "stretched": flat_four_bar,
    "folded": folded_four_bar,
    "planetary": planetary,
    "two planets": lambda: planetary(2),
    "chain": lambda: open_chain(4),
    "over-driven": lambda: driven(driven(four_bar()), "rocker", "motor2"),
    "toggle": toggle,
    "propped beam": propped_beam,
}
each = pytest.mark.parametrize("case", ZOO)


def jacobian(d, m):
    """Phi_q at the pose of the diagnosis, rows of length one, turns in typical lengths."""
    s = pl.compile(m)
    J = s.pattern.to_dense(s.constraints(d.t, d.q).Phi_q) / np.tile([1.0, 1.0, s.length], s.nb)
    return J / np.linalg.norm(J, axis=1, keepdims=True), {name: k for k, name in enumerate(s.row_names)}


def rank(J):
    # poses are drawn exactly, so dependent rows leave 1e-15 and independent ones more than 1e-3
    return np.linalg.matrix_rank(J, tol=1e-9) if J.size else 0


# --- what holds for every mechanism ----------------------------------------------------------------------------------


@each
def test_counts_are_those_of_the_matrix(case):
    m = ZOO[case]()
    d = m.diagnose()
    J, _ = jacobian(d, m)
    joints = d.rows - d.driver_rows
    assert (d.rows, d.coordinates) == J.shape
    assert d.rank == rank(J) and d.joint_rank == rank(J[:joints])
    assert d.dof == d.coordinates - rank(J[:joints]) and d.gruebler == d.coordinates - joints
    assert d.dof_driven == d.coordinates - rank(J) and d.gruebler_driven == d.coordinates - d.rows
    assert len(d.redundant) == d.rows - d.rank


@each
def test_redundant_sets_are_minimal(case):
    """Each set is dependent, and no longer is when any row is left out."""
    m = ZOO[case]()
    d = m.diagnose()
    J, index = jacobian(d, m)
    for names in d.momentary if d.permanent and d.momentary else d.redundant:  # permanent sets are minimal nearby
        rows = [index[n] for n in names]
        assert rank(J[rows]) == len(rows) - 1
        for k in rows:
            assert rank(J[[r for r in rows if r != k]]) == len(rows) - 1


@each
def test_a_row_is_unique_if_and_only_if_the_rank_needs_it(case):
    """lambda_k is determined <=> e_k is in the range of Phi_q <=> without row k the rank falls."""
    m = ZOO[case]()
    d = m.diagnose()
    J, index = jacobian(d, m)
    for name, k in index.items():
        assert d.unique[name] == (rank(np.delete(J, k, axis=0)) < rank(J)), name


@each
def test_free_motions_are_orthonormal_and_satisfy_the_constraints(case):
    m = ZOO[case]()
    d, s = m.diagnose(), pl.compile(m)
    J, _ = jacobian(d, m)
    scale = np.tile([1.0, 1.0, s.length], s.nb)
    assert len(d.free_motions) == d.dof_driven and len(d.linkage_motions) == d.dof == len(d.basis)
    for motion in d.free_motions:
        assert np.abs(J @ (scale * motion.v)).max(initial=0.0) < 1e-12 * np.abs(scale * motion.v).max()
        assert s.mass @ motion.v**2 == pytest.approx(1.0, rel=1e-12)
        moving = {n for k, n in enumerate(s.body_names) if np.any(motion.v[3 * k : 3 * k + 3])}
        assert moving == set(motion.bodies)
    np.testing.assert_allclose((d.basis * s.mass) @ d.basis.T, np.eye(d.dof), atol=1e-12)
    assert rank(np.vstack([d.basis, *(motion.v for motion in d.linkage_motions)])) == d.dof


@each
def test_sparse_and_dense_agree(case, monkeypatch):
    dense = ZOO[case]().diagnose()
    monkeypatch.setattr("planar.mobility.DENSE", 0)
    monkeypatch.setattr("planar.linear.rank.DENSE", 0)
    monkeypatch.setattr("planar.projection.DENSE", 0)
    sparse = ZOO[case]().diagnose()
    for what in (
        "rank",
        "joint_rank",
        "dof_nearby",
        "permanent",
        "momentary",
        "unique",
        "conflicts",
        "stuck",
        "moving",
    ):
        assert getattr(sparse, what) == getattr(dense, what), what
    assert [m.bodies for m in sparse.free_motions] == [m.bodies for m in dense.free_motions]


@each
def test_text_is_narrow_and_complete(case):
    d = ZOO[case]().diagnose()
    text = str(d)
    assert max(map(len, text.splitlines())) <= 100
    assert repr(d) == text
    for names in d.redundant:
        assert all(repr(n) in text for n in names[:6])


@pytest.mark.parametrize("case", ["parallelogram", "door", "oblique door", "rail", "two planets", "propped beam"])
@pytest.mark.parametrize("turn", [0.7, 2.0])
def test_the_answer_turns_with_the_world(case, turn):
    m, other = ZOO[case](), ZOO[case]()
    c, s = math.cos(turn), math.sin(turn)

    def turned(p):
        return (c * p[0] - s * p[1], s * p[0] + c * p[1])

    for body in other.bodies:
        body.r, body.phi = turned(body.r), body.phi + turn
    for joint in other.joints:
        for f in dataclasses.fields(joint):
            value = getattr(joint, f.name)
            if isinstance(value, pl.Point) and value.body.is_ground:
                setattr(joint, f.name, other.ground.point(*turned(value.s)))
            elif isinstance(value, pl.Axis) and value.body.is_ground:
                setattr(joint, f.name, other.ground.axis(turned(value.start), turned(value.end)))
    a, b = m.diagnose(), other.diagnose()
    assert (a.rank, a.dof, len(a.permanent), len(a.momentary)) == (b.rank, b.dof, len(b.permanent), len(b.momentary))
    assert [g.joints for g in a.groups] == [g.joints for g in b.groups]
    for name, e in a.directions.items():
        assert abs(np.dot(turned(e), b.directions[name])) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_a_doubled_joint_is_found_in_any_mechanism(seed):
    """Twins of a pin repeat its rows, whatever the rest does: {x, x'} and {y, y'} depend, always; all else is unique."""
    m = random_mechanism(seed, driven=seed % 2 == 1)
    assert m.diagnose().redundant == []
    pin = next(j for j in m.joints if isinstance(j, pl.Revolute))
    m.add(pl.Revolute("twin", pin.point_i, pin.point_j))
    d = m.diagnose()
    assert d.permanent == [(f"{pin.name}.{c}", f"twin.{c}") for c in "xy"] and d.momentary == []
    assert d.indeterminate == [pin.name, "twin"]
    assert d.advice == ["remove revolute 'twin'"]


# --- textbook mechanisms ---------------------------------------------------------------------------------------------


def test_four_bar():
    """9 coordinates - 8 rows = 1; the motor takes it.  The coupler turns about the point where both cranks' lines meet."""
    d = four_bar().diagnose()
    assert (d.dof, d.gruebler, d.dof_driven, d.rank) == (1, 1, 1, 8)
    (motion,) = d.free_motions
    assert motion.bodies["crank"] == "turns about 'A'" and motion.bodies["rocker"] == "turns about 'D'"
    # lines A + s (cos 1, sin 1) and D + u (-0.5, 2): 2 x + 0.5 y = 8 with x = s cos 1, y = s sin 1
    s = 8 / (2 * math.cos(1) + 0.5 * math.sin(1))
    assert motion.bodies["coupler"] == f"turns about ({s * math.cos(1):.3g}, {s * math.sin(1):.3g})"
    assert d.redundant == [] and d.indeterminate == [] and all(d.unique.values())

    d = driven(four_bar()).diagnose()
    assert (d.dof, d.dof_driven, d.gruebler_driven, d.rank) == (1, 0, 0, 9)
    assert d.free_motions == [] and len(d.linkage_motions) == 1 and d.conflicts == []


def test_slider_crank():
    d = driven(slider_crank()).diagnose()
    assert (d.dof, d.dof_driven) == (1, 0)
    assert d.linkage_motions[0].bodies["slider"] == "slides along (1, 0)"


def test_parallelogram_has_one_permanent_redundancy():
    """The third crank: 12 - 12 = 0 by count, yet it moves.

    Loads that the pins exchange: every crank is a rod in tension f_k, the coupler is in balance if sum f_k = 0 and
    sum f_k x_k = 0, so f ~ (-1, 3, -2) at x = (0, 2, 3): none is zero, all pins take part along their crank.
    """
    d = parallelogram(1.0).diagnose()
    assert (d.dof, d.gruebler, d.dof_nearby) == (1, 0, 1)
    pins = ("A1", "B1", "A2", "B2", "A3", "B3")
    assert d.permanent == [tuple(f"{p}.{c}" for p in pins for c in "xy")] and d.momentary == []
    assert d.indeterminate == list(pins)
    for e in d.directions.values():
        assert abs(np.dot(e, (math.cos(1), math.sin(1)))) == pytest.approx(1.0, abs=1e-9)
    # upright cranks: f is along y, and the motor's torque is unique as always
    d = driven(parallelogram(math.pi / 2), "crank1").diagnose()
    assert d.permanent == [tuple(f"{p}.y" for p in pins)]
    assert [row for row, unique in d.unique.items() if unique] == [f"{p}.x" for p in pins] + ["motor.angle"]
    (group,) = d.groups
    assert group.joints == pins and group.redundancy == 1


def test_the_advice_works_when_it_is_followed():
    """Pin B3 in a slot along crank 3 (its local x axis) at its end (0.5, 0)."""
    m = parallelogram(1.0)
    (sentence,) = m.diagnose().advice
    first = "replace revolute 'B3' by a pin-in-slot, its slot on 'crank3' along (1, 0)"
    assert sentence.startswith(first) and sentence.count("replace") == 3
    changed = m.without("B3")
    crank, coupler = changed["crank3"], changed["coupler"]
    changed.add(pl.PinInSlot("B3", crank.axis((0.5, 0), (1.5, 0)), coupler.point(1.5, 0)))
    d = changed.diagnose()
    assert d.redundant == [] and d.dof == 1 and d.indeterminate == []


def test_flat_parallelogram_has_both_kinds():
    """Flat, the x rows of any two cranks form a relation: 2, of which one stays when it leaves the flat position."""
    d = parallelogram(0.0).diagnose()
    assert (d.dof, d.dof_nearby) == (2, 1)
    assert len(d.permanent) == 1 and d.momentary == [("A1.x", "B1.x", "A2.x", "B2.x")]
    assert d.shaky == []


def test_flat_four_bars():
    """All pins on the x axis: B.x - A.x and so on add up, so the x rows depend, in this position only.

    Folded (1, 2, 1, 2) it can leave; stretched (1 + 2 + 1 = 4) it is at the end of its reach and moves to first order only.
    """
    rows = ("A.x", "B.x", "C.x", "D.x")
    d = folded_four_bar().diagnose()
    assert (d.momentary, d.permanent, d.dof, d.dof_nearby, d.shaky) == ([rows], [], 2, 1, [])
    assert [row for row, unique in d.unique.items() if unique] == ["A.y", "B.y", "C.y", "D.y"]
    assert d.advice == [] and "in this position only" in str(d)
    d = flat_four_bar().diagnose()
    assert (d.momentary, d.permanent, d.dof, d.dof_nearby) == ([rows], [], 2, 1)
    assert d.shaky == ["crank", "coupler", "rocker"]


def test_a_nearly_flat_drawing_is_flat_after_assembly():
    """Drawn 1e-3 off, the stretched four-bar assembles to its singular pose with an error of about 1e-8."""
    m = flat_four_bar()
    m["crank"].r, m["crank"].phi = (0.5, 5e-4), 1e-3
    d = m.diagnose()
    assert len(d.momentary) == 1 and d.permanent == []


def test_two_sliders_on_one_rail():
    """Axes of both slides are the x axis of the carriage, 1 m apart: rows (y + x_k phi, phi) for x_k = +-0.5, so the angles

    are one row, and the second normal is the first less 1 m times the angle.  Rank 2 of 4.
    """
    d = rail().diagnose()
    assert (d.dof, d.gruebler, d.rank) == (1, -1, 2)
    assert d.permanent == [("front.normal", "front.angle", "back.normal"), ("front.angle", "back.angle")]
    assert d.free_motions[0].bodies == {"carriage": "slides along (1, 0)"}
    assert d.advice == ["remove translational 'back'"]
    assert rail().without("back").diagnose().redundant == []


def test_door_on_two_hinges():
    """Two pins exchange a force along the line that joins them, and nothing else: across it the reactions are unique."""
    d = door(((0, 0), (0, 1))).diagnose()
    assert d.permanent == [("A.y", "B.y")] and (d.dof, d.gruebler) == (0, -1)
    assert d.unique == {"A.x": True, "A.y": False, "B.x": True, "B.y": False}
    d = door(((0, 0), (0.6, 0.8))).diagnose()
    assert not any(d.unique.values())  # neither global component, although the force across the line is known
    for name in "AB":
        assert abs(np.dot(d.directions[name], (0.6, 0.8))) == pytest.approx(1.0, abs=1e-12)


def test_door_on_three_hinges():
    """Hinges at y = 0, 1, 2 on one line.  Along it the sum of three forces is known: two sets of two.

    Across it sum f_k = 0 and sum f_k y_k = 0 leave f ~ (1, -2, 1): one set of three.  No component is unique.
    """
    d = door().diagnose()
    assert sorted(d.permanent) == [("A.x", "B.x", "C.x"), ("A.y", "B.y"), ("A.y", "C.y")]
    assert not any(d.unique.values()) and d.directions == {} and d.momentary == []
    assert d.groups[0].redundancy == 3
    assert d.advice == [
        "remove revolute 'C'",
        "replace revolute 'B' by a pin-in-slot, its slot on 'ground' along (0, 1)",
    ]
    m = door().without("B", "C")
    m.add(pl.PinInSlot("B", m.ground.axis((0, 1), (0, 2)), m["door"].point(-0.4, 0.0)))
    d = m.diagnose()
    assert d.redundant == [] and d.dof == 0 and "nothing can move" in str(d)


def test_propped_beam():
    """Two vertical rods at 1 m and 2 m from the pin: forces f, g with f + 2 g = 0 about it, their sum -A.y; A.x is unique."""
    d = propped_beam().diagnose()
    assert d.permanent == [("A.y", "left.length", "right.length")]
    assert [row for row, unique in d.unique.items() if unique] == ["A.x"]
    assert d.advice == [
        "remove distance 'right', or remove distance 'left', or replace revolute 'A' by a pin-in-slot, "
        "its slot on 'ground' along (0, 1)"
    ]


def test_welds():
    """A body welded to ground twice: 3 rows too many; the second weld goes."""
    m = pl.Model("welds")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.Weld("W1", m.ground.point(-1, 0), b.point(-1, 0)))
    m.add(pl.Weld("W2", m.ground.point(1, 0), b.point(1, 0)))
    d = m.diagnose()
    assert len(d.permanent) == 3 and d.advice == ["remove weld 'W2'"]
    m = m.without("W2")
    m.add(pl.Revolute("R", m.ground.point(1, 0), m["b"].point(1, 0)))  # 2 rows too many, both of the pin's
    assert m.diagnose().advice == ["remove revolute 'R'"]
    m = m.without("R")
    m.add(pl.PinInSlot("S", m.ground.axis((1, 0), (2, 0)), m["b"].point(1, 0)))  # holds what the weld's couple holds
    d = m.diagnose()
    assert d.permanent == [("W1.y", "W1.angle", "S.normal")]
    assert d.advice[0].split(", or ")[:2] == ["remove pin-in-slot 'S'", "replace weld 'W1' by a revolute"]


def test_planetary_gear():
    """3 bodies on 3 pins, 1 gear row: 9 - 7 = 2.  With sun held the planet rolls on it about the pitch point (2, 0)."""
    d = planetary().diagnose()
    assert (d.dof, d.redundant) == (2, [])
    assert [m.bodies for m in d.free_motions] == [
        {"sun": "turns about 'S'", "planet1": "turns about 'P1'"},
        {"arm": "turns about 'H'", "planet1": "turns about (2, 0)"},
    ]
    # with the ring each planet states the same Willis equation between sun, ring and arm: the second one is redundant
    d = planetary(2).diagnose()
    assert (d.dof, d.gruebler) == (2, 1)
    assert d.permanent == [("sun1.angle", "ring1.angle", "sun2.angle", "ring2.angle")]
    assert all(unique for row, unique in d.unique.items() if row[0] in "SHPR")


def test_open_chain_and_disconnected_bodies():
    d = open_chain(3).diagnose()
    assert (d.dof, d.moving) == (3, ["link1", "link2", "link3"])
    assert d.free_motions[0].bodies["link1"] == "turns about 'J1'"
    assert d.free_motions[2].bodies == {"link3": "turns about 'J3'"}
    m = pl.Model("loose")
    m.add(pl.Body("a", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.Body("b", 2.0, 1.0, r=(3, 0), phi=1.0))
    d = m.diagnose()  # no constraints at all
    assert (d.rows, d.rank, d.dof, d.gruebler) == (0, 0, 6, 6)
    assert [str(f) for f in d.free_motions[3:]] == [
        "'b' moves along (1, 0)",
        "'b' moves along (0, 1)",
        "'b' turns about its centre of mass",
    ]
    assert d.unique == {} and str(d)


# --- drivers -----------------------------------------------------------------------------------------------------------


def test_over_driven():
    """Crank and rocker driven by motions that do not fit: no velocity, and later no pose; both are named all the same."""
    m = driven(driven(four_bar()), "rocker", "motor2")
    for t in (0.0, 1.0):
        d = m.diagnose(t)
        assert d.conflicts == [("motor", "motor2")] and d.stuck == []
        assert (d.dof, d.dof_driven, d.gruebler_driven) == (1, 0, -1)
        assert d.advice == ["remove driver 'motor2', or remove driver 'motor'"]
        assert d.notes
    s = pl.compile(m)
    assert explain_overdriven(s, 0.0, d.q) == "drivers 'motor' and 'motor2' drive the same motion; remove one of them"
    assert explain_underdriven(s, 0.0, d.q) == ""


def test_velocities_drawn_on_a_structure_vanish():
    m = door(((0, 0), (0, 1)))
    m["door"].v, m["door"].omega = (1.0, 2.0), 3.0
    assert np.abs(m.assemble().v).max() < 1e-12  # round-off of the drawn ones
    assert not any("no velocity" in note for note in m.diagnose().notes)


def test_driver_on_a_structure():
    m = driven(door(((0, 0), (0, 1))), "door")
    d = m.diagnose()
    assert d.conflicts == [("motor",)]
    assert "drives what the joints already hold" in str(d)


def test_under_driven():
    m = driven(open_chain(3), "link1")
    d, s = m.diagnose(), pl.compile(m)
    assert (d.dof, d.dof_driven) == (3, 2)
    text = explain_underdriven(s, 0.0, d.q)
    assert text.startswith("2 motions are left free: 'link2' turns about 'J2'") and "pl.simulate" in text
    assert explain_overdriven(s, 0.0, d.q) == ""


def test_limit_position():
    """x_slider = x_B + 2 cos, x_B = cos: the x rows of A, B, C add up to that of the driver where all cosines are 1."""
    d = toggle().diagnose()
    assert d.momentary == [("A.x", "B.x", "C.x", "push.slide")] and d.permanent == []
    assert d.stuck == [("push",)] and d.conflicts == []
    assert (d.dof, d.dof_nearby, d.dof_driven) == (1, 1, 1)
    assert "driver 'push' is in a limit position" in explain_overdriven(pl.compile(toggle()), 0.0, d.q)


def test_an_impossible_model_is_an_assembly_error():
    m = four_bar()
    m.add(pl.Distance("rope", m.ground.point(0, 0), m["rocker"]["Q"], length=50.0))
    with pytest.raises(pl.AssemblyError, match="rope"):
        m.diagnose()


# --- odd bodies and constraints ------------------------------------------------------------------------------------------


def test_massless_bodies():
    m = driven(four_bar())
    m["coupler"].mass = m["coupler"].inertia = m["rocker"].inertia = 0.0
    d = m.diagnose()
    assert (d.dof, d.dof_driven, d.redundant) == (1, 0, [])
    for body in m.bodies:
        body.mass = body.inertia = 0.0
    assert m.diagnose().linkage_motions[0].bodies["crank"] == "turns about 'A'"


def test_user_constraint_in_other_units():
    """A slot along x, and the same as a user's formula in millimetres: one redundant row whatever its size."""
    m = pl.Model("track")
    b = m.add(pl.Body("cart", 1.0, 1.0, r=(1, 0), phi=0.0))
    m.add(pl.PinInSlot("slot", m.ground.axis((0, 0), (1, 0)), b.point(0, 0)))
    m.add(pl.UserConstraint("track", b, lambda t, c: 1000.0 * c.y))
    d = m.diagnose()
    assert d.permanent == [("slot.normal", "track.phi")]
    assert d.advice == ["remove user-constraint 'track', or remove pin-in-slot 'slot'"]


# --- numbers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_smallest_singular_value(size):
    """A body pinned at a distance L and driven: in units of L the rows are (1, 0, 0), (0, 1, 1), (0, 0, 1).

    Singular values of [[1, 1], [0, 1]]: the golden ratio and its inverse, in any unit of length.
    """
    m = pl.Model("pinned")
    b = m.add(pl.Body("b", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(size, 0), b.point(size, 0)))
    m.add(pl.AngleDriver("motor", m.ground, b, pl.Ramp(1.0)))
    s = pl.compile(m)
    value, row = smallest_singular_value(s, s.constraints(0.0, s.q_drawn).Phi_q)
    assert value == pytest.approx((math.sqrt(5) - 1) / 2, rel=1e-12)
    assert row == "A.y"  # (1, -1.618): the driver has the larger share, but it is the joint that a reader can look at


def test_smallest_singular_value_of_large_systems(monkeypatch):
    """Inverse iteration on the ladder against the singular value decomposition of it; also with a row too many."""
    m = driven(open_chain(40), "link1")
    rows = (None, np.arange(30))
    s = pl.compile(m)
    data = s.constraints(0.0, s.q_drawn).Phi_q
    dense = [smallest_singular_value(s, data, r)[0] for r in rows]
    monkeypatch.setattr("planar.mobility.DENSE", 0)
    for r, value in zip(rows, dense, strict=True):
        assert smallest_singular_value(s, data, r)[0] == pytest.approx(value, rel=0.05)  # an upper bound, by 12 steps
    m = parallelogram()  # singular: a row too many
    s = pl.compile(m)
    assert smallest_singular_value(s, s.constraints(0.0, s.q_drawn).Phi_q)[0] < 1e-12


def test_uniqueness_of_many_poses_at_once(monkeypatch):
    """Folded at angle 0 only: the batch gives what the single poses give."""
    s = pl.compile(folded_four_bar())
    poses = [pl.compile(folded_four_bar(a)).q_drawn for a in (0.0, 0.4, 1.0)]
    data = s.constraints(np.zeros(3), np.array(poses)).Phi_q
    batch = unique_rows(s, data)
    assert batch.shape == (3, 8)
    assert batch.sum(axis=1).tolist() == [4, 8, 8]
    assert all(np.array_equal(unique_rows(s, row), b) for row, b in zip(data, batch, strict=True))
    monkeypatch.setattr("planar.mobility.DENSE", 0)
    assert np.array_equal(unique_rows(s, data), batch)


@pytest.mark.parametrize("n", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_long_chain(n):
    """3 n coordinates, 2 n rows."""
    d = open_chain(n).diagnose()
    assert (d.dof, d.gruebler, d.rank) == (n, n, 2 * n)
    assert len(d.moving) == n and d.free_motions == [] and "too many to list" in str(d)


def test_long_ladder_has_one_motion():
    """n + 1 parallel cranks, n links between them: 6 n + 3 coordinates, 6 n + 2 rows."""
    n = 250
    m = pl.Model("ladder")
    e = (math.cos(1.0), math.sin(1.0))
    last = None
    for k in range(n + 1):
        c = rod(m, f"crank{k}", (k, 0), (k + e[0], e[1]))
        m.add(pl.Revolute(f"A{k}", m.ground.point(k, 0), c["P"]))
        if last is not None:
            b = rod(m, f"link{k}", (k - 1 + e[0], e[1]), (k + e[0], e[1]))
            m.add(pl.Revolute(f"B{k}", last["Q"], b["P"]))
            m.add(pl.Revolute(f"C{k}", b["Q"], c["Q"]))
        last = c
    d = m.diagnose()
    assert (d.coordinates, d.rows, d.dof, d.redundant) == (6 * n + 3, 6 * n + 2, 1, [])
    (motion,) = d.free_motions
    assert all(motion.bodies[f"crank{k}"] == f"turns about 'A{k}'" for k in range(n + 1))
    assert set(motion.bodies[f"link{k}"] for k in range(1, n + 1)) == {"moves along (0.841, -0.54)"}
