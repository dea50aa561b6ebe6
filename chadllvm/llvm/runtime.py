"""What generated code knows of the C runtime: its calls, and arena allocation inline.

The functions are declared with what they may touch (their own structures only), so that
a call for memory or a look for interrupts does not keep LLVM from moving the program's
loads across it. Resetting a region is the exception: buffers made later may lie where
earlier ones lay, so nothing may move across.
"""

from __future__ import annotations

from chadllvm.ir.loops import RUNTIME, RuntimeFunction
from chadllvm.llvm.status import INTERRUPT, INVALID, MEMORY, OK, PROGRAM, RECURSION
from chadllvm.llvm.writer import LIKELY, Writer

__all__ = ["INTERRUPT", "INVALID", "MEMORY", "OK", "PROGRAM", "RECURSION"]

# Offsets of parts of a context; size of an arena.
VALUES_OFFSET = 8
MAX_VALUES = 8
STACK_OFFSET = 72
FUEL_OFFSET = 80
FORKS_OFFSET = 88
CREW_OFFSET = 96
ARENA_SIZE = 64

# Offset of an arena's current chunk.
CURRENT = 24

# Buffers of an arena start at multiples of this many bytes.
ALIGNMENT = 64

# More bytes than any memory has.
HUGE = (1 << 63) - 1

SYMBOLS = (
    "chad_enter",
    "chad_leave",
    "chad_arena_grow",
    "chad_arena_reset",
    "chad_arena_release",
    "chad_arena_give",
    "chad_deep",
    "chad_deeper",
    "chad_parallel",
    "chad_divide",
    "chad_offer",
    "chad_join",
    "chad_keep",
    "chad_result_alloc",
    "chad_lend",
    "chad_result_take",
    "chad_result_copy",
    "chad_poll",
    *RUNTIME,
)

_OWN = "nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"

DECLARATIONS = f"""\
declare ptr @chad_enter(ptr, i64) {_OWN}
declare void @chad_leave(ptr, ptr) nounwind
declare align 64 ptr @chad_arena_grow(ptr, ptr, i64) cold {_OWN}
declare void @chad_arena_reset(ptr) nounwind
declare void @chad_arena_release(ptr, ptr, ptr) nounwind
declare void @chad_arena_give(ptr, ptr) nounwind
declare i32 @chad_deep(ptr, ptr, ptr) nounwind
declare i32 @chad_deeper(ptr, ptr) cold {_OWN}
declare i32 @chad_parallel(ptr, ptr, ptr, ptr, i64, i64, i64) nounwind
declare i32 @chad_divide(ptr, ptr, ptr, ptr, i64) nounwind
declare void @chad_offer(ptr) cold nounwind
declare i32 @chad_join(ptr, ptr, i32) cold nounwind
declare void @chad_keep(ptr, ptr) nounwind
declare noalias align 64 ptr @chad_result_alloc(ptr, i64) {_OWN}
declare void @chad_lend(ptr, ptr) nounwind
declare noalias ptr @chad_result_take(ptr, i64, i64, i32) {_OWN}
declare i32 @chad_result_copy(ptr, ptr, i64, i64, ptr, ptr) nounwind
declare i32 @chad_poll(ptr) cold {_OWN}
"""

# What stands for the context, an arena and a null pointer in front of the arguments of
# a function of the runtime's structures; its types; how it is seen that it got memory.
BEFORE = {"c": "%ctx", "a": "%arenas", "n": "null"}
_TYPES = {"f": "double", "i": "i64", "p": "ptr", "c": "ptr", "a": "ptr", "n": "ptr"}
SERVED = {
    "null": "icmp ne ptr {}, null",
    "negative": "icmp sge i64 {}, 0",
    "least": f"icmp ne i64 {{}}, {-(1 << 63)}",
    "status": f"icmp eq i32 {{}}, {OK}",
    "finds": f"icmp ule i32 {{}}, {PROGRAM}",
}

# How the functions say it that return a status.
STATUS = ("status", "finds")


def c_result(function: RuntimeFunction) -> str:
    """The type that a C function returns."""
    if function.refused in STATUS:
        return "i32"
    return _TYPES[function.result] if function.result else "void"


def declaration(name: str) -> str:
    """A function of the runtime's structures; it may touch all that they hold."""
    function = RUNTIME[name]
    types = [_TYPES[letter] for letter in function.before + function.args]
    if function.is_apart:
        types = [f"{ty} captures(none)" if ty == "ptr" else ty for ty in types]
    params = ", ".join(types)
    cold = " cold" if function.is_cold else ""
    about = _OWN if function.is_apart else "nounwind"
    return f"declare {c_result(function)} @{name}({params}){cold} {about}"


def emit_bytes(out: Writer, count: str, size: int) -> str:
    """The bytes of `count` elements; huge (and refused) on overflow."""
    if count.isdigit():
        return str(min(int(count) * size, HUGE))
    limit = (1 << 62) // size
    fits = out.let(f"icmp ule i64 {count}, {limit}")
    product = out.let(f"mul i64 {count}, {size}")
    return out.let(f"select i1 {fits}, i64 {product}, i64 {HUGE}", "bytes")


def emit_arena_alloc(out: Writer, arena: str, size: str, alias: str, fail: str) -> str:
    """Allocate in an arena: bump its cursor, or ask the runtime for a new chunk.

    `alias` is the metadata of accesses to the arena, `fail` the block to go to when
    there is no memory.
    """
    rounded = _round_up(out, size)
    limit_at = out.let(f"getelementptr inbounds i8, ptr {arena}, i64 8")
    cursor = out.let(f"load ptr, ptr {arena}, align 8{alias}, !align !3", "cursor")
    limit = out.let(f"load ptr, ptr {limit_at}, align 8{alias}", "limit")
    low = out.let(f"ptrtoint ptr {cursor} to i64")
    high = out.let(f"ptrtoint ptr {limit} to i64")
    room = out.let(f"sub i64 {high}, {low}")
    fits = out.let(f"icmp ule i64 {rounded}, {room}", "bump_fits")
    fast, slow = out.fresh_label("bump"), out.fresh_label("grow")
    done = out.fresh_label("allocated")
    out.branch(fits, fast, slow, LIKELY)
    out.start(fast)
    bumped = out.let(f"getelementptr inbounds i8, ptr {cursor}, i64 {rounded}")
    out.put(f"store ptr {bumped}, ptr {arena}, align 8{alias}")
    out.jump(done)
    out.start(slow)
    grown = out.let(f"call ptr @chad_arena_grow(ptr %ctx, ptr {arena}, i64 {size})")
    missing = out.let(f"icmp ne ptr {grown}, null")
    out.branch(missing, done, fail, LIKELY)
    out.start(done)
    return out.let(f"phi ptr [ {cursor}, %{fast} ], [ {grown}, %{slow} ]", "buffer")


def take_name(size: int) -> str:
    """The function that allocates elements of this many bytes in an arena."""
    return f"chad_take_{size}"


def taking(size: int) -> list[str]:
    """Its definition: what `emit_arena_alloc` does, once for all who call it."""
    out = Writer()
    total = emit_bytes(out, "%count", size)
    buffer = emit_arena_alloc(out, "%arena", total, "", "no_memory")
    out.put(f"ret ptr {buffer}")
    out.start("no_memory")
    out.put("ret ptr null")
    params = "ptr %ctx, ptr %arena, i64 %count"
    head = f"define internal ptr @{take_name(size)}({params}) noinline nounwind {{"
    return [head, "start:", *out.lines, "}"]


def emit_take(
    out: Writer, arena: str, count: str, size: int, alias: str, fail: str
) -> str:
    """Allocate in an arena by a call; the arguments are those of `emit_arena_alloc`."""
    args = f"ptr %ctx, ptr {arena}, i64 {count}"
    call = f"call align {ALIGNMENT} ptr @{take_name(size)}({args}){alias}"
    return _present(out, out.let(call, "buffer"), fail)


def _round_up(out: Writer, size: str) -> str:
    if size.isdigit():
        return str(-(-int(size) // ALIGNMENT) * ALIGNMENT)
    padded = out.let(f"add i64 {size}, {ALIGNMENT - 1}")
    return out.let(f"and i64 {padded}, {-ALIGNMENT}")


def emit_result_alloc(
    out: Writer, number: int | None, size: str, zero: bool, fail: str
) -> str:
    """Allocate a buffer that will belong to the caller, or take memory of its own.

    `number` is that of the array among those that are returned, if it is known. What is
    filled with `zero` is there to be added to.
    """
    call = f"chad_result_alloc(ptr %ctx, i64 {size})"
    if number is not None:
        call = f"chad_result_take(ptr %ctx, i64 {number}, i64 {size}, i32 {zero:d})"
    return _present(out, out.let(f"call ptr @{call}", "result"), fail)


def _present(out: Writer, buffer: str, fail: str) -> str:
    """A buffer, if there is one."""
    present = out.let(f"icmp ne ptr {buffer}, null")
    done = out.fresh_label("allocated")
    out.branch(present, done, fail, LIKELY)
    out.start(done)
    return buffer
