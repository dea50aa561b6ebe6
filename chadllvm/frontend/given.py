"""The arguments of calls of library functions: by position or name, some constant.

A function's parameters are written as a line of text, `a axis=None keepdims=False`; a
parameter without a default is required. A method's first argument is its owner.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chadllvm.errors import array_errors, call_errors, statement_errors, type_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Shape,
    Value,
    delayed,
    for_sizes,
    is_array,
)
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.sizes import checked, near, size_of
from chadllvm.frontend.stacking import of_tuple
from chadllvm.frontend.static import static_value
from chadllvm.frontend.tuples import unpacked
from chadllvm.ir.annotation import boolean, f32, f64, i64
from chadllvm.ir.build import Builder
from chadllvm.ir.dtypes import SCALAR_OF_DTYPE
from chadllvm.ir.term import Lit, Operand, Proj, Var
from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar
from chadllvm.ir.union import is_none


@dataclass(frozen=True)
class Given:
    """The arguments of a call: nodes by the names of the parameters."""

    cx: Context
    node: ast.Call
    name: str
    nodes: dict[str, ast.expr]
    rest: tuple[ast.expr, ...] = ()

    @property
    def builder(self) -> Builder:
        return self.cx.at(self.node)

    def __contains__(self, name: str) -> bool:
        return name in self.nodes and not _is_none(self.cx, self.nodes[name])

    def lazy(self, name: str) -> Value:
        return self.cx.lazy(self.nodes[name])

    def value(self, name: str) -> Operand:
        return self.cx.value(self.nodes[name])

    def array(self, name: str) -> Delayed:
        """An argument that has to be an array of numbers."""
        return self.as_array(self.nodes[name])

    def as_array(self, node: ast.expr) -> Delayed:
        return self.array_in(node, self.cx.lazy(node))

    def array_in(self, node: ast.expr, value: Value) -> Delayed:
        """An array of numbers that a value found at a node is, or is to NumPy."""
        found = of_tuple(self.cx, node, value)
        if found is not None:
            return found
        if not is_array(value):
            raise call_errors.wrong_operand(
                self.cx.span(node), self.name, "an array", value.type
            )
        array = delayed(self.cx, node, value)
        if not isinstance(array.elem, Scalar):
            raise call_errors.wrong_operand(
                self.cx.span(node), self.name, "an array of numbers", array.type
            )
        return array

    def integer(self, name: str) -> Operand:
        return self.as_integer(self.nodes[name])

    def as_integer(self, node: ast.expr) -> Operand:
        value = self.cx.value(node)
        if value.type not in (I64, BOOL):
            raise type_errors.not_an_index(self.cx.span(node), value.type)
        return to_int(self.cx.at(node), value)

    def constant(self, name: str) -> int:
        """An integer whose value the frontend needs to know."""
        return self.as_constant(self.nodes[name])

    def offset(self, name: str = "k") -> int:
        """The constant that says which diagonal is meant: 0 if it is not given."""
        return near(self.constant(name)) if name in self else 0

    def as_constant(self, node: ast.expr) -> int:
        value = self.as_integer(node)
        if not isinstance(value, Lit):
            raise array_errors.not_constant(self.cx.span(node))
        return int(value.value)

    def flag(self, name: str) -> bool:
        """True or False, False if it is not given."""
        if name not in self.nodes:
            return False
        value = self.cx.value(self.nodes[name])
        if not isinstance(value, Lit) or value.type != BOOL:
            raise array_errors.not_constant(self.cx.span(self.nodes[name]))
        return bool(value.value)

    def text(self, name: str) -> str:
        """A string that is known."""
        node = self.nodes[name]
        try:
            found = static_value(self.cx, node)
        except NotStatic:
            found = None
        if not isinstance(found, str):
            raise array_errors.not_constant(self.cx.span(node))
        return found

    def axis(self, rank: int, name: str = "axis") -> int | None:
        """An axis of an array of this rank; None if none is given."""
        return self.as_axis(self.nodes[name], rank) if name in self else None

    def as_axis(self, node: ast.expr, rank: int) -> int:
        axis = self.as_constant(node)
        if not -rank <= axis < rank:
            raise array_errors.axis_range(self.cx.span(node), axis, rank)
        return axis % rank

    def axes(self, rank: int, name: str = "axis") -> tuple[int, ...] | None:
        """The axes, one or a tuple of them, in order; None if none are given."""
        if name not in self:
            return None
        node = self.nodes[name]
        if not isinstance(node, ast.Tuple):
            return (self.as_axis(node, rank),)
        found = tuple(self.as_axis(e, rank) for e in node.elts)
        if len(set(found)) < len(found):
            raise array_errors.repeated_axis(self.cx.span(node))
        return found

    def dtype(self, default: Scalar) -> Scalar:
        """The type of elements that is asked for."""
        if "dtype" not in self:
            return default
        node = self.nodes["dtype"]
        found = self._static_dtype(node)
        if found is None:
            raise array_errors.unsupported_dtype(self.cx.span(node), ast.unparse(node))
        return found

    def _static_dtype(self, node: ast.expr) -> Scalar | None:
        """A type, the dtype of an array, or what NumPy takes for one: `"float32"`."""
        try:
            found = static_value(self.cx, node)
        except NotStatic:
            return None
        for python, scalar in _DTYPES:
            if found is python:
                return scalar
        if not isinstance(found, str | np.dtype):
            return None
        try:
            return SCALAR_OF_DTYPE.get(np.dtype(found))
        except TypeError:
            return None

    def shape(self, name: str) -> Shape:
        """A size, or a tuple or list of sizes."""
        return self.sizes(written_out(self.cx, [self.nodes[name]]))

    def sizes(self, nodes: Sequence[ast.expr]) -> Shape:
        """Sizes, none of them negative; one node may be a tuple such as `a.shape`."""
        if len(nodes) == 1:
            return self._components(nodes[0])
        found = tuple(as_size(self.cx, node, self.as_integer(node)) for node in nodes)
        return checked(self.builder, found)

    def _components(self, node: ast.expr) -> Shape:
        """A size, or those in a tuple or list that is not written out."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            owner = self.cx.lazy(node.value)
            if is_array(owner):
                return for_sizes(self.cx, node, owner).shape
        parts = self._parts(node, self.cx.lazy(node))
        found = tuple(
            as_size(self.cx, node, self._integer_value(node, p)) for p in parts
        )
        return checked(self.cx.at(node), found)

    def _parts(self, node: ast.expr, value: Value) -> list[Operand]:
        """The components of a tuple, the elements of a list, or the value itself."""
        b = self.cx.at(node)
        if is_array(value):
            array = delayed(self.cx, node, value)
            if array.rank != 1 or not isinstance(array.shape[0], Lit):
                raise array_errors.open_shape(self.cx.span(node), array.type)
            count = int(array.shape[0].value)
            return [array.element(b, [Lit(k)]) for k in range(count)]
        value = self.cx.value(node)
        if not is_tuple(value.type):
            return [value]
        return [b.one(Proj(value, k)) for k in range(len(value.type.fields))]

    def _integer_value(self, node: ast.expr, value: Operand) -> Operand:
        if value.type not in (I64, BOOL):
            raise type_errors.not_an_index(self.cx.span(node), value.type)
        return to_int(self.cx.at(node), value)


_DTYPES: tuple[tuple[object, Scalar], ...] = (
    (builtins.float, F64),
    (builtins.int, I64),
    (builtins.bool, BOOL),
    (np.float64, F64),
    (np.float32, F32),
    (f64, F64),
    (f32, F32),
    (i64, I64),
    (boolean, BOOL),
    (np.int64, I64),
    (np.bool_, BOOL),
)


def written_out(cx: Context, nodes: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """The nodes, or those in the one tuple or list that they are."""
    match nodes:
        case [ast.Tuple(parts) | ast.List(parts)]:
            return unpacked(cx, parts)
        case _:
            return nodes


def as_size(cx: Context, node: ast.expr, value: Operand) -> Operand:
    """A size: it fails at run time if it is negative, or no array is so large."""
    return size_of(cx.at(node), value)


@dataclass(frozen=True)
class LibraryFunction:
    """A row of the table: a function, its parameters, and what a call of it gives.

    `method`: the name of the method of arrays that does the same, if there is one. What
    stands behind a `*` is given by name; a last parameter `*rest` takes any number of
    arguments.
    """

    function: Any
    parameters: str
    meaning: Callable[[Given], Value]
    method: str = ""

    def call(self, cx: Context, node: ast.Call) -> Value:
        """A call of the function."""
        return self.meaning(self._bind(cx, node, ast.unparse(node.func), ()))

    def method_call(self, cx: Context, node: ast.Call, owner: ast.expr) -> Value:
        """A call of the method of `owner`."""
        return self.meaning(self._bind(cx, node, self.method, (owner,)))

    def _bind(
        self, cx: Context, node: ast.Call, name: str, owner: Sequence[ast.expr]
    ) -> Given:
        words = self.parameters.split()
        star = next((k for k, w in enumerate(words) if w[0] == "*"), len(words))
        every = [word.partition("=")[0] for word in words if word[0] != "*"]
        names = every[:star]
        takes_rest = star < len(words) and words[star] != "*"
        positional = [*owner, *node.args]
        if len(positional) > len(names) and not takes_rest:
            raise call_errors.wrong_argument_count(
                cx.span(node), name, _at_most(len(names) - len(owner))
            )
        nodes = dict(zip(names, positional, strict=False))
        known = every[len(owner) :]
        for extra in node.keywords:
            nodes[_keyword(cx, extra, name, known, nodes)] = extra.value
        for word in words:
            if word[0] != "*" and "=" not in word and word not in nodes:
                raise call_errors.missing_argument(cx.span(node), name, word)
        return Given(cx, node, name, nodes, tuple(positional[len(names) :]))


def _at_most(count: int) -> str:
    return f"at most {count} argument{'' if count == 1 else 's'}"


def _keyword(
    cx: Context,
    extra: ast.keyword,
    name: str,
    known: Sequence[str],
    nodes: Mapping[str, ast.expr],
) -> str:
    """The parameter that a keyword names."""
    if extra.arg is None:
        raise statement_errors.starred(cx.span(extra))
    if extra.arg not in known:
        raise array_errors.unknown_option(cx.span(extra), name, extra.arg, known)
    if extra.arg in nodes:
        raise call_errors.repeated_argument(cx.span(extra), name, extra.arg)
    return extra.arg


def _is_none(cx: Context, node: ast.expr) -> bool:
    """Whether None is written there, or a variable that is nothing else."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if not isinstance(node, ast.Name):
        return False
    value = cx.scope.lookup(node.id)
    if value is not None:
        return isinstance(value, Var) and is_none(value.type)
    return not cx.is_local(node.id) and _static_or(cx, node) is None


def _static_or(cx: Context, node: ast.Name) -> Any:
    """What a name outside of the function stands for, or the name itself."""
    try:
        return cx.static(node)
    except NotStatic:
        return node.id
