"""`print` in compiled code: what plain Python writes, once and in order."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.frontend import specialise
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.value import to_value


class Point(NamedTuple):
    x: float
    n: int = 2


class Own(NamedTuple):
    x: float

    def __repr__(self) -> str:
        return "mine"


def kinds(
    x: float, n: int, s: cl.f32, a: cl.f64[:], m: cl.f32[:, :], p: Point
) -> float:
    print("numbers", x, n, n > 1, s, -0.0, 1e300, 1e-5, 100000.0, sep=" | ")
    print(a, a > 1.0, np.arange(3), m, a[:0])
    print((x,), (x, (n, a)), p, {"w": x, "p": p}, None, [x, 1.0], [n, n + 1], end="")
    print()
    print(f"{x:.3f}|{n:>5d}|{x:+.2e}|{x!r}|{x=}|{p}|{{}}|{a}|{n:04d}|{x:<9.2f}|{x:%}")
    print("to the other", x, file=sys.stderr)
    return x


def loops(x: float, a: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        if i % 2 == 0:
            print("even", i, a[i])
        s += a[i] * x
        if s > 2.0:
            print("enough", s)
            break
    n = 3
    while n:
        n -= 1
        print("left", n, flush=True)
    b = np.array([shown(v) for v in a])
    return s + np.sum(b)


def shown(v: float) -> float:
    print("shown", v)
    return v * v


def recursive(n: int, x: float) -> float:
    print("in", n)
    if n == 0:
        return x
    y = recursive(n - 1, x * 0.5) + recursive(n - 1, x * x)
    print("out", n, y)
    return y


def failing(x: float, a: cl.f64[:], n: int) -> float:
    s = x
    for i in range(n):
        print("at", i)
        s += a[i]
    print("the sum", s)
    assert s < 0.0, "positive"
    return s


def told(x: float) -> None:
    if x > 5.0:
        return
    print("x is", x)


def procedures(x: float, a: cl.f64[:]) -> float:
    """Functions that only print, called as statements."""

    def count(n):
        print("count", n)
        if n > 0:
            count(n - 1)

    def both(y):
        told(y)
        told(y + 1.0)

    for i in range(len(a)):
        both(a[i] * x)
    count(2)
    return x * x


POINT = Point(2.5)
PROGRAMS: list[tuple[Callable[..., float], tuple[Any, ...]]] = [
    (
        kinds,
        (0.1, 3, np.float32(0.1), np.array([0.5, 2.0]), np.eye(2, dtype="f4"), POINT),
    ),
    (loops, (0.5, np.array([1.0, 2.0, 3.0, 4.0]))),
    (recursive, (2, 0.7)),
    (procedures, (4.5, np.array([1.0, 2.0]))),
]
IDS = [function.__name__ for function, _ in PROGRAMS]
OPTIONS = [{}, {"optimize": 0}, {"debug": True}, {"strict": True}]


def written(call: Callable[[], object]) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        call()
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_what_python_writes(function: Any, args: Any, options: dict[str, Any]) -> None:
    compiled = cl.jit(function, **options)
    expected = written(lambda: function(*args))
    assert expected[0].count("\n") > 3
    assert written(lambda: compiled(*args)) == expected


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_derivatives_write_once(function: Any, args: Any) -> None:
    compiled, expected = cl.jit(function), written(lambda: function(*args))
    x = next(k for k, arg in enumerate(args) if isinstance(arg, float))
    slope = cl.grad(compiled, argnums=x)
    for derivative in (slope, cl.grad(slope, argnums=x)):
        assert written(lambda call=derivative: call(*args)) == expected


@pytest.mark.parametrize(("function", "args"), PROGRAMS[1:], ids=IDS[1:])
def test_the_interpreter_writes_the_same(function: Any, args: Any) -> None:
    jitted = cl.jit(function)
    types = jitted._types(args)
    program = specialise(function, types)
    values = [to_value(arg, ty) for arg, ty in zip(args, types, strict=True)]
    found = written(lambda: Interpreter(program).run(*values))
    assert found == written(lambda: function(*args))


def test_lines_stand_before_the_error() -> None:
    args = 1.0, np.array([1.0, 2.0])

    def call(function: Any, n: int, error: type[Exception]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), pytest.raises(error):
            function(*args, n)
        return out.getvalue()

    compiled = cl.jit(failing)
    for function in (compiled, cl.grad(compiled), cl.jit(failing, debug=True)):
        assert call(function, 5, IndexError) == "at 0\nat 1\nat 2\n"
        assert call(function, 2, AssertionError) == "at 0\nat 1\nthe sum 4.0\n"


def test_a_stream_that_raises_ends_the_call() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError("nobody reads")

    compiled = cl.jit(loops)
    args = PROGRAMS[1][1]
    with contextlib.redirect_stdout(Closed()), pytest.raises(BrokenPipeError):
        compiled(*args)
    assert written(lambda: compiled(*args)) == written(lambda: loops(*args))


def test_a_deep_recursion_writes() -> None:
    def down(n: int) -> float:
        if n == 0:
            print("the ground")
            return 0.0
        return 1.0 + down(n - 1)

    assert written(lambda: cl.jit(down)(20_000)) == ("the ground\n", "")


def test_a_function_that_only_prints() -> None:
    compiled = cl.jit(told)
    assert compiled(1.0) is None
    assert written(lambda: compiled(4.0)) == ("x is 4.0\n", "")


@cl.jit
def traced(x: float, a: cl.f64[:]) -> float:
    y = cl.debug.print(x * x, "y")
    b = cl.debug.print(a * y)
    cl.debug.print(y, "unused")
    return float(np.sum(b)) + y


def test_tangents_and_cotangents() -> None:
    args = 2.0, np.array([1.0, 2.0])
    value = "y: 4.0\nvalue: [4. 8.]\nunused: 4.0\n"
    assert written(lambda: traced(*args)) == (value, "")
    assert written(lambda: traced.py_func(*args)) == (value, "")
    reverse = value + "value, cotangent: [1. 1.]\ny, cotangent: 4.0\n"
    assert written(lambda: cl.grad(traced)(*args)) == (reverse, "")
    moved = "y: 4.0\ny, tangent: 4.0\nvalue: [4. 8.]\nvalue, tangent: [4. 8.]\n"
    moved += "unused: 4.0\nunused, tangent: 4.0\n"
    tangents = 1.0, np.zeros(2)
    assert written(lambda: cl.jvp(traced, args, tangents)) == (moved, "")
    assert cl.grad(cl.grad(traced))(*args) == pytest.approx(8.0)


def test_a_library_writes_the_same(tmp_path: Path) -> None:
    """Without Python's streams: arrays are nested lists, all else is the same."""
    source = """
import sys
import chadllvm as cl
library = cl.load(sys.argv[1])
library.loops(0.5, [1.0, 2.0, 3.0, 4.0])
library.recursive(2, 0.7)
"""
    folder = tmp_path / "libshown"
    cl.export({"loops": cl.jit(loops), "recursive": cl.jit(recursive)}, folder)
    command = [sys.executable, "-c", source, str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = [written(lambda f=f, a=a: f(*a))[0] for f, a in PROGRAMS[1:3]]
    assert found.stdout == "".join(expected)


def own(x: float) -> float:
    print(Own(x))
    return x


def digits(x: float, n: int) -> float:
    print(f"{x:.{n}f}")
    return x


def union(x: float, y: float | None) -> float:
    print(y)
    return x


@pytest.mark.parametrize(
    ("function", "args"), [(own, (1.0,)), (digits, (1.0, 2)), (union, (1.0, None))]
)
def test_refused(function: Any, args: Any) -> None:
    with pytest.raises(cl.CompileError, match="CL0225"):
        cl.jit(function)(*args)
