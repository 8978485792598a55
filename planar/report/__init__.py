"""pl.report(result, "fourbar.html"): what a study found, as one web page that also prints well.

    Timeline (samples and frames) ─> sections: tables, charts, free bodies, the moving mechanism ─> template ─> HTML file

This module stays light; the work, and the libraries it needs, are imported by the first call.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planar.result import Result


def report(result: Result, path: Any, *, at: float | None = None, title: str | None = None) -> Path:
    """Write the report of any result as one self-contained HTML file; returns its path.

    at      time in s (of a sweep of poses: number of the pose) of the free-body diagrams that are printed; left out: where
            the largest reaction is.  On the screen they follow the player.
    title   heading of the page; left out: the name of the model
    """
    from planar.report.page import write

    return write(result, path, at=at, title=title)
