"""Walks over the statements of loops, and copies of loops with registers of their own.

What a walk does not change stays the same object, up to the whole function: so a pass
that finds nothing to do gives what it was given, and `is` tells.

Each register is assigned once in a function, and so a loop that is to stand there twice
must have other ones in its copy:

    for i in 0 .. n:             for i' in 0 .. n:
      k = min(i, m)         →      x' = a[i']
      x = a[k]                     s += x'
      s += x

where `k` was said to be `i`. What else a loop is (its order, its buffers, its note) is
the same in the copy; who changes its bounds or its body says so by `replace`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from operator import is_
from typing import Any, TypeVar, get_args

from chadllvm.ir.loops import (
    Atom,
    Branch,
    For,
    Invoke,
    Let,
    LoopFunction,
    Reg,
    Slot,
    Spread,
    Stmt,
    Subroutine,
    bodies_of,
)

# The fields that hold a root, and the names of the fields of each kind of statement.
_ROOTS = ("root", "target_root", "source_root")

# The kinds of statements with others in them.
_NESTING = (For, Branch, Spread)

_NAMES = {kind: tuple(f.name for f in fields(kind)) for kind in get_args(Stmt)}


def everywhere(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """All statements of a body, also those inside of others."""
    bodies = [iter(body)]
    while bodies:
        for stmt in bodies[-1]:
            yield stmt
            if isinstance(stmt, _NESTING):  # Few are, and this is run often.
                bodies.append(chain.from_iterable(bodies_of(stmt)))
                break
        else:
            bodies.pop()


def whole(function: LoopFunction) -> Iterator[Stmt]:
    """All statements of a function, also those of its subroutines.

    Registers and slots are used in all of these: what is not used here is not needed.
    """
    bodies = (function.body, *(s.body for s in function.subroutines))
    return everywhere(stmt for body in bodies for stmt in body)


Body = tuple[Stmt, ...]

T = TypeVar("T")
Owner = TypeVar("Owner", For, Spread, Subroutine, LoopFunction)


def over_bodies(function: LoopFunction, change: Callable[[Body], Body]) -> LoopFunction:
    """The function with its body changed, and those of its subroutines."""
    others = function.subroutines
    others = same_or_new([with_body(s, change(s.body)) for s in others], others)
    function = with_body(function, change(function.body))
    if others is function.subroutines:
        return function
    return replace(function, subroutines=others)


def over_statements(body: Body, change: Callable[[Stmt], Iterable[Stmt]]) -> Body:
    """The body with what stands for each of its statements."""
    return same_or_new([new for stmt in body for new in change(stmt)], body)


def over_inner(stmt: Stmt, change: Callable[[Body], Body]) -> Stmt:
    """The statement with the bodies inside of it changed."""
    match stmt:
        case For(body=body):
            return with_body(stmt, change(body))
        case Branch(_, then, orelse):
            sides = change(then), change(orelse)
            same = sides[0] is then and sides[1] is orelse
            return stmt if same else replace(stmt, then=sides[0], orelse=sides[1])
        case Spread(body=body, merge=merge):
            stmt, changed = with_body(stmt, change(body)), change(merge)
            return stmt if changed is merge else replace(stmt, merge=changed)
        case _:
            return stmt


def with_body(part: Owner, body: Body) -> Owner:
    """The owner of a body with another one."""
    return part if body is part.body else replace(part, body=body)


def same_or_new(new: Sequence[T], old: tuple[T, ...]) -> tuple[T, ...]:
    """What is new, or the old tuple if it has the same parts."""
    same = len(new) == len(old) and all(map(is_, new, old))
    return old if same else tuple(new)


def assigned(stmt: Stmt) -> tuple[Reg, ...]:
    """The registers that a statement itself makes, for what is behind or in it."""
    match stmt:
        case For(index):
            return (index,)
        case Spread(chunk, part=part):
            return (chunk, part)
        case Invoke(regs):
            return regs
        case _:
            reg = getattr(stmt, "reg", None)
            return (reg,) if isinstance(reg, Reg) else ()


def made(body: Iterable[Stmt]) -> Iterator[Reg]:
    """The registers that are made in a body, also inside of its statements."""
    for stmt in everywhere(body):
        yield from assigned(stmt)


def used(stmt: Stmt) -> Iterator[Reg]:
    """The registers that a statement itself uses."""
    own = assigned(stmt)
    for name in _NAMES[type(stmt)]:
        value = getattr(stmt, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Reg) and part not in own:
                yield part


def items_of(stmt: Stmt) -> Iterator[Reg | Slot]:
    """The registers and slots that a statement itself names, or makes."""
    for name in _NAMES[type(stmt)]:
        value = getattr(stmt, name)
        if isinstance(value, Reg | Slot):
            yield value
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, Reg | Slot))


def without_unused(function: LoopFunction, doubtful: Collection[Atom]) -> LoopFunction:
    """The function without those of these registers that nothing uses."""
    wanted = {reg for stmt in whole(function) for reg in used(stmt)}

    def less(body: Body) -> Body:
        return over_statements(body, kept)

    def kept(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Let) and stmt.reg in doubtful and stmt.reg not in wanted:
            return ()
        return (over_inner(stmt, less),)

    changed = over_bodies(function, less)
    return function if changed is function else without_unused(changed, doubtful)


def roots_of(stmt: Stmt) -> Iterator[int]:
    """The roots of the buffers that a statement itself is about."""
    for name in _ROOTS:
        if (root := getattr(stmt, name, None)) is not None:
            yield root


def slots_of(stmt: Stmt) -> Iterator[Slot]:
    """The slots that a statement itself uses."""
    for name in _NAMES[type(stmt)]:
        value = getattr(stmt, name)
        if isinstance(value, Slot):
            yield value


@dataclass(frozen=True)
class Names:
    """What stands for registers, slots and roots in a copy, if it is not as before.

    The copy has no registers of its own for those that something else stands for; what
    computes them is left out of it. That may be one more of them.
    """

    regs: Mapping[Reg, Atom] = field(default_factory=dict)
    slots: Mapping[Slot, Slot] = field(default_factory=dict)
    roots: Mapping[int, int] = field(default_factory=dict)


def copied(loop: For, names: Names | None = None) -> For:
    """A copy of a loop, which makes registers of its own."""
    copy = _Copy(loop, names or Names()).stmt(loop)
    assert isinstance(copy, For)
    return copy


class _Copy:
    """`regs` has what stands for a register in the copy."""

    def __init__(self, loop: For, names: Names) -> None:
        self._names = names
        self._regs: dict[Reg, Atom] = {}
        for reg in made((loop,)):
            self._regs[reg] = Reg(reg.name, reg.type, reg.span)
        for reg in names.regs:
            self._regs[reg] = self._instead(reg)

    def _instead(self, reg: Reg) -> Atom:
        """What stands for a register, in the names of the copy."""
        given = self._names.regs
        atom: Atom = reg
        while isinstance(atom, Reg) and atom in given:
            atom = given[atom]
        return self._regs.get(atom, atom) if isinstance(atom, Reg) else atom

    def stmt(self, stmt: Stmt) -> Stmt:
        new = {n: self._field(n, getattr(stmt, n)) for n in _NAMES[type(stmt)]}
        return replace(stmt, **new)

    def _field(self, name: str, value: Any) -> Any:
        roots = self._names.roots
        if name in _ROOTS:
            return roots.get(value, value)
        if name == "private":
            return tuple([roots.get(root, root) for root in value])
        return self._value(value)

    def _value(self, value: Any) -> Any:
        match value:
            case Reg():
                return self._regs.get(value, value)
            case Slot():
                return self._names.slots.get(value, value)
            case tuple():
                return tuple([self._value(part) for part in value if self._stays(part)])
            case _ if type(value) in _NAMES:
                return self.stmt(value)
            case _:
                return value

    def _stays(self, part: Any) -> bool:
        return not (isinstance(part, Let) and part.reg in self._names.regs)
