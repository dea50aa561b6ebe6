"""`cl.debug.interpret`: a program in the interpreter, which stops at breakpoints.

The program is the one that is compiled, with CHAD's derivatives, before any of it is
lowered. Where it pauses, Python's `breakpoint()` is called in a frame that has the
variables as its locals, at the user's line: so `pdb`, or whatever
`sys.breakpointhook` and `PYTHONBREAKPOINT` name, shows them.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any

import numpy as np

from chadllvm.api.compiled import Compiled, Derivative
from chadllvm.api.transforms import jit
from chadllvm.backend.failure import program_error
from chadllvm.backend.machine import Site
from chadllvm.chad.derived import has_derivatives
from chadllvm.driver.pipeline import Compilation
from chadllvm.frontend.source import STOPS
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.lists import nested
from chadllvm.ir.op import ProgramError
from chadllvm.ir.record import ListNames, RecordNames
from chadllvm.ir.term import Program
from chadllvm.ir.types import Array, Product, Scalar, Type
from chadllvm.ir.value import from_value, to_value


def interpreted(
    function: Callable[..., Any], at: int | str | Iterable[int | str]
) -> Callable[..., Any]:
    """What `cl.debug.interpret` gives."""
    compiled = _whole(function)
    lines = (at,) if isinstance(at, int | str) else tuple(at)
    stops = frozenset(_line(compiled, line) for line in lines)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(compiled).bind(*args, **kwargs)
        bound.apply_defaults()
        token = STOPS.set(stops)
        try:
            plan = compiled.planned_for(bound.args)
        finally:
            STOPS.reset(token)
        dynamic = compiled._dynamic(compiled._bound(bound.args, {}))
        return _run(plan.source, dynamic, compiled.options)

    return call


def _whole(function: Callable[..., Any]) -> Compiled:
    """A function without derivatives outside: those of one are taken in a program."""
    if isinstance(function, Derivative):
        names = list(inspect.signature(function).parameters)
        text = f"def {function.name}({', '.join(names)}):\n"
        text += f"    return derivative({', '.join(names)})\n"
        return _made(text, function)
    found = function if isinstance(function, Compiled) else jit(function)
    if not isinstance(found, Compiled):
        raise TypeError(
            "interpret() takes a function or a derivative of one: write a function "
            "that calls the method, or the partial"
        )
    return found


def _made(text: str, derivative: Derivative[..., Any]) -> Compiled:
    """The function of a text, whose lines are known."""
    import linecache

    file = f"<interpreted {derivative.name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    names: dict[str, Any] = {"derivative": derivative}
    exec(compile(text, file, "exec"), names)
    statics = tuple(derivative.static_argnames)
    decorate = jit(options=derivative.options, static_argnames=statics)
    found = decorate(names[derivative.name])
    assert isinstance(found, Compiled)
    return found


def _line(compiled: Compiled, line: int | str) -> tuple[str, int]:
    """A line to stop at, and the end of the name of its file."""
    if isinstance(line, int):
        function = compiled._function
        inner = function.__globals__.get("derivative")
        if isinstance(inner, Derivative):
            function = inner._function
        return function.__code__.co_filename, line
    file, _, number = line.rpartition(":")
    return file, int(number)


# ---- running -------------------------------------------------------------------------


def _run(program: Program, args: Sequence[Any], options: Any) -> Any:
    params = program.entry.params
    values = [to_value(arg, p.type) for arg, p in zip(args, params, strict=True)]
    ty = program.entry.body.types[0]
    has_own = any(has_derivatives(f.body) for f in program.functions)
    if has_own:
        types = [p.type for p in params]
        program = _prepared(program, options)
        pairs = zip(values, types, strict=True)
        values = [leaf for value, part in pairs for leaf in _leaves(value, part)]
    run = Interpreter(program)
    run.on_pause = _pause
    try:
        results = run.run(*values)
    except ProgramError as error:
        message = str(error).replace("{", "{{").replace("}", "}}")
        site = Site(error.kind.__name__, message, False, 0, ())
        raise program_error(site, error.span, ()) from None
    found = _joined(ty, iter(results)) if has_own else results[0]
    return _presented(from_value(found, ty), ty)


def _prepared(program: Program, options: Any) -> Program:
    """The program without derivatives, calls and rules."""
    compilation = Compilation(options)
    return compilation.settled(compilation.normalised(program))


def _leaves(value: Any, ty: Type) -> Iterator[Any]:
    match ty:
        case Product(fields):
            for part, field in zip(value, fields, strict=True):
                yield from _leaves(part, field)
        case Scalar() | Array(Scalar()):
            yield value
        case _:
            raise TypeError(f"derivatives by {ty} are not interpreted")


def _joined(ty: Type, results: Iterator[Any]) -> Any:
    match ty:
        case Product(fields):
            return tuple([_joined(field, results) for field in fields])
        case Scalar() | Array(Scalar()):
            return next(results)
        case _:
            raise TypeError(f"derivatives that give {ty} are not interpreted")


def _presented(value: Any, ty: Type) -> Any:
    """A value in the containers that its type has in Python."""
    match ty:
        case Product(fields, RecordNames() as names):
            pairs = zip(value, fields, strict=True)
            return names.make(*(_presented(part, field) for part, field in pairs))
        case Product(_, ListNames()):
            return value
        case Product(fields):
            pairs = zip(value, fields, strict=True)
            return tuple([_presented(part, field) for part, field in pairs])
        case _:
            return value


# ---- stopping ------------------------------------------------------------------------


def _pause(text: str, values: list[Any]) -> None:
    """Call Python's `breakpoint` where the program is."""
    if not text:
        return
    label = json.loads(text)
    groups = [_shown(shape, values) for shape in label["shapes"]]
    found: dict[str, Any] = dict(label["hidden"])
    for names, group in zip(label["names"], groups, strict=False):
        found |= zip(names, group, strict=True)
    stage = label["stage"]
    if stage != "value":
        end = "ct" if stage == "reverse" else "t"
        found |= {
            f"{name}_{end}": part
            for name, part in zip(label["names"][0], groups[2], strict=True)
        }
    for name in label["lists"]:
        for each in (name, f"{name}_ct", f"{name}_t"):
            if isinstance(found.get(each), np.ndarray):
                found[each] = found[each].tolist()
    _stop(label["file"], label["line"], _title(label), found)


def _title(label: Any) -> str:
    stage = {"reverse": " (reverse)", "tangents": " (with tangents)"}
    return f"{label['function']}{stage.get(label['stage'], '')}"


def _shown(shape: Any, values: list[Any]) -> Any:
    """A value in its containers."""
    if isinstance(shape, int):
        return values[shape]
    parts = [_shown(part, values) for part in shape["parts"]]
    match shape["kind"]:
        case "list":
            depth, rank, of_lists, is_part = shape["names"]
            names = ListNames(depth, rank, of_lists=of_lists, is_part=is_part)
            return nested(names, parts) if len(parts) == len(names) else parts
        case "dictionary" | "row of a structured array":
            return dict(zip(shape["names"], parts, strict=True))
        case "set":
            return set(parts[0].tolist()) if parts[0] is not None else None
        case "None":
            return None
        case "tuple":
            return tuple(parts)
        case _:
            return namedtuple(shape["title"], shape["names"])(*parts)


def _stop(file: str, line: int, title: str, variables: dict[str, Any]) -> None:
    """A frame at the user's line, whose locals are the variables."""
    call = ast.parse("breakpoint()\npass", file)
    for node in ast.walk(call):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno = node.end_lineno = line
    code: CodeType = compile(call, file, "exec").replace(co_name=title)
    before = sys.gettrace()
    try:
        exec(code, {"__name__": title, "__builtins__": __builtins__}, variables)
    finally:
        sys.settrace(before)
