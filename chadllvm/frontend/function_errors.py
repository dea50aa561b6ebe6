"""What can be wrong with a function as a whole: its source, parameters, annotations."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.frontend import hints
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0101")
def not_a_python_function(
    span: Span, help: str = "apply it to a function defined with `def`"
) -> Diagnostic:
    """Only functions written in Python can be compiled.

    The compiler reads the function's source. Built-in functions, classes and objects
    with a `__call__` have none of the form that it reads.

    Fails:

        f = cl.jit(len)

    Works:

        def f(x: cl.f64[:]) -> int:
            return len(x)
    """
    return error(
        "not a Python function",
        span,
        f"`{span.function}` is not a function written in Python",
        help,
    )


@code("CL0103")
def missing_source(span: Span) -> Diagnostic:
    r"""The text of a function must be known.

    It is found as Python finds it for a traceback, with `linecache`: files, modules in
    zip files, notebooks and the interactive prompt of Python 3.13 are fine, text passed
    to `exec` must be entered.

    Fails:

        exec("def f(x: float):\n    return x")

    Works:

        import linecache

        text = "def f(x: float):\n    return x\n"
        linecache.cache["<mine>"] = (len(text), None, text.splitlines(True), "<mine>")
        exec(compile(text, "<mine>", "exec"))
    """
    return error(
        "the source of this function is not available",
        span,
        f"no text found for `{span.function}`",
        "define the function in a file or a notebook cell; for generated code, enter "
        "its text into `linecache.cache` under the file name given to `compile`",
    )


@code("CL0104")
def changed_source(span: Span) -> Diagnostic:
    """The text of a function must be the one that is running.

    The file was edited after it was imported, so that another text stands where the
    function was. Reload the module, or start again.
    """
    return error(
        "the source of this function has changed",
        span,
        f"the text here is not the definition of `{span.function}`",
        "reload the module, so that the running code and the file agree",
    )


@code("CL0105")
def async_function(span: Span) -> Diagnostic:
    """An async function cannot be compiled.

    Compiled code computes, and waits for nothing.

    Fails:

        async def f(x: float) -> float:
            return x

    Works:

        def f(x: float) -> float:
            return x
    """
    return error(
        "an async function cannot be compiled",
        span,
        "",
        "define it with a plain `def`",
    )


@code("CL0106")
def too_deep(span: Span) -> Diagnostic:
    """A function may be nested some hundred levels deep, but not thousands.

    Long functions are no problem: what counts is how deep expressions, branches and
    calls stand in one another; each `elif` stands in the one before. Give the parts of
    a huge expression names, and look values up in an array instead of by branches.
    """
    return error(
        "this function is nested too deeply",
        span,
        "the compiler's recursion came to its limit",
        "split the expression, the chain of branches or the chain of calls",
    )


@code("CL0107")
def variadic_parameter(span: Span, name: str) -> Diagnostic:
    """A compiled function has a fixed number of parameters.

    `*args` and `**options` have no types before the call. Pass a tuple, an array or a
    record instead.

    Fails:

        def f(*values: float) -> float:
            return values[0]

    Works:

        def f(values: tuple[float, float]) -> float:
            return values[0]
    """
    return error(
        "a variable number of arguments",
        span,
        f"`{name}` stands for any number of arguments",
        "list the parameters, or pass an array or a tuple",
    )


@code("CL0108")
def no_value_by_default(span: Span, name: str) -> Diagnostic:
    """The default of a parameter must be a value of its type, and None is of none.

    A parameter that may be left out takes its value then. One that switches something
    may be named in `static_argnames`, where None is as good as any value.

    Fails:

        def f(x: float, scale: float = None) -> float:
            return x

    Works:

        def f(x: float, scale: float = 1.0) -> float:
            return scale * x
    """
    return error(
        "a parameter that is `None` by default",
        span,
        f"`{name}` has no type then",
        "name it in `static_argnames`, or give it a number, a tuple or a record",
    )


@code("CL0109")
def unknown_annotation(span: Span, found: str) -> Diagnostic:
    """An annotation must be a type of the language, or be left out.

    There are `float`, `int`, `bool`, arrays such as `cl.f64[:]` and `cl.i64[:, :]`,
    tuples, records, dictionaries with known keys, and lists of records. A list of
    numbers is an array here. Without annotation the type is that of the argument.

    Fails:

        def f(x: list[float]) -> float:
            return x[0]

    Works:

        def f(x: cl.f64[:]) -> float:
            return x[0]
    """
    return error(
        "unknown type",
        span,
        f"`{found}` is not a type of the compiled language",
        hints.of_type(found),
    )


@code("CL0110")
def broken_annotation(span: Span, reason: str) -> Diagnostic:
    """An annotation must have a value when the function is compiled.

    Annotations that are strings, as all are under `from __future__ import annotations`,
    are evaluated where the function is defined. Names that only type checkers import
    are not there.

    Fails:

        def f(x: "float64") -> float:
            return x

    Works:

        def f(x: "np.float64") -> float:
            return x
    """
    return error(
        "this annotation cannot be evaluated",
        span,
        reason,
        "the names in an annotation must be global where the function is defined",
    )


@code("CL0111")
def wrong_return_type(span: Span, found: Type, declared: object) -> Diagnostic:
    """What a function returns must fit the annotation of its result.

    An integer becomes a float where a float is announced. A float never becomes an
    integer without being asked, for digits would be lost.

    Fails:

        def f(x: float) -> int:
            return 2.0 * x

    Works:

        def f(x: float) -> int:
            return int(2.0 * x)
    """
    return error(
        "wrong return type",
        span,
        f"this function returns {said(found)}, and is annotated with {said(declared)}",
        "change the annotation or convert the value",
    )


@code("CL0112")
def wrong_annotation(span: Span, found: Type, declared: object) -> Diagnostic:
    """A value must fit the annotation of the variable that it is assigned to.

    As in a signature, an integer becomes a float and nothing else is converted.

    Fails:

        def f(x: float) -> int:
            n: int = x
            return n

    Works:

        def f(x: float) -> int:
            n: int = round(x)
            return n
    """
    return error(
        "the value does not fit its annotation",
        span,
        f"this is {said(found)}, the annotation says {said(declared)}",
        "change the annotation or convert the value",
    )
