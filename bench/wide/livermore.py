"""The Livermore Fortran kernels (McMahon 1986), by their numbers."""

from __future__ import annotations

import numpy as np

import chadllvm as cl
from bench.wide.kernel import Places, family

Vec = cl.f64[:]
Mat = cl.f64[:, :]
Ints = cl.i64[:]

N = 8000
livermore = family("livermore")


@livermore((N,), (N + 11,))
def k1_hydro(y: Vec, z: Vec) -> float:
    """A fragment of hydrodynamics."""
    x = np.zeros(len(y))
    for k in range(len(y)):
        x[k] = 0.1 + y[k] * (0.2 * z[k + 10] + 0.3 * z[k + 11])
    return np.sum(x * x)


@livermore((1024,), (1024,))
def k2_conjugate(x0: Vec, v: Vec) -> float:
    """The reduction of an incomplete Cholesky factorisation."""
    x = np.concatenate((x0, x0))
    start, size = 0, len(x0)
    while size > 1:
        end = start + size
        i = end
        for k in range(start + 1, end - 1, 2):
            x[i] = x[k] - 0.1 * v[k % len(v)] * x[k - 1] - 0.1 * x[k + 1]
            i += 1
        start = end
        size = size // 2
    return np.sum(x * x)


@livermore((N,), (N,))
def k3_inner(z: Vec, x: Vec) -> float:
    """An inner product."""
    q = 0.0
    for k in range(len(z)):
        q += z[k] * x[k]
    return q


@livermore((N,), (N,))
def k4_banded(x0: Vec, y: Vec) -> float:
    """Banded linear equations."""
    x = x0.copy()
    m = (len(x) - 7) // 2
    for k in range(6, len(x), m):
        lw = k - 6
        t = x[k - 1]
        for j in range(4, len(x) // 5):
            t -= x[lw] * y[j] * 0.001
            lw += 1
            if lw > len(x) - 1:
                lw = 0
        x[k - 1] = y[4] * t
    return np.sum(x)


@livermore((N,), (N,), (N,))
def k5_tridiagonal(x0: Vec, y: Vec, z: Vec) -> float:
    """Elimination in a tridiagonal matrix, below the diagonal."""
    x = x0.copy()
    for i in range(1, len(x)):
        x[i] = z[i] * (y[i] - x[i - 1])
    return np.sum(x * x)


@livermore((120,), (120, 120))
def k6_recurrence(w0: Vec, b: Mat) -> float:
    """General linear recurrence equations."""
    w = w0.copy()
    for i in range(1, len(w)):
        s = 0.01
        for k in range(i):
            s += b[k, i] * w[i - k - 1] * 0.01
        w[i] += s
    return np.sum(w)


@livermore((N,), (N,), (N + 6,))
def k7_state(y: Vec, z: Vec, u: Vec) -> float:
    """A fragment of an equation of state."""
    x = np.zeros(len(y))
    r, t = 0.5, 0.2
    for k in range(len(y)):
        x[k] = (
            u[k]
            + r * (z[k] + r * y[k])
            + t
            * (
                u[k + 3]
                + r * (u[k + 2] + r * u[k + 1])
                + t * (u[k + 6] + r * (u[k + 5] + r * u[k + 4]))
            )
        )
    return np.sum(x * x)


@livermore((500, 13))
def k9_integrate(px0: Mat) -> float:
    """Integration of predictors."""
    px = px0.copy()
    for i in range(len(px)):
        s = 0.1 * px[i, 12] + 0.2 * px[i, 11] + 0.3 * px[i, 10] + 0.4 * px[i, 9]
        s += 0.5 * px[i, 8] + 0.6 * px[i, 7] + 0.7 * px[i, 6]
        px[i, 0] = s + 0.8 * (px[i, 4] + px[i, 5]) + px[i, 2]
    return np.sum(px * px)


@livermore((500, 14))
def k10_difference(px0: Mat) -> float:
    """Difference predictors."""
    px = px0.copy()
    for i in range(len(px)):
        ar = px[i, 4]
        for j in range(4, 13):
            br = ar - px[i, j]
            px[i, j] = ar
            ar = br
        px[i, 13] = ar
    return np.sum(px * px)


@livermore((N,))
def k11_first_sum(y: Vec) -> float:
    """Sums of all elements up to each."""
    x = np.zeros(len(y))
    x[0] = y[0]
    for k in range(1, len(y)):
        x[k] = x[k - 1] + y[k]
    return np.sum(x * x)


@livermore((N,))
def k12_first_difference(y: Vec) -> float:
    """Differences of neighbours."""
    x = np.zeros(len(y) - 1)
    for k in range(len(y) - 1):
        x[k] = y[k + 1] - y[k]
    return np.sum(x * x)


@livermore((1500, 4), (64, 64), Places(1500))
def k13_particles_2d(p0: Mat, field: Mat, cells: Ints) -> float:
    """Particles in a cell, in two dimensions."""
    p, h = p0.copy(), np.zeros(field.shape)
    side = len(field)
    for k in range(len(p)):
        i1 = (cells[k] + int(p[k, 0] * 8.0)) % side
        j1 = (cells[k] * 7 + int(p[k, 1] * 8.0)) % side
        p[k, 2] += field[i1, j1]
        p[k, 3] += field[j1, i1]
        p[k, 0] += p[k, 2]
        p[k, 1] += p[k, 3]
        h[j1, i1] += p[k, 0] * p[k, 1]
    return np.sum(h * h)


@livermore((1500,), (1500,), (256,))
def k14_particles_1d(x0: Vec, v0: Vec, e: Vec) -> float:
    """Particles in a cell, in one dimension."""
    rho = np.zeros(len(e) + 1)
    for k in range(len(x0)):
        grid = x0[k] * (len(e) - 1)
        place = int(grid)
        part = grid - place
        v = v0[k] + e[place] * part
        rho[place] += (1.0 - part) * v
        rho[place + 1] += part * v
    return np.sum(rho * rho)


@livermore((60, 60), (60, 60), (60, 60))
def k18_hydro_2d(za: Mat, zp: Mat, zq: Mat) -> float:
    """A fragment of explicit hydrodynamics in two dimensions."""
    a, b = np.zeros(za.shape), np.zeros(za.shape)
    for k in range(1, len(za) - 1):
        for j in range(1, len(za) - 1):
            up = zp[k + 1, j - 1] + zq[k + 1, j - 1] - zp[k, j - 1] - zq[k, j - 1]
            a[k, j] = up * (za[k, j] + za[k, j - 1]) / (za[k, j - 1] + za[k + 1, j - 1])
            left = zp[k, j - 1] + zq[k, j - 1] - zp[k, j] - zq[k, j]
            b[k, j] = left * (za[k, j] + za[k - 1, j]) / (za[k, j] + za[k, j - 1])
    return np.sum(a * a) + np.sum(b * b)


@livermore((N,), (N,))
def k19_recurrence(sa: Vec, sb: Vec) -> float:
    """A linear recurrence, forwards and then backwards."""
    b5 = np.zeros(len(sa))
    stb5 = 0.1
    for k in range(len(sa)):
        b5[k] = sa[k] + stb5 * sb[k]
        stb5 = b5[k] - stb5
    for k in range(len(sa) - 1, -1, -1):
        b5[k] = sa[k] + stb5 * sb[k]
        stb5 = b5[k] - stb5
    return np.sum(b5) * 1e-3


@livermore((N,), (N,), (N,))
def k20_ordinates(y: Vec, z: Vec, u: Vec) -> float:
    """Transport by discrete ordinates: a recurrence with conditions."""
    x = np.zeros(len(y) + 1)
    for k in range(len(y)):
        di = y[k] - 1.0 / (x[k] + 1.5)
        dn = 0.2
        if di > 0.0:
            dn = max(0.1, min(0.4, z[k] / (di + 0.1)))
        x[k + 1] = ((0.3 + u[k] * dn) * x[k] + z[k]) / (1.2 + y[k] * dn)
    return np.sum(x)


@livermore((48, 25), (25, 48), (48, 48))
def k21_product(vy: Mat, cx: Mat, px0: Mat) -> float:
    """A product of matrices, loops in the given order."""
    px = px0.copy()
    for k in range(vy.shape[1]):
        for i in range(vy.shape[0]):
            for j in range(cx.shape[1]):
                px[i, j] += vy[i, k] * cx[k, j]
    return np.sum(px * px)


@livermore((4000,), (4000,), (4000,))
def k22_planck(u: Vec, v: Vec, x: Vec) -> float:
    """Planck's distribution."""
    w = np.zeros(len(u))
    for k in range(len(u)):
        y = u[k] / v[k]
        w[k] = x[k] / np.expm1(y)
    return np.sum(w)


@livermore((70, 70), (70, 70), (70, 70))
def k23_implicit(za0: Mat, zr: Mat, zb: Mat) -> float:
    """A fragment of implicit hydrodynamics in two dimensions."""
    za = za0.copy()
    for j in range(1, len(za) - 1):
        for k in range(1, len(za) - 1):
            qa = za[k, j + 1] * zr[k, j] + za[k, j - 1] * zb[k, j]
            qa += za[k + 1, j] * 0.2 + za[k - 1, j] * 0.3
            za[k, j] += 0.175 * (qa - za[k, j])
    return np.sum(za * za)


@livermore((N,))
def k24_least(x: Vec) -> float:
    """The place of the least."""
    m = 0
    for k in range(1, len(x)):
        if x[k] < x[m]:
            m = k
    return x[m] * x[m]
