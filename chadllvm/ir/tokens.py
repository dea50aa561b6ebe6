"""The words of the core's textual form, and its types."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Sum,
    Type,
)

T = TypeVar("T")

_TOKEN = re.compile(
    r"(?P<skip>\s+|\#[^\n]*)"
    r"|(?P<number>-?(?:(?:inf|nan)(?:f32)?\b|\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:f32)?))"
    r"|(?P<name>[^\W\d]\w*)"
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<mark>->|[][(){}<>:,=.@])"
)
_SCALARS = {str(ty): ty for ty in (F64, F32, I64, BOOL)}


class ParseError(Exception):
    """A text that is not a program; the message begins with its line."""


def parse_type(text: str) -> Type:
    """The type that a text describes."""
    parser = Reader(text)
    ty = parser.type()
    parser.end()
    return ty


class Reader:
    """The tokens of a text, and a place among them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        self._split()

    def _split(self) -> None:
        position = 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self.error(f"stray {self.text[position]!r}", position)
            if match.lastgroup != "skip":
                assert match.lastgroup
                self.tokens.append((match.lastgroup, match.group(), position))
            position = match.end()
        self.tokens.append(("end", "end of text", position))

    def error(self, message: str, position: int | None = None) -> ParseError:
        if position is None:
            position = self.tokens[self.at][2]
        line = self.text.count("\n", 0, position) + 1
        return ParseError(f"line {line}: {message}")

    def expected(self, what: str) -> ParseError:
        return self.error(f"expected {what}, found {self.token}")

    @property
    def token(self) -> str:
        return self.tokens[self.at][1]

    @property
    def following(self) -> str:
        """The token after the next one."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)][1]

    def take(self) -> str:
        token = self.token
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        """Step over a token if it is the next one."""
        found = self.token == token
        self.at += found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.expected(token)

    def end(self) -> None:
        if self.tokens[self.at][0] != "end":
            raise self.expected("the end")

    def identifier(self) -> str:
        if self.tokens[self.at][0] != "name":
            raise self.expected("a name")
        return self.take()

    def integer(self) -> int:
        if not self.token.isdigit():
            raise self.expected("a number")
        return int(self.take())

    def listed(self, item: Callable[[], T], close: str) -> tuple[T, ...]:
        """Items between commas up to a closing mark; a last comma may follow."""
        items = []
        while not self.accept(close):
            items.append(item())
            if not self.accept(","):
                self.expect(close)
                break
        return tuple(items)

    def type(self) -> Type:
        """A type; `[:]` behind it makes it an array."""
        ty = self._plain_type()
        while self._at_suffix():
            ty = self._suffix(ty)
        return ty

    def _at_suffix(self) -> bool:
        return self.token == "[" and self.following == ":"

    def _suffix(self, elem: Type) -> Array:
        self.expect("[")
        return Array(elem, len(self.listed(lambda: self.expect(":"), "]")))

    def _plain_type(self) -> Type:
        if self.token in _SCALARS:
            return _SCALARS[self.take()]
        if self.accept("box"):
            return Box(self._suffix(self._plain_type()))
        if self.accept("acc"):
            return Acc(self.type())
        if self.accept("ledger"):
            return Acc(self.type(), is_read=True)
        if self.accept("{"):
            pairs = self.listed(self.named_type, "}")
            return Product(tuple(t for _, t in pairs), tuple(n for n, _ in pairs))
        if self.token == "<":
            return self.sum_type()
        if not self.accept("("):
            raise self.expected("a type")
        types = self.listed(self.type, ")")
        if self.token != "->" or self.following != "(":
            return Product(types)
        self.at += 2
        return Fun(types, self.listed(self.type, ")"))

    def sum_type(self) -> Sum:
        self.expect("<")
        return Sum(self.listed(self.named_type, ">"))

    def named_type(self) -> tuple[str, Type]:
        name = self.identifier()
        self.expect(":")
        return name, self.type()
