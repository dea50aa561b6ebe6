"""Objects for other systems: linked by their compilers, and run where that is possible.

Other processors may round otherwise, as other libraries of functions do: results are
the same to some units in the last place.
"""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from export_models import FUNCTIONS
from export_programs import LINUX, PROGRAMS, STRICT, compiled, flags, run

import chadllvm as cl

NAMES = ("energy", "narrow_grad", "pick", "power", "power_grad", "chain_grad")
SOME = {name: FUNCTIONS[name] for name in NAMES}


@dataclass(frozen=True)
class System:
    """How programs are linked for a target, and what runs them, if anything does."""

    target: str
    compiler: tuple[str, ...]
    runner: tuple[str, ...] = ()
    # What has to be there besides.
    needs: str = ""

    @property
    def is_there(self) -> bool:
        """Whether this machine can link, and run."""
        tools = [self.compiler[0], *self.runner[:1]]
        return all(map(shutil.which, tools)) and Path(self.needs or "/").exists()


WASI = "/usr/include/wasm32-wasi"
SYSTEMS = [
    System(
        "aarch64-linux-gnu", ("aarch64-linux-gnu-gcc", "-static"), ("qemu-aarch64",)
    ),
    System(
        "riscv64-linux-gnu", ("riscv64-linux-gnu-gcc", "-static"), ("qemu-riscv64",)
    ),
    System("x86_64-w64-windows-gnu", ("x86_64-w64-mingw32-gcc", "-static")),
    System(
        "wasm32-unknown-wasi",
        ("clang", "--target=wasm32-wasi", "--sysroot=/usr"),
        ("node", "--no-warnings", str(PROGRAMS / "run_wasm.mjs")),
        WASI,
    ),
]


@pytest.mark.sweep(share=2)
@LINUX
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.target)
def test_programs_of_other_systems(system: System, forms: Path, tmp_path: Path) -> None:
    if not system.is_there:
        pytest.skip(f"needs {system.compiler[0]} and what runs its programs")
    folder = tmp_path / "libforms"
    cl.export(SOME, folder, kind="object", target=system.target)
    parts = [PROGRAMS / "portable.c", folder / "forms.c", folder / "forms.o"]
    strict = [*STRICT, "-Wno-overlength-strings"]
    program = tmp_path / "program.exe"
    run(*system.compiler, "-std=c11", "-O2", *strict, f"-I{folder}", *parts, "-lm",
        "-o", program)  # fmt: skip
    if not system.runner:
        return
    there = np.array(run(*system.runner, program).split(), float)
    native = compiled(tmp_path / "here", "portable.c", flags(forms))
    here = np.array(run(native).split(), float)
    np.testing.assert_allclose(there, here, rtol=1e-14, atol=1e-14)


MAGIC = {
    "riscv64-unknown-linux-gnu": b"\x7fELF\x02",
    "wasm32-unknown-unknown": b"\0asm",
    "x86_64-pc-windows-msvc": b"\x64\x86",
    "x86_64-apple-macosx11": b"\xcf\xfa\xed\xfe",
    "arm64-apple-macosx11": b"\xcf\xfa\xed\xfe",
}


@pytest.mark.parametrize("target", MAGIC)
def test_objects_for_other_systems(target: str, tmp_path: Path) -> None:
    functions = {name: FUNCTIONS[name] for name in ("energy", "pick", "power")}
    made = cl.export(functions, tmp_path / "libforms", kind="object", target=target)
    content = made.read_bytes()
    assert content.startswith(MAGIC[target])
    assert b"forms_chad_fn_energy" in content
    assert (made.parent / "forms.c").exists()


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="levels of x86-64"
)
def test_a_library_has_the_usual_levels(forms: Path, tmp_path: Path) -> None:
    assert cl.load(forms).manifest["cpu"] == ["x86-64", "x86-64-v3"]
    one = cl.load(cl.export({"line": FUNCTIONS["line"]}, tmp_path / "m", cpu="x86-64"))
    assert one.manifest["cpu"] == ["x86-64"] and one.line(2.0, 1.0) == 5.0
