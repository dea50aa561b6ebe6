"""Differentiate programs of another language: an interpreter of the lambda calculus.

Its programs are trees, and its values are numbers or closures. A closure holds a body
and the environment that it was made in, which is a linked list of values; so values and
environments contain each other. The gradient by a program is a program of the same
shape, with a slope for each number in it, however often closures took it along.

    python examples/closure_interpreter.py
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import chadllvm as cl

# ---- terms


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Parameter:
    """Of the lambda that is so many lambdas further out (de Bruijn's index)."""

    index: int


@dataclass(frozen=True)
class Lambda:
    """A function of one parameter."""

    body: Term


@dataclass(frozen=True)
class Apply:
    function: Term
    argument: Term


@dataclass(frozen=True)
class Add:
    left: Term
    right: Term


@dataclass(frozen=True)
class Multiply:
    left: Term
    right: Term


@dataclass(frozen=True)
class IfPositive:
    """One of two terms; the other is not evaluated."""

    condition: Term
    yes: Term
    no: Term


Term = Number | Parameter | Lambda | Apply | Add | Multiply | IfPositive


# ---- values


@dataclass(frozen=True)
class Num:
    value: float


@dataclass(frozen=True)
class Closure:
    """A function: what it evaluates, and the values of the parameters around it."""

    body: Term
    environment: Scope | None


@dataclass(frozen=True)
class Scope:
    """An environment: the value of the innermost parameter, and those further out."""

    value: Value
    outer: Scope | None


Value = Num | Closure


# ---- the interpreter


@cl.jit
def parameter(index: int, scope: Scope | None) -> Value:
    """The value of the parameter that is so many lambdas further out.

    Raises:
        IndexError: if there are not so many.
    """
    for _ in range(index):
        if scope is not None:
            scope = scope.outer
    if scope is None:
        raise IndexError("a parameter of no lambda")
    return scope.value


@cl.jit
def number(value: Value) -> float:
    """What the value is, if it is a number.

    Raises:
        TypeError: if it is a function.
    """
    match value:
        case Num(x):
            return x
        case Closure(_, _):
            raise TypeError("a function is no number")


@cl.jit
def evaluate(term: Term, scope: Scope | None) -> Value:
    """The value of a term in an environment; arguments before the call.

    Raises:
        TypeError: if a number is called, or a function is in arithmetic.
        IndexError: if a parameter has no lambda.
    """
    match term:
        case Number(value):
            return Num(value)
        case Parameter(index):
            return parameter(index, scope)
        case Lambda(body):
            return Closure(body, scope)
        case Apply(function, argument):
            called = evaluate(function, scope)
            given = evaluate(argument, scope)
            match called:
                case Closure(body, environment):
                    return evaluate(body, Scope(given, environment))
                case Num(_):
                    raise TypeError("a number is no function")
        case Add(left, right):
            a, b = evaluate(left, scope), evaluate(right, scope)
            return Num(number(a) + number(b))
        case Multiply(left, right):
            a, b = evaluate(left, scope), evaluate(right, scope)
            return Num(number(a) * number(b))
        case IfPositive(condition, yes, no):
            chosen = yes if number(evaluate(condition, scope)) > 0.0 else no
            return evaluate(chosen, scope)


@cl.jit
def result(program: Term) -> float:
    """The number that a program is."""
    return number(evaluate(program, None))


# ---- programs as text, in plain Python

FORMS = {"+": Add, "*": Multiply, "if": IfPositive}


def read(text: str) -> Term:
    """A term from text like `((lambda (f x) (f (f x))) …)`; `;` starts a comment.

    There are numbers, names, `(+ a b)`, `(* a b)`, `(if condition yes no)`,
    `(lambda (names) body)`, `(let (name value) body)`, and applications to arguments.

    Raises:
        SyntaxError: if it is none.
    """
    text = re.sub(";.*", "", text)
    tokens = iter(re.findall(r"[()]|[^\s()]+", text))
    term = converted(parsed(next(tokens), tokens), ())
    if next(tokens, None) is not None:
        raise SyntaxError("there is more behind the program")
    return term


def parsed(token: str, tokens: Iterator[str]) -> Any:
    """Lists of lists, and words."""
    if token != "(":
        return token
    items: list[Any] = []
    for token in tokens:
        if token == ")":
            return items
        items.append(parsed(token, tokens))
    raise SyntaxError("a parenthesis is not closed")


def converted(item: Any, names: tuple[str, ...]) -> Term:
    """The term, within parameters of these names, the innermost first."""
    match item:
        case str(word) if word in names:
            return Parameter(names.index(word))
        case str(word):
            try:
                return Number(float(word))
            except ValueError:
                raise SyntaxError(f"{word} has no value here") from None
        case ["lambda", [name], body]:
            return Lambda(converted(body, (name, *names)))
        case ["lambda", [name, *more], body]:
            return Lambda(converted(["lambda", more, body], (name, *names)))
        case ["let", [name, value], body]:
            function = converted(["lambda", [name], body], names)
            return Apply(function, converted(value, names))
        case ["+" | "*" | "if" as form, *operands]:
            made: Term = FORMS[form](*(converted(o, names) for o in operands))
            return made
        case [function, argument]:
            return Apply(converted(function, names), converted(argument, names))
        case [function, *arguments, last]:
            return Apply(
                converted([function, *arguments], names), converted(last, names)
            )
        case _:
            raise SyntaxError(f"no term: {item}")


def numbers(term: Any) -> list[float]:
    """The numbers in a program in the order of its text, or the slopes by them."""
    if isinstance(term, Number):
        return [term.value]
    if not dataclasses.is_dataclass(term):
        return []
    parts = [getattr(term, field.name) for field in dataclasses.fields(term)]
    return [value for part in parts for value in numbers(part)]


def with_numbers(term: Any, values: Iterator[float]) -> Any:
    """The program with other numbers, as many as are needed of these."""
    if isinstance(term, Number):
        return Number(next(values))
    if not dataclasses.is_dataclass(term) or isinstance(term, type):
        return term
    parts = [getattr(term, field.name) for field in dataclasses.fields(term)]
    return type(term)(*(with_numbers(part, values) for part in parts))


# ---- programs, each with the same in Python

# A function that is the argument of itself may call itself.
FIX = "(lambda (f) (let (self (lambda (x) (f (lambda (v) (x x v))))) (self self)))"


@cl.jit
def composed(a: float, b: float, c: float) -> float:
    """One function behind another, both with a number of their own."""

    def scaled(x: float) -> float:
        return a * x

    def shifted(x: float) -> float:
        return x + b

    return scaled(shifted(scaled(c)))


@cl.jit
def church(step: float, start: float) -> float:
    """Two to the third applications of a function: eight."""
    for _ in range(8):
        start = step * start + 1.0
    return start


@cl.jit
def power(base: float, n: float) -> float:
    """By recursion, for n rounded up, so that it does not matter to the slope."""
    return base * power(base, n - 1.0) if n > 0.0 else 1.0


@cl.jit
def reciprocal(a: float, guess: float, tolerance: float) -> float:
    """Newton's iteration for 1 / a, until the residual is small."""
    rest = 1.0 - a * guess
    if rest * rest - tolerance > 0.0:
        return reciprocal(a, guess * (1.0 + rest), tolerance)
    return guess


PROGRAMS: dict[str, tuple[str, Callable[..., float], list[float]]] = {
    "compose": (
        """(let (compose (lambda (f g x) (f (g x))))
             (let (scaled (lambda (x) (* {0} x)))
               (let (shifted (lambda (x) (+ x {1})))
                 (compose scaled (compose shifted scaled) {2}))))""",
        composed,
        [1.5, -0.4, 2.0],
    ),
    "Church numerals": (
        """(let (two (lambda (f x) (f (f x))))
             (let (three (lambda (f x) (f (f (f x)))))
               (three two (lambda (x) (+ (* {0} x) 1)) {1})))""",
        church,
        [0.9, 2.0],
    ),
    "power": (
        f"""(let (power (lambda (base)
                    ({FIX} (lambda (self n)
                             (if n (* base (self (+ n -1))) 1)))))
             (power {{0}} {{1}}))""",
        power,
        [1.1, 11.5],
    ),
    "reciprocal": (
        f"""(let (reciprocal (lambda (a)
                    ({FIX} (lambda (self guess)
                      (let (rest (+ 1 (* -1 (* a guess))))  ; Zero where it ends.
                        (if (+ (* rest rest) (* -1 {{2}}))
                            (self (* guess (+ 1 rest)))
                            guess))))))
             (reciprocal {{0}} {{1}}))""",
        reciprocal,
        [7.0, 0.05, 1e-18],
    ),
}


def program(name: str) -> Term:
    """One of these programs, with its numbers in it."""
    text, _, values = PROGRAMS[name]
    return read(text.format(*values))


def places(name: str) -> list[int]:
    """Which of all numbers of a program are those that the same in Python takes."""
    text, _, values = PROGRAMS[name]
    marks = [1e6 + i for i in range(len(values))]
    found = numbers(read(text.format(*marks)))
    return [found.index(mark) for mark in marks]


def main() -> None:
    """Run all programs, with the slopes by their numbers."""
    value_and_gradient = cl.value_and_grad(result)
    for name, (_, same, values) in PROGRAMS.items():
        value, gradient = value_and_gradient(program(name))
        slopes = numbers(gradient)
        print(f"{name}: {value:.8g}, in Python {same(*values):.8g}")
        expected = cl.grad(same, argnums=tuple(range(len(values))))(*values)
        for place, number, slope in zip(places(name), values, expected, strict=True):
            print(f"  by {number:g}: {slopes[place]:.8g}, in Python {slope:.8g}")


if __name__ == "__main__":
    main()
