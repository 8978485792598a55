"""Mechanisms for the tests: each builder returns a fresh `Model`, drawn closed to round-off unless it is shaken.

`random_mechanism(seed)` makes open chains, loops and mixed joints; every one of them assembles at its drawn pose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import planar as pl

GRAVITY = (0.0, -9.81)


def rod_between(
    name: str, P: Any, Q: Any, *, mass: float = 1.0, start: str = "A", end: str = "B", **kw: Any
) -> pl.Body:
    """A uniform rod drawn from the global point P to Q, whose ends are named `start` and `end`."""
    (px, py), (qx, qy) = P, Q
    r, phi = ((px + qx) / 2, (py + qy) / 2), math.atan2(qy - py, qx - px)
    return pl.Body.rod(name, mass, math.hypot(qx - px, qy - py), start=start, end=end, r=r, phi=phi, **kw)


def apex(P: Any, Q: Any, p: float, q: float, side: int = 1) -> tuple[float, float]:
    """The point at distance p from P and q from Q, on the left (side = 1) or right (-1) of the line from P to Q."""
    (px, py), (qx, qy) = P, Q
    d = math.hypot(qx - px, qy - py)
    a = (p * p - q * q + d * d) / (2 * d)
    h = side * math.sqrt(p * p - a * a)
    ux, uy = (qx - px) / d, (qy - py) / d
    return px + a * ux - h * uy, py + a * uy + h * ux


# --- textbook mechanisms ---------------------------------------------------------------------------------------------


def four_bar(
    lengths: tuple[float, float, float, float] = (0.1, 0.3, 0.25, 0.3),
    angle: float = 0.6,
    *,
    side: int = 1,
    speed: float | None = 2 * math.pi,
    gravity: Any = GRAVITY,
) -> pl.Model:
    """Pins A (ground, crank), B (crank, coupler), C (coupler, rocker), D (ground, rocker); lengths crank, coupler,

    rocker, base in m.  `speed` in rad/s turns the crank by the driver 'motor' from `angle`; None leaves it free.
    """
    crank, coupler, rocker, base = lengths
    A, D = (0.0, 0.0), (base, 0.0)
    B = (crank * math.cos(angle), crank * math.sin(angle))
    C = apex(B, D, coupler, rocker, side)
    m = pl.Model("four-bar", gravity=gravity)
    m.add(rod_between("crank", A, B, mass=1.0, start="A", end="B"))
    m.add(rod_between("coupler", B, C, mass=2.0, start="B", end="C"))
    m.add(rod_between("rocker", D, C, mass=1.5, start="D", end="C"))
    m.add(pl.Revolute("A", m.ground.point(*A), m["crank"]["A"]))
    m.add(pl.Revolute("B", m["crank"]["B"], m["coupler"]["B"]))
    m.add(pl.Revolute("C", m["coupler"]["C"], m["rocker"]["C"]))
    m.add(pl.Revolute("D", m.ground.point(*D), m["rocker"]["D"]))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["crank"], pl.Ramp(speed, angle)))
    return m


def slider_crank(
    crank: float = 0.1,
    rod: float = 0.35,
    offset: float = 0.02,
    angle: float = 0.8,
    *,
    speed: float | None = 10.0,
    gravity: Any = GRAVITY,
) -> pl.Model:
    """Crank on ground pin A, rod pinned at B and C, slider on the ground line y = `offset`; driver 'motor'."""
    B = (crank * math.cos(angle), crank * math.sin(angle))
    C = (B[0] + math.sqrt(rod**2 - (B[1] - offset) ** 2), offset)
    m = pl.Model("slider-crank", gravity=gravity)
    m.add(rod_between("crank", (0, 0), B, mass=0.8, start="A", end="B"))
    m.add(rod_between("rod", B, C, mass=1.2, start="B", end="C"))
    m.add(pl.Body("slider", 0.5, 0.001, r=C, phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), m["crank"]["A"]))
    m.add(pl.Revolute("B", m["crank"]["B"], m["rod"]["B"]))
    m.add(pl.Revolute("C", m["rod"]["C"], m["slider"].point(0, 0)))
    m.add(pl.Translational("slide", m.ground.axis((0, offset), (1, offset)), m["slider"].axis((0, 0), (1, 0))))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["crank"], pl.Ramp(speed, angle)))
    return m


def quick_return(
    crank: float = 0.1,
    height: float = 0.25,
    arm: float = 0.6,
    angle: float = 0.4,
    *,
    ram: bool = True,
    speed: float | None = 5.0,
    gravity: Any = GRAVITY,
) -> pl.Model:
    """Shaper: the pin B of the crank (pivot (0, height)) runs in the slot of the arm (pivot at the origin).

    With `ram` a rod of length arm/2 from the arm's end E drives a ram on the ground line y = arm.
    """
    B = (crank * math.cos(angle), height + crank * math.sin(angle))
    theta = math.atan2(B[1], B[0])
    E = (arm * math.cos(theta), arm * math.sin(theta))
    m = pl.Model("quick-return", gravity=gravity)
    m.add(rod_between("crank", (0, height), B, mass=1.0, start="A", end="B"))
    m.add(rod_between("arm", (0, 0), E, mass=3.0, start="O", end="E"))
    m.add(pl.Revolute("A", m.ground.point(0, height), m["crank"]["A"]))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["arm"]["O"]))
    m.add(pl.PinInSlot("slot", m["arm"].axis("O", "E"), m["crank"]["B"]))
    if ram:
        F = (E[0] - math.sqrt((arm / 2) ** 2 - (arm - E[1]) ** 2), arm)
        m.add(rod_between("link", E, F, mass=0.5, start="E", end="F"))
        m.add(pl.Body("ram", 4.0, 0.02, r=F, phi=0.0))
        m.add(pl.Revolute("E", m["arm"]["E"], m["link"]["E"]))
        m.add(pl.Revolute("F", m["link"]["F"], m["ram"].point(0, 0)))
        m.add(pl.Translational("guide", m.ground.axis((0, arm), (1, arm)), m["ram"].axis((0, 0), (1, 0))))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["crank"], pl.Ramp(speed, angle)))
    return m


def planetary(
    sun: float = 0.06,
    planet: float = 0.04,
    *,
    mesh: bool = False,
    angle: float = 0.3,
    speed: float | None = 4.0,
    gravity: Any = (0.0, 0.0),
) -> pl.Model:
    """Sun (driven by 'motor'), one planet on an arm, ring = ground with radius sun + 2 planet.

    mesh=False: `Gear` with the carrier 'arm'; mesh=True: `GearMesh` with tooth forces.  Joints 'sun-planet' and
    'planet-ring'.
    """
    ring, length = sun + 2 * planet, sun + planet
    P = (length * math.cos(angle), length * math.sin(angle))
    m = pl.Model("planetary", gravity=gravity)
    m.add(pl.Body("sun", 1.0, 0.5 * sun**2, r=(0, 0), phi=0.0))
    m.add(rod_between("arm", (0, 0), P, mass=0.6, start="O", end="P"))
    m.add(pl.Body("planet", 0.4, 0.2 * planet**2, r=P, phi=0.0))
    m.add(pl.Revolute("S", m.ground.point(0, 0), m["sun"].point(0, 0)))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["arm"]["O"]))
    m.add(pl.Revolute("P", m["arm"]["P"], m["planet"].point(0, 0)))
    centre = {name: m[name].point(0, 0) for name in ("sun", "planet", "ground")}
    if mesh:
        m.add(pl.GearMesh("sun-planet", centre["sun"], centre["planet"], sun, planet))
        m.add(pl.GearMesh("planet-ring", centre["planet"], centre["ground"], planet, ring, internal=True))
    else:
        m.add(pl.Gear("sun-planet", m["sun"], m["planet"], -sun / planet, carrier=m["arm"]))
        m.add(pl.Gear("planet-ring", m["planet"], m.ground, planet / ring, carrier=m["arm"]))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["sun"], pl.Ramp(speed)))
    return m


def rack_pinion(radius: float = 0.05, *, speed: float | None = 3.0, gravity: Any = (0.0, 0.0)) -> pl.Model:
    """A pinion on ground pin (0, radius) drives a rack that slides along the ground x axis; driver 'motor'."""
    m = pl.Model("rack and pinion", gravity=gravity)
    m.add(pl.Body("rack", 2.0, 0.01, r=(0, 0), phi=0.0))
    m.add(pl.Body("pinion", 0.5, 0.5 * 0.5 * radius**2, r=(0, radius), phi=0.0))
    m.add(pl.Translational("guide", m.ground.axis((0, 0), (1, 0)), m["rack"].axis((0, 0), (1, 0))))
    m.add(pl.Revolute("pin", m.ground.point(0, radius), m["pinion"].point(0, 0)))
    m.add(pl.RackPinion("teeth", m["rack"].axis((0, 0), (1, 0)), m["pinion"].point(0, 0), radius))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["pinion"], pl.Ramp(speed)))
    return m


def cam(
    radius: float = 0.05, eccentricity: float = 0.02, *, speed: float | None = 6.0, gravity: Any = GRAVITY
) -> pl.Model:
    """An eccentric disc pinned at the origin; the tip of a follower on the ground y axis stays on its rim."""
    m = pl.Model("cam", gravity=gravity)
    m.add(pl.Body("disc", 1.0, 0.5 * radius**2, r=(eccentricity, 0), phi=0.0))
    tip = math.sqrt(radius**2 - eccentricity**2)
    m.add(pl.Body("follower", 0.3, 0.001, r=(0, tip), phi=0.0))
    m.add(pl.Revolute("pin", m.ground.point(0, 0), m["disc"].point(-eccentricity, 0)))
    m.add(pl.Translational("guide", m.ground.axis((0, 0), (0, 1)), m["follower"].axis((0, 0), (0, 1))))
    m.add(pl.PointOnCurve("contact", m["disc"], pl.circle(radius), m["follower"].point(0, 0)))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["disc"], pl.Ramp(speed)))
    return m


def parallelogram(
    cranks: int = 3, *, speed: float | None = None, angle: float = 0.9, gravity: Any = GRAVITY
) -> pl.Model:
    """A platform on equal parallel cranks of 0.2 m, 0.3 m apart; from three cranks on it is redundant."""
    tip = (0.2 * math.cos(angle), 0.2 * math.sin(angle))
    width = 0.3 * (cranks - 1)
    m = pl.Model("parallelogram", gravity=gravity)
    m.add(pl.Body("platform", 3.0, 0.1, r=(tip[0] + width / 2, tip[1]), phi=0.0))
    for k in range(cranks):
        x = 0.3 * k
        m.add(rod_between(f"crank{k + 1}", (x, 0), (x + tip[0], tip[1]), mass=0.5))
        m.add(pl.Revolute(f"A{k + 1}", m.ground.point(x, 0), m[f"crank{k + 1}"]["A"]))
        m.add(pl.Revolute(f"B{k + 1}", m[f"crank{k + 1}"]["B"], m["platform"].point(x - width / 2, 0)))
    if speed is not None:
        m.add(pl.AngleDriver("motor", m.ground, m["crank1"], pl.Ramp(speed, angle)))
    return m


def chain(n: int, *, length: float = 1.0, angle: float = 0.0, gravity: Any = GRAVITY) -> pl.Model:
    """n equal rods 'link1' ... on pins 'pin1' ..., hung on the origin of ground in one straight line."""
    m = pl.Model(f"chain of {n}", gravity=gravity)
    before = m.ground.point(0, 0)
    for k in range(n):
        P, Q = ((length * s * math.cos(angle), length * s * math.sin(angle)) for s in (k, k + 1))
        link = m.add(rod_between(f"link{k + 1}", P, Q, mass=1.0))
        m.add(pl.Revolute(f"pin{k + 1}", before, link["A"]))
        before = link["B"]
    return m


def ladder(n: int, *, length: float = 1.0, angle: float = math.pi / 2, gravity: Any = GRAVITY) -> pl.Model:
    """n four-bar cells in a row, n + 1 parallel cranks and n couplers: the N-four-bar benchmark (mobility 1)."""
    m = pl.Model(f"{n} four-bars", gravity=gravity)
    tip = (length * math.cos(angle), length * math.sin(angle))
    for k in range(n + 1):
        x = k * length
        crank = m.add(rod_between(f"crank{k}", (x, 0), (x + tip[0], tip[1]), mass=1.0))
        m.add(pl.Revolute(f"A{k}", m.ground.point(x, 0), crank["A"]))
        if k:
            start, end = (x - length + tip[0], tip[1]), (x + tip[0], tip[1])
            coupler = m.add(rod_between(f"coupler{k}", start, end, mass=1.0))
            m.add(pl.Revolute(f"B{k}", m[f"crank{k - 1}"]["B"], coupler["A"]))
            m.add(pl.Revolute(f"C{k}", coupler["B"], crank["B"]))
    return m


TEXTBOOK = {
    "four_bar": four_bar,
    "slider_crank": slider_crank,
    "quick_return": quick_return,
    "planetary": planetary,
    "planetary_mesh": lambda **kw: planetary(mesh=True, **kw),
    "rack_pinion": rack_pinion,
    "cam": cam,
    "parallelogram": lambda **kw: parallelogram(3, **{"speed": 2.0, **kw}),
}
"""Builders by name; all take speed= (None: no driver) and gravity=."""


# --- random mechanisms -----------------------------------------------------------------------------------------------


def random_mechanism(
    seed: int,
    bodies: int | None = None,
    *,
    loops: bool = True,
    driven: bool = False,
    forces: bool = True,
    massless: bool = False,
    shake: float = 0.0,
    gravity: Any = GRAVITY,
) -> pl.Model:
    """A mechanism of 2 to 30 bodies (or `bodies`) with mixed joints: a tree, closed by further joints if `loops`.

    The rows of Phi_q are independent and well conditioned at the drawn pose, which is closed to round-off.
    driven     drivers with gentle motions take every freedom (mobility 0)
    forces     point forces, torques, springs and dampers
    massless   some bodies have no rotational inertia, as far as the equations of motion stay regular
    shake      afterwards the drawn poses are disturbed by about this much (m and rad), so that assembly has work
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 31)) if bodies is None else bodies
    m = pl.Model(f"random {seed}", gravity=gravity)
    for k in range(n):
        r = rng.uniform(-0.5, 0.5, 2) * math.sqrt(n)
        m.add(
            pl.Body(
                f"body{k}",
                mass=rng.uniform(0.5, 2.0),
                inertia=rng.uniform(0.02, 0.2),
                r=r,
                phi=rng.uniform(-math.pi, math.pi),
                v=rng.normal(size=2),
                omega=rng.normal(),
            )
        )
    everything = [m.ground, *m.bodies]
    for k in range(n):
        parent = everything[int(rng.integers(max(0, k - 3), k + 1))]
        _try(m, _random_joint(rng, f"tree{k}", parent, m.bodies[k], closing=False))
    if loops:
        for k in range(n):
            i, j = rng.choice(n + 1, 2, replace=False)
            _try(m, _random_joint(rng, f"loop{k}", everything[i], everything[j], closing=True))
    if driven:
        _drive(m, rng)
    if forces:
        _load(m, rng)
    if massless:
        _lighten(m, rng)
    if shake:
        geared = [b for joint in m.joints if isinstance(joint, pl.Gear) for b in joint.bodies]  # phase is as drawn
        for body in m.bodies:
            body.r = tuple(np.array(body.r) + rng.normal(size=2) * shake)
            body.phi += 0.0 if body in geared else float(rng.normal() * shake)
    return m


def place(point: pl.Point) -> np.ndarray:
    """Global position of a point in the drawn pose."""
    return point.position(np.array(point.body.r), np.array(point.body.phi))


def at(body: pl.Body, P: Any) -> pl.Point:
    """The point of a body that is drawn at the global point P."""
    c, s = math.cos(body.phi), math.sin(body.phi)
    dx, dy = P[0] - body.r[0], P[1] - body.r[1]
    return body.point(c * dx + s * dy, c * dy - s * dx)


def line(body: pl.Body, P: Any, direction: float) -> pl.Axis:
    """The axis of a body that is drawn through P in a global direction (rad)."""
    Q = (P[0] + math.cos(direction), P[1] + math.sin(direction))
    return body.axis(at(body, P), at(body, Q))


def _random_joint(rng: np.random.Generator, name: str, i: pl.Body, j: pl.Body, closing: bool) -> Any:
    """A joint between i and j that the drawn pose satisfies."""
    P = (np.array(i.r if not i.is_ground else j.r) + np.array(j.r)) / 2 + rng.normal(size=2) * 0.3
    angle = rng.uniform(-math.pi, math.pi)
    kinds = ["revolute"] * 4 + ["slide", "slot", "rod", "weld"]
    if closing:
        kinds = ["revolute", "slot", "rod", "rod", "parallel", "gear"]
    match rng.choice(kinds):
        case "revolute":
            return pl.Revolute(name, at(i, P), at(j, P))
        case "slide":
            return pl.Translational(name, line(i, P, angle), line(j, P + 0.4 * rng.normal() * _unit(angle), angle))
        case "slot":
            return pl.PinInSlot(name, line(i, P - 0.3 * _unit(angle), angle), at(j, P))
        case "rod":
            point_i, point_j = at(i, P), at(j, P + rng.uniform(0.3, 0.8) * _unit(angle))
            return pl.Distance(name, point_i, point_j, float(np.hypot(*(place(point_j) - place(point_i)))))
        case "weld":
            return pl.Weld(name, at(i, P), at(j, P), j.phi - i.phi)
        case "parallel":
            return pl.Parallel(name, line(i, P, angle), line(j, P, angle))
        case "gear":
            return pl.Gear(name, i, j, float(rng.choice([-1, 1]) * rng.uniform(0.4, 2.5)))


def _unit(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle)])


def jacobian(m: pl.Model, t: float = 0.0) -> np.ndarray:
    """Phi_q (nc, nq) at the drawn pose."""
    system = pl.compile(m)
    return system.pattern.to_dense(system.constraints(t, system.q_drawn).Phi_q)


def _try(m: pl.Model, element: Any) -> bool:
    """Add a constraint if the rows stay clearly independent: smallest singular value above 1/50 of the largest."""
    m.add(element)
    J = jacobian(m)
    s = np.linalg.svd(J, compute_uv=False)
    good = J.shape[0] <= J.shape[1] and s[-1] > 0.02 * s[0]
    if not good:
        m._items.remove(element)
        m._ids.discard(id(element))
    return bool(good)


def _drive(m: pl.Model, rng: np.random.Generator) -> None:
    """Drivers of relative angles, lengths, slides and coordinates until nothing is free.

    Each is the best of a few: the one whose row has the largest part along the motions Z that are still free.
    """
    J, nq = jacobian(m), 3 * len(m.bodies)
    for k in range(nq - len(J)):
        Z = np.linalg.svd(J)[2][len(J) :].T
        candidates = [_random_driver(rng, f"drive{k}", m, Z) for _ in range(10)]
        rows = [_row(m, c) for c in candidates]
        best = int(np.argmax([np.linalg.norm(row @ Z) / np.linalg.norm(row) for row in rows]))
        m.add(candidates[best])
        J = np.vstack([J, rows[best]])


def _row(m: pl.Model, driver: Any) -> np.ndarray:
    alone = pl.Model()
    alone.ground, alone._items = m.ground, [*m.bodies, driver]
    return jacobian(alone)


def _random_driver(rng: np.random.Generator, name: str, m: pl.Model, Z: np.ndarray) -> Any:
    free = np.linalg.norm(Z, axis=1).reshape(-1, 3)  # how freely each coordinate moves
    body = m.bodies[int(rng.choice(len(m.bodies), p=free.sum(1) / free.sum()))]
    other = [m.ground, *(b for b in m.bodies if b is not body)][int(rng.integers(len(m.bodies)))]
    P, angle = np.array(body.r) + rng.normal(size=2) * 0.2, rng.uniform(-math.pi, math.pi)

    def around(value: float, amplitude: float) -> pl.Harmonic:
        """Starts at the drawn value, with a speed."""
        return pl.Harmonic(amplitude * rng.uniform(0.5, 1), rng.uniform(1, 3), offset=float(value))

    match rng.choice(["angle", "angle", "length", "slide", "point", "x", "y", "phi"]):
        case "angle":
            return pl.AngleDriver(name, other, body, around(body.phi - other.phi, 0.1))
        case "length":
            point_i, point_j = at(other, P + 0.6 * _unit(angle)), at(body, P)
            return pl.LengthDriver(name, point_i, point_j, around(np.hypot(*(place(point_j) - place(point_i))), 0.03))
        case "slide":
            return pl.SlideDriver(name, line(other, P - 0.5 * _unit(angle), angle), at(body, P), around(0.5, 0.03))
        case "point":
            return pl.PointDriver(name, at(body, P), x=around(P[0], 0.03))
        case coordinate:
            value = {"x": body.r[0], "y": body.r[1], "phi": body.phi}[coordinate]
            return pl.CoordinateDriver(name, body, str(coordinate), around(value, 0.03))


def _load(m: pl.Model, rng: np.random.Generator) -> None:
    for k in range(max(2, len(m.bodies) // 2)):
        body = m.bodies[int(rng.integers(len(m.bodies)))]
        other = [m.ground, *(b for b in m.bodies if b is not body)][int(rng.integers(len(m.bodies)))]
        p, o = (b.point(*rng.normal(size=2) * 0.3) for b in (body, other))
        match rng.choice(["force", "follower", "torque", "spring", "torsion"]):
            case "force":
                m.add(pl.PointForce(f"load{k}", p, (rng.normal() * 5, "3*sin(2*t)")))
            case "follower":
                m.add(pl.PointForce(f"load{k}", p, rng.normal(size=2) * 5, frame="body"))
            case "torque":
                m.add(pl.Torque(f"load{k}", body, f"{rng.normal():.6f}*(1 + cos(3*t))"))
            case "spring":
                m.add(pl.Spring(f"load{k}", o, p, stiffness=20.0, length=0.3, damping=0.5, force=float(rng.normal())))
            case "torsion":
                m.add(pl.TorsionSpring(f"load{k}", other, body, stiffness=2.0, angle=0.1, damping=0.05))


def _lighten(m: pl.Model, rng: np.random.Generator) -> None:
    """Take the inertia of some bodies away while M stays positive on the free motions Z: eig(Z^T M Z) > 0."""
    J = jacobian(m)
    Z = np.linalg.svd(J)[2][J.shape[0] :].T
    for body in m.bodies:
        if rng.random() > 0.4:
            continue
        before, body.inertia = body.inertia, 0.0
        M = np.array([(b.mass, b.mass, b.inertia) for b in m.bodies]).reshape(-1)
        if Z.shape[1] and np.linalg.eigvalsh(Z.T * M @ Z)[0] < 0.01:
            body.inertia = before
