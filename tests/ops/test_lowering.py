"""Every primitive as machine code does what its `meaning` says, and fails like it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import chadllvm.ops  # noqa: F401  (enters the operations)
from chadllvm.backend.call import NativeFunction
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import (
    LoopFunction,
    Reg,
    Return,
    ScalarParam,
    ScalarResult,
)
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.op import PRIMS, Prim, ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar, to_single
from chadllvm.support.diagnostic import Span

LITERALS: list[tuple[str, Any]] = [
    ("ifloordiv", 3),
    ("ifloordiv", -2),
    ("ifloordiv", 0),
    ("imod", 3),
    ("imod", -3),
    ("ipow", 5),
    ("ipow_exponent", 5),
    ("ipow", 0),
    ("bound", 3),
    ("mod", 1.0),
    ("floordiv", 2.0),
]
PLACE = Span("user.py", 3, 0, 3, 5, "f")
VALUES: dict[Any, tuple[Any, ...]] = {
    F64: (0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 7.0, 1e300, 2.0**53 + 2, math.inf, math.nan),
    F32: (0.0, -0.0, 1.0, -1.0, to_single(0.1), 2.0**25, 2.0**127, math.inf, math.nan),
    I64: (0, 1, -1, 2, -3, 7, 64, -(1 << 63), (1 << 63) - 1),
    BOOL: (False, True),
}


def native(prim: Prim, literals: dict[int, Any], *, single: bool = False) -> Any:
    """The primitive as a compiled function; some arguments may be literals.

    With `single` it is that of f32.
    """
    types: tuple[Scalar, ...] = prim.params
    if single:
        assert prim.single_params is not None
        types = prim.single_params
    (ty,) = prim.result_types(types, ())
    assert isinstance(ty, Scalar)
    loops = LoopBuilder()
    regs = [Reg(f"x{k}", ty) for k, ty in enumerate(types)]
    params = [ScalarParam(reg) for reg in regs]
    loops.depth.update((reg, 0) for reg in regs)
    args = [Lit(literals[k]) if k in literals else reg for k, reg in enumerate(regs)]
    if prim.lowering is None:
        result: Any = loops.let(prim.name, *args)
    else:
        result = prim.lowering(loops, args, PLACE)
    body = (*loops.close(), Return((result,)))
    function = LoopFunction("f", tuple(params), (ScalarResult(ty),), body, 0, ())
    check_loops(function)
    names = [reg.name for reg in regs]
    return NativeFunction(function, "f", names, types, ty).call


def argument_lists(types: Sequence[Scalar]) -> Iterator[tuple[Any, ...]]:
    """Combinations of the values at the edges, and random ones."""
    columns = [VALUES[ty] for ty in types]
    random = np.random.default_rng(3)
    if len(columns) == 1:
        yield from ((x,) for x in columns[0])
    elif len(columns) == 2:
        yield from ((x, y) for x in columns[0] for y in columns[1])
    draw: dict[Any, Callable[[], Any]] = {
        F64: lambda: float(random.normal()),
        F32: lambda: to_single(random.normal()),
        I64: lambda: int(random.integers(1, 9)),
        BOOL: lambda: bool(random.integers(2)),
    }
    for _ in range(30):
        yield tuple(draw[ty]() for ty in types)


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    """The result, or the kind of the failure."""
    try:
        return function(*args)
    except ProgramError as error:
        return error.kind
    except (ArithmeticError, ValueError, IndexError, MemoryError) as error:
        return type(error)


def agree(result: Any, expected: Any) -> bool:
    if isinstance(result, np.float32):
        result = float(result)
    if not isinstance(expected, float):
        return type(result) is type(expected) and bool(result == expected)
    if math.isnan(expected) or math.isinf(expected):
        return bool(result == expected) or (result != result and expected != expected)
    return bool(abs(result - expected) <= 1e-14 * abs(expected))


def signs_agree(x: float, y: float) -> bool:
    return math.copysign(1.0, x) == math.copysign(1.0, y)


def is_extreme_power(prim: Prim, args: tuple[Any, ...]) -> bool:
    """Powers with huge exponents lose digits by repeated squaring; not of interest."""
    return prim.name == "powi" and abs(args[1]) > 64


@pytest.mark.parametrize("prim", PRIMS.values(), ids=lambda p: p.name)
def test_machine_code_agrees_with_the_meaning(prim: Prim) -> None:
    function = native(prim, {})
    for args in argument_lists(prim.params):
        # The size of an array is not negative.
        if is_extreme_power(prim, args):
            continue
        if prim.name in ("bound", "within") and args[1] < 0:
            continue
        expected, result = outcome(prim.meaning, args), outcome(function, args)
        assert agree(result, expected), (args, result, expected)
        # Of two zeros either is the smaller one.
        if expected == 0.0 and prim.name not in ("minimum", "maximum"):
            assert signs_agree(result, expected), (args, result, expected)


@pytest.mark.parametrize(("name", "literal"), LITERALS)
def test_with_a_literal(name: str, literal: Any) -> None:
    prim = PRIMS[name]
    function = native(prim, {1: literal})
    for x in VALUES[prim.params[0]]:
        args = (x, literal)
        expected, result = outcome(prim.meaning, args), outcome(function, args)
        assert agree(result, expected), (args, result, expected)


def test_a_failure_says_the_same_words() -> None:
    with pytest.raises(ProgramError) as expected:
        PRIMS["bound"].meaning(5, 3)
    with pytest.raises(IndexError) as failure:
        native(PRIMS["bound"], {})(5, 3)
    assert str(expected.value) in str(failure.value)
    assert "user.py:3" in str(failure.value)
