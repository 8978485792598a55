"""Frames of an animation as pixels: what stays is painted once, what moves is painted over it for every frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from planar.plot.frames import Frame
from planar.plot.mechanism import Drawing, prepare
from planar.plot.scene import Scene
from planar.plot.style import INK, LINES

PALE = 0.35  # opacity of the part of a trace that is still to come


class Film:
    """A scene on a figure of its own; `images(frames)` gives RGBA arrays (height, width, 4) of equal size.

    traces   (name, positions (nt, 2) over the times of the scene's frames)
    """

    def __init__(self, scene: Scene, traces: Sequence[tuple[str, np.ndarray]], *, dpi: float = 100.0):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from planar.plot import canvas

        self.scene, self.traces = scene, traces
        low, high = scene.limits(scene.some_frames())
        for _, r in traces:
            low, high = np.minimum(low, r.min(0) - scene.unit), np.maximum(high, r.max(0) + scene.unit)
        self.ax = prepare(None, low, high)
        self.figure = self.ax.figure
        self.figure.set_dpi(dpi)
        self.canvas = FigureCanvasAgg(self.figure)
        canvas.title(self.ax, scene.model.name, part=0.6)
        self.drawing = Drawing(self.ax, scene)
        self.paths = [self._path(k, name, r) for k, (name, r) in enumerate(traces)]
        self.clock = self.ax.set_title("", loc="right", fontsize="medium", color=INK)
        for artist in self._moving:
            artist.set_animated(True)

    def _path(self, k: int, name: str, r: np.ndarray) -> tuple[Any, Any]:
        """(line so far, dot) of a trace; the whole path stands pale in the background."""
        color, dash = LINES[k % len(LINES)]
        self.ax.plot(*r.T, color=color, linestyle=dash, linewidth=1.2, alpha=PALE, zorder=1.9)
        line = self.ax.plot([], [], color=color, linestyle=dash, linewidth=1.6, zorder=2.5, label=name)[0]
        return line, self.ax.plot([], [], color=color, marker="o", markersize=4, zorder=2.6)[0]

    @property
    def _moving(self) -> list[Any]:
        found = [*self.drawing.artists, *(artist for pair in self.paths for artist in pair), self.clock]
        return sorted(found, key=lambda artist: artist.get_zorder())

    def images(self, frames: Iterable[tuple[Frame, str]]) -> Iterator[np.ndarray]:
        """One image per (frame, text of the clock)."""
        from planar.plot import canvas

        canvas.settle(self.ax)
        self.canvas.draw()
        paper = self.canvas.copy_from_bbox(self.figure.bbox)
        for frame, text in frames:
            self.canvas.restore_region(paper)
            self.drawing.update(frame)
            self.clock.set_text(text)
            for (line, dot), (_, r) in zip(self.paths, self.traces, strict=True):
                here = frame.blend(r)
                before = r[frame.low + 1 :][::-1] if self.scene.frames.flipped else r[: frame.low + 1]
                line.set_data(*np.vstack([before, here]).T)
                dot.set_data(here[:1], here[1:])
            for artist in self._moving:
                self.figure.draw_artist(artist)
            yield np.array(self.canvas.buffer_rgba())
