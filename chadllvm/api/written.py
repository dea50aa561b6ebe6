"""Functions that we write in our own language, and compile like the user's."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chadllvm.api.compiled import Compiled, Function, static_argument
from chadllvm.api.copying import copied
from chadllvm.api.transforms import jit
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import WRITTEN_FOR


def compiled_function(function: Callable[..., Any]) -> Compiled:
    """A function compiled, the same one each time."""
    found = static_argument(function)
    return found if isinstance(found, Compiled) else jit(function)


def as_they_are(function: Compiled, primals: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments that stay what they are, whatever happens to the arrays in them."""
    pairs = zip(function.parameters, primals, strict=False)
    kept = [
        value if p.is_static else copied(function.name, p.name, function.read(value))
        for p, value in pairs
    ]
    return (*kept, *primals[len(kept) :])


def unused(wanted: str, taken: Sequence[str]) -> str:
    """A name like this one that no parameter has."""
    while wanted in taken:
        wanted += "_"
    return wanted


def head(parameter: Parameter, taken: Sequence[str], space: dict[str, Any]) -> str:
    """A parameter with its annotation, which is put into the globals `space`.

    It says what an argument is that says nothing itself, as an empty list.
    """
    if parameter.annotation is None or parameter.is_static:
        return parameter.name
    name = unused(f"{parameter.name}_type", taken)
    space[name] = parameter.annotation
    return f"{parameter.name}: {name}"


def written(
    function: Compiled,
    title: str,
    text: str,
    space: Mapping[str, Any],
    make: Callable[..., Function[..., Any]] = Function,
) -> Function[..., Any]:
    """The function `title` of a text, compiled as `function` is.

    `space` are its globals. Its parameters are static where those of `function` of the
    same names are. What is wrong with it is shown at the definition of `function`.
    """
    file = f"<{title} at {id(function):x}: {hash(text):x}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    names = dict(space)
    exec(compile(text, file, "exec"), names)
    statics = [p.name for p in function.parameters if p.is_static]
    code = names[title].__code__
    setattr(names[title], WRITTEN_FOR, function._function)
    taken = code.co_varnames[: code.co_argcount]
    kept = tuple([name for name in statics if name in taken])
    return make(names[title], function.options, kept)
