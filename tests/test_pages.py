"""Links between the pages lead to files and headings that are there, on the forge as on
the site, and the site's navigation has every page.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
TOP = [ROOT / name for name in ("README.md", "SECURITY.md", "CHANGELOG.md")]
PAGES = [*TOP, *sorted(DOCS.rglob("*.md"))]
MADE = {"api.md", "security.md", "changelog.md"}  # by `.ci/site_hooks.py`
FENCE = re.compile(r"^(```|~~~).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The headings, as GitHub and the site's slugs name them."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(page)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_what_is_broken_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A head\n\n[a](#a-head) [b](#no-head) [c](none.md) [d](page.md)\n"
    )
    assert broken(page) == ["#no-head", "none.md"]


def leaves(node: object) -> list[str]:
    if isinstance(node, str):
        return [node]
    children = node if isinstance(node, list) else dict(node).values()  # type: ignore
    return [name for child in children for name in leaves(child)]


def test_the_navigation_has_every_page() -> None:
    text = (
        (ROOT / "mkdocs.yml").read_text("utf-8").replace("!!python/object/apply:", "")
    )
    named = leaves(yaml.safe_load(re.sub(r"slugify: .*", "slugify:", text))["nav"])
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(named) == sorted(there | MADE)


def test_the_gallery_has_every_example() -> None:
    """But for the model that two others share."""
    page = (DOCS / "gallery.md").read_text("utf-8")
    listed = re.findall(r"\(\.\./examples/(\w+)\.py\)", page)
    there = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert sorted(listed) == sorted(there - {"gmm_model"})
