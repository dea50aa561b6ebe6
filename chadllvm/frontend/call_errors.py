"""What can be wrong with a call, its arguments and its static arguments."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.frontend import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0601")
def not_callable(span: Span, name: str) -> Diagnostic:
    """Only functions are called.

    A local variable never holds one. Perhaps an operator is missing, as in `2(x + 1)`.

    Fails:

        def f(x: float) -> float:
            return x(1.0 + x)

    Works:

        def f(x: float) -> float:
            return x * (1.0 + x)
    """
    return error(
        "not a function",
        span,
        f"`{name}` cannot be called",
        "call functions of `math` and NumPy, or jitted ones; an element of an array is "
        "read by brackets, as in `x[i]`",
    )


@code("CL0602")
def unknown_function(span: Span, name: str, *, is_class: bool = False) -> Diagnostic:
    """A function that has no meaning in compiled code.

    There are those of arithmetic and calculus (`math`, `numpy`, parts of `scipy`), the
    reductions, and your own functions. `docs/language.md` lists them; what another one
    means `cl.overload` can say.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return x[hash(x[0]) % len(x)]

    Works:

        def f(x: cl.f64[:]) -> float:
            return x[int(x[0]) % len(x)]
    """
    return error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        hints.CLASS if is_class else hints.of_function(name),
    )


@code("CL0603")
def not_jitted(span: Span, name: str) -> Diagnostic:
    """A compiled function calls functions that are compiled.

    These are functions of its own module, and ones that `jit` decorates. Functions of
    another module are compiled where they are called once `cl.compile_package("name")`
    says that they may be. They need not have annotations.

    Fails:

        from textwrap import dedent

        def f(x: float) -> float:
            return x + dedent(x)

    Works:

        def g(x):
            return x * x

        def f(x: float) -> float:
            return g(x)
    """
    return error(
        "call of a function that is not compiled",
        span,
        f"`{name}` is a plain Python function of another module",
        f"decorate `{name}` with `jit`, or call `compile_package` with its module",
    )


@code("CL0605")
def wrong_argument_count(span: Span, name: str, expected: str) -> Diagnostic:
    """A function takes the number of arguments that it is defined with.

    Fails:

        def f(x: float) -> float:
            return math.atan2(x)

    Works:

        def f(x: float) -> float:
            return math.atan2(x, 1.0)
    """
    return error(
        "wrong number of arguments",
        span,
        f"`{name}` takes {expected}",
        "pass exactly that many",
    )


@code("CL0606")
def unexpected_keyword(span: Span, name: str, keyword: str) -> Diagnostic:
    """A function does not have a parameter of this name, or not by its name.

    Fails:

        @cl.jit
        def g(x, scale=1.0):
            return scale * x

        def f(x: float) -> float:
            return g(x, factor=2.0)

    Works:

        @cl.jit
        def g(x, scale=1.0):
            return scale * x

        def f(x: float) -> float:
            return g(x, scale=2.0)
    """
    return error(
        "unexpected keyword argument",
        span,
        f"`{name}` does not take `{keyword}` by name",
        "pass it by position, or leave it out",
    )


@code("CL0607")
def repeated_argument(span: Span, name: str, parameter: str) -> Diagnostic:
    """Each parameter gets one argument, by its place or by its name.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return np.sum(x, 0, axis=0)

    Works:

        def f(x: cl.f64[:]) -> float:
            return np.sum(x, axis=0)
    """
    return error(
        "argument given twice",
        span,
        f"`{parameter}` of `{name}` has a value already",
        "remove one of the two",
    )


@code("CL0608")
def missing_argument(span: Span, name: str, parameter: str) -> Diagnostic:
    """A parameter without a default needs an argument.

    Fails:

        def f(n: int):
            return np.full(n)

    Works:

        def f(n: int):
            return np.full(n, 1.0)
    """
    return error(
        "missing argument",
        span,
        f"`{name}` needs a value for `{parameter}`",
        f"pass `{parameter}`",
    )


@code("CL0609")
def wrong_argument(
    span: Span, name: str, parameter: str, found: Type, declared: object
) -> Diagnostic:
    """An argument must fit the annotation of its parameter.

    An integer becomes a float; nothing else is converted. Without annotation a
    parameter takes any type.

    Fails:

        @cl.jit
        def g(x: float) -> float:
            return x

        def f(x: cl.f64[:]) -> float:
            return g(x)

    Works:

        @cl.jit
        def g(x: cl.f64[:]) -> float:
            return x[0]

        def f(x: cl.f64[:]) -> float:
            return g(x)
    """
    return error(
        "wrong argument type",
        span,
        f"`{parameter}` of `{name}` is {said(declared)}, found {said(found)}",
        "convert the argument or change the annotation",
    )


@code("CL0610")
def wrong_operand(span: Span, name: str, expected: str, found: Type) -> Diagnostic:
    """A function takes arguments of certain types.

    Fails:

        def f(x: float) -> float:
            return cl.fold(max, x)

    Works:

        def f(x: cl.f64[:]) -> float:
            return cl.fold(max, x)
    """
    return error(
        "wrong argument type",
        span,
        f"`{name}` takes {expected}, found {said(found)}",
        f"pass {expected}",
    )


@code("CL0617")
def endless_calls(span: Span, name: str) -> Diagnostic:
    """A function may call itself for other static arguments, if that ends.

    It is compiled anew for each of them.

    Fails:

        @cl.jit(static_argnames="n")
        def power(x: float, n: int) -> float:
            return x * power(x, n - 1)

        def f(x: float) -> float:
            return power(x, 3)

    Works:

        @cl.jit(static_argnames="n")
        def power(x: float, n: int) -> float:
            if n == 0:
                return 1.0
            return x * power(x, n - 1)

        def f(x: float) -> float:
            return power(x, 3)
    """
    return error(
        "calls of a function inside of itself do not end",
        span,
        f"`{name}` is compiled anew for ever other static arguments",
        "test a static parameter to end it; if it is only deep, annotate the result",
    )


@code("CL0612")
def function_needed(span: Span, name: str, arity: int) -> Diagnostic:
    """An argument must be a function of so many arguments.

    A lambda, a jitted function, or a function of `math` or NumPy can be passed.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return cl.fold(lambda a: a, x)

    Works:

        def f(x: cl.f64[:]) -> float:
            return cl.fold(lambda a, b: a * b, x)
    """
    plural = "" if arity == 1 else "s"
    return error(
        "a function is needed",
        span,
        f"`{name}` takes a function of {arity} argument{plural} here",
        "pass a jitted function, a `lambda`, or one of the functions of NumPy",
    )


@code("CL0613")
def changed_type(span: Span, name: str, before: Type, after: Type) -> Diagnostic:
    """A function that is applied to its own result returns what it takes.

    Fails:

        def f(x: cl.f64[:]):
            return cl.fold(lambda a, b: (a, b), x)

    Works:

        def f(x: cl.f64[:]):
            return cl.fold(lambda a, b: a * b, x)
    """
    return error(
        "the function changes the type",
        span,
        f"`{name}` combines {said(before)} to {said(after)}",
        "let it return what it takes, for example floats for floats",
    )


@code("CL0614")
def not_static(span: Span, function: str, name: str) -> Diagnostic:
    """A static argument is a constant of the program.

    It can be a literal, a name from outside of the function, or a static parameter of
    the function that calls.

    Fails:

        @cl.jit(static_argnames="n")
        def power(x, n):
            return x**n

        def f(x: float, n: int) -> float:
            return power(x, n)

    Works:

        @cl.jit(static_argnames="n")
        def power(x, n):
            return x**n

        def f(x: float) -> float:
            return power(x, 3)
    """
    return error(
        "a static argument must be known when the program is compiled",
        span,
        f"`{function}` takes `{name}` as a static argument",
        "pass a constant, or a static parameter of this function",
    )


@code("CL0615")
def unhashable(span: Span, function: str, name: str) -> Diagnostic:
    """A static argument must be hashable.

    A function is compiled once for each value, which is looked up by its hash: a tuple
    can be, a list or an array cannot.

    Fails:

        ORDERS = [1, 2]

        @cl.jit(static_argnames="orders")
        def g(x, orders):
            return x * orders[0]

        def f(x: float) -> float:
            return g(x, ORDERS)

    Works:

        ORDERS = (1, 2)

        @cl.jit(static_argnames="orders")
        def g(x, orders):
            return x * orders[0]

        def f(x: float) -> float:
            return g(x, ORDERS)
    """
    return error(
        "a static argument must be hashable",
        span,
        f"`{function}` takes `{name}` as a static argument",
        "use a tuple instead of a list",
    )


@code("CL0616")
def assigned_static(span: Span, name: str) -> Diagnostic:
    """A static parameter keeps its value.

    It is a constant of the compiled program, on which its types and branches may
    depend.

    Fails:

        @cl.jit(static_argnames="n")
        def g(x, n):
            n = n + 1
            return x * n

        def f(x: float) -> float:
            return g(x, 2)

    Works:

        @cl.jit(static_argnames="n")
        def g(x, n):
            m = n + 1
            return x * m

        def f(x: float) -> float:
            return g(x, 2)
    """
    return error(
        "a static parameter is assigned to",
        span,
        f"`{name}` is a constant of the compiled program",
        "use another name for the new value",
    )


@code("CL0618")
def not_chosen(span: Span, name: str, reason: str) -> Diagnostic:
    """A function of another package is not there for these arguments.

    What stands for it in compiled code is chosen by constants and by the types of the
    others, and says why there is none.

    Fails:

        import numpy as np

        def f(a: cl.f64[:, :]) -> float:
            return np.einsum("ijk->", a)

    Works:

        import numpy as np

        def f(a: cl.f64[:, :]) -> float:
            return np.einsum("ij->", a)
    """
    return error(
        f"`{name}` does not take these arguments",
        span,
        reason,
        "`docs/functions.md` says what it takes here",
    )
