"""Loops: what their steps change is carried from one to the next.

    for i in range(n):         s = iterate(n, s) { i, s -> t = add(s, i); yield t }
        s = s + i       →

A loop that may be left by an exit, and every `while`, is one that stops: see
`stopping.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chadllvm.errors import closure_errors, name_errors
from chadllvm.frontend.arithmetic import convert, join_values
from chadllvm.frontend.clauses import bind_item, new_index
from chadllvm.frontend.closures import check_growth
from chadllvm.frontend.conditions import condition
from chadllvm.frontend.context import Context
from chadllvm.frontend.iteration import Items, items
from chadllvm.frontend.keys import Unrolled, check_words, entries, position_of
from chadllvm.frontend.marks import Mark, common, mark_as, mark_of
from chadllvm.frontend.narrowing import assume
from chadllvm.frontend.recovery import POISON
from chadllvm.frontend.scope import Unusable, Value
from chadllvm.frontend.sets import check_unchanged
from chadllvm.frontend.statements import mistake, poison, translate
from chadllvm.frontend.stopping import (
    Step,
    defined_by_steps,
    end_of,
    has_step,
    has_test,
    mark_results,
    operand_of,
    stopping,
    tests_first,
    unsure,
    why_not,
)
from chadllvm.frontend.surface import For, Loop, While, target_names
from chadllvm.frontend.ways import (
    END,
    NEXT,
    ON,
    Ends,
    Side,
    bind_all,
    environment,
    is_way,
    joined,
    renamed,
)
from chadllvm.frontend.width import is_weak, may_be_weak, new_state, weakened
from chadllvm.ir.loops import UNBOUNDED
from chadllvm.ir.term import If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import I64, Scalar, Type
from chadllvm.ops.iterate import Iterate
from chadllvm.support.diagnostic import CompileError


def translate_loop(cx: Context, loop: Loop) -> Ends:
    """Translate a loop into the current builder; how it may be left."""
    try:
        return _loop(cx, loop)
    except CompileError:
        # There may be other mistakes in the `else`.
        with cx.nested():
            poison(cx, loop)
            translate(cx, loop.orelse, ())
        raise


def _loop(cx: Context, loop: Loop) -> Ends:
    source = _iterated(cx, loop) if isinstance(loop, For) else None
    if source is not None and source.is_nothing:
        return translate(cx, loop.orelse, cx.liveness.after[loop])
    step = _settled(cx, loop, source)
    for name in cx.liveness.assigned[loop]:
        cx.scope.touch(name)
    defined = [] if tests_first(cx, loop) else defined_by_steps(cx, loop, step)
    if source is None or not step.ends.only_goes_on:
        length = UNBOUNDED if source is None else source.length
        return stopping(cx, loop, length, step, defined)
    assert isinstance(loop, For)
    end = end_of(cx, loop, _plain(cx, loop, source.length, step))
    if defined:
        unsure(cx, loop, has_step(cx, loop, source.length), defined, end)
    bind_all(cx, end)
    # Without a `break` that is left, as types or static arguments may decide.
    return translate(cx, loop.orelse, cx.liveness.after[loop])


def _iterated(cx: Context, loop: For) -> Items:
    """What the loop runs over; after a mistake in it the body is looked at once."""
    known = entries(cx, loop.iterable)
    if known is not None:
        check_words(cx, loop.node, known)
        raise Unrolled(position_of(loop.node), known)
    check_unchanged(cx, loop)
    assigned = map(cx.scope.lookup, cx.liveness.assigned[loop])
    has_arrays = any(
        isinstance(v, Var) and not isinstance(v.type, Scalar) for v in assigned
    )
    try:
        return items(cx, loop.iterable, is_made=has_arrays)
    except CompileError as error:
        mistake(cx, error, loop.iterable)
    with cx.nested():
        for name in target_names(loop.target):
            cx.scope.bind(name, POISON)
        cx.loops.append(loop)
        translate(cx, loop.body, ())
        cx.loops.pop()
    raise POISON.error(cx.span(loop.node))


# ---- the body --------------------------------------------------------------------


def _settled(cx: Context, loop: Loop, source: Items | None) -> Step:
    """Translate the body until the types of what it carries are found."""
    types = _initial_types(cx, loop)
    mistakes = cx.mistakes.count()
    others: set[Value | None] = set()
    marks = {name: _initial_mark(cx, name, ty) for name, ty in types.items()}
    # The states that begin as a number of Python's own, and do not stay one.
    strong: set[str] = set()
    rounds = 0
    while True:
        initial = [cx.scope.lookup(name) for name in types]
        states = tuple(
            new_state(name, ty, may_be_weak(value) and name not in strong)
            for (name, ty), value in zip(types.items(), initial, strict=True)
        )
        for state, value in zip(states, initial, strict=True):
            if value in cx.lists and value not in others:
                cx.lists.add(state)
            cx.marks[state] = marks[state.name]
            cx.captures.merge(state, [operand_of(value)])
        step = _step(cx, loop, source, states, types)
        found = _types_after(cx, loop, states, step.finals)
        changed = _no_lists(cx, states, initial, step.finals)
        firm = _no_longer_weak(states, step.finals)
        kept = _marks_after(cx, step)
        if found == types and not changed and not firm and kept == marks:
            _check_captures(cx, loop, step)
            b = cx.at(loop.node)
            pairs = zip(initial, types.values(), strict=True)
            step.start = [convert(b, operand_of(v), ty) for v, ty in pairs]
            return step
        check_growth(cx.span(loop.node), rounds, types, found)
        marks = {
            name: kept[name] if ty == types[name] else _initial_mark(cx, name, ty)
            for name, ty in found.items()
        }
        types, rounds = found, rounds + 1
        others |= changed
        strong |= firm
        cx.mistakes.forget(mistakes)
        cx.promoted[loop] = types


def _check_captures(cx: Context, loop: Loop, step: Step) -> None:
    """Functions that are carried on read nothing that steps assign, but themselves."""
    assigned = cx.liveness.assigned[loop]
    for name, final in zip(step.types, step.finals, strict=True):
        for captured in cx.captures.names(operand_of(final)):
            if captured in assigned and captured != name:
                raise closure_errors.captured_changed(
                    cx.span(loop.node), captured, name
                )


def _no_lists(
    cx: Context,
    states: Sequence[Var],
    initial: Sequence[Value | None],
    finals: Sequence[Value],
) -> set[Value | None]:
    """The initial values that are lists, of states of which a step makes arrays."""
    triples = zip(states, initial, finals, strict=True)
    return {v for s, v, after in triples if s in cx.lists and after not in cx.lists}


def _initial_mark(cx: Context, name: str, ty: Type) -> Mark:
    """What is a list in a variable before the loop, as one of this type."""
    return mark_as(cx, operand_of(cx.scope.lookup(name)), ty)


def _marks_after(cx: Context, step: Step) -> dict[str, Mark]:
    """What is a list in each state before a step and behind it."""
    found = {}
    for state, value in zip(step.states, step.finals, strict=True):
        found[state.name], final = mark_of(cx, state), operand_of(value)
        if join_values(state, final) == state.type:
            after = mark_as(cx, final, state.type, step.builder)
            found[state.name] = common([found[state.name], after])
    return found


def _no_longer_weak(states: Sequence[Var], finals: Sequence[Value]) -> set[str]:
    """The names of the weak states of which a step makes others."""
    pairs = zip(states, finals, strict=True)
    return {s.name for s, final in pairs if is_weak(s) and not may_be_weak(final)}


def _initial_types(cx: Context, loop: Loop) -> dict[str, Type]:
    """The types of the carried variables before the loop, or as found out before."""
    known = cx.promoted.get(loop, {})
    types = {}
    for name in cx.liveness.handed_on[loop]:
        value = cx.scope.lookup(name)
        if value is None or isinstance(value, Unusable):
            continue
        types[name] = value.type
        if name in known:
            types[name] = join_values(value, Var(name, known[name])) or value.type
    return types


def _step(
    cx: Context,
    loop: Loop,
    source: Items | None,
    states: tuple[Var, ...],
    types: dict[str, Type],
) -> Step:
    """Translate the body, and the test of the step after it."""
    index = Var("i", I64)
    if isinstance(loop, For):
        assert source is not None
        index = new_index(loop.target, source)
    with cx.nested() as b:
        bind_all(cx, {state.name: state for state in states})
        for name in cx.liveness.assigned[loop]:
            cx.scope.touch(name)
        if isinstance(loop, For):
            assert source is not None
            bind_item(cx, loop.target, source, index)
        ends = _body(cx, loop)
        go = _goes_on(cx, loop, ends)
        env = ends.envs.get(ON, {})
        finals = [env.get(state.name) or state for state in states]
        scope = cx.scope
    return Step(b, scope, index, states, types, ends, go, finals)


def _body(cx: Context, loop: Loop) -> Ends:
    """The ends of the body; where its test is costly, that stands in front of it."""
    if not tests_first(cx, loop):
        return _block(cx, loop)
    test = _test(cx, loop)
    with cx.nested() as b:
        side = Side(b, cx.scope, _block(cx, loop))
    with cx.nested() as b:
        env = environment(cx, cx.liveness.assigned[loop])
        other = Side(b, cx.scope, Ends({END: env}))
    return joined(cx, loop.node, test, [side, other], partial(why_not, cx, loop))


def _block(cx: Context, loop: Loop) -> Ends:
    if isinstance(loop, While):
        assume(cx, loop.test, True)
    cx.loops.append(loop)
    ends = translate(cx, loop.body, cx.liveness.handed_on[loop])
    cx.loops.pop()
    return _continued(cx, loop, ends)


def _continued(cx: Context, loop: Loop, ends: Ends) -> Ends:
    """The ends of a body, where `continue` leads to its end."""
    if NEXT not in ends.envs:
        return ends
    if ON not in ends.envs:
        ends = renamed(cx, loop.node, ends, NEXT, ON)
    else:
        skipped = ends.envs[NEXT]
        others = {way: env for way, env in ends.envs.items() if way != NEXT}
        test = is_way(cx, loop.node, ends.way, NEXT)
        with cx.nested() as b:
            side = Side(b, cx.scope, Ends({ON: skipped}))
        with cx.nested() as b:
            other = Side(b, cx.scope, Ends(others, ends.way))
        ends = joined(cx, loop.node, test, [side, other], partial(why_not, cx, loop))
    bind_all(cx, ends.envs[ON])
    return ends


def _goes_on(cx: Context, loop: Loop, ends: Ends) -> Operand:
    """Whether a step is followed by another, as far as exits and the test say."""
    if ON not in ends.envs:
        return Lit(False)
    tests_here = has_test(loop) and not tests_first(cx, loop)
    if ends.only_goes_on:
        return _test(cx, loop) if tests_here else Lit(True)
    goes_on = is_way(cx, loop.node, ends.way, ON)
    if not tests_here:
        return goes_on
    with cx.nested() as b:
        then = b.block([_test(cx, loop)])
    orelse = cx.builder.child().block([Lit(False)])
    return cx.at(loop.node).one(If(goes_on, then, orelse), "go")


def _test(cx: Context, loop: Loop) -> Operand:
    """The test of a `while`; a mistake in it is noted only."""
    assert isinstance(loop, While)
    try:
        return condition(cx, loop.test)
    except CompileError as error:
        mistake(cx, error, loop.test)
    return Lit(True)


def _types_after(
    cx: Context, loop: Loop, states: Sequence[Var], finals: Sequence[Value]
) -> dict[str, Type]:
    """The carried types after a step: an integer may have become a float."""
    found = {}
    for state, final in zip(states, finals, strict=True):
        if isinstance(final, Unusable):
            raise final.error(cx.span(loop.node))
        joined_type = join_values(state, final)
        if joined_type is None:
            span, name = cx.span(loop.node), state.name
            raise name_errors.changing_type(span, name, state.type, final.type)
        found[state.name] = joined_type
    return found


def _plain(cx: Context, loop: Loop, length: Operand, step: Step) -> dict[str, Var]:
    """A loop that runs all of its steps; the final states."""
    function = Lambda((step.index, *step.states), step.builder.block(step.converted()))
    args = [length, *step.start]
    results = cx.at(loop.node).apply(Iterate(), args, [function], list(step.types))
    mark_results(cx, step, results)
    b = cx.at(loop.node)
    finals = [
        weakened(b, result) if is_weak(state) else result
        for result, state in zip(results, step.states, strict=True)
    ]
    return dict(zip(step.types, finals, strict=True))
