"""What can be wrong where a variable, a part of an array or a list changes."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Sequence

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.types import Product, Type
from chadllvm.ir.wording import said


@code("CL0801")
def element_update(span: Span) -> Diagnostic:
    """Only variables, and elements of arrays that have a name, are assigned.

    Fails:

        def f(x: cl.f64[:]):
            np.sin(x)[0] = 1.0
            return x

    Works:

        def f(x: cl.f64[:]):
            y = np.sin(x)
            y[0] = 1.0
            return y
    """
    return error(
        "this cannot be assigned to",
        span,
        "",
        "assign to a variable, or to an element of one, as in `a[i] = v`",
    )


@code("CL0802")
def not_updatable(span: Span, ty: Type) -> Diagnostic:
    """Only elements of arrays and lists are assigned.

    Tuples and numbers never change: make a new one.

    Fails:

        def f(p: tuple[float, float]):
            p[0] = 1.0
            return p

    Works:

        def f(p: tuple[float, float]):
            return 1.0, p[1]
    """
    return error(
        f"an element of a value of type {said(ty)} cannot be assigned",
        span,
        "this is no array",
        _new_value(ty),
    )


@code("CL0803")
def fixed_update(span: Span, name: str, what: str) -> Diagnostic:
    """What the caller would see change is not written to.

    A function updates its arguments if it returns nothing, or `updates` of `jit` names
    them; never what they have captured, fields of records, and lists. Any other one
    updates a copy.

    Fails:

        @cl.jit
        def f(x: cl.f64[:]):
            x[0] = 1.0
            return x

        f(np.ones(3))

    Works:

        @cl.jit
        def f(x: cl.f64[:]):
            y = x.copy()
            y[0] = 1.0
            return y

        f(np.ones(3))
    """
    return error(
        f"{_updated(span, name)} cannot be updated: it is {what}",
        span,
        "",
        "update a copy, as in `y = x.copy()`",
    )


@code("CL0804")
def shared_update(span: Span, name: str, read: Span) -> Diagnostic:
    """An array is not updated while another name of it is still read.

    In Python both names would see the update. Here values never change behind another
    name, so the program would mean something else: copy the array first.

    Fails:

        @cl.jit
        def f(n: int):
            x = np.zeros(n)
            y = x
            y[0] = 1.0
            return x, y

        f(3)

    Works:

        @cl.jit
        def f(n: int):
            x = np.zeros(n)
            y = x.copy()
            y[0] = 1.0
            return x, y

        f(3)
    """
    return error(
        "another name of this array is read afterwards",
        span,
        f"{_updated(span, name)} is updated here",
        "copy the array first, as in `y = x.copy()`",
        f"in Python, what is read at {read} would change as well",
    )


@code("CL0805")
def wrong_element(span: Span, expected: Type, found: Type) -> Diagnostic:
    """What is put into an array is of the type of its elements.

    NumPy would silently cut a float off to fit into an array of integers.

    Fails:

        def f(x: float):
            a = np.zeros(3, dtype=int)
            a[0] = x
            return a

    Works:

        def f(x: float):
            a = np.zeros(3)
            a[0] = x
            return a
    """
    return error(
        "a value of another type is put into an array",
        span,
        f"this holds {said(expected)}, the value is {said(found)}",
        "convert the value, or make the array with elements of its type",
    )


@code("CL0806")
def attribute_update(span: Span) -> Diagnostic:
    """Attributes are not assigned.

    Records never change: `_replace` and `dataclasses.replace` make a changed copy. Of
    other objects, as `self` in a method, the fields are read when a call begins.

    Fails:

        class Point(NamedTuple):
            x: float

        def f(p: Point) -> float:
            p.x = 1.0
            return p.x

    Works:

        class Point(NamedTuple):
            x: float

        def f(p: Point) -> float:
            p = p._replace(x=1.0)
            return p.x
    """
    return error(
        "attributes cannot be assigned",
        span,
        "",
        "use a variable; a record is changed by a copy, as in `p = p._replace(x=1.0)`, "
        "and an object outside of compiled functions, by what they return",
    )


@code("CL0808")
def part_of_part(span: Span) -> Diagnostic:
    """Slices as indices stand in the last pair of brackets that is assigned to.

    Write all indices in one pair.

    Fails:

        def f(x: cl.f64[:]):
            a = x.copy()
            a[1:][0] = 2.0
            return a

    Works:

        def f(x: cl.f64[:]):
            a = x.copy()
            a[1] = 2.0
            return a
    """
    return error(
        "a part of a part is assigned",
        span,
        "only the last pair of brackets may hold a slice or an array",
        "write all indices in one pair of brackets, as in `a[1:, j]`",
    )


@code("CL0809")
def too_many_dimensions(span: Span, rank: int, found: Type) -> Diagnostic:
    """What is assigned to a part of an array has no more dimensions than the part.

    Fails:

        def f(x: cl.f64[:, :]):
            a = np.zeros(3)
            a[1:] = x
            return a

    Works:

        def f(x: cl.f64[:, :]):
            a = np.zeros(3)
            a[1:] = x[0]
            return a
    """
    plural = "" if rank == 1 else "s"
    return error(
        "more dimensions than the part assigned to",
        span,
        f"this is {said(found)}, the part has {rank} dimension{plural}",
        "index the value, or name more of the array's dimensions",
    )


@code("CL0820")
def not_accumulable(span: Span) -> Diagnostic:
    """`np.add.at` adds to an array that has a name.

    An expression makes a new array, and the sum would be lost.

    Fails:

        def f(x: cl.f64[:], i: cl.i64[:]):
            np.add.at(x[1:], i, 1.0)
            return x

    Works:

        def f(x: cl.f64[:], i: cl.i64[:]):
            y = x[1:].copy()
            np.add.at(y, i, 1.0)
            return y
    """
    return error(
        "only a variable can be added to",
        span,
        "`np.add.at` changes the array that its first argument names",
        "give the array a name first",
    )


@code("CL0821")
def not_lendable(span: Span) -> Diagnostic:
    """A function updates arrays that have a name, and parts of them.

    What has none would be lost, and a view of another kind, such as `a.T` or a field
    of a record, is not written back.

    Fails:

        @cl.jit
        def fill(a: cl.f64[:, :]) -> None:
            a[0] = 1.0

        def f(x: cl.f64[:, :]) -> float:
            y = x.copy()
            fill(y.T)
            return y[0, 0]

    Works:

        @cl.jit
        def fill(a: cl.f64[:, :]) -> None:
            a[0] = 1.0

        def f(x: cl.f64[:, :]) -> float:
            y = x.T.copy()
            fill(y)
            return y[0, 0]
    """
    return error(
        "the function that is called cannot update this",
        span,
        "neither an array that has a name nor a part of one",
        "give it a variable, or a part of one, as in `fill(a[1:])`",
    )


@code("CL0822")
def updating_value(span: Span, function: str, names: Sequence[str]) -> Diagnostic:
    """A call of a function that updates its arguments is a statement.

    It may give a variable its result, and stands in no larger expression: that would
    have to say what is read before the update, and what behind it.

    Fails:

        @cl.jit(updates="a")
        def shift(a: cl.f64[:]) -> float:
            a[0] += 1.0
            return a[0]

        def f(x: cl.f64[:]) -> float:
            y = x.copy()
            return 2.0 * shift(y)

    Works:

        @cl.jit(updates="a")
        def shift(a: cl.f64[:]) -> float:
            a[0] += 1.0
            return a[0]

        def f(x: cl.f64[:]) -> float:
            y = x.copy()
            z = shift(y)
            return 2.0 * z
    """
    listed = " and ".join(f"`{name}`" for name in names)
    return error(
        f"`{function}` updates {listed}, and is called inside of an expression",
        span,
        "",
        "call it in a statement, and give its result a name, as in `y = f(x)`",
    )


@code("CL0823")
def moving_part(span: Span) -> Diagnostic:
    """Which part of an array a call updates does not depend on what it updates.

    Fails:

        @cl.jit
        def fill(a: cl.f64[:], places: cl.i64[:]) -> None:
            a[:] = 1.0
            places[0] = 1

        def f(x: cl.f64[:, :]) -> float:
            y, places = x.copy(), np.zeros(1, dtype=int)
            fill(y[places[0]], places)
            return y[0, 0]

    Works:

        @cl.jit
        def fill(a: cl.f64[:], places: cl.i64[:]) -> None:
            a[:] = 1.0
            places[0] = 1

        def f(x: cl.f64[:, :]) -> float:
            y, places = x.copy(), np.zeros(1, dtype=int)
            k = places[0]
            fill(y[k], places)
            return y[0, 0]
    """
    return error(
        "the indices of this part are updated by the call",
        span,
        "",
        "give them names in front of the call, as in `k = places[0]`",
    )


@code("CL0824")
def argument_grows(span: Span, name: str) -> Diagnostic:
    """What a function updates for its caller keeps its size.

    Fails:

        def f(x: cl.f64[:]) -> None:
            x[0] = 1.0
            x.append(2.0)

        cl.jit(f)(np.ones(3))

    Works:

        def f(x: cl.f64[:]) -> None:
            x[0] = 1.0
            x[1] = 2.0

        cl.jit(f)(np.ones(3))
    """
    return error(
        f"the size of `{name}` cannot change: it is an argument",
        span,
        "",
        "return a new list",
    )


@code("CL0825")
def told_to_update(span: Span, name: str, is_bound: bool) -> Diagnostic:
    """What is updated for a caller is an array of numbers, not assigned as a whole.

    After `a = …` the name stands for another array, and not for the caller's:
    `a[:] = …` writes to that.

    Fails:

        @cl.jit(updates="a")
        def f(a: cl.f64[:]) -> None:
            a = 2.0 * a

        f(np.ones(3))

    Works:

        @cl.jit(updates="a")
        def f(a: cl.f64[:]) -> None:
            a[:] = 2.0 * a

        f(np.ones(3))
    """
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
        case ast.Call(ast.Attribute(value, "append" | "extend" | "pop" | "fill")):
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
