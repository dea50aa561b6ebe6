"""Every Python snippet of README.md and docs/ is run, each file in one namespace.

A snippet whose first line is `# doctest: error` must fail to compile; one that starts
with `# doctest: error IndexError`, say, must fail with that exception.
"""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from types import ModuleType

import pytest
from snippets import FAILS, SNIPPET, run

import chadllvm as cl

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(page, tmp_path, monkeypatch)


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the snippets of a page; files that they write go to the folder."""
    monkeypatch.chdir(folder)
    # A module, since classes look up the one that they are defined in.
    module = ModuleType(f"snippets of {page.name}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    namespace = vars(module)
    snippets = SNIPPET.findall(page.read_text(encoding="utf-8"))
    for number, snippet in enumerate(snippets, start=1):
        name = f"<{page.name}, snippet {number}>"
        failure = FAILS.match(snippet)
        if failure is None:
            run(snippet, name, namespace)
            continue
        expected = getattr(builtins, failure[1]) if failure[1] else cl.CompileError
        with pytest.raises(expected):
            run(snippet, name, namespace)


def test_pages_have_snippets() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert len(SNIPPET.findall(text)) == text.count("```python") > 0
