"""Classes that contain themselves, with annotations as Python evaluates them."""

from dataclasses import dataclass
from typing import NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl

Either = Union["End", "Fork"]


class End(NamedTuple):
    value: float


class Fork(NamedTuple):
    both: tuple["Either", Either]
    label: Optional["Label"] = None


@dataclass(frozen=True)
class Label:
    number: int
    of: Union["Fork", None] = None


@cl.jit
def summed(tree: Either) -> float:
    if isinstance(tree, End):
        return tree.value
    left, right = tree.both
    total = summed(left) + 2.0 * summed(right)
    if tree.label is None:
        return total
    of = tree.label.of
    return total * tree.label.number + (0.0 if of is None else summed(of))


@cl.jit
def listed(trees: list["Either"]) -> float:
    return sum(summed(tree) for tree in trees)


@dataclass(frozen=True)
class WithArray:
    weights: NDArray[np.float64]
    next: Optional["WithArray"]


@cl.jit
def takes_anything(x):
    return 1.0 if x is None else 2.0
