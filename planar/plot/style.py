"""Colours, line widths and the order of layers: everything that decides how a picture looks.

Made for paper as well: outlines are dark and fills light, so the figures survive a black-and-white printer; what differs
by colour differs by line style or shape too.
"""

from __future__ import annotations

from dataclasses import dataclass

INK = "#222222"
GREY = "#8a8a8a"
FAINT = "#d9d9d9"
PAPER = "#ffffff"
DRIVE = "#0b5cad"
LOAD = "#b3121d"
REACTION = "#5b2a86"
ALARM = "#d0021b"

#: (edge, fill) of bodies in turn
BODIES = (
    ("#1f4e79", "#c3d9ee"),
    ("#8a4b08", "#f8dcb5"),
    ("#1e5e3a", "#c5e3cd"),
    ("#55347a", "#ddd0ea"),
    ("#7d2430", "#f1cbcb"),
    ("#0f5961", "#bfe1e4"),
)

#: the same for ground
SOLID_GROUND = ("#8a8a8a", "#ececec")

ROD = "#e4e4e4"
CYLINDER = "#dbe8f5"

#: lines of curves in turn: Okabe and Ito's colours in the order of their darkness, each with its own dashes
LINES = (
    ("#0b5cad", "solid"),
    ("#d55e00", (0, (6, 2))),
    ("#007a5a", (0, (1.5, 1.5))),
    ("#8c3f78", (0, (6, 2, 1.5, 2))),
    ("#444444", (0, (10, 3))),
    ("#b8860b", (0, (3, 1.5, 1, 1.5, 1, 1.5))),
)

DASHED = (0, (4, 2.5))
DOTTED = (0, (1, 2))
FINE = (0, (2.0, 1.6))
DASH_DOT = (0, (7, 2, 1.2, 2))


@dataclass(frozen=True)
class Style:
    """How one part is painted; widths in points for a picture of ordinary size."""

    edge: str | None = INK
    fill: str | None = None
    width: float = 1.1
    dash: tuple | str = "solid"


#: from the back to the front
LAYERS = ("ground", "trace", "body", "link", "spring", "pin", "mark", "drive", "load", "reaction")
