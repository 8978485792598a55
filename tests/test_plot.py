"""Pictures: the right things are drawn, inside the axes, on the axes that were given, and nothing is left behind."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import matplotlib.figure
import mechanisms as mech
import numpy as np
import pytest

import planar as pl
from planar.elements import KINDS, Element
from planar.plot import geometry as g
from planar.plot.frames import Frames
from planar.plot.scene import Scene
from planar.plot.symbols import DRAW

T = np.linspace(0.0, 1.0, 41)


@pytest.fixture(scope="module")
def inverse():
    return pl.inverse_dynamics(mech.four_bar(), T)


@pytest.fixture
def ax():
    return matplotlib.figure.Figure(figsize=(5, 4)).add_subplot()


def crane() -> pl.Model:
    """A boom on a pin, a stay, a load on a rope, a spring with damper, wind."""
    m = pl.Model("crane", gravity=(0, -9.81))
    boom = m.add(mech.rod_between("boom", (0, 0), (2.3, 1.9), mass=80.0, start="O", end="T"))
    load = m.add(pl.Body("load", 50.0, 1.0, r=(2.3, 0.7), phi=0.0))
    m.add(pl.Revolute("O", m.ground.point(0, 0), boom["O"]))
    m.add(pl.Distance("rope", boom["T"], load.point(0, 0)))
    m.add(pl.Distance("stay", m.ground.point(-1, 1.5), boom["T"]))
    m.add(pl.Spring("spring", m.ground.point(1.6, 0), boom.point(0, 0), stiffness=2e4, damping=300.0))
    m.add(pl.PointForce("wind", load.point(0, 0), ("60*cos(t)", 0.0)))
    return m


def zoo() -> pl.Model:
    """What the textbook mechanisms do not have: weld, actuator, torsion spring, damper, torques, user elements."""
    m = pl.Model("zoo", gravity=(0, -9.81))
    points = {"A": (-0.1, -0.08), "B": (0.12, -0.05), "C": (-0.02, 0.13)}
    bell = m.add(pl.Body("bell", 1.0, 0.1, r=(0.1, 0.08), phi=0.0, points=points))
    piston = m.add(pl.Body("piston", 1.0, 0.1, r=(0.6, 0.05), phi=0.0))
    beam = m.add(mech.rod_between("beam", (-0.3, 0.1), (-0.2, 0.35)))
    swing = m.add(pl.Body.rod("swing", 1.0, 0.2, r=(0.5, 0.35), phi=-math.pi / 2))
    free = m.add(pl.Body("free", 1.0, 0.1, r=(0.3, 0.3), phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), bell["A"]))
    m.add(pl.Revolute("H", swing["A"], m.ground.point(0.5, 0.45)))
    m.add(pl.Weld("clamp", m.ground.point(-0.3, 0.1), beam["A"], angle=beam.phi))
    m.add(pl.Translational("guide", piston.axis((0, 0), (1, 0)), m.ground.axis((0.6, 0.05), (1, 0.05))))
    m.add(pl.Parallel("level", m.ground.axis((0, 0), (1, 0)), free.axis((0, 0), (1, 0))))
    m.add(pl.UserConstraint("law", [free, swing], lambda t, a, b: a.x - 0.3 + 0.1 * b.phi + 0.05 * math.pi))
    m.add(pl.LengthDriver("ram", bell["C"], piston.point(0, 0), pl.Ramp(0.01, 0.55)))
    m.add(pl.CoordinateDriver("turn", swing, "phi", pl.Ramp(-1.0, -math.pi / 2)))
    m.add(pl.PointDriver("lift", free.point(0, 0), y="0.3 + 0.1*t"))
    m.add(pl.SlideDriver("push", m.ground.axis((0.6, 0.05), (1, 0.05)), piston.point(0, 0), pl.Ramp(0.02)))
    m.add(pl.TorsionSpring("spiral", m.ground, bell, stiffness=3.0))
    m.add(pl.Spring("damper", bell["B"], m.ground.point(0.3, -0.15), damping=10.0))
    m.add(pl.PointForce("F", beam["B"], lambda t, state: (-30.0, 10.0 + t), frame="body"))
    m.add(pl.Torque("M", swing, 2.0))
    m.add(pl.UserForce("drag", free, lambda t, s: (-3.0 - s[free].v[..., 0], 1.0 + 0 * t, 0.5 + 0 * t)))
    return m


def belt() -> pl.Model:
    m = pl.Model("belt")
    for name, r in (("a", (0.0, 0.0)), ("b", (0.5, 0.1)), ("c", (0.5, -0.3))):
        m.add(pl.Body(name, 1.0, 0.1, r=r, phi=0.0))
        m.add(pl.Revolute(f"pin {name}", m.ground.point(*r), m[name].point(0, 0)))
    m.add(pl.Gear.chain("belt", m["a"], m["b"], 0.1, 0.05))
    m.add(pl.Gear.external("gears", m["b"], m["c"], 0.1, 0.3))
    return m


def ring() -> pl.Model:
    m = pl.Model("ring")
    m.add(pl.Body("ring", 1.0, 1.0, r=(0, 0), phi=0.0))
    m.add(pl.Body("pinion", 1.0, 0.1, r=(0.06, 0), phi=0.0))
    for name, x in (("ring", 0.0), ("pinion", 0.06)):
        m.add(pl.Revolute(f"pin of {name}", m.ground.point(x, 0), m[name].point(0, 0)))
    m.add(pl.GearMesh("mesh", m["ring"].point(0, 0), m["pinion"].point(0, 0), 0.1, 0.04, internal=True))
    return m


def wire() -> pl.Model:
    m = pl.Model("bead on a wire", gravity=(0, -9.81))
    m.add(pl.Body("bead", 1.0, 0.1, r=(0.2, 0.04), phi=0.0))
    m.add(pl.PointOnCurve("wire", m.ground, pl.FunctionCurve(("u", "u*u"), -0.5, 0.5), m["bead"].point(0, 0)))
    return m


GALLERY = {
    **mech.TEXTBOOK,
    "crane": crane,
    "zoo": zoo,
    "belt": belt,
    "ring": ring,
    "wire": wire,
    "chain": lambda: mech.chain(30, angle=-0.4),
    "ladder": lambda: mech.ladder(100, angle=1.2),
    "random": lambda: mech.random_mechanism(3, 8, driven=True),
}


def layer(ax, name):
    """The collection of a layer."""
    return next(c for c in ax.collections if c.get_gid() == name)


def count(ax, name) -> int:
    return len(layer(ax, name).get_paths())


# --- mechanisms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GALLERY)
def test_everything_lies_inside_the_axes(name):
    """Finite limits around every vertex, every body present, names inside too."""
    m = GALLERY[name]()
    ax = pl.plot.mechanism(m)
    ax.figure.draw_without_rendering()
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    assert np.isfinite([x0, x1, y0, y1]).all()
    vertices = np.concatenate([p.vertices for c in ax.collections for p in c.get_paths()])
    assert np.isfinite(vertices).all()
    assert (vertices > (x0, y0)).all() and (vertices < (x1, y1)).all()
    assert count(ax, "body") >= len(m.bodies)
    if len(m.bodies) <= 12:
        texts = {t.get_text() for t in ax.texts}
        assert {b.name for b in m.bodies} <= texts
        box = ax.figure.bbox
        for t in ax.texts:
            assert box.contains(*t.get_window_extent().min) and box.contains(*t.get_window_extent().max), t
    else:
        assert not ax.texts


def test_gallery_has_every_kind_of_element():
    """A new joint, driver or force is added to the gallery, or it is never looked at."""
    used = {type(e).__name__ for build in GALLERY.values() for e in build() if isinstance(e, Element)}
    assert set(KINDS) <= used
    assert {KINDS[k] for k in KINDS} - set(DRAW) == {pl.UserConstraint}  # drawn as a dashed line


def test_four_bar_has_its_symbols():
    ax = pl.plot.mechanism(mech.four_bar())
    assert count(ax, "pin") == 4
    assert count(ax, "body") == 3
    assert count(ax, "drive") == 2  # arc and head
    assert {t.get_text() for t in ax.texts} == {"crank", "coupler", "rocker", "A", "B", "C", "D"}
    assert ax.get_title("left") == "four-bar"
    assert "m" in ax.get_xlabel() and "m" in ax.get_ylabel()
    assert ax.get_aspect() == 1.0


def test_bars_pass_through_their_points():
    m = mech.four_bar()
    start = m.assemble()
    ax = pl.plot.mechanism(start, labels=False)
    for body in m.bodies:
        q = start.pose(body)
        for name in body.points:
            at = body[name].position(q[:2], q[2])
            assert sum(path.contains_point(at) for path in layer(ax, "body").get_paths()) >= 1


def test_pitch_circles_touch():
    scene = Scene(Frames.of(mech.planetary(mesh=True)))
    sun, planet = (scene.shapes[k].wheels[0] for k in (0, 2))
    centers = scene.poses[0, [0, 2], :2]
    assert np.hypot(*(centers[1] - centers[0])) == pytest.approx(sun.radius + planet.radius, rel=1e-9)
    ticks = [centers[n] + w.radius * g.unit(w.phase + scene.poses[0, 2 * n, 2]) for n, w in enumerate((sun, planet))]
    np.testing.assert_allclose(*ticks, atol=1e-9)  # both have a tick at the point of contact


def test_pitch_circles_of_coupled_angles_fit_the_ratio():
    scene = Scene(Frames.of(mech.planetary(0.06, 0.04)))
    radii = sorted(round(w.radius, 12) for shape in scene.shapes for w in shape.wheels)
    assert radii == [0.04, 0.06, 0.14]


def test_slot_and_rails_reach_as_far_as_the_motion():
    result = pl.kinematics(mech.quick_return(), np.linspace(0, 1.3, 60))
    scene = Scene(Frames.of(result))
    arm, (slot,) = result.model["arm"], scene.shapes[1].slots
    pin = result.point(result.model["crank"]["B"]).r
    along = np.hypot(*(pin - result.point(arm["O"]).r).T)
    ends = np.sort([np.hypot(*(end - arm["O"].s)) for end in slot])
    assert ends[0] < along.min() and along.max() < ends[1] < along.max() + 5 * scene.unit


def test_result_at_a_time_between_samples(inverse):
    """Cubic Hermite interpolation: error h^4/384 |q''''|, for the crank zero."""
    t = 0.5 * (T[3] + T[4])
    exact = pl.kinematics(mech.four_bar(), [0.0, t]).q[-1]
    np.testing.assert_allclose(Frames.of(inverse).at(t).q, exact, atol=2e-4)
    assert f"{t:.4g} s" in pl.plot.mechanism(inverse, t).get_title("left")
    np.testing.assert_array_equal(Frames.of(inverse).sample(-1).q, inverse.q[-1])
    with pytest.raises(pl.ModelError, match=r"outside the result, which holds t = 0 \.\. 1 s"):
        pl.plot.mechanism(inverse, 2.0)
    with pytest.raises(pl.ModelError, match="41 samples"):
        pl.plot.mechanism(inverse, index=41)


def test_times_may_run_backwards():
    back = pl.kinematics(mech.four_bar(), T[::-1])
    frames = Frames.of(back)
    np.testing.assert_array_equal(frames.sample(0).q, back.q[0])
    np.testing.assert_array_equal(frames.at(float(T[5])).q, back.q[-6])


def test_drawn_pose_shows_open_joints():
    m = mech.four_bar()
    m["rocker"].r = (0.36, 0.1)
    assert not any(c.get_gid() == "mark" for c in pl.plot.mechanism(m).collections)
    ax = pl.plot.mechanism(m, drawn=True)
    assert count(ax, "mark") == 2  # C and D are open
    assert count(ax, "pin") == 6


def test_reaction_arrows(inverse):
    ax = pl.plot.mechanism(inverse, 0.3, reactions=True)
    assert count(ax, "reaction") == 4
    peak = max(np.hypot(*inverse.reaction(j).force.T).max() for j in inverse.model.joints)
    assert ax.get_title("right") == f"longest arrow {peak:.4g} N"
    some = pl.plot.mechanism(inverse, 0.3, reactions=[("A", "ground")])
    arrow = layer(some, "reaction").get_paths()[0].vertices
    F = inverse.reaction("A", on="ground").force[12]  # t = 0.3
    tail, tip = arrow[[0, 6]].mean(0), arrow[3]
    assert (tip - tail) @ F == pytest.approx(np.hypot(*(tip - tail)) * np.hypot(*F), rel=1e-9)
    with pytest.raises(pl.ModelError, match="inverse_dynamics"):
        pl.plot.mechanism(mech.four_bar(), reactions=True)


def test_rounding_errors_are_no_arrows():
    """A pinion and a rack at constant speed without weight: nothing acts."""
    result = pl.inverse_dynamics(mech.rack_pinion(), T)
    ax = pl.plot.mechanism(result, reactions=True)
    assert count(ax, "reaction") == 0 and ax.get_title("right") == ""


def test_load_ends_at_a_body_it_would_run_through():
    m = mech.slider_crank()
    m.add(pl.PointForce("gas", m["slider"].point(0, 0), (-300, 0)))
    arrow = layer(pl.plot.mechanism(m), "load").get_paths()[0].vertices
    np.testing.assert_allclose(arrow[3], m.assemble().pose("slider")[:2], atol=1e-9)


def test_what_cannot_be_drawn():
    with pytest.raises(pl.ModelError, match="give a Model"):
        pl.plot.mechanism("four-bar")
    with pytest.raises(pl.ModelError, match="no body"):
        pl.plot.mechanism(pl.Model())


def test_dollar_signs_in_names_are_no_formulas():
    m = pl.Model("a$^$b")
    rod = m.add(pl.Body.rod("rod$_", 1.0, 1.0, r=(0.5, 0), phi=0.0))
    m.add(pl.Revolute("$\\frac$", m.ground.point(0, 0), rod["A"]))
    m.add(pl.AngleDriver("m$\\x$", m.ground, rod, pl.Ramp(1.0)))
    inv = pl.inverse_dynamics(m, T)
    for ax in (pl.plot.mechanism(inv), pl.plot.effort(inv), pl.plot.trace(inv), *pl.plot.reactions(inv, "$\\frac$")):
        ax.figure.draw_without_rendering()


# --- curves ----------------------------------------------------------------------------------------------------------


def test_reactions_over_time_and_polar(inverse):
    left, right = pl.plot.reactions(inverse, "B")
    R = inverse.reaction("B")
    lines = {line.get_label(): line for line in left.lines}
    np.testing.assert_array_equal(lines["|F|"].get_ydata(), np.hypot(*R.force.T))
    np.testing.assert_array_equal(lines["Fx"].get_ydata(), R.force[:, 0])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), R.magnitude)
    np.testing.assert_array_equal(right.lines[0].get_xdata(), np.arctan2(R.force[:, 1], R.force[:, 0]))
    assert left.get_xlabel() == "t in s" and left.get_ylabel() == "force in N"
    assert "B on coupler" in left.get_title("left")
    assert any("peak" in label for label in lines)


def test_reactions_with_couple_and_frame(inverse):
    welded = mech.slider_crank()
    welded.add(pl.PointForce("F", welded["slider"].point(0.1, 0.05), (-100.0, 30.0)))
    ax = pl.plot.reactions(pl.inverse_dynamics(welded, T), "slide", kind="time")
    twin = next(other for other in ax.figure.axes if other is not ax)
    assert twin.get_ylabel() == "couple in N m"
    assert any("couple" in t.get_text() for t in ax.get_legend().get_texts())
    turned = pl.plot.reactions(inverse, "B", "crank", kind="time", frame="crank")
    assert "axes of crank" in turned.get_title("left")
    motor = pl.plot.reactions(inverse, "motor", kind="time")
    assert motor.get_ylabel() == "couple in N m"


def test_indeterminate_reactions_are_called_so():
    result = pl.inverse_dynamics(mech.parallelogram(3, speed=2.0), T)
    left, right = pl.plot.reactions(result, "A2")
    assert any("indeterminate" in t.get_text() for t in left.get_legend().get_texts())
    assert "indeterminate" in left.get_title("left") and "indeterminate" in right.get_title()
    dashes = layer(pl.plot.mechanism(result, reactions=["A2"]), "reaction").get_linestyle()
    assert dashes[0][1] is not None  # dashed arrow


def test_reactions_choose_the_kind_by_the_axes(inverse, ax):
    assert pl.plot.reactions(inverse, "B", ax=ax) is ax
    assert ax.get_ylabel() == "force in N"
    polar = matplotlib.figure.Figure().add_subplot(projection="polar")
    assert pl.plot.reactions(inverse, "B", ax=polar) is polar
    both = matplotlib.figure.Figure().subplots(1, 2)
    assert pl.plot.reactions(inverse, "B", ax=tuple(both)) == tuple(both)
    assert both[1].get_ylabel() == "Fy in N"  # a load diagram on plain axes
    with pytest.raises(pl.ModelError, match="'time', 'polar' or 'both'"):
        pl.plot.reactions(inverse, "B", kind="radar")


def test_effort(inverse):
    ax = pl.plot.effort(inverse, "motor")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), inverse.effort("motor"))
    assert ax.get_ylabel() == "torque in N m"
    D = inverse.model["D"]
    other = pl.plot.effort(pl.inverse_dynamics(inverse.model, T, actuate=[D]))
    assert other.lines[0].get_label() == "D" and other.get_ylabel() == "torque in N m"
    with pytest.raises(pl.ModelError, match="no driver"):
        pl.plot.effort(pl.equilibrium(mech.four_bar(speed=None)))


def test_efforts_of_two_units_get_axes_of_their_own():
    axes = pl.plot.effort(pl.inverse_dynamics(zoo().without("law", "free"), T))
    assert [ax.get_ylabel() for ax in axes] == ["force in N", "torque in N m"]
    assert [line.get_label() for line in axes[0].lines[:2]] == ["ram", "push"]
    with pytest.raises(pl.ModelError, match="2 axes are needed"):
        pl.plot.effort(pl.inverse_dynamics(zoo().without("law", "free"), T), ax=axes[0])


def test_energy_and_motion(inverse):
    ax = pl.plot.energy(inverse)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_array_equal(lines["total"], inverse.energy.total)
    assert ax.get_ylabel() == "energy in J"
    axes = pl.plot.motion(inverse, "coupler")
    assert len(axes) == 6
    np.testing.assert_array_equal(axes[3].lines[0].get_ydata(), inverse["coupler"].omega)
    point = inverse.model["coupler"]["C"]
    axes = pl.plot.motion(inverse, point)
    np.testing.assert_array_equal(axes[2].lines[1].get_ydata(), inverse.point(point).a[:, 1])
    one = pl.plot.motion(inverse, "crank", quantity="phi")
    assert one.get_ylabel() == "angle in rad"
    with pytest.raises(pl.ModelError, match="'omega'"):
        pl.plot.motion(inverse, "crank", quantity="speed")


def test_trace(inverse):
    point = inverse.model["coupler"].point(0.0, 0.1)
    ax = pl.plot.trace(inverse, point, "crank")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), inverse.point(point).r[:, 0])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["coupler (0, 0.1)", "crank"]
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    r = inverse.point(point).r
    assert x0 < r[:, 0].min() and r[:, 0].max() < x1 and y0 < r[:, 1].min() and r[:, 1].max() < y1
    assert ax.collections and not pl.plot.trace(inverse, point, mechanism=False).collections
    with pytest.raises(pl.ModelError, match="trace takes points"):
        pl.plot.trace(inverse, "B")


def test_trace_makes_a_figure_that_fits_both_path_and_mechanism():
    """A flat mechanism whose points go far up and down: the figure is not flat."""
    m = mech.chain(1, angle=0.0)
    m.add(pl.AngleDriver("motor", m.ground, m["link1"], pl.Ramp(1.0)))
    ax = pl.plot.trace(pl.kinematics(m, np.linspace(0, 2 * np.pi, 50)), m["link1"]["B"])
    width, height = ax.figure.get_size_inches()
    assert height > 0.8 * width


def test_modes():
    eq = pl.equilibrium(mech.chain(3, angle=-1.5))
    axes = pl.plot.modes(eq)
    assert len(axes) == 3
    for ax, mode in zip(axes, eq.modes, strict=True):
        assert f"{mode.hertz:.4g} Hz" in ax.get_title("left")
        bodies = [c for c in ax.collections if c.get_gid() == "body"]
        assert len(bodies) == 3  # both ends of the swing, and rest
        assert not any(c.get_gid() == "mark" for c in ax.collections)  # no joint is open
    assert pl.plot.modes(eq, which=1).get_title("left").startswith("mode 2")
    assert "mode 1" in pl.plot.modes(eq.linearization, which=0).get_title("left")
    with pytest.raises(pl.ModelError, match="there are 3"):
        pl.plot.modes(eq, which=3)
    with pytest.raises(pl.ModelError, match="has no mode"):
        pl.plot.modes(mech.four_bar())


def test_events_are_marked():
    """The crank cannot turn all the way: the motion ends, and the plot says where."""
    m = mech.four_bar((0.3, 0.2, 0.2, 0.3), angle=0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.PlanarWarning)
        result = pl.kinematics(m, T)
    assert result.events
    ax = pl.plot.motion(result, "crank", quantity="phi")
    lines = [line for line in ax.lines if line.get_gid() == "event"]
    assert [line.get_xdata()[0] for line in lines] == [e.t for e in result.events]
    assert {t.get_text() for t in ax.texts} == {e.kind for e in result.events}


def test_one_sample_and_static_sweeps():
    one = pl.statics(mech.four_bar())
    left, _ = pl.plot.reactions(one, "B")
    assert left.lines[0].get_marker() == "o"
    poses = pl.kinematics(mech.four_bar(), T).q
    sweep = pl.statics(mech.four_bar(), poses)
    left, right = pl.plot.reactions(sweep, "B")
    assert left.get_xlabel() == "number of the pose"
    assert left.lines[0].get_xdata()[-1] == len(T) - 1
    right.figure.draw_without_rendering()


# --- manners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", ["mechanism", "trace", "effort", "energy"])
def test_given_axes_are_used(inverse, ax, draw):
    axes_before = list(ax.figure.axes)
    assert getattr(pl.plot, draw)(inverse, ax=ax) is ax
    assert ax.figure.axes == axes_before
    assert ax.has_data()


@pytest.mark.parametrize("what", ["mechanism", "bare", "trace", "reactions", "effort", "energy", "motion", "modes"])
def test_nothing_is_cut_off_by_the_edge_of_the_paper(inverse, what):
    """Titles, legends and axis labels lie inside the figure at the first drawing already."""
    draw = {
        "mechanism": lambda: pl.plot.mechanism(mech.quick_return()),
        "bare": lambda: pl.plot.mechanism(mech.chain(30)),
        "trace": lambda: pl.plot.trace(inverse, "crank", inverse.model["coupler"].point(0.0, 0.1)),
        "reactions": lambda: pl.plot.reactions(pl.inverse_dynamics(mech.parallelogram(3, speed=2.0), T), "A2")[0],
        "effort": lambda: pl.plot.effort(inverse),
        "energy": lambda: pl.plot.energy(inverse),
        "motion": lambda: pl.plot.motion(inverse, "coupler")[0],
        "modes": lambda: pl.plot.modes(pl.equilibrium(mech.chain(3, angle=-1.5)))[0],
    }[what]
    figure = draw().figure
    figure.draw_without_rendering()
    for ax in figure.axes:
        box = ax.get_tightbbox()
        assert box.x0 > 0 and box.y0 > 0 and box.x1 < figure.bbox.width and box.y1 < figure.bbox.height


def test_two_poses_on_one_axes(inverse, ax):
    pl.plot.mechanism(inverse, 0.0, ax, labels=False)
    before = ax.get_xlim()
    pl.plot.mechanism(inverse, 0.5, ax, labels=False)
    assert ax.get_xlim()[0] < before[0]  # the second pose reaches further left, and nothing of the first is cut
    assert ax.get_xlim()[1] >= before[1]


def test_nothing_is_left_in_pyplot(inverse):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    pl.plot.mechanism(inverse)
    pl.plot.reactions(inverse, "A")
    pl.plot.motion(inverse, "crank")
    assert plt.get_fignums() == before


def test_inputs_stay_as_they_are(inverse):
    m = mech.quick_return()
    text, q = str(m), inverse.q.copy()
    pl.plot.mechanism(m)
    pl.plot.mechanism(inverse, reactions=True)
    assert str(m) == text
    np.testing.assert_array_equal(inverse.q, q)


def test_notebooks_show_pictures(inverse):
    m = mech.four_bar()
    assert m._repr_svg_().lstrip().startswith("<?xml") and m._repr_png_() is None
    assert "inverse dynamics" in repr(inverse) and inverse._repr_svg_()
    big = mech.ladder(40)
    assert big._repr_svg_() is None and big._repr_png_().startswith(b"\x89PNG")
    assert pl.plot.effort(inverse)._repr_png_().startswith(b"\x89PNG")
    m.add(pl.Distance("far", m.ground.point(0, 0), m["crank"]["B"], 5.0))  # cannot be assembled: shown as text
    assert m._repr_svg_() is None


def test_the_name_of_a_rod_stays_at_its_middle():
    m = mech.four_bar()
    stay = m.add(pl.Spring("stay", m["crank"]["B"], m["rocker"]["C"], stiffness=1.0))
    frames = Frames.of(pl.kinematics(m, T))
    scene = Scene(frames)
    label = next(label for label in scene.labels if label.text == "stay")
    for k in (0, 17, 40):
        frame = frames.sample(k)
        middle = (scene.place(frame, stay.point_i) + scene.place(frame, stay.point_j)) / 2
        np.testing.assert_allclose(label.at(frame), middle, atol=1e-15)


def test_matplotlib_is_imported_by_the_first_picture():
    code = "import sys, planar as pl; pl.plot.mechanism; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# --- outlines --------------------------------------------------------------------------------------------------------


def test_rounded_outlines_have_the_right_area():
    """Disc, bar and triangle by Minkowski's sum: A + perimeter r + pi r^2, less what the polygon cuts off its arcs."""
    r = 0.1
    for points, area, length in (
        ([(0, 0)], 0.0, 0.0),
        ([(0, 0), (1, 0)], 0.0, 2.0),
        ([(0, 0), (3, 0), (0, 4)], 6.0, 12.0),
    ):
        exact = area + length * r + math.pi * r * r
        assert g.area(g.rounded(np.array(points, float), r)) == pytest.approx(exact, abs=0.01 * math.pi * r * r)


def test_hull_leaves_out_inner_and_collinear_points():
    points = np.array([(0, 0), (1, 0), (2, 0), (2, 2), (0, 2), (1, 1)], float)
    assert sorted(map(tuple, g.hull(points))) == [(0, 0), (0, 2), (2, 0), (2, 2)]
    assert len(g.hull(np.array([(0, 0), (1, 1), (2, 2.0)]))) == 2


def test_zigzag_and_dashpot_join_their_ends():
    a, b = np.array([1.0, 2.0]), np.array([3.0, 1.0])
    (spring,) = g.zigzag(a, b, 0.1)
    np.testing.assert_allclose(spring[[0, -1]], [a, b])
    damper = g.dashpot(a, b, 0.1, 0.5)
    np.testing.assert_allclose([damper[0][0], damper[-1][-1]], [a, b])
