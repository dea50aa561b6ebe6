"""Loops over chunks: their bodies become functions that the runtime calls.

    i32 name.chunk(ctx, env, chunk)       i32 name.merge(ctx, env, chunk, part)

As a subroutine does, both see the place around them through an *environment*, a word
for each register that they use and have not themselves. What a chunk allocates is in
arenas of its own, which the context of its thread gives it. If chunks run alone again
and again, that would take longer than what they do. Then they are given arenas,

    i32 name.chunk(ctx, env, chunk, arenas)      i32 name.chunk.apart(ctx, env, chunk)

which are those of the function around where there is one chunk; else the runtime calls
the function on the right, which gets some and calls the left one.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.ir.loops import Reg, Slot, Spread
from chadllvm.llvm import runtime
from chadllvm.llvm.beside import emit_strands
from chadllvm.llvm.invoke import Item, arena_of, environment_of, see, written
from chadllvm.llvm.state import State
from chadllvm.llvm.writer import LIKELY


@dataclass(frozen=True, slots=True)
class Part:
    """A body of a loop over chunks that is to become a function of its own."""

    symbol: str
    spread: Spread
    is_merge: bool
    items: tuple[Item, ...]
    takes_arenas: bool = False

    @property
    def regions(self) -> tuple[int, ...]:
        """The regions that it makes."""
        is_given = self.is_merge or self.takes_arenas
        return () if is_given else self.spread.regions


def emit_spread(state: State, stmt: Spread) -> None:
    """Have the runtime run the chunks; leave if one fails."""
    used = environment_of(state.function, stmt)
    body = [i for i in used.body if isinstance(i, Reg) or i in stmt.results]
    items = tuple(dict.fromkeys((*body, *used.merge)))
    out, number = state.out, len(state.parts)
    env = written(state, items)
    symbols = ["null", "null"]
    lends = stmt.recurs and bool(stmt.regions) and state.has_own_arenas
    for k, text in enumerate((stmt.body, stmt.merge)):
        if text:
            symbol = f'"{state.symbol}:{("chunk", "merge")[k]}.{number}"'
            state.parts.append(Part(symbol, stmt, k == 1, items, lends and k == 0))
            symbols[k] = f"@{symbol}"
    good, bad = out.fresh_label("spread"), out.fresh_label("refused")
    if stmt.patience is None:
        status = _run(state, stmt, symbols, env, lends=lends)
    else:
        status = emit_strands(state, stmt, symbols[0], env, number)
    out.branch(out.let(f"icmp eq i32 {status}, {runtime.OK}"), good, bad, LIKELY)
    state.refused.append((status, bad))
    out.start(good)


def _run(
    state: State, stmt: Spread, symbols: list[str], env: str, *, lends: bool
) -> str:
    """Run one chunk here, or several by the runtime; the status. `lends`: the arenas of
    the function, to the one chunk."""
    out, (body, merge) = state.out, symbols
    alone, several = out.fresh_label("alone"), out.fresh_label("several")
    after = out.fresh_label("done")
    many = out.let(f"icmp sgt i64 {state.name(stmt.chunks)}, 1")
    out.branch(many, several, alone)
    out.start(alone)
    args = f"ptr %ctx, ptr {env}, i64 0"
    lent = ", ptr %arenas" if lends else ""
    first = out.let(f"call i32 {body}({args}{lent})", "status")
    if lends:
        for region in stmt.regions:
            out.put(f"call void @chad_arena_reset(ptr {arena_of(state, region)})")
        symbols = [_apart(state, stmt, body), merge]
    if stmt.merge:
        # What failed is merged as well, and not looked at.
        out.put(f"call i32 {merge}({args}, i64 0)")
    out.jump(after)
    out.start(several)
    listed = ", ".join(f"ptr {name}" for name in ("%ctx", *symbols, env))
    counts = ", ".join(map(state.typed, (stmt.chunks, stmt.lanes, stmt.parts)))
    all_of_them = out.let(f"call i32 @chad_parallel({listed}, {counts})", "status")
    out.jump(after)
    out.start(after)
    incoming = f"[ {first}, %{alone} ], [ {all_of_them}, %{several} ]"
    return out.let(f"phi i32 {incoming}", "status")


def _apart(state: State, stmt: Spread, body: str) -> str:
    """The symbol of what runs a chunk in arenas of its own."""
    symbol = f'@"{body[2:-1]}.apart"'
    state.texts.append(f"""\
define internal i32 {symbol}(ptr %ctx, ptr %env, i64 %chunk) #0 {{
  %arenas = call ptr @chad_enter(ptr %ctx, i64 {max(stmt.regions) + 1})
  %good = icmp ne ptr %arenas, null
  br i1 %good, label %entered, label %refused, {LIKELY}
refused:
  ret i32 {runtime.MEMORY}
entered:
  %status = call i32 {body}(ptr %ctx, ptr %env, i64 %chunk, ptr %arenas) noinline
  call void @chad_leave(ptr %ctx, ptr %arenas)
  ret i32 %status
}}""")
    return symbol


def begin(state: State, part: Part) -> None:
    """Read the environment at the beginning of a part."""
    state.names[part.spread.chunk] = "%chunk"
    state.names[part.spread.part] = "%part"
    results = part.spread.results
    for k, item in enumerate(part.items):
        if not isinstance(item, Slot) or part.is_merge or item in results:
            see(state, item, k)


def part_head(part: Part) -> str:
    """The line that the definition begins with."""
    params = "ptr %ctx, ptr noalias readonly %env, i64 range(i64 0, 4096) %chunk"
    if part.is_merge:
        params += ", i64 range(i64 0, 4096) %part"
    if part.takes_arenas:
        params += ", ptr %arenas"
    return f"define internal i32 @{part.symbol}({params}) #0 {{"
