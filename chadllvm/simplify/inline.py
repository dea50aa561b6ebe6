"""Calls of top-level functions become copies of their bodies; only the entry is left.

    def f(x) { y = mul(x, x); return y }            def main(a) {
    def main(a) {                             →       y = mul(a, a)
      b = @f(a)                                       return y }
      return b }

Callees stand before their callers, so that each is inlined into already when it is
copied. What the entry does not need is left out first, for inlined it may be very long.
A binding keeps its span: an error inside of a callee is reported there.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from chadllvm.ir.calls import groups
from chadllvm.ir.rewrite import Renaming, everywhere, with_body
from chadllvm.ir.term import (
    Binding,
    Block,
    Call,
    Function,
    Mode,
    Program,
)


def inline(program: Program) -> Program:
    """The program as its entry function alone."""
    if len(program.functions) == 1 and not _has_calls(program.entry.body):
        return program
    done: dict[str, Function] = {}
    functions = {f.name: f for f in program.functions}
    needed = {n for group in groups(functions, program.entry.name) for n in group}
    for function in [f for f in program.functions if f.name in needed]:
        body = function.body
        if _has_calls(body):
            body = _Inliner(done).block(body)
        done[function.name] = with_body(function, body)
    return Program((done[program.entry.name],))


def around_pullbacks(program: Program) -> Program:
    """Inline all but what is pulled back, and what derivatives are taken of.

    So that the call of a function, and those of its pull-back, stand in one function.
    """
    rules = [call.derivative for f in program.functions for call in _calls(f.body)]
    if not any(rule is not None and rule.mode is Mode.PULL_BACK for rule in rules):
        return program
    return _around_derivatives(program, whole=False)


def as_written(program: Program) -> Program:
    """All that is run, inlined but for the calls of derivatives.

    These are functions still, of which each is whole.
    """
    return _around_derivatives(program, whole=True)


def _around_derivatives(program: Program, *, whole: bool) -> Program:
    """Inline calls, if `whole` also those of what derivatives are taken of."""
    calls = [call for f in program.functions for call in _calls(f.body)]
    derived = {str(call.function) for call in calls if call.derivative is not None}
    done: dict[str, Function] = {}
    for function in program.functions:
        body = _Inliner(done, () if whole else derived).block(function.body)
        done[function.name] = with_body(function, body)
    kept = {*derived, program.entry.name}
    return Program(tuple([f for f in done.values() if f.name in kept]))


def _calls(block: Block) -> Iterator[Call]:
    """The calls of top-level functions, at any depth."""
    for binding in everywhere(block):
        match binding.expr:
            case Call(str()) as call:
                yield call


def _has_calls(block: Block) -> bool:
    return next(_calls(block), None) is not None


class _Inliner(Renaming):
    """Renames what a call gave to what the copy of the callee gives."""

    def __init__(
        self, functions: dict[str, Function], kept: Container[str] = ()
    ) -> None:
        super().__init__()
        self.functions, self.kept = functions, kept

    def block(self, block: Block) -> Block:
        bindings: list[Binding] = []
        for binding in block.bindings:
            match binding.expr:
                case Call(str() as name, _, None) if name not in self.kept:
                    bindings += self._copy(self.functions[name], binding)
                case _:
                    bindings.append(self.binding(binding))
        return Block(tuple(bindings), self.operands(block.results))

    def _copy(self, callee: Function, binding: Binding) -> tuple[Binding, ...]:
        """The callee's bindings with fresh variables and the arguments put in."""
        assert isinstance(binding.expr, Call)
        args = self.operands(binding.expr.args)
        arguments = dict(zip(callee.params, args, strict=True))
        copy = Renaming(arguments, fresh=True).block(callee.body)
        self.mapping.update(zip(binding.vars, copy.results, strict=True))
        return copy.bindings
