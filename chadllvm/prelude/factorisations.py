# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"
"""Eigenvalues, singular values and QR of dense matrices, with their derivatives.

Algorithms: G. H. Golub, C. F. Van Loan, Matrix Computations (4th ed.): Householder's QR
(5.2), tridiagonalisation (8.3), implicit QL with shifts (8.3), one-sided Jacobi for
singular values (8.6). Matrices are held with their columns as rows where columns are
rotated, so that inner loops read along memory.

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


def _jacobi(a):
    """U, the singular values and V of a matrix of no more columns than rows."""
    n = a.shape[1]
    u, v = a.T.copy(), np.eye(n)
    # Columns that are so short are what rounding leaves of zeros.
    least = EPS * math.sqrt(np.sum(a * a))
    is_turned, sweeps = n > 1, 0
    while is_turned:
        if sweeps == 60:
            raise np.linalg.LinAlgError("SVD did not converge")
        sweeps += 1
        is_turned = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                alpha, beta = np.sum(u[p] * u[p]), np.sum(u[q] * u[q])
                gamma = np.sum(u[p] * u[q])
                size = math.sqrt(alpha * beta)
                is_some = min(alpha, beta) > least * least
                if is_some and abs(gamma) > 1e-15 * size:
                    is_turned = True
                    zeta = (beta - alpha) / (2.0 * gamma)
                    t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
                    c = 1.0 / math.sqrt(1.0 + t * t)
                    s = c * t
                    first, second = u[p].copy(), u[q].copy()
                    u[p] = c * first - s * second
                    u[q] = s * first + c * second
                    first, second = v[p].copy(), v[q].copy()
                    v[p] = c * first - s * second
                    v[q] = s * first + c * second
    sizes = np.sqrt(np.sum(u * u, axis=1))
    sizes = np.where(sizes > least, sizes, 0.0)
    order = np.argsort(-sizes)
    return _orthonormal(u[order], sizes[order]).T, sizes[order], v[order].T


def _orthonormal(rows, sizes):
    """Rows divided by their sizes; in the place of rows of zeros, some more."""
    n, m = rows.shape
    found = np.zeros((n, m))
    for k in range(n):
        if sizes[k] > 0.0:
            found[k] = rows[k] / sizes[k]
        else:
            best = np.zeros(m)
            size = 0.0
            for j in range(m):
                if size < 0.5 / math.sqrt(m):
                    x = np.zeros(m)
                    x[j] = 1.0
                    for _ in range(2):
                        x = x - found[:k].T @ (found[:k] @ x)
                    length = math.sqrt(np.sum(x * x))
                    if length > size:
                        best, size = x / length, length
            found[k] = best
    return found


@custom_jvp
def tall_svd(a):
    """U, the singular values in descending order, V; of no more columns than rows."""
    if np.any(~np.isfinite(a)):
        raise np.linalg.LinAlgError("SVD did not converge")
    return _jacobi(a)


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
    """The inverse where singular values are above `rcond` of the largest."""
    u, s, vt = thin_svd(a)
    limit = rcond * np.max(s) if len(s) > 0 else 0.0
    inverse = np.where(s > limit, 1.0 / np.where(s > limit, s, 1.0), 0.0)
    return (vt.T * inverse) @ u.T


@pseudo_inverse.defjvp
def _pinv_rule(primals, tangents):
    """G. H. Golub, V. Pereyra (1973): for changes that leave the rank as it is."""
    (a, rcond), (a_t, _) = primals, tangents
    p = pseudo_inverse(a, rcond)
    left = p @ p.T @ (a_t.T - a_t.T @ a @ p)
    right = (a_t.T - p @ a @ a_t.T) @ p.T @ p
    return p, left + right - p @ a_t @ p


@overload(np.linalg.pinv, tuples=())
def pinv(a, rcond=1e-15):
    """The pseudo-inverse; singular values up to `rcond` of the largest count as 0."""
    return pseudo_inverse(1.0 * a, rcond)


@overload(np.linalg.lstsq, tuples=())
def lstsq(a, b, rcond=None):
    """The shortest x with the least ‖a x - b‖, residuals, rank, singular values."""
    m, n = a.shape
    if len(b) != m:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    limit = EPS * max(m, n) if rcond is None else rcond
    x = pseudo_inverse(1.0 * a, limit) @ b
    s = singular_values(a)
    rank = np.count_nonzero(s > limit * np.max(s)) if len(s) > 0 else 0
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
