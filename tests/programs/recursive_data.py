"""Programs with data that contains data of its own kind: lists, trees, heaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import chadllvm as cl

from .case import recursive_case

# ---- linked lists ----------------------------------------------------------------


@dataclass(frozen=True)
class Cons:
    """A list of numbers; the empty one is None."""

    head: float
    tail: Cons | None


Chain = Cons | None


def chain(*numbers: float) -> Chain:
    found: Chain = None
    for number in reversed(numbers):
        found = Cons(number, found)
    return found


@recursive_case(chain(1.5, -2.0, 0.25, 3.0))
@recursive_case(chain())
@recursive_case(chain(2.0))
@cl.jit
def sum_of_squares(numbers: Chain) -> float:
    total = 0.0
    while numbers is not None:
        total += numbers.head**2
        numbers = numbers.tail
    return total


@recursive_case(chain(1.5, -2.0, 0.25, 3.0))
@cl.jit
def alternating(numbers: Chain) -> float:
    """By recursion."""
    if numbers is None:
        return 0.0
    return numbers.head - alternating(numbers.tail) * numbers.head


@cl.jit
def reversed_chain(numbers: Chain) -> Chain:
    found: Chain = None
    while numbers is not None:
        found = Cons(numbers.head, found)
        numbers = numbers.tail
    return found


@cl.jit
def appended(first: Chain, second: Chain) -> Chain:
    if first is None:
        return second
    return Cons(first.head, appended(first.tail, second))


@cl.jit
def folded(numbers: Chain) -> float:
    """Something that depends on the order."""
    value = 0.5
    while numbers is not None:
        value = math.sin(value + numbers.head)
        numbers = numbers.tail
    return value


@recursive_case(chain(0.5, 1.0, -0.25))
@cl.jit
def fold_of_reversed(numbers: Chain) -> float:
    return folded(reversed_chain(numbers)) + folded(numbers)


@recursive_case(chain(0.5, 1.0), chain(-0.25, 0.75, 2.0))
@cl.jit
def fold_of_appended(first: Chain, second: Chain) -> float:
    return folded(appended(first, second)) * folded(appended(second, first))


@recursive_case(chain(0.5, 1.0, -0.25), 1.5)
@cl.jit
def mapped_and_zipped(numbers: Chain, scale: float) -> float:
    """A list of the scaled numbers, then the inner product with the reversed one."""
    scaled: Chain = None
    rest = numbers
    while rest is not None:
        scaled = Cons(rest.head * scale, scaled)
        rest = rest.tail
    total = 0.0
    first, second = numbers, scaled
    while first is not None and second is not None:
        total += first.head * second.head
        first, second = first.tail, second.tail
    return total


@cl.jit
def inserted(number: float, numbers: Chain) -> Chain:
    if numbers is None or number <= numbers.head:
        return Cons(number, numbers)
    return Cons(numbers.head, inserted(number, numbers.tail))


@recursive_case(chain(0.5, 2.0, -0.25, 1.25, 0.75))
@cl.jit
def insertion_sort(numbers: Chain) -> float:
    """The sorted numbers, weighed by their ranks."""
    found: Chain = None
    while numbers is not None:
        found = inserted(numbers.head, found)
        numbers = numbers.tail
    total, rank = 0.0, 1
    while found is not None:
        total += rank * found.head**2
        found, rank = found.tail, rank + 1
    return total


# ---- trees -----------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Branch:
    left: Tree
    right: Tree


Tree = Leaf | Branch


TREE = Branch(
    Branch(Leaf(1.5), Leaf(-0.5)),
    Branch(Leaf(0.75), Branch(Leaf(2.0), Leaf(0.25))),
)


@recursive_case(TREE)
@recursive_case(Leaf(2.0))
@cl.jit
def product_of_leaves(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return value
        case Branch(left, right):
            return product_of_leaves(left) * product_of_leaves(right)


@recursive_case(TREE)
@cl.jit
def largest_leaf(tree: Tree) -> float:
    if isinstance(tree, Leaf):
        return tree.value
    return max(largest_leaf(tree.left), largest_leaf(tree.right))


@cl.jit
def depth(tree: Tree) -> int:
    match tree:
        case Branch(left, right):
            return 1 + max(depth(left), depth(right))
        case _:
            return 0


@cl.jit
def mirrored(tree: Tree, scale: float) -> Tree:
    match tree:
        case Leaf(value):
            return Leaf(scale * value)
        case Branch(left, right):
            return Branch(mirrored(right, scale), mirrored(left, scale))


@cl.jit
def nested_sines(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return value
        case Branch(left, right):
            return math.sin(nested_sines(left)) - nested_sines(right) ** 2


@recursive_case(TREE, 0.5)
@cl.jit
def of_a_mapped_tree(tree: Tree, scale: float) -> float:
    return nested_sines(mirrored(tree, scale)) * depth(tree)


@recursive_case(TREE)
@cl.jit
def nested_patterns(tree: Tree) -> float:
    match tree:
        case Branch(Leaf(a), Leaf(b)):
            return a * b
        case Branch(Leaf(a), rest):
            return a + nested_patterns(rest)
        case Branch(first, Leaf(b)):
            return nested_patterns(first) * b
        case Branch(first, second):
            return nested_patterns(first) - nested_patterns(second) ** 2
        case Leaf(a):
            return a


class Search(NamedTuple):
    """A search tree whose nodes have a key and a weight; a named tuple."""

    key: int
    weight: float
    less: Search | None = None
    more: Search | None = None


@cl.jit
def entered(tree: Search | None, key: int, weight: float) -> Search:
    if tree is None:
        return Search(key, weight)
    if key < tree.key:
        return tree._replace(less=entered(tree.less, key, weight))
    if key > tree.key:
        return tree._replace(more=entered(tree.more, key, weight))
    return tree._replace(weight=tree.weight + weight)


@cl.jit
def found(tree: Search | None, key: int) -> float:
    while tree is not None:
        if key == tree.key:
            return tree.weight
        tree = tree.less if key < tree.key else tree.more
    return 0.0


@recursive_case(Search(4, 1.5, Search(2, -0.5, Search(1, 0.75)), Search(7, 2.0)), 0.3)
@cl.jit
def search_tree(tree: Search, weight: float) -> float:
    tree = entered(tree, 3, weight)
    tree = entered(tree, 7, weight**2)
    total = 0.0
    for key in range(9):
        total += (key + 1) * found(tree, key) ** 2
    return total


# ---- a heap, by merging ----------------------------------------------------------


@dataclass(frozen=True)
class Heap:
    """A leftist heap, smallest first."""

    rank: int
    value: float
    left: Heap | None
    right: Heap | None


@cl.jit
def rank(heap: Heap | None) -> int:
    return 0 if heap is None else heap.rank


@cl.jit
def merged(first: Heap | None, second: Heap | None) -> Heap | None:
    if first is None:
        return second
    if second is None:
        return first
    if second.value < first.value:
        return merged(second, first)
    rest = merged(first.right, second)
    if rank(first.left) >= rank(rest):
        return Heap(rank(rest) + 1, first.value, first.left, rest)
    return Heap(rank(first.left) + 1, first.value, rest, first.left)


@recursive_case(chain(0.5, 2.0, -0.25, 1.25, 0.75))
@cl.jit
def heap_sort(numbers: Chain) -> float:
    heap: Heap | None = None
    while numbers is not None:
        heap = merged(heap, Heap(1, numbers.head, None, None))
        numbers = numbers.tail
    total, weight = 0.0, 1.0
    while heap is not None:
        total += weight * heap.value**3
        weight *= 0.5
        heap = merged(heap.left, heap.right)
    return total


@recursive_case(chain(0.5, 2.0, 0.25, 1.25, 0.75))
@cl.jit
def cheapest_merging(numbers: Chain) -> float:
    """The cost of merging weights in pairs, the two smallest first, as Huffman does."""
    heap: Heap | None = None
    while numbers is not None:
        heap = merged(heap, Heap(1, numbers.head, None, None))
        numbers = numbers.tail
    cost = 0.0
    while heap is not None:
        smallest = heap.value
        heap = merged(heap.left, heap.right)
        if heap is not None:
            both = smallest + heap.value
            cost += both * both
            heap = merged(merged(heap.left, heap.right), Heap(1, both, None, None))
    return cost


# ---- many trees ------------------------------------------------------------------


@recursive_case([TREE, Leaf(0.5), Branch(Leaf(1.0), Leaf(2.0))], 1.5)
@cl.jit
def list_of_trees(trees: list[Tree], scale: float) -> float:
    total = 0.0
    for k in range(len(trees)):
        total += (k + scale) * nested_sines(trees[k])
    return total


@dataclass(frozen=True)
class Rose:
    """A tree with any number of branches: the first, and the next of the same tree."""

    value: float
    first: Rose | None
    next: Rose | None


@recursive_case(
    Rose(0.5, Rose(1.5, None, Rose(-0.25, Rose(2.0, None, None), None)), None)
)
@cl.jit
def rose(tree: Rose | None) -> float:
    if tree is None:
        return 0.0
    return math.exp(-tree.value) * rose(tree.first) + rose(tree.next) - tree.value**2


# ---- derivatives by recursive data -----------------------------------------------


@cl.jit
def halfway(tree: Tree, slope: Tree) -> Tree:
    if isinstance(tree, Branch) and isinstance(slope, Branch):
        left = halfway(tree.left, slope.left)
        return Branch(left, halfway(tree.right, slope.right))
    if isinstance(tree, Leaf) and isinstance(slope, Leaf):
        return Leaf(0.5 * (tree.value + slope.value))
    return tree


@recursive_case(Branch(Leaf(0.5), Leaf(1.25)))
@cl.jit
def gradient_by_a_tree(tree: Tree) -> float:
    slope = cl.grad(nested_sines)(tree)
    return nested_sines(halfway(tree, slope))
