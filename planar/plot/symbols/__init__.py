"""Symbols of joints, drivers and forces: one function per kind, found by the class of the element or a base of it.

Three passes over the elements of a model:

    measure   wheels, racks and curves, which decide how large the picture is
    shape     what an element adds to the shape of a body once the size of a pin is known: slots, blocks
    draw      the symbol itself

An element without a symbol (a kind of the user's own) is drawn as a dashed line between what it connects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planar.elements import Element
from planar.plot.symbols import drivers, forces, joints

if TYPE_CHECKING:
    from planar.plot.scene import Scene

MEASURE: dict[type, Callable] = {**joints.MEASURE}
SHAPE: dict[type, Callable] = {**joints.SHAPE}
DRAW: dict[type, Callable] = {**joints.DRAW, **drivers.DRAW, **forces.DRAW}


def measure(scene: Scene, element: Element) -> None:
    _find(MEASURE, element, lambda *_: None)(scene, element)


def shape(scene: Scene, element: Element) -> None:
    _find(SHAPE, element, lambda *_: None)(scene, element)


def draw(scene: Scene, element: Element) -> None:
    _find(DRAW, element, joints.connection)(scene, element)


def _find(table: dict[type, Callable], element: Element, default: Callable) -> Callable:
    return next((table[kind] for kind in type(element).__mro__ if kind in table), default)
