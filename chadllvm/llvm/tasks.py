"""Calls of a subroutine that may run at the same time.

The first levels of calls are a version of the subroutine of its own, which does all it
does with itself by way of *parts*: functions that the runtime may have another thread
run, see "Pairs" in `chad_rt.h`. Whom a part calls, and what with, stands in a block in
the frame of who asks for it:

    i32 name.part.k(ctx, block, _)      runs call k of those that are together
    i32 name.rest.k.n(ctx, block, _)    runs the calls k … n - 1, as pairs

Another thread has arenas of its own, and of the environment a copy, in which what calls
collect (`Tape`) is empty, and there is no room for nodes. That copy and the arenas are
kept. Where the copy is, and `AWAY`, becomes the number of the call; what its number is
there stands in the copy. Who is given such a number has a copy of the environment that
leads there. Cells that calls add to are copied whether or not another thread runs the
call, so that the sums do not depend on it.

Once another thread has taken the calls from k on (`TAKEN`), those behind k are no
longer run in their order by who owns the block: it may take one of them back where it
waits for a deeper call of its own. Its arenas are that call's then, and what calls
allocate there is gone as soon as that returns. So it runs what was taken as another
thread does, in arenas apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chadllvm.ir.loops import Invoke, Private, Slot, Subroutine, Tasks
from chadllvm.ir.term import Lit
from chadllvm.llvm import runtime
from chadllvm.llvm.fork import FORK, leave
from chadllvm.llvm.invoke import (
    Item,
    arena_of,
    enter,
    mark,
    next_turn,
    release,
    result_type,
    word_at,
)
from chadllvm.llvm.levels import ANY, WAY, levels_down, levels_of, ways_of
from chadllvm.llvm.returned import arena_at, bring_home, give_back_own
from chadllvm.llvm.state import NO_MEMORY, State, Version
from chadllvm.llvm.types import BYTES, REGISTER
from chadllvm.llvm.writer import LIKELY, UNLIKELY

# The words of a block; behind them stand the operands and the results of each call, and
# if there are arrays among these, where each shall be, and the arena where all are.
ENV, ARENAS, OWNER, TURN, LEVEL, FLOOR, FORKS, PRIVATE, WAYS, TAKEN, HEAD = range(11)

# Numbers from here on say where something has been collected: 2^62. Those of calls,
# which are places in a buffer, or -1 minus that, are smaller.
AWAY = 1 << 62

# This bit is turned in the number of a call of the first levels.
_FIRST = 1 << 61

# The further parameters of the version for the first levels. `ways`: a bit for each of
# the calls that are together, set if all around are at this place among those.
MORE = "i64 %level, i64 %floor, i64 %ways"

_PAIR = """\
define internal i32 @{name}(ptr %ctx, ptr %first, ptr %second, ptr %block) #0 {{
  {fork}
  %forks.at = getelementptr inbounds i64, ptr %block, i64 {forks}
  %forks = load i64, ptr %forks.at
  %alone = icmp eq i64 %forks, 0
  br i1 %alone, label %one, label %leave
one:
  %first.done = call i32 %first(ptr %ctx, ptr %block, i64 0)
  br label %own
{leave}
}}"""

_ADD = """\
define internal void @{name}.{type}(ptr noalias %to, ptr noalias %from, i64 %n) #0 {{
  br label %head
head:
  %k = phi i64 [ 0, %0 ], [ %next, %step ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %step, label %end
step:
  %to.at = getelementptr inbounds {type}, ptr %to, i64 %k
  %from.at = getelementptr inbounds {type}, ptr %from, i64 %k
  %a = load {type}, ptr %to.at
  %b = load {type}, ptr %from.at
  %sum = fadd {type} %a, %b
  store {type} %sum, ptr %to.at
  %next = add nuw nsw i64 %k, 1
  br label %head
end:
  ret void
}}"""


# Who asks for parts.


def emit_divide(state: State, stmt: Invoke, called: Subroutine) -> None:
    """Invoke a subroutine from outside, so that it may divide."""
    tasks = _tasks(called)
    env = enter(state, called)
    levels, floor = levels_of(state, tasks)
    block = _block(state, called, 1)
    head = {ENV: f"ptr {env}", TURN: "i64 0", LEVEL: f"i64 {levels}"}
    head |= {FLOOR: f"i64 {floor}", WAYS: f"i64 {0 if tasks.cells else ANY}"}
    _fill(state, block, head, (stmt,))
    run = f"ptr @{_symbol(state, called, 'part.0')}, ptr {block}"
    args = f"ptr %ctx, ptr %arenas, {run}, i64 {tasks.patience}"
    _end(state, state.out.let(f"call i32 @chad_divide({args})", "status"))
    _take(state, block, called, (stmt,))


def emit_together(state: State, stmts: Sequence[Invoke]) -> None:
    """Invocations by the first levels of a subroutine of itself."""
    out, called = state.out, state.subroutine
    assert called is not None
    tasks, count = _tasks(called), len(stmts)
    state.groups.add(count)
    block = _block(state, called, count)
    level = out.let(f"sub nsw i64 %level, {levels_down(count)}", "level")
    forks = out.let("icmp sgt i64 %level, %floor")
    turn = "0"
    if called.regions:
        turn = next_turn(state, called, stmts[0])
    head = {ENV: "ptr %env", TURN: f"i64 {turn}", LEVEL: f"i64 {level}"}
    head[FORKS] = f"i64 {out.let(f'zext i1 {forks} to i64')}"
    head |= {FLOOR: "i64 %floor", WAYS: f"i64 {ways_of(state)}"}
    _fill(state, block, head, stmts)
    copies = _make_copies(state, tasks, block, forks, count)
    part = _symbol(state, called, "part.0")
    args = f"ptr %ctx, ptr {block}"
    if count == 1:
        status = out.let(f"call i32 @{part}({args}, i64 0)", "status")
    else:
        pair = _symbol(state, called, "pair")
        run = f"ptr @{part}, ptr @{_rest(state, called, 1, count)}"
        status = out.let(f"call i32 @{pair}(ptr %ctx, {run}, ptr {block})", "status")
    _end(state, status)
    if copies is not None:
        _add_copies(state, tasks, copies, forks)
    if called.buffers:
        for k, stmt in enumerate(stmts):
            bring_home(state, block, called, stmt, HEAD + k * _size(called))
    _take(state, block, called, stmts)
    if tasks.tape is not None:
        for stmt in stmts:
            _count_below(state, called, stmt)


def _tasks(called: Subroutine) -> Tasks:
    assert called.tasks is not None
    return called.tasks


def _own_slots(tasks: Tasks) -> list[tuple[Slot, Lit | None]]:
    """The slots that a call has for itself where another thread runs it, and how each
    begins; None: a pointer to nothing."""
    slots: list[tuple[Slot, Lit | None]] = [(room, Lit(0)) for room in tasks.rooms]
    if tasks.tape is not None:
        slots += [*tasks.tape.slots, (tasks.tape.below, Lit(0))]
    return slots


def _symbol(state: State, called: Subroutine, ending: str) -> str:
    return f'"{state.symbol}:{called.name}.{ending}"'


def _rest(state: State, called: Subroutine, k: int, count: int) -> str:
    """The function that runs the calls from k on."""
    ending = f"rest.{k}.{count}" if k + 1 < count else f"part.{k}"
    return _symbol(state, called, ending)


def _size(called: Subroutine) -> int:
    """The words of one call in a block."""
    return _homes(called) + (len(called.buffers) + 1 if called.buffers else 0)


def _homes(called: Subroutine) -> int:
    """The words of one call in front of those that say where arrays shall be."""
    return len(called.params) + len(called.results)


def _block(state: State, called: Subroutine, count: int) -> str:
    return state.out.alloca(f"[{HEAD + count * _size(called)} x i64]", "block")


def _fill(
    state: State, block: str, head: dict[int, str], stmts: Sequence[Invoke]
) -> None:
    """Write down what the parts need."""
    out = state.out
    whole = {OWNER: "ptr %ctx", ARENAS: "ptr %arenas"}
    whole |= dict.fromkeys((FORKS, PRIVATE, TAKEN), "i64 0")
    for word, value in {**whole, **head}.items():
        out.put(f"store {value}, ptr {word_at(state, block, word)}, align 8")
    place = HEAD
    for stmt in stmts:
        for k, arg in enumerate(stmt.args):
            at = word_at(state, block, place + k)
            out.put(f"store {state.typed(arg)}, ptr {at}, align 8")
        place += len(stmt.args) + len(stmt.regs)
        homes = [arena_of(state, region) for region in stmt.into]
        for home in [*homes, "null"] if homes else []:
            out.put(f"store ptr {home}, ptr {word_at(state, block, place)}, align 8")
            place += 1


def _take(
    state: State, block: str, called: Subroutine, stmts: Sequence[Invoke]
) -> None:
    """What the calls have returned."""
    place = HEAD
    for stmt in stmts:
        for k, reg in enumerate(stmt.regs, place + len(stmt.args)):
            load = f"load {REGISTER[reg.type]}, ptr {word_at(state, block, k)}, align 8"
            state.names[reg] = state.out.let(load, reg.name)
        place += _size(called)


def _end(state: State, status: str) -> None:
    """Leave if a call has failed."""
    out = state.out
    good, bad = out.fresh_label("returned"), out.fresh_label("refused")
    out.branch(out.let(f"icmp eq i32 {status}, {runtime.OK}"), good, bad, LIKELY)
    state.refused.append((status, bad))
    out.start(good)


# What calls have collected elsewhere.


def _count_below(state: State, called: Subroutine, stmt: Invoke) -> None:
    """Count what a call has collected, if that is elsewhere."""
    out, tape = state.out, _tasks(called).tape
    assert tape is not None
    number = state.names[stmt.regs[tape.number]]
    away, after = out.fresh_label("away"), out.fresh_label("counted")
    out.branch(_is_away(state, number), away, after, UNLIKELY)
    out.start(away)
    there, items = _place(state, number), state.environments[called.name]
    total = out.let(f"load i64, ptr {state.slots[tape.below]}")
    for slot in (tape.used, tape.below):
        at = out.let(f"load ptr, ptr {word_at(state, there, items.index(slot))}")
        total = out.let(f"add i64 {total}, {out.let(f'load i64, ptr {at}')}")
    out.put(f"store i64 {total}, ptr {state.slots[tape.below]}")
    out.jump(after)
    out.start(after)


def _is_away(state: State, number: str) -> str:
    return state.out.let(f"icmp sge i64 {number}, {AWAY}")


def _place(state: State, number: str) -> str:
    """The environment that the number of a call stands for."""
    place = state.out.let(f"sub i64 {number}, {AWAY}")
    return state.out.let(f"inttoptr i64 {place} to ptr")


# Copies of cells.


@dataclass(frozen=True, slots=True)
class _Copies:
    """Where the address of each copy is, and what their region held before."""

    places: Sequence[str]
    held: tuple[str, str]


def _make_copies(
    state: State, tasks: Tasks, block: str, forks: str, count: int
) -> _Copies | None:
    """Room for copies of the cells, if there are to be any."""
    number = (count - 1) * len(tasks.cells)
    if not number:
        return None
    out = state.out
    table = out.alloca(f"[{number} x ptr]", "copies")
    region = tasks.region
    mark(state, region)
    held = state.marks.pop(region)
    places = [word_at(state, table, k) for k in range(number)]
    make, after = out.fresh_label("copies"), out.fresh_label("made")
    out.branch(forks, make, after)
    out.start(make)
    for k, place in enumerate(places):
        cell = tasks.cells[k % len(tasks.cells)]
        size = runtime.emit_bytes(out, state.name(cell.count), BYTES[cell.elem])
        arena, fail = arena_of(state, region), state.exit(NO_MEMORY)
        copy = runtime.emit_arena_alloc(out, arena, size, "", fail)
        out.put(f"store ptr {copy}, ptr {place}, align 8")
    out.put(f"store ptr {table}, ptr {word_at(state, block, PRIVATE)}, align 8")
    out.jump(after)
    out.start(after)
    return _Copies(places, held)


def _cell(state: State, cell: Private) -> str:
    """The address of what the first of the calls adds to."""
    if isinstance(cell.ptr, Slot):
        return state.slots[cell.ptr]
    return state.names[cell.ptr]


def _add_copies(state: State, tasks: Tasks, copies: _Copies, forks: str) -> None:
    """Add the copies to the cells, in the order of the calls."""
    out, called = state.out, state.subroutine
    assert called is not None
    add, after = out.fresh_label("add"), out.fresh_label("added")
    out.branch(forks, add, after)
    out.start(add)
    for k, place in enumerate(copies.places):
        cell = tasks.cells[k % len(tasks.cells)]
        name = f'{_symbol(state, called, "add")[:-1]}.{REGISTER[cell.elem]}"'
        to = f"ptr {_cell(state, cell)}, ptr {out.let(f'load ptr, ptr {place}')}"
        out.put(f"call void @{name}({to}, {state.typed(cell.count)})")
    region = tasks.region
    state.marks[region] = copies.held
    release(state, arena_of(state, region), region)
    del state.marks[region]
    out.jump(after)
    out.start(after)


# Parts.


def parts(state: State, called: Subroutine) -> Iterable[State | str]:
    """What the first levels of a subroutine need besides: texts, and states that have
    written a function, each behind the line it begins with."""
    yield _PAIR.format(
        name=_symbol(state, called, "pair"),
        fork=FORK,
        forks=FORKS,
        leave=leave("%first", "%second", otherwise=", [ %first.done, %one ]"),
    )
    for elem in dict.fromkeys(cell.elem for cell in _tasks(called).cells):
        name = _symbol(state, called, "add")[:-1]
        text = _ADD.format(name=name, type=REGISTER[elem])
        yield text.replace(f".{REGISTER[elem]}(", f'.{REGISTER[elem]}"(')
    most = max(state.groups, default=1)
    for k in range(most):
        yield _head(_symbol(state, called, f"part.{k}"))
        yield _part(state, called, k)
    for count in sorted(state.groups):
        for k in range(1, count - 1):
            yield _head(_rest(state, called, k, count))
            yield _pair_of_rest(state, called, k, count)


def _head(symbol: str) -> str:
    params = "ptr %ctx, ptr %block, i64 %which"
    return f"define internal i32 @{symbol}({params}) noinline #0 {{"


def _pair_of_rest(state: State, called: Subroutine, k: int, count: int) -> State:
    """Run call k and those behind it."""
    inner = state.apart()
    out = inner.out
    owner = out.let(f"load ptr, ptr {word_at(inner, '%block', OWNER)}, align 8")
    taken, after = out.fresh_label("taken"), out.fresh_label("run")
    out.branch(out.let(f"icmp eq ptr {owner}, %ctx"), after, taken, LIKELY)
    out.start(taken)
    at = word_at(inner, "%block", TAKEN)
    out.put(f"store atomic i64 1, ptr {at} monotonic, align 8")
    out.jump(after)
    out.start(after)
    pair = _symbol(state, called, "pair")
    run = f"ptr @{_symbol(state, called, f'part.{k}')}"
    run += f", ptr @{_rest(state, called, k + 1, count)}"
    status = inner.out.let(f"call i32 @{pair}(ptr %ctx, {run}, ptr %block)", "status")
    inner.out.put(f"ret i32 {status}")
    return inner


def _part(state: State, called: Subroutine, k: int) -> State:
    """Run call k of a block."""
    part = _Part(state, called, k)
    part.emit()
    return part.state


class _Part:
    """The writing of one part."""

    def __init__(self, state: State, called: Subroutine, k: int) -> None:
        self.state = state.apart()
        self.state.environments = state.environments
        self.out = self.state.out
        self.called, self.tasks, self.k = called, _tasks(called), k
        self.items: Sequence[Item] = state.environments[called.name]
        self.first = HEAD + k * _size(called)
        # Whether what a call elsewhere has made is needed behind it.
        self.is_kept = self.tasks.tape is not None or bool(self.tasks.rooms)
        # Whether the call that a call of the reverse reads was of the first levels, and
        # what is turned in the number of a call.
        self.was_first = self.turned = ""

    def emit(self) -> None:
        out = self.out
        owner, given = self._word(OWNER, "ptr"), self._word(ENV, "ptr")
        arenas = self._word(ARENAS, "ptr")
        first, count = self.first + _homes(self.called), len(self.called.buffers)
        homes = [self._word(first + k, "ptr") for k in range(count)]
        ours, theirs = out.fresh_label("ours"), out.fresh_label("theirs")
        is_owner = out.let(f"icmp eq ptr {owner}, %ctx")
        if self.k > 1:
            is_owner = self._unless_taken(is_owner)
        out.branch(is_owner, ours, theirs, LIKELY)
        out.start(theirs)
        own = self._enter()
        away = self._collect_in(own, given) if self.is_kept else given
        home = arena_at(self.state, own, self.tasks.region) if homes else ""
        entered = out.label
        out.jump(ours)
        # The block that was left is where the branch stands.
        out.start(ours)
        before = "start"
        arenas = self._either((arenas, before), (own, entered))
        env = self._either((given, before), (away, entered))
        homes = [self._either((its, before), (home, entered)) for its in homes]
        args = [
            self._word(self.first + j, REGISTER[param.type])
            for j, param in enumerate(self.called.params)
        ]
        if self.tasks.columns is not None:
            env = self._lead(env, args)
        if self.tasks.cells and self.k > 0:
            env = self._with_copies(env)
        result = self._call(arenas, env, homes, args)
        self._give_back(result, arenas, env, is_owner)

    def _unless_taken(self, is_owner: str) -> str:
        """Whether its owner runs a call, and nobody else has taken one before it."""
        at = word_at(self.state, "%block", TAKEN)
        taken = self.out.let(f"load atomic i64, ptr {at} monotonic, align 8")
        in_order = self.out.let(f"icmp eq i64 {taken}, 0")
        return self.out.let(f"and i1 {is_owner}, {in_order}")

    def _word(self, k: int, ty: str) -> str:
        at = word_at(self.state, "%block", k)
        return self.out.let(f"load {ty}, ptr {at}, align 8")

    def _either(self, *pairs: tuple[str, str]) -> str:
        incoming = ", ".join(f"[ {value}, %{label} ]" for value, label in pairs)
        return self.out.let(f"phi ptr {incoming}")

    def _refuse_unless(self, pointer: str, arenas: str = "") -> None:
        """Without memory, leave."""
        out = self.out
        good, bad = out.fresh_label("there"), out.fresh_label("refused")
        out.branch(out.let(f"icmp ne ptr {pointer}, null"), good, bad, LIKELY)
        out.start(bad)
        if arenas:
            out.put(f"call void @chad_leave(ptr %ctx, ptr {arenas})")
        out.put(f"ret i32 {runtime.MEMORY}")
        out.start(good)

    def _enter(self) -> str:
        """Arenas of this thread's own."""
        regions = self.state.function.regions
        own = self.out.let(f"call ptr @chad_enter(ptr %ctx, i64 {regions})", "arenas")
        self._refuse_unless(own)
        return own

    def _copied(self, env: str, to: str) -> None:
        size = 8 * len(self.items)
        args = f"ptr {to}, ptr {env}, i64 {size}, i1 false"
        self.out.put(f"call void @llvm.memcpy.p0.p0.i64({args})")

    def _put(self, env: str, item: Item, value: str) -> None:
        at = word_at(self.state, env, self.items.index(item))
        self.out.put(f"store {value}, ptr {at}, align 8")

    def _collect_in(self, arenas: str, env: str) -> str:
        """An environment with slots of its own for what calls collect, all empty."""
        slots = _own_slots(self.tasks)
        # Where nothing is yet, a row is read for nothing.
        row = 0 if self.tasks.tape is None else self.tasks.tape.row
        size = 8 * max(self._number_there(self.called) + 1, row)
        args = f"ptr %ctx, ptr {arenas}, i64 {size}"
        new = self.out.let(f"call ptr @chad_arena_grow({args})", "env")
        self._refuse_unless(new, arenas)
        self._copied(env, new)
        for k, (slot, begin) in enumerate(slots, len(self.items)):
            place = word_at(self.state, new, k)
            value = f"ptr {new}" if begin is None else self.state.typed(begin)
            self.out.put(f"store {value}, ptr {place}, align 8")
            self._put(new, slot, f"ptr {place}")
        return new

    def _lead(self, env: str, args: list[str]) -> str:
        """An environment that leads to where the call has collected."""
        out, columns = self.out, self.tasks.columns
        assert columns is not None
        number, before = args[columns.number], out.label
        away, after = out.fresh_label("away"), out.fresh_label("here")
        out.branch(_is_away(self.state, number), away, after, UNLIKELY)
        out.start(away)
        new = out.alloca(f"[{len(self.items)} x i64]", "env")
        self._copied(env, new)
        there, theirs = _place(self.state, number), self._of(columns.writer)
        writer = self.state.function.subroutine(columns.writer)
        for reg, slot in columns.pointers:
            if reg in self.items:
                ty = REGISTER[reg.type]
                self._put(new, reg, f"{ty} {self._held(there, theirs.index(slot), ty)}")
        at = word_at(self.state, there, self._number_there(writer))
        last = out.let(f"load i64, ptr {at}, align 8")
        out.jump(after)
        out.start(after)
        incoming = f"[ {number}, %{before} ], [ {last}, %{away} ]"
        found = self._either((env, before), (new, away))
        self._read_number(args, columns.number, out.let(f"phi i64 {incoming}"))
        return found

    def _read_number(self, args: list[str], k: int, number: str) -> None:
        """What a number is without the bit that may be turned, and whether it is."""
        above = 64 - _FIRST.bit_length() + 1
        moved = self.out.let(f"shl i64 {number}, {above}")
        args[k] = self.out.let(f"ashr i64 {moved}, {above}", "number")
        self.was_first = self.out.let(f"icmp ne i64 {args[k]}, {number}", "was_first")

    def _number_there(self, writer: Subroutine) -> int:
        """The word behind an environment and its slots: the number of the call."""
        return len(self._of(writer.name)) + len(_own_slots(_tasks(writer)))

    def _of(self, name: str) -> Sequence[Item]:
        """What is in the environment of another subroutine."""
        found: Sequence[Item] = self.state.environments[name]
        return found

    def _held(self, env: str, k: int, ty: str) -> str:
        """What the slot holds whose address is a word of an environment."""
        at = self.out.let(f"load ptr, ptr {word_at(self.state, env, k)}, align 8")
        return self.out.let(f"load {ty}, ptr {at}, align 8")

    def _with_copies(self, env: str) -> str:
        """An environment with cells that are copies, if there are any."""
        out, before = self.out, self.out.label
        table = self._word(PRIVATE, "ptr")
        make, after = out.fresh_label("copies"), out.fresh_label("cells")
        out.branch(out.let(f"icmp ne ptr {table}, null"), make, after)
        out.start(make)
        new = out.alloca(f"[{len(self.items)} x i64]", "env")
        self._copied(env, new)
        cells = self.tasks.cells
        for k, cell in enumerate(cells, (self.k - 1) * len(cells)):
            at = word_at(self.state, table, k)
            copy = out.let(f"load ptr, ptr {at}, align 8")
            size = out.let(f"mul i64 {self._count(cell, env)}, {BYTES[cell.elem]}")
            args = f"ptr {copy}, i8 0, i64 {size}, i1 false"
            out.put(f"call void @llvm.memset.p0.i64({args})")
            self._put(new, cell.ptr, f"ptr {copy}")
        out.jump(after)
        out.start(after)
        return self._either((env, before), (new, make))

    def _count(self, cell: Private, env: str) -> str:
        if isinstance(cell.count, Lit):
            return self.state.name(cell.count)
        at = word_at(self.state, env, self.items.index(cell.count))
        return self.out.let(f"load i64, ptr {at}, align 8")

    def _level(self) -> tuple[str, str, str]:
        """The call's level and its ways, and whether it is of the first levels."""
        out = self.out
        own = 1 << self.k if self.k < 63 else 0
        above, level = self._word(WAYS, "i64"), self._word(LEVEL, "i64")
        ways = out.let(f"and i64 {above}, {ANY | own}", "ways")
        is_apart = out.let(f"icmp eq i64 {above}, 0")
        least = out.let(f"select i1 {is_apart}, i64 0, i64 {-WAY}")
        is_first = out.let(f"icmp sgt i64 {level}, {least}", "is_first")
        if self.was_first:
            is_first = out.let(f"or i1 {is_first}, {self.was_first}", "is_first")
        return level, ways, is_first

    def _call(
        self, arenas: str, env: str, homes: Sequence[str], args: Sequence[str]
    ) -> str:
        """Run the call, as a task or as the subroutine as it was; what it returns."""
        out, called, ty = self.out, self.called, result_type(self.called)
        convention = self.state.convention
        given = [f"ptr %ctx, ptr {arenas}, ptr {env}, i64 {self._word(TURN, 'i64')}"]
        given += [f"ptr {home}" for home in homes]
        typed = zip(called.params, args, strict=True)
        given += [f"{REGISTER[param.type]} {arg}" for param, arg in typed]
        floor = self._word(FLOOR, "i64")
        level, ways, is_first = self._level()
        task, plain = out.fresh_label("task"), out.fresh_label("plain")
        after = out.fresh_label("called")
        out.branch(is_first, task, plain)
        out.start(task)
        symbol = self.state.symbol_of(called, Version.TASK)
        more = ", ".join([*given, f"i64 {level}", f"i64 {floor}", f"i64 {ways}"])
        first = out.let(f"notail call {convention}{ty} @{symbol}({more})")
        out.jump(after)
        out.start(plain)
        symbol = self.state.symbol_of(called)
        second = out.let(f"notail call {convention}{ty} @{symbol}({', '.join(given)})")
        out.jump(after)
        out.start(after)
        turned = f"[ {_FIRST}, %{task} ], [ 0, %{plain} ]"
        self.turned = out.let(f"phi i64 {turned}") if self.tasks.tape else ""
        return out.let(f"phi {ty} [ {first}, %{task} ], [ {second}, %{plain} ]")

    def _give_back(self, result: str, arenas: str, env: str, is_owner: str) -> None:
        """Write down the results; arenas of this thread are given back or kept."""
        out, called = self.out, self.called
        ty = result_type(called)
        status = out.let(f"extractvalue {ty} {result}, 0", "status")
        first = self.first + len(called.params)
        for j, kind in enumerate(called.results):
            value = out.let(f"extractvalue {ty} {result}, {j + 1}")
            if self.tasks.tape is not None and j == self.tasks.tape.number:
                value = out.let(f"xor i64 {value}, {self.turned}", "number")
            at = word_at(self.state, "%block", first + j)
            out.put(f"store {REGISTER[kind]} {value}, ptr {at}, align 8")
        end, away = out.fresh_label("end"), out.fresh_label("give_back")
        out.branch(is_owner, end, away, LIKELY)
        out.start(away)
        if called.buffers:
            self._hand_over(arenas)
        if self.tasks.tape is not None:
            at = word_at(self.state, "%block", first + self.tasks.tape.number)
            there = word_at(self.state, env, self._number_there(called))
            out.put(f"store i64 {out.let(f'load i64, ptr {at}')}, ptr {there}, align 8")
            place = out.let(f"ptrtoint ptr {env} to i64")
            number = out.let(f"add i64 {place}, {AWAY}")
            out.put(f"store i64 {number}, ptr {at}, align 8")
        gives = "chad_keep" if self.is_kept or called.buffers else "chad_leave"
        out.put(f"call void @{gives}(ptr %ctx, ptr {arenas})")
        out.jump(end)
        out.start(end)
        out.put(f"ret i32 {status}")

    def _hand_over(self, arenas: str) -> None:
        """Say where arrays are; nothing else stays, but for what is kept."""
        place = self.first + _size(self.called) - 1
        home = arena_at(self.state, arenas, self.tasks.region)
        at = word_at(self.state, "%block", place)
        self.out.put(f"store ptr {home}, ptr {at}, align 8")
        give_back_own(self.state, self.called, arenas)
