"""The Python snippets of a page, and how they are run."""

from __future__ import annotations

import linecache
import re
from typing import Any

SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FAILS = re.compile(r"# doctest: error ?(\w*)\n")


def run(snippet: str, name: str, namespace: dict[str, Any]) -> None:
    """Execute a snippet so that its functions' source can be found."""
    lines = snippet.splitlines(keepends=True)
    linecache.cache[name] = (len(snippet), None, lines, name)
    exec(compile(snippet, name, "exec"), namespace)
