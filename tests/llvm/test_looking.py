"""Where a subroutine looks around."""

from __future__ import annotations

from chadllvm.ir import loops as l
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64
from chadllvm.llvm.looking import first_invocation

CHOICE = l.Reg("choice", BOOL)


def invoke(name: str = "walk") -> l.Invoke:
    return l.Invoke((l.Reg("r", F64),), name, (Lit(1.0),))


def branch(then: tuple[l.Stmt, ...], orelse: tuple[l.Stmt, ...]) -> l.Branch:
    return l.Branch(CHOICE, then, orelse)


def leave() -> l.Leave:
    return l.Leave((Lit(0.0),))


def test_the_look_is_on_the_side_that_invokes() -> None:
    first, second = invoke(), invoke()
    assert first_invocation([leave(), branch((leave(),), (first, second))]) is first
    assert first_invocation([branch((second,), (leave(),))]) is second


def test_the_look_is_in_front_of_all_invocations() -> None:
    both = branch((invoke(),), (invoke(),))
    assert first_invocation([leave(), both]) is both
    one = branch((invoke(),), ())
    assert first_invocation([one, invoke()]) is one
    loop = l.For(l.Reg("i", I64), Lit(0), Lit(3), (invoke(),))
    assert first_invocation([leave(), loop]) is loop


def test_who_does_not_invoke_does_not_look() -> None:
    assert first_invocation([leave(), branch((), ())]) is None
