"""Tangents and cotangents of lists of arrays: numbers in the core, lists for users.

    g = cl.grad(f)(xs)     →       …, items_ct = derivative gradient[0] @f(xs)
                                   g = the list of these numbers that begin where
                                       those of xs do

What is given by the user is a list of arrays, each of the size of its primal.
"""

from __future__ import annotations

import ast

from chadllvm.errors import closure_errors
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.context import Context
from chadllvm.frontend.list_numbers import has_list, like, numbers_of
from chadllvm.frontend.union_cotangents import shown
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand, Proj, Tuple
from chadllvm.ir.types import Product, list_elem, list_names, list_type


def own(b: Builder, value: Operand, primal: Operand) -> Operand:
    """CHAD's cotangent or tangent of a value as programs have it."""
    return like(b, shown(b, value, primal), primal)


def reals(cx: Context, node: ast.expr, value: Operand, primal: Operand) -> Operand:
    """A tangent with the numbers of lists of arrays alone, which agree in size."""
    ty, b = primal.type, cx.at(node)
    if not isinstance(ty, Product) or not has_list(ty):
        return value
    names = list_names(ty)
    if names is None:
        return _of_components(cx, node, value, primal, ty)
    found = target_type(list_type(list_elem(ty), names.like()), value.type)
    if found is None:
        raise closure_errors.wrong_tangent(cx.span(node), value.type, ty)
    return numbers_of(b, convert(b, value, found), primal)


def _of_components(
    cx: Context, node: ast.expr, value: Operand, primal: Operand, ty: Product
) -> Operand:
    b = cx.at(node)
    if not isinstance(value.type, Product) or value.type.names != ty.names:
        raise closure_errors.wrong_tangent(cx.span(node), value.type, ty)
    parts: list[Operand] = []
    for k in range(len(ty.fields)):
        part, own = b.one(Proj(value, k)), b.one(Proj(primal, k))
        parts.append(reals(cx, node, part, own))
    return b.one(Tuple(tuple(parts), ty.names))
