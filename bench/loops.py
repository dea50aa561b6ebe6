"""`python -m bench loops [names]`: the innermost loops in each workload's machine code.

What is counted is how the code stands, not how often it runs: a loop is what lies
between a label and a jump back to it, and it is shown if it computes with floats and
calls nothing of ours: what asks for memory or looks for Ctrl-C is around a loop, and
recursion is none. Reads x86's AT&T syntax, as LLVM writes it.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.page import fill
from bench.table import Table, printer
from bench.workload import workloads

# An operation on floats: what it does, whether on many, and of which width.
_FLOAT = re.compile(r"v?(add|sub|mul|div|sqrt|max|min|fn?m(?:add|sub)\d*)([ps])[sd]")
_SLOW = ("div", "sqrt")
_LABEL = re.compile(r"(\.\w+):")
_JUMP = re.compile(r"j\w+\s+(\.\w+)")
_CALL = re.compile(r"callq?\s+(\S+)")
# Functions on vectors, those of our runtime and programs, and those that move memory.
_VECTOR = "_ZGV"
_OURS = ("chad_", '"chad_')
_MOVES = {"memcpy", "memmove", "memset"}
_WIDTHS = {"%zmm": 512, "%ymm": 256, "%xmm": 128}


@dataclass(frozen=True)
class Loop:
    """One innermost loop: how many of its instructions do what.

    `vector` and `scalar`: operations on floats; `slow`: divisions and square roots
    among them. `width`: bits of the widest operation. `calls`: functions, in order.
    """

    instructions: int
    vector: int
    scalar: int
    slow: int
    width: int
    calls: tuple[str, ...]

    @property
    def is_vector(self) -> bool:
        return self.vector > self.scalar or any(
            c.startswith(_VECTOR) for c in self.calls
        )

    @property
    def computes(self) -> bool:
        if any(call.startswith(_OURS) for call in self.calls):
            return False
        return bool(self.vector or self.scalar or {*self.calls} - _MOVES)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Enter `loops` among the commands of `python -m bench`."""
    loops = commands.add_parser("loops", help="the innermost loops of the machine code")
    loops.add_argument("names", nargs="*", metavar="name", default=[])
    loops.add_argument("--page", type=Path, help="put a summary into this page")
    loops.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    console, found = printer(), {}
    for name in options.names or workloads():
        workload = workloads()[name]
        case = workload.case(workload.small)
        gradient = case.gradient()
        gradient(*case.arguments)
        found[name] = tuple(innermost(gradient.show("asm")))
        console.print(loop_table(name, found[name]).rich())
    if options.page is not None:
        fill(options.page, "loops", summary_table(found).markdown())
    return 0


def innermost(assembly: str) -> Iterator[Loop]:
    """The loops that hold no other, compute with floats and call nothing of ours."""
    lines = [line.strip() for line in assembly.splitlines()]
    spans = _spans(lines)
    for start, end in spans:
        if any(start <= s and e <= end and (s, e) != (start, end) for s, e in spans):
            continue
        loop = _counted(lines[start : end + 1])
        if loop.computes:
            yield loop


def loop_table(name: str, loops: Sequence[Loop]) -> Table:
    """All innermost loops of a workload's gradient, and how often each stands there."""
    heads = ("calls", "times", "instructions", "on vectors", "on scalars")
    heads = (*heads, "÷ and √", "bits")
    rows = [
        (" ".join(loop.calls), str(times), *_numbers(loop), str(loop.width or ""))
        for loop, times in Counter(loops).items()
    ]
    return Table(f"{name}: innermost loops", heads, tuple(rows), words=1)


def summary_table(found: dict[str, tuple[Loop, ...]]) -> Table:
    """For each workload, how its loops compute and what they call."""
    heads = ("workload", "calls in loops", "vector loops", "scalar loops", "bits")
    rows = []
    for name, loops in found.items():
        vector = sum(loop.is_vector for loop in loops)
        calls = sorted({call for loop in loops for call in loop.calls})
        width = max((loop.width for loop in loops), default=0)
        numbers = vector, len(loops) - vector, width
        rows.append((name, " ".join(calls), *map(str, numbers)))
    return Table("Innermost loops", heads, tuple(rows), words=2)


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """From each label that is jumped back to, to the last such jump."""
    places = {m[1]: k for k, line in enumerate(lines) if (m := _LABEL.match(line))}
    ends: dict[int, int] = {}
    for k, line in enumerate(lines):
        jump = _JUMP.match(line)
        if jump and places.get(jump[1], k) < k:
            ends[places[jump[1]]] = k
    return sorted(ends.items())


def _counted(lines: Sequence[str]) -> Loop:
    code = [line for line in lines if line and line[0] not in ".#"]
    floats = [(m, line) for line in code if (m := _FLOAT.match(line))]
    calls = [m[1].removesuffix("@PLT") for line in code if (m := _CALL.match(line))]
    return Loop(
        instructions=len(code),
        vector=sum(m[2] == "p" for m, _ in floats),
        scalar=sum(m[2] == "s" for m, _ in floats),
        slow=sum(m[1] in _SLOW for m, _ in floats),
        width=max((_width(m, line) for m, line in floats), default=0),
        calls=tuple(calls),
    )


def _width(found: re.Match[str], line: str) -> int:
    if found[2] == "s":
        return 64
    return max(bits for register, bits in _WIDTHS.items() if register in line)


def _numbers(loop: Loop) -> Iterator[str]:
    for number in (loop.instructions, loop.vector, loop.scalar, loop.slow):
        yield str(number)
