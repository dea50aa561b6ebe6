"""Every row of the table of primitives: its meaning, its derivative by differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from function_edges import EDGES

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import PRIMS, Prim, ProgramError
from chadllvm.ir.term import Function, Operand, Program, Var
from chadllvm.ir.types import BOOL, F64, I64, is_float

INF, NAN = math.inf, math.nan
LOW, HIGH = -(1 << 63), (1 << 63) - 1

DIFFERENTIABLE = [
    p for p in PRIMS.values() if p.transpose is not None and not p.changes_width
]

MEANINGS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("fits", (1, 4), 4),
    ("fits", (4, 4), 4),
    ("poppable", (2,), 2),
    ("div", (1.0, 0.0), INF),
    ("div", (1.0, -0.0), -INF),
    ("div", (0.0, 0.0), NAN),
    ("div", (7.0, 2.0), 3.5),
    ("mul", (1e200, 1e200), INF),
    ("powi", (2.0, -2), 0.25),
    ("powi", (0.0, -1), INF),
    ("powi", (NAN, 0), 1.0),
    ("floordiv", (-7.0, 2.0), -4.0),
    ("floordiv", (1.0, 0.1), 9.0),
    ("floordiv", (1.0, 0.0), INF),
    ("floordiv", (0.0, 0.0), NAN),
    ("mod", (-7.0, 3.0), 2.0),
    ("mod", (7.0, -3.0), -2.0),
    ("mod", (7.0, 0.0), NAN),
    ("mod", (INF, 1.0), NAN),
    ("minimum", (NAN, 1.0), NAN),
    ("minimum", (1.0, NAN), NAN),
    ("maximum", (NAN, 1.0), NAN),
    ("maximum", (1.0, NAN), NAN),
    ("maximum", (1.0, 2.0), 2.0),
    ("select", (True, 1.0, NAN), 1.0),
    ("scale", (0.0, INF), 0.0),
    ("scale", (0.0, NAN), 0.0),
    ("scale", (2.0, INF), INF),
    ("iadd", (HIGH, 1), LOW),
    ("isub", (LOW, 1), HIGH),
    ("imul", (1 << 62, 4), 0),
    ("imul", (3, -5), -15),
    ("ineg", (LOW,), LOW),
    ("iabs", (-3,), 3),
    ("ifloordiv", (-7, 2), -4),
    ("ifloordiv", (LOW, -1), LOW),
    ("imod", (-7, 3), 2),
    ("imod", (7, -3), -2),
    ("ipow", (3, 4), 81),
    ("ipow", (2, 64), 0),
    ("ipow", (-2, 63), LOW),
    ("ipow", (0, 0), 1),
    ("ipow_exponent", (3, 4), 4),
    ("ipow_exponent", (0, HIGH), HIGH),
    ("ipow_exponent", (1, LOW), 0),
    ("ipow_exponent", (-1, -3), 1),
    ("ipow_exponent", (-1, -4), 0),
    ("ipow_exponent", (-1, 1 - 2**53), 1),
    ("ipow_exponent", (-1, -1 - 2**53), 0),
    ("imin", (3, -1), -1),
    ("imax", (3, -1), 3),
    ("area", (3, 5), 15),
    ("area", (1 << 62, 3), (1 << 63) - 1),
    ("iselect", (False, 1, 2), 2),
    ("flt", (NAN, 1.0), False),
    ("fne", (NAN, NAN), True),
    ("fle", (1.0, 1.0), True),
    ("feq", (0.0, -0.0), True),
    ("ilt", (1, 2), True),
    ("ile", (2, 2), True),
    ("ieq", (1, 2), False),
    ("ine", (1, 2), True),
    ("and", (True, False), False),
    ("or", (True, False), True),
    ("not", (True,), False),
    ("to_float", (3,), 3.0),
    ("to_single", ((1 << 24) + 1,), 2.0**24),
    ("narrow", (0.1,), 0.10000000149011612),
    ("narrow", (-1e300,), -INF),
    ("widen", (0.5,), 0.5),
    ("bool_to_int", (True,), 1),
    ("truncate", (-2.7,), -2),
    ("truncate", (-(2.0**63),), LOW),
    ("bound", (2, 3), 2),
    ("bound", (-3, 3), 0),
    ("within", (0, 1), 0),
    ("broadcast", (1, 5), 5),
    ("broadcast", (0, 1), 0),
    ("stretch", (3, 1), 0),
    ("stretch", (3, 4), 3),
    ("same", (2, 2), 2),
    ("mask_size", (2, 2), 2),
    ("unpacked", (2, 2), 2),
    ("size", (0,), 0),
    ("filled", (1,), 1),
    ("from_end", (-1, 3), 2),
    ("add_fits", (HIGH, LOW), True),
    ("sub_fits", (LOW, LOW), True),
    ("mul_fits", (1 << 31, -(1 << 32)), True),
    ("neg_fits", (HIGH,), True),
    ("abs_fits", (LOW + 1,), True),
    ("floordiv_fits", (LOW, 0), True),
    ("pow_fits", (-2, 63), True),
    ("pow_fits", (-1, HIGH), True),
    ("pow_fits", (2, -1), True),
    ("shl_fits", (0, 99), True),
    ("shl_fits", (-1, 63), True),
    ("shl_fits", (1, -1), True),
    ("div_defined", (0.0, NAN), True),
    ("floordiv_defined", (0.0, 1.0), True),
    ("mod_defined", (0.0, 1.0), True),
    ("no_pole", (INF, INF), True),
    ("no_pole", (NAN, NAN), True),
    ("no_overflow", (INF, INF), True),
    ("remainder_defined", (5.0, 3.0, -1.0), True),
    ("pow_defined", (0.0, 0.0, 1.0), True),
    ("powi_defined", (INF, 2, INF), True),
    ("span", (3, 5), -2),
    ("span", (LOW, 1), LOW),
    ("span", (HIGH, -1), HIGH),
    ("steps", (1, 8, 3), 3),
    ("slice_step", (-3,), -3),
    ("steps", (8, 1, -3), 3),
    ("steps", (1, 8, -3), 0),
    ("steps", (LOW, HIGH, 2), HIGH),
    ("steps", (LOW, HIGH, 1 << 62), 4),
    ("steps", (HIGH, LOW, LOW), 2),
    ("iand", (12, -6), 8),
    ("ior", (12, -6), -2),
    ("ixor", (12, -6), -10),
    ("shl", (3, 62), -(1 << 62)),
    ("shl", (3, 64), 0),
    ("shl", (3, -1), 0),
    ("shr", (-5, 1), -3),
    ("shr", (-5, 64), -1),
    ("shr", (5, -1), 0),
    ("shift_count", (70,), 70),
    ("row_of", (11, 4), 2),
    ("row_of", (3, 4), 0),
    ("row_of", (5, 0), 5),
    ("row_of", (5, -3), 5),
    ("column_of", (11, 4), 3),
    ("column_of", (5, 0), 0),
    ("sort_key", (0.0,), 0),
    ("sort_key", (-0.0,), 0),
    ("sort_key", (5e-324,), 1),
    ("sort_key", (-5e-324,), -2),
    ("sort_key", (INF,), 0x7FF << 52),
    ("sort_key", (-INF,), -(0x7FF << 52) - 1),
    ("sort_key", (NAN,), HIGH),
    ("isqrt", (15,), 3),
    ("isqrt", (16,), 4),
    ("isqrt", (94906267**2 - 1,), 94906266),  # its float is the square
    ("isqrt", (94906267**2,), 94906267),
    ("isqrt", (HIGH,), 3037000499),
    ("comb", (5, 2), 10),
    ("comb", (2, 5), 0),
    ("comb", (HIGH, 1), HIGH),
    ("comb", (HIGH, HIGH - 1), HIGH),
    ("comb", (62, 31), 465428353255261088),
    ("perm", (5, 2), 20),
    ("perm", (2, 5), 0),
    ("perm", (20, 20), 2432902008176640000),
    ("powmod", (3, 4, 10), 1),
    ("powmod", (3, 4, -10), -9),
    ("powmod", (LOW, HIGH, HIGH), HIGH - 1),
    ("powmod", (7, 0, 1), 0),
    ("ldexp", (0.75, 3), 6.0),
    ("ldexp", (1.0, HIGH), INF),
    ("ldexp", (-1.0, LOW), -0.0),
    ("ldexp", (NAN, 1), NAN),
    ("exponent", (6.0,), 3),
    ("exponent", (0.0,), 0),
    ("exponent", (5e-324,), -1073),
    ("exponent", (-INF,), 0),
    ("round_to", (1.115, 2), 1.11),
    ("round_to", (2.5, 0), 2.0),
    ("round_to", (-1250.0, -2), -1200.0),
    ("round_to", (1e300, 5), 1e300),
    ("round_to", (INF, 2), INF),
    ("bit_length", (5,), 3),
    ("bit_length", (-1,), 1),
    ("bit_length", (LOW,), 64),
    ("bit_count", (-7,), 3),
    ("bit_count", (LOW,), 1),
    ("bit_length", (HIGH,), 63),
    ("add", (1.0, 2.0), 3.0),
    ("sub", (1.0, 2.0), -1.0),
    ("neg", (1.0,), -1.0),
    ("stop", (1.5,), 1.5),
    ("abs", (-1.0,), 1.0),
]

FAILURES: list[tuple[str, tuple[Any, ...], type[Exception]]] = [
    ("fits", (3, 4), ValueError),
    ("poppable", (0,), IndexError),
    ("ifloordiv", (1, 0), ZeroDivisionError),
    ("imod", (1, 0), ZeroDivisionError),
    ("ipow", (2, -1), ValueError),
    ("ipow_exponent", (2, -1), ValueError),
    ("ipow_exponent", (LOW, LOW), ValueError),
    ("ipow_exponent", (0, -1), ZeroDivisionError),
    ("truncate", (NAN,), ValueError),
    ("truncate", (INF,), OverflowError),
    ("truncate", (2.0**63,), OverflowError),
    ("bound", (3, 3), IndexError),
    ("bound", (-4, 3), IndexError),
    ("within", (-1, 3), IndexError),
    ("within", (3, 3), IndexError),
    ("broadcast", (2, 3), ValueError),
    ("same", (1, 2), ValueError),
    ("mask_size", (1, 2), IndexError),
    ("unpacked", (1, 2), ValueError),
    ("size", (-1,), ValueError),
    ("filled", (0,), ValueError),
    ("add_fits", (HIGH, 1), OverflowError),
    ("sub_fits", (LOW, 1), OverflowError),
    ("mul_fits", (1 << 31, 1 << 32), OverflowError),
    ("neg_fits", (LOW,), OverflowError),
    ("abs_fits", (LOW,), OverflowError),
    ("floordiv_fits", (LOW, -1), OverflowError),
    ("pow_fits", (2, 63), OverflowError),
    ("pow_fits", (-2, HIGH), OverflowError),
    ("shl_fits", (1, 63), OverflowError),
    ("shl_fits", (1, HIGH), OverflowError),
    ("div_defined", (1.0, -0.0), ZeroDivisionError),
    ("floordiv_defined", (1.0, 0.0), ZeroDivisionError),
    ("mod_defined", (1.0, 0.0), ZeroDivisionError),
    ("no_pole", (0.0, -INF), ValueError),
    ("no_pole", (-1.0, NAN), ValueError),
    ("no_overflow", (1000.0, INF), OverflowError),
    ("remainder_defined", (1.0, 0.0, NAN), ValueError),
    ("no_overflow", (-INF, NAN), ValueError),
    ("pow_defined", (0.0, -1.0, INF), ZeroDivisionError),
    ("pow_defined", (-1.0, 0.5, NAN), ValueError),
    ("powi_defined", (0.0, -1, INF), ZeroDivisionError),
    ("powi_defined", (1e300, 2, INF), OverflowError),
    ("steps", (1, 2, 0), ValueError),
    ("slice_step", (0,), ValueError),
    ("shift_count", (-1,), ValueError),
    ("isqrt", (-1,), ValueError),
    ("comb", (-1, 2), ValueError),
    ("comb", (80, 40), OverflowError),
    ("perm", (2, -1), ValueError),
    ("perm", (30, 25), OverflowError),
    ("powmod", (2, 3, 0), ValueError),
    ("powmod", (2, -1, 3), ValueError),
    ("round_to", (1.0, 23), ValueError),
    ("factorial", (-1,), ValueError),
    ("factorial", (21,), OverflowError),
]


def name_of(prim: Prim) -> str:
    return prim.name


@pytest.mark.parametrize(("name", "args", "expected"), MEANINGS)
def test_meaning(name: str, args: tuple[Any, ...], expected: Any) -> None:
    result = PRIMS[name].meaning(*args)
    assert type(result) is type(expected)
    assert result == expected or (result != result and expected != expected)


@pytest.mark.parametrize(("name", "args", "expected"), EDGES)
def test_meaning_at_an_edge(name: str, args: tuple[Any, ...], expected: Any) -> None:
    result = PRIMS[name].meaning(*args)
    assert type(result) is type(expected)
    if expected != expected:
        assert result != result
    elif expected == 0.0:
        assert result == 0.0 and math.copysign(1, result) == math.copysign(1, expected)
    else:
        assert result == pytest.approx(expected, rel=4e-16, abs=0.0)


@pytest.mark.parametrize(("name", "args", "kind"), FAILURES)
def test_failure(name: str, args: tuple[Any, ...], kind: type[Exception]) -> None:
    with pytest.raises(ProgramError) as failure:
        PRIMS[name].meaning(*args)
    assert failure.value.kind is kind


def test_the_tables_above_are_complete() -> None:
    tables = (*MEANINGS, *EDGES)
    assert set(PRIMS) == {name for name, _, _ in tables}
    assert {p.name for p in PRIMS.values() if p.can_fail} == {f[0] for f in FAILURES}


def test_every_float_function_has_a_derivative() -> None:
    for prim in PRIMS.values():
        if prim.name == "stop":
            assert prim.transpose is None
        elif is_float(prim.result):
            assert prim.transpose is not None, prim.name
            assert len(prim.domain) == sum(map(is_float, prim.params)), prim.name


def transposed(prim: Prim, literal: dict[int, Any]) -> Program:
    """A program from the arguments and the result's cotangent to all cotangents."""
    b = Builder()
    params = tuple(Var(f"x{k}", ty) for k, ty in enumerate(prim.params))
    args: list[Operand] = [
        lit(literal[k]) if k in literal else p for k, p in enumerate(params)
    ]
    ct = Var("ct", prim.result)
    result = b.prim(prim.name, *args)
    assert prim.transpose is not None
    cts = prim.transpose(b, args, result, ct)
    zero = lit(0.0)
    results = [zero if c is None else c for c in cts]
    function = Function("f", (*params, ct), b.block(results))
    program = Program((function,))
    check(program, after="transpose")
    return program


def sample(prim: Prim, random: np.random.Generator) -> list[Any]:
    """Random arguments in the domain."""
    intervals = iter(prim.domain)
    choices: dict[Any, Callable[[], Any]] = {
        F64: lambda: float(random.uniform(*next(intervals))),
        # The order of a derivative is not negative.
        I64: lambda: int(random.integers(0 if prim.params[0] == I64 else -3, 5)),
        BOOL: lambda: bool(random.integers(2)),
    }
    return [choices[ty]() for ty in prim.params]


def central_difference(prim: Prim, args: list[Any], k: int) -> float:
    h = 1e-6
    up, down = list(args), list(args)
    up[k] += h
    down[k] -= h
    return float((prim.meaning(*up) - prim.meaning(*down)) / (2 * h))


@pytest.mark.parametrize("prim", DIFFERENTIABLE, ids=name_of)
def test_derivative(prim: Prim) -> None:
    random = np.random.default_rng(7)
    program = transposed(prim, {})
    for _ in range(20):
        args = sample(prim, random)
        cts = Interpreter(program).run(*args, 0.75)
        for k, ty in enumerate(prim.params):
            expected = 0.75 * central_difference(prim, args, k) if ty == F64 else 0.0
            assert cts[k] == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("prim", DIFFERENTIABLE, ids=name_of)
def test_derivative_beside_literals(prim: Prim) -> None:
    """An argument that is a literal gets no cotangent, or its right one."""
    random = np.random.default_rng(8)
    for fixed in range(len(prim.params)):
        args = sample(prim, random)
        cts = Interpreter(transposed(prim, {fixed: args[fixed]})).run(*args, 0.75)
        for k, ty in enumerate(prim.params):
            if ty == F64 and k != fixed:
                expected = 0.75 * central_difference(prim, args, k)
                assert cts[k] == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("prim", DIFFERENTIABLE, ids=name_of)
def test_a_zero_cotangent_contributes_zero(prim: Prim) -> None:
    """Wherever the function is taken: 0 * inf is 0 here."""
    program = transposed(prim, {})
    extremes = {F64: (0.0, -1.0, INF, NAN, 1e300), I64: (0, -1, 2), BOOL: (True, False)}
    for first in extremes[prim.params[0]]:
        for last in extremes[prim.params[-1]]:
            args = [first, 2.0, last][3 - len(prim.params) :]
            args[0] = first
            assert all(ct == 0.0 for ct in Interpreter(program).run(*args, 0.0))


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("abs", (0.0,), (0.0,)),
        ("sqrt", (0.0,), (INF,)),
        ("log", (0.0,), (INF,)),
        ("minimum", (1.0, 1.0), (1.0, 0.0)),
        ("maximum", (1.0, 1.0), (1.0, 0.0)),
        ("pow", (0.0, 2.0), (0.0, 0.0)),
        ("pow", (0.0, 0.0), (0.0, 0.0)),
        ("pow", (3.0, 0.0), (0.0, math.log(3.0))),
        ("powi", (0.0, 0), (0.0, 0.0)),
        ("powi", (0.0, 1), (1.0, 0.0)),
        ("select", (True, 1.0, 2.0), (0.0, 1.0, 0.0)),
        ("floordiv", (7.0, 2.0), (0.0, 0.0)),
        ("mod", (7.0, 2.0), (1.0, -3.0)),
    ],
)
def test_conventions(
    name: str, args: tuple[Any, ...], expected: tuple[float, ...]
) -> None:
    program = transposed(PRIMS[name], {})
    assert Interpreter(program).run(*args, 1.0) == expected


@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 3])
def test_literal_exponents(exponent: int) -> None:
    program = transposed(PRIMS["powi"], {1: exponent})
    (ct, _) = Interpreter(program).run(1.5, exponent, 1.0)
    assert ct == pytest.approx(exponent * 1.5 ** (exponent - 1))
