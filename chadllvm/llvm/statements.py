"""One function for each kind of statement: loop language → LLVM instructions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

import numpy as np

from chadllvm.ir.loops import (
    RESULT,
    RUNTIME,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Check,
    Clear,
    Copy,
    Data,
    For,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    Local,
    Offset,
    Reset,
    Return,
    RuntimeFunction,
    Set,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar, is_float
from chadllvm.llvm import control, lines, runtime, vecmath
from chadllvm.llvm.chosen import chosen
from chadllvm.llvm.fills import emit_clear, emit_copy
from chadllvm.llvm.independent import begin_group
from chadllvm.llvm.instructions import WORST, emit_instruction
from chadllvm.llvm.invoke import arena_of, emit_invoke, emit_leave, release
from chadllvm.llvm.lanes import Lanes
from chadllvm.llvm.looking import look
from chadllvm.llvm.sections import Section, emit_section
from chadllvm.llvm.spread import emit_spread
from chadllvm.llvm.state import FINISHED, INTERRUPTED, NO_MEMORY, State, Version
from chadllvm.llvm.tasks import emit_divide, emit_together
from chadllvm.llvm.types import BYTES, REGISTER, STORED
from chadllvm.llvm.writer import AS_IT_IS, LIKELY, WRITTEN_OUT
from chadllvm.ops import INSTRUCTIONS

# Constant arrays up to this many bytes become part of the module.
MAX_INLINE_DATA = 1 << 12


def emit_body(state: State, body: Sequence[Stmt]) -> None:
    """Write the statements of a body in order."""
    together: list[Invoke] = []
    parts: Iterable[Stmt | Section] = body
    if state.cut is not None:
        parts = state.cut(state, body)
    for stmt in parts:
        if isinstance(stmt, Section):
            emit_section(state, stmt)
            continue
        if stmt is state.look_before:
            look(state)
        if isinstance(stmt, Invoke) and state.version is Version.TASK:
            together.append(stmt)
            if not stmt.together:
                emit_together(state, together)
                together = []
        else:
            _emit(state, stmt)


def _emit(state: State, stmt: Stmt) -> None:
    if state.function.debug_info:
        lines.mark(state.out, stmt)
    if state.lanes is not None and state.lanes.emit(stmt):
        return
    match stmt:
        case Let():
            _let(state, stmt)
        case Load():
            _load(state, stmt)
        case Store():
            _store(state, stmt)
        case AddTo():
            _add_to(state, stmt)
        case Get():
            _get(state, stmt)
        case Set():
            _set(state, stmt)
        case Accumulate():
            _accumulate(state, stmt)
        case Check():
            _check(state, stmt)
        case For():
            _for(state, stmt)
        case Branch():
            _branch(state, stmt)
        case Offset():
            _offset(state, stmt)
        case Alloc():
            _alloc(state, stmt)
        case Local():
            _local(state, stmt)
        case Data():
            _data(state, stmt)
        case Clear():
            emit_clear(state, stmt)
        case Copy():
            emit_copy(state, stmt)
        case Reset():
            _reset(state, stmt)
        case CallRuntime():
            _call_runtime(state, stmt)
        case Return():
            _return(state, stmt)
        case Invoke():
            called = state.function.subroutine(stmt.subroutine)
            if called.tasks is not None and called.name not in state.inside:
                emit_divide(state, stmt, called)
            else:
                emit_invoke(state, stmt)
        case Leave(values):
            emit_leave(state, values)
        case Spread():
            emit_spread(state, stmt)
        case _:
            assert_never(stmt)


def _let(state: State, stmt: Let) -> None:
    types = [arg.type for arg in stmt.args]
    names = [state.name(arg) for arg in stmt.args]
    widens = F32 in types and _is_of_doubles(state, stmt.op)
    if widens:
        names = [
            state.out.let(f"fpext float {name} to double") if ty == F32 else name
            for name, ty in zip(names, types, strict=True)
        ]
    if stmt.op in WORST:
        result = _better(state, stmt, names)
    elif stmt.op == "stride":
        result = state.stride(stmt.reg, names[0])
    elif stmt.op == "powi" and not state.function.arithmetic.own_functions:
        exponent = state.out.let(f"sitofp i64 {names[1]} to double")
        result = _libm(state, "pow", [names[0], exponent], stmt.reg.name)
    elif INSTRUCTIONS[stmt.op].symbol:
        result = _libm(state, state.math_function(stmt), names, stmt.reg.name)
    else:
        result = emit_instruction(state.out, stmt, names, state.contracts(stmt))
    if widens and stmt.reg.type == F32:
        result = state.out.let(f"fptrunc double {result} to float", stmt.reg.name)
    state.names[stmt.reg] = result


def _libm(state: State, function: str, names: list[str], hint: str) -> str:
    call = vecmath.call(function, names) + state.call_attribute(function)
    return state.out.let(call, hint)


def _is_of_doubles(state: State, op: str) -> bool:
    """Whether an instruction is computed as f64, and rounded, if it is of f32.

    libm's functions of f32 are not its functions of f64, rounded.
    """
    code = INSTRUCTIONS[op]
    if state.function.arithmetic.own_functions:
        return code.is_double
    return code.is_double or bool(code.symbol) or op == "powi"


def _better(state: State, stmt: Let, names: list[str]) -> str:
    """The lesser or the greater one of two numbers.

    LLVM vectorises a reduction by these if it is told that there is no NaN. So the
    worst number takes its place; LLVM must not see that this one never wins, or it
    would ask for a NaN behind the comparison, where each step waits for the answer.
    """
    (old, new), ty = names, REGISTER[stmt.reg.type]
    compare, worst = WORST[stmt.op]
    if not isinstance(stmt.args[1], Lit) or math.isnan(stmt.args[1].value):
        is_number = state.out.let(f"fcmp ord {ty} {new}, {new}")
        worst_name = state.opaque(worst, stmt.reg.type)
        new = state.out.let(f"select i1 {is_number}, {ty} {new}, {ty} {worst_name}")
    wins = state.out.let(f"fcmp nnan nsz {compare} {ty} {new}, {old}")
    text = f"select nnan nsz i1 {wins}, {ty} {new}, {ty} {old}"
    return state.out.let(text, stmt.reg.name)


def _get(state: State, stmt: Get) -> None:
    slot, ty = state.slot(stmt.slot), REGISTER[stmt.slot.type]
    state.names[stmt.reg] = state.out.let(f"load {ty}, ptr {slot}", stmt.reg.name)


def _set(state: State, stmt: Set) -> None:
    state.out.put(f"store {state.typed(stmt.value)}, ptr {state.slot(stmt.slot)}")


def _accumulate(state: State, stmt: Accumulate) -> None:
    slot, ty = state.slot(stmt.slot), REGISTER[stmt.slot.type]
    old = state.out.let(f"load {ty}, ptr {slot}")
    new = state.out.let(_sum(state, stmt.slot.type, old, state.name(stmt.value)))
    state.out.put(f"store {ty} {new}, ptr {slot}")


def _sum(state: State, ty: Scalar, old: str, value: str) -> str:
    """An addition that may be reassociated with others into the same place."""
    if is_float(ty):
        return f"fadd {state.sum_flags}{REGISTER[ty]} {old}, {value}"
    return f"add i64 {old}, {value}"


def _place(state: State, stmt: Load | Store | AddTo, elem: Scalar) -> str:
    index = state.name(stmt.index)
    if state.lane is not None and state.lane.varying.owns(stmt.root):
        index = state.lane.place(state.out, index)
    return _address(state, stmt.ptr, index, elem)


def _address(state: State, ptr: Atom, offset: str, elem: Scalar) -> str:
    """Where an element is: of the pointer's buffer, but of segments in any of them."""
    if offset == "0":
        return state.name(ptr)
    is_apart = any(ptr is segments.base for segments in state.function.segments)
    how = "getelementptr" if is_apart else "getelementptr inbounds"
    text = f"{how} {STORED[elem]}, ptr {state.name(ptr)}, i64 {offset}"
    return state.out.let(text)


def _offset(state: State, stmt: Offset) -> None:
    offset = state.name(stmt.index)
    if state.lane is not None and stmt.ptr in state.lane.varying.pointers:
        offset = state.lane.row(state.out, offset)
    state.names[stmt.reg] = _address(state, stmt.ptr, offset, stmt.elem)


def _load(state: State, stmt: Load) -> None:
    ty = stmt.reg.type
    address = _place(state, stmt, ty)
    text = f"load {STORED[ty]}, ptr {address}, align {BYTES[ty]}"
    value = state.out.let(text + _about(state, stmt), stmt.reg.name)
    if ty == BOOL:
        value = state.out.let(f"icmp ne i8 {value}, 0")
    elif stmt.reg in state.chosen:
        value = state.out.let(f"freeze {STORED[ty]} {value}")
    state.names[stmt.reg] = value


def _store(state: State, stmt: Store) -> None:
    ty = stmt.value.type
    address = _place(state, stmt, ty)
    value = state.name(stmt.value)
    if ty == BOOL:
        value = state.out.let(f"zext i1 {value} to i8")
    text = f"store {STORED[ty]} {value}, ptr {address}, align {BYTES[ty]}"
    state.out.put(text + _about(state, stmt))


def _about(state: State, stmt: Load | Store | AddTo) -> str:
    """The metadata of an access."""
    return state.alias.suffix(stmt.root) + state.group


def _add_to(state: State, stmt: AddTo) -> None:
    ty = stmt.value.type
    address = _place(state, stmt, ty)
    suffix = f", ptr {address}, align {BYTES[ty]}{_about(state, stmt)}"
    old = state.out.let(f"load {STORED[ty]}{suffix}")
    value = state.name(stmt.value)
    exact = f"fadd {REGISTER[ty]} {old}, {value}"
    new = state.out.let(exact if stmt.exact else _sum(state, ty, old, value))
    state.out.put(f"store {STORED[ty]} {new}{suffix}")


def _alloc(state: State, stmt: Alloc) -> None:
    if stmt.region == RESULT:
        size = runtime.emit_bytes(state.out, state.name(stmt.count), BYTES[stmt.elem])
        number, fail = state.returned.get(stmt.reg), state.exit(NO_MEMORY)
        buffer = runtime.emit_result_alloc(state.out, number, size, stmt.zero, fail)
        state.names[stmt.reg] = buffer
    else:
        state.names[stmt.reg] = _allocated(state, stmt)
    if stmt.zero:
        clear = Clear(stmt.reg, stmt.count, stmt.elem, stmt.root, stmt.pieces)
        emit_clear(state, clear)


def _local(state: State, stmt: Local) -> None:
    ty = f"[{stmt.count} x {STORED[stmt.elem]}], align {runtime.ALIGNMENT}"
    state.names[stmt.reg] = state.out.alloca(ty, stmt.reg.name)


def _allocated(state: State, stmt: Alloc) -> str:
    """A buffer in an arena: in place where a recursion asks for it, else by a call.

    The loops of a function are run often for each buffer, and a program has many
    buffers, all of which LLVM would look at many times.
    """
    out, count, size = state.out, state.name(stmt.count), BYTES[stmt.elem]
    arena, fail = arena_of(state, stmt.region), state.exit(NO_MEMORY)
    alias = state.alias.runtime_suffix()
    if state.subroutine is None:
        state.taken[size] = None
        return runtime.emit_take(out, arena, count, size, alias, fail)
    total = runtime.emit_bytes(out, count, size)
    return runtime.emit_arena_alloc(out, arena, total, alias, fail)


def _reset(state: State, stmt: Reset) -> None:
    arena = arena_of(state, stmt.region)
    if stmt.region in state.marks:
        release(state, arena, stmt.region)
    elif stmt.gives:
        state.out.put(f"call void @chad_arena_give(ptr %ctx, ptr {arena})")
    else:
        state.out.put(f"call void @chad_arena_reset(ptr {arena})")


def _data(state: State, stmt: Data) -> None:
    value = np.ascontiguousarray(stmt.value)
    symbol = f"chad_data_{len(state.constants)}"
    if value.nbytes <= MAX_INLINE_DATA:
        content = "".join(f"\\{byte:02X}" for byte in value.tobytes())
        state.constants.append(
            f"@{symbol} = private unnamed_addr constant [{value.nbytes} x i8] "
            f'c"{content}", align {runtime.ALIGNMENT}'
        )
    else:
        state.constants.append(f"@{symbol} = external constant i8, align 8")
        state.data.append((symbol, value))
    state.names[stmt.reg] = f"@{symbol}"


def _for(state: State, stmt: For) -> None:
    polls = stmt.poll or control.may_last(stmt, control.static_work(stmt.body))
    state.chosen |= chosen(everywhere(stmt.body) if stmt.lanes > 1 else stmt.body)
    if stmt.ends:
        # As many as there are in a register.
        stmt = replace(stmt, lanes=stmt.lanes * state.width // 512)
    if stmt.lanes > 1:
        Lanes(state, stmt, _emit).run(stmt, polls)
        return
    if state.lanes is not None:
        state.lanes.inner(stmt, lambda: _in_strips(state, stmt, polls))
    else:
        _in_strips(state, stmt, polls)


def _in_strips(state: State, stmt: For, polls: bool) -> None:
    """A loop, which may have to look for interrupts now and then."""
    low, high = state.name(stmt.low), state.name(stmt.high)
    work, trips = control.static_work(stmt.body), control.trip_count(stmt)
    if not polls or (work is not None and _short(trips, work)):
        _loop(state, stmt, low, high)
    elif work is None or stmt.go is not None:
        _loop(state, stmt, low, high, counted=True)
    else:
        control.emit_strips(
            state.out,
            (low, high),
            control.strip_length(work),
            lambda start, stop: _loop(state, stmt, start, stop),
            state.exit(INTERRUPTED),
        )


def _short(trips: int | None, work: int) -> bool:
    return trips is not None and trips * (work + 1) <= control.STRIP_WORK


def _loop(state: State, stmt: For, low: str, high: str, counted: bool = False) -> None:
    def body() -> None:
        emit_body(state, stmt.body)
        if counted:
            interrupted = state.exit(INTERRUPTED)
            control.emit_countdown(state.out, state.fuel, interrupted)

    def goes_on() -> str:
        assert stmt.go is not None
        return state.out.let(f"load i1, ptr {state.slot(stmt.go)}", "go")

    if state.lanes is not None and stmt.go is None and not counted:
        low = state.lanes.steps(stmt, low, high, lambda: emit_body(state, stmt.body))
    # A strip starts at or after the loop's own start.
    natural = state.name(stmt.low).isdigit()
    if control.is_written_out(stmt):
        about = WRITTEN_OUT
    else:
        about = AS_IT_IS if stmt.few else begin_group(state, stmt)
    control.emit_loop(
        state.out,
        state.bind(stmt.index),
        (low, high),
        natural,
        body,
        None if stmt.go is None else goes_on,
        about,
    )
    state.group = ""


def _branch(state: State, stmt: Branch) -> None:
    out = state.out
    then, after = out.fresh_label("then"), out.fresh_label("after")
    orelse = out.fresh_label("else") if stmt.orelse else after
    out.branch(state.name(stmt.cond), then, orelse)
    out.start(then)
    emit_body(state, stmt.then)
    out.jump(after)
    if stmt.orelse:
        out.start(orelse)
        emit_body(state, stmt.orelse)
        out.jump(after)
    out.start(after)


def _check(state: State, stmt: Check) -> None:
    good = state.out.fresh_label("good")
    state.out.branch(state.name(stmt.cond), good, state.failure(stmt), LIKELY)
    state.out.start(good)


def _call_runtime(state: State, stmt: CallRuntime) -> None:
    function = RUNTIME[stmt.function]
    state.runtime[stmt.function] = None
    before = [f"ptr {runtime.BEFORE[letter]}" for letter in function.before]
    args = ", ".join([*before, *map(state.typed, stmt.args)])
    call = f"call {runtime.c_result(function)} @{stmt.function}({args})"
    if not function.result and not function.refused:
        state.out.put(call)
        return
    result = state.out.let(call, stmt.reg.name if stmt.reg else "status")
    if stmt.reg is not None:
        state.names[stmt.reg] = result
    if function.refused:
        done = state.out.fresh_label("served")
        good = state.out.let(runtime.SERVED[function.refused].format(result))
        state.out.branch(good, done, _refusal(state, function, result), LIKELY)
        state.out.start(done)
    if function.refused == "finds" and stmt.reg is not None:
        state.names[stmt.reg] = state.out.let(f"zext i32 {result} to i64")


def _refusal(state: State, function: RuntimeFunction, result: str) -> str:
    """The block to go to where the runtime refuses: with its status, if it has one."""
    if function.refused not in runtime.STATUS:
        return state.exit(NO_MEMORY)
    label = state.out.fresh_label("refused")
    state.refused.append((result, label))
    return label


def _return(state: State, stmt: Return) -> None:
    out = state.out
    for k, value in enumerate(stmt.values):
        address = out.let(f"getelementptr inbounds i64, ptr %results, i64 {k}")
        out.put(f"store {word(state, value)}, ptr {address}, align 8")
    state.returns.append(out.label)
    out.jump(FINISHED)
    # What follows a return, if anything, is never reached.
    out.start(out.fresh_label("unreachable"))


def word(state: State, value: Atom) -> str:
    """A value as the eight bytes in which results and failures carry it.

    A bool is an integer there, an f32 an f64.
    """
    if value.type == BOOL:
        wide = state.out.let(f"zext i1 {state.name(value)} to i64")
        return f"{REGISTER[I64]} {wide}"
    if value.type == F32:
        wide = state.out.let(f"fpext float {state.name(value)} to double")
        return f"{REGISTER[F64]} {wide}"
    return state.typed(value)
