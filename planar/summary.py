"""print(model): what a model is made of, as text.  Never raises: what is wrong with the model is part of the text."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from planar.bodies import Axis, Body, Point
from planar.elements import Constraint, Driver, Element
from planar.errors import PlanarError
from planar.model import Model
from planar.motions import Function, Motion, StringMotion, Sum, as_motion

if TYPE_CHECKING:
    from planar.diagnosis import Diagnosis

WIDTH = 100  # columns
MOTION_FIELDS = ("motion", "x", "y")  # of drivers
LONG = 30  # items up to which a table is printed whole, and bodies up to which the rank is worked out


def describe(model: Model) -> str:
    """Bodies, joints, drivers, forces, counts and degrees of freedom, at most 100 columns wide."""
    lines = [f"{model.name}, gravity ({_number(model.gravity[0])}, {_number(model.gravity[1])}) m/s^2"]
    for title, head, items, row in _contents(model):
        lines += _table(title, head, items, row)
    problems = _problems(model)
    lines += ["", *_counts(model, valid=not problems)]
    if problems:
        lines += [f"{len(problems)} problem{'s' if len(problems) > 1 else ''}: no analysis will start"]
        lines += [f"  {k}. {problem}" for k, problem in enumerate(problems, 1)]
    return "\n".join(_wrap(line) for line in lines)


def tables(model: Model) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """(title, head, rows) of bodies, joints, drivers and forces, as far as there are any: the same words, whole."""
    return [
        (title, head, [_cells(row, item, len(head)) for item in items])
        for title, head, items, row in _contents(model)
        if items
    ]


def _contents(model: Model) -> list[tuple[str, tuple[str, ...], list, Callable[[Any], tuple[str, ...]]]]:
    """(title, head, items, cells of an item) of each table."""
    return [
        ("bodies", ("", "mass kg", "inertia kg m^2", "drawn pose, m", "points, m"), model.bodies, _body),
        ("joints", ("", "kind", "equations", "connects"), model.joints, _constraint),
        ("drivers", ("", "kind", "equations", "drives", "motion"), model.drivers, _driver),
        ("forces", ("", "kind", "acts on"), model.forces, lambda f: (f.name, type(f).__name__, _details(f))),
    ]


# --- tables --------------------------------------------------------------------------------------------------------


def _table(title: str, head: tuple[str, ...], items: list, row: Callable[[Any], tuple[str, ...]]) -> list[str]:
    """A heading and one aligned line per item; of many items the first and the last ones."""
    if not items:
        return []
    shown = items if len(items) <= LONG else [*items[:8], *items[-2:]]
    rows = [_cells(row, item, len(head)) for item in shown]
    head = (f"{title} ({len(items)})", *head[1:])
    rows = [(f"  {first}", *rest) for first, *rest in rows]
    widths = [max(len(r[k]) for r in (head, *rows)) for k in range(len(head) - 1)]
    while sum(widths) + 2 * len(widths) > WIDTH - 24:  # leave room for the last one, at the cost of the widest
        widths[widths.index(max(widths))] -= 1
    lines = ["", *(_line(r, widths) for r in (head, *rows))]
    if len(shown) < len(items):
        lines.insert(-2, f"  ... {len(items) - len(shown)} more")
    return lines


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    """The cells side by side; the last one goes on below itself, three lines at most."""
    left = "".join(_fit(c, w).ljust(w) + "  " for c, w in zip(cells, widths, strict=False))
    last = textwrap.wrap(cells[-1], WIDTH - len(left), max_lines=3, placeholder=" ...", break_on_hyphens=False) or [""]
    return "\n".join((left + line if k == 0 else " " * len(left) + line).rstrip() for k, line in enumerate(last))


def _cells(row: Callable[[Any], tuple[str, ...]], item: Any, count: int) -> tuple[str, ...]:
    try:
        return tuple(" ".join(str(cell).split()) for cell in row(item))
    except Exception:  # an item whose attributes make no sense; its problems are listed below the tables
        return (str(item.name), "?", *[""] * (count - 2))


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _wrap(line: str) -> str:
    if max(map(len, line.split("\n"))) <= WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _body(body: Body) -> tuple[str, ...]:
    pose = "found at assembly"
    if body.r is not None or body.phi is not None:
        r = "position found" if body.r is None else _pair(body.r)
        pose = f"{r}, angle found" if body.phi is None else f"{r}, {_number(math.degrees(body.phi))} deg"
    points = ", ".join(f"{name} {_pair(s)}" for name, s in body.points.items())
    return body.name, _number(body.mass), _number(body.inertia), pose, points


def _constraint(c: Constraint) -> tuple[str, ...]:
    return c.name, type(c).__name__, ", ".join(_rows(c)) or "?", _details(c)


def _driver(d: Driver) -> tuple[str, ...]:
    motions = [(f, getattr(d, f)) for f in MOTION_FIELDS if getattr(d, f, None) is not None]
    text = ", ".join(_motion(m) if f == "motion" else f"{f} = {_motion(m)}" for f, m in motions)
    return d.name, type(d).__name__, ", ".join(_rows(d)) or "?", _details(d), text or "none"


def _rows(c: Constraint) -> list[str]:
    try:
        return [word for block in c.blocks() for word in block.rows]
    except Exception:  # an invalid element may fail in any way; its problems are listed below the tables
        return []


# --- elements ------------------------------------------------------------------------------------------------------


def _details(element: Element) -> str:
    """What it is attached to, then the other fields that differ from their defaults."""
    places, others = [], []
    for f in dataclasses.fields(element):
        value = getattr(element, f.name)
        if f.name in ("name", "rows", *MOTION_FIELDS):  # those have columns of their own
            continue
        if f.name == "carrier" and value is not None:
            others.append(f"carrier {value.name}")
        elif places_here := _places(value):
            places += places_here
        elif not _same(value, f.default):
            others.append(_field(f.name, value))
    return ", ".join([" - ".join(places), *others])


def _places(value: Any) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else (value,)
    return [_place(v) for v in values] if values and all(isinstance(v, (Body, Point, Axis)) for v in values) else []


def _place(item: Body | Point | Axis) -> str:
    if isinstance(item, Body):
        return str(item.name)
    if isinstance(item, Point):
        return f"{item.body.name} {item.name or _pair(item.s)}"
    return f"{item.body.name} {_pair(item.start)}->{_pair(item.end)}"


def _field(name: str, value: Any) -> str:
    if value is True:
        return name.replace("_", " ")
    return f"{name} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, Motion):
        return _motion(value)
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        values = list(value)
        return f"({', '.join(_value(v) for v in values[:4])}{', ...' if len(values) > 4 else ''})"
    return str(value)


def _motion(value: Any) -> str:
    try:
        motion = as_motion(value)
    except PlanarError:
        return f"no motion: {value!r:.40}"
    if isinstance(motion, StringMotion):
        return f'"{motion.text}"'
    if isinstance(motion, Function):
        return _value(motion.f)
    if isinstance(motion, Sum):
        return " + ".join(_motion(term) if k == 1 else f"{_number(k)} {_motion(term)}" for k, term in motion.terms)
    if type(motion).__repr__ is not object.__repr__ and not motion.__dataclass_params__.repr:
        return repr(motion)  # a table says what it is, not all its rows
    fields = [f for f in dataclasses.fields(motion) if not _same(getattr(motion, f.name), f.default)]
    return f"{type(motion).__name__}({', '.join(f'{f.name}={_value(getattr(motion, f.name))}' for f in fields)})"


def _same(value: Any, default: Any) -> bool:
    """Equal to the default; arrays never are."""
    same = value == default
    return same if isinstance(same, bool) else False


def _number(x: float) -> str:
    return f"{x + 0.0:.6g}"


def _pair(p: Iterable[float]) -> str:
    return f"({', '.join(_number(0.0 if abs(c) < 1e-15 else c) for c in p)})"


# --- counts --------------------------------------------------------------------------------------------------------


def _problems(model: Model) -> list[str]:
    try:
        return model.problems()
    except Exception as error:  # never raise: a check that fails is a problem of the model too
        return [f"the model cannot be checked: {error}"]


def _counts(model: Model, valid: bool) -> list[str]:
    """Coordinates, equations and degrees of freedom: by count, and by rank at the assembled pose or why that is not known."""
    joints, drivers = (sum(len(_rows(c)) for c in group) for group in (model.joints, model.drivers))
    n = 3 * len(model.bodies)
    split = f" ({joints} of joints, {drivers} of drivers)" if drivers else ""
    d, why = _diagnosis(model) if valid else (None, "")
    ranks = (f", {d.dof} by rank at the assembled pose", f", {d.dof_driven} by rank") if d else ("", "")
    released = " with the drivers released" if drivers else ""
    lines = [f"{n} coordinates, {joints + drivers} equations{split}"]
    lines.append(f"degrees of freedom{released}: {n - joints} by count (Gruebler){ranks[0]}")
    if drivers:
        lines.append(f"degrees of freedom with the drivers acting: {n - joints - drivers} by count{ranks[1]}")
    if d and d.redundant:
        kinds = [f"{len(s)} {word}" for s, word in ((d.permanent, "permanent"), (d.momentary, "momentary")) if s]
        lines.append(f"redundant equations: {', '.join(kinds)}; m.diagnose() names them")
    return lines + ([why] if why else [])


def _diagnosis(model: Model) -> tuple[Diagnosis | None, str]:
    """The diagnosis, or why there is none."""
    if len(model.bodies) > LONG:
        return None, f"by rank: not worked out here for more than {LONG} bodies, m.diagnose() does"
    from planar.diagnosis import diagnose

    try:
        return diagnose(model), ""
    except PlanarError as error:
        return None, f"by rank: not known, {error}"
    except Exception as error:  # a user's function may fail in any way
        return None, f"by rank: not known, {type(error).__name__}: {error}"
