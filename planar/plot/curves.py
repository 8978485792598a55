"""Curves over time, and load diagrams: reactions, efforts, energies, motions, traces of points.

Every function takes `ax` (left out: a new figure) and returns the axes it drew on; where one call makes several axes they
come as a tuple, and as many can be given.  Events of the result are marked by vertical lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from planar.bodies import Body, Point
from planar.elements import Driver
from planar.errors import ModelError
from planar.joints import Revolute, Weld
from planar.plot.frames import Frames
from planar.plot.scene import Scene
from planar.plot.style import DOTTED, FAINT, GREY, INK, LINES
from planar.tables import effort_unit


def reactions(
    result: Any, joint: Any, on: Any = None, ax: Any = None, *, kind: str | None = None, frame: Any = None
) -> Any:
    """What a joint does to the body `on` (left out: its second body): force and couple over time, and as a load diagram.

    kind    "time", "polar" (the force vector, where it points and how large it is) or "both"; left out: both, or what
            suits the given axes
    frame   a body in whose axes the components are given (left out: global axes)
    """
    R = result.reaction(joint, on=on, frame=frame)
    if kind is None:
        kind = "both" if ax is None or isinstance(ax, Sequence) else "polar" if hasattr(ax, "set_rmax") else "time"
    if kind not in ("time", "polar", "both"):
        raise ModelError(f"kind is {kind!r}; give 'time', 'polar' or 'both'")
    if kind == "both":
        from planar.plot import canvas

        left, right = ax if ax is not None else canvas.time_and_polar()
        return _over_time(result, R, left), _polar(R, right)
    return _over_time(result, R, ax) if kind == "time" else _polar(R, ax)


def effort(result: Any, driver: Any = None, ax: Any = None) -> Any:
    """What a driver or actuator must give, N m or N, positive along its motion, with its mean and its peak.

    driver   left out: all actuators of the analysis, or all drivers; of different units on axes of their own
    """
    if driver is not None:
        names = [getattr(driver, "name", driver)]
    else:
        names = list(result.efforts) or [d.name for d in result.model.drivers]
        if not names:
            raise ModelError(f"{result!r} has no driver; an effort belongs to a driver or an actuator")
    by_unit: dict[str, list[str]] = {}
    for name in names:
        by_unit.setdefault(_effort_unit(result, name), []).append(name)
    axes, x = _several(ax, len(by_unit)), abscissa(result)[0]
    for one, (unit, group) in zip(axes, by_unit.items(), strict=True):
        curves = [c for name in group for c in _components(name, result.effort(name))]
        for k, (label, values) in enumerate(curves):
            _line(one, x, values, label, k)
            if len(curves) == 1:
                _peak(one, x, values, unit)
                mean = values.mean()
                one.axhline(mean, color=GREY, linewidth=1.0, linestyle=DOTTED, label=f"mean {mean:.4g} {unit}")
        what = "torque" if unit == "N m" else "force"
        _finish(one, result, f"{what} in {unit}", f"{result.model.name}: effort" if one is axes[0] else "", zero=True)
    return axes[0] if len(axes) == 1 else axes


def energy(result: Any, ax: Any = None) -> Any:
    """Kinetic, potential and total energy, and what the total should be: its start and the work done since."""
    E = result.energy
    ax, x = _one(ax), abscissa(result)[0]
    if len(x) > 1 and np.ptp(E.work) > 1e-6 * max(np.ptp(E.total), np.abs(E.kinetic).max()):
        ax.plot(x, E.total[0] + E.work, color=FAINT, linewidth=5.0, label="start + work done")
    for k, (label, values) in enumerate((("kinetic", E.kinetic), ("potential", E.potential), ("total", E.total))):
        _line(ax, x, values, label, k)
    drift = np.abs(E.drift).max(initial=0.0)
    title = f"{result.model.name}: energy, balance kept to {drift:.1e} J"
    return _finish(ax, result, "energy in J", title)


QUANTITIES = {
    "r": ("position in m", ("x", "y")),
    "v": ("velocity in m/s", ("x", "y")),
    "a": ("acceleration in m/s$^2$", ("x", "y")),
    "phi": ("angle in rad", ("angle",)),
    "omega": (r"$\omega$ in rad/s", ("omega",)),
    "alpha": (r"$\alpha$ in rad/s$^2$", ("alpha",)),
}


def motion(result: Any, what: Any, ax: Any = None, *, quantity: str | None = None) -> Any:
    """Motion of a body (of its centre of mass, and its rotation) or of a point, in global axes.

    quantity   one of "r", "v", "a", and for a body "phi", "omega", "alpha"; left out: all of them in a new figure, or the
               position on given axes
    """
    point = isinstance(what, Point)
    view = result.point(what) if point else result[what]
    name = point_name(what) if point else getattr(what, "name", what)
    columns = [("r", "v", "a")] if point else [("r", "v", "a"), ("phi", "omega", "alpha")]
    known = [q for column in columns for q in column]
    if quantity is not None and quantity not in known:
        raise ModelError(f"quantity is {quantity!r}; give one of {', '.join(map(repr, known))}")
    if quantity is None and ax is None:
        from planar.plot import canvas

        rows = [q for q in range(3) if q < 2 or result.a is not None]
        grid = canvas.column(len(rows), len(columns), width=4.6 * len(columns) if len(columns) > 1 else 6.4)
        for r in rows:
            for c, column in enumerate(columns):
                last, first = r == rows[-1], r == 0 and c == 0
                _quantity(grid[r][c], result, view, column[r], name if first else "", last)
        return tuple(one for row in grid for one in row)
    return _quantity(_one(ax), result, view, quantity or "r", name)


def trace(result: Any, *points: Any, ax: Any = None, mechanism: bool = True) -> Any:
    """Paths of points (coupler curves), with dots at equal times: wide apart where the point is fast.

    points      points of bodies, or bodies for their centres of mass; left out: the centre of mass of every body
    mechanism   draw the mechanism at its first sample as well
    """
    from planar.plot import canvas
    from planar.plot.mechanism import Drawing, prepare

    chosen = points or tuple(result.model.bodies)
    paths = [(point_name(p), result.point(as_point(result, p)).r) for p in chosen]
    frames = Frames.of(result)
    scene, frame = Scene(frames), frames.sample(0)
    low, high = (np.array([f(r, axis=0) for _, r in paths]) for f in (np.min, np.max))
    low, high = low.min(0) - scene.unit, high.max(0) + scene.unit
    if mechanism:
        box = scene.limits([frame])
        low, high = np.minimum(low, box[0]), np.maximum(high, box[1])
    made, ax = ax is None, prepare(ax, low, high)
    if mechanism:
        Drawing(ax, scene).update(frame)
    for k, (name, r) in enumerate(paths):
        color, dash = LINES[k % len(LINES)]
        ax.plot(*r.T, color=color, linestyle=dash, linewidth=1.6, label=name, zorder=3)
        ticks = _equal_times(result.t, 24)
        ax.plot(*r[ticks].T, linestyle="none", marker="o", markersize=2.6, color=color, zorder=3)
    rows = _legend(ax) if len(paths) <= 8 else 0
    canvas.title(ax, f"{result.model.name}: paths", pad=7 + 14 * rows)
    if made:
        canvas.settle(ax)
    return ax


# --- pieces ----------------------------------------------------------------------------------------------------------


def _over_time(result: Any, R: Any, ax: Any) -> Any:
    ax = _one(ax)
    turns = np.abs(R.couple).max(initial=0.0)
    pushes = R.magnitude.max(initial=0.0)
    title = f"{R.joint} on {R.on}" + ("" if R.frame == "global" else f", axes of {R.frame}")
    x, twin = abscissa(result)[0], None
    note = "" if R.unique else "\nindeterminate: one of many that keep the balance, the smallest"

    def label(text: str, *components: str) -> str:
        return text + (" (indeterminate)" if any(R.labels[c] != "unique" for c in components) else "")

    if pushes <= 1e-9 * turns:  # a pure couple
        _line(ax, x, R.couple, label("couple", "couple"), 0)
        _peak(ax, x, R.couple, "N m")
        return _finish(ax, result, "couple in N m", title + note, zero=True)
    _line(ax, x, R.magnitude, label("|F|", "x", "y"), 0, INK)
    _line(ax, x, R.force[:, 0], label("Fx", "x"), 1)
    _line(ax, x, R.force[:, 1], label("Fy", "y"), 2)
    _peak(ax, x, R.magnitude, "N")
    if turns > 1e-9 * pushes:
        twin = ax.twinx()
        twin.set_ylabel("couple in N m")
        twin.spines["top"].set_visible(False)
        _line(twin, x, R.couple, label("couple (right)", "couple"), 3)
    return _finish(ax, result, "force in N", title + note, zero=True, twin=twin)


def _polar(R: Any, ax: Any) -> Any:
    """The load diagram: the force as a point at its angle and magnitude; on plain axes the components against each other."""
    from planar.plot import canvas

    ax = canvas.polar_axes() if ax is None else ax
    polar = hasattr(ax, "set_rmax")
    x, y = (np.arctan2(R.force[:, 1], R.force[:, 0]), R.magnitude) if polar else R.force.T
    if len(R.t) == 1:
        ax.plot([0.0, x[0]] if not polar else [x[0], x[0]], [0.0, y[0]], color=INK, linewidth=1.4)
    ax.plot(x, y, color=LINES[0][0], linewidth=1.5, marker="o" if len(R.t) == 1 else None)
    ticks = _equal_times(R.t, 24)
    ax.plot(x[ticks], y[ticks], linestyle="none", marker="o", markersize=2.6, color=LINES[0][0])
    k = int(np.argmax(R.magnitude))
    ax.plot(x[k : k + 1], y[k : k + 1], marker="D", markersize=5, color=INK, linestyle="none")
    if polar:
        canvas.tidy_polar(ax)
    else:
        canvas.tidy(ax, "Fx in N", "Fy in N")
        ax.set_aspect("equal", adjustable="datalim")
    text = "load diagram in N, dots at equal times" + ("" if R.unique else "\n(indeterminate)")
    ax.set_title(text, fontsize="small", color=INK)
    return ax


def _quantity(ax: Any, result: Any, view: Any, quantity: str, name: str, last: bool = True) -> Any:
    ylabel, labels = QUANTITIES[quantity]
    values = getattr(view, quantity)
    values = values if values.ndim > 1 else values[:, None]
    for k, label in enumerate(labels):
        _line(ax, abscissa(result)[0], values[:, k], label, k)
    return _finish(ax, result, ylabel, name, legend=len(labels) > 1, last=last)


def _line(ax: Any, x: np.ndarray, values: np.ndarray, label: str, k: int, color: str | None = None) -> Any:
    own, dash = LINES[k % len(LINES)]
    marker = "o" if len(x) == 1 else None
    return ax.plot(x, values, label=label, color=color or own, linestyle=dash, linewidth=1.6, marker=marker)[0]


def _peak(ax: Any, x: np.ndarray, values: np.ndarray, unit: str) -> None:
    k = int(np.argmax(np.abs(values)))
    label = f"peak {values[k]:.4g} {unit}"
    ax.plot(x[k : k + 1], values[k : k + 1], marker="D", markersize=5, color=INK, linestyle="none", label=label)


def _finish(
    ax: Any,
    result: Any,
    ylabel: str,
    title: str,
    *,
    zero: bool = False,
    legend: bool = True,
    last: bool = True,
    twin: Any = None,
) -> Any:
    """Labels, events, legend and title; `last`: the axes carry the time axis; `twin`: axes of a right-hand scale."""
    from planar.plot import canvas

    canvas.tidy(ax, abscissa(result)[1] if last else "", ylabel)
    if zero:
        ax.axhline(0.0, color=GREY, linewidth=0.8)
    _mark_events(ax, result)
    if len(result.t) == 1:
        ax.set_xticks(abscissa(result)[0])
    rows = _legend(ax, twin) if legend else 0
    if title:
        canvas.title(ax, title, pad=7 + 14 * rows)
    return ax


def _legend(ax: Any, twin: Any = None) -> int:
    """A legend above the axes, where no curve runs; returns its number of rows."""
    handles, labels = ax.get_legend_handles_labels()
    if twin is not None:
        more = twin.get_legend_handles_labels()
        handles, labels = handles + more[0], labels + more[1]
    if not handles:
        return 0
    columns = _columns([len(label) + 6 for label in labels])
    legend = ax.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, fontsize="small",
        borderaxespad=0.2, handlelength=2.4, columnspacing=1.4,
    )  # fmt: skip
    for text in legend.get_texts():  # a name may hold a dollar sign
        text.set_parse_math(False)
    return -(-len(handles) // columns)


def _columns(widths: list[int], room: int = 76) -> int:
    """The most columns of a legend, filled one after the other, whose widths (in characters) fit side by side."""
    for columns in range(min(len(widths), 6), 1, -1):
        rows = -(-len(widths) // columns)
        if sum(max(widths[k : k + rows]) for k in range(0, len(widths), rows)) <= room:
            return columns
    return 1


def abscissa(result: Any) -> tuple[np.ndarray, str]:
    """What curves run over: time, or the number of the pose where all samples belong to one time (a static sweep)."""
    t = result.t
    if len(t) > 1 and np.ptp(t) == 0.0:
        return np.arange(len(t)), "number of the pose"
    return t, "t in s"


def _mark_events(ax: Any, result: Any) -> None:
    """Vertical lines at events, named where there are few."""
    events = list(getattr(result, "events", ()))
    for event in events:
        ax.axvline(event.t, color=GREY, linewidth=0.9, linestyle=DOTTED).set_gid("event")
        if len(events) <= 6:
            text = ax.annotate(
                event.kind, (event.t, 0.98), xycoords=("data", "axes fraction"), rotation=90, fontsize="x-small",
                color=GREY, ha="right", va="top",
            )  # fmt: skip
            text.set_gid("event")


def _effort_unit(result: Any, name: str) -> str:
    """N m for what turns, N for what pushes."""
    constraint = next((c for c in result.model.constraints if c.name == name), None)
    if constraint is None:
        return "N"  # an actuator between two points
    if isinstance(constraint, Driver):
        return effort_unit(result, name)
    return "N m" if isinstance(constraint, (Revolute, Weld)) else "N"


def _components(name: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    if values.ndim == 1:
        return [(name, values)]
    return [(f"{name} {word}", values[:, k]) for k, word in enumerate(("x", "y")[: values.shape[1]])]


def _equal_times(t: np.ndarray, n: int) -> np.ndarray:
    """Indices of the samples nearest to n equal steps of time (or of the samples, if time stands still)."""
    if np.ptp(t) == 0.0:
        return np.unique(np.linspace(0, len(t) - 1, n).round().astype(int))
    return np.unique(np.abs(t[:, None] - np.linspace(t[0], t[-1], n)[None, :]).argmin(0))


def as_point(result: Any, what: Any) -> Point:
    """A point, or the centre of mass of a body given by object or name."""
    if isinstance(what, Point):
        return what
    body = result.model[getattr(what, "name", what)]
    if not isinstance(body, Body):
        raise ModelError(f"trace takes points such as coupler['C'] or bodies, got {what!r}")
    return body.point(0.0, 0.0)


def point_name(what: Any) -> str:
    if isinstance(what, Point):
        return f"{what.body.name}.{what.name}" if what.name else f"{what.body.name} ({what.s[0]:g}, {what.s[1]:g})"
    return str(getattr(what, "name", what))


def _one(ax: Any) -> Any:
    from planar.plot import canvas

    return canvas.new_axes(6.4, 3.6) if ax is None else ax


def _several(ax: Any, n: int) -> tuple[Any, ...]:
    from planar.plot import canvas

    if ax is None:
        return (canvas.new_axes(6.4, 3.6),) if n == 1 else tuple(row[0] for row in canvas.column(n, height=2.6))
    axes = tuple(ax) if isinstance(ax, (Sequence, np.ndarray)) else (ax,)
    if len(axes) != n:
        raise ModelError(
            f"{n} axes are needed, one per unit, but {len(axes)} given; give one driver, or a list of {n} axes"
        )
    return axes
