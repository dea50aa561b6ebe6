"""The typing rule of every node: the types of an expression's results.

A rule that fails raises `TypeRuleError` with the rule's name; the checker adds the
place. Scoping and the discipline of cells are the checker's business (`ir/check.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import numpy as np

from chadllvm.ir.dtypes import SCALAR_OF_DTYPE as SCALAR_OF_DTYPE
from chadllvm.ir.op import TypeRuleError
from chadllvm.ir.term import (
    Apply,
    Call,
    Case,
    Close,
    Const,
    Derivative,
    Expr,
    If,
    Inject,
    Lambda,
    Mode,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    View,
)
from chadllvm.ir.types import (
    BOOL,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    cotangent_type,
    element,
    has_float,
    is_float,
)

Signature = Callable[[str], Fun]


def _no_functions(name: str) -> Fun:
    raise TypeRuleError(f"call: no function named {name}")


def result_types(expr: Expr, signature: Signature = _no_functions) -> tuple[Type, ...]:
    """The types of the results; `signature` gives the type of a top-level function."""
    match expr:
        case Apply():
            return expr.op.result_types([a.type for a in expr.args], expr.bodies)
        case One(cell, indices, value):
            if _inside(cell, indices) != value.type:
                raise TypeRuleError(f"one: a {value.type} added to a {cell.type}")
            return ()
        case Close(cell):
            return (_inside(cell, ()),)
        case Open(content, dims):
            return _open_types(content, dims)
        case Call(function, args, derivative):
            ty = signature(function) if isinstance(function, str) else function.type
            if derivative is not None:
                ty = derivative_type(ty, derivative)
            return _call_types(ty, args)
        case Const(value):
            return (_constant_type(value),)
        case Lambda():
            return (expr.type,)
        case If(cond, then, orelse):
            return _if_types(cond, then.types, orelse.types)
        case View(cell, indices):
            return (Acc(_inside(cell, indices)),)
        case Tuple(args, names):
            return (Product(tuple(a.type for a in args), names),)
        case Proj(arg, index):
            return (_component(arg.type, index),)
        case Inject(ty, index, arg):
            return (_injected(ty, index, arg.type),)
        case Case(arg, branches):
            return _case_types(arg.type, branches)
        case _:
            assert_never(expr)


def _constant_type(value: np.ndarray) -> Array:
    if value.dtype not in SCALAR_OF_DTYPE:
        raise TypeRuleError(f"types: a constant of dtype {value.dtype}")
    return Array(SCALAR_OF_DTYPE[value.dtype], value.ndim)


def _component(ty: Type, index: int) -> Type:
    if not isinstance(ty, Product) or not 0 <= index < len(ty.fields):
        raise TypeRuleError(f"projection: {ty} has no component {index}")
    return ty.fields[index]


def _if_types(
    cond: Operand, then: tuple[Type, ...], orelse: tuple[Type, ...]
) -> tuple[Type, ...]:
    if cond.type != BOOL:
        raise TypeRuleError(f"if: the condition has type {cond.type}, not bool")
    if then != orelse:
        raise TypeRuleError(f"if: the branches have types {then} and {orelse}")
    return then


def _injected(ty: Sum, index: int, payload: Type) -> Sum:
    if not 0 <= index < len(ty.constructors):
        raise TypeRuleError(f"injection: {ty} has no constructor {index}")
    name, expected = ty.constructors[index]
    if payload != expected:
        raise TypeRuleError(f"injection: {name} holds a {expected}, not a {payload}")
    return ty


def _case_types(ty: Type, branches: tuple[Lambda, ...]) -> tuple[Type, ...]:
    if not isinstance(ty, Sum) or not branches:
        raise TypeRuleError(f"case: a {ty} with {len(branches)} branches")
    if [b.type.params for b in branches] != [(p,) for p in ty.payloads]:
        raise TypeRuleError(f"case: the branches are not those of a {ty}")
    first, *others = [b.body.types for b in branches]
    for types in others:
        if types != first:
            one, two = (", ".join(map(str, found)) for found in (first, types))
            raise TypeRuleError(f"case: branches have types ({one}) and ({two})")
    return first


def _call_types(ty: Type, args: tuple[Operand, ...]) -> tuple[Type, ...]:
    if not isinstance(ty, Fun):
        raise TypeRuleError(f"call: a {ty} is not a function")
    if ty.params != tuple([a.type for a in args]):
        found = ", ".join(str(a.type) for a in args)
        raise TypeRuleError(f"call: a function {ty} applied to ({found})")
    return ty.results


def derivative_type(ty: Type, derivative: Derivative) -> Fun:
    """The type of a function's derivative: see `ir/term.Mode`."""
    if not isinstance(ty, Fun) or not set(derivative.wrt) <= {*range(len(ty.params))}:
        raise TypeRuleError(f"call: a {ty} has no derivative by {derivative.wrt}")
    moved = [ty.params[k] for k in derivative.wrt]
    if not all(map(has_float, moved)):
        raise TypeRuleError("call: a derivative by what holds no reals")
    by = tuple(map(cotangent_type, moved))
    of = tuple([cotangent_type(t) for t in ty.results if has_float(t)])
    match derivative.mode:
        case Mode.GRADIENT:
            if not ty.results or not is_float(ty.results[0]):
                raise TypeRuleError("call: the gradient of what is no float")
            return Fun(ty.params, (*ty.results, *by))
        case Mode.PULL_BACK:
            return Fun((*ty.params, *of), (*ty.results, *by))
        case Mode.PUSH_FORWARD:
            return Fun((*ty.params, *by), (*ty.results, *of))
        case _:
            assert_never(derivative.mode)


def _open_types(content: Type, dims: tuple[Operand, ...]) -> tuple[Type, ...]:
    if isinstance(content, Array) and isinstance(content.elem, Box):
        if [d.type for d in dims] != [content]:
            raise TypeRuleError(f"open: a cell of {content} is like one such array")
        return (Acc(content),)
    rank = content.rank if isinstance(content, Array) else 0
    if not isinstance(content, Array | Scalar) or len(dims) != rank:
        raise TypeRuleError(f"open: a cell of {content} with {len(dims)} dimensions")
    if any(d.type != I64 for d in dims):
        raise TypeRuleError("open: a dimension that is not i64")
    return (Acc(content),)


def _inside(cell: Operand, indices: tuple[Operand, ...]) -> Type:
    """The content of a cell at a path, which goes on through a box that it ends at."""
    if not isinstance(cell.type, Acc):
        raise TypeRuleError(f"a {cell.type} is not a cell")
    content = cell.type.content
    if not indices:
        return content
    if any(i.type != I64 for i in indices):
        raise TypeRuleError("path: an index that is not i64")
    if not isinstance(content, Array) or len(indices) > content.rank:
        raise TypeRuleError(f"path: {len(indices)} indices into a cell of {content}")
    part = element(content, len(indices))
    return part.content if isinstance(part, Box) else part
