"""How the loop language's types and literals are written in LLVM IR.

A bool is an `i1` in a register and one byte in memory, as in NumPy and C.
"""

from __future__ import annotations

import struct

from chadllvm.ir.loops import PTR
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64

# The type of a register.
REGISTER = {F64: "double", F32: "float", I64: "i64", BOOL: "i1", PTR: "ptr"}

# The type of an element in memory, its size in bytes, and the largest dimension an
# array of such elements can have.
STORED = {F64: "double", F32: "float", I64: "i64", BOOL: "i8", PTR: "ptr"}
BYTES = {F64: 8, F32: 4, I64: 8, BOOL: 1, PTR: 8}
MAX_DIM = {F64: 1 << 60, F32: 1 << 61, I64: 1 << 60, BOOL: (1 << 63) - 1}


def literal(lit: Lit) -> str:
    """A constant; floats are written as their bits, so that nothing is rounded."""
    value = lit.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return float_literal(value)


def float_literal(value: float) -> str:
    """A constant by its bits as a double, which is how a float is written as well."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return f"0x{bits:016X}"
