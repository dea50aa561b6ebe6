"""`print(…)`: what is written, as a format string with the numbers and arrays in it.

print("at", x, p, sep=": ")   →   show["at: {0!s}: Point(x={1!r}, y={2!r})"](x, …)

Tuples, records and dictionaries are taken apart; how they are written is known when the
program is compiled.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chadllvm.errors import statement_errors
from chadllvm.frontend.containers import names_of
from chadllvm.frontend.context import Context
from chadllvm.frontend.marks import check_settled, is_python_list
from chadllvm.frontend.references import opened
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.static import static_value
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.frontend.width import component
from chadllvm.ir.op import TypeRuleError
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.term import Operand
from chadllvm.ir.types import Array, Product, Scalar
from chadllvm.ops.show import MOST_WORDS, Show, kind_of, words

# What both Python and C make of numbers (`print.c`).
_SPEC = re.compile(r"[<>^]?[-+ ]?0?[0-9]*(\.[0-9]+)?[eEfFgGd%]?")

_OPTIONS = {"sep": " ", "end": "\n", "file": None, "flush": False}


@dataclass
class _Line:
    """A text with places for values, of these kinds."""

    cx: Context
    node: ast.Call
    text: str = ""
    values: list[Operand] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    # The arguments of `print`.

    def argument(self, node: ast.expr, conversion: str = "!s") -> None:
        """An argument as `str` has it; without a conversion, as `format` has it, which
        is another text for an f32."""
        match node:
            case ast.JoinedStr(parts):
                for part in parts:
                    self._part(part)
                return
            case _:
                pass
        try:
            known = static_value(self.cx, node)
        except NotStatic:
            known = None
        if isinstance(known, str):
            self.constant(known)
        else:
            self.value(node, self.cx.value(node), conversion)

    def _part(self, part: ast.expr) -> None:
        """A part of an f-string."""
        match part:
            case ast.Constant(str() as text):
                self.constant(text)
            case ast.FormattedValue(value, conversion, None):
                if conversion in (ord("r"), ord("a")):
                    self.value(value, self.cx.value(value))
                else:
                    self.argument(value, "!s" if conversion > 0 else "")
            case ast.FormattedValue(
                value, -1, ast.JoinedStr([ast.Constant(str() as spec)])
            ):
                found = self.cx.value(value)
                if not isinstance(found.type, Scalar) or not _SPEC.fullmatch(spec):
                    raise statement_errors.printing(self.cx.span(part))
                self.place(part, found, f":{spec}")
            case _:
                raise statement_errors.printing(self.cx.span(part))

    def constant(self, text: str) -> None:
        """A text as it stands."""
        if "\0" in text:
            raise statement_errors.printing(self.cx.span(self.node))
        self.text += text.replace("{", "{{").replace("}", "}}")

    # Values.

    def value(self, node: ast.expr, value: Operand, conversion: str = "!r") -> None:
        """A value; in containers values are as `repr` has them."""
        names = names_of(value.type)
        if names is not None and names.kind is Kind.NONE:
            self.constant("None")
        elif names is not None:
            self._record(node, value, names)
        elif isinstance(value.type, Product) and not value.type.names:
            self._parts(node, value, "(", [""] * len(value.type.fields), ",)", ")")
        else:
            self.place(node, value, conversion)

    def place(self, node: ast.expr, value: Operand, shown: str) -> None:
        """A number or an array."""
        is_list = False
        if isinstance(value.type, Array):
            check_settled(self.cx, node, value)
            is_list = is_python_list(self.cx, value)
        try:
            self.kinds.append(kind_of(value.type, is_list=is_list))
        except TypeRuleError:
            raise statement_errors.printing(self.cx.span(node)) from None
        self.text += f"{{{len(self.values)}{shown}}}"
        self.values.append(value)

    def _record(self, node: ast.expr, value: Operand, names: RecordNames) -> None:
        value = opened(self.cx.at(node), value)
        if names.kind is Kind.DICT:
            labels = [f"{name!r}: " for name in names]
            self._parts(node, value, "{", labels, "}", "}")
            return
        if names.kind is Kind.ROW:
            self._parts(node, value, "(", [""] * len(names), ",)", ")")
            return
        if not _is_shown_plainly(names.python):
            raise statement_errors.printing(self.cx.span(node))
        labels = [f"{name}=" for name in names]
        self._parts(node, value, f"{names.python.__qualname__}(", labels, ")", ")")

    def _parts(
        self,
        node: ast.expr,
        value: Operand,
        begin: str,
        labels: list[str],
        one: str,
        end: str,
    ) -> None:
        self.constant(begin)
        for k, label in enumerate(labels):
            self.constant(f"{', ' if k else ''}{label}")
            self.value(node, component(self.cx.at(node), value, k))
        self.constant(one if len(labels) == 1 else end)


def show(cx: Context, node: ast.Call) -> Operand:
    """Emit what writes; its value is None."""
    options = _options(cx, node)
    line = _Line(cx, node)
    for k, argument in enumerate(node.args):
        line.constant(options["sep"] if k else "")
        line.argument(argument)
    line.constant(options["end"])
    if words([value.type for value in line.values]) > MOST_WORDS:
        raise statement_errors.printing(cx.span(node))
    op = Show(line.text, tuple(line.kinds), options["file"] is sys.stderr)
    cx.at(node).apply(op, line.values)
    return cx.at(node).one(NONE_VALUE)


def _options(cx: Context, node: ast.Call) -> dict[str, Any]:
    found: dict[str, Any] = dict(_OPTIONS)
    for keyword in node.keywords:
        try:
            assert keyword.arg in found
            found[keyword.arg] = static_value(cx, keyword.value)
        except (AssertionError, NotStatic):
            raise statement_errors.printing(cx.span(keyword.value)) from None
    texts = all(isinstance(found[name] or "", str) for name in ("sep", "end"))
    if not texts or found["file"] not in (None, sys.stdout, sys.stderr):
        raise statement_errors.printing(cx.span(node))
    for name in ("sep", "end"):
        found[name] = _OPTIONS[name] if found[name] is None else found[name]
    return found


def _is_shown_plainly(python: Any) -> bool:
    """Whether a class is written as named tuples and dataclasses are."""
    code = getattr(python.__repr__, "__code__", None)
    file = Path(getattr(code, "co_filename", "")).name
    is_made = file in ("dataclasses.py", "reprlib.py", "<string>")
    is_made |= python.__repr__.__module__ == "collections"
    return is_made and python.__str__ is object.__str__
