"""The workloads of the benchmarks agree with their C kernels, and undecorated."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.count import OperationCounts
from bench.kernels import Kernel, check
from bench.peak import peak_memory
from bench.reference.load import HERE
from bench.workload import Size, Workload, workloads
from chadllvm.support.options import CompileOptions

pytestmark = pytest.mark.optimised

FLAGS = ("-std=c11", "-O1", "-fopenmp-simd", "-fPIC", "-shared", "-Wall", "-Werror")


WHOLE = CompileOptions(disabled=frozenset({"parallel"}))

each_workload = pytest.mark.parametrize(
    "workload", workloads().values(), ids=workloads().keys()
)


@pytest.mark.sweep(share=2)
@each_workload
def test_the_smallest_size_agrees_with_c(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value as compiled and undecorated, and the gradient, are those of C."""
    case = workload.case(workload.small)
    kernel = Kernel(_built(workload.source, tmp_path), case)
    check(case, case.gradient(), kernel, workload.tolerance)
    plain = _undecorated(workload.program, monkeypatch)
    np.testing.assert_allclose(plain(*case.arguments), kernel.value(), rtol=1e-9)


@each_workload
def test_the_gradient_costs_a_constant_factor(workload: Workload) -> None:
    """Executed operations, which are exact: the ratio grows with no number of the size.

    Each number is doubled four, five and six times. What a call costs without any
    input, or a row without its elements, is seen less at each doubling: the ratio may
    come closer to its limit. Were there a logarithm, it would rise by the same again.
    Loops are whole here: how many chunks one has depends on its size.
    """
    counts = OperationCounts(workload, WHOLE)
    for k in range(len(workload.small)):
        ratios = []
        for doublings in (4, 5, 6):
            arguments = workload.problem(*_grown(workload, k, doublings))
            ratios.append(counts.gradient(arguments) / counts.value(arguments))
        first, second, third = ratios
        rest = max(0.7 * (second - first), 0.005 * first)
        assert third - second <= rest, f"number {k}: {ratios}"


def test_the_memory_of_both_is_counted(tmp_path: Path) -> None:
    """The C kernel has two plates and a number more, and is handed the gradient."""
    case = workloads()["heat"].case((8, 10))
    library = _built("heat", tmp_path, "-include", str(HERE / "counted.h"))
    memory = peak_memory(case, library)
    plate = 8 * 8 * 8
    assert memory.c == 2 * plate + 8 + plate
    # Ours has the plate that changes, its cotangent, and the gradient that it returns.
    assert 3 * plate <= memory.ours < 100 * plate


@pytest.mark.parametrize("name", ["bundle_adjustment", "kmeans"])
def test_chunks_cost_a_share_of_the_work(name: str) -> None:
    """Copies of cells are cleared and merged, which is bounded by what chunks do."""
    workload = workloads()[name]
    arguments = workload.problem(*_grown(workload, 0, 7))
    whole = OperationCounts(workload, WHOLE).gradient(arguments)
    chunks = OperationCounts(workload).gradient(arguments)
    assert whole < chunks <= 1.2 * whole


def _grown(workload: Workload, k: int, times: int) -> Size:
    """The smallest size with number k so that there is more work."""
    size = list(workload.small)
    size[k] *= workload.growth**times
    return tuple(size)


def _undecorated(program: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """The program as plain Python, and so what it calls."""
    names = program.py_func.__globals__
    for name, value in list(names.items()):
        if hasattr(value, "py_func"):
            monkeypatch.setitem(names, name, value.py_func)
    function: Callable[..., float] = program.py_func
    return function


def _built(source: str, folder: Path, *more: str) -> Path:
    library = folder / f"lib{source}-cc.so"
    command = [
        "cc",
        *FLAGS,
        *more,
        str(HERE / f"{source}.c"),
        "-o",
        str(library),
        "-lm",
    ]
    subprocess.run(command, check=True)
    return library
