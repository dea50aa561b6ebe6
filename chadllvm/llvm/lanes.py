"""Loops whose iterations are run side by side: each lane of a vector is one of them.

    for i in 0 .. n:  # 8 lanes          for i = 0, 8, …:
      x = a[i]                             x = load <8 x double> at a[i]
      s := 0.0                             s = <8 x double> 0.0
      for k in 0 .. m:             →       for k in 0 .. m:
        c = b[k]                             c = load double at b[k]
        s := s * x + c                       s = s * x + (c in all lanes)
      total += s                           totals += s
                                         total += the sum of the lanes of totals

What `lower/varying.py` finds to be the same in all lanes is written as if there were no
lanes, by the functions for single statements. A buffer that each lane has for itself
holds their elements in turn: element e of lane l is at e · lanes + l.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields

from chadllvm.ir.loops import (
    PTR,
    Accumulate,
    AddTo,
    Atom,
    Branch,
    Clear,
    Copy,
    For,
    Get,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, I64, Scalar, is_float
from chadllvm.llvm import control, vecmath
from chadllvm.llvm.instructions import (
    MAX_INLINE_POWER,
    SIMPLE,
    SINGLE,
    WORST,
    multiplied_out,
    nan_or,
)
from chadllvm.llvm.state import INTERRUPTED, Lane, State
from chadllvm.llvm.types import BYTES, REGISTER, STORED, float_literal, literal
from chadllvm.lower.varying import FAR, NEXT, Varying, statements

# The instructions whose text is the same for vectors, but for the types.
_ALIKE = frozenset(
    ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "copysign", "least", "largest")
    + ("floor", "ceil", "trunc", "rint", "iadd", "isub", "imul", "imin", "imax")
    + ("iand", "ior", "ixor", "flt", "fle", "feq", "fne", "ilt", "ile", "ieq", "ine")
    + ("iult", "and", "or", "to_float", "to_single", "narrow", "widen", "bool_to_int")
)

_TYPES = re.compile(r"\b(double|float|i64|i1)\b")
_SUFFIX = re.compile(r"\.(f64|f32|i64)\(")


@dataclass(frozen=True, slots=True)
class Spread:
    """A number or a pointer: that of the first lane, and how far the next ones are.

    A pointer's steps are elements of the type `elem`.
    """

    first: str
    step: str
    elem: Scalar | None = None


# How something that differs is held: as a vector by its name, or by a rule.
Value = Spread | str


class Lanes:
    """The writing of one loop in lanes; `emit` writes a statement without them."""

    def __init__(
        self, state: State, loop: For, emit: Callable[[State, Stmt], None]
    ) -> None:
        self.state, self.count = state, loop.lanes
        roots = state.function.roots
        private = [roots[root] for root in loop.private]
        self.varying = Varying(loop, roots, private)
        self._emit = emit
        self._values: dict[Reg, Value] = {}
        self._slots: dict[Slot, str] = {}
        self._mask = ""

    def run(self, loop: For, polls: bool) -> None:
        """Write the loop."""
        state, out = self.state, self.state.out
        for slot in self._sums():
            self._store_slot(slot, self._all(_nothing(slot.type), slot.type))
        low, high = state.name(loop.low), state.name(loop.high)
        span = out.let(f"sub nsw i64 {high}, {low}")
        turns = out.let(f"sdiv exact i64 {span}, {self.count}")
        turn = out.fresh("turn")

        def body() -> None:
            done = out.let(f"mul nsw i64 {turn}, {self.count}")
            first = out.let(f"add nsw i64 {low}, {done}", loop.index.name)
            self._values[loop.index] = Spread(first, "1")
            for stmt in loop.body:
                self._emit(state, stmt)
            if polls:
                control.emit_countdown(out, state.fuel, state.exit(INTERRUPTED))

        outer, state.lanes = state.lanes, self
        control.emit_loop(out, turn, ("0", turns), True, body)
        state.lanes = outer
        for slot in self._sums():
            total = Reg(slot.name, slot.type)
            state.names[total] = self._sum(self._load_slot(slot), slot.type)
            self._emit(state, Accumulate(slot, total))

    def _sums(self) -> list[Slot]:
        return sorted(self.varying.sums, key=lambda slot: slot.name)

    def emit(self, stmt: Stmt) -> bool:
        """Write a statement that differs between lanes; else leave it."""
        match stmt:
            case _ if stmt in self.varying.alone:
                self._one_by_one(stmt)
            case Let(reg) if self._differs(reg):
                self._values[reg] = self._let(stmt)
            case Get(reg, slot) if self._differs(reg):
                self._values[reg] = self._load_slot(slot)
            case Set(slot, value) if slot in self.varying.slots:
                self._set(slot, self.vector(value))
            case Accumulate(slot, value) if self._is_kept(slot):
                self._accumulate(slot, value)
            case Load(reg) if self._differs(reg):
                self._values[reg] = self._load(stmt)
            case Offset(reg, ptr) if self._differs(reg) or ptr in self.varying.pointers:
                self._offset(stmt)
            case Store(ptr, index, value, root) if self._is_apart(stmt):
                self._store(stmt, self.vector(value))
            case AddTo() if not self._is_common(stmt):
                self._add_to(stmt)
            case Clear(ptr, count, elem, root) if self.varying.owns(root):
                self._emit_outside(Clear(ptr, self._scaled(count), elem, root))
            case Copy(count=count, target_root=root) if self.varying.owns(root):
                self._copy(stmt)
            case Branch(cond) if self._differs(cond):
                self._choose(stmt)
            case _:
                return False
        return True

    def _differs(self, atom: Atom) -> bool:
        return self.varying.kind(atom) > 0

    def _is_kept(self, slot: Slot) -> bool:
        return slot in self.varying.slots or slot in self.varying.sums

    def _is_apart(self, stmt: Store | AddTo) -> bool:
        """Whether the lanes write to different places."""
        owns = self.varying.owns(stmt.root)
        return owns or self.varying.place(stmt.ptr, stmt.index) > 0

    def _is_common(self, stmt: AddTo) -> bool:
        """Whether it adds to what the lanes have for themselves, but all the same."""
        return not self._is_apart(stmt) and self.varying.is_private(stmt.root)

    # Values.

    def _type(self, ty: Scalar) -> str:
        return f"<{self.count} x {REGISTER[ty]}>"

    def _all(self, constant: str, ty: Scalar) -> str:
        """A constant in all lanes."""
        return f"<{', '.join([f'{REGISTER[ty]} {constant}'] * self.count)}>"

    def vector(self, atom: Atom) -> str:
        """An atom as a vector."""
        if isinstance(atom, Lit):
            return self._all(literal(atom), atom.type)
        value = self._values.get(atom) if self._differs(atom) else None
        if value is None:
            return self._splat(self.state.name(atom), atom.type)
        if isinstance(value, str):
            return value
        numbers = ", ".join(f"i64 {lane}" for lane in range(self.count))
        step, ty = self._splat(value.step, I64), self._type(I64)
        out = self.state.out
        steps = out.let(f"mul {ty} {step}, <{numbers}>")
        if atom.type == PTR:
            raise AssertionError("pointers are taken lane by lane")
        return out.let(f"add {ty} {self._splat(value.first, I64)}, {steps}")

    def _splat(self, name: str, ty: Scalar) -> str:
        if not name.startswith("%"):
            return self._all(name, ty)
        out, vector = self.state.out, self._type(ty)
        text = f"insertelement {vector} poison, {REGISTER[ty]} {name}, i64 0"
        one = out.let(text)
        zeros = f"<{self.count} x i32> zeroinitializer"
        return out.let(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def lane(self, atom: Atom, number: int) -> str:
        """What one lane has of an atom."""
        value = self._values.get(atom) if isinstance(atom, Reg) else None
        if value is None or not self._differs(atom):
            return self.state.name(atom)
        out = self.state.out
        if isinstance(value, str):
            vector = self._type(atom.type)
            return out.let(f"extractelement {vector} {value}, i64 {number}")
        return self._at(value, str(number))

    def _at(self, value: Spread, lane: str) -> str:
        """What is held by a rule, in a lane that may be known at run time only."""
        far = _times(self.state, value.step, lane)
        if value.elem is not None:
            return _element(self.state, value.first, far, value.elem)
        return value.first if far == "0" else self.state.out.let(
            f"add i64 {value.first}, {far}"
        )

    def _gathered(self, ty: Scalar, names: Sequence[str]) -> str:
        """A vector of the lanes' values, held as `REGISTER` says."""
        vector, out = "poison", self.state.out
        for number, name in enumerate(names):
            text = f"insertelement {self._type(ty)} {vector}"
            vector = out.let(f"{text}, {REGISTER[ty]} {name}, i64 {number}")
        return vector

    # Instructions.

    def _let(self, stmt: Let) -> Value:
        kind = self.varying.regs[stmt.reg]
        if stmt.reg.type == I64 and kind <= FAR:
            return self._spread(stmt)
        types = [arg.type for arg in stmt.args]
        single = F32 in types
        out, ty = self.state.out, self._type(stmt.reg.type)
        match stmt.op:
            case op if op in _ALIKE:
                text = SINGLE.get(op, SIMPLE[op]) if single else SIMPLE[op]
                names = tuple(map(self.vector, stmt.args))
                return out.let(self._widened(text) % names, stmt.reg.name)
            case "not":
                true = self._all("true", BOOL)
                return out.let(f"xor {ty} {self.vector(stmt.args[0])}, {true}")
            case "select":
                cond, first, second = map(self.vector, stmt.args)
                condition = f"select {self._type(BOOL)} {cond}"
                return out.let(f"{condition}, {ty} {first}, {ty} {second}")
            case "minimum" | "maximum":
                compare = "olt" if stmt.op == "minimum" else "ogt"
                first, second = map(self.vector, stmt.args)
                arg = self._type(types[0])
                return nan_or(out, compare, (arg, self._type(BOOL)), (first, second))
            case "lesser" | "greater":
                return self._better(stmt)
            case "powi" if _is_small(stmt.args[1]):
                exponent = int(stmt.args[1].value)  # type: ignore[union-attr]
                return multiplied_out(out, ty, self.vector(stmt.args[0]), exponent)
            case op if op in vecmath.SYMBOL:
                function = vecmath.function_of(op, types)
                versions = self._versions(function)
                if versions:
                    return self._call(stmt, versions[-1])
        return self._scalars(stmt)

    def _better(self, stmt: Let) -> str:
        """See `_better` in `statements.py`; here nothing has to be hidden."""
        (old, new), out, ty = map(self.vector, stmt.args), self.state.out, stmt.reg.type
        of, cond = self._type(ty), self._type(BOOL)
        compare, _ = WORST[stmt.op]
        wins = out.let(f"fcmp {compare} {of} {new}, {old}")
        return out.let(f"select {cond} {wins}, {of} {new}, {of} {old}")

    def _spread(self, stmt: Let) -> Spread:
        """An integer that differs by the same number from lane to lane."""
        (a, b), out, op = stmt.args, self.state.out, stmt.op
        first, second = self._rule(a), self._rule(b)
        names = first.first, second.first
        if op == "imul":
            start = _times(self.state, *names)
            by = second.first if self._differs(a) else first.first
            step = _times(self.state, first.step if self._differs(a) else second.step, by)
            return Spread(start, step)
        text = "add" if op == "iadd" else "sub"
        start = out.let(f"{text} i64 {names[0]}, {names[1]}", stmt.reg.name)
        if second.step == "0":
            return Spread(start, first.step)
        if first.step == "0" and op == "iadd":
            return Spread(start, second.step)
        return Spread(start, out.let(f"{text} i64 {first.step}, {second.step}"))

    def _rule(self, atom: Atom) -> Spread:
        if not self._differs(atom):
            return Spread(self.state.name(atom), "0")
        value = self._values[atom]  # type: ignore[index]
        assert isinstance(value, Spread)
        return value

    def _widened(self, text: str) -> str:
        """The text of an instruction with vectors for its types."""
        text = _SUFFIX.sub(rf".v{self.count}\1(", text)
        return _TYPES.sub(rf"<{self.count} x \1>", text)

    def _versions(self, function: str) -> list[str]:
        """The vector versions that fit, the widest one last."""
        found = self.state.vector.get(function, ())
        width = 64 if function in vecmath.LIBM_SYMBOLS and function[-1] != "f" else 32
        fit = [
            version
            for version in found
            if self.count % vecmath.lanes(version) == 0
            and vecmath.lanes(version) * width <= self.state.width
        ]
        return sorted(fit, key=vecmath.lanes)

    def _call(self, stmt: Let, version: str) -> str:
        """Calls of a vector function, for some lanes each."""
        self.state.call_attribute(vecmath.function_of(stmt.op, [stmt.reg.type]))
        out, size = self.state.out, vecmath.lanes(version)
        ty = f"<{size} x {REGISTER[stmt.reg.type]}>"
        args, parts = [*map(self.vector, stmt.args)], []
        for first in range(0, self.count, size):
            pieces = [f"{ty} {self._part(a, stmt.reg.type, first, size)}" for a in args]
            parts.append(out.let(f"call {ty} @{version}({', '.join(pieces)})"))
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._joined(stmt.reg.type, size, *pair) for pair in pairs]
            size *= 2
        return parts[0]

    def _part(self, vector: str, ty: Scalar, first: int, size: int) -> str:
        places = ", ".join(f"i32 {k}" for k in range(first, first + size))
        of, out = self._type(ty), self.state.out
        return out.let(f"shufflevector {of} {vector}, {of} poison, <{size} x i32> <{places}>")

    def _joined(self, ty: Scalar, size: int, a: str, b: str) -> str:
        of = f"<{size} x {REGISTER[ty]}>"
        places = ", ".join(f"i32 {k}" for k in range(2 * size))
        mask = f"<{2 * size} x i32> <{places}>"
        return self.state.out.let(f"shufflevector {of} {a}, {of} {b}, {mask}")

    def _scalars(self, stmt: Let) -> str:
        """An instruction without a vector form, for one lane after the other."""
        results = []
        for number in range(self.count):
            with self._named({a: self.lane(a, number) for a in self._varying(stmt)}):
                reg = Reg(stmt.reg.name, stmt.reg.type)
                self._emit_outside(Let(reg, stmt.op, stmt.args))
                results.append(self.state.names[reg])
        return self._gathered(stmt.reg.type, results)

    def _varying(self, stmt: Stmt) -> list[Reg]:
        """The registers that a statement reads and that differ, in order."""
        found = dict.fromkeys(r for s in statements([stmt]) for r in _registers(s))
        return [r for r in found if r in self._values and self._differs(r)]

    # Slots.

    def _slot(self, slot: Slot) -> str:
        """The stack slot of the lanes' values; that of bools holds bytes."""
        if slot not in self._slots:
            ty = f"<{self.count} x {STORED[slot.type]}>"
            self._slots[slot] = self.state.out.alloca(ty, slot.name)
        return self._slots[slot]

    def _load_slot(self, slot: Slot) -> str:
        return self._loaded(self._slot(slot), slot.type, "")

    def _loaded(self, address: str, ty: Scalar, suffix: str) -> str:
        out, stored = self.state.out, f"<{self.count} x {STORED[ty]}>"
        align = BYTES[ty] if suffix else min(64, self.count * BYTES[ty])
        value = out.let(f"load {stored}, ptr {address}, align {align}{suffix}")
        if ty == BOOL:
            return out.let(f"icmp ne {stored} {value}, zeroinitializer")
        return value

    def _store_slot(self, slot: Slot, value: str) -> None:
        self._stored(self._slot(slot), slot.type, value, "")

    def _stored(self, address: str, ty: Scalar, value: str, suffix: str) -> None:
        out, stored = self.state.out, f"<{self.count} x {STORED[ty]}>"
        if ty == BOOL:
            value = out.let(f"zext {self._type(BOOL)} {value} to {stored}")
        align = BYTES[ty] if suffix else min(64, self.count * BYTES[ty])
        out.put(f"store {stored} {value}, ptr {address}, align {align}{suffix}")

    def _set(self, slot: Slot, value: str) -> None:
        if self._mask:
            value = self._chosen(slot.type, value, self._load_slot(slot))
        self._store_slot(slot, value)

    def _chosen(self, ty: Scalar, value: str, otherwise: str) -> str:
        """The value in the lanes that are here, something else in the others."""
        vector, mask = self._type(ty), f"{self._type(BOOL)} {self._mask}"
        text = f"select {mask}, {vector} {value}, {vector} {otherwise}"
        return self.state.out.let(text)

    def _accumulate(self, slot: Slot, value: Atom) -> None:
        added = self.vector(value)
        if self._mask:
            nothing = self._all(_nothing(slot.type), slot.type)
            added = self._chosen(slot.type, added, nothing)
        total = self._plus(slot.type, self._load_slot(slot), added, self._type(slot.type))
        self._store_slot(slot, total)

    def _plus(self, ty: Scalar, a: str, b: str, of: str) -> str:
        """A sum that may be reassociated with others."""
        text = "fadd reassoc contract" if is_float(ty) else "add"
        return self.state.out.let(f"{text} {of} {a}, {b}")

    def _sum(self, vector: str, ty: Scalar) -> str:
        """The sum of the lanes."""
        of, out, size = f"{self._type(ty)} {vector}", self.state.out, self.count
        if not is_float(ty):
            return out.let(f"call i64 @llvm.vector.reduce.add.v{size}i64({of})")
        name = f"@llvm.vector.reduce.fadd.v{size}f{8 * BYTES[ty]}"
        start = f"{REGISTER[ty]} {_nothing(ty)}"
        return out.let(f"call reassoc {REGISTER[ty]} {name}({start}, {of})")

    # Memory.

    def _load(self, stmt: Load) -> str:
        ty, suffix = stmt.reg.type, self.state.alias.suffix(stmt.root)
        address = self._row(stmt.ptr, stmt.index, ty, stmt.root)
        if address:
            return self._loaded(address, ty, suffix)
        names = []
        for number in range(self.count):
            place = self._place(stmt.ptr, stmt.index, ty, stmt.root, number)
            text = f"load {STORED[ty]}, ptr {place}, align {BYTES[ty]}{suffix}"
            name = self.state.out.let(text)
            if ty == BOOL:
                name = self.state.out.let(f"icmp ne i8 {name}, 0")
            names.append(name)
        return self._gathered(ty, names)

    def _row(self, ptr: Atom, index: Atom, ty: Scalar, root: int) -> str:
        """The place of the first lane, if those of the others follow it; else empty."""
        kind = self.varying.place(ptr, index)
        if self.varying.owns(root):
            if kind:
                return ""
            at = self._scaled_name(self.state.name(index))
            return _element(self.state, self.state.name(ptr), at, ty)
        if kind != NEXT:
            return ""
        return _element(self.state, self.lane(ptr, 0), self.lane(index, 0), ty)

    def _place(self, ptr: Atom, index: Atom, ty: Scalar, root: int, lane: int) -> str:
        base, at = self.lane(ptr, lane), self.lane(index, lane)
        if self.varying.owns(root):
            at = self.state.out.let(f"add i64 {self._scaled_name(at)}, {lane}")
        return _element(self.state, base, at, ty)

    def _store(self, stmt: Store, value: str) -> None:
        ty, suffix = stmt.value.type, self.state.alias.suffix(stmt.root)
        address = self._row(stmt.ptr, stmt.index, ty, stmt.root)
        if address:
            self._stored(address, ty, value, suffix)
            return
        for number in range(self.count):
            self._emit_lane(stmt, value, number)

    def _add_to(self, stmt: AddTo) -> None:
        ty, suffix = stmt.value.type, self.state.alias.suffix(stmt.root)
        address = self._row(stmt.ptr, stmt.index, ty, stmt.root)
        value = self.vector(stmt.value)
        if address:
            old = self._loaded(address, ty, suffix)
            total = self._plus(ty, old, value, self._type(ty))
            self._stored(address, ty, total, suffix)
        elif self._is_apart(stmt):
            for number in range(self.count):
                self._emit_lane(stmt, value, number)
        else:
            total = Reg("sum", ty)
            self.state.names[total] = self._sum(value, ty)
            self._emit_outside(AddTo(stmt.ptr, stmt.index, total, stmt.root))

    def _emit_lane(self, stmt: Store | AddTo, value: str, number: int) -> None:
        """A store or an addition for one lane."""
        ty, out = stmt.value.type, self.state.out
        place = self._place(stmt.ptr, stmt.index, ty, stmt.root, number)
        one, ptr = Reg("lane", ty), Reg("p", PTR)
        text = f"extractelement {self._type(ty)} {value}, i64 {number}"
        self.state.names[one], self.state.names[ptr] = out.let(text), place
        self._emit_outside(type(stmt)(ptr, Lit(0), one, stmt.root))

    def _offset(self, stmt: Offset) -> None:
        out, ty = self.state.out, stmt.elem
        owned = stmt.ptr in self.varying.pointers
        kind = self.varying.kind(stmt.reg)
        if not owned and kind <= FAR:
            base, at = self._rule(stmt.ptr), self._rule(stmt.index)
            first = _element(self.state, base.first, at.first, ty)
            steps = [s for s in (base.step, at.step) if s != "0"]
            step = steps[0] if len(steps) == 1 else out.let(f"add i64 {', '.join(steps)}")
            self._values[stmt.reg] = Spread(first, step, ty)
            return
        if not kind:
            at = self._scaled_name(self.state.name(stmt.index))
            place = _element(self.state, self.state.name(stmt.ptr), at, ty)
            self.state.names[stmt.reg] = place
            return
        places = []
        for number in range(self.count):
            at = self.lane(stmt.index, number)
            at = self._scaled_name(at) if owned else at
            places.append(_element(self.state, self.lane(stmt.ptr, number), at, ty))
        self._values[stmt.reg] = self._gathered(PTR, places)

    def _copy(self, stmt: Copy) -> None:
        """All lanes' elements are copied at once."""
        count = self._scaled(stmt.count)
        self._emit_outside(
            Copy(
                stmt.target,
                stmt.source,
                count,
                stmt.elem,
                stmt.target_root,
                stmt.source_root,
            )
        )

    def _scaled(self, count: Atom) -> Atom:
        reg = Reg("n", I64)
        self.state.names[reg] = self._scaled_name(self.state.name(count))
        return reg

    def _scaled_name(self, name: str) -> str:
        return _times(self.state, name, str(self.count))

    # Control.

    def _choose(self, stmt: Branch) -> None:
        """Both bodies, each for the lanes that take it."""
        out, ty, outer = self.state.out, self._type(BOOL), self._mask
        cond, true = self.vector(stmt.cond), self._all("true", BOOL)
        for taken, body in ((True, stmt.then), (False, stmt.orelse)):
            if not body:
                continue
            mask = cond if taken else out.let(f"xor {ty} {cond}, {true}")
            if outer:
                none = self._all("false", BOOL)
                mask = out.let(f"select {ty} {outer}, {ty} {mask}, {ty} {none}")
            self._mask = mask
            for inner in body:
                self._emit(self.state, inner)
        self._mask = outer

    def _one_by_one(self, stmt: Stmt) -> None:
        """A statement for one lane after the other, as if there were no lanes."""
        state, out = self.state, self.state.out
        regs = self._varying(stmt)
        held = {reg: self._held(reg) for reg in regs}
        slots = [s for s in _slots(stmt) if self._is_kept(s)]
        number = out.fresh("lane")

        def body() -> None:
            names = {reg: self._taken(reg, held[reg], number) for reg in regs}
            before = dict(state.slots)
            for slot in slots:
                text = f"getelementptr inbounds {STORED[slot.type]}"
                place = out.let(f"{text}, ptr {self._slot(slot)}, i64 {number}")
                state.slots[slot] = place
            state.lanes, state.lane = None, Lane(self.varying, number, self.count)
            with self._named(names):
                self._emit(state, stmt)
            state.lanes, state.lane = self, None
            state.slots = before | {s: a for s, a in state.slots.items() if s not in slots}

        control.emit_loop(out, number, ("0", str(self.count)), True, body)

    def _held(self, reg: Reg) -> str:
        """The lanes' values in memory, so that one can be looked up; empty for rules."""
        value = self._values[reg]
        if isinstance(value, Spread):
            return ""
        ty = f"<{self.count} x {STORED[reg.type]}>"
        place = self.state.out.alloca(ty, reg.name)
        self._stored(place, reg.type, value, "")
        return place

    def _taken(self, reg: Reg, held: str, lane: str) -> str:
        """The value of the lane of this number."""
        value, out, stored = self._values[reg], self.state.out, STORED[reg.type]
        if isinstance(value, Spread):
            return self._at(value, lane)
        place = out.let(f"getelementptr inbounds {stored}, ptr {held}, i64 {lane}")
        name = out.let(f"load {stored}, ptr {place}, align {BYTES[reg.type]}")
        return out.let(f"icmp ne i8 {name}, 0") if reg.type == BOOL else name

    @contextmanager
    def _named(self, names: dict[Reg, str]) -> Iterator[None]:
        """With these names for registers."""
        self.state.names.update(names)
        yield
        for reg in names:
            del self.state.names[reg]

    def _emit_outside(self, stmt: Stmt) -> None:
        """Write a statement that does not differ."""
        state = self.state
        state.lanes = None
        self._emit(state, stmt)
        state.lanes = self


def _is_small(exponent: Atom) -> bool:
    """Whether a power of this is multiplied out."""
    return isinstance(exponent, Lit) and 0 < exponent.value <= MAX_INLINE_POWER


def _nothing(ty: Scalar) -> str:
    """What changes no sum."""
    return float_literal(-0.0) if is_float(ty) else "0"


def _times(state: State, a: str, b: str) -> str:
    """A product, if it is not known."""
    match a, b:
        case ("0", _) | (_, "0"):
            return "0"
        case ("1", name) | (name, "1"):
            return name
    return state.out.let(f"mul i64 {a}, {b}")


def _element(state: State, base: str, index: str, elem: Scalar) -> str:
    if index == "0":
        return base
    text = f"getelementptr inbounds {STORED[elem]}, ptr {base}, i64 {index}"
    return state.out.let(text)


def _registers(stmt: Stmt) -> Iterator[Reg]:
    """The registers in the fields of a statement."""
    for f in fields(stmt):
        value = getattr(stmt, f.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Reg):
                yield part


def _slots(stmt: Stmt) -> list[Slot]:
    """The slots that a statement uses."""
    found: dict[Slot, None] = {}
    for inner in statements([stmt]):
        for f in fields(inner):
            if isinstance(value := getattr(inner, f.name), Slot):
                found[value] = None
    return list(found)
