"""Callables that compile themselves: functions, and their derivatives.

A compiled function is specialised to the types of its arguments, once for every
combination of dtypes and ranks, never for shapes. Specialisation happens at the first
call, or when a stage is shown.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, MappingProxyType, MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    overload,
)

from chadllvm.driver.prints import fingerprint
from chadllvm.driver.reach import digest_of_reach, is_users
from chadllvm.driver.shelf import Shelf, shelf
from chadllvm.driver.shown import Text, text_of
from chadllvm.driver.signatures import signature_of_derivative
from chadllvm.driver.taking import Taking
from chadllvm.ir.shape import is_plain
from chadllvm.ir.types import Type
from chadllvm.support import call_rules
from chadllvm.support.derivative_kinds import GRADIENT_PARTS
from chadllvm.support.diagnostic import InternalError
from chadllvm.support.forking import Lock
from chadllvm.support.frames import hide_frames, without_frames
from chadllvm.support.levels import NATIVE
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request

if TYPE_CHECKING:
    from chadllvm.api.pointer import Pointer
    from chadllvm.driver.frozen import Frozen
    from chadllvm.driver.plan import Plan
    from chadllvm.driver.ready import Specialisation
    from chadllvm.driver.report import Report
    from chadllvm.driver.scaling import Scaling
    from chadllvm.driver.specialising import Specialiser
    from chadllvm.ir.loops import LoopFunction
    from chadllvm.ir.term import Program

# Where a function keeps those that are the same with more static parameters.
_WITH_STATICS = "_chadllvm_with_statics"

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


class Compiled(Taking):
    """A callable that compiles itself for the types it is called with.

    `below` are the derivatives that are taken before that of the request.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        request: Request,
        options: CompileOptions,
        statics: tuple[str, ...] = (),
        below: tuple[Request, ...] = (),
    ) -> None:
        if options.cpu != NATIVE:
            from chadllvm.backend.host import require

            require(options.cpu)
        functools.update_wrapper(self, function)
        super().__init__(function, statics)
        self._request = request
        self._below = below
        self._options = options
        self._versions: dict[Hashable, Specialisation] = {}
        # The versions again, by what is quick to look up.
        self._known: dict[tuple[object, ...], Specialisation] = {}
        self._derivatives: dict[Request, Derivative[..., Any]] = {}
        # What it is compiled from, once it is used; that of `_source` if it has one.
        self._frozen: Frozen | None = None
        self._is_used = False
        self._source: Compiled | None = None
        # What its function reached when it was made, if somebody asks; empty if it is
        # made of one thing and another.
        self.first_reach: bytes | None = None
        # The code that it was pickled with, for whom it is pickled for again.
        self.received: dict[bytes, bytes] = {}
        self._lock = Lock()
        # What C calls, see `pointer.py`.
        self.pointers: dict[Hashable, Pointer] = {}
        # How many positional arguments need no binding.
        if is_plain(function) and not statics:
            self._count = function.__code__.co_argcount
        else:
            needs_binding = any(
                p.is_keyword_only or p.is_static for p in self._parameters
            )
            self._count = -1 if needs_binding else len(self._parameters)

    def derivative(self, request: Request) -> Derivative[..., Any]:
        """The same one each time, so that `grad(f)(x)` in a loop compiles once."""
        with self._lock:
            if request not in self._derivatives:
                made: Derivative[..., Any] = Derivative(self, request, self._options)
                self._derivatives[request] = made
            return self._derivatives[request]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            given: dict[str, Any] | None = None
            if kwargs or len(args) != self._count:
                if "out" in kwargs and self._takes_out:
                    given = {"out": kwargs.pop("out")}
                args = self._bind(args, kwargs)
                if self._static_at:
                    return self._call_with_statics(args, given)
            prints = tuple(map(fingerprint, args))
            version = self._known.get(prints)
            if version is None:
                if None in prints:
                    args = self._reading(args)
                version = self._version_for(args)
            # Most calls give none, and a call without keywords is a faster one.
            return version.call(*args, **given) if given else version.call(*args)
        except Exception as error:
            hide_frames(error)
            raise

    def value(self, *args: Any, **kwargs: Any) -> Any:
        """What derivatives are those of, without an update of the arguments.

        It is the result, and in front of it the last values of what a call updates.
        """
        bound = self._bound(args, kwargs)
        return self._version_for(bound).value(*self._dynamic(bound))

    @property
    def name(self) -> str:
        """The name of the Python function, `lambda` if it has none."""
        return self._name.strip("<>")

    @property
    def plain_name(self) -> str:
        """The name of the Python function, as it is."""
        return self._name

    @property
    def options(self) -> CompileOptions:
        """How it is compiled."""
        return self._options

    @property
    def has_versions(self) -> bool:
        """Whether it is compiled for some types already."""
        return bool(self._versions)

    def with_statics(self, names: tuple[str, ...]) -> Compiled:
        """The same with more static parameters; itself, where these would not do."""
        return self

    @functools.cached_property
    def _takes_out(self) -> bool:
        """Whether `out` are arrays for the results, and no parameter."""
        return all(p.name != "out" for p in self._parameters)

    def _call_with_statics(
        self, bound: tuple[Any, ...], given: dict[str, Any] | None
    ) -> Any:
        """Call the version for these static arguments, with the others."""
        bound = self._read(bound)
        return self._version_for(bound).call(*self._dynamic(bound), **(given or {}))

    def _statics(self, bound: Sequence[Any]) -> dict[str, Any]:
        """The static arguments by the names of their parameters."""
        names = [self._parameters[k].name for k in self._static_at]
        values = [static_argument(bound[k]) for k in self._static_at]
        return dict(zip(names, values, strict=True))

    def _static_keys(self, bound: Sequence[Any]) -> tuple[Hashable, ...]:
        return tuple([self._static_key(k, bound[k]) for k in self._static_at])

    def _static_key(self, position: int, value: Any) -> Hashable:
        from chadllvm.frontend.static import static_key

        try:
            return static_key(static_argument(value))
        except TypeError:
            raise call_rules.not_hashable(
                f"{self._name}(): static argument {self._parameters[position].name!r} "
                f"must be hashable, found a {type(value).__name__}"
            ) from None

    @property
    def frozen_function(self) -> Any:
        """What it is compiled from: its function as it was at the first use."""
        if self._source is not None:
            return self._source.frozen_function
        if self._frozen is None:
            self._freeze()
        return self._function if self._frozen is None else self._frozen.function

    def _freeze(self) -> None:
        if not isinstance(self._function, FunctionType):
            return
        from chadllvm.driver.frozen import Frozen

        with self._lock:
            if self._frozen is None:
                self._frozen = Frozen(self._function)
                for other in self._frozen.compiled:
                    _ = other.frozen_function
        if self.first_reach and digest_of_reach(self._function) != self.first_reach:
            self.first_reach = b""

    def _thaw(self) -> None:
        """Let the next use freeze it again, if nothing was compiled of it."""
        if self._source is not None:
            self._source._thaw()
        vars(self).pop("_specialiser", None)
        if self._is_used or self._frozen is None:
            return
        others, self._frozen = self._frozen.compiled, None
        for other in others:
            other._thaw()

    def _hold(self) -> None:
        """Keep what it is compiled from: there is code of it."""
        if self._source is not None:
            self._source._hold()
        if self._is_used:
            return
        self._is_used = True
        for other in self._frozen.compiled if self._frozen else ():
            other._hold()

    @contextmanager
    def _using(self) -> Iterator[None]:
        """Something is made of it; what fails is made of what will be there then."""
        try:
            yield
        except BaseException:
            self._thaw()
            raise
        self._hold()

    def _reached_parts(self) -> tuple[object, ...]:
        """What it means, for `driver/reach.py`."""
        return (
            *(self.frozen_function, self._request, self._below),
            *(self._options, self.static_argnames),
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>"

    def __copy__(self) -> Self:
        """Itself, as that of any function."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def _code(self) -> list[tuple[bytes, bytes]]:
        """The machine code that there is, and how it is found, by their keys."""
        from chadllvm.backend import kept

        found = dict(self.received)
        for version in self._versions.values():
            key, code, place = version.key, version.kept, version.shelf
            if key and code and (place or kept.is_keepable(key, code)):
                found[key.digest] = kept.packed(code)
            if place and place.content:
                found[place.key] = place.content
        return list(found.items())

    @without_frames
    def show(self, stage: str, *args: Any, **kwargs: Any) -> Text:
        """The program at a stage, as text.

        Args:
            stage: one of `source core chad simplified loops llvm asm`.
            args: example arguments that choose the types to compile for. Without any,
                the annotations do, or the latest call.

        Raises:
            ValueError: if there is no such stage, or nothing says which types to use.
        """
        version = functools.partial(self._shown_version, args, kwargs)
        return text_of(stage, self._function, version)

    def report(self, *args: Any, **kwargs: Any) -> Report:
        """What the program copies, and what its loops store, line by line.

        Args:
            args: example arguments that choose the types to compile for, and with which
                `scaling` of the report counts operations. Without any, the annotations
                choose, or the latest call.

        Raises:
            ValueError: if nothing says which types to use.
        """
        from chadllvm.driver.report import report

        version = self._shown_version(args, kwargs)
        bound = self._bound(args, kwargs) if args or kwargs else None
        count = functools.partial(self._scaling, bound)
        return report(self._name, version.compilation, count)

    @without_frames
    def view(self, *args: Any, **kwargs: Any) -> Text:
        """A page of HTML with the source, the stages beside it, remarks, and times.

        It is what `chadllvm view` writes. Times are those of this call: a function that
        was compiled before has none.

        Args:
            args: example arguments that choose the types to compile for, as in `show`.

        Raises:
            ValueError: if nothing says which types to use.
        """
        from chadllvm.driver.shown import page_of

        version = functools.partial(self._shown_version, args, kwargs)
        return Text(page_of(self._name, self._function, version).html())

    def _repr_html_(self) -> str:
        """What a notebook shows: the signature, what is compiled, and its remarks."""
        from chadllvm.driver.report import report
        from chadllvm.view.remarks import card

        name = f"{type(self).__name__} {self._name}{inspect.signature(self)}"
        versions = list(self._versions.values())
        remarks = [
            remark
            for version in versions[-1:]
            if version.is_compiled
            for remark in report(self._name, version.compilation).remarks()
        ]
        titles = [f"compiled {version.title}" for version in versions]
        return card(name, titles or ["not compiled yet"], remarks)

    def _scaling(self, bound: tuple[Any, ...] | None) -> tuple[Scaling, ...]:
        """What a call with these arguments executes."""
        from chadllvm.driver.scaling import scalings

        if bound is None:
            raise ValueError(f"{self._name}: give `report` the arguments to count with")
        plan = self.planned(self._types(bound), self._statics(bound))
        return scalings(plan, self._threaded, self._dynamic(bound))

    def _threaded(self, plan: Plan) -> LoopFunction:
        return self.versions(plan, threads=True)[0]

    def _shown_version(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Specialisation:
        if args or kwargs:
            return self._version_for(self._bound(args, kwargs))
        if self._fixed is not None:
            return self._version(self._fixed)
        if not self._versions:
            raise ValueError(
                f"{self._name}: some parameters have no type; call the function first, "
                "or give example arguments"
            )
        return list(self._versions.values())[-1]

    def _version_for(self, bound: Sequence[Any]) -> Specialisation:
        """The version for these arguments: known, ready on disk, or compiled."""
        if not self._static_at_all:
            prints = tuple(map(fingerprint, bound))
        else:
            args = self._dynamic(bound)
            prints = (self._static_keys(bound), *map(fingerprint, args))
        found = self._known.get(prints)
        if found is not None:
            return found
        with self._lock:
            found = self._new_version(bound, prints)
            if None not in prints:
                self._known[prints] = found
        return found

    def _new_version(
        self, bound: Sequence[Any], prints: tuple[object, ...]
    ) -> Specialisation:
        statics: dict[str, Any] = {}
        keys: tuple[Hashable, ...] = ()
        if self._static_at_all:
            statics, keys = self._statics(bound), self._static_keys(bound)
        place = None
        if None not in prints:
            place = shelf(self._options, type(self).__name__, self, statics, prints)
        if place is None:
            return self._version(self._types(bound), statics, keys)
        found = self._ready(place, keys)
        if found is None:
            from chadllvm.driver.ready import keep

            known = [*self._versions.values()]
            found = self._version(self._types(bound), statics, keys)
            if found not in known:
                found.reached = place.reach.digest
            keep(self, found, place)
        return found

    def _ready(self, place: Shelf, keys: tuple[Hashable, ...]) -> Specialisation | None:
        """The version on a shelf; None if there is none."""
        saved = place.load()
        if saved is None:
            return None
        from chadllvm.driver.ready import version

        key: Hashable = (saved.given, keys) if keys else saved.given
        if key not in self._versions:
            found = version(self, saved, place)
            if found is None:
                return None
            self._versions[key] = found
            self._hold()
            if saved.is_fixed:
                self._call_directly(found.call)
        return self._versions[key]

    @property
    def _static_at_all(self) -> bool:
        """Whether there are static parameters, asked without reading the source."""
        return self._count < 0 and bool(self._static_at)

    def is_fixed_to(self, types: tuple[Type, ...]) -> bool:
        """Whether annotations leave no version but that for these types, as a rule."""
        return types == self._fixed and self._count >= 0

    def _version(
        self,
        types: tuple[Type, ...],
        statics: Mapping[str, Any] = MappingProxyType({}),
        keys: tuple[Hashable, ...] = (),
    ) -> Specialisation:
        key: Hashable = (types, keys) if keys else types
        version = self._versions.get(key)
        if version is not None:
            return version
        with self._lock:
            if key not in self._versions:
                self._versions[key] = self._compile(types, statics)
                if self.is_fixed_to(types):
                    self._call_directly(self._versions[key].call)
            return self._versions[key]

    def _call_directly(self, call: Callable[..., Any]) -> None:
        """Let Python call this function at once: annotations leave one version only.

        That is so where native code takes the arguments as they are.

        Python looks `__call__` up in the class, so this object gets one of its own.
        """
        if not isinstance(call, FunctionType):
            return
        call.__defaults__ = self._function.__defaults__
        kind = type(self)
        direct: Any = staticmethod(call)
        if self._varying_at:
            direct = _or_as_usual(call, kind.__call__)
        members = {"__call__": direct, "__module__": kind.__module__}
        self.__class__ = type(kind.__name__, (kind,), members)

    def _compile(
        self, types: tuple[Type, ...], statics: Mapping[str, Any]
    ) -> Specialisation:
        with self._using():
            return self._specialiser(types, statics)

    @functools.cached_property
    def _specialiser(self) -> Specialiser:
        """What compiles, when something is compiled."""
        from chadllvm.driver.specialising import Specialiser

        below = [self._own(r) for r in self._below]
        request = self._own(self._request)
        function = self.frozen_function
        return Specialiser(function, below, request, self._options, self._plan)

    def plan_of(self, program: Program, types: tuple[Type, ...]) -> Plan:
        """What is compiled of a program that was kept."""
        return self._specialiser.plan_of(program, types)

    def repeats(self, plan: Plan, supposes_finite: bool) -> tuple[Any, Any]:
        """What repeats calls that fail, and those that are watched."""
        return self._specialiser.repeats(plan, supposes_finite)

    def planned_for(self, args: Sequence[Any] | None) -> Plan:
        """What is compiled for the types of these arguments, or of the annotations.

        Raises:
            TypeError: if nothing says which types to use.
        """
        from chadllvm.frontend.annotations import CLOSED

        if args is not None:
            bound = self._bound(tuple(args), {})
            return self.planned(self._types(bound), self._statics(bound))
        if self._fixed is not None and not self._static_at:
            return self.planned(self._fixed, {})
        for parameter in self._parameters:
            if parameter.is_static or not isinstance(parameter.annotation, CLOSED):
                raise call_rules.unknown_types(
                    f"{self._name}: nothing says what parameter {parameter.name} is; "
                    "annotate it, or give example arguments"
                )
        raise InternalError(f"{self._name}: all types are known")

    @without_frames
    def pointer(self, *types: Any) -> Pointer:
        """The function for these types as C calls it: a function pointer.

        It has the arguments and results of an exported one, for this processor, and
        runs on the thread that calls it. A failure is its status; it raises nothing.

        Args:
            types: of the arguments, as `cl.f64[:]`; without any, the annotations say.

        Raises:
            TypeError: if nothing says which types to use, or C has none like them.
            ValueError: for what cannot be exported, as with optimize=0.
            RuntimeError: if there is no C compiler, which puts the library together.
            CompileError: where the function cannot be compiled.
        """
        from chadllvm.api.pointer import pointer

        return pointer(self, types)

    @property
    def address(self) -> int:
        """That of `pointer()`, for the types of the annotations."""
        return self.pointer().address

    @property
    def ctypes(self) -> Any:
        """`pointer()` as a function of `ctypes`, for the types of the annotations."""
        return self.pointer().ctypes

    def planned(self, types: tuple[Type, ...], statics: Mapping[str, Any]) -> Plan:
        """What is compiled for these types."""
        with self._using():
            return self._specialiser.planned(types, statics)

    def versions(self, plan: Plan, *, threads: bool) -> list[LoopFunction]:
        """The loops of a plan, and those to run behind them where they fail.

        Without `threads` there are no chunks and no strands for them either.
        """
        return self._specialiser.loops(plan, threads=threads)

    def _plan(
        self, program: Program, types: tuple[Type, ...], request: Request
    ) -> Plan:
        from chadllvm.driver.plan import Plan

        return Plan(program, types, request)

    def deep(self, run: Callable[[], T]) -> T:
        """What a step of the compiler makes, on a deep stack if it has to be one."""
        from chadllvm.driver.specialising import deep

        return deep(self._function, run)


class Function(Compiled, Generic[P, R]):
    """A compiled function; `py_func` is the Python function that it was made from."""

    def __init__(
        self,
        function: Callable[P, R],
        options: CompileOptions,
        statics: tuple[str, ...] = (),
    ) -> None:
        super().__init__(function, Request(), options, statics)
        self.py_func = function

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Function[Concatenate[S, Q], R], instance: S, owner: type | None = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method of an instance, as a plain function in a class is one."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        """Pickled as the name that finds it in its module, else by value."""
        from chadllvm.driver.portable import reduced

        return reduced(self)

    def with_statics(self, names: tuple[str, ...]) -> Compiled:
        """The same with more static parameters, the same one each time."""
        kept: dict[Any, Compiled] = vars(self).setdefault(_WITH_STATICS, {})
        if names not in kept:
            statics = (*self.static_argnames, *names)
            kept[names] = Function(self.py_func, self._options, statics)
        return kept[names]

    def _rules_given(self) -> dict[str, tuple[Any, ...] | None]:
        """The functions that are rules of its own, if it has some."""
        return {}

    def _take_rules(self, rules: Mapping[str, tuple[Any, ...] | None]) -> None:
        """Take over what `_rules_given` has."""

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Derivative(Compiled, Generic[P, R]):
    """A compiled function that was made by `grad` or `value_and_grad`."""

    def __init__(
        self, function: Callable[..., Any], request: Request, options: CompileOptions
    ) -> None:
        plain, below = plain_function(function), derivatives_below(function)
        super().__init__(plain, request, options, statics_of(function), below)
        self._of = function
        self._source = function if isinstance(function, Compiled) else None
        # It takes what the function takes, and gives something else.
        takes = inspect.signature(function)
        self.__signature__ = signature_of_derivative(takes, request)
        parts = function, request.argnums, request.value, request.has_aux
        setattr(self, GRADIENT_PARTS, parts)

    @property
    def request(self) -> Request:
        """Which derivative it is."""
        return self._request

    @property
    def of(self) -> Callable[..., Any]:
        """The function that it is the derivative of."""
        return self._of

    def with_statics(self, names: tuple[str, ...]) -> Compiled:
        of = self._of
        if isinstance(of, FunctionType):
            return compiled_form(of, names).derivative(self._request)
        assert isinstance(of, Compiled)
        return of.with_statics(names).derivative(self._request)

    def __reduce__(self) -> Any:
        from chadllvm.driver.portable import portable

        # A plain function is pickled with the values that it was compiled with.
        is_frozen = self._is_used and self._source is None
        of = portable(self.frozen_function if is_frozen else self._of)
        return _derivative, (of, self._request, self._options, self._code())

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


def _or_as_usual(
    call: Callable[..., Any], usual: Callable[..., Any]
) -> Callable[..., Any]:
    """A call at once; where records in a list differ in size it is another version."""

    def either(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except call_rules.SizesDiffer:
            pass  # An exception of the other version has no context.
        return usual(self, *args, **kwargs)

    return either


def _derivative(
    of: Any,
    request: Request,
    options: CompileOptions,
    code: Sequence[tuple[bytes, bytes]],
) -> Derivative[..., Any]:
    """A derivative that was pickled, with the code that it had."""
    from chadllvm.backend import kept

    for key, content in code:
        kept.receive(key, content)
    is_its_own = isinstance(of, Function) and of.options == options
    made: Derivative[..., Any] = (
        of.derivative(request) if is_its_own else Derivative(of, request, options)
    )
    made.received.update(code)
    return made


# Where a plain function keeps its derivatives.
_DERIVATIVES = "_chadllvm_derivatives"


def derivative_of(
    function: Callable[..., Any], request: Request
) -> Derivative[..., Any]:
    """A derivative of a function that is not compiled, with the usual options.

    It is the same one each time, as long as all that the function reaches is the same,
    so that `grad(f)(x)` in a loop compiles once.
    """
    users = isinstance(function, FunctionType)
    origin = digest_of_reach(function) if users else None
    if origin is None:
        return Derivative(function, request, CompileOptions())
    kept: dict[Request, Derivative[..., Any]] = vars(function).setdefault(
        _DERIVATIVES, {}
    )
    found = kept.get(request)
    # Wrappers may take over what they find in the function that they wrap.
    if found is None or found.first_reach != origin or found._function is not function:
        found = kept[request] = Derivative(function, request, CompileOptions())
        found.first_reach = origin
    return found


# Where a plain function that was an argument keeps its compiled form, what it had
# captured then, and what else it reached.
_COMPILED = "_chadllvm_jit"


def static_argument(value: Any) -> Any:
    """A static argument as programs see it: a plain Python function is compiled.

    Variables that it reads may have been assigned again since.
    """
    if not isinstance(value, FunctionType) or _is_known(value):
        return value
    return compiled_form(value)


def compiled_form(
    value: FunctionType, statics: tuple[str, ...] = ()
) -> Function[..., Any]:
    """A plain Python function compiled, the same one as long as it means the same."""
    from chadllvm.frontend.signature import all_captured

    captured, reach = all_captured(value), digest_of_reach(value)
    kept = vars(value).setdefault(_COMPILED, {})
    found: Function[..., Any] | None
    found, before, reached = kept.get(statics, (None, (), None))
    is_same = found is not None and found.py_func is value and reach == reached
    if found is None or not (is_same and _are_same(captured, before)):
        found = Function(value, CompileOptions(), statics)
        kept[statics] = found, captured, reach
    return found


def _is_known(function: FunctionType) -> bool:
    """Whether a Python function is one that programs know, and need not be compiled."""
    if is_users(function):
        return False
    from chadllvm.frontend.calls import is_callable

    return is_callable(function)


def _are_same(first: Sequence[Any], second: Sequence[Any]) -> bool:
    return len(first) == len(second) and all(map(operator.is_, first, second))


def statics_of(function: Callable[..., Any]) -> tuple[str, ...]:
    return function.static_argnames if isinstance(function, Compiled) else ()


def plain_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function below all derivatives."""
    return function._function if isinstance(function, Compiled) else function


def derivatives_below(function: Callable[..., Any]) -> tuple[Request, ...]:
    """The derivatives that a function is, from the inside out."""
    if isinstance(function, Derivative):
        return (*function._below, function._request)
    return ()
