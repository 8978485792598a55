"""Which ways of solving there are, and which suits a system."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planar.linear import cholmod
from planar.linear.cholmod import CholmodGram
from planar.linear.gram import BandGram
from planar.linear.lu import BandLU, DenseLU, SuperLU
from planar.linear.order import Index, gram_entries, inverse, kkt_graph, rcm, rcm_square
from planar.linear.pattern import Pattern

LU = {"dense": DenseLU, "banded": BandLU, "superlu": SuperLU}
GRAM = {"banded": BandGram, "cholmod": CholmodGram}
DENSE = 60  # unknowns
BAND_SCHUR = 40  # half-bandwidths
BAND_LU = 40
CROWDED = 50  # products per entry of Phi_q in the forming of S
ROUTES = ("dense", "banded", "cholmod", "superlu")


def available_routes() -> dict[str, str | None]:
    """Every route, with None if it can be used, else why not and how to get it."""
    return {route: cholmod.missing() if route == "cholmod" else None for route in ROUTES}


def check_route(route: str) -> None:
    """Raise ValueError unless the route exists here."""
    if route == "auto":
        return
    available = available_routes()
    if route not in available:
        raise ValueError(f"route must be one of auto, {', '.join(ROUTES)}; not {route!r}")
    if available[route] is not None:
        raise ValueError(f"route {route!r} is not available: {available[route]}")


def choose_route(pattern: Pattern, mass: NDArray | None) -> str:
    """The quickest route for a KKT system, or with mass=None for the square Jacobian alone.

    dense     while LAPACK's n^3 is cheaper than the calls around a sparse factorisation
    banded    chains, rings and ladders: reverse Cuthill-McKee leaves a narrow band
    cholmod   anything else, if it is installed and S has not become dense (many joints on one body)
    superlu   the rest
    """
    n = pattern.nc + (0 if mass is None else pattern.nq)
    if n <= DENSE:
        return "dense"
    schur = mass is not None and has_schur(pattern, mass)
    if bandwidth(pattern, mass) <= (BAND_SCHUR if schur else BAND_LU):
        return "banded"
    pairs = int(np.sum(np.diff(pattern.indptr_T) ** 2))
    if cholmod.missing() is None and (schur or mass is None) and pairs <= CROWDED * pattern.nnz:
        return "cholmod"
    return "superlu"


def has_schur(pattern: Pattern, mass: NDArray) -> bool:
    """Whether S = Phi_q M^-1 Phi_q^T exists and is worth its rounding."""
    return pattern.nc > 0 and bool(mass.min() > 1e-12 * mass.max())


def bandwidth(pattern: Pattern, mass: NDArray | None) -> int:
    """Half-bandwidth, after reverse Cuthill-McKee, of the matrix that the banded route factors."""
    if mass is None:
        rows, cols = rcm_square(pattern.nc, pattern.rows, pattern.indices)
        return _reach(inverse(rows)[pattern.rows], inverse(cols)[pattern.indices])
    if has_schur(pattern, mass):
        a, b = gram_entries(pattern)
        n, i, j = pattern.nc, pattern.rows[a], pattern.rows[b]
    else:
        n, i, j = kkt_graph(pattern)
    place = inverse(rcm(n, i, j))
    return _reach(place[i], place[j])


def _reach(i: Index, j: Index) -> int:
    return int(np.max(np.abs(i - j), initial=0))
