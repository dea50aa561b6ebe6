"""The parameters of a user's function: names, annotations, defaults."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import FunctionType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from chadllvm.errors import function_errors, record_errors
from chadllvm.frontend.annotations import (
    Annotation,
    UnknownAnnotation,
    check_contents,
    read_annotation,
    target_type,
)
from chadllvm.frontend.records import NO_DEFAULT, BadRecord, resolved
from chadllvm.frontend.source import Source, read_source
from chadllvm.ir.types import NONE
from chadllvm.support.diagnostic import CompileError, Span
from chadllvm.support.twins import original


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `annotation` is None if any type is welcome.

    What a static parameter stands for is known when the function is compiled: it is
    named so, or annotated with `str`, an enumeration or a `Literal`. A variadic one
    takes the arguments that are left.
    """

    name: str
    annotation: Annotation
    default: Any
    span: Span
    is_keyword_only: bool = False
    is_static: bool = False
    is_variadic: bool = False

    @property
    def is_required(self) -> bool:
        return self.default is NO_DEFAULT and not self.is_variadic


def signature(
    function: Callable[..., Any], statics: Collection[str] = ()
) -> tuple[Parameter, ...]:
    """The parameters of a function, of which those named in `statics` are static.

    Raises:
        CompileError: for parameters or annotations that are not supported.
    """
    source = read_source(function)
    extra = source.definition.args.vararg
    if extra is not None:  # Python's own call says how many there are, and which types.
        raise function_errors.variadic_parameter(source.span(extra), extra.arg)
    return read_signature(source, statics)


def read_signature(
    source: Source, statics: Collection[str] = ()
) -> tuple[Parameter, ...]:
    """The parameters of a function whose source has been read."""
    arguments = source.definition.args
    check_keywords(source)
    nodes = [*arguments.posonlyargs, *arguments.args]
    defaults = list(source.function.__defaults__ or ())
    padded = [NO_DEFAULT] * (len(nodes) - len(defaults)) + defaults
    by_name = source.function.__kwdefaults__ or {}
    padded += [by_name.get(node.arg, NO_DEFAULT) for node in arguments.kwonlyargs]
    pairs = zip([*nodes, *arguments.kwonlyargs], padded, strict=True)
    return with_variadic(
        source,
        CompileError.all_of(
            partial(
                _parameter,
                source,
                node,
                default,
                node in arguments.kwonlyargs,
                statics,
            )
            for node, default in pairs
        ),
    )


def check_keywords(source: Source) -> None:
    """Refuse `**options`."""
    extra = source.definition.args.kwarg
    if extra is not None:
        raise function_errors.variadic_parameter(source.span(extra), extra.arg)


def with_variadic(
    source: Source, parameters: Iterable[Parameter]
) -> tuple[Parameter, ...]:
    """The parameters, with `*rest` between those by position and by keyword."""
    every = [*parameters]
    extra = source.definition.args.vararg
    if extra is None:
        return (*every,)
    span, at = source.span(extra), sum(not p.is_keyword_only for p in every)
    rest = Parameter(extra.arg, None, NO_DEFAULT, span, is_variadic=True)
    return (*every[:at], rest, *every[at:])


def _parameter(
    source: Source,
    node: ast.arg,
    default: Any,
    is_keyword_only: bool,
    statics: Collection[str],
) -> Parameter:
    span = source.span(node)
    if node.arg in statics or _is_constant(source, node):
        return Parameter(node.arg, None, default, span, is_keyword_only, True)
    annotation = _annotation(source, node.arg, node.annotation)
    if default is None and target_type(annotation, NONE) is None:
        raise function_errors.no_value_by_default(span, node.arg)
    return Parameter(node.arg, annotation, default, span, is_keyword_only)


def _is_constant(source: Source, node: ast.arg) -> bool:
    """Whether a parameter's annotation says that its arguments are no data."""
    value = source.function.__annotations__.get(node.arg)
    if source.is_local or value is None:
        return False
    try:
        value = _evaluate(source.function, value) if isinstance(value, str) else value
    except Exception:  # It is reported where the annotation is read.
        return False
    origin: Any = get_origin(value)
    members = get_args(value) if origin in (Union, UnionType) else (value,)
    kinds = [m for m in members if m is not NoneType]
    return bool(kinds) and all(map(_is_kind_of_constants, kinds))


def _is_kind_of_constants(value: Any) -> bool:
    """Strings, the members of an enumeration, or values that are written out."""
    is_class = isinstance(value, type) and issubclass(value, str | Enum)
    return is_class or get_origin(value) is Literal


def return_annotation(source: Source) -> Annotation:
    """What the result is annotated with; `-> None` is left to the check of results."""
    return _annotation(source, "return", source.definition.returns)


def _annotation(source: Source, name: str, node: ast.expr | None) -> Annotation:
    if source.is_local and node is not None:
        return local_annotation(source, node)
    value = source.function.__annotations__.get(name)
    if node is None or value is None:
        return None
    return _checked(source, node, value)


def _checked(source: Source, node: ast.expr, value: Any) -> Annotation:
    """The meaning of an annotation's value, which may be a string still."""
    try:
        if isinstance(value, str):
            value = _evaluate(source.function, value)
        if value is None:
            return None
        value = resolved(value, partial(_evaluate, source.function))
        found = read_annotation(value)
        check_contents(found)
        return found
    except BadRecord as bad:
        raise record_errors.bad_record(source.span(node), str(bad)) from None
    except UnknownAnnotation as unknown:
        raise function_errors.unknown_annotation(
            source.span(node), str(unknown)
        ) from None
    except Exception as failure:
        raise function_errors.broken_annotation(
            source.span(node), str(failure)
        ) from None


def _evaluate(function: FunctionType, text: str) -> Any:
    """The value of a string annotation, in the function's globals and closure."""
    value: Any = text
    space = {**original(function).__globals__, **function.__globals__}
    while isinstance(value, str):
        value = eval(value, space, closure_values(function))
    return value


def closure_values(function: FunctionType) -> dict[str, Any]:
    """The closed-over variables that have a value."""
    values = {}
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # The variable has no value yet.
            continue
    return values


def all_captured(function: FunctionType) -> list[Any]:
    """What the variables hold that a function has captured, or one that is in them."""
    found: list[Any] = []
    waiting = [function]
    while waiting:
        for value in closure_values(waiting.pop()).values():
            if isinstance(value, FunctionType) and not any(v is value for v in found):
                waiting.append(value)
            found.append(value)
    return found


def local_annotation(source: Source, node: ast.expr) -> Annotation:
    """The meaning of a local variable's annotation, which Python does not evaluate."""
    return _checked(source, node, ast.unparse(node))
