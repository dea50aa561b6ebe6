"""The imperative loop language: what the core is lowered to, and what becomes LLVM IR.

A function is a tree of statements over registers (assigned once), slots (mutable local
scalars) and buffers in memory. All memory is explicit: a buffer lives in a *region* and
is gone when the region is reset or the function returns; region `RESULT` holds buffers
that are handed to the caller. Pointers of different *roots* never point into the same
buffer: that is all the code generator needs to know about aliasing.

Arrays are contiguous in C order: a pointer register and one i64 for each dimension.
Nothing here knows of derivatives, cells or closures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from chadllvm.ir.op import INSTRUCTIONS, Instruction
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64, Box, Scalar
from chadllvm.support.diagnostic import NO_SPAN, Span
from chadllvm.support.options import Arithmetic

PTR = Scalar("ptr")

# The bound of a loop that only its slot `go` ends.
UNBOUNDED = Lit((1 << 63) - 1)

# The region of buffers that are handed to the caller.
RESULT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Reg:
    """A value computed once: f64, f32, i64, bool or ptr.

    `span`: where it comes from, if lines are kept for debuggers (`llvm/lines.py`).
    """

    name: str
    type: Scalar
    span: Span = NO_SPAN


Atom = Reg | Lit


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A mutable local scalar (a stack slot, which LLVM turns into registers)."""

    name: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Failure:
    """What a failed check raises: an exception kind, a message, and the place.

    `{0}`, `{1}`, … in the message stand for the values of the check. `own`: the words
    are the user's, and the exception says nothing else.
    """

    kind: str
    message: str
    span: Span
    own: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """`reg = op(args)`: a pure machine instruction; `ir/op.py` lists them."""

    reg: Reg
    op: str
    args: tuple[Atom, ...]

    @property
    def code(self) -> Instruction:
        """What there is to know of the instruction."""
        return INSTRUCTIONS[self.op]


@dataclass(frozen=True, slots=True, eq=False)
class Get:
    """`reg = slot`; `apart`: pointers to other buffers than this one."""

    reg: Reg
    slot: Slot
    apart: tuple[Reg, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """`slot = value`; the first one in program order also declares the slot."""

    slot: Slot
    value: Atom


@dataclass(frozen=True, slots=True, eq=False)
class Accumulate:
    """`slot += value`; sums into one slot may be reassociated."""

    slot: Slot
    value: Atom


@dataclass(frozen=True, slots=True, eq=False)
class Alloc:
    """`reg = new buffer of count elements` in a region; zero filled if `zero`, with
    `pieces` as by `Clear`.

    `count` may be zero; the pointer is then valid and not null.
    """

    reg: Reg
    region: int
    count: Atom
    elem: Scalar
    root: int
    zero: bool = False
    pieces: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """`reg = a buffer of count elements` on the stack, of the function or the chunk."""

    reg: Reg
    count: int
    elem: Scalar
    root: int


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """`reg = address of a constant array`, which lives as long as the function."""

    reg: Reg
    value: np.ndarray
    root: int


@dataclass(frozen=True, slots=True, eq=False)
class Offset:
    """`reg = ptr + index` in elements.

    `extent`: what is reached through it is among so many elements from there on.
    """

    reg: Reg
    ptr: Atom
    index: Atom
    elem: Scalar
    extent: Atom | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """`reg = ptr[index]`"""

    reg: Reg
    ptr: Atom
    index: Atom
    root: int


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """`ptr[index] = value`"""

    ptr: Atom
    index: Atom
    value: Atom
    root: int


@dataclass(frozen=True, slots=True, eq=False)
class AddTo:
    """`ptr[index] += value`; sums into one place may be reassociated if not `exact`."""

    ptr: Atom
    index: Atom
    value: Atom
    root: int
    exact: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Clear:
    """Fill `count` elements with zeros; with `pieces` on several threads, if there are
    many."""

    ptr: Atom
    count: Atom
    elem: Scalar
    root: int
    pieces: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """Copy `count` elements between buffers that do not overlap; `pieces` is that of
    `Clear`."""

    target: Atom
    source: Atom
    count: Atom
    elem: Scalar
    target_root: int
    source_root: int
    pieces: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class For:
    """Run the body for index = low, …, high - 1. `poll`: look for interrupts.

    `go`: a slot that is looked at in front of each step, and ends the loop if false.
    `commutes`: the iterations may be run in any order, and at the same time if each has
    the buffers of the roots `private` for itself, which keep nothing for the next one.
    `lanes`: how many are run side by side, statement by statement; their number is a
    multiple of that. If a check fails in one of them, or a buffer for all of them would
    be too large, they end, and `resume` has the index from where they have to be run
    one after the other, to see which is first.
    `rows`: the lanes of a loop around go through this loop one after the other.
    `few`: it makes few steps, or none, as what lanes have left.
    `ends`: it may have any number of steps, and the lanes at its ends overlap others:
    steps may be taken twice, if none sees what a step has written.
    `note` is the number of the loop's note, if it has one.
    """

    index: Reg
    low: Atom
    high: Atom
    body: tuple[Stmt, ...]
    poll: bool = False
    go: Slot | None = None
    commutes: bool = False
    private: tuple[int, ...] = ()
    lanes: int = 1
    resume: Slot | None = None
    rows: bool = False
    few: bool = False
    ends: bool = False
    note: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """Run one of two bodies.

    `grows`: the first moves buffers to larger ones, the second is empty. It may be run
    where it need not: what there is in the buffers stays, and there is room for more.
    """

    cond: Atom
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    grows: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Leave the function with this failure unless `cond` holds."""

    cond: Atom
    failure: Failure
    values: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Reset:
    """Give back all buffers of a region; `gives`: the memory as well.

    Otherwise the region keeps that for its next buffers, as in a loop.
    """

    region: int
    gives: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CallRuntime:
    """`reg = function(args)`, a function of the C runtime that `RUNTIME` lists.

    What it makes is in region 0, and may be reached through any root. Out of memory,
    the call does not return here.
    """

    reg: Reg | None
    function: str
    args: tuple[Atom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """Leave with these values; an array is its pointer and its dimensions."""

    values: tuple[Atom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Invoke:
    """`regs = subroutine(args)`; `into`: the regions of the buffers that it returns.

    If it fails, so does the function around. `together`: it does not need the next
    statement, another `Invoke`, nor the other way round, but the first error counts.
    """

    regs: tuple[Reg, ...]
    subroutine: str
    args: tuple[Atom, ...]
    into: tuple[int, ...] = ()
    together: bool = False

    @property
    def hands_on(self) -> bool:
        """Whether all buffers it returns are returned by the subroutine around."""
        return bool(self.into) and all(region < RESULT for region in self.into)


@dataclass(frozen=True, slots=True, eq=False)
class Leave:
    """Leave a subroutine with these values; an array is its pointer and dimensions."""

    values: tuple[Atom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Run the body for chunk = 0, …, chunks - 1, in any order or at the same time.

    Behind the body of each chunk `merge` is run, for each `part` = 0, …, parts - 1: in
    the order of the chunks for each of them, and for different ones perhaps at the same
    time. The body of chunk c begins when all of chunk c - lanes has been merged. What
    fails first in this order ends the function. One chunk has one part.

    The slots in the body belong to it, and so do its `regions`, whose buffers are gone
    at its end; if it `keeps` them, they live as long as the function. In `merge`, slots
    are those around. If it `recurs`, it is run in a loop, and often for one chunk.

    With `patience` chunks are *strands*: a literal number, without `merge`. With more
    than one lane the first is begun here, and others may take the rest once that has
    taken so many nanoseconds; else all are run in order. They set the slots `results`
    of the place around, each by one of them.
    """

    chunk: Reg
    chunks: Atom
    lanes: Atom
    body: tuple[Stmt, ...]
    merge: tuple[Stmt, ...]
    regions: tuple[int, ...]
    patience: int | None = None
    keeps: bool = False
    results: tuple[Slot, ...] = ()
    part: Reg = field(default_factory=lambda: Reg("part", I64))
    parts: Atom = Lit(1)
    recurs: bool = False


Stmt = (
    Let | Get | Set | Accumulate | Alloc | Local | Data | Offset | Load | Store | AddTo
    | Clear | Copy | For | Branch | Check | Reset | CallRuntime | Return
    | Invoke | Leave | Spread
)  # fmt: skip


def bodies_of(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The bodies inside of a statement."""
    match stmt:
        case For(body=body):
            return (body,)
        case Branch(_, then, orelse):
            return (then, orelse)
        case Spread(body=body, merge=merge):
            return (body, merge)
        case _:
            return ()


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """A buffer that runs of a subroutine add to, and what it is as large as; or a slot.

    A slot is like a buffer with one element, which has no root.
    """

    ptr: Reg | Slot
    count: Atom
    elem: Scalar
    root: int


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """What runs of a subroutine collect: slots around it, and how each begins.

    `used` is how much they have collected, at most `row` each. What it was before, or
    -1 minus that, is result `number`. `below`: how much others have collected
    elsewhere.
    """

    slots: tuple[tuple[Slot, Lit | None], ...]
    used: Slot
    row: int
    below: Slot
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What runs of a subroutine read of the tape of `writer`: each pointer is what a
    slot of it holds in the end. Parameter `number` is the place there."""

    writer: str
    number: int
    pointers: tuple[tuple[Reg, Slot], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Nodes that stand wherever there is room, with numbers as seen from `base`.

    `rooms`: the number of the next node, that behind the last one there is room for,
    and how many there has been room for. If all are 0 there is none. A row is written
    once, before anybody has its number, and numbers are nothing but places.
    """

    base: Reg
    rooms: tuple[Slot, Slot, Slot]


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """How invocations that are together run on several threads.

    Those of the first `levels` levels may, or of more where it goes deep, once the
    outermost has taken `patience` nanoseconds; negative: never. Where others run them,
    they have the `tape` for themselves, and the `rooms`, which are 0 there
    (`Segments`); and so have, whoever runs them, all but the first of those together
    the `cells`; these are for so many levels only as the `work` of all runs is worth
    it. Copies of them are in `region`.
    """

    levels: int
    patience: int
    region: int
    tape: Tape | None = None
    columns: Columns | None = None
    cells: tuple[Private, ...] = ()
    work: int = 0
    rooms: tuple[Slot, ...] = ()


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array among the results of a subroutine: which of them is its pointer, how
    many dimensions stand behind that, and what its elements are."""

    place: int
    rank: int
    elem: Scalar | Box


@dataclass(frozen=True, slots=True, eq=False)
class Subroutine:
    """A part of a function that may invoke itself. It sees the registers and slots of
    the place where it is invoked from outside, and stands at that place.

    What a run of it allocates in its own `regions` is gone when it returns. Of each of
    them there are two, `r` and `r + 1`: those who invoke each other use them in turn,
    so that one may return a buffer in a region of who invoked it; `turn` is 0 or 1.
    `into(k)` is the region that buffer k of its results has to be in. Who returns what
    an invocation has returned (`hands_on`) has the same turn as that: nothing of either
    is in the region that they return it in.
    """

    name: str
    turn: Reg
    params: tuple[Reg, ...]
    results: tuple[Scalar, ...]
    buffers: tuple[Buffer, ...]
    body: tuple[Stmt, ...]
    regions: tuple[int, ...]
    tasks: Tasks | None = None


def into(buffer: int) -> int:
    """The region that a subroutine's result has to be in."""
    return RESULT - 1 - buffer


@dataclass(frozen=True, slots=True, eq=False)
class ScalarParam:
    """A parameter that is passed by value."""

    reg: Reg


@dataclass(frozen=True, slots=True, eq=False)
class ArrayParam:
    """An input array: never written to; all inputs share no root with other buffers."""

    ptr: Reg
    dims: tuple[Reg, ...]
    elem: Scalar


Param = ScalarParam | ArrayParam


@dataclass(frozen=True, slots=True)
class ScalarResult:
    type: Scalar


@dataclass(frozen=True, slots=True)
class ArrayResult:
    """A result array; its buffer is in region RESULT and used for this result only."""

    elem: Scalar
    rank: int


Result = ScalarResult | ArrayResult


@dataclass(frozen=True, slots=True)
class ArrayCopy:
    """A copy of an array that the lowering had to make: of which, where, and why.

    `because` is the place that the reason speaks of, or `NO_SPAN`.
    """

    array: str
    span: Span
    reason: str
    because: Span


@dataclass(frozen=True, slots=True)
class Stored:
    """What each step of a loop puts into an array: its name, and where it comes from.

    `bytes` is None if it is an array itself. `tape`: only the reverse needs it, and
    `why` it is not computed again there.
    """

    name: str
    span: Span
    bytes: int | None
    tape: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class LoopNote:
    """What there is to know of a loop of the program.

    `reads` are the names of what it reads of the tape; `checks` are the places whose
    indices it checks in every step. `order`: whether its steps run in chunks, on
    several threads, or why they are in order; empty for a loop inside of such steps,
    or one with little to do.
    """

    span: Span
    depth: int
    stored: tuple[Stored, ...]
    reads: tuple[str, ...]
    checks: tuple[Span, ...]
    order: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class LoopFunction:
    """A function ready for code generation.

    `regions` counts its regions (0, 1, …; all empty at entry and given back at the
    end); `roots[r]` is the representative of root r: roots with different ones do not
    alias. `copies` and `notes` are what was decided on the way, for the user to read;
    a subroutine stands in front of those that it is inside of. `arithmetic` says what
    may be done to its floats. `sanitize`: its code is to check its accesses
    (`llvm/sanitize.py`). `debug_info`: its code has lines (`llvm/lines.py`). `cpu`: the
    processor that it is for (`CompileOptions.cpu`).
    """

    name: str
    params: tuple[Param, ...]
    results: tuple[Result, ...]
    body: tuple[Stmt, ...]
    regions: int
    roots: tuple[int, ...]
    copies: tuple[ArrayCopy, ...] = ()
    notes: tuple[LoopNote, ...] = ()
    subroutines: tuple[Subroutine, ...] = ()
    segments: tuple[Segments, ...] = ()
    arithmetic: Arithmetic = Arithmetic()
    sanitize: bool = False
    debug_info: bool = False
    cpu: str = "native"

    def subroutine(self, name: str) -> Subroutine:
        """The subroutine of this name."""
        return next(s for s in self.subroutines if s.name == name)


def can_fail(function: LoopFunction) -> bool:
    """Whether there is a check in a function."""
    waiting = [function.body, *(s.body for s in function.subroutines)]
    while waiting:
        for stmt in waiting.pop():
            match stmt:
                case Check():
                    return True
                case For(body=body):
                    waiting.append(body)
                case Branch(then=then, orelse=orelse):
                    waiting += [then, orelse]
                case _:
                    pass
    return False


_TYPES = {"d": F64, "s": F32, "i": I64, "b": BOOL, "p": PTR}


def operand_types(op: str, found: Sequence[Scalar]) -> list[Scalar]:
    """The types that the operands must have, if they are not all right already."""
    letters = INSTRUCTIONS[op].params
    width = F32 if F32 in found else F64
    return [{"f": width, "T": found[-1]}.get(x) or _TYPES[x] for x in letters]


def result_of(op: str, found: Sequence[Scalar]) -> Scalar:
    """The type of the result, for operands of these types."""
    letter = INSTRUCTIONS[op].result
    if letter == "T":
        return found[-1]
    if letter == "f":
        return F32 if F32 in found else F64
    return _TYPES[letter]


@dataclass(frozen=True, slots=True)
class RuntimeFunction:
    """A function of the C runtime's generic structures (`chad_rt.h`).

    `args` has a letter for each argument of `CallRuntime`: f, i, or p for a pointer;
    `before` are what the C function takes in front of them: the context (c), the arena
    of region 0 (a), a null pointer (n). `result` is a letter, or "" for none. `refused`
    is how the function says that there is no memory: by "null", by a "negative" number,
    by the "least" number, by a "status", or "" if it needs none. The result of one that
    "finds" is its status: that of success, or of a program that fails; it ends the
    function by any other.
    `is_cold`: it is seldom called; `is_apart`: it touches what it is handed at most.
    """

    before: str
    args: str
    result: str = ""
    refused: str = ""
    is_cold: bool = False
    is_apart: bool = False


# What steps call that take turns at rows.
ROW_TURN = "chad_row_turn"
ROW_DONE = "chad_row_done"

RUNTIME: dict[str, RuntimeFunction] = {
    "chad_array_new": RuntimeFunction("ca", "ip", "p", "null"),
    "chad_array_row": RuntimeFunction("ca", "pii", "p", "null"),
    "chad_array_with": RuntimeFunction("ca", "piip", "p", "null"),
    "chad_array_resized": RuntimeFunction("ca", "ppip", "p", "null"),
    # The array of no bag: zeros, which are not written before somebody looks at them.
    "chad_array_of_bag": RuntimeFunction("can", "ip", "p", "null"),
    "chad_array_data": RuntimeFunction("ca", "p", "p", "null"),
    "chad_cells_new": RuntimeFunction("ca", "", "p", "null"),
    "chad_cells_open_real": RuntimeFunction("c", "p", "i", "negative"),
    "chad_cells_open_array": RuntimeFunction("c", "pip", "i", "negative"),
    "chad_cells_add_real": RuntimeFunction("", "pif"),
    "chad_cells_add_element": RuntimeFunction("c", "piif", "", "status"),
    "chad_cells_add_array": RuntimeFunction("c", "piip", "", "status"),
    "chad_cells_close_real": RuntimeFunction("", "pi", "f"),
    "chad_cells_close_array": RuntimeFunction("c", "pi", "p", "null"),
    # A buffer of region 0 that grows: its words, those to keep, those it shall have.
    "chad_arena_extend": RuntimeFunction("ca", "piii", "p", "null", is_cold=True),
    # A buffer of region 0 for rows, seen from a pointer: the words of each, how many.
    "chad_arena_segment": RuntimeFunction("ca", "pii", "i", "least", is_cold=True),
    # How many lanes this many chunks of a `Spread` should have.
    "chad_lanes": RuntimeFunction("c", "i", "i"),
    # Wait until it is the turn of a chunk, whose additions to this array are next.
    "chad_turn": RuntimeFunction("c", "p", "", "status", is_cold=True, is_apart=True),
    # Wait until a step may add to a row, and say that it has: the numbers of the rows,
    # the place of the row's there, and which step.
    ROW_TURN: RuntimeFunction("c", "pii", "", "status"),
    ROW_DONE: RuntimeFunction("", "pii"),
    # Sort a log: its places and values, bytes of a value, entries and room for them,
    # the size of the array, its parts, and where their entries start.
    "chad_log_sort": RuntimeFunction("", "ppiiiiip", is_apart=True),
    # Fill so many bytes with zeros, or with what is elsewhere: large `pieces`.
    "chad_clear": RuntimeFunction("c", "pi", "", "status", is_cold=True, is_apart=True),
    "chad_copy": RuntimeFunction("c", "ppi", "", "status", is_cold=True, is_apart=True),
    # Whether there is no NaN among elements.
    "chad_are_doubles": RuntimeFunction("c", "pi", "i", "finds"),
    "chad_are_floats": RuntimeFunction("c", "pi", "i", "finds"),
    # Words of a line to be written; and the line: its kinds and text, the stream.
    "chad_print_real": RuntimeFunction("c", "f"),
    "chad_print_integer": RuntimeFunction("c", "i"),
    "chad_print_address": RuntimeFunction("c", "p"),
    "chad_print": RuntimeFunction("c", "pi", "", "status", is_cold=True),
    # The steps that the runtime's structures have made so far.
    "chad_steps": RuntimeFunction("c", "", "i"),
}
