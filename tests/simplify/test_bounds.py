"""Checks that are removed would have passed; hoisted ones fail only if they must."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import PRIMS, Prim, ProgramError
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import (
    Apply,
    Binding,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import F64, I64, Array
from chadllvm.ir.value import ArrayValue
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index
from chadllvm.simplify.bounds import bounds
from chadllvm.simplify.constants import fold_constants
from chadllvm.simplify.cse import cse
from chadllvm.simplify.dce import dce
from chadllvm.simplify.hoist import hoist
from chadllvm.simplify.walk import Walk
from tests.sweep import part

EDGES = st.sampled_from([-(2**63), 2**63 - 1, 2**62, -(2**62)])
SMALL = st.integers(-3, 6)
EXAMPLES = settings(
    max_examples=part(400, 8),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)


@dataclass
class Writer:
    """Writes nested loops that read arrays at sums and products of what is in scope."""

    draw: st.DrawFn
    arrays: list[Var]
    integers: list[Operand]
    sizes: list[Operand] = field(default_factory=list)

    def integer(self, b: Builder) -> Operand:
        """An integer, most often affine in an index of a loop."""
        x = self.draw(st.sampled_from(self.integers[-4:]))
        match self.draw(st.sampled_from("xx+++-*<")):
            case "x":
                return x
            case "+":
                return b.prim("iadd", x, self._other())
            case "-":
                return b.prim("isub", self._other(), x)
            case "*":
                return b.prim("imul", x, self._other())
            case _:
                return b.prim("imax", x, self._other())

    def _other(self) -> Operand:
        if self.draw(st.booleans()):
            return lit(self.draw(st.integers(-2, 3)))
        return self.draw(st.sampled_from(self.integers))

    def read(self, b: Builder) -> Operand:
        """An element at a checked index; sometimes the index is a mere number."""
        array = self.draw(st.sampled_from(self.arrays))
        size = b.one(Apply(Dim(0), (array,)), "d")
        index = b.prim("bound", self.integer(b), size, hint="k")
        return b.one(Apply(Index(), (array, index)), "x")

    def block(self, b: Builder, depth: int) -> Operand:
        """Statements and the sum of what they give."""
        total: Operand = lit(0.0)
        known = len(self.integers), len(self.arrays)
        for _ in range(self.draw(st.integers(1, 3))):
            total = b.prim("add", total, self.statement(b, depth))
        del self.integers[known[0] :], self.arrays[known[1] :]
        return total

    def statement(self, b: Builder, depth: int) -> Operand:
        kind = self.draw(st.sampled_from("rrlllbi")) if depth else "r"
        if kind == "r":
            return self.read(b)
        if kind == "i":
            return self.branch(b, depth)
        if kind == "b":
            return self.made(b, depth)
        return self.loop(b, depth)

    def count(self, b: Builder) -> Operand:
        if self.draw(st.booleans()):
            return b.one(Apply(Dim(0), (self.draw(st.sampled_from(self.arrays)),)), "n")
        return b.prim("imin", self.integer(b), lit(7))

    def body(self, b: Builder, depth: int) -> Lambda:
        inner, index = b.child(), Var("i", I64)
        self.integers.append(index)
        result = self.block(inner, depth - 1)
        self.integers.remove(index)
        return Lambda((index,), inner.block([result]))

    def loop(self, b: Builder, depth: int) -> Operand:
        count = self.count(b)
        self.integers.append(count)
        return b.apply(Fold(), [count], [self.body(b, depth)], ["s"])[0]

    def made(self, b: Builder, depth: int) -> Operand:
        """An array that later reads may read, and its size."""
        (array,) = b.apply(Build(), [self.count(b)], [self.body(b, depth)], ["a"])
        self.arrays.append(array)
        self.integers.append(b.one(Apply(Dim(0), (array,)), "n"))
        return lit(1.0)

    def branch(self, b: Builder, depth: int) -> Operand:
        name = self.draw(st.sampled_from(["ilt", "ile", "ieq", "ine"]))
        cond = b.prim(name, self.integer(b), self.integer(b), hint="c")
        blocks = []
        for _ in range(2):
            inner = b.child()
            blocks.append(inner.block([self.block(inner, depth - 1)]))
        return b.emit(If(cond, *blocks))[0]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    a, c = (Var(name, Array(F64, 1)) for name in "ac")
    m, n = (Var(name, I64) for name in "mn")
    b = Builder()
    writer = Writer(draw, [a, c], [m, n])
    result = writer.block(b, 3)
    return Program((Function("f", (a, c, m, n), b.block([result])),))


def vectors(draw: st.DrawFn) -> ArrayValue:
    size = draw(st.integers(0, 5))
    return ArrayValue((size,), [float(2**k) for k in range(size)])


@st.composite
def arguments(draw: st.DrawFn) -> tuple[object, ...]:
    number = SMALL | EDGES
    return vectors(draw), vectors(draw), draw(number), draw(number)


def outcome(program: Program, args: tuple[object, ...]) -> object:
    """The result, or the kind of failure; an index out of range is a crash."""
    try:
        return Interpreter(program).run(*args)
    except ProgramError as error:
        return error.kind


class Strict(Walk):
    """Lets no negative index count from the end."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="bound"), args):
                expr = Apply(PRIMS["within"], args)
                binding = Binding(binding.vars, expr, binding.span)
        self.keep(binding)


def without_negative_indices(program: Program) -> Program:
    """The program with `within` for `bound`."""
    (entry,) = program.functions
    return Program((Function("f", entry.params, Strict().block(entry.body)),))


@pytest.mark.sweep
@EXAMPLES
@given(programs(), st.lists(arguments(), min_size=3, max_size=6))
def test_bounds(program: Program, runs: list[tuple[object, ...]]) -> None:
    plain = dce(bounds(hoist(cse(fold_constants(program)))))
    check(plain, after="bounds")
    prepared = cse(hoist(cse(fold_constants(program))))
    fast = hoist(cse(bounds(prepared, speculate=True)))
    check(fast, after="bounds")
    strict = without_negative_indices(program)
    note(pretty(program))
    note(pretty(fast))
    for args in runs:
        expected = outcome(program, args)
        assert outcome(plain, args) == expected
        found = outcome(fast, args)
        must_succeed = outcome(strict, args) is not IndexError
        assert found == expected or (found is IndexError and not must_succeed)
