"""The form of a workload: one program with its C kernel, at several sizes.

A file of `bench/workloads/` that holds a `WORKLOAD` holds a program in the plain
subset, which also runs undecorated, and a function that makes its arguments for a size,
the same for the same size. Its kernel is `bench/reference/NAME.c` with `NAME.h`, which
declares `PROGRAM_value` and `PROGRAM_gradient`, see `bench/kernels.py`. A report, an
ablation or a comparison with other systems goes over `workloads()`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import bench.workloads
from bench.kernels import Case, Targets, compare
from bench.reference.load import build
from bench.report import Figure, Settings

TARGETS = Targets(value_to_c=1.4, gradient_to_value=4.0, gradient_to_c=1.6)


@dataclass(frozen=True)
class Workload:
    """A program, what it is run with, and the most that its ratios should be.

    `problem`: the arguments for a size, whose numbers are its parameters, with names.
    `sizes`: those that are measured; `small`: one for quick runs and for tests.
    `argnums`: the arguments to differentiate by. `lengths`: see `Case`.
    `tolerance`: of the gradients, see `check`.
    `kernel`: the name of the C file; the program's name by default.
    """

    program: Callable[..., float]
    problem: Callable[..., tuple[Any, ...]]
    sizes: tuple[tuple[float, ...], ...]
    small: tuple[float, ...]
    argnums: tuple[int, ...]
    lengths: tuple[int, ...]
    targets: Targets = TARGETS
    tolerance: float = 1e-9
    kernel: str | None = None

    @property
    def name(self) -> str:
        """The name of the program, and of the functions of the kernel."""
        return self.program.__name__

    @property
    def source(self) -> str:
        """The name of the kernel's C file, without its ending."""
        return self.kernel or self.name

    def case(self, size: tuple[float, ...]) -> Case:
        """The program with the arguments of a size."""
        return Case(self.program, self.problem(*size), self.argnums, self.lengths)

    def label(self, size: tuple[float, ...]) -> str:
        """The name of the program with a size."""
        names = inspect.signature(self.problem).parameters
        numbers = (f"{n}={v:g}" for n, v in zip(names, size, strict=True))
        return " ".join((self.name, *numbers))

    def measure(self, settings: Settings) -> Iterator[Figure]:
        """Times and ratios for each size, after a comparison with the kernels."""
        libraries = build(settings.build_folder, self.source)
        for size in (self.small,) if settings.quick else self.sizes:
            yield from compare(
                self.case(size),
                libraries,
                self.targets,
                settings.rounds(11),
                tolerance=self.tolerance,
                label=self.label(size),
            )


def workloads() -> Iterator[Workload]:
    """All workloads of this form, by the names of their files."""
    for module in iter_modules(bench.workloads.__path__):
        found = import_module(f"bench.workloads.{module.name}")
        if hasattr(found, "WORKLOAD"):
            yield found.WORKLOAD
