"""A derivative in two halves: what does not depend on the cotangents, and the rest.

    def f_vjp(x, y_ct) {                   def f_vjp_early(x) {
      c = …; y = …; a = …           →        c = …; y = …; a = …; return y, a, c }
      … a … c … y_ct …                     def f_vjp_late(y, a, c, y_ct) {
      return y, x_ct }                       … a … c … y_ct …; return y, x_ct }

So the first half is run once where there are several cotangents. It is what makes the
results, with what the backpropagators have captured (the tape). This is done after
closure conversion; no cell is in both halves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chadllvm.ir.rewrite import Renaming, free_vars_of
from chadllvm.ir.term import Binding, Block, Function, Operand, Var
from chadllvm.ir.types import Acc


@dataclass(frozen=True)
class Halves:
    """The two functions.

    `late` takes the results of `early` at the positions in `saved`, then cotangents.
    The results of `early` begin with those of the function that is differentiated.
    """

    early: Function
    late: Function
    saved: tuple[int, ...]


def halves(
    function: Function, results: int, cotangents: int, *, apart: bool = False
) -> Halves:
    """Cut a pull-back; so many results are the primal's, so many parameters the last.

    The function has no function values. If the halves are to be `apart`, what is saved
    stands behind the results of the first though it is one of them, and the second
    does not give these again.
    """
    count = len(function.params) - cotangents
    params, cts = function.params[:count], function.params[count:]
    early, late = _parted(function.body.bindings, cts)
    primal = function.body.results[:results]
    last = function.body.results[results if apart else 0 :]
    saved = _needed(late, last, cts)
    more = tuple([v for v in saved if apart or v not in primal])
    first = Function(
        f"{function.name}_early", params, Block(tuple(early), (*primal, *more)),
        function.span,
    )  # fmt: skip
    places = first.body.results
    second = _renamed(Function(
        f"{function.name}_late", (*saved, *cts),
        Block(tuple(late), last), function.span,
    ))  # fmt: skip
    if apart:
        return Halves(first, second, tuple(range(results, len(places))))
    return Halves(first, second, tuple(places.index(v) for v in saved))


def _parted(
    bindings: Sequence[Binding], cts: Iterable[Var]
) -> tuple[list[Binding], list[Binding]]:
    """The bindings before, and those that use cotangents, in their order.

    A cell that one of these adds to is theirs, with all that is done with it.
    """
    users: dict[Var, list[int]] = defaultdict(list)
    used = [list(free_vars_of(binding.expr)) for binding in bindings]
    for k, binding in enumerate(bindings):
        for var in used[k]:
            users[var].append(k)
        for var in binding.vars:
            if isinstance(var.type, Acc):
                users[var].append(k)
    late: set[int] = set()
    waiting = list(cts)
    while waiting:
        for k in users.pop(waiting.pop(), ()):
            if k not in late:
                late.add(k)
                waiting += bindings[k].vars
                waiting += [v for v in used[k] if isinstance(v.type, Acc)]
    before = [b for k, b in enumerate(bindings) if k not in late]
    return before, [b for k, b in enumerate(bindings) if k in late]


def _needed(
    late: list[Binding], results: Iterable[Operand], cts: Iterable[Var]
) -> tuple[Var, ...]:
    """What the second half and its results use of the first, in order."""
    bound = {*cts, *(v for b in late for v in b.vars)}
    used: dict[Var, None] = {}
    for binding in late:
        used |= free_vars_of(binding.expr)
    used |= {r: None for r in results if isinstance(r, Var)}
    return tuple([v for v in used if v not in bound])


def _renamed(function: Function) -> Function:
    """The function with parameters of its own."""
    copy = Renaming(fresh=True)
    params = copy.bind(function.params)
    return Function(function.name, params, copy.block(function.body), function.span)
