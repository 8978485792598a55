"""The mechanisms of the published reference solutions, as models, drawn in their published initial states.

The figures are in tests/data/*.json, each with its source; `reference(name)` reads one.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import planar as pl

DATA = Path(__file__).parent / "data"
G = 9.81  # of the IFToMM problems

# Andrews' angles -> absolute angles of the bodies K1 ... K7 (IVP Test Set: Theta, Phi, Omega are relative)
ANDREWS_ANGLES = {
    "K1": ("beta",),
    "K2": ("beta", "Theta"),
    "K3": ("gamma",),
    "K4": ("Phi", "delta"),
    "K5": ("delta",),
    "K6": ("Omega", "epsilon"),
    "K7": ("epsilon",),
}


def reference(name: str) -> dict[str, Any]:
    """The figures of tests/data/<name>.json."""
    return json.loads((DATA / f"{name}.json").read_text())


def place(
    name: str, mass: float, inertia: float, points: dict, phi: float, hold: str, where: Any, omega: float = 0.0
) -> pl.Body:
    """A body turned by phi rad whose point `hold` lies at the global `where`, turning about it with omega rad/s."""
    c, s = math.cos(phi), math.sin(phi)
    x, y = points[hold]
    arm = (c * x - s * y, s * x + c * y)  # from the centre of mass to the held point
    r = (where[0] - arm[0], where[1] - arm[1])
    return pl.Body(name, mass, inertia, r, phi, v=(omega * arm[1], -omega * arm[0]), omega=omega, points=points)


def position(body: pl.Body, point: str) -> tuple[float, float]:
    """Global position of a named point of a body as drawn."""
    (x, y), c, s = body.points[point], math.cos(body.phi), math.sin(body.phi)
    return body.r[0] + c * x - s * y, body.r[1] + s * x + c * y


# --- one to many bodies ----------------------------------------------------------------------------------------------


def pendulum(inertia: float = 0.0) -> pl.Model:
    """IFToMM/UDC A01: a point mass of 1 kg on a massless arm of 1 m, released at (-1, 0).

    Its inertia is zero: M is singular, the KKT matrix is not.
    """
    m = pl.Model("pendulum", gravity=(0.0, -G))
    m.add(pl.Body("bob", 1.0, inertia, (-1.0, 0.0), 0.0, points={"O": (1.0, 0.0)}))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["bob"]["O"]))
    return m


def n_four_bar(N: int) -> pl.Model:
    """IFToMM/UDC A02: N + 1 upright bars A_k (k, 0) - B_k (k, 1), N level bars between their tops; 1 m, 1 kg each.

    The tops start with 1 m/s to the right; one degree of freedom, singular when all bars are level.
    """
    m = pl.Model(f"{N} four-bars", gravity=(0.0, -G))
    for k in range(N + 1):  # bodies from left to right, so that neighbours stand together
        up = {"A": (-0.5, 0.0), "B": (0.5, 0.0)}
        m.add(place(f"up{k}", 1.0, 1 / 12, up, math.pi / 2, "A", (k, 0.0), omega=-1.0))
        if k < N:
            m.add(pl.Body.rod(f"level{k}", 1.0, 1.0, start="L", end="R", r=(k + 0.5, 1.0), phi=0.0, v=(1.0, 0.0)))
    for k in range(N + 1):
        if k:
            m.add(pl.Revolute(f"R{k - 1}", m[f"level{k - 1}"]["R"], m[f"up{k}"]["B"]))
        m.add(pl.Revolute(f"A{k}", m.ground.point(k, 0.0), m[f"up{k}"]["A"]))
        if k < N:
            m.add(pl.Revolute(f"L{k}", m[f"up{k}"]["B"], m[f"level{k}"]["L"]))
    return m


def chain(n: int, length: float = 1.0) -> pl.Model:
    """n uniform links of 1 kg, drawn level from the ground pin at the origin and released at rest."""
    m = pl.Model(f"chain of {n} links", gravity=(0.0, -G))
    before = m.ground.point(0.0, 0.0)
    for k in range(n):
        body = m.add(pl.Body.rod(f"link{k}", 1.0, length, r=((k + 0.5) * length, 0.0), phi=0.0))
        m.add(pl.Revolute(f"pin{k}", before, body["A"]))
        before = body["B"]
    return m


# --- Andrews' squeezer -----------------------------------------------------------------------------------------------


def andrews() -> pl.Model:
    """Andrews' squeezing mechanism: seven bodies, ten pins named as in the file, a spring, a torque of 0.033 N m.

    Each pin is written with the file's first body first, so its multiplier is the file's force on that body.
    """
    data = reference("andrews")
    p, shape = data["parameters"], data["cartesian"]
    angle = {name: float(value) for name, value in data["initial"]["angles"].items()}
    ground = shape["ground_points"]
    m = pl.Model("Andrews' squeezer")
    held = {"K1": ("O", "ground"), "K2": ("F", "K1"), "K3": ("B", "ground"), "K4": ("G", "K5"), "K5": ("A", "ground")}
    held |= {"K6": ("H", "K7"), "K7": ("A", "ground")}
    bodies: dict[str, pl.Body] = {}
    for name in ("K1", "K2", "K3", "K5", "K4", "K7", "K6"):  # each after the one that carries it
        point, carrier = held[name]
        where = ground[point] if carrier == "ground" else position(bodies[carrier], point)
        k = int(name[1]) - 1
        phi = sum(angle[a] for a in ANDREWS_ANGLES[name])
        bodies[name] = place(name, p["m"][k], p["I"][k], shape["local_points"][name], phi, point, where)
    for name in sorted(bodies):
        m.add(bodies[name])
    for point, first, second in shape["revolutes"]:
        other = m.ground.point(*ground[point]) if second == "ground" else m[second][point]
        m.add(pl.Revolute(andrews_pin(point, first, second), m[first][point], other))
    spring = shape["spring"]
    anchor = m.ground.point(*ground[spring["ground"]])
    at = m[spring["body"]][spring["point"]]
    m.add(pl.Spring("spring", anchor, at, stiffness=spring["k"], length=spring["l0"], damping=spring["c"]))
    m.add(pl.Torque("motor", m[shape["torque"]["body"]], shape["torque"]["value"]))
    return m


def andrews_pin(point: str, first: str, second: str) -> str:
    """The file's name of a pin: E23, E24, E26, A5, A7; else the point."""
    if point == "E":
        return f"E2{first[1]}" if first != "K2" else f"E2{second[1]}"
    return f"A{first[1]}" if point == "A" else point


# --- slider-crank, car axis ------------------------------------------------------------------------------------------


def slider_crank() -> pl.Model:
    """SUNDIALS idaSlCrank (Haug 1992, example 6.1.8): the rod's centre of mass slides on y = 0 by itself."""
    data = reference("slidercrank")
    p, start = data["parameters"], data["initial"]
    a = p["a"]
    m = pl.Model("slider-crank")
    # The crank turns about its centre of mass, so its mass matters nowhere.
    m.add(pl.Body("crank", 1.0, p["J1"], (0.0, 0.0), start["q"], points={"A": (a, 0.0), "S": (a / 2, 0.0)}))
    ends = {"A": (-1.0, 0.0), "S": (-0.5, 0.0), "F": (1.0, 0.0)}
    m.add(pl.Body("rod", p["m2"], p["J2"], (start["x"], 0.0), start["p"], points=ends))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["crank"].point(0, 0)))
    m.add(pl.Revolute("A", m["crank"]["A"], m["rod"]["A"]))
    m.add(pl.PinInSlot("slider", m.ground.axis((0, 0), (1, 0)), m["rod"].point(0, 0)))
    spring = {"stiffness": p["k"], "length": p["l0"], "damping": p["c"]}
    m.add(pl.Spring("spring", m["crank"]["S"], m["rod"]["S"], **spring))
    m.add(pl.PointForce("push", m["rod"]["F"], (p["F"], 0.0)))
    return m


def car_axis() -> pl.Model:
    """IVP Test Set 'caraxis': two masses at a distance L on springs over a road that is driven to tilt.

    The road is a massless body turned by asin(r sin(w t) / L); the left mass stays in its slot across the road
    (lam1 = force along the road on it), the right spring stands on its end.  Masses carry an inertia that is never felt.
    """
    p = reference("caraxis")["parameters"]
    y = reference("caraxis")["y0"]
    L, mass = p["L"], p["k_mass"]
    m = pl.Model("car axis", gravity=(0.0, -p["g"]))
    m.add(pl.Body("road", 0.0, 0.0, (0.0, 0.0), 0.0, omega=p["r"] * p["w"] / L, points={"end": (L, 0.0)}))
    m.add(pl.Body("left", mass, mass, (y[0], y[1]), 0.0, v=(y[4], y[5]), points={"P": (0, 0)}))
    m.add(pl.Body("right", mass, mass, (y[2], y[3]), 0.0, v=(y[6], y[7]), points={"P": (0, 0)}))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["road"].point(0, 0)))
    m.add(pl.AngleDriver("tilt", m.ground, m["road"], f"asin({p['r'] / L}*sin({p['w']}*t))"))
    m.add(pl.PinInSlot("slot", m["road"].axis((0, 0), (0, 1)), m["left"]["P"]))
    m.add(pl.Distance("axis", m["left"]["P"], m["right"]["P"], L))
    spring = {"stiffness": p["spring_k"], "length": p["L0"]}
    m.add(pl.Spring("left spring", m.ground.point(0, 0), m["left"]["P"], **spring))
    m.add(pl.Spring("right spring", m["road"]["end"], m["right"]["P"], **spring))
    return m
