"""Results as tables: columns by name, CSV without pandas, a DataFrame with it; the summary per joint."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from planar.result import Result


def columns(result: Result) -> dict[str, np.ndarray]:
    """{"t [s]": ..., "crank.x [m]": ..., "B on coupler Fx [N]": ..., "motor effort [N m]": ...}; indeterminate: marked."""
    out: dict[str, np.ndarray] = {"t [s]": result.t}
    kinds = (("x", "m"), ("y", "m"), ("phi", "rad"))
    for k, body in enumerate(result.system.body_names):
        for prefix, values, per in (("", result.q, ""), ("v", result.v, "/s"), ("a", result.a, "/s^2")):
            if values is not None:
                for c, (word, unit) in enumerate(kinds):
                    out[f"{body}.{prefix}{word} [{unit}{per}]"] = values[:, 3 * k + c]
    if result.lam is not None:
        for driver in result.model.drivers:
            effort = result.effort(driver).reshape(len(result), -1)
            for c in range(effort.shape[1]):
                suffix = f" {c + 1}" if effort.shape[1] > 1 else ""
                out[f"{driver.name} effort{suffix} [{effort_unit(result, driver.name)}]"] = effort[:, c]
        for name in result.efforts:
            out[f"{name} actuator effort"] = result.efforts[name]
        for joint, body in _pairs(result):
            R = result.reaction(joint, on=body)
            for word, values, unit in (
                ("Fx", R.force[:, 0], "N"),
                ("Fy", R.force[:, 1], "N"),
                ("couple", R.couple, "N m"),
            ):
                label = R.labels[{"Fx": "x", "Fy": "y"}.get(word, word)]
                mark = "" if label == "unique" else ", indeterminate"
                out[f"{joint.name} on {body.name} {word} [{unit}{mark}]"] = values
    return out


def effort_unit(result: Result, driver: str) -> str:
    """N m for angles, N for lengths."""
    row = result.system.row_names[result.system.rows_of[driver].start]
    return "N m" if row.rsplit(".", 1)[1] in ("angle", "phi") else "N"


def _pairs(result: Result) -> Iterable[tuple[Any, Any]]:
    for joint in result.model.joints:
        for body in dict.fromkeys(joint.bodies):
            if not body.is_ground:
                yield joint, body


def dataframe(result: Result) -> Any:
    """See `Result.to_dataframe`."""
    try:
        import pandas
    except ImportError:
        from planar.errors import PlanarError

        raise PlanarError("to_dataframe needs pandas: pip install 'planar-mechanisms[pandas]', or use to_csv") from None
    return pandas.DataFrame(columns(result))


def write_csv(result: Result, path: Any) -> None:
    """See `Result.to_csv`; 17 digits, so that reading gives the same numbers back."""
    table = columns(result)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(map(repr, map(float, row)) for row in zip(*table.values(), strict=True))


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
        raise KeyError(name)

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
    name = getattr(joint, "name", joint)
    rows = tuple(_row(result, j, b) for j, b in _pairs(result) if name is None or j.name == name)
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
