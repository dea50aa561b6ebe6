"""Statements: the surface form → bindings of the core, variables by variables.

    if c: x = 1.0              x = if c { yield 1.0 } else { yield f(x) }
    else: x = f(x)      →

    for i in range(n):         s = iterate(n, s) { i, s -> t = add(s, i); yield t }
        s = s + i       →

`liveness.py` says which variables a branch or loop hands on. A variable that cannot be
used afterwards, because a path leaves it undefined or with another type, is marked so,
and refused where it is used.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from chadllvm.diagnostic import CompileError
from chadllvm.frontend import errors, function_errors, list_errors, name_errors
from chadllvm.frontend.annotations import Annotation, target_type
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.comprehension import bind_item, new_index
from chadllvm.frontend.context import Context
from chadllvm.frontend.expression import condition, operation
from chadllvm.frontend.iteration import Items, items
from chadllvm.frontend.lists import begin_list, change, extend, is_empty_list
from chadllvm.frontend.recovery import POISON, asks_for_type, unknown_names
from chadllvm.frontend.scope import DEAD, Scope, Unusable, Value
from chadllvm.frontend.static import decided
from chadllvm.frontend.surface import (
    Assign,
    Augmented,
    Branch,
    Changed,
    Loop,
    Return,
    Statement,
    returns,
    target_names,
)
from chadllvm.frontend.targets import bind_target
from chadllvm.frontend.writing import assign, assign_operation, place_of, whole
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import Type
from chadllvm.ops.iterate import Iterate


def translate(cx: Context, statements: Sequence[Statement]) -> Value | None:
    """Translate a block into the current builder; its result if it returns one.

    After a mistake the names that its statement assigns are unusable, as the result is.
    """
    for statement in statements:
        try:
            result = _statement(cx, statement)
        except CompileError as error:
            _poison(cx, statement)
            _mistake(cx, error, *_expressions(statement))
            result = POISON if returns((statement,)) else None
        if result is not None:
            return result
    return None


def _statement(cx: Context, statement: Statement) -> Value | None:
    match statement:
        case Assign():
            _assign(cx, statement)
        case Branch(_, then, orelse):
            if returns(then) and returns(orelse):
                return _returning_branch(cx, statement)
            _branch(cx, statement)
        case Loop():
            _loop(cx, statement)
        case Return(value):
            return cx.value(value)
    return None


def _poison(cx: Context, statement: Statement) -> None:
    """Make the names unusable that a statement would have assigned."""
    match statement:
        case Assign(ast.Subscript()):
            return  # An array with a new element has the type that it had.
        case Assign(target):
            names = tuple(target_names(target))
        case Branch() | Loop():
            names = cx.liveness.assigned[statement]
        case Return():
            return
    for name in names:
        cx.scope.bind(name, POISON)


def _expressions(statement: Statement) -> tuple[ast.expr, ...]:
    """What a statement computes itself, outside of its blocks."""
    match statement:
        case Assign(target, value):
            return (value, target) if isinstance(target, ast.Subscript) else (value,)
        case Branch(test):
            return (test,)
        case Loop(_, iterable):
            return (iterable,)
        case Return(value):
            return (value,)


def _mistake(cx: Context, error: CompileError, *parts: ast.expr) -> None:
    """Note a mistake in these expressions, and the names in them that are unknown.

    Translation ends at the first mistake, or at a value that depends on another one;
    whether a name is known does not depend on what stands before it.
    """
    cx.mistakes.add(error)
    for part in parts:
        for unknown in unknown_names(cx, part):
            cx.mistakes.add(unknown)


def _assign(cx: Context, statement: Assign) -> None:
    target, node = statement.target, statement.value
    if isinstance(target, ast.Subscript) and statement.annotation is None:
        _assign_part(cx, target, node)
        return
    if isinstance(node, Augmented) and isinstance(target, ast.Name):
        array = whole(cx, target)
        if array is not None and array.array in cx.lists:
            extend(cx, target, node)
            return
        if array is not None:
            assign_operation(cx, array, node.right, partial(operation, cx, node))
            return
    if isinstance(node, Changed):
        change(cx, node)
        return
    if isinstance(target, ast.Name) and is_empty_list(node):
        begin_list(cx, target, node)
        return
    if _assign_each(cx, target, node):
        return
    since = len(cx.builder.bindings)
    value = cx.value(node)
    if statement.annotation is not None:
        value = _annotated(cx, statement, value, statement.annotation)
    bind_target(cx, statement.target, value, since)


def _assign_each(cx: Context, target: ast.expr, node: ast.expr) -> bool:
    """`a, b = x, y`, one by one; false if it is not of this form, without stars."""
    if not isinstance(target, ast.Tuple) or not isinstance(node, ast.Tuple):
        return False
    targets, nodes = target.elts, node.elts
    stars = any(isinstance(e, ast.Starred) for e in (*targets, *nodes))
    if len(targets) != len(nodes) or stars:
        return False
    values = [None if is_empty_list(n) else cx.value(n) for n in nodes]
    for part, item, value in zip(targets, nodes, values, strict=True):
        if value is not None:
            bind_target(cx, part, value, len(cx.builder.bindings))
        elif isinstance(part, ast.Name):
            begin_list(cx, part, item)
        else:
            raise list_errors.nested_empty_list(cx.span(item))
    return True


def _assign_part(cx: Context, target: ast.Subscript, node: ast.expr) -> None:
    """`a[i] = node`; of `a[i] += node` the left side is computed first, once."""
    if isinstance(node, Augmented):
        place = place_of(cx, target)
        assign_operation(cx, place, node.right, partial(operation, cx, node))
    else:
        value = cx.lazy(node)
        assign(cx, place_of(cx, target), value)


def _annotated(
    cx: Context, statement: Assign, value: Operand, annotation: Annotation
) -> Operand:
    """`x: float = 1` makes x a float."""
    ty = target_type(annotation, value.type)
    if ty is None:
        raise function_errors.wrong_annotation(
            cx.span(statement.value), value.type, annotation
        )
    return convert(cx.at(statement.node), value, ty)


# ---- branches --------------------------------------------------------------------


def _returning_branch(cx: Context, branch: Branch) -> Value:
    """A branch that returns on every path: the function's result is its result."""
    known = decided(cx, branch.test)
    if known is not None:
        return _returned(cx, branch.then if known else branch.orelse)
    test = _tested(cx, branch)
    sides: list[tuple[Builder, Operand]] = []
    for statements in (branch.then, branch.orelse):
        with cx.nested() as b:
            result = _returned(cx, statements)
            if not isinstance(result, Unusable):
                sides.append((b, result))
    if len(sides) < 2:
        return POISON
    then, orelse = (result.type for _, result in sides)
    joined = join(then, orelse)
    if joined is None:
        raise errors.different_returns(cx.span(branch.node), then, orelse)
    blocks = [b.block([convert(b, result, joined)]) for b, result in sides]
    return cx.at(branch.test).one(If(test, *blocks), "result")


def _returned(cx: Context, statements: Sequence[Statement]) -> Value:
    """The result of a block that returns."""
    result = translate(cx, statements)
    assert result is not None
    return result


def _tested(cx: Context, branch: Branch) -> Operand:
    """The condition; after a mistake in it both branches are still looked at.

    Not so if it asks for a type: each branch would be right for another one.
    """
    if asks_for_type(branch.test):
        return condition(cx, branch.test)
    try:
        return condition(cx, branch.test)
    except CompileError as error:
        _mistake(cx, error, branch.test)
    return Lit(False)


def _branch(cx: Context, branch: Branch) -> None:
    """Run one of two blocks and merge the variables that are read afterwards."""
    known = decided(cx, branch.test)
    if known is not None:
        translate(cx, branch.then if known else branch.orelse)
        return
    test = _tested(cx, branch)
    sides: list[tuple[Builder, Scope]] = []
    for statements in (branch.then, branch.orelse):
        with cx.nested() as b:
            translate(cx, statements)
            sides.append((b, cx.scope))
    names = cx.liveness.handed_on[branch]
    values = [[scope.lookup(name) for name in names] for _, scope in sides]
    merged = _merge(cx, branch, *values)
    blocks = [
        b.block(_operands(b, side, merged))
        for (b, _), side in zip(sides, values, strict=True)
    ]
    kept = [name for name, ty in zip(names, merged, strict=True) if ty is not None]
    if not blocks[0].bindings and not blocks[1].bindings and not kept:
        return
    variables = cx.at(branch.test).emit(If(test, *blocks), *kept)
    _mark_lists(cx, variables, *(_kept(side, merged) for side in values))
    for name, variable in zip(kept, variables, strict=True):
        cx.scope.bind(name, variable)


def _mark_lists(
    cx: Context, variables: Sequence[Var], *values: Sequence[Value | None]
) -> None:
    """Note which of the variables stand for lists: if all their values are lists."""
    for variable, *sides in zip(variables, *values, strict=True):
        if all(side in cx.lists for side in sides):
            cx.lists.add(variable)


def _no_lists(
    cx: Context,
    states: Sequence[Var],
    initial: Sequence[Value | None],
    finals: Sequence[Value],
) -> set[Value | None]:
    """The initial values that are lists, of states of which a step makes arrays."""
    triples = zip(states, initial, finals, strict=True)
    return {v for s, v, after in triples if s in cx.lists and after not in cx.lists}


def _merge(
    cx: Context,
    branch: Branch,
    then: Sequence[Value | None],
    orelse: Sequence[Value | None],
) -> list[Type | None]:
    """The types of the variables handed on; marks all others as unusable (None)."""
    for name in cx.liveness.assigned[branch]:
        cx.scope.bind(name, DEAD)
    merged: list[Type | None] = []
    names = cx.liveness.handed_on[branch]
    for name, first, second in zip(names, then, orelse, strict=True):
        found = _merged_type(cx, branch, name, first, second)
        if isinstance(found, Unusable):
            cx.scope.bind(name, found)
        merged.append(None if isinstance(found, Unusable) else found)
    return merged


def _merged_type(
    cx: Context, branch: Branch, name: str, then: Value | None, orelse: Value | None
) -> Type | Unusable:
    if then is POISON or orelse is POISON:
        return POISON
    line = cx.span(branch.node).line
    for value, side in ((then, "`if`"), (orelse, "`else`")):
        if value is None:
            return Unusable(
                partial(
                    name_errors.missing_on_branch, name=name, branch=side, line=line
                )
            )
        if isinstance(value, Unusable):
            return value
    assert not isinstance(then, Unusable | None)
    assert not isinstance(orelse, Unusable | None)
    joined = join(then.type, orelse.type)
    if joined is not None:
        return joined
    return Unusable(
        partial(
            name_errors.conflicting_branches,
            name=name,
            then=then.type,
            orelse=orelse.type,
            line=line,
        )
    )


def _kept(
    values: Sequence[Value | None], types: Sequence[Type | None]
) -> list[Value | None]:
    """The values that have a type."""
    return [v for v, ty in zip(values, types, strict=True) if ty is not None]


def _operands(
    b: Builder, values: Sequence[Value | None], types: Sequence[Type | None]
) -> list[Operand]:
    """The values converted to these types, without those that have none."""
    operands = []
    for value, ty in zip(values, types, strict=True):
        if ty is None:
            continue
        assert not isinstance(value, Unusable | None)
        operands.append(convert(b, value, ty))
    return operands


# ---- loops -----------------------------------------------------------------------


def _loop(cx: Context, loop: Loop) -> None:
    """Carry through the loop the variables that are handed on, where defined before."""
    source = _iterated(cx, loop)
    types = _initial_types(cx, loop)
    mistakes = cx.mistakes.count()
    others: set[Value | None] = set()
    while True:
        states = tuple(Var(name, ty) for name, ty in types.items())
        initial = [cx.scope.lookup(name) for name in types]
        _mark_lists(cx, states, [None if v in others else v for v in initial])
        index = new_index(loop.target, source)
        with cx.nested() as b:
            finals = _step(cx, loop, source, index, states)
            found = _types_after(cx, loop, types, finals)
            changed = _no_lists(cx, states, initial, finals)
            if found == types and not changed:
                body = b.block(_operands(b, finals, list(types.values())))
                break
        types = found
        others |= changed
        cx.mistakes.forget(mistakes)
        cx.promoted[loop] = types
    b = cx.at(loop.iterable)
    args = [source.length, *_operands(b, initial, list(types.values()))]
    function = Lambda((index, *states), body)
    results = b.apply(Iterate(), args, [function], list(types))
    _mark_lists(cx, results, initial, finals)
    _leave(cx, loop, dict(zip(types, results, strict=True)))


def _iterated(cx: Context, loop: Loop) -> Items:
    """What the loop runs over; after a mistake in it the body is looked at once."""
    try:
        return items(cx, loop.iterable)
    except CompileError as error:
        _mistake(cx, error, loop.iterable)
    with cx.nested():
        for name in target_names(loop.target):
            cx.scope.bind(name, POISON)
        translate(cx, loop.body)
    raise POISON.error(cx.span(loop.node))


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
            types[name] = join(value.type, known[name]) or value.type
    return types


def _step(
    cx: Context, loop: Loop, source: Items, index: Var, states: Sequence[Var]
) -> list[Value]:
    """Translate the body; what the carried variables stand for after it."""
    for state in states:
        cx.scope.bind(state.name, state)
    bind_item(cx, loop.target, source, index)
    translate(cx, loop.body)
    values = [cx.scope.lookup(state.name) for state in states]
    return [value for value in values if value is not None]


def _types_after(
    cx: Context, loop: Loop, types: dict[str, Type], finals: Sequence[Value]
) -> dict[str, Type]:
    """The carried types after a step: an integer may have become a float."""
    found = {}
    for (name, before), final in zip(types.items(), finals, strict=True):
        if isinstance(final, Unusable):
            raise final.error(cx.span(loop.node))
        joined = join(before, final.type)
        if joined is None:
            raise name_errors.changing_type(
                cx.span(loop.node), name, before, final.type
            )
        found[name] = joined
    return found


def _leave(cx: Context, loop: Loop, carried: dict[str, Var]) -> None:
    """Bind what the loop hands on; what it defined only inside is unusable."""
    line = cx.span(loop.node).line
    for name in cx.liveness.assigned[loop]:
        before = cx.scope.lookup(name)
        if name in carried:
            cx.scope.bind(name, carried[name])
        elif before is None:
            cx.scope.bind(
                name, Unusable(partial(name_errors.only_in_loop, name=name, line=line))
            )
        elif not isinstance(before, Unusable):
            cx.scope.bind(name, DEAD)
