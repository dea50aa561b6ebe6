"""Windows: arrays of the elements of another one, from some place on, at some distance.

    x = build(n) { i ->
      k = iadd(lo, i)           the window of a from lo on, with n elements
      v = index(a, k)
      yield v }

They are what slices, columns and arrays of lists are in the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    If,
    Lambda,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Sized
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.simplify.codes import Window


def window(expr: Expr) -> Window | None:
    """What an expression makes, if it is a window of a row of an array."""
    counts: list[Operand] = []
    indices: list[Var] = []
    bindings: list[Binding] = []
    while True:
        match expr:
            case Apply(
                Build(), (count,), (Lambda((i,), Block((*places, read), (result,))),)
            ):
                pass
            case _:
                return None
        if read.vars != (result,):
            return None
        counts.append(count)
        indices.append(i)
        bindings += places
        if isinstance(read.vars[0].type, Scalar):
            return _window(counts, indices, bindings, read.expr)
        expr = read.expr


def _window(
    counts: Sequence[Operand],
    indices: Sequence[Var],
    places: Sequence[Binding],
    read: Expr,
) -> Window | None:
    match read:
        case Apply(Index(), (Var() as array, *at)):
            inside = {*indices, *(v for binding in places for v in binding.vars)}
            if not inside.isdisjoint((array, *counts)):
                return None
            if not _is_affine(indices, places, at):
                return None
            function = Lambda(tuple(indices), Block(tuple(places), tuple(at)))
            return Window(array, tuple(counts), function)
        case _:
            return None


def _is_affine(
    indices: Sequence[Var], places: Sequence[Binding], found: Sequence[Operand]
) -> bool:
    """Whether indices are affine in others, and nothing is done besides."""
    varying: set[Operand] = {*indices}
    for place in places:
        match place.expr:
            case Apply(Prim(name="iadd" | "isub" | "ineg"), args):
                if not varying.isdisjoint(args):
                    varying.update(place.vars)
            case Apply(Prim(name="imul"), args):
                if varying.issuperset(args):
                    return False
                if not varying.isdisjoint(args):
                    varying.update(place.vars)
            case _:
                return False
    return not varying.isdisjoint(found)


def chosen_windows(
    block: Block, needed: Iterable[Var] = ()
) -> tuple[set[Var], set[Var]]:
    """What is chosen or handed on that may be a window, and is not needed as a whole;
    and with it what may become such.

    Nothing is asked of it but elements and sizes, and so of all it is handed on to.
    More may be `needed` as a whole.
    """
    uses = _Uses()
    uses.block(block)
    whole = _closure([*_arrays(block.results), *uses.whole, *needed], uses.sources)
    from_windows = _closure(uses.windows, uses.targets)
    found = {var for var in from_windows if var in uses.sources} & uses.read - whole
    return found, _closure(found, uses.sources)


def updated(block: Block) -> set[Var]:
    """The arrays that are updated, or become such."""
    uses = _Uses()
    uses.block(block)
    return _closure(uses.updated, uses.sources)


def handed_on(block: Block) -> frozenset[Var]:
    """The arrays that branches, loops and calls choose or hand on."""
    uses = _Uses()
    uses.block(block)
    return frozenset(uses.targets)


def exchanged(block: Block, arrays: Iterable[Var]) -> set[Var]:
    """What may be one of these arrays, or may be where one of them may be as well."""
    uses = _Uses()
    uses.block(block)
    edges: dict[Var, list[Var]] = {}
    for source, targets in uses.targets.items():
        for target in targets:
            edges.setdefault(source, []).append(target)
            edges.setdefault(target, []).append(source)
    return _closure(arrays, edges)


def _closure(start: Iterable[Var], edges: Mapping[Var, Sequence[Var]]) -> set[Var]:
    found = set(start)
    pending = [*found]
    while pending:
        new = [v for v in edges.get(pending.pop(), ()) if v not in found]
        found.update(new)
        pending += new
    return found


class _Uses:
    """How arrays are used: read by elements, as wholes, or handed on.

    `read`: those of which an element or a size is asked, or that are handed on.
    """

    def __init__(self) -> None:
        self.read: set[Var] = set()
        self.whole: list[Var] = []
        self.windows: list[Var] = []
        self.updated: list[Var] = []
        self.sources: dict[Var, list[Var]] = {}
        self.targets: dict[Var, list[Var]] = {}
        # The bodies of functions that call themselves.
        self._functions: dict[Var, Lambda] = {}

    def block(self, block: Block) -> None:
        for binding in everywhere(block):
            self._binding(binding)

    def _binding(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (array, *_)) if isinstance(
                binding.vars[0].type, Scalar
            ):
                self.read.update(_arrays([array]))
            case Apply(Index() | Sized(), (array, *_)) if has_numbers(array):
                self._hand_on([array], binding.vars)
            case Apply(Dim(), (array,)):
                self.read.update(_arrays([array]))
            case If(_, then, orelse):
                for block in (then, orelse):
                    self._hand_on(block.results, binding.vars)
            case Apply(Iterate(), (_, *inits), (body,)):
                states, results = body.params[1:], body.body.results
                self._hand_on(inits, states)
                self._hand_on(results, states)
                self._hand_on(states, binding.vars)
                self.whole += _arrays(results[len(states) :])
            case Apply(Recurse() as op, args, (body,)):
                self._functions[body.params[0]] = body
                self._hand_on(args, body.params[1:])
                count, results = op.plain(body), body.body.results
                self._hand_on(results[:count], binding.vars)
                self.whole += _arrays(results[count:])
            case Call(Var() as function, args) if function in self._functions:
                body = self._functions[function]
                self._hand_on(args, body.params[1:])
                self._hand_on(body.body.results, binding.vars)
            case expr:
                if window(expr) is not None:
                    self.windows += binding.vars
                if isinstance(expr, Apply) and isinstance(expr.op, Update):
                    self.updated += _arrays(expr.args[:1])
                inner = (r for _, block in nested(expr) for r in block.results)
                self.whole += _arrays((*operands(expr), *inner))

    def _hand_on(self, given: Sequence[Operand], taken: Sequence[Var]) -> None:
        for operand, var in zip(given, taken, strict=False):
            if isinstance(operand, Var) and isinstance(var.type, Array):
                self.sources.setdefault(var, []).append(operand)
                self.targets.setdefault(operand, []).append(var)
                self.read.add(operand)


def has_numbers(array: Operand) -> bool:
    """Whether an operand is an array of numbers, whose rows may be windows."""
    return isinstance(array.type, Array) and isinstance(array.type.elem, Scalar)


def _arrays(found: Iterable[Operand]) -> list[Var]:
    return [v for v in found if isinstance(v, Var) and isinstance(v.type, Array)]
