"""What can be wrong with functions that call themselves."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said, shorten


@code("CL1301")
def unknown_result(span: Span, name: str) -> Diagnostic:
    """What a function that calls itself returns is annotated, or known without.

    Some path has to return without such a call, or the annotation says the type.

    Fails:

        @cl.jit
        def g(x):
            return 2.0 * g(x - 1.0)

        def f(x: float) -> float:
            return g(x)

    Works:

        @cl.jit
        def g(x):
            return 1.0 if x < 0.0 else 2.0 * g(x - 1.0)

        def f(x: float) -> float:
            return g(x)
    """
    return error(
        "the type of a recursive result is not known",
        span,
        f"the result of `{name}` depends on this call",
        f"annotate `{name}` with the type of its result, as in `-> float`",
    )


@code("CL1302")
def growing_result(span: Span, name: str) -> Diagnostic:
    """What a function that calls itself returns is of one type.

    Fails:

        @cl.jit
        def g(n):
            if n == 0:
                return lambda x: x
            h = g(n - 1)
            return lambda x: 2.0 * h(x)

        def f(x: float, n: int) -> float:
            return g(n)(x)

    Works:

        @cl.jit
        def g(n, x):
            return x if n == 0 else 2.0 * g(n - 1, x)

        def f(x: float, n: int) -> float:
            return g(n, x)
    """
    return error(
        "the type of a recursive result grows with each call",
        span,
        f"whatever type this call has, `{name}` returns another one",
        "return numbers, arrays or records of them instead of functions",
    )


@code("CL1303")
def endless_types(span: Span, name: str, types: Sequence[Type]) -> Diagnostic:
    """A function that calls itself comes back to arguments of the same types.

    It is compiled for the types of its arguments: for other types, again.

    Fails:

        @cl.jit
        def g(x, n: int) -> float:
            return 0.0 if n == 0 else g((x, x), n - 1)

        def f(x: float, n: int) -> float:
            return g(x, n)

    Works:

        @cl.jit
        def g(x, n: int) -> float:
            return x if n == 0 else g(x + x, n - 1)

        def f(x: float, n: int) -> float:
            return g(x, n)
    """
    found = shorten(", ".join(map(said, types)), 80)
    return error(
        "a recursive function takes ever other types",
        span,
        f"`{name}` is called here with ({found})",
        "pass arguments of the same types at each call",
    )


@code("CL1304")
def growing_function(span: Span, name: str) -> Diagnostic:
    """A function that is passed through recursion is the same at each call.

    A function made anew from the last one is another function at each depth, and the
    program knows all of its functions when it is compiled.

    Fails:

        @cl.jit
        def g(h, n: int) -> float:
            return h(1.0) if n == 0 else g(lambda x: h(x) + 1.0, n - 1)

        def f(n: int) -> float:
            return g(lambda x: x, n)

    Works:

        @cl.jit
        def g(h, c: float, n: int) -> float:
            return h(1.0) + c if n == 0 else g(h, c + 1.0, n - 1)

        def f(n: int) -> float:
            return g(lambda x: x, 0.0, n)
    """
    return error(
        "a function grows with each recursive call",
        span,
        f"`{name}` is called here with a function that is made of the last one",
        "pass the same function on, with what changes as arguments beside it",
    )


@code("CL1305")
def derivative_of_itself(span: Span, name: str) -> Diagnostic:
    """No function takes a derivative of itself.

    Neither does it by way of others: each derivative would need one of its own.

    Fails:

        @cl.jit
        def g(x: float, n: int) -> float:
            return x * x if n == 0 else cl.grad(g)(x, n - 1)

        def f(x: float, n: int) -> float:
            return g(x, n)

    Works:

        @cl.jit(static_argnames="n")
        def g(x: float, n) -> float:
            return x * x if n == 0 else cl.grad(g)(x, n - 1)

        def f(x: float) -> float:
            return g(x, 2)
    """
    return error(
        "a function takes a derivative of itself",
        span,
        f"`{name}` calls the function that this stands in",
        "differentiate another function; a static parameter that ends the recursion "
        "makes another function at each depth",
    )
