"""What else tells of a release agrees with the package: the citation, the changelog,
the conda recipe and the workflow that publishes.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import chadllvm

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
VERSION = chadllvm.__version__


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def recipe() -> dict[str, Any]:
    """The conda recipe: what its templates set is put in, what they call is a word."""
    text = (ROOT / ".ci" / "conda" / "meta.yaml").read_text("utf-8")
    values = dict(re.findall(r"\{% set (\w+) = \"(.*)\" %\}\n", text))
    text = re.sub(r"\{% .* %\}\n", "", text)
    for name, value in values.items():
        text = text.replace(f"{{{{ {name} }}}}", f"'{value}'")
    text = re.sub(r"\{\{ (\w+)(?:\(\"(\w+)\"\))? \}\}", r"\1\2", text)
    return dict(yaml.safe_load(text))


def test_the_citation() -> None:
    cited = loaded("CITATION.cff")
    required = {"cff-version", "message", "title", "authors"}
    assert required <= cited.keys()
    assert (cited["title"], cited["version"]) == (PROJECT["name"], VERSION)
    assert cited["license"] == PROJECT["license"]
    assert all({"name"} <= author.keys() for author in cited["authors"])
    (paper,) = cited["references"]
    assert paper["title"] == "Efficient CHAD"
    names = [author["family-names"] for author in paper["authors"]]
    assert names == ["Smeding", "Vákár"]


def sections() -> list[str]:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def test_the_changelog_has_this_version() -> None:
    first, *others = sections()
    assert first == "[Unreleased]"
    pattern = r"\[(\d+\.\d+\.\d+)\](?: - \d{4}-\d{2}-\d{2})?"
    versions = [re.fullmatch(pattern, section) for section in others]
    assert all(versions)
    numbers = [match[1] for match in versions if match]
    assert VERSION in numbers
    order = [tuple(map(int, number.split("."))) for number in numbers]
    assert order == sorted(order, reverse=True)


def test_the_recipe_requires_what_the_package_does() -> None:
    found = recipe()
    assert found["package"] == {"name": PROJECT["name"], "version": VERSION}
    run = {item.replace(" ", "") for item in found["requirements"]["run"]}
    python = f"python{PROJECT['requires-python']}"
    assert run == {python, *PROJECT["dependencies"]}
    host = {item.replace(" ", "") for item in found["requirements"]["host"]}
    assert set(PYPROJECT["build-system"]["requires"]) <= host
    build = {item.replace(" ", "") for item in found["requirements"]["build"]}
    assert f"cmake{PYPROJECT['tool']['scikit-build']['cmake']['version']}" in build


def test_the_recipe_tries_what_the_wheels_try() -> None:
    found = recipe()
    (entry,) = found["build"]["entry_points"]
    assert entry == f"chadllvm = {PROJECT['scripts']['chadllvm']}"
    tried = PYPROJECT["tool"]["cibuildwheel"]["test-command"]
    of_wheels = {
        command.removeprefix("python -m ").replace("{project}/", "")
        for command in tried
    }
    assert of_wheels <= set(found["test"]["commands"])
    assert all((ROOT / name).exists() for name in found["test"]["source_files"])
    assert found["about"]["summary"] == PROJECT["description"]
    assert found["about"]["license"] == PROJECT["license"]


@pytest.mark.parametrize("job", ["sdist", "wheels", "publish"])
def test_each_job_has_steps(job: str) -> None:
    assert loaded(".github/workflows/release.yml")["jobs"][job]["steps"]


def test_only_what_was_tried_is_published() -> None:
    """Nothing that stays secret is in the workflow, and one job alone may publish."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "secrets." not in text
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    publish = workflow["jobs"]["publish"]
    assert publish["needs"] == ["sdist", "wheels"]
    assert publish["if"] == "github.ref_type == 'tag'"
    rights = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    assert rights == {"sdist": None, "wheels": None, "publish": {"id-token": "write"}}
