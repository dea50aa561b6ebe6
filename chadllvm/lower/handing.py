"""Who gets whose buffer from one step of a loop to the next (`inplace.py`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from chadllvm.ir.term import If, Operand, Var
from chadllvm.ir.types import Acc, Array, Box, Scalar


@dataclass(eq=False, slots=True)
class Origin:
    """A buffer. `number`: how many were met before it; `loop`: the body in which it is
    made, None if it must not be written.

    `names`: the variables that may be in it; `what` it is, if it must not be written.
    """

    number: int
    loop: Loop | None
    what: str = ""
    names: list[Var] = field(default_factory=list)


Origins = frozenset[Origin]


@dataclass(eq=False, slots=True)
class Loop:
    """The function or a loop body: where a buffer is new in each run."""


# Ways that branches went, and the buffers that something may be in if they went so.
Ways = frozenset[tuple[If, int]]
Found = Mapping[Origin, Ways]


def on_way(node: If, way: int, found: Found) -> Found:
    """What is known behind a branch of what is known in one of its sides."""
    return {origin: ways | {(node, way)} for origin, ways in found.items()}


def either(one: Found, other: Found) -> Found:
    both = {o: one[o] & other[o] for o in one.keys() & other.keys()}
    return {**one, **other, **both}


def exclude(one: Ways, other: Ways) -> bool:
    """Whether no run of the block goes these ways and those."""
    return any((node, 1 - way) in other for node, way in one)


class Names:
    """The buffers that variables are in, and the variables that are in buffers."""

    def __init__(self) -> None:
        self.origins: dict[Var, Origins] = {}
        # Which ways branches went, if a variable is in a buffer.
        self._ways: dict[tuple[Var, Origin], Ways] = {}
        self._numbers = count()

    def origin(self, loop: Loop | None, what: str = "") -> Origin:
        """A buffer that was not met before."""
        return Origin(next(self._numbers), loop, what)

    def bind(self, var: Var, origins: Origins) -> None:
        """The variable is a name of these buffers."""
        if isinstance(var.type, Array | Box | Acc):
            self.origins[var] = origins
            for origin in origins:
                origin.names.append(var)

    def _name(self, var: Var, operand: Operand) -> None:
        """The variable is a name of what the operand is a name of."""
        if isinstance(operand, Var):
            self._bind_ways(var, self._found(operand))

    def _bind_ways(self, var: Var, found: Found) -> None:
        self.bind(var, frozenset(found))
        for origin, ways in found.items():
            self._ways[var, origin] = ways

    def _found(self, operand: Operand) -> Found:
        """The buffers that an operand may be in, each with the ways to it."""
        if not isinstance(operand, Var):
            return {}
        return {o: self._ways.get((operand, o), frozenset()) for o in self._of(operand)}

    def _unbind(self, var: Var) -> Found:
        """Forget a name; what it was a name of."""
        found = self._found(var)
        for origin in self.origins.pop(var):
            origin.names.remove(var)
            self._ways.pop((var, origin), None)
        return found

    def _of(self, operand: Operand) -> Origins:
        if isinstance(operand, Var):
            return self.origins.get(operand, frozenset())
        return frozenset()

    def _new(self, variables: Iterable[Var], loop: Loop | None, what: str = "") -> None:
        for var in variables:
            self.bind(var, frozenset([self.origin(loop, what)]))


def is_new(state: Operand, found: Origins, loop: Loop | None) -> bool:
    """Whether the buffers of a state's next value, of numbers, are made by the step."""
    is_plain = isinstance(state.type, Array) and isinstance(state.type.elem, Scalar)
    return is_plain and bool(found) and all(o.loop is loop for o in found)


def is_free(buffer: Origin, loop: Loop, busy: Collection[Origin]) -> bool:
    """Whether nobody needs a buffer that was lent to a step behind the step."""
    return buffer.loop is loop and buffer not in busy


def handed_on(
    own: dict[Var, Origin], pairs: Sequence[tuple[Var, Origins]]
) -> dict[Var, Var]:
    """For each state whose buffer is handed on to one state: that one.

    `pairs`: the states with the buffers of their next values. Who gets no buffer of a
    state that hands its own on is out, and so is who would hand it to two. Besides its
    own buffer, a state may get what is none of theirs.
    """
    owned = frozenset(own.values())
    good = {s for s, o in own.items() if o.loop is not None}
    while True:
        takers = {
            giver: [state for state, found in pairs if own[giver] in found]
            for giver in good
        }
        sure = {state for state, found in pairs if len(found) == 1}
        kept = {s for s in good if len(takers[s]) == 1 and takers[s][0] in good & sure}
        kept |= {
            s
            for s, found in pairs
            if s in good and takers[s] == [s] and len(found & owned) == 1
        }
        if kept == good:
            return {s: takers[s][0] for s in good}
        good = kept


def turns(state: Var, taker: Mapping[Var, Var]) -> list[Var]:
    """The states whose places a state's buffer takes in turn."""
    found = [state]
    while (following := taker[found[-1]]) is not state:
        found.append(following)
    return found


def reached(
    firsts: Mapping[Var, Origins],
    handed: Mapping[Var, Origins],
    owners: Mapping[Origin, Var],
) -> dict[Var, Origins]:
    """The buffers made in front of a loop that its states may be in.

    Those of their initial values, `firsts`, and those that steps have `handed` to them:
    what is the buffer of a state is where that state may be in turn.
    """
    found = dict(firsts)
    size = -1
    while size != (size := sum(map(len, found.values()))):
        for state, origins in handed.items():
            for origin in origins:
                owner = owners.get(origin)
                found[state] |= {origin} if owner is None else found[owner]
    return found
