"""What can be wrong with records and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.types import Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span


@code("CL0901")
def bad_record(span: Span, reason: str) -> Diagnostic:
    return error(
        "a class that cannot be a record",
        span,
        reason,
        "a record is a `NamedTuple` or a dataclass with fields of known types",
    )


@code("CL0902")
def unknown_field(
    span: Span, title: str, name: str, names: Sequence[str]
) -> Diagnostic:
    return error(
        "unknown field",
        span,
        f"`{title}` has no field `{name}`",
        f"its fields are {', '.join(names)}",
    )


@code("CL0904")
def field_by_key(span: Span, title: str) -> Diagnostic:
    return error(
        "a field is an attribute",
        span,
        f"`{title}` cannot be subscripted in Python",
        "write `record.field`",
    )


@code("CL0908")
def not_iterable(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a record cannot be iterated over",
        span,
        f"this is {said(ty)}, whose fields may have different types",
        "read the fields by their names; to loop, use an array or a list of records",
    )


@code("CL0909")
def not_unpackable(span: Span, title: str) -> Diagnostic:
    return error(
        "a record that cannot be unpacked",
        span,
        f"`{title}` cannot be unpacked in Python, or into its keys only",
        "read its fields by their names",
    )


@code("CL0910")
def no_length(span: Span, title: str) -> Diagnostic:
    return error(
        "a record has no length",
        span,
        f"`len` of `{title}`",
        "the number of its fields is a constant: write it",
    )


@code("CL0911")
def compared(span: Span, ty: Type) -> Diagnostic:
    return error(
        "records are not numbers",
        span,
        f"the operator takes numbers, found {said(ty)}",
        "compute with the fields, or define the operator in the class, as `__add__`",
    )


@code("CL0912")
def method_as_value(span: Span, title: str, name: str) -> Diagnostic:
    return error(
        "a method is not a value here",
        span,
        f"`{name}` is a method of `{title}`",
        "call it",
    )


@code("CL0913")
def not_a_method(span: Span, title: str, name: str) -> Diagnostic:
    return error(
        "unknown method",
        span,
        f"`{title}` has no method `{name}` that can be compiled",
        "methods, properties, static and class methods written with `def` can be",
    )


@code("CL0914")
def own_constructor(span: Span, title: str) -> Diagnostic:
    return error(
        "a constructor that does more than set the fields",
        span,
        f"`{title}` has an `__init__`, `__new__` or `__post_init__` of its own",
        "construct it outside, or leave the fields to the class's own constructor",
    )


@code("CL0917")
def unfit_field(span: Span, title: str, name: str, found: str) -> Diagnostic:
    return error(
        "a field that cannot be an argument",
        span,
        f"the field `{name}` of this `{title}` is a `{found}`",
        "let it be a number, an array, a record or an object of such fields",
    )


@code("CL0918")
def returned_object(span: Span, title: str) -> Diagnostic:
    return error(
        "an object as a result",
        span,
        f"this function returns a `{title}`",
        "return its fields, or let it be a record: a dataclass, a `NamedTuple`",
    )


@code("CL0903")
def unknown_key(span: Span, name: str, names: Sequence[str]) -> Diagnostic:
    return error(
        "unknown key",
        span,
        f"there is no key {name!r}",
        f"the keys are {', '.join(map(repr, names))}",
    )


@code("CL0905")
def key_by_attribute(span: Span, ty: Type, name: str) -> Diagnostic:
    return error(
        "a key is not an attribute",
        span,
        f"this is {said(ty)}",
        f'write `["{name}"]`',
    )


@code("CL0906")
def key_needed(span: Span, ty: Type) -> Diagnostic:
    return error(
        "a key must be a constant string",
        span,
        f"an index into {said(ty)}",
        "write the key as a string, or use an array instead of the dictionary",
    )


@code("CL0907")
def dictionary_method(span: Span, name: str) -> Diagnostic:
    return error(
        f"`{name}` of a dictionary is not supported",
        span,
        "the keys are known when the program is compiled",
        'read the entries by their keys, as in `params["w"]`',
    )


@code("CL0915")
def spread(span: Span, ty: object) -> Diagnostic:
    return error(
        "`**` needs a dictionary",
        span,
        f"this is {said(ty)}",
        "only dictionaries with known keys can be spread",
    )


@code("CL0916")
def dictionary_key(span: Span) -> Diagnostic:
    return error(
        "a key must be a constant string",
        span,
        "its value is not a string known when the program is compiled",
        'write it out, as in `{"w": w, "b": b}`',
    )


@code("CL0919")
def key_assigned(span: Span, name: str) -> Diagnostic:
    return error(
        "the name of a key is assigned",
        span,
        f"`{name}` stands for a key of a dictionary here",
        "give one of the two another name",
    )


@code("CL0920")
def key_as_value(span: Span) -> Diagnostic:
    return error(
        "a key is no part of a value",
        span,
        "this would be a tuple with a string in it",
        "take it apart, as in `for k, v in params.items()`",
    )


@code("CL0921")
def keys_as_value(span: Span, what: str) -> Diagnostic:
    return error(
        f"{what} is not a value",
        span,
        "this would hold strings",
        "run over it in a `for` loop or a comprehension, by `zip` with other entries",
    )


@code("CL0922")
def unknown_test(span: Span) -> Diagnostic:
    return error(
        "which entries are taken is not known",
        span,
        "this is found out when the program runs",
        "test keys alone, or write a `for` loop",
    )
