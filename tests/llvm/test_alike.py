"""Functions that do the same are written once, and only those."""

from __future__ import annotations

import re

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.ir.loops import PTR, Clear, LoopFunction, Reg
from chadllvm.ir.term import Lit
from chadllvm.ir.types import F64
from chadllvm.llvm.alias import AliasScopes
from chadllvm.llvm.alike import LEAST, Alike

# The first number of metadata here.
FIRST = 10


def scopes(roots: int = 0) -> AliasScopes:
    """A scope for each of the buffers of so many roots."""
    buffer = Reg("p", PTR)
    body = tuple(Clear(buffer, Lit(1), F64, root) for root in range(roots))
    return AliasScopes(LoopFunction("f", (), (), body, 0, tuple(range(roots))), FIRST)


def function(symbol: str, *lines: str) -> tuple[str, list[str]]:
    fill = [f"  %t.{k} = add i64 %t.{k - 1}, 1" for k in range(100, 100 + LEAST)]
    head = f"define internal i32 @{symbol}(ptr %env) #0 {{"
    return symbol, [head, *(f"  {line}" for line in lines), *fill, "}"]


def merged(first: list[str], second: list[str], about: tuple[str, ...] = ()) -> bool:
    alike = Alike(scopes(), about)
    both = [function('"f:0"', *first), function('"f:1"', *second)]
    lines, instead = alike.merged(both)
    text = "\n".join(lines)
    assert text.count("define ") == 2 - len(instead)
    assert text.count("noinline") == len(instead)
    return instead == {'"f:1"': '"f:0"'}


def test_names_do_not_matter() -> None:
    one = ["%x.3 = load ptr, ptr %env", "%t.4 = load double, ptr %x.3"]
    assert merged(one, [line.replace("x.3", "velocity.3") for line in one])
    assert not merged(one, [one[0], "%t.4 = load float, ptr %x.3"])
    assert not merged(one, [one[0], "%t.4 = load double, ptr %env"])
    assert not merged(one, [*one, "call void @g()"])


def test_small_ones_are_left_alone() -> None:
    small = ["define internal i32 @f() #0 {", "  ret i32 0", "}"]
    assert Alike(scopes(), ()).merged([("a", small), ("b", small)])[1] == {}


def accesses(alias: AliasScopes, *roots: tuple[int, ...]) -> list[str]:
    return [f"load double, ptr %x.1{alias.suffix(*own)}" for own in roots]


@pytest.mark.parametrize(
    ("second", "alike"),
    [
        (((2,), (3,), (2,)), True),
        (((1,), (0,), (1,)), True),
        (((2,), (3,), (3,)), False),
        (((2,), (2,), (2,)), False),
        (((2, 3), (3,), (2, 3)), False),
        (((0, 1), (2, 3), (0, 1)), False),
    ],
)
def test_the_same_accesses_are_apart(
    second: tuple[tuple[int, ...], ...], alike: bool
) -> None:
    alias = scopes(4)
    parts = [
        function(symbol, *accesses(alias, *roots))
        for symbol, roots in (('"f:0"', ((0,), (1,), (0,))), ('"f:1"', second))
    ]
    assert (Alike(alias, ()).merged(parts)[1] != {}) == alike


def test_what_metadata_says_matters() -> None:
    lines = ["br label %head.1, !llvm.loop !{}", "load i64, ptr %x.2, !group !{}"]

    def uses(*nodes: int) -> list[str]:
        return [line.format(n) for line, n in zip(lines, nodes, strict=True)]

    about = (
        "!20 = distinct !{}",
        "!21 = distinct !{!21, !20}",
        "!22 = distinct !{}",
        "!23 = distinct !{!23, !22}",
        "!24 = distinct !{!24, !20, !20}",
    )
    assert merged(uses(21, 20), uses(23, 22), about)
    assert not merged(uses(21, 20), uses(23, 20), about)
    assert not merged(uses(21, 20), uses(24, 20), about)
    # What all modules have is the same or not.
    assert merged(uses(1, 2), uses(1, 2), about)
    assert not merged(uses(1, 2), uses(1, 3), about)


@cl.jit
def pulls(x: cl.f64[:]) -> cl.f64[:]:
    n = len(x)
    a = np.zeros(n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            d = x[j] - x[i]
            total += d / (1.0 + d * d)
        a[i] = total
    return a


def energy(x: cl.f64[:]) -> float:
    y = pulls(x)
    z = pulls(y)
    return np.sum(pulls(z) * x)


@pytest.mark.optimised
def test_what_is_called_twice_is_there_once() -> None:
    options = cl.CompileOptions(cache=False)
    both = cl.value_and_grad(cl.jit(energy, options=options))
    plain = cl.value_and_grad(cl.jit(energy, options=options, parallel=False))
    x = np.random.default_rng(3).normal(size=400)
    value, slope = plain(x)
    try:
        for threads in (1, 2, 3):
            runtime().lib.chad_set_threads(threads)
            found = both(x)
            assert found[0] == pytest.approx(value, rel=1e-12)
            assert np.allclose(found[1], slope, rtol=1e-10)
    finally:
        runtime().lib.chad_set_threads(0)
    text = both.show("llvm", x)
    loops = both.show("loops", x).count("spread ")
    written = len(re.findall(r"^define internal .*:chunk\.\d+\"\(", text, re.M))
    assert 0 < written < loops
    cl.check_grads(cl.jit(energy, options=options), (x[:20],), modes="rev")
