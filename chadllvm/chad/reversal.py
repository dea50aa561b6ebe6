"""D of a flat block: its forward bindings, and one backpropagator for all of them.

The backpropagator goes backwards over the bindings. A cell is opened in front of the
last use of a variable, and closed where the variable was bound; what was added to it
goes to the backpropagator of the binding. What the block does with cells of its own is
reversed in place: where it closes a cell, the cell's dual becomes known, and where it
adds to a cell, the dual is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chadllvm.chad.names import Branch, Inside, Part, Row, Same, bound_in, names
from chadllvm.chad.touched import touched_variables
from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    If,
    Lambda,
    One,
    Open,
    Operand,
    Var,
    View,
)
from chadllvm.ir.types import Acc, Array, Box
from chadllvm.ops.index import Dim, Index, MakeBox, Unbox
from chadllvm.ops.ledger import LEDGER, Ledger, Peek
from chadllvm.support.diagnostic import InternalError, Span

if TYPE_CHECKING:
    from chadllvm.chad.transform import Chad


def define(name: str, function: Lambda, span: Span) -> Binding:
    """The binding of the backpropagator of what has this name."""
    return Binding((Var(f"{name}_bp", function.type),), function, span)


def name_of(binding: Binding) -> str:
    """What the backpropagator of a binding is named after."""
    return binding.vars[0].name if binding.vars else "loop"


def dual_of(var: Var) -> Var:
    """A new variable for the dual: a value's cell, or a cell's cotangent."""
    match var.type:
        case Acc(_, is_read=True):
            return Var(f"{var.name}_ct", var.type)
        case Acc(content):
            return Var(f"{var.name}_ct", content)
        case Box(content):
            return Var(f"{var.name}_c", Acc(content))
        case _:
            return Var(f"{var.name}_c", Acc(var.type))


class BlockReversal:
    """D of a block: its forward bindings, and the body of its backpropagator.

    The backpropagator takes the cotangents of the results asked for and the duals of
    the free variables in `free`; it returns the cotangents of `returned`, parameters
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
        self._bound = {v: b for b in block.bindings for v in b.vars}
        self._local = {*self._bound, *params}
        self._duals: dict[Var, Var] = {}
        self._free: dict[Var, Var] = {}
        seeds = [a and t for a, t in zip(asked, touched, strict=True)]
        self._touched = touched_variables(block, seeds, chad.touched_cells)
        # What the cell of a variable needs of it, bound in the forward part behind it.
        self._behind: dict[Var, list[Binding]] = {}
        self._names = names(block)
        self._cts: list[Var] = []
        for result, flag in zip(block.results, asked, strict=True):
            if flag:
                self._seed(result)
        self.forward = self._reverse(params, returned)
        self._returned = tuple(
            self._body.one(Close(self._dual(v)), f"{v.name}_ct") for v in returned
        )

    @property
    def results(self) -> tuple[Operand, ...]:
        """The results of the block itself."""
        return self._block.results

    @property
    def free(self) -> tuple[Var, ...]:
        """The free variables whose duals the backpropagator takes."""
        return tuple(self._free)

    def function(self, free: Sequence[Var] | None = None) -> Lambda:
        """The backpropagator, for these free variables (by default its own)."""
        order = self.free if free is None else free
        params = [self._free.get(v) or dual_of(v) for v in order]
        return Lambda((*self._cts, *params), self._body.block(self._returned))

    def primal_and_bp(
        self, binding: Binding, free: Sequence[Var] | None = None
    ) -> Block:
        """The block of the primal results followed by the backpropagator."""
        bp = define(name_of(binding), self.function(free), binding.span)
        results = (*self._block.results, bp.vars[0])
        return Block((*self.forward, bp), results)

    def _seed(self, result: Operand) -> None:
        """A parameter for the cotangent of a result, added to the result's cell."""
        name = result.name if isinstance(result, Var) else "result"
        ct = Var(f"{name}_ct", result.type)
        self._cts.append(ct)
        if isinstance(result, Var) and self._chad.is_active(result):
            self._body.emit(One(self._dual(result), (), self._unboxed(ct)))

    def _unboxed(self, value: Var) -> Var:
        if not isinstance(value.type, Box):
            return value
        return self._body.one(Apply(Unbox(), (value,)), value.name)

    def _reverse(
        self, params: Sequence[Var], returned: Sequence[Var]
    ) -> tuple[Binding, ...]:
        """Go backwards over the bindings; the forward bindings in their own order."""
        pieces = []
        for binding in reversed(self._block.bindings):
            forward = list(self._binding(binding))
            for var in binding.vars:
                forward += self._behind.get(var, ())
            pieces.append(forward)
        for var in returned:
            self._dual(var)
        self._lose(v for v in params if v not in returned)
        pieces.append([b for v in params for b in self._behind.get(v, ())])
        return tuple(b for piece in reversed(pieces) for b in piece)

    def _binding(self, binding: Binding) -> Sequence[Binding]:
        """What replaces a binding; adds the call of its backpropagator to the body."""
        self._body.span = binding.span
        match binding.expr:
            case Close(Var() as cell):
                self._close(binding.vars[0], cell)
            case One(Var() as cell, indices, value) if self._chad.adds(binding):
                assert isinstance(value, Var)
                if cell.type == LEDGER:
                    part = self._body.one(Apply(Peek(), (self._dual(cell), *indices)))
                else:
                    part = self._part(cell, indices)
                self._body.emit(One(self._dual(value), (), part))
            case _:
                return self._rule(binding)
        return (binding,)

    def _lose(self, variables: Iterable[Var]) -> None:
        """Close the cells of inactive arrays, whose cotangents go nowhere."""
        for var in variables:
            is_value = not isinstance(var.type, Acc) and not self._chad.is_active(var)
            if is_value and var in self._duals and var not in self._names:
                self._closed(var)

    def _rule(self, binding: Binding) -> Sequence[Binding]:
        self._lose(binding.vars)
        asked = [self._is_asked(v) for v in binding.vars]
        if not any(asked) and not self._chad.adds(binding):
            return (binding,)
        touched = [v in self._touched for v in binding.vars]
        rule = self._chad.rule(binding, asked, touched)
        chosen = zip(binding.vars, asked, strict=True)
        cts = [self._closed(v) for v, flag in chosen if flag]
        if not rule.free:
            return (binding,)  # The derivative is zero, whatever it is called with.
        duals = [self._dual(v) for v in rule.free]
        self._body.emit(Call(rule.bp, (*cts, *duals)))
        return rule.forward

    def _is_asked(self, var: Var) -> bool:
        """Whether a cotangent of this variable goes to what it was made from.

        That of a name is added there at once. An inactive array has a dual only beside
        an active one, when a branch gives either: what is added to it is lost.
        """
        is_value = self._chad.is_active(var) and not isinstance(var.type, Acc)
        return is_value and var in self._duals and var not in self._names

    def _closed(self, var: Var) -> Var:
        """The cotangent of a variable, which has got all that goes to it."""
        ct = self._body.one(Close(self._duals[var]), f"{var.name}_ct")
        if not isinstance(var.type, Box):
            return ct
        return self._body.one(Apply(MakeBox(), (ct,)), ct.name)

    # Cells of the program itself.

    def _close(self, total: Var, cell: Var) -> None:
        """s = close c: from here on backwards, the dual of c is the cotangent of s."""
        if total in self._duals:
            self._duals[cell] = self._closed(total)
            self._chad.asked_cells.add(cell)
            if cell in self._touched:
                self._chad.touched_cells.add(cell)

    def _part(self, cell: Var, indices: tuple[Operand, ...]) -> Var:
        """The cotangent of a cell at a path."""
        ct = self._dual(cell)
        if not indices:
            return ct
        return self._unboxed(self._body.one(Apply(Index(), (ct, *indices)), ct.name))

    def _cotangent(self, cell: Var) -> Var:
        """The dual of a cell that is not closed here, or not asked for."""
        name = f"{cell.name}_ct"
        match self._bound[cell].expr:
            case View(Var() as whole, indices):
                return self._part(whole, indices)
            case If() as node:
                position = self._bound[cell].vars.index(cell)
                return self._body.one(self._choice(node, position, {}), name)
            case Apply(Ledger()) as ledger:
                return self._body.one(ledger, name)
            case Open() as opened:
                # Nobody asks for the sum, but for that of a branch's other cell.
                return self._body.one(Close(self._body.one(opened)), name)
            case _:
                raise InternalError(f"chad: {cell.name} is a cell of unknown origin")

    def _choice(self, node: If, position: int, inside: Inside) -> If:
        """The cotangent of the cell that a branch gives, `inside` of others."""
        blocks = []
        for branch in (node.then, node.orelse):
            inner = self._body.child()
            bound = {**inside, **bound_in(branch)}
            part = self._given(branch.results[position], bound, inner)
            blocks.append(inner.block([part]))
        return If(node.cond, *blocks)

    def _given(self, cell: Operand, inside: Inside, out: Builder) -> Var:
        """The cotangent of a cell that is chosen or made inside of branches."""
        assert isinstance(cell, Var)
        binding = inside.get(cell)
        match binding and binding.expr:
            case None:
                return self._dual(cell)
            case View(Var() as whole, indices):
                ct = self._given(whole, inside, out)
                part = out.one(Apply(Index(), (ct, *indices)), ct.name)
                if not isinstance(part.type, Box):
                    return part
                return out.one(Apply(Unbox(), (part,)), ct.name)
            case If() as node:
                assert binding is not None
                choice = self._choice(node, binding.vars.index(cell), inside)
                return out.one(choice, f"{cell.name}_ct")
            case _:
                raise InternalError(f"chad: {cell.name} is made in a branch")

    # Duals.

    def _dual(self, var: Var) -> Var:
        """The dual of a variable, made where it is first needed."""
        if var not in self._duals:
            self._duals[var] = self._new_dual(var)
        return self._duals[var]

    def _new_dual(self, var: Var) -> Var:
        if var not in self._local:
            self._free[var] = dual_of(var)
            return self._free[var]
        if isinstance(var.type, Acc):
            return self._cotangent(var)
        name = f"{var.name}_c"
        match self._names.get(var):
            case Row(array, indices):
                return self._body.one(View(self._dual(array), indices), name)
            case Same(array):
                return self._dual(array)
            case Branch(cond, then, orelse):
                blocks = [self._chosen(part, name) for part in (then, orelse)]
                return self._body.one(If(cond, *blocks), name)
            case None:
                return self._open(var)

    def _chosen(self, part: Part, name: str) -> Block:
        """The cell of what a branch gives."""
        inner = self._body.child()
        match part:
            case Var():
                cell = self._dual(part)
            case Row(array, indices):
                cell = inner.one(View(self._dual(array), indices), name)
            case Branch(cond, then, orelse):
                blocks = [self._chosen(side, name) for side in (then, orelse)]
                cell = inner.one(If(cond, *blocks), name)
        return inner.block([cell])

    def _open(self, var: Var) -> Var:
        """A cell for a variable of the block."""
        behind = Builder(self._span_of(var))
        opened = open_like(var, behind)
        self._behind[var] = behind.bindings
        return self._body.one(opened, f"{var.name}_c")

    def _span_of(self, var: Var) -> Span:
        if var in self._bound:
            return self._bound[var].span
        bindings = self._block.bindings
        return bindings[0].span if bindings else Builder().span


def open_like(var: Var, out: Builder) -> Open:
    """A cell for the cotangents of a variable; what it needs of it is bound in `out`.

    The dimensions of an array are bound, so that the backpropagator captures them and
    not the array. Only where each element has dimensions of its own is it the array.
    """
    match var.type:
        case Box():
            return open_like(out.one(Apply(Unbox(), (var,)), var.name), out)
        case Array(Box()):
            return Open(var.type, (var,))
        case Array(_, rank):
            axes = (Apply(Dim(axis), (var,)) for axis in range(rank))
            dims = tuple(out.one(axis, f"{var.name}_dim") for axis in axes)
            return Open(var.type, dims)
        case _:
            return Open(var.type)
