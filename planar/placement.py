"""A first pose for the bodies that were drawn without one.

Bodies are hung one by one on those already placed, pin on pin (or axis on axis); a body with two placed pins points from
the first to the second.  What is still open is closed by `planar.assembly`, which tries several angles.
"""

from __future__ import annotations

import math

import numpy as np

from planar.bodies import Axis, Body, Point
from planar.joints import Revolute, Translational, Weld
from planar.model import Model

Pose = tuple[float, float, float]


def drawn(model: Model, angles: dict[str, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, known): coordinates (3 nb,) in the order of the bodies, and which of them the user gave.

    angles: guesses in rad for bodies without phi, by name; otherwise 0 or the direction between two placed pins.
    """
    pose: dict[int, Pose] = {id(model.ground): (0.0, 0.0, 0.0)}
    for body in model.bodies:
        if body.r is not None and body.phi is not None:
            pose[id(body)] = (*body.r, body.phi)
    open_bodies = [b for b in model.bodies if id(b) not in pose]
    links = _links(model)
    while open_bodies:
        body = next((b for b in open_bodies if _seats(b, links, pose)), open_bodies[0])
        pose[id(body)] = _place(body, _seats(body, links, pose), pose, angles or {})
        open_bodies.remove(body)
    q = np.array([pose[id(b)] for b in model.bodies], float).reshape(-1)
    known = np.array([(b.r is not None, b.r is not None, b.phi is not None) for b in model.bodies], bool).reshape(-1)
    return q, known


def _links(model: Model) -> dict[int, list[tuple[Point | Axis, Point | Axis]]]:
    """For each body its (own, partner) pairs of points or axes that a joint brings together."""
    links: dict[int, list] = {}
    for joint in model.joints:
        if isinstance(joint, (Revolute, Weld)):
            pair = (joint.point_i, joint.point_j)
        elif isinstance(joint, Translational):
            pair = (joint.axis_i, joint.axis_j)
        else:
            continue
        for own, partner in (pair, pair[::-1]):
            links.setdefault(id(own.body), []).append((own, partner))
    return links


def _seats(body: Body, links: dict, pose: dict[int, Pose]) -> list[tuple[Point | Axis, Point | Axis]]:
    return [(own, partner) for own, partner in links.get(id(body), ()) if id(partner.body) in pose]


def _place(body: Body, seats: list, pose: dict[int, Pose], angles: dict[str, float]) -> Pose:
    phi = body.phi
    pins = [(own, _global(partner.s, pose[id(partner.body)])) for own, partner in seats if isinstance(own, Point)]
    slides = [(own, partner) for own, partner in seats if isinstance(own, Axis)]
    if phi is None and slides:
        own, partner = slides[0]
        (ux, uy), (px, py) = own.direction, partner.direction
        phi = pose[id(partner.body)][2] + math.atan2(py, px) - math.atan2(uy, ux)
    if phi is None and body.name in angles:
        phi = angles[body.name]
    if phi is None and len(pins) > 1:
        (a, at_a), (b, at_b) = pins[:2]
        phi = math.atan2(at_b[1] - at_a[1], at_b[0] - at_a[0]) - math.atan2(b.s[1] - a.s[1], b.s[0] - a.s[0])
    phi = 0.0 if phi is None else phi
    if body.r is not None:
        return (*body.r, phi)
    if pins:
        own, target = pins[0]
        local = own.s
    elif slides:
        own, partner = slides[0]
        local, target = own.start, _global(partner.start, pose[id(partner.body)])
    else:
        return (0.0, 0.0, phi)
    x, y = _global(local, (0.0, 0.0, phi))
    return (target[0] - x, target[1] - y, phi)


def _global(s: tuple[float, float], pose: Pose) -> tuple[float, float]:
    x, y, phi = pose
    c, n = math.cos(phi), math.sin(phi)
    return x + c * s[0] - n * s[1], y + n * s[0] + c * s[1]
