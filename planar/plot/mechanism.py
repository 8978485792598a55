"""Pictures of a mechanism: `mechanism` paints a scene (`planar.plot.scene`) on matplotlib axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from planar.errors import PlanarError
from planar.plot.frames import Frame, Frames
from planar.plot.scene import Scene
from planar.plot.style import FAINT, GREY, LAYERS

WIDTH, HEIGHT = 6.4, 6.0  # inches: the most that a picture takes
MANY = 12  # bodies above which names would only be clutter
MANY_PATHS = 60  # bodies above which pixels take less space than paths


def mechanism(
    x: Any,
    t: float | None = None,
    ax: Any = None,
    *,
    index: int | None = None,
    labels: bool | None = None,
    reactions: Any = None,
    scale: float = 1.0,
    drawn: bool = False,
    title: str | None = None,
) -> Any:
    """Draw a Model (assembled), an Assembly, or one instant of a Result; returns the axes.

    t          time in s: at which a Model is assembled, or inside a Result (left out: its first sample)
    ax         axes to draw on; left out, a new figure is made
    index      number of a sample of a Result instead of a time; -1 is the last
    labels     names of bodies, joints and forces; left out: where there are at most 12 bodies
    reactions  force arrows of joints: True for all, or a list of joints or (joint, body) pairs; needs a Result with forces
    scale      factor on the size of pins, bars and symbols
    drawn      a Model as it was drawn, not assembled: open joints are marked
    title      left out: name of the model, and the time for a Result; "" for none
    """
    from planar.plot import canvas

    frames = Frames.of(x, t, drawn)
    frame = frames.sample(index or 0) if index is not None or t is None or len(frames) == 1 else frames.at(t)
    scene = Scene(frames, scale=scale)
    if reactions is not None and reactions is not False:
        from planar.plot.symbols.forces import add_reactions

        add_reactions(scene, reactions)
    made = ax is None
    ax = prepare(ax, *scene.limits([frame]))
    Drawing(ax, scene).update(frame)
    if title is None:
        title = f"{scene.model.name}, t = {frame.t:.4g} s" if len(frames) > 1 else scene.model.name
    canvas.title(ax, title, part=0.65 if scene.force_scale else 1.0)
    if scene.force_scale:
        ax.set_title(f"longest arrow {scene.largest_force:.4g} N", loc="right", fontsize="small", color=GREY)
    if labels if labels is not None else scene.system.nb <= MANY:
        from planar.plot.labels import put

        put(ax, scene, frame)
    elif made:
        canvas.settle(ax)
    return ax


def picture(x: Any, format: str, title: str | None = None) -> Any:
    """A Model or Result as "svg" (text) or "png" (bytes) for a notebook; None where that format or any does not fit.

    Small mechanisms are drawn as SVG, large ones as PNG; what cannot be assembled is shown as text by the notebook.
    """
    from planar.plot import canvas

    system = getattr(x, "system", x)
    large = getattr(system, "nb", None) or len(system.bodies)
    if (format == "png") != (large > MANY_PATHS):
        return None
    try:
        ax = mechanism(x, title=title)
    except PlanarError:
        return None
    data = canvas.to_bytes(ax.figure, format)
    return data.decode() if format == "svg" else data


def prepare(ax: Any, low: np.ndarray, high: np.ndarray) -> Any:
    """Axes with equal scales and room for the box low .. high (and what is there already); new ones if none are given."""
    from planar.plot import canvas

    if ax is None:
        width, height = high - low
        inch = min((WIDTH - 0.7) / width, (HEIGHT - 0.8) / height)  # per metre
        ax = canvas.new_axes(max(inch * width + 0.7, 2.4), max(inch * height + 0.8, 1.4))
    elif ax.has_data():
        low = np.minimum(low, (ax.get_xlim()[0], ax.get_ylim()[0]))
        high = np.maximum(high, (ax.get_xlim()[1], ax.get_ylim()[1]))
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    _few_ticks(ax)
    ax.tick_params(colors=GREY, labelsize=8)
    ax.set_xlabel("x in m", color=GREY, fontsize=8)
    ax.set_ylabel("y in m", color=GREY, fontsize=8)
    return ax


def _few_ticks(ax: Any) -> None:
    """As many numbers as there is room for, at most 6."""
    ax.apply_aspect()
    width, height = ax.get_window_extent().size / ax.figure.dpi
    ax.locator_params(axis="x", nbins=int(np.clip(width / 0.55, 1, 6)))
    ax.locator_params(axis="y", nbins=int(np.clip(height / 0.3, 1, 6)))


class Drawing:
    """A scene on axes, one collection of paths per layer (its `gid`): cheap to move to another frame."""

    def __init__(self, ax: Any, scene: Scene, *, alpha: float | None = None, zorder: float = 2.0):
        from matplotlib.collections import PathCollection

        self.ax, self.scene = ax, scene
        self.thin = line_factor(ax, scene)
        self.layers: dict[str, Any] = {}
        for n, layer in enumerate(LAYERS):
            if any(part.layer == layer for part in scene.parts):
                artist = PathCollection([], zorder=zorder + 0.01 * n, capstyle="round", joinstyle="round", alpha=alpha)
                artist.set_gid(layer)
                artist.set_clip_on(False)
                ax.add_collection(artist, autolim=False)
                self.layers[layer] = artist

    @property
    def artists(self) -> list[Any]:
        return list(self.layers.values())

    def update(self, frame: Frame) -> None:
        from matplotlib.path import Path

        found: dict[str, list] = {layer: [] for layer in self.layers}
        for part, outlines in self.scene.outlines(frame):
            for outline in outlines:
                path = Path(np.concatenate([outline, outline[:1]]), closed=True) if part.closed else Path(outline)
                found[part.layer].append((path, part.style))
        for layer, items in found.items():
            artist = self.layers[layer]
            artist.set_paths([path for path, _ in items])
            artist.set_facecolor([style.fill or "none" for _, style in items])
            artist.set_edgecolor([style.edge or "none" for _, style in items])
            artist.set_linewidth([style.width * self.thin if style.edge else 0.0 for _, style in items])
            artist.set_linestyle([style.dash for _, style in items])


def line_factor(ax: Any, scene: Scene) -> float:
    """Thinner lines where pins are small on paper: 1 for a pin radius of 5 points."""
    ax.apply_aspect()
    points = scene.unit / np.ptp(ax.get_xlim()) * ax.get_window_extent().width * 72.0 / ax.figure.dpi
    return float(np.clip(points / 5.0, 0.35, 1.15))
