"""An exported library → Python functions, without LLVM.

The manifest is looked for in the file before anything in it is run, and says what the
functions take and give. A file that is not whole is refused first: to load half a
library may end the process.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import cffi
import numpy as np

from chadllvm.backend import failure
from chadllvm.backend.aot.declare import C_TYPES
from chadllvm.backend.aot.library_format import (
    ABI,
    MARK,
    SIGN,
    UNSEALED,
    digest_of,
)
from chadllvm.backend.convert import DTYPES
from chadllvm.backend.layout import HEAD, PLAIN, numpy_objects
from chadllvm.backend.machine import Site
from chadllvm.backend.manifest import Types
from chadllvm.backend.marshal import Marshal
from chadllvm.backend.results import Result
from chadllvm.backend.runtime import POOLED_WORDS, runtime
from chadllvm.ir.types import Scalar, Type
from chadllvm.llvm import status
from chadllvm.support.diagnostic import Span
from chadllvm.support.request import Request

_DECLARATIONS = """
typedef struct { int32_t status; int32_t line; const char *file; const char *function;
                 const char *kind; char message[256]; } chad_lib_error;
typedef struct { void *memory; intptr_t types[5]; int64_t head; int32_t plain;
                 int32_t site; int64_t values[8]; chad_lib_error error; } chad_lib_call;
typedef struct { void *alloc; void *free; int32_t (*stop)(void *user); void *user;
                 int64_t limit; } chad_lib_hooks;
"""

# A call, room for results as floats and as integers.
_State = tuple[Any, Any, Any]

# What of NumPy a call refers to, in the order of `chad_lib_call`.
_OBJECTS = ("array", "f64", "f32", "i64", "bool")

# The statuses of a library that have no site: what the runtime calls them.
_OTHER = {3: status.MEMORY, 4: status.RECURSION}
_STOPPED = 5


class BadLibrary(ImportError):
    """A file is no library of ours, or not whole, or of another version."""


class Crossed(Protocol):
    """Makes a function of recursive data of one that takes and gives columns.

    `native` makes the latter, of the names and types of its parameters and its result;
    `defaults` are those of the last parameters.
    """

    def __call__(
        self,
        title: str,
        names: list[str],
        types: list[Type],
        value: Type,
        request: Request,
        defaults: list[Any],
        native: Callable[[list[str], list[Type], Result], Callable[..., Any]],
        /,
    ) -> Callable[..., Any]: ...


class Updating(Protocol):
    """Makes a function that updates its arguments of one that gives what to.

    `positions` are those of the arguments, and `has_result` whether there is more.
    """

    def __call__(
        self,
        title: str,
        names: list[str],
        types: list[Type],
        positions: list[int],
        has_result: bool,
        defaults: list[Any],
        native: Callable[..., Any],
        /,
    ) -> Callable[..., Any]: ...


class Library:
    """The functions of a loaded library, as attributes and by their names."""

    def __init__(
        self,
        path: Path,
        classes: Mapping[str, type],
        crossed: Crossed,
        updating: Updating,
        digest: str | None = None,
    ) -> None:
        content = _content(path)
        self.path, self.manifest = path, _manifest(path, content)
        self.crossed, self.pool = crossed, list[_State]()
        self.updating = updating
        _check_whole(path, content)
        try:
            _check_digest(path, content, self.manifest.get("digest"), digest)
            self._load(path, classes)
        except (ValueError, KeyError, TypeError, cffi.CDefError) as error:
            raise BadLibrary(f"{path}: its manifest is damaged ({error})") from None

    def _load(self, path: Path, classes: Mapping[str, type]) -> None:
        """Load the library, which is whole, and make its functions."""
        self._interface = int(self.manifest["interface"], 16)
        self._ffi = ffi = cffi.FFI()
        ffi.cdef(_DECLARATIONS)
        prefix = self.manifest["library"]
        ffi.cdef("\n".join(text.format(name) for name, text in _own(prefix)))
        try:
            self._lib: Any = ffi.dlopen(str(path.resolve()), ffi.RTLD_NOW)
        except OSError as error:
            raise BadLibrary(f"{path}: {error}") from None
        if getattr(self._lib, f"{prefix}_check")(self._interface):
            raise BadLibrary(f"{path}: the library is not that of its manifest")
        types = Types(classes, self.manifest["classes"])
        self._functions = {
            f["name"]: _function(self, f, types) for f in self.manifest["functions"]
        }

    def __getitem__(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = self._functions[name]
        return found

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found: Mapping[str, Callable[..., Any]] = self.__dict__.get("_functions", {})
        try:
            return found[name]
        except KeyError:
            raise AttributeError(f"the library has no function {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __iter__(self) -> Any:
        return iter(self._functions)

    def __repr__(self) -> str:
        return f"<exported library {self.path}: {', '.join(self._functions)}>"

    def new_state(self) -> _State:
        """What a call needs, of one thread at a time."""
        ffi, prefix = self._ffi, self.manifest["library"]
        made, hooks = ffi.new("void **"), ffi.new("chad_lib_hooks *")
        hooks.stop = self._stop
        open_memory = getattr(self._lib, f"{prefix}_memory_open")
        if open_memory(self._interface, hooks, made):
            raise MemoryError(f"{prefix}: no memory for a call")
        memory = ffi.gc(made[0], getattr(self._lib, f"{prefix}_memory_close"))
        objects = numpy_objects()
        call = ffi.new(
            "chad_lib_call *",
            {
                "memory": memory,
                "types": [objects[f"chad_numpy_{name}"] for name in _OBJECTS],
                "head": HEAD,
                "plain": PLAIN,
            },
        )
        # The memory lasts as long as the call that refers to it.
        return (ffi.gc(call, lambda _, memory=memory: None), *self.words(POOLED_WORDS))

    @cached_property
    def _stop(self) -> Any:
        """Asked during long calls, as those of compiled functions ask."""
        rt = runtime()
        return self._ffi.callback(
            "int32_t(void *)", rt.ask, error=1, onerror=rt.remember
        )

    def words(self, count: int) -> tuple[Any, Any]:
        """Room for so many result words, seen as floats and as integers."""
        floats = self._ffi.new("double[]", count)
        return floats, self._ffi.cast("int64_t *", floats)

    def pointer(self, name: str, c_types: list[str]) -> Any:
        """A function of the library that takes a call, words and arguments."""
        params = ", ".join(["chad_lib_call *", "void *", *c_types])
        self._ffi.cdef(f"int32_t {name}({params});")
        return getattr(self._lib, name)

    def array_maker(self, elem: Scalar) -> Callable[[int, tuple[int, ...]], np.ndarray]:
        """What copies an array out of the memory of a call."""
        ffi, dtype = self._ffi, DTYPES[elem]

        def make(address: int, shape: tuple[int, ...]) -> np.ndarray:
            made = np.empty(shape, dtype)
            if made.size:
                ffi.memmove(made, ffi.cast("void *", address), made.nbytes)
            return made

        return make


def _own(prefix: str) -> list[tuple[str, str]]:
    return [
        (f"{prefix}_check", "int32_t {}(int64_t);"),
        (
            f"{prefix}_memory_open",
            "int32_t {}(int64_t, const chad_lib_hooks *, void **);",
        ),
        (f"{prefix}_memory_close", "void {}(void *);"),
    ]


def open_library(
    path: Path,
    classes: Mapping[str, type],
    crossed: Crossed,
    updating: Updating,
    digest: str | None,
) -> Library:
    """The library in a file, or in a folder of an export."""
    if path.is_dir():
        name = path.name.removeprefix("lib")
        found = [path / f"lib{name}.{ending}" for ending in ("so", "dylib")]
        path = next((file for file in found if file.exists()), found[0])
    return Library(path, classes, crossed, updating, digest)


# ---- the file


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read()


def _manifest(path: Path, content: bytes) -> dict[str, Any]:
    """The manifest, which is a text that ends with a zero."""
    found = content.find(MARK.encode())
    end = content.find(b"\0", found)
    if found < 0 or end < 0:
        raise BadLibrary(f"{path} is no library that chadllvm has exported")
    try:
        made = json.loads(content[found + len(MARK) : end])
    except ValueError:
        raise BadLibrary(f"{path}: its manifest is damaged") from None
    if not isinstance(made, dict) or made.get("abi") != ABI:
        version = made.get("abi") if isinstance(made, dict) else None
        raise BadLibrary(
            f"{path} has version {version} of the interface, and this is version "
            f"{ABI}: export it again"
        )
    return made


def _check_whole(path: Path, content: bytes) -> None:
    """All that an ELF file says is in it must be there; others look themselves."""
    if content[:4] != b"\x7fELF":
        return
    is_64 = content[4:5] == b"\x02"
    if not is_64 or content[5:6] != b"\x01" or len(content) < 64:
        raise BadLibrary(f"{path} is made for another processor")
    segments, sections = struct.unpack_from("<QQ", content, 32)
    size, count, section_size, section_count = struct.unpack_from("<HHHH", content, 54)
    ends = [sections + section_size * section_count, segments + size * count]
    for k in range(count if segments + size * count <= len(content) else 0):
        offset, _, _, length = struct.unpack_from(
            "<QQQQ", content, segments + k * size + 8
        )
        ends.append(offset + length)
    if max(ends) > len(content):
        raise BadLibrary(f"{path} is not whole: {len(content)} of {max(ends)} bytes")


def _check_digest(path: Path, content: bytes, sealed: Any, given: str | None) -> None:
    """All bytes must be those that were exported, or those of the digest given."""
    if given is None and sealed == digest_of(content):
        return
    whole = hashlib.sha256(content).hexdigest()
    if given is not None:
        if given.lower() != whole:
            raise BadLibrary(f"{path} has the SHA-256 {whole}, and not {given}")
    elif sealed != UNSEALED:
        raise _changed(path, whole, _EDITED)
    elif _listed_digest(path) != whole:
        raise _changed(path, whole, _BY_HAND)


_EDITED = (
    "has changed since it was exported: it is damaged, or strip, patchelf or the like "
    "has written it anew"
)

_BY_HAND = (
    f"was linked from exported objects, or is not the file that the {SIGN} beside it "
    "names: nothing tells whether it is whole"
)


def _changed(path: Path, digest: str, found: str) -> BadLibrary:
    return BadLibrary(
        f"{path} {found}. Export it again; or, if the file is as it should be, "
        f"accept it by cl.load(path, digest={digest!r}), which is its SHA-256 now"
    )


def _listed_digest(path: Path) -> Any:
    """The SHA-256 of a file as the manifest of its folder has it."""
    try:
        sign = json.loads((path.parent / SIGN).read_text(encoding="utf-8"))
        return sign["files"].get(path.name)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


# ---- functions


def _function(
    library: Library, described: dict[str, Any], types: Types
) -> Callable[..., Any]:
    title, names = described["python"], [name for name, _ in described["params"]]
    params = [types.read(ty) for _, ty in described["params"]]

    def native(
        names: list[str], types: list[Type], result: Result
    ) -> Callable[..., Any]:
        marshal = _Marshal(title, names, types, result)
        marshal.library, marshal.described = library, described
        source = marshal.source()
        return marshal.compile(source, None, marshal.failed)

    made: Any
    defaults = described["defaults"]
    if "returns" in described:
        made = native(names, params, types.read(described["returns"]))
        made.__defaults__ = tuple(defaults)
        if "updates" in described:
            parts = title, names, params, *described["updates"], defaults, made
            made = library.updating(*parts)
    else:
        by, value, has_aux = described["request"]
        request = Request(tuple(by) if isinstance(by, list) else by, value, has_aux)
        out = types.read(described["value"])
        made = library.crossed(title, names, params, out, request, defaults, native)
    made.__name__ = made.__qualname__ = described["name"]
    made.__doc__ = f"{title} of {described['file']}:{described['line']}"
    found: Callable[..., Any] = made
    return found


class _Marshal(Marshal):
    """Marshalling code for the functions of a library, which find arrays themselves."""

    library: Library
    described: dict[str, Any]

    # The results are at the beginning of their words.
    first_word, room = 0, ("floats", "ints")

    def _native_call(self) -> str:
        """A function of C, which takes arrays as the addresses of NumPy's objects."""
        mine = self.mine
        args = [
            name if isinstance(ty, Scalar) else f"{mine}id({name})"
            for name, ty in self.passed
        ]
        text = "".join(f", {arg}" for arg in args)
        return f"{mine}status = {mine}native({mine}context, {mine}floats{text})"

    def _array_result(self, elem: Scalar, rank: int) -> str:
        """The array is copied out of the memory of the call."""
        return self._array_made(elem, rank)[1]

    def _environment(self, code: Any) -> dict[str, Any]:
        library = self.library
        c_types = [
            C_TYPES[ty] if isinstance(ty, Scalar) else "intptr_t"
            for _, ty in self.passed
        ]
        return {
            **self._shared_environment(),
            "native": library.pointer(self.described["raw"], c_types),
            "pop": library.pool.pop,
            "push": library.pool.append,
            "new_state": library.new_state,
            "words": lambda call, count: library.words(count),
            "id": id,
            "release": lambda call: None,
            **{f"array_{elem}": library.array_maker(elem) for elem in DTYPES},
        }

    def failed(self, state: _State, code: int, args: tuple[Any, ...]) -> Any:
        """Raise what the program would have raised."""
        call = state[0]
        number, values = call.site, list(call.values)
        self.library.pool.append(state)
        if code == _STOPPED:
            raise runtime().take_interrupt()
        if number < 0:
            raise failure.other_error(_OTHER.get(code, code), self.name)
        kind, message, own, span, types = self.described["sites"][number]
        site = Site(kind, message, own, 0, tuple(types))
        raise failure.program_error(site, Span(*span), values)
