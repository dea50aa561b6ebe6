"""Where in a program a pass was when it failed, and how deep programs are nested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chadllvm.ir.build import Builder
from chadllvm.ir.pretty import bindings_around
from chadllvm.ir.term import Binding, Block, Program, nested
from chadllvm.support.diagnostic import Diagnostic, Span


def nesting(program: Program) -> int:
    """How many blocks are inside of each other."""
    level, count = [f.body for f in program.functions], 0
    while level:
        level = [inner for block in level for inner in _inner(block)]
        count += 1
    return count


def _inner(block: Block) -> Iterator[Block]:
    for binding in block.bindings:
        yield from (inner for _, inner in nested(binding.expr))


def place_among(
    frames: Sequence[dict[str, Any]], given: Program | None
) -> Iterator[str]:
    """The user's line, and the bindings around the one that was being looked at.

    `frames` are the variables of the functions that were running, the innermost first;
    `given` is the program that they were given.
    """
    bindings = [v for f in frames for v in f.values() if isinstance(v, Binding)]
    spans = [span for f in frames for span in _spans(f)]
    spans += [f.span for f in given.functions if f.span.line] if given else []
    if spans:
        yield from Diagnostic("", spans[0]).render().splitlines()[1:]
    if bindings:
        yield "  = bindings:"
        yield from bindings_around(*_block_with(bindings[0], given))


def _spans(variables: dict[str, Any]) -> Iterator[Span]:
    """The places in the user's text that the variables of a function tell."""
    cx, node = variables.get("cx"), variables.get("node")
    if cx is not None and hasattr(cx, "span") and hasattr(node, "lineno"):
        yield cx.span(node)
    for value in variables.values():
        span = value.span if isinstance(value, Binding | Builder) else value
        if isinstance(span, Span) and span.line:
            yield span


def _block_with(binding: Binding, given: Program | None) -> tuple[Block, int]:
    """The block of a program that has a binding; one with nothing else if none has."""
    waiting = [f.body for f in given.functions] if given else []
    while waiting:
        block = waiting.pop()
        for k, found in enumerate(block.bindings):
            if found is binding:
                return block, k
        waiting += _inner(block)
    return Block((binding,), ()), 0
