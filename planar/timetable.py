"""Motions as plain arrays for compiled loops: polynomials, harmonics, splines, and Chebyshev pieces for all the rest.

A formula, a law of rise or any smooth callable of t is replaced by polynomials on intervals that are halved until the
Chebyshev coefficients of f, f' and f'' have fallen to round-off, each fitted for itself so that no digit is lost by
differentiation.  A jump is enclosed to round-off; what does not settle (noise) has no table, and the time loop runs in
Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from planar.motions import Constant, Harmonic, Motion, Polynomial, Ramp, Sum, Table

POLYNOMIAL, HARMONIC, SPLINE, CHEBYSHEV = range(4)
DEGREE = 15  # of a Chebyshev piece
PIECES = 2000  # at most
SETTLED = 2e-14  # of the largest value: the last coefficients of a piece are below


class TimeTable(NamedTuple):
    """Terms (k, 3): target, kind, start.  F[:, target] += factor * (f, f', f''), the factor at numbers[start], then

    POLYNOMIAL  n, c[n]                                         HARMONIC   amplitude, omega, phase, offset
    SPLINE      pieces, degree, period, breaks, coefficients    CHEBYSHEV  pieces, breaks, coefficients of f, f', f''
    """

    terms: np.ndarray
    numbers: np.ndarray


def timetable(motions: Sequence[Motion | None], t0: float, t1: float) -> TimeTable | None:
    """The table of these motions (None: zero) on [t0, t1], or None where one needs Python."""
    terms: list[tuple[int, int, int]] = []
    numbers: list[float] = []
    for target, motion in enumerate(motions):
        if motion is None:
            continue
        motion.evaluate(np.array([t0, t1]))  # a motion that is not defined there says so now
        for factor, part in motion.terms if isinstance(motion, Sum) else ((1.0, motion),):
            found = _term(part, min(t0, t1), max(t0, t1))
            if found is None:
                return None
            terms.append((target, found[0], len(numbers)))
            numbers += [factor, *found[1]]
    return TimeTable(np.array(terms, np.int64).reshape(-1, 3), np.array(numbers, float))


def _term(motion: Motion, t0: float, t1: float) -> tuple[int, np.ndarray] | None:
    if isinstance(motion, Constant):
        return POLYNOMIAL, np.array([1.0, motion.value])
    if isinstance(motion, Ramp):
        return POLYNOMIAL, np.array([2.0, motion.start, motion.rate])
    if isinstance(motion, Polynomial):
        return POLYNOMIAL, np.array([float(len(motion.c)), *motion.c])
    if isinstance(motion, Harmonic):
        return HARMONIC, np.array([motion.amplitude, motion.omega, motion.phase, motion.offset])
    if isinstance(motion, Table):
        breaks, c = motion.pieces
        period = motion.t[-1] - motion.t[0] if motion.periodic else 0.0
        return SPLINE, np.concatenate(([len(c), c.shape[1] - 1, period], breaks, c.reshape(-1)))
    return _chebyshev(motion, t0, t1)


def _chebyshev(motion: Motion, t0: float, t1: float) -> tuple[int, np.ndarray] | None:
    """Halve intervals until the coefficients settle; all intervals of one size are sampled in one call."""
    from scipy.fft import dct  # 0.1 s: only when a formula is tabulated

    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    todo, done = [(t0, t1)], []
    size = np.zeros(3)
    while todo:
        if len(todo) + len(done) > PIECES:
            return None
        ends = np.array(todo)
        middle, half = ends.mean(axis=1)[:, None], np.diff(ends, axis=1) / 2
        F = np.array(motion.evaluate(middle + half * nodes))  # (3, intervals, nodes)
        size = np.maximum(size, np.abs(F).max(axis=(1, 2)))
        C = dct(F, type=2, axis=-1) / (DEGREE + 1)
        C[..., 0] /= 2
        rest = np.abs(C[..., -3:]).max(axis=-1)  # (3, intervals)
        settled = (rest <= SETTLED * np.maximum(size, 1e-290)[:, None]).all(axis=0)
        done += [(*end, c) for end, c, ok in zip(todo, np.moveaxis(C, 1, 0), settled, strict=True) if ok]
        parts = [(a, b) for (a, b), ok in zip(todo, settled, strict=True) if not ok]
        todo = [half for a, b in parts for half in ((a, (a + b) / 2), ((a + b) / 2, b))]
    done.sort(key=lambda x: x[0])
    breaks = np.array([x[0] for x in done] + [t1])
    return CHEBYSHEV, np.concatenate(([len(done)], breaks, np.array([x[2] for x in done]).reshape(-1)))
