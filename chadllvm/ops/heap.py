"""Heaps: the nodes of recursive data, which have numbers.

    i = new[Tree, f64, i64](x, j)        a new node, and its number
    y, k = fetch[Tree, f64, i64](i)      what the node of a number holds

A class that contains itself has a heap, a column for each leaf of what a node holds. A
heap belongs to the program and only grows, and no node ever changes, so that a number
stands for a value. `load` puts the columns that the program is given into an empty
heap, `columns` gives all that is in it at the end, `count` how many nodes there are.

The cotangents of nodes are in a *ledger*, a cell of a matrix: a row for each node, a
column for each real that it holds. What a `fetch` gives owes its cotangent to the row
of the node, and `new` reads that row, for all that owes something to a node came into
being later than the node. So a ledger is read while it is open (`peek`): additions and
reads keep their order, and the dual of a ledger is a ledger.

    D[i = new(x)]      bp: one x_c (peek(h, i, 0))        h: the ledger of the heap
    D[x = fetch(i)]    bp: one h[i, 0] x_ct
    D[one h[i, k] y]   bp: one y_c (peek(h_ct, i, k))
    D[y = peek(h, i, k)]   bp: one h_ct[i, k] y_ct
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Binding, Block, Lambda, One, Operand, Var, nested
from chadllvm.ir.tokens import parse_type
from chadllvm.ir.types import F32, F64, I64, Acc, Array, Type, is_float
from chadllvm.ir.value import ArrayValue, Cell
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Zeros

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.lower.interface import Lowering

LEDGER = Acc(Array(F64, 2), is_read=True)

Self = TypeVar("Self", bound="_HeapOp")


@cache
def ledger_of(heap: str) -> Var:
    """What stands for the nodes of a heap where it is asked who has a cotangent.

    No program binds it; its dual is the heap's ledger.
    """
    return Var(heap, LEDGER)


@dataclass(frozen=True)
class _HeapOp(ArrayOp):
    """An operation on a heap whose nodes hold these."""

    heap: str = ""
    types: tuple[Type, ...] = ()
    # It has its place among others: none of them is dropped or moved.
    can_fail = True

    @property
    def attributes(self) -> str:
        return ", ".join([self.heap, *map(str, self.types)])

    @classmethod
    def parse(cls: type[Self], attributes: str) -> Self:
        heap, *types = attributes.split(", ")
        return cls(heap, tuple(map(parse_type, types)))

    def _expect(self, found: Sequence[Type], expected: Sequence[Type]) -> None:
        if tuple(found) != tuple(expected):
            one, two = (", ".join(map(str, types)) for types in (expected, found))
            raise TypeRuleError(f"{self.name}: takes ({one}), found ({two})")

    def reals(self) -> list[tuple[int, int]]:
        """The columns that hold reals, each with its column in the ledger."""
        found = (k for k, ty in enumerate(self.types) if is_float(ty))
        return [(k, place) for place, k in enumerate(found)]


@register_array_op
@dataclass(frozen=True)
class New(_HeapOp):
    """`i = new[heap, types](content…)`: a new node."""

    name = "new"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self._expect(args, self.types)
        return (I64,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        nodes = run.heaps.setdefault(self.heap, [])
        nodes.append(tuple(args))
        run.pay(len(args))
        return (len(nodes) - 1,)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """The reals of the node own what its row in the ledger has come to."""
        with chad.backpropagator(binding, asked) as bp:
            for k, place in self.reals():
                arg = node.args[k]
                if not chad.is_active(arg):
                    continue
                assert isinstance(arg, Var)
                ledger = bp.dual(ledger_of(self.heap))
                ct = peek(bp.body, ledger, binding.vars[0], lit(place), arg.type)
                bp.body.emit(One(bp.dual(arg), (), ct))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """The tangents of nodes are in a heap of their own, at the same numbers."""
        out.bindings.append(binding)
        if forward.moves(ledger_of(self.heap)):
            moved = tangent_heap(self)
            args = tuple(forward.tangent(node.args[k]) for k, _ in self.reals())
            out.emit(Apply(New(moved.heap, moved.types), args))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_new(binding, self.heap, node.args)


@register_array_op
@dataclass(frozen=True)
class Fetch(_HeapOp):
    """`content… = fetch[heap, types](i)`: what the node of a number holds."""

    name = "fetch"
    # A node never changes.
    can_fail = False

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self._expect(args, (I64,))
        return self.types

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        found: tuple[Any, ...] = run.heaps[self.heap][args[0]]
        return found

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """What is owed to the results is owed to the node."""
        with chad.backpropagator(binding, asked) as bp:
            cts = iter(bp.cts)
            ledger = bp.dual(ledger_of(self.heap))
            for k, place in self.reals():
                if asked[k]:
                    note(bp.body, ledger, node.args[0], lit(place), next(cts))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)
        if forward.moves(ledger_of(self.heap)):
            moved = tangent_heap(self)
            found = out.emit(Apply(Fetch(moved.heap, moved.types), node.args))
            for (k, _), tangent in zip(self.reals(), found, strict=True):
                forward.set(binding.vars[k], tangent)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_fetch(binding, self.heap, node.args[0])


@register_array_op
@dataclass(frozen=True)
class Load(_HeapOp):
    """`load[heap, types](columns…)`: the nodes that a heap begins with."""

    name = "load"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self._expect(args, [Array(ty, 1) for ty in self.types])
        return ()

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        columns = [column.data for column in args]
        run.heaps[self.heap] = list(zip(*columns, strict=True))
        run.pay(len(columns) * len(run.heaps[self.heap]))
        return ()

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """A column owns what its place in the ledger has come to."""
        forward = Builder(binding.span)
        size = forward.one(Apply(Dim(0), (node.args[0],)), "nodes")
        with chad.backpropagator(binding, asked) as bp:
            for k, place in self.reals():
                arg = node.args[k]
                if not chad.is_active(arg):
                    continue
                assert isinstance(arg, Var)
                ledger = bp.dual(ledger_of(self.heap))
                each, i = bp.body.child(), Var("i", I64)
                ct = peek(each, ledger, i, lit(place), self.types[k])
                body = Lambda((i,), each.block([ct]))
                column = bp.body.apply(Build(), [size], [body], [f"{arg.name}_ct"])
                bp.body.emit(One(bp.dual(arg), (), column[0]))
        return bp.rule([*forward.bindings, binding])

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)
        if forward.moves(ledger_of(self.heap)):
            moved = tangent_heap(self)
            columns = [node.args[k] for k, _ in self.reals()]
            args = tuple(_tangent_column(forward, c, out) for c in columns)
            out.emit(Apply(Load(moved.heap, moved.types), args))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.load_heap(self.heap, node.args)


@register_array_op
@dataclass(frozen=True)
class Columns(_HeapOp):
    """`columns[heap, types]()`: all that is in a heap now."""

    name = "columns"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self._expect(args, ())
        return tuple(Array(ty, 1) for ty in self.types)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        nodes = run.heaps.get(self.heap, [])
        run.pay(len(nodes) * len(self.types))
        return tuple(
            ArrayValue((len(nodes),), [node[k] for node in nodes])
            for k in range(len(self.types))
        )

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """What is owed to a column is owed to the nodes."""
        forward = Builder(binding.span)
        size = forward.one(Apply(Dim(0), (binding.vars[0],)), "nodes")
        with chad.backpropagator(binding, asked) as bp:
            cts = iter(bp.cts)
            for k, place in self.reals():
                if not asked[k]:
                    continue
                ledger, column = bp.dual(ledger_of(self.heap)), next(cts)
                each, i = bp.body.child(), Var("i", I64)
                ct = each.one(Apply(Index(), (column, i)), "ct")
                note(each, ledger, i, lit(place), ct)
                body = Lambda((i,), each.block([]))
                bp.body.apply(Build(), [size], [body])
        return bp.rule([binding, *forward.bindings])

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)
        if forward.moves(ledger_of(self.heap)):
            moved = tangent_heap(self)
            found = out.emit(Apply(Columns(moved.heap, moved.types), ()))
            for (k, _), tangent in zip(self.reals(), found, strict=True):
                forward.set(binding.vars[k], tangent)
            return
        for var in binding.vars:
            if forward.moves(var):
                forward.set(var, _tangent_column(forward, var, out))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_columns(binding, self.heap)


@register_array_op
@dataclass(frozen=True)
class Ledger(_HeapOp):
    """`h = ledger[heap, types]()`: a ledger for the nodes that there are now."""

    name = "ledger"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self._expect(args, ())
        return (LEDGER,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        shape = (len(run.heaps.get(self.heap, [])), len(self.reals()))
        cell = Cell.opened(Array(F64, 2), shape)
        run.pay(cell.size)
        return (cell,)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        raise AssertionError("a ledger has a ledger for a dual")

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)
        if forward.moves(binding.vars[0]):
            forward.again(binding.vars, node, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_ledger(binding, self.heap, len(self.reals()))


@register_array_op
@dataclass(frozen=True)
class Peek(ArrayOp):
    """`peek(h, i, k)`: what a ledger has come to at a place."""

    name = "peek"
    can_fail = True

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if tuple(args) != (LEDGER, I64, I64):
            raise TypeRuleError("peek: takes a ledger and two indices")
        return (F64,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        cell, *indices = args
        return (cell.view(tuple(indices)).total(),)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        ledger, *indices = node.args
        assert isinstance(ledger, Var)
        with chad.backpropagator(binding, asked) as bp:
            (ct,) = bp.cts
            bp.body.emit(One(bp.dual(ledger), tuple(indices), ct))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.same(node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_peek(binding, node.args)


def peek(b: Builder, ledger: Var, i: Operand, k: Operand, ty: Type) -> Operand:
    """What a ledger has come to, as a cotangent of this type."""
    ct = b.one(Apply(Peek(), (ledger, i, k)), "ct")
    return b.prim("narrow", ct) if ty == F32 else ct


def note(b: Builder, ledger: Var, i: Operand, k: Operand, ct: Var) -> None:
    """Add a cotangent to a ledger."""
    wide = b.prim("widen", ct) if ct.type == F32 else ct
    b.emit(One(ledger, (i, k), wide))


def heaps_of(block: Block) -> dict[str, tuple[Type, ...]]:
    """The heaps that a block works with, and what their nodes hold."""
    found: dict[str, tuple[Type, ...]] = {}
    for binding in block.bindings:
        match binding.expr:
            case Apply(New() | Fetch() | Load() | Columns() as op):
                found[op.heap] = op.types
        for _, inner in nested(binding.expr):
            found |= heaps_of(inner)
    return found


def tangent_heap(op: _HeapOp) -> _HeapOp:
    """The heap of the tangents of a heap's nodes: one for each real."""
    return New(f"{op.heap}_t", tuple(op.types[k] for k, _ in op.reals()))


def _tangent_column(forward: Forward, column: Operand, out: Builder) -> Operand:
    if forward.has_tangent(column):
        return forward.tangent(column)
    assert isinstance(column.type, Array)
    size = out.one(Apply(Dim(0), (column,)))
    return out.one(Apply(Zeros(column.type.elem), (size,)), "zeros")
