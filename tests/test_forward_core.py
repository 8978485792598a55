"""pl.simulate: start, samples, dense output, ledger of energy, restarts, files, refusals; compiled and plain alike."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

import planar as pl
from planar.backend import has_numba
from planar.integrators import pair
from planar.steppers import Explicit
from planar.timetable import CHEBYSHEV, timetable
from tests.mechanisms import four_bar, random_mechanism, rod_between

needs_numba = pytest.mark.skipif(not has_numba(), reason="numba is switched off or missing")


def pendulum(angle: float = 0.0, **rod) -> pl.Model:
    """A uniform rod of 1 m and 2 kg on ground pin O."""
    m = pl.Model("pendulum", gravity=(0, -9.81))
    end = (math.cos(angle), math.sin(angle))
    m.add(rod_between("rod", (0, 0), end, mass=2.0, **rod))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["rod"]["A"]))
    return m


def driven_pendulums() -> pl.Model:
    """A rod on a crank that a motor turns: driven and free motion, a damper, a timed load."""
    m = pl.Model("mixed", gravity=(0, -9.81))
    m.add(rod_between("crank", (0, 0), (0.2, 0), mass=1.0))
    m.add(rod_between("rod", (0.2, 0), (0.7, 0), mass=0.5))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["crank"]["A"]))
    m.add(pl.Revolute("P", m["crank"]["B"], m["rod"]["A"]))
    m.add(pl.AngleDriver("motor", m.ground, m["crank"], "0.5*sin(3*t)"))
    m.add(pl.TorsionSpring("damper", m["crank"], m["rod"], stiffness=0.4, angle=0.0, damping=0.02))
    m.add(pl.PointForce("load", m["rod"]["B"], ("0.3*cos(5*t)", 0.1)))
    return m


# --- compiled and plain ------------------------------------------------------------------------------------------------


@needs_numba
@pytest.mark.parametrize("method", ["projection", "baumgarte"])
@pytest.mark.parametrize("build", [lambda: four_bar(speed=None), driven_pendulums, lambda: random_mechanism(4, 6)])
def test_compiled_loop_gives_the_numbers_of_the_plain_one(build, method):
    t = np.linspace(0, 0.5, 11)
    fast = pl.simulate(build(), (0, 0.5), t_eval=t, method=method)
    slow = pl.simulate(build(), (0, 0.5), t_eval=t, method=method, compiled=False)
    assert fast.stepper.is_compiled and not slow.stepper.is_compiled
    assert fast.evaluations == slow.evaluations
    # rounding alone; the exponential growth of it over half a second is far below
    for name in ("q", "v", "a", "lam"):
        scale = 1 + np.abs(getattr(slow, name)).max()
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=0, atol=1e-9 * scale, err_msg=name)


def test_without_numba_the_same_numbers():
    code = (
        "import json, planar as pl; from planar.backend import has_numba; from tests.mechanisms import four_bar;"
        "r = pl.simulate(four_bar(speed=None), (0, 0.3));"
        "print(json.dumps([has_numba(), r.q[-1].tolist()]))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**_environment(), "PLANAR_NUMBA": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    numba, q = json.loads(out.stdout)
    assert not numba
    here = pl.simulate(four_bar(speed=None), (0, 0.3))
    np.testing.assert_allclose(q, here.q[-1], rtol=0, atol=1e-10)


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


@needs_numba
def test_functions_in_python_take_the_plain_loop():
    m = pendulum()
    m.add(pl.Torque("push", m["rod"], lambda t, state: 0.5 * np.cos(2 * t)))
    n = pendulum()
    n.add(pl.Torque("push", n["rod"], "0.5*cos(2*t)"))
    called, formula = pl.simulate(m, (0, 1)), pl.simulate(n, (0, 1))
    assert not called.stepper.is_compiled and formula.stepper.is_compiled
    np.testing.assert_allclose(called.q[-1], formula.q[-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "motion",
    [
        pl.Ramp(2.0, 0.3),
        pl.Harmonic(0.4, 7.0, 0.2, 0.1),
        pl.Polynomial([0.1, 0.2, -0.3, 0.4]),
        pl.Table(np.linspace(0, 2, 9), np.sin(np.linspace(0, 2, 9))),
        pl.Ramp(1.0) + 2.0 * pl.Harmonic(0.1, 3.0),
        pl.Rise(0.5, 0.2, 1.1),
        pl.Function(lambda t: np.exp(-t) * np.sin(4 * t)),
    ],
)
@needs_numba
def test_motions_in_compiled_code(motion):
    """f, f', f'' of the table against the motion itself, to round-off of their sizes."""
    from planar.backend import compiled

    table, F = timetable([motion], 0.0, 2.0), np.zeros(3)
    t = np.linspace(0, 2, 101)
    exact = np.array(motion.evaluate(t))
    for k, x in enumerate(t):
        compiled("compiled_forward")._motions(table.terms.reshape(-1), table.numbers, x, F)
        np.testing.assert_allclose(F, exact[:, k], rtol=0, atol=1e-12 * (1 + np.abs(exact).max(axis=1)).max())


def test_motions_that_no_polynomials_follow_have_no_table():
    assert timetable([pl.Function(lambda t: np.sin(1e6 * t))], 0.0, 2.0) is None
    assert timetable([pl.Function(np.sin)], 0.0, 2.0).terms[0, 1] == CHEBYSHEV


# --- samples and dense output --------------------------------------------------------------------------------------------


def test_samples_are_where_they_were_asked_for():
    t = [0.0, 0.1, 0.1, 0.25, 1.0]
    run = pl.simulate(pendulum(), (0, 1), t_eval=t)
    np.testing.assert_array_equal(run.t, t)
    assert run.q.shape == (5, 3) and run.lam.shape == (5, 2) and run.success
    np.testing.assert_array_equal(run.q[1], run.q[2])
    steps = pl.simulate(pendulum(), (0, 1))
    np.testing.assert_allclose(run.q[-1], steps.q[-1], rtol=0, atol=1e-14)  # samples do not change the steps


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({"rtol": 1e-10, "atol": 1e-12}, 3e-9),
        ({"integrator": "RK45", "rtol": 1e-9, "atol": 1e-11}, 3e-7),
        ({"step": 2e-3}, 1e-6),
        ({"compiled": False, "rtol": 1e-10, "atol": 1e-12}, 3e-9),
        ({"method": "nullspace", "rtol": 1e-10, "atol": 1e-12}, 3e-9),
    ],
)
def test_dense_output_is_as_good_as_the_steps(options, bound):
    """Positions, velocities, accelerations and multipliers between steps against a much tighter run at its own steps."""
    m = four_bar(speed=None)
    t = np.linspace(0.013, 0.777, 23)
    exact = pl.simulate(m, (0, 0.8), t_eval=t, rtol=1e-13, atol=1e-14, max_step=2e-3)
    run = pl.simulate(m, (0, 0.8), **options)
    assert not np.isin(t, run.t).any()
    between = run(t)
    for name in ("q", "v", "a", "lam"):
        scale = 1 + np.abs(getattr(exact, name)).max()
        np.testing.assert_allclose(
            getattr(between, name), getattr(exact, name), rtol=0, atol=bound * scale, err_msg=name
        )
    between.check()


def test_dense_output_takes_any_order_and_refuses_other_times():
    run = pl.simulate(pendulum(), (0, 1))
    t = np.array([0.7, 0.1, 0.4, 0.1])
    np.testing.assert_array_equal(run(t).q, np.array([run(x).q[0] for x in t]))
    np.testing.assert_array_equal(run(run.t).q, run.q)
    with pytest.raises(pl.ModelError, match=r"1\.5.*from t = 0 to 1 s"):
        run(1.5)


def test_backward_in_time():
    there = pl.simulate(pendulum(), (0, 1), rtol=1e-11, atol=1e-13)
    back = pl.simulate(
        pendulum(), (1, 0), start=(there.q[-1], there.v[-1]), rtol=1e-11, atol=1e-13, t_eval=[1.0, 0.5, 0.0]
    )
    np.testing.assert_allclose(back.q[-1], there.q[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(back.q[1], there(0.5).q[0], rtol=0, atol=1e-9)


# --- accuracy and cost ---------------------------------------------------------------------------------------------------


def test_small_swings_of_a_pendulum():
    """omega = sqrt(3 g / 2 L); an amplitude of 1e-4 rad leaves the relative error of linearisation at 1e-9."""
    m = pendulum(-math.pi / 2 + 1e-4)
    t = np.linspace(0, 5, 21)
    run = pl.simulate(m, (0, 5), t_eval=t, rtol=1e-10, atol=1e-14)
    swing = run["rod"].phi + math.pi / 2
    np.testing.assert_allclose(swing, 1e-4 * np.cos(math.sqrt(1.5 * 9.81) * t), rtol=0, atol=1e-11)


def test_cost_is_bounded():
    """A four-bar for 1 s: what the pair needs, no more (measured 845 and 150 evaluations)."""
    assert pl.simulate(four_bar(speed=None), (0, 1)).evaluations < 1200
    assert pl.simulate(four_bar(speed=None), (0, 1), rtol=1e-3, atol=1e-5).evaluations < 400


def test_error_follows_the_tolerance():
    exact = pl.simulate(four_bar(speed=None), (0, 0.8), rtol=1e-13, atol=1e-14).q[-1]
    errors = [
        np.abs(pl.simulate(four_bar(speed=None), (0, 0.8), rtol=r, atol=1e-2 * r).q[-1] - exact).max()
        for r in (1e-4, 1e-7, 1e-10)
    ]
    assert errors[0] < 1e-2 and errors[1] < 1e-5 and errors[2] < 1e-8
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_world_may_move_and_bodies_may_turn_often():
    """The error control feels neither the origin nor whole turns: the same steps."""
    plain = pendulum()
    moved = pl.Model("moved", gravity=(0, -9.81))
    moved.add(rod_between("rod", (100.0, 50.0), (101.0, 50.0), mass=2.0))
    moved["rod"].phi += 20 * math.pi
    moved.add(pl.Revolute("O", moved.ground.point(100, 50), moved["rod"]["A"]))
    t = np.linspace(0, 2, 9)
    a, b = pl.simulate(plain, (0, 2), t_eval=t), pl.simulate(moved, (0, 2), t_eval=t)
    assert abs(len(a.track.times) - len(b.track.times)) <= 1
    np.testing.assert_allclose(b["rod"].phi - 20 * math.pi, a["rod"].phi, rtol=0, atol=1e-7)


# --- energy --------------------------------------------------------------------------------------------------------------


def test_ledger_closes_with_drivers_dampers_and_loads():
    run = pl.simulate(driven_pendulums(), (0, 2), rtol=1e-10, atol=1e-12)
    assert run.success and np.abs(run.energy.work).max() > 0.05
    assert np.abs(run.energy.drift).max() < 1e-8
    slow = pl.simulate(driven_pendulums(), (0, 2), rtol=1e-10, atol=1e-12, compiled=False)
    assert np.abs(slow.energy.drift).max() < 1e-8
    later = pl.simulate(driven_pendulums(), (0, 2), t_eval=[1.0, 2.0], rtol=1e-10, atol=1e-12)  # counts from its first
    assert later.energy.work[0] == 0 and np.abs(later.energy.drift).max() < 1e-8


def test_damper_takes_what_is_lost():
    m = pendulum()
    m.add(pl.TorsionSpring("damper", m.ground, m["rod"], damping=2.0))
    run = pl.simulate(m, (0, 20))
    assert abs(run["rod"].omega[-1]) < 0.1  # hangs
    assert run.energy.work[-1] == pytest.approx(-2.0 * 9.81 * 0.5, rel=1e-2)
    assert np.abs(run.energy.drift).max() < 1e-5


def test_certificate_holds():
    for m in (four_bar(speed=None), driven_pendulums(), random_mechanism(5, 7)):
        pl.simulate(m, (0, 0.3)).check()


# --- starts --------------------------------------------------------------------------------------------------------------


def test_open_drawing_is_assembled_first_and_said_so():
    m = four_bar(speed=None)
    x, y = m["coupler"].r
    m["coupler"].r = (x + 0.01, y)
    run = pl.simulate(m, (0, 0.1))
    assert run.success and any("coupler" in note for note in run.notes)
    run.check()


def test_restart_goes_on_as_one_long_run():
    m = driven_pendulums()
    whole = pl.simulate(m, (0, 2), rtol=1e-10, atol=1e-12)
    first = pl.simulate(m, (0, 0.8), rtol=1e-10, atol=1e-12)
    second = pl.simulate(m, 2.0, start=first, rtol=1e-10, atol=1e-12)
    assert second.t[0] == 0.8 and second.t[-1] == 2.0
    np.testing.assert_allclose(second.q[-1], whole.q[-1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(first.energy.work[-1] + second.energy.work[-1], whole.energy.work[-1], rtol=0, atol=1e-8)
    with pytest.raises(pl.ModelError, match=r"ends at t = 0\.8 s, but t_span begins at 1 s"):
        pl.simulate(m, (1.0, 2.0), start=first)


def test_start_from_results_states_and_pairs():
    m = pendulum()
    assembled = m.assemble()
    q = pl.simulate(m, (0, 0.5)).q[-1]
    for start in (assembled, (assembled.q, assembled.v), pl.simulate(m, (-0.5, 0.0), start=(assembled.q, assembled.v))):
        if isinstance(start, pl.Run):
            start = (start.q[0], start.v[0])
        np.testing.assert_allclose(pl.simulate(m, (0, 0.5), start=start).q[-1], q, rtol=0, atol=1e-12)
    slipping = pl.simulate(m, (0, 0.1), start=(assembled.q, np.array([0.0, 0.3, 1.0])))
    assert any("velocities of the start changed" in note for note in slipping.notes)
    for start, words in ((3, "give a run"), ((np.zeros(2), np.zeros(2)), "3 finite numbers")):
        with pytest.raises(pl.ModelError, match=words):
            pl.simulate(m, (0, 1), start=start)


def test_start_in_a_singular_position_is_refused():
    m = pl.Model("flat", gravity=(0, -9.81))
    for name, P, Q in (("a", (0, 0), (1, 0)), ("b", (1, 0), (2, 0)), ("c", (1, 0), (2, 0))):
        m.add(rod_between(name, P, Q))
    for name, p, q in (("A", (0, 0), "a"), ("D", (1, 0), "c")):
        m.add(pl.Revolute(name, m.ground.point(*p), m[q]["A"]))
    m.add(pl.Revolute("B", m["a"]["B"], m["b"]["A"]))
    m.add(pl.Revolute("C", m["b"]["B"], m["c"]["B"]))
    with pytest.raises(pl.SingularError, match=r"singular position.*beside it"):
        pl.simulate(m, (0, 1))


# --- special systems -------------------------------------------------------------------------------------------------------


def test_free_body_without_constraints():
    m = pl.Model("ball", gravity=(0, -9.81))
    m.add(pl.Body("ball", 2.0, 0.1, r=(0, 0), phi=0.0, v=(3.0, 4.0), omega=2.0))
    run = pl.simulate(m, (0, 1), t_eval=[0.5, 1.0])
    np.testing.assert_allclose(run["ball"].r, [[1.5, 2 - 9.81 / 8], [3.0, 4 - 9.81 / 2]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["ball"].phi, [1.0, 2.0], rtol=0, atol=1e-12)


def test_massless_link_carries_without_inertia():
    """A point mass on a massless rod swings as the mathematical pendulum: omega = sqrt(g / L)."""
    m = pl.Model("massless", gravity=(0, -9.81))
    m.add(rod_between("rod", (0, 0), (math.sin(1e-4), -math.cos(1e-4)), mass=0.0, inertia=0.0))
    m.add(pl.Body("bob", 1.0, 0.0, r=(math.sin(1e-4), -math.cos(1e-4)), phi=m["rod"].phi))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["rod"]["A"]))
    m.add(pl.Weld("tip", m["rod"]["B"], m["bob"].point(0, 0)))
    t = np.linspace(0, 3, 7)
    for compiled in (True, False):
        run = pl.simulate(m, (0, 3), t_eval=t, rtol=1e-10, atol=1e-14, compiled=compiled)
        np.testing.assert_allclose(run["bob"].r[:, 0], 1e-4 * np.cos(math.sqrt(9.81) * t), rtol=0, atol=1e-11)
        run.check()


def parallelogram(cranks: int = 3) -> pl.Model:
    m = pl.Model("parallelogram", gravity=(0, -9.81))
    m.add(pl.Body("table", 3.0, 0.5, r=(0.5, 1.0), phi=0.0))
    for k in range(cranks):
        x = k / (cranks - 1)
        m.add(rod_between(f"leg{k}", (x, 0), (x, 1), omega=-0.4, v=(0.2, 0)))
        m.add(pl.Revolute(f"A{k}", m.ground.point(x, 0), m[f"leg{k}"]["A"]))
        m.add(pl.Revolute(f"B{k}", m[f"leg{k}"]["B"], m["table"].point(x - 0.5, 0)))
    m["table"].v = (0.4, 0.0)
    return m


@pytest.mark.parametrize("compiled", [True, False])
def test_redundant_constraints_move_as_the_others_and_are_labelled(compiled):
    """The third crank adds mass but no new constraint: accelerations unique, loads shared by the smallest multipliers."""
    run = pl.simulate(parallelogram(3), (0, 0.6), compiled=compiled, rtol=1e-9, atol=1e-11)
    assert run.success and set(run.indeterminate)
    np.testing.assert_allclose(run["table"].phi, 0, atol=1e-9)
    run.check()
    other = pl.simulate(parallelogram(3), (0, 0.6), method="partition", rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(other.q[-1], run.q[-1], rtol=0, atol=1e-7)


def test_large_system_takes_the_same_motion_by_every_route():
    """A chain of 60 links: envelope in compiled code, banded LAPACK in the plain loop."""
    m = pl.Model("chain", gravity=(0, -9.81))
    end = m.ground.point(0, 0)
    for k in range(60):
        link = m.add(rod_between(f"link{k}", (k / 60, 0), ((k + 1) / 60, 0), mass=0.1))
        m.add(pl.Revolute(f"J{k}", end, link["A"]))
        end = link["B"]
    fast = pl.simulate(m, (0, 0.2), rtol=1e-7, atol=1e-9)
    slow = pl.simulate(m, (0, 0.2), rtol=1e-7, atol=1e-9, compiled=False)
    np.testing.assert_allclose(slow.q[-1], fast.q[-1], rtol=0, atol=1e-8)
    assert np.abs(fast.energy.drift).max() < 1e-5


# --- files -------------------------------------------------------------------------------------------------------------------


def test_saved_runs_come_back_whole(tmp_path):
    m, path = driven_pendulums(), tmp_path / "run.npz"
    run = pl.simulate(m, (0, 1), t_eval=np.linspace(0, 1, 5), events=pl.events.angle_reached("rod", -0.2))
    run.save(path)
    assert not any(x.dtype == object for x in np.load(path, allow_pickle=False).values())
    again = pl.load(path, driven_pendulums())
    for name in ("t", "q", "v", "a", "lam"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    assert [e.t for e in again.events] == [e.t for e in run.events] and again.message == run.message
    np.testing.assert_array_equal(again(0.333).q, run(0.333).q)
    np.testing.assert_array_equal(again.energy.drift, run.energy.drift)
    on, straight = (pl.simulate(m, (1, 1.5), start=s).q[-1] for s in (again, run))
    np.testing.assert_array_equal(on, straight)


def test_files_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    pl.simulate(pendulum(), (0, 0.1)).save(path)
    with pytest.raises(pl.ModelError, match="other bodies"):
        pl.load(path, four_bar(speed=None))
    heavier = pendulum()
    heavier["rod"].mass = 3.0
    with pytest.raises(pl.ModelError, match="other numbers"):
        pl.load(path, heavier)
    with pytest.raises(pl.ModelError, match="there is no file"):
        pl.load(tmp_path / "none.npz", pendulum())
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(pl.ModelError, match="no run saved"):
        pl.load(tmp_path / "text.npz", pendulum())


# --- interruption, progress ------------------------------------------------------------------------------------------------


def test_ctrl_c_returns_what_was_computed(monkeypatch):
    plain, calls = Explicit.advance, []

    def advance(self, n, wanted):
        calls.append(n)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self, min(n, 5), wanted)

    monkeypatch.setattr(Explicit, "advance", advance)
    run = pl.simulate(pendulum(), (0, 50), t_eval=np.linspace(0, 50, 5001))
    assert not run.success and "Ctrl-C" in run.message
    assert 5 < len(run) < 5001 and run.t[-1] <= run.track.times[-1] < 50
    np.testing.assert_array_equal(run.t, np.linspace(0, 50, 5001)[: len(run)])
    np.testing.assert_allclose(run.q[-1], run(run.t[-1]).q[0], rtol=0, atol=1e-12)


def test_progress_is_shown_for_long_runs_only(monkeypatch, capsys):
    from planar import progress

    pl.simulate(pendulum(), (0, 1), progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    pl.simulate(pendulum(), (0, 5), progress=True, compiled=False)
    assert "of 5 s" in capsys.readouterr().err
    pl.simulate(pendulum(), (0, 5), compiled=False)  # no terminal
    assert capsys.readouterr().err == ""


# --- refusals ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "projecton"}, "did you mean 'projection'"),
        ({"integrator": "rk45"}, "integrator is 'rk45'"),
        ({"rtol": -1e-6}, "rtol is -1e-06; give a number"),
        ({"rtol": math.nan}, "rtol is nan"),
        ({"rtol": 1e-20}, "double precision"),
        ({"atol": 0}, "atol is 0"),
        ({"step": -0.1}, "step is -0.1"),
        ({"first_step": math.inf}, "first_step is inf"),
        ({"max_step": 0}, "max_step is 0"),
        ({"integrator": "RK4"}, "no error estimate"),
        ({"integrator": "Radau", "step": 0.1}, "leave step=0.1 out"),
        ({"method": "gen_alpha", "integrator": "RK45"}, "an integrator itself"),
        ({"gains": (1, 2)}, "belong to method 'baumgarte'"),
        ({"method": "baumgarte", "gains": (1, -2)}, "give \\(alpha, beta\\)"),
        ({"method": "gen_alpha", "rho": 1.5}, "rho is 1.5"),
        ({"index": 1}, "index is 1"),
        ({"t_eval": [0.5, 2.0]}, "2 s, outside of t_span = \\(0, 1\\)"),
        ({"t_eval": [0.5, 0.2]}, "in order; sort it"),
        ({"t_eval": [math.nan]}, "finite"),
        ({"t_eval": "now"}, "array of times"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.simulate(pendulum(), (0, 1), **options)


@pytest.mark.parametrize("span", [(0, math.nan), (1, 1), (0, 1, 2), "all", (0, math.inf), None])
def test_wrong_spans_are_named(span):
    with pytest.raises(pl.ModelError, match="t_span is"):
        pl.simulate(pendulum(), span)


def test_every_wrong_option_at_once():
    with pytest.raises(pl.ModelError) as error:
        pl.simulate(pendulum(), (0, 1), method="x", rtol=-1, step="fast")
    assert len(error.value.problems) == 3


# --- failures are failures ---------------------------------------------------------------------------------------------------


def test_divergence_is_never_success():
    """Steps far too long for RK4: the energy balance gives it away, or the way back to the constraints does."""
    with pytest.warns(pl.PlanarWarning):
        run = pl.simulate(four_bar(speed=None), (0, 20), step=0.2)
    assert not run.success and run.message


def test_driver_into_a_limit_position_stops_and_names_it():
    """The crank of a rocker-rocker cannot turn round: the drivers' time comes, the linkage does not follow."""
    m = four_bar((0.3, 0.2, 0.3, 0.45), angle=1.2, speed=None)
    m.add(pl.AngleDriver("motor", m.ground, m["crank"], pl.Ramp(-1.5, 1.2)))
    with pytest.warns(pl.PlanarWarning, match="stopped at t"):
        run = pl.simulate(m, (0, 4))
    assert not run.success and 0 < run.t[-1] < 4 and np.isfinite(run.q).all()
    assert "singular" in run.message


def test_motion_that_ends_before_the_run_is_refused():
    m = pendulum()
    m.add(pl.AngleDriver("motor", m.ground, m["rod"], pl.Table(np.linspace(0, 1, 7), np.zeros(7))))
    with pytest.raises(pl.ModelError, match="outside"):
        pl.simulate(m, (0, 2))


def test_tableaux_are_consistent():
    for name in ("DOP853", "RK45", "RK4"):
        p = pair(name)
        np.testing.assert_allclose(
            p.table[: p.stages].sum(axis=1), p.table[p.stages + 1, : p.stages], rtol=0, atol=1e-14
        )
        assert p.table[p.stages].sum() == pytest.approx(1, abs=1e-14)
        assert p.table[p.stages + 2].sum() == pytest.approx(0, abs=1e-14)
        assert 0 < p.gap < 1 and np.abs(p.table[p.stages + 1, : p.stages] - p.gap).min() > 0.1
