"""Derivatives inside of programs: `cl.grad`, `cl.value_and_grad`, `cl.jvp`, `cl.vjp`.

    g = cl.grad(f)                 g = a function value that captures what f does
    y = g(x)               →       v, y = derivative gradient[0] @f(x)
    out, back = cl.vjp(f, x)       out = @f(x);  back = {x: x, out: out}
    dx = back(ct)                  _, dx = derivative pull_back[0] @f(x, ct)

`chad/derived.py` makes these calls functions. What f has captured is held fixed, and
has its part in derivatives of what is around.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from chadllvm.diagnostic import Span
from chadllvm.frontend import call_errors, closure_errors
from chadllvm.frontend.applying import (
    Made,
    Outside,
    captures_of,
    closure,
    defaults_of,
    for_each,
    function_of,
)
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.closures import Code, code_of
from chadllvm.frontend.context import Callees, Context, Wrap
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.functions import arguments
from chadllvm.frontend.jitted import prepared
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Function
from chadllvm.frontend.static import static_value
from chadllvm.frontend.width import is_weak, to_width, weak_positions
from chadllvm.ir.build import Builder
from chadllvm.ir.record import NONE_NAMES
from chadllvm.ir.term import Apply, Call, Derivative, Mode, Operand, Proj, Tuple
from chadllvm.ir.term import Function as CoreFunction
from chadllvm.ir.types import (
    NONE,
    Array,
    Fun,
    Product,
    Type,
    cotangent_type,
    has_float,
    is_float,
)
from chadllvm.ops.index import Dim

NONE_VALUE = Tuple((), NONE_NAMES)

# By this attribute a function of the library says which of these it is.
MARK = "__chadllvm_derivative__"

# By this one a gradient made outside says what it is made of: the function, the
# positions of the parameters, whether it gives the value, whether there is more.
GRADIENT_PARTS = "__chadllvm_gradient__"


class Transform(Enum):
    """The functions that make derivatives."""

    GRAD = "grad"
    VALUE_AND_GRAD = "value_and_grad"
    JVP = "jvp"
    VJP = "vjp"


Python = TypeVar("Python", bound=Callable[..., Any])


def means(which: Transform) -> Callable[[Python], Python]:
    """Decorator: what programs mean by a function of the library."""

    def mark(function: Python) -> Python:
        setattr(function, MARK, which)
        return function

    return mark


def transform_of(value: Any) -> Transform | None:
    """Which of them an object is."""
    found = getattr(value, MARK, None)
    return found if isinstance(found, Transform) else None


def transform(which: Transform, cx: Context, node: ast.Call) -> Value:
    """A call of one of them."""
    match which:
        case Transform.GRAD | Transform.VALUE_AND_GRAD:
            return _gradient(cx, node, which is Transform.VALUE_AND_GRAD)
        case Transform.JVP:
            return _jvp(cx, node)
        case Transform.VJP:
            return _vjp(cx, node)


# ---- gradients --------------------------------------------------------------------


@dataclass(frozen=True)
class Gradient(Made):
    """The gradient of a function of this code, made by `grad` or `value_and_grad`."""

    of: Code
    argnums: int | tuple[int, ...]
    value: bool
    has_aux: bool

    @property
    def title(self) -> str:
        return f"grad_{self.of.title}"

    @property
    def positions(self) -> tuple[int, ...]:
        return (self.argnums,) if isinstance(self.argnums, int) else self.argnums

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        target = _target(cx, node, self.of, function)
        return target.gradient(self, cx.at(node))


def _gradient(cx: Context, node: ast.Call, value: bool) -> Value:
    name = ast.unparse(node.func)
    given = _given(cx, node, name, ("function", "argnums", "has_aux"))
    function = function_of(cx, given["function"])
    argnums = _constant(cx, given.get("argnums"), name, 0)
    has_aux = bool(_constant(cx, given.get("has_aux"), name, False))

    def make(cx: Context, node: ast.Call, function: Operand) -> Operand:
        code = code_of(function.type)
        assert code is not None
        found = _argnums(cx, given.get("argnums", node), name, code, argnums)
        made = Gradient(code, found, value, has_aux)
        return closure(cx, node, made, captures_of(cx, node, function))

    return for_each(cx, node, function, make)


def gradient_from_outside(function: Any) -> Gradient | None:
    """The code of a gradient that was made outside, if it is one."""
    parts = getattr(function, GRADIENT_PARTS, None)
    if parts is None:
        return None
    of, argnums, value, has_aux = parts
    inner = gradient_from_outside(of) or Outside(of)
    return Gradient(inner, argnums, value, has_aux)


def function_constant(cx: Context, node: ast.expr, value: Any) -> Operand:
    """The operand of a function, or a gradient, from outside."""
    return closure(cx, node, gradient_from_outside(value) or Outside(value), {})


# The positions of parameters, whether the value is given, whether there is more.
GradientParts = tuple[int | tuple[int, ...] | None, bool, bool]


@dataclass(frozen=True)
class _Named:
    """A function of the program of which only the title matters."""

    title: str


def nested_gradient(
    callees: Callees,
    signature: Callable[[str], Fun],
    entry: CoreFunction,
    below: Sequence[GradientParts],
) -> str:
    """Append gradients of a function to the program, each of the one before."""
    code: Code = _Named(entry.name)
    for argnums, value, has_aux in below:
        assert argnums is not None
        code = Gradient(code, argnums, value, has_aux)
    (result,) = entry.body.types
    at = tuple(range(len(entry.params)))
    target = _Target(
        entry.name, entry.name, result, entry.params, at, entry.span, callees.wrapper
    )
    return _wrapped(target, code, signature).name


def _given(
    cx: Context, node: ast.Call, name: str, names: Sequence[str]
) -> dict[str, ast.expr]:
    """The argument nodes by name; the first is required."""
    if len(node.args) > len(names) or not (node.args or node.keywords):
        raise call_errors.wrong_argument_count(
            cx.span(node), name, f"1 to {len(names)} arguments"
        )
    given = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
            raise call_errors.unexpected_keyword(
                cx.span(keyword), name, keyword.arg or "**"
            )
        given[keyword.arg] = keyword.value
    if names[0] not in given:
        raise call_errors.missing_argument(cx.span(node), name, names[0])
    return given


def _constant(cx: Context, node: ast.expr | None, name: str, default: Any) -> Any:
    if node is None:
        return default
    try:
        return static_value(cx, node)
    except NotStatic:
        raise closure_errors.derivative_argument(
            cx.span(node), name, "this is not known when the program is compiled"
        ) from None


def _argnums(
    cx: Context, node: ast.expr, name: str, code: Code, argnums: Any
) -> int | tuple[int, ...]:
    """The positions of parameters, from positions and names."""
    parameters = [p.name for p in _parameters(cx, code, node)]

    def position(argnum: Any) -> int:
        if isinstance(argnum, str) and argnum in parameters:
            return parameters.index(argnum)
        if type(argnum) is int and -len(parameters) <= argnum < len(parameters):
            return argnum % len(parameters)
        raise closure_errors.derivative_argument(
            cx.span(node), name, f"{code.title} has no parameter {argnum!r}"
        )

    if not isinstance(argnums, tuple | list):
        return position(argnums)
    found = tuple(map(position, argnums))
    if not found or len(set(found)) < len(found):
        raise closure_errors.derivative_argument(
            cx.span(node), name, "these are not different parameters"
        )
    return found


# ---- the function that is differentiated ------------------------------------------


@dataclass(frozen=True)
class _Target:
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
    wrapper: Callable[[str, Sequence[Operand], Wrap], str]

    def wrt(self, positions: Sequence[int]) -> tuple[int, ...]:
        """Where the parameters at these positions are, which must hold reals."""
        found = []
        for position in positions:
            at = self.at[position]
            ty = NONE if at is None else self.operands[at].type
            if at is None or not has_float(ty):
                raise closure_errors.no_reals(self.span, self.title, position, ty)
            found.append(at)
        return tuple(found)

    def gradient(self, code: Gradient, b: Builder) -> Operand:
        """What a gradient of it gives."""
        ty, name = self.result, self.name
        if code.has_aux:
            if not isinstance(ty, Product) or len(ty.fields) != 2:
                wanted = "a tuple of a float and anything else"
                raise closure_errors.not_differentiable(
                    self.span, self.title, ty, wanted
                )
            name = self._with_aux()
            ty = ty.fields[0]
        if not is_float(ty):
            raise closure_errors.not_differentiable(
                self.span, self.title, ty, "a float, for example a sum"
            )
        rule = Derivative(Mode.GRADIENT, self.wrt(code.positions))
        value, *rest = b.emit(Call(name, self.operands, rule), "value")
        out: Operand = value
        if code.has_aux:
            aux, *rest = rest
            out = b.one(Tuple((value, aux))) if code.value else aux
        gradient: Operand = rest[0]
        if not isinstance(code.argnums, int):
            gradient = b.one(Tuple(tuple(rest)))
        if code.value:
            return b.one(Tuple((out, gradient)))
        return b.one(Tuple((gradient, out))) if code.has_aux else gradient

    def _with_aux(self) -> str:
        """The function with its two results apart."""

        def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
            (both,) = b.call(self.name, params)
            return b.one(Proj(both, 0)), b.one(Proj(both, 1))

        return self.wrapper(self.name, self.operands, body)


def _parameters(cx: Context, code: Code, node: ast.expr) -> tuple[Parameter, ...]:
    """The parameters of a function, if it has a body that can be differentiated."""
    match code:
        case LocalFunction():
            return code.parameters
        case Outside():
            return cx.callees.parameters(*_python(cx, code, node))
        case Gradient(of):
            return _parameters(cx, of, node)
        case _:
            raise closure_errors.derivative_argument(
                cx.span(node), "derivative", f"{code.title} cannot be differentiated"
            )


def _python(
    cx: Context, code: Outside, node: ast.expr
) -> tuple[Function, tuple[str, ...]]:
    """The Python function, and its static parameters."""
    python = code.python()
    if python is None:
        raise closure_errors.derivative_argument(
            cx.span(node), "derivative", f"{code.title} is not a jitted function"
        )
    return python, tuple(getattr(code.value, "static_argnames", ()))


def _target(cx: Context, node: ast.Call, code: Code, function: Operand) -> _Target:
    """The function at the arguments of a call."""
    captured = captures_of(cx, node, function)
    return _located(cx, node, code, captured)


def _located(
    cx: Context, node: ast.Call, code: Code, captured: dict[str, Operand]
) -> _Target:
    base = code
    while isinstance(base, Gradient):
        base = base.of
    parameters = _parameters(cx, base, node)
    statics: tuple[str, ...] = ()
    called: Function | LocalFunction
    if isinstance(base, Outside):
        called, statics = _python(cx, base, node)
    else:
        assert isinstance(base, LocalFunction)
        called = base
    defaults = defaults_of(captured)
    operands, fixed = prepared(cx, node, called, statics, defaults=defaults)
    count = len(captured)
    order = iter(range(count, count + len(operands)))
    at = tuple(None if p.is_static else next(order) for p in parameters)
    everything = (*captured.values(), *operands)
    types = [o.type for o in everything]
    span = cx.span(node)
    weak = weak_positions(everything)
    name = cx.callees.instance(called, types, span, fixed, weak)
    signature = cx.builder.signature
    target = _Target(
        base.title, name, signature(name).results[0], everything, at, span,
        cx.callees.wrapper,
    )  # fmt: skip
    return _wrapped(target, code, signature)


def _wrapped(target: _Target, code: Code, signature: Callable[[str], Any]) -> _Target:
    """The function that `code` is, of whose innermost function `target` is made."""
    if not isinstance(code, Gradient):
        return target
    inner = _wrapped(target, code.of, signature)

    def body(b: Builder, params: Sequence[Operand]) -> Sequence[Operand]:
        at_params = replace(inner, operands=tuple(params))
        return (at_params.gradient(code, b),)

    name = target.wrapper(code.title, target.operands, body)
    result = signature(name).results[0]
    return replace(target, title=code.title, name=name, result=result)


# ---- directions and cotangents ----------------------------------------------------


def _jvp(cx: Context, node: ast.Call) -> Value:
    given = _given(cx, node, "jvp", ("function", "primals", "tangents"))
    for name in ("primals", "tangents"):
        if name not in given:
            raise call_errors.missing_argument(cx.span(node), "jvp", name)
    function = function_of(cx, given["function"])
    primals = _parts(cx, given["primals"])
    tangents = _parts(cx, given["tangents"])
    if len(primals) != len(tangents):
        raise closure_errors.derivative_argument(
            cx.span(given["tangents"]), "jvp",
            f"{len(primals)} primals and {len(tangents)} tangents",
        )  # fmt: skip
    moved = ast.copy_location(ast.Call(given["function"], primals, []), node)

    def push(cx: Context, node: ast.Call, function: Operand) -> Operand:
        code = code_of(function.type)
        assert code is not None
        target = _target(cx, node, code, function)
        return _pushed(cx, node, target, tangents)

    return for_each(cx, moved, function, push)


def _parts(cx: Context, node: ast.expr) -> list[ast.expr]:
    """The components of a tuple, each computed already."""
    if isinstance(node, ast.Tuple):
        return [e if _is_none(e) else cx.settled(e, cx.value(e)) for e in node.elts]
    value = cx.value(node)
    if not isinstance(value.type, Product) or value.type.names:
        raise closure_errors.derivative_argument(
            cx.span(node), "jvp", f"expected a tuple, found {value.type}"
        )
    b = cx.at(node)
    return [
        cx.settled(node, b.one(Proj(value, k))) for k in range(len(value.type.fields))
    ]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _pushed(
    cx: Context, node: ast.Call, target: _Target, tangents: Sequence[ast.expr]
) -> Operand:
    """The result, and how fast it changes along the tangents."""
    wrt, given = [], []
    for at, tangent in zip(target.at, tangents, strict=False):
        if at is None or not has_float(target.operands[at].type):
            continue
        if _is_none(tangent):
            continue
        wrt.append(at)
        given.append(_tangent(cx, tangent, cx.value(tangent), target.operands[at]))
    rule = Derivative(Mode.PUSH_FORWARD, tuple(wrt))
    call = Call(target.name, (*target.operands, *given), rule)
    results = cx.at(node).emit(call, "out", "out_t")
    if len(results) == 1:
        return cx.at(node).one(Tuple((*results, cx.at(node).one(NONE_VALUE))))
    return cx.at(node).one(Tuple(results))


def _tangent(cx: Context, node: ast.expr, value: Operand, primal: Operand) -> Operand:
    """A tangent or cotangent, of the type and the sizes of what it belongs to."""
    b, wanted = cx.at(node), cotangent_type(primal.type)
    if is_weak(value) and is_float(wanted):
        value = to_width(b, value, wanted)
    if value.type != wanted:
        if join(value.type, wanted) != wanted:
            raise closure_errors.wrong_tangent(cx.span(node), value.type, wanted)
        value = convert(b, value, wanted)
    _check_sizes(b, value, primal)
    return value


def _check_sizes(b: Builder, value: Operand, primal: Operand) -> None:
    """Fail when the program runs if the arrays in two values differ in their sizes."""
    match value.type:
        case Product(fields) if isinstance(primal.type, Product):
            for k, part in enumerate(fields):
                if has_float(part):
                    parts = b.one(Proj(value, k)), b.one(Proj(primal, k))
                    _check_sizes(b, *parts)
        case Array(_, rank):
            for axis in range(rank):
                sizes = [b.one(Apply(Dim(axis), (a,))) for a in (value, primal)]
                b.prim("same", *sizes)
        case _:
            return


@dataclass(frozen=True)
class Pullback(Made):
    """What `vjp` gives beside the result: it takes a cotangent of that.

    It captures what the function has captured, the arguments, and the result. `at` is
    where the parameters are among these.
    """

    of: Code
    name: str
    at: tuple[int | None, ...]
    key: Hashable = None

    @property
    def title(self) -> str:
        return f"pullback_{self.of.title}"

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        (argument,) = arguments(cx, node, "the pullback", 1, 1)
        *operands, out = captures_of(cx, node, function).values()
        real = [
            k for k, at in enumerate(self.at)
            if at is not None and has_float(operands[at].type)
        ]  # fmt: skip
        wrt = tuple(at for k in real if (at := self.at[k]) is not None)
        if not has_float(out.type) or not wrt:
            raise closure_errors.no_reals(cx.span(node), self.title, 0, out.type)
        ct = _tangent(cx, argument, cx.value(argument), out)
        call = Call(self.name, (*operands, ct), Derivative(Mode.PULL_BACK, wrt))
        _, *gradients = cx.at(node).emit(call, "out")
        found = dict(zip(real, gradients, strict=True))
        unit = None if len(found) == len(self.at) else cx.at(node).one(NONE_VALUE)
        parts = [found.get(k, unit) for k in range(len(self.at))]
        return cx.at(node).one(Tuple(tuple([p for p in parts if p is not None])))


def _vjp(cx: Context, node: ast.Call) -> Value:
    if not node.args:
        raise call_errors.missing_argument(cx.span(node), "vjp", "function")
    function = function_of(cx, node.args[0])
    moved = ast.copy_location(
        ast.Call(node.args[0], node.args[1:], node.keywords), node
    )

    def pull(cx: Context, node: ast.Call, function: Operand) -> Operand:
        code = code_of(function.type)
        assert code is not None
        target = _target(cx, node, code, function)
        b = cx.at(node)
        (out,) = b.call(target.name, target.operands)
        captures = {f"p{k}": o for k, o in enumerate(target.operands)}
        captures["out"] = out
        made = Pullback(code, target.name, target.at)
        return b.one(Tuple((out, closure(cx, node, made, captures))))

    return for_each(cx, moved, function, pull)
