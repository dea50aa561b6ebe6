"""Results of a recursion that are what its calls were given, updated where it is.

    recurse(0, a) { f, i, p ->
      r = if ige(i, n) { yield p }
          else { q = update(p, i, x)        q, s and r are in the buffer of p
                 s = call f(i + 1, q)
                 yield s }
      yield r }

Who makes the call has such a result already: it need not be returned, if buffers can be
one (`lower/inplace.py`), and the cotangent of the parameter is made of the result's.
This finds the results that are so by what binds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chadllvm.ir.rewrite import everywhere, free_vars_of
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    If,
    Lambda,
    One,
    Operand,
    Var,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.index import Sized
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update

# For the functions of recursions: results by position, and the parameters they are.
HandedBack = Mapping[Var, Mapping[int, int]]


def handed_back(block: Block) -> dict[Var, dict[int, int]]:
    """The results of all recursions in a block that are parameters, updated."""
    found: dict[Var, dict[int, int]] = {}
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Recurse() as op, _, (body,)):
                results = handed_back_by(body, op.plain(body))
                if results:
                    found[body.params[0]] = results
    return found


def handed_back_by(body: Lambda, count: int) -> dict[int, int]:
    """The same of one function, among its first results."""
    itself, *params = body.params
    found = {
        k: p
        for k, result in enumerate(body.body.results[:count])
        if isinstance(result.type, Array) and isinstance(result.type.elem, Scalar)
        for p in [_first(body.body, result, itself, params)]
        if p is not None
    }
    while True:
        kept: dict[int, int] = {}
        for k, p in found.items():
            walk = _Walk(itself, params, found)
            source = walk.source(body.body, body.body.results[k])
            is_one = list(found.values()).count(p) == 1
            if is_one and source is params[p] and walk.has_updates:
                kept[k] = p
        if kept == found:
            return found
        found = kept


def _first(
    body: Block, result: Operand, itself: Var, params: Sequence[Var]
) -> int | None:
    """The parameter that a result is on a way without calls, if on some."""
    walk = _Walk(itself, params, {})
    found = walk.source(body, result, is_any=True)
    return params.index(found) if found in params else None


class _Walk:
    """Follows what an array was updated from, in blocks in each other."""

    def __init__(
        self, itself: Var, params: Sequence[Var], known: Mapping[int, int]
    ) -> None:
        self._itself, self._params, self._known = itself, params, known
        self.has_updates = False

    def source(
        self, block: Block, operand: Operand, *, is_any: bool = False
    ) -> Operand | None:
        """What an array was before all updates in a block; None if it is made by
        something else, or is no one thing. `is_any`: on some way."""
        bound = {v: b for b in block.bindings for v in b.vars}
        while isinstance(operand, Var) and operand in bound:
            binding = bound[operand]
            found = (
                self._filled(block, binding.expr.cell, is_any)
                if isinstance(binding.expr, Close)
                else self._before(operand, binding, is_any)
            )
            if found is None:
                return None
            operand = found
        return operand

    def _filled(self, block: Block, cell: Operand, is_any: bool) -> Operand | None:
        """What a block, or each branch of one in it, adds to a cell as a whole."""
        value: Operand | None = None
        for binding in block.bindings:
            match binding.expr:
                case One(filled, (), added) if filled is cell:
                    value = added
                    break
                case If(_, then, orelse) as node if cell in free_vars_of(node):
                    sides = [self._filled(b, cell, is_any) for b in (then, orelse)]
                    value = _one_of(sides, is_any)
                    break
        return None if value is None else self.source(block, value, is_any=is_any)

    def _before(self, var: Var, binding: Binding, is_any: bool) -> Operand | None:
        k = binding.vars.index(var)
        match binding.expr:
            case Apply(Update() | Sized() as op, (array, *_)):
                self.has_updates |= isinstance(op, Update)
                return array
            case If(_, then, orelse):
                sides = [
                    self.source(side, side.results[k], is_any=is_any)
                    for side in (then, orelse)
                ]
                return _one_of(sides, is_any)
            case Apply(Iterate(), args, (body,)) if k + 1 < len(args):
                state = body.params[k + 1]
                after = self.source(body.body, body.body.results[k], is_any=is_any)
                return args[k + 1] if after is state else None
            case Call(function, args) if function is self._itself:
                return args[self._known[k]] if k in self._known else None
            case _:
                return None


def _one_of(sides: Sequence[Operand | None], is_any: bool) -> Operand | None:
    """What both sides are, or with `is_any` one that is known."""
    if is_any:
        return next((side for side in sides if side is not None), None)
    return sides[0] if sides[0] is sides[1] else None
