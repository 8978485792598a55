"""Four exercises on d'Alembert's principle: degrees of freedom, M, b, g, phi and Phi by hand and from the model.

De Sapio, "Zeroth-order variational principles" (chapter 5), exercises 1 to 4, and 7 and 8 for the canonical form.
Printed there: the mechanisms of Figs. 5.14-5.17 with equal link lengths l and masses M, rotational inertias zero
(exercises 2 to 4) or M l^2/12 + M r^2/4 (exercise 1), and which joint angles are the coordinates.  Chosen: all
numbers, motion of exercise 1 in a vertical plane, a ground link of length l in exercise 3, a horizontal link 3 in
exercise 4.

The closed forms are the solutions of the exercises.  They are held against the open chain of a `planar.Model`, and
their accelerations against the equations of motion of the closed mechanism in centroidal coordinates.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import planar as pl
from planar.plot import canvas
from planar.verify import GeneralizedSystem, Tree
from planar.verify.snapshot import snapshot

OUT = Path("out")
G = 9.81
L, M = 0.5, 2.0  # m, kg of the links in exercises 2 to 4
L1, L2, M1, M2, R1, R2 = 0.7, 0.5, 2.0, 1.5, 0.06, 0.05  # exercise 1
I1, I2 = M1 * (R1**2 / 4 + L1**2 / 12), M2 * (R2**2 / 4 + L2**2 / 12)


@dataclass
class Exercise:
    """A mechanism, its solution by hand, and a consistent state in joint angles."""

    title: str
    open_chain: pl.Model
    closed: pl.Model
    by_hand: GeneralizedSystem
    q: np.ndarray
    qd: np.ndarray


# --- solutions by hand -----------------------------------------------------------------------------------------------


def two_links(l1, l2, m1, m2, i1=0.0, i2=0.0, **closing) -> GeneralizedSystem:
    """Exercises 1 and 2 (a)-(c): angles q1 of the first link, q2 of the second from the first."""

    def mass(q):
        c = np.cos(q[1])
        m22 = i2 + m2 * l2**2 / 4
        m12 = m22 + m2 * l1 * l2 * c / 2
        m11 = i1 + m1 * l1**2 / 4 + m22 + m2 * (l1**2 + l1 * l2 * c)
        return np.array([[m11, m12], [m12, m22 + 0 * c]])

    def coriolis(q, qd):
        return m2 * l1 * l2 / 2 * np.sin(q[1]) * np.array([-qd[1] * (2 * qd[0] + qd[1]), qd[0] ** 2])

    def gravity(q):
        second = m2 * G * l2 / 2 * np.cos(q[0] + q[1])
        return np.array([(m1 / 2 + m2) * G * l1 * np.cos(q[0]) + second, second])

    def potential(q):
        return G * ((m1 / 2 + m2) * l1 * np.sin(q[0]) + m2 * l2 / 2 * np.sin(q[0] + q[1]))

    return GeneralizedSystem(mass, gravity, V=potential, b=coriolis, **closing)


def three_links(**closing) -> GeneralizedSystem:
    """Exercises 3 and 4: three equal links without rotational inertia."""

    def mass(q):
        c2, c3, c23 = np.cos(q[1]), np.cos(q[2]), np.cos(q[1] + q[2])
        m33, m23, m13 = 1 / 4 + 0 * c2, 1 / 4 + c3 / 2, 1 / 4 + c3 / 2 + c23 / 2
        m22, m12 = 3 / 2 + c3, 3 / 2 + c3 + 3 / 2 * c2 + c23 / 2
        m11 = 15 / 4 + 3 * c2 + c3 + c23
        return M * L**2 * np.array([[m11, m12, m13], [m12, m22, m23], [m13, m23, m33]])

    def coriolis(q, qd):
        """With the rates of the links w1, w2, w3 from ground; links 1 2, 1 3 and 2 3 push each other."""
        w1, w2, w3 = np.cumsum(qd) ** 2
        s2, s3, s23 = np.sin(q[1]), np.sin(q[2]), np.sin(q[1] + q[2])
        b3 = s3 * w2 / 2 + s23 * w1 / 2
        b2 = b3 + 3 / 2 * s2 * w1 - s3 * w3 / 2
        b1 = b2 - 3 / 2 * s2 * w2 - s23 * w3 / 2
        return M * L**2 * np.array([b1, b2, b3])

    def gravity(q):
        along = M * G * L * np.array([5 / 2, 3 / 2, 1 / 2]) * np.cos(np.cumsum(q))
        return np.cumsum(along[::-1])[::-1]

    def potential(q):
        return M * G * L * (np.array([5 / 2, 3 / 2, 1 / 2]) @ np.sin(np.cumsum(q)))

    return GeneralizedSystem(mass, gravity, V=potential, b=coriolis, **closing)


def end(q):
    """End of a chain of equal links, and its Jacobian: column k is the arm from joint k, turned by a quarter."""
    a = np.cumsum(q)
    links = L * np.array([np.cos(a), np.sin(a)])
    arms = np.cumsum(links[:, ::-1], axis=1)[:, ::-1]
    return links.sum(axis=1), np.array([-arms[1], arms[0]])


# --- models ----------------------------------------------------------------------------------------------------------


def chain(name: str, lengths, masses, inertias) -> pl.Model:
    m = pl.Model(name, gravity=(0.0, -G))
    before = m.ground.point(0, 0)
    for k, (length, mass, inertia) in enumerate(zip(lengths, masses, inertias, strict=True), 1):
        link = m.add(pl.Body.rod(f"link{k}", mass, length, inertia=inertia))
        m.add(pl.Revolute(f"q{k}", before, link["A"]))
        before = link["B"]
    return m


def build() -> list[Exercise]:
    made = []

    def add(title, open_chain, closed, by_hand, q, qd):
        exercise = Exercise(title, open_chain, closed, by_hand, np.array(q), np.array(qd))
        for body, (x, y, phi), (vx, vy, w) in zip(closed.bodies, *state(exercise), strict=True):
            body.r, body.phi, body.v, body.omega = (x, y), phi, (vx, vy), w
        made.append(exercise)

    robot = ("serial robot", (L1, L2), (M1, M2), (I1, I2))
    by_hand = two_links(L1, L2, M1, M2, I1, I2)
    add("1  two-link serial robot", chain(*robot), chain(*robot), by_hand, (0.5, 0.6), (1.0, 0.7))

    # 2: the end of link 2 stays at height 0
    crank = ("two-link slider-crank", (L, L), (M, M), (0, 0))
    closed = chain(*crank)
    closed.add(pl.PinInSlot("slider", closed.ground.axis((0, 0), (1, 0)), closed["link2"]["B"]))
    by_hand = two_links(L, L, M, M, phi=lambda q: end(q)[0][1:], Phi=lambda q: end(q)[1][1:])
    add("2  two-link slider-crank", chain(*crank), closed, by_hand, (0.7, -1.4), (1.0, -2.0))

    # 3: the end of link 3 stays at (l, 0)
    linkage = ("four-bar of equal links", (L, L, L), (M, M, M), (0, 0, 0))
    closed = chain(*linkage)
    closed.add(pl.Revolute("end", closed.ground.point(L, 0), closed["link3"]["B"]))
    by_hand = three_links(phi=lambda q: end(q)[0] - [L, 0], Phi=lambda q: end(q)[1])
    add("3  four-bar of equal links", chain(*linkage), closed, by_hand, (1.1, -1.1, 1.1 - np.pi), (1.0, -1.0, 1.0))

    # 4: link 3 stays horizontal and at height 0
    slider = ("three-link slider-crank", (L, L, L), (M, M, M), (0, 0, 0))
    closed = chain(*slider)
    link3 = closed["link3"]
    closed.add(pl.Translational("slider", closed.ground.axis((0, 0), (1, 0)), link3.axis("A", "B")))
    by_hand = three_links(
        phi=lambda q: np.array([end(q)[0][1], q.sum()]), Phi=lambda q: np.vstack([end(q)[1][1], np.ones(3)])
    )
    add("4  three-link slider-crank", chain(*slider), closed, by_hand, (0.8, -1.6, 0.8), (1.0, -2.0, 1.0))
    return made


def tree_of(m: pl.Model) -> Tree:
    nothing = np.zeros((len(m.bodies), 3))
    return Tree(m, snapshot(m, 0.0, nothing, nothing))


def state(e: Exercise) -> tuple[np.ndarray, np.ndarray]:
    """Poses and velocities of the links for joint angles and rates."""
    return tree_of(e.open_chain).state(e.q, e.qd)


# --- comparison ------------------------------------------------------------------------------------------------------


def differences(e: Exercise) -> dict[str, float]:
    """How far the solution by hand is from the model."""
    tree, hand, q, qd = tree_of(e.open_chain), e.by_hand, e.q, e.qd
    system = tree.system()
    found = {
        "M": system.M(q) - hand.M(q),
        "b": system.coriolis(q, qd) - hand.coriolis(q, qd),
        "g": system.gravity(q) - hand.gravity(q),
        "phi": closing_motion(e)[0] - hand.constraint(q),
        "Phi": closing_motion(e)[1] - hand.jacobian(q),
        "qdd": joint_accelerations(e) - hand.acceleration(q, qd)[0],
    }
    p = hand.momentum(q, qd)
    canonical = hand.canonical(q, p)  # (qd, pd, lam): exercises 7 and 8
    found["H"] = np.array([hand.hamiltonian(q, p) - hand.energy(q, qd), *(canonical[0] - qd)])
    return {name: float(np.abs(x).max(initial=0.0)) for name, x in found.items()}


def closing_motion(e: Exercise) -> tuple[np.ndarray, np.ndarray]:
    """phi and Phi from the motion of the last link of the open chain."""
    last = e.open_chain.bodies[-1]
    kin = tree_of(e.open_chain).kinematics(e.q)
    free = tree_of(e.open_chain).free
    tip, angle = kin.point(last["B"]), kin.angle(last)
    tip_rows, angle_row = tip.a[:, 1:][:, free], angle.a[1:][free]
    match e.closed.joints[-1]:
        case pl.PinInSlot():
            return tip.x[1:], tip_rows[1:]
        case pl.Revolute(name="end"):
            return tip.x - [L, 0], tip_rows
        case pl.Translational():
            return np.array([tip.x[1], angle.x]), np.vstack([tip_rows[1], angle_row])
    return np.zeros(0), np.zeros((0, len(e.q)))


def joint_accelerations(e: Exercise) -> np.ndarray:
    """From [M Phi_q^T; Phi_q 0] [a; lam] = [Q; gamma] of the closed mechanism in centroidal coordinates."""
    start, system = e.closed.assemble(), pl.compile(e.closed)
    now = system.constraints(0.0, start.q, start.v)
    Phi_q = system.pattern.to_dense(now.Phi_q)
    nc = len(Phi_q)
    KKT = np.block([[np.diag(system.mass), Phi_q.T], [Phi_q, np.zeros((nc, nc))]])
    rhs = np.concatenate([system.forces(0.0, start.q, start.v), now.gamma])
    return np.diff(np.linalg.solve(KKT, rhs)[2 : system.nq : 3], prepend=0.0)


def main() -> list[tuple[Exercise, int, dict[str, float]]]:
    found = []
    for e in build():
        dof = e.closed.diagnose().dof
        found.append((e, dof, differences(e)))
        print(f"Exercise {e.title}: {len(e.q)} coordinates - {len(e.by_hand.constraint(e.q))} closures = {dof} free")
        with np.printoptions(precision=4, suppress=True):
            print("M =", str(e.by_hand.M(e.q)).replace("\n", "\n   "))
            print("b =", e.by_hand.coriolis(e.q, e.qd), "  g =", e.by_hand.gravity(e.q))
            if len(e.by_hand.constraint(e.q)):
                print("phi =", e.by_hand.constraint(e.q), "  Phi =", str(e.by_hand.jacobian(e.q)).replace("\n", ""))
        print("differences to the model: " + ", ".join(f"{k} {x:.1e}" for k, x in found[-1][2].items()), end="\n\n")
    OUT.mkdir(exist_ok=True)
    picture([e for e, *_ in found]).savefig(OUT / "exercises.png", dpi=100)
    print(f"written: {OUT / 'exercises.png'}")
    return found


def picture(exercises: list[Exercise]):
    fig = canvas.figure(9.0, 7.0)
    for ax, e in zip(fig.subplots(2, 2).flat, exercises, strict=True):
        pl.plot.mechanism(e.closed, ax=ax, title=f"Exercise {e.title}")
    canvas.settle(fig.axes[0])  # equal scales: laid out once ahead, so that no title is cut
    return fig


if __name__ == "__main__":
    main()
