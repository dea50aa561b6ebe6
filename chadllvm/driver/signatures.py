"""What `inspect.signature` says of derivatives: of which types their results are.

A derivative takes what its function takes. Annotations stay what the user wrote, text
where they are text.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import GenericAlias
from typing import Any, get_args, get_origin

from chadllvm.support.request import Request

_EMPTY = inspect.Signature.empty


def signature_of_derivative(
    takes: inspect.Signature, request: Request
) -> inspect.Signature:
    """The signature of a gradient, or of the value with the gradient."""
    result, gradient = takes.return_annotation, annotation_of(takes, request.argnums)
    if request.has_aux and not request.value:
        fields = get_args(result) if get_origin(result) is tuple else ()
        given = _tuple([gradient, fields[1]]) if len(fields) == 2 else _EMPTY
    else:
        given = _tuple([result, gradient]) if request.value else gradient
    return takes.replace(return_annotation=given)


def signature_along(
    takes: inspect.Signature, argnums: int | Sequence[int]
) -> inspect.Signature:
    """The signature of a product with a direction, which is an argument as well.

    Parameters before it have no defaults, for Python wants that.
    """
    named, heads = [], []
    for parameter in takes.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            named.append(parameter)
        else:
            heads.append(parameter.replace(default=_EMPTY))
    given, name = annotation_of(takes, argnums), "direction"
    while name in takes.parameters:
        name += "_"
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    direction = inspect.Parameter(name, kind, annotation=given)
    return inspect.Signature([*heads, direction, *named], return_annotation=given)


def annotation_of(takes: inspect.Signature, argnums: int | Sequence[int] | None) -> Any:
    """The annotation of a parameter, or the tuple of those of several."""
    annotations = [p.annotation for p in takes.parameters.values()]
    if argnums is None:
        return _EMPTY
    if isinstance(argnums, int):
        return annotations[argnums]
    return _tuple([annotations[k] for k in argnums])


def _tuple(fields: Sequence[Any]) -> Any:
    """The annotation of a tuple of these, if all of them are known."""
    if _EMPTY in fields:
        return _EMPTY
    if not any(isinstance(field, str) for field in fields):
        return GenericAlias(tuple, tuple(fields))
    said = inspect.formatannotation
    texts = [field if isinstance(field, str) else said(field) for field in fields]
    return f"tuple[{', '.join(texts)}]"
