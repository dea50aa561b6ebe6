"""Functions to be exported → what `backend/aot` makes a library of.

Each has a plan like a function that is called: its parameters are the plan's, and its
results are named after what they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chadllvm.backend.aot.bundle import Bundle, is_ours, write_all
from chadllvm.backend.aot.function import Columns, Exported, Output
from chadllvm.backend.aot.library import build
from chadllvm.backend.aot.names import is_plain
from chadllvm.backend.aot.nodes import Heap
from chadllvm.backend.aot.targets import level_of, target_for, usual_levels
from chadllvm.backend.aot.toolchain import toolchain
from chadllvm.backend.results import Group, Result
from chadllvm.driver.boundary import Boundary
from chadllvm.driver.plan import Plan
from chadllvm.driver.values import gradient_type, is_object
from chadllvm.ir.types import F64, Array, Product, Type, holds_set
from chadllvm.ir.updated import Updated
from chadllvm.ir.wording import said
from chadllvm.llvm.target import Target
from chadllvm.support import call_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from chadllvm.api.compiled import Compiled
    from chadllvm.frontend import Parameter

KINDS = ("shared", "static", "object")

# Names that every library has for itself, and what others of its own begin with.
_OWN = {"check", "error", "hooks", "manifest", "memory"}
_OWN |= {"memory_close", "memory_in", "memory_open"}
_OWN_STARTS = ("raw_", "chad_")


@dataclass(frozen=True)
class Order:
    """What is to be made of functions: see `export`."""

    kind: str | Sequence[str]
    cpu: str | Sequence[str] | None
    target: str | None
    openmp: bool
    cc: str | None


def write(
    functions: Mapping[str, tuple[Compiled, Sequence[Any] | None]],
    place: Path,
    order: Order,
) -> Path:
    """Write the library of these functions to a folder; the path of its main file.

    Beside each function are example arguments, or None.
    """
    prefix = place.name.removeprefix("lib")
    kinds = _kinds(order.kind)
    _check_names(prefix, functions)
    if place.exists() and not is_ours(place):
        raise FileExistsError(f"{place} is there already, and no exported library")
    if not functions:
        raise call_rules.not_exported("export() of no functions")
    targets = _targets(order.target, order.cpu, kinds)
    is_foreign = order.target not in (None, _own_triple())
    needs_tools = kinds != ("object",)
    if needs_tools and is_foreign and order.cc is None:
        raise call_rules.not_exported(
            f"kind={order.kind!r} for {order.target} needs a C compiler for it: name "
            "it by cc=, or export with kind='object'"
        )
    tools = toolchain(order.cc) if needs_tools else None
    made = [
        exported(name, compiled, partial(compiled.planned_for, args), order.openmp)
        for name, (compiled, args) in functions.items()
    ]
    library = build(prefix, made, targets, openmp=order.openmp)
    return write_all(Bundle(library, kinds, tools), place)


def _own_triple() -> str:
    return target_for(None, None).triple


def _kinds(kind: str | Sequence[str]) -> tuple[str, ...]:
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)
    for name in kinds:
        if name not in KINDS:
            raise call_rules.not_exported(
                f"kind={name!r}: the kinds are {', '.join(KINDS)}"
            )
    if not kinds or ("object" in kinds and len(kinds) > 1):
        raise call_rules.not_exported(
            "kind: shared and static may be made together, object by itself"
        )
    return kinds


# `F_OK` and others are modes of `access` there.
_TAKEN = frozenset("frwx")


def _check_names(prefix: str, functions: Mapping[str, Any]) -> None:
    if not is_plain(prefix) or prefix == "chad":
        raise call_rules.bad_name(
            f"{prefix!r} cannot be the name of a library: it begins all names in C, so "
            "it must be a letter, followed by letters, digits and underscores"
        )
    if prefix.lower() in _TAKEN:
        raise call_rules.bad_name(
            f"{prefix!r} cannot be the name of a library: C's unistd.h has a "
            f"{prefix.upper()}_OK of its own"
        )
    for name in functions:
        if not is_plain(name) or name in _OWN or name.startswith(_OWN_STARTS):
            raise call_rules.bad_name(
                f"{name!r} cannot be the name of an exported function"
            )
        for ending in ("_workspace", "_log_density", "_user"):
            if name.removesuffix(ending) in functions and name.endswith(ending):
                raise call_rules.bad_name(
                    f"{name!r} is what the library adds to a function"
                )


def _targets(
    triple: str | None, cpu: str | Sequence[str] | None, kinds: Sequence[str]
) -> list[Target]:
    names = [cpu] if cpu is None or isinstance(cpu, str) else list(cpu)
    if cpu is None and "object" not in kinds:
        names = usual_levels(triple)
    targets = [target_for(triple, name) for name in names]
    levels = [level_of(t) for t in targets]
    if not targets or (len(targets) > 1 and levels != sorted(set(levels))):
        raise call_rules.not_exported(
            f"cpu={cpu!r}: several processors are levels of x86-64, the lowest first"
        )
    return targets


def exported(
    name: str, compiled: Compiled, planned: Callable[[], Plan], openmp: bool
) -> Exported:
    """What is exported of a function, as it is planned for some types."""
    if not compiled.options.optimize:
        raise call_rules.not_exported(
            f"{name}: what is compiled with optimize=0 cannot be exported"
        )
    if compiled.options.sanitize:
        raise call_rules.not_exported(
            f"{name}: what is compiled with sanitize=True cannot be exported"
        )
    plan = planned()
    if plan.updated is not None and plan.boundary is not None:
        raise call_rules.not_exported(
            f"{name}: a function that updates arguments is not exported if there is "
            "recursive data among the others"
        )
    for parameter, ty in _params(plan):
        if is_object(ty):
            raise call_rules.not_exported(
                f"{name}: the parameter {parameter} is an object, which C has not: "
                "export a method of one, or functools.partial of the function"
            )
    for ty in (*(ty for _, ty in _params(plan)), plan.value):
        if holds_set(ty):
            raise call_rules.not_exported(
                f"{name}: C has no sets: let an argument be an array, of which the "
                "function makes one, and a result `sorted(s)`"
            )
    versions = compiled.versions(plan, threads=openmp)
    entry = plan.program.entry
    outputs = tuple(_outputs(plan))
    return Exported(
        name,
        compiled.name,
        _about(compiled.name, plan),
        _params(plan),
        outputs,
        tuple(versions),
        entry.span,
        plan.result,
        plan.value,
        plan.request,
        _defaults(compiled.parameters),
        _log_density(plan),
        _heap(plan),
        plan.updated,
    )


def _params(plan: Plan) -> tuple[tuple[str, Type], ...]:
    """The parameters as they are outside."""
    names: Sequence[str] = plan.names
    types: Sequence[Type] = plan.types
    if plan.boundary is not None:
        names, types = plan.boundary.param_names, plan.boundary.types
    return tuple(zip(names, types, strict=True))


def _defaults(parameters: Sequence[Parameter]) -> list[Any]:
    """The defaults of the last parameters, as far as JSON has them."""
    found: list[Any] = []
    for parameter in reversed(parameters):
        value = parameter.default
        is_plain = isinstance(value, bool | int | float) and math.isfinite(value)
        if parameter.is_required or not (is_plain or value is None):
            break
        found.insert(0, value)
    return found


def _heap(plan: Plan) -> Heap:
    if plan.boundary is None:
        return Heap((), (), ())
    boundary, positions = plan.boundary, plan.request.positions
    moved = boundary.gradient_columns(positions)
    return Heap(tuple(boundary.taken), tuple(boundary.given), tuple(moved))


def _crossed(plan: Plan, boundary: Boundary) -> list[Output | Columns]:
    """The results where there is recursive data, in the order of `Boundary.result`."""
    request, values = plan.request, [Columns(reals=False)]
    gradients: list[Output | Columns] = []
    for position in request.positions:
        name, ty = boundary.param_names[position], boundary.types[position]
        is_same = position in boundary.at
        found = ty if is_same else gradient_type(ty)
        gradients.append(Output(f"{name}_gradient", found, name, is_same))
    gradients.append(Columns(reals=True))
    if request.argnums is None:
        return [Output("result", boundary.value), *values]
    if request.value:
        return [*_values(boundary.value, request.has_aux), *values, *gradients]
    if not request.has_aux:
        return gradients
    assert isinstance(boundary.value, Product)
    return [*gradients, Output("auxiliary", boundary.value.fields[1]), *values]


def _outputs(plan: Plan) -> list[Output | Columns]:
    """The results by name: value, auxiliary, gradients."""
    if plan.boundary is not None:
        return _crossed(plan, plan.boundary)
    return [*_plain_outputs(plan)]


def _plain_outputs(plan: Plan) -> list[Output]:
    request, result = plan.request, plan.result
    if plan.updated is not None:
        return _updated_outputs(plan, plan.updated)
    if request.argnums is None:
        return [Output("result", result)]
    parts = result.parts if isinstance(result, Group) else ()
    if request.value:
        values, gradient = _values(parts[0], request.has_aux), parts[1]
        return [*values, *_gradients(plan, gradient)]
    if request.has_aux:
        return [*_gradients(plan, parts[0]), Output("auxiliary", parts[1])]
    return _gradients(plan, result)


def _updated_outputs(plan: Plan, updated: Updated) -> list[Output]:
    """What arguments are updated to, and the result behind them."""
    fields: Sequence[Type] = getattr(plan.value, "fields", ())
    parts = [plan.value] if updated.is_one else [*fields]
    names = [plan.names[k] for k in updated.positions]
    pairs = zip(names, parts, strict=False)
    found = [Output(name, ty, name, in_place=True) for name, ty in pairs]
    return [*found, *([Output("result", parts[-1])] if updated.has_result else [])]


def _values(value: Result, has_aux: bool) -> list[Output]:
    if not has_aux:
        return [Output("value", value)]
    fields: Any = getattr(value, "fields", ())
    return [Output("value", fields[0]), Output("auxiliary", fields[1])]


def _gradients(plan: Plan, gradient: Result) -> list[Output]:
    positions = plan.request.positions
    each: Sequence[Result] = (gradient,)
    if not isinstance(plan.request.argnums, int):
        assert isinstance(gradient, Group)
        each = gradient.parts
    return [
        Output(f"{plan.names[p]}_gradient", found, plan.names[p])
        for p, found in zip(positions, each, strict=True)
    ]


def _log_density(plan: Plan) -> str:
    """The parameter that this is a log-density and its gradient by, if it is one."""
    request = plan.request
    if not request.value or request.has_aux or not isinstance(request.argnums, int):
        return ""
    name, ty = _params(plan)[request.argnums]
    return name if ty == Array(F64, 1) and plan.value == F64 else ""


def _about(title: str, plan: Plan) -> str:
    """What the header says of a function."""
    request, span = plan.request, plan.program.entry.span
    params = _params(plan)
    heads = ", ".join(f"{name}: {said(ty)}" for name, ty in params)
    what = f"{title}({heads})"
    if request.argnums is not None:
        by = ", ".join(params[p][0] for p in request.positions)
        kind = "and its gradient by" if request.value else "its gradient by"
        what += f", {kind} {by}"
    return f"{what}\n{span.file}:{span.line}"
