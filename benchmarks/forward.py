"""Forward dynamics beside Exudyn, MuJoCo, Pinocchio and hand-written kernels: times, errors, ratios.

    python benchmarks/forward.py [--quick] [--docs] [words of problem names ...]

Every engine gets the fewest steps (we: the loosest tolerance) that reach the error stated for the problem, found by trial
over its settings; then the quickest of some repeats counts (processor time of one thread).  Building the model is not
timed, for nobody.  Table in out/forward.csv, picture in out/forward_benchmark.png; --docs puts both into docs/ as well.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import planar as pl
from benchmarks import problems
from benchmarks.peers import ENGINES, Engine
from benchmarks.problems import SAMPLES, Problem

ROOT = Path(__file__).parents[1]
LIMIT = 60.0  # s; a run that is predicted to take longer is not made
BUDGET = 150.0  # s for the search of one engine on one problem


@dataclass
class Row:
    """One line of the table; ratio: time over ours."""

    problem: str
    size: int
    engine: str
    setting: str
    steps: float
    ms: float
    error: float
    target: float
    unit: str
    ratio: float = math.nan
    note: str = ""
    raw = None  # the setting itself


# --- ourselves and the kernels, as engines -----------------------------------------------------------------------------


class Planar(Engine):
    """pl.simulate on the compiled system; setting: integrator, adaptive (None) or fixed steps."""

    name = "planar"

    def settings(self, problem: Problem) -> list[Any]:
        return ["DOP853", "RK4 fixed"]

    def prepare(self, problem: Problem, setting: Any, steps: int) -> tuple[Callable, Callable]:
        t = np.linspace(0.0, problem.t_end, SAMPLES + 1) if problem.sampled else np.array([0.0, problem.t_end])
        how = (
            {"step": problem.t_end / steps} if setting.endswith("fixed") else {"rtol": 1 / steps, "atol": 1e-2 / steps}
        )
        done: list[Any] = []

        def run() -> None:
            done[:] = [pl.simulate(problem.system, (0.0, problem.t_end), t_eval=t, **how)]

        def read() -> tuple[np.ndarray, np.ndarray]:
            r = done[0]
            shape = (len(t), *problem.q0.shape)
            if not r.success:
                return np.full(shape, np.nan), np.full(shape, np.nan)
            return r.q.reshape(shape), r.v.reshape(shape)

        return run, read


class Kernel(Engine):
    name = "hand-written"

    def settings(self, problem: Problem) -> list[Any]:
        return ["RK4 + projection"]

    def prepare(self, problem: Problem, setting: Any, steps: int) -> tuple[Callable, Callable]:
        done: list[Any] = []
        every = steps // SAMPLES if problem.sampled else steps
        problem.kernel(SAMPLES, 1 if problem.sampled else SAMPLES)  # compiled now

        def run() -> None:
            done[:] = problem.kernel(steps, every)

        return run, lambda: tuple(done)


# --- search ------------------------------------------------------------------------------------------------------------


def order(engine: Engine, setting: Any) -> float:
    """How the error falls with the number of steps; for adaptive steps that number is 1 / rtol."""
    if setting == "DOP853":
        return 1.0
    return 2.0 if engine.name == "Exudyn" else 3.0 if engine.name == "MuJoCo" and setting else 4.0


def rounded(problem: Problem, setting: Any, steps: float) -> int:
    if setting == "DOP853" or not problem.sampled:
        return max(1, round(steps))
    return SAMPLES * max(1, round(steps / SAMPLES))


def measure(engine: Engine, problem: Problem, setting: Any, steps: int, repeats: int = 1) -> tuple[float, float]:
    """(seconds, error); the quickest of so many repeats."""
    seconds, error = math.inf, math.nan
    for n in range(repeats):
        run, read = engine.prepare(problem, setting, steps)
        start = time.process_time()
        run()
        seconds = min(seconds, time.process_time() - start)
        if n == 0:
            with np.errstate(all="ignore"):  # some diverge
                error = problem.error(*read())
    return seconds, error if np.isfinite(error) else math.inf


def search(engine: Engine, problem: Problem, setting: Any, best: float, begin: float) -> tuple[int, float, float, str]:
    """Fewest steps, from `begin` on, that reach the target: (steps, seconds, error, note); gives up beyond `best` s."""
    p, begun = order(engine, setting), time.perf_counter()
    steps = rounded(problem, setting, 1e2 if setting == "DOP853" else begin)
    failed, grow = 0, 4.0
    while True:
        seconds, error = measure(engine, problem, setting, steps)
        if error <= problem.target:
            break
        gain = (error / problem.target) ** (1 / p) if math.isfinite(error) else 2.0
        gain = min(max(1.05 * gain, 1.2), 30.0 if setting == "DOP853" else grow)
        following = max(rounded(problem, setting, steps * gain), rounded(problem, setting, steps + SAMPLES))
        predicted = seconds * (1.0 if setting == "DOP853" else following / steps)
        if following > 1e14 or predicted > min(LIMIT, 1.5 * best) or time.perf_counter() - begun > BUDGET:
            return steps, seconds, error, "not reached"
        failed, steps = steps, following
    good = (steps, seconds, error)
    for _ in range(3):  # between the last that failed and the first that did
        middle = rounded(problem, setting, math.sqrt(max(failed, 1) * good[0]))
        if not failed or middle in (failed, good[0]) or time.perf_counter() - begun > BUDGET:
            break
        seconds, error = measure(engine, problem, setting, middle)
        if error <= problem.target:
            good = (middle, seconds, error)
        else:
            failed = middle
    return *good, ""


def compete(engine: Engine, problem: Problem, before: dict[str, Row], quick: bool) -> Row:
    """The best setting of an engine on a problem.

    Where the time for the smaller problem of the family, in proportion to size, comes to seconds, only the setting that
    was best there is tried; where it comes to more than the limit, the engine is left out.
    """
    key, size = f"{engine.name} {problem.family}", len(problem.q0)
    known = before.get(key)
    reason = engine.refuses(problem)
    expected = 1e-3 * known.ms * size / known.size if known else 0.0
    if known and (known.note or expected > LIMIT):
        reason = reason or f"left out: would take more than {LIMIT:.0f} s"
    if reason:
        return Row(
            problem.name, size, engine.name, "", math.nan, math.nan, math.nan, problem.target, problem.unit, note=reason
        )
    settings = [known.raw] if expected > 2.0 else engine.settings(problem)
    found, best = [], math.inf
    for setting in settings:
        begin = known.steps / 2 if expected > 0.5 and math.isfinite(known.steps) else problem.steps
        steps, seconds, error, note = search(engine, problem, setting, best, begin)
        if not note:
            best = min(best, seconds)
        found.append((bool(note), seconds, steps, error, setting, note))
    failed, seconds, steps, error, setting, note = min(found, key=lambda f: f[:2])
    if not failed:
        repeats = 1 if seconds > 5 or quick else 3 if seconds > 0.5 else 7
        seconds, error = measure(engine, problem, setting, steps, repeats)
    shown = f"rtol {1 / steps:.1e}" if setting == "DOP853" else engine.label(setting)
    number = math.nan if setting == "DOP853" else steps
    row = Row(problem.name, size, engine.name, shown, number, 1e3 * seconds, error, problem.target, problem.unit)
    row.note, row.raw = note, setting
    before[key] = row
    return row


# --- the first call ------------------------------------------------------------------------------------------------------

_FIRST = """
import sys, time
sys.path.insert(0, {root!r})
import planar as pl
from tests.reference_models import andrews
m = andrews()
start = time.perf_counter()
pl.simulate(m, (0.0, 0.03), rtol=1e-6)
print(time.perf_counter() - start)
"""


def first_call() -> tuple[float, float]:
    """Seconds of the first simulate() in a fresh process: nothing cached, then with the cache on disk."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"NUMBA_CACHE_DIR": folder}
        script = _FIRST.format(root=str(ROOT))
        runs = [
            subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
            for _ in range(2)
        ]
    return float(runs[0].stdout), float(runs[1].stdout)


# --- table and picture -----------------------------------------------------------------------------------------------------


def show(row: Row) -> None:
    if math.isnan(row.ms):
        print(f"  {row.engine:13s} {row.note}", flush=True)
        return
    steps = "" if math.isnan(row.steps) else f"{row.steps:.0f} steps"
    ratio = f"{row.ratio:8.2f}" if math.isfinite(row.ratio) else " " * 8
    print(
        f"  {row.engine:13s} {row.setting:>18s} {steps:>14s} {row.ms:11.2f} ms {ratio}  {row.error:9.1e} {row.unit} {row.note}",
        flush=True,
    )


def save(rows: list[Row], path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f.name for f in fields(Row)])
        writer.writerows([f"{x:.4g}" if isinstance(x, float) else x for x in astuple(row)] for row in rows)


def plot(rows: list[Row], path: Path) -> None:
    """Time over size for the N-four-bar (0.1 J) and the chains (1 mm), log-log."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    looks = {"planar": ("C3", "o-", 2.5), "hand-written": ("0.35", "s--", 1.3)}
    looks |= {"Exudyn": ("C0", "^-", 1.3), "MuJoCo": ("C2", "v-", 1.3), "Pinocchio": ("C1", "D-", 1.3)}
    for ax, word, title in (
        (axes[0], "N-four-bar", "N four-bars in a row, 10 s to 0.1 J"),
        (axes[1], "chain", "Chain, 1 s to 1 mm"),
    ):
        for engine, (colour, mark, width) in looks.items():
            part = [r for r in rows if r.engine == engine and not r.note and r.problem.startswith(word)]
            if part:
                ax.loglog(
                    [r.size for r in part], [r.ms for r in part], mark, color=colour, lw=width, ms=5, label=engine
                )
        ax.set(title=title, xlabel="bodies")
        ax.grid(True, which="major", alpha=0.35)
    axes[0].set_ylabel("time, ms")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("words", nargs="*", help="only problems whose name holds one of these words")
    arguments.add_argument("--quick", action="store_true", help="small sizes only, no repeats")
    arguments.add_argument("--docs", action="store_true", help="put table and picture into docs/ as well")
    chosen = arguments.parse_args()
    engines: list[Engine] = [Planar(), Kernel()]
    for engine in ENGINES:
        missing = engine.missing()
        print(missing) if missing else engines.append(engine())
    makers = [problems.four_bar_problem, problems.andrews_problem]
    makers += [
        lambda N=N: problems.n_four_bar_problem(N)
        for N in ((1, 10, 40) if chosen.quick else (1, 10, 40, 100, 400, 1000))
    ]
    makers += [lambda n=n: problems.chain_problem(n) for n in ((100,) if chosen.quick else (100, 1000, 10_000))]
    rows: list[Row] = []
    before: dict[str, Row] = {}
    for make in makers:
        problem = make()
        if chosen.words and not any(word in problem.name for word in chosen.words):
            continue
        print(f"{problem.name}: {len(problem.q0)} bodies, error <= {problem.target:g} {problem.unit}")
        ours = math.nan
        for engine in engines:
            row = compete(engine, problem, before, chosen.quick)
            ours = row.ms if engine.name == "planar" and not row.note else ours
            row.ratio = row.ms / ours
            rows.append(row)
            show(row)
    summary(rows)
    cold, cached = first_call()
    print(f"first simulate() of a process: {cold:.2f} s with nothing cached, {cached:.2f} s with the cache on disk")
    save(rows, Path("out") / "forward.csv")
    plot(rows, Path("out") / "forward_benchmark.png")
    if chosen.docs:
        shutil.copy(Path("out") / "forward.csv", ROOT / "docs" / "forward_benchmark.csv")
        shutil.copy(Path("out") / "forward_benchmark.png", ROOT / "docs" / "forward_benchmark.png")


def summary(rows: list[Row]) -> None:
    """Per problem: how much faster than the best peer, how much slower than the kernel."""
    print("\nproblem                 planar ms   best peer / planar   planar / hand-written")
    for name in dict.fromkeys(r.problem for r in rows):
        part = {r.engine: r for r in rows if r.problem == name}
        if part["planar"].note:
            print(f"{name:22s}  not reached")
            continue
        peers = [r for r in part.values() if r.engine not in ("planar", "hand-written") and not r.note]
        peer = min(peers, key=lambda r: r.ms, default=None)
        against = f"{peer.ms / part['planar'].ms:8.1f} {peer.engine:>11s}" if peer else f"{'-':>20s}"
        print(f"{name:22s} {part['planar'].ms:10.2f} {against} {part['planar'].ms / part['hand-written'].ms:18.2f}")


if __name__ == "__main__":
    main()
