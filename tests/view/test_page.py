"""The page of a compilation: its lines, their links, and that nothing breaks it."""

from __future__ import annotations

import inspect
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver.shown import STAGES
from chadllvm.ir.pretty import Line, pretty, pretty_lines

OPTIONS = cl.CompileOptions(cache=False)


def weight(v: float) -> float:
    """A comment that ends scripts: </script><b>&amp;"""
    return math.exp(-v * v)


@cl.jit(options=OPTIONS)
def decay(x: cl.f64[:], k: float) -> float:
    state = x[0]  # <img src=x onerror=alert(1)>
    for i in range(1, len(x)):
        state = k * state + weight(x[i])
    return state


class Reader(HTMLParser):
    """Reads the lines of a page, with what links them."""

    VOID = ("meta", "br", "img", "tr", "td", "th")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self.lines: list[tuple[str, str, str]] = []
        self.notes: list[tuple[str, str]] = []
        self.tags: set[str] = set()
        self.scripts = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        around = [found for _, found in self.open]
        tag, own = self.open[-1] if self.open else ("", {})
        place = next((a["id"] for a in reversed(around) if a.get("id")), "") or ""
        self.sections[place] = self.sections.get(place, "") + data
        if tag == "script":
            self.scripts += data
        if own.get("class") == "l":
            self.lines.append((place, own.get("data-at") or "", data.rstrip("\n")))
        if str(own.get("class")).startswith("note"):
            before = self.lines[-1][1]
            self.notes.append((before, data))

    def of(self, place: str) -> dict[str, list[str]]:
        """The lines of a pane, by what links them."""
        found: dict[str, list[str]] = {}
        for where, at, text in self.lines:
            if where == place:
                found.setdefault(at, []).append(text.strip())
        return found


@pytest.fixture(scope="module")
def page() -> str:
    return str(cl.value_and_grad(decay).view())


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    return Reader(page)


def line_of(function: object, text: str) -> int:
    lines, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_every_line_is_there(read: Reader) -> None:
    derivative = cl.value_and_grad(decay)
    for function in (decay.py_func, weight):
        for line in inspect.getsource(function).splitlines():
            assert line.strip() in read.sections["source"]
    for stage in STAGES[1:]:
        shown = read.sections[f"stage-{stage}"]
        assert shown.rstrip("\n") == str(derivative.show(stage)).rstrip("\n")


def test_lines_are_linked(read: Reader) -> None:
    source, core = read.of("source"), read.of("stage-core")
    update = f"0:{line_of(decay.py_func, 'state = k')}"
    assert source[update] == ["state = k * state + weight(x[i])"]
    assert [line for line in core[update] if "mul(k, state" in line]
    assert not [line for line in core[update] if "exp" in line]
    weights = f"0:{line_of(weight, 'math.exp')}"
    assert [line for line in core[weights] if "exp(" in line]
    loop = f"0:{line_of(decay.py_func, 'for i')}"
    assert any("iterate(" in line for line in core[loop])
    assert "}" in core[loop]
    assert any(line.startswith("for ") for line in read.of("stage-loops")[loop])
    check = f"0:{line_of(decay.py_func, 'x[0]')}"
    assert any(line.startswith("check ") for line in read.of("stage-loops")[check])
    for stage in ("core", "chad", "simplified", "loops"):
        assert {at for at in read.of(f"stage-{stage}") if at} <= set(source)


def test_remarks_stand_below_their_lines(read: Reader) -> None:
    loop = f"0:{line_of(decay.py_func, 'for i')}"
    assert (loop, "runs in order: each step needs state of the one before") in (
        read.notes
    )
    stored = [at for at, text in read.notes if text.startswith("stores ")]
    remarks = [*cl.value_and_grad(decay).report().remarks()]
    kept = {f"0:{r.span.line}" for r in remarks if r.kind == "store"}
    assert set(stored) == kept


def test_nothing_of_the_users_is_markup(page: str, read: Reader) -> None:
    assert not read.tags & {"img", "b", "link", "iframe"}
    assert page.count("</script>") == 1
    assert "alert" not in read.scripts
    assert not re.search(r"(src|href)\s*=\s*[\"']?\s*\w+:", page.partition("<pre>")[0])
    assert "default-src 'none'" in page


def test_times_are_shown(page: str) -> None:
    bars = dict(re.findall(r'title="([^:"]+): ([\d.]+ m?s)"', page))
    assert {"pipeline", "llvm", "optimise", "machine code", "source"} <= bars.keys()
    assert "<tr><td>machine code<td>1<td>" in page
    again = str(cl.value_and_grad(decay).view())
    assert "its times are not known" in again


def test_other_modes_and_functions() -> None:
    plain = cl.jit(decay.py_func, options=cl.CompileOptions(cache=False, optimize=0))
    assert "def decay" in Reader(str(plain.view())).sections["stage-simplified"]
    doubled = cl.jit(lambda x: 2.0 * x, options=OPTIONS)
    assert "2.0 * x" in Reader(str(doubled.view(1.0))).sections["source"]
    with pytest.raises(ValueError, match="some parameters have no type"):
        cl.jit(lambda x: x, options=OPTIONS).view()


def test_each_line_of_a_program_has_its_place() -> None:
    program = decay._shown_version((), {}).compilation.stages["core"]
    lines = [*pretty_lines(program)]
    assert "\n".join(lines) == pretty(program)
    without = [x for x in lines if not isinstance(x, Line)]
    assert {x.strip().partition(" ")[0] for x in without} <= {"return", "}", ""}


# ---- notebooks -------------------------------------------------------------------


def test_notebooks_show_a_short_form() -> None:
    fresh = cl.jit(decay.py_func, options=OPTIONS)
    assert "not compiled yet" in fresh._repr_html_()
    fresh(np.ones(3), 0.5)
    card = fresh._repr_html_()
    assert "compiled decay(x: f64[:], k: f64)" in card
    assert "runs in order: each step needs state" in card
    gradient = cl.grad(fresh, (0, 1))
    gradient(np.ones(3), 0.5)
    assert "compiled gradient of decay(x: f64[:], k: f64) by x, k" in (
        gradient._repr_html_()
    )
    report = gradient.report()._repr_html_()
    for part in (card, report):
        assert len(part) < 4000
        assert Reader(part).tags <= {"div", "code", "ul", "li", "table", "tr", "td"}


def test_a_short_form_escapes() -> None:
    @cl.jit(static_argnames="mode", options=OPTIONS)
    def odd(x: cl.f64[:], mode="<b>&") -> float:  # type: ignore[no-untyped-def]
        return np.sum(x) if mode == "<b>&" else 0.0

    assert odd(np.ones(2)) == 2.0
    card = odd._repr_html_()
    assert "<b>" not in card and "&lt;b&gt;&amp;" in card


def test_a_short_form_of_what_was_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        fresh = cl.jit(decay.py_func)
        for made in (fresh, cl.grad(fresh)):
            made(np.ones(3), 0.5)
            assert "decay(x: f64[:], k: f64)" in made._repr_html_()
    (version,) = fresh._versions.values()
    assert version.is_found or not version.is_compiled
    assert "runs in order" not in fresh._repr_html_()


# ---- in a browser ----------------------------------------------------------------

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)

HOVER = """
<script>
const row = document.querySelector("#source [data-at='AT']");
row.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
document.getElementById("tab-loops").click();
const found = [...document.querySelectorAll(".lit")];
const shown = [...document.querySelectorAll("section")].filter(s => !s.hidden);
document.title = JSON.stringify([
  found.map(one => one.dataset.at), found.length, shown.map(s => s.id),
  getComputedStyle(row).backgroundColor,
]);
</script>
"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_a_browser_lights_lines_up(page: str, read: Reader, tmp_path: Path) -> None:
    at = f"0:{line_of(decay.py_func, 'state = k')}"
    place = tmp_path / "page.html"
    place.write_text(page.replace("</body>", HOVER.replace("AT", at) + "</body>"))
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run(
        [*command, f"--user-data-dir={tmp_path / 'profile'}", place.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    count = sum(where == at for _, where, _ in read.lines)
    lit = ",".join([f'"{at}"'] * count)
    title = re.search("<title>(.*?)</title>", done.stdout)
    assert title is not None
    assert title[1].startswith(f'[[{lit}],{count},["stage-loops"],"rgb(')
    assert "rgba(0, 0, 0, 0)" not in title[1]
