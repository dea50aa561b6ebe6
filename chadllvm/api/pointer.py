"""Compiled functions as C function pointers, in this process.

    f(x: float, a: float[:])   →   int32_t f(memory *, double, const double *, int64_t,
                                             double *, error *)

The function is the one that an exported library has (`docs/export.md`): it is exported
to a folder of its own, for this machine, and loaded from there. What is loaded stays:
nobody knows who else keeps an address.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chadllvm.backend.aot.bundle import Bundle
from chadllvm.backend.aot.library import build
from chadllvm.backend.aot.names import Names
from chadllvm.backend.aot.targets import target_for
from chadllvm.backend.aot.toolchain import toolchain
from chadllvm.backend.aot.wrapper import Wrapper
from chadllvm.driver.exported import exported
from chadllvm.frontend.annotations import (
    CLOSED,
    UnknownAnnotation,
    read_annotation,
    target_type,
)
from chadllvm.frontend.records import BadRecord
from chadllvm.ir.wording import said
from chadllvm.support import call_rules
from chadllvm.support.forking import Lock

if TYPE_CHECKING:
    from chadllvm.api.compiled import Compiled
    from chadllvm.driver.plan import Plan
    from chadllvm.frontend import Parameter
    from chadllvm.ir.types import Type

# Held while a library is made and loaded.
_lock = Lock()

# The library that each function is the only one of.
_PREFIX = "cl"

_SCALARS: dict[str, Any] = {
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "size_t": ctypes.c_size_t,
}


@dataclass(frozen=True)
class Adapter:
    """A further function of a library, with another signature.

    `source` makes its C text of its name and of the wrapper that it calls.
    """

    restype: Any
    argtypes: tuple[Any, ...]
    source: Callable[[str, Wrapper], str]


@dataclass(frozen=True)
class Pointer:
    """A compiled function as C calls it.

    Attributes:
        address: of the function; it is valid until the process ends.
        ctypes: the same as a function of `ctypes`, which releases the GIL. Numbers and
            arrays of them have pointers of their types, what else is passed by its
            address is a `void *`.
        type: its type in C with `void *` for what `header` declares, as
            `ffi.cast(type, address)` of cffi takes it.
        header: the C header that declares it.
    """

    address: int
    ctypes: Any
    type: str
    header: str


def types_of(
    name: str, parameters: Sequence[Parameter], given: Sequence[Any]
) -> tuple[Type, ...]:
    """The types that annotations like `cl.f64[:]` mean, for these parameters.

    Raises:
        TypeError: if one is no type, leaves something open, or is not its parameter's.
    """
    if len(given) != len(parameters):
        raise call_rules.wrong_count(
            f"{name}() takes {len(parameters)} arguments, {len(given)} types were given"
        )
    types = tuple(_type(name, value) for value in given)
    for parameter, ty in zip(parameters, types, strict=True):
        if target_type(parameter.annotation, ty) != ty:
            raise call_rules.wrong_type(
                f"{name}: parameter {parameter.name} is {said(parameter.annotation)}, "
                f"not {said(ty)}"
            )
    return types


def _type(name: str, value: Any) -> Type:
    try:
        found = read_annotation(value)
    except (UnknownAnnotation, BadRecord):
        found = None
    if isinstance(found, CLOSED):
        return found
    raise call_rules.unknown_types(
        f"{name}: {value!r} does not say what an argument is; give a type like "
        "`cl.f64[:]`"
    )


def pointer(
    function: Compiled, types: Sequence[Any] = (), adapter: Adapter | None = None
) -> Pointer:
    """The function for these types, or an adapter to it; the same one each time."""
    own: tuple[Type, ...] = ()
    plan = partial(function.planned_for, None)
    if types:
        if any(parameter.is_static for parameter in function.parameters):
            raise call_rules.unknown_types(
                f"{function.name}: nothing says what its static arguments are"
            )
        own = types_of(function.name, function.parameters, types)
        plan = partial(function.planned, own, {})
    with _lock:
        known = function.pointers
        if (own, adapter) not in known:
            known[own, adapter] = _loaded(function, plan, adapter)
        return known[own, adapter]


def _loaded(
    function: Compiled, planned: Callable[[], Plan], adapter: Adapter | None
) -> Pointer:
    """The function as it is planned, or an adapter to it, loaded into this process."""
    name = Names({"check", "error", "hooks", "manifest", "memory"}).new(function.name)
    name = f"f_{name}" if name.startswith(("raw_", "chad_", "memory_")) else name
    made = exported(name, function, planned, openmp=False)
    tools = toolchain(None)
    library = build(_PREFIX, [made], [target_for(None, function.options.cpu)])
    (wrapper,) = library.wrappers
    symbol = wrapper.name
    if adapter is not None:
        symbol = f"{wrapper.name}_adapted"
        text = adapter.source(symbol, wrapper)
        library = replace(library, source=f"{library.source}\n{text}")
    with tempfile.TemporaryDirectory(prefix="chadllvm-") as folder:
        bundle = Bundle(library, ("shared",), tools)
        bundle.write(Path(folder))
        code = ctypes.CDLL(str(Path(folder) / bundle.main))
    declared = wrapper.declared
    found = code[symbol]
    if adapter is not None:
        found.restype, found.argtypes = adapter.restype, adapter.argtypes
    else:
        found.restype, found.argtypes = ctypes.c_int32, list(map(_ctype, declared))
    address = ctypes.cast(found, ctypes.c_void_p).value or 0
    return Pointer(address, found, _plain_type(declared), library.header)


def _ctype(declared: str) -> Any:
    """The type of a parameter for `ctypes`."""
    base = declared.removeprefix("const ").partition(" ")[0]
    if "*" not in declared:
        return _SCALARS[base]
    if base in _SCALARS and declared.count("*") == 1:
        return ctypes.POINTER(_SCALARS[base])
    return ctypes.c_void_p


def _plain_type(declared: Sequence[str]) -> str:
    """The type of the function, in which structs are `void`."""
    parts = [re.sub(r"\w+$", "", text).strip() for text in declared]
    own = rf"(const )?{_PREFIX}_\w+ \*(\*|\bconst\b|\s)*"
    return f"int32_t(*)({', '.join(re.sub(own, 'void *', text) for text in parts)})"
