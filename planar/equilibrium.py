"""equilibrium(model): the pose in which a mechanism with free motions rests under its loads, and how it rests there.

Drivers hold where they are at time t.  By default the search goes downhill, so with loads that have a potential (weights,
springs, constant forces) it ends in a stable equilibrium: one that it meets on the way and finds unstable is left along
its unstable mode.  ``find="nearest"`` is Newton's method alone and ends in equilibria of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from planar.descent import Landscape, Place, descend, leave, newton
from planar.errors import AssemblyError, ConvergenceError, ModelError, SingularError
from planar.linearize import Linearization
from planar.mobility import metric, unique_rows
from planar.model import Model
from planar.modes import Mode
from planar.multipliers import transposed_solver
from planar.poses import pose
from planar.projection import Projector
from planar.result import Result
from planar.system import System, compile
from planar.tangents import held
from planar.tooth import with_radial_loads

ESCAPES = 10  # unstable equilibria that are left on the way downhill


class Equilibrium(Result):
    """One sample at rest: q, lam, reaction(), effort(), check() as of every result, and

    stability      "stable", "unstable", "neutral" (some motion meets no resistance), or "undetermined" in a singular pose
    stable         bool
    modes          natural modes, slowest first: `.hertz`, `.omega`, `.shape`, `["body"]`
    linearization  M, C, K, eigenvalues about the pose (`planar.linearize`)
    residual       largest force out of balance, N (couples over a typical length); iterations
    """

    def __init__(
        self, system: System, t: float, place: Place, iterations: int, notes: Sequence[str], modes: int | None
    ):
        notes, still = list(notes), np.zeros((1, system.nq))
        self.iterations, self.residual = iterations, place.worst
        self._linearization: Linearization | SingularError
        try:
            self._linearization = Linearization(system, t, place.q, still[0], modes=modes, resting=True)
            self.stability = self._linearization.stability
            notes += [note for note in self._linearization.notes if note not in notes]
            if not self._linearization.n:
                notes.append("there is no free motion: the constraints hold every body")
        except SingularError as error:
            self._linearization, self.stability = error, "undetermined"
            notes.append(str(error))
        q = place.q[None]
        solve = transposed_solver(system, place.Phi_q[None], q, free=True)
        lam, loads = with_radial_loads(system, q, solve(place.Q[None]), solve)
        super().__init__(
            system,
            np.array([t]),
            q,
            still,
            still.copy(),
            lam,
            analysis="equilibrium",
            message=f"{self.stability} equilibrium, out of balance by {place.worst:.1e} N after {iterations} iterations",
            notes=notes,
            loads=loads,
            unique=unique_rows(system, place.Phi_q)[None],
        )

    @property
    def stable(self) -> bool:
        return self.stability == "stable"

    @property
    def linearization(self) -> Linearization:
        if isinstance(self._linearization, SingularError):
            raise self._linearization
        return self._linearization

    @property
    def modes(self) -> list[Mode]:
        return self.linearization.modes

    def pose(self, body: Any) -> np.ndarray:
        """(x, y, phi) of a body, m and rad."""
        view = self[body]
        return np.array([*view.r[0], view.phi[0]])

    def __repr__(self) -> str:
        return f"<{self.message} of {self.system.model.name!r}>"

    def __str__(self) -> str:
        lines = [f"{self.system.model.name}: {self.message}", "  body              x [m]       y [m]    phi [deg]"]
        for name in self.system.body_names[:20]:
            x, y, phi = self.pose(name)
            lines.append(f"  {name:<12} {x:11.6g} {y:11.6g} {np.degrees(phi):12.6g}")
        if self.system.nb > 20:
            lines.append(f"  and {self.system.nb - 20} more bodies")
        if self.stability != "undetermined":
            lines += str(self._linearization).splitlines()[1:]
        seen = "\n".join(lines)
        return "\n".join([seen] + [f"  {note}" for note in self.notes if note not in seen])


def equilibrium(
    model: Model | System,
    start: Any = None,
    *,
    t: float = 0.0,
    find: str = "stable",
    tol: float = 1e-9,
    iterations: int = 300,
    modes: int | None = None,
) -> Equilibrium:
    """The rest pose of a mechanism.

    start       None: the drawn pose; {body: phi} or {body: (x, y, phi)}, to which the assembled mechanism is led; an array
                (nq,); or a result or assembly
    t           time in s at which drivers hold and loads are taken
    find        "stable": downhill (a minimum of the potential if the loads have one); "nearest": Newton's method alone, which
                also ends in unstable equilibria when it is started near one
    tol         largest force out of balance, as a part of the largest load or reaction; iteration goes on to rounding
    modes       how many natural modes to work out (default all, 10 of a large system)

    Raises `ConvergenceError` where no equilibrium is found, with the body that is most out of balance or that runs away.
    """
    if find not in ("stable", "nearest"):
        raise ModelError(f"find is {find!r}; give 'stable' or 'nearest'")
    system = held(model if isinstance(model, System) else compile(model), t)
    notes: list[str] = []
    return _search(system, t, pose(system, start, t, notes), find, tol, iterations, modes, notes)


def _search(
    system: System, t: float, q: np.ndarray, find: str, tol: float, iterations: int, modes: int | None, notes: list[str]
) -> Equilibrium:
    land = Landscape(system, t, tol)
    place, count = land.place(q), 0
    for _ in range(ESCAPES + 1):
        place, used = (newton if find == "nearest" else descend)(land, place, iterations)
        count += used
        found = Equilibrium(system, t, place, count, [*notes, *land.notes], modes)
        if find == "nearest" or found.stability == "undetermined":
            break
        away = found.linearization.downhill()
        lower = None if away is None else leave(land, place, away)
        if lower is None:
            break
        notes.append("an unstable equilibrium on the way was left along its unstable mode")
        place = lower
    return found


def equilibria(
    model: Model | System,
    starts: Iterable[Any] | int = 24,
    *,
    t: float = 0.0,
    find: str = "all",
    tol: float = 1e-9,
    iterations: int = 300,
    modes: int | None = None,
) -> list[Equilibrium]:
    """The different equilibria that are reached from several starts, each once (whole turns do not count).

    starts   what `equilibrium` takes as start, several of them, e.g. [{crank: a} for a in np.linspace(0, 2 * np.pi, 24)]; or
             a number of random poses on the constraints, the drawn one first (the same ones in every run)
    find     "all": Newton's method and descent from each start, so that unstable ones appear as well; "stable"; "nearest"

    There is no proof that these are all.  Starts from which nothing is found are left out; if that is every one of them the
    last error is raised.
    """
    if find not in ("all", "stable", "nearest"):
        raise ModelError(f"find is {find!r}; give 'all', 'stable' or 'nearest'")
    system = held(model if isinstance(model, System) else compile(model), t)
    if isinstance(starts, (int, np.integer)):
        starts = _scattered(system, t, int(starts))
    found: list[Equilibrium] = []
    failure: Exception = ModelError("starts: there is none; give at least one")
    for start in starts:
        for way in ("nearest", "stable") if find == "all" else (find,):
            notes: list[str] = []
            try:
                eq = _search(system, t, pose(system, start, t, notes), way, tol, iterations, modes, notes)
            except (ConvergenceError, AssemblyError) as error:
                failure = error
                continue
            if not any(_same(system, eq.q[0], other.q[0]) for other in found):
                found.append(eq)
    if not found:
        raise failure
    return found


def _scattered(system: System, t: float, n: int) -> list[np.ndarray]:
    """n closed poses: the drawn one, and the ends of random walks from it along the free motions."""
    q0 = pose(system, None, t, [])
    land = Landscape(system, t, 1.0)
    projector, generator, out = Projector(system, metric(system)), np.random.default_rng(0), [q0]
    while len(out) < n:
        place = land.place(q0)
        push = generator.normal(size=system.nq)
        for _ in range(generator.integers(2, 12)):
            u = projector.step(place.Phi_q, np.zeros(system.nc), toward=push * land.unit) / land.unit
            size = np.abs(u).max(initial=0.0)
            if size < 1e-9:
                break
            place = land.move(place, land.unit * u * (0.5 * system.length / size)) or place
        out.append(place.q)
    return out


def _same(system: System, a: np.ndarray, b: np.ndarray) -> bool:
    """Equal poses up to whole turns, to a part in 1e6: far more than the error of either."""
    d = (a - b).reshape(-1, 3).copy()
    d[:, 2] = system.length * (np.remainder(d[:, 2] + np.pi, 2 * np.pi) - np.pi)
    return bool(np.abs(d).max(initial=0.0) < 1e-6 * system.length)
