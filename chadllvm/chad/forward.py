"""Forward mode: every active variable x gets a tangent `x_t`, of the type of x.

    y = mul(x, x)        →        y = mul(x, x);  y_t = x_t * x + x_t * x

The tangent of a primitive is the sum of what its active arguments contribute. As each
contribution is a number times a number, it is its own transpose: the tangent through
one argument is the transposed derivative of the row applied to that argument's tangent.
So one rule serves both modes. Bodies of array operations give tangents as further
results, and the tangent of a cell is a cell: the language is closed under this
transformation, so that it may be applied to CHAD's own output (after closure
conversion).

A zero tangent contributes zero, whatever it is multiplied by (`scale`). In reverse that
holds where the structure of the program leaves a cotangent untouched; here any tangent
may be zero since the user holds an input fixed, and what depends on fixed inputs alone
must not make a NaN (0 * inf) of the others' slope.

Earlier stages guarantee that there are no products, sums, functions and calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from chadllvm.chad.activity import active_variables
from chadllvm.chad.custom import NO_CUSTOMS, Customs
from chadllvm.chad.custom_forward import push
from chadllvm.chad.tangent_heaps import TangentHeaps
from chadllvm.chad.zeros import in_need_of_zeros
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.rewrite import Renaming
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
    literal,
    operands,
)
from chadllvm.ir.types import Array, Type, has_float, is_float
from chadllvm.ir.typing import SCALAR_OF_DTYPE
from chadllvm.ops.custom import Custom
from chadllvm.ops.index import Dim, Zeros
from chadllvm.ops.recurse import Moved
from chadllvm.support.diagnostic import NO_SPAN, InternalError, Span


def push_forward(
    function: Function, wrt: Sequence[int], customs: Customs = NO_CUSTOMS
) -> Function:
    """The function that also takes and returns tangents.

    Behind its parameters stand the tangents of those in `wrt`, which hold reals; behind
    its results those of all results that hold reals, zeros if they are inactive.
    """
    moved = [function.params[i] for i in wrt]
    block = function.body
    active = active_variables(block, moved)
    wanted = [r for r in block.results if has_float(r.type)]
    zeros = in_need_of_zeros(block, wanted, active)
    forward = Forward(block, active, zeros, customs)
    tangents = forward.bind(moved)
    forward.hold_fixed([p for p in function.params if p not in moved], function.span)
    out = forward.block(block)
    results = (*block.results, *(forward.tangent(r) for r in wanted))
    body = Block((*forward.top.bindings, *out.bindings), results)
    params = (*function.params, *tangents)
    return Function(f"{function.name}_jvp", params, body, function.span)


class Forward:
    """The transformation of one function; knows the tangents of its variables.

    `top` holds bindings that go to the beginning of the function; `customs` has the
    derivatives that users have written.
    """

    def __init__(
        self, body: Block, active: set[Var], zeros: set[Var], customs: Customs
    ) -> None:
        self._active, self._moving = active, active | zeros
        self.customs = customs
        self._tangents: dict[Var, Operand] = {}
        self.top = Builder()
        # The heaps of nodes' tangents, and what calls of the functions of recursions
        # become.
        self.heaps = TangentHeaps(body, self.top)
        self.recursions: dict[Var, Moved] = {}

    def moves(self, operand: Operand) -> bool:
        """Whether this operand has a tangent."""
        return isinstance(operand, Var) and operand in self._moving

    def is_active(self, operand: Operand) -> bool:
        """Whether this operand has a tangent that is not sure to be zero."""
        return isinstance(operand, Var) and operand in self._active

    def flags(self, variables: Sequence[Operand]) -> list[bool]:
        return [self.moves(v) for v in variables]

    def tangent(self, operand: Operand) -> Operand:
        """The tangent of an operand; an inactive scalar's is a literal zero."""
        if isinstance(operand, Var) and operand in self._tangents:
            return self._tangents[operand]
        if not is_float(operand.type):
            raise InternalError(f"forward: no tangent of {operand}")
        return literal(0, operand.type)

    def has_tangent(self, operand: Operand) -> bool:
        """Whether the tangent of this operand is bound already."""
        return isinstance(operand, Var) and operand in self._tangents

    def set(self, var: Var, tangent: Operand) -> None:
        self._tangents[var] = tangent

    def bind(self, variables: Sequence[Var]) -> tuple[Var, ...]:
        """Variables for the tangents of those that have one."""
        new = {v: Var(f"{v.name}_t", v.type) for v in variables}
        kept = {v: t for v, t in new.items() if self.moves(v)}
        self._tangents.update(kept)
        return tuple(kept.values())

    def tangents(
        self, operands: Sequence[Operand], variables: Sequence[Var]
    ) -> tuple[Operand, ...]:
        """The tangents of the operands that stand for variables with a tangent."""
        pairs = zip(operands, variables, strict=False)
        return tuple(self.tangent(o) for o, v in pairs if self.moves(v))

    def hold_fixed(self, params: Sequence[Var], span: Span) -> None:
        """Zero tangents for the parameters among these that need one."""
        self.top.span = span
        for param in params:
            if self.moves(param) and isinstance(param.type, Array):
                axes = range(param.type.rank)
                dims = [self.top.one(Apply(Dim(k), (param,))) for k in axes]
                self.set(param, self._zeros(dims, param.type.elem, param.name))

    def _zeros(self, dims: Sequence[Operand], elem: Type, name: str) -> Var:
        return self.top.one(Apply(Zeros(elem), tuple(dims)), f"{name}_t")

    def block(self, block: Block) -> Builder:
        """The bindings of a block, with those of the tangents."""
        out = Builder()
        for binding in block.bindings:
            out.span = binding.span
            self._binding(binding, out)
        out.span = NO_SPAN
        return out

    def _binding(self, binding: Binding, out: Builder) -> None:
        match binding.expr:
            case Apply(Prim() as op, args):
                out.bindings.append(binding)
                if self.moves(binding.vars[0]):
                    self.set(binding.vars[0], self._prim(op, args, binding, out))
            case Apply(ArrayOp() as op) as node:
                op.push_forward(self, node, binding, out)
            case If() as node:
                self._if(node, binding, out)
            case Const(value):
                out.bindings.append(binding)
                if self.moves(binding.vars[0]):
                    dims = [lit(n) for n in value.shape]
                    elem = SCALAR_OF_DTYPE[value.dtype]
                    zeros = self._zeros(dims, elem, binding.vars[0].name)
                    self.set(binding.vars[0], zeros)
            case Open() | View() | One() | Close():
                self._cell(binding, out)
            case Call(Var() as function) as call if function in self.recursions:
                self.recursions[function].call(self, call, binding, out)
            case (
                Apply() | Lambda() | Tuple() | Proj() | Inject() | Case() | Call()
            ):  # fmt: skip
                name = type(binding.expr).__name__
                raise InternalError(f"forward: no rule for {name}")
            case _:
                assert_never(binding.expr)

    def _cell(self, binding: Binding, out: Builder) -> None:
        """What is done with a cell is done with its tangent's cell."""
        out.bindings.append(binding)
        match binding.expr:
            case Open(content, dims) if self.moves(binding.vars[0]):
                self.again(binding.vars, Open(content, dims), out)
            case View(cell, indices) if self.moves(binding.vars[0]):
                self.again(binding.vars, View(self.tangent(cell), indices), out)
            case Close(cell) if self.moves(binding.vars[0]):
                self.again(binding.vars, Close(self.tangent(cell)), out)
            case One(cell, indices, value) if self.moves(value) and self.moves(cell):
                out.emit(One(self.tangent(cell), indices, self.tangent(value)))

    def again(
        self, variables: Sequence[Var], expr: Apply | Open | View | Close, out: Builder
    ) -> None:
        """Bind the tangents of these variables to an expression of tangents."""
        out.bindings.append(Binding(self.bind(variables), expr, out.span))

    def custom(self, op: Custom, node: Apply, binding: Binding, out: Builder) -> None:
        """A call of a function with rules of its own."""
        push(self, op, node, binding, out)

    def same(self, node: Apply, binding: Binding, out: Builder) -> None:
        """The rule of an operation without bodies that only moves numbers about."""
        out.bindings.append(binding)
        if any(self.flags(binding.vars)):
            args = tuple(self.tangent(a) if self.moves(a) else a for a in node.args)
            self.again(binding.vars, Apply(node.op, args), out)

    def _if(self, node: If, binding: Binding, out: Builder) -> None:
        blocks = []
        for branch in (node.then, node.orelse):
            inner = self.block(branch)
            tangents = self.tangents(branch.results, binding.vars)
            blocks.append(inner.block((*branch.results, *tangents)))
        variables = (*binding.vars, *self.bind(binding.vars))
        out.bindings.append(Binding(variables, If(node.cond, *blocks), binding.span))

    def _prim(
        self, op: Prim, args: Sequence[Operand], binding: Binding, out: Builder
    ) -> Operand:
        """The sum of the contributions of the active arguments."""
        assert op.transpose is not None
        (var,) = binding.vars
        if op.changes_width:
            return out.prim(op.name, self.tangent(args[0]), hint=f"{var.name}_t")
        transposed = Builder(binding.span)
        ct = Var("ct", var.type)
        cts = op.transpose(transposed, args, var, ct)
        pairs = zip(args, cts, strict=True)
        through = [(a, c) for a, c in pairs if self.moves(a) and c is not None]
        linear, needed = _dependent(transposed.bindings, ct, [c for _, c in through])
        out.bindings += [b for b in needed if b not in linear]
        total: Operand | None = None
        name = f"{var.name}_t"
        for arg, found in through:
            renaming = Renaming({ct: self.tangent(arg)}, fresh=True)
            term = [b for b in _needed(transposed.bindings, [found]) if b in linear]
            out.bindings += [renaming.binding(b) for b in term]
            total = _sum(total, renaming.operand(found), name, out)
        return literal(0, var.type) if total is None else total


def _dependent(
    bindings: Sequence[Binding], ct: Var, wanted: Sequence[Operand]
) -> tuple[set[Binding], list[Binding]]:
    """The bindings that depend on `ct`, and, in order, those that are needed."""
    depends: set[Operand] = {ct}
    linear: set[Binding] = set()
    for binding in bindings:
        if not depends.isdisjoint(operands(binding.expr)):
            depends.update(binding.vars)
            linear.add(binding)
    return linear, _needed(bindings, wanted)


def _needed(bindings: Sequence[Binding], wanted: Sequence[Operand]) -> list[Binding]:
    """The bindings that these operands are computed by."""
    used = set(wanted)
    found = []
    for binding in reversed(bindings):
        if not used.isdisjoint(binding.vars):
            used.update(operands(binding.expr))
            found.append(binding)
    return found[::-1]


def _sum(total: Operand | None, term: Operand, name: str, out: Builder) -> Operand:
    """The total with a term added; a term that was just negated is subtracted."""
    if total is None:
        return term
    match out.bindings[-1].expr:
        case Apply(Prim(name="neg"), (negated,)) if out.bindings[-1].vars == (term,):
            out.bindings.pop()
            return out.prim("sub", total, negated, hint=name)
        case _:
            return out.prim("add", total, term, hint=name)
