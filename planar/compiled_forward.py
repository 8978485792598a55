"""The compiled time loop of forward dynamics.  Imported only through `planar.backend.compiled("compiled_forward")`.

`planar.integrators.advance` is compiled as it stands; the functions here do with the arrays of `planar.forward_arrays`
what `planar.methods` does with NumPy.  Explicit loops instead of slices: they compile in a fraction of the time.
"""

from __future__ import annotations

from types import FunctionType

import numpy as np
from numba import njit

from planar import integrators, laws, methods
from planar.compiled import _body, _constraints, _trigonometry

SHRINK, SAFETY, GROW = integrators.SHRINK, integrators.SAFETY, integrators.GROW
NEAR, AT, EPS, CROSSING = integrators.NEAR, integrators.AT, integrators.EPS, integrators.CROSSING
CLOSED, SETTLED = methods.CLOSED, methods.SETTLED
FULL, END, TINY, BROKEN = integrators.FULL, integrators.END, integrators.TINY, integrators.BROKEN

_jit = njit(error_model="numpy")
(KINDS, BODIES, MOTION, ROWS_, SLOTS, ENTRIES, ENVELOPE, PAIRS, LAWS, TERMS) = range(10)
(PARAMETERS, LAW_NUMBERS, NUMBERS, GRAVITY, INVERSE, LIGHT, MASS, CONSTANTS) = range(11, 19)
(Q_, V_, FORCE, CHANGE, COS, SIN, PHI, NU, GAMMA, LAM, RIGHT, F_, J_, L_, X_, HEALTHY) = range(20, 36)


@_jit
def _int(problem, k):
    """Table k of the integers; where the tables begin stands at the head of them."""
    return problem.ints[problem.ints[k] : problem.ints[k + 1]]


@_jit
def _real(problem, k):
    return problem.reals[problem.ints[k] : problem.ints[k + 1]]


@_jit
def _buffer(problem, k):
    return problem.work[problem.ints[k] : problem.ints[k + 1]]


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


# --- what the time loop calls --------------------------------------------------------------------------------------------


@_jit
def _evaluate(problem, t, y):
    """Constraints at y = (q, v)."""
    q, v, c, s = _buffer(problem, Q_), _buffer(problem, V_), _buffer(problem, COS), _buffer(problem, SIN)
    F = _buffer(problem, F_)
    kinds, nq = _int(problem, KINDS), q.size - 3
    n = kinds.size
    for k in range(nq):
        q[k], v[k] = y[k], y[nq + k]
    _motions(_int(problem, TERMS), _real(problem, NUMBERS), t, F)
    _trigonometry(q, c, s)
    _constraints(
        kinds, _int(problem, BODIES).reshape(n, 3), _real(problem, PARAMETERS).reshape(n, 8), _int(problem, MOTION),
        _int(problem, ROWS_).reshape(n, 2), _int(problem, SLOTS).reshape(n, 8), q, v, c, s, F.reshape(3, F.size // 3),
        _buffer(problem, PHI), _buffer(problem, J_), _buffer(problem, NU), _buffer(problem, GAMMA),
    )  # fmt: skip


@_jit
def _refine(problem, a):
    """Take the mass that massless coordinates have in S away again: M_S da + Phi_q^T dlam = m a, Phi_q da = 0."""
    entries, envelope, inverse, light = (
        _int(problem, ENTRIES), _int(problem, ENVELOPE), _real(problem, INVERSE), _real(problem, LIGHT)
    )  # fmt: skip
    J, L, x, lam, rest = (
        _buffer(problem, J_), _buffer(problem, L_), _buffer(problem, X_), _buffer(problem, LAM), _buffer(problem, CHANGE)
    )  # fmt: skip
    size = 0.0
    for k in range(light.size):
        rest[k] = light[k] * a[k] * inverse[k]
        size = max(size, abs(a[k]))
    for _ in range(20):
        for p in range(x.size):
            x[p] = 0.0
        _times(entries, J, rest, x)
        _solve(envelope, L, x)
        _spread(entries, J, inverse, x, rest)
        change = 0.0
        for k in range(light.size):
            a[k] += rest[k]
            change = max(change, abs(rest[k]))
            rest[k] *= light[k] * inverse[k]
        for p in range(x.size):
            lam[envelope[3 * p]] += x[p]
        if change <= 1e-15 * size:
            return True
    return change <= 1e-11 * size


@_jit
def _accelerate(problem, a):
    """a (nq,), lam from Q and the right side g:  S lam = Phi_q M^-1 Q - g,  a = M^-1 (Q - Phi_q^T lam)."""
    entries, envelope, inverse, light = (
        _int(problem, ENTRIES), _int(problem, ENVELOPE), _real(problem, INVERSE), _real(problem, LIGHT)
    )  # fmt: skip
    J, L, x = _buffer(problem, J_), _buffer(problem, L_), _buffer(problem, X_)
    Q, lam, g = _buffer(problem, FORCE), _buffer(problem, LAM), _buffer(problem, RIGHT)
    massless = False
    for k in range(inverse.size):
        a[k] = Q[k] * inverse[k]
        massless = massless or light[k] > 0.0
    if x.size == 0:
        return 1.0
    pivot = _factor(envelope, _int(problem, PAIRS), J, inverse, L)
    if pivot == 0.0:
        return 0.0
    for p in range(x.size):
        lam[envelope[3 * p]] = 0.0
    healthy = _buffer(problem, HEALTHY)
    healthy[0] = max(healthy[0], pivot)
    # S is a square: near a singular position, and with light masses, Phi_q a = g needs refinement
    for _ in range(1 if pivot >= 1e-2 * healthy[0] and not massless else 3):
        _take(envelope, g, x)
        _times(entries, J, a, x)
        _solve(envelope, L, x)
        _spread(entries, J, inverse, x, a)
        for p in range(x.size):
            lam[envelope[3 * p]] += x[p]
    return pivot if not massless or _refine(problem, a) else 0.0


@_jit
def rate(problem, t, step, y, out):
    v, Q, x = _buffer(problem, V_), _buffer(problem, FORCE), _buffer(problem, X_)
    Phi, nu, gamma, lam, g = (
        _buffer(problem, PHI), _buffer(problem, NU), _buffer(problem, GAMMA), _buffer(problem, LAM), _buffer(problem, RIGHT)
    )  # fmt: skip
    gravity, constants, envelope = _real(problem, GRAVITY), _real(problem, CONSTANTS), _int(problem, ENVELOPE)
    nq = gravity.size
    _evaluate(problem, t, y)
    for k in range(nq):
        Q[k] = gravity[k]
    power = _forces(
        _int(problem, LAWS), _real(problem, LAW_NUMBERS), _buffer(problem, Q_), v, _buffer(problem, COS),
        _buffer(problem, SIN), _buffer(problem, F_), Q,
    )  # fmt: skip
    alpha, beta = constants[2] if step >= 0.0 else -constants[2], constants[3]
    copy(gamma, g)
    if alpha != 0.0 or beta != 0.0:
        _take(envelope, nu, x)
        _times(_int(problem, ENTRIES), _buffer(problem, J_), v, x)
        for p in range(x.size):
            k = envelope[3 * p]
            g[k] -= 2.0 * alpha * x[p] + beta * beta * Phi[k]
    a = out[nq : 2 * nq]
    pivot = _accelerate(problem, a)
    total = 0.0
    for k in range(nq):
        out[k] = v[k]
        total += a[k]
    for k in range(g.size):
        power -= lam[k] * nu[k]
    out[2 * nq] = power
    return pivot if np.isfinite(total + power) else 0.0


@_jit
def restore(problem, t, y):
    entries, envelope, inverse = _int(problem, ENTRIES), _int(problem, ENVELOPE), _real(problem, INVERSE)
    J, L, x, dq = _buffer(problem, J_), _buffer(problem, L_), _buffer(problem, X_), _buffer(problem, CHANGE)
    constants, nq = _real(problem, CONSTANTS), inverse.size
    length = constants[0]
    if x.size == 0 or constants[1] == 0.0:
        return is_finite(y)
    Phi, nu = _buffer(problem, PHI), _buffer(problem, NU)
    before, pivot, done = np.inf, 1.0, False
    for _ in range(20):
        _evaluate(problem, t, y)
        if not before <= 1e-3 * np.sqrt(pivot) * length:
            pivot = _factor(envelope, _int(problem, PAIRS), J, inverse, L)
            if pivot == 0.0:
                return False
        _take(envelope, Phi, x)
        _solve(envelope, L, x)
        for k in range(nq):
            dq[k] = 0.0
        _spread(entries, J, inverse, x, dq)
        change = largest = 0.0
        for k in range(nq):
            y[k] -= dq[k]
            unit = length if k % 3 == 2 else 1.0
            change = max(change, unit * abs(dq[k]))
            largest = max(largest, unit * abs(y[k]))
        floor = 4.0 * EPS * largest / np.sqrt(pivot)
        done = change <= CLOSED * pivot * length + floor
        done = done or (change <= SETTLED * length + 30.0 * floor and change > 0.3 * before)  # down to rounding
        if done:
            break
        if not change <= max(0.5 * before, length):
            return False
        before = change
    v = y[nq : 2 * nq]
    for _ in range(3):
        _take(envelope, nu, x)
        _times(entries, J, v, x)
        _solve(envelope, L, x)
        for k in range(nq):
            dq[k] = 0.0
        _spread(entries, J, inverse, x, dq)
        change = largest = 0.0
        for k in range(nq):
            v[k] += dq[k]
            unit = length if k % 3 == 2 else 1.0
            change = max(change, unit * abs(dq[k]))
            largest = max(largest, unit * abs(v[k]))
        if change <= 1e-9 * pivot * largest:  # the factor is that of a pose nearby: some digits per round
            break
    return done and is_finite(y)


@_jit
def copy(x, out):
    for k in range(x.size):
        out[k] = x[k]


@_jit
def multipliers(problem, out):
    copy(_buffer(problem, LAM), out)


@_jit
def blank(out):
    for k in range(out.size):
        out[k] = np.nan


@_jit
def subtract(x, y, out):
    for k in range(x.size):
        out[k] = x[k] - y[k]


@_jit
def is_finite(x):
    total = 0.0
    for k in range(x.size):
        total += x[k]
    return np.isfinite(total)


@_jit
def combine(y, h, w, K, n, out):
    for k in range(out.size):
        out[k] = y[k]
    for s in range(n):
        factor = h * w[s]
        if factor != 0.0:
            for k in range(out.size):
                out[k] += factor * K[s, k]


@_jit
def measure(problem, e, y, z, rtol, atol, length):
    mass = _real(problem, MASS)
    n = mass.size
    speed = energy = 0.0
    for x in (y, z):
        kinetic = 0.0
        for k in range(n):
            v = x[n + k]
            kinetic += 0.5 * mass[k] * v * v
            speed = max(speed, abs(v) * (length if k % 3 == 2 else 1.0))
        energy = max(energy, kinetic + abs(x[2 * n]))
    r, phi, v, w = atol + rtol * length, atol + rtol, atol + rtol * speed, atol + rtol * speed / length
    total = (e[2 * n] / (atol + rtol * energy)) ** 2
    for k in range(n):
        turns = k % 3 == 2
        total += (e[k] / (phi if turns else r)) ** 2 + (e[n + k] / (w if turns else v)) ** 2
    return np.sqrt(total / e.size)


@_jit
def coefficients(h, y, z, K, stages, D, F):
    n = (y.size - 1) // 2
    for k in range(y.size):
        F[0, k] = z[k] - y[k]
        F[1, k] = h * K[0, k] - F[0, k]
        F[2, k] = 2.0 * F[0, k] - h * (K[stages, k] + K[0, k])
    for r in range(D.shape[0]):
        for k in range(y.size):
            F[3 + r, k] = 0.0
        for s in range(D.shape[1]):
            if D[r, s] != 0.0:
                for k in range(y.size):
                    F[3 + r, k] += h * D[r, s] * K[s, k]
    if D.shape[0] == 0:
        for k in range(n):
            F[3, k] = 0.5 * h * h * K[0, n + k] + F[1, k] - F[2, k]
            F[4, k] = 0.5 * h * h * K[stages, n + k] + F[1, k] + 2.0 * F[2, k] - F[3, k]


@_jit
def interpolate(x, h, y, F, hermite, out):
    n, u = (y.size - 1) // 2, 1.0 - x
    for k in range(y.size):
        inner = F[3, k] + x * (F[4, k] + u * (F[5, k] + x * F[6, k]))
        out[k] = y[k] + x * (F[0, k] + u * (F[1, k] + x * (F[2, k] + u * inner)))
    if hermite:
        w2, w3, w4 = x * (2.0 * u - x), 2.0 * x * u * (u - x), x * x * u * (3.0 * u - 2.0 * x)
        for k in range(n):
            slope = F[0, k] + (u - x) * F[1, k] + w2 * F[2, k] + w3 * F[3, k] + w4 * F[4, k]
            out[n + k] = slope / h


def _bound(function, **options):
    """The same source with its names bound to the compiled functions of this module."""
    return njit(error_model="numpy", **options)(FunctionType(function.__code__, globals(), function.__name__))


approach = _bound(integrators.approach)
attempt = _bound(integrators.attempt)
sample = _bound(integrators.sample)
advance = _bound(integrators.advance, cache=True)
visit = _bound(integrators.visit, cache=True)
