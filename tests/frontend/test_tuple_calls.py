"""`tuple(...)`: of tuples, of what has a known length, and of generators over these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

V = np.array([0.5, -1.5, 2.0])


class Pair(NamedTuple):
    first: float
    second: float


def steps(v: cl.f64[:], s: float) -> float:
    state = (v, s, v * s)
    for _ in range(3):
        slopes = tuple(2.0 * part for part in state)
        state = tuple(p - 0.1 * q for p, q in zip(state, slopes, strict=True))
    return float(np.sum(state[0] * state[2])) + state[1]


def several_clauses(v: cl.f64[:], s: float) -> float:
    products = tuple(x * y for x in (1.0, s) for y in (v[0], 2.0, s))
    return products[1] * products[-1] + len(products)


def of_iterators(v: cl.f64[:], s: float) -> float:
    counted = tuple(k * x for k, x in enumerate((s, 2.0 * s, v[1]), 1))
    turned = tuple(reversed(counted)) + tuple(range(1, 4))
    return turned[0] * turned[1] * turned[-1] + sum(turned)


def of_sequences(v: cl.f64[:], s: float) -> float:
    a, b = tuple([s, v[0]])
    c, d = tuple(Pair(s, v[1]))
    e = tuple(np.array([s, 3.0]))
    return a * b + c * d + e[0] * e[1] + len(tuple()) + len(tuple(()))


def nested_targets(v: cl.f64[:], s: float) -> float:
    pairs = ((1.0, (s, v)), (2.0, (s * s, 2.0 * v)))
    found = tuple(a * b * np.sum(c) for a, (b, c) in pairs)
    made = tuple((x, 2.0 * x) for x in found)
    return sum(x * y for x, y in made)


def of_a_dictionary(v: cl.f64[:], s: float) -> float:
    params = {"w": s, "b": v[0]}
    scaled = tuple(params[k] * s for k in params)
    both = tuple(x * y for x, y in zip(params.values(), scaled, strict=True))
    return both[0] - both[1]


def of_mixed_entries(v: cl.f64[:], s: float) -> float:
    params = {"a": v, "b": s, "c": 2.0}
    a, b, c = tuple(params.values())
    pairs = tuple(zip((1.0, s, 3), params.values(), strict=True))
    counted = tuple(enumerate((s, v[0]), 1))
    return np.sum(a) * b * c + np.sum(pairs[0][1]) * pairs[1][0] + counted[1][0] * s


def of_what_is_known(v: cl.f64[:], s: float) -> float:
    others = tuple(v[k] * s for k in range(3) if k != 1)
    return others[0] * others[1] + len(others)


def other_types(v: cl.f64[:], s: float) -> float:
    whole, half, is_large = tuple(x for x in (3, s * 0.5, s > 1.0))
    return half * (whole // 2) if is_large else half


def rest_of_several_types(v: cl.f64[:], s: float) -> float:
    first, *rest = (s, v, 3)
    *others, last = (s, 2.0 * s, v[0])
    return first * np.sum(rest[0]) * rest[1] + others[0] * others[1] * last


def no_components(v: cl.f64[:], s: float) -> float:
    def total(*parts):
        found = 1.0
        for part in parts:
            found += np.sum(part * part)
        else:
            found *= 2.0
        return found

    return total() * s + total(v) + total(v, v[:2])


FORMS: list[Callable[..., Any]] = [
    *(steps, several_clauses, of_iterators, of_sequences, nested_targets),
    *(of_a_dictionary, of_mixed_entries, of_what_is_known, other_types),
    *(rest_of_several_types, no_components),
]


@pytest.mark.parametrize(
    "options", [cl.CompileOptions(), cl.CompileOptions(optimize=0)]
)
@pytest.mark.parametrize("form", FORMS)
def test_it_is_that_of_python(
    form: Callable[..., Any], options: cl.CompileOptions
) -> None:
    compiled = cl.jit(form, options=options)
    assert np.isclose(compiled(V, 1.75), form(V, 1.75))
    assert cl.check_grads(compiled, (V, 1.75)) is None  # type: ignore[func-returns-value]


def strings(s: float) -> float:
    return len(tuple(name for name in ("a", "b"))) * s


def unknown_test(v: cl.f64[:]) -> float:
    found = tuple(x for x in (v[0], v[1]) if x > 0.0)
    return found[0]


def of_an_argument(v: cl.f64[:]) -> float:
    found = tuple(v)
    return found[0]


def of_an_open_range(n: int) -> float:
    found = tuple(k for k in range(n))
    return found[0]


def of_many(v: cl.f64[:]) -> float:
    found = tuple(range(1000))
    return found[0] + v[0]


def no_range(v: cl.f64[:]) -> float:
    found = tuple(range(0, 5, 0))
    return found[0] + v[0]


def wrong_targets(v: cl.f64[:]) -> float:
    found = tuple(a for a, b, c in ((v, v), (v, v)))
    return found[0][0]


@pytest.mark.parametrize(
    ("form", "code", "args"),
    [
        *[(strings, "CL0229", (1.0,)), (of_an_argument, "CL0515", (V,))],
        *[(of_an_open_range, "CL0515", (2,)), (wrong_targets, "CL0511", (V,))],
        *[(unknown_test, "CL0922", (V,)), (of_many, "CL0515", (V,))],
        (no_range, "CL0408", (V,)),
    ],
)
def test_what_is_not_known_is_refused(
    form: Callable[..., Any], code: str, args: tuple[Any, ...]
) -> None:
    with pytest.raises(CompileError, match=code):
        cl.jit(form)(*args)
