"""Identities of scalar primitives that hold exactly, one small function for each.

A rule takes the arguments and says what the application equals: an operand, a simpler
application, or None. For f64 only what holds for every IEEE 754 value is used (but for
the sign of a zero cotangent in `scale`): x + 0.0 is not x if x is -0.0, and x * 0.0
need not be 0. Integers wrap around, so that the laws of a ring hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.term import Apply, Expr, Lit, Operand, Var, literal, same_width
from chadllvm.ir.types import F32, is_float
from chadllvm.ops.broadcast import MOST_ELEMENTS
from chadllvm.ops.scalar.integer import wrap
from chadllvm.simplify.cse import COMMUTATIVE, operand_key

Definition = Callable[[Operand], Expr | None]
Rule = Callable[[Definition, tuple[Operand, ...]], Operand | Apply | None]

RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        RULES.update((name, function) for name in names)
        return function

    return enter


def apply(name: str, *args: Operand) -> Apply:
    """The application of the primitive of this name."""
    return Apply(PRIMS[name], same_width(args))


def simplified(define: Definition, node: Apply) -> Operand | Apply | None:
    """What an application of a primitive equals, one step simpler."""
    assert isinstance(node.op, Prim)
    name, args = node.op.name, node.args
    if name in COMMUTATIVE and isinstance(args[0], Lit) and isinstance(args[1], Var):
        return apply(name, args[1], args[0])
    rule = RULES.get(name)
    return rule(define, args) if rule else None


def is_same(a: Operand, b: Operand) -> bool:
    """The same variable, or the same literal to the bit."""
    if a is b or isinstance(a, Var) or isinstance(b, Var):
        return a is b
    return operand_key(a) == operand_key(b)


def _is(operand: Operand, value: float | int | bool) -> bool:
    """Whether this is the number, of any width."""
    return isinstance(operand, Lit) and is_same(Lit(operand.value), Lit(value))


def _args(define: Definition, operand: Operand, name: str) -> tuple[Operand, ...]:
    """The arguments if the operand is an application of this primitive, else none."""
    match define(operand):
        case Apply(Prim(name=found), args) if found == name:
            return args
        case _:
            return ()


@_rule("add")
def _add(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, y = args
    if _is(y, -0.0):
        return x
    if inner := _args(define, y, "neg"):
        return apply("sub", x, *inner)
    if inner := _args(define, x, "neg"):
        return apply("sub", y, *inner)
    return None


@_rule("sub")
def _sub(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, y = args
    if _is(y, 0.0):
        return x
    if _is(x, -0.0):
        return apply("neg", y)
    if inner := _args(define, y, "neg"):
        return apply("add", x, *inner)
    return None


@_rule("neg", "ineg", "not")
def _involution(
    define: Definition, args: tuple[Operand, ...]
) -> Operand | Apply | None:
    """-(-x) = x, and what has an opposite: not (x < y) = y <= x for integers."""
    match define(args[0]):
        case Apply(Prim(name=("neg" | "ineg" | "not")), (x,)):
            return x
        case Apply(Prim(name="mul"), (x, Lit(c))):
            return apply("mul", x, Lit(-c))
        case Apply(Prim(name="ilt"), (x, y)):
            return apply("ile", y, x)
        case Apply(Prim(name="ile"), (x, y)):
            return apply("ilt", y, x)
        case Apply(Prim(name=name), inner) if name in _OPPOSITE:
            return apply(_OPPOSITE[name], *inner)
        case _:
            return None


_OPPOSITE = {"feq": "fne", "fne": "feq", "ieq": "ine", "ine": "ieq"}


@_rule("mul")
def _mul(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, y = args
    if _is(y, 1.0):
        return x
    if _is(y, -1.0):
        return apply("neg", x)
    inner = _args(define, x, "neg")
    if inner and isinstance(y, Lit):
        return apply("mul", *inner, Lit(-y.value))
    if inner and (other := _args(define, y, "neg")):
        return apply("mul", *inner, *other)
    return None


@_rule("div")
def _div(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    """A power of two has an exact reciprocal."""
    x, y = args
    if not isinstance(y, Lit) or not isinstance(x, Var):
        return None
    most = 2.0**120 if x.type == F32 else 2.0**1000
    if not 1.0 / most <= abs(y.value) <= most:
        return None
    if math.frexp(abs(y.value))[0] != 0.5:
        return None
    return apply("mul", x, Lit(1.0 / y.value))


@_rule("abs")
def _abs(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    (x,) = args
    if inner := _args(define, x, "neg"):
        return apply("abs", *inner)
    return x if _args(define, x, "abs") else None


@_rule("narrow")
def _narrow(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    """An f32 made an f64 and an f32 again is what it was; the other way it is not."""
    inner = _args(define, args[0], "widen")
    return inner[0] if inner else None


@_rule("powi")
def _powi(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, n = args
    if _is(n, 0):
        return literal(1, x.type)
    if _is(n, 1):
        return x
    return apply("mul", x, x) if _is(n, 2) else None


@_rule("pow")
def _pow(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, y = args
    if isinstance(y, Lit) and y.value in (0.0, 1.0, 2.0):
        return apply("powi", x, Lit(int(y.value)))
    return None


@_rule("scale")
def _scale(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    """d scaled by p is d * p unless d is zero and p is not finite."""
    d, p = args
    if isinstance(d, Lit):
        return literal(0, d.type) if d.value == 0.0 else apply("mul", p, d)
    return apply("mul", d, p) if _is_finite(define, p, 4) else None


def _is_finite(define: Definition, operand: Operand, depth: int) -> bool:
    if isinstance(operand, Lit):
        return math.isfinite(operand.value)
    match define(operand):
        case Apply(Prim(name="to_float")):
            return True
        case Apply(Prim(name=("neg" | "abs")), (x,)) if depth:
            return _is_finite(define, x, depth - 1)
        case Apply(Prim(name="select"), (_, x, y)) if depth:
            return all(_is_finite(define, z, depth - 1) for z in (x, y))
        case _:
            return False


@_rule("select", "iselect")
def _select(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    c, x, y = args
    if isinstance(c, Lit):
        return x if c.value else y
    if is_same(x, y):
        return x
    if inner := _args(define, c, "not"):
        return apply("select" if is_float(x.type) else "iselect", *inner, y, x)
    return None


@_rule("minimum", "maximum", "imin", "imax", "same")
def _idempotent(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    return args[0] if is_same(*args) else None


def _truth(absorbing: bool) -> Rule:
    def rule(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
        x, y = args
        if isinstance(y, Lit):
            return y if y.value == absorbing else x
        return x if is_same(x, y) else None

    return rule


RULES["and"] = _truth(absorbing=False)
RULES["or"] = _truth(absorbing=True)


@_rule("iadd")
def _iadd(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    """Literals are added up; subtracting one is adding its opposite."""
    x, y = args
    if _is(y, 0):
        return x
    if isinstance(y, Lit):
        match _args(define, x, "iadd"):
            case (z, Lit(c)):
                return apply("iadd", z, Lit(wrap(int(c) + int(y.value))))
    if inner := _args(define, y, "ineg"):
        return apply("isub", x, *inner)
    return None


@_rule("isub")
def _isub(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, y = args
    if is_same(x, y):
        return Lit(0)
    if isinstance(y, Lit):
        return apply("iadd", x, Lit(wrap(-int(y.value))))
    if _is(x, 0):
        return apply("ineg", y)
    match _args(define, x, "iadd"):
        case (a, b) if is_same(a, y):
            return b
        case (a, b) if is_same(b, y):
            return a
    if inner := _args(define, y, "ineg"):
        return apply("iadd", x, *inner)
    return None


@_rule("span")
def _span(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    """What is at least 0 is not too far apart."""
    if _is(args[1], 0):
        return args[0]
    near = all(is_not_negative(define, x) for x in args)
    return apply("isub", *args) if near else None


@_rule("imul")
def _imul(define: Definition, args: tuple[Operand, ...]) -> Operand | Apply | None:
    x, y = args
    if _is(y, 0):
        return y
    if _is(y, 1):
        return x
    return apply("ineg", x) if _is(y, -1) else None


@_rule("ifloordiv")
def _ifloordiv(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    return args[0] if _is(args[1], 1) else None


@_rule("row_of")
def _row_of(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    return args[0] if _is(args[1], 1) else None


@_rule("imod", "column_of")
def _imod(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    return Lit(0) if _is(args[1], 1) else None


@_rule("ieq", "ile")
def _reflexive(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    return Lit(True) if is_same(*args) else None


@_rule("ine", "ilt")
def _irreflexive(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    return Lit(False) if is_same(*args) else None


@_rule("size")
def _size(define: Definition, args: tuple[Operand, ...]) -> Operand | None:
    """The size of an array is one."""
    match args[0]:
        case Var() as size:
            made = define(size)
            is_size = isinstance(made, Apply) and made.op.name in _SIZES
        case Lit(int() as size):
            is_size = 0 <= size <= MOST_ELEMENTS
    return args[0] if is_size else None


# What gives no more than the size of an array.
_SIZES = ("dim", "size", "bound", "within", "bool_to_int")


def is_not_negative(define: Definition, operand: Operand, depth: int = 4) -> bool:
    """Whether an integer is known to be at least 0, by the look of its definition."""
    if not isinstance(operand, Var):
        return operand.value >= 0
    match define(operand):
        case Apply(Prim(name="imax"), (x, y)) if depth:
            return any(is_not_negative(define, z, depth - 1) for z in (x, y))
        case Apply(Prim(name=("bound" | "within" | "bool_to_int"))):
            return True
        case Apply(op):
            return op.name == "dim"
        case _:
            return False
