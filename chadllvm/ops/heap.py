"""Heaps: the nodes of recursive data, which have numbers.

    i = new[Tree, f64, i64](x, j)        a new node, and its number
    y, k = fetch[Tree, f64, i64](i)      what the node of a number holds

A class that contains itself has a heap, a column for each leaf of what a node holds. A
heap belongs to the program and only grows, and no node ever changes, so that a number
stands for a value. `load` puts the columns that the program is given into an empty
heap, `columns` gives all that is in it at the end, `count` how many nodes there are.

The cotangents of nodes are in a ledger (`ops/ledger.py`):

    D[i = new(x)]      bp: one x_c (peek(h, i, 0))        h: the ledger of the heap
    D[x = fetch(i)]    bp: one h[i, 0] x_ct
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import register_array_op
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Apply, Binding, Block, Lambda, One, Operand, Var
from chadllvm.ir.types import I64, Array, Type
from chadllvm.ir.value import ArrayValue
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Zeros
from chadllvm.ops.ledger import HeapOp, ledger_of, note, peek

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Backpropagator, Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering


def _peeked(
    chad: Chad,
    bp: Backpropagator,
    op: HeapOp,
    number: Operand,
    content: Sequence[Operand],
) -> None:
    """Hand on to what a node holds what its row in the ledger has come to."""
    for k, place in op.reals():
        arg = content[k]
        if not chad.is_active(arg):
            continue
        assert isinstance(arg, Var)
        ledger = bp.dual(ledger_of(op.heap))
        ct = peek(bp.body, ledger, number, lit(place), arg.type)
        bp.body.emit(One(bp.dual(arg), (), ct))


@register_array_op
@dataclass(frozen=True)
class New(HeapOp):
    """`i = new[heap, types](content…)`: a new node."""

    name = "new"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, self.types)
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
            _peeked(chad, bp, self, binding.vars[0], node.args)
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """The tangents of nodes are in a heap of their own, at the same numbers."""
        out.bindings.append(binding)
        if forward.moves(ledger_of(self.heap)):
            moved = forward.heaps.of(self)
            args = tuple(forward.tangent(node.args[k]) for k, _ in self.reals())
            place = Place(moved.heap, moved.types)
            out.emit(Apply(place, (binding.vars[0], *args)))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_new(binding, self.heap, node.args)


@register_array_op
@dataclass(frozen=True)
class Place(HeapOp):
    """`place[heap, types](i, content…)`: the node of a number, which is fetched only
    where it has been placed. The tangents of nodes have the numbers of the nodes."""

    name = "place"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, (I64, *self.types))
        return ()

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        nodes, (i, *content) = run.heaps.setdefault(self.heap, []), args
        nodes += [()] * (i + 1 - len(nodes))
        nodes[i] = tuple(content)
        run.pay(len(content))
        return ()

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """As that of a new node."""
        number, *content = node.args
        with chad.backpropagator(binding, asked) as bp:
            _peeked(chad, bp, self, number, content)
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)
        if forward.moves(ledger_of(self.heap)):
            moved = forward.heaps.of(self)
            args = tuple(forward.tangent(node.args[1 + k]) for k, _ in self.reals())
            out.emit(Apply(Place(moved.heap, moved.types), (node.args[0], *args)))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.place_node(self.heap, node.args)


@register_array_op
@dataclass(frozen=True)
class Fetch(HeapOp):
    """`content… = fetch[heap, types](i)`: what the node of a number holds."""

    name = "fetch"
    # A node never changes.
    can_fail = False

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, (I64,))
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
            found = forward.heaps.fetched(self, node.args[0], out)
            for (k, _), tangent in zip(self.reals(), found, strict=True):
                if forward.moves(binding.vars[k]):
                    forward.set(binding.vars[k], tangent)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_fetch(binding, self.heap, node.args[0])


@register_array_op
@dataclass(frozen=True)
class Load(HeapOp):
    """`load[heap, types](columns…)`: the nodes that a heap begins with."""

    name = "load"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, [Array(ty, 1) for ty in self.types])
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
            moved = forward.heaps.of(self)
            columns = [node.args[k] for k, _ in self.reals()]
            args = tuple(_tangent_column(forward, c, out) for c in columns)
            out.emit(Apply(Load(moved.heap, moved.types), args))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.load_heap(self.heap, node.args)


@register_array_op
@dataclass(frozen=True)
class Columns(HeapOp):
    """`columns[heap, types]()`: all that is in a heap now."""

    name = "columns"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, ())
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
            moved = forward.heaps.of(self)
            found = out.emit(Apply(Columns(moved.heap, moved.types), ()))
            for (k, _), tangent in zip(self.reals(), found, strict=True):
                if forward.moves(binding.vars[k]):
                    forward.set(binding.vars[k], tangent)
            return
        for var in binding.vars:
            if forward.moves(var):
                forward.set(var, _tangent_column(forward, var, out))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_columns(binding, self.heap)


@register_array_op
@dataclass(frozen=True)
class Count(HeapOp):
    """`n = count[heap, types]()`: how many nodes there are now."""

    name = "count"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, ())
        return (I64,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        return (len(run.heaps.get(self.heap, [])),)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        return chad.inactive(binding, asked)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_count(binding, self.heap)


def heaps_of(block: Block) -> dict[str, tuple[Type, ...]]:
    """The heaps that a block works with, and what their nodes hold."""
    found: dict[str, tuple[Type, ...]] = {}
    for binding in everywhere(block):
        match binding.expr:
            case Apply(New() | Place() | Fetch() | Load() | Columns() | Count() as op):
                found[op.heap] = op.types
    return found


def _tangent_column(forward: Forward, column: Operand, out: Builder) -> Operand:
    if forward.has_tangent(column):
        return forward.tangent(column)
    assert isinstance(column.type, Array)
    size = out.one(Apply(Dim(0), (column,)))
    return out.one(Apply(Zeros(column.type.elem), (size,)), "zeros")
