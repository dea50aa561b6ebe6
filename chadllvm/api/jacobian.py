"""`jacfwd`, `jacrev`, `hessian`, `hvp`, `linearize`: from Python.

What programs mean by these stands in `frontend/jacobians.py` and `linearised.py`. From
outside of programs, they are functions of our own language that are compiled like the
user's:

    def jacfwd_f(x, y=y_default):
        return jacfwd(f, 0, False)(x, y)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from chadllvm.api.bound import bound_of
from chadllvm.api.compiled import Compiled, Function
from chadllvm.api.filled import check_shapes, filled
from chadllvm.api.placed import kept_as_it_is, placed
from chadllvm.api.tangents import jvp
from chadllvm.api.transforms import positions
from chadllvm.api.written import as_they_are, compiled_function, head, unused, written
from chadllvm.driver.signatures import signature_along
from chadllvm.driver.values import as_declared
from chadllvm.frontend.records import NO_DEFAULT
from chadllvm.frontend.signature import Parameter
from chadllvm.support import call_rules
from chadllvm.support.derivative_kinds import Transform, means
from chadllvm.support.frames import without_frames
from chadllvm.support.options import CompileOptions

if TYPE_CHECKING:
    from chadllvm.for_checkers import A, At0, At1, B, P, Takes1, Takes2

R = TypeVar("R")

Argnums = int | str | Sequence[int | str]

# Where a compiled function keeps its Jacobians, by what is asked for.
_KEPT = "_chadllvm_jacobians"


@overload
def jacfwd(
    function: Takes1[P, A, float], argnums: At0 = 0, has_aux: Literal[False] = False
) -> Function[P, A]: ...
@overload
def jacfwd(
    function: Takes2[P, Any, B, float], argnums: At1, has_aux: Literal[False] = False
) -> Function[P, B]: ...
@overload
def jacfwd(
    function: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Function[P, Any]: ...


@means(Transform.JACFWD)
@without_frames
def jacfwd(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Function[..., Any]:
    """The Jacobian of a function, in forward mode.

    The better one where the argument has fewer components than the result: it costs
    about three times the function's work for each component of the argument.

    Args:
        function: a function, compiled or not, or a derivative; its result is a float,
            an array of floats, or a tuple or record that holds such.
        argnums: the position or the name of a parameter that is a float, or an array of
            floats of any rank, or several.
        has_aux: the function returns a tuple of such a result and anything else, which
            is given beside the Jacobian: `(jacobian, auxiliary)`.

    Returns:
        A function of the same arguments. It returns the structure of the result, with
        an array in the place of each real: of this one's shape followed by the
        argument's, a float if both are floats. For several arguments a tuple of these.

    Raises:
        ValueError: if there is no such parameter, or it is static.
        CompileError: at a call, if argument or result are something else.
    """
    return _made(jacfwd, function, argnums, has_aux)


@overload
def jacrev(
    function: Takes1[P, A, float], argnums: At0 = 0, has_aux: Literal[False] = False
) -> Function[P, A]: ...
@overload
def jacrev(
    function: Takes2[P, Any, B, float], argnums: At1, has_aux: Literal[False] = False
) -> Function[P, B]: ...
@overload
def jacrev(
    function: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Function[P, Any]: ...


@means(Transform.JACREV)
@without_frames
def jacrev(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Function[..., Any]:
    """The same by reverse mode: the function once, and its reverse for each result."""
    return _made(jacrev, function, argnums, has_aux)


@overload
def hessian(
    function: Takes1[P, A], argnums: At0 = 0, has_aux: Literal[False] = False
) -> Function[P, A]: ...
@overload
def hessian(
    function: Takes2[P, Any, B], argnums: At1, has_aux: Literal[False] = False
) -> Function[P, B]: ...
@overload
def hessian(
    function: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False
) -> Function[P, Any]: ...


@means(Transform.HESSIAN)
@without_frames
def hessian(
    function: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Function[..., Any]:
    """The second derivatives of a function that returns a float: see `jacfwd`.

    Forward over reverse mode: about two gradients for each component.
    """
    return _made(hessian, function, argnums, has_aux)


@overload
def hvp(function: Takes1[P, A], argnums: At0 = 0) -> Function[..., A]: ...
@overload
def hvp(function: Takes2[P, Any, B], argnums: At1) -> Function[..., B]: ...
@overload
def hvp(function: Callable[..., Any], argnums: Argnums = 0) -> Function[..., Any]: ...


@means(Transform.HVP)
@without_frames
def hvp(function: Callable[..., Any], argnums: Argnums = 0) -> Function[..., Any]:
    """`hvp(f)(x, v)`: the Hessian of f at x times v, without the Hessian.

    The direction `v` is the last argument by position, of the type of the parameter
    that `argnums` names: `hvp(f, 1)(x, y, v)`; for several of them it is a tuple. Other
    arguments may be given by name, or be left to their defaults.

    Raises:
        ValueError: if there is no such parameter, or it is static.
        CompileError: at a call, if the function does not return a float, or the
            direction is of another type.
    """
    return _made(hvp, function, argnums)


@means(Transform.LINEARIZE)
@without_frames
def linearize(function: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., R]]:
    """The value of a function, and its derivative there as a linear map.

    Args:
        function: a function, compiled or not, or a derivative.
        primals: its arguments, by position.

    Returns:
        `(out, map)`: `map(*tangents)` takes a tangent for each primal, as `jvp` does,
        and gives that of the result. Each call runs the function along, for the primals
        as they were.

    Raises:
        CompileError: if the function cannot be compiled.
        TypeError, ValueError: at a call of the map, as those of `jvp`.
    """
    own, along = placed(function, primals), kept_as_it_is(function)
    kept = as_they_are(own.function, own.args)
    primals = tuple([kept[k] for k in own.which])
    return own.function.value(*own.args), _Linear(along, primals)


class _Linear:
    """The derivative of a function at some arguments, as a linear map."""

    def __init__(self, function: Callable[..., Any], primals: tuple[Any, ...]) -> None:
        self._function, self._primals = function, primals

    @without_frames
    def __call__(self, *tangents: Any) -> Any:
        return jvp(self._function, self._primals, tangents)[1]

    def __repr__(self) -> str:
        return f"<derivative of {self._function.__name__.strip('<>')}>"

    def __reduce__(self) -> Any:
        return _Linear, (self._function, self._primals)


def _made(
    which: Callable[..., Any],
    function: Callable[..., Any],
    argnums: Argnums,
    *more: Any,
) -> Function[..., Any]:
    """A derivative of a function, the same one each time."""
    bound = bound_of(function)
    if bound is not None:
        made = _made(which, bound.compiled, bound.argnums(argnums), *more)
        return cast("Function[..., Any]", bound.around(made))
    compiled = compiled_function(function)
    constants = positions(compiled, argnums), *more
    kept: dict[Any, Function[..., Any]] = vars(compiled).setdefault(_KEPT, {})
    key = which.__name__, constants
    if key not in kept:
        kept[key] = _written(which, compiled, constants)
    return kept[key]


def _written(
    which: Callable[..., Any], function: Compiled, constants: tuple[Any, ...]
) -> Function[..., Any]:
    names = [p.name for p in function.parameters]
    title = unused(f"{which.__name__}_{function.name}", names)
    of, make = unused("function", names), unused(which.__name__, names)
    space: dict[str, Any] = {of: function, make: which}
    heads, given = _signature(function, space, which is hvp)
    made = f"{make}({', '.join([of, *map(repr, constants)])})"
    text = f"def {title}({', '.join(heads)}):\n    return {made}({', '.join(given)})\n"
    kind = _Along if which is hvp else _Made
    return written(
        function, title, text, space, partial(kind, which, function, constants)
    )


class _Made(Function[..., Any]):
    """What `which` makes of a function, and of `constants`: pickled as that."""

    def with_statics(self, names: tuple[str, ...]) -> Compiled:
        which, (of, *constants) = self._made_by
        found: Compiled = _made(which, of.with_statics(names), *constants)
        return found

    def __init__(
        self,
        which: Callable[..., Any],
        of: Compiled,
        constants: tuple[Any, ...],
        function: Callable[..., Any],
        options: CompileOptions,
        statics: tuple[str, ...],
    ) -> None:
        super().__init__(function, options, statics)
        self._made_by = which, (of, *constants)
        takes, empty = inspect.signature(of), inspect.Signature.empty
        self.__signature__ = takes.replace(return_annotation=empty)

    def __repr__(self) -> str:
        return f"<Function {self.name}>"

    def __reduce__(self) -> Any:
        return self._made_by


class _Along(_Made):
    """`hvp(f, argnums)`: a direction may have None where its primal has integers.

    It stands behind the arguments that are given by position. Those that are not have
    the defaults of the function.
    """

    def __init__(
        self,
        which: Callable[..., Any],
        of: Compiled,
        constants: tuple[Any, ...],
        *more: Any,
    ) -> None:
        super().__init__(which, of, constants, *more)
        self._of = of
        self._argnums: int | tuple[int, ...] = constants[0]
        self.__signature__ = signature_along(inspect.signature(of), self._argnums)
        defaults = {p.name: p.default for p in of.parameters}
        self._parameters = tuple(
            replace(p, default=defaults.get(p.name, p.default))
            for p in self._parameters
        )
        self._count = -1  # All calls are bound below.

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        at = [not p.is_keyword_only for p in self._parameters].count(True) - 1
        name = self._parameters[at].name
        if 0 < len(args) <= at and name not in kwargs:
            *given, direction = args
            args, kwargs = tuple(given), {**kwargs, name: direction}
        bound = list(super()._bind(args, kwargs))
        primals = [*bound[:at], *bound[at + 1 :]]
        which = self._argnums
        parameters = [p for k, p in enumerate(self._parameters) if k != at]
        self._check_direction(primals, bound[at])
        bound[at] = (
            _along(parameters[which], primals[which], bound[at])
            if isinstance(which, int)
            else _along_all(parameters, primals, which, bound[at])
        )
        return tuple(bound)

    def _check_direction(self, primals: Sequence[Any], direction: Any) -> None:
        """Refuse one whose arrays are not of the shapes of the arguments'."""
        which = self._argnums
        if isinstance(which, int):
            shape = getattr(direction, "shape", None)
            if shape is not None and shape == getattr(primals[which], "shape", None):
                return
            which, direction = (which,), (direction,)
        title = f"hvp of {self._of.name}"
        if not isinstance(direction, tuple) or len(direction) != len(which):
            raise call_rules.unlike_tangent(
                f"{title}: the direction must be a tuple of {len(which)}, one for each "
                f"parameter in argnums"
            )
        for k, part in zip(which, direction, strict=True):
            check_shapes(title, self._of.parameters[k].name, primals[k], part)


def _along_all(
    parameters: Sequence[Parameter],
    primals: Sequence[Any],
    which: Sequence[int],
    direction: Any,
) -> Any:
    """The direction of several arguments, a tuple of one for each."""
    if not isinstance(direction, tuple) or len(direction) != len(which):
        return direction
    pairs = zip(which, direction, strict=True)
    return tuple([_along(parameters[k], primals[k], part) for k, part in pairs])


def _along(parameter: Parameter, primal: Any, direction: Any) -> Any:
    """The direction of an argument, as the parameter takes the argument."""
    found = filled(primal, direction)
    return as_declared(parameter.annotation, found, "hvp", "direction")


def _signature(
    function: Compiled, space: dict[str, Any], has_direction: bool
) -> tuple[list[str], list[str]]:
    """The parameters of a derivative of a function, and the arguments handed on.

    They have its defaults, which are put into `space`, unless a direction follows them.
    """
    names = [p.name for p in function.parameters]
    heads: list[str] = []
    named: list[str] = []
    given: list[str] = []
    for p in function.parameters:
        text = head(p, names, space)
        if p.default is not NO_DEFAULT and (p.is_keyword_only or not has_direction):
            default = unused(f"{p.name}_default", names)
            space[default] = p.default
            text += f"={default}"
        (named if p.is_keyword_only else heads).append(text)
        given.append(f"{p.name}={p.name}" if p.is_keyword_only else p.name)
    if has_direction:
        direction = unused("direction", names)
        given.insert(len(heads), direction)
        heads.append(direction)
    return [*heads, *(["*"] if named else []), *named], given
