"""Records, dictionaries, lists of them: what goes in and comes out.

Values and derivatives of programs over records are checked with the rest of the corpus
(`programs/records.py`); here is how containers are taken and given back, and refused.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

import chadllvm as cl

T = TypeVar("T")


class Point(NamedTuple):
    x: float
    y: float = 0.5

    def norm(self) -> float:
        return math.hypot(self.x, self.y)


class Pixel(NamedTuple):
    x: float
    y: float = 0.5


@dataclass(frozen=True, slots=True)
class Body:
    at: Point
    mass: float = 1.0
    tag: int = 0


@dataclass(frozen=True)
class Checked:
    """Its constructor refuses what a gradient may well be."""

    mass: float

    def __post_init__(self) -> None:
        if self.mass <= 0.0:
            raise ValueError("a mass is positive")


class Open(NamedTuple):
    values: np.ndarray
    other: Any = 0.0


class Cloud(NamedTuple):
    """With a field that says all of its type, and one that leaves it open."""

    points: list[Point]
    weights: NDArray[np.float64]


class Pair(NamedTuple, Generic[T]):
    first: T
    second: T


class Sample(NamedTuple):
    inputs: cl.f64[:]
    points: list[Point]
    count: int = 1


class Line(TypedDict):
    slope: float
    offset: float


ROW = np.dtype([("x", float), ("n", np.int64), ("v", float, (2,))])
BIG = np.dtype([("x", ">f8"), ("n", ">i8"), ("v", ">f8", (2,))])
ROWS = np.array([(1.0, 2, (0.5, 1.5)), (2.0, 3, (2.5, 0.5))], ROW)
BODY = Body(Point(3.0, 4.0), 2.0, 7)
X = np.array([1.0, 2.0])


@cl.jit
def same(x):
    return x


@cl.jit
def moment(body: Body, scale: float = 1.0) -> float:
    return body.mass * body.at.norm() * scale


@cl.jit
def total(points: list[Point]) -> float:
    return sum(p.x * p.y for p in points)


# ---- the same container comes back


@pytest.mark.parametrize(
    "value",
    [
        Point(1.0, 2.0),
        BODY,
        Checked(2.0),
        Pair(1.0, 2),
        Pair(Point(1.0), Point(2.0)),
        {"w": 1.0, "b": True},
        {"b": True, "w": 1.0},
        (Point(1.0), {"a": (BODY, 2)}),
        [Point(1.0), Point(2.0)],
        [BODY, dataclasses.replace(BODY, tag=9)],
        [(1.0, 2), (2.0, 3)],
        [{"a": 1.0}, {"a": 2.0}],
        [[Point(1.0), Point(2.0)], [Point(3.0), Point(4.0)]],
        [(Point(1.0), True), (Point(2.0), False)],
    ],
    ids=repr,
)
def test_containers_come_back(value: Any) -> None:
    for function in (same, cl.jit(same.py_func, optimize=0)):
        found = function(value)
        assert found == value
        assert repr(found) == repr(value)


def test_arrays_in_containers_come_back() -> None:
    found = same({"open": Open(X, Open(2 * X, True)), "n": 2})
    assert list(found) == ["open", "n"] and type(found["open"].other) is Open
    assert (found["open"].values == X).all()
    assert (found["open"].other.values == 2 * X).all()
    assert found["open"].other.other is True


def test_lists_with_arrays_and_lists_come_back() -> None:
    samples = [
        Sample(X, [Point(1.0), Point(2.0), Point(3.0)], 2),
        Sample(2 * X, [Point(4.0), Point(5.0), Point(6.0)]),
    ]
    for found, sample in zip(same(samples), samples, strict=True):
        assert type(found) is Sample and (found.inputs == sample.inputs).all()
        assert found.points == sample.points and found.count == sample.count


def test_structured_arrays_come_back() -> None:
    for given in (ROWS, ROWS[::-1], ROWS.reshape(1, 2), ROWS[:0], ROWS.astype(BIG)):
        found = same(given)
        assert type(found) is np.ndarray and found.dtype.names == ROW.names
        assert found.shape == given.shape and (found == given).all()
    row = same(ROWS[1])
    assert type(row) is np.void and row == ROWS[1]
    nested = np.zeros(2, [("p", [("x", float), ("on", bool)]), ("w", ">f8")])
    nested["p"]["x"], nested["w"] = [1.0, 2.0], 3.0
    found = same(nested)
    assert (found["p"] == nested["p"]).all() and found["w"].tolist() == [3.0, 3.0]


def test_containers_built_inside() -> None:
    @cl.jit
    def make(x: float, n: int):
        body = Body(Point(x), tag=n)
        row = {"body": body, "more": (Point(y=1, x=n), {"x": x})}
        return [Body(Point(x * k), k) for k in range(n)], row, dict(a=x)

    for function in (make, cl.jit(make.py_func, optimize=0)):
        found = function(2.0, 2)
        assert found == make.py_func(2.0, 2)
        assert repr(found[1]["more"][0]) == "Point(x=2.0, y=1.0)"
        assert type(found[0][1].mass) is float


def test_empty_lists() -> None:
    assert total([]) == 0.0
    assert cl.grad(total)([]) == []

    @cl.jit
    def unfixed(points: list[Point], scale) -> float:
        return scale * sum(p.x for p in points)

    assert unfixed([], 2.0) == 0.0
    with pytest.raises(TypeError, match="parameter x is an empty list"):
        same([])


def test_empty_lists_in_records_with_open_fields() -> None:
    """What the class says of a field holds, whatever it says of others."""

    @cl.jit
    def weight(cloud: Cloud) -> float:
        return cloud.weights[0] + sum(p.x for p in cloud.points)

    full = Cloud([Point(2.0)], np.ones(1))
    for cloud in (full._replace(points=[]), full):
        assert weight(cloud) == 1.0 + 2.0 * len(cloud.points)
        gradient = cl.grad(weight)(cloud)
        assert gradient.points == [Point(1.0, 0.0)] * len(cloud.points)
        assert gradient.weights == 1.0
    with pytest.raises(TypeError, match="points must be a list of Point, found"):
        weight(full._replace(points=2.0))


def test_fields_have_the_types_their_class_declares() -> None:
    assert repr(same(Point(1, True))) == "Point(x=1.0, y=1.0)"
    assert (
        repr(same([Point(1), Point(2.0)]))
        == "[Point(x=1.0, y=0.5), Point(x=2.0, y=0.5)]"
    )
    assert repr(same(Pair(1, 2))) == "Pair(first=1, second=2)"
    assert repr(same([(1, 2.0), (3.0, 4)])) == "[(1.0, 2.0), (3.0, 4.0)]"


# ---- gradients are in the container of their argument


def test_gradients_of_records() -> None:
    gradient = cl.grad(moment)(BODY)
    assert gradient == Body(Point(2 * 3 / 5, 2 * 4 / 5), 5.0, None)  # type: ignore[arg-type]
    value, both = cl.value_and_grad(moment, argnums=("body", "scale"))(BODY, scale=2)
    assert value == 20.0
    assert both == (Body(Point(2.4, 3.2), 10.0, None), 10.0)  # type: ignore[arg-type]


def test_gradients_of_dictionaries() -> None:
    @cl.jit
    def loss(params, x: cl.f64[:]) -> float:
        return sum(params["w"] * x) * params["scale"] + params["points"][0].x

    params = {"points": (Point(1.0),), "w": X, "n": 3, "scale": 2}
    gradient = cl.grad(loss)(params, X)
    assert list(gradient) == ["points", "w", "n", "scale"]
    assert gradient["points"] == (Point(1.0, 0.0),)
    assert (gradient["w"] == 2 * X).all()
    assert gradient["n"] is None and gradient["scale"] is None


def test_gradients_of_lists() -> None:
    assert cl.grad(total)([Point(1.0, 2.0), Point(3.0, 4.0)]) == [
        Point(2.0, 1.0),
        Point(4.0, 3.0),
    ]

    @cl.jit
    def mixed(items) -> float:
        return sum(b.at.x * b.tag * w for b, w in items)

    found = cl.grad(mixed)([(BODY, 2), (BODY, 3)])
    assert found == [
        (Body(Point(14.0, 0.0), 0.0, None), None),  # type: ignore[arg-type]
        (Body(Point(21.0, 0.0), 0.0, None), None),  # type: ignore[arg-type]
    ]


def test_gradients_of_structured_arrays_leave_integers_out() -> None:
    @cl.jit
    def f(rows) -> float:
        return sum(r["x"] ** 2 * r["n"] for r in rows) + rows[1]["v"][0]

    gradient = cl.grad(f)(ROWS)
    assert gradient.dtype == np.dtype([("x", float), ("v", float, (2,))])
    assert gradient["x"].tolist() == [4.0, 12.0]
    assert gradient["v"].tolist() == [[0.0, 0.0], [1.0, 0.0]]

    @cl.jit
    def g(row) -> float:
        return row["x"] ** 2 * row["n"]

    gradient = cl.grad(g)(ROWS[0])
    assert gradient.dtype.names == ("x", "v") and gradient["x"] == 4.0


def test_gradients_do_not_run_constructors() -> None:
    @cl.jit
    def f(c: Checked) -> float:
        return -c.mass

    assert cl.grad(f)(Checked(2.0)).mass == -1.0


def test_auxiliary_results() -> None:
    def f(p: Point):
        return p.x * p.y, {"p": p}

    value, gradient = cl.value_and_grad(f, has_aux=True)(Point(2.0, 3.0))
    assert value == (6.0, {"p": Point(2.0, 3.0)})
    assert gradient == Point(3.0, 2.0)


# ---- tangents


def test_tangents_of_records() -> None:
    @cl.jit
    def f(body: Body, x: float):
        return dataclasses.replace(body, mass=body.mass * x), [body.at]

    out, out_tangent = cl.jvp(f, (BODY, 2.0), (Body(Point(1.0, 0.0), 3.0, None), 1.0))  # type: ignore[arg-type]
    assert out == (dataclasses.replace(BODY, mass=4.0), [BODY.at])
    assert out_tangent == (Body(Point(1.0, 0.0), 8.0, None), [Point(1.0, 0.0)])  # type: ignore[arg-type]
    assert cl.jvp(total, ([Point(1.0, 2.0)],), ([Point(0.5, 0.25)],)) == (2.0, 1.25)
    fixed = cl.jvp(lambda_free, (2.0,), (1.0,))
    assert fixed == (2.0 * ROWS["x"].sum(), ROWS["x"].sum())


def lambda_free(x: float, rows=ROWS, points=(BODY, [BODY])) -> float:
    return x * sum(rows["x"]) + 0.0 * points[0].mass


@pytest.mark.parametrize(
    ("tangents", "error", "message"),
    [
        (((1.0, 2.0),), TypeError, "p (tangent) must be of class Point, found tuple"),
        ((Pixel(1.0),), TypeError, "p (tangent) must be of class Point, found Pixel"),
    ],
)
def test_wrong_tangents(tangents: Any, error: type[Exception], message: str) -> None:
    def norm(p: Point) -> float:
        return p.x * p.y

    with pytest.raises(error, match=re.escape(message)):
        cl.jvp(norm, (Point(1.0),), tangents)


def test_tangents_of_lists_have_their_length() -> None:
    with pytest.raises(ValueError, match=r"points has shape \(1,\), its tangent"):
        cl.jvp(total, ([Point(1.0)],), ([Point(1.0), Point(1.0)],))


# ---- types, versions, updates


def test_classes_with_equal_fields_are_two_types() -> None:
    assert type(same(Point(1.0))) is Point
    assert type(same(Pixel(1.0))) is Pixel

    @cl.jit
    def takes_a_point(p: Point) -> float:
        return p.x

    @cl.jit
    def passes_it_on(p) -> float:
        return takes_a_point(p)

    assert passes_it_on(Point(2.0)) == 2.0
    with pytest.raises(cl.CompileError, match=r"is Point, found Pixel"):
        passes_it_on(Pixel(2.0))


def test_other_kinds_of_named_tuples() -> None:
    plain = collections.namedtuple("plain", "a b", defaults=[2])
    assert repr(same(plain(1.0))) == "plain(a=1.0, b=2)"

    class Longer(Point):
        __slots__ = ()

    assert type(same(Longer(1.0))) is Longer
    with pytest.raises(TypeError, match="must be of class Point, found Longer"):
        total([Longer(1.0)])


def test_a_version_for_each_set_of_keys() -> None:
    @cl.jit
    def f(params) -> float:
        return params["a"] * 2.0

    assert f({"a": 1.0}) == f({"a": 1.0, "b": 2.0}) == f({"b": 1, "a": 1.0}) == 2.0
    assert len(f._versions) == 3
    assert f({"a": 3.0}) == 6.0
    assert len(f._versions) == 3


def test_arguments_are_never_written_to() -> None:
    @cl.jit
    def first(rows):
        x = rows["x"]
        x[0] = 1.0
        return x

    with pytest.raises(cl.CompileError, match="it is an argument"):
        first(ROWS)

    @cl.jit
    def set_first(points: list[Point]):
        points[0] = Point(0.0)
        return points

    with pytest.raises(cl.CompileError, match="it is an argument"):
        set_first([Point(1.0)])


def test_lists_made_inside_can_be_updated() -> None:
    @cl.jit
    def f(points: list[Point]):
        made = [Point(p.x, 2.0 * p.y) for p in points]
        for k in range(1, len(made)):
            made[k] = Point(made[k - 1].x + made[k].x, made[k].y)
        return made[-1].x * made[0].y

    points = [Point(1.0, 2.0), Point(3.0, 4.0), Point(5.0, 6.0)]
    assert f(points) == 36.0
    assert cl.grad(f)(points) == [Point(4.0, 18.0), Point(4.0, 0.0), Point(4.0, 0.0)]


ENDS_LAST = """
import dataclasses, sys, types
import numpy as np
import chadllvm as cl

@dataclasses.dataclass(frozen=True)
class Weights:
    w: cl.f64[:]

@cl.jit
def f(p: Weights) -> float:
    return sum(p.w)

module = sys.modules["kept"] = types.ModuleType("kept")
module.held = {"module": module, "weights": cl.grad(f)(Weights(np.ones(2)))}
f.held = module.held
"""


def test_results_may_be_freed_after_all_else(tmp_path: Path) -> None:
    """In a cycle with modules they live until Python has unloaded its libraries."""
    script = tmp_path / "script.py"
    script.write_text(ENDS_LAST)
    run = subprocess.run([sys.executable, script], capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


class Row(NamedTuple):
    values: cl.f64[:]


def test_arrays_in_records_of_one_list_have_one_size() -> None:
    @cl.jit
    def grown(x: cl.f64[:], y: cl.f64[:]) -> list[Row]:
        rows = [Row(x + 1.0)]
        rows.append(Row(y))
        return rows

    @cl.jit
    def changed(x: cl.f64[:], y: cl.f64[:]) -> list[Row]:
        rows = [Row(x + k) for k in range(2)]
        rows[1] = Row(y + 1.0)
        return rows

    @cl.jit
    def filtered(x: cl.f64[:], y: cl.f64[:]) -> list[Row]:
        return [Row(x if k else y) for k in range(3) if k < 2]

    for function in (grown, changed, filtered):
        assert len(function(np.ones(2), np.ones(2))) == 2
        with pytest.raises(ValueError, match=r"sizes|lengths"):
            function(np.ones(2), np.ones(3))


@dataclass(frozen=True)
class Spring:
    """Its methods may be compiled ones, which are those of an instance all the same."""

    stiffness: float

    @cl.jit
    def energy(self, x: float, scale: float = 0.5) -> float:
        return scale * self.doubled * self.square(x)

    @property
    @cl.jit
    def doubled(self) -> float:
        return 2.0 * self.stiffness

    @staticmethod
    @cl.jit
    def square(x: float) -> float:
        return x * x


def test_methods_may_be_compiled() -> None:
    @cl.jit
    def total(spring: Spring, x: float) -> float:
        return spring.energy(x) + spring.doubled + Spring.square(x)

    spring = Spring(3.0)
    assert spring.energy(2.0) == spring.energy(2.0, scale=0.5) == 12.0
    assert (spring.doubled, Spring.square(3.0)) == (6.0, 9.0)
    assert total(spring, 2.0) == 12.0 + 6.0 + 4.0
    assert cl.grad(total)(spring, 2.0) == Spring(4.0 + 2.0)
    assert cl.grad(Spring.energy, "x")(spring, 2.0) == 12.0
