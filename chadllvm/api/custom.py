"""`custom_vjp`, `custom_jvp`: functions with derivatives that the user writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, overload

from chadllvm.api.compiled import Compiled, Function
from chadllvm.driver.portable import portable
from chadllvm.frontend.custom import MARK, Given, rules_of
from chadllvm.frontend.source import copy_of
from chadllvm.support.frames import without_frames
from chadllvm.support.options import CompileOptions

P = ParamSpec("P")
R = TypeVar("R")


class CustomFunction(Function[P, R]):
    """A compiled function with derivatives of its own, by `defvjp` and `defjvp`."""

    def __init__(
        self,
        function: Callable[P, R],
        options: CompileOptions,
        statics: tuple[str, ...] = (),
    ) -> None:
        if not isinstance(function, FunctionType):
            kind = type(function).__name__
            raise TypeError(f"expected a Python function, not a {kind}")
        marked = copy_of(function)
        self._rules = Given()
        setattr(marked, MARK, self._rules)
        super().__init__(marked, options, statics)

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Say what reverse mode does.

        Args:
            forward: takes the function's arguments, and returns `(out, residuals)`: its
                value, and anything that `backward` needs.
            backward: `backward(residuals, ct)` takes what `forward` kept and the
                cotangent of the value, and returns a tuple of cotangents, one for each
                argument that holds reals (or for each argument, None for the others);
                for a single one that alone is fine too. None stands for zero.

        Raises:
            TypeError: if these are no Python functions.
            RuntimeError: if the function is in use already.
        """
        self._check_unused()
        self._rules.vjp = _python(forward), _python(backward)

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Say what forward mode does; may be used as a decorator.

        Args:
            rule: `rule(primals, tangents)` takes a tuple of the function's arguments
                and one of their tangents (None for what holds no reals), and returns
                `(out, tangent)`: the value and its tangent.

        Raises:
            TypeError: if this is no Python function.
            RuntimeError: if the function is in use already.
        """
        self._check_unused()
        self._rules.jvp = (_python(rule),)
        return rule

    def with_statics(self, names: tuple[str, ...]) -> Compiled:
        return self  # Its rules have the parameters that it has.

    def _rules_given(self) -> dict[str, tuple[Any, ...] | None]:
        given = self._given()
        rules = {"vjp": given.vjp, "jvp": given.jvp}
        return {n: rule and tuple(map(portable, rule)) for n, rule in rules.items()}

    def _take_rules(self, rules: Mapping[str, tuple[Any, ...] | None]) -> None:
        if rules["vjp"] is not None:
            self.defvjp(*rules["vjp"])
        if rules["jvp"] is not None:
            self.defjvp(*rules["jvp"])

    def _given(self) -> Given:
        """The rules: those of its code, once there is some."""
        frozen = rules_of(self.frozen_function) if self._frozen else None
        return frozen or self._rules

    def _check_unused(self) -> None:
        if self._given().is_used:
            raise RuntimeError(
                f"{self.name} is compiled already, with the rules it had"
            )


def _python(function: Callable[..., Any]) -> FunctionType:
    """The Python function of a rule, which may be compiled."""
    found = getattr(function, "py_func", function)
    if not isinstance(found, FunctionType):
        raise TypeError(f"a rule is a Python function, not a {type(function).__name__}")
    return found


@overload
def custom_vjp(function: Callable[P, R], /) -> CustomFunction[P, R]: ...
@overload
def custom_vjp(
    *,
    options: CompileOptions = ...,
    optimize: int | None = ...,
    static_argnames: str | Sequence[str] = ...,
) -> Callable[[Callable[P, R]], CustomFunction[P, R]]: ...


@without_frames
def custom_vjp(
    function: Callable[P, R] | None = None,
    /,
    *,
    options: CompileOptions = CompileOptions(),
    optimize: int | None = None,
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Compile a Python function that brings its own rule for reverse mode.

        @cl.custom_vjp
        def f(x: float) -> float: ...

        f.defvjp(forward, backward)

    The function is compiled as by `jit`; so are the rules, for the types of each call.
    Wherever the function is called, by compiled functions too, derivatives are made of
    the rules, and those of derivatives of what the rules do. If there is no rule for
    forward mode (`defjvp`), tangents are the rule transposed.

    Args:
        function: the function, compiled by `jit` or not.
        options, optimize, static_argnames: as for `jit`.

    Raises:
        CompileError: if a rule does not fit the function; when that is compiled.
        TypeError: if this is not a Python function.
    """
    if optimize is not None:
        options = replace(options, optimize=optimize)
    names = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
    if function is None:
        return lambda f: _custom(f, options, tuple(names))
    return _custom(function, options, tuple(names))


def _custom(
    function: Callable[P, R], options: CompileOptions, statics: tuple[str, ...]
) -> CustomFunction[P, R]:
    if isinstance(function, CustomFunction):
        return function
    if isinstance(function, Function):
        return CustomFunction(
            function.py_func, function.options, function.static_argnames
        )
    return CustomFunction(function, options, statics)


# The two differ in the rule that is expected; a function may have both.
custom_jvp = custom_vjp
