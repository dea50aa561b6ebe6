"""What users call: `jit`, `grad`, `value_and_grad`.

A compiled function is specialised to the types of its arguments, once for every
combination of dtypes and ranks, never for shapes. Specialisation happens at the first
call, or when a stage is shown.
"""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from chadllvm.backend.call import NativeFunction
from chadllvm.backend.results import Group, Result, leaf_types
from chadllvm.diagnostic import CompileError, Diagnostic
from chadllvm.frontend import Parameter, signature, specialise
from chadllvm.frontend.annotations import target_type
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.pretty import pretty
from chadllvm.ir.term import Function as CoreFunction
from chadllvm.ir.term import Program
from chadllvm.ir.types import F64, Array, Box, Product, Scalar, Type, has_float
from chadllvm.options import CompileOptions
from chadllvm.pipeline import Compilation, Gradient, collector_paused, compile_program
from chadllvm.values import fingerprint, gradient_type, leaf_positions, type_of

P = ParamSpec("P")
R = TypeVar("R")

STAGES = ("source", "core", "chad", "simplified", "loops", "llvm", "asm")


class Text(str):
    """A string that shows itself as it is in a notebook or the REPL."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Request:
    """What is made of a function; `argnums` is None for the function itself."""

    argnums: int | tuple[int, ...] | None = None
    value: bool = True
    has_aux: bool = False

    @property
    def positions(self) -> tuple[int, ...]:
        if self.argnums is None:
            return ()
        return (self.argnums,) if isinstance(self.argnums, int) else self.argnums


@dataclass(frozen=True)
class _Specialisation:
    """One compiled version: the fast code, and how to show what led to it."""

    compilation: Compilation
    native: NativeFunction


class Compiled:
    """A callable that compiles itself for the types it is called with."""

    def __init__(
        self, function: Callable[..., Any], request: Request, options: CompileOptions
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._request = request
        self._options = options
        self._parameters: tuple[Parameter, ...] = signature(function)
        self._count = len(self._parameters)
        self._versions: dict[tuple[Type, ...], _Specialisation] = {}
        # The versions again, by what is quick to look up.
        self._known: dict[tuple[object, ...], Callable[..., Any]] = {}
        self._lock = threading.RLock()
        self._fixed = _fixed_types(self._parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != self._count:
            args = self._bind(args, kwargs)
        prints = tuple(map(fingerprint, args))
        call = self._known.get(prints)
        if call is None:
            call = self._version(self._types(args)).native.call
            if None not in prints:
                self._known[prints] = call
        return call(*args)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__name__}>"  # type: ignore[attr-defined]

    def show(self, stage: str, *args: Any, **kwargs: Any) -> Text:
        """The program at a stage, as text.

        Args:
            stage: one of `source core chad simplified loops llvm asm`.
            args: example arguments that choose the types to compile for. Without any,
                the annotations do, or the latest call.

        Raises:
            ValueError: if there is no such stage, or nothing says which types to use.
        """
        if stage not in STAGES:
            raise ValueError(f"no stage {stage!r}; the stages are {' '.join(STAGES)}")
        if stage == "source":
            from chadllvm.frontend.source import read_source

            return Text(read_source(self._function).text)
        version = self._shown_version(args, kwargs)
        match stage:
            case "loops":
                assert version.compilation.loops is not None
                return Text(pretty_loops(version.compilation.loops))
            case "llvm":
                return Text(version.native.llvm_ir)
            case "asm":
                return Text(version.native.asm)
            case _:
                return Text(pretty(version.compilation.stages[stage]))

    def _shown_version(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> _Specialisation:
        if args or kwargs:
            return self._version(self._types(self._bind(args, kwargs)))
        if self._fixed is not None:
            return self._version(self._fixed)
        if not self._versions:
            raise ValueError(
                f"{self._name}: some parameters have no type; call the function first, "
                "or give show() example arguments"
            )
        return list(self._versions.values())[-1]

    @property
    def _name(self) -> str:
        return self._function.__name__

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the parameters' order, with defaults filled in."""
        if len(args) > self._count:
            raise TypeError(
                f"{self._name}() takes {self._count} arguments, {len(args)} were given"
            )
        bound = list(args)
        rest = dict(kwargs)
        for parameter in self._parameters[: len(args)]:
            if parameter.name in rest:
                raise TypeError(
                    f"{self._name}() got two values for parameter {parameter.name!r}"
                )
        for parameter in self._parameters[len(args) :]:
            if parameter.name in rest:
                bound.append(rest.pop(parameter.name))
            elif not parameter.is_required:
                bound.append(parameter.default)
            else:
                raise TypeError(f"{self._name}() misses argument {parameter.name!r}")
        if rest:
            raise TypeError(f"{self._name}() has no parameter {next(iter(rest))!r}")
        return tuple(bound)

    def _types(self, bound: Sequence[Any]) -> tuple[Type, ...]:
        """The types to specialise to; annotations widen numbers or refuse."""
        if self._fixed is not None:
            return self._fixed
        found = []
        for parameter, value in zip(self._parameters, bound, strict=True):
            where = f"{self._name}(): parameter {parameter.name!r}"
            ty = type_of(value, where)
            wanted = target_type(parameter.annotation, ty)
            if wanted is None:
                raise TypeError(f"{where} is {ty}; expected {parameter.annotation}")
            found.append(wanted)
        return tuple(found)

    def _version(self, types: tuple[Type, ...]) -> _Specialisation:
        version = self._versions.get(types)
        if version is not None:
            return version
        with self._lock:
            if types not in self._versions:
                self._versions[types] = self._compile(types)
                if types == self._fixed:
                    self._call_directly(self._versions[types].native.call)
            return self._versions[types]

    def _call_directly(self, call: Callable[..., Any]) -> None:
        """Let Python call this function at once: annotations leave one version only.

        Python looks `__call__` up in the class, so this object gets one of its own.
        """
        assert isinstance(call, FunctionType)
        call.__defaults__ = self._function.__defaults__
        kind = type(self)
        members = {"__call__": staticmethod(call), "__module__": kind.__module__}
        self.__class__ = type(kind.__name__, (kind,), members)

    @collector_paused()
    def _compile(self, types: tuple[Type, ...]) -> _Specialisation:
        plan = self._plan(types)
        return self._native(plan, self._options, self._repeat(plan))

    def _plan(self, types: tuple[Type, ...]) -> Plan:
        return Plan(specialise(self._function, types), types, self._request)

    def _native(
        self,
        plan: Plan,
        options: CompileOptions,
        on_failure: Callable[..., Any] | None,
    ) -> _Specialisation:
        compilation = plan.compile(options)
        assert compilation.loops is not None
        native = NativeFunction(
            compilation.loops,
            name=self._name,
            param_names=plan.names,
            param_types=plan.types,
            result_type=plan.result,
            on_failure=on_failure,
        )
        return _Specialisation(compilation, native)

    def _repeat(self, plan: Plan) -> Callable[..., Any] | None:
        """What repeats a failed call with every check in program order.

        It is made of the same program: what was captured may have changed since.
        """
        if not self._options.speculate or not self._options.optimize:
            return None
        options = replace(self._options, speculate=False)
        checked: list[NativeFunction] = []

        def repeat(*args: Any) -> Any:
            with self._lock:
                if not checked:
                    checked.append(self._native(plan, options, None).native)
            return checked[0].call(*args)

        return repeat


def _fixed_types(parameters: Sequence[Parameter]) -> tuple[Type, ...] | None:
    """The types of the parameters if annotations decide them all."""
    types = [p.annotation for p in parameters]
    if all(isinstance(t, Scalar | Array | Product | Box) for t in types):
        return tuple(t for t in types if isinstance(t, Scalar | Array | Product))
    return None


class Plan:
    """Which results a request wants, and the type that they are given back as."""

    def __init__(
        self, program: Program, types: Sequence[Type], request: Request
    ) -> None:
        self.program = program
        self.names = tuple(p.name for p in program.entry.params)
        self.types = tuple(types)
        self.request = request
        self.value = program.entry.body.results[0].type
        self.gradient: Gradient | None = None
        self.result: Result = self.value
        if request.argnums is None:
            return
        _check_scalar(program.entry, self.value, request.has_aux)
        for position in request.positions:
            _check_real(program.entry, types, position)
        self.gradient = Gradient(leaf_positions(types, request.positions))
        gradients = tuple(gradient_type(types[p]) for p in request.positions)
        single = isinstance(request.argnums, int)
        gradient = gradients[0] if single else Group(gradients)
        self.result = self._result(gradient)

    def _result(self, gradient: Result) -> Result:
        if self.request.value:
            return Group((self.value, gradient))
        if not self.request.has_aux:
            return gradient
        assert isinstance(self.value, Product)
        return Group((gradient, self.value.fields[1]))

    def compile(self, options: CompileOptions) -> Compilation:
        """The program's loops, and all that leads to them."""
        return compile_program(self.program, self.gradient, self.select, options)

    def select(self, function: CoreFunction) -> CoreFunction:
        """The flattened function with just the results wanted, in their order."""
        if self.gradient is None or self.request.value:
            return function
        results = function.body.results
        value = len(leaf_types(self.value))
        chosen = results[value:]
        if self.request.has_aux:
            chosen = (*chosen, *results[1:value])
        body = type(function.body)(function.body.bindings, chosen)
        return CoreFunction(function.name, function.params, body, function.span)


def _check_scalar(entry: CoreFunction, ty: Type, has_aux: bool) -> None:
    """The function to differentiate returns a float, or a float and something."""
    wanted = "a float"
    if has_aux:
        wanted = "a tuple of a float and the auxiliary result"
        if isinstance(ty, Product) and len(ty.fields) == 2:
            ty = ty.fields[0]
        else:
            ty = Product(())
    if ty != F64:
        found = entry.body.results[0].type
        raise CompileError(
            Diagnostic(
                f"cannot take the gradient of {entry.name}: it does not "
                f"return {wanted}",
                entry.span,
                f"returns {found}",
                "return a float, for example a sum; with has_aux=True return "
                "(float, anything)",
            )
        )


def _check_real(entry: CoreFunction, types: Sequence[Type], position: int) -> None:
    if not has_float(types[position]):
        raise CompileError(
            Diagnostic(
                f"cannot take the gradient of {entry.name} by parameter {position}",
                entry.span,
                f"this parameter is {types[position]}, which holds no real numbers",
                "name the parameters to differentiate by with argnums=",
            )
        )


class Function(Compiled, Generic[P, R]):
    """A compiled function; `py_func` is the Python function that it was made from."""

    def __init__(self, function: Callable[P, R], options: CompileOptions) -> None:
        super().__init__(function, Request(), options)
        self.py_func = function

    def __reduce__(self) -> str:
        """Pickled like any function: as the name that finds it in its module."""
        return self.py_func.__qualname__

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Derivative(Compiled):
    """A compiled function that was made by `grad` or `value_and_grad`."""

    def __init__(
        self, function: Callable[..., Any], request: Request, options: CompileOptions
    ) -> None:
        plain = function.py_func if isinstance(function, Function) else function
        super().__init__(plain, request, options)
        self._of = function

    def __reduce__(self) -> tuple[type[Derivative], tuple[Any, ...]]:
        return Derivative, (self._of, self._request, self._options)


@overload
def jit(function: Callable[P, R], /) -> Function[P, R]: ...
@overload
def jit(
    *, options: CompileOptions = ..., optimize: int | None = ...
) -> Callable[[Callable[P, R]], Function[P, R]]: ...


def jit(
    function: Callable[P, R] | None = None,
    /,
    *,
    options: CompileOptions = CompileOptions(),
    optimize: int | None = None,
) -> Any:
    """Compile a Python function to native code.

    The function is written in the subset of Python that `docs/language.md` describes.
    Parameters are f64, i64 or bool scalars, NumPy arrays of these, or tuples;
    parameters without annotation take the types of the call. Arguments are never
    written to.

    Args:
        function: the function; without it, `jit(options=…)` gives a decorator.
        options: how to compile; gradients of the function inherit it.
        optimize: the same as `options.optimize`. With 0, the permanent mode, the
            program and its derivatives run as the paper writes them, on the runtime's
            generic structures: slow, and there to be compared with.

    Returns:
        A callable that takes and returns Python numbers, NumPy arrays and tuples.

    Raises:
        CompileError: here or at the first call, with the place in the user's source.
        ValueError: if `optimize` is neither 0 nor 2.
    """
    if optimize is not None:
        options = replace(options, optimize=optimize)
    if function is None:
        return lambda f: _jit(f, options)
    return _jit(function, options)


def _jit(function: Callable[P, R], options: CompileOptions) -> Function[P, R]:
    if isinstance(function, Compiled):
        raise TypeError(f"{function!r} is compiled already")
    return Function(function, options)


def value_and_grad(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
) -> Derivative:
    """The function that returns `(value, gradient)`.

    Args:
        function: a function, compiled or not, that returns a float; with `has_aux`, a
            tuple of a float and anything else.
        argnums: the position of the parameter to differentiate by, or several. The
            gradient is in the container of that parameter: an array of its shape, a
            tuple with None for integers and booleans; several make a tuple.
        has_aux: the value is then `(float, auxiliary)`.

    Raises:
        CompileError: if the function does not return a float, or a parameter in
            `argnums` holds no real numbers; at the first call.
        ValueError: if there is no such parameter.
    """
    return _derivative(function, argnums, value=True, has_aux=has_aux)


def grad(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
) -> Derivative:
    """The gradient alone, or `(gradient, auxiliary)`; see `value_and_grad`."""
    return _derivative(function, argnums, value=False, has_aux=has_aux)


def _derivative(
    function: Callable[..., Any],
    argnums: int | Sequence[int],
    *,
    value: bool,
    has_aux: bool,
) -> Derivative:
    if isinstance(function, Derivative):
        raise TypeError(
            f"{function!r} is a derivative; derivatives of derivatives are not "
            "supported"
        )
    options, plain = CompileOptions(), function
    if isinstance(function, Function):
        options, plain = function._options, function.py_func
    count = len(signature(plain))
    positions: int | tuple[int, ...]
    if isinstance(argnums, Sequence):
        positions = tuple(_position(plain, a, count) for a in argnums)
        if not positions or len(set(positions)) < len(positions):
            raise ValueError(f"argnums={argnums!r}: expected distinct parameters")
    else:
        positions = _position(plain, argnums, count)
    return Derivative(function, Request(positions, value, has_aux), options)


def _position(function: Callable[..., Any], argnum: int, count: int) -> int:
    position = operator.index(argnum)
    if not -count <= position < count:
        raise ValueError(
            f"argnums={argnum}: {function.__name__} has {count} parameters"
        )
    return position % count
