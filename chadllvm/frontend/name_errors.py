"""What can be wrong with a name, and with what it stands for."""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.frontend import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0301")
def unknown_name(span: Span, name: str, known: Iterable[str] = ()) -> Diagnostic:
    """A name must be defined: in the function, around it, or as a built-in.

    Names from outside the function are looked up when it is compiled.

    Fails:

        def f(x: float) -> float:
            return x * sacle

    Works:

        scale = 2.0

        def f(x: float) -> float:
            return x * scale
    """
    return error(
        "unknown name",
        span,
        f"`{name}` is not defined",
        hints.of_name(name, known),
    )


@code("CL0302")
def unknown_attribute(
    span: Span, owner: str, name: str, known: Iterable[str] = ()
) -> Diagnostic:
    """A value or a module does not have this attribute.

    Arrays have `shape`, `ndim`, `size`, `T` and a number of methods; records have their
    fields; modules have what they define.

    Fails:

        def f(x: float) -> float:
            return math.sine(x)

    Works:

        def f(x: float) -> float:
            return math.sin(x)
    """
    return error(
        "unknown attribute",
        span,
        f"{owner} has no attribute `{name}`",
        hints.of_attribute(name, known),
    )


@code("CL0303")
def not_a_value(span: Span, name: str, kind: str) -> Diagnostic:
    """What a function uses from outside must be a value of the language.

    Numbers, arrays, tuples and records of these are constants of the compiled program.
    Lists may change afterwards, and modules and other objects are no values.

    Fails:

        VALUES = [1.0, 2.0]

        def f(x: float) -> float:
            return x * VALUES[0]

    Works:

        VALUES = np.array([1.0, 2.0])

        def f(x: float) -> float:
            return x * VALUES[0]
    """
    return error(
        "not a value",
        span,
        f"`{name}` is {kind}",
        "only numbers, NumPy arrays, and tuples and records of these can be used from "
        "outside the function",
    )


@code("CL0304")
def function_as_value(span: Span, name: str, *, is_class: bool = False) -> Diagnostic:
    """A function that cannot be compiled is no value.

    Values are compiled functions, local ones, plain ones of the same module, and those
    of the language.

    Fails:

        def f(x: float) -> float:
            g = np.polyfit
            return x

    Works:

        def f(x: float) -> float:
            g = math.exp
            return g(x)
    """
    kind = "class" if is_class else "function"
    return error(
        f"a {kind} that cannot be compiled",
        span,
        f"`{name}` is a {kind} that the language does not know",
        hints.CLASS
        if is_class
        else "decorate it with `jit`, or define it in the function",
    )


@code("CL0305")
def unsupported_dtype(span: Span, name: str, dtype: object) -> Diagnostic:
    """An array from outside has elements of a type that is not in the language.

    Convert it once, outside of the function.

    Fails:

        TABLE = np.ones(3, dtype=np.complex128)

        def f(x: float) -> float:
            return x + TABLE[0]

    Works:

        TABLE = np.ones(3)

        def f(x: float) -> float:
            return x + TABLE[0]
    """
    return error(
        "unsupported dtype",
        span,
        f"`{name}` holds {dtype}",
        "convert it with `.astype(np.float64)` before",
    )


@code("CL0306")
def large_integer(span: Span) -> Diagnostic:
    """Integers have 64 bits.

    A larger constant must be written as a float. Sums and products that leave the range
    wrap around, as those of NumPy do.

    Fails:

        def f(x: float) -> float:
            return x + 100000000000000000000

    Works:

        def f(x: float) -> float:
            return x + 1e20
    """
    return error(
        "integer out of range",
        span,
        "this does not fit into 64 bits",
        "write it as a float",
    )


@code("CL0307")
def missing_on_branch(span: Span, name: str, branch: str, line: int) -> Diagnostic:
    """A variable that is read after an `if` needs a value on both branches.

    In Python it would depend on the data whether the name exists at all.

    Fails:

        def f(x: float) -> float:
            if x > 0.0:
                y = math.sqrt(x)
            return y

    Works:

        def f(x: float) -> float:
            y = 0.0
            if x > 0.0:
                y = math.sqrt(x)
            return y
    """
    return error(
        "variable defined on one branch only",
        span,
        f"`{name}` is not defined if the {branch} branch on line {line} was taken",
        f"give `{name}` a value before the `if`",
    )


@code("CL0308")
def conflicting_branches(
    span: Span, name: str, then: Type, orelse: Type, line: int
) -> Diagnostic:
    """A variable has one type after an `if`, whichever branch was taken.

    An integer and a float make a float; nothing else is joined.

    Fails:

        def f(x: float):
            if x > 0.0:
                y = x
            else:
                y = (x, x)
            return y

    Works:

        def f(x: float):
            if x > 0.0:
                y = (x, 0.0)
            else:
                y = (x, x)
            return y
    """
    return error(
        "variable with two types",
        span,
        f"`{name}` is {said(then)} after one branch on line {line} and "
        f"{said(orelse)} after the other",
        "give it the same type on both, or use two names",
    )


@code("CL0309")
def only_in_loop(span: Span, name: str, line: int) -> Diagnostic:
    """A variable that is read after a loop needs a value before it.

    The loop may run zero times. This is so for the variable of the loop as well.

    Fails:

        def f(x: cl.f64[:]) -> float:
            for v in x:
                last = v
            return last

    Works:

        def f(x: cl.f64[:]) -> float:
            last = 0.0
            for v in x:
                last = v
            return last
    """
    return error(
        "variable defined in a loop only",
        span,
        f"`{name}` is not defined if the loop on line {line} runs zero times",
        f"give `{name}` a value before the loop",
    )


@code("CL0310")
def changing_type(span: Span, name: str, before: Type, after: Type) -> Diagnostic:
    """A variable has one type in all steps of a loop.

    An integer becomes a float from the beginning on if some step makes it one; a tuple
    cannot grow. To collect values, append to a list or write a comprehension.

    Fails:

        def f(x: float):
            values = (x,)
            for i in range(3):
                values = (values, x)
            return values

    Works:

        def f(x: float):
            values = [x]
            for i in range(3):
                values.append(x)
            return values
    """
    return error(
        "variable changes its type in a loop",
        span,
        f"`{name}` is {said(before)} before the loop and {said(after)} after a step",
        "give it one type, or use another name inside the loop",
    )


@code("CL0311")
def used_before_assignment(span: Span, name: str) -> Diagnostic:
    """A variable must be assigned before it is read.

    As in Python, an assignment anywhere in a function makes the name local to it, so
    that a global of the same name is not seen.

    Fails:

        scale = 2.0

        def f(x: float) -> float:
            x = x * scale
            scale = 3.0
            return x * scale

    Works:

        SCALE = 2.0

        def f(x: float) -> float:
            x = x * SCALE
            scale = 3.0
            return x * scale
    """
    return error(
        "variable used before it is assigned",
        span,
        f"`{name}` has no value here",
        f"assign `{name}` first; an assignment anywhere in a function makes the name "
        "local to it",
    )


@code("CL0312")
def two_types_after(
    span: Span, name: str, first: Type, second: Type, line: int
) -> Diagnostic:
    """A variable has one type behind a loop, whichever way it was left.

    Fails:

        def f(x: float, n: int) -> float:
            y = 0.0
            for _ in range(n):
                if x > 1.0:
                    y = (x, x)
                    break
                x = 2.0 * x
            return y

    Works:

        def f(x: float, n: int) -> float:
            y = 0.0
            for _ in range(n):
                if x > 1.0:
                    y = x
                    break
                x = 2.0 * x
            return y
    """
    return error(
        "variable with two types",
        span,
        f"`{name}` is {said(first)} or {said(second)}, as the loop on line {line} "
        "is left",
        "give it the same type on both ways, or use two names",
    )


@code("CL0313")
def unknown_exception(span: Span, name: str) -> Diagnostic:
    """Compiled code raises built-in exceptions.

    Fails:

        class NotPositive(ValueError):
            pass

        def f(x: float) -> float:
            if x < 0.0:
                raise NotPositive("x")
            return x

    Works:

        def f(x: float) -> float:
            if x < 0.0:
                raise ValueError("x is not positive")
            return x
    """
    return error(
        "not a built-in exception",
        span,
        f"`{name}` cannot be raised by compiled code",
        "raise a built-in exception, such as `ValueError`",
    )
