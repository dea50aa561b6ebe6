"""Forgets which arrays Python would have as views of others.

    y = alias(x, a)       →       y becomes x

Only `sharing` asks.
"""

from __future__ import annotations

from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import Apply, Binding, Program
from chadllvm.ops.alias import Alias
from chadllvm.simplify.walk import Walk


def views(program: Program) -> Program:
    """Put arrays in the place of their aliases."""
    return map_functions(program, lambda f: with_body(f, _Forgetting().block(f.body)))


class _Forgetting(Walk):
    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Alias(), (array, *_)):
                self.replace(binding.vars[0], array)
            case _:
                self.keep(binding)
