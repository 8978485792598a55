"""The report: every kind of result, the numbers it shows, names that try to be code, one file without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import mechanisms as mech
import numpy as np
import pytest

import planar as pl
from planar.plot.frames import Frames
from planar.report import sections
from planar.report.balance import free_bodies
from planar.report.charts import LEFT, RIGHT, WIDTH, Charts, ticks
from planar.report.content import Content
from planar.report.data import data
from planar.report.numbers import number, significant
from planar.report.page import render
from planar.report.sizes import sizes
from planar.report.timeline import MOST, Timeline

T = np.linspace(0.0, 1.0, 25)


class Page(HTMLParser):
    """Elements with their attributes, the text of scripts, and all text that is shown."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.scripts, self.text, self._inside = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside = tag if tag in ("script", "style") else ""
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, text):
        if self._inside == "script":
            self.scripts[-1] += text
        elif not self._inside:
            self.text.append(text)

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    @property
    def data(self):
        return json.loads(self.scripts[0])

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def inverse():
    return pl.inverse_dynamics(mech.four_bar(), T)


def loaded() -> pl.Model:
    """A swinging beam with every kind of force element, held by a slotted arm."""
    m = pl.Model("loaded", gravity=(0.3, -9.81))
    beam = m.add(mech.rod_between("beam", (0, 0), (1.0, 0.4), mass=3.0))
    arm = m.add(mech.rod_between("arm", (1.0, 0.4), (1.6, 0.0), mass=1.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), beam["A"]))
    m.add(pl.Revolute("B", beam["B"], arm["A"]))
    m.add(pl.PointForce("push", beam.point(0.2, 0.1), ("10*sin(3*t)", 4.0), frame="body"))
    m.add(pl.Torque("twist", arm, "2 + t"))
    m.add(pl.Spring("spring", m.ground.point(0.5, 1.0), arm["B"], stiffness=200.0, length=0.5, damping=3.0))
    m.add(pl.TorsionSpring("coil", beam, arm, stiffness=5.0, angle=0.0))
    m.add(pl.UserForce("wind", [beam, arm], lambda t, s: ((1.0 + t, 0 * t, 0 * t), (0 * t, -2.0 + 0 * t, 0.5 + 0 * t))))
    m.add(pl.AngleDriver("motor", m.ground, beam, pl.Harmonic(0.4, 3.0, offset=0.38)))
    m.add(pl.AngleDriver("wrist", beam, arm, pl.Harmonic(0.3, 5.0, offset=-0.96)))
    return m


RESULTS = {
    "kinematics": lambda: pl.kinematics(mech.four_bar(), T),
    "inverse": lambda: pl.inverse_dynamics(mech.slider_crank(), T),
    "actuated": lambda: pl.inverse_dynamics(mech.four_bar(), T, actuate={"servo": "D"}),
    "redundant": lambda: pl.inverse_dynamics(mech.parallelogram(3, speed=2.0), T),
    "teeth": lambda: pl.inverse_dynamics(mech.planetary(mesh=True, gravity=mech.GRAVITY), T),
    "loaded": lambda: pl.inverse_dynamics(loaded(), T),
    "one instant": lambda: pl.inverse_dynamics(mech.cam(), 0.1),
    "statics": lambda: pl.statics(mech.quick_return()),
    "statics over time": lambda: pl.statics(mech.four_bar(), pl.kinematics(mech.four_bar(), T)),
    "statics of poses": lambda: pl.statics(mech.four_bar(), pl.kinematics(mech.four_bar(), T).q),
    "equilibrium": lambda: pl.equilibrium(mech.four_bar(speed=None)),
    "simulate": lambda: pl.simulate(mech.four_bar(speed=None), (0.0, 0.3)),
    "backward": lambda: pl.inverse_dynamics(mech.four_bar(), T[::-1]),
}
MOVING = {"kinematics", "inverse", "actuated", "redundant", "teeth", "loaded", "simulate", "backward"}


# --- every result --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_report(name, tmp_path):
    result = RESULTS[name]()
    path = pl.report(result, tmp_path / "report.html")
    page = Page(path.read_text(encoding="utf-8"))
    wanted = {"player", "model", "freedom", "motion", "energy", "certificate"}
    if name != "kinematics":
        wanted |= {"joints", "bodies", "ground"}
        wanted |= {"drives"} if result.model.drivers else set()
    assert wanted <= set(page.ids)
    assert name != "kinematics" or not {"joints", "bodies", "drives", "ground"} & set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert ("all laws hold" in page.words) == result.certificate.ok
    charts = sum(tag == "polyline" for tag, _ in page.elements)
    assert charts == len(page.data["series"]) and (charts > 5 or name not in MOVING)
    frames = len(page.data["film"]["poses"])
    assert (frames > 1) == (len(result) > 1)
    assert all(len(values) == frames for values in page.data["series"])
    assert not re.search(r"\bnan\b|None|NaN|Infinity|\binf\b", page.words + page.scripts[0])


@pytest.mark.parametrize("name", ["inverse", "loaded", "teeth", "actuated", "statics of poses"])
def test_free_bodies_close(name):
    """Every force on every body, named one by one, and the terms of its inertia add up to nothing."""
    result = RESULTS[name]()
    for free in free_bodies(result):
        size = max(np.abs(term.force).max() for term in free.terms)
        assert np.abs(free.residual).max() < 1e-12 * size
        for term in free.terms:
            arm = term.point - result[free.body].r
            moment = term.couple + arm[:, 0] * term.force[:, 1] - arm[:, 1] * term.force[:, 0]
            assert np.allclose(moment, term.moment, rtol=0, atol=1e-12 * size)


def test_free_bodies_name_every_force_element():
    names = {free.body.name: [term.name for term in free.terms] for free in free_bodies(RESULTS["loaded"]())}
    assert names["beam"] == ["A", "B", "motor", "wrist", "push", "coil", "wind", "weight", "inertia"]
    assert names["arm"] == ["B", "wrist", "twist", "spring", "coil", "wind", "weight", "inertia"]
    held = {free.body.name: [term.name for term in free.terms] for free in free_bodies(RESULTS["statics of poses"]())}
    assert held["crank"] == ["A", "B", "motor", "weight"]


def test_single_forces_add_up_to_the_applied_ones():
    result = RESULTS["loaded"]()
    total = np.tile(result.system.forcing.gravity, (len(result), 1))
    for _, body, W in result.system.forcing.each(result.system, result.t, result.q, result.v):
        total[:, 3 * body : 3 * body + 3] += W
    assert np.allclose(total, result.system.forces(result.t, result.q, result.v), rtol=0, atol=1e-12)


def test_a_force_acts_at_its_point():
    result = RESULTS["loaded"]()
    (push,) = [term for term in free_bodies(result)[0].terms if term.name == "push"]
    assert np.allclose(push.point, result.point(result.model["beam"].point(0.2, 0.1)).r)
    assert not push.couple.any() and np.hypot(*push.force[0]) == pytest.approx(4.0)  # at t = 0 only fy = 4 N


# --- numbers ----------------------------------------------------------------------------------------------------------------


def test_the_table_of_joints_says_what_the_result_says(inverse):
    table = sections.joints(inverse, sizes(inverse))
    for row, summary in zip(table.rows, inverse.summary().rows, strict=True):
        found = dict(zip(table.head, row, strict=True))
        assert (found["joint"], found["on body"], found["peak N"]) == (summary.joint, summary.on, summary.peak)
        assert found["at"] == f"{summary.t:.4g} s" and found["value is"] == "unique"
        assert found["global"] == f"{np.degrees(summary.direction):.1f}°"
        assert found["mean N"] == summary.mean and found["rms N"] == summary.rms


def test_each_joint_is_shown_on_both_bodies_in_both_axes(inverse):
    table = sections.joint(inverse, inverse.model["B"], sizes(inverse))
    assert [row[:2] for row in table.rows] == [
        ("crank", "global"), ("crank", "crank"), ("coupler", "global"), ("coupler", "coupler"),
    ]  # fmt: skip
    on_ground = sections.joint(inverse, inverse.model["A"], sizes(inverse)).rows
    assert [row[:2] for row in on_ground] == [("ground", "global"), ("crank", "global"), ("crank", "crank")]
    F = inverse.reaction("A", on="ground").force[:, 0]
    assert on_ground[0][2] == f"{number(F.min())} .. {number(F.max())}"


def test_indeterminate_reactions_are_called_so():
    result = RESULTS["redundant"]()
    page = Page(render(result))
    assert "indeterminate: x, y" in page.words and "the smallest are given" in page.words
    assert "share a load that the model cannot divide" in page.words  # the diagnosis in words
    assert "unique" not in [row[-1] for row in sections.joints(result, sizes(result)).rows]


def test_drives_give_power_and_work(inverse):
    (row,) = sections.drives(inverse).rows
    found = dict(zip(sections.drives(inverse).head, row, strict=True))
    effort, power = inverse.effort("motor"), inverse.power("motor")
    assert abs(found["peak"]) == np.abs(effort).max() and found["mean"] == effort.mean() and found["unit"] == "N m"
    assert abs(found["peak power W"]) == np.abs(power).max()
    assert found["work J"] == pytest.approx(inverse.energy.work[-1], abs=1e-9)  # the motor is the only one that works


def test_rounding_is_not_drawn():
    """A balanced planetary gear at constant speed: tooth forces are zero but for rounding."""
    result = pl.inverse_dynamics(mech.planetary(mesh=True), T)
    assert 0 < np.abs(result.reaction("sun-planet").force).max() < 1e-12
    content = Content(result)
    charts = {detail.joint.name: detail.charts for detail in content.joint_details}
    assert not charts["sun-planet"] and charts["P"]  # the planet's pin carries its centrifugal force
    assert all(value == 0 for value in content.charts.series[content.drive_charts[0].curves[0].series])


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (-0.0, "0"), (42.3599, "42.36"), (-0.0012345, "-0.001234"), (12345.6, "12346"), (9.99996, "10.000"),
     (123456.0, "1.235e5"), (-1.11e-16, "-1.110e-16"), (float("nan"), "-")],
)  # fmt: skip
def test_numbers_are_short_and_plain(x, text):
    assert number(x) == text


def test_data_of_the_page_are_short():
    assert significant(0.123456789) == 0.12346 and significant(3.0) == 3 and significant(float("inf")) is None


# --- charts and samples ------------------------------------------------------------------------------------------------------


def timeline(result, **options):
    reactions = [result.reaction(joint).magnitude for joint in result.model.joints]
    return Timeline(result, Frames.of(result), reactions, **options)


def test_charts_run_through_the_values(inverse):
    line = timeline(inverse)
    chart = Charts(line).over_time("force", "N", {"Fx": inverse.reaction("B").force[:, 0]})
    points = np.array([[float(v) for v in pair.split(",")] for pair in chart.curves[0].points.split()])
    assert np.allclose(points[:, 0], LEFT + T * (WIDTH - LEFT - RIGHT), atol=0.06)
    at, values = np.array([tick.at for tick in chart.y_ticks]), np.array([float(tick.text) for tick in chart.y_ticks])
    read = np.interp(-points[:, 1], -at, values, left=np.nan, right=np.nan)
    inside = np.isfinite(read)
    step = abs((values[1] - values[0]) / (at[1] - at[0]))  # N per unit of the chart; points are rounded to 0.05
    assert inside.sum() > 10
    assert np.abs(read - inverse.reaction("B").force[:, 0])[inside].max() < 0.11 * step


def test_load_diagrams_show_the_force_vector(inverse):
    line, force = timeline(inverse), inverse.reaction("D").force
    chart = Charts(line).polar("", "N", "|F|", force)
    points = np.array([[float(v) for v in pair.split(",")] for pair in chart.curves[0].points.split()])
    scale = chart.y_ticks[-1].at / float(chart.y_ticks[-1].text)
    assert np.allclose((points - 110.0) * (1, -1) / scale, force, atol=0.12 / scale)
    assert np.hypot(*(points - 110.0).T).max() <= chart.scale + 0.1  # inside the outer circle


@pytest.mark.parametrize(
    ("low", "high", "count"), [(0, 1, 5), (-3.3, 41.8, 5), (1e-4, 3e-4, 4), (-2e7, 5e6, 5), (0.999, 1.001, 6)]
)
def test_ticks_are_round_inside_and_enough(low, high, count):
    found = ticks(low, high, count)
    values = np.array([v for v, _ in found])
    assert low - 1e-9 <= values.min() and values.max() <= high + 1e-9 * abs(high)
    assert 2 <= len(found) <= count + 1 and np.allclose(np.diff(values), values[1] - values[0])
    assert [float(text) for _, text in found] == pytest.approx(list(values))
    wide = ticks(low, high, count, outward=True)
    assert wide[0][0] <= low and high <= wide[-1][0]


def test_equally_spaced_samples_are_the_frames(inverse):
    few, many = timeline(inverse), timeline(pl.inverse_dynamics(mech.four_bar(), np.linspace(0, 1, 361)))
    assert np.array_equal(many.times, many.x) and not many.weight[:-1].any() and many.weight[-1] == 1.0
    assert set(few.x) <= set(few.times) and len(few.times) >= 60  # in between, so that the motion looks smooth
    assert np.allclose(few.at_frames(inverse.t), few.times)


def test_long_results_keep_their_peaks():
    result = pl.inverse_dynamics(mech.four_bar(), np.linspace(0, 10, 2001))
    line = timeline(result)
    assert len(line.index) <= MOST + 5 and len(line.times) <= MOST
    for joint in result.model.joints:
        size = result.reaction(joint).magnitude
        assert line.at_samples(size).max() == size.max()
    assert size[line.chosen] > 0 and line.x[line.chosen] in line.x[line.index]


def test_unequal_steps_of_time_are_shown_at_their_own_speed():
    t = np.linspace(0, 1, 90) ** 2
    line = timeline(pl.inverse_dynamics(mech.four_bar(), t))
    assert np.allclose(np.diff(line.times), line.times[1] - line.times[0])
    assert np.allclose(line.at_frames(t), line.times)


def test_poses_are_counted_where_time_stands_still():
    result = RESULTS["statics of poses"]()
    content = Content(result, at=7)
    assert content.timeline.sweep and content.clock == "pose 7" and content.chosen_sample == 7
    assert data(content)["film"]["clock"][3] == "pose 3"


def test_time_that_runs_backward_is_turned_around():
    result = RESULTS["backward"]()
    content = Content(result)
    k = content.chosen_sample
    assert result.reaction("A").magnitude[k] == max(result.reaction(j).magnitude.max() for j in result.model.joints)
    assert content.timeline.x[content.timeline.chosen] == result.t[k]


def test_the_chosen_instant(inverse):
    assert Content(inverse).clock == "t = 0.667 s"  # largest reaction, of these 25 samples
    content = Content(inverse, at=0.25)
    assert content.chosen_sample == 6
    found = data(content)
    body = found["bodies"][0]
    assert body["terms"][0][-1][2:4] == [significant(x, 6) for x in inverse.reaction("A").force[6]]
    assert found["film"]["clock"][found["start"]] == content.clock
    shown = [cell for cell in content.free_tables[0].rows[0][4:6]]
    assert shown == list(inverse.reaction("A").force[6])


# --- safety ------------------------------------------------------------------------------------------------------------------

EVIL = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '" onload="alert(3)',
    "{{ 7 * 7 }}",
    "<!--",
    "&lt;b&gt;",
]


def evil() -> pl.Model:
    m = pl.Model(EVIL[1], gravity=(0, -9.81))
    a = m.add(mech.rod_between(EVIL[0], (0, 0), (0.3, 0.4)))
    b = m.add(mech.rod_between(EVIL[2], (0.3, 0.4), (0.9, 0.4)))
    m.add(pl.Revolute(EVIL[3], m.ground.point(0, 0), a["A"]))
    m.add(pl.Revolute(EVIL[4], a["B"], b["A"]))
    m.add(pl.PointForce(EVIL[5], b["B"], (0.0, "-5*t")))
    m.add(pl.AngleDriver("</title>", m.ground, a, pl.Ramp(1.0, 0.9)))
    m.add(pl.AngleDriver("'></svg>", a, b, pl.Ramp(1.0, -0.9)))
    return m


def test_names_cannot_become_code():
    text = render(pl.inverse_dynamics(evil(), T), title="</title><script>alert(4)</script>")
    page = Page(text)
    assert [attributes.get("type") for tag, attributes in page.elements if tag == "script"] == [
        "application/json",
        None,
    ]
    assert page.data["film"]["title"] == EVIL[1]  # there, as data
    assert "<" not in page.scripts[0] and "alert" not in page.scripts[1]
    assert not [a for _, attributes in page.elements for a in attributes if a.startswith("on")]
    for name in EVIL:
        assert name in page.words  # shown as it is written
    assert "49" not in [word for word in page.words.split()]  # no template in a template
    known = {tag for tag, _ in Page(render(RESULTS["loaded"]())).elements}
    assert {tag for tag, _ in page.elements} <= known  # no element that an ordinary report has not


def test_only_the_script_of_the_page_may_run_and_nothing_is_fetched():
    page = Page(render(RESULTS["inverse"]()))
    (policy,) = [a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy
    for _, attributes in page.elements:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/svg+xml;base64,"))


def test_what_cannot_be_reported_is_refused(inverse, tmp_path):
    with pytest.raises(pl.ModelError, match="needs the result of an analysis"):
        pl.report(inverse.model, tmp_path / "x.html")
    with pytest.raises(pl.ModelError, match=r"at is 3 s, but the result holds time 0 \.\. 1 s"):
        pl.report(inverse, tmp_path / "x.html", at=3)
    empty = pl.Result(
        inverse.system, *(np.zeros((0, *x.shape[1:])) for x in (inverse.t, inverse.q, inverse.v)), analysis="kinematics"
    )
    with pytest.raises(pl.ModelError, match="no sample"):
        pl.report(empty, tmp_path / "x.html")
    assert not list(tmp_path.iterdir())


# --- size and time -------------------------------------------------------------------------------------------------------------


def test_a_report_of_361_samples_is_small(tmp_path):
    result = pl.inverse_dynamics(mech.four_bar(), np.linspace(0, 1, 361))
    pl.report(result, tmp_path / "first.html")
    path = pl.report(result, tmp_path / "fourbar.html")
    assert path.stat().st_size < 3e6
    assert path.read_bytes() == (tmp_path / "first.html").read_bytes()  # the same result, the same file


def test_reports_of_large_mechanisms_stay_small(tmp_path):
    m = mech.chain(34)
    m.add(pl.AngleDriver("motor", m.ground, m["link1"], pl.Ramp(0.1, 0.0)))
    for k in range(2, 35):
        m.add(pl.AngleDriver(f"d{k}", m[f"link{k - 1}"], m[f"link{k}"], pl.Constant(0.02)))
    path = pl.report(pl.inverse_dynamics(m, np.linspace(0, 1, 40)), tmp_path / "chain.html")
    assert path.stat().st_size < 4e6
    page = Page(path.read_text(encoding="utf-8"))
    assert "the 30 joints with the largest forces" in page.words and "The first 24 of 34 bodies" in page.words


def test_import_leaves_the_template_engine_alone():
    code = "import sys, planar; assert callable(planar.report); print('jinja2' in sys.modules, 'matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_report_is_the_function_after_its_package_was_used(inverse, tmp_path):
    pl.report(inverse, tmp_path / "a.html")
    from planar.report import page  # noqa: F401

    assert pl.report(inverse, str(tmp_path / "b.html")).name == "b.html"
