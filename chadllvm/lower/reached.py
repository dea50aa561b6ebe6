"""Which buffers the pointers of a subroutine lead to, and so what its calls touch.

    def back(k, d, c):             p: the buffer p, of this run
      p = zeros f64[n]             c: an older one, of the class of its root
      q = zeros f64[n]             back(i, p, q) reads p and adds to q; it reads
      back(i, p, q)                whatever is kept at i, and nothing else of this run
      c[0 .. n] += q[0 .. n]

A buffer that a run makes, and one that a call returns to it, is no other run's, and
older pointers do not lead there. So such *own* buffers are told apart one by one, and
all that is older by the classes of roots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Alloc,
    Atom,
    Clear,
    Copy,
    Data,
    Get,
    Invoke,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
    Subroutine,
)

# A buffer of this run, or a class of roots.
Memory = Reg | int

# In the place of a buffer: any.
_ANY = None

_Bases = AbstractSet[Reg | None]


class Reached:
    """What pointers lead to in one subroutine, of which `stmts` is all that is inside.

    `around`: the slots that are not its own; `roots`: the representatives of roots.
    """

    def __init__(
        self,
        subroutine: Subroutine,
        stmts: Sequence[Stmt],
        around: AbstractSet[Slot],
        roots: Sequence[int],
    ) -> None:
        self._params = subroutine.params
        self._stmts, self._around, self._roots = stmts, around, roots
        self._calls = [s for s in stmts if isinstance(s, Invoke)]
        # The buffers that a run makes, or is given, and the classes of these.
        self._own: dict[Reg, int | None] = {}
        self._bases: dict[Reg | Slot, set[Reg | None]] = {}
        self._find_bases()
        self._classes = self._classes_of_params()
        self._changed = self._changed_params()

    def is_own(self, ptr: Atom) -> bool:
        """Whether a pointer leads to buffers of this run only."""
        return all(base in self._own for base in self._of(ptr))

    def is_own_or_given(self, ptr: Atom) -> bool:
        """The same, or to one that the run is given to change."""
        given = {self._params[k] for k in self._changed}
        return all(base in self._own or base in given for base in self._of(ptr))

    def memory(self, ptr: Atom, root: int) -> set[Memory]:
        """What a statement touches that accesses a root through a pointer."""
        return self._memory(ptr, {self._roots[root]})

    def read_by(self, call: Invoke) -> set[Memory]:
        """What a call may read: what it is given, and what it finds kept or around."""
        return self._given(call, range(len(call.args))) | self._elsewhere

    def changed_by(self, call: Invoke) -> set[Memory]:
        """What a call writes or adds to that it is given."""
        return self._given(call, self._changed)

    @property
    def changed(self) -> set[int]:
        """The classes of what runs are given to change."""
        return {c for k in self._changed for c in self._classes[k]}

    def has_own(self, call: Invoke) -> bool:
        """Whether a call is given a buffer of this run."""
        pointers = [arg for arg in call.args if arg.type == PTR]
        return any(self.is_own(arg) for arg in pointers)

    # What pointers lead to.

    def _of(self, ptr: Atom) -> _Bases:
        if not isinstance(ptr, Reg):
            return {_ANY}
        return self._bases.get(ptr, {ptr})

    def _find_bases(self) -> None:
        size = -1
        while size != (size := sum(map(len, self._bases.values()))):
            for stmt in self._stmts:
                self._note(stmt)

    def _note(self, stmt: Stmt) -> None:
        bases = self._bases
        match stmt:
            case Alloc(reg, root=root) | Data(reg, root=root):
                self._own[reg] = self._roots[root]
                bases[reg] = {reg}
            case Invoke(regs):
                for reg in regs:
                    if reg.type == PTR:
                        self._own[reg] = None
                        bases[reg] = {reg}
            case Offset(reg, ptr):
                bases[reg] = {*self._of(ptr)}
            case Set(slot, value) if value.type == PTR and slot not in self._around:
                bases.setdefault(slot, set()).update(self._of(value))
            case Get(reg, slot) if reg.type == PTR:
                bases[reg] = {_ANY} if slot in self._around else {*bases.get(slot, ())}
            case Let(reg, "select", (_, a, b)) if reg.type == PTR:
                bases[reg] = {*self._of(a), *self._of(b)}
            case _:
                for reg in _made(stmt):
                    bases[reg] = {_ANY}

    def _memory(self, ptr: Atom, classes: AbstractSet[int]) -> set[Memory]:
        found: set[Memory] = set()
        for base in self._of(ptr):
            if base is not None and base in self._own:
                found.add(base)
            else:
                found |= classes
            if base is _ANY:
                found.update(
                    r for r, c in self._own.items() if c is None or c in classes
                )
        return found

    # What calls touch.

    def _given(self, call: Invoke, places: Sequence[int]) -> set[Memory]:
        found: set[Memory] = set()
        for k in places:
            if call.args[k].type == PTR:
                found |= self._memory(call.args[k], self._classes[k])
        return found

    def _accesses(self) -> Iterator[tuple[Atom, int, bool]]:
        """The pointers that are accessed, their classes, and whether to be read."""
        for stmt in self._stmts:
            match stmt:
                case Load(_, ptr, root=root):
                    yield ptr, self._roots[root], True
                case (
                    Store(ptr, root=root)
                    | AddTo(ptr, root=root)
                    | Clear(ptr, root=root)
                ):
                    yield ptr, self._roots[root], False
                case Copy(target, source, target_root=to, source_root=root):
                    yield target, self._roots[to], False
                    yield source, self._roots[root], True
                case _:
                    pass

    def _classes_of_params(self) -> list[set[int]]:
        """The classes of what each parameter leads to, in calls of calls, too."""
        found: list[set[int]] = [set() for _ in self._params]
        self._elsewhere: set[Memory] = set()
        for ptr, root, reads in self._accesses():
            bases = self._of(ptr)
            for k, param in enumerate(self._params):
                if param in bases:
                    found[k].add(root)
            if reads and not bases <= {*self._own, *self._params}:
                self._elsewhere |= (
                    self._memory(ptr, {root}) if _ANY in bases else {root}
                )
        size = -1
        while size != (size := sum(map(len, found))):
            for call in self._calls:
                for j, arg in enumerate(call.args):
                    for k in self._params_of(arg):
                        found[k] |= found[j]
        return found

    def _changed_params(self) -> list[int]:
        """The parameters that lead to what runs write or add to."""
        accesses = self._accesses()
        changes = (ptr for ptr, _, is_read in accesses if not is_read)
        changed = {k for ptr in changes for k in self._params_of(ptr)}
        size = -1
        while size != (size := len(changed)):
            for call in self._calls:
                for j in [*changed]:
                    changed.update(self._params_of(call.args[j]))
        return sorted(changed)

    def _params_of(self, ptr: Atom) -> list[int]:
        """The parameters that a pointer may be, or be into."""
        if ptr.type != PTR:
            return []
        bases = self._of(ptr)
        return [k for k, param in enumerate(self._params) if param in bases]


def _made(stmt: Stmt) -> Iterator[Reg]:
    reg = getattr(stmt, "reg", None)
    if isinstance(reg, Reg) and reg.type == PTR:
        yield reg
