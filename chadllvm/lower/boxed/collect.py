"""Results of a loop's iterations as arrays, and the states of loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Apply, Binding, Lit, Operand, Var
from chadllvm.ir.types import Array, Type
from chadllvm.ir.value import ROWS_DIFFER
from chadllvm.lower.boxed.cells import AnyCell, Rep
from chadllvm.lower.boxed.storage import Storage
from chadllvm.lower.interface import Carrier, Collector

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
