"""What derivatives are taken of: a function at the arguments of a call.

A function that is made of others, such as a gradient, is put into one of its own first:

    cl.grad(cl.grad(f))(x)     →     g = lambda x: cl.grad(f)(x);  cl.grad(g)(x)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chadllvm.errors import closure_errors, reference_errors, update_errors
from chadllvm.frontend.apart import Apart, Wrapper, apart
from chadllvm.frontend.applying import (
    Made,
    Outside,
    captures_of,
    closure,
    defaults_of,
)
from chadllvm.frontend.closures import Code, code_of, holds_reals
from chadllvm.frontend.context import Context
from chadllvm.frontend.derivative_arguments import written_at
from chadllvm.frontend.jitted import prepared
from chadllvm.frontend.lending import copy_of, with_lent
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.marks import holds_number_lists, mark_of, packed
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Function
from chadllvm.frontend.updates import updated_of
from chadllvm.frontend.width import weak_positions
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand, Proj, Var
from chadllvm.ir.types import NONE, Product, Type, holds_reference
from chadllvm.support.diagnostic import Span

# What the function that is put into one of its own is called there.
_INNER = "function."


@dataclass(frozen=True)
class Target:
    """A function and all that it is called with: captures, then arguments.

    `name` is that of the top-level function; `at` is where each parameter of the user's
    is among the operands, None for a static one.
    """

    title: str
    name: str
    result: Type
    operands: tuple[Operand, ...]
    at: tuple[int | None, ...]
    span: Span
    wrapper: Wrapper

    def check_nodes(self, by: Sequence[int]) -> None:
        """Refuse a Jacobian by recursive data at these positions, or of any."""
        places = (self.at[k] for k in by)
        types = (self.operands[at].type for at in places if at is not None)
        for ty in (*types, self.result):
            if holds_reference(ty):
                raise reference_errors.jacobian(self.span, self.title, ty)

    def apart(self, b: Builder, wrt: Sequence[int], *, packs: bool) -> Apart:
        """The function by the operands at these places, with recursive data packed.

        So is its result if it `packs` that.
        """
        result = self.result if packs else None
        return apart(b, self.name, self.operands, wrt, result, self.wrapper, self.span)

    def wrt(self, positions: Sequence[int]) -> tuple[int, ...]:
        """Where the parameters at these positions are, which must hold reals."""
        found = []
        for position in positions:
            at = self.at[position]
            ty = NONE if at is None else self.operands[at].type
            if at is None or not holds_reals(ty):
                raise closure_errors.no_reals(self.span, self.title, position, ty)
            found.append(at)
        return tuple(found)

    def reals(self) -> list[int]:
        """The positions of all parameters that hold reals."""
        pairs = enumerate(self.at)
        return [
            k
            for k, at in pairs
            if at is not None and holds_reals(self.operands[at].type)
        ]

    def pair(self) -> tuple[Type, Type]:
        """The types of the two results of a function with auxiliary ones."""
        ty = self.result
        if isinstance(ty, Product) and len(ty.fields) == 2:
            return ty.fields[0], ty.fields[1]
        wanted = "a tuple of two, what is differentiated and anything else"
        raise closure_errors.not_differentiable(self.span, self.title, ty, wanted)

    def of_given(self, call: ast.Call) -> Target:
        """The same of the arguments given alone, not of defaults that are taken."""
        return self if call.keywords else replace(self, at=self.at[: len(call.args)])

    def first(self) -> Target:
        """The function that gives the first of its two results alone."""
        ty, _ = self.pair()

        def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
            (both,) = b.call(self.name, params)
            return (b.one(Proj(both, 0)),)

        name = self.wrapper(self.name, self.operands, body)
        return replace(self, name=name, result=ty)

    def with_aux(self) -> str:
        """The function with its two results apart."""

        def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
            (both,) = b.call(self.name, params)
            return b.one(Proj(both, 0)), b.one(Proj(both, 1))

        return self.wrapper(self.name, self.operands, body)


def parameters_of(cx: Context, code: Code, node: ast.expr) -> tuple[Parameter, ...]:
    """The parameters of a function, if it has a body that can be differentiated."""
    match code:
        case LocalFunction():
            return code.parameters
        case Outside():
            return cx.callees.parameters(*_python(cx, code, node))
        case Made():
            return code.parameters(cx, node)
        case _:
            span = cx.span(node)
            raise closure_errors.derivative_argument(
                span, written_at(span), f"{code.title} cannot be differentiated"
            )


def _python(
    cx: Context, code: Outside, node: ast.expr
) -> tuple[Function, tuple[str, ...]]:
    """The Python function, and its static parameters."""
    python = code.python()
    if python is None:
        span = cx.span(node)
        raise closure_errors.derivative_argument(
            span,
            written_at(span),
            f"`{code.title}` is not a function of the program's",
            f"write a function that calls it, as in `lambda t: {code.title}(t)`",
        )
    return python, tuple(getattr(code.value, "static_argnames", ()))


def target_of(
    cx: Context, node: ast.Call, function: Operand, *, result_only: bool = False
) -> Target:
    """The function at the arguments of a call.

    What it updates is given in front of its result, or with `result_only` is not.
    """
    code = code_of(function.type)
    if isinstance(code, Made):
        function = _own_function(cx, node, code, function)
        code = code_of(function.type)
    assert code is not None
    captured = captures_of(cx, node, function)
    parameters = parameters_of(cx, code, node)
    statics: tuple[str, ...] = ()
    called: Function | LocalFunction
    if isinstance(code, Outside):
        called, statics = _python(cx, code, node)
    else:
        assert isinstance(code, LocalFunction)
        called = code
    operands, fixed = prepared(
        cx, node, called, statics, defaults=defaults_of(captured)
    )
    order = iter(range(len(captured), len(captured) + len(operands)))
    at = tuple(None if p.is_static else next(order) for p in parameters)
    everything = (*captured.values(), *operands)
    types, span = [o.type for o in everything], cx.span(node)
    weak = weak_positions(everything)
    for operand in operands:
        if holds_number_lists(cx, operand):
            raise closure_errors.list_argument(span, code.title)
    # What it has captured is what it was; its arguments are arrays there.
    held = [*(mark_of(cx, v) for v in captured.values()), *[0] * len(operands)]
    marks = packed(held) if called is code else None
    name = cx.callees.instance(called, types, span, fixed, weak, marks)
    names = [*[""] * len(captured), *(p.name for p in parameters if not p.is_static)]
    params = [Var(n, ty) for n, ty in zip(names, types, strict=True)]
    updates = cx.callees.updates(called)
    for param in params:
        if isinstance(param.type, Product) and updates.has(param.name, param.type):
            copied = copy_of(param.name, param.type.names)
            raise update_errors.object_shared(
                span, param.name, copied, None, by=code.title
            )
    updated = updated_of(updates, params)
    if updated is not None:
        result_only = result_only and updated.has_result
        name = with_lent(cx.callees, name, everything, updated, result_only=result_only)
    result = cx.builder.signature(name).results[0]
    return Target(code.title, name, result, everything, at, span, cx.callees.wrapper)


def _own_function(
    cx: Context, node: ast.Call, code: Made, function: Operand
) -> Operand:
    """The function that calls one that is made of others."""
    parameters = code.parameters(cx, node)
    defaults = defaults_of(captures_of(cx, node, function))
    captures = {_INNER: function, **{f"{n}=": v for n, v in defaults.items()}}
    key = code, tuple(captures)
    if key not in cx.codes:
        definition = _calling(node, code.title, parameters)
        outer = cx.source
        source = replace(outer, definition=definition, is_local=True)
        cx.codes[key] = LocalFunction(
            source, cx.surroundings, parameters, tuple(captures)
        )
    return closure(cx, node, cx.codes[key], captures)


def _calling(
    node: ast.expr, title: str, parameters: Sequence[Parameter]
) -> ast.FunctionDef:
    """`def title(x, y): return function(x, y)`, which stands where `node` does."""

    def name(of: str) -> ast.Name:
        return ast.Name(of, ast.Load())

    plain = [p.name for p in parameters if not p.is_keyword_only]
    named = [p.name for p in parameters if p.is_keyword_only]
    keywords = [ast.keyword(n, name(n)) for n in named]
    call = ast.Call(name(_INNER), [name(n) for n in plain], keywords)
    taken = ast.arguments(
        [], [ast.arg(n) for n in plain], None, [ast.arg(n) for n in named],
        [None] * len(named), None, [],
    )  # fmt: skip
    made = ast.FunctionDef(title, taken, [ast.Return(call)], [], None)
    for part in ast.walk(made):
        ast.copy_location(part, node)
    return made
