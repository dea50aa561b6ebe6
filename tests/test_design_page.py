"""The page about the design shows what the compiler makes of its program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from snippets import SNIPPET, run
from test_layers import LAYERS, PACKAGE

from bench.page import filled

PAGE = Path(__file__).parents[1] / "docs" / "design.md"


def layers() -> str:
    """A table of the folders, with the first line of what each says of itself."""
    rows = ["| folder | |", "| --- | --- |"]
    for name in LAYERS:
        path = PACKAGE / name / "__init__.py"
        if path.exists():
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert text is not None, name
            rows.append(f"| `{name}` | {text.partition(chr(10))[0]} |")
    return "\n".join(rows)


def test_the_stages_are_current(golden: Callable[[Path, str], None]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    run(SNIPPET.findall(text)[0], "<design.md>", names)
    made = {"layers": layers()}
    for stage in ("core", "chad", "simplified", "loops"):
        function = names["value" if stage == "core" else "gradient"]
        made[stage] = f"```text\n{function.show(stage).strip()}\n```"
    for part, shown in made.items():
        text = filled(text, part, shown, "made")
    golden(PAGE, text)
