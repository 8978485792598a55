"""Compiled parts of forward dynamics that know nothing of a problem: motions, force laws, the envelope of S.

Imported only by `planar.compiled_forward`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from planar import laws
from planar.compiled import _body

_jit = njit(error_model="numpy")
point_force = _jit(laws.point_force)
torque = _jit(laws.torque)
spring = _jit(laws.spring)
torsion = _jit(laws.torsion)


# --- motions -----------------------------------------------------------------------------------------------------------


@_jit
def _horner(data, start, count, x):
    """Value and two derivatives of sum_k data[start + k] x^k."""
    f = f1 = f2 = 0.0
    for k in range(count - 1, -1, -1):
        f2 = f2 * x + 2.0 * f1
        f1 = f1 * x + f
        f = f * x + data[start + k]
    return f, f1, f2


@_jit
def _clenshaw(data, start, count, x):
    b1 = b2 = 0.0
    for k in range(count - 1, 0, -1):
        b1, b2 = 2.0 * x * b1 - b2 + data[start + k], b1
    return x * b1 - b2 + data[start]


@_jit
def _find(data, start, pieces, t):
    """Index of the piece that holds t; the breaks are data[start : start + pieces + 1]."""
    low, high = 0, pieces - 1
    while low < high:
        middle = (low + high + 1) // 2
        if data[start + middle] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@_jit
def _motions(terms, data, t, F):
    """F (3 n): f of all motions, then f', then f''."""
    n = F.size // 3
    for k in range(0, terms.size, 3):
        F[terms[k]] = F[n + terms[k]] = F[2 * n + terms[k]] = 0.0
    for k in range(0, terms.size, 3):
        target, kind, at = terms[k], terms[k + 1], terms[k + 2] + 1
        factor = data[at - 1]
        if kind == 0:
            f, f1, f2 = _horner(data, at + 1, int(data[at]), t)
        elif kind == 1:
            w = data[at + 1]
            s, c = data[at] * np.sin(w * t + data[at + 2]), data[at] * np.cos(w * t + data[at + 2])
            f, f1, f2 = data[at + 3] + s, w * c, -w * w * s
        elif kind == 2:
            pieces, degree, period = int(data[at]), int(data[at + 1]), data[at + 2]
            x = t
            if period > 0.0:
                x = t - period * np.floor((t - data[at + 3]) / period)
            i = _find(data, at + 3, pieces, x)
            f, f1, f2 = _horner(data, at + 4 + pieces + i * (degree + 1), degree + 1, x - data[at + 3 + i])
        else:
            pieces = int(data[at])
            i = _find(data, at + 1, pieces, t)
            low, high = data[at + 1 + i], data[at + 2 + i]
            x = (2.0 * t - low - high) / (high - low)
            start = at + 2 + pieces + 48 * i  # 3 x 16 coefficients, see timetable.DEGREE
            f, f1 = _clenshaw(data, start, 16, x), _clenshaw(data, start + 16, 16, x)
            f2 = _clenshaw(data, start + 32, 16, x)
        F[target] += factor * f
        F[n + target] += factor * f1
        F[2 * n + target] += factor * f2


# --- forces ------------------------------------------------------------------------------------------------------------


@_jit
def _law(kind, i, j, p, m):
    if kind == 0:
        return point_force(i, j, p, m)
    if kind == 1:
        return torque(i, j, p, m)
    if kind == 2:
        return spring(i, j, p, m)
    return torsion(i, j, p, m)


@_jit
def _forces(laws, numbers, q, v, c, s, F, Q):
    """Adds the force laws to Q (nq + 3) and returns the power of what has no potential."""
    power = 0.0
    for n in range(laws.size // 6):
        at, p = 6 * n, 18 * n
        kind, i, j = laws[at], laws[at + 1], laws[at + 2]
        bi, bj = _body(i, q, v, c, s), _body(j, q, v, c, s)
        m = (numbers[p + 8] + F[laws[at + 3]], numbers[p + 9] + F[laws[at + 4]])
        f = _law(kind, bi, bj, numbers[p : p + 8], m)
        for k in range(3):
            Q[3 * i + k] += f[k]
            Q[3 * j + k] += f[3 + k]
        if laws[at + 5] == 1:
            f = _law(kind, bi, bj, numbers[p + 10 : p + 18], m)
            for k in range(3):
                power += f[k] * v[3 * i + k] + f[3 + k] * v[3 * j + k]
    return power


# --- S = Phi_q W^-1 Phi_q^T = L L^T in its envelope ----------------------------------------------------------------------


@_jit
def _factor(envelope, pairs, J, inverse, L):
    """Cholesky, row by row; the diagonal holds reciprocals.  Returns the smallest pivot as part of its diagonal entry."""
    for k in range(L.size):
        L[k] = 0.0
    for k in range(0, pairs.size, 4):
        L[pairs[k + 3]] += J[pairs[k]] * J[pairs[k + 1]] * inverse[pairs[k + 2]]
    smallest = 1.0
    for i in range(envelope.size // 3):
        first, at = envelope[3 * i + 1], envelope[3 * i + 2]
        for j in range(first, i):
            other = envelope[3 * j + 2]
            total = L[at + j]
            for k in range(max(first, envelope[3 * j + 1]), j):
                total -= L[at + k] * L[other + k]
            L[at + j] = total * L[other + j]
        diagonal = L[at + i]
        total = diagonal
        for k in range(first, i):
            total -= L[at + k] * L[at + k]
        if not total > 1e-15 * diagonal:
            return 0.0
        smallest = min(smallest, total / diagonal)
        L[at + i] = 1.0 / np.sqrt(total)
    return smallest


@_jit
def _solve(envelope, L, x):
    n = x.size
    for i in range(n):
        at = envelope[3 * i + 2]
        total = x[i]
        for k in range(envelope[3 * i + 1], i):
            total -= L[at + k] * x[k]
        x[i] = total * L[at + i]
    for i in range(n - 1, -1, -1):
        at = envelope[3 * i + 2]
        x[i] *= L[at + i]
        for k in range(envelope[3 * i + 1], i):
            x[k] -= L[at + k] * x[i]


@_jit
def _take(envelope, g, x):
    """x = -g in the order of the envelope."""
    for p in range(x.size):
        x[p] = -g[envelope[3 * p]]


@_jit
def _times(entries, J, u, x):
    """x += Phi_q u, in the order of the envelope."""
    for e in range(entries.size // 3):
        p = entries[3 * e + 2]
        if p >= 0:
            x[p] += J[e] * u[entries[3 * e + 1]]


@_jit
def _spread(entries, J, inverse, x, u):
    """u -= W^-1 Phi_q^T x."""
    for e in range(entries.size // 3):
        p = entries[3 * e + 2]
        if p >= 0:
            k = entries[3 * e + 1]
            u[k] -= J[e] * x[p] * inverse[k]
