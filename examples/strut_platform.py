"""Six-strut platform (Stewart, Gough): the forces of six actuated struts that carry a platform along a motion.

De Sapio, "Zeroth-order variational principles" (chapter 5), eqs. (5.101)-(5.118), Figs. 5.6, 5.7.  Printed there: the
24 coordinates (two angles and a length for each strut, six for the platform), the 18 closures r_l - r_p = 0 and the
block form of the equations.  Chosen: all dimensions and masses, and the motion.

The platform is spatial, so it is no `planar.Model`: M(q), V(q), phi(q), Phi(q) are given by hand to a
`planar.verify.GeneralizedSystem`. Prints the strut forces and three checks: the forces return the motion (5.92),
elimination of the multipliers gives the same (5.302), and their power is the rate of the energy.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from planar.plot import canvas
from planar.plot.style import BODIES, GREY, INK, LINES
from planar.verify import GeneralizedSystem

OUT = Path("out")
G = 9.81
MASS, INERTIA = 60.0, np.diag([8.0, 8.0, 15.0])  # platform, kg and kg m^2 about its centre
CYLINDER, ROD, HALF = 4.0, 3.0, 0.4  # strut: masses of its two halves, uniform rods of length 2 HALF at either end
PERIOD, HEIGHT = 2.0, 1.3  # s, m


def ring(radius: float, degrees) -> np.ndarray:
    a = np.radians(degrees)
    return radius * np.column_stack([np.cos(a), np.sin(a), 0 * a])


BASE = ring(1.2, [-12, 12, 108, 132, 228, 252])  # where the struts stand
TOP = ring(0.7, [-48, 48, 72, 168, 192, 288])  # where they meet the platform, in its axes


def axes(angles) -> tuple[np.ndarray, np.ndarray]:
    """(Q, Pi): rotation by zyx angles, and the axes in columns about which it turns when they change, global."""
    (s1, s2, s3), (c1, c2, c3) = np.sin(angles), np.cos(angles)
    zero, one = 0 * s1, 1 + 0 * s1
    Qz = np.array([[c1, -s1, zero], [s1, c1, zero], [zero, zero, one]])
    Qy = np.array([[c2, zero, s2], [zero, one, zero], [-s2, zero, c2]])
    Qx = np.array([[one, zero, zero], [zero, c3, -s3], [zero, s3, c3]])
    return Qz @ Qy @ Qx, np.column_stack([np.array([zero, zero, one]), Qz[:, 1], (Qz @ Qy)[:, 0]])


def strut(q) -> tuple[np.ndarray, np.ndarray]:
    """(r, J): tip of a strut from its foot for two angles and a length, and its Jacobian."""
    (sa, sb), (ca, cb), s = np.sin(q[:2]), np.cos(q[:2]), q[2]
    e = np.array([sb, -sa * cb, ca * cb])
    return s * e, np.column_stack(
        [s * np.array([0 * sa, -ca * cb, -sa * cb]), s * np.array([cb, sa * sb, -ca * sb]), e]
    )


def build() -> GeneralizedSystem:
    def M(q):
        blocks = np.zeros((24, 24), q.dtype)
        for k in range(0, 18, 3):
            _, b, s = q[k : k + 3]
            swing = CYLINDER * HALF**2 + ROD * (s - HALF) ** 2 + (CYLINDER + ROD) * HALF**2 / 3
            blocks[range(k, k + 3), range(k, k + 3)] = swing * np.cos(b) ** 2, swing, ROD
        Q, Pi = axes(q[21:])
        blocks[18:21, 18:21] = MASS * np.eye(3)
        blocks[21:, 21:] = Pi.T @ Q @ INERTIA @ Q.T @ Pi
        return blocks

    def V(q):
        total = MASS * q[20]
        for k in range(0, 18, 3):
            rise = np.cos(q[k]) * np.cos(q[k + 1])
            total = total + rise * (CYLINDER * HALF + ROD * (q[k + 2] - HALF))
        return G * total

    def phi(q):
        Q, _ = axes(q[21:])
        return np.concatenate([BASE[k] + strut(q[3 * k : 3 * k + 3])[0] - q[18:21] - Q @ TOP[k] for k in range(6)])

    def Phi(q):
        Q, Pi = axes(q[21:])
        rows = np.zeros((18, 24), q.dtype)
        for k in range(0, 18, 3):
            arm = Q @ TOP[k // 3]
            rows[k : k + 3, k : k + 3] = strut(q[k : k + 3])[1]
            rows[k : k + 3, 18:21] = -np.eye(3)
            rows[k : k + 3, 21:] = -np.cross(Pi.T, arm).T
        return rows

    return GeneralizedSystem(M, V=V, phi=phi, Phi=Phi)


def motion(system: GeneralizedSystem, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All 24 coordinates with rates: the platform circles, nods and yaws, the struts follow from the closures."""
    w = 2 * np.pi / PERIOD
    sizes, phases = np.array([0.10, 0.10, 0.05, 0.10, 0.08, 0.08]), np.array([0, 1, 0, 0, 1, 0]) * np.pi / 2
    rates = w * np.array([1, 1, 2, 1, 1, 1])
    x = sizes * np.sin(rates * t + phases) + np.array([0, 0, HEIGHT, 0, 0, 0])
    xd, xdd = sizes * rates * np.cos(rates * t + phases), -sizes * rates**2 * np.sin(rates * t + phases)
    q = np.zeros(24)
    q[18:] = x
    for k in range(6):
        d = x[:3] + axes(x[3:])[0] @ TOP[k] - BASE[k]
        s = np.linalg.norm(d)
        q[3 * k : 3 * k + 3] = np.arctan2(-d[1], d[2]), np.arcsin(d[0] / s), s
    Phi = system.jacobian(q)
    qd = np.concatenate([np.linalg.solve(Phi[:, :18], -Phi[:, 18:] @ xd), xd])
    follow = np.linalg.solve(Phi[:, :18], -Phi[:, 18:] @ xdd - system.jacobian_rate(q, qd))
    return q, qd, np.concatenate([follow, xdd])


def inverse_dynamics(system: GeneralizedSystem, q, qd, qdd) -> tuple[np.ndarray, np.ndarray]:
    """(forces of the struts, push positive; closure forces) of M qdd + b + g = tau + Phi^T lam: 24 equations, 6 + 18 unknowns."""
    actuated = np.eye(24)[:, 2:18:3]
    rhs = system.M(q) @ qdd + system.coriolis(q, qd) + system.gravity(q)
    found = np.linalg.solve(np.hstack([actuated, system.jacobian(q).T]), rhs)
    return found[:6], found[6:]


def main() -> SimpleNamespace:
    system, t = build(), np.linspace(0, PERIOD, 81)
    states = [motion(system, s) for s in t]
    solved = [inverse_dynamics(system, *now) for now in states]
    forces = np.array([f for f, _ in solved])
    lengths = np.array([q[2:18:3] for q, *_ in states])
    rates = np.array([qd[2:18:3] for _, qd, _ in states])
    print(f"{'t in s':>8}" + "".join(f"{f'strut {k + 1} in N':>15}" for k in range(6)))
    for k in range(0, len(t), 10):
        print(f"{t[k]:8.2f}" + "".join(f"{f:15.3f}" for f in forces[k]))

    returned, eliminated = [], []
    for (q, qd, qdd), force in list(zip(states, forces, strict=True))[::10]:
        tau = np.zeros(24)
        tau[2:18:3] = force
        returned.append(np.abs(system.acceleration(q, qd, tau)[0] - qdd).max())
        eliminated.append(np.abs(system.eliminated(q, qd, tau).qdd - qdd).max())
    power, energy = (forces * rates).sum(1), np.array([system.energy(q, qd) for q, qd, _ in states])
    # over the period the motion closes, so the mean of a periodic integrand is exact to round-off
    worst, net, swing = max(returned), PERIOD * power[:-1].mean(), np.ptp(energy)
    rate = derivative(energy[:-1], PERIOD)
    balance = np.abs(rate - power[:-1]).max()
    closed = max(np.abs(system.constraint(q)).max() for q, *_ in states)
    print(f"\nclosures hold to {closed:.1e} m; forces return the accelerations to {worst:.1e}")
    print(f"elimination of multipliers: {max(eliminated):.1e}; energy swings by {swing:.2f} J, net work {net:.1e} J")
    print(f"power against the rate of the energy: {balance:.1e} W of {np.abs(power).max():.1f} W")

    OUT.mkdir(exist_ok=True)
    picture(t, states, forces, lengths).savefig(OUT / "strut_platform.png", dpi=100)
    print(f"written: {OUT / 'strut_platform.png'}")
    return SimpleNamespace(
        system=system, t=t, states=states, forces=forces, closures=[lam for _, lam in solved], returned=worst,
        eliminated=max(eliminated), net=net, swing=swing, balance=balance, power=power, closed=closed,
    )  # fmt: skip


def derivative(values: np.ndarray, period: float) -> np.ndarray:
    """Exact derivative of a smooth periodic function from equidistant samples, by its Fourier series."""
    n = len(values)
    frequency = np.fft.fftfreq(n, period / n)
    if n % 2 == 0:
        frequency[n // 2] = 0.0
    return np.fft.ifft(2j * np.pi * frequency * np.fft.fft(values)).real


def picture(t, states, forces, lengths):
    """The platform at two times, lengths and forces of its struts."""
    fig = canvas.figure(11.0, 5.0)
    grid = fig.add_gridspec(2, 2, width_ratios=(1, 1.25))
    ax = fig.add_subplot(grid[:, 0], projection="3d")
    closed = np.vstack([BASE, BASE[:1]])
    ax.plot(*closed.T, color=GREY, linewidth=1.5)
    for k, dash in ((0, "solid"), (len(t) // 2, (0, (3, 2)))):
        q = states[k][0]
        top = q[18:21] + TOP @ axes(q[21:])[0].T
        ax.plot(
            *np.vstack([top, top[:1]]).T, color=BODIES[1][0], linewidth=2.2, linestyle=dash, label=f"t = {t[k]:g} s"
        )
        for foot, tip, (color, _) in zip(BASE, top, LINES, strict=True):
            ax.plot(*np.array([foot, tip]).T, color=color, linewidth=2.0, linestyle=dash)
            ax.plot(*np.array([foot, tip]).T, "o", color=INK, markersize=3)
    ax.set_box_aspect(np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1), zoom=1.0)
    ax.view_init(elev=20, azim=-60)
    ax.set(xlabel="x in m", ylabel="y in m", zlabel="z in m")
    ax.locator_params(nbins=4)
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    for row, (values, unit) in enumerate(((lengths, "length in m"), (forces, "push in N"))):
        ax = fig.add_subplot(grid[row, 1])
        for k, (color, dash) in enumerate(LINES):
            ax.plot(t, values[:, k], color=color, linestyle=dash, label=f"strut {k + 1}")
        canvas.tidy(ax, "t in s" if row else "", unit)
        if not row:
            ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    return fig


if __name__ == "__main__":
    main()
