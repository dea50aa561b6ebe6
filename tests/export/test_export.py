"""`export` itself: what is refused, and what is on the disk afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_models import energy, line, power

import chadllvm as cl
from chadllvm.backend.aot import bundle


def unannotated(x, y):
    return x * y


@cl.jit
def applied(f: Callable[[float], float], x: float) -> float:
    return f(x)


@cl.jit(static_argnames="n")
def with_static(x: float, n: int) -> float:
    return x * n


class Node:
    pass


GOOD: dict[str, Any] = {"line": line}


@pytest.mark.parametrize(
    "functions, options, error, message",
    [
        ({}, {}, ValueError, "no functions"),
        ({"f": unannotated}, {}, TypeError, "parameter x.*example arguments"),
        ({"f": applied}, {}, TypeError, "parameter f"),
        ({"f": with_static}, {}, TypeError, "parameter n"),
        ({"f": 3}, {}, cl.CompileError, "not a Python function"),
        ({"int": line}, {}, ValueError, "'int' cannot be the name"),
        ({"a-b": line}, {}, ValueError, "'a-b' cannot be the name"),
        ({"check": line}, {}, ValueError, "'check' cannot be the name"),
        ({"f": line, "f_workspace": line}, {}, ValueError, "adds to a function"),
        (GOOD, {"kind": "dll"}, ValueError, "the kinds are"),
        (GOOD, {"kind": ("shared", "object")}, ValueError, "object by itself"),
        (GOOD, {"kind": ()}, ValueError, "kind"),
        (GOOD, {"target": "nonsense"}, ValueError, "target='nonsense'"),
        (GOOD, {"target": "aarch64-linux-gnu"}, ValueError, "C compiler for it"),
        (GOOD, {"cpu": "pentium9"}, ValueError, "no processor 'pentium9'"),
        (GOOD, {"cpu": ("x86-64-v3", "x86-64")}, ValueError, "lowest first"),
        (GOOD, {"cc": "no-such-compiler"}, RuntimeError, "kind='object'"),
        (GOOD, {"cc": "false"}, RuntimeError, "failed"),
        (
            {"f": cl.jit(lambda x: x, options=cl.CompileOptions(optimize=0))},
            {},
            ValueError,
            "optimize=0",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(
    functions: Any, options: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        cl.export(functions, tmp_path / "libm1", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["lib3", "lib", "a.b", "chad", "libinline", "libf"])
def test_bad_names_of_libraries(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a library"):
        cl.export(GOOD, tmp_path / name)


def test_example_arguments_say_the_types(tmp_path: Path) -> None:
    x = np.arange(3.0)
    made = cl.export({"f": (unannotated, (x, 2.0))}, tmp_path / "m")
    np.testing.assert_array_equal(cl.load(made).f(x, 2.0), 2.0 * x)
    assert made == tmp_path / "m" / "libm.so"


def test_parameters_may_have_any_names(tmp_path: Path) -> None:
    def f(int: float, memory: float, x: cl.f64[:], x_n: float, größe: float) -> float:
        return int + 2.0 * memory + x[0] + x_n + größe

    made = cl.export({"f": f}, tmp_path / "libnames")
    library = cl.load(made)
    assert library.f(1.0, 2.0, np.array([3.0]), 4.0, 5.0) == 17.0
    subprocess.run(["make", "-s", "-C", made.parent], check=True)


# ---- files


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "libm1").mkdir()
    (tmp_path / "libm1" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        cl.export(GOOD, tmp_path / "libm1")
    assert (tmp_path / "libm1" / "notes.txt").read_text() == "mine"


def test_an_export_is_replaced_as_a_whole(tmp_path: Path) -> None:
    cl.export(GOOD, tmp_path / "libm1", kind="object")
    made = cl.export({"energy": energy}, tmp_path / "libm1")
    assert {p.name for p in made.parent.iterdir()} == {
        *("Makefile", "chadllvm.json", "example.c", "libm1.so", "m1.h", "m1.pc"),
        "m1Config.cmake",
    }
    assert [p.name for p in tmp_path.iterdir()] == ["libm1"]


def test_a_full_disk_leaves_what_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = cl.export(GOOD, tmp_path / "libm1")
    before = made.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundle, "_flush", full)
    with pytest.raises(OSError, match="No space left"):
        cl.export({"energy": energy}, tmp_path / "libm1")
    with pytest.raises(OSError, match="No space left"):
        cl.export({"energy": energy}, tmp_path / "libm2")
    assert made.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["libm1"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files")
def test_a_file_that_may_not_grow_leaves_nothing(tmp_path: Path) -> None:
    """As a disk that becomes full while the machine code is written."""
    program = (
        "import resource, signal, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "import chadllvm as cl\n"
        "from export_models import line\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
        "try:\n"
        f"    cl.export({{'line': line}}, {str(tmp_path / 'libm1')!r}, kind='object')\n"
        "except OSError as error:\n"
        "    sys.exit(17 if error.errno == 27 else 1)\n"
    )
    ran = subprocess.run([sys.executable, "-B", "-c", program], check=False)
    assert ran.returncode == 17
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_kill_leaves_nothing_half(tmp_path: Path) -> None:
    """Killed when the files are there: under a name that nobody takes for it."""
    program = (
        "import os, signal, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "import chadllvm as cl\n"
        "from chadllvm.backend.aot import bundle\n"
        "from export_models import line\n"
        "bundle._flush = lambda folder: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"cl.export({{'line': line}}, {str(tmp_path / 'libm1')!r}, kind='object')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert not (tmp_path / "libm1").exists()
    assert all(p.name.startswith(".libm1.") for p in tmp_path.iterdir())
    cl.export(GOOD, tmp_path / "libm1", kind="object")


def test_a_read_only_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        cl.export(GOOD, tmp_path / "file" / "libm1")
    assert os.listdir(tmp_path) == ["file"]


def test_the_source_has_what_it_needs_only(tmp_path: Path) -> None:
    made = cl.export(GOOD, tmp_path / "libm1", kind="object")
    text = (made.parent / "m1.c").read_text()
    assert "ucontext" not in text and "pthread" not in text
    made = cl.export({"power": power}, tmp_path / "libm1", kind="object")
    assert "ucontext" in (made.parent / "m1.c").read_text()
    header = (made.parent / "m1.h").read_text()
    assert set(re.findall(r"#include <(.*)>", header)) == {"stddef.h", "stdint.h"}


def cleared(x: cl.f64[:], n: int) -> float:
    y = np.zeros(n)
    y[0] = x[0] + x[1]
    return y[0] * y[-1]


def test_a_workspace_has_room_for_what_is_cleared(tmp_path: Path) -> None:
    """Without threads nothing is cleared in pieces, so that the size is known."""
    functions = {"value": cleared, "slope": cl.value_and_grad(cl.jit(cleared))}
    made = cl.export(functions, tmp_path / "libm1", kind="object")
    header = (made.parent / "m1.h").read_text()
    assert "m1_value_workspace" in header and "m1_slope_workspace" in header
