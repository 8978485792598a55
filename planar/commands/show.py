"""Output of the commands: tables by rich on standard output, what goes on by a spinner on standard error, JSON.

Into a file or a pipe tables are 100 columns wide, without colours, so that the same input gives the same text.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

WIDTH = 100


def console(stderr: bool = False) -> Any:
    """A rich console, at least wide enough for a table: numbers are not broken to fit a narrow window."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = max(shutil.get_terminal_size().columns, WIDTH) if stream.isatty() else WIDTH
    return Console(file=stream, width=width, highlight=False)


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> None:
    """Print a table; the first `left` columns hold words, the others numbers.  No rich: aligned text."""
    texts = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows]
    try:
        from rich import box
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        _plain_table(title, heads, texts, left)
        return
    look = {"box": box.SIMPLE_HEAD, "pad_edge": False, "show_edge": False, "padding": (0, 1, 0, 0)}
    out = Table(title=Text(title), title_justify="left", title_style="bold", **look)
    for k, head in enumerate(heads):
        words = k < left
        out.add_column(Text(head), justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in texts:
        out.add_row(*map(Text, row))  # as text: names from a file are no markup
    screen = console()
    with screen.capture() as text:
        screen.print(out)
    print("\n".join(line.rstrip() for line in text.get().split("\n")))


def _plain_table(title: str, heads: Sequence[str], rows: list[list[str]], left: int) -> None:
    lines = [[head.replace("\n", " ") for head in heads], *rows]
    widths = [max(len(row[k]) for row in lines) for k in range(len(heads))]
    print(title)
    for row in lines:
        cells = [f"{c:<{w}}" if k < left else f"{c:>{w}}" for k, (c, w) in enumerate(zip(row, widths, strict=True))]
        print("  ".join(cells).rstrip())
    print()


def number(x: Any) -> str:
    """Four digits (the CSV has all); zero without a sign, nothing for nan."""
    if isinstance(x, bool) or x is None:
        return {True: "yes", False: "no"}.get(x, "")
    return "" if math.isnan(x) else f"{x + 0.0:.4g}"


def note(text: str) -> None:
    """A remark, on standard error so that tables can be piped."""
    print(f"note: {text}", file=sys.stderr)


@contextlib.contextmanager
def working(what: str, quiet: bool = False) -> Iterator[None]:
    """A spinner while something takes its time; only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    try:
        spinner: Any = console(stderr=True).status(what)
    except ImportError:
        spinner = contextlib.nullcontext()
    with spinner:
        yield


def print_json(data: Any) -> None:
    """Strict JSON: what is not finite becomes null."""
    print(json.dumps(_strict(data), indent=2, allow_nan=False, ensure_ascii=False))


def _strict(x: Any) -> Any:
    if isinstance(x, dict):
        return {str(k): _strict(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_strict(v) for v in x]
    if hasattr(x, "tolist"):  # NumPy
        return _strict(x.tolist())
    return None if isinstance(x, float) and not math.isfinite(x) else x
