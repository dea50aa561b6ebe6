"""Builds flat blocks: a `Builder` collects bindings; types follow from the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chadllvm.ir.op import PRIMS, ArrayOp
from chadllvm.ir.term import (
    UNNAMED,
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    Lambda,
    Lit,
    Operand,
    Var,
    same_width,
)
from chadllvm.ir.typing import Signature, _no_functions, result_types
from chadllvm.support.diagnostic import NO_SPAN, Span


class Builder:
    """The bindings of one block, in order. `span` is given to the bindings emitted."""

    def __init__(
        self, span: Span = NO_SPAN, signature: Signature = _no_functions
    ) -> None:
        self.bindings: list[Binding] = []
        self.span = span
        self.signature = signature

    def child(self) -> Builder:
        """A builder for a nested block."""
        return Builder(self.span, self.signature)

    def emit(self, expr: Expr, *names: str) -> tuple[Var, ...]:
        """Bind the results of an expression to new variables with these names."""
        types = result_types(expr, self.signature)
        missing = len(types) - len(names)
        padded = names if missing <= 0 else (*names, *[UNNAMED] * missing)
        variables = tuple(map(Var, padded, types))
        self.bindings.append(Binding(variables, expr, self.span))
        return variables

    def one(self, expr: Expr, name: str = UNNAMED) -> Var:
        """Bind an expression that has exactly one result."""
        (var,) = self.emit(expr, name)
        return var

    def prim(self, name: str, *args: Operand, hint: str = UNNAMED) -> Var:
        """Apply the scalar primitive of this name.

        Float literals take the width of the variables beside them.
        """
        return self.one(Apply(PRIMS[name], same_width(args)), hint)

    def apply(
        self,
        op: ArrayOp,
        args: Sequence[Operand],
        bodies: Sequence[Lambda] = (),
        names: Sequence[str] = (),
    ) -> tuple[Var, ...]:
        """Apply an array operation."""
        return self.emit(Apply(op, tuple(args), tuple(bodies)), *names)

    def call(self, function: Var | str, args: Iterable[Operand]) -> tuple[Var, ...]:
        """Call a function value or a top-level function."""
        return self.emit(Call(function, tuple(args)))

    def block(self, results: Iterable[Operand]) -> Block:
        """The block of all that was emitted, by the results as well, with these."""
        found = tuple(results)
        return Block(tuple(self.bindings), found)


def lit(value: float | int | bool) -> Lit:
    """A literal operand."""
    return Lit(value)


def unused_name(wanted: str, taken: set[str]) -> str:
    """The name, or the first free one of `name_2`, `name_3`, …; it is taken then."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name)
    return name
