"""planar verify, demo, doctor: does it work, is it right?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from planar.commands import show
from planar.commands.analysis import analysis_arguments, chosen
from planar.commands.command import Command, UsageError, json_argument, model_arguments, read_model, writable

# --- verify ----------------------------------------------------------------------------------------------------------------


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    model_arguments(parser)
    analysis_arguments(parser)
    parser.add_argument("--samples", type=int, default=25, metavar="N", help="compare at most N states (default 25)")
    parser.add_argument("--tol", type=float, default=1e-9, metavar="X", help="relative tolerance (default 1e-9)")
    json_argument(parser)


def _verify(args: argparse.Namespace) -> int:
    from planar.verify import verify

    if args.samples < 1:
        raise UsageError(f"--samples is {args.samples}; give at least 1")
    file = read_model(args)
    ok, data = True, []
    for name, analysis in chosen(args, file).items():
        model = file.model.without(*analysis.without) if analysis.without else file.model
        with show.working(f"{name}: independent formulations", args.json):
            found = verify(model, analysis.t.array(), samples=args.samples, tol=args.tol)
        ok = ok and found.ok
        if args.json:
            data.append(_verify_data(name, found))
        else:
            print(f"{name}: {found}\n")
    if args.json:
        show.print_json({"ok": ok, "analyses": data})
    return 0 if ok else 1


def _verify_data(name: str, found: Any) -> dict[str, Any]:
    checks = {c.formulation: {"reason": c.reason, "largest": c.largest, "allowed": c.allowed} for c in found.checks}
    return {"name": name, "ok": found.ok, "worst": found.worst, "where": found.where, "formulations": checks}


# --- demo ------------------------------------------------------------------------------------------------------------------


def _demo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "starter", metavar="NAME", nargs="?", default="four-bar", help="which starter (default: four-bar)"
    )
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=Path("planar-demo"), help="default: planar-demo")


def _demo(args: argparse.Namespace) -> int:
    """The way of a newcomer, by the commands a newcomer would type."""
    from planar.bodies import nearest
    from planar.cli import main
    from planar.modelfile.starters import STARTERS, starter

    if args.starter not in STARTERS:
        raise UsageError(f"there is no starter {args.starter!r}; {nearest(args.starter, STARTERS)}")
    file = writable(args.out / f"{args.starter}.toml")
    print(f"$ planar new {args.starter} > {file}")
    file.write_text(starter(args.starter), encoding="utf-8", newline="\n")
    picture = args.out / f"{args.starter}.png"
    page = args.out / f"{args.starter}.html"
    steps = (
        ["check", str(file)],
        ["run", str(file), "--out", str(args.out)],
        ["plot", str(file), "-o", str(picture)],
        *(["report", str(file), "--analysis", name, "-o", str(page)] for name in _analyses(file)[:1]),
    )
    for step in steps:
        print(f"\n$ planar {' '.join(step)}", flush=True)
        if code := main(step):
            return code
    print(f"\nopen {page}; edit a number in {file} and try again")
    return 0


def _analyses(file: Path) -> list[str]:
    from planar import modelfile

    return list(modelfile.load(file).analyses)


# --- doctor ----------------------------------------------------------------------------------------------------------------


def _doctor(args: argparse.Namespace) -> int:
    from planar import doctor

    report = doctor.examine()
    if args.json:
        print(doctor.to_json(report))
    else:
        doctor.show(report)
    return 0 if report.ok else 1


VERIFY = Command(
    "verify",
    help="compare with independent formulations of the dynamics",
    run=_verify,
    arguments=_verify_arguments,
    description="Solve the model again by formulations that share no code with the analyses (point coordinates, virtual "
    "work, joint coordinates) and compare accelerations, reactions and efforts. Exit code 0 if they agree, 1 if not.",
    examples=("planar verify my.toml", "planar verify my.toml --samples 100 --json"),
)
DEMO = Command(
    "demo",
    help="from nothing to a report, with an example",
    run=_demo,
    arguments=_demo_arguments,
    description="Write a starter file, check it, run it, draw it and write its report, showing the commands that do it.",
    examples=("planar demo", "planar demo slider-crank --out out"),
)
DOCTOR = Command(
    "doctor",
    help="check the installation",
    run=_doctor,
    arguments=json_argument,
    description="Check the libraries, solve a small system by every linear-algebra route, and say what is missing "
    "and how to get it. Exit code 0 if the analyses work, 1 if not.",
    examples=("planar doctor", "planar doctor --json > doctor.json"),
)
