"""The programs that passes are judged by: the workloads and the wide suite."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bench.wide.kernel import kernels
from bench.workload import workloads

OWN = "workloads"


@dataclass(frozen=True)
class Subject:
    """A plain function with its arguments, and those to differentiate by."""

    family: str
    program: Callable[..., float]
    arguments: Callable[[bool], tuple[Any, ...]]
    argnums: tuple[int, ...]


@functools.cache
def subjects() -> Mapping[str, Subject]:
    """All subjects by their names.

    Their arguments depend on whether little will do; a workload has the second of its
    sizes otherwise.
    """
    found = {}
    for name, workload in workloads().items():

        def problem(quick: bool, workload: Any = workload) -> tuple[Any, ...]:
            return workload.problem(*(workload.small if quick else workload.sizes[1]))

        program = workload.program.py_func  # type: ignore[attr-defined]
        found[name] = Subject(OWN, program, problem, workload.argnums)
    for name, kernel in kernels().items():

        def given(quick: bool, kernel: Any = kernel) -> tuple[Any, ...]:
            return kernel.arguments()

        found[name] = Subject(kernel.family, kernel.program, given, kernel.argnums)
    return MappingProxyType(found)


def chosen(names: Sequence[str]) -> Sequence[str]:
    """The names that a command is given, all of subjects; or all that there are."""
    unknown = [name for name in names if name not in subjects()]
    if unknown:
        raise SystemExit(
            f"there is no program {unknown[0]!r}; there are {[*subjects()]}"
        )
    return names or [*subjects()]
