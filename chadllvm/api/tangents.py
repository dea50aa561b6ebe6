"""`jvp`: the derivative of a function along a direction, in one run of both.

What is compiled is the function with its tangents (`chad/forward.py`): it takes the
primals and, behind them, the tangents of their reals, and gives the results' tangents
behind the results. Here the tangents are checked, and flattened into parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, overload

import numpy as np

from chadllvm.api.compiled import Compiled, static_argument
from chadllvm.api.placed import placed
from chadllvm.backend.arrays import list_parts
from chadllvm.backend.columns import columns
from chadllvm.backend.convert import DTYPES, Converter, found
from chadllvm.backend.results import leaf_types
from chadllvm.ir.lists import nested
from chadllvm.ir.record import ListNames, ObjectNames, RecordNames
from chadllvm.ir.types import (
    F32,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
    list_names,
)
from chadllvm.ir.wording import said
from chadllvm.support import call_rules
from chadllvm.support.derivative_kinds import Transform, means
from chadllvm.support.frames import without_frames
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request

if TYPE_CHECKING:
    from chadllvm.driver.plan import Plan
    from chadllvm.driver.ready import Specialisation
    from chadllvm.ir.term import Program

R = TypeVar("R")
Primals = TypeVarTuple("Primals")

# Where a function keeps its compiled form with tangents.
_KEPT = "_chadllvm_jvp"


@overload
def jvp(
    function: Callable[[*Primals], R],
    primals: tuple[*Primals],
    tangents: Sequence[Any],
) -> tuple[R, R]: ...
@overload
def jvp(
    function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[R, R]: ...


@means(Transform.JVP)
@without_frames
def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """The value of a function and its derivative along a direction.

    Args:
        function: a function, compiled or not, or a gradient made by `grad` or
            `value_and_grad` (the tangent is then the Hessian times the direction).
        primals: a tuple of the function's arguments, by position.
        tangents: a tuple of the direction's components, one for each primal: a float
            for a float, an array of the same shape for an array of floats, a tuple for
            a tuple, None (or 0) for integers and booleans; None for what is held fixed.

    Returns:
        `(out, out_tangent)`: the function's result, and how fast it changes as the
        primals move along the tangents. The tangent has the container of the result,
        with None for integers and booleans.

    Raises:
        CompileError: if the function cannot be compiled.
        TypeError: if a tangent is not what its primal asks for.
        ValueError: if their numbers or shapes differ.
    """
    name = getattr(function, "__name__", "function")
    for given, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(given, tuple | list):
            kind = type(given).__name__
            raise call_rules.wrong_tangent(
                f"jvp of {name}: {what} must be a tuple, not a {kind}"
            )
    if len(primals) != len(tangents):
        raise call_rules.unlike_tangent(
            f"jvp of {name}: {len(primals)} primals and {len(tangents)} tangents"
        )
    at = placed(function, primals)
    return with_tangents(at.function)(at.args, at.spread(tangents))


def with_tangents(function: Callable[..., Any]) -> WithTangents:
    """The compiled form, kept with the function so that it lives as long."""
    function = static_argument(function)
    kept: WithTangents | None = getattr(function, _KEPT, None)
    # Wrappers may take over what they find in the function that they wrap.
    if kept is not None and kept.origin is function:
        return kept
    made = WithTangents(function)
    setattr(function, _KEPT, made)
    return made


class WithTangents(Compiled):
    """A function, or a gradient, with its tangents."""

    def __init__(self, origin: Callable[..., Any]) -> None:
        function, request, options = origin, Request(), CompileOptions()
        statics: tuple[str, ...] = ()
        below: tuple[Request, ...] = ()
        if isinstance(origin, Compiled):
            function, request, below = origin._function, origin._request, origin._below
            options, statics = origin._options, origin.static_argnames
        super().__init__(function, request, options, statics, below)
        self.origin = origin
        self._source = origin if isinstance(origin, Compiled) else None

    def __call__(
        self, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any]:
        """The results and their tangents; what is left to its default is held fixed."""
        bound = self._bound(tuple(primals), {})
        types = self._types(bound)
        version = self._version_for(bound)
        if version.crossing is not None:
            return self._across(version, bound, tangents)
        flat: list[Any] = []
        positions = self._dynamic(range(len(bound)))
        for k, ty in zip(positions, types, strict=True):
            name = f"jvp of {self._name}", self._parameters[k].name
            if k < len(tangents):
                flat += tangent_leaves(*name, ty, bound[k], tangents[k])
            else:
                flat += _zeros(*name, ty, bound[k])
        native = version.native
        both: tuple[Any, Any] = native.call(*self._dynamic(bound), *flat)
        return both

    def _across(
        self, version: Specialisation, bound: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any]:
        """The same where arguments or results hold recursive data."""
        crossing = version.crossing
        assert crossing is not None
        args, boundary = self._dynamic(bound), crossing.boundary
        given = [tangents[k] if k < len(tangents) else None for k in self._dynamic_at]
        state = crossing.enter(args)
        moved, columns = crossing.tangents(args, state, given)
        flat: list[Any] = []
        for k, ty in enumerate(boundary.types):
            if k in moved:
                flat += moved[k]
            else:
                name = f"jvp of {self._name}", boundary.param_names[k]
                flat += tangent_leaves(*name, ty, args[k], given[k])
        found, tangent = crossing.native(*state.native, *flat, *columns)
        return crossing.finish(found, state), crossing.finish(found, state, tangent)

    def _plan(
        self, program: Program, types: tuple[Type, ...], request: Request
    ) -> Plan:
        from chadllvm.driver.tangent_plan import TangentPlan

        return TangentPlan(program, types, request)

    def _call_directly(self, call: Callable[..., Any]) -> None:
        """Native code takes other arguments, so `__call__` stays."""


def tangent_leaves(
    function: str, path: str, ty: Type, primal: Any, tangent: Any
) -> Iterator[Any]:
    """The tangents of the reals in a primal, checked against it."""
    match ty:
        case Product(_, ObjectNames()) if tangent is not None:
            raise call_rules.wrong_tangent(
                f"{function}: {path} is an object, whose fields are held fixed: its "
                f"tangent must be None, found {found(tangent)}"
            )
        case Product(_, ListNames()) if tangent is not None and has_float(ty):
            yield _items(function, path, ty, primal, tangent)
        case Product(fields) if tangent is not None and list_names(ty) is None:
            converter = _converter(function, path, ty)
            both = converter.parts(0, primal), converter.tangent_parts(1, tangent)
            for k, (field, value, part) in enumerate(zip(fields, *both, strict=True)):
                inside = _inside(path, ty, k)
                yield from tangent_leaves(function, inside, field, value, part)
        case Scalar() | Array() | Product() if not has_float(ty):
            if tangent is not None and not (np.isscalar(tangent) and tangent == 0):
                raise call_rules.wrong_tangent(
                    f"{function}: {path} holds no real numbers, so that its tangent "
                    f"must be None, found {found(tangent)}"
                )
        case _ if tangent is None:
            yield from _zeros(function, path, ty, primal)
        case Scalar():
            converter = _converter(function, path, ty)
            as_number = converter.as_single if ty == F32 else converter.as_float
            yield as_number(1, tangent)
        case Sum():
            tag = _member(function, path, ty, primal, tangent)
            for k, member in enumerate(ty.payloads):
                if k == tag:
                    yield from tangent_leaves(function, path, member, primal, tangent)
                else:
                    yield from _absent(member)
        case Array(Product() | Sum()):
            _check_members(function, path, ty, primal, tangent)
            yield from _columns(function, path, ty, primal, tangent)
        case _:
            yield _array(function, path, ty, primal, tangent)


def _member(function: str, path: str, ty: Sum, primal: Any, tangent: Any) -> int:
    """The member of a union that a value is, as its tangent must be."""
    converter = _converter(function, path, ty)
    tag, other = converter.as_member(0, primal), converter.as_member(1, tangent)
    if tag != other:
        raise call_rules.wrong_tangent(
            f"{function}: {path} is {said(ty.payloads[tag])}, so that its tangent "
            f"must be one, found {found(tangent)}"
        )
    return tag


def _check_members(
    function: str,
    path: str,
    ty: Type,
    primal: Any,
    tangent: Any,
    in_sum: bool = False,
) -> None:
    """Tangents of what is in lists are of the members that the values are.

    Arrays in members have sizes of their own, which those of the tangents have as well.
    """
    match ty:
        case Sum():
            tag = _member(function, path, ty, primal, tangent)
            _check_members(function, path, ty.payloads[tag], primal, tangent, True)
        case Array(Scalar()) if in_sum and has_float(ty):
            _array(function, path, ty, primal, tangent)
        case Product(fields) if tangent is not None and (in_sum or _has_union(ty)):
            converter = _converter(function, path, ty)
            both = converter.parts(0, primal), converter.tangent_parts(1, tangent)
            for k, (field, value, part) in enumerate(zip(fields, *both, strict=True)):
                inside = _inside(path, ty, k)
                _check_members(function, inside, field, value, part, in_sum)
        case Array(elem, rank) if isinstance(tangent, list) and _has_union(elem):
            inner = elem if rank == 1 else Array(elem, rank - 1)
            for k, (value, part) in enumerate(zip(primal, tangent, strict=False)):
                _check_members(function, f"{path}[{k}]", inner, value, part)
        case _:
            return


def _has_union(ty: Type) -> bool:
    match ty:
        case Product(fields):
            return any(map(_has_union, fields))
        case Array(elem):
            return _has_union(elem)
        case _:
            return isinstance(ty, Sum)


def _absent(ty: Type) -> Iterator[Any]:
    """The tangents of the reals in a member that a value is not."""
    for leaf in leaf_types(ty):
        if isinstance(leaf, Array) and has_float(leaf):
            assert isinstance(leaf.elem, Scalar)
            yield np.zeros((0,) * leaf.rank, DTYPES[leaf.elem])
        elif has_float(leaf):
            yield 0.0


def _items(
    function: str, path: str, ty: Product, primal: Any, tangent: Any
) -> np.ndarray:
    """The numbers of the tangents of a list of arrays, each of its array's shape."""
    items, *own = list_parts(function, path, ty, primal)
    moved, *given = list_parts(function, f"{path} (tangent)", ty, tangent)
    if not all(map(np.array_equal, own, given)):
        sizes = [_shapes(ty, parts) for parts in ([items, *own], [moved, *given])]
        raise call_rules.unlike_tangent(
            f"{function}: {path} is a list of arrays of the shapes {sizes[0]}, its "
            f"tangent is one of {sizes[1]}"
        )
    return moved


def _shapes(ty: Product, parts: Sequence[np.ndarray]) -> str:
    """The shapes of the arrays of a list, as far as there is room for them."""
    assert isinstance(ty.names, ListNames)
    flat = [parts[0], *parts[1:2]]
    if ty.names.rank > 1:
        flat.append(parts[2])
    arrays = nested(ty.names.like(depth=1), flat)
    text = ", ".join(str(a.shape) for a in arrays[:8])
    return text + (", …" if len(arrays) > 8 else "")


def _inside(path: str, ty: Product, k: int) -> str:
    names = ty.names
    if isinstance(names, RecordNames):
        return names.path(path, names[k])
    return f"{path}[{k}]"


def _columns(
    function: str, path: str, ty: Array, primal: Any, tangent: Any
) -> Iterator[np.ndarray]:
    """The leaves of a list of records' tangents, or of a structured array's."""
    given = columns(function, f"{path} (tangent)", ty, tangent, reals=True)
    sizes = columns(function, path, ty, primal, reals=True)
    for array, like in zip(given, sizes, strict=True):
        if array.shape != like.shape:
            raise call_rules.unlike_tangent(
                f"{function}: {path} has shape {like.shape}, its tangent has "
                f"{array.shape}"
            )
        yield array


def _array(function: str, path: str, ty: Type, primal: Any, tangent: Any) -> np.ndarray:
    converter = _converter(function, path, ty)
    shape, array = converter.as_array(0, primal).shape, converter.as_array(1, tangent)
    if array.shape != shape:
        raise call_rules.unlike_tangent(
            f"{function}: {path} has shape {shape}, its tangent has {array.shape}"
        )
    return array


def _converter(function: str, path: str, ty: Type) -> Converter:
    """What converts a primal (0) and its tangent (1), or says why not."""
    return Converter(function, [path, f"{path} (tangent)"], [ty, ty])


def _zeros(function: str, path: str, ty: Type, primal: Any) -> Iterator[Any]:
    """The tangents of the reals in what is held fixed."""
    match ty:
        case Product(_, ObjectNames()):
            return
        case Product(_, ListNames()):
            if has_float(ty):
                yield np.zeros_like(list_parts(function, path, ty, primal)[0])
        case Product(fields):
            parts = _converter(function, path, ty).parts(0, primal)
            for k, (field, part) in enumerate(zip(fields, parts, strict=True)):
                yield from _zeros(function, _inside(path, ty, k), field, part)
        case Sum():
            tag = _converter(function, path, ty).as_member(0, primal)
            for k, member in enumerate(ty.payloads):
                if k == tag:
                    yield from _zeros(function, path, member, primal)
                else:
                    yield from _absent(member)
        case Array(Product() | Sum()):
            found = columns(function, path, ty, primal, reals=True)
            yield from map(np.zeros_like, found)
        case Array() if has_float(ty):
            assert isinstance(ty.elem, Scalar)
            yield np.zeros(np.shape(primal), DTYPES[ty.elem])
        case Scalar() if has_float(ty):
            yield 0.0
