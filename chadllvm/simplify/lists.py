"""A list of arrays from outside holds which of them these are, in place of copies.

    l = build(n) { i ->                     w = build(n) { i ->
      c = …                                   c = …
      r = if c { yield a }            →       v = if c { yield 1 } else { yield 2 }
          else { yield b }                    yield v }
      yield r }
    m = append(l, a)                        u = append(w, 1)
    r = index(m, k)                         v = index(u, k)
                                            first = ieq(v, 1)
                                            r = if first { yield a } else { yield b }

To put an array into a list is then to write a number, and for rows of another array an
index or more, each in a column of its own: as in Python, where lists refer to what is
in them. What is read is a reference (`references.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Function,
    If,
    Lambda,
    Operand,
    Var,
)
from chadllvm.ir.types import I64, Array, element
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index, Sized
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.codes import (
    Code,
    Coded,
    Coding,
    Table,
    element_code,
    of_scalars,
    scalars,
)
from chadllvm.simplify.listed import Listed, Owners, listed
from chadllvm.simplify.reference import Reference
from chadllvm.simplify.walk import Walk


def lists(function: Function, table: Table) -> Function:
    """A function with columns of numbers in place of lists of arrays from outside."""
    found = listed(function, table)
    if not found.lists:
        return function
    return with_body(function, _Columns(found, table).block(function.body))


class _List:
    """The columns of a list by one of its names, and what an element of it is.

    One that is sized has the size of its rows beside them, in an array of one element.
    """

    def __init__(self, var: Var, owners: Owners, is_sized: bool) -> None:
        assert isinstance(var.type, Array)
        self._element = Reference(Var("row", element(var.type, 1)), owners)
        count = 1 + self._element.width
        self.columns = tuple([Var(var.name, Array(I64, 1)) for _ in range(count)])
        self.sizes = tuple([Var("size", Array(I64, 1)) for _ in range(is_sized)])

    def read(
        self, at: Operand, table: Table, out: Builder, var: Var | None = None
    ) -> Var:
        """The element at an index, by a name of its own if there is more than one."""
        ref = replace(self._element, var=var or Var("row", self._element.var.type))
        if ref.only is not None:
            return ref.only
        _name(ref, element_code(self.columns, at, out), table, out)
        return ref.var

    def size(self, axis: int, table: Table, out: Builder) -> Expr:
        """The number of elements, or a size of the first."""
        count = Apply(Dim(0), self.columns[:1])
        if axis == 0:
            return count
        if self.sizes:
            return Apply(Index(), (*self.sizes, lit(0)))
        return self._size_of_first(count, axis, table, out)

    def _size_of_first(
        self, count: Expr, axis: int, table: Table, out: Builder
    ) -> Expr:
        """A size of the first element; 0 if there is none."""
        has_any, inner = out.prim("ilt", lit(0), out.one(count)), out.child()
        size = inner.one(Apply(Dim(axis - 1), (self.read(lit(0), table, inner),)))
        return If(has_any, inner.block([size]), Block((), (lit(0),)))

    def note_size(self, table: Table, out: Builder) -> None:
        """Bind the size of the rows of a list that is made at once."""
        if self.sizes:
            count = Apply(Dim(0), self.columns[:1])
            self.enter_size(out.one(self._size_of_first(count, 1, table, out)), out)

    def enter_size(self, size: Operand, out: Builder) -> None:
        """Bind the size of the rows."""
        one = Lambda((Var("i", I64),), Block((), (size,)))
        made = Apply(Build(), (lit(1),), (one,))
        out.bindings += [Binding((var,), made, out.span) for var in self.sizes]

    def check_sizes(self, count: Operand, table: Table, out: Builder) -> None:
        """The elements of a list that is made at once are as large as the first.

        So are rows of one array anyway.
        """
        if len(self._element.owners) == 1 or count == lit(1):
            return
        index, inner = Var("i", I64), out.child()
        each, first = (self.read(at, table, inner) for at in (index, lit(0)))
        assert isinstance(each.type, Array)
        for axis in range(each.type.rank):
            sizes = [inner.one(Apply(Dim(axis), (row,))) for row in (first, each)]
            inner.prim("same", *sizes)
        out.apply(Build(), [count], [Lambda((index,), inner.block(()))])


class _State:
    """The scalars of a state of a loop in a step, or behind it."""

    def __init__(self, var: Var, owners: Owners) -> None:
        self.reference = Reference(var, owners)
        self.columns = tuple([Var("at", I64) for _ in range(1 + self.reference.width)])

    def bind(self, table: Table, out: Builder) -> None:
        """Bind the array again, if it is not one that takes its place."""
        if self.reference.only is None:
            _name(self.reference, of_scalars(self.columns, 0, 0), table, out)


def _name(ref: Reference, code: Code, table: Table, out: Builder) -> None:
    ref.name(code, table, out)
    table.enter(ref.var, Coded(ref.owners, code))


class _Columns(Walk):
    """Puts columns in the places of lists, by what the table says of their elements."""

    def __init__(self, found: Listed, table: Table) -> None:
        super().__init__()
        self._table = table
        self._elements = found.elements
        self._lists = {
            var: _List(var, owners, var in found.sized)
            for var, owners in found.lists.items()
        }
        self._states = {v: _State(v, owners) for v, owners in found.states.items()}
        for var, one in self._lists.items():
            table.enter_list(var, one.columns)
        for var, state in self._states.items():
            code = of_scalars(state.columns, 0, 0)
            table.enter(var, Coded(state.reference.owners, code))
            if state.reference.only is not None:
                self.replace(var, state.reference.only)

    def visit(self, binding: Binding) -> None:
        out = Coding(binding.span)
        match binding.expr:
            case Apply(Index(), (Var() as array, *at)) if array in self._lists:
                self._read(binding.vars[0], self._lists[array], at, out)
            case Apply(Dim(axis), (Var() as array,)) if array in self._lists:
                size = self._lists[array].size(axis, self._table, out)
                out.bindings.append(Binding(binding.vars, size, out.span))
            case _ if not any(map(self._is_changed, binding.vars)):
                self.keep(binding)
                self._code_elements(binding.vars, out)
            case Apply(Sized(), (Var() as array, size)):
                self._sized(binding.vars[0], self._lists[array], size, out)
            case Apply(Empty() | Append() | DropLast() | Update()) as node:
                self._each(binding.vars[0], node, out)
            case expr:
                new = self._all(binding.vars, expr, out)
                is_made = isinstance(expr, Apply) and isinstance(expr.op, Build)
                bound = self._bound(binding.vars, is_made=is_made)
                out.bindings.append(Binding(bound, new, out.span))
                self._behind(binding.vars, expr, out)
        self.out += out.bindings

    def _code_elements(self, bound: Sequence[Var], out: Coding) -> None:
        """Find out what elements refer to where they are bound: later the lists that
        they are taken of may have changed."""
        for var in bound:
            if var in self._elements and self._table.owners(var) != (var,):
                code = self._table.code(var, out)
                self._table.enter(var, Coded(self._elements[var], code))

    def _is_changed(self, var: Var) -> bool:
        return var in self._lists or var in self._states

    def _read(self, var: Var, one: _List, at: Sequence[Operand], out: Coding) -> None:
        """Bind an element of a list, or what is in it at further indices."""
        first, *rest = at
        row = one.read(first, self._table, out, None if rest else var)
        if rest:
            read = Apply(Index(), (row, *rest))
            out.bindings.append(Binding((var,), read, out.span))
        elif row is not var:
            self.replace(var, row)

    def _sized(self, var: Var, old: _List, size: Operand, out: Coding) -> None:
        """The same columns, with another size of the rows if there are none."""
        new = self._lists[var]
        new.columns = old.columns
        self._table.enter_list(var, new.columns)
        count = out.one(old.size(0, self._table, out))
        before = out.one(old.size(1, self._table, out))
        is_empty = out.prim("ieq", count, lit(0))
        new.enter_size(out.prim("iselect", is_empty, size, before), out)

    def _each(self, var: Var, node: Apply, out: Coding) -> None:
        """Bind the columns of a list one by one."""
        one = self._lists[var]
        op = node.op
        args: list[tuple[Operand, ...]]
        match op, node.args:
            case Empty(), _:
                op, args = Empty(Array(I64, 1)), [() for _ in one.columns]
                one.enter_size(lit(0), out)
            case DropLast(), (Var() as array,):
                args = [(old,) for old in self._lists[array].columns]
                one.sizes = self._lists[array].sizes
            case _, (Var() as array, *at, value):
                codes = self._code(value, out, len(one.columns))
                pairs = zip(self._lists[array].columns, codes, strict=True)
                args = [(old, *at, new) for old, new in pairs]
                if one.sizes and isinstance(op, Append):
                    one.enter_size(out.one(Apply(Dim(0), (value,))), out)
                else:
                    one.sizes = self._lists[array].sizes
        for column, operands in zip(one.columns, args, strict=True):
            out.bindings.append(Binding((column,), Apply(op, operands), out.span))

    def _all(self, bound: Sequence[Var], expr: Expr, out: Coding) -> Expr:
        """What gives the columns of lists, and other things beside."""
        match expr:
            case If(cond, then, orelse):
                blocks = [
                    Block(side.bindings, self._handed_on(side.results))
                    for side in (then, orelse)
                ]
                return If(cond, *blocks)
            case Apply(Iterate() as op, (count, *inits), (body,)):
                index, *params = body.params
                head = Coding(out.span)
                for param in (p for p in params if p in self._states):
                    self._states[param].bind(self._table, head)
                tail = Coding(out.span, (*head.bindings, *body.body.bindings))
                results = body.body.results
                begin = self._values(inits, params, out)
                after = self._values(results[: len(params)], params, tail)
                block = tail.block((*after, *results[len(params) :]))
                step = Lambda((index, *self._bound(params)), block)
                return Apply(op, (count, *begin), (step,))
            case Apply(Build() as op, args, (body,)):
                inner = Coding(out.span, body.body.bindings)
                results = body.body.results
                made: list[Operand] = []
                for var, value in zip(bound, results, strict=True):
                    if var in self._lists:
                        width = len(self._lists[var].columns)
                        made += self._code(value, inner, width)
                    else:
                        made.append(value)
                return Apply(op, args, (Lambda(body.params, inner.block(made)),))
        raise AssertionError(expr)

    def _behind(self, bound: Sequence[Var], expr: Expr, out: Coding) -> None:
        """What is checked of new lists, and bound again of states behind a loop."""
        for var in bound:
            match self._lists.get(var), expr:
                case _List() as one, Apply(Build(), (count,)):
                    one.check_sizes(count, self._table, out)
                    one.note_size(self._table, out)
            if var in self._states:
                self._states[var].bind(self._table, out)
        self._code_elements(bound, out)

    def _values(
        self, operands: Iterable[Operand], states: Sequence[Var], out: Coding
    ) -> list[Operand]:
        """What states begin with or become."""
        found: list[Operand] = []
        for operand, state in zip(operands, states, strict=True):
            if state in self._states:
                width = len(self._states[state].columns)
                found += self._code(operand, out, width)
            else:
                found += self._handed_on([operand])
        return found

    def _code(self, value: Operand, out: Coding, width: int) -> tuple[Operand, ...]:
        """So many scalars of an array."""
        assert isinstance(value, Var)
        return scalars(self._table.code(value, out), width - 1, 0, is_numbered=True)

    def _bound(
        self, variables: Iterable[Var], *, is_made: bool = False
    ) -> tuple[Var, ...]:
        """Columns in the places of lists and of states; the size of what `is_made` is
        bound behind it."""
        found: list[Var] = []
        for var in variables:
            one = self._lists.get(var) or self._states.get(var)
            found += one.columns if one else (var,)
            if isinstance(one, _List) and not is_made:
                found += one.sizes
        return tuple(found)

    def _handed_on(self, operands: Iterable[Operand]) -> tuple[Operand, ...]:
        """Columns in the places of lists: a state is bound again as an array."""
        found: list[Operand] = []
        for operand in operands:
            one = self._lists.get(operand) if isinstance(operand, Var) else None
            found += (*one.columns, *one.sizes) if one else (operand,)
        return tuple(found)
