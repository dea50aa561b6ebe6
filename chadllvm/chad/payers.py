"""Who pays for the cells of arrays: the cost law, checked of what D[·] has made.

A backpropagator that opens a cell for an array clears as many numbers as the array has.
That is within the law where the run of the block that the backpropagator belongs to has
done as much work for the array: its *payer* is

- an input of the function, in the function's own block; or of its parts, as this block
  runs once;
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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.rewrite import everywhere
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
)
from chadllvm.ir.types import Acc, Array
from chadllvm.ops.handed_back import HandedBack, handed_back
from chadllvm.ops.index import Dim, Index, MakeBox, Sized, Unbox
from chadllvm.ops.iterate import Iterate, Steps, begun_with, least_steps
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.support.diagnostic import InternalError, Span


@dataclass(frozen=True)
class Unpaid:
    """An array that a backpropagator opens a cell for, at the cost of nobody."""

    array: Var
    span: Span


def check_paid(program: Program) -> None:
    """Check a derivative.

    Raises:
        InternalError: if nobody pays for a cell.
    """
    for cell in unpaid(program):
        name, place = cell.array.name, cell.span
        raise InternalError(f"chad: nobody pays for the cell of {name} at {place}")


def unpaid(program: Program) -> list[Unpaid]:
    """The cells that nobody pays for."""
    back: HandedBack = {
        itself: results
        for function in program.functions
        for itself, results in handed_back(function.body).items()
    }
    steps = Steps()
    for function in program.functions:
        for binding in everywhere(function.body):
            steps.enter(binding)
    walk = _Payers(_Known(back, steps))
    for function in program.functions:
        run = _Run(function.body, walk.known, function.params, runs_once=True)
        walk.block(function.body, run)
    return [*dict.fromkeys(walk.found)]


# Arrays by their sizes, and by themselves.
Sizes = dict[Operand, Var]


@dataclass(frozen=True)
class _Known:
    """`calls`: which of their results the calls of recursive functions make; `back`:
    which are parameters, whose cotangents are made of the results'; `steps`: where
    loops have a step."""

    back: HandedBack
    steps: Steps
    calls: Mapping[Var, Sequence[bool]] = field(default_factory=dict)

    def with_calls(self, function: Var, made: Sequence[bool]) -> _Known:
        return replace(self, calls={**self.calls, function: made})


class _Run:
    """A block that is run: what it binds, its inputs, and the states of its loop."""

    def __init__(
        self,
        block: Block,
        known: _Known,
        inputs: Sequence[Var] = (),
        states: Sequence[Var] = (),
        collected: Sequence[Operand] = (),
        around: _Run | None = None,
        given: Mapping[Var, Operand] | None = None,
        steps: Sequence[Operand] = (),
        *,
        runs_once: bool = False,
    ) -> None:
        self._known = known
        self._runs_once = runs_once
        self._bound = {v: b for b in block.bindings for v in b.vars}
        self._steps = steps  # A loop that asks for one of these has a step.
        self._inputs = {*inputs}
        self._states = dict(zip(states, block.results, strict=False))
        self._around = around  # For a branch, where it is taken.
        # For a function of a user's rule, what it is called with there.
        self._given = {} if given is None else given
        self._inputs.update(_handed_on(block, collected))
        if around is not None:
            self._inputs |= around._inputs
            self._runs_once |= around._runs_once

    def pays(self, array: Operand) -> bool:
        """Whether the array is paid for, for the run of this block."""
        if array in self._states:
            return self._is_owned(self._states[array])
        return self._is_owned(array)

    def _is_owned(self, array: Operand) -> bool:
        if array in self._inputs or array in self._states:
            return True
        if isinstance(array, Var) and array in self._given:
            assert self._around is not None
            return self._around._is_owned(self._given[array])
        binding = self._bound.get(array) if isinstance(array, Var) else None
        if binding is None:
            return self._around is not None and self._around._is_owned(array)
        return self._is_made(array, binding)

    def _is_made(self, array: Operand, binding: Binding) -> bool:
        match binding.expr:
            case Apply(Index() | Unbox() | MakeBox(), (whole, *_)):
                return self._runs_once and self._is_owned(whole)
            case Apply(Recurse() as op, args, (body,)):
                k = _position(binding, array)
                back = self._known.back.get(body.params[0], {})
                if k in back:
                    return self._is_owned(args[back[k]])
                made = self._known.calls.get(body.params[0]) or self.made(op, body)
                return made[k] if k < len(made) else True
            case Call(Var() as function, args) if function in self._known.calls:
                k = _position(binding, array)
                back = self._known.back.get(function, {})
                if k in back:
                    return self._is_owned(args[back[k]])
                return self._known.calls[function][k]
            case Call(Var() as function, args):
                rule = self._function(function)
                if rule is None:
                    return False
                params, block = rule
                result = block.results[_position(binding, array)]
                return self.called(params, block, args)._is_owned(result)
            case Apply(Update() | Sized(), (old, *_)):
                return self._is_owned(old)
            case Apply(Iterate(), (_, *inits), (body,)) as node:
                k = _position(binding, array)
                step = _Run(body.body, self._known, states=body.params[1:])
                return (
                    k >= len(inits)
                    or (self._is_owned(inits[k]) and step.pays(body.params[1 + k]))
                    or self._is_anew(node, k)
                )
            case If(_, then, orelse) as branch:
                k = _position(binding, array)
                sides = zip(self.sides(branch), (then, orelse), strict=True)
                return all(side._is_owned(b.results[k]) for side, b in sides)
            case Apply() | Close():
                return True
            case _:
                return False

    def _is_anew(self, node: Apply, k: int) -> bool:
        """Whether a state of a loop is what some step makes in the end, or one of those
        that it begins with, which are paid for."""
        (body,), inits = node.bodies, node.args[1:]
        step = _Run(body.body, self._known)
        old = begun_with(body, k, step._is_owned)
        least = least_steps(node, self._has_step)
        return old is not None and all(self._is_owned(inits[j]) for j in old[least:])

    def _function(self, function: Var) -> tuple[Sequence[Var], Block] | None:
        """The function that a variable is, if it is bound here or around."""
        binding = self._bound.get(function)
        if binding is not None and isinstance(binding.expr, Lambda):
            return binding.expr.params, binding.expr.body
        return None if self._around is None else self._around._function(function)

    def _has_step(self, asked: Operand) -> bool:
        """Whether a loop that asks for this is known to have a step."""
        if asked in self._steps:
            return True
        return self._around is not None and self._around._has_step(asked)

    def side(self, block: Block, steps: Sequence[Operand] = ()) -> _Run:
        """The run of a function, or of a branch in this block."""
        return _Run(block, self._known, around=self, steps=steps)

    def sides(self, branch: If) -> tuple[_Run, _Run]:
        """The runs of both branches."""
        steps = self._known.steps.where(branch.cond)
        return self.side(branch.then, steps), self.side(branch.orelse)

    def called(
        self, params: Sequence[Var], block: Block, args: Sequence[Operand]
    ) -> _Run:
        """The run of a function of a user's rule, which is called in this block."""
        given = dict(zip(params, args, strict=True))
        return _Run(block, self._known, around=self, given=given)

    def made(self, op: Recurse, body: Lambda) -> Sequence[bool]:
        """Which results of a recursion its calls make, if those inside do."""
        results = body.body.results[: op.plain(body)]
        made = [True for _ in results]
        while True:
            known = self._known.with_calls(body.params[0], made)
            run = _Run(body.body, known, _handed(body, known))
            found = [run._is_owned(r) for r in results]
            if found == made:
                return made
            made = [a and b for a, b in zip(made, found, strict=True)]


class _Payers:
    """Goes through the blocks of a program, with the run that each is a part of."""

    def __init__(self, known: _Known) -> None:
        self.found: list[Unpaid] = []
        self.known = known

    def block(
        self, block: Block, run: _Run, sizes: Sizes | None = None, opens: bool = False
    ) -> None:
        """A block, and those in it; `opens`: it is of a backpropagator, whose cells
        are for arrays of the block that binds it, or for its own."""
        sizes = {**(sizes or {}), **_sizes(block)}
        called = _called(block)
        for binding in block.bindings:
            match binding.expr:
                case Lambda(_, body) as rule if binding.vars[0] in called:
                    inner = run.called(rule.params, body, called[binding.vars[0]])
                    self.block(body, inner, sizes)
                case Open(Array(), dims) if opens:
                    self._open(binding, dims, run, sizes)
                case Lambda(_, body):
                    self.block(body, run.side(body), sizes, True)
                case If(_, then, orelse) as branch:
                    for side, inner in zip(
                        (then, orelse), run.sides(branch), strict=True
                    ):
                        self.block(side, inner, sizes, opens)
                case Apply(Recurse() as op, _, (body,)):
                    made = run.made(op, body)
                    self.known = self.known.with_calls(body.params[0], made)
                    rows = body.body.results[op.plain(body) :]
                    handed = _handed(body, self.known)
                    step = _Run(body.body, self.known, handed, collected=rows)
                    self.block(body.body, step, sizes, opens)
                case Apply(Iterate(), _, (body,)):
                    states = body.params[1:]
                    rows = body.body.results[len(states) :]
                    step = self._run(body, states, rows)
                    self.block(body.body, step, sizes, opens)
                case Apply(_, _, bodies):
                    for body in bodies:
                        step = self._run(body, collected=body.body.results)
                        self.block(body.body, step, sizes, opens)
                case _:
                    pass

    def _run(
        self,
        body: Lambda,
        states: Sequence[Var] = (),
        collected: Sequence[Operand] = (),
    ) -> _Run:
        """The run of an operation's body."""
        return _Run(body.body, self.known, (), states, collected)

    def _open(
        self, binding: Binding, dims: Sequence[Operand], run: _Run, sizes: Sizes
    ) -> None:
        """A cell for an array of these dimensions."""
        if all(isinstance(dim, Lit) for dim in dims):
            return
        array = sizes.get(dims[0])
        if array is None or not run.pays(array):
            cell = binding.vars[0]
            self.found.append(Unpaid(array or cell, binding.span))


def _handed(body: Lambda, known: _Known) -> list[Var]:
    """The parameters of a recursion that are handed back, as their cotangents are."""
    return [body.params[1 + k] for k in known.back.get(body.params[0], {}).values()]


def _handed_on(
    block: Block,
    results: Sequence[Operand],
    around: Mapping[Operand, Binding] | None = None,
) -> Iterator[Var]:
    """Arrays that a block hands on, and what its branches give for them."""
    bound: dict[Operand, Binding] = {**(around or {})}
    bound.update((v, b) for b in block.bindings for v in b.vars)
    for array in results:
        if isinstance(array, Var) and array in bound:
            yield array
            match bound[array].expr:
                case If(_, then, orelse):
                    k = _position(bound[array], array)
                    for side in (then, orelse):
                        yield from _handed_on(side, [side.results[k]], bound)


def _called(block: Block) -> dict[Operand, Sequence[Operand]]:
    """The functions of users' rules that a block calls, with what it gives them.

    They take no cells, unlike the backpropagator of a whole program.
    """
    calls = (b.expr for b in block.bindings if isinstance(b.expr, Call))
    return {
        call.function: call.args
        for call in calls
        if isinstance(call.function, Var)
        and not any(isinstance(arg.type, Acc) for arg in call.args)
    }


def _sizes(block: Block) -> Sizes:
    """The arrays whose sizes a block asks for, by these; and all by themselves."""
    found: Sizes = {}
    for binding in block.bindings:
        match binding.expr:
            case Apply(Dim(0), (Var() as array,)):
                found[binding.vars[0]] = array
        found.update((v, v) for v in binding.vars if isinstance(v.type, Array))
    return found


def _position(binding: Binding, array: Operand) -> int:
    return next(k for k, var in enumerate(binding.vars) if var is array)
