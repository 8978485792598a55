"""planar plot, animate, report: what goes on somebody's desk."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planar.commands import show
from planar.commands.analysis import analysis_arguments, chosen
from planar.commands.analysis import run as run_analysis
from planar.commands.command import (
    Command,
    UsageError,
    model_arguments,
    output_argument,
    read_model,
    stem,
    writable,
)
from planar.commands.run import safe

if TYPE_CHECKING:
    from planar.model import Model
    from planar.modelfile import ModelFile
    from planar.result import Result

PLOTS = ("mechanism", "trace", "motion", "reactions", "effort", "energy")


def _first(args: argparse.Namespace, file: ModelFile) -> Result:
    """The result of the analysis that was asked for, or of the first one."""
    analyses = chosen(args, file)
    name = next(iter(analyses))
    if len(analyses) > 1:
        show.note(f"{name!r} is shown; --analysis chooses among {', '.join(analyses)}")
    return run_analysis(file.model, name, analyses[name])


def _places(model: Model, names: list[str]) -> list[Any]:
    """Points "coupler.P" and bodies "coupler"."""
    from planar.modelfile.formulas import Bad
    from planar.modelfile.problems import Problems
    from planar.modelfile.values import Values

    problems = Problems("command line")
    values = Values(problems)
    values.bodies = {b.name: b for b in (model.ground, *model.bodies)}
    found = [values.body(n, ("--of",)) if n in values.bodies else values.point(n, ("--of",)) for n in names]
    if problems or any(isinstance(place, Bad) for place in found):
        raise UsageError("; ".join(f"--of {message}" for _, _, message in problems.found))
    return found


# --- plot ------------------------------------------------------------------------------------------------------------------


def _plot_arguments(parser: argparse.ArgumentParser) -> None:
    model_arguments(parser)
    parser.add_argument("--what", choices=PLOTS, default="mechanism", help="default: mechanism")
    parser.add_argument(
        "--of",
        metavar="NAME",
        action="append",
        default=[],
        help="a joint, driver, body or point (coupler.P); may be repeated",
    )
    analysis_arguments(parser)
    output_argument(parser, "picture: .png, .svg or .pdf (default: FILE-WHAT.png)")


def _plot(args: argparse.Namespace) -> int:
    file = read_model(args)
    axes = _draw(args, file)
    path = writable(args.output or Path(f"{stem(args)}-{args.what}.png"))
    figure = (axes[0] if isinstance(axes, (tuple, list)) else axes).figure
    try:
        figure.savefig(path)
    except ValueError as error:  # a format that matplotlib does not know
        raise UsageError(f"-o {path}: {error}") from None
    print(f"wrote {path}")
    return 0


def _draw(args: argparse.Namespace, file: ModelFile) -> Any:
    from planar import plot

    if args.what == "mechanism":
        return plot.mechanism(file.model)
    result = _first(args, file)
    match args.what:
        case "trace":
            return plot.trace(result, *_places(result.model, args.of))
        case "energy":
            return plot.energy(result)
        case "effort":
            return plot.effort(result, _one(args, [*result.efforts, *(d.name for d in result.model.drivers)], None))
        case "motion":
            (place,) = _places(result.model, [_one(args, None, result.model.bodies[0].name)])
            return plot.motion(result, place)
        case _:
            peaks = {row.joint: row.peak for row in result.summary().rows}
            return plot.reactions(result, _one(args, list(peaks), max(peaks, key=peaks.__getitem__, default=None)))


def _one(args: argparse.Namespace, known: list[str] | None, default: str | None) -> Any:
    """The one name of --of."""
    from planar.bodies import nearest

    if len(args.of) > 1:
        raise UsageError(f"--of: {args.what} shows one thing at a time; got {', '.join(args.of)}")
    if args.of and known is not None and args.of[0] not in known:
        raise UsageError(f"--of: nothing to show is named {args.of[0]!r}; {nearest(args.of[0], known)}")
    return args.of[0] if args.of else default


# --- animate ---------------------------------------------------------------------------------------------------------------


def _animate_arguments(parser: argparse.ArgumentParser) -> None:
    model_arguments(parser)
    analysis_arguments(parser)
    parser.add_argument("--trace", metavar="POINT", action="append", default=[], help="draw the path of coupler.P")
    parser.add_argument("--reactions", action="store_true", help="draw the forces of the joints as arrows")
    parser.add_argument("--speed", type=float, metavar="X", help="seconds of the motion per second of the film")
    parser.add_argument("--fps", type=float, metavar="N", default=25.0, help="pictures per second (default 25)")
    output_argument(parser, "film: .gif, .mp4 or .html (default: FILE.gif)")


def _animate(args: argparse.Namespace) -> int:
    from planar.animate import animate

    file = read_model(args)
    result = _first(args, file)
    path = writable(args.output or Path(f"{stem(args)}.gif"))
    traces = _places(result.model, args.trace)
    animate(result, path, traces=traces, reactions=args.reactions or None, speed=args.speed, fps=args.fps)
    print(f"wrote {path}")
    return 0


# --- report ----------------------------------------------------------------------------------------------------------------


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    model_arguments(parser)
    analysis_arguments(parser)
    parser.add_argument("--at", type=float, metavar="T", help="time in s of the printed free-body diagrams")
    parser.add_argument("--title", help="heading of the page (default: name of the model)")
    output_argument(parser, "page (default: FILE.html, or FILE-ANALYSIS.html where there are several)")


def _report(args: argparse.Namespace) -> int:
    from planar.report import report

    file = read_model(args)
    analyses = chosen(args, file)
    if args.output is not None and len(analyses) > 1:
        raise UsageError(
            f"-o names one file for {len(analyses)} reports; choose with --analysis: {', '.join(analyses)}"
        )
    ok = True
    for name, analysis in analyses.items():
        result = run_analysis(file.model, name, analysis)
        default = f"{stem(args)}.html" if len(analyses) == 1 else f"{stem(args)}-{safe(name)}.html"
        path = writable(args.output or Path(default))
        with show.working("writing the report"):
            report(result, path, at=args.at, title=args.title)
        print(f"wrote {path}")
        if not result.success:
            print(f"  the analysis stopped: {result.message}")
        ok = ok and result.success
    return 0 if ok else 1


PLOT = Command(
    "plot",
    help="draw the mechanism, or curves of a result",
    run=_plot,
    arguments=_plot_arguments,
    description="Draw the assembled mechanism (default), the paths of points, motions, reactions, efforts or energy.",
    examples=(
        "planar plot my.toml",
        "planar plot my.toml --what trace --of coupler.P -o curve.svg",
        "planar plot my.toml --what reactions --of B",
    ),
)
ANIMATE = Command(
    "animate",
    help="a film of the motion: GIF, MP4 or HTML",
    run=_animate,
    arguments=_animate_arguments,
    description="Make a film of the motion. MP4 needs ffmpeg; HTML plays in the browser without anything.",
    examples=("planar animate my.toml", "planar animate my.toml --trace coupler.P --reactions -o my.html"),
)
REPORT = Command(
    "report",
    help="the reaction-force report as one web page",
    run=_report,
    arguments=_report_arguments,
    description="Write the report of each analysis as one self-contained HTML file: tables, curves, free-body diagrams, "
    "the moving mechanism, the certificate. It also prints well.",
    examples=("planar report my.toml", "planar report my.toml --analysis cycle -o bearing-loads.html"),
)
