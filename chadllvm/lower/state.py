"""The state of a loop: what is carried from one iteration to the next.

A scalar is carried in a slot. An array is carried as a pointer and its dimensions; each
step's value is put into one of two buffers outside of the loop, in turn, since it has
to outlive the region of its iteration. Where a step makes none, as an inner loop may
have had no step, the state stays where it is. Values that outlive even the loop (they
are on the tape) do so, too, and an array that is updated in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from chadllvm.ir import loops as l
from chadllvm.ir.loops import Atom, Reg, Slot
from chadllvm.ir.term import Apply, Binding, Lambda, Lit, Operand, Var
from chadllvm.ir.types import Array
from chadllvm.lower.destination import definitions, maker
from chadllvm.lower.reasons import NEXT_STATE, RENEWED, Reason
from chadllvm.lower.represent import ArrayRep, Growth, Rep
from chadllvm.support.diagnostic import InternalError, Span

if TYPE_CHECKING:
    from chadllvm.lower.lower import Lowering

Step = Callable[[], None]


class Carrier:
    """One component of the state; the base carries a scalar.

    `direct` is the variable of the body whose allocation is the next state, if it is
    made in its place.
    """

    direct: Var | None = None

    def __init__(
        self, lowering: Lowering, param: Var, init: Operand, var: Var, span: Span
    ) -> None:
        self.lowering = lowering
        self.param = param
        self.init = init
        self.var = var
        self.span = span
        self._begin(init)

    def _begin(self, init: Operand) -> None:
        value = self.lowering.atom(init)
        self.slot = self.lowering.loops.slot(self.param.name, value)

    def enter(self) -> None:
        """At the start of an iteration: bind the parameter."""
        self.lowering.bind(self.param, self.lowering.loops.get(self.slot))

    def next(self, result: Rep) -> Step:
        """At the end of an iteration: keep the result; the step makes it the state."""
        value = self.lowering.atom_of(result)
        return lambda: self.lowering.loops.set(self.slot, value)

    def finish(self) -> None:
        """After the loop: bind the variable of the final state."""
        self.lowering.bind(self.var, self.lowering.loops.get(self.slot))


class _ArrayCarrier(Carrier):
    """An array whose steps' values stay where they are."""

    def _initial(self, init: Operand) -> ArrayRep:
        return self.lowering.array(init)

    def _begin(self, init: Operand) -> None:
        rep = self._initial(init)
        loops = self.lowering.loops
        self.rep = rep
        self.root = rep.root
        self.ptr = loops.slot(self.param.name, rep.ptr)
        self.dims = [loops.slot(f"{self.param.name}_n", d) for d in rep.dims]

    def _current(self) -> ArrayRep:
        loops = self.lowering.loops
        dims = tuple(loops.get(s) for s in self.dims)
        return ArrayRep(loops.get(self.ptr), dims, self.rep.elem, self.root)

    def enter(self) -> None:
        self.lowering.bind(self.param, self._current())

    def next(self, result: Rep) -> Step:
        assert isinstance(result, ArrayRep)
        self.lowering.roots.union(self.root, result.root)
        return lambda: self._advance(result)

    def _advance(self, rep: ArrayRep) -> None:
        loops = self.lowering.loops
        loops.set(self.ptr, rep.ptr)
        for slot, dim in zip(self.dims, rep.dims, strict=True):
            loops.set(slot, dim)

    def finish(self) -> None:
        self.lowering.bind(self.var, self._current())


def _own_buffer(carrier: Carrier, init: Operand) -> ArrayRep:
    """The buffer of a state that is in place: its initial value's, or a copy."""
    lowering, state = carrier.lowering, carrier.param
    rep = lowering.array(init)
    if state in lowering.in_place.moved:
        return rep
    copy = lowering.allocate(carrier.var, rep.dims, rep.elem)
    lowering.copy_into(copy, rep)
    lowering.notes.copied(init, carrier.span, lowering.in_place.refused[state])
    return copy


class _InPlaceCarrier(Carrier):
    """An array that each step updates in place: one buffer, which nobody else names."""

    def _begin(self, init: Operand) -> None:
        self.rep = _own_buffer(self, init)

    def enter(self) -> None:
        self.lowering.bind(self.param, self.rep)

    def next(self, result: Rep) -> Step:
        assert isinstance(result, ArrayRep)
        return lambda: None

    def finish(self) -> None:
        self.lowering.bind(self.var, self.rep)


class _TurnCarrier(_ArrayCarrier):
    """The same for an array that changes places with other states."""

    def _initial(self, init: Operand) -> ArrayRep:
        return _own_buffer(self, init)


class _GrowingCarrier(Carrier):
    """An array that steps make longer or shorter in place; see `growth.py`."""

    def _begin(self, init: Operand) -> None:
        lowering, name = self.lowering, self.param.name
        self.rep = rep = _own_buffer(self, init)
        self.dims = [lowering.loops.slot(f"{name}_n", d) for d in rep.dims]
        self.growth = rep.growth
        if self.growth is None:
            ptr = lowering.loops.slot(name, rep.ptr)
            room = lowering.loops.slot(f"{name}_room", lowering.size(rep))
            self.growth = Growth(ptr, room, lowering.life.home(self.var))

    def _current(self) -> ArrayRep:
        assert self.growth is not None
        loops = self.lowering.loops
        dims = tuple(loops.get(s) for s in self.dims)
        for dim in dims:
            loops.is_count(dim)
        ptr = loops.get(self.growth.ptr)
        return ArrayRep(ptr, dims, self.rep.elem, self.rep.root, self.growth)

    def enter(self) -> None:
        self.lowering.bind(self.param, self._current())

    def next(self, result: Rep) -> Step:
        assert isinstance(result, ArrayRep)
        return lambda: self._resize(result)

    def _resize(self, rep: ArrayRep) -> None:
        for slot, dim in zip(self.dims, rep.dims, strict=True):
            self.lowering.loops.set(slot, dim)

    def finish(self) -> None:
        self.lowering.bind(self.var, self._current())


class _BufferCarrier(_ArrayCarrier):
    """An array whose steps' values are put into two buffers in turn.

    The buffer of the initial value is one of them if nobody else needs it.
    """

    reason = Reason(NEXT_STATE)

    def _begin(self, init: Operand) -> None:
        super()._begin(init)
        loops, name = self.lowering.loops, self.param.name
        self.spare = loops.slot(f"{name}_spare", self.rep.ptr)
        self.room = loops.slot(f"{name}_room", Lit(-1))
        self.other = loops.slot(f"{name}_other", self.rep.ptr)
        room = self.lowering.size(self.rep) if self._is_own() else Lit(-1)
        self.other_room = loops.slot(f"{name}_other_room", room)

    def _is_own(self) -> bool:
        """Whether the buffer of the initial value may be written to."""
        return self.param in self.lowering.in_place.spent

    def enter(self) -> None:
        current = self._current()
        self.lowering.bind(self.param, current)
        self.current = current.ptr
        if self.direct is not None:
            self.lowering.destinations[self.direct] = self._destination

    def _destination(self, rep: ArrayRep) -> tuple[Atom, int]:
        """The spare buffer, made large enough for this array.

        It at least doubles, so that growing states take no more than their size.
        """
        loops = self.lowering.loops
        count = self.lowering.room(rep)
        loops.open(is_loop=False)
        twice = loops.let("imul", loops.get(self.room), Lit(2))
        room = loops.let("imax", count, twice)
        ptr = loops.reg("p", l.PTR)
        region = self.lowering.region(self.lowering.life.home(self.var))
        loops.emit(l.Alloc(ptr, region, room, rep.machine, self.root))
        loops.set(self.spare, ptr)
        loops.set(self.room, room)
        grow = loops.close()
        loops.emit(l.Branch(loops.let("ilt", loops.get(self.room), count), grow))
        apart = (self.current,) if isinstance(self.current, Reg) else ()
        return loops.get(self.spare, apart), self.root

    def next(self, result: Rep) -> Step:
        assert isinstance(result, ArrayRep)
        if self.direct is not None:
            return lambda: self._swap(result)
        loops = self.lowering.loops
        is_new = loops.let("not", self._is_current(result))
        loops.open(is_loop=False)
        ptr, root = self._destination(result)
        target = ArrayRep(ptr, result.dims, result.elem, root)
        self.lowering.copy_into(target, result)
        self.lowering.notes.copied(self.param, self.span, self.reason)
        loops.emit(l.Branch(is_new, loops.close()))

        def step() -> None:
            loops.open(is_loop=False)
            self._swap(replace(target, ptr=loops.get(self.spare)))
            loops.emit(l.Branch(is_new, loops.close()))

        return step

    def _is_current(self, rep: ArrayRep) -> Atom:
        """Whether an array is this state: empty ones may begin where others do."""
        loops, current = self.lowering.loops, self._current()
        same = loops.let("same", current.ptr, rep.ptr)
        for a, b in zip(current.dims, rep.dims, strict=True):
            same = loops.let("and", same, loops.let("ieq", a, b))
        return same

    def _swap(self, rep: ArrayRep) -> None:
        self._advance(rep)
        _exchange(self.lowering, self.spare, self.other)
        _exchange(self.lowering, self.room, self.other_room)


class _PairCarrier(Carrier):
    """The same for an array that keeps its shape: both buffers are there at once.

    The initial value is copied to one of them, unless that is its own: what steps write
    to is then apart from all that they read, and each run of the loop has its own. That
    shapes are the same is proved of what is known in front of the loop, so that what a
    step makes fits in before the step has checked anything.
    """

    def _begin(self, init: Operand) -> None:
        lowering, name = self.lowering, self.param.name
        source = lowering.array(init)
        self.rep = source
        if self.param not in lowering.in_place.spent:
            self.rep = lowering.allocate(self.var, source.dims, source.elem)
            lowering.copy_into(self.rep, source)
        spare = lowering.allocate(self.var, source.dims, source.elem)
        lowering.roots.union(self.rep.root, spare.root)
        self.ptr = lowering.loops.slot(name, self.rep.ptr)
        self.spare = lowering.loops.slot(f"{name}_spare", spare.ptr)

    def _at(self, ptr: Atom) -> ArrayRep:
        return replace(self.rep, ptr=ptr, growth=None)

    def enter(self) -> None:
        loops = self.lowering.loops
        self.current = loops.get(self.ptr)
        self.other = loops.get(self.spare, (self.current,))
        self.lowering.bind(self.param, self._at(self.current))
        if self.direct is not None:
            place = self.other, self.rep.root
            self.lowering.destinations[self.direct] = lambda _: place

    def next(self, result: Rep) -> Step:
        assert isinstance(result, ArrayRep)
        if self.direct is None:
            self.lowering.copy_into(self._at(self.other), result)
            self.lowering.notes.copied(self.param, self.span, Reason(NEXT_STATE))
        return self._swap

    def _swap(self) -> None:
        self.lowering.loops.set(self.ptr, self.other)
        self.lowering.loops.set(self.spare, self.current)

    def finish(self) -> None:
        self.lowering.bind(self.var, self._at(self.lowering.loops.get(self.ptr)))


class _RenewedCarrier(_BufferCarrier):
    """An array that steps update in place, or replace by a new one, which is copied."""

    reason = Reason(RENEWED)

    def _initial(self, init: Operand) -> ArrayRep:
        return _own_buffer(self, init)

    def _is_own(self) -> bool:
        return True

    def next(self, result: Rep) -> Step:
        """Nobody else is handed this buffer, so what is new is put in place at once."""
        super().next(result)()
        return lambda: None


def _exchange(lowering: Lowering, a: Slot, b: Slot) -> None:
    x, y = lowering.loops.get(a), lowering.loops.get(b)
    lowering.loops.set(a, y)
    lowering.loops.set(b, x)


def carriers(lowering: Lowering, node: Apply, binding: Binding) -> list[Carrier]:
    """The components of a loop's state, initialised in front of the loop."""
    (body,) = node.bodies
    defined = definitions(body.body)
    made = _made_in_steps(body, defined)
    taken: set[Var] = set()
    found: list[Carrier] = []
    pairs = zip(body.params[1:], node.args[1:], binding.vars, strict=False)
    for k, (param, init, var) in enumerate(pairs):
        if not isinstance(param.type, Array):
            found.append(Carrier(lowering, param, init, var, binding.span))
        elif param in lowering.in_place.growing:
            found.append(_GrowingCarrier(lowering, param, init, var, binding.span))
        elif param in lowering.in_place.states:
            kind = _kept_in_place(lowering, param)
            found.append(kind(lowering, param, init, var, binding.span))
        elif param in lowering.life.outlives or param not in made:
            if param in lowering.in_place.lent:
                raise InternalError(f"lower: {param} is written to, and kept")
            found.append(_ArrayCarrier(lowering, param, init, var, binding.span))
        else:
            kind = _kept_in_turn(lowering, param, var)
            carrier = kind(lowering, param, init, var, binding.span)
            result = body.body.results[k]
            carrier.direct = _direct(lowering, body, result, defined, taken)
            found.append(carrier)
    return found


def _kept_in_place(lowering: Lowering, state: Var) -> type[Carrier]:
    if state in lowering.in_place.turning:
        return _TurnCarrier
    if state in lowering.in_place.renewed:
        return _RenewedCarrier
    return _InPlaceCarrier


def _kept_in_turn(
    lowering: Lowering, state: Var, final: Var
) -> type[_BufferCarrier | _PairCarrier]:
    """Where runs of the loop need each other for nothing else, a copy is worth it.

    There may be no steps to pay for it; but if all of the final state is copied behind
    them, or added to a cell, it costs no more than that.
    """
    is_paid = lowering.inside_parallel and final in lowering.copied
    is_own = is_paid or state in lowering.in_place.spent
    return _PairCarrier if is_own and state in lowering.steady else _BufferCarrier


def _made_in_steps(body: Lambda, defined: dict[Var, Binding]) -> set[Var]:
    """The states that some step makes a new array for.

    The others only take over initial values from each other (`a, b = b, a`).
    """
    states = body.params[1:]
    pairs = list(zip(states, body.body.results, strict=False))
    made = {state for state, result in pairs if result in defined}
    while grown := {s for s, r in pairs if r in made and s not in made}:
        made |= grown
    return made


def _direct(
    lowering: Lowering,
    body: Lambda,
    result: Operand,
    defined: dict[Var, Binding],
    taken: set[Var],
) -> Var | None:
    """The variable whose allocation makes the next state, unless it makes another's."""
    made = maker(result, defined, lowering.in_place)
    if made is None or made in taken:
        return None
    if lowering.life.home(made) is not lowering.life.bodies[body]:
        return None
    taken.add(made)
    return made
