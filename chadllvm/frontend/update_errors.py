"""What can be wrong where a variable, a part of an array or a list changes."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type


@code("CL0801")
def element_update(span: Span) -> Diagnostic:
    return error(
        "this cannot be assigned to",
        span,
        "",
        "assign to a variable, or to an element of one, as in `a[i] = v`",
    )


@code("CL0802")
def not_updatable(span: Span, ty: Type) -> Diagnostic:
    return error(
        f"an element of a value of type {ty} cannot be assigned",
        span,
        "this is no array",
        "make a new value instead",
    )


@code("CL0803")
def fixed_update(span: Span, name: str, what: str) -> Diagnostic:
    return error(
        f"`{name}` cannot be updated: it is {what}",
        span,
        "",
        "update a copy, as in `y = x.copy()`",
    )


@code("CL0804")
def shared_update(span: Span, name: str, read: Span) -> Diagnostic:
    return error(
        "another name of this array is read afterwards",
        span,
        f"`{name}` is updated here",
        "copy the array first, as in `y = x.copy()`",
        f"in Python, what is read at {read} would change as well",
    )


@code("CL0805")
def wrong_element(span: Span, expected: Type, found: Type) -> Diagnostic:
    return error(
        "a value of another type is put into an array",
        span,
        f"this holds {expected}, the value is {found}",
        "convert the value, or make the array with elements of its type",
    )


@code("CL0806")
def attribute_update(span: Span) -> Diagnostic:
    return error(
        "attributes cannot be assigned",
        span,
        "",
        "use a variable; a record is changed by a copy, as in `p = p._replace(x=1.0)`",
    )


@code("CL0807")
def augmented_array(span: Span, ty: Type) -> Diagnostic:
    return error(
        "an array is updated as a whole",
        span,
        f"this would change the {ty} itself, wherever it is used",
        "make a new array, as in `x = x + y`",
    )


@code("CL0808")
def part_of_part(span: Span) -> Diagnostic:
    return error(
        "a part of a part is assigned",
        span,
        "only the last pair of brackets may hold a slice or an array",
        "write all indices in one pair of brackets, as in `a[1:, j]`",
    )


@code("CL0809")
def too_many_dimensions(span: Span, rank: int, found: Type) -> Diagnostic:
    plural = "" if rank == 1 else "s"
    return error(
        "more dimensions than the part assigned to",
        span,
        f"this is {found}, the part has {rank} dimension{plural}",
        "index the value, or name more of the array's dimensions",
    )


@code("CL0810")
def number_for_slice(span: Span) -> Diagnostic:
    return error(
        "a number is assigned to a slice of a list",
        span,
        "Python takes only lists and arrays there",
        "make an array of the list before, as in `a = np.array([...])`",
    )


@code("CL0811")
def list_grows(span: Span) -> Diagnostic:
    return error(
        "a list is extended",
        span,
        "in Python this would add elements, not numbers",
        "use `append` in a loop, or make an array as in `a = np.array([...])`",
    )


@code("CL0812")
def not_a_list(span: Span, name: str, method: str, found: str) -> Diagnostic:
    return error(
        "only a list grows and shrinks",
        span,
        f"`{name}.{method}` needs a list, `{name}` is {found}",
        f"begin with `{name} = []`",
    )


@code("CL0813")
def unknown_elements(span: Span, name: str) -> Diagnostic:
    return error(
        "an empty list that stays empty",
        span,
        f"nothing says what the elements of `{name}` would be",
        f"append to it, as in `{name}.append(1.0)`, or use `np.zeros(0)`",
    )


@code("CL0814")
def nested_empty_list(span: Span) -> Diagnostic:
    return error(
        "an empty list is not a value here",
        span,
        "nothing says what its elements would be",
        "give it a name first, as in `items = []`, and append to it",
    )


@code("CL0815")
def list_method_value(span: Span, method: str) -> Diagnostic:
    return error(
        f"`{method}` inside of an expression",
        span,
        "it changes the list",
        f"write `name.{method}(...)` as a statement of its own"
        if method != "pop"
        else "write `value = name.pop()` as a statement of its own",
    )


@code("CL0816")
def list_of_lists(span: Span, method: str) -> Diagnostic:
    return error(
        "a list in a list grows",
        span,
        f"`{method}` is for lists that have a name of their own",
        "keep one list, and the number of elements of each part in another",
    )


@code("CL0817")
def other_elements(span: Span, expected: Type, found: Type) -> Diagnostic:
    return error(
        "elements of different types",
        span,
        f"the list holds {expected}, this is {found}",
        "use values of one type",
    )


@code("CL0818")
def repeated_rows(span: Span) -> Diagnostic:
    return error(
        "a list of rows is repeated",
        span,
        "in Python all rows would be one and the same",
        "write a comprehension, as in `[[0.0] * m for _ in range(n)]`",
    )


@code("CL0819")
def pop_place(span: Span) -> Diagnostic:
    return error(
        "only the last element can be taken",
        span,
        "all others would have to move",
        "write `pop()` without an index",
    )


@code("CL0820")
def not_accumulable(span: Span) -> Diagnostic:
    return error(
        "only a variable can be added to",
        span,
        "`np.add.at` changes the array that its first argument names",
        "give the array a name first",
    )
