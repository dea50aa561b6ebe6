"""Programs in C with an exported library: compiled, and run."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "export" / "programs"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
IS_LINUX = sys.platform.startswith("linux")
LINUX = pytest.mark.skipif(not IS_LINUX, reason="ELF and its tools")


def run(*command: object, **options: object) -> str:
    """What a command prints; it must succeed."""
    words = list(map(str, command))
    ran = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert ran.returncode == 0, f"{shlex.join(words)}\n{ran.stdout}{ran.stderr}"
    return str(ran.stdout)


def flags(folder: Path) -> list[str]:
    """What pkg-config says, and where the program finds the library."""
    path = {"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    name = folder.name.removeprefix("lib")
    text = run("pkg-config", "--cflags", "--libs", name, env=path)
    return [*shlex.split(text), f"-Wl,-rpath,{folder}"]


def compiled(made: Path, program: str | Path, more: Sequence[object]) -> Path:
    source = PROGRAMS / program
    run("cc", "-std=c99", "-g", *STRICT, "-o", made, source, *more, "-lm", "-pthread")
    return made


def checked(program: Path) -> str:
    """Run a program under valgrind, if it is there; CI has it."""
    if shutil.which("valgrind") is None:
        return run(program)
    strict = ("--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite")
    return run("valgrind", "-q", *strict, program)
