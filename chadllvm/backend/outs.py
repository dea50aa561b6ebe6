"""`f(…, out=…)`: results in arrays of the caller's.

`out` has the structure of the result, with an array of the very dtype and shape where
one is to be filled, and None elsewhere. Native code computes in that memory if it is
contiguous and shares none with an argument; else the results are copied there, once all
of them fit, so that `out` may be an argument as well.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.backend.convert import found as said
from chadllvm.backend.overlap import arrays, overlaps_itself, share
from chadllvm.backend.results import Group, Result
from chadllvm.ir.record import Kind, ListNames, RecordNames
from chadllvm.ir.types import Array, Product, Scalar
from chadllvm.support import call_rules


class _Pair(NamedTuple):
    """An array of a result, and the one that is to hold it."""

    path: str
    found: np.ndarray
    out: np.ndarray


# ---- memory for native code


class _Unfit(Exception):
    """Something that native code does not compute in."""


def lent(ty: Result, out: Any, args: Sequence[Any]) -> list[np.ndarray] | None:
    """An array for each of a result of this type; None if they are to be copied."""
    try:
        found = list(_lent(ty, out))
    except _Unfit:
        return None
    mine = [array for array in found if array.size]
    if any(np.may_share_memory(*pair) for pair in combinations(mine, 2)):
        return None
    try:
        taken = list(arrays(args))
    except TypeError:
        return None  # The call says which argument it is.
    if any(np.may_share_memory(a, array) for a in taken for array in mine):
        return None
    return found


def _lent(ty: Result, out: Any) -> Iterator[np.ndarray]:
    match ty:
        case Array(Scalar() as elem, rank):
            if out is None:
                yield np.empty((0,) * rank, DTYPES[elem])
            elif (
                type(out) is np.ndarray
                and out.dtype == DTYPES[elem]
                and out.ndim == rank
                and out.flags.carray
            ):
                yield out
            else:
                raise _Unfit
        case Scalar() | None:
            if out is not None:
                raise _Unfit
        case Product(_, ListNames()):
            raise _Unfit
        case Product(parts, names) | Group(parts, names):
            for part, own in zip(parts, _parts(names, out, len(parts)), strict=True):
                yield from _lent(part, own)
        case _:
            raise _Unfit


def _parts(names: Sequence[str], out: Any, count: int) -> list[Any]:
    """What is given for the parts of a tuple or a record."""
    if out is None:
        return [None] * count
    if not isinstance(names, RecordNames):
        if isinstance(out, tuple | list) and len(out) == count:
            return [*out]
    elif names.kind is Kind.DICT:
        if isinstance(out, dict) and out.keys() <= {*names}:
            return [out.get(name) for name in names]
    elif names.kind in (Kind.NAMED_TUPLE, Kind.DATACLASS) and type(out) is names.python:
        return [getattr(out, name) for name in names]
    raise _Unfit


# ---- the arrays of a result


def filled(name: str, value: Any, out: Any) -> Any:
    """A result of the function `name` with the arrays of `out` in place of its own.

    Raises:
        TypeError: if something that is given for an array is none, or of another dtype.
        ValueError: if it has another shape, is read-only, or shares memory with
            another one; if `out` has not the structure of the result.
    """
    pairs: list[_Pair] = []
    made = _replaced(value, out, f"{name}: out", pairs)
    for pair in pairs:
        _check(pair)
    for one, other in combinations(pairs, 2):
        if share(one.out, other.out):
            raise call_rules.shared_memory(f"{one.path} and {other.path} share memory")
    for pair in pairs:
        if pair.found is not pair.out:
            np.copyto(pair.out, pair.found)
    return made


def _check(pair: _Pair) -> None:
    path, found, out = pair
    if not isinstance(out, np.ndarray) or out.dtype != found.dtype:
        raise call_rules.wrong_type(
            f"{path} must be a NumPy array of {found.dtype}, found {said(out)}"
        )
    if out.shape != found.shape:
        raise call_rules.unlike_result(
            f"{path} has the shape {out.shape}, and the result has {found.shape}"
        )
    if not out.flags.writeable:
        raise call_rules.not_writeable(f"{path} is read-only")
    if overlaps_itself(out):
        raise call_rules.shared_memory(f"{path}: elements of the array share memory")


def _replaced(value: Any, out: Any, path: str, pairs: list[_Pair]) -> Any:
    """The same value with other arrays, of which each is noted with its own."""
    if out is None:
        return value
    match value:
        case np.ndarray():
            pairs.append(_Pair(path, value, out))
            return out
        case dict():
            _require(isinstance(out, dict) and out.keys() <= value.keys(), path, value)
            return {
                key: _replaced(part, out.get(key), f"{path}[{key!r}]", pairs)
                for key, part in value.items()
            }
        case tuple() if hasattr(value, "_fields"):
            _require(type(out) is type(value), path, value)
            names = [f"{path}.{field}" for field in value._fields]
            parts = zip(value, out, names, strict=True)
            return type(value)(*(_replaced(*part, pairs) for part in parts))
        case tuple() | list():
            is_like = isinstance(out, tuple | list) and len(out) == len(value)
            _require(is_like, path, value)
            names = [f"{path}[{k}]" for k in range(len(value))]
            parts = zip(value, out, names, strict=True)
            made = [_replaced(*part, pairs) for part in parts]
            return made if isinstance(value, list) else tuple(made)
        case _ if is_dataclass(value):
            _require(type(out) is type(value), path, value)
            changed = copy.copy(value)
            for name in (field.name for field in fields(value)):
                own = getattr(value, name), getattr(out, name)
                part = _replaced(*own, f"{path}.{name}", pairs)
                object.__setattr__(changed, name, part)
            return changed
    raise call_rules.unlike_result(
        f"{path} is given for a {type(value).__name__}, which is no array: give None"
    )


def _require(is_like: bool, path: str, value: Any) -> None:
    if not is_like:
        of = f" of {len(value)}" if type(value) in (tuple, list) else ""
        raise call_rules.unlike_result(
            f"{path} is not made like the result, a {type(value).__name__}{of}"
        )
