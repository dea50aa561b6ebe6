"""A subroutine of the loop language as a native function of its own.

    { i32, <results> } name.sub(ctx, arenas, env, turn, <regions>, <parameters>)

It returns a status and its results. It may call itself as deep as the stack allows,
which belongs to the runtime (`chad_deep`): before it does it looks whether there is
room, and now and then whether somebody wants it to stop, see `looking.py`.
"""

from __future__ import annotations

from chadllvm.ir.loops import Subroutine
from chadllvm.llvm import tasks
from chadllvm.llvm.invoke import Item, mark, result_type, see
from chadllvm.llvm.looking import first_invocation
from chadllvm.llvm.state import State, Version
from chadllvm.llvm.statements import emit_body
from chadllvm.llvm.types import REGISTER


def emit_subroutine(
    subroutine: Subroutine,
    items: list[Item],
    outer: State,
    version: Version = Version.WHOLE,
) -> State:
    """The state that has written a subroutine, but for the ways out of it."""
    state = outer.enter(subroutine, version)
    state.names[subroutine.turn] = "%turn"
    if not version.is_copy:
        state.look_before = first_invocation(subroutine.body)
    for k, item in enumerate(items):
        see(state, item, k)
    for region in subroutine.regions:
        mark(state, region)
    emit_body(state, subroutine.body)
    state.out.put("unreachable")
    return state


def head(state: State, subroutine: Subroutine) -> str:
    """The line that the definition begins with."""
    params = ["ptr %ctx", "ptr %arenas", "ptr noalias readonly %env", "i64 %turn"]
    params += [f"ptr %into.{k}" for k in range(len(subroutine.buffers))]
    params += [f"{REGISTER[p.type]} {state.names[p]}" for p in subroutine.params]
    params += [tasks.MORE] if state.version is Version.TASK else []
    name = state.symbol_of(subroutine, state.version)
    copy = "alwaysinline " if state.version.is_copy else ""
    ty = result_type(subroutine)
    kind = f"define internal {state.convention}{ty}"
    return f"{kind} @{name}({', '.join(params)}) {copy}#0 {{"


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
        f"define internal i32 @{symbol}.deep(ptr %ctx, ptr %block) #0 {{",
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
