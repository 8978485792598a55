"""Commented files to begin with: `planar new four-bar > my.toml`.  A new one is a file in the folder starters/."""

from __future__ import annotations

from pathlib import Path

from planar.bodies import nearest
from planar.errors import ModelError

FOLDER = Path(__file__).parent / "starters"


def starter(name: str) -> str:
    """The text of a starter file."""
    if name not in STARTERS:
        raise ModelError(f"there is no starter {name!r}; {nearest(name, STARTERS)}", "planar new")
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def _first_sentence(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        text = file.readline()
    return text.removeprefix("#").strip().partition(":")[0].rstrip(".")


#: name -> what it is, from the first line of the file
STARTERS: dict[str, str] = {path.stem: _first_sentence(path) for path in sorted(FOLDER.glob("*.toml"))}
