"""`tuple(...)`: each component is known when the program is compiled.

tuple(a + h * k for a, k in zip(s, ks))   →   (s.0 + h * ks.0, s.1 + h * ks.1)

So is the number of them: what a tuple is made of is tuples, constant ranges, or arrays
and lists that are written out.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from chadllvm.errors import record_errors, type_errors
from chadllvm.frontend.clauses import Comprehension
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value, delayed
from chadllvm.frontend.functions import arguments
from chadllvm.frontend.iteration import items
from chadllvm.frontend.keys import Entries, entries, numbered, ordered, paired, parts_by
from chadllvm.frontend.static import known_value
from chadllvm.frontend.tuples import components, is_sequence, unpacked
from chadllvm.frontend.width import item, product
from chadllvm.ir.term import Lit, Operand, Tuple
from chadllvm.ir.types import Array

# Tuples of more components take long to compile, where lists do not.
_MOST = 256


def tuple_call(cx: Context, node: ast.Call) -> Operand:
    given = arguments(cx, node, "tuple", 0, 1)
    parts = [cx.value(part) for each in given for part in _parts(cx, each)]
    return product(cx.at(node), Tuple(tuple(parts)))


def _parts(cx: Context, node: ast.expr) -> Sequence[ast.expr]:
    """What an expression gives, one by one."""
    if not isinstance(node, Comprehension):
        node = _each(node)
    found: list[ast.expr] = []
    for part in parts_by(cx, node, _entries(cx, node.generators[0].iter)):
        if part.test is not None:
            raise record_errors.unknown_test(cx.span(part.test))
        is_clause = len(node.generators) > 1
        found += _parts(cx, part.node) if is_clause else [part.node]
    if len(found) > _MOST:
        raise type_errors.open_tuple(cx.span(node))
    return found


def _each(node: ast.expr) -> ast.GeneratorExp:
    """`item for item in node`"""
    item, name = (
        ast.copy_location(ast.Name("item.", context), node)
        for context in (ast.Store(), ast.Load())
    )
    clause = ast.comprehension(item, node, [], 0)
    return ast.copy_location(ast.GeneratorExp(name, [clause]), node)


def _entries(cx: Context, node: ast.expr) -> Entries:
    known = entries(cx, node)
    if known is None and isinstance(node, ast.Call):
        known = _iterator(cx, node, known_value(cx, node.func))
    if known is not None:
        return known
    match node:
        case ast.Tuple(parts) | ast.List(parts):
            return Entries(tuple(unpacked(cx, parts)))
        case ast.ListComp() | ast.GeneratorExp():
            return Entries(tuple(_parts(cx, node)))
        case _:
            values = _values(cx, node, cx.lazy(node))
            return Entries(tuple(cx.settled(node, value) for value in values))


def _iterator(cx: Context, node: ast.Call, function: Any) -> Entries | None:
    """What an iterator gives that is called, None of any other function."""
    if function is zip:
        return paired(cx, node, [_entries(cx, part) for part in node.args])
    if function is enumerate and node.args:
        return numbered(cx, node, _entries(cx, node.args[0]))
    if function is reversed and node.args:
        return ordered(cx, node, _entries(cx, node.args[0]))
    if function is not range:
        return None
    bounds = [known_value(cx, bound) for bound in node.args]
    is_known = all(type(bound) is int for bound in bounds)
    steps = range(*bounds) if is_known and _is_range(bounds) else None
    if steps is None or len(steps) > _MOST:
        items(cx, node)  # There may be another mistake in it.
        raise type_errors.open_tuple(cx.span(node))
    return Entries(tuple(ast.copy_location(ast.Constant(k), node) for k in steps))


def _is_range(bounds: Sequence[Any]) -> bool:
    return 1 <= len(bounds) <= 3 and 0 not in bounds[2:]


def _values(cx: Context, node: ast.expr, value: Value) -> Sequence[Value]:
    """The components of a tuple, or the elements of an array of a constant length."""
    if is_sequence(value):
        return components(cx, node, value)
    if not isinstance(value.type, Array):
        raise type_errors.open_tuple(cx.span(node))
    length = delayed(cx, node, value).shape[0]
    if not isinstance(length, Lit) or length.value > _MOST:
        raise type_errors.open_tuple(cx.span(node))
    array = cx.make(cx, node, value) if isinstance(value, Delayed) else value
    return [item(cx.at(node), array, Lit(k)) for k in range(int(length.value))]
