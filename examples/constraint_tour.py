"""A tour of the constraint library: what every joint does to its bodies, in five small mechanisms.

After the notes "Two-Dimensional Inverse Dynamics" (Haug's way): centroidal coordinates, Phi_q^T lambda, and for each
constraint the force and couple on the bodies i, j (and k).  Printed there: the equations and the reaction maps.
Chosen: all dimensions, masses and motions.  One map of the notes is wrong: a pin in a slot has no couple about the
pin (see `quick_return`).

Prints every reaction of the four-bar moving and at rest, then one line per mechanism: what the notes' map gives from
the multipliers and how far `Result.reaction` is from it, and closed forms where there are some.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

import planar as pl
from planar.plot import canvas
from planar.plot.style import LINES

OUT = Path("out")
G = 9.81


def four_bar(coupler_mass: float = 2.0) -> pl.Model:
    """Three bodies on four pins, the crank driven."""
    m = pl.Model("four-bar", gravity=(0.0, -G))
    crank = m.add(pl.Body.rod("crank", 1.0, 0.10, start="A", end="B", r=(0.025, 0.0433), phi=np.pi / 3))
    coupler = m.add(pl.Body.rod("coupler", coupler_mass, 0.30, start="B", end="C"))
    rocker = m.add(pl.Body.rod("rocker", 1.5, 0.25, start="D", end="C"))
    m.add(pl.Revolute("A", m.ground.point(0, 0), crank["A"]))
    m.add(pl.Revolute("B", crank["B"], coupler["B"]))
    m.add(pl.Revolute("C", coupler["C"], rocker["C"]))
    m.add(pl.Revolute("D", m.ground.point(0.3, 0), rocker["D"]))
    m.add(pl.AngleDriver("motor", m.ground, crank, pl.Ramp(rate=2 * np.pi, start=np.pi / 3)))
    return m


def rod_four_bar() -> pl.Model:
    """The same without the coupler: a double revolute of its length between the tips of crank and rocker."""
    m = pl.Model("four-bar with a rod", gravity=(0.0, -G))
    crank = m.add(pl.Body.rod("crank", 1.0, 0.10, start="A", end="B", r=(0.025, 0.0433), phi=np.pi / 3))
    rocker = m.add(pl.Body.rod("rocker", 1.5, 0.25, start="D", end="C", r=(0.3, 0.125), phi=np.pi / 2))
    m.add(pl.Revolute("A", m.ground.point(0, 0), crank["A"]))
    m.add(pl.Distance("rod", crank["B"], rocker["C"], length=0.30))
    m.add(pl.Revolute("D", m.ground.point(0.3, 0), rocker["D"]))
    m.add(pl.AngleDriver("motor", m.ground, crank, pl.Ramp(rate=2 * np.pi, start=np.pi / 3)))
    return m


def quick_return() -> pl.Model:
    """A crank whose pin B runs in the slot of an arm."""
    m = pl.Model("quick-return", gravity=(0.0, -G))
    crank = m.add(pl.Body.rod("crank", 1.0, 0.10, start="A", end="B", r=(0.0433, 0.225), phi=-np.pi / 6))
    arm = m.add(pl.Body.rod("arm", 3.0, 0.50, start="O", end="E", r=(0.1, 0.23), phi=1.2))
    m.add(pl.Revolute("A", m.ground.point(0, 0.25), crank["A"]))
    m.add(pl.Revolute("O", m.ground.point(0, 0), arm["O"]))
    m.add(pl.PinInSlot("slot", arm.axis("O", "E"), crank["B"]))
    m.add(pl.AngleDriver("motor", m.ground, crank, pl.Ramp(rate=2 * np.pi, start=-np.pi / 6)))
    return m


def gear_pair(radius_i: float = 0.05, radius_j: float = 0.10) -> pl.Model:
    """A motor speeds up a pinion, which drives a wheel against a brake of 5 N m; shafts only, no tooth forces."""
    m = pl.Model("gear pair")
    pinion = m.add(pl.Body("pinion", 0.5, 0.5 * 0.5 * radius_i**2, r=(0, 0), phi=0.0))
    wheel = m.add(pl.Body("wheel", 2.0, 0.5 * 2.0 * radius_j**2, r=(radius_i + radius_j, 0), phi=0.0))
    m.add(pl.Revolute("P", m.ground.point(0, 0), pinion.point(0, 0)))
    m.add(pl.Revolute("W", m.ground.point(radius_i + radius_j, 0), wheel.point(0, 0)))
    m.add(pl.Gear.external("gear", pinion, wheel, radius_i, radius_j))
    m.add(pl.Torque("brake", wheel, 5.0))
    m.add(pl.AngleDriver("motor", m.ground, pinion, pl.Polynomial([0, 0, 10.0])))  # 20 rad/s^2
    return m


def planetary(sun_radius: float = 0.06, planet_radius: float = 0.04) -> pl.Model:
    """A gear pair on a rotating arm: sun and arm have motors of their own, the planet is braked by 1 N m."""
    m, reach = pl.Model("planetary gear"), sun_radius + planet_radius
    tip = reach * np.array([np.cos(0.6), np.sin(0.6)])
    sun = m.add(pl.Body("sun", 1.0, 0.5 * sun_radius**2, r=(0, 0), phi=0.0))
    arm = m.add(pl.Body.rod("arm", 0.6, reach, start="O", end="P", r=tuple(tip / 2), phi=0.6))
    planet = m.add(pl.Body("planet", 0.4, 0.2 * planet_radius**2, r=tuple(tip), phi=0.0))
    m.add(pl.Revolute("S", m.ground.point(0, 0), sun.point(0, 0)))
    m.add(pl.Revolute("O", m.ground.point(0, 0), arm["O"]))
    m.add(pl.Revolute("P", arm["P"], planet.point(0, 0)))
    m.add(pl.Gear.external("gear", sun, planet, sun_radius, planet_radius, carrier=arm))
    m.add(pl.Torque("brake", planet, 1.0))
    m.add(pl.AngleDriver("sun motor", m.ground, sun, pl.Polynomial([0, 2.0, 5.0])))
    m.add(pl.AngleDriver("arm motor", m.ground, arm, pl.Polynomial([0.6, 1.0, 2.0])))
    return m


def notes_map(inv: pl.Result, joint) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """{body: (force, couple)} from the multipliers by the maps of the notes, the slot's corrected."""
    lam, none = inv.lam[:, inv.system.rows_of[joint.name]], np.zeros((len(inv), 2))
    i, j = joint.bodies[0].name, joint.bodies[1].name
    if isinstance(joint, pl.Revolute):
        return {i: (lam, none[:, 0]), j: (-lam, none[:, 0])}
    if isinstance(joint, pl.Distance):  # the row here is that of the notes over 2 L
        d = inv.point(joint.point_j).r - inv.point(joint.point_i).r
        return {i: (2 * d * lam / (2 * joint.length), none[:, 0]), j: (-2 * d * lam / (2 * joint.length), none[:, 0])}
    if isinstance(joint, pl.PinInSlot):  # the row here is that of the notes over |a_i|; at the pin, so no couple
        start, end = (inv.point(joint.axis_i.body.point(*s)).r for s in (joint.axis_i.start, joint.axis_i.end))
        u = (end - start) / joint.axis_i.length
        n = np.column_stack([-u[:, 1], u[:, 0]])
        return {i: (n * lam, none[:, 0]), j: (-n * lam, none[:, 0])}
    if isinstance(joint, pl.Gear):
        found = {i: (none, joint.ratio * lam[:, 0]), j: (none, -lam[:, 0])}
        return found | ({joint.carrier.name: (none, (1 - joint.ratio) * lam[:, 0])} if joint.carrier else {})
    return {i: (none, lam[:, 0]), j: (none, -lam[:, 0])}  # a relative angle driver


def compare(inv: pl.Result) -> float:
    """Largest difference between the notes' maps and what is reported, over all constraints, in N and N m."""
    largest = 0.0
    for c in inv.model.constraints:
        for body, (force, couple) in notes_map(inv, c).items():
            R = inv.reaction(c, on=body)
            largest = max(largest, np.abs(R.force - force).max(), np.abs(R.couple - couple).max())
    return largest


def holding_torque(kin: pl.Result) -> np.ndarray:
    """Statics by virtual work alone: the torque on the crank that balances the weights, from the velocities of a motion."""
    lifted = sum(b.mass * G * kin[b].v[:, 1] for b in kin.model.bodies)
    return lifted / kin["crank"].omega


def main() -> SimpleNamespace:
    t = np.linspace(0, 1, 201)
    models = {"four-bar": four_bar(), "rod": rod_four_bar(), "slot": quick_return()}
    models |= {"gears": gear_pair(), "planet": planetary()}
    runs = {name: pl.inverse_dynamics(m, t) for name, m in models.items()}

    moving, rest = runs["four-bar"], pl.statics(models["four-bar"], runs["four-bar"])
    print("four-bar, moving at 60 rpm\n", moving.summary(), sep="")
    print("\nfour-bar, at rest in the same positions\n", rest.summary(), sep="")
    holding = holding_torque(pl.kinematics(models["four-bar"], t))
    held = np.abs(rest.effort("motor") - holding).max()
    print(f"holding torque {holding.min():.4f} .. {holding.max():.4f} N m; virtual work differs by {held:.1e} N m\n")

    print(f"{'mechanism':22}{'constraints':52}{'largest difference to the notes':>33}")
    differences = {name: compare(run) for name, run in runs.items()}
    for name, run in runs.items():
        kinds = ", ".join(dict.fromkeys(type(c).__name__ for c in run.model.constraints))
        print(f"{run.model.name:22}{kinds:52}{differences[name]:33.1e}")
    checks = closed_forms(runs)
    print()
    for what, difference in checks.items():
        print(f"{what:77}{difference:.1e}")
    verdicts = {name: pl.verify(run) for name, run in runs.items()}
    worst = max(v.worst for v in verdicts.values())
    print(f"{'three independent formulations, all five mechanisms: largest difference':77}{worst:.1e}")

    OUT.mkdir(exist_ok=True)
    picture(runs, rest).savefig(OUT / "constraint_tour.png", dpi=100)
    print(f"\nwritten: {OUT / 'constraint_tour.png'}")
    return SimpleNamespace(
        runs=runs, rest=rest, held=held, differences=differences, checks=checks, verdicts=verdicts, holding=holding
    )


def closed_forms(runs: dict[str, pl.Result]) -> dict[str, float]:
    """{sentence: largest difference in N or N m} for what can be said by hand."""
    found, t = {}, runs["gears"].t

    light = pl.inverse_dynamics(four_bar(coupler_mass=0.0), t)
    rod, pin = runs["rod"].reaction("rod", on="rocker").force, light.reaction("C", on="rocker").force
    found["the rod pulls at the rocker as a coupler without mass does, N"] = np.abs(rod - pin).max()

    slot, arm = runs["slot"], runs["slot"].model["arm"]
    moved = slot.reaction("slot", on=arm, at=arm["O"]).couple
    d = slot.point(slot.model["crank"]["B"]).r  # from O, the origin
    by_hand = np.hypot(*d.T) * slot.lam[:, slot.system.rows_of["slot"]][:, 0]
    found["pin in slot, moved to the pivot of the arm: couple (u . d) lambda, N m"] = np.abs(moved - by_hand).max()

    # pinion and wheel: M = (J_i + K^2 J_j) alpha - K T
    gears = runs["gears"]
    K, (pinion, wheel) = gears.model["gear"].ratio, gears.model.bodies
    torque = (pinion.inertia + K**2 * wheel.inertia) * 20.0 - K * 5.0
    found["gear pair: motor torque (J_i + K^2 J_j) alpha - K T, N m"] = np.abs(gears.effort("motor") - torque).max()

    # planet: lambda from its own balance, then the couples K lambda on the sun and (1 - K) lambda on the arm
    run = runs["planet"]
    K, (sun, arm, planet) = run.model["gear"].ratio, run.model.bodies
    alpha_s, alpha_a = 10.0, 4.0
    lam = 1.0 - planet.inertia * (alpha_a + K * (alpha_s - alpha_a))
    reach = np.hypot(*planet.r)
    carried = arm.inertia + arm.mass * reach**2 / 4 + planet.mass * reach**2
    efforts = {"sun motor": sun.inertia * alpha_s - K * lam, "arm motor": carried * alpha_a - (1 - K) * lam}
    off = [np.abs(run.effort(name) - value).max() for name, value in efforts.items()]
    found["planetary gear: both motor torques by hand, N m"] = max(off)
    return found


def picture(runs: dict[str, pl.Result], rest: pl.Result):
    """The five mechanisms with reaction arrows, and the curve that the slot is about."""
    fig = canvas.figure(12.0, 7.2)
    axes = fig.subplots(2, 3).ravel()
    pl.plot.mechanism(rest, t=0.1, ax=axes[0], reactions=True, title="four-bar at rest")
    pl.plot.mechanism(runs["rod"], t=0.85, ax=axes[1], reactions=True, title="double revolute")
    pl.plot.mechanism(runs["slot"], t=0.93, ax=axes[2], reactions=True, title="pin in slot")
    axes[2].set_title("", loc="right")  # the axes are narrow
    pl.plot.mechanism(runs["gears"], t=0.0, ax=axes[3], title="gear pair")
    pl.plot.mechanism(runs["planet"], t=0.0, ax=axes[4], title="gear pair on a rotating arm")
    slot, arm = runs["slot"], runs["slot"].model["arm"]
    ax = axes[5]
    for k, (at, name) in enumerate(((None, "about the pin"), (arm["O"], "about the pivot O"))):
        couple = slot.reaction("slot", on=arm, at=at).couple
        ax.plot(slot.t, couple, color=LINES[k][0], linestyle=LINES[k][1], label=name)
    canvas.tidy(ax, "t in s", "N m")
    ax.set_title("couple of the slot's force on the arm", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    canvas.settle(fig.axes[0])  # equal scales: laid out once ahead, so that no title is cut
    return fig


if __name__ == "__main__":
    main()
