"""Which methods a call may mean, told by their name alone, before anything is typed.

self.step(u)      →   `step` of the classes of the arguments, and of their bases
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import NamedTuple

from chadllvm.frontend.records import class_attribute
from chadllvm.ir.record import RecordNames
from chadllvm.ir.types import Array, Product, Sum, Type


class Method(NamedTuple):
    """A function of a class; `given` parameters have arguments without being named."""

    function: FunctionType
    given: int


def classes_in(types: Iterable[Type]) -> tuple[type, ...]:
    """The classes of the records and objects in values of these types."""
    return tuple(dict.fromkeys(kind for ty in types for kind in _classes(ty)))


def _classes(ty: Type) -> Iterator[type]:
    match ty:
        case Product(fields, names):
            if isinstance(names, RecordNames) and names.is_class:
                yield names.python
            yield from classes_in(fields)
        case Sum(payloads=parts):
            yield from classes_in(parts)
        case Array(elem):
            yield from _classes(elem)
        case _:
            return


def methods_named(classes: Iterable[type], name: str) -> list[Method]:
    """The methods of this name that instances of the classes may have."""
    bases = dict.fromkeys(base for kind in classes for base in kind.__mro__)
    found = [class_attribute(base, name) for base in bases if name in vars(base)]
    return [method for attribute in found for method in _method(attribute)]


def _method(attribute: object) -> Iterator[Method]:
    match attribute:
        case staticmethod(__func__=FunctionType() as function):
            yield Method(function, 0)
        case classmethod(__func__=FunctionType() as function):
            yield Method(function, 1)
        case FunctionType():
            yield Method(attribute, 1)
