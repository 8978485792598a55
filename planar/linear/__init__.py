"""Linear algebra for constraint Jacobians of a fixed pattern: dense LAPACK, banded LAPACK, CHOLMOD, SuperLU.

Everything symbolic (pattern, orders, scatter maps) is done when a solver is made; `factor` and `solve` only move
numbers. All routes give the same results; `choose_route` picks the quickest.

    pattern.py      Phi_q as a fixed pattern with changing values
    order.py        orders, scales, index maps
    lu.py           LU of a square matrix: dense, banded, SuperLU
    gram.py         Cholesky of P P^T: banded          cholmod.py   the same by CHOLMOD
    core.py         the KKT system of full rank        kkt.py       any rank: the solver that others use
    jacobian.py     the square Jacobian alone          rank.py      which rows depend on which
    routes.py       which of all that suits a system
"""

from planar.linear.jacobian import JacobianSolver, jacobian_solver
from planar.linear.kkt import KKTSolver, kkt_solver
from planar.linear.pattern import Pattern
from planar.linear.rank import Dependence, dependence
from planar.linear.routes import available_routes, choose_route

__all__ = [
    "Dependence",
    "JacobianSolver",
    "KKTSolver",
    "Pattern",
    "available_routes",
    "choose_route",
    "dependence",
    "jacobian_solver",
    "kkt_solver",
]
