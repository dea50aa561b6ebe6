"""A Python function and the types of its arguments → a core program.

The functions it calls are specialised to the types of their arguments, each once, and
stand before their callers. Afterwards every variable has one type, every conversion is
explicit, every binding knows its place in the user's source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import chadllvm.ops  # noqa: F401  The table of operations must be full.
from chadllvm.diagnostic import CompileError, InternalError, Span
from chadllvm.frontend import (
    call_errors,
    closure_errors,
    errors,
    function_errors,
    list_errors,
)
from chadllvm.frontend.annotations import CLOSED, target_type
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.closures import holds_function
from chadllvm.frontend.context import Context, Elements, Wrap
from chadllvm.frontend.custom import rules_of, with_rules
from chadllvm.frontend.delayed import force
from chadllvm.frontend.expression import expression
from chadllvm.frontend.gradients import GradientParts, nested_gradient
from chadllvm.frontend.lists import Learned
from chadllvm.frontend.liveness import liveness
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.loops import translate_loop
from chadllvm.frontend.read import read_body
from chadllvm.frontend.recovery import Mistakes
from chadllvm.frontend.scope import Surroundings, Unusable
from chadllvm.frontend.signature import Parameter, read_signature, return_annotation
from chadllvm.frontend.source import Function, Source, read_source
from chadllvm.frontend.statements import translate_function
from chadllvm.frontend.static import static_key
from chadllvm.frontend.surface import Statement
from chadllvm.frontend.unions import placeholder
from chadllvm.frontend.width import is_weak, new_state
from chadllvm.ir.build import Builder, unused_name
from chadllvm.ir.op import TypeRuleError
from chadllvm.ir.term import Block, Call, Operand, Program, Var, nested
from chadllvm.ir.term import Function as CoreFunction
from chadllvm.ir.types import NONE, UNIT, Fun, Type
from chadllvm.ir.wording import said, shorten


def specialise(
    function: Callable[..., Any],
    param_types: Sequence[Type],
    statics: Mapping[str, Any] = MappingProxyType({}),
    below: Sequence[GradientParts] = (),
) -> Program:
    """The program that computes a function for arguments of these types.

    If there are gradients in `below`, those of it, each of the one before.

    The entry has one variable for each Python parameter and exactly one result. The
    parameters in `statics` have these values, and neither types nor variables.

    Raises:
        CompileError: if the function, or one that it calls, is not in the language.
    """
    source = read_source(function)
    program = _Program({source.function: source})
    span = source.span(source.definition)
    try:
        name = program.instance(
            source.function, param_types, span, statics, frozenset()
        )
        if below:
            entry = program.program(name).entry
            name = nested_gradient(program, program.signature, entry, below)
        made = program.program(name)
        result = made.entry.body.results[0]
        if holds_function(result.type):
            raise closure_errors.returned_function(span)
    except RecursionError:
        raise too_deep(function) from None
    return made


def too_deep(function: Callable[..., Any]) -> CompileError:
    """What is said when the nesting of a function exhausts Python's stack."""
    source = read_source(function)
    return function_errors.too_deep(source.span(source.definition))


Code = Function | LocalFunction

# A function, the types of its arguments, its static arguments, and which are weak.
_Key = tuple[Code, tuple[Type, ...], Hashable, frozenset[int]]

# A function may call itself for other types or static arguments, as a minimum over one
# variable of minima over another does: it is another function then. At so many calls
# inside of each other it is taken that they do not end.
_MOST_NESTED = 16

# So many characters of a call are told.
_LONGEST_CALL = 120


@dataclass
class _Read:
    """What depends on a function's source alone, not on types."""

    source: Source
    statements: tuple[Statement, ...]
    mistakes: Mistakes


@dataclass
class _Program:
    """The functions specialised so far; `active` are those being translated.

    `sources` are the sources that are known already.
    """

    sources: dict[Function, Source]
    functions: list[CoreFunction] = field(default_factory=list)
    instances: dict[_Key, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    types: dict[str, Fun] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    active: list[_Key] = field(default_factory=list)
    read: dict[Code, _Read] = field(default_factory=dict)
    failed: dict[_Key, CompileError] = field(default_factory=dict)

    def parameters(
        self, function: Code, statics: Collection[str]
    ) -> tuple[Parameter, ...]:
        if isinstance(function, LocalFunction):
            return function.parameters
        return read_signature(self._read(function).source, statics)

    def size(self, name: str) -> int:
        return self.sizes[name]

    def _size(self, block: Block) -> int:
        total = len(block.bindings)
        for binding in block.bindings:
            match binding.expr:
                case Call(str() as name):
                    total += self.sizes[name]
            total += sum(self._size(inner) for _, inner in nested(binding.expr))
        return total

    def _read(self, function: Code) -> _Read:
        if function not in self.read:
            source, mistakes = self._source(function), Mistakes()
            self.read[function] = _Read(source, read_body(source, mistakes), mistakes)
        return self.read[function]

    def _source(self, function: Code) -> Source:
        if isinstance(function, LocalFunction):
            return function.source
        return self.sources.get(function) or read_source(function)

    def wrapper(self, title: str, like: Sequence[Operand], body: Wrap) -> str:
        name = unused_name(title, self.names)
        params = tuple(Var(o.name if isinstance(o, Var) else "p", o.type) for o in like)
        b = Builder(signature=self.signature)
        block = b.block(body(b, params))
        self.types[name] = Fun(tuple(p.type for p in params), block.types)
        self.sizes[name] = self._size(block)
        self.functions.append(CoreFunction(name, params, block))
        return name

    def instance(
        self,
        function: Code,
        types: Sequence[Type],
        span: Span,
        statics: Mapping[str, Any],
        weak: frozenset[int],
    ) -> str:
        """The name of the function for arguments of these types."""
        fixed = tuple((name, static_key(v)) for name, v in sorted(statics.items()))
        key = function, tuple(types), fixed, weak
        if key in self.instances:
            return self.instances[key]
        if key in self.failed:
            raise _called_from(self.failed[key], function, types, span)
        self._check_active(key, span)
        given = rules_of(function)
        title = f"{function.__name__}_primal" if given else function.__name__
        name = unused_name(title, self.names)
        self.active.append(key)
        try:
            self._add(name, function, key[1], statics, weak)
        except CompileError as error:
            self.failed[key] = error
            if len(self.active) == 1:
                raise
            raise _called_from(error, function, types, span) from None
        finally:
            self.active.pop()
        if given is not None:
            assert not isinstance(function, LocalFunction)
            known = partial(self.instances.__setitem__, key)
            return with_rules(self, function, given, name, types, statics, known)
        self.instances[key] = name
        return name

    def _check_active(self, key: _Key, span: Span) -> None:
        """Refuse a function that is being translated already, for its own result."""
        name, functions = key[0].__name__, [code for code, *_ in self.active]
        if key in self.active:
            chain = [code.__name__ for code in functions]
            raise call_errors.recursion(span, name, chain)
        if functions.count(key[0]) >= _MOST_NESTED:
            raise call_errors.endless_calls(span, name, _MOST_NESTED)

    def program(self, name: str) -> Program:
        """The function of this name with those that it calls."""
        return Program(_reachable(self.functions, name))

    def _add(
        self,
        name: str,
        function: Code,
        types: tuple[Type, ...],
        statics: Mapping[str, Any],
        weak: frozenset[int],
    ) -> None:
        """Translate a function and append it; its callees are appended meanwhile."""
        parts = self._read(function)
        taken = [p for p in self.parameters(function, statics) if not p.is_static]
        names = [(p.name, p.annotation is None) for p in taken]
        if isinstance(function, LocalFunction):
            names = [*((name, True) for name in function.captured), *names]
        params = tuple(
            new_state(name, ty, k in weak and is_open)
            for k, ((name, is_open), ty) in enumerate(zip(names, types, strict=True))
        )
        body = self._body(function, params, statics)
        self.types[name] = Fun(types, body.types)
        self.sizes[name] = self._size(body)
        span = parts.source.span(parts.source.definition)
        self.functions.append(CoreFunction(name, params, body, span))

    def _body(
        self, function: Code, params: Sequence[Var], statics: Mapping[str, Any]
    ) -> Block:
        """The body, translated again whenever it is learned what a list holds."""
        elements: dict[str, Elements] = {}
        codes: dict[Hashable, LocalFunction] = {}
        parts = self._read(function)
        while True:
            cx = self._context(function, params, statics)
            cx.elements, cx.codes = elements, codes
            try:
                body = _translated(cx, parts.statements)
            except Learned as found:
                known = elements.get(found.name)
                elem = found.elem
                if known is not None and known.is_sure:
                    elem = join(known.elem, elem) or elem
                elements[found.name] = Elements(elem, found.is_sure)
                continue
            for name, known in elements.items():
                if known.unsure is not None:
                    span = parts.source.span(known.unsure)
                    raise list_errors.unknown_elements(span, name)
            return body

    def _context(
        self, function: Code, params: Sequence[Var], statics: Mapping[str, Any]
    ) -> Context:
        """The state of the translation of a function, at its beginning."""
        parts = self._read(function)
        source = parts.source
        live = liveness(parts.statements, [p.name for p in params])
        for parameter in self.parameters(function, statics):
            if parameter.is_static and parameter.name in live.locals:
                raise call_errors.assigned_static(parameter.span, parameter.name)
        surroundings = Surroundings(source.function, statics)
        if isinstance(function, LocalFunction):
            surroundings = function.surroundings
        cx = Context(
            source=source,
            callees=self,
            surroundings=surroundings,
            liveness=live,
            builder=Builder(signature=self.signature),
            prelude=Builder(signature=self.signature),
            translate=expression,
            make=force,
            loop=translate_loop,
            parameters=frozenset(params),
            mistakes=Mistakes(parts.mistakes),
        )
        for param in params:
            cx.scope.bind(param.name, param)
        if isinstance(function, LocalFunction):
            for name, value in function.missing.items():
                cx.scope.bind(name, value)
        return cx

    def signature(self, name: str) -> Fun:
        if name not in self.types:
            raise TypeRuleError(f"call: no function named {name}")
        return self.types[name]


def _translated(cx: Context, statements: Sequence[Statement]) -> Block:
    """The body of a function without mistakes."""
    try:
        result = translate_function(cx, statements)
    except Learned:
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
    result = _checked_result(cx, result)
    return Block((*cx.prelude.bindings, *cx.builder.bindings), (result,))


def _checked_result(cx: Context, result: Operand | None) -> Operand:
    """The result as what the function's annotation says, if it says something.

    There is none if all that the function does is to raise exceptions.
    """
    definition = cx.source.definition
    span = cx.span(definition.returns or definition)
    declared = return_annotation(cx.source)
    if result is None:
        if not isinstance(declared, CLOSED):
            raise errors.never_returns(span)
        return placeholder(cx.builder, declared)
    if result.type == UNIT or (result.type == NONE and declared is None):
        raise errors.returns_nothing(span)
    ty = target_type(declared, result.type, weak=is_weak(result))
    if ty is None:
        raise function_errors.wrong_return_type(span, result.type, declared)
    return convert(cx.builder, result, ty)


def _called_from(
    error: CompileError, function: Code, types: Sequence[Type], span: Span
) -> CompileError:
    """The same error, with the call that led to it.

    Of a function that is called within itself the two innermost calls are told.
    """
    same = f"in the call {function.__name__}("
    call = shorten(f"{same}{', '.join(map(said, types))})", _LONGEST_CALL)
    note = f"{call} at {span}"
    return CompileError(
        *(
            d
            if sum(note.startswith(same) for note in d.notes) >= 2
            else replace(d, notes=(*d.notes, note))
            for d in error.diagnostics
        )
    )


def _reachable(
    functions: Sequence[CoreFunction], name: str
) -> tuple[CoreFunction, ...]:
    """The function of this name, behind those that it needs, in order.

    A loop whose types turn out wider than first thought is translated again, and may
    leave functions behind for the narrower types.
    """
    needed = {name}
    kept = []
    for function in reversed(functions):
        if function.name in needed:
            kept.append(function)
            needed |= _called(function.body)
    return tuple(reversed(kept))


def _called(body: Block) -> set[str]:
    names: set[str] = set()
    stack = [body]
    while stack:
        block = stack.pop()
        for binding in block.bindings:
            if isinstance(binding.expr, Call) and isinstance(
                binding.expr.function, str
            ):
                names.add(binding.expr.function)
            stack += [inner for _, inner in nested(binding.expr)]
    return names
