"""One function, for one list of types: its statements → the block of its body.

    def f(x, n: int = 2):            f(x: f64, n: i64) {
        y = x ** n           →         y = powi(x, n)
        return 2 * y                   r = mul(2.0, y)
                                       yield r }

What it calls is asked of `Callees`. It is translated again whenever it is learned what
a list holds that begins empty (`lists.py`), or that a loop runs over keys (`keys.py`);
`translation.py` has it translated again where its result turns out to be another one
than was taken for granted.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from chadllvm.errors import call_errors, flow_errors, function_errors, update_errors
from chadllvm.frontend.annotations import CLOSED, Annotation, NumberList, target_type
from chadllvm.frontend.arithmetic import convert, join, join_values
from chadllvm.frontend.context import Callees, Context, Elements
from chadllvm.frontend.delayed import force
from chadllvm.frontend.expression import expression
from chadllvm.frontend.keys import Entries, Position, Unrolled
from chadllvm.frontend.lists import Learned
from chadllvm.frontend.liveness import liveness
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.loops import translate_loop
from chadllvm.frontend.marks import mark_list, mark_of
from chadllvm.frontend.read import read_body
from chadllvm.frontend.recovery import Mistakes
from chadllvm.frontend.recursion import Frame, Key
from chadllvm.frontend.scope import Surroundings, Unusable
from chadllvm.frontend.signature import return_annotation
from chadllvm.frontend.source import Source, is_lasting
from chadllvm.frontend.statements import translate_function
from chadllvm.frontend.surface import Statement
from chadllvm.frontend.unions import placeholder
from chadllvm.frontend.updates import (
    Analysis,
    Updates,
    result_type,
    updated_names,
)
from chadllvm.frontend.width import component, is_weak, new_state, product
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Block, Operand, Tuple, Var
from chadllvm.ir.types import F64, I64, NONE, UNIT, Product, Type
from chadllvm.support.diagnostic import CompileError, InternalError


@dataclass(frozen=True)
class Text:
    """What depends on a function's source alone, not on types."""

    source: Source
    statements: tuple[Statement, ...]
    mistakes: Mistakes
    analysis: Analysis


def read_text(
    source: Source,
    analysis: Analysis,
    unrolled: Mapping[Position, Entries] = MappingProxyType({}),
) -> Text:
    """The statements of a function, and the mistakes that there are without types."""
    is_known = not unrolled and not source.is_local and is_lasting(source.function)
    if is_known and source.definition in _library:
        return Text(source, _library[source.definition], Mistakes(), analysis)
    mistakes = Mistakes()
    statements = read_body(source, mistakes, analysis, unrolled)
    if is_known and not mistakes:
        _library[source.definition] = statements
    return Text(source, statements, mistakes, analysis)


# The statements of the library's functions, by their definitions.
_library: dict[ast.FunctionDef, tuple[Statement, ...]] = {}


@dataclass(frozen=True)
class Task:
    """A function to be translated.

    `params` are the variables of its parameters, the captures of a local function
    first; `codes` are the local functions that it has defined so far.
    """

    frame: Frame
    text: Text
    params: tuple[Var, ...]
    statics: Mapping[str, Any]
    codes: dict[Hashable, LocalFunction]


def parameters(
    callees: Callees, key: Key, statics: Mapping[str, Any]
) -> tuple[Var, ...]:
    """The variables that stand for the parameters of an instance."""
    function, types, _, weak, _ = key
    taken = [p for p in callees.parameters(function, statics) if not p.is_static]
    names = [(p.name, p.annotation is None) for p in taken]
    if isinstance(function, LocalFunction):
        names = [*((name, True) for name in function.captured), *names]
    return tuple(
        new_state(name, ty, k in weak and is_open)
        for k, ((name, is_open), ty) in enumerate(zip(names, types, strict=True))
    )


def translate_body(callees: Callees, task: Task, guessed: Type | None) -> Block | None:
    """The body; `guessed` is what its result was taken for, if it was.

    There is none as long as the result of a call has no type on any path.
    """
    elements: dict[str, Elements] = {}
    unrolled: dict[Position, Entries] = {}
    while True:
        cx = _context(callees, task, elements)
        try:
            body = _translated(cx, task, guessed)
        except Learned as found:
            known = elements.get(found.name)
            elem = found.elem
            if known is not None and known.is_sure:
                elem = join(known.elem, elem) or elem
            elements[found.name] = Elements(elem, found.is_sure)
            continue
        except Unrolled as loop:
            if loop.position in unrolled:
                raise InternalError(
                    f"{task.text.source.name}: a loop over keys is not written out"
                ) from None
            unrolled[loop.position] = loop.entries
            text = read_text(task.text.source, task.text.analysis, unrolled)
            task = replace(task, text=text)
            continue
        except CompileError:
            if not _may_hold_floats(elements):
                raise
            continue
        for name, known in elements.items():
            if known.unsure is None or known.is_likely:
                continue
            if task.frame.unresolved is None:
                raise update_errors.unknown_elements(cx.span(known.unsure), name)
        return body


def _may_hold_floats(elements: dict[str, Elements]) -> bool:
    """Whether lists were taken for such of integers, which are taken for floats now."""
    guesses = [name for name, known in elements.items() if not known.is_sure]
    found = [name for name in guesses if elements[name].elem == I64]
    for name in found:
        elements[name] = Elements(F64, is_sure=False)
    return bool(found)


def _context(callees: Callees, task: Task, elements: dict[str, Elements]) -> Context:
    """The state of the translation of a function, at its beginning."""
    function, text, source = task.frame.key[0], task.text, task.text.source
    count = len(function.captured) if isinstance(function, LocalFunction) else 0
    live = liveness(text.statements, [p.name for p in task.params[count:]])
    for parameter in callees.parameters(function, task.statics):
        if parameter.is_static and parameter.name in live.locals:
            raise call_errors.assigned_static(parameter.span, parameter.name)
    surroundings = Surroundings(source.function, task.statics)
    if isinstance(function, LocalFunction):
        surroundings = function.surroundings
    cx = Context(
        source=source,
        callees=callees,
        surroundings=surroundings,
        liveness=live,
        builder=Builder(signature=callees.signature),
        prelude=Builder(signature=callees.signature),
        translate=expression,
        make=force,
        loop=translate_loop,
        parameters=frozenset(task.params),
        mistakes=Mistakes(text.mistakes),
        elements=elements,
        codes=task.codes,
        declared=return_annotation(source),
        updated=updated_names(callees.updates(function), task.params[count:]),
    )
    if isinstance(function, LocalFunction):
        function.bind(cx, task.params[:count])
    every = callees.parameters(function, task.statics)
    lists = {p.name for p in every if isinstance(p.annotation, NumberList)}
    for param in task.params[count:]:
        cx.scope.bind(param.name, param)
        if param.name in lists:
            mark_list(cx, param, 0)
    _mark(cx, task)
    # What could not be read may have been a question.
    cx.scope.in_doubt = bool(text.mistakes)
    return cx


def _mark(cx: Context, task: Task) -> None:
    """Note which lists the arguments hold."""
    marks = task.frame.key[4]
    if isinstance(marks, tuple):
        cx.marks |= zip(task.params, marks, strict=True)


def _translated(cx: Context, task: Task, guessed: Type | None) -> Block | None:
    """The body of a function without mistakes, None if all paths are left out."""
    try:
        result = translate_function(cx, task.text.statements)
    except (Learned, Unrolled):
        raise
    except Exception as failure:
        # A mistake may leave the translation where it is not prepared to go on from.
        if cx.mistakes:
            raise cx.mistakes.error() from failure
        raise
    if cx.mistakes:
        raise cx.mistakes.error()
    if isinstance(result, Unusable):
        raise InternalError(f"{cx.source.name}: no result, and no mistake to say why")
    declared = return_annotation(cx.source)
    is_open = not isinstance(declared, CLOSED)
    own = cx.callees.updates(task.frame.key[0])
    _check_updates(cx, own, declared)
    if cx.updated and not own.has_result and not own.reassigned:
        is_open = False
    if result is None and task.frame.unresolved is not None and is_open:
        return None
    if own.only_acts and result is not None and result.type == NONE:
        pass
    elif cx.updated:
        result = _with_updates(cx, result, declared, guessed, own.has_result)
    else:
        result = _checked_result(cx, result, declared, guessed)
    if task.frame.key[4] is not None:
        task.frame.mark = mark_of(cx, result)
    return Block((*cx.prelude.bindings, *cx.builder.bindings), (result,))


def _check_updates(cx: Context, own: Updates, declared: Annotation) -> None:
    """A function updates arrays alone, which it does not give another name."""
    definition = cx.source.definition
    if own.told is not None:
        for name in own.names:
            if name in own.bound or name not in cx.updated:
                raise update_errors.told_to_update(
                    cx.span(definition), name, name in own.bound
                )
    is_nothing = not own.has_result and (declared is None or declared == NONE)
    if own.names and not own.has_result and not (cx.updated and is_nothing):
        raise flow_errors.returns_nothing(cx.span(definition.returns or definition))


def _with_updates(
    cx: Context,
    result: Operand | None,
    declared: Annotation,
    guessed: Type | None,
    has_result: bool,
) -> Operand:
    """The same of a function that gives what it has updated in front of its result."""
    count = len(cx.updated)
    if not has_result:
        types = [p.type for p in cx.parameters if p.name in cx.updated]
        return result or placeholder(cx.builder, result_type(types, None))
    own = None if result is None else component(cx.builder, result, count)
    if isinstance(guessed, Product):
        guessed = guessed.fields[count]
    last = _checked_result(cx, own, declared, guessed)
    if result is None:
        params = {p.name: p for p in cx.parameters}
        parts: list[Operand] = [params[name] for name in cx.updated]
    else:
        parts = [component(cx.builder, result, k) for k in range(count)]
    return product(cx.builder, Tuple((*parts, last)))


def _checked_result(
    cx: Context, result: Operand | None, declared: Annotation, guessed: Type | None
) -> Operand:
    """The result as what the function's annotation says, or what it was taken for.

    There is none if all that the function does is to raise exceptions.
    """
    definition = cx.source.definition
    span = cx.span(definition.returns or definition)
    if result is None:
        if not isinstance(declared, CLOSED):
            raise flow_errors.never_returns(span)
        return placeholder(cx.builder, declared)
    if result.type == UNIT or (result.type == NONE and declared is None):
        raise flow_errors.returns_nothing(span)
    ty = target_type(declared, result.type, weak=is_weak(result))
    if ty is None:
        raise function_errors.wrong_return_type(span, result.type, declared)
    if guessed is not None:
        ty = join_values(Var("guessed", guessed), result) or ty
    return convert(cx.builder, result, ty)
