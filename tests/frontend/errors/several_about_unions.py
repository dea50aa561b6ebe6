import dataclasses

import chadllvm as cl


@dataclasses.dataclass(frozen=True)
class Circle:
    r: float


@dataclasses.dataclass(frozen=True)
class Square:
    side: float


@cl.jit
def area(shape: Circle | Square, pair: tuple[float, float] | None, x: float) -> float:
    total = x * unknown
    if wide:
        total += shape.side
        if isinstance(shape, Cirlce):
            total += shape.r
    if pair is missing:
        return total
    a, b = pair
    return total + a * b


@cl.jit
def perimeter(shape: Circle | Square) -> float:
    return 4.0 * shape.side


def f(x: float):
    shape: Circle | Square = Circle(x) if x > 0.0 else Square(x)
    pair: tuple[float, float] | None = (x, x) if x > 1.0 else None
    around = perimeter(shape)
    return area(shape, pair, x) / around
