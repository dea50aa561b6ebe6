"""Records and dictionaries inside a function: built, read, changed by copy, called.

Point(x, y=1.0)          →   (x, 1.0) with the names of Point
p.x, params["w"]         →   p.0, params.0
p._replace(x=2.0)        →   (2.0, p.1) with the names of p
p.norm()                 →   a call of the function `norm`, which takes p
p.x = v                  →   p = (p.0 replaced by v)
points["x"]              →   the array whose element at i is points[i].0
"""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Callable, Sequence
from types import FunctionType, MemberDescriptorType
from typing import Any, TypeGuard

from chadllvm.errors import call_errors, record_errors, statement_errors, update_errors
from chadllvm.frontend.annotations import field_annotation, reference_to
from chadllvm.frontend.binding import bind, bind_keywords, converted
from chadllvm.frontend.constants import constant
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Indices, Value, delayed
from chadllvm.frontend.jitted import called, function_call
from chadllvm.frontend.lending import check_alone, copy_of
from chadllvm.frontend.records import (
    BadRecord,
    RecordClass,
    class_attribute,
    record_class,
)
from chadllvm.frontend.references import made
from chadllvm.frontend.scope import Unusable
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.static import static_string
from chadllvm.frontend.surface import Replaced
from chadllvm.frontend.width import component, product
from chadllvm.ir.build import Builder
from chadllvm.ir.record import (
    Kind,
    ObjectNames,
    RecordNames,
    ReferenceNames,
)
from chadllvm.ir.term import Operand, Proj, Tuple
from chadllvm.ir.types import NONE, Array, Product, Sum, Type


def names_of(ty: Type) -> RecordNames | None:
    """The names of a record's type, None for any other type."""
    names = ty.names if isinstance(ty, Product) else ()
    if isinstance(names, ReferenceNames):
        return names.record
    if not isinstance(names, RecordNames) or names.kind is Kind.SET:
        return None
    return names


def is_record_value(value: Value) -> TypeGuard[Operand]:
    return not isinstance(value, Delayed) and names_of(value.type) is not None


def field(cx: Context, node: ast.expr, record: Operand, name: str) -> Operand:
    """A field that there is."""
    names = names_of(record.type)
    assert names is not None
    return component(cx.at(node), record, names.index(name))


def _fields(cx: Context, node: ast.expr, record: Operand) -> dict[str, Operand]:
    names = names_of(record.type)
    assert names is not None
    return {name: field(cx, node, record, name) for name in names}


# ---- construction


def construct(cx: Context, node: ast.Call, python: type) -> Operand:
    """`Point(x, y=1.0)`"""
    record = _class(cx, node.func, python)
    if not record.is_plain:
        raise record_errors.own_constructor(cx.span(node.func), python.__name__)
    params = _parameters(cx, node.func, record)
    given = bind(cx, node, python.__name__, params)
    values = {name: cx.value(argument) for name, argument in given.items()}
    for param in params:
        if param.name not in values:
            value = constant(cx, param.default, param.name, cx.span(node))
            values[param.name] = value
    return _record(cx, node, record, params, values, given)


def _class(cx: Context, node: ast.expr, python: type) -> RecordClass:
    try:
        record = record_class(python)
        if record is not None and record.is_recursive:
            reference_to(record)
    except BadRecord as bad:
        raise record_errors.bad_record(cx.span(node), str(bad)) from None
    assert record is not None
    return record


def _parameters(
    cx: Context, node: ast.expr, record: RecordClass
) -> tuple[Parameter, ...]:
    """The fields as parameters of the constructor."""
    span = cx.span(node)
    try:
        return tuple(
            Parameter(
                f.name,
                field_annotation(record, f),
                f.default,
                span,
                f.is_keyword_only,
            )
            for f in record.fields
        )
    except BadRecord as bad:
        raise record_errors.bad_record(span, str(bad)) from None


def _record(
    cx: Context,
    node: ast.expr,
    record: RecordClass,
    params: Sequence[Parameter],
    values: dict[str, Operand],
    given: dict[str, ast.expr],
) -> Operand:
    """The record of these values, each as what its field is annotated with."""
    title = record.names.title
    parts = [
        converted(cx, given.get(p.name, node), title, p, values[p.name]) for p in params
    ]
    if record.is_recursive:
        return made(cx.at(node), reference_to(record), parts)
    return cx.at(node).one(Tuple(tuple(parts), record.names))


def dictionary(cx: Context, node: ast.Dict) -> Operand:
    """`{"w": w, **others}` with constant keys."""
    entries: dict[str, Operand] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        operand = cx.value(value)
        if key is None:
            names = names_of(operand.type)
            if names is None or names.kind is not Kind.DICT:
                raise record_errors.spread(cx.span(value), operand.type)
            entries |= _fields(cx, value, operand)
            continue
        name = static_string(cx, key)
        if name is None:
            raise record_errors.dictionary_key(cx.span(key))
        entries[name] = operand
    return _dict(cx, node, entries)


def dictionary_call(cx: Context, node: ast.Call) -> Operand:
    """`dict(w=w, b=b)`, `dict(params, b=b)`"""
    entries: dict[str, Operand] = {}
    if len(node.args) > 1:
        expected = "one dictionary, and keywords"
        raise call_errors.wrong_argument_count(cx.span(node), "dict", expected)
    for argument in node.args:
        first = cx.value(argument)
        names = names_of(first.type)
        if names is None or names.kind is not Kind.DICT:
            raise record_errors.spread(cx.span(argument), first.type)
        entries |= _fields(cx, argument, first)
    for keyword in node.keywords:
        if keyword.arg is None:
            raise statement_errors.starred(cx.span(keyword))
        entries[keyword.arg] = cx.value(keyword.value)
    return _dict(cx, node, entries)


def _dict(cx: Context, node: ast.expr, entries: dict[str, Operand]) -> Operand:
    if not entries:
        raise statement_errors.unsupported(cx.span(node), node)
    names = RecordNames(entries, Kind.DICT, dict)
    return product(cx.at(node), Tuple(tuple(entries.values()), names))


def with_part(cx: Context, node: Replaced) -> Operand:
    """A record with another value in the place of a field or an entry."""
    owner, value = cx.value(node.record), cx.value(node.value)
    names = names_of(owner.type)
    if names is None and node.is_field:
        raise update_errors.attribute_update(cx.span(node))
    if names is None:
        raise update_errors.not_updatable(cx.span(node), owner.type)
    if node.is_new:
        _check_changes(cx, node, names)
    values = _fields(cx, node, owner)
    if names.kind is Kind.DICT:
        return _dict(cx, node, {**values, node.key: value})
    if node.key not in names:
        raise record_errors.unknown_field(cx.span(node), names.title, node.key, names)
    values[node.key] = value
    if names.kind is not Kind.DATACLASS:
        return cx.at(node).one(Tuple(tuple(values.values()), names))
    record = _class(cx, node, names.python)
    params = _parameters(cx, node, record)
    return _record(cx, node, record, params, values, {node.key: node.value})


def _check_changes(cx: Context, node: Replaced, names: RecordNames) -> None:
    """Refuse what Python does not assign, or assigns for more names than this one."""
    if not names.may_change or names.is_class is not node.is_field:
        raise update_errors.attribute_update(cx.span(node))
    check_alone(cx, node, node.record.id, names)


def check_held(cx: Context, node: ast.Call, result: Type) -> None:
    """Refuse a call that may give another name to what is changed by its fields."""
    if not _holds_objects(result):
        return
    for name in cx.assigned.held(node):
        value = cx.scope.lookup(name.id)
        ty = NONE if value is None or isinstance(value, Unusable) else value.type
        names = names_of(ty)
        if names is not None and _holds_objects(ty):
            copied = copy_of(name.id, names)
            raise update_errors.object_shared(
                cx.span(name), name.id, copied, None, is_call=True
            )


def _holds_objects(ty: Type) -> bool:
    """Whether there is something in values of a type whose fields may be assigned."""
    match ty:
        case Product(parts, names):
            record = names_of(ty)
            may_change = record is not None and record.may_change
            is_reference = isinstance(names, ReferenceNames)
            return is_reference or may_change or any(map(_holds_objects, parts))
        case Array(elem):
            return _holds_objects(elem)
        case Sum():
            return any(map(_holds_objects, ty.payloads))
        case _:
            return False


# ---- fields


def record_attribute(cx: Context, node: ast.Attribute, record: Operand) -> Value:
    """`p.x`: a field, a property or a constant of the class."""
    names = names_of(record.type)
    assert names is not None
    if not names.is_class:
        raise record_errors.key_by_attribute(cx.span(node), record.type, node.attr)
    if node.attr in names:
        return field(cx, node, record, node.attr)
    if isinstance(names, ObjectNames) and node.attr in names.unfit:
        found = names.unfit[node.attr]
        raise record_errors.unfit_field(cx.span(node), names.title, node.attr, found)
    match class_attribute(names.python, node.attr):
        case property(fget=FunctionType() as function):
            return called(cx, node, function, [record])
        case None | MemberDescriptorType():
            raise record_errors.unknown_field(
                cx.span(node), names.title, node.attr, names
            )
        case FunctionType() | staticmethod() | classmethod():
            raise record_errors.method_as_value(cx.span(node), names.title, node.attr)
        case found if hasattr(type(found), "__get__"):
            kind = type(found).__name__
            raise record_errors.unfit_field(cx.span(node), names.title, node.attr, kind)
        case value:
            return constant(cx, value, node.attr, cx.span(node))


def entry(cx: Context, node: ast.Subscript, value: Value) -> Value | None:
    """`params["w"]`, `rows["x"]`, `curve[k]` of a class with `__getitem__`; None if
    this is no subscript by a string."""
    names = names_of(value.type)
    if is_record_value(value) and has_method(value.type, "__getitem__"):
        call = ast.copy_location(ast.Call(node.value, [node.slice], []), node)
        return record_method(cx, call, value, "__getitem__")
    if isinstance(value.type, Array) and value not in cx.lists:
        names = names_of(value.type.elem)
    name = None if names is None else static_string(cx, node.slice)
    if names is None or (name is None and names.is_sequence):
        return None
    if names.is_class:
        if isinstance(value.type, Array):
            return None
        raise record_errors.field_by_key(cx.span(node), names.title)
    if name is None:
        if isinstance(value.type, Array):
            return None
        raise record_errors.key_needed(cx.span(node.slice), value.type)
    if name not in names:
        raise record_errors.unknown_key(cx.span(node.slice), name, names)
    if not isinstance(value.type, Array):
        assert is_record_value(value)
        return field(cx, node, value, name)
    return None if names.kind is Kind.DICT else _column(cx, node, value, name)


def _column(cx: Context, node: ast.expr, value: Value, name: str) -> Value | None:
    """A field of all rows of a structured array, which Python's array shares."""
    rows = delayed(cx, node, value)
    assert isinstance(rows.elem, Product)
    index = rows.elem.names.index(name)
    elem = rows.elem.fields[index]
    if isinstance(elem, Array):
        return None

    def element(b: Builder, indices: Indices) -> Operand:
        return b.one(Proj(rows.element(b, indices), index))

    is_plain, view_of = rows.is_plain, rows.made or rows.view_of
    return Delayed(rows.shape, elem, element, is_plain=is_plain, view_of=view_of)


# ---- methods


def _dictionary_method(
    cx: Context, node: ast.Call, owner: Operand, name: str
) -> Operand:
    """`params.values()`, a tuple of the entries, and `params.get("w", 0.0)`."""
    names, b = names_of(owner.type), cx.at(node)
    assert names is not None
    match name, node.args, node.keywords:
        case "values", [], []:
            entries = [b.one(Proj(owner, k)) for k in range(len(names))]
            return b.one(Tuple(tuple(entries)))
        case "get", [key, default], [] if (word := static_string(cx, key)) is not None:
            other = cx.value(default)
            return field(cx, node, owner, word) if word in names else other
        case "copy", [], []:
            return owner
        case "keys" | "items", [], []:
            raise record_errors.keys_as_value(
                cx.span(node.func), f"`{name}` of a dictionary"
            )
        case _:
            raise record_errors.dictionary_method(cx.span(node.func), name)


def record_method(
    cx: Context, node: ast.Call, owner: Operand, name: str = ""
) -> Operand:
    """`p.norm()`, `p._replace(x=1.0)`; with a name, what has no name there."""
    if not name:
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
    names = names_of(owner.type)
    assert names is not None
    if names.kind is Kind.DICT:
        return _dictionary_method(cx, node, owner, name)
    if isinstance(names, ObjectNames) and name in names.unfit:
        found = names.unfit[name]
        raise record_errors.unfit_field(cx.span(node.func), names.title, name, found)
    if not names.is_class:
        raise record_errors.not_a_method(cx.span(node.func), names.title, name)
    if names.kind is Kind.NAMED_TUPLE and name in _OF_NAMED_TUPLES:
        return _OF_NAMED_TUPLES[name](cx, node, owner)
    return _class_call(cx, node, names.python, name, [owner])


def class_function(cx: Context, node: ast.Call, python: type) -> Operand:
    """`Point.polar(r, angle)`: a static or class method, or a plain function."""
    assert isinstance(node.func, ast.Attribute)
    return _class_call(cx, node, python, node.func.attr, [])


def base_call(
    cx: Context, node: ast.Call, name: str, bases: Sequence[type], owner: Operand
) -> Operand:
    """`super().energy(x)`: the function of the first of these classes that has one."""
    python = next((base for base in bases if name in vars(base)), object)
    return _class_call(cx, node, python, name, [owner])


def has_method(ty: Type, name: str) -> bool:
    """Whether values of a type are records whose class has such a method."""
    names = names_of(ty)
    if names is None or not names.is_class:
        return False
    return isinstance(class_attribute(names.python, name), FunctionType)


def _class_call(
    cx: Context, node: ast.Call, python: type, name: str, owner: Sequence[Operand]
) -> Operand:
    found = class_attribute(python, name)
    function = getattr(found, "__func__", found)
    statics = getattr(function, "static_argnames", ())
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        raise record_errors.not_a_method(cx.span(node.func), python.__name__, name)
    if isinstance(found, classmethod):
        first = function.__code__.co_varnames[0]
        return function_call(cx, node, function, statics, known={first: python})
    own = [] if isinstance(found, staticmethod) else owner
    return function_call(cx, node, function, statics, own)


def replaced(cx: Context, node: ast.Call) -> Operand:
    """`dataclasses.replace(p, x=1.0)`"""
    if len(node.args) != 1:
        raise call_errors.wrong_argument_count(
            cx.span(node), "replace", "one record, and fields by keyword"
        )
    owner = cx.value(node.args[0])
    names = names_of(owner.type)
    if names is None or names.kind is not Kind.DATACLASS:
        raise call_errors.wrong_operand(
            cx.span(node.args[0]), "replace", "a dataclass", owner.type
        )
    return _replaced(cx, node, owner)


def _replaced(cx: Context, node: ast.Call, owner: Operand) -> Operand:
    names = names_of(owner.type)
    assert names is not None
    if node.args and isinstance(node.func, ast.Attribute) and names.is_sequence:
        raise call_errors.wrong_argument_count(
            cx.span(node), "_replace", "fields by keyword"
        )
    record = _class(cx, node.func, names.python)
    if not record.is_plain and names.kind is Kind.DATACLASS:
        raise record_errors.own_constructor(cx.span(node.func), names.title)
    given: dict[str, ast.expr] = {}
    bind_keywords(cx, node, names.title, names, given)
    values = {name: cx.value(argument) for name, argument in given.items()}
    values = {**_fields(cx, node, owner), **values}
    params = _parameters(cx, node.func, record)
    return _record(cx, node, record, params, values, given)


def _as_dict(cx: Context, node: ast.Call, owner: Operand) -> Operand:
    return _dict(cx, node, _fields(cx, node, owner))


_OF_NAMED_TUPLES: dict[str, Callable[[Context, ast.Call, Operand], Operand]] = {
    "_replace": _replaced,
    "_asdict": _as_dict,
}


def _copied(cx: Context, node: ast.Call) -> Operand:
    """`copy.copy(p)` of a record, which is the same value."""
    if len(node.args) != 1 or node.keywords:
        raise call_errors.wrong_argument_count(cx.span(node), "copy", "one record")
    owner = cx.value(node.args[0])
    if names_of(owner.type) is None:
        raise call_errors.wrong_operand(
            cx.span(node.args[0]), "copy", "a record", owner.type
        )
    return owner


# Python's functions that build records, and what translates a call.
FUNCTIONS: tuple[tuple[Any, Callable[[Context, ast.Call], Operand]], ...] = (
    (dict, dictionary_call),
    (copy.copy, _copied),
    (dataclasses.replace, replaced),
)
