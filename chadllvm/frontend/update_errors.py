"""What can be wrong where a variable, a part of an array or a list changes."""

from __future__ import annotations

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
    """An argument is never written to, nor is an array from outside of the function.

    The caller would see the change. Update a copy.

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
        f"`{name}` cannot be updated: it is {what}",
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
        f"`{name}` is updated here",
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

    Records never change: `_replace` and `dataclasses.replace` make a changed copy.

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
        "use a variable; a record is changed by a copy, as in `p = p._replace(x=1.0)`",
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
