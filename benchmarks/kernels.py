"""Hand-written compiled kernels for one four-bar, what a specialist would write instead of using planar.

Unknowns: the angles of coupler and rocker; loop closure by Newton with a 2 x 2 system solved by hand, the prediction from
the sample before (second-order Taylor).  Then velocities, accelerations and all nine coordinates of the bodies.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def four_bar(theta, omega, alpha, L, coupler0, rocker0, q, v, a):
    """q, v, a (nt, 9) of crank, coupler, rocker (rods) for crank angle theta (nt,) at constant-or-not omega, alpha (nt,)."""
    L1, L2, L3, L0 = L
    p2, p3, w2, w3, e2, e3 = coupler0, rocker0, 0.0, 0.0, 0.0, 0.0
    for k in range(theta.size):
        if k:
            h = (theta[k] - theta[k - 1]) / omega[k - 1] if omega[k - 1] else 0.0
            p2 += h * (w2 + 0.5 * h * e2)
            p3 += h * (w3 + 0.5 * h * e3)
        c1, s1 = math.cos(theta[k]), math.sin(theta[k])
        for _ in range(20):
            c2, s2, c3, s3 = math.cos(p2), math.sin(p2), math.cos(p3), math.sin(p3)
            fx = L1 * c1 + L2 * c2 - L3 * c3 - L0
            fy = L1 * s1 + L2 * s2 - L3 * s3
            # [-L2 s2  L3 s3; L2 c2  -L3 c3] [d2; d3] = [-fx; -fy]
            det = L2 * L3 * (s2 * c3 - c2 * s3)
            d2 = (fx * L3 * c3 + fy * L3 * s3) / det
            d3 = (L2 * s2 * fy + L2 * c2 * fx) / det
            p2 += d2
            p3 += d3
            if abs(d2) + abs(d3) < 1e-14:
                break
        w, e = omega[k], alpha[k]
        # velocities: the same matrix with the crank on the right
        rx, ry = L1 * s1 * w, -L1 * c1 * w
        w2 = (-rx * L3 * c3 - ry * L3 * s3) / det
        w3 = (-L2 * s2 * ry - L2 * c2 * rx) / det
        rx = L1 * (s1 * e + c1 * w * w) + L2 * c2 * w2 * w2 - L3 * c3 * w3 * w3
        ry = L1 * (-c1 * e + s1 * w * w) + L2 * s2 * w2 * w2 - L3 * s3 * w3 * w3
        e2 = (-rx * L3 * c3 - ry * L3 * s3) / det
        e3 = (-L2 * s2 * ry - L2 * c2 * rx) / det
        bx, by = L1 * c1, L1 * s1
        q[k, 0], q[k, 1], q[k, 2] = 0.5 * bx, 0.5 * by, theta[k]
        q[k, 3], q[k, 4], q[k, 5] = bx + 0.5 * L2 * c2, by + 0.5 * L2 * s2, p2
        q[k, 6], q[k, 7], q[k, 8] = L0 + 0.5 * L3 * c3, 0.5 * L3 * s3, p3
        v[k, 0], v[k, 1], v[k, 2] = -0.5 * by * w, 0.5 * bx * w, w
        v[k, 3], v[k, 4], v[k, 5] = -by * w - 0.5 * L2 * s2 * w2, bx * w + 0.5 * L2 * c2 * w2, w2
        v[k, 6], v[k, 7], v[k, 8] = -0.5 * L3 * s3 * w3, 0.5 * L3 * c3 * w3, w3
        ax, ay = -by * e - bx * w * w, bx * e - by * w * w
        a[k, 0], a[k, 1], a[k, 2] = 0.5 * ax, 0.5 * ay, e
        a[k, 3] = ax - 0.5 * L2 * (s2 * e2 + c2 * w2 * w2)
        a[k, 4] = ay + 0.5 * L2 * (c2 * e2 - s2 * w2 * w2)
        a[k, 5] = e2
        a[k, 6] = -0.5 * L3 * (s3 * e3 + c3 * w3 * w3)
        a[k, 7] = 0.5 * L3 * (c3 * e3 - s3 * w3 * w3)
        a[k, 8] = e3


@njit(cache=True, error_model="numpy")
def four_bar_reactions(q, a, mass, inertia, g, L, F):
    """Pin forces A on crank, B and C on coupler, D on rocker and the torque, F (nt, 9): Newton-Euler by hand.

    Moments of the rocker about D and of the coupler about B give C; the rest follows body by body.
    """
    L1, L2, L3, _ = L
    for k in range(len(q)):
        c1, s1 = math.cos(q[k, 2]), math.sin(q[k, 2])
        c2, s2 = math.cos(q[k, 5]), math.sin(q[k, 5])
        c3, s3 = math.cos(q[k, 8]), math.sin(q[k, 8])
        i1x, i1y = mass[0] * a[k, 0], mass[0] * (a[k, 1] + g)
        i2x, i2y = mass[1] * a[k, 3], mass[1] * (a[k, 4] + g)
        i3x, i3y = mass[2] * a[k, 6], mass[2] * (a[k, 7] + g)
        # C acts on the coupler; coupler about B: L2 u2 x C = J2 e2 + L2/2 u2 x i2; rocker about D: -L3 u3 x C = ...
        m2 = inertia[1] * a[k, 5] + 0.5 * L2 * (c2 * i2y - s2 * i2x)
        m3 = inertia[2] * a[k, 8] + 0.5 * L3 * (c3 * i3y - s3 * i3x)
        det = L2 * L3 * (s2 * c3 - c2 * s3)
        cx = (-L3 * c3 * m2 - L2 * c2 * m3) / det
        cy = (-L3 * s3 * m2 - L2 * s2 * m3) / det
        bx, by = i2x - cx, i2y - cy
        F[k, 0], F[k, 1] = i1x + bx, i1y + by
        F[k, 2], F[k, 3], F[k, 4], F[k, 5] = bx, by, cx, cy
        F[k, 6], F[k, 7] = i3x + cx, i3y + cy
        F[k, 8] = inertia[0] * a[k, 2] + 0.5 * L1 * (c1 * i1y - s1 * i1x) + L1 * (c1 * by - s1 * bx)


def empty(n: int, columns: int = 9) -> np.ndarray:
    return np.zeros((n, columns))


@njit(cache=True, error_model="numpy")
def four_bar_cartesian(theta, omega, alpha, L, q, v, a):
    """The same in the nine coordinates x, y, phi of the three bodies: Jacobian filled by hand, dense LU with pivoting.

    q[0] holds the start; predictions by second-order Taylor, as above.
    """
    L1, L2, L3, L0 = L
    h1, h2, h3 = 0.5 * L1, 0.5 * L2, 0.5 * L3
    A, x, p = np.zeros((9, 9)), np.zeros(9), np.zeros(9, np.int64)
    for k in range(theta.size):
        if k:
            h = (theta[k] - theta[k - 1]) / omega[k - 1] if omega[k - 1] else 0.0
            for m in range(9):
                q[k, m] = q[k - 1, m] + h * (v[k - 1, m] + 0.5 * h * a[k - 1, m])
        for _ in range(20):
            c1, s1 = math.cos(q[k, 2]), math.sin(q[k, 2])
            c2, s2 = math.cos(q[k, 5]), math.sin(q[k, 5])
            c3, s3 = math.cos(q[k, 8]), math.sin(q[k, 8])
            A[:] = 0.0
            A[0, 0] = A[1, 1] = A[2, 3] = A[3, 4] = A[4, 6] = A[5, 7] = A[6, 6] = A[7, 7] = A[8, 2] = 1.0
            A[2, 0] = A[3, 1] = A[4, 3] = A[5, 4] = -1.0
            A[0, 2], A[1, 2], A[2, 2], A[3, 2] = h1 * s1, -h1 * c1, h1 * s1, -h1 * c1
            A[2, 5], A[3, 5], A[4, 5], A[5, 5] = h2 * s2, -h2 * c2, h2 * s2, -h2 * c2
            A[4, 8], A[5, 8], A[6, 8], A[7, 8] = -h3 * s3, h3 * c3, h3 * s3, -h3 * c3
            x[0], x[1] = -(q[k, 0] - h1 * c1), -(q[k, 1] - h1 * s1)
            x[2] = -(q[k, 3] - h2 * c2 - q[k, 0] - h1 * c1)
            x[3] = -(q[k, 4] - h2 * s2 - q[k, 1] - h1 * s1)
            x[4] = -(q[k, 6] + h3 * c3 - q[k, 3] - h2 * c2)
            x[5] = -(q[k, 7] + h3 * s3 - q[k, 4] - h2 * s2)
            x[6], x[7] = -(q[k, 6] - h3 * c3 - L0), -(q[k, 7] - h3 * s3)
            x[8] = theta[k] - q[k, 2]
            _lu(A, p)
            _solve(A, p, x)
            change = 0.0
            for m in range(9):
                q[k, m] += x[m]
                change = max(change, abs(x[m]))
            if change < 1e-14:
                break
        x[:] = 0.0
        x[8] = omega[k]
        _solve(A, p, x)
        v[k] = x
        w1, w2, w3 = x[2] * x[2], x[5] * x[5], x[8] * x[8]
        x[0], x[1] = -h1 * c1 * w1, -h1 * s1 * w1
        x[2], x[3] = -h2 * c2 * w2 - h1 * c1 * w1, -h2 * s2 * w2 - h1 * s1 * w1
        x[4], x[5] = h3 * c3 * w3 - h2 * c2 * w2, h3 * s3 * w3 - h2 * s2 * w2
        x[6], x[7], x[8] = -h3 * c3 * w3, -h3 * s3 * w3, alpha[k]
        _solve(A, p, x)
        a[k] = x


@njit(error_model="numpy")
def _lu(A, p):
    n = len(A)
    for k in range(n):
        best = k
        for r in range(k + 1, n):
            if abs(A[r, k]) > abs(A[best, k]):
                best = r
        p[k] = best
        if best != k:
            for c in range(n):
                A[k, c], A[best, c] = A[best, c], A[k, c]
        for r in range(k + 1, n):
            if A[r, k] != 0.0:
                A[r, k] /= A[k, k]
                for c in range(k + 1, n):
                    A[r, c] -= A[r, k] * A[k, c]


@njit(error_model="numpy")
def _solve(A, p, x):
    n = len(A)
    for k in range(n):
        x[k], x[p[k]] = x[p[k]], x[k]
    for r in range(1, n):
        for k in range(r):
            x[r] -= A[r, k] * x[k]
    for r in range(n - 1, -1, -1):
        for k in range(r + 1, n):
            x[r] -= A[r, k] * x[k]
        x[r] /= A[r, r]
