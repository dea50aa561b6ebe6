"""The files of a library, written all at once.

A library is a folder: its header, the library itself in the forms asked for, what
pkg-config and CMake ask for, a manifest, and an example with its Makefile. It is made
beside its place, under another name, and moved there when it is whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from chadllvm._version import __version__
from chadllvm.backend.aot.example import example, makefile
from chadllvm.backend.aot.library import Library
from chadllvm.backend.aot.library_format import SIGN, sealed
from chadllvm.backend.aot.toolchain import Toolchain

_OPENMP = "-fopenmp"


class Bundle:
    """The files of a library in a folder."""

    def __init__(
        self, library: Library, kinds: Sequence[str], tools: Toolchain | None
    ) -> None:
        self.library, self.kinds, self.tools = library, tuple(kinds), tools
        self.prefix = library.prefix
        self.openmp = bool(library.manifest["openmp"])
        self.main = ""

    def write(self, folder: Path) -> None:
        """Write all files into a folder."""
        objects = self._objects(folder)
        self._put(folder, f"{self.prefix}.h", self.library.header)
        if self.tools is None:
            self._put(folder, f"{self.prefix}.c", self.library.source)
            self.main = objects[0].name
        else:
            self._link(folder, objects, self.tools)
        names = [path.name for path in objects] if self.tools is None else []
        self._put(folder, f"{self.prefix}.pc", self._pkg_config(names))
        self._put(folder, f"{self.prefix}Config.cmake", self._cmake(names))
        self._put(folder, "example.c", example(self.library))
        self._put(folder, "Makefile", makefile(self.prefix, self.link_line(names)))
        self._put(folder, SIGN, self._manifest(folder))

    def _objects(self, folder: Path) -> list[Path]:
        suffix = ".obj" if "windows-msvc" in self.library.manifest["target"] else ".o"
        made = []
        for k, content in enumerate(self.library.objects):
            name = self.prefix if k == 0 else f"{self.prefix}_{k}"
            made.append(folder / f"{name}{suffix}")
            made[-1].write_bytes(content)
        return made

    def _link(self, folder: Path, objects: Sequence[Path], tools: Toolchain) -> None:
        """The libraries, from objects and sources that are not kept."""
        source = self._put(folder, f"{self.prefix}.c", self.library.source)
        support = folder / f"{self.prefix}_c.o"
        tools.compile(source, support, openmp=self.openmp)
        every = [*objects, support]
        for kind in reversed(self.kinds):
            made = folder / self.file_name(kind)
            self.main = made.name
            if kind == "shared":
                stays = self.openmp or "pthread_key_create" in self.library.source
                tools.link(every, made, openmp=self.openmp, stays=stays)
                self._seal(made)
            else:
                tools.archive(every, made)
        for path in (*every, source):
            path.unlink()

    def _seal(self, made: Path) -> None:
        """Write its digest into a library, unless it is signed, as those for macOS."""
        if made.suffix != ".dylib":
            made.write_bytes(sealed(made.read_bytes()))

    def file_name(self, kind: str) -> str:
        """The file that a kind of library is in."""
        if kind == "static":
            return f"lib{self.prefix}.a"
        target = self.library.manifest["target"]
        is_apple = "apple" in target or "darwin" in target
        return f"lib{self.prefix}.{'dylib' if is_apple else 'so'}"

    def _put(self, folder: Path, name: str, text: str) -> Path:
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return path

    # ---- how to link with it

    def link_line(self, objects: Sequence[str]) -> str:
        """What a compiler is told beside a program, in the folder."""
        math = "-lm" + (f" {_OPENMP}" if self.openmp else "")
        if objects:
            return " ".join([f"{self.prefix}.c", *objects, math])
        if "shared" in self.kinds:
            return f"-L. -l{self.prefix} -Wl,-rpath,'$$ORIGIN'"
        return f"{self.file_name('static')} {math}"

    def _pkg_config(self, objects: Sequence[str]) -> str:
        math = "-lm" + (f" {_OPENMP}" if self.openmp else "")
        libs = f"-L${{prefix}} -l{self.prefix}"
        private = f"Libs.private: {math}\n"
        if objects:
            files = " ".join(f"${{prefix}}/{name}" for name in objects)
            libs, private = f"${{prefix}}/{self.prefix}.c {files} {math}", ""
        elif "shared" not in self.kinds:
            libs, private = f"{libs} {math}", ""
        names = ", ".join(f["name"] for f in self.library.manifest["functions"])
        return (
            f"prefix=${{pcfiledir}}\n\nName: {self.prefix}\nDescription: {names}\n"
            f"Version: {__version__}\nCflags: -I${{prefix}}\nLibs: {libs}\n{private}"
        )

    def _cmake(self, objects: Sequence[str]) -> str:
        name, here = f"{self.prefix}::{self.prefix}", "${CMAKE_CURRENT_LIST_DIR}"
        math = "m;OpenMP::OpenMP_C" if self.openmp else "m"
        find = "include(CMakeFindDependencyMacro)\nfind_dependency(OpenMP)\n"
        lines = [find.rstrip()] if self.openmp and self.kinds != ("shared",) else []
        lines += [f"if(TARGET {name})", "  return()", "endif()"]
        if objects:
            files = " ".join(f'"{here}/{file}"' for file in objects)
            lines += [
                f"set_source_files_properties({files} PROPERTIES EXTERNAL_OBJECT TRUE)",
                f"add_library({name} INTERFACE IMPORTED)",
                f"target_sources({name} INTERFACE {files}",
                f'  "{here}/{self.prefix}.c")',
                f"set_target_properties({name} PROPERTIES",
                f'  INTERFACE_LINK_LIBRARIES "{math}"',
            ]
        else:
            kind = "shared" if "shared" in self.kinds else "static"
            file = self.file_name(kind)
            lines += [
                f"add_library({name} {kind.upper()} IMPORTED)",
                f"set_target_properties({name} PROPERTIES",
                f'  IMPORTED_LOCATION "{here}/{file}"',
            ]
            if kind == "static":
                lines.append(f'  INTERFACE_LINK_LIBRARIES "{math}"')
            else:
                lines.append(f'  IMPORTED_SONAME "{file}"')
        lines.append(f'  INTERFACE_INCLUDE_DIRECTORIES "{here}")')
        return "\n".join(lines) + "\n"

    def _manifest(self, folder: Path) -> str:
        """The manifest with the hashes of all files, which the library cannot have."""
        files = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())
        }
        manifest = {k: v for k, v in self.library.manifest.items() if k != "digest"}
        return json.dumps({**manifest, "files": files}, indent=2) + "\n"


def write_all(bundle: Bundle, place: Path) -> Path:
    """Write a bundle to its place, whole or not at all; the path of the library.

    A folder that an export made is replaced.

    Raises:
        FileExistsError: if there is something else at the place.
        OSError: if it cannot be written.
    """
    if place.exists() and not is_ours(place):
        raise FileExistsError(f"{place} is there already, and no exported library")
    place.parent.mkdir(parents=True, exist_ok=True)
    with _made_beside(place) as made:
        bundle.write(made)
        _flush(made)
        _move(made, place)
    return place / bundle.main


def is_ours(place: Path) -> bool:
    """Whether a folder holds an exported library, and nothing that is not its own."""
    try:
        sign = json.loads((place / SIGN).read_text(encoding="utf-8"))
        return "interface" in sign and "files" in sign
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _made_beside(place: Path) -> Iterator[Path]:
    """A folder for the time being, which is gone in the end."""
    made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        made.chmod(0o777 & ~_umask())
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _flush(folder: Path) -> None:
    """See that all files are on the disk, which may be full, before they are named."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _move(made: Path, place: Path) -> None:
    if not place.exists():
        made.rename(place)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    place.rename(old / "old")
    try:
        made.rename(place)
    except OSError:
        (old / "old").rename(place)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
