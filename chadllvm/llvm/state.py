"""What is known while a function is being written: names, slots, failures, exits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

import numpy as np

from chadllvm.ir.loops import (
    Atom,
    Check,
    Failure,
    For,
    Let,
    LoopFunction,
    Reg,
    Slot,
    Stmt,
    Subroutine,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64, Scalar
from chadllvm.llvm import control, runtime, vecmath
from chadllvm.llvm.alias import AliasScopes
from chadllvm.llvm.copies import Copies, copies_of
from chadllvm.llvm.instructions import sum_flags
from chadllvm.llvm.types import REGISTER, literal
from chadllvm.llvm.writer import Writer
from chadllvm.lower.varying import Varying

# The blocks through which a function is left.
FINISHED = "finished"
NO_MEMORY = "no_memory"
INTERRUPTED = "interrupted"
FAILED = "failed"

# What they tell whoever called.
STATUS = {
    NO_MEMORY: runtime.MEMORY,
    INTERRUPTED: runtime.INTERRUPT,
    FAILED: runtime.PROGRAM,
}

# Attribute groups below this number belong to declarations.
FIRST_CALL_ATTRIBUTE = 3


class Version(Enum):
    """The versions of a subroutine: as it is, for its first levels of calls, and the
    copies that are put into it (`copies.py`)."""

    WHOLE = ""
    TASK = ".task"
    INNER = ".inner"
    HEAD = ".head"

    @property
    def is_copy(self) -> bool:
        return self in (Version.INNER, Version.HEAD)


@dataclass(frozen=True, slots=True)
class Site:
    """What a failed check means: the failure and the types of its values."""

    failure: Failure
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """The lane whose statements are being written; it has buffers of its own."""

    varying: Varying
    number: str
    count: int

    def row(self, out: Writer, index: str) -> str:
        """Where the elements of all lanes at an index begin."""
        return out.let(f"mul i64 {index}, {self.count}")

    def place(self, out: Writer, index: str) -> str:
        """Where the lane's element at an index is."""
        return out.let(f"add i64 {self.row(out, index)}, {self.number}")


class SideBySide(Protocol):
    """The writing of a loop in lanes (`lanes.py`)."""

    def emit(self, stmt: Stmt) -> bool:
        """Write a statement that differs between lanes; else leave it."""

    def inner(self, loop: For, write: Callable[[], None]) -> None:
        """Have an inner loop written, with what belongs around it."""

    def steps(self, loop: For, low: str, high: str, body: Callable[[], None]) -> str:
        """Write an inner loop for most of its steps; where the rest of them begins."""


@dataclass
class State:
    """The state of writing one function."""

    function: LoopFunction
    vector: Mapping[str, tuple[str, ...]]
    alias: AliasScopes
    out: Writer = field(default_factory=Writer)
    names: dict[Reg, str] = field(default_factory=dict)
    # The bytes that bools are passed as.
    bytes: dict[Reg, str] = field(default_factory=dict)
    slots: dict[Slot, str] = field(default_factory=dict)
    # The number of each site, and the checks with their blocks, written at the end.
    sites: dict[Site, int] = field(default_factory=dict)
    checks: list[tuple[str, Check]] = field(default_factory=list)
    # The exit blocks that something jumps to.
    exits: set[str] = field(default_factory=set)
    # Statuses of the runtime that end the function, each with the block it is seen in.
    refused: list[tuple[str, str]] = field(default_factory=list)
    # Blocks that jump to the end with success.
    returns: list[str] = field(default_factory=list)
    # The ends of runs of a subroutine, each with what the run returns.
    left: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    # Definitions of constant arrays, and arrays to link by symbol.
    constants: list[str] = field(default_factory=list)
    data: list[tuple[str, np.ndarray]] = field(default_factory=list)
    # The functions of libm that are called, in order.
    math: list[str] = field(default_factory=list)
    # The functions of vectors that are written out, as text.
    written: dict[str, None] = field(default_factory=dict)
    # The functions of the runtime's structures that are called, in order.
    runtime: dict[str, None] = field(default_factory=dict)
    # The sizes of elements that buffers are asked for by calls.
    taken: dict[int, None] = field(default_factory=dict)
    symbol: str = ""
    # What this is the code of, if it is not the function itself; the subroutines that
    # it is inside of, from outside inwards, and the addresses of their environments.
    subroutine: Subroutine | None = None
    inside: tuple[str, ...] = ()
    around: dict[str, str] = field(default_factory=dict)
    # Which version of the subroutine this is; of how many calls those are that the one
    # for the first levels has together.
    version: Version = Version.WHOLE
    groups: set[int] = field(default_factory=set)
    # The copies of each subroutine that are put into it.
    copies: dict[str, Copies] = field(default_factory=dict)
    # What is in the environment of each subroutine.
    environments: dict[str, Any] = field(default_factory=dict)
    # The statement in front of which a subroutine looks around.
    look_before: Stmt | None = None
    # What the subroutine's regions held at its entry: the cursor, and the chunk.
    marks: dict[int, tuple[str, str]] = field(default_factory=dict)
    # Subroutines that are invoked and not written yet, each with its environment and
    # with the state of the first place that invokes it.
    pending: list[tuple[Subroutine, list[Any], State]] = field(default_factory=list)
    # The preferred width of vectors in bits.
    width: int = 256
    # The calling convention of subroutines, with a space behind it, or nothing.
    convention: str = ""
    # The buffers that are result arrays, with their numbers.
    returned: dict[Reg, int] = field(default_factory=dict)
    # What LLVM must not see a variable in (`LoopBuilder.stride`).
    strides: set[Reg] = field(default_factory=set)
    # The products that are not contracted with the sums that they go into.
    rounded: frozenset[Reg] = frozenset()
    # The loop in lanes that this is inside of, or the one lane of it.
    lanes: SideBySide | None = None
    lane: Lane | None = None
    # The group of the accesses in the loop that is being written, and the metadata of
    # all loops that have one (`independent.py`).
    group: str = ""
    independent: list[str] = field(default_factory=list)
    # Loops whose steps need nothing of each other, as their buffers are other ones.
    told_apart: frozenset[For] = frozenset()
    # What is read that may be stored again (`chosen.py`).
    chosen: set[Reg] = field(default_factory=set)
    # The parts of loops over chunks, and where the regions of this one are.
    parts: list[Any] = field(default_factory=list)
    # How a body is cut into sections, if it is; whether this has arenas.
    cut: Callable[[State, Sequence[Stmt]], Iterator[Any]] | None = None
    arenas: bool = False
    # Further definitions, as text.
    texts: list[str] = field(default_factory=list)
    regions: dict[int, int] = field(default_factory=dict)
    _fuel: str = ""
    _opaque: dict[tuple[float | int, Scalar], str] = field(default_factory=dict)

    def enter(self, subroutine: Subroutine, version: Version) -> State:
        """The state of writing a version of a subroutine."""
        inner = self.apart()
        inner.subroutine = subroutine
        inner.inside = (*self.inside, subroutine.name)
        inner.around = {subroutine.name: "%env"}
        inner.pending = self.pending
        inner.environments = self.environments
        inner.version = version
        for param in subroutine.params:
            inner.bind(param)
        return inner

    def apart(self, regions: Sequence[int] = ()) -> State:
        """The state of writing another function, which has these regions.

        It shares what belongs to the module. Its names are its own.
        """
        return State(
            self.function,
            self.vector,
            self.alias,
            sites=self.sites,
            constants=self.constants,
            data=self.data,
            math=self.math,
            written=self.written,
            runtime=self.runtime,
            taken=self.taken,
            independent=self.independent,
            told_apart=self.told_apart,
            copies=self.copies,
            symbol=self.symbol,
            width=self.width,
            convention=self.convention,
            strides=self.strides,
            rounded=self.rounded,
            parts=self.parts,
            texts=self.texts,
            regions={region: k for k, region in enumerate(regions)},
        )

    def section(self) -> State:
        """The state of writing a section of what this writes."""
        inner = self.apart()
        inner.regions, inner.returned = self.regions, self.returned
        inner.chosen, inner.arenas = self.chosen, self.arenas
        return inner

    @property
    def has_own_arenas(self) -> bool:
        """Whether it has the arenas of the function, one for each region."""
        return self.arenas and not self.regions and self.subroutine is None

    def symbol_of(
        self, subroutine: Subroutine, version: Version = Version.WHOLE
    ) -> str:
        """The symbol of a version of a subroutine."""
        return f'"{self.symbol}:{subroutine.name}{version.value}"'

    def copies_of(self, subroutine: Subroutine) -> Copies:
        """The copies of a subroutine that are put into it."""
        if subroutine.name not in self.copies:
            self.copies[subroutine.name] = copies_of(subroutine)
        return self.copies[subroutine.name]

    def turn_of(self, region: int) -> Reg | None:
        """The register that says which of its two a region is, if it has two."""
        for subroutine in self.function.subroutines:
            if region in subroutine.regions:
                return subroutine.turn
        return None

    def name(self, atom: Atom) -> str:
        """How an atom is written as an operand."""
        return literal(atom) if isinstance(atom, Lit) else self.names[atom]

    def typed(self, atom: Atom) -> str:
        """The same, with its type in front."""
        return f"{REGISTER[atom.type]} {self.name(atom)}"

    def bind(self, reg: Reg) -> str:
        """A new name for a register."""
        name = self.out.fresh(reg.name)
        self.names[reg] = name
        return name

    def slot(self, slot: Slot) -> str:
        """The stack slot of a slot, made at its first use."""
        if slot not in self.slots:
            self.slots[slot] = self.out.alloca(REGISTER[slot.type], slot.name)
        return self.slots[slot]

    def exit(self, label: str) -> str:
        """The label of an exit block, which will then be written."""
        self.exits.add(label)
        return label

    def failure(self, check: Check) -> str:
        """The label of the block that reports a failed check."""
        label = self.out.fresh_label("check")
        self.checks.append((label, check))
        return label

    def call_attribute(self, function: str) -> str:
        """Note a call of libm; the attribute that names its vector versions, or that
        forbids LLVM to put another function in its place."""
        if function not in self.math:
            self.math.append(function)
        if not self.function.arithmetic.own_functions:
            return " nobuiltin"
        if not self.vector.get(function):
            return ""
        return f" #{FIRST_CALL_ATTRIBUTE + self.math.index(function)}"

    def opaque(self, value: float | int, ty: Scalar) -> str:
        """A number that LLVM does not know: it is loaded when the function begins."""
        key = value, ty
        if key not in self._opaque:
            register, name = REGISTER[ty], f"@chad_opaque_{len(self.constants)}"
            text = literal(Lit(value))
            self.constants.append(f"{name} = private global {register} {text}")
            self._opaque[key] = found = self.out.fresh("opaque")
            load = f"{found} = load volatile {register}, ptr {name}"
            self.out.entry.append(f"  {load}")
        return self._opaque[key]

    def stride(self, reg: Reg, name: str) -> str:
        """A stride, whose value has this name: a sum is no variable to LLVM."""
        self.strides.add(reg)
        return self.out.let(f"add nsw i64 {name}, {self.opaque(0, I64)}", reg.name)

    def contracts(self, let: Let) -> bool:
        """Whether an instruction may be contracted with another one."""
        return self.function.arithmetic.contract and let.reg not in self.rounded

    def math_function(self, let: Let) -> str:
        """The symbol of the elementary function that an instruction is a call of."""
        types = [arg.type for arg in let.args]
        return vecmath.function_of(let.op, types, self.function.arithmetic)

    @property
    def sum_flags(self) -> str:
        """What is allowed for the additions of sums."""
        return sum_flags(self.function.arithmetic)

    @property
    def fuel(self) -> str:
        """The slot that counts iterations down to the next look for interrupts."""
        if not self._fuel:
            self._fuel = self.out.alloca("i64", "fuel")
            self.out.entry.append(f"  store i64 {control.FUEL}, ptr {self._fuel}")
        return self._fuel
