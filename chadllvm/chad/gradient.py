"""The functions users ask for, made from D[·]: gradients of scalar functions.

f(x, …) = { …; y, aux… }   →   f_grad(x, …) = { D[…]; xc = open …; bp(1, xc)
                                                y, aux…, close xc }
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.chad.activity import active_variables
from chadllvm.chad.transform import BlockReversal, Chad, define
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import (
    Apply,
    Block,
    Call,
    Close,
    Function,
    Open,
    Operand,
    Var,
)
from chadllvm.ir.types import Array
from chadllvm.ops.index import Dim, Zeros


def value_and_gradient(function: Function, wrt: Sequence[int]) -> Function:
    """The function that returns its results, then the gradient of the first of them.

    The first result is an f64; `wrt` are the positions of parameters that hold reals.
    There is one gradient for each, of the parameter's type and shape. The function has
    neither products nor calls.
    """
    targets = [function.params[i] for i in wrt]
    chad = Chad(active_variables(function.body, targets))
    asked = [k == 0 for k in range(len(function.body.results))]
    touched = [True] * len(asked)
    reversal = chad.block(function.body, asked, touched)
    out = Builder(function.span)
    out.bindings += reversal.forward
    cells = _run(reversal, function, out)
    gradients = [
        out.one(Close(cells[v]), f"{v.name}_ct") if v in cells else _zeros(v, out)
        for v in targets
    ]
    body = Block(tuple(out.bindings), (*function.body.results, *gradients))
    return Function(f"{function.name}_grad", function.params, body, function.span)


def _run(
    reversal: BlockReversal, function: Function, out: Builder
) -> dict[Var, Operand]:
    """Call the backpropagator with cotangent one; the cells of the parameters."""
    cells: dict[Var, Operand] = {}
    for var in reversal.cells:
        name = f"{var.name}_c"
        cells[var] = out.one(Open(var.type, _dims(var, out)), name)
    bp = define(function.name, reversal.function(), function.span)
    out.bindings.append(bp)
    if cells:
        out.emit(Call(bp.vars[0], (lit(1.0), *cells.values())))
    return cells


def _dims(var: Var, out: Builder) -> tuple[Operand, ...]:
    rank = var.type.rank if isinstance(var.type, Array) else 0
    return tuple(
        out.one(Apply(Dim(axis), (var,)), f"{var.name}_dim") for axis in range(rank)
    )


def _zeros(var: Var, out: Builder) -> Operand:
    """The gradient by a parameter that the result does not depend on."""
    if not isinstance(var.type, Array):
        return lit(0.0)
    return out.one(Apply(Zeros(), _dims(var, out)), f"{var.name}_ct")
