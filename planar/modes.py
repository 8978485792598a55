"""Natural modes by name, and the tables that show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from planar.mobility import metric
from planar.system import System

if TYPE_CHECKING:
    from planar.linearize import Linearization


@dataclass(frozen=True)
class Mode:
    """A natural mode of the undamped system: dq = shape exp(s t).

    eigenvalue   s in 1/s: i omega where it oscillates, +growth (with its partner -growth) where it runs away, 0 if neutral
    shape        (nq,) displacements of all bodies in m and rad, of unit modal mass (shape^T M shape = 1)
    mode["rod"]  (x, y, phi) of one body
    """

    eigenvalue: complex
    shape: np.ndarray = field(repr=False)
    system: System = field(repr=False)

    @property
    def omega(self) -> float:
        """Natural frequency in rad/s, 0 for a neutral mode, nan for one that runs away without swinging."""
        s = self.eigenvalue
        return float("nan") if s.imag == 0.0 and s.real > 0.0 else abs(s.imag)

    @property
    def hertz(self) -> float:
        return self.omega / (2 * np.pi)

    @property
    def growth(self) -> float:
        """Rate in 1/s at which it runs away, 0 if it does not."""
        return self.eigenvalue.real

    def __getitem__(self, body: Any) -> np.ndarray:
        k = self.system.body_index(body)
        return np.zeros(3) if k == self.system.nb else self.shape[3 * k : 3 * k + 3]

    @property
    def movers(self) -> list[str]:
        """Names of the bodies that move, the one that moves most first (turns counted as path over a typical length)."""
        path = np.abs(self.shape * np.sqrt(metric(self.system))).reshape(-1, 3).max(axis=1)
        order = np.argsort(-path, kind="stable")
        return [self.system.body_names[k] for k in order if path[k] > 1e-6 * path.max()]


def describe(lin: Linearization) -> str:
    """The tables that print(lin) shows."""
    motions = f"{lin.n} free motion{'s' if lin.n != 1 else ''}"
    lines = [f"{lin.system.model.name}: {motions} at t = {lin.t:g} s, {lin.stability}"]
    if lin.modes:
        lines.append("  mode       Hz      rad/s   moves most")
        for k, mode in enumerate(lin.modes[:20], 1):
            rate = f"{mode.hertz:9.4g}  {mode.omega:9.4g}"
            if mode.growth > 0:
                rate = f"grows with {mode.growth:.4g}/s"
            elif mode.omega == 0:
                rate = "neutral".rjust(20)
            lines.append(f"  {k:4d} {rate}   {', '.join(mode.movers[:3])}")
    if lin.n and (lin.moving or lin.damped or not lin.symmetric):
        lines.append("  eigenvalue in 1/s           Hz   damping ratio")
        pairs = zip(lin.eigenvalues, lin.damping, strict=True)
        for value, zeta in [(s, z) for s, z in pairs if s.imag >= 0][:20]:
            pair = "±" if value.imag else " "
            text = f"{value.real:.5g} {pair} {value.imag:.5g}i" if value.imag else f"{value.real:.5g}"
            lines.append(f"  {text:<22} {value.imag / (2 * np.pi):9.4g}   {zeta:9.4g}")
    shown, massless = min(len(lin.modes), 20), lin.massless
    if lin.modes and lin.n - massless > shown:
        lines.append(f"  {shown} of {lin.n - massless} modes shown, the slowest")
    if massless:
        lines.append(f"  {massless} massless free motions follow the others statically and have no mode of their own")
    return "\n".join(lines + [f"  {note}" for note in lin.notes])
