"""Who pays for the cells of arrays: the cost law, checked of what D[·] has made.

A backpropagator that opens a cell for an array clears as many numbers as the array has.
That is within the law where the run of the block that the backpropagator belongs to has
done as much work for the array: its *payer* is

- an input of the function, in the function's own block;
- what makes the array in the block: a loop, zeros, an update, the close of a cell, a
  branch that makes one on both sides, or a recursion whose calls do;
- the loop that collects the array, for it is copied to a row;
- for the state of a loop, the step before, if steps make the state or hand it on: then
  its cotangent is moved to the cell.

Any other array is (a part of) one that is there anyway: its cell ought to be a view.

    k = if c { yield a }                 fun (…) {
        else { yield b }        →          k_c = open f64[:](k_dim)      nobody pays
    k_dim = dim[0](k)                      … }

Looks at a program as D[·] leaves it, with the backpropagators in their blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chadllvm.diagnostic import Span
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    If,
    Lambda,
    Lit,
    Open,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.ir.types import Array
from chadllvm.ops.index import Dim, Index, MakeBox, Sized, Unbox
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update


@dataclass(frozen=True)
class Unpaid:
    """An array that a backpropagator opens a cell for, at the cost of nobody."""

    array: Var
    span: Span


def unpaid(program: Program) -> list[Unpaid]:
    """The cells that nobody pays for."""
    walk = _Payers()
    for function in program.functions:
        run = _Run(function.body, inputs=function.params)
        walk.block(function.body, run)
    return [*dict.fromkeys(walk.found)]


# Which of their results the calls of recursive functions make.
Calls = dict[Var, Sequence[bool]]


class _Run:
    """A block that is run: what it binds, its inputs, and the states of its loop."""

    def __init__(
        self,
        block: Block,
        inputs: Sequence[Var] = (),
        states: Sequence[Var] = (),
        collected: Sequence[Operand] = (),
        around: _Run | None = None,
        calls: Calls | None = None,
    ) -> None:
        self._calls: Calls = {} if calls is None else calls
        self._bound = {v: b for b in block.bindings for v in b.vars}
        self._inputs = {*inputs}
        self._states = dict(zip(states, block.results, strict=False))
        self._around = around  # For a branch, where it is taken.
        self._inputs.update(self._handed_on(collected))

    def _handed_on(self, results: Sequence[Operand]) -> Iterator[Var]:
        """Arrays that branches give, with what these take from the block."""
        pending = [*results]
        while pending:
            array = pending.pop()
            if not isinstance(array, Var) or array not in self._bound:
                continue
            yield array
            match self._bound[array].expr:
                case If(_, then, orelse):
                    k = _position(self._bound[array], array)
                    pending += [then.results[k], orelse.results[k]]

    def pays(self, array: Operand) -> bool:
        """Whether the array is paid for, for the run of this block."""
        if array in self._states:
            return self._is_owned(self._states[array])
        return self._is_owned(array)

    def _is_owned(self, array: Operand) -> bool:
        if array in self._inputs or array in self._states:
            return True
        binding = self._bound.get(array) if isinstance(array, Var) else None
        if binding is None:
            return self._around is not None and self._around._is_owned(array)
        return self._is_made(array, binding)

    def _is_made(self, array: Operand, binding: Binding) -> bool:
        match binding.expr:
            case Apply(Index() | Unbox() | MakeBox()):
                return False
            case Apply(Recurse() as op, _, (body,)):
                k = _position(binding, array)
                made = self._calls.get(body.params[0]) or self.made(op, body)
                return made[k] if k < len(made) else True
            case Call(Var() as function) if function in self._calls:
                return self._calls[function][_position(binding, array)]
            case Apply(Update() | Sized(), (old, *_)):
                return self._is_owned(old)
            case Apply(Iterate(), (_, *inits), (body,)):
                k = _position(binding, array)
                step = _Run(body.body, states=body.params[1:], calls=self._calls)
                return k >= len(inits) or (
                    self._is_owned(inits[k]) and step.pays(body.params[1 + k])
                )
            case If(_, then, orelse):
                k = _position(binding, array)
                sides = [(self.side(b), b.results[k]) for b in (then, orelse)]
                return all(side._is_owned(result) for side, result in sides)
            case Apply() | Close():
                return True
            case _:
                return False

    def side(self, block: Block) -> _Run:
        """The run of a branch in this block."""
        return _Run(block, around=self, calls=self._calls)

    def made(self, op: Recurse, body: Lambda) -> Sequence[bool]:
        """Which results of a recursion its calls make, if those inside do."""
        results = body.body.results[: op.plain(body)]
        made = [True for _ in results]
        while True:
            run = _Run(body.body, calls={**self._calls, body.params[0]: made})
            found = [run._is_owned(r) for r in results]
            if found == made:
                return made
            made = [a and b for a, b in zip(made, found, strict=True)]


class _Payers:
    """Goes through the blocks of a program, with the run that each is a part of."""

    def __init__(self) -> None:
        self.found: list[Unpaid] = []
        self._calls: Calls = {}

    def block(self, block: Block, run: _Run) -> None:
        sizes = _sizes(block)
        for binding in block.bindings:
            match binding.expr:
                case Lambda(_, body):
                    self._backpropagator(body, run, sizes)
                case If(_, then, orelse):
                    for side in (then, orelse):
                        self.block(side, run.side(side))
                case Apply(Recurse() as op, _, (body,)):
                    self._calls[body.params[0]] = run.made(op, body)
                    rows = body.body.results[op.plain(body) :]
                    self.block(body.body, self._run(body, collected=rows))
                case Apply(Iterate(), _, (body,)):
                    states = body.params[1:]
                    rows = body.body.results[len(states) :]
                    self.block(body.body, self._run(body, states, rows))
                case Apply(_, _, bodies):
                    for body in bodies:
                        rows = body.body.results
                        self.block(body.body, self._run(body, collected=rows))
                case _:
                    pass

    def _run(
        self,
        body: Lambda,
        states: Sequence[Var] = (),
        collected: Sequence[Operand] = (),
    ) -> _Run:
        """The run of an operation's body."""
        return _Run(body.body, (), states, collected, calls=self._calls)

    def _backpropagator(
        self, body: Block, run: _Run, sizes: dict[Operand, Var]
    ) -> None:
        """The cells that one opens for arrays of the block that it is of, or its own,
        which the derivatives in a user's rule make."""
        run, sizes = run.side(body), {**sizes, **_sizes(body)}
        for binding in body.bindings:
            match binding.expr:
                case Open(Array(), dims) if not all(isinstance(d, Lit) for d in dims):
                    array = sizes.get(dims[0])
                    if array is None or not run.pays(array):
                        cell = binding.vars[0]
                        self.found.append(Unpaid(array or cell, binding.span))
                case expr:
                    for _, inner in nested(expr):
                        self._backpropagator(inner, run, sizes)


def _sizes(block: Block) -> dict[Operand, Var]:
    """The arrays whose sizes a block asks for, by these; and all by themselves."""
    found: dict[Operand, Var] = {}
    for binding in block.bindings:
        match binding.expr:
            case Apply(Dim(0), (Var() as array,)):
                found[binding.vars[0]] = array
        found.update((v, v) for v in binding.vars if isinstance(v.type, Array))
    return found


def _position(binding: Binding, array: Operand) -> int:
    return next(k for k, var in enumerate(binding.vars) if var is array)
