"""Calls of top-level functions become copies of their bodies; only the entry is left.

    def f(x) { y = mul(x, x); return y }            def main(a) {
    def main(a) {                             →       y = mul(a, a)
      b = @f(a)                                       return y }
      return b }

Callees stand before their callers, so that each is inlined into already when it is
copied. A binding keeps its span: an error inside of a callee is reported there.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from chadllvm.ir.rewrite import Renaming, with_body
from chadllvm.ir.term import (
    Binding,
    Block,
    Call,
    Function,
    Mode,
    Program,
    nested,
)


def inline(program: Program) -> Program:
    """The program as its entry function alone."""
    if len(program.functions) == 1 and not _has_calls(program.entry.body):
        return program
    done: dict[str, Function] = {}
    for function in program.functions:
        body = function.body
        if _has_calls(body):
            body = _Inliner(done).block(body)
        done[function.name] = with_body(function, body)
    return Program((done[program.entry.name],))


def around_pullbacks(program: Program) -> Program:
    """Inline all but what is pulled back, and what derivatives are taken of.

    So that the call of a function, and those of its pull-back, stand in one function.
    """
    calls = [c for f in program.functions for c in _calls(f.body)]
    rules = [c.derivative for c in calls if c.derivative is not None]
    if not any(rule.mode is Mode.PULL_BACK for rule in rules):
        return program
    kept = {str(c.function) for c in calls if c.derivative is not None}
    done: dict[str, Function] = {}
    for function in program.functions:
        body = _Inliner(done, kept).block(function.body)
        done[function.name] = with_body(function, body)
    found = [f for f in done.values() if f.name in kept or f.name == program.entry.name]
    return Program(tuple(found))


def _calls(block: Block) -> Iterator[Call]:
    """The calls of top-level functions, at any depth."""
    for binding in block.bindings:
        match binding.expr:
            case Call(str()) as call:
                yield call
        for _, inner in nested(binding.expr):
            yield from _calls(inner)


def _has_calls(block: Block) -> bool:
    for binding in block.bindings:
        if isinstance(binding.expr, Call) and isinstance(binding.expr.function, str):
            return True
        if any(_has_calls(inner) for _, inner in nested(binding.expr)):
            return True
    return False


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
