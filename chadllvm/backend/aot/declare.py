"""The types of a library in its header: each once, in front of who uses it."""

from __future__ import annotations

from typing import assert_never

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
        if isinstance(node, CReference):
            return f"const {self.struct(node)} *"
        for part in _parts(node):
            self.name(part)
        # What it refers to may have declared it.
        if node not in self._named:
            self._named[node] = self._declare(node)
        return self._named[node]

    def struct(self, node: CReference) -> str:
        """The struct that a reference is to, which may contain such references."""
        if node not in self._named:
            name = self._named[node] = self._new(node.title)
            self.lines += [f"typedef struct {name} {name};", ""]
            fields = [
                _field(self.name(part), label) for label, part in node.content.fields
            ]
            self.lines += [f"struct {name} {{", *fields, "};", ""]
        return self._named[node]

    def _declare(self, node: CNode) -> str:
        match node:
            case CArray(elem, rank):
                name = self._new(f"{elem}_{rank}")
                data = f"  {C_TYPES[elem]} *data;"
                self._struct(name, [data, f"  int64_t shape[{rank}];"], "")
            case CStruct(title, fields, rule):
                lines = [_field(self.name(field), label) for label, field in fields]
                name = self._new(title)
                self._struct(name, lines, _about(rule))
            case CUnion():
                name = self._union(node)
            case CItems(elem):
                held = self.name(elem)
                name = self._new(f"{_title(elem)}_list")
                const = "" if held.startswith("const ") else "const "
                data = _field(f"{const}{held} *".replace("* *", "*const *"), "data")
                self._struct(name, [data, "  int64_t shape[1];"], "")
            case CScalar() | CReference():
                raise AssertionError(f"{node} is not declared")
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
            inner = ["  " + _field(ty, label) for label, ty in held]
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


def _parts(node: CNode) -> list[CNode]:
    match node:
        case CStruct(_, fields):
            return [part for _, part in fields]
        case CUnion(_, members):
            return [part for _, part in members if part is not None]
        case CItems(elem):
            return [elem]
        case _:
            return []


def _field(c_type: str, label: str) -> str:
    return f"  {c_type}{'' if c_type.endswith('*') else ' '}{label};"


def _title(node: CNode) -> str:
    return getattr(node, "title", "") or "item"


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
