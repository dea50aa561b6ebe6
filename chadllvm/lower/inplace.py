"""What may be written in place: arrays whose buffer nobody looks at any more.

    b = update(a, i, v)        the buffer of a becomes that of b
    c = open …; one c a        the buffer of a becomes that of the cell
    s = iterate(n, a; …)       the buffer of a becomes that of the state, if each step
                               hands it on

An *origin* is a buffer as far as is known here; every name of (a part of) an array
belongs to the origins that it may be in. A buffer may be taken over where it was made
in this run of the same loop body (of the function), no box refers to it, and no other
name of it is used later. All else is copied, which is always right.

The state of a loop is kept in place if its next value is its own buffer in every step,
or that of another such state, with which it changes places, or in some steps a new
array, which is copied to a second buffer (that step has done as much work to make it).
That is assumed first, and given up for the states whose step turns out otherwise.

A state whose steps make the next one anew has two buffers in turn. If the initial value
is nobody else's, the one that a step finds the state in is *lent* to that step: it may
be written to, once nobody looks at the state any more, unless the results are in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from chadllvm.ir.rewrite import everywhere, free_vars_of
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Const,
    Function,
    If,
    Lambda,
    One,
    Open,
    Operand,
    Var,
    View,
    nested,
)
from chadllvm.ir.types import Array, Box, Scalar
from chadllvm.lower.handing import (
    Found,
    Loop,
    Names,
    Origin,
    Origins,
    either,
    exclude,
    handed_on,
    is_free,
    is_new,
    on_way,
    reached,
    turns,
)
from chadllvm.lower.reasons import (
    ARGUMENT,
    CONSTANT,
    IN_THE_LOOP,
    KEPT,
    OUTSIDE,
    STATE,
    UNKNOWN,
    Reason,
    buffers_used,
    last_uses,
    used_at,
)
from chadllvm.lower.twins import Twin
from chadllvm.ops.grow import WRITERS, Append, DropLast
from chadllvm.ops.handed_back import HandedBack
from chadllvm.ops.index import Empty, Index, MakeBox, Sized, Unbox
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update


@dataclass(frozen=True, slots=True)
class InPlace:
    """The analysis' result.

    `taken`: updates and first contributions to cells that take over the buffer of their
    array; `over`: the cells of these; `states`: parameters of loops that are in place;
    `turning`: those of them that change places with others; `renewed`: those that some
    steps replace by a new array; `moved`: those that take over the buffer of their
    initial value; `growing`: those that become longer or shorter; `spent`: parameters
    of loops that are not in place, whose initial value nobody needs when the first step
    has made the next one; `lent`: those of them whose buffer the steps write to.
    `twins`: results of branches to copy, so that updates need not (`twins.py`).
    `handed_back`: the results of recursions that are in the buffers of parameters;
    `apart`: the functions of those for which that was supposed and is not so;
    `needed`: functions with the parameters that they update, but are given first what
    somebody needs later: it is to be copied before.
    """

    taken: frozenset[Binding] = frozenset()
    over: frozenset[Operand] = frozenset()
    states: frozenset[Var] = frozenset()
    turning: frozenset[Var] = frozenset()
    renewed: frozenset[Var] = frozenset()
    moved: frozenset[Var] = frozenset()
    growing: frozenset[Var] = frozenset()
    spent: frozenset[Var] = frozenset()
    lent: frozenset[Var] = frozenset()
    twins: frozenset[Twin] = frozenset()
    handed_back: HandedBack = field(default_factory=dict)
    apart: frozenset[Var] = frozenset()
    needed: frozenset[tuple[Var, int]] = frozenset()
    # For what is copied instead (an update, a contribution, a state): why.
    refused: Mapping[Binding | Var, Reason] = field(default_factory=dict)

    @property
    def steady(self) -> frozenset[Var]:
        """The states that are in one and the same buffer from the first to the last."""
        return self.states - self.turning - self.renewed - self.growing


@dataclass(frozen=True, slots=True)
class _Found:
    """What a walk over a loop's body has found: of the states supposed to be in place
    those that are, with who is next; of those lent those that nobody needs behind the
    step; those that the body wants to write to and must not; those that it wants to
    update; those whose next value is an array of the step, which nothing else is in;
    and the buffers from elsewhere, or of states, that the next value of each may be
    in."""

    taker: Mapping[Var, Var]
    lent: Set[Var]
    asked: Set[Var]
    wanted: Set[Var]
    made: Set[Var]
    handed: Mapping[Var, Origins]


@dataclass(frozen=True, slots=True)
class _Calls:
    """What a walk over the body of a recursion has found, of the parameters by their
    positions: those that boxes may refer to, those that calls want to write to, and
    those that no call inside needs any more when it gives them. `is_back`: the results
    that should be in the buffers of parameters are."""

    kept: frozenset[int]
    asked: frozenset[int]
    given: frozenset[int]
    is_back: bool


@dataclass(eq=False, slots=True)
class _Frame:
    """A block that is being walked: the last use of each variable, and the place."""

    loop: Loop
    block: Block
    last_use: dict[Var, int]
    position: int = 0


def in_place(
    function: Function, unlent: Set[Var] = frozenset(), back: HandedBack | None = None
) -> InPlace:
    """What may be written in place in a function; `unlent` are not lent, and results of
    recursions are supposed to be in the buffers that they are handed `back` in."""
    back = back or {}
    if not _has_candidates(function.body):
        return InPlace(apart=frozenset(back))
    walk = _Walk(unlent, back)
    for param in function.params:
        walk.bind(param, frozenset([walk.origin(None, ARGUMENT)]))
    walk.block(function.body, Loop())
    return InPlace(
        frozenset(walk.taken),
        frozenset(b.expr.cell for b in walk.taken if isinstance(b.expr, One)),
        frozenset(walk.states),
        frozenset(walk.turning),
        frozenset(walk.renewed),
        frozenset(walk.moved),
        frozenset(walk.growing & walk.states),
        frozenset(walk.spent),
        frozenset(walk.lent),
        frozenset(walk.asked_twins),
        back,
        frozenset(walk.apart),
        frozenset(walk.needed),
        walk.refused,
    )


def _but(results: Sequence[Origins], k: int) -> Iterator[Origins]:
    """All results but one."""
    return (found for m, found in enumerate(results) if m != k)


def _has_candidates(block: Block) -> bool:
    return any(
        isinstance(b.expr, One | Open)
        or (isinstance(b.expr, Apply) and isinstance(b.expr.op, Iterate))
        or (isinstance(b.expr, If) and any(isinstance(v.type, Array) for v in b.vars))
        or (isinstance(b.expr, Apply) and isinstance(b.expr.op, WRITERS))
        for b in everywhere(block)
    )


class _Walk(Names):
    """Walks blocks in order and decides at each place."""

    def __init__(self, unlent: Set[Var], back: HandedBack) -> None:
        self.unlent, self.back = unlent, back
        super().__init__()
        self.frames: list[_Frame] = []
        # Cells that nothing was added to yet.
        self.empty: set[Var] = set()
        self.taken: set[Binding] = set()
        # The parameters of recursive functions, by position: those that boxes may refer
        # to, and those that calls do not need any more when they give them.
        self.keeping: dict[Var, frozenset[int]] = {}
        self.given: dict[Var, set[int]] = {}
        # The recursions whose results are not in the buffers they should be in.
        self.apart: set[Var] = set()
        self.needed: set[tuple[Var, int]] = set()
        self.states: set[Var] = set()
        self.turning: set[Var] = set()
        self.renewed: set[Var] = set()
        self.moved: set[Var] = set()
        self.spent: set[Var] = set()
        self.lent: set[Var] = set()
        # Buffers that must not be written to, and were asked for: for anything, and for
        # what is updated.
        self.asked: set[Origin] = set()
        self.wanted: set[Origin] = set()
        # Buffers whose array changes its size, and the states of loops in them.
        self.resized: set[Origin] = set()
        self.growing: set[Var] = set()
        self.refused: dict[Binding | Var, Reason] = {}
        # Buffers that a branch makes for two of its results: all but the first of them;
        # and those of which one was asked for while another is used.
        self.twins: dict[Origin, set[Twin]] = {}
        self.asked_twins: set[Twin] = set()

    def block(self, block: Block, loop: Loop) -> None:
        self.frames.append(_Frame(loop, block, last_uses(block)))
        for position, binding in enumerate(block.bindings):
            self.frames[-1].position = position
            self._binding(binding, loop)
        self.frames[-1].position = len(block.bindings)
        self.frames.pop()

    def _later_use(self, var: Var, loop: Loop) -> Reason | None:
        """Where a variable is used behind this place in this run of the loop."""
        for frame in reversed(self.frames):
            if frame.loop is not loop:
                return None
            position = frame.last_use.get(var, -1)
            if position > frame.position:
                return used_at(var, frame.block, position)
        return None

    def _refusal(self, operand: Operand, loop: Loop) -> Reason | None:
        """Why the buffer of an array may not be written to from here on, if so."""
        origins = self._of(operand)
        for origin in sorted(origins, key=attrgetter("number")):
            if origin.loop is None:
                self.asked.add(origin)
                return Reason(origin.what)
            if origin.loop is not loop:
                return Reason(OUTSIDE)
            ways = self._found(operand)[origin]
            for name in origin.names:
                if exclude(ways, self._ways.get((name, origin), frozenset())):
                    continue
                found = self._later_use(name, loop)
                if found is not None:
                    self.asked_twins |= self.twins.get(origin, set())
                    return found
        return None if origins else Reason(UNKNOWN)

    def _may_write(self, binding: Binding, operand: Operand, loop: Loop) -> bool:
        """Whether the buffer may be written to from here on; the answer is noted."""
        reason = self._refusal(operand, loop)
        self.wanted |= self._of(operand)
        self.refused.pop(binding, None)
        if reason is None:
            self.taken.add(binding)
            return True
        self.refused[binding] = reason
        return False

    def _fill(self, cells: Iterable[Operand], loop: Loop) -> None:
        """These cells get buffers of their own now, if they have none."""
        for cell in cells:
            if isinstance(cell, Var) and cell in self.empty:
                self.empty.discard(cell)
                self._new([cell], loop)

    def _binding(self, binding: Binding, loop: Loop) -> None:
        match binding.expr:
            case Apply(Update(), (array, *_)):
                self._update(binding, array, loop)
            case Apply(Append(), (array, _)):
                self.resized |= self._of(array)
                self._update(binding, array, loop)
            case Apply(DropLast(), (array,)):
                self.resized |= self._of(array)
                self._name(binding.vars[0], array)
            case Apply(Sized(), (array, *_)):
                self._name(binding.vars[0], array)
            case Apply(Index(), (array, *_)):
                boxes = isinstance(binding.vars[0].type, Box)
                if boxes or isinstance(binding.vars[0].type, Array):
                    self._name(binding.vars[0], array)
            case Apply(MakeBox() | Unbox(), (arg,)):
                self._keep([arg])
                self._name(binding.vars[0], arg)
            case Apply(Recurse()) as node:
                self._recurse(binding, node, loop)
            case Call(Var() as function, args) if function in self.keeping:
                self._keep(args[k] for k in self.keeping[function])
                self._give(function, args, loop)
                self._returned(binding.vars, function, args, loop)
            case Apply(Iterate()) as node:
                self._iterate(binding, node, loop)
            case If() as node:
                self._if(binding, node, loop)
            case Open(Array(Scalar())):
                self.empty.add(binding.vars[0])
            case View(cell):
                self._fill([cell], loop)
                self._name(binding.vars[0], cell)
            case One(Var() as cell, (), value) if cell in self.empty:
                self._first(binding, cell, value, loop)
            case Close(cell):
                self._fill([cell], loop)
                self._name(binding.vars[0], cell)
            case Apply(Empty()):
                # There is no element to write to.
                self._new(binding.vars, loop)
            case Const():
                self._new(binding.vars, None, CONSTANT)
            case expr:
                self._fill(free_vars_of(expr), loop)
                for params, body in nested(expr):
                    self._body(params, body)
                self._new(binding.vars, loop)

    def _keep(self, operands: Iterable[Operand]) -> None:
        """Something refers to these arrays from here on."""
        for operand in operands:
            self._keep_buffers(self._of(operand))

    def _keep_buffers(self, buffers: Origins) -> None:
        for origin in buffers:
            origin.loop, origin.what = None, KEPT

    def _recurse(self, binding: Binding, node: Apply, loop: Loop) -> None:
        """A box in a call may refer to what the call was given. What calls want to
        write to is theirs, if nobody who gives them an array needs it later."""
        self._fill(free_vars_of(node), loop)
        before = self._saved()
        kept, given = frozenset[int](), frozenset[int]()
        found = self._calls(node, kept, given)
        while found.kept != kept:
            self._restore(before)
            kept = found.kept
            found = self._calls(node, kept, given)
        wanted = {
            k
            for k in found.asked
            if self._refusal_among(node.args[k], node, loop) is None
        }
        itself = node.bodies[0].params[0]
        back = {*self.back.get(itself, {}).values()}
        needed = {(itself, k) for k in back & found.asked - wanted}
        while wanted != given:
            self._restore(before)
            given = frozenset(wanted)
            found = self._calls(node, kept, given)
            wanted = (wanted & found.given) - (found.kept - kept)
        self.wanted |= self._of_all(node.args[k] for k in given)
        self._keep(node.args[k] for k in kept)
        self.needed |= needed
        if not needed and not (found.is_back and back <= given):
            self.apart.add(itself)
        self._returned(binding.vars, itself, node.args, loop)

    def _returned(
        self, results: Sequence[Var], function: Var, args: Sequence[Operand], loop: Loop
    ) -> None:
        """What a call gives: new arrays, or what it was given, updated."""
        back = self.back.get(function, {})
        for k, var in enumerate(results):
            if k in back:
                self._name(var, args[back[k]])
            else:
                self._new([var], loop)

    def _calls(self, node: Apply, kept: Set[int], given: Set[int]) -> _Calls:
        """Walk the body of a recursion; its calls keep these parameters, and may write
        to those that they are given."""
        (body,) = node.bodies
        itself, *params = body.params
        self.keeping[itself], self.given[itself] = frozenset(kept), {*given}
        inner = Loop()
        buffers: list[Origin] = []
        for k, param in enumerate(params):
            buffers.append(self.origin(inner if k in given else None, OUTSIDE))
            self.bind(param, frozenset(buffers[-1:]))
        self.block(body.body, inner)
        back = self.back.get(itself, {})
        is_back = all(
            self._of(body.body.results[k]) == {buffers[p]}
            and buffers[p] not in self.resized
            for k, p in back.items()
        )
        numbers = {
            k
            for k, param in enumerate(params)
            if isinstance(param.type, Array) and isinstance(param.type.elem, Scalar)
        }
        return _Calls(
            frozenset(k for k, buffer in enumerate(buffers) if buffer.what == KEPT),
            frozenset(k for k in numbers if buffers[k] in self.asked) - kept,
            frozenset(self.given[itself]),
            is_back,
        )

    def _give(self, function: Var, args: Sequence[Operand], loop: Loop) -> None:
        """A call is not given what is needed later, or twice."""
        for k in [*self.given[function]]:
            others = [arg for m, arg in enumerate(args) if m != k]
            shared = self._of_all(others) & self._of(args[k])
            self.wanted |= self._of(args[k])
            if shared or self._refusal(args[k], loop) is not None:
                self.given[function].discard(k)

    def _of_all(self, operands: Iterable[Operand]) -> Origins:
        return frozenset().union(*map(self._of, operands))

    def _body(self, params: Sequence[Var], body: Block) -> None:
        """The body of a loop without state."""
        for param in params:
            self.bind(param, frozenset([self.origin(None, OUTSIDE)]))
        self.block(body, Loop())

    def _update(self, binding: Binding, array: Operand, loop: Loop) -> None:
        (var,) = binding.vars
        if self._may_write(binding, array, loop):
            self._name(var, array)
        else:
            self._new([var], loop)

    def _first(self, binding: Binding, cell: Var, value: Operand, loop: Loop) -> None:
        """The first contribution to a cell, all of it at once."""
        self.empty.discard(cell)
        if self._may_write(binding, value, loop):
            self._name(cell, value)
        else:
            self._new([cell], loop)

    def _if(self, binding: Binding, node: If, loop: Loop) -> None:
        """A cell that one branch fills is filled behind the branch in any case."""
        before = set(self.empty)
        filled: dict[Var, list[Found]] = {}
        for way, branch in enumerate((node.then, node.orelse)):
            self.empty = set(before)
            first = self.origin(loop)
            self.block(branch, loop)
            self._find_twins(binding, way, branch, first)
            new = before - self.empty
            for cell in sorted(new, key=lambda c: min(o.number for o in self._of(c))):
                found = on_way(node, way, self._unbind(cell))
                filled.setdefault(cell, []).append(found)
        self.empty = before - filled.keys()
        for cell, sides in filled.items():
            if len(sides) < 2:
                sides.append({self.origin(loop): frozenset()})
            self._bind_ways(cell, either(*sides))
        for k, var in enumerate(binding.vars):
            results = node.then.results[k], node.orelse.results[k]
            self._fill(results, loop)
            one, other = (self._found(r) for r in results)
            both = either(on_way(node, 0, one), on_way(node, 1, other))
            self._bind_ways(var, both)

    def _find_twins(
        self, binding: Binding, way: int, branch: Block, first: Origin
    ) -> None:
        """Remember which results of a branch are one array that it has made itself."""
        known: set[Origin] = set()
        for k, result in enumerate(branch.results):
            found = self._of(result)
            is_own = all(o.number > first.number for o in found)
            if is_own and is_new(result, found, first.loop):
                for origin in found & known:
                    self.twins.setdefault(origin, set()).add((binding, way, k))
            known |= found

    def _iterate(self, binding: Binding, node: Apply, loop: Loop) -> None:
        (body,) = node.bodies
        self._fill(free_vars_of(node), loop)
        states = body.params[1:]
        pairs = list(zip(states, node.args[1:], strict=True))
        spent = {s for s, i in pairs if self._refusal_among(i, node, loop) is None}
        found = self._settled(body, spent)
        taker = found.taker
        self.states |= taker.keys()
        self.turning |= {s for s in taker if taker[s] is not s}
        owners = {origin: s for s in states for origin in self._of(s)}
        firsts = {s: self._of(init) for s, init in pairs}
        places_of = reached(firsts, found.handed, owners)
        for state in states:  # What refers to a state refers to where it begins.
            if any(origin.what == KEPT for origin in self._of(state)):
                self._keep_buffers(places_of[state])
        buffers: dict[Var, Origins] = {}
        for state, init in pairs:
            if state in taker:
                buffers[state] = self._own_buffer(state, init, node, loop)
            elif state in spent:
                self.spent.add(state)
        for state, final in zip(states, binding.vars, strict=False):
            if state in taker:
                places = frozenset().union(*(buffers[s] for s in turns(state, taker)))
                if state in self.renewed:
                    places |= {self.origin(loop)}  # That of the last step to renew it.
                self.bind(final, places)
            else:  # The initial value, without a step, or what a step hands on.
                last = self.origin(loop if state in found.made else None, STATE)
                self.bind(final, places_of[state] | {last})
        self._new(binding.vars[len(states) :], loop)

    def _settled(self, body: Lambda, spent: Set[Var]) -> _Found:
        """Walk the body until what is supposed of its states holds: those in place, and
        who is next; those that steps ask for are lent to them."""
        before = self._saved()
        kept = {p for p in body.params[1:] if isinstance(p.type, Array)}
        found = self._supposed(body, kept)
        kept = set(found.taker)
        if copied := {s for s in kept & self.renewed - spent if found.taker[s] is s}:
            # Its steps hand on the array that is there, or make one: then nothing need
            # be copied, unless one of them updates it.
            self._restore(before)
            found = self._supposed(body, kept - copied)
            if found.wanted.isdisjoint(copied) and found.taker.keys() == kept - copied:
                kept -= copied
            else:
                self._restore(before)
                found = self._attempt(body, kept)
        if not (lent := (found.asked & spent) - self.unlent):
            return found
        while lent:
            self._restore(before)
            found = self._attempt(body, kept, lent)
            if len(found.taker) < len(kept):
                break
            if found.lent == lent:
                self.lent |= lent
                return found
            lent = found.lent
        self._restore(before)
        return self._attempt(body, kept)

    def _supposed(self, body: Lambda, kept: set[Var]) -> _Found:
        """Walk the body, with fewer states in place until those supposed to be are."""
        before = self._saved()
        while len((found := self._attempt(body, kept)).taker) < len(kept):
            self._restore(before)
            kept = set(found.taker)
        return found

    def _own_buffer(
        self, state: Var, init: Operand, node: Apply, loop: Loop
    ) -> Origins:
        """The buffer of a state that is in place."""
        reason = self._refusal_among(init, node, loop)
        self.wanted |= self._of(init)
        self.refused.pop(state, None)
        if reason is not None:
            self.refused[state] = reason
        else:
            self.moved.add(state)
            if state in self.growing:
                self.resized |= self._of(init)
            return self._of(init)
        return frozenset([self.origin(loop)])

    def _refusal_among(self, init: Operand, node: Apply, loop: Loop) -> Reason | None:
        """The same, if another operand or variable of the body is in the buffer."""
        inside = buffers_used(Apply(node.op, (), node.bodies))
        others = {v for v in free_vars_of(node) if v in inside}.union(node.args)
        shared = any(self._of(v) & self._of(init) for v in others if v is not init)
        if shared or init in inside or node.args.count(init) > 1:
            return Reason(IN_THE_LOOP)
        return self._refusal(init, loop)

    def _attempt(
        self, body: Lambda, kept: Collection[Var], lent: Collection[Var] = ()
    ) -> _Found:
        """Walk the body with these states in place, and those lent to the step."""
        inner = Loop()
        buffers: dict[Var, Origin] = {}
        for param in body.params:
            may_write = param in kept or param in lent
            buffers[param] = self.origin(inner if may_write else None, STATE)
            self.bind(param, frozenset([buffers[param]]))
        self.block(body.body, inner)
        results = [self._of(result) for result in body.body.results]
        pairs = list(zip(body.params[1:], results, strict=False))
        own = {s: buffers[s] for s in body.params if s in kept}
        self.growing |= {s for s, origin in own.items() if origin in self.resized}
        taker = handed_on(own, pairs)
        renewed = {s for s, found in pairs if s in taker and len(found) > 1}
        # A buffer that grows stays with its state.
        moving = self.growing & (renewed | {s for s, t in taker.items() if s is not t})
        taker = {s: t for s, t in taker.items() if s not in moving}
        self.renewed |= renewed
        busy = frozenset().union(*results) | self.resized
        news = {s for s, found in pairs if is_new(s, found, inner)}
        good = {s for s in lent if s in news and is_free(buffers[s], inner, busy)}
        asked, wanted = (
            {s for s, origin in buffers.items() if origin in origins}
            for origins in (self.asked, self.wanted)
        )
        states = frozenset(buffers.values())
        handed = {
            s: frozenset(o for o in found if o.loop is not inner or o in states)
            for s, found in pairs
        }
        made = {
            s
            for k, (s, found) in enumerate(pairs)
            if s in news and found.isdisjoint(frozenset().union(*_but(results, k)))
        }
        return _Found(taker, good, asked, wanted, made, handed)

    def _saved(self) -> list[set[Any]]:
        return [set(decisions) for decisions in self._decisions()]

    def _restore(self, saved: Sequence[set[Any]]) -> None:
        for decisions, before in zip(self._decisions(), saved, strict=True):
            decisions.clear()
            decisions |= before

    def _decisions(self) -> tuple[set[Any], ...]:
        return (
            *(self.taken, self.states, self.turning, self.renewed, self.moved),
            *(self.spent, self.lent, self.empty, self.apart, self.needed),
        )
