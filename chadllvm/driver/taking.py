"""What a compiled function takes: its parameters, and the types of its arguments.

Annotations say which types a function is specialised to, or the arguments of a call do.
Static parameters are no arguments of the machine code: each of their values has code of
its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from chadllvm.driver.arguments import bind
from chadllvm.driver.prints import fingerprint
from chadllvm.ir.defects import stage
from chadllvm.ir.types import Array, Product, Scalar, Type, list_names
from chadllvm.ir.union import can_vary
from chadllvm.support import call_rules
from chadllvm.support.request import Request

if TYPE_CHECKING:
    from chadllvm.driver.objects import Read
    from chadllvm.frontend import Parameter


class Taking:
    """A callable that takes what a Python function takes."""

    def __init__(self, function: Callable[..., Any], statics: tuple[str, ...]) -> None:
        self._function = function
        self.static_argnames = statics

    @functools.cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        from chadllvm.frontend.annotations import OpenFunction
        from chadllvm.frontend.signature import signature

        with stage("frontend", runs_users=True):
            found = signature(self._function, self.static_argnames)
        return tuple(
            replace(p, is_static=True) if p.annotation == OpenFunction() else p
            for p in found
        )

    @functools.cached_property
    def _static_at(self) -> list[int]:
        return [k for k, p in enumerate(self._parameters) if p.is_static]

    @functools.cached_property
    def _dynamic_at(self) -> list[int]:
        return [k for k, p in enumerate(self._parameters) if not p.is_static]

    @functools.cached_property
    def _varying_at(self) -> list[int]:
        return [k for k, p in enumerate(self._parameters) if _may_vary(p.annotation)]

    @functools.cached_property
    def _fixed(self) -> tuple[Type, ...] | None:
        return _fixed_types(self._parameters)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it takes."""
        return self._parameters

    def _dynamic(self, bound: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments that are no static ones."""
        return tuple([bound[k] for k in self._dynamic_at])

    @property
    def _name(self) -> str:
        return self._function.__name__

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return bind(self._name, self._parameters, args, kwargs)

    def _read(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with the objects among them read, once for each call."""
        return self._reading(args) if None in map(fingerprint, args) else args

    @functools.cached_property
    def _reading(self) -> Read:
        from chadllvm.driver.objects import Reading

        assert isinstance(self._function, FunctionType)
        return Reading(self._function)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the parameters' order, with objects read."""
        return self._read(self._bind(args, kwargs))

    def read(self, value: Any) -> Any:
        """An argument, read if it is an object."""
        return self._read((value,))[0]

    def _types(self, bound: Sequence[Any]) -> tuple[Type, ...]:
        """The types to specialise to; annotations widen numbers or refuse."""
        from chadllvm.driver.values import of_one_width

        if self._fixed is not None:
            return self._with_sizes(self._fixed, bound)
        values = self._dynamic(bound)
        taken = [self._parameters[k] for k in self._dynamic_at]
        pairs = zip(taken, values, strict=True)
        types = [self._type(parameter, value) for parameter, value in pairs]
        return of_one_width(types, values, [p.annotation is None for p in taken])

    def _with_sizes(
        self, types: tuple[Type, ...], bound: Sequence[Any]
    ) -> tuple[Type, ...]:
        """The types that annotations say, for lists whose records differ in size."""
        from chadllvm.driver.values import with_sizes

        for k in self._varying_at:
            found = with_sizes(types[k], bound[k])
            if found is not types[k]:
                types = (*types[:k], found, *types[k + 1 :])
        return types

    def _type(self, parameter: Parameter, value: Any) -> Type:
        from chadllvm.driver.values import promoted_type, type_of
        from chadllvm.frontend.annotations import target_type
        from chadllvm.ir.wording import said

        annotation = parameter.annotation
        if isinstance(annotation, Array) and _says_itself(annotation, value):
            return annotation
        if isinstance(annotation, Product) and list_names(annotation) is not None:
            return annotation
        promoted = promoted_type(annotation, value)
        if promoted is not None:
            return promoted
        ty = type_of(value, self._name, parameter.name)
        wanted = target_type(annotation, ty, weak=True)
        if wanted is None:
            raise call_rules.wrong_type(
                f"{self._name}: parameter {parameter.name} is {said(ty)}; "
                f"expected {said(annotation)}"
            )
        return wanted

    def _own(self, request: Request) -> Request:
        """The request by the positions of parameters that are not static."""
        if request.argnums is None or not self._static_at:
            return request
        order = self._dynamic(range(len(self._parameters)))
        found = tuple(order.index(position) for position in request.positions)
        single = isinstance(request.argnums, int)
        return replace(request, argnums=found[0] if single else found)


def _says_itself(annotation: Array, value: Any) -> bool:
    """Whether an annotation says what an argument is made, if it can be."""
    if isinstance(annotation.elem, Scalar):
        return isinstance(value, list | np.ndarray)
    return isinstance(value, list) and not value


def _may_vary(ty: object) -> bool:
    """Whether the sizes of arrays in a list of records may be those of each."""
    if not isinstance(ty, Array) or ty.rank > 1 or not isinstance(ty.elem, Product):
        return False
    return can_vary(ty.elem)


def _fixed_types(parameters: Sequence[Parameter]) -> tuple[Type, ...] | None:
    """The types of the parameters if annotations decide them all."""
    from chadllvm.frontend.annotations import CLOSED

    types = [p.annotation for p in parameters]
    if all(isinstance(t, CLOSED) for t in types):
        return tuple(t for t in types if isinstance(t, CLOSED))
    return None
