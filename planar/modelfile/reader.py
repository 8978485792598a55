"""From the tables of a file to a model, with every problem at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planar.bodies import Body
from planar.elements import KINDS, Element
from planar.model import Model
from planar.modelfile.analyses import Analysis, read_analysis
from planar.modelfile.formulas import BAD, Bad
from planar.modelfile.overrides import override
from planar.modelfile.problems import Problems, near
from planar.modelfile.source import MAX_NAME, Key, parse, read_text
from planar.modelfile.units import BODY, element_unit
from planar.modelfile.values import Values, annotation, groups, required

SCHEMA = 1
MAX_ITEMS = 50_000  # bodies, joints, drivers and forces together

_ROD = ("length", "start", "end")
_DRAWING = ("com", "origin")
_BODY_KEYS = ("mass", "inertia", "r", "phi", "v", "omega", "points", *_ROD, *_DRAWING)


@dataclass
class ModelFile:
    """What a file holds: the model, the values of its parameters, its analyses by name."""

    model: Model
    parameters: dict[str, float] = field(default_factory=dict)
    analyses: dict[str, Analysis] = field(default_factory=dict)


def load_model(path: Any, set: Mapping[str, Any] | None = None) -> Model:
    """The model of a TOML file; `set` changes entries, ``{"L2": 0.35, "crank.mass": "500 g"}``.

    Everything that is wrong with the file is one `ModelError`, each problem with its line, table and key.
    """
    return load(path, set).model


def load(path: Any, set: Mapping[str, Any] | None = None) -> ModelFile:
    """Like `load_model`, with the parameters and analyses of the file."""
    return loads(read_text(path), set, title=f"model file {str(path)!r}")


def loads(text: str, set: Mapping[str, Any] | None = None, *, title: str = "model file") -> ModelFile:
    """Like `load`, from the text itself."""
    return Reader(Problems(title, text)).file(parse(text, title), set or {})


class Reader:
    """Reads one file."""

    def __init__(self, problems: Problems):
        self.problems = problems
        self.values = Values(problems)
        self.keys: dict[int, Key] = {}  # id of an item -> where it stands

    def file(self, data: dict[str, Any], set: Mapping[str, Any]) -> ModelFile:
        self._schema(data)
        override(data, set, self.problems)
        self._sections(data)
        self.values.read_parameters(self._section(data, "parameters"))
        model = self._model(self._section(data, "model"))
        self._ground(model, self._section(data, "ground"))
        names = self._names(data)
        items = [self._body(name, table) for name, table in self._section(data, "bodies").items()]
        for group in groups():
            items += [self._element(group, name, table) for name, table in self._section(data, group).items()]
        analyses = {
            name: read_analysis(self.values, table, ("analyses", name), names)
            for name, table in self._section(data, "analyses").items()
        }
        for item in items:
            if not isinstance(item, Bad):
                model.add(item)
        self._check(model)
        self.problems.enforce()
        return ModelFile(model, dict(self.values.parameters), analyses)

    # --- tables --------------------------------------------------------------------------------------------------------

    def _schema(self, data: dict[str, Any]) -> None:
        schema = data.pop("schema", None)
        if schema is None:
            self.problems.add(("schema",), f"is missing; begin the file with schema = {SCHEMA}")
        elif schema != SCHEMA or isinstance(schema, (bool, float)):
            self.problems.add(("schema",), f"this version reads schema = {SCHEMA}", schema)
            self.problems.enforce()  # the rest may mean something else

    def _sections(self, data: dict[str, Any]) -> None:
        known = ("model", "parameters", "ground", "bodies", *groups(), "analyses")
        for name in data:
            if name not in known:
                self.problems.add((name,), f"unknown table, {near(name, known)}")
        count = sum(len(data[g]) for g in ("bodies", *groups()) if isinstance(data.get(g), dict))
        if count > MAX_ITEMS:
            self.problems.add(("bodies",), f"{count} bodies and elements, at most {MAX_ITEMS} are read; use Python")
            self.problems.enforce()

    def _section(self, data: dict[str, Any], name: str) -> dict[str, Any]:
        return self.values.table(data.get(name, {}), (name,), f"a table [{name}]")

    def _names(self, data: dict[str, Any]) -> dict[str, str]:
        """{name: group} of everything; a name that is used twice or cannot be one is a problem."""
        found: dict[str, str] = {"ground": "ground"}
        for group in ("bodies", *groups()):
            table = data.get(group)
            for name in table if isinstance(table, dict) else ():
                if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
                    text = f"is no name; give 1 to {MAX_NAME} printable characters"
                    self.problems.add((group, name), text)
                elif name == "ground":
                    text = "is always there; its points stand in [ground.points]" if group == "bodies" else "is a body"
                    self.problems.add((group, name), f"'ground' {text}; choose another name")
                elif name in found:
                    self.problems.add(
                        (group, name), f"{name!r} stands under [{found[name]}] too; names must be different"
                    )
                else:
                    found[name] = group
        return found

    # --- model, ground, bodies -----------------------------------------------------------------------------------------

    def _model(self, table: dict[str, Any]) -> Model:
        self.values.known_keys(table, ("name", "gravity"), ("model",), "[model]")
        name = self.values.word(table.get("name", "model"), ("model", "name"))
        gravity = self.values.vector(table.get("gravity", [0.0, 0.0]), ("model", "gravity"), "m/s^2")
        return Model("" if isinstance(name, Bad) else name, (0.0, 0.0) if isinstance(gravity, Bad) else gravity)

    def _ground(self, model: Model, table: dict[str, Any]) -> None:
        self.values.known_keys(table, ("points",), ("ground",), "[ground]")
        points = self._points(table.get("points", {}), ("ground", "points"))
        model.ground.points.update({} if isinstance(points, Bad) else points)
        self.values.bodies["ground"] = BAD if isinstance(points, Bad) else model.ground

    def _points(self, table: Any, key: Key) -> dict[str, tuple[float, float]] | Bad:
        if not isinstance(table, dict):
            return self.values.wrong(key, table, "points { A = [0, 0], B = [0.1, 0] }")
        found = {name: self.values.vector(value, (*key, name), "m") for name, value in table.items()}
        return BAD if any(isinstance(v, Bad) for v in found.values()) else found  # type: ignore[return-value]

    def _body(self, name: str, table: Any) -> Body | Bad:
        key = ("bodies", name)
        if isinstance(table, dict):
            body = self._read_body(name, table, key)
        else:
            body = self.values.wrong(key, table, "a table [bodies.NAME]")
        self.keys[id(body)] = key
        self.values.bodies.setdefault(name, body)
        return body

    def _read_body(self, name: str, table: dict[str, Any], key: Key) -> Body | Bad:
        """A body: a rod where `length` is given, drawn from another origin where `com` is given."""
        sound = self.values.known_keys(table, _BODY_KEYS, key, "a body")
        readers = {"points": self._points, "start": self.values.word, "end": self.values.word, "com": self._com}
        found: dict[str, Any] = {}
        for word in (word for word in _BODY_KEYS if word in table):
            read = readers.get(word) or (self.values.vector if word in ("r", "v", "origin") else self.values.number)
            unit = (BODY[word],) if word in BODY and word != "points" else ()
            found[word] = read(table[word], (*key, word), *unit)
        if not sound or any(isinstance(v, Bad) for v in found.values()):
            return BAD
        if conflict := _conflict(found):
            self.problems.add((*key, conflict[0]), conflict[1], table[conflict[0]])
            return BAD
        if "length" in found:
            return self._rod(name, found, key)
        if "com" in found:
            return self.values.make(Body.from_origin, {"name": name, "points": {}, **found}, key)
        return self.values.make(Body, {"name": name, **found}, key)

    def _com(self, value: Any, key: Key, unit: str) -> Any:
        return value if isinstance(value, str) else self.values.vector(value, key, unit)

    def _rod(self, name: str, found: dict[str, Any], key: Key) -> Body | Bad:
        """A uniform rod; further points are counted from its middle."""
        points = found.pop("points", {})
        body = self.values.make(Body.rod, {"name": name, **found}, key)
        if isinstance(body, Bad):
            return BAD
        for point, s in points.items():
            if point in body.points:
                self.problems.add((*key, "points", point), "is an end of the rod already; choose another name")
            body.points[point] = s
        return body

    # --- elements ------------------------------------------------------------------------------------------------------

    def _element(self, group: str, name: str, table: Any) -> Element | Bad:
        key = (group, name)
        if not isinstance(table, dict):
            return self.values.wrong(key, table, f"a table [{group}.NAME]")
        kinds = {kind: cls for kind, cls in KINDS.items() if f"{cls.word}s" == group}
        kind = table.get("type")
        if isinstance(kind, str) and kind in KINDS and kind not in kinds:
            right = f"[{KINDS[kind].word}s.{name}]"
            self.problems.add((*key, "type"), f"{kind} is a {KINDS[kind].word}; write it under {right}", kind)
            return BAD
        if isinstance(self.values.kind(table, kinds, key, groups()[group]), Bad):
            return BAD
        cls = kinds[kind]
        if code := needs_code(cls):
            self.problems.add(
                key, f"{kind} needs {code}, Python code that a file cannot hold; add it to the model in Python"
            )
            return BAD
        fields = {word: value for word, value in table.items() if word != "type"}
        found = self.values.fields(cls, fields, key, lambda word: element_unit(cls, word, table))
        element = BAD if isinstance(found, Bad) else self.values.make(cls, {"name": name, **found}, key)
        self.keys[id(element)] = key
        return element

    # --- checks --------------------------------------------------------------------------------------------------------

    def _check(self, model: Model) -> None:
        """What is wrong with the items themselves and, if all could be read, with the whole."""
        complete = not self.problems
        whole = model.problems() if complete else []
        if complete and not whole:
            return
        known = set()
        for item in model:
            own = item.kind_problems() or list(item.problems())
            known.update(own)
            for problem in own:
                self.problems.add(self.keys[id(item)], problem.removeprefix(_label(item)))
        labels = {_label(item): self.keys[id(item)] for item in model}
        for problem in (p for p in whole if p not in known):
            label = next((label for label in labels if problem.startswith(label)), "")
            self.problems.add(labels.get(label, ("model",)), problem.removeprefix(label))


def _label(item: Body | Element) -> str:
    """What messages about an item begin with."""
    return f"{item.label if isinstance(item, Element) else f'body {item.name!r}'}: "


def _conflict(found: Mapping[str, Any]) -> tuple[str, str] | None:
    """A key of a body that does not go with the others, and why."""
    rod, drawing = "length" in found, "com" in found
    rules = (
        (("start", "end"), not rod, "names an end of a rod; give its length too, or use points"),
        (("com", "origin"), rod, "does not go with length: the centre of mass of a rod is its middle"),
        (
            ("origin",),
            not drawing,
            "is where the origin of a drawing lies; give com, the centre of mass from there, too",
        ),
        (
            ("r",),
            drawing,
            "is the place of the centre of mass; beside com give origin, the place of the drawing's origin",
        ),
    )
    return next(((word, why) for words, applies, why in rules if applies for word in words if word in found), None)


def needs_code(cls: type) -> str:
    """The field of a class that must be a callable, or ""."""
    return next((f.name for f in dataclasses.fields(cls) if required(f) and "Callable" in annotation(f)), "")
