"""The physics: one elementwise kernel per primitive constraint.

Every joint and driver is composed of the primitives below.  A kernel is plain arithmetic on scalars or arrays without
branches on values, so the same source runs

* under NumPy over all instances of a batch and over leading axes (time samples, designs),
* inlined by numba into compiled sweeps (`planar.compiled`),
* on complex input, which gives derivatives exact to round-off by the complex step.

Arguments: the states of the bodies i, j (and k), each a tuple ``(x, y, phi, c, s, vx, vy, w)`` with c = cos(phi),
s = sin(phi); the parameters ``p``; the motion ``f = (f, f', f'')`` (zeros where nothing is driven).

Returns ``(Phi, Phi_q, nu, gamma)``, tuples over rows, the Jacobian entries in the order of `Primitive.entries`:

    Phi(q, t) = 0      Phi_q v = nu = -Phi_t      Phi_q a = gamma = -(Phi_q v)_q v - 2 Phi_qt v - Phi_tt

Letters: a_i = A_i s_i' is a body-fixed vector in global axes, d = r_j^P - r_i^P, u_i a unit direction fixed in i,
n_i = R u_i its left normal, R = [[0, -1], [1, 0]].  The second time derivative of a_i is R a_i phi'' - a_i w^2, so the
part of d'' that is quadratic in the velocities is  d2 = a_i w_i^2 - a_j w_j^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def coincide(i, j, p, f):
    """Phi = r_j^P - r_i^P (two rows); p = (s_i', s_j')."""
    xi, yi, _, ci, si, _, _, wi = i
    xj, yj, _, cj, sj, _, _, wj = j
    aix, aiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ajx, ajy = cj * p[2] - sj * p[3], sj * p[2] + cj * p[3]
    Phi = (xj + ajx - xi - aix, yj + ajy - yi - aiy)
    Phi_q = (-1.0, aiy, 1.0, -ajy, -1.0, -aix, 1.0, ajx)
    gamma = (ajx * wj * wj - aix * wi * wi, ajy * wj * wj - aiy * wi * wi)
    return Phi, Phi_q, (0.0, 0.0), gamma


def distance(i, j, p, f):
    """Phi = (d.d - L^2) / (2 L0), L = p.L + f(t); p = (s_i', s_j', L, L0).

    Divided by 2 L0, a row in metres: the multiplier of a rod of constant length L = L0 is its axial force in newton.
    """
    xi, yi, _, ci, si, vxi, vyi, wi = i
    xj, yj, _, cj, sj, vxj, vyj, wj = j
    aix, aiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ajx, ajy = cj * p[2] - sj * p[3], sj * p[2] + cj * p[3]
    dx, dy = xj + ajx - xi - aix, yj + ajy - yi - aiy
    dvx, dvy = vxj - ajy * wj - vxi + aiy * wi, vyj + ajx * wj - vyi - aix * wi
    d2x, d2y = aix * wi * wi - ajx * wj * wj, aiy * wi * wi - ajy * wj * wj
    L, k = p[4] + f[0], 1.0 / p[5]
    ux, uy = dx * k, dy * k
    Phi = 0.5 * k * (dx * dx + dy * dy - L * L)
    Phi_q = (-ux, -uy, ux * aiy - uy * aix, ux, uy, uy * ajx - ux * ajy)
    nu = k * L * f[1]
    gamma = -k * (dvx * dvx + dvy * dvy + dx * d2x + dy * d2y - f[1] * f[1] - L * f[2])
    return (Phi,), Phi_q, (nu,), (gamma,)


def parallel(i, j, p, f):
    """Phi = (R u_i) . u_j = sin(angle from u_i to u_j); p = (u_i', u_j')."""
    _, _, _, ci, si, _, _, wi = i
    _, _, _, cj, sj, _, _, wj = j
    uix, uiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ujx, ujy = cj * p[2] - sj * p[3], sj * p[2] + cj * p[3]
    Phi = uix * ujy - uiy * ujx
    cosine = uix * ujx + uiy * ujy
    gamma = Phi * (wj - wi) * (wj - wi)
    return (Phi,), (-cosine, cosine), (0.0,), (gamma,)


def on_line(i, j, p, f):
    """Phi = n_i . d: distance of a point of j from a line of i; p = (s_i', u_i', s_j')."""
    xi, yi, _, ci, si, vxi, vyi, wi = i
    xj, yj, _, cj, sj, vxj, vyj, wj = j
    aix, aiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ux, uy = ci * p[2] - si * p[3], si * p[2] + ci * p[3]
    ajx, ajy = cj * p[4] - sj * p[5], sj * p[4] + cj * p[5]
    dx, dy = xj + ajx - xi - aix, yj + ajy - yi - aiy
    dvx, dvy = vxj - ajy * wj - vxi + aiy * wi, vyj + ajx * wj - vyi - aix * wi
    d2x, d2y = aix * wi * wi - ajx * wj * wj, aiy * wi * wi - ajy * wj * wj
    nx, ny = -uy, ux
    Phi = nx * dx + ny * dy
    Phi_q = (-nx, -ny, -ux * (dx + aix) - uy * (dy + aiy), nx, ny, ux * ajx + uy * ajy)
    # n' = -w u, n'' = -alpha u - w^2 n
    gamma = -(nx * d2x + ny * d2y - 2.0 * wi * (ux * dvx + uy * dvy) - wi * wi * Phi)
    return (Phi,), Phi_q, (0.0,), (gamma,)


def along_line(i, j, p, f):
    """Phi = u_i . d + rho (phi_j - phi_i) - C - f(t); p = (s_i', u_i', s_j', rho, C).

    rho = 0: position of a point along a line (slide driver).  rho != 0: a pinion of radius rho on the left of the line
    rolls on it (rack): the contact point u_i . d' + rho (w_j - w_i) = 0 does not slip.
    """
    xi, yi, phii, ci, si, vxi, vyi, wi = i
    xj, yj, phij, cj, sj, vxj, vyj, wj = j
    aix, aiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ux, uy = ci * p[2] - si * p[3], si * p[2] + ci * p[3]
    ajx, ajy = cj * p[4] - sj * p[5], sj * p[4] + cj * p[5]
    dx, dy = xj + ajx - xi - aix, yj + ajy - yi - aiy
    dvx, dvy = vxj - ajy * wj - vxi + aiy * wi, vyj + ajx * wj - vyi - aix * wi
    d2x, d2y = aix * wi * wi - ajx * wj * wj, aiy * wi * wi - ajy * wj * wj
    nx, ny = -uy, ux
    slide = ux * dx + uy * dy
    Phi = slide + p[6] * (phij - phii) - p[7] - f[0]
    Phi_q = (-ux, -uy, nx * (dx + aix) + ny * (dy + aiy) - p[6], ux, uy, p[6] - nx * ajx - ny * ajy)
    # u' = w n, u'' = alpha n - w^2 u
    gamma = f[2] - (ux * d2x + uy * d2y + 2.0 * wi * (nx * dvx + ny * dvy) - wi * wi * slide)
    return (Phi,), Phi_q, (f[1],), (gamma,)


def angles(i, j, k, p, f):
    """Phi = c_i phi_i + c_j phi_j + c_k phi_k - C - f(t); p = (c_i, c_j, c_k, C)."""
    Phi = p[0] * i[2] + p[1] * j[2] + p[2] * k[2] - p[3] - f[0]
    return (Phi,), (p[0], p[1], p[2]), (f[1],), (f[2],)


def mesh(i, j, p, f):
    """Phi = rho_i phi_i + rho_j phi_j - (rho_i + rho_j) theta(d) - C; p = (s_i', s_j', rho_i, rho_j, C).

    Pitch circles roll on each other; theta is the angle of the line of centres.  An internal ring has a negative radius.
    arctan2 knows theta up to whole turns only; the turn is the one that brings Phi nearest to zero, which is unambiguous
    while |Phi| < pi |rho_i + rho_j| because the phi are not wrapped.  So theta is continuous without any memory.
    """
    xi, yi, phii, ci, si, vxi, vyi, wi = i
    xj, yj, phij, cj, sj, vxj, vyj, wj = j
    aix, aiy = ci * p[0] - si * p[1], si * p[0] + ci * p[1]
    ajx, ajy = cj * p[2] - sj * p[3], sj * p[2] + cj * p[3]
    dx, dy = xj + ajx - xi - aix, yj + ajy - yi - aiy
    dvx, dvy = vxj - ajy * wj - vxi + aiy * wi, vyj + ajx * wj - vyi - aix * wi
    d2x, d2y = aix * wi * wi - ajx * wj * wj, aiy * wi * wi - ajy * wj * wj
    # theta of complex d: the real angle, plus the (tiny) angle that is left after turning d back by it
    theta0 = np.arctan2(dy.real, dx.real)
    ct, st = np.cos(theta0), np.sin(theta0)
    theta = theta0 + np.arctan((ct * dy - st * dx) / (ct * dx + st * dy))
    rho = p[4] + p[5]
    Phi1 = p[4] * phii + p[5] * phij - rho * theta - p[6]
    turns = np.floor(Phi1.real / (2.0 * np.pi * rho) + 0.5)
    Phi = Phi1 - 2.0 * np.pi * rho * turns
    # theta' = g . d' with g = R d / d.d;  theta'' = g . d'' - 2 (d x d')(d . d') / (d.d)^2
    dd = dx * dx + dy * dy
    gx, gy = rho * dy / dd, -rho * dx / dd  # -rho g
    Phi_q = (-gx, -gy, p[4] + gx * aiy - gy * aix, gx, gy, p[5] - gx * ajy + gy * ajx)
    swirl = 2.0 * (dx * dvy - dy * dvx) * (dx * dvx + dy * dvy) / (dd * dd)
    gamma = -(gx * d2x + gy * d2y + rho * swirl)
    return (Phi,), Phi_q, (0.0,), (gamma,)


def curve(i, j, p, f):
    """Phi = signed distance of a point of j from a curve of i; p = (s_j', Phi, n', kappa).

    The foot of the perpendicular on the curve (`planar.curves`) gives the distance Phi, the unit normal n' in the axes
    of i and the signed curvature kappa.  With t the tangent, D = r_j^P - r_i and p' = A_i^T D:
    d2 Phi = n . p'' - kappa (t . p')^2 / (1 - kappa Phi).
    """
    xi, yi, _, ci, si, vxi, vyi, wi = i
    xj, yj, _, cj, sj, vxj, vyj, wj = j
    ajx, ajy = cj * p[0] - sj * p[1], sj * p[0] + cj * p[1]
    Phi, kappa = p[2], p[5]
    nx, ny = ci * p[3] - si * p[4], si * p[3] + ci * p[4]
    tx, ty = ny, -nx
    Dx, Dy = xj + ajx - xi, yj + ajy - yi
    Dvx, Dvy = vxj - ajy * wj - vxi, vyj + ajx * wj - vyi
    Phi_q = (-nx, -ny, -(tx * Dx + ty * Dy), nx, ny, ny * ajx - nx * ajy)
    slip = tx * Dvx + ty * Dvy + wi * (nx * Dx + ny * Dy)
    quadratic = -wj * wj * (nx * ajx + ny * ajy) - 2.0 * wi * (tx * Dvx + ty * Dvy) - wi * wi * (nx * Dx + ny * Dy)
    gamma = kappa * slip * slip / (1.0 - kappa * Phi) - quadratic
    return (Phi,), Phi_q, (0.0,), (gamma,)


@dataclass(frozen=True)
class Primitive:
    """A kernel with what the compiler of systems must know about it.

    entries: (row, body slot, coordinate 0 x | 1 y | 2 phi) of each Jacobian entry, in the kernel's order.
    constant: index of the parameter that may be taken from the drawn pose, -1 if there is none.
    """

    name: str
    code: int
    kernel: Callable
    rows: int
    bodies: int
    entries: tuple[tuple[int, int, int], ...]
    parameters: int
    constant: int = -1
    from_drawn: Callable = np.positive  # Phi of the drawn pose -> the constant


_SIX = tuple((0, b, c) for b in range(2) for c in range(3))
_COINCIDE = tuple((r, b, c) for r in range(2) for b in range(2) for c in (r, 2))

PRIMITIVES: dict[str, Primitive] = {
    p.name: p
    for p in (
        Primitive("coincide", 0, coincide, 2, 2, _COINCIDE, 4),
        # with L = 0 and L0 = 1/2 the kernel returns Phi = d.d
        Primitive("distance", 1, distance, 1, 2, _SIX, 6, constant=4, from_drawn=np.sqrt),
        Primitive("parallel", 2, parallel, 1, 2, ((0, 0, 2), (0, 1, 2)), 4),
        Primitive("on_line", 3, on_line, 1, 2, _SIX, 6),
        Primitive("along_line", 4, along_line, 1, 2, _SIX, 8, constant=7),
        Primitive("angles", 5, angles, 1, 3, ((0, 0, 2), (0, 1, 2), (0, 2, 2)), 4, constant=3),
        Primitive("mesh", 6, mesh, 1, 2, _SIX, 7, constant=6),
        Primitive("curve", 7, curve, 1, 2, _SIX, 6),
    )
}
