"""Loops that may be left before their count, and what is known where they are left.

    while s > eps:             go = flt(eps, s)
        s = f(s)        →      _, way, s, x = iterate[while](…, go, 0, s, 0.0) {
        if g(s):                 …
            x = s * s            yield go, way, s, x }
            break              y = if ieq(way, 2) { … } else { … }

The first state of such a loop says whether there is another step, the second in which
way it was left. What is read only where an exit leads to is carried as well, though no
step reads it. The test of a `while` is made in front of the loop and at the end of each
step, unless that would repeat much code: then it is made at the start of each step,
whose body is a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from chadllvm.errors import name_errors
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.closures import holds_function
from chadllvm.frontend.conditions import condition
from chadllvm.frontend.context import Context
from chadllvm.frontend.marks import common, mark_joined, mark_of
from chadllvm.frontend.scope import DEAD, Scope, Unsure, Unusable, Value, surely
from chadllvm.frontend.statements import translate
from chadllvm.frontend.surface import For, Loop, While, is_endless
from chadllvm.frontend.unions import placeholder
from chadllvm.frontend.ways import (
    BREAK,
    END,
    ON,
    Ends,
    Env,
    Side,
    bind_all,
    is_way,
    joined,
    renamed,
)
from chadllvm.frontend.width import is_weak, may_be_weak, new_state, weakened
from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Binding, Block, Call, Lambda, Lit, Operand, Var
from chadllvm.ir.types import BOOL, I64, Type, has_fun
from chadllvm.ops.iterate import Iterate
from chadllvm.support.diagnostic import CompileError

# A test of more bindings than this, with those of the functions it calls, is not
# repeated.
_MOST_REPEATED = 100


@dataclass
class Step:
    """A step of a loop, translated.

    `types` are those of the carried variables, `states` the variables themselves before
    the step and `finals` after it, `start` what they are before the loop. `go` tells
    whether there is another step, `ends` how else the step may be left; `scope` is that
    of its end.
    """

    builder: Builder
    scope: Scope
    index: Var
    states: tuple[Var, ...]
    types: dict[str, Type]
    ends: Ends
    go: Operand
    finals: list[Value]
    start: list[Operand] = field(default_factory=list)

    def converted(self) -> list[Operand]:
        """What is carried to the next step."""
        pairs = zip(self.finals, self.types.values(), strict=True)
        return [convert(self.builder, operand_of(value), ty) for value, ty in pairs]


def operand_of(value: Value | None) -> Operand:
    assert isinstance(value, Var | Lit)
    return value


def has_test(loop: Loop) -> bool:
    """Whether a test ends the loop."""
    return isinstance(loop, While) and not is_endless(loop.test)


def tests_first(cx: Context, loop: Loop) -> bool:
    """Whether the test of a loop is too large to be repeated."""
    if not isinstance(loop, While) or is_endless(loop.test):
        return False
    if loop not in cx.tests_first:
        with cx.nested() as b:
            try:
                condition(cx, loop.test)
            except CompileError:
                return False  # It is translated again, and the mistake noted then.
        cx.tests_first[loop] = _size(cx, b.bindings) > _MOST_REPEATED
    return cx.tests_first[loop]


def _size(cx: Context, bindings: Sequence[Binding]) -> int:
    total = 0
    for binding in everywhere(Block(tuple(bindings), ())):
        total += 1
        if isinstance(binding.expr, Call) and isinstance(binding.expr.function, str):
            total += cx.callees.size(binding.expr.function)
    return total


def why_not(
    cx: Context, loop: Loop, name: str, first: Value | None, second: Value | None
) -> Unusable:
    """Why a variable cannot be used behind a step or a loop."""
    line = cx.span(loop.node).line
    if first is None or second is None:
        return Unusable(partial(name_errors.only_in_loop, name=name, line=line))
    a, b = operand_of(first).type, operand_of(second).type
    return Unusable(
        partial(name_errors.two_types_after, name=name, first=a, second=b, line=line)
    )


def mark_results(cx: Context, step: Step, results: Sequence[Var]) -> None:
    """Note which final states are lists, and what those that are functions capture."""
    for state, final, result in zip(step.states, step.finals, results, strict=True):
        mark_joined(cx, result, (state, final), mark_of(cx, state))
        cx.captures.merge(result, [state])
        cx.captures.leave(result, operand_of(final), step.scope, cx.scope)


def end_of(cx: Context, loop: Loop, finals: dict[str, Var]) -> Env:
    """What the variables stand for where a loop has come to its end."""
    undefined = partial(name_errors.only_in_loop, line=cx.span(loop.node).line)
    env: Env = {}
    for name in cx.liveness.assigned[loop]:
        before = cx.scope.lookup(name)
        if name in finals:
            env[name] = finals[name]
        elif before is None:
            env[name] = Unusable(partial(undefined, name=name))
        else:
            env[name] = surely(before) if isinstance(before, Unusable) else DEAD
    return env


def defined_by_steps(cx: Context, loop: Loop, step: Step) -> list[str]:
    """Let a step carry what every step defines, for what is behind the loop.

    Gives the names. Nothing reads what they stand for in front of the first step. Of
    functions, which capture what is in the step, none is carried.
    """
    found: list[str] = []
    ways = [env for way, env in step.ends.envs.items() if way in (ON, BREAK)]
    for name in cx.liveness.handed_on[loop]:
        values = [env.get(name) for env in ways]
        value = step.ends.envs.get(ON, {}).get(name)
        is_defined = all(isinstance(v, Var | Lit) for v in values)
        if cx.scope.lookup(name) is not None or not is_defined:
            continue
        value = operand_of(value)
        if has_fun(value.type) or holds_function(value.type):
            continue
        state = new_state(name, value.type, may_be_weak(value))
        mark_joined(cx, state, (value,), mark_of(cx, value, step.builder))
        step.states = (*step.states, state)
        step.types = {**step.types, name: value.type}
        step.finals.append(value)
        step.start.append(placeholder(cx.at(loop.node), value.type))
        found.append(name)
    return found


def has_step(cx: Context, loop: For, length: Operand) -> Operand:
    """Whether a loop has a step at all."""
    if isinstance(length, Lit):
        return Lit(length.value > 0)
    return cx.at(loop.node).prim("ilt", Lit(0), length)


def unsure(
    cx: Context, loop: Loop, runs: Operand, names: Sequence[str], *envs: Env
) -> None:
    """Note that what each step defines is defined if there is a step."""
    if runs == Lit(True):
        return
    line = cx.span(loop.node).line
    for name in names:
        error = partial(name_errors.only_in_loop, name=name, line=line)
        made: dict[Value, Unsure] = {}
        for env in envs:
            value = env.get(name)
            if isinstance(value, Var):
                env[name] = made.setdefault(value, Unsure(error, value, runs))


# ---- states ----------------------------------------------------------------------


@dataclass
class _States:
    """The states of a loop behind the first two; what each is after a step."""

    names: list[str]
    types: list[Type]
    after: list[Operand | None]
    params: list[Var]

    def place(self, name: str, value: Operand) -> int:
        """The state that holds this value of a variable when the loop is left."""
        for k, known in enumerate(self.names):
            is_free = self.after[k] is None or self.after[k] is value
            if known == name and self.types[k] == value.type and is_free:
                self.after[k] = value
                return k
        self.names.append(name)
        self.types.append(value.type)
        self.after.append(value)
        self.params.append(Var(name, value.type))
        return len(self.names) - 1


def _states(step: Step) -> _States:
    """The variables that are carried in any case."""
    goes_on = ON in step.ends.envs
    after = step.converted() if goes_on else [None] * len(step.states)
    return _States(
        list(step.types), list(step.types.values()), [*after], list(step.states)
    )


def stopping(
    cx: Context, loop: Loop, length: Operand, step: Step, defined: Sequence[str]
) -> Ends:
    """Emit the loop; how what follows it is reached. `defined` are the names that have
    no value if there is no step."""
    states = _states(step)
    assigned = set(cx.liveness.assigned[loop])
    exits = {way: env for way, env in step.ends.envs.items() if way != ON}
    places = {
        way: {
            name: states.place(name, value)
            for name, value in env.items()
            if isinstance(value, Var) and name in assigned
        }
        for way, env in exits.items()
    }
    starts: Operand = Lit(True)
    if isinstance(loop, While) and not tests_first(cx, loop):
        starts = condition(cx, loop.test)
    way, finals = _emit(cx, loop, [length, starts], step, states)
    envs: dict[int, Env] = {
        number: {**env, **{name: finals[k] for name, k in places[number].items()}}
        for number, env in exits.items()
    }
    if END not in envs and (isinstance(loop, For) or has_test(loop)):
        carried = dict(zip(step.types, finals, strict=False))
        envs[ON] = end_of(cx, loop, carried)
        if defined:
            runs = has_step(cx, loop, length) if isinstance(loop, For) else starts
            unsure(cx, loop, runs, defined, envs[ON], envs.get(BREAK, {}))
    ends = Ends(envs, way)
    if END in envs:
        ends = renamed(cx, loop.node, ends, END, ON)
    return _after(cx, loop, ends)


def _emit(
    cx: Context, loop: Loop, begin: Sequence[Operand], step: Step, states: _States
) -> tuple[Operand, Sequence[Var]]:
    """The loop, with its length and whether it has a step to begin with; the way in
    which it was left, and its final states."""
    b = cx.at(loop.node)
    exits = states.types[len(step.start) :]
    args = [*begin, Lit(ON), *step.start, *(placeholder(b, t) for t in exits)]
    ways = step.ends.envs
    way = step.ends.way if len(ways) > 1 else Lit(next(iter(ways), ON))
    pairs = zip(states.after, states.params, strict=True)
    after = [param if value is None else value for value, param in pairs]
    params = (step.index, Var("go", BOOL), Var("way", I64), *states.params)
    body = Lambda(params, step.builder.block([step.go, way, *after]))
    names = ["go", "way", *states.names]
    _, taken, *finals = b.apply(Iterate(stops=True), args, [body], names)
    mark_results(cx, step, finals[: len(step.start)])
    for k, value in enumerate(states.after):
        if value is not None:
            left = mark_of(cx, value, step.builder)
            carried = step.states[k : k + 1]
            marks = [left, *(mark_of(cx, s) for s in carried)]
            before = [finals[k]] if carried else []
            mark_joined(cx, finals[k], [value, *before], common(marks))
        # What is put there where the loop is left, and what the steps carry there.
        sources = [value, *step.states[k : k + 1]]
        if all(v is None or is_weak(v) for v in sources):
            finals[k] = weakened(b, finals[k])
        cx.captures.leave(finals[k], value, step.scope, cx.scope)
    return taken, finals


# ---- behind the loop -------------------------------------------------------------


def _after(cx: Context, loop: Loop, ends: Ends) -> Ends:
    """Run the `else`, and bring its end and that of a `break` together."""
    names = cx.liveness.after[loop]
    is_joined = BREAK in ends.envs
    if ON in ends.envs and BREAK in ends.envs:
        ends = _with_break(cx, loop, ends, names)
    elif BREAK in ends.envs:
        ends = renamed(cx, loop.node, ends, BREAK, ON)
    for name in cx.liveness.assigned[loop]:
        if name not in ends.envs.get(ON, ()):
            cx.scope.bind(name, DEAD)
    bind_all(cx, ends.envs.get(ON, {}))
    return ends if is_joined else _else(cx, loop, ends, names)


def _else(cx: Context, loop: Loop, ends: Ends, names: Sequence[str]) -> Ends:
    """Run the `else` of a loop whose `break` is left out: nothing leads past it."""
    if not loop.orelse or ON not in ends.envs:
        return ends
    if ends.only_goes_on:
        return translate(cx, loop.orelse, names)
    others = {way: env for way, env in ends.envs.items() if way != ON}
    test = is_way(cx, loop.node, ends.way, ON)
    with cx.nested() as b:
        side = Side(b, cx.scope, translate(cx, loop.orelse, names))
    with cx.nested() as b:
        other = Side(b, cx.scope, Ends(others, ends.way))
    ends = joined(cx, loop.node, test, [side, other], partial(why_not, cx, loop))
    bind_all(cx, ends.envs.get(ON, {}))
    return ends


def _with_break(cx: Context, loop: Loop, ends: Ends, names: Sequence[str]) -> Ends:
    ended, broken = ends.envs[ON], ends.envs[BREAK]
    others = {way: env for way, env in ends.envs.items() if way != ON}
    if not loop.orelse and all(ended.get(n) is broken.get(n) for n in names):
        rest = renamed(cx, loop.node, ends, BREAK, ON, broken)
        return rest
    test = is_way(cx, loop.node, ends.way, ON)
    with cx.nested() as b:
        bind_all(cx, ended)
        side = Side(b, cx.scope, translate(cx, loop.orelse, names))
    with cx.nested() as b:
        left = renamed(cx, loop.node, Ends(others, ends.way), BREAK, ON)
        bind_all(cx, left.envs[ON])
        other = Side(b, cx.scope, left)
    return joined(cx, loop.node, test, [side, other], partial(why_not, cx, loop))
