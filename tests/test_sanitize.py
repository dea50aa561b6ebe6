"""Sanitized code: right programs run in it as they do, and broken ones are found out.

A broken program is one of the compiler's: its checks are left out, or a pass is made to
allocate too little, to go too far or to give back too early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import leaves
from programs.case import Case
from programs.recursive_data import Chain, Cons

import chadllvm as cl
from chadllvm.driver import pipeline
from chadllvm.driver.passes import LOOPS, OPTIONAL
from chadllvm.ir.loops import Alloc, For, Let, LoopFunction, Reg, Reset, Stmt
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.llvm import lanes, statements
from chadllvm.support.diagnostic import InternalError
from tests.program_cases import CASES, real_params, tangents_of
from tests.sweep import swept

OPTIONS = {
    "default": cl.CompileOptions(),
    "plain": cl.CompileOptions(disabled=frozenset(OPTIONAL)),
    "permanent": cl.CompileOptions(optimize=0),
}
LEVELS = ("default", "permanent")
A = np.arange(1.0, 6.0)


def sanitized(function: Any, name: str = "default", **more: Any) -> Any:
    options = replace(OPTIONS[name], sanitize=True, cache=False, **more)
    return cl.jit(options=options)(function)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("case", swept(CASES, 30, "sanitized"))
def test_programs_stay_in_their_buffers(case: Case, name: str) -> None:
    """Value, gradient and tangents, which are those of other code."""
    plain = cl.jit(case.function.py_func, options=OPTIONS[name])
    found, right = sanitized(case.function.py_func, name), []
    params = real_params(case)
    seen = leaves(found(*case.args))
    right += leaves(plain(*case.args))
    if params:
        seen += leaves(cl.value_and_grad(found, argnums=params)(*case.args))
        right += leaves(cl.value_and_grad(plain, argnums=params)(*case.args))
    seen += leaves(cl.jvp(found, case.args, tangents_of(case))[0])
    right += leaves(case.plain_value())
    for a, b in zip(seen, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def with_other_sizes(case: Case) -> Iterator[tuple[Any, ...]]:
    """The arguments, each time with one array shorter or longer along an axis."""
    for k, arg in enumerate(case.args):
        if not isinstance(arg, np.ndarray) or arg.dtype.names or not arg.size:
            continue
        for axis, size in enumerate(arg.shape):
            for other in {0, size // 2, size - 1, size + 7} - {size}:
                places = np.arange(other) % size
                changed = np.ascontiguousarray(np.take(arg, places, axis))
                yield *case.args[:k], changed, *case.args[k + 1 :]


def ends(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a program does not call itself for ever, which takes long if checked."""
    try:
        function(*args)
    except RecursionError:
        return False
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return True
    return True


@pytest.mark.sweep
@pytest.mark.parametrize("case", swept(CASES, 40, "other sizes"))
def test_sizes_that_do_not_fit_are_seen_before_anything_is_read(case: Case) -> None:
    """Calls may succeed, or fail as in Python; no access is out of its buffer."""
    value, params = sanitized(case.function.py_func), real_params(case)
    functions = [value]
    if params:
        functions.append(cl.value_and_grad(value, argnums=params))
    outside = []
    for args in filter(partial(ends, case.function.py_func), with_other_sizes(case)):
        for function in functions:
            try:
                function(*args)
            except InternalError as error:
                outside.append(str(error))
            except (ArithmeticError, LookupError, TypeError, ValueError):
                pass
    assert outside == []


def test_products_of_sizes_that_do_not_fit() -> None:
    """Loops that are run with others stay behind the checks in front of them."""

    def product(a: cl.f64[:, :], b: cl.f64[:]) -> float:
        return np.sum(np.sin(a) @ b)

    def updated(a: cl.f64[:], b: cl.f64[:]) -> float:
        y = np.sin(a)
        y[:] = y * b
        return y[0]

    for program, shape in ((product, (3, 6)), (updated, (6,))):
        function = sanitized(program)
        for call in (function, cl.value_and_grad(function)):
            with pytest.raises(ValueError, match="sizes 6 and 4"):
                call(np.ones(shape), np.ones(4))


def test_elements_of_empty_arrays_behind_what_fails_before() -> None:
    """What loops read in each step is not read in front of them."""

    def grown(x: cl.f64[:]) -> float:
        ys = [v for v in x]
        for k in range(3):
            ys = [ys[i % len(ys)] * x[0] + k for i in range(len(ys) + 2)]
        return sum(y * y for y in ys)

    for options in ({}, {"speculate": False}):
        with pytest.raises(ZeroDivisionError):
            sanitized(grown, **options)(np.zeros(0))


def test_a_row_of_which_nothing_but_its_length_is_used() -> None:
    """Its pointer is made while the matrix is there, though nobody reads through it."""

    def lengths(y: float, k: int, a: cl.f64[:]) -> float:
        for row in np.eye(len(a)):
            if k % 2 == 0:
                return sum(y for _ in np.dot(np.eye(len(a)), row))
        return 0.0

    found = sanitized(lengths)
    assert found(0.5, 2, A) == 2.5
    assert cl.grad(found)(0.5, 2, A) == 5.0
    assert found(0.5, 1, A) == 0.0


def test_lanes_that_write_nothing_down() -> None:
    """Additions that wait have no buffers where they are not worth it, nor pointers."""

    def sums(a: cl.f64[:], b: cl.f64[:]) -> float:
        found = []
        for _ in a:
            found.append(np.inner(np.sort(b), a))
        return sum(found)

    x, y = np.random.default_rng(0).normal(size=(2, 17))
    by_x, by_y = cl.grad(sanitized(sums), argnums=(0, 1))(x, y)
    assert np.allclose(by_x, 17.0 * np.sort(y))
    assert np.allclose(by_y[np.argsort(y)], 17.0 * x)


def pushed(x: cl.f64[:]) -> float:
    found: Chain = None
    for k in range(len(x)):
        found = Cons(x[k], found)
    total = 0.0
    while found is not None:
        total = 0.5 * total + found.head
        found = found.tail
    return total


@pytest.mark.parametrize("name", LEVELS)
def test_nodes_stay_in_their_columns(name: str) -> None:
    """Columns grow when they are full, and not one node later."""
    found = sanitized(pushed, name)
    for count in range(20):
        x = np.arange(1.0, count + 1.0)
        assert found(x) == pushed(x)
        assert cl.grad(found)(x).tolist() == [0.5**k for k in range(count)]


# ---- checks are left out ---------------------------------------------------------


def read(x: cl.f64[:], k: int) -> float:
    y = x * 2.0
    return y[k] * x[0]


def written(x: cl.f64[:], k: int) -> float:
    y = x * 2.0
    y[k] = x[1]
    return y[0]


def gathered(x: cl.f64[:], k: int) -> float:
    places = [i * k for i in range(len(x))]
    return sum(x[i] * x[i] for i in places)


def in_a_matrix(x: cl.f64[:], k: int) -> float:
    m = np.outer(x, x)
    return sum(m[1, j + k] for j in range(len(x)))


def in_chains(x: cl.f64[:], k: int) -> float:
    """Its steps run in lanes, each of which has a loop of its own."""
    total = 0.0
    for i in range(64):
        s = x[i % 5]
        for j in range(i % 3 + 2):
            s = s * x[j + k] + 0.5
        total += s
    return total


def on_threads(x: cl.f64[:], k: int) -> float:
    y = np.cumsum(np.full(20_000, x[1]))
    return np.sum(np.sin(np.array([x[0] + y[i + k] for i in range(len(y))])))


@cl.jit
def recursive(x: cl.f64[:], k: int) -> float:
    if k < 0:
        return 0.0
    y = x * 2.0
    return y[k] * recursive(y, k - 3) + y[0]


BROKEN: dict[Callable[..., Any], int] = {
    read: 5,
    written: 5,
    gathered: 3,
    in_a_matrix: 25,
    in_chains: 4,
    on_threads: 1,
    recursive.py_func: 5,
}


@pytest.fixture
def without_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the frontend checks, native code does not."""
    monkeypatch.setattr(statements, "_check", lambda state, stmt: None)
    monkeypatch.setattr(lanes.Lanes, "_check", lambda self, stmt: None)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("way", ["value", "gradient"])
@pytest.mark.parametrize("function", BROKEN)
def test_an_index_that_nobody_checks_is_found(
    function: Callable[..., Any], way: str, name: str, without_checks: None
) -> None:
    found = sanitized(function, name, speculate=False)
    call = cl.grad(found) if way == "gradient" else found
    found(A, 0)
    with pytest.raises(InternalError, match=rf"{function.__name__}\b.* of a buffer of"):
        call(A, BROKEN[function])
    found(A, 0)  # The next call is well.


@pytest.mark.parametrize("k", [2**62, -(2**62), 2**63 - 1])
def test_the_arithmetic_of_an_index_overflows(k: int, without_checks: None) -> None:
    with pytest.raises(InternalError, match=r"in_a_matrix.*(overflows|of a buffer)"):
        sanitized(in_a_matrix, speculate=False)(A, k)
    with pytest.raises(InternalError, match=r"read.*overflows"):
        sanitized(read)(A, k)


def test_a_product_that_wraps_around_into_the_buffer(without_checks: None) -> None:
    """The address is right by chance, the index is not."""

    def far(x: cl.f64[:], n: int) -> float:
        return x[n * 4 + 1]

    assert cl.jit(cache=False)(far)(A, 2**62) == A[1]
    with pytest.raises(InternalError, match=r"far.*overflows"):
        sanitized(far, speculate=False)(A, 2**62)


# ---- passes are broken -----------------------------------------------------------


def rewritten(
    function: LoopFunction, change: Callable[[Stmt], tuple[Stmt, ...]]
) -> LoopFunction:
    """Statements in the outermost body are changed."""
    return replace(function, body=tuple(s for b in function.body for s in change(b)))


def too_little(stmt: Stmt) -> tuple[Stmt, ...]:
    if not isinstance(stmt, Alloc):
        return (stmt,)
    less = Reg("less", I64)
    return Let(less, "isub", (stmt.count, Lit(1))), replace(stmt, count=less)


def too_far(stmt: Stmt) -> tuple[Stmt, ...]:
    if not isinstance(stmt, For):
        return (stmt,)
    more = Reg("more", I64)
    return Let(more, "iadd", (stmt.high, Lit(1))), replace(stmt, high=more)


def too_early(stmt: Stmt) -> tuple[Stmt, ...]:
    if not isinstance(stmt, Alloc) or stmt.region < 0:
        return (stmt,)
    return stmt, Reset(stmt.region)


FAULTS = {
    too_little: "of a buffer of",
    too_far: "of a buffer of",
    too_early: "of no buffer",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_pass_is_found(
    fault: Callable[[Stmt], tuple[Stmt, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def running(x: cl.f64[:]) -> float:
        y = [v * v for v in x]
        total = 0.0
        for i in range(len(y)):
            total = total * y[i] + x[i]
        return total

    right = sanitized(running, disabled=frozenset(OPTIONAL))(A)
    assert right == pytest.approx(running(A))
    *others, (name, last) = LOOPS

    def broken(function: LoopFunction, options: cl.CompileOptions) -> LoopFunction:
        return rewritten(last(function, options), fault)

    monkeypatch.setattr(pipeline, "LOOPS", (*others, (name, broken)))
    passes = OPTIONAL - {name}
    with pytest.raises(InternalError, match=f"running: .* {FAULTS[fault]}"):
        sanitized(running, disabled=frozenset(passes))(A)


# ---- what surrounds it -----------------------------------------------------------


def test_inputs_are_not_those_of_the_caller() -> None:
    """They are copies, so that results are not views of them, and may overlap."""

    def both(x: cl.f64[:], y: cl.f64[:]):
        return x, x + y, [v for v in y]

    found = sanitized(both)
    x = np.arange(8.0)
    first, second, third = found(x[1:], x[:-1])
    x[:] = -1.0
    np.testing.assert_array_equal(first, np.arange(1.0, 8.0))
    np.testing.assert_array_equal(second, 2 * np.arange(7.0) + 1)
    np.testing.assert_array_equal(third, np.arange(7.0))


def test_a_failing_program_fails_as_it_does() -> None:
    with pytest.raises(IndexError):
        sanitized(read)(A, 5)
    assert sanitized(read)(A, 4) == read(A, 4)


def test_sanitized_code_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sanitize"):
        cl.export({"f": (sanitized(read), (A, 1))}, tmp_path / "libread")
