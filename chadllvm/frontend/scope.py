"""What the names of a function stand for while it is translated.

A local variable stands for an operand of the core, or for the reason why it cannot be
used here. Every other name is looked up as Python does: closure, globals, built-ins.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from chadllvm.frontend.records import is_record, is_users_class
from chadllvm.frontend.signature import closure_values
from chadllvm.frontend.source import Function
from chadllvm.ir.term import Operand, Var
from chadllvm.ir.types import Sum
from chadllvm.support.diagnostic import CompileError, InternalError, Span
from chadllvm.support.overloads import is_namespace, overloaded
from chadllvm.support.twins import original


@dataclass(frozen=True, slots=True)
class Unusable:
    """A variable whose use is a mistake; `error` says so at the place of the use."""

    error: Callable[[Span], CompileError]


@dataclass(frozen=True, slots=True)
class Unsure(Unusable):
    """A variable that has its value if a condition holds: that a loop has a step.

    Read, it is checked. Where other values join it, its use is the mistake `error`.
    """

    value: Var
    holds: Operand


def surely(value: Unusable) -> Unusable:
    """The same of a variable that other values join."""
    return Unusable(value.error) if isinstance(value, Unsure) else value


def _dead(span: Span) -> CompileError:
    raise InternalError(f"{span}: liveness missed the use of a variable")


# A variable that is not read any more before it is assigned again.
DEAD = Unusable(_dead)

Value = Operand | Unusable

# A variable, and the fields that lead to a part of its value.
Place = tuple[Var, tuple[str, ...]]


class Scope:
    """The local variables of a block, on top of those of the blocks around it."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.values: dict[str, Value] = {}
        # What names of the blocks around stand for here, though nothing assigns them.
        self.handed: dict[str, Operand] = {}
        # The sizes of arrays that this block has asked for.
        self.shapes: dict[Var, tuple[Operand, ...]] = {}
        # What is known of values of unions, by the value and the fields behind it.
        self.narrowed: dict[Place, Operand] = {}
        # The latest assignments of names in this block.
        self.assignments: dict[str, object] = {}
        # Whether a question before had a mistake, and may have told the members.
        self.in_doubt: bool = outer is not None and outer.in_doubt

    def bind(self, name: str, value: Value) -> None:
        self.handed.pop(name, None)
        self.values[name] = value

    def hand(self, name: str, value: Operand) -> None:
        """Let a name stand for the same value, handed on, in this block."""
        self.handed[name] = value

    def assign(self, name: str, value: Value) -> None:
        """Bind a name where the user assigns it."""
        self.bind(name, value)
        self.touch(name)

    def touch(self, name: str) -> None:
        """Note that the name has been assigned."""
        self.assignments[name] = object()

    def assignment(self, name: str) -> object:
        """What tells the latest assignment of a name from others."""
        at: Scope | None = self
        while at is not None:
            if name in at.assignments:
                return at.assignments[name]
            at = at.outer
        return None

    def lookup(self, name: str) -> Value | None:
        """What the name stands for; None if it has not been assigned."""
        at: Scope | None = self
        while at is not None:
            if name in at.handed:
                return self._known(at.handed[name])
            if name in at.values:
                return self._known(at.values[name])
            at = at.outer
        return None

    def _known(self, value: Value) -> Value:
        """A value as what it is known to be here."""
        if not isinstance(value, Var) or not isinstance(value.type, Sum):
            return value
        found = self.known((value, ()))
        return value if found is None else self._known(found)

    def known(self, place: Place) -> Operand | None:
        """What is at a place as it is known to be here, if more is known of it."""
        at: Scope | None = self
        while at is not None:
            if place in at.narrowed:
                return at.narrowed[place]
            at = at.outer
        return None

    def known_shape(self, array: Var) -> tuple[Operand, ...] | None:
        """The sizes of an array, if this block or one around it has asked for them."""
        at: Scope | None = self
        while at is not None:
            if array in at.shapes:
                return at.shapes[array]
            at = at.outer
        return None


class NotStatic(Exception):
    """The expression is not the name of something outside the function."""


class Surroundings:
    """The names that a function sees but does not assign, static parameters too."""

    def __init__(self, function: Function, statics: Mapping[str, Any]) -> None:
        self._statics = statics
        self._layers: tuple[Mapping[str, Any], ...] = (
            statics,
            closure_values(function),
            function.__globals__,
            vars(builtins),
        )
        # What is no name of the function, but may be what the user meant.
        self._around = original(function).__globals__

    def names(self) -> set[str]:
        """All names that stand for something."""
        return {n for layer in (*self._layers, self._around) for n in layer}

    def lookup(self, name: str) -> Any:
        """The object of this name, or `KeyError`."""
        for layer in self._layers:
            if name in layer:
                return layer[name]
        raise KeyError(name)

    def encloses(self, value: object) -> bool:
        """Whether this is a plain Python function that the function has captured.

        Such a one is compiled without a decorator, as a local function of a compiled
        one is: a program whose outermost function runs in Python gives the same.
        """
        if not isinstance(value, FunctionType) or is_library(value):
            return False
        return any(value is enclosed for enclosed in self._layers[1].values())

    def is_static(self, name: str) -> bool:
        """Whether the name is that of a static parameter."""
        return name in self._statics

    def resolve(self, node: ast.expr, is_local: Callable[[str], bool]) -> Any:
        """The object that a dotted name stands for, or `NotStatic`.

        It may go through modules, classes of records and enums, static arguments.
        """
        attributes = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or is_local(node.id):
            raise NotStatic
        try:
            value = self.lookup(node.id)
            for attribute in reversed(attributes):
                owner, value = value, getattr(value, attribute)
                if isinstance(owner, np.ufunc) and overloaded(value) is not None:
                    continue  # As `np.add.outer`.
                if not (_is_namespace(owner) or self.is_static(node.id)):
                    raise NotStatic
        except (KeyError, AttributeError):
            raise NotStatic from None
        if attributes and isinstance(value, MethodType) and overloaded(value) is None:
            raise NotStatic  # A method of a static record is one of any record.
        return value


def is_library(function: FunctionType) -> bool:
    """Whether a Python function is one of the libraries that are known."""
    return (function.__module__ or "").partition(".")[0] in ("numpy", "scipy", "math")


def _is_namespace(value: object) -> bool:
    """Whether attributes of this object are known when a program is compiled."""
    if isinstance(value, ModuleType | Enum) or is_namespace(value):
        return True
    if not isinstance(value, type):
        return False
    return issubclass(value, Enum) or is_record(value) or is_users_class(value)
