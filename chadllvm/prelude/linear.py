# mypy: allow-untyped-defs, allow-untyped-calls
"""Linear algebra by its names in NumPy and SciPy, of matrices and stacks of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chadllvm.api.transforms import jit
from chadllvm.ir.types import Array
from chadllvm.prelude import dense
from chadllvm.prelude.lanes import lanes, reduced
from chadllvm.support.overloads import newer, overload

Chosen = Callable[..., Any]


def rank_of(ty: Any) -> int:
    """The number of axes of a type, 0 of a number."""
    return ty.rank if isinstance(ty, Array) else 0


def check_matrix(ty: Any, name: str = "a") -> bool:
    """Whether it is a stack of matrices.

    Raises:
        ValueError: if it is no matrix, nor a stack of them.
    """
    if rank_of(ty) < 2:
        raise ValueError(f"`{name}` is a matrix, or a stack of matrices")
    return rank_of(ty) > 2


# ---- stacks ----------------------------------------------------------------------


def stack(a):
    """A stack of matrices along one axis."""
    if np.ndim(a) == 3:
        return a
    count = 1
    for size in a.shape[:-2]:
        count = count * size
    return np.reshape(a, (count, *a.shape[-2:]))


def each(function, a):
    """A function of each matrix of a stack."""
    found = np.array([function(m) for m in stack(a)])
    if np.ndim(a) == 3:
        return found
    return np.reshape(found, a.shape[:-2] + found.shape[1:])


def _stacks(a, b):
    """Two stacks, each along one axis."""
    if a.shape[:-2] != b.shape[:-2]:
        raise ValueError("sizes of stacks do not match")
    return stack(a), stack(b)


# ---- solving ---------------------------------------------------------------------


def _floats(a):
    """A square matrix of floats."""
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return 1.0 * a


def _right_side(a, b):
    """Floats, as many rows of them as the matrix has."""
    if len(a) != len(b):
        raise ValueError(f"sizes {len(a)} and {len(b)} do not match")
    return 1.0 * b


def solve_vector(a, b):
    """The solution of a x = b."""
    x, ok = dense.solve_vector(_floats(a), _right_side(a, b))
    if not ok:
        raise np.linalg.LinAlgError("Singular matrix")
    return x


def solve_matrix(a, b):
    """The same for several right-hand sides, the columns of b."""
    x, ok = dense.solve_matrix(_floats(a), _right_side(a, b))
    if not ok:
        raise np.linalg.LinAlgError("Singular matrix")
    return x


def solve_stack(a, b):
    """Of each matrix, for the columns of its own right-hand side."""
    first, second = _stacks(a, b)
    found = np.array([solve_matrix(first[k], second[k]) for k in range(len(first))])
    return np.reshape(found, b.shape)


def solve_stack_for_vector(a, b):
    """Of each matrix, for one vector."""
    return each(lambda m: solve_vector(m, b), a)


def solve_stack_for_matrix(a, b):
    """Of each matrix, for the columns of one matrix."""
    return each(lambda m: solve_matrix(m, b), a)


@overload("scipy.linalg.solve", choose=(), tuples=())
@overload(np.linalg.solve, choose=(), tuples=())
def solve(a: Any, b: Any) -> Chosen:
    """The solution of a x = b; `LinAlgError` if singular."""
    rank, is_stack = rank_of(b), check_matrix(a)
    if rank == 0 or (rank > 2 and rank != rank_of(a)):
        raise ValueError("`b` is a vector, a matrix, or a stack like `a`")
    if rank > 2:
        return solve_stack
    if is_stack:
        return solve_stack_for_vector if rank == 1 else solve_stack_for_matrix
    return solve_vector if rank == 1 else solve_matrix


def inverse(a):
    """The inverse of a matrix."""
    found, ok = dense.inverse(_floats(a))
    if not ok:
        raise np.linalg.LinAlgError("Singular matrix")
    return found


def inverses(a):
    """The inverse of each matrix."""
    return each(inverse, a)


@overload("scipy.linalg.inv", choose=(), tuples=())
@overload(np.linalg.inv, choose=(), tuples=())
def inv(a: Any) -> Chosen:
    """The inverse; `LinAlgError` if singular."""
    return inverses if check_matrix(a) else inverse


# ---- determinants ----------------------------------------------------------------


def determinant(a):
    """The determinant of a matrix."""
    return dense.determinant(_floats(a)) * 1.0


def determinants(a):
    """The determinant of each matrix."""
    found = np.array([determinant(m) for m in stack(a)])
    return np.reshape(found, a.shape[:-2])


@overload("scipy.linalg.det", choose=(), tuples=())
@overload(np.linalg.det, choose=(), tuples=())
def det(a: Any) -> Chosen:
    """The determinant; of a singular matrix the slope is that of the cofactors."""
    return determinants if check_matrix(a) else determinant


@overload(np.linalg.slogdet, tuples=())
def slogdet(a):
    """The sign of the determinant and the logarithm of its size, of a matrix."""
    matrix = _floats(a)
    sign, size = dense.log_determinant(matrix)
    zero = np.sum(0.0 * matrix[:0])  # Of the width of the elements.
    return sign + zero, size + zero


# ---- Cholesky --------------------------------------------------------------------


def lower_factor(a):
    """L with L Lᵀ = a, of the lower triangle."""
    found, ok = dense.cholesky(_floats(a))
    if not ok:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return found


def upper_factor(a):
    """U with Uᵀ U = a, of the upper triangle."""
    return lower_factor(a.T).T.copy()


def lower_factors(a):
    """The lower factor of each matrix."""
    return each(lower_factor, a)


def upper_factors(a):
    """The upper factor of each matrix."""
    return each(upper_factor, a)


@overload(np.linalg.cholesky, choose=("upper",), tuples=())
def cholesky(a: Any, *, upper: bool = False) -> Chosen:
    """A triangle whose product with its transpose is `a`; it reads one triangle, which
    has the slope. `LinAlgError` if not positive definite."""
    if check_matrix(a):
        return upper_factors if upper else lower_factors
    return upper_factor if upper else lower_factor


@overload("scipy.linalg.cholesky", choose=("lower",), tuples=())
def scipy_cholesky(a: Any, lower: bool = False) -> Chosen:
    """The upper triangle unless `lower`."""
    return cholesky(a, upper=not lower)


def _lower_pair(a):
    return lower_factor(a), True


def _upper_pair(a):
    return upper_factor(a), False


@overload("scipy.linalg.cho_factor", choose=("lower",), tuples=())
def cho_factor(a: Any, lower: bool = False) -> Chosen:
    """The factor, with zeros beside it, and which triangle it is."""
    if check_matrix(a):
        raise ValueError("`a` is a matrix")
    return _lower_pair if lower else _upper_pair


def _factored_vector(c_and_lower, b):
    c, lower = c_and_lower
    return dense.factored_vector(_floats(c), lower, _right_side(c, b))


def _factored_matrix(c_and_lower, b):
    c, lower = c_and_lower
    return dense.factored_matrix(_floats(c), lower, _right_side(c, b))


@overload("scipy.linalg.cho_solve", choose=(), tuples=("c_and_lower",))
def cho_solve(c_and_lower: Any, b: Any) -> Chosen:
    """The solution of a x = b for `(c, lower)`, which `cho_factor` gives."""
    fields: tuple[Any, ...] = getattr(c_and_lower, "fields", ())
    if len(fields) != 2 or rank_of(fields[0]) != 2:
        raise ValueError("a pair is expected, as in `cho_solve((c, True), b)`")
    if rank_of(b) not in (1, 2):
        raise ValueError("`b` is a vector or a matrix")
    return _factored_vector if rank_of(b) == 1 else _factored_matrix


@overload("scipy.linalg.solve_triangular", tuples=())
@jit(static_argnames=("trans", "lower", "unit_diagonal"))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    """The solution for a triangle of `a`, or of its transpose."""
    matrix, right = _floats(a), _right_side(a, b)
    if not unit_diagonal and not dense.has_pivots(matrix):
        raise np.linalg.LinAlgError("Singular matrix")
    is_turned = trans == 1 or trans == 2 or trans == "T" or trans == "C"
    m = matrix.T if is_turned else matrix
    if np.ndim(b) == 1:
        if lower != is_turned:
            return dense.forward_vector(m, right, unit_diagonal)
        return dense.backward_vector(m, right, unit_diagonal)
    if lower != is_turned:
        return dense.forward_matrix(m, right, unit_diagonal)
    return dense.backward_matrix(m, right, unit_diagonal)


# ---- norms -----------------------------------------------------------------------


def norm_least(x):
    """The smallest absolute value."""
    return np.min(np.abs(x))


def frobenius(x):
    """The Euclidean norm of all elements."""
    return dense.norm_2(1.0 * x)


def largest_column(x):
    """The largest sum of absolute values in a column."""
    return dense.norm_max(np.sum(np.abs(1.0 * x), axis=0))


def largest_row(x):
    """The largest sum of absolute values in a row."""
    return dense.norm_max(np.sum(np.abs(1.0 * x), axis=1))


_OF_VECTORS: dict[Any, Chosen] = {
    None: dense.norm_2,
    2: dense.norm_2,
    1: dense.norm_1,
    math.inf: dense.norm_max,
    -math.inf: norm_least,
}
_OF_MATRICES: dict[Any, Chosen] = {
    None: frobenius,
    "fro": frobenius,
    1: largest_column,
    math.inf: largest_row,
}


@jit(static_argnames=("function", "axis", "keepdims"))
def _of_lanes(x, function, axis, keepdims):
    if axis is None and not keepdims:
        return function(1.0 * x)
    found = np.array([function(1.0 * row) for row in lanes(x, axis)])
    return reduced(found, x, axis, keepdims)


@overload(np.linalg.norm, choose=("ord", "axis", "keepdims"), tuples=())
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Chosen:
    """0 at the origin, where its slope is 0, and of nothing. Of vectors orders 2, 1,
    `inf` and `-inf`, of matrices the Euclidean norm (`"fro"`), 1 and `inf`."""
    rank = rank_of(x)
    if axis is None and rank == 2 and not keepdims:
        if ord in _OF_MATRICES:
            return _OF_MATRICES[ord]
        raise ValueError(f"of matrices there is no norm of the order {ord!r}")
    if rank == 0 or ord not in _OF_VECTORS or not isinstance(axis, int | None):
        raise ValueError(f"of vectors there is no norm of the order {ord!r} here")
    if axis is None and ord is not None and rank != 1:
        raise ValueError("an order of more than a matrix takes an axis")
    key = ord, axis, keepdims
    if key not in _norms:
        function = _OF_VECTORS[ord]
        _norms[key] = lambda x: _of_lanes(x, function, axis, keepdims)
    return _norms[key]


_norms: dict[Any, Chosen] = {}


@overload("scipy.linalg.norm", choose=("ord", "axis", "keepdims"), tuples=())
def scipy_norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Chosen:
    """As NumPy's."""
    return norm(a, ord, axis, keepdims)


# ---- products of stacks ----------------------------------------------------------


def stacks_times(a, b):
    """Products of matrices, in pairs."""
    first, second = _stacks(a, b)
    found = np.array([first[k] @ second[k] for k in range(len(first))])
    return np.reshape(found, (*a.shape[:-1], b.shape[-1]))


def stack_times(a, b):
    """Matrices times one vector or matrix."""
    return np.reshape(np.reshape(a, (-1, a.shape[-1])) @ b, a.shape[:-1] + b.shape[1:])


def times_stack(a, b):
    """One vector or matrix times matrices."""
    return each(lambda m: a @ m, b)


@overload(operator.matmul, choose=())
def matmul(a: Any, b: Any) -> Chosen:
    """The product of two arrays of which one is a stack.

    Raises:
        ValueError: if they are stacks of different ranks.
    """
    if rank_of(b) <= 2:
        return stack_times
    if rank_of(a) <= 2:
        return times_stack
    if rank_of(a) != rank_of(b):
        raise ValueError("stacks of matrices have one number of axes")
    return stacks_times


# ---- other names -----------------------------------------------------------------


@overload(newer("numpy.linalg.matmul"), tuples=())
def matmul_of_linalg(x1, x2, /):
    """`x1 @ x2`"""
    return x1 @ x2


@overload(newer("numpy.linalg.outer"), tuples=(), vectors=("x1", "x2"))
def outer_of_linalg(x1, x2, /):
    """x1[i] * x2[j]"""
    return np.outer(x1, x2)


@overload(newer("numpy.linalg.cross"), tuples=())
def cross_of_linalg(x1, x2, /):
    """The cross product of vectors of three elements."""
    return np.cross(x1, x2)


@overload(newer("numpy.linalg.trace"), tuples=())
@jit(static_argnames=("offset",))
def trace_of_linalg(x, /, *, offset=0):
    """The sum of a diagonal of a matrix."""
    return np.trace(x, offset)


@overload(newer("numpy.linalg.diagonal"), tuples=())
@jit(static_argnames=("offset",))
def diagonal_of_linalg(x, /, *, offset=0):
    """A diagonal of a matrix."""
    return np.diagonal(x, offset)


@overload(
    newer("numpy.linalg.vector_norm"), choose=("axis", "keepdims", "ord"), tuples=()
)
def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Chosen:
    """`norm` along an axis, or of all elements as one vector."""
    rank = rank_of(x)
    if axis is not None or rank == 1:
        return norm(x, ord, axis, keepdims)
    if keepdims:
        raise ValueError("`keepdims` takes an axis")
    return _of_all(ord)


@cache
def _of_all(ord: Any) -> Chosen:
    if ord not in _OF_VECTORS:
        raise ValueError(f"of vectors there is no norm of the order {ord!r} here")
    function = _OF_VECTORS[ord]
    return lambda x: function(1.0 * np.ravel(x))


@overload(newer("numpy.linalg.matrix_norm"), choose=("ord",), tuples=())
def matrix_norm(x: Any, /, *, ord: Any = "fro") -> Chosen:
    """`norm` of a matrix."""
    if rank_of(x) != 2:
        raise ValueError("a matrix is expected")
    return norm(x, ord)
