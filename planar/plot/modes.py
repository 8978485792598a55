"""Pictures of natural modes: the mechanism at rest between the two ends of its swing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from planar.errors import ModelError
from planar.plot.frames import Frame, Frames
from planar.plot.mechanism import Drawing, prepare
from planar.plot.scene import Scene

SWING = 0.1  # the largest displacement shown, as a part of the extent of the mechanism


def modes(x: Any, ax: Any = None, *, which: Sequence[int] | int | None = None, swing: float = SWING) -> Any:
    """Draw natural modes of an equilibrium or a linearization: at rest, and pale at both ends of the swing.

    which   numbers of the modes from 0, the slowest first (left out: the first 6, or as many as axes are given)
    swing   the largest displacement shown, as a part of the size of the mechanism
    """
    from planar.plot import canvas

    known = list(getattr(x, "modes", ()))
    if not known:
        raise ModelError(f"{x!r:.80} has no mode; give pl.equilibrium(...) of a mechanism with free motions")
    axes = None if ax is None else list(ax) if isinstance(ax, (Sequence, np.ndarray)) else [ax]
    if which is None:
        numbers = list(range(min(len(known), 6 if axes is None else len(axes))))
    else:
        numbers = [which] if isinstance(which, int) else list(which)
    for k in numbers:
        if not -len(known) <= k < len(known):
            raise ModelError(f"mode {k} is asked for, but there are {len(known)}: 0 .. {len(known) - 1}")
    if axes is not None and len(axes) != len(numbers):
        raise ModelError(f"{len(numbers)} modes need as many axes, but {len(axes)} were given")
    q = np.asarray(x.q, float).reshape(-1)
    t = float(np.asarray(x.t).reshape(-1)[0])
    scenes = [_scene(x.system, t, q, known[k].shape, swing) for k in numbers]
    boxes = [scene.limits(scene.some_frames()) for scene in scenes]
    low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
    axes = _grid(len(numbers), high - low) if axes is None else axes
    for k, scene, one in zip(numbers, scenes, axes, strict=True):
        _draw(one, scene, low, high)
        canvas.title(one, f"mode {k + 1}: {_words(known[k])}")
    if ax is None:
        canvas.settle(axes[0])
    return axes[0] if len(axes) == 1 else tuple(axes)


def _scene(system: Any, t: float, q: np.ndarray, shape: np.ndarray, swing: float) -> Scene:
    """States -, 0, + of the swing, each closed onto the constraints (a straight step along the mode opens joints)."""
    from planar.assembly import close
    from planar.projection import Projector, weights

    size = Scene(Frames(system, t, q, np.zeros_like(q))).extent
    path = np.abs(shape.reshape(-1, 3) * (1.0, 1.0, system.length)).max()
    step = swing * size / path
    projector = Projector(system, weights(system, drawn=False))
    states = [close(system, projector, t, q - step * shape)[0], q, close(system, projector, t, q + step * shape)[0]]
    return Scene(Frames(system, [0.0, 1.0, 2.0], np.array(states), np.zeros((3, len(q)))))


def _draw(ax: Any, scene: Scene, low: np.ndarray, high: np.ndarray) -> None:
    prepare(ax, low, high)
    t = scene.frames.t
    for k, alpha in ((0, 0.28), (2, 0.28), (1, None)):
        frame = scene.frames.sample(k)
        still = Frame(frame.system, float(t[0]), frame.q, frame.v)
        Drawing(ax, scene, alpha=alpha, zorder=2.0 + 0.2 * (k == 1)).update(still)


def _grid(n: int, size: np.ndarray) -> list[Any]:
    """Axes for n pictures of one size, wide ones below each other."""
    from planar.plot import canvas

    ratio = size[0] / size[1]
    columns = 1 if n == 1 else min(n, 2 if ratio > 1.2 else 3 if ratio > 0.5 else 6)
    rows = math.ceil(n / columns)
    width = 6.4 if columns == 1 else 9.6
    height = float(np.clip(width / columns * size[1] / size[0], 1.2, 4.5)) + 0.7
    fig = canvas.figure(width, rows * height)
    return [fig.add_subplot(rows, columns, k + 1, axes_class=canvas.Axes) for k in range(n)]


def _words(mode: Any) -> str:
    if mode.growth > 0:
        return f"grows with {mode.growth:.4g}/s"
    return "neutral" if mode.omega == 0 else f"{mode.hertz:.4g} Hz"
