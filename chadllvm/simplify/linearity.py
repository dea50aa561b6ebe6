"""States of a loop that its steps update and exchange, each used as a linear value.

    iterate(n, a, b) { i, p, q ->
      u, v = if c { yield q, p }        u and v are p and q, in this order or the other
             else { yield p, q }
      w = update(u, i, x)
      yield w, v }

Such an array is *consumed* where it is updated or handed on: at most once on each way
through a step, and nobody reads it later. What a branch gives that is only read is
*borrowed*: nobody reads it behind an update of what it may be. It may also be any other
array. An array that a step makes may take the place of a state. So all the names that
are owned are different arrays, and each step gives a permutation of them, and of such
as it has made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    If,
    Lambda,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update

# Which of the states, as they were at the beginning of a step, an array may be. Arrays
# that a step makes have numbers below that of any other array.
States = frozenset[int]

OTHER = -1  # Any other array.
_NONE: States = frozenset([OTHER])


@dataclass(frozen=True)
class Exchange:
    """States of one type that a loop exchanges, by their positions; `owned`: the names
    that they have in a step, without those that are borrowed; `borrowed`: these, and
    what branches give to them."""

    states: tuple[int, ...]
    owned: Set[Operand]
    borrowed: Set[Operand]


def exchanged(loop: Apply) -> Exchange | None:
    """Some states that a loop exchanges, if there are such.

    Where each step exchanges them in the same way their buffers change places, for
    which nothing has to be done.
    """
    (body,) = loop.bodies
    params = body.params[1:]
    states = {p: frozenset([k]) for k, p in enumerate(params) if is_plain(p)}
    flow = Flow(states, numbers_made=True)
    flow.block(body.body)
    if not flow.updated:
        return None
    steps = {
        k: flow.of(body.body.results[k]) for k, p in enumerate(params) if is_plain(p)
    }
    while bad := {k for k, found in steps.items() if not _old(found) <= steps.keys()}:
        steps = {k: found for k, found in steps.items() if k not in bad}
    for group in _groups([*flow.known.values()], steps):
        is_changed = len(_old(group)) > 1 and group & flow.updated
        if is_changed and (owned := _owned_linearly(body, flow, group)):
            names = {v for v, found in flow.known.items() if found & group}
            borrowed = _sources(body.body, names - owned) - owned
            return Exchange(tuple(sorted(_old(group))), owned, borrowed)
    return None


def _old(found: States) -> States:
    """All but the arrays that a step makes."""
    return frozenset(k for k in found if k >= OTHER)


def is_making(expr: Expr) -> bool:
    """Whether an expression makes an array, of which there is no other name."""
    match expr:
        case Apply(Build() | Fold() | Zeros()):
            return True
        case _:
            return False


def is_plain(var: Operand) -> bool:
    """Whether something is an array of numbers."""
    match var.type:
        case Array(Scalar()):
            return True
        case _:
            return False


def _groups(known: Sequence[States], steps: Mapping[int, States]) -> Iterator[States]:
    """The states that may become one another, or between which a branch chooses."""
    links = [*known, *(frozenset([k]) | found for k, found in steps.items())]
    left = {*steps, *(k for link in links for k in link if k < OTHER)}
    while left:
        group = {left.pop()}
        while more := {k for link in links if link & group for k in link & left}:
            group |= more
            left -= more
        yield frozenset(group)


@dataclass
class Flow:
    """Which states each array of a block may be; `updated`: those that change there.

    With `numbers_made`, arrays that the block or a loop in it makes have numbers, too.
    """

    known: dict[Var, States]
    updated: set[int] = field(default_factory=set)
    numbers_made: bool = False
    _made: dict[Var, int] = field(default_factory=dict)

    def of(self, operand: Operand) -> States:
        return self.known.get(operand, _NONE) if isinstance(operand, Var) else _NONE

    def block(self, block: Block) -> None:
        for binding in block.bindings:
            self._binding(binding)

    def _binding(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Update(), (old, *_)):
                self.known[binding.vars[0]] = self.of(old)
                self.updated |= self.of(old) - _NONE
            case If(_, then, orelse):
                self.block(then)
                self.block(orelse)
                for k, var in enumerate(binding.vars):
                    found = self.of(then.results[k]) | self.of(orelse.results[k])
                    self._enter(var, found)
            case Apply(Iterate(), (_, *inits), (body,)):
                self._loop(binding.vars, inits, body)
            case expr:
                for var in binding.vars:
                    if self.numbers_made and is_making(expr):
                        number = self._made.setdefault(var, OTHER - 1 - len(self._made))
                        self._enter(var, frozenset([number]))
                is_outside, self.numbers_made = self.numbers_made, False
                for _, inner in nested(expr):
                    self.block(inner)
                self.numbers_made = is_outside

    def _enter(self, var: Var, found: States) -> None:
        if is_plain(var) and found != _NONE:
            self.known[var] = found

    def _loop(
        self, finals: Sequence[Var], inits: Sequence[Operand], body: Lambda
    ) -> None:
        params = body.params[1:]
        for param, init in zip(params, inits, strict=True):
            self._enter(param, self.of(init))
        self.steps(body)
        for final, param in zip(finals, params, strict=False):
            self._enter(final, self.of(param))

    def steps(self, body: Lambda) -> None:
        """All steps of a loop whose initial states are known."""
        params = body.params[1:]
        while True:
            self.block(body.body)
            wider = {
                p: self.of(p) | self.of(r)
                for p, r in zip(params, body.body.results, strict=False)
                if is_plain(p)
            }
            if all(self.of(p) == found for p, found in wider.items()):
                break
            self.known.update(wider)


def _owned_linearly(body: Lambda, flow: Flow, group: States) -> Set[Operand]:
    """The names of a group that branches or inner loops exchange, all of them linearly;
    none otherwise."""
    names = {v for v, found in flow.known.items() if found & group}
    owned = _owned(body, names, group)
    is_alone = all(flow.of(v) <= group for v in owned)
    if not is_alone or len({v.type for v in names}) > 1:
        return frozenset()
    if not _is_mixed(body, flow, owned, group):
        return frozenset()
    return owned if _Linear(flow, names, owned).step(body, group) else frozenset()


def _is_mixed(body: Lambda, flow: Flow, owned: Set[Operand], group: States) -> bool:
    """Whether names are about one state or another, or states that change places in
    each step are sometimes made."""
    found = [flow.of(v) for v in owned]
    if any(len(_old(states)) > 1 for states in found):
        return True
    results = {k: _old(flow.of(body.body.results[k])) for k in _old(group)}
    is_made = any(_old(states) not in (frozenset(), states) for states in found)
    return is_made and any(states != {k} for k, states in results.items())


def _sources(block: Block, names: Set[Operand]) -> Set[Operand]:
    """Names, with those that branches give to them."""
    found = {*names}
    for binding in reversed(block.bindings):
        match binding.expr:
            case If(_, then, orelse):
                for k, var in enumerate(binding.vars):
                    if var in found:
                        found |= {then.results[k], orelse.results[k]}
        for _, inner in nested(binding.expr):
            found |= _sources(inner, found)
    return found


def _owned(body: Lambda, names: set[Var], group: States) -> set[Operand]:
    """The names that are updated, or handed on to such or to the next step."""
    edges: dict[Operand, list[Operand]] = {}
    found: set[Operand] = {body.params[1 + k] for k in _old(group)}
    found |= {body.body.results[k] for k in _old(group)}

    def walk(block: Block) -> None:
        for binding in block.bindings:
            match binding.expr:
                case Apply(Update(), (old, *_)):
                    found.add(old)
                case If(_, then, orelse):
                    for k, var in enumerate(binding.vars):
                        edges[var] = [then.results[k], orelse.results[k]]
                case Apply(Iterate(), (_, *inits), (inner,)):
                    states = inner.params[1:]
                    results = inner.body.results
                    for k, (param, init) in enumerate(zip(states, inits, strict=True)):
                        edges[param] = [init, results[k], binding.vars[k]]
                        edges[binding.vars[k]] = [param]
                case _:
                    pass
            for _, inner_block in nested(binding.expr):
                walk(inner_block)

    walk(body.body)
    pending = [*found]
    while pending:
        more = [v for v in edges.get(pending.pop(), ()) if v not in found]
        found.update(more)
        pending += more
    return found & names


class _Broken(Exception):
    """An array is used as no linear value is."""


class _Linear:
    """Checks how the names of a group are used."""

    def __init__(self, flow: Flow, names: set[Var], owned: set[Operand]) -> None:
        self._flow = flow
        self._names = names
        self._owned = owned
        # What is consumed, and what was borrowed before an update.
        self._gone: set[Operand] = set()
        self._seen: set[Var] = set()

    def step(self, body: Lambda, group: States) -> bool:
        """Whether all is well in a step of the loop."""
        try:
            self._seen.update(body.params[1 + k] for k in _old(group))
            self._block(body.body, set())
            results = body.body.results
            for k, result in enumerate(results):
                self._result(result, k in group, set())
        except _Broken:
            return False
        return True

    def _result(self, result: Operand, is_owner: bool, fixed: set[Var]) -> None:
        if result in self._names:
            if not is_owner:
                raise _Broken
            self._consume(result, fixed)

    def _read(self, array: Operand) -> None:
        if array in self._gone:
            raise _Broken

    def _consume(self, array: Operand, fixed: set[Var]) -> None:
        """Use up a name, but none of those that more runs of a block may use."""
        self._read(array)
        if array in fixed:
            raise _Broken
        self._gone.add(array)

    def _updated(self, states: Iterable[int]) -> None:
        """What was borrowed of states is not read any more."""
        changed = {*states}
        self._gone |= {
            v for v in self._seen - self._owned if self._flow.of(v) & changed
        }

    def _block(self, block: Block, fixed: set[Var]) -> None:
        for binding in block.bindings:
            self._binding(binding, fixed)
            self._seen.update(v for v in binding.vars if v in self._names)

    def _binding(self, binding: Binding, fixed: set[Var]) -> None:
        match binding.expr:
            case Apply(Update(), (old, *rest)) if old in self._names:
                if not self._names.isdisjoint(rest):
                    raise _Broken
                self._consume(old, fixed)
                self._updated(self._flow.of(old))
            case Apply(Index(), (array, *_)) if array in self._names:
                if not isinstance(binding.vars[0].type, Scalar):
                    raise _Broken
                self._read(array)
            case Apply(Dim(), (array,)) if array in self._names:
                self._read(array)
            case If() as node:
                self._branches(binding, node, fixed)
            case Apply(Iterate(), (_, *inits), (body,)):
                self._loop(inits, body, fixed)
            case Apply(Recurse(), given) | Call(Var(), given) as node if not any(
                map(is_plain, binding.vars)
            ):
                # Calls read what they are given, and return none of it.
                for array in self._names.intersection(given):
                    self._read(array)
                for _, inner in nested(node):
                    self._nested(inner)
            case expr:
                if not self._names.isdisjoint(operands(expr)):
                    raise _Broken
                for _, inner in nested(expr):
                    self._nested(inner)

    def _branches(self, binding: Binding, node: If, fixed: set[Var]) -> None:
        before, gone = set(self._gone), set()
        for side in (node.then, node.orelse):
            self._gone = set(before)
            self._block(side, fixed)
            for var, result in zip(binding.vars, side.results, strict=True):
                self._hand_on(result, var, fixed)
            gone |= self._gone
        self._gone = gone

    def _hand_on(self, given: Operand, taken: Var, fixed: set[Var]) -> None:
        if given in self._names:
            if taken in self._owned:
                self._consume(given, fixed)
            else:
                self._read(given)

    def _loop(self, inits: Sequence[Operand], body: Lambda, fixed: set[Var]) -> None:
        params = body.params[1:]
        for param, init in zip(params, inits, strict=True):
            if param in self._names and OTHER in self._flow.of(param):
                raise _Broken
            self._hand_on(init, param, fixed)
        inner = Flow(dict(self._flow.known))
        inner.block(body.body)
        outside = set(self._seen)
        self._seen.update(p for p in params if p in self._names)
        self._updated(inner.updated)
        self._block(body.body, outside)
        self._updated(inner.updated)
        results = body.body.results
        for param, result in zip(params, results, strict=False):
            self._hand_on(result, param, outside)
        for result in results[len(params) :]:
            self._result(result, False, outside)

    def _nested(self, block: Block) -> None:
        """A block that is run again and again, which may only read."""
        self._block(block, set(self._seen))
        for result in block.results:
            self._result(result, False, set())
