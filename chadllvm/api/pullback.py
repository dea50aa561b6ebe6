"""Pullbacks that keep what the reverse needs of the run of the function.

The derivative is compiled in the halves of `chad/halves.py`. The first runs at once,
and gives beside the result the tape, as arrays that nobody else has; the second runs
for each cotangent, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from chadllvm.api.compiled import Compiled, Derivative
from chadllvm.api.tangents import tangent_leaves
from chadllvm.backend import kept as kept_code
from chadllvm.backend.call import NativeFunction
from chadllvm.driver.prints import fingerprint
from chadllvm.driver.ready import Machine, code_of, machine
from chadllvm.driver.shelf import Shelf, Unkept, shelf
from chadllvm.ir.types import Type
from chadllvm.support.request import Request
from chadllvm.support.watch import is_watched

if TYPE_CHECKING:
    from chadllvm.api.halving import Half, Halves

Pullback = Callable[[Any], tuple[Any, ...]]

# Makes what a pullback gives by running the function once more.
Again = Callable[[Any, Any], tuple[Any, ...]]


class _Version(NamedTuple):
    """The two halves for arguments of some types; `value` is the type of the result."""

    early: Callable[..., Any]
    late: Callable[..., Any]
    value: Type


class _Saved(NamedTuple):
    """The halves as they are kept; None if it is to be done in another way."""

    halves: tuple[Machine, Machine, Type] | None


class Halved(Compiled):
    """A function, or a gradient, that gives its result and what its pullback needs."""

    def __init__(self, origin: Compiled) -> None:
        below = origin._below
        if isinstance(origin, Derivative):
            below = (*below, origin._request)
        super().__init__(
            origin._function, Request(), origin._options, origin.static_argnames, below
        )
        self._source = origin
        self._halves: dict[Any, _Version | None] = {}

    def run(
        self, primals: Sequence[Any], which: range, again: Again
    ) -> tuple[Any, Pullback] | None:
        """The result and the pullback to the primals at `which`.

        None if it has to be done in another way.

        `again`, of the result and a cotangent, runs the function once more. It is asked
        where the second half fails: it may suppose what does not hold.
        """
        options = self._options
        if not options.optimize or options.debug or options.nans or is_watched():
            return None
        bound = self._bound(tuple(primals), {})
        version = self._version_of(bound, which)
        if version is None:
            return None
        try:
            out, saved = version.early(*self._dynamic(bound))
        except Exception:
            return None
        like = deepcopy(out)

        def pullback(cotangent: Any) -> tuple[Any, ...]:
            cts = self._leaves(version.value, like, cotangent)
            if is_watched():
                return again(like, cotangent)
            try:
                found: tuple[Any, ...] = version.late(*saved, *cts)
            except Exception:
                found = again(like, cotangent)
            return found

        return out, pullback

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

    def _version_of(self, bound: Sequence[Any], which: range) -> _Version | None:
        """What is compiled for these arguments, and for cotangents of some of them."""
        prints = tuple(map(fingerprint, self._dynamic(bound)))
        what = prints if None not in prints else self._types(bound)
        key = what, self._static_keys(bound), which
        with self._lock:
            if key not in self._halves:
                self._halves[key] = self._found(bound, prints, which)
            return self._halves[key]

    def _found(
        self, bound: Sequence[Any], prints: tuple[object, ...], which: range
    ) -> _Version | None:
        statics = self._statics(bound)
        place = None
        if None not in prints:
            ends = which.start, which.stop
            place = shelf(self._options, "halves", self, statics, prints, ends)
        saved: _Saved | None = place.load() if place else None
        if place and saved:
            if saved.halves is None:
                return None
            ready = self._ready_halves(saved.halves, place)
            if ready is not None:
                return ready
        from chadllvm.api.halving import compiled_halves

        dynamic = self._dynamic(range(len(self._parameters)))
        halves = compiled_halves(self, self._types(bound), statics, dynamic, which)
        if place is not None:
            self._keep(halves, place)
        if halves is None:
            return None
        early, late, value = halves
        return _Version(early.native.call, late.native.call, value)

    def _ready_halves(
        self, halves: tuple[Machine, Machine, Type], place: Shelf
    ) -> _Version | None:
        """The halves that were kept; None if their code is gone."""
        early, late, value = halves
        calls = [self._ready_half(half, place) for half in (early, late)]
        first, second = calls
        return _Version(first, second, value) if first and second else None

    def _ready_half(self, half: Machine, place: Shelf) -> Callable[..., Any] | None:
        found = code_of(half, place)
        if found is None:
            return None
        kept, places = found
        native = NativeFunction(
            _no_loops,
            self._name,
            half.names,
            half.types,
            half.result,
            found=kept.native,
            places=places,
        )
        return native.call

    def _keep(self, halves: Halves | None, place: Shelf) -> None:
        """Keep the halves, or that there are none."""
        try:
            saved = None
            if halves is not None:
                early = self._kept(halves.early, place)
                saved = early, self._kept(halves.late, place), halves.value
        except Unkept:
            return
        place.store(f"pullback of {self._name}", _Saved(saved))

    def _kept(self, half: Half, place: Shelf) -> Machine:
        key, kept = half.key, kept_code.Kept(half.native.native, False)
        if key is None or not kept_code.is_keepable(key, kept):
            raise Unkept("the code")
        kept_code.store(key, f"pullback of {self._name}", kept)
        return machine(place, key, kept, half.names, half.types, half.result)

    @property
    def plain(self) -> Callable[..., Any]:
        """The Python function."""
        function: Callable[..., Any] = self.frozen_function
        return function

    def parts_below(self) -> list[tuple[Any, ...]]:
        """The gradients that are taken before, as the frontend takes them."""
        below = [self._own(r) for r in self._below]
        return [(r.argnums, r.value, r.has_aux) for r in below]


def _no_loops() -> Any:
    """Nobody asks to be shown a half."""
    raise NotImplementedError
