"""How large quantities of a result are, so that what is only rounding is not drawn as if it were a signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from planar.report.numbers import number

if TYPE_CHECKING:
    from planar.result import Result

ROUNDING = 1e-10  # part of the natural size below which a curve is zero


@dataclass(frozen=True)
class Sizes:
    """Natural sizes in SI units: of the largest terms that a quantity is a sum or difference of."""

    length: float
    speed: float
    acceleration: float
    force: float
    moment: float

    @property
    def power(self) -> float:
        return self.force * self.speed

    def negligible(self, values: np.ndarray, size: float) -> bool:
        return float(np.abs(values).max(initial=0.0)) <= ROUNDING * size

    def largest_couple(self, couple: np.ndarray) -> float:
        """Largest size in N m, 0 for what is only rounding."""
        return 0.0 if self.negligible(couple, self.moment) else float(np.abs(couple).max())


def sizes(result: Result) -> Sizes:
    """Turning counts with a typical length of the mechanism."""
    system = result.system
    length = system.length
    unit = np.tile([1.0, 1.0, length], system.nb)
    speed = _largest(result.v * unit)
    acceleration = max(speed**2 / length, 0.0 if result.a is None else _largest(result.a * unit))
    force = couple = 0.0
    if result.lam is not None:
        terms = [system.mass * result.a, system.forces(result.t, result.q, result.v), *result.loads.values()]
        force = max(_largest(term / unit) for term in terms)
        for constraint in result.model.constraints:
            R = result.reaction(constraint)
            force, couple = max(force, _largest(R.force)), max(couple, _largest(R.couple))
    return Sizes(length, speed, acceleration, max(force, couple / length), max(force * length, couple))


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def ranges(values: np.ndarray, size: float) -> str:
    """ "least .. largest", with zero for what is only rounding."""
    ends = (float(values.min()), float(values.max()))
    return " .. ".join(number(x if abs(x) > ROUNDING * size else 0.0) for x in ends)
