"""The machine that is measured on: its processor, its compilers, each core's speed."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cffi

from bench.measure import on_core, seconds
from bench.reference.load import build, declarations

PACKAGES = ("chadllvm", "llvmlite", "numpy", "cffi")
PEER_PACKAGES = ("jax", "jaxlib", "torch", "numba", "enzyme-ad", "casadi")
COMPILERS = ("gcc", "clang")

MULTIPLICATIONS = 20_000_000


def machine(build_folder: Path) -> dict[str, Any]:
    """What there is, and how fast each core is while nothing else is measured."""
    return {
        "system": platform.platform(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "solo_speed": solo_speeds(build_folder),
    }


def versions() -> dict[str, str]:
    """The versions of all that takes part; what is not installed is left out."""
    found = {"python": sys.version.split()[0]}
    for package in (*PACKAGES, *PEER_PACKAGES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    for compiler in COMPILERS:
        if shutil.which(compiler):
            found[compiler] = _compiler(compiler)
    return found


def solo_speeds(build_folder: Path) -> dict[str, float]:
    """Millions of dependent multiplications a second, for each core we may use."""
    (library, *_) = build(build_folder, "speed")
    ffi = cffi.FFI()
    ffi.cdef(declarations("speed"))
    chain = ffi.dlopen(str(library)).speed_chain
    found = {}
    for core in sorted(getattr(os, "sched_getaffinity", lambda _: {0})(0)):
        with on_core(core):
            best = min(seconds(lambda: chain(MULTIPLICATIONS)) for _ in range(3))
        found[str(core)] = MULTIPLICATIONS / best / 1e6
    return found


def _compiler(name: str) -> str:
    """The version that a compiler says it has."""
    command = [name, "--version"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"\d+\.\d+[.\d]*", text)
    return found[0] if found else text.partition("\n")[0]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
