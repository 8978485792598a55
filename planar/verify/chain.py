"""Chains of rigid bodies in space by recursive virtual work (Staicu and Stroe), 3-vectors in link axes.

Numbers in brackets are those of "Inverse dynamics of compass robot arm using principle of virtual work"; those with a
dot belong to "Calculus of joint forces using Lagrange equations and principle of virtual work".

Link T_k carries the axes O_k x_k y_k z_k; its joint turns about z_k or slides along z_k.  a_{k,k-1} takes components
along the axes of T_{k-1} to components along those of T_k.  A link may carry several others: then (9) sums over them.

Accelerations and loads may be affine in unknowns z: an array with a last axis of m columns means
``x[..., 0] + x[..., 1:] @ z``.  Plain numbers are the case m = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from planar.errors import ModelError

U1, U2, U3 = np.eye(3)


def skew(r: np.ndarray) -> np.ndarray:
    """r~, the matrix of r x."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def turn(phi: float) -> np.ndarray:
    """rot(z, phi) (12): old components -> components along axes turned by phi about z."""
    c, s = np.cos(phi), np.sin(phi)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def inertia_about_joint(inertia: Any, mass: float, centre: Any) -> np.ndarray:
    """J^ about O_k from the tensor about the centre of mass: J_C - m r~ r~."""
    r = skew(np.asarray(centre, float))
    return np.asarray(inertia, float) - mass * r @ r


@dataclass(frozen=True)
class Link:
    """One rigid body T_k and the joint that carries it.

    parent   index of the link that carries it, -1 for the fixed T_0
    r        r_{k,k-1}: O_k from O_{k-1} at zero displacement, in the axes of the parent, m
    seat     constant part of a_{k,k-1}: parent axes -> link axes at zero displacement
    kind     "revolute" (about z_k), "prismatic" (along z_k), "fixed"
    mass     kg;  centre: r_k^C from O_k, link axes, m;  inertia: J^_k about O_k, link axes, kg m^2
    """

    parent: int
    r: Any = (0.0, 0.0, 0.0)
    seat: Any = field(default_factory=lambda: np.eye(3))
    kind: str = "revolute"
    mass: float = 0.0
    centre: Any = (0.0, 0.0, 0.0)
    inertia: Any = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class LinkMotion:
    """One link on its way, in its own axes (omega, v of O_k; epsilon, gamma affine), and its place in T_0."""

    a: np.ndarray  # a_{k,k-1}
    r: np.ndarray  # r_{k,k-1} in the axes of the parent
    a0: np.ndarray  # a_{k0}
    r0: np.ndarray  # O_k in the axes of T_0
    omega: np.ndarray
    v: np.ndarray
    epsilon: np.ndarray
    gamma: np.ndarray

    def acceleration(self, s: np.ndarray) -> np.ndarray:
        """gamma + (w~ w~ + e~) s of the point s, link axes, affine."""
        a = self.gamma - skew(s) @ self.epsilon
        a[:, 0] += np.cross(self.omega, np.cross(self.omega, s))
        return a


@dataclass(frozen=True)
class JointLoads:
    """What each joint does to the link it carries: F_k (n, 3, m) N and M_k about O_k (n, 3, m) N m, link axes.

    effort (m columns for each movable joint): u_3 . M_k, or u_3 . F_k of a prismatic one (8).
    """

    F: np.ndarray
    M: np.ndarray
    effort: np.ndarray


class Chain:
    """Serial or branched open chain; links are listed parents first.  gravity in m/s^2, axes of T_0."""

    def __init__(self, links: list[Link], gravity: Any = (0.0, 0.0, -9.81)):
        for k, link in enumerate(links):
            if not -1 <= link.parent < k:
                raise ModelError(f"link {k}: parent is {link.parent}; list the links so that parents come first")
            if link.kind not in ("revolute", "prismatic", "fixed"):
                raise ModelError(f"link {k}: kind is {link.kind!r}; give 'revolute', 'prismatic' or 'fixed'")
        self.links = links
        self.gravity = np.asarray(gravity, float)
        movable = [k for k, link in enumerate(links) if link.kind != "fixed"]
        self.coordinate = {k: n for n, k in enumerate(movable)}  # link -> place in q
        self.n = len(movable)

    def motion(self, q: Any, qd: Any, qdd: Any) -> list[LinkMotion]:
        """Kinematics from the base to the tips (4), (5); q, qd (n,), qdd (n,) or affine (n, m)."""
        qdd = np.asarray(qdd, float)
        qdd = qdd[:, None] if qdd.ndim == 1 else qdd
        m = qdd.shape[1]
        base = LinkMotion(
            np.eye(3), np.zeros(3), np.eye(3), np.zeros(3), *np.zeros((2, 3)), np.zeros((3, m)), np.zeros((3, m))
        )
        out: list[LinkMotion] = []
        for k, link in enumerate(self.links):
            p = base if link.parent < 0 else out[link.parent]
            n = self.coordinate.get(k)
            x, xd, xdd = (0.0, 0.0, np.zeros(m)) if n is None else (float(q[n]), float(qd[n]), qdd[n])
            out.append(_step(link, p, x, xd, xdd))
        return out

    def loads(self, motion: list[LinkMotion], external: np.ndarray | None = None) -> JointLoads:
        """Joint forces and torques link by link from the tips (6), (7), (9).

        external: (n, 6, m) force and moment about O_k of other loads on each link, link axes.
        """
        m = motion[0].gamma.shape[1] if motion else 1
        F = np.zeros((len(self.links), 3, m))
        M = np.zeros_like(F)
        effort = np.zeros((self.n, m))
        for k in reversed(range(len(self.links))):
            link, now = self.links[k], motion[k]
            centre, J = np.asarray(link.centre, float), np.asarray(link.inertia, float)
            weight = link.mass * now.a0 @ self.gravity  # (7)
            F[k] += link.mass * now.acceleration(centre)  # -f^in (6)
            F[k, :, 0] -= weight
            M[k] += link.mass * skew(centre) @ now.gamma + J @ now.epsilon  # -m^in (6)
            M[k, :, 0] += np.cross(now.omega, J @ now.omega) - np.cross(centre, weight)
            if external is not None:
                F[k] -= external[k, :3]
                M[k] -= external[k, 3:]
            if link.parent >= 0:  # (9): hand over to the parent
                f = now.a.T @ F[k]
                F[link.parent] += f
                M[link.parent] += now.a.T @ M[k] + skew(now.r) @ f
            if k in self.coordinate:
                effort[self.coordinate[k]] = (F if link.kind == "prismatic" else M)[k, 2]
        return JointLoads(F, M, effort)

    def inverse(self, q: Any, qd: Any, qdd: Any, external: Any = None) -> JointLoads:
        """Efforts and joint forces for a given motion; plain vectors in, arrays without the affine axis out."""
        motion = self.motion(q, qd, qdd)
        external = None if external is None else np.asarray(external, float)[:, :, None]
        out = self.loads(motion, external)
        return JointLoads(out.F[..., 0], out.M[..., 0], out.effort[..., 0])


def _step(link: Link, p: LinkMotion, x: float, xd: float, xdd: np.ndarray) -> LinkMotion:
    """From T_{k-1} to T_k, (4) and (5)."""
    seat, r = np.asarray(link.seat, float), np.asarray(link.r, float)
    slides = link.kind == "prismatic"
    a = seat if slides else turn(x) @ seat
    axis = seat.T @ U3  # z_k in the axes of T_{k-1}
    r = r + x * axis if slides else r
    carried = a @ np.cross(p.omega, axis)  # a w~ a^T u_3
    omega, epsilon = a @ p.omega, a @ p.epsilon
    v, gamma = a @ (p.v + np.cross(p.omega, r)), a @ p.acceleration(r)
    if slides:
        v = v + xd * U3
        gamma[2] += xdd
        gamma[:, 0] += 2 * xd * carried
    else:
        omega = omega + xd * U3
        epsilon[2] += xdd
        epsilon[:, 0] += xd * carried
    return LinkMotion(a, r, a @ p.a0, p.r0 + p.a0.T @ r, omega, v, epsilon, gamma)
