"""Copies of statements with registers of their own, and walks over statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

from chadllvm.ir.loops import For, Invoke, Reg, Slot, Spread, Stmt, bodies_of

# The fields that hold a root, and the names of the fields of each kind of statement.
_ROOTS = ("root", "target_root", "source_root")

_NAMES = {kind: tuple(f.name for f in fields(kind)) for kind in get_args(Stmt)}


def everywhere(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """All statements of a body, also those inside of others."""
    for stmt in body:
        yield stmt
        for inner in bodies_of(stmt):
            yield from everywhere(inner)


def assigned(stmt: Stmt) -> tuple[Reg, ...]:
    """The registers that a statement itself makes, for what is behind or in it."""
    match stmt:
        case For(index):
            return (index,)
        case Spread(chunk):
            return (chunk,)
        case Invoke(regs):
            return regs
        case _:
            reg = getattr(stmt, "reg", None)
            return (reg,) if isinstance(reg, Reg) else ()


def used(stmt: Stmt) -> Iterator[Reg]:
    """The registers that a statement itself uses."""
    made = assigned(stmt)
    for name in _NAMES[type(stmt)]:
        value = getattr(stmt, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Reg) and part not in made:
                yield part


def slots_of(stmt: Stmt) -> Iterator[Slot]:
    """The slots that a statement itself uses."""
    for name in _NAMES[type(stmt)]:
        value = getattr(stmt, name)
        if isinstance(value, Slot):
            yield value


@dataclass(frozen=True)
class Names:
    """What registers, slots and roots are called in a copy, if not as before."""

    regs: dict[Reg, Reg]
    slots: dict[Slot, Slot] = field(default_factory=dict)
    roots: dict[int, int] = field(default_factory=dict)


def copied(loop: For, names: Names) -> For:
    """A copy of a loop, which makes registers of its own."""
    regs = dict(names.regs)
    for stmt in everywhere((loop,)):
        for reg in assigned(stmt):
            regs[reg] = Reg(reg.name, reg.type)
    copy = _copy(loop, replace(names, regs=regs))
    assert isinstance(copy, For)
    return copy


def _copy(stmt: Stmt, names: Names) -> Stmt:
    new = {n: _field(n, getattr(stmt, n), names) for n in _NAMES[type(stmt)]}
    return replace(stmt, **new)


def _field(name: str, value: Any, names: Names) -> Any:
    if name in _ROOTS:
        return names.roots.get(value, value)
    if name == "private":
        return tuple([names.roots.get(root, root) for root in value])
    return _value(value, names)


def _value(value: Any, names: Names) -> Any:
    match value:
        case Reg():
            return names.regs.get(value, value)
        case Slot():
            return names.slots.get(value, value)
        case tuple():
            return tuple([_value(part, names) for part in value])
        case _ if type(value) in _NAMES:
            return _copy(value, names)
        case _:
            return value
