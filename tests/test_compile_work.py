"""Compiling takes work in proportion to the program: counted for each stage, not timed.

The work is the number of Python lines executed; each turn of a loop counts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from frontend.generated import define

from chadllvm.backend.jit import host_target
from chadllvm.driver.passes import Pass
from chadllvm.driver.pipeline import Compilation, Gradient, compile_program
from chadllvm.frontend import free, specialise
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.term import Function, Program
from chadllvm.ir.types import F64
from chadllvm.llvm import sections
from chadllvm.llvm.emit import emit
from chadllvm.simplify.facts import Facts
from chadllvm.support.options import CompileOptions

SIZE = 60


def straight(n: int) -> str:
    lines = [f"    x{i + 1} = x{i} * 0.5 + x{i // 2} / x0\n" for i in range(n)]
    return f"def f(x0):\n{''.join(lines)}    return x{n}\n"


def reused(n: int) -> str:
    """One variable is used in every statement."""
    lines = [f"    z = z * x + {i}.0\n" for i in range(n)]
    return f"def f(x):\n    z = x\n{''.join(lines)}    return z\n"


def branches(n: int) -> str:
    lines = [f"    if x > {i}:\n        z = z * x\n" for i in range(n)]
    return f"def f(x):\n    z = 1.0\n{''.join(lines)}    return z\n"


def loops(n: int) -> str:
    lines = [f"    for i in range({i}):\n        s{i % 7} += x * i\n" for i in range(n)]
    start = "".join(f"    s{i} = 0.0\n" for i in range(7))
    total = " + ".join(f"s{i}" for i in range(7))
    return f"def f(x):\n{start}{''.join(lines)}    return {total}\n"


def arrays(n: int) -> str:
    lines = [
        f"    a{i + 1} = [a{i}[k] * x + a{i // 2}[k] for k in range(9)]\n"
        for i in range(n)
    ]
    start = "    a0 = [x * k for k in range(9)]\n"
    return f"def f(x):\n{start}{''.join(lines)}    return sum(a{n})\n"


def mixed(n: int) -> str:
    """Assignments, loops, branches and arrays in turns, as people write programs."""
    lines = [
        f"    t{k} = 0.5 * s + a[{k % 9}] * x\n"
        f"    for i in range(len(a)):\n"
        f"        s += t{k} * a[i]\n"
        f"    if s > {k}.0:\n"
        f"        s = s / (1.0 + s * s)\n"
        f"    v = [t{k} * value + s for value in a]\n"
        f"    s = s + v[{k % 7}] * x\n"
        for k in range(n // 6)
    ]
    start = "    a = [x * k for k in range(9)]\n    s = 0.0\n"
    return f"def f(x):\n{start}{''.join(lines)}    return s\n"


class Work(Counter[str]):
    """The lines executed in each stage."""

    @contextmanager
    def counted(self, stage: str) -> Iterator[None]:
        count = 0

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal count
            count += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)
            self[stage] += count


def whole(function: Function) -> Function:
    return function


def work_of(
    text: str, gradient: Gradient | None, monkeypatch: pytest.MonkeyPatch
) -> Work:
    """The work of each stage and pass for this program."""
    work = Work()
    run = Compilation.run

    def counted(self: Compilation, program: Program, passes: Sequence[Pass]) -> Program:
        for one in passes:
            with work.counted(one[0]):
                program = run(self, program, (one,))
        return program

    function, target = define(text), host_target()
    with work.counted("specialise"):
        program = specialise(function, [F64])
    with work.counted("the rest of the pipeline"), monkeypatch.context() as patch:
        patch.setattr(Compilation, "run", counted)
        done = compile_program(program, gradient, whole, CompileOptions())
    assert isinstance(done.loops, LoopFunction)
    with work.counted("emit"):
        emit(done.loops, "f", target.vector, target.width)
    return work


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("gradient", [None, Gradient((0,))], ids=["jit", "grad"])
@pytest.mark.parametrize("kind", [straight, reused, branches, loops, arrays, mixed])
def test_work_is_linear(
    kind: Callable[[int], str],
    gradient: Gradient | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice the program is at most 2.2 times the work, in every stage."""
    monkeypatch.setattr(sections, "LONG", 1 << 62)
    once = work_of(kind(SIZE), gradient, monkeypatch)
    twice = work_of(kind(2 * SIZE), gradient, monkeypatch)
    assert len(once) > 12
    ratios = {stage: twice[stage] / once[stage] for stage in once}
    assert {s: r for s, r in ratios.items() if r > 2.2} == {}


@pytest.mark.sweep(share=6)
@pytest.mark.parametrize("kind", [branches, loops, mixed])
def test_cutting_is_linear(kind: Callable[[int], str]) -> None:
    """Twice a long program is twice the work of writing it in sections."""
    counts = []
    for size in (4 * SIZE, 8 * SIZE):
        function, target, work = define(kind(size)), host_target(), Work()
        program = specialise(function, [F64])
        done = compile_program(program, Gradient((0,)), whole, CompileOptions())
        assert sections.Cutting(done.lowered).is_needed
        with work.counted("emit"):
            emit(done.lowered, "f", target.vector, target.width)
        counts.append(work["emit"])
    assert counts[1] < 2.2 * counts[0]


def calls(n: int) -> str:
    """Functions that all call each other."""
    lines = [
        f"    def g{k}(i, w):\n"
        f"        if i <= 0:\n            return w\n"
        f"        return g{(k + 1) % n}(i - 1, w * x) + g{(k + 3) % n}(0, w)\n"
        for k in range(n)
    ]
    return f"def f(x):\n{''.join(lines)}    return g0(5, x)\n"


def test_local_functions_are_looked_through_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[object] = []
    look = free._free

    def counted(stack: Any) -> set[str]:
        looks.append(stack)
        return look(stack)

    monkeypatch.setattr(free, "_free", counted)
    specialise(define(calls(8)), [F64])
    once = len(looks)
    specialise(define(calls(16)), [F64])
    assert once >= 8 and len(looks) - once <= 2.2 * once


def halves(n: int) -> str:
    """Arrays whose sizes are not known, and loops that do not use them."""
    lines = [f"    y{k} = halved(x[{k}:])\n" for k in range(n)]
    lines += [f"    for i in range({k}):\n        s += s * i\n" for k in range(n)]
    total = " + ".join(f"sum(y{k})" for k in range(n))
    return (
        "def f(n):\n    x = [n * k for k in range(40)]\n"
        "    def halved(v):\n"
        "        return [a + n for a in v] if len(v) < 3 else halved(v[:2])\n"
        f"    s = n\n{''.join(lines)}    return s + {total}\n"
    )


def test_what_is_not_used_takes_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the arrays, and twice the loops: the proofs are not those of each pair."""

    def proofs(n: int) -> int:
        program = specialise(define(halves(n)), [F64])
        count.clear()
        compile_program(program, None, whole, CompileOptions())
        return len(count)

    count: list[object] = []
    resolved = Facts.resolved

    def counted(self: Facts, form: Any) -> Any:
        count.append(form)
        return resolved(self, form)

    monkeypatch.setattr(Facts, "resolved", counted)
    assert 0 < proofs(12) <= 2.5 * proofs(6)
