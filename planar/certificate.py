"""The certificate: residuals of every law at every sample, each against a stated tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from planar.assembly import row_scale
from planar.bodies import as_number
from planar.errors import CheckError, ModelError
from planar.mobility import DENSE, scaled_jacobian

if TYPE_CHECKING:
    from planar.result import Result

#: largest residual relative to the size of the terms that should cancel; rounding leaves about 1e-13
TOLERANCES = {
    "position": 1e-9,
    "velocity": 1e-8,
    "acceleration": 1e-8,
    "force": 1e-9,
    "moment": 1e-9,
    "power": 1e-9,
    "condition": 1e8,
}
SAMPLES = 200  # at which the condition number is computed, at most
WORK = 5e8  # coordinates^3 times samples: about a second of singular value decompositions
HELD = ("statics", "equilibrium")  # drivers hold: no velocities, no accelerations


@dataclass(frozen=True)
class Check:
    """One law: the residual in `unit`, the same relative to the size of the terms, and where it is worst."""

    law: str
    residual: float
    unit: str
    relative: float
    tolerance: float
    where: str

    @property
    def ok(self) -> bool:
        return bool(self.relative <= self.tolerance)

    def __str__(self) -> str:
        mark = "ok  " if self.ok else "FAIL"
        size = f"{self.residual:9.1e} {self.unit:6s}" if self.unit else f"{'':16s}"
        return f"  {mark}  {self.law:13s} {size} {self.relative:9.1e}  (at most {self.tolerance:.0e})  {self.where}"


@dataclass(frozen=True)
class Certificate:
    """All checks of a result; `ok` if every law holds to its tolerance."""

    title: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def worst(self) -> Check:
        return max(self.checks, key=lambda c: c.relative / c.tolerance if c.relative == c.relative else np.inf)

    def enforce(self) -> Certificate:
        """Raise `CheckError` naming the worst body or joint where a law is broken."""
        if not self.ok:
            c = self.worst
            failed = ", ".join(check.law for check in self.checks if not check.ok)
            raise CheckError(
                f"{self.title}: {c.law} is off by {c.residual:.3g} {c.unit} ({c.relative:.1e} of its size, at most "
                f"{c.tolerance:.0e} allowed), worst at {c.where}; failed: {failed}"
            )
        return self

    def __str__(self) -> str:
        verdict = "all laws hold" if self.ok else "NOT TO BE TRUSTED"
        return "\n".join([f"certificate of {self.title}: {verdict}", *map(str, self.checks)])

    __repr__ = __str__


def certify(result: Result, **tolerances: float) -> Certificate:
    """Check a result; tolerances by law, e.g. ``certify(run, position=1e-6)``."""
    unknown = set(tolerances) - set(TOLERANCES)
    if unknown:
        raise ModelError(f"no law is named {sorted(unknown)[0]!r}; known: {', '.join(TOLERANCES)}")
    limits = TOLERANCES | {law: as_number(limit, f"tolerance of {law}") for law, limit in tolerances.items()}
    title = f"{result.analysis} of {result.model.name!r}, {len(result)} samples"
    return Certificate(title, tuple(_checks(result, limits)))


def _checks(result: Result, limits: dict[str, float]) -> Iterator[Check]:
    system = result.system
    e = system.constraints(result.t, result.q, result.v)  # anew: the certificate trusts nothing
    held = result.analysis in HELD
    rows = ~system.driven if held else np.ones(system.nc, bool)
    scale = np.where(rows, row_scale(system), 0.0)  # rows in rad count with the typical length

    def closed(law: str, gap: np.ndarray, unit: str, size: float) -> Check:
        worst, k, row = _worst(gap * scale)
        where = f"{system.row_names[row]}, t = {result.t[k]:g} s" if row >= 0 else ""
        return Check(law, worst, unit, worst / size if size else worst, limits[law], where)

    yield closed("position", e.Phi, "m", system.length)
    if not held:
        unit = np.tile([1.0, 1.0, system.length], system.nb)
        gap = system.pattern.multiply(e.Phi_q, result.v) - e.nu
        yield closed("velocity", gap, "m/s", np.abs(result.v * unit).max(initial=0.0))
        if result.a is not None:
            gap = system.pattern.multiply(e.Phi_q, result.a) - e.gamma
            size = np.abs(result.a * unit).max(initial=0.0) + np.abs(e.gamma * scale).max(initial=0.0)
            yield closed("acceleration", gap, "m/s^2", size)
    if result.lam is not None and result.a is not None:
        yield from _balance(result, limits)
        if not held:
            yield _power(result, limits)
    yield _condition(result, limits)


def _balance(result: Result, limits: dict[str, float]) -> Iterator[Check]:
    """Newton-Euler per body: M a - Q - loads + Phi_q^T lam = 0, in N and N m."""
    system = result.system
    inertia = system.mass * result.a
    Q = system.forces(result.t, result.q, result.v) + sum(result.loads.values(), start=np.zeros_like(inertia))
    constraint = system.pattern.multiply_T(result.Phi_q, result.lam)
    gap = (inertia - Q + constraint).reshape(len(result), -1, 3)
    terms = np.maximum.reduce([np.abs(inertia), np.abs(Q), np.abs(constraint), _largest_term(result)])
    terms = terms.reshape(len(result), -1, 3)
    # couples and forces are found together: the rounding of one shows in the other, over the typical length
    force = max(terms[..., :2].max(initial=0.0), terms[..., 2].max(initial=0.0) / system.length)
    for law, part, unit, size in (
        ("force", gap[..., :2].reshape(len(result), -1), "N", force),
        ("moment", gap[..., 2], "N m", force * system.length),
    ):
        worst, k, column = _worst(part)
        body = system.body_names[column // 2 if law == "force" else column] if column >= 0 else ""
        where = f"body {body!r}, t = {result.t[k]:g} s" if column >= 0 else ""
        yield Check(law, worst, unit, worst / size if size else worst, limits[law], where)


def _largest_term(result: Result) -> np.ndarray:
    """Largest single reaction on each coordinate: near a dead point large forces cancel within Phi_q^T lam."""
    pattern = result.system.pattern
    return pattern.multiply_T(np.abs(result.Phi_q), np.abs(result.lam))


def _power(result: Result, limits: dict[str, float]) -> Check:
    """d/dt of the kinetic energy = power of applied forces + drivers + actuators."""
    system = result.system
    kinetic = (result.v * system.mass * result.a).sum(axis=1)
    applied = (system.forces(result.t, result.q, result.v) * result.v).sum(axis=1)
    drivers = -(result.lam * result.nu).sum(axis=1)
    actuators = sum((result.efforts[name] * result.rates[name] for name in result.efforts), start=np.zeros(len(result)))
    gap = kinetic - applied - drivers - actuators
    worst, k, _ = _worst(gap[:, None])
    # the largest term that cancels: power flows in and out of a body at its joints
    terms = np.abs(result.v) * np.maximum(_largest_term(result), np.abs(system.mass * result.a))
    size = max(terms.max(initial=0.0), *(np.abs(x).max(initial=0.0) for x in (kinetic, applied, drivers, actuators)))
    return Check("power", worst, "W", worst / size if size else worst, limits["power"], f"t = {result.t[k]:g} s")


def _condition(result: Result, limits: dict[str, float]) -> Check:
    """Condition number of the scaled Jacobian, zero singular values of redundant rows apart, where it is largest."""
    system = result.system
    if not system.nc or not len(result) or system.nq > DENSE:
        return Check("condition", 0.0, "", 1.0, limits["condition"], "not computed (no constraints, or too large)")
    samples = int(np.clip(WORK / system.nq**3, 5, SAMPLES))
    chosen = np.unique(np.linspace(0, len(result) - 1, samples).astype(int))
    s = np.linalg.svd(scaled_jacobian(system, result.Phi_q[chosen]), compute_uv=False)
    rank = int((s > 1e-10 * s[:, :1]).sum(axis=1).max())
    with np.errstate(divide="ignore"):
        condition = s[:, 0] / s[:, rank - 1]
    k = int(np.argmax(condition))
    return Check("condition", 0.0, "", float(condition[k]), limits["condition"], f"t = {result.t[chosen[k]]:g} s")


def _worst(gap: np.ndarray) -> tuple[float, int, int]:
    """(largest absolute value, sample, column); what is not finite is the worst of all."""
    if not gap.size:
        return 0.0, 0, -1
    size = np.where(np.isfinite(gap), np.abs(gap), np.inf)
    k, column = np.unravel_index(int(np.argmax(size)), size.shape)
    return float(size[k, column]), int(k), int(column)
