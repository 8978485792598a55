"""Compass robot arm: six torques and the joint forces of a spatial chain by recursive virtual work.

Staicu, Stroe and Craifaleanu, "Inverse dynamics of Compass robot arm using principle of virtual work". Printed there:
axes (11)-(13), lengths, masses, centres of mass and motions (15), (16); which torques and forces are plotted (14),
Figs. 3-14.  Chosen: the inertia tensors, which are not printed.  Links 1 to 5 and the last rod are thin uniform rods,
the load on the last rod is a uniform cylinder of the printed height h and radius R.

The arm is spatial, so it is no `planar.Model`: it is written as a `planar.verify.Chain`, whose planar case checks the
models of this package.  Prints the quantities of eq. (14) at a few times and the power balance.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from planar.plot import canvas
from planar.plot.style import BODIES, INK, LINES
from planar.verify import Chain, Link
from planar.verify.chain import inertia_about_joint, turn

OUT = Path("out")
G = 9.81
U1, U2, U3 = np.eye(3)
LENGTHS = np.array([1.398, 0.34, 4.242, 4.242, 0.34, 1.398])  # m
MASSES = np.array([77.79, 10.0, 236.0, 236.0, 10.0, 77.79])  # kg, the last one without its load
LOAD, HEIGHT, RADIUS = 1000.0, 1.0, 0.5  # kg, m, m
PEAK = np.pi * np.array([1 / 6, 1 / 12, 1 / 9, 1 / 36, 1 / 18, 5 / 36])  # phi*_k,k-1
W = np.pi / 15  # rad/s
THETA1 = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
THETA2 = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])

#: eq. (14): name, force or moment, link, component, unit, figure
QUANTITIES = (
    *((f"m{k + 1}{k}", "M", k, 2, "N m", 3 + k) for k in range(6)),
    ("f10x", "F", 0, 0, "N", 9),
    ("f21y", "F", 1, 1, "N", 10),
    ("f32z", "F", 2, 2, "N", 11),
    ("f65z", "F", 5, 2, "N", 12),
    ("m43x", "M", 3, 0, "N m", 13),
    ("m54y", "M", 4, 1, "N m", 14),
)


def build() -> Chain:
    arms = LENGTHS[:, None] * [U3, -U1, U2, U2, U2, U2]  # r_{k+1,k} (13)
    seats = [np.eye(3), THETA1 @ THETA2, THETA1 @ THETA2, turn(np.pi / 4), turn(np.pi / 4), THETA1]  # (11)
    links = []
    for k, (mass, arm) in enumerate(zip(MASSES, arms, strict=True)):
        centre, inertia = arm / 2, inertia_about_joint(rod(mass, arm), mass, arm / 2)
        if k == 5:  # the load sits on the end of the last rod (16)
            to_load = arm + HEIGHT / 2 * U2
            inertia = inertia + inertia_about_joint(cylinder(), LOAD, to_load)
            centre = (mass * centre + LOAD * to_load) / (mass + LOAD)
            mass = mass + LOAD
        links.append(Link(k - 1, np.zeros(3) if k == 0 else arms[k - 1], seats[k], "revolute", mass, centre, inertia))
    return Chain(links, gravity=(0.0, 0.0, -G))


def rod(mass: float, along: np.ndarray) -> np.ndarray:
    """A thin rod about its middle: m (r.r 1 - r r^T) / 12."""
    return mass / 12 * (along @ along * np.eye(3) - np.outer(along, along))


def cylinder() -> np.ndarray:
    """The load about its middle, its axis along y."""
    across = LOAD * (3 * RADIUS**2 + HEIGHT**2) / 12
    return np.diag([across, LOAD * RADIUS**2 / 2, across])


def motion(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six joint angles (15) with first and second derivatives."""
    c, s = np.cos(W * t), np.sin(W * t)
    return PEAK * (1 - c), PEAK * W * s, PEAK * W**2 * c


def energy(chain: Chain, t: float) -> float:
    """Kinetic and potential energy of all links."""
    total = 0.0
    for link, now in zip(chain.links, chain.motion(*motion(t)), strict=True):
        kinetic = link.mass * (now.v @ now.v) / 2 + now.omega @ link.inertia @ now.omega / 2
        coupling = link.mass * now.v @ np.cross(now.omega, link.centre)  # v is that of the joint
        total += kinetic + coupling - link.mass * chain.gravity @ (now.r0 + now.a0.T @ link.centre)
    return total


def main() -> SimpleNamespace:
    chain, t = build(), np.linspace(0, 15, 151)
    loads = [chain.inverse(*motion(s)) for s in t]
    found = {
        name: np.array([getattr(now, kind)[link][axis] for now in loads]) for name, kind, link, axis, *_ in QUANTITIES
    }
    print("t in s" + "".join(f"{s:12.1f}" for s in t[::30]))
    for name, *_, unit, figure in QUANTITIES:
        print(f"{name:6}" + "".join(f"{x:12.3f}" for x in found[name][::30]) + f"  {unit:3} (Fig. {figure})")

    # work of the six torques against the energy that the arm has gained; Simpson's rule over the samples
    power = np.array([now.effort @ motion(s)[1] for now, s in zip(loads, t, strict=True)])
    work = (t[1] - t[0]) / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
    gained = energy(chain, t[-1]) - energy(chain, t[0])
    print(f"\nwork of the torques {work:.4f} J, energy gained {gained:.4f} J")

    OUT.mkdir(exist_ok=True)
    picture(chain, t, found).savefig(OUT / "compass_arm.png", dpi=100)
    print(f"written: {OUT / 'compass_arm.png'}")
    return SimpleNamespace(chain=chain, t=t, found=found, work=work, gained=gained)


def picture(chain: Chain, t: np.ndarray, found: dict):
    """The arm at the start and at the end, and the twelve curves of Figs. 3-14."""
    fig = canvas.figure(11.0, 6.6)
    left, right = fig.subfigures(1, 2, width_ratios=(1, 1.9))
    ax = left.add_subplot(projection="3d")
    for when, (edge, _), dash in ((0.0, BODIES[0], "solid"), (15.0, BODIES[1], (0, (4, 1.5)))):
        draw(ax, chain, when, edge, dash)
    ax.set_box_aspect(np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1), zoom=0.85)  # equal scales
    ax.view_init(elev=18, azim=35)
    ax.set(xlabel="x in m", ylabel="y in m", zlabel="z in m")
    ax.locator_params(nbins=4)
    ax.legend(frameon=False, fontsize="small", loc="upper right")
    grid = right.subplots(4, 3, sharex=True)
    for plot, (name, kind, *_, unit, figure) in zip(grid.flat, QUANTITIES, strict=True):
        values, times = found[name], 1e-3 if np.abs(found[name]).max() > 5e3 else 1.0
        plot.plot(t, times * values, color=LINES[0 if kind == "M" else 1][0], linewidth=1.5)
        canvas.tidy(plot, "t in s" if figure > 11 else "", f"k{unit}" if times < 1 else unit)
        plot.set_title(f"{name} (Fig. {figure})", fontsize="small", loc="left")
        plot.tick_params(labelsize="small")
    right.align_ylabels()
    return fig


def draw(ax, chain: Chain, t: float, color: str, dash) -> None:
    motions = chain.motion(*motion(t))
    last = motions[-1]
    tip, end = (last.r0 + last.a0.T @ (s * U2) for s in (LENGTHS[5], LENGTHS[5] + HEIGHT))
    joints = np.array([now.r0 for now in motions])
    ax.plot(*np.vstack([joints, tip]).T, color=color, linewidth=2.2, linestyle=dash, label=f"t = {t:g} s")
    ax.plot(*joints.T, "o", color=INK, markersize=3.5)
    ax.plot(*np.array([tip, end]).T, color=color, linewidth=9, alpha=0.45, solid_capstyle="butt")


if __name__ == "__main__":
    main()
