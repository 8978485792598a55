"""numba, in one place: compile on first use, cache on disk, do without it where it is missing.

The cached machine code lives in a folder whose name is a digest of the sources it was made from: numba itself looks only
at the file of the outermost function, so an edited kernel in another file would go unnoticed.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

_SOURCES = (
    "primitives.py", "laws.py", "integrators.py", "methods.py", "compiled.py", "compiled_parts.py", "compiled_forward.py",
    "backend.py",
)  # fmt: skip


@cache
def has_numba() -> bool:
    """True if numba can be imported; nothing is imported to find out.  PLANAR_NUMBA=0 switches it off."""
    return os.environ.get("PLANAR_NUMBA", "1") != "0" and importlib.util.find_spec("numba") is not None


def is_loaded() -> bool:
    """True once the compiled module is there, so that using it costs nothing more."""
    return "planar.compiled" in sys.modules


def cache_folder() -> Path:
    """Where compiled code is kept: NUMBA_CACHE_DIR, the user's cache folder, or a temporary one."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for name in _SOURCES:
        digest.update((here / name).read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    candidates = [Path(base)] if base else []
    candidates += [
        Path.home() / ".cache",
        Path(tempfile.gettempdir()) / f"planar-{os.getuid() if hasattr(os, 'getuid') else 0}",
    ]
    for folder in candidates:
        target = folder / "planar" / digest.hexdigest()[:16]
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(target, os.W_OK):
            return target
    return Path(tempfile.mkdtemp(prefix="planar-"))


@cache
def compiled(name: str = "compiled") -> ModuleType:
    """The module `planar.compiled` (or `planar.compiled_forward`), jitted and cached; call only if `has_numba()`."""
    from numba.core import config

    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        return importlib.import_module(f"planar.{name}")
    finally:
        config.CACHE_DIR = before
