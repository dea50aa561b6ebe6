"""What calls of a recursion return is made where their callers want it.

    r = if c { yield x }                  r = if c { y = build(n) { j -> index(x, j) }
                                                    yield y }
        else { z = call f(a)         →        else { z = call f(a)
               … index(z, i) …                       … index(z, i) …
               yield z }                             yield z }
    return (a copy of) r                  return r

An array that a call returns is in memory of its caller's. Where it is one that a call
inside has returned, to copy it there would be to copy it again in each call. So that
one is asked for where it has to be in the end, what the call makes itself is made
there, and any other array is copied on its own way. Nothing else may be in that memory:
an array that has another name, or that something else than a read uses, is copied.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import rebuild, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    Function,
    If,
    Lambda,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.lower.twins import copy_of
from chadllvm.ops.build import Build
from chadllvm.ops.handed_back import HandedBack
from chadllvm.ops.index import Dim, Index, Zeros
from chadllvm.ops.recurse import Recurse

# The results that are made where callers want them, by the function of the recursion.
Direct = Mapping[Var, Set[int]]


def returned(function: Function, back: HandedBack) -> tuple[Function, Direct]:
    """The function with these copies, and the results that need no others.

    Those that are handed `back` where they were given are left out.
    """
    found: dict[Var, Set[int]] = {}

    def block(old: Block) -> Block:
        bindings = tuple(map(binding, old.bindings))
        if all(a is b for a, b in zip(bindings, old.bindings, strict=True)):
            return old
        return Block(bindings, old.results)

    def binding(old: Binding) -> Binding:
        expr = rebuild(old.expr, block)
        match expr:
            case Apply(Recurse() as op, args, (body,)):
                itself, inner = body.params[0], body.body
                calls = _Calls(itself, inner, op.plain(body), back.get(itself, {}))
                if calls.direct:
                    found[itself] = calls.direct
                    for k in sorted(calls.direct):
                        inner = calls.made_there(inner, k)
                    expr = Apply(op, args, (Lambda(body.params, inner),))
        return old if expr is old.expr else Binding(old.vars, expr, old.span)

    return with_body(function, block(function.body)), found


@dataclass(frozen=True)
class _Passed:
    """An array that a call has returned."""

    call: Binding
    array: Var


class _Calls:
    """The calls in a recursion's body that return what the body then returns.

    All arrays that such a call returns have to be returned: where the memory is that
    one of them is made in, nothing of the call's own may be.
    """

    def __init__(
        self, itself: Var, body: Block, count: int, back: Container[int]
    ) -> None:
        self._itself, self._back = itself, back
        self.direct: set[int] = set()
        places = [k for k in range(count) if k not in back]
        passed = {k: [*self._passed(body, k)] for k in places}
        self.direct = {k for k, calls in passed.items() if calls}
        while True:
            handed = [v for k in self.direct for v in passed[k]]
            self._whole = {v for v in handed if self._is_whole(v, handed)}
            left = {k for k in self.direct if not self._whole.isdisjoint(passed[k])}
            if left == self.direct:
                return
            self.direct = left

    def _passed(self, block: Block, k: int) -> Iterator[_Passed]:
        """What calls have returned that is a result of a block, on some way."""
        match _source(block, k):
            case Binding(_, If(_, then, orelse)), at:
                yield from self._passed(then, at)
                yield from self._passed(orelse, at)
            case Binding(_, Call(function)) as call, at if function is self._itself:
                yield _Passed(call, call.vars[at])

    def _is_whole(self, passed: _Passed, handed: Sequence[_Passed]) -> bool:
        results = enumerate(passed.call.vars)
        arrays = [
            v for k, v in results if isinstance(v.type, Array) and k not in self._back
        ]
        return all(_Passed(passed.call, array) in handed for array in arrays)

    def made_there(self, block: Block, k: int) -> Block:
        """The block with a copy of a result where that is made elsewhere."""
        match _source(block, k):
            case Binding(_, If(cond, then, orelse)), at:
                sides = (self.made_there(side, at) for side in (then, orelse))
                return _with_expr(block, block.results[k], If(cond, *sides))
            case call, at if _Passed(call, call.vars[at]) in self._whole:
                return block
            case Binding(_, Apply(Build() | Zeros())), _:
                return block
            case _:
                out = Builder(block.bindings[-1].span) if block.bindings else Builder()
                copy = copy_of(out, block.results[k])
                results = (*block.results[:k], copy, *block.results[k + 1 :])
                return Block((*block.bindings, *out.bindings), results)


def _source(block: Block, k: int) -> tuple[Binding, int] | None:
    """What binds a result of a block in it, and as which of its results; None if that
    is used for more than to be read, or is no array of numbers."""
    result = block.results[k]
    match result.type:
        case Array(Scalar()) if _is_only_read(block, result):
            for binding in block.bindings:
                if result in binding.vars:
                    return binding, binding.vars.index(result)
    return None


def _is_only_read(block: Block, array: Operand) -> bool:
    """Whether a block uses one of its results for nothing but elements and sizes."""
    is_one = block.results.count(array) == 1
    return is_one and all(_reads(b, array) for b in block.bindings)


def _reads(binding: Binding, array: Operand) -> bool:
    match binding.expr:
        case Apply(Index(), (read, *_)) if read is array:
            return isinstance(binding.vars[0].type, Scalar)
        case Apply(Dim()):
            return True
        case expr:
            return array not in operands(expr) and all(
                array not in inner.results
                and all(_reads(b, array) for b in inner.bindings)
                for _, inner in nested(expr)
            )


def _with_expr(block: Block, var: Operand, expr: Expr) -> Block:
    """The block in which another expression binds a variable."""

    def changed(old: Binding) -> Binding:
        return Binding(old.vars, expr, old.span) if var in old.vars else old

    return Block(tuple(map(changed, block.bindings)), block.results)
