"""Functions → the header, the C source and the objects of a library."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from chadllvm._version import __version__
from chadllvm.backend.aot.declare import Types
from chadllvm.backend.aot.function import Exported
from chadllvm.backend.aot.library_format import ABI, MARK, UNSEALED
from chadllvm.backend.aot.names import c_string
from chadllvm.backend.aot.nodes import Classes
from chadllvm.backend.aot.objects import Native, native_module, object_files
from chadllvm.backend.aot.sources import (
    library_header,
    library_source,
    named,
    nodes_source,
    runtime_source,
)
from chadllvm.backend.aot.targets import level_of
from chadllvm.backend.aot.workspace import workspace_of
from chadllvm.backend.aot.wrapper import Wrapper, raw_name
from chadllvm.backend.manifest import describe, describe_class
from chadllvm.llvm.state import Site
from chadllvm.llvm.target import Target
from chadllvm.llvm.vecmath import runtime_symbols


@dataclass(frozen=True)
class Library:
    """What a library consists of, as text and object code."""

    prefix: str
    header: str
    source: str
    objects: tuple[bytes, ...]
    manifest: dict[str, Any]
    wrappers: tuple[Wrapper, ...]


def build(
    prefix: str,
    functions: Sequence[Exported],
    targets: Sequence[Target],
    *,
    openmp: bool = False,
) -> Library:
    """Compile the functions of a library, each for all of the targets."""
    types = Types(prefix, _names_of(functions))
    classes = Classes(types)
    wrappers = [Wrapper(f, types, classes, len(targets)) for f in functions]
    natives = _Natives(prefix, functions, targets)
    declared, defined = _functions(wrappers, natives)
    body = "\n".join([*types.lines, *declared])
    interface = _interface(prefix, body)
    header = _header(prefix, interface, body)
    manifest = _manifest(prefix, interface, wrappers, targets, natives, openmp)
    levels = [level_of(target) for target in targets]
    source = "\n".join(
        [
            _about_source(prefix, openmp),
            runtime_source(natives.called, prefix, openmp=openmp),
            f'#include "{prefix}.h"',
            library_source(prefix, levels if len(targets) > 1 else ()),
            nodes_source(classes, prefix) if len(classes) else "",
            named("\n".join(defined), prefix),
            _manifest_function(prefix, manifest),
        ]
    )
    objects = tuple(natives.objects())
    return Library(prefix, header, source, objects, manifest, tuple(wrappers))


class _Natives:
    """The native functions of a library, for each of its targets."""

    def __init__(
        self, prefix: str, functions: Sequence[Exported], targets: Sequence[Target]
    ) -> None:
        self.prefix, self.targets = prefix, targets
        self.texts: list[list[str]] = [[] for _ in targets]
        # The places where the last version of each function may fail.
        self.sites: dict[str, tuple[Site, ...]] = {}
        # The functions that ask for no memory.
        self.light: set[str] = set()
        # The functions that have a workspace of a known size.
        self.sized: set[str] = set()
        for function in functions:
            self._add(function)
            self._add_workspace(function)
        self.called = self._calls(self._all())

    def _calls(self, text: str) -> frozenset[str]:
        """The functions of the runtime that are called."""
        pattern = rf"^  .*call [^@]*@{self.prefix}_(chad_\w+)\("
        return frozenset(re.findall(pattern, text, re.M))

    def _all(self) -> str:
        return "\n".join(text for texts in self.texts for text in texts)

    def _add(self, function: Exported) -> None:
        first = len(self.texts[0])
        for level, target in enumerate(self.targets):
            for version, loops in enumerate(function.versions):
                symbol = function.symbol(self.prefix, version, level)
                module = native_module(Native(symbol, loops), self.prefix, target)
                self.texts[level].append(module.text)
                self.sites[function.name] = module.sites
        called = self._calls("\n".join(self.texts[0][first:]))
        if called <= {"chad_poll", *runtime_symbols(), "chad_powi", "chad_powif"}:
            self.light.add(function.name)

    def _add_workspace(self, function: Exported) -> None:
        if function.has_nodes:
            return  # How many there are no size says.
        found = [workspace_of(loops) for loops in function.versions]
        if None in found:
            return
        self.sized.add(function.name)
        for version, loops in enumerate(found):
            assert loops is not None
            symbol = function.workspace_symbol(self.prefix, version)
            native = Native(symbol, loops)
            module = native_module(native, self.prefix, self.targets[0])
            self.texts[0].append(module.text)

    def objects(self) -> list[bytes]:
        pairs = zip(self.targets, self.texts, strict=True)
        return [made for target, texts in pairs for made in object_files(texts, target)]


def _names_of(functions: Sequence[Exported]) -> set[str]:
    """The names in a library that are those of functions."""
    endings = ("", "_workspace", "_log_density", "_user")
    return {f.name + ending for f in functions for ending in endings}


def _functions(
    wrappers: Sequence[Wrapper], natives: _Natives
) -> tuple[list[str], list[str]]:
    """The declarations and the definitions of all functions."""
    declared, defined = [], []
    for wrapper in wrappers:
        function = wrapper.function
        wrapper.is_light = function.name in natives.light and not function.has_nodes
        declared.append(wrapper.declaration() + "\n")
        defined.append(wrapper.definition(natives.sites[function.name]))
        more = []
        if function.name in natives.sized:
            more.append(wrapper.workspace())
        if function.logp:
            more.append(wrapper.log_density())
        for declaration, definition in more:
            declared.append(declaration + "\n")
            defined.append(definition)
    return declared, defined


def _interface(prefix: str, body: str) -> int:
    """A number that is another one where anything in the header is."""
    text = f"{ABI}\n{library_header(prefix)}\n{body}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _header(prefix: str, interface: int, body: str) -> str:
    guard = f"{prefix.upper()}_H"
    return "\n".join(
        [
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            library_header(prefix).rstrip(),
            "",
            f"#define {prefix.upper()}_ABI {ABI}",
            f"#define {prefix.upper()}_INTERFACE INT64_C({interface:#x})",
            "",
            "// --- The types and functions of this library "
            "---------------------------------------",
            "",
            body.rstrip(),
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def _about_source(prefix: str, openmp: bool) -> str:
    threads = (
        "Compile it with OpenMP (-fopenmp)." if openmp else "It needs no other library."
    )
    return (
        f"// The C half of {prefix}, made by chadllvm {__version__}: the runtime, and "
        "the functions as\n// the header declares them. The machine code that it calls "
        "is in the object beside it.\n// Any C11 compiler takes it as it is. "
        f"{threads}\n\n"
        "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n\n"
        "#ifdef __ELF__\n"
        '#define CHAD_API __attribute__((visibility("hidden")))\n'
        "#else\n#define CHAD_API\n#endif\n\n"
        "#ifdef __clang__\n"
        '#pragma clang diagnostic ignored "-Wunused-function"\n'
        "#endif\n"
    )


def _manifest(
    prefix: str,
    interface: int,
    wrappers: Sequence[Wrapper],
    targets: Sequence[Target],
    natives: _Natives,
    openmp: bool,
) -> dict[str, Any]:
    return {
        "abi": ABI,
        "digest": UNSEALED,
        "interface": f"{interface:#x}",
        "library": prefix,
        "chadllvm": __version__,
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "target": targets[0].triple,
        "cpu": [target.cpu for target in targets],
        "openmp": openmp,
        "code": hashlib.sha256(natives._all().encode()).hexdigest(),
        "functions": [_described(w, natives) for w in wrappers],
        "classes": _classes(wrappers),
    }


def _classes(wrappers: Sequence[Wrapper]) -> dict[str, Any]:
    """The classes that contain themselves, by the names of their heaps."""
    found: dict[str, Any] = {}
    for wrapper in wrappers:
        heap = wrapper.function.heap
        for of in (*heap.taken, *heap.given):
            known = found.setdefault(of.heap, describe_class(of))
            if known != describe_class(of):
                raise TypeError(f"two classes of an exported library are {of.title}")
    return found


def _described(wrapper: Wrapper, natives: _Natives) -> dict[str, Any]:
    function = wrapper.function
    return {
        "name": function.name,
        "python": function.title,
        "file": function.span.file,
        "line": function.span.line,
        "symbol": wrapper.name,
        "raw": raw_name(wrapper.prefix, function.name),
        "declaration": f"int32_t {wrapper.name}({', '.join(wrapper.declared)})",
        "workspace": function.name in natives.sized,
        "log_density": bool(function.logp),
        "words": wrapper.returned.words,
        "params": [[name, describe(ty)] for name, ty in function.params],
        "defaults": function.defaults,
        **_returns(function),
        **_updates(function),
        "sites": [_described_site(site) for site in natives.sites[function.name]],
    }


def _returns(function: Exported) -> dict[str, Any]:
    """What Python gets: a result, or what makes recursive data of one."""
    if not function.has_nodes:
        return {"returns": describe(function.result)}
    request = function.request
    by = request.argnums
    asked = [[*by] if isinstance(by, tuple) else by, request.value, request.has_aux]
    return {"value": describe(function.value), "request": asked}


def _updates(function: Exported) -> dict[str, Any]:
    """What Python's arguments are updated to: the first results."""
    updated = function.updated
    if updated is None:
        return {}
    return {"updates": [updated.positions, updated.has_result]}


def _described_site(site: Site) -> list[Any]:
    """What Python is told of a place where the program may fail."""
    failure, values = site.failure, [str(ty) for ty in site.values]
    return [failure.kind, failure.message, failure.own, [*failure.span], values]


def _manifest_function(prefix: str, manifest: dict[str, Any]) -> str:
    """The function that gives the manifest, which has a mark in front of it."""
    text = MARK + json.dumps(manifest, separators=(",", ":"))
    pieces = [text[k : k + 80] for k in range(0, len(text), 80)]
    listed = "\n    ".join(map(c_string, pieces))
    return (
        f"static const char chad_lib_text[] =\n    {listed};\n\n"
        f"const char *{prefix}_manifest(void) {{\n"
        f"  return chad_lib_text + {len(MARK)};\n}}\n"
    )
