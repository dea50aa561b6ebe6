"""Statements: the surface form → bindings of the core, variables by variables.

    if c: x = 1.0              x = if c { yield 1.0 } else { yield f(x) }
    else: x = f(x)      →

    if x < 0:                  … = if c { require(false); yield … } else { … }
        raise ValueError()  →

`liveness.py` says which variables a branch or loop hands on, `ways.py` joins the ways
in which blocks are left. A variable that cannot be used afterwards, because a path
leaves it undefined or with another type, is marked so, and refused where it is used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import partial
from typing import assert_never

from chadllvm.errors import (
    array_errors,
    flow_errors,
    function_errors,
    name_errors,
    update_errors,
)
from chadllvm.frontend.annotations import CLOSED, Annotation, NumberList, target_type
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.changing import change, changed_in_place
from chadllvm.frontend.conditions import condition
from chadllvm.frontend.context import Context, Elements
from chadllvm.frontend.delayed import succeed
from chadllvm.frontend.expression import operation
from chadllvm.frontend.free import free_names
from chadllvm.frontend.lists import (
    begin_filled,
    begin_list,
    doubted_names,
    extend,
    is_empty_list,
)
from chadllvm.frontend.liveness import exit_reads
from chadllvm.frontend.local import note_siblings
from chadllvm.frontend.marks import check_settled, may_be_list
from chadllvm.frontend.match_statement import Matched
from chadllvm.frontend.narrowing import assume, assume_told, told
from chadllvm.frontend.pausing import stop
from chadllvm.frontend.ragged_updates import assign_in_list, changes_list
from chadllvm.frontend.raising import fail, is_constant, require
from chadllvm.frontend.recovery import POISON, asks_for_type, unknown_names
from chadllvm.frontend.recursion import Unresolved
from chadllvm.frontend.scope import Unusable, Value
from chadllvm.frontend.static import decided
from chadllvm.frontend.surface import (
    Assign,
    Augmented,
    Branch,
    Break,
    Changed,
    Continue,
    Defined,
    Final,
    For,
    NamedLambda,
    Paused,
    Raise,
    Return,
    Statement,
    Updating,
    While,
    base,
    goes_on,
    has_break,
    names_in,
    target_names,
)
from chadllvm.frontend.targets import bind_target
from chadllvm.frontend.ways import (
    BREAK,
    NEXT,
    ON,
    RESULT,
    RETURN,
    RETURNS_IN_LOOPS,
    Ends,
    Side,
    bind_all,
    environment,
    is_way,
    joined,
)
from chadllvm.frontend.width import is_weak
from chadllvm.frontend.writing import (
    Place,
    assign,
    assign_operation,
    place_of,
    whole,
)
from chadllvm.ir.term import Lit, Operand, Var
from chadllvm.ir.types import Array, Product, Scalar, list_names
from chadllvm.ir.union import members
from chadllvm.support.diagnostic import CompileError


def translate_function(cx: Context, statements: Sequence[Statement]) -> Value | None:
    """Translate a function's body; its result, None if all it does is to raise."""
    return translate(cx, statements, ()).envs.get(RETURN, {}).get(RESULT)


def translate(
    cx: Context, statements: Sequence[Statement], wanted: Iterable[str]
) -> Ends:
    """Translate a block into the current builder; how it may be left.

    `wanted` are the variables that are read after its end. After a mistake the names
    that its statement assigns are unusable, as the result is.
    """
    for position, statement in enumerate(statements):
        is_doubted = cx.elements and _is_doubted(cx, statement)
        try:
            ends = _statement(cx, statement)
            if not ends.only_goes_on:
                rest = statements[position + 1 :]
                return _go_on(cx, statement, ends, rest, wanted)
        except Unresolved:
            return Ends({})
        except CompileError as error:
            if not (is_doubted and _is_assigned(cx, statement)):
                poison(cx, statement)
            mistake(cx, error, *_expressions(statement))
            if not goes_on((statement,)):
                return Ends({} if cx.loops else {RETURN: {RESULT: POISON}})
    return Ends({ON: environment(cx, wanted)})


def _statement(cx: Context, statement: Statement) -> Ends:
    """Translate a statement; what its `ON` hands on is bound."""
    match statement:
        case Assign():
            _assign(cx, statement)
            return Ends({ON: {}})
        case Branch():
            return _branch(cx, statement)
        case For():
            return cx.loop(cx, statement)
        case While():
            ends = cx.loop(cx, statement)
            if ends.only_goes_on and not has_break(statement.body):
                assume(cx, statement.test, False)
            return ends
        case Return():
            return _return(cx, statement)
        case Raise():
            fail(cx, statement)
            return Ends({})
        case Break():
            return Ends({BREAK: environment(cx, cx.liveness.after[cx.loops[-1]])})
        case Continue():
            names = cx.liveness.handed_on[cx.loops[-1]]
            return Ends({NEXT: environment(cx, names)})
        case _:
            assert_never(statement)


def poison(cx: Context, statement: Statement) -> None:
    """Make the names unusable that a statement would have assigned."""
    match statement:
        case Assign(ast.Subscript()):
            return  # An array with a new element has the type that it had.
        case Assign(target):
            names = tuple(target_names(target))
        case Branch():
            names = cx.liveness.assigned[statement]
            cx.scope.in_doubt = True
        case For() | While():
            inside = cx.liveness.assigned[statement], cx.liveness.after[statement]
            names = tuple(dict.fromkeys((*inside[0], *inside[1])))
        case Return() | Raise() | Break() | Continue():
            return
        case _:
            assert_never(statement)
    for name in names:
        cx.scope.bind(name, POISON)


def _is_doubted(cx: Context, statement: Statement) -> bool:
    """Whether a mistake may be due to what an empty list was taken to hold.

    What the statement would have assigned then stays what it is: elements of the list
    may be made of it, and they tell what the list holds when this is translated again.
    """
    if not isinstance(statement, Assign):
        return False
    is_doubted = not doubted_names(cx).isdisjoint(names_in(statement.value))
    change = cx.doubted.update if is_doubted else cx.doubted.difference_update
    change(target_names(statement.target))
    return is_doubted


def _is_assigned(cx: Context, statement: Statement) -> bool:
    """Whether all names that a statement assigns have a value before it.

    A list that it makes longer has none as long as nothing is known of its elements.
    """
    names = target_names(statement.target) if isinstance(statement, Assign) else ()
    return all(
        name not in cx.elements and cx.scope.lookup(name) is not None for name in names
    )


def _expressions(statement: Statement) -> tuple[ast.expr, ...]:
    """What a statement computes itself, outside of its blocks."""
    match statement:
        case Assign(target, value):
            return (value, target) if isinstance(target, ast.Subscript) else (value,)
        case Branch(test) | While(test):
            return (test,)
        case For(_, iterable):
            return (iterable,)
        case Return(value) | Raise(_, ast.expr() as value):
            return (value,)
        case Raise() | Break() | Continue():
            return ()
        case _:
            assert_never(statement)


def mistake(cx: Context, error: CompileError, *parts: ast.expr) -> None:
    """Note a mistake in these expressions, and the names in them that are unknown.

    Translation ends at the first mistake, or at a value that depends on another one;
    whether a name is known does not depend on what stands before it.
    """
    cx.mistakes.add(error)
    for part in parts:
        for unknown in unknown_names(cx, part):
            cx.mistakes.add(unknown)


def _assign(cx: Context, statement: Assign) -> None:
    began = cx.captures.now
    _assign_value(cx, statement)
    if cx.captures.now > began:
        for name in target_names(statement.target):
            value = cx.scope.lookup(name)
            if value is not None and not isinstance(value, Unusable):
                cx.captures.hand_on(value, began)
    if isinstance(statement.value, Defined | NamedLambda):
        note_siblings(cx, statement.value)


def _assign_value(cx: Context, statement: Assign) -> None:
    target, node = statement.target, statement.value
    if isinstance(node, Updating):
        _update_arguments(cx, node)
        return
    if isinstance(node, Paused):
        stop(cx, node)
        return
    if isinstance(target, ast.Subscript) and statement.annotation is None:
        _assign_part(cx, target, node)
        return
    _want(cx, node, statement.annotation)
    if isinstance(node, Augmented) and isinstance(target, ast.Name):
        if changed_in_place(cx, target, node):
            return
        array = whole(cx, target)
        if array is not None and array.array in cx.lists:
            other = extend(cx, target, node)
            if other is not None:
                since = len(cx.builder.bindings)
                total = cx.make(cx, node, operation(cx, node, array.array, other))
                bind_target(cx, target, total, since)
            return
        if array is not None and may_be_list(cx, array.array):
            check_settled(cx, node, array.array)
            raise array_errors.list_arithmetic(cx.span(node))
        if array is not None:
            _assign_operation(cx, array, node)
            return
    if isinstance(node, Changed):
        change(cx, node)
        return
    if isinstance(target, ast.Name) and is_empty_list(node):
        if isinstance(statement.annotation, NumberList):
            _declare(cx, target, statement.annotation)
        begin_list(cx, target, node)
        return
    if _assign_each(cx, target, node):
        return
    if isinstance(target, ast.Name) and isinstance(node, ast.List | ast.ListComp):
        begin_filled(cx, target.id, node)
    since = len(cx.builder.bindings)
    value = cx.value(node)
    if statement.annotation is not None:
        value = _annotated(cx, statement, value, statement.annotation)
    bind_target(cx, statement.target, value, since)


def _declare(cx: Context, target: ast.Name, annotation: NumberList) -> None:
    """`xs: list[float] = []`"""
    told = Elements(annotation.elem, is_sure=True)
    known = cx.elements.setdefault(target.id, told)
    if known.elem != annotation.elem:
        held = Array(known.elem, 1) if isinstance(known.elem, Scalar) else known.elem
        span = cx.span(target)
        raise function_errors.wrong_annotation(span, held, annotation)


def _update_arguments(cx: Context, node: Updating) -> None:
    """A call after which its arguments stand for what they were updated to."""
    since = len(cx.builder.bindings)
    value = cx.value(node)
    if node.result is not None:
        bind_target(cx, node.result, value, since)
    updated = cx.updated_parts.pop(node, [])
    names = {name.id for part, *_ in updated if (name := base(part))}
    for part, new, is_whole in updated:
        if base(part) is None:
            continue  # An object that was made for the call.
        if isinstance(part, ast.Subscript):
            if names & free_names(part.slice):
                raise update_errors.moving_part(cx.span(part))
            _assign_part(cx, part, cx.settled(part, new))
        elif is_whole or isinstance(new.type, Product):
            bind_target(cx, part, new, since)
        else:
            assert isinstance(part, ast.Name) and isinstance(new, Var)
            old = cx.scope.lookup(part.id)
            assert isinstance(old, Var)
            succeed(cx, part.id, old, new)


def _want(cx: Context, node: ast.expr, annotation: Annotation) -> None:
    """What an annotation says of a list decides how it is made."""
    if isinstance(annotation, CLOSED):
        for member in members(annotation):
            if isinstance(member, Product) and list_names(member) is not None:
                cx.wanted[node] = member


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
        if value is not None and isinstance(part, ast.Subscript):
            _assign_part(cx, part, cx.settled(item, value))
        elif value is not None:
            bind_target(cx, part, value, len(cx.builder.bindings))
        elif isinstance(part, ast.Name):
            begin_list(cx, part, item)
        else:
            raise update_errors.nested_empty_list(cx.span(item))
    return True


def _assign_part(cx: Context, target: ast.Subscript, node: ast.expr) -> None:
    """`a[i] = node`; of `a[i] += node` the left side is computed first, once."""
    if changes_list(cx, target):
        assign_in_list(cx, target, node)
        return
    if isinstance(node, Augmented):
        _assign_operation(cx, place_of(cx, target), node)
    else:
        value = cx.lazy(node)
        assign(cx, place_of(cx, target), value)


def _assign_operation(cx: Context, place: Place, node: Augmented) -> None:
    """`a[i] += v`"""
    is_elementwise = not isinstance(node.op, ast.MatMult)
    operate = partial(operation, cx, node)
    assign_operation(cx, place, node.right, operate, is_elementwise=is_elementwise)


def _annotated(
    cx: Context, statement: Assign, value: Operand, annotation: Annotation
) -> Operand:
    """`x: float = 1` makes x a float."""
    ty = target_type(annotation, value.type, weak=is_weak(value))
    if ty is None:
        raise function_errors.wrong_annotation(
            cx.span(statement.value), value.type, annotation
        )
    converted = convert(cx.at(statement.node), value, ty)
    if value in cx.lists:
        cx.lists.add(converted)
    return converted


# ---- exits -----------------------------------------------------------------------


def _return(cx: Context, statement: Return) -> Ends:
    """In a loop, the value is computed once all loops are left.

    It is translated here all the same, for its mistakes.
    """
    result = statement.value
    if isinstance(result, Final) and result.has_result:
        result = result.elts[-1]
    _want(cx, result, cx.declared)
    if not cx.loops:
        return Ends({RETURN: {RESULT: cx.value(statement.value)}})
    with cx.nested():
        cx.value(statement.value)
    way = cx.returns.setdefault(statement, RETURNS_IN_LOOPS + len(cx.returns))
    outermost, read = cx.loops[0], exit_reads(statement)
    assigned = cx.liveness.assigned[outermost], cx.liveness.in_else[outermost]
    names = dict.fromkeys(name for part in assigned for name in part if name in read)
    return Ends({way: environment(cx, names)})


def _go_on(
    cx: Context,
    after: Statement,
    ends: Ends,
    rest: Sequence[Statement],
    wanted: Iterable[str],
) -> Ends:
    """Translate what follows a statement, if the way through it was to its end."""
    returned = None if cx.loops else _return_in_loops(cx, ends)
    if returned is not None:
        return _return_now(cx, after, ends, returned, rest, wanted)
    if ON not in ends.envs:
        return ends
    if ends.only_goes_on:
        return translate(cx, rest, wanted)
    if not rest:
        return Ends({**ends.envs, ON: environment(cx, wanted)}, ends.way)
    others = {way: env for way, env in ends.envs.items() if way != ON}
    test = is_way(cx, after.node, ends.way, ON)
    with cx.nested() as b:
        side = Side(b, cx.scope, translate(cx, rest, wanted))
    with cx.nested() as b:
        other = Side(b, cx.scope, Ends(others, ends.way))
    return _joined(cx, after, test, [side, other])


def _return_in_loops(cx: Context, ends: Ends) -> Return | None:
    """A `return` of a loop that was left, the first of those there are."""
    return next((r for r, way in cx.returns.items() if way in ends.envs), None)


def _return_now(
    cx: Context,
    after: Statement,
    ends: Ends,
    statement: Return,
    rest: Sequence[Statement],
    wanted: Iterable[str],
) -> Ends:
    """Behind a loop: compute what a `return` in it returns, or go on."""
    way = cx.returns[statement]
    env = ends.envs[way]
    if len(ends.envs) == 1:
        bind_all(cx, env)
        return _return(cx, statement)
    others = {number: e for number, e in ends.envs.items() if number != way}
    test = is_way(cx, statement.node, ends.way, way)
    with cx.nested() as b:
        bind_all(cx, env)
        side = Side(b, cx.scope, _return(cx, statement))
    with cx.nested() as b:
        bind_all(cx, others.get(ON, {}))
        left = Ends(others, ends.way)
        other = Side(b, cx.scope, _go_on(cx, after, left, rest, wanted))
    return _joined(cx, after, test, [side, other])


def _joined(
    cx: Context, after: Statement, test: Operand, sides: Sequence[Side]
) -> Ends:
    return joined(cx, after.node, test, sides, partial(_why, cx, after))


# ---- branches --------------------------------------------------------------------


def _branch(cx: Context, branch: Branch) -> Ends:
    """Run one of two blocks and merge the variables that are read afterwards."""
    names = cx.liveness.handed_on[branch]
    known = decided(cx, branch.test)
    if known is not None:
        return translate(cx, branch.then if known else branch.orelse, names)
    test = _tested(cx, branch)
    match branch.then, branch.orelse:
        case (Raise() as raised,), () if is_constant(raised):
            require(cx, raised, cx.at(branch.test).prim("not", test))
            assume(cx, branch.test, False)
            return Ends({ON: {}})
    facts = [told(cx, branch.test, outcome) for outcome in (True, False)]
    sides: list[Side] = []
    for outcome, statements in ((True, branch.then), (False, branch.orelse)):
        with cx.nested() as b:
            assume(cx, branch.test, outcome)
            sides.append(Side(b, cx.scope, translate(cx, statements, names)))
    why = partial(_why, cx, branch)
    ends = joined(cx, branch.test, test, sides, why)
    leads_on = [ON in side.ends.envs for side in sides]
    if any(leads_on) and not all(leads_on):
        assume_told(cx, branch.test, facts[leads_on.index(True)])
    return ends


def _tested(cx: Context, branch: Branch) -> Operand:
    """The condition; after a mistake in it both branches are still looked at.

    Not so if it asks for a type: each branch would be right for another one.
    """
    if asks_for_type(branch.test):
        return condition(cx, branch.test)
    try:
        return condition(cx, branch.test)
    except CompileError as error:
        mistake(cx, error, branch.test)
        cx.scope.in_doubt = True
    return Lit(False)


def _why(
    cx: Context,
    place: Statement,
    name: str,
    then: Value | None,
    orelse: Value | None,
) -> Unusable:
    """Why a variable cannot be used that two blocks leave so."""
    line = cx.span(place.node).line
    if then is None or orelse is None:
        sides = ("`if`", "`else`")
        if isinstance(place, Branch) and isinstance(place.test, Matched):
            sides = ("`case`", "other `case`")
        side = sides[0] if then is None else sides[1]
        return Unusable(
            partial(name_errors.missing_on_branch, name=name, branch=side, line=line)
        )
    assert not isinstance(then, Unusable) and not isinstance(orelse, Unusable)
    if name == RESULT:
        raise flow_errors.different_returns(cx.span(place.node), then.type, orelse.type)
    return Unusable(
        partial(
            name_errors.conflicting_branches,
            name=name,
            then=then.type,
            orelse=orelse.type,
            line=line,
        )
    )
