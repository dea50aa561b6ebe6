"""Code for a level of x86-64 instead of the machine's own processor."""

from __future__ import annotations

import ctypes
import math
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.api import pointer
from chadllvm.backend import host, jit
from chadllvm.driver import portable, specialising
from chadllvm.support.levels import LEVELS, highest, lacking

on_x86 = pytest.mark.skipif(not host.is_x86(), reason="levels are of x86-64")

# What Linux says of a processor from before AVX.
NEHALEM = frozenset(
    {"fpu", "cx8", "cmov", "mmx", "fxsr", "sse", "sse2", "syscall", "pni", "ssse3"}
    | {"cx16", "sse4_1", "sse4_2", "popcnt", "lahf_lm"}
)


def energy(x: cl.f64[:], k: float) -> float:
    return np.sum(np.exp(k * np.sin(x)) * x)


def at_level(cpu: str, function: Any = energy) -> Any:
    return cl.value_and_grad(cl.jit(function, options=cl.CompileOptions(cpu=cpu)))


def reachable() -> list[str]:
    known = [*LEVELS]
    return known[: known.index(highest(host.flags())) + 1] if host.is_x86() else []


@pytest.fixture
def old_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(host, "flags", lambda: NEHALEM)
    monkeypatch.setattr(host, "is_x86", lambda: True)
    host.require.cache_clear()
    yield
    host.require.cache_clear()


@pytest.mark.optimised
@pytest.mark.parametrize("cpu", reachable())
def test_values_and_instructions(cpu: str) -> None:
    x = np.linspace(0.0, 1.0, 1003)
    gradient = at_level(cpu)
    value, slope = gradient(x, 0.5)
    expected, slopes = at_level("native")(x, 0.5)
    assert math.isclose(value, expected, rel_tol=1e-12)
    np.testing.assert_allclose(slope, slopes, rtol=1e-12)
    text = str(gradient.show("asm"))
    assert bool(re.search(r"%?ymm\d", text)) is (cpu >= "x86-64-v3")
    assert bool(re.search(r"vfn?m(add|sub)", text)) is (cpu >= "x86-64-v3")


def test_unknown_processors() -> None:
    with pytest.raises(ValueError, match="cpu='pentium': the processors are 'native'"):
        cl.CompileOptions(cpu="pentium")


def test_a_machine_that_lacks_something(old_machine: None) -> None:
    assert highest(NEHALEM) == "x86-64-v2"
    assert lacking("x86-64-v2", NEHALEM) == []
    with pytest.raises(ValueError, match=r"lacks avx, avx2, .*'x86-64-v2'$"):
        at_level("x86-64-v3")
    at_level("x86-64-v2")


@on_x86
def test_a_function_sent_to_a_lesser_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    if "x86-64-v3" not in reachable():
        pytest.skip("the machine is a lesser one")
    content = pickle.dumps(at_level("x86-64-v3"))
    monkeypatch.setattr(portable, "_ORIGINALS", {})
    monkeypatch.setattr(host, "flags", lambda: NEHALEM)
    host.require.cache_clear()
    with pytest.raises(ValueError, match="lacks avx"):
        pickle.loads(content)
    host.require.cache_clear()


def test_other_kinds_of_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "is_x86", lambda: False)
    host.require.cache_clear()
    with pytest.raises(ValueError, match="no processor of this machine"):
        at_level("x86-64-v3")
    host.require.cache_clear()


def test_what_the_system_says_names_a_level_whoever_says_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not host.is_x86():
        pytest.skip("levels are of x86-64")
    expected = highest(host.flags())
    monkeypatch.setattr(host, "_cpuinfo", lambda: ())
    assert highest(host.flags()) == expected


@on_x86
@pytest.mark.parametrize("cpu", ["native", "x86-64"])
def test_code_goes_along_to_another_processor(
    cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code for a level is used there, that for one processor is not."""
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "first"))
    gradient = at_level(cpu)
    x = np.linspace(0.0, 1.0, 5)
    expected, _ = gradient(x, 0.5)
    content = pickle.dumps(gradient)
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "second"))
    monkeypatch.setattr(portable, "_ORIGINALS", {})
    said = tuple(
        b"model\t\t: 999" if line.startswith(b"model\t") else line
        for line in host._cpuinfo()
    )
    monkeypatch.setattr(host, "_cpuinfo", lambda: said)
    host.processor.cache_clear()
    made: list[Any] = []
    was = jit.compiled

    def counted(*args: Any, **kwargs: Any) -> Any:
        made.append(args)
        return was(*args, **kwargs)

    monkeypatch.setattr(jit, "compiled", counted)
    if cpu != "native":
        monkeypatch.setattr(specialising, "specialise", None)
    found, _ = pickle.loads(content)(x, 0.5)
    host.processor.cache_clear()
    assert (found == expected, bool(made)) == (True, cpu == "native")


@on_x86
def test_pointers_are_for_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    was = pointer.target_for

    def target_for(triple: str | None, cpu: str | None) -> Any:
        asked.append(cpu)
        return was(triple, cpu)

    monkeypatch.setattr(pointer, "target_for", target_for)
    function = cl.jit(lambda x: 2.0 * x, options=cl.CompileOptions(cpu="x86-64"))
    result = ctypes.c_double()
    call = function.pointer(float).ctypes
    assert call(None, 1.5, ctypes.byref(result), None) == 0
    assert (result.value, asked) == (3.0, ["x86-64"])
