"""Functions that call themselves: what is known of a result that is not translated yet.

    def f(n: int) -> float:            the annotation tells the type of f(n - 1)

    def f(n):                          1st: f(n - 1) has no value, so neither has its
        if n == 0:                          path, and f gives an int
            return 1               →   2nd: f(n - 1) is an int, f gives a float
        return 0.5 * f(n - 1)          3rd: f(n - 1) is a float, and f gives one

Without annotation a function is translated again, with what its result was the last
time, until that does not change. In the first of these passes a call whose result is
not known is `Unresolved`: what depends on it is left out, as if it raised an exception.

A callee that is translated meanwhile may rest on such a guess, and is translated again
with its caller. Who rests on what, `Frame.uses` says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from chadllvm.errors import call_errors, recursion_errors
from chadllvm.frontend.closures import holds_function
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.marks import Mark
from chadllvm.frontend.source import Function
from chadllvm.ir.types import Type
from chadllvm.support.diagnostic import CompileError, Span
from chadllvm.support.twins import original

T = TypeVar("T")

Code = Function | LocalFunction

# A function, the types of its arguments, its static arguments, which are weak, and
# which are lists, if it runs as Python's function would.
Key = tuple[Code, tuple[Type, ...], Hashable, frozenset[int], Mark | None]


class Unresolved(Exception):
    """The type of the result of a call is not known yet; `span` is the call's."""

    def __init__(self, span: Span) -> None:
        super().__init__(str(span))
        self.span = span


@dataclass
class Frame:
    """A function that is being translated.

    `uses` are the functions being translated whose result was guessed for it, it may be
    one of them; `unresolved` is a call that was left out. `guessed_at` is a call of it
    that takes its result for what it was the last time. `mark` tells which lists the
    result holds.
    """

    key: Key
    uses: set[Key] = field(default_factory=set)
    unresolved: Span | None = None
    guessed_at: Span | None = None
    mark: Mark = 0

    def renew(self) -> None:
        """Begin a new pass."""
        self.uses, self.unresolved = set(), None

    @property
    def outer(self) -> set[Key]:
        """What it rests on but itself."""
        return self.uses - {self.key}

    def rest_on(self, uses: set[Key], unresolved: Span | None) -> None:
        self.uses |= uses
        self.unresolved = self.unresolved or unresolved


@dataclass
class Active:
    """The functions being translated, each called by the one before.

    `guessed` are the results that were found in the last pass, `provisional` the
    functions that rest on them.
    """

    frames: list[Frame] = field(default_factory=list)
    guessed: dict[Key, Type] = field(default_factory=dict)
    provisional: dict[Key, Frame] = field(default_factory=dict)

    def frame(self, key: Key) -> Frame | None:
        """The frame of a function, if it is being translated."""
        return next((f for f in self.frames if f.key == key), None)

    def instance(self, code: Code) -> Key | None:
        """The last instance of a function that is being translated, if there is one."""
        keys = (frame.key for frame in reversed(self.frames))
        return next((key for key in keys if key[0] is code), None)

    def itself(self, called: Function, entry: Function) -> Function:
        """What a function is called by, if both are made from one: it recurses.

        That may have been translated already, but for the entry, which calls all.
        """
        codes = (*(frame.key[0] for frame in reversed(self.frames)), entry)
        for code in codes:
            own = code.source.function if isinstance(code, LocalFunction) else code
            if original(own) is original(called):
                return own
        return called

    def begin(self, key: Key) -> Frame:
        """Begin the translation of a function."""
        self.frames.append(Frame(key))
        return self.frames[-1]

    def end(self) -> None:
        """The caller rests on what the callee rests on."""
        frame = self.frames.pop()
        if self.frames:
            self.frames[-1].rest_on(frame.outer, frame.unresolved)

    def reuse(self, key: Key) -> None:
        """Note the use of a function that has been translated."""
        known = self.provisional.get(key)
        if known is not None and self.frames:
            self.frames[-1].rest_on(known.uses, known.unresolved)

    def guess(self, key: Key, span: Span) -> None:
        """Note the use of the guessed result of one that is being translated.

        Raises:
            Unresolved: if there is no guess yet.
        """
        last, frame = self.frames[-1], self.frame(key)
        assert frame is not None
        last.uses.add(key)
        frame.guessed_at = span
        if key not in self.guessed:
            last.unresolved = span
            raise Unresolved(span)

    def forget(self, key: Key) -> list[Key]:
        """The functions that rest on a guess that was wrong, which is forgotten."""
        found = [k for k, f in self.provisional.items() if key in f.uses]
        for other in found:
            del self.provisional[other]
        return found

    def settle(self, frame: Frame) -> None:
        """The guess was right, as far as what it rests on is."""
        for key, other in list(self.provisional.items()):
            if frame.key in other.uses:
                other.uses = other.outer - {frame.key} | frame.outer
                if not other.uses:
                    del self.provisional[key]
        if frame.outer:
            self.provisional[frame.key] = frame


# So many instances of a function, each called by the one before for other types, or for
# other values of static parameters, are taken to go on for ever.
_MOST_TYPES, _MOST_VALUES = 12, 1000


@dataclass
class Growth:
    """The instances that functions have called of themselves, for other arguments.

    `depths` has how often types and static values have changed on the way to each.
    """

    depths: dict[Key, tuple[int, int]] = field(default_factory=dict)
    last: tuple[Key, Span] | None = None

    def note(self, caller: Key, key: Key, span: Span) -> None:
        """Enter an instance, called within another one.

        Raises:
            CompileError: if it seems that there is no end.
        """
        types, values = self.depths.get(caller, (0, 0))
        types, values = types + (caller[1] != key[1]), values + (caller[2] != key[2])
        self.depths[key] = types, values
        self.last = key, span
        if types > _MOST_TYPES:
            raise _endless_types(key, span)
        if values > _MOST_VALUES:
            raise _endless_values(key, span)

    def error(self) -> CompileError | None:
        """What to say where Python's stack is exhausted, if it is for these."""
        if self.last is None:
            return None
        key, span = self.last
        types, values = self.depths[key]
        if types > values:
            return _endless_types(key, span)
        return _endless_values(key, span)


def _endless_values(key: Key, span: Span) -> CompileError:
    return call_errors.endless_calls(span, key[0].__name__)


def _endless_types(key: Key, span: Span) -> CompileError:
    function, types, *_ = key
    if any(map(holds_function, types)):
        return recursion_errors.growing_function(span, function.__name__)
    return recursion_errors.endless_types(span, function.__name__, types)


def resolved(attempts: Iterable[Callable[[], T]]) -> list[T]:
    """What those of several values are that are known by now; at least one is."""
    found: list[T] = []
    failure: Unresolved | None = None
    for attempt in attempts:
        try:
            found.append(attempt())
        except Unresolved as unresolved:
            failure = unresolved
    if failure is not None and not found:
        raise failure
    return found
