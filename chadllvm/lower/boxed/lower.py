"""Lowers a function of the core as it stands: one pass over its blocks, a case a node.

A function value is a record: the tag of its lambda, and the words that it captures,
exactly its free variables (typed closure conversion with tagged existentials, paper,
App. B). A call runs the body of the lambda that the tag says, which sees its parameters
and what the record holds and nothing else. There are no functions in the loop language,
so the body stands where the call does; CHAD calls each backpropagator at one place.
Only what calls itself becomes a subroutine (`recursion.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

import numpy as np

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom, LoopFunction, Slot, Subroutine
from chadllvm.ir.lowering import Carrier, Collector
from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.rewrite import free_vars_of
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
)
from chadllvm.ir.types import F32, I64, Acc, Array, Scalar, Type, is_float
from chadllvm.lower.boxed.cells import AnyCell, Rep, atoms_of, rebuilt
from chadllvm.lower.boxed.collect import collector, growing, states
from chadllvm.lower.boxed.flow import Lambdas, reaching, repeated
from chadllvm.lower.boxed.heap import Heaps
from chadllvm.lower.boxed.recursion import Routine, bind_results, lower_recursion
from chadllvm.lower.boxed.storage import GIVEN, ROOTS
from chadllvm.ops.ledger import LEDGER
from chadllvm.support.diagnostic import InternalError, Span
from chadllvm.support.options import Arithmetic


def lower_boxed(
    function: Function, arithmetic: Arithmetic = Arithmetic()
) -> LoopFunction:
    """The loops of a function without products, sums and calls of others."""
    return BoxedLowering(function, arithmetic).finish()


class BoxedLowering(Heaps):
    """The lowering of one function; operations use it to lower themselves."""

    # No sum is cut into chunks: here nothing runs on several threads.
    inside_parallel = True

    def __init__(self, function: Function, arithmetic: Arithmetic) -> None:
        super().__init__()
        self.function = function
        self.arithmetic = arithmetic
        self.env: dict[Var, Rep] = {}
        self._reaching = reaching(function)
        self._tags: dict[Lambda, int] = {}
        self._captures: dict[Lambda, tuple[Var, ...]] = {}
        # The lambdas that have to be subroutines, and those whose bodies this is inside
        # of; the recursions of the program by what their bodies call.
        self._repeated = repeated(function, self._reaching)
        self._entered: dict[Lambda, Routine] = {}
        self.recursions: dict[Var, Routine] = {}
        self.subroutines: list[Subroutine] = []
        self.subroutine_names: set[str] = set()

    def finish(self) -> LoopFunction:
        params = tuple(self._param(p) for p in self.function.params)
        self.make_heaps(self.function)
        results = self.block(self.function.body)
        values: list[Atom] = []
        kinds: list[l.Result] = []
        for operand, rep in zip(self.function.body.results, results, strict=True):
            kinds.append(self._return(operand.type, self.atom_of(rep), values))
        self.loops.emit(l.Return(tuple(values)))
        body = self.loops.close()
        name = self.function.name
        subroutines = tuple(self.subroutines)
        return LoopFunction(
            *(name, params, tuple(kinds), body, 1, ROOTS),
            subroutines=subroutines,
            arithmetic=self.arithmetic,
        )

    def _param(self, param: Var) -> l.Param:
        """A parameter; an array is copied into one of the runtime's."""
        match param.type:
            case Scalar() as ty:
                reg = self.loops.reg(param.name, ty)
                self.bind(param, reg)
                return l.ScalarParam(reg)
            case Array(Scalar() as elem, rank):
                source = self.loops.reg(param.name, PTR)
                names = [f"{param.name}_n{k}" for k in range(rank)]
                dims = tuple(self.loops.reg(n, I64) for n in names)
                array = self.new_array(dims, param.name)
                self.take(array, source, elem)
                self.bind(param, array)
                return l.ArrayParam(source, dims, elem)
            case _:
                raise InternalError(f"boxed: a parameter of type {param.type}")

    def _return(self, ty: Type, value: Atom, values: list[Atom]) -> l.Result:
        match ty:
            case Scalar():
                values.append(value)
                return l.ScalarResult(ty)
            case Array(Scalar() as elem, rank):
                dims = [self.dim(value, axis) for axis in range(rank)]
                values += [self.give(value, elem), *dims]
                return l.ArrayResult(elem, rank)
            case _:
                raise InternalError(f"boxed: a result of type {ty}")

    # Values.

    def bind(self, var: Var, rep: Rep) -> None:
        self.env[var] = rep

    def rep(self, operand: Operand) -> Rep:
        return self.env[operand] if isinstance(operand, Var) else operand

    def reps(self, operands: Sequence[Operand]) -> list[Rep]:
        return [self.rep(operand) for operand in operands]

    def atom(self, operand: Operand) -> Atom:
        return self.atom_of(self.rep(operand))

    def atom_of(self, rep: Rep) -> Atom:
        if isinstance(rep, AnyCell):
            raise InternalError("boxed: a cell where a value is expected")
        return rep

    def array(self, operand: Operand) -> Atom:
        return self.atom(operand)

    # Blocks.

    def block(self, block: Block) -> list[Rep]:
        """Lower the bindings; what stands for the results."""
        for binding in block.bindings:
            self._binding(binding)
        return self.reps(block.results)

    def _binding(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim() as op, args):
                self._prim(op, args, binding)
            case Apply(ArrayOp() as op) as node:
                op.lower(self, node, binding)
            case Const(value):
                self.bind(binding.vars[0], self.constant(value))
            case If() as node:
                self._if(node, binding)
            case Lambda() as function:
                self.bind(binding.vars[0], self._record(function, binding))
            case Call(Var() as called, args):
                self._call(called, args, binding)
            case Open() | View() | One() | Close() as expr:
                rep = self._cell(expr)
                if rep is not None:
                    self.bind(binding.vars[0], rep)
            case Apply() | Tuple() | Proj() | Inject() | Case() | Call():
                raise InternalError(f"boxed: {type(binding.expr).__name__} is left")
            case _:
                assert_never(binding.expr)

    def _prim(self, op: Prim, args: Sequence[Operand], binding: Binding) -> None:
        atoms = [self.atom(a) for a in args]
        (var,) = binding.vars
        if op.lowering is None:
            self.bind(var, self.loops.let(op.name, *atoms, name=var.name))
        else:
            self.bind(var, op.lowering(self.loops, atoms, binding.span))

    def _if(self, node: If, binding: Binding) -> None:
        cond = self.atom(node.cond)
        blocks = (node.then, node.orelse)
        choices = [lambda block=block: self.block(block) for block in blocks]
        bind_results(self, binding.vars, self._choose([cond], choices, binding))

    def _choose(
        self,
        conds: Sequence[Atom],
        choices: Sequence[Callable[[], list[Rep]]],
        binding: Binding,
    ) -> list[Rep]:
        """What the first choice whose condition holds gives, or the last of them."""
        slots: list[list[Slot]] = []
        kinds: list[Rep] = []

        def run(choice: Callable[[], list[Rep]]) -> None:
            found = choice()
            atoms = [atoms_of(rep) for rep in found]
            if not kinds:
                kinds.extend(found)
                for var, parts in zip(binding.vars, atoms, strict=True):
                    slots.append([Slot(var.name, part.type) for part in parts])
            for into, parts in zip(slots, atoms, strict=True):
                for slot, part in zip(into, parts, strict=True):
                    self.loops.set(slot, part)

        def branch(k: int) -> None:
            if k == len(conds):
                run(choices[k])
                return
            self.loops.open(is_loop=False)
            run(choices[k])
            then = self.loops.close()
            self.loops.open(is_loop=False)
            branch(k + 1)
            self.loops.emit(l.Branch(conds[k], then, self.loops.close()))

        branch(0)
        return [
            rebuilt(kind, [self.loops.get(s) for s in into])
            for kind, into in zip(kinds, slots, strict=True)
        ]

    # Functions.

    def _record(self, function: Lambda, binding: Binding) -> Atom:
        captures = self._captured(function)
        record = self.record(Lit(1 + len(captures)), binding.vars[0].name)
        self.store(record, Lit(0), Lit(self._tag(function)))
        for k, var in enumerate(captures, 1):
            self.store(record, Lit(k), self.atom(var))
        return record

    def _captured(self, function: Lambda) -> tuple[Var, ...]:
        if function not in self._captures:
            self._captures[function] = tuple(free_vars_of(function))
        return self._captures[function]

    def _tag(self, function: Lambda) -> int:
        return self._tags.setdefault(function, len(self._tags))

    def _call(self, called: Var, args: Sequence[Operand], binding: Binding) -> None:
        values = self.reps(args)
        if called in self.recursions:
            results = self.recursions[called].invoke(values)
        else:
            results = self._call_one(called, values, binding)
        bind_results(self, binding.vars, results)

    def _call_one(
        self, called: Var, args: Sequence[Rep], binding: Binding
    ) -> list[Rep]:
        """Call the lambda that the tag says, of those that the variable may hold."""
        targets: Lambdas = self._reaching.get(called, ())
        if not targets:
            raise InternalError(f"boxed: no function reaches the call of {called.name}")
        record = self.atom(called)
        if len(targets) == 1:
            return self._enter(targets[0], record, args)
        tag = self.load(record, Lit(0), I64, "tag")
        conds = [
            self.loops.let("ieq", tag, Lit(self._tag(target)))
            for target in targets[:-1]
        ]
        choices = [
            lambda target=target: self._enter(target, record, args)
            for target in targets
        ]
        return self._choose(conds, choices, binding)

    def _enter(self, target: Lambda, record: Atom, args: Sequence[Rep]) -> list[Rep]:
        """What a lambda gives, whose body stands here or is a subroutine."""
        if target not in self._repeated:
            return self._run(target, record, args)
        if target not in self._entered:
            routine = Routine(self, "back", target.body.types)
            given = [routine.param(p.name, p.type) for p in target.params]
            own = routine.param("record", PTR)
            self._entered[target] = routine
            routine.leave(self._run(target, self.atom_of(own), given))
            del self._entered[target]
        else:
            routine = self._entered[target]
        return routine.invoke([*args, record])

    def _run(self, target: Lambda, record: Atom, args: Sequence[Rep]) -> list[Rep]:
        """The body of a lambda, which sees nothing but its captures and parameters."""
        outer = self.env
        self.env = {
            var: self.load(record, Lit(k), var.type, var.name)
            for k, var in enumerate(self._captured(target), 1)
        }
        self.env.update(zip(target.params, args, strict=True))
        results = self.block(target.body)
        self.env = outer
        return results

    # Cells.

    def _cell(self, expr: Open | View | One | Close) -> Rep | None:
        """What stands for the result, if there is one."""
        match expr:
            case Open(content, dims):
                return self.open_cell(content, [self.atom(d) for d in dims])
            case View(cell, indices):
                return self.part(self._known(cell), [self.atom(i) for i in indices])
            case One(cell, indices, value) if cell.type == LEDGER:
                self.note(cell, indices, value)
                return None
            case One(cell, indices, value):
                part = self.part(self._known(cell), [self.atom(i) for i in indices])
                self.add_to(part, self.atom(value))
                return None
            case Close(cell):
                total = self.close_cell(self._known(cell))
                is_single = cell.type == Acc(F32)
                return self.loops.let("narrow", total) if is_single else total
            case _:
                assert_never(expr)

    def _known(self, cell: Operand) -> AnyCell:
        rep = self.rep(cell)
        if not isinstance(rep, AnyCell):
            raise InternalError(f"boxed: {cell} is not a cell")
        return rep

    # Loops.

    @contextmanager
    def loop(
        self,
        high: Atom,
        body: Lambda,
        low: Atom = Lit(0),
        *,
        parallel: bool = True,
        commutes: bool = False,
        go: Slot | None = None,
    ) -> Iterator[Atom]:
        """A loop over a body; gives the index."""
        self.loops.open(is_loop=True)
        index = self.loops.reg(body.params[0].name, I64)
        yield index
        self.loops.emit(l.For(index, low, high, self.loops.close(), True, go))

    @contextmanager
    def chunks(self, count: Atom, size: int) -> Iterator[tuple[Atom, Atom]]:
        """All at once: here it matters only that the order is that of the indices."""
        yield Lit(0), count

    def step(
        self, body: Lambda, index: Atom, collectors: Sequence[Collector]
    ) -> list[Rep]:
        """The results of one iteration."""
        self.bind(body.params[0], index)
        return self.block(body.body)

    def collectors(
        self,
        variables: Sequence[Var],
        body: Lambda,
        first: int,
        count: Atom,
        span: Span,
        carriers: Sequence[Carrier] = (),
    ) -> Sequence[Collector]:
        types = [r.type for r in body.body.results[first:]]
        return [
            collector(self, self.bind, var, ty, count, span)
            for var, ty in zip(variables, types, strict=True)
        ]

    def growing(
        self, variables: Sequence[Var], body: Lambda, first: int, span: Span
    ) -> Sequence[Collector]:
        types = [r.type for r in body.body.results[first:]]
        return [
            growing(self, self.bind, var, ty, span)
            for var, ty in zip(variables, types, strict=True)
        ]

    def carriers(self, node: Apply, binding: Binding) -> Sequence[Carrier]:
        return states(self, self.bind, self.atom, node, binding)

    def recursion(self, node: Apply, binding: Binding) -> None:
        lower_recursion(self, node, binding)

    def has_loop(self, block: Block) -> bool:
        """Nothing depends on it here."""
        return True

    # Sums.

    def accumulate(self, slot: Slot, value: Atom) -> None:
        """`slot += value`, in this very order."""
        self.loops.set(slot, self.sum_of(self.loops.get(slot), value))

    def sum_of(self, a: Atom, b: Atom) -> Atom:
        return self.loops.let("add" if is_float(a.type) else "iadd", a, b)

    # Arrays.

    def bind_index(self, var: Var, array: Operand, indices: Sequence[Operand]) -> None:
        """`var = array[indices]`"""
        assert isinstance(array.type, Array)
        whole, rank = self.atom(array), array.type.rank
        atoms = [self.atom(i) for i in indices]
        inner = [self.dim(whole, axis) for axis in range(1, rank)]
        offset = self.place(inner, atoms)
        if len(atoms) < rank:
            row = (whole, offset, Lit(len(atoms)))
            self.bind(var, self.call("chad_array_row", *row, name=var.name))
        else:
            self.bind(var, self.load(self.data(whole), offset, var.type, var.name))

    def bind_dim(self, var: Var, array: Operand, axis: int) -> None:
        self.bind(var, self.dim(self.atom(array), axis))

    def nan_in(self, array: Operand) -> Atom:
        """Not 0 if there is a NaN among the elements, which are words."""
        whole = self.atom(array)
        return self.call("chad_are_doubles", self.data(whole), self.size(whole))

    def elements(self, array: Operand) -> tuple[Atom, int, Sequence[Atom]]:
        """Where the elements of an array are, which are words, and the sizes."""
        assert isinstance(array.type, Array)
        whole = self.atom(array)
        dims = [self.dim(whole, axis) for axis in range(array.type.rank)]
        return self.data(whole), 8, dims

    def address_of(self, words: np.ndarray) -> Atom:
        """The address of constant words."""
        data = self.loops.reg("words", PTR)
        self.loops.emit(l.Data(data, words, GIVEN))
        return data

    def bind_update(self, binding: Binding, args: Sequence[Operand]) -> None:
        """`a with [i] = v`: a version of `a`, which itself stays what it is."""
        array, *indices, value = args
        assert isinstance(array.type, Array)
        whole, rank = self.atom(array), array.type.rank
        inner = [self.dim(whole, axis) for axis in range(1, rank)]
        offset = self.place(inner, [self.atom(i) for i in indices])
        new = (whole, offset, *self._words(value))
        name = binding.vars[0].name
        self.bind(binding.vars[0], self.call("chad_array_with", *new, name=name))

    def _words(self, value: Operand) -> tuple[Atom, Atom]:
        """The number of words of an element or a row, and where they are."""
        rep = self.atom(value)
        if isinstance(value.type, Array):
            return self.size(rep), self.data(rep)
        return Lit(1), self.in_memory(rep)

    def bind_append(self, binding: Binding, array: Operand, value: Operand) -> None:
        """A version with one more element."""
        assert isinstance(array.type, Array)
        rep = self.atom(value)
        inner = [self.dim(rep, axis) for axis in range(array.type.rank - 1)]
        self._resize(binding.vars[0], array, 1, inner, self._words(value))

    def bind_drop_last(self, var: Var, array: Operand) -> None:
        assert isinstance(array.type, Array)
        whole = self.atom(array)
        inner = [self.dim(whole, axis) for axis in range(1, array.type.rank)]
        self._resize(var, array, -1, inner, (Lit(0), whole))

    def _resize(
        self,
        var: Var,
        array: Operand,
        more: int,
        inner: Sequence[Atom],
        words: tuple[Atom, Atom],
    ) -> None:
        """A version with so many more elements, whose words those are."""
        whole = self.atom(array)
        size = self.loops.let("iadd", self.dim(whole, 0), Lit(more))
        dims = self.dims_in_memory([size, *inner])
        args = (whole, dims, *words)
        self.bind(var, self.call("chad_array_resized", *args, name=var.name))

    def bind_zeros(self, var: Var, args: Sequence[Operand], elem: Scalar) -> None:
        dims = [self.loops.count(self.atom(a)) for a in args]
        self.bind(var, self.zero_array(dims, var.name))

    def bind_sized(self, var: Var, array: Operand, sizes: Sequence[Operand]) -> None:
        """Another array if there are no elements, for what is made is not changed."""
        assert isinstance(array.type, Array)
        whole, inner = self.atom(array), [self.loops.count(self.atom(n)) for n in sizes]
        slot = self.loops.slot(var.name, whole)
        self.loops.open(is_loop=False)
        axes = (0, *range(1 + len(inner), array.type.rank))
        count, *rest = [self.dim(whole, axis) for axis in axes]
        self.loops.set(slot, self.new_array([count, *inner, *rest], var.name))
        none = self.loops.close()
        is_empty = self.loops.let("ieq", self.size(whole), Lit(0))
        self.loops.emit(l.Branch(is_empty, none))
        self.bind(var, self.loops.get(slot))

    def bind_empty(self, var: Var, ty: Array) -> None:
        self.bind(var, self.zero_array((Lit(0),) * ty.rank, var.name))
