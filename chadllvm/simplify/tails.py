"""Recursions whose calls come last are loops.

    r = recurse(z…) { f, p… ->            go, q… = iterate[while](most, true, z…) {
      c = …                                 _, _, p… ->
      s = if c { yield e } else {             c = …
        a = …                         →       g, n… = if c { yield false, p… } else {
        t = call f(b…)                          a = …
        yield t }                               yield true, b… }
      yield s }                               yield g, n… }
                                          require[RecursionError](not go)
                                          r = e, of the last parameters q…

The result of a call may also be added to something, or multiplied by it: what is added
is a state of the loop. That is another order of additions than the program's. Where
calls end in several places, or what decides it is long, the results are states, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chadllvm.ir.build import Builder
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import (
    Renaming,
    free_vars,
    free_vars_of,
    map_functions,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
    literal,
)
from chadllvm.ir.types import BOOL, I64, Scalar
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.require import Require
from chadllvm.simplify.failing import is_plain
from chadllvm.simplify.walk import Walk

# So many calls are in one another, at most: as many as there is stack for.
_MOST = Lit(1 << 24)

# What may be done with the result of a call, and what that begins with.
_NEUTRAL: dict[str, float | int] = {"add": -0.0, "mul": 1.0, "iadd": 0, "imul": 1}


def tails(program: Program, *, exact: bool) -> Program:
    """Make loops of recursions; `exact`: additions are in the program's order."""

    def change(function: Function) -> Function:
        return with_body(function, _Tails(exact).block(function.body))

    return map_functions(program, change)


class _Tails(Walk):
    def __init__(self, exact: bool) -> None:
        super().__init__()
        self._exact = exact

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Recurse(collects=0), args, (body,)) if _is_of_numbers(body):
                tree = _Tree(body)
                if tree.is_good and not (self._exact and tree.op):
                    _Loop(tree, binding, args).put(self)
                    return
            case _:
                pass
        self.keep(binding)


def _is_of_numbers(body: Lambda) -> bool:
    types = [*(param.type for param in body.params[1:]), *body.body.types]
    return bool(body.body.types) and all(isinstance(ty, Scalar) for ty in types)


@dataclass(frozen=True)
class _Leaf:
    """The last call on a way: what is done before it, and to its result."""

    before: tuple[Binding, ...]
    call: Call
    more: Operand | None = None


class _Tree:
    """The ways through the body of a recursion, which end in a call or in none.

    `op`: what is done with the results of calls, if anything; `ends`: how many ways end
    without a call.
    """

    def __init__(self, body: Lambda) -> None:
        self.itself, *self.params = body.params
        self.body, self.op, self.ends = body.body, "", 0
        # By the blocks, each of which is itself alone.
        self.leaves: dict[int, _Leaf] = {}
        self.is_good = self._visit(body.body) and bool(self.leaves)

    def calls(self, block: Block) -> bool:
        return self.itself in free_vars([((), block)])

    def _visit(self, block: Block) -> bool:
        """Whether each way through a block has a call at its end, or none."""
        if not self.calls(block):
            self.ends += 1
            return True
        match self._last(block):
            case Binding(variables, If(_, then, orelse)) as last if (
                variables == block.results and last is block.bindings[-1]
            ):
                return self._visit(then) and self._visit(orelse)
            case Binding(_, Call()) as call:
                return self._enter(block, call)
            case _:
                return False

    def _last(self, block: Block) -> Binding | None:
        """The only binding with a call in it."""
        found = [b for b in block.bindings if self.itself in free_vars_of(b.expr)]
        return found[0] if len(found) == 1 else None

    def _enter(self, block: Block, called: Binding) -> bool:
        """Whether a block does nothing behind its call, or adds to its results."""
        assert isinstance(called.expr, Call)
        others = tuple(b for b in block.bindings if b is not called)
        if called.vars == block.results and called is block.bindings[-1]:
            self.leaves[id(block)] = _Leaf(others, called.expr)
            return True
        if not others:
            return False
        *before, last = others
        behind = block.bindings[block.bindings.index(called) + 1 :]
        match last.expr, called.vars:
            case Apply(Prim(name=name), args), (result,) if (
                name in _NEUTRAL
                and self.op in ("", name)
                and block.results == last.vars
                and args.count(result) == 1
                and all(is_plain(b.expr) for b in behind)
                and not any(result in free_vars_of(b.expr) for b in before)
            ):
                self.op = name
                (more,) = (arg for arg in args if arg != result)
                self.leaves[id(block)] = _Leaf(tuple(before), called.expr, more)
                return True
            case _:
                return False


class _Loop:
    """The loop that a recursion is, applied to these arguments."""

    def __init__(self, tree: _Tree, binding: Binding, args: Sequence[Operand]) -> None:
        self._tree, self._binding, self._args = tree, binding, args
        types = [var.type for var in binding.vars]
        self._end = self._only_end()
        # What calls add up; the results, unless they are found out behind the loop.
        self._total = [Var("total", types[0])] if tree.op else []
        self._results = [] if self._end else [Var("result", ty) for ty in types]

    def _only_end(self) -> Block | None:
        """What all calls end with, if a short test that cannot fail comes before it."""
        *before, last = self._tree.body.bindings
        match last.expr:
            case If(_, then, orelse) if last.vars == self._tree.body.results and all(
                is_plain(b.expr) for b in before
            ):
                ends = [way for way in (then, orelse) if not self._tree.calls(way)]
            case _:
                return None
        if self._tree.ends > 1 or not ends:
            return None
        return Block((*before, *ends[0].bindings), ends[0].results)

    def put(self, walk: Walk) -> None:
        """Keep the loop, and have what uses the results use those of the loop."""
        tree, span = self._tree, self._binding.span
        states = (*tree.params, *self._total, *self._results)
        params = (Var("i", I64), Var("go", BOOL), *states)
        totals = [literal(_NEUTRAL[tree.op], var.type) for var in self._total]
        starts = [literal(0, var.type) for var in self._results]
        args = (_MOST, Lit(True), *walk.operands((*self._args,)), *totals, *starts)
        body = Lambda(params, self._block(tree.body))
        out = Builder(span)
        names = [param.name for param in params[1:]]
        going, *finals = out.apply(Iterate(stops=True), args, [body], names)
        ended = out.prim("not", going)
        out.apply(Require("RecursionError", "too many nested calls"), (ended,))
        results: Sequence[Operand] = finals[len(states) - len(self._results) :]
        if self._end is not None:
            known = dict(zip(tree.params, finals, strict=False))
            copy = Renaming(known, fresh=True).block(self._end)
            out.bindings += copy.bindings
            results = copy.results
        if self._total:
            total = finals[len(tree.params)]
            results = [out.prim(tree.op, total, results[0])]
        for new in out.bindings:
            walk.keep(walk.walked(new))
        for var, result in zip(self._binding.vars, results, strict=True):
            walk.replace(var, walk.operand(result))

    def _block(self, block: Block) -> Block:
        """Whether a block calls, and what all states are then."""
        tree = self._tree
        if id(block) in tree.leaves:
            leaf, out = tree.leaves[id(block)], Builder(self._binding.span)
            total: Sequence[Operand] = self._total
            if leaf.more is not None:
                total = [out.prim(tree.op, *total, leaf.more)]
            after = (Lit(True), *leaf.call.args, *total, *self._results)
            return Block((*leaf.before, *out.bindings), after)
        if not tree.calls(block):
            results = block.results if self._results else ()
            after = (Lit(False), *tree.params, *self._total, *results)
            return Block(block.bindings if results else (), after)
        *before, last = block.bindings
        assert isinstance(last.expr, If)
        then, orelse = self._block(last.expr.then), self._block(last.expr.orelse)
        chosen = tuple(Var("after", ty) for ty in then.types)
        new = Binding(chosen, If(last.expr.cond, then, orelse), last.span)
        return Block((*before, new), chosen)
