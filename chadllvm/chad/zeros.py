"""Which inactive values need a tangent all the same: zeros of their shape.

    z = if c { x } else { table }   →   z, z_t = if c { x, x_t } else { table, table_t }

Where an inactive array meets an active one, in a branch or as the state of a loop, it
needs a tangent. It would break the cost law to make zeros on the spot, since naming an
array, or a row of one, costs nothing. So the demand goes back to where the array is
made or comes from, which costs as much as the zeros do. A scalar needs none of this:
its zero is a literal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    If,
    Inject,
    Lambda,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
    operands,
)
from chadllvm.ir.types import Acc, Scalar, Type, has_float
from chadllvm.ops.recurse import Recurse

Sources = dict[Var, tuple[Operand, ...]]


def in_need_of_zeros(
    block: Block, results: Iterable[Operand], active: set[Var]
) -> set[Var]:
    """The inactive variables that need a tangent for the active ones and `results`."""
    sources: Sources = {}
    _block(block, sources)
    found: set[Var] = set()
    pending = [v for v in (*active, *results) if isinstance(v, Var)]
    while pending:
        var = pending.pop()
        if var not in active:
            if var in found or not _has_shape(var.type):
                continue
            found.add(var)
        named = [v for v in sources.get(var, ()) if isinstance(v, Var)]
        pending += [v for v in named if v not in active]
    return found


def _has_shape(ty: Type) -> bool:
    """Whether the zero of this type is no literal."""
    return isinstance(ty, Acc) or (not isinstance(ty, Scalar) and has_float(ty))


def _block(block: Block, sources: Sources) -> None:
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Recurse() as op) as node:
                _recursion(op, node, binding, sources)
        _binding(binding, sources)


def _binding(binding: Binding, sources: Sources) -> None:
    """What the variables of a binding may be, or be made of, element by element."""
    match binding.expr:
        case Apply(Prim() | Recurse()):
            return
        case Call(Var() as function) if function in sources:
            _call(binding, function, sources)
        case Apply(_, args, ()):
            sources.update((v, args) for v in binding.vars)
        case Apply() as node:
            _loop(node, binding, sources)
        case If(_, then, orelse):
            pairs = zip(then.results, orelse.results, strict=True)
            sources.update(zip(binding.vars, pairs, strict=True))
        case Case(arg, branches):
            results = zip(*(b.body.results for b in branches), strict=True)
            sources.update(zip(binding.vars, results, strict=True))
            sources.update((p, (arg,)) for b in branches for p in b.params)
        case Tuple() | Proj() | Inject() | Call() | Close():
            sources.update((v, operands(binding.expr)) for v in binding.vars)
        case Const() | Lambda() | Open() | View() | One():
            return
        case _:
            assert_never(binding.expr)


def _loop(node: Apply, binding: Binding, sources: Sources) -> None:
    """The initial, running and final state have tangents together."""
    (body,) = node.bodies
    results = body.body.results
    sources.update((v, (r,)) for v, r in zip(binding.vars, results, strict=False))
    states = zip(binding.vars, body.params[1:], node.args[1:], results, strict=False)
    for final, state, init, result in states:
        sources[final] = sources[state] = (init, result, state, final)


def _recursion(op: Recurse, node: Apply, binding: Binding, sources: Sources) -> None:
    """The arguments of all calls have tangents together, and so have their results.

    The function stands for its parameters, then the results of the first call.
    """
    (body,) = node.bodies
    function, *params = body.params
    finals, _, outputs = op.parts(binding.vars, op.plain(body))
    results = body.body.results
    pairs = zip((*finals, *outputs), results, strict=True)
    sources.update((v, (r,)) for v, r in pairs)
    sources.update((p, (a,)) for p, a in zip(params, node.args, strict=True))
    sources[function] = (*params, *finals)


def _call(binding: Binding, function: Var, sources: Sources) -> None:
    assert isinstance(binding.expr, Call)
    args = binding.expr.args
    params, finals = sources[function][: len(args)], sources[function][len(args) :]
    for param, arg in zip(params, args, strict=True):
        assert isinstance(param, Var)
        sources[param] = (*sources[param], arg)
    for var, final in zip(binding.vars, finals, strict=False):
        assert isinstance(final, Var)
        sources[var] = (final,)
        sources[final] = (*sources[final], var)
