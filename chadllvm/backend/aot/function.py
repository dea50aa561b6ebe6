"""What is exported of a function: how C and Python see it, and its loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chadllvm.backend.aot.nodes import Heap
from chadllvm.backend.results import Result
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.types import Type
from chadllvm.ir.updated import Updated
from chadllvm.support.diagnostic import Span
from chadllvm.support.request import Request


@dataclass(frozen=True)
class Output:
    """A result; `like` is the parameter whose gradient it is, if it is one.

    With `is_same` it has the type of that, and what is no real number is the same. If
    it is `in_place`, it is what that parameter is updated to.
    """

    name: str
    type: Result
    like: str = ""
    is_same: bool = False
    in_place: bool = False


@dataclass(frozen=True)
class Columns:
    """What native code gives between results: the columns of nodes.

    With `reals` it is those of gradients.
    """

    reals: bool


@dataclass(frozen=True)
class Exported:
    """A function to be exported: as C sees it, and its loops, the fast ones first.

    `about` is said in the header; `logp` is the parameter that it is a log-density and
    gradient by, if it may be called as one.
    """

    name: str
    title: str
    about: str
    params: tuple[tuple[str, Type], ...]
    outputs: tuple[Output | Columns, ...]
    versions: tuple[LoopFunction, ...]
    span: Span
    # What Python gets, and what that is made of.
    result: Result
    value: Type
    request: Request
    # What parameters have no need to be given, the last ones.
    defaults: list[Any]
    logp: str = ""
    # What it takes and gives of recursive data.
    heap: Heap = Heap((), (), ())
    # The parameters that it updates.
    updated: Updated | None = None

    @property
    def has_nodes(self) -> bool:
        """Whether there is recursive data among its arguments and results."""
        return bool(self.heap.taken or self.heap.given)

    def symbol(self, prefix: str, version: int, level: int) -> str:
        """The symbol of a native version, on a processor."""
        return f"{prefix}_chad_fn_{self.name}_{version}_{level}"

    def workspace_symbol(self, prefix: str, version: int) -> str:
        """The symbol of what only asks for the memory of a version."""
        return f"{prefix}_chad_memory_{self.name}_{version}"
