"""DWARF's line table: which line of the user's an instruction comes from.

    ;@ 12 model.py          →   %t.3 = fadd double %x, %y, !dbg !42
    %t.3 = fadd double …        !42 = !DILocation(line: 12, column: 1, scope: !41)

Statements are marked by comments as they are written (`mark`), from the lines that the
lowering has noted on registers; what has none is on the line of what stands before it.
Functions of the user's that were inlined, and lines of other files, are lexical blocks
of the function that they ended up in. Without `debug_info` there are no marks, and the
text is what it always was.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from chadllvm.ir.loops import Check, Reg, Stmt
from chadllvm.support.diagnostic import NO_SPAN, Span

if TYPE_CHECKING:
    from chadllvm.llvm.writer import Writer

_MARK = "  ;@ "
_DEFINED = re.compile(r"^define .*?@(\"[^\"]+\"|[\w.$]+)\(")
_NUMBERED = re.compile(r"^!(\d+) = ", re.MULTILINE)

# The fields of statements that say where these come from, in this order.
_FIELDS = ("reg", "value", "cond", "index", "args")


def mark(out: Writer, stmt: Stmt) -> None:
    """Note where the instructions of a statement come from, if that is known."""
    span = _span_of(stmt)
    if span.line:
        out.lines.append(_MARK + json.dumps([span.file, span.line, span.function]))


def _span_of(stmt: Stmt) -> Span:
    if isinstance(stmt, Check):
        return stmt.failure.span
    for name in _FIELDS:
        found = getattr(stmt, name, None)
        for atom in found if isinstance(found, tuple) else (found,):
            if isinstance(atom, Reg) and atom.span.line:
                return atom.span
    return NO_SPAN


def with_lines(text: str, name: str) -> str:
    """The text of a module with its marks as debug information; `name` is the user's
    name of its function."""
    first = max(map(int, _NUMBERED.findall(text)), default=0) + 1
    return "\n".join(_Table(text.split("\n"), name, first).rewritten())


class _Table:
    """The nodes of metadata, as they are asked for."""

    def __init__(self, lines: list[str], name: str, first: int) -> None:
        self._lines, self._name = lines, name
        self._numbers = count(first)
        self._nodes: dict[str, int] = {}
        self._scope = ""
        self._unit = self._known = 0

    def rewritten(self) -> Iterator[str]:
        """The lines of the module, and the nodes behind them."""
        marks = [json.loads(x[len(_MARK) :]) for x in self._lines if _is_mark(x)]
        if not marks:
            yield from self._lines
            return
        self._unit = self._compile_unit(marks[0][0])
        for part in _parts(self._lines):
            found = [json.loads(x[len(_MARK) :]) for x in part if _is_mark(x)]
            if found:
                yield from self._function(part, *found[0][:2])
            else:
                yield from part
        flags = [
            self._node('!{i32 2, !"Debug Info Version", i32 3}'),
            self._node('!{i32 7, !"Dwarf Version", i32 4}'),
        ]
        yield f"!llvm.module.flags = !{{{', '.join(f'!{k}' for k in flags)}}}"
        yield f"!llvm.dbg.cu = !{{!{self._unit}}}"
        yield from (f"!{number} = {node}" for node, number in self._nodes.items())

    def _node(self, text: str) -> int:
        if text not in self._nodes:
            self._nodes[text] = next(self._numbers)
        return self._nodes[text]

    def _file(self, path: str) -> int:
        folder, name = os.path.split(os.path.abspath(path))
        return self._node(
            f"!DIFile(filename: {_quoted(name)}, directory: {_quoted(folder)})"
        )

    def _compile_unit(self, file: str) -> int:
        return self._node(
            f"distinct !DICompileUnit(language: DW_LANG_C99, file: "
            f'!{self._file(file)}, producer: "chadllvm", isOptimized: true, '
            "runtimeVersion: 0, emissionKind: FullDebug)"
        )

    def _function(self, lines: list[str], file: str, line: int) -> Iterator[str]:
        """A function whose instructions all have a place, the first one at first."""
        defined = _DEFINED.match(lines[0])
        assert defined is not None
        symbol = defined[1].strip('"')
        kind = self._node("!DISubroutineType(types: !{})")
        scope = self._node(
            f"distinct !DISubprogram(name: {_quoted(self._title(symbol))}, "
            f"linkageName: {_quoted(symbol)}, scope: !{self._file(file)}, file: "
            f"!{self._file(file)}, line: {line}, type: !{kind}, scopeLine: {line}, "
            "spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: "
            f"!{self._unit})"
        )
        yield f"{lines[0].removesuffix('{')}!dbg !{scope} {{"
        place = self._place(scope, file, (file, line, ""))
        for each in lines[1:]:
            if _is_mark(each):
                place = self._place(scope, file, json.loads(each[len(_MARK) :]))
            elif each.startswith("  ") and not each.lstrip().startswith(";"):
                yield f"{each}, !dbg !{place}"
            else:
                yield each

    def _title(self, symbol: str) -> str:
        """What a debugger calls a function: the user's name, and which part it is."""
        part = symbol.rpartition(":")[2] if ":" in symbol else ""
        return f"{self._name}:{part}" if part else self._name

    def _place(self, scope: int, own: str, found: tuple[str, int, str]) -> int:
        file, line, _ = found
        if file != own:
            scope = self._node(
                f"!DILexicalBlockFile(scope: !{scope}, file: !{self._file(file)}, "
                "discriminator: 0)"
            )
        return self._node(f"!DILocation(line: {line}, column: 0, scope: !{scope})")


def _is_mark(line: str) -> bool:
    return line.startswith(_MARK)


def _quoted(text: str) -> str:
    """A string of LLVM's."""
    escaped = "".join(
        chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}"
        for c in text.encode()
    )
    return f'"{escaped}"'


def _parts(lines: list[str]) -> Iterator[list[str]]:
    """Each function, and what stands between them."""
    part: list[str] = []
    for line in lines:
        if line.startswith("define ") and part:
            yield part
            part = []
        part.append(line)
        if line == "}":
            yield part
            part = []
    if part:
        yield part
