# mypy: allow-untyped-defs, allow-untyped-calls
"""Dense linear algebra: factors of matrices, and what is solved by them.

`linear.py` has the functions by their names in NumPy and SciPy. Literals and integers
take the width of the floats that they are used with, so that all are f32 or f64 as
their arguments are.

    a[k:, k:] -= outer(column, row)

Each step works on what is right of and below a pivot. The row and the column are taken
out before, so that the inner loops read one array and write to another, and so that the
reverse keeps two vectors a step and no matrix: n steps keep n² numbers, not n³.

What can fail is said by a result `ok`, which the caller turns into an error.
"""

from __future__ import annotations

import math

import numpy as np


def factor(a):
    """P a = L U by Gaussian elimination with partial pivoting (as LAPACK's getrf).

    Gives L (below its diagonal of ones) and U in one matrix, the order of the rows, the
    sign of that permutation, and whether all pivots are different from zero.
    """
    n = len(a)
    lu = a.copy()
    order = np.arange(n)
    sign = 1
    ok = True
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[best, k]):
                best = i
        if best != k:
            row = lu[k].copy()
            lu[k] = lu[best].copy()
            lu[best] = row
            first = order[k]
            order[k] = order[best]
            order[best] = first
            sign = -sign
        if lu[k, k] == 0.0:
            ok = False
        else:
            column = lu[k + 1 :, k] / lu[k, k]
            right = lu[k, k + 1 :].copy()
            lu[k + 1 :, k] = column
            lu[k + 1 :, k + 1 :] -= np.outer(column, right)
    return lu, order, sign, ok


def forward_vector(a, b, unit):
    """The solution of L x = b for the lower triangle of a; `unit`: of ones on it."""
    n = len(a)
    x = b.copy()
    for k in range(n):
        value = x[k]
        if not unit:
            value = value / a[k, k]
            x[k] = value
        x[k + 1 :] -= value * a[k + 1 :, k]
    return x


def forward_matrix(a, b, unit):
    """The same for several right-hand sides, the columns of b."""
    n = len(a)
    x = b.copy()
    for k in range(n):
        row = x[k].copy()
        if not unit:
            row = row / a[k, k]
            x[k] = row
        x[k + 1 :] -= np.outer(a[k + 1 :, k], row)
    return x


def backward_vector(a, b, unit):
    """The solution of U x = b for the upper triangle of a."""
    n = len(a)
    x = b.copy()
    for step in range(n):
        k = n - 1 - step
        value = x[k]
        if not unit:
            value = value / a[k, k]
            x[k] = value
        x[:k] -= value * a[:k, k]
    return x


def backward_matrix(a, b, unit):
    """The same for several right-hand sides, the columns of b."""
    n = len(a)
    x = b.copy()
    for step in range(n):
        k = n - 1 - step
        row = x[k].copy()
        if not unit:
            row = row / a[k, k]
            x[k] = row
        x[:k] -= np.outer(a[:k, k], row)
    return x


def has_pivots(a):
    """Whether the diagonal has no zero."""
    ok = True
    for k in range(len(a)):
        if a[k, k] == 0.0:
            ok = False
    return ok


def solve_vector(a, b):
    """The solution of a x = b, and whether a is regular."""
    lu, order, _, ok = factor(a)
    return backward_vector(lu, forward_vector(lu, b[order], True), False), ok


def solve_matrix(a, b):
    """The same for several right-hand sides, the columns of b."""
    lu, order, _, ok = factor(a)
    return backward_matrix(lu, forward_matrix(lu, b[order], True), False), ok


def inverse(a):
    """The inverse of a, and whether there is one."""
    unit = np.zeros_like(a)
    for k in range(len(a)):
        unit[k, k] = 1.0
    return solve_matrix(a, unit)


def cholesky(a):
    """L with L Lᵀ = a, of the lower triangle of a; whether a is positive definite."""
    n = len(a)
    c = np.tril(a)
    ok = True
    for k in range(n):
        if c[k, k] <= 0.0:
            ok = False
        else:  # Also where it is NaN, as everywhere.
            pivot = math.sqrt(c[k, k])
            column = c[k + 1 :, k] / pivot
            c[k, k] = pivot
            c[k + 1 :, k] = column
            for i in range(k + 1, n):
                c[i, k + 1 : i + 1] -= column[i - k - 1] * column[: i - k]
    return c, ok


def factored_vector(c, lower, b):
    """The solution of a x = b for a factor c of Cholesky's, in the one triangle."""
    if not lower:
        c = c.T
    return backward_vector(c.T, forward_vector(c, b, False), False)


def factored_matrix(c, lower, b):
    """The same for several right-hand sides, the columns of b."""
    if not lower:
        c = c.T
    return backward_matrix(c.T, forward_matrix(c, b, False), False)


def determinant(a):
    """The determinant: the product of the pivots.

    Where a pivot is zero, the derivative (the cofactors) needs more than the pivots.
    """
    lu, _, sign, ok = factor(a)
    if ok:
        product = sign
        for k in range(len(a)):
            product = product * lu[k, k]
        return product
    return determinant_without_division(a)


def determinant_without_division(a):
    """The determinant as a polynomial, in n - 1 products of matrices.

    R. S. Bird: A simple division-free algorithm for computing determinants. Information
    Processing Letters 111 (2011). It is right, with all derivatives, for any matrix.
    """
    n = len(a)
    x = a.copy()
    for _ in range(n - 1):
        upper = np.triu(x, 1)
        below = 0.0
        for step in range(n):
            i = n - 1 - step
            upper[i, i] = -below
            below = below + x[i, i]
        x = upper @ a
    return x[0, 0] if n % 2 == 1 else -x[0, 0]


def log_determinant(a):
    """The sign of the determinant, an integer, and the logarithm of its size."""
    lu, _, swaps, ok = factor(a)
    sign, total = 0, -math.inf
    if ok:
        sign, total = swaps, 0.0
        for k in range(len(a)):
            pivot = lu[k, k]
            if pivot < 0.0:
                sign = -sign
            total = total + math.log(abs(pivot))
    return sign, total


def norm_2(x):
    """The Euclidean norm of all elements; its gradient at the origin is zero."""
    total = np.sum(x * x)
    if total == 0.0:
        return 0.0
    return math.sqrt(total)


def norm_1(x):
    """The sum of the absolute values."""
    return np.sum(np.abs(x))


def norm_max(x):
    """The largest absolute value, 0 of nothing."""
    if len(x) == 0:
        return 0.0
    return np.max(np.abs(x))
