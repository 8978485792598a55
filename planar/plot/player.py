"""An animation as a web page: the parts of the scene once, their poses for every frame, and a small script that draws them."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.plot.frames import Frame
from planar.plot.parts import Part
from planar.plot.style import LINES

if TYPE_CHECKING:
    from planar.animate import Animation


def page(film: Animation, shots: Iterable[tuple[Frame, str]]) -> str:
    """The whole page: no network, no other file."""
    title = html.escape(film.scene.model.name)
    keys = "space: play or pause, arrows: one frame, Home and End"
    force = f"longest arrow {film.scene.largest_force:.4g} N; " if film.scene.force_scale else ""
    text = json.dumps(data(film, shots), separators=(",", ":"), allow_nan=False)
    safe = text.replace("<", "\\u003c")  # no name can end the script element
    return _resource("player.html").format(title=title, data=safe, script=script(), note=html.escape(force + keys))


def framed(text: str, film: Animation) -> str:
    """The page inside another one."""
    size = np.subtract(*reversed(_limits(film)))
    height = min(720, int(140 + 860 * size[1] / size[0]))
    return (
        f'<iframe srcdoc="{html.escape(text)}" style="width: 100%; max-width: 62rem; height: {height}px; border: 0" '
        f'title="{html.escape(film.scene.model.name)}"></iframe>'
    )


def script() -> str:
    """JavaScript: planarPlayer(root, data)."""
    return _resource("player.js")


def data(film: Animation, shots: Iterable[tuple[Frame, str]]) -> dict[str, Any]:
    """What the script draws, as plain numbers; lengths are rounded to 1/20 000 of the picture."""
    scene = film.scene
    low, high = _limits(film)
    digits = 4 - math.floor(math.log10(float((high - low).max()) / 2))
    parts = [_part(part, digits) for part in scene.parts]
    moving = [(part, out) for part, out in zip(scene.parts, parts, strict=True) if part.follow is not None]
    poses, clock = [], []
    traces = [_trace(film, k, name, r, digits) for k, (name, r) in enumerate(film.traces)]
    for frame, text in shots:
        clock.append(text)
        pose = frame.pose.copy()
        pose[:, 2] = np.remainder(pose[:, 2], 2 * np.pi)
        poses.append([round(float(x), digits if k % 3 < 2 else 5) for k, x in enumerate(pose.reshape(-1))])
        for part, out in moving:
            out["frames"].append([_numbers(outline, digits) for outline in part.at(frame) if len(outline)])
        for out, (_, r) in zip(traces, film.traces, strict=True):
            past = len(r) - frame.low - 1 if film.frames.flipped else frame.low + 1
            out["done"].append(2 * math.ceil(past / out["every"]))
            out["here"].append(_numbers(frame.blend(r), digits))
    return {
        "title": scene.model.name,
        "fps": round(film.fps, 4),
        "clock": clock,
        "low": _numbers(low, digits),
        "high": _numbers(high, digits),
        "unit": float(f"{scene.unit:.4g}"),
        "poses": poses,
        "parts": parts,
        "traces": traces,
    }


def _trace(film: Animation, k: int, name: str, r: np.ndarray, digits: int) -> dict[str, Any]:
    """The whole path in the order in which it is run through, thinned to at most 500 points."""
    every = math.ceil(len(r) / 500)
    path = r[::-1] if film.frames.flipped else r
    color = LINES[k % len(LINES)][0]
    return {
        "name": name,
        "color": color,
        "every": every,
        "path": _numbers(path[::every], digits),
        "done": [],
        "here": [],
    }


def _part(part: Part, digits: int) -> dict[str, Any]:
    style = part.style
    out: dict[str, Any] = {
        "layer": part.layer,
        "edge": style.edge,
        "fill": style.fill,
        "width": style.width,
        "closed": part.closed,
    }
    if not isinstance(style.dash, str):
        out["dash"] = list(style.dash[1])
    if part.follow is None:
        return out | {"body": part.body, "outlines": [_numbers(outline, digits) for outline in part.outlines]}
    return out | {"frames": []}


def _limits(film: Animation) -> tuple[np.ndarray, np.ndarray]:
    low, high = film.scene.limits(film.scene.some_frames())
    for _, r in film.traces:
        low, high = np.minimum(low, r.min(0)), np.maximum(high, r.max(0))
    return low, high


def _numbers(values: np.ndarray, digits: int) -> list[float]:
    return [round(float(x), digits) for x in np.asarray(values).reshape(-1)]


def _resource(name: str) -> str:
    return files("planar.plot").joinpath(name).read_text(encoding="utf-8")
