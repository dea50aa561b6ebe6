"""What runs over the keys of dictionaries (`frontend/keys.py`)."""

from __future__ import annotations

from typing import Any

import pytest

import chadllvm as cl

RATES = {"c": 0.3, "a": 1.2, "b": -0.7}


def refused(function: Any, *args: Any) -> str:
    with pytest.raises(cl.CompileError) as caught:
        cl.jit(function)(*args)
    return str(caught.value)


def test_other_keys_make_another_version() -> None:
    @cl.jit
    def total(params: Any) -> float:
        found = 0.0
        for k, v in params.items():
            found += 2.0 * v if k.startswith("a") else v
        return found

    assert total({"a": 1.0}) == 2.0
    assert total({"b": 1.0, "ab": 3.0}) == 7.0
    assert cl.grad(total)({"b": 1.0, "ab": 3.0}) == {"b": 1.0, "ab": 2.0}


def test_the_owner_is_evaluated_once(capfd: pytest.CaptureFixture[str]) -> None:
    def made(x: float) -> dict[str, float]:
        print("made")
        return {"a": x, "b": 2.0 * x}

    @cl.jit
    def total(x: float) -> float:
        params = made(x)
        found = sum(v for k, v in params.items() if k != "c")
        for _, v in params.items():
            params = {**params, "b": 0.0}
            found += v
        return found

    assert total(1.0) == 6.0
    assert capfd.readouterr().out == "made\n"


def test_entries_of_other_types() -> None:
    @cl.jit
    def total(x: float, n: int) -> float:
        params = {"x": x, "pair": (x, n), "flag": True}
        found = 0.0
        for k in params:
            if k == "pair":
                found += params[k][0] * params[k][1]
            elif k == "x":
                found += params[k]
        return found

    assert total(2.0, 3) == 8.0
    assert cl.grad(total)(2.0, 3) == 4.0


def test_names_in_a_loop_are_hidden_by_inner_ones() -> None:
    @cl.jit
    def total(params: Any, x: float) -> float:
        found = 0.0
        for k, v in params.items():
            found += sum(k * v for k in range(3)) + (lambda t, v=v, k=k: t * v)(x)
            found += sum(v for v in (x, v))
        return found

    with pytest.raises(cl.CompileError):
        total(RATES, 2.0)  # `k=k` would pass a string on.

    @cl.jit
    def right(params: Any, x: float) -> float:
        found = 0.0
        for k, v in params.items():
            found += sum(k * v for k in range(3)) + (lambda t, v=v: t * v)(x)
            found += sum(v for v in (x, v))
        return found

    assert right(RATES, 2.0) == pytest.approx(right.py_func(RATES, 2.0))


def test_a_key_is_no_value() -> None:
    def kept(params: Any) -> float:
        for k in params:
            last = k
        return params[last]

    assert "a string is not supported" in refused(kept, RATES)

    def after(params: Any) -> float:
        total = 0.0
        for k in params:
            total += params[k]
        return params[k]

    assert "CL0301" in refused(after, RATES)

    def assigned(params: Any) -> float:
        for k in params:
            k = 1.0
        return k

    assert "CL0919" in refused(assigned, RATES)
    assert "CL0921" in refused(lambda params: sorted(params), RATES)
    assert "CL0921" in refused(lambda params: list(params), RATES)


def test_zip_with_what_has_no_keys_is_refused() -> None:
    def paired(params: Any, x: cl.f64[:]) -> float:
        return sum(v * w for (k, v), w in zip(params.items(), x, strict=True))

    assert "CL0921" in refused(paired, RATES, [1.0, 2.0, 3.0])


def test_spread_by_dict() -> None:
    @cl.jit
    def total(params: Any, x: float) -> float:
        return sum(dict(params, z=x).values())

    assert total(RATES, 2.0) == pytest.approx(2.8)
    assert cl.grad(total, argnums=1)(RATES, 2.0) == 1.0


def test_values_after_a_loop_that_may_break() -> None:
    """Each step is the `else` of the one before, also where no `break` is left."""

    def last(params: Any, x: float) -> float:
        v = x
        for k, v in params.items():  # noqa: B007
            if k == "zz" or (k == "a" and x > 2.0):
                break
        return v * x

    for x in (1.0, 3.0):
        assert cl.jit(last)(RATES, x) == last(RATES, x)
        assert cl.jit(last)({"y": 1.0, "z": 4.0}, x) == 4.0 * x


def test_loops_behind_and_inside_of_a_match() -> None:
    def total(params: Any, k: int, x: float) -> float:
        match k:
            case 0:
                for v in params.values():
                    x += v
            case 1:
                x = -x
        for name, v in params.items():
            if name == "b":
                break
            x += 2.0 * v
        return x

    for k in (0, 1, 2):
        assert cl.jit(total)(RATES, k, 1.0) == pytest.approx(total(RATES, k, 1.0))
