"""An exported library → Python functions, without LLVM.

The manifest is looked for in the file before anything in it is run, and says what the
functions take and give. A file that is not whole is refused first: to load half a
library may end the process.
"""

from __future__ import annotations

import builtins
import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from chadllvm.backend.aot.library_format import ABI, MARK
from chadllvm.backend.convert import DTYPES
from chadllvm.backend.failure import OTHERS
from chadllvm.backend.manifest import Types
from chadllvm.backend.marshal import Marshal
from chadllvm.ir.types import Array, Scalar, is_float
from chadllvm.llvm.runtime import INVALID

_DECLARATIONS = """
typedef struct { int32_t status; int32_t line; const char *file; const char *function;
                 const char *kind; char message[256]; } chad_lib_error;
"""

# A memory, room for results as floats and as integers.
_State = tuple[Any, Any, Any]


class BadLibrary(ImportError):
    """A file is no library of ours, or not whole, or of another version."""


class Library:
    """The functions of a loaded library, as attributes and by their names."""

    def __init__(self, path: Path, classes: Mapping[str, type]) -> None:
        content = _content(path)
        self.path, self.manifest = path, _manifest(path, content)
        _check_whole(path, content)
        try:
            self._load(path, classes)
        except (ValueError, KeyError, TypeError, cffi.CDefError) as error:
            raise BadLibrary(f"{path}: its manifest is damaged ({error})") from None

    def _load(self, path: Path, classes: Mapping[str, type]) -> None:
        """Load the library, which is whole, and make its functions."""
        self._interface = int(self.manifest["interface"], 16)
        self._ffi = ffi = cffi.FFI()
        ffi.cdef(_DECLARATIONS)
        prefix = self.manifest["library"]
        names = [(f["raw"], _RAW) for f in self.manifest["functions"]]
        ffi.cdef("\n".join(text.format(n) for n, text in [*names, *_own(prefix)]))
        try:
            self._lib: Any = ffi.dlopen(str(path.resolve()), ffi.RTLD_NOW)
        except OSError as error:
            raise BadLibrary(f"{path}: {error}") from None
        if getattr(self._lib, f"{prefix}_check")(self._interface):
            raise BadLibrary(f"{path}: the library is not that of its manifest")
        types = Types(classes)
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

    def new_memory(self) -> Any:
        """A memory for the calls of one thread at a time."""
        ffi, prefix = self._ffi, self.manifest["library"]
        made = ffi.new("void **")
        open_memory = getattr(self._lib, f"{prefix}_memory_open")
        if open_memory(self._interface, ffi.NULL, made):
            raise MemoryError(f"{prefix}: no memory for a call")
        return ffi.gc(made[0], getattr(self._lib, f"{prefix}_memory_close"))


_RAW = (
    "int32_t {}(void *memory, const void *arguments, void *words, "
    "chad_lib_error *error);"
)


def _own(prefix: str) -> list[tuple[str, str]]:
    return [
        (f"{prefix}_check", "int32_t {}(int64_t);"),
        (f"{prefix}_memory_open", "int32_t {}(int64_t, const void *, void **);"),
        (f"{prefix}_memory_close", "void {}(void *);"),
    ]


def open_library(path: Path, classes: Mapping[str, type]) -> Library:
    """The library in a file, or in a folder of an export."""
    if path.is_dir():
        name = path.name.removeprefix("lib")
        found = [path / f"lib{name}.{ending}" for ending in ("so", "dylib")]
        path = next((file for file in found if file.exists()), found[0])
    return Library(path, classes)


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


# ---- functions


def _function(
    library: Library, described: dict[str, Any], types: Types
) -> Callable[..., Any]:
    params = [(name, types.read(ty)) for name, ty in described["params"]]
    marshal = _Marshal(
        described["name"],
        [name for name, _ in params],
        [ty for _, ty in params],
        types.read(described["returns"]),
    )
    marshal.library, marshal.raw = library, getattr(library._lib, described["raw"])
    made = marshal.compile(marshal.source(), None, marshal.failed)
    made.__doc__ = f"{described['python']} of {described['file']}:{described['line']}"
    return made


class _Marshal(Marshal):
    """Marshalling code for the functions of a library: their arguments are words."""

    library: Library
    raw: Any
    pool: list[_State]
    # The words that the arguments take.
    count: int

    def _environment(self, code: Any) -> dict[str, Any]:
        pool = self.pool = []
        sizes = [ty.rank for _, ty in self.passed if isinstance(ty, Array)]
        self.count = max(1, len(self.passed) + sum(sizes))

        def new_state() -> _State:
            return (self.library.new_memory(), *self._words(max(1, self.words)))

        return {
            **self._shared_environment(),
            "native": self._native,
            "pop": pool.pop,
            "push": pool.append,
            "new_state": new_state,
            "words": self._words,
            "id": lambda value: value,
            "release": lambda memory: None,
            **{f"array_{elem}": self._array_maker(elem) for elem in DTYPES},
        }

    def _words(self, count: int) -> tuple[Any, Any]:
        floats = self.library._ffi.new("double[]", count)
        return floats, self.library._ffi.cast("int64_t *", floats)

    def _native(self, memory: Any, floats: Any, *args: Any) -> Any:
        """Call the library; 0, the status of an unusual array, or the error given."""
        ffi, at, kept = self.library._ffi, 0, []
        ints = ffi.new("int64_t[]", self.count)
        reals = ffi.cast("double *", ints)
        for value, (_, ty) in zip(args, self.passed, strict=True):
            if not isinstance(ty, Scalar):
                if not _is_plain(value, ty):
                    return INVALID
                kept.append(ffi.from_buffer(value))
                ints[at] = int(ffi.cast("intptr_t", kept[-1]))
                for size in value.shape:
                    at += 1
                    ints[at] = size
            elif is_float(ty):
                reals[at] = value
            else:
                ints[at] = value
            at += 1
        error = ffi.new("chad_lib_error *")
        return error if self.raw(memory, ints, floats, error) else 0

    def failed(self, state: _State, error: Any, args: tuple[Any, ...]) -> Any:
        """Raise what the program would have raised."""
        text = [
            self.library._ffi.string(part).decode("utf-8", "replace")
            for part in (error.kind, error.message, error.file)
        ]
        self.pool.append(state)
        kind: Any = OTHERS.get(text[0]) or getattr(builtins, text[0], RuntimeError)
        place = f" ({text[2]}:{error.line})" if text[2] else ""
        raise kind(text[1] + place)

    def _array_maker(
        self, elem: Scalar
    ) -> Callable[[int, tuple[int, ...]], np.ndarray]:
        ffi, dtype = self.library._ffi, DTYPES[elem]

        def make(address: int, shape: tuple[int, ...]) -> np.ndarray:
            made = np.empty(shape, dtype)
            if made.size:
                ffi.memmove(made.data, ffi.cast("void *", address), made.nbytes)
            return made

        return make


def _is_plain(value: Any, ty: Array) -> bool:
    elem = ty.elem
    assert isinstance(elem, Scalar)
    return (
        type(value) is np.ndarray
        and value.dtype == DTYPES[elem]
        and value.ndim == ty.rank
        and bool(value.flags.c_contiguous and value.flags.aligned)
    )
