"""Random programs with sums: nested ones, sums of products, arrays of sums.

Beyond `strategies.Writer`: values of sums with one to three constructors that hold
anything in scope, cases of them, arrays of sums, and loops that carry a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from chadllvm.ir.build import lit
from chadllvm.ir.term import (
    Case as Choice,
)
from chadllvm.ir.term import (
    Function,
    If,
    Inject,
    Lambda,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
)
from chadllvm.ir.types import BOOL, F64, I64, Array, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.ops.build import Build
from chadllvm.ops.iterate import Iterate
from tests.strategies import LARGE, VECTOR, Case, Value, Writer

# A payload whose type is longer than this is not put into another one.
LONGEST = 60


@st.composite
def sum_cases(draw: st.DrawFn, size: int = 6, single: bool = True) -> Case:
    """Programs of about `size` bindings; they return one f64 if `single`."""
    writer = SumWriter(draw)
    args, params = writer.inputs()
    for _ in range(draw(st.integers(1, size))):
        writer.statement()
    results: list[Operand] = [writer.digest()]
    if not single:
        extra = [v.operand for v in writer.scope if isinstance(v.operand, Var)]
        results += draw(st.lists(st.sampled_from(extra), max_size=2))
    entry = Function("main", params, writer.b.block(results))
    return Case(Program((*writer.functions, entry)), args)


class SumWriter(Writer):
    """Writes programs over sums; a sum's `parts` are what its constructors hold."""

    def inputs(self) -> tuple[tuple[Any, ...], tuple[Var, ...]]:
        args, params = super().inputs()
        numbers = np.array([self.draw(st.floats(-1, 1)) for _ in range(2)])
        ty = Sum((("none", Product(())), ("some", Product((F64, VECTOR)))))
        held: list[Any] = [(), (0.5, numbers)]
        index = self.draw(st.integers(0, 1))
        var = Var("o", ty)
        part = Value(var, parts=(Value(lit(0.0)), Value(var, (2,))))
        self.scope.append(Value(var, parts=(Value(var), part)))
        return (*args, Injected(index, held[index])), (*params, var)

    def statement(self) -> None:
        simple = [self.smooth, self.product, self.make_tuple, self.take_part, self.read]
        sums = [self.inject, self.inject, self.either]
        nesting = [self.case, self.case, self.branch, self.sums, self.carry, self.fold]
        self.choose(simple + sums + (nesting * 2 if self.depth < 2 else []))()

    # Making sums.

    def inject(self) -> None:
        """A sum one of whose constructors holds a value in scope."""
        held = self._held(any_array=True)
        self.scope.append(self._injected(held, self._sum(held)))

    def _held(self, any_array: bool) -> list[Value]:
        """What the constructors of a new sum may hold."""
        found = [v for v in self.scope if len(str(v.type)) < LONGEST]
        if not any_array:
            found = [v for v in found if not _has_array(v.type)]
        found += [self.pick(F64), self.pick(F64), self._unit()]
        return [self.choose(found) for _ in range(self.choose((1, 2, 2, 3)))]

    def _unit(self) -> Value:
        return Value(self.b.one(Tuple(()), "unit"))

    def _sum(self, held: Sequence[Value]) -> Sum:
        return Sum(tuple((f"c{k}", v.type) for k, v in enumerate(held)))

    def _injected(self, held: Sequence[Value], ty: Sum) -> Value:
        index = self.choose(range(len(held)))
        operand = self.b.one(Inject(ty, index, held[index].operand), "s")
        return Value(operand, parts=tuple(map(_loose, held)))

    def either(self) -> None:
        """A sum whose constructor is not known before the program runs."""
        held = self._held(any_array=True)
        ty = self._sum(held)
        blocks = [self.nested((), lambda: [self._injected(held, ty)]) for _ in range(2)]
        (then, values), (orelse, _) = blocks
        (var,) = self.b.emit(If(self.pick(BOOL).operand, then, orelse), "s")
        self.scope.append(values[0].as_var(var))

    def sums(self) -> None:
        """An array of sums."""
        count, size = self._count(1)
        index = Value(Var("i", I64), bound=size)
        held = self._held(any_array=False)
        ty = self._sum(held)
        block, values = self.nested([index], lambda: [self._injected(held, ty)])
        body = Lambda((_var(index),), block)
        (array,) = self.b.apply(Build(), (count,), [body], ["ss"])
        self.scope.append(Value(array, (size,), 1.0, values[0].parts))

    def carry(self) -> None:
        """A loop that carries a sum, and gives it back or makes another one."""
        held = self._held(any_array=True)
        ty = self._sum(held)
        init = self._injected(held, ty)
        count, size = self._count(0)
        index = Value(Var("i", I64), bound=max(size, 1))
        state = init.as_var(Var("s", ty))

        def results() -> list[Value]:
            return [state if self.choose((0, 0, 1)) else self._injected(held, ty)]

        block, _ = self.nested([index, state], results)
        body = Lambda((_var(index), _var(state)), block)
        (final,) = self.b.apply(Iterate(), (count, init.operand), [body], ["s"])
        self.scope.append(init.as_var(final))

    # Using sums.

    def case(self) -> None:
        """A case that gives a float, and perhaps a value that all branches know."""
        found = [v for v in self.scope if isinstance(v.type, Sum)]
        if not found:
            return
        subject = self.choose(found)
        extra = self.choose((None, self.choose(self.scope)))
        others = [] if extra is None else [extra]
        chosen = self._case(subject, lambda: [self.pick(F64), *others])
        self.add_float(chosen[0], LARGE)
        for var, value in zip(chosen[1:], others, strict=True):
            self.scope.append(value.as_var(var))

    def _case(self, subject: Value, results: Any) -> tuple[Var, ...]:
        ty = subject.type
        assert isinstance(ty, Sum)
        branches = []
        for payload, facts in zip(ty.payloads, subject.parts, strict=True):
            param = facts.as_var(Var("p", payload))
            block, _ = self.nested([param], results)
            branches.append(Lambda((_var(param),), block))
        return self.b.emit(Choice(subject.operand, tuple(branches)), "u")

    def _number(self, value: Value) -> Operand | None:
        """A float that depends on a value of any type but an array of sums."""
        match value.type:
            case Product() if value.parts:
                index = len(value.parts) - 1
                part = self.b.one(Proj(value.operand, index), "part")
                return self._number(value.parts[index].as_var(part))
            case Sum():
                return self._number_of_sum(value)
            case _:
                return super()._number(value)

    def _number_of_sum(self, value: Value) -> Operand:
        branches = []
        assert isinstance(value.type, Sum)
        for payload, facts in zip(value.type.payloads, value.parts, strict=True):
            outer, self.b = self.b, self.b.child()
            param = Var("p", payload)
            number = self._number(facts.as_var(param))
            block = self.b.block([lit(0.3) if number is None else number])
            self.b = outer
            branches.append(Lambda((param,), block))
        return self.b.one(Choice(value.operand, tuple(branches)), "u")


# What the theorem is about: primitives whose derivatives are as small as they are.
SIMPLE = ("add", "sub", "mul", "neg")


class PlainWriter(SumWriter):
    """Writes programs without arrays; if `is_simple`, with few primitives."""

    is_simple = False

    def inputs(self) -> tuple[tuple[Any, ...], tuple[Var, ...]]:
        option = Sum((("none", Product(())), ("some", Product((F64, I64)))))
        held = self.draw(st.sampled_from([(0, ()), (1, (0.5, 2))]))
        pair = Product((F64, Product((F64, BOOL))))
        floats = [self.draw(st.floats(-1, 1)) for _ in range(3)]
        option_part = Value(lit(0.0), parts=(Value(lit(0.0)), Value(lit(2), bound=3.0)))
        pair_part = Value(lit(0.0), parts=(Value(lit(0.0)), Value(lit(True))))
        inputs: list[tuple[str, Type, Any, tuple[Value, ...]]] = [
            ("x", F64, floats[0], ()),
            ("k", I64, 2, ()),
            ("p", pair, (floats[1], (floats[2], True)), (Value(lit(0.0)), pair_part)),
            ("o", option, Injected(*held), (Value(lit(0.0)), option_part)),
        ]
        params = tuple(Var(name, ty) for name, ty, _, _ in inputs)
        for var, (_, _, _, parts) in zip(params, inputs, strict=True):
            self.scope.append(Value(var, bound=3.0, parts=parts))
        return tuple(arg for _, _, arg, _ in inputs), params

    def statement(self) -> None:
        numbers = [self.simple, self.truth, self.integer]
        if not self.is_simple:
            numbers += [self.smooth, self.product, self.quotient, self.chosen]
        parts = [self.make_tuple, self.take_part, self.take_part]
        sums = [self.inject, self.inject, self.either]
        nesting = [self.case, self.case, self.branch]
        self.choose(numbers + parts + sums + (nesting * 2 if self.depth < 2 else []))()

    def add_float(self, operand: Operand, bound: float) -> Value:
        if not self.is_simple:
            return super().add_float(operand, bound)
        return self.add(operand, bound=min(bound, LARGE))

    def simple(self) -> None:
        """One of the primitives whose derivatives are of fixed size."""
        name = self.choose(SIMPLE)
        args = [self.pick(F64).operand for _ in range(1 if name == "neg" else 2)]
        self.add_float(self.b.prim(name, *args), 2 * LARGE)

    def digest(self) -> Operand:
        total: Operand = self.pick(F64).operand
        for value in self.scope[-4:]:
            part = self._number(value)
            if part is not None:
                total = self.b.prim("add", total, part)
        return total


@st.composite
def plain_cases(
    draw: st.DrawFn, size: int = 8, is_simple: bool = False, single: bool = True
) -> Case:
    """Programs in the paper's first-order language, of about `size` bindings."""
    writer = PlainWriter(draw)
    writer.is_simple = is_simple
    args, params = writer.inputs()
    for _ in range(draw(st.integers(0, size))):
        writer.statement()
    results: list[Operand] = [writer.digest()]
    if not single:
        results += draw(st.lists(st.sampled_from([v.operand for v in writer.scope])))
    entry = Function("main", params, writer.b.block(results))
    return Case(Program((entry,)), args)


def _loose(value: Value) -> Value:
    """The facts that hold for all that may be in the place of a value."""
    bound = 100.0 if value.type == I64 else LARGE
    return Value(value.operand, value.shape, bound, value.parts)


def _has_array(ty: Type) -> bool:
    match ty:
        case Product(fields):
            return any(map(_has_array, fields))
        case Sum():
            return any(map(_has_array, ty.payloads))
        case _:
            return isinstance(ty, Array)


def _var(value: Value) -> Var:
    assert isinstance(value.operand, Var)
    return value.operand
