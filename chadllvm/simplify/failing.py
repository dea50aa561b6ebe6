"""Whether an expression can fail, and what stands behind it may rely on that."""

from __future__ import annotations

from collections.abc import Iterator

from chadllvm.ir.op import Prim
from chadllvm.ir.term import Apply, Call, Expr, nested
from chadllvm.ir.types import Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim


def can_fail(expr: Expr, *, rows: bool = False) -> bool:
    """Whether running an expression may raise a program error.

    With `rows`, to stack rows counts, which fails if their sizes differ.
    """
    match expr:
        case Apply(op, _, bodies):
            stacks = rows and isinstance(op, Build | Fold)
            types = [ty for body in bodies for ty in body.body.types] if stacks else ()
            if op.can_fail or any(isinstance(ty, Array) for ty in types):
                return True
        case Call():
            return True
        case _:
            pass
    return any(
        can_fail(binding.expr, rows=rows)
        for _, block in nested(expr)
        for binding in block.bindings
    )


def is_plain(expr: Expr) -> bool:
    """Whether this computes nothing but a number or a size, and cannot fail."""
    is_number = isinstance(expr, Apply) and isinstance(expr.op, Prim | Dim)
    return is_number and not can_fail(expr)


def is_check(expr: Expr) -> bool:
    """Whether an index behind an expression may be in range because this did not fail.

    Only numbers tell something of indices and sizes: what else fails, as the largest of
    no elements, is no reason to leave a check out.
    """
    return isinstance(expr, Apply) and isinstance(expr.op, Prim) and expr.op.can_fail


def checks(expr: Expr) -> Iterator[Expr]:
    """All checks in an expression."""
    if is_check(expr):
        yield expr
    for _, block in nested(expr):
        for binding in block.bindings:
            yield from checks(binding.expr)


def has_checks(expr: Expr) -> bool:
    """Whether there is a check in an expression."""
    return next(checks(expr), None) is not None
