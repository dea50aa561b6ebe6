"""Stencils, as explicit methods for differential equations have them."""

from __future__ import annotations

import numpy as np

import chadllvm as cl
from bench.wide.kernel import family

Vec = cl.f64[:]
Mat = cl.f64[:, :]
Cube = cl.f64[:, :, :]

stencils = family("stencils")


@stencils((800,))
def jacobi_1d(a0: Vec) -> float:
    """Two buffers of a line, loops written out."""
    a, b = a0.copy(), a0.copy()
    for _ in range(20):
        for i in range(1, len(a) - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, len(a) - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])
    return np.sum(a * a)


@stencils((40, 40))
def jacobi_2d(a0: Mat) -> float:
    """Two buffers of a plate, loops written out."""
    a, b = a0.copy(), a0.copy()
    n = len(a)
    for _ in range(5):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (
                    a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j]
                )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (
                    b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j]
                )
    return np.sum(a * a)


@stencils((40, 40))
def seidel_2d(a0: Mat) -> float:
    """A plate in place: what is new is read at once."""
    a = a0.copy()
    n = len(a)
    for _ in range(6):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                around = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1]
                around += a[i, j] + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j]
                a[i, j] = (around + a[i + 1, j + 1]) / 9.0
    return np.sum(a * a)


@stencils((40, 40), (40, 40), (40, 40))
def fdtd_2d(ex0: Mat, ey0: Mat, hz0: Mat) -> float:
    """Three fields that each other's differences move."""
    ex, ey, hz = ex0.copy(), ey0.copy(), hz0.copy()
    n = len(ex)
    for t in range(5):
        for j in range(n):
            ey[0, j] = 0.01 * t
        for i in range(1, n):
            for j in range(n):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n):
            for j in range(1, n):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(n - 1):
            for j in range(n - 1):
                curl = ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j]
                hz[i, j] -= 0.7 * curl
    return np.sum(hz * hz)


@stencils((14, 14, 14))
def heat_3d(a0: Cube) -> float:
    """Heat in a body, in slices."""
    a = a0.copy()
    for _ in range(4):
        mid = a[1:-1, 1:-1, 1:-1]
        x = a[2:, 1:-1, 1:-1] - 2.0 * mid + a[:-2, 1:-1, 1:-1]
        y = a[1:-1, 2:, 1:-1] - 2.0 * mid + a[1:-1, :-2, 1:-1]
        z = a[1:-1, 1:-1, 2:] - 2.0 * mid + a[1:-1, 1:-1, :-2]
        a[1:-1, 1:-1, 1:-1] = mid + 0.125 * (x + y + z)
    return np.sum(a * a)


@stencils((2000,), (2000,))
def wave_1d(u0: Vec, speed: Vec) -> float:
    """A wave on a string of varying speed: two states that change places."""
    old, u = u0.copy(), u0.copy()
    for _ in range(10):
        new = u.copy()
        for i in range(1, len(u) - 1):
            bend = u[i + 1] - 2.0 * u[i] + u[i - 1]
            new[i] = 2.0 * u[i] - old[i] + 0.1 * speed[i] * bend
        old, u = u, new
    return np.sum(u * u)


@stencils((2000,))
def burgers(u0: Vec) -> float:
    """A fluid by an upwind scheme, whose direction each place chooses."""
    u = u0 - 0.5
    for _ in range(10):
        new = np.zeros(len(u))
        for i in range(1, len(u) - 1):
            slope = u[i] - u[i - 1] if u[i] > 0.0 else u[i + 1] - u[i]
            new[i] = u[i] - 0.2 * u[i] * slope
        u = new
    return np.sum(u * u)


@stencils((40, 40))
def adi(u0: Mat) -> float:
    """Alternating directions: a tridiagonal sweep along rows, then along columns."""
    n = len(u0)
    u, v = u0.copy(), u0.copy()
    p, q = np.zeros((n, n)), np.zeros((n, n))
    for _ in range(2):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                p[i, j] = 0.2 / (1.4 - 0.2 * p[i, j - 1])
                right = 0.2 * u[j, i - 1] + 0.6 * u[j, i] + 0.2 * u[j, i + 1]
                q[i, j] = (right + 0.2 * q[i, j - 1]) / (1.4 - 0.2 * p[i, j - 1])
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = 0.5 * (v[i, j - 1] + v[i, j + 1])
    return np.sum(u * u)


@stencils((2000,))
def advection(u0: Vec) -> float:
    """A wave on a ring, by the method of Lax and Wendroff."""
    u = u0.copy()
    n = len(u)
    for _ in range(10):
        new = np.zeros(n)
        for i in range(n):
            left, right = u[(i - 1) % n], u[(i + 1) % n]
            new[i] = u[i] - 0.25 * (right - left) + 0.125 * (right - 2.0 * u[i] + left)
        u = new
    return np.sum(u * u)


@stencils((40, 40))
def torus(u0: Mat) -> float:
    """Heat on a torus."""
    u = u0.copy()
    n = len(u)
    for _ in range(5):
        new = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                around = u[(i - 1) % n, j] + u[(i + 1) % n, j]
                around += u[i, (j - 1) % n] + u[i, (j + 1) % n]
                new[i, j] = u[i, j] + 0.2 * (around - 4.0 * u[i, j])
        u = new
    return np.sum(u * u)


@stencils((60, 60))
def spins(s: Mat) -> float:
    """The energy of a lattice of spins whose ends meet."""
    energy = 0.0
    rows, columns = s.shape
    for i in range(rows):
        for j in range(columns):
            energy -= s[i, j] * (s[(i + 1) % rows, j] + s[i, (j + 1) % columns])
    return energy


@stencils((60, 60), (3, 3))
def blur(image: Mat, kernel: Mat) -> float:
    """A filter whose border repeats the ends of rows and columns."""
    rows, columns = image.shape
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            for a in range(3):
                for b in range(3):
                    y = min(max(i + a - 1, 0), rows - 1)
                    x = min(max(j + b - 1, 0), columns - 1)
                    out[i, j] += kernel[a, b] * image[y, x]
    return np.sum(out * out)


@stencils((4000,))
def smoothed(a: Vec) -> float:
    """Means of three neighbours; at an end it is its own."""
    total = 0.0
    n = len(a)
    for i in range(n):
        mean = (a[max(i - 1, 0)] + a[i] + a[min(i + 1, n - 1)]) / 3.0
        total += mean * mean
    return total
