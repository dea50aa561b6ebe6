from dataclasses import dataclass


@dataclass
class Ball:
    height: float
    speed: float = 0.0


def f(ball: Ball) -> float:
    ball.speed += 1.0
    return ball.speed
