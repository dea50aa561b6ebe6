"""Modules that are imported with another syntax tree than that of their source."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

# The tree that a source is compiled as.
Change = Callable[[str], ast.Module]


class _Loader(SourceFileLoader):
    """Compiles the changed tree, whatever bytecode there is."""

    def __init__(
        self, name: str, path: str, change: Change, given: Mapping[str, Any]
    ) -> None:
        super().__init__(name, path)
        self.change, self.given = change, given

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode()
        code = compile(self.change(source), self.path, "exec")
        assert isinstance(code, CodeType)
        return code

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.given)
        super().exec_module(module)


class Finder(MetaPathFinder):
    """Finds modules as others do, and has one of them loaded with a change.

    `given`: names that the module has from the beginning.
    """

    def __init__(
        self, name: str, change: Change, given: Mapping[str, Any] | None = None
    ) -> None:
        assert name not in sys.modules, f"{name} is imported already"
        self.name, self.change, self.given = name, change, given or {}

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        others = (f for f in sys.meta_path if f is not self)
        specs = (f.find_spec(fullname, path, target) for f in others)
        spec = next(spec for spec in specs if spec is not None)
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin, self.change, self.given)
        return spec
