"""Derivatives of derivatives: reverse mode on top of reverse mode, to any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chadllvm.backend.call import NativeFunction
from chadllvm.chad.gradient import pull_back, value_and_gradient
from chadllvm.driver.passes import DERIVATIVE, FINAL, SOURCE
from chadllvm.driver.pipeline import Compilation
from chadllvm.ir.check import check
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.term import Function, Program
from chadllvm.ir.types import Product
from chadllvm.ir.value import from_value
from chadllvm.llvm.optimize import Effort
from chadllvm.lower.lower import lower_function
from chadllvm.lower.split import split_loops
from chadllvm.support.options import CompileOptions


@dataclass(frozen=True)
class Order:
    """A derivative as a program without functions.

    It takes the source's parameters and a cotangent for each derivative below it; its
    last results are the derivatives by the parameters `wrt`. `raw` is D's own output.
    """

    raw: Program
    program: Program
    wrt: tuple[int, ...]
    options: CompileOptions

    @cached_property
    def next(self) -> Order:
        """The transposed derivative of this one's derivatives."""
        count = len(self.program.entry.body.results)
        asked = range(count - len(self.wrt), count)
        customs = Compilation(self.options).customs
        function = pull_back(self.program.entry, self.wrt, asked, customs)
        return order(function, self.wrt, self.options)


def order(function: Function, wrt: Sequence[int], options: CompileOptions) -> Order:
    raw = Program((function,))
    check(raw, after="chad")
    program = Compilation(options).run(raw, DERIVATIVE)
    return Order(raw, program, tuple(wrt), options)


def gradient_of(
    program: Program, wrt: Sequence[int], options: CompileOptions | None = None
) -> Order:
    """The gradient of a program without products and calls."""
    options = options or CompileOptions()
    customs = Compilation(options).customs
    return order(value_and_gradient(program.entry, wrt, customs), wrt, options)


def gradient_of_source(
    program: Program, wrt: Sequence[int], options: CompileOptions
) -> Order:
    """The gradient of a program as the compiler makes it."""
    done = Compilation(options)
    flat = done.run(done.normalised(program), SOURCE)
    return gradient_of(flat, wrt, options)


def native(found: Order, effort: Effort | None = None) -> NativeFunction:
    """Compile a derivative; it takes and returns numbers and ndarrays."""
    done = Compilation(found.options)
    program = done.run(done.settled(found.program), FINAL)
    loops = lower_function(program.entry)
    if split_loops.__name__ not in found.options.disabled:
        loops = split_loops(loops)
    check_loops(loops)
    types = [p.type for p in program.entry.params]
    names = [f"p{k}" for k in range(len(types))]
    results = Product(program.entry.body.types)
    return NativeFunction(loops, "main", names, types, results, effort=effort)


def arguments(found: Order, values: Sequence[Any]) -> list[Any]:
    """Values of the interpreter as machine code takes them."""
    params = found.program.entry.params
    return [from_value(v, p.type) for v, p in zip(values, params, strict=True)]
