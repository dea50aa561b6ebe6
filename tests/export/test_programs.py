"""C and C++ programs, written from the header of an exported library alone."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import numpy as np
import pytest
from export_models import FUNCTIONS, MIXTURE
from export_programs import LINUX, PROGRAMS, STRICT, checked, compiled, flags, run

import chadllvm as cl

FIT = Path(__file__).parents[2] / "examples" / "gmm_fit.c"


@pytest.mark.parametrize("program", ["calls.c", "structs.c", "nodes.c", "threads.c"])
def test_calls(program: str, forms: Path, tmp_path: Path) -> None:
    checked(compiled(tmp_path / "program", program, flags(forms)))


def test_the_static_library_does_the_same(forms: Path, tmp_path: Path) -> None:
    library = [f"-I{forms}", forms / "libforms.a"]
    run(compiled(tmp_path / "program", "calls.c", library))


def test_two_libraries_live_in_one_program(
    forms: Path, mixture: Path, tmp_path: Path
) -> None:
    folders = [f"-I{forms}", f"-I{mixture}"]
    both = [*folders, forms / "libforms.a", mixture / "libmixture.a"]
    run(compiled(tmp_path / "program", "pair.c", both))


def test_the_mixture_is_fitted_in_c(mixture: Path, tmp_path: Path) -> None:
    checked(compiled(tmp_path / "fit", FIT, flags(mixture)))


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_the_mixture_is_fitted_in_cpp(mixture: Path, tmp_path: Path) -> None:
    run("cmake", "-S", PROGRAMS, "-B", tmp_path, f"-Dmixture_DIR={mixture}")
    run("cmake", "--build", tmp_path)
    checked(tmp_path / "fit")


@pytest.mark.parametrize("name", ["forms", "mixture"])
def test_the_example_runs(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    shutil.copytree(request.getfixturevalue(name), tmp_path / "lib")
    run("make", "-C", tmp_path / "lib", f"CFLAGS=-std=c99 {' '.join(STRICT)}")
    checked(tmp_path / "lib" / "example")


@LINUX
def test_it_needs_nothing_but_libc_and_libm(forms: Path) -> None:
    text = run("readelf", "-d", forms / "libforms.so")
    needed = [line for line in text.splitlines() if "NEEDED" in line]
    assert needed
    assert all("[libc.so" in n or "[libm.so" in n or "[libmvec.so" in n for n in needed)


@LINUX
def test_it_shows_nothing_but_its_interface(forms: Path) -> None:
    text = run("nm", "-D", "--defined-only", forms / "libforms.so")
    names = [line.split()[-1] for line in text.splitlines()]
    assert names and all(name.startswith("forms_") for name in names)
    assert not [name for name in names if "chad" in name]
    static = run("nm", "-g", "--defined-only", forms / "libforms.a")
    lines = [line.split()[-1] for line in static.splitlines() if " " in line]
    assert all(name.startswith("forms_") for name in lines)


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="levels of x86-64"
)
def test_several_processors_in_one_library(tmp_path: Path) -> None:
    """The best that there is here is chosen; two of them give about the same."""
    functions = {"energy": FUNCTIONS["energy"]}
    levels = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]
    library = cl.load(cl.export(functions, tmp_path / "libforms", cpu=levels))
    assert library.manifest["cpu"] == levels
    x = np.linspace(0.0, 3.0, 1001)
    value, gradient = library.energy(x, 2.0)
    expected, other = FUNCTIONS["energy"](x, 2.0)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, other, rtol=1e-12, atol=1e-12)


# ---- other systems

CROSS = "aarch64-linux-gnu-gcc"
needs_cross = pytest.mark.skipif(
    shutil.which(CROSS) is None or shutil.which("qemu-aarch64") is None,
    reason="needs a compiler for aarch64, and qemu",
)


@needs_cross
def test_another_processor_gives_the_same(mixture: Path, tmp_path: Path) -> None:
    """But for what fused multiply-add, which x86-64 has not, does not round."""
    folder = tmp_path / "libmixture"
    cl.export(MIXTURE, folder, kind="object", target="aarch64-linux-gnu")
    parts = [f"-I{folder}", folder / "mixture.c", *folder.glob("*.o"), "-static"]
    program = tmp_path / "fit"
    # The generated source asks for more than C99.
    source = FIT
    run(CROSS, "-std=c11", "-O2", *STRICT, "-Wno-overlength-strings", source, *parts,
        "-lm", "-o", program)  # fmt: skip
    there = np.array(run("qemu-aarch64", program).split(), float)
    here = np.array(
        run(compiled(tmp_path / "here", FIT, flags(mixture))).split(), float
    )
    assert there.shape == here.shape
    np.testing.assert_allclose(there, here, rtol=1e-13, atol=1e-13)


def test_the_source_compiles_without_threads_and_own_stacks(tmp_path: Path) -> None:
    """As on systems that have neither: recursion is on the thread's stack."""
    folder = tmp_path / "libforms"
    functions = {name: FUNCTIONS[name] for name in ("power", "energy")}
    cl.export(functions, folder, kind="object")
    program = tmp_path / "deep.c"
    program.write_text(
        '#include "forms.h"\n'
        "int main(void) {\n"
        "  double value = 0.0;\n"
        "  if (forms_power(NULL, 2.0, 10, &value, NULL) || value != 1024.0) return 1;\n"
        "  return forms_power(NULL, 1.0, 100000000, &value, NULL) != FORMS_TOO_DEEP;\n"
        "}\n"
    )
    made = tmp_path / "deep"
    run("cc", "-std=c11", "-O2", *STRICT, "-Wno-overlength-strings",
        "-DCHAD_OWN_STACK=65536", f"-I{folder}", program, folder / "forms.c",
        folder / "forms.o", "-lm", "-o", made)  # fmt: skip
    run(made)
