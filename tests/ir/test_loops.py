"""The checker of the loop language finds what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chadllvm.ir.loops import (
    PTR,
    RESULT,
    ROW_TURN,
    Alloc,
    Branch,
    CallRuntime,
    For,
    Get,
    Let,
    LoopFunction,
    Reg,
    Reset,
    Return,
    ScalarParam,
    ScalarResult,
    Set,
    Slot,
    Stmt,
)
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64
from chadllvm.support.diagnostic import InternalError

X, B = Reg("x", F64), Reg("b", BOOL)
Y, Z = Reg("y", F64), Reg("z", F64)
S = Slot("s", F64)
CELLS, CELL = Reg("cells", PTR), Reg("cell", I64)
NEW = CallRuntime(CELLS, "chad_cells_new", ())
OPEN = CallRuntime(CELL, "chad_cells_open_real", (CELLS,))


def made(*body: Stmt) -> LoopFunction:
    params = (ScalarParam(X), ScalarParam(B))
    return LoopFunction("f", params, (ScalarResult(F64),), body, 1, (0,))


GOOD: list[tuple[Stmt, ...]] = [
    (Let(Y, "add", (X, Lit(1.0))), Return((Y,))),
    (Branch(B, (Set(S, X),), (Set(S, Lit(0.0)),)), Get(Y, S), Return((Y,))),
    (Reset(0), Return((X,))),
    (
        NEW,
        OPEN,
        CallRuntime(None, "chad_cells_add_real", (CELLS, CELL, X)),
        CallRuntime(Y, "chad_cells_close_real", (CELLS, CELL)),
        Return((Y,)),
    ),
]

BAD: dict[str, tuple[Stmt, ...]] = {
    "y has no value": (Return((Y,)),),
    "assigned twice": (Let(Y, "neg", (X,)), Let(Y, "neg", (X,)), Return((Y,))),
    "type bool where f64": (Return((B,)),),
    "type i64 where f64": (Let(Y, "add", (X, Lit(1))), Return((Y,))),
    "y has type f64, its value bool": (Let(Y, "flt", (X, X)), Return((Y,))),
    "no instruction power": (Let(Y, "power", (X, X)), Return((Y,))),
    "neg takes 1": (Let(Y, "neg", (X, X)), Return((Y,))),
    "slot s is read before": (Branch(B, (Set(S, X),)), Get(Y, S), Return((Y,))),
    "z has no value": (Branch(B, (Let(Z, "neg", (X,)),)), Return((Z,))),
    "no region 1": (Alloc(Reg("p", PTR), 1, Lit(1), F64, 0), Return((X,))),
    "no region -1": (Reset(RESULT), Return((X,))),
    "no root 5": (Alloc(Reg("p", PTR), 0, Lit(1), F64, 5), Return((X,))),
    "2 values returned for 1": (Return((X, X)),),
    "the runtime has no function chad_leave": (
        CallRuntime(None, "chad_leave", ()),
        Return((X,)),
    ),
    "chad_cells_open_real takes 1": (
        CallRuntime(CELL, "chad_cells_open_real", ()),
        Return((X,)),
    ),
    "type f64 where ptr": (
        CallRuntime(CELL, "chad_cells_open_real", (X,)),
        Return((X,)),
    ),
    "the result of chad_cells_new is not": (
        CallRuntime(None, "chad_cells_new", ()),
        Return((X,)),
    ),
    "cells has no value": (OPEN, Return((X,))),
}


def told(body: tuple[Stmt, ...]) -> str:
    """What the checker says against a function with this body."""
    try:
        check_loops(made(*body))
    except InternalError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("body", GOOD)
def test_good(body: tuple[Stmt, ...]) -> None:
    assert told(body) == ""


@pytest.mark.parametrize("problem", BAD)
def test_bad(problem: str) -> None:
    with pytest.raises(InternalError, match=problem) as caught:
        check_loops(made(*BAD[problem]))
    assert "in " in caught.value.__notes__[0]


def test_an_index_is_known_in_its_loop_only() -> None:
    index = Reg("i", I64)
    loop = For(index, Lit(0), Lit(3), (Let(Y, "to_float", (index,)),))
    check_loops(made(loop, Return((X,))))
    with pytest.raises(InternalError, match="i has no value"):
        check_loops(made(loop, Let(Z, "to_float", (index,)), Return((X,))))


def test_steps_that_take_turns_are_in_order() -> None:
    numbers, row = Reg("rows", PTR), Reg("row", I64)
    turn = CallRuntime(None, ROW_TURN, (numbers, row, Lit(0)))
    rows = For(row, Lit(0), Lit(3), (Branch(B, (turn,)),))
    buffer = Alloc(numbers, 0, Lit(3), I64, 0, zero=True)
    check_loops(made(buffer, rows, Return((X,))))
    with pytest.raises(InternalError, match="take turns commute"):
        check_loops(made(buffer, replace(rows, commutes=True), Return((X,))))


def test_registers_of_one_name_are_told_apart() -> None:
    first, second = Reg("t", F64), Reg("t", F64)
    body = (
        Let(first, "neg", (X,)),
        Let(second, "mul", (first, X)),
        Return((second,)),
    )
    assert pretty_loops(made(*body)) == (
        "def f(x: f64, b: bool) -> f64\n  t = -x\n  t2 = t * x\n  return t2\n"
    )
