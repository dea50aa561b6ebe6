"""Elements that cost next to nothing are computed where they are read.

    x = build(n) { i ->
      v = index(a, i)                     s = fold[max](n) { j ->
      w = index(b, i)                       v = index(a, j)
      u = add(v, w)                         w = index(b, j)
      yield u }                             u = add(v, w)
    s = fold[max](n) { j ->        →        yield u }
      u = index(x, j)                     e = build(n) { k ->
      yield u }                             v' = index(a, k)
    e = build(n) { k ->                     w' = index(b, k)
      y = index(x, k)                       y = add(v', w')
      z = exp(y)                            z = exp(y)
      yield z }                             yield z }

An array that loops of the same block read in order, each element once, need not exist
if its elements are as quick to compute as to read: then no loop writes it, and, which
is the point, the reverse of what reads it has no need of it. Fusion (`fuse.py`), which
repeats nothing, would leave such an array where two loops read it that cannot be one.

A loop that reads later what was read before must not make a copy necessary: arrays are
not updated between the two.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import Renaming, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    Lambda,
    One,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.simplify.walk import Walk

# The work of an element, with what it reads, and how many loops may read it.
_LIGHT = 4
_READERS = 2


def elements(program: Program) -> Program:
    """Compute light elements where they are read."""
    return map_functions(program, lambda f: with_body(f, _Elements().block(f.body)))


class _Elements(Walk):
    """Goes over blocks from the inside outwards."""

    def block(self, block: Block) -> Block:
        block = super().block(block)
        if any(map(_is_light, block.bindings)):
            return _Moving(block).moved()
        return block


class _Moving:
    """A block whose loops compute light elements, from the first on.

    `users`: the places of the bindings that use a variable, themselves or in a body;
    `updating`: those of which an array may be updated.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self._bindings = list(block.bindings)
        self._users: dict[Var, set[int]] = {}
        for place, binding in enumerate(block.bindings):
            self._note_users(place, binding.expr)
        self._updating = [
            place for place, b in enumerate(block.bindings) if _may_update(b.expr)
        ]

    def _note_users(self, place: int, expr: Expr) -> None:
        for var in _used(expr):
            self._users.setdefault(var, set()).add(place)

    def moved(self) -> Block:
        is_changed = False
        for place in range(len(self._bindings)):
            readers = self._readers(place)
            is_changed |= bool(readers)
            for at in readers:
                self._compute(at, self._bindings[place])
        if not is_changed:
            return self._block
        return Block(tuple(self._bindings), self._block.results)

    def _readers(self, place: int) -> Sequence[int]:
        """The places of the loops that read light elements, if nothing else does."""
        made = self._bindings[place]
        if not _is_light(made):
            return ()
        (array,), node = made.vars, made.expr
        assert isinstance(node, Apply)
        readers = sorted(self._users.get(array, ()))
        if not readers or len(readers) > _READERS or array in self._block.results:
            return ()
        first = bisect(self._updating, place)
        if self._updating[first : first + 1] and self._updating[first] <= readers[-1]:
            return ()
        loops = [self._bindings[at].expr for at in readers]
        if all(_reads_in_order(loop, array, node.args[0]) for loop in loops):
            return readers
        return ()

    def _compute(self, place: int, made: Binding) -> None:
        """Have a loop compute elements; the array is dead then."""
        assert isinstance(made.expr, Apply)
        (array,), (element,) = made.vars, made.expr.bodies
        self._bindings[place] = _computing(self._bindings[place], array, element)
        self._note_users(place, element)


def _used(expr: Expr) -> Iterator[Var]:
    """The variables that an expression and its bodies use."""
    yield from (v for v in operands(expr) if isinstance(v, Var))
    for _, block in nested(expr):
        yield from (v for v in block.results if isinstance(v, Var))
        for binding in block.bindings:
            yield from _used(binding.expr)


def _is_light(binding: Binding) -> bool:
    """Whether a binding makes an array of light elements."""
    match binding.expr:
        case Apply(Build(), _, (Lambda(body=body),)) if len(binding.vars) == 1:
            weights = [_weight(b.expr) for b in body.bindings]
            (result,) = body.results
            return isinstance(result.type, Scalar) and sum(weights) <= _LIGHT
        case _:
            return False


def _weight(expr: Expr) -> int:
    match expr:
        case Apply(Index(), _):
            return 1
        case Apply(Prim(cycles=cycles, can_fail=False)):
            return cycles
        case _:
            return _LIGHT + 1


def _reads_in_order(expr: Expr, array: Var, count: Operand) -> bool:
    """Whether it is a loop of as many steps whose steps read their element only."""
    match expr:
        case Apply(Build() | Fold(), (n, *_) as args, (body,)):
            if array in args or not _same(n, count) or array in body.body.results:
                return False
            index = body.params[0]
            return all(
                _is_element(b.expr, array, index) or array not in _used(b.expr)
                for b in body.body.bindings
            )
        case _:
            return False


def _same(a: Operand, b: Operand) -> bool:
    return a is b or (not isinstance(a, Var) and a == b)


def _is_element(expr: Expr, array: Var, index: Var) -> bool:
    match expr:
        case Apply(Index(), (read, i)):
            return read is array and i is index
        case _:
            return False


def _may_update(expr: Expr) -> bool:
    """Whether arrays may be updated, or taken over by cells or states."""
    match expr:
        case Apply(Update() | Append() | DropLast() | Recurse()) | Call():
            return True
        case Apply(Iterate(), args) if any(isinstance(a.type, Array) for a in args):
            return True
        case One(_, _, value) if isinstance(value.type, Array):
            return True
        case _:
            inner = [b for _, block in nested(expr) for b in block.bindings]
            return any(_may_update(binding.expr) for binding in inner)


def _computing(loop: Binding, array: Var, element: Lambda) -> Binding:
    node = loop.expr
    assert isinstance(node, Apply)
    (body,) = node.bodies
    renaming = Renaming()
    new: list[Binding] = []
    for binding in body.body.bindings:
        if _is_element(binding.expr, array, body.params[0]):
            copy = Renaming({element.params[0]: body.params[0]}, fresh=True)
            new += [copy.binding(b) for b in element.body.bindings]
            value = copy.operand(element.body.results[0])
            renaming.mapping[binding.vars[0]] = value
        else:
            new.append(renaming.binding(binding))
    block = Block(tuple(new), renaming.operands(body.body.results))
    expr = Apply(node.op, node.args, (Lambda(body.params, block),))
    return Binding(loop.vars, expr, loop.span)
