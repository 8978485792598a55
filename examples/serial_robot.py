"""Serial robot of four links let go from an almost horizontal start: centroidal against minimal coordinates.

De Sapio, "Zeroth-order variational principles" (chapter 5), eqs. (5.61)-(5.76), Figs. 5.2, 5.3.  Printed there:
lengths, radii, masses, rotational inertias M r^2/4 + M l^2/12, the start q_i = -pi/24 at rest, and Algorithm 3 for
the integration.  Chosen: the 3 s of the run (no time is printed) and gravity 9.81 m/s^2.

`pl.simulate` moves 12 centroidal coordinates under 8 pin equations; by hand, M(q), b(q, qd) and g(q) of (5.72)-(5.74)
move the four joint angles.  Prints the angles, the differences, the energy, and what Algorithm 3 of the text makes of
the same motion: its steps are of second order in q, but qd is advanced by Euler's rule, so halving the step halves
the error.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.integrate import solve_ivp

import planar as pl
from planar.plot import canvas
from planar.plot.style import INK, LINES
from planar.verify import GeneralizedSystem

OUT = Path("out")
G = 9.81
RADIUS = np.array([0.15, 0.125, 0.1, 0.0875])  # m
LENGTH = np.array([0.7, 0.6, 0.5, 0.4])  # m
MASS = np.array([2.5, 1.5, 1.0, 0.75])  # kg
INERTIA = MASS * (RADIUS**2 / 4 + LENGTH**2 / 12)  # (5.75)
START = np.full(4, -np.pi / 24)
END = 3.0  # s


def build() -> pl.Model:
    m = pl.Model("serial robot", gravity=(0.0, -G))
    before, corner = m.ground.point(0, 0), np.zeros(2)
    for k, angle in enumerate(np.cumsum(START)):
        along = LENGTH[k] * np.array([np.cos(angle), np.sin(angle)])
        centre, name = tuple(corner + along / 2), f"link{k + 1}"
        link = m.add(pl.Body.rod(name, MASS[k], LENGTH[k], inertia=INERTIA[k], r=centre, phi=angle))
        m.add(pl.Revolute(f"q{k + 1}", before, link["A"]))
        before, corner = link["B"], corner + along
    return m


def by_hand() -> GeneralizedSystem:
    """(5.61)-(5.74): each centre is a sum of arms, arm k = LENGTH[k] or half of it along the angle q_1 + ... + q_k."""
    reach = np.tril(np.tile(LENGTH, (4, 1)), -1) + np.diag(LENGTH / 2)  # (link, arm)
    summed = np.tril(np.ones((4, 4)))  # angles from ground, summed @ q; also Pi of (5.71)

    def jacobians(q):
        """Gamma of all centres (4, 2, 4)."""
        a = summed @ q
        across = np.array([-np.sin(a), np.cos(a)])
        return np.einsum("ik,xk,kj->ixj", reach, across, summed)

    def M(q):
        J = jacobians(q)
        return np.einsum("i,ixj,ixk->jk", MASS, J, J) + (summed.T * INERTIA) @ summed

    def b(q, qd):
        a, w = summed @ q, summed @ qd
        bent = np.einsum("ik,xk,k->ix", reach, -np.array([np.cos(a), np.sin(a)]), w**2)  # Gamma' qd
        return np.einsum("i,ixj,ix->j", MASS, jacobians(q), bent)

    def g(q):
        return G * np.einsum("i,ij->j", MASS, jacobians(q)[:, 1])

    def V(q):
        return G * MASS @ reach @ np.sin(summed @ q)

    return GeneralizedSystem(M, g, V=V, b=b)


def minimal(system: GeneralizedSystem, t: np.ndarray) -> np.ndarray:
    """Joint angles (nt, 4)."""

    def rate(_, y):
        return np.concatenate([y[4:], system.acceleration(y[:4], y[4:])[0]])

    start = np.concatenate([START, np.zeros(4)])
    return solve_ivp(rate, (t[0], t[-1]), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=t).y[:4].T


def algorithm_3(system: GeneralizedSystem, end: float, steps: int) -> np.ndarray:
    """Joint angles at the end by the method of the text."""
    q, qd, h = START.copy(), np.zeros(4), end / steps
    for _ in range(steps):
        qdd = np.linalg.solve(system.M(q), -system.coriolis(q, qd) - system.gravity(q))
        q, qd = q + qd * h + qdd * h**2 / 2, qd + qdd * h
    return q


def main() -> SimpleNamespace:
    m, t = build(), np.linspace(0, END, 151)
    run = pl.simulate(m, (0, END), rtol=1e-11, atol=1e-12, t_eval=t)
    angles = np.diff([run[b].phi for b in m.bodies], axis=0, prepend=0.0).T
    system = by_hand()
    apart = np.abs(angles - minimal(system, t)).max(axis=1)
    print(f"{'t in s':>8}" + "".join(f"{f'q{k + 1} in rad':>13}" for k in range(4)))
    for k in range(0, len(t), 15):
        print(f"{t[k]:8.2f}" + "".join(f"{x:13.6f}" for x in angles[k]))
    drift = np.abs(run.energy.drift).max()
    print(f"\ncentroidal against minimal coordinates: {apart.max():.1e} rad over {END:g} s")
    print(f"energy kept to {drift:.1e} J while {np.ptp(run.energy.kinetic):.2f} J go to and fro")

    half = len(t) // 3  # 1 s, before errors grow
    errors = {steps: np.abs(algorithm_3(system, t[half], steps) - angles[half]).max() for steps in (1000, 2000, 4000)}
    print(f"Algorithm 3 at t = {t[half]:g} s: " + ", ".join(f"{n} steps {e:.1e} rad" for n, e in errors.items()))
    verdict = pl.verify(run)
    print(f"three independent formulations: largest difference {verdict.worst:.1e}")

    OUT.mkdir(exist_ok=True)
    picture(run, angles).savefig(OUT / "serial_robot.png", dpi=100)
    print(f"\nwritten: {OUT / 'serial_robot.png'}")
    return SimpleNamespace(run=run, angles=angles, apart=apart, drift=drift, errors=errors, verdict=verdict)


def picture(run: pl.Result, angles: np.ndarray):
    """Instants and joint angles as in Fig. 5.3, and the energies."""
    fig = canvas.figure(11.0, 5.4)
    grid = fig.add_gridspec(2, 2, width_ratios=(1.15, 1))
    ax = fig.add_subplot(grid[:, 0])
    tip = run.point(run.model["link4"]["B"]).r
    for when in (0.0, 0.3, 0.5, 0.7, 0.9, 1.2):
        pl.plot.mechanism(run, t=when, ax=ax, labels=False, title="")
        x, y = tip[np.searchsorted(run.t, when - 1e-9)]
        ax.annotate(f"{when:g} s", (x, y), (0.1 * x, -14), textcoords="offset points", fontsize="small", color=INK)
    ax.set_title("the first swing", loc="left", fontsize="medium")
    ax = fig.add_subplot(grid[0, 1])
    for k in range(4):
        ax.plot(run.t, angles[:, k], color=LINES[k][0], linestyle=LINES[k][1], label=f"q{k + 1}")
    canvas.tidy(ax, "", "joint angle in rad")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    ax = fig.add_subplot(grid[1, 1], sharex=ax)
    E = run.energy
    for k, (values, label) in enumerate(((E.kinetic, "kinetic"), (E.potential, "potential"))):
        ax.plot(run.t, values, color=LINES[k][0], linestyle=LINES[k][1], label=label)
    ax.plot(run.t, E.total, color=INK, label="total")
    canvas.tidy(ax, "t in s", "energy in J")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    canvas.settle(fig.axes[0])  # equal scales: laid out once ahead, so that no title is cut
    return fig


if __name__ == "__main__":
    main()
