"""Where the lanes of a loop keep what they have: slots, and buffers.

What lanes have next to each other in memory is one vector; what is far apart is looked
up for each of them. A buffer that each lane has for itself holds their elements in
turn: element e of lane l is at e * lanes + l.
"""

from __future__ import annotations

from collections.abc import Callable

from chadllvm.ir.loops import (
    PTR,
    AddTo,
    Atom,
    Clear,
    Copy,
    For,
    Load,
    Offset,
    Reg,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, Scalar
from chadllvm.llvm.lane_masks import LaneMasks
from chadllvm.llvm.lane_values import Spread, element, times
from chadllvm.llvm.state import State
from chadllvm.llvm.types import BYTES, STORED
from chadllvm.lower.varying import FAR, NEXT

# What is to be stored: the address, the type, the vector, and its metadata.
Written = tuple[str, Scalar, str, str]


class LaneMemory(LaneMasks):
    """The slots and buffers of one loop's lanes."""

    def __init__(
        self, state: State, loop: For, emit: Callable[[State, Stmt], None]
    ) -> None:
        super().__init__(state, loop, emit)
        self._slots: dict[Slot, str] = {}
        # What is stored later, if it is not to be stored now.
        self.written: list[Written] | None = None

    # Slots.

    def slot(self, slot: Slot) -> str:
        """The stack slot of the lanes' values; that of bools holds bytes."""
        if slot not in self._slots:
            ty = f"<{self.count} x {STORED[slot.type]}>"
            self._slots[slot] = self.state.out.alloca(ty, slot.name)
        return self._slots[slot]

    def load_slot(self, slot: Slot) -> str:
        return self._loaded(self.slot(slot), slot.type, "")

    def store_slot(self, slot: Slot, value: str) -> None:
        self.stored(self.slot(slot), slot.type, value, "")

    def set(self, slot: Slot, value: str) -> None:
        """`slot := value` in the lanes that are here."""
        if self.mask:
            value = self.chosen(slot.type, value, self.load_slot(slot))
        self.store_slot(slot, value)

    def accumulate(self, slot: Slot, value: Atom) -> None:
        """`slot += value` in the lanes that are here."""
        ty = slot.type
        added = self.addend(ty, self.vector(value))
        self.store_slot(slot, self.plus(ty, self.load_slot(slot), added))

    def _loaded(
        self, address: str, ty: Scalar, suffix: str, masked: bool = False
    ) -> str:
        out, stored = self.state.out, f"<{self.count} x {STORED[ty]}>"
        if masked:
            value = self.masked_load(address, ty, suffix)
        else:
            align = self._alignment(ty, suffix)
            value = out.let(f"load {stored}, ptr {address}, align {align}{suffix}")
        if ty == BOOL:
            return out.let(f"icmp ne {stored} {value}, zeroinitializer")
        return value

    def stored(self, address: str, ty: Scalar, value: str, suffix: str) -> None:
        """Put a vector where it is held as `STORED` says."""
        stored, align = f"<{self.count} x {STORED[ty]}>", self._alignment(ty, suffix)
        where = f"ptr {address}, align {align}{suffix}"
        self.state.out.put(f"store {stored} {self._as_stored(value, ty)}, {where}")

    def _as_stored(self, value: str, ty: Scalar) -> str:
        if ty != BOOL:
            return value
        stored = f"<{self.count} x {STORED[ty]}>"
        return self.state.out.let(f"zext {self.type(BOOL)} {value} to {stored}")

    def _alignment(self, ty: Scalar, suffix: str) -> int:
        """Stack slots, which need no suffix, are aligned as LLVM does it."""
        return BYTES[ty] if suffix else min(32, self.count * BYTES[ty])

    # Buffers.

    def is_apart(self, stmt: Store | AddTo) -> bool:
        """Whether the lanes write to different places."""
        owns = self.varying.owns(stmt.root)
        return owns or self.varying.place(stmt.ptr, stmt.index) > 0

    def is_common(self, stmt: AddTo) -> bool:
        """Whether it adds to what the lanes have for themselves, but all the same."""
        return not self.is_apart(stmt) and self.varying.is_private(stmt.root)

    def _is_partial(self, stmt: Load | Store | AddTo) -> bool:
        """Whether the places next to each other may be there for some lanes only."""
        return bool(self.mask) and not self.varying.owns(stmt.root)

    def load(self, stmt: Load) -> str:
        ty, suffix = stmt.reg.type, self.state.alias.suffix(stmt.root)
        address = self._row(stmt.ptr, stmt.index, ty, stmt.root)
        if address:
            value = self._loaded(address, ty, suffix, self._is_partial(stmt))
            if stmt.reg in self.state.chosen and ty != BOOL:
                value = self.state.out.let(f"freeze {self.type(ty)} {value}")
            return value
        names = []
        for number in range(self.count):
            place = self._place(stmt.ptr, stmt.index, ty, stmt.root, number)
            text = f"load {STORED[ty]}, ptr {place}, align {BYTES[ty]}{suffix}"
            name = self.state.out.let(text)
            if ty == BOOL:
                name = self.state.out.let(f"icmp ne i8 {name}, 0")
            names.append(name)
        return self.gathered(ty, names)

    def store(self, stmt: Store) -> None:
        """Each lane's value, at a place of its own."""
        ty, value = stmt.value.type, self.vector(stmt.value)
        suffix = self.state.alias.suffix(stmt.root)
        address = self._row(stmt.ptr, stmt.index, ty, stmt.root)
        if not address:
            for number in range(self.count):
                self._write(stmt, value, number)
        elif self._is_partial(stmt):
            self.masked_store(address, ty, self._as_stored(value, ty), suffix)
        else:
            if self.mask and stmt not in self.varying.collected:
                value = self.chosen(ty, value, self._loaded(address, ty, suffix))
            self._store_row(address, ty, value, suffix)

    def _store_row(self, *written: *Written) -> None:
        if self.written is None:
            self.stored(*written)
        else:
            self.written.append(written)

    def add_to(self, stmt: AddTo) -> None:
        """Each lane's value is added: to a place of its own, or to the same one."""
        ty, suffix = stmt.value.type, self.state.alias.suffix(stmt.root)
        value = self.addend(ty, self.vector(stmt.value))
        address = self._row(stmt.ptr, stmt.index, ty, stmt.root)
        if address and self._is_partial(stmt):
            old = self._loaded(address, ty, suffix, masked=True)
            self.masked_store(address, ty, self.plus(ty, old, value), suffix)
        elif address:
            total = self.plus(ty, self._loaded(address, ty, suffix), value)
            self._store_row(address, ty, total, suffix)
        elif self.is_apart(stmt):
            for number in range(self.count):
                self._write(stmt, value, number)
        else:
            total_reg = Reg("sum", ty)
            self.state.names[total_reg] = self.sum(value, ty)
            self.emit_plain(AddTo(stmt.ptr, stmt.index, total_reg, stmt.root))

    def _write(self, stmt: Store | AddTo, value: str, number: int) -> None:
        """A store or an addition for one lane."""
        ty, out = stmt.value.type, self.state.out
        place = self._place(stmt.ptr, stmt.index, ty, stmt.root, number)
        one, ptr = Reg("lane", ty), Reg("p", PTR)
        text = f"extractelement {self.type(ty)} {value}, i64 {number}"
        self.state.names[one], self.state.names[ptr] = out.let(text), place
        self.emit_plain(type(stmt)(ptr, Lit(0), one, stmt.root))

    def offset(self, stmt: Offset) -> None:
        """A pointer to a part of a buffer."""
        state, ty = self.state, stmt.elem
        owned, kind = stmt.ptr in self.varying.pointers, self.varying.kind(stmt.reg)
        if not owned and kind <= FAR:
            base, at = self.rule(stmt.ptr), self.rule(stmt.index)
            steps = [step for step in (base.step, at.step) if step != "0"]
            step = steps[0] if steps else "0"
            if len(steps) == 2:
                step = state.out.let(f"add i64 {steps[0]}, {steps[1]}")
            first = self._element(base.first, at.first, ty)
            self.values[stmt.reg] = Spread(first, step, ty)
        elif not kind:
            at_name = self.scaled_name(state.name(stmt.index))
            state.names[stmt.reg] = element(state, state.name(stmt.ptr), at_name, ty)
        else:
            places = []
            for number in range(self.count):
                index = self.lane(stmt.index, number)
                index = self.scaled_name(index) if owned else index
                places.append(self._element(self.lane(stmt.ptr, number), index, ty))
            self.values[stmt.reg] = self.gathered(PTR, places)

    def fill(self, stmt: Clear | Copy) -> None:
        """Clear or copy the elements of all lanes at once."""
        count = Reg("n", I64)
        self.state.names[count] = self.scaled_name(self.state.name(stmt.count))
        match stmt:
            case Clear(ptr, _, elem, root):
                self.emit_plain(Clear(ptr, count, elem, root))
            case Copy(target, source, _, elem, root, other):
                self.emit_plain(Copy(target, source, count, elem, root, other))

    def _row(self, ptr: Atom, index: Atom, ty: Scalar, root: int) -> str:
        """The place of the first lane, if those of the others follow it; else empty."""
        kind = self.varying.place(ptr, index)
        if self.varying.owns(root):
            if kind:
                return ""
            at = self.scaled_name(self.state.name(index))
            return element(self.state, self.state.name(ptr), at, ty)
        if kind != NEXT:
            return ""
        return self._element(self.lane(ptr, 0), self.lane(index, 0), ty)

    def _place(self, ptr: Atom, index: Atom, ty: Scalar, root: int, lane: int) -> str:
        """Where an element of one lane is."""
        base, at = self.lane(ptr, lane), self.lane(index, lane)
        if self.varying.owns(root):
            at = self.state.out.let(f"add i64 {self.scaled_name(at)}, {lane}")
        return self.reached(self._element(base, at, ty), ty, lane)

    def _element(self, base: str, index: str, ty: Scalar) -> str:
        """The address of an element, which need not be there for lanes that are not."""
        return element(self.state, base, index, ty, known=not self.mask)

    def scaled_name(self, name: str) -> str:
        """As many elements of all lanes."""
        return times(self.state, name, str(self.count))
