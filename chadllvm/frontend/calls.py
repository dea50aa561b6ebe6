"""Calls of built-in functions, and of jitted functions specialised to the arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import numpy as np

from chadllvm.errors import (
    array_errors,
    call_errors,
    flow_errors,
    name_errors,
    record_errors,
    update_errors,
)
from chadllvm.errors.update_errors import CHANGING
from chadllvm.frontend.applying import call_value, closure, function_of
from chadllvm.frontend.arithmetic import is_number
from chadllvm.frontend.array_functions import METHODS, NAMES
from chadllvm.frontend.cases import by_case, check_members, settled_call
from chadllvm.frontend.choosing import choice
from chadllvm.frontend.closures import is_function, is_tuple
from chadllvm.frontend.comprehension import list_comprehension, listed
from chadllvm.frontend.containers import (
    FUNCTIONS,
    base_call,
    check_held,
    class_function,
    construct,
    has_method,
    is_record_value,
    record_method,
)
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value
from chadllvm.frontend.derivatives import transform, transform_of
from chadllvm.frontend.first import next_call
from chadllvm.frontend.functions import known_function
from chadllvm.frontend.gradients import gradient_from_outside
from chadllvm.frontend.integers import INTEGER_METHODS, integer_method
from chadllvm.frontend.iteration import iterator_of
from chadllvm.frontend.jitted import function_call
from chadllvm.frontend.logic import is_integral
from chadllvm.frontend.marks import check_settled, mark_as_arrays, may_be_list
from chadllvm.frontend.narrowing import instance_test
from chadllvm.frontend.objects import base_of, field_value
from chadllvm.frontend.pausing import paused
from chadllvm.frontend.printing import show
from chadllvm.frontend.records import is_record, is_users_class
from chadllvm.frontend.recovery import POISON, unknown_in_module
from chadllvm.frontend.scope import NotStatic, Unusable, is_library
from chadllvm.frontend.sets import method as set_method
from chadllvm.frontend.sets import popped as popped_from_set
from chadllvm.frontend.stacking import of_tuple
from chadllvm.frontend.static import keys_of
from chadllvm.frontend.surface import Popped
from chadllvm.frontend.tuple_calls import tuple_call
from chadllvm.frontend.tuples import call_unpacked
from chadllvm.frontend.vectorized import vectorized_call
from chadllvm.ir.term import Operand, Proj
from chadllvm.ir.types import Array, Product, Type, is_set, reference_names
from chadllvm.ir.union import is_union
from chadllvm.support.library import pause
from chadllvm.support.overloads import (
    SCALAR,
    Chooser,
    is_compiled_with,
    overloaded,
    parameters_of,
    provided,
    sequences_of,
    tuples_of,
    vectors_of,
)
from chadllvm.support.twins import compiled_from


def call(cx: Context, node: ast.Call) -> Value:
    """The result of a call."""
    value = _call(cx, node)
    check_held(cx, node, value.type)
    return value


def _call(cx: Context, node: ast.Call) -> Value:
    columns = _unzipped(cx, node)
    if columns is not None:
        return columns
    node = call_unpacked(cx, node)
    if isinstance(node.func, ast.Attribute):
        base = base_of(cx, node.func.value)
        if base is not None:
            return base_call(cx, node, node.func.attr, *base)
        if _is_method(cx, node.func):
            return _method_call(cx, node, node.func)
        owner = _owner_class(cx, node.func)
        if owner is not None:
            return class_function(cx, node, owner)
    value = _function_value(cx, node.func)
    if value is not None and has_method(value.type, "__call__"):
        return record_method(cx, node, value, "__call__")
    if value is not None:
        return call_value(cx, node, value, call_outside)
    # Not by `call_outside`: the depth of expressions is bounded by Python's stack.
    return _meaning(cx, node, _callee(cx, node))(cx, node)


def call_outside(cx: Context, node: ast.Call, function: Any) -> Value:
    """A call of a function value that stands outside of the one that is compiled."""
    if isinstance(function, FunctionType) and not is_callable(function):
        is_jitted = not is_plain(cx, function)
        return function_call(cx, node, function, is_jitted=is_jitted)
    return _meaning(cx, node, function)(cx, node)


Meaning = Callable[[Context, ast.Call], Value]


def _meaning(cx: Context, node: ast.Call, function: Any) -> Meaning:
    """What translates calls of a function from outside, or the error that none does."""
    users = overloaded(function, provided=False)
    if users is not None:
        return _of_overload(cx, node, users)
    if function in (min, max) and _has_key(node):
        return partial(_of_sequences, overloaded(function))
    if function is np.where and len(node.args) == 1:
        function = np.nonzero
    if function is partial and node.args:
        return _partial
    known = known_function(function) or _container_function(function)
    if known is not None:
        return known
    which = transform_of(function)
    if which is not None:
        return partial(transform, which)
    made = gradient_from_outside(function)
    if made is not None:
        function = closure(cx, node, made, {})
        return lambda cx, node: mark_as_arrays(cx, made.call(cx, node, function))
    numbers = getattr(function, SCALAR, None)
    if isinstance(numbers, FunctionType):
        return partial(vectorized_call, function=numbers)
    jitted = compiled_from(function)
    if isinstance(jitted, FunctionType):
        statics = getattr(function, "static_argnames", ())
        called = cx.callees.itself(jitted)
        return partial(function_call, function=called, statics=statics, is_jitted=True)
    if is_record(function):
        return partial(construct, python=function)
    if cx.surroundings.encloses(function):
        return partial(function_call, function=function, is_jitted=True)
    if isinstance(function, FunctionType) and is_plain(cx, function):
        return partial(function_call, function=function)
    ours = overloaded(function)
    if ours is not None:
        return _of_overload(cx, node, ours)
    raise _unknown(cx, node, function)


def _partial(cx: Context, node: ast.Call) -> Value:
    """`partial(f, x, k=1.0)`, which is `lambda *rest: f(x, *rest, k=1.0)`."""
    at, name = partial(ast.copy_location, old_node=node), "rest."
    rest = at(ast.Starred(at(ast.Name(name, ast.Load())), ast.Load()))
    function, *args = node.args
    body = ast.Call(function, [*args, rest], node.keywords)
    params = ast.arguments([], [], ast.arg(name), [], [], None, [])
    made = ast.Lambda(params, ast.copy_location(body, node))
    return cx.lazy(ast.fix_missing_locations(ast.copy_location(made, node)))


def _unzipped(cx: Context, node: ast.Call) -> Value | None:
    """`zip(*points)` of a list of tuples: a tuple of lists; None of anything else."""
    match node:
        case ast.Call(ast.Name("zip") as function, [ast.Starred(points)], []):
            pass
        case _:
            return None
    is_shown = isinstance(points, ast.Tuple | ast.List)
    if is_shown or cx.is_local(function.id) or cx.static(function) is not zip:
        return None
    value = cx.value(points)
    if not isinstance(value.type, Array) or not is_tuple(value.type.elem):
        return None
    place, at = cx.settled(points, value), partial(ast.copy_location, old_node=node)
    item, name = (at(ast.Name("item.", c)) for c in (ast.Store(), ast.Load()))
    clause = ast.comprehension(item, place, [], 0)
    parts: list[ast.expr] = []
    for k in range(len(value.type.elem.fields)):
        part = at(ast.Subscript(name, at(ast.Constant(k)), ast.Load()))
        parts.append(ast.copy_location(ast.ListComp(part, [clause]), node))
    return cx.lazy(ast.copy_location(ast.Tuple(parts, ast.Load()), node))


def _of_overload(cx: Context, node: ast.Call, function: Any) -> Meaning:
    """What translates calls of a function that stands for another one."""
    if sequences_of(function):
        return partial(_of_sequences, function)
    if tuples_of(function) is not None:
        return partial(_of_arrays, function)
    return _of_plain_overload(cx, node, function)


def _has_key(node: ast.Call) -> bool:
    """Whether `max` or `min` asks for more than the best number."""
    return any(keyword.arg in ("key", "default") for keyword in node.keywords)


def _of_sequences(function: Any, cx: Context, node: ast.Call) -> Value:
    """A call of an overload that runs over arguments; `max(a, b, key=f)` over all."""
    called, names = sequences_of(function), [*parameters_of(function)]
    args = node.args
    for keyword in node.keywords:
        match keyword:  # Of nothing it would give None, and numbers of all else.
            case ast.keyword("default", ast.Constant(None)):
                name = ast.unparse(node.func)
                raise call_errors.unexpected_keyword(cx.span(keyword), name, "default")
    is_best = function in (overloaded(min), overloaded(max))
    if is_best and len(args) > 1:
        args = [ast.copy_location(ast.List(args, ast.Load()), node)]
    places = zip(names, args, strict=False)
    given = [_as_list(cx, node, a) if n in called else a for n, a in places]
    given += args[len(given) :]
    keywords = [
        ast.copy_location(ast.keyword(k.arg, _as_list(cx, node, k.value)), k)
        if k.arg in called
        else k
        for k in node.keywords
    ]
    call = ast.copy_location(ast.Call(node.func, given, keywords), node)
    return _of_plain_overload(cx, call, function)(cx, call)


def _as_list(cx: Context, call: ast.Call, node: ast.expr) -> ast.expr:
    """An argument that is run over: what is no value is a list of its elements."""
    if isinstance(node, ast.GeneratorExp):
        return cx.settled(node, list_comprehension(cx, node))
    if keys_of(cx, node) is not None:
        raise record_errors.keys_as_value(cx.span(call), "a list of keys")
    if iterator_of(cx, node) is not None:
        return cx.settled(node, listed(cx, node, call))
    value = cx.lazy(node)
    place = cx.settled(node, value)
    if is_number(value.type):
        raise flow_errors.not_iterable(cx.span(node), value.type)
    is_of_set = not isinstance(value, Delayed) and is_set(value.type)
    return cx.settled(node, listed(cx, place, call)) if is_of_set else place


def _of_arrays(function: Any, cx: Context, node: ast.Call) -> Value:
    """A call of an overload to which tuples of numbers are arrays."""
    known = parameters_of(function)
    constants = getattr(function, "constants", getattr(function, "static_argnames", ()))
    left = {*constants, *(tuples_of(function) or ())}
    names = [n for n, p in known.items() if p.kind is not p.KEYWORD_ONLY]
    places = [*names, *[names[-1]] * len(node.args)] if names else [""] * len(node.args)
    vectors = vectors_of(function)

    def as_array(name: str | None, argument: ast.expr) -> ast.expr:
        if name in left or isinstance(argument, ast.Constant):
            return argument
        value = cx.lazy(argument)
        array = of_tuple(cx, argument, value)
        value = value if array is None else array
        is_other = isinstance(value.type, Array) and value.type.rank != 1
        if name in vectors and is_other:
            shown = ast.unparse(node.func)
            raise array_errors.wrong_rank(
                cx.span(argument), shown, f"a vector for `{name}`", value.type
            )
        return cx.settled(argument, value)

    args = [as_array(*each) for each in zip(places, node.args, strict=False)]
    keywords = [
        ast.copy_location(ast.keyword(each.arg, as_array(each.arg, each.value)), each)
        for each in node.keywords
    ]
    call = ast.copy_location(ast.Call(node.func, args, keywords), node)
    return _of_plain_overload(cx, call, function)(cx, call)


def _of_plain_overload(cx: Context, node: ast.Call, function: Any) -> Meaning:
    if isinstance(function, Chooser):
        return partial(_chosen, function)
    if isinstance(function, FunctionType):
        return partial(function_call, function=function)
    return _meaning(cx, node, function)


def _chosen(chooser: Chooser, cx: Context, node: ast.Call) -> Value:
    function, call = choice(cx, node, chooser)
    return _of_overload(cx, call, function)(cx, call)


def is_plain(cx: Context, function: FunctionType) -> bool:
    """Whether a plain Python function is one that this one may call."""
    return not is_library(function) and is_compiled_with(cx.source.function, function)


def _function_value(cx: Context, node: ast.expr) -> Operand | None:
    """The function that is called, if it is a value of the program."""
    if isinstance(node, ast.Name):
        value = cx.scope.lookup(node.id)
        if isinstance(value, Unusable):
            raise value.error(cx.span(node))
        if value is None or not _is_callable_type(value.type):
            return None
        return cx.value(node)
    if isinstance(node, ast.Lambda | ast.Call | ast.Subscript | ast.IfExp):
        found = cx.value(node)
        is_record = has_method(found.type, "__call__")
        return found if is_record else function_of(cx, cx.settled(node, found))
    return None


def _is_callable_type(ty: Type) -> bool:
    return is_function(ty) or has_method(ty, "__call__")


def is_callable(value: Any) -> bool:
    """Whether an object from outside is a function that programs can call."""
    if isinstance(getattr(value, "py_func", None), FunctionType):
        return True
    found = transform_of(value) or gradient_from_outside(value)
    if found is not None or is_record(value):
        return True
    known = callable(value) and (known_function(value) or overloaded(value))
    is_vectorized = hasattr(value, SCALAR)
    return bool(known or is_vectorized or _container_function(value))


def _container_function(
    function: Any,
) -> Callable[[Context, ast.Call], Operand] | None:
    table = (
        *(*FUNCTIONS, (tuple, tuple_call), (next, next_call)),
        *((isinstance, instance_test), (print, show), (pause, paused)),
    )
    return next((t for known, t in table if function is known), None)


def _is_method(cx: Context, function: ast.Attribute) -> bool:
    """Whether this is an attribute of a value, not of a module or a class."""
    if cx.is_module(function.value) or _owner_class(cx, function) is not None:
        return False
    try:
        cx.static(function)
    except NotStatic:
        return True
    return False


def _owner_class(cx: Context, function: ast.Attribute) -> type | None:
    """The class that a function is an attribute of, of records or an ordinary one."""
    try:
        owner = cx.static(function.value)
    except NotStatic:
        return None
    return owner if is_record(owner) or is_users_class(owner) else None


def _method_call(cx: Context, node: ast.Call, function: ast.Attribute) -> Value:
    """A method of a record, or one of an array: NumPy's function of that name."""
    owner = cx.lazy(function.value)
    if is_union(owner.type) and not isinstance(owner, Delayed):
        check_members(cx, function, owner.type)
        settled = settled_call(cx, node)
        return by_case(cx, node, owner, lambda held: record_method(cx, settled, held))
    if is_record_value(owner):
        field = _function_field(cx, function, owner)
        if field is not None and is_function(field.type):
            return call_value(cx, node, field, call_outside)
        if field is not None:
            return record_method(cx, node, field, "__call__")
        try:
            return call_outside(cx, node, field_value(owner.type, function.attr))
        except NotStatic:
            pass
        return record_method(cx, node, owner)
    if not isinstance(owner, Delayed) and is_set(owner.type):
        if isinstance(node, Popped):
            return popped_from_set(cx, node, owner)
        return set_method(cx, node, owner, function.attr)
    if is_integral(owner) and function.attr in INTEGER_METHODS:
        return integer_method(cx, node, function.attr, owner)
    if is_number(owner.type) and function.attr == "item" and not node.args:
        return owner
    if function.attr == "copy" and may_be_list(cx, owner):
        check_settled(cx, node, owner)
        return _list_copy(cx, node, function, owner)
    method = METHODS.get(function.attr)
    if method is not None and is_number(owner.type):
        span = cx.span(function.value)
        raise call_errors.wrong_operand(span, function.attr, "an array", owner.type)
    if method is not None:
        is_name = isinstance(function.value, ast.Name)
        place = function.value if is_name else cx.settled(function.value, owner)
        return method.method_call(cx, node, place)
    of_list = getattr(list, function.attr, None) if may_be_list(cx, owner) else None
    meant = overloaded(of_list or getattr(np.ndarray, function.attr, None))
    if meant is not None and isinstance(owner.type, Array):
        place = cx.settled(function.value, owner)
        call = ast.Call(function, [place, *node.args], node.keywords)
        return _of_overload(cx, node, meant)(cx, ast.copy_location(call, node))
    if isinstance(node, Popped):
        place = node.args[0] if node.args else ast.Constant(-1)
        place = ast.copy_location(place, node)
        item = ast.Subscript(function.value, place, ast.Load())
        return cx.lazy(ast.copy_location(item, node))
    if function.attr in CHANGING:
        raise update_errors.list_method_value(cx.span(node), function.attr)
    ours = (t for t in provided() if isinstance(t, MethodDescriptorType))
    of_arrays = (t.__name__ for t in ours if t.__objclass__ is np.ndarray)
    names = (*METHODS, *sorted(of_arrays))
    raise array_errors.no_method(cx.span(function), owner.type, function.attr, names)


def _list_copy(
    cx: Context, node: ast.Call, function: ast.Attribute, owner: Value
) -> Value:
    """`xs.copy()` of a list, which is `xs[:]`."""
    if node.args or node.keywords:
        raise call_errors.wrong_argument_count(cx.span(node), "copy", "0 arguments")
    place = cx.settled(function.value, owner)
    whole = ast.Subscript(place, ast.copy_location(ast.Slice(), node), ast.Load())
    return cx.lazy(ast.copy_location(whole, node))


def _function_field(cx: Context, node: ast.Attribute, owner: Operand) -> Operand | None:
    """The field of a record, if it can be called."""
    ty = owner.type
    assert isinstance(ty, Product)
    if node.attr not in ty.names or reference_names(ty) is not None:
        return None
    index = ty.names.index(node.attr)
    if not _is_callable_type(ty.fields[index]):
        return None
    return cx.at(node).one(Proj(owner, index), node.attr)


def _callee(cx: Context, node: ast.Call) -> Any:
    """The object that is called, which stands outside the function."""
    span, name = cx.span(node.func), ast.unparse(node.func)
    try:
        return cx.static(node.func)
    except NotStatic:
        pass
    match node.func:
        case ast.Name(identifier) if not cx.is_local(identifier):
            raise name_errors.unknown_name(span, identifier, cx.names())
        case ast.Attribute(owner) if cx.is_module(owner):
            raise unknown_in_module(cx, node.func)
        case ast.Name(identifier) if cx.scope.lookup(identifier) is POISON:
            raise POISON.error(span)
        case _:
            raise call_errors.not_callable(span, name)


def _unknown(cx: Context, node: ast.Call, function: Any) -> Exception:
    span, name = cx.span(node.func), ast.unparse(node.func)
    if isinstance(function, FunctionType) and not is_library(function):
        return call_errors.not_jitted(span, name)
    if isinstance(vars(type(function)).get("__call__"), FunctionType):
        return name_errors.not_a_value(span, name, f"a `{type(function).__name__}`")
    if isinstance(function, ModuleType) or not callable(function):
        return call_errors.not_callable(span, name)
    if name.partition(".")[0] in ("np", "numpy"):
        ours = (getattr(target, "__name__", "") for target in provided())
        return array_errors.unknown_array_function(span, name, {*NAMES, *ours})
    is_class = isinstance(function, type) and function.__module__ != "builtins"
    return call_errors.unknown_function(span, name, is_class=is_class)
