"""Array terms that are refused, and what arrays keep: dimensions, rows, references."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest
from numpy import zeros

from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.types import F64, I64, UNIT, Array, Box, Type
from chadllvm.ir.value import ROWS_DIFFER, to_value
from chadllvm.paper.array_api import (
    ArrayMany,
    ArrayOne,
    ArrayPairs,
    Collect,
    FromList,
    GetA,
    Listed,
    MakeLeaf,
    MakeNode,
    Map,
    Nil,
    Push,
    Retyped,
    Scatter,
    Unzip,
    ZipWith,
)
from chadllvm.paper.array_effects import Sequenced, UnLoop, UnTree
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.array_types import array, difference_list, list_of, tree
from chadllvm.paper.arrays import (
    Build,
    Dim,
    Index,
    MakeBox,
    Sized,
    Stack,
    Unbox,
    Zeros,
)
from chadllvm.paper.cost import run_gradient, run_term
from chadllvm.paper.elements import Elements, from_binary
from chadllvm.paper.fold import EMPTY_FOLD, Fold
from chadllvm.paper.gathers import Gather, MapOver, Zip
from chadllvm.paper.loops import Iterate
from chadllvm.paper.monad import ArrayMonad
from chadllvm.paper.scans import ExclusiveScan
from chadllvm.paper.source import read, to_binary
from chadllvm.paper.sparse import Sparse
from chadllvm.paper.spread import spread
from chadllvm.paper.terms import Operation
from chadllvm.paper.types import (
    IllTyped,
    Scope,
    arrow,
    computation,
    cotangent,
    product,
)
from chadllvm.paper.updates import Take, Update
from chadllvm.support.diagnostic import InternalError

REALS, ROWS = Array(F64, 1), Array(F64, 2)
CT, CTS = cotangent(F64), cotangent(REALS)
SCOPE = Scope()
OTHER = Scope().and_(parse("def f(x: f64) { return x }").entry.params[0])
EVM = computation(SCOPE, UNIT)
TREE = tree(F64, UNIT)
STAR = arrow(product(F64, F64), F64)
NODE, STEP = product(CT, UNIT), product(product(CT, CT), UNIT)
HALVES = computation(SCOPE, product(CT, CT))
ONE = computation(SCOPE, CT)

# An operation, arguments that it takes, and some that it does not.
RULES: list[tuple[Operation, tuple[Type, ...], tuple[Type, ...]]] = [
    (Build(), (I64, arrow(I64, F64)), (I64, arrow(F64, F64))),
    (Build(), (I64, arrow(I64, F64)), (F64, arrow(I64, F64))),
    (Index(), (REALS, I64), (REALS, F64)),
    (Index(), (ROWS, I64), (F64, I64)),
    (Dim(1), (ROWS,), (REALS,)),
    (Zeros(), (I64, I64), (I64, F64)),
    (Sized(), (ROWS, I64), (ROWS, F64)),
    (Sized(), (ROWS, I64), (REALS, I64)),
    (Stack(1), (array(REALS),), (REALS,)),
    (MakeBox(), (REALS,), (F64,)),
    (Unbox(), (Box(REALS),), (REALS,)),
    (Fold(), (STAR, REALS), (arrow(F64, F64), REALS)),
    (Fold(), (STAR, REALS), (STAR, ROWS)),
    (
        Iterate(),
        (I64, arrow(product(I64, F64), product(F64, UNIT)), F64),
        (I64, arrow(product(I64, F64), product(I64, UNIT)), F64),
    ),
    (Update(), (REALS, I64, F64), (REALS, I64, I64)),
    (Take(REALS), (I64, CTS), (I64, CT)),
    (Gather(), (REALS, array(I64)), (REALS, REALS)),
    (MapOver(), (arrow(F64, I64), REALS), (arrow(I64, I64), REALS)),
    (Zip(), (REALS, REALS), (REALS, F64)),
    (ArrayOne(REALS), (product(I64, CT),), (product(I64, F64),)),
    (ArrayMany(REALS), (array(CT),), (REALS,)),
    (ArrayPairs(REALS), (array(product(I64, CT)),), (array(CT),)),
    (Collect(REALS), (CTS,), (cotangent(ROWS),)),
    (Scatter(F64), (array(CT), array(product(I64, CT))), (array(CT), array(CT))),
    (Retyped(REALS, Box(REALS)), (CTS,), (CT,)),
    (Unzip(), (array(product(F64, I64)),), (REALS,)),
    (ZipWith(), (arrow(product(F64, I64), F64), REALS, array(I64)),
     (STAR, REALS, array(I64))),
    (Map(), (arrow(F64, F64), REALS), (arrow(I64, F64), REALS)),
    (FromList(), (list_of(F64),), (difference_list(F64),)),
    (Listed(), (difference_list(F64),), (list_of(F64),)),
    (MakeLeaf(UNIT), (F64,), ()),
    (MakeNode(), (TREE, F64, UNIT, TREE), (TREE, F64, F64, TREE)),
    (GetA(), (TREE,), (F64,)),
    (Nil(F64), (), (F64,)),
    (Push(), (F64, list_of(F64)), (F64, list_of(I64))),
    (Sequenced(SCOPE), (array(EVM),), (array(computation(OTHER, UNIT)),)),
    (UnTree(SCOPE), (arrow(NODE, HALVES), CT, TREE),
     (arrow(NODE, ONE), CT, TREE)),
    (UnLoop(SCOPE),
     (arrow(STEP, ONE), CT, array(CT), list_of(UNIT)),
     (arrow(STEP, EVM), CT, array(CT), list_of(UNIT))),
    (ExclusiveScan(), (STAR, REALS), (arrow(F64, F64), REALS)),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda r: type(r[0]).__name__)
def test_rules_take_what_is_theirs_and_refuse_the_rest(rule: Any) -> None:
    op, good, bad = rule
    op.type_of(good)
    with pytest.raises(IllTyped, match=type(op).__name__):
        op.type_of(bad)


def value_of(text: str, *args: Any) -> tuple[Any, Any]:
    """The value of a program by the term machine and by the interpreter."""
    program = parse(text)
    types = [p.type for p in program.entry.params]
    values = [to_value(a, t) for a, t in zip(args, types, strict=True)]
    scope, term = read(program.entry)
    inputs = [to_binary(v, t) for v, t in zip(values, types, strict=True)]
    (result,), (ty,) = Interpreter(program).run(*values), program.entry.body.types
    return from_binary(run_term(term, scope, inputs)[0], ty), result


@pytest.mark.parametrize(
    "make",
    [
        "b = zeros(0, 3)",
        "b = zeros(2, 0)",
        "r = zeros(3)  b = build(0) { i -> yield r }",
        "r = zeros(0)  b = build(3) { i -> yield r }",
        "b = empty[f64[:, :]]()",
    ],
)
def test_empty_arrays_keep_their_dimensions(make: str) -> None:
    for axis in (0, 1):
        text = f"def f(x: f64) {{ {make}  n = dim[{axis}](b)  return n }}"
        found, expected = value_of(text, 1.0)
        assert found == expected


def test_an_empty_argument_keeps_its_dimensions() -> None:
    text = "def f(a: f64[:, :]) { n = dim[1](a)  return n }"
    assert value_of(text, zeros((0, 5))) == (5, 5)


@pytest.mark.parametrize("kind", ["argmin", "argmax", "argmin, nan", "argmax, nan"])
@pytest.mark.parametrize("numbers", [[2.0, 1.0, 1.0, 2.0], [3.0, nan, 1.0, nan, 4.0]])
def test_the_winner_is_that_of_the_core(kind: str, numbers: list[float]) -> None:
    """The first of equals; NaN wins where it is asked for, and never beats a first."""
    text = f"""
    def f(a: f64[:]) {{
      n = dim[0](a)
      m, w = fold[{kind}](n) {{ i -> x = index(a, i)  yield x }}
      return w
    }}"""
    found, expected = value_of(text, numbers)
    assert found == expected


def test_rows_of_different_lengths_are_refused() -> None:
    text = """
    def f(n: i64) {
      b = build(n) { i -> r = zeros(i)  yield r }
      m = dim[0](b)
      return m
    }"""
    scope, term = read(parse(text).entry)
    with pytest.raises(ProgramError, match=ROWS_DIFFER):
        run_term(term, scope, [3])


def test_a_fold_of_nothing_is_refused() -> None:
    text = """
    def f(a: f64[:]) {
      n = dim[0](a)
      m = fold[min](n) { i -> x = index(a, i)  yield x }
      return m
    }"""
    scope, term = read(parse(text).entry)
    with pytest.raises(ProgramError, match=EMPTY_FOLD):
        run_term(term, scope, [Elements([])])


BOXES = """
def f(a: f64[:]) {
  n = dim[0](a)
  b = build(n) { i ->
    m = iadd(i, 1)
    r = build(m) { j -> x = index(a, j)  y = mul(x, x)  yield y }
    s = box(r)
    yield s
  }
  t = fold[add](n) { i ->
    s = index(b, i)
    r = unbox(s)
    m = dim[0](r)
    u = fold[add](m) { j -> x = index(r, j)  yield x }
    yield u
  }
  return t
}
"""


def test_ragged_arrays_of_references() -> None:
    """Σᵢ Σⱼ≤ᵢ aⱼ²: aⱼ is used in n - j rows."""
    scope, term = read(parse(BOXES).entry)
    values = [Elements([1.0, 2.0, 3.0])]
    assert run_term(term, scope, values)[0] == 3 * 1.0 + 2 * 4.0 + 9.0
    sparse = sparse_arrays()
    found = run_gradient(ArrayMonad(sparse), term, scope, values, 1.0)
    laid_out = spread(sparse, found.cotangents[0], values[0], REALS)
    assert laid_out == Elements([6.0, 8.0, 6.0])


SIZED = """
def f(a: f64[:], n: i64) {
  rows = build(n) { i ->
    r = build(0) { k -> row = build(n) { j -> x = index(a, j)  yield x }  yield row }
    yield r
  }
  s = sized(rows, 0, 3)
  return s
}
"""


@pytest.mark.parametrize("count", [0, 2])
def test_sizes_of_rows_that_are_not_there(count: int) -> None:
    scope, term = read(parse(SIZED).entry)
    values = [Elements([1.0, 2.0]), count]
    found = run_term(term, scope, values)[0]
    assert found.dims == (count, 0, 3)
    assert [row.dims for row in found.items] == [(0, 3)] * count


def test_rows_of_other_sizes() -> None:
    text = """
    def f(a: f64[:, :]) {
      s = sized(a, 3)
      x = index(s, 0, 0)
      return x
    }"""
    scope, term = read(parse(text).entry)
    rows = Elements([Elements([1.0, 2.0])], (2,))
    with pytest.raises(InternalError, match="rows of"):
        run_term(term, scope, [rows])
    fits = Elements([Elements([1.0, 2.0, 3.0])], (3,))
    sparse = sparse_arrays()
    found = run_gradient(ArrayMonad(sparse), term, scope, [fits], 1.0)
    laid_out = spread(sparse, found.cotangents[0], fits, ROWS)
    assert laid_out.items[0] == Elements([1.0, 0.0, 0.0])


def test_linear_types_without_arrays_say_so() -> None:
    text = "def f(a: f64[:]) { x = index(a, 0)  return x }"
    scope, term = read(parse(text).entry)
    with pytest.raises(InternalError, match="without those of arrays"):
        run_gradient(ArrayMonad(Sparse()), term, scope, [Elements([1.0])], 1.0)


def test_cells_are_not_in_the_language() -> None:
    text = "def f(x: f64) { c = open f64  one c x  y = close c  return y }"
    with pytest.raises(InternalError, match="not in the language"):
        read(parse(text).entry)
