"""Hand-written time loops, one per mechanism: what a patient programmer gets from numba for one linkage only.

Classical Runge-Kutta of order 4 on the accelerations, then positions and velocities projected back on the constraints
(mass-weighted).  Everything that is special about the mechanism is used: pins only, rods whose arms are +-h, constant
sparsity, so that S = Phi_q M^-1 Phi_q^T is eliminated in 2x2 blocks without fill.  S at the end of a step serves the
velocity projection and the first stage of the next step; the position correction takes S of the fourth stage.

A mechanism is seven functions on q, v (n, 3), arms A, factors F and pin vectors (m, 2):

    arms(q, A, p)               what depends on the angles
    factor(A, F, p)             S and its elimination
    solve(F, x, p)              S x = b in place
    open_(q, A, r, p, turned)   r = Phi, returns the largest; turned: A belongs to another q
    slip(v, A, r, p)            r = Phi_q v
    load(q, v, A, f, r, p)      f = M^-1 Q,  r = Phi_q f - gamma
    pull(A, lam, f, p)          f -= M^-1 Phi_q^T lam

p is a tuple of constants.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_jit = njit(error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})
G = 9.81
CLOSED = 1e-13  # pins open by less than this part of the mechanism's extent need no second correction


def time_loop(arms, factor, solve, open_, slip, load, pull):
    """The compiled loop of a mechanism: run(q, v, h, steps, every, m, A, F, p) -> q, v at every so many steps."""

    @_jit
    def run(q0, v0, h, steps, every, m, A, F, p):
        n = q0.shape[0]
        q, v = q0.copy(), v0.copy()
        qs, vs = np.empty((steps // every + 1, n, 3)), np.empty((steps // every + 1, n, 3))
        qs[0], vs[0] = q, v
        x, u, a = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
        dq, dv = np.empty((n, 3)), np.empty((n, 3))
        r = np.empty((m, 2))
        closed = CLOSED * (1.0 + np.abs(q0).max())
        arms(q, A, p)
        factor(A, F, p)
        for step in range(1, steps + 1):
            load(q, v, A, a, r, p)
            solve(F, r, p)
            pull(A, r, a, p)
            for k in range(n):
                for c in range(3):
                    dq[k, c], dv[k, c] = v[k, c], a[k, c]
                    x[k, c], u[k, c] = q[k, c] + 0.5 * h * v[k, c], v[k, c] + 0.5 * h * a[k, c]
            for stage in range(3):
                arms(x, A, p)
                factor(A, F, p)
                load(x, u, A, a, r, p)
                solve(F, r, p)
                pull(A, r, a, p)
                weight = 1.0 if stage == 2 else 2.0
                ahead = h if stage == 1 else 0.5 * h
                for k in range(n):
                    for c in range(3):
                        dq[k, c] += weight * u[k, c]
                        dv[k, c] += weight * a[k, c]
                        if stage < 2:
                            x[k, c], u[k, c] = q[k, c] + ahead * u[k, c], v[k, c] + ahead * a[k, c]
            for k in range(n):
                for c in range(3):
                    q[k, c] += h / 6.0 * dq[k, c]
                    v[k, c] += h / 6.0 * dv[k, c]
                    x[k, c] = 0.0
            # positions: S and the Jacobian of the fourth stage are near enough for the first correction
            open_(q, A, r, p, True)
            solve(F, r, p)
            pull(A, r, x, p)
            for k in range(n):
                for c in range(3):
                    q[k, c] += x[k, c]
            for _ in range(10):
                arms(q, A, p)
                factor(A, F, p)
                gap = open_(q, A, r, p, False)
                if gap < closed:
                    break
                solve(F, r, p)
                x[:] = 0.0
                pull(A, r, x, p)
                for k in range(n):
                    for c in range(3):
                        q[k, c] += x[k, c]
            slip(v, A, r, p)
            solve(F, r, p)
            pull(A, r, v, p)
            if step % every == 0:
                qs[step // every], vs[step // every] = q, v
        return qs, vs

    return run


# --- 2x2 blocks: D (m, 3) symmetric xx, xy, yy; C (m, 4) the block between k and the next ----------------------------


@_jit
def _invert(D, k):
    a, b, c = D[k, 0], D[k, 1], D[k, 2]
    d = 1.0 / (a * c - b * b)
    D[k, 0], D[k, 1], D[k, 2] = c * d, -b * d, a * d


@_jit
def _eliminate(D, C, k, j):
    """D_j -= C^T D_k^-1 C with C between k and j; D_k is left inverted."""
    _invert(D, k)
    c0, c1, c2, c3 = C[k, 0], C[k, 1], C[k, 2], C[k, 3]
    w0, w1 = D[k, 0] * c0 + D[k, 1] * c2, D[k, 0] * c1 + D[k, 1] * c3
    w2, w3 = D[k, 1] * c0 + D[k, 2] * c2, D[k, 1] * c1 + D[k, 2] * c3
    D[j, 0] -= c0 * w0 + c2 * w2
    D[j, 1] -= c0 * w1 + c2 * w3
    D[j, 2] -= c1 * w1 + c3 * w3


@_jit
def _forward(D, C, k, j, x):
    y0, y1 = D[k, 0] * x[k, 0] + D[k, 1] * x[k, 1], D[k, 1] * x[k, 0] + D[k, 2] * x[k, 1]
    x[j, 0] -= C[k, 0] * y0 + C[k, 2] * y1
    x[j, 1] -= C[k, 1] * y0 + C[k, 3] * y1


@_jit
def _backward(D, C, k, j, x):
    y0 = x[k, 0] - C[k, 0] * x[j, 0] - C[k, 1] * x[j, 1]
    y1 = x[k, 1] - C[k, 2] * x[j, 0] - C[k, 3] * x[j, 1]
    x[k, 0], x[k, 1] = D[k, 0] * y0 + D[k, 1] * y1, D[k, 1] * y0 + D[k, 2] * y1


@_jit
def _last(D, k, x):
    x[k, 0], x[k, 1] = D[k, 0] * x[k, 0] + D[k, 1] * x[k, 1], D[k, 1] * x[k, 0] + D[k, 2] * x[k, 1]


# --- serial: rods in a row from a ground pin, open (chain) or pinned to ground at the end (four-bar) -----------------
# Phi_0 = r_0 - h_0 - O,  Phi_k = r_k - h_k - r_(k-1) - h_(k-1),  Phi_n = E - r_(n-1) - h_(n-1) if closed
# p = (half, 1/m, 1/J, closed, Ex, Ey)


@_jit
def _serial_arms(q, A, p):
    half = p[0]
    for k in range(q.shape[0]):
        A[k, 0], A[k, 1] = half[k] * math.cos(q[k, 2]), half[k] * math.sin(q[k, 2])


@_jit
def _serial_factor(A, F, p):
    # Rod k has the derivative of its start -h' and of its end h', h' = (-hy, hx): between its pins -(1/m - h' h'^T / J)
    D, C = F
    _, w, z, closed, _, _ = p
    n = A.shape[0]
    m = n + 1 if closed else n
    for k in range(n):
        hx, hy = A[k, 0], A[k, 1]
        xx, xy, yy = z[k] * hy * hy, -z[k] * hx * hy, z[k] * hx * hx
        if k == 0:
            D[k, 0], D[k, 1], D[k, 2] = w[k] + xx, xy, w[k] + yy
        else:
            D[k, 0] += w[k] + xx
            D[k, 1] += xy
            D[k, 2] += w[k] + yy
        if k + 1 < m:
            D[k + 1, 0], D[k + 1, 1], D[k + 1, 2] = w[k] + xx, xy, w[k] + yy
            C[k, 0], C[k, 1], C[k, 2], C[k, 3] = xx - w[k], xy, xy, yy - w[k]
    for k in range(m - 1):
        _eliminate(D, C, k, k + 1)
    _invert(D, m - 1)


@_jit
def _serial_solve(F, x, p):
    D, C = F
    m = x.shape[0]
    for k in range(m - 1):
        _forward(D, C, k, k + 1, x)
    _last(D, m - 1, x)
    for k in range(m - 2, -1, -1):
        _backward(D, C, k, k + 1, x)


@_jit
def _serial_open(q, A, r, p, turned):
    """turned: the arms belong to another q, compute them here."""
    half, _, _, closed, ex, ey = p
    px, py, gap = 0.0, 0.0, 0.0
    for k in range(q.shape[0]):
        hx, hy = A[k, 0], A[k, 1]
        if turned:
            hx, hy = half[k] * math.cos(q[k, 2]), half[k] * math.sin(q[k, 2])
        r[k, 0], r[k, 1] = q[k, 0] - hx - px, q[k, 1] - hy - py
        px, py = q[k, 0] + hx, q[k, 1] + hy
        gap = max(gap, abs(r[k, 0]), abs(r[k, 1]))
    if closed:
        k = q.shape[0]
        r[k, 0], r[k, 1] = ex - px, ey - py
        gap = max(gap, abs(r[k, 0]), abs(r[k, 1]))
    return gap


@_jit
def _serial_slip(v, A, r, p):
    px, py = 0.0, 0.0
    n = v.shape[0]
    for k in range(n):
        dx, dy = -A[k, 1] * v[k, 2], A[k, 0] * v[k, 2]
        r[k, 0], r[k, 1] = v[k, 0] - dx - px, v[k, 1] - dy - py
        px, py = v[k, 0] + dx, v[k, 1] + dy
    if p[3]:
        r[n, 0], r[n, 1] = -px, -py


@_jit
def _serial_load(q, v, A, f, r, p):
    # gamma: the centripetal parts, Phi_q a = -(h_k w_k^2 + h_(k-1) w_(k-1)^2)
    bx, by = 0.0, 0.0
    n = v.shape[0]
    for k in range(n):
        f[k, 0], f[k, 1], f[k, 2] = 0.0, -G, 0.0
        cx, cy = A[k, 0] * v[k, 2] ** 2, A[k, 1] * v[k, 2] ** 2
        r[k, 0], r[k, 1] = cx + bx, cy + by
        bx, by = cx, cy
    r[0, 1] -= G
    if p[3]:
        r[n, 0], r[n, 1] = bx, by + G


@_jit
def _serial_pull(A, lam, f, p):
    _, w, z, closed, _, _ = p
    n = f.shape[0]
    for k in range(n):
        lx, ly = lam[k, 0], lam[k, 1]
        tx, ty = lx, ly
        if k + 1 < n or closed:
            lx -= lam[k + 1, 0]
            ly -= lam[k + 1, 1]
            tx += lam[k + 1, 0]
            ty += lam[k + 1, 1]
        f[k, 0] -= w[k] * lx
        f[k, 1] -= w[k] * ly
        f[k, 2] += z[k] * (A[k, 0] * ty - A[k, 1] * tx)


serial = time_loop(_serial_arms, _serial_factor, _serial_solve, _serial_open, _serial_slip, _serial_load, _serial_pull)


def run_serial(q, v, lengths, masses, end, t_end, steps, every=None):
    """Rods from the ground pin at the origin; end: the ground pin of the last rod, or None."""
    n = len(lengths)
    m = n + (end is not None)
    lengths, masses = np.asarray(lengths, float), np.asarray(masses, float)
    p = (lengths / 2, 1 / masses, 12 / (masses * lengths**2), end is not None, *map(float, end or (0, 0)))
    F = (np.empty((m, 3)), np.empty((m, 4)))
    return serial(q.reshape(n, 3), v.reshape(n, 3), t_end / steps, steps, every or steps, m, np.empty((n, 2)), F, p)
