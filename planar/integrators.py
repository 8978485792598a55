"""Explicit Runge-Kutta pairs and the time loop that all methods share.

The state is y = (q, v, W): coordinates, velocities, and the work done on the mechanism by everything that has no
potential.  A method (`planar.methods`) gives

    rate(problem, t, step, y, out)    dy/dt; returns the smallest pivot, 0 where it cannot be computed
    restore(problem, t, y)            y back to the constraints after a step, in place; False where that fails

`advance` and `visit` are plain Python that numba compiles as it stands: `planar.compiled_forward` binds the names they
call to compiled functions, here they are those of `planar.stepping`.  One loop, the same numbers.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from planar.stepping import (
    blank,
    coefficients,
    combine,
    copy,
    interpolate,
    measure,
    multipliers,
    rate,
    restore,
    subtract,
)

FULL, END, TINY, BROKEN = 0, 1, 2, 3  # why `advance` came back

SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0  # of the step control
NEAR = 0.1  # part of a healthy pivot below which a singular position is near
AT = 1e-2  # part of a healthy pivot below which a stage counts as singular
NOISE = 2e-15  # times the extent in typical lengths: rounding in slopes whose pivot is 1
CROSSING = 1e-8  # error of a step across a singular position that is accepted at any tolerance
EPS = float(np.finfo(float).eps)
ROWS = 16  # of K, for every pair


class Pair(NamedTuple):
    """Butcher tableau, one array for all of it: rows A (s), b, c, E5, E3, and for dense output Ax (further), cx, D (4).

    error = |h| e5^2 / sqrt(e5^2 + e3^2 / 100), e5 = |E5 K|, e3 = |E3 K| (Hairer); E3 = 0 is an ordinary embedded pair.
    E5 and E3 also weigh the slope at the new state, row s of K.  gap: middle of the widest interval between stages.
    Without further stages the dense output is a Hermite polynomial of degree 5.
    """

    table: np.ndarray  # (rows, 16)
    stages: int
    further: int
    gap: float
    order: float


class Control(NamedTuple):
    """Step control; speeds and sizes: see `scales`."""

    t_end: float
    rtol: float
    atol: float
    max_step: float
    adaptive: bool
    length: float  # typical length of the mechanism, m: weighs angles against lengths
    noise: float  # rounding in slopes whose pivot is 1; it grows as the pivot falls


@cache
def pair(name: str) -> Pair:
    """ "DOP853" (order 8), "RK45" (Dormand-Prince, order 5), "RK4" (for fixed steps, no error estimate)."""
    if name == "RK4":
        A = np.zeros((4, 4))
        A[1, 0] = A[2, 1] = 0.5
        A[3, 2] = 1.0
        return Pair(_stacked(A, np.array([1, 2, 2, 1]) / 6, [0, 0.5, 0.5, 1], [0.0], [0.0]), 4, 0, 0.25, 4.0)
    from scipy.integrate import DOP853, RK45

    if name == "RK45":
        return Pair(_stacked(RK45.A, RK45.B, RK45.C, RK45.E, [0.0]), 6, 0, 0.55, 5.0)
    D = DOP853
    return Pair(_stacked(D.A, D.B, D.C, D.E5, D.E3, D.A_EXTRA, D.C_EXTRA, D.D), 12, 3, 0.466, 8.0)


def _stacked(*parts: object) -> np.ndarray:
    rows = [row for part in parts for row in np.atleast_2d(np.asarray(part, float))]
    return np.array([np.pad(row, (0, ROWS - row.size)) for row in rows])


PAIRS = ("DOP853", "RK45", "RK4")


def advance(problem, pair, control, clock, y, K, times, states, pivots, nears, wanted, samples):
    """Take steps from y at clock = (t, h, healthy pivot, slope of its root) until `times` is full or the end is reached.

    Fills times (n,), states (n, ny), pivots (n,), the smallest one met, and nears (n,), whether a singular position was
    near, with the accepted steps, and `samples` at the times `wanted`; leaves the new state in y and the clock; K (ROWS, ny)
    are the slopes.  Returns (steps, status, samples, evaluations, rejected steps).

    Near a singular position the slope is smooth along the constraints only, and 0/0 at the position itself: there every
    stage is put back on the constraints, and steps are laid so that the position falls between two stages.
    """
    stages, gap, order = pair[1], pair[3], pair[4]
    t_end, rtol, max_step, adaptive, noise = control[0], control[1], control[3], control[4], control[6]
    work, F = np.zeros((4, y.size)), np.zeros((7, y.size))
    z = work[0]
    evaluations, rejected, steps, sampled = 1, 0, 0, np.int64(0)
    t, h = clock[0], clock[1]
    direction = 1.0 if t_end >= t else -1.0
    pivot = rate(problem, t, h, y, K[0])
    if not pivot > 0.0:
        return 0, BROKEN, 0, evaluations, rejected
    clock[2] = max(clock[2], pivot)
    while steps < times.size and t != t_end:
        first_try, placed, near, allowed = True, False, False, h
        if adaptive and clock[3] < 0.0:
            h = approach(np.sqrt(pivot) / -clock[3], min(abs(h), max_step), gap)
        while True:
            left = abs(t_end - t)
            size = min(abs(h), max_step)
            last = size * 1.0000001 >= left
            if last:
                size = left
            elif size < 10.0 * EPS * max(abs(t), abs(t_end)):
                return steps, TINY, sampled, evaluations, rejected
            step = direction * size
            t_new = t_end if last else t + step
            ahead = max(0.0, np.sqrt(pivot) + clock[3] * size) ** 2
            near = near or min(pivot, ahead) < NEAR * clock[2]
            error, low, where, found = attempt(problem, pair, control, t, t_new, near, pivot, y, K, work)
            evaluations += stages
            # rounding leaves noise / pivot^1.5 in the slopes: close to a singular position no shorter step does better
            fine = error <= 1.0 or (low > 0.0 and error * rtol <= min(CROSSING, noise / low**1.5))
            if adaptive and not placed and 0.0 < where and low < AT * clock[2]:
                slope = (np.sqrt(found) - np.sqrt(pivot)) / size
                reach = size - np.sqrt(found) / slope if where == 1.0 and slope < 0.0 else where * size
                if (
                    not fine or abs(reach - size) < 0.25 * gap * size
                ):  # the position lies on a stage, or too near the end
                    if not fine:
                        allowed = size * max(SHRINK, SAFETY * error ** (-1.0 / order))
                    placed, near, first_try, rejected = True, True, False, rejected + 1
                    h = approach(reach, min(size, abs(allowed)), gap)
                    continue
            if fine:
                break
            rejected += 1
            if not adaptive:
                return steps, BROKEN, sampled, evaluations, rejected
            first_try = False
            near = near or low < NEAR * clock[2]
            h = size * (max(SHRINK, SAFETY * error ** (-1.0 / order)) if np.isfinite(error) else SHRINK)
            allowed = h
        if adaptive:
            factor = GROW if error == 0.0 else min(GROW, max(SHRINK, SAFETY * error ** (-1.0 / order)))
            h = size * (factor if first_try else min(1.0, factor))
            if (first_try or placed) and factor >= 1.0:  # a step cut short says nothing about the next
                h = max(h, abs(allowed))
        sampled = sample(problem, pair, t, t_new, near, y, z, K, F, wanted, sampled, samples)
        t = t_new
        copy(z, y)
        copy(K[stages], K[0])
        clock[0], clock[1], clock[2] = t, h, max(clock[2], found)
        clock[3] = (np.sqrt(found) - np.sqrt(pivot)) / size
        pivot = found
        times[steps], pivots[steps], nears[steps] = t, low, near
        copy(y, states[steps])
        steps += 1
    return steps, END if t == t_end else FULL, sampled, evaluations, rejected


def attempt(problem, pair, control, t, t_new, near, pivot, y, K, work):
    """One step from t to t_new into work[0], slopes into K; near: with every stage on the constraints.

    Returns (error in units of what is allowed, smallest pivot, where in the step, pivot at the end).
    """
    table, stages = pair[0], pair[1]
    b, c, E5, E3 = table[stages], table[stages + 1], table[stages + 2], table[stages + 3]
    rtol, atol, adaptive, length = control[1], control[2], control[4], control[5]
    z, e5, e3, zero = work[0], work[1], work[2], work[3]
    step = t_new - t
    low, where, found = pivot, 0.0, pivot
    for s in range(1, stages + 1):
        at_end = s == stages
        t_s = t_new if at_end else t + c[s] * step
        combine(y, step, b if at_end else table[s], K, s, z)
        if at_end:
            copy(z, e3)
        fine = restore(problem, t_s, z) if near or at_end else True
        found = rate(problem, t_s, step, z, K[s]) if fine else 0.0
        if found < low:
            low, where = found, 1.0 if at_end else c[s]
        if not found > 0.0:
            return np.inf, 0.0, where, 0.0
    if not adaptive:
        return 0.0, low, where, found
    subtract(z, e3, e3)  # what the constraints took back is part of the error
    moved = measure(problem, e3, y, z, rtol, atol, length)
    combine(zero, step, E5, K, stages + 1, e5)
    combine(zero, step, E3, K, stages + 1, e3)
    n5 = measure(problem, e5, y, z, rtol, atol, length)
    n3 = measure(problem, e3, y, z, rtol, atol, length)
    error = 0.0 if n5 == 0.0 else n5 * n5 / np.sqrt(n5 * n5 + 0.01 * n3 * n3)
    return max(error, moved), low, where, found


def approach(ahead, h, gap):
    """Length of a step, h allowed, when a singular position is expected `ahead` s from here.

    Near enough: across it, with the position in the widest gap between stages; else so that the next step can do that.
    """
    if ahead <= gap * h:
        return ahead / gap
    if ahead < (1.0 + gap) * h:
        return max(ahead - gap * h, 0.1 * h)
    return h


def sample(problem, pair, t, t_new, near, y, z, K, F, wanted, first, out):
    """States out[k] at the times wanted[k], k >= first, up to t_new, of the step from (t, y) to (t_new, z) with slopes K.

    Put back on the constraints.  Returns the first k that lies beyond.
    """
    table, stages, further = pair[0], pair[1], pair[2]
    cx, D = table[stages + 4 + further] if further > 0 else table[0], table[stages + 5 + further :]
    step, ready = t_new - t, False
    k = first
    while k < wanted.size and (wanted[k] - t_new) * step <= 0.0:
        if wanted[k] == t_new:
            copy(z, out[k])
        elif wanted[k] == t:
            copy(y, out[k])
        else:
            if not ready:
                for s in range(further):
                    row = stages + 1 + s
                    combine(y, step, table[stages + 4 + s], K, row, out[k])
                    if near:
                        restore(problem, t + cx[s] * step, out[k])
                    rate(problem, t + cx[s] * step, step, out[k], K[row])
                coefficients(step, y, z, K, stages, D, F)
                ready = True
            interpolate((wanted[k] - t) / step, step, y, F, further == 0, out[k])
            if not restore(problem, wanted[k], out[k]):
                interpolate((wanted[k] - t) / step, step, y, F, further == 0, out[k])
        k += 1
    return k


def visit(problem, pair, control, times, states, nears, index, when, K, out, slopes, lam):
    """States, slopes and multipliers at the times `when`, each in the step that starts at times[index].

    The slopes within a step are computed again: keeping them would take more memory than it saves time.  Slopes and
    multipliers in a singular position are nan.
    """
    work, F = np.zeros((4, states.shape[1])), np.zeros((7, states.shape[1]))
    k = np.int64(0)  # not the literal 0, for which numba would compile `sample` once more
    while k < when.size:
        i = index[k]
        last = min(i + 1, times.size - 1)
        stop = k
        while stop < when.size and index[stop] == i:
            stop += 1
        inside = False
        for m in range(k, stop):
            inside = inside or (when[m] != times[i] and when[m] != times[last])
        if inside:
            pivot = rate(problem, times[i], 0.0, states[i], K[0])
            if pair[2] > 0:
                attempt(problem, pair, control, times[i], times[last], nears[last], pivot, states[i], K, work)
            else:
                rate(problem, times[last], 0.0, states[last], K[pair[1]])
        sample(problem, pair, times[i], times[last], nears[last], states[i], states[last], K, F, when[:stop], k, out)
        for m in range(k, stop):
            if rate(problem, when[m], 0.0, out[m], slopes[m]) > 0.0:
                multipliers(problem, lam[m])
            else:
                blank(slopes[m])
                blank(lam[m])
        k = stop
