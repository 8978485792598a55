"""Helpers for the tests of model files: comparing models bit for bit, breaking files."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import planar as pl
from planar import modelfile
from planar.curves import Curve
from planar.modelfile.starters import starter
from planar.motions import Motion


def plain(value):
    """A value as data that compares floats bit for bit."""
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, pl.Body):
        return "body", value.name
    if isinstance(value, pl.Point):
        return "point", value.body.name, plain(value.s), value.name
    if isinstance(value, pl.Axis):
        return "axis", value.body.name, plain(value.start), plain(value.end)
    if isinstance(value, (Motion, Curve)):
        return type(value).__name__, plain(value.to_dict())
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return type(value).__name__, value


def content(model):
    bodies = [
        (b.name, *map(plain, (b.mass, b.inertia, b.r, b.phi, b.v, b.omega)), list(plain(b.points).items()))
        for b in (model.ground, *model.bodies)
    ]
    elements = [
        (type(e).__name__, {f.name: plain(getattr(e, f.name)) for f in dataclasses.fields(e)})
        for e in (*model.joints, *model.drivers, *model.forces)
    ]
    return model.name, plain(model.gravity), bodies, elements


def round_trip(model):
    text = modelfile.dumps(model)
    back = modelfile.loads(text).model
    assert content(back) == content(model)
    assert modelfile.dumps(back) == text
    return back


def problems_of(text, **changes):
    with pytest.raises(pl.ModelError) as error:
        modelfile.loads(text, changes)
    return error.value.problems


def edited(old, new, name="four-bar"):
    text = starter(name)
    assert old in text
    return text.replace(old, new, 1)
