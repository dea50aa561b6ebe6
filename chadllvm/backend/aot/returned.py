"""The words that native code gives → C results.

    double *value, double *x_gradient, model_Point *at

A number is written to its address. The gradient by an array is copied to where there is
room of its shape. Any other array stays in the memory that the call was given, and its
address and shape are written to a struct.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.backend.aot.arguments import ArrayLeaf
from chadllvm.backend.aot.declare import C_TYPES, Types
from chadllvm.backend.aot.names import Names, c_string
from chadllvm.backend.aot.tree import CArray, CNode, CScalar, CStruct, CUnion
from chadllvm.ir.types import BOOL, F32, F64, Scalar


@dataclass
class Returned:
    """The results of a C function."""

    types: Types
    title: str
    names: Names
    declared: list[str] = field(default_factory=list)
    # What is looked at in front of the call, and what is done behind it.
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    words: int = 0
    # Whether there are arrays that need a memory to stay in.
    needs_memory: bool = False

    def add(self, name: str, node: CNode | None, room: ArrayLeaf | None = None) -> None:
        """A result; `room`: it is an array of this one's shape."""
        match node:
            case None:
                return
            case CScalar(ty):
                own = self._pointer(f"{C_TYPES[ty]} *", name)
                self._there(own, name)
                self._take(node, f"*{own}", "")
            case CArray(elem) if room is not None:
                own = self._pointer(f"{C_TYPES[elem]} *", name)
                count = " * ".join(room.sizes)
                self._there(own, name, f" && {count} > 0")
                size = f"sizeof({C_TYPES[elem]})"
                source = f"words[{self._word()}].p"
                self.after.append(f"chad_lib_copy({own}, {source}, {count}, {size});")
                self.words += len(room.sizes)
            case CArray() | CStruct() | CUnion():
                own = self._pointer(f"{self.types.name(node)} *", name)
                self._there(own, name)
                self._take(node, f"(*{own})", "")
            case _:
                assert_never(node)

    def _pointer(self, c_type: str, name: str) -> str:
        own = self.names.new(name)
        self.declared.append(f"{c_type}{own}")
        return own

    def _there(self, own: str, name: str, more: str = "") -> None:
        place = f"{c_string(self.title)}, {c_string(name)}"
        self.before += [
            f"if ({own} == NULL{more}) {{",
            f'  return chad_lib_invalid(error, {place}, "is NULL");',
            "}",
        ]

    def _word(self) -> int:
        self.words += 1
        return self.words - 1

    def _take(self, node: CNode, at: str, indent: str) -> None:
        match node:
            case CScalar(ty):
                value = number(ty, f"words[{self._word()}]")
                self.after.append(f"{indent}{at} = {value};")
            case CArray(_, rank):
                self.needs_memory = True
                source = f"words[{self._word()}].p"
                self.after.append(f"{indent}{at}.data = {source};")
                for axis in range(rank):
                    size = f"words[{self._word()}].i"
                    self.after.append(f"{indent}{at}.shape[{axis}] = {size};")
            case CStruct(_, fields):
                for name, part in fields:
                    self._take(part, f"{at}.{name}", indent)
            case CUnion(_, members):
                tag = f"words[{self._word()}].i"
                self.after.append(f"{indent}{at}.tag = {tag};")
                for k, (name, member) in enumerate(members):
                    if member is not None:
                        self.after.append(f"{indent}if ({tag} == {k}) {{")
                        self._take(member, f"{at}.as.{name}", indent + "  ")
                        self.after.append(f"{indent}}}")
            case _:
                assert_never(node)


def number(ty: Scalar, word: str) -> str:
    """A number out of a word."""
    if ty == F32:
        return f"(float){word}.f"
    if ty == F64:
        return f"{word}.f"
    return f"(uint8_t)({word}.i != 0)" if ty == BOOL else f"{word}.i"
