"""Machines: automata, interpreters of coded instructions, cells that live and die."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case

# Instructions: what to do, with which register, and with which other or where to.
LOAD, ADD, MULTIPLY, SINE, DECREASE, JUMP_IF, HALT = range(7)
PROGRAM = np.array(
    [
        [LOAD, 0, 1],
        [MULTIPLY, 0, 1],
        [SINE, 0, 0],
        [ADD, 0, 2],
        [DECREASE, 3, 0],
        [JUMP_IF, 3, 1],
        [HALT, 0, 0],
    ]
)


@case(PROGRAM, np.array([0.0, 1.2, 0.4, 3.0]))
@cl.jit
def register_machine(program: cl.i64[:, :], registers: cl.f64[:]) -> float:
    """Its program has a loop of its own, whose length depends on a register."""
    r = registers.copy()
    at = 0
    while True:
        code, a, b = program[at]
        at += 1
        if code == HALT:
            return r[0] * r[1]
        if code == LOAD:
            r[a] = r[b]
        elif code == ADD:
            r[a] += r[b]
        elif code == MULTIPLY:
            r[a] *= r[b]
        elif code == SINE:
            r[a] = math.sin(r[a])
        elif code == DECREASE:
            r[a] -= 1.0
        elif code == JUMP_IF:
            at = b if r[a] > 0.5 else at
        else:
            raise ValueError(f"no instruction {code}")


@case(np.array([0, 1, -1, 2, -2, 0, -3]), 0.7, 1.3)
@cl.jit
def stack_of_functions(tokens: cl.i64[:], x: float, y: float) -> float:
    """Postfix notation; the operators are functions in a list."""
    operators = [lambda a, b: a + b * x, lambda a, b: a * b, lambda a, b: a - b / y]
    stack = [1.0]
    for token in tokens:
        if token >= 0:
            stack.append(x if token % 2 == 0 else y + token)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(operators[-token - 1](a, b))
    total = len(stack) + x
    total *= stack.pop()
    return total


@case(
    np.array([1, 1, 0, 1, 0, 0, 1, 1]), np.array([[0.2, 0.9], [1.4, 0.5], [0.7, 1.1]])
)
@cl.jit
def weighted_automaton(word: cl.i64[:], weights: cl.f64[:, :]) -> float:
    """What is read counts by the state; a state that cannot go on ends it."""
    following = np.array([[1, 2], [0, 2], [2, 1]])
    state, value = 0, 1.0
    for position, letter in enumerate(word):
        value = value * weights[state, letter] + 0.1 * position
        if value > 2.5 and letter == 0:
            break
        state = following[state, letter]
    else:
        value = -value
    return value * weights[state, 0]


@case(
    np.array([[0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]), np.ones((4, 4))
)
@cl.jit
def game_of_life(start: cl.i64[:, :], food: cl.f64[:, :]) -> float:
    """Who lives eats of what is there; until fewer than four have enough."""
    n, m = start.shape
    alive, left, eaten = start, food, 0.0
    pairs = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    for generation in range(5):
        near = np.zeros((n, m), int)
        for i, j in pairs:
            near += np.roll(np.roll(alive, i, 0), j, 1)
        alive = np.where((near == 3) | ((near == 4) & (alive == 1)), 1, 0)
        left = left * (1.0 - 0.3 * alive)
        eaten += np.sum(left * alive) / (generation + 1)
        if np.sum(alive) < 4:
            break
    return eaten


@case(np.array([0.9, -0.4, 0.3]), 0.8)
@cl.jit
def turing_machine(tape: cl.f64[:], weight: float) -> float:
    """Two states on a tape of numbers, which grows at its right end."""
    cells = [v for v in tape]
    at, state, steps = 0, 0, 0
    while at >= 0 and steps < 12:
        steps += 1
        if at == len(cells):
            cells.append(weight)
        value = cells[at]
        if state == 0:
            cells[at] = value * weight - 0.2
            at += 1
            state = 1 if value < 0.0 else 0
        elif value > 0.25:
            cells[at] = value * value
            at -= 1
        else:
            cells[at] = value + weight
            state, at = 0, at + 1
    return sum(v * v for v in cells) + steps


@case(0.6, 3.0)
@cl.jit
def collatz_of_floats(x: float, start: float) -> float:
    """Numbers are halved or grow, as their integer part is even or odd."""
    value, weight, steps = start + x, 1.0, 0
    while value > 1.5:
        if int(value) % 2 == 0:
            value, weight = 0.5 * value, weight * (1.0 + 0.1 * x)
        else:
            value = 1.3 * value + 0.2 * x
        steps += 1
        if steps > 60:
            break
    return value * weight + steps


@case(-0.4, 0.55, 30)
@case(0.9, 0.6, 30)
@cl.jit
def escape_time(cx: float, cy: float, most: int) -> float:
    """The smooth count of steps until a point leaves, and 0 if it stays."""
    x, y = 0.0, 0.0
    for k in range(most):
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        size = x * x + y * y
        if size > 16.0:
            return k + 1.0 - math.log(0.5 * math.log(size))
    return 0.0


@case(np.array([0.3, 0.8, 0.1, 0.6, 0.7]), 1.5)
@cl.jit
def queue_of_events(arrivals: cl.f64[:], rate: float) -> float:
    """Customers come and go; which event is next depends on the numbers."""
    now, next_come, next_done, waiting, came, cost = (
        0.0,
        arrivals[0],
        math.inf,
        0,
        0,
        0.0,
    )
    while came < len(arrivals) or waiting > 0:
        if came < len(arrivals) and next_come <= next_done:
            cost += waiting * (next_come - now)
            now, waiting, came = next_come, waiting + 1, came + 1
            if waiting == 1:
                next_done = now + rate * arrivals[came - 1]
            if came < len(arrivals):
                next_come = now + arrivals[came]
        else:
            cost += waiting * (next_done - now)
            now, waiting = next_done, waiting - 1
            next_done = now + 0.4 * rate if waiting > 0 else math.inf
    return cost
