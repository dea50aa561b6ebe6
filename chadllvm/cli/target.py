"""The function that a command is about: `model.py:f`, `package.module:f`, `model.py`.

The file is run as a module, with its folder on the path, as Python does it for a
script; what stands below `if __name__ == "__main__"` is not.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from chadllvm.api.compiled import Compiled, Derivative, Function
from chadllvm.cli.status import BadInput, Raised
from chadllvm.support.diagnostic import CompileError
from chadllvm.support.options import CompileOptions


def load(target: str, **changes: Any) -> Compiled:
    """The function that is meant, compiled with these options changed.

    Raises:
        BadInput: if there is no such file, or no such function in it.
        Raised: if the file itself raises.
    """
    place, _, name = target.partition(":")
    module = _module(place)
    found = _named(module, name, target) if name else _only(module, place)
    try:
        return _with(found, changes)
    except (TypeError, OSError) as error:
        raise BadInput(f"{target}: {error}") from error


def _with(found: Callable[..., Any], changes: dict[str, Any]) -> Compiled:
    if not isinstance(found, Compiled):
        return Function(found, CompileOptions(**changes))
    options = replace(found.options, **changes)
    if options == found.options:
        return found
    if isinstance(found, Derivative):
        return Derivative(found._of, found._request, options)
    return Function(found._function, options, found.static_argnames)


def _module(place: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else _from_path(place)
    except (BadInput, CompileError):
        raise
    except Exception as error:
        raise Raised from error


def _from_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    name = path.stem
    if name in sys.modules:
        if _is_of(sys.modules[name], path):
            return sys.modules[name]
        name = f"{name}_of_command"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _is_of(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path


def _from_path(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise BadInput(
            f"{name!r} is neither a file nor a module: write model.py:f or model:f"
        )
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise BadInput(f"there is no module {error.name!r}") from error


def _named(module: ModuleType, name: str, target: str) -> Callable[..., Any]:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadInput(f"{target}: there is no {name!r}{_hint(module, name)}")
        found = getattr(found, part)
    if not isinstance(found, Compiled | FunctionType):
        kind = type(found).__name__
        raise BadInput(f"{target}: {name} is no function, but a {kind}")
    return found


def _only(module: ModuleType, place: str) -> Callable[..., Any]:
    """The compiled function of a file that has but one."""
    names = [name for name, _ in _compiled(module)]
    if len(names) == 1:
        return _named(module, names[0], place)
    example = f"say which function, as in {place}:{names[0] if names else 'f'}"
    has = f"it has {', '.join(names)}" if names else "it has no @cl.jit function"
    raise BadInput(f"{example} ({has})")


def _hint(module: ModuleType, name: str) -> str:
    functions = [n for n, v in vars(module).items() if isinstance(v, FunctionType)]
    known = [n for n, _ in _compiled(module)] + functions
    close = difflib.get_close_matches(name, known, n=3)
    return f"; close to it are {', '.join(close)}" if close else ""


def _compiled(module: ModuleType) -> list[tuple[str, Compiled]]:
    members = vars(module).items()
    return [(name, value) for name, value in members if isinstance(value, Compiled)]
