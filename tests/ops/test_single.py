"""Every primitive on f32: what it computes on f64, rounded; and so its derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from chadllvm.ir.build import Builder
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.term import Function, Operand, Program, Var, literal
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar, is_float, to_single
from tests.ops.test_lowering import agree, argument_lists, native, outcome

SINGLE = [prim for prim in PRIMS.values() if prim.single_params is not None]
DIFFERENTIABLE = [prim for prim in SINGLE if prim.transpose is not None]

# An ulp of an f32 is 1.2e-7 of it, and the C library is a few of them off.
PRECISION = 1e-6
# Multiplied out, a power has an error for each factor; log(x) is taken of what is near
# 1 by the formulas of the others, and a sum of two may be near 0.
LOOSE = {"powi": 2e-5, "pow": 1e-5, "gamma": 1e-5, "logaddexp": 1e-5}


def name_of(prim: Prim) -> str:
    return prim.name


def near(found: Any, wanted: Any, relative: float) -> bool:
    if isinstance(wanted, float) and math.isfinite(wanted) and math.isfinite(found):
        return abs(float(found) - wanted) <= relative * abs(wanted) + 1e-44
    return agree(found, wanted)


@pytest.mark.parametrize("prim", SINGLE, ids=name_of)
def test_machine_code_rounds_what_the_meaning_says(prim: Prim) -> None:
    assert prim.single_params is not None
    function = native(prim, {}, single=True)
    for args in argument_lists(prim.single_params):
        if prim.name == "powi" and abs(args[1]) > 64:
            continue
        wanted, found = outcome(prim.meaning, args), outcome(function, args)
        if isinstance(wanted, float):
            assert isinstance(found, np.float32), (args, found)
            wanted = to_single(wanted)
        assert near(found, wanted, LOOSE.get(prim.name, PRECISION)), (args, wanted)


def transposed(prim: Prim, types: tuple[Scalar, ...]) -> Program:
    """From arguments of these types and a cotangent to all cotangents."""
    b = Builder()
    params = tuple(Var(f"x{k}", ty) for k, ty in enumerate(types))
    result = b.prim(prim.name, *params)
    ct = Var("ct", result.type)
    assert prim.transpose is not None
    cts = prim.transpose(b, params, result, ct)
    results: list[Operand] = [
        literal(0, ty) if found is None else found
        for ty, found in zip(types, cts, strict=True)
    ]
    program = Program((Function("f", (*params, ct), b.block(results)),))
    check(program, after="transpose")
    assert program.entry.body.types == types
    return program


def sample(prim: Prim, random: np.random.Generator) -> list[Any]:
    """Random arguments in the domain, each an f32."""
    intervals = iter(prim.domain)
    args: list[Any] = []
    for ty in prim.params:
        if is_float(ty):
            args.append(to_single(random.uniform(*next(intervals))))
        else:
            args.append(bool(random.integers(2)) if ty == BOOL else 2)
    return args


@pytest.mark.parametrize("prim", DIFFERENTIABLE, ids=name_of)
def test_derivative_is_that_of_f64_rounded(prim: Prim) -> None:
    assert prim.single_params is not None
    random = np.random.default_rng(11)
    single, double = (transposed(prim, t) for t in (prim.single_params, prim.params))
    for _ in range(20):
        args = sample(prim, random)
        wanted = Interpreter(double).run(*args, 0.75)
        found = Interpreter(single).run(*args, 0.75)
        for ty, ct, expected in zip(prim.params, found, wanted, strict=True):
            if is_float(ty):
                assert ct == to_single(ct)
                assert ct == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("prim", DIFFERENTIABLE, ids=name_of)
def test_a_zero_cotangent_contributes_zero(prim: Prim) -> None:
    assert prim.single_params is not None
    program = transposed(prim, prim.single_params)
    extremes = {F32: (0.0, -1.0, math.inf, math.nan, 1e30), I64: (0, 2), BOOL: (True,)}
    first, *_, last = (*prim.single_params, prim.single_params[-1])
    for x in extremes[first]:
        for y in extremes[last]:
            args = [x, 2.0, y][3 - len(prim.params) :]
            args[0] = x
            assert all(ct == 0.0 for ct in Interpreter(program).run(*args, 0.0))


def test_rounding_is_undone_by_the_transposed_conversion() -> None:
    for name, ty, other in (("narrow", F64, F32), ("widen", F32, F64)):
        program = transposed(PRIMS[name], (ty,))
        assert program.entry.params[1].type == other
        assert Interpreter(program).run(0.3, 0.75) == (0.75,)
