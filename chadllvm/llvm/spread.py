"""Loops over chunks: their bodies become functions that the runtime calls.

    i32 name.chunk(ctx, env, chunk)       i32 name.merge(ctx, env, chunk, part)

As a subroutine does, both see the place around them through an *environment*, a word
for each register that they use and have not themselves. What a chunk allocates is in
arenas of its own, which the context of its thread gives it.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.ir.loops import Reg, Slot, Spread
from chadllvm.llvm import runtime
from chadllvm.llvm.beside import emit_strands
from chadllvm.llvm.invoke import Item, environment_of, see, written
from chadllvm.llvm.state import State
from chadllvm.llvm.writer import LIKELY


@dataclass(frozen=True, slots=True)
class Part:
    """A body of a loop over chunks that is to become a function of its own."""

    symbol: str
    spread: Spread
    is_merge: bool
    items: tuple[Item, ...]

    @property
    def regions(self) -> tuple[int, ...]:
        """The regions that belong to it."""
        return () if self.is_merge else self.spread.regions


def emit_spread(state: State, stmt: Spread) -> None:
    """Have the runtime run the chunks; leave if one fails."""
    used = environment_of(state.function, stmt)
    body = [i for i in used.body if isinstance(i, Reg) or i in stmt.results]
    items = tuple(dict.fromkeys((*body, *used.merge)))
    out, number = state.out, len(state.parts)
    env = written(state, items)
    symbols = ["null", "null"]
    for k, text in enumerate((stmt.body, stmt.merge)):
        if text:
            symbol = f'"{state.symbol}:{("chunk", "merge")[k]}.{number}"'
            state.parts.append(Part(symbol, stmt, k == 1, items))
            symbols[k] = f"@{symbol}"
    good, bad = out.fresh_label("spread"), out.fresh_label("refused")
    if stmt.patience is None:
        status = _run(state, stmt, symbols, env)
    else:
        status = emit_strands(state, stmt, symbols[0], env, number)
    out.branch(out.let(f"icmp eq i32 {status}, {runtime.OK}"), good, bad, LIKELY)
    state.refused.append((status, bad))
    out.start(good)


def _run(state: State, stmt: Spread, symbols: list[str], env: str) -> str:
    """Run one chunk here, or several by the runtime; the status."""
    out, (body, merge) = state.out, symbols
    alone, several = out.fresh_label("alone"), out.fresh_label("several")
    after = out.fresh_label("done")
    many = out.let(f"icmp sgt i64 {state.name(stmt.chunks)}, 1")
    out.branch(many, several, alone)
    out.start(alone)
    args = f"ptr %ctx, ptr {env}, i64 0"
    first = out.let(f"call i32 {body}({args})", "status")
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
    return f"define internal i32 @{part.symbol}({params}) #0 {{"
