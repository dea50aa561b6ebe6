"""Records, their methods and operators, lists of them, dictionaries."""

from __future__ import annotations

from tests.campaign.table import Unsuitable, calls, expression, statement
from tests.campaign.writer import Writer


def _needing(
    need: str, section: str, kind: str, weight: float, *templates: str
) -> None:
    """Rows that need a class."""
    from tests.campaign.table import filled

    for template in templates:
        fill = filled(template)

        def make(w: Writer, fill: object = fill) -> str:
            w.need(need)
            return fill(w)  # type: ignore[operator]

        make.__name__ = template
        expression(section, kind, weight)(make)


_needing(
    "Point",
    "Records",
    "point",
    1.0,
    "Point({float}, {float})",
    "Point(y={float}, x=0.5)",
    "{point}._replace(y={float})",
    "({point} if {test} else {point})",
    "{point}.turned({float})",
)
_needing(
    "Point",
    "Records",
    "float",
    0.5,
    "{point}.x",
    "{point}.norm()",
    "{point}[1]",
    "Point.unit().x * {float}",
)
_needing(
    "Body",
    "Records",
    "body",
    1.0,
    "Body({point}, {float})",
    "Body({point}, mass={float}, number={int})",
    "dataclasses.replace({body}, mass={float})",
    "dataclasses.replace({body}, at={point})",
)
_needing("Body", "Records", "float", 0.4, "{body}.mass", "{body}.at.y", "{body}.weight")
_needing("Body", "Records", "int", 0.2, "{body}.number")
_needing("Body", "Records", "point", 0.5, "{body}.at")
_needing(
    "Spin",
    "Records",
    "spin",
    1.0,
    "Spin({float}, {float})",
    "({spin} * {spin})",
    "({lit} * {spin})",
    "({spin} + {spin})",
    "(-{spin})",
)
_needing("Spin", "Records", "float", 0.3, "{spin}.real", "{spin}.imaginary")
_needing(
    "Point",
    "Lists of records, structured arrays",
    "float",
    0.5,
    "{points}[{small} % len({points})].x",
    "sum(q.x * q.y for q in {points})",
)
_needing(
    "Point",
    "Lists of records, structured arrays",
    "points",
    1.0,
    "[Point(v, 0.5) for v in {vec}]",
    "[Point({float}, {float}), {point}]",
    "[q._replace(x=0.5 * q.y) for q in {points}]",
)
_needing(
    "Entries",
    "Dictionaries",
    "entries",
    1.0,
    '{"w": {vec} * 1.0, "scale": {float}}',
    "dict(w=0.5 * {vec}, scale={float})",
    '{**{entries}, "scale": {float}}',
)
_needing(
    "Entries",
    "Dictionaries",
    "float",
    0.4,
    '{entries}["scale"]',
    'np.sum({entries}["w"])',
)
_needing("Entries", "Dictionaries", "vec", 0.3, '{entries}["w"]')
_needing(
    "Entries",
    "Dictionaries",
    "float",
    0.2,
    "sum(np.sum(v * np.ones(1)) for v in {entries}.values())",
    'sum(v for k, v in {entries}.items() if k != "w")',
    "max([np.sum(v * np.ones(1)) for k, v in sorted({entries}.items())])",
)
_needing(
    "Entries",
    "Dictionaries",
    "entries",
    0.3,
    "{name: entry * {float} for name, entry in {entries}.items()}",
)
_needing(
    "Oscillator",
    "Methods, partials, objects that can be called",
    "float",
    0.4,
    "OSCILLATOR.potential({float})",
)
calls(
    "Methods, partials, objects that can be called",
    "float",
    "{object}.potential({float})",
    "{object}.stiffness",
    "np.sum({object}.forces)",
    weight=0.5,
)
calls(
    "Lists of records, structured arrays",
    "float",
    'sum({rows}["x"] * {rows}["count"])',
    '{rows}[{small} % 3]["x"]',
    'np.sum({rows}["x"])',
    weight=0.5,
)


@statement("Records", 1.5)
def record_kept(w: Writer) -> None:
    kind = w.pick("point", "body", "spin", "entries", "points")
    w.need(
        *{
            "point": ("Point",),
            "body": ("Body",),
            "spin": ("Spin",),
            "entries": ("Entries",),
            "points": ("Point",),
        }[kind]
    )
    name = w.fresh(kind[0])
    w.line(f"{name} = {w.expr(kind)}")
    w.declare(name, kind)


@statement("Records", 0.6)
def record_carried(w: Writer) -> None:
    kind = w.pick("point", "spin", "body")
    name = w.a_variable(kind, here=True)
    text = {
        "point": f"{name}._replace(x=0.5 * {name}.x + {w.expr('float')})",
        "spin": f"0.5 * {name} + {w.expr('spin')}",
        "body": f"dataclasses.replace({name}, mass=0.5, at={w.expr('point')})",
    }[kind]
    w.line(f"{name} = {text}")


@statement("Lists of records, structured arrays", 0.6)
def loop_over_records(w: Writer) -> None:
    if not w.variables("points"):
        raise Unsuitable
    p = w.fresh("p")
    w.line(f"for {p} in {w.a_variable('points')}:")
    with w.looped():
        w.declare(p, "point")
        w.scope[-1].is_fixed = True
        w.statement()


@statement("Dictionaries", 0.4)
def loop_over_entries(w: Writer) -> None:
    w.need("Entries")
    total, key, value = w.fresh("t"), w.fresh("k"), w.fresh("v")
    w.line(f"{total} = {w.expr('float')}")
    w.line(f"for {key}, {value} in {w.expr('entries')}.items():")
    with w.looped():
        if w.chance(0.5):
            w.line(f"if {key} == {w.pick(repr('w'), repr('scale'))}:")
            w.line(f"    {w.pick('continue', 'break')}")
        w.line(f"{total} += np.sum({value} * np.ones(1)) * {w.expr('float')}")
    w.declare(total, "float")


@statement("Fields and entries that are assigned", 0.6)
def fields_assigned(w: Writer) -> None:
    w.need("Ball")
    ball, total = w.fresh("b"), w.fresh("t")
    w.line(f"{ball} = Ball({w.expr('float')}, speed={w.expr('float')})")
    w.line(f"{total} = {ball}.energy(0.5)")
    w.line(f"for {w.fresh('i')} in range({w.pick('0', '3')}):")
    with w.looped():
        w.line(f"{ball}.speed {w.pick('-=', '+=')} 0.1 * {ball}.height")
        w.line(
            w.pick(
                f"{ball}.height = 0.5 * {ball}.height + {w.expr('float')}",
                f"{ball}.height, {ball}.speed = {ball}.speed, 0.5 * {ball}.height",
            )
        )
        w.line(f"{total} += {ball}.energy({w.expr('float')})")
    w.declare(total, "float")


@statement("Fields and entries that are assigned", 0.6)
def fields_assigned_by_calls(w: Writer) -> None:
    w.need("Ball", "thrown")
    ball, total = w.fresh("b"), w.fresh("t")
    w.line(f"{ball} = Ball({w.expr('float')}, {w.expr('float')})")
    w.line(f"{total} = 0.5 * {ball}.kick({w.expr('float')})")
    w.line(f"for {w.fresh('i')} in range({w.pick('0', '3')}):")
    with w.looped():
        count = w.pick("0", "2")
        w.line(w.pick(f"thrown({ball}, {count})", f"{ball} = thrown({ball}, {count})"))
        w.line(f"{total} += {ball}.kick({w.expr('float')}) - {ball}.height")
    if w.chance(0.5):
        w.line(f"{total} -= thrown(Ball({total}), 2).speed")
    w.declare(total, "float")


@statement("Fields and entries that are assigned", 0.5)
def entries_assigned(w: Writer) -> None:
    entries, total = w.fresh("d"), w.fresh("t")
    w.line(f'{entries} = {{"w": {w.expr("vec")} * 1.0, "k": {w.expr("float")}}}')
    w.line(f"for {w.fresh('i')} in range({w.pick('1', '3')}):")
    with w.looped():
        w.line(f'{entries}["k"] {w.pick("-=", "+=")} 0.1 * np.sum({entries}["w"])')
        w.line(f'{entries}["w"] = 0.5 * {entries}["w"] + {w.expr("float")}')
    w.line(f'{total} = {entries}["k"] + np.sum({entries}["w"])')
    w.declare(total, "float")
