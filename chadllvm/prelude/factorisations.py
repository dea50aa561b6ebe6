# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""Eigenvalues, singular values and QR of dense matrices, with their derivatives.

Algorithms: G. H. Golub, C. F. Van Loan, Matrix Computations (4th ed.): Householder's QR
(5.2), tridiagonalisation (8.3), implicit QL with shifts (8.3), bidiagonalisation (5.4)
and implicit QR with shifts for singular values (8.6). Matrices are held with their
columns as rows where columns are rotated, so that inner loops read along memory.

Derivatives: M. B. Giles, An extended collection of matrix derivative results for
forward and reverse mode (2008). Where eigenvalues or singular values are equal, or a
singular value is zero, vectors have no derivative: what divides by their difference
counts as zero, so that functions that do not depend on the choice of vectors are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.api.custom import custom_jvp
from chadllvm.api.transforms import jit
from chadllvm.ir.types import Array
from chadllvm.support.overloads import newer, overload

EPS = 2.0**-52

# ---- QR --------------------------------------------------------------------------


def _factored(a):
    """Q and R of a matrix of no more columns than rows."""
    m, n = a.shape
    r = a.copy()
    vectors = np.zeros((n, m))
    for k in range(n):
        x = r[k:, k].copy()
        below = np.sum(x[1:] * x[1:])
        if below > 0.0:
            pivot = -math.copysign(math.sqrt(x[0] * x[0] + below), x[0])
            x[0] -= pivot
            x = x / math.sqrt(np.sum(x * x))
            r[k:, k:] -= np.outer(2.0 * x, x @ r[k:, k:])
            r[k + 1 :, k] = 0.0
            vectors[k, k:] = x
    q = np.eye(m, n)
    for step in range(n):
        k = n - 1 - step
        x = vectors[k, k:].copy()
        q[k:, k:] -= np.outer(2.0 * x, x @ q[k:, k:])
    return q, r[:n].copy()


@custom_jvp
def tall_qr(a):
    """Q and R of a matrix of no more columns than rows: Householder's reflections."""
    return _factored(a)


@tall_qr.defjvp
def _qr_rule(primals, tangents):
    (a,), (a_t,) = primals, tangents
    q, r = tall_qr(a)
    c = np.linalg.solve(r.T, a_t.T).T
    inner = q.T @ c
    low = np.tril(inner, -1)
    skew = low - low.T
    return (q, r), (c - q @ (inner - skew), (inner - skew) @ r)


def reduced_qr(a):
    """`mode="reduced"`"""
    m, n = a.shape
    k = min(m, n)
    q, left = tall_qr(1.0 * a[:, :k])
    return (q, left) if m >= n else (q, np.hstack((left, q.T @ a[:, k:])))


def triangular_qr(a):
    """`mode="r"`"""
    return reduced_qr(a)[1]


@overload(np.linalg.qr, choose=("mode",), tuples=())
def qr(a: Any, mode: str = "reduced") -> Callable[..., Any]:
    """Q with orthonormal columns and an upper triangle R with a = Q R."""
    _check_matrix(a)
    if mode not in ("reduced", "r"):
        raise ValueError("mode is 'reduced' or 'r'")
    return reduced_qr if mode == "reduced" else triangular_qr


def _check_matrix(ty: Any) -> None:
    if not isinstance(ty, Array) or ty.rank != 2:
        raise ValueError("a matrix is expected")


# ---- eigenvalues -----------------------------------------------------------------


def _tridiagonal(a):
    """The diagonal, the one below it, and Qᵀ, of a symmetric matrix Q T Qᵀ."""
    n = len(a)
    t = a.copy()
    z = np.eye(n)
    for k in range(n - 2):
        x = t[k + 1 :, k].copy()
        below = np.sum(x[1:] * x[1:])
        if below > 0.0:
            pivot = -math.copysign(math.sqrt(x[0] * x[0] + below), x[0])
            x[0] -= pivot
            x = x / math.sqrt(np.sum(x * x))
            p = 2.0 * (t[k + 1 :, k + 1 :] @ x)
            w = p - np.sum(p * x) * x
            t[k + 1 :, k + 1 :] -= np.outer(x, w) + np.outer(w, x)
            t[k + 1, k] = pivot
            z[k + 1 :] -= np.outer(2.0 * x, x @ z[k + 1 :])
    below = np.zeros(n)
    for k in range(n - 1):
        below[k] = t[k + 1, k]
    return np.diag(t), below, z


def _first_small(d, e, start):
    """The first place from `start` on where the matrix falls apart."""
    m = start
    while m < len(d) - 1:
        if abs(e[m]) <= EPS * (abs(d[m]) + abs(d[m + 1])):
            return m
        m += 1
    return m


def _diagonalised(diagonal, below, rows):
    """Eigenvalues of a tridiagonal matrix; the rows are rotated along."""
    d, e, z = diagonal.copy(), below.copy(), rows.copy()
    n = len(d)
    for start in range(n):
        count = 0
        m = _first_small(d, e, start)
        while m != start:
            if count == 50:
                raise np.linalg.LinAlgError("Eigenvalues did not converge")
            count += 1
            g = (d[start + 1] - d[start]) / (2.0 * e[start])
            g = d[m] - d[start] + e[start] / (g + math.copysign(math.hypot(g, 1.0), g))
            s, c, p, i = 1.0, 1.0, 0.0, m - 1
            while i >= start:
                f, b = s * e[i], c * e[i]
                r = math.hypot(f, g)
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= p
                    e[m] = 0.0
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                upper = z[i + 1].copy()
                z[i + 1] = s * z[i] + c * upper
                z[i] = c * z[i] - s * upper
                i -= 1
            if i < start:
                d[start] -= p
                e[start] = g
                e[m] = 0.0
            m = _first_small(d, e, start)
    order = np.argsort(d)
    return d[order], z[order].T


@custom_jvp
def symmetric_eigen(a):
    """Eigenvalues in ascending order, and eigenvectors in columns."""
    if np.any(~np.isfinite(a)):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    d, e, z = _tridiagonal(a)
    return _diagonalised(d, e, z)


@symmetric_eigen.defjvp
def _eigen_rule(primals, tangents):
    (a,), (a_t,) = primals, tangents
    w, v = symmetric_eigen(a)
    inner = v.T @ a_t @ v
    return (w, v), (np.diag(inner), v @ (_inverse_gaps(w) * inner))


def _inverse_gaps(w):
    """1 / (w[j] - w[i]); 0 where they are equal."""
    gaps = w - w[:, None]
    return np.where(gaps == 0.0, 0.0, 1.0 / np.where(gaps == 0.0, 1.0, gaps))


@jit(static_argnames=("UPLO",))
def _symmetric(a, UPLO):
    """The symmetric matrix that a triangle is one of."""
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    low = np.tril(1.0 * a, -1) if UPLO == "L" else np.triu(1.0 * a, 1).T
    return low + low.T + np.diag(np.diag(1.0 * a))


@overload(np.linalg.eigh, tuples=())
@jit(static_argnames=("UPLO",))
def eigh(a, UPLO="L"):
    """Eigenvalues in ascending order and eigenvectors in columns, of one triangle."""
    return symmetric_eigen(_symmetric(a, UPLO))


@overload(np.linalg.eigvalsh, tuples=())
@jit(static_argnames=("UPLO",))
def eigvalsh(a, UPLO="L"):
    """The eigenvalues of `eigh`."""
    return symmetric_eigen(_symmetric(a, UPLO))[0]


# ---- singular values -------------------------------------------------------------


def _reflected(x):
    """What a vector's first element becomes, the others 0, and what it is reflected
    by."""
    below = np.sum(x[1:] * x[1:])
    size = math.copysign(math.sqrt(x[0] * x[0] + below), x[0])
    y = x.copy()
    y[0] += size
    scale = 1.0 / math.sqrt(np.sum(y * y)) if below > 0.0 else 0.0
    return (-size if below > 0.0 else x[0]), y * scale


def _bidiagonal(a):
    """The diagonal, the one above it, Uᵀ and Vᵀ of a matrix U B Vᵀ.

    A column of zeros is beside it, so that each row has one above the diagonal.
    """
    m, n = a.shape
    r = np.zeros((m, n + 1))
    r[:, :n] = a
    d, e, left, right = np.zeros(n), np.zeros(n), np.zeros((n, m)), np.zeros((n, n + 1))
    for k in range(n):
        d[k], x = _reflected(r[k:, k].copy())
        r[k:, k + 1 :] -= np.outer(2.0 * x, x @ r[k:, k + 1 :])
        e[k], y = _reflected(r[k, k + 1 :].copy())
        r[k + 1 :, k + 1 :] -= np.outer(r[k + 1 :, k + 1 :] @ y, 2.0 * y)
        left[k, k:], right[k, k + 1 :] = x, y
    u, v = np.eye(n, m), np.eye(n)
    for step in range(n):
        k = n - 1 - step
        x, y = left[k, k:].copy(), right[k, k:n].copy()
        u[k:, k:] -= np.outer(u[k:, k:] @ x, 2.0 * x)
        v[k:, k:] -= np.outer(v[k:, k:] @ y, 2.0 * y)
    return d, e, u, v


def _rotation(f, g):
    """The cosine and the sine that turn (f, g) to (r, 0), and r."""
    r = math.hypot(f, g)
    return (f / r, g / r, r) if r > 0.0 else (1.0, 0.0, 0.0)


def _diagonal(diagonal, above, first, second):
    """The diagonal that a bidiagonal matrix of size 1 is turned to, and the rows."""
    d, e, u, v = diagonal.copy(), above.copy(), first.copy(), second.copy()
    last, count = len(d) - 1, 0
    while last > 0:
        start = last
        while start > 0 and abs(e[start - 1]) > EPS * (
            abs(d[start - 1]) + abs(d[start])
        ):
            start -= 1
        if start > 0:
            e[start - 1] = 0.0
        if start == last:
            last -= 1
            continue
        if count == 30 * len(d):
            raise np.linalg.LinAlgError("SVD did not converge")
        count += 1
        zero = start
        while zero < last and abs(d[zero]) > EPS:
            zero += 1
        if zero < last:
            f, e[zero], d[zero] = e[zero], 0.0, 0.0
            for j in range(zero + 1, last + 1):
                c, s, d[j] = _rotation(d[j], f)
                f, e[j] = -s * e[j], c * e[j]
                for i in range(u.shape[1]):
                    one, two = u[j, i], u[zero, i]
                    u[j, i], u[zero, i] = c * one + s * two, c * two - s * one
            continue
        before = e[last - 2] if last - 1 > start else 0.0
        corner, end = d[last - 1] * e[last - 1], d[last] ** 2 + e[last - 1] ** 2
        half = 0.5 * (d[last - 1] ** 2 + before**2 - end)
        far = half + math.copysign(math.hypot(half, corner), half)
        shift = end - corner * corner / far if far != 0.0 else end
        y, z = d[start] ** 2 - shift, d[start] * e[start]
        for k in range(start, last):
            c, s, r = _rotation(y, z)
            if k > start:
                e[k - 1] = r
            y, e[k] = c * d[k] + s * e[k], c * e[k] - s * d[k]
            z, d[k + 1] = s * d[k + 1], c * d[k + 1]
            for i in range(v.shape[1]):
                one, two = v[k, i], v[k + 1, i]
                v[k, i], v[k + 1, i] = c * one + s * two, c * two - s * one
            c, s, d[k] = _rotation(y, z)
            y, d[k + 1] = c * e[k] + s * d[k + 1], c * d[k + 1] - s * e[k]
            z, e[k + 1] = s * e[k + 1], c * e[k + 1]
            for i in range(u.shape[1]):
                one, two = u[k, i], u[k + 1, i]
                u[k, i], u[k + 1, i] = c * one + s * two, c * two - s * one
        e[last - 1] = y
    return d, u, v


def _golub_kahan(a):
    """U, the singular values and V of a matrix of no more columns than rows."""
    size = np.max(np.abs(a), initial=0.0)
    d, e, u, v = _bidiagonal(a / size if size > 0.0 else a)
    largest = np.max(np.abs(d) + np.abs(e), initial=2.0**-1000)
    d, u, v = _diagonal(d / largest, e / largest, u, v)
    sizes = np.where(np.abs(d) > len(a) * EPS, np.abs(d), 0.0)
    order = np.argsort(-sizes)
    v = np.where(d < 0.0, -1.0, 1.0)[:, None] * v
    return u[order].T, sizes[order] * largest * size, v[order].T


@custom_jvp
def tall_svd(a):
    """U, the singular values in descending order, V; of no more columns than rows."""
    if np.any(~np.isfinite(a)):
        raise np.linalg.LinAlgError("SVD did not converge")
    return _golub_kahan(a)


@tall_svd.defjvp
def _svd_rule(primals, tangents):
    (a,), (a_t,) = primals, tangents
    u, s, v = tall_svd(a)
    right = a_t @ v
    inner = u.T @ right
    gaps = _inverse_gaps(s * s)
    inverse = np.where(s == 0.0, 0.0, 1.0 / np.where(s == 0.0, 1.0, s))
    u_t = u @ (gaps * (inner * s + s[:, None] * inner.T))
    u_t = u_t + (right - u @ inner) * inverse
    v_t = v @ (gaps * (s[:, None] * inner + inner.T * s))
    return (u, s, v), (u_t, np.diag(inner), v_t)


def thin_svd(a):
    """U, the singular values, Vᵀ."""
    is_tall = a.shape[0] >= a.shape[1]
    u, s, v = tall_svd(1.0 * a if is_tall else 1.0 * a.T)
    return (u, s, v.T) if is_tall else (v, s, u.T)


def square_svd(a):
    """The same of a square matrix."""
    if a.shape[0] != a.shape[1]:
        raise ValueError("svd of a matrix that is not square takes full_matrices=False")
    return thin_svd(a)


def singular_values(a):
    """In descending order."""
    return thin_svd(a)[1]


@overload(np.linalg.svd, choose=("full_matrices", "compute_uv"), tuples=())
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True
) -> Callable[..., Any]:
    """U, the singular values in descending order, and Vᵀ, with a = U diag(s) Vᵀ."""
    _check_matrix(a)
    if not compute_uv:
        return singular_values
    return square_svd if full_matrices else thin_svd


@overload(newer("numpy.linalg.svdvals"), tuples=())
def svdvals(x):
    """The singular values in descending order."""
    return singular_values(x)


@overload(np.linalg.matrix_rank, tuples=())
def matrix_rank(A, tol=None):
    """How many singular values are above `tol`, or above max(m, n) ε of the largest."""
    if A.size == 0:
        return 0
    s = singular_values(A)
    limit = max(A.shape[0], A.shape[1]) * EPS * np.max(s) if tol is None else tol
    return np.count_nonzero(s > limit)


@overload(np.linalg.cond, tuples=())
def cond(x):
    """The largest singular value over the smallest one."""
    if x.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    s = singular_values(x)
    return s[0] / s[len(s) - 1]


# ---- least squares ---------------------------------------------------------------


@custom_jvp
def pseudo_inverse(a, rcond):
    """The inverse where singular values are above `rcond` of the largest, and these."""
    u, s, vt = thin_svd(a)
    limit = rcond * np.max(s, initial=0.0)
    inverse = np.where(s > limit, 1.0 / np.where(s > limit, s, 1.0), 0.0)
    return (vt.T * inverse) @ u.T, s


@pseudo_inverse.defjvp
def _pinv_rule(primals, tangents):
    """G. H. Golub, V. Pereyra (1973): for changes that leave the rank as it is."""
    (a, rcond), (a_t, _) = primals, tangents
    p, s = pseudo_inverse(a, rcond)
    left = p @ p.T @ (a_t.T - a_t.T @ a @ p)
    right = (a_t.T - p @ a @ a_t.T) @ p.T @ p
    u, _, vt = thin_svd(a)
    return (p, s), (left + right - p @ a_t @ p, np.sum(u * (a_t @ vt.T), axis=0))


@overload(np.linalg.pinv, tuples=())
def pinv(a, rcond=1e-15):
    """The pseudo-inverse; singular values up to `rcond` of the largest count as 0."""
    return pseudo_inverse(1.0 * a, rcond)[0]


@overload(np.linalg.lstsq, tuples=())
def lstsq(a, b, rcond=None):
    """The shortest x with the least ‖a x - b‖, residuals, rank, singular values."""
    m, n = a.shape
    if len(b) != m:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    limit = EPS * max(m, n) if rcond is None else rcond
    inverse, s = pseudo_inverse(1.0 * a, limit)
    x = inverse @ b
    rank = np.count_nonzero(s > limit * np.max(s, initial=0.0))
    errors = np.ravel(np.sum((b - a @ x) ** 2, axis=0) * np.ones(1))
    return x, errors[: len(errors) if rank == n and m > n else 0], rank, s


# ---- functions of matrices -------------------------------------------------------


@overload(np.linalg.matrix_power, tuples=())
def matrix_power(a, n):
    """The n-th power by squaring, in floats; of the inverse if n is negative."""
    base = 1.0 * a if n >= 0 else np.linalg.inv(a)
    found = np.eye(len(a))
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    left = abs(n)
    while left > 0:
        if left % 2 == 1:
            found = found @ base
        base = base @ base
        left //= 2
    return found


_PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)


@overload("scipy.linalg.expm")
def expm(A):
    """e^A by a quotient of polynomials of degree 13, after scaling by a power of two.

    N. J. Higham, The scaling and squaring method for the matrix exponential revisited,
    SIAM J. Matrix Anal. Appl. 26 (2005).
    """
    if A.shape[0] != A.shape[1]:
        raise ValueError("expected a square matrix")
    size = np.max(np.sum(np.abs(A), axis=0)) if len(A) > 0 else 0.0
    doublings = 0
    while size > 5.371920351148152 and doublings < 1100:
        size *= 0.5
        doublings += 1
    x = A * 0.5**doublings
    b, unit = _PADE, np.eye(len(A))
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
    odd = x @ (odd + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * unit)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * unit
    found = np.linalg.solve(even - odd, even + odd)
    for _ in range(doublings):
        found = found @ found
    return found
