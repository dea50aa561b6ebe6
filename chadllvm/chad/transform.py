"""D[·]: the monadic CHAD transformation (paper, Fig. 6), core to core.

For Γ ⊢ t : τ, D[t] is a primal of type τ and a backpropagator `bp = fun (d, cells) ->
()` that adds the cotangent d of t to the cells of the free variables of t. Here t is a
binding of a flat block: D keeps the binding (D[τ]₁ = τ, so primals keep their names)
and adds `bp = fun …` behind it. For a block, D makes one backpropagator out of those of
its bindings, called in reverse order: for each variable a cell is opened before its
last use, and closed where it was bound.

A variable that only names (part of) another array has no cell of its own: its cell is a
view of the other's. So is that of a box, which names the array it refers to. Earlier
stages guarantee that there are no products and sums, and that calls are inlined.

D applies to programs with cells, such as its own output after closure conversion:

    c = open f64[:](n)                      c = open …; …; s = close c
    …  one c.i y  …         the reverse:    c_ct = (the cotangent of s)
    s = close c                             …  y_c += c_ct ! i  …

In the backpropagators every variable has its *dual*. That of a value is a cell, for its
cotangent; that of a cell is a value, the cotangent of the sum in it, from which all who
add to the cell read. A cell whose sum nobody asks for has none.

Untouched means not run. A variable is *touched* if its cotangent surely is used; the
cotangent of any other may be an untouched zero, which has to stay zero whatever it is
multiplied by (`scale`). What is touched follows from the program's structure alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import assert_never

from chadllvm.chad.activity import active_variables
from chadllvm.chad.additions import Additions
from chadllvm.chad.custom import Customs
from chadllvm.chad.custom_reverse import reverse
from chadllvm.chad.recursion import Reversed, reverse_recursion
from chadllvm.chad.reversal import BlockReversal, define, dual_of, name_of
from chadllvm.chad.touched import touched_states
from chadllvm.ir.build import Builder
from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Function,
    If,
    Inject,
    Lambda,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
)
from chadllvm.ops.custom import Custom
from chadllvm.ops.ledger import LEDGER
from chadllvm.support.diagnostic import InternalError, Span


@dataclass(frozen=True)
class Rule:
    """D of one binding: what replaces it, and how its backpropagator is called.

    `bp` takes the cotangents of the results asked for, then the duals of `free`.
    """

    forward: tuple[Binding, ...]
    bp: Var
    free: tuple[Var, ...]


class CotangentBuilder(Builder):
    """Builds backpropagators; to scale a touched cotangent is to multiply it."""

    def __init__(self, span: Span, touched: bool) -> None:
        super().__init__(span)
        self.touched = touched

    def prim(self, name: str, *args: Operand, hint: str = "t") -> Var:
        if name == "scale" and self.touched:
            name = "mul"
        return super().prim(name, *args, hint="ct" if hint == "t" else hint)


class Backpropagator:
    """The backpropagator of one binding in the making."""

    def __init__(self, binding: Binding, asked: Sequence[bool], touched: bool) -> None:
        self.binding = binding
        self.body = CotangentBuilder(binding.span, touched)
        self.cts = [
            Var(f"{v.name}_ct", v.type)
            for v, flag in zip(binding.vars, asked, strict=True)
            if flag
        ]
        self._duals: dict[Var, Var] = {}

    def dual(self, var: Var) -> Var:
        """The dual of a variable of the source: a parameter of the backpropagator."""
        if var not in self._duals:
            self._duals[var] = dual_of(var)
        return self._duals[var]

    def rule(self, forward: Sequence[Binding] | None = None) -> Rule:
        """The rule; `forward` replaces the binding where it does not stay as it is."""
        params = (*self.cts, *self._duals.values())
        span = self.binding.span
        bp = define(name_of(self.binding), Lambda(params, self.body.block(())), span)
        kept = (self.binding,) if forward is None else tuple(forward)
        return Rule((*kept, bp), bp.vars[0], tuple(self._duals))


class Chad:
    """The transformation of one function, by its active parameters.

    `customs` has the derivatives that users have written.
    """

    def __init__(
        self, function: Function, targets: Sequence[Var], customs: Customs
    ) -> None:
        self.customs = customs
        self.active = active_variables(function.body, targets, cells=True)
        self.additions = Additions(function.body, self.active)
        # The cells opened in blocks around here whose sums are asked for, arrays of
        # recursions around here, and all ledgers.
        self.asked_cells: set[Var] = {v for v in self.active if v.type == LEDGER}
        # Those of them that hold a number whose sum is touched.
        self.touched_cells: set[Var] = set()
        # What the functions of recursions around here become.
        self.recursions: dict[Var, Reversed] = {}
        self._touched: Sequence[bool] = ()

    def is_active(self, operand: Operand) -> bool:
        return isinstance(operand, Var) and operand in self.active

    def adds(self, binding: Binding) -> bool:
        """Whether a binding adds something active to a cell that has a dual."""
        return not self.asked_cells.isdisjoint(self.additions.of(binding))

    def block(
        self,
        block: Block,
        asked: Sequence[bool],
        touched: Sequence[bool],
        params: Sequence[Var] = (),
        returned: Sequence[Var] = (),
    ) -> BlockReversal:
        """D of a block: `asked` and `touched` for each result; see `BlockReversal`."""
        return BlockReversal(self, block, asked, touched, params, returned)

    def inner(self, function: Function, targets: Sequence[Var]) -> Chad:
        """The transformation of another function, beside this one."""
        return Chad(function, targets, self.customs)

    def custom(
        self, op: Custom, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D of a call of a function with rules of its own."""
        return reverse(self, op, node, binding, asked)

    def rule(
        self, binding: Binding, asked: Sequence[bool], touched: Sequence[bool]
    ) -> Rule:
        """D of a binding that has active results, or adds to cells."""
        match binding.expr:
            case Apply(Prim() as op, args):
                return self._prim(op, args, binding, touched[0])
            case Apply(ArrayOp() as op) as node:
                self._touched = touched
                return op.differentiate(self, node, binding, asked)
            case If() as node:
                return self._if(node, binding, asked, touched)
            case Call(Var() as function) if function in self.recursions:
                return self.recursions[function].call(self, binding, asked)
            case (
                Apply() | Const() | Lambda() | Tuple() | Proj() | Inject() | Case()
                | Call() | Open() | View() | One() | Close()
            ):  # fmt: skip
                raise InternalError(f"chad: no rule for {type(binding.expr).__name__}")
            case _:
                assert_never(binding.expr)

    @property
    def touched(self) -> Sequence[bool]:
        """For each result of the operation being differentiated: is it touched?"""
        return self._touched

    @contextmanager
    def backpropagator(
        self, binding: Binding, asked: Sequence[bool], touched: bool = False
    ) -> Iterator[Backpropagator]:
        """A backpropagator for this binding, to be filled."""
        yield Backpropagator(binding, asked, touched)

    def inactive(self, binding: Binding, asked: Sequence[bool]) -> Rule:
        """The rule of an operation whose cotangent goes nowhere."""
        return Backpropagator(binding, asked, touched=False).rule()

    def influences(self, block: Block, wanted: Sequence[Var]) -> set[Var]:
        """The active variables that the wanted ones of a block may depend on.

        What is added to cells that have a dual is wanted too.
        """
        cells = self.asked_cells & self.additions.of_block(block)
        return self.additions.influences(block, cells.union(wanted))

    def reverse_recursion(
        self, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D of a function that calls itself: see `chad/recursion.py`."""
        return reverse_recursion(self, node, binding, asked)

    def touched_states(self, body: Lambda, finals: Sequence[bool]) -> list[bool]:
        """The states of a loop that are touched in every step."""
        return touched_states(body, finals, self.touched_cells)

    def _prim(
        self, op: Prim, args: tuple[Operand, ...], binding: Binding, touched: bool
    ) -> Rule:
        """D[op(t…)] = (op(t…), fun d. one t_c (∂op d) …)"""
        assert op.transpose is not None
        bp = Backpropagator(binding, (True,), touched)
        cts = op.transpose(bp.body, args, binding.vars[0], bp.cts[0])
        for arg, ct in zip(args, cts, strict=True):
            if ct is not None and isinstance(arg, Var) and arg in self.active:
                bp.body.emit(One(bp.dual(arg), (), ct))
        return bp.rule()

    def _if(
        self,
        node: If,
        binding: Binding,
        asked: Sequence[bool],
        touched: Sequence[bool],
    ) -> Rule:
        """D[if c then t else u]: each branch gives its own backpropagator.

        Both take the duals of the free variables of either branch.
        """
        branches = [self.block(b, asked, touched) for b in (node.then, node.orelse)]
        free = tuple(dict.fromkeys(v for b in branches for v in b.free))
        then, orelse = (b.primal_and_bp(binding, free) for b in branches)
        bp = Var(f"{name_of(binding)}_bp", then.results[-1].type)
        new = Binding((*binding.vars, bp), If(node.cond, then, orelse), binding.span)
        return Rule((new,), bp, free)
