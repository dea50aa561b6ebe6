"""Each part of the package may import only what stands above it in the layout."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "chadllvm"

LAYERS = (
    "_version", "support", "view", "ir", "errors", "ops", "chad", "checks", "closure",
    "frontend", "simplify", "lower", "llvm", "backend", "driver", "paper", "api",
    "cli", "prelude", "interop", "stats", "transforms",
)  # fmt: skip

# The package itself and `python -m chadllvm` stand outside: they may import all.
OUTSIDE = ("__init__", "__main__")

# What the type checker may import from below: an operation is given the transformation
# that it is a rule of, and what is kept of a program is made of what users call.
FOR_TYPES = {"ir": "chad", "ops": "chad", "driver": "api"}

USERS_OF_LLVMLITE = ("llvm", "backend")


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports(
    node: ast.AST, for_types: bool = False
) -> Iterator[tuple[bool, ast.Import | ast.ImportFrom]]:
    """All imports below a node, in functions too; which are for the type checker."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield for_types, node
    elif isinstance(node, ast.If) and is_type_checking(node.test):
        for child in node.body:
            yield from imports(child, True)
        for child in node.orelse:
            yield from imports(child, for_types)
    else:
        for child in ast.iter_child_nodes(node):
            yield from imports(child, for_types)


def imported_modules(tree: ast.Module) -> Iterator[tuple[bool, int, str]]:
    """The line and the absolute name of each module, or name in it, imported."""
    for for_types, node in imports(tree):
        if isinstance(node, ast.Import):
            yield from ((for_types, node.lineno, alias.name) for alias in node.names)
        else:
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield for_types, node.lineno, str(node.module)
            if node.module == "chadllvm":
                for alias in node.names:
                    yield for_types, node.lineno, f"chadllvm.{alias.name}"


def layer_of(name: str) -> str:
    parts = name.split(".")
    return parts[1] if parts[0] == "chadllvm" and len(parts) > 1 else ""


def violations(path: Path) -> Iterator[str]:
    here = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if here in OUTSIDE:
        return
    allowed = LAYERS[: LAYERS.index(here) + 1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for for_types, line, name in imported_modules(tree):
        layer = layer_of(name)
        is_known = layer in allowed or (for_types and FOR_TYPES.get(here) == layer)
        if layer in LAYERS and not is_known:
            yield f"{path}:{line}: {here} imports {name}, which stands below it"
        if name.split(".")[0] == "llvmlite" and here not in USERS_OF_LLVMLITE:
            yield f"{path}:{line}: only llvm/ and backend/ may import llvmlite"


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_the_layers_are_all_there_is() -> None:
    found = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in modules()}
    assert found == {*LAYERS, *OUTSIDE}
    loose = {path.stem for path in PACKAGE.glob("*.py")}
    assert loose == {*OUTSIDE, "_version"}


def test_imports_point_up() -> None:
    assert [message for path in modules() for message in violations(path)] == []


def test_a_violation_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    source = tmp_path / "ir" / "bad.py"
    source.parent.mkdir()
    source.write_text(
        "from typing import TYPE_CHECKING\n"
        "from chadllvm import chad\n"
        "if TYPE_CHECKING:\n"
        "    import chadllvm.api.transforms\n"
        "    import chadllvm.chad.transform\n"
        "def late():\n"
        "    import llvmlite.binding\n"
    )
    lines = [message.split(":")[1] for message in violations(source)]
    assert lines == ["2", "4", "7"]
