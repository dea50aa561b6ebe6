"""Arguments and results: conversions, refusals, ownership."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_programs import VECTOR, axpy, dot, function, instruction, native, spin, table

import chadllvm as cl
from chadllvm.backend import elf
from chadllvm.backend.call import NativeFunction
from chadllvm.backend.offers import SMALL
from chadllvm.backend.runtime import POOLED_WORDS, runtime
from chadllvm.ir.loops import (
    PTR,
    ArrayParam,
    Load,
    LoopFunction,
    Reg,
    Return,
    ScalarParam,
    ScalarResult,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F32, F64, I64, Array, Product, Type
from chadllvm.support.diagnostic import InternalError, Span


@pytest.fixture(scope="module")
def negate() -> NativeFunction:
    return instruction("neg")


@pytest.fixture(scope="module")
def negate_int() -> NativeFunction:
    return instruction("ineg")


@pytest.fixture(scope="module")
def inner() -> NativeFunction:
    return native(dot(), [VECTOR, VECTOR], F64)


@pytest.mark.parametrize(
    "value",
    [2.5, 2, True, np.float64(2.5), np.float32(2.5), np.int64(3), np.array(2.5)],
)
def test_floats(negate: NativeFunction, value: Any) -> None:
    found = negate(value)
    assert type(found) is float and found == -float(value)
    assert negate(x0=value) == found


@pytest.mark.parametrize(
    "value", ["1", None, 1j, [1.0], np.ones(1), Fraction(1, 2), np.array("a")]
)
def test_no_floats(negate: NativeFunction, value: Any) -> None:
    with pytest.raises(TypeError, match="neg: parameter x0 must be a float, found"):
        negate(value)


def test_a_huge_int_is_no_float(negate: NativeFunction) -> None:
    with pytest.raises(OverflowError, match=r"neg: parameter x0: 1000.* too large"):
        negate(10**400)


@pytest.mark.parametrize("value", [3, True, np.int8(3), np.uint64(3), np.array(3)])
def test_ints(negate_int: NativeFunction, value: Any) -> None:
    found = negate_int(value)
    assert type(found) is int and found == -int(value)


@pytest.mark.parametrize("value", [3.0, np.float64(3), np.float32(3), "3", None])
def test_no_ints(negate_int: NativeFunction, value: Any) -> None:
    with pytest.raises(TypeError, match="ineg: parameter x0 must be an int, found"):
        negate_int(value)


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, np.uint64((1 << 64) - 1)])
def test_too_large_ints(negate_int: NativeFunction, value: Any) -> None:
    with pytest.raises(OverflowError, match=r"ineg: parameter x0: .* 64 bits"):
        negate_int(value)


def test_bools() -> None:
    run = instruction("not")
    assert run(True) is False
    assert run(np.False_) is True
    assert run(np.array(True)) is False
    for value in (1, 0.0, "True", None):
        with pytest.raises(TypeError, match="not: parameter x0 must be a bool"):
            run(value)


def test_wrong_number_of_arguments(negate: NativeFunction) -> None:
    with pytest.raises(TypeError, match=r"neg\(\) missing 1 required"):
        negate()
    with pytest.raises(TypeError, match=r"neg\(\) takes 1"):
        negate(1.0, 2.0)


def unaligned(count: int) -> np.ndarray:
    array = np.zeros(8 * count + 1, np.uint8)[1:].view(np.float64)
    array[:] = np.arange(count)
    return array


def read_only(count: int) -> np.ndarray:
    array = np.arange(float(count))
    array.flags.writeable = False
    return array


class Interface:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Capsule:
    def __init__(self, array: np.ndarray) -> None:
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0),
        np.arange(12.0)[::2],
        np.arange(6.0)[::-1],
        np.arange(6.0).astype(">f8"),
        np.arange(12.0).reshape(2, 6)[:, 1].repeat(3),
        np.asfortranarray(np.arange(12.0).reshape(2, 6))[1],
        unaligned(6),
        read_only(6),
        np.zeros(0),
        np.arange(6.0).view(np.recarray),
        memoryview(np.arange(6.0)),
        Interface(np.arange(6.0)),
        Capsule(np.arange(6.0)),
    ],
)
def test_arrays(inner: NativeFunction, array: Any) -> None:
    given = array.array if isinstance(array, Interface) else array
    if isinstance(array, Capsule):
        given = np.arange(6.0)
    expected = np.asarray(given).astype(np.float64)
    before = expected.copy()
    assert inner(array, array) == expected @ expected
    assert (np.asarray(given) == before).all()


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (np.ones(3, np.float32), TypeError, "found ndarray of float32"),
        (np.ones((2, 2)), ValueError, "must have 1 dimension(s), found 2"),
        (np.array(1.0), ValueError, "must have 1 dimension(s), found 0"),
        ((1.0, 2.0), TypeError, "numpy.array(…, dtype=numpy.float64)"),
        (1.0, TypeError, "must be a NumPy array of float64 with 1 dimension(s)"),
        (None, TypeError, "found NoneType None"),
        ("text", TypeError, "found str 'text'"),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), TypeError, "masked by .filled(…)"),
    ],
)
def test_no_arrays(
    inner: NativeFunction, value: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        inner(np.ones(3), value)
    assert str(caught.value).startswith("dot: parameter x1 ")
    assert text in str(caught.value)


def pick() -> LoopFunction:
    """(a[0, 1], (flag, n)) as (f64, f64, bool, i64) given ((flag, n), a)."""
    flag, n, v = Reg("flag", BOOL), Reg("n", I64), Reg("v", F64)
    a = ArrayParam(Reg("a", PTR), (Reg("rows", I64), Reg("columns", I64)), F64)
    body = [Load(v, a.ptr, Lit(1), 0), Return((v, flag, n, a.dims[1]))]
    types = (F64, BOOL, I64, I64)
    results = [ScalarResult(ty) for ty in types]
    return function("pick", [ScalarParam(flag), ScalarParam(n), a], results, body)


def test_tuples() -> None:
    pair = Product((BOOL, I64), ("flag", "n"))
    result = Product((F64, Product((pair, Product(()))), I64))
    run = native(pick(), [pair, Array(F64, 2)], result)
    array = np.arange(6.0).reshape(2, 3)
    assert run((True, 7), array) == (1.0, ((True, 7), ()), 3)
    assert run((False, np.int64(7)), array.T) == (3.0, ((False, 7), ()), 2)
    with pytest.raises(ValueError, match="parameter x0 must be a tuple of 2, found a"):
        run((True,), array)
    with pytest.raises(TypeError, match=r"parameter x0 must be a tuple of 2, found l"):
        run([True, 7], array)
    with pytest.raises(TypeError, match=r"parameter x0\[1\] must be an int"):
        run((True, 7.0), array)


def test_an_array_of_tuples_is_a_list() -> None:
    run = native(table(F64), [I64, I64, F64], Array(Product((F64,)), 2))
    assert run(2, 3, 1.5) == [[(1.5,)] * 3] * 2
    run = native(table(F64), [I64, I64, F64], Array(Product((Array(F64, 1),)), 1))
    found = run(2, 3, 1.5)
    assert [row.tolist() for (row,) in found] == [[1.5] * 3] * 2


def test_many_results() -> None:
    x, count = Reg("x", F64), POOLED_WORDS + 10
    results = [ScalarResult(F64)] * count
    made = function("many", [ScalarParam(x)], results, [Return((x,) * count)])
    run = native(made, [F64], Product((F64,) * count))
    assert run(2.5) == (2.5,) * count


def test_results_are_writable_and_live_as_long_as_their_views() -> None:
    run = native(table(F64), [I64, I64, F64], Array(F64, 2))
    view = run(100, 100, 1.0)[50]
    view += 1.0
    for k in range(50):
        run(100, 100, float(k))
    assert (view == 2.0).all()
    assert view.flags.writeable


def test_results_of_any_shape_follow_each_other() -> None:
    """Arrays are offered for results by the shapes of the last ones."""
    large = (SMALL, 3)
    shapes = [(2, 3), (2, 3), (3, 2), (3, 2), (0, 3), (0, 3), (2, 3)]
    shapes += [large, large, (1, 1), (1, 1)]
    for elem in (F64, F32, I64, BOOL):
        run, kept = native(table(elem), [I64, I64, elem], Array(elem, 2)), []
        value = {F64: 1.5, F32: 1.5, I64: 7, BOOL: True}[elem]
        for shape in shapes:
            kept.append(run(*shape, value))
            with pytest.raises(ValueError, match="no -1 rows"):
                run(-1, 3, value)
            context = runtime().pool[-1][0]
            assert runtime().lib.chad_memory_used(context) == 0
        assert [array.shape for array in kept] == shapes
        assert all((array == value).all() for array in kept)
        assert kept[1].flags.owndata and not kept[8].flags.owndata


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux only")
def test_results_do_not_leak() -> None:
    run = native(table(F64), [I64, I64, F64], Array(F64, 2))
    size = 1 << 20
    run(size, 1, 1.0)
    before = resident_megabytes()
    for _ in range(200):
        run(size, 1, 1.0)
        with pytest.raises(ValueError, match="no -1 rows of 3"):
            run(-1, 3, 1.0)
    assert resident_megabytes() - before < 100


def resident_megabytes() -> float:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096 / (1 << 20)


def test_a_failure_leaves_no_memory_behind() -> None:
    run = native(table(F64), [I64, I64, F64], Array(F64, 2))
    with pytest.raises(ValueError, match="no -2 rows"):
        run(-2, 3, 1.0)
    context = runtime().pool[-1][0]
    assert runtime().lib.chad_memory_used(context) == 0


def test_a_failure_names_the_line(tmp_path: Any) -> None:
    path = tmp_path / "model.py"
    path.write_text("def f(n):\n    return table[n]\n")
    span = Span(str(path), 2, 11, 2, 19, "f")
    run = native(table(F64, span), [I64, I64, F64], Array(F64, 2))
    with pytest.raises(ValueError) as caught:
        run(-2, 3, 1.0)
    assert str(caught.value) == f"no -2 rows of 3 ({path}:2, in f)"
    (note,) = caught.value.__notes__
    assert "2 |     return table[n]" in note and "^^^^^^^^" in note


def test_no_memory_is_an_error() -> None:
    run = native(table(F64), [I64, I64, F64], Array(F64, 2))
    for rows in (1 << 45, (1 << 62) + 1):
        with pytest.raises(MemoryError, match=r"table: .* refused"):
            run(rows, 1, 1.0)
    assert run(1, 1, 1.0) == 1.0


def test_on_failure_gets_the_arguments() -> None:
    names, types = ["n", "m", "value"], [I64, I64, F64]
    seen: list[Any] = []

    def again(*args: Any) -> str:
        seen.extend(args)
        return "repeated"

    run = NativeFunction(
        table(F64), "table", names, types, Array(F64, 2), on_failure=again
    )
    assert run(-1, 3, 2) == "repeated"
    assert seen == [-1, 3, 2.0]
    assert run(1, 1, 2).shape == (1, 1)


def test_a_wrong_signature_is_our_defect() -> None:
    with pytest.raises(InternalError, match="do not have its signature"):
        native(dot(), [VECTOR], F64)
    with pytest.raises(InternalError, match="cannot name a parameter"):
        NativeFunction(dot(), "dot", ["a", "if"], [VECTOR, VECTOR], F64)


@pytest.mark.parametrize("names", [("_pop", "native"), ("__native", "_state")])
def test_any_name_may_be_a_parameter(names: tuple[str, str]) -> None:
    types: list[Type] = [VECTOR, VECTOR]
    run = NativeFunction(dot(), "_push", names, types, F64)
    assert run(np.ones(3), np.ones(3)) == 3.0


def test_code_lives_as_long_as_the_call() -> None:
    run = native(dot(), [VECTOR, VECTOR], F64)
    code, call = weakref.ref(run.code), run.call
    del run
    gc.collect()
    assert call(np.ones(3), np.ones(3)) == 3.0
    assert code() is not None
    del call
    gc.collect()
    assert code() is None


def test_code_that_llvm_has_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where objects are not ELF."""
    monkeypatch.setattr(elf, "is_supported", lambda: False)
    run = native(axpy(), [F64, VECTOR, VECTOR], VECTOR)
    for size in (3, 4):
        found = run(2.0, np.ones(size), np.ones(size))
        assert found.tolist() == [3.0] * size
    with pytest.raises(TypeError, match="a float"):
        run("2", np.ones(3), np.ones(3))


def test_results_of_which_some_have_another_shape() -> None:
    """Offers are taken or refused one by one; numbers stand between them."""

    @cl.jit
    def parts(x: cl.f64[:], n: int) -> tuple[int, cl.f64[:], float, cl.f64[:]]:
        return n, x * 2.0, x[0], np.ones(n)

    for size, n in [(2, 3), (2, 3), (2, 4), (5, 4), (6, 1), (6, 1), (SMALL, 1), (2, 0)]:
        count, twice, first, ones = parts(np.full(size, 1.5), n)
        assert (count, first) == (n, 1.5)
        assert twice.tolist() == [3.0] * size and ones.tolist() == [1.0] * n
        assert runtime().lib.chad_memory_used(runtime().pool[-1][0]) == 0


ENDS = """
import threading, time
import chadllvm as cl

@cl.jit
def spin(n: int) -> float:
    x = 1.0
    for i in range(n):
        x = x * 0.5 + i
    return x

def often() -> None:
    while True:
        spin(100)

spin(100)
for run, args in [(spin, (10**15,)), (often, ()), (often, ())]:
    threading.Thread(target=run, args=args, daemon=True).start()
time.sleep(0.1)
"""


def test_python_ends_while_threads_are_in_calls(tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text(ENDS)
    command = [sys.executable, "-X", "faulthandler", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads() -> None:
    run = native(axpy(), [F64, VECTOR, VECTOR], VECTOR)
    a, wrong = np.arange(5000.0), []

    def work(seed: int) -> None:
        for k in range(200):
            x = float(seed * 1000 + k)
            if not (run(x, a, a) == x * a + a).all():
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_compiling_in_threads() -> None:
    found: list[float] = []

    def work() -> None:
        run = native(dot(), [VECTOR, VECTOR], F64)
        found.append(run(np.ones(10), np.ones(10)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [10.0] * 4


def test_a_call_releases_the_lock_of_the_interpreter() -> None:
    run = native(spin(nested=False), [I64, F64], F64)
    done = threading.Event()

    def work() -> None:
        run(100_000_000, 2.0)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    steps = 0
    while not done.is_set() and steps < 1000:
        steps += 1
    thread.join()
    assert steps == 1000


def test_show() -> None:
    run = native(dot(), [VECTOR, VECTOR], F64)
    assert "define" in run.llvm_ir
    assert "chad_fn_dot" in run.asm
    assert "def dot(x0, x1):" in run.source
