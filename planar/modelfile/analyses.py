"""The analyses of a model file: what to compute, at which times, and how; `Analysis.run(model)` does it.

[analyses.cycle]
type = "inverse"       # kinematics, inverse, statics, equilibrium, simulate
t = "0:1:361"          # from 0 to 1 s, 361 samples
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.modelfile.formulas import BAD, Bad
from planar.modelfile.problems import near
from planar.modelfile.source import Key
from planar.modelfile.values import Values

if TYPE_CHECKING:
    from planar.model import Model
    from planar.result import Result

SAMPLES = 361  # where "0:1" does not say how many
MAX_SAMPLES = 1_000_000

#: kind -> its options and how they are read; "names" are joints and drivers of the model
OPTIONS: dict[str, dict[str, str]] = {
    "kinematics": {},
    "inverse": {"actuate": "names", "route": "word"},
    "statics": {},
    "equilibrium": {"find": "word", "start": "poses", "tol": "number"},
    "simulate": {
        "method": "word",
        "integrator": "word",
        "rtol": "number",
        "atol": "number",
        "step": "number",
        "first_step": "number",
        "max_step": "number",
        "gains": "numbers",
        "rho": "number",
        "index": "integer",
    },
}
TIMED = ("kinematics", "inverse", "simulate")  # need t


@dataclass(frozen=True)
class Times:
    """start to stop in s, `count` samples (None: as many as the analysis likes); or the given `values`."""

    start: float = 0.0
    stop: float = 0.0
    count: int | None = None
    values: tuple[float, ...] = ()

    def array(self, count: int = SAMPLES) -> np.ndarray:
        if self.values:
            return np.array(self.values)
        return np.linspace(self.start, self.stop, self.count or (count if self.stop != self.start else 1))

    @property
    def span(self) -> tuple[float, float]:
        return (self.values[0], self.values[-1]) if self.values else (self.start, self.stop)


@dataclass(frozen=True)
class Analysis:
    """kind, times, names that are left out of the model, and options of the function that does it."""

    kind: str
    t: Times = Times()
    without: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, model: Model) -> Result:
        """Compute it.  Statics with several times is a sweep over the poses of the kinematics."""
        import planar as pl

        m = model.without(*self.without) if self.without else model
        match self.kind:
            case "kinematics":
                return pl.kinematics(m, self.t.array())
            case "inverse":
                return pl.inverse_dynamics(m, self.t.array(), **self.options)
            case "statics":
                times = self.t.array()
                return pl.statics(m, pl.kinematics(m, times)) if times.size > 1 else pl.statics(m, t=float(times[0]))
            case "equilibrium":
                from planar.equilibrium import equilibrium

                options = dict(self.options)
                return equilibrium(m, options.pop("start", None), t=self.t.span[0], **options)
            case _:
                sampled = self.t.count or len(self.t.values) > 2
                options = {**self.options, **({"t_eval": self.t.array()} if sampled else {})}
                return pl.simulate(m, self.t.span, **options)


def read_analysis(values: Values, table: Any, key: Key, names: Mapping[str, str]) -> Analysis | Bad:
    """An analysis from its table; `names` are those of the model with their groups."""
    if not isinstance(table, dict):
        return values.wrong(key, table, "a table")
    kind = values.kind(table, OPTIONS, key, "analysis")
    if isinstance(kind, Bad):
        return BAD
    readers = {
        "names": lambda v, k: _names(values, v, k, names),
        "word": values.word,
        "number": values.number,
        "numbers": values.numbers,
        "integer": values.integer,
        "poses": lambda v, k: _poses(values, v, k),
    }
    fields = {name: value for name, value in table.items() if name != "type"}
    needs = ("t",) if kind in TIMED else ()
    sound = values.known_keys(fields, ("t", "without", *OPTIONS[kind]), key, kind, needs)
    options = {name: readers[how](table[name], (*key, name)) for name, how in OPTIONS[kind].items() if name in table}
    times = read_times(values, table.get("t", 0.0), (*key, "t"))
    without = _names(values, table.get("without", []), (*key, "without"), names)
    if not sound or any(isinstance(v, Bad) for v in (times, without, *options.values())):
        return BAD
    return Analysis(kind, times, tuple(without), options)  # type: ignore[arg-type]


def read_times(values: Values, value: Any, key: Key) -> Times | Bad:
    """ "0:1:361", "0:2*pi/omega", a list of times, or one time."""
    if isinstance(value, list):
        found = values.numbers(value, key, "s")
        if not isinstance(found, Bad) and not found:
            return values.wrong(key, value, "at least one time in s")
        return BAD if isinstance(found, Bad) else Times(values=tuple(found))
    parts = value.split(":") if isinstance(value, str) else [value]
    if len(parts) > 3:
        return values.wrong(key, value, '"start:stop:samples", such as "0:1:361"')
    numbers = [values.number(part, key, "s") for part in parts[:2]]
    count = values.number(parts[2], key, "1") if len(parts) == 3 else None
    if any(isinstance(v, Bad) for v in (*numbers, count)):
        return BAD
    if count is not None and not (count == int(count) and 1 <= count <= MAX_SAMPLES):
        return values.wrong(key, value, f"a whole number of samples from 1 to {MAX_SAMPLES}")
    return Times(numbers[0], numbers[-1], None if count is None else int(count))  # type: ignore[arg-type]


def _names(values: Values, value: Any, key: Key, known: Mapping[str, str]) -> list[str] | Bad:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        return values.wrong(key, value, 'names, such as ["motor"]')
    unknown = [name for name in listed if name not in known]
    for name in unknown:
        values.problems.add(key, f"nothing is named {name[:60]!r}, {near(name, known)}", value)
    return BAD if unknown else listed


def _poses(values: Values, value: Any, key: Key) -> Any:
    """{ crank = "30 deg", slider = [0.4, 0, 0] }: angles, or x, y and phi, of some bodies."""
    if not isinstance(value, dict):
        return values.wrong(key, value, 'poses { crank = "30 deg", slider = [0.4, 0, 0] }')
    found = {}
    for name, pose in value.items():
        body = values.body(name, (*key, name))
        coordinates = isinstance(pose, list)
        read = values.numbers(pose, (*key, name)) if coordinates else values.number(pose, (*key, name), "rad")
        if coordinates and not isinstance(read, Bad) and len(read) != 3:
            read = values.wrong((*key, name), pose, "[x, y, phi], or an angle")
        found[name] = BAD if isinstance(body, Bad) else tuple(read) if isinstance(read, list) else read
    return BAD if any(isinstance(v, Bad) for v in found.values()) else found
