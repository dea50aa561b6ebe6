"""The form of a workload: one program with its C kernel, at several sizes.

A file of `bench/workloads/` that holds a `WORKLOAD` holds a program in the plain
subset, which also runs undecorated, and a function that makes its arguments for a size,
the same for the same size. Its kernel is `bench/reference/NAME.c` with `NAME.h`, which
declares `PROGRAM_value` and `PROGRAM_gradient`, see `bench/kernels.py`. A report, an
ablation or a comparison with other systems goes over `workloads()`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

import bench.workloads
from bench.kernels import Case
from bench.settings import Settings

Size = tuple[float, ...]


@dataclass(frozen=True)
class Workload:
    """A program, and what it is run with.

    `problem`: the arguments for a size, whose numbers are its parameters, with names.
    `sizes`: those that are measured; `small`: one for quick runs and for tests; `grid`:
    those that are measured only if asked for, `sizes` among them.
    `argnums`: the arguments to differentiate by. `lengths`: see `Case`.
    `tolerance`: of the gradients, see `check`.
    `kernel`: the name of the C file; the program's name by default.
    `exempt`: the hand-derived gradient needs no tape where any general one does, so
    that nothing is promised beside it.
    `growth`: by what a number of the size is multiplied for more work; 2 by default.
    """

    program: Callable[..., float]
    problem: Callable[..., tuple[Any, ...]]
    sizes: tuple[Size, ...]
    small: Size
    argnums: tuple[int, ...]
    lengths: tuple[int, ...]
    tolerance: float = 1e-9
    kernel: str | None = None
    grid: tuple[Size, ...] = ()
    exempt: bool = False
    growth: float = 2

    @property
    def name(self) -> str:
        """The name of the program, and of the functions of the kernel."""
        return self.program.__name__

    @property
    def source(self) -> str:
        """The name of the kernel's C file, without its ending."""
        return self.kernel or self.name

    def case(self, size: Size) -> Case:
        """The program with the arguments of a size."""
        return Case(self.program, self.problem(*size), self.argnums, self.lengths)

    def measured_sizes(self, settings: Settings) -> tuple[Size, ...]:
        """The sizes to measure."""
        if settings.quick:
            return (self.small,)
        return (self.grid or self.sizes) if settings.grid else self.sizes

    def named(self, size: Size) -> dict[str, float]:
        """A size as numbers with names."""
        names = inspect.signature(self.problem).parameters
        return dict(zip(names, size, strict=True))


@functools.cache
def workloads() -> Mapping[str, Workload]:
    """All workloads of this form, by the names of their files."""
    found = {}
    for module in iter_modules(bench.workloads.__path__):
        workload = import_module(f"bench.workloads.{module.name}")
        if hasattr(workload, "WORKLOAD"):
            found[module.name] = workload.WORKLOAD
    return MappingProxyType(found)
