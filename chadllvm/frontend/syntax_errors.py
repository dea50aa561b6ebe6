"""What is not in the language: one rule for each kind of syntax that is not.

`SYNTAX` says which nodes of Python's grammar break which rule.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from chadllvm.codes import code, error
from chadllvm.diagnostic import CompileError, Diagnostic, Span
from chadllvm.frontend import statement_errors


@code("CL0218")
def walrus(span: Span) -> Diagnostic:
    """`:=` stands where it is always evaluated, and its variable not before it.

    In other places the variable is assigned by a statement.

    Fails:

        def f(x: float) -> float:
            return (y := 2.0 * x) + y if x > 0.0 else x

    Works:

        def f(x: float) -> float:
            if (y := 2.0 * x) > 0.0:
                return y + y
            return x
    """
    return error(
        "`:=` is not supported here",
        span,
        "",
        "assign the variable in a statement of its own",
    )


@code("CL0219")
def formatted_string(span: Span) -> Diagnostic:
    """There are no strings at run time.

    Compiled code can neither format nor print. Return the numbers and write the text
    outside. Strings are fine as keys of dictionaries and as static arguments.

    Fails:

        def f(x: float) -> float:
            text = f"x = {x}"
            return x

    Works:

        def f(x: float) -> float:
            return x  # and outside: print(f"x = {f(2.0)}")
    """
    return error(
        "a string is not supported",
        span,
        "",
        "the language has numbers, tuples and arrays",
    )


@code("CL0221")
def dictionary(span: Span) -> Diagnostic:
    """The keys of a dictionary are written out.

    They are part of its type, so a comprehension cannot compute them.

    Fails:

        def f(x: float) -> float:
            params = {}
            return params["a"]

    Works:

        def f(x: float) -> float:
            params = {"a": x, "b": x}
            return params["a"]
    """
    return error(
        "a dictionary is not supported",
        span,
        "",
        'write the keys out, as in `{"w": w}`; use an array to look up by number',
    )


@code("CL0224")
def yield_expression(span: Span) -> Diagnostic:
    """A loop runs over a generator, which is defined in the same function or beside it.

    That is a `for` loop, over `enumerate` of it as well, or what takes all elements:
    `list`, `sum`, `min`, `max`, `sorted`, a list comprehension. A generator is no
    value, its defaults are constants, it does not run over itself, and `yield` has no
    value. What a compiled function returns is an array.

    Fails:

        def f(n: int):
            for i in range(n):
                yield 2.0 * i

    Works:

        def f(n: int) -> float:
            def odd(m):
                for i in range(m):
                    if i % 2:
                        yield i

            s = 0.0
            for k in odd(n):
                s += 2.0 * k
            return s
    """
    return error(
        "`yield` is not supported here",
        span,
        "",
        "run over a generator by a `for` loop in the function that defines it, or "
        "return an array",
    )


@code("CL0227")
def starred(span: Span) -> Diagnostic:
    """A star unpacks tuples, into other tuples, into lists and calls.

    How many values it stands for must be known when the program is compiled, which it
    is not of an array. What a target with a star would hold is named one by one.

    Fails:

        def f(x: tuple[float, float, float]) -> float:
            first, *rest = x
            return first

    Works:

        def f(x: tuple[float, float, float]) -> float:
            first, second, third = x
            return first
    """
    return error(
        "this cannot be unpacked with `*`",
        span,
        "",
        "write the values one by one",
    )


@code("CL0228")
def unsupported_operator(span: Span, operator: str, help: str) -> Diagnostic:
    """An operator that these operands do not have.

    `&`, `|`, `^`, `~`, `<<` and `>>` are for integers and booleans, some of them for
    sets; `in` for sets, integers that are written out, and static arguments, as `is`.
    Mind that `&` binds tighter than `<`: use `and`, or parentheses.

    Fails:

        def f(x: float) -> bool:
            return 0.0 < x & x < 1.0

    Works:

        def f(x: float) -> bool:
            return 0.0 < x and x < 1.0
    """
    return error(f"the operator `{operator}` is not supported", span, "", help)


_CONSTANTS = {
    "`None`": "give the variable a value of its type; a static argument may be None",
    "a string": "strings are keys and static arguments; write text outside",
    "a complex number": "compute with the real and the imaginary part",
}


@code("CL0229")
def unsupported_constant(span: Span, kind: str) -> Diagnostic:
    """A constant of a kind that does not exist at run time.

    There are floats, 64-bit integers and booleans. Strings and None may be static
    arguments; a complex number is a pair of floats.

    Fails:

        def f(x: float) -> float:
            return x + 1j

    Works:

        def f(x: float) -> tuple[float, float]:
            return x, 1.0
    """
    return error(
        f"{kind} is not supported",
        span,
        "",
        _CONSTANTS.get(kind)
        or "the language has floats, 64-bit integers, booleans, tuples and arrays",
    )


@code("CL0230")
def other_syntax(span: Span, kind: str) -> Diagnostic:
    """A part of Python's grammar that has no meaning in compiled code.

    `docs/language.md` says what is in the language.
    """
    return error(
        f"`{kind}` is not supported",
        span,
        "this part of Python's grammar is not in the language",
        "write it with assignments, `if`, `for` and calls",
    )


# The nodes of Python's grammar that have no meaning in the language.
SYNTAX: dict[type[ast.AST], Callable[[Span], CompileError]] = {
    ast.Try: statement_errors.try_statement,
    ast.TryStar: statement_errors.try_statement,
    ast.With: statement_errors.with_statement,
    ast.Delete: statement_errors.delete,
    ast.Global: partial(statement_errors.outer_variable, word="global"),
    ast.Nonlocal: partial(statement_errors.outer_variable, word="nonlocal"),
    ast.Import: statement_errors.import_statement,
    ast.ImportFrom: statement_errors.import_statement,
    ast.AsyncFunctionDef: statement_errors.nested_async_function,
    ast.ClassDef: statement_errors.nested_class,
    ast.Expr: statement_errors.unused_expression,
    ast.NamedExpr: walrus,
    ast.JoinedStr: formatted_string,
    ast.FormattedValue: formatted_string,
    ast.Dict: dictionary,
    ast.DictComp: dictionary,
    ast.Yield: yield_expression,
    ast.YieldFrom: yield_expression,
}


def unsupported(span: Span, node: ast.AST) -> CompileError:
    """The error of a node that the language does not know."""
    rule = SYNTAX.get(type(node))
    return rule(span) if rule is not None else other_syntax(span, type(node).__name__)
