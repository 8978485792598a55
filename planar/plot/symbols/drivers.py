"""Symbols of drivers: arrows in the sense of the motion, and a cylinder for a driven length."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from planar import drivers as d
from planar.motions import as_motion
from planar.plot import geometry as g
from planar.plot.frames import Frame
from planar.plot.parts import Outlines
from planar.plot.style import CYLINDER, DRIVE, INK, ROD, Style
from planar.plot.symbols.joints import halfway

if TYPE_CHECKING:
    from planar.plot.scene import Scene

ARC = np.radians([-35.0, 215.0])  # from where to where a turning arrow goes, counter-clockwise


def sense(motion: Any, frame: Frame) -> float:
    """+1 or -1 as the motion goes on from this instant, 0 where it stays."""
    _, f1, f2 = as_motion(motion).evaluate(frame.t)
    return float(np.sign(f1 if abs(f1) > 1e-12 else f2))


def turning_arrow(
    scene: Scene, layer: str, owner: str, color: str, place: Callable, way: Callable, radius: float = 3.4
) -> None:
    """Around place(frame), counter-clockwise where way(frame) > 0, clockwise where < 0, without a head where it is 0."""

    def both(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        s = way(frame)
        start, end = ARC if s >= 0 else ARC[::-1]
        line, head = g.arc_arrow(place(frame), radius * scene.unit, start, end, 2.2 * scene.unit)
        return line, head if s else head[:0]

    scene.add_moving(layer, owner, Style(color, None, 1.6), lambda f: [both(f)[0]], closed=False)
    scene.add_moving(layer, owner, Style(None, color), lambda f: [both(f)[1]])


def straight_arrow(scene: Scene, owner: str, color: str, place: Callable, direction: Callable) -> None:
    """Beside place(frame), above it if it can, along the unit vector direction(frame)."""

    def follow(frame: Frame) -> Outlines:
        at, e, u = place(frame), direction(frame), scene.unit
        if not np.any(e):
            return []
        n = g.left(e) * (-1.0 if g.left(e)[1] < -1e-9 else 1.0)
        middle = at + 3.4 * u * n
        return [g.arrow(middle - 3.5 * u * e, middle + 3.5 * u * e, 0.45 * u, 2.2 * u)]

    scene.add_moving("drive", owner, Style(None, color), follow)


def angle(scene: Scene, e: d.AngleDriver) -> None:
    held = scene.hinge(e.body_i, e.body_j)
    at = held[1] if held else scene.center(e.body_i if e.body_j.is_ground else e.body_j)
    way = -1.0 if e.body_j.is_ground else 1.0
    turning_arrow(scene, "drive", e.name, DRIVE, lambda f: scene.place(f, at), lambda f: way * sense(e.motion, f))


def coordinate(scene: Scene, e: d.CoordinateDriver) -> None:
    def place(frame: Frame) -> np.ndarray:
        return frame.pose[scene.index(e.body), :2]

    if e.coordinate == "phi":
        turning_arrow(scene, "drive", e.name, DRIVE, place, lambda f: sense(e.motion, f))
    else:
        axis = np.array([1.0, 0.0] if e.coordinate == "x" else [0.0, 1.0])
        straight_arrow(scene, e.name, DRIVE, place, lambda f: sense(e.motion, f) * axis)


def slide(scene: Scene, e: d.SlideDriver) -> None:
    def direction(frame: Frame) -> np.ndarray:
        return sense(e.motion, frame) * g.unit(frame.pose[scene.index(e.axis_i), 2] + g.angle(e.axis_i.direction))

    straight_arrow(scene, e.name, DRIVE, lambda f: scene.place(f, e.point_j), direction)


def point(scene: Scene, e: d.PointDriver) -> None:
    """Cross hairs on the point and an arrow along its velocity."""

    def direction(frame: Frame) -> np.ndarray:
        v = np.array([0.0 if m is None else as_motion(m).evaluate(frame.t)[1] for m in (e.x, e.y)])
        speed = np.hypot(*v)
        return v / speed if speed > 0 else np.zeros(2)

    at, size = np.array(e.point.s), 1.9 * scene.unit
    cross = [at + size * np.array(line, float) for line in (((-1, 0), (1, 0)), ((0, -1), (0, 1)))]
    scene.add("mark", e.name, Style(DRIVE, None, 1.2), scene.index(e.point), *cross, closed=False)
    straight_arrow(scene, e.name, DRIVE, lambda f: scene.place(f, e.point), direction)


def length(scene: Scene, e: d.LengthDriver) -> None:
    """A linear actuator: cylinder on i, rod to j."""
    i, j, u = e.point_i, e.point_j, scene.unit
    barrel = 0.75 * float(np.hypot(*(scene.track(i) - scene.track(j)).T).min())

    def rod(frame: Frame) -> Outlines:
        return [g.rounded(np.array([scene.place(frame, i), scene.place(frame, j)]), 0.5 * u)]

    def cylinder(frame: Frame) -> Outlines:
        a = scene.place(frame, i)
        along = g.angle(scene.place(frame, j) - a)
        return [g.box(a + 0.5 * barrel * g.unit(along), barrel, 2.4 * u, along, min(0.4 * u, 0.4 * barrel))]

    scene.add_moving("link", e.name, Style(INK, ROD, 1.0), rod)
    scene.add_moving("link", e.name, Style(DRIVE, CYLINDER, 1.2), cylinder)
    for end in (i, j):
        scene.pin(e.name, end, radius=0.8)
    halfway(scene, e, i, j)


DRAW = {
    d.AngleDriver: angle,
    d.CoordinateDriver: coordinate,
    d.SlideDriver: slide,
    d.PointDriver: point,
    d.LengthDriver: length,
}
