"""What `planar doctor` reports: versions, linear-algebra routes, compiler, and how to get what is missing.

Nothing is taken on trust: every library is imported, every route solves a small system by the call that planar's
solver makes, and numba compiles a function into its cache. A library that is absent or broken becomes a line of the
report and never an exception; therefore this module imports optional libraries itself, by name, one at a time.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

from planar import __version__

# The same string as the extra `cholmod` of pyproject.toml (a test compares them).
SCIKIT_SPARSE = "scikit-sparse>=0.4.16,<0.5"

# library -> what planar needs it for; without the required ones nothing can be computed
REQUIRED = {"numpy": "arrays", "scipy": "linear algebra"}
OPTIONAL = {
    "numba": "compiled time loops (without it: the same numbers, slower)",
    "matplotlib": "plots and animations",
    "jinja2": "the report",
    "rich": "tables in the terminal (without it: plain text)",
    "pandas": "results as data frames",
    "sksparse": "CHOLMOD for large systems (without it: banded LAPACK and SuperLU)",
}
DISTRIBUTION = {"sksparse": "scikit-sparse"}

# A stable solve of this small system (condition number 29) has a backward error of about eps = 2e-16.
TOLERANCE = 1e-13


@dataclass(frozen=True)
class Check:
    """One line of the report. `status` is "ok", "missing" or "broken"; `remedy` is a command, or ""."""

    name: str
    status: str
    detail: str
    remedy: str = ""
    required: bool = False
    version: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "ok"


@dataclass(frozen=True)
class Report:
    """The whole examination; `ok` says whether the analyses work."""

    planar: str
    python: str
    platform: str
    blas: dict[str, str]
    libraries: tuple[Check, ...]
    routes: tuple[Check, ...]
    compiler: Check

    @property
    def checks(self) -> tuple[Check, ...]:
        return (*self.libraries, *self.routes, self.compiler)

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks if check.required)

    @property
    def remedies(self) -> dict[str, str]:
        """Name -> command, for everything that is not ok. What one command repairs together stands there once."""
        remedies: dict[str, str] = {}
        for check in self.checks:
            if not check.ok and check.remedy and check.remedy not in remedies.values():
                remedies[check.name] = check.remedy
        return remedies


def examine() -> Report:
    """Look at everything; takes a second or two because the libraries are really imported and used."""
    libraries = [_library(name, use, required=True) for name, use in REQUIRED.items()]
    libraries += [_library(name, use, required=False) for name, use in OPTIONAL.items()]
    return Report(
        planar=__version__,
        python=f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})",
        platform=platform.platform(),
        blas=_blas(),
        libraries=tuple(libraries),
        routes=tuple(_route(*route) for route in ROUTES),
        compiler=_compiler(),
    )


# --- libraries -------------------------------------------------------------------------------------------------------


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _failure(error: BaseException, library: str) -> tuple[str, str, str]:
    """Status, detail and remedy when the use of `library` ended with `error`: absent, or there but not usable."""
    cause = error.__cause__ or error  # pandas wraps the error of the library that it misses
    absent = cause.name if isinstance(cause, ModuleNotFoundError) else None
    if absent == library:
        return "missing", "not installed", _remedy(library, "missing")
    if absent in REQUIRED or absent in OPTIONAL:
        return "broken", f"needs {absent}, which is not installed", _remedy(absent, "missing")
    return "broken", _first_line(error), _remedy(library, "broken")


def _version(module: ModuleType, name: str) -> str:
    try:
        return str(module.__version__)
    except AttributeError:
        return importlib.metadata.version(DISTRIBUTION.get(name, name))


def _library(name: str, use: str, *, required: bool) -> Check:
    label = DISTRIBUTION.get(name, name)
    try:
        module = importlib.import_module("sksparse.cholmod" if name == "sksparse" else name)
        version = _version(sys.modules[name], name)
        detail = use
        if name == "sksparse":
            detail = f"CHOLMOD of SuiteSparse {_suitesparse_version(module)}"
    except Exception as error:  # a broken binary may raise anything
        status, detail, remedy = _failure(error, name)
        return Check(label, status, f"{detail}; {use}", remedy, required)
    return Check(label, "ok", detail, required=required, version=version)


def _suitesparse_version(cholmod: ModuleType) -> str:
    """Asked from the library that scikit-sparse is linked with: dlsym also looks into what a library depends on."""
    import ctypes

    try:
        version = (ctypes.c_int * 3)()
        ctypes.CDLL(cholmod.__file__).SuiteSparse_version(version)
        return ".".join(map(str, version))
    except (AttributeError, OSError):  # linked statically without the symbol
        return "(version unknown)"


def _pip(requirement: str, *options: str) -> str:
    quoted = f'"{requirement}"' if any(c in requirement for c in "<>= ") else requirement
    return " ".join([sys.executable, "-m pip install", *options, quoted])


SUITESPARSE = {
    "apt-get": "sudo apt-get install libsuitesparse-dev gcc python3-dev",
    "dnf": "sudo dnf install suitesparse-devel gcc python3-devel",
    "zypper": "sudo zypper install suitesparse-devel gcc python3-devel",
    "pacman": "sudo pacman -S suitesparse gcc",
    "brew": "brew install suite-sparse",
}


def _remedy(name: str, status: str) -> str:
    if name != "sksparse":
        return _pip(name, *(["--force-reinstall"] if status == "broken" else []))
    # A broken scikit-sparse was compiled against another SuiteSparse or NumPy: compile it again, not from pip's cache.
    options = ["--force-reinstall", "--no-deps", "--no-cache-dir"] if status == "broken" else []
    for tool, command in SUITESPARSE.items():
        if shutil.which(tool):
            return f"{command} && {_pip(SCIKIT_SPARSE, *options)}"
    return f'conda install -c conda-forge "{SCIKIT_SPARSE}"'


def _blas() -> dict[str, str]:
    """Library -> the BLAS it was built with; empty for a library that cannot say."""
    found: dict[str, str] = {}
    for name in REQUIRED:
        try:
            blas = importlib.import_module(name).show_config(mode="dicts")["Build Dependencies"]["blas"]
            found[name] = f"{blas['name']} {blas['version']}"
        except Exception:  # absent, broken, or built in an unusual way: the checks above say which
            continue
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        if variable in os.environ:
            found[variable] = os.environ[variable]
    return found


# --- routes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chain:
    """Three hanging links under gravity, the smallest system that has everything: M, Phi_q, Q, gamma."""

    M: Any  # diagonal, (9,)
    Phi_q: Any  # (6, 9)
    Q: Any  # (9,)
    gamma: Any  # (6,)
    K: Any  # [[M, Phi_q^T], [Phi_q, 0]]
    b: Any  # [Q, gamma]

    @classmethod
    def build(cls) -> _Chain:
        import numpy as np

        phi, length, mass, g = np.array([-1.2, -0.7, -1.9]), 0.5, 2.0, 9.81
        M = np.tile([mass, mass, mass * length**2 / 12], 3)
        Phi_q = np.zeros((6, 9))
        # Joint k joins the end of link k-1 (s' = +l/2) with the start of link k (s' = -l/2): Phi = r_j^P - r_i^P,
        # and dr^P/dq = [I, B s'] with B s' = s' (-sin phi, cos phi).
        for k in range(3):
            for body, sign, s in ((k, 1.0, -length / 2), (k - 1, -1.0, length / 2)):
                if body >= 0:
                    row, col = slice(2 * k, 2 * k + 2), 3 * body
                    Phi_q[row, col : col + 2] = sign * np.eye(2)
                    Phi_q[row, col + 2] = sign * s * np.array([-np.sin(phi[body]), np.cos(phi[body])])
        Q = np.tile([0.0, -mass * g, 0.0], 3)
        gamma = np.linspace(-1.0, 1.0, 6)
        K = np.block([[np.diag(M), Phi_q.T], [Phi_q, np.zeros((6, 6))]])
        return cls(M, Phi_q, Q, gamma, K, np.concatenate([Q, gamma]))

    def schur(self, solve: Callable[[Any], Any]) -> Any:
        """The unknowns (a, lambda), where `solve` solves S x = r with S = Phi_q M^-1 Phi_q^T."""
        import numpy as np

        lam = solve(self.Phi_q @ (self.Q / self.M) - self.gamma)
        return np.concatenate([(self.Q - self.Phi_q.T @ lam) / self.M, lam])

    def backward_error(self, x: Any) -> float:
        import numpy as np

        scale = np.abs(self.K).sum(axis=1).max() * np.abs(x).max() + np.abs(self.b).max()
        return float(np.abs(self.K @ x - self.b).max() / scale)


def _dense(chain: _Chain) -> Any:
    from scipy.linalg import lapack

    _, _, x, info = lapack.dgesv(chain.K, chain.b)
    if info:
        raise ArithmeticError(f"dgesv returned info = {info}")
    return x


def _banded(chain: _Chain) -> Any:
    import numpy as np
    from scipy.linalg import lapack

    S = (chain.Phi_q / chain.M) @ chain.Phi_q.T
    width = 3  # joints k and k+1 share a link: rows 2k and 2k+3 are coupled
    band = np.zeros((width + 1, len(S)))  # LAPACK's lower band storage: band[d, j] = S[j + d, j]
    for d in range(width + 1):
        band[d, : len(S) - d] = np.diagonal(S, -d)

    def solve(r: Any) -> Any:
        _, x, info = lapack.dpbsv(band, r, lower=1)
        if info:
            raise ArithmeticError(f"dpbsv returned info = {info}")
        return x

    return chain.schur(solve)


def _superlu(chain: _Chain) -> Any:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    return splu(csc_matrix(chain.K)).solve(chain.b)


def _cholmod(chain: _Chain) -> Any:
    import numpy as np
    from scipy.sparse import csc_matrix

    cholmod = importlib.import_module("sksparse.cholmod")
    root = csc_matrix(chain.Phi_q / np.sqrt(chain.M))
    factor = cholmod.analyze_AAt(root)
    factor.cholesky_AAt_inplace(root)
    return chain.schur(factor)


# name, solver, what it is, library it needs, required
ROUTES = (
    ("dense LAPACK", _dense, "dgesv, whole KKT matrix", "scipy", True),
    ("banded LAPACK", _banded, "dpbsv, Schur complement", "scipy", True),
    ("SuperLU", _superlu, "splu, sparse KKT matrix", "scipy", True),
    ("CHOLMOD", _cholmod, "analyze_AAt, sparse Schur complement", "sksparse", False),
)


def _route(name: str, solve: Callable[[_Chain], Any], call: str, library: str, required: bool) -> Check:
    try:
        chain = _Chain.build()
        error = chain.backward_error(solve(chain))
    except Exception as failure:  # as for libraries
        status, detail, remedy = _failure(failure, library)
        return Check(name, status, f"{call}: {detail}", remedy, required)
    if not error <= TOLERANCE:  # also when error is NaN
        detail = f"{call}: backward error {error:.1e} is above {TOLERANCE:.0e}"
        return Check(name, "broken", detail, _remedy(library, "broken"), required)
    return Check(name, "ok", f"{call}, backward error {error:.1e}", required=required)


# --- compiler --------------------------------------------------------------------------------------------------------


def _twice_plus_one(x: float) -> float:
    return 2.0 * x + 1.0


def _compiler() -> Check:
    """Compile a function with numba into the cache that planar's own kernels use (their files lie beside this one)."""
    name = "numba compiler"
    try:
        numba = importlib.import_module("numba")
    except Exception as error:
        status, detail, remedy = _failure(error, "numba")
        return Check(name, status, f"{detail}; time loops run in Python, slower", remedy)
    try:
        # numba looks for a directory that it can write to, and raises RuntimeError when there is none.
        compiled = numba.njit(cache=True)(_twice_plus_one)
    except RuntimeError as error:
        remedy = "export NUMBA_CACHE_DIR=/tmp/numba-cache"
        return Check(name, "broken", f"no writable cache directory, compiles anew each time ({error})", remedy)
    try:
        value = compiled(20.5)
    except Exception as error:
        return Check(name, "broken", _first_line(error), _remedy("numba", "broken"))
    if value != 42.0:
        return Check(name, "broken", f"compiled 2 x + 1 gave {value} for x = 20.5", _remedy("numba", "broken"))
    return Check(name, "ok", f"cache {compiled.stats.cache_path}")


# --- output ----------------------------------------------------------------------------------------------------------


def to_json(report: Report) -> str:
    """The report as JSON: its fields, and `ok` and `remedies`."""
    return json.dumps({"ok": report.ok, **asdict(report), "remedies": report.remedies}, indent=2)


def _rows(report: Report) -> list[tuple[str, str, str]]:
    rows = [
        ("planar", report.planar, ""),
        ("python", report.python.partition(" ")[0], sys.executable),
        ("platform", "", report.platform),
    ]
    rows += [(check.name, check.version if check.ok else check.status, check.detail) for check in report.libraries]
    rows += [("BLAS", "", f"{name}: {text}") for name, text in report.blas.items()]
    rows += [(check.name, check.status, check.detail) for check in (*report.routes, report.compiler)]
    return rows


def show(report: Report) -> None:
    """Print the report: a table by rich where there is one, else aligned text; then the commands, ready to copy."""
    rows = _rows(report)
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except Exception:  # absent or broken: said in the report itself
        widths = [max(len(row[k]) for row in rows) for k in (0, 1)]
        for name, state, detail in rows:
            print(f"{name:<{widths[0]}}  {state:<{widths[1]}}  {detail}".rstrip())
    else:
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, state, detail in rows:
            style = {"missing": "yellow", "broken": "red"}.get(state, "green")
            table.add_row(name, Text(state, style=style), Text(detail))
        Console().print(table)
    print()
    for name, command in report.remedies.items():
        print(f"To get {name}:\n  {command}")
    if not report.ok:
        broken = ", ".join(check.name for check in report.checks if check.required and not check.ok)
        print(f"planar cannot compute: {broken} not usable.")
    elif report.remedies:
        print("planar works; what stands above is optional.")
    else:
        print("planar works, nothing is missing.")
