"""Reads a function of the core as a term of the paper.

See `reader` for what is of first order. Operations on arrays become those of §7:

- several results of a build are an array of products, taken apart again;
- a sum, or a minimum, over an index is a build, and a fold of that. The sum of nothing
  is zero; a minimum goes from left to right, so that the first of equals wins;
- the states of a loop, and what it collects, are a product each;
- an array of rank two or more is an array of arrays that knows its dimensions.

There are no cells and no function values in the language here, and calls must be
inlined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chadllvm.ir.op import PRIMS, ArrayOp
from chadllvm.ir.term import Apply, Const, Expr, Function, Lambda, Operand, Var
from chadllvm.ir.types import (
    BOOL,
    F64,
    I64,
    UNIT,
    Array,
    Box,
    Product,
    Sum,
    Type,
    element,
)
from chadllvm.ir.typing import SCALAR_OF_DTYPE
from chadllvm.ir.value import Injected, to_value
from chadllvm.ops import alias, build, fold, grow, index, iterate, require, update
from chadllvm.paper.arrays import (
    ArrayLiteral,
    Build,
    Dim,
    Index,
    MakeBox,
    Sized,
    Stack,
    Unbox,
    Zeros,
)
from chadllvm.paper.elements import Elements, to_elements
from chadllvm.paper.fold import Fold
from chadllvm.paper.loops import Iterate, Require
from chadllvm.paper.reader import Reader
from chadllvm.paper.rules import let_
from chadllvm.paper.terms import (
    TRUTH,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    Match,
    Primitive,
    Ref,
    Term,
    binary,
    fst,
    function,
    pair,
    pairs,
    path,
    snd,
    unit,
)
from chadllvm.paper.updates import Update
from chadllvm.support.diagnostic import InternalError


def read(function: Function) -> tuple[tuple[Var, ...], Term]:
    """The parameters and the body of a function as a scope and a term."""
    reader = ArrayReader({})
    params = tuple(map(reader.bind, function.params))
    return params, reader.block(function.body)


class ArrayReader(Reader):
    """Reads operations on arrays too."""

    def expr(self, expr: Expr) -> Term:
        match expr:
            case Apply(ArrayOp() as op, args, bodies):
                return self._array_op(op, args, bodies)
            case Const(value):
                ty = Array(SCALAR_OF_DTYPE[value.dtype], value.ndim)
                return _literal(to_binary(to_value(value, ty), ty), ty)
            case _:
                return super().expr(expr)

    def _array_op(
        self, op: ArrayOp, operands: Sequence[Operand], bodies: Sequence[Lambda]
    ) -> Term:
        args = self.operands(operands)
        match op:
            case index.Index():
                whole = args[0]
                for position in args[1:]:
                    whole = Do(Index(), (whole, position))
                return whole
            case index.Dim(axis):
                return Do(Dim(axis), tuple(args))
            case index.Empty(ty):
                return _literal(Elements([], (0,) * (ty.rank - 1)), ty)
            case index.Zeros():
                return Do(Zeros(), tuple(args))
            case index.Sized():
                return Do(Sized(), tuple(args))
            case alias.Alias():
                return args[0]
            case index.MakeBox():
                return Do(MakeBox(), tuple(args))
            case index.Unbox():
                return Do(Unbox(), tuple(args))
            case update.Update():
                return _updated(args[0], args[1:-1], args[-1])
            case grow.Append():
                return _appended(args[0], args[1], operands[1].type)
            case grow.DropLast():
                return _shortened(args[0], operands[0].type)
            case build.Build():
                return self._build(args[0], bodies[0])
            case fold.Fold():
                return self._fold(op, args[0], bodies[0])
            case iterate.Iterate():
                return self._iterate(op, args, bodies[0])
            case require.Require(kind=kind, message=message):
                values = args[1:]
                failing = Require(kind, message, len(values))
                return Do(failing, (args[0], pairs(values)))
            case _:
                raise InternalError(f"reference: {op.name} is not in the language")

    def _rows(self, count: Term, body: Lambda) -> Term:
        """build n (i. ⟨r1, …⟩)"""
        (param,) = body.params
        return Do(Build(), (count, Lam(self.bind(param), self.block(body.body))))

    def _build(self, count: Term, body: Lambda) -> Term:
        types = body.body.types
        rows = self._rows(count, body)
        return let_(_rows_type(types), rows, lambda w: pairs(_columns(w, types)))

    def _fold(self, op: fold.Fold, count: Term, body: Lambda) -> Term:
        """The reduction of the first column, the others, and perhaps the winner."""
        types = body.body.types
        number = types[0]

        def results(w: Term) -> Term:
            first, *others = _columns(w, types)
            if op.kind == "add":
                return pairs([_sum_of(first, number), *others])
            if not op.kind.startswith("arg"):
                return pairs([_best(op, first, number), *others])
            winner = _winner(op, first, number)
            both = product_of(number, I64)
            return let_(both, winner, lambda r: pairs([fst(r), *others, snd(r)]))

        return let_(_rows_type(types), self._rows(count, body), results)

    def _iterate(self, op: iterate.Iterate, args: Sequence[Term], body: Lambda) -> Term:
        """iterate n (x. let i = fst x; s1 = …, … in ⟨⟨s1', …⟩, ⟨o1, …⟩⟩) ⟨s1, …⟩"""
        states, count = [p.type for p in body.params[1:]], len(args) - 1
        state = binary(Product(tuple(states)))
        x = Var("x", Product((I64, state)))
        lets = [(self.bind(body.params[0]), fst(Ref(x)))]
        for k, param in enumerate(body.params[1:]):
            lets.append((self.bind(param), path(snd(Ref(x)), k, count)))
        step = self.block(body.body, lambda r: pair(pairs(r[:count]), pairs(r[count:])))
        for var, bound in reversed(lets):
            step = Let(var, bound, step)
        outputs = body.body.types[count:]
        result = Product((state, _rows_type(outputs)))
        # The first state is the innermost of the pairs.
        again = Iterate(count - 1 if op.stops else None)
        loop = Do(again, (args[0], Lam(x, step), pairs(list(args[1:]))))

        def results(r: Term) -> Term:
            finals = [path(fst(r), k, count) for k in range(count)]
            if not outputs:
                return pairs(finals)
            return let_(
                _rows_type(outputs),
                snd(r),
                lambda w: pairs([*finals, *_columns(w, outputs)]),
            )

        return let_(result, loop, results)


def product_of(first: Type, second: Type) -> Type:
    """σ × τ"""
    return Product((first, second))


def _literal(value: Any, ty: Array) -> Term:
    array = binary(ty)
    assert isinstance(array, Array)
    return Do(ArrayLiteral(value, array))


def _rows_type(types: Sequence[Type]) -> Type:
    """The type of an array of the results of a body, which have these types."""
    return Array(
        binary(Product(tuple(types))) if len(types) != 1 else binary(types[0]), 1
    )


def _updated(whole: Term, indices: Sequence[Term], value: Term) -> Term:
    """a with [i] = (a ! i with [j] = v)"""
    first, *rest = indices
    if rest:
        value = _updated(Do(Index(), (whole, first)), rest, value)
    return Do(Update(), (whole, first, value))


def _appended(whole: Term, value: Term, row: Type) -> Term:
    """build (n + 1) (i. if i < n then a ! i else v)"""

    def part(i: Term) -> Term:
        old = _prim("ilt", i, _length(whole))
        return _branch(old, Do(Index(), (whole, i)), value)

    count = _prim("iadd", _length(whole), _number(1))
    return _stacked(Do(Build(), (count, function("i", I64, part))), row)


def _shortened(whole: Term, ty: Type) -> Term:
    """build (n - 1) (i. a ! i)"""
    assert isinstance(ty, Array)
    count = _prim("isub", _length(whole), _number(1))
    body = function("i", I64, lambda i: Do(Index(), (whole, i)))
    return _stacked(Do(Build(), (count, body)), element(ty, 1))


def _length(array: Term) -> Term:
    return Do(Dim(), (array,))


def _columns(rows: Term, types: Sequence[Type]) -> list[Term]:
    """The arrays of the results, stacked if they are arrays themselves."""
    if len(types) == 1:
        return [_stacked(rows, types[0])]
    return [_stacked(_column(rows, k, len(types)), ty) for k, ty in enumerate(types)]


def _column(rows: Term, k: int, count: int) -> Term:
    """build (length rows) (i. component k of rows ! i)"""
    body = function("i", I64, lambda i: path(Do(Index(), (rows, i)), k, count))
    return Do(Build(), (_length(rows), body))


def _stacked(rows: Term, ty: Type) -> Term:
    return Do(Stack(ty.rank), (rows,)) if isinstance(ty, Array) else rows


def _prim(name: str, *args: Term) -> Term:
    return Do(Primitive(PRIMS[name]), (pairs(list(args)),))


def _number(value: float | int) -> Term:
    return Do(Literal(value), (unit(),))


def _branch(cond: Term, then: Term, orelse: Term) -> Term:
    no, yes = (Lam(Var("u", UNIT), t) for t in (orelse, then))
    return Match(cond, no, yes)


def _sum_of(column: Term, ty: Type) -> Term:
    """Zero, or fold (p. fst p + snd p) of the column if it has elements."""
    is_real = ty == F64
    plus = "add" if is_real else "iadd"
    add = function("p", product_of(ty, ty), lambda p: _prim(plus, fst(p), snd(p)))

    def total(a: Term) -> Term:
        zero = _number(0.0 if is_real else 0)
        some = _prim("ilt", _number(0), _length(a))
        return _branch(some, Do(Fold(), (add, a)), zero)

    return let_(Array(ty, 1), column, total)


def _better(op: fold.Fold, ty: Type, new: Term, old: Term) -> Term:
    """Whether a later element wins: if it is strictly better, or the first NaN."""
    less = "flt" if ty == F64 else "ilt"
    pair = (new, old) if op.kind.endswith("min") else (old, new)
    better = _prim(less, *pair)
    if not op.nan or ty != F64:
        return better
    no, yes = (Do(Inject(k, TRUTH), (unit(),)) for k in (0, 1))
    later = _branch(_prim("feq", new, new), better, yes)
    return _branch(_prim("feq", old, old), later, no)


def _best(op: fold.Fold, column: Term, ty: Type) -> Term:
    """fold (p. if snd p is better then snd p else fst p)"""
    best = function(
        "p",
        product_of(ty, ty),
        lambda p: _branch(_better(op, ty, snd(p), fst(p)), snd(p), fst(p)),
    )
    return Do(Fold("left"), (best, column))


def _winner(op: fold.Fold, column: Term, ty: Type) -> Term:
    """The same for pairs of an element and its index."""
    held = product_of(ty, I64)
    best = function(
        "p",
        product_of(held, held),
        lambda p: _branch(_better(op, ty, fst(snd(p)), fst(fst(p))), snd(p), fst(p)),
    )

    def found(a: Term) -> Term:
        places = function("i", I64, lambda i: pair(Do(Index(), (a, i)), i))
        return Do(Fold("left"), (best, Do(Build(), (_length(a), places))))

    return let_(Array(ty, 1), column, found)


def to_binary(value: Any, ty: Type) -> Any:
    """A value of the interpreter as the value of the term's type."""
    match ty:
        case Product(fields):
            found = [to_binary(v, t) for v, t in zip(value, fields, strict=True)]
            if not found:
                return ()
            first, *rest = found
            for item in rest:
                first = (first, item)
            return first
        case Sum():
            count = len(ty.constructors)
            held = to_binary(value.value, ty.payloads[value.index])
            if value.index < count - 1:
                held = Injected(0, held)
            for _ in range(value.index):
                held = Injected(1, held)
            return held
        case Array(elem, _):
            return to_elements(value, lambda x: to_binary(x, elem), value.shape)
        case Box(content):
            return to_binary(value, content)
        case _:
            return Injected(int(value), ()) if ty == BOOL else value
