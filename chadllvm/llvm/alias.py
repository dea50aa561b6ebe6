"""Alias metadata: pointers of different roots never point into the same buffer.

Every root representative is an LLVM alias scope; an access belongs to the scope of its
root and does not alias the others. Each list of other scopes is as long as the number
of scopes, so only the most used roots get one of their own and all others share one:
the metadata grows linearly with the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from chadllvm.ir.loops import (
    AddTo,
    Branch,
    Clear,
    Copy,
    For,
    Load,
    LoopFunction,
    Spread,
    Stmt,
    Store,
    bodies_of,
)

MAX_SCOPES = 48

# An access in a loop counts this many times one outside.
LOOP_WEIGHT = 8

# The scope of the runtime's own structures (an arena's cursor).
RUNTIME_SCOPE = 0
SHARED_SCOPE = 1


class AliasScopes:
    """Hands out the metadata suffix of memory accesses and collects its definitions."""

    def __init__(self, function: LoopFunction, first_id: int) -> None:
        self._roots = function.roots
        self._scope = _scopes(function)
        self._scopes = range(max(self._scope.values(), default=0) + 2)
        self._first = first_id
        self._next = first_id + 1 + len(self._scopes)
        self._lists: dict[tuple[int, ...], int] = {}

    def suffix(self, *roots: int) -> str:
        """`, !alias.scope …, !noalias …` for an access by pointers of these roots."""
        own = {self._scope.get(self._roots[root], SHARED_SCOPE) for root in roots}
        return self._suffix(own)

    def runtime_suffix(self) -> str:
        """The same for an access to the runtime's structures."""
        return self._suffix({RUNTIME_SCOPE})

    def _suffix(self, own: set[int]) -> str:
        mine = self._list(tuple(sorted(own)))
        others = self._list(tuple(s for s in self._scopes if s not in own))
        return f", !alias.scope !{mine}, !noalias !{others}"

    def _list(self, scopes: tuple[int, ...]) -> int:
        if scopes not in self._lists:
            self._lists[scopes] = self.number()
        return self._lists[scopes]

    def of_lists(self) -> dict[int, tuple[int, ...]]:
        """The scopes of each list of them, by its number."""
        return {number: scopes for scopes, number in self._lists.items()}

    def number(self) -> int:
        """A number for a node of metadata, which nothing else has."""
        self._next += 1
        return self._next - 1

    def definitions(self) -> list[str]:
        """The metadata nodes that the suffixes refer to."""
        domain = self._first
        lines = [f'!{domain} = distinct !{{!{domain}, !"buffers"}}']
        for scope in self._scopes:
            node = domain + 1 + scope
            lines.append(f'!{node} = distinct !{{!{node}, !{domain}, !"{scope}"}}')
        for scopes, node in self._lists.items():
            members = ", ".join(f"!{domain + 1 + scope}" for scope in scopes)
            lines.append(f"!{node} = !{{{members}}}")
        return lines


def _scopes(function: LoopFunction) -> dict[int, int]:
    """The scope of each representative that has one of its own."""
    uses: Counter[int] = Counter()
    _count_uses(function.body, function.roots, 1, uses)
    for subroutine in function.subroutines:
        _count_uses(subroutine.body, function.roots, LOOP_WEIGHT, uses)
    own = [root for root, _ in uses.most_common(MAX_SCOPES)]
    return {root: SHARED_SCOPE + 1 + k for k, root in enumerate(own)}


def _count_uses(
    body: Iterable[Stmt], roots: Sequence[int], weight: int, uses: Counter[int]
) -> None:
    for stmt in body:
        match stmt:
            case For(body=inner):
                _count_uses(inner, roots, weight * LOOP_WEIGHT, uses)
            case Branch() | Spread():
                for inner in bodies_of(stmt):
                    _count_uses(inner, roots, weight, uses)
            case Load(root=root) | Store(root=root):
                uses[roots[root]] += weight
            case AddTo(root=root) | Clear(root=root):
                uses[roots[root]] += weight
            case Copy(target_root=target, source_root=source):
                uses[roots[target]] += weight
                uses[roots[source]] += weight
            case _:
                pass
