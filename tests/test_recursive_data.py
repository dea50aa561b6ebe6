"""Recursive data as arguments and results, and in programs of all kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import recursive_annotations
from containers import along, drawn, leaves, moved
from programs import recursive_data
from programs.recursive_data import Branch, Chain, Cons, Leaf, Search, Tree, chain
from recursive_annotations import End, Fork, Label, WithArray

import chadllvm as cl

# ---- what crosses the boundary ---------------------------------------------------


@cl.jit
def reversed_chain(numbers: Chain) -> Chain:
    found: Chain = None
    while numbers is not None:
        found = Cons(numbers.head, found)
        numbers = numbers.tail
    return found


@cl.jit
def mirrored(tree: Tree, scale: float) -> Tree:
    match tree:
        case Leaf(value):
            return Leaf(scale * value)
        case Branch(left, right):
            return Branch(mirrored(right, scale), mirrored(left, scale))


def balanced(depth: int, value: float = 1.0) -> Tree:
    if depth == 0:
        return Leaf(value)
    return Branch(balanced(depth - 1, value), balanced(depth - 1, 0.5 * value))


def test_results_are_made_of_the_same_classes() -> None:
    assert reversed_chain(chain(1.0, 2.0, 3.0)) == chain(3.0, 2.0, 1.0)
    assert reversed_chain(None) is None
    tree = Branch(Leaf(1.0), Branch(Leaf(2.0), Leaf(3.0)))
    mirror = Branch(Branch(Leaf(6.0), Leaf(4.0)), Leaf(2.0))
    assert mirrored(tree, 2.0) == mirror
    assert mirrored(Leaf(1.0), 3.0) == Leaf(3.0)


def test_gradients_are_made_of_the_same_classes() -> None:
    gradient = cl.grad(recursive_data.sum_of_squares)(chain(1.0, 2.0, 3.0))
    assert gradient == chain(2.0, 4.0, 6.0)
    assert cl.grad(recursive_data.sum_of_squares)(chain()) is None
    tree = Search(4, 1.5, Search(2, -0.5), None)
    ct = cl.grad(recursive_data.search_tree)(tree, 0.5)
    assert isinstance(ct, Search) and ct.key is None
    assert ct.weight == 15.0 and ct.less == Search(None, -3.0)


def test_an_object_that_is_there_twice_is_two_nodes() -> None:
    leaf = Leaf(3.0)
    inner = Branch(leaf, Leaf(2.0))
    gradient = cl.grad(recursive_data.product_of_leaves)(Branch(inner, inner))
    half = Branch(Leaf(12.0), Leaf(18.0))
    assert gradient == Branch(half, half)
    assert gradient.left is not gradient.right


@cl.jit
def twice(tree: Tree) -> tuple[Tree, Tree]:
    return tree, Branch(tree, tree)


def test_a_node_that_results_share_is_one_object() -> None:
    tree = Branch(Leaf(1.0), Leaf(2.0))
    first, second = twice(tree)
    assert first == tree and second == Branch(tree, tree)
    assert second.left is second.right and second.left is first


def test_long_lists_and_large_trees() -> None:
    numbers: Chain = None
    for k in range(100_000):
        numbers = Cons(float(k), numbers)
    found = reversed_chain(numbers)
    gradient = cl.grad(recursive_data.sum_of_squares)(numbers)
    for k in range(100_000):
        assert found is not None and found.head == k
        assert gradient is not None and gradient.head == 2.0 * (99_999 - k)
        found, gradient = found.tail, gradient.tail
    assert found is None and gradient is None
    tree = balanced(17)
    assert mirrored(mirrored(tree, 2.0), 0.5) == tree


def test_what_contains_itself_has_no_end() -> None:
    last = Cons(1.0, None)
    ring = Cons(2.0, Cons(3.0, last))
    object.__setattr__(last, "tail", ring)
    with pytest.raises(ValueError, match="a Cons contains itself"):
        reversed_chain(ring)


def test_what_is_shared_over_and_over_is_too_much() -> None:
    tree: Tree = Leaf(1.0)
    for _ in range(60):
        tree = Branch(tree, tree)
    with pytest.raises(ValueError, match="what is shared within an argument is copied"):
        mirrored(tree, 1.0)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TypeError, match=r"parameter numbers must be .*Cons.*, found"):
        reversed_chain(3.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Cons\.tail must be .*found str 'x'"):
        reversed_chain(Cons(1.0, "x"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"what a Cons holds.* must be a float"):
        reversed_chain(Cons("x", None))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Branch\.right must be"):
        mirrored(Branch(Leaf(1.0), chain(1.0)), 1.0)  # type: ignore[arg-type]


def test_integers_become_floats_as_elsewhere() -> None:
    assert recursive_data.sum_of_squares(Cons(2, Cons(True, None))) == 5.0


# ---- tangents --------------------------------------------------------------------


def test_tangents_have_the_structure_of_values() -> None:
    tree = Branch(Leaf(1.0), Branch(Leaf(2.0), Leaf(3.0)))
    moves = Branch(Leaf(0.5), Branch(Leaf(0.0), Leaf(1.0)))
    out, moved_out = cl.jvp(mirrored, (tree, 2.0), (moves, 1.0))
    assert out == Branch(Branch(Leaf(6.0), Leaf(4.0)), Leaf(2.0))
    assert moved_out == Branch(Branch(Leaf(5.0), Leaf(2.0)), Leaf(2.0))
    _, fixed = cl.jvp(mirrored, (tree, 2.0), (None, 1.0))
    assert fixed == Branch(Branch(Leaf(3.0), Leaf(2.0)), Leaf(1.0))


def test_other_tangents_are_refused() -> None:
    tree = Branch(Leaf(1.0), Leaf(2.0))
    with pytest.raises(ValueError, match="the tangent of tree is made otherwise"):
        cl.jvp(mirrored, (tree, 2.0), (Branch(tree, Leaf(1.0)), 0.0))
    with pytest.raises(ValueError, match="the tangent of tree is made otherwise"):
        cl.jvp(mirrored, (tree, 2.0), (Leaf(1.0), 0.0))


# ---- classes of all kinds --------------------------------------------------------


@dataclass(frozen=True)
class Parent:
    """A class that contains itself by way of another."""

    weight: cl.f32
    child: Child | None


class Child(NamedTuple):
    flag: bool
    count: int
    parent: Parent | None


@cl.jit
def grown(parent: Parent) -> Parent:
    child = parent.child
    if child is None:
        return Parent(parent.weight, Child(True, 1, None))
    above = child.parent
    next_one = None if above is None else grown(above)
    return Parent(
        parent.weight * np.float32(2.0),
        Child(not child.flag, child.count + 1, next_one),
    )


def test_classes_that_contain_each_other() -> None:
    first = Parent(np.float32(1.5), Child(True, 3, Parent(np.float32(0.25), None)))
    second = grown(first)
    assert type(second.weight) is np.float32
    inner = Parent(np.float32(0.25), Child(True, 1, None))
    assert second == Parent(np.float32(3.0), Child(False, 4, inner))


@cl.jit
def weigh(parents: list[Parent], k: int) -> tuple[cl.f32, list[Parent]]:
    found = [grown(p) for p in parents]
    total = np.float32(0.0)
    for p in found:
        total += p.weight
    return total + parents[k].weight, found


def test_lists_of_recursive_data() -> None:
    parents = [Parent(np.float32(k), None) for k in range(3)]
    total, found = weigh(parents, -1)
    assert total == 5.0
    assert found == [Parent(np.float32(k), Child(True, 1, None)) for k in range(3)]
    assert weigh(parents[:1], 0)[1] == found[:1]


CONSTANT = Branch(Leaf(2.0), Branch(Leaf(3.0), Leaf(0.5)))


@cl.jit
def with_a_constant(tree: Tree) -> float:
    both = Branch(tree, CONSTANT)
    return recursive_data.product_of_leaves(both)


def test_recursive_data_from_outside_is_a_constant() -> None:
    assert with_a_constant(Leaf(4.0)) == 12.0
    assert cl.grad(with_a_constant)(Leaf(4.0)) == Leaf(3.0)


@cl.jit
def inside(x: float, y: float) -> float:
    """No recursive data crosses the boundary."""
    numbers: Chain = None
    for k in range(5):
        numbers = Cons(x * k + y, numbers)
    return recursive_data.folded(numbers)


def test_data_made_inside_of_a_program() -> None:
    expected = inside.py_func(0.3, 0.2)
    assert math.isclose(inside(0.3, 0.2), expected)
    cl.check_grads(inside, (0.3, 0.2), order=2)


@cl.jit
def by_the_step(numbers: Chain, x: float) -> float:
    """A gradient inside, by a number; the list is held fixed."""

    def energy(t: float) -> float:
        total, rest = 0.0, numbers
        while rest is not None:
            total += math.sin(t * rest.head)
            rest = rest.tail
        return total

    return cl.grad(energy)(x)


def test_a_gradient_inside_of_a_program() -> None:
    numbers = (0.5, 1.5, -0.75)
    expected = sum(h * math.cos(0.3 * h) for h in numbers)
    assert math.isclose(by_the_step(chain(*numbers), 0.3), expected)
    found, by_x = cl.grad(by_the_step, argnums=(0, 1))(chain(*numbers), 0.3)
    parts = [math.cos(0.3 * h) - 0.3 * h * math.sin(0.3 * h) for h in numbers]
    np.testing.assert_allclose(leaves(found), parts, rtol=1e-12)
    slope = sum(-h * h * math.sin(0.3 * h) for h in numbers)
    assert math.isclose(by_x, slope)


@cl.jit
def gradients_on_the_way(tree: Tree, x: float) -> float:
    """Each node takes a gradient of a function that makes nodes of its own."""
    match tree:
        case Leaf(value):
            return cl.grad(lambda y: math.sin(value * y) * y)(x)
        case Branch(left, right):
            slope = cl.grad(
                lambda y: recursive_data.nested_sines(Branch(left, Leaf(y))) * y
            )(x)
            both = gradients_on_the_way(left, x) * gradients_on_the_way(right, x)
            return slope + both


@pytest.mark.parametrize("k", [0, 1])
def test_gradients_in_a_recursion(k: int) -> None:
    args: list[Any] = [recursive_data.TREE, 0.3]
    direction = drawn(args[k], np.random.default_rng(7))
    found = along(cl.grad(gradients_on_the_way, k)(*args), direction)
    values = []
    for step in (1e-6, -1e-6):
        shifted = [*args]
        shifted[k] = moved(args[k], direction, step)
        values.append(gradients_on_the_way(*shifted))
    slope = (values[0] - values[1]) / 2e-6
    assert math.isclose(found, slope, rel_tol=1e-6)


@cl.custom_vjp
def with_own_rule(x: float) -> float:
    return inside(x, 0.5)


def own_forward(x: float) -> tuple[float, float]:
    return with_own_rule(x), x


def own_backward(x: float, ct: float) -> float:
    return ct * cl.grad(inside)(x, 0.5)


with_own_rule.defvjp(own_forward, own_backward)


@cl.jit
def uses_own_rule(x: float, tree: Tree) -> float:
    return with_own_rule(x * x) * recursive_data.product_of_leaves(tree)


@cl.jit
def uses_no_rule(x: float, tree: Tree) -> float:
    return inside(x * x, 0.5) * recursive_data.product_of_leaves(tree)


def test_rules_of_functions_that_make_recursive_data() -> None:
    args = 0.7, recursive_data.TREE
    found = cl.grad(uses_own_rule, (0, 1))(*args)
    expected = cl.grad(uses_no_rule, (0, 1))(*args)
    np.testing.assert_allclose(leaves(found), leaves(expected), rtol=1e-12)


def random_tree(rng: np.random.Generator, depth: int) -> Tree:
    if depth == 0 or rng.random() < 0.2:
        return Leaf(rng.uniform(-1.5, 1.5))
    return Branch(random_tree(rng, depth - 1), random_tree(rng, depth - 1))


PERMANENT = cl.jit(recursive_data.nested_patterns.py_func, optimize=0)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees(seed: int) -> None:
    rng, function = np.random.default_rng(seed), recursive_data.nested_patterns
    tree = random_tree(rng, 5)
    value, gradient = cl.value_and_grad(function)(tree)
    np.testing.assert_allclose(value, function.py_func(tree), rtol=1e-11)
    _, again = cl.value_and_grad(PERMANENT)(tree)
    np.testing.assert_allclose(leaves(gradient), leaves(again), rtol=1e-11)
    direction = drawn(tree, rng)
    _, slope = cl.jvp(function, (tree,), (direction,))
    np.testing.assert_allclose(along(gradient, direction), slope, rtol=1e-9)


@cl.jit
def moved_by_steps(numbers: Chain, x: float) -> float:
    """Tangents inside, of one function in several runs; the list is held fixed."""

    def energy(t: float) -> float:
        longer = Cons(t, numbers)
        return recursive_data.folded(longer) + recursive_data.sum_of_squares(longer)

    total = 0.0
    for k in range(3):
        value, slope = cl.jvp(energy, (x + k,), (1.0,))
        total += slope * value
    return total + cl.hessian(energy)(x)


def test_tangents_inside_of_a_program() -> None:
    def energy(x: float) -> float:
        longer = Cons(x, numbers)
        value = recursive_data.folded.py_func(longer)
        return value + recursive_data.sum_of_squares.py_func(longer)

    def expected(x: float) -> float:
        h = 1e-4
        total = 0.0
        for k in range(3):
            slope = (energy(x + k + h) - energy(x + k - h)) / (2 * h)
            total += slope * energy(x + k)
        return total + (energy(x + h) - 2 * energy(x) + energy(x - h)) / h**2

    numbers = chain(0.5, 1.5, -0.75)
    assert math.isclose(moved_by_steps(numbers, 0.3), expected(0.3), rel_tol=1e-6)
    found, by_x = cl.grad(moved_by_steps, argnums=(0, 1))(numbers, 0.3)
    h = 1e-5
    by_differences = (
        moved_by_steps(numbers, 0.3 + h) - moved_by_steps(numbers, 0.3 - h)
    ) / (2 * h)
    assert math.isclose(by_x, by_differences, rel_tol=1e-7)
    for k, part in enumerate(leaves(found)):
        sides = []
        for s in (h, -h):
            shifted = [0.5, 1.5, -0.75]
            shifted[k] += s
            sides.append(moved_by_steps(chain(*shifted), 0.3))
        assert math.isclose(part, (sides[0] - sides[1]) / (2 * h), rel_tol=1e-6)


@cl.jit
def with_aux(numbers: Chain, x: float) -> tuple[float, Chain]:
    return recursive_data.folded(numbers) * x, reversed_chain(numbers)


def test_auxiliary_results() -> None:
    numbers = chain(0.5, 1.5)
    (value, aux), (by_numbers, by_x) = cl.value_and_grad(
        with_aux, argnums=(0, 1), has_aux=True
    )(numbers, 2.0)
    assert aux == chain(1.5, 0.5)
    assert math.isclose(by_x, recursive_data.folded.py_func(numbers))
    assert math.isclose(value, 2.0 * by_x)
    found, again = cl.grad(with_aux, has_aux=True)(numbers, 2.0)
    assert again == aux and found == by_numbers


# ---- what is refused -------------------------------------------------------------


def test_pullbacks_of_what_makes_recursive_data_inside() -> None:
    _out, pullback = cl.vjp(inside, 0.3, 0.2)
    assert pullback(2.0) == tuple(2.0 * g for g in cl.grad(inside, (0, 1))(0.3, 0.2))


def test_what_has_no_end_is_refused() -> None:
    with pytest.raises(cl.CompileError, match="no Endless can ever be made"):
        cl.jit(takes_endless)


@dataclass(frozen=True)
class Endless:
    value: float
    next: Endless


def takes_endless(x: Endless) -> float:
    return x.value


def other_class() -> Any:
    @dataclass(frozen=True)
    class Twin:
        weight: int
        next: Twin | None

    return Twin


def one_class() -> Any:
    @dataclass(frozen=True)
    class Twin:
        weight: float
        next: Twin | None

    return Twin


ONE, OTHER = one_class(), other_class()


@cl.jit
def of_two_classes(x: float) -> float:
    one = ONE(x, None)
    other = OTHER(2, None)
    return one.weight * other.weight


def test_two_classes_of_one_name_are_refused() -> None:
    with pytest.raises(cl.CompileError, match="CL1702"):
        of_two_classes(1.0)


@cl.jit
def deep(numbers: Chain) -> float:
    return 0.0 if numbers is None else numbers.head + 0.5 * deep(numbers.tail)


@cl.jit
def body(numbers: Chain) -> float:
    return 1.0 if numbers is None else numbers.head * body(numbers.tail)


def test_recursion_over_a_long_list_by_functions_of_any_name() -> None:
    numbers: Chain = None
    for _ in range(100_000):
        numbers = Cons(1.0, numbers)
    assert deep(numbers) == 2.0 and body(numbers) == 1.0
    gradient = cl.grad(deep)(numbers)
    assert gradient.head == 1.0 and gradient.tail.tail.head == 0.25


def test_annotations_that_python_evaluates() -> None:
    inner = Fork((End(1.5), End(2.0)))
    tree = Fork((inner, End(0.5)), Label(3, Fork((End(1.0), inner), Label(2))))
    expected = recursive_annotations.summed.py_func(tree)
    assert recursive_annotations.summed(tree) == expected
    gradient = cl.grad(recursive_annotations.summed)(tree)
    assert gradient.both == (Fork((End(3.0), End(6.0))), End(6.0))
    assert gradient.label.number is None
    found = recursive_annotations.listed([tree, inner, End(2.0)])
    assert math.isclose(found, expected + 5.5 + 2.0)


def test_classes_that_cannot_be_are_refused_as_arguments() -> None:
    layer = WithArray(np.zeros(2), None)
    with pytest.raises(TypeError, match="the field `weights` of WithArray"):
        recursive_annotations.takes_anything(layer)
    with pytest.raises(TypeError, match="the field `weights` of WithArray"):
        recursive_annotations.takes_anything([layer])
