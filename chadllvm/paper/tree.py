"""Tree: the record of a reduction, and how it is undone (Fig. 9).

    data Tree a f = Node (Tree a f) a f (Tree a f) | Leaf a

    unTree g d (Node t1 _ f t2) = do ⟨d1, d2⟩ ← g d f
                                     rs1 ← unTree g d1 t1
                                     rs2 ← unTree g d2 t2
                                     return (λl. rs1 (rs2 l))
    unTree g d (Leaf _) = return (λl. d :: l)

A function rs from lists to lists is a difference list: it is put together in one step,
and `listed` applies it to [].

Nothing here recurses: a tree is as deep as the reduction was sequential. What `unTree`
does in the monad it asks for one after the other: see `effects.perform`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

Pay = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """An element of the array."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """What two parts were combined to, and the backpropagator of that."""

    left: Tree
    value: Any
    bp: Any
    right: Tree


Tree = Node | Leaf


@dataclass(frozen=True, slots=True, eq=False)
class Cons:
    """λl. d :: l"""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """λl. first (second l)"""

    first: DifferenceList
    second: DifferenceList


DifferenceList = Cons | Composed


def get_a(tree: Tree) -> Any:
    """getA: the value at the root."""
    return tree.value


def un_tree(
    call: Callable[[Any, Any], Any],
    cotangent: Any,
    tree: Tree,
    pay: Pay,
    right_first: bool = False,
) -> Generator[Any, Any, DifferenceList]:
    """unTree: yields the computations g d f, is sent ⟨d1, d2⟩, returns rs.

    One step for each node and leaf, and one for each difference list. `right_first`:
    the second of the two calls is made first.
    """
    # What is left to do: a tree with its cotangent, or (None) the composition of the
    # two lists made last.
    pending: list[tuple[Tree | None, Any]] = [(tree, cotangent)]
    done: list[DifferenceList] = []
    while pending:
        node, d = pending.pop()
        pay(1)
        match node:
            case Leaf():
                done.append(Cons(d))
            case Node():
                first, second = yield call(d, node.bp)
                both = [(node.left, first), (node.right, second)]
                pending.append((None, None))
                pending += both if right_first else reversed(both)
            case None:
                last, other = done.pop(), done.pop()
                done.append(
                    Composed(last, other) if right_first else Composed(other, last)
                )
    (result,) = done
    return result


def listed(difference: DifferenceList, pay: Pay) -> list[Any]:
    """rs []: one step for each function that is called."""
    found: list[Any] = []
    pending = [difference]
    while pending:
        pay(1)
        match pending.pop():
            case Cons(value):
                found.append(value)
            case Composed(first, second):
                pending += (second, first)
    return found
