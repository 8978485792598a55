"""Applied forces of a compiled system: gravity, batches of force laws, user callables; Q and its tangents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.callbacks import Callback
from planar.errors import ModelError
from planar.forces import ForceBlock, UserForce, is_callback
from planar.laws import LAWS, Law
from planar.linear import Pattern
from planar.motions import Constant, Motion, as_motion

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
    called: tuple[tuple[slice, int, Callback], ...]  # (magnitudes, instance, function of (t, state))
    slots: np.ndarray  # (6, 6, n) positions of the tangents in the pattern; ground's go to the dummy
    labels: tuple[str, ...]  # of the elements, for messages


@dataclass(frozen=True)
class UserForceBatch:
    """A wrench on each of some bodies by one function."""

    callback: Callback
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
        Q = self.wrenches(system, t, q, v)[..., :-1, :]
        return Q.reshape(*Q.shape[:-2], -1)

    def wrenches(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(..., nb + 1, 3): F_x, F_y, T on every body and, last, on ground (T about the origin)."""
        S = system.states(q, v)
        lead = S.shape[1:-1]
        Q = np.zeros((*lead, system.nb + 1, 3), S.dtype)
        Q[..., :-1, :] = self.gravity.reshape(-1, 3)
        for batch in self.batches:
            m = _magnitudes(batch, system, t, q, v)
            out = batch.law.kernel(*_states(S, batch), tuple(batch.parameters), m)
            for e, value in enumerate(out):
                if not (np.isscalar(value) and value == 0.0):
                    np.add.at(Q, (..., batch.bodies[e // 3], e % 3), value)
        for batch in self.user:
            for e, value in enumerate(batch.callback.values(system, t, q, v)):
                Q[..., batch.bodies[e // 3], e % 3] += value
        return Q

    def each(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> Iterator[tuple[str, int, np.ndarray]]:
        """(label of the force element, body, its generalised force (..., 3) there); gravity apart, their sum is `forces`."""
        S = system.states(q, v)
        for batch in self.batches:
            out = batch.law.kernel(*_states(S, batch), tuple(batch.parameters), _magnitudes(batch, system, t, q, v))
            out = [np.broadcast_to(value, (*S.shape[1:-1], len(batch.labels))) for value in out]
            for n, label in enumerate(batch.labels):
                for e, body in enumerate(batch.bodies[:, n]):
                    if body < system.nb:
                        yield label, int(body), np.stack([value[..., n] for value in out[3 * e : 3 * e + 3]], -1)
        for batch in self.user:
            values = batch.callback.values(system, t, q, v)
            for e, body in enumerate(batch.bodies):
                yield batch.callback.label, int(body), np.moveaxis(values[3 * e : 3 * e + 3], 0, -1)

    def tangents(self, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        S = system.states(q, v)
        lead = S.shape[1:-1]
        K = np.zeros((*lead, self.pattern.nnz + 1), S.dtype)
        C = np.zeros_like(K)
        for batch in self.batches:
            m = _magnitudes(batch, system, t, q, v)
            blocks = batch.law.tangents(*_states(S, batch), tuple(batch.parameters), m)
            for data, block in zip((K, C), blocks, strict=True):
                for r in range(6):
                    for c in range(6):
                        np.add.at(data, (..., batch.slots[r, c]), block[..., r, c])
        if self.has_callables:
            t = np.broadcast_to(t, lead)
            q, v = (np.broadcast_to(x, (*lead, system.nq)) for x in (q, v))
            for k in np.ndindex(lead):
                self._add_slopes(system, t[k], q[k], v[k], S[(slice(None), *k)], (K[k], C[k]))
        return K[..., :-1], C[..., :-1]

    def _add_slopes(self, system: System, t: Any, q: np.ndarray, v: np.ndarray, S: np.ndarray, data: tuple) -> None:
        """What the functions add at one state: dQ/dm dm/dq for magnitudes m (Q is linear in them), dQ/dq itself."""
        for batch in self.batches:
            for which, n, callback in batch.called:
                per_magnitude = _per_magnitude(batch, S, n)[which]
                for side, column, slopes in callback.slopes(system, t, q, v):
                    self._add(data[side], batch.bodies[:, n], column, slopes @ per_magnitude)
        for batch in self.user:
            for side, column, slopes in batch.callback.slopes(system, t, q, v):
                self._add(data[side], batch.bodies, column, slopes)

    def _add(self, data: np.ndarray, bodies: np.ndarray, column: int, values: np.ndarray) -> None:
        for e, value in enumerate(values):
            row = 3 * int(bodies[e // 3]) + e % 3
            if row < self.pattern.nc:
                start, stop = self.pattern.indptr[row : row + 2]
                data[start + np.searchsorted(self.pattern.indices[start:stop], column)] += value


def _states(S: np.ndarray, batch: ForceBatch) -> list[tuple]:
    return [tuple(S[..., index]) for index in batch.bodies]


def _magnitudes(batch: ForceBatch, system: System, t: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """(magnitudes, ..., n): numbers, motions at t, functions of (t, state)."""
    if not batch.timed and not batch.called:
        return tuple(batch.constant)
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    m = np.zeros((len(batch.constant), *lead, batch.constant.shape[1]), np.result_type(q, v, float))
    m += batch.constant.reshape(len(batch.constant), *(1,) * len(lead), -1)
    for k, n, motion in batch.timed:
        try:
            m[k, ..., n] = motion.evaluate(t)[0]
        except ModelError as error:
            raise ModelError(error.problems, batch.labels[n]) from error
    for which, n, callback in batch.called:
        m[which, ..., n] = callback.values(system, t, q, v)
    return tuple(m)


def _per_magnitude(batch: ForceBatch, S: np.ndarray, n: int) -> np.ndarray:
    """dQ/dm (magnitudes, 6) of one instance, by the complex step."""
    states, p = [tuple(S[:, body]) for body in batch.bodies[:, n]], tuple(batch.parameters[:, n])
    rows = [batch.law.kernel(*states, p, tuple(1j * STEP * e)) for e in np.eye(len(batch.constant))]
    return np.array([[np.imag(value) / STEP for value in row] for row in rows])


def compile_forces(compiler: Compiler) -> Forcing:
    """Force elements -> batches, with the pattern of the tangents."""
    model, nb = compiler.model, compiler.nb
    gx, gy = model.gravity
    gravity = np.array([(b.mass * gx, b.mass * gy, 0.0) for b in model.bodies], float).reshape(-1)
    parts: dict[str, list[tuple[str, ForceBlock]]] = {}
    user: list[UserForceBatch] = []
    for force in model.forces:
        if isinstance(force, UserForce):
            index = np.array([compiler.body_index(b) for b in force.on], np.intp)
            user.append(UserForceBatch(Callback(force.function, force.label, (len(index), 3)), index))
        for block in force.blocks():
            parts.setdefault(block.law, []).append((force.label, _as_drawn(compiler, block)))

    pairs: set[tuple[int, int]] = set()  # coupled coordinates
    for block in (b for blocks in parts.values() for _, b in blocks):
        index = [compiler.body_index(b) for b in block.bodies]
        everywhere = range(nb) if any(map(is_callback, block.magnitudes)) else index
        pairs |= {(3 * i + r, 3 * j + c) for i in index for j in everywhere for r in range(3) for c in range(3)}
    for batch in user:
        pairs |= {(3 * int(i) + r, c) for i in batch.bodies for r in range(3) for c in range(3 * nb)}
    pattern = _pattern(pairs, 3 * nb)
    where = {(int(r), int(c)): k for k, (r, c) in enumerate(zip(pattern.rows, pattern.indices, strict=True))}
    batches = tuple(_force_batch(compiler, name, blocks, where) for name, blocks in parts.items())
    return Forcing(gravity, batches, tuple(user), pattern)


def _pattern(pairs: set[tuple[int, int]], nq: int) -> Pattern:
    inside = sorted((r, c) for r, c in pairs if r < nq and c < nq)
    rows = np.array([r for r, _ in inside], np.intp)
    indptr = np.searchsorted(rows, np.arange(nq + 1))
    return Pattern(nq, nq, indptr, np.array([c for _, c in inside], np.intp))


def _as_drawn(compiler: Compiler, block: ForceBlock) -> ForceBlock:
    """Free length or free angle from the drawn pose where it was left open."""
    if None not in block.parameters:
        return block
    i, j = (compiler.state(b) for b in block.bodies)
    if block.law == "spring":
        p = block.parameters
        dx = j[0] + j[3] * p[2] - j[4] * p[3] - i[0] - i[3] * p[0] + i[4] * p[1]
        dy = j[1] + j[4] * p[2] + j[3] * p[3] - i[1] - i[4] * p[0] - i[3] * p[1]
        value = float(np.hypot(dx, dy))
    else:
        value = j[2] - i[2]
    return replace(block, parameters=tuple(value if x is None else x for x in block.parameters))


def _force_batch(compiler: Compiler, name: str, blocks: list[tuple[str, ForceBlock]], where: dict) -> ForceBatch:
    law, nb = LAWS[name], compiler.nb
    bodies = np.full((2, len(blocks)), nb, np.intp)
    constant = np.zeros((law.magnitudes, len(blocks)))
    timed: list[tuple[int, int, Motion]] = []
    called: list[tuple[slice, int, Callback]] = []
    slots = np.full((6, 6, len(blocks)), len(where), np.intp)
    for n, (label, block) in enumerate(blocks):
        for b, body in enumerate(block.bodies):
            bodies[b, n] = compiler.body_index(body)
        for k, magnitude in enumerate(block.magnitudes):
            if is_callback(magnitude):
                alone = len(block.magnitudes) == law.magnitudes  # else one function gives them all
                which, counts = (slice(k, k + 1), ()) if alone else (slice(None), (law.magnitudes,))
                called.append((which, n, Callback(magnitude, label, counts)))
                continue
            motion = as_motion(magnitude)
            if isinstance(motion, Constant):
                constant[k, n] = motion.value
            else:
                timed.append((k, n, motion))
        for r in range(6):
            for c in range(6):
                pair = (3 * int(bodies[r // 3, n]) + r % 3, 3 * int(bodies[c // 3, n]) + c % 3)
                slots[r, c, n] = where.get(pair, len(where))
    parameters = np.array([b.parameters for _, b in blocks], float).T.reshape(law.parameters, len(blocks))
    labels = tuple(label for label, _ in blocks)
    return ForceBatch(law, bodies, parameters, constant, tuple(timed), tuple(called), slots, labels)
