"""A function → the two native halves of its pullback, compiled.

The derivative is cut in two by `chad/halves.py`; `pullback.py` calls them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chadllvm.backend import kept as kept_code
from chadllvm.backend.call import NativeFunction
from chadllvm.backend.results import Group, leaf_types
from chadllvm.driver.boundary import heaps_used
from chadllvm.driver.pipeline import Compilation, compile_halves
from chadllvm.driver.plan import titled
from chadllvm.driver.values import gradient_type, is_object, leaf_positions
from chadllvm.frontend import specialise
from chadllvm.ir.defects import stage
from chadllvm.ir.record import ListNames
from chadllvm.ir.types import Array, Product, Sum, Type, has_float, holds_reference
from chadllvm.support.deep import run_deep
from chadllvm.support.told import Told, told

if TYPE_CHECKING:
    from chadllvm.api.pullback import Halved


class Half(NamedTuple):
    """A native half: how it is called, and its code as it is kept, if it may be."""

    native: NativeFunction
    names: tuple[str, ...]
    types: tuple[Type, ...]
    result: Group
    key: kept_code.Key | None


class Halves(NamedTuple):
    """The two halves for arguments of some types; `value` is the type of the result."""

    early: Half
    late: Half
    value: Type


@stage("backend", runs_users=True)
def compiled_halves(
    function: Halved,
    types: tuple[Type, ...],
    statics: Mapping[str, Any],
    dynamic: Sequence[int],
    which: range,
) -> Halves | None:
    """The halves for arguments of these types; None if it is not to be done so.

    Cotangents are of the arguments at `which`; those at `dynamic` have these types, and
    the others are static.
    """
    with told(f"pullback of {function.plain_name}") as compilation:
        made = _compiled(function, types, statics, dynamic, which, compilation)
        compilation.is_made = made is not None
        return made


def _compiled(
    function: Halved,
    types: tuple[Type, ...],
    statics: Mapping[str, Any],
    dynamic: Sequence[int],
    which: range,
    compilation: Told,
) -> Halves | None:
    if any(map(holds_reference, types)):
        return None
    program = specialise(function.plain, types, statics, function.parts_below())
    compilation.title = f"pullback of {titled(function.plain_name, program, types)}"
    value = program.entry.body.results[0].type
    # The nodes of recursive data are there during one call only.
    if heaps_used(program) or holds_reference(value):
        return None
    at = {k: j for j, k in enumerate(dynamic) if k in which}
    at = {k: j for k, j in at.items() if not is_object(types[j])}
    wrt = leaf_positions(types, [*at.values()])
    if not wrt or not has_float(value) or any(map(_has_choice, (value, *types))):
        return None
    try:
        compiled = run_deep(lambda: compile_halves(program, wrt, function.options))
    except RecursionError:
        return None  # The function itself will say so.
    if compiled is None:
        return None
    early, late = compiled
    first = early.stages["simplified"].entry.body.types
    saved = first[len(leaf_types(value)) :]
    found = {k: gradient_type(types[j]) for k, j in at.items()}
    result = Group(tuple(found.get(k) for k in which))
    names = tuple(p.name for p in program.entry.params)

    def half(
        which: str,
        compilation: Compilation,
        names: Sequence[str],
        types: Sequence[Type],
        result: Group,
    ) -> Half:
        key = kept_code.key_of(function.options, which, program, wrt)
        native = function.deep(
            lambda: NativeFunction(
                compilation.lowered,
                function.plain_name,
                names,
                types,
                result,
                places=key.places if key else (),
            )
        )
        return Half(native, tuple(names), tuple(types), result, key)

    return Halves(
        half("early", early, names, types, Group((value, Group(saved)))),
        half("late", late, *_taken(saved, value), result),
        value,
    )


def _taken(saved: Sequence[Type], value: Type) -> tuple[list[str], list[Type]]:
    """The parameters of a second half: what is saved, and the cotangents."""
    cts = [leaf for leaf in leaf_types(value) if has_float(leaf)]
    names = [f"saved{k}" for k in range(len(saved))]
    return [*names, *(f"ct{k}" for k in range(len(cts)))], [*saved, *cts]


def _has_choice(ty: Type) -> bool:
    """Whether values of this type may be of one class or another, or of several sizes.

    Their cotangents have leaves that say so.
    """
    match ty:
        case Sum() | Product(_, ListNames()):
            return True
        case Product(fields):
            return any(map(_has_choice, fields))
        case Array(elem, _):
            return _has_choice(elem)
        case _:
            return False
