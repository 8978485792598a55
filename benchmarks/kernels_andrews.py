"""Hand-written time loop of Andrews' squeezer; the scheme and the interface are those of kernels_forward.py.

Six bodies have two pins, K2 has four.  Pins are written outward from ground to K2, so a two-pin body carries +lam at its
inner pin a and -lam at its outer pin b, and K2 carries + at all of its own:

    K1: O -> F     K3: B -> E3     K5: A5 -> G     K4: G -> E4     K7: A7 -> H     K6: H -> E6     K2: F, E3, E4, E6

Inner pins are eliminated into outer ones along each leg without fill; what is left is the 8x8 system of K2.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.kernels_forward import _backward, _eliminate, _forward, _jit, time_loop

O, B, A5, G, A7, H, F, E3, E4, E6 = range(10)
LEGS = (
    (0, O, F),
    (2, B, E3),
    (4, A5, G),
    (3, G, E4),
    (6, A7, H),
    (5, H, E6),
)  # body, inner pin, outer pin; in this order
HUB = 1

# p = (inner arms (7, 2), outer arms (7, 2), D on K3 (2,), 1/m (7,), 1/J (7,), ground pins (10, 2), spring C, k, l0, torque)
# K2: inner arm F, outer arm E.  A: rotated inner, outer arms (7, 4) and D in the last row.


@_jit
def _turn(q, A, p):
    inner, outer, d = p[0], p[1], p[2]
    for k in range(7):
        c, s = math.cos(q[k, 2]), math.sin(q[k, 2])
        A[k, 0], A[k, 1] = c * inner[k, 0] - s * inner[k, 1], s * inner[k, 0] + c * inner[k, 1]
        A[k, 2], A[k, 3] = c * outer[k, 0] - s * outer[k, 1], s * outer[k, 0] + c * outer[k, 1]
        if k == 2:
            A[7, 0], A[7, 1] = c * d[0] - s * d[1], s * d[0] + c * d[1]


@_jit
def _factor(A, Fs, p):
    D, C, S = Fs
    w, z = p[3], p[4]
    D[:] = 0.0
    for k, a, b in LEGS:
        ax, ay, bx, by = A[k, 0], A[k, 1], A[k, 2], A[k, 3]
        D[a, 0] += w[k] + z[k] * ay * ay
        D[a, 1] -= z[k] * ax * ay
        D[a, 2] += w[k] + z[k] * ax * ax
        D[b, 0] += w[k] + z[k] * by * by
        D[b, 1] -= z[k] * bx * by
        D[b, 2] += w[k] + z[k] * bx * bx
        # -(1/m + a' b'^T / J), a' = (-ay, ax)
        C[a, 0], C[a, 1] = -w[k] - z[k] * ay * by, z[k] * ay * bx
        C[a, 2], C[a, 3] = z[k] * ax * by, -w[k] - z[k] * ax * bx
    for _, a, b in LEGS:
        _eliminate(D, C, a, b)
    fx, fy, ex, ey = A[HUB, 0], A[HUB, 1], A[HUB, 2], A[HUB, 3]
    w1, z1 = w[HUB], z[HUB]
    for i in range(4):
        for j in range(i + 1):
            ax, ay = (fx, fy) if i == 0 else (ex, ey)
            bx, by = (fx, fy) if j == 0 else (ex, ey)
            S[2 * i, 2 * j], S[2 * i, 2 * j + 1] = w1 + z1 * ay * by, -z1 * ay * bx
            S[2 * i + 1, 2 * j], S[2 * i + 1, 2 * j + 1] = -z1 * ax * by, w1 + z1 * ax * bx
        S[2 * i, 2 * i] += D[F + i, 0]
        S[2 * i + 1, 2 * i] += D[F + i, 1]
        S[2 * i + 1, 2 * i + 1] += D[F + i, 2]
    for j in range(8):  # Cholesky, the reciprocal on the diagonal
        total = S[j, j]
        for k in range(j):
            total -= S[j, k] * S[j, k]
        inverse = 1.0 / math.sqrt(total)
        S[j, j] = inverse
        for i in range(j + 1, 8):
            total = S[i, j]
            for k in range(j):
                total -= S[i, k] * S[j, k]
            S[i, j] = total * inverse


@_jit
def _solve(Fs, x, p):
    D, C, S = Fs
    for _, a, b in LEGS:
        _forward(D, C, a, b, x)
    y = x.ravel()
    for i in range(8):
        total = y[12 + i]
        for k in range(i):
            total -= S[i, k] * y[12 + k]
        y[12 + i] = total * S[i, i]
    for i in range(7, -1, -1):
        total = y[12 + i]
        for k in range(i + 1, 8):
            total -= S[k, i] * y[12 + k]
        y[12 + i] = total * S[i, i]
    for n in range(6):
        _, a, b = LEGS[5 - n]
        _backward(D, C, a, b, x)


@_jit
def _open(q, A, r, p, turned):
    if turned:
        A = np.empty((8, 4))
        _turn(q, A, p)
    ground = p[5]
    for i in range(10):
        r[i, 0], r[i, 1] = -ground[i, 0], -ground[i, 1]
    _gather(q, A, r)
    return np.abs(r).max()


@_jit
def _gather(x, A, r):
    """r += positions at the pins: + at the inner pin of a leg and at K2's, - at the outer pin."""
    for k, a, b in LEGS:
        r[a, 0] += x[k, 0] + A[k, 0]
        r[a, 1] += x[k, 1] + A[k, 1]
        r[b, 0] -= x[k, 0] + A[k, 2]
        r[b, 1] -= x[k, 1] + A[k, 3]
    for i in range(4):
        r[F + i, 0] += x[HUB, 0] + (A[HUB, 0] if i == 0 else A[HUB, 2])
        r[F + i, 1] += x[HUB, 1] + (A[HUB, 1] if i == 0 else A[HUB, 3])


@_jit
def _slip(v, A, r, p):
    r[:] = 0.0
    for k, a, b in LEGS:
        u = v[k, 2]
        r[a, 0] += v[k, 0] - A[k, 1] * u
        r[a, 1] += v[k, 1] + A[k, 0] * u
        r[b, 0] -= v[k, 0] - A[k, 3] * u
        r[b, 1] -= v[k, 1] + A[k, 2] * u
    u = v[HUB, 2]
    for i in range(4):
        ax, ay = (A[HUB, 0], A[HUB, 1]) if i == 0 else (A[HUB, 2], A[HUB, 3])
        r[F + i, 0] += v[HUB, 0] - ay * u
        r[F + i, 1] += v[HUB, 1] + ax * u


@_jit
def _load(q, v, A, f, r, p):
    _, _, _, w, z, _, anchor, stiffness, length, torque = p
    f[:] = 0.0
    f[0, 2] = torque * z[0]
    dx, dy = q[2, 0] + A[7, 0] - anchor[0], q[2, 1] + A[7, 1] - anchor[1]
    now = math.sqrt(dx * dx + dy * dy)
    pull = stiffness * (now - length) / now
    f[2, 0], f[2, 1] = -w[2] * pull * dx, -w[2] * pull * dy
    f[2, 2] = -z[2] * pull * (A[7, 0] * dy - A[7, 1] * dx)
    _slip(f, A, r, p)
    # Phi_q f - gamma: centripetal a w^2 at the inner, the opposite at the outer pin, taken with the sign of the row
    for k, a, b in LEGS:
        u = v[k, 2] ** 2
        r[a, 0] -= A[k, 0] * u
        r[a, 1] -= A[k, 1] * u
        r[b, 0] += A[k, 2] * u
        r[b, 1] += A[k, 3] * u
    u = v[HUB, 2] ** 2
    for i in range(4):
        r[F + i, 0] -= u * (A[HUB, 0] if i == 0 else A[HUB, 2])
        r[F + i, 1] -= u * (A[HUB, 1] if i == 0 else A[HUB, 3])


@_jit
def _pull(A, lam, f, p):
    w, z = p[3], p[4]
    for k, a, b in LEGS:
        f[k, 0] -= w[k] * (lam[a, 0] - lam[b, 0])
        f[k, 1] -= w[k] * (lam[a, 1] - lam[b, 1])
        f[k, 2] -= z[k] * (A[k, 0] * lam[a, 1] - A[k, 1] * lam[a, 0] - A[k, 2] * lam[b, 1] + A[k, 3] * lam[b, 0])
    ex, ey = lam[E3, 0] + lam[E4, 0] + lam[E6, 0], lam[E3, 1] + lam[E4, 1] + lam[E6, 1]
    f[HUB, 0] -= w[HUB] * (lam[F, 0] + ex)
    f[HUB, 1] -= w[HUB] * (lam[F, 1] + ey)
    f[HUB, 2] -= z[HUB] * (A[HUB, 0] * lam[F, 1] - A[HUB, 1] * lam[F, 0] + A[HUB, 2] * ey - A[HUB, 3] * ex)


andrews = time_loop(_turn, _factor, _solve, _open, _slip, _load, _pull)


def run_andrews(data, q, v, t_end, steps, every=None):
    """Andrews' squeezer from q, v (21,); data: the figures of tests/data/andrews.json."""
    shape, par = data["cartesian"], data["parameters"]
    names = (("O", "F"), ("F", "E"), ("B", "E"), ("G", "E"), ("A", "G"), ("H", "E"), ("A", "H"))
    local = [shape["local_points"][f"K{k + 1}"] for k in range(7)]
    inner, outer = (np.array([local[k][names[k][side]] for k in range(7)], float) for side in (0, 1))
    ground = np.zeros((10, 2))
    for pin, point in ((O, "O"), (B, "B"), (A5, "A"), (A7, "A")):
        ground[pin] = shape["ground_points"][point]
    spring = shape["spring"]
    p = (inner, outer, np.array(local[2]["D"], float), 1 / np.array(par["m"]), 1 / np.array(par["I"]), ground)
    p += (np.array(shape["ground_points"]["C"], float), spring["k"], spring["l0"], shape["torque"]["value"])
    work = (np.empty((10, 3)), np.empty((10, 4)), np.empty((8, 8)))
    args = (t_end / steps, steps, every or steps, 10, np.empty((8, 4)), work, p)
    return andrews(q.reshape(7, 3), v.reshape(7, 3), *args)
