"""`import planar` stays light: what is heavy or optional is imported by the function that needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "matplotlib", "pandas", "rich", "sksparse")


@pytest.mark.parametrize("module", ["planar", "planar.cli"])
def test_import_leaves_heavy_libraries_alone(module):
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
