"""States of loops that some steps make anew, and others take from elsewhere.

    iterate(n, a) { i, k: f64[:] ->
      x = if c {
        y = build(m) { … }          a made array, `y`
        yield y
      } else {
        z = if d { yield b }        an array from outside, or the state as it is
            else { yield k }
        yield z }
      yield x }

Such a state refers to an array that is kept for it (`slots.py`), or to an old one. So
does one that a branch leaves as it is, and the state of an inner loop that such a one
may become. One that each step makes anew, or that is updated later, needs none of that:
it is carried in buffers of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    If,
    Lambda,
    Operand,
    Var,
    nested,
)
from chadllvm.ir.types import Array, Box
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Empty, Index, MakeBox, Sized, Unbox, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.windows import chosen_windows, updated, window


@dataclass(frozen=True)
class Renewed:
    """`windows`: what `chosen_windows` finds, but for states that are no references;
    `states`: those that refer to kept arrays; `branches`: what branches give that such
    a state or a window may refer to, and that is sometimes made there."""

    windows: Set[Var]
    states: Set[Var]
    branches: Set[Var]


def renewed(body: Block) -> Renewed:
    """What is found in the body of a function."""
    whole: set[Var] = set()
    in_place = updated(body)
    loops = [*_loops(body, set())]
    while True:
        windows, given = chosen_windows(body, whole)
        states: set[Var] = set()
        branches: set[Var] = set()
        plain: set[Var] = set()
        for loop, empty in loops:
            found = _Loop(loop, empty, in_place, windows)
            states |= found.kept
            branches |= found.branches
            plain |= found.plain
        if not (dropped := (plain - states) & windows):
            return Renewed(windows, states, branches | (given - in_place))
        whole |= dropped


def _loops(block: Block, empty: set[Operand]) -> Iterator[tuple[Lambda, Set[Var]]]:
    """Inner loops before those around them; each with its states that begin without
    elements, as slots do."""
    for binding in block.bindings:
        for _, inner in nested(binding.expr):
            yield from _loops(inner, empty)
        match binding.expr:
            case Apply(Empty()):
                empty.add(binding.vars[0])
            case Apply(Iterate(), (_, *inits), (body,)):
                pairs = zip(body.params[1:], inits, strict=True)
                yield body, {param for param, init in pairs if init in empty}


@dataclass
class Roots:
    """What an array may be or be a part of: old arrays, and those that are made."""

    old: set[Var] = field(default_factory=set)
    made: set[Var] = field(default_factory=set)
    # What branches give of both kinds, and states of inner loops that are of both.
    mixed: set[Var] = field(default_factory=set)
    mixed_states: set[Var] = field(default_factory=set)
    # Results of calls of the recursion around, by their positions.
    returned: set[int] = field(default_factory=set)
    # Whether there is something else among them.
    is_other: bool = False

    def add(self, other: Roots) -> None:
        self.old |= other.old
        self.made |= other.made
        self.mixed |= other.mixed
        self.mixed_states |= other.mixed_states
        self.returned |= other.returned
        self.is_other |= other.is_other


class ReturnedRoots:
    """What the results of a recursion may be."""

    def __init__(self, body: Lambda) -> None:
        self._inside = _Body(body.body, body.params[0])
        self._results = body.body.results

    def of(self, position: int, windows: bool) -> Roots:
        """What a result may be, and what those may that it may be."""
        found, pending = Roots(returned={position}), [position]
        while pending:
            before = {*found.returned}
            found.add(self._inside.roots(self._results[pending.pop()], windows))
            pending += sorted(found.returned - before)
        return found


class _Body:
    """What each array of a body, which is of the recursion of `itself`, may be, as a
    whole and as a window."""

    def __init__(self, block: Block, itself: Var | None = None) -> None:
        self._itself = itself
        self._found: dict[tuple[Var, bool], Roots] = {}
        self._block(block)

    def roots(self, operand: Operand, windows: bool) -> Roots:
        assert isinstance(operand, Var)
        found = self._found.get((operand, windows))
        return Roots(old={operand}) if found is None else found

    def _block(self, block: Block) -> None:
        for binding in block.bindings:
            for _, inner in nested(binding.expr):
                self._block(inner)
            for position, var in enumerate(binding.vars):
                if isinstance(var.type, Array | Box):
                    for windows in (False, True):
                        found = self._bound(binding, position, windows)
                        self._found[var, windows] = found

    def _bound(self, binding: Binding, position: int, windows: bool) -> Roots:
        """What is bound here, by what the variables bound before it are."""
        var, found = binding.vars[position], Roots()
        match binding.expr:
            case If(_, then, orelse):
                for block in (then, orelse):
                    found.add(self.roots(block.results[position], windows))
                if found.made and found.old:
                    found.mixed.add(var)
            case Call(function) if function is self._itself:
                return Roots(returned={position})
            case Apply(Index() | Unbox() | MakeBox() | Sized(), (array, *_)):
                return self.roots(array, windows)
            case Apply(Build()) as node:
                part = window(node) if windows else None
                if part is None:
                    return Roots(made={var})
                return self.roots(part.array, True)
            case Apply(Update(), (old, *_)):
                # What a step has made is made when it is updated.
                whole = self.roots(old, False)
                if not (whole.old or whole.is_other):
                    return Roots(made={var})
                found.is_other = True
            case Apply(Fold() | Zeros() | Empty()):
                return Roots(made={var})
            case Apply(Iterate(), (_, *inits), (body,)):
                if position >= len(inits):
                    return Roots(made={var})
                found = self._final(position, inits, body, windows)
            case _:
                found.is_other = True
        return found

    def _final(
        self, position: int, inits: Sequence[Operand], body: Lambda, windows: bool
    ) -> Roots:
        """What the final state of an inner loop may be."""
        params, found, seen = body.params[1:], Roots(), {position}
        pending = [position]
        while pending:
            k = pending.pop()
            found.add(self.roots(inits[k], windows))
            found.add(self.roots(body.body.results[k], windows))
            more = {j for j, p in enumerate(params) if p in found.old} - seen
            seen |= more
            pending += more
        found.old -= {*params}
        if found.made and found.old:
            found.mixed_states |= {params[k] for k in seen}
        return found


class _Loop:
    """The states of one loop.

    `kept`: those that refer to arrays that are kept for them; `plain`: those that are
    no references.
    """

    def __init__(
        self, body: Lambda, empty: Set[Var], in_place: Set[Var], windows: Set[Var]
    ) -> None:
        inside = _Body(body.body)
        pairs = zip(body.params[1:], body.body.results, strict=False)
        roots = {
            p: inside.roots(r, p in windows)
            for p, r in pairs
            if isinstance(p.type, Array | Box)
        }
        other = _reaching({p for p, r in roots.items() if r.is_other}, roots)
        made = _reaching({p for p, r in roots.items() if r.made}, roots)
        fresh = _fresh(roots)
        needing = {
            p
            for p in made - other - fresh
            if (p not in empty | in_place and roots[p].mixed)
            or not roots[p].old <= {p} | (fresh - other)
        }
        kept = set(needing)
        while grown := {q for p in kept for q in roots[p].old & made} - kept:
            kept |= grown
        self.kept = kept.union(*(roots[p].mixed_states for p in kept))
        self.plain = (made | other) - kept
        # One that begins without elements is as good as a slot.
        apart = kept | (empty & made - other)
        self.branches = {v for p in apart for v in roots[p].mixed}


def _reaching(start: set[Var], roots: Mapping[Var, Roots]) -> set[Var]:
    """The states that may be one of these, or were one a step ago, and so on."""
    found = set(start)
    while grown := {p for p, r in roots.items() if r.old & found} - found:
        found |= grown
    return found


def _fresh(roots: Mapping[Var, Roots]) -> set[Var]:
    """The states that each step makes anew, or takes from such a one."""
    found: set[Var] = set()
    while (
        grown := {p for p, r in roots.items() if r.old <= found and not r.is_other}
        - found
    ):
        found |= grown
    return found
