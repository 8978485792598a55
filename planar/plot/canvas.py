"""Figures outside pyplot: nothing is registered, nothing stays open, and axes show themselves in a notebook.

The only module that imports matplotlib at its top; the plotting functions import it when they are called.
"""

from __future__ import annotations

import textwrap
from io import BytesIO
from typing import Any

import matplotlib.axes
import matplotlib.figure
import matplotlib.projections.polar
from matplotlib.ticker import MaxNLocator

from planar.plot.style import FAINT, GREY, INK


class _Shown:
    """What a notebook asks for."""

    def _repr_png_(self) -> bytes:
        return to_bytes(self.figure, "png", dpi=110)


class Axes(_Shown, matplotlib.axes.Axes):
    pass


class PolarAxes(_Shown, matplotlib.projections.polar.PolarAxes):
    pass


def figure(width: float = 6.4, height: float = 4.0) -> matplotlib.figure.Figure:
    """An empty figure (inches) that belongs to nobody."""
    return matplotlib.figure.Figure(figsize=(width, height), layout="constrained")


def new_axes(width: float = 6.4, height: float = 4.0) -> Any:
    return figure(width, height).add_subplot(axes_class=Axes)


def polar_axes() -> Any:
    return figure(4.2, 4.4).add_subplot(axes_class=PolarAxes)


def time_and_polar() -> tuple[Any, Any]:
    """Axes for curves over time, and beside them for a load diagram."""
    fig = figure(9.6, 3.9)
    grid = fig.add_gridspec(1, 2, width_ratios=(1.7, 1.0))
    return fig.add_subplot(grid[0], axes_class=Axes), fig.add_subplot(grid[1], axes_class=PolarAxes)


def column(rows: int, columns: int = 1, *, width: float = 6.4, height: float = 2.0) -> list[list[Any]]:
    """Rows of axes one above the other with a common time axis; `height` of one row."""
    fig = figure(width, height * rows + 0.4)
    first = None
    grid: list[list[Any]] = []
    for r in range(rows):
        grid.append([])
        for c in range(columns):
            ax = fig.add_subplot(rows, columns, r * columns + c + 1, axes_class=Axes, sharex=first)
            first = first or ax
            ax.tick_params(labelbottom=r == rows - 1)
            grid[-1].append(ax)
    return grid


def title(ax: Any, text: str, pad: float = 6.0, part: float = 1.0) -> None:
    """A title as it stands (a dollar sign in a name is no formula), in lines that fit `part` of the width."""
    inches = part * ax.get_window_extent().width / ax.figure.dpi
    lines = [
        piece
        for line in text.split("\n")
        for piece in textwrap.wrap(line, max(16, int(13.5 * inches)), break_on_hyphens=False) or [""]
    ]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium", color=INK, pad=pad, parse_math=False)


def tidy(ax: Any, xlabel: str = "", ylabel: str = "") -> Any:
    """The common look of curves: no box, light grid, labels with units."""
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)
    ax.grid(True, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    if xlabel:
        ax.set_xlabel(xlabel)
    if ylabel:
        ax.set_ylabel(ylabel)
    ax.tick_params(colors=INK, color=GREY)
    return ax


def tidy_polar(ax: Any) -> Any:
    ax.grid(True, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines["polar"].set_color(GREY)
    ax.tick_params(colors=INK, labelsize=8)
    ax.set_rlabel_position(67.5)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=4))
    ax.set_rmin(0.0)
    return ax


def settle(ax: Any) -> None:
    """Lay the figure out once ahead: with equal scales the first pass of matplotlib's layout may cut the title."""
    if ax.figure.get_layout_engine() is not None:
        ax.figure.draw_without_rendering()
    ax.apply_aspect()


def to_bytes(fig: matplotlib.figure.Figure, format: str, **options: Any) -> bytes:
    out = BytesIO()
    fig.savefig(out, format=format, **options)
    return out.getvalue()
