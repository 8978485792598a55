"""Parallel mechanism of three elbow chains falling under gravity: platform motion and the six multipliers.

De Sapio, "Zeroth-order variational principles" (chapter 5), eqs. (5.119)-(5.149), Figs. 5.8-5.10.  Printed there: all
lengths, masses and the platform's inertia are 1, the links have no rotational inertia, the start (5.148) at rest,
Baumgarte stabilisation (5.96).  Not printed, but following from the start: bases at the corners of an equilateral
triangle of side 3.75 m, one at the origin, the platform at its centroid (0, 2.165), attachment points on a radius of
1.084 m.  Chosen: the 1.5 s of the run, gravity 9.81 m/s^2 and the gains alpha = 100 1/s^2, beta = 20 1/s, for which
the text gives no numbers.

Three runs: `pl.simulate` with projection, with Baumgarte stabilisation, and the nine coordinates of the text by hand,
(5.134)-(5.145), with the same gains.  Prints the platform's motion, the multipliers (forces on the ends of the
chains, as in the text) and differences.
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
G, SIDE, END = 9.81, 3.75, 1.5
BASES = SIDE * np.array([[0, 0], [0.5, np.sqrt(0.75)], [-0.5, np.sqrt(0.75)]])
START = np.array([*np.radians([45, 30, 165, 30, -75, 30]), 0.0, SIDE / np.sqrt(3), 0.0])  # (5.148)
ALPHA, BETA = 100.0, 20.0  # phi'' + beta phi' + alpha phi = 0 (5.96)


def unit(angle) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def tip(k: int, q) -> np.ndarray:
    """End r_l of chain k."""
    return BASES[k] + unit(q[2 * k]) + unit(q[2 * k] + q[2 * k + 1])


ATTACHED = np.array([tip(k, START) - START[6:8] for k in range(3)])  # from the platform's centre, at its angle 0


def build() -> pl.Model:
    m = pl.Model("three elbow chains", gravity=(0.0, -G))
    plate = m.add(pl.Body("platform", 1.0, 1.0, r=tuple(START[6:8]), phi=0.0))
    for k in range(3):
        first, second = np.cumsum(START[2 * k : 2 * k + 2])
        elbow = BASES[k] + unit(first)
        upper = m.add(
            pl.Body.rod(f"proximal{k + 1}", 1.0, 1.0, inertia=0.0, r=tuple(elbow - unit(first) / 2), phi=first)
        )
        lower = m.add(
            pl.Body.rod(f"distal{k + 1}", 1.0, 1.0, inertia=0.0, r=tuple(elbow + unit(second) / 2), phi=second)
        )
        m.add(pl.Revolute(f"base{k + 1}", m.ground.point(*BASES[k]), upper["A"]))
        m.add(pl.Revolute(f"elbow{k + 1}", upper["B"], lower["A"]))
        m.add(pl.Revolute(f"end{k + 1}", lower["B"], plate.point(*ATTACHED[k])))
    return m


def by_hand() -> GeneralizedSystem:
    """Elbow chains (5.134)-(5.136), platform (5.141)-(5.143), closures and their Jacobian (5.119)-(5.127); all constants 1."""

    def M(q):
        blocks = np.eye(9, dtype=q.dtype)
        for k in range(0, 6, 2):
            c = np.cos(q[k + 1])
            blocks[k : k + 2, k : k + 2] = np.array([[6 + 4 * c, 1 + 2 * c], [1 + 2 * c, 1 + 0 * c]]) / 4
        return blocks

    def b(q, qd):
        terms = np.zeros(9)
        for k in range(0, 6, 2):
            terms[k : k + 2] = np.sin(q[k + 1]) / 2 * np.array([-qd[k + 1] * (2 * qd[k] + qd[k + 1]), qd[k] ** 2])
        return terms

    def g(q):
        terms = np.zeros(9)
        for k in range(0, 6, 2):
            second = np.cos(q[k] + q[k + 1]) / 2
            terms[k : k + 2] = G * np.array([3 / 2 * np.cos(q[k]) + second, second])
        terms[7] = G
        return terms

    def arm(k, q):
        (x, y), (c, s) = ATTACHED[k], unit(q[8])
        return np.array([c * x - s * y, s * x + c * y])

    def phi(q):
        return np.concatenate([tip(k, q) - q[6:8] - arm(k, q) for k in range(3)])

    def Phi(q):
        rows = np.zeros((6, 9), q.dtype)
        for k in range(3):
            first, second = (np.array([-np.sin(a), np.cos(a)]) for a in np.cumsum(q[2 * k : 2 * k + 2]))
            x, y = arm(k, q)
            rows[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = np.column_stack([first + second, second])
            rows[2 * k : 2 * k + 2, 6:] = -np.array([[1, 0, -y], [0, 1, x]])
        return rows

    return GeneralizedSystem(M, g, b=b, phi=phi, Phi=Phi)


def text(system: GeneralizedSystem, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(q (nt, 9), lam (nt, 6)) by the stabilised equations (5.99), (5.100)."""

    def solve(y):
        return system.acceleration(y[:9], y[9:], alpha=ALPHA, beta=BETA)

    def rate(_, y):
        return np.concatenate([y[9:], solve(y)[0]])

    start = np.concatenate([START, np.zeros(9)])
    y = solve_ivp(rate, (t[0], t[-1]), start, method="DOP853", rtol=1e-9, atol=1e-10, t_eval=t).y.T
    return y[:, :9], np.array([solve(row)[1] for row in y])


def multipliers(run: pl.Result) -> np.ndarray:
    """(nt, 6): forces on the ends of the chains, x and y of each."""
    return np.hstack([run.reaction(f"end{k}", on=f"distal{k}").force for k in (1, 2, 3)])


def main() -> SimpleNamespace:
    m, t = build(), np.linspace(0, END, 151)
    projected = pl.simulate(m, (0, END), rtol=1e-10, atol=1e-11, t_eval=t)
    gains = (BETA / 2, np.sqrt(ALPHA))  # planar writes 2 alpha and beta^2
    stabilised = pl.simulate(m, (0, END), method="baumgarte", gains=gains, rtol=1e-10, atol=1e-11, t_eval=t)
    q, lam = text(by_hand(), t)

    plate, forces = projected["platform"], multipliers(projected)
    print(
        f"{'t in s':>8}{'x in m':>10}{'y in m':>10}{'θ in rad':>10}"
        + "".join(f"{f'λ{k + 1} in N':>11}" for k in range(6))
    )
    for k in range(0, len(t), 15):
        x, y = plate.r[k]
        print(f"{t[k]:8.2f}{x:10.5f}{y:10.5f}{plate.phi[k]:10.5f}" + "".join(f"{f:11.4f}" for f in forces[k]))
    apart = {
        "Baumgarte against projection": np.abs(stabilised.q - projected.q).max(),
        "text against projection, platform": np.abs(np.column_stack([plate.r, plate.phi]) - q[:, 6:]).max(),
        "text against projection, multipliers over the largest": np.abs(lam - forces).max() / np.abs(forces).max(),
    }
    print()
    for what, difference in apart.items():
        print(f"{what:54}{difference:.1e}")
    opened = {run_.options.method: np.abs(run_.equations.Phi).max() for run_ in (projected, stabilised)}
    drift = np.abs(projected.energy.drift).max()
    print("joints open by " + ", ".join(f"{x:.1e} m ({method})" for method, x in opened.items()))
    print(f"energy kept to {drift:.1e} J while {np.ptp(projected.energy.kinetic):.1f} J go to and fro")
    verdict = pl.verify(projected)
    print(f"three independent formulations: largest difference {verdict.worst:.1e}")

    OUT.mkdir(exist_ok=True)
    picture(projected, q, lam).savefig(OUT / "elbow_platform.png", dpi=100)
    print(f"\nwritten: {OUT / 'elbow_platform.png'}")
    return SimpleNamespace(
        run=projected, stabilised=stabilised, q=q, lam=lam, forces=forces, apart=apart, opened=opened, drift=drift,
        verdict=verdict,
    )  # fmt: skip


def picture(run: pl.Result, q: np.ndarray, lam: np.ndarray):
    """The mechanism at the start with the path of its platform, and the curves of Figs. 5.9 and 5.10."""
    fig = canvas.figure(11.0, 5.6)
    grid = fig.add_gridspec(2, 2, width_ratios=(1, 1.1))
    ax = fig.add_subplot(grid[:, 0])
    pl.plot.mechanism(run, t=0.0, ax=ax, labels=False)
    pl.plot.trace(run, run.model["platform"], ax=ax, mechanism=False)
    ax = fig.add_subplot(grid[0, 1])
    plate, forces = run["platform"], multipliers(run)
    for k, (values, label) in enumerate(
        ((plate.r[:, 0], "x in m"), (plate.r[:, 1], "y in m"), (plate.phi, "θ in rad"))
    ):
        ax.plot(run.t, values, color=LINES[k][0], linestyle=LINES[k][1], label=label)
        name = "nine coordinates of the text" if k == 2 else None
        ax.plot(run.t[::8], q[::8, 6 + k], "o", color=INK, markersize=3, mfc="none", label=name)
    canvas.tidy(ax, "", "platform")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    ax = fig.add_subplot(grid[1, 1], sharex=ax)
    for k, (color, dash) in enumerate(LINES):
        ax.plot(run.t, forces[:, k], color=color, linestyle=dash, linewidth=1.3, label=f"λ{k + 1}")
    canvas.tidy(ax, "t in s", "multipliers in N")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=6)
    canvas.settle(fig.axes[0])  # equal scales: laid out once ahead, so that no title is cut
    return fig


if __name__ == "__main__":
    main()
