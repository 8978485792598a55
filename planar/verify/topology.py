"""Spanning trees of a model: which joint carries which body, and which joints are cut."""

from __future__ import annotations

from dataclasses import dataclass

from planar.bodies import Axis, Body, Point
from planar.elements import Joint
from planar.joints import Translational
from planar.model import Model


@dataclass(frozen=True)
class Branch:
    """`child` hangs on `parent` by `joint`; seat and own are the joint's points or axes on parent and child.

    joint None: the child floats freely.  flipped: the child is the joint's first body i.
    """

    child: Body
    parent: Body
    joint: Joint | None = None
    seat: Point | Axis | None = None
    own: Point | Axis | None = None
    flipped: bool = False


def spanning_tree(model: Model, kinds: tuple[type, ...], *, deep: bool) -> tuple[list[Branch], list[Joint]]:
    """(branches, parents before children; joints that are cut).

    kinds: joints that may carry a body.  deep: depth first, which gives long serial chains; otherwise breadth first,
    which gives short ones.  Bodies that none of these joints connects to ground float.
    """
    links: dict[str, list[Branch]] = {}
    for joint in (j for j in model.joints if type(j) in kinds):
        ends = (joint.axis_i, joint.axis_j) if isinstance(joint, Translational) else (joint.point_i, joint.point_j)
        for (seat, own), flipped in ((ends, False), (ends[::-1], True)):
            links.setdefault(seat.body.name, []).append(Branch(own.body, seat.body, joint, seat, own, flipped))

    branches: list[Branch] = []
    reached = {model.ground.name}
    waiting = list(links.get(model.ground.name, ()))
    while len(branches) < len(model.bodies):
        if not waiting:
            loose = next(b for b in model.bodies if b.name not in reached)
            waiting.append(Branch(loose, model.ground))
        branch = waiting.pop(-1 if deep else 0)
        if branch.child.name in reached:
            continue
        reached.add(branch.child.name)
        branches.append(branch)
        waiting += links.get(branch.child.name, ())
    carrying = {b.joint.name for b in branches if b.joint}
    return branches, [j for j in model.joints if j.name not in carrying]


def subtrees(branches: list[Branch]) -> dict[str, list[Body]]:
    """{body: the body and everything it carries}."""
    carried: dict[str, list[Body]] = {b.child.name: [b.child] for b in branches}
    for b in reversed(branches):
        if b.parent.name in carried:
            carried[b.parent.name] += carried[b.child.name]
    return carried
