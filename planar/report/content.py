"""Everything that the template asks for: tables, charts, words, the picture."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.certificate import HELD
from planar.diagnosis import Diagnosis, diagnose_at
from planar.errors import PlanarError
from planar.plot.frames import Frames
from planar.plot.scene import Scene
from planar.plot.symbols.forces import add_reactions
from planar.report import figures, sections
from planar.report.balance import FreeBody, free_bodies
from planar.report.charts import CURVES, Chart, Charts
from planar.report.numbers import number
from planar.report.sections import Table
from planar.report.sizes import sizes
from planar.report.timeline import MOST, Timeline
from planar.summary import tables as model_tables
from planar.tables import efforts

if TYPE_CHECKING:
    from planar.result import Result

JOINTS = 30  # joints with charts of their own; the table names all
BODIES = 24  # bodies with a free-body diagram
NUMBERS = 300_000  # in the data of the moving parts: about 2 MB


class Content:
    """The report of a result; `at`: x of the sample that is shown first and printed, None: where the largest reaction is."""

    def __init__(self, result: Result, at: float | None = None):
        self.result, self.model = result, result.model
        self.forces, self.held = result.lam is not None, result.analysis in HELD
        self.scene = Scene(Frames.of(result))
        if self.forces:
            add_reactions(self.scene, True)
        self.free: list[FreeBody] = free_bodies(result, BODIES) if self.forces else []
        reactions = [result.reaction(joint).magnitude for joint in self.model.joints] if self.forces else []
        others = [values for _, values, _ in efforts(result)] if self.forces else []
        most = int(np.clip(NUMBERS // self._numbers_per_frame(), 2, MOST))
        self.timeline = Timeline(result, self.scene.frames, reactions, others, at=at, most=most)
        self.charts, self.sizes = Charts(self.timeline), sizes(result)
        self._collect()

    def _numbers_per_frame(self) -> int:
        first = self.scene.frames.sample(0)
        moving = sum(outline.size for part in self.scene.parts if part.follow for outline in part.at(first))
        return 3 * len(self.scene.shapes) + moving + sum(6 * (1 + len(free.terms)) for free in self.free)

    def _collect(self) -> None:
        """In the order of the page."""
        result, charts, size = self.result, self.charts, self.sizes
        self.picture = self._picture()
        self.model_tables = [Table(title, ("name", *head[1:]), rows) for title, head, rows in model_tables(self.model)]
        self.diagnosis, self.words = self._diagnose()
        self.motion = sections.motion(result) if len(result) > 1 else sections.poses(result)
        moving = self._most_moving()
        self.motion_charts = figures.motion(result, charts, size, moving)
        self.motion_note = "" if len(moving) == result.system.nb else f"Curves of the {CURVES} bodies that move most."
        self.modes = sections.modes(result)
        self.drives = self.joints = self.shaking = None
        if self.forces:
            self.drives = sections.drives(result)
            self.drive_charts = figures.drives(result, charts, size)
            self.joints = sections.joints(result, size)
            self.joint_details, self.joint_note = self._joint_details()
            self.shaking = sections.shaking(result, size)
            self.shaking_charts = figures.shaking(result, charts, size)
        self.free_tables = [sections.free_body(free, self.chosen_sample) for free in self.free]
        self.energy = sections.energy(result) if result.a is not None else None
        self.energy_charts: list[Chart] = figures.energy(result, charts) if result.a is not None else []
        self.certificate = result.certificate
        self.laws = sections.certificate(self.certificate)
        self.figures = self._figures()

    # --- the instant that is shown first -------------------------------------------------------------------------------

    @property
    def chosen_sample(self) -> int:
        """Its number in the order of the result."""
        k = self.timeline.chosen
        return len(self.result) - 1 - k if self.scene.frames.flipped else k

    @property
    def clock(self) -> str:
        return self.timeline.clock(self.timeline.x[self.timeline.chosen])

    # --- pieces ------------------------------------------------------------------------------------------------------

    @property
    def span(self) -> str:
        t, n = self.result.t, len(self.result)
        if n == 1:
            return f"at t = {t[0]:g} s"
        return f"{n} poses at t = {t[0]:g} s" if self.timeline.sweep else f"{n} samples, t = {t[0]:g} .. {t[-1]:g} s"

    def _picture(self) -> str:
        """The mechanism with the names of its parts, as the address of an image."""
        import matplotlib

        from planar.plot import canvas, mechanism

        ax = mechanism(self.result, index=self.chosen_sample, reactions=self.forces, title="")
        with matplotlib.rc_context({"svg.hashsalt": "planar"}):  # the same result gives the same file
            svg = canvas.to_bytes(ax.figure, "svg", metadata={"Date": None, "Creator": None})
        return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()

    def _diagnose(self) -> tuple[Diagnosis | None, list[tuple[int, str]]]:
        """The diagnosis at the first sample, and its sentences with their indent."""
        try:
            found = diagnose_at(self.result.system, float(self.result.t[0]), self.result.q[0])
        except PlanarError as error:
            return None, [(0, f"not known: {error}")]
        return found, [((len(line) - len(line.lstrip())) // 2, line.strip()) for line in found.lines()]

    def _most_moving(self) -> list[str]:
        """Names of the bodies that move most, as many as a chart has line styles."""
        result, names = self.result, list(self.result.system.body_names)
        if len(names) <= CURVES:
            return names
        x, y, phi = np.ptp(result.q.reshape(len(result), -1, 3), axis=0).T
        moved = np.maximum(np.hypot(x, y), result.system.length * phi)
        return [names[k] for k in sorted(np.argsort(-moved, kind="stable")[:CURVES])]

    def _joint_details(self) -> tuple[list[Any], str]:
        """(joint, table, charts) of every joint, or of those that carry most, and a note if they are not all."""
        joints = self.model.joints
        if len(joints) > JOINTS:
            peaks = {joint.name: self.result.reaction(joint).magnitude.max() for joint in joints}
            joints = sorted(sorted(joints, key=lambda j: -peaks[j.name])[:JOINTS], key=joints.index)
        details = [
            SimpleNamespace(
                joint=joint,
                kind=type(joint).__name__,
                table=sections.joint(self.result, joint, self.sizes),
                charts=figures.joint(self.result, self.charts, self.sizes, joint),
            )
            for joint in joints
        ]
        some = len(joints) < len(self.model.joints)
        return details, f"Below, the {JOINTS} joints with the largest forces." if some else ""

    def _figures(self) -> list[tuple[str, str, str]]:
        """(what, value, where): the numbers that a reader wants first."""
        found, d, moves = [], self.diagnosis, self.timeline.moves
        if d is not None:
            acting = f"{d.dof_driven} with the drivers acting" if d.driver_rows else "no drivers"
            found.append(("degrees of freedom", str(d.dof), acting))
        if hasattr(self.result, "stability"):
            found.append(("equilibrium", self.result.stability, self.result.message.split(", ", 1)[-1]))
        if not self.forces and moves:
            found += self._fastest()
        word = "peak" if moves else "holding" if self.held else ""
        for name, unit, peak, at, *_ in self.drives.rows[:2] if self.drives else []:
            found.append((f"{word} effort of {name}".strip(), f"{number(peak)} {unit}", f"at {at}"))
        if self.joints is not None and self.joints.rows:
            row = max(self.joints.rows, key=lambda row: row[2])
            where = f"{row[0]} on {row[1]}" + (f", {row[3]}" if moves else "")
            found.append(("largest joint force", f"{number(row[2])} N", where))
        if self.shaking is not None:
            _, peak, at, *_ = self.shaking.rows[0]
            what = "largest force on ground" if moves else "force on ground"
            found.append((what, f"{number(peak)} N", f"at {at}"))
        return found

    def _fastest(self) -> list[tuple[str, str, str]]:
        found = []
        for what, k, unit in (("largest speed", 4, "m/s"), ("largest acceleration", 8, "m/s²")):
            if k < len(self.motion.head):
                row = max(self.motion.rows, key=lambda row: row[k])
                found.append((what, f"{number(row[k])} {unit}", f"centre of mass of {row[0]}, {row[k + 1]}"))
        return found
