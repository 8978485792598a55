"""Applied forces of a compiled system: gravity, batches of force laws, user callables; Q and its tangents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.errors import ModelError
from planar.forces import ForceBlock, UserForce
from planar.laws import LAWS, Law
from planar.linear import Pattern
from planar.motions import Motion, as_motion
from planar.state import State

if TYPE_CHECKING:
    from planar.compiler import Compiler
    from planar.system import System

STEP = 1e-30  # complex step: no cancellation, so far below any digit


@dataclass(frozen=True)
class ForceBatch:
    """All instances of one force law."""

    law: Law
    bodies: np.ndarray  # (2, n), ground = nb
    parameters: np.ndarray  # (parameters, n)
    constant: np.ndarray  # (magnitudes, n) numbers
    timed: tuple[tuple[int, int, Motion], ...]  # (magnitude, instance, motion)
    called: tuple[tuple[int, int, Callable], ...]  # (magnitude or -1 for all, instance, callable of (t, state))
    slots: np.ndarray  # (6, 6, n) positions of the tangents in the pattern; ground's go to the dummy


@dataclass(frozen=True)
class UserForceBatch:
    function: Callable
    label: str
    bodies: np.ndarray


@dataclass(frozen=True)
class Forcing:
    """Q(t, q, v) and dQ/dq, dQ/dv with the fixed pattern `pattern` (nq x nq)."""

    gravity: np.ndarray  # (nq,) constant generalised force
    batches: tuple[ForceBatch, ...]
    user: tuple[UserForceBatch, ...]
    pattern: Pattern

    @property
    def has_callables(self) -> bool:
        return bool(self.user) or any(b.called for b in self.batches)

    def forces(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        S = system.states(q, v)
        lead = S.shape[1:-1]
        Q = np.zeros((*lead, system.nb + 1, 3), S.dtype)
        Q[..., :-1, :] = self.gravity.reshape(-1, 3)
        view = State(system, t, q, v)
        for batch in self.batches:
            out = batch.law.kernel(*_states(S, batch), tuple(batch.parameters), self._magnitudes(batch, t, view, lead))
            for e, value in enumerate(out):
                if not (np.isscalar(value) and value == 0.0):
                    np.add.at(Q, (..., batch.bodies[e // 3], e % 3), value)
        for batch in self.user:
            self._call_user(batch, t, view, Q)
        return Q[..., :-1, :].reshape(*lead, -1)

    def tangents(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        S = system.states(q, v)
        lead = S.shape[1:-1]
        K = np.zeros((*lead, self.pattern.nnz + 1), S.dtype)
        C = np.zeros_like(K)
        view = State(system, t, q, v)
        for batch in self.batches:
            if batch.called:
                continue
            m = self._magnitudes(batch, t, view, lead)
            for data, block in zip(
                (K, C), batch.law.tangents(*_states(S, batch), tuple(batch.parameters), m), strict=True
            ):
                for r in range(6):
                    for c in range(6):
                        np.add.at(data, (..., batch.slots[r, c]), block[..., r, c])
        K, C = K[..., :-1], C[..., :-1]
        if self.has_callables:
            for data, derivative in zip((K, C), self._complex_step(system, t, q, v), strict=True):
                data += derivative
        return K, C

    def _complex_step(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        """Tangents of what depends on callables: all directions as one batch of complex states."""
        nq = q.shape[-1]
        step = 1j * STEP * np.eye(nq).reshape(nq, *(1,) * (q.ndim - 1), nq)
        called = Forcing(np.zeros(nq), tuple(b for b in self.batches if b.called), self.user, self.pattern)
        still = np.zeros_like(step)
        out = []
        for dq, dv in ((step, still), (still, step)):
            Q = called.forces(system, t, q + dq, v + dv).imag / STEP  # (direction, ..., nq)
            out.append(np.moveaxis(Q, 0, -1)[..., self.pattern.rows, self.pattern.indices])
        return out

    def _magnitudes(self, batch: ForceBatch, t: Any, view: State, lead: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        if not batch.timed and not batch.called:
            return tuple(batch.constant)
        m = np.zeros((len(batch.constant), *lead, batch.constant.shape[1]), view.q.dtype)
        m += batch.constant.reshape(len(batch.constant), *(1,) * len(lead), -1)
        for k, n, motion in batch.timed:
            m[k, ..., n] = motion.evaluate(np.broadcast_to(t, lead))[0]
        for k, n, function in batch.called:
            value = function(t, view)
            for which, x in enumerate(value) if k < 0 else ((k, value),):
                m[which, ..., n] = x
        return tuple(m)

    @staticmethod
    def _call_user(batch: UserForceBatch, t: Any, view: State, Q: np.ndarray) -> None:
        out = batch.function(t, view)
        triples = (out,) if len(batch.bodies) == 1 and len(out) == 3 else out
        for body, triple in zip(batch.bodies, triples, strict=True):
            for k, x in enumerate(triple):
                Q[..., body, k] += x


def _states(S: np.ndarray, batch: ForceBatch) -> list[tuple]:
    return [tuple(S[..., index]) for index in batch.bodies]


def compile_forces(compiler: Compiler) -> Forcing:
    """Force elements -> batches, with the pattern of the tangents."""
    model, nb = compiler.model, compiler.nb
    gx, gy = model.gravity
    gravity = np.array([(b.mass * gx, b.mass * gy, 0.0) for b in model.bodies], float).reshape(-1)
    parts: dict[str, list[ForceBlock]] = {}
    user: list[UserForceBatch] = []
    for force in model.forces:
        if isinstance(force, UserForce):
            index = np.array([compiler.body_index(b) for b in force.on], np.intp)
            user.append(UserForceBatch(force.function, force.label, index))
        for block in force.blocks():
            parts.setdefault(block.law, []).append(_as_drawn(compiler, force.label, block))
    if compiler.problems:
        raise ModelError(compiler.problems, f"model {model.name!r}")

    pairs: set[tuple[int, int]] = set()  # coupled coordinates
    for block in (b for blocks in parts.values() for b in blocks):
        index = [compiler.body_index(b) for b in block.bodies]
        everywhere = range(nb) if any(map(_is_callback, block.magnitudes)) else index
        pairs |= {(3 * i + r, 3 * j + c) for i in index for j in everywhere for r in range(3) for c in range(3)}
    for batch in user:
        pairs |= {(3 * int(i) + r, c) for i in batch.bodies for r in range(3) for c in range(3 * nb)}
    pattern = _pattern(pairs, 3 * nb)
    where = {(int(r), int(c)): k for k, (r, c) in enumerate(zip(pattern.rows, pattern.indices, strict=True))}
    batches = tuple(_force_batch(compiler, name, blocks, where) for name, blocks in parts.items())
    return Forcing(gravity, batches, tuple(user), pattern)


def _is_callback(magnitude: Any) -> bool:
    return callable(magnitude) and not isinstance(magnitude, Motion)


def _pattern(pairs: set[tuple[int, int]], nq: int) -> Pattern:
    inside = sorted((r, c) for r, c in pairs if r < nq and c < nq)
    rows = np.array([r for r, _ in inside], np.intp)
    indptr = np.searchsorted(rows, np.arange(nq + 1))
    return Pattern(nq, nq, indptr, np.array([c for _, c in inside], np.intp))


def _as_drawn(compiler: Compiler, label: str, block: ForceBlock) -> ForceBlock:
    """Free length or free angle from the drawn pose where it was left open."""
    if None not in block.parameters:
        return block
    i, j = (compiler.state(b) for b in block.bodies)
    compiler.need_drawn(label, "length" if block.law == "spring" else "angle", block.bodies)
    if block.law == "spring":
        p = block.parameters
        dx = j[0] + j[3] * p[2] - j[4] * p[3] - i[0] - i[3] * p[0] + i[4] * p[1]
        dy = j[1] + j[4] * p[2] + j[3] * p[3] - i[1] - i[4] * p[0] - i[3] * p[1]
        value = float(np.hypot(dx, dy))
    else:
        value = j[2] - i[2]
    return replace(block, parameters=tuple(value if x is None else x for x in block.parameters))


def _force_batch(compiler: Compiler, name: str, blocks: list[ForceBlock], where: dict) -> ForceBatch:
    law, nb = LAWS[name], compiler.nb
    bodies = np.full((2, len(blocks)), nb, np.intp)
    constant = np.zeros((law.magnitudes, len(blocks)))
    timed: list[tuple[int, int, Motion]] = []
    called: list[tuple[int, int, Callable]] = []
    slots = np.full((6, 6, len(blocks)), len(where), np.intp)
    for n, block in enumerate(blocks):
        for b, body in enumerate(block.bodies):
            bodies[b, n] = compiler.body_index(body)
        for k, magnitude in enumerate(block.magnitudes):
            if _is_callback(magnitude):
                called.append((k if len(block.magnitudes) == law.magnitudes else -1, n, magnitude))
            elif isinstance(magnitude, (str, Motion)):
                timed.append((k, n, as_motion(magnitude)))
            else:
                constant[k, n] = float(magnitude)
        if any(map(_is_callback, block.magnitudes)):
            continue
        for r in range(6):
            for c in range(6):
                pair = (3 * int(bodies[r // 3, n]) + r % 3, 3 * int(bodies[c // 3, n]) + c % 3)
                slots[r, c, n] = where.get(pair, len(where))
    parameters = np.array([b.parameters for b in blocks], float).T.reshape(law.parameters, len(blocks))
    return ForceBatch(law, bodies, parameters, constant, tuple(timed), tuple(called), slots)
