"""What can be wrong with records and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0901")
def bad_record(span: Span, reason: str) -> Diagnostic:
    """A record is a `NamedTuple`, a frozen dataclass or a `TypedDict` of known types.

    Its fields are numbers, arrays, tuples and other records. A class that contains
    itself, as a tree does, holds no arrays, and somewhere it has an end. A class must
    be frozen, for records are values here: a change would not be seen elsewhere.

    Fails:

        @dataclass
        class Box:
            width: float

        def f(box: Box) -> float:
            return box.width

    Works:

        @dataclass(frozen=True)
        class Box:
            width: float

        def f(box: Box) -> float:
            return box.width
    """
    return error(
        "a class that cannot be a record",
        span,
        reason,
        "a record is a `NamedTuple` or a frozen dataclass with fields of known types",
    )


@code("CL0902")
def unknown_field(
    span: Span, title: str, name: str, names: Sequence[str]
) -> Diagnostic:
    """A record has the fields that its class defines.

    Fails:

        class Point(NamedTuple):
            x: float

        def f(p: Point) -> float:
            return p.z

    Works:

        class Point(NamedTuple):
            x: float

        def f(p: Point) -> float:
            return p.x
    """
    return error(
        "unknown field",
        span,
        f"`{title}` has no field `{name}`",
        f"its fields are {', '.join(names)}",
    )


@code("CL0904")
def field_by_key(span: Span, title: str) -> Diagnostic:
    """The fields of a dataclass are attributes.

    Only a `NamedTuple` can be indexed as well.

    Fails:

        @dataclass(frozen=True)
        class Box:
            width: float

        def f(box: Box) -> float:
            return box[0]

    Works:

        @dataclass(frozen=True)
        class Box:
            width: float

        def f(box: Box) -> float:
            return box.width
    """
    return error(
        "a field is an attribute",
        span,
        f"`{title}` cannot be subscripted in Python",
        "write `record.field`",
    )


@code("CL0908")
def not_iterable(span: Span, ty: Type) -> Diagnostic:
    """A loop does not run over the fields of a record.

    They may have different types, and a name in a loop has one.

    Fails:

        @dataclass(frozen=True)
        class Box:
            width: float
            height: float

        def f(box: Box) -> float:
            return sum(side for side in box)

    Works:

        @dataclass(frozen=True)
        class Box:
            width: float
            height: float

        def f(box: Box) -> float:
            return box.width + box.height
    """
    return error(
        "a record cannot be iterated over",
        span,
        f"this is {said(ty)}, whose fields may have different types",
        "read the fields by their names; to loop, use an array or a list of records",
    )


@code("CL0909")
def not_unpackable(span: Span, title: str) -> Diagnostic:
    """Only a `NamedTuple` can be unpacked.

    A dataclass cannot be in Python either, and a dictionary would give its keys.

    Fails:

        @dataclass(frozen=True)
        class Box:
            width: float
            height: float

        def f(box: Box) -> float:
            width, height = box
            return width * height

    Works:

        class Box(NamedTuple):
            width: float
            height: float

        def f(box: Box) -> float:
            width, height = box
            return width * height
    """
    return error(
        "a record that cannot be unpacked",
        span,
        f"`{title}` cannot be unpacked in Python, or into its keys only",
        "read its fields by their names",
    )


@code("CL0910")
def no_length(span: Span, title: str) -> Diagnostic:
    """A dataclass has no length.

    Fails:

        @dataclass(frozen=True)
        class Box:
            width: float

        def f(box: Box) -> int:
            return len(box)

    Works:

        class Box(NamedTuple):
            width: float

        def f(box: Box) -> int:
            return len(box)
    """
    return error(
        "a record has no length",
        span,
        f"`len` of `{title}`",
        "the number of its fields is a constant: write it",
    )


@code("CL0911")
def compared(span: Span, ty: Type) -> Diagnostic:
    """Records are not numbers.

    Operators work on records whose class defines them, as by `__add__`.

    Fails:

        class Point(NamedTuple):
            x: float

        def f(p: Point, q: Point):
            return p < q

    Works:

        class Point(NamedTuple):
            x: float

        def f(p: Point, q: Point):
            return p.x < q.x
    """
    return error(
        "records are not numbers",
        span,
        f"the operator takes numbers, found {said(ty)}",
        "compute with the fields, or define the operator in the class, as `__add__`",
    )


@code("CL0912")
def method_as_value(span: Span, title: str, name: str) -> Diagnostic:
    """A method is called where it is named.

    Fails:

        @dataclass(frozen=True)
        class Box:
            width: float

            def area(self):
                return self.width**2

        def f(box: Box) -> float:
            return box.area + 1.0

    Works:

        @dataclass(frozen=True)
        class Box:
            width: float

            def area(self):
                return self.width**2

        def f(box: Box) -> float:
            return box.area() + 1.0
    """
    return error(
        "a method is not a value here",
        span,
        f"`{name}` is a method of `{title}`",
        "call it",
    )


@code("CL0913")
def not_a_method(span: Span, title: str, name: str) -> Diagnostic:
    """A record has the methods that its class defines with `def`.

    Plain methods, properties, static and class methods can be compiled.

    Fails:

        class Point(NamedTuple):
            x: float

        def f(p: Point) -> float:
            return p.norm()

    Works:

        class Point(NamedTuple):
            x: float

            def norm(self):
                return abs(self.x)

        def f(p: Point) -> float:
            return p.norm()
    """
    return error(
        "unknown method",
        span,
        f"`{title}` has no method `{name}` that can be compiled",
        "methods, properties, static and class methods written with `def` can be",
    )


@code("CL0914")
def own_constructor(span: Span, title: str) -> Diagnostic:
    """A record is constructed from its fields alone.

    A constructor that does more cannot be run in compiled code. Construct such a record
    outside, or write a function that makes one.

    Fails:

        @dataclass(frozen=True)
        class Box:
            width: float

            def __post_init__(self):
                print("made")

        def f(x: float) -> float:
            return Box(x).width

    Works:

        @dataclass(frozen=True)
        class Box:
            width: float

        def f(x: float) -> float:
            return Box(x).width
    """
    return error(
        "a constructor that does more than set the fields",
        span,
        f"`{title}` has an `__init__`, `__new__` or `__post_init__` of its own",
        "construct it outside, or leave the fields to the class's own constructor",
    )


@code("CL0917")
def unfit_field(span: Span, title: str, name: str, found: str) -> Diagnostic:
    """The fields of an object that a function reads are data, functions or strings.

    The fields of an object of an ordinary class are arguments of each call, and what
    may be an argument may be a field: numbers, arrays, tuples and dictionaries of
    these, records, lists of records or of arrays, None, and other objects. Strings,
    enums and functions are constants, and decide which version is called.

    Fails:

        class Line:
            def __init__(self):
                self.weights = [1.0, 2.0]

        def f(line, x: float) -> float:
            return line.weights[0] + line.weights[1] * x

        cl.jit(f)(Line(), 1.0)

    Works:

        class Line:
            def __init__(self):
                self.weights = np.array([1.0, 2.0])

        def f(line, x: float) -> float:
            return line.weights[0] + line.weights[1] * x

        cl.jit(f)(Line(), 1.0)
    """
    return error(
        "a field that cannot be an argument",
        span,
        f"the field `{name}` of this `{title}` is a `{found}`",
        "let it be a number, an array, a record or an object of such fields",
    )


@code("CL0918")
def returned_object(span: Span, title: str) -> Diagnostic:
    """An object of an ordinary class is not returned from a compiled function.

    Its fields are arguments of the call, which may be returned.

    Fails:

        class Line:
            def __init__(self):
                self.slope = 2.0

        def f(line, x: float):
            return line, x

        cl.jit(f)(Line(), 1.0)

    Works:

        class Line:
            def __init__(self):
                self.slope = 2.0

        def f(line, x: float):
            return line.slope, x

        cl.jit(f)(Line(), 1.0)
    """
    return error(
        "an object as a result",
        span,
        f"this function returns a `{title}`",
        "return its fields, or let it be a record: a frozen dataclass, a `NamedTuple`",
    )
