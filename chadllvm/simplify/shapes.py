"""Sizes of arrays in terms of older ones: the states of a loop keep their shape.

    n = dim[0](a)                         n = dim[0](a)
    b = iterate(t, a) { _, s ->           b = iterate(t, a) { _, s ->
      m = dim[0](s)                         r = build(n) { i ->
      r = build(m) { i ->             →       k = bound(i, n)
        d = dim[0](s)                         …
        k = bound(i, d)                       yield y }
        …                                   yield r }
        yield y }                         return b, n
      yield r }
    m' = dim[0](b)
    return b, m'

A state has the size of its initial value if every step keeps that size, given that the
states before it had theirs. First this is supposed of all states of all loops; what a
walk over the program then does not confirm is supposed no more, and so on until all is
confirmed: then it holds, by induction over the steps.

What a loop makes of no rows has no columns (but for `sized`), even if the initial
value, an argument, has. So a size of the rows may be kept only if there are rows. Then
it is replaced where there are some for sure: inside of a loop over them. The size of
the rows that a loop of n steps makes, if it is known to be m in front of it, is
`iselect(ilt(0, n), m, 0)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere, free_vars, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Array
from chadllvm.ops.index import Dim
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.affine import Form
from chadllvm.simplify.emit import Emitter
from chadllvm.simplify.scopes import FactWalk
from chadllvm.support.diagnostic import Span


def shapes(program: Program) -> Program:
    """Put sizes known before in the place of sizes of arrays."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    if not _may_know(function):
        return function
    kept = _supposed(function)
    while True:
        walk = _Replacing(function.params, kept)
        body = walk.block(function.body)
        if not walk.refuted:
            return with_body(function, body)


def _may_know(function: Function) -> bool:
    """Whether a size is asked for that may be known: not only those of parameters,
    each once and none of them compared.
    """
    params = set(function.params)
    asked: set[tuple[Operand, int]] = set()
    for binding in everywhere(function.body):
        match binding.expr:
            case Apply(Dim(axis), (array,)):
                if array not in params or (array, axis) in asked:
                    return True
                asked.add((array, axis))
            case Apply(Prim(name="same")):
                return True
    return False


def _supposed(function: Function) -> Sizes:
    """What is supposed at first: every step keeps all sizes."""
    return {state: [Kept.ALWAYS] * rank for state, rank in _states(function.body)}


def kept_sizes(function: Function) -> Sizes:
    """For the states of all loops, which sizes every step keeps."""
    kept = _supposed(function)
    while kept and ShapeWalk(function.params, kept).refutes(function.body):
        pass
    return kept


def kept_states(function: Function) -> frozenset[Var]:
    """The states of all loops that have one shape in all steps."""
    sizes = kept_sizes(function)
    return frozenset(s for s, kept in sizes.items() if set(kept) == {Kept.ALWAYS})


class Kept(IntEnum):
    """Whether a size of a loop's state is that of the initial value."""

    ALWAYS = 0
    WITH_ROWS = 1
    NEVER = 2


# For each state of a loop that is an array, whether its sizes are kept, by axis.
Sizes = dict[Var, list[Kept]]


def _states(block: Block) -> Iterator[tuple[Var, int]]:
    """The states of loops that are arrays, with their ranks."""
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Iterate(), _, (body,)):
                for state in body.params:
                    if isinstance(state.type, Array):
                        yield state, state.type.rank


class ShapeWalk(FactWalk):
    """Walks over a program under what is supposed of the states of its loops."""

    def __init__(self, params: tuple[Var, ...], kept: Sizes) -> None:
        super().__init__(params)
        self.kept = kept
        self.refuted = False
        # The initial value, for a state and for its final value; what was updated.
        self.origin: dict[Var, Var] = {}

    def refutes(self, block: Block) -> bool:
        """Whether something supposed is not confirmed; it is supposed no more."""
        self.block(block)
        return self.refuted

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Iterate(), (_, *inits), (body,)):
                for k, init in enumerate(inits):
                    state = body.params[1 + k]
                    self._check(state, init, body.body.results[k])
                    self._suppose(binding.vars[k], state, init)
            case Apply(Update(), (Var() as array, *_)):
                self.origin[binding.vars[0]] = array
        self.keep(binding)

    def loop_expr(self, expr: Apply) -> Apply:
        if isinstance(expr.op, Iterate):
            (body,) = expr.bodies
            inits = self.operands(expr.args[1:])
            for state, init in zip(body.params[1:], inits, strict=True):
                self._suppose(state, state, init)
        return super().loop_expr(expr)

    def _suppose(self, array: Var, state: Var, init: Operand) -> None:
        """Suppose of an array what is supposed of a state."""
        for axis, kept in enumerate(self.kept.get(state, ())):
            assert isinstance(init, Var)
            self.origin[array] = init
            if kept is not Kept.NEVER:
                given = self._given(init, axis) if kept is Kept.WITH_ROWS else ()
                self.facts.suppose(array, axis, self.facts.size(init, axis), given)

    def _given(self, array: Var, axis: int) -> tuple[Form, ...]:
        """What is not negative if the array has rows along this axis."""
        return tuple(self.facts.size(array, k).plus(-1) for k in range(axis))

    def _check(self, state: Var, init: Operand, result: Operand) -> None:
        """See whether the result of a step confirms what is supposed of a state."""
        for axis, kept in enumerate(self.kept.get(state, ())):
            assert isinstance(init, Var) and isinstance(result, Var)
            found = self._found(init, result, axis, kept)
            self.refuted = self.refuted or found is not kept
            self.kept[state][axis] = found

    def _found(self, init: Var, result: Var, axis: int, kept: Kept) -> Kept:
        size = self.facts.size(init, axis)
        difference = self.facts.size(result, axis) - size
        if kept is Kept.ALWAYS and self.is_zero(difference):
            return Kept.ALWAYS
        if kept is not Kept.NEVER and axis:
            with self.facts.assuming(*self._given(init, axis)):
                if self.is_zero(difference):
                    return Kept.WITH_ROWS
        return Kept.NEVER

    def is_zero(self, form: Form) -> bool:
        """Whether a number is known to be zero."""
        return not form.terms or all(
            self.facts.is_not_negative(f) for f in (form, form.times(-1))
        )


class _Replacing(ShapeWalk):
    """Replaces the sizes of arrays by what they are known to be."""

    def __init__(self, params: tuple[Var, ...], kept: Sizes) -> None:
        super().__init__(params, kept)
        # The sizes in scope that are not known where they are bound, by array and axis.
        self._unknown: dict[tuple[Var, int], Var] = {}

    def operand(self, operand: Operand) -> Operand:
        """What stands for a size may turn out to be another one."""
        while isinstance(operand, Var) and operand in self.mapping:
            operand = self.mapping[operand]
        return operand

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Dim(axis), (Var() as array,)):
                self._size(binding, array, axis)
            case _:
                super().visit(binding)

    def _size(self, binding: Binding, array: Var, axis: int) -> None:
        match self._known(array, axis) or self._of_rows(array, axis, binding.span):
            case None:
                (size,) = binding.vars
                before = self._unknown.setdefault((array, axis), size)
                if before is size:
                    self.keep(binding)
                else:
                    self.replace(size, before)
            case Apply() as size:
                self.visit(Binding(binding.vars, size, binding.span))
            case operand:
                self.replace(binding.vars[0], operand)

    def _known(self, array: Var, axis: int) -> Operand | Apply | None:
        """What a size is known to be here, if it is not of this very array only."""
        facts, source = self.facts, array
        size = facts.resolved(facts.size(array, axis))
        while (init := self.origin.get(source)) is not None:
            if facts.resolved(facts.size(init, axis)).key != size.key:
                break
            source = init
        match [*size.terms.items()]:
            case []:
                return Lit(0)
            case [((), number)]:
                return Lit(number)
            case [((var,), 1)] if var in facts.size_of:
                source, axis = facts.size_of[var]
            case [((var,), 1)] if facts.is_bound(var):
                return var
        return None if source is array else Apply(Dim(axis), (source,))

    def _of_rows(self, array: Var, axis: int, span: Span) -> Operand | None:
        """The size of rows, or 0 if there are none, by what it is computed from."""
        form = self.facts.size(array, axis)
        if not any(var in self.facts.rows_of for var in form.variables()):
            return None
        emitter = Emitter(self.facts, span)
        size = emitter.operand(form)
        for binding in emitter.builder.bindings:
            self.visit(self.walked(binding))
        return self.operand(size)

    def inside(self, block: Block, index: Var | None) -> Block:
        """Replace the sizes that are known inside of a block but not in front of it."""
        known = self._known_inside(block)
        new: list[Binding] = []
        for var, size in known.items():
            if isinstance(size, Apply):
                fresh = Var(var.name, var.type)
                new.append(Binding((fresh,), size))
                size = fresh
            self.mapping[var] = size
        if new:
            block = Block((*new, *block.bindings), block.results)
        before = dict(self._unknown)
        walked = super().inside(block, index)
        self._unknown = before
        for var in known:
            del self.mapping[var]
        return walked

    def _known_inside(self, block: Block) -> dict[Var, Operand | Apply]:
        """The sizes that are used in a block and known inside of it only."""
        known: dict[Var, Operand | Apply] = {}
        if not self._unknown:
            return known
        # What is used is quick to find, what is known takes a proof.
        used = free_vars([((), block)])
        for (array, axis), var in self._unknown.items():
            if var not in used or var in self.mapping:
                continue
            size = self._known(array, axis)
            if size is not None:
                known[var] = size
        return known
