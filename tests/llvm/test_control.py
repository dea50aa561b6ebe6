"""Which loops look for interrupts because each step needs the one before."""

from __future__ import annotations

import pytest

from chadllvm.ir.loops import PTR, Branch, For, Get, Let, Load, Reg, Set, Slot, Stmt
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64
from chadllvm.llvm.control import HEAVY_STEP, may_last

INDEX, COUNT, COND = Reg("i", I64), Reg("n", I64), Reg("cond", BOOL)
P, V, W = Reg("p", PTR), Reg("v", F64), Reg("w", F64)
SLOT = Slot("s", F64)
LOOK, PUT, TAKE = Load(V, P, INDEX, 0), Set(SLOT, V), Get(W, SLOT)


def looks(*body: Stmt) -> bool:
    loop = For(INDEX, Lit(0), COUNT, (LOOK, *body, Let(Reg("x", F64), "exp", (V,))))
    return may_last(loop, HEAVY_STEP)


@pytest.mark.parametrize(
    "body", [(PUT, TAKE), (PUT,), (Branch(COND, (PUT,), (PUT,)), TAKE)]
)
def test_a_slot_of_a_step_is_no_reason(body: tuple[Stmt, ...]) -> None:
    assert not looks(*body)


@pytest.mark.parametrize(
    "body", [(TAKE, PUT), (Branch(COND, (PUT,)), TAKE), (Branch(COND, (TAKE,)), PUT)]
)
def test_what_the_step_before_has_put_there_is_one(body: tuple[Stmt, ...]) -> None:
    assert looks(*body)
