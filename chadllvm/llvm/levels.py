"""Which calls are of the first levels, which other threads may run (`tasks.py`).

That depends on the program and its numbers alone. Calls of the reverse have the more
levels the more calls there were, which is known by then. Of others it is not, so they
have few, but more on a *way*, where all calls around are the first of those together,
or all the second, and so on: so adaptive methods divide where it is difficult at an
end. So are calls beside a way, but not what they call. The number of a call says
whether it was of the first levels, for then it must be in the reverse.

With each level there are twice as many calls at most: if more than two are together,
they are several levels below the one that calls them.
"""

from __future__ import annotations

from chadllvm.ir.loops import Columns, Tasks
from chadllvm.llvm.state import State

# A copy of a cell that calls add to is cleared and added to it: together this is no
# more than the calls' work divided by this.
_SHARE = 16

# Calls of the reverse have more levels if there are two to this number of calls, or
# more, for each call of these levels; how many more at most.
_FEW = 6
_MORE_LEVELS = 6

# How many levels more a way has.
WAY = 18

# The floor where there are no copies: below all levels.
_NO_FLOOR = -WAY - 1

# The outermost call, which all ways begin with.
ANY = -(1 << 63)


def levels_of(state: State, tasks: Tasks) -> tuple[str, str]:
    """How many levels there are, and the level at which calls run in order."""
    if tasks.columns is None:
        return str(tasks.levels), str(_NO_FLOOR)
    calls = _calls(state, tasks.columns)
    worth = state.out.let(f"sub i64 {_log2(state, calls)}, {_FEW}")
    worth = _intrinsic(state, "smin", f"i64 {worth}, i64 {tasks.levels + _MORE_LEVELS}")
    levels = _intrinsic(state, "smax", f"i64 {worth}, i64 {tasks.levels}")
    return levels, _floor(state, tasks, calls, levels)


def levels_down(count: int) -> int:
    """How many levels calls are below who calls so many of them together."""
    return max(1, (count - 1).bit_length())


def _calls(state: State, columns: Columns) -> str:
    """How many calls there were that collected, about."""
    out = state.out
    tasks = state.function.subroutine(columns.writer).tasks
    assert tasks is not None and tasks.tape is not None
    tape = tasks.tape
    slots = (tape.used, tape.below)
    counts = [out.let(f"load i64, ptr {state.slot(slot)}") for slot in slots]
    used = out.let(f"add i64 {', '.join(counts)}", "used")
    return out.let(f"udiv i64 {used}, {tape.row}", "calls")


def _floor(state: State, tasks: Tasks, calls: str, levels: str) -> str:
    """As many levels have copies of the cells as all calls' work is worth, one less
    than two to the number of levels."""
    if not tasks.cells:
        return str(_NO_FLOOR)
    out = state.out
    work = out.let(f"mul i64 {calls}, {tasks.work}")
    size = "1"
    for cell in tasks.cells:
        size = out.let(f"add i64 {size}, {state.name(cell.count)}")
    copies = out.let(f"udiv i64 {work}, {out.let(f'mul i64 {size}, {_SHARE}')}")
    floor = out.let(f"sub i64 {levels}, {_log2(state, copies)}")
    return _intrinsic(state, "smax", f"i64 {floor}, i64 0")


def _log2(state: State, number: str) -> str:
    """Of a number plus one, rounded down."""
    more = state.out.let(f"add i64 {number}, 1")
    return state.out.let(
        f"sub i64 63, {_intrinsic(state, 'ctlz', f'i64 {more}, i1 true')}"
    )


def ways_of(state: State) -> str:
    """On which ways the calls of a call may be: on any that are the outermost one's."""
    is_any = state.out.let("icmp slt i64 %ways, 0")
    return state.out.let(f"select i1 {is_any}, i64 {~ANY}, i64 %ways")


def _intrinsic(state: State, name: str, args: str) -> str:
    return state.out.let(f"call i64 @llvm.{name}.i64({args})")
