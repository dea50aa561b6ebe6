"""Lowers a function of the core to loops: one pass over its blocks, a case a node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import assert_never

import numpy as np

from chadllvm.ir import loops as l
from chadllvm.ir.dtypes import DTYPE_OF_SCALAR, SCALAR_OF_DTYPE
from chadllvm.ir.loops import PTR, RESULT, Atom, LoopFunction, Slot, Subroutine
from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.rewrite import free_vars_of, has_bodies
from chadllvm.ir.statements import without_unused
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
    Lit,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
    nested,
)
from chadllvm.ir.types import F32, I64, Array, Box, Scalar, Type, is_float
from chadllvm.lower.collect import Collector, collectors
from chadllvm.lower.growing import growing
from chadllvm.lower.growth import append, drop_last
from chadllvm.lower.heaps import Heaps
from chadllvm.lower.kept import plans
from chadllvm.lower.lives import lives
from chadllvm.lower.reasons import NOT_FRESH, Reason
from chadllvm.lower.recursion import Recursion
from chadllvm.lower.represent import (
    ArrayRep,
    ElementCell,
    KeptRep,
    Rep,
    SlotCell,
    ZeroCell,
    element_type,
)
from chadllvm.lower.state import Carrier, carriers
from chadllvm.ops.build import Build
from chadllvm.simplify.shapes import kept_states
from chadllvm.support.diagnostic import InternalError, Span
from chadllvm.support.options import Arithmetic


def lower_function(
    function: Function,
    tape: Collection[Var] = frozenset(),
    contents: Mapping[str, Sequence[Type]] = MappingProxyType({}),
    arithmetic: Arithmetic = Arithmetic(),
    *,
    keeps_lines: bool = False,
) -> LoopFunction:
    """The loops of a function without products, functions and calls.

    `tape` are the arrays that keep what the reverse needs, for the notes; `contents`
    what the nodes of heaps hold, before it was taken apart; `arithmetic` what may be
    done to floats. `keeps_lines`: registers know where they come from.
    """
    lowering = Lowering(function, tape, contents, arithmetic)
    lowering.keeps_lines = keeps_lines
    return lowering.run()


class Lowering(Heaps):
    """The lowering of one function; operations use it to lower themselves."""

    def __init__(
        self,
        function: Function,
        tape: Collection[Var],
        contents: Mapping[str, Sequence[Type]],
        arithmetic: Arithmetic,
    ) -> None:
        self.arithmetic = arithmetic
        function, self._direct, life = lives(function)
        super().__init__(function, life, tape, contents)
        self._parallel = 0
        self.keeps_lines = False
        # The functions of the recursions around here, and all that they became.
        self.recursions: dict[Var, Recursion] = {}
        self.plans = plans(function)
        self.subroutines: list[Subroutine] = []

    def run(self) -> LoopFunction:
        params = tuple(self._param(p) for p in self.function.params)
        if self.plans:
            self.region(self.life.function)  # What grows is in the first region.
        self.make_heaps()
        results = self.block(self.function.body)
        values: list[Atom] = []
        kinds: list[l.Result] = []
        for operand, rep in zip(self.function.body.results, results, strict=True):
            kinds.append(self._return(operand, rep, values))
        self.loops.emit(l.Return(tuple(values)))
        function = LoopFunction(
            self.function.name,
            params,
            tuple(kinds),
            self.loops.close(),
            self.regions,
            self.roots.table(),
            tuple(self.notes.copies),
            tuple(self.notes.loops),
            tuple(self.subroutines),
            self.segments(),
            self.arithmetic,
        )
        divided = self.loops.divided
        return without_unused(function, divided) if divided else function

    def _param(self, param: Var) -> l.Param:
        match param.type:
            case Scalar() as ty:
                reg = self.loops.reg(param.name, ty)
                self.bind(param, reg)
                return l.ScalarParam(reg)
            case Array(Scalar() as elem, rank):
                ptr = self.loops.reg(param.name, PTR)
                dims = tuple(
                    self.loops.reg(f"{param.name}_n{k}", I64) for k in range(rank)
                )
                for dim in dims:
                    self.loops.is_count(dim)
                self.bind(param, ArrayRep(ptr, dims, elem, self.roots.new()))
                return l.ArrayParam(ptr, dims, elem)
            case _:
                raise InternalError(f"lower: a parameter of type {param.type}")

    def _return(self, operand: Operand, rep: Rep, values: list[Atom]) -> l.Result:
        if not isinstance(rep, ArrayRep):
            values.append(self.atom_of(rep))
            assert isinstance(operand.type, Scalar)
            return l.ScalarResult(operand.type)
        if operand not in self._direct:
            rep = self.copy(rep, RESULT)
            self.notes.copied(operand, self.function.span, Reason(NOT_FRESH))
        values += [rep.ptr, *rep.dims]
        return l.ArrayResult(rep.machine, len(rep.dims))

    # Blocks.

    def block(self, block: Block) -> list[Rep]:
        """Lower the bindings; the representations of the results."""
        for binding in block.bindings:
            self._binding(binding)
        return [self.rep(r) for r in block.results]

    def _binding(self, binding: Binding) -> None:
        if binding.span.line:
            self.span = binding.span
            if self.keeps_lines:
                self.loops.span = binding.span
        match binding.expr:
            case Apply(Prim() as op, args):
                self._prim(op, args, binding)
            case Apply(ArrayOp() as op) as node:
                if node.bodies:
                    self.fill_before(node)
                op.lower(self, node, binding)
            case Const(value):
                self.bind(binding.vars[0], self._data(value))
            case If(_, Block(()), Block(())) as node if _is_scalar(binding.vars):
                self._choose(node, binding)
            case If() as node:
                self._if(node, binding)
            case Open(content, dims):
                self.open_cell(binding.vars[0], content, dims)
            case View(cell, indices):
                self.view_cell(binding.vars[0], cell, indices)
            case One(cell, indices, value):
                self.add_to_cell(binding, cell, indices, value)
            case Close(cell):
                self.close_cell(binding.vars[0], cell)
            case Call(Var() as function, args) if function in self.recursions:
                self.recursions[function].call(args, binding.vars)
            case (
                Apply() | Tuple() | Proj() | Inject() | Case() | Lambda() | Call()
            ):  # fmt: skip
                raise InternalError(f"lower: {type(binding.expr).__name__} is left")
            case _:
                assert_never(binding.expr)

    def _prim(self, op: Prim, args: Sequence[Operand], binding: Binding) -> None:
        atoms = [self.atom(a) for a in args]
        (var,) = binding.vars
        match op.name, *args:
            case "iadd", Var() as size, Lit(-1):
                self.last_indices[var] = size
        if op.lowering is None:
            self.bind(var, self.loops.let(op.name, *atoms, name=var.name))
        else:
            self.bind(var, op.lowering(self.loops, atoms, binding.span))

    def _data(self, value: np.ndarray) -> ArrayRep:
        ptr = self.loops.reg("const", PTR)
        root = self.roots.new()
        self.loops.emit(l.Data(ptr, value, root))
        dims = tuple(Lit(n) for n in value.shape)
        return ArrayRep(ptr, dims, SCALAR_OF_DTYPE[value.dtype], root)

    def _choose(self, node: If, binding: Binding) -> None:
        """Numbers that are there already: there is nothing to branch for."""
        cond = self.atom(node.cond)
        results = zip(binding.vars, node.then.results, node.orelse.results, strict=True)
        for var, one, other in results:
            pair = self.atom(one), self.atom(other)
            self.bind(var, self.loops.let("select", cond, *pair, name=var.name))

    def _if(self, node: If, binding: Binding) -> None:
        cond = self.atom(node.cond)
        for result in (*node.then.results, *node.orelse.results):
            self.fill(result)
        used = free_vars_of(node) if self.zero_cells else ()
        cells = [v for v in used if v in self.zero_cells]
        variables = (*binding.vars, *cells)
        slots: dict[int, list[Slot]] = {}
        reps: list[list[Rep]] = []
        bodies = []
        # What waits for a cell does so in both branches.
        waiting, left = dict(self.destinations), dict(self.destinations)
        for branch in (node.then, node.orelse):
            self.destinations = dict(waiting)
            self.loops.open(is_loop=False)
            before = {cell: self.env[cell] for cell in cells}
            results = [*self.block(branch), *map(self.array, cells)]
            self.env.update(before)
            self.zero_cells.update(cells)
            for k, rep in enumerate(results):
                atoms = _atoms(rep)
                if k not in slots:
                    name = variables[k].name
                    slots[k] = [Slot(name, a.type) for a in atoms]
                for slot, atom in zip(slots[k], atoms, strict=True):
                    self.loops.set(slot, atom)
            reps.append(results)
            bodies.append(self.loops.close())
            left = {v: d for v, d in left.items() if v in self.destinations}
        self.destinations = left
        self.loops.emit(l.Branch(cond, *bodies))
        self.zero_cells.difference_update(cells)
        for k, var in enumerate(variables):
            values = [self.loops.get(s) for s in slots[k]]
            self.bind(var, self._merged(reps[0][k], reps[1][k], values))

    def _merged(self, a: Rep, b: Rep, values: Sequence[Atom]) -> Rep:
        """The representation of either of two, by the atoms that were chosen."""
        if not isinstance(a, ArrayRep) or not isinstance(b, ArrayRep):
            return values[0]
        root = self.roots.union(a.root, b.root)
        growth = a.growth if a.growth is b.growth else None
        return ArrayRep(values[0], tuple(values[1:]), a.elem, root, growth)

    # Loops.

    @contextmanager
    def loop(
        self,
        high: Atom,
        body: Lambda,
        low: Atom = Lit(0),
        *,
        parallel: bool = True,
        go: Slot | None = None,
        commutes: bool = False,
    ) -> Iterator[Atom]:
        """A loop over a body; `parallel`: its iterations commute. Gives the index.

        `commutes`: they do, but for what the body itself keeps in order.
        """
        scope, outer = self.life.bodies[body], self.scope
        self.scope = scope
        self._parallel += parallel
        self.loops.open(is_loop=True, owner=scope)
        index = self.loops.reg(body.params[0].name, I64)
        yield index
        if scope.region is not None:
            self.loops.emit(l.Reset(scope.region))
        private = tuple(self.loops.frames[-1].private)
        stmts = self.loops.close()
        self.scope = outer
        self._parallel -= parallel
        poll = self.has_loop(body.body) or not self.inside_parallel
        note = self.notes.number(body)
        loop = l.For(index, low, high, stmts, poll, go, commutes, private, note=note)
        self.loops.emit(loop)

    @contextmanager
    def chunks(self, count: Atom, size: int) -> Iterator[tuple[Atom, Atom]]:
        """A loop over chunks of at most `size` indices; gives the bounds of a chunk."""
        up = self.loops.let("iadd", count, Lit(size - 1))
        # Unsigned, so that no count is too large.
        number = self.loops.let("udiv", up, Lit(size))
        self.loops.open(is_loop=True)
        chunk = self.loops.reg("chunk", I64)
        low = self.loops.let("imul", chunk, Lit(size))
        high = self.loops.let("imin", self.loops.let("iadd", low, Lit(size)), count)
        yield low, high
        self.loops.emit(l.For(chunk, Lit(0), number, self.loops.close(), True))

    def step(
        self, body: Lambda, index: Atom, collectors: Sequence[Collector]
    ) -> list[Rep]:
        """Lower the body of a loop at an index; the results of one iteration."""
        self.bind(body.params[0], index)
        for collector in collectors:
            collector.offer(index)
        return self.block(body.body)

    def collectors(
        self,
        variables: Sequence[Var],
        body: Lambda,
        first: int,
        count: Atom,
        span: Span,
        carriers: Sequence[Carrier] = (),
    ) -> list[Collector]:
        """Collectors for the results of a body from `first` on, behind its carriers."""
        self.notes.loop(body, variables, span, self.life.bodies[body].depth)
        return collectors(self, variables, body, first, count, span, carriers)

    def recursion(self, node: Apply, binding: Binding) -> None:
        """A function that calls itself becomes a subroutine: `lower/recursion.py`."""
        Recursion(self, node, binding).lower()

    def growing(
        self, variables: Sequence[Var], body: Lambda, first: int, span: Span
    ) -> list[Collector]:
        """The same for a loop whose number of steps is not known in front of it."""
        self.notes.loop(body, variables, span, self.life.bodies[body].depth)
        return growing(self, variables, body, first, span)

    def carriers(self, node: Apply, binding: Binding) -> list[Carrier]:
        """The states of a loop."""
        return carriers(self, node, binding)

    @cached_property
    def steady(self) -> frozenset[Var]:
        """The states of loops that have the shape of their initial values."""
        return kept_states(self.function)

    @cached_property
    def copied(self) -> frozenset[Var]:
        """The arrays that are copied whole, or added, by the block that makes them."""
        return frozenset(_copied(self.function.body, is_row=False))

    @property
    def inside_parallel(self) -> bool:
        """Whether this is inside of a loop whose iterations commute."""
        return self._parallel > 0

    def has_loop(self, block: Block) -> bool:
        """Whether a block contains loops."""
        return has_bodies(block)

    # Sums.

    def accumulate(self, slot: Slot, value: Atom) -> None:
        """`slot += value`"""
        if is_float(slot.type):
            self.loops.emit(l.Accumulate(slot, value))
        else:
            self.loops.set(slot, self.loops.let("iadd", self.loops.get(slot), value))

    def sum_of(self, a: Atom, b: Atom) -> Atom:
        return self.loops.let("add" if is_float(a.type) else "iadd", a, b)

    # Arrays.

    def bind_index(self, var: Var, array: Operand, indices: Sequence[Operand]) -> None:
        """`var = array[indices]`"""
        kept, atoms = self.rep(array), [self.atom(i) for i in indices]
        if isinstance(kept, KeptRep):
            self.bind(var, kept.rows.load(kept, atoms[0], var.name))
            return
        rep = self.array(array)
        if len(atoms) < len(rep.dims):
            self.bind(var, self.row(rep, atoms))
            return
        offset = self.place(rep, atoms)
        match rep.elem:
            case Scalar() as elem:
                value = self.loops.load(rep.ptr, offset, elem, rep.root, var.name)
                self.bind(var, value)
            case Box(content):
                self.bind(var, self.load_box(rep, offset, content, var.name))

    def bind_dim(self, var: Var, array: Operand, axis: int) -> None:
        self.bind(var, self.array(array).dims[axis])

    def nan_in(self, array: Operand) -> Atom:
        """Not 0 if there is a NaN among the elements."""
        rep = self.array(array)
        look = "chad_are_floats" if rep.elem == F32 else "chad_are_doubles"
        found = self.loops.reg("found", I64)
        self.loops.emit(l.CallRuntime(found, look, (rep.ptr, self.size(rep))))
        return found

    def elements(self, array: Operand) -> tuple[Atom, int, Sequence[Atom]]:
        """Where the elements of an array are, the bytes of each, and the sizes."""
        rep = self.array(array)
        assert isinstance(rep.elem, Scalar)
        return rep.ptr, DTYPE_OF_SCALAR[rep.elem].itemsize, rep.dims

    def address_of(self, words: np.ndarray) -> Atom:
        """The address of constant words."""
        return self._data(words).ptr

    def bind_update(self, binding: Binding, args: Sequence[Operand]) -> None:
        """`var = update(array, indices, value)`"""
        (var,) = binding.vars
        array, *indices, value = args
        source = target = self.array(array)
        if binding not in self.in_place.taken:
            target = self.allocate(var, source.dims, source.elem)
            self.copy_into(target, source)
            self.notes.copied(array, binding.span, self.in_place.refused[binding])
        atoms = [self.atom(i) for i in indices]
        rep = self.rep(value)
        if isinstance(rep, ArrayRep):
            self.copy_into(self.row(target, atoms), rep)
        else:
            place = self.place(target, atoms)
            self.loops.emit(l.Store(target.ptr, place, self.atom_of(rep), target.root))
        self.bind(var, target)

    def bind_append(self, binding: Binding, array: Operand, value: Operand) -> None:
        append(self, binding, array, value)

    def bind_drop_last(self, var: Var, array: Operand) -> None:
        self.bind(var, drop_last(self, array))

    def bind_zeros(self, var: Var, args: Sequence[Operand], elem: Scalar) -> None:
        dims = [self.loops.count(self.atom(a)) for a in args]
        self.bind(var, self.allocate(var, dims, elem, zero=True))

    def bind_empty(self, var: Var, ty: Array) -> None:
        ptr, root = self.loops.reg("none", PTR), self.roots.new()
        self.loops.emit(l.Data(ptr, np.zeros(0), root))
        self.bind(var, ArrayRep(ptr, (Lit(0),) * ty.rank, element_type(ty), root))

    def bind_sized(self, var: Var, array: Operand, sizes: Sequence[Operand]) -> None:
        rep = self.array(array)
        inner = [self.loops.count(self.atom(n)) for n in sizes]
        dims = (rep.dims[0], *inner, *rep.dims[1 + len(inner) :])
        self.bind(var, replace(rep, dims=dims))


def _is_scalar(variables: Sequence[Var]) -> bool:
    return all(isinstance(var.type, Scalar) for var in variables)


def _atoms(rep: Rep) -> tuple[Atom, ...]:
    """The atoms of a scalar or an array."""
    match rep:
        case ArrayRep(ptr, dims):
            return (ptr, *dims)
        case SlotCell() | ElementCell() | ZeroCell() | KeptRep():
            raise InternalError("lower: the cell of a scalar comes out of a branch")
        case _:
            return (rep,)


def _copied(block: Block, *, is_row: bool) -> Iterator[Var]:
    own = {var for binding in block.bindings for var in binding.vars}
    used: set[Operand] = set(block.results if is_row else ())
    for binding in block.bindings:
        expr = binding.expr
        if isinstance(expr, One):
            used.add(expr.value)
        is_build = isinstance(expr, Apply) and isinstance(expr.op, Build)
        for _, inner in nested(expr):
            yield from _copied(inner, is_row=is_build)
    yield from (var for var in own if var in used)
