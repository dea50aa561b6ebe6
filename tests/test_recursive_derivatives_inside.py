"""Derivatives by recursive data, and of it, that programs take themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from programs.recursive_data import Branch, Chain, Cons, Leaf, Search, Tree, chain

import chadllvm as cl

TREE = Branch(Leaf(2.0), Branch(Leaf(3.0), Leaf(5.0)))
SEARCH = Search(4, 1.5, Search(2, -0.5, Search(1, 0.75)), Search(7, 2.0))


@cl.jit
def product(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return value
        case Branch(left, right):
            return product(left) * product(right)


@cl.jit
def cubes(numbers: Chain) -> float:
    total = 0.0
    while numbers is not None:
        total += numbers.head**3
        numbers = numbers.tail
    return total


@cl.jit
def squared(numbers: Chain, factor: float) -> Chain:
    if numbers is None:
        return None
    square = factor * numbers.head**2
    return Cons(square, squared(numbers.tail, factor))


@cl.jit
def weighed(tree: Search | None, factor: float) -> float:
    if tree is None:
        return factor
    below = weighed(tree.less, factor) + weighed(tree.more, factor)
    return tree.weight**2 * tree.key * below + factor


def of_a_tree(tree: Tree) -> tuple[float, Tree]:
    return cl.value_and_grad(product)(tree)


def of_integers(tree: Search) -> Any:
    """In the place of the keys there is None."""
    by_tree, by_factor = cl.grad(weighed, argnums=(0, 1))(tree, 0.5)
    return by_tree.key is None, by_tree.weight, by_tree.less, by_factor


def along_a_chain(numbers: Chain, moves: Chain) -> Any:
    out, moved = cl.jvp(squared, (numbers, 2.0), (moves, 1.0))
    held, factor_moved = cl.jvp(squared, (numbers, 2.0), (None, 1.0))
    return out, moved, held, factor_moved


def pulled_back(numbers: Chain, moves: Chain) -> Any:
    out, pullback = cl.vjp(squared, numbers, 2.0)
    return out, pullback(moves), pullback(out)


def in_containers(trees: list[Tree], x: float) -> Any:
    """Trees in a list, and beside a number."""

    def of_list(trees):
        return sum([product(tree) ** 2 for tree in trees])

    def of_pair(pair):
        return product(pair[0]) * pair[1] ** 2

    return cl.grad(of_list)(trees), cl.grad(of_pair)((trees[0], x))


def pullbacks_of_steps(trees: list[Tree]) -> Any:
    """The pullback is a variable of the loop."""
    out, pullback = cl.vjp(product, trees[0])
    for tree in trees:
        if out > 1.0:
            out, pullback = cl.vjp(product, tree)
    return out, pullback(2.0)


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (of_a_tree, (TREE,)),
    (of_integers, (SEARCH,)),
    (along_a_chain, (chain(1.0, 2.0, -3.0), chain(1.0, 0.5, 0.25))),
    (pulled_back, (chain(1.0, 2.0, -3.0), chain(1.0, 0.5, 0.25))),
    (in_containers, ([TREE, Leaf(0.5)], 3.0)),
    (pullbacks_of_steps, ([TREE, Leaf(0.5), TREE],)),
]


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("function", "args"), CALLS)
def test_programs_give_what_python_gives(function: Any, args: tuple[Any, ...]) -> None:
    """The gradients that Python takes are those by columns, made in another way."""
    assert cl.jit(function)(*args) == function(*args)


def test_the_permanent_mode_gives_the_same() -> None:
    function, args = pulled_back, (chain(1.0, 2.0, -3.0), chain(1.0, 0.5, 0.25))
    assert cl.jit(function, optimize=0)(*args) == function(*args)


def test_the_structure_is_the_arguments() -> None:
    assert of_a_tree(TREE)[1] == Branch(Leaf(15.0), Branch(Leaf(10.0), Leaf(6.0)))


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Square:
    side: float
    count: int


@cl.jit
def area(shape: Circle | Square | None) -> float:
    if shape is None:
        return 0.0
    if isinstance(shape, Circle):
        return 3.0 * shape.radius**2
    return shape.side**2 * shape.count


def test_gradients_are_of_the_type_of_the_argument() -> None:
    """Not of what the parameter may be besides."""

    def run(x: float) -> float:
        _, pullback = cl.vjp(area, Square(x, 3))
        total = cl.grad(area)(Circle(x)).radius + pullback(1.0)[0].side
        shape: Circle | Square = Circle(x)
        for _ in range(3):
            slope = cl.grad(area)(shape)
            total += slope.radius if isinstance(slope, Circle) else slope.side
            shape = Square(total, 1)
        return total

    assert cl.jit(run)(2.0) == run(2.0)


def test_stopped_gradients() -> None:
    def half(tree: Search) -> float:
        held = cl.stop_gradient((tree, tree.weight))
        return tree.weight * held[1] + tree.weight**2 * weighed(held[0], 0.5)

    by_tree = cl.grad(half)(SEARCH)
    below = weighed(SEARCH, 0.5)
    assert by_tree.weight == pytest.approx(1.5 + 2.0 * 1.5 * below)
    assert by_tree.less.weight == by_tree.more.weight == 0.0
    assert cl.jit(half)(SEARCH) == pytest.approx(half(SEARCH), rel=1e-14)


# ---- from Python -----------------------------------------------------------------


def test_pullbacks_are_used_many_times() -> None:
    numbers = chain(1.0, 2.0, -3.0)
    out, pullback = cl.vjp(squared, numbers, 2.0)
    assert out == chain(2.0, 8.0, 18.0)
    for scale in (1.0, 2.0):
        by_numbers, by_factor = pullback(chain(scale, 0.0, scale))
        assert by_numbers == chain(4.0 * scale, 0.0, -12.0 * scale)
        assert by_factor == 10.0 * scale
    many = chain(*[1.0] * 5000)
    assert cl.vjp(cubes, many)[1](2.0)[0].head == 6.0
    _, pullback = cl.vjp(weighed, SEARCH, 0.5)
    assert pullback(2.0)[1] == 2.0 * cl.grad(weighed, argnums=1)(SEARCH, 0.5)
    assert pullback(1.0)[0] == cl.grad(weighed)(SEARCH, 0.5)


def test_linear_maps_and_products() -> None:
    numbers, moves = chain(1.0, 2.0), chain(1.0, 0.5)
    out, linear = cl.linearize(squared, numbers, 2.0)
    assert linear(moves, None) == cl.jvp(squared, (numbers, 2.0), (moves, None))[1]
    assert out == chain(2.0, 8.0)
    assert cl.hvp(cubes)(numbers, moves) == chain(6.0, 6.0)


def test_cotangents_of_another_structure() -> None:
    _, pullback = cl.vjp(squared, chain(1.0, 2.0), 2.0)
    for wrong in (chain(1.0), chain(1.0, 2.0, 3.0), None):
        with pytest.raises((TypeError, ValueError), match="tangent"):
            pullback(wrong)
    _, along = cl.linearize(product, TREE)
    with pytest.raises((TypeError, ValueError), match="tangent"):
        along(Branch(Branch(Leaf(1.0), Leaf(1.0)), Leaf(1.0)))


# ---- steps down ------------------------------------------------------------------


@cl.jit
def stepped(tree: Tree, slope: Tree, rate: float) -> Tree:
    if isinstance(tree, Branch) and isinstance(slope, Branch):
        left = stepped(tree.left, slope.left, rate)
        return Branch(left, stepped(tree.right, slope.right, rate))
    if isinstance(tree, Leaf) and isinstance(slope, Leaf):
        return Leaf(tree.value - rate * slope.value)
    return tree


@cl.jit
def fitted(tree: Tree, rate: float) -> float:
    for _ in range(3):
        error = cl.grad(lambda t: (product(t) - 20.0) ** 2)(tree)
        tree = stepped(tree, error, rate)
    return product(tree)


@pytest.mark.sweep
def test_slopes_of_steps_down() -> None:
    """The derivatives of a program that takes gradients by trees."""
    plain, rate, step = fitted.py_func, 1e-4, 1e-7
    value, (by_tree, by_rate) = cl.value_and_grad(fitted, argnums=(0, 1))(TREE, rate)
    assert value == pytest.approx(plain(TREE, rate), rel=1e-13)
    ends = [plain(TREE, rate + s) for s in (step, -step)]
    assert by_rate == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)
    ends = [plain(Branch(Leaf(2.0 + s), TREE.right), rate) for s in (1e-5, -1e-5)]
    assert by_tree.left.value == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


# ---- classes of each other, of f32, with unions of numbers -----------------------


@dataclass(frozen=True)
class Group:
    scale: cl.f32
    first: Item | None


@dataclass(frozen=True)
class Item:
    value: float | None
    count: int
    next: Item | None
    group: Group | None


@cl.jit
def worth(item: Item | None) -> float:
    if item is None:
        return 0.0
    own = 0.0 if item.value is None else item.value**2 * item.count
    if item.group is not None:
        own += float(item.group.scale**2) * worth(item.group.first)
    return own + worth(item.next)


ITEM = Item(
    2.0,
    3,
    Item(None, 1, None, None),
    Group(1.5, Item(0.5, 2, Item(1.0, 1, None, None), None)),
)


def test_classes_of_each_other() -> None:
    def run(item: Item) -> Any:
        return cl.grad(worth)(item), cl.jvp(worth, (item,), (item,))[1]

    gradient, slope = cl.jit(run)(ITEM)
    assert gradient == cl.grad(worth)(ITEM)
    assert gradient.next == Item(None, None, None, None)
    np.testing.assert_allclose(slope, cl.jvp(worth, (ITEM,), (ITEM,))[1], rtol=1e-6)


# ---- checks ----------------------------------------------------------------------


def test_derivatives_are_checked(agreed: list[bool]) -> None:
    """The pullback of a gradient takes what has None in the place of integers."""
    cl.check_grads(weighed, (SEARCH, 0.5), order=2, modes="rev")
    assert agreed == [True] * 5


@cl.jit
def squared_again_and_again(x: float, n: int) -> float:
    node = Cons(x, None)
    for _ in range(n):
        node = Cons(node.head * node.head, None)
    return node.head


@pytest.mark.parametrize("optimize", [0, 2])
def test_steps_that_owe_to_nodes_are_reversed_in_order_twice(optimize: int) -> None:
    """Each step adds to what the next one reads, though nothing else is carried on."""
    f = cl.jit(squared_again_and_again.py_func, optimize=optimize)
    assert math.isclose(cl.grad(cl.grad(f))(0.7, 2), 12.0 * 0.7**2)
    assert math.isclose(cl.grad(cl.grad(cl.grad(f)))(0.7, 2), 24.0 * 0.7)
