"""The examples as modules, compiled and plain."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(file: str, name: str = "") -> Any:
    """A module of `examples/`, under a name of its own if there are several."""
    name = name or file
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{file}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Classes look up the module that they are defined in.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def undecorated(name: str) -> Any:
    """The module again, with nothing in it compiled."""
    module = load(name, f"plain_{name}")
    for key, item in list(vars(module).items()):
        if hasattr(item, "py_func"):
            setattr(module, key, item.py_func)
    return module
