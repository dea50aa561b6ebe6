"""Small programs of the loop language, written by hand, and how to compile them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chadllvm.backend.call import NativeFunction
from chadllvm.ir.loops import (
    PTR,
    RESULT,
    Accumulate,
    AddTo,
    Alloc,
    ArrayParam,
    ArrayResult,
    Check,
    Failure,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Reg,
    Return,
    ScalarParam,
    ScalarResult,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.op import INSTRUCTIONS
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64, Array, Scalar, Type
from chadllvm.support.diagnostic import NO_SPAN, Span

LETTERS = {"f": F64, "d": F64, "s": F32, "i": I64, "b": BOOL}
VECTOR = Array(F64, 1)


def function(
    name: str,
    params: Sequence[ScalarParam | ArrayParam],
    results: Sequence[ScalarResult | ArrayResult],
    body: Sequence[Stmt],
    regions: int = 0,
    roots: int = 4,
) -> LoopFunction:
    """A checked loop function in which all roots are different."""
    made = LoopFunction(
        name, tuple(params), tuple(results), tuple(body), regions, tuple(range(roots))
    )
    check_loops(made)
    return made


def native(made: LoopFunction, types: Sequence[Type], result: Type) -> NativeFunction:
    """Compile; the parameters are called `x0`, `x1`, …"""
    names = [f"x{k}" for k in range(len(types))]
    return NativeFunction(made, made.name, names, types, result)


def vector(name: str) -> ArrayParam:
    return ArrayParam(Reg(name, PTR), (Reg(f"{name}_n", I64),), F64)


def instruction(op: str, ty: Scalar = F64) -> NativeFunction:
    """A function that applies one instruction; `ty` where any type is allowed."""
    letters, letter = INSTRUCTIONS[op].params, INSTRUCTIONS[op].result
    types = [LETTERS.get(x, ty) for x in letters]
    params = [Reg(f"x{k}", t) for k, t in enumerate(types)]
    result = Reg("y", LETTERS.get(letter, ty))
    body = [Let(result, op, tuple(params)), Return((result,))]
    results = [ScalarResult(result.type)]
    made = function(op, [ScalarParam(p) for p in params], results, body)
    return native(made, types, result.type)


def reduction(name: str, term: Callable[[list[Reg]], list[Stmt]], arrays: int) -> Any:
    """The sum over i of a term made of the elements at i of some arrays.

    `term(elements)` gives statements; the last one assigns the term.
    """
    params = [vector(f"a{k}") for k in range(arrays)]
    index, total, result = Reg("i", I64), Slot("total", F64), Reg("result", F64)
    elements = [Reg("v", F64) for _ in params]
    loads: list[Stmt] = [
        Load(v, p.ptr, index, k)
        for k, (v, p) in enumerate(zip(elements, params, strict=True))
    ]
    stmts = term(elements)
    last = stmts[-1]
    assert isinstance(last, Let)
    inner = (*loads, *stmts, Accumulate(total, last.reg))
    loop = For(index, Lit(0), params[0].dims[0], inner, poll=True)
    body = [Set(total, Lit(0.0)), loop, Get(result, total), Return((result,))]
    return function(name, params, [ScalarResult(F64)], body)


def dot() -> LoopFunction:
    """sum(a[i] * b[i])"""

    def term(elements: list[Reg]) -> list[Stmt]:
        return [Let(Reg("m", F64), "mul", tuple(elements))]

    return reduction("dot", term, 2)


def sum_of(op: str) -> LoopFunction:
    """sum(op(a[i]))"""

    def term(elements: list[Reg]) -> list[Stmt]:
        return [Let(Reg("m", F64), op, tuple(elements))]

    return reduction(f"sum_{op}", term, 1)


def axpy() -> LoopFunction:
    """A new array x * a[i] + b[i], by additions into a temporary and a result."""
    x, a, b = Reg("x", F64), vector("a"), vector("b")
    n, i, j = a.dims[0], Reg("i", I64), Reg("j", I64)
    out, temporary = Reg("out", PTR), Reg("temporary", PTR)
    v, w, m, t = (Reg(name, F64) for name in "vwmt")
    scale = (
        Load(v, a.ptr, i, 0),
        Let(m, "mul", (v, x)),
        AddTo(temporary, i, m, 2),
        Load(w, b.ptr, i, 1),
        AddTo(out, i, w, 3),
    )
    add = (Load(t, temporary, j, 2), AddTo(out, j, t, 3))
    body = [
        Alloc(temporary, 0, n, F64, 2, zero=True),
        Alloc(out, RESULT, n, F64, 3, zero=True),
        For(i, Lit(0), n, scale, poll=True),
        For(j, Lit(0), n, add, poll=True),
        Return((out, n)),
    ]
    params = [ScalarParam(x), a, b]
    return function("axpy", params, [ArrayResult(F64, 1)], body, regions=1)


def table(elem: Scalar, span: Span = NO_SPAN) -> LoopFunction:
    """An n by m array full of a value; fails if n is negative, once memory is taken."""
    n, m, value = Reg("n", I64), Reg("m", I64), Reg("value", elem)
    count, good = Reg("count", I64), Reg("good", BOOL)
    i, out = Reg("i", I64), Reg("out", PTR)
    body = [
        Alloc(Reg("early", PTR), RESULT, Lit(1000), F64, 1),
        Let(good, "ile", (Lit(0), n)),
        Check(good, Failure("ValueError", "no {0} rows of {1}", span), (n, m)),
        Let(count, "imul", (n, m)),
        Alloc(out, RESULT, count, elem, 0),
        For(i, Lit(0), count, (Store(out, i, value, 0),), poll=True),
        Return((out, n, m)),
    ]
    params = [ScalarParam(n), ScalarParam(m), ScalarParam(value)]
    return function("table", params, [ArrayResult(elem, 2)], body)


def spin(nested: bool) -> LoopFunction:
    """Counts to n with work that LLVM cannot remove: a chain of divisions.

    `nested`: by a loop in a loop of unknown length, else by one loop.
    """
    n, x = Reg("n", I64), Reg("x", F64)
    i, j, state = Reg("i", I64), Reg("j", I64), Slot("state", F64)
    old, new, result = (Reg(name, F64) for name in ("old", "new", "result"))
    step = (Get(old, state), Let(new, "div", (x, old)), Set(state, new))
    inner = For(j, Lit(0), n, step, poll=True)
    outer = For(i, Lit(0), n, (inner,), poll=True) if nested else inner
    body = [Set(state, Lit(1.5)), outer, Get(result, state), Return((result,))]
    params = [ScalarParam(n), ScalarParam(x)]
    return function("spin", params, [ScalarResult(F64)], body)
