"""What can be wrong with functions as values, and with derivatives in programs."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type, has_float
from chadllvm.ir.wording import said


@code("CL1102")
def captured_too_early(span: Span, name: str, function: str, line: int) -> Diagnostic:
    """What a local function reads has a value where the function is defined.

    Python looks variables up when the function is called; the compiled one captures
    their values when it is defined. Functions that call each other are defined one
    right behind the other.

    Fails:

        def f(x: float) -> float:
            def scaled(t: float) -> float:
                return t * scale

            scale = 2.0
            return scaled(x)

    Works:

        def f(x: float) -> float:
            scale = 2.0

            def scaled(t: float) -> float:
                return t * scale

            return scaled(x)
    """
    return error(
        "a variable is used before it has a value",
        span,
        f"`{name}` has none yet where `{function}` is defined, in line {line}",
        f"assign `{name}` before the function is defined",
    )


@code("CL1103")
def captured_changed(span: Span, name: str, function: str) -> Diagnostic:
    """What a local function reads does not change while the function is in use.

    Python's function would see the new value; the compiled one has captured the old.

    Fails:

        def f(x: float) -> float:
            g = lambda t: t * x
            x = 2.0 * x
            return g(1.0)

    Works:

        def f(x: float) -> float:
            g = lambda t: t * x
            y = 2.0 * x
            return g(1.0) + y
    """
    return error(
        "a captured variable has changed",
        span,
        f"`{name}` was assigned again since `{function}` was made",
        f"make it a default, as in `def f(x, {name}={name})`, or use a new name",
    )


@code("CL1104")
def decorated(span: Span) -> Diagnostic:
    """A local function has no decorators.

    It is compiled together with the function around it.

    Fails:

        def f(x: float) -> float:
            @cl.jit
            def g(t: float) -> float:
                return t * x

            return g(2.0)

    Works:

        def f(x: float) -> float:
            def g(t: float) -> float:
                return t * x

            return g(2.0)
    """
    return error(
        "a decorated local function",
        span,
        "decorators run when Python defines the function",
        "remove the decorator: a local function is compiled with the one around it",
    )


@code("CL1105")
def not_a_function(span: Span, found: Type) -> Diagnostic:
    """Only functions are called, and differentiated.

    Fails:

        def f(x: float) -> float:
            return cl.grad(2.0 * x)(x)

    Works:

        def f(x: float) -> float:
            return cl.grad(lambda t: 2.0 * t)(x)
    """
    return error(
        "not a function",
        span,
        f"this is {said(found)}",
        "only functions can be called",
    )


@code("CL1106")
def returned_function(span: Span) -> Diagnostic:
    """A compiled function does not return functions to Python.

    Fails:

        def f(x: float):
            return lambda t: t * x

    Works:

        def f(x: float, t: float) -> float:
            g = lambda s: s * x
            return g(t)
    """
    return error(
        "a function is returned to Python",
        span,
        "the result is or holds a function",
        "call it here and return what it gives",
    )


@code("CL1107")
def not_differentiable(span: Span, name: str, found: Type, wanted: str) -> Diagnostic:
    """A gradient is that of a function that returns a float.

    With `has_aux=True` it returns a tuple of a float and anything else.

    Fails:

        def f(x: cl.f64[:]):
            return cl.grad(lambda t: t * t)(x)

    Works:

        def f(x: cl.f64[:]):
            return cl.grad(lambda t: np.sum(t * t))(x)
    """
    return error(
        f"cannot take the gradient of {name}",
        span,
        f"it returns {said(found)}",
        f"let it return {wanted}",
    )


@code("CL1108")
def no_reals(span: Span, name: str, parameter: int, found: Type) -> Diagnostic:
    """Derivatives are by parameters that hold real numbers.

    Fails:

        def f(x: float, n: int) -> float:
            return cl.grad(lambda k: x**k)(n)

    Works:

        def f(x: float, n: int) -> float:
            return cl.grad(lambda t: t**n)(x)
    """
    why = "is or holds a function" if has_float(found) else "holds no real numbers"
    return error(
        f"cannot differentiate {name} by parameter {parameter}",
        span,
        f"this argument is {said(found)}, which {why}",
        "name the parameters to differentiate by with `argnums=`",
    )


@code("CL1111")
def grows(span: Span, name: str) -> Diagnostic:
    """A function that is replaced in each step does not hold the one before it.

    Which functions a variable may be is known when the program is compiled, and so is
    how many are inside of each other: it does not depend on the number of steps.

    Fails:

        def f(x: float, n: int) -> float:
            g = lambda t: t
            for _ in range(n):
                g = lambda t, g=g: g(t) + x
            return g(x)

    Works:

        def f(x: float, n: int) -> float:
            g = lambda t, n: t + n * x
            return g(x, n)
    """
    return error(
        "a function captures the one before it in each step",
        span,
        f"`{name}` would hold ever more functions",
        "keep what the functions differ in, such as numbers in a list",
    )


@code("CL1109")
def derivative_argument(
    span: Span,
    name: str,
    what: str,
    help: str = "write it as outside of compiled functions; positions are constants",
) -> Diagnostic:
    """`grad`, `jvp` and `vjp` take a function and constants.

    The positions of parameters are known when the program is compiled, and there is one
    tangent for each primal.

    Fails:

        def f(x: float, n: int) -> float:
            return cl.grad(lambda s, t: s * t, argnums=n)(x, x)

    Works:

        def f(x: float) -> float:
            return cl.grad(lambda s, t: s * t, argnums=1)(x, x)
    """
    return error(
        f"bad argument of {name}",
        span,
        what,
        help,
    )


@code("CL1110")
def wrong_tangent(span: Span, found: Type, expected: Type) -> Diagnostic:
    """A tangent is of the type of its primal, a cotangent of that of the result.

    None stands for the tangent of what is held fixed.

    Fails:

        def f(x: float, a: cl.f64[:]):
            return cl.jvp(lambda t: t * t, (x,), (a,))[1]

    Works:

        def f(x: float, a: cl.f64[:]):
            return cl.jvp(lambda t: t * t, (x,), (a[0],))[1]
    """
    return error(
        "not a tangent of its primal",
        span,
        f"this is {said(found)}, expected {said(expected)}",
        "a tangent has the type of its primal; that of an integer is None",
    )


@code("CL1112")
def list_argument(span: Span, name: str) -> Diagnostic:
    """The arguments of a derivative are numbers, arrays, tuples and records.

    A list of numbers is no array: the function would do with it what Python does with
    lists, and its derivative is an array. Lists of arrays, of tuples and of records
    are taken.

    Fails:

        def f(x: cl.f64[:]) -> cl.f64[:]:
            return cl.grad(lambda t: t[0] * t[1])([value for value in x])

    Works:

        def f(x: cl.f64[:]) -> cl.f64[:]:
            return cl.grad(lambda t: t[0] * t[1])(np.array([value for value in x]))
    """
    return error(
        "a list of numbers as the argument of a derivative",
        span,
        f"`{name}` is given a list of numbers, which is no array",
        "make an array of it, as by `np.array(...)`",
    )
