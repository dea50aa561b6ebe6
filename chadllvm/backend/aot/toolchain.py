"""What the machine's C compiler makes of a library's sources and objects.

Machine code of functions needs no tools. To compile the runtime, and to link both,
there must be a C compiler, as `CC` in the environment or `cc` names it, and `ar` for
archives.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class NoToolchain(RuntimeError):
    """There is no C compiler, or it does not do what it is asked."""


_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffunction-sections")


@dataclass(frozen=True)
class Toolchain:
    """A C compiler, as a command."""

    command: tuple[str, ...]

    @property
    def archiver(self) -> str:
        """The `ar` that belongs to the compiler: of its target, if it names one."""
        if "AR" in os.environ:
            return os.environ["AR"]
        head, dash, _ = Path(self.command[0]).name.rpartition("-")
        own = f"{head}{dash}ar"
        return own if dash and shutil.which(own) else "ar"

    def compile(self, source: Path, made: Path, *, openmp: bool) -> None:
        """C → an object."""
        flags = [*_FLAGS, *(["-fopenmp"] if openmp else [])]
        self._run([*self.command, *flags, "-c", str(source), "-o", str(made)])

    def link(
        self, objects: Sequence[Path], made: Path, *, openmp: bool, stays: bool
    ) -> None:
        """Objects → a shared library; `stays`: it is never unloaded."""
        flags = ["-fopenmp"] if openmp else []
        if made.suffix == ".dylib":
            flags += ["-dynamiclib", "-Wl,-dead_strip"]
            flags += [f"-Wl,-install_name,@rpath/{made.name}"]
        else:
            flags += ["-shared", "-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,-z,defs"]
            flags += [f"-Wl,-soname,{made.name}"]
            flags += ["-Wl,-z,nodelete"] if stays else []
        files = list(map(str, objects))
        self._run([*self.command, *flags, *files, "-lm", "-o", str(made)])

    def archive(self, objects: Sequence[Path], made: Path) -> None:
        """Objects → a static library."""
        self._run([self.archiver, "rcs", str(made), *map(str, objects)])

    def _run(self, command: Sequence[str]) -> None:
        try:
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise NoToolchain(missing(command[0])) from None
        if ran.returncode:
            text = (ran.stderr or ran.stdout).strip()
            raise NoToolchain(f"{shlex.join(command)} failed:\n{text}")


def toolchain(named: str | None) -> Toolchain:
    """The C compiler of this name, or the machine's.

    Raises:
        NoToolchain: if there is none.
    """
    wanted = named or os.environ.get("CC")
    names = [wanted] if wanted else ["cc", "gcc", "clang"]
    for name in names:
        command = shlex.split(name)
        if command and shutil.which(command[0]):
            return Toolchain(tuple(command))
    raise NoToolchain(missing(names[0]))


def missing(name: str) -> str:
    """What to do without a compiler."""
    return (
        f"no C compiler {name!r} found, which libraries are linked with: install one, "
        "or export with kind='object', which needs none"
    )
