"""Charts as numbers that a template writes out as SVG: crisp, small, and still there without a script.

The k-th vertex of a curve belongs to the k-th sample of the timeline; the page's script finds its cursors there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from planar.plot.style import INK, LINES
from planar.report.numbers import significant
from planar.report.sizes import ROUNDING
from planar.report.timeline import Timeline

WIDTH, HEIGHT = 520.0, 212.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 10.0, 38.0
SIDE = 220.0  # of a polar chart
ROOM = 26.0  # around its circle
CURVES = 6  # in one chart: as many as there are line styles


@dataclass(frozen=True)
class Curve:
    """points: "x,y x,y ..." in the units of the chart; series: number of its values in the data of the page."""

    name: str
    color: str
    dash: str
    points: str
    series: int
    unit: str


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass
class Chart:
    """kind "time" or "polar"; peak: where the largest value is marked; marks: (x, text) of events."""

    kind: str
    title: str
    unit: str
    curves: list[Curve]
    x_ticks: list[Tick] = field(default_factory=list)
    y_ticks: list[Tick] = field(default_factory=list)
    zero: float | None = None
    peak: tuple[float, float] | None = None
    x_label: str = ""
    marks: list[Tick] = field(default_factory=list)
    note: str = ""
    scale: float = 0.0  # polar: radius of the circle in units of the chart
    axes: tuple[str, str] = ("x", "y")


class Charts:
    """Draws charts over a timeline and keeps the values that the cursor reads: `series`, one list per curve."""

    def __init__(self, timeline: Timeline):
        self.timeline, self.series = timeline, []
        x = timeline.x[timeline.index]
        self._low, self._span = x[0], (x[-1] - x[0]) or 1.0
        self._x = LEFT + (x - self._low) / self._span * (WIDTH - LEFT - RIGHT)
        self._x_ticks = [Tick(round(float(self._place(v)), 1), text) for v, text in ticks(x[0], x[-1], 6)]
        self._marks = [
            Tick(round(float(self._place(e.t)), 1), e.kind)
            for e in timeline.result.events
            if not timeline.sweep and x[0] <= e.t <= x[-1]
        ]

    def _place(self, x: float) -> float:
        return LEFT + (x - self._low) / self._span * (WIDTH - LEFT - RIGHT)

    def over_time(
        self,
        title: str,
        unit: str,
        curves: Mapping[str, np.ndarray],
        size: float = 0.0,
        *,
        peak: str = "",
        note: str = "",
    ) -> Chart | None:
        """Curves (nt,) by name; the largest value of the one named `peak` is marked.  None for a single sample.

        size: natural size of the quantity; curves that are nothing but its rounding are drawn as zero.
        """
        if not self.timeline.moves or not curves:
            return None
        curves = {
            name: np.where(np.abs(values).max() > ROUNDING * size, values, 0.0) for name, values in curves.items()
        }
        shown = {name: self.timeline.at_samples(values) for name, values in curves.items()}
        low, high = _range(list(shown.values()))
        power = _power(max(abs(low), abs(high)))

        def height(values):
            return HEIGHT - BOTTOM - (values - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

        lines = [
            self._curve(k, name, unit, curves[name], self._x, height(values))
            for k, (name, values) in enumerate(shown.items())
        ]
        chart = Chart("time", title, _scaled(unit, power), lines, self._x_ticks, x_label=self.timeline.label, note=note)
        chart.y_ticks = [
            Tick(round(float(height(v * power)), 1), text) for v, text in ticks(low / power, high / power, 5)
        ]
        chart.zero = round(float(height(0.0)), 1) if low <= 0.0 <= high else None
        chart.marks = self._marks
        if peak:
            k = int(np.argmax(np.abs(shown[peak])))
            chart.peak = (round(float(self._x[k]), 1), round(float(height(shown[peak])[k]), 1))
        return chart

    def polar(self, title: str, unit: str, name: str, force: np.ndarray, axes: tuple[str, str] = ("x", "y")) -> Chart:
        """Load diagram: the force (nt, 2) as a vector from the centre, at its angle in the named axes."""
        shown = self.timeline.at_samples(force)
        size = np.hypot(*shown.T)
        largest = float(size.max(initial=0.0)) or 1.0
        power = _power(largest)
        rings = [(v, text) for v, text in ticks(0.0, largest / power, 3, outward=True) if v > 0]
        radius = SIDE / 2 - ROOM
        scale = radius / (rings[-1][0] * power)
        x, y = SIDE / 2 + scale * shown[:, 0], SIDE / 2 - scale * shown[:, 1]
        k = int(np.argmax(size))
        chart = Chart("polar", title, _scaled(unit, power), [self._curve(0, name, unit, np.hypot(*force.T), x, y)])
        chart.y_ticks = [Tick(round(float(v * power * scale), 1), text) for v, text in rings]
        chart.peak = (round(float(x[k]), 1), round(float(y[k]), 1))
        chart.scale, chart.axes = radius, axes
        return chart

    def _curve(self, k: int, name: str, unit: str, values: np.ndarray, x: np.ndarray, y: np.ndarray) -> Curve:
        color, dash = LINES[k % len(LINES)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        self.series.append([significant(v) for v in self.timeline.at_frames(values)])
        pattern = "none" if isinstance(dash, str) else " ".join(f"{1.5 * d:g}" for d in dash[1])
        return Curve(name, INK if name == "|F|" else color, pattern, points, len(self.series) - 1, unit)


# --- axes ------------------------------------------------------------------------------------------------------------


def ticks(low: float, high: float, count: int, *, outward: bool = False) -> list[tuple[float, str]]:
    """(value, text): about `count` multiples of 1, 2, 5 x 10^n in low .. high, or around it (outward)."""
    if not high > low:
        return [(low, f"{low:.6g}")]
    raw = (high - low) / count
    base = 10.0 ** math.floor(math.log10(raw))
    step = base * next(m for m in (1, 2, 5, 10) if m * base >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if outward:
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(k * step, f"{k * step + 0.0:.{decimals}f}") for k in range(first, last + 1)]


def _range(values: list[np.ndarray]) -> tuple[float, float]:
    """Of all curves; zero is in it where it is near, and a curve that stays is not stretched to show its rounding."""
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or size == 0.0:
        middle = 0.5 * (low + high)
        return (middle - 0.5 * abs(middle), middle + 0.5 * abs(middle)) if abs(middle) > 0.0 else (-1.0, 1.0)
    if 0.0 < low < 0.4 * high:
        low = 0.0
    if 0.4 * low < high < 0.0:
        high = 0.0
    room = 0.04 * (high - low)
    return (low if low == 0.0 else low - room), (high if high == 0.0 else high + room)


def _power(size: float) -> float:
    """1, or the power of 1000 that brings very large or small numbers near 1."""
    if size == 0.0 or 1e-2 <= size < 1e5:
        return 1.0
    return 10.0 ** (3 * math.floor(math.log10(size) / 3))


def _scaled(unit: str, power: float) -> str:
    return unit if power == 1.0 else f"{power:.0e} {unit}".replace("e+0", "e").replace("e-0", "e-")
