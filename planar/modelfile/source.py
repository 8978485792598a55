"""The text of a model file: read with limits, and the lines on which its keys stand.

A file may come from anywhere.  `tomllib` runs no code but takes its time where it is made to (a key of 10 000 parts costs
seconds, quadratically), so what could cost more than about a second per megabyte is refused before it is parsed.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from planar.errors import ModelError

MAX_BYTES = 8_000_000  # a chain of 10 000 links takes 2.5 MB
MAX_PARTS = 16  # of a dotted key
MAX_NESTING = 12  # of tables and arrays
MAX_ENTRIES = 500_000  # numbers, texts and tables in all
MAX_NAME = 200  # characters

_PART = r"""(?:(?<![\w-])[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_PARTS}}}")
_PATH = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+"
_KEY_LINE = re.compile(rf"[ \t]*+(?:\[\[?[ \t]*+({_PATH})[ \t]*+\]|({_PATH})[ \t]*+=)")

Key = tuple[str, ...]


def read_text(path: Any) -> str:
    """The text of a file.  UTF-8; UTF-16 with its mark too, which some shells write at `>`."""
    with Path(path).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    return decode(data, f"model file {str(path)!r}")


def decode(data: bytes, title: str) -> str:
    if len(data) > MAX_BYTES:
        raise ModelError(f"is larger than {MAX_BYTES / 1e6:g} MB; build a model of this size in Python", title)
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"is no text file: byte {error.start} is not UTF-8; save it as UTF-8", title) from None


def parse(text: str, title: str) -> dict[str, Any]:
    """The tables of a file; what is no TOML, or too much of it, is a `ModelError` with the line."""
    if len(text) > MAX_BYTES:
        raise ModelError(f"is larger than {MAX_BYTES / 1e6:g} MB; build a model of this size in Python", title)
    if match := _LONG_KEY.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise ModelError(f"line {line}: a key of more than {MAX_PARTS} parts, {match.group()[:40]}...", title)
    try:
        data = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise ModelError(_explain(text, str(error)), title) from None
    except RecursionError:
        raise ModelError(f"is nested deeper than {MAX_NESTING} tables and arrays", title) from None
    except ValueError as error:  # an integer of 5000 digits
        raise ModelError(f"cannot be read: {error}", title) from None
    _measure(data, title)
    return data


def _explain(text: str, message: str) -> str:
    """The line in question and, where texts without quotes are the likely cause, the remedy."""
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    if match is None:
        return f"is no valid TOML: {message}"
    number, lines = int(match.group(1)), text.split("\n")
    line = lines[number - 1].strip()[:80] if number <= len(lines) else ""
    message = message[: match.start()].strip()
    quotes = '; texts and numbers with units stand in quotes, phi = "30 deg"' if '"' not in line and "=" in line else ""
    return f"line {number}: {message}, in: {line}{quotes}"


def _measure(data: Any, title: str) -> None:
    """Refuse what is nested too deeply or has too many entries; without recursion."""
    count, layer = 0, [data]
    for _ in range(MAX_NESTING + 1):
        inner = [v for value in layer for v in (value.values() if isinstance(value, dict) else value)]
        count += len(inner)
        if count > MAX_ENTRIES:
            raise ModelError(f"has more than {MAX_ENTRIES} entries; build such a model in Python", title)
        layer = [v for v in inner if isinstance(v, (dict, list))]
        if not layer:
            return
    raise ModelError(f"is nested deeper than {MAX_NESTING} tables and arrays", title)


def line_numbers(text: str) -> dict[Key, int]:
    """{("bodies", "crank", "mass"): 12, ...}: where tables and keys begin.

    Empty where texts over several lines might hold what looks like a key: no number is better than a wrong one.
    """
    if '"""' in text or "'''" in text:
        return {}
    found: dict[Key, int] = {}
    table: Key = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := _KEY_LINE.match(line):
            header, path = match.groups()
            key = tuple(_plain(part) for part in re.findall(_PART, header or path))
            table = key if header else table
            found.setdefault(key if header else table + key, number)
    return found


def _plain(part: str) -> str:
    """A part of a key without its quotes."""
    if part[0] == "'":
        return part[1:-1]
    try:
        return json.loads(part) if part[0] == '"' else part
    except ValueError:  # an escape that JSON does not know
        return part
