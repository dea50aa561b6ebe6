"""How subroutines are called, where LLVM knows several ways."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.aot.targets import target_for


@cl.jit
def power(x: float, n: int) -> float:
    return 1.0 if n == 0 else x * power(x, n - 1)


@cl.jit
def largest(x: cl.f64[:], low: int, high: int) -> tuple[int, int, int, float]:
    """How many there are, the places of the least and of the largest, their sum."""
    if high - low == 1:
        return 1, low, low, x[low]
    middle = (low + high) // 2
    n, least, most, some = largest(x, low, middle)
    m, little, much, rest = largest(x, middle, high)
    first = least if x[least] <= x[little] else little
    last = most if x[most] >= x[much] else much
    return n + m, first, last, some + rest


@pytest.mark.parametrize(
    ("triple", "convention"),
    [
        ("x86_64-unknown-linux-gnu", "swiftcc "),
        ("x86_64-apple-macosx11", "swiftcc "),
        ("x86_64-w64-windows-gnu", ""),
        ("x86_64-w64-mingw32", ""),
        ("aarch64-unknown-linux-gnu", ""),
        ("riscv64-unknown-linux-gnu", ""),
        ("wasm32-unknown-wasi", ""),
    ],
)
def test_the_convention_is_one_that_the_system_has(
    triple: str, convention: str, tmp_path: Path
) -> None:
    assert target_for(triple, None).convention == convention
    functions = {"power": power, "gradient": cl.value_and_grad(power)}
    made = cl.export(functions, tmp_path / "libpower", kind="object", target=triple)
    assert b"power" in made.read_bytes()


@pytest.mark.optimised
def test_five_results_arrive() -> None:
    x = np.random.default_rng(3).normal(size=100)
    n, least, most, total = largest(x, 0, 100)
    assert (n, least, most) == (100, x.argmin(), x.argmax())
    assert total == pytest.approx(x.sum(), rel=1e-13)


@pytest.mark.optimised
@pytest.mark.skipif(platform.machine() != "x86_64", reason="registers of x86-64")
@pytest.mark.skipif(platform.system() == "Windows", reason="another convention")
def test_subroutines_use_it() -> None:
    largest(np.ones(2), 0, 2)
    text = largest.show("llvm")
    assert "define internal swiftcc { i32, i64, i64, i64, double }" in text
