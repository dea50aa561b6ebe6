"""Parts of loops that do the same are written once.

A function that is called twice is in the program twice, and so are its loops. Their
bodies, as functions, differ in names only:

    define … "f:chunk.0"(…) {                     define … "f:chunk.0"(…) noinline {
      %x.3 = load ptr, ptr %t.2                     %x.3 = load ptr, ptr %t.2
      … load … %x.3 …, !alias.scope !12       →     … load … %x.3 …, !alias.scope !12
    define … "f:chunk.1"(…) {                       … @"f:chunk.0" …
      %v.3 = load ptr, ptr %t.2                     … @"f:chunk.0" …
      … load … %v.3 …, !alias.scope !14

Which buffers are apart from each other is said by the names of the first. Within it
that is true of the others' too, but not beside accesses to theirs elsewhere: so it is
put into no other function. Small ones LLVM does put into others, and they stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from chadllvm.llvm.alias import AliasScopes

# Functions of fewer lines may be worth more in the place of a call.
LEAST = 100

_LOCAL = re.compile(r"%[A-Za-z_]\w*\.(\d+)\b")
_ACCESS = re.compile(r"!alias\.scope !(\d+), !noalias !\d+")
_NODE = re.compile(r"!(\d+)\b")


class Alike:
    """Knows functions by what they do.

    `about` are the definitions of metadata that is not about scopes.
    """

    def __init__(self, scopes: AliasScopes, about: Iterable[str]) -> None:
        self._scopes = scopes
        self._about = {line.partition(" = ")[0]: line for line in about}

    def merged(
        self, functions: Sequence[tuple[str, list[str]]]
    ) -> tuple[list[str], dict[str, str]]:
        """The lines of functions, of which the symbols are given, and for each symbol
        that is not there the one that stands for it."""
        kept: dict[str, list[str]] = {}
        first: dict[str, str] = {}
        instead: dict[str, str] = {}
        for symbol, lines in functions:
            meaning = self._meaning(symbol, lines) if len(lines) >= LEAST else symbol
            if meaning in first:
                instead[symbol] = first[meaning]
            else:
                first[meaning], kept[symbol] = symbol, lines
        for symbol in set(instead.values()):
            kept[symbol][0] = kept[symbol][0].replace(" #0 {", " noinline #0 {")
        return [line for lines in kept.values() for line in lines], instead

    def _meaning(self, symbol: str, lines: Sequence[str]) -> str:
        """The text without the names: two of the same text do the same."""
        return "\n".join(_Renaming(self._scopes, self._about).lines(symbol, lines))


class _Renaming:
    """Numbers what is named, in the order in which it is met."""

    def __init__(self, scopes: AliasScopes, about: dict[str, str]) -> None:
        self._lists = scopes.of_lists()
        self._about = about
        self._own: dict[int, int] = {}
        self._nodes: dict[str, int] = {}

    def lines(self, symbol: str, lines: Sequence[str]) -> Iterator[str]:
        """The lines of a function, and of the metadata that they refer to."""
        yield lines[0].replace(symbol, "")
        yield self._line("\n".join(lines[1:]))
        told = 0
        while told < len(self._nodes):
            yield self._line(self._about[list(self._nodes)[told]])
            told += 1

    def _line(self, line: str) -> str:
        line = _LOCAL.sub(r"%\1", line)
        return _NODE.sub(self._node, _ACCESS.sub(self._access, line))

    def _access(self, match: re.Match[str]) -> str:
        """The scopes of an access; it is apart from those that it does not have."""
        scopes = self._lists[int(match[1])]
        return f"in {[self._own.setdefault(s, len(self._own)) for s in scopes]}"

    def _node(self, match: re.Match[str]) -> str:
        """Other metadata; what every module has stands for itself."""
        if match[0] not in self._about:
            return match[0]
        return f"node {self._nodes.setdefault(match[0], len(self._nodes))}"
