"""The pieces of a scene: painted parts, names, and what the shape of a body is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from planar.plot import geometry as g
from planar.plot.frames import Frame
from planar.plot.style import Style

Outlines = list[np.ndarray]


@dataclass(eq=False)
class Part:
    """One painted thing: local outlines fixed in body number `body`, or whatever `follow(frame)` gives, in global axes."""

    layer: str
    owner: str
    style: Style
    body: int = 0
    outlines: Outlines = field(default_factory=list)
    closed: bool = True
    follow: Callable[[Frame], Outlines] | None = None

    def at(self, frame: Frame) -> Outlines:
        if self.follow is not None:
            return self.follow(frame)
        x, y, phi = frame.pose[self.body]
        return [g.turned(outline, x, y, phi) for outline in self.outlines]


@dataclass(frozen=True)
class Label:
    """A name and where it belongs, a local point of a body; what: "body", "joint", "driver" or "force".

    far: number and local point of a second body; the name then belongs halfway between the two points.
    """

    text: str
    what: str
    body: int
    anchor: np.ndarray
    color: str
    far: tuple[int, np.ndarray] | None = None

    def at(self, frame: Frame) -> np.ndarray:
        """Where it belongs, global."""
        ends = [(self.body, self.anchor), *([self.far] if self.far else [])]
        return np.mean([g.turned(np.array([s]), *frame.pose[body])[0] for body, s in ends], axis=0)


class Wheel(NamedTuple):
    """A pitch circle; kind: "wheel", "ring" (teeth inside) or "line" (only angles are coupled).

    teeth: number of ticks, the first of them at the local angle `phase` in rad.
    """

    center: np.ndarray
    radius: float
    kind: str
    teeth: int
    phase: float


class Rack(NamedTuple):
    """A pitch line with the pinion on the left (side = +1) or right (-1), ticks every `pitch` m from the local point `tick`."""

    start: np.ndarray
    end: np.ndarray
    side: float
    pitch: float
    tick: np.ndarray


class Block(NamedTuple):
    """What slides: a box at a local point, its length along the local direction `angle`; on a moving guide it lies on top."""

    center: np.ndarray
    angle: float
    on_top: bool


class Outline(NamedTuple):
    """A cam or guide curve."""

    points: np.ndarray
    closed: bool


class Slot(NamedTuple):
    start: np.ndarray
    end: np.ndarray


@dataclass(eq=False)
class BodyShape:
    """What a body consists of, in its local coordinates."""

    points: Outlines = field(default_factory=list)
    wheels: list[Wheel] = field(default_factory=list)
    racks: list[Rack] = field(default_factory=list)
    curves: list[Outline] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
