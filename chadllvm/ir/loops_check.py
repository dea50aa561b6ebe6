"""The checker of the loop language: scopes, types, regions and roots.

A register is assigned before it is used, once, and used only in the body that assigns
it or inside of it. A slot is set before it is read. What breaks a rule is our own
defect: an `InternalError` that shows the statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from chadllvm.ir.loops import (
    PTR,
    RESULT,
    ROW_TURN,
    RUNTIME,
    Accumulate,
    AddTo,
    Alloc,
    ArrayParam,
    ArrayResult,
    Atom,
    Branch,
    CallRuntime,
    Check,
    Clear,
    Copy,
    Data,
    For,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    Local,
    LoopFunction,
    Offset,
    Reg,
    Reset,
    Result,
    Return,
    ScalarParam,
    ScalarResult,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
    Subroutine,
    bodies_of,
    operand_types,
    result_of,
)
from chadllvm.ir.op import INSTRUCTIONS
from chadllvm.ir.statements import everywhere
from chadllvm.ir.types import BOOL, F64, I64, Scalar
from chadllvm.support.diagnostic import InternalError

_LETTERS = {"f": F64, "i": I64, "b": BOOL, "p": PTR}

# How many values the message of a failure can show.
MAX_VALUES = 8


def check_loops(function: LoopFunction) -> None:
    """Check a function.

    Raises: InternalError, naming the function and the statement.
    """
    checker = _Checker(function)
    for param in function.params:
        match param:
            case ScalarParam(reg):
                checker.assign(reg, reg.type)
            case ArrayParam(ptr, dims, _):
                checker.assign(ptr, PTR)
                for dim in dims:
                    checker.assign(dim, I64)
            case _:
                assert_never(param)
    checker.body(function.body)
    if checker.entered:
        raise checker.fail(f"{checker.entered} are left")


def _word_types(results: Iterable[Result]) -> list[Scalar]:
    """The types of the values that a `Return` gives."""
    words: list[Scalar] = []
    for result in results:
        match result:
            case ScalarResult(ty):
                words.append(ty)
            case ArrayResult(_, rank):
                words += [PTR, *[I64] * rank]
            case _:
                assert_never(result)
    return words


def _regions(body: Iterable[Stmt]) -> Iterator[int]:
    """The regions that a body allocates in or resets."""
    return (s.region for s in everywhere(body) if isinstance(s, Alloc | Reset))


def _takes_turns(body: Iterable[Stmt]) -> bool:
    """Whether the steps of a loop with this body wait for others at a row."""
    return any(
        stmt.function == ROW_TURN
        if isinstance(stmt, CallRuntime)
        else not isinstance(stmt, For) and any(map(_takes_turns, bodies_of(stmt)))
        for stmt in body
    )


class _Checker:
    """What has been assigned so far; registers leave with the body they are in."""

    def __init__(self, function: LoopFunction) -> None:
        self.function = function
        self.words = _word_types(function.results)
        self.known: set[Reg] = set()
        self.ever: set[Reg] = set()
        self.slots: set[Slot] = set()
        self.scope: list[Reg] = []
        # The subroutines that this is inside of.
        self.entered: list[Subroutine] = []

    def fail(self, problem: str) -> InternalError:
        return InternalError(f"loops of {self.function.name}: {problem}")

    def assign(self, reg: Reg, ty: Scalar) -> None:
        """A register gets its only value."""
        if reg in self.ever:
            raise self.fail(f"{reg.name} is assigned twice")
        if reg.type != ty:
            raise self.fail(f"{reg.name} has type {reg.type}, its value {ty}")
        self.known.add(reg)
        self.ever.add(reg)
        self.scope.append(reg)

    def use(self, atom: Atom, ty: Scalar) -> None:
        """An operand of this type that has a value here."""
        if isinstance(atom, Reg) and atom not in self.known:
            raise self.fail(f"{atom.name} has no value here")
        if atom.type != ty:
            raise self.fail(f"an operand of type {atom.type} where {ty} is needed")

    def read(self, slot: Slot) -> None:
        if slot not in self.slots:
            raise self.fail(f"slot {slot.name} is read before it is set")

    def root(self, *roots: int) -> None:
        for root in roots:
            if not 0 <= root < len(self.function.roots):
                raise self.fail(f"there is no root {root}")

    def region(self, region: int, result: bool) -> None:
        buffers = len(self.entered[-1].buffers) if self.entered else 0
        least = RESULT - buffers if result else 0
        if not least <= region < self.function.regions:
            raise self.fail(f"there is no region {region}")

    def body(self, body: Sequence[Stmt]) -> None:
        """Check statements in order; their registers are unknown afterwards."""
        outer, self.scope = self.scope, []
        for stmt, behind in zip(body, (*body[1:], None), strict=False):
            self.beside(stmt, behind)
            try:
                self.statement(stmt)
            except InternalError as error:
                error.add_note(f"in {stmt}"[:400])
                raise
        self.known.difference_update(self.scope)
        self.scope = outer

    def beside(self, stmt: Stmt, behind: Stmt | None) -> None:
        """A call that does not need the next one stands in front of one like it."""
        if not isinstance(stmt, Invoke) or not stmt.together:
            return
        if not isinstance(behind, Invoke) or behind.subroutine != stmt.subroutine:
            raise self.fail(f"a call of {stmt.subroutine} has none beside it")
        if any(arg in stmt.regs for arg in behind.args):
            raise self.fail(f"a call of {stmt.subroutine} needs the one beside it")

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Let(reg, op, args):
                self.instruction(reg, op, args)
            case Get(reg, slot):
                self.read(slot)
                self.assign(reg, slot.type)
            case Set(slot, value):
                self.use(value, slot.type)
                self.slots.add(slot)
            case Accumulate(slot, value):
                self.read(slot)
                self.use(value, slot.type)
            case For(index, low, high, body, go=go, resume=resume):
                self.use(low, I64)
                self.use(high, I64)
                for place in (go, resume):
                    if place is not None:
                        self.read(place)
                if stmt.ends and (stmt.lanes == 1 or go or resume):
                    raise self.fail("ends overlap where there are no lanes")
                if stmt.commutes and _takes_turns(body):
                    raise self.fail("steps that take turns commute")
                self.assign(index, I64)
                self.body(body)
                self.known.discard(index)
            case Branch(cond, then, orelse):
                self.use(cond, BOOL)
                self.branches(then, orelse)
            case Spread():
                self.spread(stmt)
            case Check(cond, _, values):
                self.use(cond, BOOL)
                if len(values) > MAX_VALUES:
                    raise self.fail(f"a check has {len(values)} values")
                for value in values:
                    self.use(value, value.type)
            case Reset(region):
                self.region(region, result=False)
            case Return(values):
                self.typed(values, self.words)
            case CallRuntime():
                self.runtime(stmt)
            case Invoke():
                self.invoke(stmt)
            case Leave(values):
                self.typed(values, self.entered[-1].results)
            case _:
                self.memory(stmt)

    def memory(self, stmt: Stmt) -> None:
        """A statement about buffers."""
        match stmt:
            case Alloc(reg, region, count, _, root):
                self.region(region, result=True)
                self.root(root)
                self.use(count, I64)
                self.assign(reg, PTR)
            case Local(reg, _, _, root) | Data(reg, _, root):
                self.root(root)
                self.assign(reg, PTR)
            case Offset(reg, ptr, index, extent=extent):
                self.place(ptr, index)
                if extent is not None:
                    self.use(extent, I64)
                self.assign(reg, PTR)
            case Load(reg, ptr, index, root):
                self.root(root)
                self.place(ptr, index)
                self.assign(reg, reg.type)
            case Store(ptr, index, value, root) | AddTo(ptr, index, value, root):
                self.root(root)
                self.place(ptr, index)
                self.use(value, value.type)
            case Clear(ptr, count, _, root):
                self.root(root)
                self.place(ptr, count)
            case Copy(target, source, count, _, target_root, source_root):
                self.root(target_root, source_root)
                self.place(target, count)
                self.place(source, count)
            case (
                Let() | Get() | Set() | Accumulate() | For() | Branch() | Check()
                | Reset() | Return() | CallRuntime() | Invoke() | Leave() | Spread()
            ):  # fmt: skip
                raise AssertionError("not about buffers")
            case _:
                assert_never(stmt)

    def runtime(self, stmt: CallRuntime) -> None:
        """A call of the runtime; what it makes is in region 0."""
        if stmt.function not in RUNTIME:
            raise self.fail(f"the runtime has no function {stmt.function}")
        function = RUNTIME[stmt.function]
        if "a" in function.before:
            self.region(0, result=False)
        if len(stmt.args) != len(function.args):
            raise self.fail(f"{stmt.function} takes {len(function.args)} operands")
        for letter, arg in zip(function.args, stmt.args, strict=True):
            self.use(arg, _LETTERS[letter])
        if (stmt.reg is None) != (function.result == ""):
            raise self.fail(f"the result of {stmt.function} is not what it gives")
        if stmt.reg is not None:
            self.assign(stmt.reg, _LETTERS[function.result])

    def place(self, ptr: Atom, index: Atom) -> None:
        self.use(ptr, PTR)
        self.use(index, I64)

    def typed(self, values: Sequence[Atom], types: Sequence[Scalar]) -> None:
        """The values of a `Return` are those of the results."""
        if len(values) != len(types):
            raise self.fail(f"{len(values)} values returned for {len(types)}")
        for value, ty in zip(values, types, strict=True):
            self.use(value, ty)

    def invoke(self, stmt: Invoke) -> None:
        """A subroutine is checked where it is invoked from outside."""
        called = self.function.subroutine(stmt.subroutine)
        if len(stmt.args) != len(called.params):
            raise self.fail(f"{called.name} takes {len(called.params)} operands")
        for arg, param in zip(stmt.args, called.params, strict=True):
            self.use(arg, param.type)
        if len(stmt.into) != len(called.buffers):
            raise self.fail(f"{called.name} returns {len(called.buffers)} buffers")
        for region in stmt.into:
            self.region(region, result=True)
        for reg, ty in zip(stmt.regs, called.results, strict=True):
            self.assign(reg, ty)
        if called in self.entered:
            return
        self.entered.append(called)
        for reg in (called.turn, *called.params):
            self.assign(reg, reg.type)
        before = set(self.slots)
        self.body(called.body)
        self.slots = before
        self.known.difference_update((called.turn, *called.params))
        self.entered.pop()

    def spread(self, stmt: Spread) -> None:
        """No slot around is read by the bodies; all they allocate in are their own."""
        self.use(stmt.chunks, I64)
        self.use(stmt.lanes, I64)
        self.use(stmt.parts, I64)
        for region in stmt.regions:
            self.region(region, result=False)
        self.assign(stmt.chunk, I64)
        before, self.slots = set(self.slots), set()
        self.body(stmt.body)
        for region in _regions(stmt.body):
            if region not in stmt.regions:
                raise self.fail(f"region {region} belongs to all chunks")
        self.slots = before | set(stmt.results)
        self.assign(stmt.part, I64)
        self.body(stmt.merge)
        self.known.difference_update((stmt.chunk, stmt.part))

    def branches(self, then: Sequence[Stmt], orelse: Sequence[Stmt]) -> None:
        """A slot is set after a branch if both bodies set it, or it was before."""
        before = set(self.slots)
        self.body(then)
        after_then, self.slots = self.slots, before
        self.body(orelse)
        self.slots &= after_then

    def instruction(self, reg: Reg, op: str, args: Sequence[Atom]) -> None:
        if op not in INSTRUCTIONS:
            raise self.fail(f"there is no instruction {op}")
        letters = INSTRUCTIONS[op].params
        if len(letters) != len(args):
            raise self.fail(f"{op} takes {len(letters)} operands, not {len(args)}")
        found = [arg.type for arg in args]
        for ty, arg in zip(operand_types(op, found), args, strict=True):
            self.use(arg, ty)
        self.assign(reg, result_of(op, found))
