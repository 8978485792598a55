"""The command `planar`.

A new subcommand is one `Command` in `COMMANDS`. Its `run` gets the parsed arguments and returns the exit code:
0 done, 1 the thing asked for did not work, 2 the command line was wrong. Heavy libraries are imported inside `run`, so
that `planar --help` is quick and works in a half-installed environment.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from planar import __version__
from planar.commands import files, pictures, proof, run
from planar.commands.command import Command, UsageError
from planar.errors import ModelError, PlanarError

COMMANDS: tuple[Command, ...] = (
    files.NEW,
    files.CHECK,
    run.RUN,
    pictures.REPORT,
    pictures.PLOT,
    pictures.ANIMATE,
    proof.VERIFY,
    proof.DEMO,
    files.SCHEMA,
    proof.DOCTOR,
)


def _epilog(examples: Sequence[str]) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in examples) if examples else ""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="planar",
        description="Planar multibody mechanisms: motion, driving efforts and joint reactions.",
        epilog=_epilog([line for command in COMMANDS for line in command.examples[:1]]),
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
            formatter_class=_Help,
        )
        command.arguments(sub)
        sub.set_defaults(run=command.run, command=command.name)
    return parser


class _Help(argparse.RawDescriptionHelpFormatter):
    """Examples as they are written, descriptions filled to the width of the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: that of the process) and return the exit code."""
    _print_anything()
    parser = build_parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "run"):
        parser.print_help(sys.stderr)
        return 2
    try:
        code = args.run(args)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"planar {args.command}: {error}", file=sys.stderr)
        return 2
    except PlanarError as error:
        _explain(args, error)
        return 1
    except BrokenPipeError:
        # The reader (`| head`) has gone; without this the interpreter complains while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a file that is not there, or cannot be written
        where = f"{error.filename}: " if error.filename else ""
        print(f"planar: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _print_anything() -> None:
    """A name that the terminal has no letters for is printed with question marks, not refused."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _explain(args: argparse.Namespace, error: PlanarError) -> None:
    """The error on standard error; for machines as JSON on standard output as well."""
    if getattr(args, "json", False):
        from planar.commands.show import print_json

        problems = error.problems if isinstance(error, ModelError) else [str(error)]
        print_json({"ok": False, "error": type(error).__name__, "problems": problems})
    print(f"planar: {type(error).__name__}: {error}", file=sys.stderr)
