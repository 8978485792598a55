"""The compiled time loop of forward dynamics.  Imported only through `planar.backend.compiled("compiled_forward")`.

`planar.integrators.advance` is compiled as it stands; the functions here do with the arrays of `planar.forward_arrays`
what `planar.methods` does with NumPy.  Explicit loops instead of slices: they compile in a fraction of the time.
"""

from __future__ import annotations

from types import FunctionType

import numpy as np
from numba import njit

from planar import integrators, methods
from planar.compiled import _constraints, _trigonometry
from planar.compiled_parts import _factor, _forces, _motions, _solve, _spread, _take, _times

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
