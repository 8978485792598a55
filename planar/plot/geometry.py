"""Outlines of drawn things as plain arrays (n, 2), in metres; nothing here knows matplotlib or the model.

Polygons are open lists of vertices (the last one is joined to the first by whoever draws them).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def unit(angle: Any) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], -1)


def angle(d: Any) -> float:
    """Direction of a vector in rad."""
    return math.atan2(d[1], d[0])


def left(d: np.ndarray) -> np.ndarray:
    """R d, the vector turned by +90 degrees."""
    return np.stack([-d[..., 1], d[..., 0]], -1)


def turned(outline: np.ndarray, x: float, y: float, phi: float) -> np.ndarray:
    """Local outline (n, 2) in a body at (x, y, phi)."""
    c, s = math.cos(phi), math.sin(phi)
    return outline @ np.array([[c, s], [-s, c]]) + (x, y)


def circle(center: Any, radius: float, n: int = 0) -> np.ndarray:
    """A polygon that looks round."""
    angles = np.linspace(0.0, 2 * math.pi, n or 48, endpoint=False)
    return np.asarray(center) + radius * unit(angles)


def arc(center: Any, radius: float, start: float, end: float) -> np.ndarray:
    n = max(3, math.ceil(abs(end - start) / math.radians(6)) + 1)
    return np.asarray(center) + radius * unit(np.linspace(start, end, n))


def hull(points: np.ndarray) -> np.ndarray:
    """Convex hull, counter-clockwise (Andrew's monotone chain); two points for collinear ones."""
    points = np.unique(np.asarray(points, float).reshape(-1, 2), axis=0)
    size = np.ptp(points, axis=0).max(initial=0.0)

    def half(points: np.ndarray) -> list[np.ndarray]:
        chain: list[np.ndarray] = []
        for p in points:
            while len(chain) > 1 and _cross(chain[-1] - chain[-2], p - chain[-2]) <= 1e-9 * size**2:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return points if len(points) < 3 else np.array(half(points) + half(points[::-1]))


def rounded(points: np.ndarray, radius: float) -> np.ndarray:
    """Everything within `radius` of the convex hull of the points: a disc, a bar with round ends, a rounded plate."""
    corners = hull(points)
    if len(corners) == 1:
        return circle(corners[0], radius)
    edges = np.roll(corners, -1, axis=0) - corners
    outward = np.arctan2(-edges[:, 0], edges[:, 1])  # direction of -R e
    pieces = []
    for k, corner in enumerate(corners):
        before, after = outward[k - 1], outward[k]
        pieces.append(arc(corner, radius, before, before + (after - before) % (2 * math.pi)))
    return np.concatenate(pieces)


def area(outline: np.ndarray) -> float:
    return 0.5 * abs(float(_cross(outline, np.roll(outline, -1, axis=0)).sum()))


def distance_to_hull(point: np.ndarray, points: np.ndarray) -> float:
    """Distance of a point from the convex hull of the points, 0 inside."""
    corners = hull(points)
    a, e = corners, np.roll(corners, -1, axis=0) - corners
    if len(corners) > 2 and np.all(_cross(e, point - a) >= 0):
        return 0.0
    along = np.clip(((point - a) * e).sum(1) / np.maximum((e * e).sum(1), 1e-300), 0.0, 1.0)
    return float(np.hypot(*(a + along[:, None] * e - point).T).min())


def box(center: Any, length: float, width: float, angle: float = 0.0, radius: float = 0.0) -> np.ndarray:
    """A rectangle, `length` along the direction `angle`, with corners rounded by `radius`."""
    x, y = length / 2 - radius, width / 2 - radius
    corners = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
    return turned(rounded(corners, radius) if radius else corners, *center, angle)


# --- between two points ----------------------------------------------------------------------------------------------


def _along(a: np.ndarray, b: np.ndarray, local: np.ndarray) -> np.ndarray:
    """Points given by (distance from a, offset to the left) on the line from a to b."""
    d = b - a
    length = math.hypot(*d)
    u = d / length if length > 0 else np.array([1.0, 0.0])
    return a + local[:, :1] * u + local[:, 1:] * left(u)


def zigzag(a: np.ndarray, b: np.ndarray, width: float, coils: int = 7, offset: float = 0.0) -> list[np.ndarray]:
    """A coil spring from a to b; the straight ends shrink with it."""
    length = math.hypot(*(b - a))
    end = min(1.2 * width, 0.18 * length)
    coil = end + (length - 2 * end) * (np.arange(2 * coils) + 0.5) / (2 * coils)
    x = np.concatenate([[0.0, end], coil, [length - end, length]])
    y = np.zeros(len(x))
    y[2:-2] = 0.5 * width * (-1.0) ** np.arange(2 * coils)
    return [_along(a, b, np.column_stack([x, y + offset]))]


def dashpot(a: np.ndarray, b: np.ndarray, width: float, cup: float, offset: float = 0.0) -> list[np.ndarray]:
    """A damper: cup of length `cup` held from a, piston held from b."""
    length = math.hypot(*(b - a))
    w = 0.5 * width
    bottom = 0.5 * (length - cup)
    piston = bottom + 0.55 * cup
    lines = (
        [(0, 0), (bottom, 0)],
        [(bottom + cup, w), (bottom, w), (bottom, -w), (bottom + cup, -w)],
        [(piston, 0.72 * w), (piston, -0.72 * w)],
        [(piston, 0), (length, 0)],
    )
    return [_along(a, b, np.array(line, float) + (0.0, offset)) for line in lines]


def bridge(a: np.ndarray, b: np.ndarray, width: float) -> list[np.ndarray]:
    """Cross-bars at both ends, for two things side by side."""
    length = math.hypot(*(b - a))
    return [_along(a, b, np.array([(x, -0.5 * width), (x, 0.5 * width)])) for x in (0.0, length)]


def arrow(tail: np.ndarray, tip: np.ndarray, width: float, head: float) -> np.ndarray:
    """A polygon from tail to tip; `width` of the shaft, `head` the length of the head (shorter on a short arrow)."""
    length = math.hypot(*(tip - tail))
    h = min(head, 0.75 * length)
    w, wide, x = 0.5 * width, 0.42 * h + 0.5 * width, length - h
    local = [(0, w), (x, w), (x, wide), (length, 0), (x, -wide), (x, -w), (0, -w)]
    return _along(tail, tip, np.array(local, float))


def arc_arrow(center: Any, radius: float, start: float, end: float, head: float) -> tuple[np.ndarray, np.ndarray]:
    """(line, head polygon) of an arrow along a circle from angle start to end."""
    sense = math.copysign(1.0, end - start)
    neck = end - sense * min(0.85 * head / radius, abs(end - start))
    tip = np.asarray(center) + radius * unit(end)
    base = np.asarray(center) + radius * unit(neck)
    n = unit(neck)
    return arc(center, radius, start, neck), np.array([tip, base + 0.42 * head * n, base - 0.42 * head * n])


# --- ground ----------------------------------------------------------------------------------------------------------


def hatch(line: np.ndarray, size: float, side: float, closed: bool = False) -> list[np.ndarray]:
    """Short slanted strokes on the left (side = +1) or right (-1) of a polyline, `size` apart and long."""
    line = np.concatenate([line, line[:1]]) if closed else line
    steps = np.diff(line, axis=0)
    lengths = np.hypot(*steps.T)
    s = np.concatenate([[0.0], np.cumsum(lengths)])
    n = max(2, round(s[-1] / size))
    at = (np.arange(n) + 0.5) * s[-1] / n
    k = np.clip(np.searchsorted(s, at, side="right") - 1, 0, len(steps) - 1)
    u = steps[k] / np.maximum(lengths[k], 1e-300)[:, None]
    start = line[k] + (at - s[k])[:, None] * u
    end = start + size * 0.8 * (side * left(u) - 0.7 * u)
    return [np.array(pair) for pair in zip(start, end, strict=True)]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
