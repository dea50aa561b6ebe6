"""What is not in the language of Python's statements: one rule for each kind."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.frontend.hints import of_statement


@code("CL0204")
def try_statement(span: Span) -> Diagnostic:
    """Exceptions cannot be caught inside of a compiled function.

    What fails inside ends the call with Python's exception, at the line that failed.
    Catch it around the call, or test for the case beforehand.

    Fails:

        def f(x: float) -> float:
            try:
                y = 1.0 / x
            except ZeroDivisionError:
                y = 0.0
            return y

    Works:

        def f(x: float) -> float:
            return 1.0 / x if x != 0.0 else 0.0
    """
    return error(
        "`try` is not supported",
        span,
        "",
        "test for the case beforehand with `if`",
    )


@code("CL0205")
def with_statement(span: Span) -> Diagnostic:
    """Compiled code opens and closes nothing.

    Files, locks and the like belong to the code around it: pass the values in. What
    `np.errstate` tells to ignore is ignored, so that alone may stand there.

    Fails:

        def f(x: float) -> float:
            with open("log"):
                return x

    Works:

        def f(x: float) -> float:
            return x
    """
    return error(
        "`with` is not supported",
        span,
        "",
        "move it outside the compiled function",
    )


@code("CL0210")
def delete(span: Span) -> Diagnostic:
    """Variables end with the function, and elements of lists by `pop`.

    There is nothing to be won by `del`: memory is given back after the last use anyway.

    Fails:

        def f(x: float) -> float:
            y = 2.0 * x
            del y
            return x

    Works:

        def f(x: float) -> float:
            return x
    """
    return error(
        "`del` is not supported",
        span,
        "",
        "variables end with the function",
    )


@code("CL0211")
def outer_variable(span: Span, word: str) -> Diagnostic:
    """A compiled function changes nothing outside of itself.

    Its result depends on its arguments alone; only so it has a derivative. Take the old
    value as an argument and return the new one.

    Fails:

        COUNT = 0

        def f(x: float) -> float:
            global COUNT
            COUNT = COUNT + 1
            return x

    Works:

        def f(x: float, count: int) -> tuple[float, int]:
            return x, count + 1
    """
    return error(
        f"`{word}` is not supported",
        span,
        "",
        "pass the value as an argument and return the new one",
    )


@code("CL0212")
def import_statement(span: Span) -> Diagnostic:
    """Modules are imported outside of a compiled function.

    Names of modules are looked up when the function is compiled.

    Fails:

        def f(x: float) -> float:
            import math
            return math.exp(x)

    Works:

        import math

        def f(x: float) -> float:
            return math.exp(x)
    """
    return error(
        "`import` is not supported",
        span,
        "",
        "import the module outside the function",
    )


@code("CL0214")
def nested_async_function(span: Span) -> Diagnostic:
    """An async function cannot be defined inside of a compiled one.

    Compiled code computes, and waits for nothing.

    Fails:

        def f(x: float) -> float:
            async def g():
                return x
            return x

    Works:

        @cl.jit
        def g(x):
            return x

        def f(x: float) -> float:
            return g(x)
    """
    return error(
        "an async function is not supported",
        span,
        "",
        "define a plain one outside",
    )


@code("CL0215")
def nested_class(span: Span) -> Diagnostic:
    """Classes are defined outside of functions.

    A record, which is a `NamedTuple` or a frozen dataclass, is defined once and used in
    any compiled function.

    Fails:

        def f(x: float) -> float:
            class Point:
                pass
            return x

    Works:

        class Point(NamedTuple):
            x: float

        def f(x: float) -> float:
            return Point(x).x
    """
    return error(
        "a class is not supported",
        span,
        "",
        "define it outside; values are numbers and records",
    )


@code("CL0216")
def unused_expression(span: Span, called: str = "") -> Diagnostic:
    """An expression whose value is not used is a mistake.

    It would do nothing at all. Often it was meant to be assigned or returned.

    Fails:

        def f(x: float) -> float:
            x + 1.0
            return x

    Works:

        def f(x: float) -> float:
            x = x + 1.0
            return x
    """
    return error(
        "an unused expression is not supported",
        span,
        "",
        of_statement(called),
    )


@code("CL0225")
def printing(span: Span) -> Diagnostic:
    """`print` writes strings, numbers, arrays, and containers of these.

    These are tuples, records, dictionaries, and lists of numbers. A format is constant,
    and for a number (`{x:.3f}`); other lists are written element by element, and values
    of several types case by case. `sep` and `end` are constants, and `file` is
    `sys.stdout` or `sys.stderr`.

    Fails:

        def f(x: float, digits: int) -> float:
            print(f"x = {x:.{digits}f}")
            return math.sin(x)

    Works:

        def f(x: float) -> float:
            print(f"x = {x:.3f}", f"sin {math.sin(x)!r}", sep=", ")
            return math.sin(x)
    """
    return error(
        "`print` cannot write this",
        span,
        "",
        "write strings, numbers, arrays, tuples, records and dictionaries of these, "
        "with constant formats",
    )


@code("CL0231")
def unusual_raise(span: Span) -> Diagnostic:
    """An exception is raised by its class, with a message or without.

    There is no exception at hand that could be raised again, or be the cause of one.

    Fails:

        def f(x: float) -> float:
            if x < 0.0:
                raise ValueError("negative") from None
            return x

    Works:

        def f(x: float) -> float:
            if x < 0.0:
                raise ValueError("negative")
            return x
    """
    return error(
        "this form of `raise` is not supported",
        span,
        "",
        'write `raise ValueError("message")`',
    )


@code("CL0232")
def unusual_message(span: Span) -> Diagnostic:
    """The message of an exception is a string in quotes, with up to eight numbers.

    Fails:

        def f(x: cl.f64[:]) -> float:
            assert len(x) > 0, f"no numbers: {x}"
            return x[0]

    Works:

        def f(x: cl.f64[:]) -> float:
            assert len(x) > 0, f"no numbers, but {len(x)}"
            return x[0]
    """
    return error(
        "this message cannot be made by compiled code",
        span,
        "",
        "use a constant string, or an f-string of at most eight numbers",
    )


@code("CL0233")
def breakpoint_in_native(span: Span) -> Diagnostic:
    """`breakpoint()` stops in the interpreter, not in native code.

    Native code has no variables to look at any more. `cl.debug.interpret(f)` runs the
    same program in the interpreter, slowly, and stops where the function says
    `breakpoint()`, or at lines that it is given; it shows values, tangents and
    cotangents.

    Fails:

        def f(x: float) -> float:
            y = math.sin(x)
            breakpoint()
            return y * y

        cl.jit(f)(0.5)

    Works:

        def f(x: float) -> float:
            y = math.sin(x)
            print(y)
            return y * y

        cl.jit(f)(0.5)
    """
    return error(
        "native code does not stop at a breakpoint",
        span,
        "",
        "run it by `cl.debug.interpret(f)(...)`, or take the breakpoint out",
    )
