"""Random programs that do more with arrays, and that may fail.

Beyond `strategies.Writer`: loops whose bounds depend on outer indices, states of loops
that are arrays of changing sizes, of several ranks, swapped, chosen by branches or
taken from outside, collected rows of every origin, gathers, index arithmetic, arrays of
rank 3, empty arguments. Dimensions may be unknown here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from chadllvm.ir.build import lit
from chadllvm.ir.term import Block, Function, If, Lambda, Operand, Program, Var
from chadllvm.ir.types import BOOL, F64, I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate
from tests.strategies import LARGE, MATRIX, VECTOR, Case, Value, Writer

# Dimensions that are not known; of the first kind, they are not zero.
SOME, ANY = -1, -2


@st.composite
def array_cases(draw: st.DrawFn, size: int = 5) -> Case:
    """Programs of about `size` bindings; one in four may fail."""
    writer = ArrayWriter(draw)
    writer.may_fail = draw(st.integers(0, 3)) == 3
    args, params = writer.inputs()
    for _ in range(draw(st.integers(1, size))):
        writer.statement()
    results: list[Operand] = [writer.digest()]
    extra = [v.operand for v in writer.scope if isinstance(v.operand, Var)]
    results += draw(st.lists(st.sampled_from(extra), max_size=3))
    entry = Function("main", params, writer.b.block(results))
    return Case(Program((*writer.functions, entry)), args)


class ArrayWriter(Writer):
    """Writes programs over arrays; they fail only if `may_fail`."""

    may_fail = False
    least = 0

    def statement(self) -> None:
        simple = [
            self.smooth, self.product, self.chosen, self.integer, self.truth, self.read,
            self.read, self.row, self.size, self.last,
        ]  # fmt: skip
        if self.may_fail:
            simple += [self.unsafe_read, self.unsafe_division]
        nesting = [
            self.branch, self.choice, self.build, self.rows, self.fold, self.iterate,
            self.carry, self.carry, self.gather, self.differences, self.call,
        ]  # fmt: skip
        self.choose(simple + (nesting * 2 if self.depth < 2 else []))()

    # Reading.

    def arrays(self, rank: int = 0) -> list[Value]:
        found = super().arrays(rank)
        return [v for v in found if ANY not in v.shape]

    def rows_of(self, kind: Array) -> list[Value]:
        """The arrays in scope of this type that are not empty."""
        found = self.arrays(kind.rank)
        return [v for v in found if v.type == kind and v.bound <= LARGE]

    def row(self) -> None:
        """A row of an array of rows."""
        arrays = [v for v in self.arrays() if len(v.shape) > 1]
        if arrays:
            array = self.choose(arrays)
            index = self._index(array, 0)
            operand = self.b.apply(Index(), (array.operand, index), names=["row"])[0]
            self.scope.append(Value(operand, array.shape[1:], array.bound, array.parts))

    def last(self) -> None:
        """An element counted from the end of a vector."""
        vectors = self.rows_of(VECTOR)
        if vectors:
            vector = self.choose(vectors)
            n = self.dim(vector)
            at = self.b.prim(
                "isub", self.b.prim("isub", n, lit(1)), self._index(vector, 0)
            )
            self.add(
                self.element(vector, self.b.prim("bound", at, n)), bound=vector.bound
            )

    def dim(self, array: Value, axis: int = 0) -> Operand:
        (dim,) = self.b.apply(Dim(axis), (array.operand,), names=["n"])
        return dim

    def element(self, array: Value, *indices: Operand) -> Operand:
        (element,) = self.b.apply(Index(), (array.operand, *indices), names=["e"])
        return element

    def unsafe_read(self) -> None:
        """An element at any index."""
        vectors = self.rows_of(VECTOR)
        if vectors:
            vector = self.choose(vectors)
            at = self.b.prim("bound", self.pick(I64).operand, self.dim(vector))
            self.add(self.element(vector, at), bound=vector.bound)

    def unsafe_division(self) -> None:
        """A remainder by what may be zero."""
        i, k = self.pick(I64), self.pick(I64)
        name = self.choose(("imod", "ifloordiv"))
        self.add(self.b.prim(name, i.operand, k.operand), bound=max(i.bound, k.bound))

    # Loops.

    def _count(self, least: int) -> tuple[Operand, int]:
        if self.choose((True, False)):
            return super()._count(least)
        number = self.b.prim("imod", self.pick(I64).operand, lit(4 - least))
        if least:
            number = self.b.prim("iadd", number, lit(least))
        return number, SOME if least else ANY

    def loop(
        self, count: int, results: Callable[[Value], list[Value]]
    ) -> tuple[Lambda, list[Value]]:
        """The body of a loop without states."""
        index = self.index(count)
        block, values = self.nested([index], lambda: results(index))
        assert isinstance(index.operand, Var)
        return Lambda((index.operand,), block), values

    def index(self, count: int) -> Value:
        return Value(Var("i", I64), bound=max(count, 4))

    def rows(self) -> None:
        """An array of rows or matrices of some origin."""
        operand, count = self._count(0)
        body, values = self.loop(count, lambda _: [self.any_array()])
        (array,) = self.b.apply(Build(), (operand,), [body], ["rows"])
        shape = (
            values[0].shape if count not in (0, ANY) else [ANY] * len(values[0].shape)
        )
        self.scope.append(Value(array, (count, *shape), values[0].bound))

    def any_array(self) -> Value:
        """A vector or matrix: one in scope, or a new one."""
        kind = self.choose((VECTOR, VECTOR, MATRIX))
        known = self.rows_of(kind)
        if not self.may_fail:
            known = [v for v in known if SOME not in v.shape]
        if known and self.choose((True, False)):
            value: Value = self.choose(known)
            return value
        return self.new_array(kind)

    def new_array(self, kind: Array) -> Value:
        """A vector or matrix made of some vector in scope, or of a constant one."""
        if not self.rows_of(VECTOR):
            self.constant()
        model = self.choose(self.rows_of(VECTOR))
        return self.like(model) if kind == VECTOR else self.outer(model)

    def like(self, model: Value, longer: int = 0) -> Value:
        """A new vector made of another one, perhaps longer."""
        inner = self.b.child()
        i = Var("i", I64)
        n = self.dim(model)
        at = inner.prim("imod", inner.prim("iadd", i, lit(longer)), n)
        (x,) = inner.apply(Index(), (model.operand, at), names=["x"])
        y = inner.prim("sin", inner.prim("mul", x, self.pick(F64).operand))
        body = Lambda((i,), inner.block([y]))
        count = self.b.prim("iadd", n, lit(longer)) if longer else n
        (array,) = self.b.apply(Build(), (count,), [body], ["next"])
        known = model.shape[0]
        return Value(array, (known if known == SOME else known + longer,))

    def outer(self, model: Value) -> Value:
        """A new matrix: the products of a vector's elements with a row of its own."""
        outer, self.b = self.b, self.b.child()
        i = Var("i", I64)
        x = self.element(model, i)
        row = self.like(model)
        if self.choose((True, False)):
            least = self.b.prim("flt", x, self.pick(F64).operand)
            sides = (self.b.child().block([v.operand]) for v in (row, model))
            (which,) = self.b.emit(If(least, *sides), "side")
            row = Value(which, model.shape)
        kept = self.b
        inner = kept.child()
        j = Var("j", I64)
        (y,) = inner.apply(Index(), (row.operand, j), names=["y"])
        n = self.dim(row)
        body = Lambda((j,), inner.block([inner.prim("sin", inner.prim("mul", x, y))]))
        (both,) = kept.apply(Build(), (n,), [body], ["line"])
        self.b = outer
        count = self.dim(model)
        lines = Lambda((i,), kept.block([both]))
        (matrix,) = self.b.apply(Build(), (count,), [lines], ["square"])
        return Value(matrix, (model.shape[0], model.shape[0]))

    def fold(self) -> None:
        if not self.may_fail:
            super().fold()
            return
        operand, count = self._count(0)
        body, _ = self.loop(count, lambda _: [self.pick(F64)])
        kind = Fold(self.choose(("min", "max")))
        self.add(self.b.apply(kind, (operand,), [body], ["s"])[0], bound=LARGE)

    def gather(self) -> None:
        """Elements of a vector at the indices in an array."""
        vectors = self.rows_of(VECTOR)
        if not vectors:
            return
        vector, chooser = self.choose(vectors), self.choose(vectors)
        places = self.b.child()
        i = Var("i", I64)
        place = places.prim("imul", i, self.pick(I64).operand)
        if not self.may_fail:
            place = places.prim("imod", place, self.dim(vector))
        count = self.dim(chooser)
        body = Lambda((i,), places.block([place]))
        (table,) = self.b.apply(Build(), (count,), [body], ["places"])
        elements = self.b.child()
        k = Var("k", I64)
        (at,) = elements.apply(Index(), (table, k), names=["at"])
        at = elements.prim("bound", at, self.dim(vector))
        (x,) = elements.apply(Index(), (vector.operand, at), names=["x"])
        body = Lambda((k,), elements.block([x]))
        (array,) = self.b.apply(Build(), (count,), [body], ["gathered"])
        self.scope.append(Value(array, chooser.shape, vector.bound))

    def differences(self) -> None:
        """Neighbours in a vector."""
        vectors = self.rows_of(VECTOR)
        if not vectors:
            return
        vector = self.choose(vectors)
        n = self.dim(vector)
        inner = self.b.child()
        i = Var("i", I64)
        after = inner.prim("bound", inner.prim("iadd", i, lit(1)), n)
        (x,) = inner.apply(Index(), (vector.operand, after), names=["x"])
        (y,) = inner.apply(Index(), (vector.operand, i), names=["y"])
        z = inner.prim("sin", inner.prim(self.choose(("sub", "mul")), x, y))
        body = Lambda((i,), inner.block([z]))
        count = self.b.prim("isub", n, lit(1))
        (array,) = self.b.apply(Build(), (count,), [body], ["steps"])
        known = vector.shape[0]
        self.scope.append(Value(array, (ANY if known == SOME else known - 1,)))

    # What the program returns.

    def digest(self) -> Operand:
        """A float that depends on all that is in reach, in a random weight."""
        total: Operand = self.pick(F64).operand
        for value in self.scope[6:]:
            part = self._number(value)
            if part is not None:
                weighted = self.b.prim("mul", part, self.pick(F64).operand)
                total = self.b.prim("add", total, self.b.prim("sin", weighted))
        return total

    def _number(self, value: Value) -> Operand | None:
        if value.type == F64:
            return value.operand
        if not isinstance(value.type, Array) or value.type.elem != F64:
            return None
        i = Var("i", I64)
        n = self.dim(value)
        outer, self.b = self.b, self.b.child()
        part = Value(self.element(value, i), value.shape[1:])
        x = self._number(part)
        assert x is not None
        body = Lambda((i,), self.b.block([self.b.prim("sin", x)]))
        self.b = outer
        return self.b.apply(Fold("add"), (n,), [body], ["s"])[0]

    # Branches.

    def choice(self) -> None:
        """One of two arrays of any shapes and origins."""
        kind = self.choose((VECTOR, VECTOR, MATRIX))
        if not self.rows_of(kind):
            return
        found = self.chosen_array(kind)
        self.scope.append(found)

    def chosen_array(self, kind: Array) -> Value:
        """A branch whose blocks give arrays from outside or new ones."""
        sides = [self.nested((), lambda: [self.side(kind)]) for _ in range(2)]
        blocks: list[Block] = [block for block, _ in sides]
        shapes = [values[0].shape for _, values in sides]
        (var,) = self.b.emit(If(self.pick(BOOL).operand, *blocks), "which")
        same = shapes[0] == shapes[1]
        return Value(var, shapes[0] if same else (SOME,) * kind.rank, LARGE)

    def side(self, kind: Array) -> Value:
        known = self.rows_of(kind)
        if kind == VECTOR and self.choose((True, False)):
            return self.like(self.choose(known))
        value: Value = self.choose(known)
        return value

    # Loops with states.

    def carry(self) -> None:
        """A loop that carries arrays and collects what it meets."""
        operand, count = self._count(0)
        kinds = [k for k in (VECTOR, VECTOR, MATRIX) if self.rows_of(k)]
        if not kinds:
            return
        inits = [self.pick(F64)]
        for _ in range(self.choose((1, 1, 2, 3))):
            inits.append(self.choose(self.rows_of(self.choose(kinds))))
        states = [self.state(v) for v in inits]
        index = self.index(count)
        outputs = self.choose((0, 0, 1, 2))

        def results() -> list[Value]:
            steps = [self.next(state, states) for state in states]
            return [*steps, *(self.output(steps) for _ in range(outputs))]

        block, values = self.nested([index, *states], results)
        params = [v.operand for v in (index, *states) if isinstance(v.operand, Var)]
        args = (operand, *(v.operand for v in inits))
        names = [*["s"] * len(states), *["outs"] * outputs]
        finals = self.b.apply(Iterate(), args, [Lambda(tuple(params), block)], names)
        for var, state in zip(finals, states, strict=False):
            self.scope.append(state.as_var(var))
        pairs = zip(finals[len(states) :], values[len(states) :], strict=True)
        for array, value in pairs:
            rest = value.shape if count not in (0, ANY) else [ANY] * len(value.shape)
            self.scope.append(Value(array, (count, *rest), value.bound))

    def state(self, init: Value) -> Value:
        """The state that starts as a value."""
        var = Var("s", init.type)
        if not isinstance(init.type, Array):
            return Value(var, bound=LARGE)
        return Value(var, (SOME,) * len(init.shape), LARGE)

    def next(self, state: Value, states: Sequence[Value]) -> Value:
        """The next value of a state."""
        kind = state.type
        if not isinstance(kind, Array):
            mixed = self.b.prim("add", state.operand, self.pick(F64).operand)
            return Value(self.b.prim("sin", mixed))
        options = ["keep", "state", "any", "choice", "new", "new", "grow"]
        option = self.choose(options)
        if option == "state":
            value: Value = self.choose([s for s in states if s.type == kind])
            return value
        if option == "any":
            found: Value = self.choose(self.rows_of(kind))
            return found
        if option == "choice":
            return self.chosen_array(kind)
        if option == "keep":
            return state
        if kind == MATRIX:
            return self.new_array(MATRIX)
        return self.like(state, 1 if option == "grow" else 0)

    def output(self, steps: Sequence[Value]) -> Value:
        """What a loop collects: a number, an array, or one that is also a state."""
        option = self.choose(("number", "array", "step"))
        kept = [v for v in steps if self.may_fail or SOME not in v.shape]
        if option == "step" and kept:
            value: Value = self.choose(kept)
            return value
        return self.any_array() if option == "array" else self.pick(F64)
