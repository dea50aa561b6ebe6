"""What can be wrong with the names, values and types in a user's function.

One constructor for each rule, as in `errors.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.diagnostic import CompileError, Span
from chadllvm.frontend.errors import error
from chadllvm.ir.types import Type

# ---- names and values ------------------------------------------------------------


def unknown_name(span: Span, name: str) -> CompileError:
    return error(
        "unknown name",
        span,
        f"`{name}` is not defined",
        "check the spelling, or import or define it before the function is compiled",
    )


def unknown_attribute(span: Span, owner: str, name: str) -> CompileError:
    return error(
        "unknown attribute",
        span,
        f"{owner} has no attribute `{name}`",
        "arrays have `shape`, `ndim`, `size` and `T`; modules what they define",
    )


def not_a_value(span: Span, name: str, kind: str) -> CompileError:
    return error(
        "not a value",
        span,
        f"`{name}` is {kind}",
        "only numbers, NumPy arrays of float64, int64 or bool, and tuples of these "
        "can be used from outside the function",
    )


def function_as_value(span: Span, name: str) -> CompileError:
    return error(
        "a function is not a value here",
        span,
        f"`{name}` is a function",
        "call it; functions can be neither stored nor passed on",
    )


def unsupported_dtype(span: Span, name: str, dtype: object) -> CompileError:
    return error(
        "unsupported dtype",
        span,
        f"`{name}` holds {dtype}",
        "convert it with `.astype(np.float64)` before",
    )


def large_integer(span: Span) -> CompileError:
    return error(
        "integer out of range",
        span,
        "this does not fit into 64 bits",
        "write it as a float",
    )


def unsupported_constant(span: Span, kind: str) -> CompileError:
    return error(
        f"{kind} is not supported",
        span,
        "",
        "the language has floats, 64-bit integers, booleans, tuples and arrays",
    )


# ---- operators, indices, tuples --------------------------------------------------


def elementwise(span: Span, what: str, ty: Type) -> CompileError:
    return error(
        "elementwise operation on an array",
        span,
        f"{what} takes numbers, found {ty}",
        "write a comprehension, as in `[x[i] + y[i] for i in range(len(x))]`",
    )


def not_a_number(span: Span, what: str, ty: Type) -> CompileError:
    return error(
        "a number is needed",
        span,
        f"{what} takes numbers, found {ty}",
        "use the components of the tuple",
    )


def not_a_condition(span: Span, ty: Type) -> CompileError:
    return error(
        "a condition is needed",
        span,
        f"{ty} is neither true nor false",
        "compare numbers, as in `x[0] > 0.0` or `len(x) > 0`",
    )


def unsupported_operator(span: Span, operator: str, help: str) -> CompileError:
    return error(f"the operator `{operator}` is not supported", span, "", help)


def not_an_index(span: Span, ty: Type) -> CompileError:
    return error(
        "an index must be an integer",
        span,
        f"this is {ty}",
        "convert it with `int(...)`",
    )


def not_indexable(span: Span, ty: Type) -> CompileError:
    return error(
        "not indexable",
        span,
        f"this is {ty}, which has no elements",
        "only arrays and tuples can be indexed",
    )


def too_many_indices(span: Span, count: int, ty: Type) -> CompileError:
    return error(
        "too many indices",
        span,
        f"{count} indices into {ty}",
        "use at most one index per dimension",
    )


def slice_index(span: Span) -> CompileError:
    return error(
        "slices are not supported",
        span,
        "",
        "write a comprehension, as in `[x[i] for i in range(1, n)]`",
    )


def dynamic_tuple_index(span: Span) -> CompileError:
    return error(
        "a tuple's index must be a constant",
        span,
        "its value is not known when the program is compiled",
        "use an integer literal, or an array instead of the tuple",
    )


def tuple_index_range(span: Span, index: int, size: int) -> CompileError:
    return error(
        "tuple index out of range",
        span,
        f"index {index} into a tuple of {size}",
        f"use an index from {-size} to {size - 1}" if size else "it has no components",
    )


def not_unpackable(span: Span, ty: Type) -> CompileError:
    return error(
        "not a tuple",
        span,
        f"{ty} cannot be unpacked",
        "only tuples can; read the elements of an array one by one",
    )


def wrong_unpacking(span: Span, names: int, size: int) -> CompileError:
    return error(
        "wrong number of names",
        span,
        f"a tuple of {size} is unpacked into {names}",
        f"write {size} names",
    )


def chained_unpacking(span: Span) -> CompileError:
    return error(
        "one value is unpacked twice",
        span,
        "no name holds the value itself",
        "assign the value to a name first",
    )


def element_update(span: Span) -> CompileError:
    return error(
        "this cannot be assigned to",
        span,
        "",
        "assign to a variable, or to an element of one, as in `a[i] = v`",
    )


def not_updatable(span: Span, ty: Type) -> CompileError:
    return error(
        f"an element of a value of type {ty} cannot be assigned",
        span,
        "this is no array",
        "make a new value instead",
    )


def fixed_update(span: Span, name: str, what: str) -> CompileError:
    return error(
        f"`{name}` cannot be updated: it is {what}",
        span,
        "",
        "update a copy, as in `y = x.copy()`",
    )


def shared_update(span: Span, name: str, read: Span) -> CompileError:
    return error(
        "another name of this array is read afterwards",
        span,
        f"`{name}` is updated here",
        "copy the array first, as in `y = x.copy()`",
        f"in Python, what is read at {read} would change as well",
    )


def wrong_element(span: Span, expected: Type, found: Type) -> CompileError:
    return error(
        "a value of another type is put into an array",
        span,
        f"this holds {expected}, the value is {found}",
        "convert the value, or make the array with elements of its type",
    )


def attribute_update(span: Span) -> CompileError:
    return error(
        "attributes cannot be assigned",
        span,
        "",
        "use a variable; a record is changed by a copy, as in `p = p._replace(x=1.0)`",
    )


def starred(span: Span) -> CompileError:
    return error(
        "unpacking with `*` is not supported",
        span,
        "",
        "write the components one by one",
    )


# ---- loops, comprehensions, calls ------------------------------------------------


def not_iterable(span: Span, ty: Type) -> CompileError:
    return error(
        "not iterable",
        span,
        f"this is {ty}",
        "loop over `range(...)`, an array, `enumerate(...)`, `zip(...)` or "
        "`reversed(...)`",
    )


def zero_step(span: Span) -> CompileError:
    return error(
        "the step of a range is zero",
        span,
        "",
        "use a step other than 0",
    )


def loop_else(span: Span) -> CompileError:
    return error(
        "`else` after a loop is not supported",
        span,
        "",
        "write its statements after the loop",
    )


def comprehension_condition(span: Span) -> CompileError:
    return error(
        "`if` in a comprehension is not supported",
        span,
        "the length of the result would depend on the data",
        "in a sum, add 0.0 where the condition fails: `sum(x if x > 0.0 else 0.0 ...)`",
    )


def two_for_clauses(span: Span) -> CompileError:
    return error(
        "two `for` clauses in a comprehension",
        span,
        "this is the second one",
        "nest the comprehensions, as in `[[f(i, j) for j in range(m)] for i in "
        "range(n)]` or `sum(sum(...) for ...)`",
    )


def bare_generator(span: Span) -> CompileError:
    return error(
        "a generator is not a value",
        span,
        "it may stand only as the argument of `sum`, `min` or `max`",
        "write a list comprehension",
    )


def not_summable(span: Span, what: str, ty: Type) -> CompileError:
    return error(
        f"`{what}` of elements that are not numbers",
        span,
        f"the elements are {ty}",
        "reduce each component or row by itself",
    )


def not_callable(span: Span, name: str) -> CompileError:
    return error(
        "not a function",
        span,
        f"`{name}` cannot be called",
        "call built-in functions, functions of `math` and NumPy, or jitted functions",
    )


def unknown_function(span: Span, name: str) -> CompileError:
    return error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        "there are the functions of calculus (`docs/language.md` lists them), abs, "
        "round, pow, sum, min, max and len",
    )


def not_jitted(span: Span, name: str) -> CompileError:
    return error(
        "call of a function that is not compiled",
        span,
        f"`{name}` is a plain Python function",
        f"decorate `{name}` with `jit`",
    )


def array_method(span: Span, name: str) -> CompileError:
    return error(
        "methods are not supported",
        span,
        f"`.{name}(...)` is a method",
        "use `sum`, `min`, `max` and comprehensions",
    )


def wrong_argument_count(span: Span, name: str, expected: str) -> CompileError:
    return error(
        "wrong number of arguments",
        span,
        f"`{name}` takes {expected}",
        "pass exactly that many",
    )


def unexpected_keyword(span: Span, name: str, keyword: str) -> CompileError:
    return error(
        "unexpected keyword argument",
        span,
        f"`{name}` does not take `{keyword}` by name",
        "pass it by position, or leave it out",
    )


def repeated_argument(span: Span, name: str, parameter: str) -> CompileError:
    return error(
        "argument given twice",
        span,
        f"`{parameter}` of `{name}` has a value already",
        "remove one of the two",
    )


def missing_argument(span: Span, name: str, parameter: str) -> CompileError:
    return error(
        "missing argument",
        span,
        f"`{name}` needs a value for `{parameter}`",
        f"pass `{parameter}`",
    )


def wrong_argument(
    span: Span, name: str, parameter: str, found: Type, declared: object
) -> CompileError:
    return error(
        "wrong argument type",
        span,
        f"`{parameter}` of `{name}` is {declared}, found {found}",
        "convert the argument or change the annotation",
    )


def wrong_operand(span: Span, name: str, expected: str, found: Type) -> CompileError:
    return error(
        "wrong argument type",
        span,
        f"`{name}` takes {expected}, found {found}",
        f"pass {expected}",
    )


def recursion(span: Span, name: str, chain: Sequence[str]) -> CompileError:
    return error(
        "recursion is not supported",
        span,
        f"`{name}` is being compiled already",
        "write it as a loop",
        "the calls are " + " → ".join([*chain, name]),
    )
