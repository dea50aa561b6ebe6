"""`vjp`: what takes a cotangent of a function's result to cotangents of its arguments.

The function is run once, with a tape (`pullback.py`). Where that is not possible, the
pullback is a function of our own language that runs the function again:

    def pullback_f(x, y, cotangent):
        return vjp(f, x, y)[1](cotangent)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from chadllvm.api.compiled import Compiled, Function
from chadllvm.api.copying import copied, given_cotangent
from chadllvm.api.placed import placed
from chadllvm.api.pullback import Halved
from chadllvm.api.written import as_they_are, head, unused, written
from chadllvm.support.derivative_kinds import Transform, means
from chadllvm.support.frames import hide_frames, without_frames

R = TypeVar("R")
Primals = TypeVarTuple("Primals")

# Where a compiled function keeps its pullbacks, by the numbers of arguments.
_KEPT = "_chadllvm_pullbacks"

# Where it keeps the form that gives a tape.
_HALVED = "_chadllvm_halved"


@means(Transform.VJP)
@without_frames
def vjp(
    function: Callable[[*Primals], R], *primals: *Primals
) -> tuple[R, Callable[[R], tuple[*Primals]]]:
    """The value of a function, and its pullback there.

    Args:
        function: a function, compiled or not, or a gradient made by `grad` or
            `value_and_grad`.
        primals: its arguments, by position.

    Returns:
        `(out, pullback)`: `pullback(cotangent)` takes a cotangent of `out`, a float for
        a float, an array of the same shape for an array, a tuple for a tuple, and gives
        a tuple of cotangents, one for each primal, in its container; None for what
        holds no reals. It may be called any number of times, from any thread. It keeps
        what it needs of the run of the function, and the primals as they were; with
        unions of classes, recursive data or lists of arrays among arguments or results
        it runs the function again.

    Raises:
        CompileError: if the function cannot be compiled.
        TypeError: if a cotangent is not what the result asks for.
        ValueError: if its shape is another one; at the call of the pullback.
    """
    at = placed(function, primals)
    made = Pullback(at.function, as_they_are(at.function, at.args), at.which)
    return made.run(at.args), made


class Pullback:
    """Takes a cotangent of a function's result to cotangents of its arguments.

    In a pickle it is the function and the arguments: what it keeps of the run is
    nothing to another machine, and is made again at the first call.
    """

    def __init__(
        self, function: Compiled, primals: tuple[Any, ...], which: range
    ) -> None:
        self._function, self._primals, self._which = function, primals, which
        self._call: Callable[[Any], tuple[Any, ...]] | None = None

    def run(self, primals: Sequence[Any]) -> Any:
        """Run the function, whose result this gives."""
        found = _halved(self._function).run(primals, self._which, self._again)
        if found is not None:
            out, self._call = found
            return out
        out = self._function.value(*primals)
        self._call = partial(self._again, copied(self._function.name, "out", out))
        return out

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        try:
            if self._call is None:
                self.run(self._primals)
            assert self._call is not None
            return self._call(cotangent)
        except Exception as error:
            hide_frames(error)
            raise

    def _again(self, out: Any, cotangent: Any) -> tuple[Any, ...]:
        """The cotangents by running the function once more."""
        title = f"pullback of {self._function.name}"
        whole = given_cotangent(title, out, cotangent)
        pullback = _pullback(self._function, len(self._primals), self._which)
        return pullback(*self._primals, whole)

    def __repr__(self) -> str:
        return f"<pullback of {self._function.name}>"

    def __reduce__(self) -> Any:
        return Pullback, (self._function, self._primals, self._which)


def _halved(function: Compiled) -> Halved:
    """The function with its tape, kept with it so that it lives as long."""
    kept: dict[str, Halved] = vars(function)
    if _HALVED not in kept:
        kept[_HALVED] = Halved(function)
    return kept[_HALVED]


def _pullback(
    function: Compiled, count: int, which: range
) -> Function[..., tuple[Any, ...]]:
    """The pullback of a function of so many arguments to some of them, made once."""
    kept: dict[Any, Function[..., tuple[Any, ...]]] = vars(function).setdefault(
        _KEPT, {}
    )
    key = count, which
    if key not in kept:
        kept[key] = _written(function, count, which)
    return kept[key]


def _written(
    function: Compiled, count: int, which: range
) -> Function[..., tuple[Any, ...]]:
    parameters = function.parameters[:count]
    names = [p.name for p in parameters]
    title = f"pullback_{function.name}"
    given, called, take = (unused(n, names) for n in ("cotangent", "function", "vjp"))
    space = {called: function, take: vjp}
    heads = [head(p, names, space) for p in parameters]
    pulled = unused("pulled", [*names, given, called, take])
    parts = "".join(f"{pulled}[{k}], " for k in which)
    text = (
        f"def {title}({', '.join([*heads, given])}):\n"
        f"    {pulled} = {take}({', '.join([called, *names])})[1]({given})\n"
        f"    return ({parts})\n"
    )
    return written(function, title, text, space)
