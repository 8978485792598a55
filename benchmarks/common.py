"""What the benchmarks share: one BLAS thread, best of repeats, the four-bar, chains, a table that prints and saves itself."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import planar as pl

OUT = Path("out")


def best(f: Callable[[], object], seconds: float = 1.0) -> float:
    """Smallest time in s of a call, over about `seconds` s of repeats (three at least)."""
    f()
    shortest, start, n = float("inf"), time.perf_counter(), 0
    while n < 3 or time.perf_counter() - start < seconds:
        t = time.perf_counter()
        f()
        shortest, n = min(shortest, time.perf_counter() - t), n + 1
    return shortest


def four_bar(lengths: tuple[float, float, float, float]) -> pl.Model:
    """Crank-driven four-bar of uniform rods; lengths crank, coupler, rocker, base; one turn per second from angle 0."""
    L1, L2, L3, L0 = lengths
    m = pl.Model("four-bar", gravity=(0, -9.81))
    crank = m.add(pl.Body.rod("crank", 1.0, L1, r=(L1 / 2, 0), phi=0.0))
    coupler = m.add(pl.Body.rod("coupler", 2.0, L2, start="B", end="C"))
    rocker = m.add(pl.Body.rod("rocker", 1.5, L3, start="D", end="C"))
    m.add(pl.Revolute("A", m.ground.point(0, 0), crank["A"]))
    m.add(pl.Revolute("B", crank["B"], coupler["B"]))
    m.add(pl.Revolute("C", coupler["C"], rocker["C"]))
    m.add(pl.Revolute("D", m.ground.point(L0, 0), rocker["D"]))
    m.add(pl.AngleDriver("motor", m.ground, crank, pl.Ramp(rate=6.283185307179586)))
    return m


def chain(links: int) -> pl.Model:
    """Hanging chain of uniform rods of 1 m, drawn along x."""
    m = pl.Model(f"chain of {links}", gravity=(0, -9.81))
    before = m.ground.point(0, 0)
    for k in range(links):
        rod = m.add(pl.Body.rod(f"r{k}", 1.0, 1.0, r=(k + 0.5, 0), phi=0.0))
        m.add(pl.Revolute(f"p{k}", before, rod["A"]))
        before = rod["B"]
    return m


class Table:
    """Rows of named values; printed as they come, saved as CSV at the end."""

    def __init__(self, name: str, **columns: str):
        self.name, self.columns, self.rows = name, columns, []
        print("  ".join(f"{c:>{_width(f)}s}" for c, f in columns.items()))

    def add(self, *values: object) -> None:
        self.rows.append(values)
        cells = zip(values, self.columns.values(), strict=True)
        print("  ".join(f"{v:>{_width(f)}s}" if isinstance(v, str) else f"{v:{f}}" for v, f in cells), flush=True)

    def save(self) -> None:
        OUT.mkdir(exist_ok=True)
        with open(OUT / f"{self.name}.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(self.columns), *self.rows])


def _width(spec: str) -> int:
    return int("".join(c for c in spec.split(".")[0] if c.isdigit()) or 10)
