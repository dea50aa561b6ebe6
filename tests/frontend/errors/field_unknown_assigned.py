from dataclasses import dataclass


@dataclass
class Ball:
    height: float
    speed: float = 0.0


def f(x: float) -> float:
    ball = Ball(x)
    ball.weight = 1.0
    return ball.height
