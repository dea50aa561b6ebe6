"""What is known of a function: what registers are made of, and where they point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from chadllvm.ir.loops import (
    PTR,
    Alloc,
    ArrayParam,
    Atom,
    Data,
    For,
    Get,
    Let,
    LoopFunction,
    Offset,
    Reg,
    Slot,
    Stmt,
)
from chadllvm.ir.statements import slots_of, whole
from chadllvm.lower.chunks.forms import ONE, Form, Forms


class Known:
    """What is known of a function: where registers, slots and buffers come from."""

    def __init__(self, function: LoopFunction) -> None:
        self.function = function
        self.made: dict[Reg, Let] = {}
        self.pointers: dict[Reg, Offset | Get] = {}
        self.buffers: dict[Reg, Alloc] = {}
        self.classes: dict[int, list[Stmt | ArrayParam]] = {}
        self.uses: Counter[Slot] = Counter()
        loops: dict[Reg, For] = {}
        for stmt in whole(function):
            self._note(stmt)
            if isinstance(stmt, For):
                loops[stmt.index] = stmt
            self.uses.update(slots_of(stmt))
        params = [p for p in function.params if isinstance(p, ArrayParam)]
        self.inputs: set[object] = {p.ptr for p in params}
        dims = [d for p in params for d in p.dims]
        self.forms = Forms(self.made, dims, loops)

    def _note(self, stmt: Stmt) -> None:
        match stmt:
            case Let(reg):
                self.made[reg] = stmt
            case Offset(reg):
                self.pointers[reg] = stmt
            case Get(reg) if reg.type == PTR:
                self.pointers[reg] = stmt
            case Alloc(reg, root=root):
                self.buffers[reg] = stmt
                self.classes.setdefault(self.function.roots[root], []).append(stmt)
            case Data(_, _, root):
                self.classes.setdefault(self.function.roots[root], []).append(stmt)
            case _:
                pass

    def rows(self, index: Atom, forms: Forms) -> Iterator[tuple[Form, Form]]:
        """The rows that an element of an array is in: where they begin, their sizes.

        All its indices have been checked, so that it is in the row of the first ones
        whatever the last one is.
        """
        size = ONE
        while (row := self._row(index)) is not None:
            index, stride = row
            size = forms.times(forms.of(stride), size)
            yield forms.times(forms.of(index), size), size

    def _row(self, place: Atom) -> tuple[Atom, Reg] | None:
        """The number of a row and its size, for a place in it."""
        match self._let(place):
            case Let(_, "iadd", (begin, _)):
                begins = self._let(begin)
            case begins:
                pass
        match begins:
            case Let(_, "imul", (number, Reg() as size)):
                let = self.made.get(size)
                return (number, size) if let and let.op == "stride" else None
            case _:
                return None

    def _let(self, atom: Atom) -> Let | None:
        return self.made.get(atom) if isinstance(atom, Reg) else None

    def buffer(self, ptr: Atom) -> Atom:
        """The buffer that a pointer is into."""
        part = self.pointers.get(ptr) if isinstance(ptr, Reg) else None
        while isinstance(part, Offset):
            ptr = part.ptr
            part = self.pointers.get(ptr) if isinstance(ptr, Reg) else None
        return ptr
