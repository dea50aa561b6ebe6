"""The campaign of random programs covers the language, and finds what is wrong."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import WrapperDescriptorType
from typing import Any

import pytest

from chadllvm.frontend.array_functions import LIBRARY, METHODS
from chadllvm.frontend.calculus import SCIPY
from chadllvm.frontend.functions import _SCALAR_FUNCTIONS, _SPECIAL
from chadllvm.ops import PRIMS
from chadllvm.support.overloads import provided
from tests.campaign.cli import main
from tests.campaign.definitions import DEFINITIONS, HEAD
from tests.campaign.keep import again, kept, smaller
from tests.campaign.pool import Worker
from tests.campaign.program import written
from tests.campaign.table import TABLE
from tests.campaign.worker import ORACLES

DOCS = Path(__file__).parent.parent / "docs"

# Sections without a construct of their own, and why.
LEFT_OUT = {
    "The language": "the page",
    "The functions of the language": "the page",
    "Functions of arrays": "its sections have the rows",
    "Python's own functions": "rows of numbers, lists and comprehensions call them",
    "Ours": "rows of `fold` and `build`, and of what stops derivatives",
    "Type checkers": "annotations alone",
    "Results in arrays of the caller's": "calls say it, not programs",
    "Derivatives": "the oracles take them of every program",
    "Checking derivatives": "the oracles check them more closely",
    "Debugging": "an oracle",
    "Floating point": "oracles",
    "Breakpoints": "native code has none",
    "Lines for debuggers": "tables beside the code",
    "Sanitized code": "an oracle",
    "Profiles": "a variable of the environment",
    "What is refused": "nothing of it is a program",
}


def headings() -> list[str]:
    found = []
    for page in ("language.md", "functions.md"):
        text = re.sub(
            r"```.*?```", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL
        )
        found += re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return found


@pytest.mark.parametrize("heading", headings())
def test_every_section_of_the_language_has_a_row(heading: str) -> None:
    """A new section of the pages needs rows in `tests/campaign/rows`."""
    has_rows = any(row.section == heading for row in TABLE)
    assert has_rows != (heading in LEFT_OUT)


def test_rows_are_of_sections() -> None:
    assert {row.section for row in TABLE} <= set(headings())


TEXTS = "\n".join([*(row.text for row in TABLE), *DEFINITIONS.values()])
CALLED = set(re.findall(r"\w+", TEXTS))


def is_plain(function: Any) -> bool:
    """Whether rows call it by its name: not a method of a distribution, Python's, or
    what an operator means."""
    if isinstance(function, str):
        return not function.startswith("scipy.stats.")
    if isinstance(function, WrapperDescriptorType):
        return False
    module = getattr(function, "__module__", None) or ""
    return module != "builtins" and not module.startswith("chadllvm.frontend")


def last_name(function: Any) -> str:
    """The name that a function is called by, after the last dot."""
    name = function if isinstance(function, str) else function.__name__
    return str(name).rpartition(".")[2]


def functions() -> list[str]:
    """The names of all functions that compiled code may call."""
    found = {row.function.__name__ for row in LIBRARY if row.function is not None}
    found |= {*METHODS, *SCIPY, *map(last_name, filter(is_plain, provided()))}
    found |= {f.__name__ for table in (_SCALAR_FUNCTIONS, _SPECIAL) for f, _ in table}
    found |= {n.rpartition(".")[2] for p in PRIMS.values() for n in p.names}
    return sorted(found - {"bool"})


@pytest.mark.parametrize("name", functions())
def test_every_function_is_called_by_a_row(name: str) -> None:
    """A new function needs a template in `tests/campaign/rows`."""
    assert name in CALLED


def test_every_row_is_written() -> None:
    """No row is dead: each is in some program, all of which are Python."""
    missing = {row.name for row in TABLE}
    for seed in range(8000):
        program = written(seed)
        missing -= program.constructs
        if seed < 200:
            ast.parse(program.text)
        if not missing:
            break
    assert not missing


def test_a_seed_is_a_program() -> None:
    assert written(17) == written(17) != written(18)


def test_some_programs(tmp_path: Path) -> None:
    """A few whole programs agree in all ways; the results are kept in the file."""
    file = tmp_path / "results.jsonl"
    command = ["--programs", "3", "--seed", "40", "--jobs", "1", "--resume", str(file)]
    assert main(command) == 0
    assert len(file.read_text().splitlines()) == 3
    assert main(command) == 0  # There is nothing left to do.


# The derivative of one function has the wrong sign, in both modes.
FAULT = """
from chadllvm import ops
from chadllvm.ir.op import PRIMS
from tests.campaign.worker import answer

prim = PRIMS["atan"]
right = prim.transpose


def wrong(b, args, r, ct):
    return right(b, args, r, b.prim("neg", ct))


object.__setattr__(prim, "transpose", wrong)
"""

PROGRAM = f"""{HEAD}

@cl.jit
def softplus(x: float) -> float:
    return max(x, 0.0) + math.log(1.0 + math.exp(-abs(x)))


@cl.jit
def f(x: float, k: int, a: cl.f64[:]) -> float:
    s = 0.0
    for i in range(k):
        if a[i % len(a)] > 0.0:
            s += a[i % len(a)] * softplus(x)
        else:
            s = 0.5 * s
    u = a * 2.0
    t = np.sum(u * math.atan(x)) + s
    return t + sum(v * v for v in a)


ARGS = (0.7, 4, np.array([0.5, -1.0, 2.0]))
FLAGS = frozenset()
"""


def test_a_seeded_fault_is_found_and_minimised(tmp_path: Path) -> None:
    """Differences find a wrong sign, and hardly more than the function is left."""
    oracle = "gradient/differences"
    assert again(PROGRAM, oracle)[0] == "agrees"
    found = again(PROGRAM, oracle, Worker(prelude=FAULT))
    assert found[0] == "differs"
    small = smaller(PROGRAM, oracle, found, 60.0, Worker(prelude=FAULT))
    (entry,) = (n for n in ast.parse(small).body if isinstance(n, ast.FunctionDef))
    assert "atan" in ast.unparse(entry)
    assert len(ast.unparse(entry).splitlines()) <= 5
    file = kept(tmp_path, 7, oracle, found, small)
    assert file.name == "gradient_differences_7.py"
    assert again(file.read_text(), oracle)[0] == "agrees"  # The fault is mended.


def test_a_crash_is_a_finding() -> None:
    """A worker that dies says where; the other oracles are asked in another one."""
    fatal = FAULT.replace("prim =", "import os, tests.campaign.oracles as o\nprim =")
    fatal += "o.outcome = lambda call, seconds=0: os._exit(3)\n"
    request = {"text": PROGRAM, "oracles": ["interpreter", "work"], "every": True}
    with Worker(prelude=fatal) as worker:
        answer = worker.ask(request)
    assert answer["found"]["interpreter"] == ["crash", "exit 3"]
    assert answer["found"]["work"][0] == "agrees"


def test_oracles_have_names_of_their_own() -> None:
    assert len({each.name for each in ORACLES}) == len(ORACLES) == 17
