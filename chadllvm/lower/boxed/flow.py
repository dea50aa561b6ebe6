"""Which lambdas may reach a call: the tags that it has to tell apart.

    f = fun (d, c) { … }                      calls of h may reach both, by the arrays
    fs = build(n) { i -> … yield f }    →     that hold them, by branches, states of
    h = if p { yield g } { … yield f' }       loops and parameters
    h(d, c)

A variable may hold what flows into it along these ways, whatever the order of things
at run time: that is finite, and found in time linear in the program where each function
is called at one place, as CHAD calls its backpropagators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

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

Lambdas = tuple[Lambda, ...]


def reaching(function: Function) -> Mapping[Var, Lambdas]:
    """The lambdas that each variable may hold, in the order they were found in."""
    flow = _Flow()
    flow.block(function.body)
    flow.settle()
    return {var: tuple(held) for var, held in flow.held.items()}


class _Flow:
    """What flows from variable to variable; `pending` has not flowed on yet."""

    def __init__(self) -> None:
        self.held: defaultdict[Var, dict[Lambda, None]] = defaultdict(dict)
        self._to: defaultdict[Var, list[Var]] = defaultdict(list)
        self._calls: defaultdict[Var, list[Binding]] = defaultdict(list)
        self._pending: list[tuple[Var, Lambda]] = []

    def block(self, block: Block) -> None:
        for binding in block.bindings:
            self._binding(binding)
            for _, inner in nested(binding.expr):
                self.block(inner)

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
            case Call(Var() as function, _):
                self._calls[function].append(binding)
                for known in tuple(self.held[function]):
                    self._enter(binding, known)
            case If(_, then, orelse):
                self._pairs(then.results, binding.vars)
                self._pairs(orelse.results, binding.vars)
            case Apply(_, args, ()):
                for var in binding.vars:
                    self._pairs(args, [var] * len(args))
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
