"""Which arrays are lists in Python, so that `+`, `*` and comparisons mean others there.

    m = [[x, 1.0], [2.0, 3.0]]      2: a list of lists
    r = m[0]                        1: a list
    v = np.array(m)[0]              0: an array
    p = (r, v)                      (1, 0)

A *mark* says of an array how many of its axes, from the first on, are lists, and has
the marks of a product's components, or of a union's members; that of an array of
products is the mark of these. Whatever makes a list notes its mark. Of a row or a
component it follows from how the value was made, and is found out where somebody asks.

`Context.lists` has fewer: the lists that a name may make longer. A row is none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from chadllvm.frontend.arithmetic import convert
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
from chadllvm.ir.types import Array, Product, Scalar, Sum, Type
from chadllvm.ops.alias import Alias
from chadllvm.ops.build import Build
from chadllvm.ops.grow import DropLast
from chadllvm.ops.index import Empty, Index

if TYPE_CHECKING:
    from chadllvm.frontend.context import Context

# The components of a product or a union have marks themselves.
Mark = int | tuple[Any, ...]


def is_python_list(cx: Context, value: object) -> bool:
    """Whether an array is a list in Python."""
    mark = mark_of(cx, value)
    return value in cx.lists or (isinstance(mark, int) and mark > 0)


def mark_list(cx: Context, made: Operand, items: Mark) -> None:
    """Note that an array is a list, whose elements have this mark."""
    cx.lists.add(made)
    cx.marks[made] = listed(items)


def listed(items: Mark) -> Mark:
    """The mark of a list whose elements have this mark."""
    return items if isinstance(items, tuple) else items + 1


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
    if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
        return packed(map(_common, x, y))
    if isinstance(x, tuple) or isinstance(y, tuple):
        return 0
    return min(x, y)


def mark_of(cx: Context, value: object, *inner: Builder) -> Mark:
    """The mark of a value, which may have been made by one of the `inner` builders."""
    return _Search(cx, [b.bindings for b in inner]).mark(value)


def mark_as(cx: Context, value: Operand, ty: Type, *inner: Builder) -> Mark:
    """The mark of a value as one of a type that it can be joined to."""
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
                members = [full(payload) for payload in ty.payloads]
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
                mark = self.mark(args[0])
                if isinstance(mark, tuple):
                    return mark
                return max(mark - len(args) + 1, 0)
            case Empty(ty):
                return full(ty)
            case Alias() | DropLast():
                return self.mark(args[0])
            case Build() if not isinstance(bodies[0].body.results[0].type, Scalar):
                found = self._inner(bodies[0].body.results[0], bodies[0].body)
                return found if isinstance(found, tuple) else 0
            case _:
                return 0

    def _inner(self, value: Operand, block: Block) -> Mark:
        return _Search(self.cx, [*self.blocks, block.bindings]).mark(value)
