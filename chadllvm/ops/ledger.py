"""Ledgers: the cotangents of nodes, a row for each and a column for each real.

What a `fetch` gives owes its cotangent to the row of the node, and `new` reads that
row, for all that owes something to a node came into being later than the node. So a
ledger is read while it is open (`peek`): additions and reads keep their order, and the
dual of a ledger is a ledger.

It has rows for the nodes that were made in the function that is differentiated, which
is work of the size of these rows. Nodes that were there before are held fixed: what is
owed to them is lost.

    D[one h[i, k] y]       bp: one y_c (peek(h_ct, i, k))
    D[y = peek(h, i, k)]   bp: one h_ct[i, k] y_ct
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from chadllvm.ir.build import Builder
from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Binding, Lambda, One, Operand, Var
from chadllvm.ir.tokens import parse_type
from chadllvm.ir.types import F32, F64, I64, Acc, Array, Type, is_float
from chadllvm.ir.value import Rows

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering

LEDGER = Acc(Array(F64, 2), is_read=True)

Self = TypeVar("Self", bound="HeapOp")


@cache
def ledger_of(heap: str) -> Var:
    """What stands for the nodes of a heap where it is asked who has a cotangent.

    No program binds it; its dual is the heap's ledger.
    """
    return Var(heap, LEDGER)


@cache
def column_of(heap: str, k: int) -> Var:
    """The same for what stands in one place of the nodes: no program binds it."""
    return Var(f"{heap}.{k}", F64)


@dataclass(frozen=True)
class HeapOp(ArrayOp):
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

    def expect(self, found: Sequence[Type], expected: Sequence[Type]) -> None:
        if tuple(found) != tuple(expected):
            one, two = (", ".join(map(str, types)) for types in (expected, found))
            raise TypeRuleError(f"{self.name}: takes ({one}), found ({two})")

    def reals(self) -> list[tuple[int, int]]:
        """The columns that hold reals, each with its column in the ledger."""
        found = (k for k, ty in enumerate(self.types) if is_float(ty))
        return [(k, place) for place, k in enumerate(found)]


@register_array_op
@dataclass(frozen=True)
class Ledger(HeapOp):
    """`h = ledger[heap, types](i, j)`: a ledger for the nodes from i on, up to j."""

    name = "ledger"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.expect(args, (I64, I64))
        return (LEDGER,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        base, end = args
        rows, reals = end - base, len(self.reals())
        run.pay(rows * reals)
        return (Rows([0.0] * (rows * reals), 0, (rows, reals), base),)

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
        lowering.bind_ledger(binding, node.args, len(self.reals()))


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
