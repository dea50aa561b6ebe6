"""Buffers that live to the end of the function are given back behind their last use.

    p = buffer f64[n] in region 0         p = buffer f64[n] in region 1
    for i in 0 .. n:                      for i in 0 .. n:
      p[i] = …                              p[i] = …
      s += p[i] * x[i]                      s += p[i] * x[i]
    q = buffer f64[n] in region 0   →     give back region 1
    …                                     q = buffer f64[n] in region 0
                                          …

So what is needed at different times, a tape and the buffers of the loops behind it, may
have the same memory. The statements of the function's body are the times; a buffer is
needed until the last access through a pointer that may lead to it, and until the last
such pointer is moved, also in what a call runs; and for good once the runtime may keep
it. What loops allocate in each step has
regions of its own already (`memory.py`), and so has what calls itself.

A region costs time and a piece of memory, however small the buffers in it are: those
that are needed last at about the same time share one, and those that are known to be
small stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    PTR,
    RESULT,
    ROW_DONE,
    ROW_TURN,
    AddTo,
    Alloc,
    ArrayParam,
    Atom,
    CallRuntime,
    Clear,
    Copy,
    Data,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    Local,
    LoopFunction,
    Offset,
    Reg,
    Reset,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import Body, everywhere, over_inner, same_or_new, whole
from chadllvm.ir.term import Lit
from chadllvm.lower.effects import Calls

# Buffers of fewer elements are not worth a region.
_SMALL = 1024

# Any buffer.
_ANY = Reg("any", PTR)

# For pointers, and for slots that hold them, the buffers that they may be into, each by
# the register that is set where it is made.
Pointed = Mapping[Atom | Slot, set[Reg]]

# Functions of the runtime that keep nothing of what they are handed.
_LOOKING = frozenset(
    (
        *("chad_lanes", "chad_are_doubles", "chad_are_floats", "chad_turn"),
        *("chad_log_sort", ROW_TURN, ROW_DONE),
    )
)

# Regions that a function gets at most: the first ones to be given back.
_MOST = 12


def release(function: LoopFunction) -> LoopFunction:
    """Give back buffers when they are not needed any more."""
    pointed = _pointed(function)
    if pointed is None:
        return function
    plan = _plan(function, pointed)
    region_of: dict[Reg, int] = {}
    behind: dict[int, int] = {}
    for number, (place, buffers) in enumerate(plan):
        behind[place] = function.regions + number
        region_of.update(dict.fromkeys(buffers, function.regions + number))
    body = _given_back(function.body, region_of, behind)
    if body is function.body:
        return function
    return replace(function, body=body, regions=function.regions + len(plan))


def _pointed(function: LoopFunction) -> Pointed | None:
    """The buffers that pointers may be into; None if the runtime is handed any.

    Slots may hold whatever is put into them anywhere, and parameters of subroutines
    what any call hands them, so that buffers are gathered until no more are found.
    """
    found: dict[Atom | Slot, set[Reg]] = {
        param.ptr: set() for param in function.params if isinstance(param, ArrayParam)
    }
    inside = [*whole(function)]
    left = {
        s.name: [t.values for t in everywhere(s.body) if isinstance(t, Leave)]
        for s in function.subroutines
    }
    size = -1
    while size != (size := sum(len(buffers) + 1 for buffers in found.values())):
        for stmt in inside:
            match stmt:
                case Alloc(reg) | Local(reg) | Data(reg):
                    found[reg] = {reg}
                case Offset(reg, Reg() as ptr) if ptr in found:
                    found[reg] = found[ptr]
                case Get(reg, slot) if slot in found:
                    found[reg] = found[slot]
                case Set(slot, Reg() as value) if value in found:
                    found.setdefault(slot, set()).update(found[value])
                case Load(reg) | Let(reg) if reg.type == PTR:
                    found[reg] = {_ANY}
                case CallRuntime(Reg() as reg, _, args) if reg.type == PTR:
                    _hand(found, reg, args)
                case Invoke(regs, name, args):
                    params = function.subroutine(name).params
                    for param, arg in zip(params, args, strict=True):
                        _hand(found, param, [arg])
                    for k, reg in enumerate(regs):
                        _hand(found, reg, [values[k] for values in left[name]])
                case _:
                    pass
    handed = (arg for stmt in inside for arg in _handed(stmt))
    return None if any(_ANY in found.get(arg, {_ANY}) for arg in handed) else found


def _hand(found: dict[Atom | Slot, set[Reg]], reg: Reg, args: Iterable[Atom]) -> None:
    """A register may be into the buffers of these."""
    if reg.type == PTR:
        buffers = found.setdefault(reg, set())
        for arg in args:
            buffers |= found.get(arg, set())


def _handed(stmt: Stmt) -> Iterable[Atom]:
    """The pointers that the runtime is handed."""
    args = stmt.args if isinstance(stmt, CallRuntime) else ()
    return [arg for arg in args if arg.type == PTR]


def _of_the_function(inside: Sequence[Stmt]) -> set[int]:
    """The regions whose buffers live as long as the function."""
    found = {s.region for s in inside if isinstance(s, Alloc)} - {RESULT}
    for stmt in inside:
        match stmt:
            case Reset(region):
                found.discard(region)
            case Spread(regions=regions):
                found.difference_update(regions)
            case _:
                pass
    return found


@dataclass
class _Need:
    """When a buffer is needed, and whether it may be moved: it is the function's, and
    may be large."""

    last: int = -1
    movable: bool = True


def _plan(function: LoopFunction, pointed: Pointed) -> list[tuple[int, list[Reg]]]:
    """The statements to give a region back behind, each with the buffers in it."""
    needs = _needs(function, pointed)
    classes: dict[int, list[_Need]] = {}
    for stmt in whole(function):
        if isinstance(stmt, Alloc) and stmt.reg in needs:
            of = function.roots[stmt.root]
            classes.setdefault(of, []).append(needs[stmt.reg])
    calls, asking = Calls(function), list[int]()
    for place, top in enumerate(function.body):
        for stmt in calls.run_by([top]):
            for ptr, root in _accesses(stmt):
                buffers = pointed.get(ptr, {_ANY})
                found = [needs[buffer] for buffer in buffers if buffer in needs]
                if _ANY in buffers and root is not None:
                    found += classes.get(function.roots[root], [])
                for need in found:
                    need.last = place
            if isinstance(stmt, Alloc):
                asking.append(place)
    ends: dict[int, tuple[int, list[Reg]]] = {}
    for buffer, need in needs.items():
        following = next((p for p in asking if p > need.last), None)
        if need.movable and following is not None:
            last, others = ends.get(following, (-1, []))
            ends[following] = max(last, need.last), [*others, buffer]
    return [ends[place] for place in sorted(ends)[:_MOST]]


def _needs(function: LoopFunction, pointed: Pointed) -> dict[Reg, _Need]:
    """The buffers that the function itself makes, and whether they may be moved."""
    inside = [*whole(function)]
    regions, kept = _of_the_function(inside), set[Reg]()
    for stmt in inside:
        if isinstance(stmt, CallRuntime) and stmt.function not in _LOOKING:
            kept.update(*(pointed[arg] for arg in _handed(stmt)))
    return {
        stmt.reg: _Need(movable=_may_move(stmt, regions) and stmt.reg not in kept)
        for stmt in everywhere(function.body)
        if isinstance(stmt, Alloc)
    }


def _may_move(stmt: Alloc, regions: Collection[int]) -> bool:
    count = stmt.count
    is_large = not isinstance(count, Lit) or count.value >= _SMALL
    return is_large and stmt.region in regions


def _accesses(stmt: Stmt) -> Iterable[tuple[Atom, int | None]]:
    """The pointers through which a statement makes, reads or writes buffers, and their
    roots; a pointer that is only moved has none, and the runtime is handed only what is
    known (`_pointed`)."""
    match stmt:
        case CallRuntime(args=args):
            return [(arg, 0) for arg in args if arg.type == PTR]
        case Copy(target, source, target_root=into, source_root=out_of):
            return [(target, into), (source, out_of)]
        case Alloc(reg, root=root):
            return [(reg, root)]
        case Offset(ptr=ptr):
            return [(ptr, None)]
        case Load() | Store() | AddTo() | Clear():
            return [(stmt.ptr, stmt.root)]
        case _:
            return []


def _given_back(body: Body, region_of: dict[Reg, int], behind: dict[int, int]) -> Body:
    """The function's body with these regions for buffers."""

    def moved(stmt: Stmt) -> Stmt:
        match stmt:
            case Alloc(reg) if reg in region_of:
                return replace(stmt, region=region_of[reg])
            case _:
                return over_inner(stmt, inside)

    def inside(body: Body) -> Body:
        return same_or_new(list(map(moved, body)), body)

    new: list[Stmt] = []
    for place, top in enumerate(body):
        if isinstance(top, Reset) and not top.gives:
            top = Reset(top.region, gives=True)
        new.append(moved(top))
        if place in behind:
            new.append(Reset(behind[place], gives=True))
    return same_or_new(new, body)
