"""Which arrays are lists in Python, so that `+`, `*` and comparisons mean others there.

    m = [[x, 1.0], [2.0, 3.0]]      2: a list of lists
    r = m[0]                        1: a list
    v = np.array(m)[0]              0: an array
    p = (r, v)                      (1, 0)

A *mark* says of an array how many of its axes, from the first on, are lists (between
what and what, where an array and a list meet), and has
the marks of a product's components, or of a union's members; that of an array of
products is the mark of these. Whatever makes a list notes its mark. Of a row or a
component it follows from how the value was made, and is found out where somebody asks.

`Context.lists` has fewer: the lists that a name may make longer. A row is none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from chadllvm.errors import array_errors
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.closures import is_function
from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Expr,
    If,
    Inject,
    Lambda,
    Operand,
    Proj,
    Tuple,
    Var,
)
from chadllvm.ir.types import Array, Product, Scalar, Sum, Type, list_names
from chadllvm.ops.alias import Alias
from chadllvm.ops.build import Build
from chadllvm.ops.grow import DropLast
from chadllvm.ops.index import Empty, Index, Sized

if TYPE_CHECKING:
    from chadllvm.frontend.context import Context
    from chadllvm.frontend.delayed import Value


@dataclass(frozen=True)
class Between:
    """The mark of what is an array on one way to here and a list on another: so many
    axes are lists on all ways, and so many on some. On no way at all, of what is not
    made yet, the first is the larger one."""

    least: int
    most: int


# The components of a product or a union have marks themselves.
Mark = int | Between | tuple[Any, ...]


def is_python_list(cx: Context, value: object) -> bool:
    """Whether an array is a list in Python."""
    return value in cx.lists or _least(mark_of(cx, value)) > 0


def may_be_list(cx: Context, value: object) -> bool:
    """Whether an array is a list in Python on some way to here at least."""
    return is_python_list(cx, value) or _most(mark_of(cx, value)) > 0


def holds_number_lists(cx: Context, value: Operand) -> bool:
    """Whether there is an array of numbers in a value that is, or may be, a list."""
    return _has_number_lists(value.type, mark_of(cx, value))


def _has_number_lists(ty: Type, mark: Mark) -> bool:
    match ty:
        case Array(Scalar()):
            return _most(mark) > 0
        case Array(elem):
            return isinstance(mark, tuple) and _has_number_lists(elem, mark)
        case Product(parts) if list_names(ty) is None and isinstance(mark, tuple):
            return any(map(_has_number_lists, parts, mark))
        case Sum() if isinstance(mark, tuple):
            return any(map(_has_number_lists, ty.payloads, mark))
        case _:
            return False


def check_settled(cx: Context, node: ast.expr, value: object) -> None:
    """An array is a list on all ways to here, or on none of them."""
    if may_be_list(cx, value) and not is_python_list(cx, value):
        raise array_errors.list_or_array(cx.span(node))


def check_no_lists(cx: Context, node: ast.expr, values: Iterable[Value]) -> None:
    """Lists with each other or with numbers are not what arrays are."""
    arrays = [value for value in values if isinstance(value.type, Array)]
    if arrays and all(may_be_list(cx, value) for value in arrays):
        for value in arrays:
            check_settled(cx, node, value)
        raise array_errors.list_arithmetic(cx.span(node))


def mark_joined(
    cx: Context, made: object, values: Iterable[object], mark: Mark
) -> None:
    """Note what one of several values is: a list that may grow if all of them are."""
    may_grow = all(value in cx.lists for value in values)
    cx.lists.discard(made)
    if may_grow:
        cx.lists.add(made)
    cx.marks[made] = mark


def mark_as_arrays(cx: Context, value: Value) -> Value:
    """Note that there are no lists in a value, but in what its functions capture."""
    cx.lists.discard(value)
    cx.marks[value] = _captured_lists(value.type, mark_of(cx, value))
    return value


def _captured_lists(ty: Type, mark: Mark) -> Mark:
    if is_function(ty):
        return mark
    if isinstance(ty, Product) and isinstance(mark, tuple):
        return packed(map(_captured_lists, ty.fields, mark))
    return 0


def _least(mark: Mark) -> int:
    match mark:
        case Between(least, _):
            return least
        case int():
            return mark
        case _:
            return 0


def _most(mark: Mark) -> int:
    return mark.most if isinstance(mark, Between) else _least(mark)


def mark_list(cx: Context, made: Operand, items: Mark) -> None:
    """Note that an array is a list, whose elements have this mark."""
    cx.lists.add(made)
    cx.marks[made] = listed(items)


def listed(items: Mark) -> Mark:
    """The mark of a list whose elements have this mark."""
    return items if isinstance(items, tuple) else _moved(items, 1)


def row_mark(mark: Mark, axes: int = 1) -> Mark:
    """The mark of what is left of a list when so many axes are chosen from."""
    return mark if isinstance(mark, tuple) else _moved(mark, -axes)


def _moved(mark: int | Between, axes: int) -> int | Between:
    return _between(max(_least(mark) + axes, 0), max(_most(mark) + axes, 0))


def _between(least: int, most: int) -> int | Between:
    return least if least == most else Between(least, most)


def full(ty: Type) -> Mark:
    """The mark of a value all of whose arrays are lists."""
    match ty:
        case Array(Scalar(), rank):
            return rank
        case Array(elem, rank):
            return full(elem) or rank
        case Product(fields):
            return packed(map(full, fields))
        case Sum():
            return packed(map(full, ty.payloads))
        case _:
            return 0


def unmade(ty: Type, *, lists: int = 0) -> Mark:
    """The mark of what holds nothing yet: what it is joined with says what it is.

    `lists`: as many axes are lists for certain.
    """
    match ty:
        case Array(Scalar(), rank):
            return _between(rank, lists)
        case Array(elem, rank):
            return unmade(elem) or _between(rank, lists)
        case Product(fields):
            return packed(map(unmade, fields))
        case Sum():
            return packed(map(unmade, ty.payloads))
        case _:
            return 0


def is_unmade(mark: Mark) -> bool:
    """Whether a mark is that of what holds nothing yet."""
    return isinstance(mark, Between) and mark.least > mark.most


def packed(marks: Iterable[Mark]) -> Mark:
    """The mark of a product whose components have these."""
    found = tuple(marks)
    return found if any(found) else 0


def _holds_products(ty: Type) -> bool:
    return isinstance(ty, Array) and not isinstance(ty.elem, Scalar)


def component_mark(mark: Mark, index: int) -> Mark:
    """The mark of a component of a product, or of a member of a union."""
    return mark[index] if isinstance(mark, tuple) else 0


def common(marks: Iterable[Mark]) -> Mark:
    """The mark of what may be any of several values."""
    return reduce(_common, marks)


def _common(x: Mark, y: Mark) -> Mark:
    if isinstance(x, tuple) or isinstance(y, tuple):
        # A product without lists has no marks of its components.
        first = x if isinstance(x, tuple) else (0,) * len(cast("tuple[Mark, ...]", y))
        second = y if isinstance(y, tuple) else (0,) * len(first)
        return packed(map(_common, first, second))
    return _between(min(_least(x), _least(y)), max(_most(x), _most(y)))


def mark_of(cx: Context, value: object, *inner: Builder) -> Mark:
    """The mark of a value, which may have been made by one of the `inner` builders."""
    return _Search(cx, [b.bindings for b in inner]).mark(value)


def mark_as(cx: Context, value: Operand, ty: Type, *inner: Builder) -> Mark:
    """The mark of a value as one of a type that it can be joined to."""
    if isinstance(value.type, Array) and isinstance(ty, Array):
        return mark_of(cx, value, *inner)  # What its numbers become is no matter.
    b = cx.builder.child()
    return mark_of(cx, convert(b, value, ty), b, *inner)


class _Search:
    """Finds out how values were made, in these blocks and where we are."""

    def __init__(self, cx: Context, blocks: Sequence[Sequence[Binding]]) -> None:
        self.cx, self.blocks = cx, blocks

    def mark(self, value: object) -> Mark:
        known = self.cx.marks.get(value)
        if known is not None:
            return known
        if not isinstance(value, Var):
            return int(value in self.cx.lists)
        if value in self.cx.lists and not _holds_products(value.type):
            return 1
        if not full(value.type):
            return 0
        found = self._made(value)
        self.cx.marks[value] = found
        return found

    def _made(self, value: Var) -> Mark:
        outer = (b.bindings for b, _ in reversed(self.cx.enclosing))
        here = (*reversed(self.blocks), self.cx.builder.bindings, *outer)
        for bindings in (*here, self.cx.prelude.bindings):
            for binding in reversed(bindings):
                if value in binding.vars:
                    return self._given(binding.expr, binding.vars.index(value))
        return 0

    def _given(self, expr: Expr, k: int) -> Mark:
        """The mark of a result of an expression."""
        match expr:
            case Proj(arg, index):
                return component_mark(self.mark(arg), index)
            case Tuple(args):
                return packed(map(self.mark, args))
            case If(_, then, orelse):
                return common(self._inner(b.results[k], b) for b in (then, orelse))
            case Inject(ty, index, arg):
                members = [unmade(payload) for payload in ty.payloads]
                members[index] = self.mark(arg)
                return packed(members)
            case Case(arg, branches):
                held = self.mark(arg)
                for at, branch in enumerate(branches):
                    self.cx.marks[branch.params[0]] = component_mark(held, at)
                bodies = (branch.body for branch in branches)
                return common(self._inner(b.results[k], b) for b in bodies)
            case Call(str() as name):
                return self.cx.callees.mark(name)
            case Apply(op, args, bodies):
                return self._applied(op, args, bodies)
            case _:
                return 0

    def _applied(
        self, op: object, args: Sequence[Operand], bodies: Sequence[Lambda]
    ) -> Mark:
        match op:
            case Index():
                return row_mark(self.mark(args[0]), len(args) - 1)
            case Empty(ty):
                return unmade(ty)
            case Alias() | DropLast() | Sized():
                return self.mark(args[0])
            case Build() if not isinstance(bodies[0].body.results[0].type, Scalar):
                found = self._inner(bodies[0].body.results[0], bodies[0].body)
                return found if isinstance(found, tuple) else 0
            case _:
                return 0

    def _inner(self, value: Operand, block: Block) -> Mark:
        return _Search(self.cx, [*self.blocks, block.bindings]).mark(value)
