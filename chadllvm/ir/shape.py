"""What can be said of functions before the frontend is needed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeGuard

from chadllvm.ir.annotation import ScalarAnnotation
from chadllvm.ir.types import Array, Scalar
from chadllvm.support.texts import known_lines_of

# Annotations of numbers and of arrays of numbers: as objects, and as texts.
_NUMBERS = (float, int, bool)
_TEXT = re.compile(
    r"float|int|bool|(?:(?:cl|chadllvm)\.)?(?:f64|f32|i64|boolean)(?:\[[:, ]+\])?"
)

_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def is_plain(function: Callable[..., Any]) -> TypeGuard[FunctionType]:
    """Whether a function takes numbers and arrays of numbers by position.

    Then there is nothing wrong with its parameters, and their names are all they are.
    """
    if not isinstance(function, FunctionType):
        return False
    code = function.__code__
    parameters = {n: a for n, a in function.__annotations__.items() if n != "return"}
    return (
        not code.co_flags & _VARIADIC
        and not code.co_kwonlyargcount
        and code.co_name != "<lambda>"
        and all(map(_is_number, parameters.values()))
        and not any(d is None for d in function.__defaults__ or ())
        and len(known_lines_of(function)) >= code.co_firstlineno
    )


def _is_number(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return _TEXT.fullmatch(annotation) is not None
    if isinstance(annotation, Array):
        return isinstance(annotation.elem, Scalar)
    return annotation in _NUMBERS or isinstance(annotation, ScalarAnnotation)
