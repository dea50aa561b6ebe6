"""Loops and comprehensions over the keys and entries of dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np

import chadllvm as cl
from programs.case import case

LAYER = {"w": np.array([0.3, -1.2]), "b": 0.7, "m": np.array([[1.0, 0.5]])}
RATES = {"c": 0.3, "a": 1.2, "b": -0.7}
NAMES = ("a", "c")


@case(LAYER, 1.5)
@cl.jit
def loop_over_items(params: Any, x: float) -> float:
    total = x
    for name, value in params.items():
        if name == "b":
            continue
        total += np.sum(value * value) * x
    for name in params:
        total *= 2.0 if name == "m" else 1.5
    return total


@case(RATES, 0.2)
@case(RATES, 0.9)
@cl.jit
def loop_that_breaks(params: Any, x: float) -> float:
    total = x
    for i, (name, value) in enumerate(sorted(params.items()), start=1):
        if total * i > 1.5:
            break
        if value < 0.0:
            continue
        total += value * params[name] * x
    else:
        total = total * total
    for name in reversed(params):
        if params[name] > 1.0:
            return total * params[name]
    return total


@case(LAYER, LAYER, 0.1)
@cl.jit
def stepped_entries(params: Any, slope: Any, rate: float) -> float:
    stepped = {name: p - rate * slope[name] for name, p in params.items()}
    for name, p in zip(stepped, params.values(), strict=True):
        stepped = {**stepped, name: 0.9 * stepped[name] + 0.1 * p}
    total = stepped["b"] * np.sum(stepped["w"] ** 2)
    return total + np.sum(stepped["m"] * stepped["m"])


@case(RATES, 1.3)
@cl.jit
def reduced_entries(params: Any, x: float) -> float:
    total = sum(v * x for k, v in params.items() if k in ("a", "c"))
    total += sum(v * v for _, v in params.items() if v > 0.0)
    total += max(v * x for v in params.values()) + min(params[k] for k in params)
    if any(v > x for _, v in params.items()) or "z" in params:
        total += 1.0
    if all(v < 0.5 or k == "a" for k, v in params.items()) and "a" in params:
        total *= 2.0
    scaled = [v * x for k, v in sorted(params.items(), reverse=True)]
    return total + scaled[0] + len(params) * len(params.items()) * x


@case(LAYER, 0.4)
@cl.jit
def flattened(params: Any, x: float) -> float:
    parts = np.concatenate([v.ravel() for k, v in params.items() if k != "b"])
    flat = np.tanh(parts * x)
    spread = [v * x + i for k, v in params.items() if k == "b" for i in range(2)]
    return np.sum(flat * flat) + spread[0] * spread[1]


@case({"u": RATES, "v": RATES}, 0.4)
@cl.jit
def nested_entries(params: Any, x: float) -> float:
    total = 0.0
    for outer, inner in params.items():
        for name in NAMES:
            for i in range(2):
                if outer == "u":
                    total += inner[name] * x**i
                else:
                    total -= (lambda t, v=inner[name]: t * v)(x + i)
    return total
