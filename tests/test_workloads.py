"""The workloads of the benchmarks agree with their C kernels, and undecorated."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.kernels import Kernel, check
from bench.reference.load import HERE
from bench.workload import Workload, workloads

FLAGS = ("-std=c11", "-O1", "-fopenmp-simd", "-fPIC", "-shared", "-Wall", "-Werror")


@pytest.mark.parametrize("workload", tuple(workloads()), ids=lambda found: found.name)
def test_the_smallest_size_agrees_with_c(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value as compiled and undecorated, and the gradient, are those of C."""
    case = workload.case(workload.small)
    kernel = Kernel(_built(workload.source, tmp_path), case)
    check(case, case.gradient(), kernel, workload.tolerance)
    plain = _undecorated(workload.program, monkeypatch)
    np.testing.assert_allclose(plain(*case.arguments), kernel.value(), rtol=1e-9)


def _undecorated(program: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """The program as plain Python, and so what it calls."""
    names = program.py_func.__globals__
    for name, value in list(names.items()):
        if hasattr(value, "py_func"):
            monkeypatch.setitem(names, name, value.py_func)
    function: Callable[..., float] = program.py_func
    return function


def _built(source: str, folder: Path) -> Path:
    library = folder / f"lib{source}-cc.so"
    command = ["cc", *FLAGS, str(HERE / f"{source}.c"), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return library
