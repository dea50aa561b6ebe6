"""How large the compiler is, how much it does, and how much of it is told in prose.

    python -m tests.budget             the table: each measure, its limit and its goal
    python -m tests.budget --lower     move the limits in budget.toml to the measures

Every measure is a count that is the same on each machine: nothing is timed.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import chadllvm as cl
from chadllvm.driver import passes as tables
from chadllvm.driver import pipeline
from chadllvm.driver.pipeline import Gradient, compile_program
from chadllvm.frontend import specialise
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.term import Function, Program
from chadllvm.ir.types import F64, Array

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "chadllvm"
CEILINGS = Path(__file__).with_name("budget.toml")

# Measures of which more is better.
FLOORS = ("docstrings.percent",)

# Room for what depends on the version of Python, and for the lines of a mended defect.
_ROOM = {
    "traversals": 0.05,
    "lines.executed.per.node": 0.05,
    "modules.imported": 0.05,
    "lines": 0.01,
    "nodes": 0.01,
}

# A limit follows its measure when they are so far apart.
_SLACK = 0.1

# Folders that are no part of the compiler: its proofs, what is written in its language,
# and glue to other packages.
BESIDE = ("paper", "prelude", "stats", "interop")

# The folders that hold numeric thresholds and passes.
_COMPILER = ("simplify", "closure", "lower", "llvm")

# Words that put one pass before or after another.
_ORDER = re.compile(
    r"\b(after|afterwards|before|behind|in front of|first|later|earlier|last)\b", re.I
)


# ---- size ------------------------------------------------------------------------


@cache
def _modules() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


def parsed(text: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(text)


@cache
def _tree(path: Path) -> ast.Module:
    return parsed(path.read_text())


def _folder(path: Path) -> str:
    """The folder of a module in the package; `top` for those that are in none."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "top"


def sizes() -> Iterator[tuple[str, int]]:
    """Files, lines and syntax-tree nodes of each folder, and of the whole compiler."""
    found: dict[str, list[int]] = {}
    for path in _modules():
        size = (1, len(path.read_text().splitlines()), len([*ast.walk(_tree(path))]))
        folder = _folder(path)
        for name in (folder,) if folder in BESIDE else (folder, "all"):
            total = found.setdefault(name, [0, 0, 0])
            total[:] = [n + m for n, m in zip(total, size, strict=True)]
    sources = [p for p in sorted((ROOT / "runtime_c").rglob("*.[ch]"))]
    lines = sum(len(p.read_text().splitlines()) for p in sources)
    yield from (("files.runtime_c", len(sources)), ("lines.runtime_c", lines))
    for folder, counts in sorted(found.items()):
        for name, count in zip(("files", "lines", "nodes"), counts, strict=True):
            yield f"{name}.{folder}", count


# ---- what is written -------------------------------------------------------------


def written() -> Iterator[tuple[str, int]]:
    """Thresholds, sentences about the order of passes, tables, docstrings, walks."""
    compiler = [path for path in _modules() if _folder(path) in _COMPILER]
    yield "thresholds", sum(thresholds(_tree(path)) for path in compiler)
    yield "walks", sum(walks(_tree(path)) for path in compiler)
    placed = [*compiler, PACKAGE / "driver" / "passes.py"]
    yield "order.sentences", sum(map(_order_sentences, placed))
    tables = sum(cost_tables(_tree(path)) for path in _modules())
    yield "cost.tables", tables + any(_has_costs(_tree(p)) for p in _modules())
    yield "docstrings.percent", _documented()


def thresholds(tree: ast.Module) -> int:
    """Numbers that a module names at its top."""
    found = 0
    for node in tree.body:
        match node:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                parts = value.elts if isinstance(value, ast.Tuple) else [value]
                found += sum(map(_is_number, parts))
    return found


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp(left, ast.LShift() | ast.Mult() | ast.Pow(), right):
            return _is_number(left) and _is_number(right)
        case _:
            return False


def walks(tree: ast.Module) -> int:
    """`match` statements that tell at least three kinds of nodes apart."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
    return sum(
        sum(isinstance(case.pattern, ast.MatchClass) for case in node.cases) >= 3
        for node in statements
    )


def cost_tables(tree: ast.Module) -> int:
    """Tables of a number for each of several operations, at the top of a module."""
    tables = [getattr(node, "value", None) for node in tree.body]
    return sum(isinstance(one, ast.Dict) and _is_cost_table(one) for one in tables)


def _has_costs(tree: ast.Module) -> bool:
    """Whether rows of operations have costs: all of them are one table."""
    codes = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "code"
    ]
    return any(
        isinstance(code, ast.Call) and any(map(_is_number, code.args)) for code in codes
    )


def _is_cost_table(table: ast.Dict) -> bool:
    """Whether operations have numbers, one each or one for several (`fromkeys`)."""
    names = {node.value for node in ast.walk(table) if isinstance(node, ast.Constant)}
    numbers = all(map(_is_cost, table.values))
    return numbers and len(names & {"add", "mul", "div", "sqrt", "exp", "gcd"}) >= 2


def _is_cost(value: ast.expr) -> bool:
    match value:
        case ast.Name(name):
            return name.isupper()
        case ast.BinOp(left, _, right):
            return _is_cost(left) and _is_cost(right)
        case ast.Call(ast.Attribute(attr="fromkeys"), [_, number]):
            return _is_cost(number)
        case _:
            return _is_number(value)


def _order_sentences(path: Path) -> int:
    """Sentences of comments and docstrings that name a pass and what comes when."""
    names = "|".join(sorted(passes()[0] | passes()[1]))
    named = re.compile(rf"`(?:{names})(?:\.py)?`")
    texts = [*_docstrings(_tree(path)), *_comments(path)]
    sentences = [s for text in texts for s in re.split(r"(?<=[.:;])\s+", text)]
    return sum(bool(named.search(s) and _ORDER.search(s)) for s in sentences)


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def _comments(path: Path) -> Iterator[str]:
    """The comments of a file, each with the lines that go on with it."""
    with path.open("rb") as file:
        tokens = [*tokenize.tokenize(file.readline)]
    text, last = "", -2
    for token in tokens:
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            if line != last + 1:
                yield text
                text = ""
            text, last = f"{text} {token.string.lstrip('# ')}", line
    yield text


def _documented() -> int:
    """How many of the compiler's public things have a docstring, in percent.

    Rules have none: `docs/errors/` tells them, which a test demands.
    """
    paths = [path for path in _modules() if _folder(path) not in BESIDE[1:]]
    found = [one for path in paths for one in _public(_tree(path))]
    return (
        100 * sum(ast.get_docstring(node) is not None for node in found) // len(found)
    )


def _public(
    node: ast.Module | ast.ClassDef,
) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    yield node
    for part in node.body:
        if isinstance(part, ast.ClassDef) and not part.name.startswith("_"):
            yield from _public(part)
        elif isinstance(part, ast.FunctionDef) and _tells_its_own(part):
            yield part


def _tells_its_own(function: ast.FunctionDef) -> bool:
    """Whether a function is public, and no rule."""
    decorators = (ast.unparse(d) for d in function.decorator_list)
    is_rule = any(d.startswith(("code(", "exception(")) for d in decorators)
    return not is_rule and not function.name.startswith("_")


# ---- passes and work -------------------------------------------------------------


def passes() -> tuple[frozenset[str], frozenset[str]]:
    """The names of the passes of the core and of those of the loops."""
    groups = [value for value in vars(tables).values() if _is_passes(value)]
    loops = frozenset(name for name, _ in tables.LOOPS)
    return frozenset(name for group in groups for name, _ in group) - loops, loops


def _is_passes(value: object) -> bool:
    """Whether this is a sequence of passes, each a name and a function."""
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(
            isinstance(one, tuple) and len(one) == 2 and callable(one[1])
            for one in value
        )
    )


def example(x: cl.f64[:], w: cl.f64[:, :], k: float) -> float:
    """Loops, a branch, a state, arrays and products: a program as people write them."""
    total = 0.0
    for i in range(len(x)):
        if x[i] > k:
            total += x[i] * x[i]
        y = [x[j] * w[i, j] + k for j in range(len(x))]
        for j in range(1, len(x)):
            total = total * 0.5 + y[j] * y[j - 1]
    return total


def work() -> Iterator[tuple[str, int]]:
    """What a gradient's compilation does."""
    core, loops = passes()
    yield "passes.core", len(core)
    yield "passes.loops", len(loops)
    program = specialise(example, [Array(F64, 1), Array(F64, 2), F64])
    with _stages() as entered:
        _compile(program)
    yield "applications", sum(name in core | loops for name in entered)
    yield "traversals", _counted(program, _given_whole)
    nodes = len([*ast.walk(_definition(example))])
    yield "lines.executed.per.node", _counted(program, lambda _, __: True) // nodes
    yield "modules.imported", _imported()


def _definition(function: Callable[..., Any]) -> ast.AST:
    name = function.__name__
    tree = ast.parse(Path(__file__).read_text())
    return next(
        n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name
    )


def _compile(program: Program) -> None:
    options = cl.CompileOptions(verify=False)
    compile_program(program, Gradient((0, 1)), lambda function: function, options)


@contextmanager
def _stages() -> Iterator[list[str]]:
    """The names of the stages that are entered meanwhile."""
    entered: list[str] = []
    stage: Any = vars(pipeline)["stage"]

    def recorded(name: str, *args: Any, **kwargs: Any) -> Any:
        entered.append(name)
        return stage(name, *args, **kwargs)

    with patch.object(pipeline, "stage", recorded):
        yield entered


def _given_whole(frame: FrameType, event: str) -> bool:
    """Whether this is a call with the whole program among its arguments."""
    if event != "call":
        return False
    count = frame.f_code.co_argcount
    given = [frame.f_locals.get(name) for name in frame.f_code.co_varnames[:count]]
    return any(isinstance(value, Program | Function | LoopFunction) for value in given)


def _counted(program: Program, counts: Callable[[FrameType, str], bool]) -> int:
    """How many of the events of a compilation count: calls and lines executed."""
    _compile(program)
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += counts(frame, event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        _compile(program)
    finally:
        sys.settrace(before)
    return count


def _imported() -> int:
    """The modules of the package that a first gradient imports."""
    code = (
        "import sys, numpy as np, chadllvm as cl\n"
        "from tests.budget import example\n"
        "before = set(sys.modules)\n"
        "cl.grad(example)(np.ones(3), np.ones((3, 3)), 0.5)\n"
        "print(sum(n.startswith('chadllvm') for n in sys.modules))"
    )
    run = [sys.executable, "-c", code]
    cold = {**os.environ, "CHADLLVM_CACHE": "0"}
    done = subprocess.run(
        run, cwd=ROOT, env=cold, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


# ---- ceilings --------------------------------------------------------------------


def measures() -> dict[str, int]:
    """Every measure by its name."""
    return dict((*sizes(), *written(), *work()))


def budget() -> dict[str, dict[str, int]]:
    """Of each measure its limit, and of some where it began and its goal."""
    return tomllib.loads(CEILINGS.read_text())


def exceeded(name: str, found: int, limit: int) -> bool:
    """Whether a measure is on the wrong side of its limit."""
    return found < limit if name in FLOORS else found > limit


def is_loose(name: str, found: int, limit: int) -> bool:
    """Whether a limit is so far from its measure that it must follow it."""
    return abs(found - limit) > max(_SLACK * limit, 1) and not exceeded(
        name, found, limit
    )


def room(name: str) -> float:
    """How far a limit may stand above its measure."""
    return _ROOM.get(name, _ROOM.get(name.split(".")[0], 0.0))


def _followed(name: str, found: int, limits: dict[str, int]) -> dict[str, int]:
    """The limit moved to what is found, if that is better."""
    limit = limits.get("limit")
    new = round(found * (1.0 + room(name)))
    if limit is not None and not exceeded(name, limit, new):
        new = limit
    return {**limits, "limit": new}


def _write(found: dict[str, int], limits: dict[str, dict[str, int]]) -> None:
    """The limits, moved to what is found where that is better."""
    lines = []
    for name, count in found.items():
        row = _followed(name, count, limits.get(name, {}))
        fields = ", ".join(f"{key} = {row[key]}" for key in sorted(row))
        lines.append(f'"{name}" = {{ {fields} }}')
    head = [line for line in CEILINGS.read_text().splitlines() if line.startswith("#")]
    CEILINGS.write_text("\n".join([*head, "", *lines, ""]))


def main() -> None:
    """Print the table, and move the limits if that is asked for."""
    parser = argparse.ArgumentParser(description="The compiler's budget.")
    parser.add_argument("--lower", action="store_true", help="lower the ceilings")
    lower = parser.parse_args().lower
    found = measures()
    if lower:
        _write(found, budget())
    print(f"{'':28}{'start':>9}{'limit':>9}{'now':>9}{'goal':>9}")
    for name, count in found.items():
        row = {"now": count, **budget().get(name, {})}
        columns = [row.get(key, "") for key in ("start", "limit", "now", "goal")]
        print(f"{name:28}" + "".join(f"{one:>9}" for one in columns))


if __name__ == "__main__":
    main()
