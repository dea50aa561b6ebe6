"""Parts of arrays that stay as they are are read where they stand, not copied.

    x = build(n) { i ->                     …
      k = iadd(lo, i)
      v = index(a, k)              →
      yield v }
    … index(x, j) … dim[0](x) …           k = iadd(lo, j); … index(a, k) … imax(n, 0) …

Such is an array of a list, or a slice that begins at a place known when the program
runs, where it has a name. Then to name it costs nothing, and the cotangent of an
element goes to where it came from in one step. The array is an argument, one of several
arguments that a branch chooses, or one of which nothing but elements are read, since
nothing that is read later could be updated in place; and the part is read element by
element alone, for what takes a whole array needs one. A part that begins at a constant
stays a copy: it is as long as what it is a part of, nearly, and read in a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import Renaming, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, MakeBox, Unbox
from chadllvm.simplify.walk import Walk

# What may be computed again for each element that is read.
_PLACES = ("iadd", "isub", "imul")


def slices(program: Program) -> Program:
    """Put what they are read from in the place of parts of arguments."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    needed = set(_needed_whole(function.body))
    walk = _Reading(frozenset(function.params), needed)
    return with_body(function, walk.block(function.body))


def _needed_whole(block: Block) -> Iterator[Operand]:
    """What is used otherwise than by its elements and its size."""
    yield from block.results
    for binding in block.bindings:
        match binding.expr:
            case Apply(Index(), (_, *indices)):
                yield from indices
            case Apply(Dim()):
                pass
            case expr:
                yield from operands(expr)
        for _, inner in nested(binding.expr):
            yield from _needed_whole(inner)


class _Reading(Walk):
    def __init__(self, params: frozenset[Var], needed: set[Operand]) -> None:
        super().__init__()
        # The arguments, and what is one of them or a part of one.
        self._given: set[Operand] = {*params}
        self._needed = needed
        # The parts that are not made: how many elements they have, and each of them.
        self._parts: dict[Operand, tuple[Operand, Lambda]] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Build(), (count,), (body,)) if self._is_part(binding, body):
                self._parts[binding.vars[0]] = count, body
            case Apply(Index(), (array, index)) if array in self._parts:
                self._read(binding, self._parts[array][1], index)
            case Apply(Dim(), (array,)) if array in self._parts:
                size = Apply(PRIMS["imax"], (self._parts[array][0], Lit(0)))
                self.keep(Binding(binding.vars, size, binding.span))
            case _:
                self._given.update(self._names(binding))
                self.keep(binding)

    def _names(self, binding: Binding) -> list[Var]:
        """The variables that only name (parts of) arguments."""
        match binding.expr:
            case Apply(Index() | Unbox() | MakeBox(), (array, *_)):
                return [*binding.vars] if array in self._given else []
            case If(_, then, orelse):
                sides = zip(binding.vars, then.results, orelse.results, strict=True)
                return [v for v, *given in sides if self._given.issuperset(given)]
            case _:
                return []

    def _is_part(self, binding: Binding, body: Lambda) -> bool:
        """Whether a loop collects elements of an argument, from a variable place on."""
        if self._needed.intersection(binding.vars) or len(binding.vars) != 1:
            return False
        *places, last = body.body.bindings or (None,)
        match last:
            case Binding((found,), Apply(Index(), (array, *_))):
                is_element = body.body.results == (found,)
                is_element = is_element and not isinstance(found.type, Array)
                stays = array in self._given or array not in self._needed
                return is_element and stays and _vary(places, body)
            case _:
                return False

    def _read(self, binding: Binding, body: Lambda, index: Operand) -> None:
        """An element of a part that is not made."""
        *places, last = body.body.bindings
        renaming = Renaming({body.params[0]: index}, fresh=True)
        for place in places:
            self.keep(renaming.binding(place))
        self.keep(Binding(binding.vars, renaming.expr(last.expr), binding.span))


def _vary(places: Sequence[Binding | None], body: Lambda) -> bool:
    """Whether the places of elements are cheap to find, and no constants."""
    found = [place for place in places if place is not None]
    inside = {*body.params, *(v for place in found for v in place.vars)}
    from_outside: set[Operand] = set()
    for place in found:
        match place.expr:
            case Apply(Prim(name=name), args) if name in _PLACES:
                from_outside.update(a for a in args if a not in inside)
            case _:
                return False
    return any(isinstance(operand, Var) for operand in from_outside)
