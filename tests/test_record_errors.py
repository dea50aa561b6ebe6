"""Arguments that are not the records asked for: the message names the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from test_records import (
    BODY,
    ROW,
    ROWS,
    Body,
    Line,
    Open,
    Pixel,
    Point,
    Sample,
    X,
    moment,
    same,
    total,
)

import chadllvm as cl


@cl.jit
def deep(params: dict[str, tuple[Body, list[Point]]], scale: float = 1.0) -> float:
    return scale * params["w"][0].mass + params["w"][1][0].x


@cl.jit
def line_at(line: Line, x: float) -> float:
    return line["slope"] * x + line["offset"]


@cl.jit
def sampled(samples: list[Sample]) -> float:
    return sum(sum(s.inputs) + s.points[0].x for s in samples)


@cl.jit
def grid(rows: list[list[Point]]) -> float:
    return rows[0][0].x


@cl.jit
def structured(rows: Annotated[np.ndarray, ROW], scale: float = 1.0) -> float:
    return scale * sum(rows["x"])


S = Sample(X, [Point(1.0)])


@pytest.mark.parametrize(
    ("function", "args", "error", "message"),
    [
        (moment, (Pixel(1.0),), TypeError, "body must be of class Body, found Pixel"),
        (moment, (Body((1.0, 2.0)),), TypeError, "body.at must be of class Point"),
        (moment, (Body(Point("a")),), TypeError, "body.at.x must be a float"),
        (moment, (Body(Point(1.0), tag=1.5),), TypeError, "body.tag must be an int"),
        (moment, (Body(Point(1.0), tag=2**70),), OverflowError, "body.tag"),
        (total, (Point(1.0),), TypeError, "points must be a list of Point, found"),
        (total, ((Point(1.0),),), TypeError, "points must be a list of Point, found"),
        (total, ([Point(1.0), Pixel(1.0)],), TypeError, "points[1] must be of class"),
        (total, ([Point(1.0), Point("1")],), TypeError, "points[1].x must be a float"),
        (
            deep,
            ({"w": (BODY, [Point(1.0), Point(None)])},),
            TypeError,
            'params["w"][1][1].x must be a float',
        ),
        (deep, ({"w": (BODY, [Pixel(1.0)])},), TypeError, "expected dict[str, ("),
        (
            deep,
            ({"w": (BODY, [BODY.at]), "v": 1.0},),
            TypeError,
            "parameter params is {",
        ),
        (line_at, ({"slope": 1.0}, 2.0), TypeError, "line has no key 'offset'"),
        (
            line_at,
            ({"slope": 1.0, "offset": 2.0, "end": 3.0}, 2.0),
            TypeError,
            "line has the key 'end', which is not expected",
        ),
        (line_at, ((1.0, 2.0), 2.0), TypeError, "line must be a dictionary with the"),
        (
            sampled,
            ([S, S, S._replace(inputs=np.zeros(3))],),
            ValueError,
            "samples[2].inputs has shape (3,), but samples[0].inputs has (2,)",
        ),
        (
            sampled,
            ([S, S._replace(points=[Point(1.0)] * 2)],),
            ValueError,
            "samples[1].points has shape (2,), but samples[0].points has (1,)",
        ),
        (sampled, ([S, S._replace(inputs=1.0)],), TypeError, "samples[1].inputs"),
        (
            grid,
            ([[Point(1.0)], [Point(1.0), Point(2.0)]],),
            ValueError,
            "rows[1] has 2 items, but rows[0] has 1",
        ),
        (grid, ([[Point(1.0)], Point(1.0)],), TypeError, "rows[1] must be a list of"),
        (grid, ([[Point(1.0), 3]],), TypeError, "rows[0][1] must be of class Point"),
        (structured, (ROWS["x"],), TypeError, "rows is f64[:]; expected row{"),
        (structured, ([Point(1.0)],), TypeError, "parameter rows is Point[:]"),
        (same, ([1.0, 2.0],), TypeError, "by np.asarray"),
        (
            same,
            ([Point(1.0), (1.0, 2.0)],),
            TypeError,
            "x[1] is tuple[float, float], unlike",
        ),
        (same, ([(1.0, 2), (1.0,)],), TypeError, "x[1] is tuple[float], unlike"),
        (same, ({"a": {"b": ["c"]}},), TypeError, 'x["a"]["b"][0] must be a number'),
        (same, ({1: 2.0},), TypeError, "parameter x must be a number"),
        (same, ({},), TypeError, "parameter x must be a number"),
        (same, (Open(X, "a"),), TypeError, "x.other must be a number"),
        (same, (np.zeros(2, [("a", "c16")]),), TypeError, "its field 'a' has dtype"),
        (same, (np.zeros(2, [("a", "U3")]),), TypeError, "its field 'a' has dtype"),
    ],
)
def test_wrong_arguments(
    function: Any, args: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    runs: list[Callable[..., Any]] = [function]
    if function is not same:
        runs += [cl.grad(function), cl.jit(function.py_func, optimize=0)]
    for run in runs:
        with pytest.raises(error, match=re.escape(message)):
            run(*args)


def test_classes_that_cannot_be_records() -> None:
    class Named(NamedTuple):
        name: str

    class Plain:
        x = 1.0

    with pytest.raises(
        TypeError, match="field `name` of Named is annotated with `str`"
    ):
        same(Named("a"))
    with pytest.raises(TypeError, match="list of records, found Plain"):
        same([Plain()])
    with pytest.raises(cl.CompileError, match="CL0918"):
        same(Plain())  # An object, of which there are fields only.


def test_dictionaries_in_any_order_for_an_annotation() -> None:
    given = {"offset": 1, "slope": 2.0}
    assert line_at(given, 3.0) == 7.0
    assert cl.grad(line_at)(given, 3.0) == {"slope": 3.0, "offset": 1.0}

    @cl.jit
    def turned(x: float) -> float:
        return line_at({"offset": 1, "slope": x}, 3.0)

    assert turned(2.0) == 7.0
    assert cl.grad(turned)(2.0) == 3.0
