"""The C runtime's functions at hand, in a context of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from chadllvm.backend.runtime import runtime


@dataclass(frozen=True)
class Laboratory:
    """The runtime's functions, in one arena."""

    lib: Any
    ffi: Any
    context: Any
    arena: Any

    def steps(self) -> int:
        return int(self.lib.chad_steps(self.context))

    def peak(self) -> int:
        return int(self.lib.chad_memory_peak(self.context))

    def plus(self) -> Callable[[Any, Any], Any]:
        """BPlus."""
        out = self.ffi.new("chad_bag_t const **")
        lib, context, arena = self.lib, self.context, self.arena

        def plus(a: Any, b: Any) -> Any:
            if lib.chad_bag_plus(context, arena, a, b, out) != 0:
                raise MemoryError
            return out[0]

        return plus

    def of_array(self, array: Any) -> Any:
        """BArray."""
        out = self.ffi.new("chad_bag_t const **")
        if self.lib.chad_bag_array(self.context, self.arena, 0, array, out) != 0:
            raise MemoryError
        return out[0]

    def array(self, bag: Any, size: int) -> Any:
        """The array of a bag, not collected."""
        dims = self.ffi.new("int64_t[]", [size])
        array = self.lib.chad_array_of_bag(self.context, self.arena, bag, 1, dims)
        return made(array)

    def collect(self, array: Any) -> tuple[int, float]:
        """Collect an array's bag: steps and seconds."""
        before, start = self.steps(), time.perf_counter()
        made(self.lib.chad_array_data(self.context, self.arena, array))
        return self.steps() - before, time.perf_counter() - start


@contextmanager
def laboratory() -> Iterator[Laboratory]:
    """A fresh context; all that is made with it is gone at the end."""
    rt = runtime()
    context = rt.lib.chad_context_new()
    try:
        yield Laboratory(rt.lib, rt.ffi, context, rt.lib.chad_enter(context, 1))
    finally:
        rt.lib.chad_context_free(context)


def made(pointer: Any) -> Any:
    """What a function of the runtime made, if it had the memory."""
    if pointer == runtime().ffi.NULL:
        raise MemoryError
    return pointer
