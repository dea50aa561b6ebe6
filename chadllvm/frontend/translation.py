"""A Python function and the types of its arguments → a core program.

The functions it calls are specialised to the types of their arguments, each once, and
stand before their callers, but for those that call each other: see `recursion.py`.
Afterwards every variable has one type, every conversion is explicit, every binding
knows its place in the user's source.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from chadllvm.errors import (
    closure_errors,
    custom_errors,
    function_errors,
    record_errors,
    recursion_errors,
)
from chadllvm.frontend.annotations import CLOSED
from chadllvm.frontend.arithmetic import is_number, join
from chadllvm.frontend.assigned import Assigned
from chadllvm.frontend.body import (
    Task,
    Text,
    parameters,
    read_text,
    translate_body,
)
from chadllvm.frontend.closures import holds_function
from chadllvm.frontend.context import Wrap
from chadllvm.frontend.custom import Given, Named, rules_of, with_rules
from chadllvm.frontend.gradients import GradientParts, nested_gradient
from chadllvm.frontend.lending import with_lent
from chadllvm.frontend.listable import check_lists
from chadllvm.frontend.local import LocalFunction
from chadllvm.frontend.marks import Mark, common, full
from chadllvm.frontend.method_names import classes_in
from chadllvm.frontend.recursion import Active, Code, Frame, Growth, Key, Unresolved
from chadllvm.frontend.signature import Parameter, read_signature, return_annotation
from chadllvm.frontend.source import Function, Source, copy_of, read_source
from chadllvm.frontend.static import static_key
from chadllvm.frontend.updates import (
    Analysis,
    Updates,
    result_type,
    updated_names,
    updated_of,
)
from chadllvm.frontend.width import is_weak
from chadllvm.ir.build import Builder, unused_name
from chadllvm.ir.calls import differentiated, groups
from chadllvm.ir.defects import nesting_of_syntax, stage
from chadllvm.ir.op import TypeRuleError
from chadllvm.ir.record import ObjectNames
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Block, Call, Operand, Program, Var
from chadllvm.ir.term import Function as CoreFunction
from chadllvm.ir.types import F32, Fun, Product, Type, holds
from chadllvm.ir.updated import Updated
from chadllvm.ir.wording import said, shorten
from chadllvm.support.deep import run_deep
from chadllvm.support.diagnostic import NO_SPAN, CompileError, InternalError, Span
from chadllvm.support.overloads import is_provided


def specialise(
    function: Callable[..., Any],
    param_types: Sequence[Type],
    statics: Mapping[str, Any] = MappingProxyType({}),
    below: Sequence[GradientParts] = (),
    result_only: bool = False,
) -> Program:
    """The program that computes a function for arguments of these types.

    If there are gradients in `below`, those of it, each of the one before. With
    `result_only`, it does not give what the function updates in front of its result.

    The entry has one variable for each Python parameter and exactly one result. The
    parameters in `statics` have these values, and neither types nor variables.

    Raises:
        CompileError: if the function, or one that it calls, is not in the language.
    """
    with stage("frontend", runs_users=True):
        source = read_source(function)
    try:
        return run_deep(
            lambda: _specialised(source, param_types, statics, below, result_only)
        )
    except RecursionError:
        raise too_deep(function) from None


def _specialised(
    source: Source,
    param_types: Sequence[Type],
    statics: Mapping[str, Any],
    below: Sequence[GradientParts],
    result_only: bool,
) -> Program:
    program = _Program({source.function: source}, classes=classes_in(param_types))
    with stage("frontend", depth=program.depth, runs_users=True):
        return _filled(program, source, param_types, statics, below, result_only)


def _filled(
    program: _Program,
    source: Source,
    param_types: Sequence[Type],
    statics: Mapping[str, Any],
    below: Sequence[GradientParts],
    result_only: bool,
) -> Program:
    span = source.span(source.definition)
    try:
        entry = program.instance(
            source.function, param_types, span, statics, frozenset()
        )
        program.translate_deferred()
        program.fill_rules()
        updated = program.updated(source.function, entry)
        if updated is not None:
            params = program.functions[entry].params
            result_only = updated.has_result and (result_only or bool(below))
            entry = with_lent(
                program, entry, params, updated, result_only=result_only, span=span
            )
            updated = None if result_only else updated
        if below:
            core = program.functions[entry]
            entry = nested_gradient(program, program.signature, core, below)
        if holds_function(program.signature(entry).results[0]):
            raise closure_errors.returned_function(span)
        _check_objects(program.signature(entry).results[0], span)
    except RecursionError:
        endless = program.growth.error()
        if endless is None:
            raise
        raise endless from None
    return replace(ordered(program.functions, entry), updated=updated)


def _check_objects(ty: Type, span: Span) -> None:
    """No object is given back: what is known of it are fields that were read."""
    if isinstance(ty, Product):
        if isinstance(ty.names, ObjectNames):
            raise record_errors.returned_object(span, ty.names.title)
        for field in ty.fields:
            _check_objects(field, span)


def too_deep(function: Callable[..., Any]) -> CompileError:
    """What is said when the nesting of a function exhausts Python's stack."""
    source = read_source(function)
    return function_errors.too_deep(source.span(source.definition))


@dataclass(frozen=True)
class _Deferred:
    """An instance to be translated, and where it is called."""

    key: Key
    statics: Mapping[str, Any]
    span: Span


# A function and its results' types: rules are made for each.
_At = tuple[Key, tuple[Type, ...]]

# So many characters of a call are told.
_LONGEST_CALL = 120


# The size of a function that is not translated yet: what calls itself may run for long.
_LARGE = 1000

# How often a function is translated before its result is taken to grow for ever.
_MOST_PASSES = 12


@dataclass
class _Program:
    """The functions specialised so far; `active` are those being translated.

    `sources` are the sources that are known already; `names` has the name of each
    instance, `instances` the names of those whose type is known; `deferred` are
    instances still to be translated, whose type their annotation tells. `rules` are
    those of functions that bring their own, and `ruled` the functions that apply them;
    `copies` are functions of the library, for each place that calls them.
    """

    sources: dict[Function, Source]
    functions: dict[str, CoreFunction] = field(default_factory=dict)
    instances: dict[Key, str] = field(default_factory=dict)
    names: dict[Key, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    types: dict[str, Fun] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    weak: set[str] = field(default_factory=set)
    active: Active = field(default_factory=Active)
    growth: Growth = field(default_factory=Growth)
    deferred: list[_Deferred] = field(default_factory=list)
    wrapped: dict[Hashable, str] = field(default_factory=dict)
    rules: dict[_At, list[Named]] = field(default_factory=dict)
    ruled: dict[_At, str] = field(default_factory=dict)
    read: dict[Code, Text] = field(default_factory=dict)
    codes: dict[Hashable, dict[Hashable, LocalFunction]] = field(default_factory=dict)
    failed: dict[Key, CompileError] = field(default_factory=dict)
    copies: dict[tuple[Function, Span], Function] = field(default_factory=dict)
    classes: tuple[type, ...] = ()
    analysis: Analysis = field(init=False)

    def __post_init__(self) -> None:
        self.analysis = Analysis(self.sources, self.classes)

    def parameters(
        self, function: Code, statics: Collection[str]
    ) -> tuple[Parameter, ...]:
        if isinstance(function, LocalFunction):
            return function.parameters
        return read_signature(self._read(function).source, statics)

    def mark(self, name: str) -> Mark:
        return self.marks.get(name, 0)

    def depth(self) -> int:
        """How deep all that is translated may be nested, each inside of the others."""
        known = [*self.sources.values(), *(text.source for text in self.read.values())]
        deepest = max(nesting_of_syntax(source.definition) for source in known)
        return deepest * max(1, len(self.names))

    def is_weak(self, name: str) -> bool:
        return name in self.weak

    def size(self, name: str) -> int:
        return self.sizes[name]

    def _size(self, block: Block) -> int:
        total = 0
        for binding in everywhere(block):
            match binding.expr:
                case Call(str() as name):
                    total += self.sizes[name]
            total += 1
        return total

    def _read(self, function: Code) -> Text:
        if function not in self.read:
            self.read[function] = read_text(self._source(function), self.analysis)
        return self.read[function]

    def itself(self, called: Function) -> Function:
        return self.active.itself(called, next(iter(self.sources)))

    def placed(self, function: Function, types: Sequence[Type], span: Span) -> Function:
        if not (is_provided(function) and not all(map(is_number, types)) and span.line):
            return function
        if rules_of(function) or span.file == function.__code__.co_filename:
            return function
        if (function, span) not in self.copies:
            copy = copy_of(function)
            source = read_source(function)
            if source.place is not None:
                return function
            place = span._replace(within=span.within or function.__name__)
            self.sources[copy] = replace(source, function=copy, place=place)
            self.copies[function, span] = copy
        return self.copies[function, span]

    def updates(self, function: Code) -> Updates:
        return self.analysis.of(self._read(function).source)

    def assigned(self, source: Source, outside: Callable[[ast.expr], Any]) -> Assigned:
        return self.analysis.assigned(source, outside)

    def _source(self, function: Code) -> Source:
        if isinstance(function, LocalFunction):
            return function.source
        found = self.sources.get(function) or self.analysis.source(function)
        return found or read_source(function)

    def wrapper(
        self,
        title: str,
        like: Sequence[Operand],
        body: Wrap,
        span: Span = NO_SPAN,
        key: Hashable = None,
    ) -> str:
        if key is not None and key in self.wrapped:
            return self.wrapped[key]
        name = unused_name(title, self.taken)
        params = tuple(Var(o.name if isinstance(o, Var) else "p", o.type) for o in like)
        b = Builder(signature=self.signature)
        block = b.block(body(b, params))
        self.types[name] = Fun(tuple(p.type for p in params), block.types)
        self.sizes[name] = self._size(block)
        self.functions[name] = CoreFunction(name, params, block, span)
        if key is not None:
            self.wrapped[key] = name
        return name

    def instance(
        self,
        function: Code,
        types: Sequence[Type],
        span: Span,
        statics: Mapping[str, Any],
        weak: frozenset[int],
        marks: Mark | None = None,
    ) -> str:
        """The name of the function for arguments of these types.

        Raises:
            Unresolved: if the type of its result is not known yet.
        """
        fixed = tuple((name, static_key(v)) for name, v in sorted(statics.items()))
        key = function, tuple(types), fixed, weak, marks
        name = self._instance(key, span, statics)
        given = rules_of(function)
        if given is None:
            return name
        if self.active.instance(function) is None:
            return self._with_rules(key, name, given, statics)
        # The function itself needs no rules: nobody differentiates it.
        caller = self.active.frames[-1].key[0]
        own = caller.source.function if isinstance(caller, LocalFunction) else caller
        if own is not function:
            raise custom_errors.called_back(span, function.__name__, own.__name__)
        return name

    def _with_rules(
        self, key: Key, primal: str, given: Given, statics: Mapping[str, Any]
    ) -> str:
        """The name of the function that has derivatives of its own."""
        at = key, self.types[primal].results
        if at not in self.ruled:
            assert not isinstance(key[0], LocalFunction)

            def known(name: str, rules: Named) -> None:
                self.ruled[at] = name
                self.rules.setdefault(at, []).append(rules)

            try:
                with_rules(self, key[0], given, primal, statics, known)
            except BaseException:
                self.ruled.pop(at, None)  # They may be made when more is known.
                raise
        return self.ruled[at]

    def updated(self, function: Function, name: str) -> Updated | None:
        """What an instance of a function updates, if it is anything."""
        return updated_of(self.updates(function), self.functions[name].params)

    def fill_rules(self) -> None:
        """Make programs of the rules, which may call each other until then.

        Those that were begun in vain are what they became in the end: a function that
        was translated meanwhile may have them.
        """
        for *vain, rules in self.rules.values():
            programs = {k: ordered(self.functions, n) for k, n in rules.names.items()}
            for each in (*vain, rules):
                each.fill(programs)

    def _instance(self, key: Key, span: Span, statics: Mapping[str, Any]) -> str:
        """The name of the function as the user wrote it."""
        function = key[0]
        if key in self.instances:
            self.active.reuse(key)
            return self.instances[key]
        if key in self.failed:
            raise self._called_from(self.failed[key], key, span)
        if key not in self.names:
            title = function.__name__
            title = f"{title}_primal" if rules_of(function) else title
            self.names[key] = unused_name(title, self.taken)
        if self.active.frame(key) is not None:
            self.active.guess(key, span)
            return self.names[key]
        caller = self.active.instance(function)
        if caller is not None:
            self.growth.note(caller, key, span)
            if self._declare(key, statics):
                self.deferred.append(_Deferred(key, statics, span))
                return self.names[key]
        try:
            self._translate(key, statics)
        except CompileError as error:
            if not self.active.frames:
                raise
            raise self._called_from(error, key, span) from None
        return self.names[key]

    def _called_from(self, error: CompileError, key: Key, span: Span) -> CompileError:
        """The error with the call that led to it, unless it is one that we wrote."""
        read = self.read.get(key[0])
        if read is not None and read.source.span(read.source.definition) == span:
            return error
        return _called_from(error, key, span)

    def translate_deferred(self) -> None:
        """Translate the instances that have been left until now."""
        while self.deferred:
            later = self.deferred.pop()
            try:
                self._translate(later.key, later.statics)
            except CompileError as error:
                raise self._called_from(error, later.key, later.span) from None

    def _declare(self, key: Key, statics: Mapping[str, Any]) -> bool:
        """Let an instance be called before it is there, if its annotation tells all."""
        try:
            declared = return_annotation(self._read(key[0]).source)
        except CompileError:
            return False  # It is read again for the result, and the mistake noted then.
        own, updated = self.updates(key[0]), self._updated(key, statics)
        if own.reassigned:
            return False  # A variable may have another type then.
        if not updated or own.has_result:
            if not isinstance(declared, CLOSED):
                return False
            if key[4] is not None and full(declared):
                return False  # It does not tell which arrays are lists.
            updated = [*updated, declared]
        self._announce(key, result_type(updated, None))
        self.instances[key] = self.names[key]
        return True

    def _updated(self, key: Key, statics: Mapping[str, Any]) -> list[Type]:
        """The types of what an instance updates."""
        params = parameters(self, key, statics)
        names = updated_names(self.updates(key[0]), params)
        types = {param.name: param.type for param in params}
        return [types[name] for name in names]

    def _announce(self, key: Key, result: Type) -> None:
        """Enter what an instance gives that is not there yet."""
        name = self.names[key]
        self.types[name] = Fun(key[1], (result,))
        self.sizes[name] = _LARGE

    def _translate(self, key: Key, statics: Mapping[str, Any]) -> None:
        """Translate a function and enter it; its callees are entered meanwhile."""
        is_declared = self._declare(key, statics)
        name, frame = self.names[key], self.active.begin(key)
        self.sizes[name] = _LARGE
        try:
            function = self._settled(frame, statics)
        except CompileError as error:
            self.instances.pop(key, None)
            if not frame.outer:
                self.failed[key] = error
            raise
        finally:
            self.active.end()
        if is_declared and self.types[name].results != function.body.types:
            raise InternalError(f"{name}: not what its annotation says")
        self.types[name] = Fun(key[1], function.body.types)
        self.sizes[name] = self._size(function.body)
        self.marks[name] = frame.mark
        if is_weak(function.body.results[0]) and not is_declared:
            self.weak.add(name)
        self.functions[name] = function
        self.instances[key] = name

    def _settled(self, frame: Frame, statics: Mapping[str, Any]) -> CoreFunction:
        """Translate a function until its result is what it was taken for."""
        key = frame.key
        text, params = self._read(key[0]), parameters(self, key, statics)
        codes = self.codes.setdefault((key[0], key[2]), {})
        task = Task(frame, text, params, statics, codes)
        for _ in range(_MOST_PASSES):
            frame.renew()
            body = translate_body(self, task, self.active.guessed.get(key))
            if body is None:
                self._forget(key)
                raise self._unresolved(frame)
            if self._is_settled(frame, body):
                span = text.source.span(text.source.definition)
                check_lists(params, body, span)
                return CoreFunction(self.names[key], params, body, span)
        assert frame.guessed_at is not None
        raise recursion_errors.growing_result(frame.guessed_at, key[0].__name__)

    def _is_settled(self, frame: Frame, body: Block) -> bool:
        """Whether the result was taken for what it is; if not it is from here on."""
        key, (found,) = frame.key, body.types
        if key in frame.uses:
            known = self.active.guessed.get(key)
            if known is None and is_weak(body.results[0]):
                found = F32 if any(holds(ty, F32) for ty in key[1]) else found
            joined = found if known is None else join(known, found) or found
            name, mark = self.names[key], frame.mark
            if known is not None:
                mark = common([self.mark(name), mark])
            if joined != known or mark != self.mark(name):
                self._forget(key)
                self.marks[name] = mark
                self.active.guessed[key] = joined
                self._announce(key, joined)
                return False
        if frame.unresolved is not None and not frame.outer:
            raise self._unresolved(frame)
        self.active.settle(frame)
        return True

    def _forget(self, key: Key) -> None:
        """Forget the functions that rest on a wrong guess."""
        for other in self.active.forget(key):
            self.instances.pop(other, None)

    def _unresolved(self, frame: Frame) -> Exception:
        """What to raise where a result depends on itself alone, or on callers."""
        span = frame.unresolved
        assert span is not None
        if frame.outer:
            return Unresolved(span)
        return recursion_errors.unknown_result(span, frame.key[0].__name__)

    def signature(self, name: str) -> Fun:
        if name not in self.types:
            raise TypeRuleError(f"call: no function named {name}")
        return self.types[name]


def _called_from(error: CompileError, key: Key, span: Span) -> CompileError:
    """The same error, with the call that led to it; the same place is told once."""
    call = f"{key[0].__name__}({', '.join(map(said, key[1]))})"
    call = shorten(call, _LONGEST_CALL)
    place = f" at {span}"
    return CompileError(
        *(
            d
            if any(note.endswith(place) for note in d.notes)
            else replace(d, notes=(*d.notes, f"in the call {call}{place}"))
            for d in error.diagnostics
        )
    )


def ordered(functions: Mapping[str, CoreFunction], entry: str) -> Program:
    """What the entry needs: callees before callers, but within groups; itself last.

    A loop whose types turn out wider than first thought is translated again, and may
    leave functions behind for the narrower types.
    """
    names = []
    for group in groups(functions, entry):
        _check_derivatives(functions, group)
        names += group
    names.remove(entry)
    return Program(tuple([functions[name] for name in (*names, entry)]))


def _check_derivatives(functions: Mapping[str, CoreFunction], group: list[str]) -> None:
    """No function of a group needs a derivative of one of them."""
    for name in group:
        for derived, binding in differentiated(functions[name].body).items():
            if derived in group:
                raise recursion_errors.derivative_of_itself(binding.span, derived)
