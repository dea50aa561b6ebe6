"""The oracles of the cost law: work and memory of a gradient beside the value's."""

from __future__ import annotations

from typing import Any

import numpy as np

import chadllvm as cl
from bench.count import Counted
from chadllvm.backend.runtime import runtime
from chadllvm.frontend import signature
from chadllvm.ir.types import Array, Product, Scalar
from tests.campaign.judge import AGREES, Judged, Verdict, skipped
from tests.campaign.oracles import oracle
from tests.campaign.outcome import outcome
from tests.campaign.values import leaves

WORK = 12  # of the value's operations, and as much for each number of the arguments
START = 400
BYTES = 64  # of memory for an operation of the value


def counted(judged: Judged, argnums: tuple[int, ...] | None) -> Any:
    function = judged.loaded.function.py_func
    return outcome(
        lambda: Counted(function, argnums, cl.CompileOptions())(*judged.args)[1]
    )


def _unready(judged: Judged) -> Verdict | None:
    if not (judged.is_scalar and judged.wrt):
        return skipped("no float")
    types = [p.annotation for p in signature(judged.loaded.function.py_func)]
    if not all(isinstance(t, Scalar | Array | Product) for t in types):
        return skipped("other arguments")
    return None


def _sizes(judged: Judged) -> int:
    return sum(int(np.size(leaf)) for leaf in leaves(judged.args))


@oracle("work", 5)
def work_of_the_gradient(judged: Judged) -> Verdict:
    if (unready := _unready(judged)) is not None:
        return unready
    value, both = counted(judged, None), counted(judged, judged.wrt)
    if not (value.is_value and both.is_value):
        return skipped(f"{value.detail} {both.detail}")
    bound = WORK * (value.value + _sizes(judged)) + START
    if both.value <= bound:
        return AGREES
    return Verdict("differs", f"{both.value} operations, {value.value} of the value")


@oracle("memory", 5)
def memory_of_the_gradient(judged: Judged) -> Verdict:
    if (unready := _unready(judged)) is not None:
        return unready
    value = counted(judged, None)
    gradient = cl.value_and_grad(judged.compiled(), argnums=judged.wrt)
    if not (value.is_value and outcome(lambda: gradient(*judged.args)).is_value):
        return skipped("no value")
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    before = int(lib.chad_memory_used(context))
    gradient(*judged.args)
    peak = int(lib.chad_memory_peak(context)) - before
    if peak <= BYTES * (value.value + _sizes(judged)) + 2**16:
        return AGREES
    return Verdict("differs", f"{peak} bytes, {value.value} operations of the value")
