"""Loop language → the text of an LLVM module with one native function.

    int32_t name(chad_context_t *ctx, chad_word_t *results, <parameters>)

Floats and integers are passed by value, bools as a byte, arrays as a pointer and one
int64 for each dimension. The status tells what happened; on success the results fill
the words in order (an array: its pointer, then its dimensions), on a failed check the
context holds the number of its site and its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from chadllvm.ir.loops import (
    RESULT,
    Alloc,
    ArrayParam,
    Branch,
    CallRuntime,
    Check,
    For,
    LoopFunction,
    Param,
    Reg,
    Reset,
    ScalarParam,
    Stmt,
)
from chadllvm.ir.types import BOOL
from chadllvm.llvm import runtime, vecmath
from chadllvm.llvm.alias import AliasScopes
from chadllvm.llvm.instructions import POWI, POWI_SINGLE
from chadllvm.llvm.state import (
    FAILED,
    FINISHED,
    FIRST_CALL_ATTRIBUTE,
    INTERRUPTED,
    NO_MEMORY,
    Site,
    State,
)
from chadllvm.llvm.statements import emit_body, word
from chadllvm.llvm.types import MAX_DIM, REGISTER
from chadllvm.llvm.writer import FIRST_METADATA, LIKELY, METADATA

STATUS = {
    NO_MEMORY: runtime.MEMORY,
    INTERRUPTED: runtime.INTERRUPT,
    FAILED: runtime.PROGRAM,
}


@dataclass(frozen=True, slots=True)
class Module:
    """The text of a module, and what its native function `symbol` needs around it.

    `sites` by the number that a failure reports; `data` are arrays to link, by symbol;
    `math` are the functions of libm and libmvec that it calls.
    """

    symbol: str
    text: str
    sites: tuple[Site, ...]
    data: tuple[tuple[str, np.ndarray], ...]
    math: tuple[str, ...]


def emit(
    function: LoopFunction,
    symbol: str,
    vector: Mapping[str, tuple[str, ...]],
    width: int,
) -> Module:
    """The module of a function under this symbol.

    `vector` has the vector versions of libm's functions, `width` is the preferred
    vector width in bits.
    """
    state = State(function, vector, AliasScopes(function, FIRST_METADATA))
    params = [_param(state, param) for param in function.params]
    arenas = _uses_arenas(function.body)
    if arenas:
        _enter(state)
    emit_body(state, function.body)
    _finish(state, arenas)
    text = "\n".join(
        [*_before(state, symbol, params), *_body(state), *_after(state, width)]
    )
    math = [n for name in state.math for n in (name, *vector.get(name, ()))]
    return Module(symbol, text, tuple(state.sites), tuple(state.data), tuple(math))


def _param(state: State, param: Param) -> str:
    match param:
        case ScalarParam(reg):
            return _scalar_param(state, reg)
        case ArrayParam():
            return _array_param(state, param)
        case _:
            assert_never(param)


def _scalar_param(state: State, reg: Reg) -> str:
    if reg.type != BOOL:
        return f"{REGISTER[reg.type]} {state.bind(reg)}"
    byte = state.out.fresh(reg.name)
    state.names[reg] = state.out.let(f"icmp ne i8 {byte}, 0")
    return f"i8 zeroext {byte}"


def _array_param(state: State, param: ArrayParam) -> str:
    """Inputs are never written to, so that the same array may be passed twice."""
    extent = f"range(i64 0, {MAX_DIM[param.elem]})"
    dims = [f"i64 {extent} {state.bind(dim)}" for dim in param.dims]
    return ", ".join(
        [f"ptr noalias readonly captures(none) {state.bind(param.ptr)}", *dims]
    )


def _uses_arenas(body: Iterable[Stmt]) -> bool:
    for stmt in body:
        match stmt:
            case Alloc(region=region):
                if region != RESULT:
                    return True
            case Reset() | CallRuntime():
                return True
            case For(body=inner):
                if _uses_arenas(inner):
                    return True
            case Branch(then=then, orelse=orelse):
                if _uses_arenas(then) or _uses_arenas(orelse):
                    return True
            case _:
                pass
    return False


def _enter(state: State) -> None:
    """Take the function's regions from the runtime; without them, leave at once."""
    out, regions = state.out, state.function.regions
    out.put(f"%arenas = call ptr @chad_enter(ptr %ctx, i64 {regions})")
    out.branch(out.let("icmp ne ptr %arenas, null"), "entered", "refused", LIKELY)
    out.start("refused")
    out.put(f"ret i32 {runtime.MEMORY}")
    out.start("entered")


def _finish(state: State, arenas: bool) -> None:
    """The end of the function: every way out meets in one block."""
    out = state.out
    state.returns.append(out.label)
    out.jump(FINISHED)
    for label, check in state.checks:
        _report(state, label, check)
    for label in (*sorted(state.exits), *(at for _, at in state.refused)):
        out.start(label)
        out.jump(FINISHED)
    out.start(FINISHED)
    edges = [(str(runtime.OK), label) for label in state.returns]
    edges += [(str(STATUS[label]), label) for label in sorted(state.exits)]
    edges += state.refused
    incoming = ", ".join(f"[ {status}, %{label} ]" for status, label in edges)
    status = out.let(f"phi i32 {incoming}", "status")
    if arenas:
        out.put("call void @chad_leave(ptr %ctx, ptr %arenas)")
    out.put(f"ret i32 {status}")


def _report(state: State, label: str, check: Check) -> None:
    """The block of a failed check: leave its site and its values in the context."""
    out = state.out
    site = Site(check.failure, tuple(value.type for value in check.values))
    number = state.sites.setdefault(site, len(state.sites))
    out.start(label)
    out.put(f"store i32 {number}, ptr %ctx, align 8")
    for k, value in enumerate(check.values[: runtime.MAX_VALUES]):
        offset = runtime.VALUES_OFFSET + 8 * k
        address = out.let(f"getelementptr inbounds i8, ptr %ctx, i64 {offset}")
        out.put(f"store {word(state, value)}, ptr {address}, align 8")
    out.jump(state.exit(FAILED))


def _before(state: State, symbol: str, params: list[str]) -> list[str]:
    """Everything in front of the function's first block."""
    lines, used = [runtime.DECLARATIONS, POWI, *state.constants], []
    if any("@chad_powif(" in line for line in state.out.lines):
        lines.append(POWI_SINGLE)
    lines += [runtime.declaration(name) for name in state.runtime]
    for name in state.math:
        vector = state.vector.get(name, ())
        lines += vecmath.declare(name, vector)
        used += [f"ptr @{versions}" for versions in vector]
    if used:
        # Else LLVM drops the declarations before its vectoriser needs them.
        lines.append(
            f"@llvm.compiler.used = appending global [{len(used)} x ptr] "
            f'[{", ".join(used)}], section "llvm.metadata"'
        )
    listed = ", ".join(["ptr %ctx", "ptr noalias captures(none) %results", *params])
    return [*lines, f"define i32 @{symbol}({listed}) #0 {{"]


def _body(state: State) -> list[str]:
    out = state.out
    return ["entry:", *out.entry, "  br label %start", "start:", *out.lines, "}"]


def _after(state: State, width: int) -> list[str]:
    """Attributes and metadata."""
    pure = "nounwind willreturn memory(none)"
    lines = [
        f'attributes #0 = {{ nounwind mustprogress "prefer-vector-width"="{width}" }}',
        f"attributes #1 = {{ {pure} }}",
        f"attributes #2 = {{ {pure} }}",
    ]
    for number, name in enumerate(state.math, FIRST_CALL_ATTRIBUTE):
        variants = ",".join(state.vector.get(name, ()))
        if variants:
            lines.append(
                f"attributes #{number} = "
                f'{{ "vector-function-abi-variant"="{variants}" }}'
            )
    return [*lines, *METADATA, *state.alias.definitions()]
