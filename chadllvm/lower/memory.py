"""How long buffers live: for every array the scope whose region its buffer belongs to.

A scope is the function or the body of a loop; what is allocated in the region of a loop
body is gone at the end of the iteration. An array lives in the scope that binds it
unless something that lives longer refers to it: a result of the function, a box on the
tape, the state of a loop, another name of it. One walk backwards over the program finds
the outermost scope for each variable.

The state of a loop that is an array is kept in a pair of buffers outside of the loop,
used in turn, unless some step's state has to live longer than the next step
(`outlives`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.ir.loops import into
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Function,
    If,
    Inject,
    Lambda,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
)
from chadllvm.ir.types import Acc, Array, Box, Scalar, Type
from chadllvm.lower.inplace import InPlace
from chadllvm.lower.returned import Direct
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index, MakeBox, Sized, Unbox
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update


@dataclass(eq=False)
class Scope:
    """The function (depth 0), or a loop body; depth -1 is the caller's."""

    parent: Scope | None
    depth: int
    region: int | None = None
    # The body of a recursion that this is or is in: there may be several at a time.
    recursion: Scope | None = None

    def inside(self) -> Scope:
        """A new scope in this one."""
        return Scope(self, self.depth + 1, recursion=self.recursion)


CALLER = Scope(None, -1)


@dataclass(frozen=True, slots=True)
class Life:
    """The scope of a buffer, and of all that the boxes in it refer to."""

    home: Scope
    contents: Scope


@dataclass
class Lifetimes:
    """The analysis' result, and its working state."""

    function: Scope
    in_place: InPlace
    # What calls of recursions make where their callers want it.
    direct: Direct
    lives: dict[Var, Life] = field(default_factory=dict)
    bodies: dict[Lambda, Scope] = field(default_factory=dict)
    # The states of loops whose every step's value outlives the step, by parameter.
    outlives: dict[Var, Scope] = field(default_factory=dict)
    # The functions of recursions, with their parameters and the scope of the body.
    recursions: dict[Var, tuple[Sequence[Var], Scope]] = field(default_factory=dict)

    def home(self, var: Var) -> Scope:
        """The scope in whose region the variable's buffer is."""
        return self.lives[var].home

    def contents(self, var: Var) -> Scope:
        """The scope in whose region is what the boxes in the variable refer to."""
        return self.lives[var].contents

    def need(self, operand: Operand, life: Life) -> None:
        """The operand's buffer has to live at least this long, and so its contents."""
        if not isinstance(operand, Var):
            return
        if not isinstance(operand.type, Array | Box | Acc):
            return
        old = self.lives.get(operand, life)
        home = _outer(old.home, life.home)
        contents = _outer(_outer(old.contents, life.contents), home)
        self.lives[operand] = Life(home, contents)

    def life(self, var: Var, scope: Scope) -> Life:
        return self.lives.get(var, Life(scope, scope))


def _outer(a: Scope, b: Scope) -> Scope:
    return a if a.depth <= b.depth else b


def lifetimes(
    function: Function, direct: Sequence[Var], in_place: InPlace, calls: Direct
) -> Lifetimes:
    """The life of every variable; `direct` results are allocated for the caller, and
    so are those of `calls`."""
    scope = Scope(CALLER, 0)
    found = Lifetimes(scope, in_place, calls)
    here = Life(scope, scope)
    for param in function.params:
        found.need(param, here)
    for var in direct:
        found.need(var, Life(CALLER, CALLER))
    _block(function.body, scope, [here] * len(function.body.results), found)
    return found


def _block(
    block: Block, scope: Scope, demands: Sequence[Life], found: Lifetimes
) -> None:
    for result, demand in zip(block.results, demands, strict=True):
        found.need(result, demand)
    for binding in reversed(block.bindings):
        for var in binding.vars:
            found.need(var, Life(scope, scope))
        _binding(binding, scope, found)


def _binding(binding: Binding, scope: Scope, found: Lifetimes) -> None:
    """What the operands of an expression owe to the lives of its results."""
    lives = [found.life(v, scope) for v in binding.vars]
    match binding.expr:
        case Apply(Index(), (array, *_)):
            (var,), (life,) = binding.vars, lives
            found.need(array, _through(life, scope, isinstance(var.type, Box)))
        case Apply(MakeBox() | Unbox() | Sized(), (arg, *_)):
            found.need(arg, lives[0])
        case View(cell, indices):
            assert isinstance(cell.type, Acc)
            found.need(cell, _through(lives[0], scope, _is_box(cell.type, indices)))
        case Apply(Update(), (array, *_)) if binding in found.in_place.taken:
            found.need(array, lives[0])
        case Apply(Append(), (array, _)) if binding in found.in_place.taken:
            found.need(array, lives[0])
        case Apply(DropLast(), (array,)):
            found.need(array, lives[0])
        case One(Var() as cell, (), value) if binding in found.in_place.taken:
            found.need(value, found.life(cell, scope))
        case Close(cell):
            found.need(cell, lives[0])
        case If(_, then, orelse):
            for branch in (then, orelse):
                _block(branch, scope, lives, found)
        case Apply(Recurse()) as node:
            _recursion(node, binding, lives, found, scope)
        case Apply(_, _, (body,)) as node:
            _loop(node, body, binding, lives, found, scope)
        case Call(Var() as function, args) if function in found.recursions:
            _call(function, args, lives, found)
        case Apply() | Const() | Open() | One():
            return
        case Lambda() | Tuple() | Proj() | Inject() | Case() | Call():
            return
        case _:
            assert_never(binding.expr)


def _through(life: Life, scope: Scope, is_box: bool) -> Life:
    """How long an array has to live whose part has this life; the part may be a box."""
    return Life(scope, _outer(life.home, life.contents)) if is_box else life


def _is_box(cell: Acc, indices: Sequence[Operand]) -> bool:
    match cell.content:
        case Array(Box(), rank):
            return len(indices) == rank
        case _:
            return False


def _loop(
    node: Apply,
    body: Lambda,
    binding: Binding,
    lives: Sequence[Life],
    found: Lifetimes,
    outer: Scope,
) -> None:
    scope = found.bodies.setdefault(body, outer.inside())
    states = body.params[1:]
    results = body.body.results
    demands = [
        _collected(result.type, life, scope)
        for result, life in zip(results, lives, strict=False)
    ]
    demands[: len(states)] = [Life(scope, scope)] * len(states)
    finals = [life.home for life in lives[: len(states)]]
    while _run_body(body, scope, demands, finals, found):
        pass
    _final_states(node, body, binding, found, outer)


def _recursion(
    node: Apply,
    binding: Binding,
    lives: Sequence[Life],
    found: Lifetimes,
    outer: Scope,
) -> None:
    """A call's results are made or copied where they are needed; what boxes in them
    refer to lives as long as where the outermost call's do. What is given to one call
    lives as long as what is given to any."""
    (body,) = node.bodies
    op = node.op
    assert isinstance(op, Recurse)
    scope = found.bodies.get(body)
    if scope is None:
        scope = found.bodies[body] = outer.inside()
        scope.recursion = scope
    itself, *params = body.params
    found.recursions[itself] = params, scope
    finals, _, outputs = op.parts(lives, op.plain(body))
    results = body.body.results
    demands = [Life(scope, life.contents) for life in finals]
    back = found.in_place.handed_back.get(itself, {})
    arrays = [
        k for k, r in enumerate(results) if isinstance(r.type, Array) and k not in back
    ]
    for k in found.direct.get(itself, ()):
        wanted = Scope(outer, outer.depth, into(arrays.index(k)))
        demands[k] = Life(wanted, wanted)
    for result, life in zip(results[len(finals) :], outputs, strict=True):
        demands.append(_collected(result.type, life, scope))
    known: list[Life] | None = None
    while known != (new := [found.life(p, scope) for p in params]):
        known = new
        _block(body.body, scope, demands, found)
    _call(itself, node.args, lives, found)


def _call(
    function: Var, args: Sequence[Operand], lives: Sequence[Life], found: Lifetimes
) -> None:
    params, scope = found.recursions[function]
    for param, arg in zip(params, args, strict=True):
        found.need(arg, found.life(param, scope))
    for k, at in found.in_place.handed_back.get(function, {}).items():
        found.need(args[at], lives[k])


def _final_states(
    node: Apply, body: Lambda, binding: Binding, found: Lifetimes, outer: Scope
) -> None:
    """A final state may be any initial one, or an array from outside of the loop.

    One that is in place from the first step on is in the buffer of its initial value.
    States that change places may each end in the buffer of any of them.
    """
    states = body.params[1:]
    inside = {v for b in body.body.bindings for v in b.vars} | set(body.params)
    for k, state in enumerate(states):
        if state in found.outlives:
            longest = found.outlives[state]
            found.need(binding.vars[k], Life(longest, longest))
    triples = list(zip(states, node.args[1:], binding.vars, strict=False))
    turning = [f for s, _, f in triples if s in found.in_place.turning]
    for final in turning:
        for other in turning:
            found.need(final, found.life(other, outer))
    mixing = [(s, i, f) for s, i, f in triples if not _is_steady(s, found.in_place)]
    for state, init, final in triples:
        if _is_steady(state, found.in_place) and state in found.in_place.moved:
            found.need(init, found.life(final, outer))
    kept = [i for _, i, _ in mixing]
    kept += [r for r in body.body.results if r not in inside]
    for state, _, final in mixing:
        if isinstance(state.type, Array):
            for operand in kept:
                found.need(operand, found.life(final, outer))


def _is_steady(state: Var, in_place: InPlace) -> bool:
    """Whether a state stays in a buffer of its own, and has no boxes."""
    is_plain = isinstance(state.type, Array) and isinstance(state.type.elem, Scalar)
    return is_plain and state in in_place.steady


def _collected(ty: Type, life: Life, scope: Scope) -> Life:
    """How long a result has to live that is stored in an array with this life.

    A row is copied, or built in its place; what boxes refer to is neither.
    """
    if isinstance(ty, Box):
        return Life(life.contents, life.contents)
    return Life(scope, life.contents if isinstance(ty, Array) else scope)


def _run_body(
    body: Lambda,
    scope: Scope,
    demands: list[Life],
    finals: Sequence[Scope],
    found: Lifetimes,
) -> bool:
    """Go over a loop's body; whether some state turns out to live longer. That one
    stays where it is made, and so the last step's is the final one."""
    _block(body.body, scope, demands, found)
    again = False
    for k, (state, final) in enumerate(zip(body.params[1:], finals, strict=True)):
        longer = found.life(state, scope).home
        if longer.depth < scope.depth:
            longer = _outer(longer, final)
        if longer.depth < demands[k].home.depth:
            demands[k] = Life(longer, longer)
            found.outlives[state] = longer
            again = True
    return again
