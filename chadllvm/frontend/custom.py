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
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, Protocol

from chadllvm.errors import custom_errors, reference_errors
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.closures import holds_function, holds_reals
from chadllvm.frontend.context import Callees, Wrap
from chadllvm.frontend.list_tangents import own
from chadllvm.frontend.reals import (
    as_reals,
    check_sizes,
    count_of_sizes,
    fits,
    is_regular,
    sizes_of,
    sizes_type,
)
from chadllvm.frontend.rule_cotangents import is_known, may_be, rule_type, taken
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Source, read_source
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand, Program, Proj, Tuple, Var
from chadllvm.ir.types import (
    NONE,
    Fun,
    Product,
    Type,
    cotangent_type,
    has_float,
    holds_reference,
)
from chadllvm.ops.custom import Custom, Rules
from chadllvm.support.diagnostic import CompileError, Span

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

    def _reached_parts(self) -> tuple[object, ...]:
        return self.vjp, self.jvp

    def frozen(self, value: Callable[[Any], Any]) -> Given:
        """The rules of a function that is frozen (`chadllvm/driver/frozen.py`)."""
        return replace(self, vjp=value(self.vjp), jvp=value(self.jvp))


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
    known: Callable[[str, Named], None],
) -> None:
    """Make the rules of a function at the types of the primal one.

    `known` is told the name of the function that applies the primal one, and the rules,
    before they are translated: they may call it.
    """
    source = read_source(function)
    span = source.span(source.definition)
    if given.vjp is None and given.jvp is None:
        raise custom_errors.no_rule(span, function.__name__)
    ty = callees.signature(primal)
    for found in (*ty.params, *ty.results):
        if holds_reference(found):
            raise reference_errors.with_rules(span, function.__name__, found)
    flags = tuple(holds_reals(p) for p in ty.params)
    rules = Rules(function.__name__, span, flags)
    operation = Custom(rules, ty, tuple(range(len(flags))))

    def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
        b.span = span
        return b.apply(operation, params, (), ["y"])

    taken = [p for p in callees.parameters(function, statics) if not p.is_static]
    params = [Var(p.name, t) for p, t in zip(taken, ty.params, strict=True)]
    made = Named(rules, {"primal": primal})
    known(callees.wrapper(function.__name__, params, body, span), made)
    given.is_used = True
    (result,) = ty.results
    if any(flags) and has_float(result):
        maker = _Maker(callees, function, made, ty.params, result, statics)
        maker.check_types()
        if given.vjp is not None:
            maker.vjp(*given.vjp)
        if given.jvp is not None:
            maker.jvp(*given.jvp)


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
        """Sizes must be known to compare."""
        parameters = self.callees.parameters(self.function, self.statics)
        taken = [p for p in parameters if not p.is_static]
        for k in self.differentiable():
            if not is_known(self.types[k]):
                raise custom_errors.irregular(taken[k].span, self.title, self.types[k])
        if not is_known(self.result) or holds_function(self.result):
            raise custom_errors.irregular(self.rules.span, self.title, self.result)

    # ---- vjp ----------------------------------------------------------------------

    def vjp(self, forward: FunctionType, backward: FunctionType) -> None:
        name, both = self._forward(forward)
        assert isinstance(both, Product)
        params = [Var("x", ty) for ty in self.types]
        at = self.differentiable()
        regular = [k for k in at if is_regular(self.types[k])]
        sizes_types = sizes_type([self.types[k] for k in regular])
        every = [Var("x", ty) for ty in (*self.types, self.result)]
        kept = Product(
            (both.fields[1], sizes_types, self._values(Builder(), every).type)
        )

        def run(b: Builder, args: Sequence[Operand]) -> Sequence[Operand]:
            b.span = _result_span(read_source(forward))
            (pair,) = b.call(name, args)
            out = convert(b, b.one(Proj(pair, 0)), self.result)
            sizes = b.one(Tuple(tuple(sizes_of(b, [args[k] for k in regular]))))
            held = self._values(b, [*args, out])
            residuals = b.one(Tuple((b.one(Proj(pair, 1)), sizes, held)))
            return out, residuals

        self._wrap("forward", params, run)
        self._backward(backward, kept)

    def _values(self, b: Builder, values: Sequence[Operand]) -> Operand:
        """The arguments and the result; None for those whose cotangents need no value.

        These are arguments without cotangents, and what is regular.
        """
        at = {*self.differentiable(), len(self.types)}
        none = b.one(NONE_VALUE)
        kept = [
            none if k not in at or is_regular(value.type) else value
            for k, value in enumerate(values)
        ]
        return b.one(Tuple(tuple(kept)))

    def _forward(self, function: FunctionType) -> tuple[str, Type]:
        """The function that also gives residuals, and what it gives."""
        parameters = self._parameters(function, len(self.types) + len(self.statics))
        own = self.callees.parameters(self.function, self.statics)
        names = {p.name: q.name for p, q in zip(own, parameters, strict=True)}
        fixed = {names[name]: value for name, value in self.statics.items()}
        name = self._instance(function, self.types, fixed)
        (found,) = self.callees.signature(name).results
        if not isinstance(found, Product) or len(found.fields) != 2 or found.names:
            span = _result_span(read_source(function))
            raise custom_errors.no_residuals(span, function.__name__, found)
        self._check_value(function, found.fields[0])
        return name, found

    def _backward(self, function: FunctionType, kept: Product) -> None:
        wanted = cotangent_type(self.result)
        fixed = self._statics_of(function, 2)
        shown = rule_type(self.result)
        name = self._instance(function, (kept.fields[0], shown), fixed)
        (found,) = self.callees.signature(name).results
        chosen = self._cotangents(function, found)
        self.rules.silent = frozenset(k for k, at in chosen.items() if at is None)
        params = [Var("r", kept), Var("ct", wanted)]

        def run(b: Builder, args: Sequence[Operand]) -> Sequence[Operand]:
            b.span = _result_span(read_source(function))
            residuals, sizes, values = (b.one(Proj(args[0], k)) for k in range(3))
            ct = args[1]
            if not is_regular(self.result):
                ct = own(b, ct, b.one(Proj(values, len(self.types))))
            (result,) = b.call(name, (residuals, ct))
            return list(self._checked(b, result, sizes, values, chosen))

        self._wrap("backward", params, run)

    def _checked(
        self,
        b: Builder,
        result: Var,
        sizes: Var,
        values: Var,
        chosen: dict[int, int | None],
    ) -> Iterator[Operand]:
        """The cotangents in what the rule gives, if they have the arguments' sizes."""
        first = 0
        for k, place in chosen.items():
            given = result
            if place is not None and place >= 0:
                given = b.one(Proj(result, place))
            if not is_regular(self.types[k]):
                if place is not None:
                    yield taken(b, given, b.one(Proj(values, k)))
                continue
            count = count_of_sizes(self.types[k])
            if place is not None:
                ct = as_reals(b, given, cotangent_type(self.types[k]))
                known = [b.one(Proj(sizes, first + j)) for j in range(count)]
                check_sizes(b, sizes_of(b, [ct]), known)
                yield ct
            first += count

    def _cotangents(self, function: FunctionType, found: Type) -> dict[int, int | None]:
        """Where each argument's cotangent is in what the rule gives.

        -1 for all of it, None for an argument whose cotangent is None: zero.
        """
        at, everything = self.differentiable(), range(len(self.types))
        if len(at) == 1 and self._fits(found, at[0]):
            return {at[0]: -1}
        if not isinstance(found, Product) or found.names:
            if len(at) == 1:
                raise self._wrong(function, None, at[0], found)
            raise self._wrong_count(function, found)
        if len(found.fields) == len(at):
            places = dict(zip(at, range(len(at)), strict=True))
        elif len(found.fields) == len(everything):
            places = dict(zip(everything, everything, strict=True))
        else:
            raise self._wrong_count(function, found)
        for k, place in places.items():
            ty = found.fields[place]
            if ty != NONE and not self._fits(ty, k):
                raise self._wrong(function, place, k, ty)
        return {
            k: None if found.fields[place] == NONE else place
            for k, place in places.items()
            if k in at
        }

    def _fits(self, found: Type, k: int) -> bool:
        """Whether this is a cotangent of an argument."""
        ty = self.types[k]
        if not self.rules.differentiable[k] or is_regular(ty):
            return fits(found, self._cotangent(k))
        return may_be(found, ty)

    def _cotangent(self, k: int) -> Type:
        """The type of an argument's cotangent, None if it has none."""
        is_real = self.rules.differentiable[k]
        return rule_type(self.types[k]) if is_real else NONE

    def _wrong(
        self, function: FunctionType, part: int | None, k: int, found: Type
    ) -> CompileError:
        span = _result_span(read_source(function), part)
        parameters = self.callees.parameters(self.function, self.statics)
        name = [p for p in parameters if not p.is_static][k].name
        return custom_errors.wrong_cotangent(
            span, self.title, name, found, self._cotangent(k)
        )

    def _wrong_count(self, function: FunctionType, found: Type) -> CompileError:
        span, count = _result_span(read_source(function)), len(self.differentiable())
        return custom_errors.wrong_count(
            span, function.__name__, found, self.title, count
        )

    # ---- jvp ----------------------------------------------------------------------

    def jvp(self, function: FunctionType) -> None:
        at = self.differentiable()
        moved = tuple(map(self._cotangent, range(len(self.types))))
        both = Product(self.types), Product(moved)
        name = self._instance(function, both, self._statics_of(function, 2))
        (found,) = self.callees.signature(name).results
        span = _result_span(read_source(function))
        wanted = rule_type(self.result)
        if not isinstance(found, Product) or len(found.fields) != 2 or found.names:
            raise custom_errors.no_tangent(span, function.__name__, found)
        self._check_value(function, found.fields[0])
        if not may_be(found.fields[1], self.result):
            span = _result_span(read_source(function), 1)
            raise custom_errors.wrong_tangent(span, self.title, found.fields[1], wanted)
        params = [Var("x", ty) for ty in self.types]
        params += [Var("x_t", cotangent_type(self.types[k])) for k in at]

        def run(b: Builder, args: Sequence[Operand]) -> Sequence[Operand]:
            b.span = span
            primals, rest = args[: len(self.types)], iter(args[len(self.types) :])
            none = b.one(Tuple((), NONE.names))
            tangents = [
                own(b, next(rest), primal) if k in at else none
                for k, primal in enumerate(primals)
            ]
            given = b.one(Tuple(tuple(primals))), b.one(Tuple(tuple(tangents)))
            (pair,) = b.call(name, given)
            out = convert(b, b.one(Proj(pair, 0)), self.result)
            return out, taken(b, b.one(Proj(pair, 1)), out)

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

    def _check_value(self, function: FunctionType, found: Type) -> None:
        if join(found, self.result) != self.result:
            span = _result_span(read_source(function), 0)
            raise custom_errors.wrong_value(
                span, function.__name__, found, self.title, self.result
            )


def _result_span(source: Source, part: int | None = None) -> Span:
    """Where a function says what it returns, or a part of it: at its last `return`."""
    returns = [
        node
        for node in ast.walk(source.definition)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    if not returns or returns[-1].value is None:
        return source.span(source.definition)
    value = returns[-1].value
    if part is not None and isinstance(value, ast.Tuple) and part < len(value.elts):
        value = value.elts[part]
    return source.span(value)
