"""What can be wrong with a user's function: one constructor for each rule.

Every message has a title, a label at the place, and where something can be done about
it one sentence that says what. The syntax that is not in the language stands in the
table `UNSUPPORTED`, one row for each node of Python's grammar.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.diagnostic import CompileError, Diagnostic, Span
from chadllvm.ir.types import Type


def _error(
    title: str, span: Span, label: str = "", help: str = "", *notes: str
) -> CompileError:
    return CompileError(Diagnostic(title, span, label, help, notes))


# ---- the function itself ---------------------------------------------------------


def not_a_python_function(span: Span) -> CompileError:
    return _error(
        "not a Python function",
        span,
        f"`{span.function}` is not a function written in Python",
        "apply it to a function defined with `def`",
    )


def lambda_function(span: Span) -> CompileError:
    return _error(
        "a lambda cannot be compiled",
        span,
        "this is a lambda",
        "give the function a name with `def`",
    )


def missing_source(span: Span) -> CompileError:
    return _error(
        "the source of this function is not available",
        span,
        f"no text found for `{span.function}`",
        "define the function in a file or a notebook cell; for generated code, enter "
        "its text into `linecache.cache` under the file name given to `compile`",
    )


def changed_source(span: Span) -> CompileError:
    return _error(
        "the source of this function has changed",
        span,
        f"the text here is not the definition of `{span.function}`",
        "reload the module, so that the running code and the file agree",
    )


def async_function(span: Span) -> CompileError:
    return _error(
        "an async function cannot be compiled",
        span,
        "",
        "define it with a plain `def`",
    )


def too_deep(span: Span) -> CompileError:
    return _error(
        "this function is nested too deeply",
        span,
        "Python's recursion limit was reached here",
        "split the expression, the chain of branches or the chain of calls",
    )


def variadic_parameter(span: Span, name: str) -> CompileError:
    return _error(
        "a variable number of arguments",
        span,
        f"`{name}` stands for any number of arguments",
        "list the parameters, or pass an array or a tuple",
    )


def keyword_only_parameter(span: Span, name: str) -> CompileError:
    return _error(
        "a keyword-only parameter",
        span,
        f"`{name}` can only be passed by keyword",
        "remove the `*` from the parameter list",
    )


def unknown_annotation(span: Span, found: str) -> CompileError:
    return _error(
        "unknown type",
        span,
        f"`{found}` is not a type of the compiled language",
        "use `float`, `int`, `bool`, `f64[:]`, `i64[:, :]`, `tuple[...]` or "
        "`NDArray[np.float64]`",
    )


def broken_annotation(span: Span, reason: str) -> CompileError:
    return _error(
        "this annotation cannot be evaluated",
        span,
        reason,
        "the names in an annotation must be global where the function is defined",
    )


def wrong_return_type(span: Span, found: Type, declared: object) -> CompileError:
    return _error(
        "wrong return type",
        span,
        f"this function returns {found}, and is annotated with {declared}",
        "change the annotation or convert the value",
    )


def wrong_annotation(span: Span, found: Type, declared: object) -> CompileError:
    return _error(
        "the value does not fit its annotation",
        span,
        f"this is {found}, the annotation says {declared}",
        "change the annotation or convert the value",
    )


# ---- results and control flow -----------------------------------------------------


def returns_nothing(span: Span) -> CompileError:
    return _error(
        "returns nothing",
        span,
        "there is no value here",
        "return a number, an array or a tuple",
    )


def missing_return(span: Span, construct: str) -> CompileError:
    return _error(
        "not every path returns",
        span,
        f"this {construct} can end without a `return`",
        "end every path with a `return`",
    )


def return_in_loop(span: Span) -> CompileError:
    return _error(
        "return inside a loop",
        span,
        "the loop would end early",
        "keep the result in a variable and return it after the loop",
    )


def return_in_the_middle(span: Span) -> CompileError:
    return _error(
        "some paths through this `if` return and several go on",
        span,
        "what follows would be needed more than once",
        "let each branch return on all of its paths or on none, as in "
        "`if done: return result`",
    )


def different_returns(span: Span, then: Type, orelse: Type) -> CompileError:
    return _error(
        "the branches return different types",
        span,
        f"one branch returns {then}, the other {orelse}",
        "return the same type on every path",
    )


def different_branches(span: Span, then: Type, orelse: Type) -> CompileError:
    return _error(
        "the branches have different types",
        span,
        f"this is {then} or {orelse}",
        "make both of the same type",
    )


def missing_on_branch(span: Span, name: str, branch: str, line: int) -> CompileError:
    return _error(
        "variable defined on one branch only",
        span,
        f"`{name}` is not defined if the {branch} branch on line {line} was taken",
        f"give `{name}` a value before the `if`",
    )


def conflicting_branches(
    span: Span, name: str, then: Type, orelse: Type, line: int
) -> CompileError:
    return _error(
        "variable with two types",
        span,
        f"`{name}` is {then} after one branch on line {line} and {orelse} after the "
        "other",
        "give it the same type on both, or use two names",
    )


def only_in_loop(span: Span, name: str, line: int) -> CompileError:
    return _error(
        "variable defined in a loop only",
        span,
        f"`{name}` is not defined if the loop on line {line} runs zero times",
        f"give `{name}` a value before the loop",
    )


def changing_type(span: Span, name: str, before: Type, after: Type) -> CompileError:
    return _error(
        "variable changes its type in a loop",
        span,
        f"`{name}` is {before} before the loop and {after} after a step",
        "give it one type, or use another name inside the loop",
    )


def used_before_assignment(span: Span, name: str) -> CompileError:
    return _error(
        "variable used before it is assigned",
        span,
        f"`{name}` has no value here",
        f"assign `{name}` first; an assignment anywhere in a function makes the name "
        "local to it",
    )


# ---- names and values -------------------------------------------------------------


def unknown_name(span: Span, name: str) -> CompileError:
    return _error(
        "unknown name",
        span,
        f"`{name}` is not defined",
        "check the spelling, or import or define it before the function is compiled",
    )


def unknown_attribute(span: Span, owner: str, name: str) -> CompileError:
    return _error(
        "unknown attribute",
        span,
        f"{owner} has no attribute `{name}`",
        "arrays have `shape`, `ndim` and `size`; modules their functions and constants",
    )


def not_a_value(span: Span, name: str, kind: str) -> CompileError:
    return _error(
        "not a value",
        span,
        f"`{name}` is {kind}",
        "only numbers, NumPy arrays of float64, int64 or bool, and tuples of these "
        "can be used from outside the function",
    )


def function_as_value(span: Span, name: str) -> CompileError:
    return _error(
        "a function is not a value here",
        span,
        f"`{name}` is a function",
        "call it; functions can be neither stored nor passed on",
    )


def unsupported_dtype(span: Span, name: str, dtype: object) -> CompileError:
    return _error(
        "unsupported dtype",
        span,
        f"`{name}` holds {dtype}",
        "convert it with `.astype(np.float64)` before",
    )


def large_integer(span: Span) -> CompileError:
    return _error(
        "integer out of range",
        span,
        "this does not fit into 64 bits",
        "write it as a float",
    )


def unsupported_constant(span: Span, kind: str) -> CompileError:
    return _error(
        f"{kind} is not supported",
        span,
        "",
        "the language has floats, 64-bit integers, booleans, tuples and arrays",
    )


# ---- operators, indices, tuples ---------------------------------------------------


def elementwise(span: Span, what: str, ty: Type) -> CompileError:
    return _error(
        "elementwise operation on an array",
        span,
        f"{what} takes numbers, found {ty}",
        "write a comprehension, as in `[x[i] + y[i] for i in range(len(x))]`",
    )


def not_a_number(span: Span, what: str, ty: Type) -> CompileError:
    return _error(
        "a number is needed",
        span,
        f"{what} takes numbers, found {ty}",
        "use the components of the tuple",
    )


def not_a_condition(span: Span, ty: Type) -> CompileError:
    return _error(
        "a condition is needed",
        span,
        f"{ty} is neither true nor false",
        "compare it with something",
    )


def unsupported_operator(span: Span, operator: str, help: str) -> CompileError:
    return _error(f"the operator `{operator}` is not supported", span, "", help)


def not_an_index(span: Span, ty: Type) -> CompileError:
    return _error(
        "an index must be an integer",
        span,
        f"this is {ty}",
        "convert it with `int(...)`",
    )


def not_indexable(span: Span, ty: Type) -> CompileError:
    return _error(
        "not indexable",
        span,
        f"this is {ty}, which has no elements",
        "only arrays and tuples can be indexed",
    )


def too_many_indices(span: Span, count: int, ty: Type) -> CompileError:
    return _error(
        "too many indices",
        span,
        f"{count} indices into {ty}",
        "use at most one index per dimension",
    )


def slice_index(span: Span) -> CompileError:
    return _error(
        "slices are not supported",
        span,
        "",
        "write a comprehension, as in `[x[i] for i in range(1, n)]`",
    )


def dynamic_tuple_index(span: Span) -> CompileError:
    return _error(
        "a tuple's index must be a constant",
        span,
        "its value is not known when the program is compiled",
        "use an integer literal, or an array instead of the tuple",
    )


def tuple_index_range(span: Span, index: int, size: int) -> CompileError:
    return _error(
        "tuple index out of range",
        span,
        f"index {index} into a tuple of {size}",
        f"use an index from {-size} to {size - 1}" if size else "it has no components",
    )


def not_unpackable(span: Span, ty: Type) -> CompileError:
    return _error(
        "not a tuple",
        span,
        f"{ty} cannot be unpacked",
        "only tuples can; read the elements of an array one by one",
    )


def wrong_unpacking(span: Span, names: int, size: int) -> CompileError:
    return _error(
        "wrong number of names",
        span,
        f"a tuple of {size} is unpacked into {names}",
        f"write {size} names",
    )


def chained_unpacking(span: Span) -> CompileError:
    return _error(
        "one value is unpacked twice",
        span,
        "no name holds the value itself",
        "assign the value to a name first",
    )


def element_update(span: Span) -> CompileError:
    return _error(
        "arrays cannot be updated in place",
        span,
        "",
        "build a new array, as in `[v if j == i else x[j] for j in range(len(x))]`",
    )


def attribute_update(span: Span) -> CompileError:
    return _error(
        "attributes cannot be assigned",
        span,
        "",
        "use a variable",
    )


def starred(span: Span) -> CompileError:
    return _error(
        "unpacking with `*` is not supported",
        span,
        "",
        "write the components one by one",
    )


# ---- loops, comprehensions, calls -------------------------------------------------


def not_iterable(span: Span, ty: Type) -> CompileError:
    return _error(
        "not iterable",
        span,
        f"this is {ty}",
        "loop over `range(...)`, an array, `enumerate(...)`, `zip(...)` or "
        "`reversed(...)`",
    )


def zero_step(span: Span) -> CompileError:
    return _error(
        "the step of a range is zero",
        span,
        "",
        "use a step other than 0",
    )


def loop_else(span: Span) -> CompileError:
    return _error(
        "`else` after a loop is not supported",
        span,
        "",
        "write its statements after the loop",
    )


def comprehension_condition(span: Span) -> CompileError:
    return _error(
        "`if` in a comprehension is not supported",
        span,
        "the length of the result would depend on the data",
        "in a sum, add 0.0 where the condition fails: `sum(x if x > 0.0 else 0.0 ...)`",
    )


def two_for_clauses(span: Span) -> CompileError:
    return _error(
        "two `for` clauses in a comprehension",
        span,
        "this is the second one",
        "nest the comprehensions, as in `[[f(i, j) for j in range(m)] for i in "
        "range(n)]` or `sum(sum(...) for ...)`",
    )


def bare_generator(span: Span) -> CompileError:
    return _error(
        "a generator is not a value",
        span,
        "it may stand only as the argument of `sum`, `min` or `max`",
        "write a list comprehension",
    )


def not_summable(span: Span, what: str, ty: Type) -> CompileError:
    return _error(
        f"`{what}` of elements that are not numbers",
        span,
        f"the elements are {ty}",
        "reduce each component or row by itself",
    )


def not_callable(span: Span, name: str) -> CompileError:
    return _error(
        "not a function",
        span,
        f"`{name}` cannot be called",
        "call built-in functions, functions of `math` and NumPy, or jitted functions",
    )


def unknown_function(span: Span, name: str) -> CompileError:
    return _error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        "write it with the functions that are supported",
    )


def not_jitted(span: Span, name: str) -> CompileError:
    return _error(
        "call of a function that is not compiled",
        span,
        f"`{name}` is a plain Python function",
        f"decorate `{name}` with `jit`",
    )


def array_method(span: Span, name: str) -> CompileError:
    return _error(
        "methods are not supported",
        span,
        f"`.{name}(...)` is a method",
        "use `sum`, `min`, `max` and comprehensions",
    )


def wrong_argument_count(span: Span, name: str, expected: str) -> CompileError:
    return _error(
        "wrong number of arguments",
        span,
        f"`{name}` takes {expected}",
        "check the call",
    )


def unexpected_keyword(span: Span, name: str, keyword: str) -> CompileError:
    return _error(
        "unexpected keyword argument",
        span,
        f"`{name}` does not take `{keyword}` by name",
        "pass it by position, or leave it out",
    )


def repeated_argument(span: Span, name: str, parameter: str) -> CompileError:
    return _error(
        "argument given twice",
        span,
        f"`{parameter}` of `{name}` has a value already",
        "remove one of the two",
    )


def missing_argument(span: Span, name: str, parameter: str) -> CompileError:
    return _error(
        "missing argument",
        span,
        f"`{name}` needs a value for `{parameter}`",
        f"pass `{parameter}`",
    )


def wrong_argument(
    span: Span, name: str, parameter: str, found: Type, declared: object
) -> CompileError:
    return _error(
        "wrong argument type",
        span,
        f"`{parameter}` of `{name}` is {declared}, found {found}",
        "convert the argument or change the annotation",
    )


def wrong_operand(span: Span, name: str, expected: str, found: Type) -> CompileError:
    return _error(
        "wrong argument type",
        span,
        f"`{name}` takes {expected}, found {found}",
        "check the call",
    )


def recursion(span: Span, name: str, chain: Sequence[str]) -> CompileError:
    return _error(
        "recursion is not supported",
        span,
        f"`{name}` is being compiled already",
        "write it as a loop",
        "the calls are " + " → ".join([*chain, name]),
    )


# ---- syntax that is not in the language -------------------------------------------

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
    ast.ClassDef: ("a class", "define it outside; values are numbers and tuples"),
    ast.Expr: ("an expression whose value is not used", "assign it or remove it"),
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
    return _error(f"{what} is not supported", span, "", help)


def printing(span: Span) -> CompileError:
    return _error(
        "`print` is not supported",
        span,
        "compiled code has no output",
        "return the value and print it outside",
    )
