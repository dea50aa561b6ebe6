"""Simulations that end by themselves: events, step control, forces from potentials."""

import math
from collections.abc import Callable
from typing import NamedTuple

import chadllvm as cl
from programs.case import case


class Ball(NamedTuple):
    height: float
    speed: float


@case(1.0, 0.7, 0.05)
@cl.jit
def bouncing_ball(height: float, restitution: float, h: float) -> float:
    """Up to the third impact; the time of each is found within the step."""
    ball, time, impacts = Ball(height, 0.0), 0.0, 0
    while impacts < 3:
        new = Ball(ball.height + h * ball.speed, ball.speed - 9.81 * h)
        if new.height < 0.0:
            part = ball.height / (ball.height - new.height)
            speed = ball.speed - 9.81 * h * part
            ball, time = Ball(0.0, -restitution * speed), time + part * h
            impacts += 1
        else:
            ball, time = new, time + h
    return time + ball.speed


@cl.jit
def controlled(
    f: Callable[[float, float], float], y: float, end: float, tol: float
) -> float:
    """Bogacki and Shampine's pair of orders 2 and 3; the step follows the error."""
    t, h = 0.0, 0.5
    a = f(t, y)
    while t < end:
        h = min(h, end - t)
        b = f(t + 0.5 * h, y + 0.5 * h * a)
        c = f(t + 0.75 * h, y + 0.75 * h * b)
        new = y + h * (2.0 * a + 3.0 * b + 4.0 * c) / 9.0
        d = f(t + h, new)
        error = h * abs(-5.0 * a + 6.0 * b + 8.0 * c - 9.0 * d) / 72.0
        if error <= tol:
            t, y, a = t + h, new, d
        h *= 0.9 * min(4.0, max(0.2, (tol / (error + 1e-12)) ** (1.0 / 3.0)))
        if h < 1e-9:
            raise ArithmeticError(f"the step is {h} at {t}")
    return y


@case(0.9, 1.1)
@cl.jit
def logistic_growth(rate: float, start: float) -> float:
    return controlled(
        lambda t, y: rate * y * (1.0 - y / (2.0 + math.sin(t))), start, 2.0, 1e-4
    )


@case(1.1, 0.6)
@cl.jit
def shooting(end: float, stiffness: float) -> float:
    """A boundary value problem: the slope at one end that hits the other."""

    def miss(slope):
        y, v, h = 0.0, slope, 0.1
        for _ in range(10):
            v = v - h * stiffness * math.sin(y)
            y = y + h * v
        return y - end

    slope = 1.0
    while True:
        value, change = cl.value_and_grad(miss)(slope)
        slope = slope - value / change
        if abs(value) < 1e-6:
            return slope


@case(0.4, 2.0)
@cl.jit
def adaptive_quadrature(a: float, end: float) -> float:
    """Intervals wait in a list until Simpson's rule is good enough on them."""

    def f(t):
        return math.exp(-a * t * t) / (0.1 + t)

    def rule(low, high):
        return (high - low) / 6.0 * (f(low) + 4.0 * f(0.5 * (low + high)) + f(high))

    waiting, total = [(0.0, end)], 0.0
    while waiting:
        low, high = waiting.pop()
        middle = 0.5 * (low + high)
        halves = rule(low, middle) + rule(middle, high)
        if abs(halves - rule(low, high)) < 1e-3:
            total += halves
        else:
            waiting.append((low, middle))
            waiting.append((middle, high))
    return total


@case(0.8, 0.35)
@cl.jit
def thermostat(rate: float, power: float) -> float:
    """A hybrid system: the mode changes when a bound is met, between the steps."""
    modes = [lambda x: -rate * x, lambda x: power - 0.3 * rate * x]
    x, mode, h, heated = 0.7, 0, 0.1, 0.0
    for _ in range(25):
        new = x + h * modes[mode](x)
        bound = 0.4 if mode == 0 else 0.8
        if (new - bound) * (x - bound) < 0.0:
            part = (bound - x) / (new - x)
            heated += part * h * mode
            mode = 1 - mode
            new = bound + (1.0 - part) * h * modes[mode](bound)
            heated += (1.0 - part) * h * mode
        else:
            heated += h * mode
        x = new
    return heated + x


@case(1.4, 0.02)
@cl.jit
def period_of_a_pendulum(start: float, friction: float) -> float:
    """Twice the time to the second turn, where the speed changes its sign."""
    x, v, t, h, turns = start, 0.0, 0.0, 0.1, 0
    while turns < 2:
        before = v
        v = v - h * (math.sin(x) + friction * v)
        x, t = x + h * v, t + h
        if before * v < 0.0:
            turns += 1
            if turns == 2:
                t -= h * v / (v - before)
    return t


@case(0.2, 0.7)
@cl.jit
def at_rest(x: float, stiffness: float) -> float:
    """Damped motion in the slope of an energy, until it hardly moves."""

    def energy(q):
        return 0.5 * stiffness * (q - 1.0) ** 2 + 0.25 * q**4

    speed = 0.0
    while True:
        speed = 0.3 * speed - 0.2 * cl.grad(energy)(x)
        x = x + speed
        if abs(speed) < 0.01:
            break
    return energy(x) + x
