"""Is it right?  The same mechanism by formulations that share no code with the main path beyond the user's model.

    print(planar.verify(model, t))

    points         point coordinates: bodies as particles, no angles, laws of momentum (Attia)
    virtual_work   recursive virtual work in 3-vectors, link by link from the tips (Staicu, Stroe)
    generalized    joint coordinates of an open tree, loop closures, explicit multipliers (De Sapio, chapter 5)

Each has ``expresses(model) -> str | None`` (None, or the reason why not) and ``solve(model, t, poses, velocities) ->
Answer`` with accelerations, joint forces and driver efforts at one state.  What they share among each other is the
wording of the model: `closure` (what a joint demands), `loads` (what a force element does), `topology` (which joint is
cut).  For systems written by hand there are `chain.Chain` (spatial chains) and `constrained.GeneralizedSystem` (M, b, g,
phi as functions).  `comparison` and `motion` hold the main path against them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from planar.verify.chain import Chain, Link
from planar.verify.comparison import FORMULATIONS, Verification, verify
from planar.verify.constrained import GeneralizedSystem
from planar.verify.generalized import Tree
from planar.verify.snapshot import Answer


class _Callable(ModuleType):
    """The package is also what people call: planar.verify(model, t) is planar.verify.verify(model, t)."""

    def __call__(self, *args: Any, **kwargs: Any) -> Verification:
        return verify(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
