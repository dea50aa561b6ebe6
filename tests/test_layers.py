"""Each part of the package may import only what stands above it in the layout."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "chadllvm"

LAYERS = (
    "_version", "diagnostic", "view", "codes", "call_rules", "deep", "forking",
    "frames", "levels", "options", "texts", "twins", "overloads", "library", "linalg",
    "hashed", "ir", "errors", "defects", "shape", "derivative_kinds", "ops", "frontend",
    "chad", "closure", "simplify", "checks", "lower", "llvm", "watch", "request",
    "backend", "threads", "pipeline", "report", "values", "prints", "border",
    "boundary", "filled", "copying", "crossing", "plan", "arguments", "anatomy",
    "reach", "objects", "shelf", "portable", "updating", "frozen", "told", "ready",
    "scaling", "specialising", "shown", "signatures", "taking", "exported", "pointer",
    "compiled", "bound", "api", "custom", "written", "placed", "tangent_plan",
    "tangents", "exporting", "halving", "pullback", "reverse", "jacobian", "reals",
    "checking", "vectorized", "stepping", "prelude", "stats", "transforms", "interop",
    "explain", "commands", "cli", "paper",
)  # fmt: skip

# The package itself and `python -m chadllvm` stand outside: they may import all.
OUTSIDE = ("__init__", "__main__")

USERS_OF_LLVMLITE = ("llvm", "backend")


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports_at_run_time(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports below a node, in functions too, but those for the type checker."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    elif isinstance(node, ast.If) and is_type_checking(node.test):
        for child in node.orelse:
            yield from imports_at_run_time(child)
    else:
        for child in ast.iter_child_nodes(node):
            yield from imports_at_run_time(child)


def imported_modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the absolute name of each module, or name in it, imported."""
    for node in imports_at_run_time(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        else:
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield node.lineno, str(node.module)
            if node.module == "chadllvm":
                yield from ((node.lineno, f"chadllvm.{a.name}") for a in node.names)


def layer_of(name: str) -> str:
    parts = name.split(".")
    return parts[1] if parts[0] == "chadllvm" and len(parts) > 1 else ""


def violations(path: Path) -> Iterator[str]:
    here = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if here in OUTSIDE:
        return
    allowed = LAYERS[: LAYERS.index(here) + 1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for line, name in imported_modules(tree):
        layer = layer_of(name)
        if layer and layer not in allowed:
            yield f"{path}:{line}: {here} imports {name}, which stands below it"
        if name.split(".")[0] == "llvmlite" and here not in USERS_OF_LLVMLITE:
            yield f"{path}:{line}: only llvm/ and backend/ may import llvmlite"


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_the_layers_are_all_there_is() -> None:
    found = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in modules()}
    assert found <= {*LAYERS, *OUTSIDE}


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
        "    import chadllvm.api\n"
        "def late():\n"
        "    import llvmlite.binding\n"
    )
    lines = [message.split(":")[1] for message in violations(source)]
    assert lines == ["2", "6"]
