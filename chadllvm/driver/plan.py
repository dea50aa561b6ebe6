"""What is to be compiled for a request: which results, and in which containers."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

from chadllvm.backend.results import Group, Result, leaf_types
from chadllvm.driver.boundary import Boundary, boundary_of
from chadllvm.driver.ones import ones_of
from chadllvm.driver.pipeline import Compilation, Gradient, compile_program
from chadllvm.driver.values import (
    gradient_type,
    is_object,
    leaf_positions,
    tags_of_gradients,
)
from chadllvm.ir.term import Function as CoreFunction
from chadllvm.ir.term import Program
from chadllvm.ir.types import Product, Type, has_float, has_float_in_nodes, is_float
from chadllvm.ir.wording import said
from chadllvm.simplify.ones import Axis, stretches
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request


class Plan:
    """Which results a request wants, and the type that they are given back as."""

    # What is made of the function, or of its gradient, in words.
    prefix = ""

    def __init__(
        self, program: Program, types: Sequence[Type], request: Request
    ) -> None:
        # What it is made of: a program for arguments of these types.
        self.source, self.given = program, tuple(types)
        self.program = program
        self.names = tuple(p.name for p in program.entry.params)
        self.types = tuple(types)
        self.request = request
        # What calls from Python update, of a function that is no gradient.
        self.updated = program.updated if request.argnums is None else None
        self.value = program.entry.body.results[0].type
        self.gradient: Gradient | None = None
        self.tags: tuple[int | None, ...] = ()
        self.result: Result = self.value
        # What sizes are supposed to be 1.
        self.ones: tuple[Axis, ...] = ()
        self.boundary = boundary_of(program, types)
        if request.argnums is not None:
            _check_scalar(program.entry, self.value, request.has_aux)
            for position in request.positions:
                _check_real(program.entry, types, position)
        if self.boundary is not None:
            self.program = self.boundary.program
            if self.boundary.is_crossed:
                self._cross(self.boundary)
                return
            self.boundary = None
        if request.argnums is None:
            return
        self.gradient = Gradient(leaf_positions(types, request.positions))
        gradients = tuple(gradient_type(types[p]) for p in request.positions)
        self.tags = tags_of_gradients(types, request.positions)
        single = isinstance(request.argnums, int)
        gradient = gradients[0] if single else Group(gradients)
        self.result = self._result(gradient)

    def _cross(self, boundary: Boundary) -> None:
        """Let native code take and give numbers of nodes, and columns."""
        self.names = tuple(boundary.names)
        self.types = tuple(boundary.native_types)
        positions = self.request.positions
        if self.request.argnums is not None:
            self.gradient = Gradient(boundary.gradient_positions(positions))
            self.tags = boundary.gradient_tags(positions)
        self.result = boundary.result(self.request)

    @property
    def returned(self) -> Result:
        """The value as native code gives it."""
        if self.boundary is None:
            return self.value
        return Group((self.boundary.returned, self.boundary.returned_columns))

    def _result(self, gradient: Result) -> Result:
        if self.request.value:
            return Group((self.value, gradient))
        if not self.request.has_aux:
            return gradient
        assert isinstance(self.value, Product)
        return Group((gradient, self.value.fields[1]))

    def title(self, name: str) -> str:
        """What is made of a function of this name, in words."""
        whole = titled(name, self.source, self.given)
        if self.request.argnums is None:
            return f"{self.prefix}{whole}"
        params = self.source.entry.params
        by = ", ".join(params[k].name for k in self.request.positions)
        return f"{self.prefix}gradient of {whole} by {by}"

    def compile(self, options: CompileOptions) -> Compilation:
        """The program's loops, and all that leads to them."""
        return compile_program(
            self.program, self.gradient, self.select, options, ones=self.ones
        )

    @cached_property
    def _stretches(self) -> bool:
        return stretches(self.program)

    def ones_in(self, args: Sequence[Any]) -> tuple[Axis, ...]:
        """The sizes that are 1 in a call, if that may matter."""
        if not self._stretches:
            return ()
        count = len(self.program.entry.params)
        return ones_of(self.types[:count], args[:count])

    def supposing(self, ones: tuple[Axis, ...]) -> Self:
        """The same for arguments whose sizes there are 1."""
        new = copy(self)
        new.ones = ones
        return new

    def select(self, function: CoreFunction) -> CoreFunction:
        """The flattened function with just the results wanted, in their order."""
        if self.gradient is None:
            return function
        value = len(leaf_types(self.returned))
        results = function.body.results
        reals = iter(results[value:])
        chosen = tuple(
            next(reals) if tag is None else function.params[tag] for tag in self.tags
        )
        if self.request.value:
            chosen = (*results[:value], *chosen)
        elif self.request.has_aux:
            chosen = (*chosen, *results[1:value])
        body = type(function.body)(function.body.bindings, chosen)
        return CoreFunction(function.name, function.params, body, function.span)


@code("CL1001")
def no_float_result(entry: CoreFunction, found: Type) -> Diagnostic:
    return error(
        f"cannot take the gradient of {entry.span.function or entry.name}: it does "
        "not return a float",
        entry.span,
        f"returns {said(found)}",
        "return a float, for example a sum",
    )


@code("CL1002")
def no_auxiliary_result(entry: CoreFunction, found: Type) -> Diagnostic:
    return error(
        f"cannot take the gradient of {entry.name}: it does not return a tuple of a "
        "float and the auxiliary result",
        entry.span,
        f"returns {said(found)}",
        "with has_aux=True return (float, anything)",
    )


@code("CL1003")
def no_real_parameter(entry: CoreFunction, found: Type, position: int) -> Diagnostic:
    return error(
        f"cannot take the gradient of {entry.name} by parameter {position}",
        entry.span,
        f"this parameter is {said(found)}, which holds no real numbers",
        "name the parameters to differentiate by with argnums=",
    )


def _check_scalar(entry: CoreFunction, ty: Type, has_aux: bool) -> None:
    """The function to differentiate returns a float, or a float and something."""
    if not has_aux:
        if not is_float(ty):
            raise no_float_result(entry, ty)
    elif (
        not isinstance(ty, Product) or len(ty.fields) != 2 or not is_float(ty.fields[0])
    ):
        raise no_auxiliary_result(entry, ty)


def _holds_reals(ty: Type) -> bool:
    return (has_float(ty) or has_float_in_nodes(ty)) and not is_object(ty)


def _check_real(entry: CoreFunction, types: Sequence[Type], position: int) -> None:
    if not _holds_reals(types[position]):
        raise no_real_parameter(entry, types[position], position)


def titled(name: str, program: Program, types: Sequence[Type]) -> str:
    """A function with the types of its arguments."""
    pairs = zip(program.entry.params, types, strict=False)
    return f"{name}({', '.join(f'{param.name}: {ty}' for param, ty in pairs)})"
