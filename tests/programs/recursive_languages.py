"""Languages: formulas that are evaluated and differentiated, a machine with a stack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import chadllvm as cl

from .case import recursive_case
from .recursive_data import Chain, Cons

# ---- expressions -----------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Name:
    index: int


@dataclass(frozen=True)
class Operation:
    """`+` (0), `*` (1) or `-` (2) of two expressions."""

    operator: int
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Sine:
    of: Expression


@dataclass(frozen=True)
class Let:
    """The value of `body` where the next name stands for `value`."""

    value: Expression
    body: Expression


Expression = Number | Name | Operation | Sine | Let


@cl.jit
def value_of(e: Expression, environment: Chain) -> float:
    """Names count the numbers in the environment."""
    match e:
        case Number(value):
            return value
        case Name(index):
            rest = environment
            for _ in range(index):
                if rest is not None:
                    rest = rest.tail
            return 0.0 if rest is None else rest.head
        case Operation(0, left, right):
            return value_of(left, environment) + value_of(right, environment)
        case Operation(1, left, right):
            return value_of(left, environment) * value_of(right, environment)
        case Operation(_, left, right):
            return value_of(left, environment) - value_of(right, environment)
        case Sine(of):
            return math.sin(value_of(of, environment))
        case Let(value, body):
            return value_of(body, Cons(value_of(value, environment), environment))


EXPRESSION = Let(
    Operation(1, Name(0), Number(1.5)),
    Operation(
        0, Sine(Name(0)), Operation(2, Operation(1, Name(1), Name(0)), Number(2.0))
    ),
)


@recursive_case(EXPRESSION, 0.75)
@cl.jit
def interpreter(e: Expression, x: float) -> float:
    return value_of(e, Cons(x, None))


@cl.jit
def derived(e: Expression) -> Expression:
    """The derivative by name 0; of an expression without `let`."""
    match e:
        case Number(_):
            return Number(0.0)
        case Name(index):
            return Number(1.0 if index == 0 else 0.0)
        case Operation(1, left, right):
            first = Operation(1, derived(left), right)
            return Operation(0, first, Operation(1, left, derived(right)))
        case Operation(operator, left, right):
            return Operation(operator, derived(left), derived(right))
        case _:
            return Number(0.0)


POLYNOMIAL = Operation(
    2,
    Operation(1, Name(0), Operation(1, Name(0), Name(0))),
    Operation(1, Number(2.5), Name(0)),
)


@recursive_case(POLYNOMIAL, 0.75)
@cl.jit
def symbolic_derivative(e: Expression, x: float) -> float:
    return value_of(derived(e), Cons(x, None)) * value_of(e, Cons(x, None))


# ---- a machine with a stack ------------------------------------------------------


class Stack(NamedTuple):
    top: float
    rest: Stack | None


class Push(NamedTuple):
    number: float
    next: Code | None


class Do(NamedTuple):
    """Take two numbers off the stack, and push their product, or their sum."""

    is_product: bool
    next: Code | None


Code = Push | Do


CODE = Push(1.5, Push(2.0, Do(True, Push(-0.5, Do(False, None)))))


@recursive_case(CODE)
@cl.jit
def stack_machine(start: Code) -> float:
    stack: Stack | None = None
    code: Code | None = start
    while code is not None:
        if isinstance(code, Push):
            stack = Stack(code.number, stack)
        elif stack is not None:
            second = stack.rest
            if second is not None:
                both = stack.top + second.top
                if code.is_product:
                    both = stack.top * second.top
                stack = Stack(both, second.rest)
        code = code.next
    return 0.0 if stack is None else stack.top**2
