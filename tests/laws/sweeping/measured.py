"""What a program and its derivatives take, at three sizes of its arguments."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import chadllvm as cl
from bench.count import Counted
from chadllvm.api.compiled import Function
from chadllvm.backend.runtime import runtime
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Lambda
from chadllvm.ir.types import Type
from chadllvm.llvm.optimize import Effort
from tests.interpreted import normalised
from tests.laws.sweeping.derivatives import Unmeasured, functions
from tests.laws.sweeping.scaled import WAYS, scaled, size

# The factors of the sizes, from the most to the least that a value takes.
FACTORS = ((60, 240, 960), (15, 60, 240), (4, 16, 64), (2, 6, 18), (1, 3, 9), (1, 2, 4))
MOST_COST = 100_000  # of the interpreter
MOST_OF_PYTHON = 500_000  # operations of ours
MOST_WORK = 1 << 22  # of the value, at the largest size
MOST_NUMBERS = 1 << 20  # in the arguments
LITTLE = Effort(0, 0, loops=False, tidy=True)
UNCHECKED = cl.CompileOptions(verify=False)


@dataclass(frozen=True)
class Taken:
    """Operations, and bytes at the peak, at each size.

    value: the value's operations where they are those of another compilation.
    """

    work: tuple[int, ...]
    peak: tuple[int, ...]
    value: tuple[int, ...] | None = None


class Subject:
    """A program with its arguments in all sizes.

    function: it is compiled for the arguments as they are.
    plain: the same in plain Python, with its own arguments.

    Raises:
        Unmeasured: if it does not run for several sizes.
    """

    def __init__(
        self,
        function: Function[..., Any],
        args: Sequence[Any],
        plain: tuple[Callable[..., Any], Sequence[Any]] | None = None,
        options: cl.CompileOptions = UNCHECKED,
    ) -> None:
        self.args, self.options = tuple(args), options
        self.plain = plain or (function.py_func, args)
        self.types: tuple[Type, ...] = tuple(function._types(self.args))
        self.made, self.active = functions(function, self.types)
        self._value = self._counted("value")
        self.scale, self.factors = self._ways()

    def _counted(self, what: str, speculate: bool = True) -> Counted:
        argnums = self.active if what in ("gradient", "grad of grad") else None
        function = self.made["value" if what == "gradient" else what]
        options = replace(self.options, speculate=speculate)
        return Counted(function, argnums, options, LITTLE, self.types)

    def at(self, factor: int) -> tuple[Any, ...]:
        return tuple(scaled(arg, factor, self.scale) for arg in self.args)

    def _ways(self) -> tuple[Any, tuple[int, ...]]:
        """How to scale the arguments, and how much: the program takes what comes."""
        failure: Exception = Unmeasured("there is nothing to scale")
        for self.scale in WAYS:
            if size(self.at(2)) == size(self.args):
                continue
            try:
                return self.scale, self._factors()
            except (ArithmeticError, LookupError, ValueError, RuntimeError) as error:
                failure = error
        raise Unmeasured(f"{type(failure).__name__}: {failure}"[:150])

    def _factors(self) -> tuple[int, ...]:
        first, second = FACTORS[-1][:2]
        low, high = (self._value(*self.at(k))[1] for k in (first, second))
        slope = np.log(max(high / low, 1.0)) / np.log(second / first)
        for factors in FACTORS:
            is_small = high * (factors[-1] / second) ** slope < MOST_WORK
            if is_small and size(self.at(factors[-1])) < MOST_NUMBERS:
                break
        else:
            raise Unmeasured("it takes too much")
        for factor in factors:
            self._value(*self.at(factor))
        return factors

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers the arguments hold."""
        return tuple(size(self.at(factor)) for factor in self.factors)

    def taken(self, what: str) -> Taken:
        run = self._value if what == "value" else self._counted(what)
        try:
            return self._taken(run)
        except FloatingPointError:  # Then a call is repeated by another compilation.
            again = self._taken(self._counted(what, speculate=False))
            value = self._taken(self._counted("value", speculate=False))
            return replace(again, value=value.work)

    def _taken(self, run: Counted) -> Taken:
        found = [_at(run, self.at(factor)) for factor in self.factors]
        return Taken(tuple(w for w, _ in found), tuple(p for _, p in found))

    def interpreted(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The reference interpreter's cost, and ours, at sizes that it takes.

        Beside each stand the numbers in the arguments: an array that a loop updates is
        copied at its beginning, though a call may return early.
        """
        value = cl.jit(self.made["value"])
        costs: tuple[int, ...] = ()
        taken = FACTORS[-1]
        for factors in reversed(FACTORS):
            try:
                given = [self.at(factor) for factor in factors]
                costs = tuple(_cost(value, args) + size(args) for args in given)
            except Unmeasured:
                break
            taken = factors
            if costs[-1] > MOST_COST / 8:
                break
        if not costs:
            raise Unmeasured("it takes too much")
        return costs, tuple(self._value(*self.at(factor))[1] for factor in taken)

    def python_peak(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bytes at the peak of plain Python, NumPy's and the arguments' with them,
        and ours."""
        for factors in FACTORS:
            if factors[-1] > self.factors[-1]:
                continue
            if self._value(*self.at(factors[-1]))[1] <= MOST_OF_PYTHON:
                peaks = tuple(self._python_peak(factor) for factor in factors)
                return peaks, tuple(_at(self._value, self.at(f))[1] for f in factors)
        raise Unmeasured("it takes too much")

    def _python_peak(self, factor: int) -> int:
        run, args = self.plain
        given = [scaled(arg, factor, self.scale) for arg in args]
        with np.errstate(all="ignore"):
            run(*given)  # What it imports is no matter.
        tracemalloc.start()
        try:
            with np.errstate(all="ignore"):
                run(*given)
            return tracemalloc.get_traced_memory()[1] + 8 * size(given)
        finally:
            tracemalloc.stop()


def _at(run: Counted, args: Sequence[Any]) -> tuple[int, int]:
    """The operations and the bytes that a call takes."""
    run(*args)
    # The context that was used last is the one that is used next.
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    before = int(lib.chad_memory_used(context))
    _, work = run(*args)
    return work, int(lib.chad_memory_peak(context)) - before


class _Limited(Interpreter):
    """An interpreter that gives up."""

    def call(self, body: Lambda, args: Sequence[Any]) -> tuple[Any, ...]:
        if self.cost > MOST_COST:
            raise Unmeasured("it takes too much")
        return super().call(body, args)


def _cost(function: Function[..., Any], args: Sequence[Any]) -> int:
    program, leaves = normalised(function, args)
    run = _Limited(program)
    run.run(*leaves)
    return run.cost
