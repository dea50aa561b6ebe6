"""What can be wrong with the rules of functions that have their own derivatives."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL1501")
def no_rule(span: Span, name: str) -> Diagnostic:
    """A function with derivatives of its own is given them before it is used.

    Fails:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x * x

        f(2.0)

    Works:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x * x

        def forward(x):
            return x * x, x

        def backward(x, ct):
            return 2.0 * x * ct

        f.defvjp(forward, backward)
        f(2.0)
    """
    return error(
        f"{name} has no rule for its derivative",
        span,
        "this function is to have derivatives of its own",
        f"call {name}.defvjp(forward, backward) or {name}.defjvp(rule) first",
    )


@code("CL1502")
def rule_parameters(span: Span, rule: str, name: str, count: int) -> Diagnostic:
    """Each rule takes what its place asks for.

    The first rule of a vjp takes the arguments of the function, the second one what the
    first has kept and the cotangent of the result; the rule of a jvp takes a tuple of
    the arguments and one of their tangents. Static parameters of the function may be
    parameters of the latter two, under the same names.

    Fails:

        @cl.custom_vjp
        def f(x: float, y: float) -> float:
            return x * y

        def forward(x):
            return x, x

        def backward(x, ct):
            return ct, ct

        f.defvjp(forward, backward)
        f(1.0, 2.0)

    Works:

        @cl.custom_vjp
        def f(x: float, y: float) -> float:
            return x * y

        def forward(x, y):
            return x * y, (x, y)

        def backward(kept, ct):
            x, y = kept
            return y * ct, x * ct

        f.defvjp(forward, backward)
        f(1.0, 2.0)
    """
    plural = "" if count == 1 else "s"
    return error(
        f"a rule of {name} takes other arguments",
        span,
        f"`{rule}` should have {count} parameter{plural}",
        "see docs/language.md, derivatives of your own",
    )


@code("CL1503")
def rule_annotation(span: Span, rule: str, parameter: str, wanted: Type) -> Diagnostic:
    """The annotations of a rule agree with the types of what it is given.

    A rule needs no annotations: it takes the types of the function's arguments.

    Fails:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x * x

        def forward(x: cl.f64[:]):
            return x * x, x

        def backward(x, ct):
            return 2.0 * x * ct

        f.defvjp(forward, backward)
        f(1.0)

    Works:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x * x

        def forward(x):
            return x * x, x

        def backward(x, ct):
            return 2.0 * x * ct

        f.defvjp(forward, backward)
        f(1.0)
    """
    return error(
        f"a rule is annotated with another type: parameter {parameter} of {rule}",
        span,
        f"it is given {said(wanted)}",
        "leave the annotation out",
    )


@code("CL1504")
def no_residuals(span: Span, rule: str, found: Type) -> Diagnostic:
    """The first rule of a vjp returns the value, and what the second one needs.

    Fails:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x * x

        def forward(x):
            return x * x

        def backward(x, ct):
            return 2.0 * x * ct

        f.defvjp(forward, backward)
        f(1.0)

    Works:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x * x

        def forward(x):
            return x * x, x

        def backward(x, ct):
            return 2.0 * x * ct

        f.defvjp(forward, backward)
        f(1.0)
    """
    return error(
        f"{rule} does not return a value and what is kept",
        span,
        f"this is {said(found)}",
        "return a tuple of two: the value, and what the other rule needs (or None)",
    )


@code("CL1505")
def wrong_value(
    span: Span, rule: str, found: Type, name: str, wanted: Type
) -> Diagnostic:
    """What a rule gives as the function's value has the type of that.

    Fails:

        @cl.custom_jvp
        def f(x: float) -> float:
            return x * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return (x, x), 2.0 * x * x_t

        f.defjvp(rule)
        f(1.0)

    Works:

        @cl.custom_jvp
        def f(x: float) -> float:
            return x * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return x * x, 2.0 * x * x_t

        f.defjvp(rule)
        f(1.0)
    """
    return error(
        f"{rule} gives another value than {name}",
        span,
        f"the value here is {said(found)}",
        f"{name} returns {said(wanted)}",
    )


@code("CL1506")
def wrong_count(
    span: Span, rule: str, found: Type, name: str, count: int
) -> Diagnostic:
    """The second rule of a vjp returns a cotangent for each argument with reals.

    One for every argument, with None for what holds no reals, is fine too. None means
    that the cotangent is zero.

    Fails:

        @cl.custom_vjp
        def f(x: float, y: float, n: int) -> float:
            return x * y

        def forward(x, y, n):
            return x * y, (x, y)

        def backward(kept, ct):
            x, y = kept
            return y * ct

        f.defvjp(forward, backward)
        f(1.0, 2.0, 3)

    Works:

        @cl.custom_vjp
        def f(x: float, y: float, n: int) -> float:
            return x * y

        def forward(x, y, n):
            return x * y, (x, y)

        def backward(kept, ct):
            x, y = kept
            return y * ct, x * ct

        f.defvjp(forward, backward)
        f(1.0, 2.0, 3)
    """
    plural = "" if count == 1 else "s"
    return error(
        f"{rule} does not return the cotangents of {name}",
        span,
        f"this is {said(found)}",
        f"return {count} cotangent{plural}, in a tuple",
    )


@code("CL1507")
def wrong_cotangent(
    span: Span, name: str, parameter: str, found: Type, wanted: Type
) -> Diagnostic:
    """A cotangent has the type of the argument that it belongs to.

    Fails:

        @cl.custom_vjp
        def f(x: cl.f64[:]) -> float:
            return np.sum(x)

        def forward(x):
            return np.sum(x), None

        def backward(_, ct):
            return ct

        f.defvjp(forward, backward)
        f(np.ones(3))

    Works:

        @cl.custom_vjp
        def f(x: cl.f64[:]) -> float:
            return np.sum(x)

        def forward(x):
            return np.sum(x), len(x)

        def backward(n, ct):
            return np.full(n, ct)

        f.defvjp(forward, backward)
        f(np.ones(3))
    """
    return error(
        f"the cotangent of {parameter}, an argument of {name}, has another type",
        span,
        f"this has {said(found)} for it",
        f"the cotangent is {said(wanted)}",
    )


@code("CL1508")
def no_tangent(span: Span, rule: str, found: Type) -> Diagnostic:
    """The rule of a jvp returns the value and its tangent.

    Fails:

        @cl.custom_jvp
        def f(x: float) -> float:
            return x * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return 2.0 * x * x_t

        f.defjvp(rule)
        f(1.0)

    Works:

        @cl.custom_jvp
        def f(x: float) -> float:
            return x * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return x * x, 2.0 * x * x_t

        f.defjvp(rule)
        f(1.0)
    """
    return error(
        f"{rule} does not return a value and its tangent",
        span,
        f"this is {said(found)}",
        "return a tuple of two: the value, and how fast it changes",
    )


@code("CL1509")
def wrong_tangent(span: Span, name: str, found: Type, wanted: Type) -> Diagnostic:
    """The tangent of a result has the type of the result, None for what has no reals.

    Fails:

        @cl.custom_jvp
        def f(x: cl.f64[:]) -> cl.f64[:]:
            return 2.0 * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return 2.0 * x, 2.0 * np.sum(x_t)

        f.defjvp(rule)
        f(np.ones(3))

    Works:

        @cl.custom_jvp
        def f(x: cl.f64[:]) -> cl.f64[:]:
            return 2.0 * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return 2.0 * x, 2.0 * x_t

        f.defjvp(rule)
        f(np.ones(3))
    """
    return error(
        f"the tangent of what {name} returns has another type",
        span,
        f"the tangent here is {said(found)}",
        f"the tangent is {said(wanted)}",
    )


@code("CL1510")
def irregular(span: Span, name: str, found: Type) -> Diagnostic:
    """A function with rules takes and returns numbers, arrays, records, unions, lists.

    Its cotangents and tangents are checked against the sizes of what they belong to. A
    function has none, and records with arrays in a list have many. Functions may be
    arguments.

    Fails:

        @cl.custom_vjp
        def line(slope: float):
            return lambda t: slope * t

        def forward(slope):
            return line(slope), None

        def backward(_, ct):
            return 0.0

        line.defvjp(forward, backward)

        def f(x: float) -> float:
            return line(2.0)(x)

    Works:

        @cl.custom_vjp
        def line(slope: float, t: float) -> float:
            return slope * t

        def forward(slope, t):
            return line(slope, t), (slope, t)

        def backward(kept, ct):
            slope, t = kept
            return t * ct, slope * ct

        line.defvjp(forward, backward)

        def f(x: float) -> float:
            return line(2.0, x)
    """
    return error(
        f"{name} has derivatives of its own, and cannot take or return this",
        span,
        f"this is {said(found)}",
        "use numbers, arrays, tuples, records, unions or lists of arrays",
    )


@code("CL1514")
def called_back(span: Span, name: str, caller: str) -> Diagnostic:
    """What a function with rules calls does not call that function.

    It may call itself: its rules say what the derivative is. A function that it calls
    has none of its own, so that it would matter who calls whom first.

    Fails:

        @cl.custom_vjp
        def even(x: float, n: int) -> float:
            return x if n == 0 else odd(x, n - 1)

        @cl.jit
        def odd(x: float, n: int) -> float:
            return 0.0 if n == 0 else even(x, n - 1)

        even.defvjp(lambda x, n: (even(x, n), n), lambda n, ct: ct * (1 - n % 2))

        def f(x: float) -> float:
            return even(x, 4)

    Works:

        @cl.custom_vjp
        def even(x: float, n: int) -> float:
            if n <= 1:
                return x if n == 0 else 0.0
            return even(x, n - 2)

        even.defvjp(lambda x, n: (even(x, n), n), lambda n, ct: ct * (1 - n % 2))

        def f(x: float) -> float:
            return even(x, 4)
    """
    return error(
        f"{name}, which has derivatives of its own, is called by what it calls",
        span,
        f"{name} calls {caller}, which calls it again",
        f"let {name} call itself, or write it without recursion",
    )
