"""Views of a state or of a whole result by body and by point: words instead of indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from planar.bodies import Point
from planar.errors import ModelError

if TYPE_CHECKING:
    from planar.system import System


class BodyView:
    """Motion of one body: r (..., 2) m, phi (...) rad, v m/s, omega rad/s, a m/s^2, alpha rad/s^2 (of its centre of mass)."""

    def __init__(self, q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None):
        self._q, self._v, self._a = q, v, a

    @property
    def r(self) -> np.ndarray:
        return self._q[..., :2]

    @property
    def phi(self) -> np.ndarray:
        return self._q[..., 2]

    @property
    def v(self) -> np.ndarray:
        return self._v[..., :2]

    @property
    def omega(self) -> np.ndarray:
        return self._v[..., 2]

    @property
    def a(self) -> np.ndarray:
        return self._acceleration[..., :2]

    @property
    def alpha(self) -> np.ndarray:
        return self._acceleration[..., 2]

    @property
    def _acceleration(self) -> np.ndarray:
        if self._a is None:
            raise ModelError("accelerations are not known here; they belong to the result of an analysis")
        return self._a


class PointView:
    """Motion of a body-fixed point: r, v, a (..., 2) in m, m/s, m/s^2, global axes."""

    def __init__(self, body: BodyView, s: tuple[float, float]):
        self._body = body
        c, n = np.cos(body.phi), np.sin(body.phi)
        self._arm = np.stack([c * s[0] - n * s[1], n * s[0] + c * s[1]], -1)

    @property
    def _turned(self) -> np.ndarray:  # R A s'
        return np.stack([-self._arm[..., 1], self._arm[..., 0]], -1)

    @property
    def r(self) -> np.ndarray:
        return self._body.r + self._arm

    @property
    def v(self) -> np.ndarray:
        return self._body.v + self._body.omega[..., None] * self._turned

    @property
    def a(self) -> np.ndarray:
        b = self._body
        return b.a + b.alpha[..., None] * self._turned - (b.omega**2)[..., None] * self._arm


class State:
    """Positions and velocities (and accelerations) of a system: ``state[body].r``, ``state.point(p).v``.

    q, v, a are (..., nq); bodies and points may belong to the model or to a copy of it: they are found by name.
    """

    def __init__(self, system: System, t: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray | None = None):
        self.system, self.t, self.q, self.v, self.a = system, t, q, v, a

    def __getitem__(self, body: Any) -> BodyView:
        k = self.system.body_index(body)
        if k == self.system.nb:
            zero = np.zeros((*self.q.shape[:-1], 3))
            return BodyView(zero, zero, zero)
        part = slice(3 * k, 3 * k + 3)
        return BodyView(self.q[..., part], self.v[..., part], None if self.a is None else self.a[..., part])

    def point(self, point: Point) -> PointView:
        """Motion of a body-fixed point such as ``coupler["C"]`` or ``coupler.point(0.1, 0.02)``."""
        if not isinstance(point, Point):
            raise ModelError(f"point() takes a point of a body such as crank['A'], got {point!r}")
        return PointView(self[point.body], point.s)
