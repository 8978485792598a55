"""The page: content through a template, with the one script that may run on it."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planar import __version__
from planar.errors import ModelError, PlanarError
from planar.plot import player
from planar.report.content import Content
from planar.report.data import data
from planar.report.numbers import number

if TYPE_CHECKING:
    from planar.result import Result


def write(result: Result, path: Any, *, at: float | None = None, title: str | None = None) -> Path:
    """See `planar.report.report`."""
    path = Path(path)
    path.write_text(render(result, at=at, title=title), encoding="utf-8")
    return path


def render(result: Result, *, at: float | None = None, title: str | None = None) -> str:
    """The page as text."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise PlanarError("the report needs jinja2: pip install jinja2; tables: result.to_csv, to_latex") from None
    if not hasattr(result, "analysis"):
        raise ModelError(f"a report needs the result of an analysis such as pl.inverse_dynamics, got {result!r:.60}")
    if not len(result):
        raise ModelError(f"the result holds no sample ({result.message or 'it is empty'}); there is nothing to report")
    environment = Environment(
        loader=PackageLoader("planar.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    script = player.script() + files("planar.report").joinpath("templates/report.js").read_text(encoding="utf-8")
    content = Content(result, at)
    return environment.get_template("report.html").render(
        content=content,
        title=title or result.model.name,
        version=__version__,
        script=script,
        # the content security policy lets this script run and no other, whatever the names in the model look like
        script_hash=base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode(),
        data=_json(data(content)),
    )


def _json(values: Any) -> str:
    """JSON that cannot end the element it stands in."""
    from jinja2.utils import htmlsafe_json_dumps

    return htmlsafe_json_dumps(values, dumps=partial(json.dumps, separators=(",", ":"), allow_nan=False))
