"""Copies of arguments, and cotangents as our own functions take them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from chadllvm.ir.types import Type, holds_reference

# What Python copies as it should: there is no recursive data in it.
_PLAIN = (float, int, bool, np.ndarray, np.float64, np.float32, type(None))


def copied(title: str, name: str, value: Any) -> Any:
    """A copy of a value, as deep as it may be."""
    if type(value) in _PLAIN:
        return deepcopy(value)
    ty = _type_across(title, name, value)
    if ty is None:
        return deepcopy(value)
    try:
        return _round_trip(title, name, ty, value)
    except TypeError:
        return value  # A gradient with None in it, which nobody changes.


def given_cotangent(title: str, out: Any, cotangent: Any) -> Any:
    """A cotangent of a result with 0 where it may have None, for what is no real."""
    from chadllvm.api.filled import filled

    ty = _type_across(title, "cotangent", cotangent)
    if ty is None:
        return filled(out, cotangent)
    return _round_trip(title, "cotangent", ty, cotangent, reals=True)


def _type_across(title: str, name: str, value: Any) -> Type | None:
    """The type of a value with recursive data in it that can cross the boundary."""
    from chadllvm.driver.values import type_of

    try:
        ty = type_of(value, title, name)
    except TypeError:
        return None  # Whoever takes it will say what is wrong.
    if not holds_reference(ty):
        return None
    from chadllvm.driver.border import is_plain

    return ty if is_plain(ty) else None


def _round_trip(
    title: str, name: str, ty: Type, value: Any, *, reals: bool = False
) -> Any:
    from chadllvm.backend.nodes import Writer
    from chadllvm.backend.objects import Reader

    nodes = Writer(f"{title}()", [ty], reals=reals).begin()
    leaves = nodes.leaves(name, ty, value)
    return Reader(nodes.columns(name)).value(ty, leaves)
