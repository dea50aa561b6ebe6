"""What loops and comprehensions run over: a length, and the element at each position.

    range(a, b, s)   →   steps(a, b, s) elements, the k-th is a + k * s
    zip(x, y)        →   min(len(x), len(y)) elements, the k-th is (x[k], y[k])
    (a, b, c)        →   3 elements, the k-th is a, b or c

A length may be negative; the operations of the core take that for zero.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from chadllvm.errors import call_errors, flow_errors, record_errors, type_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, can_fail
from chadllvm.frontend.displays import Listed, components_of, listed_arrays
from chadllvm.frontend.higher import ACCUMULATE
from chadllvm.frontend.ragged import made_element, ragged
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.subscript import dimension
from chadllvm.frontend.tuples import call_unpacked
from chadllvm.frontend.width import held, item, product
from chadllvm.ir.build import Builder
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.term import Lit, Operand, Proj, Tuple
from chadllvm.ir.types import (
    BOOL,
    I64,
    Array,
    Product,
    is_set,
    list_names,
    opened_type,
)
from chadllvm.ops.require import Require


@dataclass(frozen=True)
class Items:
    """`element(b, k)` emits what gives the element at position k, which is in range.

    `is_count`: the element is the position itself. Where the length is that of a range
    cut to an i64, `at_end` gives the elements by positions among its last ones.
    """

    length: Operand
    element: Callable[[Builder, Operand], Operand]
    is_count: bool = False
    # An empty tuple: nothing is known of elements, and there are no steps.
    is_nothing: bool = False
    at_end: Callable[[Builder], Callable[[Builder, Operand], Operand]] | None = None


def items(cx: Context, node: ast.expr, *, is_made: bool = False) -> Items:
    """What an expression runs over; its parts are computed here, once.

    `is_made`: the elements as well, since steps may change what they are computed from.
    """
    kind = iterator_of(cx, node)
    if kind is None:
        return _array_items(cx, node, is_made)
    assert isinstance(node, ast.Call)
    if kind == "accumulate":
        return _made_items(cx, node, cx.make(cx, node, ACCUMULATE.call(cx, node)))
    node = call_unpacked(cx, node)
    start = _start_keyword(cx, node, kind)
    count = len(node.args) + (start is not None)
    low, high = _ITERATORS[kind]
    if not low <= count <= high:
        expected = f"{low} arguments" if low == high else f"{low} to {high} arguments"
        raise call_errors.wrong_argument_count(cx.span(node), kind, expected)
    match kind:
        case "range":
            return _range(cx, node, [integer(cx, a) for a in node.args])
        case "enumerate":
            return _enumerate(cx, [*node.args, *([start] if start else [])], is_made)
        case "zip":
            parts = [items(cx, a, is_made=is_made) for a in node.args]
            return _zip(cx, node, parts, is_strict=_is_strict(node))
        case _:
            return _reversed(cx, node, items(cx, node.args[0], is_made=is_made))


# The built-in iterators, and how many arguments they take.
_ITERATORS = {"range": (1, 3), "enumerate": (1, 2), "zip": (1, 255), "reversed": (1, 1)}


def iterator_of(cx: Context, node: ast.expr) -> str | None:
    """The name of the built-in iterator that is called, if one is."""
    if not isinstance(node, ast.Call):
        return None
    try:
        function = cx.static(node.func)
    except NotStatic:
        return None
    if function is itertools.accumulate:
        return "accumulate"
    for name in _ITERATORS:
        if function is getattr(builtins, name):
            return name
    return None


def _start_keyword(cx: Context, node: ast.Call, kind: str) -> ast.expr | None:
    """The argument `start` of `enumerate`; `zip` has a constant argument `strict`."""
    start = None
    for keyword in node.keywords:
        match kind, keyword:
            case "enumerate", ast.keyword("start", value) if start is None:
                start = value
            case "zip", ast.keyword("strict", ast.Constant(bool())):
                pass
            case _:
                name = keyword.arg or "**"
                raise call_errors.unexpected_keyword(cx.span(keyword), kind, name)
    return start


def _is_strict(node: ast.Call) -> bool:
    values = [keyword.value for keyword in node.keywords]
    return any(isinstance(v, ast.Constant) and v.value is True for v in values)


def integer(cx: Context, node: ast.expr) -> Operand:
    """The value of an expression that has to be an integer."""
    value = cx.value(node)
    if value.type not in (I64, BOOL):
        raise type_errors.not_an_index(cx.span(node), value.type)
    return to_int(cx.at(node), value)


def _array_items(cx: Context, node: ast.expr, is_made: bool) -> Items:
    if isinstance(node, ast.List):
        arrays = listed_arrays(cx, node)
        if not isinstance(arrays, ast.List):
            return _one_by_one(cx, arrays)
        node = arrays
    value = cx.lazy(node)
    if is_made and isinstance(value, Delayed) and value.view_of is None:
        value = cx.make(cx, node, value)
    if not isinstance(value, Delayed) and list_names(value.type) is not None:
        return _list_items(cx, node, value)
    if not isinstance(value, Delayed) and is_set(value.type):
        return _made_items(cx, node, cx.at(node).one(Proj(value, 0)))
    if not isinstance(value, Delayed) and is_tuple(value.type):
        return _tuple_items(cx, node, value, value.type)
    if not isinstance(value.type, Array):
        raise flow_errors.not_iterable(cx.span(node), value.type)
    if isinstance(value, Delayed) and value.rank == 1 and not can_fail(value):
        return Items(value.shape[0], lambda b, k: held(b, value.element(b, [k])))
    return _made_items(cx, node, cx.make(cx, node, value))


def _list_items(cx: Context, node: ast.expr, value: Operand) -> Items:
    """The arrays of a list, each made in its step."""
    xs = ragged(cx, node, value)

    def element(b: Builder, k: Operand) -> Operand:
        return made_element(cx, node, b, xs, k)

    return Items(xs.count, element)


def _tuple_items(cx: Context, node: ast.expr, value: Operand, ty: Product) -> Items:
    """The components of a tuple, which are of one type, or numbers."""
    if isinstance(ty.names, RecordNames) and not ty.names.is_sequence:
        if ty.names.kind is Kind.DICT:
            raise record_errors.keys_as_value(cx.span(node), "a list of keys")
        raise record_errors.not_iterable(cx.span(node), ty)
    if opened_type(ty) == Product(()):
        return Items(Lit(0), lambda inner, k: k, is_nothing=True)
    listed = components_of(cx, node, value)
    if listed is None:
        raise type_errors.mixed_tuple(cx.span(node), ty)
    return _one_by_one(cx, listed)


def _one_by_one(cx: Context, listed: Listed) -> Items:
    return Items(Lit(len(listed.values)), lambda b, k: listed.one(cx, b, k))


def _made_items(cx: Context, node: ast.expr, array: Operand) -> Items:
    def element(b: Builder, k: Operand) -> Operand:
        return item(b, array, k)

    return Items(dimension(cx.at(node), array, 0), element)


def _range(cx: Context, node: ast.Call, bounds: Sequence[Operand]) -> Items:
    if len(bounds) == 1:
        return Items(bounds[0], lambda b, k: k, is_count=True)
    start, stop, step = (*bounds, Lit(1))[:3]
    b = cx.at(node)
    if isinstance(step, Lit) and step.value == 0:
        raise flow_errors.zero_step(cx.span(node.args[2]))
    if step == Lit(1):
        length = b.prim("span", stop, start)
    elif step == Lit(-1):
        length = b.prim("span", start, stop)
    else:
        length = b.prim("steps", start, stop, step)

    def element(first: Operand, b: Builder, k: Operand) -> Operand:
        return b.prim("iadd", first, k if step == Lit(1) else b.prim("imul", k, step))

    def at_end(b: Builder) -> Callable[[Builder, Operand], Operand]:
        if step == Lit(1):
            return partial(element, b.prim("isub", stop, length))
        if step == Lit(-1):
            return partial(element, b.prim("iadd", stop, length))
        whole = b.prim("ilt", length, Lit((1 << 63) - 1))
        b.apply(Require("OverflowError", "range too long to be reversed"), [whole])
        return partial(element, start)

    is_short = step == Lit(1) and isinstance(start, Lit) and start.value >= 0
    return Items(length, partial(element, start), at_end=None if is_short else at_end)


def _enumerate(cx: Context, args: Sequence[ast.expr], is_made: bool) -> Items:
    inner = items(cx, args[0], is_made=is_made)
    start = integer(cx, args[1]) if len(args) == 2 else Lit(0)

    def element(b: Builder, k: Operand) -> Operand:
        count = k if start == Lit(0) else b.prim("iadd", start, k)
        return product(b, Tuple((count, inner.element(b, k))))

    return Items(inner.length, element)


def _zip(
    cx: Context, node: ast.Call, parts: Sequence[Items], *, is_strict: bool
) -> Items:
    """What differs in length is cut, or refused before the loop begins."""
    b, length = cx.at(node), parts[0].length
    for part in parts[1:]:
        if is_strict:
            sizes = [b.prim("imax", size, Lit(0)) for size in (length, part.length)]
            b.prim("same", *sizes)
        else:
            length = b.prim("imin", length, part.length)

    def element(b: Builder, k: Operand) -> Operand:
        return product(b, Tuple(tuple(part.element(b, k) for part in parts)))

    return Items(length, element)


def _reversed(cx: Context, node: ast.Call, inner: Items) -> Items:
    b = cx.at(node)
    last = b.prim("isub", inner.length, Lit(1))
    element = inner.at_end(b) if inner.at_end else inner.element
    return Items(inner.length, lambda b, k: element(b, b.prim("isub", last, k)))
