"""The types a user writes: `f64`, `i64`, `boolean`, `f64[:, :]`, `float`, `NDArray`.

At run time `f64[:]` is an ordinary expression whose value is a type of the core. A
static type checker does not accept a slice inside a type; what it accepts, and we read
alike, is `float`, `int`, `bool`, `tuple[...]` and `NDArray[np.float64]`, which leaves
the rank open, and to fix the rank as well `Annotated[NDArray[np.float64], f64[:, :]]`:
the checker sees the first part, we the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import numpy as np

from chadllvm.ir.types import BOOL, F64, I64, Array, Product, Scalar, Type


@dataclass(frozen=True, slots=True)
class ScalarAnnotation:
    """A scalar type that can be subscripted with one `:` per dimension."""

    scalar: Scalar

    def __getitem__(self, dimensions: slice | tuple[slice, ...]) -> Array:
        if not isinstance(dimensions, tuple):
            dimensions = (dimensions,)
        if not dimensions or any(d != slice(None) for d in dimensions):
            raise TypeError(f"write one `:` per dimension, as in {self.scalar}[:, :]")
        return Array(self.scalar, len(dimensions))

    def __repr__(self) -> str:
        return self.scalar.name


f64 = ScalarAnnotation(F64)
i64 = ScalarAnnotation(I64)
boolean = ScalarAnnotation(BOOL)


@dataclass(frozen=True, slots=True)
class OpenArray:
    """Arrays of one element type and any rank: `NDArray[np.float64]`."""

    elem: Scalar

    def __str__(self) -> str:
        return f"{self.elem}[...]"


@dataclass(frozen=True, slots=True)
class OpenProduct:
    """A tuple with open components: `tuple[float, NDArray[np.float64]]`."""

    fields: tuple[Annotation, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.fields)) + ")"


Open = OpenArray | OpenProduct

# What a parameter may be annotated with; None: nothing, any type is welcome.
Annotation = Type | Open | None


class UnknownAnnotation(Exception):
    """An annotation that is not a type of ours; says which part."""


_SCALARS: tuple[tuple[Any, Scalar], ...] = (
    (float, F64),
    (int, I64),
    (bool, BOOL),
    (np.float64, F64),
    (np.int64, I64),
    (np.bool_, BOOL),
)


def read_annotation(value: Any) -> Annotation:
    """The meaning of an annotation's value, or `UnknownAnnotation`."""
    if value is Any:
        return None
    if isinstance(value, ScalarAnnotation):
        return value.scalar
    if isinstance(value, Scalar | Array | Product):
        return value
    for python, scalar in _SCALARS:
        if value is python:
            return scalar
    return _read_generic(value)


def _read_generic(value: Any) -> Annotation:
    origin, arguments = get_origin(value), get_args(value)
    alias = origin or value
    if hasattr(alias, "__value__"):  # A `type` statement's, as NumPy's newer NDArray.
        meant = alias.__value__
        return read_annotation(meant[arguments] if arguments else meant)
    if origin is Annotated:
        return _read_annotated(arguments)
    if origin is tuple and Ellipsis not in arguments:
        return _product(tuple(read_annotation(a) for a in _fields(arguments)))
    if origin is np.ndarray and len(arguments) == 2:
        elem = read_annotation((get_args(arguments[1]) or (None,))[0])
        if isinstance(elem, Scalar):
            return OpenArray(elem)
    raise UnknownAnnotation(getattr(value, "__name__", None) or str(value))


def _read_annotated(arguments: tuple[Any, ...]) -> Annotation:
    """`Annotated[T, f64[:]]` means the first of our types, or else what T means."""
    for extra in arguments[1:]:
        if isinstance(extra, ScalarAnnotation | Scalar | Array | Product):
            return read_annotation(extra)
    return read_annotation(arguments[0])


def _fields(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """`typing.Tuple[()]` gives the argument `()`, `tuple[()]` gives none."""
    return () if arguments == ((),) else arguments


def _product(fields: tuple[Annotation, ...]) -> Annotation:
    closed = tuple(f for f in fields if isinstance(f, Scalar | Array | Product))
    return Product(closed) if len(closed) == len(fields) else OpenProduct(fields)


def accepts(annotation: Annotation, ty: Type) -> bool:
    """Whether a value of this type is what the annotation asks for, unconverted."""
    match annotation:
        case None:
            return True
        case OpenArray(elem):
            return isinstance(ty, Array) and ty.elem == elem
        case OpenProduct(fields):
            return (
                isinstance(ty, Product)
                and len(ty.fields) == len(fields)
                and all(accepts(a, t) for a, t in zip(fields, ty.fields, strict=True))
            )
        case _:
            return ty == annotation


def target_type(annotation: Annotation, ty: Type) -> Type | None:
    """The type that an argument of type `ty` is converted to, or None if it is refused.

    Only numbers are converted, and only to a wider type: bool to i64 to f64.
    """
    if accepts(annotation, ty):
        return ty
    if isinstance(ty, Product) and isinstance(annotation, Product | OpenProduct):
        return _target_product(annotation.fields, ty)
    wider = {BOOL: (I64, F64), I64: (F64,)}
    if isinstance(ty, Scalar) and isinstance(annotation, Scalar):
        return annotation if annotation in wider.get(ty, ()) else None
    return None


def _target_product(fields: tuple[Annotation, ...], ty: Product) -> Type | None:
    if len(fields) != len(ty.fields):
        return None
    found = [target_type(a, t) for a, t in zip(fields, ty.fields, strict=True)]
    closed = tuple(t for t in found if t is not None)
    return Product(closed, ty.names) if len(closed) == len(found) else None
