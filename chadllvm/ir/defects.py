"""Defects of the compiler: an exception that a stage did not mean → `InternalError`.

    with stage("promote", leave_out("promote"), program):
        program = promote(program)

The mistakes of users pass, and so do exceptions of their own code, a lack of memory and
warnings that are errors. Whatever else escapes says which stage it escapes from, where
in the program that was, and what to do. That costs nothing where nothing escapes: the
place is looked for among the variables of the functions that were running.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from chadllvm.support import deep
from chadllvm.support.diagnostic import CompileError, InternalError
from chadllvm.view.timing import timed

if TYPE_CHECKING:
    from chadllvm.ir.term import Program

# The compiler needs less than a hundred calls for a level of nesting: what exhausts the
# deep stack with fewer levels than these has no end.
SHALLOW = 100

# Whose frames are not the user's.
_LIBRARIES = frozenset(["chadllvm", "numpy", "llvmlite", "cffi", "_cffi_backend"])


@contextmanager
def stage(
    name: str,
    remedy: str = "",
    given: Program | None = None,
    depth: Callable[[], int] | None = None,
    *,
    runs_users: bool = False,
) -> Iterator[None]:
    """Tell what escapes from here as a defect of a stage of the compiler.

    Args:
        remedy: what the user can do until it is mended.
        given: the program that the stage was given, whose bindings are shown.
        depth: how deep what it was given is nested; by default that of the program.
        runs_users: whether functions of the user's are called here.

    Raises:
        InternalError: with all of this.
    """
    try:
        with timed(name):
            yield
    except (CompileError, MemoryError, Warning):
        raise
    except Exception as error:
        if _is_told(error):
            raise
        if _is_users(error, runs_users) or _may_be_deep(error, given, depth):
            raise
        told = _told(error, name, given, remedy)
        if isinstance(error, InternalError):  # It says all of it again.
            raise told.with_traceback(error.__traceback__) from error.__cause__
        raise told from error


# What to do about what is kept on disk.
UNKEPT = "until it is mended, compile with `cache=False`"


def leave_out(name: str) -> str:
    """How to do without an optional pass."""
    return (
        "until it is mended, leave this pass out: "
        f'`options=cl.CompileOptions(disabled=frozenset({{"{name}"}}))`'
    )


def _is_told(error: Exception) -> bool:
    """Whether it says itself what is wrong: a defect, or that a library is missing."""
    if isinstance(error, ImportError):
        return not (error.name or "").startswith("chadllvm")
    return isinstance(error, InternalError) and bool(error.stage)


def _is_users(error: Exception, runs_users: bool) -> bool:
    """Whether code of the user's was running, as that of a handler of signals is."""
    caller: FrameType | None = None
    for frame, _ in walk_tb(error.__traceback__):
        stands_for_ours = caller and _calls(caller, frame.f_code, runs_users)
        if not (_is_known(frame) or stands_for_ours):
            return True
        caller = frame
    return False


def _is_known(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in _LIBRARIES or package in sys.stdlib_module_names


def _calls(caller: FrameType, code: CodeType, runs_users: bool) -> bool:
    """Whether code was called by a name of ours, as what was put in its place is.

    Where functions of the user's are called, variables may hold these.
    """
    known = [*caller.f_globals.values()]
    if not runs_users:
        variables = caller.f_locals.values()
        known += variables
        known += [
            m for v in variables for k in type(v).__mro__ for m in vars(k).values()
        ]
    return any(getattr(value, "__code__", None) is code for value in known)


def _may_be_deep(
    error: Exception, given: Program | None, depth: Callable[[], int] | None
) -> bool:
    """Whether a recursion may have had an end: on a deeper stack, or a much deeper one.

    What exhausts the usual stack is done again on a deep one (`support/deep.py`).
    """
    if not isinstance(error, RecursionError):
        return False
    if sys.getrecursionlimit() < deep.LIMIT:
        return True
    if depth is not None:
        return depth() >= SHALLOW
    if given is None:
        return True
    from chadllvm.ir.excerpt import nesting

    return nesting(given) >= SHALLOW


def nesting_of_syntax(tree: ast.AST) -> int:
    """How deep what a syntax tree means is nested, at most.

    What stands behind an `if` that may return is inside of it.
    """
    level, count = [tree], 0
    while level:
        count += 1 + sum(isinstance(node, ast.stmt) for node in level)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return count


# ---- what is said ----------------------------------------------------------------


def _told(
    error: Exception, name: str, given: Program | None, remedy: str
) -> InternalError:
    what = str(error)
    if not isinstance(error, InternalError):
        what = f"{type(error).__name__}: {what}" if what else type(error).__name__
    lines = [f"defect of chadllvm in `{name}`: {what}"]
    if "\n" not in what:  # Else it shows the place itself.
        lines += _place(error, given)
    lines.append("  = note: this is no mistake in your program")
    if remedy:
        lines.append(f"  = help: {remedy}")
    lines.append(
        "  = help: please report it where the project is hosted, with this message, "
        "the function, and what `chadllvm doctor` prints"
    )
    told = InternalError("\n".join(lines))
    told.stage = name
    return told


def _place(error: Exception, given: Program | None) -> list[str]:
    from chadllvm.ir.excerpt import place_among

    frames = [frame.f_locals for frame, _ in walk_tb(error.__traceback__)]
    try:
        return [*place_among(frames[::-1], given)]
    except Exception as other:  # What is broken may be broken so that it has no text.
        return [f"  = note: the place cannot be shown ({type(other).__name__})"]
