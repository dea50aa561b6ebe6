"""The workloads of the benchmarks agree with their C kernels, and undecorated."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.kernels import Kernel, check
from bench.reference.load import HERE
from bench.workload import Workload, workloads

FLAGS = ("-std=c11", "-O1", "-fopenmp-simd", "-fPIC", "-shared", "-Wall", "-Werror")


@pytest.mark.parametrize("workload", tuple(workloads()), ids=lambda found: found.name)
def test_the_smallest_size_agrees_with_c(workload: Workload, tmp_path: Path) -> None:
    """The value as compiled and undecorated, and the gradient, are those of C."""
    case = workload.case(workload.small)
    kernel = Kernel(_built(workload.source, tmp_path), case)
    check(case, case.gradient(), kernel, workload.tolerance)
    plain: Any = workload.program
    np.testing.assert_allclose(
        plain.py_func(*case.arguments), kernel.value(), rtol=1e-9
    )


def _built(source: str, folder: Path) -> Path:
    library = folder / f"lib{source}-cc.so"
    command = ["cc", *FLAGS, str(HERE / f"{source}.c"), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return library
