"""Compiled loops over compiled systems.  Imported only through `planar.backend.compiled()`.

The kernels of `planar.primitives` are jitted as they stand and inlined by LLVM under one dispatch on the primitive's code.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from planar import primitives

_jit = njit(error_model="numpy")
coincide = _jit(primitives.coincide)
distance = _jit(primitives.distance)
parallel = _jit(primitives.parallel)
on_line = _jit(primitives.on_line)
along_line = _jit(primitives.along_line)
angles = _jit(primitives.angles)
mesh = _jit(primitives.mesh)


@_jit
def _store(out, n, rows, slots, Phi, J, nu, gamma):
    for r in range(len(out[0])):
        row = rows[n, r]
        Phi[row], nu[row], gamma[row] = out[0][r], out[2][r], out[3][r]
    for e in range(len(out[1])):
        J[slots[n, e]] = out[1][e]


@_jit
def _body(k, q, v, c, s):
    return q[3 * k], q[3 * k + 1], q[3 * k + 2], c[k], s[k], v[3 * k], v[3 * k + 1], v[3 * k + 2]


@_jit
def _trigonometry(q, c, s):
    for k in range(c.size - 1):
        c[k], s[k] = np.cos(q[3 * k + 2]), np.sin(q[3 * k + 2])
    c[-1], s[-1] = 1.0, 0.0


@_jit
def _constraints(kinds, bodies, parameters, motion, rows, slots, q, v, c, s, F, Phi, J, nu, gamma):
    """Phi, Phi_q (at `slots`), nu, gamma; q, v end with three zeros for ground, c, s are cos and sin of the angles."""
    for n in range(kinds.size):
        kind = kinds[n]
        i = _body(bodies[n, 0], q, v, c, s)
        j = _body(bodies[n, 1], q, v, c, s)
        p = parameters[n]
        f = (F[0, motion[n]], F[1, motion[n]], F[2, motion[n]])
        if kind == 0:
            _store(coincide(i, j, p, f), n, rows, slots, Phi, J, nu, gamma)
        elif kind == 1:
            _store(distance(i, j, p, f), n, rows, slots, Phi, J, nu, gamma)
        elif kind == 2:
            _store(parallel(i, j, p, f), n, rows, slots, Phi, J, nu, gamma)
        elif kind == 3:
            _store(on_line(i, j, p, f), n, rows, slots, Phi, J, nu, gamma)
        elif kind == 4:
            _store(along_line(i, j, p, f), n, rows, slots, Phi, J, nu, gamma)
        elif kind == 5:
            _store(angles(i, j, _body(bodies[n, 2], q, v, c, s), p, f), n, rows, slots, Phi, J, nu, gamma)
        elif kind == 6:
            _store(mesh(i, j, p, f), n, rows, slots, Phi, J, nu, gamma)


@njit(cache=True, error_model="numpy")
def evaluate(kinds, bodies, parameters, motion, rows, slots, q, v, F, Phi, J, nu, gamma):
    """One evaluation for a single state; q, v of length 3 nb + 3."""
    c, s = np.empty(q.size // 3), np.empty(q.size // 3)
    _trigonometry(q, c, s)
    _constraints(kinds, bodies, parameters, motion, rows, slots, q, v, c, s, F, Phi, J, nu, gamma)


@_jit
def _lu(A, pivots, n):
    """LU with row pivoting in place; zero multipliers are skipped, which is most of them here.

    Returns the smallest pivot with the sign of the determinant, 0 where the elimination broke down.
    """
    sign, smallest = 1.0, np.inf
    for k in range(n):
        best, size = k, abs(A[k, k])
        for r in range(k + 1, n):
            if abs(A[r, k]) > size:
                best, size = r, abs(A[r, k])
        pivots[k] = best
        if not size > 1e-300:
            return 0.0
        smallest = min(smallest, size)
        if best != k:
            sign = -sign
            for col in range(n):
                A[k, col], A[best, col] = A[best, col], A[k, col]
        if A[k, k] < 0.0:
            sign = -sign
        inverse = 1.0 / A[k, k]
        for r in range(k + 1, n):
            if A[r, k] != 0.0:
                factor = A[r, k] * inverse
                A[r, k] = factor
                for col in range(k + 1, n):
                    A[r, col] -= factor * A[k, col]
    return sign * smallest


@_jit
def _solve(A, pivots, n, x):
    for k in range(n):
        x[k], x[pivots[k]] = x[pivots[k]], x[k]
    for r in range(1, n):
        total = x[r]
        for k in range(r):
            total -= A[r, k] * x[k]
        x[r] = total
    for r in range(n - 1, -1, -1):
        total = x[r]
        for k in range(r + 1, n):
            total -= A[r, k] * x[k]
        x[r] = total / A[r, r]


@_jit
def _predict(t, q, v, a, k, first, n):
    """q[k] from the samples before it.

    Two samples of known position, velocity and acceleration fix a quintic (error h^6): with H the step between them,
    s = 1 + h/H, D = q1 - q0 and c3, c4, c5 its upper coefficients.  From one sample: the parabola (error h^3).
    """
    h = t[k] - t[k - 1]
    if k - 1 > first and 0.0 < h <= 2.0 * (t[k - 1] - t[k - 2]):
        H = t[k - 1] - t[k - 2]
        s = (t[k] - t[k - 2]) / H
        for m in range(n):
            v0, v1 = H * v[k - 2, m], H * v[k - 1, m]
            a0, a1 = H * H * a[k - 2, m], H * H * a[k - 1, m]
            D = q[k - 1, m] - q[k - 2, m]
            c3 = 10.0 * D - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
            c4 = -15.0 * D + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
            c5 = 6.0 * D - 3.0 * (v0 + v1) - 0.5 * a0 + 0.5 * a1
            q[k, m] = q[k - 2, m] + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5))))
    else:
        for m in range(n):
            q[k, m] = q[k - 1, m] + h * (v[k - 1, m] + 0.5 * h * a[k - 1, m])


@njit(cache=True, error_model="numpy")
def sweep(
    kinds, bodies, parameters, motion, rows, slots, chosen, nc, t, F, length, q, v, a, pivot, first, start, round_off, leap,
    stray,
):  # fmt: skip
    """Kinematics of a driven mechanism at times t[start:], each from those before it; small systems, dense.

    q, v, a (nt, nq + 3) hold the states at t[first:start]; pivot (nt,) receives the smallest pivot of Phi_q with the sign
    of its determinant.  slots point into the dense square Jacobian of the `chosen` rows (others to the dummy at its end).
    leap (m), stray: a step is safe if it goes no further than `leap` and Newton strays no more than `stray` of its path.
    Returns the first sample that cannot be reached in one safe step (nt: none): the caller bridges the gap.
    """
    nt, n = t.size, chosen.size
    flat, unused = np.zeros(n * n + 1), np.zeros(n * n + 1)
    A = flat[: n * n].reshape(n, n)
    Phi, nu, gamma = np.zeros(nc), np.zeros(nc), np.zeros(nc)
    c, s = np.ones(n // 3 + 1), np.zeros(n // 3 + 1)
    pivots = np.zeros(n, np.int64)
    x, still = np.zeros(n), np.zeros(n + 3)
    healthy = 0.0  # largest pivot so far
    for k in range(start, nt):
        healthy = max(healthy, abs(pivot[k - 1]))
        h = t[k] - t[k - 1]
        path = 0.0  # how far the step goes, in m
        for m in range(n):
            unit = length if m % 3 == 2 else 1.0
            path = max(path, unit * abs(h * v[k - 1, m]), unit * abs(0.5 * h * h * a[k - 1, m]))
        if not path <= leap:
            return k
        _predict(t, q, v, a, k, first, n)
        drift, before, converged = 0.0, np.inf, False
        for _ in range(8):
            flat[:] = 0.0
            _trigonometry(q[k], c, s)
            _constraints(kinds, bodies, parameters, motion, rows, slots, q[k], still, c, s, F[k], Phi, flat, nu, gamma)
            for r in range(n):
                x[r] = -Phi[chosen[r]]
            pivot[k] = _lu(A, pivots, n)
            if not abs(pivot[k]) > 1e-7 * healthy:
                return k
            _solve(A, pivots, n, x)
            change = 0.0
            for m in range(n):
                change = max(change, abs(x[m]) * (length if m % 3 == 2 else 1.0))
            drift += change
            if not drift <= stray * path + 1e-6 * length:
                return k
            for m in range(n):
                q[k, m] += x[m]
            # down to rounding, or standing still just above it
            if change <= round_off or (change > 0.5 * before and change <= 1e4 * round_off):
                converged = True
                break
            before = change
        if not converged or pivot[k] * pivot[k - 1] < 0.0:  # a change of sign: the caller looks closer
            return k
        for r in range(n):
            x[r] = nu[chosen[r]]
        _solve(A, pivots, n, x)
        v[k, :n] = x
        # for gamma; the Jacobian goes elsewhere, since the factors are still needed
        _constraints(kinds, bodies, parameters, motion, rows, slots, q[k], v[k], c, s, F[k], Phi, unused, nu, gamma)
        for r in range(n):
            x[r] = gamma[chosen[r]]
        _solve(A, pivots, n, x)
        a[k, :n] = x
    return nt


@_jit
def _solve_T(A, pivots, n, x):
    """A^T x = b with A = P L U: U^T y = b, L^T z = y, then the row exchanges backward."""
    for r in range(n):
        total = x[r]
        for k in range(r):
            total -= A[k, r] * x[k]
        x[r] = total / A[r, r]
    for r in range(n - 2, -1, -1):
        total = x[r]
        for k in range(r + 1, n):
            total -= A[k, r] * x[k]
        x[r] = total
    for k in range(n - 1, -1, -1):
        x[k], x[pivots[k]] = x[pivots[k]], x[k]


@njit(cache=True, error_model="numpy")
def transposed(kinds, bodies, parameters, motion, rows, slots, q, b):
    """lam (nt, n) from Phi_q^T lam = b (nt, n) at the poses q (nt, n + 3) of a square system."""
    nt, n = b.shape
    lam = b.copy()
    flat = np.zeros(n * n + 1)
    A = flat[: n * n].reshape(n, n)
    Phi, nu, gamma = np.zeros(n), np.zeros(n), np.zeros(n)
    c, s = np.ones(n // 3 + 1), np.zeros(n // 3 + 1)
    pivots, still = np.zeros(n, np.int64), np.zeros(n + 3)
    F = np.ones((3, np.max(motion) + 1))  # the motions do not enter Phi_q
    for k in range(nt):
        flat[:] = 0.0
        _trigonometry(q[k], c, s)
        _constraints(kinds, bodies, parameters, motion, rows, slots, q[k], still, c, s, F, Phi, flat, nu, gamma)
        if _lu(A, pivots, n) == 0.0:
            lam[k] = np.nan
        else:
            _solve_T(A, pivots, n, lam[k])
    return lam
