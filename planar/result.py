"""What an analysis returns: time histories with lookup by object or name.

Time runs along the first axis.  Everything is SI, radians, global axes unless a frame is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.errors import ModelError
from planar.state import State

if TYPE_CHECKING:
    from planar.certificate import Certificate
    from planar.energy import Energy
    from planar.reactions import Reaction
    from planar.system import Constraints, System
    from planar.tables import Summary


@dataclass(frozen=True)
class Event:
    """Something that happened at time t s: kind is "limit", "singular", "near-singular" or what the user named it.

    angle: angle in rad of the first driven or first body then, nan where none is meant; joint: the row most involved;
    smallest: the smallest singular value of the scaled Jacobian there (0 = singular, of order 1 = healthy).
    """

    kind: str
    t: float
    angle: float = float("nan")
    joint: str = ""
    smallest: float = float("nan")
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"{self.kind} at t = {self.t:g} s"


class Result(State):
    """Positions q, velocities v, accelerations a (nt, nq), multipliers lam (nt, nc), at the times t (nt,) s.

    analysis   "kinematics", "inverse dynamics", "statics", "simulate", ...
    success, message, events   as in scipy; a result that stopped early holds what was computed before
    loads      generalised forces (nt, nq) beside those of the model, by name: actuators, radial tooth forces
    efforts, rates   (nt,) of actuators by name: N m and rad/s, or N and m/s; units: of these efforts, "N m" or "N"
    unique     (nt, nc) bool: the multiplier of this row is determined (not one of a family)
    """

    def __init__(
        self,
        system: System,
        t: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray | None = None,
        lam: np.ndarray | None = None,
        *,
        analysis: str,
        success: bool = True,
        message: str = "",
        events: Sequence[Event] = (),
        notes: Sequence[str] = (),
        loads: dict[str, np.ndarray] | None = None,
        actuators: dict[str, tuple[np.ndarray, np.ndarray]] | None = None,
        unique: np.ndarray | None = None,
        work: np.ndarray | None = None,
    ):
        super().__init__(system, t, q, v, a)
        self.lam, self.analysis = lam, analysis
        self.success, self.message = success, message
        self.events, self.notes = list(events), list(notes)
        self.loads, self.integrated_work = loads or {}, work
        self._unique: np.ndarray | None = None
        if unique is not None:
            self.label_unique(unique)
        self.efforts = {name: effort for name, (effort, _) in (actuators or {}).items()}
        self.rates = {name: rate for name, (_, rate) in (actuators or {}).items()}
        self.units: dict[str, str] = {}

    @property
    def model(self) -> Any:
        return self.system.model

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{len(self)} samples, t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self) else "no sample"
        state = "" if self.success else f", stopped: {self.message}"
        shared = self.indeterminate
        label = f", indeterminate: {', '.join(shared)}" if shared else ""
        return f"<{self.analysis} of {self.system.model.name!r}: {span}{label}{state}>"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows: the first sample of a small mechanism."""
        from planar.plot.mechanism import picture

        return picture(self, "svg", title=repr(self)[1:-1])

    def _repr_png_(self) -> bytes | None:
        """The same for a large one."""
        from planar.plot.mechanism import picture

        return picture(self, "png", title=repr(self)[1:-1])

    # --- the equations at the samples --------------------------------------------------------------------------------

    @cached_property
    def equations(self) -> Constraints:
        """Phi, Phi_q, nu, gamma at every sample."""
        return self.system.constraints(self.t, self.q, self.v)

    @property
    def Phi_q(self) -> np.ndarray:
        return self.equations.Phi_q

    @property
    def nu(self) -> np.ndarray:
        return self.equations.nu

    # --- forces ------------------------------------------------------------------------------------------------------

    @property
    def multipliers(self) -> np.ndarray:
        """lam (nt, nc), or an error for an analysis without forces."""
        if self.lam is None:
            raise ModelError(
                f"{self.analysis} knows no forces; use pl.inverse_dynamics, pl.statics or pl.simulate", repr(self.model)
            )
        return self.lam

    @property
    def unique(self) -> np.ndarray:
        """(nt, nc) bool: False where the multiplier is one of many that keep the balance (the smallest is given)."""
        if self._unique is None:
            return np.ones((len(self), self.system.nc), bool)
        return self._unique

    def label_unique(self, unique: np.ndarray) -> None:
        """Take the labels (nt, nc) of the rows."""
        self._unique = None if unique.all() else np.broadcast_to(unique, (len(self), self.system.nc))

    @property
    def indeterminate(self) -> list[str]:
        """Names of the joints and drivers whose reactions are not unique at some sample."""
        if self._unique is None:
            return []
        rows = ~self._unique.all(axis=0)
        return [name for name, part in self.system.rows_of.items() if rows[part].any()]

    def reaction(self, joint: Any, on: Any = None, *, frame: Any = None, at: Any = None) -> Reaction:
        """What the joint does to the body `on` (left out: its second body): force, couple, point of action.

        frame: a body whose axes the components are given in (left out: global); at: a point the couple is moved to.
        """
        from planar.reactions import reaction

        return reaction(self, joint, on, frame=frame, at=at)

    def effort(self, driver: Any) -> np.ndarray:
        """(nt,) N m or N: what the driver or actuator must give, positive along its motion."""
        from planar.reactions import effort

        return effort(self, driver)

    def power(self, driver: Any) -> np.ndarray:
        """(nt,) W that the driver or actuator puts into the mechanism."""
        from planar.reactions import power

        return power(self, driver)

    def shaking(self, about: Any = (0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
        """(force (nt, 2) N, moment (nt,) N m about a ground point): what the mechanism does to ground."""
        from planar.reactions import shaking

        return shaking(self, about)

    def summary(self, joint: Any = None) -> Summary:
        """Peak, mean, rms and direction of the peak per joint (or of one), in global and body frames."""
        from planar.tables import summarize

        return summarize(self, joint)

    # --- energy, checks, output --------------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> Energy:
        """kinetic, potential, total (nt,) J, the work done on the mechanism, and the drift of the balance."""
        from planar.energy import energy

        return energy(self)

    def check(self, **tolerances: float) -> Certificate:
        """Residuals of every law; raises `CheckError` naming the worst body or joint where one is broken."""
        return self.certify(**tolerances).enforce()

    @property
    def certificate(self) -> Certificate:
        """The same without raising."""
        return self.certify()

    def certify(self, **tolerances: float) -> Certificate:
        from planar.certificate import certify

        return certify(self, **tolerances)

    def to_dataframe(self, form: str = "wide") -> Any:
        """A pandas table, by default a column per quantity: t, crank.x, crank.y, crank.phi, ..., B on coupler Fx, motor effort.

        form="long": a row per time and quantity, with the columns time, joint, body, component, value, unit, label
        (label: "unique" or "indeterminate" for reactions).
        """
        from planar.tables import dataframe

        return dataframe(self, form)

    def to_csv(self, path: Any, form: str = "wide") -> None:
        """The same columns as a CSV file (no pandas needed)."""
        from planar.tables import write_csv

        write_csv(self, path, form)

    def to_latex(self) -> str:
        """Efforts and reactions (of a result without forces: the motion) as LaTeX tables, names escaped; no package needed."""
        from planar.report.latex import tables

        return tables(self)
