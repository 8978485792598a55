"""planar new, check, schema: model files themselves."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from planar.commands import show
from planar.commands.command import (
    Command,
    UsageError,
    json_argument,
    model_arguments,
    output_argument,
    read_model,
    writable,
)

if TYPE_CHECKING:
    from planar.assembly import Assembly
    from planar.diagnosis import Diagnosis
    from planar.modelfile import Analysis, ModelFile


# --- new -----------------------------------------------------------------------------------------------------------------


def _new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("starter", metavar="NAME", nargs="?", help="four-bar, slider-crank, ...; left out: list them")
    output_argument(parser, "write to this file instead of standard output; an existing file is not overwritten")


def _new(args: argparse.Namespace) -> int:
    from planar.bodies import nearest
    from planar.modelfile.starters import STARTERS, starter

    if args.starter is None:
        show.table("starters: planar new NAME > my.toml", ("name", "what it is"), list(STARTERS.items()), left=2)
        return 0
    if args.starter not in STARTERS:
        raise UsageError(f"there is no starter {args.starter!r}; {nearest(args.starter, STARTERS)}")
    text = starter(args.starter)
    if args.output is None:
        sys.stdout.write(text)
        return 0
    try:
        with writable(args.output).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{args.output} exists; choose another name, or remove it") from None
    print(f"wrote {args.output}; now: planar check {args.output}")
    return 0


# --- check ---------------------------------------------------------------------------------------------------------------


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    model_arguments(parser)
    json_argument(parser)


def _check(args: argparse.Namespace) -> int:
    from planar.diagnosis import diagnose

    file = read_model(args)
    with show.working("assembling", args.json):
        assembly = file.model.assemble()
    with show.working("counting degrees of freedom", args.json):
        diagnosis = diagnose(file.model)
    conflicts = _conflicts(diagnosis)
    if args.json:
        show.print_json(_check_data(file, assembly, diagnosis, conflicts))
    else:
        print(file.model)
        print(f"\n{assembly}\n\n{diagnosis}\n")
        for name, analysis in file.analyses.items():
            print(f"analysis {name!r}: {_words(analysis)}")
        print("problems: " + "; ".join(conflicts) if conflicts else f"{args.file}: the model is sound")
    return 1 if conflicts else 0


def _conflicts(diagnosis: Diagnosis) -> list[str]:
    found = [
        f"{' and '.join(map(repr, names))} drive the same motion" for names in diagnosis.conflicts if len(names) > 1
    ]
    found += [f"{names[0]!r} drives what the joints hold" for names in diagnosis.conflicts if len(names) == 1]
    return found + [f"{' and '.join(map(repr, names))}: in a limit position" for names in diagnosis.stuck]


def _words(analysis: Analysis) -> str:
    start, stop = analysis.t.span
    span = f", t = {start:g} s" if start == stop else f", t = {start:g} .. {stop:g} s"
    without = f", without {', '.join(analysis.without)}" if analysis.without else ""
    return f"{analysis.kind}{span}{without}"


def _check_data(file: ModelFile, assembly: Assembly, d: Diagnosis, conflicts: list[str]) -> dict[str, Any]:
    model = file.model
    return {
        "ok": not conflicts,
        "model": model.name,
        "bodies": [b.name for b in model.bodies],
        "joints": {j.name: type(j).__name__ for j in model.joints},
        "drivers": {j.name: type(j).__name__ for j in model.drivers},
        "forces": {j.name: type(j).__name__ for j in model.forces},
        "parameters": file.parameters,
        "analyses": {name: analysis.kind for name, analysis in file.analyses.items()},
        "assembly": {
            "residual": assembly.residual,
            "pose": {b.name: assembly.pose(b) for b in model.bodies},
            "moved": {name: {"distance": x, "turn": turn} for name, (x, turn) in assembly.moved.items()},
            "notes": assembly.notes,
        },
        "diagnosis": {
            "coordinates": d.coordinates,
            "equations": d.rows,
            "dof": d.dof,
            "dof_driven": d.dof_driven,
            "redundant_permanent": d.permanent,
            "redundant_momentary": d.momentary,
            "indeterminate": d.indeterminate,
            "free_motions": [str(m) for m in d.free_motions],
            "advice": d.advice,
            "conflicts": conflicts,
            "notes": d.notes,
        },
    }


# --- schema --------------------------------------------------------------------------------------------------------------


def _schema_arguments(parser: argparse.ArgumentParser) -> None:
    output_argument(parser, "write to this file instead of standard output")


def _schema(args: argparse.Namespace) -> int:
    import json

    from planar.modelfile.schema import schema

    text = json.dumps(schema(), indent=2) + "\n"
    if args.output is None:
        sys.stdout.write(text)
    else:
        writable(args.output).write_text(text, encoding="utf-8")
        print(f"wrote {args.output}")
    return 0


NEW = Command(
    "new",
    help="write a commented model file to begin with",
    run=_new,
    arguments=_new_arguments,
    description="Write a commented model file to standard output. Without a name: list what there is.",
    examples=("planar new", "planar new four-bar > my.toml"),
)
CHECK = Command(
    "check",
    help="read a model file, assemble the mechanism and diagnose it",
    run=_check,
    arguments=_check_arguments,
    description="Read a model file and say everything that is wrong with it, with line, table and key. Then assemble the "
    "mechanism and report degrees of freedom, redundant joints and reactions that are not unique. Exit code 0 if the "
    "model is sound, 1 if not.",
    examples=("planar check my.toml", "planar check my.toml --set coupler=0.35", "planar check my.toml --json"),
)
SCHEMA = Command(
    "schema",
    help="print the JSON Schema of model files, for editors",
    run=_schema,
    arguments=_schema_arguments,
    description="Print the JSON Schema of model files. An editor that knows it completes and checks while you type; "
    "docs/modelfile.md says how to set that up.",
    examples=("planar schema > planar.schema.json",),
)
