"""What crosses between Python and a program with recursive data.

    f(t: Tree) -> Tree      ↔      numbers of nodes, and columns of what is in them

An argument that refers to nodes becomes numbers, and its nodes rows of columns, which
are parameters behind all others; results are given in the same way. This is all that
whoever calls has to know; `boundary.py` makes the program that is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.backend.results import Group, Result, leaf_types
from chadllvm.driver.values import gradient_type
from chadllvm.ir.build import unused_name
from chadllvm.ir.record import ListNames, ReferenceNames
from chadllvm.ir.types import (
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
    holds_reference,
    reference_names,
    references,
)
from chadllvm.support.request import Request


def is_plain(ty: Type, in_list: bool = False) -> bool:
    """Whether values of a type with references can cross the boundary."""
    match ty:
        case Scalar():
            return True
        case Product(_, ListNames()):
            return False
        case Product() if reference_names(ty) is not None:
            return True
        case Product(fields):
            return all(is_plain(field, in_list) for field in fields)
        case Sum():
            return all(is_plain(payload, in_list) for payload in ty.payloads)
        case Array(Scalar()):
            return not in_list
        case Array(elem, 1):
            return not in_list and holds_reference(elem) and is_plain(elem, True)
        case _:
            return False


class Border:
    """What a function with recursive data takes and gives, on either side."""

    def __init__(
        self, title: str, names: Sequence[str], types: Sequence[Type], value: Type
    ) -> None:
        self.title, self.value = title, value
        self.param_names, self.types = [*names], tuple(types)
        self.at = [k for k, ty in enumerate(types) if holds_reference(ty)]
        self.taken = [*references(types)]
        self.given = [*references([value])]
        self._name_parameters()

    def _name_parameters(self) -> None:
        """The parameters of the native function: leaves, and columns behind."""
        taken = set(self.param_names)
        self.names: list[str] = []
        self.native_types: list[Type] = []
        for k, (name, ty) in enumerate(zip(self.param_names, self.types, strict=True)):
            if k not in self.at:
                self.names.append(name)
                self.native_types.append(ty)
                continue
            for j, leaf in enumerate(leaf_types(ty)):
                self.names.append(unused_name(f"{name}_{j}", taken))
                self.native_types.append(leaf)
        self.first_column = len(self.names)
        for of in self.taken:
            for j, leaf in enumerate(leaf_types(of.content)):
                self.names.append(unused_name(f"{of.heap}_{j}", taken))
                assert isinstance(leaf, Scalar)
                self.native_types.append(Array(leaf, 1))

    # ---- what native code takes and gives

    @property
    def returned(self) -> Result:
        """The value, or its leaves, in the form that native code gives."""
        if holds_reference(self.value):
            return Group(tuple(leaf_types(self.value)))
        return self.value

    @property
    def returned_columns(self) -> Group:
        """The columns of the classes that the value refers to."""
        return Group(_columns_of(self.given))

    def gradient_columns(self, positions: Sequence[int]) -> list[ReferenceNames]:
        """The classes that parameters at these positions refer to."""
        return [*references([self.types[k] for k in positions if k in self.at])]

    def result(self, request: Request) -> Group:
        """What native code gives: values and gradients, each with columns behind."""
        value = (self.returned, self.returned_columns)
        if request.argnums is None:
            return Group(value)
        gradients = (
            Group(tuple(map(self._gradient, request.positions))),
            self._gradient_columns(request.positions),
        )
        if request.value:
            return Group((*value, *gradients))
        if not request.has_aux:
            return Group(gradients)
        assert isinstance(self.value, Product)
        aux: Result = self.value.fields[1]
        if isinstance(self.returned, Group):
            aux = Group(self.returned.parts[1:])
        return Group((*gradients, aux, self.returned_columns))

    def _gradient(self, position: int) -> Result:
        ty = self.types[position]
        if position not in self.at:
            return gradient_type(ty)
        return Group(tuple([leaf for leaf in leaf_types(ty) if has_float(leaf)]))

    def _gradient_columns(self, positions: Sequence[int]) -> Group:
        columns = _columns_of(self.gradient_columns(positions))
        return Group(tuple([ty for ty in columns if _is_real(ty)]))


def _columns_of(classes: Sequence[ReferenceNames]) -> tuple[Result, ...]:
    leaves = [leaf for of in classes for leaf in leaf_types(of.content)]
    return tuple(Array(leaf, 1) for leaf in leaves if isinstance(leaf, Scalar))


def _is_real(ty: Result) -> bool:
    return isinstance(ty, Array) and has_float(ty)
