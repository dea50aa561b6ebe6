"""Operations on arrays that the derivatives use (§7): linear in what they are given.

`unzip`, `zipWith` and `map` could be written with `build` and indexing; `scatter`,
`collect`, `sequence`, `fromList` and the tree's operations (Fig. 9) are primitive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.types import I64, Array, Product, Type
from chadllvm.paper import bag
from chadllvm.paper.array_linear import array_cotangents, scattered
from chadllvm.paper.array_types import (
    array,
    is_array,
    is_list,
    is_tree,
    list_of,
    tree,
)
from chadllvm.paper.elements import Elements, element
from chadllvm.paper.linear import free
from chadllvm.paper.span import (
    SpanMachine,
    copying,
    each,
    list_depth,
    scattered_at_once,
)
from chadllvm.paper.terms import Operation
from chadllvm.paper.tree import (
    DifferenceList,
    Leaf,
    Node,
    get_a,
    listed,
)
from chadllvm.paper.types import cotangent, expect, is_function, is_product

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine


@dataclass(frozen=True)
class ArrayMany(Operation):
    """BArray of an array of D[τ]₂: a contribution to each element of the array type."""

    type: Array

    def run(self, machine: Machine, *args: Any) -> Any:
        linear = machine.linear
        cotangents = array_cotangents(linear, self.type)
        pay = copying(machine)
        return cotangents.many(linear, args[0].items, None, self.type, pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, array(cotangent(element(self.type))))
        return cotangent(self.type)


@dataclass(frozen=True)
class ArrayPairs(Operation):
    """BArray of an array of ℤ × D[τ]₂"""

    type: Array

    def run(self, machine: Machine, *args: Any) -> Any:
        linear = machine.linear
        indices = [index for index, _ in args[0].items]
        values = [value for _, value in args[0].items]
        cotangents = array_cotangents(linear, self.type)
        pay = copying(machine)
        return cotangents.many(linear, values, indices, self.type, pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, array(Product((I64, cotangent(element(self.type))))))
        return cotangent(self.type)


@dataclass(frozen=True)
class ArrayOne(Operation):
    """BOne ⟨i, d⟩"""

    type: Array

    def run(self, machine: Machine, *args: Any) -> Any:
        linear = machine.linear
        cotangents = array_cotangents(linear, self.type)
        index, d = args[0]
        return cotangents.one(linear, index, d, self.type, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, Product((I64, cotangent(element(self.type)))))
        return cotangent(self.type)


@dataclass(frozen=True)
class Collect(Operation):
    """collect : D[Array τ]₂ → Array (ℤ × D[τ]₂)"""

    type: Array

    def run(self, machine: Machine, *args: Any) -> Any:
        cotangents = array_cotangents(machine.linear, self.type)
        if isinstance(machine, SpanMachine):
            machine.pay(1 + bag.depth(args[0]))
            return Elements(cotangents.collect(args[0], free))
        return Elements(cotangents.collect(args[0], machine.pay))

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(self.type))
        return array(Product((I64, cotangent(element(self.type)))))


@dataclass(frozen=True)
class Scatter(Operation):
    """scatter : Array D[τ]₂ → Array (ℤ × D[τ]₂) → Array D[τ]₂"""

    type: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        base, pairs = (arg.items for arg in args)
        if isinstance(machine, SpanMachine):
            return Elements(scattered_at_once(machine, base, pairs, self.type))
        return Elements(scattered(machine.linear, base, pairs, self.type, machine.pay))

    def type_of(self, args: Sequence[Type]) -> Type:
        held = cotangent(self.type)
        self.takes(args, array(held), array(Product((I64, held))))
        return array(held)


@dataclass(frozen=True)
class Retyped(Operation):
    """A cotangent of one type of arrays as that of another, which looks the same."""

    before: Type
    after: Type
    steps = 0

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0]

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, cotangent(self.before))
        return cotangent(self.after)


@dataclass(frozen=True)
class Unzip(Operation):
    """unzip : Array (σ × τ) → Array σ × Array τ"""

    def run(self, machine: Machine, *args: Any) -> Any:
        items = args[0].items
        copying(machine)(len(items))
        return Elements([a for a, _ in items]), Elements([b for _, b in items])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        first, second = is_product(self.rule, is_array(self.rule, args[0]))
        return Product((array(first), array(second)))


@dataclass(frozen=True)
class ZipWith(Operation):
    """zipWith : (σ × τ → ρ) → Array σ → Array τ → Array ρ"""

    def run(self, machine: Machine, *args: Any) -> Any:
        function, first, second = args
        pairs = list(zip(first.items, second.items, strict=True))
        return Elements(each(machine, lambda q: machine.call(function, q), pairs))

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 3)
        param, result = is_function(self.rule, args[0])
        first, second = (is_array(self.rule, arg) for arg in args[1:])
        expect(self.rule, param, Product((first, second)))
        return array(result)


@dataclass(frozen=True)
class Map(Operation):
    """map : (σ → τ) → Array σ → Array τ"""

    def run(self, machine: Machine, *args: Any) -> Any:
        function, items = args[0], args[1].items
        return Elements(each(machine, lambda x: machine.call(function, x), items))

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        param, result = is_function(self.rule, args[0])
        expect(self.rule, param, is_array(self.rule, args[1]))
        return array(result)


@dataclass(frozen=True)
class FromList(Operation):
    """fromList : List τ → Array τ"""

    def run(self, machine: Machine, *args: Any) -> Any:
        copying(machine)(len(args[0]))
        return Elements(args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        return array(is_list(self.rule, args[0]))


@dataclass(frozen=True)
class Listed(Operation):
    """lf [] for a difference list lf"""

    def run(self, machine: Machine, *args: Any) -> Any:
        difference: DifferenceList = args[0]
        if isinstance(machine, SpanMachine):
            machine.pay(list_depth(difference))
            return listed(difference, free)
        return listed(difference, machine.pay)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        return list_of(is_list(self.rule, args[0], is_open=True))


@dataclass(frozen=True)
class MakeLeaf(Operation):
    """Leaf : a → Tree a f"""

    bp: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return Leaf(args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        return tree(args[0], self.bp)


@dataclass(frozen=True)
class MakeNode(Operation):
    """Node : Tree a f → a → f → Tree a f → Tree a f"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return Node(*args)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 4)
        value, bp = is_tree(self.rule, args[0])
        self.takes(args, args[0], value, bp, args[0])
        return args[0]


@dataclass(frozen=True)
class GetA(Operation):
    """getA : Tree a f → a"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return get_a(args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        return is_tree(self.rule, args[0])[0]


@dataclass(frozen=True)
class Nil(Operation):
    """[] : List τ. Lists are linked, the last item first."""

    item: Type

    def run(self, machine: Machine, *args: Any) -> Any:
        return None

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return list_of(self.item)


@dataclass(frozen=True)
class Push(Operation):
    """(::) : τ → List τ → List τ"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        self.takes(args, args[0], list_of(args[0]))
        return args[1]
