"""The data of the page's script: the moving picture, the values at the cursor, the free bodies at every frame."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from planar.plot import player
from planar.report.balance import FreeBody
from planar.report.content import Content
from planar.report.numbers import significant

LASTS = (2.0, 12.0)  # seconds: a motion that takes less or more is shown slower or faster
STRETCHED = 6.0  # seconds that it takes then, about


def data(content: Content) -> dict[str, Any]:
    """film    see planar/plot/player.js; speed: seconds of the motion per second of the film; start: its first frame
    low, weight   vertex of the curves before each frame, and how far the frame lies behind it
    series        values of the curves at every frame, in the order in which they were drawn
    bodies        see `_free_body`
    """
    timeline = content.timeline
    span = float(timeline.x[-1] - timeline.x[0])
    speed = 1.0 if LASTS[0] <= span <= LASTS[1] else _round(span / STRETCHED)
    fps = (len(timeline.times) - 1) * speed / span if span else 1.0
    film = SimpleNamespace(scene=content.scene, traces=[], fps=fps)
    low, weight = timeline.between(timeline.x[timeline.index])
    return {
        "film": player.data(film, timeline.shots()),
        "speed": significant(speed),
        "sweep": timeline.sweep,
        "start": timeline.first_frame,
        "chosen": content.clock,
        "low": low.tolist(),
        "weight": [significant(w, 4) for w in weight],
        "series": content.charts.series,
        "bodies": [_free_body(content, free) for free in content.free],
    }


def _free_body(content: Content, free: FreeBody) -> dict[str, Any]:
    """At every frame, and last at the chosen sample: pose; x, y, F_x, F_y, couple, M of each term; sums of F_x, F_y, M."""
    view, timeline = content.result[free.body], content.timeline

    def history(*columns: np.ndarray) -> np.ndarray:
        values = np.column_stack(columns)
        return np.vstack([timeline.at_frames(values), timeline.at_chosen(values)])

    pose = history(view.r, view.phi)
    pose[:, 2] %= 2 * np.pi
    return {
        "body": free.index,
        "kinds": [term.kind for term in free.terms],
        "pose": _rows(pose),
        "terms": [_rows(history(term.point, term.force, term.couple, term.moment)) for term in free.terms],
        "sum": _rows(history(free.residual)),
    }


def _rows(values: np.ndarray) -> list[list[float | None]]:
    return [[significant(x, 6) for x in row] for row in values]


def _round(x: float) -> float:
    """The nearest of 1, 2, 5 x 10^n, by ratio."""
    if not x > 0:
        return 1.0
    base = 10.0 ** math.floor(math.log10(x))
    return min((m * base for m in (1, 2, 5, 10)), key=lambda y: abs(math.log(y / x)))
