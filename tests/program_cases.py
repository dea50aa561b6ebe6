"""The programs of `programs/`, all of them, and what tests ask of their arguments."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import programs
from containers import drawn, leaves
from programs.case import CASES, Case

from chadllvm.frontend import specialise
from chadllvm.ir.term import Program
from chadllvm.ir.value import to_value
from tests.leaves import all_leaves

for module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(module.name)


def is_real(value: Any) -> bool:
    return any(d is not None for d in leaves(drawn(value, np.random.default_rng(0))))


def real_params(case: Case) -> list[int]:
    return [k for k, arg in enumerate(case.args) if is_real(arg)]


# What there are gradients of.
REAL_CASES = [case for case in CASES if real_params(case)]


def tangents_of(case: Case) -> tuple[Any, ...]:
    """Random directions for all arguments."""
    random = np.random.default_rng(11)
    return tuple(drawn(arg, random) for arg in case.args)


def source_of(case: Case) -> Program:
    """The program that the frontend makes of a case for its arguments."""
    return specialise(case.function.py_func, case.function._types(case.args))


def flat_arguments(case: Case, source: Program) -> list[Any]:
    """The leaves of the arguments, as the interpreter takes them."""
    types = [p.type for p in source.entry.params]
    values = [to_value(a, ty) for a, ty in zip(case.args, types, strict=True)]
    return all_leaves(values, types)
