"""A progress bar for runs that take longer than a second, in a terminal only."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE = 1.0  # s before anything is shown


class Progress:
    """``with Progress((t0, t1), shown) as p: ... p.more_steps(...)``; shown: True, False, or None for terminals only."""

    def __init__(self, span: tuple[float, float], shown: bool | None = None):
        self.span = span
        self.shown = sys.stderr.isatty() if shown is None else bool(shown)
        self.forced = shown or None
        self.bar: Any = None

    def __enter__(self) -> Progress:
        self.began = self.last = time.monotonic()
        return self

    def __exit__(self, *_: Any) -> None:
        if self.bar is not None:
            self.bar.stop()

    def more_steps(self, n: int, t: float, most: int, breath: float) -> int:
        """How many steps to take next so that they last about `breath` s, after n of them up to time t; shows the bar."""
        now = time.monotonic()
        spent, self.last = max(now - self.last, 1e-6), now
        if self.shown and now - self.began > PATIENCE:
            self._show(t)
        return int(min(most, max(1, min(4 * n, n * breath / spent))))

    def _show(self, t: float) -> None:
        t0, t1 = self.span
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self.bar = Bar(*columns, console=Console(stderr=True, force_terminal=self.forced), transient=True)
            self.task = self.bar.add_task("simulate", total=1.0)
            self.bar.start()
        self.bar.update(self.task, completed=(t - t0) / (t1 - t0), description=f"t = {t:.3g} of {t1:g} s")
