"""Rigid bodies as particles (Attia, "Dynamic modelling of planar mechanisms using point coordinates").

A body is replaced by primary particles and by secondary ones half-way between each pair of them, with masses that give
the same mass, centre of mass and moment of inertia: three primary and six in all, eq. (2); for a rod, whose joints and
centre of mass lie on one line, two primary and three in all.  Masses may come out negative: only the sums matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planar.bodies import Body
from planar.verify.snapshot import R

FLAT = 1e-12  # part of a body's length within which points count as lying on its line
THIN = 0.1  # part of a body's length below which a triangle of pins is too thin to carry its masses


@dataclass(frozen=True)
class Particles:
    """The particles of one body.

    primary   (2 or 3, 2) local places of the primary particles; the first one is the joint that carries the body
    masses    (3 or 6,) primary masses, then those half-way between pairs (0, 1), (0, 2), (1, 2)
    mu        masses with the secondary particles eliminated, mu[i, i] = m_i + 1/4 sum m_ij, mu[i, j] = 1/4 m_ij: the
              coefficients of eqs. (10b), (10c); their row sums are those of (10a)
    """

    primary: np.ndarray
    masses: np.ndarray
    mu: np.ndarray

    @property
    def is_rod(self) -> bool:
        return len(self.primary) == 2

    def share(self, s: Any) -> np.ndarray:
        """(primary,) factors that give a body-fixed point from the primary particles; their sum is 1."""
        s, p = np.asarray(s, float), self.primary
        if self.is_rod:
            e = p[1] - p[0]
            x = (s - p[0]) @ e / (e @ e)
            return np.array([1 - x, x])
        return np.linalg.solve(np.vstack([np.ones(3), p.T]), np.append(1.0, s))

    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of primary particles, which keep their distances (5)."""
        return [(0, 1)] if self.is_rod else [(0, 1), (0, 2), (1, 2)]


def equivalent(body: Body, first: Any, pins: list, others: list) -> Particles:
    """Particles for a body whose first particle is at the local point `first`.

    pins: local points where particles are wanted; others: points that must follow from the particles (the centre of
    mass is always one of them).
    """
    first, pins = np.asarray(first, float), [np.asarray(p, float) for p in pins]
    e = _second(body, first, pins) - first
    needed = [*pins, *(np.asarray(p, float) for p in others), np.zeros(2)]
    off = [abs((R @ e) @ (p - first)) / (e @ e) for p in needed]
    if max(off) <= FLAT:
        return _with_masses(body, np.array([first, first + e]))
    k = int(np.argmax(off[: len(pins)])) if pins else 0
    third = pins[k] if pins and off[k] > THIN else first + e / 2 + R @ e / 2
    return _with_masses(body, np.array([first, first + e, third]))


def _second(body: Body, first: np.ndarray, pins: list[np.ndarray]) -> np.ndarray:
    """The pin farthest from the first one; else the other end of a uniform rod; else anywhere."""
    far = max(pins, key=lambda p: np.linalg.norm(p - first), default=first)
    size = max([np.linalg.norm(p) for p in (first, *pins)])
    for candidate in (far, -first):
        if np.linalg.norm(candidate - first) > 1e-6 * size:
            return candidate
    radius = np.sqrt(body.inertia / body.mass) if body.mass > 0 and body.inertia > 0 else 1.0
    return first + [radius, 0.0]


def _with_masses(body: Body, primary: np.ndarray) -> Particles:
    """Masses from eq. (2), with lengths measured in sides of the body.

    In the plane only j_xx + j_yy = I counts; half of it is given to each, none to j_xy.
    """
    n = len(primary)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    side = np.linalg.norm(primary[1] - primary[0])
    places = np.array([*primary, *((primary[i] + primary[j]) / 2 for i, j in pairs)]) / side
    I = body.inertia / side**2
    if n == 2:
        x = places @ (primary[1] - primary[0]) / side  # from the centre of mass along the rod
        masses = np.linalg.solve(np.vstack([np.ones(3), x, x * x]), [body.mass, 0.0, I])
    else:
        x, y = places.T
        A = np.vstack([np.ones(6), x, y, y * y, x * x, x * y])
        masses = np.linalg.solve(A, [body.mass, 0.0, 0.0, I / 2, I / 2, 0.0])
    mu = np.diag(masses[:n])
    for (i, j), m in zip(pairs, masses[n:], strict=True):
        mu[[i, j, i, j], [i, j, j, i]] += m / 4
    return Particles(primary, masses, mu)
