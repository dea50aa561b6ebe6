"""Functions with derivatives of their own, by `cl.custom_vjp` and `cl.custom_jvp`.

    @cl.custom_vjp                          def f(x) { … }            (a program apart)
    def f(x): …                      →      def f(x) { y = custom[f](x); return y }
    f.defvjp(forward, backward)

The rules are specialised to the types of the arguments as other functions are, in
programs of their own, and checked against the function's types. What users write is
wrapped, so that CHAD finds what it asks for (`ops/custom.py`): the residuals know the
sizes of the arguments, and cotangents and tangents are checked against sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Protocol

from chadllvm.diagnostic import Span
from chadllvm.frontend import custom_errors
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.closures import holds_function
from chadllvm.frontend.context import Callees, Wrap
from chadllvm.frontend.reals import as_reals, fits
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Source, read_source
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, Operand, Program, Proj, Tuple, Var
from chadllvm.ir.types import (
    NONE,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    cotangent_type,
    has_float,
)
from chadllvm.ops.custom import Custom, Rules
from chadllvm.ops.index import Dim

# By this attribute a Python function says which derivatives it has.
MARK = "__chadllvm_rules__"


@dataclass(eq=False)
class Given:
    """The rules that a user gives: two functions for a vjp, one for a jvp.

    `is_used`: they are compiled.
    """

    vjp: tuple[FunctionType, FunctionType] | None = None
    jvp: tuple[FunctionType] | None = None
    is_used: bool = False


class Specialised(Callees, Protocol):
    """The program that is being made, as rules need it."""

    def signature(self, name: str) -> Fun:
        """The type of a function that is there."""


@dataclass(eq=False)
class Named:
    """The rules of a function whose programs are known by name."""

    rules: Rules
    names: dict[str, str] = field(default_factory=dict)

    def fill(self, programs: Mapping[str, Program]) -> None:
        """Put the programs of these names into the rules."""
        self.rules.primal = programs["primal"]
        self.rules.forward = programs.get("forward")
        self.rules.backward = programs.get("backward")
        self.rules.tangent = programs.get("tangent")


def rules_of(function: Any) -> Given | None:
    """The rules of a function, if it has its own."""
    return getattr(function, MARK, None)


def with_rules(
    callees: Specialised,
    function: FunctionType,
    given: Given,
    primal: str,
    statics: Mapping[str, Any],
    known: Callable[[str], None],
) -> Named:
    """The rules of a function at the types of the primal one.

    `known` is told the name of the function that applies the primal one and has these
    rules, before they are translated: they may call it.
    """
    source = read_source(function)
    span = source.span(source.definition)
    if given.vjp is None and given.jvp is None:
        raise custom_errors.no_rule(span, function.__name__)
    ty = callees.signature(primal)
    flags = tuple(has_float(p) and not holds_function(p) for p in ty.params)
    rules = Rules(function.__name__, span, flags)
    operation = Custom(rules, ty, tuple(range(len(flags))))

    def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
        b.span = span
        return b.apply(operation, params, (), ["y"])

    taken = [p for p in callees.parameters(function, statics) if not p.is_static]
    params = [Var(p.name, t) for p, t in zip(taken, ty.params, strict=True)]
    known(callees.wrapper(function.__name__, params, body))
    given.is_used = True
    made = Named(rules, {"primal": primal})
    (result,) = ty.results
    if any(flags) and has_float(result):
        maker = _Maker(callees, function, made, ty.params, result, statics)
        maker.check_types()
        if given.vjp is not None:
            maker.vjp(*given.vjp)
        if given.jvp is not None:
            maker.jvp(*given.jvp)
    return made


@dataclass
class _Maker:
    """Makes the rules of a function for arguments of some types."""

    callees: Specialised
    function: FunctionType
    made: Named
    types: tuple[Type, ...]
    result: Type
    statics: Mapping[str, Any]

    @property
    def rules(self) -> Rules:
        return self.made.rules

    @property
    def title(self) -> str:
        return self.rules.title

    def differentiable(self) -> list[int]:
        return [k for k, flag in enumerate(self.rules.differentiable) if flag]

    def check_types(self) -> None:
        """Sizes must be known to compare: no lists of arrays, and the like."""
        parameters = self.callees.parameters(self.function, self.statics)
        taken = [p for p in parameters if not p.is_static]
        for k in self.differentiable():
            if not _is_regular(self.types[k]):
                raise custom_errors.irregular(taken[k].span, self.title, self.types[k])
        if not _is_regular(self.result) or holds_function(self.result):
            raise custom_errors.irregular(self.rules.span, self.title, self.result)

    # ---- vjp ----------------------------------------------------------------------

    def vjp(self, forward: FunctionType, backward: FunctionType) -> None:
        span = read_source(forward).span(read_source(forward).definition)
        name, both = self._forward(forward)
        assert isinstance(both, Product)
        params = [Var("x", ty) for ty in self.types]
        at = self.differentiable()
        kept = Product((both.fields[1], _sizes_type([self.types[k] for k in at])))

        def run(b: Builder, args: Sequence[Operand]) -> Sequence[Operand]:
            b.span = span
            (pair,) = b.call(name, args)
            out = convert(b, b.one(Proj(pair, 0)), self.result)
            sizes = b.one(Tuple(tuple(_sizes(b, [args[k] for k in at]))))
            residuals = b.one(Tuple((b.one(Proj(pair, 1)), sizes)))
            return out, residuals

        self._wrap("forward", params, run)
        self._backward(backward, kept)

    def _forward(self, function: FunctionType) -> tuple[str, Type]:
        """The function that also gives residuals, and what it gives."""
        parameters = self._parameters(function, len(self.types) + len(self.statics))
        own = self.callees.parameters(self.function, self.statics)
        names = {p.name: q.name for p, q in zip(own, parameters, strict=True)}
        fixed = {names[name]: value for name, value in self.statics.items()}
        name = self._instance(function, self.types, fixed)
        (found,) = self.callees.signature(name).results
        span = _result_span(read_source(function))
        if not isinstance(found, Product) or len(found.fields) != 2 or found.names:
            raise custom_errors.no_residuals(span, function.__name__, found)
        self._check_value(function, span, found.fields[0])
        return name, found

    def _backward(self, function: FunctionType, kept: Product) -> None:
        wanted = cotangent_type(self.result)
        fixed = self._statics_of(function, 2)
        name = self._instance(function, (kept.fields[0], wanted), fixed)
        (found,) = self.callees.signature(name).results
        span = _result_span(read_source(function))
        chosen = self._cotangents(function, span, found)
        self.rules.silent = frozenset(k for k, at in chosen.items() if at is None)
        params = [Var("r", kept), Var("ct", wanted)]

        def run(b: Builder, args: Sequence[Operand]) -> Sequence[Operand]:
            b.span = span
            residuals, sizes = (b.one(Proj(args[0], k)) for k in range(2))
            (result,) = b.call(name, (residuals, args[1]))
            return list(self._checked(b, result, sizes, chosen))

        self._wrap("backward", params, run)

    def _checked(
        self, b: Builder, result: Var, sizes: Var, chosen: dict[int, int | None]
    ) -> Iterator[Operand]:
        """The cotangents in what the rule gives, if they have the arguments' sizes."""
        first = 0
        for k, place in chosen.items():
            count = _count(self.types[k])
            if place is not None:
                given = result if place < 0 else b.one(Proj(result, place))
                ct = as_reals(b, given, cotangent_type(self.types[k]))
                known = [b.one(Proj(sizes, first + j)) for j in range(count)]
                _check_sizes(b, _sizes(b, [ct]), known)
                yield ct
            first += count

    def _cotangents(
        self, function: FunctionType, span: Span, found: Type
    ) -> dict[int, int | None]:
        """Where each argument's cotangent is in what the rule gives.

        -1 for all of it, None for an argument whose cotangent is None: zero.
        """
        at = self.differentiable()
        first = cotangent_type(self.types[at[0]])
        if len(at) == 1 and fits(found, first):
            return {at[0]: -1}
        is_tuple = isinstance(found, Product) and not found.names
        count = len(found.fields) if isinstance(found, Product) and is_tuple else -1
        if count not in (len(at), len(self.types)):
            if len(at) == 1 and not is_tuple:
                raise custom_errors.wrong_cotangent(
                    span, self.title, self._name(at[0]), found, first
                )
            raise custom_errors.wrong_count(
                span, function.__name__, found, self.title, len(at)
            )
        assert isinstance(found, Product)
        is_short = count == len(at)
        places = {k: j if is_short else k for j, k in enumerate(at)}
        for k in () if is_short else range(count):
            if k not in places and not fits(found.fields[k], NONE):
                raise custom_errors.wrong_cotangent(
                    span, self.title, self._name(k), found.fields[k], NONE
                )
        return {
            k: self._place(span, k, place, found.fields[place])
            for k, place in places.items()
        }

    def _place(self, span: Span, k: int, place: int, found: Type) -> int | None:
        wanted = cotangent_type(self.types[k])
        if found == NONE:
            return None
        if not fits(found, wanted):
            raise custom_errors.wrong_cotangent(
                span, self.title, self._name(k), found, wanted
            )
        return place

    def _name(self, k: int) -> str:
        parameters = self.callees.parameters(self.function, self.statics)
        return [p for p in parameters if not p.is_static][k].name

    # ---- jvp ----------------------------------------------------------------------

    def jvp(self, function: FunctionType) -> None:
        at = self.differentiable()
        moved = [
            cotangent_type(ty) if k in at else NONE for k, ty in enumerate(self.types)
        ]
        both = Product(self.types), Product(tuple(moved))
        name = self._instance(function, both, self._statics_of(function, 2))
        (found,) = self.callees.signature(name).results
        span = _result_span(read_source(function))
        wanted = cotangent_type(self.result)
        if not isinstance(found, Product) or len(found.fields) != 2 or found.names:
            raise custom_errors.no_tangent(span, function.__name__, found)
        self._check_value(function, span, found.fields[0])
        if not fits(found.fields[1], wanted):
            raise custom_errors.wrong_tangent(span, self.title, found.fields[1], wanted)
        params = [Var("x", ty) for ty in self.types]
        params += [Var("x_t", moved[k]) for k in at]

        def run(b: Builder, args: Sequence[Operand]) -> Sequence[Operand]:
            b.span = span
            primals, rest = args[: len(self.types)], iter(args[len(self.types) :])
            none = b.one(Tuple((), NONE.names))
            tangents = [next(rest) if k in at else none for k in range(len(primals))]
            given = b.one(Tuple(tuple(primals))), b.one(Tuple(tuple(tangents)))
            (pair,) = b.call(name, given)
            out = convert(b, b.one(Proj(pair, 0)), self.result)
            tangent = as_reals(b, b.one(Proj(pair, 1)), wanted)
            _check_sizes(b, _sizes(b, [tangent]), _sizes(b, [out]))
            return out, tangent

        self._wrap("tangent", params, run)

    # ---- what rules have in common ---------------------------------------------------

    def _wrap(self, rule: str, params: Sequence[Var], run: Wrap) -> None:
        """What CHAD finds as this rule."""
        name = self.callees.wrapper(f"{self.title}_{rule}", params, run)
        self.made.names[rule] = name

    def _parameters(self, function: FunctionType, count: int) -> tuple[Parameter, ...]:
        """The parameters of a rule, which are so many."""
        parameters = self.callees.parameters(function, ())
        if len(parameters) != count:
            source = read_source(function)
            raise custom_errors.rule_parameters(
                source.span(source.definition), function.__name__, self.title, count
            )
        return parameters

    def _statics_of(self, function: FunctionType, count: int) -> dict[str, Any]:
        """The static arguments that a rule takes: those with the function's names."""
        names = [p.name for p in self.callees.parameters(function, self.statics)]
        fixed = {n: value for n, value in self.statics.items() if n in names}
        self._parameters(function, count + len(fixed))
        return fixed

    def _instance(
        self, function: FunctionType, types: Sequence[Type], fixed: dict[str, Any]
    ) -> str:
        """The name of a rule for these types, which its annotations must allow."""
        parameters = self.callees.parameters(function, fixed)
        taken = [p for p in parameters if not p.is_static]
        for parameter, ty in zip(taken, types, strict=True):
            if target_type(parameter.annotation, ty) != ty:
                raise custom_errors.rule_annotation(
                    parameter.span, function.__name__, parameter.name, ty
                )
        span = self.rules.span
        return self.callees.instance(function, types, span, fixed, frozenset())

    def _check_value(self, function: FunctionType, span: Span, found: Type) -> None:
        if join(found, self.result) != self.result:
            raise custom_errors.wrong_value(
                span, function.__name__, found, self.title, self.result
            )


def _result_span(source: Source) -> Span:
    """Where a function says what it returns: at its last `return`."""
    returns = [
        node
        for node in ast.walk(source.definition)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    if not returns or returns[-1].value is None:
        return source.span(source.definition)
    return source.span(returns[-1].value)


def _is_regular(ty: Type) -> bool:
    """Whether the sizes of all arrays in the reals of a type are known beside them."""
    match ty:
        case Product(fields):
            return all(_is_regular(field) for field in fields if has_float(field))
        case Array(elem, _):
            return not _has_boxes(elem)
        case _:
            return isinstance(ty, Scalar)


def _has_boxes(ty: Type) -> bool:
    match ty:
        case Product(fields):
            return any(map(_has_boxes, fields))
        case _:
            return isinstance(ty, Array | Box | Sum)


def _sizes(b: Builder, values: Sequence[Operand]) -> list[Operand]:
    """The sizes of the arrays of reals in values, in order."""
    found: list[Operand] = []
    for value in values:
        match value.type:
            case Product(fields):
                at = [k for k, field in enumerate(fields) if has_float(field)]
                found += _sizes(b, [b.one(Proj(value, k)) for k in at])
            case Array(elem, rank) if has_float(elem):
                axes = range(rank)
                found += [b.one(Apply(Dim(axis), (value,))) for axis in axes]
    return found


def _check_sizes(
    b: Builder, found: Sequence[Operand], wanted: Sequence[Operand]
) -> None:
    """Fail when the program runs unless these sizes are those."""
    for pair in zip(found, wanted, strict=True):
        b.prim("same", *pair)


def _count(ty: Type) -> int:
    """How many sizes a value of this type has."""
    return len(_sizes(Builder(), [Var("x", ty)]))


def _sizes_type(types: Sequence[Type]) -> Type:
    sizes = _sizes(Builder(), [Var("x", ty) for ty in types])
    return Product(tuple(size.type for size in sizes))
