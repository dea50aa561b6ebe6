"""What can be wrong with what stands in a program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from chadllvm.errors import statement_errors
from chadllvm.errors.hints import of_statement
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import CompileError, Diagnostic, Span


@code("CL0204")
def try_statement(span: Span) -> Diagnostic:
    return error(
        "`try` is not supported",
        span,
        "",
        "test for the case beforehand with `if`",
    )


@code("CL0205")
def with_statement(span: Span) -> Diagnostic:
    return error(
        "`with` is not supported",
        span,
        "",
        "move it outside the compiled function",
    )


@code("CL0210")
def delete(span: Span) -> Diagnostic:
    return error(
        "`del` is not supported",
        span,
        "",
        "variables end with the function",
    )


@code("CL0211")
def outer_variable(span: Span, word: str) -> Diagnostic:
    return error(
        f"`{word}` is not supported",
        span,
        "",
        "pass the value as an argument and return the new one",
    )


@code("CL0212")
def import_statement(span: Span) -> Diagnostic:
    return error(
        "`import` is not supported",
        span,
        "",
        "import the module outside the function",
    )


@code("CL0214")
def nested_async_function(span: Span) -> Diagnostic:
    return error(
        "an async function is not supported",
        span,
        "",
        "define a plain one outside",
    )


@code("CL0215")
def nested_class(span: Span) -> Diagnostic:
    return error(
        "a class is not supported",
        span,
        "",
        "define it outside; values are numbers and records",
    )


@code("CL0216")
def unused_expression(span: Span, called: str = "") -> Diagnostic:
    return error(
        "an unused expression is not supported",
        span,
        "",
        of_statement(called),
    )


@code("CL0225")
def printing(span: Span) -> Diagnostic:
    return error(
        "`print` cannot write this",
        span,
        "",
        "write strings, numbers, arrays, tuples, records and dictionaries of these, "
        "with constant formats",
    )


@code("CL0231")
def unusual_raise(span: Span) -> Diagnostic:
    return error(
        "this form of `raise` is not supported",
        span,
        "",
        'write `raise ValueError("message")`',
    )


@code("CL0232")
def unusual_message(span: Span) -> Diagnostic:
    return error(
        "this message cannot be made by compiled code",
        span,
        "",
        "use a constant string, or an f-string of at most eight numbers",
    )


@code("CL0233")
def breakpoint_in_native(span: Span) -> Diagnostic:
    return error(
        "native code does not stop at a breakpoint",
        span,
        "",
        "run it by `cl.debug.interpret(f)(...)`, or take the breakpoint out",
    )


@code("CL0218")
def walrus(span: Span) -> Diagnostic:
    return error(
        "`:=` is not supported here",
        span,
        "",
        "assign the variable in a statement of its own",
    )


@code("CL0219")
def formatted_string(span: Span) -> Diagnostic:
    return error(
        "a string is not supported",
        span,
        "",
        "the language has numbers, tuples and arrays",
    )


@code("CL0221")
def dictionary(span: Span) -> Diagnostic:
    return error(
        "a dictionary is not supported",
        span,
        "",
        'write the keys out, as in `{"w": w}`; use an array to look up by number',
    )


@code("CL0224")
def yield_expression(span: Span) -> Diagnostic:
    return error(
        "`yield` is not supported here",
        span,
        "",
        "run over a generator by a `for` loop in the function that defines it, or "
        "return an array",
    )


@code("CL0227")
def starred(span: Span) -> Diagnostic:
    return error(
        "this cannot be unpacked with `*`",
        span,
        "",
        "write the values one by one",
    )


@code("CL0228")
def unsupported_operator(span: Span, operator: str, help: str) -> Diagnostic:
    return error(f"the operator `{operator}` is not supported", span, "", help)


_CONSTANTS = {
    "`None`": "give the variable a value of its type; a static argument may be None",
    "a string": "strings are keys and static arguments; write text outside",
    "a complex number": "compute with the real and the imaginary part",
}


@code("CL0229")
def unsupported_constant(span: Span, kind: str) -> Diagnostic:
    return error(
        f"{kind} is not supported",
        span,
        "",
        _CONSTANTS.get(kind)
        or "the language has floats, 64-bit integers, booleans, tuples and arrays",
    )


@code("CL0230")
def other_syntax(span: Span, kind: str) -> Diagnostic:
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
