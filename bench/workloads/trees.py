"""Recursive data: a tree of a million nodes made and folded, against hand-written C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@dataclass(frozen=True)
class Leaf:
    """A number."""

    value: float


@dataclass(frozen=True)
class Node:
    """Two trees, and the weight of the first."""

    weight: float
    left: Tree
    right: Tree


Tree = Leaf | Node


@cl.jit
def grow(x: cl.f64[:], low: int, high: int) -> Tree:
    """The balanced tree over x[low:high], which is not empty."""
    if high - low == 1:
        return Leaf(x[low])
    middle = low + (high - low) // 2
    weight = 1.0 / (1.0 + (high - low) % 7)
    return Node(weight, grow(x, low, middle), grow(x, middle, high))


@cl.jit
def fold(tree: Tree) -> float:
    """What a tree comes to."""
    match tree:
        case Leaf(value):
            return value
        case Node(weight, left, right):
            return weight * math.tanh(fold(left)) + (1.0 - weight) * fold(right)


@cl.jit
def folded(x: cl.f64[:]) -> float:
    """The fold of the balanced tree over all numbers."""
    return fold(grow(x, 0, len(x)))


def problem(leaves: int) -> tuple[Any, ...]:
    """Standard normal numbers; there are twice as many nodes."""
    return (np.random.default_rng(0).normal(size=leaves),)


WORKLOAD = Workload(
    folded,
    problem,
    sizes=((5_000,), (50_000,), (500_000,)),
    small=(30,),
    argnums=(0,),
    lengths=(0,),
    kernel="trees",
)
