"""The main path against the independent formulations, at states along a motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from planar.drivers import AngleDriver, CoordinateDriver
from planar.errors import ModelError
from planar.model import Model
from planar.result import Result
from planar.verify import generalized, points, virtual_work
from planar.verify.closure import openings
from planar.verify.loads import applied
from planar.verify.motion import main_path
from planar.verify.snapshot import Answer, Snapshot, cross, snapshot

FORMULATIONS: tuple[ModuleType, ...] = (points, virtual_work, generalized)
KINDS = ("acceleration", "force", "effort")
OPEN = 1e-8  # of the mechanism's length and speed: what a state may miss its joints by


@dataclass
class Check:
    """One formulation: largest relative difference to the main path by kind, and where it was found.

    reason   why the formulation cannot express the model; None if it can
    allowed  the tolerance, or what round-off allows where the equations are ill-conditioned
    """

    formulation: str
    reason: str | None = None
    largest: dict[str, float] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)
    unknowns: int = 0
    allowed: float = 0.0
    excess: float = 0.0  # largest difference / allowed, over the states

    def take(self, kind: str, difference: float, where: str, allowed: float) -> None:
        difference = float(np.nan_to_num(difference, nan=np.inf))  # nan counts as a difference
        if difference >= self.largest.get(kind, 0.0):
            self.largest[kind], self.where[kind] = difference, where
        self.allowed, self.excess = max(self.allowed, allowed), max(self.excess, difference / allowed)


@dataclass
class Verification:
    """Outcome of `planar.verify`; print it for the table.

    ok       every formulation that can express the model agrees, at least one can, and the states are closed
    worst    largest relative difference of all;  where: what it is about
    opening  {"position": ..., "velocity": ...} by which the states miss joints and drivers, over length and speed;
             opened: the joint or driver
    skipped  joints with components that redundant constraints leave indeterminate
    """

    model: str
    times: np.ndarray
    tol: float
    checks: list[Check]
    opening: dict[str, float]
    opened: dict[str, str]
    skipped: list[str]

    @property
    def ok(self) -> bool:
        found = [c for c in self.checks if c.reason is None]
        return bool(found) and all(c.excess <= 1.0 for c in found) and all(x <= OPEN for x in self.opening.values())

    @property
    def worst(self) -> float:
        return max((x for c in self.checks for x in c.largest.values()), default=float("nan"))

    @property
    def where(self) -> str:
        found = [(x, f"{c.formulation}: {c.where[kind]}") for c in self.checks for kind, x in c.largest.items()]
        return max(found, default=(0.0, ""))[1]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        t = self.times
        span = f", t = {t[0]:g} .. {t[-1]:g} s" if len(t) > 1 else "".join(f", t = {x:g} s" for x in t)
        lines = [f"{self.model!r} against independent formulations, {len(t)} state{'s' * (len(t) != 1)}{span}", ""]
        lines.append(f"{'formulation':14}{'unknowns':>9}" + "".join(f"{k:>14}" for k in KINDS) + f"{'':4}verdict")
        for c in self.checks:
            if c.reason is not None:
                lines.append(f"{c.formulation:14}{'-':>9}{'':4}cannot express it: {c.reason}")
                continue
            numbers = "".join(f"{c.largest[k]:14.1e}" if k in c.largest else f"{'-':>14}" for k in KINDS)
            verdict = "agrees" if c.excess <= 1.0 else "DIFFERS"
            lines.append(f"{c.formulation:14}{c.unknowns:9d}{numbers}{'':4}{verdict} (allowed {c.allowed:.0e})")
        lines.append("")
        for kind, value in self.opening.items():
            note = "" if value <= OPEN else f", OPEN at {self.opened[kind]!r}"
            measure = "size" if kind == "position" else "speed"
            lines.append(f"largest opening in {kind}: {value:.1e} of the mechanism's {measure}{note}")
        if self.skipped:
            lines.append(f"only the determined components were compared in: {', '.join(self.skipped)}")
        if all(c.reason is not None for c in self.checks):
            lines.append("nothing was compared: no formulation can express the model")
        elif not self.ok:
            lines.append(f"largest difference {self.worst:.1e}: {self.where}")
        return "\n".join(lines)


def verify(what: Model | Result, t: Any = 0.0, *, samples: int = 25, tol: float = 1e-9) -> Verification:
    """Compare the main path with every independent formulation that can express the model.

    what     a model, or a result of `inverse_dynamics` or `simulate` with its states, accelerations and multipliers
    t        times in s: a driven model is taken through them by `inverse_dynamics`, one with free coordinates moves
             under its forces from the assembled start
    samples  at most so many of the times are compared, evenly spread
    tol      relative to the largest acceleration, force and effort of the motion

    Components of reactions that redundant constraints leave indeterminate are not compared.
    """
    model = what.model if isinstance(what, Result) else what
    checks = [Check(f.NAME, f.expresses(model), allowed=tol) for f in FORMULATIONS]
    if all(c.reason is not None for c in checks):
        return Verification(model.name, np.zeros(0), tol, checks, {}, {}, [])
    result = what if isinstance(what, Result) else main_path(what, t)
    _check_comparable(result)
    chosen = np.unique(np.linspace(0, len(result) - 1, min(samples, len(result))).round().astype(int))
    states = [snapshot(model, result.t[k], result.q[k], result.v[k]) for k in chosen]
    main = _Main(result, chosen, states)
    opening, opened = _openings(states, main)
    round_off = 10 * max(opening.values())  # a state that misses a joint by x knows its accelerations to some x
    for formulation, check in zip(FORMULATIONS, checks, strict=True):
        if check.reason is None:
            _compare(formulation, check, main, states, max(tol, min(round_off, 10 * OPEN)))
    return Verification(model.name, result.t[chosen], tol, checks, opening, opened, main.skipped)


def _check_comparable(result: Result) -> None:
    if result.lam is None or result.a is None:
        raise ModelError(f"{result.analysis} knows no forces; verify a model, an inverse dynamics or a simulation")
    if result.efforts:
        raise ModelError("efforts are supplied by actuators here; verify the model, whose drivers supply them")
    if not len(result):
        raise ModelError(f"there is no state to compare: {result.message or 'give at least one time'}")


def _compare(formulation: ModuleType, check: Check, main: _Main, states: list[Snapshot], tol: float) -> None:
    for k, now in enumerate(states):
        answer = formulation.solve(main.model, now.t, now.poses, now.velocities)
        allowed = max(tol, np.finfo(float).eps * answer.condition)
        check.unknowns = answer.unknowns
        for kind, difference, where in main.differences(k, answer):
            check.take(kind, difference, f"{where} at t = {now.t:g} s", allowed)


class _Main:
    """What the main path says at the chosen states, and the scales that differences are measured by."""

    def __init__(self, result: Result, chosen: np.ndarray, states: list[Snapshot]):
        self.model, self.length = result.model, result.system.length
        self.bodies = [b.name for b in self.model.bodies]
        self.a = result.a[chosen].reshape(len(chosen), -1, 3)
        self.reactions, self.skipped = {}, []
        for joint in self.model.joints:
            R = result.reaction(joint, on=joint.bodies[1])  # the second body j, which `Answer` speaks of
            known = np.array([R.labels[c] == "unique" for c in ("x", "y", "couple")])
            self.reactions[joint.name] = R.force[chosen], R.couple[chosen], R.point[chosen], known
            self.skipped += [] if known.all() else [joint.name]
        shared = set(result.indeterminate)
        driving = [d for d in self.model.drivers if d.name not in shared]
        self.efforts = {d.name: result.effort(d)[chosen].reshape(len(chosen), -1) for d in driving}
        self._scale(states)

    def _scale(self, states: list[Snapshot]) -> None:
        """Largest acceleration and force of the motion; weight and loads count where everything is at rest."""
        L, model = self.length, self.model
        spin = max(float(np.abs(now.velocities[:, 2]).max()) for now in states)
        linear, angular = np.nanmax(np.abs(self.a[..., :2])), np.nanmax(np.abs(self.a[..., 2]))
        self.acceleration = max(linear, L * angular, L * spin**2, float(np.abs(model.gravity).max()))
        loads = np.array([applied(now) for now in states])
        inertial = max(max(b.mass, b.inertia / L**2) for b in model.bodies) * self.acceleration
        pins = [float(np.nanmax(np.abs(F))) for F, *_ in self.reactions.values()]
        self.force = max(inertial, np.abs(loads[..., :2]).max(), np.abs(loads[..., 2]).max() / L, *pins, 0.0)

    def differences(self, k: int, answer: Answer) -> Iterator[tuple[str, float, str]]:
        """(kind, relative difference, what) of everything at state k."""
        L, da = self.length, np.abs(self.a[k] - answer.acceleration) / _positive(self.acceleration)
        for name, (x, y, phi) in zip(self.bodies, da, strict=True):
            yield "acceleration", max(x, y), f"acceleration of {name!r}"
            yield "acceleration", L * phi, f"angular acceleration of {name!r}"
        force = _positive(self.force)
        for name, (F, C, P, known) in self.reactions.items():
            own = answer.force[name]
            moved = answer.couple[name] + cross(answer.point[name] - P[k], own)  # about the same point
            x, y, couple = np.abs([*(F[k] - own), (C[k] - moved) / L]) / force * known
            yield "force", max(x, y), f"force in {name!r}"
            yield "force", couple, f"couple in {name!r}"
        for name, value in self.efforts.items():
            unit = L * force if _turns(self.model[name]) else force
            yield "effort", np.abs(value[k] - answer.effort[name]).max() / unit, f"effort of {name!r}"


def _turns(driver: Any) -> bool:
    return isinstance(driver, AngleDriver) or (isinstance(driver, CoordinateDriver) and driver.coordinate == "phi")


def _positive(scale: float) -> float:
    return scale if scale > 0 else 1.0


def _openings(states: list[Snapshot], main: _Main) -> tuple[dict[str, float], dict[str, str]]:
    """Largest gaps of the states at position and velocity level, over the size and the speed of the mechanism."""
    L = main.length
    speed = max(float(np.abs(now.velocities * [1.0, 1.0, L]).max()) for now in states)
    speed = max(speed, float(np.sqrt(main.acceleration * L)))  # at rest: what it would soon have
    scales = {"position": L, "velocity": _positive(speed)}
    largest, where = dict.fromkeys(scales, 0.0), dict.fromkeys(scales, "")
    for now in states:
        for name, gaps in openings(now).items():
            for kind, gap in zip(scales, gaps, strict=True):
                if gap / scales[kind] > largest[kind]:
                    largest[kind], where[kind] = gap / scales[kind], name
    return largest, where
