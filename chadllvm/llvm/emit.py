"""Loop language → the text of an LLVM module with one native function.

    int32_t name(chad_context_t *ctx, chad_word_t *results, <parameters>)

Floats and integers are passed by value, bools as a byte, arrays as a pointer and one
int64 for each dimension. The status tells what happened; on success the results fill
the words in order (an array: its pointer, then its dimensions), on a failed check the
context holds the number of its site and its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import assert_never

import numpy as np

from chadllvm.ir.loops import (
    RESULT,
    RUNTIME,
    Alloc,
    ArrayParam,
    ArrayResult,
    Branch,
    CallRuntime,
    Check,
    For,
    LoopFunction,
    Param,
    Reg,
    Reset,
    Return,
    ScalarParam,
    Spread,
    Stmt,
    Subroutine,
)
from chadllvm.ir.statements import everywhere
from chadllvm.ir.types import BOOL
from chadllvm.llvm import runtime, sections, vecmath
from chadllvm.llvm.alias import AliasScopes
from chadllvm.llvm.alike import Alike
from chadllvm.llvm.chains import rounded
from chadllvm.llvm.independent import told_apart
from chadllvm.llvm.instructions import POWI, POWI_SINGLE
from chadllvm.llvm.invoke import emit_end
from chadllvm.llvm.lines import mark, with_lines
from chadllvm.llvm.sections import Cutting, Section, section_head
from chadllvm.llvm.spread import begin, part_head
from chadllvm.llvm.state import (
    FAILED,
    FINISHED,
    FIRST_CALL_ATTRIBUTE,
    STATUS,
    Site,
    State,
    Version,
)
from chadllvm.llvm.statements import emit_body, word
from chadllvm.llvm.subroutine import deep_entry, emit_subroutine, head
from chadllvm.llvm.tasks import parts
from chadllvm.llvm.types import MAX_DIM, REGISTER
from chadllvm.llvm.writer import FIRST_METADATA, LIKELY, METADATA


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
    convention: str = "",
) -> Module:
    """The module of a function under this symbol.

    `vector` has the vector versions of libm's functions, `width` is the preferred
    vector width in bits, `convention` how subroutines are called.
    """
    if not function.arithmetic.own_functions:
        vector = {}
    alias = AliasScopes(function, FIRST_METADATA)
    state = State(
        function,
        vector,
        alias,
        symbol=symbol,
        width=width,
        convention=convention,
        rounded=rounded(function),
        told_apart=told_apart(function),
        returned={} if function.sanitize else _returned(function),
    )
    cutting = Cutting(function)
    keeps = not (cutting.is_needed or _has_spread(function.body))
    params = [_param(state, param, keeps) for param in function.params]
    arenas = any(s.tasks for s in function.subroutines) or any(
        map(_uses_arenas, (function.body, *(s.body for s in function.subroutines)))
    )
    if cutting.is_needed:
        state.cut = cutting.cut
    if arenas:
        state.arenas = True
        _enter(state, function.regions)
    elif function.subroutines:
        state.out.put("%arenas = inttoptr i64 0 to ptr")
    emit_body(state, function.body)
    _finish(state, arenas)
    texts = _subroutines(state)
    chunks, instead = _chunks(state)
    texts += chunks
    if function.subroutines:
        args = [a for p in function.params for a in _passed(state, p)]
        texts.append(deep_entry(symbol, params, args))
    definition = _head(
        state, f"{symbol}.body" if function.subroutines else symbol, params
    )
    texts += [definition, *_body(state)]
    text = "\n".join([*_before(state, texts), *texts, *_after(state, width)])
    for twin, first in instead.items():
        text = text.replace(f"@{twin}", f"@{first}")
    if function.sanitize:
        # Seldom asked for: it is not loaded with everything else.
        from chadllvm.llvm.sanitize import sanitized

        sizes = {name: value.nbytes for name, value in state.data}
        text = sanitized(text, function, symbol, sizes)
    if function.debug_info:
        text = with_lines(text, function.name)
    math = [n for name in state.math for n in (name, *vector.get(name, ()))]
    linked = tuple(filter(vecmath.is_linked, math))
    return Module(symbol, text, tuple(state.sites), tuple(state.data), linked)


def _param(state: State, param: Param, keeps: bool) -> str:
    """A parameter; `keeps`: no other function sees the arrays."""
    match param:
        case ScalarParam(reg):
            return _scalar_param(state, reg)
        case ArrayParam():
            return _array_param(state, param, " captures(none)" if keeps else "")
        case _:
            assert_never(param)


def _scalar_param(state: State, reg: Reg) -> str:
    if reg.type != BOOL:
        return f"{REGISTER[reg.type]} {state.bind(reg)}"
    byte = state.bytes[reg] = state.out.fresh(reg.name)
    state.names[reg] = state.out.let(f"icmp ne i8 {byte}, 0")
    return f"i8 zeroext {byte}"


def _array_param(state: State, param: ArrayParam, captures: str) -> str:
    """Inputs are never written to, so that the same array may be passed twice."""
    extent = f"range(i64 0, {MAX_DIM[param.elem]})"
    dims = [f"i64 {extent} {state.bind(dim)}" for dim in param.dims]
    return ", ".join([f"ptr noalias readonly{captures} {state.bind(param.ptr)}", *dims])


def _passed(state: State, param: Param) -> list[tuple[str, str]]:
    """The types and names of what a parameter is passed as."""
    match param:
        case ScalarParam(reg) if reg.type == BOOL:
            # Its byte is what the register was made of.
            return [("i8", state.bytes[reg])]
        case ScalarParam(reg):
            return [(REGISTER[reg.type], state.names[reg])]
        case ArrayParam(ptr, dims):
            return [(REGISTER[r.type], state.names[r]) for r in (ptr, *dims)]
        case _:
            assert_never(param)


def _subroutines(main: State) -> list[str]:
    """The definitions of all subroutines."""
    lines: list[str] = []
    while main.pending:
        subroutine, items, outer = main.pending.pop()
        for version, code in _versions(main, subroutine):
            state = emit_subroutine(code, items, outer, version)
            _ways_out(state, code)
            lines += [head(state, code), *_body(state)]
            if version is Version.TASK:
                for part in parts(state, subroutine):
                    lines += [part] if isinstance(part, str) else _body(part)
    return lines


def _versions(
    state: State, subroutine: Subroutine
) -> Iterator[tuple[Version, Subroutine]]:
    """The versions of a subroutine that there are, and what each of them does."""
    yield Version.WHOLE, subroutine
    copies = state.copies_of(subroutine)
    if copies.unfolds:
        yield Version.INNER, subroutine
    if copies.head is not None:
        yield Version.HEAD, copies.head
    if subroutine.tasks is not None:
        yield Version.TASK, subroutine


def _chunks(state: State) -> tuple[list[str], dict[str, str]]:
    """The definitions of the bodies of loops over chunks, and what stands for those
    that do the same as others."""
    functions: list[tuple[str, list[str]]] = []
    for part in state.parts:
        if isinstance(part, Section):
            inner = part.around.section()
            sections.begin(inner, part)
            emit_body(inner, part.body)
            sections.end(inner, part)
            _finish(inner, arenas=False)
            functions.append((part.symbol, [section_head(part), *_body(inner)]))
            continue
        inner = state.apart(part.regions)
        inner.cut = state.cut
        inner.arenas = part.takes_arenas or bool(part.regions)
        if part.regions:
            _enter(inner, len(part.regions))
        begin(inner, part)
        emit_body(inner, part.spread.merge if part.is_merge else part.spread.body)
        keeps = part.spread.keeps and not part.is_merge
        _finish(inner, bool(part.regions), keeps=keeps)
        functions.append((part.symbol, [part_head(part), *_body(inner)]))
    lines, instead = Alike(state.alias, state.independent).merged(functions)
    return [*lines, *state.texts], instead


def _ways_out(state: State, subroutine: Subroutine) -> None:
    """Where a subroutine fails it returns the status only."""
    for label, check in state.checks:
        _report(state, label, check)
    emit_end(state, subroutine)


def _returned(function: LoopFunction) -> dict[Reg, int]:
    """The registers that are result arrays, with their numbers among these.

    What branches or loops give has no such register: it is copied to its place.
    """
    found: dict[Reg, int] = {}
    match function.body:
        case (*_, Return(values)):
            rest, arrays = iter(values), count()
            for result in function.results:
                value = next(rest)
                if isinstance(result, ArrayResult):
                    number = next(arrays)
                    if isinstance(value, Reg):
                        found[value] = number
                    for _ in range(result.rank):
                        next(rest)
    return found


def _uses_arenas(body: Iterable[Stmt]) -> bool:
    for stmt in body:
        match stmt:
            case Alloc(region=region):
                if region != RESULT:
                    return True
            case Reset():
                return True
            case CallRuntime(function=function):
                if "a" in RUNTIME[function].before:
                    return True
            case For(body=inner):
                if _uses_arenas(inner):
                    return True
            case Branch(then=then, orelse=orelse):
                if _uses_arenas(then) or _uses_arenas(orelse):
                    return True
            case Spread(keeps=True) | Spread(recurs=True, regions=[_, *_]):
                return True
            case _:
                pass
    return False


def _has_spread(body: Iterable[Stmt]) -> bool:
    return any(isinstance(stmt, Spread) for stmt in everywhere(body))


def _enter(state: State, regions: int) -> None:
    """Take so many regions from the runtime; without them, leave at once."""
    out = state.out
    out.put(f"%arenas = call ptr @chad_enter(ptr %ctx, i64 {regions})")
    out.branch(out.let("icmp ne ptr %arenas, null"), "entered", "refused", LIKELY)
    out.start("refused")
    out.put(f"ret i32 {runtime.MEMORY}")
    out.start("entered")


def _finish(state: State, arenas: bool, *, keeps: bool = False) -> None:
    """The end of the function: every way out meets in one block. `keeps`: who has
    called it has what is in its regions from then on, also if it has failed."""
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
        leave = "chad_keep" if keeps else "chad_leave"
        out.put(f"call void @{leave}(ptr %ctx, ptr %arenas)")
    out.put(f"ret i32 {status}")


def _report(state: State, label: str, check: Check) -> None:
    """The block of a failed check: leave its site and its values in the context."""
    out = state.out
    site = Site(check.failure, tuple(value.type for value in check.values))
    number = state.sites.setdefault(site, len(state.sites))
    out.start(label)
    if state.function.debug_info:
        mark(out, check)
    out.put(f"store i32 {number}, ptr %ctx, align 8")
    for k, value in enumerate(check.values[: runtime.MAX_VALUES]):
        offset = runtime.VALUES_OFFSET + 8 * k
        address = out.let(f"getelementptr inbounds i8, ptr %ctx, i64 {offset}")
        out.put(f"store {word(state, value)}, ptr {address}, align 8")
    out.jump(state.exit(FAILED))


def with_linkage(text: str, symbol: str, linkage: str) -> str:
    """The text of a module with another linkage, or visibility, of its function."""
    head = rf"^define (i32 @{re.escape(symbol)}\()"
    return re.sub(head, rf"define {linkage} \1", text, flags=re.M)


def _head(state: State, symbol: str, params: list[str]) -> str:
    listed = ", ".join(["ptr %ctx", "ptr noalias captures(none) %results", *params])
    linkage = "internal " if state.function.subroutines else ""
    return f"define {linkage}i32 @{symbol}({listed}) #0 {{"


def _before(state: State, texts: list[str]) -> list[str]:
    """Everything in front of the functions."""
    lines, used = [runtime.DECLARATIONS, POWI, *state.constants], []
    if any("@chad_powif(" in line for line in texts):
        lines.append(POWI_SINGLE)
    lines += [runtime.declaration(name) for name in state.runtime]
    lines += [line for size in state.taken for line in runtime.taking(size)]
    lines += state.written
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
    return lines


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
    return [*lines, *METADATA, *state.alias.definitions(), *state.independent]
