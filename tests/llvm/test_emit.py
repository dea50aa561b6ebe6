"""Statements, aliasing, vectorisation and compile time of generated code."""

from __future__ import annotations

import re
import sys
import time

import numpy as np
import pytest
from loop_programs import VECTOR, axpy, dot, function, native, sum_of, table, vector

from chadllvm.backend.call import NativeFunction
from chadllvm.backend.jit import host_target
from chadllvm.ir.loops import (
    PTR,
    RESULT,
    Accumulate,
    AddTo,
    Alloc,
    ArrayResult,
    Branch,
    Clear,
    Copy,
    Data,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Reset,
    Return,
    ScalarParam,
    ScalarResult,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64, Array
from chadllvm.llvm import optimize
from chadllvm.llvm.alias import MAX_SCOPES
from chadllvm.llvm.emit import emit

pytestmark = pytest.mark.optimised

NUMBERS = np.linspace(-2.0, 3.0, 1003)

avx2 = pytest.mark.skipif(
    not dict(host_target().features).get("avx2"), reason="the processor has no AVX2"
)


def test_dot() -> None:
    run = native(dot(), [VECTOR, VECTOR], F64)
    assert run(NUMBERS, NUMBERS) == pytest.approx(NUMBERS @ NUMBERS, rel=1e-14)
    assert run(NUMBERS[:0], NUMBERS[:0]) == 0.0


@avx2
def test_dot_is_vectorised_with_several_accumulators() -> None:
    asm = native(dot(), [VECTOR, VECTOR], F64).asm
    assert len(set(re.findall(r"vfmadd231pd.*%[yz]mm(\d+)$", asm, re.MULTILINE))) >= 4


def test_axpy() -> None:
    run = native(axpy(), [F64, VECTOR, VECTOR], VECTOR)
    for n in (0, 1, 5, 1003, 300_000):
        a, b = np.arange(n) / 7, np.cos(np.arange(n))
        assert np.allclose(run(2.5, a, b), 2.5 * a + b, rtol=1e-14)


@avx2
def test_distinct_roots_are_vectorised_without_checks_at_run_time() -> None:
    run = native(axpy(), [F64, VECTOR, VECTOR], VECTOR)
    assert "vector.memcheck" not in run.llvm_ir
    assert re.search(r"<[48] x double>", run.llvm_ir)


def rows_of_three() -> LoopFunction:
    """Twice the elements of rows of three, put down and read again."""
    a, i, k = vector("a"), Reg("i", I64), Reg("k", I64)
    first, at, n, rows = (Reg(name, I64) for name in ("first", "at", "n", "rows"))
    out, v = Reg("out", PTR), Reg("v", F64)
    element = (
        Let(at, "iadd", (first, k)),
        Load(v, a.ptr, at, 0),
        Store(out, at, v, 1),
        AddTo(out, at, v, 1),
    )
    row = (Let(first, "imul", (i, Lit(3))), For(k, Lit(0), Lit(3), element))
    body = [
        Let(rows, "idiv", (a.dims[0], Lit(3))),
        Let(n, "imul", (rows, Lit(3))),
        Alloc(out, RESULT, n, F64, 1),
        For(i, Lit(0), rows, row),
        Return((out, n)),
    ]
    return function("rows", [a], [ArrayResult(F64, 1)], body)


@avx2
def test_loops_of_few_steps_are_written_out() -> None:
    """Where LLVM does not unroll it would make vectors of them, with masks."""
    effort = optimize.Effort(2, 2, blocks=True)
    run = NativeFunction(
        rows_of_three(), "rows", ["a"], [VECTOR], VECTOR, effort=effort
    )
    assert (run(NUMBERS) == 2.0 * NUMBERS[:1002]).all()
    assert "llvm.masked" not in run.llvm_ir


@pytest.mark.parametrize("op", ["exp", "log", "sin", "cos", "tanh"])
def test_vector_functions(op: str) -> None:
    run = native(sum_of(op), [VECTOR], F64)
    values = np.linspace(0.1, 3.0, 1003)
    assert run(values) == pytest.approx(getattr(np, op)(values).sum(), rel=1e-13)


@avx2
@pytest.mark.skipif(sys.platform != "linux", reason="libmvec is a part of glibc")
def test_exp_calls_the_vector_library() -> None:
    assert "_ZGVdN4v_exp" in native(sum_of("exp"), [VECTOR], F64).asm


@pytest.mark.parametrize("elem", [F64, I64, BOOL])
def test_elements_in_memory(elem: object) -> None:
    ty = Array(elem, 2)  # type: ignore[arg-type]
    value = {F64: 1.5, I64: -3, BOOL: True}[elem]  # type: ignore[index]
    run = native(table(elem), [I64, I64, elem], ty)  # type: ignore[arg-type,list-item]
    found = run(3, 4, value)
    assert found.shape == (3, 4) and found.tolist() == [[value] * 4] * 3
    assert run(0, 4, value).shape == (0, 4)


def count_positive() -> LoopFunction:
    """How many elements are positive, and the sum of the others."""
    a, i = vector("a"), Reg("i", I64)
    v, positive = Reg("v", F64), Reg("positive", BOOL)
    count, rest = Slot("count", I64), Slot("rest", F64)
    c, r = Reg("c", I64), Reg("r", F64)
    body = [
        Set(count, Lit(0)),
        Set(rest, Lit(0.0)),
        For(
            i,
            Lit(0),
            a.dims[0],
            (
                Load(v, a.ptr, i, 0),
                Let(positive, "flt", (Lit(0.0), v)),
                Branch(positive, (Accumulate(count, Lit(1)),), (Accumulate(rest, v),)),
            ),
        ),
        Get(c, count),
        Get(r, rest),
        Return((c, r)),
    ]
    return function("count", [a], [ScalarResult(I64), ScalarResult(F64)], body)


def test_branches_and_slots() -> None:
    from chadllvm.ir.types import Product

    run = native(count_positive(), [VECTOR], Product((I64, F64)))
    count, rest = run(NUMBERS)
    assert count == (NUMBERS > 0).sum()
    assert rest == pytest.approx(NUMBERS[NUMBERS <= 0].sum(), rel=1e-13)


def test_early_return() -> None:
    x, big, y = Reg("x", F64), Reg("big", BOOL), Reg("y", F64)
    body = [
        Let(big, "flt", (Lit(10.0), x)),
        Branch(big, (Return((Lit(10.0),)),)),
        Let(y, "add", (x, Lit(1.0))),
        Return((y,)),
    ]
    made = function("clip", [ScalarParam(x)], [ScalarResult(F64)], body)
    run = native(made, [F64], F64)
    assert (run(3.0), run(30.0)) == (4.0, 10.0)


def shuffle() -> LoopFunction:
    """Temporaries in a region that every iteration gives back; constants; parts.

    out[i] = (sum of 10 copies of i) + constant[i]
    """
    n, i, j = Reg("n", I64), Reg("i", I64), Reg("j", I64)
    out, first, second, constant = (Reg(p, PTR) for p in ("out", "p", "q", "constant"))
    x, v, total, c, at = (
        *(Reg(r, F64) for r in ("x", "v", "total", "c")),
        Reg("at", PTR),
    )
    slot = Slot("total", F64)
    body: list[Stmt] = [
        Data(constant, np.arange(5000.0), 3),
        Alloc(out, RESULT, n, F64, 2),
        For(
            i,
            Lit(0),
            n,
            (
                Let(x, "to_float", (i,)),
                Alloc(first, 0, Lit(10), F64, 0, zero=True),
                For(j, Lit(0), Lit(10), (AddTo(first, j, x, 0),)),
                Alloc(second, 1, Lit(12), F64, 1),
                Clear(second, Lit(2), F64, 1),
                Offset(at, second, Lit(2), F64),
                Copy(at, first, Lit(10), F64, 1, 0),
                Reset(0),
                Set(slot, Lit(0.0)),
                *sum_into(slot, second, 12),
                Reset(1),
                Get(total, slot),
                Load(c, constant, i, 3),
                Let(v, "add", (total, c)),
                Store(out, i, v, 2),
            ),
            poll=True,
        ),
        Return((out, n)),
    ]
    return function("shuffle", [ScalarParam(n)], [ArrayResult(F64, 1)], body, regions=2)


def sum_into(slot: Slot, ptr: Reg, count: int) -> tuple[Stmt, ...]:
    k, v = Reg("k", I64), Reg("v", F64)
    return (For(k, Lit(0), Lit(count), (Load(v, ptr, k, 1), Accumulate(slot, v))),)


def test_regions_constants_and_parts() -> None:
    run = native(shuffle(), [I64], VECTOR)
    assert run(5000).tolist() == (11.0 * np.arange(5000.0)).tolist()


def test_small_constants_are_part_of_the_module() -> None:
    constant, i, v = Reg("constant", PTR), Reg("i", I64), Reg("v", F64)
    body = [
        Data(constant, np.array([3.0, 4.0, 5.0])[::-1], 0),
        Load(v, constant, i, 0),
        Return((v,)),
    ]
    made = function("pick", [ScalarParam(i)], [ScalarResult(F64)], body)
    run = native(made, [I64], F64)
    assert [run(k) for k in range(3)] == [5.0, 4.0, 3.0]
    assert not run.code.data


def many_buffers(count: int) -> LoopFunction:
    """As many result buffers of 4 as asked for, with 1.0 in the first place of each."""
    body: list[Stmt] = []
    pointers = [Reg("p", PTR) for _ in range(count)]
    for root, ptr in enumerate(pointers):
        body.append(Alloc(ptr, 0, Lit(4), F64, root))
        body.append(Store(ptr, Lit(0), Lit(1.0), root))
    body.append(Return(()))
    return function("many", [], [], body, regions=1, roots=count)


def test_alias_metadata_grows_linearly() -> None:
    def size(count: int) -> int:
        return len(emit(many_buffers(count), "many", {}, 256).text)

    assert size(8 * MAX_SCOPES) < 2.5 * size(4 * MAX_SCOPES)


def straight(count: int) -> LoopFunction:
    """A long chain of multiplications and additions."""
    values = [Reg("x", F64), Reg("y", F64)]
    params = [ScalarParam(v) for v in values]
    body: list[Stmt] = []
    for k in range(count):
        new = Reg("v", F64)
        op = ("mul", "add", "sub")[k % 3]
        body.append(Let(new, op, (values[-1], values[-1 - k % 2])))
        values.append(new)
    body.append(Return((values[-1],)))
    return function("straight", params, [ScalarResult(F64)], body)


def test_a_thousand_statements_compile_within_a_second() -> None:
    made = straight(1000)
    start = time.perf_counter()
    native(made, [F64, F64], F64)
    assert time.perf_counter() - start < 1.0


def test_large_functions_get_cheaper_passes() -> None:
    efforts = [optimize.effort_for("\n" * lines) for lines in (100, 5000, 50_000)]
    assert len(set(efforts)) == 3
    run = native(straight(20_000), [F64, F64], F64)
    assert run(0.0, 0.0) == 0.0


def test_pretty() -> None:
    assert pretty_loops(axpy()) == (
        "def axpy(x: f64, a: f64[a_n], b: f64[b_n]) -> f64[:]\n"
        "  temporary = zeros f64[a_n] in region 0\n"
        "  out = zeros f64[a_n] in result\n"
        "  for i in 0 .. a_n:  # polls\n"
        "    v = a[i]\n"
        "    m = v * x\n"
        "    temporary[i] += m\n"
        "    w = b[i]\n"
        "    out[i] += w\n"
        "  for j in 0 .. a_n:  # polls\n"
        "    t = temporary[j]\n"
        "    out[j] += t\n"
        "  return out, a_n\n"
    )
