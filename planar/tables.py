"""Results as tables: wide or long, CSV without pandas, a DataFrame with it; the summary per joint."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.bodies import nearest
from planar.errors import ModelError, PlanarError

if TYPE_CHECKING:
    from planar.result import Result


FORMS = ("wide", "long")
LONG = ("time", "joint", "body", "component", "value", "unit", "label")


@dataclass(frozen=True)
class Quantity:
    """One history (nt,): of a body (joint ""), of a joint on a body, or the effort of a driver or actuator (body "").

    label   "unique" or "indeterminate" for a reaction, "" for what has no such question
    """

    joint: str
    body: str
    component: str
    values: np.ndarray
    unit: str
    label: str = ""

    @property
    def title(self) -> str:
        """Name of the column in a wide table."""
        if not self.joint:
            return f"{self.body}.{self.component} [{self.unit}]"
        on = f" on {self.body}" if self.body else ""
        mark = ", indeterminate" if self.label == "indeterminate" else ""
        return f"{self.joint}{on} {self.component} [{self.unit}{mark}]"


def quantities(result: Result) -> Iterator[Quantity]:
    """Everything that a result knows, in SI units and global axes: motions, then efforts, then reactions."""
    kinds = (("x", "m"), ("y", "m"), ("phi", "rad"))
    for k, body in enumerate(result.system.body_names):
        for prefix, values, per in (("", result.q, ""), ("v", result.v, "/s"), ("a", result.a, "/s^2")):
            if values is not None:
                for c, (word, unit) in enumerate(kinds):
                    yield Quantity("", body, f"{prefix}{word}", values[:, 3 * k + c], f"{unit}{per}")
    if result.lam is None:
        return
    for name, values, word in efforts(result):
        yield Quantity(name, "", word, values, effort_unit(result, name))
    for joint, body in pairs(result):
        R = result.reaction(joint, on=body)
        for c, (word, key) in enumerate((("Fx", "x"), ("Fy", "y"))):
            yield Quantity(joint.name, body.name, word, R.force[:, c], "N", R.labels[key])
        yield Quantity(joint.name, body.name, "couple", R.couple, "N m", R.labels["couple"])


def efforts(result: Result) -> Iterator[tuple[str, np.ndarray, str]]:
    """(name, values (nt,), word) of every driver, one per driven motion, and of every actuator."""
    for driver in (d for d in result.model.drivers if d.name in result.system.rows_of and d.name not in result.efforts):
        values = result.effort(driver).reshape(len(result), -1)
        for c in range(values.shape[1]):
            yield driver.name, values[:, c], f"effort {c + 1}" if values.shape[1] > 1 else "effort"
    for name, values in result.efforts.items():
        yield name, values, "actuator effort"


def effort_unit(result: Result, name: str) -> str:
    """Of a driver or actuator: N m for angles, N for lengths."""
    if name in result.units:
        return result.units[name]
    row = result.system.row_names[result.system.rows_of[name].start]
    return "N m" if row.rsplit(".", 1)[1] in ("angle", "phi") else "N"


def pairs(result: Result) -> Iterator[tuple[Any, Any]]:
    """Every joint with each of its bodies that moves."""
    for joint in (j for j in result.model.joints if j.name in result.system.rows_of):
        for body in dict.fromkeys(joint.bodies):
            if not body.is_ground:
                yield joint, body


def columns(result: Result) -> dict[str, np.ndarray]:
    """{"t [s]": ..., "crank.x [m]": ..., "B on coupler Fx [N]": ..., "motor effort [N m]": ...}; indeterminate: marked."""
    return {"t [s]": result.t, **{quantity.title: quantity.values for quantity in quantities(result)}}


def long_columns(result: Result) -> dict[str, Any]:
    """One row per time and quantity, the columns `LONG`; joint or body is "" where the quantity has none."""
    found, n = list(quantities(result)), len(result)
    out: dict[str, Any] = {"time": np.tile(result.t, len(found))}
    for word in ("joint", "body", "component"):
        out[word] = [getattr(quantity, word) for quantity in found for _ in range(n)]
    out["value"] = np.concatenate([np.zeros(0), *(quantity.values for quantity in found)])
    for word in ("unit", "label"):
        out[word] = [getattr(quantity, word) for quantity in found for _ in range(n)]
    return out


def _table(result: Result, form: str) -> dict[str, Any]:
    if form not in FORMS:
        raise ModelError(
            f"form is {form!r}; give 'wide' (a column per quantity) or 'long' (a row per time and quantity)"
        )
    return columns(result) if form == "wide" else long_columns(result)


def dataframe(result: Result, form: str = "wide") -> Any:
    """See `Result.to_dataframe`."""
    table = _table(result, form)
    try:
        import pandas
    except ImportError:
        raise PlanarError("to_dataframe needs pandas: pip install 'planar-mechanisms[pandas]', or use to_csv") from None
    return pandas.DataFrame(table)


def write_csv(result: Result, path: Any, form: str = "wide") -> None:
    """See `Result.to_csv`; 17 digits, so that reading gives the same numbers back."""
    table = _table(result, form)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(map(_cell, row) for row in zip(*table.values(), strict=True))


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else repr(float(value))


# --- summary per joint ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One joint on one body: peak of |force| in N with its time and direction, mean and rms, largest couple in N m.

    direction: angle in rad of the peak force in global axes; directions: the same in the frames of the bodies joined.
    """

    joint: str
    on: str
    peak: float
    t: float
    direction: float
    directions: dict[str, float]
    mean: float
    rms: float
    couple: float
    unique: bool


@dataclass(frozen=True)
class Summary:
    """What the pins carry: a row per joint and body; print it."""

    title: str
    rows: tuple[Row, ...]

    def __getitem__(self, joint: Any) -> Row:
        name = getattr(joint, "name", joint)
        for row in self.rows:
            if row.joint == name:
                return row
        raise ModelError(
            f"no row is named {name!r}; {nearest(str(name), list(dict.fromkeys(r.joint for r in self.rows)))}"
        )

    def __str__(self) -> str:
        head = f"{'joint':12s} {'on':12s} {'peak N':>11s} {'at t s':>9s} {'angle':>8s} {'in its frame':>12s} "
        head += f"{'mean N':>11s} {'rms N':>11s} {'couple N m':>11s}"
        lines = [self.title, head]
        for r in self.rows:
            own = np.degrees(r.directions.get(r.on, r.direction))
            lines.append(
                f"{r.joint[:12]:12s} {r.on[:12]:12s} {r.peak:11.5g} {r.t:9.4g} {np.degrees(r.direction):7.1f}° {own:11.1f}° "
                f"{r.mean:11.5g} {r.rms:11.5g} {r.couple:11.4g}{'' if r.unique else '  indeterminate: smallest values'}"
            )
        return "\n".join(lines)

    __repr__ = __str__


def summarize(result: Result, joint: Any = None) -> Summary:
    """See `Result.summary`."""
    from planar.reactions import constraint_of

    name = None if joint is None else constraint_of(result, joint).name
    rows = tuple(_row(result, j, b) for j, b in pairs(result) if name is None or j.name == name)
    return Summary(f"reactions of {result.model.name!r} ({result.analysis}, {len(result)} samples)", rows)


def _row(result: Result, joint: Any, body: Any) -> Row:
    R = result.reaction(joint, on=body)
    size = R.magnitude
    k = int(np.argmax(size)) if size.size else 0
    frames = {
        b.name: _angle(result.reaction(joint, on=body, frame=b).force[k]) for b in joint.bodies if not b.is_ground
    }
    return Row(
        joint.name,
        body.name,
        float(size[k]),
        float(result.t[k]),
        _angle(R.force[k]),
        frames,
        float(size.mean()),
        float(np.sqrt((size**2).mean())),
        float(np.abs(R.couple).max(initial=0.0)),
        R.unique,
    )


def _angle(F: np.ndarray) -> float:
    return float(np.arctan2(F[1], F[0]))
