"""planar run: do the analyses, print what came out, write CSV."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.commands import show
from planar.commands.analysis import analysis_arguments, chosen
from planar.commands.analysis import run as run_analysis
from planar.commands.command import Command, json_argument, model_arguments, read_model, stem, writable

if TYPE_CHECKING:
    from planar.result import Result

ROWS = 40  # of a table in the terminal; the CSV has everything


def _arguments(parser: argparse.ArgumentParser) -> None:
    model_arguments(parser)
    analysis_arguments(parser)
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path("."), help="where CSV files go (default: here)"
    )
    parser.add_argument("--no-csv", action="store_true", help="write no file")
    parser.add_argument("--form", choices=("wide", "long"), default="wide", help="a column, or a row, per quantity")
    json_argument(parser)


def _run(args: argparse.Namespace) -> int:
    file = read_model(args)
    ok, data = True, []
    for name, analysis in chosen(args, file).items():
        result = run_analysis(file.model, name, analysis, args.json)
        path = None if args.no_csv else args.out / f"{stem(args)}-{safe(name)}.csv"
        if path is not None:
            result.to_csv(writable(path), args.form)
        certificate = result.certificate
        ok = ok and result.success and certificate.ok
        if args.json:
            data.append({"name": name, "csv": None if path is None else str(path), **summary_data(result)})
        else:
            print_result(name, result)
            if path is not None:
                print(f"wrote {path}: {len(result)} sample{'s' * (len(result) != 1)}\n")
    if args.json:
        show.print_json({"model": file.model.name, "ok": ok, "analyses": data})
    return 0 if ok else 1


def safe(name: str) -> str:
    """A name as part of a file name: no separators, no hidden files."""
    return "".join(c if c.isalnum() or c in "-_ " else "_" for c in name)[:60].strip() or "_"


# --- terminal --------------------------------------------------------------------------------------------------------------


def print_result(name: str, result: Result) -> None:
    """What a result says, as tables."""
    t = result.t
    span = f"t = {t[0]:g} s" if len(t) == 1 else f"t = {t[0]:g} .. {t[-1]:g} s, {len(t)} samples"
    print(f"{result.model.name}, {name}: {result.analysis}, {span}")
    if not result.success:
        print(f"STOPPED: {result.message}")
    for line in [*result.notes, *map(str, result.events)]:
        print(f"  {line}")
    print()
    if result.analysis == "equilibrium":
        print(f"{result}\n")
    else:
        _limited("motion", MOTION, _motion_rows(result))
    if result.lam is not None:
        _limited("efforts, positive along the motion", EFFORT, [[*e.values()] for e in efforts(result)], left=2)
        rows = [_reaction_row(r, result.system.length) for r in reactions(result)]
        _limited("reactions on the bodies, angles in global axes", REACTION, rows, left=2)
        if any(row[-1] for row in rows):
            print(f"{INDETERMINATE}\n")
    if result.analysis == "simulate":
        drift = float(np.abs(result.energy.drift).max(initial=0.0))
        print(f"energy: balance kept to {drift:.1e} J of at most {np.abs(result.energy.total).max():.4g} J")
    certificate = result.certificate
    print(_verdict(certificate) if certificate.ok else certificate)


def _verdict(certificate: Any) -> str:
    worst = certificate.worst
    return f"all laws hold; nearest to its tolerance: {worst.law}, {worst.relative:.1e} of {worst.tolerance:.0e}"


def _limited(title: str, heads: tuple[str, ...], rows: list[list[Any]], left: int = 1) -> None:
    if rows:
        show.table(title, heads, rows[:ROWS], left)
    if len(rows) > ROWS:
        print(f"  and {len(rows) - ROWS} more\n")


MOTION = (
    "body",
    "x from\nm",
    "to\nm",
    "y from\nm",
    "to\nm",
    "phi from\ndeg",
    "to\ndeg",
    "v max\nm/s",
    "omega max\nrad/s",
)
EFFORT = ("name", "unit", "peak", "at t\ns", "mean", "rms")
REACTION = ("joint", "on", "peak\nN", "at t\ns", "angle\ndeg", "mean\nN", "rms\nN", "couple\nN m", "")
INDETERMINATE = "indet.: indeterminate, redundant joints share this load; the smallest values are given"


def _motion_rows(result: Result) -> list[list[Any]]:
    found, length = motions(result), result.system.length
    speed, omega = (max((m[word] for m in found), default=0.0) for word in ("speed", "omega"))
    rows = []
    for m in found:
        places = [_round(x, length) for x in (*m["x"], *m["y"])]
        angles = [np.degrees(_round(a, 1.0)) for a in m["phi"]]
        rows.append(
            [m["body"], *places, *angles, _round(m["speed"], speed), _round(m["omega"], omega + speed / length)]
        )
    return rows


def _round(x: float, scale: float) -> float:
    """Zero for what is round-off of something of this size."""
    return x if abs(x) > 1e-12 * scale else 0.0


def _reaction_row(r: dict[str, Any], length: float) -> list[Any]:
    angle = np.degrees(r["direction"]) if r["peak"] else np.nan
    couple = (
        r["couple"] if r["couple"] > 1e-12 * r["peak"] * length else 0.0
    )  # else round-off of the force times its arm
    numbers = [r["peak"], r["t"], angle, r["mean"], r["rms"], couple]
    return [r["joint"], r["on"], *numbers, "" if r["unique"] else "indet."]


# --- data ------------------------------------------------------------------------------------------------------------------


def motions(result: Result) -> list[dict[str, Any]]:
    """Range of the pose and largest speeds of every body, SI."""
    found = []
    for k, name in enumerate(result.system.body_names):
        q, v = result.q[:, 3 * k : 3 * k + 3], result.v[:, 3 * k : 3 * k + 3]
        x, y, phi = ((float(c.min()), float(c.max())) for c in q.T)
        speed, omega = float(np.hypot(v[:, 0], v[:, 1]).max()), float(np.abs(v[:, 2]).max())
        found.append({"body": name, "x": x, "y": y, "phi": phi, "speed": speed, "omega": omega})
    return found


def efforts(result: Result) -> list[dict[str, Any]]:
    """Signed peak with its time, mean and rms of every actuator, or of every driver where there is none."""
    from planar.tables import effort_unit
    from planar.tables import efforts as histories

    found = []
    for name, values, word in histories(result):
        if result.efforts and name not in result.efforts:
            continue  # an actuator does its work
        k = int(np.argmax(np.abs(values)))
        label = name if word in ("effort", "actuator effort") else f"{name} {word.removeprefix('effort ')}"
        numbers = {"peak": values[k], "t": result.t[k], "mean": values.mean(), "rms": np.sqrt((values**2).mean())}
        found.append({"name": label, "unit": effort_unit(result, name), **{w: float(x) for w, x in numbers.items()}})
    return found


def reactions(result: Result) -> list[dict[str, Any]]:
    """Per joint and body: peak, its time and direction, mean, rms, largest couple, whether it is unique."""
    words = ("joint", "on", "peak", "t", "direction", "mean", "rms", "couple", "unique")
    return [{word: getattr(row, word) for word in words} for row in result.summary().rows]


def summary_data(result: Result) -> dict[str, Any]:
    """A result for machines, SI and radians."""
    certificate = result.certificate
    checks = {
        c.law: {"relative": c.relative, "tolerance": c.tolerance, "ok": c.ok, "where": c.where}
        for c in certificate.checks
    }
    data: dict[str, Any] = {
        "analysis": result.analysis,
        "success": result.success,
        "message": result.message,
        "notes": result.notes,
        "events": [{"kind": e.kind, "t": e.t, "joint": e.joint, "text": str(e)} for e in result.events],
        "samples": len(result),
        "t": [float(result.t[0]), float(result.t[-1])],
        "motions": motions(result),
        "certificate": {"ok": certificate.ok, "checks": checks},
    }
    if result.lam is not None:
        data |= {"efforts": efforts(result), "reactions": reactions(result)}
    if result.analysis == "equilibrium":
        data["stability"] = result.stability  # type: ignore[attr-defined]
    if result.analysis == "simulate":
        data["energy_drift"] = float(np.abs(result.energy.drift).max(initial=0.0))
    return data


RUN = Command(
    "run",
    help="do the analyses of a model file; tables here, everything as CSV",
    run=_run,
    arguments=_arguments,
    description="Do the analyses in the file, or the one that --analysis asks for. Prints motion, driving efforts and "
    "reactions, and writes every quantity at every sample as CSV. Exit code 0 if everything was computed and all laws of "
    "mechanics hold, 1 if not.",
    examples=(
        "planar run my.toml",
        "planar run my.toml --set coupler=0.35 --set crank.mass=2",
        "planar run my.toml --analysis inverse --t 0:1:361 --out results",
        "planar run my.toml --analysis simulate --t 0:5:501 --without motor",
        "planar run my.toml --json --no-csv",
    ),
)
