"""Symbols of joints: pins, welds, rods, slides, slots, wheels, racks, cams."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from planar import joints as j
from planar.bodies import Axis, Body, Point
from planar.drivers import AngleDriver
from planar.elements import Element
from planar.plot import geometry as g
from planar.plot.frames import Frame
from planar.plot.parts import Block, Label, Outline, Outlines, Rack, Slot, Wheel
from planar.plot.style import ALARM, DASH_DOT, DASHED, DRIVE, GREY, INK, PAPER, ROD, Style

if TYPE_CHECKING:
    from planar.plot.scene import Scene

TEETH = 18  # ticks on the smaller wheel of a pair

# --- measure ---------------------------------------------------------------------------------------------------------


def mesh_wheels(scene: Scene, e: j.GearMesh) -> None:
    """Two pitch circles with a tick where they touch first, so that the ticks meet while they roll."""
    rho_i, rho_j = e.signed_radii
    pitch = 2 * math.pi * min(e.radius_i, e.radius_j) / TEETH
    d = (scene.track(e.point_j) - scene.track(e.point_i))[0] * math.copysign(1.0, rho_i + rho_j)
    for point, rho, toward in ((e.point_i, rho_i, d), (e.point_j, rho_j, -d)):
        contact = g.angle(math.copysign(1.0, rho) * toward) - scene.poses[0, scene.index(point), 2]
        count = max(8, round(2 * math.pi * abs(rho) / pitch))
        _add_wheel(scene, point, Wheel(np.array(point.s), abs(rho), "ring" if rho < 0 else "wheel", count, contact))


def rack_and_wheel(scene: Scene, e: j.RackPinion) -> None:
    axis, side = e.axis_i, math.copysign(1.0, e.signed_radius)
    down = g.angle(axis.direction) + scene.poses[0, scene.index(axis), 2] - side * math.pi / 2
    turn = scene.poses[0, scene.index(e.point_j), 2]
    _add_wheel(scene, e.point_j, Wheel(np.array(e.point_j.s), e.radius, "wheel", TEETH, down - turn))
    (low, high), room = scene.travel(axis, e.point_j), 1.5 * e.radius
    start, u = np.array(axis.start), np.array(axis.direction)
    touch = start + scene.positions(axis, e.point_j)[0] * u
    pitch = 2 * math.pi * e.radius / TEETH
    scene.shape(axis).racks.append(Rack(start + (low - room) * u, start + (high + room) * u, side, pitch, touch))


def gear_wheels(scene: Scene, e: j.Gear) -> None:
    """Pitch circles that fit the ratio, around the pins of the two bodies; dash-dotted, since only angles are coupled."""
    ends, radii = _gear(scene, e)
    if not radii:
        return
    d = scene.track(ends[1])[0] - scene.track(ends[0])[0]
    for point, radius, toward in zip(ends, radii, (d, -d), strict=True):
        phase = g.angle(toward) - scene.poses[0, scene.index(point), 2]
        _add_wheel(scene, point, Wheel(np.array(point.s), radius, "line", 0, phase))


def _gear(scene: Scene, e: j.Gear) -> tuple[tuple[Point, Point], tuple[float, float] | None]:
    """(centres, pitch radii); no radii where the bodies turn about the same point."""
    ends = []
    for body in (e.body_i, e.body_j):
        held = scene.hinge(body, e.carrier) if e.carrier is not None else None
        ends.append(held[0] if held else scene.center(body))
    centers = (ends[0], ends[1])
    distance = float(np.hypot(*(scene.track(ends[1]) - scene.track(ends[0]))[0]))
    K = e.ratio
    if distance < 1e-9 * scene.system.length:
        return centers, None
    if K < 0:  # the circles touch from outside
        return centers, (distance * -K / (1 - K), distance / (1 - K))
    if e.carrier is not None and K != 1:  # one rolls inside the other
        return centers, (abs(distance * K / (1 - K)), abs(distance / (1 - K)))
    return centers, (0.2 * distance * K / max(K, 1.0), 0.2 * distance / max(K, 1.0))  # a belt


def _add_wheel(scene: Scene, point: Point, wheel: Wheel) -> None:
    """One wheel per centre and radius: a second mesh of the same wheel adds nothing."""
    wheels = scene.shape(point).wheels
    tiny = 1e-9 * wheel.radius
    if not any(abs(w.radius - wheel.radius) < tiny and np.hypot(*(w.center - wheel.center)) < tiny for w in wheels):
        wheels.append(wheel)


def curve_outline(scene: Scene, e: j.PointOnCurve) -> None:
    points = e.curve.outline(241)
    curves = scene.shape(e.body_i).curves
    outline = Outline(points[:-1] if e.curve.closed else points, e.curve.closed)
    if not any(np.array_equal(outline.points, known.points) for known in curves):
        curves.append(outline)


# --- shape -----------------------------------------------------------------------------------------------------------


def slot(scene: Scene, e: j.PinInSlot) -> None:
    """As far as the pin travels; for a single pose also the drawn axis, unless it only gives a direction."""
    low, high = scene.travel(e.axis_i, e.point_j)
    room = 1.5 * scene.unit
    if high - low < scene.unit:
        room = 5 * scene.unit
        if 0.1 * scene.extent < e.axis_i.length < 0.75 * scene.extent and -room < low and high < e.axis_i.length + room:
            low, high, room = min(low, 0.0), max(high, e.axis_i.length), 0.0
    start, u = np.array(e.axis_i.start), np.array(e.axis_i.direction)
    scene.shape(e.axis_i).slots.append(Slot(start + (low - room) * u, start + (high + room) * u))


def block(scene: Scene, e: j.Translational) -> None:
    guide, slider = _guide(e)
    if scene.shape(slider).racks:
        return
    center = _block_center(scene, slider)
    scene.shape(slider).blocks.append(Block(center, g.angle(slider.direction), not guide.body.is_ground))
    if not guide.body.is_ground:  # the guide reaches as far as the block goes
        start, u = np.array(guide.start), np.array(guide.direction)
        scene.shape(guide).points += [start + s * u for s in scene.travel(guide, slider.body.point(*center))]


def _guide(e: j.Translational) -> tuple[Axis, Axis]:
    """(axis of the guide, axis of what slides): ground guides, otherwise the first body."""
    return (e.axis_j, e.axis_i) if e.axis_j.body.is_ground else (e.axis_i, e.axis_j)


def _block_center(scene: Scene, slider: Axis) -> np.ndarray:
    """At the start of the axis; moved along it, away from a cam that the body touches there."""
    start, u = np.array(slider.start), np.array(slider.direction)
    for joint in scene.model.joints:
        if isinstance(joint, j.PointOnCurve) and joint.point_j.body is slider.body:
            tip = np.array(joint.point_j.s)
            if np.hypot(*(tip - start)) < 4 * scene.unit:
                middle = joint.body_i.point(*joint.curve.outline(60).mean(0))
                away = tip - scene.local(scene.index(slider), scene.track(middle).mean(0))
                return tip + math.copysign(9 * scene.unit, away @ u) * u
    return start


# --- draw ------------------------------------------------------------------------------------------------------------


def revolute(scene: Scene, e: j.Revolute) -> None:
    """A pin, dark where an angle driver turns it."""
    driven = any(isinstance(d, AngleDriver) and {*d.bodies} == {*e.bodies} for d in scene.model.drivers)
    fixed = e.point_j if e.point_j.body.is_ground else e.point_i
    scene.pin(e.name, fixed, DRIVE if driven else PAPER)
    scene.name(e.name, "joint", fixed)
    _gap(scene, e)


def _gap(scene: Scene, e: j.Revolute | j.Weld) -> None:
    """An open joint (a drawn pose, not assembled) shows how far: the second pin and a dashed line."""
    if np.hypot(*(scene.track(e.point_i) - scene.track(e.point_j)).T).max() > 0.05 * scene.unit:
        scene.pin(e.name, e.point_i if e.point_j.body.is_ground else e.point_j)
        _link(scene, e.name, Style(ALARM, None, 1.6, DASHED), [e.point_i, e.point_j], "mark")


def weld(scene: Scene, e: j.Weld) -> None:
    u = scene.unit
    fixed, other = (e.point_j, e.point_i) if e.point_j.body.is_ground else (e.point_i, e.point_j)
    k = scene.index(fixed)
    turn = scene.poses[0, scene.index(other), 2] - scene.poses[0, k, 2]
    scene.add("pin", e.name, Style(INK, INK, 1.0), k, g.box(fixed.s, 1.7 * u, 1.7 * u, turn))
    if fixed.body.is_ground:  # a wall behind the body
        away = np.array(fixed.s) - scene.poses[0, scene.index(other), :2]
        size = np.hypot(*away)
        d = away / size if size > u else np.array([0.0, -1.0])
        scene.add_ground(e.name, fixed.s + 1.5 * u * d + np.outer([-4 * u, 4 * u], g.left(d)), -1.0)
    scene.name(e.name, "joint", fixed)
    _gap(scene, e)


def rod(scene: Scene, e: j.Distance) -> None:
    i, k = e.point_i, e.point_j

    def bar(frame: Frame) -> Outlines:
        return [g.rounded(np.array([scene.place(frame, i), scene.place(frame, k)]), 0.75 * scene.unit)]

    scene.add_moving("link", e.name, Style(INK, ROD, 1.0), bar)
    for point in (i, k):
        scene.pin(e.name, point, radius=0.8)
    halfway(scene, e, i, k)


def halfway(scene: Scene, e: Element, i: Point, k: Point) -> None:
    """The name of an element between two points."""
    far = (scene.index(k), np.array(k.s))
    scene.labels.append(Label(e.name, e.word, scene.index(i), np.array(i.s), INK, far))


def pin_in_slot(scene: Scene, e: j.PinInSlot) -> None:
    scene.pin(e.name, e.point_j, radius=0.9)
    scene.name(e.name, "joint", e.point_j)


def roller(scene: Scene, e: j.PointOnCurve) -> None:
    scene.pin(e.name, e.point_j, radius=0.8)
    scene.name(e.name, "joint", e.point_j)


def rails(scene: Scene, e: j.Translational) -> None:
    """Hatched rails along the travel on ground; on a moving guide the block and the bar under it say enough."""
    guide, slider = _guide(e)
    u, racks = scene.unit, scene.shape(slider).racks
    center = slider.body.point(*(slider.start if racks else _block_center(scene, slider)))
    scene.name(e.name, "joint", center)
    if not guide.body.is_ground:
        return
    low, high = scene.travel(guide, center)
    start, d = np.array(guide.start), np.array(guide.direction)
    n = g.left(d)
    if racks:
        length = float(np.hypot(*(racks[0].end - racks[0].start)))
        room, offset, sides = 0.3 * length, 2.6 * u, (-racks[0].side,)
    else:
        room, offset = 5.0 * u, 1.8 * u
        sides = (1.0, -1.0) if abs(d[0]) < 0.3 else (-math.copysign(1.0, n[1]),)
    for side in sides:
        along = np.outer([low - room, high + room], d)
        scene.add_ground(e.name, start + along + side * offset * n, side)


def parallel(scene: Scene, e: j.Parallel) -> None:
    u = scene.unit
    for axis in (e.axis_i, e.axis_j):
        d, at = np.array(axis.direction), np.array(axis.start)
        strokes = [at + s * u * g.left(d) + np.outer([-1.6 * u, 1.6 * u], d) for s in (-0.5, 0.5)]
        scene.add("mark", e.name, Style(INK, None, 1.1), scene.index(axis), *strokes, closed=False)


def belt(scene: Scene, e: j.Gear) -> None:
    """A belt around two pulleys that turn the same way; other gears are circles that touch."""
    (i, k), radii = _gear(scene, e)
    if e.ratio < 0 or e.carrier is not None or not radii:
        return

    def follow(frame: Frame) -> Outlines:
        a, b = scene.place(frame, i), scene.place(frame, k)
        lean = math.acos(np.clip((radii[0] - radii[1]) / np.hypot(*(b - a)), -1.0, 1.0))
        normals = [g.unit(g.angle(b - a) + side * lean) for side in (1.0, -1.0)]
        return [np.array([a + radii[0] * n, b + radii[1] * n]) for n in normals]

    scene.add_moving("link", e.name, Style(INK, None, 1.0, DASH_DOT), follow, closed=False)


def connection(scene: Scene, e: Element) -> None:
    """Any other element: a dashed line between what it connects."""
    ends = [_point(a) for a in e.attachments if not (isinstance(a, Body) and a.is_ground)]
    if len(ends) > 1:
        _link(scene, e.name, Style(GREY, None, 1.0, DASHED), ends, "link")


def _point(a: Point | Axis | Body) -> Point:
    if isinstance(a, Axis):
        return a.body.point(*a.start)
    return a if isinstance(a, Point) else a.point(0.0, 0.0)


def _link(scene: Scene, owner: str, style: Style, ends: list[Point], layer: str) -> None:
    scene.add_moving(layer, owner, style, lambda f: [np.array([scene.place(f, p) for p in ends])], closed=False)


def _part_of_bodies(scene: Scene, e: Element) -> None:
    """Wheels and racks were drawn with their bodies."""


MEASURE = {
    j.GearMesh: mesh_wheels,
    j.RackPinion: rack_and_wheel,
    j.Gear: gear_wheels,
    j.PointOnCurve: curve_outline,
}
SHAPE = {j.PinInSlot: slot, j.Translational: block}
DRAW = {
    j.Revolute: revolute,
    j.Weld: weld,
    j.Distance: rod,
    j.PinInSlot: pin_in_slot,
    j.PointOnCurve: roller,
    j.Translational: rails,
    j.Parallel: parallel,
    j.Gear: belt,
    j.GearMesh: _part_of_bodies,
    j.RackPinion: _part_of_bodies,
}
