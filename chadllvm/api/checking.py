"""`check_grads`: derivatives of a function against differences of its values.

Each argument is moved along a direction, the others held fixed. What the results then
change by is measured by a central difference, and compared with what forward mode says,
and with what reverse mode says of the results times a cotangent. Derivatives of higher
orders are checked as those of functions that we write: the tangent of f along given
directions, and the pullback of f for a given cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chadllvm.api.compiled import Compiled
from chadllvm.api.placed import placed
from chadllvm.api.reals import all_numbers, has_singles, mapped, numbers, stepped
from chadllvm.api.reverse import vjp
from chadllvm.api.tangents import jvp
from chadllvm.api.written import head, unused, written
from chadllvm.driver.values import as_declared
from chadllvm.support.frames import without_frames

MODES = ("fwd", "rev")

# The step of differences, and how much they may be off, for f64 and with f32.
_DOUBLE, _SINGLE = (6e-6, 1e-6), (2e-2, 2e-2)


@without_frames
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = MODES,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function at some arguments by central differences.

    Args:
        f: a function, compiled or not, with any results.
        args: its arguments, by position. The function must be smooth around them.
        order: up to which order derivatives are checked.
        modes: of forward mode (`"fwd"`) and reverse mode (`"rev"`), which to check.
        atol, rtol: how far a derivative may be off, absolutely and relatively; by
            default 1e-6, or 2e-2 if there are f32 among the arguments.
        eps: the step of the differences, 6e-6 or 2e-2 by default.

    Raises:
        AssertionError: if a derivative is wrong; it says by which argument, in which
            mode, and what was expected.
        TypeError: if `args` is no tuple or list.
        ValueError: if no argument holds reals, or there is no such order or mode.
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if order < 1 or not modes or not set(modes) <= set(MODES):
        raise ValueError(
            f"check_grads: order={order}, modes={modes}: an order is at least 1, and "
            "modes are 'fwd' and 'rev'"
        )
    if not isinstance(args, tuple | list):
        kind = type(args).__name__
        raise TypeError(f"check_grads: args must be a tuple, not a {kind}")
    at = placed(f, args)
    step, tolerance = _SINGLE if has_singles(tuple(args)) else _DOUBLE
    limits = _Limits(
        step if eps is None else eps,
        tolerance if atol is None else atol,
        tolerance if rtol is None else rtol,
    )
    random = np.random.default_rng(0)
    check = _Check(at.function, at.args, limits, random, {*at.which})
    check.run(modes, order, f"the derivative of {at.function.name}")


@dataclass(frozen=True)
class _Limits:
    step: float
    atol: float
    rtol: float

    def are_close(self, found: float, expected: float, size: float) -> bool:
        """`size` is that of the numbers that were added up."""
        if found == expected:
            return True
        return abs(found - expected) <= self.atol + self.rtol * max(size, abs(found))


@dataclass
class _Check:
    """A function at some arguments; derivatives are taken by those at `which`."""

    function: Compiled
    args: tuple[Any, ...]
    limits: _Limits
    random: np.random.Generator
    which: set[int]
    out: Any = None

    def run(self, modes: Sequence[str], order: int, title: str) -> None:
        """Check derivatives up to this order."""
        self.args = tuple(map(self._as_declared, range(len(self.args)), self.args))
        self.out = self.function.value(*self.args)
        ct = self._direction(self.out)
        real = [k for k in sorted(self.which) if any(numbers(self.args[k]))]
        if not real or not any(numbers(ct)):
            raise ValueError(f"{title}: there are no reals to differentiate")
        directions = [
            self._direction(arg) if k in self.which else None
            for k, arg in enumerate(self.args)
        ]
        for k in real:
            self._argument(k, directions[k], ct, modes, title)
        if order > 1:
            for mode in modes:
                inner, args = self._derivative(mode, directions, ct)
                name = f"{title}, in {_WORDS[mode]} mode,"
                which = {*self.which, *range(len(self.args), len(args))}
                check = _Check(inner, args, self.limits, self.random, which)
                check.run(modes, order - 1, f"the derivative of {name}")

    def _as_declared(self, k: int, arg: Any) -> Any:
        """An int for a parameter that is a float is a float, a list is an array."""
        parameter = self.function.parameters[k]
        name = self.function.name
        return as_declared(parameter.annotation, arg, name, parameter.name)

    def _direction(self, value: Any) -> Any:
        """Random numbers in the place of reals, None in that of others."""
        return mapped(value, self._random, lambda _: None)

    def _random(self, x: Any) -> Any:
        drawn = self.random.uniform(0.5, 1.5, np.shape(x))
        drawn *= self.random.choice([-1.0, 1.0], np.shape(x))
        if isinstance(x, np.ndarray):
            return drawn.astype(x.dtype)
        return type(x)(drawn) if isinstance(x, np.floating) else float(drawn)

    def _argument(
        self, k: int, direction: Any, ct: Any, modes: Sequence[str], title: str
    ) -> None:
        """Check the derivatives by one argument."""
        measured = self._difference(k, direction)
        name = f"{title} by {self.function.parameters[k].name}"
        if "fwd" in modes:
            self._forward(k, direction, measured, name)
        if "rev" in modes:
            self._reverse(k, direction, ct, measured, name)

    def _forward(self, k: int, direction: Any, measured: np.ndarray, name: str) -> None:
        """The tangent of each result is what was measured."""
        tangents = [direction if j == k else None for j in range(len(self.args))]
        found = all_numbers(jvp(self.function, self.args, tangents)[1])
        for j, (one, other) in enumerate(zip(found, measured, strict=True)):
            if not self.limits.are_close(one, other, abs(other)):
                part = f", result {j}" if len(measured) > 1 else ""
                raise _wrong(f"{name}{part}", "fwd", one, other)

    def _reverse(
        self, k: int, direction: Any, ct: Any, measured: np.ndarray, name: str
    ) -> None:
        """Cotangents times tangents are the same on both sides of the function."""
        _, pullback = vjp(self.function, *self.args)
        pulled = all_numbers(pullback(ct)[k])
        backwards = pulled * all_numbers(direction)
        forwards = measured * all_numbers(ct)
        size = max(np.sum(np.abs(backwards)), np.sum(np.abs(forwards)))
        one, other = float(np.sum(backwards)), float(np.sum(forwards))
        if not self.limits.are_close(one, other, float(size)):
            raise _wrong(name, "rev", one, other)

    def _difference(self, k: int, direction: Any) -> np.ndarray:
        """How fast the results change along a direction of one argument."""
        sides = []
        for step in (self.limits.step, -self.limits.step):
            moved = stepped(self.args[k], step * all_numbers(direction))
            args = (*self.args[:k], moved, *self.args[k + 1 :])
            sides.append(all_numbers(self.function.value(*args)))
        if sides[0].shape != sides[1].shape:
            raise ValueError(f"{self.function.name} has results of changing shapes")
        slope: np.ndarray = (sides[0] - sides[1]) / (2.0 * self.limits.step)
        return slope

    def _derivative(
        self, mode: str, directions: Sequence[Any], ct: Any
    ) -> tuple[Compiled, tuple[Any, ...]]:
        """The function's derivative as a function, and its arguments."""
        parameters = self.function.parameters[: len(self.args)]
        names = [p.name for p in parameters]
        called, take = unused("function", names), unused("derivative", names)
        if mode == "fwd":
            new = [unused(f"{name}_t", names) for name in names]
            kept = [d is not None and any(numbers(d)) for d in directions]
            given = [n if flag else "None" for n, flag in zip(new, kept, strict=True)]
            body = f"{take}({called}, ({', '.join(names)},), ({', '.join(given)},))[1]"
            more = [n for n, flag in zip(new, kept, strict=True) if flag]
            pairs = zip(self.args, directions, kept, strict=True)
            values = [_moved_along(arg, d) for arg, d, flag in pairs if flag]
        else:
            more, values = [unused("ct", names)], [_moved_along(self.out, ct)]
            body = f"{take}({', '.join([called, *names])})[1]({more[0]})"
        title = unused(f"{_WORDS[mode]}_{self.function.name}", [*names, *more])
        space = {called: self.function, take: jvp if mode == "fwd" else vjp}
        heads = [head(p, [*names, *more], space) for p in parameters]
        text = f"def {title}({', '.join([*heads, *more])}):\n    return {body}\n"
        return written(self.function, title, text, space), (*self.args, *values)


_WORDS = {"fwd": "forward", "rev": "reverse"}


def _wrong(what: str, mode: str, found: float, expected: float) -> AssertionError:
    return AssertionError(
        f"{what} is wrong: {_WORDS[mode]} mode says {found:.12g}, differences of "
        f"values say {expected:.12g}"
    )


def _moved_along(value: Any, direction: Any) -> Any:
    """A direction in the container of a value, where None cannot stand for integers."""
    zeros = mapped(value, lambda x: x * 0, lambda x: 0 if x is None else x)
    return stepped(zeros, all_numbers(direction))
