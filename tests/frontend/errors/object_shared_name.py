from dataclasses import dataclass


@dataclass
class Ball:
    height: float
    speed: float = 0.0


def f(x: float) -> float:
    ball = Ball(x)
    other = ball
    ball.speed = 1.0
    return other.speed
