"""The same bits for any number of threads: workloads, and random programs.

`pytest --whole tests/test_same_bits.py` tries all workloads of `bench/`, and a thousand
random programs over arrays; otherwise it is a fixed part of them. The grain is made
small, so that loops of a few steps have several chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from containers import leaves
from hypothesis import HealthCheck, given, settings

import chadllvm as cl
from bench.workload import Workload, workloads
from chadllvm.backend.call import NativeFunction
from chadllvm.backend.runtime import runtime
from chadllvm.driver.pipeline import Gradient, compile_program
from chadllvm.ir.loops import LoopFunction, Spread
from chadllvm.ir.op import ProgramError
from chadllvm.ir.statements import everywhere
from chadllvm.ir.types import Product, has_float
from chadllvm.ir.value import from_value, to_value
from chadllvm.support.options import CompileOptions
from tests.array_strategies import array_cases
from tests.leaves import all_leaves, leaf_types
from tests.strategies import Case
from tests.sweep import marks, part

pytestmark = pytest.mark.usefixtures("small_grain")

# The grain is no option, so nothing may come from the cache.
THREADED = CompileOptions(cache=False)
SERIAL = replace(THREADED, parallel=False)
THREADS = (1, 2, 3, 8)
PROGRAMS = part(1000, 50)


def is_spread(loops: LoopFunction) -> bool:
    return any(isinstance(stmt, Spread) for stmt in everywhere(loops.body))


def bits(values: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in leaves(values)]


def in_all_threads(run: Any, args: Any) -> Iterator[list[bytes]]:
    """The results for each number of threads."""
    for count in THREADS:
        runtime().lib.chad_set_threads(count)
        yield bits(run(*args))


@pytest.mark.parametrize(
    "workload",
    [pytest.param(w, id=n, marks=marks(n, 4, "bits")) for n, w in workloads().items()],
)
def test_workloads_have_the_same_bits(workload: Workload) -> None:
    args = workload.problem(*workload.small)
    program = workload.program.py_func  # type: ignore[attr-defined]
    threaded, serial = (
        cl.value_and_grad(cl.jit(program, options=options), argnums=workload.argnums)
        for options in (THREADED, SERIAL)
    )
    expected = bits(serial(*args))
    for found in in_all_threads(threaded, args):
        assert found == expected


class Tried:
    """A random program's value, or value and gradient, as it is and serial."""

    def __init__(self, case: Case, gradient: bool) -> None:
        entry = case.program.entry
        self.types = [leaf for p in entry.params for leaf in leaf_types(p.type)]
        given = [p.type for p in entry.params]
        values = [to_value(a, ty) for a, ty in zip(case.args, given, strict=True)]
        pairs = zip(all_leaves(values, given), self.types, strict=True)
        self.args = [from_value(value, ty) for value, ty in pairs]
        wrt = tuple(k for k, ty in enumerate(self.types) if has_float(ty))
        self.request = Gradient(wrt) if gradient and wrt else None
        results = [leaf for ty in entry.body.types for leaf in leaf_types(ty)]
        if self.request is not None:
            results += [self.types[k] for k in wrt]
        self.result = Product(tuple(results))
        self.case = case

    def loops(self, options: CompileOptions) -> LoopFunction:
        program = self.case.program
        return compile_program(program, self.request, lambda f: f, options).lowered

    def native(self, loops: LoopFunction) -> NativeFunction:
        names = [f"p{k}" for k in range(len(self.types))]
        return NativeFunction(loops, "main", names, self.types, self.result)


def outcome(run: Any, args: Any) -> Any:
    try:
        return [np.asarray(value).tobytes() for value in run(*args)]
    except (ArithmeticError, LookupError, ValueError, ProgramError) as error:
        return type(error), str(error)


# All thousand take a quarter of an hour, and longer beside other work.
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("gradient", [False, True])
def test_random_programs_have_the_same_bits(gradient: bool) -> None:
    chunks = 0

    @settings(
        max_examples=PROGRAMS // 2,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(array_cases())
    def check(case: Case) -> None:
        nonlocal chunks
        tried = Tried(case, gradient)
        loops = tried.loops(THREADED)
        chunks += is_spread(loops)
        expected = outcome(tried.native(tried.loops(SERIAL)), tried.args)
        threaded = tried.native(loops)
        for count in THREADS:
            runtime().lib.chad_set_threads(count)
            assert outcome(threaded, tried.args) == expected

    check()
    assert chunks > PROGRAMS // 20
