"""What can be wrong where a part of an array is assigned, or a list grows."""

from __future__ import annotations

from chadllvm.diagnostic import CompileError, Span
from chadllvm.frontend.errors import error
from chadllvm.ir.types import Type


def part_of_part(span: Span) -> CompileError:
    return error(
        "a part of a part is assigned",
        span,
        "only the last pair of brackets may hold a slice or an array",
        "write all indices in one pair of brackets, as in `a[1:, j]`",
    )


def too_many_dimensions(span: Span, rank: int, found: Type) -> CompileError:
    plural = "" if rank == 1 else "s"
    return error(
        "more dimensions than the part assigned to",
        span,
        f"this is {found}, the part has {rank} dimension{plural}",
        "index the value, or name more of the array's dimensions",
    )


def number_for_slice(span: Span) -> CompileError:
    return error(
        "a number is assigned to a slice of a list",
        span,
        "Python takes only lists and arrays there",
        "make an array of the list before, as in `a = np.array([...])`",
    )


def list_grows(span: Span) -> CompileError:
    return error(
        "a list is extended",
        span,
        "in Python this would add elements, not numbers",
        "use `append` in a loop, or make an array as in `a = np.array([...])`",
    )


def not_a_list(span: Span, name: str, method: str, found: str) -> CompileError:
    return error(
        "only a list grows and shrinks",
        span,
        f"`{name}.{method}` needs a list, `{name}` is {found}",
        f"begin with `{name} = []`",
    )


def unknown_elements(span: Span, name: str) -> CompileError:
    return error(
        "an empty list that stays empty",
        span,
        f"nothing says what the elements of `{name}` would be",
        f"append to it, as in `{name}.append(1.0)`, or use `np.zeros(0)`",
    )


def nested_empty_list(span: Span) -> CompileError:
    return error(
        "an empty list is not a value here",
        span,
        "nothing says what its elements would be",
        "give it a name first, as in `items = []`, and append to it",
    )


def list_method_value(span: Span, method: str) -> CompileError:
    return error(
        f"`{method}` inside of an expression",
        span,
        "it changes the list",
        f"write `name.{method}(...)` as a statement of its own"
        if method != "pop"
        else "write `value = name.pop()` as a statement of its own",
    )


def list_of_lists(span: Span, method: str) -> CompileError:
    return error(
        "a list in a list grows",
        span,
        f"`{method}` is for lists that have a name of their own",
        "keep one list, and the number of elements of each part in another",
    )


def other_elements(span: Span, expected: Type, found: Type) -> CompileError:
    return error(
        "elements of different types",
        span,
        f"the list holds {expected}, this is {found}",
        "use values of one type",
    )


def repeated_rows(span: Span) -> CompileError:
    return error(
        "a list of rows is repeated",
        span,
        "in Python all rows would be one and the same",
        "write a comprehension, as in `[[0.0] * m for _ in range(n)]`",
    )


def unknown_norm(span: Span) -> CompileError:
    return error(
        "unsupported norm",
        span,
        "this order is not known here",
        'of vectors there are the orders 1, 2 and `np.inf`, of matrices "fro"',
    )


def factor_and_flag(span: Span) -> CompileError:
    return error(
        "a factor and which triangle it is",
        span,
        "`cho_solve` takes a pair here whose second part is known",
        "write the pair out, as in `cho_solve((c, True), b)`",
    )


def pop_place(span: Span) -> CompileError:
    return error(
        "only the last element can be taken",
        span,
        "all others would have to move",
        "write `pop()` without an index",
    )


def not_accumulable(span: Span) -> CompileError:
    return error(
        "only a variable can be added to",
        span,
        "`np.add.at` changes the array that its first argument names",
        "give the array a name first",
    )
