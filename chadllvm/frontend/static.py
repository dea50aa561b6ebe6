"""What is known when a program is compiled: static arguments, and tests of them.

    if method == "euler": a      →   a        for method = "euler"
    else: b

The branch that is not taken is not translated, so it need not be right for this value.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable
from enum import Enum
from typing import Any

import numpy as np

from chadllvm.errors import union_errors
from chadllvm.frontend.context import Context, Settled
from chadllvm.frontend.match_statement import Matched
from chadllvm.frontend.narrowing import decided_by_type, place_of
from chadllvm.frontend.objects import static_field, type_at
from chadllvm.frontend.patterns import check_cases, constant_of, decided_case
from chadllvm.frontend.records import is_record, record_class
from chadllvm.frontend.scope import NotStatic
from chadllvm.ir.dtypes import DTYPE_OF_SCALAR
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.types import Array, Product, Scalar, Type
from chadllvm.support.diagnostic import CompileError

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def keys_of(cx: Context, node: ast.expr) -> tuple[str, ...] | None:
    """The keys of the dictionary that an expression is, None of anything else."""
    match node:
        case ast.Call(ast.Attribute(owner, "keys"), [], []):
            return keys_of(cx, owner)
    ty = dictionary_type(cx, node)
    return tuple(ty.names) if ty is not None else None


def dictionary_type(cx: Context, node: ast.expr) -> Product | None:
    """The type of an expression that is a dictionary, None of any other."""
    ty = _type(cx, node)
    names = ty.names if isinstance(ty, Product) else ()
    is_dict = isinstance(names, RecordNames) and names.kind is Kind.DICT
    return ty if is_dict and isinstance(ty, Product) else None


def _type(cx: Context, node: ast.expr) -> Type | None:
    match node:
        case Settled(value=value):
            return value.type
        case ast.Name() | ast.Attribute():
            known = type_at(cx, node)
            if known is None and isinstance(known_value(cx, node), dict):
                return _translated(cx, node)
            return known
        case ast.Subscript() | ast.Dict() | ast.DictComp():
            return _translated(cx, node)
        case ast.Call(ast.Attribute(_, "_asdict")):
            return _translated(cx, node)
        case ast.Call(ast.Name("dict") as function):
            return _translated(cx, node) if known_value(cx, function) is dict else None
        case _:
            return None


def known_value(cx: Context, node: ast.expr) -> Any:
    """The value of an expression of constants, None of any other."""
    try:
        return static_value(cx, node)
    except NotStatic:
        return None


def _translated(cx: Context, node: ast.expr) -> Type | None:
    """The type of a value, which is not kept: whoever uses it finds its mistakes."""
    try:
        with cx.nested():
            return cx.lazy(node).type
    except CompileError:
        return None


def static_value(cx: Context, node: ast.expr) -> Any:
    """The value of an expression of constants, or `NotStatic`."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Attribute(owner, "dtype"):
            return _dtype(cx, node, owner)
        case ast.Attribute(owner, "ndim"):
            return _rank(cx, node, owner)
        case ast.Attribute(ast.Attribute(_, "dtype") as dtype, name):
            return getattr(static_value(cx, dtype), name)
        case ast.Name():
            return cx.static(node)
        case ast.Attribute():
            try:
                return cx.static(node)
            except NotStatic:
                return static_field(cx, node)
        case ast.Tuple(elements):
            return tuple(static_value(cx, element) for element in elements)
        case ast.Subscript(owner, index):
            return _applied(operator.getitem, cx, owner, index)
        case ast.UnaryOp(ast.Not(), operand):
            return not static_value(cx, operand)
        case ast.UnaryOp(ast.USub(), operand):
            return _applied(operator.neg, cx, operand)
        case ast.BoolOp(op, values):
            return _static_logic(cx, isinstance(op, ast.Or), values)
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            return _applied(_BINARY[type(op)], cx, left, right)
        case ast.Compare(left, [ast.In() | ast.NotIn() as op], [right]) if (
            keys := keys_of(cx, right)
        ) is not None:
            return (static_value(cx, left) in keys) is isinstance(op, ast.In)
        case ast.Compare():
            try:
                return _static_comparison(cx, node)
            except NotStatic:
                return decided_by_type(cx, node)
        case Matched():
            return _static_case(cx, node)
        case ast.Call(ast.Attribute(owner, "startswith" | "endswith" as name), [_], []):
            text = static_value(cx, owner)
            return _applied(getattr(text, name, None) or _nothing, cx, node.args[0])
        case ast.Call(ast.Name("isinstance")):
            return decided_by_type(cx, node)
        case ast.Call(function, [owner], []) if static_value(cx, function) is np.ndim:
            return _rank(cx, node, owner)
        case _:
            raise NotStatic


def _nothing(*_: object) -> Any:
    raise NotStatic


def _dtype(cx: Context, node: ast.Attribute, owner: ast.expr) -> np.dtype[Any]:
    """`x.dtype`, which the type of x tells."""
    try:
        known: np.dtype[Any] = cx.static(node)
        return known
    except NotStatic:
        ty = cx.lazy(owner).type
    elem = ty.elem if isinstance(ty, Array) else ty
    found = DTYPE_OF_SCALAR.get(elem) if isinstance(elem, Scalar) else None
    if found is None:
        raise NotStatic
    return found


def _rank(cx: Context, node: ast.expr, owner: ast.expr) -> int:
    """`x.ndim` or `np.ndim(x)`: the dimensions of an array, 0 of a number."""
    try:
        known: int = cx.static(node)
        return known
    except NotStatic:
        ty = cx.lazy(owner).type
    if isinstance(ty, Array) and isinstance(ty.elem, Scalar):
        return ty.rank
    if isinstance(ty, Scalar) and isinstance(node, ast.Call):
        return 0
    raise NotStatic


def _static_case(cx: Context, node: Matched) -> bool:
    """Whether a case is taken, for what types or static arguments tell."""
    try:
        value = static_value(cx, node.subject)
    except NotStatic:
        found = place_of(cx, node.subject)
        if found is None:
            raise
        if node.cases:
            (value, path), ty = found
            is_declared = value in cx.parameters and not path
            check_cases(cx, node, ty, is_declared=is_declared)
        outcome = decided_case(cx, node, found[1])
        if outcome is None:
            raise NotStatic from None
        return outcome
    fits = _fits(cx, node.pattern, value)
    if fits and node.guard is not None:
        raise NotStatic
    return fits


def _fits(cx: Context, pattern: ast.pattern, value: Any) -> bool:
    """Whether a static value fits a pattern, which has no parts."""
    match pattern:
        case ast.MatchAs(None):
            return True
        case ast.MatchAs(ast.pattern() as inner):
            return _fits(cx, inner, value)
        case ast.MatchOr(patterns):
            return any(_fits(cx, p, value) for p in patterns)
        case ast.MatchValue(node):
            return bool(value == constant_of(cx, node))
        case ast.MatchSingleton(wanted):
            return value is wanted
        case _:
            raise union_errors.unsupported_pattern(cx.span(pattern))


def _applied(function: Callable[..., Any], cx: Context, *nodes: ast.expr) -> Any:
    """The last operand comes first: a long sum is mostly no constant at its end."""
    values = [static_value(cx, node) for node in reversed(nodes)]
    try:
        return function(*reversed(values))
    except Exception:  # Whatever it is, it is to happen when the program runs.
        raise NotStatic from None


def _static_logic(cx: Context, is_or: bool, values: list[ast.expr]) -> Any:
    found: Any = is_or
    for value in values:
        found = static_value(cx, value)
        if bool(found) is is_or:
            break
    return found


def _static_comparison(cx: Context, node: ast.Compare) -> bool:
    left = static_value(cx, node.left)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = static_value(cx, right_node)
        try:
            holds = bool(_COMPARE[type(op)](left, right))
        except Exception:
            raise NotStatic from None
        if not holds:
            return False
        left = right
    return True


def decided(cx: Context, node: ast.expr) -> bool | None:
    """The outcome of a test that depends on static arguments; None for any other.

    Tests of strings, None and enums from outside the function are decided as well:
    there are no such values at run time.
    """
    try:
        value = static_value(cx, node)
    except NotStatic:
        return None
    if not any(_is_static(cx, part) for part in ast.walk(node)):
        return None
    try:
        return bool(value)
    except Exception:
        return None


def _is_static(cx: Context, node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, str)
    if isinstance(node, ast.Call | Matched):
        return True  # Of `isinstance` or `np.ndim`: others have no static value.
    if isinstance(node, ast.Attribute):
        return node.attr in ("dtype", "ndim") or _is_static_field(cx, node)
    if not isinstance(node, ast.Name):
        return False
    if cx.surroundings.is_static(node.id):
        return True
    try:
        value = cx.static(node)
    except NotStatic:  # What `and` and `or` do not come to may be anything.
        return False
    is_enum = isinstance(value, type) and issubclass(value, Enum)
    return value is None or is_enum or isinstance(value, str | Enum)


def _is_static_field(cx: Context, node: ast.Attribute) -> bool:
    try:
        static_field(cx, node)
    except NotStatic:
        return False
    return True


def static_string(cx: Context, node: ast.expr) -> str | None:
    """The string that an expression is, if it is one."""
    if not isinstance(node, ast.Constant | ast.Name | ast.Attribute):
        return None
    try:
        value = static_value(cx, node)
    except NotStatic:
        return None
    return value if isinstance(value, str) else None


# Values of these that are equal are the same.
_PLAIN = (str, int, bool, type(None))


def static_key(value: Any) -> Hashable:
    """What tells static values apart: 1, 1.0 and True are three, 0.0 and -0.0 two.

    Raises:
        TypeError: if the value is not hashable.
    """
    kind: type = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is float:
        return kind, value.hex()
    record = record_class(kind) if is_record(kind) else None
    if record is not None:
        return kind, tuple(map(static_key, record.names.parts(value)))
    if isinstance(value, tuple):
        return kind, tuple(map(static_key, value))
    hash(value)
    return kind, value
