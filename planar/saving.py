"""Runs on disk: plain arrays and one text in an .npz file, no pickle.  The model is not in it: `load(path, model)`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from planar.errors import ModelError
from planar.model import Model
from planar.options import Options
from planar.result import Event
from planar.run import Run, complete
from planar.steppers import Track
from planar.system import System, compile

FORMAT = 1
ARRAYS = ("t", "q", "v", "a", "lam")


def save(run: Run, path: Any) -> None:
    """Write the samples, the steps and what is needed to go on to an .npz file."""
    about = {
        "format": FORMAT,
        "model": run.model.name,
        "digest": digest(run.system),
        "bodies": run.system.body_names,
        "rows": run.system.row_names,
        "options": run.options.to_dict(),
        "span": run.span,
        "success": run.success,
        "message": run.message,
        "notes": run.notes,
        "events": [asdict(e) for e in run.found_events],
        "next_step": run.next_step,
        "cost": (run.evaluations, run.rejected),
    }
    track = run.track
    arrays = {name: getattr(run, name) for name in ARRAYS}
    arrays |= {
        "work": run.integrated_work,
        "independent": run.independent,
        "times": track.times,
        "states": track.states,
    }
    arrays |= {"pivots": track.pivots, "nears": track.nears, "about": np.array(json.dumps(about))}
    with Path(path).open("wb") as file:  # savez would append .npz to any other name
        np.savez_compressed(file, **arrays)


def load(path: Any, model: Model | System) -> Run:
    """The run saved at `path`, of the same model: with dense output, reactions, and as a start to go on from."""
    system = model if isinstance(model, System) else compile(model)
    try:
        with np.load(Path(path), allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        about = json.loads(str(data["about"]))
    except FileNotFoundError:
        raise ModelError(
            f"there is no file {str(path)!r}; save a run with run.save({str(path)!r}) first", "load"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{str(path)!r} is no run saved by run.save ({error})", "load") from None
    _check(about, system, path)
    run = Run(
        system, *(data[name] for name in ARRAYS), options=Options.from_dict(about["options"]), span=tuple(about["span"]),
        track=Track(*(data[name] for name in ("times", "states", "pivots", "nears"))), independent=data["independent"],
        next_step=about["next_step"], cost=tuple(about["cost"]), success=about["success"], message=about["message"],
        notes=about["notes"], events=[Event(**e) for e in about["events"]], work=data["work"],
    )  # fmt: skip
    complete(run)
    return run


def digest(system: System) -> str:
    """A fingerprint of the numbers of a system."""
    found = hashlib.sha256()
    arrays = [system.mass, system.forcing.gravity, system.pattern.indices]
    arrays += [x for b in system.batches for x in (b.bodies, b.parameters)]
    arrays += [x for b in system.forcing.batches for x in (b.bodies, b.parameters, b.constant)]
    for x in arrays:
        found.update(np.ascontiguousarray(x).tobytes())
    return found.hexdigest()


def _check(about: dict[str, Any], system: System, path: Any) -> None:
    if about.get("format") != FORMAT:
        raise ModelError(f"{str(path)!r} has the format {about.get('format')!r}, this version reads {FORMAT}", "load")
    for word, saved, here in (
        ("bodies", about["bodies"], system.body_names),
        ("rows", about["rows"], system.row_names),
    ):
        different = sorted(set(saved) ^ set(here))
        if different or list(saved) != list(here):
            name = different[0] if different else "their order"
            raise ModelError(
                f"the run of {about['model']!r} in {str(path)!r} has other {word} than model {system.model.name!r} "
                f"({name!r}); give the model that was simulated",
                "load",
            )
    if about["digest"] != digest(system):
        raise ModelError(
            f"model {system.model.name!r} has other numbers (masses, lengths, forces) than when the run in {str(path)!r} was "
            "saved; give the model as it was, or simulate again",
            "load",
        )
