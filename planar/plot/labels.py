"""Where names go: near what they name, on free paper, not on each other.

Greedy: every label tries places around its anchor, from near to far, and takes the one that covers least ink.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.plot.frames import Frame
from planar.plot.parts import Label
from planar.plot.style import LAYERS

if TYPE_CHECKING:
    from planar.plot.scene import Scene

DIRECTIONS = [math.radians(a) for a in (45, 135, -45, -135, 90, -90, 0, 180)]
FIRST = {"joint": 0, "force": 1, "driver": 1, "body": 2}  # joints have the least choice


def put(ax: Any, scene: Scene, frame: Frame, size: float = 8.5) -> list[Any]:
    """Write the labels of a scene with type of `size` points; returns the texts."""
    from planar.plot import canvas

    canvas.settle(ax)  # text is as large as the paper says, not as the data
    room = _Room(ax, scene, frame)
    texts = []
    for label in sorted(scene.labels, key=lambda label: FIRST.get(label.what, 3)):
        what = label.what
        anchor = ax.transData.transform(label.at(frame))
        half = 0.5 * size * ax.figure.dpi / 72.0 * np.array([0.58 * len(label.text) + 0.3, 1.15])
        center = room.best(anchor, half, label)
        text = ax.text(
            *ax.transData.inverted().transform(center), label.text, fontsize=size, color=label.color, zorder=4,
            ha="center", va="center", parse_math=False, style="italic" if what == "body" else "normal",
            weight="bold" if what == "joint" else "normal",
        )  # fmt: skip
        text.set_gid(f"name of {what}")
        text.set_in_layout(False)
        texts.append(text)
    return texts


class _Room:
    """What of the paper is taken, in pixels."""

    def __init__(self, ax: Any, scene: Scene, frame: Frame):
        from matplotlib.path import Path

        to_pixels = ax.transData.transform
        self.unit = float(np.ptp(to_pixels([(0.0, 0.0), (scene.unit, 0.0)])[:, 0]))
        self.paper = ax.get_window_extent()
        self.taken: list[np.ndarray] = []
        self.areas: list[tuple[str, Path]] = []
        ink = [np.zeros((0, 3))]
        for part, outlines in scene.outlines(frame):
            weight = 3.0 if LAYERS.index(part.layer) >= LAYERS.index("spring") else 1.0
            for outline in outlines:
                line = to_pixels(np.concatenate([outline, outline[:1]]) if part.closed else outline)
                ink.append(_dots(line, weight))
                if part.closed and part.layer in ("body", "link") and part.style.fill:
                    self.areas.append((part.owner, Path(line)))
        self.ink = np.concatenate(ink)

    def best(self, anchor: np.ndarray, half: np.ndarray, label: Label) -> np.ndarray:
        """The place (center) for a text of half size `half` that covers least; it is taken from then on."""
        places = [(0.0, anchor)] if label.what == "body" else []
        for gap in (1.5, 2.4, 3.6, 5.0, 7.0):
            for angle in DIRECTIONS:
                d = np.array([math.cos(angle), math.sin(angle)])
                places.append((gap, anchor + d * gap * self.unit + np.sign(np.round(d, 6)) * half))
        center = min(places, key=lambda place: self._cost(*place, half, label))[1]
        self.taken.append(np.concatenate([center - half, center + half]))
        return center

    def _cost(self, gap: float, center: np.ndarray, half: np.ndarray, label: Label) -> float:
        low, high = center - half, center + half
        covered = ((self.ink[:, :2] > low - 1) & (self.ink[:, :2] < high + 1)).all(1)
        cost = self.ink[covered, 2].sum() + 0.8 * gap
        cost += 60 * sum(bool((low < box[2:]).all() and (high > box[:2]).all()) for box in self.taken)
        p = self.paper
        cost += 40 * (low[0] < p.x0 or low[1] < p.y0 or high[0] > p.x1 or high[1] > p.y1)
        cost += 2.5 * any(area.contains_point(center) for owner, area in self.areas if owner != label.text)
        return float(cost)


def _dots(line: np.ndarray, weight: float) -> np.ndarray:
    """Points along a polyline every four pixels, (n, 3) with a weight."""
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.linspace(0.0, s[-1], max(2, int(s[-1] / 4)))
    return np.column_stack([np.interp(at, s, line[:, 0]), np.interp(at, s, line[:, 1]), np.full(len(at), weight)])
