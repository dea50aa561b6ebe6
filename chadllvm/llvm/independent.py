"""Innermost loops whose steps LLVM need not prove to be independent of each other.

    for j in 0 .. n:                      a group of accesses of its own, and a loop
      x = u[j - 1]; y = u[j + 1]     →    that says: none of these needs another step's
      p[j] = x + y

Where arrays take turns, as the states of a loop do, they are in buffers of one class of
roots: LLVM would ask at each run of the loop whether those overlap, which costs as much
as a short row does, and does not ask at all where one is both read and added to. Steps
that commute do not see what others write. That holds for what they store; what they add
to a place others may add to as well, and a buffer that is private to a step may be the
next one's. So of other loops, and those that add, it is asked where each access is
(`lower/places.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Set,
    Stmt,
    Store,
    bodies_of,
)
from chadllvm.ir.statements import everywhere
from chadllvm.llvm.state import State
from chadllvm.lower.linear import Known
from chadllvm.lower.places import Access, Pointers, by_class


def told_apart(function: LoopFunction) -> frozenset[For]:
    """The loops whose steps are independent, which LLVM cannot see: their buffers are
    of one class, and other ones."""
    bodies = [function.body, *(s.body for s in function.subroutines)]
    loops = [x for body in bodies for x in _shared_classes(body, function.roots)]
    if not loops:
        return frozenset()
    pointers = Pointers(function)
    return frozenset(loop for loop, used in loops if _are_apart(loop, used, pointers))


def _are_apart(loop: For, used: Sequence[Sequence[Access]], pointers: Pointers) -> bool:
    return all(pointers.are_independent(found, loop, Known()) for found in used)


def _shared_classes(
    body: Iterable[Stmt], roots: Sequence[int]
) -> Iterator[tuple[For, list[list[Access]]]]:
    """Innermost loops that write to a class of which they use several pointers, with
    what they do to each class that they write to."""
    for loop in everywhere(body):
        if not isinstance(loop, For) or loop.go is not None or loop.lanes > 1:
            continue
        if not all(isinstance(stmt, _SIMPLE) for stmt in everywhere(loop.body)):
            continue
        used = [found for found in by_class(loop.body, roots) if _are_written(found)]
        if any(len({access.ptr for access in found}) > 1 for found in used):
            yield loop, used


_SIMPLE = Let | Load | Store | AddTo | Offset | Get | Set | Accumulate | Branch


def _are_written(accesses: Iterable[Access]) -> bool:
    return not all(isinstance(access, Load) for access in accesses)


def is_independent(loop: For) -> bool:
    """Whether no step of a loop reads or writes what another one writes."""
    if not loop.commutes or loop.private or loop.go is not None or loop.lanes > 1:
        return False
    walk = _Walk(loop.index)
    return walk.body(loop.body) and walk.stores


def begin_group(state: State, loop: For) -> str:
    """The metadata of a loop; its accesses get a group if its steps are independent."""
    if state.lanes is not None or state.lane is not None:
        return ""
    if loop not in state.told_apart and not is_independent(loop):
        return ""
    group, about, number = (state.alias.number() for _ in range(3))
    state.group = f", !llvm.access.group !{group}"
    state.independent += [
        f"!{group} = distinct !{{}}",
        f'!{about} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
        f"!{number} = distinct !{{!{number}, !{about}{_one_vector(loop)}}}",
    ]
    return f"!llvm.loop !{number}"


def _one_vector(loop: For) -> str:
    """That a step of the vector loop is one vector, where no sum waits for the last.

    LLVM takes several, which leaves a longer rest of each row to be done one by one.
    Additions to memory read and write for each little they compute, and gain by that.
    """
    if any(isinstance(stmt, Accumulate | AddTo) for stmt in everywhere(loop.body)):
        return ""
    return ', !{!"llvm.loop.interleave.count", i32 1}'


class _Walk:
    """Knows what moves with the index; `stores`: something is stored."""

    def __init__(self, index: Atom) -> None:
        self.stores = False
        self._moving: set[Atom] = {index}

    def body(self, body: tuple[Stmt, ...]) -> bool:
        """Whether statements only read, compute and store at places that move."""
        return all(map(self._statement, body))

    def _statement(self, stmt: Stmt) -> bool:
        match stmt:
            case Let(reg, "iadd" | "isub" | "imul", args):
                if not self._moving.isdisjoint(args):
                    self._moving.add(reg)
                return True
            case Offset(reg, ptr, index):
                if not self._moving.isdisjoint((ptr, index)):
                    self._moving.add(reg)
                return True
            case Store(ptr, index):
                self.stores = True
                return not self._moving.isdisjoint((ptr, index))
            case Branch():
                return all(map(self.body, bodies_of(stmt)))
            case Let() | Load() | Get() | Set() | Accumulate():
                return True
            case _:
                return False
