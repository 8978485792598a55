"""Linearization: closed forms, an independent linearization of the motion in minimal coordinates, large systems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mechanisms import GRAVITY, TEXTBOOK, chain, four_bar, parallelogram, random_mechanism, rod_between, slider_crank
from scipy.special import jn_zeros

import planar as pl
from planar import eigen, reduced
from planar.assembly import close
from planar.mobility import metric
from planar.projection import Projector
from planar.tangents import colours, force_tangents, geometric_stiffness

G = 9.81
ROUNDING = 1e-11  # of eigenvalues: a few operations on numbers of order one, cond(M) up to 1e3


def mass_spring_damper(mass=2.0, stiffness=50.0, damping=3.0) -> pl.Model:
    m = pl.Model("mass, spring, damper")
    m.add(pl.Body("block", mass, 0.1, r=(0.4, 0), phi=0.0))
    m.add(pl.Translational("rail", m.ground.axis((0, 0), (1, 0)), m["block"].axis((0, 0), (1, 0))))
    m.add(pl.Spring("s", m.ground.point(0, 0), m["block"].point(0, 0), stiffness=stiffness, damping=damping))
    return m


# --- closed forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("angle", "sign"), [(-math.pi / 2, 1), (math.pi / 2, -1)])
def test_pendulum(angle, sign):
    m = chain(1, length=0.8, angle=angle)
    lin = pl.linearize(m, coordinates=[(m["link1"], "phi")])
    assert lin.M[0, 0] == pytest.approx(0.8**2 / 3, rel=ROUNDING)
    assert lin.K[0, 0] == pytest.approx(sign * G * 0.4, rel=ROUNDING)
    w2 = 1.5 * G / 0.8
    if sign > 0:
        assert lin.omega[0] ** 2 == pytest.approx(w2, rel=ROUNDING)
        assert lin.hertz[0] == pytest.approx(math.sqrt(w2) / (2 * math.pi), rel=ROUNDING)
        assert (lin.stability, lin.stable) == ("stable", True)
    else:
        assert math.isnan(lin.omega[0])
        assert lin.modes[0].growth ** 2 == pytest.approx(w2, rel=ROUNDING)
        assert sorted(lin.eigenvalues.real) == pytest.approx([-math.sqrt(w2), math.sqrt(w2)], rel=ROUNDING)
        assert (lin.stability, lin.stable) == ("unstable", False)


@pytest.mark.parametrize(
    ("damping", "stability"), [(3.0, "stable"), (0.0, "stable"), (25.0, "stable"), (-1.0, "unstable")]
)
def test_mass_spring_damper(damping, stability):
    lin = pl.linearize(mass_spring_damper(damping=damping))
    expected = np.roots([2.0, damping, 50.0])
    assert sorted(lin.eigenvalues, key=lambda s: (s.real, s.imag)) == pytest.approx(
        sorted(expected, key=lambda s: (s.real, s.imag)), rel=ROUNDING
    )
    if abs(damping) < 20:  # below critical damping 2 sqrt(k m) = 20
        assert lin.damping == pytest.approx([damping / 20] * 2, abs=ROUNDING)
    assert lin.omega == pytest.approx([5.0], rel=ROUNDING)
    assert lin.stability == stability


def test_double_pendulum_matrices_frequencies_and_shapes():
    """Uniform rods of mass m, length l: M = m l^2 [4/3 1/2; 1/2 1/3], K = m g l diag(3/2, 1/2)."""
    lin = pl.linearize(chain(2, angle=-math.pi / 2), coordinates=[("link1", "phi"), ("link2", "phi")])
    M, K = np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]]), G * np.diag([1.5, 0.5])
    assert lin.M == pytest.approx(M, abs=ROUNDING)
    assert lin.K == pytest.approx(K, abs=G * ROUNDING)
    w2 = np.sort(
        np.roots([M[0, 0] * M[1, 1] - M[0, 1] ** 2, -(K[0, 0] * M[1, 1] + K[1, 1] * M[0, 0]), K[0, 0] * K[1, 1]])
    )
    assert lin.omega**2 == pytest.approx(w2, rel=ROUNDING)
    for mode, square in zip(lin.modes, w2, strict=True):
        ratio = mode["link2"][2] / mode["link1"][2]
        assert ratio == pytest.approx((K[0, 0] - square * M[0, 0]) / (square * M[0, 1]), rel=1e-9)
        assert mode.shape @ (lin.system.mass * mode.shape) == pytest.approx(1.0, rel=ROUNDING)
    assert lin.shapes.shape == (6, 2)
    assert lin.modes[0].movers == ["link2", "link1"]
    assert np.array_equal(lin.modes[0]["ground"], np.zeros(3))


def test_massless_motion_is_condensed():
    """Springs k1, k2 in series through a massless plate: omega^2 = k1 k2 / (k1 + k2) / m; with a damper beside k1

    (k1 + c s) and k2 in series carry m: m c s^3 + m (k1 + k2) s^2 + c k2 s + k1 k2 = 0, one root of first order.
    """

    def model(c: float) -> pl.Model:
        m = pl.Model("series")
        for k, mass in enumerate((0.0, 2.0)):
            m.add(pl.Body(f"b{k}", mass, 0.1 * mass, r=(k + 1.0, 0), phi=0.0))
            m.add(pl.Translational(f"rail{k}", m.ground.axis((0, 0), (1, 0)), m[f"b{k}"].axis((0, 0), (1, 0))))
        m.add(pl.Spring("s1", m.ground.point(0, 0), m["b0"].point(0, 0), stiffness=300.0, damping=c))
        m.add(pl.Spring("s2", m["b0"].point(0, 0), m["b1"].point(0, 0), stiffness=150.0))
        return m

    lin = pl.linearize(model(0.0))
    assert lin.omega == pytest.approx([math.sqrt(100 / 2)], rel=ROUNDING)
    assert (lin.n, lin.massless, len(lin.eigenvalues)) == (2, 1, 2)
    assert lin.modes[0]["b0"][0] / lin.modes[0]["b1"][0] == pytest.approx(150 / 450, rel=ROUNDING)
    assert "1 massless" in str(lin)
    s = pl.linearize(model(5.0)).eigenvalues
    assert np.sort_complex(s) == pytest.approx(np.sort_complex(np.roots([10.0, 900.0, 750.0, 45000.0])), rel=ROUNDING)


def test_massless_link_without_stiffness_that_matters_is_refused():
    m = pl.Model("loose", gravity=GRAVITY)
    m.add(pl.Body("pin", 0.0, 0.0, r=(0, 0), phi=0.0))
    m.add(pl.Revolute("A", m.ground.point(0, 0), m["pin"].point(0.1, 0)))
    m.add(pl.Torque("T", m["pin"], 1.0))
    with pytest.raises(pl.SingularError, match=r"body 'pin' has no mass.*give it a mass"):
        pl.linearize(m)


def test_pendulum_on_a_turning_arm():
    """About the radial position at speed w: omega = w sqrt(R / l), from the tension that the turning makes."""
    w, R, l = 7.0, 0.4, 0.3
    m = pl.Model("rotor")
    m.add(pl.Body("hub", 1.0, 0.1, r=(0, 0), phi=0.0, omega=w))
    m.add(pl.Body("bob", 1.0, 0.0, r=(R + l, 0), phi=0.0, v=(0, w * (R + l)), omega=w))
    m.add(pl.Revolute("O", m.ground.point(0, 0), m["hub"].point(0, 0)))
    m.add(pl.Revolute("P", m["hub"].point(R, 0), m["bob"].point(-l, 0)))
    m.add(pl.AngleDriver("motor", m.ground, m["hub"], pl.Ramp(w)))
    for options in ({}, {"coordinates": [("bob", "phi")]}):
        lin = pl.linearize(m, at=m.assemble(), **options)
        assert lin.moving
        assert np.sort(lin.eigenvalues.imag) == pytest.approx(
            [-w * math.sqrt(R / l), w * math.sqrt(R / l)], rel=ROUNDING
        )
        assert lin.stability == "stable"
    assert lin.K == pytest.approx(np.array([[w**2 * R * l]]), rel=ROUNDING)
    assert "eigenvalue" in str(lin)


def test_bead_in_a_turning_slot():
    """omega^2 = k/m - w^2, unstable beyond w^2 = k/m."""
    for w, stability in ((7.0, "stable"), (25.0, "unstable")):
        m = pl.Model("slot")
        m.add(pl.Body("disc", 1.0, 0.1, r=(0, 0), phi=0.0, omega=w))
        m.add(pl.Body("bead", 0.5, 0.02, r=(0.3, 0), phi=0.0, v=(0, 0.3 * w), omega=w))
        m.add(pl.Revolute("O", m.ground.point(0, 0), m["disc"].point(0, 0)))
        m.add(pl.Translational("slot", m["disc"].axis((0, 0), (1, 0)), m["bead"].axis((0, 0), (1, 0))))
        m.add(pl.AngleDriver("motor", m.ground, m["disc"], pl.Ramp(w)))
        rest = 0.3 - 0.5 * 0.3 * w**2 / 200.0
        spring = pl.Spring("k", m.ground.point(0, 0), m["bead"].point(0, 0), stiffness=200.0, length=max(rest, 0.0))
        spring.force = 200.0 * (spring.length - rest)  # so that 0.3 m is steady at any speed
        m.add(spring)
        lin = pl.linearize(m, at=m.assemble())
        assert np.sort_complex(lin.eigenvalues**2) == pytest.approx([w**2 - 400.0] * 2, rel=ROUNDING)
        assert lin.stability == stability


def test_flutter_under_a_follower_force():
    """Ziegler's column: two equal rods, torsion springs, a force that stays in line with the second one.

    In the angles: M = [4/3 1/2; 1/2 1/3], K = [2 - P, P - 1; -1, 1] (unit data): no buckling, but flutter.
    """

    def column(P: float) -> pl.Model:
        m = pl.Model("column")
        a, b = (m.add(rod_between(n, (k, 0), (k + 1, 0))) for k, n in enumerate("ab"))
        m.add(pl.Revolute("A", m.ground.point(0, 0), a["A"]))
        m.add(pl.Revolute("B", a["B"], b["A"]))
        m.add(pl.TorsionSpring("k1", m.ground, a, stiffness=1.0))
        m.add(pl.TorsionSpring("k2", a, b, stiffness=1.0))
        m.add(pl.PointForce("P", b["B"], (-P, 0), frame="body"))
        return m

    M = np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    for P in (0.5, 3.0):
        lin = pl.linearize(column(P), coordinates=[("a", "phi"), ("b", "phi")])
        K = np.array([[2 - P, P - 1], [-1, 1]])
        assert lin.K == pytest.approx(K, abs=ROUNDING)
        assert not lin.symmetric
        for w2 in np.linalg.eigvals(np.linalg.solve(M, K)):
            assert np.abs(lin.eigenvalues**2 + w2).min() < 1e-9 * abs(w2)
        assert len(lin.eigenvalues) == 4
        assert lin.stability == ("stable" if P < 1 else "unstable")
        assert (lin.modes[0].growth > 1e-3) == (P > 1)


# --- against an independent linearization ------------------------------------------------------------------------------


def accelerations(system, t, s, s1, index, q0):
    """S a as a function of the chosen coordinates and their rates: constraints solved, then the equations of motion."""
    keep = np.full(system.nq, 1.0)
    keep[index] = 1e12  # held while the others close the loops
    q = q0.copy()
    q[index] = s
    q, closed = close(system, Projector(system, metric(system) * keep), t, q)
    assert closed
    J = system.pattern.to_dense(system.constraints(t, q).Phi_q)
    S = np.eye(system.nq)[index]
    v = np.linalg.lstsq(np.vstack([J, S]), np.concatenate([system.constraints(t, q).nu, s1]), rcond=None)[0]
    e = system.constraints(t, q, v)
    A = np.block([[np.diag(system.mass), J.T], [J, np.zeros((system.nc, system.nc))]])
    b = np.concatenate([system.forces(t, q, v), e.gamma])
    return q, v, np.linalg.lstsq(A, b, rcond=1e-12)[0][index]


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7, 9])  # those that can move
@pytest.mark.parametrize("moving", [False, True])
def test_agrees_with_differences_of_the_motion(seed, moving):
    """-M^-1 K and -M^-1 C are the slopes of the accelerations in minimal coordinates, at any state."""
    m = random_mechanism(seed, bodies=4, massless=True)
    system, assembly = pl.compile(m), m.assemble()
    v = assembly.v if moving else np.zeros(system.nq)
    if moving:
        e = system.constraints(0.0, assembly.q)
        v = v - np.linalg.pinv(system.pattern.to_dense(e.Phi_q)) @ (system.pattern.multiply(e.Phi_q, v) - e.nu)
    plain = pl.linearize(m, at=assembly, v=v)
    assert plain.n
    from scipy.linalg import qr

    index = qr(plain.Z.T, pivoting=True, mode="r")[1][: plain.n]
    lin = pl.linearize(
        m, at=assembly, v=v, coordinates=[(system.body_names[k // 3], "x y phi".split()[k % 3]) for k in index]
    )
    s, s1 = assembly.q[index], v[index]

    def f(ds, ds1):
        return accelerations(system, 0.0, s + ds, s1 + ds1, index, assembly.q)[2]

    h, eye = 1e-5, np.eye(plain.n)
    zero = np.zeros(plain.n)
    dK = np.column_stack([(f(h * e, zero) - f(-h * e, zero)) / (2 * h) for e in eye])
    dC = np.column_stack([(f(zero, h * e) - f(zero, -h * e)) / (2 * h) for e in eye])
    # central differences: h^2 times third derivatives, and rounding 1e-16 cond / h
    size = 1 + np.abs(dK).max() + np.abs(dC).max()
    assert np.abs(-np.linalg.solve(lin.M, lin.K) - dK).max() < 1e-5 * size
    assert np.abs(-np.linalg.solve(lin.M, lin.C) - dC).max() < 1e-5 * size


@pytest.mark.parametrize("name", sorted(TEXTBOOK))
def test_geometric_stiffness_by_colours_is_the_dense_one(name):
    system = pl.compile(TEXTBOOK[name]())
    q = system.q_drawn
    lam = np.random.default_rng(1).normal(size=system.nc)
    F = system.motion_values(0.0)
    dense = np.zeros((system.nq, system.nq))
    for k in range(system.nq):
        step = np.zeros(system.nq, complex)
        step[k] = 1e-30j
        J = system.evaluate(0.0, q + step, np.zeros(system.nq), F).Phi_q.imag / 1e-30
        dense[:, k] = system.pattern.multiply_T(J, lam)
    found = geometric_stiffness(system, 0.0, q, lam).toarray()
    assert np.abs(found - dense).max() <= 1e-13 * max(1.0, np.abs(dense).max())
    of, rows = colours(system.pattern).of, system.pattern.rows
    for r in range(system.nc):
        mine = of[system.pattern.indices[rows == r]]
        assert len(set(mine)) == len(mine)


def test_redundant_constraints_change_nothing():
    two, three = (pl.equilibrium(parallelogram(n)).linearization for n in (2, 3))
    assert (two.n, three.n) == (1, 1)
    platform, crank = 3.0, 0.5
    for cranks, lin in ((2, two), (3, three)):
        M, K = (platform + cranks * crank / 3) * 0.2**2, (platform + cranks * crank / 2) * G * 0.2
        assert lin.omega[0] ** 2 == pytest.approx(K / M, rel=1e-9)


# --- states ----------------------------------------------------------------------------------------------------------


def test_states_to_linearize_at():
    m = four_bar(speed=None)
    eq = pl.equilibrium(m)
    reference = eq.linearization.omega
    for at in (eq, eq.q[0], eq.q[0].reshape(-1, 3), {n: eq.pose(n) for n in ("crank", "coupler", "rocker")}):
        assert pl.linearize(m, at=at).omega == pytest.approx(reference, rel=1e-9)
    assert "not in equilibrium" in str(pl.linearize(m))
    assert pl.linearize(four_bar()).n == 0  # the motor holds
    assert "0 free motions" in str(pl.linearize(four_bar()))


def test_messages():
    m = four_bar(speed=None)
    with pytest.raises(pl.ModelError, match=r"coordinates: 2 given for 1 free"):
        pl.linearize(m, coordinates=[("crank", "phi"), ("rocker", "phi")])
    with pytest.raises(pl.ModelError, match="no pair of a body"):
        pl.linearize(m, coordinates=[("crank", "psi")])
    with pytest.raises(pl.ModelError, match="do not describe the free motions"):
        pl.linearize(mass_spring_damper(), coordinates=[("block", "y")])
    with pytest.raises(pl.ModelError, match="a pose is"):
        pl.linearize(m, at=[1.0, 2.0])
    with pytest.raises(pl.ModelError, match=r"slips at .* hold the drivers"):
        pl.linearize(four_bar(), v=np.zeros(9))
    with pytest.raises(pl.ModelError, match="is no pose of"):
        pl.linearize(m, at=chain(1).assemble())


def test_singular_pose_is_refused_by_name():
    """A parallelogram folded flat can leave the pose as a parallelogram or crosswise."""
    with pytest.raises(pl.SingularError, match=r"the pose is singular: the constraints A1, B1, A2, B2.*branch"):
        pl.linearize(parallelogram(2, angle=0.0))


# --- functions as forces -----------------------------------------------------------------------------------------------


def force_on_block(function) -> pl.Model:
    m = mass_spring_damper(stiffness=0.0, damping=0.0)
    m.add(pl.UserForce("f", m["block"], lambda t, s: (function(s[m["block"]]), 0.0, 0.0)))
    return m


def test_force_functions_have_exact_slopes():
    lin = pl.linearize(force_on_block(lambda b: -3.0 * np.sin(b.r[..., 0] - 0.4) - 0.5 * b.v[..., 0]))
    assert np.sort_complex(lin.eigenvalues) == pytest.approx(np.sort_complex(np.roots([2.0, 0.5, 3.0])), rel=ROUNDING)
    assert lin.notes == []


def test_force_functions_that_cannot_be_differentiated_are_said():
    lin = pl.linearize(force_on_block(lambda b: -3.0 * math.sin(float(b.r[..., 0]) - 0.4)))
    assert lin.omega**2 == pytest.approx([1.5], rel=1e-8)
    assert any("central differences" in note for note in lin.notes)
    kink = force_on_block(lambda b: -3.0 * np.maximum(b.r[..., 0] - 0.4, 0.0))
    system = pl.compile(kink)
    K, _, notes = force_tangents(system, 0.0, system.q_drawn, np.zeros(3))
    assert any("kink" in note for note in notes)
    assert K.toarray()[0, 0] == pytest.approx(-1.5, rel=1e-8)  # the mean of both sides


# --- large systems -----------------------------------------------------------------------------------------------------


def damped_chain(n: int, angle: float = -math.pi / 2) -> pl.Model:
    m = chain(n, angle=angle)
    for k in range(1, n):
        m.add(
            pl.TorsionSpring(f"t{k}", m[f"link{k}"], m[f"link{k + 1}"], stiffness=0.5, angle=0.0, damping=0.3 * (k % 3))
        )
    return m


@pytest.mark.parametrize("angle", [-math.pi / 2, math.pi / 2])
def test_sparse_route_is_the_dense_one(monkeypatch, angle):
    m = damped_chain(25, angle)
    dense = pl.linearize(m)
    monkeypatch.setattr(reduced, "DENSE", 10)
    monkeypatch.setattr(reduced, "FEW", 5)
    sparse = pl.linearize(m, modes=6)
    assert sparse.large and not dense.large
    assert sparse.stability == dense.stability == ("stable" if angle < 0 else "unstable")
    nearest = sorted(dense._natural[0], key=abs)[:6]
    assert sparse._natural[0] == pytest.approx(np.sort(nearest), rel=1e-8)
    if angle < 0:
        assert sparse.omega == pytest.approx(dense.omega[:6], rel=1e-8)
        for a, b in zip(sparse.modes, dense.modes, strict=False):
            assert a.shape == pytest.approx(b.shape, abs=1e-6 * np.abs(b.shape).max())
        for s in sparse.eigenvalues:  # the slowest ones, each among those of the dense route
            assert np.abs(dense.eigenvalues - s).min() < 1e-7 * abs(s)
        assert len(sparse.eigenvalues) >= 12
    assert sparse.softest[0] <= sparse.flat or angle < 0
    value = sparse.softest[1] / np.linalg.norm(sparse.softest[1] * np.sqrt(metric(sparse.system)))
    assert np.abs(sparse.system.pattern.multiply(sparse._Phi_q, value)).max() < 1e-9
    assert sparse.K.shape == (25, 25)  # formed on demand


def test_chain_of_a_thousand_links_swings_like_a_rope():
    """omega_k = j_k / 2 sqrt(g / L), j_k the zeros of J0, for a rope of length L; links make it stiffer by O((k/n)^2)."""
    lin = pl.linearize(chain(1000, length=0.01, angle=-math.pi / 2), modes=4)
    rope = jn_zeros(0, 4) / 2 * math.sqrt(G / 10.0)
    assert lin.omega == pytest.approx(rope, rel=3e-5)
    assert lin.stability == "stable"
    assert "4 of 1000 modes" in str(lin)


def test_neutral_modes_of_large_systems(monkeypatch):
    monkeypatch.setattr(reduced, "DENSE", 10)
    monkeypatch.setattr(reduced, "FEW", 5)
    lin = pl.linearize(chain(12, gravity=(0, 0)))
    assert lin.stability == "neutral"


def test_ritz_values_never_undercut():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    K = A @ A.T - 5 * np.eye(40)
    from scipy.sparse import csr_array

    J = csr_array(rng.normal(size=(7, 40)))
    Z = np.linalg.svd(J.toarray())[2][7:].T
    true = np.linalg.eigvalsh(Z.T @ K @ Z)[0]
    value, x = eigen.curvature(csr_array(K), J, 1e-9)
    assert true < 0
    assert value == pytest.approx(true, rel=1e-9)
    assert np.abs(J @ x).max() < 1e-9


def test_linearize_leaves_the_model_alone():
    m = slider_crank(speed=None)
    before = [(b.r, b.phi, b.v, b.omega) for b in m.bodies]
    pl.linearize(m)
    pl.equilibrium(m)
    assert before == [(b.r, b.phi, b.v, b.omega) for b in m.bodies]
