"""Filling memory with zeros, or with what is elsewhere.

That is a `memset` or a `memcpy` to LLVM, which knows what these do. What may be done in
pieces is asked for its size first, and left to the runtime if it is large:

    %large = icmp uge i64 %bytes, 524288
    br i1 %large, label %pieces, label %fill
"""

from __future__ import annotations

from chadllvm.ir.loops import Atom, Clear, Copy
from chadllvm.ir.types import Scalar
from chadllvm.llvm import runtime
from chadllvm.llvm.state import State
from chadllvm.llvm.types import BYTES
from chadllvm.llvm.writer import LIKELY, UNLIKELY
from chadllvm.lower.fills import PIECE


def emit_clear(state: State, stmt: Clear) -> None:
    """Fill elements with zeros."""
    size, ptr = _size(state, stmt.count, stmt.elem), state.name(stmt.ptr)
    args = f"ptr align {BYTES[stmt.elem]} {ptr}, i8 0, i64 {size}, i1 false"
    fill = f"call void @llvm.memset.p0.i64({args})" + state.alias.suffix(stmt.root)
    if stmt.pieces:
        _emit_pieces(state, f"chad_clear(ptr %ctx, ptr {ptr}, i64 {size})", size, fill)
    else:
        state.out.put(fill)


def emit_copy(state: State, stmt: Copy) -> None:
    """Copy elements."""
    size, align = _size(state, stmt.count, stmt.elem), BYTES[stmt.elem]
    target, source = state.name(stmt.target), state.name(stmt.source)
    args = f"ptr align {align} {target}, ptr align {align} {source}"
    fill = f"call void @llvm.memcpy.p0.p0.i64({args}, i64 {size}, i1 false)"
    fill += state.alias.suffix(stmt.target_root, stmt.source_root)
    if stmt.pieces:
        call = f"chad_copy(ptr %ctx, ptr {target}, ptr {source}, i64 {size})"
        _emit_pieces(state, call, size, fill)
    else:
        state.out.put(fill)


def _emit_pieces(state: State, call: str, size: str, fill: str) -> None:
    """Have the runtime fill what is large; leave if it refuses."""
    out = state.out
    state.runtime[call.partition("(")[0]] = None
    pieces, small = out.fresh_label("pieces"), out.fresh_label("fill")
    refused, filled = out.fresh_label("refused"), out.fresh_label("filled")
    large = out.let(f"icmp uge i64 {size}, {2 * PIECE}")
    out.branch(large, pieces, small, UNLIKELY)
    out.start(pieces)
    status = out.let(f"call i32 @{call}", "status")
    good = out.let(f"icmp eq i32 {status}, {runtime.OK}")
    out.branch(good, filled, refused, LIKELY)
    state.refused.append((status, refused))
    out.start(small)
    out.put(fill)
    out.jump(filled)
    out.start(filled)


def _size(state: State, count: Atom, elem: Scalar) -> str:
    """The bytes of elements of an existing buffer."""
    name = state.name(count)
    if name.isdigit():
        return str(int(name) * BYTES[elem])
    return state.out.let(f"mul nuw nsw i64 {name}, {BYTES[elem]}")
