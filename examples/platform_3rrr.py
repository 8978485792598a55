"""Planar 3-RRR platform let go: centroidal coordinates against point coordinates.

Attia, "Dynamic modelling of planar mechanisms using point coordinates" (2003), section 4.  Printed there: the
topology (a platform on three legs of two links, all joints revolute), start from rest under gravity and a force of 10
N along x at the centre of the platform, and the sizes of both systems of equations (21 + 18 = 39 against 16 + 4 = 20
unknowns).  Chosen: geometry, masses and the time of the run, which are not printed: bases on a circle of 1 m,
platform of radius 0.25 m and 3 kg, links of 0.5 m and 1 kg.

The same motion is computed twice: by `pl.simulate`, and with accelerations from the momentum equations of the
equivalent particles (`planar.verify.points`), which know no angles and no pin forces.  Prints the platform's way and
the differences.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.integrate import solve_ivp

import planar as pl
from planar.plot import canvas
from planar.plot.style import INK, LINES
from planar.verify import points

OUT = Path("out")
BASE, TOP, LINK = 1.0, 0.25, 0.5  # m
END = 0.8  # s


def build() -> pl.Model:
    m = pl.Model("3-RRR platform", gravity=(0.0, -9.81))
    plate = m.add(pl.Body("platform", 3.0, 3.0 * TOP**2 / 2, r=(0.0, 0.0), phi=0.0))
    for k, angle in enumerate(np.radians([-150, -30, 90]), 1):
        out = np.array([np.cos(angle), np.sin(angle)])
        across = np.array([-out[1], out[0]])
        base, tip = BASE * out, TOP * out
        half = (BASE - TOP) / 2
        elbow = (base + tip) / 2 + np.sqrt(LINK**2 - half**2) * across
        for name, start, end in ((f"lower{k}", base, elbow), (f"upper{k}", elbow, tip)):
            along = end - start
            r, phi = tuple((start + end) / 2), np.arctan2(along[1], along[0])
            m.add(pl.Body.rod(name, 1.0, LINK, r=r, phi=phi))
        m.add(pl.Revolute(f"A{k}", m.ground.point(*base), m[f"lower{k}"]["A"]))
        m.add(pl.Revolute(f"B{k}", m[f"lower{k}"]["B"], m[f"upper{k}"]["A"]))
        m.add(pl.Revolute(f"C{k}", m[f"upper{k}"]["B"], plate.point(*tip)))
    m.add(pl.PointForce("push", plate.point(0, 0), (10.0, 0.0)))
    return m


def by_points(m: pl.Model, t: np.ndarray) -> tuple[np.ndarray, int]:
    """(poses (nt, 3 nb), unknowns): the motion from accelerations in point coordinates, integrated as they come."""
    start = m.assemble()
    n = start.q.size

    def rate(s, y):
        return np.concatenate([y[n:], points.solve(m, s, y[:n], y[n:]).acceleration.ravel()])

    y0 = np.concatenate([start.q, start.v])
    y = solve_ivp(rate, (t[0], t[-1]), y0, method="DOP853", rtol=1e-9, atol=1e-10, t_eval=t).y
    return y[:n].T, points.solve(m, 0.0, start.q, start.v).unknowns


def main() -> SimpleNamespace:
    m, t = build(), np.linspace(0, END, 81)
    run = pl.simulate(m, (0, END), rtol=1e-10, atol=1e-12, t_eval=t)
    plate = run["platform"]
    print(f"{'t in s':>8}{'x in m':>12}{'y in m':>12}{'phi in rad':>12}")
    for k in range(0, len(t), 10):
        print(f"{t[k]:8.2f}{plate.r[k, 0]:12.6f}{plate.r[k, 1]:12.6f}{plate.phi[k]:12.6f}")

    poses, unknowns = by_points(m, t)
    system = pl.compile(m)
    apart = np.abs(run.q - poses).max(axis=1)
    verdict = pl.verify(run)
    drift = np.abs(run.energy.drift).max()
    print(
        f"\nunknowns: {system.nq} + {system.nc} = {system.nq + system.nc} centroidal, {unknowns} in point coordinates"
    )
    print(f"largest difference of any coordinate over the motion: {apart.max():.1e} m or rad")
    print(f"energy balance kept to {drift:.1e} J of {np.ptp(run.energy.kinetic):.2f} J\n")
    print(verdict)

    OUT.mkdir(exist_ok=True)
    picture(run, poses, apart).savefig(OUT / "platform_3rrr.png", dpi=100)
    print(f"\nwritten: {OUT / 'platform_3rrr.png'}")
    return SimpleNamespace(
        run=run, poses=poses, apart=apart, verdict=verdict, drift=drift,
        sizes=(system.nq, system.nc, unknowns),
    )  # fmt: skip


def picture(run: pl.Result, poses: np.ndarray, apart: np.ndarray):
    """The platform at the start with the trajectory of its centre (Fig. 5), its coordinates, and the difference."""
    fig = canvas.figure(11.0, 5.6)
    grid = fig.add_gridspec(2, 2, width_ratios=(1.1, 1))
    ax = fig.add_subplot(grid[:, 0])
    pl.plot.mechanism(run, t=0.0, ax=ax, labels=False)
    pl.plot.trace(run, run.model["platform"], ax=ax, mechanism=False)
    ax = fig.add_subplot(grid[0, 1])
    plate = run["platform"]
    for k, (values, label) in enumerate(
        ((plate.r[:, 0], "x in m"), (plate.r[:, 1], "y in m"), (plate.phi, "φ in rad"))
    ):
        ax.plot(run.t, values, color=LINES[k][0], linestyle=LINES[k][1], label=label)
        name = "by points" if k == 2 else None
        ax.plot(run.t[::5], poses[::5, k], "o", color=INK, markersize=3, mfc="none", label=name)
    canvas.tidy(ax, "", "platform")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    ax = fig.add_subplot(grid[1, 1], sharex=ax)
    ax.semilogy(run.t[1:], np.maximum(apart[1:], 1e-17), color=INK)
    canvas.tidy(ax, "t in s", "largest difference, m or rad")
    canvas.settle(fig.axes[0])  # equal scales: laid out once ahead, so that no title is cut
    return fig


if __name__ == "__main__":
    main()
