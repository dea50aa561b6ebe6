"""What MkDocs makes for the site alone, so that nothing is committed that can be made.

    a page that calls `savefig`   its snippets are run; below each stand what it prints
                                  and the pictures that it writes
    docs/gallery.md               below its table: each example with its docstring, what
                                  it prints, its picture and its code
    api.md                        the public names, by mkdocstrings
    security.md, changelog.md     the files at the top, with their links

Links of pages to files outside of docs/ lead to what the site has of them.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
TOP = {"SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
COMMAND = re.compile(r"^    (python examples/.*)$", re.MULTILINE)
PICTURE = re.compile(r"savefig\(\s*\"([\w-]+\.(?:svg|png))\"")
GROUPS = {
    "Compile": ["jit", "Compiled", "CompileOptions", "CompileError", "vectorize"],
    "Differentiate": [
        *("grad", "value_and_grad", "vjp", "jvp", "jacfwd", "jacrev", "hessian", "hvp"),
        *("linearize", "Derivative", "Function", "check_grads", "stop_gradient"),
        *("custom_vjp", "custom_jvp", "CustomFunction"),
    ],
    "In compiled functions": ["build", "fold", "ravel"],
    "Export": ["export", "load", "overload", "compile_package"],
    "Run and look": [
        *("get_num_threads", "set_num_threads", "log_compiles", "debug_nans"),
    ],
}
MEMBERS = {
    "Compiled": ["report", "show", "view", "pointer"],
    "CustomFunction": ["defjvp", "defvjp"],
}
OTHERS = {  # these are described by the pages of the language
    *("boolean", "f32", "f64", "i64", "__version__"),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in TOP.items():
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        text = text.replace("](SECURITY.md", "](security.md")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "api.md", content=reference()))
    return files


def on_page_markdown(
    markdown: str, page: Page, config: MkDocsConfig, files: Files
) -> str:
    if page.file.src_uri == "gallery.md":
        markdown += gallery(config, files)
    elif PICTURE.search(markdown):
        markdown = with_results(markdown, page.file.name, config, files)
    return inward(markdown)


def inward(markdown: str) -> str:
    """Links to files of the repository, as links to pages."""
    for name, page in TOP.items():
        markdown = markdown.replace(f"](../{name}", f"]({page}")
    markdown = markdown.replace("](../README.md", "](index.md")
    return re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery.md#\1)", markdown)


# ---- the public names


def reference() -> str:
    """A page of all names of `chadllvm`; one that no group has is a mistake here."""
    tree = ast.parse((ROOT / "chadllvm" / "__init__.py").read_text("utf-8"))
    (public,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    grouped = {name for names in GROUPS.values() for name in names}
    if grouped | OTHERS != set(public):
        raise PluginError(f"GROUPS and __all__: {grouped ^ set(public) ^ OTHERS}")
    lines = ["# Public names", "", "All of these are names of `chadllvm`; types of"]
    lines += ["arguments, and functions of the language, are on pages of their own:"]
    lines += ["[the language](language.md), [functions](functions.md).", ""]
    for group, names in GROUPS.items():
        lines += [f"## {group}", ""]
        for name in names:
            lines += [f"::: chadllvm.{name}", "    options:", "      heading_level: 3"]
            lines += [f"      members: {MEMBERS.get(name, [])}", ""]
    return "\n".join(lines)


# ---- snippets that are run


def snippets() -> ModuleType:
    """`tests/snippets.py`, by which the tests run the same snippets."""
    path = ROOT / "tests" / "snippets.py"
    spec = importlib.util.spec_from_file_location("snippets", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_results(markdown: str, name: str, config: MkDocsConfig, files: Files) -> str:
    """The page with what its snippets print and draw."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = name  # the same picture is the same file
    shared = snippets()
    module = ModuleType(f"snippets of {name}.md")
    sys.modules[module.__name__] = module  # where classes look themselves up
    count = 0

    def result(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        code = match[1]
        if shared.FAILS.match(code):
            return match[0]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            shared.run(code, f"<{name}.md, snippet {count}>", vars(module))
        parts = [match[0]]
        if printed.getvalue():
            parts.append(f"```text\n{printed.getvalue().rstrip()}\n```")
        for picture in PICTURE.findall(code):
            add_picture(Path(picture), f"{name}-{picture}", config, files)
            parts.append(f"![{Path(picture).stem}]({name}-{picture})")
        return "\n\n".join(parts)

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return str(shared.SNIPPET.sub(result, markdown))
        finally:
            os.chdir(before)


def add_picture(path: Path, name: str, config: MkDocsConfig, files: Files) -> None:
    files.append(File.generated(config, name, content=path.read_bytes()))


# ---- the gallery


def gallery(config: MkDocsConfig, files: Files) -> str:
    """The examples, as the last command of their docstrings runs them."""
    paths = sorted((ROOT / "examples").glob("*.py"))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda path: executed(path, Path(folder)), paths)
        parts = [
            example(path, printed, Path(folder), config, files)
            for path, printed in zip(paths, runs, strict=True)
        ]
    return "\n" + "\n".join(parts)


def described(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def example(
    path: Path, printed: str, folder: Path, config: MkDocsConfig, files: Files
) -> str:
    title, _, rest = COMMAND.sub("", described(path)).partition("\n\n")
    parts = [f"## {path.stem}", f"**{title}**", rest.strip()]
    for command in COMMAND.findall(described(path))[-1:]:
        for picture in re.findall(r"\S+\.png", command):
            name = f"gallery-{path.stem}.png"
            add_picture(folder / picture, name, config, files)
            parts.append(f"![{title}]({name})")
        parts.append(f"```console\n$ {command}\n{printed.rstrip()}\n```")
    code = indented(path.read_text("utf-8"))
    parts.append(f'??? example "examples/{path.name}"\n\n{code}')
    return "\n\n".join(parts) + "\n"


def executed(path: Path, folder: Path) -> str:
    """What an example prints; files that it writes go to the folder."""
    commands = COMMAND.findall(described(path))
    if not commands:
        return ""
    done = subprocess.run(
        [sys.executable, path, *commands[-1].split()[2:]],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PluginError(f"{path.name} fails:\n{done.stderr}")
    return done.stdout


def indented(code: str) -> str:
    lines: list[str] = ["```python", *code.rstrip().splitlines(), "```"]
    return "\n".join(f"    {line}".rstrip() for line in lines)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """A site whose snippets left modules behind would not be built twice alike."""
    for name in [name for name in sys.modules if name.startswith("snippets of ")]:
        del sys.modules[name]
