"""What subcommands have in common: the entry in the table, the arguments that name a model file, and its reading."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planar.modelfile import ModelFile


class UsageError(Exception):
    """The command line is wrong in a way that argparse cannot see: exit code 2."""


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


def model_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE and --set."""
    parser.add_argument("file", metavar="FILE", help="model file (TOML); - reads standard input")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="change an entry before reading: L2=0.3, crank.mass=2, 'crank.phi=30 deg' (may be repeated)",
    )


def json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def output_argument(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("-o", "--output", metavar="PATH", type=Path, help=help)


def read_model(args: argparse.Namespace) -> ModelFile:
    """The file of the command line, with its changes."""
    from planar import modelfile
    from planar.modelfile.overrides import parse_change
    from planar.modelfile.source import MAX_BYTES, decode

    try:
        changes = dict(parse_change(text) for text in args.set)
    except ValueError as error:
        raise UsageError(f"--set: {error}") from None
    if args.file != "-":
        return modelfile.load(args.file, changes)
    title = "model file (standard input)"
    return modelfile.loads(decode(sys.stdin.buffer.read(MAX_BYTES + 1), title), changes, title=title)


def stem(args: argparse.Namespace) -> str:
    """What output files are named after."""
    return "model" if args.file == "-" else Path(args.file).stem


def writable(path: Path) -> Path:
    """The path, its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
