"""Energies of a motion and the balance of work.

kinetic = 1/2 v^T M v        potential = gravity + springs        total - total[0] = work of everything else
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from planar.bodies import Point
from planar.forces import Spring, TorsionSpring

if TYPE_CHECKING:
    from planar.result import Result


@dataclass(frozen=True)
class Energy:
    """All (nt,) in J (power in W).

    work   done on the mechanism since the first sample by everything that is not in the potential: drivers, actuators,
           loads, dampers (negative)
    drift  total - total[0] - work: zero for an exact motion
    """

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    power: np.ndarray

    @property
    def total(self) -> np.ndarray:
        return self.kinetic + self.potential

    @property
    def drift(self) -> np.ndarray:
        return self.total - self.total[:1] - self.work

    def __repr__(self) -> str:
        if not self.kinetic.size:
            return "<energy: no sample>"
        return (
            f"<energy: kinetic up to {self.kinetic.max():.6g} J, total {self.total[0]:.6g} -> {self.total[-1]:.6g} J, "
            f"work {self.work[-1]:.6g} J, drift up to {np.abs(self.drift).max():.1e} J>"
        )


def energy(result: Result) -> Energy:
    """Energies at the samples; work by the integral of the power (a spline) unless the analysis integrated it itself."""
    kinetic = kinetic_energy(result)
    # power of all forces = dT/dt = v . M a; what the potential does not give is work
    power = (result.v * (result.system.mass * result.a)).sum(axis=1) + potential_rate(result)
    work = result.integrated_work
    return Energy(kinetic, potential_energy(result), integral(result.t, power) if work is None else work, power)


def kinetic_energy(result: Result) -> np.ndarray:
    return 0.5 * (result.system.mass * result.v**2).sum(axis=1)


def potential_energy(result: Result) -> np.ndarray:
    """Gravity -m g . r (zero at the origin), springs 1/2 k (l - l0)^2 and 1/2 k (angle - angle0)^2."""
    V = -(result.q * result.system.forcing.gravity).sum(axis=1)
    for k, x, _ in _springs(result):
        V = V + 0.5 * k * x**2
    return V


def potential_rate(result: Result) -> np.ndarray:
    """dV/dt (nt,) W."""
    rate = -(result.v * result.system.forcing.gravity).sum(axis=1)
    for k, x, v in _springs(result):
        rate = rate + k * x * v
    return rate


def _springs(result: Result):
    """(stiffness, stretch (nt,), its rate (nt,)) of every spring."""
    parameters = {b.law.name: iter(b.parameters.T) for b in result.system.forcing.batches}
    for force in result.model.forces:
        if isinstance(force, Spring):
            p = next(parameters["spring"])
            i, j = (result.point(Point(end.body, end.s)) for end in (force.point_i, force.point_j))
            d, dv = j.r - i.r, j.v - i.v
            length = np.hypot(d[:, 0], d[:, 1])
            yield p[4], length - p[6], (d * dv).sum(axis=1) / np.where(length > 0, length, 1.0)
        elif isinstance(force, TorsionSpring):
            p = next(parameters["torsion"])
            i, j = result[force.body_i], result[force.body_j]
            yield p[0], j.phi - i.phi - p[2], j.omega - i.omega


def integral(t: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Integral of samples from the first one on, by a cubic spline (order 4)."""
    if t.size < 2:
        return np.zeros_like(power)
    if not np.all(np.diff(t)):  # a time that comes twice adds nothing
        new = np.concatenate([[True], np.diff(t) != 0.0])
        return integral(t[new], power[new])[np.cumsum(new) - 1]
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(t, power, k=min(3, t.size - 1)) if t[-1] > t[0] else None
    if spline is None:  # time runs backward
        return integral(-t, -power)
    whole = spline.antiderivative()
    return whole(t) - whole(t[0])
