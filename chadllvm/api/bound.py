"""Functions with arguments that are bound: partials, bound methods, callable objects.

    partial(f, 2.0, k=3.0)      →   f, with 2.0 in front and k=3.0
    spring.energy               →   Spring.energy, with spring in front
    model                       →   Model.__call__, with model in front

The function is compiled as ever, and what is bound are hidden arguments: parameters of
the machine code like the others, whose values are given to each call in front of the
user's. So other values of the same types need no other code. A derivative is that of
the function, with the same arguments bound; they are held fixed.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from chadllvm.api.compiled import Compiled, compiled_form
from chadllvm.driver.arguments import bind
from chadllvm.support import call_rules
from chadllvm.support.options import CompileOptions

# Arguments that make a version each: code is made for what they are.
_STATIC = (
    *(str, bytes, Enum, type, Compiled, partial),
    *(FunctionType, BuiltinFunctionType, MethodType, np.ufunc),
)

Argnums = int | str | Sequence[int | str]

# What compiles a function, of which these parameters are static, or refuses to.
Make = Callable[[Callable[..., Any], tuple[str, ...]], Compiled]


class Bound(partial[Any]):
    """A compiled function of which some arguments are bound, as those of a partial."""

    func: Compiled

    @property
    def compiled(self) -> Compiled:
        """The function that takes all arguments."""
        return self.func

    @property
    def __name__(self) -> str:
        return self.func.plain_name

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self.func.name

    @property
    def options(self) -> CompileOptions:
        """How it is compiled."""
        return self.func.options

    @property
    def py_func(self) -> Callable[..., Any]:
        """The Python function with the same arguments bound."""
        plain = getattr(self.func, "py_func", self.func)
        return partial(plain, *self.args, **self.keywords)

    def show(self, stage: str, *args: Any, **kwargs: Any) -> Any:
        """The program at a stage, as text: see `Compiled.show`."""
        if not args and not kwargs and self.func.has_versions:
            return self.func.show(stage)
        return self.func.show(stage, *self.args, *args, **{**self.keywords, **kwargs})

    def report(self, *args: Any, **kwargs: Any) -> Any:
        """What the program copies and stores, line by line: see `Compiled.report`."""
        if not args and not kwargs and self.func.has_versions:
            return self.func.report()
        return self.func.report(*self.args, *args, **{**self.keywords, **kwargs})

    def around(self, function: Callable[..., Any]) -> Bound:
        """Another function of the same parameters, with the same arguments bound."""
        return Bound(function, *self.args, **self.keywords)

    def argnums(self, argnums: Argnums) -> Any:
        """Parameters as the function counts them, given as the user counts them."""
        if isinstance(argnums, int | str) or not isinstance(argnums, Sequence):
            return self._argnum(argnums)
        return tuple(map(self._argnum, argnums))

    def _argnum(self, argnum: Any) -> int | str:
        names = [p.name for p in self.func.parameters]
        first = len(self.args)
        if isinstance(argnum, str):
            if argnum in names[:first]:
                raise call_rules.wrong_option(
                    f"argnums={argnum!r}: {self.name} has this argument already"
                )
            return argnum
        position, count = operator.index(argnum), len(names) - first
        if not -count <= position < count:
            raise call_rules.wrong_option(
                f"argnums={argnum}: {self.name} has {count} parameters besides those "
                "that are bound"
            )
        return position % count + first

    def in_order(self, args: Sequence[Any]) -> tuple[tuple[Any, ...], range]:
        """All arguments in the order of parameters, and which are those given here."""
        first = len(self.args)
        given = (*self.args, *args)
        # Of parameters that are given by name only, the values are at the end.
        parameters = self.func.parameters
        whole = bind(self.name, parameters, given, self.keywords)
        return whole, range(first, first + len(args))


def bound_of(function: Callable[..., Any], make: Make | None = None) -> Bound | None:
    """The function in something that binds arguments of one; None if this does not.

    It is the same compiled function each time, so that `grad(partial(f, k=2.0))(x)` in
    a loop compiles once.
    """
    found = _parts(function)
    if found is None:
        return None
    inner, args, keywords = found
    if isinstance(inner, Compiled):
        names = [p.name for p in inner.parameters if not p.is_static]
        all_names = [p.name for p in inner.parameters]
        statics = _static_names(all_names, args, keywords)
        new = tuple(name for name in statics if name in names)
        if make is not None:
            make(inner, ())
        base = inner.with_statics(new) if new else inner
    else:
        code = inner.__code__
        names = [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        base = (make or compiled_form)(inner, _static_names(names, args, keywords))
    return Bound(base, *args, **keywords)


class _Parts(NamedTuple):
    function: FunctionType | Compiled
    args: tuple[Any, ...]
    keywords: dict[str, Any]


def _parts(function: Any) -> _Parts | None:
    """A function and the arguments that are bound; None if there are none."""
    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    at = function
    while not isinstance(at, FunctionType | Compiled):
        if isinstance(at, partial):
            args, keywords = (*at.args, *args), {**at.keywords, **keywords}
            at = at.func
        elif isinstance(at, MethodType):
            args, at = (at.__self__, *args), at.__func__
        elif isinstance(getattr(at, "py_func", None), FunctionType):
            at = at.py_func  # That of `vectorize`.
        else:
            call = inspect.getattr_static(type(at), "__call__", None)
            if not isinstance(call, FunctionType | Compiled):
                return None
            args, at = (at, *args), call
    return None if at is function else _Parts(at, args, keywords)


def _static_names(
    names: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[str, ...]:
    """The parameters whose bound arguments are no data."""
    values = dict(zip(names, args, strict=False)) | dict(keywords)
    return tuple(
        [name for name in names if name in values and _is_static(values[name])]
    )


def _is_static(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_static, value))
    return isinstance(value, _STATIC)
