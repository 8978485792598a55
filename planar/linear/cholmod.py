"""CHOLMOD's Cholesky factor of S = P P^T. The only place that imports sksparse, and only when it is needed."""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from planar.linear.pattern import Pattern


@cache
def _sksparse() -> ModuleType | str:
    """sksparse.cholmod, or why it cannot be imported."""
    try:
        from sksparse import cholmod
    except ImportError as error:
        return str(error)
    return cholmod


def missing() -> str | None:
    """None if CHOLMOD can be used, else the reason and the remedy."""
    found = _sksparse()
    if isinstance(found, ModuleType):
        return None
    return (
        f"scikit-sparse cannot be imported ({found}); it compiles against SuiteSparse: "
        "apt-get install libsuitesparse-dev, then pip install 'planar-mechanisms[cholmod]'"
    )


class CholmodGram:
    """Analysed once, factored in place; same contract as gram.BandGram."""

    def __init__(self, pattern: Pattern):
        self._cholmod = _sksparse()
        self._source = pattern.by_column
        indices = pattern.rows[self._source].astype(np.int32)
        indptr = pattern.indptr_T.astype(np.int32)
        self._P = csc_array((np.ones(pattern.nnz), indices, indptr), shape=(pattern.nc, pattern.nq))
        # simplicial: the factors of mechanisms are too sparse for dense blocks to pay, and L D L^T shows its pivots
        self._factor = self._cholmod.analyze_AAt(self._P, mode="simplicial")

    def factor(self, w: NDArray) -> float:
        np.take(w, self._source, out=self._P.data, mode="clip")
        try:
            self._factor.cholesky_AAt_inplace(self._P)
        except self._cholmod.CholmodNotPositiveDefiniteError:
            return 0.0
        return max(float(self._factor.D().min()), 0.0)

    def solve(self, b: NDArray) -> NDArray:
        return self._factor(b)
