"""A mistake put into a working program is reported, alone; several are all reported.

Every statement of the corpus is broken in turn, by an unknown name in place of what it
computes: nothing that depends on the statement may be called a mistake.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import corpus
import pytest
from frontend.generated import define

import chadllvm as cl
from chadllvm.frontend import specialise
from chadllvm.support.diagnostic import MOST_SHOWN, NO_SPAN, CompileError, Diagnostic
from tests.program_cases import CASES
from tests.sweep import marks

PROGRAMS = {case.function: case.args for case in corpus.CASES} | {
    case.function.py_func: case.args
    for case in CASES
    if not case.function.static_argnames
}


def computed(tree: ast.AST) -> list[tuple[ast.stmt, str]]:
    """The statements of a function that compute something, and in which field.

    Those of local functions are left out: these are looked at when they are called.
    """
    found: list[tuple[ast.stmt, str]] = []
    pending = [tree]
    while pending:
        node = pending.pop(0)
        inside = ast.iter_child_nodes(node)
        pending += [n for n in inside if not isinstance(n, ast.FunctionDef)]
        match node:
            case ast.Assign() | ast.AugAssign() | ast.Return(ast.expr()):
                found.append((node, "value"))
            case ast.If():
                found.append((node, "test"))
            case ast.For():
                found.append((node, "iter"))
            case _:
                pass
    return found


def broken(tree: ast.FunctionDef, places: range) -> str:
    """The function with unknown names in these places."""
    tree = copy.deepcopy(tree)
    every = computed(tree)
    for place in places:
        node, field = every[place]
        setattr(node, field, ast.Name(f"unknown_{place}"))
    return ast.unparse(tree)


def mistakes(function: FunctionType, text: str) -> tuple[Diagnostic, ...]:
    """The mistakes in a text that stands in place of a function's."""
    made = define(text.replace(f"def {function.__name__}(", "def f("))
    assert isinstance(made, FunctionType)
    moved = FunctionType(made.__code__, function.__globals__, "f")
    moved.__defaults__, moved.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
    types = cl.jit(function)._types(PROGRAMS[function])
    with pytest.raises(CompileError) as caught:
        specialise(moved, types)
    assert caught.value.__cause__ is None, "the translation was not prepared"
    return caught.value.diagnostics


def plain(function: Callable[..., Any]) -> Iterator[ast.FunctionDef]:
    """The syntax of a function that needs nothing but its globals."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_freevars or code.co_name == "<lambda>":
        return
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    yield tree


# What stands after a `return` is not looked at, nor is a case that no value fits.
HAS_DEAD_CODE = {"dead_code", "matched_dictionary", "cases_for_what_it_is_not"}

TREES = [
    (function, tree)
    for function in PROGRAMS
    for tree in plain(function)
    if function.__name__ not in HAS_DEAD_CODE
]
SWEPT = [
    pytest.param(
        function,
        tree,
        id=f"{function.__name__}-{k}",
        marks=marks(function.__name__, 4, "mistakes"),
    )
    for k, (function, tree) in enumerate(TREES)
]


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize(("function", "tree"), SWEPT)
def test_one_mistake_is_one_message(
    function: FunctionType, tree: ast.FunctionDef
) -> None:
    for place in range(len(computed(tree))):
        text = broken(tree, range(place, place + 1))
        labels = [d.label for d in mistakes(function, text)]
        assert labels == [f"`unknown_{place}` is not defined"], text


@pytest.mark.parametrize(("function", "tree"), SWEPT)
def test_all_mistakes_are_found(function: FunctionType, tree: ast.FunctionDef) -> None:
    places = range(len(computed(tree)))
    text = broken(tree, places)
    found = mistakes(function, text)
    assert {d.label for d in found} == {f"`unknown_{k}` is not defined" for k in places}
    assert sorted(found, key=lambda d: d.span) == list(found)


def test_a_long_list_is_cut() -> None:
    one = Diagnostic("a mistake", NO_SPAN)
    text = str(CompileError(*[one] * (MOST_SHOWN + 2)))
    assert text.count("error: a mistake") == MOST_SHOWN
    assert text.endswith("\n\n... and 2 more\n\n12 errors")
    assert "errors" not in str(CompileError(one))
