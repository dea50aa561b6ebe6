"""The loop language as readable text: a mixture of Python and C.

    def f(x: f64, a: f64[n]) -> f64
      s := 0.0
      for i in 0 .. n:
        v = a[i]
        s += v
      return s

Registers are `name = …`, slots `name := …`; registers of the same name are told apart
by a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import assert_never

from chadllvm.ir.loops import (
    RESULT,
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
    LoopNote,
    Offset,
    Param,
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
)
from chadllvm.ir.pretty import line_at, literal_text
from chadllvm.ir.term import Lit

# fmt: off
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "powi": "**",
    "iadd": "+", "isub": "-", "imul": "*", "idiv": "/", "irem": "%",
    "flt": "<", "fle": "<=", "feq": "==", "fne": "!=",
    "ilt": "<", "ile": "<=", "ieq": "==", "ine": "!=", "iult": "<u",
    "and": "and", "or": "or",
}
# fmt: on
PREFIX = {"neg": "-", "ineg": "-", "not": "not "}


def pretty_loops(function: LoopFunction) -> str:
    """The text of a function, with a newline at its end."""
    return "\n".join([*loop_lines(function), ""])


def loop_lines(function: LoopFunction) -> list[str]:
    """Its lines; checks and the loops that there are notes of have places (`Line`)."""
    printer = _Printer(function.notes)
    params = ", ".join(printer.param(param) for param in function.params)
    results = ", ".join(_result(result) for result in function.results)
    head = f"def {function.name}({params}) -> {results or '()'}"
    parts = [line for s in function.subroutines for line in printer.subroutine(s)]
    return [head, *parts, *printer.body(function.body, 1)]


def _result(result: Result) -> str:
    match result:
        case ScalarResult(ty):
            return str(ty)
        case ArrayResult(elem, rank):
            return f"{elem}[{', '.join([':'] * rank)}]"
        case _:
            assert_never(result)


def _home(region: int) -> str:
    if region == RESULT:
        return "result"
    return f"region {region}" if region >= 0 else f"result {RESULT - 1 - region}"


class _Printer:
    """Gives every register and slot a name of its own."""

    def __init__(self, notes: Sequence[LoopNote]) -> None:
        self._notes = notes
        self._names: dict[Reg | Slot, str] = {}
        self._count: Counter[str] = Counter()

    def name(self, item: Reg | Slot) -> str:
        """The first register `t` is `t`, the next `t2`, and so on."""
        if item not in self._names:
            while True:
                self._count[item.name] += 1
                number = self._count[item.name]
                name = item.name if number == 1 else f"{item.name}{number}"
                if number == 1 or not self._count[name]:
                    break
            self._count[name] = max(self._count[name], 1)
            self._names[item] = name
        return self._names[item]

    def atom(self, atom: Atom) -> str:
        if not isinstance(atom, Lit):
            return self.name(atom)
        return literal_text(atom) if atom.is_single else repr(atom.value)

    def atoms(self, atoms: Iterable[Atom]) -> str:
        return ", ".join(self.atom(atom) for atom in atoms)

    def param(self, param: Param) -> str:
        match param:
            case ScalarParam(reg):
                return f"{self.name(reg)}: {reg.type}"
            case ArrayParam(ptr, dims, elem):
                name = self.name(ptr)
                return f"{name}: {elem}[{self.atoms(dims)}]"
            case _:
                assert_never(param)

    def subroutine(self, subroutine: Subroutine) -> list[str]:
        params = ", ".join(f"{self.name(p)}: {p.type}" for p in subroutine.params)
        results = ", ".join(map(str, subroutine.results))
        head = f"  def {subroutine.name}({params}) -> ({results})"
        if subroutine.regions:
            listed = ", ".join(map(str, subroutine.regions))
            head += f"  # regions {listed} by {self.name(subroutine.turn)}"
        return [head, *self.body(subroutine.body, 2)]

    def body(self, body: Iterable[Stmt], depth: int) -> list[str]:
        lines: list[str] = []
        for stmt in body:
            lines += self.statement(stmt, depth)
        return lines or ["  " * depth + "pass"]

    def statement(self, stmt: Stmt, depth: int) -> list[str]:
        pad = "  " * depth
        match stmt:
            case For(index, low, high, inner, poll, go, lanes=lanes, resume=resume):
                bounds = f"{self.atom(low)} .. {self.atom(high)}"
                if go is not None:
                    bounds += f" while {self.name(go)}"
                notes = ["polls"] * poll + [f"{lanes} lanes"] * (lanes > 1)
                notes += ["by rows"] * stmt.rows + ["ends overlap"] * stmt.ends
                if resume is not None:
                    notes.append(f"to {self.name(resume)} if they are left")
                note = f"  # {', '.join(notes)}" if notes else ""
                head = f"{pad}for {self.name(index)} in {bounds}:{note}"
                if stmt.note >= 0:
                    head = line_at(head, self._notes[stmt.note].span)
                return [head, *self.body(inner, depth + 1)]
            case Branch(cond, then, orelse):
                note = "  # grows" * stmt.grows
                head = f"{pad}if {self.atom(cond)}:{note}"
                lines = [head, *self.body(then, depth + 1)]
                if orelse:
                    lines += [f"{pad}else:", *self.body(orelse, depth + 1)]
                return lines
            case Spread(chunk, chunks, lanes, inner, merge, regions, patience, keeps):
                bounds = f"0 .. {self.atom(chunks)} in {self.atom(lanes)} lanes"
                which = "kept regions" if keeps else "regions"
                own = f"  # {which} {', '.join(map(str, regions))}" if regions else ""
                word = "spread" if patience is None else "strands"
                head = f"{pad}{word} {self.name(chunk)} in {bounds}:{own}"
                lines = [head, *self.body(inner, depth + 1)]
                if merge:
                    parts = f" {self.name(stmt.part)} in 0 .. {self.atom(stmt.parts)}"
                    several = "" if stmt.parts == Lit(1) else parts
                    head = f"{pad}merge{several}:"
                    lines += [head, *self.body(merge, depth + 1)]
                return lines
            case Check(failure=failure):
                return [line_at(pad + self.line(stmt), failure.span)]
            case _:
                return [pad + self.line(stmt)]

    def line(self, stmt: Stmt) -> str:
        """A statement without a body."""
        match stmt:
            case Let(reg, op, args):
                return f"{self.name(reg)} = {self.operation(op, args)}"
            case Get(reg, slot):
                return f"{self.name(reg)} = {self.name(slot)}"
            case Set(slot, value):
                return f"{self.name(slot)} := {self.atom(value)}"
            case Accumulate(slot, value):
                return f"{self.name(slot)} += {self.atom(value)}"
            case Check(cond, failure, values):
                shown = f" ({self.atoms(values)})" if values else ""
                text = f"{failure.kind}: {failure.message}"
                return f"check {self.atom(cond)} else {text}{shown}"
            case Reset(region, gives):
                return f"{'give back' if gives else 'reset'} region {region}"
            case CallRuntime(reg, function, args):
                to = "" if reg is None else f"{self.name(reg)} = "
                return f"{to}{function}({self.atoms(args)})"
            case Return(values) | Leave(values):
                return f"return {self.atoms(values)}"
            case Invoke(regs, name, args, into, together):
                homes = f" into {', '.join(map(_home, into))}" if into else ""
                to = f"{self.atoms(regs)} = " if regs else ""
                beside = " beside" if together else ""
                return f"{to}{name}({self.atoms(args)}){homes}{beside}"
            case _:
                return self.memory(stmt)

    def memory(self, stmt: Stmt) -> str:
        """A statement about buffers."""
        match stmt:
            case Alloc(reg, region, count, elem, _, zero, pieces):
                kind = "zeros" if zero else "buffer"
                what = f"{kind} {elem}[{self.atom(count)}] in {_home(region)}"
                return f"{self.name(reg)} = {what}{_note(pieces)}"
            case Local(reg, count, elem):
                return f"{self.name(reg)} = local {elem}[{count}]"
            case Data(reg, value):
                return f"{self.name(reg)} = constant {value.dtype}{list(value.shape)}"
            case Offset(reg, ptr, index):
                return f"{self.name(reg)} = &{self.place(ptr, index)}"
            case Load(reg, ptr, index):
                return f"{self.name(reg)} = {self.place(ptr, index)}"
            case Store(ptr, index, value):
                return f"{self.place(ptr, index)} = {self.atom(value)}"
            case AddTo(ptr, index, value):
                return f"{self.place(ptr, index)} += {self.atom(value)}"
            case Clear(ptr, count, pieces=pieces):
                return f"{self.part(ptr, count)} = 0{_note(pieces)}"
            case Copy(target, source, count, pieces=pieces):
                ends = self.part(target, count), self.part(source, count)
                return f"{ends[0]} = {ends[1]}{_note(pieces)}"
            case (
                Let() | Get() | Set() | Accumulate() | Check() | Reset() | Return()
                | For() | Branch() | CallRuntime() | Invoke() | Leave() | Spread()
            ):  # fmt: skip
                raise AssertionError("not about buffers")
            case _:
                assert_never(stmt)

    def part(self, ptr: Atom, count: Atom) -> str:
        return f"{self.atom(ptr)}[0 .. {self.atom(count)}]"

    def place(self, ptr: Atom, index: Atom) -> str:
        return f"{self.atom(ptr)}[{self.atom(index)}]"

    def operation(self, op: str, args: tuple[Atom, ...]) -> str:
        if op in INFIX:
            left, right = args
            return f"{self.atom(left)} {INFIX[op]} {self.atom(right)}"
        if op in PREFIX:
            return f"{PREFIX[op]}{self.atom(args[0])}"
        return f"{op}({self.atoms(args)})"


def _note(pieces: bool) -> str:
    return "  # in pieces" if pieces else ""
