"""planar.linear: every route gives the numbers of dense linear algebra, for any rank and any masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from planar.errors import SingularError
from planar.linear import (
    Pattern,
    available_routes,
    choose_route,
    dependence,
    jacobian_solver,
    kkt_solver,
)

MISSING = available_routes()
ROUTES = [
    pytest.param(route, marks=pytest.mark.skipif(reason is not None, reason=f"{route}: {reason}"))
    for route, reason in MISSING.items()
]
each_route = pytest.mark.parametrize("route", ROUTES)


def linkage(links, pins=(), *, seed=0, drivers=0):
    """Phi_q of a chain of links of length 1 hung on ground, random angles, further pins between points of links.

    A pin (i, u, j, w) joins the point at u in [-1/2, 1/2] of link i with that at w of link j; i = -1 is ground.
    The last rows are `drivers` angle drivers of the first links.
    """
    rng = np.random.default_rng(seed)
    phi = rng.uniform(-3.0, 3.0, links)
    tangent = np.stack((-np.sin(phi), np.cos(phi)))
    chain = [(k - 1, 0.5, k, -0.5) for k in range(links)]
    rows, cols, values = [], [], []
    for n, (i, u, j, w) in enumerate([*chain, *pins]):
        for axis in range(2):
            for body, place, sign in ((i, u, -1.0), (j, w, 1.0)):
                if body >= 0:
                    rows += [2 * n + axis] * 2
                    cols += [3 * body + axis, 3 * body + 2]
                    values += [sign, sign * place * tangent[axis, body]]
    first = 2 * (len(chain) + len(pins))
    rows += [first + k for k in range(drivers)]
    cols += [3 * k + 2 for k in range(drivers)]
    values += [1.0] * drivers
    return from_matrix(csr_array((values, (rows, cols)), shape=(first + drivers, 3 * links)))


def from_matrix(matrix):
    matrix = csr_array(matrix)
    matrix.sum_duplicates()
    return Pattern.from_sparse(matrix), matrix.data


def kkt_matrix(pattern, data, mass):
    J = pattern.to_dense(data)
    return np.block([[np.diag(mass), J.T], [J, np.zeros((pattern.nc, pattern.nc))]])


def masses(pattern, low, high, seed=1):
    return 10.0 ** np.random.default_rng(seed).uniform(low, high, pattern.nq)


def right_hand_side(pattern, data, seed=2, k=()):
    """r any, g in the range of Phi_q."""
    rng = np.random.default_rng(seed)
    r, v = rng.normal(size=(pattern.nq, *k)), rng.normal(size=(pattern.nq, *k))
    return r, pattern.multiply(data, v.T).T


def close(a, b, tol):
    return np.linalg.norm(a - b) <= tol * np.linalg.norm(b)


CASES = {
    "pendulum": linkage(1),
    "chain": linkage(6),
    "loop": linkage(5, [(4, 0.5, -1, 0.0)]),
    "loops": linkage(12, [(3, 0.5, -1, 0.0), (11, 0.5, 5, 0.1), (8, 0.2, -1, 0.0)]),
    "tree": linkage(40, [(7 * k + 3, 0.5, 39 - k, 0.3) for k in range(5)]),
}
each_case = pytest.mark.parametrize("case", CASES)


# --- Pattern -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(7, 5, 0.3), (60, 90, 0.4), (4, 3, 0.0)])
def test_products_are_those_of_the_matrix_and_batch(size):
    nc, nq, density = size
    rng = np.random.default_rng(0)
    A = rng.normal(size=(nc, nq)) * (rng.random((nc, nq)) < density)
    A[1] = A[:, 2] = 0.0  # an empty row and an empty column
    pattern, data = from_matrix(A)
    x, lam = rng.normal(size=(4, nq)), rng.normal(size=(4, nc))
    assert np.array_equal(pattern.to_dense(data), A)
    assert np.array_equal(pattern.to_csr(data).toarray(), A)
    batch = data * np.array([[1.0], [2.0], [-1.0], [0.5]])
    dense = pattern.to_dense(batch)
    for b in (data, batch):
        J = pattern.to_dense(b)
        np.testing.assert_allclose(pattern.multiply(b, x), np.einsum("...ij,...j->...i", J, x), atol=1e-13)
        np.testing.assert_allclose(pattern.multiply_T(b, lam), np.einsum("...ij,...i->...j", J, lam), atol=1e-13)
    np.testing.assert_allclose(pattern.multiply(data, x[0]), A @ x[0], atol=1e-13)
    np.testing.assert_allclose(pattern.multiply_T(data, lam[0]), A.T @ lam[0], atol=1e-13)
    np.testing.assert_allclose(pattern.multiply(batch, x[0]), dense @ x[0], atol=1e-13)


def test_products_keep_complex_steps():
    pattern, data = CASES["tree"]
    x = np.arange(pattern.nq) * 1.0
    step = pattern.multiply(data * (1.0 + 1e-30j), x)
    np.testing.assert_allclose(step.imag * 1e30, pattern.to_dense(data) @ x, atol=1e-12)


@each_case
def test_selection_and_transposition(case):
    pattern, data = CASES[case]
    rows = np.arange(pattern.nc)[::-2]
    part, entries = pattern.select(rows)
    assert np.array_equal(part.to_dense(data[entries]), pattern.to_dense(data)[rows])
    turned, entries = pattern.transpose()
    assert np.array_equal(turned.to_dense(data[entries]), pattern.to_dense(data).T)


@pytest.mark.parametrize(
    ("indptr", "indices"), [([0, 2], [1, 0]), ([0, 2], [1, 1]), ([0, 1], [3]), ([0, 1, 2], [0, 1]), ([0, 3], [0, 1])]
)
def test_a_wrong_pattern_is_refused(indptr, indices):
    with pytest.raises(ValueError, match="must"):
        Pattern(3, 1, np.array(indptr), np.array(indices))


# --- KKT, full rank ----------------------------------------------------------------------------------------------


@each_route
@each_case
@pytest.mark.parametrize("spread", [(0, 0), (-6, 3)])
def test_kkt_agrees_with_dense_algebra(case, route, spread):
    pattern, data = CASES[case]
    mass = masses(pattern, *spread)
    solver = kkt_solver(pattern, mass, route)
    assert solver.route == route
    for factor in (1.0, 0.7):  # the second time everything is reused
        r, g = right_hand_side(pattern, factor * data)
        x, lam = solver.factor(factor * data).solve(r, g)
        ref = np.linalg.solve(kkt_matrix(pattern, factor * data, mass), np.concatenate((r, g)))
        assert close(x, ref[: pattern.nq], 1e-10)
        assert close(lam, ref[pattern.nq :], 1e-10)
        assert solver.dependent.size == 0 and solver.inconsistency == 0.0


@each_route
def test_light_bodies_are_as_exact_as_heavy_ones(route):
    # each coordinate on its own: a residual check scaled by the heavy bodies would lose the light ones
    pattern, data = CASES["loops"]
    mass = np.where(np.arange(pattern.nq) // 3 % 2, 1e3, 1e-6)
    r, g = right_hand_side(pattern, data)
    x, _ = kkt_solver(pattern, mass, route).factor(data).solve(r * mass, g)
    np.testing.assert_allclose(pattern.multiply(data, x), g, atol=1e-12)
    reference, _ = kkt_solver(pattern, mass, "dense").factor(data).solve(r * mass, g)
    np.testing.assert_allclose(x, reference, rtol=1e-9, atol=1e-9)  # 1e9 of mass ratio x 1e-16, and a margin


@each_route
@pytest.mark.parametrize("mass", [1.0, 0.0])
def test_several_right_hand_sides_at_once(route, mass):
    pattern, data = CASES["loops"]
    m = np.ones(pattern.nq)
    m[2] = mass
    solver = kkt_solver(pattern, m, route).factor(data)
    r, g = right_hand_side(pattern, data, k=(3,))
    X, L = solver.solve(r, g)
    assert X.shape == r.shape and L.shape == g.shape
    for k in range(3):
        x, lam = solver.solve(r[:, k], g[:, k])
        assert close(X[:, k], x, 1e-12) and close(L[:, k], lam, 1e-12)


@each_route
def test_inputs_stay_and_later_changes_of_them_do_not_matter(route):
    pattern, data = CASES["loop"]
    values, mass = data.copy(), np.ones(pattern.nq)
    r, g = right_hand_side(pattern, data)
    solver = kkt_solver(pattern, mass, route).factor(values)
    before = solver.solve(r.copy(), g.copy())
    values[:], mass[:] = np.nan, np.nan
    again = solver.solve(r, g)
    assert np.array_equal(before[0], again[0]) and np.array_equal(before[1], again[1])


@each_route
def test_without_constraints(route):
    pattern = Pattern(6, 0, np.zeros(1, dtype=int), np.zeros(0, dtype=int))
    mass = np.arange(1.0, 7.0)
    x, lam = kkt_solver(pattern, mass, route).factor(np.zeros(0)).solve(np.ones(6), np.zeros(0))
    np.testing.assert_allclose(x, 1.0 / mass)
    assert lam.shape == (0,)


@each_route
def test_units_do_not_matter(route):
    # rows in micrometres beside rows in kilometres are no singularity
    pattern, data = CASES["loop"]
    unit = 10.0 ** np.random.default_rng(0).uniform(-6, 6, pattern.nc)
    scaled = data * unit[pattern.rows]
    mass = np.ones(pattern.nq)
    r, g = right_hand_side(pattern, data)
    solver = kkt_solver(pattern, mass, route).factor(scaled)
    x, lam = solver.solve(r, unit * g)
    ref_x, ref_lam = kkt_solver(pattern, mass, route).factor(data).solve(r, g)
    assert solver.dependent.size == 0
    assert close(x, ref_x, 1e-10) and close(lam * unit, ref_lam, 1e-10)


# --- massless bodies ---------------------------------------------------------------------------------------------


@each_route
@each_case
def test_massless_coordinates_that_are_held(case, route):
    pattern, data = CASES[case]
    mass = masses(pattern, -2, 2)
    mass[2::6] = 0.0  # links without rotational inertia
    if case != "pendulum":  # and one body without any mass, held by its pins to heavier ones
        mass[3:6] = 0.0
    else:
        mass[2] = 0.0
    solver = kkt_solver(pattern, mass, route).factor(data)
    assert solver.route == {"cholmod": "superlu"}.get(route, route)
    r, g = right_hand_side(pattern, data)
    K = kkt_matrix(pattern, data, mass)
    ref = np.linalg.solve(K, np.concatenate((r, g)))
    x, lam = solver.solve(r, g)
    tol = 1e-14 * np.linalg.cond(K) + 1e-12
    assert close(x, ref[: pattern.nq], tol)
    assert close(lam, ref[pattern.nq :], tol)


@each_route
def test_a_massless_body_that_is_not_held_is_named(route):
    pattern, data = linkage(4)
    mass = np.ones(12)
    mass[9:] = 0.0  # the last link turns freely about its pin and has no inertia
    with pytest.raises(SingularError, match="no mass") as caught:
        kkt_solver(pattern, mass, route).factor(data)
    assert caught.value.coordinate in (9, 10, 11)
    assert set(caught.value.coordinates) <= {9, 10, 11}


@each_route
def test_a_massless_body_without_constraints_is_named(route):
    pattern, data = from_matrix(np.array([[1.0, 0.5, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]))
    with pytest.raises(SingularError) as caught:
        kkt_solver(pattern, [1.0, 1.0, 1.0, 0.0], route).factor(data)
    assert caught.value.coordinate == 3


# --- redundant constraints ---------------------------------------------------------------------------------------


def with_rows(case, extra):
    """Phi_q of a case with further rows: each of `extra` a {row: coefficient} of the existing ones."""
    pattern, data = CASES[case]
    J = pattern.to_dense(data)
    C = np.zeros((len(extra), pattern.nc))
    for k, combination in enumerate(extra):
        for row, c in combination.items():
            C[k, row] = c
    return from_matrix(np.vstack((J, C @ J)))


REDUNDANT = {
    "a duplicate": with_rows("loop", [{3: 1.0}]),
    "a scaled duplicate": with_rows("loops", [{0: -25.0}]),
    "combinations": with_rows("tree", [{0: 1.0, 3: -2.0}, {5: 0.5, 6: 1.0, 7: 1e-2}, {80: 1.0}]),
    "an empty row": with_rows("chain", [{}]),
}
each_redundancy = pytest.mark.parametrize("case", REDUNDANT)


@each_route
@each_redundancy
@pytest.mark.parametrize("massless", [False, True])
def test_redundant_rows_give_unique_x_and_smallest_lam(case, route, massless):
    pattern, data = REDUNDANT[case]
    mass = masses(pattern, -1, 1)
    if massless:
        mass[2] = 0.0
    solver = kkt_solver(pattern, mass, route).factor(data)
    r, g = right_hand_side(pattern, data)
    x, lam = solver.solve(r, g)
    J = pattern.to_dense(data)
    assert solver.dependent.size == pattern.nc - np.linalg.matrix_rank(J)
    np.testing.assert_allclose(mass * x + J.T @ lam, r, atol=1e-10)
    np.testing.assert_allclose(J @ x, g, atol=1e-10)
    smallest = np.linalg.lstsq(J.T, r - mass * x, rcond=1e-10)[0]
    np.testing.assert_allclose(lam, smallest, atol=1e-9 * np.abs(smallest).max())
    assert solver.inconsistency < 1e-10


@each_route
def test_two_columns_of_a_redundant_system(route):
    pattern, data = REDUNDANT["combinations"]
    solver = kkt_solver(pattern, np.ones(pattern.nq), route).factor(data)
    r, g = right_hand_side(pattern, data, k=(2,))
    X, L = solver.solve(r, g)
    x, lam = solver.solve(r[:, 1], g[:, 1])
    assert close(X[:, 1], x, 1e-12) and close(L[:, 1], lam, 1e-12)


@each_route
def test_contradicting_rows_are_met_by_least_squares_and_reported(route):
    pattern, data = REDUNDANT["a duplicate"]
    solver = kkt_solver(pattern, np.ones(pattern.nq), route).factor(data)
    r, g = right_hand_side(pattern, data)
    g[-1] += 0.5
    x, _ = solver.solve(r, g)
    assert solver.inconsistency == pytest.approx(0.25)
    assert np.abs(pattern.multiply(data, x) - g).max() == pytest.approx(0.25)


def flat_four_bar(angle):
    """Parallelogram linkage (two cranks of 1, coupler of 2): its loop is redundant where angle = 0."""
    c, s = np.cos(angle), np.sin(angle)
    J = np.zeros((8, 9))
    for k, (i, (xi, yi), j, (xj, yj)) in enumerate(
        [
            (-1, (0, 0), 0, (-c / 2, -s / 2)),
            (0, (c / 2, s / 2), 1, (-1, 0)),
            (1, (1, 0), 2, (c / 2, s / 2)),
            (-1, (0, 0), 2, (-c / 2, -s / 2)),
        ]
    ):
        for body, sign, x, y in ((i, -1, xi, yi), (j, 1, xj, yj)):
            if body >= 0:
                J[2 * k, [3 * body, 3 * body + 2]] += sign, -sign * y
                J[2 * k + 1, [3 * body + 1, 3 * body + 2]] += sign, sign * x
    return J


@each_route
def test_momentary_redundancy_comes_and_goes(route):
    pattern = Pattern.from_sparse(flat_four_bar(0.5) != 0.0)
    mass = np.linspace(1.0, 2.0, 9)
    solver = kkt_solver(pattern, mass, route)
    for angle in (-0.2, -1e-3, 0.0, 0.0, 1e-3, 0.2, 0.0):
        J = flat_four_bar(angle)
        r, g = np.ones(9), J @ np.arange(9.0)
        x, lam = solver.factor(J[pattern.rows, pattern.indices]).solve(r, g)
        assert solver.dependent.size == (angle == 0.0)
        np.testing.assert_allclose(J @ x, g, atol=1e-11)
        np.testing.assert_allclose(mass * x + J.T @ lam, r, atol=1e-8)  # lam is 1e6 at 1e-3 from flat


@each_route
def test_lasting_redundancy_is_analysed_once(route, monkeypatch):
    import planar.linear.kkt as module

    calls = []
    monkeypatch.setattr(module, "dependence", lambda *a, **k: calls.append(1) or dependence(*a, **k))
    pattern, data = REDUNDANT["combinations"]
    solver = kkt_solver(pattern, np.ones(pattern.nq), route)
    for factor in (1.0, 1.1, 0.9, 1.3):
        solver.factor(factor * data)
        assert solver.dependent.size == 3
    assert len(calls) == 1


@each_route
def test_nan_is_not_passed_on(route):
    pattern, data = CASES["loop"]
    data = data.copy()
    data[pattern.rows == 4] = np.nan
    fresh, used = (kkt_solver(pattern, np.ones(pattern.nq), route) for _ in range(2))
    used.factor(CASES["loop"][1])
    for solver in (fresh, used):
        with pytest.raises(SingularError, match="row 4") as caught:
            solver.factor(data)
        assert caught.value.row == 4


# --- dependence --------------------------------------------------------------------------------------------------


@pytest.fixture(params=["dense", "sparse"])
def search(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr("planar.linear.rank.DENSE", 0)
    return request.param


@pytest.mark.parametrize("case", [*CASES, *REDUNDANT])
def test_dependent_rows_follow_from_the_independent_ones(case, search):
    pattern, data = (CASES | REDUNDANT)[case]
    J = pattern.to_dense(data)
    found = dependence(pattern, data)
    assert found.rank == np.linalg.matrix_rank(J) == found.independent.size
    assert np.array_equal(np.sort(np.concatenate((found.independent, found.dependent))), np.arange(pattern.nc))
    np.testing.assert_allclose(found.coefficients @ J[found.independent], J[found.dependent], atol=1e-9)
    weighted = dependence(pattern, data, mass=masses(pattern, -3, 3))
    assert weighted.rank == found.rank


def test_later_rows_are_reported_with_the_smallest_set_they_depend_on(search):
    pattern, data = REDUNDANT["combinations"]
    found = dependence(pattern, data)
    assert np.array_equal(found.dependent, pattern.nc - 3 + np.arange(3))
    assert np.array_equal(found.relation(0), [0, 3, pattern.nc - 3])
    assert np.array_equal(found.relation(1), [5, 6, 7, pattern.nc - 2])
    np.testing.assert_allclose(found.coefficients[1][[5, 6, 7]], [0.5, 1.0, 1e-2], rtol=1e-9)


def test_nearly_dependent_rows_are_told_apart(search):
    J = np.eye(3, 5)
    J[2] = [1.0, 1.0, 0.0, 0.0, 1e-6]
    assert dependence(*from_matrix(J)).rank == 3
    assert dependence(*from_matrix(J), tol=1e-5).rank == 2


def test_a_long_loop_closed_twice(search):
    # the closing pin given twice: both of its rows depend on their twins alone
    pattern, data = linkage(500, [(499, 0.5, -1, 0.0)] * 2, seed=3)
    found = dependence(pattern, data)
    assert np.array_equal(found.dependent, [1002, 1003])
    assert np.array_equal(found.relation(1), [1001, 1003])


# --- the square Jacobian -----------------------------------------------------------------------------------------


@each_route
@pytest.mark.parametrize("links", [1, 5, 40])
def test_square_jacobian(route, links):
    pattern, data = linkage(links, drivers=links)
    J = pattern.to_dense(data)
    solver = jacobian_solver(pattern, route).factor(data)
    assert solver.route == route
    b = np.random.default_rng(0).normal(size=(pattern.nq, 2))
    for rhs in (b[:, 0], b):
        assert close(solver.solve(rhs), np.linalg.solve(J, rhs), 1e-11)
        assert close(solver.solve_T(rhs), np.linalg.solve(J.T, rhs), 1e-11)


@each_route
def test_singular_jacobian_names_a_row_and_its_partners(route):
    pattern, data = linkage(5, drivers=5)
    J = pattern.to_dense(data)
    J[12] = J[11]  # a driver twice
    pattern, data = from_matrix(J)
    with pytest.raises(SingularError) as caught:
        jacobian_solver(pattern, route).factor(data)
    assert caught.value.row == 12
    assert np.array_equal(caught.value.rows, [11, 12])
    assert caught.value.smallest < 1e-12


@each_route
def test_jacobian_recovers_after_a_singular_position(route):
    pattern = Pattern.from_sparse(np.ones((2, 2)))
    solver = jacobian_solver(pattern, route)
    with pytest.raises(SingularError):
        solver.factor(np.array([1.0, 2.0, 2.0, 4.0]))
    np.testing.assert_allclose(solver.factor(np.array([1.0, 2.0, 2.0, 1.0])).solve(np.array([3.0, 3.0])), [1.0, 1.0])


@each_route
def test_nearly_singular_jacobian_is_still_solved(route):
    pattern, data = from_matrix(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-7]]))
    x = jacobian_solver(pattern, route).factor(data).solve(np.array([2.0, 2.0 + 1e-7]))
    np.testing.assert_allclose(x, [1.0, 1.0], atol=1e-8)  # 1e7 of condition


def test_only_square_jacobians():
    with pytest.raises(ValueError, match="square"):
        jacobian_solver(CASES["chain"][0])


# --- routes ------------------------------------------------------------------------------------------------------


def test_small_systems_are_dense_and_long_chains_banded():
    assert choose_route(linkage(3)[0], np.ones(9)) == "dense"
    assert choose_route(linkage(1000)[0], np.ones(3000)) == "banded"
    assert choose_route(linkage(3, drivers=3)[0], None) == "dense"


def grid(n):
    """A lattice of n x n masses joined by bars, as a pattern of distance constraints: no narrow band."""
    node = np.arange(n * n).reshape(n, n)
    bars = np.vstack(
        (
            np.stack((node[:, 1:], node[:, :-1]), -1).reshape(-1, 2)[::2],
            np.stack((node[1:], node[:-1]), -1).reshape(-1, 2),
        )
    )
    cols = np.hstack((2 * bars, 2 * bars + 1))
    values = np.random.default_rng(0).normal(size=cols.shape)
    return from_matrix(csr_array((values.ravel(), (np.repeat(np.arange(len(bars)), 4), cols.ravel()))))


def test_wide_systems_take_a_sparse_route():
    pattern, data = grid(60)
    mass = np.ones(pattern.nq)
    sparse = "superlu" if MISSING["cholmod"] else "cholmod"
    assert choose_route(pattern, mass) == sparse
    mass[0] = 0.0
    assert choose_route(pattern, mass) == "superlu"
    x, lam = kkt_solver(pattern, mass).factor(data).solve(*right_hand_side(pattern, data))
    r, g = right_hand_side(pattern, data)
    np.testing.assert_allclose(pattern.multiply(data, x), g, atol=1e-9)
    np.testing.assert_allclose(mass * x + pattern.multiply_T(data, lam), r, atol=1e-9)


def test_many_joints_on_one_body_do_not_make_a_dense_schur_complement():
    links = 400
    pattern, _ = linkage(links, [(0, 0.4, k, 0.1) for k in range(3, links, 2)])
    assert choose_route(pattern, np.ones(pattern.nq)) in ("superlu", "banded")


def test_unknown_and_missing_routes_say_so(monkeypatch):
    with pytest.raises(ValueError, match="one of auto, dense"):
        kkt_solver(CASES["chain"][0], np.ones(18), "magic")
    monkeypatch.setattr("planar.linear.cholmod._sksparse", lambda: "No module named 'sksparse'")
    assert "libsuitesparse-dev" in available_routes()["cholmod"]
    with pytest.raises(ValueError, match="libsuitesparse-dev"):
        jacobian_solver(linkage(2, drivers=2)[0], "cholmod")
    assert choose_route(grid(60)[0], np.ones(7200)) == "superlu"


def test_masses_are_checked():
    for mass in ([1.0, 2.0], np.full(18, -1.0), np.full(18, np.nan)):
        with pytest.raises(ValueError, match="mass"):
            kkt_solver(CASES["chain"][0], mass)


@each_route
def test_a_long_chain(route):
    if route == "dense":
        pytest.skip("10 000 unknowns are not for the dense route")
    pattern, data = linkage(2000, seed=5)
    mass = masses(pattern, -2, 1)
    r, g = right_hand_side(pattern, data)
    x, lam = kkt_solver(pattern, mass, route).factor(data).solve(r, g)
    assert close(pattern.multiply(data, x), g, 1e-12)
    assert close(mass * x + pattern.multiply_T(data, lam), r, 1e-12)


@each_route
def test_a_long_redundant_chain(route):
    if route == "dense":
        pytest.skip("5 000 unknowns are not for the dense route")
    pattern, data = linkage(1000, [(999, 0.5, -1, 0.0)] * 2, seed=5)
    solver = kkt_solver(pattern, np.ones(pattern.nq), route).factor(data)
    assert np.array_equal(solver.dependent, [2002, 2003])
    r, g = right_hand_side(pattern, data)
    x, lam = solver.solve(r, g)
    assert close(pattern.multiply(data, x), g, 1e-10)
    assert close(pattern.multiply_T(data, lam), r - x, 1e-10)
    np.testing.assert_allclose(lam[2000:2002], lam[2002:], rtol=1e-8)  # equal shares: the smallest norm
