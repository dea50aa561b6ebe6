"""The types a user writes: `f64`, `f32`, `i64`, `f64[:, :]`, `float`, `NDArray`.

At run time `f64[:]` is an ordinary expression whose value is a type of the core. A
static type checker does not accept a slice inside a type; what it accepts, and we read
alike, is `float`, `int`, `bool`, `tuple[...]` and `NDArray[np.float64]`, which leaves
the rank open, and to fix the rank as well `Annotated[NDArray[np.float64], f64[:, :]]`:
the checker sees the first part, we the second. A class of records is the type of its
instances, `list[Point]` is an array of them.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeGuard, TypeVar, get_args, get_origin

import numpy as np

from chadllvm.frontend.records import (
    BadRecord,
    Field,
    RecordClass,
    record_class,
    row_type,
)
from chadllvm.ir.annotation import ScalarAnnotation
from chadllvm.ir.record import Kind, ListNames, RecordNames, ReferenceNames
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    NONE,
    SET,
    Alternatives,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    is_float,
    list_elem,
    list_names,
    list_type,
    references,
)
from chadllvm.ir.union import (
    is_union,
    is_varied,
    kind_of,
    members,
    union_of,
    varied,
)
from chadllvm.ir.wording import said


@dataclass(frozen=True, slots=True)
class OpenArray:
    """Arrays of one element type and any rank: `NDArray[np.float64]`.

    `np.ndarray` leaves the element type open as well.
    """

    elem: Scalar | Product | None

    def __str__(self) -> str:
        return "array" if self.elem is None else f"{self.elem}[...]"


@dataclass(frozen=True, slots=True)
class NumberList:
    """Python's lists of numbers, which are arrays of one axis: `list[float]`."""

    elem: Scalar

    def __str__(self) -> str:
        return f"list[{said(self.elem)}]"


@dataclass(frozen=True, slots=True)
class OpenProduct:
    """A tuple with open components: `tuple[float, NDArray[np.float64]]`."""

    fields: tuple[Annotation, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if isinstance(self.names, RecordNames):
            return self.names.title
        return "(" + ", ".join(map(str, self.fields)) + ")"


@dataclass(frozen=True, slots=True)
class OpenTuple:
    """Tuples of any number of components: `tuple[float, ...]`."""

    part: Annotation

    def __str__(self) -> str:
        return f"tuple[{said(self.part)}, ...]"


@dataclass(frozen=True, slots=True)
class OpenList:
    """Lists of tuples or records that are open themselves."""

    elem: OpenProduct | OpenDict | OpenUnion
    rank: int

    def __str__(self) -> str:
        return "list[" * self.rank + str(self.elem) + "]" * self.rank


@dataclass(frozen=True, slots=True)
class OpenDict:
    """Dictionaries with any keys: `dict[str, float]`."""

    value: Annotation

    def __str__(self) -> str:
        return "dict" if self.value is None else f"dict[str, {self.value}]"


@dataclass(frozen=True, slots=True)
class OpenFunction:
    """Functions of any kind: `Callable[[float], float]`.

    What one takes and gives follows from what it is: it is typed anew at each call.
    """

    def __str__(self) -> str:
        return "function"


@dataclass(frozen=True, slots=True)
class OpenUnion:
    """Unions with open members: `NDArray[np.float64] | None`.

    A value is not made one of a union, but stays what it is: one of the members.
    """

    members: tuple[Annotation, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.members))


Open = (
    OpenArray
    | NumberList
    | OpenProduct
    | OpenTuple
    | OpenList
    | OpenDict
    | OpenFunction
    | OpenUnion
)

# Annotations that say all of a type.
CLOSED = Scalar | Array | Product | Sum

# What a parameter may be annotated with; None: nothing, any type is welcome.
Annotation = Type | Open | None


class UnknownAnnotation(Exception):
    """An annotation that is not a type of ours; says which part."""


_SCALARS: tuple[tuple[Any, Scalar], ...] = (
    (float, F64),
    (int, I64),
    (bool, BOOL),
    (np.float64, F64),
    (np.float32, F32),
    (np.int64, I64),
    (np.bool_, BOOL),
)


def read_annotation(value: Any) -> Annotation:
    """The meaning of an annotation's value.

    Raises:
        UnknownAnnotation: if it is no type of ours.
        BadRecord: if it is a class that cannot be a record.
    """
    if any(value is one for one in (Any, list, tuple)) or isinstance(value, TypeVar):
        return None
    if isinstance(value, ScalarAnnotation):
        return value.scalar
    if isinstance(value, CLOSED | Open):
        return value
    for python, scalar in _SCALARS:
        if value is python:
            return scalar
    if value is np.ndarray:
        return OpenArray(None)
    if value is dict:
        return OpenDict(None)
    if value is set:
        return SET
    if value is None or value is types.NoneType:
        return NONE
    if value in (Callable, typing.Callable):
        return OpenFunction()
    return _read_generic(value)


def _read_generic(value: Any) -> Annotation:
    origin, arguments = get_origin(value), get_args(value)
    alias = origin or value
    if hasattr(alias, "__value__"):  # A `type` statement's, as NumPy's newer NDArray.
        meant = alias.__value__
        return read_annotation(meant[arguments] if arguments else meant)
    if origin is Annotated:
        return _read_annotated(arguments)
    if origin is Callable:
        return OpenFunction()
    if isinstance(value, Alternatives):
        origin, arguments = typing.Union, value.options
    if origin in (typing.Union, types.UnionType):
        return _union([NONE if a is None else read_annotation(a) for a in arguments])
    if isinstance(alias, type):
        record = _read_class(alias)
        if record is not None:
            return record
    if origin is list and len(arguments) == 1:
        return _list(_list_item(arguments[0]), value)
    if origin in (dict, Mapping) and len(arguments) == 2 and arguments[0] is str:
        return OpenDict(read_annotation(arguments[1]))
    if origin is set and arguments == (int,):
        return SET
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return OpenTuple(read_annotation(arguments[0]))
    if origin is tuple and Ellipsis not in arguments:
        return _product(tuple(read_annotation(a) for a in _fields(arguments)))
    if origin is np.ndarray and len(arguments) == 2:
        elem = read_annotation((get_args(arguments[1]) or (None,))[0])
        if isinstance(elem, Scalar):
            return OpenArray(elem)
    raise UnknownAnnotation(getattr(value, "__name__", None) or str(value))


def _read_class(python: type) -> Annotation:
    record = record_class(python)
    return None if record is None else record_annotation(record)


@functools.lru_cache(maxsize=4096)
def record_annotation(record: RecordClass) -> Annotation:
    """What an annotation with a class of records means: a reference if it is recursive.

    Whether a recursive class has fields that it can have, `check_contents` says.
    """
    if record.is_recursive:
        read = functools.partial(_content, record)
        return Product((I64,), ReferenceNames(record.names, read))
    fields = [field_annotation(record, field) for field in record.fields]
    return _product(tuple(fields), record.names)


def reference_to(record: RecordClass) -> Product:
    """The type of the values of a recursive class, or `BadRecord`."""
    found = record_annotation(record)
    check_contents(found)
    assert isinstance(found, Product)
    return found


@functools.lru_cache(maxsize=4096)
def _content(record: RecordClass) -> Product:
    """The type of what a node of a recursive class holds, or `BadRecord`."""
    fields = []
    for field in record.fields:
        found = field_annotation(record, field)
        if not _may_be_in_node(found):
            kind = "of any type" if found is None else said(found)
            raise BadRecord(
                f"the field `{field.name}` of {record.names.title} is {kind}: a "
                "class that contains itself holds numbers, None, and records and "
                "tuples of these"
            )
        fields.append(found)
    return Product(tuple(fields), record.names)


def _may_be_in_node(annotation: Annotation) -> TypeGuard[Type]:
    match annotation:
        case Scalar():
            return True
        case Product(_, ListNames()):
            return False
        case Product(fields):
            return all(map(_may_be_in_node, fields))
        case Sum():
            return all(map(_may_be_in_node, annotation.payloads))
        case _:
            return False


def check_contents(annotation: Annotation) -> None:
    """Refuse recursive classes in an annotation whose nodes cannot be, by `BadRecord`.

    That no value of a class has an end is refused as well.
    """
    if not isinstance(annotation, CLOSED):
        return
    found = references([annotation])
    ending: set[ReferenceNames] = set()
    for _ in found:
        ending |= {names for names in found if _ends(names.content, ending)}
    for names in found:
        if names not in ending:
            raise BadRecord(
                f"no {names.title} can ever be made: each holds another one; let the "
                "last one hold None"
            )


def _ends(ty: Type, ending: Collection[ReferenceNames]) -> bool:
    """Whether there are values of this type, if there are some of these classes."""
    match ty:
        case Product(_, ReferenceNames() as names):
            return names in ending
        case Product(fields):
            return all(_ends(field, ending) for field in fields)
        case Sum():
            return any(_ends(payload, ending) for payload in ty.payloads)
        case _:
            return True


def field_annotation(record: RecordClass, field: Field) -> Annotation:
    """What the annotation of a field means, or `BadRecord`."""
    try:
        return read_annotation(field.annotation)
    except UnknownAnnotation as unknown:
        raise BadRecord(
            f"the field `{field.name}` of {record.names.title} is annotated with "
            f"`{unknown}`, which is not a type of the compiled language"
        ) from None


def _union(found: Sequence[Annotation]) -> Annotation:
    """The union of these; of several numbers the one that all of them become."""
    if None in found:
        return None
    kept: dict[Hashable, Type] = {}
    for ty in found:
        if not isinstance(ty, CLOSED):
            return OpenUnion(tuple(found))
        for member in members(ty):
            kind = kind_of(member)
            both = {member, kept.get(kind, member)}
            mixed = both == {I64, F64}
            if kind is None or (len(both) > 1 and not mixed):
                raise UnknownAnnotation(" | ".join(map(said, found)))
            kept[kind] = F64 if mixed else member
    return union_of(kept.values())


def _list_item(value: Any) -> Annotation:
    """What a list holds: of lists of numbers, an array of them for each."""
    inner = get_args(value)
    if get_origin(value) is list and len(inner) == 1:
        elem = read_annotation(inner[0])
        if isinstance(elem, Scalar):
            # As an element of a list this is the list of such lists, less a level.
            return list_type(elem, ListNames(0, 1, of_lists=True))
    return read_annotation(value)


def _list(elem: Annotation, value: Any) -> Annotation:
    """`list[...]` of numbers, arrays, tuples, records, unions, or lists of these."""
    match elem:
        case Scalar():
            return NumberList(elem)
        case Array(Scalar() as scalar, rank):
            return list_type(scalar, ListNames(1, rank))
        case Product(_, ListNames() as names):
            return list_type(list_elem(elem), names.like(depth=names.depth + 1))
        case Product() | Sum():
            return Array(elem, 1)
        case Array(Product() | Sum(), rank):
            return Array(elem.elem, rank + 1)
        case OpenProduct() | OpenDict() | OpenUnion():
            return OpenList(elem, 1)
        case OpenList(inner, rank):
            return OpenList(inner, rank + 1)
        case _:
            raise UnknownAnnotation(str(value))


def _read_annotated(arguments: tuple[Any, ...]) -> Annotation:
    """`Annotated[T, f64[:]]` means the first of our types, or else what T means."""
    for extra in arguments[1:]:
        if isinstance(extra, ScalarAnnotation | Scalar | Array | Product):
            return read_annotation(extra)
        if isinstance(extra, np.dtype) and extra.names:
            return OpenArray(row_type(extra))
    return read_annotation(arguments[0])


def _fields(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """`typing.Tuple[()]` gives the argument `()`, `tuple[()]` gives none."""
    return () if arguments == ((),) else arguments


def _product(fields: tuple[Annotation, ...], names: tuple[str, ...] = ()) -> Annotation:
    closed = tuple(f for f in fields if isinstance(f, CLOSED))
    if len(closed) == len(fields):
        return Product(closed, names)
    return OpenProduct(fields, names)


def accepts(annotation: Annotation, ty: Type) -> bool:
    """Whether a value of this type is what the annotation asks for, unconverted."""
    return annotation is None or target_type(annotation, ty) == ty


_WIDER: dict[Type, tuple[Scalar, ...]] = {BOOL: (I64, F64, F32), I64: (F64, F32)}


def _is_function(ty: Type) -> bool:
    """Whether it is the type of a function."""
    from chadllvm.frontend.closures import is_function

    return is_function(ty)


def target_type(annotation: Annotation, ty: Type, *, weak: bool = False) -> Type | None:
    """The type that an argument of type `ty` is converted to, or None if it is refused.

    Only numbers are converted, and only to a wider type: bool to i64 to f64 or
    f32; those in tuples, records and lists of them as well. With `weak`, a float may be
    one of Python's own, which becomes an f32 as well, and an f32 an f64.
    """
    if annotation is None or annotation == ty:
        return ty
    if isinstance(annotation, Product) and list_names(annotation) is not None:
        return _target_list(annotation, ty)
    match annotation, ty:
        case OpenFunction(), _:
            return ty if _is_function(ty) else None
        case OpenArray(elem), Array():
            return ty if _is_array_of(elem, ty) else None
        case NumberList(elem), Array(Scalar() as found, 1):
            is_wider = elem in _WIDER.get(found, ())
            return Array(elem, 1) if is_wider or elem == found else None
        case ((Product() | OpenProduct()), Product()):
            return _target_product(annotation.fields, annotation.names, ty, weak)
        case OpenTuple(part), Product(fields, ()):
            return _target_product((part,) * len(fields), (), ty, weak)
        case OpenDict(value), Product(fields, names) if _kind(names) is Kind.DICT:
            return _target_product((value,) * len(fields), names, ty, weak)
        case Sum(), _ if is_union(annotation):
            return annotation if _is_member(annotation, ty, weak) else None
        case OpenUnion(), _:
            return _target_member(annotation.members, ty, weak)
        case ((Array(Product() | Sum()) | OpenList()), Array(elem, rank)):
            part = elem.payloads[0] if is_varied(elem) else elem
            wanted = target_type(annotation.elem, part, weak=weak)
            if wanted is None or annotation.rank != rank:
                return None
            return Array(varied(wanted) if is_varied(elem) else wanted, rank)
        case Scalar(), Scalar():
            if weak and is_float(annotation) and is_float(ty):
                return annotation
            return annotation if annotation in _WIDER.get(ty, ()) else None
        case _:
            return None


def _is_member(union: Sum, ty: Type, weak: bool) -> bool:
    """Whether a value of this type becomes one of a union."""
    wanted = {kind_of(member): member for member in members(union)}
    wanted.setdefault("array", wanted.get("list", NONE))
    return all(
        kind_of(member) in wanted
        and target_type(wanted[kind_of(member)], member, weak=weak) is not None
        for member in members(ty)
    )


def _target_member(found: Sequence[Annotation], ty: Type, weak: bool) -> Type | None:
    """What a value becomes that is one of these, or of a union of some of these."""
    targets: dict[Hashable, Type] = {}
    for member in members(ty):
        options = (target_type(a, member, weak=weak) for a in found)
        target = next((t for t in options if t is not None), None)
        if target is None:
            return None
        targets[kind_of(target)] = target
    return union_of(targets.values())


def _target_list(wanted: Product, ty: Type) -> Type | None:
    """The type of a list of arrays; a regular array is one of its rows."""
    names, found = list_names(wanted), list_names(ty)
    assert names is not None
    if found is not None:
        is_same = found.like() == names and list_elem(ty) == list_elem(wanted)
        return ty if is_same else None
    regular = Array(list_elem(wanted), names.depth + names.rank)
    return wanted if ty == regular else None


def _is_array_of(elem: Type | None, ty: Array) -> bool:
    """Whether this is what NumPy calls an array, with such elements."""
    if elem is not None:
        return ty.elem == elem
    if isinstance(ty.elem, Product):
        return _kind(ty.elem.names) is Kind.ROW
    return isinstance(ty.elem, Scalar)


def _kind(names: tuple[str, ...]) -> Kind | None:
    return names.kind if isinstance(names, RecordNames) else None


def _target_product(
    fields: tuple[Annotation, ...], names: tuple[str, ...], ty: Product, weak: bool
) -> Type | None:
    """Keys of dictionaries may come in any order; that of the annotation stays."""
    given = ty.fields
    if _kind(names) is _kind(ty.names) is Kind.DICT and {*names} == {*ty.names}:
        given = tuple(ty.fields[ty.names.index(name)] for name in names)
    elif names != ty.names or len(fields) != len(given):
        return None
    found = [target_type(a, t, weak=weak) for a, t in zip(fields, given, strict=True)]
    closed = tuple(t for t in found if t is not None)
    return Product(closed, names) if len(closed) == len(found) else None
