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

What a branch makes of an old array by an update is none of this: its cotangent is
handed on in place. Nor is what the block hands on, for its cotangent begins as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
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
from chadllvm.ops.index import Zeros, nothing
from chadllvm.simplify.walk import Walk


def separate(program: Program) -> Program:
    """Separate new arrays from old ones that branches give in their place."""
    return map_functions(program, lambda f: with_body(f, _Separate().block(f.body)))


@dataclass
class _Found:
    """What the branches of an `if` give: some new array, and these old ones.

    `inside` are the variables that the branches bind.
    """

    inside: set[Var]
    is_new: bool = False
    old: list[Var] = field(default_factory=list)

    def number(self, var: Var) -> Lit:
        """The number of an old array, from 1 on."""
        if var not in self.old:
            self.old.append(var)
        return lit(1 + self.old.index(var))


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
    found = _Found(_bound(binding.expr))
    new = _renewed(binding, k, found)
    if new is None or not found.is_new or not found.old:
        return [binding]
    out = Builder(binding.span)
    which, old = new.vars[-1], found.old[-1]
    for number, array in reversed(list(enumerate([new.vars[k], *found.old[:-1]]))):
        is_this = out.prim("ieq", which, lit(number))
        old = out.emit(If(is_this, Block((), (array,)), Block((), (old,))), "old")[0]
    last = out.bindings.pop()
    choice = Binding(binding.vars[k : k + 1], last.expr, binding.span)
    return [new, *out.bindings, choice]


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
    new, which = Var(var.name, var.type), Var("which", I64)
    variables = (*binding.vars[:k], new, *binding.vars[k + 1 :], which)
    return Binding(variables, If(node.cond, then, orelse), binding.span)


def _side(block: Block, k: int, found: _Found) -> Block | None:
    """A branch in the new form."""
    result = block.results[k]
    assert isinstance(result, Var)
    if result not in found.inside:
        out = Builder()
        none = nothing(out, result.type)
        bindings = (*block.bindings, *out.bindings)
        return _with_result(block, bindings, k, none, found.number(result))
    for place, binding in enumerate(block.bindings):
        if result not in binding.vars:
            continue
        match binding.expr:
            case Apply(Build() | Fold() | Zeros()):
                found.is_new = True
                return Block(block.bindings, (*block.results, lit(0)))
            case If():
                return _inner(block, k, place, found)
    return None


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
    return _with_result(block, bindings, k, new.vars[position], new.vars[-1])


def _with_result(
    block: Block,
    bindings: tuple[Binding, ...],
    k: int,
    result: Operand,
    which: Operand,
) -> Block:
    results = (*block.results[:k], result, *block.results[k + 1 :], which)
    return Block(bindings, results)


def _bound(node: If) -> set[Var]:
    """The variables bound in branches, and in blocks inside of them."""
    found: set[Var] = set()
    pending = [node.then, node.orelse]
    while pending:
        for binding in pending.pop().bindings:
            found.update(binding.vars)
            pending += [inner for _, inner in nested(binding.expr)]
    return found
