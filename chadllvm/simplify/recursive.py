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
from dataclasses import dataclass, replace

from chadllvm.ir.rewrite import bound_in, everywhere, free_vars, rebuild
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    Lambda,
    Operand,
    Var,
    operands,
)
from chadllvm.ir.types import Array, Box, Type
from chadllvm.ops.handed_back import handed_back_by
from chadllvm.ops.recurse import Recurse
from chadllvm.simplify.codes import Coding, joined
from chadllvm.simplify.naming import Named, Naming
from chadllvm.simplify.reference import Reference
from chadllvm.simplify.renewed import ReturnedRoots


@dataclass
class _Returned:
    """The arrays that calls return as references: by position, and the function."""

    function: Var
    refs: dict[int, Reference]

    def variables(
        self, old: Sequence[Var]
    ) -> tuple[tuple[Var, ...], dict[int, list[Var]]]:
        """The variables of a call's results, and which of them are of a code."""
        slots = {k: ref.slots() for k, ref in self.refs.items()}
        new = [slots.get(k, [var]) for k, var in enumerate(old)]
        return tuple(v for group in new for v in group), slots

    def named(self, old: Sequence[Var]) -> dict[int, Reference]:
        """What is bound again behind a call."""
        return {k: replace(ref, var=old[k]) for k, ref in self.refs.items()}


class Recursions(Naming):
    """Puts references in place of what recursive calls are given and return.

    `is_again`: what calls return may be a reference now that they are given some, and
    what loops do with it now that it is one.
    """

    def __init__(self, body: Block) -> None:
        super().__init__(body)
        self.is_again = False
        self._returned: dict[Var, _Returned] = {}

    def walked(self, binding: Binding) -> Binding:
        match binding.expr:
            case Apply(Recurse() as op, _, (body,)):
                self._enter_function(op, binding, body)
        return super().walked(binding)

    def call(self, binding: Binding, function: Var, node: Call) -> None:
        """What becomes of a call in the body of a recursion."""
        returned = self._returned.get(function)
        if returned is None:
            self.keep(binding)
            return
        variables, slots = returned.variables(binding.vars)
        call = Call(returned.function, node.args)
        self.keep(Binding(variables, call, binding.span))
        self.bind_chosen(returned.named(binding.vars), slots, binding.span)

    def recursion(self, binding: Binding, node: Apply) -> None:
        """What becomes of a recursion whose body has been walked."""
        (body,) = node.bodies
        returned = self._returned.get(body.params[0])
        if returned is None:
            self._parameters(binding, node)
            return
        out = Coding(binding.span, body.body.bindings)
        results: list[Operand] = []
        for k, result in enumerate(body.body.results):
            ref = returned.refs.get(k)
            if ref is None:
                results.append(result)
                continue
            assert isinstance(result, Var)
            results += ref.values(self.table.code(result, out, ref.is_window))
        self.is_again = True
        variables, slots = returned.variables(binding.vars)
        new = Lambda((returned.function, *body.params[1:]), out.block(results))
        applied = Apply(node.op, node.args, (new,))
        self._parameters(Binding(variables, applied, binding.span), applied)
        self.bind_chosen(returned.named(binding.vars), slots, binding.span)

    def _enter_function(self, op: Recurse, binding: Binding, body: Lambda) -> None:
        """Find what its calls return as references."""
        count = op.plain(body)
        itself, *params = body.params
        refs: dict[int, Reference] = {}
        types: list[Type] = []
        roots = ReturnedRoots(body)
        for k, result in enumerate(body.body.results):
            ref = self._result(k, binding, body, roots) if k < count else None
            if ref is None:
                types.append(result.type)
                continue
            refs[k] = ref
            types += [v.type for v in ref.slots()]
        if refs:
            function = Var(itself.name, op.function_type(params, types))
            self._returned[itself] = _Returned(function, refs)

    def _result(
        self, k: int, binding: Binding, body: Lambda, returned: ReturnedRoots
    ) -> Reference | None:
        """A result that is an array from outside, or a part of one."""
        var = binding.vars[k]
        if not isinstance(var.type, Array | Box):
            return None
        calls = [binding, *_calls(body.body, body.params[0])]
        windows, *mixed = {
            {call.vars[m] for call in calls} <= self._chosen_windows
            for m in returned.of(k, windows=True).returned
        }
        if mixed:
            return None
        roots = returned.of(k, windows)
        inside = {*body.params, *bound_in(body.body)}
        if roots.is_other or roots.made or not inside.isdisjoint(roots.old):
            return None
        # In the order of their uses, which is the same in each run.
        found = (v for v in free_vars([(body.params, body.body)]) if v in roots.old)
        owners = joined(*(self.owners(self.operand(v), windows) for v in found))
        return Reference(var, owners, windows) if owners else None

    def _parameters(self, binding: Binding, node: Apply) -> None:
        """What becomes of a recursion that returns what it shall."""
        (body,) = node.bodies
        itself, *params = body.params
        chosen = self._given(node, body)
        if not chosen:
            self.keep(binding)
            return
        self.is_again |= any(isinstance(ty, Array | Box) for ty in body.body.types)
        before, head = Coding(binding.span), Coding(binding.span)
        slots = {k: ref.slots() for k, ref in chosen.items()}
        named = {
            params[k]: (ref, ref.code(slots[k], self.table))
            for k, ref in chosen.items()
        }
        args: list[Operand] = []
        new: list[Var] = []
        onlies: dict[Var, Var] = {}
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
        block = self.with_constant(block, onlies)
        self.out += before.bindings
        applied = Apply(node.op, tuple(args), (Lambda((function, *new), block),))
        self.keep(_with(binding, applied))

    def _given(self, node: Apply, body: Lambda) -> dict[int, Reference]:
        """The parameters that are references, by their positions."""
        itself, *params = body.params
        given = [operands(c.expr)[1:] for c in _calls(body.body, itself)]
        assert isinstance(node.op, Recurse)
        back = handed_back_by(body, node.op.plain(body)).values()
        updated = {params[k] for k in back}  # To refer to one would be to copy it.
        arrays = [p for p in params if isinstance(p.type, Array | Box)]
        arrays = [p for p in arrays if p not in updated]
        if not arrays or not given:
            return {}
        position = {p: k for k, p in enumerate(params)}
        inside = {*params, *bound_in(body.body)}
        owners = self.solved(
            arrays,
            {p: [args[position[p]] for args in given] for p in arrays},
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


def _calls(block: Block, function: Var) -> Iterator[Binding]:
    """The calls of a function in a block."""
    for binding in everywhere(block):
        match binding.expr:
            case Call(called) if called is function:
                yield binding
