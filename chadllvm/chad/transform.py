"""D[·]: the monadic CHAD transformation (paper, Fig. 6), core to core.

For Γ ⊢ t : τ, D[t] is a primal of type τ and a backpropagator `bp = fun (d, cells) ->
()` that adds the cotangent d of t to the cells of the free variables of t. Here t is a
binding of a flat block: D keeps the binding (D[τ]₁ = τ, so primals keep their names)
and adds `bp = fun …` behind it. For a block, D makes one backpropagator out of those of
its bindings, called in reverse order: for each variable a cell is opened before its
last use, and closed where it was bound.

A variable that only names (part of) another array has no cell of its own: its cell is a
view of the other's. Earlier stages guarantee that there are no products and sums, and
that calls are inlined.

Untouched means not run. A variable is *touched* if its cotangent surely is used; the
cotangent of any other may be an untouched zero, which has to stay zero whatever it is
multiplied by (`scale`). What is touched follows from the program's structure alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import assert_never

from chadllvm.chad.activity import influences
from chadllvm.chad.touched import touched_states, touched_variables
from chadllvm.diagnostic import InternalError, Span
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
from chadllvm.ir.types import Acc, Array
from chadllvm.ops.index import Dim, Index


@dataclass(frozen=True)
class Rule:
    """D of one binding: what replaces it, and how its backpropagator is called.

    `bp` takes the cotangents of the results asked for, then the cells of `cells`.
    """

    forward: tuple[Binding, ...]
    bp: Var
    cells: tuple[Var, ...]


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
        self._cells: dict[Var, Var] = {}

    def cell(self, var: Var) -> Var:
        """The cell of a variable of the source: a parameter of the backpropagator."""
        if var not in self._cells:
            self._cells[var] = Var(f"{var.name}_c", Acc(var.type))
        return self._cells[var]

    def rule(self, forward: Sequence[Binding] | None = None) -> Rule:
        """The rule; `forward` replaces the binding where it does not stay as it is."""
        params = (*self.cts, *self._cells.values())
        span = self.binding.span
        bp = define(_name(self.binding), Lambda(params, self.body.block(())), span)
        kept = (self.binding,) if forward is None else tuple(forward)
        return Rule((*kept, bp), bp.vars[0], tuple(self._cells))


def define(name: str, function: Lambda, span: Span) -> Binding:
    """The binding of the backpropagator of what has this name."""
    return Binding((Var(f"{name}_bp", function.type),), function, span)


def _name(binding: Binding) -> str:
    return binding.vars[0].name if binding.vars else "loop"


class Chad:
    """The transformation of one function whose active variables are known."""

    def __init__(self, active: set[Var]) -> None:
        self.active = active
        self._touched: Sequence[bool] = ()

    def is_active(self, operand: Operand) -> bool:
        return isinstance(operand, Var) and operand in self.active

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

    def rule(
        self, binding: Binding, asked: Sequence[bool], touched: Sequence[bool]
    ) -> Rule:
        """D of a binding that has active results."""
        match binding.expr:
            case Apply(Prim() as op, args):
                return self._prim(op, args, binding, touched[0])
            case Apply(ArrayOp() as op) as node:
                self._touched = touched
                return op.differentiate(self, node, binding, asked)
            case If() as node:
                return self._if(node, binding, asked, touched)
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
        """The active variables that the wanted ones of a block may depend on."""
        return influences(block, wanted, self.active)

    def touched_states(self, body: Lambda, finals: Sequence[bool]) -> list[bool]:
        """The states of a loop that are touched in every step."""
        return touched_states(body, finals)

    def _prim(
        self, op: Prim, args: tuple[Operand, ...], binding: Binding, touched: bool
    ) -> Rule:
        """D[op(t…)] = (op(t…), fun d. one t_c (∂op d) …)"""
        assert op.transpose is not None
        bp = Backpropagator(binding, (True,), touched)
        cts = op.transpose(bp.body, args, binding.vars[0], bp.cts[0])
        for arg, ct in zip(args, cts, strict=True):
            if ct is not None and isinstance(arg, Var) and arg in self.active:
                bp.body.emit(One(bp.cell(arg), (), ct))
        return bp.rule()

    def _if(
        self,
        node: If,
        binding: Binding,
        asked: Sequence[bool],
        touched: Sequence[bool],
    ) -> Rule:
        """D[if c then t else u]: each branch gives its own backpropagator.

        Both take the cells of the free variables of either branch.
        """
        branches = [self.block(b, asked, touched) for b in (node.then, node.orelse)]
        cells = tuple(dict.fromkeys(v for b in branches for v in b.cells))
        then, orelse = (b.primal_and_bp(binding, cells) for b in branches)
        bp = Var(f"{binding.vars[0].name}_bp", then.results[-1].type)
        new = Binding((*binding.vars, bp), If(node.cond, then, orelse), binding.span)
        return Rule((new,), bp, cells)


@dataclass(frozen=True)
class _RowView:
    """The cell of a row is a view of the array's cell."""

    array: Var
    indices: tuple[Operand, ...]


@dataclass(frozen=True)
class _BranchView:
    """The cell of `if c then a else b`, arrays from outside, is that of a or of b."""

    cond: Operand
    then: Var
    orelse: Var


class BlockReversal:
    """D of a block: its forward bindings, and the body of its backpropagator.

    The backpropagator takes the cotangents of the results asked for and the cells of
    the free variables in `cells`; it returns the cotangents of `returned`, parameters
    that the block is under (the state of a loop).
    """

    def __init__(
        self,
        chad: Chad,
        block: Block,
        asked: Sequence[bool],
        touched: Sequence[bool],
        params: Sequence[Var],
        returned: Sequence[Var],
    ) -> None:
        self._chad = chad
        self._block = block
        self._body = Builder()
        self._local = {v for b in block.bindings for v in b.vars}
        self._local.update(params)
        self._cells: dict[Var, Var] = {}
        self._free: dict[Var, Var] = {}
        seeds = [a and t for a, t in zip(asked, touched, strict=True)]
        self._touched = touched_variables(block, seeds)
        self._dims: dict[Var, tuple[Var, ...]] = {}
        self._views = self._find_views()
        self._cts: list[Var] = []
        for result, flag in zip(block.results, asked, strict=True):
            if flag:
                self._seed(result)
        self.forward = self._reverse(params, returned)
        self._returned = tuple(
            self._body.one(Close(self._cell(v)), f"{v.name}_ct") for v in returned
        )

    @property
    def cells(self) -> tuple[Var, ...]:
        """The free variables of the block that its backpropagator adds to."""
        return tuple(self._free)

    def function(self, cells: Sequence[Var] | None = None) -> Lambda:
        """The backpropagator, with these cells as parameters (by default its own)."""
        order = self.cells if cells is None else cells
        params = [self._free.get(v) or Var(f"{v.name}_c", Acc(v.type)) for v in order]
        return Lambda((*self._cts, *params), self._body.block(self._returned))

    def primal_and_bp(
        self, binding: Binding, cells: Sequence[Var] | None = None
    ) -> Block:
        """The block of the primal results followed by the backpropagator."""
        bp = define(_name(binding), self.function(cells), binding.span)
        results = (*self._block.results, bp.vars[0])
        return Block((*self.forward, bp), results)

    def _seed(self, result: Operand) -> None:
        """A parameter for the cotangent of a result, added to the result's cell."""
        name = result.name if isinstance(result, Var) else "result"
        ct = Var(f"{name}_ct", result.type)
        self._cts.append(ct)
        if isinstance(result, Var) and self._chad.is_active(result):
            self._body.emit(One(self._cell(result), (), ct))

    def _reverse(
        self, params: Sequence[Var], returned: Sequence[Var]
    ) -> tuple[Binding, ...]:
        """Go backwards over the bindings; the forward bindings in their own order."""
        pieces = []
        for binding in reversed(self._block.bindings):
            forward = list(self._binding(binding))
            for var in binding.vars:
                forward += self._dim_bindings(var, binding.span)
            pieces.append(forward)
        for var in returned:
            self._cell(var)
        span = self._block.bindings[0].span if self._block.bindings else Builder().span
        pieces.append([d for v in params for d in self._dim_bindings(v, span)])
        return tuple(b for piece in reversed(pieces) for b in piece)

    def _binding(self, binding: Binding) -> Sequence[Binding]:
        """What replaces a binding; adds the call of its backpropagator to the body."""
        asked = [v in self._cells and v not in self._views for v in binding.vars]
        if not any(asked):
            return (binding,)
        touched = [v in self._touched for v in binding.vars]
        rule = self._chad.rule(binding, asked, touched)
        self._body.span = binding.span
        cts = [
            self._body.one(Close(self._cells[v]), f"{v.name}_ct")
            for v, flag in zip(binding.vars, asked, strict=True)
            if flag
        ]
        if not rule.cells:
            return (binding,)  # The derivative is zero, whatever it is called with.
        cells = [self._cell(v) for v in rule.cells]
        self._body.emit(Call(rule.bp, (*cts, *cells)))
        return rule.forward

    def _cell(self, var: Var) -> Var:
        """The cell of a variable, made where it is first needed."""
        if var not in self._cells:
            self._cells[var] = self._new_cell(var)
        return self._cells[var]

    def _new_cell(self, var: Var) -> Var:
        name = f"{var.name}_c"
        if var not in self._local:
            self._free[var] = Var(name, Acc(var.type))
            return self._free[var]
        match self._views.get(var):
            case _RowView(array, indices):
                return self._body.one(View(self._cell(array), indices), name)
            case _BranchView(cond, then, orelse):
                cells = self._cell(then), self._cell(orelse)
                blocks = (Block((), (cell,)) for cell in cells)
                return self._body.one(If(cond, *blocks), name)
            case None:
                return self._body.one(Open(var.type, self._dims_of(var)), name)

    def _dims_of(self, var: Var) -> tuple[Var, ...]:
        """The dimensions of an array, bound in the forward part behind the array."""
        if not isinstance(var.type, Array):
            return ()
        dims = tuple(
            Var(f"{var.name}_dim", Dim(axis).result_types([var.type], ())[0])
            for axis in range(var.type.rank)
        )
        self._dims[var] = dims
        return dims

    def _dim_bindings(self, var: Var, span: Span) -> list[Binding]:
        dims = self._dims.get(var, ())
        return [
            Binding((dim,), Apply(Dim(axis), (var,)), span)
            for axis, dim in enumerate(dims)
        ]

    def _find_views(self) -> dict[Var, _RowView | _BranchView]:
        """The active arrays bound in the block that are (parts of) other arrays."""
        views: dict[Var, _RowView | _BranchView] = {}
        for binding in self._block.bindings:
            for position, var in enumerate(binding.vars):
                if not isinstance(var.type, Array) or var not in self._chad.active:
                    continue
                match binding.expr:
                    case Apply(Index(), (Var() as array, *indices)):
                        views[var] = _RowView(array, tuple(indices))
                    case If(cond, then, orelse):
                        pair = then.results[position], orelse.results[position]
                        inside = {
                            v
                            for b in (then, orelse)
                            for x in b.bindings
                            for v in x.vars
                        }
                        match pair:
                            case Var() as a, Var() as b if (
                                not inside & {a, b} and {a, b} <= self._chad.active
                            ):
                                views[var] = _BranchView(cond, a, b)
        return views
