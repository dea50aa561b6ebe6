"""A plugin of pytest: one module has the fault that `CHADLLVM_MUTANT` names.

The variable is the module's name and the fault's number, as in
`chadllvm.simplify.cse:12`. The plugin is loaded before anything of the package is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

from tests.mutation.sites import mutated

VARIABLE = "CHADLLVM_MUTANT"


class _Loader(SourceFileLoader):
    """Compiles a module's source with a fault in it, whatever bytecode there is."""

    def __init__(self, name: str, path: str, number: int) -> None:
        super().__init__(name, path)
        self.number = number

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode()
        code = compile(mutated(source, self.number), self.path, "exec")
        assert isinstance(code, CodeType)
        return code


class Finder(MetaPathFinder):
    """Finds the one module as others do, and has it loaded with the fault."""

    def __init__(self, name: str, number: int) -> None:
        assert name not in sys.modules, f"{name} is imported already"
        self.name, self.number = name, number

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
        spec.loader = _Loader(fullname, spec.origin, self.number)
        return spec


def install(mutant: str) -> None:
    """Let the module that a mutant names have its fault."""
    name, number = mutant.split(":")
    sys.meta_path.insert(0, Finder(name, int(number)))


if VARIABLE in os.environ:
    install(os.environ[VARIABLE])
