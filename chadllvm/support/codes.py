"""The codes of the compiler's messages.

A code like `CL0401` names one rule of the language for good: it may be searched for,
and `python -m chadllvm explain CL0401` tells the rule with an example of either kind.
The first two digits are the family, one module each (`errors/`; 10 is
`driver/plan.py`, 18 `call_rules.py`).

To add an error, write one function in the module of its family,

    @code("CL0499")
    def missing_answer(span: Span, name: str) -> Diagnostic:
        return error("title", span, f"label at the caret, `{name}`", "what to do")

`raise name_errors.missing_answer(span, name)` where the mistake is found, and tell the
rule in the family's page in `docs/errors/`. The decorator makes it a `CompileError`,
and a function without a code cannot be raised (the type checker says so). Exceptions of
calls (`call_rules.py`) are made by `exception` in the same way. Take the next number of
the family. A number is never given to another rule, also when its own is gone:
`tests/codes.txt` keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeVar

from chadllvm.support.diagnostic import CompileError, Diagnostic, Span

P = ParamSpec("P")
E = TypeVar("E", bound=Exception)


# The functions that say that a rule is broken, by its code.
RULES: dict[str, str] = {}


def code(
    number: str,
) -> Callable[[Callable[P, Diagnostic]], Callable[P, CompileError]]:
    """Make of a function that describes a mistake one that makes the error."""

    def register(describe: Callable[P, Diagnostic]) -> Callable[P, CompileError]:
        _enter(number, describe)

        @wraps(describe)
        def build(*args: P.args, **kwargs: P.kwargs) -> CompileError:
            return CompileError(replace(describe(*args, **kwargs), code=number))

        return build

    return register


def exception(number: str) -> Callable[[Callable[P, E]], Callable[P, E]]:
    """The same for a mistake that an exception of Python's tells, with a note of it.

    Programs find the code as `error.code`.
    """

    def register(describe: Callable[P, E]) -> Callable[P, E]:
        _enter(number, describe)

        @wraps(describe)
        def build(*args: P.args, **kwargs: P.kwargs) -> E:
            made = describe(*args, **kwargs)
            made.__dict__["code"] = number
            made.add_note(f"{number}: `chadllvm explain {number}` tells the rule")
            return made

        return build

    return register


def _enter(number: str, describe: Callable[..., object]) -> None:
    if number in RULES:
        raise ValueError(f"{number} is the code of {RULES[number]}: take the next one")
    RULES[number] = describe.__name__


def error(
    title: str, span: Span, label: str = "", help: str = "", *notes: str
) -> Diagnostic:
    """What a rule says: a title, a label at the place, and a sentence that helps."""
    return Diagnostic(title, span, label, help, notes)
