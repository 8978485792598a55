"""Microseconds for factor + solve of the KKT system of a chain, per route. Run: python benchmarks/linear.py [links ...]

Smallest of many repeats, one BLAS thread; the last row of each block is the route that "auto" takes.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from planar.linear import Pattern, available_routes, choose_route, kkt_solver

DENSE_LIMIT = 300  # links; beyond, the dense route takes seconds


def chain(links: int) -> tuple[Pattern, np.ndarray]:
    """Phi_q of a chain of links (x, y, phi), each with a revolute to the one before, the first to ground."""
    k = np.arange(links)
    phi = np.random.default_rng(0).uniform(-3.0, 3.0, links)
    half = 0.5 * np.stack((-np.sin(phi), np.cos(phi)), axis=1)  # d/dphi of half a link
    rows = 2 * k[:, None] + np.arange(2)  # x and y of the pin at the start of link k
    own = np.stack((3 * k[:, None] + np.arange(2), np.broadcast_to(3 * k[:, None] + 2, rows.shape)), axis=-1)
    values = np.stack((np.ones(rows.shape), -half), axis=-1)
    before = np.stack((-np.ones(rows.shape), -half), axis=-1)  # r_k - r_(k-1): the end of link k - 1
    row = np.concatenate((np.repeat(rows, 2), np.repeat(rows[1:], 2)))
    col = np.concatenate((own.ravel(), own[:-1].ravel()))
    data = np.concatenate((values.ravel(), before[:-1].ravel()))
    A = csr_array((data, (row, col)), shape=(2 * links, 3 * links))
    A.sum_duplicates()
    return Pattern.from_sparse(A), A.data


def best(function: Callable[[], object], seconds: float = 0.3) -> float:
    """Microseconds of the quickest of many calls."""
    function()
    quickest, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function()
        quickest = min(quickest, time.perf_counter() - start)
    return 1e6 * quickest


def main(sizes: list[int]) -> None:
    print(f"{'links':>6} {'masses':>8} {'route':>8} {'factor':>9} {'solve':>9} {'both':>9}  us")
    for links in sizes:
        pattern, data = chain(links)
        r, g = np.ones(pattern.nq), np.ones(pattern.nc)
        for label in ("positive", "one zero"):
            mass = np.ones(pattern.nq)
            mass[2] = float(label == "positive")
            for route, missing in available_routes().items():
                if missing or (route == "dense" and links > DENSE_LIMIT) or (route == "cholmod" and not mass[2]):
                    continue
                solver = kkt_solver(pattern, mass, route)
                factor = best(partial(solver.factor, data))
                solve = best(partial(solver.solve, r, g))
                print(f"{links:6d} {label:>8} {route:>8} {factor:9.1f} {solve:9.1f} {factor + solve:9.1f}")
            print(f"{links:6d} {label:>8} auto: {choose_route(pattern, mass)}")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [3, 30, 1000, 10000])
