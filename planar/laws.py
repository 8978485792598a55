"""Force laws: one elementwise kernel per kind of force element, with its tangents.

A kernel takes the states of two bodies ``(x, y, phi, c, s, vx, vy, w)``, parameters ``p`` and magnitudes ``m`` (the parts
that may depend on time or state) and returns the generalised forces ``Q = (F_x, F_y, T)_i, (F_x, F_y, T)_j``: forces in N,
couples about the centre of mass in N m.  Elementwise like the kernels of `planar.primitives`.

`tangents(...)` returns dQ/dq and dQ/dv (…, 6, 6) at constant magnitudes, analytic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def point_force(i, j, p, m):
    """F = m (global axes, p[2] = 0) or A_i m (body axes, p[2] = 1) at s_i' = p[:2]; T = a_i x F."""
    _, _, _, c, s, _, _, _ = i
    ax, ay = c * p[0] - s * p[1], s * p[0] + c * p[1]
    Fx = m[0] + p[2] * ((c - 1.0) * m[0] - s * m[1])
    Fy = m[1] + p[2] * (s * m[0] + (c - 1.0) * m[1])
    return Fx, Fy, ax * Fy - ay * Fx, 0.0, 0.0, 0.0


def torque(i, j, p, m):
    """T = m on body i."""
    return 0.0, 0.0, m[0], 0.0, 0.0, 0.0


def spring(i, j, p, m):
    """Spring-damper-actuator between two points: tension f = k (l - l0) + c l' + m; p = (s_i', s_j', k, c, l0).

    On i the force is +f d/l, on j -f d/l (tension pulls the points together).  1e-300 under the root keeps a spring of
    length zero finite without touching a digit of any other.
    """
    xi, yi, _, ci, si, vxi, vyi, wi = i
    xj, yj, _, cj, sj, vxj, vyj, wj = j
    aix, aiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ajx, ajy = cj * p[2] - sj * p[3], sj * p[2] + cj * p[3]
    dx, dy = xj + ajx - xi - aix, yj + ajy - yi - aiy
    dvx, dvy = vxj - ajy * wj - vxi + aiy * wi, vyj + ajx * wj - vyi - aix * wi
    length = np.sqrt(dx * dx + dy * dy + 1e-300)
    ux, uy = dx / length, dy / length
    f = p[4] * (length - p[6]) + p[5] * (ux * dvx + uy * dvy) + m[0]
    Fx, Fy = f * ux, f * uy
    return Fx, Fy, aix * Fy - aiy * Fx, -Fx, -Fy, ajy * Fx - ajx * Fy


def torsion(i, j, p, m):
    """T = k (phi_j - phi_i - angle) + c (w_j - w_i) + m, +T on i, -T on j; p = (k, c, angle)."""
    T = p[0] * (j[2] - i[2] - p[2]) + p[1] * (j[7] - i[7]) + m[0]
    return 0.0, 0.0, T, 0.0, 0.0, -T


# --- tangents: (dQ/dq, dQ/dv), arrays (..., 6, 6) ------------------------------------------------------------------


def _blocks(*values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    shape = np.broadcast_shapes(*(np.shape(v) for v in values))
    dtype = np.result_type(float, *values)
    return np.zeros((*shape, 6, 6), dtype), np.zeros((*shape, 6, 6), dtype)


def point_force_tangents(i, j, p, m):
    """Body axes: F turns with the body, dF = R F dphi, and the couple is constant; global axes: only the arm turns."""
    Q = point_force(i, j, p, m)
    _, _, _, c, s, _, _, _ = i
    ax, ay = c * p[0] - s * p[1], s * p[0] + c * p[1]
    K, C = _blocks(Q[0], Q[1], ax, p[2])
    K[..., 0, 2], K[..., 1, 2] = -p[2] * Q[1], p[2] * Q[0]
    K[..., 2, 2] = -(1.0 - p[2]) * (ax * Q[0] + ay * Q[1])
    return K, C


def torque_tangents(i, j, p, m):
    return _blocks(m[0], i[2])


def spring_tangents(i, j, p, m):
    """Q = -G^T F with G = dd/dq, F = f u:  dQ = -G^T dF - (dG)^T F,  dF = (u u^T df) + f (I - u u^T)/l dd."""
    xi, yi, _, ci, si, vxi, vyi, wi = i
    xj, yj, _, cj, sj, vxj, vyj, wj = j
    ai = np.stack(np.broadcast_arrays(ci * p[0] - si * p[1], si * p[0] + ci * p[1]), -1)
    aj = np.stack(np.broadcast_arrays(cj * p[2] - sj * p[3], sj * p[2] + cj * p[3]), -1)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    d = np.stack([xj - xi, yj - yi], -1) + aj - ai
    wi_, wj_ = np.asarray(wi)[..., None], np.asarray(wj)[..., None]
    dv = np.stack([vxj - vxi, vyj - vyi], -1) + wj_ * (aj @ turn.T) - wi_ * (ai @ turn.T)
    length = np.sqrt((d * d).sum(-1) + 1e-300)
    u = d / length[..., None]
    f = p[4] * (length - p[6]) + p[5] * (u * dv).sum(-1) + m[0]

    G = np.zeros((*d.shape[:-1], 2, 6), d.dtype)  # dd/dq
    G[..., 0, 0] = G[..., 1, 1] = -1.0
    G[..., 0, 3] = G[..., 1, 4] = 1.0
    G[..., :, 2], G[..., :, 5] = -(ai @ turn.T), aj @ turn.T
    H = np.zeros_like(G)  # d(d')/dq: only the angles turn the arms
    H[..., :, 2], H[..., :, 5] = wi_ * ai, -wj_ * aj

    uu = u[..., :, None] * u[..., None, :]
    across = (np.eye(2) - uu) / length[..., None, None]
    k, c, f_ = (np.asarray(x)[..., None, None] for x in np.broadcast_arrays(p[4], p[5], f))
    along = (dv[..., None, :] @ across) @ G + u[..., None, :] @ H  # dl'/dq
    dF = k * uu @ G + c * u[..., :, None] * along + f_ * across @ G
    GT = np.swapaxes(G, -1, -2)
    K = -GT @ dF
    Fu = f[..., None] * u
    K[..., 2, 2] -= (ai * Fu).sum(-1)  # d(R a)/dphi = -a
    K[..., 5, 5] += (aj * Fu).sum(-1)
    C = -c * GT @ uu @ G
    return K, C


def torsion_tangents(i, j, p, m):
    K, C = _blocks(i[2], p[0])
    for matrix, value in ((K, p[0]), (C, p[1])):
        matrix[..., 2, 2] = matrix[..., 5, 5] = -value
        matrix[..., 2, 5] = matrix[..., 5, 2] = value
    return K, C


@dataclass(frozen=True)
class Law:
    """A force kernel with the number of its parameters and magnitudes, and its tangents."""

    name: str
    code: int
    kernel: Callable
    tangents: Callable
    parameters: int
    magnitudes: int


LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        Law("point_force", 0, point_force, point_force_tangents, 3, 2),
        Law("torque", 1, torque, torque_tangents, 0, 1),
        Law("spring", 2, spring, spring_tangents, 7, 1),
        Law("torsion", 3, torsion, torsion_tangents, 3, 1),
    )
}
