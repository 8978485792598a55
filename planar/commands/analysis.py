"""The analyses of a command line: those of the file, or --analysis with --t; run one by one."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from typing import TYPE_CHECKING, Any

from planar.commands import show
from planar.commands.command import UsageError
from planar.errors import ModelError, PlanarWarning
from planar.modelfile.analyses import OPTIONS, TIMED

if TYPE_CHECKING:
    from planar.model import Model
    from planar.modelfile import Analysis, ModelFile
    from planar.result import Result

KINDS = tuple(OPTIONS)


def analysis_arguments(parser: argparse.ArgumentParser) -> None:
    """--analysis, --t and the options that go with them."""
    group = parser.add_argument_group("what to compute (left out: the analyses in the file)")
    group.add_argument("--analysis", metavar="WHAT", help=f"name of an analysis in the file, or {', '.join(KINDS)}")
    group.add_argument("--t", metavar="A:B:N", help="times in s: N samples from A to B; formulas in parameters too")
    group.add_argument(
        "--without", metavar="NAME", action="append", help="leave out a driver, joint, force or body (may be repeated)"
    )
    group.add_argument(
        "--actuate", metavar="JOINT", action="append", help="inverse: supply the effort there (may be repeated)"
    )
    group.add_argument("--method", metavar="NAME", help="simulate: projection, baumgarte, partition, ...")
    group.add_argument("--rtol", metavar="X", help="simulate: relative tolerance")
    group.add_argument("--atol", metavar="X", help="simulate: absolute tolerance")


def chosen(args: argparse.Namespace, file: ModelFile) -> dict[str, Analysis]:
    """{name: analysis} that the command line asks for."""
    options = {"t": args.t, "without": args.without, "actuate": args.actuate, "method": args.method}
    options |= {"rtol": args.rtol, "atol": args.atol}
    given = {name: value for name, value in options.items() if value is not None}
    if args.analysis is None:
        if not file.analyses:
            raise UsageError("the file has no [analyses]; say what to compute: --analysis inverse --t 0:1:361")
        return {name: _changed(file, analysis, given) for name, analysis in file.analyses.items()}
    if args.analysis in file.analyses:
        return {args.analysis: _changed(file, file.analyses[args.analysis], given)}
    if args.analysis not in KINDS:
        from planar.bodies import nearest

        known = [*file.analyses, *KINDS]
        raise UsageError(f"--analysis: nothing is named {args.analysis!r}; {nearest(args.analysis, known)}")
    if args.analysis in TIMED and args.t is None:
        raise UsageError(f"{args.analysis} needs times: --t 0:1:361 means 361 samples from 0 to 1 s")
    return {args.analysis: _read(file, {"type": args.analysis, **given})}


def _changed(file: ModelFile, analysis: Analysis, given: dict[str, Any]) -> Analysis:
    """An analysis of the file with what the command line says otherwise."""
    if not given:
        return analysis
    new = _read(file, {"type": analysis.kind, "t": "0", **given})
    return dataclasses.replace(
        analysis,
        t=new.t if "t" in given else analysis.t,
        without=new.without or analysis.without,
        options={**analysis.options, **new.options},
    )


def _read(file: ModelFile, table: dict[str, Any]) -> Analysis:
    """As if it stood in the file; problems are those of the command line."""
    from planar.modelfile.analyses import read_analysis
    from planar.modelfile.problems import Problems
    from planar.modelfile.values import Values

    problems = Problems("command line")
    values = Values(problems)
    values.parameters = dict(file.parameters)
    names = {item.name: "" for item in file.model}
    try:
        analysis = read_analysis(values, table, ("analysis",), names)
        problems.enforce()
    except ModelError as error:
        raise UsageError("; ".join(p.replace("analysis.", "--") for p in error.problems)) from None
    return analysis  # type: ignore[return-value]


def run(model: Model, name: str, analysis: Analysis, quiet: bool = False) -> Result:
    """Run one analysis; warnings become notes."""
    spinner = quiet or analysis.kind == "simulate"  # which shows its own progress
    with warnings.catch_warnings(record=True) as caught, show.working(f"{name}: {analysis.kind}", spinner):
        warnings.simplefilter("default")
        result = analysis.run(model)
    for warning in caught:
        if not issubclass(warning.category, PlanarWarning):
            print(
                warnings.formatwarning(warning.message, warning.category, warning.filename, warning.lineno),
                file=sys.stderr,
            )
        elif result.success or result.message not in str(warning.message):  # else it is shown with the result
            show.note(str(warning.message))
    return result
