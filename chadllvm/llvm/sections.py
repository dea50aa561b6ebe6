"""Long functions are cut into sections, which become functions of their own.

    x = …                        store x to env
    for i in 0 .. n: … x …       call name.section.0(ctx, arenas, env)
    y = …                   →    y = load from env
    for j in 0 .. n: … y …       store y …; call name.section.1(…)

LLVM's passes take time quadratic in the number of loops that follow each other in a
function, and so does its code generator; of short functions they take little each, and
so a long program is optimised as well as a short one. A section sees the registers and
slots of the place around it through an environment, as the bodies of loops over chunks
do, and leaves there the registers that are used behind it. What has a section to itself
takes far longer than a call: it is long, and hardly ever without loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chadllvm.ir.loops import (
    Check,
    For,
    Invoke,
    Leave,
    Local,
    LoopFunction,
    Reg,
    Return,
    Slot,
    Stmt,
    bodies_of,
)
from chadllvm.ir.statements import assigned, everywhere, items_of, whole
from chadllvm.llvm import runtime
from chadllvm.llvm.invoke import Item, environment, see, seen_by, word_at, written
from chadllvm.llvm.state import State
from chadllvm.llvm.writer import LIKELY

# What is longer is cut into sections that are no longer, and no shorter than this: in
# lines of LLVM IR, as far as they are known here.
LONG = 8_000
MOST = 1_500
LEAST = 300

# The lines of a statement, of what a check has besides, of a loop, and how many times
# the body of a loop in lanes stands there: for vectors, for what is left, and between.
_STATEMENT, _CHECK, _LOOP, _LANES = 3, 4, 12, 3


@dataclass(frozen=True, slots=True)
class Section:
    """Statements that are to become a function of their own, of one that is written.

    `items` are what it sees of the place around it; `made` the registers that are used
    behind it, which follow them in the environment.
    """

    symbol: str
    body: tuple[Stmt, ...]
    items: tuple[Item, ...]
    made: tuple[Reg, ...]
    around: State


class Cutting:
    """Knows what is long in a function, and where its slots are used."""

    def __init__(self, function: LoopFunction) -> None:
        self._function = function
        self._lengths: dict[Stmt, int] = {}
        self.is_needed = self._all(function.body) > LONG and not function.sanitize
        self._uses: Counter[Slot] = Counter()
        if self.is_needed:
            self._uses.update(_slots(whole(function)))
            # What is invoked sees slots of the place around it.
            for called in function.subroutines:
                items = environment(function, called, [])
                self._uses.update(item for item in items if isinstance(item, Slot))

    def _all(self, body: Iterable[Stmt]) -> int:
        return sum(map(self._length, body))

    def _length(self, stmt: Stmt) -> int:
        if stmt not in self._lengths:
            length = sum(map(self._all, bodies_of(stmt)))
            if isinstance(stmt, For):
                length = _LOOP + length * (_LANES if stmt.lanes > 1 else 1)
            self._lengths[stmt] = _STATEMENT + _CHECK * isinstance(stmt, Check) + length
        return self._lengths[stmt]

    def cut(self, state: State, body: Sequence[Stmt]) -> Iterator[Stmt | Section]:
        """The statements of a body in order, in sections if there are many."""
        in_lanes = state.lanes is not None or state.lane is not None
        if in_lanes or self._all(body) <= MOST:
            yield from body
            return
        seen = [seen_by(self._function, (stmt,)) for stmt in body]
        last = {item: k for k, used in enumerate(seen) for item in used}

        def section(begin: int, end: int) -> Iterator[Stmt | Section]:
            inside = tuple(body[begin:end])
            if self._all(inside) < LEAST:
                yield from inside
                return
            own = Counter(_slots(everywhere(inside)))
            made = [reg for stmt in inside for reg in assigned(stmt)]
            inner = {*made, *(slot for slot in own if own[slot] == self._uses[slot])}
            used = dict.fromkeys(i for items in seen[begin:end] for i in items)
            items = tuple(item for item in used if item not in inner)
            left = tuple(reg for reg in made if last.get(reg, 0) >= end)
            symbol = f'"{state.symbol}:section.{len(state.parts)}"'
            yield Section(symbol, inside, items, left, state)

        begin, length = 0, 0
        for k, stmt in enumerate(body):
            own = self._length(stmt)
            stays = own > MOST or not _may_go(stmt)
            if stays or length + own > MOST:
                yield from section(begin, k)
                begin, length = k, 0
            if stays:
                yield stmt
                begin = k + 1
            else:
                length += own
        yield from section(begin, len(body))


def _may_go(stmt: Stmt) -> bool:
    """Whether a statement may be in a section.

    A local buffer is on the stack of who makes it, and a return is one from there; what
    is invoked stands at the place where it is.
    """
    return not isinstance(stmt, Local) and not any(
        isinstance(inner, Return | Leave | Invoke) for inner in everywhere((stmt,))
    )


def _slots(statements: Iterable[Stmt]) -> Iterator[Slot]:
    for stmt in statements:
        yield from (item for item in items_of(stmt) if isinstance(item, Slot))


def emit_section(state: State, section: Section) -> None:
    """Call a section; leave if it fails."""
    out, items, made = state.out, section.items, section.made
    state.parts.append(section)
    env = written(state, items, out.words(len(items) + len(made)))
    args = f"ptr %ctx, ptr {'%arenas' if state.arenas else 'null'}, ptr {env}"
    status = out.let(f"call i32 @{section.symbol}({args})", "status")
    good, bad = out.fresh_label("done"), out.fresh_label("refused")
    out.branch(out.let(f"icmp eq i32 {status}, {runtime.OK}"), good, bad, LIKELY)
    state.refused.append((status, bad))
    out.start(good)
    for k, reg in enumerate(made, len(items)):
        see(state, reg, k, env)


def section_head(section: Section) -> str:
    """The line that the definition begins with."""
    params = "ptr %ctx, ptr %arenas, ptr noalias %env"
    return f"define internal i32 @{section.symbol}({params}) noinline #0 {{"


def begin(state: State, section: Section) -> None:
    """Read the environment at the beginning of a section."""
    for k, item in enumerate(section.items):
        see(state, item, k)


def end(state: State, section: Section) -> None:
    """Leave what is used behind the section in the environment."""
    for k, reg in enumerate(section.made, len(section.items)):
        state.out.put(f"store {state.typed(reg)}, ptr {word_at(state, '%env', k)}")
