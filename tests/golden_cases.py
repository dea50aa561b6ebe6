"""Golden files of cases: a program of the core, and what becomes of it.

[case name]
def main(…) { … }
[out]
…
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from chadllvm.ir.check import check
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Program

CASE = re.compile(r"\[case (\w+)\]\n(.*?)\n\[out\]\n.*?(?=\[case|\Z)", re.DOTALL)


def check_cases(
    path: Path, run: Callable[[str, Program], str], golden: Callable[[Path, str], None]
) -> None:
    """Compare the outcome of each case, `run(name, program)`, with the file's."""
    texts = []
    text = path.read_text(encoding="utf-8")
    cases = CASE.findall(text)
    assert len(cases) == text.count("[case") > 0, "a case without a name of one word"
    for title, source in cases:
        program = parse(source)
        check(program, after=title)
        texts.append(f"[case {title}]\n{source}\n[out]\n{run(title, program)}\n")
    golden(path, "\n".join(texts))
