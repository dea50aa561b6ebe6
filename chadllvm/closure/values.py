"""What variables stand for while functions are converted, and how it is moved.

No function value exists at run time; a variable of function type stands for what is
known of the function here: its code and the meaning of its free variables, the branch
that chose it, the arrays of what it captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import Binding, Lambda, Operand, Var
from chadllvm.ir.types import Type
from chadllvm.support.diagnostic import InternalError


class Env:
    """What the variables of a piece of code stand for at a place in the output."""

    def lookup(self, var: Var) -> Value:
        return var


@dataclass(eq=False)
class Scope(Env):
    """The variables of one copy of a function, on top of where it was made."""

    parent: Env
    values: dict[Var, Value] = field(default_factory=dict)

    def lookup(self, var: Var) -> Value:
        value = self.values.get(var)
        return self.parent.lookup(var) if value is None else value


@dataclass(eq=False)
class Moved(Env):
    """An environment whose output variables went out of scope and have new names."""

    parent: Env
    names: dict[Var, Operand]

    def lookup(self, var: Var) -> Value:
        return move(self.parent.lookup(var), self.names)


@dataclass(frozen=True, eq=False)
class Closure:
    """One known function: its code, and the meaning of its free variables."""

    code: Lambda
    env: Env


@dataclass(frozen=True, eq=False)
class Choice:
    """The function of the branch that was taken."""

    cond: Operand
    then: FunctionValue
    orelse: FunctionValue


@dataclass(frozen=True, eq=False)
class Stack:
    """An array of functions: element i is `element` with `index` := i and captures := …

    `arrays` maps a capture to the array of its values (of boxes, if it is an array).
    """

    element: FunctionValue
    index: Var
    arrays: dict[Var, Operand]


@dataclass(frozen=True, eq=False)
class Again:
    """A function some of whose captures are computed again where it is called.

    `moves`: the renamings since, for what the bindings read.
    """

    function: FunctionValue
    bindings: tuple[Binding, ...]
    moves: tuple[dict[Var, Operand], ...] = ()


@dataclass(eq=False)
class Recursion:
    """A function whose calls return functions of one kind: `element` is theirs.

    What each call's function captures is kept at the number of the call, but for what
    is `lent`: the call's parameters that its caller hands to the function again, by
    their positions. `itself` is, while the recursion that runs these functions is
    written, the function of it.
    """

    lent: dict[int, Var] = field(default_factory=dict)
    captures: tuple[Var, ...] = ()
    results: tuple[Type, ...] = ()
    element: FunctionValue | None = None
    itself: Var | None = None


@dataclass(frozen=True, eq=False)
class Itself:
    """The function of a recursion in its own body; results are those of a call."""

    recursion: Recursion
    function: Var
    results: tuple[Type, ...]


@dataclass(frozen=True, eq=False)
class Returned:
    """The function that a call in the body returned: that of the call's number.

    `lent`: what the call was given for the parameters that are lent.
    """

    recursion: Recursion
    number: Operand
    lent: tuple[Operand, ...]


@dataclass(frozen=True, eq=False)
class Outermost:
    """The function that the outermost call returned.

    `arrays` has the array of the values of each capture; `lent`: what it was given for
    the parameters that are lent; `moves`: the renamings since, for what the functions'
    code reads.
    """

    recursion: Recursion
    number: Operand
    lent: tuple[Operand, ...]
    arrays: dict[Var, Operand]
    moves: tuple[dict[Var, Operand], ...] = ()


FunctionValue = Closure | Choice | Stack | Again | Itself | Returned | Outermost
Value = Operand | FunctionValue


def move(value: Value, names: dict[Var, Operand]) -> Value:
    match value:
        case Var():
            return names.get(value, value)
        case Closure(code, env):
            return Closure(code, Moved(env, names))
        case Choice(cond, then, orelse):
            return Choice(
                as_operand(move(cond, names)),
                as_function(move(then, names)),
                as_function(move(orelse, names)),
            )
        case Stack(element, index, arrays):
            moved = {k: as_operand(move(a, names)) for k, a in arrays.items()}
            return Stack(as_function(move(element, names)), index, moved)
        case Again(function, bindings, moves):
            return Again(function, bindings, (*moves, names))
        case Returned(recursion, number, lent):
            new, *given = _moved((number, *lent), names)
            return Returned(recursion, new, tuple(given))
        case Outermost(recursion, number, lent, arrays, moves):
            moved = {k: as_operand(move(a, names)) for k, a in arrays.items()}
            new, *given = _moved((number, *lent), names)
            return Outermost(recursion, new, tuple(given), moved, (*moves, names))
        case _:
            return value


def _moved(operands: Sequence[Operand], names: dict[Var, Operand]) -> list[Operand]:
    return [as_operand(move(operand, names)) for operand in operands]


def as_operand(value: Value) -> Operand:
    if isinstance(value, FunctionValue):
        raise InternalError("closure: a function where a value is expected")
    return value


def as_function(value: Value) -> FunctionValue:
    if not isinstance(value, FunctionValue):
        raise InternalError("closure: a function that is not known where it is called")
    return value


class EnvRenaming(Renaming):
    """Renames by an environment; bound variables get new names in it."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(fresh=True)
        self.scope = scope

    def operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Var):
            return as_operand(self.scope.lookup(operand))
        return operand

    def bind(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        new = tuple(Var(v.name, v.type) for v in variables)
        self.scope.values.update(zip(variables, new, strict=True))
        return new


class MovedRenaming(Renaming):
    """Copies bindings whose operands went through renamings."""

    def __init__(self, moves: Sequence[dict[Var, Operand]]) -> None:
        super().__init__(fresh=True)
        self.moves = moves

    def operand(self, operand: Operand) -> Operand:
        if not isinstance(operand, Var) or operand in self.mapping:
            return super().operand(operand)
        for names in self.moves:
            operand = (
                names.get(operand, operand) if isinstance(operand, Var) else operand
            )
        return operand


def functions_among(values: Sequence[Value]) -> list[FunctionValue]:
    return [v for v in values if isinstance(v, FunctionValue)]


def value_of(operand: Operand, scope: Scope) -> Value:
    return scope.lookup(operand) if isinstance(operand, Var) else operand
