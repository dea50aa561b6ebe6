"""What can be wrong with records, dictionaries and static arguments.

One constructor for each rule, as in `errors.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.diagnostic import CompileError, Span
from chadllvm.frontend.errors import error
from chadllvm.ir.types import Type


def unknown_field(
    span: Span, title: str, name: str, names: Sequence[str]
) -> CompileError:
    return error(
        "unknown field",
        span,
        f"`{title}` has no field `{name}`",
        f"its fields are {', '.join(names)}",
    )


def unknown_key(span: Span, name: str, names: Sequence[str]) -> CompileError:
    return error(
        "unknown key",
        span,
        f"there is no key {name!r}",
        f"the keys are {', '.join(map(repr, names))}",
    )


def field_by_key(span: Span, title: str) -> CompileError:
    return error(
        "a field is an attribute",
        span,
        f"`{title}` cannot be subscripted in Python",
        "write `record.field`",
    )


def key_by_attribute(span: Span, ty: Type, name: str) -> CompileError:
    return error(
        "a key is not an attribute",
        span,
        f"this is {ty}",
        f'write `["{name}"]`',
    )


def key_needed(span: Span, ty: Type) -> CompileError:
    return error(
        "a key must be a constant string",
        span,
        f"an index into {ty}",
        "write the key as a string, or use an array instead of the dictionary",
    )


def dictionary_method(span: Span, name: str) -> CompileError:
    return error(
        f"`{name}` of a dictionary is not supported",
        span,
        "the keys are known when the program is compiled",
        'read the entries by their keys, as in `params["w"]`',
    )


def not_iterable(span: Span, ty: Type) -> CompileError:
    return error(
        "a record cannot be iterated over",
        span,
        f"this is {ty}, whose fields may have different types",
        "read the fields by their names; to loop, use an array or a list of records",
    )


def not_unpackable(span: Span, title: str) -> CompileError:
    return error(
        "a record that cannot be unpacked",
        span,
        f"`{title}` cannot be unpacked in Python, or into its keys only",
        "read its fields by their names",
    )


def no_length(span: Span, title: str) -> CompileError:
    return error(
        "a record has no length",
        span,
        f"`len` of `{title}`",
        "the number of its fields is a constant: write it",
    )


def compared(span: Span, ty: Type) -> CompileError:
    return error(
        "records are not numbers",
        span,
        f"the operator takes numbers, found {ty}",
        "compute with the fields, or write a method",
    )


def method_as_value(span: Span, title: str, name: str) -> CompileError:
    return error(
        "a method is not a value here",
        span,
        f"`{name}` is a method of `{title}`",
        "call it",
    )


def not_a_method(span: Span, title: str, name: str) -> CompileError:
    return error(
        "unknown method",
        span,
        f"`{title}` has no method `{name}` that can be compiled",
        "methods, properties, static and class methods written with `def` can be",
    )


def own_constructor(span: Span, title: str) -> CompileError:
    return error(
        "a constructor that does more than set the fields",
        span,
        f"`{title}` has an `__init__`, `__new__` or `__post_init__` of its own",
        "construct it outside, or leave the fields to the class's own constructor",
    )


def spread(span: Span, ty: object) -> CompileError:
    return error(
        "`**` needs a dictionary",
        span,
        f"this is {ty}",
        "only dictionaries with known keys can be spread",
    )


def dictionary_key(span: Span) -> CompileError:
    return error(
        "a key must be a constant string",
        span,
        "its value is not a string known when the program is compiled",
        'write it out, as in `{"w": w, "b": b}`',
    )


# ---- static arguments


def not_static(span: Span, function: str, name: str) -> CompileError:
    return error(
        "a static argument must be known when the program is compiled",
        span,
        f"`{function}` takes `{name}` as a static argument",
        "pass a constant, or a static parameter of this function",
    )


def unhashable(span: Span, function: str, name: str) -> CompileError:
    return error(
        "a static argument must be hashable",
        span,
        f"`{function}` takes `{name}` as a static argument",
        "use a tuple instead of a list",
    )


def assigned_static(span: Span, name: str) -> CompileError:
    return error(
        "a static parameter is assigned to",
        span,
        f"`{name}` is a constant of the compiled program",
        "use another name for the new value",
    )
