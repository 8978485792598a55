"""Symbols of forces: springs, dampers, and arrows of loads and reactions, all arrows of a picture on one scale."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from planar import forces as f
from planar.elements import Element
from planar.errors import ModelError
from planar.motions import Motion, as_motion
from planar.plot import geometry as g
from planar.plot.frames import Frame
from planar.plot.parts import Outlines
from planar.plot.style import FINE, INK, LOAD, REACTION, Style
from planar.plot.symbols.drivers import turning_arrow
from planar.plot.symbols.joints import halfway

if TYPE_CHECKING:
    from planar.plot.scene import Scene

LONGEST = 0.22  # the longest arrow, as a part of the mechanism's extent


class Load(NamedTuple):
    """A force in N and a couple in N m at a place in m, global axes."""

    at: np.ndarray
    force: np.ndarray
    couple: float


# --- loads -----------------------------------------------------------------------------------------------------------


def loads(scene: Scene, e: Element, frame: Frame) -> list[Load]:
    """What an applied load does at an instant."""
    if isinstance(e, f.PointForce):
        F = _numbers(e.force(frame.t, frame.state) if _is_callback(e.force) else [_value(m, frame) for m in e.force])
        if e.frame == "body":
            F = g.turned(F[None], 0.0, 0.0, frame.pose[scene.index(e.point), 2])[0]
        return [Load(scene.place(frame, e.point), F, 0.0)]
    if isinstance(e, f.Torque):
        return [Load(scene.place(frame, scene.center(e.body)), np.zeros(2), float(np.real(_value(e.torque, frame))))]
    out = e.function(frame.t, frame.state)
    triples = (out,) if len(e.on) == 1 and len(out) == 3 else out
    values = [_numbers(triple) for triple in triples]
    return [Load(frame.pose[scene.index(b), :2], v[:2], v[2]) for b, v in zip(e.on, values, strict=True)]


def _value(magnitude: Any, frame: Frame) -> Any:
    return magnitude(frame.t, frame.state) if _is_callback(magnitude) else as_motion(magnitude)(frame.t)


def _is_callback(magnitude: Any) -> bool:
    return callable(magnitude) and not isinstance(magnitude, Motion)


def _numbers(values: Any) -> np.ndarray:
    return np.array([float(np.real(np.asarray(x).reshape(-1)[0])) for x in values])


def load(scene: Scene, e: Any) -> None:
    """Filled arrows; where one would run into its own body it ends at the point instead of starting there."""
    history = [loads(scene, e, frame) for frame in scene.some_frames(25)]
    make_room(scene, max(float(np.hypot(*x.force)) for row in history for x in row))
    push = isinstance(e, f.PointForce) and _runs_inward(scene, e, history[0][0])

    def arrows(frame: Frame) -> Outlines:
        return [force_arrow(scene, x.at, x.force, push) for x in loads(scene, e, frame)]

    scene.add_moving("load", e.name, Style(None, LOAD), arrows)
    for n in range(len(history[0])):
        if any(row[n].couple for row in history):
            turning_arrow(
                scene, "load", e.name, LOAD,
                lambda frame, n=n: loads(scene, e, frame)[n].at,
                lambda frame, n=n: np.sign(loads(scene, e, frame)[n].couple),
                4.6,
            )  # fmt: skip
    if isinstance(e, f.PointForce):
        scene.name(e.name, "force", e.point, LOAD)
    elif isinstance(e, f.Torque):
        scene.name(e.name, "force", scene.center(e.body), LOAD)


def make_room(scene: Scene, force: float) -> None:
    """Choose the scale so that the largest force so far, in N, is the longest arrow."""
    if force > scene.largest_force:
        scene.largest_force = force
        scene.force_scale = LONGEST * scene.extent / force


def force_arrow(scene: Scene, at: np.ndarray, force: np.ndarray, push: bool = False) -> np.ndarray:
    """An arrow polygon; none (no vertex) for a force too small to see."""
    d, u = force * scene.force_scale, scene.unit
    if np.hypot(*d) < 0.8 * u:
        return np.zeros((0, 2))
    tail, tip = (at - d, at) if push else (at, at + d)
    return g.arrow(tail, tip, 0.55 * u, 2.6 * u)


def _runs_inward(scene: Scene, e: f.PointForce, first: Load) -> bool:
    """Whether from its point the force goes into the body, or for a small body into what is jointed to it."""
    inward = scene.poses[0, scene.index(e.point), :2] - first.at
    around = [b for j in scene.model.joints if e.point.body in j.bodies for b in j.bodies]
    others = [scene.poses[0, scene.index(b), :2] for b in around if b is not e.point.body and not b.is_ground]
    if np.hypot(*inward) < scene.unit and others:
        inward = np.mean(others, axis=0) - first.at
    size = np.hypot(*inward) * np.hypot(*first.force)
    return bool(size > 0 and inward @ first.force > 0.35 * size)


# --- springs ---------------------------------------------------------------------------------------------------------


def spring(scene: Scene, e: f.Spring) -> None:
    """A zigzag, a dashpot, or both side by side."""
    i, j, u = e.point_i, e.point_j, scene.unit
    shortest = float(np.hypot(*(scene.track(i) - scene.track(j)).T).min())
    cup = min(5 * u, 0.4 * shortest)
    apart = 1.7 * u if e.stiffness and e.damping else 0.0

    def follow(frame: Frame) -> Outlines:
        a, b = scene.place(frame, i), scene.place(frame, j)
        out = g.zigzag(a, b, 2.6 * u, offset=apart) if e.stiffness or not e.damping else []
        out += g.dashpot(a, b, 2.2 * u, cup, offset=-apart) if e.damping else []
        return out + (g.bridge(a, b, 2 * apart) if apart else [])

    scene.add_moving("spring", e.name, Style(INK, None, 1.1), follow, closed=False)
    for point in (i, j):
        scene.pin(e.name, point, INK, radius=0.5)
    halfway(scene, e, i, j)


def torsion_spring(scene: Scene, e: f.TorsionSpring) -> None:
    """A spiral around the pin, its inner end fixed in j and its outer end in i."""
    held = scene.hinge(e.body_i, e.body_j)
    at = held[1] if held else scene.center(e.body_i if e.body_j.is_ground else e.body_j)
    i, j, u = scene.index(e.body_i), scene.index(e.body_j), scene.unit

    def follow(frame: Frame) -> Outlines:
        angles = np.linspace(frame.pose[j, 2], frame.pose[i, 2] + 4.5 * np.pi, 90)
        return [scene.place(frame, at) + np.linspace(1.5 * u, 3.6 * u, 90)[:, None] * g.unit(angles)]

    scene.add_moving("spring", e.name, Style(INK, None, 1.0), follow, closed=False)


# --- reactions -------------------------------------------------------------------------------------------------------


def add_reactions(scene: Scene, which: Any) -> None:
    """Hollow arrows of what joints do to their (second) bodies; dashed where the reaction is indeterminate.

    which: True for all joints, or a sequence of joints, each alone or as a pair (joint, body).
    """
    result = scene.frames.source
    if not hasattr(result, "reaction"):
        raise ModelError(
            "reactions are known to the result of pl.inverse_dynamics, pl.statics or pl.simulate; give one"
        )
    wanted: Iterable[Any] = result.model.joints if which is True else which
    if isinstance(which, (str, Element)):
        wanted = [which]
    inertia = 0.0 if result.a is None else np.abs(result.system.mass * result.a).max(initial=0.0)
    noise = 1e-9 * max(inertia, np.abs(result.multipliers).max(initial=0.0))
    ordered = scene.frames.ordered
    for item in wanted:
        joint, on = item if isinstance(item, tuple) else (item, None)
        R = result.reaction(joint, on=on)
        force = np.where(np.abs(R.force) > noise, R.force, 0.0)  # no arrows of rounding errors
        _reaction(scene, R.joint, ordered(R.point), ordered(force), ordered(R.couple), R.unique)
    scene.sort()


def _reaction(scene: Scene, owner: str, at: np.ndarray, force: np.ndarray, couple: np.ndarray, unique: bool) -> None:
    largest = float(np.hypot(*force.T).max(initial=0.0))
    make_room(scene, largest)
    style = Style(REACTION, "#efe6f6", 1.3, "solid" if unique else FINE)

    def arrows(frame: Frame) -> Outlines:
        return [force_arrow(scene, frame.blend(at), frame.blend(force))]

    scene.add_moving("reaction", owner, style, arrows)
    if np.abs(couple).max(initial=0.0) > 1e-6 * largest * scene.extent:
        turning_arrow(
            scene, "reaction", owner, REACTION,
            lambda frame: frame.blend(at), lambda frame: np.sign(frame.blend(couple)), 2.4,
        )  # fmt: skip


DRAW = {
    f.PointForce: load,
    f.Torque: load,
    f.UserForce: load,
    f.Spring: spring,
    f.TorsionSpring: torsion_spring,
}
