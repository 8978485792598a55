r"""Tables of a result for LaTeX: plain `tabular`, no package needed, names escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from planar.report import sections
from planar.report.numbers import number
from planar.report.sections import Cell, Table
from planar.report.sizes import sizes

if TYPE_CHECKING:
    from planar.result import Result

ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "°": r"$^\circ$", "²": r"$^2$", "ω": r"$\omega$", "α": r"$\alpha$",
}  # fmt: skip


def tables(result: Result) -> str:
    """Efforts and reactions, each as a `table` with a caption; of a result without forces the motion."""
    if result.lam is None:
        found = [sections.motion(result) if len(result) > 1 else sections.poses(result)]
    else:
        found = [table for table in (sections.drives(result), sections.joints(result, sizes(result))) if table.rows]
    return "\n".join(table_of(table, f"{table.title} of {result.model.name} ({result.analysis})") for table in found)


def table_of(table: Table, caption: str) -> str:
    """One table; columns of numbers are flushed right."""
    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in (table.head, *table.rows)]
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", r"\end{tabular}"]
    return "\n".join([r"\begin{table}", r"\centering", rf"\caption{{{escape(caption)}}}", *body, r"\end{table}", ""])


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return "".join(ESCAPES.get(c, c) for c in text)


def _cell(cell: Cell) -> str:
    text = number(cell) if isinstance(cell, float) else cell
    if re.fullmatch(r"-?[\d.]+(e-?\d+)?", text):
        return "$" + re.sub(r"e(-?\d+)", r" \\cdot 10^{\1}", text) + "$"
    return escape(text)
