"""Statements: assignments, branches, loops and the ways out of them."""

from __future__ import annotations

from tests.campaign.kinds import ANNOTATIONS
from tests.campaign.table import Unsuitable, statement
from tests.campaign.writer import Writer

NUMBERS = ("float", "float", "float", "int", "bool", "pair")
VALUES = (
    "float",
    "float",
    "vec",
    "vec",
    "mat",
    "int",
    "part",
    "rect",
    "ints",
    "mask",
    "bool",
    "pair",
)


@statement("Statements", 6.0)
def assignment(w: Writer) -> None:
    kind = w.pick(*VALUES)
    text = w.kept(kind)
    name = w.fresh(kind[0])
    w.line(f"{name} = {text}")
    w.declare(name, kind, ours=text.endswith(".copy()"))


@statement("Statements", 4.0)
def rebinding(w: Writer) -> None:
    """The sum of a loop, a state that is carried."""
    name = w.a_variable("float", "float", "int", here=True)
    kind = next(v.kind for v in w.scope if v.name == name)
    text = w.expr(kind)
    if w.loops:
        text = f"0.5 * ({text})" if kind == "float" else f"({text}) % 11"
    w.line(f"{name} = {text}")


@statement("Statements", 2.0)
def rebinding_of_an_array(w: Writer) -> None:
    name = w.a_variable("vec", "mat", here=True)
    kind = next(v.kind for v in w.scope if v.name == name)
    text = f"0.5 * {w.expr(kind)} + {w.expr('float')}"
    w.line(f"{name} = {text}")
    for variable in w.scope:
        if variable.name == name and not w.loops and w.indent == 1:
            variable.is_ours = True


@statement("Statements", 3.0)
def augmented(w: Writer) -> None:
    name = w.a_variable("float", here=True)
    operator = w.pick("+=", "+=", "-=", "*=") if not w.loops else w.pick("+=", "-=")
    w.line(f"{name} {operator} {w.pick('0.5 * ', '')}{w.expr('float')}")


@statement("Statements", 0.7)
def augmented_integer(w: Writer) -> None:
    name = w.a_variable("int", here=True)
    w.line(f"{name} {w.pick('+=', '-=', '^=', '|=', '//=', '%=')} {w.expr('small1')}")


@statement("Statements", 1.0)
def swap(w: Writer) -> None:
    kind = w.pick("float", "vec", "mat", "int")
    one, other = w.a_variable(kind, here=True), w.a_variable(kind, here=True)
    if one == other:
        raise Unsuitable
    _pass_on(w, one, other)
    w.line(f"{one}, {other} = {other}, {one}")


@statement("Updating arrays", 1.0)
def choice_of_arrays(w: Writer) -> None:
    """An array under another name in a branch, and an update of it."""
    kind = w.pick("vec", "mat")
    one, other = w.a_variable(kind, here=True), w.a_variable(kind, here=True)
    name = w.fresh("c")
    w.flags.add("alias")
    test = w.expr("test")
    w.line(f"if {test}:")
    w.line(f"    {name} = {one}")
    w.line("else:")
    w.line(f"    {name} = {w.pick(other, f'{one} * 0.5', f'{other}.copy()')}")
    if w.chance(0.5):
        w.line(f"{name} = {name}.copy()")
        w.line(f"{name}[{w.expr('index')}] = {w.expr('float')}")
    for variable in w.scope:
        if variable.name in (one, other):
            variable.is_fixed = True
    w.declare(name, kind)


def _pass_on(w: Writer, *names: str) -> None:
    """What is swapped may be one array: it is not updated any more."""
    for variable in w.scope:
        if variable.name in names and variable.kind in ("vec", "mat"):
            w.flags.add("alias")


@statement("Statements", 0.4)
def starred(w: Writer) -> None:
    one, rest = w.fresh("p"), w.fresh("p")
    source = w.pick(
        f"[{w.expr('float')}, {w.expr('float')}, 0.5]",
        f"({w.expr('float')}, {w.expr('float')})",
        f"[1.0] + {w.expr('list')}",
    )
    w.line(w.pick(f"{one}, *{rest} = {source}", f"*{rest}, {one} = {source}"))
    w.declare(one, "float")
    w.declare(rest, "list")


@statement("Statements", 0.7)
def unpacking(w: Writer) -> None:
    one, other = w.fresh("p"), w.fresh("p")
    source = w.pick(
        w.expr("pair"),
        f"{w.expr('float')}, {w.expr('float')}",
        "np.array([0.5, 0.25])",
        f"({w.expr('vec')})[:2]",
    )
    target = w.pick(f"{one}, {other}", f"({one}, {other})")
    w.line(f"{target} = {source}")
    w.declare(one, "float")
    w.declare(other, "float")


@statement("Statements", 0.5)
def annotated(w: Writer) -> None:
    kind = w.pick("float", "int", "vec")
    name = w.fresh("n")
    w.line(f"{name}: {ANNOTATIONS[kind]} = {w.kept(kind)}")
    w.declare(name, kind)


@statement("Statements", 3.0)
def branch(w: Writer) -> None:
    w.line(f"if {w.expr('test')}:")
    w.block()
    while w.chance(0.2):
        w.line(f"elif {w.expr('test')}:")
        w.block(2)
    if w.chance(0.6):
        w.line("else:")
        w.block()


@statement("Statements", 1.0)
def definition_in_branches(w: Writer) -> None:
    kind, name = w.pick("float", "vec", "int", "mat"), w.fresh("d")
    w.line(f"if {w.expr('test')}:")
    with w.inside():
        w.statement()
        w.line(f"{name} = {w.kept(kind)}")
    w.line("else:")
    with w.inside():
        w.line(f"{name} = {w.kept(kind)}")
    w.declare(name, kind)


@statement("Sum types", 0.8)
def match_of_numbers(w: Writer) -> None:
    w.line(f"match {w.expr('int')} % 4:")
    with w.inside():
        for pattern in ("0", w.pick("1 | 2", "1")):
            w.line(f"case {pattern}:")
            w.block(1)
        if w.chance(0.7):
            name = w.fresh("k")
            w.line(w.pick("case _:", f"case {name} if {name} > {w.expr('small')}:"))
            w.block(1)


@statement("Statements", 3.0)
def loop_over_a_range(w: Writer) -> None:
    limits = w.pick(
        "{s}", "{s}", "1, 5", "{s}, 0, -1", "0, 6, 2", "len({v})", "k % 5", "4"
    ).format(s=w.expr("small"), v=w.a_variable("vec"))
    name = w.fresh("i")
    kind = "index" if "len" in limits else "int"
    w.line(f"for {name} in range({limits}):")
    _body(w, (name, kind))


@statement("Comprehensions and loops", 2.0)
def loop_over_an_array(w: Writer) -> None:
    name = w.fresh("v")
    source = w.kept(w.pick("vec", "part"))
    w.line(f"for {name} in {w.pick('{}', 'reversed({})').format(source)}:")
    _body(w, (name, "float"))


@statement("Comprehensions and loops", 1.0)
def loop_over_rows(w: Writer) -> None:
    name = w.fresh("r")
    w.line(f"for {name} in {w.kept('mat')}:")
    _body(w, (name, "vec"))


@statement("Comprehensions and loops", 1.5)
def loop_over_enumerate_and_zip(w: Writer) -> None:
    one, other = w.fresh("e"), w.fresh("e")
    a, b = w.kept("vec"), w.kept("vec")
    match w.random.randrange(4):
        case 0:
            w.line(f"for {one}, {other} in enumerate({a}):")
            _body(w, (one, "index"), (other, "float"))
        case 1:
            w.line(f"for {one}, {other} in zip({a}, {b}, strict=True):")
            _body(w, (one, "float"), (other, "float"))
        case 2:
            w.line(f"for {one}, {other} in zip({a}, range(9)):")
            _body(w, (one, "float"), (other, "int"))
        case _:
            w.line(f"for {one} in ({w.expr('float')}, {w.expr('float')}, 0.5):")
            _body(w, (one, "float"))


@statement("Comprehensions and loops", 0.8)
def loop_whose_steps_define(w: Writer) -> None:
    """What each step defines, and the last index, are read behind the loop."""
    kind, name, index = (
        w.pick("float", "vec", "int", "pair"),
        w.fresh("d"),
        w.fresh("i"),
    )
    limit = w.pick("4", "1 + {s}", "{s}", "len({v})").format(
        s=w.expr("small"), v=w.a_variable("vec")
    )
    w.line(f"for {index} in range({limit}):")
    with w.looped():
        w.declare(index, "int")
        w.scope[-1].is_fixed = True
        w.line(f"{name} = {w.kept(kind)}")
        _steps(w)
    w.declare(name, kind)
    w.declare(index, "int")


@statement("Control flow", 2.0)
def loop_with_a_test(w: Writer) -> None:
    name = w.fresh("w")
    w.line(f"{name} = {w.expr('float')}")
    w.declare(name, "float")
    fuel = w.fresh("fuel")
    w.line(f"{fuel} = {w.random.randint(2, 9)}")
    test = w.pick(f"abs({name}) > 0.05 and {fuel} > 0", f"{fuel} > 0", fuel)
    w.line(f"while {test}:")
    with w.looped():
        w.line(f"{fuel} -= 1")
        w.line(f"{name} = 0.5 * {name}{w.pick('', f' + 0.1 * math.sin({name})')}")
        _steps(w)
    _otherwise(w)


def _body(w: Writer, *bound: tuple[str, str]) -> None:
    with w.looped():
        for name, kind in bound:
            w.declare(name, kind)
            w.scope[-1].is_fixed = True
        _steps(w)
    _otherwise(w)


def _steps(w: Writer) -> None:
    known = len(w.scope)
    for _ in range(w.random.randint(1, 3)):
        w.statement()
    if w.chance(0.3):
        w.line(f"if {w.expr('test')}:")
        exit_ = w.pick("break", "break", "continue", "return")
        w.line(f"    {exit_ if exit_ != 'return' else f'return {w.result()}'}")
        w.statement()
    w.settle(known)


def _otherwise(w: Writer) -> None:
    if w.chance(0.15):
        w.line("else:")
        w.block(2)


@statement("Control flow", 0.8)
def early_return(w: Writer) -> None:
    w.line(f"if {w.expr('test')}:")
    w.line(f"    return {w.result()}")


@statement("Control flow", 0.3)
def raised(w: Writer) -> None:
    error = w.pick("ValueError", "ArithmeticError", "KeyError", "RuntimeError")
    message = w.pick("'too large'", f"f'at {{{w.a_variable('float', 'int')}}}'")
    w.line(f"if {w.expr('float')} > {w.pick('3.0', '1e3')}:")
    w.line(f"    raise {error}({message})")


@statement("Control flow", 0.3)
def asserted(w: Writer) -> None:
    w.line(f"assert {w.expr('float')} < {w.pick('4.0', '1e6')}, 'too large'")


@statement("Printing", 0.15)
def printing(w: Writer) -> None:
    kinds = [w.pick("float", "int", "bool", "vec", "mat") for _ in range(2)]
    first, second = map(w.expr, kinds)
    shown = w.pick(f"{first}, {second}", f"({first}, {second})", f"[{w.expr('float')}]")
    w.line(f"print('shown', {shown}, sep=', ')")
