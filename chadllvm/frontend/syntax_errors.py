"""What is not in the language: one rule for each kind of syntax that is not.

`SYNTAX` says which nodes of Python's grammar break which rule.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from chadllvm.codes import code, error
from chadllvm.diagnostic import CompileError, Diagnostic, Span


@code("CL0201")
def while_loop(span: Span) -> Diagnostic:
    return error(
        "`while` is not supported",
        span,
        "",
        "use `for` over a range with a known number of steps",
    )


@code("CL0202")
def break_statement(span: Span) -> Diagnostic:
    return error(
        "`break` is not supported",
        span,
        "",
        "keep a flag and leave the state as it is once it is set",
    )


@code("CL0203")
def continue_statement(span: Span) -> Diagnostic:
    return error(
        "`continue` is not supported",
        span,
        "",
        "put the rest of the loop's body into an `if`",
    )


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


@code("CL0206")
def async_for(span: Span) -> Diagnostic:
    return error(
        "`async for` is not supported",
        span,
        "",
        "use a plain `for`",
    )


@code("CL0207")
def match_statement(span: Span) -> Diagnostic:
    return error(
        "`match` is not supported",
        span,
        "",
        "use `if` and `elif`",
    )


@code("CL0208")
def raise_statement(span: Span) -> Diagnostic:
    return error(
        "`raise` is not supported",
        span,
        "",
        "test for the case before calling the function",
    )


@code("CL0209")
def assert_statement(span: Span) -> Diagnostic:
    return error(
        "`assert` is not supported",
        span,
        "",
        "test for the case before calling the function",
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
def outer_variable(span: Span) -> Diagnostic:
    return error(
        "`global` is not supported",
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


@code("CL0213")
def nested_function(span: Span) -> Diagnostic:
    return error(
        "a function inside a function is not supported",
        span,
        "",
        "define it outside and jit it",
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
def unused_expression(span: Span) -> Diagnostic:
    return error(
        "an unused expression is not supported",
        span,
        "",
        "assign its value or remove it",
    )


@code("CL0217")
def lambda_expression(span: Span) -> Diagnostic:
    return error(
        "`lambda` is not supported",
        span,
        "",
        "define a function with `def` and jit it",
    )


@code("CL0218")
def walrus(span: Span) -> Diagnostic:
    return error(
        "`:=` is not supported",
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


@code("CL0220")
def list_display(span: Span) -> Diagnostic:
    return error(
        "a list of single elements is not supported",
        span,
        "",
        "use a tuple, or a comprehension",
    )


@code("CL0221")
def dictionary(span: Span) -> Diagnostic:
    return error(
        "a dictionary is not supported",
        span,
        "",
        "use tuples, and arrays made by comprehensions",
    )


@code("CL0222")
def set_of_values(span: Span) -> Diagnostic:
    return error(
        "a set is not supported",
        span,
        "",
        "use tuples, and arrays made by comprehensions",
    )


@code("CL0223")
def await_expression(span: Span) -> Diagnostic:
    return error(
        "`await` is not supported",
        span,
        "",
        "move it outside the compiled function",
    )


@code("CL0224")
def yield_expression(span: Span) -> Diagnostic:
    return error(
        "`yield` is not supported",
        span,
        "",
        "return an array",
    )


@code("CL0225")
def printing(span: Span) -> Diagnostic:
    return error(
        "`print` is not supported",
        span,
        "compiled code has no output",
        "return the value and print it outside",
    )


@code("CL0226")
def loop_else(span: Span) -> Diagnostic:
    return error(
        "`else` after a loop is not supported",
        span,
        "",
        "write its statements after the loop",
    )


@code("CL0227")
def starred(span: Span) -> Diagnostic:
    return error(
        "unpacking with `*` is not supported",
        span,
        "",
        "write the components one by one",
    )


@code("CL0228")
def unsupported_operator(span: Span, operator: str, help: str) -> Diagnostic:
    return error(f"the operator `{operator}` is not supported", span, "", help)


@code("CL0229")
def unsupported_constant(span: Span, kind: str) -> Diagnostic:
    return error(
        f"{kind} is not supported",
        span,
        "",
        "the language has floats, 64-bit integers, booleans, tuples and arrays",
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
    ast.While: while_loop,
    ast.Break: break_statement,
    ast.Continue: continue_statement,
    ast.Try: try_statement,
    ast.TryStar: try_statement,
    ast.With: with_statement,
    ast.AsyncWith: with_statement,
    ast.AsyncFor: async_for,
    ast.Match: match_statement,
    ast.Raise: raise_statement,
    ast.Assert: assert_statement,
    ast.Delete: delete,
    ast.Global: outer_variable,
    ast.Nonlocal: outer_variable,
    ast.Import: import_statement,
    ast.ImportFrom: import_statement,
    ast.FunctionDef: nested_function,
    ast.AsyncFunctionDef: nested_async_function,
    ast.ClassDef: nested_class,
    ast.Expr: unused_expression,
    ast.Lambda: lambda_expression,
    ast.NamedExpr: walrus,
    ast.JoinedStr: formatted_string,
    ast.FormattedValue: formatted_string,
    ast.List: list_display,
    ast.Dict: dictionary,
    ast.DictComp: dictionary,
    ast.Set: set_of_values,
    ast.SetComp: set_of_values,
    ast.Await: await_expression,
    ast.Yield: yield_expression,
    ast.YieldFrom: yield_expression,
}


def unsupported(span: Span, node: ast.AST) -> CompileError:
    """The error of a node that the language does not know."""
    rule = SYNTAX.get(type(node))
    return rule(span) if rule is not None else other_syntax(span, type(node).__name__)
