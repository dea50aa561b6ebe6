"""What can be wrong with updates, and with lists."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Sequence

from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.types import Product, Type
from chadllvm.ir.wording import said
from chadllvm.support.codes import code, error
from chadllvm.support.diagnostic import Diagnostic, Span

# The methods of lists and arrays that change them.
CHANGING = ("append", "extend", "insert", "pop", "fill", "sort", "reverse")


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
        f"an element of a value of type {said(ty)} cannot be assigned",
        span,
        "this is no array",
        _new_value(ty),
    )


@code("CL0803")
def fixed_update(
    span: Span, name: str, what: str, *, is_row: bool = False
) -> Diagnostic:
    """`is_row`: not the list is that, but an array in it."""
    reason = f"an array in it is {what}" if is_row else f"it is {what}"
    copy = "y = np.array(x)" if is_row else "y = x.copy()"
    return error(
        f"{_updated(span, name)} cannot be updated: {reason}",
        span,
        "",
        f"update a copy, as in `{copy}`",
    )


@code("CL0804")
def shared_update(span: Span, name: str, read: Span) -> Diagnostic:
    return error(
        "another name of this array is read afterwards",
        span,
        f"{_updated(span, name)} is updated here",
        "copy the array first, as in `y = x.copy()`",
        f"in Python, what is read at {read} would change as well",
    )


@code("CL0805")
def wrong_element(span: Span, expected: Type, found: Type) -> Diagnostic:
    return error(
        "a value of another type is put into an array",
        span,
        f"this holds {said(expected)}, the value is {said(found)}",
        "convert the value, or make the array with elements of its type",
    )


@code("CL0806")
def attribute_update(span: Span) -> Diagnostic:
    return error(
        "attributes cannot be assigned",
        span,
        "",
        "use a variable; a record is changed by a copy, as in `p = p._replace(x=1.0)`, "
        "and an object outside of compiled functions, by what they return",
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
        f"this is {said(found)}, the part has {rank} dimension{plural}",
        "index the value, or name more of the array's dimensions",
    )


@code("CL0820")
def not_accumulable(span: Span) -> Diagnostic:
    return error(
        "only a variable can be added to",
        span,
        "`np.add.at` changes the array that its first argument names",
        "give the array a name first",
    )


@code("CL0821")
def not_lendable(span: Span) -> Diagnostic:
    return error(
        "the function that is called cannot update this",
        span,
        "neither what has a name nor a part of an array that has one",
        "give it a variable, or a part of one, as in `fill(a[1:])`",
    )


@code("CL0822")
def updating_value(span: Span, function: str, names: Sequence[str]) -> Diagnostic:
    listed = " and ".join(f"`{name}`" for name in names)
    return error(
        f"`{function}` updates {listed}, and is called inside of an expression",
        span,
        "",
        "call it in a statement, and give its result a name, as in `y = f(x)`",
    )


@code("CL0823")
def moving_part(span: Span) -> Diagnostic:
    return error(
        "the indices of this part are updated by the call",
        span,
        "",
        "give them names in front of the call, as in `k = places[0]`",
    )


@code("CL0824")
def argument_grows(span: Span, name: str) -> Diagnostic:
    return error(
        f"the size of `{name}` cannot change: it is an argument",
        span,
        "",
        "return a new list",
    )


@code("CL0825")
def told_to_update(span: Span, name: str, is_bound: bool) -> Diagnostic:
    why = "it is assigned another value" if is_bound else "it is no array of numbers"
    return error(
        f"`{name}` cannot be updated for the caller: {why}",
        span,
        "",
        f"assign to its elements, as in `{name}[:] = …`"
        if is_bound
        else "name arrays of numbers in `updates`",
    )


def _updated(span: Span, name: str) -> str:
    """The array that is updated at a place, as its line calls it.

    `name` is that of a variable: it may be one that no line of the user's has.
    """
    line = linecache.getline(span.file, span.line).strip()
    try:
        parts = [*ast.walk(ast.parse(line))]
    except SyntaxError:  # A statement of several lines begins with what it updates.
        return f"`{name}`" if re.match(rf"{re.escape(name)}\b", line) else "an array"
    found = {n for part in parts for n in _updates(part)}
    if name in found or name in {n for part in parts for n in _given(part)}:
        return f"`{name}`"
    return f"`{found.pop()}`" if len(found) == 1 else "an array"


def _given(node: ast.AST) -> list[str]:
    """The names of the arrays that a function is given, which may update them."""
    if not isinstance(node, ast.Call):
        return []
    args = (*node.args, *(keyword.value for keyword in node.keywords))
    return [name for arg in args for name in _base(arg)]


def _updates(node: ast.AST) -> list[str]:
    """The names of the arrays that a piece of a statement changes."""
    match node:
        case ast.AugAssign(ast.Name(name)):
            return [name]
        case ast.Subscript(value=value, ctx=ast.Store()):
            pass
        case ast.Call(ast.Attribute(value, method)) if method in CHANGING:
            pass
        case ast.Call(ast.Attribute(attr="at"), [value, *_]):
            pass
        case _:
            return []
    return _base(value)


def _base(value: ast.expr) -> list[str]:
    """The name of an array that this is, or is a part of; none if it has no name."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return [value.id] if isinstance(value, ast.Name) else []


def _new_value(ty: Type) -> str:
    """How a changed copy of such a value is made."""
    match ty:
        case Product(_, RecordNames() as names) if names.kind is Kind.DICT:
            return 'make a changed copy, as in `d = {**d, "key": value}`'
        case Product(_, RecordNames()):
            return "make a changed copy, as in `p = p._replace(x=1.0)`"
        case Product():
            return "make a new tuple, or use an array, as in `np.array([...])`"
        case _:
            return "only arrays and lists have elements that can be assigned"


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
        f"`{method}` is for lists that are made in it, and are nothing else",
        "make it there, as in `rows.append([x])`, or copy it, as in `list(row)`",
    )


@code("CL0817")
def other_elements(span: Span, expected: Type, found: Type) -> Diagnostic:
    return error(
        "elements of different types",
        span,
        f"the list holds {said(expected)}, this is {said(found)}",
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


@code("CL0826")
def object_shared(
    span: Span,
    name: str,
    copied: str,
    other: Span | None,
    *,
    is_call: bool = False,
    by: str = "",
) -> Diagnostic:
    """`copied`: how a copy is written; `other`: where another name may come from; `by`:
    what assigns fields of what it is given, and is differentiated."""
    if by:
        label = f"`{by}` changes `{name}`, which is not made in it"
    elif is_call:
        label = f"what this gives may be another name of `{name}`, which is changed"
    elif other is None:
        label = f"`{name}` is not made in this function"
    else:
        label = f"`{name}` is changed here, and may have another name"
    return error(
        "an object that may have other names is changed",
        span,
        label,
        f"in Python all names see it: make a copy first, as in `{name} = {copied}`",
        *([f"the other name may come from {other}"] if other else []),
    )
