"""Reactions: virtual work for every joint, hand statics, uniqueness, frames and points, shaking force, tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

import planar as pl
from planar.reactions import _bodies
from tests.mechanisms import TEXTBOOK, four_bar, parallelogram, quick_return, random_mechanism, rod_between

G = 9.81


def close(a, b, tol=1e-12, size=None):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= tol * (max(np.abs(b).max(), 1e-12) if size is None else size)


# --- virtual work ------------------------------------------------------------------------------------------------------


def about_centre(result, R, body):
    arm = R.point - result[body].r
    return np.column_stack([R.force, R.couple + arm[:, 0] * R.force[:, 1] - arm[:, 1] * R.force[:, 0]])


MECHANISMS = {**{name: TEXTBOOK[name] for name in TEXTBOOK}, **{f"random {s}": s for s in range(6)}}


@pytest.mark.parametrize("name", MECHANISMS)
def test_reported_wrench_is_minus_Phi_q_T_lam(name):
    """About the centre of mass of every body; the radial tooth force, which does no work, is added on purpose."""
    m = MECHANISMS[name]() if callable(MECHANISMS[name]) else random_mechanism(MECHANISMS[name], driven=True)
    for joint in m.joints:
        if hasattr(joint, "pressure_angle"):
            joint.pressure_angle = 0.0
    inv = pl.inverse_dynamics(m, [0.0, 0.03])
    J = inv.system.pattern.to_dense(inv.Phi_q)
    size = np.abs(inv.lam).max() or 1.0
    for c in m.constraints:
        rows = inv.system.rows_of[c.name]
        Q = -np.einsum("tr,trc->tc", inv.lam[:, rows], J[:, rows])
        for body in (b for b in c.bodies if not b.is_ground):
            k = 3 * inv.system.body_index(body)
            close(about_centre(inv, inv.reaction(c, on=body), body), Q[:, k : k + 3], 1e-12, size)


@pytest.mark.parametrize("name", MECHANISMS)
def test_action_is_reaction(name):
    """Forces and couples of a joint on all its bodies, ground included, balance about any point."""
    m = MECHANISMS[name]() if callable(MECHANISMS[name]) else random_mechanism(MECHANISMS[name], driven=True)
    inv = pl.inverse_dynamics(m, [0.0, 0.03])
    size = np.abs(inv.lam).max() or 1.0
    for c in m.constraints:
        total = np.zeros((2, 3))
        for body in _bodies(c, m.ground):
            R = inv.reaction(c, on=body, at=m.ground.point(0.3, -0.2))
            total += np.column_stack([R.force, R.couple])
        close(total, np.zeros((2, 3)), 1e-12, 10 * size)


@pytest.mark.parametrize("name", TEXTBOOK)
def test_shaking_force_is_the_change_of_momentum(name):
    """Force on ground = weight - d(momentum)/dt; moment about the origin likewise (loads inside cancel)."""
    m = TEXTBOOK[name](gravity=(0.0, -G))
    inv = pl.inverse_dynamics(m, np.linspace(0, 0.6, 9))
    force, moment = inv.shaking()
    want, turn = np.zeros((9, 2)), np.zeros(9)
    for body in m.bodies:
        F = body.mass * (np.array([0, -G]) - inv[body].a)
        r = inv[body].r
        want += F
        turn += r[:, 0] * F[:, 1] - r[:, 1] * F[:, 0] - body.inertia * inv[body].alpha
    close(force, want, 1e-11)
    close(moment, turn, 1e-11, np.abs(turn).max() + np.abs(want).max())


# --- frames and points -------------------------------------------------------------------------------------------------


def test_frame_and_point():
    m = four_bar()
    inv = pl.inverse_dynamics(m, np.linspace(0, 1, 10))
    R = inv.reaction("B", on="coupler")
    assert R.unique and R.frame == "global" and not R.couple.any()
    close(R.point, inv.point(m["coupler"]["B"]).r)
    local = inv.reaction("B", on="coupler", frame="coupler")
    close(local.magnitude, R.magnitude)
    phi = inv["coupler"].phi
    close(local.force[:, 0], R.force[:, 0] * np.cos(phi) + R.force[:, 1] * np.sin(phi), 1e-12, R.magnitude.max())
    moved = inv.reaction("B", on="coupler", at=m["coupler"].point(0, 0))
    arm = inv.point(m["coupler"]["B"]).r - inv["coupler"].r
    close(moved.couple, arm[:, 0] * R.force[:, 1] - arm[:, 1] * R.force[:, 0])
    opposite = inv.reaction("B", on="crank")
    close(opposite.force, -R.force)


def test_questions_that_make_no_sense_say_so():
    m = four_bar()
    inv = pl.inverse_dynamics(m, 0.0)
    with pytest.raises(pl.ModelError, match="does not act on 'rocker'; it acts on 'crank', 'coupler'"):
        inv.reaction("B", on="rocker")
    with pytest.raises(pl.ModelError, match="no joint or driver"):
        inv.reaction("crank")
    with pytest.raises(pl.ModelError, match="at must be a point"):
        inv.reaction("B", at=(0, 0))
    with pytest.raises(pl.ModelError, match="gives no effort"):
        inv.effort("B")
    with pytest.raises(pl.ModelError, match="axial"):
        _ = inv.reaction("B").axial


def test_pin_in_slot_acts_at_the_pin_without_couple():
    """Design trap: at the pin the couple is zero; moved to the slot's reference point it is (u . d) lam, signed."""
    m = quick_return(ram=False)
    inv = pl.inverse_dynamics(m, np.linspace(0, 1, 8))
    for body in ("arm", "crank"):
        R = inv.reaction("slot", on=body)
        assert not R.couple.any()
        close(R.point, inv.point(m["crank"]["B"]).r)
    lam = R.rows["normal"]
    at_origin = inv.reaction("slot", on="arm", at=m["arm"]["O"])
    distance = np.hypot(*inv.point(m["crank"]["B"]).r.T)  # u . d > 0
    close(at_origin.couple, distance * lam, 1e-11)
    normal = np.column_stack([-np.sin(inv["arm"].phi), np.cos(inv["arm"].phi)])
    close(inv.reaction("slot", on="arm").force, lam[:, None] * normal, 1e-11)


# --- hand statics ------------------------------------------------------------------------------------------------------


def test_lever():
    """A massless lever 0.2 m : 0.5 m, 100 N down at the short end; a prop holds the long end."""
    m = pl.Model("lever")
    lever = m.add(pl.Body("lever", r=(0, 0), phi=0.0))
    m.add(pl.Revolute("pivot", m.ground.point(0, 0), lever.point(0, 0)))
    m.add(pl.PinInSlot("prop", m.ground.axis((0, 0), (1, 0)), lever.point(0.5, 0)))
    m.add(pl.PointForce("load", lever.point(-0.2, 0), (0.0, -100.0)))
    st = pl.statics(m)
    close(st.reaction("prop", on=lever).force[0], [0, -40.0])
    close(st.reaction("pivot", on=lever).force[0], [0, 140.0])
    st.check()


def test_toggle_press_near_its_dead_point():
    """Two bars of 0.5 m at a small angle a from the vertical line; P pushes the knee: F = P / (2 tan a) on the die."""
    for a in (0.3, 1e-2, 1e-4):
        m = pl.Model("toggle")
        x, y = 0.5 * math.sin(a), 0.5 * math.cos(a)
        upper = m.add(rod_between("upper", (0, 2 * y), (x, y), mass=0.0))
        lower = m.add(rod_between("lower", (x, y), (0, 0), mass=0.0))
        die = m.add(pl.Body("die", 0.0, 0.0, r=(0, 0), phi=0.0))
        m.add(pl.Revolute("top", m.ground.point(0, 2 * y), upper["A"]))
        m.add(pl.Revolute("knee", upper["B"], lower["A"]))
        m.add(pl.Revolute("foot", lower["B"], die.point(0, 0)))
        m.add(pl.Translational("guide", m.ground.axis((0, 0), (0, 1)), die.axis((0, 0), (0, 1))))
        m.add(pl.CoordinateDriver("stop", die, "y", 0.0))
        m.add(pl.PointForce("push", upper["B"], (-100.0, 0.0)))
        st = pl.statics(m)
        # pushed towards the line the bars are in compression: the die presses down on the stop, which pushes up
        assert abs(st.effort("stop")[0] / (100.0 / (2 * math.tan(a))) - 1) < 1e-12 / a**2
        close(np.abs(st.reaction("foot", on=die).force[0, 0]), 50.0, 1e-9 / a)
        st.check()


def test_crane_with_a_distance_rod():
    """A boom of 4 m and 50 kg, tied by a rod from its end to (0, 3): 1000 N at the end; T = (P + W/2) / sin a."""
    m = pl.Model("crane", gravity=(0, -G))
    boom = m.add(pl.Body.rod("boom", 50.0, 4.0, r=(2, 0), phi=0.0))
    m.add(pl.Revolute("foot", m.ground.point(0, 0), boom["A"]))
    tie = m.add(pl.Distance("tie", m.ground.point(0, 3), boom["B"]))
    m.add(pl.PointForce("load", boom["B"], (0, -1000.0)))
    st = pl.statics(m)
    T = (1000 + 50 * G / 2) / 0.6
    R = st.reaction(tie, on=boom)
    close(R.axial, [T])
    close(R.force[0], [-0.8 * T, 0.6 * T])
    close(st.reaction("foot", on=boom).force[0], [0.8 * T, 50 * G / 2], 1e-12, T)
    m["load"].force = (0, 5000.0)
    assert pl.statics(m).reaction(tie, on=boom).axial[0] < 0, "pushed up, the rod is in compression"


def test_gear_train_with_bearing_loads():
    """Torque 10 N m on a wheel of 0.1 m held against a wheel of 0.2 m: tooth force 100 N, radial 100 tan 20 deg."""
    alpha = math.radians(20)
    m = pl.Model("train")
    one = m.add(pl.Body("one", 1.0, 0.01, r=(0, 0), phi=0.0))
    two = m.add(pl.Body("two", 1.0, 0.01, r=(0.3, 0), phi=0.0))
    m.add(pl.Revolute("b1", m.ground.point(0, 0), one.point(0, 0)))
    m.add(pl.Revolute("b2", m.ground.point(0.3, 0), two.point(0, 0)))
    mesh = m.add(pl.GearMesh("mesh", one.point(0, 0), two.point(0, 0), 0.1, 0.2, pressure_angle=alpha))
    m.add(pl.Torque("in", one, 10.0))
    m.add(pl.AngleDriver("hold", m.ground, two, 0.0))
    st = pl.statics(m)
    radial = 100 * math.tan(alpha)
    # wheel one turns left: its pitch point presses wheel two upward, and both are pushed apart
    R = st.reaction(mesh, on=two)
    close(R.force[0], [radial, 100.0])
    close(R.point[0], [0.1, 0.0])
    assert abs(R.couple[0]) < 1e-12
    close(st.reaction(mesh, on=one).force[0], [-radial, -100.0])
    close(st.reaction("b1", on=one).force[0], [radial, 100.0])
    close(st.reaction("b2", on=two).force[0], [-radial, -100.0])
    close(st.effort("hold"), [20.0])  # 100 N upward, 0.2 m to the left of its centre, turn it right
    st.check()
    m["mesh"].pressure_angle = 0.0
    close(pl.statics(m).reaction("b1", on=one).force[0], [0.0, 100.0], 1e-12, 100.0)


def test_rack_pushes_the_pinion_away():
    m = pl.Model("rack")
    pinion = m.add(pl.Body("pinion", 1.0, 0.01, r=(0, 0.05), phi=0.0))
    m.add(pl.Revolute("pin", m.ground.point(0, 0.05), pinion.point(0, 0)))
    rack = m.add(pl.Body("rack", 1.0, 0.01, r=(0, 0), phi=0.0))
    m.add(pl.Translational("guide", m.ground.axis((0, 0), (1, 0)), rack.axis((0, 0), (1, 0))))
    m.add(pl.RackPinion("teeth", rack.axis((0, 0), (1, 0)), pinion.point(0, 0), 0.05))
    m.add(pl.Torque("load", pinion, 5.0))
    m.add(pl.CoordinateDriver("hold", rack, "x", 0.0))
    st = pl.statics(m)
    # the pinion turning left drives the rack to the right with 100 N
    close(st.effort("hold"), [-100.0])
    R = st.reaction("teeth", on=pinion)
    close(R.force[0], [-100.0, 100 * math.tan(math.radians(20))])
    close(R.point[0], [0.0, 0.0], 1e-15, 1.0)
    close(st.reaction("guide", on=rack).force[0], [0.0, 100 * math.tan(math.radians(20))], 1e-12, 100)


@pytest.mark.parametrize("mesh", [False, True])
def test_planetary_torque_split(mesh):
    """T_sun : T_carrier : T_ring = 1 : -(1 + R/S) : R/S for any planet (sum zero, no power)."""
    S, P = 0.06, 0.04
    R = S + 2 * P
    m = pl.Model("planetary")
    for name in ("sun", "ring"):
        m.add(pl.Body(name, 1.0, 0.01, r=(0, 0), phi=0.0))
        m.add(pl.Revolute(f"pin {name}", m.ground.point(0, 0), m[name].point(0, 0)))
    arm = m.add(pl.Body.rod("arm", 0.5, S + P, r=((S + P) / 2, 0), phi=0.0))
    planet = m.add(pl.Body("planet", 0.2, 0.001, r=(S + P, 0), phi=0.0))
    m.add(pl.Revolute("O", m.ground.point(0, 0), arm["A"]))
    m.add(pl.Revolute("P", arm["B"], planet.point(0, 0)))
    c = {name: m[name].point(0, 0) for name in ("sun", "planet", "ring")}
    if mesh:
        m.add(pl.GearMesh("sp", c["sun"], c["planet"], S, P))
        m.add(pl.GearMesh("pr", c["planet"], c["ring"], P, R, internal=True))
    else:
        m.add(pl.Gear.external("sp", m["sun"], planet, S, P, carrier=arm))
        m.add(pl.Gear.internal("pr", planet, m["ring"], P, R, carrier=arm))
    m.add(pl.Torque("in", m["sun"], 3.0))
    m.add(pl.AngleDriver("hold arm", m.ground, arm, 0.0))
    m.add(pl.AngleDriver("hold ring", m.ground, m["ring"], 0.0))
    st = pl.statics(m)
    close(st.effort("hold ring"), [3.0 * R / S])
    close(st.effort("hold arm"), [-3.0 * (1 + R / S)])
    st.check()


def test_wedge_of_two_slides():
    """A wedge of angle a pushed by F lifts a block on the other guide: W = F / tan a, without friction."""
    a = 0.3
    m = pl.Model("wedge")
    wedge = m.add(pl.Body("wedge", r=(0, 0), phi=0.0))
    block = m.add(pl.Body("block", r=(0, 0.5), phi=0.0))
    m.add(pl.Translational("floor", m.ground.axis((0, 0), (1, 0)), wedge.axis((0, 0), (1, 0))))
    m.add(pl.Translational("wall", m.ground.axis((0, 0), (0, 1)), block.axis((0, 0), (0, 1))))
    face = wedge.axis((0, 0.5), (math.cos(a), 0.5 + math.sin(a)))
    m.add(pl.PinInSlot("face", face, block.point(0, 0)))
    m.add(pl.PointForce("push", wedge.point(0, 0), (-50.0, 0.0)))
    m.add(pl.CoordinateDriver("weight", block, "y", 0.5))
    st = pl.statics(m)
    close(st.effort("weight"), [-50.0 / math.tan(a)])
    normal = st.reaction("face", on=block)
    close(normal.magnitude, [50.0 / math.sin(a)])
    close(normal.force[0], [-50.0, 50.0 / math.tan(a)])


# --- redundant ---------------------------------------------------------------------------------------------------------


def test_parallelogram_with_three_cranks():
    """One redundancy: the three cranks can be stressed against each other along themselves.

    The platform stays parallel by any two cranks; loads along the cranks have three unknowns for two equations (force
    along the cranks and moment), across them each crank is determined by its own moment balance.
    """
    m = parallelogram(3, angle=math.pi / 2, speed=1.0)
    inv = pl.inverse_dynamics(m, [0.0])
    assert inv.indeterminate == ["A1", "B1", "A2", "B2", "A3", "B3"]
    for k in (1, 2, 3):
        R = inv.reaction(f"B{k}", on="platform")
        assert not R.unique and R.labels == {"x": "unique", "y": "indeterminate", "couple": "unique"}
        assert "INDETERMINATE in y" in repr(R)
    total = sum(inv.reaction(f"B{k}", on="platform").force[0] for k in (1, 2, 3))
    close(total, [3.0 * inv["platform"].a[0, 0], 3.0 * (G + inv["platform"].a[0, 1])], 1e-11, 3 * G)
    assert "indeterminate" in str(inv.summary()) and "indeterminate" in repr(inv)
    # the power of the motor is unique: weight and inertia through the common motion of platform and cranks
    want = sum(
        b.mass * ((inv[b].a[0] + [0, G]) @ inv[b].v[0]) + b.inertia * inv[b].alpha[0] * inv[b].omega[0]
        for b in m.bodies
    )
    close(inv.power("motor")[0], want, 1e-11, 3 * G)
    inv.check()


def test_door_on_hinges():
    """Hinges in one line along y.  Two: the shares along the line are indeterminate, those across are not.  Three: all."""

    def door(hinges):
        m = pl.Model("door", gravity=(0, -G))
        leaf = m.add(pl.Body("leaf", 20.0, 2.0, r=(0.4, 1.0), phi=0.0))
        for k, y in enumerate(hinges):
            m.add(pl.Revolute(f"h{k}", m.ground.point(0, y), leaf.point(-0.4, y - 1.0)))
        return pl.statics(m)

    two = door([0.2, 1.8])
    for k in range(2):
        assert two.reaction(f"h{k}", on="leaf").labels == {"x": "unique", "y": "indeterminate", "couple": "unique"}
    across = 20 * G * 0.4 / 1.6
    close(two.reaction("h0", on="leaf").force[0, 0], across)
    close(two.reaction("h1", on="leaf").force[0, 0], -across)
    close([two.reaction(f"h{k}", on="leaf").force[0, 1] for k in range(2)], [10 * G, 10 * G])  # smallest: equal shares
    three = door([0.2, 1.0, 1.8])
    assert all(three.reaction(f"h{k}", on="leaf").labels["x"] == "indeterminate" for k in range(3))
    close(sum(three.reaction(f"h{k}", on="leaf").force[0] for k in range(3)), [0, 20 * G], 1e-12, 20 * G)
    three.check()


# --- statics -----------------------------------------------------------------------------------------------------------


def test_statics_sweep_equals_single_poses():
    m = four_bar()
    k = pl.kinematics(m, np.linspace(0, 1, 12))
    sweep = pl.statics(m, k)
    assert sweep.lam.shape == (12, 9)
    one = pl.statics(m, k.q[5])
    close(one.lam[0], sweep.lam[5])
    named = pl.statics(m, [{b.name: k.q[5, 3 * i : 3 * i + 3] for i, b in enumerate(m.bodies)}])
    close(named.lam, one.lam)
    sweep.check()
    slow = four_bar(speed=1e-9)
    close(pl.inverse_dynamics(slow, 0.0).lam[0], pl.statics(slow).lam[0], 1e-9)


def test_statics_refuses_what_does_not_hold():
    with pytest.raises(pl.ModelError, match=r"(?s)does not hold: .* N on .*'crank' turns.*equilibrium"):
        pl.statics(four_bar(speed=None))
    m = four_bar(speed=None, gravity=(0, 0))
    assert not pl.statics(m).lam.any(), "nothing pulls, so it holds"


def test_statics_checks_its_poses():
    m = four_bar()
    q = pl.kinematics(m, 0.0).q[0]
    with pytest.raises(pl.AssemblyError, match=r"pose 0: '.*' is open by"):
        pl.statics(m, q + 0.01 * np.arange(9))
    with pytest.raises(pl.ModelError, match=r"shape \(n, 9\)"):
        pl.statics(m, q[:6])
    with pytest.raises(pl.ModelError, match="pose of 'coupler' is missing"):
        pl.statics(m, [{"crank": (0, 0, 0)}])
    with pytest.raises(pl.ModelError, match="another model"):
        pl.statics(m, pl.kinematics(quick_return(), 0.0))


# --- certificate, tables -------------------------------------------------------------------------------------------------


def test_certificate_catches_a_wrong_force():
    inv = pl.inverse_dynamics(four_bar(), np.linspace(0, 1, 20))
    certificate = inv.check()
    assert certificate.ok and {c.law for c in certificate.checks} == set(
        ("position", "velocity", "acceleration", "force", "moment", "power", "condition")
    )
    inv.lam[7, 4] += 1e-3
    with pytest.raises(pl.CheckError, match=r"(force|moment).*body '(coupler|rocker)', t = 0.368"):
        inv.check()
    assert "NOT TO BE TRUSTED" in str(inv.certificate)


@pytest.mark.parametrize("what, law", [("q", "position"), ("v", "velocity"), ("a", "acceleration")])
def test_certificate_catches_a_wrong_motion(what, law):
    inv = pl.inverse_dynamics(four_bar(), np.linspace(0, 1, 20))
    getattr(inv, what)[3, 4] += 1e-5
    with pytest.raises(pl.CheckError, match=law):
        inv.check()
    getattr(inv, what)[3, 4] = np.nan
    inv.__dict__.pop("equations", None)
    with pytest.raises(pl.CheckError):
        inv.check()


def test_tolerances_can_be_set_by_law():
    inv = pl.inverse_dynamics(four_bar(), [0.0])
    with pytest.raises(pl.CheckError, match="condition"):
        inv.check(condition=1.0)
    with pytest.raises(pl.ModelError, match="no law is named 'forces'"):
        inv.check(forces=1.0)


def test_summary_and_tables(tmp_path):
    m = four_bar()
    inv = pl.inverse_dynamics(m, np.linspace(0, 1, 101))
    row = inv.summary()["B"]
    R = inv.reaction("B", on=row.on)
    k = int(np.argmax(R.magnitude))
    assert row.peak == R.magnitude[k] and row.t == inv.t[k]
    assert abs(row.direction - math.atan2(*R.force[k, ::-1])) < 1e-15
    turned = (row.direction - inv["coupler"].phi[k] - row.directions["coupler"]) / (2 * math.pi)
    assert abs(turned - round(turned)) < 1e-12
    assert abs(row.rms - math.sqrt(np.mean(R.magnitude**2))) < 1e-12 * row.rms
    inv.to_csv(tmp_path / "x.csv")
    table = np.genfromtxt(tmp_path / "x.csv", delimiter=",", names=True, deletechars="", replace_space=" ")
    frame = inv.to_dataframe()
    assert len(frame) == 101 and next(iter(frame)) == "t [s]"
    assert (frame["motor effort [N m]"] == inv.effort("motor")).all()
    assert (frame["B on coupler Fx [N]"] == inv.reaction("B", on="coupler").force[:, 0]).all()
    assert len(table.dtype.names) == frame.shape[1]
    assert (table[table.dtype.names[1]] == inv.q[:, 0]).all(), "17 digits survive the file"


# --- what ground feels, and what a label belongs to -----------------------------------------------------------------------


def change_of_momentum(result):
    """(force (nt, 2), moment (nt,) about the origin) on ground: weight - d(momentum)/dt."""
    force, moment = np.zeros((len(result), 2)), np.zeros(len(result))
    for body in result.model.bodies:
        F, r = body.mass * (np.array(result.model.gravity) - result[body].a), result[body].r
        force += F
        moment += r[:, 0] * F[:, 1] - r[:, 1] * F[:, 0] - body.inertia * result[body].alpha
    return force, moment


def test_actuators_springs_and_user_constraints_push_ground_too():
    t = np.linspace(0, 0.6, 9)
    m = four_bar()
    actuated = pl.inverse_dynamics(m, t, actuate=["D"])
    m.add(pl.Spring("spring", m.ground.point(0.5, 0.5), m["coupler"]["C"], stiffness=100.0, length=0.1))
    m.add(pl.TorsionSpring("torsion", m["rocker"], m.ground, stiffness=5.0, angle=0.0))
    level = pl.Model("level", gravity=(0.0, -G))
    a, b = (level.add(pl.Body(name, 1.0, 1.0, r=(x, 0), phi=0)) for name, x in (("a", 0.0), ("b", 1.0)))
    level.add(pl.UserConstraint("level", [a, b], lambda t, a, b: a.y + b.y))  # of two bodies, held by ground
    level.add(pl.CoordinateDriver("y", a, "y", "0.1*sin(5*t)"))
    for body, x in ((a, 0.0), (b, 1.0)):
        level.add(pl.CoordinateDriver(f"x{body.name}", body, "x", x))
        level.add(pl.CoordinateDriver(f"phi{body.name}", body, "phi", 0.0))
    held = pl.inverse_dynamics(level, t)
    for result in (actuated, pl.inverse_dynamics(m, t), held):
        force, moment = result.shaking()
        want, turn = change_of_momentum(result)
        size = np.abs(result.lam).max()
        close(force, want, 1e-11, size)
        close(moment, turn, 1e-11, size)
    close(held.reaction("level", on="ground").force, -2 * held.reaction("level", on="a").force)


def test_labels_follow_the_frame_and_the_point():
    """A beam upright between two pins: what they share lies along the beam, global y, its own x."""
    m = pl.Model("beam", gravity=(0.0, -G))
    beam = m.add(pl.Body("beam", 2.0, 1.0, r=(0, 0), phi=math.pi / 2))
    m.add(pl.Revolute("L", m.ground.point(0, -1), beam.point(-1, 0)))
    m.add(pl.Revolute("R", m.ground.point(0, 1), beam.point(1, 0)))
    st = pl.statics(m)

    def shared(**kw):
        return [word for word, label in st.reaction("L", on=beam, **kw).labels.items() if label == "indeterminate"]

    assert shared() == ["y"] and shared(frame=beam) == ["x"]
    assert shared(at=m.ground.point(0, 7)) == ["y"]  # on the line of the shared force
    assert shared(at=m.ground.point(5, 0)) == ["y", "couple"]
    assert st.reaction("L", on="ground", at=m.ground.point(5, 0)).labels["couple"] == "indeterminate"


def test_nothing_has_power_at_rest():
    assert pl.statics(four_bar()).power("motor") == 0.0 != pl.inverse_dynamics(four_bar(), 0.0).power("motor")


def test_work_does_not_mind_a_time_that_comes_twice():
    t = np.linspace(0, 0.6, 61)
    work = pl.inverse_dynamics(four_bar(), t).energy.work
    twice = pl.inverse_dynamics(four_bar(), np.repeat(t, 2)).energy.work
    assert work.any()
    close(twice, np.repeat(work, 2))


def test_names_that_came_later_or_never():
    m = four_bar()
    inv = pl.inverse_dynamics(m, [0.0, 0.1])
    before = str(inv.summary())
    m.add(pl.Revolute("late", m["crank"].point(0, 0), m["rocker"].point(0, 0)))
    assert str(inv.summary()) == before
    with pytest.raises(pl.ModelError, match="nothing is named 'late'"):
        inv.reaction("late")
    with pytest.raises(pl.ModelError, match="nothing is named 'E'"):
        inv.summary("E")
    with pytest.raises(pl.ModelError, match="no row is named 'E'"):
        inv.summary()["E"]


def test_moments_about_what_moves_are_refused():
    m = four_bar()
    inv = pl.inverse_dynamics(m, [0.0, 0.1])
    assert np.array_equal(inv.shaking(m.ground.point(1, 2))[1], inv.shaking((1, 2))[1])
    with pytest.raises(pl.ModelError, match="which moves; give a ground point"):
        inv.shaking(m["crank"]["B"])
    with pytest.raises(pl.ModelError, match=r"about must be a ground point or \(x, y\)"):
        inv.shaking("A")
    with pytest.raises(pl.ModelError, match="tolerance of force must be a number"):
        inv.check(force="small")
    with pytest.raises(pl.ModelError, match=r"expected a pl\.Model, got None"):
        pl.statics(None)
