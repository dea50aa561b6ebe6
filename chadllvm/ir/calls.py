"""Which top-level functions call which: groups of functions that call each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Binding, Block, Call, Derivative, Function


def called(body: Block) -> dict[str, Binding]:
    """The functions that are called by name, with the first call of each, in order."""
    found: dict[str, Binding] = {}
    for binding in everywhere(body):
        if isinstance(binding.expr, Call) and isinstance(binding.expr.function, str):
            found.setdefault(binding.expr.function, binding)
    return found


def differentiated(body: Block) -> dict[str, Binding]:
    """Those of them of which derivatives are called."""
    found: dict[str, Binding] = {}
    for binding in everywhere(body):
        match binding.expr:
            case Call(str() as name, _, Derivative()):
                found.setdefault(name, binding)
    return found


def called_early(functions: Iterable[Function]) -> set[str]:
    """The functions that are called before they have ended, by themselves or others."""
    early: set[str] = set()
    ended: set[str] = set()
    for function in functions:
        early |= called(function.body).keys() - ended
        ended.add(function.name)
    return early


def groups(functions: Mapping[str, Function], entry: str) -> list[list[str]]:
    """What the entry needs, in groups that call each other; callees come first.

    These are the strongly connected components of the calls (Tarjan's algorithm).
    """
    return _Search(functions).run(entry)


def is_recursive(functions: Mapping[str, Function], group: list[str]) -> bool:
    """Whether the functions of a group call each other, or the only one itself."""
    return len(group) > 1 or group[0] in called(functions[group[0]].body)


class _Search:
    """Goes through functions depth first, with a stack of its own."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self.functions = functions
        self.number: dict[str, int] = {}
        # The first function still pending that is reached from each.
        self.lowest: dict[str, int] = {}
        self.pending: dict[str, None] = {}
        self.work: list[tuple[str, Iterator[str]]] = []
        self.found: list[list[str]] = []

    def run(self, entry: str) -> list[list[str]]:
        self._enter(entry)
        while self.work:
            name, callees = self.work[-1]
            callee = next(callees, None)
            if callee is None:
                self._leave(name)
            elif callee not in self.number:
                self._enter(callee)
            elif callee in self.pending:
                self.lowest[name] = min(self.lowest[name], self.number[callee])
        return self.found

    def _enter(self, name: str) -> None:
        self.number[name] = self.lowest[name] = len(self.number)
        self.pending[name] = None
        callees = called(self.functions[name].body)
        self.work.append((name, (c for c in callees if c in self.functions)))

    def _leave(self, name: str) -> None:
        self.work.pop()
        if self.work:
            caller = self.work[-1][0]
            self.lowest[caller] = min(self.lowest[caller], self.lowest[name])
        if self.lowest[name] < self.number[name]:
            return
        group: list[str] = []
        while not group or group[-1] != name:
            group.append(self.pending.popitem()[0])
        self.found.append(group[::-1])
