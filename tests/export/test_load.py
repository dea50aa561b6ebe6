"""Exported libraries in Python: the same results, and bad files refused."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import cffi
import export_models
import numpy as np
import pytest
from export_models import (
    FUNCTIONS,
    Branch,
    Cons,
    Disc,
    Forest,
    Leaf,
    Outline,
    Site,
)

import chadllvm as cl
from chadllvm.backend.aot.bundle import Bundle
from chadllvm.backend.aot.library_format import ABI, MARK, SIGN

RECORDS = (Site, Disc, Outline, Cons, Leaf, Branch, Forest)
CLASSES = {record.__name__: record for record in RECORDS}
SITE = Site(2.0, 3, np.array([1.0, 2.0]))
SHAPES = [Disc(3.0), Outline(np.ones((2, 3))), Disc(1.0)]
TREE = Branch(Branch(Leaf(3.0), Leaf(2.0), 2), Leaf(4.0), -1)
LOOP = Branch(Leaf(1.0), Leaf(1.0), 1)
object.__setattr__(LOOP, "left", LOOP)
LISTS = [np.ones(2), np.ones(0), np.arange(3.0)]

CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("line", (2.0, 3)),
    ("line_grad", (2.0, 3.0)),
    ("energy", (np.arange(6.0)[::2], 2.0)),
    ("pick", (np.arange(3.0), 1)),
    ("pick", (np.arange(3.0), 3)),
    ("checked_root", (4.0, True)),
    ("checked_root", (-4.0, True)),
    ("doubled", (np.arange(6.0).reshape(2, 3).T,)),
    ("doubled", (np.zeros((0, 3)),)),
    ("narrow_grad", (np.float32(2), np.ones(3, np.float32))),
    ("volume_grad", (SITE,)),
    ("volumes", ([SITE, SITE],)),
    ("volumes_grad", ([SITE, SITE],)),
    ("made", (3.0,)),
    ("size_grad", (SHAPES[0],)),
    ("size_grad", (SHAPES[1],)),
    ("sizes_grad", (SHAPES,)),
    ("squares_grad", (LISTS,)),
    ("blocks_grad", ([np.ones((2, 2)), np.ones((0, 3))],)),
    ("positive", (np.array([1.0, -1.0, 2.0]),)),
    ("power_grad", (2.0, 5)),
    ("power", (1.0, 10**9)),
    ("table", (4321,)),
    ("chain_grad", (Cons(1.0, Cons(-2.0, None)),)),
    ("chain_grad", (None,)),
    ("product", (LOOP, 1.0)),
    ("product", (3, 1.0)),
    ("product_grad", (TREE, 2.0)),
    ("mirrored", (TREE,)),
    ("products_grad", ([TREE, Leaf(3.0), TREE],)),
    ("products_grad", ([],)),
    ("forest_grad", (Forest(1, TREE, np.arange(3.0)),)),
    ("tails", ([Cons(1.0, None), Cons(2.0, Cons(3.0, None))],)),
    ("line", ("a", 2.0)),
    ("volume", (3,)),
]


def outcome(function: Any, arguments: tuple[Any, ...]) -> str:
    try:
        return repr(function(*arguments))
    except Exception as error:
        return f"{type(error).__name__}: {error}" + "".join(notes(error))


def notes(error: Exception) -> list[str]:
    """What was added to it, as the place that the user's program raised it at."""
    return getattr(error, "__notes__", [])


@pytest.fixture(scope="module")
def library(forms: Path) -> Any:
    return cl.load(forms, CLASSES)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("name, arguments", CALLS)
def test_results_are_those_of_python(
    name: str, arguments: tuple[Any, ...], library: Any
) -> None:
    assert outcome(library[name], arguments) == outcome(FUNCTIONS[name], arguments)


def test_records_are_of_the_classes_that_are_loaded(
    forms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert type(cl.load(forms).made(3.0)) is Site
    assert cl.load(forms).product(TREE, 1.0) == FUNCTIONS["product"](TREE, 1.0)
    monkeypatch.setattr(export_models, "Site", Disc)
    other = cl.load(forms)
    assert type(other.made(3.0)) not in (Site, Disc)
    with pytest.raises(TypeError, match="must be of class Site"):
        other.volume(SITE)


def test_records_without_their_class_are_records_all_the_same(
    forms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "export_models")
    found = cl.load(forms).made(3.0)
    assert (type(found).__name__, found._fields) == ("Site", Site._fields)
    np.testing.assert_array_equal(found.depths, [3.0, 6.0])


def test_failures_name_the_line(library: Any) -> None:
    with pytest.raises(IndexError, match=r"export_models\.py:\d+"):
        library.pick(np.arange(3.0), 7)


def test_results_outlive_the_library_and_later_calls(forms: Path) -> None:
    library = cl.load(forms / "libforms.so")
    first = library.doubled(np.ones((2, 2)))
    second = library.doubled(np.zeros((2, 2)))
    assert first.sum() == 8.0 and second.sum() == 0.0


def test_threads_may_call_at_once(library: Any) -> None:
    x, found = np.arange(1000.0), []
    expected = library.energy(x, 2.0)[0]

    def work() -> None:
        found.extend(library.energy(x, 2.0)[0] for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 200


def test_no_llvm_is_loaded(forms: Path) -> None:
    # Without the package's own `__init__`, which may import anything.
    program = (
        "import sys, types\n"
        "package = sys.modules['chadllvm'] = types.ModuleType('chadllvm')\n"
        f"package.__path__ = {list(cl.__path__)!r}\n"
        "from chadllvm.api.exporting import load\n"
        f"assert load({str(forms)!r}).line(3.0, 1.0) == 10.0\n"
        "sys.exit(any(name.startswith('llvmlite') for name in sys.modules))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# ---- bad files


def test_a_truncated_library_is_refused(forms: Path, tmp_path: Path) -> None:
    content = (forms / "libforms.so").read_bytes()
    for parts in range(16):
        file = tmp_path / f"lib{parts}.so"
        file.write_bytes(content[: len(content) * parts // 16])
        with pytest.raises(ImportError, match=r"whole|no library|damaged"):
            cl.load(file)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    foreign = next(Path(cl.__file__).parent.glob("libchad_rt.*"))
    with pytest.raises(ImportError, match="no library that chadllvm"):
        cl.load(foreign)
    with pytest.raises(FileNotFoundError):
        cl.load(tmp_path / "missing.so")


def test_another_version_is_refused(forms: Path, tmp_path: Path) -> None:
    content = (forms / "libforms.so").read_bytes()
    abi = b'{"abi":%d,' % ABI
    cases = [
        (abi, b'{"abi":7,', "has version 7"),
        (b'"interface":"0x', b'"interface":"0z', "damaged"),
        (abi, abi.replace(b":", b"!"), "damaged"),
    ]
    # A file that is loaded is never written to: each is one of its own.
    for number, (old, new, message) in enumerate(cases):
        assert content.count(old) == 1
        file = tmp_path / f"lib{number}.so"
        file.write_bytes(content.replace(old, new))
        with pytest.raises(ImportError, match=message):
            cl.load(file)


def test_a_manifest_of_another_library_is_refused(forms: Path, tmp_path: Path) -> None:
    content = (forms / "libforms.so").read_bytes()
    at = content.index(b'"interface":"0x') + 15
    other = b"1" if content[at : at + 1] != b"1" else b"2"
    file = tmp_path / "libforms.so"
    file.write_bytes(content[:at] + other + content[at + 1 :])
    with pytest.raises(ImportError, match="has changed since it was exported"):
        cl.load(file)
    with pytest.raises(ImportError, match="not that of its manifest"):
        cl.load(file, digest=sha256(file))


# ---- changed files


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture()
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library may be loaded: its constructors would run."""

    def refuse(*_: Any) -> None:
        raise AssertionError("the library is loaded")

    monkeypatch.setattr(cffi.FFI, "dlopen", refuse)


def test_bytes_that_changed_are_noticed(
    forms: Path, tmp_path: Path, unloaded: None
) -> None:
    content = (forms / "libforms.so").read_bytes()
    file = tmp_path / "libforms.so"
    places = [*range(0, len(content), len(content) // 40), len(content) - 64]
    for place in places:
        for changed in (bytes(64), b"\xcc" * 64, content[place : place + 64][::-1]):
            made = content[:place] + changed + content[place + 64 :]
            if made[: len(content)] == content:
                continue
            file.write_bytes(made)
            with pytest.raises(ImportError):
                cl.load(file)


def test_one_bit_anywhere_is_noticed(
    forms: Path, tmp_path: Path, unloaded: None
) -> None:
    content, noise = (forms / "libforms.so").read_bytes(), random.Random(0)
    file = tmp_path / "libforms.so"
    digest = content.index(b'"digest":"') + 10
    anywhere = noise.choices(range(len(content)), k=99)
    for place in (0, 16, digest, digest + 63, *anywhere):
        changed = bytearray(content)
        changed[place] ^= 1 << noise.randrange(8)
        file.write_bytes(changed)
        with pytest.raises(ImportError):
            cl.load(file)


@pytest.mark.parametrize("more", [b"\0", b"chadllvm library: {}\0"])
def test_bytes_behind_the_end_are_noticed(
    more: bytes, forms: Path, tmp_path: Path, unloaded: None
) -> None:
    file = tmp_path / "libforms.so"
    file.write_bytes((forms / "libforms.so").read_bytes() + more)
    with pytest.raises(ImportError, match="has changed since it was exported"):
        cl.load(file)


def test_a_manifest_of_another_file_is_no_manifest(
    forms: Path, tmp_path: Path, unloaded: None
) -> None:
    """All of the manifest that another library has, its digest included."""
    other = tmp_path / "libforms"
    cl.export({"line": FUNCTIONS["line"]}, other)
    mine, its = (text_of(folder / "libforms.so") for folder in (forms, other))
    assert mine != its
    content = (forms / "libforms.so").read_bytes()
    file = tmp_path / "libforms.so"
    file.write_bytes(content.replace(mine, its.ljust(len(mine))))
    with pytest.raises(ImportError, match="has changed since it was exported"):
        cl.load(file)


def text_of(file: Path) -> bytes:
    content = file.read_bytes()
    start = content.index(MARK.encode())
    return content[start : content.index(b"\0", start)]


@pytest.mark.parametrize("tool", ["strip", "objcopy --strip-debug"])
def test_a_stripped_library_is_accepted_by_its_digest(
    tool: str, forms: Path, tmp_path: Path
) -> None:
    file = tmp_path / "libforms.so"
    file.write_bytes((forms / "libforms.so").read_bytes())
    subprocess.run([*tool.split(), str(file)], check=True)
    with pytest.raises(ImportError, match="strip, patchelf or the like") as caught:
        cl.load(file)
    assert f"cl.load(path, digest={sha256(file)!r})" in str(caught.value)
    assert cl.load(file, CLASSES, digest=sha256(file).upper()).line(3.0, 1.0) == 10.0
    with pytest.raises(ImportError, match="has the SHA-256"):
        cl.load(file, digest="0" * 64)


def test_a_library_linked_by_hand_is_accepted_by_its_digest(tmp_path: Path) -> None:
    functions = {"line": FUNCTIONS["line"]}
    made = cl.export(functions, tmp_path / "libhand", kind="object")
    file = made.parent / "libhand.so"
    sources = [str(made), str(made.with_suffix(".c"))]
    subprocess.run(["cc", "-shared", "-fPIC", *sources, "-lm", "-o", file], check=True)
    with pytest.raises(ImportError, match="was linked from exported objects"):
        cl.load(file)
    assert cl.load(file, digest=sha256(file)).line(3.0, 1.0) == 10.0


def test_a_library_that_is_not_sealed_is_that_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those for macOS are, which the linker has signed."""
    monkeypatch.setattr(Bundle, "_seal", lambda *_: None)
    functions = {"line": FUNCTIONS["line"]}
    file = cl.export(functions, tmp_path / "libline")
    assert cl.load(file).line(3.0, 1.0) == 10.0
    content = file.read_bytes()
    file.unlink()  # A file that is loaded is never written to.
    middle = len(content) // 2
    reverse = content[middle : middle + 64].translate(bytes(range(255, -1, -1)))
    file.write_bytes(content[:middle] + reverse + content[middle + 64 :])
    with pytest.raises(ImportError, match="nothing tells whether it is whole"):
        cl.load(file)
    file.write_bytes(content)
    (file.parent / SIGN).write_text("[]")
    with pytest.raises(ImportError, match="nothing tells whether it is whole"):
        cl.load(file)


def test_the_manifest_lists_types_and_hashes(forms: Path) -> None:
    made = json.loads((forms / "chadllvm.json").read_text())
    found = {f["name"]: f for f in made["functions"]}
    assert found.keys() == FUNCTIONS.keys()
    assert found["energy"]["params"] == [
        ["x", ["array", "f64", 1]],
        ["stiffness", "f64"],
    ]
    assert found["energy"]["workspace"] and found["energy"]["log_density"]
    assert not found["positive"]["workspace"]
    for name, digest in made["files"].items():
        assert sha256(forms / name) == digest


def test_a_library_with_openmp_gives_the_same(library: Any, tmp_path: Path) -> None:
    functions = {name: FUNCTIONS[name] for name in ("energy", "power")}
    threaded = cl.load(cl.export(functions, tmp_path / "libthreads", openmp=True))
    x = np.linspace(0.0, 3.0, 5000)
    value, gradient = threaded.energy(x, 2.0)
    assert value == library.energy(x, 2.0)[0]
    np.testing.assert_array_equal(gradient, library.energy(x, 2.0)[1])
    assert threaded.power(2.0, 10) == 1024.0
    assert threaded.manifest["openmp"] and not library.manifest["openmp"]
