"""What is kept on disk by what a function reaches, so that no compiler is needed.

    <folder>/v1/<key>.index

The key is a digest of all that a function reaches (`reach.py`) and of what compiles it.
The content is anything that can be pickled, in which three things are not themselves:
places are those of the function now, wherever it stands; the user's classes are those
that it reaches now; primitives are those of the table. What holds something else that
belongs to a process is not kept.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any

from chadllvm.backend import cache
from chadllvm.backend.hashing import digest_of
from chadllvm.backend.host import processor, software
from chadllvm.backend.kept import received
from chadllvm.driver.reach import Reach, Unknown
from chadllvm.ir.defects import UNKEPT, stage
from chadllvm.ir.record import ListNames, ObjectNames, RecordNames, ReferenceNames
from chadllvm.support.diagnostic import NO_SPAN, Span
from chadllvm.support.options import CompileOptions
from chadllvm.support.package import FOLDER, is_ours

# More bytes than this are not kept.
_MOST_BYTES = 64 << 20

# Whose classes and functions are pickled as their names.
_KNOWN = ("chadllvm", "numpy", "builtins", "copyreg")

# What belongs to this process.
_OWN = (FunctionType, MethodType, ModuleType)


class Unkept(Exception):
    """Something that cannot be kept; says what."""


class Shelf:
    """The place of something that follows from what some objects reach."""

    def __init__(self, cpu: str, *roots: Any) -> None:
        """
        Args:
            cpu: what code is for (`CompileOptions.cpu`).
            roots: the objects.

        Raises:
            Unknown: if nothing can be said of what they reach.
        """
        self._roots = roots
        self.reach = Reach(*roots)
        compiler, machine = software(), processor(cpu)
        if compiler is None or machine is None:
            raise Unknown("the compiler or the processor")
        self.key = digest_of(self.reach.digest, compiler, machine)
        # What is stored, as far as it is known.
        self.content: bytes | None = None

    @stage("cache", UNKEPT, runs_users=True)
    def load(self) -> Any:
        """What was stored, or came with a pickled function; None if nothing was."""
        self.content = cache.load("index", self.key) or received(self.key)
        return None if self.content is None else self.unpacked(self.content)

    @stage("cache", UNKEPT, runs_users=True)
    def store(self, name: str, value: Any) -> None:
        """Keep something, unless it cannot be kept, or is not of what is reached now.

        Whoever made it may have looked at things after they had changed.
        """
        try:
            is_current = Reach(*self._roots).digest == self.reach.digest
            content = self.packed(value) if is_current else None
        except (Unknown, Unkept, pickle.PicklingError, TypeError, RecursionError):
            return
        if content is not None and len(content) <= _MOST_BYTES:
            self.content = content
            cache.store("index", self.key, name, content)

    def packed(self, value: Any) -> bytes:
        """Something as bytes.

        Raises:
            Unkept, PicklingError, TypeError: if it cannot be kept.
        """
        file = io.BytesIO()
        _Pickler(file, self).dump(value)
        return file.getvalue()

    def unpacked(self, content: bytes) -> Any:
        """What bytes are."""
        return _Unpickler(io.BytesIO(content), self).load()

    # ---- places

    def relative(self, span: Span) -> tuple[Any, ...]:
        """A place by the function that it is in."""
        if span == NO_SPAN:
            return ()
        if is_ours(span.file):  # Our own library has places as well.
            return os.path.relpath(span.file, FOLDER), *span[1:]
        for number, place in enumerate(self.reach.places):
            if place.file == span.file and place.first <= span.line < place.end:
                line, end = span.line - place.first, span.end_line - place.first
                return number, line, span.column, end, *span[4:]
        raise Unkept(f"the place {span}")

    def span(self, relative: tuple[Any, ...]) -> Span:
        """The same place, where the function is now."""
        if not relative:
            return NO_SPAN
        number, line, column, end, *rest = relative
        if isinstance(number, str):
            return Span(os.path.join(FOLDER, number), *relative[1:])
        file, first, _ = self.reach.places[number]
        return Span(file, line + first, column, end + first, *rest)


@stage("cache", UNKEPT, runs_users=True)
def shelf(options: CompileOptions, *roots: Any) -> Shelf | None:
    """The shelf of some objects; None if nothing is to be kept of them."""
    if not (options.cache and cache.is_on()):
        return None
    try:
        return Shelf(options.cpu, *roots)
    except (Unknown, RecursionError):
        return None


class Stub:
    """What stands for the code of a function value; it has a title, and is itself."""

    def __init__(self, title: str) -> None:
        self.title = title


def _list_names(depth: int, rank: int, of_lists: bool, is_part: bool) -> ListNames:
    return ListNames(depth, rank, of_lists=of_lists, is_part=is_part)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, place: Shelf) -> None:
        super().__init__(file, 5)
        self._shelf = place
        self._classes = {c: k for k, c in enumerate(place.reach.classes)}
        self._stubs: dict[Any, Stub] = {}

    def persistent_id(self, value: Any) -> Any:
        kind = type(value)
        if kind is Span:
            return "place", self._shelf.relative(value)
        if issubclass(kind, type):
            return self._class(value)
        if kind.__name__ == "Prim":
            return "primitive", value.name
        return None

    def _class(self, value: type) -> Any:
        if value in self._classes:
            return "class", self._classes[value]
        if _is_ours(value):
            return None
        raise Unkept(f"the class {value.__qualname__}")

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind is RecordNames:
            return RecordNames, (tuple(value), value.kind, value.python)
        if kind is ObjectNames:
            parts = (*value,), value.python, dict(value.statics), value._keys[2]
            return ObjectNames, (*parts, (*value.unfit.items(),))
        if kind is ListNames:
            return _list_names, value._key()
        if kind.__name__ == "ClosureNames":
            if value.code not in self._stubs:
                self._stubs[value.code] = Stub(value.code.title)
            return kind, (tuple(value), self._stubs[value.code])
        if kind is ReferenceNames or (isinstance(value, _OWN) and not _is_ours(value)):
            raise Unkept(f"a {kind.__qualname__}")
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, place: Shelf) -> None:
        super().__init__(file)
        self._found: dict[str, Callable[[Any], Any]] = {
            "place": place.span,
            "class": place.reach.classes.__getitem__,
            "primitive": _primitive,
        }

    def persistent_load(self, identity: Any) -> Any:
        kind, which = identity
        return self._found[kind](which)


def _is_ours(value: Any) -> bool:
    """Whether something is no user's, and found by its name in any process."""
    return getattr(value, "__module__", "").partition(".")[0] in _KNOWN


def _primitive(name: str) -> Any:
    import chadllvm.ops  # noqa: F401
    from chadllvm.ir.op import PRIMS

    return PRIMS[name]
