"""What can be wrong with whole arrays: one constructor for each rule."""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.diagnostic import CompileError, Span
from chadllvm.frontend.errors import error
from chadllvm.ir.types import Type


def not_constant(span: Span) -> CompileError:
    return error(
        "this must be a constant",
        span,
        "its value must be known when the program is compiled",
        "write it as a literal",
    )


def axis_range(span: Span, axis: int, rank: int) -> CompileError:
    plural = "" if rank == 1 else "s"
    return error(
        "axis out of range",
        span,
        f"axis {axis} of an array of {rank} dimension{plural}",
        f"use an axis from {-rank} to {rank - 1}",
    )


def repeated_axis(span: Span) -> CompileError:
    return error("an axis is named twice", span, "", "name each axis once")


def unsupported_dtype(span: Span, found: str) -> CompileError:
    return error(
        "unsupported dtype",
        span,
        f"`{found}` is not a type of elements here",
        "use float, int or bool, or leave it out",
    )


def unknown_option(
    span: Span, name: str, option: str, known: Iterable[str]
) -> CompileError:
    return error(
        "unsupported argument",
        span,
        f"`{name}` does not take `{option}` here",
        "leave it out; there are " + ", ".join(known),
    )


def not_an_array_function(span: Span, name: str, ty: Type) -> CompileError:
    return error(
        "a number is needed",
        span,
        f"`{name}` takes numbers, found {ty}",
        "use the function of the same name in NumPy, which takes arrays",
    )


def ambiguous_truth(span: Span, ty: Type) -> CompileError:
    return error(
        "the truth of a whole array",
        span,
        f"{ty} is neither true nor false",
        "use `np.any(...)` or `np.all(...)`, or `&`, `|` and `~` element by element",
    )


def boolean_arithmetic(span: Span, first: Type, second: Type) -> CompileError:
    return error(
        "arithmetic on booleans",
        span,
        f"NumPy does not compute numbers of {first} and {second}",
        "use `&`, `|`, `^` and `~`, or multiply with a number first",
    )


def list_arithmetic(span: Span) -> CompileError:
    return error(
        "arithmetic on lists",
        span,
        "in Python this would join lists, or repeat one",
        "make the comprehension an array, as in `np.array([...])`",
    )


def augmented_array(span: Span, ty: Type) -> CompileError:
    return error(
        "an array is updated as a whole",
        span,
        f"this would change the {ty} itself, wherever it is used",
        "make a new array, as in `x = x + y`",
    )


def no_method(span: Span, ty: Type, name: str, known: Iterable[str]) -> CompileError:
    return error(
        "unknown method",
        span,
        f"{ty} has no method `{name}` here",
        "there are " + ", ".join(known),
    )


def unknown_array_function(span: Span, name: str, known: Iterable[str]) -> CompileError:
    return error(
        "unknown function",
        span,
        f"`{name}` has no meaning in compiled code",
        "of NumPy's functions there are " + ", ".join(known),
    )


def separated_indices(span: Span) -> CompileError:
    return error(
        "index arrays with a slice between them",
        span,
        "NumPy would move their dimensions to the front",
        "index in two steps, or write a comprehension",
    )


def mask_rank(span: Span, rank: int, left: int) -> CompileError:
    return error(
        "too many indices",
        span,
        f"a mask of {rank} dimensions for {left} that are left",
        "use a mask of the array's own shape, or of its first dimensions",
    )


def different_ranks(span: Span, name: str, ranks: Iterable[int]) -> CompileError:
    return error(
        "arrays of different ranks",
        span,
        f"`{name}` takes arrays of one rank, found "
        + " and ".join(map(str, sorted(set(ranks)))),
        "add a dimension with `None` as in `x[None, :]`",
    )


def wrong_rank(span: Span, name: str, expected: str, ty: Type) -> CompileError:
    return error(
        "wrong number of dimensions",
        span,
        f"`{name}` takes {expected}, found {ty}",
        "index, slice or reshape the array first",
    )


def not_arrays(span: Span, name: str) -> CompileError:
    return error(
        "a tuple of arrays is needed",
        span,
        f"`{name}` joins the arrays of a tuple",
        "write the arrays one by one, as in `(x, y)`",
    )


def two_unknown_sizes(span: Span) -> CompileError:
    return error(
        "two sizes are left open",
        span,
        "only one of them can be -1",
        "say all sizes but one",
    )


def not_squeezable(span: Span) -> CompileError:
    return error(
        "which dimensions go away must be known",
        span,
        "the sizes are not known when the program is compiled",
        "name the axis, as in `np.squeeze(x, axis=0)`",
    )


def function_needed(span: Span, name: str, arity: int) -> CompileError:
    plural = "" if arity == 1 else "s"
    return error(
        "a function is needed",
        span,
        f"`{name}` takes a function of {arity} argument{plural} here",
        "pass a jitted function, a `lambda`, or one of the functions of NumPy",
    )


def changed_type(span: Span, name: str, before: Type, after: Type) -> CompileError:
    return error(
        "the function changes the type",
        span,
        f"`{name}` combines {before} to {after}",
        "let it return what it takes, for example floats for floats",
    )


def no_first_state(span: Span, ty: Type) -> CompileError:
    return error(
        "running results of arrays",
        span,
        f"nothing says how large the {ty} are if there are none",
        "pass the first one, as in `accumulate(x, f, initial=start)`",
    )


def bare_iterator(span: Span, name: str) -> CompileError:
    return error(
        "an iterator is not a value",
        span,
        f"`{name}(...)` can be run over only",
        f"write `list({name}(...))`, or loop over it",
    )


def second_ellipsis(span: Span) -> CompileError:
    return error(
        "a second `...`", span, "", "write `:` for each dimension that is meant"
    )


def mixed_elements(span: Span) -> CompileError:
    return error(
        "elements of different shapes or types",
        span,
        "the elements of an array are all numbers, or all arrays of one rank",
        "make them of one kind",
    )


def empty_array(span: Span) -> CompileError:
    return error(
        "an array of no elements",
        span,
        "nothing says what its elements would be",
        "use `np.zeros(0)`",
    )
