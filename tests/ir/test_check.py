"""The checker: each program breaks one rule, which the message names with the pass."""

from __future__ import annotations

import numpy as np
import pytest

from chadllvm.ir.build import lit
from chadllvm.ir.check import check
from chadllvm.ir.op import PRIMS
from chadllvm.ir.parse import parse
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Expr,
    Function,
    If,
    Inject,
    Lambda,
    One,
    Open,
    Operand,
    Program,
    Tuple,
    Var,
    View,
)
from chadllvm.ir.types import F64, I64, Acc, Array, Box, Fun, Product, Sum
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index
from chadllvm.support.diagnostic import InternalError

X, Y = Var("x", F64), Var("y", F64)
SIN = Apply(PRIMS["sin"], (X,))


def program(*bindings: Binding, results: tuple[Var, ...] = ()) -> Program:
    return Program((Function("f", (X,), Block(bindings, results)),))


def bind(expr: Expr, *variables: Var) -> Binding:
    return Binding(variables, expr)


def broken_scopes() -> dict[str, tuple[Program, str]]:
    """Programs that break the rules of scope and types."""
    inner = Var("inner", F64)
    block = Block((bind(SIN, inner),), (inner,))
    other = Var("z", F64)
    function = Function("f", (X,), Block((), (X,)))
    call_later = Function("g", (Y,), Block((bind(Call("f", (Y,)), other),), ()))
    small = np.zeros(2, np.float16)
    return {
        "unbound": (program(results=(Y,)), "scope: y is used where it is not bound"),
        "too early": (
            program(bind(Apply(PRIMS["sin"], (Y,)), other), bind(SIN, Y)),
            "scope: y is used where it is not bound",
        ),
        "twice": (program(bind(SIN, Y), bind(SIN, Y)), "scope: y is bound twice"),
        "parameter again": (program(bind(SIN, X)), "scope: x is bound twice"),
        "left scope": (
            program(bind(If(lit(True), block, Block((), (X,))), Y), results=(inner,)),
            "scope: inner is used where it is not bound",
        ),
        "shared block": (
            program(bind(If(lit(True), block, block), Y)),
            "scope: inner is bound twice",
        ),
        "not above": (
            Program((call_later, function)),
            "scope: no function named f stands above",
        ),
        "same name": (
            Program((function, Function("f", (Y,), Block((), (Y,))))),
            "scope: two functions are named f",
        ),
        "other's variable": (
            Program((function, Function("g", (), Block((), (X,))))),
            "scope: x is used where it is not bound",
        ),
        "type": (
            program(bind(SIN, Var("n", I64))),
            "types: the rule gives (f64), bound are (n: i64)",
        ),
        "count": (program(bind(SIN)), "types: the rule gives (f64), bound are ()"),
        "argument": (
            program(bind(Apply(PRIMS["iabs"], (X,)), Var("n", I64))),
            "iabs takes (i64), found (f64)",
        ),
        "no body": (
            program(bind(Apply(Build(), (lit(2),)))),
            "types: wrong number of arguments or bodies",
        ),
        "dtype": (
            program(bind(Const(small), Var("a", Array(F64, 1)))),
            "types: a constant of dtype float16",
        ),
    }


def broken_sums() -> dict[str, tuple[Program, str]]:
    """Programs that take a sum for another one."""
    ty = Sum((("no", Product(())), ("yes", F64)))
    s, x, n, held = Var("s", ty), Var("p", F64), Var("n", I64), Var("q", Product(()))
    cell = Var("c", Sum((("only", Acc(F64)),)))
    inject = bind(Inject(ty, 1, X), s)
    no, yes = Lambda((held,), Block((), (lit(0.0),))), Lambda((x,), Block((), (x,)))
    other = Lambda((n,), Block((), (lit(1.0),)))
    integer = Lambda((x,), Block((), (lit(1),)))
    cases = {
        "payload": (Inject(ty, 0, X), "injection: no holds a (), not a f64"),
        "constructor": (Inject(ty, 2, X), f"injection: {ty} has no constructor 2"),
        "no sum": (Case(X, (yes,)), "case: a f64 with 1 branches"),
        "no branches": (Case(s, ()), f"case: a {ty} with 0 branches"),
        "one branch": (Case(s, (yes,)), f"case: the branches are not those of a {ty}"),
        "parameter": (
            Case(s, (no, other)),
            f"case: the branches are not those of a {ty}",
        ),
        "branches differ": (
            Case(s, (no, integer)),
            "case: branches have types (f64) and (i64)",
        ),
    }
    broken = {
        name: (program(inject, bind(expr, Y)), message)
        for name, (expr, message) in cases.items()
    }
    holds = Function("f", (cell,), Block((), ()))
    left = program(inject, bind(Case(s, (no, yes)), Y), results=(x,))
    broken["left branch"] = left, "scope: p is used where it is not bound"
    broken["cell in a sum"] = (
        Program((holds,)),
        "cells: c is a <only: acc f64>, which holds a cell",
    )
    return broken


def broken_cells() -> dict[str, tuple[Program, str]]:
    """Programs that break the discipline of cells."""
    c, d, s = Var("c", Acc(F64)), Var("d", Acc(F64)), Var("s", F64)
    opened, closed = bind(Open(F64), c), bind(Close(c), s)
    add = bind(One(c, (), X))
    only_add = Block((add,), ())
    capture = Lambda((), only_add)
    escape = Lambda((), Block((opened, closed), (c,)))
    given = Lambda((d,), Block((), (d,)))
    i = Var("i", I64)
    local = Block((opened,), (c,))
    cell_type = Acc(Acc(F64))
    stored = Var("t", Product((c.type,)))
    return {
        "not closed": (
            program(opened),
            "cells: c is opened in this block and not closed",
        ),
        "used after": (
            program(opened, closed, add),
            "cells: c is used after its close",
        ),
        "closed twice": (
            program(opened, closed, bind(Close(c), Y)),
            "cells: c is used after its close",
        ),
        "closed below": (
            program(
                opened,
                bind(If(lit(True), Block((closed,), (s,)), Block((), (X,))), Y),
            ),
            "cells: c is closed, not opened in this block",
        ),
        "parameter": (
            Program((Function("f", (c,), Block((closed,), ())),)),
            "cells: c is closed, not opened in this block",
        ),
        "captured": (
            program(opened, bind(capture, Var("g", Fun((), ()))), closed),
            "cells: a function captures c",
        ),
        "returned": (
            program(bind(escape, Var("g", escape.type))),
            "cells: c is used after its close",
        ),
        "passed on": (
            program(bind(given, Var("g", given.type))),
            "cells: a body returns a cell",
        ),
        "from a function": (
            Program((Function("f", (c,), Block((), (c,))),)),
            "cells: a body returns a cell",
        ),
        "from a loop": (
            Program((Function("f", (c,), Block((_build_of(c, i),), ())),)),
            "cells: a body returns a cell",
        ),
        "left open in a branch": (
            program(bind(If(lit(True), local, local), d)),
            "cells: c is opened in this block and not closed",
        ),
        "stored": (
            program(opened, bind(Tuple((c,)), stored), closed),
            "cells: t is a (acc f64), which holds a cell",
        ),
        "cell of a cell": (
            Program((Function("f", (Var("q", cell_type),), Block((), ())),)),
            "cells: q is a acc acc f64, which holds a cell",
        ),
    }


def _build_of(c: Var, i: Var) -> Binding:
    body = Lambda((i,), Block((), (c,)))
    return bind(Apply(Build(), (lit(2),), (body,)), Var("r", Array(c.type, 1)))


def broken_boxes() -> dict[str, tuple[Program, str]]:
    """Programs that take cells of boxes for something else."""
    row, rows = Array(F64, 1), Array(Box(Array(F64, 1)), 1)
    r, a, c = Var("r", row), Var("a", rows), Var("c", Acc(rows))
    closed = bind(Close(c), Var("s", rows))
    like = f"open: a cell of {rows} is like one such array"

    def given(*bindings: Binding) -> Program:
        return Program((Function("f", (r, a), Block(bindings, ())),))

    def adding(indices: tuple[Operand, ...], value: Operand) -> Program:
        return given(bind(Open(rows, (a,)), c), bind(One(c, indices, value)), closed)

    box = Var("b", Acc(Box(row)))
    element = Var("e", Box(row))
    at = bind(Apply(Index(), (a, lit(0))), element)
    view = bind(View(c, (lit(0),)), Var("v", Acc(Box(row))))
    one_box = bind(One(c, (lit(0),), element))
    return {
        "by a dimension": (given(bind(Open(rows, (lit(2),)), c), closed), like),
        "by nothing": (given(bind(Open(rows), c), closed), like),
        "by an array": (given(bind(Open(rows, (r,)), c), closed), like),
        "by two": (given(bind(Open(rows, (a, a)), c), closed), like),
        "an array by an array": (
            given(bind(Open(row, (r,)), Var("d", Acc(row)))),
            "open: a dimension that is not i64",
        ),
        "opened for a box": (
            given(bind(Open(Box(row), ()), box)),
            "open: a cell of box f64[:] with 0 dimensions",
        ),
        "cell of a box": (
            Program((Function("f", (box,), Block((), ())),)),
            "cells: b is the cell of a box",
        ),
        "view that is a box": (
            given(bind(Open(rows, (a,)), c), view, closed),
            "types: the rule gives (acc f64[:]), bound are (v: acc box f64[:])",
        ),
        "box added": (
            given(bind(Open(rows, (a,)), c), at, one_box, closed),
            f"one: a box f64[:] added to a acc {rows}",
        ),
        "array added to all": (
            adding((), r),
            f"one: a f64[:] added to a acc {rows}",
        ),
        "path through a box": (
            adding((lit(0), lit(0)), lit(1.0)),
            f"path: 2 indices into a cell of {rows}",
        ),
    }


BROKEN = {**broken_scopes(), **broken_sums(), **broken_cells(), **broken_boxes()}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_named_with_the_pass(name: str) -> None:
    broken, rule = BROKEN[name]
    with pytest.raises(InternalError) as error:
        check(broken, after="reckless")
    title, place = str(error.value).splitlines()[:2]
    assert title == rule
    assert place.endswith(", after reckless")


def parsed_and_refused(text: str) -> str:
    """The rule that a program breaks although its types are right."""
    with pytest.raises(InternalError) as error:
        check(parse(text))
    return str(error.value).splitlines()[0]


def test_a_view_is_closed_with_its_cell() -> None:
    rule = parsed_and_refused("""
        def f(x: f64) {
          c = open f64[:, :](2, 2)
          row = view c[1]
          part = view row[0]
          s = close c
          one part x
          return s
        }""")
    assert rule == "cells: part is used after its close"


def test_what_a_branch_chose_is_closed_with_either_cell() -> None:
    rule = parsed_and_refused("""
        def f(x: f64, e: acc f64, b: bool) {
          c = open f64
          d = if b { yield c } else { yield e }
          s = close c
          one d x
          return s
        }""")
    assert rule == "cells: d is used after its close"


def test_a_cell_from_inside_a_branch_does_not_leave_it() -> None:
    rule = parsed_and_refused("""
        def f(x: f64, e: acc f64, b: bool) {
          d = if b { c = open f64  s = close c  yield c } else { yield e }
          one d x
          return
        }""")
    assert rule == "cells: c is used after its close"


def test_bodies_of_operations_use_outer_cells_and_functions_take_them() -> None:
    text = """
        def f(x: f64, e: acc f64[:]) {
          g = fun (d: f64, c: acc f64) -> { one c d  return }
          h = open f64
          build(3) { i ->
            p = view e[i]
            call g(x, p)
            call g(x, h)
          }
          s = close h
          return s
        }"""
    check(parse(text))
    with pytest.raises(InternalError):  # The cell stays open.
        check(parse(text.replace("s = close h", "s = add(x, x)")))


def test_the_report_shows_the_bindings_around_the_place() -> None:
    c = Var("c", Acc(F64))
    variables = [Var("v", F64) for _ in range(9)]
    bindings = [bind(SIN, v) for v in variables]
    bindings[5] = bind(Apply(PRIMS["sin"], (Y,)), variables[5])
    with pytest.raises(InternalError) as error:
        check(program(*bindings, bind(Open(F64), c)))
    lines = str(error.value).splitlines()
    assert lines[1] == "  in f"
    assert "> v_3 = sin(y)" in lines
    assert len(lines) == 2 + 7
