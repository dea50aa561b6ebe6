"""Programs beside their C kernels on the same numbers, compared first.

A kernel is two functions for each program, `name_value` and `name_gradient`, which take
the program's arguments, each array behind its lengths if a case says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
import numpy as np

import chadllvm as cl
from bench.measure import interleaved
from bench.reference.load import declarations
from bench.results import Figure


@dataclass(frozen=True)
class Case:
    """A program, the arguments to run it with, and those to differentiate by.

    `lengths`: the arrays in front of whose C parameter their lengths along all axes are
    passed.
    """

    program: Callable[..., float]
    arguments: tuple[Any, ...]
    argnums: tuple[int, ...]
    lengths: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.program.__name__

    def gradient(self) -> Callable[..., Any]:
        """The value with the derivatives by `argnums`."""
        return cl.value_and_grad(self.program, argnums=self.argnums)


@dataclass(frozen=True)
class Targets:
    """The most that ratios should be."""

    value_to_c: float
    gradient_to_value: float
    gradient_to_c: float | None = None


class Kernel:
    """The C functions of one build, bound to the arguments of a case."""

    def __init__(self, path: Path, case: Case) -> None:
        ffi = cffi.FFI()
        kernel, self.build = path.stem.removeprefix("lib").split("-", 1)
        ffi.cdef(declarations(kernel))
        # The functions do not keep the library alive.
        self._library = library = ffi.dlopen(str(path))
        self._value_of = getattr(library, f"{case.name}_value")
        self._gradient_of = getattr(library, f"{case.name}_gradient")
        self.gradient = [np.zeros_like(case.arguments[k]) for k in case.argnums]
        self._out = ffi.new("double *")
        self._outputs = [ffi.from_buffer("double[]", g) for g in self.gradient]
        self._inputs: list[Any] = []
        for k, argument in enumerate(case.arguments):
            if k in case.lengths:
                self._inputs.extend(argument.shape)
            if isinstance(argument, np.ndarray):
                kind = "double[]" if argument.dtype == np.float64 else "int64_t[]"
                argument = ffi.from_buffer(kind, argument)
            self._inputs.append(argument)

    def value(self) -> float:
        """The value. Raises: MemoryError."""
        return self._checked(self._value_of(*self._inputs, self._out))

    def value_and_gradient(self) -> float:
        """The value; leaves the derivatives in `gradient`. Raises: MemoryError."""
        status = self._gradient_of(*self._inputs, self._out, *self._outputs)
        return self._checked(status)

    def _checked(self, status: int) -> float:
        if status != 0:
            raise MemoryError("the reference kernel found no memory")
        return float(self._out[0])


def compare(
    case: Case,
    libraries: list[Path],
    targets: Targets,
    rounds: int,
    *,
    tolerance: float = 1e-6,
    label: str | None = None,
) -> Iterator[Figure]:
    """Times of a program and of its kernels, taken in turns, and their ratios.

    `label`: what the figures are called; the program's name by default.
    """
    label = label or case.name
    gradient = case.gradient()
    kernels = [Kernel(path, case) for path in libraries]
    for kernel in kernels:
        check(case, gradient, kernel, tolerance)
    times = interleaved(_runs(case, gradient, kernels), rounds)
    yield from _figures(label, times, targets)
    yield _tape(label, case, gradient)


def check(
    case: Case, gradient: Callable[..., Any], kernel: Kernel, tolerance: float = 1e-6
) -> None:
    """Our value and gradient are those of the C kernel.

    The tolerance is that of each gradient, relative to its numbers and absolute, or
    relative to the largest of them if that is above 1.
    """
    expected = kernel.value_and_gradient()
    value, found = gradient(*case.arguments)
    np.testing.assert_allclose(kernel.value(), expected, rtol=1e-12)
    np.testing.assert_allclose(case.program(*case.arguments), expected, rtol=1e-9)
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    for ours, theirs in zip(found, kernel.gradient, strict=True):
        absolute = tolerance * max(1.0, float(np.max(np.abs(theirs))))
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=absolute)


def _runs(
    case: Case, gradient: Callable[..., Any], kernels: list[Kernel]
) -> dict[str, Callable[[], object]]:
    runs: dict[str, Callable[[], object]] = {
        "value": lambda: case.program(*case.arguments),
        "gradient": lambda: gradient(*case.arguments),
    }
    for kernel in kernels:
        runs[f"C value {kernel.build}"] = kernel.value
        runs[f"C gradient {kernel.build}"] = kernel.value_and_gradient
    return runs


def _figures(name: str, times: dict[str, float], targets: Targets) -> Iterator[Figure]:
    c_value = min(t for key, t in times.items() if key.startswith("C value"))
    c_gradient = min(t for key, t in times.items() if key.startswith("C gradient"))
    value, gradient = times["value"], times["gradient"]
    yield Figure(f"{name} C value", c_value * 1e3, "ms")
    yield Figure(f"{name} C value and gradient", c_gradient * 1e3, "ms")
    yield Figure(f"{name} C gradient/value", c_gradient / c_value, "x")
    yield Figure(f"{name} value to C", value / c_value, "x", targets.value_to_c)
    most = targets.gradient_to_c
    yield Figure(f"{name} gradient to C", gradient / c_gradient, "x", most)
    ratio = gradient / value
    yield Figure(f"{name} gradient/value", ratio, "x", targets.gradient_to_value)


def _tape(name: str, case: Case, gradient: Any) -> Figure:
    """The bytes that a step stores for the reverse, at most; arrays are told inside."""
    loops = gradient.report(*case.arguments).loops
    sums = [sum(s.bytes or 0 for s in loop.stored if s.tape) for loop in loops]
    return Figure(f"{name} tape", max(sums, default=0), "bytes a step")
