"""Arrays of the C runtime, and records: how generated code reaches them.

Memory consists of words: a number (an f32 as the f64 it equals), a truth value as an
integer, or a pointer. An array
is a `chad_array_t`, of which only the runtime knows whether its elements are there or
still in a bag; so elements are read from where `chad_array_data` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from chadllvm.ir import loops as l
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import PTR, RESULT, Atom, Reg
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar, Type

# Roots: what the function itself makes, what it is given, what it gives back.
OWN, GIVEN, RETURNED = 0, 1, 2
ROOTS = (OWN, GIVEN, RETURNED)

# The words of a `chad_array_t`; behind the size stands the rank. The others are 0 in a
# constant.
_DATA, _SIZE, _DIMS = 0, 2, 8


def word_of(ty: Type) -> Scalar:
    """The type of the word that stands for a value of this type."""
    if not isinstance(ty, Scalar):
        return PTR
    return {BOOL: I64, F32: F64}.get(ty, ty)


class Storage:
    """Emits what reads and makes arrays."""

    def __init__(self) -> None:
        self.loops = LoopBuilder()
        self._cells: Reg | None = None
        self._dims: dict[int, Reg] = {}
        self._word: Reg | None = None

    def call(self, function: str, *args: Atom, name: str = "t") -> Reg:
        """The result of a function of the runtime."""
        ty = {"f": F64, "i": I64, "p": PTR}[l.RUNTIME[function].result]
        reg = self.loops.reg(name, ty)
        self.loops.emit(l.CallRuntime(reg, function, args))
        return reg

    def run(self, function: str, *args: Atom) -> None:
        """Call a function of the runtime that gives nothing."""
        self.loops.emit(l.CallRuntime(None, function, args))

    @property
    def cells(self) -> Reg:
        """The accumulation array of this call, made in front of everything."""
        if self._cells is None:
            with self.loops.at(0):
                self._cells = self.call("chad_cells_new", name="cells")
        return self._cells

    def dims_in_memory(self, dims: Sequence[Atom]) -> Reg:
        """Dimensions as the runtime reads them; it keeps a copy."""
        rank = len(dims)
        if rank not in self._dims:
            with self.loops.at(0):
                self._dims[rank] = self.record(Lit(rank), "dims")
        for axis, dim in enumerate(dims):
            self.store(self._dims[rank], Lit(axis), dim)
        return self._dims[rank]

    def in_memory(self, value: Atom) -> Reg:
        """A word as the runtime reads it; it keeps a copy."""
        if self._word is None:
            with self.loops.at(0):
                self._word = self.record(Lit(1), "word")
        self.store(self._word, Lit(0), value)
        return self._word

    @contextmanager
    def each(self, count: Atom) -> Iterator[Atom]:
        """A loop over elements; gives the index."""
        self.loops.open(is_loop=True)
        index = self.loops.reg("i", I64)
        yield index
        self.loops.emit(l.For(index, Lit(0), count, self.loops.close(), True))

    # Words.

    def record(self, count: Atom, name: str) -> Reg:
        """Memory for words."""
        reg = self.loops.reg(name, PTR)
        self.loops.emit(l.Alloc(reg, 0, count, I64, OWN))
        return reg

    def word(self, value: Atom) -> Atom:
        """The word that stands for a value."""
        if value.type == BOOL:
            return self.loops.let("bool_to_int", value)
        return self.loops.let("widen", value) if value.type == F32 else value

    def value(self, word: Reg, ty: Type, name: str = "t") -> Reg:
        """The value of this type that a word stands for."""
        if ty == BOOL:
            return self.loops.let("ine", word, Lit(0), name=name)
        return self.loops.let("narrow", word, name=name) if ty == F32 else word

    def store(self, ptr: Atom, index: Atom, value: Atom) -> None:
        self.loops.emit(l.Store(ptr, index, self.word(value), OWN))

    def load(self, ptr: Atom, index: Atom, ty: Type, name: str = "t") -> Reg:
        """The value of this type whose word is there."""
        word = self.loops.load(ptr, index, word_of(ty), OWN, name)
        return self.value(word, ty, name)

    # Arrays.

    def new_array(self, dims: Sequence[Atom], name: str = "array") -> Reg:
        """An array whose elements are still to be stored."""
        place = self.dims_in_memory(dims)
        return self.call("chad_array_new", Lit(len(dims)), place, name=name)

    def zero_array(self, dims: Sequence[Atom], name: str = "array") -> Reg:
        """An array of zeros."""
        place = self.dims_in_memory(dims)
        return self.call("chad_array_of_bag", Lit(len(dims)), place, name=name)

    def constant(self, value: np.ndarray) -> Reg:
        """An array whose elements are a part of the code."""
        wider = {np.dtype(np.bool_): np.int64, np.dtype(np.float32): np.float64}
        words = value.astype(wider.get(value.dtype, value.dtype))
        data = self.loops.reg("const", PTR)
        self.loops.emit(l.Data(data, words, GIVEN))
        header = self.record(Lit(_DIMS + value.ndim), "array")
        fields = [0] * _DIMS + [*value.shape]
        fields[_SIZE : _SIZE + 2] = value.size, value.ndim
        for index, number in enumerate(fields):
            self.store(header, Lit(index), Lit(number))
        self.store(header, Lit(_DATA), data)
        return header

    def data(self, array: Atom) -> Reg:
        """The elements; where they are still in a bag they are collected now."""
        return self.call("chad_array_data", array, name="data")

    def new_data(self, array: Atom) -> Reg:
        """The elements of an array made by `new_array`."""
        return self.load(array, Lit(_DATA), PTR, "data")

    def size(self, array: Atom) -> Reg:
        """The number of elements."""
        return self.load(array, Lit(_SIZE), I64, "size")

    def dim(self, array: Atom, axis: int) -> Reg:
        reg = self.load(array, Lit(_DIMS + axis), I64, "dim")
        self.loops.is_count(reg)
        return reg

    def place(self, inner: Sequence[Atom], indices: Sequence[Atom]) -> Atom:
        """The offset of the element or row at these indices.

        `inner` are the dimensions of an array behind the first.
        """
        offset = indices[0]
        for dim, index in zip(inner, indices[1:], strict=False):
            offset = self.loops.add(self.loops.mul(offset, dim), index)
        rest = inner[len(indices) - 1 :]
        return self.loops.mul(offset, self.loops.product(rest))

    def take(self, array: Atom, source: Atom, elem: Scalar) -> None:
        """Fill a new array with the elements of a parameter."""
        target, count = self.new_data(array), self.size(array)
        if elem == word_of(elem):
            self.loops.emit(l.Copy(target, source, count, elem, OWN, GIVEN))
            return
        with self.each(count) as i:
            self.store(target, i, self.loops.load(source, i, elem, GIVEN, "v"))

    def give(self, array: Atom, elem: Scalar) -> Reg:
        """The elements of an array in a buffer for the caller."""
        target = self.loops.reg("result", PTR)
        source, count = self.data(array), self.size(array)
        self.loops.emit(l.Alloc(target, RESULT, count, elem, RETURNED))
        if elem == word_of(elem):
            self.loops.emit(l.Copy(target, source, count, elem, RETURNED, OWN))
            return target
        with self.each(count) as i:
            value = self.load(source, i, elem)
            self.loops.emit(l.Store(target, i, value, RETURNED))
        return target

    def copy(self, target: Atom, source: Atom, count: Atom) -> None:
        """Copy words between arrays of the function's own."""
        self.loops.emit(l.Copy(target, source, count, I64, OWN, OWN))
