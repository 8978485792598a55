"""Events of a simulation: zeros of functions of the state, and ready-made functions.

An event is any callable g(t, state); a zero is found where g changes its sign.  As in scipy it may carry the attributes
``terminal`` (True: the run ends there; a number: at that many zeros) and ``direction`` (+1: only where g grows, -1: only
where it falls).  `state` is a `Result` of the samples looked at: ``state[body].phi``, ``state.point(p).r``,
``state.reaction(joint).force``, with time along the first axis.  Functions that take one state only (with `if`, or
math.sin) work too, sample by sample.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from planar.bodies import Body, Point
from planar.errors import ModelError
from planar.result import Event, Result
from planar.steppers import Track
from planar.system import System

BETWEEN, MOST = 4, 64  # places looked at in each step, at least and at most; else EVERY part of the run
EVERY = 0.01


class _Named:
    """A ready-made event: a function with its name and options."""

    def __init__(self, name: str, function: Callable, terminal: Any, direction: float, text: str):
        self.__name__, self._function = name, function
        self.terminal, self.direction, self.text = terminal, float(direction), text

    def __call__(self, t: Any, state: Any) -> Any:
        return self._function(t, state)

    def __repr__(self) -> str:
        return f"<event {self.__name__}: {self.text}>"


def angle_reached(
    body: Any, angle: float, *, relative_to: Any = None, terminal: Any = False, direction: float = 0.0
) -> Any:
    """The angle of a body (minus that of `relative_to`) reaches `angle` rad; turns are counted, angles not wrapped."""
    names = [getattr(b, "name", b) for b in (body, relative_to)]

    def g(t, state):
        other = state[names[1]].phi if relative_to is not None else 0.0
        return state[names[0]].phi - other - angle

    text = f"{names[0]!r} at {np.degrees(angle):g} deg"
    return _Named("angle_reached", g, terminal, direction, text)


def distance_reached(
    point_i: Point, point_j: Point, distance: float, *, terminal: Any = False, direction: float = 0.0
) -> Any:
    """The distance of two points reaches `distance` m."""
    for p in (point_i, point_j):
        if not isinstance(p, Point):
            raise ModelError(f"distance_reached takes points such as crank['A'], got {p!r}", "events")

    def g(t, state):
        d = state.point(point_j).r - state.point(point_i).r
        return np.hypot(d[..., 0], d[..., 1]) - distance

    text = f"distance of {point_i!r} and {point_j!r} is {distance:g} m"
    return _Named("distance_reached", g, terminal, direction, text)


def reaction_exceeds(joint: Any, limit: float, *, on: Any = None, terminal: Any = False, direction: float = 1.0) -> Any:
    """The force of a joint grows beyond `limit` N (direction=-1: falls below it)."""
    if not limit > 0:
        raise ModelError(f"reaction_exceeds: limit is {limit!r} N; give a positive number", "events")
    name = getattr(joint, "name", joint)

    def g(t, state):
        F = state.reaction(name, on=on).force
        return np.hypot(F[..., 0], F[..., 1]) - limit

    return _Named("reaction_exceeds", g, terminal, direction, f"{name!r} carries {limit:g} N")


class Watch:
    """The events of one run: finds their zeros in chunks of steps."""

    def __init__(self, system: System, events: Any, span: tuple[float, float]):
        if callable(events):
            events = (events,)
        self.system, self.events = system, list(events or ())
        self.spacing = EVERY * abs(span[1] - span[0])
        for k, g in enumerate(self.events):
            if not callable(g) or isinstance(g, (Body, type)):
                raise ModelError(
                    f"events[{k}] is {g!r:.60}; give a function g(t, state), or one of pl.events", "simulate"
                )
            terminal, direction = getattr(g, "terminal", False), getattr(g, "direction", 0)
            if not isinstance(terminal, numbers.Real | None) or not isinstance(direction, numbers.Real):
                raise ModelError(
                    f"events[{k}]: terminal is {terminal!r}, direction {direction!r}; give numbers", "simulate"
                )
        self.left = [float(getattr(g, "terminal", 0) or 0) for g in self.events]

    def __bool__(self) -> bool:
        return bool(self.events)

    def look(self, stepper: Any, track: Track) -> tuple[list[Event], float | None]:
        """Events between the entries of the track, in the order of time; and the time of the one that ends the run."""
        t = track.times
        count = np.clip(np.ceil(np.abs(np.diff(t)) / self.spacing), BETWEEN, MOST).astype(int)
        when = np.concatenate(
            [*(np.linspace(a, b, n, False) for a, b, n in zip(t[:-1], t[1:], count, strict=True)), t[-1:]]
        )
        state = self._state(stepper, track, when)
        found: list[tuple[float, int, float]] = []
        for k, g in enumerate(self.events):
            values = self._values(g, when, state)
            for n in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
                found.append((self._root(stepper, track, g, when[n], when[n + 1]), k, values[n + 1] - values[n]))
            for n in np.flatnonzero((values[1:] == 0) & (values[:-1] != 0)):
                found.append((when[n + 1], k, -values[n]))
        sign = 1.0 if t[-1] >= t[0] else -1.0
        events: list[Event] = []
        for time, k, change in sorted(found, key=lambda x: sign * x[0]):
            g = self.events[k]
            wanted = getattr(g, "direction", 0) or 0
            if wanted * change < 0:
                continue
            name = getattr(g, "__name__", type(g).__name__)
            text = f"{getattr(g, 'text', name)} at t = {time:.9g} s"
            events.append(Event(name, float(time), text=text))
            if self.left[k]:
                self.left[k] -= 1
                if self.left[k] <= 0:
                    return events, float(time)
        return events, None

    def _state(self, stepper: Any, track: Track, when: np.ndarray) -> Result:
        y, f, lam = stepper.visit(track, track.steps_of(when), when)
        n = self.system.nq
        return Result(self.system, when, y[:, :n], y[:, n:-1], f[:, n:-1], lam, analysis="simulate")

    def _values(self, g: Any, when: np.ndarray, state: Result) -> np.ndarray:
        """g at all samples: at once if it can, else one after the other."""
        try:
            values = np.asarray(g(when, state), float)
            if values.shape == when.shape:
                return self._finite(g, values, when)
        except (TypeError, ValueError):
            pass
        values = np.array([float(np.asarray(g(t, self._one(state, k))).reshape(())) for k, t in enumerate(when)])
        return self._finite(g, values, when)

    def _one(self, state: Result, k: int) -> Any:
        from planar.state import State

        return State(self.system, state.t[k], state.q[k], state.v[k], state.a[k])

    @staticmethod
    def _finite(g: Any, values: np.ndarray, when: np.ndarray) -> np.ndarray:
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            name = getattr(g, "__name__", type(g).__name__)
            raise ModelError(f"event {name!r} gives {values[k]} at t = {when[k]:g} s; it must be finite", "simulate")
        return values

    def _root(self, stepper: Any, track: Track, g: Any, a: float, b: float) -> float:
        def f(t: float) -> float:
            when = np.array([t])
            return float(self._values(g, when, self._state(stepper, track, when))[0])

        from scipy.optimize import brentq  # heavy: only when an event is located

        return brentq(f, a, b, xtol=4e-16 * max(abs(a), abs(b), 1e-3), rtol=1e-14)
