"""The naive form as a program of the core: it checks, and computes the same."""

from __future__ import annotations

from typing import Any

import pytest

from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.types import F64, UNIT, Fun, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.cost import run_basic
from chadllvm.paper.laws import densified
from chadllvm.paper.linear import free
from chadllvm.paper.naive import Dense, Tuples
from chadllvm.paper.write import dense, naive_chad, naive_chad_of_term
from tests.sweep import part
from tests.term_strategies import Experiment, experiment


def as_core(cotangent: Any, ty: Type) -> Any:
    """A dense cotangent of the term machine as a value of the core."""
    match ty:
        case Product((first, second)):
            return as_core(cotangent[0], first), as_core(cotangent[1], second)
        case Sum() if cotangent is None:
            return Injected(0, ())
        case Sum():
            held = as_core(cotangent.value, ty.payloads[cotangent.index])
            return Injected(1 + cotangent.index, held)
        case _:
            return cotangent


def run_core(found: Experiment, d: Any) -> tuple[Any, ...]:
    """The value and the cotangents, by the core's interpreter."""
    program = naive_chad_of_term(found.scope, found.term, True, "f")
    check(program)
    result: tuple[Any, ...] = Interpreter(program).run(
        *found.values, as_core(d, found.type)
    )
    return result


def test_the_core_computes_what_the_machine_does() -> None:
    for seed in range(part(60, 3)):
        found = experiment(seed, 60)
        d = densified(found.cotangent, found.type, free)
        value, *cotangents = run_core(found, d)
        expected = run_basic(Tuples(Dense()), found.term, found.scope, found.values, d)
        assert repr(value) == repr(expected.value)
        pairs = zip(expected.cotangents, found.scope, strict=True)
        assert repr(cotangents) == repr([as_core(d, v.type) for d, v in pairs])


def test_the_backpropagator_is_a_function_value() -> None:
    program = naive_chad(
        parse("def f(x: f64, y: f64) { z = mul(x, y)  return z }").entry
    )
    check(program)
    entry = program.entry
    assert entry.name == "f_chad"
    assert entry.body.types == (F64, Fun((F64,), (Product((F64, F64)),)))
    interpreter = Interpreter(program)
    value, bp = interpreter.run(3.0, 5.0)
    assert value == 15.0
    assert interpreter.call_closure(bp, (2.0,)) == ((10.0, 6.0),)


def test_linear_types_are_those_of_fig_4() -> None:
    payloads = (("a", F64), ("b", UNIT))
    assert dense(Product((F64, Sum(payloads)))) == Product(
        (F64, Sum((("zero", UNIT), ("left", F64), ("right", UNIT))))
    )


def test_a_cast_to_the_other_constructor_fails() -> None:
    text = "def f(x: f64) { s = <a: f64, b: f64>.a(x)  return s }"
    program = naive_chad(parse(text).entry, applied=True)
    check(program)
    run = Interpreter(program).run
    assert run(2.0, Injected(1, 7.0)) == (Injected(0, 2.0), 7.0)
    assert run(2.0, Injected(0, ())) == (Injected(0, 2.0), 0.0)
    with pytest.raises(ProgramError):
        run(2.0, Injected(2, 7.0))
