"""Hand-written time loop of the N-four-bar; the scheme and the interface are those of kernels_forward.py.

Upright rods k on ground pins A_k, level rods between their tops, all 1 m, 1 kg.  Bodies up_0, level_0, up_1, ...; pins
L_0, R_0, L_1, ... (2 N), then A_0 ... A_N:

    Phi_L = r_level - e - r_up - h,  Phi_R = r_next + h_next - r_level - e,  Phi_A = r_up - h - (k, 0)

A_k is eliminated first: with B = 1/m + h' h'^T / J, X = h' h'^T / J - 1/m it leaves P = B - X B^-1 X at the top of up_k,
so what remains is one row of pins again, with +P on R_(k-1), L_k and -P between them.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.kernels_forward import G, _backward, _eliminate, _forward, _invert, _jit, _last, time_loop

_W, _Z = 1.0, 12.0  # 1/m, 1/J


@_jit
def _bars_arms(q, A, p):
    for k in range(q.shape[0]):
        A[k, 0], A[k, 1] = 0.5 * math.cos(q[k, 2]), 0.5 * math.sin(q[k, 2])


@_jit
def _bars_factor(A, F, p):
    D, C, B, X = F
    N = B.shape[0] - 1
    for k in range(N + 1):
        hx, hy = A[2 * k, 0], A[2 * k, 1]
        xx, xy, yy = _Z * hy * hy, -_Z * hx * hy, _Z * hx * hx
        b0, b1, b2 = _W + xx, xy, _W + yy
        x0, x1, x2 = xx - _W, xy, yy - _W
        B[k, 0], B[k, 1], B[k, 2] = b0, b1, b2
        _invert(B, k)
        i0, i1, i2 = B[k, 0], B[k, 1], B[k, 2]
        X[k, 0], X[k, 1], X[k, 2] = x0, x1, x2
        y0, y1 = i0 * x0 + i1 * x1, i0 * x1 + i1 * x2
        y2, y3 = i1 * x0 + i2 * x1, i1 * x1 + i2 * x2
        p0, p1, p2 = b0 - x0 * y0 - x1 * y2, b1 - x0 * y1 - x1 * y3, b2 - x1 * y1 - x2 * y3
        if k > 0:
            D[2 * k - 1, 0] += p0
            D[2 * k - 1, 1] += p1
            D[2 * k - 1, 2] += p2
            C[2 * k - 1, 0], C[2 * k - 1, 1], C[2 * k - 1, 2], C[2 * k - 1, 3] = -p0, -p1, -p1, -p2
        if k < N:
            ex, ey = A[2 * k + 1, 0], A[2 * k + 1, 1]
            xx, xy, yy = _Z * ey * ey, -_Z * ex * ey, _Z * ex * ex
            D[2 * k, 0], D[2 * k, 1], D[2 * k, 2] = p0 + _W + xx, p1 + xy, p2 + _W + yy
            D[2 * k + 1, 0], D[2 * k + 1, 1], D[2 * k + 1, 2] = _W + xx, xy, _W + yy
            C[2 * k, 0], C[2 * k, 1], C[2 * k, 2], C[2 * k, 3] = xx - _W, xy, xy, yy - _W
    for j in range(2 * N - 1):
        _eliminate(D, C, j, j + 1)
    _invert(D, 2 * N - 1)


@_jit
def _bars_solve(F, x, p):
    D, C, B, X = F
    N = B.shape[0] - 1
    for k in range(N + 1):
        a = 2 * N + k
        y0, y1 = B[k, 0] * x[a, 0] + B[k, 1] * x[a, 1], B[k, 1] * x[a, 0] + B[k, 2] * x[a, 1]
        z0, z1 = X[k, 0] * y0 + X[k, 1] * y1, X[k, 1] * y0 + X[k, 2] * y1
        if k < N:
            x[2 * k, 0] -= z0
            x[2 * k, 1] -= z1
        if k > 0:
            x[2 * k - 1, 0] += z0
            x[2 * k - 1, 1] += z1
    for j in range(2 * N - 1):
        _forward(D, C, j, j + 1, x)
    _last(D, 2 * N - 1, x)
    for j in range(2 * N - 2, -1, -1):
        _backward(D, C, j, j + 1, x)
    for k in range(N + 1):
        a = 2 * N + k
        d0, d1 = 0.0, 0.0
        if k < N:
            d0, d1 = x[2 * k, 0], x[2 * k, 1]
        if k > 0:
            d0 -= x[2 * k - 1, 0]
            d1 -= x[2 * k - 1, 1]
        y0, y1 = x[a, 0] - X[k, 0] * d0 - X[k, 1] * d1, x[a, 1] - X[k, 1] * d0 - X[k, 2] * d1
        x[a, 0], x[a, 1] = B[k, 0] * y0 + B[k, 1] * y1, B[k, 1] * y0 + B[k, 2] * y1


@_jit
def _bars_open(q, A, r, p, turned):
    n = q.shape[0]
    N = n // 2
    gap, lx, ly, tx, ty = 0.0, 0.0, 0.0, 0.0, 0.0  # end of the level rod and top of the upright one before
    for k in range(n):
        hx, hy = A[k, 0], A[k, 1]
        if turned:
            hx, hy = 0.5 * math.cos(q[k, 2]), 0.5 * math.sin(q[k, 2])
        x, y, half = q[k, 0], q[k, 1], k // 2
        if k % 2:
            r[k - 1, 0], r[k - 1, 1] = x - hx - tx, y - hy - ty
            lx, ly = x + hx, y + hy
            gap = max(gap, abs(r[k - 1, 0]), abs(r[k - 1, 1]))
        else:
            tx, ty = x + hx, y + hy
            if k > 0:
                r[k - 1, 0], r[k - 1, 1] = tx - lx, ty - ly
                gap = max(gap, abs(r[k - 1, 0]), abs(r[k - 1, 1]))
            a = 2 * N + half
            r[a, 0], r[a, 1] = x - hx - half, y - hy
            gap = max(gap, abs(r[a, 0]), abs(r[a, 1]))
    return gap


@_jit
def _bars_slip(v, A, r, p):
    n = v.shape[0]
    N = n // 2
    lx, ly, tx, ty = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        dx, dy = -A[k, 1] * v[k, 2], A[k, 0] * v[k, 2]
        if k % 2:
            r[k - 1, 0], r[k - 1, 1] = v[k, 0] - dx - tx, v[k, 1] - dy - ty
            lx, ly = v[k, 0] + dx, v[k, 1] + dy
        else:
            tx, ty = v[k, 0] + dx, v[k, 1] + dy
            if k > 0:
                r[k - 1, 0], r[k - 1, 1] = tx - lx, ty - ly
            r[2 * N + k // 2, 0], r[2 * N + k // 2, 1] = v[k, 0] - dx, v[k, 1] - dy


@_jit
def _bars_load(q, v, A, f, r, p):
    # gamma from the points: L: e w^2 + h w^2 with Phi_q a = -(...), R: h w^2 + e w^2 the other way, A: -h w^2
    n = v.shape[0]
    N = n // 2
    lx, ly, tx, ty = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        f[k, 0], f[k, 1], f[k, 2] = 0.0, -G, 0.0
        cx, cy = A[k, 0] * v[k, 2] ** 2, A[k, 1] * v[k, 2] ** 2
        if k % 2:
            r[k - 1, 0], r[k - 1, 1] = cx + tx, cy + ty
            lx, ly = cx, cy
        else:
            tx, ty = cx, cy
            if k > 0:
                r[k - 1, 0], r[k - 1, 1] = lx - cx, ly - cy
            r[2 * N + k // 2, 0], r[2 * N + k // 2, 1] = cx, cy - G


@_jit
def _bars_pull(A, lam, f, p):
    n = f.shape[0]
    N = n // 2
    for k in range(n):
        if k % 2:  # +lam_L at -e, -lam_R at +e
            sx, sy = lam[k - 1, 0] - lam[k, 0], lam[k - 1, 1] - lam[k, 1]
            dx, dy = -lam[k - 1, 0] - lam[k, 0], -lam[k - 1, 1] - lam[k, 1]
        else:  # +lam_A at -h; +lam_R, -lam_L at +h
            a = 2 * N + k // 2
            bx, by = 0.0, 0.0
            if k < n - 1:
                bx, by = -lam[k, 0], -lam[k, 1]
            if k > 0:
                bx += lam[k - 1, 0]
                by += lam[k - 1, 1]
            sx, sy, dx, dy = lam[a, 0] + bx, lam[a, 1] + by, bx - lam[a, 0], by - lam[a, 1]
        f[k, 0] -= _W * sx
        f[k, 1] -= _W * sy
        f[k, 2] -= _Z * (A[k, 0] * dy - A[k, 1] * dx)


bars = time_loop(_bars_arms, _bars_factor, _bars_solve, _bars_open, _bars_slip, _bars_load, _bars_pull)


def run_bars(q, v, t_end, steps, every=None):
    """N-four-bar from q, v (3 (2 N + 1),), bodies from left to right."""
    n = q.size // 3
    N = n // 2
    F = (np.empty((2 * N, 3)), np.empty((2 * N, 4)), np.empty((N + 1, 3)), np.empty((N + 1, 3)))
    return bars(
        q.reshape(n, 3), v.reshape(n, 3), t_end / steps, steps, every or steps, 3 * N + 1, np.empty((n, 2)), F, 0
    )
