"""A program at work: its outcomes in all the ways there are, each found once.

A `Verdict` is what an oracle says of it:

    agrees, differs
    refused     the program is made of documented constructs: a failure
    rightly     it is refused by the rules of aliases, as its writer knows
    documented  plain Python does something else there, as the documentation says
    ill         a last place of an argument decides the result
    skipped     the oracle has nothing to say
    internal    a defect that the compiler tells itself
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

import chadllvm as cl
from tests.campaign.close import Spread, spread
from tests.campaign.load import Loaded, load
from tests.campaign.outcome import Outcome, outcome
from tests.campaign.values import directions, is_real, nudged

FAILURES = ("differs", "refused", "internal", "crash", "hang")

# Aliases: an array is not updated while another name of it is still read, what a
# caller would see is not written to, and a captured variable is not assigned.
OF_ALIASES = frozenset(("CL0803", "CL0804", "CL0821", "CL1103"))

# Indices of a part that a call updates are not read from the same array.
OF_PARTS = "CL0823"

# What Python raises for a text that is no program of the language.
NO_PROGRAM = ("NameError", "UnboundLocalError", "TypeError", "AttributeError")


@dataclass(frozen=True)
class Verdict:
    status: str
    detail: str = ""

    @property
    def is_failure(self) -> bool:
        return self.status in FAILURES


AGREES = Verdict("agrees")


def skipped(why: str) -> Verdict:
    return Verdict("skipped", why)


class Judged:
    """The program of a text, and what has been found out about it so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.loaded: Loaded = load(text)
        self.args = self.loaded.args
        self._compiled: dict[str, Any] = {}
        self._outcomes: dict[str, Outcome] = {}
        self.random = np.random.default_rng(7)

    def compiled(self, **options: Any) -> Any:
        """The function compiled with these options."""
        name = repr(sorted(options.items()))
        if name not in self._compiled:
            self._compiled[name] = cl.jit(self.loaded.function.py_func, **options)
        return self._compiled[name]

    def with_options(self, **options: Any) -> Outcome:
        name = repr(sorted(options.items()))
        if name not in self._outcomes:
            call = self.compiled(**options)
            self._outcomes[name] = outcome(lambda: call(*self.args))
        return self._outcomes[name]

    @cached_property
    def default(self) -> Outcome:
        return self.with_options()

    @cached_property
    def python(self) -> Outcome:
        found = outcome(lambda: self.loaded.plain(*self.loaded.plain_args), 3)
        return found

    @cached_property
    def spread(self) -> Spread:
        """What last places of the arguments do to the result."""
        if not self.default.is_value:
            return Spread()
        random, others = Random(1), []
        for size in (1.0, 1.0, 4.0):
            args = nudged(self.args, random, size)
            near = outcome(lambda args=args: self.compiled()(*args))
            if not near.is_value:
                return Spread(is_ill=True)
            others.append(near.value)
        return spread(self.default.value, others)

    @cached_property
    def wrt(self) -> tuple[int, ...]:
        return tuple(k for k, arg in enumerate(self.args) if is_real(arg))

    @cached_property
    def tangents(self) -> tuple[Any, ...]:
        return directions(self.args, self.random)

    @property
    def is_scalar(self) -> bool:
        return self.default.is_value and isinstance(self.default.value, float)

    @property
    def has_objects(self) -> bool:
        """Whether an argument is an object of an ordinary class."""
        return any(type(arg).__name__ == "Spring" for arg in self.args)

    @property
    def is_single(self) -> bool:
        """Whether it computes with f32, or may."""
        return "f32" in self.text or "float32" in self.text

    @property
    def unit(self) -> float:
        """How much more may differ than between programs of f64."""
        return 1e6 if self.is_single else 1.0

    @property
    def flags(self) -> frozenset[str]:
        return self.loaded.flags

    def failed(self, found: Outcome, right: Outcome | None = None) -> Verdict | None:
        """What is to be said of an outcome that is no value, or None."""
        match found.kind:
            case "refused":
                codes = set(found.detail.split())
                known = OF_ALIASES if "alias" in self.flags else frozenset()
                if codes <= known | {OF_PARTS}:
                    return Verdict("rightly", found.detail)
                if self.python.detail in NO_PROGRAM:
                    return skipped("no program")
                return Verdict("refused", found.detail)
            case "internal":
                return Verdict("internal", found.detail)
            case "slow":
                return skipped("slow")
            case "raised" if right is not None and right.kind == "raised":
                if found.detail == right.detail:
                    return AGREES
                if isinstance(found.value, type(right.value)):
                    return Verdict("documented", found.detail)  # Caught by the same.
                return Verdict("differs", f"{found.detail} for {right.detail}")
            case "raised":
                return Verdict("differs", f"{found.detail}: {found.value}"[:150])
            case _:
                return None
