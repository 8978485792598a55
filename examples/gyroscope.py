"""Gimballed gyroscope: precession, and the quantities that must stay constant.

De Sapio, "Zeroth-order variational principles" (chapter 5), eqs. (5.219)-(5.256), Figs. 5.11-5.13.  Printed there:
all lengths, masses and inertia tensors, the start (5.252), (5.253) and the potential energy (5.255).  Chosen: the 12
s of the run (no time is printed) and a second run with the rotor spun 40 times faster, which shows the nodding
precession of a fast gyroscope.

The gyroscope is spatial, so it is no `planar.Model`: M(q) and V(q) are given by hand to a
`planar.verify.GeneralizedSystem`, which finds b(q, qd) and g(q).  Prints what is conserved: energy and the two
momenta of q1 and q3, which turn freely.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.integrate import solve_ivp

from planar.plot import canvas
from planar.plot.style import INK, LINES
from planar.verify import GeneralizedSystem

OUT = Path("out")
G = 9.81
M1 = M2 = M3 = 1.0  # kg: fork, gimbal frame, rotor
L_G1 = L_G2 = 1.0  # m
L3, R, H = 3.0, 1.0, 1.0  # m
I1 = M1 * np.diag([1 / 3, 1 / 3, 1 / 2])  # (5.246)
I2 = M2 * np.diag([0.125, 3.0625, 3.083])  # (5.247)
I3 = M3 * np.diag([R**2 / 2, H**2 / 12 + R**2 / 4, H**2 / 12 + R**2 / 4])  # (5.248)
START = np.array([0.0, -np.pi / 6, 0.0])
SPIN = 2 * np.pi / 8  # rad/s


def build() -> GeneralizedSystem:
    """Mass matrix (5.243) from the Jacobians (5.237)-(5.242), and the potential (5.255)."""

    def M(q):
        (s1, s2, s3), (c1, c2, c3) = np.sin(q), np.cos(q)
        zero, one = 0 * s1, 1 + 0 * s1
        arm = np.array([[-s1 * c2, -c1 * s2, zero], [c1 * c2, -s1 * s2, zero], [zero, -c2, zero]])  # of a unit length
        Pi1 = np.array([[zero, zero, zero], [zero, zero, zero], [one, zero, zero]])
        Pi2 = np.array([[-s2, zero, zero], [zero, one, zero], [c2, zero, zero]])
        Pi3 = np.array([[-s2, zero, one], [c2 * s3, c3, zero], [c2 * c3, -s3, zero]])
        turning = sum(Pi.T @ I @ Pi for Pi, I in ((Pi1, I1), (Pi2, I2), (Pi3, I3)))
        return (M2 * L_G2**2 + M3 * L3**2) * arm.T @ arm + turning

    def V(q):
        return G * ((2.5 - L_G1) * M1 + 2.5 * M2 + 2.5 * M3 + (L_G2 * M2 - L3 * M3) * np.sin(q[1]))

    return GeneralizedSystem(M, V=V)


def run(system: GeneralizedSystem, spin: float, t: np.ndarray) -> SimpleNamespace:
    """Motion from the start with the rotor spinning at `spin` rad/s, and what is conserved along it."""

    def rate(_, y):
        return np.concatenate([y[3:], system.acceleration(y[:3], y[3:])[0]])

    y = solve_ivp(rate, (t[0], t[-1]), [*START, 0, 0, spin], method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t).y
    q, qd = y[:3].T, y[3:].T
    kinetic = np.array([v @ system.M(x) @ v / 2 for x, v in zip(q, qd, strict=True)])
    energy = np.array([system.energy(x, v) for x, v in zip(q, qd, strict=True)])
    p = np.array([system.momentum(x, v) for x, v in zip(q, qd, strict=True)])
    return SimpleNamespace(t=t, q=q, qd=qd, kinetic=kinetic, potential=energy - kinetic, energy=energy, momentum=p)


def precession(system: GeneralizedSystem, q2: np.ndarray, spin: float) -> np.ndarray:
    """q1' in terms of q2 alone.  Both momenta of the start stay: M11 q1' + M13 q3' = p1 and M13 q1' + M33 q3' = p3."""
    p1, _, p3 = system.momentum(START, [0, 0, spin])
    M = np.array([system.M(np.array([0.0, x, 0.0])) for x in q2])
    M11, M13, M33 = M[:, 0, 0], M[:, 0, 2], M[:, 2, 2]
    return (p1 - M13 / M33 * p3) / (M11 - M13**2 / M33)


def main() -> SimpleNamespace:
    system, t = build(), np.linspace(0, 12, 601)
    printed, fast = run(system, SPIN, t), run(system, 40 * SPIN, t)
    for name, one, spin in (("as printed", printed, SPIN), ("40 times faster", fast, 40 * SPIN)):
        off = np.abs(one.qd[:, 0] - precession(system, one.q[:, 1], spin)).max()
        print(f"{name}: rotor at {spin:.4f} rad/s")
        print(
            f"  q2 between {one.q[:, 1].min():.5f} and {one.q[:, 1].max():.5f} rad; q1 after 12 s {one.q[-1, 0]:.5f} rad"
        )
        print(f"  energy {one.energy[0]:.6f} J, changes by {np.ptp(one.energy):.1e} J")
        print(f"  momenta of q1 and q3 change by {np.ptp(one.momentum[:, [0, 2]], axis=0).max():.1e} N m s")
        print(f"  rate of precession against its first integral: {off:.1e} rad/s")
        one.precession_off = off
    top = int(np.argmax(printed.q[: len(t) // 2, 1]))  # the frame swings through to the other side, q2 = pi + pi/6
    print(f"a swing of the printed run takes {t[top]:.2f} s and turns the gyroscope by {printed.q[top, 0]:.4f} rad")

    OUT.mkdir(exist_ok=True)
    picture(printed, fast).savefig(OUT / "gyroscope.png", dpi=100)
    print(f"written: {OUT / 'gyroscope.png'}")
    return SimpleNamespace(system=system, printed=printed, fast=fast, swing=(t[top], printed.q[top, 0]))


def picture(printed: SimpleNamespace, fast: SimpleNamespace):
    """Path of the rotor, angles (Fig. 5.12) and energies (Fig. 5.13) as printed; below, the fast rotor."""
    fig = canvas.figure(11.0, 6.4)
    grid = fig.add_gridspec(2, 3, width_ratios=(1, 1.2, 1.2))
    for row, (run_, name) in enumerate(((printed, "rotor as printed"), (fast, "rotor 40 times faster"))):
        ax = fig.add_subplot(grid[row, 0], projection="3d")
        (q1, q2), shown = run_.q[:, :2].T, len(run_.t) if row else 350
        path = L3 * np.array([np.cos(q1) * np.cos(q2), np.sin(q1) * np.cos(q2), -np.sin(q2)])
        ax.plot(*path[:, :shown], color=LINES[row][0], linewidth=1.2)
        ax.plot(*np.array([np.zeros(3), path[:, 0]]).T, "o-", color=INK, linewidth=2, markersize=4)
        ax.set(xlim=(-3, 3), ylim=(-3, 3), zlim=(-3, 3))
        ax.set_box_aspect((1, 1, 1), zoom=0.9)
        ax.tick_params(labelsize="x-small", pad=-2)
        ax.locator_params(nbins=3)
        ax.set_title(f"path of the rotor, {name}", fontsize="small")
        angles, energies = (fig.add_subplot(grid[row, k]) for k in (1, 2))
        for k, label in ((0, "q1, precession"), (1, "q2, nutation")):
            angles.plot(run_.t, run_.q[:, k], color=LINES[k][0], linestyle=LINES[k][1], label=label)
        canvas.tidy(angles, "t in s" if row else "", "rad")
        for k, label in enumerate(("kinetic", "potential", "energy")):
            values = getattr(run_, label) - (run_.kinetic[0] if label != "potential" else 0)
            energies.plot(run_.t, values, color=LINES[k][0], linestyle=LINES[k][1], label=label)
        canvas.tidy(energies, "t in s" if row else "", "J, without the spin at the start")
        for one in (angles, energies):
            one.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    return fig


if __name__ == "__main__":
    main()
