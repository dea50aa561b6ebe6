"""Arithmetic on operands as Python means it: promotion, comparison, powers, truth.

Booleans are integers in arithmetic, integers become floats where they meet floats; of
which width, `width.py` says.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chadllvm.frontend.closures import (
    code_of,
    convert_function,
    is_function,
    join_functions,
)
from chadllvm.frontend.regular import as_list, join_lists
from chadllvm.frontend.unions import convert_union, join_unions, may_unite
from chadllvm.frontend.width import as_weak, floats, is_weak, to_float, to_width
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Proj, Tuple, Var
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    is_float,
    list_names,
)
from chadllvm.ir.union import is_union, is_varied, varied
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, sized

if TYPE_CHECKING:
    from chadllvm.frontend.delayed import Value

# Python's operator: the primitive on floats, and the one on integers.
ARITHMETIC: dict[type[ast.operator], tuple[str, str | None]] = {
    ast.Add: ("add", "iadd"),
    ast.Sub: ("sub", "isub"),
    ast.Mult: ("mul", "imul"),
    ast.Div: ("div", None),
    ast.FloorDiv: ("floordiv", "ifloordiv"),
    ast.Mod: ("mod", "imod"),
}

# Python's comparison: the primitive, and whether its operands are swapped.
_COMPARISONS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("lt", False),
    ast.LtE: ("le", False),
    ast.Gt: ("lt", True),
    ast.GtE: ("le", True),
    ast.Eq: ("eq", False),
    ast.NotEq: ("ne", False),
}


def is_number(ty: Type) -> bool:
    return isinstance(ty, Scalar)


def join(first: Type, second: Type) -> Type | None:
    """The type that values of both types become where paths meet, if there is one."""
    if first == second:
        return first
    if {first, second} in ({I64, F64}, {I64, F32}):
        return second if first == I64 else first
    if is_function(first) and is_function(second) and not _same_code(first, second):
        return join_functions(first, second, join)
    if is_varied(first) or is_varied(second):
        return _join_varied(first, second)
    if isinstance(first, Array) and isinstance(second, Array):
        return _join_lists_of_records(first, second)
    if may_unite(first, second):
        return join_unions(first, second, join)
    if list_names(first) is not None or list_names(second) is not None:
        return join_lists(first, second)
    if isinstance(first, Product) and isinstance(second, Product):
        return _join_products(first, second)
    return None


def _join_varied(first: Type, second: Type) -> Type | None:
    """Of elements of lists one of which has sizes of its own."""
    joined = join(*(ty.payloads[0] if is_varied(ty) else ty for ty in (first, second)))
    return varied(joined) if isinstance(joined, Product) else None


def _join_lists_of_records(first: Array, second: Array) -> Type | None:
    if first.rank != second.rank or not (
        is_varied(first.elem) or is_varied(second.elem)
    ):
        return None
    joined = _join_varied(first.elem, second.elem)
    return None if joined is None else Array(joined, first.rank)


def join_all(types: Sequence[Type]) -> Type | None:
    """The type that values of all these types, at least one, become."""
    joined: Type | None = types[0]
    for ty in types[1:]:
        joined = None if joined is None else join(joined, ty)
    return joined


def join_values(*values: Value) -> Type | None:
    """The type that these values become; weak floats are as wide as the others."""
    strong = [value.type for value in values if not is_weak(value)]
    joined = join_all(strong) if strong else F64
    if len(strong) == len(values) or joined is None or is_float(joined):
        return joined
    return join(joined, F64)


def _same_code(first: Type, second: Type) -> bool:
    return code_of(first) is not None and code_of(first) == code_of(second)


def _join_products(first: Product, second: Product) -> Type | None:
    if len(first.fields) != len(second.fields) or first.names != second.names:
        return None
    joined = [join(a, b) for a, b in zip(first.fields, second.fields, strict=True)]
    fields = tuple(ty for ty in joined if ty is not None)
    return Product(fields, first.names) if len(fields) == len(joined) else None


def convert(b: Builder, value: Operand, ty: Type) -> Operand:
    """The value as one of a type that it can be joined or promoted to."""
    if value.type == ty:
        return value
    if is_float(ty):
        return to_width(b, value, ty)
    if ty == I64:
        return to_int(b, value)
    if isinstance(ty, Product) and list_names(ty) is not None:
        return as_list(b, value, ty)
    if isinstance(ty, Array):
        return _converted_elements(b, value, ty)
    if isinstance(ty, Sum):
        into = convert_union if is_union(ty) else convert_function
        return into(b, value, ty, convert)
    assert isinstance(ty, Product) and isinstance(value.type, Product)
    # The keys of a dictionary may come in another order.
    order = [value.type.names.index(name) for name in ty.names]
    parts = [
        convert(b, b.one(Proj(value, k)), field)
        for k, field in zip(order or range(len(ty.fields)), ty.fields, strict=True)
    ]
    return b.one(Tuple(tuple(parts), ty.names))


def _converted_elements(b: Builder, array: Operand, ty: Array) -> Operand:
    """An array of records, each converted."""

    def level(outer: Builder, indices: tuple[Var, ...]) -> Operand:
        if len(indices) == ty.rank:
            (old,) = outer.apply(Index(), [array, *indices])
            return convert(outer, old, ty.elem)
        index, inner = Var("i", I64), outer.child()
        body = Lambda((index,), inner.block([level(inner, (*indices, index))]))
        (size,) = outer.apply(Dim(len(indices)), [array])
        return outer.apply(Build(), [size], [body])[0]

    shape = [b.apply(Dim(axis), [array])[0] for axis in range(ty.rank)]
    return sized(b, level(b, ()), shape)


def to_int(b: Builder, value: Operand) -> Operand:
    """A boolean as 0 or 1; any other number as it is."""
    if isinstance(value, Lit):
        return Lit(int(value.value)) if value.type == BOOL else value
    return b.prim("bool_to_int", value) if value.type == BOOL else value


def truncated(b: Builder, value: Operand) -> Operand:
    """`int(x)`"""
    return b.prim("truncate", value) if is_float(value.type) else to_int(b, value)


def promoted(b: Builder, *values: Operand) -> list[Operand]:
    """The numbers as floats if one of them is a float, else as integers."""
    if any(is_float(v.type) for v in values):
        return floats(b, *values)
    return [to_int(b, v) for v in values]


def choice(b: Builder, test: Operand, x: Operand, y: Operand) -> Operand:
    """`np.where` of scalars: both sides are computed, one is chosen."""
    if x.type == y.type == BOOL:
        holds = truth(b, test)
        second = b.prim("and", b.prim("not", holds), y)
        return b.prim("or", b.prim("and", holds, x), second)
    x, y = promoted(b, x, y)
    name = "select" if is_float(x.type) else "iselect"
    return as_weak(b, b.prim(name, truth(b, test), x, y), (x, y))


def arithmetic(b: Builder, op: ast.operator, x: Operand, y: Operand) -> Operand:
    """`x op y` for the operators in `ARITHMETIC`."""
    on_floats, on_ints = ARITHMETIC[type(op)]
    given = (x, y)
    x, y = promoted(b, x, y)
    if on_ints is None or is_float(x.type):
        return as_weak(b, b.prim(on_floats, *floats(b, x, y)), given)
    return b.prim(on_ints, x, y)


def power(b: Builder, x: Operand, y: Operand) -> Operand:
    """`x ** y`: exact for integers; a negative constant exponent makes it a float.

    An integer to the power of an integer variable fails if the exponent is negative and
    the power no integer.
    """
    is_constant = is_float(x.type) or is_float(y.type) or isinstance(y, Lit)
    if not is_constant:
        y = b.prim("ipow_exponent", to_int(b, x), to_int(b, y))
    return power_of_elements(b, x, y)


def power_of_elements(b: Builder, x: Operand, y: Operand) -> Operand:
    """The same of NumPy's integers, which no negative exponent goes with."""
    if is_float(y.type):
        return as_weak(b, b.prim("pow", *floats(b, x, y)), (x, y))
    y = to_int(b, y)
    if is_float(x.type) or (isinstance(y, Lit) and y.value < 0):
        return as_weak(b, b.prim("powi", to_float(b, x), y), (x,))
    return b.prim("ipow", to_int(b, x), y)


def rounded_integer(b: Builder, x: Operand, digits: Operand) -> Operand:
    """`round(i, digits)`: of two multiples of 10^-digits in the same distance the even.

    It is exact. What an i64 holds has 19 digits: of more than 18 none is left.
    """
    if isinstance(digits, Lit) and digits.value >= 0:
        return x
    places = b.prim("imax", b.prim("ineg", digits), Lit(0))
    unit = b.prim("ipow", Lit(10), b.prim("imin", places, Lit(18)))
    rest = b.prim("imod", x, unit)
    below, twice = b.prim("isub", x, rest), b.prim("imul", Lit(2), rest)
    count = b.prim("ifloordiv", below, unit)
    is_odd = b.prim("ine", b.prim("imod", count, Lit(2)), Lit(0))
    is_tie = b.prim("and", is_odd, b.prim("ieq", twice, unit))
    is_up = b.prim("or", b.prim("ilt", unit, twice), is_tie)
    near = b.prim("iselect", is_up, b.prim("iadd", below, unit), below)
    return b.prim("iselect", b.prim("ilt", Lit(18), places), Lit(0), near)


def compare(b: Builder, op: ast.cmpop, x: Operand, y: Operand) -> Operand:
    """`x op y` for an ordering or (in)equality."""
    name, swapped = _COMPARISONS[type(op)]
    x, y = promoted(b, x, y)
    if swapped:
        x, y = y, x
    return b.prim(("f" if is_float(x.type) else "i") + name, x, y)


def is_comparison(op: ast.cmpop) -> bool:
    return type(op) in _COMPARISONS


def negative(b: Builder, x: Operand) -> Operand:
    """`-x`; of a literal, the literal."""
    if isinstance(x, Lit) and x.value != -(2**63):
        return Lit(-x.value, x.is_single)
    if is_float(x.type):
        return as_weak(b, b.prim("neg", x), (x,))
    return b.prim("ineg", to_int(b, x))


def absolute(b: Builder, x: Operand) -> Operand:
    """`abs(x)`"""
    if is_float(x.type):
        return as_weak(b, b.prim("abs", x), (x,))
    return b.prim("iabs", to_int(b, x))


def truth(b: Builder, x: Operand) -> Operand:
    """`bool(x)` of a number."""
    if isinstance(x, Lit):
        return Lit(bool(x.value))
    if x.type == BOOL:
        return x
    return b.prim("fne", x, Lit(0.0)) if is_float(x.type) else b.prim("ine", x, Lit(0))


def smaller(b: Builder, x: Operand, y: Operand) -> Operand:
    """Python's `min(x, y)`: y if y < x, else x."""
    x, y = promoted(b, x, y)
    if x.type == I64:
        return b.prim("imin", x, y)
    return as_weak(b, b.prim("select", b.prim("flt", y, x), y, x), (x, y))


def larger(b: Builder, x: Operand, y: Operand) -> Operand:
    """Python's `max(x, y)`: y if y > x, else x."""
    x, y = promoted(b, x, y)
    if x.type == I64:
        return b.prim("imax", x, y)
    return as_weak(b, b.prim("select", b.prim("flt", x, y), y, x), (x, y))
