"""Arrays that recursive calls are given become references (`references.py`).

What every call of a recursion hands on is one of the arrays that it was given itself,
one from outside of the recursion, or a part of these:

    recurse(a, b) { f, p, q ->            recurse(1, 2) { f, v, w ->
      …                                     p = …; q = …      (`a` or `b`, by number)
      k = if c { yield p }           →      …
          else { yield q }                  u = if c { yield v } else { yield w }
      call f(q, k)                          call f(w, u)
      … }                                   … }

Nor is an array that a call returns copied, where it is one from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chadllvm.ir.rewrite import Renaming, rebuild
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    Lambda,
    Operand,
    Var,
    nested,
)
from chadllvm.ir.types import Array, Box
from chadllvm.ops.recurse import Recurse
from chadllvm.simplify.codes import Coding, Reference
from chadllvm.simplify.naming import Named, Naming


class Recursions(Naming):
    """Puts references in place of what recursive calls are given."""

    def recursion(self, binding: Binding, node: Apply) -> None:
        """What becomes of a recursion whose body has been walked."""
        (body,) = node.bodies
        itself, *params = body.params
        chosen = self._given(node, body)
        if not chosen:
            self.keep(binding)
            return
        before, head = Coding(binding.span), Coding(binding.span)
        slots = {k: ref.slots() for k, ref in chosen.items()}
        named = {
            params[k]: (ref, ref.code(slots[k], self.table))
            for k, ref in chosen.items()
        }
        args: list[Operand] = []
        new: list[Var] = []
        onlies: dict[Var, Operand] = {}
        for k, (param, arg) in enumerate(zip(params, node.args, strict=True)):
            if k not in chosen:
                args.append(arg)
                new.append(param)
                continue
            ref = chosen[k]
            assert isinstance(arg, Var)
            args += ref.values(self.table.code(arg, before, ref.is_window))
            new += slots[k]
            if ref.only is not None:
                onlies[param] = ref.only
        assert isinstance(node.op, Recurse)
        function = Var(itself.name, node.op.function_type(new, body.body.types))
        calls = _Calls(self, itself, function, chosen, named)
        block = calls.block(body.body)
        for k, ref in chosen.items():
            self.name(ref, slots[k], head)
        block = Block((*head.bindings, *block.bindings), block.results)
        if onlies:
            block = Renaming(onlies).block(block)
        self.out += before.bindings
        applied = Apply(node.op, tuple(args), (Lambda((function, *new), block),))
        self.keep(_with(binding, applied))

    def _given(self, node: Apply, body: Lambda) -> dict[int, Reference]:
        """The parameters that are references, by their positions."""
        itself, *params = body.params
        calls = [*_calls(body.body, itself)]
        arrays = [p for p in params if isinstance(p.type, Array | Box)]
        if not arrays or not calls:
            return {}
        position = {p: k for k, p in enumerate(params)}
        inside = {*params, *_bound(body.body)}
        owners = self.solved(
            arrays,
            {p: [call.args[position[p]] for call in calls] for p in arrays},
            {p: node.args[position[p]] for p in arrays},
            lambda _, owner: owner in inside,
        )
        return {
            position[p]: Reference(p, found, p in self._chosen_windows)
            for p, found in owners.items()
        }


class _Calls:
    """Gives the calls of a recursion codes in place of arrays."""

    def __init__(
        self,
        naming: Naming,
        old: Var,
        new: Var,
        chosen: Mapping[int, Reference],
        named: Named,
    ) -> None:
        self.naming, self.old, self.new = naming, old, new
        self.chosen, self.named = chosen, named

    def block(self, block: Block) -> Block:
        bindings: list[Binding] = []
        for binding in block.bindings:
            match binding.expr:
                case Call(function, args) if function is self.old:
                    out = Coding(binding.span)
                    call = Call(self.new, self._codes(args, out))
                    bindings += [*out.bindings, _with(binding, call)]
                case expr:
                    bindings.append(_with(binding, rebuild(expr, self.block)))
        return Block(tuple(bindings), block.results)

    def _codes(self, args: Sequence[Operand], out: Coding) -> tuple[Operand, ...]:
        given: list[Operand] = []
        for k, arg in enumerate(args):
            if k not in self.chosen:
                given.append(arg)
                continue
            ref = self.chosen[k]
            assert isinstance(arg, Var)
            given += ref.values(self.naming.followed(arg, ref, self.named, out))
        return tuple(given)


def _with(binding: Binding, expr: Expr) -> Binding:
    """A binding of the same variables."""
    return Binding(binding.vars, expr, binding.span)


def _calls(block: Block, function: Var) -> Iterator[Call]:
    """The calls of a function in a block."""
    for binding in block.bindings:
        match binding.expr:
            case Call(called) as call if called is function:
                yield call
        for _, inner in nested(binding.expr):
            yield from _calls(inner, function)


def _bound(block: Block) -> Iterator[Var]:
    """All variables that are bound in a block."""
    for binding in block.bindings:
        yield from binding.vars
        for params, inner in nested(binding.expr):
            yield from params
            yield from _bound(inner)
