"""Arrays that a call returns to a thread that has left it to another.

A call puts the arrays it returns into arenas of whom it was called by. Those are the
maker's, and nobody else may use them meanwhile: so a call on another thread returns
them in an arena of its own, and says which one. Once both calls are done the maker
copies them to where they shall be, and gives back that arena; but where calls collect
(`Tape`), what the other thread has kept stays until the end, and that arena with it,
so that its memory is the other thread's again. What else that has made, it gives back
itself.
"""

from __future__ import annotations

from chadllvm.ir.loops import Invoke, Subroutine
from chadllvm.ir.types import Scalar
from chadllvm.llvm import runtime
from chadllvm.llvm.invoke import arena_of, word_at
from chadllvm.llvm.state import NO_MEMORY, State
from chadllvm.llvm.types import BYTES
from chadllvm.llvm.writer import UNLIKELY


def bring_home(
    state: State, block: str, called: Subroutine, stmt: Invoke, place: int
) -> None:
    """Copy what a call has returned elsewhere to where it shall be.

    `place`: the words of the call in the block; `_size` in `tasks.py` says what is
    where.
    """
    out = state.out
    results = place + len(called.params)
    at = word_at(state, block, results + len(called.results) + len(called.buffers))
    away = out.let(f"load ptr, ptr {at}, align 8", "away")
    copy, after = out.fresh_label("copy"), out.fresh_label("home")
    out.branch(out.let(f"icmp ne ptr {away}, null"), copy, after, UNLIKELY)
    out.start(copy)
    for buffer, region in zip(called.buffers, stmt.into, strict=True):
        first = results + buffer.place
        dims = range(first + 1, first + 1 + buffer.rank)
        assert isinstance(buffer.elem, Scalar)
        count = "1"
        for k in dims:
            dim = out.let(f"load i64, ptr {word_at(state, block, k)}, align 8")
            count = out.let(f"mul i64 {count}, {dim}")
        size = out.let(f"mul i64 {count}, {BYTES[buffer.elem]}", "size")
        arena, fail = arena_of(state, region), state.exit(NO_MEMORY)
        new = runtime.emit_arena_alloc(out, arena, size, "", fail)
        pointer = word_at(state, block, first)
        old = out.let(f"load ptr, ptr {pointer}, align 8")
        args = f"ptr {new}, ptr {old}, i64 {size}, i1 false"
        out.put(f"call void @llvm.memcpy.p0.p0.i64({args})")
        out.put(f"store ptr {new}, ptr {pointer}, align 8")
    if called.tasks is None or called.tasks.tape is None:
        out.put(f"call void @chad_arena_give(ptr %ctx, ptr {away})")
    out.jump(after)
    out.start(after)


def arena_at(state: State, arenas: str, region: int) -> str:
    """The address of the arena of a region, by its number alone."""
    at = f"ptr {arenas}, i64 {region * runtime.ARENA_SIZE}"
    return state.out.let(f"getelementptr inbounds i8, {at}")


def give_back_own(state: State, called: Subroutine, arenas: str) -> None:
    """Give back what a call has made on another thread, but for what it returns and
    what it has kept."""
    for region in called.regions:
        for turn in (0, 1):
            arena = arena_at(state, arenas, region + turn)
            state.out.put(f"call void @chad_arena_give(ptr %ctx, ptr {arena})")
