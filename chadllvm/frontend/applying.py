"""Function values: where they come from outside, and what a call of one gives.

A call of one known function is a call of its code with its captures in front of the
arguments; a call of one of a lambda set is a case (`closures.py`).
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

from chadllvm.errors.closure_errors import captured_changed, not_a_function
from chadllvm.frontend.cases import by_case, settled_call
from chadllvm.frontend.closures import (
    NOTHING,
    ClosureNames,
    Code,
    code_of,
    is_function,
)
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.jitted import called, prepared
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.marks import mark_as_arrays
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.width import component, product
from chadllvm.ir.term import Operand, Tuple
from chadllvm.ir.types import Product, Sum
from chadllvm.support.twins import compiled_from

# What is done with one function: given the call and the function's value.
Apply = Callable[[Context, ast.Call, Operand], Value]


@dataclass(frozen=True, eq=False)
class Outside:
    """A function from outside: a jitted one, or one of a library. It captures nothing.

    Two are the same if they are the same object.
    """

    value: Any

    @property
    def title(self) -> str:
        return str(getattr(self.value, "__name__", "function"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outside) and self.value is other.value

    def __hash__(self) -> int:
        return hash((Outside, id(self.value)))

    def python(self) -> FunctionType | None:
        """The Python function, if it is one of the user's."""
        found = compiled_from(self.value) or self.value
        return found if isinstance(found, FunctionType) else None


class Made(ABC):
    """A function that is made of others, such as a gradient."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What messages call it."""

    @abstractmethod
    def parameters(self, cx: Context, node: ast.expr) -> tuple[Parameter, ...]:
        """What it takes."""

    @abstractmethod
    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        """What a call of such a function gives."""


def closure(
    cx: Context, node: ast.expr, code: Code, captures: dict[str, Operand]
) -> Operand:
    """A function value that is made from others."""
    fields: Mapping[str, Operand] = captures or NOTHING
    names = ClosureNames(fields, code)
    return product(cx.at(node), Tuple(tuple(fields.values()), names), code.title)


def captures_of(cx: Context, node: ast.expr, function: Operand) -> dict[str, Operand]:
    """What one known function has captured, by name."""
    ty = function.type
    assert isinstance(ty, Product)
    b = cx.at(node)
    found = {n: k for k, n in enumerate(ty.names) if n not in NOTHING}
    return {name: component(b, function, k) for name, k in found.items()}


def function_of(cx: Context, node: ast.expr) -> Operand:
    """The function that an expression gives."""
    value = cx.value(node)
    if not is_function(value.type):
        raise not_a_function(cx.span(node), value.type)
    return value


def read_function(cx: Context, node: ast.expr, value: Operand, name: str) -> None:
    """Check that what a value captured is still what Python would find."""
    cx.captures.read(
        cx, value, lambda changed: captured_changed(cx.span(node), changed, name)
    )


def for_each(cx: Context, node: ast.Call, function: Operand, apply: Apply) -> Operand:
    """What a call gives: for one known function, or by a case for one of several.

    The arguments are computed before, once.
    """
    if not isinstance(function.type, Sum):
        return cx.make(cx, node, apply(cx, node, function))
    settled = settled_call(cx, node)
    return by_case(cx, node, function, lambda param: apply(cx, settled, param))


def call_value(
    cx: Context, node: ast.Call, function: Operand, outside: CallOutside
) -> Value:
    """A call of a function value; `outside` calls those from outside."""
    if isinstance(function.type, Sum):
        return for_each(cx, node, function, partial(_call, outside))
    return _call(outside, cx, node, function)


CallOutside = Callable[[Context, ast.Call, Any], Value]


def _call(
    outside: CallOutside, cx: Context, node: ast.Call, function: Operand
) -> Value:
    code = code_of(function.type)
    match code:
        case LocalFunction():
            return _call_local(cx, node, code, function)
        case Outside(value):
            return outside(cx, node, value)
        case _:
            assert isinstance(code, Made)
            return mark_as_arrays(cx, code.call(cx, node, function))


def _call_local(
    cx: Context, node: ast.Call, code: LocalFunction, function: Operand
) -> Operand:
    captured = captures_of(cx, node, function)
    operands, _ = prepared(cx, node, code, defaults=defaults_of(captured))
    return called(cx, node, code, [*captured.values(), *operands])


def defaults_of(captured: dict[str, Operand]) -> dict[str, Operand]:
    """The defaults of parameters among the captures, by parameter.

    Those with a dot are of other functions (`siblings.py`).
    """
    own = (n for n in captured if n.endswith("=") and "." not in n)
    return {name.removesuffix("="): captured[name] for name in own}
