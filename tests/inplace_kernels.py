# ruff: noqa: N803  # Matrices have capitals there.
"""Kernels of linear algebra and stencils that fill their arguments and return nothing.

They are written as the public suites of such kernels write them; each has its arguments
for a size, smooth around them, and the sizes are small enough for plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import chadllvm as cl

Arguments = Callable[[np.random.Generator], tuple[Any, ...]]

KERNELS: dict[str, tuple[cl.Function[..., Any], Arguments]] = {}


def kernel(
    arguments: Arguments,
) -> Callable[[Callable[..., Any]], cl.Function[..., Any]]:
    def enter(function: Callable[..., Any]) -> cl.Function[..., Any]:
        compiled: cl.Function[..., Any] = cl.jit(function)
        KERNELS[function.__name__] = compiled, arguments
        return compiled

    return enter


def definite(r: np.random.Generator, n: int) -> np.ndarray:
    a = r.uniform(0.1, 1.0, (n, n))
    return a @ a.T + n * np.eye(n)


@kernel(lambda r: (1.5, 1.2, r.random((3, 5)), r.random((3, 4)), r.random((4, 5))))
def gemm(alpha, beta, C: cl.f64[:, :], A: cl.f64[:, :], B: cl.f64[:, :]):
    C[:] = alpha * A @ B + beta * C


@kernel(lambda r: (1.5, 1.2, r.random((3, 5)), r.random((3, 4)), r.random((4, 5))))
def gemm_loops(alpha: float, beta: float, C: cl.f64[:, :], A, B) -> None:
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            C[i, :] += alpha * A[i, k] * B[k, :]


@kernel(
    lambda r: (
        *(1.5, 1.2, r.random((3, 4)), r.random((4, 2))),
        *(r.random((2, 5)), r.random((3, 5))),
    )
)
def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


@kernel(lambda r: (r.random((4, 5)), r.random(5), r.random(5)))
def atax(A: cl.f64[:, :], x: cl.f64[:], y: cl.f64[:]):
    y[:] = 0.0
    for i in range(len(A)):
        t = 0.0
        for j in range(A.shape[1]):
            t += A[i, j] * x[j]
        for j in range(A.shape[1]):
            y[j] += A[i, j] * t


@kernel(
    lambda r: (r.random((4, 3)), r.random(4), r.random(3), np.zeros(4), np.zeros(3))
)
def bicg(A, r, p, q, s):
    q[:] = A @ p
    s[:] = r @ A


@kernel(
    lambda r: (r.random(4), r.random(4), r.random(4), r.random(4), r.random((4, 4)))
)
def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


@kernel(
    lambda r: (1.5, 1.2, r.random((4, 4)), r.random((4, 4)), r.random(4), np.zeros(4))
)
def gesummv(alpha, beta, A, B, x, y):
    y[:] = alpha * A @ x + beta * B @ x


@kernel(lambda r: (1.5, 1.2, r.random((4, 4)), r.random((4, 3))))
def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


@kernel(lambda r: (1.5, 1.2, r.random((4, 4)), r.random((4, 3)), r.random((4, 3))))
def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k]
            C[i, : i + 1] += B[: i + 1, k] * alpha * A[i, k]


@kernel(lambda r: (1.5, r.random((4, 4)), r.random((4, 3))))
def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] += A[k, i] * B[k, j]
    B *= alpha


@kernel(lambda r: (1.5, 1.2, r.random((4, 3)), r.random((4, 4)), r.random((4, 3))))
def symm(alpha, beta, C, A, B):
    temp2 = np.zeros(C.shape[1])
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2


@kernel(lambda r: (1.5, 1.2, r.random((4, 4)), *r.random((8, 4))))
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


@kernel(lambda r: (definite(r, 5),))
def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


@kernel(lambda r: (definite(r, 4), r.random(4), np.zeros(4), np.zeros(4)))
def ludcmp(A, b, x, y):
    lu(A)
    n = len(b)
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]


@kernel(lambda r: (definite(r, 5),))
def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = math.sqrt(A[i, i])


@kernel(lambda r: (definite(r, 5), np.zeros(5), r.random(5)))
def trisolv(L, x, b):
    for i in range(len(x)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@kernel(lambda r: (r.uniform(0.0, 0.2, 5), np.zeros(5)))
def durbin(r: cl.f64[:], y: cl.f64[:]):
    z = np.zeros(len(r))
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        y[:k] = z[:k]
        y[k] = alpha


@kernel(lambda r: (r.uniform(0.5, 1.5, (5, 3)), np.zeros((5, 3)), np.zeros((3, 3))))
def gramschmidt(A, Q, R):
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]


@kernel(lambda r: (4, r.random(7), r.random(7)))
def jacobi_1d(steps: int, A, B):
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@kernel(lambda r: (3, r.random((5, 6)), r.random((5, 6))))
def jacobi_2d(steps: int, A, B):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )


@cl.jit
def step_of_heat(A: cl.f64[:, :, :], B: cl.f64[:, :, :]) -> None:
    c = A[1:-1, 1:-1, 1:-1]
    B[1:-1, 1:-1, 1:-1] = (
        0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * c + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * c + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * c + A[1:-1, 1:-1, :-2])
        + c
    )


@kernel(lambda r: (2, r.random((4, 4, 5)), r.random((4, 4, 5))))
def heat_3d(steps: int, A, B):
    for _ in range(steps):
        step_of_heat(A, B)
        step_of_heat(B, A)


@kernel(lambda r: (2, r.random((5, 4))))
def seidel_2d(steps: int, A: cl.f64[:, :]):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = np.sum(A[i - 1 : i + 2, j - 1 : j + 2]) / 9.0


@kernel(lambda r: (3, *r.random((3, 4, 5)), r.random(3)))
def fdtd_2d(steps: int, ex, ey, hz, fict):
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel(lambda r: (2, 5, r.random((5, 5))))
def adi(steps: int, n: int, u: cl.f64[:, :]):
    v, p, q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    a, b = -0.4, 1.8
    for _ in range(1, steps + 1):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -a / (a * p[1 : n - 1, j - 1] + b)
            right = (1.0 + 2.0 * a) * u[j, 1 : n - 1] - a * (u[j, : n - 2] + u[j, 2:n])
            q[1 : n - 1, j] = right - a * q[1 : n - 1, j - 1]
            q[1 : n - 1, j] /= a * p[1 : n - 1, j - 1] + b
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        u[1 : n - 1, 1 : n - 1] = v[1 : n - 1, 1 : n - 1]


@kernel(lambda r: (r.uniform(1.0, 9.0, (5, 5)),))
def floyd_warshall(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            for j in range(path.shape[1]):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@kernel(lambda r: (r.random((6, 4)), np.zeros(4), np.zeros((4, 4))))
def covariance(data, mean, cov):
    mean[:] = np.mean(data, axis=0)
    data -= mean
    for i in range(data.shape[1]):
        for j in range(i, data.shape[1]):
            cov[i, j] = data[:, i] @ data[:, j] / (data.shape[0] - 1.0)
            cov[j, i] = cov[i, j]


@kernel(lambda r: (r.random((6, 4)), np.zeros((4, 4))))
def correlation(data, corr):
    mean = np.mean(data, axis=0)
    stddev = np.sqrt(np.mean((data - mean) ** 2, axis=0))
    data -= mean
    data /= np.sqrt(float(data.shape[0])) * stddev
    for i in range(data.shape[1] - 1):
        corr[i, i] = 1.0
        corr[i + 1 :, i] = data[:, i] @ data[:, i + 1 :]
        corr[i, i + 1 :] = corr[i + 1 :, i]
    corr[-1, -1] = 1.0


@kernel(lambda r: (r.random((3, 2, 4)), r.random((4, 4))))
def doitgen(A, C4):
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            A[r, q, :] = A[r, q, :] @ C4


@cl.jit
def columns_by_rows(a: cl.f64[:]) -> None:
    for i in range(1, len(a)):
        a[i] = 0.7 * a[i] + 0.3 * a[i - 1]


@kernel(lambda r: (r.random((4, 6)), r.random((4, 6))))
def filtered(image, out):
    for i in range(image.shape[0]):
        out[i] = image[i]
        columns_by_rows(out[i])
        columns_by_rows(out[i, 2:-1])


@kernel(lambda r: (r.permutation(13).astype(float), 0, 12))
def quicksort(a: cl.f64[:], first: int, last: int) -> None:
    if first >= last:
        return
    pivot, k = a[last], first
    for i in range(first, last):
        if a[i] < pivot:
            a[i], a[k] = a[k], a[i]
            k += 1
    a[last], a[k] = a[k], a[last]
    quicksort(a, first, k - 1)
    quicksort(a, k + 1, last)


@kernel(lambda r: (*r.random((2, 8)), 0, 1, 8))
def fft(re: cl.f64[:], im: cl.f64[:], at: int, stride: int, n: int) -> None:
    if n == 1:
        return
    h = n // 2
    fft(re, im, at, 2 * stride, h)
    fft(re, im, at + stride, 2 * stride, h)
    xr, xi = np.zeros(n), np.zeros(n)
    for k in range(h):
        c, s = math.cos(-2.0 * math.pi * k / n), math.sin(-2.0 * math.pi * k / n)
        i, j = at + 2 * k * stride, at + (2 * k + 1) * stride
        tr, ti = c * re[j] - s * im[j], c * im[j] + s * re[j]
        xr[k], xi[k] = re[i] + tr, im[i] + ti
        xr[k + h], xi[k + h] = re[i] - tr, im[i] - ti
    for k in range(n):
        re[at + k * stride], im[at + k * stride] = xr[k], xi[k]


@kernel(lambda r: (r.random((3, 4)), r.random(3), 2.0))
def mixed(a, b, c):
    """Local functions, branches, early ends, updates by `fill` and `np.add.at`."""

    def add(row, x):
        row += x
        row[0] *= 2.0

    for i in range(a.shape[0]):
        add(a[i], b[i])
    if c < 0.0:
        return
    for i in range(a.shape[0]):
        if i == 1:
            b.fill(0.5)
        else:
            np.add.at(b, np.array([0, 1, 0]), a[i, :3])


@kernel(lambda r: (r.random((4, 3)), r.random((4, 3)), r.random(4), 0.1, 0.05, 3))
def nbody(pos, vel, mass, G: float, step: float, steps: int):
    """Leapfrog: positions and velocities of bodies that pull each other."""
    acc = np.zeros_like(pos)
    for _ in range(steps):
        vel += acc * step / 2.0
        pos += vel * step
        acc[:] = 0.0
        for i in range(len(mass)):
            for j in range(len(mass)):
                if i != j:
                    d = pos[j] - pos[i]
                    acc[i] += G * d * (np.sum(d**2) + 0.01) ** -1.5 * mass[j]
        vel += acc * step / 2.0


@cl.jit
def swap_rows(A: cl.f64[:, :], i: int, j: int) -> None:
    row = A[i].copy()
    A[i] = A[j]
    A[j] = row


@kernel(lambda r: (r.random((5, 5)) + 3.0 * np.eye(5)[::-1], r.random(5)))
def gauss(A, b):
    n = len(b)
    for c in range(n):
        m = c
        for i in range(c + 1, n):
            if abs(A[i, c]) > abs(A[m, c]):
                m = i
        if m != c:
            swap_rows(A, c, m)
            b[c], b[m] = b[m], b[c]
        for i in range(c + 1, n):
            f = A[i, c] / A[c, c]
            A[i, c:] -= f * A[c, c:]
            b[i] -= f * b[c]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]


@kernel(lambda r: (r.random((8, 8, 2)), np.zeros((4, 4, 2)), r.random((4, 4, 2))))
def hdiff(field, out, coeff):
    n, m = out.shape[0], out.shape[1]
    lap = 4.0 * field[1 : n + 3, 1 : m + 3] - (
        field[2 : n + 4, 1 : m + 3]
        + field[: n + 2, 1 : m + 3]
        + field[1 : n + 3, 2 : m + 4]
        + field[1 : n + 3, : m + 2]
    )
    res = lap[1:, 1 : m + 1] - lap[:-1, 1 : m + 1]
    up = field[2 : n + 3, 2 : m + 2] - field[1 : n + 2, 2 : m + 2]
    flx = np.where(res * up > 0, 0, res)
    res = lap[1 : n + 1, 1:] - lap[1 : n + 1, :-1]
    right = field[2 : n + 2, 2 : m + 3] - field[2 : n + 2, 1 : m + 2]
    fly = np.where(res * right > 0, 0, res)
    flux = flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1]
    out[:] = field[2 : n + 2, 2 : m + 2] - coeff[:, :, :] * flux


@kernel(lambda r: (*r.random((3, 7)),))
def thomas(a, b, c):
    n = len(b)
    b += 2.0
    c[0] /= b[0]
    a[0] /= b[0]
    for i in range(1, n):
        m = 1.0 / (b[i] - a[i] * c[i - 1])
        c[i] *= m
        a[i] = (a[i] - a[i] * a[i - 1]) * m
    for i in range(n - 2, -1, -1):
        a[i] -= c[i] * a[i + 1]


@kernel(lambda r: (r.random(8) - 0.5, r.random(8)))
def masked(a, b):
    a[a < 0.0] = 0.0
    b[:] = np.where(a > 0.2, b, a * b)
    b[a > 0.1] *= 2.0


@cl.jit
def halves(a: cl.f64[:], depth: int) -> None:
    if len(a) <= 1 or depth == 0:
        a *= 1.5
        return
    m = len(a) // 2
    halves(a[:m], depth - 1)
    halves(a[m:], depth - 1)
    a[0] += a[-1]


@kernel(lambda r: (r.random((3, 4)), r.random(4)))
def helpers_in_branches(A, w):
    i = 0
    while i < len(A):
        if w[i] > 0.5:
            halves(A[i], 3)
        elif w[i] > 0.2:
            halves(A[i, 1:], 1)
        else:
            halves(A[:, i], 2)
        i += 1
    halves(w, 4)


@kernel(lambda r: (r.integers(0, 4, 7), np.zeros((7, 7), dtype=np.int64)))
def nussinov(seq, table):
    n = len(seq)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1], table[i + 1, j])
            pair = 1 if seq[i] + seq[j] == 3 and i < j - 1 else 0
            table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
