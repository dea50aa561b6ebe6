"""`cl.debug.interpret`: programs in the interpreter, which stop at breakpoints."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

Stops = list[tuple[str, int, dict[str, Any]]]


class Point(NamedTuple):
    x: float
    y: float


class Spring:
    stiffness = 2.0

    def energy(self, x: float) -> float:
        return self.stiffness * x


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> Stops:
    """Where the program stops: the function, the line, and the variables."""
    found: Stops = []

    def hook() -> None:
        frame = sys._getframe(1)
        found.append((frame.f_code.co_name, frame.f_lineno, {**frame.f_locals}))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    return found


def line_of(function: Callable[..., Any], text: str) -> int:
    """The line of a function with this text."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def looped(x: float, a: cl.f64[:], n: int) -> float:
    y = math.sin(x)
    for i in range(n):
        y = y * a[i]
        if i == 1:
            breakpoint()
    s = {n}  # noqa: F841
    breakpoint()
    return y * y + np.sum(a)


A = np.array([2.0, 3.0, 4.0])


def test_values_are_those_of_the_line(stops: Stops) -> None:
    out = cl.debug.interpret(looped)(0.5, A, 3)
    assert out == pytest.approx((math.sin(0.5) * 24.0) ** 2 + 9.0)
    (_, _, inner), (name, line, last) = stops
    assert (inner["i"], inner["n"]) == (1, 3)
    assert inner["y"] == pytest.approx(6.0 * math.sin(0.5))
    assert name == "looped" and line == line_of(looped, "s = {n}") + 1
    assert last["s"] == {3} and last["a"].tolist() == A.tolist()


def test_the_reverse_has_cotangents(stops: Stops) -> None:
    value, (by_x, by_a) = cl.debug.interpret(cl.value_and_grad(looped, (0, 1)))(
        0.5, A, 3
    )
    y = 24.0 * math.sin(0.5)
    assert value == pytest.approx(y * y + 9.0)
    assert by_x == pytest.approx(2.0 * y * 24.0 * math.cos(0.5))
    assert by_a == pytest.approx(1.0 + 2.0 * y * y / A)
    assert [name for name, _, _ in stops] == [
        *["looped"] * 2,
        *["looped (reverse)"] * 2,
    ]
    _, _, last = stops[2]
    assert last["y_ct"] == pytest.approx(2.0 * y) and last["a_ct"].tolist() == [1.0] * 3
    _, _, inner = stops[3]
    assert inner["y_ct"] == pytest.approx(2.0 * y * 4.0) and "i_ct" not in inner


def test_forward_mode_has_tangents(stops: Stops) -> None:
    def along(x: float, t: float):
        return cl.jvp(squared, (x,), (t,))

    out = cl.debug.interpret(along, at=f"test_stepping.py:{line_of(squared, 'return')}")
    assert out(3.0, 2.0) == (18.0, 24.0)
    ((name, _, found),) = stops
    assert name == "squared (with tangents)"
    assert found == {"x": 3.0, "z": 9.0, "x_t": 2.0, "z_t": 12.0}


def squared(x: float) -> float:
    z = x * x
    return 2.0 * z


def test_stops_at_lines_of_functions_that_are_called(stops: Stops) -> None:
    def outer(x: float) -> float:
        return squared(x) + 1.0

    assert cl.debug.interpret(outer)(3.0) == 19.0 and stops == []
    line = line_of(squared, "return")
    assert cl.debug.interpret(cl.grad(outer), at=[line])(3.0) == 12.0
    assert [(name, at) for name, at, _ in stops] == [
        ("squared", line),
        ("squared (reverse)", line),
    ]
    assert stops[1][2] == {"x": 3.0, "z": 9.0, "x_ct": 0.0, "z_ct": 2.0}


def test_containers_are_shown_as_python_has_them(stops: Stops) -> None:
    def held(p: Point, w: dict[str, float], x: cl.f64[:]) -> float:
        pair, items = (p.x, 2), [1.0, p.y]
        rows = [x[:k] for k in range(3)]
        f = lambda t: t * p.x  # noqa: E731
        nothing = None  # noqa: F841
        breakpoint()
        return f(w["a"]) + pair[0] + items[1] + rows[2][0]

    args = Point(1.0, 2.0), {"a": 3.0}, np.array([5.0, 6.0])
    slope = cl.debug.interpret(cl.grad(held, (0, 1)))(*args)
    assert slope == (Point(4.0, 1.0), {"a": 1.0})
    (_, _, found), (_, _, back) = stops
    assert found["p"] == args[0] and found["w"] == args[1] and found["pair"] == (1.0, 2)
    assert found["items"] == [1.0, 2.0] and found["nothing"] is None
    assert [row.tolist() for row in found["rows"]] == [[], [5.0], [5.0, 6.0]]
    assert "function" in found["f"]
    assert back["w_ct"] == {"a": 1.0} and back["items_ct"] == [0.0, 1.0]


def branching(x: float, flag: bool) -> float:
    if flag:
        z = 3.0 * x
        breakpoint()
    else:
        z = x
    for _ in range(5):
        z = 1.5 * z
        if z > 3.0:
            breakpoint()
            return x * z
    return z


def test_names_of_the_blocks_around(stops: Stops) -> None:
    """Stops in branches and before exits leave the names outside as they are."""
    for flag in (True, False):
        stops.clear()
        value, slope = cl.debug.interpret(cl.value_and_grad(branching))(1.0, flag)
        factor = 4.5 if flag else 1.5**3
        assert (value, slope) == (factor, 2.0 * factor)
        found = [(name, found["z"], found["x"]) for name, _, found in stops]
        inner = [("branching", 3.0, 1.0)] if flag else []
        last = ("branching", factor, 1.0)
        back = [(f"{name} (reverse)", z, x) for name, z, x in (last, *inner)]
        assert found == [*inner, last, *back]
        assert stops[-len(back)][2]["z_ct"] == 1.0


def test_recursions_stop_in_each_call(stops: Stops) -> None:
    def halved(n: int, x: float) -> float:
        if n == 0:
            return x
        y = 0.5 * x
        breakpoint()
        return halved(n - 1, y) + x

    assert cl.debug.interpret(cl.grad(halved, 1))(2, 1.0) == 1.75
    assert [found["n"] for _, _, found in stops] == [2, 1, 1, 2]
    assert [found.get("y_ct") for _, _, found in stops] == [None, None, 1.0, 1.5]


def test_a_function_of_no_reals_and_static_arguments(stops: Stops) -> None:
    def counted(xs: list[cl.f64[:]], how: str) -> int:
        total = len(xs) if how == "all" else 0
        if total > 1:
            breakpoint()
        return total

    interpreted = cl.debug.interpret(cl.jit(counted, static_argnames="how"))
    assert interpreted([A], how="all") == 1 and stops == []
    assert interpreted([A, A[:1]], how="all") == 2
    ((_, _, found),) = stops
    assert found["total"] == 2 and [x.size for x in found["xs"]] == [3, 1]


def test_methods_are_refused() -> None:
    with pytest.raises(TypeError, match="a function that calls the method"):
        cl.debug.interpret(Spring().energy)


def test_errors_are_those_of_the_program() -> None:
    def failing(x: cl.f64[:], k: int) -> float:
        return x[k]

    for function in (failing, cl.grad(failing)):
        with pytest.raises(IndexError, match=r"index 7 is out of range.*in failing"):
            cl.debug.interpret(function)(A, 7)


def test_native_code_does_not_stop(stops: Stops) -> None:
    for function in (cl.jit(looped), cl.grad(looped)):
        with pytest.raises(cl.CompileError, match="CL0233") as caught:
            function(0.5, A, 3)
        assert "cl.debug.interpret" in str(caught.value)
        assert f":{line_of(looped, 's = {n}') + 1}:" in str(caught.value)
    assert stops == []


PROGRAM = """
import math
import chadllvm as cl

def f(x: float) -> float:
    y = math.exp(x)
    breakpoint()
    return y * y

print("slope", cl.debug.interpret(cl.grad(f))(0.0))
"""


def test_pdb_shows_the_variables(tmp_path: Any) -> None:
    script = tmp_path / "stopping.py"
    script.write_text(PROGRAM)
    found = subprocess.run(
        [sys.executable, str(script)],
        input="p ('y', y)\nc\np ('y_ct', y_ct)\nc\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "stopping.py(7)f()" in found and "('y', 1.0)" in found
    assert "f (reverse)" in found and "('y_ct', 2.0)" in found
    assert "slope 2.0" in found
