"""The ways in which a block is left, and how two blocks become one `if`.

    if a:                         way, x, r = if a {
        if b: break                 way, x = if b { yield 2, x } else {
        x = f(x)            →         y = f(x); yield 0, y }
    else:                           yield way, x, 0.0
        r = x * x                 } else { t = mul(x, x); yield 0, x, t }
    …                             on = ieq(way, 0); … = if on { … } else { … }

A block ends at its end, or by an exit. For each of these *ways* it says what the
variables stand for that are read where the way leads to. A branch joins the ways of its
two blocks: what is read on one way only needs no value on the others, and where there
is more than one way left, a number tells which was taken. So nothing is copied, and a
program with exits grows no faster than its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from chadllvm.frontend.arithmetic import convert, join_values
from chadllvm.frontend.context import Context
from chadllvm.frontend.marks import Mark, common, mark_as, mark_joined
from chadllvm.frontend.recovery import POISON
from chadllvm.frontend.scope import DEAD, Scope, Unusable, Value, surely
from chadllvm.frontend.source import Located
from chadllvm.frontend.unions import placeholder
from chadllvm.frontend.width import as_weak
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lit, Operand, Var
from chadllvm.ir.types import Type

# The ways: to the end of the block; to the next step of the loop, out of the loop, out
# of it because its test failed; out of the function. A `return` in a loop is a way of
# its own, with a number behind these: it leads out of all loops.
ON, NEXT, BREAK, END, RETURN, RETURNS_IN_LOOPS = range(6)

# What the result is called in the environment of `RETURN`.
RESULT = "return"

Env = dict[str, Value | None]


@dataclass
class Ends:
    """How a block may be left; `way` tells which, if there are several."""

    envs: dict[int, Env]
    way: Operand = field(default_factory=lambda: Lit(ON))

    @property
    def only_goes_on(self) -> bool:
        return list(self.envs) == [ON]


@dataclass
class Side:
    """One of two blocks."""

    builder: Builder
    scope: Scope
    ends: Ends


def environment(cx: Context, names: Iterable[str]) -> Env:
    """What these names stand for here."""
    return {name: cx.scope.lookup(name) for name in names}


def bind_all(cx: Context, env: Env) -> None:
    for name, value in env.items():
        if value is not None:
            cx.scope.bind(name, value)


def is_way(cx: Context, node: Located, way: Operand, number: int) -> Operand:
    """Whether this is the way that was taken."""
    return cx.at(node).prim("ieq", way, Lit(number))


def renamed(
    cx: Context, node: Located, ends: Ends, old: int, new: int, env: Env | None = None
) -> Ends:
    """The same with another number for a way, which must not be taken already."""
    envs = {n: e for n, e in ends.envs.items() if n not in (old, new)}
    envs[new] = ends.envs[old] if env is None else env
    if len(envs) == 1:
        return Ends(envs, Lit(new))
    is_old = is_way(cx, node, ends.way, old)
    way = cx.at(node).prim("iselect", is_old, Lit(new), ends.way)
    return Ends(envs, way)


# ---- joining ---------------------------------------------------------------------

# Given a variable's name and its values in both blocks, None where they have no value:
# why it cannot be used. The values have two types, or one block leaves it undefined.
Why = Callable[[str, Value | None, Value | None], Unusable]


@dataclass
class _Slot:
    """A result of the `if`: its value in each block, None where nobody looks at it.

    `marks` say of each of the values what is a list in it.
    """

    name: str
    type: Type
    values: list[Operand | None]
    result: Operand | None = None
    marks: list[Mark] = field(default_factory=list)

    def takes(self, ty: Type, values: Sequence[Operand | None]) -> bool:
        """Whether the slot may hold these values as well; then it does."""
        if ty != self.type:
            return False
        pairs = list(zip(self.values, values, strict=True))
        if any(a is not None and b is not None and a is not b for a, b in pairs):
            return False
        self.values = [b if a is None else a for a, b in pairs]
        return True


class _Join:
    """The results of an `if` in the making."""

    def __init__(self, cx: Context, sides: Sequence[Side], why: Why) -> None:
        self.cx, self.sides, self.why = cx, sides, why
        self.slots: dict[str, list[_Slot]] = {}
        envs = [env for side in sides for env in side.ends.envs.values()]
        names = {name: None for env in envs for name in env}
        self.unchanged = {name for name in names if self._is_unchanged(name)}
        self.found: dict[int, dict[str, _Slot | Value | None]] = {}
        for way in sorted({w for side in sides for w in side.ends.envs}):
            self.found[way] = self._env(way)
        for way, env in self.found.items():
            self._keep_up(way, env)

    def _env(self, way: int) -> dict[str, _Slot | Value | None]:
        envs = [side.ends.envs.get(way) for side in self.sides]
        names = dict.fromkeys(n for env in envs if env is not None for n in env)
        return {name: self._variable(name, envs) for name in names}

    def _variable(self, name: str, envs: Sequence[Env | None]) -> _Slot | Value | None:
        """What a name stands for on one way; a block may not lead there at all."""
        present = [env.get(name) for env in envs if env is not None]
        unusable = [value for value in present if isinstance(value, Unusable)]
        if unusable:
            first = POISON if POISON in unusable else unusable[0]
            is_one = all(value is first for value in present)
            return first if is_one else surely(first)
        if all(value is None for value in present):
            return None
        if any(value is None for value in present):
            return self.why(name, *present)
        operands = [v for v in present if isinstance(v, Var | Lit)]
        if name in self.unchanged:
            return operands[0]
        ty = join_values(*operands)
        if ty is None:
            return self.why(name, *operands)
        rest = iter(operands)
        values = [None if env is None else next(rest) for env in envs]
        return self._slot(name, ty, values)

    def _is_unchanged(self, name: str) -> bool:
        """Whether the variable is what it was before, on every way.

        If it changes on one way, its old value is a result of the `if` on the others:
        nobody but the `if` reads the old one then, and it may be updated in place.
        """
        before = self.cx.scope.lookup(name)
        if any(side.scope.lookup(name) is not before for side in self.sides):
            return False
        envs = [env for side in self.sides for env in side.ends.envs.values()]
        return all(env[name] is before for env in envs if name in env)

    def _keep_up(self, way: int, env: dict[str, _Slot | Value | None]) -> None:
        """Let what is as before on this way be what another way has made of it.

        So an array has one name behind the `if`, as it has in Python, and can be
        updated in place.
        """
        for name, value in env.items():
            if isinstance(value, Var):
                leads = [way in side.ends.envs for side in self.sides]
                values = [value if is_there else None for is_there in leads]
                slots = self.slots.get(name, ())
                fits = (slot for slot in slots if slot.takes(value.type, values))
                env[name] = next(fits, value)

    def _slot(self, name: str, ty: Type, values: list[Operand | None]) -> _Slot:
        slots = self.slots.setdefault(name, [])
        for slot in slots:
            if slot.takes(ty, values):
                return slot
        slots.append(_Slot(name, ty, values))
        return slots[-1]

    def emit(self, node: Located, test: Operand) -> Ends:
        """The `if`, and the ways to leave it."""
        self._join_assignments()
        ways = self._ways()
        slots = [slot for named in self.slots.values() for slot in named]
        blocks = []
        for k, side in enumerate(self.sides):
            results = [self._result(slot, k) for slot in slots]
            blocks.append(side.builder.block([*ways[k : k + 1], *results]))
        way: Operand = Lit(min(self.found, default=ON))
        if not slots and not ways and not any(b.bindings for b in blocks):
            return Ends(self._envs(), way)
        names = [*["way"] * bool(ways), *(self._name(slot) for slot in slots)]
        made: Sequence[Var] = self.cx.at(node).emit(If(test, *blocks), *names)
        last = made[len(made) - len(slots) :]
        for slot, variable in zip(slots, last, strict=True):
            values = [value for value in slot.values if value is not None]
            slot.result = as_weak(self.cx.builder, variable, values)
            for side, value in zip(self.sides, slot.values, strict=True):
                self.cx.captures.leave(variable, value, side.scope, self.cx.scope)
            mark_joined(self.cx, variable, values, common(slot.marks))
        return Ends(self._envs(), made[0] if ways else way)

    def _join_assignments(self) -> None:
        """What one block assigned has been assigned; each keeps its own."""
        for name in {name for side in self.sides for name in side.scope.assignments}:
            for side in self.sides:
                side.scope.assignments[name] = side.scope.assignment(name)
            found = {side.scope.assignments[name] for side in self.sides}
            if len(found) > 1:
                self.cx.scope.touch(name)
            else:
                (self.cx.scope.assignments[name],) = found

    def _name(self, slot: _Slot) -> str:
        return "result" if slot.name == RESULT else slot.name

    def _ways(self) -> list[Operand]:
        """The number of the way for each block, if there is more than one way."""
        if len(self.found) <= 1:
            return []
        other = min(self.found)
        return [
            side.ends.way
            if len(side.ends.envs) > 1
            else Lit(next(iter(side.ends.envs), other))
            for side in self.sides
        ]

    def _result(self, slot: _Slot, k: int) -> Operand:
        """The slot's value in a block: what is at hand already, where any will do."""
        side, value = self.sides[k], slot.values[k]
        if value is not None:
            slot.marks.append(mark_as(self.cx, value, slot.type, side.builder))
            return convert(side.builder, value, slot.type)
        at_hand = side.scope.lookup(slot.name)
        if isinstance(at_hand, Var) and at_hand.type == slot.type:
            return at_hand
        return placeholder(side.builder, slot.type)

    def _envs(self) -> dict[int, Env]:
        return {
            way: {
                name: item.result if isinstance(item, _Slot) else item
                for name, item in env.items()
            }
            for way, env in self.found.items()
        }


def joined(
    cx: Context, node: Located, test: Operand, sides: Sequence[Side], why: Why
) -> Ends:
    """One of two blocks, chosen by the test; what its `ON` hands on is bound."""
    ends = _Join(cx, sides, why).emit(node, test)
    for side in sides:
        for name in side.scope.values:
            cx.scope.bind(name, DEAD)
    bind_all(cx, ends.envs.get(ON, {}))
    return ends
