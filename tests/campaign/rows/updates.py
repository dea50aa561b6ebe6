"""Updates in place, and functions that fill their arguments."""

from __future__ import annotations

from tests.campaign.table import statement
from tests.campaign.writer import Writer


@statement("Updating arrays", 3.0)
def array_of_ours(w: Writer) -> None:
    """A copy, to be updated later on."""
    kind = w.pick("vec", "vec", "mat")
    name = w.fresh("u")
    made = {
        "vec": (
            "{a}.copy()",
            "{a} * 0.5",
            "np.zeros(len({a}))",
            "np.array([v for v in {a}])",
        ),
        "mat": (
            "{a}.copy()",
            "{a} + 0.0",
            "np.zeros((len({a}), len({a})))",
            "np.tanh({a})",
        ),
    }[kind]
    w.line(f"{name} = {w.pick(*made).format(a=w.a_variable(kind))}")
    w.declare(name, kind, ours=True)


@statement("Updating arrays", 4.0)
def element_update(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    i = w.expr("index")
    value = w.expr("float")
    operator = (
        w.pick("=", "+=", "-=", "+=") if w.loops else w.pick("=", "+=", "-=", "*=")
    )
    w.line(f"{u}[{i}] {operator} {w.pick('', '0.5 * ')}{value}")


@statement("Updating arrays", 2.0)
def update_of_a_matrix(w: Writer) -> None:
    u = w.a_variable("mat", ours=True)
    match w.random.randrange(4):
        case 0:
            w.line(f"{u}[{w.expr('index')}, {w.expr('index')}] = {w.expr('float')}")
        case 1:
            w.line(f"{u}[{w.expr('index')}] = {w.expr('vec')}")
        case 2:
            w.line(f"{u}[:, {w.expr('index')}] {w.pick('+=', '=')} {w.expr('vec')}")
        case _:
            w.line(f"{u}[1:, :-1] = 0.5 * {u}[:-1, 1:]")


@statement("Updating arrays", 2.0)
def slice_assignment(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    low, high, step = w.expr("end"), w.expr("end"), w.pick("", "", ":2", ":-1")
    text = w.pick(
        f"{u}[{low}:{high}{step}] = {w.expr('float')}",
        f"{u}[{low}:{high}] {w.pick('+=', '*=')} {w.expr('lit')}",
        f"{u}[1:-1] = 0.25 * ({u}[:-2] + {u}[2:])",
        f"{u}[1:] = {u}[:-1]",
        f"{u}[:] = {w.expr('vec')}",
        f"{u}[::-1] = {u} * 0.5",
        f"{u} *= {w.expr('lit')}",
        f"{u} += {w.expr('vec')}",
        f"{u}.fill({w.expr('float')})",
    )
    w.line(text)


@statement("Updating arrays", 1.0)
def update_at_mask_or_places(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    text = w.pick(
        f"{u}[{u} > {w.expr('lit')}] = {w.expr('float')}",
        f"{u}[{w.expr('mask')}] *= 0.5",
        f"np.add.at({u}, {w.expr('ints')} % len({u}), {w.expr('vec')})",
        f"{u}[{w.expr('ints')} % len({u})] = 0.5",
    )
    w.line(text)


@statement("Updating arrays", 1.0)
def swapped_elements(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    i, j = w.expr("index"), w.expr("index")
    w.line(f"{u}[{i}], {u}[{j}] = {u}[{j}], {u}[{i}]")


@statement("Updating arrays", 1.5)
def recurrence(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    i = w.fresh("i")
    w.line(f"for {i} in range(1, len({u})):")
    with w.looped():
        w.declare(i, "index")
        w.scope[-1].is_fixed = True
        w.line(
            f"{u}[{i}] = 0.5 * {u}[{i} - 1] + {w.pick('', '0.3 * ')}{w.expr('float')}"
        )


@statement("Functions that fill their arguments", 1.2)
def call_that_fills(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    w.need("fill")
    part = w.pick("", "[1:]", "[::2]", "[:]", "[::-1]")
    w.line(f"fill({u}{part}, {w.expr('float')})")


@statement("Functions that fill their arguments", 1.0)
def call_that_updates(w: Writer) -> None:
    u, name = w.a_variable("vec", ours=True), w.fresh("s")
    w.need("decay")
    w.line(f"{name} = decay({u}, rate={w.expr('lit')})")
    w.declare(name, "float")


@statement("Functions that fill their arguments", 0.6)
def call_that_fills_a_row(w: Writer) -> None:
    u = w.a_variable("mat", ours=True)
    w.need("fill")
    row = f"{w.pick('', ':, ')}{w.expr('index')}"
    w.line(f"fill({u}[{row}], {w.expr('float')})")


@statement("Functions that fill their arguments", 0.5)
def sorted_in_place(w: Writer) -> None:
    u = w.a_variable("vec", ours=True)
    w.need("quicksort")
    w.line(f"quicksort({u}, 0, len({u}) - 1)")
