"""The functions users ask for, made from D[·]: gradients of scalar functions.

f(x, …) = { …; y, aux… }   →   f_grad(x, …) = { D[…]; xc = open …; bp(1, xc)
                                                y, aux…, close xc }

With cotangents as further parameters in place of 1 it is the transposed derivative of
any results. As D[·] knows cells, both apply to their own output after closure
conversion, which is how second derivatives are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chadllvm.chad.custom import NO_CUSTOMS, Customs
from chadllvm.chad.reversal import BlockReversal, define, open_like
from chadllvm.chad.transform import Chad
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, Block, Call, Close, Function, Operand, Var, literal
from chadllvm.ir.types import Acc, Array, Box
from chadllvm.ops.heap import Count, heaps_of
from chadllvm.ops.index import Dim, Zeros
from chadllvm.ops.ledger import LEDGER, Ledger
from chadllvm.support.diagnostic import InternalError


def value_and_gradient(
    function: Function, wrt: Sequence[int], customs: Customs = NO_CUSTOMS
) -> Function:
    """The function that returns its results, then the gradient of the first of them.

    The first result is a real; `wrt` are the positions of parameters that hold reals.
    There is one gradient for each, of the parameter's type and shape. The function has
    neither products nor calls.
    """
    out = Builder(function.span)
    seed = literal(1, function.body.results[0].type)
    gradients = _reversed(function, wrt, [0], [seed], True, out, customs)
    body = Block(tuple(out.bindings), (*function.body.results, *gradients))
    return Function(f"{function.name}_grad", function.params, body, function.span)


def pull_back(
    function: Function,
    wrt: Sequence[int],
    asked: Sequence[int],
    customs: Customs = NO_CUSTOMS,
) -> Function:
    """The function that also takes cotangents and gives what they are pulled back to.

    Behind its parameters stand the cotangents of the results at the positions `asked`,
    which hold reals; behind its results those of the parameters at `wrt`, as gradients
    stand in `value_and_gradient`. A cotangent of zero contributes zero, even where the
    derivative of its result is infinite.
    """
    chosen = [function.body.results[k] for k in asked]
    names = [r.name if isinstance(r, Var) else "result" for r in chosen]
    pairs = zip(names, chosen, strict=True)
    cts = [Var(f"{name}_ct", result.type) for name, result in pairs]
    out = Builder(function.span)
    gradients = _reversed(function, wrt, asked, cts, False, out, customs)
    body = Block(tuple(out.bindings), (*function.body.results, *gradients))
    params = (*function.params, *cts)
    return Function(f"{function.name}_vjp", params, body, function.span)


def _reversed(
    function: Function,
    wrt: Sequence[int],
    asked: Sequence[int],
    cts: Sequence[Operand],
    touched: bool,
    out: Builder,
    customs: Customs,
) -> list[Operand]:
    """Run D[·] of a function forwards and, with these cotangents, backwards."""
    if any(isinstance(p.type, Acc) for p in function.params):
        raise InternalError("chad: what is added to a parameter has no cotangent")
    targets = [function.params[i] for i in wrt]
    chad = Chad(function, targets, customs)
    count = len(function.body.results)
    flags = [k in asked for k in range(count)]
    reversal = chad.block(function.body, flags, [touched] * count)
    heaps = _heaps(reversal, function)
    before = [out.one(Apply(Count(op.heap, op.types), ()), "base") for op in heaps]
    out.bindings += reversal.forward
    ledgers = {}
    for op, base in zip(heaps, before, strict=True):
        end = out.one(Apply(Count(op.heap, op.types), ()), "end")
        ledgers[op.heap] = Apply(op, (base, end))
    cells = _run(reversal, function, cts, ledgers, out)
    for var in [v for v in cells if v not in targets and v.type != LEDGER]:
        out.one(Close(cells[var]), f"{var.name}_ct")  # Beside an active one: lost.
    return [
        out.one(Close(cells[v]), f"{v.name}_ct") if v in cells else _zeros(v, out)
        for v in targets
    ]


def _heaps(reversal: BlockReversal, function: Function) -> list[Ledger]:
    """The ledgers that are needed."""
    heaps = heaps_of(function.body)
    names = [v.name for v in reversal.free if v.type == LEDGER]
    return [Ledger(name, heaps[name]) for name in names]


def _run(
    reversal: BlockReversal,
    function: Function,
    cts: Sequence[Operand],
    ledgers: Mapping[str, Apply],
    out: Builder,
) -> dict[Var, Operand]:
    """Call the backpropagator with these cotangents; the cells of the parameters."""
    cells: dict[Var, Operand] = {}
    for var in reversal.free:
        is_ledger = var.type == LEDGER
        opened = ledgers[var.name] if is_ledger else open_like(var, out)
        cells[var] = out.one(opened, f"{var.name}_c")
    bp = define(function.name, reversal.function(), function.span)
    out.bindings.append(bp)
    if cells:
        out.emit(Call(bp.vars[0], (*cts, *cells.values())))
    return cells


def _zeros(var: Var, out: Builder) -> Operand:
    """The gradient by a parameter that the result does not depend on."""
    if not isinstance(var.type, Array):
        return literal(0, var.type)
    if isinstance(var.type.elem, Box):
        return out.one(Close(out.one(open_like(var, out))), f"{var.name}_ct")
    axes = (Apply(Dim(axis), (var,)) for axis in range(var.type.rank))
    dims = tuple(out.one(axis, f"{var.name}_dim") for axis in axes)
    return out.one(Apply(Zeros(var.type.elem), dims), f"{var.name}_ct")
