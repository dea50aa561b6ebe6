"""`chadllvm explain`: each code has a rule, and examples that do what they say."""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from snippets import SNIPPET

from chadllvm.cli import main
from chadllvm.cli.rules import rules
from chadllvm.frontend import signature, specialise
from chadllvm.support.diagnostic import CompileError
from tests.all_rules import RULES

DOCS = Path(__file__).parents[1] / "docs" / "errors"

# What the examples take for granted.
(PREAMBLE,) = SNIPPET.findall((DOCS / "index.md").read_text(encoding="utf-8"))

# What cannot be shown by a program of a few lines.
WITHOUT_EXAMPLES = {"changed_source", "too_deep", "other_syntax", "recursion"}

EXAMPLES = [code for code in RULES if RULES[code] not in WITHOUT_EXAMPLES]


def compile_example(text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run an example, and compile its `f` for the types of its annotations."""
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, name, (len(text), None, lines, name))
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(PREAMBLE, vars(module))
    exec(compile(text, name, "exec"), vars(module))
    function = vars(module)["f"]
    plain = getattr(function, "py_func", function)
    if name.startswith("<CL18"):
        return  # That is about calls, and some of its functions have no annotations.
    types = [parameter.annotation for parameter in signature(plain)]
    if None not in types:  # Else it is called in the example.
        specialise(plain, types)


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("code", EXAMPLES)
def test_the_examples_fail_and_work(
    code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = rules()[code]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as caught:
        compile_example(told.fails, f"<{code} fails>", monkeypatch)
    error: Any = caught.value
    if isinstance(error, CompileError):
        assert [d.code for d in error.diagnostics] == [code]
    else:
        assert error.code == code and code in error.__notes__[-1]
    compile_example(told.works, f"<{code} works>", monkeypatch)


def test_every_rule_is_told() -> None:
    assert [*rules()] == sorted(RULES)
    for code, rule in rules().items():
        assert rule.title[-1] not in ".:", code
        is_shown = RULES[code] not in WITHOUT_EXAMPLES
        assert bool(rule.fails) == bool(rule.works) == is_shown, code


def test_a_page_holds_one_family() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    pages = sorted(DOCS.glob("[0-9]*.md"))
    assert len({rule.family for rule in rules().values()}) == len(pages)
    for page in pages:
        family, text = page.name[:2], page.read_text(encoding="utf-8")
        codes = [line[3:9] for line in text.splitlines() if line.startswith("## ")]
        assert codes == [code for code in sorted(RULES) if code[2:4] == family]
        title = text.partition("\n")[0].removeprefix("# ")
        assert f"| CL{family}… | [{title}]({page.name}) |" in index


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    for code in ("CL0307", "cl0307", "0307"):
        assert main(["explain", code]) == 0
        text = capsys.readouterr().out
        assert text.startswith("CL0307: A variable that is read after an `if` needs")
        assert "Fails:" in text
        assert "Works:" in text


def test_the_list_has_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {code}  {rule.title}.\n" in text for code, rule in rules().items())


def test_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "CL03070"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no code 'CL03070'; close to it are CL0307" in captured.err
    assert main(["explain", "nonsense"]) == 2
    assert "close" not in capsys.readouterr().err


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "chadllvm", "explain", "CL9999"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("chadllvm: there is no code 'CL9999'")
    assert "Traceback" not in done.stderr
    # All rules are known where nothing else is loaded.
    found = subprocess.run([*command[:-1], "--list"], capture_output=True, text=True)
    assert all(code in found.stdout for code in RULES)
