"""The derivative of §2 as a program of the core.

A term of the naive form is written with Fig. 4's linear types, which the core has:

    D[ℝ]₂ = f64    D[1]₂ = D[ℤ]₂ = ()    D[σ × τ]₂ = (D[σ]₂, D[τ]₂)
    D[σ + τ]₂ = <zero: (), left: D[σ]₂, right: D[τ]₂>

Environments are tuples, backpropagators lambdas. A cast to the constructor that a
cotangent is not of fails as an index out of range does. Products and sums are binary,
as in the terms: a parameter of another type is in its binary form.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from chadllvm.ir import term as core
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Lambda, Operand, Program, Tuple, Var
from chadllvm.ir.types import BOOL, F64, UNIT, Fun, Product, Scalar, Sum, Type
from chadllvm.paper.deep import deep
from chadllvm.paper.linear import (
    AsCotangent,
    AsNumber,
    LinearCast,
    LinearInject,
    LinearPair,
    LinearPart,
    LinearUnit,
    Zero,
)
from chadllvm.paper.naive import (
    Basic,
    EnvironmentOne,
    EnvironmentPlus,
    EnvironmentSplit,
    EnvironmentZero,
)
from chadllvm.paper.source import read
from chadllvm.paper.terms import (
    TRUTH,
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    MakePair,
    MakeUnit,
    Match,
    Part,
    Primitive,
    Ref,
    Term,
)
from chadllvm.paper.types import Cotangent, Environment, Scope
from chadllvm.support.diagnostic import InternalError


def naive_chad(function: core.Function, applied: bool = False) -> Program:
    """The derivative of a function of the first-order core.

    It returns the value and the backpropagator; or, if `applied`, it takes the
    cotangent of the value as a last parameter and returns the value and the cotangents
    of all parameters.
    """
    variables, term = read(function)
    return naive_chad_of_term(variables, term, applied, f"{function.name}_chad")


def naive_chad_of_term(
    variables: Collection[Var], term: Term, applied: bool, name: str
) -> Program:
    """The same of a term with these free variables, as a function of this name."""
    scope, rules = Scope.of(variables), Basic()
    derived = rules.differentiate(scope, term)
    writer = Writer()
    params = [writer.bind(v) for v in scope]
    out = Builder()
    with deep():
        whole = writer.term(out, derived)
    value, bp = (_part(out, whole, k) for k in range(2))
    if not applied:
        results = [value, bp]
    else:
        d = Var("d", dense(rules.type_of(term)))
        params.append(d)
        assert isinstance(bp, Var)
        (environment,) = out.call(bp, (d,))
        parts = [_part(out, environment, k) for k in range(len(scope))]
        results = [value, *parts]
    entry = core.Function(name, tuple(params), out.block(results))
    return Program((entry,))


def dense(ty: Type) -> Type:
    """D[τ]₂ as in Fig. 4."""
    match ty:
        case Product((first, second)):
            return Product((dense(first), dense(second)))
        case Sum(((_, left), (_, right))):
            held = (("left", dense(left)), ("right", dense(right)))
            return Sum((("zero", UNIT), *held))
        case _:
            return F64 if ty == F64 else UNIT


def written(ty: Type) -> Type:
    """A type of the terms as one of the core."""
    if isinstance(ty, Cotangent):
        return dense(ty.of)
    if isinstance(ty, Environment):
        return Product(tuple([dense(t) for t in ty.scope.types]))
    match ty:
        case Scalar():
            return ty
        case Product(fields):
            return Product(tuple(map(written, fields)))
        case Sum(constructors):
            return Sum(tuple((name, written(t)) for name, t in constructors))
        case Fun(params, results):
            return Fun(tuple(map(written, params)), tuple(map(written, results)))
        case _:
            raise InternalError(f"reference: {ty} cannot be written in the core")


class Writer:
    """Writes terms to blocks; `known` are the operands that variables stand for."""

    def __init__(self) -> None:
        self.known: dict[Var, Operand] = {}

    def bind(self, var: Var) -> Var:
        """A variable of the core in place of a variable of the term."""
        new = Var(var.name, written(var.type))
        self.known[var] = new
        return new

    def term(self, out: Builder, term: Term) -> Operand:
        """The value of a term; loops over the lets of a body."""
        while isinstance(term, Let):
            self.known[term.var] = self.term(out, term.bound)
            term = term.body
        match term:
            case Ref(var):
                return self.known[var]
            case Lam():
                return out.one(self._lambda(out, term), term.var.name)
            case Call(function, arg):
                called = self.term(out, function)
                assert isinstance(called, Var)
                given = self.term(out, arg)
                return out.call(called, (given,))[0]
            case Match(arg, left, right):
                subject = self.term(out, arg)
                branches = (self._lambda(out, left), self._lambda(out, right))
                return out.one(core.Case(subject, branches))
            case Do(op, args):
                operands = [self.term(out, arg) for arg in args]
                return _operation(out, op, operands)
            case _:
                assert_never(term)

    def _lambda(self, out: Builder, term: Lam) -> Lambda:
        param = self.bind(term.var)
        inner = out.child()
        result = self.term(inner, term.body)
        return Lambda((param,), inner.block([result]))


def _operation(out: Builder, op: object, args: Sequence[Operand]) -> Operand:
    match op:
        case MakeUnit() | MakePair() | LinearUnit() | LinearPair():
            return out.one(Tuple(tuple(args)))
        case Part(index) | LinearPart(index, _):
            return _part(out, args[0], index)
        case Inject(index, ty):
            found = written(ty)
            assert isinstance(found, Sum)
            return out.one(core.Inject(found, index, args[0]))
        case Literal(value):
            return lit(value)
        case Primitive():
            return _primitive(out, op, args[0])
        case AsNumber() | AsCotangent():
            return args[0]
        case Zero(ty):
            return _zero(out, ty)
        case LinearInject(index, ty):
            return _injected(out, args[0], index, ty)
        case LinearCast(index, ty):
            return _cast(out, args[0], index, ty)
        case _:
            return _environment(out, op, args)


def _environment(out: Builder, op: object, args: Sequence[Operand]) -> Operand:
    match op:
        case EnvironmentZero(scope):
            return _tuple(out, [_zero(out, ty) for ty in scope.types])
        case EnvironmentOne(scope, index):
            parts = [
                args[0] if k == index else _zero(out, ty)
                for k, ty in enumerate(scope.types)
            ]
            return _tuple(out, parts)
        case EnvironmentPlus(scope):
            return _tuple(out, _sums(out, args[0], args[1], scope.types))
        case EnvironmentSplit(scope):
            parts = [_part(out, args[0], k) for k in range(len(scope))]
            return _tuple(out, [_tuple(out, parts[:-1]), parts[-1]])
        case _:
            raise InternalError(f"reference: {op} is not of the naive form")


def _primitive(out: Builder, op: Primitive, arg: Operand) -> Operand:
    """A primitive of the parts of a nested pair; truth values are sums in terms."""
    parts: list[Operand] = []
    for _ in op.prim.params[1:]:
        parts.append(_part(out, arg, 1))
        arg = _part(out, arg, 0)
    parts = [arg, *reversed(parts)] if op.prim.params else []
    args = [
        _as_bool(out, a) if ty == BOOL else a
        for a, ty in zip(parts, op.prim.params, strict=True)
    ]
    result = out.one(core.Apply(op.prim, tuple(args)))
    return _as_sum(out, result) if result.type == BOOL else result


def _as_bool(out: Builder, arg: Operand) -> Operand:
    branches = [
        Lambda((Var("u", UNIT),), out.child().block([lit(bool(k))])) for k in range(2)
    ]
    return out.one(core.Case(arg, tuple(branches)))


def _as_sum(out: Builder, arg: Operand) -> Operand:
    blocks: list[core.Block] = []
    for index in range(2):
        inner = out.child()
        unit = _tuple(inner, ())
        blocks.append(inner.block([inner.one(core.Inject(TRUTH, index, unit))]))
    return out.one(core.If(arg, blocks[1], blocks[0]))


# The linear types of Fig. 4.


def _zero(out: Builder, ty: Type) -> Operand:
    match ty:
        case Product((first, second)):
            return _tuple(out, [_zero(out, first), _zero(out, second)])
        case Sum():
            sum_type = dense(ty)
            assert isinstance(sum_type, Sum)
            return out.one(core.Inject(sum_type, 0, _tuple(out, ())))
        case _:
            return lit(0.0) if ty == F64 else _tuple(out, ())


def _injected(out: Builder, arg: Operand, index: int, ty: Type) -> Operand:
    sum_type = dense(ty)
    assert isinstance(sum_type, Sum)
    return out.one(core.Inject(sum_type, 1 + index, arg))


def _cast(out: Builder, arg: Operand, index: int, ty: Sum) -> Operand:
    held = ty.payloads[index]
    branches: list[Lambda] = []
    for tag, payload in enumerate((UNIT, *map(dense, ty.payloads))):
        var, inner = Var("c", payload), out.child()
        if tag == 1 + index:
            branches.append(Lambda((var,), inner.block([var])))
            continue
        if tag > 0:
            inner.prim("bound", lit(1), lit(0))
        branches.append(Lambda((var,), inner.block([_zero(inner, held)])))
    return out.one(core.Case(arg, tuple(branches)))


def _plus(out: Builder, a: Operand, b: Operand, ty: Type) -> Operand:
    match ty:
        case Product((_, _) as fields):
            return _tuple(out, _sums(out, a, b, fields))
        case Sum():
            return _plus_sum(out, a, b, ty)
        case _:
            return out.prim("add", a, b) if ty == F64 else _tuple(out, ())


def _plus_sum(out: Builder, a: Operand, b: Operand, ty: Sum) -> Operand:
    branches = [Lambda((Var("z", UNIT),), out.child().block([b]))]
    for index, payload in enumerate(ty.payloads):
        var, inner = Var("a", dense(payload)), out.child()
        other = _cast(inner, b, index, ty)
        held = _plus(inner, var, other, payload)
        branches.append(
            Lambda((var,), inner.block([_injected(inner, held, index, ty)]))
        )
    return out.one(core.Case(a, tuple(branches)))


def _sums(out: Builder, a: Operand, b: Operand, types: Sequence[Type]) -> list[Operand]:
    return [
        _plus(out, _part(out, a, k), _part(out, b, k), ty) for k, ty in enumerate(types)
    ]


def _tuple(out: Builder, parts: Sequence[Operand]) -> Operand:
    return out.one(Tuple(tuple(parts)))


def _part(out: Builder, whole: Operand, index: int) -> Operand:
    return out.one(core.Proj(whole, index))
