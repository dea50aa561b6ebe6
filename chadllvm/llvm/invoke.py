"""Invoking subroutines: what they see of the place around them, and what they return.

A subroutine is a native function that takes the address of its *environment*, a word
for each register and for the address of each slot that it uses and that is not its own.
Whoever invokes it from outside writes these words down; where it invokes itself it
hands the address on. So a run takes no more parameters than the program gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.loops import (
    Alloc,
    Atom,
    Branch,
    For,
    Invoke,
    LoopFunction,
    Reg,
    Reset,
    Slot,
    Spread,
    Stmt,
    Subroutine,
)
from chadllvm.ir.statements import items_of
from chadllvm.llvm import runtime
from chadllvm.llvm.state import FINISHED, STATUS, State, Version
from chadllvm.llvm.types import REGISTER
from chadllvm.llvm.writer import LIKELY, Writer


@dataclass(frozen=True)
class Around:
    """The environment of a subroutine that others are inside of."""

    name: str


Item = Reg | Slot | Around


def environment(
    function: LoopFunction, subroutine: Subroutine, inside: Sequence[str]
) -> list[Item]:
    """What a subroutine uses and does not have itself, in order.

    `inside`: the subroutines around it. Its own slots are among them.
    """
    walk = _Uses(function, [*inside])
    walk.subroutine(subroutine)
    return [i for i in walk.used if i not in walk.own]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the bodies of a loop over chunks use and do not make themselves."""

    body: tuple[Item, ...]
    merge: tuple[Item, ...]


def environment_of(function: LoopFunction, spread: Spread) -> Seen:
    """What a loop over chunks needs of the place around it."""
    own = {spread.chunk, spread.part}
    bodies = (spread.body, spread.merge)
    return Seen(*(tuple(seen_by(function, body, own)) for body in bodies))


def seen_by(
    function: LoopFunction, body: Iterable[Stmt], own: Iterable[Item] = ()
) -> list[Item]:
    """What a body uses and does not make itself, in order."""
    walk = _Uses(function, [], own={*own})
    walk.body(body)
    return [i for i in walk.used if i not in walk.own]


@dataclass
class _Uses:
    function: LoopFunction
    inside: list[str]
    used: dict[Item, None] = field(default_factory=dict)
    own: set[Item] = field(default_factory=set)

    def subroutine(self, subroutine: Subroutine) -> None:
        self.inside.append(subroutine.name)
        self.own.update((subroutine.turn, *subroutine.params))
        self.body(subroutine.body)
        self._tasks(subroutine)
        self.inside.pop()
        self.own.add(Around(subroutine.name))

    def _tasks(self, subroutine: Subroutine) -> None:
        """What the first levels of its calls use besides."""
        if subroutine.tasks is None:
            return
        if subroutine.tasks.tape is not None:
            self.used[subroutine.tasks.tape.below] = None
        self.used.update(dict.fromkeys(subroutine.tasks.rooms))
        for cell in subroutine.tasks.cells:
            if isinstance(cell.count, Reg):
                self.used[cell.count] = None

    def body(self, body: Iterable[Stmt]) -> None:
        for stmt in body:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        self.used.update(dict.fromkeys(items_of(stmt)))
        match stmt:
            case For(index, body=body):
                self.own.add(index)
                self.body(body)
            case Branch(_, then, orelse):
                self.body(then)
                self.body(orelse)
            case Alloc(region=region) | Reset(region=region):
                self.region(region)
            case Spread(chunk, body=body, merge=merge, part=part):
                self.own.update((chunk, part))
                self.body((*body, *merge))
            case Invoke():
                self.own.update(stmt.regs)
                self.invoke(stmt)
        made = getattr(stmt, "reg", None)
        if made is not None:
            self.own.add(made)

    def invoke(self, stmt: Invoke) -> None:
        for region in stmt.into:
            self.region(region)
        called = self.function.subroutine(stmt.subroutine)
        if called.name not in self.inside:
            self.subroutine(called)
        elif called.name != self.inside[-1]:
            self.used[Around(called.name)] = None
            self.used[called.turn] = None

    def region(self, region: int) -> None:
        """Which of its two a region of a subroutine around is, one has to know."""
        for name in self.inside:
            subroutine = self.function.subroutine(name)
            if region in subroutine.regions:
                self.used[subroutine.turn] = None


def emit_invoke(state: State, stmt: Invoke) -> None:
    """Invoke a subroutine; leave if it fails."""
    out = state.out
    called = state.function.subroutine(stmt.subroutine)
    if called.name in state.inside:
        env, turn = state.around[called.name], "0"
        if called.regions:
            turn = next_turn(state, called, stmt)
    else:
        env, turn = enter(state, called), "0"
    homes = [f"ptr {arena_of(state, region)}" for region in stmt.into]
    args = [state.typed(arg) for arg in stmt.args]
    listed = ["ptr %ctx", "ptr %arenas", f"ptr {env}", f"i64 {turn}", *homes, *args]
    ty = result_type(called)
    # Made a jump, the call would take no stack, and one without an end never end.
    symbol = state.symbol_of(called, _version(state, called))
    call = f"notail call {state.convention}{ty} @{symbol}({', '.join(listed)})"
    result = out.let(call)
    status = out.let(f"extractvalue {ty} {result}, 0", "status")
    good, bad = out.fresh_label("returned"), out.fresh_label("refused")
    out.branch(out.let(f"icmp eq i32 {status}, {runtime.OK}"), good, bad, LIKELY)
    state.refused.append((status, bad))
    out.start(good)
    for k, reg in enumerate(stmt.regs, 1):
        state.names[reg] = out.let(f"extractvalue {ty} {result}, {k}", reg.name)


def next_turn(state: State, called: Subroutine, stmt: Invoke) -> str:
    """The turn of an invocation of a subroutine by itself."""
    turn = state.names[called.turn]
    return turn if stmt.hands_on else state.out.let(f"xor i64 {turn}, 1")


def _version(state: State, called: Subroutine) -> Version:
    """Which version of a subroutine takes the place of an invocation."""
    if state.inside[-1:] != (called.name,) or state.version is Version.HEAD:
        return Version.WHOLE
    copies = state.copies_of(called)
    if state.version is Version.WHOLE and copies.unfolds:
        return Version.INNER
    return Version.WHOLE if copies.head is None else Version.HEAD


def result_type(subroutine: Subroutine) -> str:
    """What a subroutine returns: a status, and its results."""
    return f"{{ {', '.join(['i32', *(REGISTER[ty] for ty in subroutine.results)])} }}"


def enter(state: State, called: Subroutine) -> str:
    """The address of the environment of a subroutine that is invoked from outside."""
    items = environment(state.function, called, state.inside)
    items = [i for i in items if not isinstance(i, Slot) or i in state.slots]
    state.pending.append((called, items, state))
    state.environments[called.name] = items
    return written(state, items)


def written(state: State, items: Sequence[Item], env: str = "") -> str:
    """The address of an environment with these items, in a place of its own if none is
    given."""
    env = env or state.out.alloca(f"[{max(len(items), 1)} x i64]", "env")
    for k, item in enumerate(items):
        state.out.put(f"store {_value(state, item)}, ptr {word_at(state, env, k)}")
    return env


def _value(state: State, item: Item) -> str:
    match item:
        case Reg():
            return state.typed(item)
        case Slot():
            return f"ptr {state.slot(item)}"
        case Around(name):
            return f"ptr {state.around[name]}"


def see(state: State, item: Item, k: int, env: str = "%env") -> None:
    """Read a word of an environment, if not another one of that which is given."""
    ty = REGISTER[item.type] if isinstance(item, Reg) else "ptr"
    hint = "env" if isinstance(item, Around) else item.name
    value = state.out.let(f"load {ty}, ptr {word_at(state, env, k)}", hint)
    match item:
        case Reg():
            is_stride = item in state.strides
            state.names[item] = state.stride(item, value) if is_stride else value
        case Slot():
            state.slots[item] = value
        case Around(name):
            state.around[name] = value


def word_at(state: State, env: str, k: int) -> str:
    """The address of a word of an environment."""
    return state.out.let(f"getelementptr inbounds i64, ptr {env}, i64 {k}")


def emit_leave(state: State, values: Sequence[Atom]) -> None:
    """Return from a subroutine, whose regions are given back."""
    assert state.subroutine is not None
    for region in state.marks:
        release(state, arena_of(state, region), region)
    state.left.append((state.out.label, tuple(map(state.name, values))))
    state.out.jump(FINISHED)
    state.out.start(state.out.fresh_label("unreachable"))


def emit_end(state: State, subroutine: Subroutine) -> None:
    """The end of a subroutine, where every way out meets; `exits` are written already.

    The status and the results arrive one by one: LLVM does not see through choices
    between structs of them, where a copy is put into another subroutine.
    """
    failed = [(str(STATUS[label]), label) for label in sorted(state.exits)]
    failed += state.refused
    out, ty = state.out, result_type(subroutine)
    for _, label in failed:
        out.start(label)
        out.jump(FINISHED)
    out.start(FINISHED)
    edges = [(str(runtime.OK), label) for label, _ in state.left] + failed
    values = [f"i32 {_either(out, 'i32', edges)}"]
    for k, part in enumerate(subroutine.results):
        edges = [(results[k], label) for label, results in state.left]
        edges += [("undef", label) for _, label in failed]
        values.append(f"{REGISTER[part]} {_either(out, REGISTER[part], edges)}")
    result = "undef"
    for k, value in enumerate(values):
        result = out.let(f"insertvalue {ty} {result}, {value}, {k}")
    out.put(f"ret {ty} {result}")


def _either(out: Writer, ty: str, edges: Iterable[tuple[str, str]]) -> str:
    incoming = ", ".join(f"[ {value}, %{label} ]" for value, label in edges)
    return out.let(f"phi {ty} {incoming}")


# Regions.


def arena_of(state: State, region: int) -> str:
    """The address of a region's arena."""
    out = state.out
    if region < 0:
        return f"%into.{-2 - region}"
    turn = None if region in state.regions else state.turn_of(region)
    if turn is None:
        region = state.regions.get(region, region)
        if region == 0:
            return "%arenas"
        offset = str(region * runtime.ARENA_SIZE)
    else:
        number = out.let(f"add nuw nsw i64 {state.names[turn]}, {region}")
        offset = out.let(f"mul nuw nsw i64 {number}, {runtime.ARENA_SIZE}")
    return out.let(f"getelementptr inbounds i8, ptr %arenas, i64 {offset}")


def mark(state: State, region: int) -> None:
    """Note what is in a region at the entry of a subroutine."""
    arena = arena_of(state, region)
    cursor = state.out.let(f"load ptr, ptr {arena}, align 8", "cursor")
    at = state.out.let(f"getelementptr inbounds i8, ptr {arena}, i64 {runtime.CURRENT}")
    chunk = state.out.let(f"load ptr, ptr {at}, align 8", "chunk")
    state.marks[region] = cursor, chunk


def release(state: State, arena: str, region: int) -> None:
    """Give back what was allocated in a region since the entry of the subroutine."""
    out, (cursor, chunk) = state.out, state.marks[region]
    now = out.let(f"load ptr, ptr {arena}, align 8")
    used, after = out.fresh_label("release"), out.fresh_label("released")
    out.branch(out.let(f"icmp eq ptr {now}, {cursor}"), after, used)
    out.start(used)
    args = f"ptr {arena}, ptr {chunk}, ptr {cursor}"
    out.put(f"call void @chad_arena_release({args})")
    out.jump(after)
    out.start(after)
