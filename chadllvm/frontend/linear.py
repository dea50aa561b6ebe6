"""Linear algebra: calls of NumPy's and SciPy's functions → those of `chadllvm.linalg`.

    np.linalg.solve(a, b)   →   square(a0, a1); same(b0, a0)
                                x, ok = solve_vector(a, b); regular(ok)

SciPy is not imported; its functions are known by their names in `scipy.linalg`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from chadllvm import linalg
from chadllvm.frontend import array_errors, shape_errors
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    converted,
    delayed,
    flat,
    force,
    plain,
    shape_of,
    transposed,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.jitted import called
from chadllvm.frontend.width import float_of, to_width
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand, Proj, Tuple
from chadllvm.ir.types import BOOL, Array, Product


def _run(call: Given, function: linalg.Routine, *args: Operand) -> Operand:
    """A function of ours at these arguments."""
    assert isinstance(function, FunctionType)
    return called(call.cx, call.node, function, args, is_jitted=True)


def _checked(
    call: Given, check: str, function: linalg.Routine, *args: Operand
) -> Operand:
    """The first result of a function whose second says whether it could."""
    pair = _run(call, function, *args)
    call.builder.prim(check, call.builder.one(Proj(pair, 1)))
    return call.builder.one(Proj(pair, 0))


def _floats(call: Given, name: str, *ranks: int) -> Operand:
    """An argument, made, as an array of floats of one of these ranks."""
    return _floats_in(call, call.nodes[name], call.lazy(name), *ranks)


def _floats_in(call: Given, node: ast.expr, value: Value, *ranks: int) -> Operand:
    """The same of a value found at a node."""
    array = call.array_in(node, value)
    if array.rank not in ranks:
        expected = "a matrix" if ranks == (2,) else "a vector or a matrix"
        raise shape_errors.wrong_rank(
            call.cx.span(node), call.name, expected, array.type
        )
    return force(call.cx, call.node, converted(array, float_of(array.elem)))


def _square(call: Given, name: str) -> Operand:
    """A matrix that has as many rows as columns."""
    return _is_square(call, _floats(call, name, 2))


def _is_square(call: Given, matrix: Operand) -> Operand:
    call.builder.prim("square", *shape_of(call.cx, call.node, matrix))
    return matrix


def _right_side(call: Given, matrix: Operand) -> tuple[Operand, bool]:
    """The right-hand side, of as many rows as the matrix; whether it is one vector."""
    right = _floats(call, "b", 1, 2)
    shape = shape_of(call.cx, call.node, right)
    size = shape_of(call.cx, call.node, matrix)[0]
    call.builder.prim("same", shape[0], size)
    return right, len(shape) == 1


def _solve(call: Given) -> Value:
    matrix = _square(call, "a")
    right, is_vector = _right_side(call, matrix)
    function = linalg.solve_vector if is_vector else linalg.solve_matrix
    return _checked(call, "regular", function, matrix, right)


def _inverse(call: Given) -> Value:
    return _checked(call, "regular", linalg.inverse, _square(call, "a"))


def _determinant(call: Given) -> Value:
    """The determinant of a matrix of no rows is 1, as NumPy has it."""
    return _run(call, linalg.determinant, _square(call, "a"))


def _log_determinant(call: Given) -> Value:
    """Both results are floats like the elements."""
    matrix = _square(call, "a")
    assert isinstance(matrix.type, Array)
    pair, b = _run(call, linalg.log_determinant, matrix), call.builder
    parts = [to_width(b, b.one(Proj(pair, k)), matrix.type.elem) for k in range(2)]
    return b.one(Tuple(tuple(parts)))


def _cholesky(call: Given) -> Value:
    upper = call.flag("upper")
    matrix = _square(call, "a")
    return _factor(call, matrix, reads_upper=upper, gives_upper=upper)


def _factor(
    call: Given, matrix: Operand, *, reads_upper: bool, gives_upper: bool
) -> Value:
    """L, or its transpose, from a triangle of a symmetric matrix."""
    if reads_upper:
        matrix = _transposed(call, matrix)
    lower = _checked(call, "definite", linalg.cholesky, matrix)
    return _transposed(call, lower) if gives_upper else lower


def _transposed(call: Given, matrix: Operand) -> Operand:
    array = plain(call.cx, call.node, delayed(call.cx, call.node, matrix))
    return force(call.cx, call.node, transposed(array, is_view=False))


# ---- norms -----------------------------------------------------------------------

_NORMS: tuple[tuple[float, linalg.Routine], ...] = (
    (2, linalg.norm_2),
    (1, linalg.norm_1),
    (float("inf"), linalg.norm_max),
)


def _norm(call: Given) -> Value:
    """The norm of a vector, of all elements, or of the vectors along an axis."""
    array = call.array("x")
    function = _norm_of(call, array.rank)
    axis = call.axis(array.rank)
    array = converted(plain(call.cx, call.node, array), float_of(array.elem))
    if axis is None:
        vector = force(call.cx, call.node, flat(call.cx, call.node, array))
        return _run(call, function, vector)
    if array.rank != 2:
        if array.rank == 1:
            return _run(call, function, force(call.cx, call.node, array))
        raise shape_errors.wrong_rank(
            call.cx.span(call.node), call.name, "a matrix with `axis`", array.type
        )
    rows = array if axis == 1 else transposed(array, is_view=False)
    return _norms_of_rows(call, function, rows)


def _norms_of_rows(call: Given, function: linalg.Routine, rows: Delayed) -> Delayed:
    made = delayed(call.cx, call.node, force(call.cx, call.node, rows))
    size = made.shape[1]

    def norm(b: Builder, indices: Indices) -> Operand:
        def item(inner: Builder, own: Indices) -> Operand:
            return made.element(inner, [*indices, *own])

        with call.cx.nested() as scope:
            row = force(call.cx, call.node, Delayed((size,), made.elem, item))
            value = _run(call, function, row)
        b.bindings += scope.bindings
        return value

    return Delayed((made.shape[0],), made.elem, norm)


def _norm_of(call: Given, rank: int) -> linalg.Routine:
    """The function for the order that is asked for."""
    if "ord" not in call:
        return linalg.norm_2
    node = call.nodes["ord"]
    if isinstance(node, ast.Constant) and node.value == "fro" and rank == 2:
        return linalg.norm_2
    value = call.value("ord")
    is_vector = rank == 1 or "axis" in call
    for order, function in _NORMS:
        if is_vector and isinstance(value, Lit) and value.value == order:
            return function
    raise array_errors.unknown_norm(call.cx.span(node))


# ---- SciPy -----------------------------------------------------------------------


def _triangular(call: Given) -> Value:
    """`solve_triangular(a, b, trans, lower, unit_diagonal)`"""
    matrix = _square(call, "a")
    right, is_vector = _right_side(call, matrix)
    lower, unit = call.flag("lower"), call.flag("unit_diagonal")
    if _trans(call):
        matrix, lower = _transposed(call, matrix), not lower
    if not unit:
        call.builder.prim("regular", _run(call, linalg.has_pivots, matrix))
    return _substituted(call, matrix, right, lower, unit, is_vector)


def _trans(call: Given) -> bool:
    if "trans" not in call:
        return False
    node = call.nodes["trans"]
    if isinstance(node, ast.Constant) and node.value in (0, 1, 2, "N", "T", "C"):
        return node.value not in (0, "N")
    raise array_errors.not_constant(call.cx.span(node))


def _substituted(
    call: Given,
    matrix: Operand,
    right: Operand,
    lower: bool,
    unit: bool,
    is_vector: bool,
) -> Operand:
    functions = {
        (True, True): linalg.forward_vector,
        (True, False): linalg.forward_matrix,
        (False, True): linalg.backward_vector,
        (False, False): linalg.backward_matrix,
    }
    return _run(call, functions[lower, is_vector], matrix, right, Lit(unit))


def _scipy_cholesky(call: Given) -> Value:
    lower = call.flag("lower")
    matrix = _square(call, "a")
    return _factor(call, matrix, reads_upper=not lower, gives_upper=not lower)


def _cho_factor(call: Given) -> Value:
    """The factor and which triangle it is; the other triangle is zero here."""
    factor = _scipy_cholesky(call)
    made = force(call.cx, call.node, factor)
    return call.builder.one(Tuple((made, Lit(call.flag("lower")))))


def _cho_solve(call: Given) -> Value:
    """`cho_solve((c, lower), b)`"""
    node, b = call.nodes["c_and_lower"], call.builder
    pair = call.value("c_and_lower")
    match pair.type:
        case Product((Array() as held, ty), _) if held.rank == 2 and ty == BOOL:
            factor, lower = b.one(Proj(pair, 0)), b.one(Proj(pair, 1))
        case _:
            raise array_errors.factor_and_flag(call.cx.span(node), pair.type)
    matrix = _is_square(call, _floats_in(call, node, factor, 2))
    right, is_vector = _right_side(call, matrix)
    functions = (linalg.factored_matrix, linalg.factored_vector)
    return _run(call, functions[is_vector], matrix, lower, right)


LINEAR: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.linalg.solve, "a b", _solve),
    LibraryFunction(np.linalg.inv, "a", _inverse),
    LibraryFunction(np.linalg.det, "a", _determinant),
    LibraryFunction(np.linalg.slogdet, "a", _log_determinant),
    LibraryFunction(np.linalg.cholesky, "a * upper=False", _cholesky),
    LibraryFunction(np.linalg.norm, "x ord=None axis=None", _norm),
)

_SCIPY: dict[str, LibraryFunction] = {
    "solve": LibraryFunction(None, "a b", _solve),
    "inv": LibraryFunction(None, "a", _inverse),
    "det": LibraryFunction(None, "a", _determinant),
    "norm": LibraryFunction(None, "x ord=None axis=None", _norm),
    "cholesky": LibraryFunction(None, "a lower=False", _scipy_cholesky),
    "cho_factor": LibraryFunction(None, "a lower=False", _cho_factor),
    "cho_solve": LibraryFunction(None, "c_and_lower b", _cho_solve),
    "solve_triangular": LibraryFunction(
        None, "a b trans=0 lower=False unit_diagonal=False", _triangular
    ),
}


def scipy_linear(value: Any) -> Callable[[Context, ast.Call], Value] | None:
    """What translates a call of this object, if it is one of `scipy.linalg`."""
    module = sys.modules.get("scipy.linalg")
    if module is None:
        return None
    for name, function in _SCIPY.items():
        if getattr(module, name, None) is value:
            return function.call
    return None
