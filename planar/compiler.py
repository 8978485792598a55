"""The bookkeeping of compile(): blocks of the constraints -> batches, rows, pattern, positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from planar.batches import Batch, UserBatch
from planar.bodies import Body, Point
from planar.elements import Block
from planar.errors import ModelError
from planar.linear import Pattern
from planar.model import Model
from planar.motions import Motion
from planar.primitives import PRIMITIVES


class Compiler:
    """Walks the constraints of a model once; the attributes are the parts of a System."""

    def __init__(self, model: Model, q_drawn: np.ndarray, known: np.ndarray):
        self.model, self.q_drawn, self.known = model, q_drawn, known
        self.index = {id(b): k for k, b in enumerate(model.bodies)} | {id(model.ground): len(model.bodies)}
        self.nb = len(model.bodies)
        self.row_names: list[str] = []
        self.rows_of: dict[str, slice] = {}
        self.driven: list[bool] = []
        self.motions: list[Motion] = []
        self.motion_labels: list[str] = []
        self.length = self._typical_length()
        problems = [p for c in model.constraints for p in c.drawn_problems(self.position)]  # in a guessed pose too
        if problems:
            raise ModelError(problems, f"model {model.name!r}")
        self._walk()

    # --- poses -----------------------------------------------------------------------------------------------------

    def body_index(self, body: Body | None) -> int:
        return self.nb if body is None else self.index[id(body)]

    def state(self, body: Body | None) -> tuple[float, ...]:
        """(x, y, phi, c, s, 0, 0, 0) of a body as drawn."""
        k = self.body_index(body)
        x, y, phi = (0.0, 0.0, 0.0) if k == self.nb else (float(z) for z in self.q_drawn[3 * k : 3 * k + 3])
        return x, y, phi, math.cos(phi), math.sin(phi), 0.0, 0.0, 0.0

    def position(self, point: Point) -> tuple[float, float]:
        """Global position of a point as drawn."""
        x, y, _, c, s, *_ = self.state(point.body)
        return x + c * point.s[0] - s * point.s[1], y + s * point.s[0] + c * point.s[1]

    def _typical_length(self) -> float:
        """Mean size of the mechanism in m: scales angles against lengths where both are compared."""
        sizes = [math.hypot(*s) for b in self.model.bodies for s in b.points.values()]
        for c in self.model.constraints:
            sizes += [math.hypot(*a.s) for a in c.attachments if isinstance(a, Point)]
        sizes = [s for s in sizes if s > 0]
        return float(np.mean(sizes)) if sizes else 1.0

    # --- constraints -----------------------------------------------------------------------------------------------

    def motion_index(self, motion: Motion | None, label: str) -> int:
        """Position of a motion among the system's; -1 for none (mapped to the zero motion at the end)."""
        if motion is None:
            return -1
        self.motions.append(motion)
        self.motion_labels.append(label)
        return len(self.motions) - 1

    def _walk(self) -> None:
        parts: dict[str, list[tuple[Block, tuple, int, int]]] = {}  # primitive -> (block, parameters, row, motion)
        users: list[tuple[Block, int]] = []
        columns: list[list[int]] = []  # columns of each row, ground as -1, in the kernel's order
        for constraint in self.model.constraints:
            start = len(self.row_names)
            for block in constraint.blocks():
                row = len(self.row_names)
                self.row_names += [f"{constraint.name}.{word}" for word in block.rows]
                if block.primitive == "user":
                    users.append((block, row))
                    entries = [
                        (r, b, c) for r in range(len(block.rows)) for b in range(len(block.bodies)) for c in range(3)
                    ]
                else:
                    motion = self.motion_index(block.motion, constraint.label)
                    parts.setdefault(block.primitive, []).append((block, self._constant(block), row, motion))
                    entries = PRIMITIVES[block.primitive].entries
                columns += [[] for _ in block.rows]
                for r, b, c in entries:
                    k = self.body_index(block.bodies[b]) if b < len(block.bodies) else self.nb
                    columns[row + r].append(3 * k + c)
            self.rows_of[constraint.name] = slice(start, len(self.row_names))
            self.driven += [constraint.word == "driver"] * (len(self.row_names) - start)
        self._pattern(columns)
        self.batches = tuple(self._batch(name, instances) for name, instances in parts.items())
        self.user = tuple(self._user_batch(block, row) for block, row in users)

    def _pattern(self, columns: list[list[int]]) -> None:
        nq = 3 * self.nb
        lists = [sorted({c for c in row if c < nq}) for row in columns]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.intp)
        indices = np.array([c for row in lists for c in row], np.intp)
        self.pattern = Pattern(nq, len(columns), indptr, indices)
        self._where = [
            {c: int(start) + k for k, c in enumerate(row)} for row, start in zip(lists, indptr, strict=False)
        ]

    def _slot(self, row: int, column: int) -> int:
        """Position of an entry in the data of Phi_q; ground's columns go to the dummy behind the end."""
        return self._where[row].get(column, self.pattern.nnz)

    def _batch(self, name: str, instances: list) -> Batch:
        primitive = PRIMITIVES[name]
        bodies = np.full((primitive.bodies, len(instances)), self.nb, np.intp)
        slots = np.empty((len(primitive.entries), len(instances)), np.intp)
        for n, (block, _, row, _) in enumerate(instances):
            for b, body in enumerate(block.bodies):
                bodies[b, n] = self.body_index(body)
            for e, (r, b, c) in enumerate(primitive.entries):
                slots[e, n] = self._slot(row + r, 3 * int(bodies[b, n]) + c)
        first = np.array([row for _, _, row, _ in instances], np.intp)
        motion = np.array([m for *_, m in instances], np.intp)
        return Batch(
            primitive=primitive,
            bodies=bodies,
            parameters=np.array([p for _, p, _, _ in instances], float).T.reshape(primitive.parameters, -1),
            motion=np.where(motion < 0, len(self.motions), motion),
            rows=first + np.arange(primitive.rows)[:, None],
            slots=slots,
            curves=tuple(block.extra for block, *_ in instances) if name == "curve" else (),
        )

    def _user_batch(self, block: Block, row: int) -> UserBatch:
        bodies = np.array([self.body_index(b) for b in block.bodies], np.intp)
        rows = row + np.arange(len(block.rows))
        slots = [[self._slot(r, 3 * int(b) + c) for b in bodies for c in range(3)] for r in rows]
        return UserBatch(block.extra, bodies, rows, np.array(slots, np.intp))

    def _constant(self, block: Block) -> tuple[float, ...]:
        """Parameters with the constant taken from the drawn pose where it was left open."""
        primitive, p = PRIMITIVES[block.primitive], block.parameters
        if None not in p:
            return p
        open_p: list[Any] = [0.0 if x is None else x for x in p]
        if block.primitive == "distance":
            open_p[5] = 0.5  # then Phi = d.d
        states = [self.state(b) for b in block.bodies] + [self.state(None)] * (primitive.bodies - len(block.bodies))
        Phi = primitive.kernel(*states, tuple(open_p), (0.0, 0.0, 0.0))[0][0]
        value = float(primitive.from_drawn(Phi))
        return tuple(value if x is None else x for x in p)
