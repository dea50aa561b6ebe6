"""Spilled vectors lie on one line of the cache each.

By convention the stack is aligned to 16 bytes. LLVM finds out that a function spills
vectors when it cannot align the stack any more: then whether each of them lies on two
lines, and how long a loop takes, depends on where the caller's stack happens to be.

So the stack is aligned to a vector throughout a module. What calls into it does not
know that: a function that is called from outside aligns the stack first, and where an
address is handed out, it is that of a function which does so and calls the one meant.

    call … @run(…, ptr @"f:chunk.0", …)  →  call … @run(…, ptr @"f:chunk.0.outside", …)

To have a frame pointer in each function, or to align the stack where the work is done,
takes a register from loops that have none to spare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chadllvm.llvm.target import STACK, Target

_ALIGNS = '"stackrealign"'

_NAME = r'@("[^"]+"|[\w.$]+)'
_OUTSIDE = re.compile(r"^define (?!internal ).*?(?= (!dbg !\d+ )?\{$)", re.M)
_INSIDE = re.compile(rf"^define internal (.*?) {_NAME}\((.*)\)[^()]* \{{$", re.M)
# A function's name without its arguments is its address.
_ADDRESS = re.compile(rf'{_NAME}(?!["\w.$(])')
_ATTRIBUTE = re.compile(r" \w+\([^()]*\)")


def aligned(text: str, target: Target) -> str:
    """A module whose functions keep the stack aligned to the target's vectors."""
    if target.stack == STACK:
        return text
    handed_out = set(_ADDRESS.findall(text))
    called = {
        name: [*_aligning(kind, name, params)]
        for kind, name, params in _INSIDE.findall(text)
        if name in handed_out
    }

    def address(found: re.Match[str]) -> str:
        return f"@{_outside(found[1])}" if found[1] in called else found[0]

    number = 1 + max(map(int, re.findall(r"^!(\d+) = ", text, re.M)), default=-1)
    return "\n".join(
        [
            _ADDRESS.sub(address, _OUTSIDE.sub(rf"\g<0> {_ALIGNS}", text)),
            *(line for lines in called.values() for line in lines),
            f"!llvm.module.flags = !{{!{number}}}",
            f'!{number} = !{{i32 1, !"override-stack-alignment", i32 {target.stack}}}',
            "",
        ]
    )


def _outside(name: str) -> str:
    """The name of what aligns the stack for a function."""
    return '"{}.outside"'.format(name.strip('"'))


def _aligning(kind: str, name: str, params: str) -> Iterator[str]:
    """The function that aligns the stack for another one."""
    words = [param.split() for param in _ATTRIBUTE.sub("", params).split(", ")]
    args = ", ".join(f"{first} {last}" for first, *_, last in words)
    yield f"define internal {kind} @{_outside(name)}({args}) nounwind {_ALIGNS} {{"
    if kind == "void":
        yield f"  call void @{name}({args}) noinline"
        yield "  ret void"
    else:
        yield f"  %result = call {kind} @{name}({args}) noinline"
        yield f"  ret {kind.removeprefix('swiftcc ')} %result"
    yield "}"
