"""Innermost loops whose steps LLVM need not prove to be independent of each other.

    for j in 0 .. n:                      a group of accesses of its own, and a loop
      x = u[j - 1]; y = u[j + 1]     →    that says: none of these needs another step's
      p[j] = x + y

Where arrays take turns, as the states of a loop do, they are in buffers of one root:
LLVM would ask at each run of the loop whether those overlap, which costs as much as a
short row does. Steps that commute do not see what others write. That holds for what
they store; what they add to a place others may add to as well, and a buffer that is
private to a step may be the next one's, so loops with these are left to LLVM.
"""

from __future__ import annotations

from chadllvm.ir.loops import (
    Accumulate,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    Offset,
    Set,
    Stmt,
    Store,
    bodies_of,
)
from chadllvm.ir.statements import everywhere
from chadllvm.llvm.state import State


def is_independent(loop: For) -> bool:
    """Whether no step of a loop reads or writes what another one writes."""
    if not loop.commutes or loop.private or loop.go is not None or loop.lanes > 1:
        return False
    walk = _Walk(loop.index)
    return walk.body(loop.body) and walk.stores


def begin_group(state: State, loop: For) -> str:
    """The metadata of a loop; its accesses get a group if its steps are independent."""
    if state.lanes is not None or state.lane is not None or not is_independent(loop):
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
    """
    if any(isinstance(stmt, Accumulate) for stmt in everywhere(loop.body)):
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
