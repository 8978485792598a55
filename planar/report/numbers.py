"""Numbers as people read them: four significant digits, plain characters that can be copied."""

from __future__ import annotations

import math
from typing import Any


def number(x: Any) -> str:
    """1234.5 -> "1235" (rounded to 4 digits, never fewer than the integer part), 0.0123 -> "0.01230", 1e-15 -> "1.000e-15"."""
    x = float(x)
    if not math.isfinite(x):
        return "-"
    size = abs(x)
    if size == 0.0:
        return "0"
    if 1e-3 <= size < 1e5:
        return f"{x:.{max(0, 3 - math.floor(math.log10(size)))}f}"
    mantissa, exponent = f"{x:.3e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def degrees(angle: Any) -> str:
    """An angle in rad as degrees, one decimal."""
    return f"{math.degrees(float(angle)):.1f}°"


def significant(x: Any, digits: int = 5) -> float | None:
    """For the data of the page: few digits; None (null in JSON) for what is not finite."""
    x = float(x)
    if not math.isfinite(x):
        return None
    short = float(f"{x:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
