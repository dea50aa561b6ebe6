"""Random well-typed programs, with inputs on which they are smooth and finite.

`cases()` is a Hypothesis strategy of `Case`s: a core program without cells or function
values, and arguments for it. By construction a program never fails, its floats stay
small (what grows is passed through a sine), and it is differentiable near its inputs,
but for a branch or a minimum that lies on an edge by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import (
    Block,
    Const,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
)
from chadllvm.ir.types import BOOL, F64, I64, Array, Product, Scalar, Sum, Type
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate

LARGE = 8.0
VECTOR, MATRIX = Array(F64, 1), Array(F64, 2)


@dataclass(frozen=True)
class Case:
    """A program and the arguments to run it on, in their Python and NumPy forms."""

    program: Program
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Value:
    """An operand with what is known of it: its shape, and a bound of its numbers.

    `parts` are the values of a product's components, what the constructors of a sum
    hold, and those of an array's elements.
    """

    operand: Operand
    shape: tuple[int, ...] = ()
    bound: float = 1.0
    parts: tuple[Value, ...] = ()

    @property
    def type(self) -> Type:
        return self.operand.type

    def as_var(self, operand: Operand) -> Value:
        """The same facts about another operand."""
        return Value(operand, self.shape, self.bound, self.parts)


@st.composite
def cases(draw: st.DrawFn, size: int = 12, single: bool = True) -> Case:
    """Programs of about `size` bindings and more below them.

    The entry function returns one f64 if `single`, else perhaps more values.
    """
    writer = Writer(draw)
    args, params = writer.inputs()
    for _ in range(draw(st.integers(1, size))):
        writer.statement()
    results: list[Operand] = [writer.digest()]
    if not single:
        extra = [v for v in writer.scope if isinstance(v.operand, Var)]
        results += [
            v.operand for v in draw(st.lists(st.sampled_from(extra), max_size=2))
        ]
    entry = Function("main", params, writer.b.block(results))
    return Case(Program((*writer.functions, entry)), args)


def _helper(draw: st.DrawFn) -> Function:
    """A function of two floats, to be called."""
    writer = Writer(draw, depth=2)
    params = (Var("x", F64), Var("y", F64))
    writer.scope += [Value(p, bound=LARGE) for p in params]
    for _ in range(draw(st.integers(0, 4))):
        writer.statement()
    return Function("helper", params, writer.b.block([writer.digest()]))


class Writer:
    """Writes one block at a time; `scope` holds the values in reach.

    `least` is the smallest dimension of an argument.
    """

    least = 1

    def __init__(self, draw: st.DrawFn, depth: int = 0) -> None:
        self.draw = draw
        self.b = Builder(signature=self._signature)
        self.scope: list[Value] = []
        self.depth = depth
        self.functions: list[Function] = []

    def _signature(self, name: str) -> Any:
        (found,) = (f for f in self.functions if f.name == name)
        return Lambda(found.params, found.body).type

    def inputs(self) -> tuple[tuple[Any, ...], tuple[Var, ...]]:
        """Parameters of several types, with random arguments for them."""
        random = np.random.default_rng(self.draw(st.integers(0, 2**16)))
        sizes = st.integers(self.least, 3)
        n, m = self.draw(sizes), self.draw(sizes)
        pair = Product((F64, VECTOR), ("left", "right"))
        numbers: list[tuple[str, Type, Any]] = [
            ("x", F64, random.uniform(-1, 1)),
            ("y", F64, random.uniform(-1, 1)),
            ("k", I64, int(random.integers(-3, 4))),
            ("a", VECTOR, random.uniform(-1, 1, n)),
            ("m", MATRIX, random.uniform(-1, 1, (n, m))),
            ("p", pair, (random.uniform(-1, 1), random.uniform(-1, 1, m))),
        ]
        for name, ty, arg in numbers:
            self._add_input(Var(name, ty), arg)
        params = tuple(v.operand for v in self.scope if isinstance(v.operand, Var))
        return tuple(arg for _, _, arg in numbers), params

    def _add_input(self, var: Var, arg: Any) -> None:
        shape = arg.shape if isinstance(arg, np.ndarray) else ()
        parts: tuple[Value, ...] = ()
        if isinstance(var.type, Product):
            parts = (Value(lit(0.0)), Value(var, arg[1].shape))
        self.scope.append(Value(var, shape, 3.0 if var.type == I64 else 1.0, parts))

    def choose(self, options: Sequence[Any]) -> Any:
        return options[self.draw(st.integers(0, len(options) - 1))]

    def pick(self, ty: Type, shape: tuple[int, ...] | None = None) -> Value:
        """A value of this type from the scope, or a literal."""
        found = [
            v
            for v in self.scope
            if v.type == ty and (shape is None or v.shape == shape)
        ]
        if found and (not isinstance(ty, Scalar) or self.draw(st.integers(0, 9))):
            value: Value = self.choose(found)
            return value
        return self._literal(ty)

    def _literal(self, ty: Type) -> Value:
        if ty == I64:
            number = self.choose((0, 1, 2, -1, 5))
            return Value(lit(number), bound=abs(number))
        if ty == BOOL:
            return Value(lit(self.choose((True, False))))
        assert ty == F64
        number = self.choose((0.7, -1.3, 2.0, 1.0))
        return Value(lit(number), bound=abs(number))

    def arrays(self, rank: int = 0) -> list[Value]:
        """The arrays in scope that are not empty, of one rank or of any."""
        return [
            v
            for v in self.scope
            if isinstance(v.type, Array)
            and 0 not in v.shape
            and rank in (0, v.type.rank)
        ]

    def add(
        self, operand: Operand, like: Value | None = None, bound: float = 1.0
    ) -> Value:
        """Bring a new operand into scope."""
        value = like.as_var(operand) if like else Value(operand, bound=bound)
        self.scope.append(value)
        return value

    def add_float(self, operand: Operand, bound: float) -> Value:
        """The same for a float, through a sine if it may have become large."""
        if bound > LARGE:
            return self.add(self.b.prim("sin", operand))
        return self.add(operand, bound=bound)

    def statement(self) -> None:
        """One or a few bindings of some kind."""
        simple = [
            self.smooth, self.smooth, self.product, self.quotient, self.chosen,
            self.integer, self.truth, self.make_tuple, self.take_part, self.read,
            self.read, self.size, self.constant,
        ]  # fmt: skip
        nesting = [self.branch, self.build, self.fold, self.iterate, self.call]
        options = simple + (nesting * 2 if self.depth < 3 else [])
        self.choose(options)()

    def smooth(self) -> None:
        """A function of one float that is smooth everywhere."""
        x = self.pick(F64)
        name = self.choose(("sin", "cos", "tanh", "neg", "exp"))
        if name == "exp":
            x = Value(self.b.prim("tanh", x.operand))
        bounds = {"neg": x.bound, "exp": 3.0}
        self.add_float(self.b.prim(name, x.operand), bounds.get(name, 1.0))

    def product(self) -> None:
        """A sum, difference or product of two floats, often the same one twice."""
        x, y = self.pick(F64), self.pick(F64)
        name = self.choose(("add", "sub", "mul"))
        bound = x.bound * y.bound if name == "mul" else x.bound + y.bound
        self.add_float(self.b.prim(name, x.operand, y.operand), bound)

    def quotient(self) -> None:
        """What needs a positive argument: a quotient, logarithm, root or power."""
        x, y = self.pick(F64), self.pick(F64)
        square = self.b.prim("mul", x.operand, x.operand)
        positive = self.b.prim("add", square, lit(0.5))
        name = self.choose(("div", "log", "sqrt", "pow", "powi"))
        if name == "div":
            operand = self.b.prim(name, y.operand, positive)
        elif name == "pow":
            operand = self.b.prim(name, positive, self.b.prim("tanh", y.operand))
        elif name == "powi":
            operand = self.b.prim(name, positive, lit(self.choose((-1, 0, 1, 2, 3))))
        else:
            operand = self.b.prim(name, positive)
        self.add(self.b.prim("sin", operand))

    def chosen(self) -> None:
        """A choice between two floats."""
        x, y = self.pick(F64), self.pick(F64)
        name = self.choose(("select", "minimum", "maximum", "abs"))
        args = [x.operand] if name == "abs" else [x.operand, y.operand]
        if name == "select":
            args = [self.pick(BOOL).operand, *args]
        self.add(self.b.prim(name, *args), bound=max(x.bound, y.bound))

    def integer(self) -> None:
        """An integer, or the float that equals one."""
        i, k = self.pick(I64), self.pick(I64)
        name = self.choose(("iadd", "isub", "imul", "imin", "to_float", "imod"))
        if name == "to_float":
            self.add_float(self.b.prim(name, i.operand), i.bound)
        elif name == "imod":
            self.add(self.b.prim(name, i.operand, lit(3)), bound=2.0)
        else:
            bound = i.bound * k.bound if name == "imul" else i.bound + k.bound
            operand = self.b.prim(name, i.operand, k.operand)
            small = operand if bound < 100 else self.b.prim("imod", operand, lit(7))
            self.add(small, bound=min(bound, 100))

    def truth(self) -> None:
        """A truth value."""
        name = self.choose(("flt", "fle", "ilt", "ieq", "and", "not"))
        ty = {"f": F64, "i": I64}.get(name[0], BOOL)
        args = [self.pick(ty).operand for _ in range(1 if name == "not" else 2)]
        self.add(self.b.prim(name, *args))

    def make_tuple(self) -> None:
        """A product of two values of any type."""
        parts = (self.choose(self.scope), self.pick(F64))
        operand = self.b.one(Tuple(tuple(p.operand for p in parts)), "pair")
        self.scope.append(Value(operand, parts=parts))

    def take_part(self) -> None:
        """A component of a product."""
        products = [v for v in self.scope if isinstance(v.type, Product) and v.parts]
        if products:
            whole = self.choose(products)
            index = self.choose(range(len(whole.parts)))
            operand = self.b.one(Proj(whole.operand, index), "part")
            self.add(operand, whole.parts[index])

    def read(self) -> None:
        """An element or a row of an array, at an index that is in range."""
        arrays = self.arrays()
        if not arrays:
            return
        array = self.choose(arrays)
        count = self.choose(range(1, len(array.shape) + 1))
        indices = [self._index(array, axis) for axis in range(count)]
        operand = self.b.apply(Index(), (array.operand, *indices), names=["e"])[0]
        rest = array.shape[count:]
        parts = array.parts if isinstance(operand.type, Product | Sum) else ()
        self.scope.append(Value(operand, rest, array.bound, parts))

    def _index(self, array: Value, axis: int) -> Operand:
        (dim,) = self.b.apply(Dim(axis), (array.operand,), names=["n"])
        index = self.choose((lit(0), lit(-1), None))
        if index is None:
            index = self.b.prim("imod", self.pick(I64).operand, dim)
        return self.b.prim("bound", index, dim, hint="i")

    def size(self) -> None:
        """A dimension of an array."""
        arrays = self.arrays()
        if arrays:
            array = self.choose(arrays)
            (dim,) = self.b.apply(Dim(0), (array.operand,), names=["n"])
            self.add(dim, bound=array.shape[0])

    def constant(self) -> None:
        """An array that the program has captured."""
        value = np.array([0.3, -0.6])
        self.scope.append(Value(self.b.one(Const(value), "table"), value.shape))

    def call(self) -> None:
        """A call of a function that is made for it."""
        if self.depth or self.functions:
            return
        self.functions.append(_helper(self.draw))
        args = (self.pick(F64).operand, self.pick(F64).operand)
        self.add(self.b.prim("tanh", *self.b.call("helper", args)))

    def branch(self) -> None:
        """An `if` that gives a float and an array of one shape."""
        cond = self.pick(BOOL)
        array = self.choose(self.arrays()) if self.arrays() else None
        blocks = [self.nested((), self._branch_results(array)) for _ in range(2)]
        then, orelse = (block for block, _ in blocks)
        variables = self.b.emit(If(cond.operand, then, orelse), "u", "v")
        facts = [results for _, results in blocks]
        for var, one, two in zip(variables, *facts, strict=True):
            self.add(var, Value(var, one.shape, max(one.bound, two.bound), one.parts))

    def _branch_results(self, array: Value | None) -> Callable[[], list[Value]]:
        def results() -> list[Value]:
            number = self.pick(F64)
            if array is None or array.parts:
                return [number]
            return [number, self.pick(array.type, array.shape)]

        return results

    def nested(
        self, params: Sequence[Value], results: Callable[[], list[Value]]
    ) -> tuple[Block, list[Value]]:
        """A block of some statements below this one, and its results."""
        outer, self.b = self.b, self.b.child()
        reach = len(self.scope)
        self.scope += params
        self.depth += 1
        for _ in range(self.draw(st.integers(0, 4))):
            self.statement()
        values = results()
        block = self.b.block([v.operand for v in values])
        self.depth -= 1
        del self.scope[reach:]
        self.b = outer
        return block, values

    def _count(self, least: int) -> tuple[Operand, int]:
        """The number of steps of a loop: a literal or the dimension of an array."""
        arrays = self.arrays()
        if arrays and self.choose((True, False)):
            array = self.choose(arrays)
            (dim,) = self.b.apply(Dim(0), (array.operand,), names=["n"])
            return dim, array.shape[0]
        number = self.choose(range(least, 4))
        return lit(number), number

    def build(self) -> None:
        """An array of numbers, of pairs or of arrays that are known outside."""
        operand, count = self._count(0)
        index = Value(Var("i", I64), bound=max(count, 1))
        rows = [v for v in self.arrays(1) if v.type == VECTOR]
        kind = self.choose(("number", "number", "pair", "row", "both"))
        row = self.choose(rows) if rows else None

        def results() -> list[Value]:
            number = self.pick(F64)
            if kind == "pair":
                parts = (number, self.pick(I64))
                pair = self.b.one(Tuple(tuple(p.operand for p in parts)), "pair")
                return [Value(pair, parts=parts)]
            if row is None or kind == "number":
                return [number]
            vector = self.pick(VECTOR, row.shape)
            return [vector] if kind == "row" else [number, vector]

        block, values = self.nested([index], results)
        body = Lambda((_var(index),), block)
        arrays = self.b.apply(Build(), (operand,), [body], ["r", "rows"])
        for array, value in zip(arrays, values, strict=True):
            self.scope.append(
                Value(array, (count, *value.shape), value.bound, value.parts)
            )

    def fold(self) -> None:
        """A sum, minimum or maximum."""
        kind = self.choose(("add", "add", "min", "max"))
        operand, count = self._count(0 if kind == "add" else 1)
        index = Value(Var("i", I64), bound=max(count, 1))
        block, values = self.nested([index], lambda: [self.pick(F64)])
        body = Lambda((_var(index),), block)
        (total,) = self.b.apply(Fold(kind), (operand,), [body], ["s"])
        bound = values[0].bound * (count if kind == "add" else 1)
        self.add_float(total, bound)

    def iterate(self) -> None:
        """A loop that carries a float, perhaps an array, and perhaps collects one."""
        operand, count = self._count(0)
        vectors = [v for v in self.arrays(1) if v.type == VECTOR and v.bound <= LARGE]
        inits = [self.pick(F64)]
        if vectors and self.choose((True, False)):
            inits.append(self.choose(vectors))
        index = Value(Var("i", I64), bound=max(count, 1))
        states = [v.as_var(Var("s", v.type)) for v in inits]
        states = [Value(s.operand, s.shape, max(s.bound, 1.0)) for s in states]
        collects = self.choose((True, False))

        def results() -> list[Value]:
            values = [self._step(state) for state in states]
            return [*values, self.pick(F64)] if collects else values

        block, values = self.nested([index, *states], results)
        body = Lambda(tuple(_var(v) for v in (index, *states)), block)
        args = (operand, *(v.operand for v in inits))
        finals = self.b.apply(Iterate(), args, [body], ["s", "s", "outs"])
        for var, state in zip(finals, states, strict=False):
            self.add(var, state)
        if collects:
            array = finals[-1]
            self.scope.append(Value(array, (count,), values[-1].bound))

    def _step(self, state: Value) -> Value:
        """The next state: bounded by one, and dependent on the present one."""
        if state.type == F64:
            mixed = self.b.prim("add", state.operand, self.pick(F64).operand)
            return Value(self.b.prim("sin", mixed))
        inner = self.b.child()
        i = Var("i", I64)
        (x,) = inner.apply(Index(), (state.operand, i), names=["x"])
        y = inner.prim("sin", inner.prim("mul", x, self.pick(F64).operand))
        (dim,) = self.b.apply(Dim(0), (state.operand,), names=["n"])
        body = Lambda((i,), inner.block([y]))
        (array,) = self.b.apply(Build(), (dim,), [body], ["next"])
        return Value(array, state.shape)

    def digest(self) -> Operand:
        """A float that depends on the values made last and on the arrays."""
        total: Operand = self.pick(F64).operand
        for value in self.scope[-4:]:
            part = self._number(value)
            if part is not None:
                total = self.b.prim("add", total, self.b.prim("sin", part))
        return total

    def _number(self, value: Value) -> Operand | None:
        if value.type == F64:
            return value.operand
        if value.type != VECTOR:
            return None
        inner = self.b.child()
        i = Var("i", I64)
        (x,) = inner.apply(Index(), (value.operand, i), names=["x"])
        (dim,) = self.b.apply(Dim(0), (value.operand,), names=["n"])
        body = Lambda((i,), inner.block([inner.prim("sin", x)]))
        return self.b.apply(Fold("add"), (dim,), [body], ["s"])[0]


def _var(value: Value) -> Var:
    assert isinstance(value.operand, Var)
    return value.operand
