"""The environment monad over the C runtime's accumulation array (§5).

    Python                      C (chad_ct_t)
    None, (), 1.5               NULL, unit, real
    (a, b), Injected(k, a)      pair, injection
    BEmpty, BOne, BPlus         the empty bag, one, plus
    BArray                      array, or with indices scatter

`RuntimeMonad` is an `ArrayMonad` whose cells are those of the runtime: what a program
adds goes there and is added up there, at the same cost. So the reference forms try the
structures that compiled code uses. One run has one arena, with which all is gone.

Cotangents are converted by what they look like, not by their type. In the naive form
an array's is a tuple, which could be taken for a pair: that form of arrays is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, assert_never

from chadllvm.backend.runtime import Runtime, runtime
from chadllvm.ir.types import Type
from chadllvm.ir.value import Injected
from chadllvm.llvm.runtime import INVALID, MEMORY
from chadllvm.paper.array_linear import Bags
from chadllvm.paper.bag import EMPTY, BArray, BEmpty, BOne, BPlus
from chadllvm.paper.deep import deep
from chadllvm.paper.linear import Linear, Pay
from chadllvm.paper.monad import Action, ArrayMonad
from chadllvm.support.diagnostic import InternalError


class Kind(IntEnum):
    """The kinds of a chad_ct_t."""

    UNIT = 0
    REAL = 1
    PAIR = 2
    INJECTION = 3
    EMPTY = 4
    ONE = 5
    PLUS = 6
    ARRAY = 7
    SCATTER = 8


class RuntimeMonad(ArrayMonad):
    """EVM Γ τ = the C accumulation array → τ

    Raises:
        InternalError: from a run that adds cotangents of different constructors.
        MemoryError: from a run that needs more than there is.
    """

    def __init__(self, linear: Linear) -> None:
        if any(not isinstance(monoid, Bags) for monoid in linear.others.values()):
            raise InternalError("runtime monad: only bags are cotangents of arrays")
        super().__init__(linear)

    def one(self, index: int, ty: Type, cotangent: Any, pay: Pay) -> Action:
        def computation(cells: Cells) -> Any:
            pay(cells.add(index, cotangent))
            return ()

        return computation

    def scope(
        self, index: int, ty: Type, initial: Any, inner: Action, pay: Pay
    ) -> Action:
        def computation(cells: Cells) -> Any:
            pay(1)
            opened = cells.open(initial)
            if opened != index:
                raise InternalError(f"runtime monad: cell {opened} for {index}")
            value = inner(cells)
            return cells.close(index), value

        return computation

    def run(
        self, computation: Action, cotangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]]:
        with deep(), accumulation() as cells:
            for cotangent in cotangents:
                cells.open(cotangent)
            value = computation(cells)
            after = [cells.close(k) for k in reversed(range(len(cotangents)))]
        return value, tuple(reversed(after))


class Cells:
    """An accumulation array, which holds what Python's cotangents are in C."""

    def __init__(self, library: Runtime, context: Any, arena: Any) -> None:
        self._ffi, self._lib = library.ffi, library.lib
        self._place = context, arena
        self._context = context
        self._cells = self._made(self._lib.chad_cells_new(context, arena))

    def open(self, cotangent: Any) -> int:
        """The index of a new cell that holds this."""
        held = self._to_c(cotangent)
        index = self._lib.chad_cells_open_ct(self._context, self._cells, held)
        if index < 0:
            raise _no_memory()
        return int(index)

    def add(self, index: int, cotangent: Any) -> int:
        """Add to what a cell holds; the steps that takes."""
        added = self._to_c(cotangent)
        before = self.steps()
        status = self._lib.chad_cells_add_ct(self._context, self._cells, index, added)
        if status == INVALID:
            raise InternalError("runtime: a cotangent of the other constructor")
        if status == MEMORY:
            raise _no_memory()
        return self.steps() - before

    def close(self, index: int) -> Any:
        """What a cell holds; the cell is gone."""
        held = self._lib.chad_cells_close_ct(self._context, self._cells, index)
        return self._from_c(held)

    def steps(self) -> int:
        """The steps that the runtime has made with these cells."""
        return int(self._lib.chad_cells_steps(self._cells))

    def _made(self, pointer: Any) -> Any:
        if pointer == self._ffi.NULL:
            raise _no_memory()
        return pointer

    # Both of these recurse directly, as `deep` asks for.

    def _to_c(self, cotangent: Any) -> Any:
        lib, place = self._lib, self._place
        match cotangent:
            case None:
                return self._ffi.NULL
            case ():
                return lib.chad_ct_unit()
            case float():
                return self._made(lib.chad_ct_real(*place, cotangent))
            case (first, second):
                a, b = self._to_c(first), self._to_c(second)
                return self._made(lib.chad_ct_pair(*place, a, b))
            case Injected(index, value):
                held = self._to_c(value)
                return self._made(lib.chad_ct_injection(*place, index, held))
            case BEmpty():
                return lib.chad_ct_empty()
            case BOne(index, value):
                held = self._to_c(value)
                return self._made(lib.chad_ct_one(*place, index, held))
            case BPlus(left, right):
                return self._plus(self._to_c(left), self._to_c(right))
            case BArray():
                return self._array_to_c(cotangent)
            case _:
                name = type(cotangent).__name__
                raise InternalError(f"runtime monad: a cotangent that is a {name}")

    def _plus(self, left: Any, right: Any) -> Any:
        """BPlus: in O(1), and cannot but fit."""
        total = self._ffi.new("chad_ct_t const **")
        if self._lib.chad_ct_plus(*self._place, left, right, total) == MEMORY:
            raise _no_memory()
        return total[0]

    def _array_to_c(self, bag: BArray) -> Any:
        values = self._new_array("chad_ct_t const *", len(bag.values))
        for k, value in enumerate(bag.values):
            values[1][k] = self._to_c(value)
        if bag.indices is None:
            return self._made(self._lib.chad_ct_array(*self._place, 0, values[0]))
        indices = self._new_array("int64_t", len(bag.indices))
        indices[1][0 : len(bag.indices)] = list(bag.indices)
        made = self._lib.chad_ct_scatter(*self._place, indices[0], values[0])
        return self._made(made)

    def _new_array(self, element: str, count: int) -> tuple[Any, Any]:
        """An array of the runtime, and its data."""
        array = self._made(self._lib.chad_array_new(*self._place, 1, [count]))
        return array, self._ffi.cast(f"{element} *", array.data)

    def _from_c(self, ct: Any) -> Any:
        if ct == self._ffi.NULL:
            return None
        first, second = ct.first, ct.second
        kind = Kind(ct.kind)
        match kind:
            case Kind.UNIT:
                return ()
            case Kind.REAL:
                return first.f
            case Kind.PAIR:
                return self._from_c(first.ct), self._from_c(second.ct)
            case Kind.INJECTION:
                return Injected(first.i, self._from_c(second.ct))
            case Kind.EMPTY:
                return EMPTY
            case Kind.ONE:
                return BOne(first.i, self._from_c(second.ct))
            case Kind.PLUS:
                return BPlus(self._from_c(first.ct), self._from_c(second.ct))
            case Kind.ARRAY:
                return BArray(self._elements_from_c(second.array))
            case Kind.SCATTER:
                size = first.array.size
                places = self._ffi.cast("int64_t *", first.array.data)
                indices = self._ffi.unpack(places, size)
                return BArray(self._elements_from_c(second.array), indices)
            case _:
                assert_never(kind)

    def _elements_from_c(self, array: Any) -> list[Any]:
        data = self._ffi.cast("chad_ct_t const **", array.data)
        return [self._from_c(data[k]) for k in range(array.size)]


@contextmanager
def accumulation() -> Iterator[Cells]:
    """An accumulation array without cells; all its memory is given back at the end."""
    library = runtime()
    state = library.pool.pop() if library.pool else library.new_state()
    context = state[0]
    arena = library.lib.chad_enter(context, 1)
    try:
        if arena == library.ffi.NULL:
            raise _no_memory()
        yield Cells(library, context, arena)
    finally:
        library.lib.chad_leave(context, arena)
        library.pool.append(state)


def _no_memory() -> MemoryError:
    return MemoryError("the accumulation array needs more memory than there is")
