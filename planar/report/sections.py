"""The tables of a report: what HTML and LaTeX both show.  Numbers stay numbers until they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.certificate import HELD, Certificate
from planar.energy import integral
from planar.errors import PlanarError
from planar.report.numbers import degrees
from planar.report.sizes import Sizes, ranges
from planar.tables import effort_unit, efforts

if TYPE_CHECKING:
    from planar.report.balance import FreeBody
    from planar.result import Result

Cell = str | float


@dataclass
class Table:
    """head and rows of equal length; a cell is text or a number."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    note: str = ""
    alarms: list[int] = field(default_factory=list)  # rows to be looked at

    @cached_property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers."""
        return [any(isinstance(row[k], float) for row in self.rows) for k in range(len(self.head))]


def when(result: Result, k: int) -> str:
    """The sample as text: its time, or its number where all samples belong to one time."""
    if len(result) > 1 and np.ptp(result.t) == 0.0:
        return f"pose {k}"
    return f"{result.t[k]:.4g} s"


# --- motion ----------------------------------------------------------------------------------------------------------


def poses(result: Result) -> Table:
    """The pose of every body in a result with one sample."""
    rows = [(name, *map(float, result[name].r[0]), degrees(result[name].phi[0])) for name in result.system.body_names]
    return Table("Pose", ("body", "x m", "y m", "angle"), rows)


def motion(result: Result) -> Table:
    """Range of every coordinate and the largest velocities and accelerations."""
    head = ["body", "x m", "y m", "angle °"]
    parts = [("v", "omega", "m/s", "rad/s")] if result.analysis not in HELD else []
    if parts and result.a is not None:
        parts.append(("a", "alpha", "m/s²", "rad/s²"))
    for linear, angular, per, turn in parts:
        head += [f"max {linear} {per}", "at", f"max {'ω' if angular == 'omega' else 'α'} {turn}", "at"]
    rows, length = [], result.system.length
    for name in result.system.body_names:
        view = result[name]
        x, y = view.r.T
        row: list[Cell] = [name, ranges(x, length), ranges(y, length), ranges(np.degrees(view.phi), 60.0)]
        for linear, angular, *_ in parts:
            for size in (np.hypot(*getattr(view, linear).T), np.abs(getattr(view, angular))):
                k = int(np.argmax(size))
                row += [float(size[k]), when(result, k)]
        rows.append(tuple(row))
    return Table("Motion", tuple(head), rows, "Coordinates of the centres of mass, global axes.")


# --- efforts ---------------------------------------------------------------------------------------------------------


def drives(result: Result) -> Table:
    """What drivers and actuators must give."""
    rows, moves, many = [], result.analysis not in HELD, len(result) > 1
    for name, values, word in efforts(result):
        k = int(np.argmax(np.abs(values)))
        label = name if word in ("effort", "actuator effort") else f"{name}, {word}"
        row: list[Cell] = [label, effort_unit(result, name), float(values[k]), when(result, k)]
        row += [float(values.mean()), _rms(values)] if many else []
        if moves:
            power = result.power(name)
            row += [float(power[np.argmax(np.abs(power))])] + ([_work(result, power)] if many else [])
        rows.append(tuple(row))
    head = ("drive", "unit", *(("peak", "at", "mean", "rms") if many else ("effort", "at")))
    head += (("peak power W", "work J") if many else ("power W",)) if moves else ()
    note = "Positive along the motion of the drive; power is what it puts into the mechanism."
    return Table("Efforts of the drives", head, rows, note if moves else "What holds the mechanism where it is.")


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _work(result: Result, power: np.ndarray) -> float:
    return float(integral(result.t, power)[-1])


# --- joints ----------------------------------------------------------------------------------------------------------


def joints(result: Result, size: Sizes) -> Table:
    """One row per joint and moving body."""
    rows, alarms, many = [], [], len(result) > 1
    for n, r in enumerate(result.summary().rows):
        R = result.reaction(r.joint, on=r.on)
        row: list[Cell] = [r.joint, r.on, r.peak]
        row += [when(result, int(np.argmax(R.magnitude)))] if many else []
        pushes = not size.negligible(R.magnitude, size.force)
        row += [degrees(r.direction), degrees(r.directions.get(r.on, r.direction))] if pushes else ["", ""]
        row += [r.mean, r.rms] if many else []
        rows.append((*row, size.largest_couple(R.couple), "unique" if r.unique else "indeterminate"))
        if not r.unique:
            alarms.append(n)
    peak, spread = (("peak N", "at"), ("mean N", "rms N")) if many else (("force N",), ())
    head = ("joint", "on body", *peak, "global", "in its axes", *spread, "couple N m", "value is")
    note = (
        "Force of the joint on the body; its direction, counter-clockwise from the x axis of the global axes and of the axes "
        "fixed in that body. Couple: about the point where the force acts."
    )
    if many:
        note += " Directions are those at the peak; of the couple the largest size is given."
    if alarms:
        note += (
            " Indeterminate: the joints share this load and the geometry does not say how; of all values that keep the balance "
            "the smallest are given."
        )
    return Table("Joint reactions", head, rows, note, alarms)


def joint(result: Result, element: Any, size: Sizes) -> Table:
    """One joint on each of its bodies, in global axes and in those of the body."""
    rows, alarms, many = [], [], len(result) > 1
    for body in dict.fromkeys(element.bodies):
        for frame in [None] if body.is_ground else [None, body]:
            R = result.reaction(element, on=body, frame=frame)
            k = int(np.argmax(R.magnitude))
            x, y = R.force.T
            row: list[Cell] = [
                body.name,
                R.frame,
                *((ranges(x, size.force), ranges(y, size.force)) if many else (float(x[0]), float(y[0]))),
            ]
            row += [float(R.magnitude[k]), *([when(result, k)] if many else [])]
            row.append("" if size.negligible(R.magnitude, size.force) else degrees(np.arctan2(y[k], x[k])))
            row += [float(R.magnitude.mean()), _rms(R.magnitude)] if many else []
            shared = [c for c, label in R.labels.items() if label != "unique"]
            alarms += [len(rows)] if shared else []
            label = f"indeterminate: {', '.join(shared)}" if shared else "unique"
            rows.append((*row, size.largest_couple(R.couple), label))
    peak, spread = (("peak N", "at"), ("mean N", "rms N")) if many else (("force N",), ())
    head = ("on body", "axes", "Fx N", "Fy N", *peak, "direction", *spread, "couple N m", "value is")
    return Table("", head, rows, "", alarms)


def shaking(result: Result, size: Sizes) -> Table:
    force, moment = result.shaking()
    magnitude, many = np.hypot(*force.T), len(result) > 1
    k, m = int(np.argmax(magnitude)), int(np.argmax(np.abs(moment)))
    direction = "" if size.negligible(magnitude, size.force) else degrees(np.arctan2(force[k, 1], force[k, 0]))
    rows: list[tuple[Cell, ...]] = []
    for name, values, n, angle in (
        ("force N", magnitude, k, direction),
        ("moment about the origin N m", moment, m, ""),
    ):
        spread = (float(values.mean()), _rms(values)) if many else ()
        rows.append((name, float(values[n]), when(result, n), angle, *spread))
    head = ("", "peak" if many else "value", "at", "direction", *(("mean", "rms") if many else ()))
    return Table("Force on the foundation", head, rows, "Sum of what joints, drives and springs do to ground.")


# --- balances --------------------------------------------------------------------------------------------------------


def free_body(free: FreeBody, k: int) -> Table:
    """All forces on a body at sample k, numbered as in the drawing, and their sum."""
    rows: list[tuple[Cell, ...]] = []
    for n, term in enumerate(free.terms, 1):
        name = term.name + ("" if term.unique else " (indeterminate)")
        row = (*map(float, term.point[k]), *map(float, term.force[k]), float(term.moment[k]))
        rows.append((str(n), name, *row))
    rows.append(("", "sum", "", "", *map(float, free.residual[k])))
    return Table(free.body.name, ("", "force of", "x m", "y m", "Fx N", "Fy N", "M N m"), rows)


def energy(result: Result) -> Table:
    E, many = result.energy, len(result) > 1
    parts = {"potential": E.potential}
    if result.analysis not in HELD:
        parts = {"kinetic": E.kinetic, "potential": E.potential, "total": E.total}
        parts |= {"work done on it": E.work} if many else {}
    rows = [(name, *_ends(values)) if many else (name, float(values[0])) for name, values in parts.items()]
    note = ""
    if "work done on it" in parts:
        drift = float(np.abs(E.drift).max())
        note = f"Total energy follows the work of drives, loads and dampers to {drift:.1e} J at worst."
    return Table("Energy", ("J", "first", "last", "least", "largest") if many else ("J", "value"), rows, note)


def _ends(values: np.ndarray) -> tuple[float, ...]:
    return float(values[0]), float(values[-1]), float(values.min()), float(values.max())


def certificate(found: Certificate) -> Table:
    rows = [
        ("holds" if c.ok else "BROKEN", c.law, f"{c.residual:.1e} {c.unit}" if c.unit else "", f"{c.relative:.1e}",
         f"{c.tolerance:.0e}", c.where)
        for c in found.checks
    ]  # fmt: skip
    head = ("", "law", "largest residual", "relative", "at most", "where")
    return Table("Certificate", head, rows, "", [n for n, c in enumerate(found.checks) if not c.ok])


def modes(result: Any) -> Table | None:
    """Natural modes of an equilibrium; None for other results."""
    try:
        found = result.modes
    except (AttributeError, PlanarError):
        return None
    rows = [
        (str(n), "" if np.isnan(m.hertz) else float(m.hertz), float(m.growth), ", ".join(m.movers[:6]))
        for n, m in enumerate(found, 1)
    ]
    return Table("Natural modes", ("mode", "frequency Hz", "growth 1/s", "moves most"), rows) if rows else None
