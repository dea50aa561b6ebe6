"""`recurse(x…; f, p… -> r…, c…)`: a function that calls itself, applied.

The body is a function of p…; in it `call f(…)` calls it again. A recursive function of
the user's is this and no more, so that to go on with it, passes need know nothing but
that a body may be run many times.

    recurse[k](x…; f, p… -> r…, c…)        the last k results are collected

Each call *collects* its c… when it is about to return: into arrays, in the order in
which calls return. The number of a call in this order is a further result of it, so
that who called it can find what it collected: `r…, id = call f(…)`. The results of the
operation are those of the outermost call, then the arrays. That is how calls keep what
their backpropagators need (`closure/recursion.py`): the tape of a recursion is a struct
of arrays as that of a loop is, and what the reverse walks along are numbers in it.

D of a recursion is a recursion whose calls return backpropagators as well. All of them
take the same: cotangents of the results, then the duals of the parameters that are
arrays or cells and of all that is free in the body; they return the cotangents of the
parameters that are numbers. (Paper, section 6: top-level functions; the cells of what
they are given are parameters.)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from chadllvm.ir.op import ArrayOp, ProgramError, TypeRuleError, register_array_op
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import Apply, Binding, Block, Call, Lambda, Var
from chadllvm.ir.types import F64, I64, Fun, Type, stacked
from chadllvm.ir.value import Recursive, stack

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering


T = TypeVar("T")


@register_array_op
@dataclass(frozen=True)
class Recurse(ArrayOp):
    """`recurse[collects](x…; f, p… -> r…, c…)`."""

    name = "recurse"
    # A recursion may be too deep.
    can_fail = True
    collects: int = 0

    @property
    def attributes(self) -> str:
        return str(self.collects) if self.collects else ""

    @classmethod
    def parse(cls, attributes: str) -> Recurse:
        return cls(int(attributes or "0"))

    def plain(self, body: Lambda) -> int:
        """How many results of the body are not collected."""
        return len(body.body.results) - self.collects

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        (body,) = bodies
        itself, *params = body.params
        if tuple(p.type for p in params) != tuple(args):
            raise TypeRuleError("recurse: takes the parameters of its body")
        if itself.type != self.function_type(params, body.body.types):
            raise TypeRuleError(f"recurse: its body is no function {itself.type}")
        assert isinstance(itself.type, Fun)
        collected = body.body.types[self.plain(body) :]
        return (*itself.type.results, *map(stacked, collected))

    def function_type(self, params: Sequence[Var], results: Sequence[Type]) -> Fun:
        """The type of the function that the body calls."""
        plain = tuple(results[: len(results) - self.collects])
        number = (I64,) if self.collects else ()
        return Fun(tuple(p.type for p in params), (*plain, *number))

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        (body,) = bodies
        count = self.plain(body)
        rows: list[tuple[Any, ...]] = []

        def finish(results: tuple[Any, ...]) -> tuple[Any, ...]:
            run.pay(1)
            if not self.collects:
                return results
            rows.append(results[count:])
            return (*results[:count], len(rows) - 1)

        try:
            results = run.call_recursive(Recursive(body, dict(run.frame), finish), args)
        except RecursionError:
            message = "maximum recursion depth exceeded"
            raise ProgramError(RecursionError, message) from None
        collected = (
            stack([row[k] for row in rows], ty)
            for k, ty in enumerate(body.body.types[count:])
        )
        return (*results, *collected)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """See `chad/recursion.py`."""
        return chad.reverse_recursion(node, binding, asked)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """recurse(x…; f, p… -> r…) = recurse(x…, x_t…; f, p…, p_t… -> r…, r_t…)"""
        (body,) = node.bodies
        itself, *params = body.params
        count = self.plain(body)
        finals, number, outputs = self.parts(binding.vars, count)
        moved = forward.bind(params)
        more = sum(forward.flags(outputs))
        op = Recurse(self.collects + more)
        plain = [*finals, *forward.bind(finals)]
        types = [*map(_type, plain), *body.body.types[count:], *[F64] * more]
        new = Var(itself.name, op.function_type([*params, *moved], types))
        forward.recursions[itself] = Moved(new, count, tuple(params))
        inner, results = forward.block(body.body), body.body.results
        block = inner.block(
            [
                *results[:count],
                *forward.tangents(results[:count], finals),
                *results[count:],
                *forward.tangents(results[count:], outputs),
            ]
        )
        args = (*node.args, *forward.tangents(node.args, params))
        variables = (*plain, *number, *outputs, *forward.bind(outputs))
        applied = Apply(op, args, (Lambda((new, *params, *moved), block),))
        out.bindings.append(Binding(variables, applied, binding.span))

    def parts(
        self, results: Sequence[T], count: int
    ) -> tuple[Sequence[T], Sequence[T], Sequence[T]]:
        """Of the results: those of the call, its number if it has one, the arrays."""
        start = count + bool(self.collects)
        return results[:count], results[count:start], results[start:]

    def collecting(self, binding: Binding, keep: Sequence[bool]) -> Binding:
        """An application of this without some of the arrays that calls collect."""
        if all(keep):
            return binding
        node = binding.expr
        assert isinstance(node, Apply)
        (body,) = node.bodies
        count = self.plain(body)
        finals, number, arrays = self.parts(binding.vars, count)
        results = body.body.results
        left = tuple(itertools.compress(results[count:], keep))
        op = Recurse(len(left))
        itself, *params = body.params
        block = Block(body.body.bindings, (*results[:count], *left))
        if not left:
            number = ()
            new = Var(itself.name, op.function_type(params, block.types))
            block = _Unnumbered(itself, new).block(block)
            itself = new
        applied = Apply(op, node.args, (Lambda((itself, *params), block),))
        variables = (*finals, *number, *itertools.compress(arrays, keep))
        return Binding(variables, applied, binding.span)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.recursion(node, binding)


class _Unnumbered(Renaming):
    """Calls a function that gives no numbers."""

    def __init__(self, old: Var, new: Var) -> None:
        super().__init__()
        self.old, self.new = old, new

    def binding(self, binding: Binding) -> Binding:
        match binding.expr:
            case Call(function, args) if function is self.old:
                call = Call(self.new, self.operands(args))
                return Binding(binding.vars[:-1], call, binding.span)
            case _:
                return super().binding(binding)


@dataclass(frozen=True)
class Moved:
    """A function that calls itself, in forward mode; `count` results are its own."""

    function: Var
    count: int
    params: tuple[Var, ...]

    def call(
        self, forward: Forward, node: Call, binding: Binding, out: Builder
    ) -> None:
        """r… = call f(x…)  →  r…, r_t… = call f(x…, x_t…)"""
        finals, number = binding.vars[: self.count], binding.vars[self.count :]
        variables = (*finals, *forward.bind(finals), *number)
        args = (*node.args, *forward.tangents(node.args, self.params))
        new = Call(self.function, args)
        out.bindings.append(Binding(variables, new, binding.span))


def _type(var: Var) -> Type:
    return var.type
