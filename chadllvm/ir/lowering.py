"""What an array operation may ask of a lowering: `ArrayOp.lower` is written once.

There are two lowerings. `lower/lower.py` puts arrays into buffers and knows how long
they live; `lower/boxed/` leaves them to the C runtime. What stands for a value is each
one's own affair (`Any` here); an atom stands for a scalar in both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom, Slot
from chadllvm.ir.term import Apply, Binding, Block, Lambda, Lit, Operand, Var
from chadllvm.ir.types import Array, Scalar
from chadllvm.support.diagnostic import Span
from chadllvm.support.options import Arithmetic


class Collector(Protocol):
    """Collects one result of a loop's iterations into an array."""

    def collect(self, index: Atom, result: Any) -> None:
        """Keep the result of the iteration at this index."""

    def finish(self) -> None:
        """After the loop: bind the variable."""


class Carrier(Protocol):
    """One component of a loop's state."""

    def enter(self) -> None:
        """At the start of an iteration: bind the parameter."""

    def next(self, result: Any) -> Callable[[], None]:
        """At the end of an iteration: keep the result; the step makes it the state."""

    def finish(self) -> None:
        """After the loop: bind the variable of the final state."""


class Lowering(Protocol):
    """The lowering of one function, as operations see it."""

    loops: LoopBuilder
    arithmetic: Arithmetic

    # Values.

    def bind(self, var: Var, rep: Any) -> None: ...

    def atom(self, operand: Operand) -> Atom:
        """The atom of a scalar."""

    def atom_of(self, rep: Any) -> Atom: ...

    def array(self, operand: Operand) -> Any:
        """What stands for an array or a box; they are the same."""

    # Loops.

    def loop(
        self,
        high: Atom,
        body: Lambda,
        low: Atom = Lit(0),
        *,
        parallel: bool = True,
        go: Slot | None = None,
        commutes: bool = False,
    ) -> AbstractContextManager[Atom]:
        """A loop over a body; `parallel`: its iterations commute. Gives the index.

        There is no step any more once the slot `go` is false. `commutes`: no iteration
        sees what another one does, but for what the body itself keeps in order.
        """

    def chunks(
        self, count: Atom, size: int
    ) -> AbstractContextManager[tuple[Atom, Atom]]:
        """A loop over chunks of at most `size` indices; gives the bounds of a chunk."""

    def step(self, body: Lambda, index: Atom, collectors: Sequence[Any]) -> list[Any]:
        """Lower the body of a loop at an index; the results of one iteration."""

    def collectors(
        self,
        variables: Sequence[Var],
        body: Lambda,
        first: int,
        count: Atom,
        span: Span,
        carriers: Sequence[Any] = (),
    ) -> Sequence[Collector]:
        """Collectors for the results of a body from `first` on, behind its carriers."""

    def growing(
        self, variables: Sequence[Var], body: Lambda, first: int, span: Span
    ) -> Sequence[Collector]:
        """The same for a loop whose number of steps is not known in front of it."""

    # Heaps: see `ops/heap.py`.

    def bind_new(self, binding: Binding, heap: str, args: Sequence[Operand]) -> None:
        """A new node, and its number."""

    def place_node(self, heap: str, args: Sequence[Operand]) -> None:
        """The node of the number that is the first argument."""

    def bind_count(self, binding: Binding, heap: str) -> None:
        """How many nodes there are now."""

    def bind_fetch(self, binding: Binding, heap: str, number: Operand) -> None:
        """What a node holds."""

    def load_heap(self, heap: str, args: Sequence[Operand]) -> None:
        """The columns of the nodes that a heap begins with."""

    def bind_columns(self, binding: Binding, heap: str) -> None:
        """All that is in a heap now."""

    def bind_ledger(
        self, binding: Binding, args: Sequence[Operand], reals: int
    ) -> None:
        """Zeros for the reals of the nodes from one number on, up to another."""

    def bind_peek(self, binding: Binding, args: Sequence[Operand]) -> None:
        """What a ledger has come to."""

    def recursion(self, node: Apply, binding: Binding) -> None:
        """A function that calls itself, which is applied."""

    def carriers(self, node: Apply, binding: Binding) -> Sequence[Carrier]:
        """The states of a loop."""

    @property
    def inside_parallel(self) -> bool:
        """Whether sums need no chunks here; see `ops/fold.py`."""

    def has_loop(self, block: Block) -> bool:
        """Whether a block contains loops."""

    def accumulate(self, slot: Slot, value: Atom) -> None:
        """`slot += value`"""

    def sum_of(self, a: Atom, b: Atom) -> Atom: ...

    # Arrays.

    def bind_index(self, var: Var, array: Operand, indices: Sequence[Operand]) -> None:
        """`var = array[indices]`"""

    def bind_dim(self, var: Var, array: Operand, axis: int) -> None:
        """`var = dim[axis](array)`"""

    def nan_in(self, array: Operand) -> Atom:
        """Not 0 if there is a NaN among the elements of an array of reals."""

    def elements(self, array: Operand) -> tuple[Atom, int, Sequence[Atom]]:
        """Where the elements of an array are, the bytes of each, and the sizes."""

    def address_of(self, words: np.ndarray) -> Atom:
        """The address of constant words."""

    def bind_update(self, binding: Binding, args: Sequence[Operand]) -> None:
        """The array args[0] with the part at args[1:-1] replaced by args[-1]."""

    def bind_append(self, binding: Binding, array: Operand, value: Operand) -> None:
        """The array with one more element, or row, behind the last."""

    def bind_drop_last(self, var: Var, array: Operand) -> None:
        """The array without its last element or row; there is one."""

    def bind_zeros(self, var: Var, args: Sequence[Operand], elem: Scalar) -> None: ...

    def bind_empty(self, var: Var, ty: Array) -> None: ...

    def bind_sized(self, var: Var, array: Operand, sizes: Sequence[Operand]) -> None:
        """The array, whose rows are of these sizes."""
