"""Kernels of PolyBench/C 4.2 (Pouchet and Yuki), with loops as they are there."""

from __future__ import annotations

import numpy as np

import chadllvm as cl
from bench.wide.kernel import family

Vec = cl.f64[:]
Mat = cl.f64[:, :]

SIDE = 40
polybench = family("polybench")


@polybench((SIDE, SIDE), (SIDE, SIDE), (SIDE, SIDE))
def gemm(a: Mat, b: Mat, c0: Mat) -> float:
    """A product of matrices that is added."""
    c = c0.copy()
    n = len(a)
    for i in range(n):
        for j in range(n):
            c[i, j] *= 1.2
        for k in range(n):
            for j in range(n):
                c[i, j] += 1.5 * a[i, k] * b[k, j]
    return np.sum(c)


@polybench((SIDE, SIDE), (SIDE, SIDE), (SIDE, SIDE))
def two_mm(a: Mat, b: Mat, c: Mat) -> float:
    """Two products, one after another."""
    n = len(a)
    t, d = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                t[i, j] += 1.5 * a[i, k] * b[k, j]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                d[i, j] += t[i, k] * c[k, j]
    return np.sum(d * d)


@polybench((SIDE, SIDE), (SIDE, SIDE))
def syrk(a: Mat, c0: Mat) -> float:
    """A symmetric update of rank k."""
    c = c0.copy()
    n = len(a)
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= 1.2
        for k in range(n):
            for j in range(i + 1):
                c[i, j] += 1.5 * a[i, k] * a[j, k]
    return np.sum(c)


@polybench((SIDE, SIDE), (SIDE, SIDE))
def trmm(a: Mat, b0: Mat) -> float:
    """A product with a triangular matrix, in place."""
    b = b0.copy()
    n = len(a)
    for i in range(n):
        for j in range(n):
            for k in range(i + 1, n):
                b[i, j] += a[k, i] * b[k, j] * 0.05
    return np.sum(b)


@polybench((90, 90), (90,))
def atax(a: Mat, x: Vec) -> float:
    """A matrix and its transpose with a vector."""
    y = np.zeros(len(x))
    for i in range(len(a)):
        t = 0.0
        for j in range(len(x)):
            t += a[i, j] * x[j]
        for j in range(len(x)):
            y[j] += a[i, j] * t
    return np.sum(y * y)


@polybench((90, 90), (90,), (90,))
def bicg(a: Mat, p: Vec, r: Vec) -> float:
    """The two products of the method of biconjugate gradients."""
    s, q = np.zeros(len(p)), np.zeros(len(r))
    for i in range(len(a)):
        for j in range(len(p)):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]
    return np.sum(s) + np.sum(q * q)


@polybench((90, 90), (90,), (90,))
def mvt(a: Mat, y1: Vec, y2: Vec) -> float:
    """A matrix with a vector, and its transpose with another."""
    x1, x2 = np.zeros(len(y1)), np.zeros(len(y1))
    for i in range(len(a)):
        for j in range(len(a)):
            x1[i] += a[i, j] * y1[j]
    for i in range(len(a)):
        for j in range(len(a)):
            x2[i] += a[j, i] * y2[j]
    return np.sum(x1 * x2)


@polybench((90, 90), (90,), (90,), (90,), (90,), (90,))
def gemver(a0: Mat, u1: Vec, v1: Vec, u2: Vec, v2: Vec, y: Vec) -> float:
    """A matrix with two updates of rank one, and products."""
    a, n = a0.copy(), len(u1)
    x, w = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            a[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += 1.2 * a[j, i] * y[j]
    for i in range(n):
        for j in range(n):
            w[i] += 1.5 * a[i, j] * x[j]
    return np.sum(w)


@polybench((90, 90), (90, 90), (90,))
def gesummv(a: Mat, b: Mat, x: Vec) -> float:
    """Two matrices with one vector."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = 0.0
        for j in range(len(x)):
            t += a[i, j] * x[j]
            y[i] += b[i, j] * x[j]
        y[i] = 1.5 * t + 1.2 * y[i]
    return np.sum(y * y)


@polybench((SIDE, SIDE))
def cholesky(a0: Mat) -> float:
    """A factorisation of a matrix that is made definite."""
    n = len(a0)
    a = a0.copy()
    for i in range(n):
        a[i, i] += n
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(a)


@polybench((SIDE, SIDE))
def lu(a0: Mat) -> float:
    """A factorisation without pivots."""
    n = len(a0)
    a = a0.copy()
    for i in range(n):
        a[i, i] += n
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a)


@polybench((SIDE, SIDE))
def gram_schmidt(a0: Mat) -> float:
    """A factorisation into an orthogonal and a triangular matrix."""
    n = len(a0)
    a = a0.copy()
    for i in range(n):
        a[i, i] += n
    q, r = np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(n):
            norm += a[i, k] * a[i, k]
        r[k, k] = np.sqrt(norm)
        for i in range(n):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            for i in range(n):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(n):
                a[i, j] -= q[i, k] * r[k, j]
    return np.sum(r) + np.sum(q)


@polybench((120, 120), (120,))
def trisolv(m: Mat, b: Vec) -> float:
    """A triangular system."""
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = b[i]
        for j in range(i):
            x[i] -= m[i, j] * x[j] * 0.01
        x[i] /= m[i, i] + 1.0
    return np.sum(x)


@polybench((300,))
def durbin(r0: Vec) -> float:
    """A Toeplitz system."""
    r = r0 * 0.001
    n = len(r)
    y, z = np.zeros(n), np.zeros(n)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        s = 0.0
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -(r[k] + s) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return np.sum(y * y)


@polybench((80, 40))
def covariance(data: Mat) -> float:
    """Covariances of columns."""
    n, m = data.shape
    mean, cov = np.zeros(m), np.zeros((m, m))
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for i in range(m):
        for j in range(i, m):
            for k in range(n):
                cov[i, j] += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
            cov[i, j] /= n - 1.0
            cov[j, i] = cov[i, j]
    return np.sum(cov * cov)


@polybench((12, 12, 16), (16, 16))
def doitgen(a0: cl.f64[:, :, :], c4: Mat) -> float:
    """A kernel of multiresolution analysis."""
    a = a0.copy()
    p, q, s = a.shape
    row = np.zeros(s)
    for i in range(p):
        for j in range(q):
            for k in range(s):
                row[k] = 0.0
                for m in range(s):
                    row[k] += a[i, j, m] * c4[m, k]
            for k in range(s):
                a[i, j, k] = row[k]
    return np.sum(a * a)


@polybench((60, 60))
def floyd_warshall(path0: Mat) -> float:
    """Shortest paths between all."""
    path = path0.copy()
    n = len(path)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    return np.sum(path)


@polybench((60, 60))
def deriche(image: Mat) -> float:
    """A recursive filter along the rows, in both directions."""
    h, w = image.shape
    y1, y2 = np.zeros((h, w)), np.zeros((h, w))
    for i in range(h):
        ym1, ym2, xm1 = 0.0, 0.0, 0.0
        for j in range(w):
            y1[i, j] = 0.3 * image[i, j] + 0.2 * xm1 + 0.5 * ym1 - 0.1 * ym2
            xm1, ym2 = image[i, j], ym1
            ym1 = y1[i, j]
        yp1, yp2, xp1, xp2 = 0.0, 0.0, 0.0, 0.0
        for j in range(w - 1, -1, -1):
            y2[i, j] = 0.3 * xp1 + 0.2 * xp2 + 0.5 * yp1 - 0.1 * yp2
            xp2, xp1 = xp1, image[i, j]
            yp2, yp1 = yp1, y2[i, j]
    return np.sum((y1 + y2) ** 2)
