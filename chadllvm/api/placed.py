"""Functions at arguments that are all given by position, also where some are bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from chadllvm.api.bound import Bound, bound_of
from chadllvm.api.compiled import Compiled, Derivative
from chadllvm.api.written import as_they_are, compiled_function, head, unused, written
from chadllvm.driver.values import as_declared

# Where a compiled function keeps the one that takes all by position.
_KEPT = "_chadllvm_by_position"


class Placed(NamedTuple):
    """A compiled function, all of its arguments by position, and which are the user's.

    The others are bound, and held fixed.
    """

    function: Compiled
    args: tuple[Any, ...]
    which: range

    def spread(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What belongs to the user's arguments, with None for those that are bound."""
        behind = len(self.args) - self.which.stop
        return (*[None] * self.which.start, *values, *[None] * behind)


def placed(function: Callable[..., Any], args: Sequence[Any]) -> Placed:
    """A function at arguments that are given by position."""
    bound = bound_of(function)
    if bound is None:
        return Placed(compiled_function(function), tuple(args), range(len(args)))
    whole, which = bound.in_order(args)
    return Placed(_by_position(bound.compiled), whole, which)


def kept_as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with what is bound as it is now, whatever happens to the arrays."""
    bound = bound_of(function)
    if bound is None:
        return compiled_function(function)
    base = bound.compiled
    names = {p.name: k for k, p in enumerate(base.parameters)}
    whole: list[Any] = [None] * len(names)
    for name, value in bound.keywords.items():
        if name in names:
            whole[names[name]] = value
    copies = as_they_are(base, whole)
    named = {name: copies[names[name]] for name in bound.keywords if name in names}
    return Bound(base, *as_they_are(base, bound.args), **named)


def frozen(function: Callable[..., Any]) -> Compiled:
    """A function with what is bound now as constants of it."""
    bound = bound_of(function)
    if bound is None:
        return compiled_function(function)
    base = bound.compiled
    if not isinstance(base, Derivative):
        return _frozen(bound, ())
    by, positions = base.request.argnums, base.request.positions
    names = [base.parameters[k].name for k in positions]
    inner = _frozen(bound.around(compiled_function(base.of)), names)
    left = [p.name for p in inner.parameters]
    found = tuple([left.index(name) for name in names])
    argnums = found[0] if isinstance(by, int) else found
    return inner.derivative(replace(base.request, argnums=argnums))


def _frozen(bound: Bound, free: Sequence[str]) -> Compiled:
    """The function with all that is bound but these as constants."""
    base, names = bound.compiled, [p.name for p in bound.compiled.parameters]
    values = {**dict(zip(names, bound.args, strict=False)), **bound.keywords}
    values = {name: v for name, v in values.items() if name not in free}
    called = unused("function", names)
    space: dict[str, Any] = {called: base}
    heads, given = [], []
    for p in base.parameters:
        name = p.name
        if name in values:
            name = unused(f"{p.name}_value", names)
            value = base.read(values[p.name])
            space[name] = as_declared(p.annotation, value, base.name, p.name)
        else:
            heads.append(head(p, names, space))
        given.append(f"{p.name}={name}" if p.is_keyword_only else name)
    title = unused(base.name, [*names, called])
    text = (
        f"def {title}({', '.join(heads)}):\n    return {called}({', '.join(given)})\n"
    )
    return written(base, title, text, space)


def _by_position(function: Compiled) -> Compiled:
    """A function that takes by position what this one takes by name only."""
    if not any(p.is_keyword_only for p in function.parameters):
        return function
    kept: dict[str, Any] = vars(function)
    if _KEPT not in kept:
        kept[_KEPT] = _written(function)
    found: Compiled = kept[_KEPT]
    return found


def _written(function: Compiled) -> Compiled:
    names = [p.name for p in function.parameters]
    called = unused("function", names)
    space: dict[str, Any] = {called: function}
    heads = [head(p, names, space) for p in function.parameters]
    given = [
        f"{p.name}={p.name}" if p.is_keyword_only else p.name
        for p in function.parameters
    ]
    title = unused(function.name, [*names, called])
    text = (
        f"def {title}({', '.join(heads)}):\n    return {called}({', '.join(given)})\n"
    )
    return written(function, title, text, space)
