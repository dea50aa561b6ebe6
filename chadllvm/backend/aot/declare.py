"""The types of a library in its header: each once, in front of who uses it."""

from __future__ import annotations

from typing import assert_never

from chadllvm.backend.aot.names import Names
from chadllvm.backend.aot.tree import (
    CArray,
    CNode,
    CScalar,
    CStruct,
    CUnion,
    Ragged,
    Rows,
)
from chadllvm.ir.types import BOOL, F32, F64, I64

C_TYPES = {F64: "double", F32: "float", I64: "int64_t", BOOL: "uint8_t"}


class Types:
    """The C types of the functions of a library."""

    def __init__(self, prefix: str, functions: set[str]) -> None:
        """`functions` are names that are taken."""
        self.prefix = prefix
        # Of each type its name; and the text of all, in order.
        self._named: dict[CNode, str] = {}
        self._names = Names({"error", "memory", "hooks", *functions})
        self.lines: list[str] = []

    def name(self, node: CNode) -> str:
        """The C type of a tree, declared if it was not yet."""
        if isinstance(node, CScalar):
            return C_TYPES[node.type]
        if node not in self._named:
            made = self._declare(node)
            self._named[node] = made
        return self._named[node]

    def _declare(self, node: CNode) -> str:
        match node:
            case CArray(elem, rank):
                name = self._new(f"{elem}_{rank}")
                data = f"  {C_TYPES[elem]} *data;"
                self._struct(name, [data, f"  int64_t shape[{rank}];"], "")
            case CStruct(title, fields, rule):
                lines = [f"  {self.name(field)} {label};" for label, field in fields]
                name = self._new(title)
                self._struct(name, lines, _about(rule))
            case CUnion():
                name = self._union(node)
            case CScalar():
                raise AssertionError("a scalar is not declared")
            case _:
                assert_never(node)
        return name

    def _union(self, node: CUnion) -> str:
        held = [(n, self.name(m)) for n, m in node.members if m is not None]
        name = self._new(node.title)
        labels = enumerate(label for label, _ in node.members)
        tags = [f"  {name}_is_{label} = {k}," for k, label in labels]
        tags[-1] = tags[-1].rstrip(",")  # As C++98 wants it.
        self.lines += ["enum {", *tags, "};", ""]
        lines = ["  int64_t tag;"]
        if held:
            inner = [f"    {ty} {label};" for label, ty in held]
            lines += ["  union {", *inner, "  } as;"]
        self._struct(
            name, lines, "What it is the tag tells; the rest is not looked at."
        )
        return name

    def _new(self, title: str) -> str:
        return f"{self.prefix}_{self._names.new(title)}"

    def _struct(self, name: str, fields: list[str], about: str) -> None:
        if about:
            self.lines.append(f"// {about}")
        self.lines += [f"typedef struct {name} {{", *fields, f"}} {name};", ""]


def _about(rule: Ragged | Rows | None) -> str:
    match rule:
        case Ragged():
            return (
                "A list of arrays: their items in a row. `starts_1` has where each "
                "begins, and\n// last where the last one ends; `starts_2` the same for "
                "a list of lists, and so\n// on; `sizes` a row of sizes for each."
            )
        case Rows(rank):
            axes = "dimension" if rank == 1 else f"{rank} dimensions"
            return f"A list of records by columns, which begin with the same {axes}."
        case _:
            return ""
