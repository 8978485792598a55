"""Shapes of bodies: bars and plates through their points, wheels, racks, cams, blocks and slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planar.plot import geometry as g
from planar.plot.parts import Block, BodyShape, Label, Part, Rack
from planar.plot.style import DASH_DOT, INK, PAPER, Style

if TYPE_CHECKING:
    from planar.plot.scene import Scene


def corners(shape: BodyShape) -> list[np.ndarray]:
    """Points that a picture of the shape must have room for."""
    found = list(shape.points)
    found += [p for curve in shape.curves for p in curve.points[::10]]
    found += [p for wheel in shape.wheels for p in g.circle(wheel.center, wheel.radius, 8)]
    return found + [p for rack in shape.racks for p in (rack.start, rack.end)]


def draw(scene: Scene) -> None:
    """All bodies from the largest to the smallest, so that small ones are not hidden; ground before them."""
    _ground(scene)
    stacks: list[tuple[float, int, list[Part]]] = []
    for k, body in enumerate(scene.model.bodies):
        before = len(scene.parts)
        _body(scene, k, body.name)
        mine = scene.parts[before:]
        del scene.parts[before:]
        size = max((g.area(o) for part in mine if part.style.fill for o in part.outlines), default=0.0)
        stacks.append((-size, k, mine))
        sleeves = [_block(block, scene.unit) for block in scene.shapes[k].blocks if block.on_top]
        part = Part("body", body.name, _paint(scene, k), k, sleeves)
        stacks.append((-max(map(g.area, sleeves), default=0.0), k, [part]))
    for *_, mine in sorted(stacks, key=lambda stack: stack[:2]):
        scene.parts += mine


def _body(scene: Scene, k: int, name: str) -> None:
    shape, u = scene.shapes[k], scene.unit
    edge, fill = scene.colors(k)

    def add(style: Style, *outlines: np.ndarray, closed: bool = True) -> None:
        scene.add("body", name, style, k, *outlines, closed=closed)

    solid = _solid(shape, u)
    if len(solid) == 1:
        add(_paint(scene, k), *solid)
    else:  # strokes below, fills above: several pieces look like one
        add(Style(edge, fill, 2.4), *solid)
        add(Style(None, fill), *solid)
    for wheel in shape.wheels:
        rim = g.circle(wheel.center, wheel.radius, 96)
        if wheel.kind == "ring":
            outer = g.circle(wheel.center, wheel.radius + 3 * u, 96)
            add(Style(None, fill), np.concatenate([outer, outer[:1], rim[:1], rim[::-1]]))  # an annulus with a seam
            add(Style(edge, None, 1.2), outer, rim)
        elif wheel.kind == "line":
            add(Style(edge, None, 1.0, DASH_DOT), rim)
    for curve in shape.curves:
        if curve.closed:  # one line that shows how far a round cam has turned
            middle, rim = curve.points.mean(0), curve.points[0]
            add(Style(edge, None, 0.9), np.array([middle + 0.75 * (rim - middle), rim]), closed=False)
        else:
            add(Style(edge, None, 2.6), curve.points, closed=False)
    add(Style(edge, PAPER, 1.0), *(g.rounded(np.array(slot), u) for slot in shape.slots))
    add(Style(edge, None, 0.9), *_ticks(shape, u), closed=False)
    points = _bar(shape, u)
    if len(points) > 2 and len(g.hull(points)) > 2:  # in a plate the centre of mass is not where one expects it
        scene.add("mark", name, Style(None, edge), k, g.circle((0.0, 0.0), 0.45 * u, 16))
    scene.labels.append(Label(name, "body", k, points.mean(0) if len(points) else _middle(shape), edge))


def _solid(shape: BodyShape, u: float) -> list[np.ndarray]:
    """The filled pieces of a body."""
    found = [g.circle(w.center, w.radius, 96) for w in shape.wheels if w.kind == "wheel"]
    found += [curve.points for curve in shape.curves if curve.closed]
    for rack in shape.racks:
        d = rack.end - rack.start
        middle = (rack.start + rack.end) / 2 - rack.side * 1.3 * u * g.left(d) / np.hypot(*d)
        found.append(g.box(middle, float(np.hypot(*d)), 2.6 * u, g.angle(d)))
    found += [_block(block, u) for block in shape.blocks if not block.on_top]
    points = _bar(shape, u)
    if len(points):
        found.append(g.rounded(points, 1.5 * u))
    found += [g.rounded(np.array(slot), 1.9 * u) for slot in shape.slots]
    return found + ([g.circle((0.0, 0.0), 2.4 * u)] if _bob(shape, u) else [])


def _paint(scene: Scene, k: int) -> Style:
    return Style(*scene.colors(k), 1.2)


def _block(block: Block, u: float) -> np.ndarray:
    return g.box(block.center, 5.6 * u, 3.6 * u, block.angle, 0.5 * u)


def _bar(shape: BodyShape, u: float) -> np.ndarray:
    """The points that a bar or plate is drawn through; none where one wheel, cam, block, rack or slot holds them all."""
    points = list(shape.points)
    if not points:
        return np.zeros((0, 2))
    if _bob(shape, u) or (len(points) > 1 and g.distance_to_hull(np.zeros(2), np.array(points)) > 3 * u):
        points.append(np.zeros(2))  # the centre of mass lies outside: the body reaches there
    held = [(w.center, w.center, w.radius if w.kind == "wheel" else 3 * u) for w in shape.wheels]
    held += [(b.center, b.center, 2 * u) for b in shape.blocks]
    held += [(c.points.mean(0), c.points.mean(0), _inner_radius(c.points)) for c in shape.curves if c.closed]
    held += [(r.start, r.end, 2 * u) for r in shape.racks] + [(s.start, s.end, u) for s in shape.slots]
    middle = np.mean(points, axis=0)
    feet = [_foot(middle, a, b) for a, b, _ in held]
    near = not feet or np.ptp(np.array(feet), axis=0).max() < 3 * u
    if held and near and all(any(_from_line(p, a, b) <= r for a, b, r in held) for p in points):
        return np.zeros((0, 2))
    return np.array(points + feet)


def _foot(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The nearest point to p of the segment from a to b."""
    d = b - a
    along = np.clip((p - a) @ d / max(d @ d, 1e-300), 0.0, 1.0)
    return a + along * d


def _from_line(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    return float(np.hypot(*(p - _foot(p, a, b))))


def _inner_radius(points: np.ndarray) -> float:
    return float(np.hypot(*(points - points.mean(0)).T).min())


def _bob(shape: BodyShape, u: float) -> bool:
    """A body with all its points in one place is shown by a disc at its centre of mass."""
    if shape.wheels or shape.curves or shape.blocks or shape.racks or shape.slots:
        return False
    return not shape.points or float(np.ptp(np.array(shape.points), axis=0).max()) < 0.1 * u


def _ticks(shape: BodyShape, u: float) -> list[np.ndarray]:
    """Ticks on pitch circles and racks, spokes: they show that a wheel turns, and how far."""
    lines: list[np.ndarray] = []
    for center, radius, kind, count, phase in shape.wheels:
        if kind == "line":
            lines.append(np.array([center, center + radius * g.unit(phase)]))
            continue
        angles = phase + 2 * np.pi * np.arange(count) / count
        tip = radius + 1.1 * u if kind == "ring" else radius - 1.1 * u
        lines += [center + np.outer([radius, tip], g.unit(x)) for x in angles]
        if kind == "wheel" and radius > 6 * u:
            spokes = phase + 2 * np.pi * np.arange(3) / 3
            lines += [center + np.outer([2 * u, radius - 2.2 * u], g.unit(x)) for x in spokes]
    return lines + [tick for rack in shape.racks for tick in _rack_ticks(rack, u)]


def _rack_ticks(rack: Rack, u: float) -> list[np.ndarray]:
    d = rack.end - rack.start
    length = float(np.hypot(*d))
    d = d / length
    first = ((rack.tick - rack.start) @ d) % rack.pitch
    into = -rack.side * 1.1 * u * g.left(d)
    return [rack.start + s * d + np.array([(0.0, 0.0), into]) for s in np.arange(first, length, rack.pitch)]


def _ground(scene: Scene) -> None:
    """Fixed rings, wheels, racks, curves and slots, with hatching."""
    ground, u = scene.system.nb, scene.unit
    shape = scene.shapes[ground]
    for wheel in shape.wheels:
        rim = g.circle(wheel.center, wheel.radius, 96)
        scene.add_ground("ground", rim, 1.0 if wheel.kind == "wheel" else -1.0, closed=True)
    for curve in shape.curves:
        scene.add_ground("ground", curve.points, -1.0, curve.closed, 1.6)
    for rack in shape.racks:
        scene.add_ground("ground", np.array([rack.start, rack.end]), -rack.side)
        scene.add("ground", "ground", Style(INK, None, 0.9), ground, *_rack_ticks(rack, u), closed=False)
    for a, b in shape.slots:
        d = (b - a) / np.hypot(*(b - a))
        for side in (1.0, -1.0):
            line = np.array([a - u * d, b + u * d]) + side * 1.1 * u * g.left(d)
            scene.add_ground("ground", line, side)


def _middle(shape: BodyShape) -> np.ndarray:
    """Where the name of a body without bars belongs."""
    for wheel in shape.wheels:
        return wheel.center + (0.0, 0.55 * wheel.radius)
    for curve in shape.curves:
        return curve.points.mean(0)
    for place in (*shape.blocks, *shape.racks):
        return place.center if isinstance(place, Block) else (place.start + place.end) / 2
    return np.zeros(2)
