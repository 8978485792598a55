"""Explicit Runge-Kutta pairs and the time loop that all methods share.

The state is y = (q, v, W): coordinates, velocities, and the work done on the mechanism by everything that has no
potential.  A method (`planar.methods`) gives

    rate(problem, t, y, out)    dy/dt; False where it cannot be computed
    restore(problem, t, y)      y back to the constraints after a step, in place; False where that fails

`advance` is plain Python that numba compiles as it stands: `planar.compiled_forward` binds it to compiled functions,
`planar.forward` to NumPy ones.  One loop, the same numbers.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

# what `advance` returns: why it came back
FULL, END, TINY, BROKEN = 0, 1, 2, 3

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0  # of the step control


class Pair(NamedTuple):
    """Butcher tableau: A (s, s), b (s,), c (s,); E5, E3 (s + 1,) weights of the error estimates, order of the step control.

    error = |h| e5^2 / sqrt(e5^2 + e3^2 / 100), e5 = |E5 K|, e3 = |E3 K| (Hairer); E3 = 0 is an ordinary embedded pair.
    The last entries belong to the slope at the new state.
    """

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    E5: np.ndarray
    E3: np.ndarray
    order: float


class Control(NamedTuple):
    """Step control; speeds and sizes: see `scales`."""

    t_end: float
    rtol: float
    atol: float
    max_step: float
    adaptive: bool
    length: float  # typical length of the mechanism, m: weighs angles against lengths


@cache
def pair(name: str) -> Pair:
    """ "DOP853" (order 8), "RK45" (Dormand-Prince, order 5), "RK4" (for fixed steps, no error estimate)."""
    if name == "RK4":
        A = np.zeros((4, 4))
        A[1, 0] = A[2, 1] = 0.5
        A[3, 2] = 1.0
        return Pair(A, np.array([1, 2, 2, 1]) / 6, np.array([0, 0.5, 0.5, 1]), np.zeros(5), np.zeros(5), 4.0)
    from scipy.integrate import DOP853, RK45

    if name == "RK45":
        A = np.zeros((6, 6))
        A[:, :5] = RK45.A
        return Pair(A, RK45.B.copy(), RK45.C.copy(), RK45.E.copy(), np.zeros(7), 5.0)
    return Pair(DOP853.A.copy(), DOP853.B.copy(), DOP853.C.copy(), DOP853.E5.copy(), DOP853.E3.copy(), 8.0)


def advance(rate, restore, combine, measure, problem, pair, control, t, h, y, K, times, states):
    """Take steps from (t, y), K[0] = dy/dt there, first step h (signed), until `times` is full or the end is reached.

    Fills times (n,) and states (n, ny) with the accepted steps, leaves the new state in y and K[0].
    Returns (steps, status, t, h, evaluations, rejected).
    """
    A, b, c, E5, E3, order = pair
    t_end, rtol, atol, max_step, adaptive, length = control
    stages = b.size
    z, e5, e3, zero = np.empty_like(y), np.empty_like(y), np.empty_like(y), np.zeros_like(y)
    evaluations, rejected, steps = 0, 0, 0
    direction = 1.0 if t_end >= t else -1.0
    while steps < times.size:
        left = abs(t_end - t)
        if left <= 0.0:
            return steps, 1, t, h, evaluations, rejected
        smallest = 10.0 * np.finfo(np.float64).eps * max(abs(t), abs(t_end))
        trusted = True  # no rejection yet at this time
        while True:
            size = min(abs(h), max_step)
            last = size * 1.0000001 >= left
            if last:
                size = left
            if size < smallest and not last:
                return steps, 2, t, h, evaluations, rejected
            step = direction * size
            fine = True
            for s in range(1, stages):
                combine(y, step, A[s], K, s, z)
                if not rate(problem, t + c[s] * step, step, z, K[s]):
                    fine = False
                    break
                evaluations += 1
            error = np.inf
            t_new = t_end if last else t + step
            if fine:
                combine(y, step, b, K, stages, z)
                e3[:] = z
                fine = restore(problem, t_new, z) and rate(problem, t_new, step, z, K[stages])
                evaluations += 1
            if fine:
                if adaptive:
                    # what the constraints took back is part of the error
                    e3[:] = z - e3
                    moved = measure(problem, e3, y, z, rtol, atol, length)
                    combine(zero, step, E5, K, stages + 1, e5)
                    combine(zero, step, E3, K, stages + 1, e3)
                    n5 = measure(problem, e5, y, z, rtol, atol, length)
                    n3 = measure(problem, e3, y, z, rtol, atol, length)
                    error = 0.0 if n5 == 0.0 else n5 * n5 / np.sqrt(n5 * n5 + 0.01 * n3 * n3)
                    error = max(error, moved)
                else:
                    error = 0.0 if np.isfinite(np.sum(z)) else np.inf
            if error <= 1.0:
                break
            rejected += 1
            if not adaptive:
                return steps, 3, t, h, evaluations, rejected
            trusted = False
            factor = max(0.2, 0.9 * error ** (-1.0 / order)) if np.isfinite(error) else 0.2
            h = step * factor
        if adaptive:
            factor = 6.0 if error == 0.0 else min(6.0, max(0.2, 0.9 * error ** (-1.0 / order)))
            if not last or factor < 1.0:  # a last step cut short says nothing about the next
                h = step * (factor if trusted else min(1.0, factor))
        t = t_new
        y[:] = z
        K[0] = K[stages]
        times[steps] = t
        states[steps] = y
        steps += 1
    return steps, 1 if t == t_end else 0, t, h, evaluations, rejected


# --- NumPy versions of the functions `advance` is bound to -------------------------------------------------------------


def combine(y, h, w, K, n, out):
    """out = y + h sum_k w[k] K[k], k < n."""
    np.dot(w[:n], K[:n], out=out)
    out *= h
    out += y


def rate(problem, t, step, y, out):
    return problem.rate(t, step, y, out)


def restore(problem, t, y):
    return problem.restore(t, y)


def scales(problem, y, z, rtol, atol, length):
    """(translation, angle, speed, angular speed, work): the size of an error that is just allowed.

    Relative to the typical length and to the greatest speed of any body, so that neither the place of the origin, the
    number of turns nor a body at rest changes what is accurate.
    """
    n = (y.size - 1) // 2
    speed = energy = 0.0
    for x in (y, z):
        v = np.abs(x[n : 2 * n])
        speed = max(speed, v[0::3].max(), v[1::3].max(), length * v[2::3].max())
        energy = max(energy, 0.5 * np.dot(problem.mass, v * v) + abs(x[-1]))
    return (
        atol + rtol * length,
        atol + rtol,
        atol + rtol * speed,
        atol + rtol * speed / length,
        atol + rtol * energy,
    )


def measure(problem, e, y, z, rtol, atol, length):
    """Root mean square of the errors e in units of what is allowed."""
    r, phi, v, w, work = scales(problem, y, z, rtol, atol, length)
    parts = e[:-1].reshape(2, -1, 3) / np.array([[[r, r, phi]], [[v, v, w]]])
    return float(np.sqrt((np.vdot(parts, parts) + (e[-1] / work) ** 2) / e.size))
