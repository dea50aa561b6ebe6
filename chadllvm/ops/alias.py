"""`alias(a, b)`: the array a, where Python would have made a view of b.

`contains(a, b)`: the array a, where Python has a list that refers to b.

`shares(a, b)`: the array a, where Python has a list that refers to arrays which the
list b refers to as well.

`item(a, b)`: the array a, to which in Python a list refers whose numbers are in b.

`lent(a, a)`: the argument a, which its caller lets the function update.

`rewritten(a, a)`: the array a, where a function that is called then updates it.

`read(a)`: the array a, all of whose elements Python reads at this place.

Arrays are values, so it is nothing but a. That the elements are the same objects in
Python matters to those alone who decide whether b may be updated (`simplify/sharing`);
behind that the operation goes (`simplify/views`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda, One, Var
from chadllvm.ir.types import Array, Type

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


@register_array_op
@dataclass(frozen=True)
class Alias(ArrayOp):
    """`alias(a, b)`"""

    name = "alias"
    arity: ClassVar[int] = 2

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if len(args) != self.arity or not all(isinstance(a, Array) for a in args):
            raise TypeRuleError(f"{self.name}: {self.arity} arrays, not {args}")
        return (args[0],)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        return (args[0],)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[alias a b] = (alias a b, fun d. one ca d)"""
        array = node.args[0]
        with chad.backpropagator(binding, asked) as bp:
            if chad.is_active(array):
                assert isinstance(array, Var)
                bp.body.emit(One(bp.dual(array), (), bp.cts[0]))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        out.bindings.append(binding)
        (var,) = binding.vars
        if forward.moves(var):
            tangents = (forward.tangent(node.args[0]), *node.args[1:])
            forward.again((var,), Apply(self, tangents), out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind(binding.vars[0], lowering.array(node.args[0]))


@register_array_op
@dataclass(frozen=True)
class Contains(Alias):
    """`contains(a, b)`"""

    name = "contains"


@register_array_op
@dataclass(frozen=True)
class Shares(Contains):
    """`shares(a, b)`"""

    name = "shares"


@register_array_op
@dataclass(frozen=True)
class Item(Alias):
    """`item(a, b)`"""

    name = "item"


@register_array_op
@dataclass(frozen=True)
class Lent(Alias):
    """`lent(a, a)`"""

    name = "lent"


@register_array_op
@dataclass(frozen=True)
class Rewritten(Alias):
    """`rewritten(a, a)`"""

    name = "rewritten"


class Read(Alias):
    """`read(a)`"""

    name = "read"
    arity = 1
