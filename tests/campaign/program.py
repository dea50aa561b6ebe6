"""A seed → the text of a whole program, with its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.campaign import rows  # noqa: F401  # The rows enter themselves.
from tests.campaign.definitions import DEFINITIONS, HEAD, with_needs
from tests.campaign.inputs import Inputs
from tests.campaign.kinds import ANNOTATIONS, BARE, CLASSES, SHARES
from tests.campaign.table import Row, Unsuitable
from tests.campaign.writer import THEMES, Writer, marks, unmarked

ALWAYS = (("x", "float"), ("y", "float"), ("k", "int"), ("a", "vec"))
OFTEN = (
    *(("b", "vec"), ("m", "mat"), ("ids", "ints"), ("on", "mask"), ("flag", "bool")),
    *(("g", "f32"), ("h", "vec32"), ("p", "point"), ("body", "body"), ("s", "shape")),
    *(("o", "option"), ("xs", "ragged"), ("d", "entries"), ("t", "tree")),
    *(("ps", "points"), ("ss", "shapes"), ("z", "spin"), ("c", "chain")),
    *(("pair", "pair"), ("table", "rows"), ("spring", "object")),
)
COMMON = frozenset(("vec", "mat", "ints", "mask"))
LISTS = frozenset(("points", "shapes", "ragged", "rows"))
RECURSIVE = frozenset(("tree", "chain"))
APART = {kind: LISTS for kind in RECURSIVE} | {kind: RECURSIVE for kind in LISTS}
RESULTS = ("float", "vec", "int", "bool", "mat", "part", "pair", "ints", "mask", "rect")


@dataclass(frozen=True)
class Program:
    """The text of a module with a function `f`, its `ARGS`, and `FLAGS`; see `load`.

    constructs: the rows of the table that it is made of.
    flags: "alias" where another name of an array may still be read, which is refused;
        "hides" where differences do not show the slopes; "derivatives" where the
        program takes some itself; "sizes" where arrays of several sizes are listed.
    """

    seed: int
    text: str
    constructs: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Style:
    """What programs are like.

    params: those that many have, beside `ALWAYS`.
    hostile: the share of programs with strange arguments.
    plain: the share of programs without a theme.
    fuels, depths: how long they are, and how deep expressions are.
    favours: factors of the weights of statements.
    more: statements that are no rows of the table.
    results: what they return; drawn where it is empty.
    shares: how what a block has made has its share in what is outside of it.
    """

    params: tuple[tuple[str, str], ...] = OFTEN
    hostile: float = 0.25
    plain: float = 0.75
    fuels: tuple[int, ...] = (20, 30, 50, 90)
    depths: tuple[int, ...] = (1, 2, 2, 3, 4)
    favours: Mapping[str, float] = field(default_factory=dict)
    more: Sequence[Row] = ()
    results: tuple[str, ...] = ()
    shares: Mapping[str, str] = field(default_factory=lambda: SHARES)


USUAL = Style()


def written(seed: int, style: Style = USUAL) -> Program:
    """The program of a seed."""
    attempt = 0
    while True:
        try:
            return _attempt(seed, Random(seed * 1000 + attempt), style)
        except Unsuitable:
            attempt += 1


def _attempt(seed: int, random: Random, style: Style) -> Program:
    inputs, w = Inputs(random, style.hostile), Writer(random)
    w.leave_out({theme for theme in THEMES if random.random() < style.plain})
    w.favour(style.favours, style.more)
    params = [*ALWAYS]
    for name, kind in style.params:
        # Gradients by recursive data and by lists are not of one call.
        apart = {known for _, known in params} & APART.get(kind, frozenset())
        apart |= {kind} & w.left_out
        if not apart and random.random() < (0.6 if kind in COMMON else 0.12):
            params.append((name, kind))
    if style.results:
        w.results = style.results
    elif random.random() < 0.4:
        w.results = tuple(random.choices(RESULTS, k=random.randint(1, 3)))
        w.results += ("float",) * (len(w.results) > 1)
    w.fuel = random.choice(style.fuels)
    values = []
    for name, kind in params:
        if kind in CLASSES:
            w.need(CLASSES[kind])
        values.append(inputs.text(kind))
        inputs.alias = "A" if kind == "vec" else inputs.alias
        w.declare(name, kind)
    w.depth, w.shares = random.choice(style.depths), style.shares
    body = _body(w, random)
    names = [name for name, _ in params]
    text = _module(w, params, _aliased(names, values), body)
    return Program(seed, unmarked(text), frozenset(w.used | marks(text)))


def _aliased(names: list[str], values: list[str]) -> list[str]:
    """The first array has a name, for other arguments to be the same one."""
    return [
        *values[: names.index("a")],
        f"(A := {values[names.index('a')]})",
        *values[names.index("a") + 1 :],
    ]


def _body(w: Writer, random: Random) -> list[str]:
    for _ in range(random.randint(2, 7)):
        w.statement()
    w.line(f"return {_returned(w)}")
    return w.lines


def _returned(w: Writer) -> str:
    """The result, in which the latest variables have their share."""
    if w.results[-1] != "float":
        return w.result()
    latest = [v for v in w.scope if v.kind in SHARES][-5:]
    shares = [SHARES[v.kind].format(v.name) for v in latest]
    whole = " + ".join([w.expr("float"), *shares])
    parts = [w.expr(kind) for kind in w.results[:-1]]
    return f"({', '.join([*parts, whole])})" if parts else whole


def _module(
    w: Writer, params: list[tuple[str, str]], values: list[str], body: list[str]
) -> str:
    given = [n if k in BARE else f"{n}: {ANNOTATIONS[k]}" for n, k in params]
    result = " -> float" if w.results == ("float",) else ""
    head = f"@cl.jit\ndef f({', '.join(given)}){result}:"
    args = ",\n".join(f"    {value}" for value in values)
    flags = ", ".join(map(repr, sorted(w.flags)))
    tail = f"ARGS = (\n{args},\n)\nFLAGS = frozenset(({flags}{',' if flags else ''}))\n"
    text = "\n".join([head, *body, "", "", tail])
    defined = [DEFINITIONS[name] for name in with_needs(w.needs, unmarked(text))]
    return "\n".join([HEAD, *defined, "", text])
