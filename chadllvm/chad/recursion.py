"""D of a function that calls itself (paper, section 6: calls of functions).

    y = recurse(x; f, p -> r)       y, bp = recurse(x; f', p -> r, bp)

    … s = call f(a) …               … s, s_bp = call f'(a) …
                                    bp = fun (r_ct, …) { … call s_bp(s_ct, …) … }

The backpropagators of all calls have one type. They take the cotangents of the results
that have one, the duals of the parameters that are arrays or cells, which differ from
call to call, and the duals of what is free in the body, which the calls hand on as they
are. The cotangents of parameters that are numbers they return, and those of arrays that
calls update and hand back: these are made of the cotangents of the results.

Where calls collect numbers, what a call collected has a cotangent at the call's number
in an array that only the reverse knows. A *pseudo cell* stands for the array, so that
its dual is that array; backpropagators take the number as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chadllvm.chad.reversal import BlockReversal, define, dual_of, name_of, open_like
from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import free_vars, rebuild
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Lambda,
    One,
    Operand,
    Var,
)
from chadllvm.ir.types import I64, Acc, Fun, Scalar
from chadllvm.ops.handed_back import handed_back_by
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import zero_cotangent
from chadllvm.ops.recurse import Recurse

if TYPE_CHECKING:
    from chadllvm.chad.transform import Chad, Rule


@dataclass(eq=False)
class Reversed:
    """The function of a recursion whose calls also return their backpropagator.

    `asked`: for each result of a call, whether it has a cotangent; `returned` and
    `shared`: the active parameters by cotangent and by dual; `pseudo`: the pseudo
    cells; `free`: what is active in the body and bound outside of it.
    """

    body: Lambda
    asked: list[bool]
    returned: list[Var]
    shared: list[Var]
    pseudo: list[Var]
    free: list[Var]

    def __post_init__(self) -> None:
        """The type of backpropagators follows, and that of the function."""
        original = self.body.params[0]
        assert isinstance(original.type, Fun)
        params, results = original.type.params, original.type.results
        count = len(self.asked)
        cts = [ty for ty, flag in zip(results, self.asked, strict=False) if flag]
        number = [I64] if self.pseudo else []
        duals = [dual_of(v).type for v in self.duals]
        back = tuple(p.type for p in self.returned)
        self.bp_type = Fun((*cts, *number, *duals), back)
        new = Fun(params, (*results[:count], self.bp_type, *results[count:]))
        self.function = Var(original.name, new)

    @property
    def duals(self) -> list[Var]:
        """The variables whose duals every backpropagator takes."""
        return [*self.shared, *self.pseudo, *self.free]

    def call(self, chad: Chad, binding: Binding, asked: Sequence[bool]) -> Rule:
        """D of a call in the body."""
        assert isinstance(binding.expr, Call)
        new, bp = self.called(binding)
        arrays: dict[Var, Var | None] = {p: None for p in self.pseudo}
        return self.rule(chad, binding, asked, binding.expr.args, new, bp, arrays)

    def called(self, binding: Binding) -> tuple[Binding, Var]:
        """A call in the body that returns its backpropagator as well."""
        assert isinstance(binding.expr, Call)
        bp = Var(f"{name_of(binding)}_bp", self.bp_type)
        count = len(self.asked)
        variables = (*binding.vars[:count], bp, *binding.vars[count:])
        call = Call(self.function, binding.expr.args)
        return Binding(variables, call, binding.span), bp

    def rule(
        self,
        chad: Chad,
        binding: Binding,
        asked: Sequence[bool],
        args: Sequence[Operand],
        new: Binding,
        called: Var,
        arrays: dict[Var, Var | None],
    ) -> Rule:
        """The rule of a call with these arguments, which became `new`.

        `called` is what it returned; `arrays` are what the pseudo cells stand for,
        where that is known.
        """
        count = len(self.asked)
        behind = Builder(binding.span)
        zeros: list[Binding] = []
        with chad.backpropagator(binding, asked) as bp:
            given = iter(bp.cts)
            pairs = zip(binding.vars, asked, self.asked, strict=False)
            cts = [
                next(given) if flag else zero_cotangent(bp.body, var, zeros)
                for var, flag, wanted in pairs
                if wanted
            ]
            known = dict.fromkeys(arrays)
            known.update((p, next(given)) for p, a in arrays.items() if a is not None)
            number = [binding.vars[count]] if self.pseudo else []
            positions = {p: k for k, p in enumerate(self.body.params[1:])}
            lost: list[Operand] = []
            duals: list[Operand] = []
            for param in self.shared:
                arg = args[positions[param]]
                assert isinstance(arg, Var)
                if chad.is_active(arg) or isinstance(arg.type, Acc):
                    duals.append(bp.dual(arg))
                else:
                    lost.append(bp.body.one(open_like(arg, behind), f"{arg.name}_c"))
                    duals.append(lost[-1])
            duals += [known[p] or bp.dual(p) for p in self.pseudo]
            duals += [bp.dual(v) for v in self.free]
            back = bp.body.call(called, (*cts, *number, *duals))
            for cell in lost:
                bp.body.one(Close(cell))
            for param, ct in zip(self.returned, back, strict=True):
                arg = args[positions[param]]
                if isinstance(arg, Var) and chad.is_active(arg):
                    bp.body.emit(One(bp.dual(arg), (), ct))
        return bp.rule([*behind.bindings, new, *zeros])

    def made(self, inner: BlockReversal, name: str) -> Lambda:
        """The body with its backpropagator among its results."""
        count = len(self.asked)
        results = inner.results
        span = Builder().span
        bp = define(name, inner.function(self.duals), span)
        bindings = [*inner.forward, bp]
        if self.pseudo:
            bindings.append(define(name, self._numbered(bp.vars[0]), span))
        back = bindings[-1].vars[0]
        block = Block(tuple(bindings), (*results[:count], back, *results[count:]))
        return Lambda((self.function, *self.body.params[1:]), self._redirected(block))

    def _numbered(self, bp: Var) -> Lambda:
        """The backpropagator that takes the number of its call: it finds by it the
        cotangents of what the call collected."""
        params = [Var("ct", ty) for ty in self.bp_type.params]
        count = sum(self.asked)
        number, duals = params[count], params[count + 1 :]
        out = Builder()
        start = len(self.shared)
        arrays = duals[start : start + len(self.pseudo)]
        parts = [out.one(Apply(Index(), (a, number)), a.name) for a in arrays]
        results = out.call(bp, (*params[:count], *parts, *duals))
        return Lambda(tuple(params), out.block(results))

    def _redirected(self, block: Block) -> Block:
        """The block without calls of the function as it was: nobody needs what these
        would be pulled back to."""
        original = self.body.params[0]
        bindings = []
        for binding in block.bindings:
            match binding.expr:
                case Call(function) if function is original:
                    new, _ = self.called(binding)
                case expr:
                    changed = rebuild(expr, self._redirected)
                    same = changed is expr
                    new = (
                        binding
                        if same
                        else Binding(binding.vars, changed, binding.span)
                    )
            bindings.append(new)
        if all(a is b for a, b in zip(bindings, block.bindings, strict=True)):
            return block
        return Block(tuple(bindings), block.results)


def reverse_recursion(
    chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
) -> Rule:
    """D of `recurse`."""
    (body,) = node.bodies
    op = node.op
    assert isinstance(op, Recurse)
    params = body.params[1:]
    finals, number, outputs = op.parts(binding.vars, op.plain(body))
    flags = asked[len(finals) + len(number) :]
    arrays = [v for v, flag in zip(outputs, flags, strict=True) if flag]
    pseudo = {Var(f"{v.name}_c", Acc(v.type)): v for v in arrays}
    chad.asked_cells.update(arrays)  # Calls add to them; see `additions.py`.
    active = [p for p in params if chad.is_active(p)]
    handed = [params[k] for k in handed_back_by(body, op.plain(body)).values()]
    returned = [p for p in active if isinstance(p.type, Scalar) or p in handed]
    function = Reversed(
        body,
        [chad.is_active(v) for v in finals],
        returned,
        [p for p in active if p not in returned],
        list(pseudo),
        [v for v in free_vars([(body.params, body.body)]) if _has_dual(chad, v)],
    )
    made = _body(chad, function, flags, binding)
    function = chad.recursions[body.params[0]]
    back = Var(f"{name_of(binding)}_bp", function.bp_type)
    variables = (*finals, back, *number, *outputs)
    new = Binding(variables, Apply(op, node.args, (made,)), binding.span)
    return function.rule(chad, binding, asked, node.args, new, back, {**pseudo})


def _has_dual(chad: Chad, var: Var) -> bool:
    if isinstance(var.type, Acc):
        return not chad.asked_cells.isdisjoint(chad.additions.roots(var))
    return chad.is_active(var)


def _body(
    chad: Chad, function: Reversed, collected: Sequence[bool], binding: Binding
) -> Lambda:
    """D of the body. What it turns out to need the duals of is added to what all
    backpropagators take (an inactive array that a branch gives beside an active one).

    A cell that a call is given may be one whose sum the body asks for itself, in front
    of what it adds to the cell it is given: that is seen only when all is reversed.
    """
    body = function.body
    given = [chad.additions.roots(p) for p in body.params if isinstance(p.type, Acc)]
    cells = frozenset().union(*given)
    while True:
        before = cells & chad.asked_cells
        chad.recursions[body.params[0]] = function
        inner = chad.block(
            body.body,
            [*function.asked, *collected],
            [False] * len(body.body.results),
            function.returned,
            function.returned,
        )
        known = set(function.duals)
        missing = [v for v in inner.free if v not in known]
        if not missing and cells & chad.asked_cells == before:
            return function.made(inner, name_of(binding))
        params = [v for v in missing if v in body.params]
        function = Reversed(
            body,
            function.asked,
            function.returned,
            [*function.shared, *params],
            function.pseudo,
            [*function.free, *(v for v in missing if v not in params)],
        )
