"""What can be wrong with lists, which grow and shrink."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0810")
def number_for_slice(span: Span) -> Diagnostic:
    """A slice of a list is assigned from a list or an array.

    Only an array takes one number for all elements of a slice.

    Fails:

        def f(n: int):
            a = [0.0 for _ in range(n)]
            a[1:] = 1.0
            return a

    Works:

        def f(n: int):
            a = np.zeros(n)
            a[1:] = 1.0
            return a
    """
    return error(
        "a number is assigned to a slice of a list",
        span,
        "Python takes only lists and arrays there",
        "make an array of the list before, as in `a = np.array([...])`",
    )


@code("CL0811")
def list_grows(span: Span) -> Diagnostic:
    """A list is extended by lists, not by numbers.

    In Python `+=` and `*=` on a list join and repeat. For elementwise arithmetic make
    an array.

    Fails:

        def f(x: float):
            a = [x, 1.0]
            a *= 2
            return a

    Works:

        def f(x: float):
            a = np.array([x, 1.0])
            a *= 2
            return a
    """
    return error(
        "a list is extended",
        span,
        "in Python this would add elements, not numbers",
        "use `append` in a loop, or make an array as in `a = np.array([...])`",
    )


@code("CL0812")
def not_a_list(span: Span, name: str, method: str, found: str) -> Diagnostic:
    """Only a list grows and shrinks.

    A list begins as a display or a comprehension inside of the function.

    Fails:

        def f(x: cl.f64[:]):
            y = x.copy()
            y.append(1.0)
            return y

    Works:

        def f(x: cl.f64[:]):
            y = [v for v in x]
            y.append(1.0)
            return y
    """
    return error(
        "only a list grows and shrinks",
        span,
        f"`{name}.{method}` needs a list, `{name}` is {found}",
        f"begin with `{name} = []`",
    )


@code("CL0813")
def unknown_elements(span: Span, name: str) -> Diagnostic:
    """What an empty list holds is learned from what is appended to it.

    If nothing ever is, its type is not known.

    Fails:

        def f(x: float):
            a = []
            return len(a) + x

    Works:

        def f(x: float):
            a = []
            a.append(x)
            return len(a) + x
    """
    return error(
        "an empty list that stays empty",
        span,
        f"nothing says what the elements of `{name}` would be",
        f"append to it, as in `{name}.append(1.0)`, or use `np.zeros(0)`",
    )


@code("CL0814")
def nested_empty_list(span: Span) -> Diagnostic:
    """An empty list needs a name.

    What it holds is learned from what is appended to that name.

    Fails:

        def f(x: cl.f64[:]):
            a = x.copy()
            a[0], a[1:] = x[0], []
            return a

    Works:

        def f(x: cl.f64[:]):
            a = []
            a.append(x[0])
            return a
    """
    return error(
        "an empty list is not a value here",
        span,
        "nothing says what its elements would be",
        "give it a name first, as in `items = []`, and append to it",
    )


@code("CL0815")
def list_method_value(span: Span, method: str) -> Diagnostic:
    """Methods that change a list are statements of their own.

    `value = items.pop()` is one, too.

    Fails:

        def f(x: cl.f64[:]) -> float:
            items = [v for v in x]
            return 2.0 * items.pop()

    Works:

        def f(x: cl.f64[:]) -> float:
            items = [v for v in x]
            last = items.pop()
            return 2.0 * last
    """
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
    """Only a list that has a name of its own grows.

    A list of lists is an array of two dimensions here, with rows of one length.

    Fails:

        def f(n: int):
            rows = [[0.0] for _ in range(n)]
            rows[0].append(1.0)
            return rows

    Works:

        def f(n: int):
            row = [0.0]
            row.append(1.0)
            return row
    """
    return error(
        "a list in a list grows",
        span,
        f"`{method}` is for lists that have a name of their own",
        "keep one list, and the number of elements of each part in another",
    )


@code("CL0817")
def other_elements(span: Span, expected: Type, found: Type) -> Diagnostic:
    """The elements of a list have one type.

    An integer and a float make floats; nothing else is joined.

    Fails:

        def f(x: cl.f64[:]):
            a = []
            a.append(1.0)
            a.append(x)
            return a

    Works:

        def f(x: cl.f64[:]):
            a = []
            a.append(1.0)
            a.append(x[0])
            return a
    """
    return error(
        "elements of different types",
        span,
        f"the list holds {said(expected)}, this is {said(found)}",
        "use values of one type",
    )


@code("CL0818")
def repeated_rows(span: Span) -> Diagnostic:
    """A list of rows is not repeated.

    In Python all rows would be one and the same list, so that an update of one would be
    seen in all.

    Fails:

        def f(n: int):
            return [[0.0] * n] * n

    Works:

        def f(n: int):
            return [[0.0] * n for _ in range(n)]
    """
    return error(
        "a list of rows is repeated",
        span,
        "in Python all rows would be one and the same",
        "write a comprehension, as in `[[0.0] * m for _ in range(n)]`",
    )


@code("CL0819")
def pop_place(span: Span) -> Diagnostic:
    """`pop` takes the last element.

    To take another one, all that follow would have to move.

    Fails:

        def f(x: float):
            a = [x, 2.0, 3.0]
            first = a.pop(0)
            return first

    Works:

        def f(x: float):
            a = [x, 2.0, 3.0]
            last = a.pop()
            return last
    """
    return error(
        "only the last element can be taken",
        span,
        "all others would have to move",
        "write `pop()` without an index",
    )
