"""Which lambdas may reach a call: the tags that it has to tell apart.

    f = fun (d, c) { … }                      calls of h may reach both, by the arrays
    fs = build(n) { i -> … yield f }    →     that hold them, by branches, states of
    h = if p { yield g } { … yield f' }       loops and parameters
    h(d, c)

What calls of a recursion give is what its body gives. A lambda that may be called while
it runs (`repeated`) cannot stand where it is called.

A variable may hold what flows into it along these ways, whatever the order of things
at run time: that is finite, and found in time linear in the program where each function
is called at one place, as CHAD calls its backpropagators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Function,
    If,
    Lambda,
    Operand,
    Var,
    nested,
)
from chadllvm.ir.types import has_fun
from chadllvm.ops.recurse import Recurse

Lambdas = tuple[Lambda, ...]


def reaching(function: Function) -> Mapping[Var, Lambdas]:
    """The lambdas that each variable may hold, in the order they were found in."""
    flow = _Flow()
    flow.block(function.body)
    flow.settle()
    return {var: tuple(held) for var, held in flow.held.items()}


def repeated(function: Function, reaching: Mapping[Var, Lambdas]) -> frozenset[Lambda]:
    """Lambdas that may be called while they run: at least one of each circle.

    They are those that a walk along the calls meets again below themselves.
    """
    found: set[Lambda] = set()
    done: set[Lambda] = set()
    above: dict[Lambda, None] = {}
    waiting = [_targets(function.body, reaching)]
    while waiting:
        target = next(waiting[-1], None)
        if target is None:
            waiting.pop()
            if above:
                done.add(above.popitem()[0])
        elif target in above:
            found.add(target)
        elif target not in done:
            above[target] = None
            waiting.append(_targets(target.body, reaching))
    return frozenset(found)


def _targets(block: Block, reaching: Mapping[Var, Lambdas]) -> Iterator[Lambda]:
    """What a run of a block may call; functions that it makes are not run by that."""
    for binding in block.bindings:
        match binding.expr:
            case Lambda():
                continue
            case Call(Var() as function):
                yield from reaching.get(function, ())
            case expr:
                for _, inner in nested(expr):
                    yield from _targets(inner, reaching)


class _Flow:
    """What flows from variable to variable; `pending` has not flowed on yet."""

    def __init__(self) -> None:
        self.held: defaultdict[Var, dict[Lambda, None]] = defaultdict(dict)
        self._to: defaultdict[Var, list[Var]] = defaultdict(list)
        self._calls: defaultdict[Var, list[Binding]] = defaultdict(list)
        # The results of what calls itself.
        self._recursions: dict[Var, Sequence[Operand]] = {}
        self._pending: list[tuple[Var, Lambda]] = []

    def block(self, block: Block) -> None:
        for binding in everywhere(block):
            self._binding(binding)

    def settle(self) -> None:
        """Let everything flow as far as it goes."""
        while self._pending:
            var, function = self._pending.pop()
            for target in self._to[var]:
                self._hold(target, function)
            for call in self._calls[var]:
                self._enter(call, function)

    def _hold(self, var: Var, function: Lambda) -> None:
        if function not in self.held[var]:
            self.held[var][function] = None
            self._pending.append((var, function))

    def _binding(self, binding: Binding) -> None:
        match binding.expr:
            case Lambda() as function:
                self._hold(binding.vars[0], function)
            case Call(Var() as function, _) if function in self._recursions:
                self._pairs(self._recursions[function], binding.vars)
            case Call(Var() as function, _):
                self._calls[function].append(binding)
            case If(_, then, orelse):
                self._pairs(then.results, binding.vars)
                self._pairs(orelse.results, binding.vars)
            case Apply(_, args, ()):
                for var in binding.vars:
                    self._pairs(args, [var] * len(args))
            case Apply(Recurse() as op, _, (body,)):
                self._recursion(op, body, binding)
            case Apply(_, args, bodies):
                for body in bodies:
                    self._loop(body, args[1:], binding)
            case _:
                return

    def _loop(self, body: Lambda, inits: Sequence[Operand], binding: Binding) -> None:
        """States come from their initial values and from the steps."""
        results, states = body.body.results, body.params[1:]
        self._pairs(results, binding.vars)
        self._pairs(results, states)
        self._pairs(inits, states)
        self._pairs(inits, binding.vars)

    def _recursion(self, op: Recurse, body: Lambda, binding: Binding) -> None:
        """No function is passed; each call gives what the body does."""
        count = op.plain(body)
        finals, _, arrays = op.parts(binding.vars, count)
        self._pairs(body.body.results, (*finals, *arrays))
        self._recursions[body.params[0]] = body.body.results[:count]

    def _enter(self, binding: Binding, function: Lambda) -> None:
        assert isinstance(binding.expr, Call)
        self._pairs(binding.expr.args, function.params)
        self._pairs(function.body.results, binding.vars)

    def _pairs(self, sources: Iterable[Operand], targets: Iterable[Var]) -> None:
        for source, target in zip(sources, targets, strict=False):
            if isinstance(source, Var) and has_fun(source.type):
                self._edge(source, target)

    def _edge(self, source: Var, target: Var) -> None:
        if has_fun(target.type) and target not in self._to[source]:
            self._to[source].append(target)
            for function in tuple(self.held[source]):
                self._hold(target, function)
