"""Composed pendulum: the torques that swing two rods, and what their pins carry, by four routes.

Stroe and Staicu, "Calculus of joint forces using Lagrange equations and principle of virtual work" (2010), section 5.
Printed there: lengths, masses, the motions (5.11), torques (5.7) and the vertical joint force (5.8) in closed form,
and the curves of Figs. 3-6.  Chosen: nothing.  The paper's x points down and its y to the right.

Prints the largest differences of all routes, and the four curves at a few times.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

import planar as pl
from planar.plot import canvas
from planar.plot.style import INK, LINES
from planar.verify import Chain, GeneralizedSystem, Link

OUT = Path("out")
G = 9.81
L1, L2, M1, M2 = 0.50, 0.75, 0.25, 1.0  # m, kg
PEAK = np.array([np.pi / 12, np.pi / 6])  # phi*_10, phi*_21
W = np.pi / 6  # rad/s
CURVES = {  # figure of the paper: quantity, what it is, unit
    "Fig. 3": ("m10", "torque on the first rod", "N m"),
    "Fig. 4": ("m21", "torque on the second rod", "N m"),
    "Fig. 5": ("f10y", "horizontal force on the first rod", "N"),
    "Fig. 6": ("f21x", "vertical force on the second rod", "N"),
}


def build() -> pl.Model:
    m = pl.Model("composed pendulum", gravity=(0.0, -G))
    first = m.add(pl.Body.rod("first", M1, L1, start="O1", end="O2", r=(0.0, -L1 / 2), phi=-np.pi / 2))
    second = m.add(pl.Body.rod("second", M2, L2, start="O2", end="P", r=(0.0, -L1 - L2 / 2), phi=-np.pi / 2))
    m.add(pl.Revolute("O1", m.ground.point(0, 0), first["O1"]))
    m.add(pl.Revolute("O2", first["O2"], second["O2"]))
    m.add(pl.AngleDriver("m10", m.ground, first, "-pi/2 + pi/12*(1 - cos(pi/6*t))"))
    m.add(pl.AngleDriver("m21", first, second, "pi/6*(1 - cos(pi/6*t))"))
    return m


def motion(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(phi_10, phi_21) of (5.11) with first and second derivatives."""
    c, s = np.cos(W * t), np.sin(W * t)
    return PEAK * (1 - c), PEAK * W * s, PEAK * W**2 * c


def centroidal(inv: pl.Result) -> dict[str, np.ndarray]:
    """The main path of planar, in the paper's axes: x down, y right."""
    (f10, f21) = (inv.reaction(joint).force for joint in ("O1", "O2"))
    forces = {"f10x": -f10[:, 1], "f10y": f10[:, 0], "f21x": -f21[:, 1], "f21y": f21[:, 0]}
    return {"m10": inv.effort("m10"), "m21": inv.effort("m21"), **forces}


def closed_forms(t: np.ndarray) -> dict[str, np.ndarray]:
    """(5.7) and (5.8) as printed, for all times at once."""
    (f, g), (f1, g1), (f2, g2) = (np.array(x).T for x in zip(*(motion(s) for s in t), strict=True))
    second = M2 * L2**2 / 3 * (f2 + g2) + M2 * G * L2 / 2 * np.sin(f + g)
    m10 = (M1 / 3 + M2) * L1**2 * f2 + (M1 + 2 * M2) * G * L1 / 2 * np.sin(f) + second
    m10 += M2 * L1 * L2 / 2 * ((2 * f2 + g2) * np.cos(g) - g1 * (2 * f1 + g1) * np.sin(g))
    m21 = second + M2 * L1 * L2 / 2 * (f2 * np.cos(g) + f1**2 * np.sin(g))
    f10x = -(M1 + M2) * G - (M1 + 2 * M2) * L1 / 2 * (f2 * np.sin(f) + f1**2 * np.cos(f))
    f10x -= M2 * L2 / 2 * ((f2 + g2) * np.sin(f + g) + (f1 + g1) ** 2 * np.cos(f + g))
    return {"m10": m10, "m21": m21, "f10x": f10x}


def virtual_work(t: np.ndarray) -> dict[str, np.ndarray]:
    """Second route of the paper (5.9), (5.10): wrenches of the rods handed down from the tip, in 3-vectors."""
    links, before = [], np.zeros(3)
    for k, (length, mass) in enumerate(((L1, M1), (L2, M2))):
        about_joint = mass * length**2 / 3 * np.diag([0.0, 1.0, 1.0])
        links.append(Link(k - 1, before, mass=mass, centre=(length / 2, 0, 0), inertia=about_joint))
        before = np.array([length, 0.0, 0.0])
    chain = Chain(links, gravity=(G, 0.0, 0.0))
    rows = []
    for s in t:
        q, qd, qdd = motion(s)
        loads = chain.inverse(q, qd, qdd)
        f10, f21 = (now.a0.T @ F for now, F in zip(chain.motion(q, qd, qdd), loads.F, strict=True))
        rows.append((*loads.effort, *f10[:2], *f21[:2]))
    return dict(zip(("m10", "m21", "f10x", "f10y", "f21x", "f21y"), np.array(rows).T, strict=True))


def lagrange(t: np.ndarray) -> dict[str, np.ndarray]:
    """First route of the paper (4.2): O1 and O2 get fictitious mobilities x, y; their generalized forces, taken where
    the mobilities are zero, are the joint forces.  Coordinates: phi_10, phi_21, x1, y1, x2, y2."""

    def places(q):
        first, second = q[0], q[0] + q[1]
        e1, e2 = (np.array([np.cos(a), np.sin(a)]) for a in (first, second))
        n1, n2 = (np.array([-np.sin(a), np.cos(a)]) for a in (first, second))
        zero, one = np.zeros(2), np.eye(2)
        centre1 = q[2:4] + L1 / 2 * e1
        centre2 = q[2:4] + L1 * e1 + q[4:6] + L2 / 2 * e2
        Gamma1 = np.column_stack([L1 / 2 * n1, zero, one, 0 * one])
        Gamma2 = np.column_stack([L1 * n1 + L2 / 2 * n2, L2 / 2 * n2, one, one])
        return (centre1, Gamma1, np.array([1, 0, 0, 0, 0, 0])), (centre2, Gamma2, np.array([1, 1, 0, 0, 0, 0]))

    def M(q):
        rods = zip((M1, M2), (L1, L2), places(q), strict=True)
        return sum(m * (J.T @ J + l**2 / 12 * np.outer(Pi, Pi)) for m, l, (_, J, Pi) in rods)

    def V(q):
        (r1, *_), (r2, *_) = places(q)
        return -G * (M1 * r1[0] + M2 * r2[0])

    system, rows, none = GeneralizedSystem(M, V=V), [], np.zeros(4)
    for s in t:
        q, qd, qdd = (np.concatenate([x, none]) for x in motion(s))
        rows.append(system.M(q) @ qdd + system.coriolis(q, qd) + system.gravity(q))
    return dict(zip(("m10", "m21", "f10x", "f10y", "f21x", "f21y"), np.array(rows).T, strict=True))


def main() -> SimpleNamespace:
    t = np.linspace(0, 6, 121)
    inv = pl.inverse_dynamics(build(), t)
    found = centroidal(inv)
    routes = {"closed forms": closed_forms(t), "virtual work": virtual_work(t), "Lagrange": lagrange(t)}

    print(f"{'t in s':>8}" + "".join(f"{f'{name} in {unit}':>14}" for name, _, unit in CURVES.values()))
    for k in range(0, len(t), 20):
        print(f"{t[k]:8.1f}" + "".join(f"{found[name][k]:14.6f}" for name, *_ in CURVES.values()))
    print("\nlargest difference to planar.inverse_dynamics, over the largest torque or force:")
    scale = {"m": np.abs(found["m10"]).max(), "f": np.abs(found["f10x"]).max()}
    largest = {}
    for route, curves in routes.items():
        largest[route] = max(np.abs(found[name] - curve).max() / scale[name[0]] for name, curve in curves.items())
        print(f"  {route:14}{largest[route]:.1e}  ({', '.join(curves)})")

    OUT.mkdir(exist_ok=True)
    picture(inv, found, routes).savefig(OUT / "composed_pendulum.png", dpi=110)
    print(f"\nwritten: {OUT / 'composed_pendulum.png'}")
    return SimpleNamespace(inv=inv, found=found, routes=routes, largest=largest)


def picture(inv: pl.Result, found: dict, routes: dict):
    """The pendulum with the path of its tip, and the curves of Figs. 3-6 by three routes."""
    fig = canvas.figure(10.0, 5.0)
    grid = fig.add_gridspec(2, 3, width_ratios=(1, 1, 1))
    ax = fig.add_subplot(grid[:, 0])
    pl.plot.mechanism(inv, t=4.0, ax=ax)
    pl.plot.trace(inv, inv.model["second"]["P"], ax=ax, mechanism=False)
    for k, (figure, (name, what, unit)) in enumerate(CURVES.items()):
        ax = fig.add_subplot(grid[k // 2, 1 + k % 2])
        ax.plot(inv.t, found[name], color=LINES[0][0], label="planar")
        for (route, marker), start in zip((("virtual work", "o"), ("Lagrange", "x")), (0, 4), strict=True):
            ax.plot(inv.t[start::8], routes[route][name][start::8], marker, color=INK, ms=4, mfc="none", label=route)
        canvas.tidy(ax, "t in s" if k > 1 else "", unit)
        ax.set_title(f"{what} ({figure})", fontsize="small", loc="left")
        if k == 0:
            ax.legend(frameon=False, fontsize="small")
    canvas.settle(fig.axes[0])  # equal scales: laid out once ahead, so that no title is cut
    return fig


if __name__ == "__main__":
    main()
