"""Random well-typed terms with arrays: nested and ragged ones, of products and sums.

Every array has an element, so that any index can be made one in range. The functions of
folds are any functions: a fold in a given order is one even if they do not associate.
"""

from __future__ import annotations

from random import Random
from typing import Any

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, Array, Product, Sum, Type
from chadllvm.paper import bag
from chadllvm.paper.arrays import Build, Dim, Index
from chadllvm.paper.cost import run_term
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold, Shape
from chadllvm.paper.linear import free
from chadllvm.paper.loops import Iterate
from chadllvm.paper.terms import (
    Do,
    Lam,
    Let,
    Literal,
    Primitive,
    Ref,
    Term,
    fst,
    pair,
    snd,
    unit,
)
from chadllvm.paper.updates import Update
from tests.term_strategies import Experiment, TermWriter

SHAPES: tuple[Shape, ...] = ("balanced", "left", "right")
LONGEST = 4


def array_experiment(seed: int, size: int = 60) -> Experiment:
    """The experiment of this number, of at most about `size` nodes."""
    return written(Random(seed), size)


def written(rng: Random, size: int = 60) -> Experiment:
    """The experiment that comes out of these random numbers."""
    writer = ArrayTermWriter(rng)
    count = rng.choice((1, 2, 3, 5, 8, 20))
    scope = tuple(Var(f"x{k}", writer.type(rng.randint(0, 3))) for k in range(count))
    ty = writer.type(rng.randint(0, 3))
    term = writer.term(list(scope), ty, int(size ** rng.random()))
    values = tuple(writer.value(v.type) for v in scope)
    result, _ = run_term(term, scope, values)
    before = tuple(
        writer.cotangent(x, v.type) for x, v in zip(values, scope, strict=True)
    )
    return Experiment(scope, term, ty, values, writer.cotangent(result, ty), before)


class ArrayTermWriter(TermWriter):
    """Writes terms with arrays and loops too."""

    def type(self, depth: int) -> Type:
        if depth and self.rng.random() < 0.4:
            return Array(self.type(depth - 1), 1)
        return super().type(depth)

    def value(self, ty: Type) -> Any:
        if isinstance(ty, Array):
            count = self.rng.randint(1, LONGEST)
            return Elements([self.value(ty.elem) for _ in range(count)])
        return super().value(ty)

    def cotangent(self, value: Any, ty: Type) -> Any:
        if isinstance(ty, Array):
            return self._bag(value, ty)
        return super().cotangent(value, ty)

    def _bag(self, value: Elements, ty: Array) -> bag.Bag:
        """Contributions to some elements, to all of them, or to none."""
        kind = self.rng.random()
        count = len(value.items)
        if kind > self.density:
            return bag.EMPTY
        if kind < 0.4 * self.density:
            index = self.rng.randrange(count)
            return bag.BOne(index, self.cotangent(value.items[index], ty.elem))
        if kind < 0.7 * self.density:
            found = [self.cotangent(x, ty.elem) for x in value.items]
            return bag.of_array(found, None, free)
        both = self._bag(value, ty), self._bag(value, ty)
        return bag.plus(*both, free)

    # Terms.

    def term(self, scope: list[Var], ty: Type, size: int) -> Term:
        if size < 2 or self.rng.random() < 0.6:
            return super().term(scope, ty, size)
        kind = self.rng.choice(("index", "index", "fold", "loop"))
        if kind == "index":
            return self.read(scope, ty, size - 2)
        if kind == "fold":
            return self.fold(scope, ty, size - 2)
        return self.loop(scope, ty, size - 2)

    def leaf(self, scope: Any, ty: Type) -> Term:
        if not isinstance(ty, Array):
            return super().leaf(scope, ty)
        found = self.reach(scope, ty)
        if found is not None:
            return found
        return self.build(list(scope), ty, 1)

    def made(self, scope: list[Var], ty: Type, size: int) -> Term:
        arrays = [v for v in scope if isinstance(v.type, Array)]
        if ty == I64 and arrays and self.rng.random() < 0.3:
            return Do(Dim(), (Ref(self.rng.choice(arrays)),))
        if isinstance(ty, Array):
            return self.build(scope, ty, size)
        return super().made(scope, ty, size)

    def count(self, scope: list[Var]) -> Term:
        """A number of elements: a small one, or that of an array."""
        arrays = [v for v in scope if isinstance(v.type, Array)]
        if arrays and self.rng.random() < 0.5:
            return Do(Dim(), (Ref(self.rng.choice(arrays)),))
        return number(self.rng.randint(1, LONGEST))

    def build(self, scope: list[Var], ty: Array, size: int) -> Term:
        i = self.variable(I64)
        if size > 2 and self.rng.random() < 0.2:
            return self.update(scope, ty, size - 2)
        arrays = [v for v in scope if isinstance(v.type, Array)]
        if arrays and self.rng.random() < 0.4:
            return self.pointwise(scope, ty, size, i, self.rng.choice(arrays))
        body = self.term([*scope, i], ty.elem, size // 2)
        return Do(Build(), (self.count(scope), Lam(i, body)))

    def pointwise(self, scope: list[Var], ty: Array, size: int, i: Var, a: Var) -> Term:
        """build (length a) (i. let x = a ! i in …), or at another index."""
        assert isinstance(a.type, Array)
        x, length = self.variable(a.type.elem), Do(Dim(), (Ref(a),))
        index: Term = Ref(i)
        if self.rng.random() < 0.4:
            other = self.term([*scope, i], I64, size // 4)
            index = Do(Primitive(PRIMS["imod"]), (pair(other, length),))
        body = self.term([*scope, i, x], ty.elem, size // 2)
        read = Let(x, Do(Index(), (Ref(a), index)), body)
        return Do(Build(), (length, Lam(i, read)))

    def read(self, scope: list[Var], ty: Type, size: int) -> Term:
        """let a = …; i = … in a ! (i mod length a)"""
        first, second = self.split(size)
        a, i = self.variable(Array(ty, 1)), self.variable(I64)
        whole = self.term(scope, a.type, first)
        index = self.term([*scope, a], I64, second // 2)
        length = Do(Dim(), (Ref(a),))
        within = Do(Primitive(PRIMS["imod"]), (pair(Ref(i), length),))
        return Let(a, whole, Let(i, index, Do(Index(), (Ref(a), within))))

    def update(self, scope: list[Var], ty: Array, size: int) -> Term:
        """let a = …; i = … in a with [i mod length a] = …"""
        first, second = self.split(size)
        a, i = self.variable(ty), self.variable(I64)
        whole = self.term(scope, ty, first)
        index = self.term([*scope, a], I64, second // 2)
        value = self.term([*scope, a, i], ty.elem, second // 2)
        length = Do(Dim(), (Ref(a),))
        within = Do(Primitive(PRIMS["imod"]), (pair(Ref(i), length),))
        return Let(a, whole, Let(i, index, Do(Update(), (Ref(a), within, value))))

    def fold(self, scope: list[Var], ty: Type, size: int) -> Term:
        first, second = self.split(size)
        p = self.variable(Product((ty, ty)))
        x, y = self.variable(ty), self.variable(ty)
        body = self.term([*scope, x, y], ty, second // 2)
        if self.rng.random() < 0.7:
            body = self.mixed(ty, Ref(x), self.mixed(ty, Ref(y), body))
        elif self.rng.random() < 0.5:
            body = self.term([p], ty, second // 2)
        function = Lam(p, Let(x, fst(Ref(p)), Let(y, snd(Ref(p)), body)))
        whole = self.term(scope, Array(ty, 1), first)
        return Do(Fold(self.rng.choice(SHAPES)), (function, whole))

    def loop(self, scope: list[Var], ty: Type, size: int) -> Term:
        """The state after some steps, or what they gave."""
        first, second = self.split(size)
        state, output = ty, self.type(1)
        if isinstance(ty, Array) and self.rng.random() < 0.5:
            state, output = self.type(1), ty.elem
        x, i, s = self.variable(Product((I64, state))), Var("i", I64), Var("s", state)
        if state == ty and self.rng.random() < 0.5:
            output = state
        inner = [*scope, i, s]
        new = self.mixed(state, Ref(s), self.term(inner, state, second // 4))
        given = self.term(inner, output, second // 4)
        if output == state:
            given = self.mixed(output, Ref(s), given)
        step = pair(new, given)
        body = Lam(x, Let(i, fst(Ref(x)), Let(s, snd(Ref(x)), step)))
        args = (self.count(scope), body, self.term(scope, state, first))
        loop = Do(Iterate(), args)
        if state != ty:
            return snd(loop)
        return self._with_output(loop, state) if output == state else fst(loop)

    def _with_output(self, loop: Term, state: Type) -> Term:
        """The last state with one of the outputs, which are of its type."""
        both = self.variable(Product((state, Array(state, 1))))
        place = number(self.rng.randrange(LONGEST))
        outputs = snd(Ref(both))
        within = Do(Primitive(PRIMS["imod"]), (pair(place, Do(Dim(), (outputs,))),))
        given = Do(Index(), (outputs, within))
        return Let(both, loop, self.mixed(state, fst(Ref(both)), given))

    def mixed(self, ty: Type, first: Term, second: Term) -> Term:
        """A term that depends on both, not on both in the same way."""
        a, b = self.variable(ty), self.variable(ty)
        body = self._mixed(ty, Ref(a), Ref(b))
        return Let(a, first, Let(b, second, body))

    def _mixed(self, ty: Type, a: Term, b: Term) -> Term:
        match ty:
            case Product((x, y)):
                parts = self._mixed(x, fst(a), fst(b)), self._mixed(y, snd(a), snd(b))
                return pair(*parts)
            case Array(elem, 1):
                return self._mixed_arrays(elem, a, b)
            case Sum() | Product():
                return self.rng.choice((a, b))
            case _:
                names = ("sub", "sub", "mul") if ty == F64 else ("isub",)
                return Do(Primitive(PRIMS[self.rng.choice(names)]), (pair(a, b),))

    def _mixed_arrays(self, elem: Type, a: Term, b: Term) -> Term:
        i = self.variable(I64)
        length = Do(Dim(), (b,))
        within = Do(Primitive(PRIMS["imod"]), (pair(Ref(i), length),))
        x, y = Do(Index(), (a, Ref(i))), Do(Index(), (b, within))
        return Do(Build(), (Do(Dim(), (a,)), Lam(i, self.mixed(elem, x, y))))


def number(value: int) -> Term:
    return Do(Literal(value), (unit(),))
