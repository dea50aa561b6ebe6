"""`jacfwd`, `jacrev`, `hessian`, `hvp`: derivatives of many results, and second ones.

They are functions of our own language, written for the ranks at hand and compiled like
the user's:

    def columns_f(x, y):
        return [jvp(f, (x, y), (unit(x, i), None))[1] for i in range(x.size)]
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.api import grad, jit
from chadllvm.compiled import Function
from chadllvm.frames import without_frames
from chadllvm.jvp import jvp
from chadllvm.vjp import vjp
from chadllvm.written import compiled_function, unused, written


@jit
def _unit(like: Any, k: int) -> Any:
    """The array of this shape that is 1 at place k, counted row by row, and else 0."""
    places, zeros = np.arange(like.size).reshape(like.shape), np.zeros_like(like)
    return np.where(places == k, zeros + 1.0, zeros)


class _Derivative(ABC):
    """A function of the arguments of another one, written for ranks as they come."""

    def __init__(self, function: Callable[..., Any], argnum: int | str) -> None:
        self._function = compiled_function(function)
        names = [p.name for p in self._function.parameters]
        at = names.index(argnum) if isinstance(argnum, str) else operator.index(argnum)
        if not -len(names) <= at < len(names):
            raise ValueError(f"argnums={argnum!r}: there are {len(names)} parameters")
        self._at = at % len(names)
        self._made: dict[tuple[int, ...], Function[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._function.name}>"

    def _version(self, count: int, *ranks: int) -> Function[..., Any]:
        """The function for so many arguments, and values of these ranks."""
        key = count, *ranks
        if key not in self._made:
            self._made[key] = self._written(count, *ranks)
        return self._made[key]

    def _written(self, count: int, *ranks: int) -> Function[..., Any]:
        """Write a version: `{f}` and the like are names that no parameter has."""
        names = [p.name for p in self._function.parameters[:count]]
        space = {"f": self._function, "jvp": jvp, "vjp": vjp, "grad": grad}
        space["unit"] = _unit
        own = {name: unused(name, names) for name in (*space, "v", "k")}
        title = unused(f"columns_{self._function.name}", names)
        body = self._body(names, *ranks).format(**own)
        more = [own["v"]] if self.takes_vector else []
        text = f"def {title}({', '.join([*names, *more])}):\n    return {body}\n"
        outside = {own[name]: value for name, value in space.items()}
        return written(self._function, title, text, outside)

    takes_vector = False

    @abstractmethod
    def _body(self, names: list[str], *ranks: int) -> str:
        """The expression that is returned."""

    def _moved(self, names: list[str], tangent: str) -> str:
        """The primals and the tangents, as arguments of `jvp`."""
        tangents = ["None"] * len(names)
        tangents[self._at] = tangent
        return f"({', '.join(names)},), ({', '.join(tangents)},)"

    def _argument(self, args: tuple[Any, ...]) -> Any:
        """The argument that is differentiated by."""
        taken = len(self._function.parameters)
        if not self._at < len(args) <= taken:
            raise TypeError(
                f"{self._function.name}() takes {taken} arguments by position, "
                f"{len(args)} were given"
            )
        value = args[self._at]
        if not isinstance(value, float | np.ndarray | np.floating):
            name = self._function.parameters[self._at].name
            raise TypeError(
                f"{self._function.name}(): {name!r} is a {type(value).__name__}; "
                "Jacobians are by floats and arrays of floats"
            )
        return value


class ForwardJacobian(_Derivative):
    """The Jacobian by one pass along each component of the argument."""

    @without_frames
    def __call__(self, *args: Any) -> Any:
        """The Jacobian: the shape of the result, followed by that of the argument."""
        shape = np.shape(self._argument(args))
        found = self._version(len(args), len(shape))(*args)
        if not shape:
            return found
        columns = np.moveaxis(np.asarray(found), 0, -1)
        return columns.reshape(columns.shape[:-1] + shape)

    def _body(self, names: list[str], *ranks: int) -> str:
        if not ranks[0]:
            return f"{{jvp}}({{f}}, {self._moved(names, '1.0')})[1]"
        x = names[self._at]
        moved = self._moved(names, f"{{unit}}({x}, {{k}})")
        return f"[{{jvp}}({{f}}, {moved})[1] for {{k}} in range({x}.size)]"


class ReverseJacobian(_Derivative):
    """The Jacobian by one pass from each component of the result."""

    @without_frames
    def __call__(self, *args: Any) -> Any:
        """The Jacobian: the shape of the result, followed by that of the argument."""
        shape = np.shape(self._argument(args))
        out = self._function(*args)
        found = self._version(len(args), np.ndim(out))(*args)
        return found if not np.ndim(out) else found.reshape(np.shape(out) + shape)

    def _body(self, names: list[str], *ranks: int) -> str:
        call = f"{{vjp}}({{f}}, {', '.join(names)})"
        if not ranks[0]:
            return f"{call}[1](1.0)[{self._at}]"
        out = f"{{f}}({', '.join(names)})"
        row = f"{call}[1]({{unit}}({out}, {{k}}))[{self._at}]"
        return f"[{row} for {{k}} in range({out}.size)]"


class HessianProduct(_Derivative):
    """The Hessian of a scalar function, times a direction."""

    takes_vector = True

    @without_frames
    def __call__(self, *args: Any) -> Any:
        """The product, given the arguments and, behind them, the direction."""
        self._argument(args[:-1])
        return self._version(len(args) - 1)(*args)

    def _body(self, names: list[str], *ranks: int) -> str:
        slope = f"{{grad}}({{f}}, argnums={self._at})"
        return f"{{jvp}}({slope}, {self._moved(names, '{v}')})[1]"


@without_frames
def jacfwd(function: Callable[..., Any], argnums: int | str = 0) -> ForwardJacobian:
    """The Jacobian of a function by a parameter, in forward mode.

    The better one where the argument has fewer components than the result: it costs
    about three times the function's work for each component of the argument.

    Args:
        function: a function, compiled or not, or a gradient; its result is a float or
            an array of floats.
        argnums: the position or the name of a parameter that is a float, or an array of
            floats of any rank.

    Returns:
        A function of the same arguments, by position: an array of the result's shape
        followed by the argument's, or a float if both are floats.

    Raises:
        ValueError: if there is no such parameter.
        TypeError: at a call, if the argument is no float and no array.
    """
    return ForwardJacobian(function, argnums)


@without_frames
def jacrev(function: Callable[..., Any], argnums: int | str = 0) -> ReverseJacobian:
    """The same by reverse mode, at the cost of a gradient for each of the results."""
    return ReverseJacobian(function, argnums)


@without_frames
def hessian(function: Callable[..., Any], argnums: int | str = 0) -> ForwardJacobian:
    """The second derivatives of a function that returns a float: see `jacfwd`.

    Forward over reverse mode: about three gradients for each component.
    """
    return ForwardJacobian(grad(function, argnums), argnums)


@without_frames
def hvp(function: Callable[..., Any], argnums: int | str = 0) -> HessianProduct:
    """`hvp(f)(x, v)`: the Hessian of f at x times v, without the Hessian.

    For a function of several parameters the direction `v`, of the type of the one that
    `argnums` names, comes behind them: `hvp(f, 1)(x, y, v)`.

    Raises:
        ValueError: if there is no such parameter.
        TypeError: at a call, if the argument is no float and no array.
    """
    return HessianProduct(function, argnums)
