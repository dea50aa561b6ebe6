"""The Hessian times a direction by every way to stack the two modes.

Each way is a function of our own language that takes a random program `main(x, n)` and
differentiates it twice, along v, and along w as well or pulled back from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chadllvm.ir.interp import Interpreter
from chadllvm.ir.value import from_value
from chadllvm.support.options import CompileOptions
from tests.interpreted import normalised
from tests.laws.closure_programs import compiled

WAYS = {
    "forward over reverse": "cl.jvp(cl.grad(main), (x, n), (v, None))[1]",
    "hvp": "cl.hvp(main)(x, n, v)",
    "reverse over reverse": "cl.grad(lambda y: np.dot(cl.grad(main)(y, n), v))(x)",
    "pulled back": "cl.vjp(cl.grad(main), x, n)[1](v)[0]",
    "twice pulled back": (
        "cl.vjp(lambda y: cl.vjp(main, y, n)[1](1.0)[0], x)[1](v)[0]"
    ),
    "reverse over forward": "cl.grad(lambda y: cl.jvp(main, (y, n), (v, None))[1])(x)",
}

ALONG_BOTH = {
    "forward over forward": (
        "cl.jvp(lambda y: cl.jvp(main, (y, n), (v, None))[1], (x,), (w,))[1]"
    ),
    "linear maps": (
        "cl.linearize(lambda y: cl.linearize(main, y, n)[1](v, None), x)[1](w)"
    ),
}


def functions_of(text: str) -> list[str]:
    """The texts of a program and of what gives its derivatives by every way."""
    listed = ",\n        ".join([*WAYS.values(), *ALONG_BOTH.values()])
    head = "def all_ways(x: cl.f64[:], n: int, v: cl.f64[:], w: cl.f64[:]):"
    first = "main(x, n), cl.grad(main)(x, n), cl.jvp(main, (x, n), (v, None))[1]"
    return [text, f"{head}\n    return (\n        {first},\n        {listed},\n    )\n"]


def interpreted(function: Any, args: tuple[Any, ...], options: CompileOptions) -> list:
    """What the interpreter gives for the program with its derivatives."""
    program, leaves = normalised(function, args, options)
    results = Interpreter(program).run(*leaves)
    pairs = zip(results, program.entry.body.types, strict=True)
    return [from_value(value, ty) for value, ty in pairs]


def check_laws(found: list[Any], v: np.ndarray, w: np.ndarray) -> None:
    """The modes are adjoint, and all second derivatives agree.

    Raises:
        AssertionError: for a way that gives something else.
    """
    _, gradient, slope, *second = found
    np.testing.assert_allclose(np.dot(gradient, v), slope, rtol=1e-10, atol=1e-11)
    expected = second[0]
    scale = 1.0 + np.max(np.abs(expected))
    names = [*WAYS, *ALONG_BOTH]
    for name, way in zip(names, second, strict=True):
        wanted = expected if name in WAYS else np.dot(expected, w)
        np.testing.assert_allclose(
            way, wanted, rtol=1e-9, atol=1e-10 * scale, err_msg=name
        )


def check_program(name: str, text: str, options: CompileOptions) -> None:
    """Check one program, whose first derivatives are those of differences too."""
    random = np.random.default_rng(7)
    x, v, w = random.normal(size=(3, 3)) * 0.7
    function = compiled(functions_of(text), name)
    found = interpreted(function, (x, 4, v, w), options)
    check_laws(found, v, w)
    main = function.py_func.__globals__["main"]
    ends = [interpreted(main, (x + step * v, 4), options)[0] for step in (1e-6, -1e-6)]
    slope = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(found[2], slope, rtol=1e-5, atol=1e-6)
