"""Translation is linear in the program and does not recurse over its statements."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest
from frontend.generated import define

import chadllvm as cl
from chadllvm.frontend import specialise
from chadllvm.ir.term import Program
from chadllvm.ir.types import F64
from chadllvm.support.diagnostic import CompileError


def straight(n: int) -> str:
    lines = [f"    x{i + 1} = x{i} * 0.5 + x{i // 2}\n" for i in range(n)]
    return f"def f(x0):\n{''.join(lines)}    return x{n}\n"


def branches(n: int) -> str:
    """Every branch assigns a variable of its own that is read at the end."""
    lines = [
        f"    y{i} = 0\n    if x > {i}:\n        y{i} = x\n    z = y{i} + z\n"
        for i in range(n)
    ]
    total = " + ".join(f"y{i}" for i in range(min(n, 500)))
    return f"def f(x):\n    z = 0\n{''.join(lines)}    return z + {total}\n"


def loops(n: int) -> str:
    lines = [f"    for i in range({i}):\n        s{i % 7} += x\n" for i in range(n)]
    start = "".join(f"    s{i} = 0\n" for i in range(7))
    total = " + ".join(f"s{i}" for i in range(7))
    return f"def f(x):\n{start}{''.join(lines)}    return {total}\n"


def elapsed(text: str) -> float:
    function = define(text)
    start = time.process_time()
    specialise(function, [F64])
    return time.process_time() - start


@pytest.mark.parametrize("kind", [straight, branches, loops])
def test_time_is_linear(kind: Callable[[int], str]) -> None:
    """Eight times the program takes less than 24 times the time (64 if quadratic)."""
    elapsed(kind(100))
    small, large = (min(elapsed(kind(n)) for _ in range(3)) for n in (200, 1600))
    assert large < 24 * small


def test_ten_thousand_statements() -> None:
    program = specialise(define(straight(10_000)), [F64])
    assert len(program.entry.body.bindings) == 20_000


def test_nested_loops_are_not_translated_exponentially_often() -> None:
    """Each of ten nested loops learns only in its innermost body that s is a float."""
    depth = 10
    lines = ["def f(x):", "    s = 0"]
    lines += ["    " * (d + 1) + f"for i{d} in range(2):" for d in range(depth)]
    lines += ["    " * (depth + 1) + "s = s + x", "    return s", ""]
    assert elapsed("\n".join(lines)) < 1.0


def long_sum(n: int) -> Program:
    return specialise(define(f"def f(x):\n    return {' + '.join(['x'] * n)}\n"), [F64])


def test_long_sum() -> None:
    assert len(long_sum(900).entry.body.bindings) == 899


def test_absurd_nesting_is_a_compile_error() -> None:
    depth = 150
    function = define(f"def f(x):\n    return {'abs(' * depth}x{')' * depth}\n")
    specialise(function, [F64])
    guards = "".join(f"    if x > {i}:\n        return x\n" for i in range(4500))
    with pytest.raises(CompileError, match="nested too deeply"):
        specialise(define(f"def f(x):\n{guards}    return x + 1\n"), [F64])


def test_nesting_deeper_than_pythons_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    tests = " and ".join(f"x < {i}" for i in range(250))
    run = cl.jit(define(f"def f(x):\n    return x * x if {tests} else x\n"))
    assert (run(-3.0), run(3.0)) == (9.0, 3.0)
    assert sys.getrecursionlimit() == limit
