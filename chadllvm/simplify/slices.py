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

Inside of a loop a step may read a few elements of a long part. So there any part is
read where it stands of which the same step reads elements, or which is read in the
order in which it is stored; it may have several dimensions. So is, where indices tell
which array an element is read of, a list of arrays that each step writes.

    xs = build(2) { i ->                  …
      x = build(n) { j ->
        c = ieq(i, 0)                     c = ieq(k, 0)
        v = if c { index(a, j) }     →    v = if c { index(a, l) } else { index(b, l) }
            else { index(b, j) }
        yield v }
      yield x }
    r = index(xs, k); … index(r, l) …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from chadllvm.closure.updated import is_updated
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import Renaming, everywhere, map_functions, with_body
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
from chadllvm.ops.index import Dim, Index, MakeBox, Sized, Unbox
from chadllvm.simplify.walk import Walk
from chadllvm.simplify.windows import window

# What may be computed again for each element that is read.
_PLACES = ("iadd", "isub", "imul")

# What tells which array an element is read of.
_TESTS = (*_PLACES, "ilt", "ile", "ieq", "ine", "and", "or", "not")

# What tells where in rows or columns of another number an element is.
_SHAPES = ("row_of", "column_of")


def slices(program: Program) -> Program:
    """Put what they are read from in the place of parts of arguments."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    needed = set(_needed_whole(function.body))
    for row, array in reversed([*_rows(function.body)]):
        if row in needed:
            needed.add(array)
    later = _read_later(function.body)
    known = needed, later, _asked(function.body)
    walk = _Reading(frozenset(function.params), *known, is_updated(function))
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
            case Apply(Sized(), (_, *sizes)):
                yield from sizes
            case expr:
                yield from operands(expr)
        for _, inner in nested(binding.expr):
            yield from _needed_whole(inner)


def _asked(block: Block) -> set[Operand]:
    """The arrays whose rows are asked for sizes that they do not have without rows.

    Checks of such sizes may be moved in front of loops over the rows.
    """
    found: set[Operand] = set()
    # Arrays by what they are parts of, with how many sizes of their rows are known.
    parts: dict[Operand, tuple[Operand, int]] = {}

    def walk(block: Block) -> None:
        for binding in block.bindings:
            match binding.expr:
                case Apply(Sized(), (array, *sizes)):
                    root, known = parts.get(array, (array, 0))
                    parts[binding.vars[0]] = root, max(known, len(sizes))
                case Apply(Build(), (Lit(count),)) if count > 0:
                    parts.update({var: (var, 1) for var in binding.vars})
                case Apply(Index(), (array, *indices)):
                    root, known = parts.get(array, (array, 0))
                    parts[binding.vars[0]] = root, max(known - len(indices), 0)
                case Apply(Dim(axis), (array,)):
                    root, known = parts.get(array, (array, 0))
                    if axis > known:
                        found.add(root)
                case _:
                    pass
            for _, inner in nested(binding.expr):
                walk(inner)

    walk(block)
    return found


def _rows(block: Block) -> Iterator[tuple[Var, Operand]]:
    """The rows that are named in a block, with the arrays they are of.

    So are arrays whose rows are of sizes that are known.
    """
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Index() | Sized(), (array, *_)) if isinstance(
                binding.vars[0].type, Array
            ):
                yield binding.vars[0], array


def _read_later(block: Block) -> set[Operand]:
    """The arrays that are read in loops inside of the block that binds them."""
    found: set[Operand] = set()
    homes: dict[Operand, tuple[Operand, Block]] = {}

    def walk(block: Block, loop: Block) -> None:
        for binding in block.bindings:
            for var in binding.vars:
                homes[var] = var, loop
            match binding.expr:
                case Apply(Index() | Dim() | Sized(), (array, *_)) if array in homes:
                    root, home = homes[binding.vars[0]] = homes[array]
                    if home is not loop:
                        found.add(root)
                case If(_, then, orelse):
                    walk(then, loop)
                    walk(orelse, loop)
                case expr:
                    for _, inner in nested(expr):
                        walk(inner, inner)

    walk(block, block)
    return found


@dataclass(frozen=True)
class _Part:
    """A part that is not made: its sizes, and the element at some indices."""

    sizes: tuple[Operand, ...]
    params: tuple[Var, ...]
    bindings: tuple[Binding, ...]
    result: Operand

    def sized(self, sizes: Sequence[Operand]) -> _Part:
        """The same, whose rows are of these sizes."""
        rest = self.sizes[1 + len(sizes) :]
        return replace(self, sizes=(self.sizes[0], *sizes, *rest))

    def row(self, index: Operand) -> _Part:
        """What is at a first index."""
        renaming = Renaming({self.params[0]: index}, fresh=True)
        bindings = tuple(map(renaming.binding, self.bindings))
        result = renaming.operand(self.result)
        return _Part(self.sizes[1:], self.params[1:], bindings, result)


class _Reading(Walk):
    def __init__(
        self,
        params: frozenset[Var],
        needed: set[Operand],
        later: set[Operand],
        asked: set[Operand],
        is_updated: Callable[[Var], bool],
    ) -> None:
        super().__init__()
        self._is_updated = is_updated
        # The arguments, and what is one of them or a part of one.
        self._given: set[Operand] = {*params}
        self._needed = needed
        self._later = later
        self._asked = asked
        # The parts that are not made.
        self._parts: dict[Operand, _Part] = {}
        # How many loops this place is inside of.
        self._depth = 0

    def body(self, body: Lambda) -> Lambda:
        self._depth += 1
        new = super().body(body)
        self._depth -= 1
        return new

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Build()) as node if part := self._part(binding, node):
                self._parts[binding.vars[0]] = part
            case Apply(Index(), (array, *indices)) if array in self._parts:
                self._read(binding, self._parts[array], indices)
            case Apply(Sized(), (array, *sizes)) if array in self._parts:
                self._parts[binding.vars[0]] = self._parts[array].sized(sizes)
            case Apply(Dim(axis), (array,)) if array in self._parts:
                size = Apply(PRIMS["imax"], (self._parts[array].sizes[axis], Lit(0)))
                self.keep(Binding(binding.vars, size, binding.span))
            case _:
                self._given.update(self._names(binding))
                self.keep(binding)

    def _names(self, binding: Binding) -> list[Var]:
        """The variables that only name (parts of) arguments."""
        match binding.expr:
            case Apply(Index() | Unbox() | MakeBox() | Sized(), (array, *_)):
                return [*binding.vars] if array in self._given else []
            case If(_, then, orelse):
                sides = zip(binding.vars, then.results, orelse.results, strict=True)
                return [v for v, *given in sides if self._given.issuperset(given)]
            case _:
                return []

    def _part(self, binding: Binding, node: Apply) -> _Part | None:
        """The part that a loop collects, if it need not be made."""
        if self._needed.intersection(binding.vars) or len(binding.vars) != 1:
            return None
        (count,), (body,) = node.args, node.bodies
        part = _nest(count, body)
        is_asked = binding.vars[0] in self._asked
        if self._depth and not is_asked:
            if self._stands(binding.vars[0], node):
                return part
            is_last = part.bindings[-1:] and part.bindings[-1].vars == (part.result,)
            is_near = binding.vars[0] not in self._later
            if is_near and is_last and self._is_cheap(part.bindings, _SHAPES):
                return part
        *places, last = part.bindings or (None,)
        if part.sizes == (count,) and self._reads(last) and _vary(places, body):
            is_element = last is not None and last.vars == (part.result,)
            return part if is_element else None
        if not self._depth or isinstance(part.result.type, Array):
            return None
        return part if self._chooses(part) else None

    def _stands(self, var: Var, node: Apply) -> bool:
        """Whether a part is no more work to read where it stands."""
        found = window(node)
        if found is None or self._is_updated(found.array):
            return False
        return var not in self._later or _is_in_order(found.place)

    def _reads(self, binding: Binding | None) -> bool:
        """Whether a binding is of an element of what stays as it is."""
        match binding:
            case Binding((found,), Apply(Index(), (array, *_))):
                stays = array in self._given or array not in self._needed
                return stays and not isinstance(found.type, Array)
            case _:
                return False

    def _chooses(self, part: _Part) -> bool:
        """Whether indices tell which element of which array each one is."""
        is_choice = any(isinstance(b.expr, If) for b in part.bindings)
        inside = {v for b in part.bindings for v in b.vars}
        has_size = inside.union(part.params).isdisjoint(part.sizes)
        is_last = part.bindings[-1:] and part.bindings[-1].vars == (part.result,)
        return bool(
            is_choice and has_size and is_last and self._is_cheap(part.bindings)
        )

    def _is_cheap(self, bindings: Sequence[Binding], more: Sequence[str] = ()) -> bool:
        """Whether nothing is done but to find out where to read, by tests of indices
        and `more`, and to read there."""
        for binding in bindings:
            match binding.expr:
                case Apply(Prim(name=name)) if name in _TESTS or name in more:
                    pass
                case If(_, then, orelse):
                    sides = (then.bindings, orelse.bindings)
                    if not all(self._is_cheap(side, more) for side in sides):
                        return False
                case Apply(Index(), (Var() as array, *_)) if not isinstance(
                    binding.vars[0].type, Array
                ):
                    if array in self._needed and self._is_updated(array):
                        return False
                case _:
                    return False
        return True

    def _read(self, binding: Binding, part: _Part, indices: Sequence[Operand]) -> None:
        """An element of a part that is not made, or a row of it."""
        for index in indices:
            part = part.row(index)
        if part.params:
            self._parts[binding.vars[0]] = part
            return
        *places, last = part.bindings  # The last one gives the element.
        for place in places:
            self.keep(place)
        self.keep(Binding(binding.vars, last.expr, binding.span))


def _is_in_order(place: Lambda) -> bool:
    """Whether elements that follow on each other are next to each other, or as far
    apart as others: the last index alone depends on that of the last axis."""
    varying: set[Operand] = {place.params[-1]}
    for binding in place.body.bindings:
        if not varying.isdisjoint(operands(binding.expr)):
            varying.update(binding.vars)
    return varying.isdisjoint(place.body.results[:-1])


def _nest(count: Operand, body: Lambda) -> _Part:
    """What a loop collects, with the loops that collect its rows."""
    sizes, params, bindings = [count], [*body.params], [*body.body.bindings]
    (result,) = body.body.results
    while bindings and bindings[-1].vars == (result,):
        match bindings[-1].expr:
            case Apply(Build(), (size,), (inner,)):
                sizes.append(size)
                params += inner.params
                bindings[-1:] = inner.body.bindings
                (result,) = inner.body.results
            case _:
                break
    return _Part(tuple(sizes), tuple(params), tuple(bindings), result)


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
