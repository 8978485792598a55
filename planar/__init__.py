"""Planar multibody mechanisms: kinematics, reactions and motion of linkages, the Haug/Nikravesh way.

    import planar as pl

    m = pl.Model("four-bar", gravity=(0, -9.81))
    crank = m.add(pl.Body.rod("crank", mass=1.0, length=0.1, r=(0.05, 0), phi=0.0))
    ...

SI units, radians, counter-clockwise positive.  See docs/notation.md for symbols and signs.
"""

__version__ = "0.1.0"

from planar import events, plot
from planar.animate import animate
from planar.bodies import Axis, Body, Point
from planar.curves import FunctionCurve, SplineCurve, circle, polar
from planar.custom import UserConstraint
from planar.drivers import AngleDriver, CoordinateDriver, LengthDriver, PointDriver, SlideDriver
from planar.equilibrium import equilibria, equilibrium
from planar.errors import (
    AssemblyError,
    CheckError,
    ConvergenceError,
    ModelError,
    PlanarError,
    PlanarWarning,
    SingularError,
)
from planar.forces import PointForce, Spring, Torque, TorsionSpring, UserForce
from planar.forward import simulate
from planar.inverse import inverse_dynamics
from planar.joints import (
    Distance,
    Gear,
    GearMesh,
    Parallel,
    PinInSlot,
    PointOnCurve,
    RackPinion,
    Revolute,
    Translational,
    Weld,
)
from planar.kinematics import kinematics
from planar.linearize import linearize
from planar.model import Model
from planar.modelfile import load_model
from planar.motions import Constant, Function, Harmonic, Polynomial, Ramp, Rise, Table
from planar.report import report
from planar.result import Event, Result
from planar.run import Run
from planar.saving import load
from planar.statics import statics
from planar.system import System, compile


def __getattr__(name: str):
    """Packages that are imported when first used: planar.verify(model, t)."""
    if name in _LATER:
        from importlib import import_module

        return import_module(f"planar.{name}")
    raise AttributeError(f"module 'planar' has no attribute {name!r}")


_LATER = ("verify",)
