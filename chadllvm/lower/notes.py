"""What the lowering decided, for the user to read: copies, and what loops store.

Notes are taken where the decision is made, so they cannot differ from what is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from chadllvm.ir.loops import ArrayCopy, LoopNote, Stored
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars
from chadllvm.ir.term import Apply, Block, If, Lambda, Operand, Var
from chadllvm.ir.types import Scalar
from chadllvm.lower.destination import definitions
from chadllvm.lower.reasons import Reason, display, stored_because
from chadllvm.support.diagnostic import Span

# The bytes of a stored element; all other scalars take eight.
_BYTES = {"bool": 1, "f32": 4}


class Notes:
    """The notes of one function; `tape` are the arrays that keep captures."""

    def __init__(self, tape: Collection[Var]) -> None:
        self.copies: dict[ArrayCopy, None] = {}
        self.loops: list[LoopNote] = []
        self._numbers: dict[Lambda, int] = {}
        self._tape = tape

    def copied(self, array: Operand, span: Span, reason: Reason) -> None:
        """An array is copied here."""
        name = display(array) if isinstance(array, Var) else str(array)
        self.copies[ArrayCopy(name, span, reason.text, reason.span)] = None

    def loop(
        self, body: Lambda, collected: Sequence[Var], span: Span, depth: int
    ) -> None:
        """A loop over this body collects these arrays, its last results."""
        block = body.body
        results = block.results[len(block.results) - len(collected) :]
        defined = definitions(block)
        stored = []
        for var, result in zip(collected, results, strict=True):
            binding = defined.get(result) if isinstance(result, Var) else None
            size = None
            if isinstance(result.type, Scalar):
                size = _BYTES.get(result.type.name, 8)
            place = binding.span if binding is not None else span
            is_tape = var in self._tape
            why = stored_because(binding) if is_tape else ""
            stored.append(Stored(display(var), place, size, is_tape, why))
        free = free_vars([(body.params, block)])
        reads = [display(v) for v in free if v in self._tape]
        checks = dict.fromkeys(_checks(block))
        note = LoopNote(span, depth, tuple(stored), tuple(reads), tuple(checks))
        self._numbers[body] = len(self.loops)
        self.loops.append(note)

    def number(self, body: Lambda) -> int:
        """The number of the note of the loop over a body; -1 if there is none."""
        return self._numbers.get(body, -1)


def _checks(block: Block) -> Iterator[Span]:
    """The places whose indices are checked in a block, outside of inner loops."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(Prim(name=("bound" | "within"))):
                yield binding.span
            case If(_, then, orelse):
                yield from _checks(then)
                yield from _checks(orelse)
