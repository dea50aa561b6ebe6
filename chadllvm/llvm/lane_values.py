"""What the lanes of a loop have: vectors, and the instructions that make them.

A number that differs by the same from lane to lane, as an index mostly does, is kept
as that of the first lane and the difference; so is a pointer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from chadllvm.ir.loops import Atom, For, Let, Reg, Stmt
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, Scalar, is_float
from chadllvm.llvm import vecmath
from chadllvm.llvm.instructions import (
    MAX_INLINE_POWER,
    WORST,
    multiplied_out,
    nan_or,
    simple,
)
from chadllvm.llvm.state import State
from chadllvm.llvm.types import BYTES, REGISTER, STORED, float_literal, literal
from chadllvm.lower.varying import FAR, Varying
from chadllvm.ops import INSTRUCTIONS

# Types in the text of an instruction, but for those of flags.
_TYPES = re.compile(r"\b(double|float|i64|i1)\b(?! false)")
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


class LaneValues:
    """The values of one loop's lanes; `emit` writes a statement without them."""

    def __init__(
        self, state: State, loop: For, emit: Callable[[State, Stmt], None]
    ) -> None:
        self.state, self.count = state, loop.lanes
        roots = state.function.roots
        private = [roots[root] for root in loop.private]
        self.varying = Varying(loop, roots, private)
        self.emit_statement = emit
        self.values: dict[Reg, Value] = {}

    def differs(self, atom: Atom) -> bool:
        """Whether lanes have different ones."""
        return self.varying.kind(atom) > 0

    def type(self, ty: Scalar) -> str:
        """The type of vectors of these."""
        return f"<{self.count} x {REGISTER[ty]}>"

    def all(self, constant: str, ty: Scalar) -> str:
        """A constant in all lanes."""
        return f"<{', '.join([f'{REGISTER[ty]} {constant}'] * self.count)}>"

    def vector(self, atom: Atom) -> str:
        """An atom that is no pointer as a vector."""
        if isinstance(atom, Lit):
            return self.all(literal(atom), atom.type)
        if not self.differs(atom):
            return self._splat(self.state.name(atom), atom.type)
        value = self.values[atom]
        if isinstance(value, str):
            return value
        numbers = ", ".join(f"i64 {lane}" for lane in range(self.count))
        step, ty, out = self._splat(value.step, I64), self.type(I64), self.state.out
        steps = out.let(f"mul {ty} {step}, <{numbers}>")
        return out.let(f"add {ty} {self._splat(value.first, I64)}, {steps}")

    def _splat(self, name: str, ty: Scalar) -> str:
        if not name.startswith("%"):
            return self.all(name, ty)
        out, vector = self.state.out, self.type(ty)
        text = f"insertelement {vector} poison, {REGISTER[ty]} {name}, i64 0"
        one = out.let(text)
        zeros = f"<{self.count} x i32> zeroinitializer"
        return out.let(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def lane(self, atom: Atom, number: int) -> str:
        """What one lane has of an atom."""
        if not isinstance(atom, Reg) or not self.differs(atom):
            return self.state.name(atom)
        value = self.values[atom]
        if isinstance(value, str):
            vector = self.type(atom.type)
            return self.state.out.let(f"extractelement {vector} {value}, i64 {number}")
        return self.at(value, str(number))

    def at(self, value: Spread, lane: str) -> str:
        """What is held by a rule, in a lane that may be known at run time only."""
        far = times(self.state, value.step, lane)
        if value.elem is not None:
            return element(self.state, value.first, far, value.elem)
        if far == "0":
            return value.first
        return self.state.out.let(f"add i64 {value.first}, {far}")

    def rule(self, atom: Atom) -> Spread:
        """An atom as a first one and steps."""
        if not isinstance(atom, Reg) or not self.differs(atom):
            return Spread(self.state.name(atom), "0")
        value = self.values[atom]
        assert isinstance(value, Spread)
        return value

    def gathered(self, ty: Scalar, names: Sequence[str]) -> str:
        """A vector of the lanes' values, held as `REGISTER` says."""
        vector, out = "poison", self.state.out
        for number, name in enumerate(names):
            text = f"insertelement {self.type(ty)} {vector}"
            vector = out.let(f"{text}, {REGISTER[ty]} {name}, i64 {number}")
        return vector

    def plus(self, ty: Scalar, a: str, b: str) -> str:
        """A sum of vectors that may be reassociated with others."""
        text = f"fadd {self.state.sum_flags}" if is_float(ty) else "add "
        return self.state.out.let(f"{text}{self.type(ty)} {a}, {b}")

    def sum(self, vector: str, ty: Scalar) -> str:
        """The sum of the lanes."""
        of, out, size = f"{self.type(ty)} {vector}", self.state.out, self.count
        if not is_float(ty):
            return out.let(f"call i64 @llvm.vector.reduce.add.v{size}i64({of})")
        name = f"@llvm.vector.reduce.fadd.v{size}f{8 * BYTES[ty]}"
        start = f"{REGISTER[ty]} {nothing(ty)}"
        return out.let(f"call reassoc {REGISTER[ty]} {name}({start}, {of})")

    # Instructions.

    def let(self, stmt: Let) -> Value:
        """What an instruction gives."""
        if stmt.reg.type == I64 and self.varying.regs[stmt.reg] <= FAR:
            return self._spread(stmt)
        types = [arg.type for arg in stmt.args]
        out, ty = self.state.out, self.type(stmt.reg.type)
        code = INSTRUCTIONS[stmt.op]
        text = simple(stmt.op, types, self.state.contracts(stmt))
        match stmt.op, stmt.args:
            case "not", (arg,):
                return out.let(f"xor {ty} {self.vector(arg)}, {self.all('true', BOOL)}")
            case _ if text and code.has_vectors:
                args = tuple(map(self.vector, stmt.args))
                return out.let(self._widened(text) % args, stmt.reg.name)
            case "select", _:
                cond, first, second = map(self.vector, stmt.args)
                chosen = f"select {self.type(BOOL)} {cond}, {ty} {first}"
                return out.let(f"{chosen}, {ty} {second}")
            case ("minimum" | "maximum") as op, _:
                compare = "olt" if op == "minimum" else "ogt"
                names = [self.vector(arg) for arg in stmt.args]
                return nan_or(out, compare, (ty, self.type(BOOL)), names)
            case ("lesser" | "greater") as op, _:
                return self._better(op, stmt)
            case "powi", (base, Lit(exponent)) if self._is_multiplied(exponent):
                return multiplied_out(out, ty, self.vector(base), int(exponent))
            case _ if code.symbol and (call := self._written(stmt)):
                return out.let(call)
            case _ if code.symbol and (best := self._version(stmt)):
                return self._call(stmt, best)
        return self._scalars(stmt)

    def _is_multiplied(self, exponent: float) -> bool:
        """Whether a power is multiplied out."""
        own = self.state.function.arithmetic.own_functions
        return own and 0 < exponent <= MAX_INLINE_POWER

    def _better(self, op: str, stmt: Let) -> str:
        """See `_better` in `statements.py`; here nothing has to be hidden."""
        old, new = map(self.vector, stmt.args)
        of, out = self.type(stmt.reg.type), self.state.out
        wins = out.let(f"fcmp {WORST[op][0]} {of} {new}, {old}")
        return out.let(f"select {self.type(BOOL)} {wins}, {of} {new}, {of} {old}")

    def _spread(self, stmt: Let) -> Spread:
        """An integer that differs by the same number from lane to lane."""
        a, b = map(self.rule, stmt.args)
        out, name = self.state.out, stmt.reg.name
        if stmt.op == "imul":
            by, step = (
                (b.first, a.step) if self.differs(stmt.args[0]) else (a.first, b.step)
            )
            start = times(self.state, a.first, b.first)
            return Spread(start, times(self.state, step, by))
        text = "add" if stmt.op == "iadd" else "sub"
        start = out.let(f"{text} i64 {a.first}, {b.first}", name)
        if b.step == "0":
            return Spread(start, a.step)
        if a.step == "0" and stmt.op == "iadd":
            return Spread(start, b.step)
        return Spread(start, out.let(f"{text} i64 {a.step}, {b.step}"))

    def _widened(self, text: str) -> str:
        """The text of an instruction with vectors for its types."""
        text = text.replace("i64 0,", "i64 zeroinitializer,")
        text = _SUFFIX.sub(rf".v{self.count}\1(", text)
        return _TYPES.sub(rf"<{self.count} x \1>", text)

    def _written(self, stmt: Let) -> str:
        """The call of a function that is written out; empty if it is none."""
        function = self.state.math_function(stmt)
        found = vecmath.written_for(function, self.count)
        if found is None:
            return ""
        name, definition = found
        self.state.written[definition] = None
        ty, (arg,) = self.type(stmt.reg.type), map(self.vector, stmt.args)
        return f"call {ty} @{name}({ty} {arg})"

    def _version(self, stmt: Let) -> str:
        """The widest vector version of a function that fits; empty if there is none."""
        function = self.state.math_function(stmt)
        bits = 8 * BYTES[stmt.reg.type]
        fit = [
            version
            for version in self.state.vector.get(function, ())
            if self.count % vecmath.lanes(version) == 0
            and vecmath.lanes(version) * bits <= self.state.width
        ]
        return max(fit, key=vecmath.lanes, default="")

    def _call(self, stmt: Let, version: str) -> str:
        """Calls of a vector function, for some lanes each."""
        self.state.call_attribute(self.state.math_function(stmt))
        out, size, ty = self.state.out, vecmath.lanes(version), stmt.reg.type
        of = f"<{size} x {REGISTER[ty]}>"
        args, parts = [self.vector(arg) for arg in stmt.args], []
        for first in range(0, self.count, size):
            pieces = ", ".join(f"{of} {self._part(a, ty, first, size)}" for a in args)
            parts.append(out.let(f"call {of} @{version}({pieces})"))
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._joined(ty, size, *pair) for pair in pairs]
            size *= 2
        return parts[0]

    def _part(self, vector: str, ty: Scalar, first: int, size: int) -> str:
        places = ", ".join(f"i32 {k}" for k in range(first, first + size))
        of, mask = self.type(ty), f"<{size} x i32> <{places}>"
        return self.state.out.let(f"shufflevector {of} {vector}, {of} poison, {mask}")

    def _joined(self, ty: Scalar, size: int, a: str, b: str) -> str:
        of = f"<{size} x {REGISTER[ty]}>"
        places = ", ".join(f"i32 {k}" for k in range(2 * size))
        mask = f"<{2 * size} x i32> <{places}>"
        return self.state.out.let(f"shufflevector {of} {a}, {of} {b}, {mask}")

    def _scalars(self, stmt: Let) -> str:
        """An instruction without a vector form, for one lane after the other."""
        results = []
        differing = {a for a in stmt.args if isinstance(a, Reg) and self.differs(a)}
        for number in range(self.count):
            with self.named({a: self.lane(a, number) for a in differing}):
                reg = Reg(stmt.reg.name, stmt.reg.type)
                self.emit_plain(Let(reg, stmt.op, stmt.args))
                results.append(self.state.names[reg])
        return self.gathered(stmt.reg.type, results)

    @contextmanager
    def named(self, names: Mapping[Reg, str]) -> Iterator[None]:
        """With these names for registers."""
        self.state.names.update(names)
        yield
        for reg in names:
            del self.state.names[reg]

    def emit_plain(self, stmt: Stmt) -> None:
        """Write a statement whose registers have names, as if there were no lanes."""
        lanes, self.state.lanes = self.state.lanes, None
        self.emit_statement(self.state, stmt)
        self.state.lanes = lanes


def nothing(ty: Scalar) -> str:
    """What changes no sum."""
    return float_literal(-0.0) if is_float(ty) else "0"


def times(state: State, a: str, b: str) -> str:
    """A product of integers; nothing is written if it is known."""
    match a, b:
        case ("0", _) | (_, "0"):
            return "0"
        case ("1", name) | (name, "1"):
            return name
    return state.out.let(f"mul i64 {a}, {b}")


def element(
    state: State, base: str, index: str, elem: Scalar, known: bool = True
) -> str:
    """The address of an element; `known`: there is one."""
    if index == "0":
        return base
    how = "getelementptr inbounds" if known else "getelementptr"
    return state.out.let(f"{how} {STORED[elem]}, ptr {base}, i64 {index}")
