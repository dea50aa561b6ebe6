"""Results of a loop's iterations as arrays, and the states of loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom
from chadllvm.ir.lowering import Carrier, Collector
from chadllvm.ir.term import Apply, Binding, Lit, Operand, Var
from chadllvm.ir.types import Array, Type
from chadllvm.ir.value import ROWS_DIFFER
from chadllvm.lower.boxed.cells import AnyCell, Rep
from chadllvm.lower.boxed.storage import Storage
from chadllvm.support.diagnostic import Span

Bind = Callable[[Var, Atom], None]


def collector(
    storage: Storage, bind: Bind, var: Var, ty: Type, count: Atom, span: Span
) -> Collector:
    """A collector of results of this type."""
    if isinstance(ty, Array):
        return _Rows(storage, bind, var, ty, count, span)
    return _Elements(storage, bind, var, count)


class _Elements:
    """Collects values that take a word."""

    def __init__(self, storage: Storage, bind: Bind, var: Var, count: Atom) -> None:
        self._storage, self._bind, self._var = storage, bind, var
        self._array = storage.new_array((count,), var.name)
        self._data = storage.new_data(self._array)

    def collect(self, index: Atom, result: Rep) -> None:
        assert not isinstance(result, AnyCell)
        self._storage.store(self._data, index, result)

    def finish(self) -> None:
        self._bind(self._var, self._array)


class _Rows:
    """Collects arrays: the first one decides the shape. Of no rows, it is empty."""

    def __init__(
        self,
        storage: Storage,
        bind: Bind,
        var: Var,
        row: Array,
        count: Atom,
        span: Span,
    ) -> None:
        self._storage, self._bind, self._var = storage, bind, var
        self._count, self._rank, self._span = count, row.rank, span
        none = storage.zero_array((Lit(0),) * (1 + row.rank), var.name)
        self._whole = storage.loops.slot(var.name, none)

    def collect(self, index: Atom, result: Rep) -> None:
        assert not isinstance(result, AnyCell)
        storage, loops = self._storage, self._storage.loops
        first = loops.let("ieq", index, Lit(0))
        source = storage.data(result)
        loops.open(is_loop=False)
        dims = [storage.dim(result, axis) for axis in range(self._rank)]
        loops.set(self._whole, storage.new_array((self._count, *dims), self._var.name))
        begin = loops.close()
        loops.open(is_loop=False)
        self._compare(result)
        loops.emit(l.Branch(first, begin, loops.close()))
        size = storage.size(result)
        data = storage.new_data(loops.get(self._whole))
        row = loops.offset(data, loops.let("imul", index, size), l.PTR)
        storage.copy(row, source, size)

    def _compare(self, row: Atom) -> None:
        """The row has the shape of those before it."""
        storage, loops = self._storage, self._storage.loops
        whole = loops.get(self._whole)
        for axis in range(self._rank):
            pair = storage.dim(whole, 1 + axis), storage.dim(row, axis)
            same = loops.let("ieq", *pair)
            loops.check(same, "ValueError", ROWS_DIFFER, self._span)

    def finish(self) -> None:
        self._bind(self._var, self._storage.loops.get(self._whole))


def growing(storage: Storage, bind: Bind, var: Var, ty: Type, span: Span) -> Collector:
    """A collector of a loop whose number of steps is not known in front of it."""
    return _Growing(storage, bind, var, ty.rank if isinstance(ty, Array) else 0, span)


class _Growing:
    """Collects words or rows of words in an array that is too long.

    It is replaced by one of twice the length when it is full, and cut off at the end.
    """

    def __init__(
        self, storage: Storage, bind: Bind, var: Var, rank: int, span: Span
    ) -> None:
        self._storage, self._bind, self._var = storage, bind, var
        self._rank, self._span = rank, span
        loops = storage.loops
        none = storage.zero_array((Lit(0),) * (1 + rank), var.name)
        self._whole = loops.slot(var.name, none)
        self._made = loops.slot(f"{var.name}_made", Lit(0))

    def collect(self, index: Atom, result: Rep) -> None:
        assert not isinstance(result, AnyCell)
        storage, loops = self._storage, self._storage.loops
        self._make_room(index, result)
        data = storage.new_data(loops.get(self._whole))
        if self._rank:
            size = storage.size(result)
            row = loops.offset(data, loops.let("imul", index, size), l.PTR)
            storage.copy(row, storage.data(result), size)
        else:
            storage.store(data, index, result)
        loops.set(self._made, loops.let("iadd", index, Lit(1)))

    def _make_room(self, index: Atom, result: Atom) -> None:
        """The first row decides the shape of all."""
        storage, loops = self._storage, self._storage.loops
        whole = loops.get(self._whole)
        room = storage.dim(whole, 0)
        loops.open(is_loop=False)
        inner = [storage.dim(result, axis) for axis in range(self._rank)]
        twice = loops.let("imax", loops.let("imul", room, Lit(2)), Lit(8))
        loops.set(self._whole, self._copied(whole, index, (twice, *inner)))
        full = loops.close()
        loops.emit(l.Branch(loops.let("ieq", room, index), full))
        now = loops.get(self._whole)
        for axis in range(self._rank):
            pair = storage.dim(now, 1 + axis), storage.dim(result, axis)
            loops.check(loops.let("ieq", *pair), "ValueError", ROWS_DIFFER, self._span)

    def _copied(self, whole: Atom, count: Atom, dims: Sequence[Atom]) -> Atom:
        """A new array of these dimensions that begins with so many rows of `whole`."""
        storage, loops = self._storage, self._storage.loops
        new = storage.new_array(dims, self._var.name)
        size = loops.product([count, *dims[1:]])
        source = storage.load(whole, Lit(0), l.PTR, "data")
        storage.copy(storage.new_data(new), source, size)
        return new

    def finish(self) -> None:
        loops = self._storage.loops
        whole, made = loops.get(self._whole), loops.get(self._made)
        inner = [self._storage.dim(whole, 1 + axis) for axis in range(self._rank)]
        self._bind(self._var, self._copied(whole, made, (made, *inner)))


class _State:
    """A state, which is a word: a scalar, or the pointer to anything else."""

    def __init__(
        self, storage: Storage, bind: Bind, param: Var, init: Atom, final: Var
    ) -> None:
        self._loops, self._bind = storage.loops, bind
        self._param, self._final = param, final
        self._slot = storage.loops.slot(param.name, init)

    def enter(self) -> None:
        self._bind(self._param, self._loops.get(self._slot))

    def next(self, result: Rep) -> Callable[[], None]:
        assert not isinstance(result, AnyCell)
        return lambda: self._loops.set(self._slot, result)

    def finish(self) -> None:
        self._bind(self._final, self._loops.get(self._slot))


def states(
    storage: Storage,
    bind: Bind,
    atom: Callable[[Operand], Atom],
    node: Apply,
    binding: Binding,
) -> Sequence[Carrier]:
    """The carriers of a loop's states."""
    (body,) = node.bodies
    pairs = zip(body.params[1:], node.args[1:], binding.vars, strict=False)
    return [
        _State(storage, bind, param, atom(init), final) for param, init, final in pairs
    ]
