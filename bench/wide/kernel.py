"""The form of a kernel, and all kernels by their names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

FAMILIES = ("tsvc", "livermore", "polybench", "stencils", "sciences")


@dataclass(frozen=True)
class Kernel:
    """A plain function, which returns a number, and the shapes of its arguments.

    Each shape is that of an array of reals, by all of which the kernel is
    differentiated, or says what else is given: an int is given as it is, `places` is an
    array of indices below its length.
    """

    program: Callable[..., float]
    family: str
    shapes: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.program.__name__

    @property
    def argnums(self) -> tuple[int, ...]:
        """The arguments that are arrays of reals."""
        return tuple(k for k, s in enumerate(self.shapes) if isinstance(s, tuple))

    def arguments(self) -> tuple[Any, ...]:
        """Numbers between 0.1 and 1, the same each time."""
        rng = np.random.default_rng(sum(map(ord, self.name)))
        return tuple(_argument(shape, rng) for shape in self.shapes)


def _argument(shape: Any, rng: np.random.Generator) -> Any:
    if isinstance(shape, tuple):
        return rng.uniform(0.1, 1.0, shape)
    if isinstance(shape, Places):
        return rng.integers(0, shape.count, shape.count)
    return shape


@dataclass(frozen=True)
class Places:
    """An array of indices, as many as there are places, some of them twice."""

    count: int


def family(name: str) -> Callable[..., Callable[[Callable[..., float]], Kernel]]:
    """A decorator with the shapes of a kernel's arguments."""

    def shaped(*shapes: Any) -> Callable[[Callable[..., float]], Kernel]:
        return lambda program: Kernel(program, name, shapes)

    return shaped


@functools.cache
def kernels() -> Mapping[str, Kernel]:
    """All kernels by their names."""
    modules = [import_module(f"bench.wide.{name}") for name in FAMILIES]
    found = [k for m in modules for k in vars(m).values() if isinstance(k, Kernel)]
    return MappingProxyType({kernel.name: kernel for kernel in found})
