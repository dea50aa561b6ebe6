"""What is in place, what is made for the caller, and how long arrays live, together.

How long arrays live follows from what is in place (`memory.py`). A state that lives for
longer than the step it is lent to is not lent: then all of it is decided again.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from chadllvm.ir.build import Builder
from chadllvm.ir.op import ArrayOp
from chadllvm.ir.rewrite import rebuild, with_body
from chadllvm.ir.term import Apply, Binding, Block, Close, Function, Open, Var
from chadllvm.lower.inplace import InPlace, in_place
from chadllvm.lower.memory import Lifetimes, lifetimes
from chadllvm.lower.returned import returned
from chadllvm.lower.twins import apart, copy_of
from chadllvm.ops.handed_back import handed_back
from chadllvm.ops.index import Sized
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update


def lives(function: Function) -> tuple[Function, list[Var], Lifetimes]:
    """The function, perhaps with some copies more, the results that are made for the
    caller, and how long all arrays live."""
    unlent: set[Var] = set()
    written, back = function, handed_back(function.body)
    function, calls = returned(written, back)
    while True:
        found = in_place(function, unlent, back)
        if found.needed:
            written = _with_copies(written, found.needed)
            function, calls = returned(written, back)
            continue
        if found.apart:
            back = {f: at for f, at in back.items() if f not in found.apart}
            function, calls = returned(written, back)
            continue
        if found.twins:
            function = apart(function, found.twins)
            continue
        direct = _direct_results(function, found)
        life = lifetimes(function, direct, found, calls)
        if not (kept := found.lent & life.outlives.keys()):
            return function, direct, life
        unlent |= kept


def _with_copies(function: Function, needed: Set[tuple[Var, int]]) -> Function:
    """The function with copies of what these recursions are given to update."""

    def block(old: Block) -> Block:
        out = Builder()
        for binding in old.bindings:
            out.span = binding.span
            expr = rebuild(binding.expr, block)
            if isinstance(expr, Apply) and isinstance(expr.op, Recurse):
                itself = expr.bodies[0].params[0]
                args = [
                    copy_of(out, arg) if (itself, k) in needed else arg
                    for k, arg in enumerate(expr.args)
                ]
                expr = Apply(expr.op, tuple(args), expr.bodies)
            out.bindings.append(Binding(binding.vars, expr, binding.span))
        return Block(tuple(out.bindings), old.results)

    return with_body(function, block(function.body))


def _direct_results(function: Function, found: InPlace) -> list[Var]:
    """The results whose buffer is made for them at the function's top level.

    A buffer that is handed to the caller must be no part and no other name of anything.
    """
    made: set[Var] = set()
    cells: set[Var] = set()
    for binding in function.body.bindings:
        match binding.expr:
            case Apply(Iterate()) as node:
                made.update(_kept_buffers(binding, node, found, made))
                # What a loop that stops collects has a buffer that grows.
                if node.op != Iterate(stops=True):
                    made.update(binding.vars[len(node.args) - 1 :])
            case Apply(Recurse()):
                pass  # What calls return is copied, what they collect may grow.
            case Apply(ArrayOp(), _, bodies) as node if bodies:
                first = node.op.carried(node) if isinstance(node.op, ArrayOp) else None
                made.update(binding.vars[first or 0 :])
            case Apply(Update(), (array, *_)):
                if binding not in found.taken or array in made:
                    made.add(binding.vars[0])
            case Apply(ArrayOp(name="zeros")):
                made.add(binding.vars[0])
            case Apply(Sized(), (Var() as array, *_)) if array in made:
                made.remove(array)  # It has one name at the caller's.
                made.add(binding.vars[0])
            case Open():
                cells.add(binding.vars[0])
            case Close(Var() as cell) if cell in cells:
                made.add(binding.vars[0])
    results = function.body.results
    return [
        r
        for r in dict.fromkeys(results)
        if isinstance(r, Var) and r in made and results.count(r) == 1
    ]


def _kept_buffers(
    binding: Binding, node: Apply, found: InPlace, made: set[Var]
) -> Iterator[Var]:
    """The final states of a loop that are in one buffer, made for them."""
    (body,) = node.bodies
    pairs = zip(body.params[1:], node.args[1:], binding.vars, strict=False)
    for state, init, final in pairs:
        if state in found.steady and (state not in found.moved or init in made):
            yield final
