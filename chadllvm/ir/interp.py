"""The reference interpreter: what every node means, and what it costs.

It is slow and simple, and the judge of every pass and of compiled code. The cost
follows the paper's cost model (App. C): one for each node, and one for each variable a
lambda captures, each scalar added to a cell or set to zero, and each step of an array
operation.

A block runs in a *frame*, the values of the variables bound so far. Bodies of
operations and branches run in the frame of the block around them; a call makes a new
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, assert_never

import numpy as np

from chadllvm.ir.op import ArrayOp, Prim, ProgramError
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Derivative,
    Expr,
    Function,
    If,
    Inject,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
    View,
)
from chadllvm.ir.types import F32, Acc, Array, Product, to_single
from chadllvm.ir.typing import SCALAR_OF_DTYPE
from chadllvm.ir.value import (
    Cell,
    Closure,
    Injected,
    Recursive,
    from_value,
    rounded,
    to_value,
)
from chadllvm.support.diagnostic import InternalError

Frame = dict[Var, Any]


class Interpreter:
    """Runs a program's entry function; `cost` grows with all that is run."""

    def __init__(self, program: Program) -> None:
        self.functions = {f.name: f for f in program.functions}
        self.entry = program.entry
        self.cost = 0
        self.frame: Frame = {}
        # The nodes of each heap.
        self.heaps: dict[str, list[tuple[Any, ...]]] = {}
        # What is told of places to stop at, with the values there.
        self.on_pause: Callable[[str, list[Any]], None] | None = None
        self._captures: dict[Lambda, tuple[Var, ...]] = {}
        self._constants: dict[Const, Any] = {}

    def run(self, *args: Any) -> tuple[Any, ...]:
        """The results of the entry function on these values.

        Raises:
            ProgramError: if the program fails; its `span` is where.
        """
        return self.call_function(self.entry, args)

    def pay(self, cost: int) -> None:
        """Count the cost of work that an operation does itself."""
        self.cost += cost

    def call(self, body: Lambda, args: Sequence[Any]) -> tuple[Any, ...]:
        """Run the body of an operation of the current frame."""
        self.frame.update(zip(body.params, args, strict=True))
        return self._block(body.body)

    def call_function(self, function: Function, args: Sequence[Any]) -> tuple[Any, ...]:
        """Call a top-level function."""
        return self._in_frame({}, function.params, args, function.body)

    def call_closure(self, closure: Closure, args: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function value."""
        frame = dict(closure.captured)
        return self._in_frame(
            frame, closure.function.params, args, closure.function.body
        )

    def call_recursive(
        self, function: Recursive, args: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Call what the body of a recursion calls."""
        body = function.body
        values = (function, *args)
        frame = dict(function.captured)
        return function.finish(self._in_frame(frame, body.params, values, body.body))

    def _in_frame(
        self, frame: Frame, params: tuple[Var, ...], args: Sequence[Any], body: Block
    ) -> tuple[Any, ...]:
        frame.update(zip(params, args, strict=True))
        outer, self.frame = self.frame, frame
        try:
            return self._block(body)
        finally:
            self.frame = outer

    def _block(self, block: Block) -> tuple[Any, ...]:
        self.cost += len(block.bindings)
        for binding in block.bindings:
            expr = binding.expr
            if isinstance(expr, Apply) and isinstance(expr.op, Prim):
                self._prim(binding, expr.op, expr.args)
                continue
            try:
                results = self._expr(expr)
            except ProgramError as error:
                raise error.at(binding.span) from None
            self.frame.update(zip(binding.vars, results, strict=True))
        return self._operands(block.results)

    def _prim(self, binding: Binding, op: Prim, args: tuple[Operand, ...]) -> None:
        try:
            value = op.meaning(*self._operands(args))
        except ProgramError as error:
            raise error.at(binding.span) from None
        (var,) = binding.vars
        # Rows compute in f64; rounding what they give makes them rows of f32.
        self.frame[var] = to_single(value) if var.type == F32 else value

    def _operand(self, operand: Operand) -> Any:
        return operand.value if isinstance(operand, Lit) else self.frame[operand]

    def _operands(self, operands: tuple[Operand, ...]) -> tuple[Any, ...]:
        frame = self.frame
        return tuple([o.value if isinstance(o, Lit) else frame[o] for o in operands])

    def _expr(self, expr: Expr) -> tuple[Any, ...]:
        match expr:
            case Apply(op, args, bodies):
                assert isinstance(op, ArrayOp)
                return op.interpret(self, self._operands(args), bodies)
            case Const():
                return (self._constant(expr),)
            case Tuple(args, _):
                return (self._operands(args),)
            case Proj(arg, index):
                return (self._operand(arg)[index],)
            case If(cond, then, orelse):
                return self._block(then if self._operand(cond) else orelse)
            case Inject(_, index, arg):
                return (Injected(index, self._operand(arg)),)
            case Case(arg, branches):
                injected = self._operand(arg)
                return self.call(branches[injected.index], (injected.value,))
            case Lambda():
                return (self._closure(expr),)
            case Call(derivative=Derivative()):
                raise InternalError("interp: a derivative that is not made yet")
            case Call(function, args):
                values = self._operands(args)
                if isinstance(function, str):
                    return self.call_function(self.functions[function], values)
                called = self._operand(function)
                if isinstance(called, Recursive):
                    return self.call_recursive(called, values)
                return self.call_closure(called, values)
            case Open(content, dims):
                cell = Cell.opened(content, self._operands(dims))
                self.pay(cell.size)
                return (cell,)
            case View(cell, indices):
                return (self._operand(cell).view(self._operands(indices)),)
            case One(cell, indices, value):
                place = self._operand(cell).view(self._operands(indices))
                self.pay(place.add(self._operand(value)))
                return ()
            case Close(cell):
                assert isinstance(cell.type, Acc)
                return (rounded(self._operand(cell).total(), cell.type.content),)
            case _:
                assert_never(expr)

    def _closure(self, function: Lambda) -> Closure:
        captures = self._captures.get(function)
        if captures is None:
            captures = tuple(free_vars_of(function))
            self._captures[function] = captures
        self.pay(len(captures))
        return Closure(function, {v: self.frame[v] for v in captures})

    def _constant(self, const: Const) -> Any:
        value = self._constants.get(const)
        if value is None:
            array: np.ndarray = const.value
            ty = Array(SCALAR_OF_DTYPE[array.dtype], array.ndim)
            value = self._constants[const] = to_value(array, ty)
        return value


def evaluate(program: Program, *args: Any) -> Any:
    """Run a program on Python and NumPy objects; its one result, or a tuple of them."""
    params = program.entry.params
    values = [to_value(arg, p.type) for arg, p in zip(args, params, strict=True)]
    results = Interpreter(program).run(*values)
    types = program.entry.body.types
    converted: tuple[Any, ...] = from_value(results, Product(types))
    return converted[0] if len(converted) == 1 else converted
