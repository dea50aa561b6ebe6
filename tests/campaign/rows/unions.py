"""Unions: `match`, `isinstance`, None."""

from __future__ import annotations

from tests.campaign.table import expression, statement
from tests.campaign.writer import Writer


@expression("Sum types", "shape")
def member(w: Writer) -> str:
    w.need("Shape")
    return w.pick(
        f"Circle({w.expr('float')})",
        f"Rectangle({w.expr('float')}, {w.expr('float')})",
        f"Rectangle({w.expr('float')})",
    )


@expression("Sum types", "option")
def something_or_none(w: Writer) -> str:
    return f"({w.expr('float')} if {w.expr('test')} else None)"


@expression("Sum types", "float", 0.5)
def test_for_none(w: Writer) -> str:
    o = w.a_variable("option")
    return w.pick(
        f"({w.expr('float')} if {o} is None else {o})",
        f"({o} * {o} if {o} is not None else 0.5)",
    )


@expression("Sum types", "bool", 0.3)
def narrowed_by_and(w: Writer) -> str:
    o = w.a_variable("option")
    return f"({o} is not None and {o} > {w.expr('float')})"


@expression("Sum types", "float", 0.5)
def area_of_a_shape(w: Writer) -> str:
    w.need("Shape", "area")
    return f"area({w.expr('shape')})"


@expression("Sum types", "float", 0.4)
def generator_over_members(w: Writer) -> str:
    w.need("Shape")
    shapes = w.a_variable("shapes")
    return (
        f"sum(s.width * {w.expr('lit')} for s in {shapes} if isinstance(s, Rectangle))"
    )


@statement("Sum types", 1.0)
def union_kept(w: Writer) -> None:
    kind = w.pick("shape", "option")
    if kind == "shape":
        w.need("Shape")
    name = w.fresh("o")
    if w.chance(0.5):
        w.line(
            f"{name} = {w.expr(kind)}"
            if kind == "option"
            else f"{name}: Shape = {w.expr(kind)}"
        )
    else:
        w.line(f"if {w.expr('test')}:")
        first = "Circle({})" if kind == "shape" else "{}"
        w.line(f"    {name} = {first.format(w.expr('float'))}")
        w.line("else:")
        other = (
            "Rectangle(0.5, {})".format(w.expr("float")) if kind == "shape" else "None"
        )
        w.line(f"    {name} = {other}")
    w.declare(name, kind)


@statement("Sum types", 1.5)
def match_of_a_union(w: Writer) -> None:
    w.need("Shape")
    shape, found = w.a_variable("shape"), w.fresh("f")
    r = w.fresh("r")
    w.line(f"match {shape}:")
    with w.inside():
        if w.chance(0.4):
            w.line(f"case Circle({r}) if {r} > {w.expr('lit')}:")
            w.line(f"    {found} = 3.0 * {w.expr('float')}")
        w.line(f"case Circle({r}):")
        with w.inside():
            w.declare(r, "float")
            w.line(f"{found} = {r} * {w.expr('float')}")
        w.line(
            w.pick(f"case Rectangle({r}, height=tall):", "case _:", "case Rectangle():")
        )
        w.line(f"    {found} = {w.expr('float')}")
    w.declare(found, "float")


@statement("Sum types", 0.8)
def test_of_the_class(w: Writer) -> None:
    w.need("Shape")
    shape = w.a_variable("shape")
    target = w.a_variable("float", here=True)
    test = w.pick("Circle", "Circle | Rectangle", "(Circle,)")
    value = "0.5" if "|" in test else f"{shape}.radius"
    w.line(f"if isinstance({shape}, {test}):")
    w.line(f"    {target} = {value} * {w.expr('float')}")


@statement("Sum types", 0.8)
def best_so_far(w: Writer) -> None:
    best, v = w.fresh("o"), w.fresh("v")
    w.line(f"{best} = None")
    w.line(f"for {v} in {w.expr('part')}:")
    with w.looped():
        w.declare(v, "float")
        w.scope[-1].is_fixed = True
        value = w.expr("float")
        w.line(f"if {best} is None or {v} * {value} > {best}:")
        w.line(f"    {best} = {v} * {value}")
    w.declare(best, "option")
