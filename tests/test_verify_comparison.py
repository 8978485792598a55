"""planar.verify(model, t): agreement where the main path is right, an alarm where it is not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import planar as pl
from planar import backend, laws, primitives, reactions
from planar.verify import Verification, verify
from tests.mechanisms import TEXTBOOK, chain, four_bar, parallelogram, random_mechanism, slider_crank
from tests.test_verify_formulations import MODELS

T = np.linspace(0, 1, 41)


@pytest.mark.parametrize("speed", ["driven", "free"])
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "quick_return", "planetary", "parallelogram"])
def test_textbook_mechanisms_agree(name, speed):
    m = TEXTBOOK[name]() if speed == "driven" else TEXTBOOK[name](speed=None)
    found = verify(m, T, samples=9)
    assert found.ok, str(found)
    assert found.worst < 1e-11  # aim 1e-9; well-conditioned positions reach round-off
    assert len(found.times) == 9
    assert [c.formulation for c in found.checks] == ["points", "virtual work", "generalized"]
    assert all(("effort" in c.largest) == (speed == "driven") for c in found.checks)


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms_agree(seed):
    free, driven = (random_mechanism(seed, 8, driven=d, massless=seed % 2 == 1) for d in (False, True))
    for found in (verify(free, [0.0, 0.02, 0.04]), verify(driven, [0.0, 0.02, 0.04])):
        assert found.ok, str(found)
        assert found.worst < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_many_random_mechanisms_agree(seed):
    for driven in (False, True):
        found = verify(random_mechanism(seed, driven=driven, massless=seed % 3 == 0), [0.0, 0.02])
        assert found.ok, str(found)


@pytest.mark.parametrize("name", MODELS)
def test_every_joint_driver_and_force_agrees(name):
    found = verify(MODELS[name](), [0.05, 0.1])
    assert found.ok, str(found)
    assert found.worst < 1e-11


def test_long_chain_of_joint_coordinates_is_allowed_its_condition():
    """M of 60 relative angles has a condition near 1e8; point coordinates stay well conditioned."""
    m = chain(60, angle=0.3)
    m["link1"].omega = 1.0
    found = verify(m, 0.0)
    assert found.ok, str(found)
    allowed = {c.formulation: c.allowed for c in found.checks}
    assert allowed["points"] == 1e-9 and 1e-9 < allowed["generalized"] < 1e-6


def test_package_is_called_like_a_function():
    found = pl.verify(four_bar(), T, samples=3)
    assert isinstance(found, Verification) and found


def test_results_can_be_verified():
    m = four_bar()
    inv = pl.inverse_dynamics(m, T)
    assert verify(inv, samples=5).ok
    assert not verify(dataclass_like(inv, a=inv.a * 1.001), samples=5).ok
    with pytest.raises(pl.ModelError, match="kinematics knows no forces"):
        verify(pl.kinematics(m, T))
    with pytest.raises(pl.ModelError, match="actuators"):
        verify(pl.inverse_dynamics(m, T, actuate=["D"]))


def dataclass_like(result, **changes):
    """The same result with other arrays."""
    values = {"t": result.t, "q": result.q, "v": result.v, "a": result.a, "lam": result.lam, **changes}
    return pl.result.Result(result.system, *values.values(), analysis=result.analysis)


# --- a broken main path ----------------------------------------------------------------------------------------------


def flip(monkeypatch, table, name, spoil):
    """Replace the kernel of a primitive or law by one whose output is spoiled."""
    kernel = table[name].kernel
    monkeypatch.setattr(backend, "is_loaded", lambda: False)  # the compiled kernels are not the ones in the table
    monkeypatch.setitem(table, name, dataclasses.replace(table[name], kernel=lambda *args: spoil(kernel(*args))))


def wrong_gamma(out):
    Phi, Phi_q, nu, gamma = out
    return Phi, Phi_q, nu, tuple(-g for g in gamma)


def test_flipped_gamma_of_a_pin_is_caught(monkeypatch):
    m = chain(3)
    m["link1"].omega = 5.0
    assert verify(m, [0.0, 0.05]).ok
    flip(monkeypatch, primitives.PRIMITIVES, "coincide", wrong_gamma)
    found = verify(m, [0.0, 0.05])
    assert not found.ok
    assert all(c.largest["acceleration"] > 1e-2 and c.largest["force"] > 1e-2 for c in found.checks)
    assert "DIFFERS" in str(found)


@pytest.mark.parametrize("name", ["on_line", "parallel"])
def test_flipped_gamma_of_a_slide_is_caught(monkeypatch, name):
    """A slide that turns with a crank: its line has an acceleration of its own."""
    m = pl.Model("whirling slide")
    crank = m.add(pl.Body("crank", 1.0, 0.1, r=(0, 0), phi=0.2, omega=4.0))
    u = np.array([np.cos(0.2), np.sin(0.2)])
    block = m.add(pl.Body("block", 0.5, 0.01, r=0.3 * u, phi=0.2, v=2.0 * u))
    m.add(pl.Revolute("pin", m.ground.point(0, 0), crank.point(0, 0)))
    m.add(pl.Translational("slide", crank.axis((0, 0), (1, 0)), block.axis((0, 0), (1, 0))))
    assert verify(m, 0.0).ok
    if name == "parallel":  # gamma vanishes where the axes are parallel: spoil the couple it carries instead
        flip(monkeypatch, primitives.PRIMITIVES, name, lambda out: (out[0], (out[1][0], 2 * out[1][1]), *out[2:]))
    else:
        flip(monkeypatch, primitives.PRIMITIVES, name, wrong_gamma)
    assert not verify(m, 0.0).ok


def test_wrong_place_of_a_pin_is_seen_as_an_opening(monkeypatch):
    m = four_bar(speed=None)

    def shifted(out):
        return (out[0][0] + 1e-4, out[0][1]), *out[1:]

    flip(monkeypatch, primitives.PRIMITIVES, "coincide", shifted)
    found = verify(m, 0.0)
    assert found.opening["position"] > 1e-5
    assert not found.ok
    assert "OPEN at" in str(found)


def test_flipped_spring_is_caught(monkeypatch):
    m = four_bar(speed=None)
    m.add(pl.Spring("spring", m.ground.point(0, 0), m["rocker"]["C"], stiffness=100.0, length=0.1))
    assert verify(m, 0.0).ok
    flip(monkeypatch, laws.LAWS, "spring", lambda out: tuple(-x for x in out))
    assert not verify(m, 0.0).ok


def test_flipped_reaction_is_caught(monkeypatch):
    m = slider_crank()
    whole = reactions.wrench

    def flipped(result, constraint, body):
        return -whole(result, constraint, body) if constraint.name == "C" else whole(result, constraint, body)

    monkeypatch.setattr(reactions, "wrench", flipped)
    found = verify(m, T, samples=5)
    assert not found.ok
    assert "force in 'C'" in found.where
    assert all(c.largest["acceleration"] < 1e-11 and c.largest["effort"] < 1e-11 for c in found.checks)


def test_flipped_couple_is_caught(monkeypatch):
    """Only the moment is wrong: the rod pushes the slider beside its guide's axis."""
    m = slider_crank()
    m.add(pl.Torque("twist", m["slider"], 2.0))
    whole = reactions.wrench

    def flipped(result, constraint, body):
        W = whole(result, constraint, body).copy()
        W[:, 2] *= -1.0 if constraint.name == "slide" else 1.0
        return W

    monkeypatch.setattr(reactions, "wrench", flipped)
    found = verify(m, T, samples=5)
    assert not found.ok and "couple in 'slide'" in found.where


def test_flipped_effort_is_caught(monkeypatch):
    whole = reactions.effort
    monkeypatch.setattr(reactions, "effort", lambda result, driver: -whole(result, driver))
    found = verify(four_bar(), T, samples=5)
    assert not found.ok and "effort of 'motor'" in found.where


def test_not_a_number_is_a_difference():
    inv = pl.inverse_dynamics(four_bar(), T)
    a = inv.a.copy()
    a[20, 3] = np.nan
    found = verify(dataclass_like(inv, a=a), samples=len(T))
    assert not found.ok and found.worst == np.inf and "acceleration of 'coupler'" in found.where


# --- what is said ----------------------------------------------------------------------------------------------------


def test_table():
    text = str(verify(parallelogram(3, speed=2.0), T, samples=4))
    assert "'parallelogram' against independent formulations, 4 states, t = 0 .. 1 s" in text
    assert text.count("agrees") == 3
    assert "only the determined components were compared in: A1, B1, A2, B2, A3, B3" in text


def test_model_that_nothing_can_express():
    found = verify(TEXTBOOK["cam"](), T)
    assert not found.ok and np.isnan(found.worst) and found.where == ""
    assert "PointOnCurve 'contact'" in str(found)
    assert "nothing was compared" in str(found)


def test_at_rest_nothing_is_noise():
    """Without motion, weight or load all forces are zero; differences are not divided by zero."""
    m = four_bar(speed=None, gravity=(0.0, 0.0))
    found = verify(m, 0.0)
    assert found.ok and found.worst < 1e-11


def post() -> pl.Model:
    m = pl.Model("post", gravity=(0.0, -9.81))
    b = m.add(pl.Body("post", 2.0, 0.1, r=(1.0, 2.0), phi=0.0))
    m.add(pl.Weld("foot", m.ground.point(0.5, 1.0), b.point(-0.5, -1.0)))
    return m


def stone() -> pl.Model:
    m = pl.Model("stone", gravity=(0.0, -9.81))
    m.add(pl.Body("stone", 2.0, 0.1, r=(1.0, 2.0), phi=0.3, omega=3.0))
    return m


def wheel() -> pl.Model:
    m = pl.Model("wheel", gravity=(0.0, -9.81))
    b = m.add(pl.Body("wheel", 2.0, 0.1, r=(0.0, 0.0), phi=0.3, omega=3.0))
    m.add(pl.Revolute("hub", m.ground.point(0, 0), b.point(0, 0)))
    m.add(pl.Torque("torque", b, 2.0))
    return m


def weightless_coupler(**kw) -> pl.Model:
    m = four_bar(**kw)
    m["coupler"].mass = m["coupler"].inertia = 0.0
    return m


@pytest.mark.parametrize("build", [post, stone, wheel, weightless_coupler, lambda: weightless_coupler(speed=None)])
def test_border_cases_agree(build):
    """Nothing moves; nothing is held; a pin at the centre of mass; a body without mass."""
    found = verify(build(), [0.0, 0.1])
    assert found.ok, str(found)
    assert found.worst < 1e-12


def test_times_must_grow():
    with pytest.raises(pl.ModelError, match="increasing"):
        verify(four_bar(), [0.0, 0.0])


def test_partly_driven_model_moves_freely():
    m = chain(2)
    m.add(pl.AngleDriver("motor", m.ground, m["link1"], pl.Harmonic(0.5, 3.0)))
    found = verify(m, np.linspace(0, 0.5, 6))
    assert found.ok and all("effort" in c.largest for c in found.checks)
