"""Following the positions of a driven mechanism through time without leaving the branch.

From a known state (q, v, a) the next one is predicted (a quintic through the last two states, error h^6, or a parabola)
and corrected by Newton.  A step is safe if it goes no further than LEAP lengths and Newton strays from the prediction by
no more than STRAY of the way; an unsafe step is halved.  Where even the smallest step fails there is either

* a change point (parallelogram in a line): det Phi_q changes its sign, the branch goes on smoothly on the other side and
  the prediction finds it there; or
* a limit position: the drivers ask for more than the linkage can reach, and the motion ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planar.assembly import row_scale
from planar.errors import SingularError
from planar.linear import jacobian_solver
from planar.system import System

LEAP = 0.3  # lengths (or radians) that one step may go
STRAY = 0.1  # part of the way that Newton may correct
SMALLEST = 1e-11  # smallest step, relative to the time a leap takes
DENSE = 150  # coordinates up to which samples are filled in as one batch of dense systems
ITERATIONS = 8
HURRY = 1e-7  # a step this much shorter than the way ahead is no way to get there;
PATIENCE = 5000  # so many of them are a motion that runs off to infinity


class Node(NamedTuple):
    """A state on the way; sound: `Path.soundness` of its Jacobian."""

    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    sound: float


class Path:
    """The square system of the `chosen` rows, and the steps along its solution."""

    def __init__(self, system: System, chosen: np.ndarray):
        self.system, self.chosen = system, chosen
        self.pattern, self.entries = system.pattern.select(chosen)
        self.solver = jacobian_solver(self.pattern)
        self.unit = np.tile([1.0, 1.0, system.length], system.nb)  # angles as lengths
        self.scale = row_scale(system)[chosen]
        self.leap = LEAP * system.length
        self.probe = np.cos(np.arange(system.nq))
        self.size_of_probe = float(np.linalg.norm(self.probe))
        self.healthy = 0.0  # largest soundness met so far
        self.crossings: list[Node] = []  # change points that were passed

    def round_off(self, q: np.ndarray) -> float:
        """Correction in m that is no more than rounding."""
        return 2e-14 * (self.system.length + np.abs(q.reshape(-1, 3)[:, :2]).max(initial=0.0))

    # --- steps -----------------------------------------------------------------------------------------------------

    def node(self, t: float, q: np.ndarray, path: float = np.inf) -> Node | None:
        """Newton from q at time t: a state, or None if it does not converge within STRAY of `path` m."""
        F, still = self.system.motion_values(t), np.zeros_like(q)
        drift, before = 0.0, np.inf
        try:
            for _ in range(ITERATIONS):
                e = self.system.evaluate(t, q, still, F)
                if not np.isfinite(e.Phi).all():
                    return None
                self.solver.factor(e.Phi_q[self.entries])
                dq = self.solver.solve(-e.Phi[self.chosen])
                change = np.abs(dq * self.unit).max()
                drift += change
                if not drift <= STRAY * path + 1e-6 * self.system.length:
                    return None
                q = q + dq
                if is_settled(change, before, self.round_off(q)):
                    break
                before = change
            else:
                return None
            v = self.solver.solve(e.nu[self.chosen])
            gamma = self.system.evaluate(t, q, v, F).gamma
            a = self.solver.solve(gamma[self.chosen])
            return Node(t, q, v, a, self.soundness(e.Phi_q, self.solver.solve(self.probe)))
        except SingularError:
            return None

    def soundness(self, Phi_q: np.ndarray, x: np.ndarray) -> float:
        """How far Phi_q is from singular, with the sign of its determinant; x = Phi_q^-1 probe.  0: singular.

        |probe| / |x| is an estimate of the smallest singular value from above.  Large systems: without the sign.
        """
        if self.system.nq > DENSE:
            return float(self.size_of_probe / np.linalg.norm(x))
        sign = np.linalg.slogdet(self.pattern.to_dense(Phi_q[self.entries]))[0]
        return float(sign * self.size_of_probe / np.linalg.norm(x))

    def step(self, nodes: list[Node], t: float) -> Node | None:
        """From the last nodes to time t in one safe step, or None."""
        last = nodes[-1]
        h = t - last.t
        path = max(np.abs(h * last.v * self.unit).max(), np.abs(0.5 * h * h * last.a * self.unit).max())
        if not path <= self.leap:
            return None
        return self.node(t, _predict(nodes, t), path)

    def walk(self, nodes: list[Node], target: float) -> bool:
        """Append nodes up to `target`, or a little past it where it is a singular position; False at a limit position."""
        direction = 1.0 if target >= nodes[-1].t else -1.0
        leap_time = self._leap_time(nodes[-1], abs(target - nodes[-1].t))
        h = leap_time
        hurried = 0
        while direction * (target - nodes[-1].t) > 0.0:
            left = abs(target - nodes[-1].t)
            whole = h >= left
            found = self.step(nodes, target if whole else nodes[-1].t + direction * h)
            if found is not None and self._stays_on_branch(nodes[-1], found):
                nodes.append(found)
                hurried += h < HURRY * left
                if hurried > PATIENCE:
                    return False
                leap_time = max(leap_time, self._leap_time(found, left))
                h = min(1.5 * h, leap_time)
                continue
            h = 0.5 * min(h, left)
            if h < SMALLEST * leap_time:
                if not self._jump(nodes, direction, leap_time):
                    return False
                h = 0.1 * leap_time
        return True

    def _leap_time(self, node: Node, most: float) -> float:
        """Time in s that a leap takes at the speed of the node."""
        speed = np.abs(node.v * self.unit).max()
        bend = np.sqrt(0.5 * np.abs(node.a * self.unit).max() / self.leap)
        return 0.9 / max(speed / self.leap, bend, 1.0 / max(most, 1e-300))

    def _jump(self, nodes: list[Node], direction: float, leap_time: float) -> bool:
        """Across a change point: from states well before it to one after it, where the Jacobian is sound again.

        States closer to it than the size of the jump are dropped: their velocities and accelerations have few digits.
        """
        last = nodes[-1].t
        for size in np.array([1e-2, 1e-3, 1e-4, 1e-5, 3e-2, 1e-1]) * leap_time:
            before = [n for n in nodes if direction * (last - n.t) >= size]
            if not before:
                continue
            first = next((n for n in reversed(before) if direction * (before[-1].t - n.t) >= size), None)
            found = first and self.step([first, before[-1]], last + direction * size)
            if found and self._stays_on_branch(before[-1], found):
                nodes[:] = [*before, found]
                return True
        return False

    def _stays_on_branch(self, low: Node, high: Node) -> bool:
        """A change of sign of det Phi_q must come from a change point on the way, which is noted in `crossings`.

        Bisection on the sign: at a change point the soundness goes to zero; otherwise the two states lie on different
        branches of the linkage, and the step was too long.
        """
        if not low.sound * high.sound < 0.0:
            return True
        ends = [low, high]
        for _ in range(40):
            t = 0.5 * (low.t + high.t)
            node = Node(t, *(x[0] for x in self.fill(ends, np.array([t]))))
            if not node.sound:
                break
            low, high = (node, high) if node.sound * low.sound > 0.0 else (low, node)
        if not abs(node.sound) <= 1e-6 * max(self.healthy, abs(ends[0].sound)):  # nan: Newton went elsewhere
            return False
        self.crossings.append(node)
        return True

    # --- many times at once ------------------------------------------------------------------------------------------

    def fill(self, nodes: list[Node], t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a, sound) at times t between the nodes: quintic Hermite prediction, then Newton on the whole batch.

        sound (nt,): how far the Jacobian is from singular, with the sign of its determinant; 0 where it is singular and nan
        where Newton left the prediction: there the state is the interpolated one.
        """
        parts = [self._fill(nodes, part) for part in np.array_split(t, max(1, t.size * self.system.nq**2 // 4_000_000))]
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def _fill(self, nodes: list[Node], t: np.ndarray) -> tuple[np.ndarray, ...]:
        q0, v0, a0 = _hermite(nodes, t)
        F = self.system.motion_values(t)
        q, still = q0, np.zeros_like(q0)
        tolerance, before = self.round_off(q0), np.inf
        singular, astray = np.zeros(t.shape, bool), np.zeros(t.shape, bool)
        for _ in range(ITERATIONS):
            e = self.system.evaluate(t, q, still, F)
            J = self.pattern.to_dense(e.Phi_q[..., self.entries])
            sign = np.linalg.slogdet(J)[0]
            singular |= sign == 0.0
            J[singular] = np.eye(self.system.nq)
            x = np.linalg.solve(J, np.stack([-e.Phi[..., self.chosen], np.broadcast_to(self.probe, q.shape)], -1))
            sound = sign * self.size_of_probe / np.linalg.norm(x[..., 1], axis=-1)
            # so near to singular that the solution has no digits left: what lies on both sides tells more
            singular |= np.abs(sound) < 1e-7 * max(self.healthy, np.abs(nodes[0].sound))
            dq = np.where(singular[:, None], 0.0, x[..., 0])
            astray |= ~(np.abs((q + dq - q0) * self.unit).max(axis=1) <= 1e-3 * self.leap)
            singular |= astray
            q = np.where(singular[:, None], q0, q + dq)
            change = np.abs(dq * self.unit)[~singular].max(initial=0.0)
            if is_settled(change, before, tolerance):
                break
            before = change
        v = np.linalg.solve(J, e.nu[..., self.chosen, None])[..., 0]
        v[singular] = v0[singular]
        a = np.linalg.solve(J, self.system.evaluate(t, q, v, F).gamma[..., self.chosen, None])[..., 0]
        a[singular], sound[singular] = a0[singular], 0.0
        sound[astray] = np.nan
        for k in np.flatnonzero(singular):
            self._polish(t[k], q[k], v[k], a[k])
        self.healthy = max(self.healthy, np.nanmax(np.abs(sound), initial=0.0))
        return q, v, a, sound

    def _polish(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        """An interpolated state in a singular position: satisfy what the Jacobian still determines, in place."""
        for _ in range(2):
            e = self.system.constraints(t, q, v)
            J = self.pattern.to_dense(e.Phi_q[self.entries])
            q += np.linalg.lstsq(J, -e.Phi[self.chosen], rcond=1e-6)[0]
        for x, right in ((v, "nu"), (a, "gamma")):
            e = self.system.constraints(t, q, v)
            J = self.pattern.to_dense(e.Phi_q[self.entries])
            x += np.linalg.lstsq(J, getattr(e, right)[self.chosen] - J @ x, rcond=1e-6)[0]


def is_settled(change: float, before: float, tolerance: float) -> bool:
    """Newton has come down to rounding, or stands still just above it (an ill-conditioned position)."""
    return change <= tolerance or (change > 0.5 * before and change <= 1e4 * tolerance)


def _predict(nodes: list[Node], t: float) -> np.ndarray:
    last = nodes[-1]
    h = t - last.t
    if len(nodes) > 1 and abs(h) <= 3.0 * abs(last.t - nodes[-2].t):
        return _hermite(nodes[-2:], np.array([t]))[0][0]
    return last.q + h * (last.v + 0.5 * h * last.a)


def _hermite(nodes: list[Node], t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (nt, nq) at times t by the quintic through neighbouring nodes; goes on past the last one."""
    T = np.array([n.t for n in nodes])
    Q, V, A = (np.array([n[k] for n in nodes]) for k in (1, 2, 3))
    if len(nodes) == 1:
        h = (t - T[0])[:, None]
        return Q[0] + h * (V[0] + 0.5 * h * A[0]), V[0] + h * A[0], A[0] + 0.0 * h
    up = T[-1] > T[0]
    i = np.searchsorted(T if up else -T, t if up else -t, side="right") - 1
    i = np.clip(i, 0, len(nodes) - 2)
    H = (T[i + 1] - T[i])[:, None]
    s = (t - T[i])[:, None] / H
    v0, v1, a0, a1 = H * V[i], H * V[i + 1], H * H * A[i], H * H * A[i + 1]
    D = Q[i + 1] - Q[i]
    c = (
        Q[i],
        v0,
        0.5 * a0,
        10 * D - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1,
        -15 * D + 8 * v0 + 7 * v1 + 1.5 * a0 - a1,
        6 * D - 3 * (v0 + v1) - 0.5 * a0 + 0.5 * a1,
    )
    q = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
    v = (c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))) / H
    a = (2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))) / (H * H)
    return q, v, a
