"""What the time loop of `planar.integrators` is made of, in NumPy; `planar.compiled_forward` has the same in numba."""

from __future__ import annotations

import numpy as np


def rate(problem, t, step, y, out):
    return problem.rate(t, step, y, out)


def restore(problem, t, y):
    return problem.restore(t, y)


def multipliers(problem, out):
    out[:] = problem.lam


def blank(out):
    out[:] = np.nan


def copy(x, out):
    out[:] = x


def subtract(x, y, out):
    np.subtract(x, y, out=out)


def combine(y, h, w, K, n, out):
    """out = y + h sum_k w[k] K[k], k < n."""
    np.dot(w[:n], K[:n], out=out)
    out *= h
    out += y


def measure(problem, e, y, z, rtol, atol, length):
    """Root mean square of the errors e in units of what is allowed on the way from y to z.

    Allowed is atol + rtol times the typical length (positions), 1 (angles), the greatest speed of any body (velocities),
    the energy (work): neither the place of the origin, the number of turns nor a body at rest changes what is accurate.
    """
    n = (y.size - 1) // 2
    speed = energy = 0.0
    for x in (y, z):
        v = np.abs(x[n : 2 * n])
        speed = max(speed, v[0::3].max(), v[1::3].max(), length * v[2::3].max())
        energy = max(energy, 0.5 * np.dot(problem.mass, v * v) + abs(x[-1]))
    r, phi, v, w = atol + rtol * length, atol + rtol, atol + rtol * speed, atol + rtol * speed / length
    parts = e[:-1].reshape(2, -1, 3) / np.array([[[r, r, phi]], [[v, v, w]]])
    return float(np.sqrt((np.vdot(parts, parts) + (e[-1] / (atol + rtol * energy)) ** 2) / e.size))


def coefficients(h, y, z, K, stages, D, F):
    """Dense output  y + x (F0 + (1-x) (F1 + x (F2 + (1-x) (F3 + x (F4 + (1-x) (F5 + x F6))))))  of a step from y to z.

    F0 .. F2 fit values and slopes at both ends; the rest comes from the further stages, or, without any, F3 and F4 of
    the coordinates fit the accelerations.
    """
    F[0] = z - y
    F[1] = h * K[0] - F[0]
    F[2] = 2 * F[0] - h * (K[stages] + K[0])
    if len(D):
        F[3:] = h * (D @ K)
        return
    n = (y.size - 1) // 2
    F[3:] = 0.0
    F[3, :n] = 0.5 * h * h * K[0, n:-1] + F[1, :n] - F[2, :n]
    F[4, :n] = 0.5 * h * h * K[stages, n:-1] + F[1, :n] + 2 * F[2, :n] - F[3, :n]


def interpolate(x, h, y, F, hermite, out):
    """The state at the part x of the step; hermite: velocities as the slope of the coordinates."""
    out[:] = F[6]
    for k in range(5, -1, -1):
        out *= x if k % 2 else 1 - x
        out += F[k]
    out *= x
    out += y
    if hermite:
        n, u = (y.size - 1) // 2, 1 - x
        weights = np.array([1.0, u - x, x * (2 * u - x), 2 * x * u * (u - x), x * x * u * (3 * u - 2 * x)])
        np.dot(weights, F[:5, :n], out=out[n:-1])
        out[n:-1] /= h
