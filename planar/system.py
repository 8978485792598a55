"""compile(model) -> System: the model as frozen arrays.  Nothing below here sees a user object.

Coordinates q (nq,) = (x, y, phi) per body in the order they were added; rows of Phi joint by joint, then driver by
driver.  Phi_q has one fixed sparsity pattern (CSR); its values are written by precomputed positions, never as triplets.
All evaluations take leading batch axes (time samples, designs): q is (..., nq).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from planar import backend
from planar.batches import Batch, UserBatch, foot
from planar.compiler import Compiler
from planar.errors import ModelError
from planar.forcing import Forcing, compile_forces
from planar.linear import Pattern
from planar.model import Model
from planar.motions import Motion
from planar.packed import Packed, pack
from planar.placement import drawn


class Constraints(NamedTuple):
    """Values of one evaluation: Phi (..., nc), Phi_q data (..., nnz) in the pattern's order, nu, gamma (..., nc)."""

    Phi: np.ndarray
    Phi_q: np.ndarray
    nu: np.ndarray
    gamma: np.ndarray


@dataclass(frozen=True, eq=False)  # compared and hashed by identity
class System:
    """A compiled model."""

    model: Model
    body_names: tuple[str, ...]
    row_names: tuple[str, ...]
    rows_of: dict[str, slice]
    mass: np.ndarray  # (nq,) diagonal of M
    q_drawn: np.ndarray  # (nq,)
    v_drawn: np.ndarray  # (nq,)
    known: np.ndarray  # (nq,) bool: coordinates the user gave
    pattern: Pattern
    batches: tuple[Batch, ...]
    user: tuple[UserBatch, ...]
    motions: tuple[Motion, ...]
    driven: np.ndarray  # (nc,) bool: rows of drivers
    length: float  # a typical length of the mechanism, m
    forcing: Forcing = field(repr=False)
    motion_labels: tuple[str, ...] = ()  # the driver of each motion, for messages

    @property
    def nb(self) -> int:
        return len(self.body_names)

    @property
    def nq(self) -> int:
        return 3 * len(self.body_names)

    @property
    def nc(self) -> int:
        return len(self.row_names)

    def motion_values(self, t: Any) -> np.ndarray:
        """(3, ..., nm + 1): f, f', f'' of every motion at times t (...); the last one is the motion 'none', zero."""
        t = np.asarray(t, float)
        F = np.zeros((3, *t.shape, len(self.motions) + 1))
        for k, motion in enumerate(self.motions):
            try:
                F[0, ..., k], F[1, ..., k], F[2, ..., k] = motion.evaluate(t)
            except ModelError as error:
                raise ModelError(error.problems, self.motion_labels[k]) from error
        for k, base in self._driven_lengths:
            L = base + F[0, ..., k]
            if (L <= 0).any():
                when, shortest = t[L <= 0].flat[0], L[L <= 0].flat[0]
                raise ModelError(
                    f"the length is {shortest:g} m at t = {when:g} s; it must stay positive", self.motion_labels[k]
                )
        return F

    @cached_property
    def _driven_lengths(self) -> list[tuple[int, float]]:
        """(motion, length it counts from) of the driven distances: Phi knows the square of the length only."""
        found = []
        for batch in self.batches:
            if batch.primitive.name == "distance":
                found += zip(batch.motion.tolist(), batch.parameters[4].tolist(), strict=True)
        return [(k, base) for k, base in found if k < len(self.motions)]

    def states(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(8, ..., nb + 1): x, y, phi, cos phi, sin phi, x', y', phi' of every body and, last, ground."""
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        S = np.zeros((8, *lead, self.nb + 1), np.result_type(q, v, float))
        for k in range(3):
            S[k, ..., :-1] = q[..., k::3]
            S[5 + k, ..., :-1] = v[..., k::3]
        S[3], S[4] = np.cos(S[2]), np.sin(S[2])
        return S

    def constraints(self, t: Any, q: np.ndarray, v: np.ndarray | None = None) -> Constraints:
        """Phi, Phi_q, nu, gamma at times t (...), coordinates q (..., nq) and velocities v (zero if left out)."""
        return self.evaluate(t, q, np.zeros_like(q) if v is None else v, self.motion_values(t))

    def evaluate(self, t: Any, q: np.ndarray, v: np.ndarray, F: np.ndarray) -> Constraints:
        """The same for given motion values F (3, ..., nm + 1); complex input passes through (complex step)."""
        if q.ndim == 1 and backend.is_loaded() and q.dtype == v.dtype == F.dtype == float and F.ndim == 2:
            packed = pack(self)
            if packed is not None:
                return self._compiled(packed, q, v, F)
        S = self.states(q, v)
        lead, dtype = S.shape[1:-1], np.result_type(S, F)
        Phi, nu, gamma = (np.zeros((*lead, self.nc), dtype) for _ in range(3))
        J = np.zeros((*lead, self.pattern.nnz + 1), dtype)
        for batch in self.batches:
            bodies = [tuple(S[..., index]) for index in batch.bodies]
            p = foot(batch, bodies) if batch.curves else tuple(batch.parameters)
            out = batch.primitive.kernel(*bodies, p, tuple(F[..., batch.motion]))
            for k, rows in enumerate(batch.rows):
                Phi[..., rows], nu[..., rows], gamma[..., rows] = out[0][k], out[2][k], out[3][k]
            for slots, value in zip(batch.slots, out[1], strict=True):
                J[..., slots] = value
        for batch in self.user:
            pose, speed = S[:3][..., batch.bodies], S[5:][..., batch.bodies]
            out = batch.constraint.evaluate(t, np.moveaxis(pose, 0, -1), np.moveaxis(speed, 0, -1))
            Phi[..., batch.rows], nu[..., batch.rows], gamma[..., batch.rows] = out[0], out[2], out[3]
            J[..., batch.slots] = out[1]
        return Constraints(Phi, J[..., :-1], nu, gamma)

    def _compiled(self, packed: Packed, q: np.ndarray, v: np.ndarray, F: np.ndarray) -> Constraints:
        """One state by the compiled kernels: the same arithmetic without NumPy's calls."""
        padded = np.zeros((2, self.nq + 3))  # three zeros for ground
        padded[0, :-3], padded[1, :-3] = q, v
        Phi, nu, gamma = np.zeros((3, self.nc))
        J = np.zeros(self.pattern.nnz + 1)
        backend.compiled().evaluate(*packed, padded[0], padded[1], F, Phi, J, nu, gamma)
        return Constraints(Phi, J[:-1], nu, gamma)

    def forces(self, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalised applied forces Q (..., nq): N, N, N m about the centre of mass of each body."""
        return self.forcing.forces(self, t, q, v)

    def force_tangents(self, t: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dQ/dq and dQ/dv: data (..., nnz) in the order of `forcing.pattern`."""
        return self.forcing.tangents(self, t, q, v)

    def body_index(self, body: Any) -> int:
        """Index of a body by object or name; ground is nb."""
        name = getattr(body, "name", body)
        k = self._index.get(name) if isinstance(name, str) else None
        if k is None:
            item = self.model[name]  # says which names there are
            raise ModelError(f"{name!r} is a {type(item).__name__}, not a body of the compiled model")
        return k

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate((*self.body_names, self.model.ground.name))}


# --- compile -----------------------------------------------------------------------------------------------------------


def compile(model: Model, q_drawn: np.ndarray | None = None) -> System:
    """Check the model and turn it into arrays.  q_drawn replaces the drawn pose (used by assembly)."""
    if not isinstance(model, Model):
        raise ModelError(f"expected a pl.Model, got {model!r:.60}")
    model.validate()
    model = model.copy()  # results must not change when the user goes on building
    q0, known = drawn(model)
    if q_drawn is not None:
        q0 = np.array(q_drawn, float)
    c = Compiler(model, q0, known)
    mass = np.array([(b.mass, b.mass, b.inertia) for b in model.bodies], float).reshape(-1)
    v0 = np.array([(*b.v, b.omega) for b in model.bodies], float).reshape(-1)
    return System(
        model=model,
        body_names=tuple(b.name for b in model.bodies),
        row_names=tuple(c.row_names),
        rows_of=c.rows_of,
        mass=mass,
        q_drawn=q0,
        v_drawn=v0,
        known=known,
        pattern=c.pattern,
        batches=c.batches,
        user=c.user,
        motions=tuple(c.motions),
        driven=np.array(c.driven, bool),
        length=c.length,
        forcing=compile_forces(c),
        motion_labels=tuple(c.motion_labels),
    )
