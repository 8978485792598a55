"""A model as a list of drawable parts, without matplotlib: what is where, fixed in which body, painted how.

    Frames (poses) ─> Scene: shapes of bodies (`planar.plot.bodies`), symbols of joints, drivers, forces (`planar.plot.symbols`)
                        └─ outlines(frame) ─> polygons and lines in global axes: a picture, a film, a web page

All symbols are measured in `unit`, the radius of a pin in m, which follows the size of the mechanism and of its links.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.joints import Revolute, Weld
from planar.plot import bodies, symbols
from planar.plot import geometry as g
from planar.plot.frames import Frame, Frames
from planar.plot.parts import BodyShape, Label, Outlines, Part
from planar.plot.style import BODIES, INK, LAYERS, PAPER, SOLID_GROUND, Style


class Scene:
    """The parts of a mechanism in drawing order, with room for the whole motion in `frames`.

    poses        (n, nb + 1, 3) poses of at most 200 samples, ground last
    extent       larger side in m of the box around all points; unit: radius of a pin in m
    force_scale  length in m of an arrow of 1 N (0: there are none); largest_force: what the longest arrow means
    """

    def __init__(self, frames: Frames, *, scale: float = 1.0):
        self.frames, self.system, self.model = frames, frames.system, frames.system.model
        self.poses = frames.poses()
        self.parts: list[Part] = []
        self.labels: list[Label] = []
        self.force_scale = self.largest_force = 0.0
        self._numbers = {name: k for k, name in enumerate((*self.system.body_names, self.model.ground.name))}
        self._supported: set[tuple[int, int]] = set()
        self.shapes = [
            BodyShape([np.array(s) for s in body.points.values()]) for body in (*self.model.bodies, self.model.ground)
        ]
        elements = [*self.model.joints, *self.model.drivers, *self.model.forces]
        for element in elements:
            for point in element.attachments:
                if isinstance(point, Point):
                    self.shape(point).points.append(np.array(point.s))
        for element in elements:
            symbols.measure(self, element)
        self.extent, self.unit = self._measure()
        self.unit *= scale
        for element in elements:
            symbols.shape(self, element)
        bodies.draw(self)
        for element in elements:
            symbols.draw(self, element)
        self.sort()

    # --- where things are ------------------------------------------------------------------------------------------

    def index(self, item: Body | Point | Axis) -> int:
        """Number of a body, or of the body of a point or axis; ground is the last."""
        return self._numbers[(item if isinstance(item, Body) else item.body).name]

    def shape(self, item: Body | Point | Axis) -> BodyShape:
        return self.shapes[self.index(item)]

    def track(self, point: Point) -> np.ndarray:
        """(n, 2): global positions of a point over the poses."""
        x, y, phi = self.poses[:, self.index(point)].T
        return point.position(np.stack([x, y], -1), phi)

    def place(self, frame: Frame, point: Point) -> np.ndarray:
        x, y, phi = frame.pose[self.index(point)]
        return g.turned(np.array([point.s]), x, y, phi)[0]

    def local(self, body: int, at: np.ndarray) -> np.ndarray:
        """A global point of the first pose in the axes of a body."""
        x, y, phi = self.poses[0, body]
        return g.turned(np.array([at]) - (x, y), 0.0, 0.0, -phi)[0]

    def travel(self, axis: Axis, point: Point) -> tuple[float, float]:
        """Least and largest position of the point along the axis, in m from its start."""
        along = self.positions(axis, point)
        return float(along.min()), float(along.max())

    def positions(self, axis: Axis, point: Point) -> np.ndarray:
        """(n,) position of the point along the axis over the poses, in m from its start."""
        u = g.unit(self.poses[:, self.index(axis), 2] + g.angle(axis.direction))
        return ((self.track(point) - self.track(axis.body.point(*axis.start))) * u).sum(1)

    def hinge(self, body_i: Body, body_j: Body) -> tuple[Point, Point] | None:
        """The points, in that order, of the pin or weld that joins two bodies."""
        for joint in self.model.joints:
            if isinstance(joint, (Revolute, Weld)):
                ends = (joint.point_i, joint.point_j)
                if ends[0].body is body_i and ends[1].body is body_j:
                    return ends
                if ends[1].body is body_i and ends[0].body is body_j:
                    return ends[::-1]
        return None

    def center(self, body: Body) -> Point:
        """Where a body turns: its pin on ground, or else its first pin, or else its centre of mass."""
        pins = [j for j in self.model.joints if isinstance(j, Revolute) and body in j.bodies]
        for joint in sorted(pins, key=lambda j: not any(b.is_ground for b in j.bodies)):
            return joint.point_i if joint.point_i.body is body else joint.point_j
        return body.point(0.0, 0.0)

    def _measure(self) -> tuple[float, float]:
        """(extent, pin radius): a pin suits both the links and the picture."""
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        links = []
        for body, shape in zip((*self.model.bodies, self.model.ground), self.shapes, strict=True):
            points = bodies.corners(shape) + ([] if body.is_ground else [np.zeros(2)])
            if not points:
                continue
            if not body.is_ground:
                links.append(float(np.ptp(np.array(points), axis=0).max()))
            for s in points:
                at = self.track(body.point(*s))
                low, high = np.minimum(low, at.min(0)), np.maximum(high, at.max(0))
        extent = float(np.max(high - low))
        if not (math.isfinite(extent) and extent > 0):
            extent = 1.0
        links = [length for length in links if length > 1e-9 * extent] or [extent]
        return extent, float(np.clip(0.07 * np.median(links), 0.0016 * extent, 0.016 * extent))

    # --- parts -----------------------------------------------------------------------------------------------------

    def add(self, layer: str, owner: str, style: Style, body: int, *outlines: np.ndarray, closed: bool = True) -> None:
        """Outlines fixed in a body, in its local coordinates."""
        if outlines:
            self.parts.append(Part(layer, owner, style, body, list(outlines), closed))

    def add_moving(
        self, layer: str, owner: str, style: Style, follow: Callable[[Frame], Outlines], closed: bool = True
    ) -> None:
        """Outlines that change their shape: follow(frame) gives them in global coordinates."""
        self.parts.append(Part(layer, owner, style, closed=closed, follow=follow))

    def add_ground(self, owner: str, line: np.ndarray, side: float, closed: bool = False, width: float = 1.3) -> None:
        """A fixed line with hatching on its left (side > 0) or right."""
        ground = self.system.nb
        self.add("ground", owner, Style(INK, None, width), ground, line, closed=closed)
        self.add("ground", owner, Style(INK, None, 0.7), ground, *g.hatch(line, self.unit, side, closed), closed=False)

    def sort(self) -> None:
        """From the back to the front; within a layer in the order they were added."""
        self.parts.sort(key=lambda part: LAYERS.index(part.layer))

    def name(self, text: str, what: str, point: Point, color: str = INK) -> None:
        self.labels.append(Label(text, what, self.index(point), np.array(point.s), color))

    def colors(self, body: int) -> tuple[str, str]:
        """(edge, fill)."""
        return SOLID_GROUND if body == self.system.nb else BODIES[body % len(BODIES)]

    def pin(self, owner: str, point: Point, fill: str = PAPER, radius: float = 1.0) -> None:
        """A pin fixed in the body of the point; on ground with its support."""
        self.add("pin", owner, Style(INK, fill, 1.1), self.index(point), g.circle(point.s, radius * self.unit, 32))
        if point.body.is_ground:
            self._support(owner, np.array(point.s))

    def _support(self, owner: str, at: np.ndarray) -> None:
        """Triangle and hatching under a ground point, or over it where everything hangs below; one per place."""
        if self._spot(at) in self._supported:
            return
        self._supported.add(self._spot(at))
        u, up = self.unit, -1.0 if self._hangs(at) else 1.0
        base = at - (0.0, 2.9 * up * u)
        triangle = np.array([at, base + (1.7 * u, 0.0), base - (1.7 * u, 0.0)])
        self.add("ground", owner, Style(INK, SOLID_GROUND[1], 1.0), self.system.nb, triangle)
        self.add_ground(owner, base + np.array([(-2.6 * u, 0.0), (2.6 * u, 0.0)]), -up)

    def _spot(self, at: Any) -> tuple[int, int]:
        """Places closer than about a tenth of a pin count as one."""
        return round(at[0] / (0.1 * self.unit)), round(at[1] / (0.1 * self.unit))

    @cached_property
    def _attached(self) -> dict[tuple[int, int], list[int]]:
        """Numbers of the bodies that an element ties to each ground point."""
        found: dict[tuple[int, int], list[int]] = {}
        for element in (*self.model.constraints, *self.model.forces):
            ends = [a for a in element.attachments if isinstance(a, Point)]
            for end in ends:
                if end.body.is_ground:
                    others = [self.index(p) for p in ends if not p.body.is_ground]
                    found.setdefault(self._spot(end.s), []).extend(others)
        return found

    def _hangs(self, at: np.ndarray) -> bool:
        """Whether what is attached at a ground point lies well below it, most of the time."""
        d = self.poses[:, self._attached.get(self._spot(at), []), :2].reshape(-1, 2) - at
        return bool(len(d) and d[:, 1].mean() < -0.5 * np.hypot(*d.T).mean() - 1e-9 * self.extent)

    # --- drawing ---------------------------------------------------------------------------------------------------

    def outlines(self, frame: Frame) -> Iterator[tuple[Part, Outlines]]:
        """Every part with its outlines in global coordinates, from the back to the front."""
        for part in self.parts:
            yield part, [outline for outline in part.at(frame) if len(outline)]

    def limits(self, frames: Iterable[Frame]) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) corners of a box around everything in these frames, with a margin."""
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        for frame in frames:
            for _, outlines in self.outlines(frame):
                for outline in outlines:
                    low, high = np.minimum(low, outline.min(0)), np.maximum(high, outline.max(0))
        room = np.maximum(1.5 * self.unit, 12 * self.unit - (high - low) / 2)  # at least 24 pins wide and high
        return low - room, high + room

    def some_frames(self, most: int = 40) -> list[Frame]:
        """Frames spread over the motion."""
        n = len(self.frames)
        return [self.frames.sample(int(k)) for k in np.unique(np.linspace(0, n - 1, min(n, most)).round())]
