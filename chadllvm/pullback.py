"""Pullbacks that keep what the reverse needs of the run of the function.

The derivative is compiled in the halves of `chad/halves.py`. The first runs at once,
and gives beside the result the tape, as arrays that nobody else has; the second runs
for each cotangent, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from chadllvm.backend.call import NativeFunction
from chadllvm.backend.results import Group, leaf_types
from chadllvm.boundary import heaps_used
from chadllvm.compiled import Compiled, Derivative
from chadllvm.deep import run_deep
from chadllvm.frames import without_frames
from chadllvm.frontend import specialise
from chadllvm.ir.record import ListNames
from chadllvm.ir.types import Array, Product, Sum, Type, has_float, holds_reference
from chadllvm.pipeline import Compilation, compile_halves
from chadllvm.request import Request
from chadllvm.tangents import tangent_leaves
from chadllvm.values import gradient_type, leaf_positions
from chadllvm.watch import is_watched

Pullback = Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True)
class _Halves:
    """The two halves for arguments of some types; `value` is the type of the result."""

    early: NativeFunction
    late: NativeFunction
    value: Type


class Halved(Compiled):
    """A function, or a gradient, that gives its result and what its pullback needs."""

    def __init__(self, origin: Compiled) -> None:
        below = origin._below
        if isinstance(origin, Derivative):
            below = (*below, origin._request)
        super().__init__(
            origin._function, Request(), origin._options, origin.static_argnames, below
        )
        self._halves: dict[Any, _Halves | None] = {}

    def run(
        self, primals: Sequence[Any], again: Callable[[Any, Any], tuple[Any, ...]]
    ) -> tuple[Any, Pullback] | None:
        """The result and the pullback; None if it has to be done in another way.

        `again`, of the result and a cotangent, runs the function once more. It is asked
        where the second half fails: it may suppose what does not hold.
        """
        options = self._options
        if not options.optimize or options.debug or options.nans or is_watched():
            return None
        bound = self._bind(tuple(primals), {})
        halves = self._version_of(bound, len(primals))
        if halves is None:
            return None
        try:
            out, saved = halves.early.call(*self._dynamic(bound))
        except Exception:
            return None
        like = deepcopy(out)

        def pullback(cotangent: Any) -> tuple[Any, ...]:
            cts = self._leaves(halves.value, like, cotangent)
            if is_watched():
                return again(like, cotangent)
            try:
                found: tuple[Any, ...] = halves.late.call(*saved, *cts)
            except Exception:
                found = again(like, cotangent)
            return found

        return out, without_frames(pullback)

    def _leaves(self, ty: Type, out: Any, cotangent: Any) -> list[Any]:
        """The leaves of a cotangent, which is checked like the tangent of the result.

        Raises:
            TypeError, ValueError: if it is not one, or of another shape.
        """
        title = f"pullback of {self._name}"
        try:
            return [*tangent_leaves(title, "out", ty, out, cotangent)]
        except (TypeError, ValueError) as error:
            said = str(error).replace("tangent", "cotangent")
            raise type(error)(said) from None

    def _version_of(self, bound: Sequence[Any], count: int) -> _Halves | None:
        """What is compiled for these arguments, of which so many were given."""
        types = self._types(bound)
        if any(map(holds_reference, types)):
            return None
        key = types, self._static_keys(bound), count
        with self._lock:
            if key not in self._halves:
                self._halves[key] = self._made(types, self._statics(bound), count)
            return self._halves[key]

    def _made(
        self, types: tuple[Type, ...], statics: Mapping[str, Any], count: int
    ) -> _Halves | None:
        below = [self._own(r) for r in self._below]
        parts = [(r.argnums, r.value, r.has_aux) for r in below]
        program = specialise(self._function, types, statics, parts)
        value = program.entry.body.results[0].type
        # The nodes of recursive data are there during one call only.
        if heaps_used(program) or holds_reference(value):
            return None
        given = [k for k in self._dynamic(range(len(self._parameters))) if k < count]
        wrt = leaf_positions(types, range(len(given)))
        if not wrt or not has_float(value) or any(map(_has_choice, (value, *types))):
            return None
        try:
            compiled = run_deep(lambda: compile_halves(program, wrt, self._options))
        except RecursionError:
            return None  # The function itself will say so.
        if compiled is None:
            return None
        early, late = compiled
        first = early.stages["simplified"].entry.body.types
        saved = first[len(leaf_types(value)) :]
        found = dict(zip(given, map(gradient_type, types), strict=False))
        result = Group(tuple(found.get(k) for k in range(count)))
        names = tuple(p.name for p in program.entry.params)
        return _Halves(
            self._half(early, names, types, Group((value, Group(saved)))),
            self._half(late, *_taken(saved, value), result),
            value,
        )

    def _half(
        self,
        compilation: Compilation,
        names: Sequence[str],
        types: Sequence[Type],
        result: Group,
    ) -> NativeFunction:
        assert compilation.loops is not None
        loops = compilation.loops
        return self.deep(
            lambda: NativeFunction(loops, self._name, names, types, result)
        )


def _taken(saved: Sequence[Type], value: Type) -> tuple[list[str], list[Type]]:
    """The parameters of a second half: what is saved, and the cotangents."""
    cts = [leaf for leaf in leaf_types(value) if has_float(leaf)]
    names = [f"saved{k}" for k in range(len(saved))]
    return [*names, *(f"ct{k}" for k in range(len(cts)))], [*saved, *cts]


def _has_choice(ty: Type) -> bool:
    """Whether values of this type may be of one class or another, or of several sizes.

    Their cotangents have leaves that say so.
    """
    match ty:
        case Sum() | Product(_, ListNames()):
            return True
        case Product(fields):
            return any(map(_has_choice, fields))
        case Array(elem, _):
            return _has_choice(elem)
        case _:
            return False
