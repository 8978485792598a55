"""The command `planar`.

A new subcommand is one `Command` in `COMMANDS`. Its `run` gets the parsed arguments and returns the exit code:
0 done, 1 the thing asked for did not work, 2 (from argparse) the command line was wrong. Heavy libraries are imported
inside `run`, so that `planar --help` is quick and works in a half-installed environment.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planar import __version__
from planar.errors import PlanarError


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    pass


@dataclass(frozen=True)
class Command:
    """One subcommand: `help` is its line in `planar --help`, `examples` stand at the end of its own help."""

    name: str
    help: str
    run: Callable[[argparse.Namespace], int]
    arguments: Callable[[argparse.ArgumentParser], None] = _no_arguments
    description: str = ""
    examples: tuple[str, ...] = ()


def _doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _doctor(args: argparse.Namespace) -> int:
    from planar import doctor

    report = doctor.examine()
    if args.json:
        print(doctor.to_json(report))
    else:
        doctor.show(report)
    return 0 if report.ok else 1


COMMANDS: tuple[Command, ...] = (
    Command(
        "doctor",
        help="check the installation",
        run=_doctor,
        arguments=_doctor_arguments,
        description="Check the libraries, solve a small system by every linear-algebra route, and say what is missing "
        "and how to get it. Exit code 0 if the analyses work, 1 if not.",
        examples=("planar doctor", "planar doctor --json > doctor.json"),
    ),
)


def _epilog(examples: Sequence[str]) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in examples) if examples else ""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="planar",
        description="Planar multibody mechanisms: motion, driving efforts and joint reactions.",
        epilog=_epilog([line for command in COMMANDS for line in command.examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"planar {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="command")
    for command in COMMANDS:
        sub = subparsers.add_parser(
            command.name,
            help=command.help,
            description=command.description or command.help,
            epilog=_epilog(command.examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(sub)
        sub.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: that of the process) and return the exit code."""
    parser = build_parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "run"):
        parser.print_help(sys.stderr)
        return 2
    try:
        code = args.run(args)
        sys.stdout.flush()
        return code
    except PlanarError as error:
        print(f"planar: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader (`| head`) has gone; without this the interpreter complains while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
