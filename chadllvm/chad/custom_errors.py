"""What can be wrong with derivatives that are written by hand, when they are used."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span


@code("CL1511")
def cotangent_not_linear(span: Span, name: str) -> Diagnostic:
    """Tangents come from the rule of a vjp only if it is linear in the cotangent.

    `jvp`, `jacfwd`, `hvp` and derivatives along a direction need the tangents of a
    result. With a rule for cotangents alone they are that rule transposed, which is
    right only if the rule adds, subtracts and scales cotangents. A rule that clips them
    is no derivative in the other direction: `defjvp` says what is.

    Fails:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x

        def forward(x):
            return x, None

        def backward(_, ct):
            return max(-1.0, min(ct, 1.0))

        f.defvjp(forward, backward)
        cl.jvp(f, (1.0,), (1.0,))

    Works:

        @cl.custom_vjp
        def f(x: float) -> float:
            return x

        def forward(x):
            return x, None

        def backward(_, ct):
            return max(-1.0, min(ct, 1.0))

        def tangent(primals, tangents):
            return primals[0], tangents[0]

        f.defvjp(forward, backward)
        f.defjvp(tangent)
        cl.jvp(f, (1.0,), (1.0,))
    """
    return error(
        f"no tangents of {name}: its vjp is not linear in the cotangent",
        span,
        "this rule was to be transposed",
        f"give the tangents by {name}.defjvp(rule)",
    )


@code("CL1512")
def tangent_not_linear(span: Span, name: str) -> Diagnostic:
    """A gradient comes from the rule of a jvp only if it is linear in the tangents.

    With a rule for tangents alone, cotangents are that rule transposed. So the result
    must not depend on the tangents, and its tangent must be made by adding,
    subtracting and scaling them, as every derivative is.

    Fails:

        @cl.custom_jvp
        def f(x: float) -> float:
            return x * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return x * x, 2.0 * x

        f.defjvp(rule)
        cl.grad(f)(1.0)

    Works:

        @cl.custom_jvp
        def f(x: float) -> float:
            return x * x

        def rule(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return x * x, 2.0 * x * x_t

        f.defjvp(rule)
        cl.grad(f)(1.0)
    """
    return error(
        f"no cotangents of {name}: its jvp is not linear in the tangents",
        span,
        "this rule was to be transposed",
        f"make it linear, or give the cotangents by {name}.defvjp(forward, backward)",
    )


@code("CL1513")
def captured_real(span: Span, name: str) -> Diagnostic:
    """A rule has no derivatives by what a function among the arguments captured.

    The rules of a function have cotangents and tangents for arguments that hold
    numbers, not for functions. What a function that is an argument has captured must
    therefore not be what is differentiated by: hand it over as an argument.

    Fails:

        @cl.custom_vjp
        def apply(function, x: float) -> float:
            return function(x)

        def forward(function, x):
            return function(x), (function, x)

        def backward(kept, ct):
            function, x = kept
            return ct * cl.grad(function)(x)

        apply.defvjp(forward, backward)

        @cl.jit
        def f(x: float, a: float) -> float:
            return apply(lambda t: a * t, x)

        cl.grad(f, argnums="a")(1.0, 2.0)

    Works:

        @cl.custom_vjp
        def apply(function, x: float) -> float:
            return function(x)

        def forward(function, x):
            return function(x), (function, x)

        def backward(kept, ct):
            function, x = kept
            return ct * cl.grad(function)(x)

        apply.defvjp(forward, backward)

        @cl.jit
        def f(x: float, a: float) -> float:
            return apply(lambda t: a * t, x)

        cl.grad(f, argnums="x")(1.0, 2.0)
    """
    return error(
        f"{name} has no derivative by what a function captured",
        span,
        "a function among its arguments captured what is differentiated by",
        "make what it captured an argument, or hold it fixed by cl.stop_gradient",
    )
