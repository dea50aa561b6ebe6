"""Builds the C kernels and wraps each build as a pair of Python functions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Parameters and data of one mixture, as the model and the C kernels take them."""

    alpha: Vector
    means: Vector
    q: Vector
    lower: Vector
    x: Vector
    gamma: float
    m: int

    @property
    def parameters(self) -> tuple[Vector, Vector, Vector, Vector]:
        return self.alpha, self.means, self.q, self.lower

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of `examples.gmm_model.log_posterior`."""
        return *self.parameters, self.x, self.gamma, self.m


class Kernel:
    """One build of gmm.c, bound to one problem; results go to `self.gradient`.

    The kernel keeps every array it has given to C alive.
    """

    def __init__(
        self, name: str, library: Any, ffi: cffi.FFI, problem: Problem
    ) -> None:
        self.name = name
        self._library = library
        self._alive = [ffi.from_buffer("double[]", a) for a in problem.arguments[:5]]
        *parameters, x = self._alive
        self.gradient = [np.zeros_like(a) for a in problem.parameters]
        outputs = [ffi.from_buffer("double[]", a) for a in self.gradient]
        n, d = problem.x.shape
        k = len(problem.alpha)
        fields = [n, k, d, problem.m, problem.gamma, x]
        self._problem = ffi.new("gmm_problem_t *", fields)
        self._parameters = ffi.new("gmm_parameters_t *", parameters)
        self._outputs = ffi.new("gmm_gradient_t *", outputs)
        self._alive += outputs
        self._value = ffi.new("double *")

    def value(self) -> float:
        """The log-posterior. Raises: MemoryError."""
        status = self._library.gmm_value(self._problem, self._parameters, self._value)
        return self._checked(status)

    def value_and_gradient(self) -> float:
        """The log-posterior; leaves its gradient in `gradient`. Raises: MemoryError."""
        status = self._library.gmm_value_and_gradient(
            self._problem, self._parameters, self._value, self._outputs
        )
        return self._checked(status)

    def _checked(self, status: int) -> float:
        if status != 0:
            raise MemoryError("the reference kernel found no memory")
        return float(self._value[0])


def build(folder: Path, kernels: str = "gmm") -> list[Path]:
    """Build all kernels in this folder; the libraries of these, one for each build."""
    configure = ["cmake", "-S", str(HERE), "-B", str(folder)]
    for command in (configure, ["cmake", "--build", str(folder)]):
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    return sorted(folder.glob(f"lib{kernels}-*.so"))


def declarations(kernels: str) -> str:
    """The declarations of a header, without the preprocessor's lines."""
    text = (HERE / f"{kernels}.h").read_text()
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)


def load(libraries: Sequence[Path], problem: Problem) -> list[Kernel]:
    """Every build bound to this problem, after checking that all of them agree."""
    ffi = cffi.FFI()
    ffi.cdef(declarations("gmm"))
    kernels = [
        Kernel(path.stem.removeprefix("libgmm-"), ffi.dlopen(str(path)), ffi, problem)
        for path in libraries
    ]
    _check_agreement(kernels)
    return kernels


def _check_agreement(kernels: Sequence[Kernel]) -> None:
    first, *others = kernels
    expected = first.value_and_gradient()
    for kernel in kernels:
        np.testing.assert_allclose(kernel.value(), expected, rtol=1e-12)
    for kernel in others:
        np.testing.assert_allclose(kernel.value_and_gradient(), expected, rtol=1e-12)
        for found, wanted in zip(kernel.gradient, first.gradient, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
