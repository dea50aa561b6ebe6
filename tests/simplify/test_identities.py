"""Every identity holds to the bit, for every primitive on the edges of its types."""

from __future__ import annotations

import math
import random
import struct
from itertools import product
from typing import Any

import pytest

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import PRIMS, Prim, ProgramError
from chadllvm.ir.term import Function, Operand, Program, Var, literal
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar, to_single
from chadllvm.simplify.constants import fold_constants

FLOATS = (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -4.0, 0.1, math.inf, -math.inf, math.nan)
INTEGERS = (0, 1, -1, 2, 3, -7, 2**63 - 1, -(2**63))
SINGLES = (0.0, -0.0, 1.0, -1.0, 2.0, to_single(0.1), 2.0**-140)
LITERALS: dict[Scalar, tuple[Any, ...]] = {
    F64: FLOATS,
    F32: SINGLES,
    I64: INTEGERS,
    BOOL: (True, False),
}
VALUES: dict[Scalar, tuple[Any, ...]] = {
    F64: (0.0, -0.0, 1.5, -3.0, math.inf, math.nan),
    F32: (-0.0, 1.5, 2.0**127, math.nan),
    I64: (0, 1, -5, 2**63 - 1, -(2**63)),
    BOOL: (True, False),
}
INNER = {
    F64: (("neg", ()), ("mul", (3.0,)), ("abs", ())),
    F32: (("neg", ()), ("mul", (3.0,)), ("abs", ())),
    I64: (("ineg", ()), ("iadd", (5,)), ("isub", (2,))),
    BOOL: (("not", ()),),
}
# Primitives of three operands are applied in thousands of ways, of which some will do.
MOST_APPLICATIONS = 400
# Their rules are exact but for the sign of zero, and but for rounding.
ROUNDED = frozenset({"scale", "powi", "pow"})


def operands(b: Builder, ty: Scalar, variables: tuple[Var, Var]) -> list[Operand]:
    """Variables, literals and applications of a primitive, of one type."""
    x = variables[0]
    inner = [b.prim(name, x, *map(lit, rest)) for name, rest in INNER[ty]]
    return [*variables, *inner, *(literal(value, ty) for value in LITERALS[ty])]


def same_bits(found: Any, expected: Any) -> bool:
    if type(found) is not type(expected):
        return False
    if isinstance(found, float) and found == found:
        return struct.pack("d", found) == struct.pack("d", expected)
    return bool(found == expected or (found != found and expected != expected))


def close(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-15, abs=0.0, nan_ok=True)


def result(program: Program, values: tuple[Any, ...]) -> Any:
    try:
        return Interpreter(program).run(*values)[0]
    except ProgramError as error:
        return error.kind


def check_application(prim: Prim, b: Builder, args: Any, params: list[Var]) -> None:
    """One application of a primitive before and after, on all values."""
    rest = Builder()
    rest.bindings = list(b.bindings)
    program = Program(
        (Function("f", tuple(params), rest.block([rest.prim(prim.name, *args)])),)
    )
    simple = fold_constants(program)
    if simple is program:
        return
    equal = close if prim.name in ROUNDED else same_bits
    for values in product(*(VALUES[p.type] for p in params)):
        expected = result(program, values)
        found = result(simple, values)
        assert equal(found, expected), (prim.name, args, values, found, expected)


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("name", PRIMS)
def test_identities(name: str) -> None:
    check_all(PRIMS[name], PRIMS[name].params)


SINGLE = [name for name, prim in PRIMS.items() if prim.single_params is not None]


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("name", SINGLE)
def test_identities_of_f32(name: str) -> None:
    types = PRIMS[name].single_params
    assert types is not None
    check_all(PRIMS[name], types)


def check_all(prim: Prim, types: tuple[Scalar, ...]) -> None:
    pairs = {ty: (Var("x", ty), Var("y", ty)) for ty in dict.fromkeys(types)}
    b = Builder()
    choices = {ty: operands(b, ty, pair) for ty, pair in pairs.items()}
    params = [v for pair in pairs.values() for v in pair]
    applications = list(product(*(choices[ty] for ty in types)))
    if len(applications) > MOST_APPLICATIONS:
        applications = random.Random(prim.name).sample(applications, MOST_APPLICATIONS)
    for args in applications:
        check_application(prim, b, args, params)
