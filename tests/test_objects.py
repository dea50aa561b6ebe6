"""Methods of ordinary classes: the fields of an object are arguments of each call."""

from __future__ import annotations

import enum
import functools
import inspect
import math
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

X = np.array([1.0, 2.0])


class Mode(enum.Enum):
    PLAIN = 1
    SQUARED = 2


class Point(NamedTuple):
    x: float
    y: float


class Layer:
    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights

    def __call__(self, x):
        return np.tanh(self.forward(x))

    def forward(self, x):
        return self.weights @ x


@dataclass
class Settings:
    scale: float
    name: str = "settings"
    history: list = field(default_factory=list)


@cl.jit
def scaled(model, x: float) -> float:
    return model.k * x


class Base:
    offset = 1.0

    def line(self, x: float) -> float:
        return self.k * x

    def energy(self, x: float) -> float:
        return 10.0 * x + self.offset

    @property
    def twice(self):
        return 2.0 * self.k

    @functools.cached_property
    def thrice(self):
        return 3.0 * self.k

    @staticmethod
    def squared(x):
        return x * x

    @classmethod
    def shifted(cls, x):
        return x + cls.offset


class Model(Base):
    def __init__(self, k: float) -> None:
        self.k = k
        self.mode = "squared"
        self.kind = Mode.SQUARED
        self.layer = Layer(np.array([[1.0, 2.0], [0.5, -1.0]]))
        self.settings = Settings(2.0)
        self.point = Point(1.0, 2.0)
        self.pair = (3.0, 4)
        self.table = {"a": 0.5}
        self.none = None
        self.flag = True
        self.activation = math.sin
        self.local = lambda x: x * x
        self.points = [Point(1.0, 2.0), Point(3.0, 4.0)]
        self.arrays = [np.ones(2), np.ones(3)]
        self.unused = object()
        self.numbers = [1.0, 2.0]

    def square(self, x: float) -> float:
        return self.k * x * x

    @cl.jit
    def jitted(self, x: float) -> float:
        return self.k * x * x

    def __call__(self, x: float) -> float:
        return self.square(x)

    def energy(self, x: float) -> float:
        return -super().energy(x)

    def inherited(self, x: float) -> float:
        own = self.line(x) + self.twice + self.thrice + self.squared(x)
        return own + self.shifted(x) + self.energy(x) + Base.energy(self, x)

    def of_classes(self, x: float) -> float:
        return Base.squared(x) + Model.shifted(x) + Base.offset + self.offset

    def decided(self, x: float) -> float:
        y = x
        if self.mode == "squared":
            y = y * y
        if self.kind is Mode.SQUARED:
            y = y * 2.0
        if self.none is None:
            y = y + 1.0
        return y if self.flag else -y

    def functions(self, x: float) -> float:
        own = self.activation
        return own(x) + self.activation(x) + self.local(x)

    def data(self, x: float) -> float:
        part = self.point.x * self.pair[1] + self.table["a"] + self.settings.scale
        part = part + sum(p.y for p in self.points)
        return part * x + sum(np.sum(a) for a in self.arrays)

    def network(self, x: cl.f64[:]) -> float:
        return np.sum(self.layer(x)) + np.sum(self.layer.forward(x) ** 2)

    def called(self, x: float) -> float:
        return self(x) + scaled(self, x)

    def power(self, n: int, x: float) -> float:
        return x if n == 0 else self.k * self.power(n - 1, x)

    def inside(self, x: float) -> float:
        slope = cl.grad(lambda y: self.square(y))(x)
        return slope * slope


METHODS = [
    *("square", "jitted", "__call__", "energy", "inherited", "of_classes", "decided"),
    *("functions", "data", "called"),
]


def differences(f: Callable[..., Any], x: float) -> float:
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("optimize", [0, 2])
@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_what_it_is_in_python(name: str, optimize: int) -> None:
    model = Model(3.0)
    function = vars(Model).get(name, getattr(Model, name))
    plain = partial(getattr(function, "py_func", function), model)
    method = cl.jit(plain, optimize=optimize)
    assert np.isclose(method(0.5), plain(0.5), rtol=1e-14)
    slope = differences(plain, 0.5)
    assert np.isclose(cl.grad(method)(0.5), slope, rtol=1e-6)
    assert np.isclose(cl.vjp(method, 0.5)[1](1.0)[0], slope, rtol=1e-6)
    assert np.isclose(cl.jvp(method, (0.5,), (1.0,))[1], slope, rtol=1e-6)
    assert np.isclose(cl.jacfwd(method)(0.5), slope, rtol=1e-6)


@pytest.mark.parametrize("name", ["square", "jitted"])
def test_every_transformation(name: str) -> None:
    method = getattr(Model(3.0), name)
    assert cl.value_and_grad(method)(2.0) == (12.0, 12.0)
    assert cl.jacrev(method)(2.0) == 12.0
    assert cl.hessian(method)(2.0) == cl.hvp(method)(2.0, 1.0) == 6.0
    assert cl.grad(cl.grad(method))(2.0) == 6.0
    assert cl.linearize(method, 2.0)[1](0.5) == 6.0
    cl.check_grads(method, (2.0,), order=2)
    assert list(inspect.signature(cl.grad(method)).parameters) == ["x"]
    assert "self: Model{k: f64}" in cl.grad(method).show("core", 2.0)
    assert cl.jit(method).report(2.0).scaling


def test_objects_inside_of_objects() -> None:
    model = Model(3.0)
    expected = model.network(X)
    assert np.isclose(cl.jit(model.network)(X), expected)
    cl.check_grads(model.network, (X,), order=2)
    model.layer = Layer(np.zeros((2, 2)))
    assert cl.jit(model.network)(X) == 0.0
    model.layer.weights = np.eye(2)
    assert np.isclose(cl.jit(model.network)(X), np.sum(np.tanh(X)) + 5.0)
    assert np.isclose(cl.jit(model.inside)(2.0), 144.0)
    assert cl.jit(model.power)(3, 2.0) == 54.0
    assert cl.grad(model.layer.forward.__self__.__call__.__func__, 1) is not None


def test_fields_are_never_frozen() -> None:
    model = Model(2.0)
    slope = cl.grad(model.square)
    assert slope(3.0) == 12.0
    model.k = 4.0
    assert slope(3.0) == 24.0
    assert len(slope.func._versions) == 1
    model.k = 4  # Another type is another version, with the same result.
    assert slope(3.0) == 24.0
    assert len(slope.func._versions) == 2
    assert Model.jitted(model, 3.0) == model.jitted(3.0) == 36.0
    model.k = 5.0
    assert Model.jitted(model, 3.0) == 45.0
    other = Model(7.0)
    assert cl.grad(other.square)(3.0) == 42.0
    assert cl.grad(other.square).func is slope.func
    assert len(slope.func._versions) == 2


def test_what_is_no_data_decides_the_version() -> None:
    model = Model(2.0)
    decided = cl.jit(model.decided)
    assert decided(3.0) == model.decided(3.0) == 19.0
    model.mode = "plain"
    assert decided(3.0) == model.decided(3.0) == 7.0
    model.kind = Mode.PLAIN
    model.flag = False
    assert decided(3.0) == model.decided(3.0) == -4.0
    functions = cl.jit(model.functions)
    assert functions(1.0) == model.functions(1.0)
    model.activation = math.cos
    model.local = lambda x: 5.0 * x
    assert functions(1.0) == model.functions(1.0)


def test_class_attributes_are_read_at_each_call() -> None:
    class Line:
        slope = 2.0

        def at(self, x: float) -> float:
            return self.slope * x

    line = Line()
    at = cl.jit(line.at)
    assert at(3.0) == 6.0
    Line.slope = 5.0
    assert at(3.0) == 15.0
    line.slope = 7.0
    assert at(3.0) == 21.0


def test_slots() -> None:
    class Slotted:
        __slots__ = ("k", "late")

        def __init__(self) -> None:
            self.k = 2.0

        def at(self, x: float) -> float:
            return self.k * x

        def later(self, x: float) -> float:
            return self.late * x

    slotted = Slotted()
    assert cl.grad(slotted.at)(1.0) == 2.0
    with pytest.raises(cl.CompileError, match="`Slotted` has no field `late`"):
        cl.jit(slotted.later)(1.0)
    slotted.late = 3.0
    assert cl.grad(slotted.later)(1.0) == 3.0


def test_a_property_may_be_a_field_by_now() -> None:
    model = Model(2.0)
    method = cl.jit(model.inherited)
    assert method(1.0) == model.inherited(1.0)  # Which keeps `thrice`.
    model.k = 5.0
    assert method(1.0) == model.inherited(1.0)


def test_objects_as_arguments() -> None:
    @cl.jit
    def loss(model, x: cl.f64[:], scale: float = 1.0) -> float:
        return scale * model.k * np.sum(x * x)

    model = Model(2.0)
    assert loss(model, X) == loss(model=model, x=X) == 10.0
    assert np.array_equal(cl.grad(loss, 1)(model, X), 4.0 * X)
    assert np.array_equal(cl.grad(partial(loss, model))(X), 4.0 * X)
    _, pullback = cl.vjp(loss, model, X)
    by_model, by_x = pullback(1.0)
    assert by_model is None and np.array_equal(by_x, 4.0 * X)
    assert cl.jvp(loss, (model, X), (None, X)) == (10.0, 20.0)
    cl.check_grads(loss, (model, X), order=2)
    with pytest.raises(cl.CompileError, match="CL1003"):
        cl.grad(loss)(model, X)
    with pytest.raises(TypeError, match="its tangent must be None"):
        cl.jvp(loss, (model, X), (1.0, X))


def test_dataclasses_that_may_change() -> None:
    @dataclass
    class Spring:
        k: float
        rest: np.ndarray

        def energy(self, x: cl.f64[:]) -> float:
            return self.k * np.sum((x - self.rest) ** 2)

    spring = Spring(2.0, np.ones(2))
    assert np.array_equal(cl.grad(spring.energy)(X), [0.0, 4.0])
    spring.k = 3.0
    spring.rest[1] = 0.0
    assert np.array_equal(cl.grad(spring.energy)(X), [0.0, 12.0])


def test_singles() -> None:
    class Line:
        def __init__(self) -> None:
            self.weights = np.ones(3, np.float32)
            self.scale = 2.0

        def at(self, x: cl.f32[:]) -> cl.f32:
            return self.scale * np.sum(self.weights * x)

    x = np.ones(3, np.float32)
    assert cl.jit(Line().at)(x) == np.float32(6.0)
    assert cl.grad(Line().at)(x).dtype == np.float32


def test_what_was_run_is_of_the_fields_then() -> None:
    model = Model(3.0)
    _, pullback = cl.vjp(model.square, 2.0)
    _, along = cl.linearize(model.square, 2.0)
    model.k = 100.0
    for made, expected in ((pullback, (12.0,)), (along, 12.0)):
        assert made(1.0) == expected
        assert pickle.loads(pickle.dumps(made))(1.0) == expected


class Pickled:
    def __init__(self, k: float) -> None:
        self.k = k

    def at(self, x: float) -> float:
        return self.k * x * x


def test_pickles() -> None:
    slope = cl.grad(Pickled(3.0).at)
    assert pickle.loads(pickle.dumps(slope))(2.0) == slope(2.0) == 12.0


def test_each_call_reads_a_field_once() -> None:
    reads = []

    class Counted:
        def __getattribute__(self, name: str) -> Any:
            if name == "__dict__":
                reads.append(name)
            return super().__getattribute__(name)

        def at(self, x: float) -> float:
            return self.k * x + self.k

    counted = Counted()
    counted.k = 2.0
    at = cl.jit(counted.at)
    at(1.0)
    before = len(reads)
    assert at(3.0) == 8.0
    assert len(reads) == before + 1


def test_from_many_threads() -> None:
    """`a` and `b` are changed together, so that a call sees both or none."""
    model = Model(1.0)
    square = cl.jit(model.square)
    found: list[float] = []

    def run() -> None:
        for _ in range(300):
            found.append(square(1.0))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for k in range(300):
        model.k = float(k % 7)
    for thread in threads:
        thread.join()
    assert len(found) == 1200 and {*found} <= {*map(float, range(7))}


def test_in_a_library_fields_are_constants(tmp_path: Path) -> None:
    model = Model(3.0)
    path = tmp_path / "libmodel"
    cl.export({"square": model.square, "slope": cl.grad(model.square)}, path)
    library = cl.load(path)
    model.k = 7.0
    assert library.square(2.0) == 12.0
    assert library.slope(2.0) == 12.0
    with pytest.raises(ValueError, match="self is an object"):
        cl.export({"square": (Model.square, (model, 2.0))}, tmp_path / "libother")


class Doubled:
    """An attribute that is not what the object holds."""

    def __get__(self, owner: Any, kind: type | None = None) -> float:
        return 2.0 * owner.k


class Wrong:
    doubled = Doubled()

    def __init__(self) -> None:
        self.k = 1.0
        self.thing = object()
        self.numbers = [1.0, 2.0]
        self.complex = 1j
        self.words = np.array(["a"])
        self.circle = self

    def missing(self, x: float) -> float:
        return self.nothing * x

    def unfit(self, x: float) -> float:
        return self.thing * x

    def of_a_list(self, x: float) -> float:
        return self.numbers[0] * x

    def of_a_complex(self, x: float) -> float:
        return self.complex * x

    def of_words(self, x: float) -> float:
        return self.words[0] * x

    def called(self, x: float) -> float:
        return self.thing(x)

    def assigns(self, x: float) -> float:
        self.k = x
        return x

    def adds(self, x: float) -> float:
        self.k += x
        return x

    def itself(self, x: float):
        return self

    def inside(self, x: float):
        return x, (self,)

    def length(self, x: float) -> float:
        return len(self) * self.k

    def described(self, x: float) -> float:
        return self.doubled * x


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "self.nothing.*`Wrong` has no field `nothing`"),
        ("unfit", "the field `thing` of this `Wrong` is a `object`"),
        ("of_a_list", "the field `numbers` of this `Wrong` is a `list`"),
        ("of_a_complex", "the field `complex` of this `Wrong` is a `complex`"),
        ("of_words", "the field `words` of this `Wrong` is a `ndarray`"),
        ("called", "the field `thing` of this `Wrong` is a `object`"),
        ("assigns", "self.k = x.*outside of compiled functions"),
        ("adds", "self.k [+]= x.*outside of compiled functions"),
        ("itself", "this function returns a `Wrong`"),
        ("inside", "this function returns a `Wrong`"),
        ("length", "`len` of `Wrong`"),
        ("described", "the field `doubled` of this `Wrong` is a `Doubled`"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(name: str, message: str) -> None:
    with pytest.raises(cl.CompileError, match=f"(?s){message}"):
        cl.jit(getattr(Wrong(), name))(1.0)


class Fitted:
    def __init__(self) -> None:
        self.k, self.model = 2.0, Model(3.0)

    def energy(self, x: cl.f64[:], p: float = 3.0, scale=X, *, q: float = 1.0):
        return self.k * np.sum(scale * x**3) * p * q

    def slopes(self, x: cl.f64[:]):
        slope = cl.grad(self.energy)
        return slope(x) + slope(x, 2.0) + cl.grad(self.energy, argnums=0)(x, q=0.5)

    def sums(self, x: cl.f64[:]):
        total = x * 0.0
        for i in range(3):
            total += i * cl.hvp(self.energy)(x, x)
            total += cl.value_and_grad(self.energy)(x)[1]
        return total + cl.hessian(self.energy)(x)[0]

    def products(self, x: cl.f64[:]):
        _, pull = cl.vjp(self.energy, x)
        _, tangent = cl.jvp(self.energy, (x,), (x,))
        return pull(2.0)[0] + tangent

    def others(self, x: cl.f64[:]):
        of_model = cl.grad(self.model.square)(x[0]) + cl.grad(self.cubed)(x[1])
        return of_model * x

    @staticmethod
    def cubed(x):
        return x**3


@pytest.mark.parametrize("optimize", [0, 2])
@pytest.mark.parametrize("name", ["slopes", "sums", "products", "others"])
def test_derivatives_of_methods_inside_of_methods(name: str, optimize: int) -> None:
    fitted = Fitted()
    method = cl.jit(getattr(fitted, name), optimize=optimize)
    for fitted.k in (2.0, 0.5):
        np.testing.assert_allclose(method(X), getattr(fitted, name)(X), rtol=1e-13)
        cl.check_grads(method, (X,), order=1)


def test_a_length_is_what_the_class_says() -> None:
    class Chain:
        def __init__(self) -> None:
            self.parts, self.k = np.ones(5), 2.0

        def __len__(self):
            return len(self.parts) - 1

        def total(self, x: float) -> float:
            return len(self) * self.k * x

    @dataclass(frozen=True)
    class Frozen(Chain):
        parts: cl.f64[:]
        k: float

    for chain in (Chain(), Frozen(np.ones(3), 0.5)):
        assert cl.jit(chain.total)(3.0) == chain.total(3.0)


def test_private_names() -> None:
    class _Base:
        def __init__(self) -> None:
            self.__k = 2.0

        def __square(self, x):
            return self.__k * x * x

        def base(self, x: float) -> float:
            return self.__square(x) + (lambda y: self.__k * y)(x)

    class Above(_Base):
        def __init__(self) -> None:
            super().__init__()
            self.__k = 5.0

        def above(self, x: float) -> float:
            return self.__k * x * x + self.base(x)

    model = Above()
    for method in (model.base, model.above):
        assert cl.jit(method)(3.0) == method(3.0)
        assert np.isclose(cl.grad(method)(3.0), differences(method, 3.0))
    model._Base__k = 3.0
    assert cl.jit(model.above)(3.0) == model.above(3.0)


def test_objects_that_say_what_attributes_are() -> None:
    class Doubling:
        def __init__(self) -> None:
            self.k = 1.0

        def __getattribute__(self, name: str) -> Any:
            found = object.__getattribute__(self, name)
            return 2.0 * found if name == "k" else found

        def line(self, x: float) -> float:
            return self.k * x

    doubling = Doubling()
    line = cl.jit(doubling.line)
    assert line(3.0) == doubling.line(3.0) == 6.0
    doubling.k = 2.0
    assert line(3.0) == doubling.line(3.0) == 12.0


def test_objects_in_a_circle_end() -> None:
    class Node:
        def __init__(self, k: float) -> None:
            self.k, self.next = k, self

        def at(self, x: float) -> float:
            return self.next.next.k * x

    assert cl.grad(Node(3.0).at)(1.0) == 3.0


def test_records_have_super_and_calls() -> None:
    @dataclass(frozen=True)
    class Shape:
        k: float

        def area(self, x: float) -> float:
            return self.k * x

        def __call__(self, x: float) -> float:
            return self.area(x) + 1.0

    @dataclass(frozen=True)
    class Square(Shape):
        def area(self, x: float) -> float:
            return super().area(x) * x + super(Square, self).area(x)  # noqa: UP008

    @cl.jit
    def called(shape, x: float) -> float:
        return shape(x)

    square = Square(3.0)
    assert called(square, 2.0) == square(2.0) == 19.0
    assert cl.grad(square)(2.0) == 15.0


class Dense:
    def __init__(self, weights: np.ndarray, activation: str) -> None:
        self.weights, self.activation = weights, activation

    def __call__(self, x):
        y = self.weights @ x
        return np.tanh(y) if self.activation == "tanh" else y


class Network:
    def __init__(self, *layers: Dense) -> None:
        self.layers = [*layers]

    def total(self, x: cl.f64[:]) -> float:
        for layer in self.layers:
            x = layer(x)
        return np.sum(x)

    def first(self, x: cl.f64[:]) -> float:
        return np.sum(self.layers[0](x)) * len(self.layers)


def test_lists_of_objects() -> None:
    eye = np.array([[1.0, 0.5], [0.25, 1.0]])
    network = Network(Dense(eye, "tanh"), Dense(-eye, "tanh"))
    total = cl.jit(network.total)
    assert np.isclose(total(X), network.total(X))
    cl.check_grads(network.total, (X,), order=2)
    network.layers.append(Dense(2.0 * eye, "tanh"))
    assert np.isclose(total(X), network.total(X))
    assert np.isclose(cl.jit(network.first)(X), network.first(X))
    network.layers[1].activation = "none"
    with pytest.raises(cl.CompileError, match="CL0513"):
        total(X)


def test_static_parameters_of_methods() -> None:
    class Line:
        def __init__(self) -> None:
            self.k, self.how = 2.0, "steep"

        @cl.jit(static_argnames="how")
        def at(self, x: float, how: str = "flat") -> float:
            return self.k * x if how == "steep" else x

        def both(self, x: float) -> float:
            return self.at(x, how=self.how) + self.at(x)

    line = Line()
    assert line.at(3.0) == line.at(x=3.0, how="flat") == 3.0
    assert line.at(3.0, "steep") == 6.0
    assert cl.grad(line.at)(3.0, "steep") == 2.0
    assert cl.grad(partial(line.at, how="steep"))(3.0) == 2.0
    both = cl.jit(line.both)
    assert both(3.0) == 9.0
    line.how = "flat"
    assert both(3.0) == 6.0


def test_recursive_data_and_lists_of_arrays_are_held_fixed() -> None:
    @cl.jit
    def total(arrays: list[cl.f64[:]], x: float) -> float:
        return sum(np.sum(a) for a in arrays) * x * x

    class Holder:
        def __init__(self) -> None:
            self.arrays = [np.ones(2), np.ones(3)]

        def at(self, x: float) -> float:
            return total(self.arrays, x)

    for f in (Holder().at, partial(total, [np.ones(2), np.ones(3)])):
        assert cl.grad(f)(2.0) == 20.0
        assert cl.vjp(f, 2.0)[1](1.0) == (20.0,)
        assert cl.jvp(f, (2.0,), (1.0,)) == (20.0, 20.0)
        cl.check_grads(f, (2.0,), order=2)


def test_rules_of_a_method() -> None:
    class Line:
        def __init__(self) -> None:
            self.k = 2.0

        @cl.custom_vjp
        def at(self, x: float) -> float:
            return self.k * x

        def twice(self, x: float) -> float:
            return 2.0 * self.at(x)

    Line.at.defvjp(lambda self, x: (self.k * x, self.k), lambda k, ct: (10.0 * k * ct,))
    assert cl.grad(Line().at)(1.0) == 20.0
    assert cl.grad(Line().twice)(1.0) == 40.0
