"""Statements that pass arrays on, for programs of the campaign's generator.

They choose, swap, rebind, slice, capture and update arrays, in loops of as many steps
as there are elements. Arrays that are updated are different ones at all times.
"""

from __future__ import annotations

import inspect
from functools import partial

from tests.campaign.definitions import DEFINITIONS
from tests.campaign.table import STATEMENT, Emit, Row, Unsuitable
from tests.campaign.writer import Variable, Writer

DEFINITIONS["Holders"] = """
@dataclasses.dataclass(frozen=True)
class One:
    x: cl.f64[:]


@dataclasses.dataclass(frozen=True)
class Two:
    x: cl.f64[:]
    y: cl.f64[:]
"""
DEFINITIONS["walk"] = """
@cl.jit
def walk(p: cl.f64[:], q: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return p[i] * q[0]
    r = p if q[(i + depth) % len(q)] > 0.0 else q
    return 0.5 * walk(q, r, i, depth - 1) + p[i]
"""
DEFINITIONS["picked"] = """
@cl.jit
def picked(p: cl.f64[:], q: cl.f64[:], i: int, depth: int) -> cl.f64[:]:
    if depth == 0 or p[i] > q[i]:
        return p
    return picked(q, p, i, depth - 1)
"""
DEFINITIONS["ends"] = """
@cl.jit
def ends(w: cl.f64[:], depth: int) -> float:
    if depth == 0 or len(w) < 3:
        return np.sum(w[:1])
    return w[0] + ends(w[1:] if w[0] > w[1] else w[:-1], depth - 1)
"""
DEFINITIONS["down"] = """
@cl.jit
def down(p: cl.f64[:], q: cl.f64[:], i: int) -> float:
    if i <= 0:
        return p[0]
    if p[i] > q[i]:
        return 0.5 * down(q, p, i - 1) + p[i]
    return 0.25 * down(p, q, i - 1) + q[i - 1]
"""

STATEMENTS: list[Row] = []
# The statements of the campaign that programs of the sweep have more of, or less.
FAVOURS = {
    "element_update": 3.0,
    "recurrence": 2.0,
    "swapped_elements": 2.0,
    "array_of_ours": 2.0,
    "rebinding_of_an_array": 2.0,
    "loop_over_a_range": 0.5,
    "early_return": 0.2,
    "printing": 0.0,
    "raised": 0.0,
    "asserted": 0.0,
}


def _statement(make: Emit, weight: float = 12.0) -> Emit:
    text, name = inspect.getsource(make), make.__name__
    STATEMENTS.append(Row(name, name, STATEMENT, weight, make, text, -1))
    return make


def _passed(w: Writer, here: bool = False) -> list[Variable]:
    """Arrays that nobody updates; `here`: which may be assigned."""
    return [
        v
        for v in w.variables("vec")
        if not v.is_ours and not (here and (v.is_fixed or v.level != w.level))
    ]


def _array(w: Writer) -> str:
    rows = [f"{m.name}[{w.expr('index')}]" for m in w.variables("mat") if not m.is_ours]
    names = [v.name for v in _passed(w)] * 3
    if not (names or rows):
        raise Unsuitable
    return w.pick(*names, *rows)


def _state(w: Writer) -> str:
    found = _passed(w, here=True)
    if not found:
        raise Unsuitable
    return w.random.choice(found).name


def _index(w: Writer) -> str:
    """The number of a step, or what else is an index."""
    recent = w.variables("index")[-2:]
    return w.random.choice(recent).name if recent else w.expr("index")


def _test(w: Writer) -> str:
    by_element = f"{_array(w)}[{_index(w)}] > {w.expr('lit')}"
    return w.pick(by_element, by_element, f"{_index(w)} % 3 == 1", w.expr("test"))


def _sum(w: Writer, share: str) -> None:
    w.line(f"{w.a_variable('float', here=True)} += 0.25 * {share}")


@_statement
def states(w: Writer) -> None:
    """Names of their own for arrays, before a loop."""
    if w.loops:
        raise Unsuitable
    for _ in range(2):
        name = w.fresh("s")
        w.line(f"{name} = {_array(w)}")
        w.declare(name, "vec")


@partial(_statement, weight=80.0)
def loop_over_all(w: Writer) -> None:
    _looped(w, w.chance(0.3))


def _looped(w: Writer, is_while: bool) -> None:
    i, v = w.fresh("i"), w.a_variable("vec")
    if is_while:
        w.line(f"{i} = -1")
        w.line(f"while {i} < len({v}) - 1:")
    else:
        w.line(f"for {i} in range(len({v})):")
    with w.looped():
        if is_while:
            w.line(f"{i} += 1")
        w.declare(i, "index")
        w.scope[-1].is_fixed = True
        known = len(w.scope)
        for _ in range(w.random.randint(3, 6)):
            w.statement()
        _sum(w, f"{_array(w)}[{i}]")
        w.settle(known)


@_statement
def chosen(w: Writer) -> None:
    w.line(f"if {_test(w)}:")
    w.line(f"    {_state(w)} = {_array(w)}")
    if w.chance(0.4):
        w.line("else:")
        w.line(f"    {_state(w)} = {_array(w)}")


@_statement
def swapped(w: Writer) -> None:
    one, other = _state(w), _state(w)
    if one == other:
        raise Unsuitable
    w.line(f"if {_test(w)}:")
    w.line(f"    {one}, {other} = {other}, {one}")


@_statement
def exchanged(w: Writer) -> None:
    """Arrays that are updated change places."""
    one = w.a_variable("vec", ours=True, here=True)
    other = w.a_variable("vec", ours=True, here=True)
    if one == other:
        raise Unsuitable
    if w.chance(0.7):
        w.line(f"if {_test(w)}:")
        w.line(f"    {one}, {other} = {other}, {one}")
    else:
        w.line(f"{one}, {other} = {other}, {one}")
    w.line(f"{one}[{_index(w)}] = 0.5 * {other}[{w.expr('index')}] + {w.expr('float')}")


@_statement
def either(w: Writer) -> None:
    name = w.fresh("e")
    w.line(f"{name} = {_array(w)} if {_test(w)} else {_array(w)}")
    w.declare(name, "vec")
    _sum(w, f"{name}[{_index(w)}]")


@_statement
def sliced(w: Writer) -> None:
    """A window that moves on."""
    windows = [v for v in w.variables("part") if v.level == w.level and not v.is_fixed]
    if not windows or (w.chance(0.3) and not w.loops):
        name = w.fresh("w")
        w.line(f"{name} = {_array(w)}[{w.pick('1:', ':-1', '::2', '::-1', ':')}]")
        w.declare(name, "part")
        return
    name = w.random.choice(windows).name
    less = w.pick("[1:]", "[:-1]", "[1:-1]")
    w.line(f"{name} = {name}{less} if len({name}) > 4 and {_test(w)} else {_array(w)}")
    _sum(w, f"np.sum({name}[:1])")


@_statement
def part(w: Writer) -> None:
    known = w.variables("part")
    name = known[-1].name if known and w.loops and not known[-1].is_fixed else ""
    if not name or known[-1].level != w.level:
        raise Unsuitable
    cut = w.pick("[::-1]", f"[{_index(w)}:]", "[::2]", f"[:{_index(w)} + 1]")
    w.line(f"if {_test(w)}:")
    w.line(f"    {name} = {_array(w)}{cut}")


@_statement
def captured(w: Writer) -> None:
    """A function that holds an array; another one from some step on."""
    known = [v for v in w.variables("reader") if v.level == w.level]
    if not known:
        name, array = w.fresh("f"), _array(w)
        w.line(f"{name} = lambda j, v={array}: v[j]")
        w.declare(name, "reader")
    else:
        name = w.random.choice(known).name
        w.line(f"if {_test(w)}:")
        w.line(f"    {name} = lambda j, v={_array(w)}: v[j] * {w.expr('lit')}")
    _sum(w, f"{name}({_index(w)})")


@_statement
def held(w: Writer) -> None:
    """A union of records with arrays."""
    w.need("Holders")
    known = [v for v in w.variables("holder") if v.level == w.level]
    if not known:
        name = w.fresh("h")
        w.line(f"{name}: One | Two = One({_array(w)})")
        w.declare(name, "holder")
        return
    name, i = w.random.choice(known).name, _index(w)
    w.line(f"if {_test(w)}:")
    w.line(f"    {name} = Two({_array(w)}, {_array(w)})")
    w.line(f"elif {_test(w)}:")
    w.line(f"    {name} = One({_array(w)})")
    s = w.a_variable("float", here=True)
    w.line(f"match {name}:")
    w.line("    case One(x):")
    w.line(f"        {s} += 0.25 * x[{i}]")
    w.line("    case Two(x, y):")
    w.line(f"        {s} += 0.25 * x[{i}] * y[0]")


@_statement
def recorded(w: Writer) -> None:
    w.need("Holders")
    known = [v for v in w.variables("couple") if v.level == w.level]
    if not known:
        name = w.fresh("r")
        w.line(f"{name} = Two({_array(w)}, {_array(w)})")
        w.declare(name, "couple")
        return
    name = w.random.choice(known).name
    w.line(f"if {_test(w)}:")
    w.line(f"    {name} = Two({name}.y, {w.pick(_array(w), f'{name}.x')})")
    _sum(w, f"{name}.x[{_index(w)}] * {name}.y[0]")


@_statement
def optional(w: Writer) -> None:
    known = [v for v in w.variables("perhaps") if v.level == w.level]
    if not known:
        name = w.fresh("o")
        w.line(f"{name} = {_array(w)} if {_test(w)} else None")
        w.declare(name, "perhaps")
        return
    name = w.random.choice(known).name
    w.line(f"if {_test(w)}:")
    w.line(f"    {name} = {w.pick(_array(w), 'None')}")
    w.line(f"if {name} is not None:")
    w.line(f"    {w.a_variable('float', here=True)} += 0.5 * {name}[{_index(w)}]")


@_statement
def listed(w: Writer) -> None:
    name = w.fresh("v")
    w.line(f"for {name} in [{_array(w)}, {_array(w)}]:")
    w.line(
        f"    {w.a_variable('float', here=True)} += "
        f"0.25 * {name}[{_index(w)}] * {name}[0]"
    )


@_statement
def called(w: Writer) -> None:
    """Functions that call themselves, with arrays that they choose."""
    match w.random.randrange(4):
        case 0:
            w.need("walk")
            _sum(w, f"walk({_array(w)}, {_array(w)}, {_index(w)}, 2)")
        case 1:
            w.need("picked")
            w.line(f"{_state(w)} = picked({_array(w)}, {_array(w)}, {_index(w)}, 2)")
        case 2:
            w.need("ends")
            _sum(w, f"ends({w.expr('part')}, 2)")
        case _:
            if w.loops:
                raise Unsuitable
            w.need("down")
            array = _array(w)
            _sum(w, f"down({array}, {_array(w)}, len({array}) - 1)")


@_statement
def made_once(w: Writer) -> None:
    """An array that a step in all makes."""
    i = w.variables("index")
    if not w.loops or not i:
        raise Unsuitable
    made = w.pick("np.sin({0})", "0.5 * {0}", "{0} + {1}").format(_array(w), _array(w))
    w.line(f"if {i[-1].name} == {w.pick('2', '5', f'len({_array(w)}) // 2')}:")
    w.line(f"    {_state(w)} = {made}")
