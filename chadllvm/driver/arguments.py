"""The arguments of a call in the order of a function's parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chadllvm.support import call_rules


class Parameter(Protocol):
    """What there is to know of a parameter."""

    @property
    def name(self) -> str: ...
    @property
    def default(self) -> Any: ...
    @property
    def is_required(self) -> bool: ...
    @property
    def is_keyword_only(self) -> bool: ...


def bind(
    name: str,
    parameters: Sequence[Parameter],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> tuple[Any, ...]:
    """The arguments in the parameters' order, with defaults filled in."""
    most = sum(not parameter.is_keyword_only for parameter in parameters)
    if len(args) > most:
        by_position = " by position" if most < len(parameters) else ""
        raise call_rules.wrong_count(
            f"{name}() takes {most} arguments{by_position}, {len(args)} were given"
        )
    if not kwargs and len(args) == len(parameters):
        return args
    bound = list(args)
    rest = dict(kwargs)
    for parameter in parameters[: len(args)]:
        if parameter.name in rest:
            raise call_rules.wrong_count(
                f"{name}() got two values for parameter {parameter.name!r}"
            )
    for parameter in parameters[len(args) :]:
        if parameter.name in rest:
            bound.append(rest.pop(parameter.name))
        elif not parameter.is_required:
            bound.append(parameter.default)
        else:
            raise call_rules.wrong_count(f"{name}() misses argument {parameter.name!r}")
    if rest:
        raise call_rules.wrong_count(f"{name}() has no parameter {next(iter(rest))!r}")
    return tuple(bound)
