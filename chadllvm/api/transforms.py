"""What users call: `jit`, `grad`, `value_and_grad`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast, overload

from chadllvm.api.bound import bound_of
from chadllvm.api.compiled import (
    Compiled,
    Derivative,
    Function,
    derivative_of,
    plain_function,
    statics_of,
)
from chadllvm.ir.shape import is_plain
from chadllvm.support import call_rules
from chadllvm.support.derivative_kinds import Transform, means
from chadllvm.support.frames import without_frames
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request

if TYPE_CHECKING:
    from chadllvm.for_checkers import (
        A,
        Argnums,
        At0,
        At1,
        At2,
        B,
        C,
        Takes1,
        Takes2,
        Takes3,
        X,
    )
    from chadllvm.for_checkers import P as Taken
    from chadllvm.for_checkers import R as Given

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
    contract: bool = ...,
    strict: bool = ...,
    static_argnames: str | Sequence[str] = ...,
    updates: str | Sequence[str] | None = ...,
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
    contract: bool = True,
    strict: bool = False,
    static_argnames: str | Sequence[str] = (),
    updates: str | Sequence[str] | None = None,
) -> Any:
    """Compile a Python function to native code.

    The function is written in the subset of Python that `docs/language.md` describes.
    Parameters are f64, i64 or bool scalars, NumPy arrays of these, tuples, records (a
    `NamedTuple` or a frozen dataclass), dictionaries with strings as keys, lists of
    records or structured arrays, objects of which fields are read; parameters without
    annotation take the types of the call. A function that returns nothing writes to the
    arrays among its arguments that it updates, any other one to those in `updates`: see
    `docs/language.md`.

    Args:
        function: the function; without it, `jit(options=…)` gives a decorator. One
            that is compiled already, as `grad(f)` is, is returned as it is. So it is
            with a method of an object, a `functools.partial` or an object that can be
            called: what is bound are arguments of each call, never constants.
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
        contract: the same as `options.contract`. With False no product is contracted
            with the sum that it goes into: each is rounded by itself.
        strict: the same as `options.strict`. With True nothing is contracted, sums are
            added up in the program's order, and elementary functions are those of the
            C library: bit for bit what the reference interpreter computes.
        static_argnames: parameters whose arguments are constants of the compiled
            program: any hashable value, such as a string, an enum, None or a compiled
            function. Those annotated with `str`, an enumeration or a `Literal` are so
            in any case. Each value makes a version of its own; tests of them are
            decided when it is compiled, and the branch that is not taken is not
            translated.
        updates: parameters whose arrays the function updates, also if it returns
            something. Without it, those that a function writes to which returns
            nothing.

    Returns:
        A callable that takes and returns Python numbers, NumPy arrays and tuples.

    Raises:
        CompileError: here or at the first call, with the place in the user's source.
        TypeError: for options of a function that is compiled already.
        ValueError: if `optimize` is neither 0 nor 2, or there is no parameter of a name
            in `static_argnames` or `updates`.
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
    if not contract:
        options = replace(options, contract=False)
    if strict:
        options = replace(options, strict=True)
    if function is None:
        return lambda f: _jit(f, options, statics, updates)
    return _jit(function, options, statics, updates)


def _jit(
    function: Callable[P, R],
    options: CompileOptions,
    statics: tuple[str, ...],
    updates: str | Sequence[str] | None,
) -> Function[P, R]:

    def make(inner: Callable[..., Any], more: tuple[str, ...]) -> Compiled:
        return _jit(inner, options, (*statics, *more), updates)

    bound = bound_of(function, make)
    if bound is not None:
        return cast("Function[P, R]", bound)
    if isinstance(function, Compiled):
        if statics or updates is not None or options != CompileOptions():
            raise TypeError(f"{function!r} is compiled already, with its own options")
        return cast("Function[P, R]", function)
    told = (updates,) if isinstance(updates, str) else tuple(updates or ())
    if updates is not None and isinstance(function, FunctionType):
        from chadllvm.frontend.source import TOLD, copy_of

        function = copy_of(function)
        setattr(function, TOLD, told)
    made = Function(function, options, statics)
    for option, names in (("static_argnames", statics), ("updates", told)):
        for name in names:
            if name not in [parameter.name for parameter in made.parameters]:
                raise call_rules.wrong_option(
                    f"{option}: {function.__name__} has no parameter {name!r}"
                )
    return made


@overload
def value_and_grad(
    function: Takes1[Taken, A, Given], argnums: At0 = 0, has_aux: bool = False
) -> Derivative[Taken, tuple[Given, A]]: ...
@overload
def value_and_grad(
    function: Takes2[Taken, Any, B, Given], argnums: At1, has_aux: bool = False
) -> Derivative[Taken, tuple[Given, B]]: ...
@overload
def value_and_grad(
    function: Takes3[Taken, Any, Any, C, Given], argnums: At2, has_aux: bool = False
) -> Derivative[Taken, tuple[Given, C]]: ...
@overload
def value_and_grad(
    function: Takes2[Taken, A, B, Given],
    argnums: tuple[At0, At1],
    has_aux: bool = False,
) -> Derivative[Taken, tuple[Given, tuple[A, B]]]: ...
@overload
def value_and_grad(
    function: Takes3[Taken, A, B, C, Given],
    argnums: tuple[At0, At1, At2],
    has_aux: bool = False,
) -> Derivative[Taken, tuple[Given, tuple[A, B, C]]]: ...
@overload
def value_and_grad(
    function: Callable[Taken, Given], argnums: Argnums = 0, has_aux: bool = False
) -> Derivative[Taken, tuple[Given, Any]]: ...


@means(Transform.VALUE_AND_GRAD)
@without_frames
def value_and_grad(
    function: Callable[..., Any],
    argnums: int | str | Sequence[int | str] = 0,
    has_aux: bool = False,
) -> Derivative[..., Any]:
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


@overload
def grad(
    function: Takes1[Taken, A, tuple[Any, X]],
    argnums: At0 = 0,
    *,
    has_aux: Literal[True],
) -> Derivative[Taken, tuple[A, X]]: ...
@overload
def grad(
    function: Callable[Taken, tuple[Any, X]], argnums: Argnums, has_aux: Literal[True]
) -> Derivative[Taken, tuple[Any, X]]: ...
@overload
def grad(
    function: Takes1[Taken, A], argnums: At0 = 0, has_aux: Literal[False] = False
) -> Derivative[Taken, A]: ...
@overload
def grad(
    function: Takes2[Taken, Any, B], argnums: At1, has_aux: Literal[False] = False
) -> Derivative[Taken, B]: ...
@overload
def grad(
    function: Takes3[Taken, Any, Any, C],
    argnums: At2,
    has_aux: Literal[False] = False,
) -> Derivative[Taken, C]: ...
@overload
def grad(
    function: Takes2[Taken, A, B],
    argnums: tuple[At0, At1],
    has_aux: Literal[False] = False,
) -> Derivative[Taken, tuple[A, B]]: ...
@overload
def grad(
    function: Takes3[Taken, A, B, C],
    argnums: tuple[At0, At1, At2],
    has_aux: Literal[False] = False,
) -> Derivative[Taken, tuple[A, B, C]]: ...
@overload
def grad(
    function: Callable[Taken, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Derivative[Taken, Any]: ...


@means(Transform.GRAD)
@without_frames
def grad(
    function: Callable[..., Any],
    argnums: int | str | Sequence[int | str] = 0,
    has_aux: bool = False,
) -> Derivative[..., Any]:
    """The gradient alone, or `(gradient, auxiliary)`; see `value_and_grad`."""
    return _derivative(function, argnums, value=False, has_aux=has_aux)


def _derivative(
    function: Callable[..., Any],
    argnums: int | str | Sequence[int | str],
    *,
    value: bool,
    has_aux: bool,
) -> Derivative[..., Any]:
    bound = bound_of(function)
    if bound is not None:
        by = bound.argnums(argnums)
        made = _derivative(bound.compiled, by, value=value, has_aux=has_aux)
        return cast("Derivative[..., Any]", bound.around(made))
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
