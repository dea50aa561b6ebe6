"""Functions as derivatives are taken of them: recursive data is packed in front.

    derivative gradient[0] @f(t, x)    →   p, nodes = packed t
                                           derivative gradient[0, 2] @g(p, x, nodes)
    with  def g(p, x, nodes) { t = unpacked p, nodes;  return @f(t, x) }

and so it is with the result, of which the packed form is taken. What else refers to
nodes is handed over as it is, and held fixed. Of a function without recursive data it
is that function.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from chadllvm.errors import reference_errors
from chadllvm.frontend.context import Wrap
from chadllvm.frontend.list_tangents import own
from chadllvm.frontend.node_tangents import Given, alike, shown, shown_type
from chadllvm.frontend.packed import is_packable, packed, unpacked
from chadllvm.frontend.union_cotangents import Check
from chadllvm.frontend.unions import known_type, narrowed
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand, Proj, Tuple
from chadllvm.ir.types import (
    Product,
    Type,
    cotangent_type,
    has_float,
    holds_reference,
)
from chadllvm.ir.union import is_union, kind_of, members
from chadllvm.support.diagnostic import Span


class Wrapper(Protocol):
    """What makes functions of a program (`Callees.wrapper`)."""

    def __call__(
        self,
        title: str,
        like: Sequence[Operand],
        body: Wrap,
        *,
        key: Hashable = None,
    ) -> str: ...


@dataclass(frozen=True)
class Packed:
    """A function whose recursive data is packed.

    `by` are the positions of the parameters that derivatives are taken by, and `at`
    those of all that is packed of each; `is_packed` says it of the result. `known` are
    the types that arguments have where parameters are unions with those among others.
    """

    name: str
    by: tuple[int, ...]
    at: tuple[tuple[int, ...], ...]
    known: tuple[Type | None, ...]
    is_packed: bool


@dataclass(frozen=True)
class Apart:
    """Such a function where it is called."""

    function: Packed
    operands: tuple[Operand, ...]

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def by(self) -> tuple[int, ...]:
        return self.function.by

    @property
    def is_packed(self) -> bool:
        return self.function.is_packed

    @property
    def wrt(self) -> tuple[int, ...]:
        """The positions of the operands that a derivative is taken by."""
        every = (k for positions in self.function.at for k in positions)
        return tuple([k for k in every if has_float(self.operands[k].type)])

    def gradients(self, b: Builder, found: Sequence[Operand]) -> list[Operand]:
        """What is for users by each parameter, of what is by `wrt`."""
        rest = iter(found)
        made = []
        for positions, known in zip(self.function.at, self.function.known, strict=True):
            parts = [self.operands[k] for k in positions]
            cts = [next(rest) if has_float(p.type) else None for p in parts]
            made.append(_as_known(b, _shown(b, cts, parts), known))
        return made

    def given(
        self, b: Builder, k: int, tangent: Operand, span: Span, check: Check
    ) -> Iterator[Operand]:
        """The tangents of all that is packed of the parameter of a position in `by`."""
        parts = [self.operands[at] for at in self.function.at[k]]
        ty = parts[0].type
        value = alike(b, tangent, ty, span)
        for part, primal in zip(packed(b, value), parts, strict=True):
            reals = Given(span, check).reals(b, part, primal)
            if has_float(primal.type):
                yield reals

    # ---- the result

    def result(self, b: Builder, out: Operand) -> Operand:
        """What the function gave, for users."""
        if not self.is_packed:
            return out
        value, *contents = _parts(b, out)
        return unpacked(b, value, contents)

    def moved(self, b: Builder, tangent: Operand, out: Operand) -> Operand:
        """Its tangent, for users."""
        if not self.is_packed:
            return own(b, tangent, out)
        parts, found = _parts(b, out), _parts(b, tangent)
        cts = [
            ct if has_float(part.type) else None
            for ct, part in zip(found, parts, strict=True)
        ]
        return _shown(b, cts, parts)

    def cotangent(
        self, b: Builder, ct: Operand, out: Operand, span: Span, check: Check
    ) -> Operand:
        """The cotangent of what the function gave, from a user's."""
        parts = _parts(b, out)
        given = packed(b, alike(b, ct, parts[0].type, span))
        found = [
            Given(span, check).reals(b, part, primal)
            for part, primal in zip(given, parts, strict=True)
        ]
        made = b.one(Tuple(tuple(found)))
        assert made.type == cotangent_type(out.type)
        return made


def apart(
    b: Builder,
    name: str,
    operands: Sequence[Operand],
    by: Sequence[int],
    result: Type | None,
    wrapper: Wrapper,
    span: Span,
) -> Apart:
    """The function with its operands and, if its type is given, its result packed."""
    is_packed = result is not None and holds_reference(result)
    known = tuple([known_type(b, operands[k]) for k in by])
    if not is_packed and not any(holds_reference(operands[k].type) for k in by):
        plain = Packed(name, tuple(by), tuple((k,) for k in by), known, False)
        return Apart(plain, tuple(operands))
    _check_packable([*(operands[k].type for k in by), result], span)
    found, at = list(operands), []
    for k in by:
        first, *more = packed(b, operands[k])
        found[k] = first
        at.append((k, *range(len(found), len(found) + len(more))))
        found += more

    def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
        given = list(params[: len(operands)])
        for k, positions in zip(by, at, strict=True):
            given[k] = unpacked(b, given[k], [params[p] for p in positions[1:]])
        outs = b.call(name, given)
        return (b.one(Tuple(tuple(packed(b, outs[0])))),) if is_packed else outs

    # Functions that are the same have one name, so that pullbacks are the same as well.
    types = tuple([o.type for o in found])
    key = name, tuple(by), types, b.signature(name).results, is_packed
    wrapped = wrapper(f"{name}_packed", found, body, key=key)
    function = Packed(wrapped, tuple(by), tuple(at), known, is_packed)
    return Apart(function, tuple(found))


def _check_packable(types: Sequence[Type | None], span: Span) -> None:
    for ty in types:
        if ty is not None and holds_reference(ty) and not is_packable(ty):
            raise reference_errors.mixed(span, ty)


def _parts(b: Builder, value: Operand) -> list[Operand]:
    assert isinstance(value.type, Product)
    return [b.one(Proj(value, k)) for k in range(len(value.type.fields))]


def _as_known(b: Builder, gradient: Operand, known: Type | None) -> Operand:
    """A gradient as one by an argument of this type."""
    ty = gradient.type
    if known is None or not is_union(ty):
        return gradient
    wanted = [kind_of(member) for member in members(shown_type(known))]
    found = [k for k, member in enumerate(members(ty)) if kind_of(member) in wanted]
    is_less = 0 < len(found) < len(members(ty))
    return narrowed(b, gradient, found) if is_less else gradient


def _shown(
    b: Builder, cts: Sequence[Operand | None], parts: Sequence[Operand]
) -> Operand:
    """A cotangent of a packed value, made of new nodes."""
    if not holds_reference(parts[0].type):
        (ct,) = cts
        assert ct is not None
        return own(b, ct, parts[0])
    first, *more = (shown(b, ct, p) for ct, p in zip(cts, parts, strict=True))
    return unpacked(b, first, more)
