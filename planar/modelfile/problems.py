"""Everything that is wrong with a file, collected with the table and key it is about."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any

from planar.bodies import nearest
from planar.errors import ModelError
from planar.modelfile.source import Key, line_numbers

MOST = 50  # problems that are listed; nobody reads more, and looking for near names takes time
CANDIDATES = 300  # names that are compared with a wrong one

_ABSENT = object()
_SHORT = reprlib.Repr()
_SHORT.maxdict, _SHORT.maxlist, _SHORT.maxlevel = 3, 4, 3


class Problems:
    """The problems of one file, in the order of reading."""

    def __init__(self, title: str, text: str = ""):
        self.title, self.text = title, text
        self.found: list[tuple[Key, str, str]] = []

    def __bool__(self) -> bool:
        return bool(self.found)

    def add(self, key: Key, message: str, value: Any = _ABSENT) -> None:
        """`message` says what is wrong and what was expected; `value` is what stands there.  No key: not in the file."""
        shown = "" if value is _ABSENT else f" = {_shown(value)}"
        self.found.append((key, shown, message))
        if len(self.found) >= MOST:
            self.enforce()

    def enforce(self) -> None:
        """Raise one `ModelError` with all of them."""
        if not self.found:
            return
        lines = line_numbers(self.text)
        heads = [f"{_place(key, lines)}{_dotted(key)}{shown}: " if key else "" for key, shown, _ in self.found]
        messages = [head + message for head, (_, _, message) in zip(heads, self.found, strict=True)]
        if len(messages) >= MOST:
            messages.append("and perhaps more: reading stopped here")
        raise ModelError(messages, self.title)


def near(name: str, names: Iterable[str]) -> str:
    """ "did you mean 'crank'?", or the known names; quick with many and long names too."""
    name, known = name[:60], list(dict.fromkeys(names))
    if len(known) > CANDIDATES:
        alike = [n for n in known if abs(len(n) - len(name)) <= 2 and (n[:1] == name[:1] or n[-1:] == name[-1:])]
        known = (alike or known)[:CANDIDATES]
    return nearest(name, [n[:60] for n in known])


def _place(key: Key, lines: dict[Key, int]) -> str:
    """The line of the key, or of the first key inside it, or of the nearest table around it."""
    for n in range(len(key), 0, -1):
        inside = [line for other, line in lines.items() if other[:n] == key[:n]]
        if inside:
            return f"line {min(inside)}, "
    return ""


def _dotted(key: Key) -> str:
    from planar.modelfile.writer import toml_key

    text = ".".join(toml_key(part) for part in key)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _shown(value: Any) -> str:
    """A value as it stands in the file, shortened."""
    if isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = _SHORT.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
