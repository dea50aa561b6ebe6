"""A subroutine of the loop language as a native function of its own.

    { i32, <results> } name.sub(ctx, arenas, env, turn, <regions>, <parameters>)

It returns a status and its results. It may call itself as deep as the stack allows,
which belongs to the runtime (`chad_deep`): at its entry it looks whether there is room,
and now and then whether somebody wants it to stop.
"""

from __future__ import annotations

from chadllvm.ir.loops import Reg, Slot, Subroutine
from chadllvm.llvm import control, runtime
from chadllvm.llvm.invoke import Around, Item, mark, result_type, word_at
from chadllvm.llvm.state import State
from chadllvm.llvm.statements import emit_body
from chadllvm.llvm.types import REGISTER
from chadllvm.llvm.writer import LIKELY, UNLIKELY


def emit_subroutine(subroutine: Subroutine, items: list[Item], outer: State) -> State:
    """The state that has written a subroutine, but for the ways out of it."""
    state = outer.enter(subroutine)
    state.names[subroutine.turn] = "%turn"
    _look(state)
    for k, item in enumerate(items):
        _see(state, item, k)
    for region in subroutine.regions:
        mark(state, region)
    emit_body(state, subroutine.body)
    state.out.put("unreachable")
    return state


def head(state: State, subroutine: Subroutine) -> str:
    """The line that the definition begins with."""
    params = ["ptr %ctx", "ptr %arenas", "ptr noalias readonly %env", "i64 %turn"]
    params += [f"ptr %into.{k}" for k in range(subroutine.buffers)]
    params += [f"{REGISTER[p.type]} {state.names[p]}" for p in subroutine.params]
    name, ty = state.symbol_of(subroutine), result_type(subroutine)
    return f"define internal {ty} @{name}({', '.join(params)}) #0 {{"


def _see(state: State, item: Item, k: int) -> None:
    """Read a word of the environment."""
    ty = REGISTER[item.type] if isinstance(item, Reg) else "ptr"
    hint = item.name if not isinstance(item, Around) else "env"
    value = state.out.let(f"load {ty}, ptr {word_at(state, '%env', k)}", hint)
    match item:
        case Reg():
            state.names[item] = value
        case Slot():
            state.slots[item] = value
        case Around(name):
            state.around[name] = value


def _look(state: State) -> None:
    """Is there room on the stack, and does somebody want to stop?"""
    out = state.out
    frame = out.let("call ptr @llvm.frameaddress.p0(i32 0)", "frame")
    limit = out.let(f"load ptr, ptr {_field(state, runtime.STACK_OFFSET)}, align 8")
    deep, room = out.fresh_label("deep"), out.fresh_label("room")
    out.branch(out.let(f"icmp ugt ptr {frame}, {limit}"), room, deep, LIKELY)
    out.start(deep)
    status = out.let(f"call i32 @chad_deeper(ptr %ctx, ptr {frame})", "status")
    no_room = out.fresh_label("no_room")
    good = out.let(f"icmp eq i32 {status}, {runtime.OK}")
    out.branch(good, room, no_room, LIKELY)
    state.refused.append((status, no_room))
    out.start(room)
    at = _field(state, runtime.FUEL_OFFSET)
    left = out.let(f"sub i64 {out.let(f'load i64, ptr {at}, align 8')}, 1")
    out.put(f"store i64 {left}, ptr {at}, align 8")
    poll, after = out.fresh_label("poll"), out.fresh_label("entered")
    out.branch(out.let(f"icmp sgt i64 {left}, 0"), after, poll, LIKELY)
    out.start(poll)
    out.put(f"store i64 {control.FUEL}, ptr {at}, align 8")
    answer = out.let("call i32 @chad_poll(ptr %ctx)", "status")
    stop = out.fresh_label("stop")
    asked = out.let(f"icmp ne i32 {answer}, {runtime.OK}")
    out.branch(asked, stop, after, UNLIKELY)
    state.refused.append((answer, stop))
    out.start(after)


def _field(state: State, offset: int) -> str:
    return state.out.let(f"getelementptr inbounds i8, ptr %ctx, i64 {offset}")


def deep_entry(symbol: str, params: list[str], args: list[tuple[str, str]]) -> str:
    """The function itself, which runs its body where there is room to be deep.

    `params` as they are declared; `args`: the type and the name of each.
    """
    types = ", ".join(["ptr", *(ty for ty, _ in args)])
    block = f"{{ {types} }}"
    names = [("ptr", "%results"), *args]
    lines = [
        f"define i32 @{symbol}(ptr %ctx, ptr noalias captures(none) %results"
        + "".join(f", {p}" for p in params)
        + ") nounwind {",
        f"  %block = alloca {block}",
    ]
    for k, (ty, name) in enumerate(names):
        at = f"%.at{k}"  # No name of a parameter begins with a dot.
        lines.append(f"  {at} = getelementptr {block}, ptr %block, i32 0, i32 {k}")
        lines.append(f"  store {ty} {name}, ptr {at}")
    lines += [
        f"  %status = call i32 @chad_deep(ptr %ctx, ptr @{symbol}.deep, ptr %block)",
        "  ret i32 %status",
        "}",
        f"define internal i32 @{symbol}.deep(ptr %ctx, ptr %block) nounwind {{",
    ]
    for k, (ty, _) in enumerate(names):
        at = f"%at.{k}"
        lines.append(f"  {at} = getelementptr {block}, ptr %block, i32 0, i32 {k}")
        lines.append(f"  %arg.{k} = load {ty}, ptr {at}")
    passed = ", ".join(
        f"{ty} {'zeroext ' if ty == 'i8' else ''}%arg.{k}"
        for k, (ty, _) in enumerate(names)
    )
    lines += [
        f"  %status = call i32 @{symbol}.body(ptr %ctx, {passed})",
        "  ret i32 %status",
        "}",
    ]
    return "\n".join(lines)
