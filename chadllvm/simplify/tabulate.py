"""A loop that writes each element of an array once, in order, makes that array.

    z = zeros(n, m)                       b = build(n) { i ->
    b = iterate(n, z) { i, s ->             r = build(m) { j ->
      t = iterate(m, s) { j, u ->             x = …
        x = …                     →           yield x }
        v = update(u, i, j, x)              yield r }
        yield v }
      yield t }

So do programs fill arrays that are written for loops over numbers. Nothing else looks
at the array before it is full, and each element is written, in a branch too: what was
there before is only seen where a branch leaves it. Other states of the loop stay, and
the elements are what it collects. What has been a chain of arrays to the reverse is a
loop now whose steps do not need each other.

A list of numbers to which each step appends one is made so as well (`appended.py`).

An array of no rows has no columns if it is made so; the array that was to be filled has
some. Nobody can tell where no array with columns is returned; where one is, arrays with
one axis alone are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chadllvm.ir.rewrite import free_vars_of, has, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Array, Type, element, stacked
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append
from chadllvm.ops.index import Empty, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.appended import LONGEST, appended
from chadllvm.simplify.shapes import ShapeWalk, Sizes, kept_sizes

# No array has more axes.
_RANKS = 1 << 10


def tabulate(program: Program) -> Program:
    """Have loops that fill arrays make them."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    if not _fills(function.body):
        return function
    most = 1 if any(map(_has_columns, function.body.types)) else _RANKS
    walk = _Tabulating(function.params, kept_sizes(function), most)
    return with_body(function, walk.block(function.body))


def _has_columns(ty: Type) -> bool:
    return isinstance(ty, Array) and ty.rank > 1


def _fills(block: Block) -> bool:
    """Whether there is an update in a block, or what is appended."""
    return has(block, Update, Append)


@dataclass(frozen=True)
class _Filling:
    """An array that is being filled: what it was before, and the indices so far."""

    before: Var
    indices: tuple[Var, ...]

    @property
    def part(self) -> Type:
        """The type of what is at these indices."""
        assert isinstance(self.before.type, Array)
        return element(self.before.type, len(self.indices))


# The bindings of a block without an array, and what it puts there.
_Found = tuple[tuple[Binding, ...], Operand]


class _Tabulating(ShapeWalk):
    """Replaces the states of loops that are filled; `most`: their largest rank."""

    def __init__(self, params: tuple[Var, ...], kept: Sizes, most: int) -> None:
        super().__init__(params, kept)
        self._most = most
        # How many numbers there are in lists that were made with few.
        self._lengths: dict[Operand, int] = {}

    def keep(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Empty()):
                self._lengths.update(dict.fromkeys(binding.vars, 0))
            case Apply(Build(), (Lit(int() as length),)) if 0 < length <= LONGEST:
                self._lengths.update(dict.fromkeys(binding.vars, length))
            case _:
                pass
        super().keep(binding)

    def walked(self, binding: Binding) -> Binding:
        """What is in a loop is looked at once the loop is what it will be."""
        new = self._tabulated(binding)
        while new is not None:
            binding, new = new, self._tabulated(new)
        return super().walked(binding)

    def _tabulated(self, binding: Binding) -> Binding | None:
        """A loop without one of its states, if that is an array that it fills."""
        match binding.expr:
            case Apply(Iterate(stops=stops), (_, *inits)) as node:
                for k, init in enumerate(inits):
                    if init in self._lengths:
                        length = self._lengths[init]
                        found = appended(self, binding, node, k, length)
                        if found is not None:
                            return found
                    if stops:
                        continue
                    if isinstance(init, Var) and self._may_be_made(init.type):
                        filling = _Filling(init, ())
                        found = self._loop(binding, node, k, filling, binding.vars[k])
                        if found is not None:
                            return found
        return None

    def _may_be_made(self, ty: Type) -> bool:
        return isinstance(ty, Array) and ty.rank <= self._most

    def _loop(
        self, binding: Binding, node: Apply, k: int, filling: _Filling, made: Var
    ) -> Binding | None:
        """The loop that collects, as `made`, what it put into its state number k."""
        count, *_ = node.args
        (body,) = node.bodies
        index, *states = body.params
        axis = len(filling.indices)
        if not isinstance(filling.part, Array):
            return None  # There is no dimension left for its index.
        if isinstance(count, Var) and count not in self.facts.depth_of:
            return None  # It is made in the loop around.
        size = self.facts.size(filling.before, axis)
        if (size - self.facts.steps(count)).terms:
            return None
        results = body.body.results
        inside = _Filling(filling.before, (*filling.indices, index))
        found = self._without(body.body, states[k], results[k], inside)
        if found is None or stacked(found[1].type) != made.type:
            return None
        return _collecting(binding, node, k, found, made)

    def _without(
        self, block: Block, state: Var, result: Operand, filling: _Filling
    ) -> _Found | None:
        """A block that puts nothing into an array, and what it did put there."""
        users = [b for b in block.bindings if state in free_vars_of(b.expr)]
        if result is state and not users:
            place = (filling.before, *filling.indices)
            old = Var("old", filling.part)
            return (*block.bindings, Binding((old,), Apply(Index(), place))), old
        if len(users) != 1 or not isinstance(result, Var):
            return None
        (user,) = users
        others = [b.expr for b in block.bindings if b is not user]
        if result not in user.vars or any(result in free_vars_of(e) for e in others):
            return None
        if sum(r is result or r is state for r in block.results) != 1:
            return None
        found = self._put(user, state, result, filling)
        if found is None:
            return None
        new, value = found
        at = block.bindings.index(user)
        return (*block.bindings[:at], *new, *block.bindings[at + 1 :]), value

    def _put(
        self, binding: Binding, state: Var, result: Var, filling: _Filling
    ) -> _Found | None:
        """The same of the binding that makes the new array."""
        match binding.expr:
            case Apply(Update(), (array, *indices, value)):
                if array is state and _same(indices, filling.indices):
                    return (), value
                return None
            case If() as expr:
                return self._branches(binding, expr, state, result, filling)
            case Apply(Iterate(stops=False), (_, *inits)) as node:
                place = binding.vars.index(result)
                if place >= len(inits) or inits[place] is not state:
                    return None
                if sum(init is state for init in inits) != 1:
                    return None
                if any(state in free_vars_of(body) for body in node.bodies):
                    return None
                row = Var(result.name, filling.part)
                new = self._loop(binding, node, place, filling, row)
                return None if new is None else ((new,), row)
            case _:
                return None

    def _branches(
        self, binding: Binding, expr: If, state: Var, result: Var, filling: _Filling
    ) -> _Found | None:
        place = binding.vars.index(result)
        blocks = []
        for block in (expr.then, expr.orelse):
            found = self._without(block, state, block.results[place], filling)
            if found is None:
                return None
            results = list(block.results)
            results[place] = found[1]
            blocks.append(Block(found[0], tuple(results)))
        value = Var(result.name, blocks[0].results[place].type)
        variables = list(binding.vars)
        variables[place] = value
        new: Expr = If(expr.cond, *blocks)
        return (Binding(tuple(variables), new, binding.span),), value


def _collecting(
    binding: Binding, node: Apply, k: int, found: _Found, made: Var
) -> Binding:
    """The loop without a state, which collects what each step made for it."""
    count, *inits = node.args
    (body,) = node.bodies
    (index, *states), results = body.params, body.body.results
    bindings, value = found
    kept = [*results[:k], *results[k + 1 :], value]
    params = (index, *states[:k], *states[k + 1 :])
    variables = (*binding.vars[:k], *binding.vars[k + 1 :], made)
    args = (count, *inits[:k], *inits[k + 1 :])
    block = Block(bindings, tuple(kept))
    op = node.op if len(args) > 1 else Build()
    new = Apply(op, args, (Lambda(params, block),))
    return Binding(variables, new, binding.span)


def _same(operands: Sequence[Operand], variables: Sequence[Var]) -> bool:
    """Whether these are those variables."""
    return len(operands) == len(variables) and all(
        a is b for a, b in zip(operands, variables, strict=True)
    )
