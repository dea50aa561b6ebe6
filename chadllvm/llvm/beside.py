"""Strands: parts of a function that may run at the same time (`lower/strands/`).

    i32 name.chunk.n(ctx, env, strand)      runs a strand, as a chunk of a loop
    i32 name.strands.n.k(ctx, env, _)       runs the strands from k on, as pairs

Whoever comes to them runs the first itself. If that takes longer than the patience of
the runtime, the rest is offered to other threads, see "Pairs" in `chad_rt.h`.
"""

from __future__ import annotations

from collections.abc import Iterator

from chadllvm.ir.loops import Spread
from chadllvm.ir.term import Lit
from chadllvm.llvm.fork import FORK, leave
from chadllvm.llvm.state import State


def emit_strands(state: State, stmt: Spread, body: str, env: str, number: int) -> str:
    """Run the strands, whose chunks are `body`; the status."""
    names = _names(state, stmt, number)
    state.texts += _functions(names, body)
    run = f"@{names[0]}"
    arenas = "%arenas" if stmt.keeps else "null"
    if isinstance(stmt.lanes, Lit):
        return _divide(state, run, env, arenas, "-1" if stmt.keeps else "")
    out = state.out
    several = out.let(f"icmp sgt i64 {state.name(stmt.lanes)}, 1")
    if stmt.keeps:
        wait = out.let(f"select i1 {several}, i64 {stmt.patience}, i64 -1")
        return _divide(state, run, env, arenas, wait)
    beside, alone = out.fresh_label("beside"), out.fresh_label("alone")
    after = out.fresh_label("strands")
    out.branch(several, beside, alone)
    out.start(beside)
    first = _divide(state, run, env, arenas, str(stmt.patience))
    out.jump(after)
    out.start(alone)
    second = _divide(state, run, env, arenas, "")
    out.jump(after)
    out.start(after)
    return out.let(f"phi i32 [ {first}, %{beside} ], [ {second}, %{alone} ]", "status")


def _divide(state: State, run: str, env: str, arenas: str, patience: str) -> str:
    """The status of all; without patience nobody may take any."""
    if not patience:
        return state.out.let(f"call i32 {run}(ptr %ctx, ptr {env}, i64 0)", "status")
    args = f"ptr %ctx, ptr {arenas}, ptr {run}, ptr {env}, i64 {patience}"
    return state.out.let(f"call i32 @chad_divide({args})", "status")


def _names(state: State, stmt: Spread, number: int) -> list[str]:
    """The functions that run the strands from each on."""
    assert isinstance(stmt.chunks, Lit)
    count = int(stmt.chunks.value)
    return [f'"{state.symbol}:strands.{number}.{k}"' for k in range(count)]


def _functions(names: list[str], body: str) -> Iterator[str]:
    for k, name in enumerate(names[:-1]):
        pair = leave(body, f"@{names[k + 1]}", k)
        yield "\n".join([_head(name), f"  {FORK}", "  br label %leave", pair, "}"])
    call = f"call i32 {body}(ptr %ctx, ptr %block, i64 {len(names) - 1})"
    last = [f"  %last = {call}", "  ret i32 %last"]
    yield "\n".join([_head(names[-1]), *last, "}"])


def _head(name: str) -> str:
    params = "ptr %ctx, ptr %block, i64 %which"
    return f"define internal i32 @{name}({params}) noinline #0 {{"
