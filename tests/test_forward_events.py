"""Events of a simulation: zeros found to round-off, terminal and one-sided ones, ready-made ones, singular passages."""

from __future__ import annotations

import math

import numpy as np
import pytest

import planar as pl
from tests.mechanisms import four_bar, rod_between


def ball(vy: float = 5.0) -> pl.Model:
    m = pl.Model("ball", gravity=(0, -9.81))
    m.add(pl.Body("ball", 1.0, 0.1, r=(0, 0), phi=0.0, v=(1.0, vy), omega=0.5))
    return m


def pendulum() -> pl.Model:
    m = pl.Model("pendulum", gravity=(0, -9.81))
    m.add(rod_between("rod", (0, 0), (1, 0)))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["rod"]["A"]))
    return m


def parallel_bars(speed: float = 3.0) -> pl.Model:
    """A four-bar with equal opposite sides that turns through its flat positions; theta = pi/2 at the start."""
    m = pl.Model("bars", gravity=(0, -9.81))
    for k in (0, 1):
        m.add(rod_between(f"up{k}", (k, 0), (k, 1), v=(speed / 2, 0), omega=-speed))
        m.add(pl.Revolute(f"A{k}", m.ground.point(k, 0), m[f"up{k}"]["A"]))
    m.add(rod_between("top", (0, 1), (1, 1), v=(speed, 0)))
    m.add(pl.Revolute("B0", m["up0"]["B"], m["top"]["A"]))
    m.add(pl.Revolute("B1", m["up1"]["B"], m["top"]["B"]))
    return m


# --- zeros ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
def test_zero_is_found_to_round_off_and_ends_the_run(compiled):
    """A ball comes back to y = 0 at t = 2 v / g, exactly in closed form."""

    def ground(t, state):
        return state["ball"].r[..., 1]

    ground.terminal, ground.direction = True, -1
    run = pl.simulate(ball(), (0, 10), events=ground, compiled=compiled)
    assert run.success and run.t[-1] == pytest.approx(10 / 9.81, abs=1e-12)
    assert "'ground' ended the run" in run.message
    assert [e.kind for e in run.events] == ["ground"] and run.events[0].t == run.t[-1]
    assert abs(run["ball"].r[-1, 1]) < 1e-12 and run.track.times[-1] == run.t[-1]
    assert run(run.t[-1]).q[0, 1] == pytest.approx(0, abs=1e-12)


def test_terminal_event_keeps_the_samples_before_it():
    def ground(t, state):
        return state["ball"].r[..., 1]

    ground.terminal, ground.direction = True, -1
    run = pl.simulate(ball(), (0, 10), events=ground, t_eval=np.linspace(0, 10, 41))
    np.testing.assert_allclose(run.t, [0, 0.25, 0.5, 0.75, 1.0, 10 / 9.81], rtol=0, atol=1e-12)


def test_directions_and_counts_as_in_scipy():
    def up(t, state):
        return state["rod"].phi + math.pi / 2  # the lowest position

    down, third = (lambda t, state: up(t, state)), (lambda t, state: up(t, state))
    up.direction, down.direction, third.terminal = 1, -1, 3
    run = pl.simulate(pendulum(), (0, 6), events=[up, down])
    times = {name: [e.t for e in run.events if e.kind == name] for name in ("up", "<lambda>")}
    assert len(times["up"]) >= 2 and len(times["<lambda>"]) >= 2
    speed = {name: run(t).v[:, 2] for name, t in times.items()}
    assert (speed["up"] > 0).all() and (speed["<lambda>"] < 0).all()
    np.testing.assert_allclose(np.sort(np.concatenate(list(times.values()))), [e.t for e in run.events])
    ended = pl.simulate(pendulum(), (0, 6), events=third)
    assert len(ended.events) == 3 and ended.t[-1] == pytest.approx(run.events[2].t, abs=1e-9)


def test_functions_of_one_state_work_too():
    """With math.sin and `if` a function takes one state at a time."""

    def late(t, state):
        return math.sin(float(state["ball"].phi)) - 0.5 if t > 0.2 else -1.0

    run = pl.simulate(ball(), (0, 2), events=late)
    assert [round(e.t, 9) for e in run.events] == [round(2 * math.asin(0.5), 9)]


def test_two_zeros_within_one_step_are_seen():
    """The ball needs few long steps; it is above 1.2 m for 0.25 s only."""

    def height(t, state):
        return state["ball"].r[..., 1] - 1.2

    run = pl.simulate(ball(), (0, 2), events=height)
    exact = (5 + np.array([-1, 1]) * math.sqrt(25 - 2 * 9.81 * 1.2)) / 9.81
    np.testing.assert_allclose([e.t for e in run.events], exact, rtol=0, atol=1e-11)


def test_zero_at_the_start_does_not_count():
    def there(t, state):
        return state["ball"].r[..., 1]

    assert len(pl.simulate(ball(), (0, 0.5), events=there).events) == 0


@pytest.mark.parametrize("options", [{"method": "gen_alpha", "step": 2e-3}, {"integrator": "Radau"}, {"step": 1e-2}])
def test_events_with_every_stepper(options):
    event = pl.events.angle_reached("rod", -1.0, terminal=True)
    exact = pl.simulate(pendulum(), (0, 2), events=event, rtol=1e-11, atol=1e-13).t[-1]
    run = pl.simulate(pendulum(), (0, 2), events=event, **options)
    assert run.t[-1] == pytest.approx(exact, abs=1e-5) and run["rod"].phi[-1] == pytest.approx(-1.0, abs=1e-9)


# --- ready-made ------------------------------------------------------------------------------------------------------------


def test_angle_reached_counts_turns_and_relative_angles():
    m = ball()
    m.add(pl.Body("other", 1.0, 0.1, r=(1, 1), phi=0.2, omega=0.1))
    run = pl.simulate(m, (0, 30), events=pl.events.angle_reached(m["ball"], 4 * math.pi))
    assert [e.t for e in run.events] == [pytest.approx(8 * math.pi, abs=1e-9)]
    run = pl.simulate(m, (0, 3), events=pl.events.angle_reached("ball", 0.6, relative_to="other"))
    assert [e.t for e in run.events] == [pytest.approx(2.0, abs=1e-9)]
    assert "'ball' at 34.3775 deg" in run.events[0].text


def test_distance_reached():
    m = ball()
    event = pl.events.distance_reached(m.ground.point(0, 0), m["ball"].point(0, 0), 1.0)
    run = pl.simulate(m, (0, 0.5), events=event)
    assert len(run.events) == 1
    assert np.hypot(*run(run.events[0].t)["ball"].r[0]) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(pl.ModelError, match="takes points"):
        pl.events.distance_reached("A", m["ball"].point(0, 0), 1.0)


def test_reaction_exceeds_a_limit():
    """Rod released level: the pin carries (5/2 sin^2 + cos^2/4 ...) m g; at the bottom 5/2 m g, grown beyond 2 m g before."""
    m = pendulum()
    limit = 2 * 9.81
    run = pl.simulate(m, (0, 0.6), events=pl.events.reaction_exceeds("O", limit))
    (event,) = run.events
    force = run(event.t).reaction("O", on="rod").force[0]
    assert np.hypot(*force) == pytest.approx(limit, abs=1e-9)
    # radial 5/2 sin, tangential 1/4 cos (in m g): (25/4) s^2 + (1 - s^2)/16 = 4
    s = math.sqrt((4 - 1 / 16) / (25 / 4 - 1 / 16))
    assert -math.sin(run(event.t)["rod"].phi[0]) == pytest.approx(s, abs=1e-7)
    with pytest.raises(pl.ModelError, match="positive"):
        pl.events.reaction_exceeds("O", 0.0)


# --- refusals ----------------------------------------------------------------------------------------------------------------


def test_wrong_events_are_named():
    with pytest.raises(pl.ModelError, match=r"events\[1\] is 3"):
        pl.simulate(ball(), (0, 1), events=[lambda t, s: 1.0, 3])

    def broken(t, state):
        return np.nan * t

    with pytest.raises(pl.ModelError, match="'broken' gives nan"):
        pl.simulate(ball(), (0, 1), events=broken)


# --- singular positions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_flat_positions_are_passed_and_recorded(compiled, rtol):
    """theta = 0 and -pi of two equal bars: the coupler stays parallel to the base, no branch is changed."""
    run = pl.simulate(parallel_bars(), (0, 2.5), rtol=rtol, atol=1e-2 * rtol, compiled=compiled)
    assert run.success
    np.testing.assert_allclose(run["top"].phi, 0, atol=100 * rtol)
    np.testing.assert_allclose(run["up0"].phi, run["up1"].phi, atol=100 * rtol)
    flat = [e for e in run.events if e.kind == "singular"]
    theta = run(np.array([e.t for e in flat]))["up0"].phi
    turned = run["up0"].phi[[0, -1]]
    expected = np.arange(math.ceil(turned.min() / math.pi), math.floor(turned.max() / math.pi) + 1) * math.pi
    np.testing.assert_allclose(np.sort(theta), expected, rtol=0, atol=1e-3)
    assert all(e.smallest < 1e-3 and e.joint for e in flat)
    assert np.abs(run.energy.drift).max() < 1e4 * rtol


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_passages_at_any_speed(speed):
    run = pl.simulate(parallel_bars(speed), (0, 4))
    assert run.success and np.abs(run.energy.drift).max() < 1e-5 * (1 + speed**2)


def test_healthy_motion_has_no_singular_events():
    assert pl.simulate(four_bar((0.1, 0.3, 0.25, 0.3), speed=None), (0, 1)).events == []
