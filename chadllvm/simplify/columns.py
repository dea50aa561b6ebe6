"""What a loop over and over reads with gaps is read once, and put side by side.

    iterate(n, …) { i, … ->             k = iselect(ilt(0, n), m, 0)
      …                                 u, v = build(k) { j ->
      build(m) { j ->                     x = index(a, j, 0)
        x = index(a, j, 0)                y = index(a, j, 1)
        y = index(a, j, 1)                yield x, y }
        z = mul(x, y)                   e = open f64[:](k)
        one c[j, 1] z }          →      iterate(n, …) { i, … ->
      … }                                 …
                                          build(m) { j ->
                                            x = index(u, j)
                                            y = index(v, j)
                                            z = mul(x, y)
                                            one e[j] z }
                                          … }
                                        s = close e
                                        build(k) { j ->
                                          w = index(s, j)
                                          one c[j, 1] w }

The inner loop then reads and writes memory in order, and so becomes vector code; of
records that stand in an array one behind the other, a machine has to collect the parts.
What is read must depend on nothing but the inner loop's index, and what is added must
go to a cell of outside. That costs no more than one more step of the outer loop, and
nothing if that makes none. Neither loop may contain what can fail, for it may be why an
index is in range.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import Renaming, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Var,
    operands,
)
from chadllvm.ir.types import I64, Acc, Array, Scalar, is_float
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Index
from chadllvm.simplify.failing import can_fail
from chadllvm.simplify.scopes import LOOPS
from chadllvm.simplify.walk import Walk

# Loops of fewer steps, if that is known, are left as they are.
_FEW = 8


def columns(program: Program) -> Program:
    """Read and add to memory in order in innermost loops that are run repeatedly."""
    return map_functions(program, lambda f: with_body(f, _Columns().block(f.body)))


class _Columns(Walk):
    """Rewrites each loop after the loops inside of it."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(op, (count, *_), (body,)) as node if (
                isinstance(op, LOOPS) and not op.stops and _is_long(count, 2)
            ):
                self._outer(binding, node, body)
            case _:
                self.keep(binding)

    def _outer(self, binding: Binding, node: Apply, body: Lambda) -> None:
        """A loop with the loops in its body, and what stands around it then."""
        inside = {*body.params, *(v for b in body.body.bindings for v in b.vars)}
        found = (_found(inner, inside) for inner in body.body.bindings)
        plans = {plan.loop: plan for plan in found if plan is not None}
        if not plans or can_fail(node, rows=True):
            self.keep(binding)
            return
        sides = _Sides(Builder(binding.span), Builder(binding.span))
        runs = sides.before.prim("ilt", lit(0), node.args[0])
        inner = [
            plans[b].moved(sides, runs) if b in plans else b for b in body.body.bindings
        ]
        block = Block(tuple(inner), body.body.results)
        loop = Apply(node.op, node.args, (Lambda(body.params, block),))
        self.out += sides.before.bindings
        self.keep(Binding(binding.vars, loop, binding.span))
        self.out += sides.behind.bindings


@dataclass
class _Sides:
    """What stands in front of a loop, and what behind it."""

    before: Builder
    behind: Builder


@dataclass
class _Plan:
    """An inner loop with what it does with gaps: reads, and additions.

    `indices` has what indices are computed by, from what the outer loop does not change
    and the inner loop's index.
    """

    loop: Binding
    reads: list[Binding]
    adds: list[Binding]
    indices: dict[Var, Binding]

    @property
    def _node(self) -> Apply:
        assert isinstance(self.loop.expr, Apply)
        return self.loop.expr

    def moved(self, sides: _Sides, runs: Var) -> Binding:
        """The loop that does so in order; `runs`: whether the loop around runs."""
        (body,) = self._node.bodies
        size = sides.before.prim("iselect", runs, self._node.args[0], lit(0))
        changed = self._read(sides.before, size)
        changed |= self._added(sides, size)
        bindings = [changed.get(b, b) for b in body.body.bindings]
        block = Block(tuple(bindings), body.body.results)
        node = Apply(self._node.op, self._node.args, (Lambda(body.params, block),))
        return Binding(self.loop.vars, node, self.loop.span)

    def _read(self, before: Builder, size: Var) -> dict[Binding, Binding]:
        """Columns of what is read, and how that is read instead."""
        if not self.reads:
            return {}
        index, inner, names = self._copy(self.reads, before)
        inner.bindings += [names.binding(read) for read in self.reads]
        results = [names.mapping[read.vars[0]] for read in self.reads]
        body = Lambda((index,), inner.block(results))
        hints = [_array_of(read).name for read in self.reads]
        made = before.apply(Build(), (size,), [body], hints)
        return {
            read: Binding(read.vars, Apply(Index(), (column, self._index)), read.span)
            for read, column in zip(self.reads, made, strict=True)
        }

    def _added(self, sides: _Sides, size: Var) -> dict[Binding, Binding]:
        """Columns of what is added, which are added to the cells in the end."""
        if not self.adds:
            return {}
        changed = {}
        index, inner, names = self._copy(self.adds, sides.behind)
        for add in self.adds:
            assert isinstance(add.expr, One) and isinstance(add.expr.cell, Var)
            name, content = add.expr.cell.name, Array(add.expr.value.type, 1)
            column = sides.before.one(Open(content, (size,)), name)
            new = One(column, (self._index,), add.expr.value)
            changed[add] = Binding((), new, add.span)
            total = sides.behind.one(Close(column), name)
            part = inner.one(Apply(Index(), (total, index)))
            path = names.operands(add.expr.indices)
            inner.bindings.append(Binding((), One(add.expr.cell, path, part), add.span))
        sides.behind.apply(Build(), (size,), [Lambda((index,), inner.block(()))])
        return changed

    @property
    def _index(self) -> Var:
        return self._node.bodies[0].params[0]

    def _copy(
        self, accesses: Sequence[Binding], around: Builder
    ) -> tuple[Var, Builder, Renaming]:
        """A loop's index, and copies of what the indices are computed by."""
        index = Var(self._index.name, I64)
        names, inner = Renaming({self._index: index}, fresh=True), around.child()
        for binding in self._needed(accesses):
            inner.bindings.append(names.binding(binding))
        return index, inner, names

    def _needed(self, accesses: Sequence[Binding]) -> list[Binding]:
        wanted = {o for access in accesses for o in _path(access)}
        needed = []
        for var, binding in reversed(self.indices.items()):
            if var in wanted:
                needed.append(binding)
                wanted.update(operands(binding.expr))
        return needed[::-1]


def _found(loop: Binding, inside: Collection[Var]) -> _Plan | None:
    """What a loop does with gaps, if all that it does is to compute.

    `inside` are the variables of the loop around it.
    """
    match loop.expr:
        case Apply(Build() | Fold(), (count,), (body,)) if (
            _is_long(count, _FEW) and count not in inside and _computes(body.body)
        ):
            search = _Search(body, inside)
        case _:
            return None
    for binding in body.body.bindings:
        search.visit(binding)
    if not search.reads and not search.adds:
        return None
    return _Plan(loop, search.reads, search.adds, search.indices)


class _Search:
    """Finds accesses with gaps; `slopes` has by how much an index grows in each step,
    None if that is not known.
    """

    def __init__(self, body: Lambda, inside: Collection[Var]) -> None:
        self.reads: list[Binding] = []
        self.adds: list[Binding] = []
        self.indices: dict[Var, Binding] = {}
        self._slopes: dict[Operand, int | None] = {body.params[0]: 1}
        self._changing = {*inside, *(v for b in body.body.bindings for v in b.vars)}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(can_fail=False) as op, args) if self._is_index(binding):
                self._slopes[binding.vars[0]] = self._slope(op.name, args)
                self.indices[binding.vars[0]] = binding
            case Apply(Index(), (array, *path)) if self._is_early(array, path):
                if binding.vars[0].type == I64:
                    self._slopes[binding.vars[0]] = None
                    self.indices[binding.vars[0]] = binding
                elif isinstance(binding.vars[0].type, Scalar) and self._has_gaps(path):
                    self.reads.append(binding)
            case One(cell, path, value) if self._is_early(cell, path):
                if _is_cell_of(cell, value) and self._has_gaps(path):
                    self.adds.append(binding)
            case _:
                pass

    def _is_index(self, binding: Binding) -> bool:
        known = all(map(self._is_known, operands(binding.expr)))
        return binding.vars[0].type == I64 and known

    def _is_known(self, operand: Operand) -> bool:
        """Whether it is the same in all steps of the loop around."""
        return operand in self._slopes or operand not in self._changing

    def _is_early(self, array: Operand, path: Sequence[Operand]) -> bool:
        return array not in self._changing and all(map(self._is_known, path))

    def _slope(self, name: str, args: Sequence[Operand]) -> int | None:
        slopes = [self._slopes.get(a, 0) for a in args]
        if all(slope == 0 for slope in slopes):
            return 0
        match name, slopes:
            case "iadd", [int() as left, int() as right]:
                return left + right
            case "isub", [int() as left, int() as right]:
                return left - right
            case _:
                return None

    def _has_gaps(self, path: Sequence[Operand]) -> bool:
        """Whether the places of two steps that follow each other are not neighbours."""
        slopes = [self._slopes.get(i, 0) for i in path]
        is_constant = all(slope == 0 for slope in slopes)
        in_order = not any(slopes[:-1]) and slopes[-1:] in ([1], [-1])
        return not is_constant and not in_order


def _is_cell_of(cell: Operand, value: Operand) -> bool:
    """Whether it is the cell of an array of such numbers, and no ledger."""
    match cell.type:
        case Acc(Array(elem), is_read=False):
            return elem == value.type
        case _:
            return False


def _path(access: Binding) -> tuple[Operand, ...]:
    match access.expr:
        case Apply(Index(), (_, *path)):
            return tuple(path)
        case One(_, path, _):
            return path
        case _:
            return ()


def _array_of(read: Binding) -> Var:
    array = operands(read.expr)[0]
    assert isinstance(array, Var)
    return array


def _is_long(count: Operand, few: int) -> bool:
    return not isinstance(count, Lit) or int(count.value) > few


def _computes(block: Block) -> bool:
    """Whether a block is straight, and does more than to copy."""
    plain = all(
        isinstance(b.expr, One)
        or (isinstance(b.expr, Apply) and isinstance(b.expr.op, Prim | Index))
        for b in block.bindings
    )
    return plain and any(
        isinstance(b.expr, Apply)
        and isinstance(b.expr.op, Prim)
        and is_float(b.vars[0].type)
        for b in block.bindings
    )
