"""`planar doctor` tells the truth about this environment, and about environments in which something is missing."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import planar
from planar import doctor
from planar.cli import main

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module", autouse=True)
def everything_imported():
    """So that hiding one library below does not leave another one half imported."""
    doctor.examine()


class Blocker:
    """A finder that lets every import of `library` end with `error`."""

    def __init__(self, library: str, error: ImportError):
        self.library, self.error = library, error

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.library:
            raise self.error
        return None


@pytest.fixture
def hide(monkeypatch):
    """Make `import name` fail as if the library were not installed, or with `error`."""

    def hide(name: str, error: ImportError | None = None) -> None:
        for module in [m for m in sys.modules if m.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        error = error or ModuleNotFoundError(f"No module named {name!r}", name=name)
        monkeypatch.setattr(sys, "meta_path", [Blocker(name, error), *sys.meta_path])

    return hide


def check(report: doctor.Report, name: str) -> doctor.Check:
    return next(check for check in report.checks if check.name == name)


def test_required_libraries_and_routes_work_here():
    report = doctor.examine()
    assert report.ok
    assert report.planar == planar.__version__
    assert check(report, "numpy").version == np.__version__
    for name in ("dense LAPACK", "banded LAPACK", "SuperLU"):
        assert check(report, name).ok, check(report, name).detail


def test_all_routes_give_the_same_accelerations_and_multipliers():
    chain = doctor._Chain.build()
    reference = np.linalg.solve(chain.K, chain.b)
    for name, solve, _, library, _ in doctor.ROUTES:
        if library == "sksparse":
            pytest.importorskip("sksparse.cholmod")
        # eps * condition number of K = 2e-16 * 29 = 6e-15; the Schur routes square part of it
        np.testing.assert_allclose(solve(chain), reference, rtol=1e-13, atol=1e-13, err_msg=name)


def test_cholmod_requirement_is_that_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["cholmod"] == [doctor.SCIKIT_SPARSE]


def test_missing_cholmod_is_optional_and_comes_with_the_command(hide, capsys):
    hide("sksparse")
    report = doctor.examine()
    assert report.ok
    assert check(report, "scikit-sparse").status == check(report, "CHOLMOD").status == "missing"
    assert list(report.remedies) == ["scikit-sparse"]  # one command for the library and its route
    assert (
        f'-m pip install "{doctor.SCIKIT_SPARSE}"' in report.remedies["scikit-sparse"]
        or "conda" in (report.remedies["scikit-sparse"])
    )
    doctor.show(report)
    assert report.remedies["scikit-sparse"] in capsys.readouterr().out  # on one line, ready to copy


@pytest.mark.parametrize("name", ["rich", "numba", "matplotlib", "jinja2", "pandas"])
def test_missing_optional_library_is_reported_and_exit_code_stays_0(name, hide, capsys):
    hide(name)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"-m pip install {name}\n" in out
    assert "planar works; what stands above is optional." in out


@pytest.mark.parametrize("name", ["numpy", "scipy"])
def test_missing_required_library_gives_exit_code_1(name):
    # In a process of its own: libraries that meet no numpy while they are imported would stay half imported here.
    code = f"""
import sys, planar.cli
{inspect.getsource(Blocker)}
for module in [m for m in sys.modules if m.partition(".")[0] == {name!r}]:
    del sys.modules[module]
sys.meta_path.insert(0, Blocker({name!r}, ModuleNotFoundError("No module named", name={name!r})))
sys.exit(planar.cli.main(["doctor"]))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    assert f"-m pip install {name}\n" in run.stdout
    assert "--force-reinstall" not in run.stdout  # everything else only waits for this library
    assert "planar cannot compute: " in run.stdout
    assert run.stderr == ""


def test_broken_scikit_sparse_is_told_from_a_missing_one(hide):
    hide("sksparse", ImportError("libcholmod.so.3: cannot open shared object file"))
    report = doctor.examine()
    assert report.ok
    assert check(report, "CHOLMOD").status == "broken"
    assert "libcholmod.so.3" in check(report, "CHOLMOD").detail


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_a_route_with_a_wrong_answer_is_broken(wrong, monkeypatch):
    monkeypatch.setattr(doctor, "ROUTES", (("dense LAPACK", lambda c: 0 * c.b + wrong, "dgesv", "scipy", True),))
    report = doctor.examine()
    assert not report.ok
    assert "backward error" in check(report, "dense LAPACK").detail


def test_numba_cache_directory_is_named_or_its_absence_explained(monkeypatch):
    numba = pytest.importorskip("numba")
    compiler = doctor._compiler()
    assert compiler.ok
    assert Path(compiler.detail.removeprefix("cache ")).is_dir()

    def no_cache(**options):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(numba, "njit", no_cache)
    compiler = doctor._compiler()
    assert compiler.status == "broken"
    assert "NUMBA_CACHE_DIR" in compiler.remedy


def test_json_is_the_whole_report(capsys):
    assert main(["doctor", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] is True
    assert data["planar"] == planar.__version__
    assert {route["name"] for route in data["routes"]} == {route[0] for route in doctor.ROUTES}
    keys = "ok planar python platform blas libraries routes compiler remedies"
    assert set(data) == set(keys.split())
