"""What users call: `jit`, `grad`, `value_and_grad`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, cast, overload

from chadllvm import call_rules
from chadllvm.compiled import (
    Compiled,
    Derivative,
    Function,
    derivative_of,
    plain_function,
    statics_of,
)
from chadllvm.frames import without_frames
from chadllvm.options import CompileOptions
from chadllvm.request import Request
from chadllvm.shape import is_plain
from chadllvm.transforms import Transform, means

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(function: Callable[P, R], /) -> Function[P, R]: ...
@overload
def jit(
    *,
    options: CompileOptions = ...,
    optimize: int | None = ...,
    debug: bool = ...,
    cache: bool = ...,
    parallel: bool = ...,
    static_argnames: str | Sequence[str] = ...,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...


@without_frames
def jit(
    function: Callable[P, R] | None = None,
    /,
    *,
    options: CompileOptions = CompileOptions(),
    optimize: int | None = None,
    debug: bool = False,
    cache: bool = True,
    parallel: bool = True,
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Compile a Python function to native code.

    The function is written in the subset of Python that `docs/language.md` describes.
    Parameters are f64, i64 or bool scalars, NumPy arrays of these, tuples, records (a
    `NamedTuple` or a frozen dataclass), dictionaries with strings as keys, lists of
    records or structured arrays; parameters without annotation take the types of the
    call. Arguments are never written to.

    Args:
        function: the function; without it, `jit(options=…)` gives a decorator. One
            that is compiled already, as `grad(f)` is, is returned as it is.
        options: how to compile; gradients of the function inherit it.
        optimize: the same as `options.optimize`. With 0, the permanent mode, the
            program and its derivatives run as the paper writes them, on the runtime's
            generic structures: slow, and there to be compared with.
        debug: the same as `options.debug`: arithmetic is checked, and raises what plain
            Python would have raised, where compiled code goes on otherwise (an integer
            wraps around, a division by zero is infinite).
        cache: the same as `options.cache`: with False nothing is kept on disk, nor
            taken from there.
        parallel: the same as `options.parallel`. With False a call runs on one thread;
            its results are the same bits.
        static_argnames: parameters whose arguments are constants of the compiled
            program: any hashable value, such as a string, an enum, None or a compiled
            function. Each value makes a version of its own; tests of them are decided
            when it is compiled, and the branch that is not taken is not translated.

    Returns:
        A callable that takes and returns Python numbers, NumPy arrays and tuples.

    Raises:
        CompileError: here or at the first call, with the place in the user's source.
        TypeError: for options of a function that is compiled already.
        ValueError: if `optimize` is neither 0 nor 2, or there is no parameter of a name
            in `static_argnames`.
    """
    names = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
    statics = tuple(names)
    if optimize is not None:
        options = replace(options, optimize=optimize)
    if debug:
        options = replace(options, debug=True)
    if not cache:
        options = replace(options, cache=False)
    if not parallel:
        options = replace(options, parallel=False)
    if function is None:
        return lambda f: _jit(f, options, statics)
    return _jit(function, options, statics)


def _jit(
    function: Callable[P, R], options: CompileOptions, statics: tuple[str, ...]
) -> Function[P, R]:
    if isinstance(function, Compiled):
        if statics or options != CompileOptions():
            raise TypeError(f"{function!r} is compiled already, with its own options")
        return cast("Function[P, R]", function)
    made = Function(function, options, statics)
    for name in statics:
        if name not in [parameter.name for parameter in made.parameters]:
            raise call_rules.wrong_option(
                f"static_argnames: {function.__name__} has no parameter {name!r}"
            )
    return made


@means(Transform.VALUE_AND_GRAD)
@without_frames
def value_and_grad(
    function: Callable[..., Any],
    argnums: int | str | Sequence[int | str] = 0,
    has_aux: bool = False,
) -> Derivative:
    """The function that returns `(value, gradient)`.

    Args:
        function: a function, compiled or not, that returns a float; with `has_aux`, a
            tuple of a float and anything else.
        argnums: the position or the name of the parameter to differentiate by, or
            several. The gradient is in the container of that parameter: an array of its
            shape, a tuple or record with None for integers and booleans; several make a
            tuple.
        has_aux: the value is then `(float, auxiliary)`.

    Raises:
        CompileError: if the function does not return a float, or a parameter in
            `argnums` holds no real numbers; at the first call.
        ValueError: if there is no such parameter.
    """
    return _derivative(function, argnums, value=True, has_aux=has_aux)


@means(Transform.GRAD)
@without_frames
def grad(
    function: Callable[..., Any],
    argnums: int | str | Sequence[int | str] = 0,
    has_aux: bool = False,
) -> Derivative:
    """The gradient alone, or `(gradient, auxiliary)`; see `value_and_grad`."""
    return _derivative(function, argnums, value=False, has_aux=has_aux)


def _derivative(
    function: Callable[..., Any],
    argnums: int | str | Sequence[int | str],
    *,
    value: bool,
    has_aux: bool,
) -> Derivative:
    request = Request(positions(function, argnums), value, has_aux)
    if isinstance(function, Compiled):
        return function.derivative(request)
    return derivative_of(function, request)


def positions(
    function: Callable[..., Any], argnums: int | str | Sequence[int | str]
) -> int | tuple[int, ...]:
    """The positions of parameters that can be differentiated by: of one, or of several.

    Raises:
        ValueError: if there is no such parameter, or it is static, or one is there
            twice.
    """
    plain = plain_function(function)
    parameters = _names(plain, statics_of(function))
    if isinstance(argnums, int | str) or not isinstance(argnums, Sequence):
        return _position(plain, argnums, parameters)
    several = tuple(_position(plain, a, parameters) for a in argnums)
    if not several or len(set(several)) < len(several):
        raise call_rules.wrong_option(
            f"argnums={argnums!r}: expected distinct parameters"
        )
    return several


def _names(
    function: Callable[..., Any], statics: Sequence[str]
) -> list[tuple[str, bool]]:
    """The names of the parameters, and whether they are static."""
    if is_plain(function):
        code = function.__code__
        return [(n, n in statics) for n in code.co_varnames[: code.co_argcount]]
    from chadllvm.frontend import signature

    return [(p.name, p.is_static) for p in signature(function, statics)]


def _position(
    function: Callable[..., Any],
    argnum: int | str,
    parameters: Sequence[tuple[str, bool]],
) -> int:
    """The position of a parameter that can be differentiated by."""
    names, count = [name for name, _ in parameters], len(parameters)
    if isinstance(argnum, str):
        if argnum not in names:
            raise call_rules.wrong_option(
                f"{function.__name__} has no parameter {argnum!r}"
            )
        position = names.index(argnum)
    else:
        position = operator.index(argnum)
    if not -count <= position < count:
        raise call_rules.wrong_option(
            f"argnums={argnum}: {function.__name__} has {count} parameters"
        )
    position %= count
    if parameters[position][1]:
        raise call_rules.wrong_option(
            f"argnums={argnum!r}: parameter {names[position]!r} of "
            f"{function.__name__} is static"
        )
    return position
