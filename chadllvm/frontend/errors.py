"""What can be wrong with a user's function: one constructor for each rule.

Those about names, values and types stand in `type_errors.py`.

Every message has a title, a label at the place, and where something can be done about
it one sentence that says what. The syntax that is not in the language stands in the
table `UNSUPPORTED`, one row for each node of Python's grammar.
"""

from __future__ import annotations

import ast

from chadllvm.diagnostic import CompileError, Diagnostic, Span
from chadllvm.ir.types import Type


def error(
    title: str, span: Span, label: str = "", help: str = "", *notes: str
) -> CompileError:
    """The error of one rule."""
    return CompileError(Diagnostic(title, span, label, help, notes))


# ---- the function itself ---------------------------------------------------------


def not_a_python_function(span: Span) -> CompileError:
    return error(
        "not a Python function",
        span,
        f"`{span.function}` is not a function written in Python",
        "apply it to a function defined with `def`",
    )


def lambda_function(span: Span) -> CompileError:
    return error(
        "a lambda cannot be compiled",
        span,
        "this is a lambda",
        "give the function a name with `def`",
    )


def missing_source(span: Span) -> CompileError:
    return error(
        "the source of this function is not available",
        span,
        f"no text found for `{span.function}`",
        "define the function in a file or a notebook cell; for generated code, enter "
        "its text into `linecache.cache` under the file name given to `compile`",
    )


def changed_source(span: Span) -> CompileError:
    return error(
        "the source of this function has changed",
        span,
        f"the text here is not the definition of `{span.function}`",
        "reload the module, so that the running code and the file agree",
    )


def async_function(span: Span) -> CompileError:
    return error(
        "an async function cannot be compiled",
        span,
        "",
        "define it with a plain `def`",
    )


def too_deep(span: Span) -> CompileError:
    return error(
        "this function is nested too deeply",
        span,
        "Python's recursion limit was reached here",
        "split the expression, the chain of branches or the chain of calls",
    )


def variadic_parameter(span: Span, name: str) -> CompileError:
    return error(
        "a variable number of arguments",
        span,
        f"`{name}` stands for any number of arguments",
        "list the parameters, or pass an array or a tuple",
    )


def no_value_by_default(span: Span, name: str) -> CompileError:
    return error(
        "a parameter that is `None` by default",
        span,
        f"`{name}` has no type then",
        "name it in `static_argnames`, or give it a number, a tuple or a record",
    )


def bad_record(span: Span, reason: str) -> CompileError:
    return error(
        "a class that cannot be a record",
        span,
        reason,
        "a record is a `NamedTuple` or a frozen dataclass with fields of known types, "
        "which do not contain the record itself",
    )


def unknown_annotation(span: Span, found: str) -> CompileError:
    return error(
        "unknown type",
        span,
        f"`{found}` is not a type of the compiled language",
        "use `float`, `int`, `bool`, `f64[:]`, `i64[:, :]`, `tuple[...]` or "
        "`NDArray[np.float64]`",
    )


def broken_annotation(span: Span, reason: str) -> CompileError:
    return error(
        "this annotation cannot be evaluated",
        span,
        reason,
        "the names in an annotation must be global where the function is defined",
    )


def wrong_return_type(span: Span, found: Type, declared: object) -> CompileError:
    return error(
        "wrong return type",
        span,
        f"this function returns {found}, and is annotated with {declared}",
        "change the annotation or convert the value",
    )


def wrong_annotation(span: Span, found: Type, declared: object) -> CompileError:
    return error(
        "the value does not fit its annotation",
        span,
        f"this is {found}, the annotation says {declared}",
        "change the annotation or convert the value",
    )


# ---- results and control flow ----------------------------------------------------


def returns_nothing(span: Span) -> CompileError:
    return error(
        "returns nothing",
        span,
        "there is no value here",
        "return a number, an array or a tuple",
    )


def missing_return(span: Span, construct: str) -> CompileError:
    return error(
        "not every path returns",
        span,
        f"this {construct} can end without a `return`",
        "end every path with a `return`",
    )


def return_in_loop(span: Span) -> CompileError:
    return error(
        "return inside a loop",
        span,
        "the loop would end early",
        "keep the result in a variable and return it after the loop",
    )


def return_in_the_middle(span: Span) -> CompileError:
    return error(
        "some paths through this `if` return and several go on",
        span,
        "what follows would be needed more than once",
        "let each branch return on all of its paths or on none, as in "
        "`if done: return result`",
    )


def different_returns(span: Span, then: Type, orelse: Type) -> CompileError:
    return error(
        "the branches return different types",
        span,
        f"one branch returns {then}, the other {orelse}",
        "return the same type on every path",
    )


def different_branches(span: Span, then: Type, orelse: Type) -> CompileError:
    return error(
        "the branches have different types",
        span,
        f"this is {then} or {orelse}",
        "make both of the same type",
    )


def missing_on_branch(span: Span, name: str, branch: str, line: int) -> CompileError:
    return error(
        "variable defined on one branch only",
        span,
        f"`{name}` is not defined if the {branch} branch on line {line} was taken",
        f"give `{name}` a value before the `if`",
    )


def conflicting_branches(
    span: Span, name: str, then: Type, orelse: Type, line: int
) -> CompileError:
    return error(
        "variable with two types",
        span,
        f"`{name}` is {then} after one branch on line {line} and {orelse} after the "
        "other",
        "give it the same type on both, or use two names",
    )


def only_in_loop(span: Span, name: str, line: int) -> CompileError:
    return error(
        "variable defined in a loop only",
        span,
        f"`{name}` is not defined if the loop on line {line} runs zero times",
        f"give `{name}` a value before the loop",
    )


def changing_type(span: Span, name: str, before: Type, after: Type) -> CompileError:
    return error(
        "variable changes its type in a loop",
        span,
        f"`{name}` is {before} before the loop and {after} after a step",
        "give it one type, or use another name inside the loop",
    )


def used_before_assignment(span: Span, name: str) -> CompileError:
    return error(
        "variable used before it is assigned",
        span,
        f"`{name}` has no value here",
        f"assign `{name}` first; an assignment anywhere in a function makes the name "
        "local to it",
    )


# ---- syntax that is not in the language ------------------------------------------

_VALUE_HELP = "use tuples, and arrays made by comprehensions"

# Node of the grammar: what it is, and what to write instead.
UNSUPPORTED: dict[type[ast.AST], tuple[str, str]] = {
    ast.While: ("`while`", "use `for` over a range with a known number of steps"),
    ast.Break: ("`break`", "keep a flag and leave the state as it is once it is set"),
    ast.Continue: ("`continue`", "put the rest of the loop's body into an `if`"),
    ast.Try: ("`try`", "test for the case beforehand with `if`"),
    ast.TryStar: ("`try`", "test for the case beforehand with `if`"),
    ast.With: ("`with`", "move it outside the compiled function"),
    ast.AsyncWith: ("`async with`", "move it outside the compiled function"),
    ast.AsyncFor: ("`async for`", "use a plain `for`"),
    ast.Match: ("`match`", "use `if` and `elif`"),
    ast.Raise: ("`raise`", "test for the case before calling the function"),
    ast.Assert: ("`assert`", "test for the case before calling the function"),
    ast.Delete: ("`del`", "variables end with the function"),
    ast.Global: ("`global`", "pass the value as an argument and return the new one"),
    ast.Nonlocal: (
        "`nonlocal`",
        "pass the value as an argument and return the new one",
    ),
    ast.Import: ("`import`", "import the module outside the function"),
    ast.ImportFrom: ("`import`", "import the module outside the function"),
    ast.FunctionDef: ("a function inside a function", "define it outside and jit it"),
    ast.AsyncFunctionDef: ("an async function", "define a plain one outside"),
    ast.ClassDef: ("a class", "define it outside; values are numbers and records"),
    ast.Expr: ("an unused expression", "assign its value or remove it"),
    ast.Lambda: ("`lambda`", "define a function with `def` and jit it"),
    ast.NamedExpr: ("`:=`", "assign the variable in a statement of its own"),
    ast.JoinedStr: ("a string", "the language has numbers, tuples and arrays"),
    ast.FormattedValue: ("a string", "the language has numbers, tuples and arrays"),
    ast.List: ("a list of single elements", "use a tuple, or a comprehension"),
    ast.Dict: ("a dictionary", _VALUE_HELP),
    ast.Set: ("a set", _VALUE_HELP),
    ast.DictComp: ("a dictionary", _VALUE_HELP),
    ast.SetComp: ("a set", _VALUE_HELP),
    ast.Await: ("`await`", "move it outside the compiled function"),
    ast.Yield: ("`yield`", "return an array"),
    ast.YieldFrom: ("`yield from`", "return an array"),
}


def unsupported(span: Span, node: ast.AST) -> CompileError:
    what, help = UNSUPPORTED.get(type(node), (f"`{type(node).__name__}`", "rewrite it"))
    return error(f"{what} is not supported", span, "", help)


def printing(span: Span) -> CompileError:
    return error(
        "`print` is not supported",
        span,
        "compiled code has no output",
        "return the value and print it outside",
    )
