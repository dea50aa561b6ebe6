"""Spilled vectors lie on one line of the cache each.

By convention the stack is aligned to 16 bytes. LLVM finds out that a function spills
vectors when it cannot align the stack any more: then each of them may lie on two lines,
which takes half as long again in a loop, or not, as the caller's stack happens to be.

So the stack is aligned to a vector throughout a module. What calls into it does not
know that: a function that is called from outside, or whose address is handed out,
aligns the stack itself. A frame pointer in every function would do as well, and would
take a register from loops that have none to spare.
"""

from __future__ import annotations

import re

from chadllvm.llvm.target import STACK, Target

_DEFINITION = re.compile(
    r'^define (?P<linkage>internal )?.*?@(?P<name>"[^"]+"|[\w.$]+)\(.*?'
    r"(?= (!dbg !\d+ )?\{$)",
    re.M,
)
# A function's name without its arguments is its address.
_ADDRESS = re.compile(r'@("[^"]+"|[\w.$]+)(?!["\w.$(])')


def aligned(text: str, target: Target) -> str:
    """A module whose functions keep the stack aligned to the target's vectors."""
    if target.stack == STACK:
        return text
    handed_out = set(_ADDRESS.findall(text))

    def define(found: re.Match[str]) -> str:
        inside = found["linkage"] and found["name"] not in handed_out
        return found[0] if inside else f'{found[0]} "stackrealign"'

    number = 1 + max(map(int, re.findall(r"^!(\d+) = ", text, re.M)), default=-1)
    return (
        f"{_DEFINITION.sub(define, text)}\n!llvm.module.flags = !{{!{number}}}\n"
        f'!{number} = !{{i32 1, !"override-stack-alignment", i32 {target.stack}}}\n'
    )
