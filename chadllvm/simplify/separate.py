"""Branches that give a new array or an old one: the new one gets a variable of its own.

    b = if c {                          f, which = if c {
      y = build(n) { … }                  y = build(n) { … }
      yield y                             yield y, 0
    } else {                     →      } else {
      yield x                             e = empty[f64[:]]()
    }                                     yield e, 1
                                        }
                                        new = ieq(which, 0)
                                        b = if new { yield f } else { yield x }

Then b is but a name of f or x, and its cotangent goes to the cell of one or the other.
Where x is the one, f has no elements, and its cell costs nothing. A cell for b itself
would cost its size in every run of the block, though only the first branch does as much
work. It stands in front of CHAD, the only one that asks.

Rows are old as well: a branch gives the indices, and the row is taken behind it.

    b = if c {                          which, k = if c {
      y = index(m, i)                     yield 1, i
      yield y                    →      } else {
    } else {                              yield 2, j
      z = index(p, j)                   }
      yield z                           first = ieq(which, 1)
    }                                   b = if first { y = index(m, k); yield y }
                                            else { z = index(p, k); yield z }

What a branch makes of an old array by an update is none of this: its cotangent is
handed on in place. Nor is what the block hands on, for its cotangent begins as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    If,
    Lit,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.ir.types import I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Index, Zeros, nothing
from chadllvm.simplify.walk import Walk


def separate(program: Program) -> Program:
    """Separate new arrays from old ones that branches give in their place."""
    return map_functions(program, lambda f: with_body(f, _Separate().block(f.body)))


@dataclass
class _Found:
    """What the branches of an `if` give: some new array, and these old ones.

    `inside` are the variables that the branches bind; `width` is how many indices are
    enough for each row in them.
    """

    inside: set[Var]
    width: int
    is_new: bool = False
    old: list[_Old] = field(default_factory=list)

    @property
    def is_mixed(self) -> bool:
        """Whether they have to be told apart; names of old arrays are names already."""
        return bool(self.old) and (self.is_new or any(rank for _, rank in self.old))

    def extra(self, number: Lit, indices: Sequence[Operand] = ()) -> list[Operand]:
        """What a branch says of its result: its number, and the indices of a row."""
        return [number, *indices, *[lit(0)] * (self.width - len(indices))]

    def number(self, array: Var, rank: int = 0) -> Lit:
        """The number of an old array, or of the rows of one, from 1 on."""
        if (array, rank) not in self.old:
            self.old.append((array, rank))
        return lit(1 + self.old.index((array, rank)))


# An array, and how many indices a row of it has; none, if it is the array itself.
_Old = tuple[Var, int]


class _Separate(Walk):
    """Goes from the outermost branch inwards."""

    def block(self, block: Block) -> Block:
        return super().block(_separated(block))


def _separated(block: Block) -> Block:
    """The block with the arrays that its branches give separated."""
    bindings: list[Binding] = []
    for binding in block.bindings:
        pieces = [binding]
        for k, var in enumerate(binding.vars):
            if isinstance(var.type, Array) and var not in block.results:
                pieces[:1] = _split(pieces[0], k)
        bindings += pieces
    if len(bindings) == len(block.bindings):
        return block
    return Block(tuple(bindings), block.results)


def _split(binding: Binding, k: int) -> list[Binding]:
    """The branch with its result k separated, and the choice between new and old."""
    if not isinstance(binding.expr, If):
        return [binding]
    bound = _bound(binding.expr)
    rows = (len(e.args) - 1 for e in bound.values() if _is_row(e))
    found = _Found({*bound}, max(rows, default=0))
    new = _renewed(binding, k, found)
    if new is None or not found.is_mixed:
        return [binding]
    out = Builder(binding.span)
    which, *indices = new.vars[len(binding.vars) :]
    fresh = [(0, Block((), (new.vars[k],)))] if found.is_new else []
    old = [_taken(a, indices[:rank], out) for a, rank in found.old]
    *others, (_, given) = [*fresh, *enumerate(old, 1)]
    for number, block in reversed(others):
        is_this = out.prim("ieq", which, lit(number))
        (var,) = out.emit(If(is_this, block, given), "old")
        given = Block((), (var,))
    if not others:
        out.bindings += given.bindings
    last = out.bindings.pop()
    choice = Binding(binding.vars[k : k + 1], last.expr, binding.span)
    return [new, *out.bindings, choice]


def _is_row(expr: Expr) -> TypeGuard[Apply]:
    return isinstance(expr, Apply) and isinstance(expr.op, Index)


def _taken(array: Var, indices: Sequence[Var], out: Builder) -> Block:
    """A branch that gives an old array, or a row of one."""
    inner = out.child()
    row = inner.one(Apply(Index(), (array, *indices)), "row") if indices else array
    return inner.block([row])


def _renewed(binding: Binding, k: int, found: _Found) -> Binding | None:
    """The branch that gives as result k a new array or none, and which one behind all.

    None if some branch gives what is neither new nor old.
    """
    node, var = binding.expr, binding.vars[k]
    assert isinstance(node, If)
    blocks = [_side(branch, k, found) for branch in (node.then, node.orelse)]
    then, orelse = blocks
    if then is None or orelse is None:
        return None
    new = Var(var.name, var.type)
    extra = [Var("which", I64), *(Var("k", I64) for _ in range(found.width))]
    variables = (*binding.vars[:k], new, *binding.vars[k + 1 :], *extra)
    return Binding(variables, If(node.cond, then, orelse), binding.span)


def _side(block: Block, k: int, found: _Found) -> Block | None:
    """A branch in the new form."""
    result = block.results[k]
    assert isinstance(result, Var)
    if result not in found.inside:
        return _old(block, k, found.extra(found.number(result)))
    for place, binding in enumerate(block.bindings):
        if result not in binding.vars:
            continue
        match binding.expr:
            case Apply(Build() | Fold() | Zeros()):
                found.is_new = True
                return Block(block.bindings, (*block.results, *found.extra(lit(0))))
            case Apply(Index(), (Var() as array, *at)) if array not in found.inside:
                return _old(block, k, found.extra(found.number(array, len(at)), at))
            case If():
                return _inner(block, k, place, found)
    return None


def _old(block: Block, k: int, extra: Sequence[Operand]) -> Block:
    """A branch that gives nothing, and says which old array is meant."""
    out = Builder()
    none = nothing(out, block.results[k].type)
    return _with_result(block, (*block.bindings, *out.bindings), k, none, extra)


def _inner(block: Block, k: int, place: int, found: _Found) -> Block | None:
    """The same where the result is what an inner branch gives, and used for no more."""
    old, result = block.bindings[place], block.results[k]
    assert isinstance(result, Var)
    behind = block.bindings[place + 1 :]
    used = any(result in free_vars_of(b.expr) for b in behind)
    if used or block.results.count(result) > 1:
        return None
    position = old.vars.index(result)
    new = _renewed(old, position, found)
    if new is None:
        return None
    bindings = (*block.bindings[:place], new, *behind)
    extra = new.vars[len(old.vars) :]
    return _with_result(block, bindings, k, new.vars[position], extra)


def _with_result(
    block: Block,
    bindings: tuple[Binding, ...],
    k: int,
    result: Operand,
    extra: Sequence[Operand],
) -> Block:
    results = (*block.results[:k], result, *block.results[k + 1 :], *extra)
    return Block(bindings, results)


def _bound(node: If) -> dict[Var, Expr]:
    """The variables bound in branches, and in blocks inside of them."""
    found: dict[Var, Expr] = {}
    pending = [node.then, node.orelse]
    while pending:
        for binding in pending.pop().bindings:
            found |= dict.fromkeys(binding.vars, binding.expr)
            pending += [inner for _, inner in nested(binding.expr)]
    return found
