"""Forces given by Python functions of (t, state): their values, checked, and their exact derivatives.

A function is called once for a whole batch of states.  If it cannot take one (it branches on values, or writes r[0] where
r[..., 0] is meant), it is called once per state instead: right, but slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.errors import ModelError
from planar.jet import Jet
from planar.state import BodyView, State

if TYPE_CHECKING:
    from planar.system import System


@dataclass(frozen=True)
class Callback:
    """A user's function(t, state); counts is the shape of what it returns for one state: (), (2,), (3,) or (bodies, 3)."""

    function: Callable
    label: str
    counts: tuple[int, ...]

    def values(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(n, ...) the n values it returns, at times t (...) or one t, q and v (..., nq)."""
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        q, v = _frozen(q, lead), _frozen(v, lead)
        if not lead:
            return self._checked(t, self._call(State(system, t, q, v), lead), lead)
        t_each = np.broadcast_to(t, lead)

        def single(k: tuple[int, ...]) -> np.ndarray:
            return self.values(system, t_each[k], q[k], v[k])

        try:
            out = self._checked(t, self._call(State(system, t, q, v), lead), lead)
            last = tuple(n - 1 for n in lead)
            if out.size == 0 or np.allclose(out[(slice(None), *last)], single(last), rtol=1e-9, atol=0.0):
                return out
        except (TypeError, ValueError, IndexError):
            pass
        return np.stack([single(k) for k in np.ndindex(lead)], -1).reshape(-1, *lead)

    def slopes(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """(0 for q or 1 for v, coordinate, derivatives (n,) of the values along it) at one state.

        Exact, by Taylor arithmetic (`planar.jet`), for the coordinates of the bodies that the function reads.
        """
        seen = _Watch(system, t, _frozen(q, ()), _frozen(v, ()))
        self._checked(t, self._call(seen, ()), ())
        for k in (3 * body + c for body in sorted(seen.read) for c in range(3)):
            e = np.zeros(system.nq)
            e[k] = 1.0
            for which, (Q, V) in enumerate(((Jet(q, e), v), (q, Jet(v, e)))):
                try:
                    out = self._call(State(system, t, Q, V), ())
                except (TypeError, ValueError, AttributeError) as error:
                    if isinstance(error, ModelError):
                        raise
                    raise ModelError(
                        f"{self.label}: the derivatives of its function cannot be found: {error}"
                    ) from error
                yield which, k, np.array([np.reshape(x.f1, ()) if isinstance(x, Jet) else 0.0 for x in out], float)

    def _call(self, state: State, lead: tuple[int, ...]) -> list:
        with np.errstate(all="ignore"):  # `_checked` judges what is not finite
            return self._components(self.function(state.t, state), self.counts, lead)

    def _components(self, out: Any, counts: tuple[int, ...], lead: tuple[int, ...]) -> list:
        """From nested sequences, or from an array with the components along its last axes (or its first ones)."""
        if isinstance(out, np.ndarray) and out.dtype == object:  # np.array([jet, jet])
            out = out.item() if out.ndim == 0 else list(out)
        if not counts:
            return [out]
        if isinstance(out, (np.ndarray, Jet)):
            last, first = (*lead, *counts), (*counts, *lead)
            if out.shape == last and not (lead and first == last):
                return [out[(..., *k)] for k in np.ndindex(counts)]
            if out.shape == first and not (lead and first == last):
                return [out[k] for k in np.ndindex(counts)]
        elif isinstance(out, (tuple, list)):
            if len(out) == counts[0]:
                return [x for item in out for x in self._components(item, counts[1:], lead)]
            if counts[0] == 1:  # one body: the triple itself
                return self._components(out, counts[1:], lead)
        wanted = {1: f"{counts[-1]} values", 2: f"{counts[0]} triples"}[len(counts)]
        raise ModelError(
            f"{self.label}: its function returned {_shown(out)}; return a tuple of {wanted} for each state"
        )

    def _checked(self, t: Any, values: list, lead: tuple[int, ...]) -> np.ndarray:
        out = []
        for value in values:
            x = np.asarray(value)
            if x.dtype.kind not in "biufc" or (x.size != 1 and x.shape != lead):
                raise ModelError(
                    f"{self.label}: its function returned {_shown(value)}; return one number for each state"
                )
            bad = ~np.isfinite(x)
            if bad.any():
                when = np.broadcast_to(np.real(t), x.shape)[bad][0]
                raise ModelError(
                    f"{self.label}: its function returned {x[bad][0]} at t = {when:g} s; it must be finite"
                )
            out.append(np.broadcast_to(x.reshape(()) if x.size == 1 else x, lead))
        return np.array(out)


class _Watch(State):
    """A state that notes which bodies are read."""

    def __init__(self, system: System, t: Any, q: np.ndarray, v: np.ndarray):
        self.system, self.t, self.a = system, t, None
        self._plain = State(system, t, q, v)
        self.read: set[int] = set()

    def __getitem__(self, body: Any) -> BodyView:
        k = self.system.body_index(body)
        if k < self.system.nb:
            self.read.add(k)
        return self._plain[body]

    @property
    def q(self) -> np.ndarray:
        self.read.update(range(self.system.nb))
        return self._plain.q

    @property
    def v(self) -> np.ndarray:
        self.read.update(range(self.system.nb))
        return self._plain.v


def _frozen(x: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    """The same numbers, read-only: a user's function must not move the mechanism."""
    return np.broadcast_to(x, (*lead, x.shape[-1]))


def _shown(x: Any) -> str:
    return f"an array of shape {x.shape}" if np.ndim(x) and hasattr(x, "shape") else f"{x!r:.60}"
