"""The C sources of a library: the runtime, what all libraries have, and its functions.

They are one file, which any C11 compiler takes as it is. Names of the runtime begin
with that of the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

import chadllvm
from chadllvm.backend.aot.nodes import Classes
from chadllvm.support.diagnostic import InternalError

# What every library has of the runtime.
_ALWAYS = (
    "limit",
    "memory",
    "grown",
    "arena",
    "result",
    "context",
    "special",
    "fill",
    "numbers",
    "logs",
)

# What has several threads, and what stands for it where there is one.
_THREADS = ("wait", "pool", "region", "parallel", "both", "threads", "team")
_SERIAL = "serial"

# What recursion needs, and what stands for it without.
_DEEP, _SHALLOW = "deep", "shallow"


def runtime_source(called: Iterable[str], prefix: str, *, openmp: bool) -> str:
    """The C sources of the runtime for functions that call these symbols of it."""
    folder = source_folder()
    files = [folder / "include" / "chad_rt.h", folder / "src" / "internal.h"]
    headers = ("team.h", "region.h") if openmp else ()
    files += [folder / "src" / name for name in headers]
    files += [folder / "src" / f"{part}.c" for part in _ALWAYS]
    if "chad_print" in set(called):
        files.append(folder / "src" / "print.c")
    if openmp or "chad_deep" in set(called):
        files.append(folder / "src" / f"{_DEEP}.c")
    else:
        files.append(folder / "export" / f"{_SHALLOW}.c")
    if openmp:
        files += [folder / "src" / f"{part}.c" for part in _THREADS]
    else:
        files.append(folder / "export" / f"{_SERIAL}.c")
    return _prefixed("\n".join(_distinct(files)), prefix)


# What a source file calls by a name of its own.
_STATIC = re.compile(r"^static\s[^;={(]*?\b(\w+)\s*(?=[=(;\[])", re.M)


def _distinct(files: Sequence[Path]) -> list[str]:
    """The files as parts of one: names that another one has as well get an ending."""
    texts, taken = [], set[str]()
    for path in files:
        text = _included(path)
        own = set(_STATIC.findall(text))
        for name in sorted(own & taken):
            # A member of a struct may be called the same as a function.
            is_called = re.search(rf"\b{name}\(", text)
            is_used = r"(?!\s*;)" if is_called else ""
            pattern = rf"(?<![.\w])(?<!->)(?:(?<== ){name}\b|{name}\b{is_used})"
            text = re.sub(pattern, f"{name}_{path.stem}", text)
        taken |= own
        texts.append(text)
    return texts


def library_source(prefix: str, levels: Sequence[int] = ()) -> str:
    """The C source of what all libraries have, without its header.

    `levels` of x86-64 are those of several versions that there are of each function.
    """
    folder, parts = source_folder() / "export", []
    if levels:
        listed = ", ".join(map(str, levels))
        parts = [f"static const int chad_lib_levels[] = {{{listed}}};"]
        parts.append(_included(folder / "levels.c"))
    return named("\n".join([_included(folder / "library.c"), *parts]), prefix)


def nodes_source(classes: Classes, prefix: str) -> str:
    """The C source of what recursive data needs."""
    code = _included(source_folder() / "export" / "nodes.c")
    return named("\n".join([classes.sizes(), code, classes.tables()]), prefix)


def library_header(prefix: str) -> str:
    """What the header of every library begins with."""
    text = (source_folder() / "export" / "library.h").read_text(encoding="utf-8")
    return named(text, prefix)


def named(text: str, prefix: str) -> str:
    """A source of ours with the names of this library."""
    text = re.sub(r"\bLIBRARY_(?=[A-Z])", f"{prefix.upper()}_", text)
    return _prefixed(re.sub(r"\blibrary_(?=[a-z])", f"{prefix}_", text), prefix)


def _prefixed(text: str, prefix: str) -> str:
    return re.sub(r"\bchad_(?=[a-z])", f"{prefix}_chad_", text)


def _included(path: Path) -> str:
    """A file as a part of another: what it includes stands there already."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        is_own = re.match(r'#include "', line)
        is_switch = re.match(r"#define _(GNU|DEFAULT|POSIX_C)_SOURCE", line)
        if not is_own and not is_switch:
            lines.append(line)
    return "\n".join(lines)


def source_folder() -> Path:
    """The folder with the C sources of the runtime.

    A wheel has them beside the package; in a checkout they stand where they belong.
    """
    package = Path(chadllvm.__file__).parent
    found = [package / "runtime_c", package.parent / "runtime_c"]
    try:
        installed = metadata.distribution("chadllvm").locate_file("chadllvm/runtime_c")
        found.append(Path(str(installed)))
    except metadata.PackageNotFoundError:
        pass
    for folder in found:
        if (folder / "export" / "library.c").exists():
            return folder
    raise InternalError("the C sources of the runtime are not installed")
