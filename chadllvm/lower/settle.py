"""An element that is cleared and then added to is stored once.

    x = p[i]                              x = p[i]
    p[i] = 0.0                            y = x * a
    y = x * a                     →       p[i] = y
    p[j] += x                             p[j] += x
    p[i] += y

This is how the reverse of an update in place hands on a cotangent: the element gives up
what it has, and gets a part of it back. Sums into one place may be in any order, so the
store goes in front of what else is added to the buffer, which may be the same element.
If all of it comes back nothing is stored. One load and one store less in each step let
LLVM see that the steps are independent of each other, where they are. Likewise what is
added to one element twice is added once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Check,
    Get,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Set,
    Stmt,
    Store,
)
from chadllvm.ir.statements import Body, over_bodies, over_inner, same_or_new
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64

Key = tuple[object, object]


def settle(function: LoopFunction) -> LoopFunction:
    """Store what is cleared and then added to once; add to an element once."""
    return over_bodies(function, _Settling(function.roots).body)


class _Settling:
    """Knows of each index how it is computed, so that equal ones are known as such."""

    def __init__(self, roots: Sequence[int]) -> None:
        self._roots = roots
        self._known: dict[Reg, object] = {}

    def body(self, body: Body) -> Body:
        run = _Run()
        for stmt in body:
            match stmt:
                case Let(reg, op, args) if reg.type == I64:
                    self._known[reg] = (op, *map(self._key, args))
                    run.keep(stmt)
                case Load(reg, root=root):
                    run.read(self._roots[root], self._place(stmt), reg)
                    run.keep(stmt)
                case Store(root=root):
                    run.write(self._roots[root], self._place(stmt), stmt)
                    run.keep(stmt)
                case AddTo(root=root):
                    if not run.add(self._roots[root], self._place(stmt), stmt):
                        run.keep(stmt)
                case Let() | Get() | Offset() | Set() | Accumulate() | Check():
                    run.keep(stmt)
                case _:
                    run.forget()
                    run.keep(over_inner(stmt, self.body))
        out = [stmt for stmts in run.out for stmt in stmts]
        return same_or_new(out, body)

    def _place(self, stmt: Load | Store | AddTo) -> Key:
        return self._key(stmt.ptr), self._key(stmt.index)

    def _key(self, atom: Atom) -> object:
        if isinstance(atom, Lit):
            return atom.type, atom.value
        return self._known.get(atom, atom)


@dataclass
class _Cleared:
    """A store of zero, where it stands, and where the buffer is added to next.

    `held`: the register with what the element was before, if it was read just then.
    """

    store: Store
    position: int
    held: Reg | None
    next: int | None = None


class _Run:
    """Statements without loops and branches, and what is known of the buffers there.

    `out` has a list of statements for each position.
    """

    def __init__(self) -> None:
        self.out: list[list[Stmt]] = []
        self._made: dict[Reg, int] = {}
        # By class of buffers: the elements that were read, and the one cleared last.
        self._held: dict[int, dict[Key, Reg]] = {}
        self._cleared: dict[int, dict[Key, _Cleared]] = {}
        # The same: what was added to elements, which nobody has read since, and where.
        self._added: dict[int, dict[Key, tuple[int, AddTo]]] = {}

    def keep(self, stmt: Stmt) -> None:
        if isinstance(stmt, Let | Get | Offset | Load):
            self._made[stmt.reg] = len(self.out)
        self.out.append([stmt])

    def forget(self) -> None:
        self._held.clear()
        self._cleared.clear()
        self._added.clear()

    def read(self, root: int, key: Key, reg: Reg) -> None:
        self._cleared.pop(root, None)
        self._added.pop(root, None)
        self._held.setdefault(root, {})[key] = reg

    def write(self, root: int, key: Key, store: Store) -> None:
        before = self._held.pop(root, {}).get(key)
        self._cleared.pop(root, None)
        self._added.pop(root, None)
        if isinstance(store.value, Lit) and repr(store.value.value) == "0.0":
            cleared = _Cleared(store, len(self.out), before)
            self._cleared[root] = {key: cleared}

    def add(self, root: int, key: Key, stmt: AddTo) -> bool:
        """Whether an addition needs no statement of its own any more."""
        self._held.pop(root, None)
        found = self._cleared.get(root, {})
        if key not in found:
            for cleared in found.values():
                if cleared.next is None:
                    cleared.next = len(self.out)
            return self._add_once(self._added.setdefault(root, {}), key, stmt)
        cleared = found.pop(key)
        here = len(self.out) if cleared.next is None else cleared.next
        value = stmt.value
        if isinstance(value, Reg) and self._made.get(value, -1) >= here:
            return False
        self.out[cleared.position] = []
        if value is cleared.held:
            return True
        if here == len(self.out):
            self.out.append([])
        self.out[here].insert(0, replace(cleared.store, value=value))
        return True

    def _add_once(
        self, added: dict[Key, tuple[int, AddTo]], key: Key, stmt: AddTo
    ) -> bool:
        """Add what was added before together with this."""
        if key not in added or stmt.exact or added[key][1].exact:
            added[key] = len(self.out), stmt
            return False
        position, before = added[key]
        total = Reg("sum", stmt.value.type)
        both = replace(stmt, value=total)
        self.out[position].remove(before)
        added[key] = len(self.out), both
        self.out.append([Let(total, "add", (before.value, stmt.value)), both])
        return True
