"""A crank-rocker at 60 rpm: what torque must the motor give, and what do the pins carry?

Prints the model, the motor torque and the reaction table; writes a picture of the mechanism with its coupler curve, the
table of all results and, where it is available, the report.
"""

from pathlib import Path

import numpy as np

import planar as pl

OUT = Path("out")


def build() -> pl.Model:
    m = pl.Model("four-bar", gravity=(0.0, -9.81))
    crank = m.add(pl.Body.rod("crank", mass=1.0, length=0.10, start="A", end="B", r=(0.05, 0.0), phi=0.0))
    coupler = m.add(pl.Body.rod("coupler", mass=2.0, length=0.30, start="B", end="C"))  # its pose is found
    coupler.points["P"] = (0.05, 0.12)  # a point beside the rod draws the coupler curve
    rocker = m.add(pl.Body.rod("rocker", mass=1.5, length=0.25, start="D", end="C"))
    m.add(pl.Revolute("A", m.ground.point(0, 0), crank["A"]))
    m.add(pl.Revolute("B", crank["B"], coupler["B"]))
    m.add(pl.Revolute("C", coupler["C"], rocker["C"]))
    m.add(pl.Revolute("D", m.ground.point(0.3, 0), rocker["D"]))
    m.add(pl.AngleDriver("motor", m.ground, crank, motion=pl.Ramp(rate=2 * np.pi)))
    return m


def main() -> pl.Result:
    m = build()
    print(m)
    print()
    print(m.assemble())

    inv = pl.inverse_dynamics(m, np.linspace(0, 1, 361))
    torque = inv.effort("motor")
    k = int(np.argmax(np.abs(torque)))
    print(
        f"\nmotor torque: from {torque.min():.3f} to {torque.max():.3f} N m, rms {np.sqrt(np.mean(torque**2)):.3f} N m;"
    )
    print(f"largest at t = {inv.t[k]:.3f} s, crank angle {np.degrees(inv['crank'].phi[k]):.0f} deg")
    print()
    print(inv.summary())
    print()
    print(inv.check())

    OUT.mkdir(exist_ok=True)
    inv.to_csv(OUT / "fourbar.csv")
    ax = pl.plot.mechanism(inv, t=0.1)  # at t = 0.1 s
    pl.plot.trace(inv, m["coupler"]["P"], m["coupler"]["C"], ax=ax, mechanism=False)
    ax.figure.savefig(OUT / "fourbar.png", dpi=150)
    pl.report(inv, OUT / "fourbar.html")
    print(f"\nwritten: {OUT / 'fourbar.csv'}, {OUT / 'fourbar.png'} and the report {OUT / 'fourbar.html'}")
    return inv


if __name__ == "__main__":
    main()
