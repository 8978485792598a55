"""Which charts each section shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.certificate import HELD
from planar.report.charts import CURVES, Chart, Charts
from planar.report.sizes import Sizes
from planar.tables import effort_unit, efforts

if TYPE_CHECKING:
    from planar.result import Result


def motion(result: Result, charts: Charts, size: Sizes, bodies: Iterable[str]) -> list[Chart]:
    """One chart per kind of coordinate, one curve per body."""
    views = {name: result[name] for name in bodies}
    wanted = [
        ("x of the centres of mass", "m", size.length, lambda b: b.r[:, 0]),
        ("y of the centres of mass", "m", size.length, lambda b: b.r[:, 1]),
        ("angle", "°", 60.0, lambda b: np.degrees(b.phi)),
    ]
    if result.analysis not in HELD:
        wanted.append(("speed |v|", "m/s", size.speed, lambda b: np.hypot(*b.v.T)))
        wanted.append(("angular velocity ω", "rad/s", size.speed / size.length, lambda b: b.omega))
        if result.a is not None:
            wanted.append(("acceleration |a|", "m/s²", size.acceleration, lambda b: np.hypot(*b.a.T)))
            wanted.append(("angular acceleration α", "rad/s²", size.acceleration / size.length, lambda b: b.alpha))
    return _known(
        charts.over_time(title, unit, {name: of(view) for name, view in views.items()}, large)
        for title, unit, large, of in wanted
    )


def drives(result: Result, charts: Charts, size: Sizes) -> list[Chart]:
    """Efforts, those of one unit together, and the power."""
    by_unit: dict[str, dict[str, np.ndarray]] = {}
    for name, values, word in efforts(result):
        label = name if word in ("effort", "actuator effort") else f"{name}, {word}"
        by_unit.setdefault(effort_unit(result, name), {})[label] = values
    found = []
    for unit, curves in by_unit.items():
        shown = dict(list(curves.items())[:CURVES])
        title, large = ("torque", size.moment) if unit == "N m" else ("force", size.force)
        found.append(charts.over_time(title, unit, shown, large, peak=next(iter(shown)) if len(shown) == 1 else ""))
    if result.analysis not in HELD:
        names = list(dict.fromkeys(name for name, _, _ in efforts(result)))[:CURVES]
        found.append(charts.over_time("power", "W", {name: result.power(name) for name in names}, size.power))
    return _known(found)


def joint(result: Result, charts: Charts, size: Sizes, element: Any) -> list[Chart]:
    """Force and couple over time, load diagrams in global axes and in those of the body; nothing for mere rounding."""
    R = result.reaction(element)
    note = "" if R.unique else "indeterminate: the smallest of all values that keep the balance"
    found = []
    if not size.negligible(R.magnitude, size.force):
        found.append(charts.over_time(f"force on {R.on}", "N", _components(R.force), size.force, peak="|F|", note=note))
        found.append(charts.polar(f"on {R.on}, global axes", "N", "|F|", R.force))
        own = result.reaction(element, on=R.on, frame=R.on)
        found.append(charts.polar(f"on {R.on}, its own axes", "N", "|F|", own.force, ("x′", "y′")))
    if not size.negligible(R.couple, size.moment):
        curves = {"couple": R.couple}
        found.append(charts.over_time(f"couple on {R.on}", "N m", curves, peak="couple", note=note))
    return _known(found)


def shaking(result: Result, charts: Charts, size: Sizes) -> list[Chart]:
    force, moment = result.shaking()
    if size.negligible(force, size.force) and size.negligible(moment, size.moment):
        return []
    title = "moment on ground about the origin"
    return _known(
        [
            charts.over_time("force on ground", "N", _components(force), size.force, peak="|F|"),
            charts.over_time(title, "N m", {"moment": moment}, size.moment, peak="moment"),
            charts.polar("force on ground", "N", "|F|", force),
        ]
    )


def energy(result: Result, charts: Charts) -> list[Chart]:
    E = result.energy
    curves = {"potential": E.potential}
    if result.analysis not in HELD:
        curves = {"kinetic": E.kinetic, "potential": E.potential, "total": E.total, "start + work": E.total[0] + E.work}
    return _known([charts.over_time("energy", "J", curves)])


def _components(force: np.ndarray) -> dict[str, np.ndarray]:
    return {"|F|": np.hypot(*force.T), "Fx": force[:, 0], "Fy": force[:, 1]}


def _known(charts: Iterable[Chart | None]) -> list[Chart]:
    """Without those that a single sample has not."""
    return [chart for chart in charts if chart is not None]
