"""A program that calls the functions of a library, to begin with, and its Makefile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from chadllvm.backend.aot.function import Output
from chadllvm.backend.aot.library import Library
from chadllvm.backend.aot.names import Names
from chadllvm.backend.aot.tree import (
    CArray,
    CItems,
    CNode,
    CReference,
    CScalar,
    CStruct,
    CUnion,
    Ragged,
    tree,
)
from chadllvm.backend.aot.wrapper import Wrapper
from chadllvm.ir.types import Scalar, is_float

# Each dimension of the arrays in the example.
SIZE = 2


def example(library: Library) -> str:
    """The C source of a program that calls all functions, with some numbers."""
    prefix, capitals = library.prefix, library.prefix.upper()
    calls = "\n".join(_call(wrapper) for wrapper in library.wrappers)
    runs = "\n".join(f"  try_{w.function.name}(memory);" for w in library.wrappers)
    return f"""\
// How the functions of {prefix} are called. The numbers are made up.
//
//   make && ./example

#include <stdio.h>

#include "{prefix}.h"

static void report(const char *name, const {prefix}_error *error) {{
  printf("%s: status %d at %s:%d: %s\\n", name, (int)error->status, error->file,
         (int)error->line, error->message);
}}

{calls}
int main(void) {{
  {prefix}_memory *memory = NULL;
  if ({prefix}_memory_open({capitals}_INTERFACE, NULL, &memory) != {capitals}_OK) {{
    printf("the header is not that of the library\\n");
    return 1;
  }}
{runs}
  {prefix}_memory_close(memory);
  return 0;
}}
"""


def _call(wrapper: Wrapper) -> str:
    """A function that calls one of the library's."""
    name, prefix, tried = wrapper.function.name, wrapper.prefix, _Try(wrapper)
    call = f"{wrapper.name}({', '.join([*tried.given, '&error'])})"
    body = "\n".join(
        [
            *(f"  {line}" for line in tried.lines),
            f"  {prefix}_error error;",
            f"  if ({call} != {prefix.upper()}_OK) {{",
            f'    report("{name}", &error);',
            "    return;",
            "  }",
            f'  printf("{name}:\\n");',
            *(f"  {line}" for line in tried.shown),
        ]
    )
    return f"static void try_{name}({prefix}_memory *memory) {{\n{body}\n}}\n"


class _Try:
    """A call: what it needs is declared, given, and shown afterwards."""

    def __init__(self, wrapper: Wrapper) -> None:
        self.wrapper, self.types = wrapper, wrapper.types
        self.names = Names({"memory", "error"})
        self.lines: list[str] = []
        self.given = ["memory"]
        self.shown: list[str] = []
        for name, ty in wrapper.function.params:
            self._param(name, tree(ty))
        for output in wrapper.outputs:
            self._output(output, wrapper.tree_of(output))

    def _param(self, name: str, node: CNode | None) -> None:
        if node is None:
            return
        own, c_type = self.names.new(name), self.types.name(_of(node))
        match node:
            case CScalar(scalar):
                self.lines.append(f"const {c_type} {own} = {_number(scalar)};")
                self.given.append(own)
            case CArray(elem, rank):
                const = "" if name in self.wrapper.updated else "const "
                self.lines.append(f"{const}{c_type} {own}[] = {_many(elem, rank)};")
                if not const:
                    self._show(f"{own}[0]", "%.17g", f"(double){own}[0]")
                self.given += [own, *[str(SIZE)] * rank]
            case _:
                value = self._value(node, ())
                if isinstance(node, CReference):
                    self.given.append(str(value))
                    return
                self.lines.append(f"static const {c_type} {own} = {value};")
                self.given.append(f"&{own}")

    def _value(self, node: CNode, inside: tuple[CNode, ...]) -> str | None:
        """An initialiser with no elements in arrays; None within a class of its own."""
        match node:
            case CScalar(scalar):
                return _number(scalar)
            case CArray(_, rank):
                return f"{{NULL, {{{', '.join(['0'] * rank)}}}}}"
            case CItems():
                return "{NULL, {0}}"
            case CStruct(_, fields, Ragged() as rule):
                parts = [self._part(name, rule) for name, _ in fields]
                return "{" + ", ".join(parts) + "}"
            case CStruct(_, fields):
                values = [self._value(part, inside) for _, part in fields]
                whole = [value for value in values if value is not None]
                is_whole = len(whole) == len(values)
                return "{" + ", ".join(whole) + "}" if is_whole else None
            case CUnion(_, members):
                return self._member(members, inside)
            case CReference():
                return self._node(node, inside)
            case _:
                assert_never(node)

    def _part(self, name: str, rule: Ragged) -> str:
        """A part of a list without items."""
        if name in ("first", "count"):
            return "0"
        if name == "sizes":
            return f"{{NULL, {{0, {rule.rank}}}}}"
        if name == "items":
            return "{NULL, {0}}"
        own = self.names.new(name)
        self.lines.append(f"static int64_t {own}[] = {{0}};")
        return f"{{{own}, {{1}}}}"

    def _member(
        self, members: Sequence[tuple[str, CNode | None]], inside: tuple[CNode, ...]
    ) -> str | None:
        for k, (name, member) in enumerate(members):
            if member is None:
                return f"{{.tag = {k}}}"
            value = self._value(member, inside)
            if value is not None:
                return f"{{{k}, {{.{name} = {value}}}}}"
        return None

    def _node(self, node: CReference, inside: tuple[CNode, ...]) -> str | None:
        """The address of a node, which is declared."""
        if node in inside:
            return None
        value = self._value(node.content, (*inside, node))
        if value is None:
            return None
        own = self.names.new(f"a_{node.title}")
        c_type = self.types.struct(node)
        self.lines.append(f"static const {c_type} {own} = {value};")
        return f"&{own}"

    def _output(self, output: Output, node: CNode | None) -> None:
        if node is None:
            return
        own, has_room = self.names.new(output.name), self._has_room(output)
        match node:
            case CScalar(scalar):
                self.lines.append(f"{self.types.name(node)} {own} = 0;")
                self.given.append(f"&{own}")
                form, cast = ("%.17g", "(double)")
                if not is_float(scalar):
                    form, cast = "%lld", "(long long)"
                self._show(own, form, f"{cast}{own}")
            case CArray(elem, rank) if has_room:
                number = self.types.name(CScalar(elem))
                self.lines.append(f"{number} {own}[{SIZE**rank}];")
                self.given.append(own)
                self._show(f"{own}[0]", "%.17g", f"(double){own}[0]")
            case _:
                c_type = self.types.name(node)
                space = "" if c_type.endswith("*") else " "
                self.lines.append(f"{c_type}{space}{own};")
                self.given.append(f"&{own}")

    def _has_room(self, output: Output) -> bool:
        return output.like in self.wrapper.arguments.shapes

    def _show(self, what: str, form: str, value: str) -> None:
        self.shown.append(f'printf("  {what} = {form}\\n", {value});')


def _of(node: CNode) -> CNode:
    """What a variable holds: for an array, its elements."""
    return CScalar(node.elem) if isinstance(node, CArray) else node


def _number(scalar: Scalar) -> str:
    return "0.5" if is_float(scalar) else "1"


def _many(elem: Scalar, rank: int) -> str:
    return "{" + ", ".join([_number(elem)] * SIZE**rank) + "}"


def makefile(prefix: str, link: str) -> str:
    """The Makefile of the example."""
    return (
        f"# Builds example.c with {prefix}.\n\nCC ?= cc\nCFLAGS ?= -std=c11 -O2\n\n"
        f"example: example.c {prefix}.h\n"
        f"\t$(CC) $(CFLAGS) -o $@ example.c -I. {link}\n\n"
        "clean:\n\trm -f example\n\n.PHONY: clean\n"
    )
