"""What commands end with: the exit statuses, and the exceptions that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from chadllvm.support.diagnostic import CompileError, InternalError

DONE = 0
NO = 1
BAD_INPUT = 2
REFUSED = 3
RAISED = 4
DEFECT = 70
INTERRUPTED = 130
CLOSED_PIPE = 141

# What `chadllvm --help` and the documentation say of them.
MEANINGS = {
    DONE: "done",
    NO: "the answer is no: derivatives disagree, something is broken or missing",
    BAD_INPUT: "the command, an argument or a file was not understood",
    REFUSED: "the program does not compile",
    RAISED: "the program raised an exception",
    DEFECT: "a defect of chadllvm itself",
    INTERRUPTED: "interrupted by Ctrl-C",
}


class BadInput(Exception):
    """What was given cannot be understood; the message says what, and what could."""


class Failed(Exception):
    """What cannot be done on this machine; the message says why."""


class Raised(Exception):
    """The user's program raised the exception that is the cause of this one."""


def called(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    by_name: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """The result of the user's function.

    Raises:
        BadInput: if the arguments are not of its types.
        Raised: if it raises.
    """
    try:
        return function(*arguments, **by_name)
    except (CompileError, InternalError, BadInput):
        raise
    except (TypeError, OverflowError) as error:
        raise BadInput(str(error)) from error
    except Exception as error:
        raise Raised from error
