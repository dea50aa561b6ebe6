"""`export` and `load`: compiled functions as a C library, and back.

How that is done stands in `driver/exported.py` and `backend/aot`, which are imported
when they are needed: most programs export nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from chadllvm.support.frames import without_frames

if TYPE_CHECKING:
    from chadllvm.backend.aot.load import Library
    from chadllvm.backend.results import Result
    from chadllvm.ir.types import Type
    from chadllvm.support.request import Request

# A function, or one with example arguments.
Given = Callable[..., Any] | tuple[Callable[..., Any], Sequence[Any]]


@without_frames
def export(
    functions: Mapping[str, Given],
    path: str | os.PathLike[str],
    *,
    kind: str | Sequence[str] = "shared",
    cpu: str | Sequence[str] | None = None,
    target: str | None = None,
    openmp: bool = False,
    cc: str | None = None,
) -> Path:
    """Compile functions to a C library that needs neither Python nor LLVM.

    Args:
        functions: by their names in C. Each is a function, compiled or not, or a
            derivative (`value_and_grad(f)`); its types are those of its annotations, or
            of example arguments: `(f, (x, 2.0))`. What is bound, as by a
            `functools.partial` or a method of an object, is a constant of the library.
        path: the folder that is made. Its name is that of the library, with or without
            `lib` in front: `build/libmodel` has `model.h` and `libmodel.so` in it.
        kind: "shared", "static", "object", or several. Shared and static libraries need
            a C compiler; an object does not, and is accompanied by the C source of the
            rest, for a compiler of the target.
        cpu: the least processor it runs on: `"native"` is this machine's, and any name
            of LLVM's will do. Several levels of x86-64, the lowest first, make a
            library that chooses between them where it runs. The default is the least
            processor of its kind, and for libraries `("x86-64", "x86-64-v3")`.
        target: the triple of another system, as `aarch64-linux-gnu`. Without `cc`, only
            objects can be made for it.
        openmp: whether calls run on several threads, by OpenMP.
        cc: the C compiler, and options for it; by default that of the environment.

    Returns:
        The path of the library, or of the first object.

    Raises:
        CompileError: where a function cannot be compiled.
        TypeError: for a function whose arguments have no types that C can have.
        ValueError: for names that C does not allow, and unknown kinds and targets.
        RuntimeError: if there is no C compiler, or it fails.
        FileExistsError: if there is something else at the path.
    """
    from chadllvm.api.placed import frozen
    from chadllvm.driver.exported import Order, write

    order = Order(kind, cpu, target, openmp, cc)
    pairs = {
        name: given if isinstance(given, tuple) else (given, None)
        for name, given in functions.items()
    }
    made = {name: (frozen(function), args) for name, (function, args) in pairs.items()}
    return write(made, Path(path), order)


@without_frames
def load(
    path: str | os.PathLike[str],
    classes: Mapping[str, type] = MappingProxyType({}),
    *,
    digest: str | None = None,
) -> Library:
    """The functions of an exported shared library, without LLVM.

    Args:
        path: the library, or the folder that `export` has made.
        classes: the classes of records, by their names. Without one, a record is of
            the class that it was if that is loaded, else of a class of its own.
        digest: the SHA-256 of the file, as `sha256sum` prints it. By default it must be
            the file that was exported, byte by byte; this accepts one that was changed
            since (by `strip`), or linked from exported objects, and no other one.

    Returns:
        A library whose functions are attributes, and items by their names. They take
        and give what those that were exported do.

    Raises:
        ImportError: if the file is no exported library, not whole, changed since,
            made for another system, or of another version.
        OSError: if it cannot be read.
    """
    from chadllvm.backend.aot.load import open_library

    return open_library(Path(path), classes, _crossed, _updating, digest)


@dataclass(frozen=True)
class _Parameter:
    """What the arguments of a call are bound to."""

    name: str
    default: Any
    is_required: bool
    is_keyword_only: bool = False


def _crossed(
    title: str,
    names: list[str],
    types: list[Type],
    value: Type,
    request: Request,
    defaults: list[Any],
    native: Callable[[list[str], list[Type], Result], Callable[..., Any]],
) -> Callable[..., Any]:
    """A function of recursive data, of one that takes and gives columns."""
    from chadllvm.driver.border import Border
    from chadllvm.driver.crossing import Crossing

    border = Border(title, names, types, value)
    columns = native(border.names, border.native_types, border.result(request))
    crossing = Crossing(border, request, columns)
    return _bound(title, names, defaults, crossing)


def _updating(
    title: str,
    names: list[str],
    types: list[Type],
    positions: list[int],
    has_result: bool,
    defaults: list[Any],
    native: Callable[..., Any],
) -> Callable[..., Any]:
    """A function that updates its arguments, of one that gives what to."""
    from chadllvm.driver.updating import Updating
    from chadllvm.ir.updated import Updated

    updated = Updated(tuple(positions), has_result)
    made = Updating(native, title, names, types, updated)
    return _bound(title, names, defaults, made)


def _bound(
    title: str, names: list[str], defaults: list[Any], call: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of parameters with these names, of one of all of them in order."""
    from chadllvm.driver.arguments import bind

    required = len(names) - len(defaults)
    parameters = [_Parameter(name, None, True) for name in names[:required]]
    pairs = zip(names[required:], defaults, strict=True)
    parameters += [_Parameter(name, default, False) for name, default in pairs]

    @without_frames
    def bound(*args: Any, **kwargs: Any) -> Any:
        return call(*bind(title, parameters, args, kwargs))

    return bound
