"""The four-bar of Examples 5.2 and 6.5 of Nikravesh's book."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import planar as pl

DATA = json.loads((Path(__file__).parent / "data" / "nikravesh_examples.json").read_text())["Ex5_2_6_5"]


def fourbar_5_2() -> tuple[pl.Model, dict[str, Any]]:
    """(model, numbers): crank at 45 deg, pins O, A, B, Q; a damper from ground (0, 0.2) to P of the coupler."""
    p = DATA["parameters"]
    a, G, P = math.radians(p["theta1_deg"]), math.radians(12), math.radians(30)
    m = pl.Model("Ex. 5.2", gravity=(0, -p["g"]))
    (m1, m2, m3), (J1, J2, J3) = p["m"], p["J"]
    half = (p["L1"] / 2 * math.cos(a), p["L1"] / 2 * math.sin(a))
    crank = m.add(pl.Body.rod("crank", m1, p["L1"], inertia=J1, start="O", end="A", r=half, phi=a))
    points = {"A": (0, 0), "B": (p["L2"], 0), "P": (0.2 * math.cos(P), 0.2 * math.sin(P))}
    com = (0.16 * math.cos(G), 0.16 * math.sin(G))
    coupler = m.add(pl.Body.from_origin("coupler", m2, J2, com=com, points=points))
    rocker = m.add(pl.Body.rod("rocker", m3, p["L3"], inertia=J3, start="Q", end="B"))
    m.add(pl.Revolute("O", m.ground.point(0, 0), crank["O"]))
    m.add(pl.Revolute("A", crank["A"], coupler["A"]))
    m.add(pl.Revolute("B", coupler["B"], rocker["B"]))
    m.add(pl.Revolute("Q", m.ground.point(p["L0"], 0), rocker["Q"]))
    m.add(pl.Spring("damper", m.ground.point(0, 0.2), coupler["P"], damping=125.0, length=0.0))
    m.add(pl.AngleDriver("motor", m.ground, crank, pl.Polynomial([a, p["omega1"], p["alpha1"] / 2])))
    return m, DATA["verified"]
