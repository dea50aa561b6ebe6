"""Steer a charged particle to a landing point, by derivatives of a simulation.

A particle flies in the field of charges until it meets the ground, in steps; the place
where it lands is interpolated in the last one. Nobody knows how many steps that takes.
The force is the slope of a potential that the simulator is given as a function, so a
gradient is taken in each step, and Newton's method, which finds the control that makes
the particle land where it should, takes first and second derivatives of all of it. Both
the force and Newton's derivatives come in forward or in reverse mode, and all four ways
agree. (The first of the two problems is due to J. M. Siskind and B. A. Pearlmutter.)

    python examples/steering.py
    python examples/steering.py --plot flight.png
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl

Vector = NDArray[np.float64]
Potential = Callable[[Vector], float]
Field = Callable[[Vector], Vector]
Fields = Callable[[Potential], Field]
Numeric = Callable[[float], float]
Slopes = Callable[[Numeric], Numeric]

MOST_STEPS = 100_000  # So many, and the particle is taken not to land.


class Particle(NamedTuple):
    """Where it is, in two dimensions, how fast it moves, and since when it flies."""

    place: NDArray[np.float64]
    velocity: NDArray[np.float64]
    time: float


# ---- derivatives in both modes: of functions of a vector, and of a number


@cl.jit
def forward_field(potential: Potential) -> Field:
    """The gradient of a potential by tangents."""

    def gradient(place: cl.f64[:]) -> cl.f64[:]:
        by_x = cl.jvp(potential, (place,), (np.array([1.0, 0.0]),))[1]
        by_y = cl.jvp(potential, (place,), (np.array([0.0, 1.0]),))[1]
        return np.array([by_x, by_y])

    return gradient


@cl.jit
def reverse_field(potential: Potential) -> Field:
    """The gradient of a potential by a cotangent."""
    return cl.grad(potential)


@cl.jit
def forward_slope(f: Numeric) -> Numeric:
    """The derivative of a function of a number by a tangent."""
    return lambda t: cl.jvp(f, (t,), (1.0,))[1]


@cl.jit
def reverse_slope(f: Numeric) -> Numeric:
    """The derivative of a function of a number by a cotangent."""
    return cl.grad(f)


# ---- the simulation


@cl.jit
def moved(particle: Particle, force: cl.f64[:], step: float) -> Particle:
    """After one step of Euler's; the mass is one."""
    place = particle.place + step * particle.velocity
    return Particle(place, particle.velocity + step * force, particle.time + step)


@cl.jit
def landed(
    potential: Potential, start: Particle, step: float, field: Fields
) -> Particle:
    """The particle when it meets the ground, where its second coordinate is zero.

    Args:
        potential: the energy at a place.
        start: the particle above the ground.
        step: the length of a step in time.
        field: takes the potential to its gradient.

    Raises:
        ArithmeticError: if it does not come down.
    """
    particle, steps = start, 0
    while True:
        force = -field(potential)(particle.place)
        new = moved(particle, force, step)
        if new.place[1] <= 0.0:
            height = particle.place[1]
            part = height / (height - new.place[1])
            return moved(particle, force, part * step)
        particle = new
        steps += 1
        if steps == MOST_STEPS:
            raise ArithmeticError(f"still {particle.place[1]} above the ground")


@cl.jit
def newton(
    cost: Numeric,
    control: float,
    slope: Slopes,
    tolerance: float,
    most: int,
) -> float:
    """The control at which a cost is least; `slope` takes functions to derivatives."""
    first = slope(cost)
    second = slope(first)
    for _ in range(most):
        # Down the slope, where the cost bends the other way too.
        change = first(control) / abs(second(control))
        control = control - max(-1.0, min(1.0, change))
        if abs(change) < tolerance:
            break
    return control


# ---- two problems: a charge that is moved, and a shot over a hill


@cl.jit
def by_charges(control: float, field: Fields) -> Particle:
    """Where the particle lands if one of two charges stands lower by the control."""

    def potential(place: cl.f64[:]) -> float:
        upper = np.linalg.norm(place - np.array([10.0, 10.0 - control]))
        lower = np.linalg.norm(place - np.array([10.0, 0.0]))
        return float(1.0 / upper + 1.0 / lower)

    start = Particle(np.array([0.0, 8.0]), np.array([0.75, 0.0]), 0.0)
    return landed(potential, start, 0.1, field)


@cl.jit
def over_a_hill(control: float, field: Fields) -> Particle:
    """Where a shot lands; the control is the angle, and the hill pushes it away."""

    def potential(place: cl.f64[:]) -> float:
        hill = math.exp(-0.5 * ((place[0] - 4.0) ** 2 + place[1] ** 2))
        return 9.81 * float(place[1]) + 20.0 * hill

    velocity = 9.0 * np.array([math.cos(control), math.sin(control)])
    return landed(potential, Particle(np.array([0.0, 0.5]), velocity, 0.0), 0.02, field)


@cl.jit
def miss(
    flight: Callable[[float, Fields], Particle],
    target: float,
    control: float,
    field: Fields,
) -> float:
    """The square of the distance from the target."""
    return (float(flight(control, field).place[0]) - target) ** 2


@cl.jit
def steered(
    flight: Callable[[float, Fields], Particle],
    target: float,
    control: float,
    slope: Slopes,
    field: Fields,
    tolerance: float = 1e-9,
    most: int = 100,
) -> float:
    """The control with which the particle lands on the target."""
    return newton(
        lambda c: miss(flight, target, c, field), control, slope, tolerance, most
    )


WAYS = [
    (slope, field)
    for slope in (forward_slope, reverse_slope)
    for field in (forward_field, reverse_field)
]
PROBLEMS = [(by_charges, 0.0, 0.0), (over_a_hill, 7.0, 1.0)]


def path(start: Particle, potential: Potential, step: float) -> Vector:
    """All places on the way down, in plain Python."""
    particle, places = start, [start.place]
    field = cl.grad(potential)
    while particle.place[1] > 0.0:
        particle = moved(particle, -field(particle.place), step)
        places.append(particle.place)
    return np.array(places)


def draw(file: Path, control: float) -> None:
    """Write a picture of flights between the charges for several controls."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
    for c in np.linspace(control - 0.4, control + 0.4, 5):
        start = Particle(np.array([0.0, 8.0]), np.array([0.75, 0.0]), 0.0)

        def potential(place: Vector, c: float = c) -> float:
            upper = np.linalg.norm(place - np.array([10.0, 10.0 - c]))
            lower = np.linalg.norm(place - np.array([10.0, 0.0]))
            return float(1.0 / upper + 1.0 / lower)

        axis.plot(*path(start, potential, 0.1).T, label=f"{c:.2f}")
    axis.axhline(0.0, color="black", linewidth=0.5)
    axis.set(xlabel="x", ylabel="height")
    axis.legend(title="control")
    figure.savefig(file, dpi=150)
    plt.close(figure)


def main() -> None:
    """Solve both problems in all four ways."""
    parser = argparse.ArgumentParser(description="Steer a particle to its target.")
    parser.add_argument("--plot", type=Path, help="the picture to write")
    options = parser.parse_args()
    for flight, target, start in PROBLEMS:
        for slope, field in WAYS:
            control = steered(flight, target, start, slope, field)
            place = flight(control, field).place[0]
            names = f"{slope.py_func.__name__} over {field.py_func.__name__}"
            print(f"{names}: control {control:.9f} lands at {place:.9f}")
    if options.plot:
        draw(options.plot, steered(by_charges, 0.0, 0.0, *WAYS[-1]))


if __name__ == "__main__":
    main()
